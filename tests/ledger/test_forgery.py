"""Forged ledgers that are well made: chained, sealed, every answer following from its symbol.

Whoever holds the secret can write such a history. Without data an audit cannot know which symbols
the rows gave; everything else of an entry follows from the entries before it, and is found.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import holdfast
from holdfast.certificate.checking import audit_certificate
from holdfast.data.polars import PolarsSample
from holdfast.mechanisms.catalogue import CATALOGUE
from tests.holdout.tables import BOUNDS, copied, table
from tests.ledger.forging import Body, faults, forged, numbers_forged, write
from tests.ledger.reading import rows_of
from tests.mechanisms.sessions import CHECKED, DECLARED, TABLE, TOGETHER, questions_of

every_kind = pytest.mark.parametrize("name", list(CATALOGUE))


def offer(bodies: list[Body], seq: int, place: int = 0) -> Body:
    found: Body = bodies[seq - 1]["items"][place]["offer"]
    return found


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A ledger of each mechanism, made once: asked, checked where it can be, asked together."""

    @cache
    def played(name: str) -> Path:
        path = tmp_path_factory.mktemp("played") / "m.ledger"
        declared = {"questions": 20, **DECLARED.get(name, {})}
        questions = questions_of(name)
        with holdfast.open(
            TABLE, ledger=path, mechanism=name, schema=BOUNDS, **declared
        ) as holdout:
            if name in TOGETHER:
                holdout.ask_many(questions)
                return path
            holdout.ask(questions[0])
            if checks(name):
                holdout.check("avg(x > 0)", 0.7, tolerance=0.3)  # which no answer implies
                holdout.check_many(["avg(x)", "avg(x > 30)"], [12.0, 0.9], tolerance=0.3)
            holdout.ask_many(questions[1:3])
        return path

    return played


def checks(name: str) -> bool:
    return CATALOGUE[name].refuses_checks is None or DECLARED.get(name) is CHECKED


# Every number of every offer -------------------------------------------------------------------


