"""Configurations of published models, against what their definitions and publishers say.

Fields are those that bear on dimensions, typed in as the repository's config.json has them. A total to the last
digit is the number of distinct parameters that transformers 5.24 builds from them on the meta device, without
vision towers; a rounded one is the publisher's, of families whose definition is in their repository, and of
LongCat-Flash, of which transformers counts matrices for experts that have none. KV bytes are for bf16, two for
each output of the key and value projections that transformers builds, or of the latent ones. Windows are those of
its layer_types.
"""

import json
import math
import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from roofwidget import Scenario, Transformer, evaluate
from roofwidget.architecture.attention import Attention
from roofwidget.architecture.parallel import Parallel
from roofwidget.architecture.recurrence import Recurrence
from roofwidget.huggingface import ConfigError, families


class Model(NamedTuple):
    """A configuration, all its parameters, bytes of KV cache of a token, and how many layers have which window."""

    config: dict[str, Any]
    params: float
    kv_bytes: int
    windows: dict[int, int] | None = None


# fmt: off
MODELS = {
    "meta-llama/Llama-2-7b-hf": Model({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000, "num_key_value_heads": 32,
        "tie_word_embeddings": False}, 6_738_415_616, 524_288),
    "meta-llama/Llama-3.1-405B": Model({"model_type": "llama", "hidden_size": 16384, "num_hidden_layers": 126,
        "num_attention_heads": 128, "intermediate_size": 53248, "vocab_size": 128256, "num_key_value_heads": 8,
        "tie_word_embeddings": False}, 405_853_388_800, 516_096),
    "meta-llama/Llama-3.2-1B": Model({"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16,
        "num_attention_heads": 32, "intermediate_size": 8192, "vocab_size": 128256, "num_key_value_heads": 8,
        "head_dim": 64, "tie_word_embeddings": True}, 1_235_814_400, 32_768),
    "mistralai/Mistral-7B-v0.1": Model({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 32000, "num_key_value_heads": 8,
        "sliding_window": 4096, "tie_word_embeddings": False}, 7_241_732_096, 131_072, {4096: 32}),
    "mistralai/Mistral-7B-v0.3": Model({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 32768, "num_key_value_heads": 8,
        "sliding_window": None, "tie_word_embeddings": False}, 7_248_023_552, 131_072),
    "mistralai/Mistral-Nemo-Base-2407": Model({"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers":
        40, "num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 131072, "num_key_value_heads": 8,
        "head_dim": 128, "sliding_window": None, "tie_word_embeddings": False}, 12_247_782_400, 163_840),
    "mistralai/Mistral-Large-Instruct-2407": Model({"model_type": "mistral", "hidden_size": 12288,
        "num_hidden_layers": 88, "num_attention_heads": 96, "intermediate_size": 28672, "vocab_size": 32768,
        "num_key_value_heads": 8, "sliding_window": None, "tie_word_embeddings": False}, 122_610_069_504, 360_448),
    "mistralai/Mixtral-8x22B-v0.1": Model({"model_type": "mixtral", "hidden_size": 6144, "num_hidden_layers": 56,
        "num_attention_heads": 48, "intermediate_size": 16384, "vocab_size": 32000, "num_key_value_heads": 8,
        "num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": None}, 140_620_634_112, 229_376),
    "Qwen/Qwen-7B": Model({"model_type": "qwen", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 22016, "vocab_size": 151936, "kv_channels": 128,
        "tie_word_embeddings": False}, 7.72e9, 524_288),
    "Qwen/Qwen1.5-0.5B": Model({"model_type": "qwen2", "hidden_size": 1024, "num_hidden_layers": 24,
        "num_attention_heads": 16, "intermediate_size": 2816, "vocab_size": 151936, "num_key_value_heads": 16,
        "sliding_window": 32768, "max_window_layers": 21, "use_sliding_window": False, "tie_word_embeddings": True},
        463_987_712, 98_304),
    "Qwen/Qwen2.5-7B": Model({"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
        "num_attention_heads": 28, "intermediate_size": 18944, "vocab_size": 152064, "num_key_value_heads": 4,
        "sliding_window": 131072, "max_window_layers": 28, "use_sliding_window": False, "tie_word_embeddings": False},
        7_615_616_512, 57_344),
    "Qwen/Qwen2.5-72B": Model({"model_type": "qwen2", "hidden_size": 8192, "num_hidden_layers": 80,
        "num_attention_heads": 64, "intermediate_size": 29568, "vocab_size": 152064, "num_key_value_heads": 8,
        "sliding_window": 131072, "max_window_layers": 80, "use_sliding_window": False, "tie_word_embeddings": False},
        72_706_203_648, 327_680),
    "Qwen/Qwen2-57B-A14B": Model({"model_type": "qwen2_moe", "hidden_size": 3584, "num_hidden_layers": 28,
        "num_attention_heads": 28, "intermediate_size": 18944, "vocab_size": 151936, "num_key_value_heads": 4,
        "num_experts": 64, "num_experts_per_tok": 8, "moe_intermediate_size": 2560, "shared_expert_intermediate_size":
        20480, "decoder_sparse_step": 1, "tie_word_embeddings": False}, 57_408_658_944, 57_344),
    "Qwen/Qwen3-0.6B": Model({"model_type": "qwen3", "hidden_size": 1024, "num_hidden_layers": 28,
        "num_attention_heads": 16, "intermediate_size": 3072, "vocab_size": 151936, "num_key_value_heads": 8,
        "head_dim": 128, "tie_word_embeddings": True, "sliding_window": None, "use_sliding_window": False,
        "max_window_layers": 28}, 596_049_920, 114_688),
    "Qwen/Qwen3-32B": Model({"model_type": "qwen3", "hidden_size": 5120, "num_hidden_layers": 64,
        "num_attention_heads": 64, "intermediate_size": 25600, "vocab_size": 151936, "num_key_value_heads": 8,
        "head_dim": 128, "tie_word_embeddings": False}, 32_762_123_264, 262_144),
    "Qwen/Qwen3-235B-A22B": Model({"model_type": "qwen3_moe", "hidden_size": 4096, "num_hidden_layers": 94,
        "num_attention_heads": 64, "intermediate_size": 12288, "vocab_size": 151936, "num_key_value_heads": 4,
        "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 1536,
        "decoder_sparse_step": 1, "mlp_only_layers": [], "tie_word_embeddings": False}, 235_093_634_560, 192_512),
    "Qwen/Qwen3-Next-80B-A3B-Instruct": Model({"model_type": "qwen3_next", "hidden_size": 2048, "num_hidden_layers":
        48, "num_attention_heads": 16, "intermediate_size": 5120, "vocab_size": 151936, "num_key_value_heads": 2,
        "head_dim": 256, "num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512, "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_value_head_dim":
        128, "decoder_sparse_step": 1, "mlp_only_layers": [], "tie_word_embeddings": False}, 79_674_391_296, 24_576),
    "google/gemma-2b": Model({"model_type": "gemma", "hidden_size": 2048, "num_hidden_layers": 18,
        "num_attention_heads": 8, "intermediate_size": 16384, "vocab_size": 256000, "num_key_value_heads": 1,
        "head_dim": 256}, 2_506_172_416, 18_432),
    "google/gemma-7b": Model({"model_type": "gemma", "hidden_size": 3072, "num_hidden_layers": 28,
        "num_attention_heads": 16, "intermediate_size": 24576, "vocab_size": 256000, "num_key_value_heads": 16,
        "head_dim": 256}, 8_537_680_896, 458_752),
    "google/gemma-2-9b": Model({"model_type": "gemma2", "hidden_size": 3584, "num_hidden_layers": 42,
        "num_attention_heads": 16, "intermediate_size": 14336, "vocab_size": 256000, "num_key_value_heads": 8,
        "head_dim": 256, "sliding_window": 4096}, 9_241_705_984, 344_064, {4096: 21}),
    "google/gemma-2-27b": Model({"model_type": "gemma2", "hidden_size": 4608, "num_hidden_layers": 46,
        "num_attention_heads": 32, "intermediate_size": 36864, "vocab_size": 256000, "num_key_value_heads": 16,
        "head_dim": 128, "sliding_window": 4096}, 27_227_128_320, 376_832, {4096: 23}),
    "google/gemma-3-1b-pt": Model({"model_type": "gemma3_text", "hidden_size": 1152, "num_hidden_layers": 26,
        "num_attention_heads": 4, "intermediate_size": 6912, "vocab_size": 262144, "num_key_value_heads": 1, "head_dim":
        256, "sliding_window": 512, "sliding_window_pattern": 6}, 999_885_952, 26_624, {512: 22}),
    "google/gemma-3-27b-it": Model({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "head_dim":
        128, "hidden_size": 5376, "intermediate_size": 21504, "num_attention_heads": 32, "num_hidden_layers": 62,
        "num_key_value_heads": 16, "sliding_window": 1024}}, 27_009_346_304, 507_904, {1024: 52}),
    "google/gemma-3-4b-it": Model({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
        "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}},
        3_880_263_168, 139_264, {1024: 29}),
    "google/gemma-3n-E2B": Model({"model_type": "gemma3n_text", "hidden_size": 2048, "num_hidden_layers": 30,
        "num_attention_heads": 8, "intermediate_size": 8192, "vocab_size": 262400, "num_key_value_heads": 2, "head_dim":
        256, "num_kv_shared_layers": 10, "hidden_size_per_layer_input": 256, "vocab_size_per_layer_input": 262144,
        "altup_num_inputs": 4, "laurel_rank": 64, "sliding_window": 512, "layer_types": ["sliding_attention",
        "sliding_attention", "sliding_attention", "sliding_attention", "full_attention"] * 6}, 4_435_182_688, 40_960,
        {512: 24}),
    "google/gemma-3n-E4B": Model({"model_type": "gemma3n_text", "hidden_size": 2048, "num_hidden_layers": 35,
        "num_attention_heads": 8, "intermediate_size": 16384, "vocab_size": 262400, "num_key_value_heads": 2,
        "head_dim": 256, "num_kv_shared_layers": 15, "hidden_size_per_layer_input": 256, "vocab_size_per_layer_input":
        262144, "altup_num_inputs": 4, "laurel_rank": 64, "sliding_window": 512, "layer_types": ["sliding_attention",
        "sliding_attention", "sliding_attention", "sliding_attention", "full_attention"] * 7}, 6_835_235_568, 40_960,
        {512: 28}),
    "google/gemma-4-E2B": Model({"model_type": "gemma4_text", "hidden_size": 1536, "num_hidden_layers": 35,
        "num_attention_heads": 8, "intermediate_size": 6144, "vocab_size": 262144, "num_key_value_heads": 1, "head_dim":
        256, "global_head_dim": 512, "num_kv_shared_layers": 20, "use_double_wide_mlp": True,
        "hidden_size_per_layer_input": 256, "vocab_size_per_layer_input": 262144, "sliding_window": 512,
        "attention_k_eq_v": False, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention"] * 7}, 4_628_569_344, 18_432, {512: 28}),
    "google/gemma-4-31B": Model({"model_type": "gemma4_text", "hidden_size": 5376, "num_hidden_layers": 60,
        "num_attention_heads": 32, "intermediate_size": 21504, "vocab_size": 262144, "num_key_value_heads": 16,
        "head_dim": 256, "global_head_dim": 512, "num_global_key_value_heads": 4, "attention_k_eq_v": True,
        "hidden_size_per_layer_input": 0, "sliding_window": 1024, "num_kv_shared_layers": 0}, 30_697_345_280, 901_120,
        {1024: 50}),
    "microsoft/phi-1_5": Model({"model_type": "phi", "hidden_size": 2048, "num_hidden_layers": 24,
        "num_attention_heads": 32, "intermediate_size": 8192, "vocab_size": 51200, "tie_word_embeddings": False},
        1_418_270_720, 196_608),
    "microsoft/phi-2": Model({"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 10240, "vocab_size": 51200, "num_key_value_heads": 32,
        "tie_word_embeddings": False}, 2_779_683_840, 327_680),
    "microsoft/Phi-3-mini-4k-instruct": Model({"model_type": "phi3", "hidden_size": 3072, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 8192, "vocab_size": 32064, "num_key_value_heads": 32,
        "sliding_window": 2047, "tie_word_embeddings": False}, 3_821_079_552, 393_216, {2047: 32}),
    "microsoft/phi-4": Model({"model_type": "phi3", "hidden_size": 5120, "num_hidden_layers": 40,
        "num_attention_heads": 40, "intermediate_size": 17920, "vocab_size": 100352, "num_key_value_heads": 10,
        "sliding_window": None, "tie_word_embeddings": False}, 14_659_507_200, 204_800),
    "microsoft/Phi-4-mini-instruct": Model({"model_type": "phi3", "hidden_size": 3072, "num_hidden_layers": 32,
        "num_attention_heads": 24, "intermediate_size": 8192, "vocab_size": 200064, "num_key_value_heads": 8,
        "sliding_window": 262144, "tie_word_embeddings": True}, 3_836_021_760, 131_072, {262144: 32}),
    "microsoft/Phi-3.5-MoE-instruct": Model({"model_type": "phimoe", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 6400, "vocab_size": 32064, "num_key_value_heads": 8,
        "num_local_experts": 16, "num_experts_per_tok": 2, "attention_bias": True, "lm_head_bias": True,
        "sliding_window": 131072, "tie_word_embeddings": False}, 41_873_153_344, 131_072, {131072: 32}),
    "deepseek-ai/deepseek-moe-16b-base": Model({"model_type": "deepseek", "hidden_size": 2048, "num_hidden_layers":
        28, "num_attention_heads": 16, "intermediate_size": 10944, "vocab_size": 102400, "num_key_value_heads": 16,
        "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408,
        "first_k_dense_replace": 1, "moe_layer_freq": 1, "tie_word_embeddings": False}, 16.4e9, 229_376),
    "deepseek-ai/DeepSeek-V2-Lite": Model({"model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers":
        27, "num_attention_heads": 16, "intermediate_size": 10944, "vocab_size": 102400, "num_key_value_heads": 16,
        "q_lora_rank": None, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408,
        "first_k_dense_replace": 1, "moe_layer_freq": 1, "tie_word_embeddings": False}, 15_706_484_224, 31_104),
    "deepseek-ai/DeepSeek-V2": Model({"model_type": "deepseek_v2", "hidden_size": 5120, "num_hidden_layers": 60,
        "num_attention_heads": 128, "intermediate_size": 12288, "vocab_size": 102400, "num_key_value_heads": 128,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "n_routed_experts": 160, "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1536,
        "first_k_dense_replace": 1, "moe_layer_freq": 1, "tie_word_embeddings": False}, 235_741_434_880, 69_120),
    "deepseek-ai/DeepSeek-V3": Model({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
        "num_attention_heads": 128, "intermediate_size": 18432, "vocab_size": 129280, "num_key_value_heads": 128,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
        "first_k_dense_replace": 3, "moe_layer_freq": 1, "tie_word_embeddings": False}, 671_026_404_352, 70_272),
    "deepseek-ai/DeepSeek-V3.2": Model({"model_type": "deepseek_v32", "hidden_size": 7168, "num_hidden_layers": 61,
        "num_attention_heads": 128, "intermediate_size": 18432, "vocab_size": 129280, "num_key_value_heads": 128,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
        "first_k_dense_replace": 3, "moe_layer_freq": 1, "tie_word_embeddings": False, "index_n_heads": 64,
        "index_head_dim": 128, "index_topk": 2048}, 671_877_929_216, 70_272),
    "moonshotai/Kimi-K2-Instruct": Model({"model_type": "kimi_k2", "hidden_size": 7168, "num_hidden_layers": 61,
        "num_attention_heads": 64, "intermediate_size": 18432, "vocab_size": 163840, "num_key_value_heads": 64,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "n_routed_experts": 384, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
        "first_k_dense_replace": 1, "moe_layer_freq": 1, "tie_word_embeddings": False}, 1_026_408_209_408, 70_272),
    "moonshotai/Kimi-Linear-48B-A3B-Instruct": Model({"model_type": "kimi_linear", "hidden_size": 2304,
        "num_hidden_layers": 27, "num_attention_heads": 32, "intermediate_size": 9216, "vocab_size": 163840,
        "num_key_value_heads": 32, "head_dim": 72, "kv_lora_rank": 512, "q_lora_rank": None, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "num_experts": 256, "num_experts_per_token": 8, "num_shared_experts":
        1, "moe_intermediate_size": 1024, "first_k_dense_replace": 1, "moe_layer_freq": 1, "linear_attn_config":
        {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18,
        19, 21, 22, 23, 25, 26], "head_dim": 128, "num_heads": 32, "short_conv_kernel_size": 4}, "tie_word_embeddings":
        False}, 49_122_675_072, 8_064),
    "THUDM/glm-4-9b-hf": Model({"model_type": "glm", "hidden_size": 4096, "num_hidden_layers": 40,
        "num_attention_heads": 32, "intermediate_size": 13696, "vocab_size": 151552, "num_key_value_heads": 2,
        "head_dim": 128, "attention_bias": True, "tie_word_embeddings": False}, 9_399_951_360, 40_960),
    "zai-org/GLM-4-32B-0414": Model({"model_type": "glm4", "hidden_size": 6144, "num_hidden_layers": 61,
        "num_attention_heads": 48, "intermediate_size": 23040, "vocab_size": 151552, "num_key_value_heads": 2,
        "head_dim": 128, "attention_bias": False, "tie_word_embeddings": False}, 32_566_081_536, 62_464),
    "THUDM/glm-4-9b": Model({"model_type": "chatglm", "num_layers": 40, "hidden_size": 4096, "ffn_hidden_size":
        13696, "kv_channels": 128, "num_attention_heads": 32, "multi_query_attention": True, "multi_query_group_num": 2,
        "padded_vocab_size": 151552, "add_qkv_bias": True, "add_bias_linear": False, "tie_word_embeddings": False},
        9.4e9, 40_960),
    "zai-org/GLM-4.5": Model({"model_type": "glm4_moe", "hidden_size": 5120, "num_hidden_layers": 92,
        "num_attention_heads": 96, "intermediate_size": 12288, "vocab_size": 151552, "num_key_value_heads": 8,
        "head_dim": 128, "attention_bias": True, "use_qk_norm": True, "n_routed_experts": 160, "n_shared_experts": 1,
        "num_experts_per_tok": 8, "moe_intermediate_size": 1536, "first_k_dense_replace": 3, "tie_word_embeddings":
        False}, 352_797_814_784, 376_832),
    "zai-org/GLM-4.5-Air": Model({"model_type": "glm4_moe", "hidden_size": 4096, "num_hidden_layers": 46,
        "num_attention_heads": 96, "intermediate_size": 10944, "vocab_size": 151552, "num_key_value_heads": 8,
        "head_dim": 128, "attention_bias": True, "use_qk_norm": False, "n_routed_experts": 128, "n_shared_experts": 1,
        "num_experts_per_tok": 8, "moe_intermediate_size": 1408, "first_k_dense_replace": 1, "tie_word_embeddings":
        False}, 106_852_245_504, 188_416),
    "zai-org/GLM-4.7-Flash": Model({"model_type": "glm4_moe_lite", "hidden_size": 2048, "num_hidden_layers": 47,
        "num_attention_heads": 20, "intermediate_size": 10240, "vocab_size": 154880, "num_key_value_heads": 20,
        "q_lora_rank": 768, "kv_lora_rank": 512, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256,
        "n_routed_experts": 64, "n_shared_experts": 1, "num_experts_per_tok": 4, "moe_intermediate_size": 1536,
        "first_k_dense_replace": 1, "tie_word_embeddings": False}, 29_943_390_976, 54_144),
    "MiniMaxAI/MiniMax-Text-01-hf": Model({"model_type": "minimax", "hidden_size": 6144, "num_hidden_layers": 80,
        "num_attention_heads": 64, "intermediate_size": 9216, "vocab_size": 200064, "num_key_value_heads": 8,
        "head_dim": 128, "num_local_experts": 32, "num_experts_per_tok": 2, "sliding_window": None, "layer_types":
        ["linear_attention", "linear_attention", "linear_attention", "linear_attention", "linear_attention",
        "linear_attention", "linear_attention", "full_attention"] * 10, "tie_word_embeddings": False}, 456_089_655_296,
        40_960),
    "MiniMaxAI/MiniMax-M2": Model({"model_type": "minimax_m2", "hidden_size": 3072, "num_hidden_layers": 62,
        "num_attention_heads": 48, "intermediate_size": 1536, "vocab_size": 200064, "num_key_value_heads": 8,
        "head_dim": 128, "num_local_experts": 256, "num_experts_per_tok": 8, "use_qk_norm": True, "tie_word_embeddings":
        False}, 228_689_748_992, 253_952),
    "openai/gpt-oss-20b": Model({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24,
        "num_attention_heads": 64, "intermediate_size": 2880, "vocab_size": 201088, "num_key_value_heads": 8,
        "head_dim": 64, "num_local_experts": 32, "num_experts_per_tok": 4, "sliding_window": 128, "attention_bias":
        True, "layer_types": ["sliding_attention", "full_attention"] * 12, "tie_word_embeddings": False},
        20_914_757_184, 49_152, {128: 12}),
    "nvidia/Nemotron-4-340B-Base": Model({"model_type": "nemotron", "hidden_size": 18432, "num_hidden_layers": 96,
        "num_attention_heads": 96, "intermediate_size": 73728, "vocab_size": 256000, "num_key_value_heads": 8,
        "head_dim": 192, "tie_word_embeddings": False}, 341_029_195_776, 589_824),
    "nvidia/Minitron-4B-Base": Model({"model_type": "nemotron", "hidden_size": 3072, "num_hidden_layers": 32,
        "num_attention_heads": 24, "intermediate_size": 9216, "vocab_size": 256000, "num_key_value_heads": 8,
        "head_dim": 128, "tie_word_embeddings": False}, 4_190_509_056, 131_072),
    "nvidia/Nemotron-H-8B-Base-8K": Model({"model_type": "nemotron_h", "hidden_size": 4096, "num_hidden_layers": 52,
        "num_attention_heads": 32, "intermediate_size": 21504, "vocab_size": 131072, "num_key_value_heads": 8,
        "attention_head_dim": 128, "mamba_num_heads": 128, "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8,
        "conv_kernel": 4, "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-",
        "tie_word_embeddings": False}, 8_100_852_736, 16_384),
    "tiiuae/falcon-7b": Model({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
        "num_attention_heads": 71, "vocab_size": 65024, "alibi": False, "bias": False, "multi_query": True,
        "new_decoder_architecture": False, "parallel_attn": True}, 6_921_720_704, 8_192),
    "tiiuae/falcon-40b": Model({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60,
        "num_attention_heads": 128, "vocab_size": 65024, "num_kv_heads": 8, "alibi": False, "bias": False,
        "multi_query": True, "new_decoder_architecture": True, "parallel_attn": True}, 41_303_293_952, 122_880),
    "tiiuae/falcon-180B": Model({"model_type": "falcon", "hidden_size": 14848, "num_hidden_layers": 80,
        "num_attention_heads": 232, "vocab_size": 65024, "num_kv_heads": 8, "alibi": False, "bias": False,
        "multi_query": True, "new_decoder_architecture": True, "parallel_attn": True}, 178_557_088_768, 163_840),
    "tiiuae/falcon-11B": Model({"model_type": "falcon", "hidden_size": 4096, "num_hidden_layers": 60,
        "num_attention_heads": 32, "intermediate_size": 16384, "vocab_size": 65024, "num_kv_heads": 8,
        "num_ln_in_parallel_attn": 1, "ffn_hidden_size": 16384, "alibi": False, "bias": False, "multi_query": True,
        "new_decoder_architecture": True, "parallel_attn": True, "tie_word_embeddings": False}, 11_102_822_400,
        245_760),
    "tiiuae/Falcon-H1-34B-Base": Model({"model_type": "falcon_h1", "hidden_size": 5120, "num_hidden_layers": 72,
        "num_attention_heads": 20, "intermediate_size": 21504, "vocab_size": 261120, "num_key_value_heads": 4,
        "head_dim": 128, "mamba_d_ssm": 4096, "mamba_n_heads": 32, "mamba_d_head": 128, "mamba_n_groups": 2,
        "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_conv_bias": True, "mamba_proj_bias": False,
        "mamba_rms_norm": False, "tie_word_embeddings": False}, 33_642_221_312, 147_456),
    "tiiuae/falcon-mamba-7b": Model({"model_type": "falcon_mamba", "hidden_size": 4096, "num_hidden_layers": 64,
        "state_size": 16, "expand": 2, "conv_kernel": 4, "time_step_rank": 256, "use_bias": False, "use_conv_bias":
        True, "vocab_size": 65024, "tie_word_embeddings": False}, 7_272_665_088, 0),
    "facebook/opt-125m": Model({"model_type": "opt", "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "ffn_dim": 3072, "vocab_size": 50272, "max_position_embeddings": 2048,
        "word_embed_proj_dim": 768, "do_layer_norm_before": True}, 125_239_296, 36_864),
    "facebook/opt-350m": Model({"model_type": "opt", "hidden_size": 1024, "num_hidden_layers": 24,
        "num_attention_heads": 16, "ffn_dim": 4096, "vocab_size": 50272, "max_position_embeddings": 2048,
        "word_embed_proj_dim": 512, "do_layer_norm_before": False}, 331_196_416, 98_304),
    "facebook/opt-6.7b": Model({"model_type": "opt", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "ffn_dim": 16384, "vocab_size": 50272, "max_position_embeddings": 2048,
        "word_embed_proj_dim": 4096, "do_layer_norm_before": True}, 6_658_473_984, 524_288),
    "facebook/opt-66b": Model({"model_type": "opt", "hidden_size": 9216, "num_hidden_layers": 64,
        "num_attention_heads": 72, "ffn_dim": 36864, "vocab_size": 50272, "max_position_embeddings": 2048,
        "word_embed_proj_dim": 9216, "do_layer_norm_before": True}, 65_719_701_504, 2_359_296),
    "openai-community/gpt2": Model({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions":
        1024, "n_ctx": 1024, "vocab_size": 50257}, 124_439_808, 36_864),
    "openai-community/gpt2-xl": Model({"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25,
        "n_positions": 1024, "n_ctx": 1024, "vocab_size": 50257}, 1_557_611_200, 307_200),
    "EleutherAI/gpt-neo-2.7B": Model({"model_type": "gpt_neo", "hidden_size": 2560, "num_layers": 32, "num_heads":
        20, "attention_types": [[["global", "local"], 16]], "window_size": 256, "max_position_embeddings": 2048,
        "vocab_size": 50257, "intermediate_size": None}, 2_651_307_520, 327_680, {256: 16}),
    "EleutherAI/pythia-6.9b": Model({"model_type": "gpt_neox", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 16384, "vocab_size": 50432, "tie_word_embeddings": False},
        6_857_302_016, 524_288),
    "EleutherAI/gpt-j-6b": Model({"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_positions":
        2048, "rotary_dim": 64, "vocab_size": 50400, "n_inner": None, "tie_word_embeddings": False}, 6_050_882_784,
        458_752),
    "Salesforce/codegen-16B-mono": Model({"model_type": "codegen", "n_embd": 6144, "n_layer": 34, "n_head": 24,
        "n_positions": 2048, "rotary_dim": 64, "vocab_size": 51200, "n_inner": None, "tie_word_embeddings": False},
        16_032_155_648, 835_584),
    "bigscience/bloom": Model({"model_type": "bloom", "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112,
        "vocab_size": 250880}, 176_247_271_424, 4_014_080),
    "mosaicml/mpt-7b": Model({"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32,
        "expansion_ratio": 4, "max_seq_len": 2048, "vocab_size": 50432, "no_bias": True, "attn_config": {"alibi": True,
        "attn_type": "multihead_attention"}}, 6_649_286_656, 524_288),
    "bigcode/starcoder": Model({"model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48, "n_inner":
        24576, "n_positions": 8192, "multi_query": True, "vocab_size": 49152}, 15_517_456_384, 20_480),
    "bigcode/starcoder2-15b": Model({"model_type": "starcoder2", "hidden_size": 6144, "num_hidden_layers": 40,
        "num_attention_heads": 48, "intermediate_size": 24576, "vocab_size": 49152, "num_key_value_heads": 4,
        "use_bias": True, "sliding_window": 4096, "tie_word_embeddings": False}, 15_957_889_024, 81_920, {4096: 40}),
    "bigcode/starcoder2-3b": Model({"model_type": "starcoder2", "hidden_size": 3072, "num_hidden_layers": 30,
        "num_attention_heads": 24, "intermediate_size": 12288, "vocab_size": 49152, "num_key_value_heads": 2,
        "use_bias": True, "sliding_window": 4096}, 3_030_371_328, 30_720, {4096: 30}),
    "stabilityai/stablelm-2-12b": Model({"model_type": "stablelm", "hidden_size": 5120, "num_hidden_layers": 40,
        "num_attention_heads": 32, "intermediate_size": 13824, "vocab_size": 100352, "num_key_value_heads": 8,
        "qk_layernorm": True, "use_parallel_residual": True, "use_qkv_bias": False, "tie_word_embeddings": False},
        12_143_185_920, 204_800),
    "stabilityai/stablelm-3b-4e1t": Model({"model_type": "stablelm", "hidden_size": 2560, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 6912, "vocab_size": 50304, "num_key_value_heads": 32,
        "tie_word_embeddings": False}, 2_795_443_200, 327_680),
    "allenai/OLMo-7B-hf": Model({"model_type": "olmo", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 50304, "num_key_value_heads": 32,
        "tie_word_embeddings": False}, 6_888_095_744, 524_288),
    "allenai/OLMo-2-0325-32B": Model({"model_type": "olmo2", "hidden_size": 5120, "num_hidden_layers": 64,
        "num_attention_heads": 40, "intermediate_size": 27648, "vocab_size": 100352, "num_key_value_heads": 8,
        "tie_word_embeddings": False}, 32_234_279_936, 262_144),
    "allenai/Olmo-3-1125-32B": Model({"model_type": "olmo3", "hidden_size": 5120, "num_hidden_layers": 64,
        "num_attention_heads": 40, "intermediate_size": 27648, "vocab_size": 100278, "num_key_value_heads": 8,
        "sliding_window": 4096, "tie_word_embeddings": False}, 32_233_522_176, 262_144, {4096: 48}),
    "allenai/OLMoE-1B-7B-0924": Model({"model_type": "olmoe", "hidden_size": 2048, "num_hidden_layers": 16,
        "num_attention_heads": 16, "intermediate_size": 1024, "vocab_size": 50304, "num_key_value_heads": 16,
        "num_experts": 64, "num_experts_per_tok": 8, "tie_word_embeddings": False}, 6_919_161_856, 131_072),
    "ibm-granite/granite-3.3-8b-base": Model({"model_type": "granite", "hidden_size": 4096, "num_hidden_layers": 40,
        "num_attention_heads": 32, "intermediate_size": 12800, "vocab_size": 49152, "num_key_value_heads": 8,
        "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": True}, 8_170_835_968, 163_840),
    "ibm-granite/granite-3.1-3b-a800m-base": Model({"model_type": "granitemoe", "hidden_size": 1536,
        "num_hidden_layers": 32, "num_attention_heads": 24, "intermediate_size": 512, "vocab_size": 49152,
        "num_key_value_heads": 8, "num_local_experts": 40, "num_experts_per_tok": 8, "tie_word_embeddings": True},
        3_298_788_864, 65_536),
    "ibm-granite/granite-4.0-h-small": Model({"model_type": "granitemoehybrid", "hidden_size": 4096,
        "num_hidden_layers": 40, "num_attention_heads": 32, "intermediate_size": 768, "vocab_size": 100352,
        "num_key_value_heads": 8, "shared_intermediate_size": 1536, "num_local_experts": 72, "num_experts_per_tok": 10,
        "mamba_n_heads": 128, "mamba_d_head": 64, "mamba_n_groups": 1, "mamba_d_state": 128, "mamba_d_conv": 4,
        "mamba_expand": 2, "mamba_conv_bias": True, "mamba_proj_bias": False, "layer_types": ["attention" if i in (5,
        15, 25, 35) else "mamba" for i in range(40)], "tie_word_embeddings": True}, 32_207_337_984, 16_384),
    "CohereForAI/c4ai-command-r-v01": Model({"model_type": "cohere", "hidden_size": 8192, "num_hidden_layers": 40,
        "num_attention_heads": 64, "intermediate_size": 22528, "vocab_size": 256000, "num_key_value_heads": 64},
        34_980_831_232, 1_310_720),
    "CohereForAI/c4ai-command-r-plus": Model({"model_type": "cohere", "hidden_size": 12288, "num_hidden_layers": 64,
        "num_attention_heads": 96, "intermediate_size": 33792, "vocab_size": 256000, "num_key_value_heads": 8,
        "use_qk_norm": True}, 103_810_674_688, 262_144),
    "CohereForAI/c4ai-command-r7b-12-2024": Model({"model_type": "cohere2", "hidden_size": 4096,
        "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 256000,
        "num_key_value_heads": 8, "head_dim": 128, "sliding_window": 4096, "sliding_window_pattern": 4}, 8_028_033_024,
        131_072, {4096: 24}),
    "CohereForAI/c4ai-command-a-03-2025": Model({"model_type": "cohere2", "hidden_size": 12288, "num_hidden_layers":
        64, "num_attention_heads": 96, "intermediate_size": 36864, "vocab_size": 256000, "num_key_value_heads": 8,
        "head_dim": 128, "sliding_window": 4096, "sliding_window_pattern": 4}, 111_057_580_032, 262_144, {4096: 48}),
    "ai21labs/Jamba-v0.1": Model({"model_type": "jamba", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 65536, "num_key_value_heads": 8,
        "num_experts": 16, "num_experts_per_tok": 2, "attn_layer_period": 8, "attn_layer_offset": 4,
        "expert_layer_period": 2, "expert_layer_offset": 1, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2,
        "mamba_dt_rank": 256, "mamba_conv_bias": True, "mamba_proj_bias": False, "tie_word_embeddings": False},
        51_570_323_328, 16_384),
    "ibm-ai-platform/Bamba-9B-v1": Model({"model_type": "bamba", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 128256, "num_key_value_heads": 8,
        "attn_layer_indices": [9, 18, 27], "mamba_n_heads": 128, "mamba_d_head": 64, "mamba_n_groups": 1,
        "mamba_d_state": 128, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_conv_bias": True, "mamba_proj_bias": False,
        "tie_word_embeddings": False}, 9_780_235_392, 12_288),
    "state-spaces/mamba-2.8b-hf": Model({"model_type": "mamba", "hidden_size": 2560, "num_hidden_layers": 64,
        "state_size": 16, "expand": 2, "conv_kernel": 4, "time_step_rank": 160, "use_bias": False, "use_conv_bias":
        True, "vocab_size": 50280}, 2_768_345_600, 0),
    "mistralai/Mamba-Codestral-7B-v0.1": Model({"model_type": "mamba2", "hidden_size": 4096, "num_hidden_layers":
        64, "num_heads": 128, "head_dim": 64, "state_size": 128, "n_groups": 8, "expand": 2, "conv_kernel": 4,
        "use_bias": False, "use_conv_bias": True, "vocab_size": 32768, "tie_word_embeddings": False}, 7_285_403_648, 0),
    "google/recurrentgemma-9b": Model({"model_type": "recurrent_gemma", "hidden_size": 4096, "num_hidden_layers":
        38, "num_attention_heads": 16, "num_key_value_heads": 1, "intermediate_size": 24576, "lru_width": 4096,
        "attention_window_size": 2048, "conv1d_width": 4, "block_types": ["recurrent", "recurrent", "attention"],
        "vocab_size": 256000}, 8_579_977_216, 12_288, {2048: 12}),
    "LiquidAI/LFM2-1.2B": Model({"model_type": "lfm2", "hidden_size": 2048, "num_hidden_layers": 16,
        "num_attention_heads": 32, "num_key_value_heads": 8, "block_ff_dim": 12288, "block_auto_adjust_ff_dim": True,
        "block_ffn_dim_multiplier": 1.0, "block_multiple_of": 256, "conv_L_cache": 3, "conv_bias": False,
        "full_attn_idxs": [2, 5, 8, 10, 12, 14], "vocab_size": 65536}, 1_170_340_608, 12_288),
    "LiquidAI/LFM2-8B-A1B": Model({"model_type": "lfm2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
        "num_attention_heads": 32, "intermediate_size": 7168, "vocab_size": 65536, "num_key_value_heads": 8,
        "moe_intermediate_size": 1792, "num_experts": 32, "num_experts_per_tok": 4, "num_dense_layers": 2,
        "conv_L_cache": 3, "conv_bias": False, "layer_types": ["full_attention" if i in (2, 6, 10, 14, 18, 21) else
        "conv" for i in range(24)]}, 8_339_929_856, 12_288),
    "tencent/Hunyuan-7B-Instruct": Model({"model_type": "hunyuan_v1_dense", "hidden_size": 4096,
        "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 128167,
        "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": True}, 7_504_568_320, 131_072),
    "tencent/Hunyuan-A13B-Instruct": Model({"model_type": "hunyuan_v1_moe", "hidden_size": 4096,
        "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 3072, "vocab_size": 128167,
        "num_key_value_heads": 8, "head_dim": 128, "num_experts": 64, "moe_topk": [8] * 32, "num_shared_expert": [1] *
        32, "moe_intermediate_size": [3072] * 32, "use_qk_norm": True, "tie_word_embeddings": True}, 80_393_183_232,
        131_072),
    "baidu/ERNIE-4.5-300B-A47B-PT": Model({"model_type": "ernie4_5_moe", "hidden_size": 8192, "num_hidden_layers":
        54, "num_attention_heads": 64, "intermediate_size": 28672, "vocab_size": 103424, "num_key_value_heads": 8,
        "moe_num_experts": 64, "moe_k": 8, "moe_intermediate_size": 3584, "moe_num_shared_experts": 0,
        "moe_layer_start_index": 3, "moe_layer_end_index": 53, "moe_layer_interval": 1, "use_bias": False,
        "tie_word_embeddings": False}, 299_484_163_264, 221_184),
    "baidu/ERNIE-4.5-21B-A3B-PT": Model({"model_type": "ernie4_5_moe", "hidden_size": 2560, "num_hidden_layers": 28,
        "num_attention_heads": 20, "intermediate_size": 12288, "vocab_size": 103424, "num_key_value_heads": 4,
        "moe_num_experts": 64, "moe_k": 6, "moe_intermediate_size": 1536, "moe_num_shared_experts": 2,
        "moe_layer_start_index": 1, "moe_layer_end_index": 27, "moe_layer_interval": 1, "use_bias": False,
        "tie_word_embeddings": True}, 21_825_437_888, 57_344),
    "ByteDance-Seed/Seed-OSS-36B-Base": Model({"model_type": "seed_oss", "hidden_size": 5120, "num_hidden_layers":
        64, "num_attention_heads": 80, "intermediate_size": 27648, "vocab_size": 155136, "num_key_value_heads": 8,
        "head_dim": 128, "attention_bias": True, "attention_out_bias": False, "mlp_bias": False, "tie_word_embeddings":
        False}, 36_151_104_512, 262_144),
    "HuggingFaceTB/SmolLM3-3B": Model({"model_type": "smollm3", "hidden_size": 2048, "num_hidden_layers": 36,
        "num_attention_heads": 16, "intermediate_size": 11008, "vocab_size": 128256, "num_key_value_heads": 4,
        "use_sliding_window": False, "sliding_window": None}, 3_075_098_624, 73_728),
    "LGAI-EXAONE/EXAONE-4.0-32B": Model({"model_type": "exaone4", "hidden_size": 5120, "num_hidden_layers": 64,
        "num_attention_heads": 40, "intermediate_size": 27392, "vocab_size": 102400, "num_key_value_heads": 8,
        "head_dim": 128, "sliding_window": 4096, "sliding_window_pattern": "LLLG", "layer_types": ["sliding_attention",
        "sliding_attention", "sliding_attention", "full_attention"] * 16, "tie_word_embeddings": False}, 32_003_216_384,
        262_144, {4096: 48}),
    "LGAI-EXAONE/K-EXAONE-236B-A23B": Model({"model_type": "exaone_moe", "hidden_size": 6144, "num_hidden_layers":
        48, "num_attention_heads": 64, "intermediate_size": 18432, "vocab_size": 153600, "num_key_value_heads": 8,
        "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8, "num_shared_experts": 1, "moe_intermediate_size":
        2048, "first_k_dense_replace": 1, "sliding_window": 128, "layer_types": ["sliding_attention",
        "sliding_attention", "sliding_attention", "full_attention"] * 12, "tie_word_embeddings": False},
        236_571_150_336, 196_608, {128: 36}),
    "internlm/internlm2_5-20b": Model({"model_type": "internlm2", "hidden_size": 6144, "num_hidden_layers": 48,
        "num_attention_heads": 48, "intermediate_size": 16384, "vocab_size": 92544, "num_key_value_heads": 8, "bias":
        False, "tie_word_embeddings": False}, 19.86e9, 196_608),
    "internlm/internlm3-8b-instruct": Model({"model_type": "internlm3", "hidden_size": 4096, "num_hidden_layers":
        48, "num_attention_heads": 32, "intermediate_size": 10240, "vocab_size": 128512, "num_key_value_heads": 2,
        "head_dim": 128, "bias": False, "qkv_bias": False, "tie_word_embeddings": False}, 8_804_241_408, 49_152),
    "meta-llama/Llama-4-Maverick-17B-128E": Model({"model_type": "llama4", "text_config": {"model_type":
        "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "intermediate_size":
        8192, "vocab_size": 202048, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size_mlp": 16384,
        "num_local_experts": 128, "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "attention_chunk_size":
        8192, "no_rope_layers": [], "tie_word_embeddings": False}}, 400_711_848_960, 196_608, {8192: 36}),
    "databricks/dbrx-base": Model({"model_type": "dbrx", "d_model": 6144, "n_layers": 40, "n_heads": 48,
        "vocab_size": 100352, "attn_config": {"kv_n_heads": 8, "clip_qkv": 8, "rope_theta": 500000}, "ffn_config":
        {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}, "tie_word_embeddings": False},
        131_596_523_520, 163_840),
    "Snowflake/snowflake-arctic-base": Model({"model_type": "arctic", "hidden_size": 7168, "num_hidden_layers": 35,
        "num_attention_heads": 56, "intermediate_size": 4864, "vocab_size": 32000, "num_key_value_heads": 8,
        "num_local_experts": 128, "num_experts_per_tok": 2, "moe_layer_frequency": 1, "parallel_attn_mlp_res": True,
        "tie_word_embeddings": False}, 480e9, 143_360),
    "rednote-hilab/dots.llm1.base": Model({"model_type": "dots1", "hidden_size": 4096, "num_hidden_layers": 62,
        "num_attention_heads": 32, "intermediate_size": 10944, "vocab_size": 152064, "num_key_value_heads": 32,
        "head_dim": 128, "n_routed_experts": 128, "n_shared_experts": 2, "num_experts_per_tok": 6,
        "moe_intermediate_size": 1408, "first_k_dense_replace": 1, "sliding_window": None, "tie_word_embeddings":
        False}, 142_774_373_888, 1_015_808),
    "meituan-longcat/LongCat-Flash-Chat": Model({"model_type": "longcat_flash", "hidden_size": 6144, "num_layers":
        28, "num_attention_heads": 64, "ffn_hidden_size": 12288, "expert_ffn_hidden_size": 2048, "vocab_size": 131072,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "moe_topk": 12, "n_routed_experts": 512, "zero_expert_num": 256, "zero_expert_type": "identity",
        "tie_word_embeddings": False}, 560e9, 64_512),
    "stepfun-ai/Step-3.5-Flash": Model({"model_type": "step3p5", "hidden_size": 4096, "intermediate_size": 11264,
        "num_hidden_layers": 45, "num_attention_heads": 64, "num_attention_groups": 8, "head_dim": 128, "vocab_size":
        128896, "moe_num_experts": 288, "moe_top_k": 8, "moe_intermediate_size": 1280, "share_expert_dim": 1280,
        "moe_layers_enum": ",".join(map(str, range(3, 45))), "sliding_window": 512, "layer_types": ["full_attention",
        "sliding_attention", "sliding_attention", "sliding_attention"] * 12, "attention_other_setting":
        {"attention_type": "sliding_attention", "num_attention_heads": 96, "num_attention_groups": 8, "head_dim": 128},
        "tie_word_embeddings": False}, 196_956_118_272, 184_320, {512: 33}),
    "upstage/Solar-Open-100B": Model({"model_type": "solar_open", "hidden_size": 4096, "num_hidden_layers": 48,
        "num_attention_heads": 64, "intermediate_size": 10240, "vocab_size": 196608, "num_key_value_heads": 8,
        "head_dim": 128, "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8,
        "moe_intermediate_size": 1280, "tie_word_embeddings": False}, 102_651_793_408, 196_608),
    "arcee-ai/Trinity-Mini": Model({"model_type": "afmoe", "hidden_size": 2048, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 6144, "vocab_size": 200192, "num_key_value_heads": 4,
        "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8, "num_shared_experts": 1, "moe_intermediate_size":
        1024, "num_dense_layers": 2, "global_attn_every_n_layers": 4, "sliding_window": 2048, "tie_word_embeddings":
        False}, 26_123_974_400, 65_536, {2048: 24}),
    "inclusionAI/Ling-lite": Model({"model_type": "bailing_moe", "hidden_size": 2048, "num_hidden_layers": 28,
        "num_attention_heads": 16, "intermediate_size": 5632, "vocab_size": 126464, "num_key_value_heads": 4,
        "num_experts": 64, "num_experts_per_tok": 6, "num_shared_experts": 2, "moe_intermediate_size": 1408,
        "first_k_dense_replace": 0, "use_bias": False, "use_qkv_bias": False, "tie_word_embeddings": False}, 16.8e9,
        57_344),
    "inclusionAI/Ling-mini-2.0": Model({"model_type": "bailing_moe", "hidden_size": 2048, "num_hidden_layers": 20,
        "num_attention_heads": 16, "intermediate_size": 5120, "vocab_size": 157184, "num_key_value_heads": 4,
        "head_dim": 128, "num_experts": 256, "num_experts_per_tok": 8, "num_shared_experts": 1, "moe_intermediate_size":
        512, "first_k_dense_replace": 1, "use_bias": False, "use_qkv_bias": False, "use_qk_norm": True,
        "tie_word_embeddings": False}, 16.26e9, 40_960),
    "openbmb/MiniCPM-2B-sft-bf16": Model({"model_type": "minicpm", "hidden_size": 2304, "num_hidden_layers": 40,
        "num_attention_heads": 36, "intermediate_size": 5760, "vocab_size": 122753, "num_key_value_heads": 36}, 2.72e9,
        368_640),
    "openbmb/MiniCPM3-4B": Model({"model_type": "minicpm3", "hidden_size": 2560, "num_hidden_layers": 62,
        "num_attention_heads": 40, "intermediate_size": 6400, "vocab_size": 73448, "num_key_value_heads": 40,
        "q_lora_rank": 768, "kv_lora_rank": 256, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32, "v_head_dim": 64},
        4_073_875_968, 35_712),
    "swiss-ai/Apertus-70B-2509": Model({"model_type": "apertus", "hidden_size": 8192, "num_hidden_layers": 80,
        "num_attention_heads": 64, "intermediate_size": 43008, "vocab_size": 131072, "num_key_value_heads": 8,
        "tie_word_embeddings": False}, 70_599_864_480, 327_680),
    "arcee-ai/AFM-4.5B": Model({"model_type": "arcee", "hidden_size": 2560, "num_hidden_layers": 36,
        "num_attention_heads": 20, "intermediate_size": 18432, "vocab_size": 128004, "num_key_value_heads": 4,
        "tie_word_embeddings": False}, 4_619_184_640, 73_728),
    "kyutai/helium-1-2b": Model({"model_type": "helium", "hidden_size": 2048, "num_hidden_layers": 28,
        "num_attention_heads": 16, "intermediate_size": 8192, "vocab_size": 64000, "num_key_value_heads": 8, "head_dim":
        128, "tie_word_embeddings": True}, 1_892_796_416, 114_688),
    "microsoft/bitnet-b1.58-2B-4T": Model({"model_type": "bitnet", "hidden_size": 2560, "num_hidden_layers": 30,
        "num_attention_heads": 20, "intermediate_size": 6912, "vocab_size": 128256, "num_key_value_heads": 5,
        "tie_word_embeddings": True}, 2_412_820_480, 76_800),
    "adept/persimmon-8b-base": Model({"model_type": "persimmon", "hidden_size": 4096, "num_hidden_layers": 36,
        "num_attention_heads": 64, "intermediate_size": 16384, "vocab_size": 262144, "tie_word_embeddings": False},
        9_397_175_296, 589_824),
    "baichuan-inc/Baichuan2-13B-Base": Model({"model_type": "baichuan", "hidden_size": 5120, "num_hidden_layers":
        40, "num_attention_heads": 40, "intermediate_size": 13696, "vocab_size": 125696, "tie_word_embeddings": False},
        13.9e9, 819_200),
    "hpcai-tech/grok-1": Model({"model_type": "grok-1", "hidden_size": 6144, "num_hidden_layers": 64,
        "num_attention_heads": 48, "intermediate_size": 32768, "vocab_size": 131072, "num_key_value_heads": 8,
        "num_experts": 8, "num_experts_per_tok": 2}, 314e9, 262_144),
    "tencent/Tencent-Hunyuan-Large": Model({"model_type": "hunyuan", "hidden_size": 6400, "num_hidden_layers": 64,
        "num_attention_heads": 80, "intermediate_size": 18304, "vocab_size": 128512, "num_key_value_heads": 8,
        "num_experts": 16, "moe_topk": 1, "num_shared_expert": 1, "use_cla": True, "cla_share_factor": 2, "use_qk_norm":
        True, "tie_word_embeddings": True}, 389e9, 81_920),
    "Qwen/Qwen2.5-VL-7B-Instruct": Model({"model_type": "qwen2_5_vl", "hidden_size": 3584, "num_hidden_layers": 28,
        "num_attention_heads": 28, "intermediate_size": 18944, "vocab_size": 152064, "num_key_value_heads": 4,
        "sliding_window": 32768, "max_window_layers": 28, "use_sliding_window": False, "tie_word_embeddings": False,
        "vision_config": {"hidden_size": 1280}}, 7_615_616_512, 57_344),
    "Qwen/Qwen3-Omni-30B-A3B-Instruct": Model({"model_type": "qwen3_omni_moe", "thinker_config": {"model_type":
        "qwen3_omni_moe_thinker", "text_config": {"model_type": "qwen3_omni_moe_text", "hidden_size": 2048,
        "num_hidden_layers": 48, "num_attention_heads": 32, "intermediate_size": 768, "vocab_size": 152064,
        "num_key_value_heads": 4, "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8,
        "moe_intermediate_size": 768, "decoder_sparse_step": 1, "mlp_only_layers": [], "tie_word_embeddings": False}}},
        30_532_646_912, 98_304),
    "OpenGVLab/InternVL3-8B": Model({"model_type": "internvl_chat", "llm_config": {"model_type": "qwen2",
        "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "intermediate_size": 18944,
        "vocab_size": 151674, "num_key_value_heads": 4, "max_window_layers": 70, "sliding_window": None,
        "use_sliding_window": False, "tie_word_embeddings": False}}, 7_612_820_992, 57_344),
    "llava-hf/llava-1.5-7b-hf": Model({"model_type": "llava", "text_config": {"_name_or_path":
        "lmsys/vicuna-7b-v1.5", "model_type": "llama", "vocab_size": 32064}}, 6_738_939_904, 524_288),
    "baidu/ERNIE-4.5-VL-28B-A3B-PT": Model({"model_type": "ernie4_5_moe_vl", "hidden_size": 2560,
        "num_hidden_layers": 28, "num_attention_heads": 20, "intermediate_size": 12288, "vocab_size": 103424,
        "num_key_value_heads": 4, "moe_num_experts": [64, 64], "moe_k": 6, "moe_intermediate_size": [1536, 512],
        "moe_num_shared_experts": 2, "moe_layer_start_index": [1, 1], "moe_layer_end_index": [29, 28],
        "moe_layer_interval": 1, "use_bias": False, "tie_word_embeddings": True}, 28_624_635_776, 57_344),
}
# fmt: on


def told(config):
    return Transformer.from_hf_config(config)


@pytest.mark.parametrize("name", MODELS)
class TestPublished:
    def test_params(self, name):
        config, params, *_ = MODELS[name]
        rounded = params % 1e7 == 0
        assert told(config).params == pytest.approx(params, rel=1e-2 if rounded else 1e-5)

    def test_kv_bytes(self, name):
        assert told(MODELS[name].config).kv_bytes_per_token() == MODELS[name].kv_bytes

    def test_windows(self, name):
        found = {}
        for block in told(MODELS[name].config).blocks:
            window = getattr(block.mixer, "window", math.inf)
            if math.isfinite(window):
                found[window] = found.get(window, 0) + block.layers
        assert found == (MODELS[name].windows or {})

    def test_it_can_be_served(self, name):
        assert 0 < evaluate(Scenario("H100 SXM", told(MODELS[name].config))).tpot < 10


def test_families_are_many():
    assert len(families()) > 100
    assert len({model.config["model_type"] for model in MODELS.values()}) > 70


class TestActive:
    """Billions of parameters that a token uses, as publishers print them."""

    @pytest.mark.parametrize(
        ("name", "billions"),
        [
            ("Qwen/Qwen3-235B-A22B", 22),  # its name
            ("Qwen/Qwen2-57B-A14B", 14),
            ("deepseek-ai/DeepSeek-V2", 21),  # DeepSeek-V2 (2024), abstract
            ("deepseek-ai/DeepSeek-V2-Lite", 2.4),  # appendix B; the embedding apart
            ("moonshotai/Kimi-K2-Instruct", 32),  # Kimi K2 (2025), abstract
            ("zai-org/GLM-4.5", 32),  # GLM-4.5 (2025), abstract
            ("databricks/dbrx-base", 36),  # model card
            ("Snowflake/snowflake-arctic-base", 17),  # model card
            ("meituan-longcat/LongCat-Flash-Chat", 27),  # on average; LongCat-Flash (2025), abstract
            ("ai21labs/Jamba-v0.1", 12),  # Jamba (2024), abstract
            ("MiniMaxAI/MiniMax-Text-01-hf", 45.9),  # MiniMax-01 (2025), abstract
            ("stepfun-ai/Step-3.5-Flash", 11),  # model card; the embedding apart
            ("tencent/Tencent-Hunyuan-Large", 52),  # Hunyuan-Large (2024), abstract
            ("microsoft/Phi-3.5-MoE-instruct", 6.6),  # model card
            ("allenai/OLMoE-1B-7B-0924", 1.3),  # OLMoE (2024), table 1
        ],
    )
    def test_active(self, name, billions):
        model = told(MODELS[name].config)
        embedding = model.vocab_size * model.hidden_dim
        counted = (model.active_params / 1e9, (model.active_params - embedding) / 1e9)
        assert min(abs(count - billions) for count in counted) < 0.06 * billions


class TestDefinitions:
    """What follows from fields, worked out by hand."""

    def test_recurrent_state(self):
        mamba = told(MODELS["mistralai/Mamba-Codestral-7B-v0.1"].config).mixer
        assert mamba.kept_bytes(1000.0, 1) == 128 * 64 * 128 * 4 + (8192 + 2 * 8 * 128) * 3 * 2
        falcon = told(MODELS["tiiuae/falcon-mamba-7b"].config).mixer
        assert falcon.kept_bytes(1000.0, 1) == 8192 * 16 * 4 + 8192 * 3 * 2
        both = told(MODELS["tiiuae/Falcon-H1-34B-Base"].config).mixer
        assert both.kept_bytes(1000.0, 1) == 32 * 128 * 256 * 4 + (4096 + 2 * 2 * 256) * 3 * 2
        assert both.kept(1000.0, 1) == 1000 * 2 * 4 * 128

    def test_both_halves_of_a_parallel_layer_ask_for_their_heads(self):
        both = Parallel(Attention(6, 6, 16), Recurrence(8, 16, 4, input_width=128))
        assert both.shardable(2)
        assert both.fault(2) is None
        assert not both.shardable(3)
        assert "must divide the 8 heads of recurrent layers" in both.fault(3)
        assert not both.shardable(4)
        assert "must divide n_heads=6" in both.fault(4)

    def test_layers_of_attention_and_recurrence(self):
        blocks = told(MODELS["MiniMaxAI/MiniMax-Text-01-hf"].config).blocks
        assert [(block.layers, type(block.mixer).__name__) for block in blocks] == [
            (70, "Recurrence"),
            (10, "Attention"),
        ]

    def test_layers_that_use_the_keys_of_another(self):
        blocks = told(MODELS["tencent/Tencent-Hunyuan-Large"].config).blocks
        assert [(block.layers, block.mixer.keeps) for block in blocks] == [(32, True), (32, False)]

    def test_layers_that_use_the_picks_of_another(self):
        config = {**MODELS["deepseek-ai/DeepSeek-V3.2"].config, "model_type": "glm_moe_dsa", "index_topk_freq": 4}
        picks = [(block.layers, block.mixer.indexer) for block in told(config).blocks]
        assert {pick.top for _, pick in picks} == {2048}
        assert sum(layers for layers, pick in picks if pick.heads) == 2 + 14  # 0, 1, and every fourth from 5 on

    def test_a_wrapper_leaves_sizes_out_that_are_the_class_defaults(self):
        model = told({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064}})
        assert (model.hidden_dim, model.layers, model.vocab_size) == (4096, 32, 32064)

    def test_null_is_not_absent(self):
        config = {**MODELS["mistralai/Mistral-7B-v0.1"].config}
        del config["sliding_window"]
        assert math.isfinite(told(config).mixer.window)  # the class has 4096
        assert math.isinf(told({**config, "sliding_window": None}).mixer.window)

    def test_saved_by_a_new_library(self):
        config = {**MODELS["google/gemma-4-31B"].config}
        full = {f"{i:02}": {"head_dim": 512, "num_key_value_heads": 4} for i in range(5, 60, 6)}
        del config["global_head_dim"], config["num_global_key_value_heads"]
        assert told({**config, "per_layer_config": full}) == told(MODELS["google/gemma-4-31B"].config)

    def test_attention_of_small_deepseek(self):
        model = told(
            {
                "model_type": "deepseek_vl_v2",
                "language_config": {
                    **MODELS["deepseek-ai/DeepSeek-V2-Lite"].config,
                    **{"use_mla": False, "kv_lora_rank": None, "v_head_dim": 0, "qk_nope_head_dim": 0},
                },
            }
        )
        assert model.kv_bytes_per_token() == 27 * 2 * 16 * 128 * 2


