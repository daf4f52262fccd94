"""Time under the roofline: a device of 1,000 FLOP/s, 100 byte/s and a link of 10 byte/s."""

import math
from dataclasses import replace

import numpy as np
import pytest

from roofwidget import Accelerator, Precision, Scenario, Transformer, Workload, evaluate
from roofwidget.roofline.nodes import Node
from roofwidget.roofline.timing import BOUNDS, time_pass

DEVICE = Accelerator({"bf16": 1000.0, "fp8": 2000.0}, bandwidth=100.0, capacity=1e6, link_bandwidth=10.0)
SCENARIO = Scenario(DEVICE, Transformer.dense(8, 5, 4, 2, 3, 10, 32))

COMPUTING = Node("computing", flops=5000, weight_bytes=300)  # 5 s of FLOPs, 3 s of bytes
STREAMING = Node("streaming", flops=1000, kv_bytes=200, activation_bytes=200)  # 1 s, 4 s
SENDING = Node("sending", link_bytes=70)  # 7 s


def timed(*nodes, on=SCENARIO):
    return time_pass(nodes, on)


def bound_of(phase):
    return BOUNDS[int(phase.bound)]


@pytest.mark.parametrize(
    ("node", "seconds", "bound"), [(COMPUTING, 5, "compute"), (STREAMING, 4, "memory"), (SENDING, 7, "communication")]
)
def test_a_node_takes_its_largest_term_and_no_more(node, seconds, bound):
    phase = timed(node)
    assert phase.time == seconds  # the sum would be 8, 5 and 7
    assert BOUNDS[phase.node_bounds[0]] == bound
    assert bound_of(phase) == bound


def test_a_pass_takes_the_sum_of_its_nodes():
    phase = timed(COMPUTING, STREAMING, SENDING)
    assert phase.time == 16
    assert phase.node_times.tolist() == [5, 4, 7]


def test_a_pass_is_bound_by_what_takes_most_of_its_time():
    assert bound_of(timed(COMPUTING, STREAMING, SENDING)) == "communication"  # 7 of 16 s
    assert bound_of(timed(COMPUTING, STREAMING)) == "compute"  # 5 of 9 s
    assert bound_of(timed(COMPUTING, STREAMING, STREAMING)) == "memory"  # 8 of 13 s


def test_intensity():
    phase = timed(COMPUTING, STREAMING, SENDING)
    assert phase.intensity == pytest.approx(6000 / 700)
    assert phase.node_intensities[:2].tolist() == [pytest.approx(5000 / 300), pytest.approx(1000 / 400)]
    assert math.isnan(phase.node_intensities[2])  # it moves no bytes


def test_utilisation():
    metrics = evaluate(SCENARIO)
    phase = timed(COMPUTING, STREAMING, SENDING)
    assert metrics.mfu(phase) == pytest.approx(6 / 16)  # 5 + 1 s of FLOPs
    assert metrics.mbu(phase) == pytest.approx(7 / 16)  # 3 + 4 s of bytes
    assert metrics.mfu(timed(COMPUTING)) == 1
    assert metrics.mbu(timed(STREAMING)) == 1


class TestRidge:
    """1,000 / 100 = 10 FLOP/byte."""

    def test_ridge(self):
        assert DEVICE.ridge("bf16") == 10
        assert DEVICE.ridge("fp8") == 20
        assert evaluate(SCENARIO).ridge == 10

    @pytest.mark.parametrize(("flops", "bound"), [(999, "memory"), (1001, "compute")])
    def test_bound_turns_there(self, flops, bound):
        assert bound_of(timed(Node("near", flops=flops, weight_bytes=100))) == bound

    def test_there_both_are_used_in_full(self):
        phase, metrics = timed(Node("at", flops=1000, weight_bytes=100)), evaluate(SCENARIO)
        assert phase.time == 1
        assert metrics.mfu(phase) == metrics.mbu(phase) == 1


def test_peak_is_that_of_the_format_computed_in():
    fp8 = replace(SCENARIO, precision=Precision(compute="fp8"))
    linear = replace(COMPUTING, linear=True)
    assert timed(linear, on=fp8).time == 3  # 2.5 s of FLOPs at 2,000, 3 s of bytes
    assert bound_of(timed(linear, on=fp8)) == "memory"
    assert timed(COMPUTING, on=fp8).time == 5  # what is not linear computes in 16 bits


def test_a_format_the_device_lacks_is_computed_in_sixteen_bits():
    fp4 = replace(SCENARIO, precision=Precision(compute="fp4"))
    assert fp4.computes_in == "bf16"
    assert timed(replace(COMPUTING, linear=True), on=fp4).time == 5


def test_an_infinite_link_takes_no_time():
    free = replace(SCENARIO, accelerator=replace(DEVICE, link_bandwidth=math.inf))
    assert timed(STREAMING, SENDING, on=free).time == 4


def test_arrays_give_every_combination():
    slow_and_fast = replace(SCENARIO, accelerator=replace(DEVICE, bandwidth=np.array([100.0, 400.0])))
    phase = timed(COMPUTING, STREAMING, on=slow_and_fast)
    assert phase.time.tolist() == [9, 6]  # 5 + 4; 5 + max(1, 1)
    assert [BOUNDS[i] for i in phase.bound] == ["compute", "compute"]


class TestMetrics:
    """From the passes to what a user sees: ½ s to the first token, 2 s for 3 sequences' next."""

    @pytest.fixture
    def metrics(self):
        scenario = replace(SCENARIO, workload=Workload(seq_len=50, output_tokens=5, batch=3))
        prefill, decode = timed(Node("prefill", flops=500)), timed(Node("decode", kv_bytes=200))
        return replace(evaluate(scenario), prefill=prefill, decode=decode)

    def test_latencies(self, metrics):
        assert metrics.ttft == 0.5
        assert metrics.tpot == 2
        assert metrics.e2e == 8.5  # the first token, and four more

    def test_throughputs(self, metrics):
        assert metrics.user_speed == 0.5
        assert metrics.decode_throughput == 1.5
        assert metrics.prefill_throughput == 100  # 50 tokens in ½ s


def test_prefill_of_one_token_is_the_decode_step_at_context_one():
    metrics = evaluate(replace(SCENARIO, workload=Workload(seq_len=1, output_tokens=1, batch=1)))
    assert metrics.ttft == metrics.tpot
    assert metrics.prefill.nodes == metrics.decode.nodes


def test_prefill_of_the_whole_batch_reads_the_weights_once():
    """Small prompts on a fast device: all of the time is bytes, and most of those are weights."""
    scenario = replace(
        SCENARIO,
        accelerator=replace(DEVICE, peaks={"bf16": 1e12}),
        precision=Precision(2, 0.5, 3),
        workload=Workload(seq_len=7, batch=3),
    )
    metrics = evaluate(scenario)
    # bytes of test_nodes.PREFILL: weights 5792 + gathered 112, KV 420, activations 12,048
    assert metrics.ttft == pytest.approx((5792 + 112 + 420 + 12_048) / 100)
    assert metrics.prefill_batch_time == pytest.approx((5792 + 3 * (112 + 420 + 12_048)) / 100)
