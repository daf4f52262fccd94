"""Tensor, pipeline, expert and data parallelism: what each device holds, computes and sends."""

from dataclasses import replace

import numpy as np
import pytest

from roofwidget import Accelerator, ParameterError, Precision, Scenario, Transformer, Workload, evaluate
from roofwidget.architecture.attention import Attention
from roofwidget.architecture.block import Block
from roofwidget.architecture.feed_forward import Experts
from roofwidget.roofline.memory import footprint, kv_bytes_per_sequence
from roofwidget.roofline.nodes import decode_nodes

DEVICE = Accelerator({"bf16": 1e12}, 1e9, 1e9, link_bandwidth=1e9, link_latency=1e-3)
DENSE = Transformer.dense(8, 6, 4, 2, 3, 10, 32)
# 4 layers of attention 8·3·(2·4 + 2·2) = 288 and 8 experts of 3·8·10 = 240, two active; a router of 64
MOE = Transformer(8.0, (Block(4, Attention(4, 2, 3), Experts(8, 2, 10.0)),), 32)


def scenario(model=DENSE, **parallel):
    batch = parallel.pop("batch", 8)
    return Scenario(DEVICE, model, Precision(2, 2, 2), Workload(100, 1, batch), **parallel)


def node(name, of):
    (found,) = (node for node in decode_nodes(of) if node.name == name)
    return found


class TestPipeline:
    def test_a_stage_holds_its_layers_and_one_end(self):
        whole, half = footprint(scenario()), footprint(scenario(pipeline=2))
        layers = 6 * (288 + 240 + 16)
        assert whole.weights == 2 * (layers + 2 * 256 + 8)
        assert half.weights == 2 * (layers / 2 + 256 + 8)
        assert half.kv_cache == whole.kv_cache / 2

    def test_the_fullest_stage_counts(self):
        assert footprint(scenario(pipeline=4)).kv_cache == footprint(scenario()).kv_cache / 3  # 2 of 6 layers

    def test_parts_of_the_batch_pass_one_after_the_other(self):
        """8 sequences on 2 stages: a step takes as long as one of 4, and all 8 get a token in it."""
        unlinked = replace(DEVICE, link_bandwidth=float("inf"), link_latency=0.0)
        piped = evaluate(replace(scenario(pipeline=2), accelerator=unlinked))
        alone = evaluate(replace(scenario(batch=4), accelerator=unlinked))
        assert piped.tpot == alone.tpot
        assert piped.decode_throughput == pytest.approx(2 * alone.decode_throughput)

    def test_the_fullest_stage_sets_the_parts(self):
        """6 layers on 4 stages: one has 2 of them, so that no more than 3 parts pass it without a wait; of 8
        sequences the largest part is 3."""
        unlinked = replace(DEVICE, link_bandwidth=float("inf"), link_latency=0.0)
        uneven = replace(scenario(pipeline=4), accelerator=unlinked)
        assert evaluate(uneven).tpot == evaluate(replace(uneven, pipeline=1, workload=Workload(100, 1, 3))).tpot

    def test_a_step_never_takes_less_with_one_more(self):
        """Llama 2 13B's 40 layers on 16 stages of up to 3."""
        served = Scenario(
            "H100 SXM", "Llama 2 13B", workload=Workload(1000, 1, np.arange(1, 200)), devices=4, pipeline=16
        )
        assert np.all(np.diff(evaluate(served).tpot) >= 0)

    @pytest.mark.parametrize("pipeline", [1, 2, 3, 5])
    def test_the_largest_batch_fits_and_one_more_does_not(self, pipeline):
        served = replace(scenario(pipeline=pipeline), workload=Workload(1, 1, 1))
        most = evaluate(served).largest_batch
        assert most > 1000
        assert footprint(replace(served, workload=Workload(1, 1, most))).fits
        assert not footprint(replace(served, workload=Workload(1, 1, most + 1))).fits

    def test_arrays_are_many_scalars(self):
        stages = evaluate(scenario(MOE, devices=2, pipeline=np.array([1, 2, 4]), data_parallel=2, expert_parallel=True))
        copies = evaluate(scenario(MOE, devices=2, data_parallel=np.array([1, 2, 4]), expert_parallel=True))
        for i, n in enumerate((1, 2, 4)):
            one = evaluate(scenario(MOE, devices=2, pipeline=n, data_parallel=2, expert_parallel=True))
            other = evaluate(scenario(MOE, devices=2, data_parallel=n, expert_parallel=True))
            assert (stages.tpot[i], stages.memory.total[i]) == pytest.approx((one.tpot, one.memory.total))
            assert (copies.tpot[i], copies.memory.total[i]) == pytest.approx((other.tpot, other.memory.total))

    def test_sends_the_residual_stream_between_stages(self):
        sent = node("pipeline send", scenario(pipeline=3, devices=2))
        assert sent.link_bytes == 2 * 3 * 8 * 2 / 2  # 2 hops of 3 sequences · 8 · 2 bytes, shared by 2 devices
        assert sent.link_steps == 2

    def test_no_more_stages_than_layers(self):
        with pytest.raises(ParameterError, match="pipeline must be at most the 6 layers, not 7"):
            scenario(pipeline=7)