LLAMA = MODELS["meta-llama/Llama-3.1-405B"].config
MOE = MODELS["Qwen/Qwen3-235B-A22B"].config


class TestRefusals:
    @pytest.mark.parametrize(
        ("config", "sentence"),
        [
            ({}, "a configuration must have model_type"),
            ({"model_type": "nonesuch"}, "the family 'nonesuch' is not known here"),
            ({"model_type": ["llama"]}, "is not known here"),
            ({"model_type": "llamma"}, "near it are .*llama"),
            ({"model_type": "zamba2"}, "the family 'zamba2' has blocks of attention whose weights many layers share"),
            ({"model_type": "mllama", "text_config": {"model_type": "mllama_text_model"}}, "attend to an image"),
            ({"model_type": "llama"}, "a configuration of 'llama' must have"),
            ({**LLAMA, "hidden_size": None}, "must have hidden_size"),
            (
                {**LLAMA, "num_key_value_heads": 7},
                "num_key_value_heads .* must be a divisor of num_attention_heads=128",
            ),
            ({**LLAMA, "num_attention_heads": 100, "num_key_value_heads": 10}, "a multiple of num_attention_heads=100"),
            ({**LLAMA, "num_hidden_layers": -1}, "num_hidden_layers .* at least 1, not -1"),
            ({**LLAMA, "num_hidden_layers": 10**6}, "num_hidden_layers .* at most 10,000"),
            ({**LLAMA, "hidden_size": "4096"}, "hidden_size .* a whole number of at least 1, not '4096'"),
            ({**LLAMA, "hidden_size": True}, "hidden_size .* a whole number"),
            ({**LLAMA, "intermediate_size": math.nan}, "intermediate_size .* a whole number of at least 1, not nan"),
            ({**LLAMA, "vocab_size": 0.5}, "vocab_size .* a whole number"),
            ({**LLAMA, "tie_word_embeddings": "yes"}, "tie_word_embeddings .* true or false, not 'yes'"),
            ({**LLAMA, "layer_types": ["full_attention"] * 5}, "layer_types .* one entry for each of 126 layers"),
            ({**LLAMA, "layer_types": ["new_attention"] * 126}, "layer_types .* not 'new_attention'"),
            ({**LLAMA, "layer_types": ["sliding_attention"] * 126}, "with windowed layers must have sliding_window"),
            ({**LLAMA, "layer_types": "full_attention" * 126}, "layer_types .* one entry"),
            ({**MOE, "num_experts_per_tok": 129}, "num_experts_per_tok .* at most the 128 experts there are, not 129"),
            ({**MOE, "mlp_only_layers": "all"}, "mlp_only_layers .* a list of layers"),
            ({**MOE, "quantization_config": {"quant_method": "new"}}, "the method 'new', which is not known"),
            (
                {**MODELS["deepseek-ai/DeepSeek-V3"].config, "mlp_layer_types": ["odd"] * 61},
                "of dense, sparse, not 'odd'",
            ),
            ({**MODELS["nvidia/Nemotron-H-8B-Base-8K"].config, "num_hidden_layers": 51}, "52, as many as"),
            ({**MODELS["inclusionAI/Ling-lite"].config, "model_type": "bailing_hybrid"}, "other linear attention"),
            ({"model_type": "llava", "text_config": {"model_type": "nonesuch"}}, "'nonesuch' is not known"),
            ([], "a configuration must be a dict, a path, a JSON text or a repository id, not list"),
            (None, "not NoneType"),
        ],
    )
    def test_configurations(self, config, sentence):
        with pytest.raises(ConfigError, match=sentence):
            told(config)

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (b"{", r"config.json is no JSON \(line 1: "),
            (b"[1, 2]", "config.json must be a JSON object, not list"),
            (b"\x89PNG\xff\xfe\x00", "config.json is no text in UTF-8"),
            (b"", "config.json is no JSON"),
            (b"{}", "must have model_type"),
            (b"[" * 100_000, "config.json is no JSON"),
        ],
    )
    def test_files(self, tmp_path, content, sentence):
        path = tmp_path / "config.json"
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=sentence):
            told(path)

    def test_a_huge_file_is_not_read(self, tmp_path):
        path = tmp_path / "model.safetensors"
        with path.open("wb") as file:
            file.truncate(2 * 1024**3)
        with pytest.raises(ConfigError, match=r"model.safetensors has 2,147,483,648 bytes: a config.json has at most"):
            told(path)

    def test_a_directory(self, tmp_path):
        with pytest.raises(ConfigError, match=r"is a directory without a config\.json"):
            told(tmp_path)
        (tmp_path / "config.json").write_text('{"model_type": "nonesuch"}')
        with pytest.raises(ConfigError, match="nonesuch"):
            told(tmp_path)

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(ConfigError, match=r"there is no file .* and a repository id looks like"):
            told(tmp_path / "config.json")

    def test_a_text(self):
        assert (
            told('{"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257}').layers == 12
        )
        with pytest.raises(ConfigError, match="the configuration is no JSON"):
            told('{"model_type": ')

    def test_a_repository_without_huggingface_hub(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "huggingface_hub", None)
        with pytest.raises(ConfigError, match=r"to look up 'nobody/nothing' install huggingface_hub \(pip install"):
            told("nobody/nothing")

    def test_a_repository_offline(self, monkeypatch):
        def download(repo, name):
            raise ConnectionError(f"no route to {repo}")

        monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(hf_hub_download=download))
        with pytest.raises(ConfigError, match=r"'nobody/nothing' could not be had from the Hub \(ConnectionError\)"):
            told("nobody/nothing")

    def test_a_repository(self, monkeypatch, tmp_path):
        (tmp_path / "config.json").write_text('{"model_type": "nonesuch"}')
        found = SimpleNamespace(hf_hub_download=lambda repo, name: str(tmp_path / name))
        monkeypatch.setitem(sys.modules, "huggingface_hub", found)
        with pytest.raises(ConfigError, match="'nonesuch' is not known here"):
            told("nobody/nothing")