@every_kind
def test_no_number_of_an_offer_can_be_another(
    sessions: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    assert numbers_forged(copied(sessions(name), tmp_path / "forged")) >= 20


@every_kind
def test_nonsense_is_a_finding_and_no_failure(
    sessions: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    for nonsense in ({"profile": 1}, {"extra": 0.5}, {"variance": {"variance": -1.0}}):
        path = copied(sessions(name), tmp_path / next(iter(nonsense)))

        def change(bodies: list[Body], nonsense: Body = nonsense) -> None:
            offer(bodies, 2).update(nonsense)

        assert forged(path, change)


# Changes that fit together ----------------------------------------------------------------------


def cheap_confirmation(bodies: list[Body]) -> None:
    """The prior of a batch of a million checks for one alone: its confirmation is almost free."""
    found = first_claim(bodies)
    found["worst_charge"] += math.log(found["prior"] * 2e6)
    found["prior"] = 0.5 / 1e6


def without_the_grids_error(bodies: list[Body]) -> None:
    """A radius for values as they are, not as they are on the grid; noise fills what it leaves."""
    found = offer(bodies, 2)
    found["radius"] -= 1.39e-9


def no_interval(bodies: list[Body]) -> None:
    first_claim(bodies)["claim"] = [0.3, 0.2]


def first_claim(bodies: list[Body]) -> Body:
    """The offer of the first check that was reserved."""
    offers = (item["offer"] for body in bodies for item in body.get("items", ()))
    return next(each for each in offers if each.get("claim") is not None)


@pytest.mark.parametrize("change", [cheap_confirmation, without_the_grids_error, no_interval])
def test_changes_that_fit_together_are_found(
    sessions: Callable[[str], Path], tmp_path: Path, change: Callable[[list[Body]], None]
) -> None:
    (fault,) = forged(copied(sessions("bounded noise"), tmp_path / "forged"), change)
    assert fault.startswith("entry ")


def test_progress_is_told_to_the_end_even_of_a_ledger_that_is_not_followed_so_far(
    sessions: Callable[[str], Path], tmp_path: Path
) -> None:
    path = copied(sessions("bounded noise"), tmp_path / "forged")
    entries = len(rows_of(path))
    told: list[tuple[int, int]] = []
    assert not faults(path, progress=lambda *how_far: told.append(how_far))
    assert told == [(0, entries), (entries, entries)]
    assert forged(path, no_interval)
    assert faults(path, progress=lambda *how_far: told.append(how_far))
    assert told[2:] == [(0, entries), (entries, entries)]


def test_checks_together_leak_no_more_than_was_set_aside(tmp_path: Path) -> None:
    """Each of a batch within what is left, and all of them beyond it."""
    path = tmp_path / "m.ledger"
    with holdfast.open(
        TABLE, ledger=path, mechanism="gaussian", schema=BOUNDS, questions=20, **CHECKED
    ) as holdout:
        holdout.check_many(["avg(x > 30)", "avg(x > 31)"], [0.9, 0.9], tolerance=0.3)
    assert faults(path) == []

    def change(bodies: list[Body]) -> None:
        kept = bodies[0]["mechanism"]["parameters"]
        most = max(offer(bodies, 2, place)["worst_charge"] for place in (0, 1))
        lower = kept["beside"]["nats"] - most
        kept["beside"]["nats"] = most
        kept["epochs"][0]["log_beta"] += lower

    (fault,) = forged(path, change)
    assert "set aside" in fault


def test_a_bound_on_variances_is_said_where_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "m.ledger"
    with holdfast.open(
        TABLE, ledger=path, mechanism="median noise", questions=20, options={"variance": 0.01}
    ) as holdout:
        holdout.ask("avg(late)")
    assert faults(path) == []

    def change(bodies: list[Body]) -> None:
        bodies[0]["assumes"] = None

    (fault,) = forged(path, change)
    assert "assumes" in fault


@every_kind
def test_what_a_promise_rests_on_is_what_its_mechanism_says(
    name: str, sessions: Callable[[str], Path], tmp_path: Path
) -> None:
    """Words that nothing is derived from are compared, too: in the ledger and its certificate."""
    path = copied(sessions(name), tmp_path / "forged")

    def change(bodies: list[Body]) -> None:
        bodies[0]["assumes"] = "the rows are all there are"

    (fault,) = forged(path, change)
    assert "what it assumes is not what its mechanism rests on" in fault
    with holdfast.open(ledger=path) as holdout:
        certificate = holdout.certificate(str(tmp_path / "reuse.json"))
    assert "the rows are all there are" in certificate.to_json()
    found = [each for each in audit_certificate(tmp_path / "reuse.json") if not each.fine]
    assert "what it assumes" in found[0].detail


@pytest.mark.parametrize(
    "name", ["bounded noise", "median noise", "rounding", "sample splitting", "one look", "exact"]
)
@pytest.mark.parametrize("far", [-(10**16), 10**16])
def test_symbols_outside_their_alphabet_are_no_answers(
    sessions: Callable[[str], Path], tmp_path: Path, name: str, far: int
) -> None:
    """An answer far outside the range would have an interval of no width at its end."""

    def change(bodies: list[Body]) -> None:
        bodies[2]["symbols"][0] = far

    (fault,) = forged(copied(sessions(name), tmp_path / "forged"), change)
    assert "alphabet" in fault


def test_shares_are_added_up_whatever_schedule_gave_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sabotage: every question takes all of the failure probability, and its offer says so."""
    monkeypatch.setattr("holdfast.mechanisms.terms.fixed_share", lambda log_beta, _: log_beta)
    path = tmp_path / "m.ledger"
    with holdfast.open(TABLE, ledger=path, questions=20, tolerance=0.3, described="off") as holdout:
        holdout.ask("avg(late)")
        assert faults(path) == []
        holdout.ask("avg(x > 30)")
    (fault,) = faults(path)
    assert fault.startswith("0.1 of 0.05 given out")


# With the data ----------------------------------------------------------------------------------


def more_rows(opening: Body) -> None:
    opening["rows"] = 2_000_000


def another_column(opening: Body) -> None:
    opening["schema"]["types"]["late"] = "integer"


def larger_groups(opening: Body) -> None:
    opening["design"]["counts"] = [count * 10 for count in opening["design"]["counts"]]


def smaller_units(opening: Body) -> None:
    opening["sampling"]["size"] = 1.0


def fewer_units(opening: Body) -> None:
    opening["sampling"]["units"] = 500  # as if all were full


def test_how_many_units_there_are_is_compared_with_the_table(tmp_path: Path) -> None:
    data = table(2_000).with_columns(unit=pl.int_range(pl.len()) // 3)
    path = tmp_path / "m.ledger"
    holdfast.open(data, ledger=path, sampling=holdfast.clustered("unit", largest=4)).close()
    assert faults(path, sample=lambda: PolarsSample(data)) == []
    bodies = [json.loads(text) for _, text, _ in rows_of(path)][:1]
    assert bodies[0]["sampling"]["units"] == 667
    fewer_units(bodies[0])
    write(path, bodies)
    (fault,) = faults(path, sample=lambda: PolarsSample(data))
    assert "units of the table are not as the opening says" in fault


@pytest.mark.parametrize("change", [more_rows, another_column, larger_groups, smaller_units])
def test_what_the_opening_says_of_the_table_is_compared_with_it(
    tmp_path: Path, change: Callable[[Body], None]
) -> None:
    data = table(2_000).with_columns(
        unit=pl.int_range(pl.len()) // 4, arm=pl.int_range(pl.len()) % 2 == 0
    )
    path = tmp_path / "m.ledger"
    with holdfast.open(
        data,
        ledger=path,
        tolerance=0.3,
        design=["arm"],
        sampling=holdfast.clustered("unit", sizes="fixed"),
        described="off",
    ) as holdout:
        holdout.ask("avg(late)")

    def sample() -> PolarsSample:
        return PolarsSample(data)

    assert faults(path, sample=sample) == []
    bodies = [json.loads(text) for _, text, _ in rows_of(path)][:1]
    change(bodies[0])
    write(path, bodies)
    (fault,) = faults(path, sample=sample)
    assert "the table" in fault
