"""Questions are called as people write them, and only where nothing else is meant."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import holdfast
from holdfast.mechanisms.vector_release import MOST_COORDINATES
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType, Operation
from holdfast.statistics.bind import short_name
from holdfast.statistics.entry import Table
from holdfast.statistics.registry import STATISTICS
from holdfast.statistics.spelling import capped_loss, loss_of
from tests.holdout.tables import opened

BOUNDS = {"delay": (-60, 180), "Other one": (0, 9), "whole": (0, 20), "p": (0, 1)}
ROWS = pl.DataFrame(
    {
        "delay": [float(place % 90) for place in range(600)],
        "Other one": [float(place % 9) for place in range(600)],
        "whole": [place % 20 for place in range(600)],
        "p": [place % 10 / 10 for place in range(600)],
        "late": [place % 3 == 0 for place in range(600)],
        "label": [None if place % 50 == 0 else "ab"[place % 2] for place in range(600)],
        "v7": ["ab"[place % 5 % 2] for place in range(600)],
    }
)


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("avg(delay)", "avg(delay)"),
        ("median(delay)", "median(delay)"),
        ("median(delay) where late", "median(delay) where late"),
        ("quantile(delay, 0.9)", "quantile(delay, 0.9)"),
        ("median(whole)", "median(whole)"),
        ('std("Other one")', 'std("Other one")'),
        ("difference(delay, whole)", "difference(delay, whole)"),
        ("brier(p, late)", "brier(p, late)"),
        ("accuracy(v7, label)", "accuracy(label, v7)"),
        ("mae(delay, whole, 30)", "mae(delay, whole, 30)"),
        ("mse(delay, whole, 30)", "mse(delay, whole, 30)"),
        # What is cut otherwise, or looked for in other steps, is another question.
        ("avg(clip(delay, 0, 60))", "avg(clip(delay, 0, 60))"),
        ("quantile(delay, 0.5, 5)", "quantile(delay, 0.5, 5)"),
        ("avg(delay + 1)", "avg(delay + 1)"),
    ],
)
def test_an_answer_and_its_line_have_the_name(tmp_path: Path, asked: str, name: str) -> None:
    with opened(tmp_path, ROWS, described="exact", schema=BOUNDS) as holdout:
        answer = holdout.ask(asked)
        assert answer.name == name
        assert holdout.ledger.to_text().splitlines()[1].endswith(f"  {name}")
        assert holdout.ask(name).repeated, "the name is the same question"
        assert holdout.ledger.to_dicts()[0]["question"] == answer.question


def test_only_the_declared_range_is_left_out() -> None:
    types = dict.fromkeys(("x", "y"), ColumnType.FLOAT)
    schema = Schema(types, {"x": holdfast.question.bounds.Range(0.0, 9.0)})
    assert short_name("avg(clip(x, 0, 9))", schema) == "avg(x)"
    for kept in ("avg(clip(x, 0, 8))", "avg(clip(y, 0, 9))", "avg(clip(x + y, 0, 9))"):
        assert short_name(kept, schema) == kept


@pytest.mark.parametrize(
    "text",
    [
        "avg(clip(delay, -60, 180) > 180)",  # never, and avg(delay > 180) is not 0
        "avg(whole < 3) where clip(delay, -60, 180) = 180",
        "avg(clip(abs(clip(delay, -60, 180) - whole), 0, 30))",
        "avg(label = 'clip(delay, -60, 180)')",
        "avg(coalesce(whole = 1 or whole = 2, false))",  # no accuracy of `whole = 1 or whole`
        "avg(coalesce(late = late and late, false))",
        "avg(coalesce(clip(delay, -60, 180), 0) - coalesce(clip(p, 0, 1), 0))",  # leaves out no row
        "avg(coalesce(abs(delay - whole) * abs(delay - whole), 1))",  # of no probability
    ],
)
def test_a_name_never_means_another_question(text: str) -> None:
    types = dict.fromkeys(("delay", "p"), ColumnType.FLOAT) | {"whole": ColumnType.INTEGER}
    types |= {"late": ColumnType.BOOLEAN, "label": ColumnType.TEXT}
    ranges = {name: holdfast.question.bounds.Range(*ends) for name, ends in BOUNDS.items()}
    ranges.pop("Other one")
    schema = Schema(types, ranges, never_null=dict.fromkeys(types, False))
    assert short_name(text, schema) == text


def test_a_form_shows_the_arguments_that_must_be_given() -> None:
    most = {"log_loss": 3, "median": 2, "quantile": 3, "rmse": 3}
    for name, entry in STATISTICS.items():
        shown = entry.form.count(",") + 1
        if name.startswith("coordinate"):
            assert entry.arguments == (shown - 1, shown - 2 + MOST_COORDINATES)
        else:
            assert entry.arguments == (shown, most.get(name, shown))


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("label", ["0", "2.5", "whole"])
def test_a_loss_is_known_by_its_text(label: str, power: int) -> None:
    table = Table(Schema({"delay": ColumnType.FLOAT, "whole": ColumnType.INTEGER}))
    values = table.expression("delay"), table.expression(label)
    tree = capped_loss(*values, 30.0, power).source
    assert isinstance(tree, Operation)
    loss = loss_of(tree)
    assert loss is not None
    assert (loss.cap, loss.power) == (30.0, power)
    assert capped_loss(*loss.values, 30.0, power) == capped_loss(*values, 30.0, power)
