"""Claims of whole questions, tested by their rule: what is read, what shows, and how often falsely.

Shares of groups and medians are compared with counts and binomial laws by scipy; false claims are
counted exactly in worlds that are enumerated, each with a twin that forgets what a group is.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Clustered, Independent, MDependent, Sampling
from holdfast.errors import InvalidQuestion
from holdfast.mechanisms.claims import CHECKS, GATES, claimed_by_rule, is_by_rule, showings
from holdfast.mechanisms.mechanism import Claim, about
from holdfast.mechanisms.noise import Noise, shared_key
from holdfast.mechanisms.terms import RULES, Account, Terms
from holdfast.question.columns import Schema
from holdfast.statistics.bind import bind
from holdfast.statistics.claimed import ClaimedQuestion
from holdfast.statistics.entry import Bound, Table
from holdfast.statistics.rule import evidence_of
from tests.mechanisms.fake import settled
from tests.statistics import zoo

ROWS = 400
SAMPLINGS: list[Sampling] = [Independent(), Clustered("site", largest=200), MDependent(2)]
TERMS = Terms(ROWS, 0.1, 0.95, 20, Independent(), described="off", described_share=0.0)


def noise(number: int) -> Noise:
    return Noise(b"rule claims", str(number))


def claimed_of(
    text: str, table: Table, terms: Terms = TERMS, keyed: frozenset[str] = frozenset()
) -> ClaimedQuestion:
    found = claimed_by_rule(bind(text, table), terms, table, keyed)
    assert found is not None, text
    return found


def shows(question: ClaimedQuestion, frame: pl.DataFrame, claim: Claim, log_p: float) -> bool:
    """Whether the rows of a table show a claim at a level."""
    terms, own = replace(TERMS, rows=frame.height), replace(question.ground, rows=frame.height)
    own_question = replace(question, ground=own)
    (showing,) = showings(terms, [own_question], [True], PolarsSample(frame), noise)
    return showing(claim, log_p, None)


def readable(text: str, table: Table) -> Bound | None:
    """The question; None where a ledger takes it for the groups of a design alone."""
    try:
        return bind(text, table)
    except InvalidQuestion:
        return None


ZOO = zoo.table(ROWS)


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_a_rule_reads_the_same_of_the_rows_at_every_level(sampling: Sampling) -> None:
    """So that it can be read once, before it is known at which level a batch comes to it."""
    table, terms = Table(zoo.SCHEMA), replace(TERMS, sampling=sampling)
    questions = [readable(case.question, table) for case in zoo.CASES]
    claimed = [claimed_by_rule(each, terms, table, frozenset()) for each in questions if each]
    known = [each for each in claimed if each is not None]
    assert len(known) >= 10
    for each in known:
        reads = each.reads
        for log_p in (-0.1, -7.0, -300.0):
            look = each.look(log_p)
            assert (look.sums, look.histograms, look.others) == (
                reads.sums,
                reads.histograms,
                reads.others,
            )
            assert look.rule.log_p == pytest.approx(log_p, rel=1e-9)


@pytest.mark.parametrize("text", [case.question for case in zoo.CASES])
def test_what_is_claimed_is_what_the_rows_say_and_no_narrower(text: str) -> None:
    """The interval itself is shown, and no claim that leaves out a part of it."""
    table = Table(zoo.SCHEMA)
    read = readable(text, table)
    question = None if read is None else claimed_by_rule(read, TERMS, table, frozenset())
    if question is None:
        return  # it has a test of its own, or parts
    (evidence,) = evidence_of([question.reads], PolarsSample(ZOO), shared_key(noise))
    told = question.told(-6.0, evidence)
    low, high = told.interval
    if told.value is None or (low, high) == (0.0, 1.0):
        assert not shows(question, ZOO, (0.01, 0.99), -6.0)
        return
    assert low <= told.value <= high
    assert shows(question, ZOO, (low, high), -6.0)
    assert shows(question, ZOO, (low, 1.0), -6.0)
    if low > 0.0:
        assert not shows(question, ZOO, (math.nextafter(low, 1.0), 1.0), -6.0)
        assert not shows(question, ZOO, (low, high), -60.0)
    if high < 1.0:
        assert not shows(question, ZOO, (0.0, math.nextafter(high, 0.0)), -6.0)


# Golden values: the law of counts -----------------------------------------------------------------


def grouped(size: int, ones: int, others: int) -> pl.DataFrame:
    """A group of so many rows, in so many of which it holds, and rows where it always holds."""
    return pl.DataFrame(
        {
            "inside": [True] * size + [False] * others,
            "hit": [True] * ones + [False] * (size - ones) + [True] * others,
        }
    )


GROUPED = Table(Schema(PolarsSample(grouped(2, 1, 1)).types))


@pytest.mark.parametrize(("size", "ones"), [(120, 30), (40, 0), (7, 7), (500, 250)])
@pytest.mark.parametrize("p", [0.2, 1e-3, 1e-9])
def test_a_share_of_a_group_is_claimed_by_the_law_of_its_own_count(
    size: int, ones: int, p: float
) -> None:
    question = claimed_of("avg(hit) where inside", GROUPED)
    frame, log_p = grouped(size, ones, 300), math.log(p)
    low = float(stats.beta.ppf(p / 2, ones, size - ones + 1)) if ones else 0.0
    high = float(stats.beta.isf(p / 2, ones + 1, size - ones)) if ones < size else 1.0
    assert shows(question, frame, (low * (1 - 1e-6), min(1.0, high * (1 + 1e-6))), log_p)
    if ones:
        assert not shows(question, frame, (low * (1 + 1e-6), 1.0), log_p)
    if ones < size:
        assert not shows(question, frame, (0.0, high * (1 - 1e-6)), log_p)


def test_nothing_is_shown_of_an_empty_group() -> None:
    question = claimed_of("avg(hit) where inside", GROUPED)
    assert not shows(question, grouped(0, 0, 300), (0.0, 0.999), -1.0)


@pytest.mark.parametrize("p", [0.05, 1e-6])
def test_a_median_is_claimed_by_order_statistics(p: float) -> None:
    rows = 200
    frame = pl.DataFrame({"k": list(range(rows))})
    table = Table(Schema(PolarsSample(frame).types).declare({"k": (0, rows)}))
    question = claimed_of("median(k)", table)
    below = int(stats.binom.ppf(p / 2, rows, 0.5))  # so few rows below it are that unlikely
    low, high = (below - 2) / rows, (rows - below + 2) / rows
    assert shows(question, frame, (low, high), math.log(p))
    assert not shows(question, frame, ((below + 3) / rows, 1.0), math.log(p))


# Worlds that are enumerated -----------------------------------------------------------------------


def false_claims(
    size: int, share: float, theta: float, claim: Claim, log_p: float, *, all_rows: bool = False
) -> float:
    """The probability of a claim that is false of the truth `theta`, over sizes of the group.

    With `all_rows` the twin: the share in the group is taken for one of all rows.
    """
    missed = 0.0
    question = claimed_of("avg(hit) where inside", GROUPED)
    for inside in range(size + 1):
        weight = float(stats.binom.pmf(inside, size, share))
        for ones in range(inside + 1):
            counted, hits = inside, ones
            if all_rows and inside:
                counted, hits = size, round(ones * size / inside)
            if _shown(question, counted, hits, claim, log_p):
                missed += weight * float(stats.binom.pmf(ones, inside, theta))
    return missed


_CACHE: dict[Any, bool] = {}


def _shown(question: ClaimedQuestion, size: int, ones: int, claim: Claim, log_p: float) -> bool:
    key = (size, ones, claim, log_p)
    if key not in _CACHE:
        _CACHE[key] = shows(question, grouped(size, ones, 1), claim, log_p)
    return _CACHE[key]


@pytest.mark.parametrize("p", [0.1, 0.01])
def test_a_group_is_claimed_falsely_no_more_often_than_its_level(p: float) -> None:
    """Over all sizes of the group, of a claim of both sides and of one; the twin is found out."""
    size, share, most, twin = 14, 0.4, 0.0, 0.0
    for claim, truths in (((0.3, 1.0), (0.29, 0.2)), ((0.05, 0.6), (0.61, 0.7, 0.049))):
        for theta in truths:
            most = max(most, false_claims(size, share, theta, claim, math.log(p)))
            found = false_claims(size, share, theta, claim, math.log(p), all_rows=True)
            twin = max(twin, found)
    assert 0.0 < most <= p
    assert twin > p


# Which questions are claimed so, and what an offer says -------------------------------------------


def test_means_and_paired_differences_have_tests_of_their_own() -> None:
    table = Table(zoo.COMPLETE)
    for text in ("avg(x)", "avg(y)", "difference(new, old)", "log_loss(p, y)"):
        assert claimed_by_rule(bind(text, table), TERMS, table, frozenset()) is None
    parts = "difference(avg(x) where y, avg(k) where not y)"
    assert claimed_by_rule(bind(parts, table), TERMS, table, frozenset()) is None
    for text in ("avg(x) where y", "difference(avg(x) where y, rest)", "median(x)", "std(x)"):
        claimed_of(text, table)


def test_ledgers_of_earlier_rules_claim_by_parts_as_before() -> None:
    table, question = Table(zoo.COMPLETE), bind("avg(x) where y", Table(zoo.COMPLETE))
    assert RULES == 5
    earlier = replace(TERMS, rules=4)
    assert claimed_by_rule(question, earlier, table, frozenset()) is None


def test_values_made_for_keys_make_rows_unlike() -> None:
    """Then the rule is that of rows which need not be alike; the key itself is one of these."""
    table = Table(zoo.COMPLETE)
    alike = claimed_of("avg(x) where y", table)
    unlike = claimed_of("avg(x) where y", table, keyed=frozenset({"x"}))
    by_key = claimed_of("avg(x) where y", table, replace(TERMS, key="y"))
    assert alike.reads.rule != unlike.reads.rule
    assert unlike.reads.rule == by_key.reads.rule
    frame = pl.DataFrame({"x": [50.0] * 300, "y": [True] * 200 + [False] * 100})
    assert unlike.reads.rule.method != alike.reads.rule.method
    assert not shows(unlike, frame, (0.45, 0.4501), -6.0)


@pytest.mark.parametrize("claims", [CHECKS, GATES], ids=lambda each: each.name)
def test_an_offer_names_the_rule_and_has_the_level_and_price_of_any_claim(claims: Any) -> None:
    table = Table(zoo.COMPLETE)
    whole, mean = claimed_of("avg(y) where new", table), bind("avg(y)", table)
    (offer,) = claims.offer(TERMS, Account(), [about(whole, 0.1, 0.5)])
    (plain,) = claims.offer(TERMS, Account(), [about(mean, 0.1, 0.5)])  # type: ignore[arg-type]
    assert is_by_rule(offer.profile)
    assert not is_by_rule(plain.profile)
    assert (offer.log_p, offer.worst_charge, offer.prior) == (
        plain.log_p,
        plain.worst_charge,
        plain.prior,
    )
    assert offer.radius is None  # of the sample's value nothing is known
    release = settled(claims, offer, claims.shown)
    assert tuple(release.interval) == pytest.approx((0.4, 0.6))


def test_other_rows_say_what_they_are_and_how_far_it_reaches() -> None:
    question = claimed_of("avg(hit) where inside", GROUPED)
    told = question.told_by(PolarsSample(grouped(100, 25, 60)), math.log(1e-3))
    assert told.value == pytest.approx(0.25)
    assert told.rows == (100, 100)
    low = float(stats.beta.ppf(5e-4, 25, 76))
    assert told.interval.low == pytest.approx(low, rel=1e-6)
    assert np.isfinite(told.interval.high)


def test_other_rows_say_the_same_number_at_every_level() -> None:
    """A claim that is made of it again is the same claim, whatever was spent since."""
    frame = pl.DataFrame({"x": [0.1, 0.7, 0.9] * 40, "inside": [True, False] * 60})
    table = Table(Schema(PolarsSample(frame).types).declare({"x": (0, 1)}))
    for text in ("avg(x) where inside", "sum(x, 7)", "std(x)", "effect(x, inside)"):
        question = claimed_of(text, table)
        told = [question.told_by(PolarsSample(frame), log_p) for log_p in (-2.0, -3.7, -11.3)]
        assert len({each.value for each in told}) == 1
        assert len({each.interval for each in told}) == 3
