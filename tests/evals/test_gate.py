"""The gate of evaluation loops: submissions, verdicts, and everything that is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import holdfast
from holdfast import evals, trackers
from holdfast.errors import BudgetExhausted, InvalidArgument, Refused
from tests.evals.logs import CHOICE, FILES

N = 600
NAMES = [f"q{number:03}" for number in range(N)]
CATEGORIES = ["math" if number % 2 else "code" for number in range(N)]
MAIN = np.arange(N) % 5 < 3  # right in 60 %
BETTER = MAIN | (np.arange(N) % 5 == 3)  # in 80 %
ALIKE = np.roll(MAIN, 1)  # in 60 %, of other items


@pytest.fixture
def gate(tmp_path: Path) -> holdfast.EvalGate:
    return opened(tmp_path)


def opened(folder: Path, **said: Any) -> holdfast.EvalGate:
    items = pl.DataFrame({"item": NAMES, "category": CATEGORIES})
    usual: dict[str, Any] = {"key": "item", "public": ["category"], "candidates": 20}
    return holdfast.EvalGate(items, ledger=folder / "bench.ledger", **usual | said)


def with_main(gate: holdfast.EvalGate) -> holdfast.EvalGate:
    gate.submit("main", MAIN)
    gate.promote("main")
    return gate


def test_a_candidate_that_is_better_is_promoted(gate: holdfast.EvalGate) -> None:
    with_main(gate)
    gate.submit("v7", BETTER)
    verdict = gate.promote_if_better("v7")
    assert (verdict.promote, verdict.shown, verdict.bound) == (True, True, 0.0)
    assert (verdict.looks, verdict.left, verdict.unmatched) == (1, 19, 0)
    assert gate.incumbent == "v7"
    assert str(verdict) == (
        "promote: v7 is better than main · simultaneous 95 % · look 1, 19 candidates left"
    )
    (line,) = gate.history()
    assert line.receipt == verdict.receipt
    assert line.request.why == "v7 against main"


def test_one_that_is_not_shown_is_not(gate: holdfast.EvalGate) -> None:
    with_main(gate)
    gate.submit("v7", ALIKE)
    verdict = gate.promote_if_better("v7")
    assert (verdict.promote, verdict.shown, verdict.bound) == (False, False, None)
    assert str(verdict).startswith("not shown: that v7 is better than main · simultaneous 95 %")
    assert gate.incumbent == "main"


def test_margins_on_both_sides_of_zero(gate: holdfast.EvalGate) -> None:
    """0.8 against 0.6: more than 0.1 is shown, more than 0.2 is not; 0.6 is not 0.2 below 0.6."""
    with_main(gate)
    gate.submit("v7", BETTER)
    gate.submit("v8", ALIKE)
    wide = gate.compare("v7", min_gain=0.1)
    assert wide.shown
    assert wide.bound == 0.1
    assert wide.claim == "v7 is better than main by more than 0.1"
    assert not gate.compare("v7", "main", 0.2).shown
    loose = gate.compare("v8", no_worse_than=0.3)
    assert loose.shown
    assert loose.bound == -0.3
    assert loose.claim == "v8 is not worse than main by 0.3 or more"
    assert not gate.compare("main", "v7", no_worse_than=0.1).shown


def test_a_verdict_that_was_given_is_free(gate: holdfast.EvalGate) -> None:
    with_main(gate)
    gate.submit("v7", BETTER)
    first, again = gate.compare("v7"), gate.compare("v7", "main")
    assert not first.repeated
    assert again.repeated
    assert (again.looks, again.left, again.receipt) == (1, 19, first.receipt)
    assert "repeated" in str(again)


def test_what_was_confirmed_before_is_shown(gate: holdfast.EvalGate) -> None:
    """A check of the same difference has said more than the gate asks for."""
    with_main(gate)
    gate.submit("v7", BETTER)
    confirmed = gate.holdout.check("difference(v7, main)", guess=0.2, half_width=0.18)
    assert confirmed.status == "confirmed"
    assert gate.compare("v7").shown


@pytest.mark.parametrize(
    "form",
    [
        lambda scores: scores,
        lambda scores: scores.tolist(),
        lambda scores: dict(zip(NAMES, scores.tolist(), strict=True)),
        pl.Series,
        lambda scores: pd.Series(scores, index=pd.Index(NAMES, name="item")),
        lambda scores: pl.DataFrame({"item": NAMES[::-1], "acc": scores[::-1]}),
        lambda scores: pd.DataFrame({"item": NAMES, "acc": scores.astype(float)}),
    ],
)
def test_scores_in_every_form(gate: holdfast.EvalGate, form: Callable[[Any], Any]) -> None:
    with_main(gate)
    gate.submit("v7", form(BETTER))
    assert gate.compare("v7").shown


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_scores_in_files(gate: holdfast.EvalGate, suffix: str, tmp_path: Path) -> None:
    with_main(gate)
    frame = pl.DataFrame({"item": NAMES, "acc": BETTER})
    path = tmp_path / f"v7.{suffix}"
    match suffix:
        case "csv":
            frame.write_csv(path)
        case "parquet":
            frame.write_parquet(path)
        case _:
            frame.write_ndjson(path)
    gate.submit("v7", path)
    assert gate.compare("v7").shown


def test_scores_between_0_and_1_and_in_other_ranges(tmp_path: Path) -> None:
    gate = opened(tmp_path, score=(1, 5))
    gate.submit("main", 1 + 2 * MAIN)
    gate.submit("v7", 3 + 2.0 * BETTER)
    assert gate.compare("v7", "main", min_gain=1.5).shown
    assert not gate.compare("v7", "main", min_gain=2.5).shown
    with pytest.raises(InvalidArgument, match=r"'q000'.*outside \[1, 5\]"):
        gate.submit("v8", np.where(np.arange(N) == 0, 5.5, 2.0))


def test_several_scorers(tmp_path: Path) -> None:
    gate = opened(tmp_path, score={"acc": (0, 1), "style": (1, 5)})
    gate.submit("main", {"acc": MAIN, "style": np.full(N, 2.0)})
    gate.promote("main")
    gate.submit("v7", {"acc": BETTER, "style": np.full(N, 2.0)})
    assert gate.incumbent == "main"
    verdict = gate.promote_if_better("v7")
    assert verdict.promote
    assert verdict.claim == "v7 is better than main on acc"
    assert gate.incumbent == "v7"
    assert not gate.compare("v7", "main", score="style").shown
    with pytest.raises(InvalidArgument, match="no scores of 'style'"):
        gate.submit("v8", {"acc": BETTER})
    with pytest.raises(InvalidArgument, match="score is 'tone', and the gate has 'acc', 'style'"):
        gate.compare("v7", "main", score="tone")


def test_each_category_is_a_look_of_its_own(gate: holdfast.EvalGate) -> None:
    """Better in math alone, by 0.4 of it: of all items 0.2, and in code nothing."""
    with_main(gate)
    math = np.array([category == "math" for category in CATEGORIES])
    gate.submit("v7", np.where(math, True, MAIN))
    found = gate.compare("v7", min_gain=0.25, where="category = 'math'")
    assert found.shown
    assert found.claim == "v7 is better than main by more than 0.25 where category = 'math'"
    assert not gate.compare("v7", where="category = 'code'").shown
    assert not gate.compare("v7", min_gain=0.25).shown
    assert len(gate.history()) == 3
    with pytest.raises(InvalidArgument, match="where is 'category', a text and no condition"):
        gate.compare("v7", where="category")


def test_a_condition_is_nothing_but_a_condition(gate: holdfast.EvalGate) -> None:
    with_main(gate)
    gate.submit("v7", ALIKE)
    with pytest.raises(holdfast.InvalidQuestion):
        gate.compare("v7", where="true) then 1 else 0 end + case when (true")
    assert not gate.history()


def test_logs_of_tools(tmp_path: Path) -> None:
    """Twelve sums are too few to show anything; they are read, matched and compared."""
    items = pl.DataFrame({"id": [f"sum-{number:02}" for number in range(1, 13)]})
    gate = holdfast.EvalGate(items, key="id", score=(0, 1), ledger=tmp_path / "sums.ledger")
    gate.submit("main", FILES / "inspect.eval")
    gate.submit("v2", evals.read(FILES / "inspect-epochs.eval", score="exact"))
    gate.submit("v3", FILES / "inspect-errors.eval", missing="wrong")
    assert not gate.compare("v2", "main").shown
    verdict = gate.compare("v3", "main")
    assert verdict.unmatched == 2
    assert "2 items without a score counted as wrong" in str(verdict)
    with pytest.raises(InvalidArgument, match=r"12 keys \(0, 1, 2, ...\)|the keys that come with"):
        gate.submit("v4", CHOICE, score="acc")


def test_a_log_is_known_by_its_run(tmp_path: Path) -> None:
    """The same run under another name is the same submission: nothing to compare."""
    items = pl.DataFrame({"id": [f"sum-{number:02}" for number in range(1, 13)]})
    gate = holdfast.EvalGate(items, key="id", ledger=tmp_path / "sums.ledger")
    gate.submit("main", FILES / "inspect.eval")
    gate.submit("main", FILES / "inspect.eval")
    gate.submit("copy", FILES / "inspect.eval")
    with pytest.raises(InvalidArgument, match="'copy' and 'main' are one submission"):
        gate.compare("copy", "main")


def test_contents_are_never_compared(gate: holdfast.EvalGate) -> None:
    """Two names with the same scores are two submissions: who submits learns nothing of that."""
    with_main(gate)
    gate.submit("twin", MAIN)
    assert not gate.compare("twin").shown


def test_a_name_means_one_submission(gate: holdfast.EvalGate) -> None:
    gate.submit("v7", BETTER)
    with pytest.raises(InvalidArgument, match="'v7' was submitted before, and nothing says"):
        gate.submit("v7", MAIN)
    gate.submit("v8", BETTER, digest="prompt 8")
    gate.submit("v8", MAIN, digest="prompt 8")  # not looked at
    with pytest.raises(InvalidArgument, match="the name 'v8' is taken"):
        gate.submit("v8", MAIN, digest="prompt 9")


def test_items_without_a_score(gate: holdfast.EvalGate) -> None:
    with_main(gate)
    some = dict(zip(NAMES[:500], BETTER[:500].tolist(), strict=True))
    with pytest.raises(InvalidArgument, match=r"100 keys \('q500', .*have no value"):
        gate.submit("v7", some)
    gate.submit("v7", some | {"q001": None}, missing="wrong")
    verdict = gate.compare("v7", no_worse_than=0.3)
    assert verdict.unmatched == 101
    assert verdict.shown
    with pytest.raises(InvalidArgument, match="for logs and mappings"):
        gate.submit("v8", BETTER, missing="wrong")


def test_what_is_missing_is_the_lowest_score(tmp_path: Path) -> None:
    """Of scores from 1 to 5 the lowest is 1: half of them missing is a loss of 2, not of 2.5."""
    gate = opened(tmp_path, score=(1, 5))
    gate.submit("main", np.full(N, 5.0))
    gate.submit("v7", dict.fromkeys(NAMES[: N // 2], 5.0), missing="wrong")
    assert gate.compare("v7", "main", no_worse_than=2.4).shown
    every = gate.compare("v7", "main", no_worse_than=2.4, where="item is not null")
    assert every.shown
    assert not gate.compare("v7", "main", no_worse_than=1.9).shown


def test_what_is_missing_cannot_count_as_wrong_below_0(tmp_path: Path) -> None:
    gate = opened(tmp_path, score=(-1, 1))
    with pytest.raises(InvalidArgument, match="begins below 0, at -1"):
        gate.submit("v7", {"q000": 0.5}, missing="wrong")


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (BETTER[:-1], "values holds 599 values, and the table has 600 keys"),
        ({"other": 1.0}, "'other'.* is not in column 'item'"),
        (pl.DataFrame({"item": ["q000"] * N, "acc": BETTER}), "more than once with values"),
        (np.where(np.arange(N) == 3, np.nan, 1.0), "'q003'.* has no value"),
        (np.where(np.arange(N) == 3, 0.5, 1.0), "'q003'.* neither 0 nor 1, right nor wrong"),
        (["yes"] * N, "must be numbers, or booleans"),
        ([1, "no"] * (N // 2), "integer and text values"),
        (Path("nothing.eval"), "cannot be read"),
        (7, "values is a int"),
    ],
)
def test_submissions_that_are_refused(gate: holdfast.EvalGate, scores: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        gate.submit("v7", scores)
    assert not gate.holdout.columns


def test_comparisons_that_are_refused(gate: holdfast.EvalGate) -> None:
    gate.submit("main", MAIN)
    refused: list[tuple[str, Callable[[], object]]] = [
        ("no incumbent", lambda: gate.compare("main")),
        ("no incumbent", lambda: gate.promote_if_better("main")),
        ("are one submission", lambda: gate.compare("main", "main")),
        ("'v9' was not submitted here; there is 'main'", lambda: gate.compare("v9", "main")),
        ("'v9' was not submitted", lambda: gate.promote("v9")),
        ("min_gain is -0.1", lambda: gate.compare("main", "v7", -0.1)),
        ("no_worse_than is 0", lambda: gate.compare("main", "v7", no_worse_than=0)),
        ("ask for one of them", lambda: gate.compare("a", "b", 0.1, no_worse_than=0.1)),
    ]
    for words, compare in refused:
        with pytest.raises(InvalidArgument, match=words):
            compare()
    assert not gate.history()


@pytest.mark.parametrize("score", [{}, (1, 0), {"acc": (0, 0)}, "acc", {"": (0, 1)}])
def test_ranges_that_are_none(tmp_path: Path, score: Any) -> None:
    with pytest.raises(InvalidArgument, match="score"):
        opened(tmp_path, score=score)
    assert not list(tmp_path.iterdir())


def test_after_the_last_candidate_it_refuses(tmp_path: Path) -> None:
    gate = with_main(opened(tmp_path, candidates=2))
    for name in ("v1", "v2", "v3"):
        gate.submit(name, ALIKE)
    assert gate.compare("v1").left == 1
    assert gate.compare("v2").left == 0
    with pytest.raises((BudgetExhausted, Refused)):
        gate.compare("v3")


def test_another_process_goes_on(tmp_path: Path) -> None:
    gate = with_main(opened(tmp_path))
    gate.submit("v7", BETTER)
    first = gate.promote_if_better("v7")
    gate.holdout.close()
    again = opened(tmp_path)
    assert again.incumbent == "v7"
    assert again.compare("v7", "main").receipt == first.receipt
    over = holdfast.EvalGate.over(again.holdout)
    over.submit("v8", MAIN)
    assert not over.promote_if_better("v8").promote
    assert "2 compared · incumbent: v7" in repr(over)


def test_a_holdout_without_a_key_has_no_gate(tmp_path: Path) -> None:
    holdout = holdfast.open(pl.DataFrame({"x": [True, False]}), ledger=tmp_path / "x.ledger")
    with pytest.raises(InvalidArgument, match="opened without a key"):
        holdfast.EvalGate.over(holdout).submit("v7", [1, 0])


def test_a_verdict_in_other_forms(gate: holdfast.EvalGate) -> None:
    with_main(gate)
    gate.submit("v|7", BETTER)
    verdict = gate.compare("v|7")
    told: list[dict[str, Any]] = []
    trackers.track(verdict, told.append, name="gate")
    assert (told[0]["status"], told[0]["low"], told[0]["value"]) == ("shown", 0.0, None)
    assert verdict.to_dict()["promote"] is True
    assert "| verdict | **promote** |" in verdict.to_markdown()
    assert "v\\|7 is better" in verdict.to_markdown()
    assert "<b>promote: v|7 is better than main</b>" in verdict._repr_html_()
