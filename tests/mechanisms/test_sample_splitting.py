"""Sample splitting: exact values of fresh rows, true intervals, and a twin that uses rows again."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import (
    Independent,
    clustered,
    declared,
)
from holdfast.errors import InvalidArgument, InvalidQuestion, ToleranceTooTight
from holdfast.ledger.audit import audit
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.mechanisms.mechanism import Offer, Release, Wish
from holdfast.mechanisms.terms import Account, Terms
from holdfast.papers.sample_splitting import SAMPLE_SPLITTING, SampleSplitting
from holdfast.question.columns import Schema
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.concentration import BoundedMean
from tests.holdout.tables import BOUNDS, same_secret, table
from tests.mechanisms.fake import (
    ARMS,
    CONDITION,
    NUMBER,
    audited,
    independent,
    leaked,
    noise_of,
    said,
    settled,
)
from tests.statistics.asked import asked
from tests.theory.coverage import LEVELS, most_failures, too_many

MECHANISM = SampleSplitting()


def wanted(rows: int, questions: int | None, tolerance: float | None = None) -> Terms:
    return Terms(rows, tolerance, 0.95, questions, Independent())


@pytest.mark.parametrize(("rows", "questions"), [(1_000, 4), (20_000, 20), (163_673, 100)])
def test_the_planners_half_width_is_what_is_released(rows: int, questions: int) -> None:
    terms = SAMPLE_SPLITTING.plan(wanted(rows, questions), {}).terms(wanted(rows, questions))
    tolerance = terms.half_width
    listed = holdfast.plan(rows=rows, questions=questions, described="off")[
        "sample splitting"
    ].half_width
    assert listed is not None
    assert listed - 4e-9 <= tolerance <= listed
    for question in (CONDITION, NUMBER):
        (offer,) = MECHANISM.offer(terms, Account(), [Wish(question, tolerance)])
        hoeffding = BoundedMean(rows // questions).radius(said(offer.log_p))
        assert Fraction(said(offer.radius)) >= Fraction(hoeffding) + Fraction(question.error)
        half = [settled(MECHANISM, offer, cell).interval for cell in (0, offer.own_grid.last // 2)]
        widths = [(high - low) / 2 for low, high in half]
        assert widths[0] < widths[1] <= said(offer.tolerance) <= tolerance
        # The worst value is as wide as is promised; Clopper and Pearson's is a little narrower.
        assert widths[1] > (0.75 if question is CONDITION else 0.98) * listed
        assert offer.worst_charge == 0.0


def test_answers_are_exact_values_of_disjoint_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same_secret(monkeypatch)
    rows = table(1_000)
    declared: dict[str, Any] = {"questions": 4, "mechanism": "sample splitting", "schema": BOUNDS}
    with holdfast.open(
        rows, ledger=tmp_path / "s.ledger", **{"described": "off", **declared}
    ) as holdout:
        # Four questions of the same meaning: their parts make up the table.
        same = [f"avg(late or (late and x > {place}))" for place in range(4)]
        answers = [holdout.ask(question) for question in same]
        assert sum(answers) / 4 == pytest.approx(rows["late"].mean(), abs=1e-12)
        assert all(250 * answer == round(250 * answer) for answer in answers)
        assert len({answer.value for answer in answers}) > 1
        assert holdout.budget.nats == 0.0
    assert all(finding.fine for finding in audit(tmp_path / "s.ledger"))
    # The same rows in another order and another engine, and a ledger that was closed in between.
    path = tmp_path / "t.parquet"
    rows.sample(fraction=1.0, shuffle=True, seed=1).write_parquet(path)
    again = []
    for data, question in zip((rows, path, rows, path), same, strict=True):
        with holdfast.open(
            data, ledger=tmp_path / "two.ledger", **{"described": "off", **declared}
        ) as holdout:
            again.append(holdout.ask(question).value)
    assert again == [answer.value for answer in answers]


# True intervals, where they are tight: one fixed question ---------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
@pytest.mark.parametrize("truth", [0.08, 0.5])
def test_an_interval_misses_no_more_often_than_promised(
    beta: float, trials: int, truth: float
) -> None:
    rows = 120
    terms = independent(rows, tolerance=0.49, questions=1, confidence_level=1 - beta)
    (offer,) = MECHANISM.offer(terms, Account(), [Wish(CONDITION, 0.49)])
    counts = np.random.default_rng(11).binomial(rows, truth, trials)

    def misses(offer: Offer) -> int:
        intervals = [settled(MECHANISM, offer, count).interval for count in range(rows + 1)]
        table = np.array([not low <= truth <= high for low, high in intervals])
        return int(np.count_nonzero(table[counts]))

    assert 0.1 * beta * trials < misses(offer) <= most_failures(trials, beta)
    careless = replace(offer, log_p=said(offer.log_p) / 2)  # sabotage: half of the nats
    assert misses(careless) > most_failures(trials, beta)


# An adaptive analyst: learn from 61 parts which features agree, let them vote on the last -------

FEATURES, PART, TRIALS = 61, 100, 9
BETAS = [0.05, 0.001]


class OnOnePart(SampleSplitting):
    """Sabotage: every question is answered on the first part."""

    def respond(self, terms, offers, questions, sample, noise):  # type: ignore[no-untyped-def]
        first = [replace(offer, number=1) for offer in offers]
        return super().respond(terms, first, questions, sample, noise)


@cache
def attacked(mechanism: SampleSplitting, trial: int) -> dict[float, bool]:
    """For each level whether an interval missed; the answers are the same at both."""
    rng = np.random.default_rng([7, trial])
    names = [f"f{place}" for place in range(FEATURES)]
    rows = PART * (FEATURES + 1)
    frame = pl.DataFrame(rng.integers(0, 2, (rows, FEATURES)).astype(bool), schema=names)
    sample = PolarsSample(frame)
    schema = Schema(sample.types)
    secret = blake2b(f"{trial}".encode(), digest_size=32).digest()
    terms = {
        beta: independent(rows, tolerance=0.49, questions=FEATURES + 1, confidence_level=1 - beta)
        for beta in BETAS
    }
    found = dict.fromkeys(BETAS, False)

    def answer(account: Account, questions: list[Statistic]) -> list[Release]:
        wishes = [Wish(each, 0.49) for each in questions]
        offers = {beta: mechanism.offer(terms[beta], account, wishes) for beta in BETAS}
        symbols = mechanism.respond(
            terms[BETAS[0]], offers[BETAS[0]], questions, sample, noise_of(secret)
        )
        for beta in BETAS:
            releases = mechanism.settle(offers[beta], symbols)
            intervals = [release.interval for release in releases]
            found[beta] |= any(not low <= 0.5 <= high for low, high in intervals)
        return releases

    first = answer(Account(), [asked(f"avg({name})", schema) for name in names])
    votes = " + ".join(
        name if release.told > 0.5 else f"(1 - {name})"
        for name, release in zip(names, first, strict=True)
    )
    answer(leaked(0.0, asked=FEATURES), [asked(f"avg({votes} > {FEATURES / 2})", schema)])
    return found


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
def test_fresh_rows_cannot_be_overfitted(beta: float) -> None:
    assert not too_many([attacked(MECHANISM, trial)[beta] for trial in range(TRIALS)], beta)


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
def test_rows_that_are_used_again_are(beta: float) -> None:
    assert too_many([attacked(OnOnePart(), trial)[beta] for trial in range(TRIALS)], beta)


# Refusals ---------------------------------------------------------------------------------------


def test_what_it_needs() -> None:
    with pytest.raises(InvalidArgument, match="needs questions="):
        SAMPLE_SPLITTING.plan(wanted(1_000, None), {})
    with pytest.raises(InvalidArgument, match="independent rows that are alike"):
        SAMPLE_SPLITTING.plan(
            replace(wanted(1_000, 4), sampling=clustered("u", sizes="fixed", size=4)), {}
        )
    with pytest.raises(InvalidArgument, match="independent rows that are alike"):
        SAMPLE_SPLITTING.plan(replace(wanted(1_000, 4), design=ARMS), {})
    with pytest.raises(ToleranceTooTight, match=r"requested half-width 0\.01 .* best possible"):
        SAMPLE_SPLITTING.plan(wanted(1_000, 4, 0.01), {})
    with pytest.raises(ToleranceTooTight, match=r"requested half-width 0\.5 "):
        SAMPLE_SPLITTING.plan(wanted(1_000, 2_000), {})
    assert SAMPLE_SPLITTING.plan(wanted(1_000, 4, 0.3), {}).tolerance == 0.3


def test_only_averages_of_all_rows(tmp_path: Path) -> None:
    with holdfast.open(
        table(1_000), ledger=tmp_path / "s.ledger", questions=4, mechanism="sample splitting"
    ) as holdout:
        spread = holdfast.statistic(
            lambda frame: 0.0, columns=["x"], bounds=(0, 1), name="spread", sigma=0.01
        )
        with pytest.raises(InvalidQuestion, match="averages of all rows"):
            holdout.ask(spread)
        with pytest.raises(ToleranceTooTight, match="requested half-width"):
            holdout.ask("avg(late)", tolerance=0.01)
        assert holdout.budget.asked == 0


def test_an_audit_finds_more_rows_than_a_part_and_a_part_that_is_not_there() -> None:
    terms = independent(1_000, tolerance=0.3, questions=4)
    (offer,) = MECHANISM.offer(terms, Account(), [Wish(CONDITION, 0.3)])
    for wrong in (
        replace(offer, extra={"rows": 251, "by": "binomial"}),
        replace(offer, extra={"rows": 125, "by": "binomial"}),
        replace(offer, extra={"rows": 250, "by": "chernoff"}),
        replace(offer, radius=offer.statement[1] / 2),
        replace(offer, log_p=math.log(0.05)),
    ):
        assert audited(MECHANISM, terms, Account(), [wrong], [CONDITION])
    assert audited(MECHANISM, terms, Account(), [offer], [CONDITION]) is None
    fault = CATALOGUE["sample splitting"].fault
    assert fault is not None
    assert fault(terms, {}, 1) is None
    for unlike in (replace(terms, design=ARMS), replace(terms, sampling=declared(sigma=0.01))):
        assert fault(unlike, {}, 1) == "its rows are not independent and alike"
