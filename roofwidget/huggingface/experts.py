"""Mixtures of experts under the usual names."""

from __future__ import annotations

from roofwidget.architecture.feed_forward import Experts, FeedForward
from roofwidget.huggingface.beside import Beside, usual_biases
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.layer import Layer, build, depth_of, grouped_attention, windows
from roofwidget.transformer import Transformer

EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
ACTIVE = (
    "num_experts_per_tok", "top_k_experts", "moe_topk", "moe_k", "moe_top_k", "num_experts_per_token",
    "experts_per_token",
)  # fmt: skip
SHARED = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")


def experts_of(config: Config, width: int, shared_width: int = 0, gated: bool = True) -> Experts:
    """A mixture under the usual names."""
    experts, active = config.count(*EXPERTS), config.count(*ACTIVE)
    if active > experts:
        raise config.fault("num_experts_per_tok", f"at most the {experts} experts there are", active)
    return Experts(experts, active, width, shared_width, gated)


def fine_experts(config: Config) -> Experts:
    """Experts of moe_intermediate_size, and shared ones as wide (Dai et al. 2024, "DeepSeekMoE", §3)."""
    width = config.count("moe_intermediate_size")
    return experts_of(config, width, width * config.count(*SHARED, default=0, zero=True))


def sparse_layers(config: Config, first: int = 0) -> list[bool]:
    """Whether each layer has experts: all but the first few, then every so-manieth, or as `mlp_layer_types` says.

    Parameters
    ----------
    config
        Of the model.
    first
        Dense layers that the family begins with where the file does not say.
    """
    layers = depth_of(config)
    kinds = config.kinds("mlp_layer_types", layers)
    if kinds is not None:
        if strange := set(map(str, kinds)) - {"dense", "sparse"}:
            raise config.fault("mlp_layer_types", "of dense, sparse", sorted(strange)[0])
        return [kind == "sparse" for kind in kinds]
    first = config.count("first_k_dense_replace", "num_dense_layers", default=first, zero=True)
    frequencies = config.numbers("moe_layer_freq", layers, default=1)
    if isinstance(config.fields.get("moe_layer_freq"), (list, tuple)):  # a flag a layer
        return [bool(flag) for flag in frequencies]
    return [i >= first and i % max(frequencies[i], 1) == 0 for i in range(layers)]


def mixture(
    config: Config,
    moe: Experts,
    sparse: list[bool] | None = None,
    *,
    norms: float = 2.0,
    beside: Beside | None = None,
    sizes: list[float] | None = None,
    gated_attention: bool = False,
    dense_width: str = "intermediate_size",
    router_bias: int = 0,
    more_params: float = 0.0,
) -> Transformer:
    """Layers of attention and experts, some perhaps with a dense FFN instead.

    Parameters
    ----------
    config, moe
        Of the model, and the experts of a layer.
    sparse
        Whether each layer has experts; all unless told.
    norms, beside
        Normalisation, biases and norms of queries and keys, as for dense models.
    sizes
        The window of each layer; as `layer_types` says unless told.
    gated_attention
        Whether heads' outputs are gated.
    dense_width
        Name of the field for the width of the others' FFN.
    router_bias
        Parameters of a layer's router beside its matrix.
    more_params
        Parameters that are in no layer.
    """
    hidden, sizes = config.count("hidden_size"), windows(config) if sizes is None else sizes
    sparse = [True] * depth_of(config) if sparse is None else sparse
    plain = None if all(sparse) else FeedForward(config.count(dense_width, "intermediate_size"))
    beside = usual_biases(config) if beside is None else beside

    def layer(i: int) -> Layer:
        attention, ffn = grouped_attention(config, sizes[i], gated_attention), moe if sparse[i] else plain
        extra = beside.params(attention, ffn, hidden) + router_bias * sparse[i]
        return Layer(attention, ffn, norms, extra)

    return build(config, layer, more_params=more_params)
