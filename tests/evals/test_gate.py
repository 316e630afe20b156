"""The gate of evaluation loops: submissions, verdicts, and everything that is refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import holdfast
from holdfast import evals, trackers
from holdfast.errors import BudgetExhausted, InvalidArgument, Refused, SecondLedger
from holdfast.ledger.audit import audit
from tests.evals.logs import CHOICE, FILES, written_lines

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
        "promote: v7 is better than main · for these items · all answers together 95 % sure · "
        "candidate 1 of 20"
    )
    (line,) = gate.history()
    assert line.receipt == verdict.receipt
    assert line.request.why == "v7 against main"


def test_with_grades_it_says_how_strongly(gate: holdfast.EvalGate, tmp_path: Path) -> None:
    with_main(gate).submit("v7", BETTER)
    gate.submit("v8", ALIKE)
    nothing = gate.compare("v8", grades=True)
    assert (nothing.shown, nothing.adjusted) == (False, None)
    verdict = gate.promote_if_better("v7", grades=True)
    assert verdict.promote
    assert verdict.adjusted == pytest.approx(0.05 / 50)
    assert "· candidate 2 of 20 · adjusted at most 0.001" in str(verdict)
    assert "| strength | adjusted at most 0.001 |" in verdict.to_markdown()
    assert verdict.to_dict()["adjusted"] == verdict.adjusted
    assert all(finding.fine for finding in audit(tmp_path / "bench.ledger"))


def test_one_that_is_not_shown_is_not(gate: holdfast.EvalGate) -> None:
    with_main(gate)
    gate.submit("v7", ALIKE)
    verdict = gate.promote_if_better("v7")
    assert (verdict.promote, verdict.shown, verdict.bound) == (False, False, None)
    assert str(verdict).startswith("not shown: that v7 is better than main · for these items · ")
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
    gate.submit("v2", evals.read(FILES / "inspect-epochs.eval", score="includes"))
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
    with pytest.raises(InvalidArgument, match="'copy' is the run already stored as 'main'"):
        gate.compare("copy", "main")


def test_contents_are_never_compared(gate: holdfast.EvalGate) -> None:
    """Two names with the same scores are two submissions: who submits learns nothing of that."""
    with_main(gate)
    gate.submit("twin", MAIN)
    assert not gate.compare("twin").shown


def test_a_name_means_one_submission(gate: holdfast.EvalGate) -> None:
    gate.submit("v7", BETTER)
    with pytest.raises(InvalidArgument, match="'v7' was submitted before, with other scores"):
        gate.submit("v7", MAIN)
    gate.submit("v8", BETTER, digest="prompt 8")
    gate.submit("v8", MAIN, digest="prompt 8")  # not looked at
    for scores in (MAIN, BETTER):  # whatever they hold
        with pytest.raises(InvalidArgument, match="the name 'v8' is taken"):
            gate.submit("v8", scores, digest="prompt 9")


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


def test_what_an_interrupted_run_did_not_reach_is_counted_once(tmp_path: Path) -> None:
    """Of twelve sums it tried some: the others have no score, however they are left out."""
    items = pl.DataFrame({"id": [f"sum-{number:02}" for number in range(1, 13)]})
    gate = holdfast.EvalGate(items, key="id", ledger=tmp_path / "sums.ledger")
    gate.submit("main", FILES / "inspect.eval")
    scores = evals.read(FILES / "inspect-stopped.eval", partial=True)
    assert len(scores) + len(scores.missing) == 12
    gate.submit("reached", scores, missing="wrong", digest="reached")
    gate.submit("whole", FILES / "inspect-stopped.eval", partial=True, missing="wrong")
    for name in ("reached", "whole"):
        assert gate.compare(name, "main").unmatched == len(scores.missing) > 0


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
        ("is the run already stored as", lambda: gate.compare("main", "main")),
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


def of_scorers(folder: Path, name: str, **scorers: Any) -> Path:
    pl.DataFrame({"item": NAMES, **scorers}).write_csv(folder / f"{name}.csv")
    return folder / f"{name}.csv"


def test_a_model_is_not_better_than_itself_by_another_scorer(
    gate: holdfast.EvalGate, tmp_path: Path
) -> None:
    """One model, whose looser scorer says 80 % where the stricter one says 60 %."""
    path = of_scorers(tmp_path, "main", exact=MAIN, loose=BETTER)
    gate.submit("main", path, score="exact")
    gate.submit("again", path, score="loose")
    with pytest.raises(InvalidArgument, match="'again' has the scorer 'loose', and 'main' has 'ex"):
        gate.compare("again", "main")
    assert not gate.history()


@pytest.mark.parametrize("digest", [None, "weights 7"])
def test_the_scorer_is_part_of_what_a_submission_is_known_by(
    gate: holdfast.EvalGate, tmp_path: Path, digest: str | None
) -> None:
    path = of_scorers(tmp_path, "main", exact=MAIN, loose=BETTER)
    gate.submit("strict", path, digest, score="exact")
    gate.submit("loose", path, digest, score="loose")
    strict, loose = gate.holdout.columns
    assert strict.column != loose.column
    assert (strict.scoring or {})["scorer"] == "exact"
    with pytest.raises(InvalidArgument, match=r"the name 'strict' is taken|in another way"):
        gate.submit("strict", path, digest, score="loose")


def lm_eval_log(folder: Path, task: str, day: int, prefix: str, *, filter: str = "none") -> Path:
    """Scores of twenty docs with bare ids, each with the hash of what it holds."""
    folder.mkdir(exist_ok=True)
    lines = [
        {
            "doc_id": number,
            "metrics": ["acc"],
            "acc": float(number % 2),
            "filter": filter,
            "doc_hash": f"{prefix}{number}",
        }
        for number in range(20)
    ]
    return written_lines(folder / f"samples_{task}_2026-11-{day}T02-54-47.019013.jsonl", *lines)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"task": "history"}, "'v2' has the task 'history', and 'main' has 'algebra'"),
        ({"filter": "strict"}, "'v2' has the filter 'strict', and 'main' has 'none'"),
        ({"prefix": "b"}, "'v2' and 'main' are about different items, by their hashes"),
    ],
)
def test_what_is_of_another_task_or_filter_is_not_compared(
    tmp_path: Path, other: dict[str, Any], said: str
) -> None:
    """Ids from 0 on are everybody's: they are told apart by task, and by what their docs hold."""
    items = pl.DataFrame({"doc_id": range(20)})
    gate = holdfast.EvalGate(items, key="doc_id", ledger=tmp_path / "ids.ledger")
    usual = {"task": "algebra", "prefix": "a"}
    gate.submit("main", lm_eval_log(tmp_path, **usual, day=16))
    gate.submit("v2", lm_eval_log(tmp_path / "other", **usual | other, day=17))
    gate.submit("v3", lm_eval_log(tmp_path, **usual, day=18))
    with pytest.raises(InvalidArgument, match=said):
        gate.compare("v2", "main")
    assert not gate.compare("v3", "main").shown


