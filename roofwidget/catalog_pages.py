"""The pages of docs/ that list the catalog, made from its TOML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from roofwidget import catalog
from roofwidget.hardware import Accelerator
from roofwidget.transformer import Transformer
from roofwidget.units import exact, grouped

FORMATS = ("bf16", "fp16", "fp8", "int8", "fp4", "int4", "fp32")


def accelerators_page() -> str:
    """Every accelerator with its figures and their source."""
    rows = [_accelerator(name, catalog.entry("accelerators", name)) for name in Accelerator.names()]
    head = ["accelerator", *FORMATS, "GB/s", "GB", "link, GB/s one way", "group", "TDP, W", "$/h", "ridge", "source"]
    note = (
        "Peaks are dense TFLOP/s (TOP/s of integers); empty where a chip has no such format. Capacity is what the "
        "device reports. The ridge is that of bf16, or of fp16 where there is none. Figures with ? are not "
        "confirmed by a primary source. Made from `roofwidget/catalog/accelerators.toml` by "
        "`python -m roofwidget.reference docs`."
    )
    return page("Accelerators", note, head, rows)


def _accelerator(name: str, facts: dict[str, Any]) -> list[str]:
    doubt = set(facts.get("unverified", ()))

    def figure(key: str) -> str:
        return "" if key not in facts else exact(facts[key]) + (" ?" if key in doubt else "")

    peaks = [exact(facts["peak_tflops"].get(fmt)) for fmt in FORMATS]
    link = f"{facts['link']}, {figure('link_gbs')}" if "link" in facts else ""
    price = f"{figure('usd_per_hour')} ({facts['price_date']})" if "usd_per_hour" in facts else ""
    sure = "" if "peak_tflops" not in doubt else " (peaks ?)"
    ridge = grouped(Accelerator.named(name).ridge("bf16"))
    held = [figure("bandwidth_gbs"), figure("capacity_gb"), link, figure("group"), figure("tdp_w"), price, ridge]
    return [name + sure, *peaks, *held, facts["source"]]


def transformers_page() -> str:
    """Every transformer with what follows from its dimensions, and their source."""
    rows = [_transformer(name) for name in Transformer.names()]
    head = ["model", "parameters, 10⁹", "active, 10⁹", "layers", "hidden", "heads", "KV heads", "head width",
            "vocabulary", "KV bytes a token, 16 bits", "bytes a weight", "source"]  # fmt: skip
    note = (
        "Counted from the dimensions in `roofwidget/catalog/transformers.toml` by "
        "`python -m roofwidget.reference docs`. Active parameters include embedding and LM head. Heads are those of "
        "the layers with full attention; latent attention has one KV head, its latent."
    )
    return page("Models", note, head, rows)


def _transformer(name: str) -> list[str]:
    model, facts = Transformer.named(name), catalog.entry("transformers", name)
    numbers = (model.layers, model.hidden_dim, model.n_heads, model.n_kv_heads, model.head_dim, model.vocab_size)
    weights = grouped(model.weight_bytes or 2, 4)
    experts = "" if model.expert_weight_bytes is None else f", experts {grouped(model.expert_weight_bytes, 4)}"
    active = grouped(model.active_params / 1e9, 4) if model.active_params != model.params else ""
    sure = " ?" if "unverified" in facts else ""
    size = grouped(model.params / 1e9, 4) + sure
    return [name, size, active, *(grouped(n, 12) for n in numbers),
            grouped(model.kv_bytes_per_token(), 12), weights + experts, facts["source"]]  # fmt: skip


def page(title: str, note: str, head: list[str], rows: Iterable[list[str]]) -> str:
    """A page of one table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    table = "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
    return f"# {title}\n\n{note}\n\n{table}\n"
