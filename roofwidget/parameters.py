"""The parameters a person sets: their names, ranges, units and meaning, one line each.

This is the single source of what a request may say, what a trait takes, which control is drawn
and what the reference table lists.
"""

from __future__ import annotations

from traitlets import HasTraits

from roofwidget import catalog
from roofwidget.building import KINDS_OF_EFFICIENCY, build_scenario
from roofwidget.efficiency import engines
from roofwidget.kv_allocation import KINDS
from roofwidget.lengths import SHAPES, shape_fault
from roofwidget.precision import COMPUTE
from roofwidget.presets import preset_parameters
from roofwidget.quantity import Choice, ListOrChoice, Preset, Quantity, Switch
from roofwidget.scenario import Scenario
from roofwidget.speculation import METHODS


# fmt: off
class Parameters(HasTraits):
    """Hardware, model, workload and precision as traits; the mission's names and units.

    The defaults are the mission's request: a 70 B model in 16 bits on one 80 GB device of
    990 TFLOP/s and 3,350 GB/s.
    """

    # hardware
    peak_tflops = Quantity(990.0, 1e-3, 1e7, "TFLOP/s", "Hardware", "Dense peak of one device in the format computed in.", label="peak", slider=(10, 10_000), required=True)
    hbm_bw_gbs = Quantity(3350.0, 1e-2, 1e7, "GB/s", "Hardware", "Memory bandwidth of one device.", label="bandwidth", slider=(100, 20_000), required=True)
    hbm_cap_gb = Quantity(80.0, 1e-3, 1e6, "GB", "Hardware", "Memory of one device, in 10⁹ bytes.", label="capacity", slider=(8, 512), required=True)
    devices = Quantity(1, 1, 1024, "tensor parallel", "Hardware", "Devices that share every layer; must divide the query heads, and divide the KV heads or be a multiple of them.", label="devices", slider=(1, 64), whole=True, doubling=True)
    link_gbs = Quantity(None, 1e-3, 1e6, "GB/s", "Hardware", "What a device sends to its peers, one direction; without it communication is left out.", label="link", slider=(10, 2_000), absent="not counted", detail=True)
    link_latency_us = Quantity(None, 1e-3, 1e4, "µs", "Hardware", "Time between the sending of a message to a peer and its arrival; without it a message takes only as long as its bytes.", label="link latency", slider=(0.1, 100), absent="not counted", detail=True)
    pipeline = Quantity(1, 1, 512, "stages", "Hardware", "Groups of devices that each have their part of the layers.", label="pipeline", slider=(1, 16), whole=True, doubling=True, detail=True)
    data_parallel = Quantity(1, 1, 1024, "copies", "Hardware", "Replicas of all that, each with its part of the batch.", label="replicas", slider=(1, 64), whole=True, doubling=True, detail=True)
    expert_parallel = Switch(False, "Hardware", "Whether whole experts are spread over the devices of all replicas; if not, each device of a replica has a slice of every expert.", label="expert parallel", detail=True)
    usd_per_hour = Quantity(None, 1e-4, 1e5, "$/hour", "Hardware", "Price of one device.", label="price", slider=(0.1, 20), absent="not counted", detail=True)
    tdp_w = Quantity(None, 0.1, 1e5, "W", "Hardware", "Power limit of one device.", label="power", slider=(50, 2_000), absent="not counted", detail=True)
    memory_utilization = Quantity(0.9, 0.01, 1.0, "of capacity", "Hardware", "Share of memory that may be used.", label="usable", slider=(0.5, 1.0), detail=True)
    # model
    params_b = Quantity(70.0, 1e-4, 1e5, "billion", "Model", "Parameters; the FFN takes what attention and embeddings leave of them.", label="parameters", slider=(0.5, 1_000), required=True)
    hidden_dim = Quantity(8192, 1, 1_048_576, "", "Model", "Width of the residual stream.", label="hidden", slider=(512, 32_768), whole=True, required=True, detail=True)
    layers = Quantity(80, 1, 10_000, "", "Model", "Transformer blocks.", label="layers", slider=(4, 256), whole=True, required=True)
    n_heads = Quantity(64, 1, 65_536, "", "Model", "Query heads.", label="heads", slider=(4, 256), whole=True, required=True, detail=True, doubling=True)
    n_kv_heads = Quantity(8, 1, 65_536, "", "Model", "Key/value heads; must divide the query heads.", label="KV heads", slider=(1, 256), whole=True, required=True, doubling=True)
    head_dim = Quantity(None, 1, 8192, "", "Model", "Width of a head; without it hidden_dim / n_heads, which must then be whole.", label="head width", slider=(32, 512), whole=True, absent="h ÷ heads", detail=True)
    vocab_size = Quantity(None, 1, 10_000_000, "tokens", "Model", "Vocabulary; without it every parameter counts as part of the blocks.", label="vocabulary", slider=(8_192, 524_288), whole=True, absent="not counted", detail=True)
    gated_ffn = Switch(True, "Model", "Whether the FFN has three matrices (SwiGLU) or two.", label="gated FFN", detail=True)
    tied_embeddings = Switch(False, "Model", "Whether the LM head is the embedding; matters only where vocab_size is given.", label="tied embeddings", detail=True)
    # workload
    seq_len = Quantity(4096, 1, 100_000_000, "tokens", "Workload", "Prompt tokens of each sequence.", label="prompt", slider=(64, 262_144), whole=True, required=True)
    output_tokens = Quantity(1, 1, 100_000_000, "tokens", "Workload", "Tokens of each answer: decode is timed at the mean context, memory at the final one.", label="output", slider=(1, 32_768), whole=True)
    batch = Quantity(1, 1, 1_000_000, "sequences", "Workload", "Sequences decoded together.", label="batch", slider=(1, 1_024), whole=True, required=True)
    ttft_target_ms = Quantity(None, 1e-3, 1e9, "ms", "Workload", "Time to first token that was promised.", label="TTFT ≤", slider=(10, 10_000), absent="nothing", detail=True)
    tpot_target_ms = Quantity(None, 1e-3, 1e9, "ms", "Workload", "Time per output token that was promised.", label="TPOT ≤", slider=(1, 1_000), absent="nothing", detail=True)
    # serving
    efficiency = Choice("ideal", KINDS_OF_EFFICIENCY, "Serving", "Whether roofs are reached and nothing is lost beside, or as far as was measured on servers of this family of accelerators.", label="roofs")
    engine = Choice("vLLM", tuple(engines()), "Serving", "Serving engine whose own times count where calibrated.", label="engine", detail=True)
    # precision
    weight_bytes = Quantity(2.0, 0.05, 16.0, "bytes", "Precision", "Bytes a weight takes, where it is stored; what it is computed in is set apart.", label="weights", slider=(0.5, 4), required=True, doubling=True)
    expert_weight_bytes = Quantity(None, 0.05, 16.0, "bytes", "Precision", "Bytes a weight of a routed expert takes, where only experts are stored in a format of their own.", label="experts", slider=(0.5, 4), absent="as weights", doubling=True, detail=True)
    kv_bytes = Quantity(2.0, 0.05, 16.0, "bytes", "Precision", "Bytes an element of the KV cache takes.", label="KV cache", slider=(0.5, 4), doubling=True)
    activation_bytes = Quantity(2.0, 0.05, 16.0, "bytes", "Precision", "Bytes an activation takes.", label="activations", slider=(0.5, 4), detail=True, doubling=True)
    embedding_weight_bytes = Quantity(None, 0.05, 16.0, "bytes", "Precision", "Bytes a weight of embedding and LM head takes, which quantized checkpoints leave in 16 bits.", label="embedding", slider=(0.5, 4), absent="as weights", doubling=True, detail=True)
    compute = Choice("bf16", COMPUTE, "Precision", "Format that linear layers are computed in, bf16 being any 16 bits; devices without it compute in 16 bits. Attention, routers and the LM head always do.", label="compute", detail=True)
    # techniques
    continuous_batching = Switch(True, "Techniques", "Whether a sequence that ends makes room for the next at once; if not, a batch starts and ends together.", label="continuous batching")
    output_lengths = ListOrChoice("fixed", SHAPES, "Techniques", "How lengths of answers are spread around output_tokens; a list of lengths sets that to their mean.", label="lengths", fault_of=shape_fault)
    output_spread = Quantity(1.0, 0.01, 10.0, "of mean", "Techniques", "Standard deviation of lognormal lengths over their mean.", label="spread", slider=(0.1, 3), detail=True)
    kv_allocation = Choice("exact", KINDS, "Techniques", "How a sequence is given memory for its KV cache: just what it keeps, blocks, a reservation of max_len, or one of the next power of two.", label="KV memory")
    block_size = Quantity(16, 1, 65_536, "tokens", "Techniques", "Tokens of a block of KV cache; a power of two.", label="block", slider=(1, 256), whole=True, doubling=True, detail=True)
    max_len = Quantity(None, 1, 200_000_000, "tokens", "Techniques", "Tokens that are reserved for each sequence.", label="reserved", slider=(256, 131_072), whole=True, doubling=True, absent="as it ends", detail=True)
    prefix_tokens = Quantity(None, 1, 100_000_000, "tokens", "Techniques", "Tokens that all prompts begin with, and whose keys and values are cached.", label="prefix", slider=(16, 65_536), whole=True, absent="not cached")
    prefix_hit_rate = Quantity(1.0, 0.001, 1.0, "of prefix", "Techniques", "Share of the prefix that is found in the cache.", label="hit rate", slider=(0.1, 1.0), detail=True)
    cascade_attention = Switch(False, "Techniques", "Whether decode reads the prefix once for all sequences, or once for each.", label="cascade attention", detail=True)
    speculation = Choice(None, METHODS, "Techniques", "What drafts tokens that the model then verifies in one pass.", label="drafting", absent="nothing")
    draft_model = Choice("Llama 3.2 1B", tuple(catalog.entries("transformers")), "Techniques", "The model that drafts, where a separate one does.", label="draft model", detail=True)
    acceptance = Quantity(0.7, 0.001, 0.999, "of drafts", "Techniques", "Probability that a drafted token is accepted, once those before it are.", label="acceptance", slider=(0.3, 0.95), detail=True)
    speculative_tokens = Quantity(4, 1, 64, "tokens", "Techniques", "Tokens drafted in a row.", label="drafts", slider=(1, 16), whole=True, detail=True)
    tree_tokens = Quantity(None, 1, 1024, "tokens", "Techniques", "Tokens of a tree of drafts, all verified in one pass; Medusa and EAGLE only.", label="tree", slider=(4, 256), whole=True, absent="a chain", detail=True)
    disaggregated = Switch(False, "Techniques", "Whether prefill has devices of its own, and those above only decode.", label="disaggregated")
    prefill_accelerator = Choice(None, tuple(catalog.entries("accelerators")), "Techniques", "The device that prefills.", label="prefill on", absent="the same", detail=True)
    prefill_devices = Quantity(None, 1, 1024, "tensor parallel", "Techniques", "Devices of an instance that prefills.", label="devices", slider=(1, 64), whole=True, doubling=True, absent="as decode", detail=True)
    prefill_pool = Quantity(1, 1, 10_000, "instances", "Techniques", "Copies of the model that prefill.", label="instances", slider=(1, 64), whole=True, detail=True)
    prefill_batch = Quantity(1, 1, 10_000, "prompts", "Techniques", "Prompts in one pass of an instance that prefills.", label="prompts", slider=(1, 64), whole=True, detail=True)
    kv_link_gbs = Quantity(None, 1e-3, 1e6, "GB/s", "Techniques", "What a device sends of the KV cache to the other pool, one direction; without it the transfer is left out.", label="KV link", slider=(1, 1_000), absent="not counted", detail=True)
    # presets
    accelerator = Preset("accelerators", "Name in the catalog of the accelerator that the numbers are those of, or were before some were edited.")
    transformer = Preset("transformers", "Name in the catalog of the model, or the fields of a Hugging Face config.json: what its layers are made of. The numbers are its own, or change all its layers in proportion.", takes_config=True)
    quantization = Preset("weight_formats", "Format that weights are stored in and linear layers computed in; without it they are as the numbers say, which are those that a model is published in or that were set.")
    kv_quantization = Preset("kv_formats", "Format that the KV cache is stored in; without it kv_bytes says so.")
# fmt: on

    @property
    def scenario(self) -> Scenario:
        """The scenario these parameters describe.

        Raises
        ------
        ParameterError
            If they contradict each other.
        """
        return build_scenario({name: getattr(self, name) for name in [*PARAMETERS, *PRESETS]})


PARAMETERS: dict[str, Quantity | Switch | Choice] = {
    name: trait for name, trait in vars(Parameters).items() if isinstance(trait, (Quantity, Switch, Choice))
}
PRESETS: dict[str, Preset] = {name: trait for name, trait in vars(Parameters).items() if isinstance(trait, Preset)}


def required_of(preset: str) -> list[str]:
    """The required parameters that a preset fills, and that need not be given beside it."""
    filled = preset_parameters(preset, PRESETS[preset].names()[0])
    return [name for name in filled if PARAMETERS[name].required]
