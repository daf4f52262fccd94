"""KV capacity against what engines printed at start-up: from the terms they print, and from model and device alone.

`data/kv_capacity.csv` has the logs, each with its source; memory is what the engine says it sees.
A row without a model is for the first step only.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from table import show

from roofwidget import Precision, Scenario, Transformer
from roofwidget.roofline.capacity import GIB, Engine, EngineCapacity, engine_capacity, kv_capacity

DATA = Path(__file__).parent / "data" / "kv_capacity.csv"
EMBEDDING_BYTES = 2.0
"""Quantised checkpoints keep embedding and LM head in 16 bits."""
ROUNDING = 0.025
"""GiB that a sum of four terms may be off a fifth where all are printed to two decimals."""
OUTLIER = 10.0
"""Error, %, from which a row is explained."""

WHY = {
    "gpt-oss-120b, H100": "for its MXFP4 kernels vLLM pads the experts from 2,880 to 3,072, one side of each matrix by "
    "the sum: 64.4 GiB of weights where the checkpoint has 60.7 (gpt-oss-20b: 13.5 for 12.8). Little is left beside "
    "them, so that halves it.",
    "Llama-4-Scout FP8, 2 H100": "it is served with its vision tower, which the text model has not, and start-up also "
    "runs the largest images through it; the source prints no term, so how they share 2.3 GiB (more, if the shared "
    "experts are in 8 bits too) is not known.",
    "Llama-2-70B, 4 A100, PR 2031": "this change first counted what NCCL holds outside PyTorch, 13 GiB a device by the "
    "blocks it cost; the release before it did not count it, and is within 1 %.",
    "bonito (Mistral-7B), A10G": "0.3 measured what the allocator had reserved, not what was live at the peak; after a "
    "prompt of 32,768 tokens the two may differ by the 0.6 GiB missing. Likely, not shown: the log prints no terms.",
    "Qwen3-235B FP8, 4 H100": "1.9 GiB more is taken than four devices take elsewhere, and SGLang lacks 1.6 GiB on the "
    "same machine: so it is outside activations, likely NCCL's buffers (SGLang PR 11716 prints 2.0 GiB on eight H200).",
    "tokens of R1-Distill-Qwen-14B, 2 RTX 4090": "the printed 8.69 GiB are those of the rank that samples nothing; the "
    "tokens are those of the other, whose sampler needs 1.2 GiB more, and the smaller counts.",
}
LEFT_OUT = """\
Of the 67 rows collected for this, 10 are no start-up logs. Of the 57 logs 25 are left out: 16 print no utilisation,
6 name no model or one that is not in the catalog, 3 name no version or device. Six of the rest name no model, version
or split of devices, and are only in the first step. Four logs of SGLang and two of vLLM were added."""

Row = dict[str, str]


@dataclass(frozen=True)
class Compared:
    """What a log printed and what comes out here; GiB, or tokens."""

    name: str
    printed: float
    ours: float

    @property
    def error(self) -> float:
        """Of what was printed, %."""
        return 100 * (self.ours - self.printed) / abs(self.printed)


def rows() -> list[Row]:
    with DATA.open(newline="") as file:
        return list(csv.DictReader(file))


def printed_terms(row: Row) -> list[float] | None:
    """Memory, utilisation and what is taken of it, GiB; None where the log lacks one."""
    names = ("memory_gib", "utilization", "weights_gib", "activation_gib", "runtime_gib")
    return [float(row[name]) for name in names] if all(row[name] for name in (*names, "kv_gib")) else None


def precision(row: Row, model: Transformer) -> Precision:
    """As the checkpoint is stored: quantised as row or configuration say, but embedding and LM head."""
    layers = float(row["weight_bytes"] or model.weight_bytes or EMBEDDING_BYTES)
    experts = row["expert_weight_bytes"] or model.expert_weight_bytes
    routed = sum(block.layers * block.expert_params(model.hidden_dim) for block in model.blocks)
    rest = model.params - (routed if experts else 0.0)
    mean = layers + (EMBEDDING_BYTES - layers) * model.embedding_params / rest
    return Precision(weight_bytes=mean, expert_weight_bytes=float(experts) if experts else None)


def engine(row: Row) -> Engine:
    """The row's engine, with what its user set."""
    limits = {name: (float(row[name]),) * 2 for name in ("max_num_seqs", "max_num_batched_tokens") if row[name]}
    block = {"block_size": int(row["block_size"])} if row["block_size"] else {}
    return replace(Engine.named(row["engine"]), **limits, **block)


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


def from_terms() -> Iterator[Compared]:
    """KV GiB from the terms printed beside them."""
    for row in rows():
        if terms := printed_terms(row):
            yield Compared(row["row"], float(row["kv_gib"]), float(kv_capacity(*terms)))


def from_kv() -> Iterator[Compared]:
    """Tokens from the KV GiB printed beside them."""
    for row in rows():
        if row["model"] and row["kv_gib"] and row["tokens"]:
            capacity = replace(predicted(row), kv_cache=float(row["kv_gib"]) * GIB)
            yield Compared(f"tokens of {row['row']}", float(row["tokens"]), float(capacity.tokens))


def from_model() -> Iterator[tuple[Compared, Row, EngineCapacity]]:
    """Tokens, or GiB where none are printed, from model and device alone."""
    for row in rows():
        if row["model"]:
            capacity = predicted(row)
            ours = capacity.tokens if row["tokens"] else capacity.kv_cache / GIB
            yield Compared(row["row"], float(row["tokens"] or row["kv_gib"]), float(ours)), row, capacity


def middle(compared: list[Compared]) -> str:
    return f"{median(abs(one.error) for one in compared):.2g} % over {len(compared)} rows"


def explain(compared: list[Compared]) -> None:
    for one in compared:
        if abs(one.error) > OUTLIER:
            print(f"- {one.name}, {one.error:+.0f} %: {WHY[one.name]}")
    print()


def main() -> None:
    terms = list(from_terms())
    print("1. From the terms in the log\n")
    show(
        ("KV cache, GiB", "printed", "sum", "GiB off", "% off"),
        ((c.name, c.printed, c.ours, c.ours - c.printed, c.error) for c in terms),
    )
    within = sum(abs(one.error) <= 0.1 for one in terms)
    rounded = sum(abs(one.ours - one.printed) <= ROUNDING for one in terms)
    print(f"\nMedian {middle(terms)}; {within} within 0.1 %, {rounded} within {ROUNDING} GiB, what rounding allows.\n")
    tokens = list(from_kv())
    show(("", "printed", "of printed GiB", "% off"), ((c.name, c.printed, c.ours, c.error) for c in tokens))
    print(f"\nMedian {middle(tokens)}.")
    explain(tokens)

    print("2. From model and device alone (w weights, a activation peak, GiB; * constants were read off this log)\n")
    every = list(from_model())
    show(
        ("tokens, or GiB", "printed", "predicted", "% off", "w printed", "w", "a printed", "a"),
        (
            (
                c.name + "*" * bool(row["read_from"]),
                *(c.printed, c.ours, c.error),
                *(row["weights_gib"], capacity.weights / GIB, row["activation_gib"], capacity.activation_peak / GIB),
            )
            for c, row, capacity in every
        ),
    )
    others = [c for c, row, _ in every if not row["read_from"]]
    print(f"\nMedian {middle([c for c, *_ in every])}; without those marked * {middle(others)}.")
    explain([c for c, *_ in every])
    print(LEFT_OUT)


if __name__ == "__main__":
    main()
