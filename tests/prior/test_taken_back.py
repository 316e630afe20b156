"""Macros are recognised by building them again: what only looks like one is not taken back."""

from __future__ import annotations

import pytest

from holdfast.question import build
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType, Op, Operation, text_of
from holdfast.statistics.bind import parts_of
from holdfast.statistics.description import Prior
from holdfast.statistics.spelling import opposite_of

PRIOR = Prior(
    Schema(
        {
            **dict.fromkeys(("b", "other"), ColumnType.BOOLEAN),
            **dict.fromkeys(("x", "y"), ColumnType.FLOAT),
            "k": ColumnType.INTEGER,
        }
    ).declare({"x": (0, 1), "k": (0, 3)})
)
SHARE, LABEL = "clip(y, 0, {})", "b"


def squared(share: str, outcome: str) -> str:
    return f"avg(coalesce(abs({share} - {outcome}) * abs({share} - {outcome}), 1))"


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("brier(y, b)", "brier(y, b)"),
        ("brier(x, b) where other", "brier(x, b) where other"),
        (squared(SHARE.format(1), LABEL), "brier(y, b)"),
        # A score that was cut by somebody else keeps its cut.
        (squared(SHARE.format(0.5), LABEL), "brier(clip(y, 0, 0.5), b)"),
        ("log_loss(clip(y, 0, 0.5), b)", "log_loss(clip(y, 0, 0.5), b, 0.01)"),
        ("log_loss(y, b)", "log_loss(y, b, 0.01)"),
        ("difference(x, k)", "paired(clip(k, 0, 3), clip(x, 0, 1))"),
        ("difference(b, other) where k = 1", "paired(b, other) where k = 1"),
        ("avg(coalesce(b, 0) - coalesce(other, 0))", "paired(b, other)"),
        (
            "avg(coalesce(x, 1) - coalesce(k, 0))",
            "paired(clip(k, 0, 3), coalesce(clip(x, 0, 1), 1))",
        ),
        ("error(b, other)", "mean(b = other)"),
        ("avg(not coalesce(coalesce(b, other), false))", "mean(coalesce(b, other))"),
    ],
)
def test_macros_are_taken_back(question: str, part: str) -> None:
    assert parts_of(PRIOR.read(question))[0].part.text == part


@pytest.mark.parametrize(
    "question",
    [
        squared(SHARE.format(2), LABEL),  # not a probability
        squared(SHARE.format(1), "clip(x, 0, 1)"),  # not a label
        squared(SHARE.format(1), LABEL).replace(", 1))", ", 0.5))"),  # not the worst
        "avg(coalesce(abs({0} - {1}) * abs({0} - other), 1))".format(SHARE.format(1), LABEL),
        f"avg(coalesce(abs({SHARE.format(1)} - {LABEL}) * abs(x), 1))",
        "avg(x - k)",
        "avg(coalesce(x, 0) - k)",
        "avg(coalesce(x, 0) + coalesce(k, 0))",
        "avg(not b)",
        "avg(not coalesce(b, true))",
        "avg(coalesce(not b, false))",
    ],
)
def test_what_only_looks_like_a_macro_is_a_mean(question: str) -> None:
    (use,) = parts_of(PRIOR.read(question))
    canonical = PRIOR.read(question).text
    assert use.part.kind == "mean"
    assert use.part.text == canonical.replace("avg", "mean", 1)


def test_a_tree_that_the_builder_would_not_make_is_not_taken_back() -> None:
    b = PRIOR.schema.column("b")
    strange = Operation(Op.NOT, (Operation(Op.COALESCE, (b, build.TRUE, build.FALSE)),))
    assert text_of(strange) == "not coalesce(b, true, false)"
    assert opposite_of(strange) is None


def test_a_condition_that_would_leave_no_group_is_not_shared() -> None:
    question = "difference(avg(x) where k = 1, avg(x) where k = 1 and b)"
    contrast, *_ = parts_of(PRIOR.read(question))
    assert contrast.part.text == "contrast(clip(x, 0, 1), b and k = 1, k = 1)"
    assert contrast.part.where is None
    assert contrast.turned
