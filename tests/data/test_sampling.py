"""Rows that came about otherwise: each statistic has its concentration there, or says why not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.data.design import design_of
from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import (
    Clustered,
    DependencyGraph,
    Independent,
    MarkovChain,
    MDependent,
    Sampling,
    clustered,
    declared,
    m_dependent,
    polynomial_tail,
    sub_weibull,
)
from holdfast.data.split import split
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import GroupMean
from holdfast.statistics.statistic import Statistic
from holdfast.statistics.whole import Auc, Kendall, TableFunction, statistic
from holdfast.theory.base.dependence import MOST_ROWS_IN_A_UNIT
from tests.statistics.zoo import CASES, COMPLETE, DESIGN, QUANTILES, parts_of, table

FRAME = table(200)
PUBLIC = Table(COMPLETE, design_of(PolarsSample(FRAME), DESIGN, Clustered("k", sizes="fixed")))
ROWS = FRAME.height
DEPENDENT: list[Sampling] = [
    Clustered("k", sizes="fixed", size=20.0),
    Clustered("k", largest=20),
    m_dependent(4),
    declared(sigma=0.1),
]
CHANGE = statistic(lambda _: 1.0, columns=["x"], bounds=(0, 2), name="c", change=0.01)
SIGMA = statistic(lambda _: 1.0, columns=["x"], bounds=(0, 2), name="s", sigma=0.2)
BOTH = statistic(lambda _: 1.0, columns=["x"], bounds=(0, 2), name="b", sigma=0.2, b=0.1)


def every() -> list[Statistic]:
    texts = [case.question for case in CASES] + [text for text, *_ in QUANTILES]
    parts = [part for text in texts for part in parts_of(bind(text, PUBLIC))]
    return [*{part.text: part for part in parts}.values(), CHANGE, SIGMA, BOTH]


def why_not(question: Statistic, sampling: Sampling) -> str | None:
    """The sentence, where there is no theorem."""
    kind = type(sampling).__name__
    if isinstance(question, Auc) and kind != "Independent":
        return "The interval of an AUC is proved for independent rows"
    if isinstance(question, Kendall) and (kind != "Independent" or question.condition is not None):
        return "is proved for independent rows, all of which have both numbers"
    drawn_units = isinstance(sampling, Clustered) and not sampling.given_sizes
    if isinstance(question, GroupMean) and (drawn_units or kind == "Declared"):
        return "about means of all rows, not of a group"
    if (
        isinstance(question, TableFunction)
        and question.change
        and (drawn_units or kind in ("MDependent", "Declared"))
    ):
        return "declare its sigma= instead"
    return None


@pytest.mark.parametrize("sampling", [Independent(), *DEPENDENT], ids=str)
def test_every_statistic_has_an_interval_or_says_why_not(sampling: Sampling) -> None:
    for question in every():
        words = why_not(question, sampling)
        if words is not None:
            with pytest.raises(InvalidQuestion, match=words):
                question.concentration(ROWS, sampling)
            continue
        radius = question.concentration(ROWS, sampling).radius(math.log(0.05))
        alone = question.concentration(ROWS, Independent()).radius(math.log(0.05))
        assert radius > 0
        if not isinstance(sampling, Independent) and not isinstance(question, TableFunction):
            assert radius >= alone  # dependence is never for free


def test_a_group_under_each_assumption() -> None:
    question = bind("avg(new) where arm = 'A'", PUBLIC)
    assert isinstance(question, GroupMean)
    size = question.group.size
    expected: dict[Sampling, float] = {
        Independent(): 0.5 / math.sqrt(size),
        Clustered("k", sizes="fixed", size=20.0): 0.5 * math.sqrt(question.group.squares) / size,
        m_dependent(4): 0.5 * math.sqrt(5 / size),
    }
    for sampling, sigma in expected.items():
        assert question.concentration(ROWS, sampling).sigma == pytest.approx(sigma)  # type: ignore[attr-defined]
    small = bind("avg(new) where arm = 'A' and site = 1 and y", PUBLIC)
    assert isinstance(small, GroupMean)
    # No mean of [0, 1] values is further off than this, however few and dependent its rows are.
    assert small.concentration(ROWS, m_dependent(10_000)).sigma == 0.5  # type: ignore[attr-defined]


def test_deviations_are_declared_in_the_statistics_own_unit() -> None:
    for question in (SIGMA, BOTH):
        profile = question.concentration(ROWS, declared(sigma=9.0))
        assert profile.sigma == pytest.approx(0.1)  # type: ignore[attr-defined]
    assert CHANGE.concentration(ROWS, Independent()).sigma == pytest.approx(  # type: ignore[attr-defined]
        0.005 * math.sqrt(ROWS) / 2
    )


# What an argument may be: the first that is refused at either end, and the last that is not.
EDGES: dict[str, tuple[Callable[[Any], object], tuple[Any, ...], tuple[Any, ...]]] = {
    "largest": (
        lambda value: clustered("k", largest=value),
        (0, MOST_ROWS_IN_A_UNIT + 1, 2.5),
        (1, MOST_ROWS_IN_A_UNIT),
    ),
    "size": (lambda value: clustered("k", sizes="fixed", size=value), (0.9, math.nan), (1, 2.5)),
    "units": (lambda value: clustered("k", largest=3, units=value), (0, -1, 1.5), (1, 10**9)),
    "sizes": (lambda value: clustered("k", sizes=value), ("free", ""), ("fixed",)),
    "differences": (
        lambda value: clustered("k", largest=2, differences=value),
        ("between",),
        ("within", None),
    ),
    "differences of units of": (
        lambda value: clustered("k", largest=value, differences="within"),
        (1,),
        (2,),
    ),
    "column": (lambda value: clustered(value, largest=2), ("", None, 3), ("k",)),
    "m": (MDependent, (-1, 0.5), (0, 1)),
    "degree": (DependencyGraph, (-1, 0.5), (0, 1)),
    "contraction": (MarkovChain, (-0.1, 1.0, math.nan), (0.0, 0.999)),
    "scale": (lambda value: sub_weibull(value, 1.0), (0.0, -1.0, math.inf), (1e-9, 9.0)),
    "shape": (lambda value: sub_weibull(1.0, value), (0.0, math.nan), (0.1, 2.0)),
    "order": (lambda value: polynomial_tail(value, 1.0), (0.99, math.nan), (1.0, 4.0)),
    "moment": (lambda value: polynomial_tail(2.0, value), (0.0, math.inf), (1e-9,)),
    "sigma": (lambda value: declared(sigma=value), (0.0, -1.0, math.nan), (1e-9,)),
    "b": (lambda value: declared(sigma=1.0, b=value), (0.0, -1.0, math.nan), (1e-9,)),
    "neighbours": (lambda value: DependencyGraph(value).profile(10), (10,), (9,)),
    "test_size": (lambda value: split(FRAME, value), (0.0, 0.002, 0.998, 1.0), (0.003, 0.997)),
    "random_state": (lambda value: split(FRAME, 0.5, value), (-1, 0.5), (0, 1)),
}


@pytest.mark.parametrize("name", EDGES)
def test_an_argument_is_refused_from_its_edge_on(name: str) -> None:
    make, refused, accepted = EDGES[name]
    for value in accepted:
        make(value)
    for value in refused:
        with pytest.raises(InvalidArgument, match=r"\S"):
            make(value)
