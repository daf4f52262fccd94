"""The catalog's transformers, against what their publishers say."""

import math

import pytest
from published_models import PUBLISHED

from roofwidget import Scenario, Transformer, catalog, evaluate

NAMES = Transformer.names()
WITH_ACTIVE = [name for name in NAMES if name in PUBLISHED and PUBLISHED[name].active]


def test_every_model_has_published_figures():
    assert len(NAMES) >= 50
    assert set(PUBLISHED) == set(NAMES)
    assert all(len(published.source) > 10 for published in PUBLISHED.values())


@pytest.mark.parametrize("name", NAMES)
def test_total_is_that_published(name):
    assert Transformer.named(name).params == pytest.approx(PUBLISHED[name].total, rel=0.01)


def rounding(printed):
    """Half a unit of the last digit of a figure in billions, or 1 % of it."""
    decimals = len(printed.partition(".")[2])
    return max(0.5 * 10**-decimals, 0.01 * float(printed))


@pytest.mark.parametrize("name", WITH_ACTIVE)
def test_active_parameters_are_those_published(name):
    model, published = Transformer.named(name), PUBLISHED[name]
    counted = model.active_params - published.leaves_out * model.vocab_size * model.hidden_dim
    assert counted / 1e9 == pytest.approx(float(published.active), abs=max(rounding(published.active), published.off))


@pytest.mark.parametrize("name", NAMES)
def test_only_mixtures_leave_parameters_out(name):
    """All parameters are active but experts, and those that no matrix product reads."""
    model = Transformer.named(name)
    if PUBLISHED[name].active is None:
        assert model.active_params == pytest.approx(model.params - model.more_params)
    else:
        assert model.active_params < 0.3 * model.params


@pytest.mark.parametrize("name", NAMES)
def test_kv_bytes_are_those_of_its_dimensions(name):
    assert Transformer.named(name).kv_bytes_per_token() == PUBLISHED[name].kv_bytes_per_token


@pytest.mark.parametrize("name", NAMES)
def test_entry_says_where_it_is_from(name):
    entry = catalog.entry("transformers", name)
    assert len(entry["source"]) > 20
    assert entry.keys() <= {"config", "source", "unverified"}
    assert set(entry.get("unverified", [])) <= {"config"}


@pytest.mark.parametrize("name", NAMES)
def test_model_can_be_served(name):
    tpot = evaluate(Scenario("H200 SXM", name)).tpot
    assert math.isfinite(tpot)
    assert tpot > 0
