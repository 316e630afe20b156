"""`holdfast.compare`: whatever holds scores, paired item by item, and what is said of bad input."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import holdfast
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.evals import Comparison
from holdfast.theory.direct.paired import paired_score_interval
from tests.evals.logs import CHOICE, FILES, TEXT, changed, changed_lines, written_lines
from tests.theory.coverage import too_many

N = 1_000
ITEMS = [f"q{number:04}" for number in range(N)]
# 48 wins, 17 losses.
BEFORE = [1] * 717 + [0] * 283
AFTER = [1] * 700 + [0] * 17 + [1] * 48 + [0] * 235


def by_item(scores: list[Any]) -> dict[str, Any]:
    return dict(zip(ITEMS, scores, strict=True))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The same two runs as CSV, Parquet and JSON lines."""
    category = [("math", "code")[number % 2] for number in range(N)]
    for name, scores in (("a", BEFORE), ("b", AFTER)):
        frame = pl.DataFrame({"id": ITEMS, "acc": scores, "category": category})
        frame.write_csv(tmp_path / f"{name}.csv")
        frame.write_parquet(tmp_path / f"{name}.parquet")
        frame.write_ndjson(tmp_path / f"{name}.jsonl")
    return tmp_path


def test_the_verdict_is_said_first() -> None:
    found = holdfast.compare(BEFORE, AFTER)
    assert str(found).splitlines() == [
        "B is better: +3.1 points [1.5, 4.9], p = 0.00016, 48 wins, 17 losses of 1,000 items",
        "A: 71.7 %; B: 74.8 %. The difference is B less A, 95 % sure, for items drawn like these.",
        "With this many items a gain of 2.4 points would be seen 4 times in 5.",
        "",
        "This is true of one look. A second look at these items? `--ledger bench` (in Python "
        "`holdfast.EvalGate`) counts it.",
    ]
    assert found.verdict == "better"
    assert found.interval == paired_score_interval(N, 48, 17, math.log(1 - 0.95))
    assert (found.wins, found.losses, found.ties, found.items) == (48, 17, 935, 1_000)
    assert found.difference == pytest.approx(0.031)
    # The exact McNemar test: 2 P[Bin(65, 1/2) >= 48].
    exact = 2 * sum(math.comb(65, wins) for wins in range(48, 66)) / 2**65
    assert found.p == pytest.approx(exact, rel=1e-12)
    worse = holdfast.compare(AFTER, BEFORE)
    assert worse.verdict == "worse"
    assert str(worse).startswith("B is worse: -3.1 points [-4.9, -1.5], p = 0.00016, 17 wins, 48")
    alike = holdfast.compare([0, 1] * 20, [1, 0] * 20)
    assert alike.verdict == "cannot tell"
    assert str(alike).startswith("cannot tell which is better: +0 points [")
    surer = holdfast.compare(BEFORE, AFTER, confidence_level=0.999)
    assert surer.interval.low < found.interval.low


def test_files_and_frames_and_what_is_in_order_say_the_same(files: Path) -> None:
    expected = holdfast.compare(BEFORE, AFTER).overall
    for kind in ("csv", "parquet", "jsonl"):
        assert holdfast.compare(files / f"a.{kind}", files / f"b.{kind}").overall == expected
    assert holdfast.compare(files / "a.csv", files / "b.jsonl").overall == expected
    frames = [pl.read_csv(files / f"{name}.csv") for name in "ab"]
    assert holdfast.compare(*frames).overall == expected
    tables = [frame.to_pandas().sample(frac=1, random_state=7) for frame in frames]
    assert holdfast.compare(*tables).overall == expected
    assert holdfast.compare(*(frame["acc"] for frame in frames)).overall == expected
    series = [table.set_index("id")["acc"] for table in tables]
    assert holdfast.compare(*series).overall == expected
    assert holdfast.compare(np.array(BEFORE), np.array(AFTER) == 1).overall == expected
    assert holdfast.compare(by_item(BEFORE), pd.Series(by_item(AFTER))).overall == expected
    both = frames[0].with_columns(new=frames[1]["acc"])
    assert holdfast.compare(both, both, score=("acc", "new")).overall == expected
    assert holdfast.compare(both["acc"], both["new"]).overall == expected


def test_ids_that_are_numbers_here_and_text_there() -> None:
    numbers = dict(enumerate(BEFORE))
    texts = {str(number): score for number, score in enumerate(AFTER)}
    assert holdfast.compare(numbers, texts).wins == 48


