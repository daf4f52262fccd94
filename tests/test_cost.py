"""What tokens cost, and what can be served within objectives."""

from dataclasses import replace

import pytest

from roofwidget import Accelerator, ParameterError, Scenario, Transformer, Workload, evaluate, infer
from roofwidget.objectives import Objectives
from roofwidget.verdict import plain, verdict

DEVICE = replace(Accelerator.named("H100 SXM"), usd_per_hour=3.6, power=700.0)
SERVED = Scenario(DEVICE, "Llama 3.1 8B", workload=Workload(4096, 256, 8))


class TestCost:
    def test_by_hand(self):
        """3.60 $ an hour are a tenth of a cent a second: at 1,000 tokens/s a million take 1,000 s, which is 1 $."""
        metrics = evaluate(SERVED)
        assert metrics.usd_per_million_output_tokens == pytest.approx(1000 / metrics.decode_throughput)
        assert metrics.usd_per_million_input_tokens == pytest.approx(1000 / metrics.prefill_throughput)
        assert metrics.joules_per_output_token == pytest.approx(700 / metrics.decode_throughput)

    def test_all_devices_are_paid(self):
        metrics = evaluate(replace(SERVED, devices=2, pipeline=2, data_parallel=2))
        assert metrics.usd_per_million_output_tokens == pytest.approx(8 * 1000 / metrics.decode_throughput)
        assert metrics.joules_per_input_token == pytest.approx(8 * 700 / (2 * metrics.prefill_throughput))

    def test_is_not_told_where_it_is_not_known(self):
        metrics = evaluate(replace(SERVED, accelerator=replace(DEVICE, usd_per_hour=None, power=None)))
        assert metrics.usd_per_million_output_tokens is None
        assert metrics.joules_per_output_token is None

    def test_a_preset_brings_its_price(self):
        request = {"accelerator": "H100 SXM", "transformer": "Llama 3.1 8B", "seq_len": 1024, "batch": 64}
        answer = infer(request)
        assert answer["inputs"]["usd_per_hour"] == 2.95
        hourly = answer["outputs"]["decode_tokens_per_s"] * 3600
        assert answer["outputs"]["cost"]["usd_per_million_output_tokens"] == pytest.approx(2.95 / hourly * 1e6)


class TestObjectives:
    def test_the_largest_batch_that_keeps_the_tpot(self):
        """Exact: it keeps it, and one more does not."""
        promised = replace(SERVED, objectives=Objectives(tpot=6e-3))
        batch = evaluate(promised).goodput.batch
        assert 1 < batch < evaluate(promised).largest_batch
        for size, kept in ((batch, True), (batch + 1, False)):
            tpot = evaluate(replace(promised, workload=Workload(4096, 256, size))).tpot
            assert (tpot <= 6e-3) == kept

    def test_does_not_hang_on_the_batch_at_hand(self):
        kept = {evaluate(replace(SERVED, workload=Workload(128, 128, b), objectives=Objectives(tpot=30e-3))).goodput
                for b in (1, 500, 100_000)}  # fmt: skip
        assert len(kept) == 1

    def test_memory_may_end_before(self):
        metrics = evaluate(replace(SERVED, objectives=Objectives(tpot=1.0)))
        assert metrics.goodput.batch == metrics.largest_batch

    def test_requests_by_hand(self):
        """Each takes its prefill and its part of 255 steps."""
        metrics = evaluate(replace(SERVED, objectives=Objectives(tpot=1.0)))
        batch = metrics.goodput.batch
        tpot = evaluate(replace(SERVED, workload=Workload(4096, 256, batch))).tpot
        assert metrics.goodput.request_rate == pytest.approx(1 / (metrics.ttft + 255 * tpot / batch))

    @pytest.mark.parametrize("objectives", [Objectives(ttft=1e-3), Objectives(tpot=1e-3), Objectives(1e-3, 1.0)])
    def test_none_keeps_what_cannot_be(self, objectives):
        metrics = evaluate(replace(SERVED, objectives=objectives))
        assert metrics.goodput == (0, 0)
        assert "No batch keeps the objectives." in plain(verdict(metrics))

    def test_without_any_nothing_is_said(self):
        assert evaluate(SERVED).goodput is None
        assert "objectives" not in plain(verdict(evaluate(SERVED)))

    def test_of_a_model_that_does_not_fit(self):
        huge = replace(SERVED, transformer=Transformer.named("Llama 3.1 405B"), objectives=Objectives(tpot=10.0))
        assert evaluate(huge).goodput == (0, 0)

    @pytest.mark.parametrize("value", [0, -1, float("nan"), "soon"])
    def test_must_be_positive(self, value):
        with pytest.raises(ParameterError, match=r"^tpot must be a number more than 0, not "):
            Objectives(tpot=value)
