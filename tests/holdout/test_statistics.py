"""Every statistic through a holdout: true of the sample surely, priced, free again, recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument, InvalidQuestion, ToleranceTooLoose
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from tests.holdout.asking import FACTS, HOLD, ROWS, SPREAD, TRAIN, contains, lower_quantile
from tests.holdout.tables import opened, table, untouchable, watch
from tests.seam import put_sample
from tests.statistics.zoo import BOUNDS, CASES, QUANTILES, Case, auc

ON_LEDGER = [case for case in CASES if not case.described]


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path, HOLD, **FACTS) as found:
        yield found


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Holdout, Path]]:
    """A holdout of which every statistic has been asked once."""
    folder = tmp_path_factory.mktemp("asked")
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:  # the same noise, whichever test comes first
            patch.setenv("PYTEST_CURRENT_TEST", "every statistic asked once (setup)")
            found = stack.enter_context(opened(folder, HOLD, **FACTS))
        for question in [*(case.question for case in ON_LEDGER), *(text for text, *_ in QUANTILES)]:
            found.ask(question, why=question)
        found.ask(SPREAD)
        found.ask(holdfast.mean("x", by="arm"))
        found.ask(holdfast.histogram("x", [-60, 0, 60, 180]))
        yield found, folder / "t.ledger"


@pytest.mark.parametrize("case", ON_LEDGER, ids=lambda case: case.question)
def test_the_sample_itself_is_in_every_interval(asked: tuple[Holdout, Path], case: Case) -> None:
    """Noise is bounded: whatever it was, the interval holds what the rows say."""
    holdout, _ = asked
    watched = watch(holdout, untouchable)
    try:
        first = holdout.ask(case.question)
        assert first.cost == 0.0
        assert first.status != "answered" or first.recorded.known
        answer = holdout.ask(case.question)  # what was asked since may have made it narrower once
        assert holdout.cost(case.question).repeated
        if answer.value is None:
            assert answer.interval == answer.recorded.range
            assert (answer.status, answer.cost) == ("says nothing", 0.0)
            return
    finally:
        put_sample(holdout, watched.sample)
    assert (answer.status, answer.cost) == ("repeated", 0.0)
    assert contains(answer.interval, case.plain(ROWS))
    assert answer.interval.low <= answer.value <= answer.interval.high


@pytest.mark.parametrize("question", [case.question for case in CASES if case.described])
def test_what_only_a_description_answers_is_refused_for_nothing(
    holdout: Holdout, question: str
) -> None:
    with pytest.raises(InvalidQuestion, match="where its text describes it"):
        holdout.ask(question)
    assert (len(holdout.ledger), holdout.budget.nats) == (0, 0.0)


def test_a_slope_that_known_means_leave_unknown_is_refused_for_nothing(holdout: Holdout) -> None:
    holdout.ask("variance(z) where arm = 'A'")  # which may be 0
    spent = holdout.budget.nats
    with pytest.raises(ToleranceTooLoose, match="even the most favourable"):
        holdout.ask("slope(k, z) where arm = 'A'")
    assert holdout.budget.nats == spent


@pytest.mark.parametrize(("question", "column", "level"), QUANTILES)
def test_the_samples_quantile_is_in_its_interval(
    asked: tuple[Holdout, Path], question: str, column: str, level: float
) -> None:
    holdout, _ = asked
    answer = holdout.ask(question)
    assert (answer.status, holdout.cost(question).questions) == ("repeated", 0)
    truth = lower_quantile(column, level, "A" if "arm" in question else None)
    assert answer.interval.low <= truth <= answer.interval.high
    low, high = BOUNDS[column]
    assert answer.interval.high - answer.interval.low < high - low


def test_the_ledger_tells_what_each_part_was_asked_for(asked: tuple[Holdout, Path]) -> None:
    holdout, path = asked
    recorded = {each.question: each for each in holdout.ledger.looks}
    assert len(recorded) == len(holdout.ledger.looks)  # no question was asked twice
    assert recorded["avg(k > 4)"].part_of == "avg(clip(z, -20, -3)) where k > 4"
    assert recorded["auc(p, y)"].part_of is None
    assert {each.part_of for each in holdout.ledger.looks if "<= " in each.question} >= {
        "quantile(clip(k, 0, 20), 0.5, 1)"
    }
    assert "auc(p, y)" in holdout.explain()
    wholes = [line for line in holdout.ledger if line.look is None]
    assert holdout.ledger.to_polars().height == len(holdout.ledger)
    assert [line.number for line in holdout.ledger] == list(range(1, len(holdout.ledger) + 1))
    every = holdout.ledger.to_dicts(parts=True)
    assert {row["look"] for row in every} - {None} == {each.look for each in holdout.ledger.looks}
    assert sum(line.charge for line in holdout.ledger) == pytest.approx(
        sum(each.charge for each in holdout.ledger.looks)
    )
    findings = audit(path)
    assert [(each.what, each.fine) for each in findings if not each.fine] == []
    assert f"{len(recorded) + len(wholes)} derived again" in findings[1].detail


@pytest.mark.parametrize(
    "question",
    [
        "avg(x)",
        "avg(x) where arm = 'A'",
        "auc(p, y)",
        "log_loss(p, y)",
        "variance(x)",
        "correlation(x, z)",
        "f1(new, y)",
        "difference(avg(z) where arm = 'A', avg(z) where arm = 'B')",
        "sum(z, 1000)",
        SPREAD,
        "avg(z, variance <= 9)",
        holdfast.mean("x", by="arm"),
        holdfast.histogram("x", [-60, 0, 60, 180]),
    ],
    ids=lambda question: str(getattr(question, "name", question)),
)
def test_asking_costs_what_was_said_before(holdout: Holdout, question: Any) -> None:
    watched = watch(holdout, untouchable)
    cost = holdout.cost(question)
    put_sample(holdout, watched.sample)
    before = holdout.budget.nats
    holdout.ask(question)
    assert cost.least == cost.most
    assert holdout.budget.nats - before == pytest.approx(cost.most, rel=1e-9)
    assert len(holdout.ledger.looks) == cost.questions


@pytest.mark.parametrize("question", ["avg(z) where k > 9", "median(k)", "quantile(x, 0.9)"])
def test_no_more_is_spent_than_was_said(holdout: Holdout, question: str) -> None:
    """A group turns out small and is narrower for its price; a search may end early."""
    cost = holdout.cost(question)
    holdout.ask(question)
    assert holdout.budget.nats <= cost.most * (1 + 1e-3)
    assert len(holdout.ledger.looks) <= cost.questions


def test_a_search_is_priced_by_what_is_not_known_yet(holdout: Holdout) -> None:
    """What one quantile has found does not make another one look free."""
    holdout.ask("quantile(k, 0.02)")  # asks the lowest thresholds
    cost, before = holdout.cost("quantile(k, 0.9)"), holdout.budget.nats
    answer = holdout.ask("quantile(k, 0.9)")
    assert 0 < answer.cost <= cost.most
    assert holdout.budget.nats - before == pytest.approx(answer.cost)


@pytest.mark.parametrize("case", ON_LEDGER, ids=lambda case: case.question)
def test_checks(case: Case, tmp_path: Path) -> None:
    """By a number, and by other rows; a wrong guess is a surprise, and true all the same."""
    truth = case.plain(ROWS)
    with opened(tmp_path, HOLD, **FACTS) as one, opened(tmp_path, HOLD, "u", **FACTS) as two:
        right = one.check(case.question, guess=truth)
        if not right.parts:
            assert right.status == "confirmed"
        assert contains(right.interval, truth)
        # The spreads are small here, and of two groups in a group each is an answer of two parts.
        silent = case.question.startswith(("correlation", "slope"))
        silent |= "'B') where k" in case.question
        first = two.check(case.question, guess=TRAIN)
        assert first.status == ("says nothing" if silent else "confirmed")
        found = two.check(case.question, guess=TRAIN)
        assert (found.repeated, found.cost) == (True, 0.0)
        assert contains(found.interval, truth)
    with opened(tmp_path, HOLD, "v", **FACTS) as three:
        low, high = right.recorded.range
        far = low if truth > (low + high) / 2 else high
        wrong = three.check(case.question, guess=far)
        assert wrong.status == ("says nothing" if wrong.value is None else "not confirmed")
        assert contains(wrong.interval, truth)


def test_a_check_by_number_is_priced_stage_by_stage(tmp_path: Path) -> None:
    """The parts that no number is guessed of are asked, and cost as such."""
    question = "difference(avg(new) where k > 4, avg(y) where k > 2)"
    with opened(tmp_path, HOLD, **(FACTS | {"tolerance": 0.12})) as holdout:
        cost = holdout.cost(question, guess=0.5)
        share = holdout.cost("avg(k > 4)")
        assert cost.least > share.most  # the share is asked, the residual checked
        before = holdout.budget.nats
        holdout.check(question, guess=0.0)
        assert [each.status for each in holdout.ledger] == ["confirmed"]
        assert [each.status for each in holdout.ledger.looks] == [*["answered"] * 3, "confirmed"]
        assert cost.least * 0.999 <= holdout.budget.nats - before <= cost.most


def test_quantiles_are_checked_by_order_statistics(holdout: Holdout) -> None:
    truth = lower_quantile("k", 0.5, None)
    cost = holdout.cost("median(k)", guess=truth)
    found = holdout.check("median(k)", guess=truth)
    assert found.status == "confirmed"
    assert found.value == truth
    assert found.cost == pytest.approx(cost.least)
    assert len(holdout.ledger.looks) == 1
    assert found.interval.low <= truth <= found.interval.high
    wrong = holdout.check("quantile(x, 0.9)", guess=-50.0)
    assert wrong.status == "not confirmed"
    assert contains(wrong.interval, lower_quantile("x", 0.9, None))
    with pytest.raises(InvalidArgument, match=r"guess is 99"):
        holdout.check("median(k)", guess=99.0)
    spent = holdout.cost("quantile(z, 0.5)", guess=TRAIN)
    other = holdout.check("quantile(z, 0.5)", guess=TRAIN)  # as those rows say
    assert contains(other.interval, lower_quantile("z", 0.5, None))
    assert other.status in ("confirmed", "not confirmed")
    assert other.cost <= spent.most


def test_a_search_that_surprises_exhaust_keeps_what_it_found(tmp_path: Path) -> None:
    facts = FACTS | {"questions": 3}
    with opened(tmp_path, HOLD, **facts) as few:
        found = few.check("median(k)", guess=1.0)  # two thresholds, and one of a search
        assert contains(found.interval, lower_quantile("k", 0.5, None))
        assert [each.status for each in few.ledger.looks].count("answered") == 3


def test_verdicts_of_paired_models(holdout: Holdout) -> None:
    new = holdfast.difference("new = y", "old = y", better="higher")
    old = holdfast.difference("old = y", "new = y", better="higher")
    same = holdfast.difference("new = y", "not new <> y", better="higher")
    loss = holdfast.difference("old = y", "new = y", better="lower")
    verdicts = [holdout.ask(each, tolerance=0.03).verdict for each in (new, old, same)]
    assert verdicts == ["better", "worse", "cannot tell"]
    assert str(holdout.ask(new)).startswith("better: ")
    assert holdout.ask(loss).verdict == "better"  # asked before, and still judged
    groups = holdfast.difference(
        holdfast.mean("y", where="arm = 'A'"), holdfast.mean("y", where="arm = 'B'"), better="lower"
    )
    assert holdout.ask(groups, tolerance=0.05).verdict == "better"


def test_training_rows_guess_for_statistics_of_the_whole_table(tmp_path: Path) -> None:
    with opened(tmp_path, HOLD, train=TRAIN, **FACTS) as trained:
        for question in ("auc(p, y)", SPREAD, "median(k)", "avg(z) where arm = 'A'"):
            answer = trained.ask(question)
            assert answer.status in ("confirmed", "not confirmed")
        assert contains(trained.ask("auc(p, y)").interval, auc(ROWS))
    with opened(tmp_path, HOLD, "u", train=TRAIN.drop("p", "z"), **FACTS) as poor:
        for question in ("auc(p, y)", SPREAD):
            with pytest.raises(InvalidArgument, match="has no column"):
                poor.ask(question)
        assert len(poor.ledger) == 0


# Tables of answers -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_groups_come_in_the_callers_frames(tmp_path: Path, kind: str) -> None:
    data = HOLD.select("arm", "new").drop_nulls().head(8_000)
    given: Any = {"polars": data, "pandas": data.to_pandas(), "pyarrow": data.to_arrow()}[kind]
    with opened(tmp_path, given, questions=9, tolerance=0.1, design=["arm"]) as found:
        groups = found.ask(holdfast.mean("new", by="arm"))
    assert type(groups.table).__module__.startswith(kind)
    plain = pl.DataFrame(groups.table) if kind != "pyarrow" else pl.from_arrow(groups.table)
    assert isinstance(plain, pl.DataFrame)
    assert plain.columns == ["arm", "n", "value", "low", "high", "status", "cost", "question"]
    assert plain["arm"].to_list() == ["A", "B", "C"]
    means = data.group_by("arm").agg(pl.col("new").mean()).sort("arm")["new"].to_list()
    for (_, answer), mean in zip(groups, means, strict=True):
        assert contains(answer.interval, mean)


def test_a_column_named_like_an_answers_facts(tmp_path: Path) -> None:
    data = HOLD.select(status=pl.col("arm"), late=pl.col("new"))
    with opened(tmp_path, data, questions=9, tolerance=0.1, design=["status"]) as found:
        groups = found.ask(holdfast.mean("late", by="status"))
    assert groups.table.columns[:3] == ["group", "n", "value"]
    assert groups.table["group"].to_list() == ["A", "B", "C"]
    assert groups.table["status"].to_list() == ["answered"] * 3
    assert groups.to_dicts()[0]["group"] == "A"


def test_bounds_as_the_error_advises_them(tmp_path: Path) -> None:
    """What has no declared range is refused, with advice; every verb takes the advice."""
    with opened(tmp_path, table(), tolerance=0.1, described="exact") as holdout:
        with pytest.raises(InvalidQuestion, match=r"give bounds=\(low, high\)"):
            holdout.ask("avg(x)")
        found = holdout.ask("avg(x)", bounds=(-60, 180))
        assert found.question == "avg(clip(x, -60, 180))"
        assert found.interval == holdout.ask("avg(clip(x, -60, 180))").interval
        assert "clip(x, 0, 9)" in holdout.cost("avg(x) where late", bounds=(0, 9)).question
        assert holdout.check("avg(x)", 30, bounds=(-61, 180), half_width=40).status == "confirmed"
        assert holdout.gate("avg(x)", at_least=170, bounds=(-60, 180)).status == "not shown"
        groups = holdout.ask(holdfast.mean("x", by="origin"), bounds=(-60, 180), discover=True)
        assert len(groups) == 3
        with pytest.raises(InvalidArgument, match="auc takes no bounds"):
            holdout.ask("auc(x, late)", bounds=(0, 9))
        with pytest.raises(InvalidArgument, match="bounds"):
            holdout.ask("avg(x)", bounds=(9, 0))