def test_two_logs_of_inspect() -> None:
    """Real ones: an item that ended in an error has no score."""
    found = holdfast.compare(FILES / "inspect.eval", FILES / "inspect-errors.eval", by="category")
    assert found.b.missing == ("sum-05", "sum-09")
    assert "Without a score in B, and counted as wrong: 2 items ('sum-05', 'sum-09')." in str(found)
    assert (found.items, found.wins, found.losses) == (12, 2, 2)
    assert [each.category for each in found.categories] == ["even", "odd"]
    assert sum(each.items for each in found.categories) == 12


def test_epochs_are_averaged_by_item_and_said(tmp_path: Path) -> None:
    paths = FILES / "inspect.eval", FILES / "inspect-epochs.eval"
    found = holdfast.compare(*paths, score="includes")
    assert found.graded
    assert (found.a.epochs, found.b.epochs) == (1, 2)
    assert "Several runs of an item were averaged first: up to 1 in A, 2 in B." in str(found)
    uneven = tmp_path / "uneven.csv"  # no declaration: an item's own tries are averaged
    uneven.write_text("id,epoch,acc\na,1,1\na,2,0\na,3,0\nb,1,1\nc,1,0\nc,2,\n")
    found = holdfast.compare({"a": 0, "b": 0, "c": 1}, uneven, score=("score", "acc"))
    assert found.overall.mean_b == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert found.b.missing == ("c",)


def test_two_runs_of_lm_eval(tmp_path: Path) -> None:
    def improved(lines: list[Any]) -> list[Any]:
        for line in lines:
            line["acc"] = 1.0
        return lines

    other = changed_lines(CHOICE, tmp_path, improved)
    other = other.rename(tmp_path / CHOICE.name.replace("02-54-47", "03-11-09"))
    found = holdfast.compare(CHOICE, other, score="acc")
    assert (found.verdict, found.wins, found.losses) == ("better", 10, 0)
    found = holdfast.compare(CHOICE, other, score="acc", by="answer")  # a field of the docs
    assert len(found.categories) > 1

    def others(lines: list[Any]) -> list[Any]:
        for line in lines[:4]:
            line["doc_hash"] = "another"
        return lines

    (tmp_path / "new").mkdir()
    with pytest.raises(InvalidArgument, match=r"content of 4 items \(0, 1, 2, ...\) is another"):
        holdfast.compare(CHOICE, changed_lines(other, tmp_path / "new", others), score="acc")
    with pytest.raises(InvalidArgument, match="there are 2 filters in"):
        holdfast.compare(CHOICE, TEXT, score=("acc", "exact_match"))


def test_graded_scores_are_compared_by_bets() -> None:
    rng = np.random.default_rng(3)
    before = np.round(rng.beta(2, 2, 2_000), 2)
    after = np.clip(before + 0.05 + 0.1 * rng.standard_normal(2_000), 0, 1)
    found = holdfast.compare(before, after)
    assert found.verdict == "better"
    assert found.graded
    assert 0.03 < found.interval.low < found.difference < found.interval.high < 0.07
    assert found.p < 1e-6
    tenths = holdfast.compare(10 * before, 10 * after, bounds=(0, 10))
    assert tenths.interval.low == pytest.approx(10 * found.interval.low)
    assert "points" not in str(tenths).splitlines()[0]
    assert "from 0 to 10: the interval is by bets" in str(tenths)
    # p is at most the level where the interval is beyond 0, and nowhere else.
    for shift in np.linspace(0, 0.012, 13):
        moved = before + shift + 0.1 * rng.standard_normal(2_000)
        told = holdfast.compare(before, np.clip(moved, 0, 1))
        assert (told.p <= 0.05) is (told.verdict != "cannot tell")


@pytest.mark.parametrize(("other", "warned"), [(100.0, True), (20.0, True), (3.0, False)])
def test_two_scales_are_warned_of(other: float, warned: bool) -> None:
    rng = np.random.default_rng(4)
    told = holdfast.compare(rng.random(200), other * rng.random(200), bounds=(0, 100))
    assert (told.warning is not None) is warned
    assert ("Are these two scales?" in str(told)) is warned
    assert ("Are these two scales?" in told.to_markdown()) is warned
    assert told.to_dict()["warning"] == told.warning


