"""One device: its numbers, and what is refused."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from roofwidget import Accelerator, ParameterError


def test_ridge_of_each_format():
    # H100: 989.4 and 1,978.9 TFLOP/s over 3.35 TB/s
    h100 = Accelerator.named("H100 SXM")
    assert h100.ridge("bf16") == pytest.approx(295.3, abs=0.1)
    assert h100.ridge("fp8") == pytest.approx(590.7, abs=0.1)


def test_ridge_of_arrays():
    swept = Accelerator({"bf16": np.array([[100.0], [200.0]])}, bandwidth=np.array([10.0, 20.0, 50.0]), capacity=1.0)
    assert swept.ridge("bf16").tolist() == [[10, 5, 2], [20, 10, 4]]


def test_format_it_does_not_compute_in():
    with pytest.raises(ParameterError, match=r"A100 SXM 80GB has no fp8 peak, only bf16") as error:
        Accelerator.named("A100 SXM 80GB").peak("fp8")
    assert list(error.value.faults) == ["compute"]


def test_is_frozen():
    with pytest.raises(FrozenInstanceError):
        Accelerator.named("H100 SXM").bandwidth = 1.0


def test_stores_floats():
    """Whatever is given: integer arithmetic of NumPy wraps."""
    device = Accelerator({"bf16": np.int32(7)}, bandwidth=np.array([1, 2]), capacity=10**30)
    assert isinstance(device.peak("bf16"), float)
    assert device.bandwidth.dtype == np.float64
    assert device.capacity == 1e30


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), "fast", None, True, np.array([1.0, 0.0])])
@pytest.mark.parametrize("field", ["bandwidth", "capacity"])
def test_refuses(field, value):
    with pytest.raises(ParameterError, match=f"^{field} must be a number more than 0, not ") as error:
        Accelerator(**{"peaks": {"bf16": 1.0}, "bandwidth": 1.0, "capacity": 1.0, field: value})
    assert list(error.value.faults) == [field]


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), "fast", None])
def test_refuses_peak(value):
    with pytest.raises(ParameterError, match=r"^peaks\['fp8'\] must be a number more than 0, not "):
        Accelerator({"bf16": 1.0, "fp8": value}, bandwidth=1.0, capacity=1.0)


def test_link_may_be_infinite_but_not_absent():
    assert Accelerator({"bf16": 1.0}, 1.0, 1.0, float("inf")).link_bandwidth == float("inf")
    with pytest.raises(ParameterError, match=r"^link_bandwidth must be"):
        Accelerator({"bf16": 1.0}, 1.0, 1.0, 0)


def test_names_every_fault():
    with pytest.raises(ParameterError) as error:
        Accelerator({"bf16": 1.0}, bandwidth=0, capacity=-1, link_bandwidth=float("nan"))
    assert set(error.value.faults) == {"bandwidth", "capacity", "link_bandwidth"}
