"""What the planner says of a mechanism is what a ledger opened with it promises and releases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.data.design import NO_DESIGN
from holdfast.data.sampling import Declared, Independent, Sampling, clustered, declared, m_dependent
from holdfast.errors import BudgetExhausted
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.catalogue import CATALOGUE, methods
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.mechanism import Mechanism, Wish, about
from holdfast.mechanisms.terms import Account, Declarations, Describing, Terms
from holdfast.planner.table import Plan
from tests.mechanisms.fake import NUMBER, Session, of_count, settled

PROMISING = [kind for kind in CATALOGUE.values() if kind.theorem is not None]
ROUNDED = 1_000  # some declare the next thousandth


ONE_BY_ONE = [kind.name for kind in PROMISING if not kind.once]
# Every mechanism as it is opened alone, and those that stand beside described answers.
STORIES = [
    *((kind.name, "off") for kind in PROMISING),
    *((kind.name, "exact") for kind in PROMISING if kind.beside_described),
]
EACH_ONE_BY_ONE = [story for story in STORIES if story[0] in ONE_BY_ONE]


@cache
def _plan(rows: int, questions: int, described: Describing, level: float = 0.95) -> Plan:
    """What the planner says, of every mechanism at once."""
    return holdfast.plan(
        rows=rows, questions=questions, confidence_level=level, described=described
    )


def _wanted(
    rows: int,
    tolerance: float | None,
    questions: int,
    described: Describing,
    sampling: Sampling | None = None,
    surprises: int | None = None,
    level: float = 0.95,
) -> Terms:
    """The terms as an opening makes them."""
    said = Declarations(tolerance, questions, surprises, level, described=described)
    return said.terms(rows, sampling or Independent(), NO_DESIGN)


def test_the_default_of_the_planner_is_that_of_a_ledger() -> None:
    planned = holdfast.plan(rows=1_000, questions=10).request
    terms = Declarations(questions=10).terms(1_000, Independent(), NO_DESIGN)
    assert (planned.described, planned.pots) == (terms.described, terms.pots)
    assert planned.described == "exact"
    assert math.exp(terms.log_beta) == pytest.approx(0.03)
    assert math.exp(terms.log_beta_described) == pytest.approx(0.02)


def test_every_promising_mechanism_is_in_the_planner() -> None:
    assert {kind.name for kind in PROMISING} <= {method.name for method in methods()}
    assert len(PROMISING) >= 10


@pytest.mark.parametrize(("name", "described"), STORIES)
@pytest.mark.parametrize(("rows", "questions"), [(1_000, 1), (20_000, 100), (10**6, 500)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_the_half_width_that_is_opened(
    name: str, described: Describing, rows: int, questions: int, level: float
) -> None:
    planned = _plan(rows, questions, described, level)[name].half_width
    assert planned is not None
    wanted = _wanted(rows, None, questions, described, level=level)
    opened = CATALOGUE[name].plan(wanted, {}).terms(wanted).half_width
    assert planned - 1e-7 <= opened <= math.ceil(planned * ROUNDED) / ROUNDED


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_many_rows_are_not_wasted_by_rounding(name: str) -> None:
    """Where half-widths are far below a thousandth they keep two digits."""
    planned = _plan(10**9, 10, "off")[name].half_width
    assert planned is not None
    assert planned < 1e-3
    wanted = Terms(10**9, None, 0.95, 10, Independent())
    opened = CATALOGUE[name].plan(wanted, {}).terms(wanted).half_width
    assert planned - 1e-7 <= opened <= 1.1 * planned


SAMPLINGS: dict[str, Sampling] = {
    "independent": Independent(),
    "clustered": clustered("unit", sizes="fixed", size=4.0),
    "m-dependent": m_dependent(2),
    "declared": declared(sigma=0.004),
}
every_sampling = pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS)


def _sigma(sampling: Sampling, rows: int) -> float:
    return float(sampling.profile(rows).sigma)  # type: ignore[attr-defined]


def _runs(questions: int, surprises: int) -> list[list[bool]]:
    """The dearest order, surprises before the last check; then surprises at both ends."""
    confirmed = questions - surprises
    return [
        [False] * max(0, confirmed - 1) + [True] * surprises + [False] * min(1, confirmed),
        [True] * surprises + [False] * confirmed,
        [False] * confirmed + [True] * surprises,
    ]


def _played(terms: Terms, run: Sequence[bool]) -> int:
    """How many of the checks of a run are answered; right guesses are .99 sigma off, and confirmed.

    What is refuted is asked. Half of the values are 0 and half are 1, so that no interval profits
    from a small variance.
    """
    sample = of_count(terms.rows, terms.rows // 2)
    half, off = terms.rows // 2 / terms.rows, 0.99 * _sigma(terms.sampling, terms.rows)
    session = Session(terms)
    for number, surprising in enumerate(run):
        wish = about(NUMBER, terms.half_width, 1.0 if surprising else half + off)
        try:
            release = session.put(CHECKS, wish, sample)
            if surprising:
                session.put(BOUNDED, Wish(NUMBER, terms.half_width), sample)
        except BudgetExhausted:
            return number
        assert release.status == ("not confirmed" if surprising else "confirmed"), number
    return len(run)


@every_sampling
@pytest.mark.parametrize(
    ("rows", "questions", "described"), [(1_000, 30, "exact"), (20_000, 100, "off")]
)
def test_planned_checks_are_all_answered(
    sampling: Sampling, rows: int, questions: int, described: Describing
) -> None:
    """By a ledger that declares what the planner was told: every row, in the dearest order."""
    played = 0
    for surprises in {0, 1, math.ceil(questions / 100), questions // 10, questions // 2, questions}:
        plan = holdfast.plan(
            rows=rows,
            questions=questions,
            surprises=surprises,
            sampling=sampling,
            described=described,
        )
        width = plan[
            f"guess and check, {surprises} wrong guess{'es' * (surprises != 1)}"
        ].half_width
        if width is None:
            continue
        terms = _wanted(rows, width, questions, described, sampling, surprises)
        for run in _runs(questions, surprises)[: 3 if rows == 1_000 else 1]:
            assert _played(terms, run) == questions, surprises
        played += 1
    assert played >= 4


@every_sampling
@pytest.mark.parametrize("surprises", [0, 3])
def test_as_many_checks_as_are_planned(sampling: Sampling, surprises: int) -> None:
    """The planner's inverses: the most checks of a half-width, and the fewest rows for some."""
    name = f"guess and check, {surprises} wrong guesses"
    declared: dict[str, Any] = {"tolerance": 0.07, "surprises": surprises, "sampling": sampling}
    plan = holdfast.plan(rows=12_000, **declared)
    many = min(plan[name].questions or 0, 200)  # where there are more, so many are answered too
    assert many >= 10
    terms = _wanted(12_000, 0.07, many, "exact", sampling, surprises)
    assert _played(terms, _runs(many, surprises)[0]) == many
    if isinstance(sampling, Declared):  # it says nothing about other numbers of rows
        return
    plan = holdfast.plan(questions=60, **declared)
    rows = plan[name].rows
    assert rows is not None
    terms = _wanted(rows, 0.07, 60, "exact", sampling, surprises)
    assert _played(terms, _runs(60, surprises)[0]) == 60