@pytest.mark.statistical
def test_graded_runs_that_are_equally_good_are_seldom_told_apart() -> None:
    """And the twin, a t-test looked at after every fifty items, often enough."""
    wrong, peeked = [], []
    for trial in range(300):
        rng = np.random.default_rng([28, trial])
        before, after = rng.choice([0, 0.5, 1], (2, 200))
        found = holdfast.compare(before, after)
        wrong.append(0.0 not in found.interval)
        gains = after - before
        heads = [gains[:n] for n in range(20, 201, 10)]
        t = [abs(head.mean()) / (head.std() / math.sqrt(head.size)) for head in heads]
        peeked.append(max(t) > 1.96)
    assert not too_many(wrong, 0.05)
    assert too_many(peeked, 0.05)


def test_categories_hold_together(files: Path) -> None:
    found = holdfast.compare(files / "a.csv", files / "b.csv", by="category")
    code, math_ = found.categories
    assert (code.category, math_.category) == ("code", "math")
    assert code.items == math_.items == 500
    assert code.interval == paired_score_interval(500, code.wins, code.losses, math.log(0.05 / 2))
    assert code.p == pytest.approx(2 * holdfast.compare(BEFORE[1::2], AFTER[1::2]).p)
    assert "All intervals of the 2 categories together are 95 % sure; each p" in str(found)
    labels = ["even", "odd"] * 500
    assert len(holdfast.compare(BEFORE, AFTER, by=labels).categories) == 2
    some = dict.fromkeys(ITEMS[:100], "first")
    found = holdfast.compare(by_item(BEFORE), by_item(AFTER), by=some)
    assert [(each.category, each.items) for each in found.categories] == [("first", 100)]
    assert "900 items without 'category' in no category." in str(found)


def test_items_of_one_run_alone_are_left_out_and_said() -> None:
    before, after = by_item(BEFORE), by_item(AFTER)
    del before["q0003"]
    after["new"] = 1
    found = holdfast.compare(before, after)
    assert (found.items, found.a.unpaired, found.b.unpaired) == (999, (), ("q0003", "new"))
    assert "In B only, and left out: 2 items ('q0003', 'new')." in str(found)


def test_missing_scores_count_as_wrong_and_are_said() -> None:
    lost = [None, float("nan"), *AFTER[2:]]
    found = holdfast.compare(by_item(BEFORE), by_item(lost))
    assert found.losses == 19
    assert "Without a score in B, and counted as wrong: 2 items ('q0000', 'q0001')." in str(found)
    series = [pd.Series(scores, index=ITEMS, dtype="Float64") for scores in (BEFORE, AFTER)]
    series[1].iloc[:2] = None
    assert holdfast.compare(*series).losses == 19


def test_plain_values_markdown_and_html(files: Path) -> None:
    found = holdfast.compare(files / "a.csv", files / "b.csv", by="category")
    told = json.loads(json.dumps(found.to_dict()))
    assert (told["verdict"], told["wins"], told["a"]["scorer"]) == ("better", 48, "acc")
    assert (told["low"], told["high"]) == (found.interval.low, found.interval.high)
    assert len(told["categories"]) == 2
    page = found.to_markdown()
    assert page.startswith("| compare |  |\n| --- | --- |\n| B is | **better** |\n")
    assert "| B less A | +3.1 points [1.5, 4.9] |" in page
    assert "| category | items | A | B |" in page
    assert "<b>B is better: +3.1 points" in found._repr_html_()
    assert isinstance(found, Comparison)


