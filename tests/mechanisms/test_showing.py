"""What rows show: for a fixed question a false claim is made with probability at most its level.

Every sample of a small world is enumerated, with the truth at the edge of the claim or just beyond
it: the worst place. So the probability is exact, and levels far below what could be drawn are too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.special import logsumexp
from scipy.stats import binom, multinomial

from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Sample
from holdfast.mechanisms.claims import claimable, is_paired, more_than, showings
from holdfast.mechanisms.mechanism import Claim
from holdfast.mechanisms.terms import Terms
from holdfast.question.columns import Schema
from holdfast.question.row import GRID
from holdfast.statistics.mean import Mean
from holdfast.statistics.statistic import Statistic
from tests.mechanisms.fake import (
    ARMS,
    CONDITION,
    CONSTANT,
    NUMBER,
    PAIRED,
    SECRET,
    dependent,
    independent,
    noise_of,
    of_count,
    of_pairs,
    of_units,
)
from tests.statistics.asked import asked

LOG_LEVELS = [math.log(0.3), math.log(0.05), math.log(0.001), -30.0, -200.0, -1_000.0]
ROUNDED = 1e-9  # of a logarithm: what sums of many probabilities may be off by
every_level = pytest.mark.parametrize("log_p", LOG_LEVELS)


def shows(
    question: Statistic, sample: Sample, claim: Claim, log_p: float, **told: float | Terms
) -> bool:
    """Whether the rows show the claim, under `terms`, with a public guess of the `moment`."""
    terms, moment = told.get("terms", independent(sample.n)), told.get("moment")
    assert isinstance(terms, Terms)
    assert not isinstance(moment, Terms)
    (showing,) = showings(terms, [question], [terms.alike], sample, noise_of(SECRET))
    found = showing(claim, log_p, moment)
    assert type(found) is bool
    return found


def log_total(logs: Iterable[float]) -> float:
    found = [each for each in logs if each > -math.inf]
    return float(logsumexp(found)) if found else -math.inf


# Conditions -----------------------------------------------------------------------------------


@every_level
@pytest.mark.parametrize("n", [1, 7, 40])
@pytest.mark.parametrize("claim", [(0.0, 0.3), (0.6, 1.0), (0.3, 0.75), (0.0, 0.97)])
def test_a_false_claim_of_a_condition_is_made_with_probability_at_most_the_level(
    n: int, claim: Claim, log_p: float
) -> None:
    made = [count for count in range(n + 1) if shows(CONDITION, of_count(n, count), claim, log_p)]
    for bound, beyond in ((claim[0], 0.0), (claim[1], 1.0)):
        if bound == beyond:
            continue
        truth = math.nextafter(bound, beyond)
        assert log_total(binom.logpmf(made, n, truth)) <= log_p + ROUNDED


@every_level
@pytest.mark.parametrize("bound", [0.03, 0.3, 0.9])
def test_nothing_is_left_in_the_level_of_one_side(bound: float, log_p: float) -> None:
    """Both directions of the boundary: made where the binomial tail is at most the level."""
    n = 40
    for count in range(n + 1):
        tail = float(binom.logcdf(count, n, bound))
        if abs(tail - log_p) > ROUNDED:
            assert shows(CONDITION, of_count(n, count), (0.0, bound), log_p) == (tail <= log_p)
            mirrored = of_count(n, n - count)
            assert shows(CONDITION, mirrored, (1 - bound, 1.0), log_p) == (tail <= log_p)


def test_a_level_that_is_larger_makes_false_claims_too_often() -> None:
    """The twin: at e times the level, some claim about some n is made more often than allowed."""
    log_p, beyond = math.log(0.05), 0
    for n in range(1, 60, 4):
        made = [c for c in range(n + 1) if shows(CONDITION, of_count(n, c), (0.0, 0.3), log_p + 1)]
        beyond += log_total(binom.logpmf(made, n, 0.3)) > log_p
    assert beyond > 5


@every_level
def test_rows_that_are_not_alike_or_not_independent_show_no_more(log_p: float) -> None:
    """Of unlike rows the count may be more regular than binomial and the mean is what is claimed;
    of dependent ones no more is known than the tail that was declared."""
    n, claim = 40, (0.0, 0.6)
    unlike = replace(independent(n), design=ARMS)
    depending = dependent(n, sigma=0.5 / math.sqrt(n))
    for count in range(n + 1):
        sample = of_count(n, count)
        alike = shows(CONDITION, sample, claim, log_p)
        for terms in (unlike, depending):
            assert alike or not shows(CONDITION, sample, claim, log_p, terms=terms)
    # The worst law of unlike rows with a mean outside: k rows are sure, the others fair or nearly.
    made = [c for c in range(n + 1) if shows(CONDITION, of_count(n, c), claim, log_p, terms=unlike)]
    for sure in range(25):
        rate = (0.6 * n - sure) / (n - sure)
        found = log_total(binom.logpmf([count - sure for count in made], n - sure, rate))
        assert found <= log_p + ROUNDED
    reach = depending.concentration.radius(log_p)
    for count in range(n + 1):
        shown = shows(CONDITION, of_count(n, count), claim, log_p, terms=depending)
        assert not shown or count / n + reach <= 0.6 + 1e-12


# Numbers --------------------------------------------------------------------------------------


def three_valued(n: int) -> Iterable[tuple[int, int, int]]:
    return ((n - b - c, b, c) for b, c in product(range(n + 1), repeat=2) if b + c <= n)


@pytest.mark.parametrize("moment", [None, 0.05, 0.8])
@pytest.mark.parametrize("log_p", [math.log(0.3), math.log(0.05), -30.0])
def test_a_false_claim_of_a_number_is_made_with_probability_at_most_the_level(
    log_p: float, moment: float | None
) -> None:
    """Values 0, 1/2 and 1 with any chances whose mean is at the edge of the claim."""
    n, claim = 12, (0.4, 0.8)
    told = {} if moment is None else {"moment": moment}

    def sample(ends: tuple[int, int, int]) -> Sample:
        middle, most, least = ends
        return of_units([GRID] * most + [GRID // 2] * middle + [0] * least)

    made = [each for each in three_valued(n) if shows(NUMBER, sample(each), claim, log_p, **told)]
    for edge in claim:
        for middle in np.linspace(0.0, 2 * min(edge, 1 - edge), 7):
            most = edge - middle / 2
            chances = np.maximum(0.0, [middle, most, 1 - middle - most])
            logs = [multinomial.logpmf(each, n, chances / chances.sum()) for each in made]
            assert log_total(logs) <= log_p + 1e-6


def test_quiet_numbers_are_shown_where_loud_ones_are_not() -> None:
    n, claim, log_p = 400, (0.45, 0.55), math.log(0.01)
    quiet, loud = of_units([GRID // 2] * n), of_count(n, n // 2)
    assert shows(NUMBER, quiet, claim, log_p)
    assert not shows(NUMBER, loud, claim, log_p)


def test_a_public_guess_of_the_spread_is_what_is_bet_on() -> None:
    """1 of 20 rows is 1 and all others 1/2: (2x - 1)^2 is 0.05 on average."""
    sample, claim, log_p = of_units([GRID] * 20 + [GRID // 2] * 380), (0.503, 1.0), math.log(0.001)
    assert shows(NUMBER, sample, claim, log_p, moment=0.05)
    assert not shows(NUMBER, sample, claim, log_p, moment=1.0)


def test_a_number_that_is_one_shows_only_what_it_is() -> None:
    """The fraction of a range of one value is 0 by convention; nothing is read for it."""

    class Unread:
        n = 10

    sample: Sample = Unread()  # type: ignore[assignment]
    for claim, made in (((-0.1, 0.2), True), ((0.0, 1.0), True), ((0.1, 1.0), False)):
        assert shows(CONSTANT, sample, claim, -5.0) is made


# Differences of two conditions ----------------------------------------------------------------


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("log_p", [math.log(0.3), math.log(0.05), -20.0])
@pytest.mark.parametrize("side", ["more", "less"])
def test_a_candidate_that_is_no_better_is_shown_with_probability_at_most_the_level(
    log_p: float, margin: float, side: str
) -> None:
    n = 16
    claim: Claim = (more_than((1 + margin) / 2), 1.0)
    if side == "less":
        claim = (0.0, math.nextafter((1 - margin) / 2, 0.0))
    made = [each for each in three_valued(n) if shows(PAIRED, _pairs(each, side), claim, log_p)]
    assert made or log_p < -10 or margin > 0
    for same in (0.0, 0.3, 0.8):
        chances = [same, (1 - same + margin) / 2, (1 - same - margin) / 2]
        logs = [multinomial.logpmf(each, n, chances) for each in made]
        assert log_total(logs) <= log_p + 1e-6


def _pairs(each: tuple[int, int, int], side: str) -> Sample:
    same, b, c = each
    return of_pairs(same, b, c) if side == "more" else of_pairs(same, c, b)


def test_the_sign_test_is_for_alike_rows_and_no_margin() -> None:
    """10 rows against 0: P[Bin(10, 1/2) >= 10] = 1/1024 is all that is needed, whatever n."""
    gate: Claim = (more_than(0.5), 1.0)
    log_p = -10 * math.log(2)
    for same in (0, 1_000, 10**6):
        sample = of_pairs(same, 10, 0)
        assert shows(PAIRED, sample, gate, log_p + 1e-9)
        assert not shows(PAIRED, sample, gate, log_p - 1e-9)
        assert not shows(PAIRED, sample, (more_than(0.6), 1.0), log_p + 1e-9)
    # The twin: of rows that are not alike ten such need not be coins.
    unlike = replace(independent(1_010), design=ARMS)
    assert not shows(PAIRED, of_pairs(1_000, 10, 0), gate, log_p + 1e-9, terms=unlike)


# Rows that differ with probabilities of their own: (only the candidate is right, only the other).
UNLIKE = {
    "two nearly sure gains and a sure loss": [(0.75, 0.25), (0.75, 0.25), (0.0, 1.0)],
    "gains that are sure and losses that are rare": [(1.0, 0.0)] * 2 + [(0.0, 0.25)] * 8,
    "losses that are sure and gains that are rare": [(0.0, 1.0)] * 2 + [(0.25, 0.0)] * 8,
    "every row is another": [(0.1 * k, 0.9 - 0.1 * k) for k in range(10)],
    "all alike": [(0.3, 0.3)] * 9,
}
GATED: Claim = (more_than(0.5), 1.0)


def chance_that_it_is_shown(
    rows: list[tuple[float, float]], test: Callable[[int, int], bool]
) -> float:
    """By enumeration: of all that independent rows may come to, what a test takes for a gain."""
    law = {(0, 0): 1.0}
    for gain, loss in rows:
        after: dict[tuple[int, int], float] = {}
        for (b, c), chance in law.items():
            for pair, times in (((b + 1, c), gain), ((b, c + 1), loss), ((b, c), 1 - gain - loss)):
                after[pair] = after.get(pair, 0.0) + chance * times
        law = after
    return math.fsum(chance for (b, c), chance in law.items() if test(b, c))


@pytest.mark.parametrize("rows", UNLIKE.values(), ids=UNLIKE)
@pytest.mark.parametrize("moment", [None, 0.4])
def test_of_unlike_rows_no_false_gain_is_shown_more_often_than_its_level(
    rows: list[tuple[float, float]], moment: float | None
) -> None:
    """The average gain of each world is 0, so that any is false; they are bet on."""
    assert math.fsum(gain - loss for gain, loss in rows) == pytest.approx(0.0, abs=1e-12)
    n, told = len(rows), {} if moment is None else {"moment": moment}
    known = replace(independent(n), public=("source",))
    for level in (0.5, 0.05, 1e-6):

        def bets(b: int, c: int, level: float = level) -> bool:
            sample = of_pairs(n - b - c, b, c)
            return shows(PAIRED, sample, GATED, math.log(level), terms=known, **told)

        assert chance_that_it_is_shown(rows, bets) <= level


def test_the_sign_test_of_unlike_rows_exceeds_its_level() -> None:
    """The twin: two rows that gain with 3/4 and a sure loss are no gain, shown with 9/16 at 1/2."""
    rows = UNLIKE["two nearly sure gains and a sure loss"]

    def sign_test(b: int, c: int) -> bool:
        return shows(PAIRED, of_pairs(3 - b - c, b, c), GATED, math.log(0.5) + 1e-9)

    assert chance_that_it_is_shown(rows, sign_test) == pytest.approx(9 / 16)
    assert chance_that_it_is_shown([(0.5, 0.5)] * 3, sign_test) == pytest.approx(0.5)


def test_what_is_paired_is_seen_from_the_words() -> None:
    schema = Schema(PolarsSample(pl.DataFrame({"a": [True], "b": [True], "x": [1]})).types)
    schema = schema.declare({"x": (-1.0, 1.0)})
    paired = {
        "avg(a - b)": True,
        "avg(case when a then 1 when b then -1 else 0 end)": True,
        "avg(a)": False,  # 0 and 1 only: a condition
        "avg(x)": False,  # any number between -1 and 1
        "avg(a - x)": False,
        "avg(case when a then 1 when b then -1 else 0.5 end)": False,
    }
    assert {text: is_paired(asked(text, schema)) for text in paired} == paired


def test_pairs_with_missing_values_count_as_the_mean_counts_them() -> None:
    """A missing difference is no difference, in both: so one claim is about one truth."""
    bits = [True, False, None]
    frame = pl.DataFrame([(a, b) for a in bits for b in bits], schema=["a", "b"], orient="row")
    better = frame.filter(pl.col("a") & ~pl.col("b"))
    sample = PolarsSample(pl.concat([frame, better] * 100))
    schema, n = Schema(sample.types), sample.n
    for text in ("avg(a - b)", "avg(case when a then 1 when not a then -1 else 0 end)"):
        question = asked(text, schema)
        assert isinstance(question, Mean)
        assert is_paired(question)
        mean = 2 * sample.sums([question.row])[0] / GRID / n - 1
        low, high = ((1 + mean + off) / 2 for off in (-0.1, 0.1))
        assert shows(question, sample, (low, high), math.log(0.05))
        for beyond in ((low + 0.04, high + 0.06), (low - 0.06, high - 0.04)):
            assert not shows(question, sample, beyond, math.log(0.05))


# What a claim is ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "fine"),
    [
        ((0.2, 0.4), True),
        ((-0.1, 0.0), True),
        ((1.0, 1.2), True),
        ((-5.0, 5.0), True),
        ((0.4, 0.2), False),
        ((1.0001, 1.2), False),
        ((-0.2, -0.1), False),
        ((math.nan, 0.5), False),
        ((0.5, math.nan), False),
        (None, False),
    ],
)
def test_a_claim_has_a_part_in_the_range(claim: Claim | None, fine: bool) -> None:
    assert claimable(claim) is fine


def test_a_claim_beyond_an_end_of_the_range_binds_nothing_there() -> None:
    every: list[Callable[[int], Sample]] = [
        lambda count: of_count(20, count),
        lambda count: of_units([GRID] * count + [0] * (20 - count)),
    ]
    for question, sample in zip((CONDITION, NUMBER), every, strict=True):
        for count in range(21):
            assert shows(question, sample(count), (0.0, 1.0), -700.0)
            for claim in ((0.0, 0.7), (-3.0, 0.7)):
                one = shows(question, sample(count), claim, -2.0)
                assert one == shows(question, sample(count), (0.0, 0.7), -2.0)


def test_one_batch_reads_every_kind_in_its_place() -> None:
    frame = pl.DataFrame(
        {"a": [True] * 30 + [False] * 10, "b": [False] * 20 + [True] * 20, "x": [0.5] * 40}
    )
    sample = PolarsSample(frame)
    schema = Schema(sample.types).declare({"x": (0.0, 1.0)})
    texts = ["avg(x)", "avg(a - b)", "avg(a)", "avg(x)", "avg(not a)", "avg(b - a)"]
    questions = [asked(text, schema) for text in texts]
    claims = [(0.3, 0.7), (more_than(0.5), 1.0), (0.5, 1.0), (0.6, 1.0), (0.5, 1.0), (0.51, 1.0)]
    alike = [True] * len(questions)
    found = showings(independent(40), questions, alike, sample, noise_of(SECRET))
    made = [each(claim, math.log(0.05), None) for each, claim in zip(found, claims, strict=True)]
    alone = [
        shows(question, sample, claim, math.log(0.05))
        for question, claim in zip(questions, claims, strict=True)
    ]
    assert made == alone == [True, True, True, False, False, False]
