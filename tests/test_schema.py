"""Both schemas, against the standard and against what infer does."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mission import MISSION
from strategies import CHOICES, COUNTS, NULLABLE, PRESETS, SIZES, SWITCHES, between, requests

from roofwidget import ParameterError, infer, request_schema, response_schema

REQUEST = Draft202012Validator(request_schema())
RESPONSE = Draft202012Validator(response_schema())

# Every field alone is free to take its whole range here: small dimensions, many parameters, and a head
# width of its own so that hidden_dim need not be a multiple of anything.
ROOMY = MISSION | {
    **{"params_b": 1e5, "hidden_dim": 8, "layers": 1, "n_heads": 1, "n_kv_heads": 1, "head_dim": 2, "devices": 1},
    **{"link_gbs": 1.0, "vocab_size": 8, "output_tokens": 1, "gated_ffn": True, "tied_embeddings": False},
    **{"kv_bytes": 2, "activation_bytes": 2, "memory_utilization": 0.9},
}


@pytest.mark.parametrize("schema", [request_schema(), response_schema()], ids=["request", "response"])
def test_is_a_schema(schema):
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema, allow_nan=False)) == schema


def test_request_of_the_mission():
    REQUEST.validate(MISSION)
    RESPONSE.validate(infer(MISSION))


def test_ranges_and_defaults():
    fields = request_schema()["properties"]
    for name, (low, high) in (COUNTS | SIZES).items():
        assert (fields[name]["minimum"], fields[name]["maximum"]) == (low, high)
        kind = "integer" if name in COUNTS else "number"
        assert fields[name]["type"] == ([kind, "null"] if name in NULLABLE else kind)
    assert all(fields[name]["type"] == "boolean" for name in SWITCHES)
    assert all(fields[name]["type"] == "boolean" for name in SWITCHES)
    assert set(fields) == {*COUNTS, *SIZES, *SWITCHES, *CHOICES, *PRESETS}
    assert all("default" in fields[name] for name in set(fields) - set(MISSION))


def test_every_field_is_described():
    assert all(len(field["description"]) > 10 for field in request_schema()["properties"].values())


def test_defaults_are_the_values_it_takes():
    defaults = {name: f["default"] for name, f in request_schema()["properties"].items() if "default" in f}
    assert infer(MISSION | defaults) == infer(MISSION)


@given(requests())
@settings(max_examples=25)
def test_requests_and_their_answers(request):
    REQUEST.validate(request)
    RESPONSE.validate(infer(request))


@pytest.mark.parametrize("part", ["inputs", "outputs", "batch_curve", "nodes"])
def test_the_response_schema_misses_nothing(part):
    answer = infer(MISSION)
    assert not RESPONSE.is_valid({name: value for name, value in answer.items() if name != part})
    assert not RESPONSE.is_valid(answer | {"more": 1})


# JSON has neither NaN nor infinity.
JSON_VALUES = (
    st.none()
    | st.booleans()
    | st.text(max_size=5)
    | st.integers(-(10**12), 10**12)
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([1.0, 4096.0, 0.5, 2.5, 1e18, -0.0, 10**30])
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(st.text(max_size=2), st.integers(), max_size=2)
)


def faults(request):
    try:
        infer(request)
    except ParameterError as error:
        return list(error.faults)
    return []


@pytest.mark.parametrize("name", [*COUNTS, *SIZES, *SWITCHES])
@given(st.data())
@settings(max_examples=40)
def test_refuses_a_field_exactly_where_infer_does(name, data):
    ends = (COUNTS | SIZES).get(name, (1, 2))
    near = between(*ends) | st.sampled_from([*ends, ends[0] - 1, ends[1] + 1]) | between(*ends).map(round)
    value = data.draw(JSON_VALUES | near)
    request = ROOMY | {name: value}
    if name in ("n_kv_heads", "devices") and REQUEST.is_valid(request):
        request["n_heads"] = value  # which they must divide
    if name == "pipeline" and REQUEST.is_valid(request):
        request |= {"layers": value, "params_b": 10_000}  # of which each stage needs one
    if name == "prefix_tokens" and REQUEST.is_valid(request):
        request["seq_len"] = 100_000_000  # than which it must be shorter
        value = request[name] = None if value == 100_000_000 else value
    if name == "block_size" and REQUEST.is_valid(request) and math.log2(value) % 1:
        return  # blocks are powers of two, which JSON Schema cannot say
    assert faults(request) == ([] if REQUEST.is_valid(request) else [name])


@pytest.mark.parametrize("name", MISSION)
def test_refuses_a_request_without_a_required_field(name):
    assert not REQUEST.is_valid({key: value for key, value in MISSION.items() if key != name})


def test_refuses_a_field_that_is_unknown():
    assert not REQUEST.is_valid(MISSION | {"bacth": 1})
