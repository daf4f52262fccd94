"""Speculation: how tokens are drafted that the model then verifies in one pass, and what drafts them.

A drafter is a Transformer like any other, so that its passes are counted as the model's are. Matrices
of a draft head that no layer has (the fusion of features and embeddings) are counted as a wider FFN.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofwidget.accepted import chain_tokens, tree_tokens
from roofwidget.architecture.attention import Attention
from roofwidget.architecture.block import Block, Mixer
from roofwidget.architecture.feed_forward import Experts, FeedForward, matrices_of
from roofwidget.architecture.parallel import Parallel
from roofwidget.architecture.recurrence import Recurrence
from roofwidget.transformer import Transformer
from roofwidget.validation import COUNT, Allowed, Numbers, ParameterError, anywhere, as_floats, first_pair, shown

METHODS = ("draft model", "Medusa", "EAGLE", "EAGLE-2", "EAGLE-3", "n-gram", "MTP")
TREES = ("Medusa", "EAGLE", "EAGLE-2", "EAGLE-3")
"""Those that draft several candidates for a position: a tree."""

DRAFT_VOCABULARY = 32_000.0
"""Tokens that an EAGLE-3 head can draft where the model has more (`draft_vocab_size` of the published heads)."""


class Probability(Allowed):
    """A number between 0 and 1 that is neither."""

    def __str__(self) -> str:
        return "a number more than 0 and less than 1"


PROBABILITY = Probability(high=float(np.nextafter(1.0, 0.0)))


@dataclass(frozen=True)
class Drafter:
    """What drafts tokens, beside the model.

    Parameters
    ----------
    transformer
        The layers of each of its passes; its LM head is read in each, whether it is its own or the model's.
    passes
        Passes of a round, one after the other.
    tokens
        New tokens of each sequence in each of them.
    beside_layers
        Parameters kept in memory for it beside its layers: an embedding and an LM head that are not the model's.
    in_checkpoint
        Whether it is a part of the model's checkpoint, and so stored and computed as the model is.
    """

    transformer: Transformer
    passes: Numbers
    tokens: Numbers
    beside_layers: Numbers = 0.0
    in_checkpoint: bool = False

    @property
    def own_params(self) -> Numbers:
        """Parameters kept in memory for it: all but those it shares with the model."""
        hidden, blocks = self.transformer.hidden_dim, self.transformer.blocks
        return sum((block.layers * block.layer_params(hidden) for block in blocks), start=0.0) + self.beside_layers

    def devices(self, devices: Numbers) -> Numbers:
        """Devices that share it: all, or where they cannot share its heads evenly, none: each computes all of it."""
        return np.where(self.transformer.shardable(devices), devices, 1.0)[()]


@dataclass(frozen=True)
class Speculation:
    """Tokens are drafted, and the model verifies them all in one pass (Leviathan et al. 2023; Chen et al. 2023).

    Parameters
    ----------
    method
        One of `METHODS`.
    acceptance
        α: probability that a drafted token is accepted, those before it being accepted; the same at
        every position.
    tokens
        k: tokens drafted in a row.
    tree_tokens
        Tokens of the tree that one pass verifies, which is at most k deep; None: a chain of k.
    draft
        The separate model that drafts, or its name in the catalog; for the method "draft model".

    Raises
    ------
    ParameterError
        If there is no such method, the acceptance is not between 0 and 1, a count is none, the tree
        has fewer tokens than it is deep, or tree or draft do not go with the method.
    KeyError
        If the draft's name is not in the catalog.
    """

    method: str
    acceptance: Numbers = 0.7
    tokens: Numbers = 4.0
    tree_tokens: Numbers | None = None
    draft: Transformer | str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.draft, str):
            object.__setattr__(self, "draft", Transformer.named(self.draft))
        faults: dict[str, str] = {}
        if self.method not in METHODS:
            faults["speculation"] = f"speculation must be one of {', '.join(METHODS)}, not {shown(self.method)}"
        rules: tuple[tuple[str, str, Allowed], ...] = (
            ("acceptance", "acceptance", PROBABILITY),
            ("tokens", "speculative_tokens", COUNT),
            ("tree_tokens", "tree_tokens", COUNT),
        )
        for field, name, allowed in rules:
            value: Any = getattr(self, field)
            value = np.asarray(value) if isinstance(value, (list, tuple)) else value
            if field == "tree_tokens" and value is None:
                continue
            if sentence := allowed.fault(name, value):
                faults[name] = sentence
            else:
                object.__setattr__(self, field, as_floats(value))
        if faults or (faults := dict(self._at_odds())):
            raise ParameterError(faults)

    def _at_odds(self) -> list[tuple[str, str]]:
        """What does not go together, by parameter."""
        found = []
        if self.tree_tokens is not None:
            if self.method not in TREES:
                found.append(("tree_tokens", f"tree_tokens goes with {', '.join(TREES)} only, not with {self.method}"))
            elif anywhere(at_odds := self.tree_tokens < self.tokens):
                tree, depth = first_pair(at_odds, self.tree_tokens, self.tokens)
                found.append(
                    ("tree_tokens", f"tree_tokens must be at least speculative_tokens={depth:g}, and {tree:g} is not")
                )
        if self.method == "draft model" and not isinstance(self.draft, Transformer):
            sentence = f"draft_model must be Transformer or the name of one in the catalog, not {shown(self.draft)}"
            found.append(("draft_model", sentence))
        if self.method != "draft model" and self.draft is not None:
            found.append(("draft_model", f"draft_model goes with the method draft model only, not with {self.method}"))
        return found

    @property
    def drafted(self) -> Numbers:
        """Tokens drafted for each sequence in a round."""
        return self.tokens if self.tree_tokens is None else self.tree_tokens

    @property
    def verified(self) -> Numbers:
        """Tokens of each sequence in the verifying pass: those drafted, and the last one accepted."""
        return self.drafted + 1

    @property
    def tokens_per_step(self) -> Numbers:
        """Tokens that a round gives each sequence, in expectation."""
        if self.tree_tokens is None:
            return chain_tokens(self.acceptance, self.tokens)
        return tree_tokens(self.acceptance, self.tokens, self.tree_tokens)

    def drafter(self, model: Transformer) -> Drafter | None:
        """What drafts for `model`; None where it costs nothing: n-grams are looked up.

        Raises
        ------
        ParameterError
            If the method takes over the model's attention or feed-forward network, and it has none.
        """
        built: tuple[Transformer, Drafter | None] | None = self.__dict__.get("_built")
        if built is None or built[0] is not model:  # a screen's worth of figures asks for it a thousand times
            built = (model, self._drafter(model))
            object.__setattr__(self, "_built", built)
        return built[1]

    def _drafter(self, model: Transformer) -> Drafter | None:
        if self.method == "n-gram":
            return None
        if self.method == "Medusa":
            return medusa(model, self.tokens)
        if self.method == "draft model":
            assert isinstance(self.draft, Transformer)
            beside_layers = self.draft.embedding_params + self.draft.more_params + self.draft.hidden_dim
            return Drafter(self.draft, self.tokens, 1.0, beside_layers)
        if self.method == "MTP":
            return mtp(model, self.tokens)
        build = eagle_3 if self.method == "EAGLE-3" else eagle
        return build(model, self.tokens, self.drafted / self.tokens)


def eagle(model: Transformer, passes: Numbers, tokens: Numbers) -> Drafter:
    """One layer of the model's attention and a dense FFN (Li et al. 2024, "EAGLE", §3.1; EAGLE-2 has the same).

    A 2h × h matrix brings feature and embedding of a token together. Embedding and LM head are the model's.
    """
    hidden = model.hidden_dim
    layer = Block(1.0, attention_of(model), wider(dense_ffn(model), hidden, 2 * hidden * hidden))
    head = Transformer(hidden, (layer,), model.vocab_size, name="EAGLE head")
    return Drafter(head, passes, tokens)


def eagle_3(model: Transformer, passes: Numbers, tokens: Numbers) -> Drafter:
    """One layer whose attention reads feature and embedding side by side (Li et al. 2025, "EAGLE-3", §3.1).

    A 3h × h matrix makes the feature of those of three layers; it is counted in every pass, though
    only the first runs it. The LM head is its own, of a reduced vocabulary.
    """
    hidden, attention = model.hidden_dim, attention_of(model)
    twice, once = (sum((matrix.params for matrix in attention.inputs(width)), 0.0) for width in (2 * hidden, hidden))
    layer = Block(1.0, attention, wider(dense_ffn(model), hidden, 3 * hidden * hidden + twice - once))
    head = Transformer(hidden, (layer,), np.minimum(model.vocab_size, DRAFT_VOCABULARY), name="EAGLE-3 head")
    return Drafter(head, passes, tokens, head.vocab_size * hidden)


def mtp(model: Transformer, passes: Numbers) -> Drafter:
    """A layer more like the model's last (DeepSeek-V3, 2024, §2.2), run once for each token drafted.

    A 2h × h matrix brings hidden state and embedding together. Embedding and LM head are the model's.
    """
    hidden = model.hidden_dim
    last = next((block.ffn for block in reversed(model.blocks) if block.ffn is not None), None)
    layer = Block(1.0, attention_of(model), wider(needed(last), hidden, 2 * hidden * hidden), norms=4.0)
    head = replace(model, blocks=(layer,), more_params=0.0, name="MTP module")
    return Drafter(head, passes, 1.0, in_checkpoint=True)


def medusa(model: Transformer, heads: Numbers) -> Drafter:
    """A head for each position, all in one pass (Cai et al. 2024, "Medusa", §2.1).

    Each is an h × h layer and an LM head of its own: together a plain FFN of width heads · h / 2, and
    a vocabulary as many times as large.
    """
    hidden, vocabulary = model.hidden_dim, heads * model.vocab_size
    layer = Block(1.0, None, FeedForward(heads * hidden / 2, gated=False), norms=0.0)
    head = Transformer(hidden, (layer,), vocabulary, tied_embeddings=True, name="Medusa heads")
    return Drafter(head, 1.0, 1.0, vocabulary * hidden)


def attention_of(model: Transformer) -> Mixer:
    """The attention over all tokens that most of the model's layers have, with a cache of its own."""
    mixer = model.mixer.attention if isinstance(model.mixer, Parallel) else model.mixer
    if isinstance(mixer, Recurrence):
        raise ParameterError({"speculation": f"speculation must be {WITHOUT_HEAD} for a model without attention"})
    return replace(mixer, keeps=True) if isinstance(mixer, Attention) else mixer


