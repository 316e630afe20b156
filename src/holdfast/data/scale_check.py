"""Declared scales against training rows: what other rows say of a sigma that nobody can prove."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from holdfast.data.learning import finite_numbers
from holdfast.data.sample import Sample
from holdfast.question.expression import ValueKind
from holdfast.question.scale import Scale
from holdfast.theory.base.unbounded import mean_square_log_p, scaled_tail

__all__ = ["implausible_scales"]

_LOG_LEVEL = math.log(1e-6)  # of a false alarm, for each column and test


def implausible_scales(training: Sample, scales: Mapping[str, Scale]) -> Iterator[str]:
    """One sentence for each declared scale that the training rows contradict.

    They are taken to be independent and of one population; what they say of it may be told, since
    they are not protected.
    """
    for column, scale in scales.items():
        kind = training.types.get(column)
        if kind is None or kind.kind is not ValueKind.NUMBER:
            continue
        numbers = finite_numbers(training, column)
        evidence = _too_large(numbers, scale) if numbers.size > 1 else None
        if evidence is not None:
            yield (
                f"column {column!r} is declared with {scale.text}, and of {numbers.size:,} "
                f"training rows {evidence}: if the protected rows are like them, intervals that "
                "rest on this scale may be false; declare a larger one."
            )


def _too_large(numbers: NDArray[np.float64], scale: Scale) -> str | None:
    """What is seen that a value of this scale shows once in a million times at most."""
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = float(np.var(numbers / scale.sigma))  # no number where doubles overflow
    squares = math.isfinite(ratio) and scale.b is None
    if squares and mean_square_log_p(numbers.size, ratio) <= _LOG_LEVEL:
        return f"the standard deviation is {math.sqrt(ratio) * scale.sigma:,.4g}"
    # Two rows that are further apart than 2a: one of them is further than a from its expectation.
    apart = float(numbers.max() / 2 - numbers.min() / 2)
    most = scaled_tail(scale.sigma, scale.b).radius(_LOG_LEVEL - math.log(numbers.size))
    return f"two are {2 * apart:,.4g} apart" if apart > most else None