def _played_or_refuted(terms: Terms, questions: int, surprises: int) -> int:
    try:
        return _played(terms, _runs(questions, surprises)[0])
    except AssertionError:  # a guess .99 sigma off is no longer confirmed
        return 0


@pytest.mark.parametrize(("planned_for", "opened_with"), [(5, 0), (0, 5), (5, None), (20, 2)])
def test_sabotage_another_prior_than_planned_is_noticed(
    planned_for: int, opened_with: int | None
) -> None:
    """The half-width of one prior, the charges of another: the run stops or guesses are refuted."""
    plan = holdfast.plan(rows=20_000, questions=200, surprises=planned_for, described="off")
    width = plan[f"guess and check, {planned_for} wrong guesses"].half_width
    assert width is not None
    terms = Terms(20_000, width, 0.95, 200, Independent(), surprises=opened_with)
    assert _played_or_refuted(terms, 200, planned_for) < 200


@pytest.mark.parametrize(("name", "described"), EACH_ONE_BY_ONE)
@pytest.mark.parametrize(("rows", "questions"), [(5_000, 5), (20_000, 100)])
def test_planned_questions_are_all_answered(
    name: str, described: Describing, rows: int, questions: int
) -> None:
    """At the planned half-width itself, not at the next thousandth: every mechanism's row."""
    width = _plan(rows, questions, described)[name].half_width
    assert width is not None
    wanted = _wanted(rows, width * (1 + 1e-9), questions, described)
    planned = CATALOGUE[name].plan(wanted, {})
    terms = planned.terms(wanted)
    assert _asked(CATALOGUE[name].build(terms, planned.parameters), terms) == questions


