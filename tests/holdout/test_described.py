"""Described questions asked of a holdout: what is told, repeated, resumed, refused and recorded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.errors import BudgetExhausted, InvalidArgument, InvalidQuestion
from holdfast.holdout.holdout import Holdout
from holdfast.statistics.derived import is_derived
from tests.holdout.tables import BOUNDS, Crash, copied, crash, opened, table, watch
from tests.ledger.forging import faults
from tests.ledger.reading import folded, rows_of
from tests.seam import bound, transcript_of

ODD = pl.DataFrame(
    {
        "same": [3.0] * 20,
        "half": [1.0, 2.0] * 10,
        "group": ["a", "b"] * 10,
        "flag": [True, False] * 10,
        "sure": [True] * 20,
        "score": [0.2, 0.7] * 10,
        "gone": pl.Series([None] * 20, dtype=pl.Float64),
    }
)
ODD_BOUNDS = {"same": (0, 5), "half": (0, 5), "score": (0, 1), "gone": (1, 4)}
OTHER = "avg(x, variance <= 4000)"  # what is declared of it alone has no rule
# With so few rows these say nothing, each for another reason.
SILENT = (
    "std(same)",
    "variance(same)",
    "variance(gone)",
    "avg(gone)",
    "quantile(gone, 0.5)",
    "variance(half) where group = 'nobody'",
    "correlation(same, half)",
    "covariance(half, score)",
    "median(half) where group = 'a'",
    "avg(flag) where group = 'nobody'",
    "avg(half) where group = 'nobody'",
    "auc(score, sure)",
    "f1(group = 'nobody', group = 'no one')",
    "difference(avg(half) where group = 'a', avg(half) where group = 'nobody')",
)
SPOKEN = (
    "avg(flag)",
    "avg(half)",
    "avg(coalesce(gone, 1))",
    "avg(half) where group = 'a'",
    "avg(half > 1) where group = 'a'",
    "difference(flag, sure)",
    "f1(flag, sure)",
    "auc(score, flag)",
    "brier(score, flag) where group = 'b'",
)


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path, ODD, schema=ODD_BOUNDS, described="exact") as holdout:
        yield holdout


@pytest.mark.parametrize("question", SILENT)
def test_what_rows_cannot_tell_is_told_as_nothing_and_not_raised(
    odd: Holdout, question: str
) -> None:
    answer = odd.ask(question)
    assert (answer.status, answer.recorded.value) == ("says nothing", None)
    assert answer.interval == answer.recorded.range
    assert "no information" in f"{answer}"
    again = odd.ask(question)
    assert again.status == "says nothing"
    assert again.cost == 0.0


@pytest.mark.parametrize("question", SPOKEN)
def test_few_rows_are_enough_for_some(odd: Holdout, question: str) -> None:
    """In a group, too, whose size the ledger does not know: it could not answer those at all."""
    answer = odd.ask(question)
    assert answer.status == "answered"
    assert answer.recorded.bits is not None
    assert answer.interval != answer.recorded.range


def test_what_says_nothing_may_be_a_part_of_what_is_asked(tmp_path: Path) -> None:
    """The mean of two rows says nothing; a variance of rows that depend on each other, which has no
    rule of its own and follows from such means, is true."""
    pair = pl.DataFrame({"x": [0.0, 9.0]})
    declared: dict[str, Any] = {"schema": {"x": (0, 9)}, "sampling": holdfast.m_dependent(1)}
    with opened(tmp_path, pair, tolerance=0.4, described="exact", **declared) as holdout:
        variance = bound(holdout, "variance(x)")
        assert is_derived(variance)
        for part in (part for stage in variance.stages for part in stage):
            assert holdout.ask(part.text).status == "says nothing"
        answer = holdout.ask("variance(x)")
        assert answer.bits == max(part.bits or 0.0 for part in answer.parts)
        assert (answer.status, answer.value) == ("says nothing", None)
        assert answer.interval == (0.0, 20.25)


def test_a_ledger_that_says_nothing_can_be_read_shown_and_audited(
    tmp_path: Path, odd: Holdout
) -> None:
    for question in (*SILENT, *SPOKEN):
        odd.ask(question)
    assert len(odd.ledger) == len(SILENT) + len(SPOKEN)
    assert "no information" in str(odd.ledger)
    path = tmp_path / "t.ledger"
    assert faults(path) == []
    assert faults(path, sample=lambda: PolarsSample(ODD)) == []


def test_guessers_learn_from_described_answers_that_say_something(tmp_path: Path) -> None:
    declared: dict[str, Any] = {"schema": ODD_BOUNDS, "described": "exact", "tolerance": 0.45}
    with opened(tmp_path, ODD, guesser="last best", **declared) as holdout:
        holdout.ask("std(same)")
        holdout.ask("avg(flag)")
        with pytest.raises(holdfast.errors.Refused):
            holdout.ask("avg(half)", tolerance=0.01)
        assert holdout.ask("avg(half)").status == "answered"


# The ledger: the same bytes, whatever happens -------------------------------------------------


def rows() -> PolarsSample:
    return PolarsSample(table())


TEXTS = ("avg(late)", "avg(x) where late", "median(x)", "std(x)", "avg(x > 20)")


def told(path: Path) -> list[tuple[Any, ...]]:
    answers = folded(path).answers
    return [(each.question, each.value, each.interval, each.charge) for each in answers]


def described_ledger(folder: Path, **more: Any) -> Path:
    folder.mkdir(exist_ok=True)
    with opened(folder, table(), schema=BOUNDS, described="exact", **more):
        return folder / "t.ledger"


@pytest.mark.parametrize("question", TEXTS)
def test_a_crash_in_the_middle_of_a_described_question_changes_nothing(
    tmp_path: Path, question: str
) -> None:
    start = described_ledger(tmp_path / "start")
    path, whole = copied(start, tmp_path / "crashed"), copied(start, tmp_path / "whole")
    with opened(whole.parent, table()) as holdout:
        holdout.ask(question)
    with opened(path.parent, table()) as holdout:
        watch(holdout, crash)
        with pytest.raises(Crash):
            holdout.ask(question)
    left = folded(path)
    assert left.pending is not None
    with opened(path.parent, table()) as holdout:
        assert left.committed.nats == pytest.approx(folded(whole).account.nats)
        holdout.ask(question)
        assert holdout.ask(question).status == "repeated"
    assert told(path) == told(whole)
    assert faults(path, sample=rows) == []


def test_what_a_rule_cannot_take_is_given_up_and_the_ledger_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule is made for every table; if one is not, its ledger must not wait for it for ever."""
    described_ledger(tmp_path)

    def refusing(*_: object, **__: object) -> None:
        raise InvalidArgument("a value is not in [0, 1]; scale the column by its declared range.")

    with opened(tmp_path, table()) as holdout:
        with monkeypatch.context() as patch:
            patch.setattr("holdfast.statistics.mean_events.half_each_interval", refusing)
            with pytest.raises(InvalidQuestion, match="could not be evaluated"):
                holdout.ask("avg(x)")
        assert holdout.ask("avg(late)").status == "answered"
        assert holdout.ask("avg(x)").status == "answered"
    assert len(folded(tmp_path / "t.ledger").abandoned) == 1