@pytest.mark.parametrize(
    ("a", "b", "how", "words"),
    [
        ({"x": 1}, {"y": 1}, {}, r"no item of A is in B: A \(A\) has 1 item \('x'\).*key="),
        ([1, 0], [1, 0, 1], {}, "A has 2 scores in order, and B has 3 scores in order; give"),
        ([1, 0], {"x": 1}, {}, "A has 2 scores in order, and B has 1 score by item"),
        ([], [], {}, "A has no scores"),
        ([1, 0, 1], [0.5, 0.2, 1], {}, r"of A are right or wrong.*B are graded.*bounds=\(0, 1\)"),
        ([3, 0, 1], [2, 2, 1], {}, r"outside \[0, 1\] in A.*bounds= \(--bounds LOW HIGH\)"),
        ([1, 0], [0, 1], {"confidence_level": 0.05}, "did you mean 0.95"),
        ([1, 0], [0, 1], {"by": ["x"]}, "by has 1 category in order, for 2 items"),
        (list(range(2)) * 60, [1] * 120, {"by": range(120)}, "by has 120 categories, and at most"),
        ([1, 0], 3, {}, "B is int; give the path of a log"),
        ([1, 0], [0, 1], {"score": ("a", "b", "c")}, "score names 3 scorers"),
        ([1, "x"], [0, 1], {}, "are numbers and text; give numbers alone"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_one_sentence(a: Any, b: Any, how: Any, words: str) -> None:
    with pytest.raises(HoldfastError, match=words):
        holdfast.compare(a, b, **how)


def test_files_that_cannot_be_compared(files: Path, tmp_path: Path) -> None:
    made = {
        "twice.csv": "id,acc\nq0000,1\nq0000,0\n",
        "scorer.csv": "id,f1\nq0000,1\n",
        "semi.csv": "id;acc\nq0000;1\n",
        "empty.csv": "id,acc\n",
        "nothing.csv": "",
        "ragged.csv": "id,acc\nq0000\n",
        "other.csv": "id,acc,category\nq0000,1,law\n",
    }
    for name, text in made.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "same.csv").hardlink_to(tmp_path / "a.csv")
    for name, words in {
        "twice.csv": "1 item ('q0000') comes more than once",
        "scorer.csv": "has the scorer 'acc', and B",
        "semi.csv": "separated by ';'; write it with commas",
        "empty.csv": "has no items",
        "nothing.csv": "is empty",
        "ragged.csv": "cannot be read as CSV",
        "same.csv": "A and B are one file",
        "none.csv": "cannot be read (No such file",
    }.items():
        with pytest.raises(InvalidArgument) as refused:
            holdfast.compare(files / "a.csv", tmp_path / name)
        assert words in str(refused.value)
        assert str(refused.value).count(". ") == 0  # one sentence
    with pytest.raises(InvalidArgument, match=r"the 'category' of 1 item \('q0000'\) is another"):
        holdfast.compare(files / "a.csv", tmp_path / "other.csv", by="category")
    with pytest.raises(InvalidArgument, match="by names 'subject', which is not a column"):
        holdfast.compare(files / "a.csv", files / "b.csv", by="subject")
    with pytest.raises(InvalidArgument, match="no item has a field 'subject'"):
        holdfast.compare(FILES / "inspect.eval", FILES / "inspect-errors.eval", by="subject")


def test_logs_that_cannot_be_compared(tmp_path: Path) -> None:
    main, stopped = FILES / "inspect.eval", FILES / "inspect-stopped.eval"
    with pytest.raises(InvalidArgument, match=r"did not end well.*partial=True \(--partial\)"):
        holdfast.compare(main, stopped)
    part = holdfast.compare(main, stopped, partial=True)
    assert (part.items, len(part.a.unpaired), part.b.missing) == (4, 8, ())
    epochs = FILES / "inspect-epochs.json"
    with pytest.raises(InvalidArgument, match="there are 3 scores in"):
        holdfast.compare(main, epochs)

    def renamed(log: Any) -> Any:
        log["eval"]["task"] = "history"
        log["eval"]["eval_id"] = "another"
        return log

    with pytest.raises(InvalidArgument, match=r"has the task 'arithmetic', and B .* has 'history'"):
        holdfast.compare(epochs, changed(epochs, tmp_path, renamed), score="exact")
    copy = tmp_path / "copy.json"
    copy.write_bytes(epochs.read_bytes())
    with pytest.raises(InvalidArgument, match="are one run"):
        holdfast.compare(epochs, copy, score="exact")
    with pytest.raises(InvalidArgument, match="A and B are the same scores"):
        holdfast.compare(BEFORE, BEFORE)


def test_json_lines_of_our_own(tmp_path: Path) -> None:
    paths = [
        written_lines(
            tmp_path / f"{name}.jsonl",
            *({"question": item, "ok": bool(score)} for item, score in by_item(scores).items()),
        )
        for name, scores in (("a", BEFORE), ("b", AFTER))
    ]
    with pytest.raises(InvalidArgument, match=r"no column of items \(item, .*key= \(--key\)"):
        holdfast.compare(*paths)
    assert holdfast.compare(*paths, key="question").wins == 48


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_no_engine_and_no_special_function_is_loaded(files: Path, kind: str) -> None:
    """And a thousand items take less than .4 s of processor beyond numpy and Python themselves."""
    code = (
        "import sys, time\nimport numpy\nstarted = time.process_time()\nimport holdfast\n"
        f"holdfast.compare('a.{kind}', 'b.{kind}', by='category')\n"
        "spent = time.process_time() - started\n"
        "heavy = sorted({'polars', 'scipy', 'pandas', 'sqlglot', 'pyarrow'} & sys.modules.keys())\n"
        "print(heavy, spent)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=files
    )
    heavy, _, spent = done.stdout.partition("] ")
    assert heavy == "["
    assert float(spent) < 2.0  # .4 s, measured alone; others may be at work here