def _asked(mechanism: Mechanism, terms: Terms) -> int:
    """How many of the declared questions are answered, one by one."""
    account = Account()
    try:
        for _ in range(terms.questions or 0):
            offers = mechanism.offer(terms, account, [Wish(NUMBER, terms.half_width)])
            releases = [settled(mechanism, offer, offer.own_grid.last // 2) for offer in offers]
            account = mechanism.advance(account, offers, releases)
    except BudgetExhausted:
        pass
    return account.asked


@pytest.mark.parametrize(
    ("planned_with", "opened_with", "part"),
    [("off", "off", 0.999), ("exact", "exact", 0.999), ("off", "exact", 1.0)],
)
def test_sabotage_a_narrower_half_width_than_planned_is_refused(
    planned_with: Describing, opened_with: Describing, part: float
) -> None:
    """So is one that was planned with all of the failure probability, where there is less."""
    width = _plan(20_000, 100, planned_with)["bounded noise"].half_width
    assert width is not None
    assert _asked(BOUNDED, _wanted(20_000, part * width, 100, opened_with)) < 100


@pytest.mark.parametrize("described", ["exact", "rounded"])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_described_questions_are_as_narrow_as_planned(
    described: Describing, share: float, tmp_path: Path
) -> None:
    """Opened on rows of which so many are true, a question is within the row of its bits."""
    rows = 4_000
    late = [180.0] * round(share * rows) + [0.0] * (rows - round(share * rows))
    table = pl.DataFrame({"arr_delay": late, "month": [1] * rows, "hour": [12] * rows})
    holdout = holdfast.open(
        table,
        ledger=tmp_path / "t.ledger",
        questions=10,
        tolerance=0.2,  # the ledger would have nothing narrower
        described=described,
        schema={"arr_delay": (-60, 180), "month": (1, 12), "hour": (0, 23)},
    )
    plan = holdfast.plan(rows=rows, questions=10, described=described)
    checked = 0
    with holdout:
        for text in ("avg(arr_delay > 15)", "avg(arr_delay > 15 or month = 7 and hour < 6)"):
            answer = holdout.ask(text)
            length = holdfast.stats.bits(text, holdout.opening.schema).plain
            bits = next(row for row in (15, 25, 35, 50) if length <= row)
            row = plan[f"described, {bits} bits"]
            assert row.half_width is not None
            assert answer.half_width <= row.half_width
            if described == "exact" and share == 0.1:
                assert row.at_a_tenth is not None
                assert answer.half_width <= row.at_a_tenth
            checked += 1
    assert checked == 2


def test_described_clusters_are_as_narrow_as_planned(tmp_path: Path) -> None:
    table = pl.DataFrame({"unit": [i // 4 for i in range(4_000)], "y": [True, False] * 2_000})
    sampling = clustered("unit", sizes="fixed", size=4.0)
    plan = holdfast.plan(rows=4_000, questions=10, sampling=sampling)
    width = plan["described, 15 bits"].half_width
    assert width is not None
    with holdfast.open(
        table, ledger=tmp_path / "t.ledger", sampling=sampling, described="exact", questions=10
    ) as holdout:
        answer = holdout.ask("avg(y)")
        assert holdfast.stats.bits("avg(y)", holdout.opening.schema).plain <= 15
    assert answer.half_width <= width


@every_sampling
@pytest.mark.parametrize("questions", [1, 30])
def test_one_look_at_rows_of_any_kind(sampling: Sampling, questions: int) -> None:
    """The planner's half-width is what the look is opened with, and all questions fit."""
    plan = holdfast.plan(rows=5_000, questions=questions, sampling=sampling, described="exact")
    opened = CATALOGUE["one look"].plan(Terms(5_000, None, 0.95, questions, sampling), {})
    assert plan["one look"].half_width == pytest.approx(opened.tolerance, abs=1e-8)
    terms = Terms(5_000, opened.tolerance, 0.95, questions, sampling)
    mechanism = CATALOGUE["one look"].build(terms, opened.parameters)
    wishes = [Wish(NUMBER, terms.half_width)] * questions
    assert len(mechanism.offer(terms, Account(), wishes)) == questions