def test_described_and_other_questions_are_asked_together(tmp_path: Path) -> None:
    path = described_ledger(tmp_path, questions=20, tolerance=0.2)
    texts = ["avg(late)", "avg(x) where late", OTHER, "std(x)"]
    with opened(tmp_path, table()) as holdout:
        answers = holdout.ask_many(texts)
        assert [each.recorded.bits is not None for each in answers] == [True, True, False, True]
        # What is not described is asked first, so that it does not pay for those beside it.
        first = min(folded(path).answers, key=lambda each: each.look or 0)
        assert first.bits is None
        assert first.leaked == 0.0
    assert faults(path, sample=rows) == []


def test_what_was_settled_here_is_what_a_reader_folds(tmp_path: Path) -> None:
    path = described_ledger(tmp_path, questions=20, tolerance=0.2)
    with opened(tmp_path, table()) as holdout:
        holdout.ask_many(["avg(late)", "avg(x) where late", OTHER, "std(x)"])
        assert holdout.check("avg(x > 20)", guess=0.5, tolerance=0.2).status == "confirmed"
        refuted = holdout.check("avg(origin = 'JFK')", guess=0.9, tolerance=0.2)
        assert "not confirmed" in [each.status for each in refuted.parts]
        holdout.gate("avg(late)", at_least=0.1)
        here, read = transcript_of(holdout), folded(path)
    assert [*here.answers] == [*read.answers]
    assert [*here.lines] == [*read.lines]
    assert here.account == read.account


@pytest.mark.parametrize("text", ["avg( x > 2e1 ) where late", "avg(x>20.0) where late"])
def test_a_number_that_is_written_otherwise_has_the_same_description(
    tmp_path: Path, text: str
) -> None:
    written: list[tuple[object, ...]] = []
    for folder, question in (("canonical", "avg(x > 20) where late"), ("otherwise", text)):
        described_ledger(tmp_path / folder)
        with opened(tmp_path / folder, table()) as holdout:
            look = holdout.ask(question).recorded
            written.append((look.question, look.rule, look.bits, look.event, look.symbols))
            written[-1] += (look.interval, look.subjects, look.part_of_range, look.charge)
    assert written[0] == written[1]


def test_a_repeated_question_costs_nothing_and_adds_no_bytes(tmp_path: Path) -> None:
    path = described_ledger(tmp_path)
    with opened(tmp_path, table()) as holdout:
        first = [holdout.ask(text) for text in TEXTS]
        before = rows_of(path)
    with opened(tmp_path) as holdout:  # it needs no data either
        again = [holdout.ask(text) for text in TEXTS]
    assert [each.interval for each in again] == [each.interval for each in first]
    assert rows_of(path) == before


