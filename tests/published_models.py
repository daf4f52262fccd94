"""What publishers say of their models, typed in apart from the catalog, to hold it against.

Typed by hand, from memory of the cards and papers named under `source` where no file was open. A total to the
last digit is that of the safetensors index; the transformers library (5.24) counts the same from the catalog's
fields. Where the index holds more than the text model (a vision tower, multi-token prediction) it is the
publisher's rounded figure, or that of the text model alone where they print it.

KV bytes are for bf16, multiplied out by hand: keys and values · layers · KV heads · width · 2 bytes. Layers with a
window count as long as a token is in it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """Figures of one model.

    Parameters
    ----------
    total
        All parameters.
    kv_bytes_per_token
        Bytes of KV cache of a token in bf16.
    source
        Who says so, and where.
    active
        Billions that a token uses, digit by digit as printed; None where all are, or nobody says.
    leaves_out
        Matrices of vocabulary by width that `active` leaves out: 0 none, 1 the embedding, 2 the LM head too.
        Where the publisher does not say, that with which the figure comes out.
    off
        Billions by which `active` is off where that is more than rounding.
    """

    total: float
    kv_bytes_per_token: int
    source: str
    active: str | None = None
    leaves_out: int = 0
    off: float = 0.0


LLAMA4 = "model card of Llama 4: 17B active, {}, with the vision tower of 0.9B"
GEMMA3 = "Gemma 3 technical report (2025), table 1: embedding and the rest, without the vision tower"
DEEPSEEK_V3 = "README_WEIGHTS.md of DeepSeek-V3: 36.7B active, LM head in, embedding out; multi-token prediction apart"

PUBLISHED = {
    # Meta
    "Llama 3.1 70B": Published(70_553_706_496, 2 * 80 * 8 * 128 * 2, "index of meta-llama/Llama-3.1-70B"),  # 327,680
    "Llama 3.1 8B": Published(8_030_261_248, 2 * 32 * 8 * 128 * 2, "index of meta-llama/Llama-3.1-8B"),  # 131,072
    "Llama 3.1 405B": Published(405_853_388_800, 2 * 126 * 8 * 128 * 2, "index of meta-llama/Llama-3.1-405B"),
    "Llama 3.2 1B": Published(
        1_235_814_400, 2 * 16 * 8 * 64 * 2, "index of meta-llama/Llama-3.2-1B; 1.23B on its card"
    ),
    "Llama 3.2 3B": Published(
        3_212_749_824, 2 * 28 * 8 * 128 * 2, "index of meta-llama/Llama-3.2-3B; 3.21B on its card"
    ),
    "Llama 4 Scout": Published(108.6e9, 2 * 48 * 8 * 128 * 2, LLAMA4.format("109B (108.6 in the index)"), "17"),
    "Llama 4 Maverick": Published(400e9, 2 * 48 * 8 * 128 * 2, LLAMA4.format("400B"), "17"),
    "Llama 2 7B": Published(6_738_415_616, 2 * 32 * 32 * 128 * 2, "index of meta-llama/Llama-2-7b-hf"),
    "Llama 2 13B": Published(13_015_864_320, 2 * 40 * 40 * 128 * 2, "index of meta-llama/Llama-2-13b-hf"),
    "Llama 2 70B": Published(68_976_648_192, 2 * 80 * 8 * 128 * 2, "index of meta-llama/Llama-2-70b-hf"),
    "OPT 6.7B": Published(6_658_473_984, 2 * 32 * 32 * 128 * 2, "weights of facebook/opt-6.7b, biases in"),
    "OPT 13B": Published(12_853_473_280, 2 * 40 * 40 * 128 * 2, "weights of facebook/opt-13b, biases in"),
    # Mistral
    "Mistral 7B": Published(7_248_023_552, 2 * 32 * 8 * 128 * 2, "index of mistralai/Mistral-7B-v0.3"),
    "Mistral Nemo 12B": Published(12_247_782_400, 2 * 40 * 8 * 128 * 2, "index of mistralai/Mistral-Nemo-Base-2407"),
    "Mistral Small 24B": Published(
        23_572_403_200, 2 * 40 * 8 * 128 * 2, "index of mistralai/Mistral-Small-24B-Base-2501"
    ),
    "Mistral Large 123B": Published(
        122_610_069_504, 2 * 88 * 8 * 128 * 2, "index of mistralai/Mistral-Large-Instruct-2407; 123B on its card"
    ),
    "Mixtral 8x7B": Published(
        46_702_792_704, 2 * 32 * 8 * 128 * 2, "index of Mixtral-8x7B-v0.1; Mistral's post of December 2023", "12.9"
    ),
    "Mixtral 8x22B": Published(
        140_630_071_296,
        2 * 56 * 8 * 128 * 2,
        "index of Mixtral-8x22B-Instruct-v0.1; Mistral's post of April 2024",
        "39",
    ),
    # Alibaba
    "Qwen2.5 7B": Published(7_615_616_512, 2 * 28 * 4 * 128 * 2, "index of Qwen/Qwen2.5-7B; 7.61B on its card"),
    "Qwen2.5 14B": Published(14_770_033_664, 2 * 48 * 8 * 128 * 2, "index of Qwen/Qwen2.5-14B; 14.7B on its card"),
    "Qwen2.5 32B": Published(32_763_876_352, 2 * 64 * 8 * 128 * 2, "index of Qwen/Qwen2.5-32B; 32.5B on its card"),
    "Qwen2.5 72B": Published(72_706_203_648, 2 * 80 * 8 * 128 * 2, "index of Qwen/Qwen2.5-72B; 72.7B on its card"),
    "Qwen3 0.6B": Published(0.6e9, 2 * 28 * 8 * 128 * 2, "model card of Qwen3-0.6B: 0.6B, 0.44B without embedding"),
    "Qwen3 1.7B": Published(
        1_720_574_976, 2 * 28 * 8 * 128 * 2, "Qwen3-1.7B: 1.7B on its card, 1.4B without embedding"
    ),
    "Qwen3 4B": Published(4_022_468_096, 2 * 36 * 8 * 128 * 2, "index of Qwen/Qwen3-4B; 4.0B on its card"),
    "Qwen3 8B": Published(8_190_735_360, 2 * 36 * 8 * 128 * 2, "index of Qwen/Qwen3-8B; 8.2B on its card"),
    "Qwen3 14B": Published(14_768_307_200, 2 * 40 * 8 * 128 * 2, "index of Qwen/Qwen3-14B; 14.8B on its card"),
    "Qwen3 32B": Published(32_762_123_264, 2 * 64 * 8 * 128 * 2, "index of Qwen/Qwen3-32B; 32.8B on its card"),
    "Qwen3 30B A3B": Published(  # they print 3.3 for 3.35
        30_532_122_624, 2 * 48 * 4 * 128 * 2, "index and card of Qwen/Qwen3-30B-A3B", "3.3", off=0.054
    ),
    "Qwen3 235B A22B": Published(235_093_634_560, 2 * 94 * 4 * 128 * 2, "index and card of Qwen/Qwen3-235B-A22B", "22"),
    "Qwen3 Coder 480B A35B": Published(
        480_154_875_392, 2 * 62 * 8 * 128 * 2, "index and card of Qwen/Qwen3-Coder-480B-A35B-Instruct", "35"
    ),
    "Qwen3-Next 80B A3B": Published(  # one layer of four keeps keys and values: 12
        80e9,
        2 * 12 * 2 * 256 * 2,
        "card of Qwen3-Next-80B-A3B-Instruct: 80B, 79B without embeddings",
        "3",
        leaves_out=2,
    ),
    "Qwen3.5 35B A3B": Published(35e9, 2 * 10 * 2 * 256 * 2, "card of Qwen3.5-35B-A3B", "3"),
    "Qwen3.5 397B A17B": Published(397e9, 2 * 15 * 2 * 256 * 2, "card of Qwen3.5-397B-A17B", "17"),
    # Google
    "Gemma 2 9B": Published(9_241_705_984, 2 * 42 * 8 * 256 * 2, "index of google/gemma-2-9b"),
    "Gemma 2 27B": Published(27_227_128_320, 2 * 46 * 16 * 128 * 2, "index of google/gemma-2-27b"),
    "Gemma 3 1B": Published(302e6 + 698e6, 2 * 26 * 1 * 256 * 2, GEMMA3),
    "Gemma 3 4B": Published(675e6 + 3_209e6, 2 * 34 * 4 * 256 * 2, GEMMA3),
    "Gemma 3 12B": Published(1_012e6 + 10_759e6, 2 * 48 * 8 * 256 * 2, GEMMA3),
    "Gemma 3 27B": Published(1_416e6 + 25_600e6, 2 * 62 * 16 * 128 * 2, GEMMA3),
    "Gemma 4 26B A4B": Published(  # 25 layers with a window, 5 without
        25.2e9, 2 * (25 * 8 * 256 + 5 * 2 * 512) * 2, "card of gemma-4-26B-A4B, without the vision tower", "3.8"
    ),
    "Gemma 4 31B": Published(  # 50 layers with a window, 10 without
        30.7e9, 2 * (50 * 16 * 256 + 10 * 4 * 512) * 2, "card of gemma-4-31B, without the vision tower"
    ),
    # Microsoft
    "Phi-3.5 mini": Published(3_821_079_552, 2 * 32 * 32 * 96 * 2, "index of microsoft/Phi-3.5-mini-instruct"),
    "Phi-4": Published(14_659_507_200, 2 * 40 * 10 * 128 * 2, "index of microsoft/phi-4"),
    "Phi-4 mini": Published(3_836_021_760, 2 * 32 * 8 * 128 * 2, "index of microsoft/Phi-4-mini-instruct"),
    # DeepSeek: one latent of 512 and a rotary key of 64 a layer
    "DeepSeek V2": Published(
        235_741_434_880, 60 * 576 * 2, "index of DeepSeek-V2; abstract of its paper", "21", leaves_out=1
    ),
    "DeepSeek V2 Lite": Published(  # they print 2.4 for 2.45
        15_706_484_224, 27 * 576 * 2, "index of DeepSeek-V2-Lite; DeepSeek-V2 (2024), appendix B", "2.4", 1, off=0.052
    ),
    "DeepSeek V3": Published(671e9, 61 * 576 * 2, DEEPSEEK_V3, "36.7", leaves_out=1),
    "DeepSeek V3.2": Published(  # keys of the indexer have a format of their own
        671e9, 61 * 576 * 2, "DeepSeek-V3.2 (2025): DeepSeek-V3 with an indexer", "37", leaves_out=1
    ),
    "DeepSeek V4 Flash": Published(  # entries of 512: of every 4 tokens in 21 layers, of every 128 in 20
        284e9, (21 * 512 // 4 + 20 * 512 // 128) * 2, "card of DeepSeek-V4-Flash: 284B, 13B active", "13", leaves_out=1
    ),
    # Moonshot AI, Z.ai, MiniMax, Xiaomi
    "Kimi K2": Published(  # the card rounds to 1T, the paper's table 2 prints 1.04T
        1_026_408_209_408, 61 * 576 * 2, "its fields, counted by transformers; active: Kimi K2 (2025), table 2", "32.6"
    ),
    "GLM-4.5": Published(
        355e9,
        2 * 92 * 8 * 128 * 2,
        "GLM-4.5 (2025), table 1: multi-token prediction in, embeddings out",
        "32",
        leaves_out=2,
    ),
    "GLM-4.5 Air": Published(
        106e9,
        2 * 46 * 8 * 128 * 2,
        "GLM-4.5 (2025), table 1: multi-token prediction in, embeddings out",
        "12",
        leaves_out=2,
    ),
    "GLM-4.7 Flash": Published(30e9, 47 * 576 * 2, "card of GLM-4.7-Flash: a 30B-A3B model", "3", leaves_out=2),
    "GLM-5": Published(744e9, 78 * 576 * 2, "card of GLM-5: 744B, 40B active", "40", leaves_out=2),
    "MiniMax M2.5": Published(230e9, 2 * 62 * 8 * 128 * 2, "card of MiniMax-M2: 230B, 10B active", "10", leaves_out=1),
    "MiMo-V2 Flash": Published(  # keys of 192 and values of 128: 9 layers with 4 heads, 39 with a window and 8
        309e9, (9 * 4 + 39 * 8) * (192 + 128) * 2, "card of MiMo-V2-Flash: 309B, 15B active", "15"
    ),
    # OpenAI
    "gpt-oss 120B": Published(
        116.83e9,
        2 * 36 * 8 * 64 * 2,
        "gpt-oss model card (2025), table 1: unembedding in, embedding out",
        "5.13",
        leaves_out=1,
    ),
    "gpt-oss 20B": Published(
        20.91e9,
        2 * 24 * 8 * 64 * 2,
        "gpt-oss model card (2025), table 1: unembedding in, embedding out",
        "3.61",
        leaves_out=1,
    ),
    "GPT-2": Published(124_439_808, 2 * 12 * 12 * 64 * 2, "weights of openai-community/gpt2, biases in"),
    "GPT-2 XL": Published(1_557_611_200, 2 * 48 * 25 * 64 * 2, "weights of openai-community/gpt2-xl, biases in"),
    # NVIDIA: layers that are attention, 10 of 118 and 6 of 52
    "Nemotron-H 56B": Published(56.3e9, 2 * 10 * 8 * 128 * 2, "Nemotron-H (2025): 56B; index of the base model"),
    "Nemotron 3 Nano 30B A3B": Published(
        31.6e9, 2 * 6 * 2 * 128 * 2, "Nemotron 3 Nano (2025): 31.6B, 3.2B active, 3.6B with embeddings", "3.6"
    ),
    # others
    "Command R+": Published(103_810_674_688, 2 * 64 * 8 * 128 * 2, "index of c4ai-command-r-plus; 104B on its card"),
    "OLMo 2 13B": Published(13_716_198_400, 2 * 40 * 40 * 128 * 2, "index of allenai/OLMo-2-1124-13B"),
    "StarCoder2 15B": Published(15_957_889_024, 2 * 40 * 4 * 128 * 2, "index of bigcode/starcoder2-15b, biases in"),
    "Yi 34B": Published(34_388_917_248, 2 * 60 * 8 * 128 * 2, "index of 01-ai/Yi-34B"),
    "Falcon 7B": Published(6_921_720_704, 2 * 32 * 1 * 64 * 2, "tiiuae/falcon-7b; its files hold the tied head again"),
    "Falcon 40B": Published(
        41_303_293_952, 2 * 60 * 8 * 64 * 2, "tiiuae/falcon-40b; its files hold the tied head again"
    ),
}
