"""The longest and the shortest of several answers, in expectation: order statistics.

Of n independent lengths with distribution F on the whole numbers from 1, the longest is

    E[max] = Σ over k ≥ 0 of 1 − F(k)ⁿ        (David and Nagaraja, "Order Statistics", 3rd ed., §3.1)

and the shortest Σ (1 − F(k))ⁿ. A shape that has a closed form is given by it; sums that would have very many terms
are cut by the Euler–Maclaurin formula where what is left of them is smooth. `mean` and `count` broadcast.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from roofwidget.validation import Numbers

Floats = NDArray[np.float64]

EULER = 0.5772156649015329
TOP = 10
"""Terms of the uniform sum that are taken one by one; the rest of it is smooth to 1e-9."""
STEEP = 0.2
"""Decay of a geometric tail above which its sum is taken term by term; below, it is smooth to 1e-6."""
NODES = np.arange(-9.0, 12.0, 0.1)
"""Where the normal density is sampled: the trapezoidal rule converges faster than any power there."""
MANY = 100_000
"""Terms up to which a sum over a list is taken as it stands; above, it is read off a polynomial in ln n, to 1e-8."""
DEGREE = 100


def uniform_longest(mean: Numbers, count: Numbers) -> Floats:
    """Longest of `count` lengths uniform on 1 … N, N = 2·mean − 1 whole: N − Σ from k = 1 to N − 1 of (k/N)ⁿ.

    The highest terms are summed as they stand, those up to a = N − 10 by Euler–Maclaurin:
    (a/N)ⁿ · (a/(n + 1) + 1/2 + n/12a − n(n − 1)(n − 2)/720a³).
    """
    m, n = np.asarray(mean, np.float64), np.asarray(count, np.float64)
    top = 2 * m - 1
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.minimum(np.arange(1.0, TOP) / top[..., None], 1))
    below = np.exp(n[..., None] * logs).sum(-1)
    a = np.maximum(top - TOP, 1)
    smooth = a / (n + 1) + 0.5 + (n > 1) * n / 12 / a - (n > 3) * n * (n - 1) * (n - 2) / 720 / a / a / a
    return np.asarray(top - below - np.where(top > TOP, np.exp(n * np.log(a / top)) * smooth, 0))


def geometric_longest(mean: Numbers, count: Numbers) -> Floats:
    """Longest of `count` geometric lengths: Σ of 1 − (1 − qᵏ)ⁿ, q = 1 − 1/mean.

    A long tail is nearly exponential, and its sum H_n/λ + 1/2 with λ = −ln q (Eisenberg 2008, "On the expectation of
    the maximum of IID geometric random variables", Statistics & Probability Letters 78; the term in λ³ is what
    Euler–Maclaurin adds for two and for three). Of one it falls short of the mean by λ/12: take at least the mean.
    """
    m, n = np.asarray(mean, np.float64), np.asarray(count, np.float64)
    with np.errstate(divide="ignore"):
        decay = -np.log1p(-1 / m)
    gentle = np.minimum(decay, STEEP)
    longest = harmonic(n) / gentle + 0.5 + ((n == 2) * 1.0 - (n == 3)) * gentle**3 / 120
    if (decay > STEEP).any():
        longest = np.where(decay > STEEP, _geometric_sum(np.maximum(decay, STEEP), n), longest)
    return np.asarray(longest)


def _geometric_sum(decay: Floats, n: Floats) -> Floats:
    """1 for k = 0, then term by term until what is left is below 1e-13."""
    last = math.ceil((math.log(float(n.max())) + 30) / float(decay.min()))
    tail = np.exp(-decay[..., None] * np.arange(1.0, last + 1))
    return np.asarray(1 - np.expm1(n[..., None] * np.log1p(-tail)).sum(-1))


def geometric_shortest(mean: Numbers, count: Numbers) -> Floats:
    """Shortest of `count` geometric lengths: Σ of qᵏⁿ = 1 / (1 − qⁿ)."""
    m, n = np.asarray(mean, np.float64), np.asarray(count, np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(-1 / np.expm1(n * np.log1p(-1 / m)))


def lognormal_longest(spread: Numbers, count: Numbers) -> Floats:
    """Longest of `count` lognormal numbers of mean 1 and coefficient of variation `spread`: ∫ x n Fⁿ⁻¹ dF."""
    return _lognormal_extreme(spread, count, 0)


def lognormal_shortest(spread: Numbers, count: Numbers) -> Floats:
    """Shortest of `count` lognormal numbers of mean 1 and coefficient of variation `spread`: ∫ x n (1 − F)ⁿ⁻¹ dF."""
    return _lognormal_extreme(spread, count, 1)


def _lognormal_extreme(spread: Numbers, count: Numbers, side: int) -> Floats:
    """∫ of e^(σz − σ²/2) over n·φ(z)·Φ(±z)ⁿ⁻¹ dz, σ² = ln(1 + spread²)."""
    n = np.asarray(count, np.float64)
    variance = np.log1p(np.square(np.asarray(spread, np.float64)))[..., None]
    value = np.exp(np.sqrt(variance) * NODES - variance / 2)
    density, log_below = _normal()[0], _normal()[1 + side]
    weight = np.exp((n[..., None] - 1) * log_below)
    weighed = weight @ (value * density) if value.ndim == 1 else (weight * value) @ density
    return np.asarray(n * weighed)


@cache
def _normal() -> tuple[Floats, Floats, Floats]:
    """φ(z)·dz, ln Φ(z) and ln Φ(−z) at the nodes."""
    density = np.exp(-(NODES**2) / 2) / math.sqrt(2 * math.pi) * (NODES[1] - NODES[0])
    return density, np.array([log_normal_cdf(z) for z in NODES]), np.array([log_normal_cdf(-z) for z in NODES])


def log_normal_cdf(z: float) -> float:
    """Logarithm of Φ(z), as exact far above 0 as below."""
    tail = math.erfc(abs(z) / math.sqrt(2)) / 2
    return math.log1p(-tail) if z > 0 else math.log(tail)


def harmonic(n: Numbers) -> Floats:
    """Harmonic number H_n = 1 + 1/2 + … + 1/n: the asymptotic series for H_(n+8), less the eight terms."""
    n = np.asarray(n, np.float64)
    x = n + 8
    series = np.log(x) + EULER + 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)
    return np.asarray(series - sum(1 / (n + i) for i in range(1, 9)))


class Listed:
    """Values that are each as likely, such as measured ones.

    Parameters
    ----------
    values
        At least one number of at least 0.
    """

    def __init__(self, values: Floats) -> None:
        levels, times = np.unique(values, return_counts=True)
        self.low, self.high = float(levels[0]), float(levels[-1])
        self.variation = float(np.std(values) / np.mean(values))
        self._gaps = np.diff(levels)
        self._below = np.cumsum(times)[:-1] / len(values)
        self._curves: dict[str, np.polynomial.Chebyshev] = {}

    def longest(self, count: Numbers) -> Floats:
        """Longest of `count`: the highest value less Σ over the steps between values of step · Fⁿ."""
        return self.high - self._sum("below", np.log(self._below), count)

    def shortest(self, count: Numbers) -> Floats:
        """Shortest of `count`: the lowest value and Σ over the steps between values of step · (1 − F)ⁿ."""
        return self.low + self._sum("above", np.log1p(-self._below), count)

    def _sum(self, side: str, logs: Floats, count: Numbers) -> Floats:
        n = np.asarray(count, np.float64)
        if n.size * logs.size <= MANY:
            return np.asarray(np.exp(n[..., None] * logs) @ self._gaps)
        if side not in self._curves:
            end = math.log(40 / -logs.max())  # beyond it nothing is left of the sum
            self._curves[side] = np.polynomial.Chebyshev.interpolate(
                lambda t: np.exp(np.exp(t)[:, None] * logs) @ self._gaps, DEGREE, [0, end]
            )
        curve = self._curves[side]
        t = np.log(n)
        return np.where(t < curve.domain[1], np.maximum(curve(np.minimum(t, curve.domain[1])), 0), 0)