def test_how_questions_are_described_cannot_be_changed_later(tmp_path: Path) -> None:
    described_ledger(tmp_path)
    with opened(tmp_path, table()) as holdout:
        holdout.ask("avg(late)")
    for wrong in ({"described": "rounded"}, {"described": "off"}, {"described_share": 0.5}):
        with (
            pytest.raises(InvalidArgument, match="was opened with"),
            opened(tmp_path, table(), **wrong),
        ):
            pass


def test_with_all_of_the_failure_probability_nothing_else_is_answered(tmp_path: Path) -> None:
    path = described_ledger(tmp_path, described_share=1)
    with opened(tmp_path, table()) as holdout:
        narrow = holdout.ask("avg(late)")
        with pytest.raises(BudgetExhausted, match="opened for text questions only") as e:
            holdout.ask(OTHER)
        assert str(e.value).count(". ") <= 1
    wide = described_ledger(tmp_path / "shared")
    with opened(wide.parent, table()) as holdout:
        shared = holdout.ask("avg(late)")
    assert shared.interval.low < narrow.interval.low
    assert shared.interval.high > narrow.interval.high
    assert faults(path, sample=rows) == []


@pytest.mark.parametrize(
    ("question", "symbols"),
    [
        ("avg(late)", 5),
        ("avg(x)", 5),
        ("avg(late) where x > 0", 25),
        ("avg(x) where late", 25),
        ("difference(late, x > 0)", 5),
        ("difference(x, x / 2)", 5),
        ("median(x)", 64**3),
        ("median(x) where late", 5 * 64**3),
        ("auc(x, late)", 5 * 64**3),
        ("f1(late, x > 30)", 5**2),
        ("difference(avg(x) where late, avg(x) where not late)", 5**3),
    ],
)
def test_rounded_answers_cost_the_logarithm_of_few_symbols(
    tmp_path: Path, question: str, symbols: int
) -> None:
    with opened(tmp_path, table(), schema=BOUNDS, described="rounded") as holdout:
        assert holdout.ask(question).cost == pytest.approx(math.log(symbols), rel=1e-12)
    assert faults(tmp_path / "t.ledger", sample=rows) == []


def test_what_leaked_by_description_is_what_later_questions_pay_for(tmp_path: Path) -> None:
    path = described_ledger(tmp_path, questions=20, tolerance=0.3)
    with opened(tmp_path, table()) as holdout:
        costs = [holdout.ask(text).cost for text in TEXTS]
        later = holdout.ask("avg(unit > 40)", tolerance=0.4)
    assert later.recorded.bits is None
    assert later.recorded.leaked == pytest.approx(sum(costs))
    assert all(cost > 0.0 for cost in costs)
    assert folded(path).account.nats > sum(costs)


def test_means_of_two_values_over_the_same_rows_differ_by_the_mean_difference(
    tmp_path: Path,
) -> None:
    """One question, by its description, however it is put; the interval knows they go together."""
    frame = table(4000).with_columns(later=pl.col("x") + 3.0)
    declared: dict[str, Any] = {"schema": {**BOUNDS, "later": (-60, 180)}, "described": "exact"}
    with opened(tmp_path, frame, **declared) as holdout:
        answer = holdout.ask("difference(avg(later), avg(x))")
        assert answer.bits is not None
        clipped = (pl.col(name).clip(-60, 180) for name in ("later", "x"))
        means = frame.select(*clipped).mean().row(0)
        assert answer.value == pytest.approx(means[0] - means[1], abs=0.5)
        apart = sum(holdout.ask(f"avg({name})").half_width for name in ("later", "x"))
        assert answer.half_width < 0.5 * apart
        again = holdout.ask(holdfast.difference(holdfast.mean("later"), holdfast.mean("x")))
        paired = holdout.ask("difference(later, x)")
        grouped = holdout.ask("difference(avg(later) where late, avg(x) where late)")
        for same in (again, paired):
            assert (same.status, same.interval) == ("repeated", answer.interval)
        assert grouped.bits is not None
        assert grouped.n == int(frame["late"].sum())
    assert faults(tmp_path / "t.ledger", sample=lambda: PolarsSample(frame)) == []


def test_a_text_takes_no_declared_question_however_narrow_that_would_be(tmp_path: Path) -> None:
    """The ledger could answer at the declared half-width, which is smaller; only if it is named."""
    rows = pl.DataFrame({"x": [place % 100 / 100 for place in range(40_000)]})
    facts: Any = {"schema": {"x": (0, 1)}, "questions": 3, "tolerance": 0.0125}
    with holdfast.open(rows, ledger=tmp_path / "n.ledger", **facts) as holdout:
        plain = holdout.ask("avg(x > 0.1234 and x < 0.5678)")
        assert plain.recorded.bits is not None
        assert holdout.cost("avg(x > 0.1235 and x < 0.5678)").bits is not None
        assert (holdout.budget.asked, holdout.budget.account.described) == (0, 1)
        named = holdout.ask("avg(x > 0.4321 and x < 0.8765)", tolerance=0.0125)
        assert named.recorded.bits is None
        assert holdout.budget.asked == 1
