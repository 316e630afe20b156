"""Rows for `holdfast.theory.base.implied`."""

from __future__ import annotations

from fractions import Fraction

from holdfast.theory.base.implied import ThresholdCut
from holdfast.theory.base.intervals import Interval
from tests.theory.rows import Domain, Golden

_HAND = "by hand"
_THIRD = Interval(1 / 3, 0.75)
# Ends that no float is, so that both are rounded.
_INEXACT = 1e-15

GOLDEN = [
    Golden(
        "intersection_implied",
        {"intervals": (Interval(0.25, 0.75), Interval(0.5, 1.0))},
        (0.5, 0.75),
        0,
        _HAND,
    ),
    Golden(
        "linear_implied",
        {"interval": _THIRD, "factor": -1, "offset": 1},
        (0.25, 2 / 3),
        1e-15,
        _HAND,
    ),
    Golden(
        "linear_implied",
        {"interval": Interval(0.25, 0.75), "factor": Fraction(1, 3)},
        (1 / 12, 0.25),
        _INEXACT,
        _HAND,
    ),
    Golden(
        "root_implied",
        {"interval": Interval(0.0625, 2.0)},
        (0.25, 1.4142135623730951),
        1e-15,
        _HAND,
    ),
    Golden("square_implied", {"interval": Interval(-0.5, 0.5)}, (0.0, 0.25), 0, _HAND),
    Golden(
        "difference_implied",
        {"first": Interval(0.5, 0.75), "second": Interval(0.125, 0.25)},
        (0.25, 0.625),
        0,
        _HAND,
    ),
    Golden(
        "conjunction_implied",
        {"first": Interval(0.75, 0.875), "second": Interval(0.5, 0.625)},
        (0.25, 0.625),
        0,
        _HAND,
    ),
    Golden(
        "disjunction_implied",
        {"first": Interval(0.25, 0.375), "second": Interval(0.125, 0.5)},
        (0.25, 0.875),
        0,
        _HAND,
    ),
    Golden(
        "threshold_implied",
        {
            "cut": ThresholdCut(Fraction(5)),
            "released": {
                ThresholdCut(Fraction(3)): Interval(0.5, 0.75),
                ThresholdCut(Fraction(5), strict=True): Interval(0.25, 0.625),
            },
        },
        (0.25, 0.75),
        0,
        _HAND,
    ),
    Golden(
        "quantile_implied",
        {
            "q": Fraction(3, 4),
            "released": {
                ThresholdCut(Fraction(1), strict=True): Interval(0.375, 0.5),
                ThresholdCut(Fraction(2)): Interval(0.25, 0.5),
                ThresholdCut(Fraction(4)): Interval(0.125, 0.25),
            },
        },
        (1.0, 4.0),
        0,
        _HAND,
    ),
    Golden(
        "cuts_implied",
        {"q": Fraction(3, 4), "quantile": Interval(1.0, 2.5)},
        (1.0, 0.0, 0.25, 1.0, 2.5, 1.0, 0.0, 0.25),
        0,
        "by hand: P(f >= 1) >= 1/4, P(f > 5/2) <= 1/4",
        lambda cuts: [(float(cut.constant), cut.strict, *share) for cut, share in cuts.items()],
    ),
    Golden(
        "whole_implied",
        {
            "groups": (
                (Interval(0.25, 0.5), Interval(0.0, 0.25)),
                (Interval(0.5, 0.75), Interval(0.5, 1.0)),
            )
        },
        (0.25, 0.8125),
        0,
        "by hand: 1/2 0 + 1/2 1/2; 1/4 1/4 + 3/4 1",
    ),
]

DOMAINS: dict[str, Domain] = {}
