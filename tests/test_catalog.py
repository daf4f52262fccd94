"""The catalog: facts as makers publish them, each with its source."""

import pytest

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
        (Accelerator, "MI300", "MI300X"),
        (Accelerator, "A100 80GB", "A100 SXM 80GB"),
        (Transformer, "Llama-3.1-8B", "Llama 3.1 8B"),
        (Transformer, "Qwen2.5-72B", "Qwen2.5 72B"),
    ],
)
def test_unknown_name_suggests_the_near_ones(kind, name, suggested):
    with pytest.raises(KeyError, match=f"'{name}' is not in the catalog of .*{suggested}"):
        kind.named(name)


def test_a_name_that_is_near_to_none_lists_all():
    with pytest.raises(KeyError) as error:
        Accelerator.named("zzz")
    assert all(name in str(error.value) for name in Accelerator.names())


# Dense 16-bit and 8-bit TFLOP/s, memory GB/s, and memory in 10⁹ bytes: the makers' data sheets, halved
# where they count 2:4 sparsity; capacity is what 80, 141, 180, 80, 48 and 192 "GB" come to at most,
# in GiB where that is what is soldered on.
DATA_SHEETS = {
    "H100 SXM": (989.4, 1978.9, 3350, 80 * 2**30 / 1e9),  # "1,979 teraFLOPS" and "3,958" with sparsity
    "H200 SXM": (989.4, 1978.9, 4800, 141 * 2**30 / 1e9),  # as H100; 4.8 TB/s
    "B200 SXM": (2250, 4500, 8000, 192 * 2**30 / 1e9),  # HGX B200: "36 / 72 PFLOPS" of 8 with sparsity
    "A100 SXM 80GB": (312, None, 2039, 80 * 2**30 / 1e9),  # "312 TF | 624 TF*"
    "L40S": (362.05, 733, 864, 48 * 2**30 / 1e9),  # "362.05 | 733*"; "733 | 1,466*"
    "MI300X": (1307.4, 2614.9, 5300, 192 * 2**30 / 1e9),  # without structured sparsity
}


@pytest.mark.parametrize("name", DATA_SHEETS)
def test_accelerators_are_as_their_data_sheets_say(name):
    device, (bf16, fp8, bandwidth, soldered) = Accelerator.named(name), DATA_SHEETS[name]
    assert device.peak("bf16") / 1e12 == pytest.approx(bf16, rel=1e-3)
    assert device.peaks.get("fp8", 0) / 1e12 == pytest.approx(fp8 or 0, rel=1e-3)
    assert device.bandwidth / 1e9 == pytest.approx(bandwidth, rel=1e-3)
    assert 0.92 * soldered <= device.capacity / 1e9 <= soldered * 1.001


@pytest.mark.parametrize("name", Accelerator.names())
def test_peaks_are_dense(name):
    """Half the bits, twice the rate: a sparsity-doubled figure in one column would stand out."""
    peaks = Accelerator.named(name).peaks
    for wide, narrow in [("bf16", "fp8"), ("fp8", "fp4")]:
        if narrow in peaks:
            assert peaks[narrow] / peaks[wide] == pytest.approx(2, rel=0.02)


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
    assert (*dimensions, model.ffn_dim, model.vocab_size) == CONFIGS[name]