def test_bare_ids_are_told_from_another_tasks(tmp_path: Path) -> None:
    """Ledgers over the ids 0 to 19 of two tasks are no two ledgers over one table."""
    items = pl.DataFrame({"doc_id": range(20)})

    def opened_for(name: str, **said: Any) -> holdfast.EvalGate:
        return holdfast.EvalGate(items, key="doc_id", ledger=tmp_path / f"{name}.ledger", **said)

    with warnings.catch_warnings():
        warnings.simplefilter("error", SecondLedger)
        opened_for("algebra", task="algebra").holdout.close()
        history = opened_for("history", task="history")
    with pytest.warns(SecondLedger, match=r"algebra\.ledger"):
        opened_for("again", task="algebra")
    with pytest.warns(SecondLedger, match=r"say which: task= \(--task\)"):
        opened_for("unnamed")
    with pytest.raises(InvalidArgument, match="'v1' has the task 'algebra', and the items"):
        history.submit("v1", lm_eval_log(tmp_path, "algebra", 16, "a"))
    assert not history.holdout.columns
    history.holdout.close()
    with pytest.raises(InvalidArgument, match="task is 'algebra', and the ledger"):
        opened_for("history", task="algebra")


def test_a_job_that_is_tried_again_is_the_same_submission(
    gate: holdfast.EvalGate, tmp_path: Path
) -> None:
    """By its name and scores, whatever the run is called: no conflict, and no second look."""
    with_main(gate)
    path = of_scorers(tmp_path, "v7", acc=BETTER)
    gate.submit("v7", path)
    first = gate.compare("v7")
    gate.submit("v7", path)
    again = gate.compare("v7")
    assert (again.repeated, again.looks, again.receipt) == (True, 1, first.receipt)
    with pytest.raises(InvalidArgument, match="'v7' was submitted before, with other scores"):
        gate.submit("v7", of_scorers(tmp_path, "other", acc=MAIN))
    gate.submit("v8", ALIKE)
    gate.submit("v8", ALIKE)
    assert [column.name for column in gate.holdout.columns] == ["main", "v7", "v8"]


