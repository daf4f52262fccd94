"""The catalog: facts as makers publish them, each with its source."""

import pytest
from data_sheets import DATA_SHEETS

from roofwidget import Accelerator, Scenario, Transformer, catalog, evaluate

TABLES = {"accelerators": Accelerator, "transformers": Transformer}
EVERY_ENTRY = [(table, name) for table in TABLES for name in catalog.entries(table)]


@pytest.mark.parametrize(("table", "name"), EVERY_ENTRY)
def test_every_entry_has_its_source(table, name):
    assert len(catalog.entry(table, name)["source"]) > 20


@pytest.mark.parametrize(("table", "name"), EVERY_ENTRY)
def test_every_entry_can_be_served(table, name):
    names = {"accelerators": "H100 SXM", "transformers": "Llama 3.1 8B", table: name}
    assert 0 < evaluate(Scenario(names["accelerators"], names["transformers"])).tpot < 1


@pytest.mark.parametrize("kind", TABLES.values())
def test_names_are_what_named_takes(kind):
    assert kind.names()
    assert [kind.named(name).name for name in kind.names()] == kind.names()


@pytest.mark.parametrize(
    ("kind", "name", "suggested"),
    [
        (Accelerator, "H100", "H100 SXM"),
        (Accelerator, "MI3", "MI355X"),
        (Accelerator, "A100 80GB", "A100 SXM 80GB"),
        (Transformer, "Llama-3.1-8B", "Llama 3.1 8B"),
        (Transformer, "Qwen2.5-72B", "Qwen2.5 72B"),
    ],
)
def test_unknown_name_suggests_the_near_ones(kind, name, suggested):
    with pytest.raises(KeyError, match=f"'{name}' is not in the catalog of .*{suggested}"):
        kind.named(name)


@pytest.mark.parametrize(
    ("kind", "said", "meant"),
    [
        (Accelerator, "h200 sxm", "H200 SXM"),
        (Accelerator, "MI300", "MI300X"),
        (Transformer, "gpt-oss 120b", "gpt-oss 120B"),
    ],
)
def test_case_does_not_matter_nor_an_end_that_only_one_has(kind, said, meant):
    assert kind.named(said) == kind.named(meant)


def test_a_name_that_is_near_to_none_lists_all():
    with pytest.raises(KeyError) as error:
        Accelerator.named("zzz")
    assert all(name in str(error.value) for name in Accelerator.names())


@pytest.mark.parametrize("name", DATA_SHEETS)
def test_accelerators_are_as_their_data_sheets_say(name):
    device, sheet = Accelerator.named(name), DATA_SHEETS[name]
    for fmt in ("fp16", "bf16", "fp8", "fp4"):
        for figure, times in ((f"{fmt}_dense_tflops", 1), (f"{fmt}_sparse_tflops", 2)):
            if figure in sheet:
                assert device.peak(fmt) / 1e12 * times == pytest.approx(sheet[figure], rel=2e-3), figure
    assert device.bandwidth / 1e9 == pytest.approx(sheet["bandwidth_gbs"], rel=2e-3)
    assert 0.92 * sheet["marketed_gb"] <= device.capacity / 1e9 <= 1.009 * sheet["marketed_gb"] * 2**30 / 1e9


# Rates of the narrower format that are not twice the wider one's, as their makers state them: GeForce halves what is
# summed in fp32, Blackwell Ultra adds half again to fp4 alone, Trainium 3 has one rate for 8 and 4 bits.
UNUSUAL = {
    ("RTX 5090", "fp4"): 4.0,
    ("B300", "fp4"): 3.0,
    ("GB300", "fp4"): 3.0,
    ("Trainium 1", "fp8"): 1.0,
    ("Trainium 2", "fp8"): 1.95,
    ("Trainium 3", "fp8"): 3.75,
    ("Trainium 3", "fp4"): 1.0,
    ("Inferentia 2", "fp8"): 1.0,
    ("Gaudi 3", "fp8"): 1.0,
}


@pytest.mark.parametrize("name", Accelerator.names())
def test_peaks_are_dense(name):
    """Half the bits, twice the rate: a sparsity-doubled figure in one column would stand out."""
    peaks = Accelerator.named(name).peaks
    for wide, narrow in [("bf16", "fp8"), ("fp8", "fp4")]:
        if wide in peaks and narrow in peaks:
            assert peaks[narrow] / peaks[wide] == pytest.approx(UNUSUAL.get((name, narrow), 2), rel=0.02)


def test_no_format_is_invented():
    for name in ("V100 SXM2 32GB", "T4", "A100 SXM 80GB", "A10", "MI210"):
        assert not {"fp8", "fp4"} & Accelerator.named(name).peaks.keys()
    assert "bf16" not in Accelerator.named("T4").peaks
    assert Accelerator.named("T4").peak("bf16") == 65e12  # in fp16, as engines compute there
    assert "fp4" not in Accelerator.named("H200 SXM").peaks


@pytest.mark.parametrize("name", Accelerator.names())
def test_every_accelerator_is_complete(name):
    facts = catalog.entry("accelerators", name)
    assert {"vendor", "peak_tflops", "bandwidth_gbs", "capacity_gb", "source"} <= facts.keys()
    assert ("link" in facts) == ("link_gbs" in facts) == ("group" in facts)
    assert ("usd_per_hour" in facts) == ("price_date" in facts)
    assert set(facts.get("unverified", [])) <= facts.keys()


# GB/s in one direction: NVLink 3, 4 and 5 are 600, 900 and 1,800 in both; seven xGMI peers of 64
@pytest.mark.parametrize(
    ("name", "link_gbs"),
    [("A100 SXM 80GB", 300), ("H100 SXM", 450), ("H200 SXM", 450), ("B200 SXM", 900), ("MI300X", 448), ("L40S", 31)],
)
def test_links_count_one_direction(name, link_gbs):
    assert Accelerator.named(name).link_bandwidth == pytest.approx(link_gbs * 1e9, rel=0.02)


# layers, hidden, query heads, KV heads, head width, FFN, vocabulary: config.json of each
CONFIGS = {
    "Llama 3.1 8B": (32, 4096, 32, 8, 128, 14336, 128256),
    "Llama 3.1 70B": (80, 8192, 64, 8, 128, 28672, 128256),
    "Llama 3.1 405B": (126, 16384, 128, 8, 128, 53248, 128256),
    "Llama 2 7B": (32, 4096, 32, 32, 128, 11008, 32000),
    "Qwen2.5 72B": (80, 8192, 64, 8, 128, 29568, 152064),
    "Qwen3 8B": (36, 4096, 32, 8, 128, 12288, 151936),
    "OPT 6.7B": (32, 4096, 32, 32, 128, 16384, 50272),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_transformers_are_as_their_configurations_say(name):
    model = Transformer.named(name)
    dimensions = (model.layers, model.hidden_dim, model.n_heads, model.n_kv_heads, model.head_dim)
    assert (*dimensions, model.blocks[0].ffn.width, model.vocab_size) == CONFIGS[name]
