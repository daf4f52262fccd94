"""The docs say what the package does."""

from __future__ import annotations

from pathlib import Path

import pytest

from roofwidget.reference import pages, reference_table

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("page", pages())
def test_page_is_up_to_date(page: str) -> None:
    assert (DOCS / page).read_text("utf-8") == pages()[page], "run: python -m roofwidget.reference docs"


def test_table_tells_unit_default_range_and_meaning() -> None:
    table = reference_table()
    bandwidth = "| `hbm_bw_gbs` | GB/s | 3,350, *required* | a number from 0.01 to 10,000,000 | Memory bandwidth of"
    assert bandwidth in table
    assert "| `link_gbs` | GB/s | null |" in table
    assert "| `gated_ffn` |  | true | true or false |" in table