def test_a_run_that_is_evaluated_again_with_the_same_scores(tmp_path: Path) -> None:
    items = pl.DataFrame({"doc_id": range(20)})
    gate = holdfast.EvalGate(items, key="doc_id", ledger=tmp_path / "ids.ledger")
    gate.submit("v7", lm_eval_log(tmp_path, "algebra", 16, "a"))
    gate.submit("v7", lm_eval_log(tmp_path, "algebra", 17, "a"))
    (column,) = gate.holdout.columns
    assert column.digest is not None
    assert "2026-11-16" in column.digest


@pytest.mark.parametrize(
    ("said", "holds_for"), [({}, "items like these"), ({"public": ["item"]}, "these items")]
)
def test_a_verdict_says_what_it_holds_for(
    tmp_path: Path, said: dict[str, Any], holds_for: str
) -> None:
    gate = with_main(opened(tmp_path, **{"public": None, **said}))
    gate.submit("v7", BETTER)
    for verdict in (gate.compare("v7"), gate.compare("v7")):
        assert f" · for {holds_for} · " in str(verdict)
        assert verdict.to_dict()["holds_for"] == holds_for
        assert f"| holds for | {holds_for} |" in verdict.to_markdown()


def test_what_is_shown_makes_better_harder_to_show_and_that_is_said_before(tmp_path: Path) -> None:
    """0.024 is shown to be better at first, and no longer after `no_worse_than` was shown."""
    places = np.arange(1_000)
    scores = {"main": places < 13, "v7": (places >= 100) & (places < 137)}

    def gate_of(name: str) -> holdfast.EvalGate:
        items = pl.DataFrame({"item": places})
        made = holdfast.EvalGate(items, key="item", ledger=tmp_path / f"{name}.ledger", task=name)
        for each, right in scores.items():
            made.submit(each, right)
        return made

    better = gate_of("better")
    now, later = better.levels
    assert better.compare("v7", "main").shown
    assert better.levels[0] == pytest.approx(later)
    assert better.compare("v7", "main", no_worse_than=0.02).shown
    worse = gate_of("worse")
    assert worse.compare("v7", "main", no_worse_than=0.02).shown
    assert worse.levels[0] == pytest.approx(later)
    assert later < now / 10
    assert not worse.compare("v7", "main").shown


def test_who_was_promoted_meanwhile_stays(gate: holdfast.EvalGate) -> None:
    """A verdict against one incumbent says nothing of the next; a repeat is the same verdict."""
    with_main(gate)
    gate.submit("v7", BETTER)
    gate.submit("v8", BETTER)
    verdict = gate.compare("v7")
    assert gate.promote_if_better("v8").promote
    with pytest.raises(InvalidArgument, match="and the incumbent is 'v8' by now; compare it with"):
        gate.promote_shown(verdict)
    assert gate.incumbent == "v8"
    again = gate.promote_if_better("v8")
    assert (again.promote, again.repeated, again.incumbent) == (True, True, "main")
    assert len(gate.holdout.promotions) == 2
