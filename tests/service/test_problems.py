"""Errors as problems: the numbers, what to do next, and no word of files."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import polars as pl
import pytest

import holdfast
from holdfast import errors
from holdfast.errors import BudgetExhausted, HoldfastError, Shortfall
from holdfast.service.problems import error_of, problem_of


def refusal(tmp_path: Path) -> BudgetExhausted:
    """What is said to one question more than was declared."""
    table = pl.DataFrame({"x": [float(n % 7) / 7 for n in range(4000)]})
    holdout = holdfast.open(
        table, ledger=tmp_path / "t.ledger", questions=2, tolerance=0.2, described="off"
    )
    for threshold in ("0.1", "0.3"):
        holdout.ask(f"avg(x > {threshold})")
    with pytest.raises(BudgetExhausted) as refused:
        holdout.ask("avg(x > 0.5)")
    return refused.value


def test_a_refusal_has_its_numbers_and_what_to_do(tmp_path: Path) -> None:
    problem = problem_of(refusal(tmp_path))
    body = problem.to_dict()
    assert body["status"] == 409
    assert (body["of"], body["requested"], body["remaining"], body["missing"]) == (
        "questions",
        1,
        0,
        1,
    )
    assert body["detail"].startswith("requested 1 more question; remaining 0 of the 2 declared")
    assert body["next_steps"] == [
        "Repeating an earlier question is free; new questions need fresh rows in a new ledger."
    ]
    assert str(problem) == str(refusal(tmp_path / ".."))


def test_half_widths_are_missing_too(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": [float(n % 7) / 7 for n in range(4000)]})
    holdout = holdfast.open(table, ledger=tmp_path / "t.ledger", questions=20, described="off")
    with pytest.raises(errors.ToleranceTooTight) as refused:
        holdout.ask("avg(x > 0.5)", tolerance=0.001)
    found = refused.value.shortfall
    assert found is not None
    assert found.of == "half-width"
    assert found.requested == 0.001
    assert found.missing == found.remaining - 0.001 > 0


@pytest.mark.parametrize(
    "error",
    [
        errors.DataChanged("the table of '/srv/secret/x.ledger' changed"),
        errors.LedgerBusy("'/srv/secret/x.ledger' is busy"),
        errors.LedgerTampered("'/srv/secret/x.ledger' entry 3"),
        errors.LedgerUnavailable("'/srv/secret/x.ledger' disk"),
        errors.MissingExtra("no module '/srv/secret/x'"),
        RuntimeError("SELECT secret FROM /srv/secret"),
    ],
)
def test_trouble_with_files_names_none(error: Exception) -> None:
    body = problem_of(error).to_dict()
    assert "secret" not in json.dumps(body)
    assert body["status"] in (500, 503)
    assert body["next_steps"]


def test_every_problem_says_what_to_do_next() -> None:
    for name in errors.__all__:
        made = getattr(errors, name)
        if isinstance(made, type) and issubclass(made, HoldfastError):
            problem = problem_of(made("something is the matter"))
            assert problem.next_steps
            assert all(step.endswith(".") for step in problem.next_steps)


def test_a_client_raises_what_a_local_holdout_does(tmp_path: Path) -> None:
    for error in (
        refusal(tmp_path),
        errors.InvalidQuestion("'y' is no column; did you mean 'x'? Ask that."),
        errors.ToleranceTooTight("requested 1. Ask for more."),
    ):
        again = error_of(json.loads(json.dumps(problem_of(error).to_dict())))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert getattr(again, "shortfall", None) == getattr(error, "shortfall", None)


@pytest.mark.parametrize("body", [{}, {"error": "KeyboardInterrupt"}, {"error": "dataclass"}])
def test_what_is_no_problem_of_ours_is_an_error_all_the_same(body: dict[str, str]) -> None:
    assert type(error_of(body)) is HoldfastError


def test_the_numbers_survive_another_process() -> None:
    error = BudgetExhausted("requested 2. Ask for 1.", Shortfall("questions", 2, 1))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.shortfall) == (str(error), error.shortfall)
