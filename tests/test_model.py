"""RooflineModel where there is no frontend: parameters in, one Metrics out."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from mission import MISSION
from traitlets import TraitError

from roofwidget import Accelerator, ParameterError, RooflineModel, Scenario, Transformer, evaluate, infer


class Heard(list):
    """What a model told through some of its traits: the changes, in order."""

    def __init__(self, model, *names):
        model.observe(self.append, list(names))


def hold(model, **traits):
    with model.hold_trait_notifications():
        for name, value in traits.items():
            setattr(model, name, value)


def tpot_ms(model):
    return 1e3 * model.metrics.tpot


def tells_what_infer_does(model):
    outputs = infer(model.parameters())["outputs"]
    told = model.metrics
    return (
        outputs["tpot_ms"] == 1e3 * told.tpot
        and outputs["ttft_ms"] == 1e3 * told.ttft
        and outputs["memory"]["total_gb"] == told.memory.total / 1e9
        and outputs["memory"]["largest_batch"] == told.largest_batch
    )


class TestDefaults:
    def test_are_the_missions_request(self):
        parameters = RooflineModel().parameters()
        assert {name: parameters[name] for name in MISSION} == MISSION

    def test_give_its_answer(self):
        model = RooflineModel()
        assert tpot_ms(model) == infer(MISSION)["outputs"]["tpot_ms"]
        assert 1 / model.metrics.tpot == pytest.approx(23.7, rel=0.01)
        assert infer(model.parameters()) == infer(MISSION)

    def test_name_no_preset(self):
        assert RooflineModel().accelerator is None
        assert RooflineModel().transformer is None

    def test_need_no_widgets(self):
        code = "import roofwidget, sys; roofwidget.RooflineModel(batch=2); print(*sys.modules)"
        loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
        assert "traitlets" in loaded
        assert not {"ipywidgets", "bqplot", "IPython"} & set(loaded)


class TestOneChangeIsToldOnce:
    def test_construction(self):
        model = RooflineModel(batch=8, seq_len=1024, accelerator="H200 SXM")
        assert (model.batch, model.seq_len, model.hbm_bw_gbs) == (8, 1024, 4800)
        assert tells_what_infer_does(model)

    def test_assignment(self):
        model = RooflineModel()
        heard = Heard(model, "metrics")
        old = model.metrics
        model.hbm_bw_gbs = 4800
        assert len(heard) == 1
        assert heard[0].old is old
        assert heard[0].new is model.metrics
        # 140 GB of weights and 1.342 of cache at 4,800 GB/s
        assert tpot_ms(model) == pytest.approx(29.45, rel=0.01)

    def test_update(self):
        model = RooflineModel()
        heard = Heard(model, "metrics")
        model.update(n_heads=32, n_kv_heads=4, hidden_dim=4096, params_b=8, layers=32, batch=16)
        assert len(heard) == 1
        assert tells_what_infer_does(model)

    def test_hold(self):
        model = RooflineModel()
        heard = Heard(model, "metrics")
        with model.hold_trait_notifications():
            model.n_heads = 48  # at odds with 8,192 for as long as that is not 6,144
            model.hidden_dim = 6144
            model.batch = 4
            assert not heard
        assert len(heard) == 1
        assert tells_what_infer_does(model)

    def test_presets(self):
        model = RooflineModel()
        heard = Heard(model, "metrics")
        model.update(accelerator="B200 SXM", transformer="Llama 3.1 405B", devices=8)
        assert len(heard) == 1
        model.accelerator = "H100 SXM"
        assert len(heard) == 2
        model.peak_tflops = 700  # drops the preset's name on the way
        assert len(heard) == 3

    @pytest.mark.parametrize("value", [1, 1.0, np.int64(1), np.float32(1)])
    def test_an_equal_value_is_no_change(self, value):
        model = RooflineModel(batch=1)
        heard = Heard(model, "metrics", "batch")
        model.batch = value
        model.update(batch=value)
        hold(model, batch=value)
        model.update()
        assert not heard

    def test_there_and_back_inside_a_hold_is_no_change(self):
        model = RooflineModel()
        heard = Heard(model, "metrics")
        with model.hold_trait_notifications():
            model.batch = 2
            model.batch = 1
        assert not heard


class TestObserversSeeTheNewMetrics:
    @pytest.mark.parametrize("change", ["assign", "update", "hold", "preset", "edit a preset"])
    def test_of_whatever_they_watch(self, change):
        model = RooflineModel(accelerator="H100 SXM")
        seen = []
        model.observe(lambda _: seen.append(tells_what_infer_does(model)))
        if change == "assign":
            model.batch = 8
        elif change == "update":
            model.update(batch=8, seq_len=100, layers=40)
        elif change == "hold":
            hold(model, seq_len=100, batch=8)
        elif change == "preset":
            model.accelerator = "H200 SXM"
        else:
            model.hbm_cap_gb = 96
        assert len(seen) >= 2  # the trait and the metrics
        assert all(seen)

    def test_one_that_sets_another_trait(self):
        model = RooflineModel()
        model.observe(lambda change: model.update(seq_len=1000 * change.new), "batch")
        model.batch = 3
        assert model.seq_len == 3000
        assert tells_what_infer_does(model)

    def test_one_that_fails_leaves_a_true_model(self):
        model = RooflineModel()

        def fail(_):
            raise RuntimeError("a view of mine")

        model.observe(fail, "metrics")
        with pytest.raises(RuntimeError, match="a view of mine"):
            model.batch = 3
        assert model.batch == 3
        assert tells_what_infer_does(model)


class TestRefusedChangesChangeNothing:
    @pytest.fixture
    def model(self):
        model = RooflineModel(accelerator="H100 SXM", batch=8)
        self.before, self.metrics = repr(model), model.metrics
        self.heard = Heard(model, *model.trait_names())
        return model

    def check_unchanged(self, model):
        assert repr(model) == self.before
        assert model.metrics is self.metrics
        assert not self.heard
        model.update(batch=9)  # and it goes on
        assert model.metrics.decode_throughput == pytest.approx(9 / model.metrics.tpot)
        assert tells_what_infer_does(model)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("batch", 0),
            ("batch", 1.5),
            ("batch", "8"),
            ("batch", None),
            ("batch", True),
            ("batch", [8]),
            ("batch", np.array([1, 2])),
            ("hbm_bw_gbs", float("nan")),
            ("hbm_bw_gbs", float("inf")),
            ("peak_tflops", -1),
            ("memory_utilization", 90),
            ("gated_ffn", 1),
            ("n_kv_heads", 7),
            ("n_heads", 60),
            ("hidden_dim", 8190),
            ("devices", 3),
            ("params_b", 12),
            ("accelerator", "H100"),
            ("transformer", "GPT-5"),
        ],
    )
    def test_assignment(self, model, name, value):
        with pytest.raises(TraitError, match=r"must|more than") as error:
            setattr(model, name, value)
        assert isinstance(error.value, ParameterError)
        self.check_unchanged(model)

    def test_hold(self, model):
        with pytest.raises(TraitError, match="n_kv_heads must divide n_heads=60"):
            hold(model, batch=16, n_heads=60, seq_len=100)
        self.check_unchanged(model)

    def test_hold_that_leaves_a_range(self, model):
        with pytest.raises(TraitError, match="seq_len must be a whole number"):
            hold(model, batch=16, seq_len=-1)
        self.check_unchanged(model)

    def test_update(self, model):
        with pytest.raises(TraitError) as error:
            model.update(layers=40, batch=0, seq_len=-1, n_kv_heads=7)
        assert set(error.value.faults) == {"batch", "seq_len", "n_kv_heads"}
        self.check_unchanged(model)

    def test_a_faulty_parameter_is_not_judged_against_others(self, model):
        """Nor is the value it has now."""
        with pytest.raises(TraitError) as error:
            model.update(n_heads="many", n_kv_heads=7)
        assert list(error.value.faults) == ["n_heads"]
        self.check_unchanged(model)

    def test_update_with_a_preset(self, model):
        with pytest.raises(TraitError, match="devices must divide n_heads=32"):
            model.update(transformer="Llama 3.1 8B", devices=64)
        self.check_unchanged(model)

    def test_preset_that_does_not_go_with_the_rest(self):
        model = RooflineModel(devices=64)
        metrics = model.metrics
        with pytest.raises(TraitError, match="devices must divide n_heads=32"):
            model.transformer = "Llama 3.1 8B"  # of 32 heads
        assert model.transformer is None
        assert (model.n_heads, model.params_b) == (64, 70)
        assert model.metrics is metrics

    @pytest.mark.parametrize(
        ("name", "meant"), [("bacth", "batch"), ("hidden", "hidden_dim"), ("accelerators", "accelerator")]
    )
    def test_unknown_name(self, model, name, meant):
        with pytest.raises(TypeError, match=rf"'{name}' is not a parameter; did you mean '{meant}'\?"):
            model.update(**{"seq_len": 100, name: 1})
        self.check_unchanged(model)

    def test_metrics_are_read_only(self, model):
        with pytest.raises(TraitError, match="read-only"):
            model.metrics = None
        with pytest.raises(TypeError, match="'metrics' is not a parameter"):
            model.update(metrics=None)
        self.check_unchanged(model)

    def test_after_a_refused_hold_a_preset_can_be_set_again(self, model):
        with pytest.raises(TraitError, match="n_kv_heads must divide"):
            hold(model, accelerator="L40S", n_kv_heads=7)
        model.accelerator = "L40S"
        assert (model.accelerator, model.hbm_bw_gbs) == ("L40S", 864)

    def test_after_a_refused_hold_with_an_update_a_preset_can_be_set_again(self, model):

        def update_and_contradict():
            with model.hold_trait_notifications():
                model.update(accelerator="L40S")
                model.n_kv_heads = 7

        with pytest.raises(TraitError, match="n_kv_heads must divide"):
            update_and_contradict()
        model.accelerator = "L40S"
        assert (model.accelerator, model.hbm_bw_gbs) == ("L40S", 864)

    def test_hold_that_another_error_leaves(self, model):
        def contradict_and_fail():
            with model.hold_trait_notifications():
                model.n_heads = 60
                raise RuntimeError("of mine")

        with pytest.raises(RuntimeError, match="of mine"):
            contradict_and_fail()
        assert tells_what_infer_does(model)


class TestConstruction:
    def test_unknown_name(self):
        with pytest.raises(TypeError, match=r"'bacth' is not a parameter; did you mean 'batch'\?"):
            RooflineModel(bacth=3)

    def test_faults(self):
        with pytest.raises(ParameterError) as error:
            RooflineModel(batch=0, seq_len=0, n_heads=60)
        assert {"batch", "seq_len", "n_kv_heads"} <= set(error.value.faults)

    def test_unknown_preset(self):
        with pytest.raises(ParameterError, match=r"accelerator must be one of H100 SXM, .*, not 'H100'"):
            RooflineModel(accelerator="H100")


class TestPresets:
    def test_accelerator(self):
        model = RooflineModel(devices=2)
        model.accelerator = "MI300X"
        numbers = (model.peak_tflops, model.hbm_bw_gbs, model.hbm_cap_gb, model.link_gbs)
        assert numbers == pytest.approx((1307.4, 5300, 206.1, 448))  # as the catalog has them
        assert model.devices == 2
        assert model.params_b == 70
        assert tells_what_infer_does(model)

    def test_transformer(self):
        model = RooflineModel(transformer="Llama 3.1 8B")
        assert model.params_b == pytest.approx(8.030_261_248)
        dimensions = (model.hidden_dim, model.layers, model.n_heads, model.n_kv_heads, model.head_dim, model.vocab_size)
        assert dimensions == (4096, 32, 32, 8, 128, 128_256)
        assert model.metrics.scenario.model.blocks[0].ffn.width == pytest.approx(14_336)
        assert tells_what_infer_does(model)

    def test_plain_ffn_and_tied_embeddings(self):
        model = RooflineModel(transformer="OPT 6.7B")
        assert (model.gated_ffn, model.tied_embeddings) == (False, True)
        model.transformer = "Llama 2 7B"
        assert (model.gated_ffn, model.tied_embeddings) == (True, False)

    @pytest.mark.parametrize("name", Accelerator.names())
    def test_every_accelerator(self, name):
        model = RooflineModel()
        model.accelerator = name
        assert model.accelerator == name
        assert model.metrics.scenario.device.bandwidth == pytest.approx(Accelerator.named(name).bandwidth)

    @pytest.mark.parametrize("name", Transformer.names())
    def test_every_transformer(self, name):
        model = RooflineModel()
        model.transformer = name
        assert model.transformer == name
        assert model.metrics.scenario.model.params == pytest.approx(Transformer.named(name).params)

    @pytest.mark.parametrize(("name", "value"), [("peak_tflops", 500), ("hbm_cap_gb", 80), ("link_gbs", None)])
    def test_is_custom_from_it_when_one_of_its_numbers_is_edited(self, name, value):
        model = RooflineModel(accelerator="H100 SXM", transformer="Llama 3.1 8B")
        standing = getattr(model, name)
        setattr(model, name, value)
        assert getattr(model, name) == value
        assert model.metrics.scenario.device.name == "custom, from H100 SXM"
        assert model.metrics.scenario.model.name == "Llama 3.1 8B"
        setattr(model, name, standing)
        assert model.metrics.scenario.device.name == "H100 SXM"

    def test_of_an_edited_accelerator_all_formats_follow_the_peak(self):
        model = RooflineModel(accelerator="H100 SXM", peak_tflops=989.4 / 2)
        assert model.metrics.scenario.device.peak("fp8") == pytest.approx(1978.9e12 / 2)

    def test_stays_when_something_else_is(self):
        model = RooflineModel(accelerator="H100 SXM", transformer="Llama 3.1 8B")
        model.update(batch=32, devices=4, weight_bytes=1, memory_utilization=0.8)
        assert (model.accelerator, model.transformer) == ("H100 SXM", "Llama 3.1 8B")

    def test_can_be_set_again_after_an_edit(self):
        model = RooflineModel(accelerator="H100 SXM")
        model.peak_tflops = 500
        model.accelerator = "H100 SXM"
        assert (model.accelerator, model.peak_tflops) == ("H100 SXM", 989.4)

    def test_explicit_numbers_win(self):
        model = RooflineModel(accelerator="H100 SXM", hbm_cap_gb=94)
        assert (model.hbm_cap_gb, model.hbm_bw_gbs, model.accelerator) == (94, 3350, "H100 SXM")
        model.update(transformer="Llama 3.1 8B", layers=16, vocab_size=None)
        assert (model.layers, model.hidden_dim, model.vocab_size, model.transformer) == (16, 4096, None, "Llama 3.1 8B")

    def test_explicit_numbers_that_agree_keep_it(self):
        assert RooflineModel(accelerator="H100 SXM", hbm_bw_gbs=3350).accelerator == "H100 SXM"

    def test_can_be_dropped_by_hand(self):
        model = RooflineModel(accelerator="H200 SXM")
        model.accelerator = None
        assert model.hbm_bw_gbs == 4800
        model.accelerator = "H200 SXM"
        assert (model.accelerator, model.hbm_bw_gbs) == ("H200 SXM", 4800)

    def test_an_edited_model_keeps_the_build_of_its_layers(self):
        """Mixtral 8x7B with 16 of 32 layers and half its parameters: the same experts, half as often."""
        model = RooflineModel(transformer="Mixtral 8x7B", layers=16, params_b=23.482, vocab_size=32000)
        (block,) = model.metrics.scenario.model.blocks
        assert (block.layers, block.ffn.experts, block.ffn.active) == (16, 8, 2)
        assert block.ffn.width == pytest.approx(14336, rel=1e-3)
        assert model.metrics.scenario.model.name == "custom, from Mixtral 8x7B"


class TestValues:
    @pytest.mark.parametrize("kind", [int, float, np.int32, np.int64, np.uint8, np.float32, np.float64])
    def test_numpy_scalars_become_plain(self, kind):
        model = RooflineModel(batch=kind(16), hbm_bw_gbs=kind(100))
        model.seq_len = kind(64)
        model.peak_tflops = kind(128)
        assert [(type(v), v) for v in (model.batch, model.seq_len)] == [(int, 16), (int, 64)]
        assert [(type(v), v) for v in (model.hbm_bw_gbs, model.peak_tflops)] == [(float, 100), (float, 128)]

    def test_switches(self):
        model = RooflineModel(gated_ffn=np.bool_(False))
        assert model.gated_ffn is False

    def test_null_where_it_means_something(self):
        model = RooflineModel(head_dim=64, link_gbs=100, vocab_size=32_000)
        model.update(head_dim=None, link_gbs=None, vocab_size=None)
        assert infer(model.parameters()) == infer(MISSION)


def test_parameters_feed_infer_and_another_model():
    model = RooflineModel(accelerator="H200 SXM", transformer="Qwen2.5 72B", devices=4, batch=64, output_tokens=300)
    assert tells_what_infer_does(model)
    twin = RooflineModel(**model.parameters())
    assert twin.parameters() == model.parameters()
    assert twin.metrics.tpot == model.metrics.tpot


def test_scenario_is_what_the_metrics_are_of():
    model = RooflineModel(batch=5)
    assert model.scenario == model.metrics.scenario
    assert model.scenario.workload.batch == 5


@pytest.mark.parametrize(
    "traits", [{}, {"accelerator": "L40S", "batch": 3}, {"transformer": "OPT 6.7B", "link_gbs": 31.5, "vocab_size": 9}]
)
def test_repr_makes_the_model_again(traits):
    model = RooflineModel(**traits)
    again = eval(repr(model), {"RooflineModel": RooflineModel})
    assert repr(again) == repr(model)
    assert again.parameters() == model.parameters()


def test_two_models_are_independent():
    one, other = RooflineModel(), RooflineModel()
    heard = Heard(other, *other.trait_names())
    one.update(accelerator="B200 SXM", batch=64)
    assert not heard
    assert other.parameters() == RooflineModel().parameters()
    assert other.metrics is not one.metrics
    assert tells_what_infer_does(other)


def repr_of_type(value):
    return type(value).__name__


class TestPresetsAssignedInAnyWay:
    """A preset that is none leaves the model as it stands, however it was set."""

    @pytest.mark.parametrize(
        "value", ["nope", 1, np.array(["H100 SXM", "x"]), 10**5000], ids=lambda value: type(value).__name__
    )
    @pytest.mark.parametrize("assign", [setattr, lambda m, k, v: m.set_trait(k, v), lambda m, k, v: m.update(**{k: v})])
    def test_nonsense_is_refused(self, assign, value):
        model = RooflineModel(accelerator="H100 SXM", batch=4)
        with pytest.raises((TraitError, ValueError)):  # traitlets itself cannot quote so long a number
            assign(model, "accelerator", value)
        assert model.accelerator == "H100 SXM"
        model.batch = 5
        assert model.metrics.scenario.workload.batch == 5


@pytest.mark.parametrize("copy_of", [copy.deepcopy, copy.copy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_is_a_model_of_its_own(copy_of):
    model = RooflineModel(accelerator="A100 SXM 80GB", batch=4, peak_tflops=300)
    copied = copy_of(model)
    assert copied.parameters() == model.parameters()
    copied.batch = 7
    assert (model.batch, copied.metrics.scenario.workload.batch) == (4, 7)


class TestPresetsOfManyKinds:
    """What a reviewer broke once."""

    def test_kv_heads_of_a_latent_are_not_edited(self):
        model = RooflineModel(accelerator="H200 SXM", transformer="DeepSeek V3", devices=8)
        with pytest.raises(ParameterError, match="n_kv_heads of this model must be 1"):
            model.n_kv_heads = 8
        assert model.n_kv_heads == 1

    def test_a_broken_hold_leaves_edits_standing(self):
        model = RooflineModel(transformer="Llama 3.1 70B", layers=40, params_b=40)

        def break_off():
            with model.hold_trait_notifications():
                model.params_b = 0.001
                raise RuntimeError

        with pytest.raises(RuntimeError):
            break_off()
        assert (model.layers, model.params_b, model.transformer) == (40, 40, "Llama 3.1 70B")

    def test_a_switch_that_devices_do_not_allow_changes_nothing(self):
        model = RooflineModel(accelerator="H100 SXM", transformer="Llama 3.1 70B", devices=64)
        standing = model.parameters()
        with pytest.raises(ParameterError, match="devices must divide n_heads=32"):
            model.transformer = "Llama 3.1 8B"
        assert model.parameters() == standing

    def test_names_in_any_case(self):
        assert RooflineModel(accelerator="h200 sxm").accelerator == "H200 SXM"

    def test_weights_are_as_published_also_in_a_scenario(self):
        model = RooflineModel(accelerator="H100 SXM", transformer="gpt-oss 120B")
        plain = evaluate(Scenario("H100 SXM", "gpt-oss 120B"))
        assert plain.memory.weights == model.metrics.memory.weights

    def test_a_configuration_cannot_be_changed_from_outside(self):
        config = {"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,
                  "intermediate_size": 512, "vocab_size": 1000}  # fmt: skip
        model = RooflineModel(transformer=config)
        for given in (config, model.transformer, model.parameters()["transformer"]):
            given["num_hidden_layers"] = 8
        assert model.transformer["num_hidden_layers"] == 4
        model.batch = 3
        assert model.layers == 4
