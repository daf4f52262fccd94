"""What is served, on what, how: names, checks, and arrays that do not wrap."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from roofwidget import Accelerator, ParameterError, Precision, Scenario, Transformer, Workload, evaluate
from roofwidget.lengths import Lengths


def scenario(**fields):
    return Scenario("H100 SXM", "Llama 3.1 70B", **fields)


class TestNames:
    def test_stand_for_what_the_catalog_has(self):
        named = scenario()
        assert named.device == Accelerator.named("H100 SXM")
        assert named.model == Transformer.named("Llama 3.1 70B")
        assert named == Scenario(Accelerator.named("H100 SXM"), Transformer.named("Llama 3.1 70B"))

    def test_unknown_ones_suggest_known_ones(self):
        with pytest.raises(KeyError, match="H100 SXM"):
            Scenario("H100", "Llama 3.1 70B")
        with pytest.raises(KeyError, match=r"Llama 3\.1 70B"):
            Scenario("H100 SXM", "Llama 70B")

    def test_a_device_of_one_other_format_is_told_at_once(self):
        fp8_only = Accelerator({"fp8": 1e15}, 1e12, 8e10)
        with pytest.raises(ParameterError, match="this accelerator has no int8 peak, only fp8"):
            Scenario(fp8_only, "Llama 3.1 8B", Precision(compute="int8"))
        assert Scenario(fp8_only, "Llama 3.1 8B", Precision(compute="fp8")).sixteen_bit_peak == 1e15

    def test_no_such_format(self):
        with pytest.raises(ParameterError, match="compute must be one of bf16, fp8, int8, fp4, not 'fp5'"):
            Precision(compute="fp5")


class TestDefaults:
    def test_are_sixteen_bits_one_request_one_device(self):
        plain = scenario()
        assert plain.precision == Precision(2, 2, 2, "bf16")
        assert plain.workload == Workload(4096, 1, 1)
        assert (plain.devices, plain.memory_utilization) == (1, 0.9)


class TestRefuses:
    @pytest.mark.parametrize("devices", [3, 5, 128])
    def test_devices_that_do_not_divide_the_heads(self, devices):
        with pytest.raises(ParameterError, match=f"devices must divide n_heads=64, .* and {devices} does not"):
            scenario(devices=devices)

    def test_devices_that_would_tear_kv_heads_apart(self):
        """3 devices of 8 of 24 query heads each: 8/3 KV heads are not whole; 4 and 24 devices are in order."""
        model = Transformer.dense(24, 1, 24, 8, 1, 1.0)
        with pytest.raises(ParameterError, match="divide n_kv_heads=8 or be a multiple of it, and 3 does not"):
            Scenario("H100 SXM", model, devices=3)
        assert Scenario("H100 SXM", model, devices=4).devices == 4
        assert Scenario("H100 SXM", model, devices=24).devices == 24

    @pytest.mark.parametrize("thing", [42, None, {"bf16": 1.0}])
    def test_what_is_no_accelerator_and_no_transformer(self, thing):
        with pytest.raises(ParameterError, match=r"accelerator must be Accelerator or .*; transformer must"):
            Scenario(thing, thing)

    def test_an_array_of_devices_that_do_not(self):
        with pytest.raises(ParameterError, match="devices must divide n_heads"):
            scenario(devices=np.array([1, 3]))

    @pytest.mark.parametrize("devices", [0, -1, 1.5, "2", None, True])
    def test_devices_that_are_no_count(self, devices):
        with pytest.raises(ParameterError, match=r"^devices must be a whole number of 1 or more, not "):
            scenario(devices=devices)

    @pytest.mark.parametrize("share", [0, -0.1, 1.01, 90, float("nan"), "0.9"])
    def test_shares_of_memory(self, share):
        with pytest.raises(ParameterError, match=r"^memory_utilization must be a number more than 0 and at most 1, "):
            scenario(memory_utilization=share)

    @pytest.mark.parametrize("field", ["seq_len", "output_tokens", "batch"])
    @pytest.mark.parametrize("value", [0, -1, 1.5, float("nan"), float("inf"), "1", None, [1, 0], np.array(["1"])])
    def test_workloads(self, field, value):
        with pytest.raises(ParameterError, match=f"^{field} must be a whole number of 1 or more, not ") as error:
            Workload(**{field: value})
        assert list(error.value.faults) == [field]

    @pytest.mark.parametrize("field", ["weight_bytes", "kv_bytes", "activation_bytes"])
    @pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "fp8", None])
    def test_precisions(self, field, value):
        with pytest.raises(ParameterError, match=f"^{field} must be a number more than 0, not "):
            Precision(**{field: value})

    def test_names_every_fault(self):
        with pytest.raises(ParameterError) as error:
            Workload(seq_len=0, output_tokens=-1, batch=0.5)
        assert set(error.value.faults) == {"seq_len", "output_tokens", "batch"}


@pytest.mark.parametrize("part", [scenario(), Workload(), Precision()])
def test_is_frozen(part):
    field = next(iter(vars(part)))
    with pytest.raises(FrozenInstanceError):
        setattr(part, field, 1.0)


class TestContexts:
    def test_the_last_token_is_never_fed_back(self):
        assert Workload(seq_len=100, output_tokens=1).final_context == 100
        assert Workload(seq_len=100, output_tokens=11).final_context == 110

    def test_decode_is_timed_halfway(self):
        assert scenario(workload=Workload(100, 1)).mean_context == 100
        assert scenario(workload=Workload(100, 2)).mean_context == 101  # one step, with its own token
        assert scenario(workload=Workload(100, 11)).mean_context == 105.5  # 101 … 110

    def test_long_answers_are_met_more_often(self):
        """Answers of 1 and 3 tokens: two steps in all, both of the long one, at 101 and 102."""
        listed = Workload(100, 2, lengths=Lengths((1, 3)))
        assert scenario(workload=listed).mean_context == 101.5

    def test_a_static_batch_goes_on_to_its_longest(self):
        """Of 1,000 answers of 1 or 11 tokens one has 11, as good as surely: contexts 101 … 110 for all."""
        listed = Workload(100, 6, 1000, Lengths((1, 11)))
        assert scenario(workload=listed, continuous=False).mean_context == pytest.approx(105.5)


class TestIntegersDoNotWrap:
    """10⁴ sequences of 10⁶ tokens of 327,680 bytes are 3.3·10¹⁵, their pairs 10²¹: int64 ends at 9.2·10¹⁸."""

    @pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint32])
    def test_arrays(self, kind):
        swept = scenario(workload=Workload(np.array([10**6], kind), np.array([1], kind), np.array([10**4], kind)))
        metrics = evaluate(swept)
        assert metrics.memory.kv_cache.tolist() == [327_680 * 10**10]
        # attention of one prompt: 80 · 2·64·128 · 10⁶·(10⁶+1)
        assert metrics.prefill.nodes[2].flops == pytest.approx([80 * 2 * 8192 * 1e6 * (1e6 + 1)], rel=1e-12)
        assert metrics.tpot == evaluate(scenario(workload=Workload(10**6, 1, 10**4))).tpot

    def test_lists_and_numbers(self):
        assert Workload(batch=[1, 2]).batch.dtype == np.float64
        assert isinstance(Workload(batch=np.int64(2)).batch, float)

    def test_dimensions(self):
        model = Transformer.dense(*(np.array([n], np.int32) for n in (16384, 126, 128, 8, 128, 53248, 128256)))
        assert model.params.tolist() == [405_853_388_800]  # Llama 3.1 405B


def test_an_array_given_is_not_tied_to_its_scenario():
    batch = np.array([1.0, 2.0])
    workload = Workload(batch=batch)
    batch[0] = 99
    assert workload.batch.tolist() == [1, 2]


def test_replace_checks_again():
    with pytest.raises(ParameterError, match="devices must divide"):
        replace(scenario(devices=64), transformer="Llama 3.1 8B")  # of 32 heads
