"""Transformer: blocks of layers between embedding and LM head, and what follows from their dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from roofwidget import catalog
from roofwidget.architecture.attention import Attention
from roofwidget.architecture.block import Block, Mixer
from roofwidget.architecture.feed_forward import Experts, FeedForward, check_flags
from roofwidget.architecture.recurrence import Recurrence
from roofwidget.architecture.resizing import scaled_to
from roofwidget.validation import COUNT, POSITIVE, Allowed, Numbers, ParameterError, settle

VOCABULARY = Allowed(whole=True, zero=True)


@dataclass(frozen=True)
class Transformer:
    """A decoder-only language model.

    Parameters
    ----------
    hidden_dim
        Width of the residual stream.
    blocks
        Its layers, those that are alike together.
    vocab_size
        Rows of the embedding; 0 where it is not known, and then every parameter is taken to be in
        the blocks.
    tied_embeddings
        Whether the LM head is the embedding.
    more_params
        Parameters that no matrix product of the text model reads: learned positions, embeddings
        for single layers, a vision tower that is served along.
    weight_bytes, expert_weight_bytes, embedding_weight_bytes
        Bytes a parameter takes as it is published, and one of an expert, of embedding and LM head
        where those differ; None where nothing is said: 16 bits.
    compute
        The format that its linear layers are made to be computed in.
    name
        What it is called.

    Raises
    ------
    ParameterError
        If a dimension is not a positive whole number.
    """

    hidden_dim: Numbers
    blocks: tuple[Block, ...]
    vocab_size: Numbers = 0.0
    tied_embeddings: bool = False
    more_params: Numbers = 0.0
    weight_bytes: float | None = None
    expert_weight_bytes: float | None = None
    embedding_weight_bytes: float | None = None
    compute: str = "bf16"
    name: str = ""

    def __post_init__(self) -> None:
        settle(self, hidden_dim=COUNT, vocab_size=VOCABULARY, more_params=Allowed(zero=True))
        check_flags(self, "tied_embeddings")

    @classmethod
    def dense(
        cls,
        hidden_dim: Numbers,
        layers: Numbers,
        n_heads: Numbers,
        n_kv_heads: Numbers,
        head_dim: Numbers,
        ffn_dim: Numbers,
        vocab_size: Numbers = 0.0,
        gated: bool = True,
        tied_embeddings: bool = False,
        name: str = "",
    ) -> Transformer:
        """Layers all alike: full attention and a dense feed-forward network.

        Parameters
        ----------
        hidden_dim, layers
            Width of the residual stream and number of layers.
        n_heads, n_kv_heads, head_dim
            Query heads, key/value heads and width of each.
        ffn_dim, gated
            Width of the feed-forward network, and whether it has three matrices or two.
        vocab_size, tied_embeddings, name
            As for the class.

        Raises
        ------
        ParameterError
            Naming every dimension that is no count, or KV heads that do not divide the heads.
        """
        check_counts(hidden_dim=hidden_dim, layers=layers, n_heads=n_heads, n_kv_heads=n_kv_heads, head_dim=head_dim)
        if sentence := POSITIVE.fault("ffn_dim", ffn_dim):
            raise ParameterError({"ffn_dim": sentence})
        block = Block(layers, Attention(n_heads, n_kv_heads, head_dim), FeedForward(ffn_dim, gated))
        return cls(hidden_dim, (block,), vocab_size, tied_embeddings, name=name)

    @classmethod
    def with_params(cls, params: Numbers, **dimensions: Any) -> Transformer:
        """The dense transformer of `params` parameters: its FFN takes what attention and embeddings leave.

        Parameters
        ----------
        params
            All its parameters.
        **dimensions
            Those of `dense` but `ffn_dim`.

        Raises
        ------
        ParameterError
            As for `dense`, and if nothing is left for the FFN.
        """
        return scaled_to(cls.dense(ffn_dim=1.0, **dimensions), params)

    @classmethod
    def from_hf_config(cls, source: Mapping[str, Any] | str | PathLike[str]) -> Transformer:
        """The language model that a Hugging Face `config.json` describes.

        Parameters
        ----------
        source
            Its fields, its path or its text; or the id of a repository on the Hub, for which
            huggingface_hub must be installed.

        Raises
        ------
        ParameterError
            If it cannot be read, its family is not known, or its fields are missing or contradict
            each other. Nothing is guessed.
        """
        from roofwidget import huggingface  # which builds Transformers

        fields = huggingface.read(source)
        name = str(fields.get("_name_or_path") or fields.get("model_type") or "")
        if isinstance(source, str) and not huggingface.is_json(source):
            name = Path(source).stem if source.endswith(".json") else source
        return huggingface.from_config(fields, name)

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
        from roofwidget import huggingface

        name = catalog.spelled("transformers", name)
        return huggingface.from_config(catalog.entry("transformers", name)["config"], name)

    @cached_property
    def parts(self) -> list[tuple[Numbers, Mixer | FeedForward | Experts]]:
        """Its mixers and feed-forward networks in the order they first run, each with how many layers have it."""
        found: dict[Any, tuple[Numbers, Mixer | FeedForward | Experts]] = {}
        for block in self.blocks:
            for part in (block.mixer, block.ffn):
                if part is not None:
                    key = _key(part)
                    layers = found[key][0] + block.layers if key in found else block.layers
                    found[key] = (layers, part)
        return list(found.values())

    @property
    def layers(self) -> Numbers:
        """All layers."""
        return sum((block.layers for block in self.blocks), start=0.0)

    @property
    def mixer(self) -> Mixer:
        """What most of the layers with full attention have in common, or else most of all layers."""
        return max(
            (block for block in self.blocks if block.mixer is not None),
            key=lambda block: (_sees_all(block.mixer), np.max(block.layers)),
        ).mixer  # type: ignore[return-value]

    @property
    def n_heads(self) -> Numbers:
        """Query heads of `mixer`."""
        return self.mixer.heads

    @property
    def n_kv_heads(self) -> Numbers:
        """Key/value heads of `mixer`."""
        return self.mixer.kv_heads

    @property
    def head_dim(self) -> Numbers:
        """Width of a head of `mixer`."""
        return self.mixer.head_dim

    @property
    def gated(self) -> bool:
        """Whether its feed-forward networks have three matrices."""
        return all(block.ffn.gated for block in self.blocks if block.ffn is not None)

    @property
    def embedding_params(self) -> Numbers:
        """Parameters of the embedding, and of the LM head if that is a matrix of its own."""
        return self.vocab_size * self.hidden_dim * (1 if self.tied_embeddings else 2)

    @property
    def embedded(self) -> Numbers:
        """1 where there is a vocabulary, 0 where none is known."""
        return np.minimum(self.vocab_size, 1.0)

    @property
    def params(self) -> Numbers:
        """All parameters; some biases are left out (below 0.1 %)."""
        blocks = sum((block.layers * block.layer_params(self.hidden_dim) for block in self.blocks), start=0.0)
        return blocks + self.embedding_params + self.hidden_dim + self.more_params

    @property
    def active_params(self) -> Numbers:
        """Parameters but the experts that a token does not go to.

        With embedding and LM head, as most publishers count (Mixtral, Qwen, Llama, DeepSeek); some
        leave the embedding out (gpt-oss).
        """
        blocks = sum((block.layers * block.active_params(self.hidden_dim) for block in self.blocks), start=0.0)
        return blocks + self.embedding_params + self.hidden_dim

    def kv_bytes_per_token(self, kv_bytes: Numbers = 2.0) -> Numbers:
        """Bytes of KV cache that a token of one sequence takes, all layers and KV heads together.

        2 · layers · n_kv_heads · head_dim · bytes (Pope et al. 2022, "Efficiently Scaling
        Transformer Inference", §3.3) where all layers are alike. Layers with a window count too:
        they keep a token as long as it is in the window.
        """
        widths = (block.layers * kept_width(block.mixer) for block in self.blocks)
        return sum(widths, start=0.0) * kv_bytes

    def shardable(self, devices: Numbers) -> Any:
        """Whether devices can share the heads of all layers evenly; a bool, or an array of them."""
        mixers = [block.mixer for block in self.blocks if block.mixer is not None]
        return np.logical_and.reduce([mixer.shardable(devices) for mixer in mixers])

    def fault(self, devices: Numbers) -> str | None:
        """Say where devices cannot share the heads evenly; None where they can."""
        faults = (block.mixer.fault(devices) for block in self.blocks if block.mixer is not None)
        return next((fault for fault in faults if fault), None)


def _key(part: Any) -> Any:
    """What parts that are alike have in common; those made of arrays are alike only if they are one."""
    try:
        hash(part)
    except TypeError:
        return id(part)
    return part


def check_counts(**counts: Any) -> None:
    """Refuse what is no count, all that are not at once."""
    faults = {name: fault for name, value in counts.items() if (fault := COUNT.fault(name, value))}
    if faults:
        raise ParameterError(faults)


def _sees_all(mixer: Mixer | None) -> bool:
    """Whether its tokens attend to all before them."""
    return not isinstance(mixer, Recurrence) and bool(np.all(np.isinf(getattr(mixer, "window", np.inf))))


def kept_width(mixer: Mixer | None) -> Numbers:
    """Elements that a mixer, if there is one, adds to the cache for each token."""
    return 0.0 if mixer is None else mixer.kv_width
