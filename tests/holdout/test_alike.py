"""For which questions rows are alike: not those about values that were made for single keys.

A key names rows and says nothing of them. So the table's own columns, and what one program made for
all rows, are of rows that are alike; what was submitted, row by row, is of these items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import holdfast
from holdfast.errors import InvalidArgument
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.attachments import AttachedColumn
from holdfast.ledger.audit import audit
from holdfast.statistics.mean_events import Share
from tests.ledger.forging import Body, forged
from tests.seam import transcript_of

ROWS, CHANGED, WON = 1_000, 50, 36
PLACE = np.arange(ROWS)
BASE = (PLACE < CHANGED - WON) | (PLACE >= 100)
BETTER = np.where(PLACE < CHANGED, ~BASE, BASE)
TABLE = pl.DataFrame({"item": PLACE, "x": PLACE % 7, "t0": BASE, "t1": BETTER})


def opened(folder: Path, **said: Any) -> Holdout:
    facts = {"key": "item", "candidates": 20, "tolerance": 0.3, **said}
    return holdfast.open(TABLE, ledger=folder / "t.ledger", **facts)


def same(rows: pl.DataFrame) -> pl.Series:
    """What the first column says, whatever other columns are read."""
    return rows[rows.columns[0]].cast(pl.Float64)


def with_columns(holdout: Holdout) -> Holdout:
    """The same two columns from every origin."""
    for place, values in enumerate((BASE, BETTER)):
        holdout.attach(f"scored{place}", values, bounds=bool, digest=f"scores {place}")
        holdout.attach(f"submitted{place}", values)
        made = {
            "own": [f"t{place}"],
            "by_key": [f"t{place}", "item"],
            "of_scored": [f"scored{place}"],
            "of_submitted": [f"submitted{place}"],
            "of_by_key": [f"by_key{place}"],
        }
        for name, columns in made.items():
            function = holdfast.computed(same, columns=columns, bounds=bool)
            holdout.attach(f"{name}{place}", function)
    return holdout


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path) as found:
        yield with_columns(found)


def test_the_sign_test_shows_what_no_bet_can() -> None:
    """Of 50 rows that differ 36 are won: enough for coins, and for no bet on what is unlike."""
    level = 0.03 / 21
    assert binom.sf(WON - 1, CHANGED, 0.5) <= level
    lost = CHANGED - WON
    won_by_the_best_bet = (2 * WON / CHANGED) ** WON * (2 * lost / CHANGED) ** lost
    assert won_by_the_best_bet < 1 / level


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [
        ("t", "t", "shown"),
        ("scored", "scored", "shown"),
        ("own", "own", "shown"),
        ("of_scored", "of_scored", "shown"),
        ("own", "scored", "shown"),
        ("submitted", "submitted", "not shown"),
        ("scored", "submitted", "not shown"),
        ("by_key", "by_key", "not shown"),
        ("t", "by_key", "not shown"),
        ("of_submitted", "of_submitted", "not shown"),
        ("of_by_key", "of_by_key", "not shown"),
    ],
)
def test_which_columns_leave_rows_alike(
    holdout: Holdout, tmp_path: Path, one: str, other: str, status: str
) -> None:
    """Whatever they hold, which is the same; the audit comes to it from the ledger alone."""
    assert holdout.gate(f"difference({one}1, {other}0)", at_least=0).status == status
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


@pytest.mark.parametrize("said", [{"public": ["x"]}, {"public": ["item"]}, {"design": ["x"]}])
def test_where_something_of_the_rows_is_public_nothing_leaves_them_alike(
    tmp_path: Path, said: dict[str, Any]
) -> None:
    with opened(tmp_path, **said) as holdout:
        with_columns(holdout)
        assert holdout.gate("difference(t1, t0)", at_least=0).status == "not shown"
        assert holdout.gate("difference(scored1, scored0)", at_least=0).status == "not shown"


def test_a_condition_on_the_key_is_about_these_items(holdout: Holdout) -> None:
    assert holdout.gate("difference(t1 and item >= 0, t0)", at_least=0).status == "not shown"


def test_every_verb_goes_by_it(tmp_path: Path) -> None:
    """The same share, of alike rows and of others: by Clopper and Pearson, or a little wider."""
    half = {}
    for name in ("scored0", "submitted0"):
        folder = tmp_path / name
        folder.mkdir()
        with opened(folder, mechanism="one look", described="off", questions=1) as holdout:
            with_columns(holdout)
            (answer,) = holdout.ask_many([f"avg({name})"])
            half[name] = answer.half_width
    assert half["scored0"] < half["submitted0"]
    with opened(tmp_path, described="off") as holdout:
        with_columns(holdout)
        alike, unlike = holdout.cost("avg(scored0)"), holdout.cost("avg(submitted0)")
        assert alike.most < unlike.most


def test_a_described_question_about_the_key_is_about_these_items(tmp_path: Path) -> None:
    with opened(tmp_path, described="exact") as holdout:
        for question, expected in (("avg(t0)", True), ("avg(t0 and item < 500)", False)):
            rule = holdout.ask(question).recorded.rule
            assert isinstance(rule, Share)
            assert rule.alike is expected


def test_what_is_assumed_of_scores_is_said(holdout: Holdout) -> None:
    answer = holdout.ask("avg(scored0)")
    for said in (answer.assumes, holdout.explain(), str(holdout.budget)):
        assert "keys (item) carry no information" in said
        assert "the same program scored every row" in said


def test_every_claim_says_what_its_test_is_for(holdout: Holdout) -> None:
    for name in ("scored", "submitted"):
        holdout.gate(f"difference({name}1, {name}0)", at_least=0)
    assert [look.alike for look in transcript_of(holdout).answers] == [True, False]
    told = holdout.explain()
    assert "a test valid for this question rejects everything else, of rows that are alike" in told
    assert "and nothing is claimed, whether rows are alike or not" in told
    theorems = {
        each["name"]: each["answers"] for each in holdout.certificate().to_dict()["theorems"]
    }
    assert theorems["sign_test_log_p"] == 1


def test_one_digest_is_not_of_both_kinds(holdout: Holdout) -> None:
    """Scores that somebody brings are by one program for all rows; this one reads their keys."""
    by_key = holdfast.computed(same, columns=["t0", "item"], bounds=bool, digest="scores 0")
    for name in ("scored0", "other"):
        with pytest.raises(InvalidArgument, match="made for the keys of rows"):
            holdout.attach(name, by_key)


def _attach_of(bodies: list[Body], name: str) -> Body:
    return next(each for each in bodies if each["kind"] == "attach/1" and each["name"] == name)


def _says_alike(bodies: list[Body]) -> None:
    (item,) = next(each for each in bodies if each["kind"] == "reserve/2")["items"]
    item["offer"]["extra"]["alike"] = True


def _submitted_are_keyless(bodies: list[Body]) -> None:
    for place in (0, 1):
        _attach_of(bodies, f"submitted{place}")["keyless"] = True
    _says_alike(bodies)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (_says_alike, "its way of answering is not what follows from the ledger"),
        (_submitted_are_keyless, "chosen for their keys"),
    ],
)
def test_the_audit_finds_rows_that_are_said_to_be_alike(
    holdout: Holdout, tmp_path: Path, change: Callable[[list[Body]], None], fault: str
) -> None:
    holdout.gate("difference(submitted1, submitted0)", at_least=0)
    holdout.close()
    found = forged(tmp_path / "t.ledger", change)
    assert found
    assert any(fault in each for each in found)


def test_an_entry_says_for_whom_values_were_made(holdout: Holdout) -> None:
    found = {column.name: column.keyless for column in holdout.columns}
    assert found["scored0"]
    assert not found["submitted0"]
    assert not found["of_by_key1"]
    for column in holdout.columns:
        body = column.body()
        assert AttachedColumn.read(body).keyless is column.keyless


def test_what_is_revealed_goes_by_it(tmp_path: Path) -> None:
    half = {}
    for name in ("scored0", "submitted0"):
        folder = tmp_path / name
        folder.mkdir()
        with with_columns(opened(folder, described="off")) as holdout:
            half[name] = holdout.end.reveal(f"avg({name})").half_width
        assert all(finding.fine for finding in audit(folder / "t.ledger"))
    assert half["scored0"] < half["submitted0"]
