"""KV capacity against what engines printed at start-up, first from their terms, then from model and device alone."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from table import show

from roofwidget import Precision, Scenario, Transformer
from roofwidget.roofline.capacity import GIB, Engine, EngineCapacity, engine_capacity, kv_capacity

DATA = Path(__file__).parent / "data" / "kv_capacity.csv"
EMBEDDING_BYTES = 2.0
"""Quantised checkpoints keep embedding and LM head in 16 bits."""

Row = dict[str, str]


def rows() -> list[Row]:
    with DATA.open(newline="") as file:
        return list(csv.DictReader(file))


def printed_terms(row: Row) -> tuple[float, ...] | None:
    """Memory, utilisation and what is taken of it, GiB; None where the log lacks one."""
    names = ("memory_gib", "utilization", "weights_gib", "activation_gib", "runtime_gib")
    return tuple(float(row[name]) for name in names) if all(row[name] for name in (*names, "kv_gib")) else None


def precision(row: Row, model: Transformer) -> Precision:
    """As the checkpoint is stored: what is quantised as the row or the configuration says, the embeddings in 16 bits."""
    layers = float(row["weight_bytes"] or model.weight_bytes or EMBEDDING_BYTES)
    experts = row["expert_weight_bytes"] or model.expert_weight_bytes
    routed = sum(block.layers * block.expert_params(model.hidden_dim) for block in model.blocks)
    rest = model.params - (routed if experts else 0.0)
    mean = layers + (EMBEDDING_BYTES - layers) * model.embedding_params / rest
    return Precision(weight_bytes=mean, expert_weight_bytes=float(experts) if experts else None)


def engine(row: Row) -> Engine:
    """The row's engine, with what its user set."""
    set_by_user = {name: (float(row[name]),) * 2 for name in ("max_num_seqs", "max_num_batched_tokens") if row[name]}
    block = {"block_size": int(row["block_size"])} if row["block_size"] else {}
    return replace(Engine.named(row["engine"]), **set_by_user, **block)


def predicted(row: Row) -> EngineCapacity:
    model = Transformer.named(row["model"])
    scenario = Scenario(
        row["device"],
        model,
        precision(row, model),
        devices=float(row["devices"]),
        pipeline=float(row["pipeline"]),
        memory_utilization=float(row["utilization"]),
    )
    return engine_capacity(scenario, engine(row))


def from_terms() -> Iterator[tuple[str, float, float]]:
    """Row, KV GiB printed, and the sum of the terms printed beside it."""
    for row in rows():
        if terms := printed_terms(row):
            yield row["row"], float(row["kv_gib"]), float(kv_capacity(*terms))


def from_model() -> Iterator[tuple[str, float, float, EngineCapacity, Row]]:
    """Row, tokens printed (GiB where none are), the same predicted, and all that was predicted."""
    for row in rows():
        if row["model"]:
            capacity = predicted(row)
            ours = capacity.tokens if row["tokens"] else capacity.kv_cache / GIB
            yield row["row"], float(row["tokens"] or row["kv_gib"]), float(ours), capacity, row


if __name__ == "__main__":
    show(("row", "printed", "ours", "GiB", "%"), ((n, p, o, o - p, 100 * (o / p - 1)) for n, p, o in from_terms()))
    print()
    t = [(n, p, o, 100 * (o / p - 1), c.weights / GIB, r["weights_gib"], c.activation_peak / GIB, r["activation_gib"], c.runtime / GIB, c.memory / GIB) for n, p, o, c, r in from_model()]
    show(("row", "printed", "ours", "%", "w", "w printed", "peak", "peak printed", "rt", "mem"), t)
    print(median(abs(x[3]) for x in t))