class TestDataParallelism:
    def test_each_replica_has_its_part_of_the_batch(self):
        many, one = evaluate(scenario(data_parallel=4)), evaluate(scenario(batch=2))
        assert many.tpot == one.tpot
        assert many.memory.weights == one.memory.weights
        assert many.memory.kv_cache == one.memory.kv_cache
        assert many.decode_throughput == pytest.approx(4 * one.decode_throughput)

    def test_the_largest_batch_is_that_of_all_replicas(self):
        assert evaluate(scenario(data_parallel=4)).largest_batch == 4 * evaluate(scenario()).largest_batch

    def test_an_uneven_batch_fills_one_more(self):
        assert evaluate(scenario(data_parallel=3)).tpot == evaluate(scenario(batch=3)).tpot


class TestExpertParallelism:
    def test_experts_are_divided_among_all_devices_the_rest_among_those_of_a_replica(self):
        sliced = footprint(scenario(MOE, devices=2, data_parallel=2))
        spread = footprint(scenario(MOE, devices=2, data_parallel=2, expert_parallel=True))
        experts = 4 * 8 * 240
        assert sliced.weights - spread.weights == 2 * (experts / 2 - experts / 4)

    def test_each_device_reads_its_part_of_what_all_touch(self):
        read = node("experts", scenario(MOE, devices=2, data_parallel=2, expert_parallel=True)).weight_bytes
        assert read == pytest.approx(4 * 8 * (1 - 0.75**8) * 240 / 4 * 2)

    def test_idle_replicas_route_nothing(self):
        """One sequence on four replicas: its one token touches two experts, each whole on its device."""
        read = node("experts", scenario(MOE, devices=2, data_parallel=4, expert_parallel=True, batch=1)).weight_bytes
        assert read == pytest.approx(4 * 1 * 240 * 2)

    def test_tokens_go_to_the_devices_of_their_experts_and_back(self):
        """4 devices, 2 experts a token: on 4·(1 − ¾²) = 1.75 of them, of which a quarter stays; the two devices of a
        replica share the sending of its 4 tokens, and gather what came back: ½ of it."""
        sent = node("all-to-all", scenario(MOE, devices=2, data_parallel=2, expert_parallel=True))
        message = 4 * 8 * 2
        assert sent.link_bytes == pytest.approx(4 * (2 * 1.75 * 0.75 / 2 + 0.5) * message)
        assert sent.link_steps == 8
        reduced = node("all-reduce", scenario(MOE, devices=2, data_parallel=2, expert_parallel=True))
        assert reduced.link_bytes == 4 * message  # after attention only: 4 layers · 2·½

    def test_within_one_replica_an_all_reduce_brings_results_back(self):
        names = [n.name for n in decode_nodes(scenario(MOE, devices=2, expert_parallel=True))]
        assert "all-to-all" not in names
        assert node("all-reduce", scenario(MOE, devices=2, expert_parallel=True)).link_bytes == 8 * 8 * 8 * 2

    def test_must_be_true_or_false(self):
        with pytest.raises(ParameterError, match="expert_parallel must be true or false, not 1"):
            scenario(MOE, expert_parallel=1)


class TestTensorParallelism:
    def test_kv_heads_are_replicated_beyond_their_number(self):
        """2 KV heads: halved on 2 devices, no less on 4."""
        sizes = [kv_bytes_per_sequence(scenario(devices=devices)) for devices in (1, 2, 4)]
        assert sizes == [100 * 6 * 12 * 2, 100 * 6 * 6 * 2, 100 * 6 * 6 * 2]

    def test_a_step_of_a_ring_waits_for_the_one_before(self):
        """4 devices: 12 all-reduces of 6 steps of 1 ms, and 12 · 2·¾ · 128 bytes at 1 GB/s."""
        metrics = evaluate(scenario(devices=4))
        index = [n.name for n in metrics.decode.nodes].index("all-reduce")
        assert metrics.decode.node_times[index] == pytest.approx(72e-3 + 12 * 1.5 * 128e-9)


class TestWholeModels:
    """What the field knows of them."""

    def test_deepseek_v3_needs_more_than_eight_h100(self):
        """671 GB of FP8 weights: 84 GB each of 80 GB devices; it is served on 8 H200 (141 GB)."""
        kwargs = {"precision": Precision(1.0), "devices": 8}
        assert not evaluate(Scenario("H100 SXM", "DeepSeek V3", **kwargs)).memory.fits
        fitting = evaluate(Scenario("H200 SXM", "DeepSeek V3", **kwargs))
        assert fitting.memory.fits
        assert fitting.memory.weights == pytest.approx(671e9 / 8, rel=0.02)

    def test_gpt_oss_120b_fits_one_h100(self):
        """ "The gpt-oss-120b model … fits in a single 80 GB GPU", 60.8 GiB of checkpoint (OpenAI 2025, table 1)."""
        precision = Precision(2.0, expert_weight_bytes=0.53125)
        metrics = evaluate(Scenario("H100 SXM", "gpt-oss 120B", precision))
        assert metrics.memory.weights / 2**30 == pytest.approx(60.8, rel=0.01)
        assert metrics.memory.fits
