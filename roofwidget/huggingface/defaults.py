"""What a family's class takes where a file does not say, as transformers 5 has it.

Real files leave out what equals the default of their class, above all in the text part of a multimodal model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEFAULTS: dict[str, dict[str, Any]] = {
    "afmoe": {"head_dim": 128, "sliding_window": 1024, "num_shared_experts": 2, "num_dense_layers": 1},
    "axk1": {"n_shared_experts": 1},
    "bailing_hybrid": {"num_key_value_heads": 32, "first_k_dense_replace": 2, "num_shared_experts": 1},
    "bamba": {"num_key_value_heads": 8},
    "bitnet": {"num_key_value_heads": 5},
    "bloom": {"tie_word_embeddings": True},
    "cohere": {"tie_word_embeddings": True},
    "cohere2": {"tie_word_embeddings": True, "sliding_window": 4096},
    "cohere2_moe": {"head_dim": 128, "tie_word_embeddings": True, "sliding_window": 4096},
    "cwm": {"num_key_value_heads": 8, "head_dim": 128, "sliding_window": 8192},
    "deepseek_v3": {"n_shared_experts": 1, "first_k_dense_replace": 3},
    "deepseek_v32": {
        "index_n_heads": 64, "index_head_dim": 128, "index_topk": 2048, "n_shared_experts": 1,
        "first_k_dense_replace": 3,
    },
    "deepseek_v4": {"num_key_value_heads": 1, "head_dim": 512, "sliding_window": 128, "n_shared_experts": 1},
    "dots1": {"num_key_value_heads": 32, "sliding_window": 4096},
    "ernie4_5": {"num_key_value_heads": 2, "head_dim": 128, "tie_word_embeddings": True},
    "ernie4_5_moe": {
        "num_key_value_heads": 4, "tie_word_embeddings": True, "moe_num_shared_experts": 2,
        "moe_layer_start_index": 1,
    },
    "ernie4_5_moe_vl": {"num_key_value_heads": 4, "tie_word_embeddings": True, "moe_num_shared_experts": 2},
    "ernie4_5_vl_moe_text": {"num_key_value_heads": 4, "tie_word_embeddings": True, "moe_num_shared_experts": 2},
    "exaone": {"num_key_value_heads": 8},
    "exaone4": {"num_key_value_heads": 32, "sliding_window": 4096},
    "exaone_moe": {
        "num_key_value_heads": 32, "sliding_window": 4096, "num_shared_experts": 1, "first_k_dense_replace": 1,
    },
    "falcon": {"tie_word_embeddings": True},
    "falcon_h1": {"num_key_value_heads": 8},
    "falcon_mamba": {"tie_word_embeddings": True},
    "gemma": {"num_key_value_heads": 16, "head_dim": 256, "tie_word_embeddings": True},
    "gemma2": {"num_key_value_heads": 4, "head_dim": 256, "tie_word_embeddings": True, "sliding_window": 4096},
    "gemma3_text": {"num_key_value_heads": 4, "head_dim": 256, "tie_word_embeddings": True, "sliding_window": 4096},
    "gemma3n_text": {
        "num_key_value_heads": 2, "head_dim": 256, "tie_word_embeddings": True, "sliding_window": 512,
        "num_kv_shared_layers": 15, "hidden_size_per_layer_input": 256, "vocab_size_per_layer_input": 262144,
        "altup_num_inputs": 4, "laurel_rank": 64,
    },
    "gemma4_text": {
        "num_key_value_heads": 4, "head_dim": 256, "tie_word_embeddings": True, "sliding_window": 512,
        "num_kv_shared_layers": 0, "hidden_size_per_layer_input": 256, "vocab_size_per_layer_input": 262144,
        "global_head_dim": 512,
    },
    "gemma4_unified_text": {
        "num_key_value_heads": 4, "head_dim": 256, "tie_word_embeddings": True, "sliding_window": 1024,
        "num_kv_shared_layers": 0, "global_head_dim": 512,
    },
    "glm": {"num_key_value_heads": 2, "head_dim": 128},
    "glm4": {"num_key_value_heads": 2, "head_dim": 128},
    "glm4_moe": {"num_key_value_heads": 8, "n_shared_experts": 1, "first_k_dense_replace": 1},
    "glm4_moe_lite": {"n_shared_experts": 1},
    "glm4v_moe_text": {"num_key_value_heads": 8, "n_shared_experts": 1, "first_k_dense_replace": 1},
    "glm4v_text": {"num_key_value_heads": 2},
    "glm_moe_dsa": {
        "n_shared_experts": 1, "first_k_dense_replace": 3, "index_n_heads": 32, "index_head_dim": 128,
        "index_topk": 2048,
    },
    "gpt2": {"tie_word_embeddings": True, "n_positions": 1024},
    "gpt_bigcode": {"tie_word_embeddings": True, "n_positions": 1024},
    "gpt_neo": {"tie_word_embeddings": True, "max_position_embeddings": 2048},
    "gpt_oss": {"num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128},
    "granite_swa": {"num_key_value_heads": 4, "tie_word_embeddings": True, "sliding_window": 128},
    "grok-1": {"tie_word_embeddings": True},
    "helium": {"num_key_value_heads": 20, "head_dim": 128},
    "hunyuan_vl_text": {"tie_word_embeddings": True},
    "hy_v3": {"num_key_value_heads": 8, "head_dim": 128, "num_shared_experts": 1},
    "internlm3": {"num_key_value_heads": 2, "head_dim": 128},
    "iquestcoder": {"num_key_value_heads": 8, "head_dim": 128},
    "jamba": {"num_key_value_heads": 8},
    "kimi_k2": {"n_shared_experts": 1, "first_k_dense_replace": 3},
    "kimi_linear": {"num_key_value_heads": 32, "linear_conv_kernel_dim": 4, "num_shared_experts": 1},
    "laguna": {
        "num_key_value_heads": 8, "head_dim": 128, "sliding_window": 512, "shared_expert_intermediate_size": 512,
    },
    "lfm2": {"num_key_value_heads": 8, "tie_word_embeddings": True},
    "lfm2_moe": {"num_key_value_heads": 8, "tie_word_embeddings": True, "num_dense_layers": 2},
    "llama4_text": {
        "num_key_value_heads": 8, "head_dim": 128, "attention_chunk_size": 8192, "intermediate_size_mlp": 16384,
    },
    "mamba": {"tie_word_embeddings": True},
    "mellum": {"num_key_value_heads": 4, "head_dim": 128, "sliding_window": 1024},
    "minicpm": {"tie_word_embeddings": True},
    "minicpm3": {"tie_word_embeddings": True},
    "minimax": {"num_key_value_heads": 8},
    "minimax_m1": {"num_key_value_heads": 8},
    "minimax_m2": {"num_key_value_heads": 8, "head_dim": 128},
    "minimax_text_01": {"num_key_value_heads": 8},
    "ministral": {"num_key_value_heads": 8, "sliding_window": 4096},
    "ministral3": {"num_key_value_heads": 8, "head_dim": 128},
    "mistral": {"num_key_value_heads": 8, "sliding_window": 4096},
    "mistral4": {"n_shared_experts": 1},
    "mistral_large4_text": {
        "n_shared_experts": 1, "first_k_dense_replace": 1, "index_n_heads": 32, "index_head_dim": 128,
        "index_topk": 2048,
    },
    "mixtral": {"num_key_value_heads": 8},
    "mpt": {"tie_word_embeddings": True},
    "olmo3": {"sliding_window": 4096},
    "olmo_hybrid": {"linear_conv_kernel_dim": 4},
    "opt": {"tie_word_embeddings": True, "max_position_embeddings": 2048},
    "phi4_multimodal": {"num_key_value_heads": 8},
    "phi4mm": {"num_key_value_heads": 8},
    "phimoe": {"num_key_value_heads": 8},
    "qwen2": {"num_key_value_heads": 32, "sliding_window": 4096},
    "qwen2_5_omni_text": {"num_key_value_heads": 4, "tie_word_embeddings": True, "sliding_window": 32768},
    "qwen2_5_vl": {"num_key_value_heads": 8, "sliding_window": 4096},
    "qwen2_5_vl_text": {"num_key_value_heads": 8, "sliding_window": 4096},
    "qwen2_moe": {"num_key_value_heads": 16, "sliding_window": 4096, "shared_expert_intermediate_size": 5632},
    "qwen2_vl": {"num_key_value_heads": 8, "sliding_window": 4096},
    "qwen2_vl_text": {"num_key_value_heads": 8, "sliding_window": 4096},
    "qwen3": {"num_key_value_heads": 32, "head_dim": 128, "sliding_window": 4096},
    "qwen3_5_moe_text": {
        "num_key_value_heads": 2, "head_dim": 256, "shared_expert_intermediate_size": 512, "linear_num_key_heads": 16,
        "linear_num_value_heads": 32, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
    },
    "qwen3_5_text": {
        "num_key_value_heads": 4, "head_dim": 256, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
    },
    "qwen3_moe": {"num_key_value_heads": 4, "sliding_window": 4096},
    "qwen3_next": {
        "num_key_value_heads": 2, "head_dim": 256, "shared_expert_intermediate_size": 512, "linear_num_key_heads": 16,
        "linear_num_value_heads": 32, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
    },
    "qwen3_omni_moe_text": {"num_key_value_heads": 4},
    "qwen3_vl_moe_text": {"num_key_value_heads": 16, "tie_word_embeddings": True},
    "qwen3_vl_text": {"num_key_value_heads": 32, "head_dim": 128},
    "recurrent_gemma": {"tie_word_embeddings": True},
    "sarvam_mla": {"first_k_dense_replace": 1},
    "sarvam_moe": {"num_key_value_heads": 4, "head_dim": 64, "first_k_dense_replace": 1},
    "seed_oss": {"num_key_value_heads": 8, "head_dim": 128},
    "smollm3": {"num_key_value_heads": 4, "tie_word_embeddings": True},
    "solar_open": {"num_key_value_heads": 8, "head_dim": 128, "n_shared_experts": 1},
    "stablelm": {"num_key_value_heads": 32},
    "starcoder2": {"num_key_value_heads": 2, "tie_word_embeddings": True},
    "step3p5": {"num_key_value_heads": 8, "head_dim": 128},
    "vaultgemma": {"num_key_value_heads": 4, "head_dim": 256, "tie_word_embeddings": True, "sliding_window": 4096},
    "youtu": {"tie_word_embeddings": True},
}  # fmt: skip

SIZES: dict[str, dict[str, Any]] = {
    "gemma": {
        "hidden_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16, "intermediate_size": 24576,
        "vocab_size": 256000,
    },
    "gemma2": {
        "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8, "intermediate_size": 9216,
        "vocab_size": 256000,
    },
    "gemma3_text": {
        "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8, "intermediate_size": 9216,
        "vocab_size": 262208,
    },
    "gemma3n_text": {
        "hidden_size": 2048, "num_hidden_layers": 35, "num_attention_heads": 8, "intermediate_size": 16384,
        "vocab_size": 262400,
    },
    "gemma4_text": {
        "hidden_size": 2304, "num_hidden_layers": 30, "num_attention_heads": 8, "intermediate_size": 9216,
        "vocab_size": 262144,
    },
    "gemma4_unified_text": {
        "hidden_size": 2304, "num_hidden_layers": 30, "num_attention_heads": 8, "intermediate_size": 9216,
        "vocab_size": 262144,
    },
    "llama": {
        "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
        "vocab_size": 32000,
    },
    "mistral": {
        "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 14336,
        "vocab_size": 32000,
    },
    "qwen2": {
        "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 22016,
        "vocab_size": 151936,
    },
    "qwen2_5_vl_text": {
        "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64, "intermediate_size": 29568,
        "vocab_size": 152064,
    },
    "qwen2_vl_text": {
        "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64, "intermediate_size": 29568,
        "vocab_size": 152064,
    },
    "qwen3": {
        "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 22016,
        "vocab_size": 151936,
    },
    "qwen3_vl_text": {
        "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 22016,
        "vocab_size": 151936,
    },
}  # fmt: skip
"""The sizes themselves, which only parts leave out."""


def with_defaults(fields: Mapping[str, Any], family: str, part: bool) -> dict[str, Any]:
    """The fields, and the family's defaults for those that are absent; what is null stays so.

    Parameters
    ----------
    fields, family
        Of the configuration.
    part
        Whether it is the text part of another, which may leave out even its sizes.
    """
    return {**(SIZES.get(family, {}) if part else {}), **DEFAULTS.get(family, {}), **fields}
