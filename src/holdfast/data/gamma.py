"""How a statistic concentrates, declared by whoever asks: families that a ledger can keep.

`sub_gaussian(sigma)` and `sub_exponential(sigma, b)` (`question.scale`), `sub_weibull(scale,
shape)`, `polynomial_tail(order, moment)` and `tail_table([(deviation, log tail), ...])` are what
`gamma=` takes, of a statistic and of a sampling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.question.scale import Scale
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.gamma import PolynomialTail, SubWeibull, TailTable
from holdfast.theory.base.recorded import gamma_text
from holdfast.theory.base.unbounded import scaled_tail

__all__ = ["gamma_of", "polynomial_tail", "sub_weibull", "tail_table"]


def sub_weibull(scale: float, shape: float) -> SubWeibull:
    """P[deviation > a] <= 2 exp(-(a/scale)^shape): shape 2 is sub-Gaussian, below 1 heavy."""
    return SubWeibull(require.positive("scale", scale), require.positive("shape", shape))


def polynomial_tail(order: float, moment: float) -> PolynomialTail:
    """(E |deviation|^order)^(1/order) <= moment, and nothing else is known."""
    return PolynomialTail(require.at_least("order", order, 1), require.positive("moment", moment))


def tail_table(points: Sequence[tuple[float, float]]) -> TailTable:
    """Points (a, l): P[deviation > a] <= e^l, a rising and l falling."""
    return TailTable(tuple(require.items("points", points, "pairs (deviation, log tail)")))


def gamma_of(given: Any) -> Concentration:
    """A concentration from what may say one; refused where a ledger could not keep it."""
    match given:
        case Scale(sigma, b):
            return scaled_tail(sigma, b)
        case list() | tuple():
            return tail_table(given)
    if not hasattr(given, "log_tail") or not hasattr(given, "radius"):
        raise InvalidArgument(
            f"gamma is {repr(given)[:60]}; it must be a family such as holdfast.sub_gaussian(0.01) "
            "or holdfast.sub_weibull(0.1, 0.5), or a table of (radius, log tail)."
        )
    gamma_text(given)
    found: Concentration = given
    return found
