"""A reserved question that can never be evaluated is given up; trouble that passes leaves it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import (
    DataChanged,
    HoldfastError,
    InvalidArgument,
    InvalidQuestion,
    LedgerUnavailable,
)
from holdfast.holdout.holdout import Holdout
from tests.holdout.tables import LATE, Crash, Watched, crash, made, opened, table, watch
from tests.ledger.reading import folded
from tests.seam import put_sample, sample_of

SECRET_VALUE = 123.456
HOPELESS: dict[str, Callable[[], BaseException]] = {
    "an engine's own error": lambda: ValueError(f"row 7 holds {SECRET_VALUE}"),
    "a scan that broke off": lambda: HoldfastError("The table could not be read to its end."),
    "no such form in this engine": lambda: KeyError("Op.SOMETHING"),
    "too deep": lambda: RecursionError("maximum recursion depth exceeded"),
    "a rule that was not made for it": lambda: InvalidArgument("a value is not in [0, 1]."),
    "no longer a question": lambda: InvalidQuestion("Only the text of the function is left."),
}
PASSING: dict[str, Callable[[], BaseException]] = {
    "the files are away": lambda: FileNotFoundError("hold.parquet"),
    "the disk": lambda: OSError("input/output error"),
    "memory": MemoryError,
    "an interruption": KeyboardInterrupt,
    "the table has changed": lambda: DataChanged("another table"),
    "the ledger's disk": lambda: LedgerUnavailable("no room"),
}


class Failing(Watched):
    """A table that can be read, and an engine that fails while it computes."""

    error: Callable[[], BaseException]
    readable = True

    def _scan(self, rows: Any) -> None:
        super()._scan(rows)
        raise self.error()

    def frames(self, columns: Any) -> Any:
        if not self.readable:
            raise OSError("gone")
        return self.sample.frames(columns)


def fail(holdout: Holdout, error: Callable[[], BaseException], readable: bool = True) -> Failing:
    failing = Failing(sample_of(holdout))
    failing.error, failing.readable = error, readable
    put_sample(holdout, failing)
    return failing


@pytest.mark.parametrize("why", HOPELESS)
def test_a_question_that_the_engine_cannot_evaluate_is_charged_and_given_up(
    tmp_path: Path, why: str
) -> None:
    path = made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        holdout.ask("avg(x > 20)")
        worst = holdout.cost(LATE).most
        before = holdout.budget.nats
        real = sample_of(holdout)
        fail(holdout, HOPELESS[why])
        with pytest.raises(InvalidQuestion, match=r"^avg\(late\) could not be evaluated") as e:
            holdout.ask(LATE)
        assert e.value.__cause__ is None
        assert e.value.__context__ is None  # an engine's words may quote rows
        put_sample(holdout, real)
        assert holdout.budget.nats == pytest.approx(before + worst)
        assert holdout.ask("avg(x > 30)").recorded.look == 3  # the ledger is not dead
    left = folded(path)
    assert left.pending is None
    assert [asked.offer.question for asked in left.abandoned] == [LATE]
    assert str(SECRET_VALUE) not in path.read_bytes().decode(errors="replace")


@pytest.mark.parametrize("why", HOPELESS)
def test_what_another_process_left_is_given_up_and_it_goes_on(tmp_path: Path, why: str) -> None:
    path = made(tmp_path)
    with opened(tmp_path, table()) as dying:
        watch(dying, crash)
        with pytest.raises(Crash):
            dying.ask(LATE)
    with opened(tmp_path, table()) as holdout:
        real = sample_of(holdout)
        first = fail(holdout, HOPELESS[why])

        def only_the_first() -> None:
            if len(first.scans) == 2:  # it was tried again
                put_sample(holdout, real)

        first.before = only_the_first
        assert holdout.ask("avg(x > 30)").recorded.look == 2
    assert [asked.offer.question for asked in folded(path).abandoned] == [LATE]


def test_who_asks_it_again_decides_whether_to_pay_again(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        watch(holdout, crash)
        with pytest.raises(Crash):
            holdout.ask(LATE)
    with opened(tmp_path, table()) as holdout:
        real = sample_of(holdout)
        fail(holdout, HOPELESS["too deep"])
        with pytest.raises(InvalidQuestion, match=r"^avg\(late\) could not be evaluated"):
            holdout.ask(LATE)
        put_sample(holdout, real)
        assert holdout.ask(LATE).recorded.look == 2


@pytest.mark.parametrize("why", PASSING)
def test_trouble_that_passes_leaves_it_reserved(tmp_path: Path, why: str) -> None:
    path = made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        real = sample_of(holdout)
        fail(holdout, PASSING[why])
        for question in (LATE, "avg(x > 30)"):  # the asker, and the next one
            with pytest.raises(type(PASSING[why]())):
                holdout.ask(question)
            assert folded(path).pending is not None
        put_sample(holdout, real)
        assert holdout.ask(LATE).status == "repeated"
    assert folded(path).abandoned == []


@pytest.mark.parametrize("why", ["an engine's own error", "a scan that broke off"])
def test_rows_that_cannot_be_read_leave_it_reserved(tmp_path: Path, why: str) -> None:
    path = made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        fail(holdout, HOPELESS[why], readable=False)
        with pytest.raises(type(HOPELESS[why]())):
            holdout.ask(LATE)
    assert folded(path).pending is not None


def test_a_text_that_is_too_deep_to_read_again_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        watch(holdout, crash)
        with pytest.raises(Crash):
            holdout.ask(LATE)

    def too_deep(*_: object) -> None:
        raise RecursionError

    with opened(tmp_path, table()) as holdout:
        monkeypatch.setattr("holdfast.holdout.desk.read_again", too_deep)
        assert holdout.ask("avg(x > 30)").recorded.look == 2
    assert [asked.offer.question for asked in folded(path).abandoned] == [LATE]