JUNK = [None, "x", -1, 0, 1.5, math.nan, math.inf, [], {}, True, 10**12, [1], [None] * 100, ["x"] * 200]


@pytest.mark.parametrize("name", MODELS)
def test_junk_in_a_field_is_refused_or_harmless(name):
    """Never an error of another kind, never a model of no or endless size."""
    for field in MODELS[name].config:
        for junk in JUNK:
            try:
                model = told({**MODELS[name].config, field: junk})
            except ConfigError:
                continue
            assert 0 < model.params < math.inf, (field, junk)


SMALL_GEMMA = {"model_type": "gemma4_text", "hidden_size": 256, "num_hidden_layers": 12, "num_attention_heads": 4,
         "num_key_value_heads": 2, "head_dim": 64, "intermediate_size": 512, "vocab_size": 1000,
         "sliding_window": 128}  # fmt: skip


class TestWhatABreakerFound:
    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"num_kv_shared_layers": 60}, "num_kv_shared_layers .* must be less than the 12 layers there are, not 60"),
            ({"per_layer_config": {"5": {"head_dim": [1]}}}, "per_layer_config"),
            ({"per_layer_config": {"9" * 5000: {"head_dim": 1}}}, "per_layer_config"),
        ],
    )
    def test_odd_fields_of_gemma(self, change, told):
        with pytest.raises(ConfigError, match=told):
            Transformer.from_hf_config({**SMALL_GEMMA, **change})

    def test_wrappers_in_wrappers(self):
        config = dict(SMALL_GEMMA)
        for _ in range(200):
            config = {"model_type": "gemma4", "text_config": config}
        with pytest.raises(ConfigError, match="wrapped in others at most 4 times"):
            Transformer.from_hf_config(config)

    def test_text_with_a_byte_order_mark(self):
        assert Transformer.from_hf_config("\ufeff" + json.dumps(SMALL_GEMMA)).layers == 12
