"""Options that add to the text of a question, outside Python."""

from __future__ import annotations

import pytest

from holdfast.errors import InvalidArgument
from holdfast.statistics.bind import question_of
from holdfast.statistics.entry import Call, TableCall


def test_options_add_to_the_text() -> None:
    call = question_of("avg(x)", where="y > 1", bounds=(-1.0, 1000.0))
    assert isinstance(call, Call)
    assert (call.arguments, call.where, call.bounds) == (("x",), "y > 1", (-1.0, 1000.0))
    groups = question_of("avg(x) where y > 1", by=["site"], bounds=(0.0, 1.0))
    assert isinstance(groups, TableCall)
    assert (groups.by, groups.where, groups.bounds) == (("site",), "y > 1", (0.0, 1.0))
    bins = question_of("histogram(x, 0, 1)", where="y > 1")
    assert isinstance(bins, TableCall)
    assert bins.where == "y > 1"
    judged = question_of("difference(a, b)", better="lower")
    assert isinstance(judged, Call)
    assert judged.better == "lower"
    with pytest.raises(InvalidArgument, match="without by="):
        question_of("avg(x, variance <= 2)", by=["site"])


ASSUMING = [
    "avg(x, variance <= 2)",
    "avg(x, sigma = 2)",
    "avg(x, sigma = 2, b = 1)",
    "catoni(x, 4)",
    "mse(p, y, kappa = 6)",
]


@pytest.mark.parametrize(
    "text", [*ASSUMING, *(f"difference(avg(y), {each})" for each in ASSUMING[:3])]
)
def test_a_stranger_assumes_nothing_of_the_rows(text: str) -> None:
    question_of(text)
    with pytest.raises(InvalidArgument, match="assumes something of the rows"):
        question_of(text, trusted=False)


def test_a_stranger_asks_what_assumes_nothing() -> None:
    for text in ("avg(x)", "avg(x) by site", "mse(p, y, 3)", "difference(avg(y), avg(x))"):
        question_of(text, trusted=False)
