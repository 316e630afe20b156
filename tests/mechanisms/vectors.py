"""Vectors of many coordinates, and the bins of a histogram."""

from __future__ import annotations

from functools import cache

from holdfast.mechanisms.leakage import Leakage
from holdfast.mechanisms.noise import LAPLACE, NORMAL
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import Question, bind
from holdfast.statistics.entry import Call, Table
from holdfast.statistics.statistic import Statistic
from holdfast.statistics.vectors import coordinate
from tests.mechanisms.fake import independent

NAMES = tuple(f"x{place}" for place in range(100))
TABLE = Table(Schema(dict.fromkeys(NAMES, ColumnType.FLOAT)))
GAUSSIAN, BY_LAPLACE = Leakage("typical gaussian/1", NORMAL), Leakage("typical laplace/1", LAPLACE)

VALUES = [TABLE.expression(name) for name in NAMES]


def read(question: Question) -> Statistic:
    found = bind(question, TABLE)
    assert hasattr(found, "row")
    return found  # type: ignore[return-value]


@cache
def vector(d: int) -> list[Statistic]:
    return [read(coordinate(place, VALUES[:d], bound=1)) for place in range(1, d + 1)]


@cache
def l1_vector(d: int) -> list[Statistic]:
    calls = (Call("coordinate_l1", (place, 1, *VALUES[:d])) for place in range(1, d + 1))
    return [read(each) for each in calls]


@cache
def bins(d: int) -> list[Statistic]:
    return [read(f"avg(x0 >= {place} and x0 < {place + 1})") for place in range(d)]


TERMS = independent(5_000, tolerance=0.1, questions=100)
