"""Rows that came about otherwise: each statistic has its concentration there, or says why not."""

from __future__ import annotations

import math

import pytest

from holdfast.data.design import design_of
from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Clustered, Independent, Sampling, declared, m_dependent
from holdfast.errors import InvalidQuestion
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import GroupMean
from holdfast.statistics.statistic import Statistic
from holdfast.statistics.whole import Auc, Kendall, TableFunction, statistic
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
