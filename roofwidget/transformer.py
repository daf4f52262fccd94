"""Transformer: dimensions, and the parameters and KV bytes that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from roofwidget import catalog
from roofwidget.validation import COUNT, POSITIVE, Allowed, Numbers, ParameterError, first_pair, settle, shown

VOCABULARY = Allowed(whole=True, zero=True)


@dataclass(frozen=True)
class Transformer:
    """A dense decoder-only transformer.

    Parameters
    ----------
    hidden_dim, layers
        Width of the residual stream and number of blocks.
    n_heads, n_kv_heads, head_dim
        Query heads, key/value heads (as many: MHA; fewer: GQA; one: MQA) and width of each.
    ffn_dim
        Width of the feed-forward network. Need not be whole: where it is derived from a
        parameter count it is what makes that count come out.
    vocab_size
        Rows of the embedding; 0 where it is not known, and then every parameter is taken
        to be in the blocks.
    gated
        Whether the feed-forward network has three matrices (SwiGLU) or two.
    tied_embeddings
        Whether the LM head is the embedding.
    name
        What it is called.

    Raises
    ------
    ParameterError
        If a dimension is not a positive whole number, or the KV heads do not divide the heads.
    """

    hidden_dim: Numbers
    layers: Numbers
    n_heads: Numbers
    n_kv_heads: Numbers
    head_dim: Numbers
    ffn_dim: Numbers
    vocab_size: Numbers = 0.0
    gated: bool = True
    tied_embeddings: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        settle(
            self,
            hidden_dim=COUNT,
            layers=COUNT,
            n_heads=COUNT,
            n_kv_heads=COUNT,
            head_dim=COUNT,
            ffn_dim=POSITIVE,
            vocab_size=VOCABULARY,
        )
        if sentence := kv_heads_fault(self.n_heads, self.n_kv_heads):
            raise ParameterError({"n_kv_heads": sentence})
        faults = {
            name: f"{name} must be true or false, not {shown(getattr(self, name))}"
            for name in ("gated", "tied_embeddings")
            if not isinstance(getattr(self, name), (bool, np.bool_))
        }
        if faults:
            raise ParameterError(faults)

    @classmethod
    def with_params(
        cls,
        params: Numbers,
        *,
        hidden_dim: Numbers,
        layers: Numbers,
        n_heads: Numbers,
        n_kv_heads: Numbers,
        head_dim: Numbers,
        vocab_size: Numbers = 0.0,
        gated: bool = True,
        tied_embeddings: bool = False,
        name: str = "",
    ) -> Transformer:
        """The transformer of `params` parameters: its FFN takes what attention and embeddings leave.

        Raises
        ------
        ParameterError
            If nothing is left for the FFN.
        """
        frame = cls(hidden_dim, layers, n_heads, n_kv_heads, head_dim, 1.0, vocab_size, gated, tied_embeddings, name)
        left = params - (frame.params - frame.layers * frame.ffn_params)
        if np.any(left <= 0):
            needed = np.max(params - left) / 1e9
            raise ParameterError(
                {
                    "params_b": f"params_b must be more than the {needed:.4g} billion parameters of "
                    f"attention and embeddings alone, not {np.min(params) / 1e9:.4g}"
                }
            )
        return replace(frame, ffn_dim=left / (frame.layers * frame.ffn_matrices * frame.hidden_dim))

    @property
    def attention_params(self) -> Numbers:
        """Parameters of one layer's query, key, value and output projections."""
        return self.hidden_dim * self.head_dim * (2 * self.n_heads + 2 * self.n_kv_heads)

    @property
    def ffn_matrices(self) -> int:
        """Three matrices in a gated FFN (gate, up, down; Shazeer 2020, "GLU Variants"), else two."""
        return 3 if self.gated else 2

    @property
    def ffn_params(self) -> Numbers:
        """Parameters of one layer's feed-forward network."""
        return self.ffn_matrices * self.hidden_dim * self.ffn_dim

    @property
    def embedding_params(self) -> Numbers:
        """Parameters of the embedding, and of the LM head if that is a matrix of its own."""
        return self.vocab_size * self.hidden_dim * (1 if self.tied_embeddings else 2)

    @property
    def embedded(self) -> Numbers:
        """1 where there is a vocabulary, 0 where none is known."""
        return np.minimum(self.vocab_size, 1.0)

    @property
    def norm_params(self) -> Numbers:
        """Two norms a layer and a final one, each with a gain per channel."""
        return (2 * self.layers + 1) * self.hidden_dim

    @property
    def params(self) -> Numbers:
        """All parameters; biases, where a model has some, are not counted (below 0.1 %)."""
        return self.layers * (self.attention_params + self.ffn_params) + self.embedding_params + self.norm_params

    def kv_bytes_per_token(self, kv_bytes: Numbers = 2.0) -> Numbers:
        """Bytes of KV cache that a token of one sequence takes, all layers and KV heads together.

        2 · layers · n_kv_heads · head_dim · bytes (Pope et al. 2022, "Efficiently Scaling
        Transformer Inference", §3.3).
        """
        return 2 * self.layers * self.n_kv_heads * self.head_dim * kv_bytes

    @classmethod
    def names(cls) -> list[str]:
        """Names of the transformers in the catalog."""
        return list(catalog.entries("transformers"))

    @classmethod
    def named(cls, name: str) -> Transformer:
        """The catalog's transformer of that name.

        Raises
        ------
        KeyError
            If there is none; the message suggests the nearest names.
        """
        facts = {k: v for k, v in catalog.entry("transformers", name).items() if k not in catalog.REMARKS}
        return cls(name=name, **facts)


def kv_heads_fault(n_heads: Numbers, n_kv_heads: Numbers) -> str | None:
    """Say where KV heads do not divide query heads; None where they do."""
    at_odds = n_heads % n_kv_heads != 0
    if not np.any(at_odds):
        return None
    heads, kv_heads = first_pair(at_odds, n_heads, n_kv_heads)
    return f"n_kv_heads must divide n_heads={heads:g}, and {kv_heads:g} does not"