def dense_ffn(model: Transformer) -> FeedForward:
    """A dense FFN like the model's; of mixtures of experts only, one as wide as the experts a token goes to."""
    blocks = sorted((block for block in model.blocks if block.ffn is not None), key=lambda b: float(np.max(b.layers)))
    dense = [block.ffn for block in blocks if isinstance(block.ffn, FeedForward)]
    ffn = needed(dense[-1] if dense else blocks[-1].ffn if blocks else None)
    if isinstance(ffn, Experts):
        return FeedForward(ffn.active * ffn.width + ffn.shared_width, ffn.gated)
    return ffn


def needed(ffn: FeedForward | Experts | None) -> FeedForward | Experts:
    """Refuse a model that has no feed-forward network for its draft head to be like."""
    if ffn is None:
        raise ParameterError({"speculation": f"speculation must be {WITHOUT_HEAD} for a model without FFN"})
    return ffn


WITHOUT_HEAD = "n-gram, Medusa or draft model"
"""The methods that take over no layer of the model."""


def wider(ffn: FeedForward | Experts, hidden: Numbers, params: Numbers) -> FeedForward | Experts:
    """The same with so many parameters more, which every token uses; beside experts in the shared one."""
    width = params / (matrices_of(ffn.gated) * hidden)
    if isinstance(ffn, Experts):
        return replace(ffn, shared_width=ffn.shared_width + width)
    return replace(ffn, width=ffn.width + width)
