"""Claims that are played: where they begin, to the last digit."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Table
from holdfast.statistics.player import Side, Verb, play_of

TABLE = Table(Schema({"late": ColumnType.BOOLEAN}))


def claimed(bound: float, side: Side, verb: Verb) -> tuple[float, float]:
    """What a claim of one side of a share is put as."""
    question = bind("avg(late)", TABLE)
    (part,) = next(play_of(question, bound, 0.05, once=True, side=side, verb=verb))
    assert part.claim is not None
    return part.claim


@pytest.mark.parametrize("bound", [0.25, 0.3, 0.7])
def test_a_check_is_about_its_bound_and_a_gate_about_what_is_beyond(bound: float) -> None:
    """In [0, 1] a bound is its own place: the next double is the least that is surely beyond."""
    assert claimed(bound, "at least", "check") == (bound, 1.0)
    assert claimed(bound, "at least", "gate") == (math.nextafter(bound, 1.0), 1.0)
    assert claimed(bound, "at most", "check") == (0.0, bound)
    assert claimed(bound, "at most", "gate") == (0.0, math.nextafter(bound, 0.0))
    assert Fraction(claimed(bound, "at least", "gate")[0]) > Fraction(bound)
