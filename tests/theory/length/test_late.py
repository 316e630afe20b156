"""Late dictionaries: weights and shares that never sum to too much; searches where they count."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import clopper_pearson
from holdfast.theory.leakage.claim_levels import log_left
from holdfast.theory.leakage.nats import LeakageAccount, fixed_share, open_ended_share
from holdfast.theory.length.levels import (
    coexistence_log_charge,
    count_symbols,
    declared_millibits,
    late_log_level,
    late_log_share,
    log_kept,
    undeclared_millibits,
)
from tests.theory.coverage import LEVELS, too_many

LAWS = ("declared_millibits", "late_log_share", "log_kept", "undeclared_millibits")
GOLDEN = json.loads((Path(__file__).parent.parent / "golden.json").read_text(encoding="utf-8"))


@given(members=st.integers(1, 10**9), questions=st.integers(0, 50))
def test_the_weights_of_a_dictionary_sum_to_at_most_one(members: int, questions: int) -> None:
    # 2^(-m/1000) is at most the part that is meant, by integers; and the parts sum to 1.
    others = Fraction(1, 16 * members) if questions else Fraction(1, members)
    assert others.denominator**1000 <= 2 ** undeclared_millibits(members, questions)
    declared = Fraction(0)
    if questions:
        declared = Fraction(15, 16 * members * questions)
        m = declared_millibits(members, questions)
        assert (1 / declared) ** 1000 <= Fraction(2) ** m
    assert members * (questions * declared + others) == 1


@given(
    log_beta=st.floats(-10, -0.1),
    declared=st.one_of(st.none(), st.integers(1, 40)),
    steps=st.lists(st.one_of(st.none(), st.floats(0.01, 0.99)), max_size=40),
    last=st.booleans(),
)
def test_shares_of_questions_and_dictionaries_never_exceed_what_there_is(
    log_beta: float, declared: int | None, steps: list[float | None], last: bool
) -> None:
    """Any order of questions (None) and dictionaries, and perhaps all that is left at the end."""
    account, kept = LeakageAccount(), 0.0
    given_out = []
    for share in steps:
        if share is None:
            if declared is not None and account.asked == declared:
                continue
            number = account.asked + 1
            own = (
                open_ended_share(log_beta, number)
                if declared is None
                else fixed_share(log_beta, declared)
            )
            taken = own + kept
            account = account.ask(taken)
        else:
            left = log_left(log_beta, account.log_beta_spent)
            if left == -math.inf:
                continue
            taken, kept = late_log_share(left, share), log_kept(kept, share)
            account = account.take(taken)
        given_out.append(taken)
    if last and log_left(log_beta, account.log_beta_spent) > -math.inf:
        given_out.append(late_log_share(log_left(log_beta, account.log_beta_spent), 1.0))
    total = math.fsum(math.exp(each) for each in given_out)
    assert total <= math.exp(log_beta) * (1 + 1e-12)
    assert account.log_beta_spent <= log_beta + 1e-12
    if given_out and not last:  # what is written down is no less than what was given out
        assert account.log_beta_spent >= math.log(total) - 1e-12


def test_a_share_is_a_part() -> None:
    for share in (0.0, -0.1, 1.1, math.nan):
        with pytest.raises(InvalidArgument, match="share"):
            late_log_share(-1.0, share)
    with pytest.raises(InvalidArgument, match="share"):
        log_kept(0.0, 1.0)


def test_a_score_of_a_million_configurations_is_the_golden_interval() -> None:
    (row,) = (
        row
        for row in GOLDEN
        if row["what"] == "described Clopper-Pearson interval" and row["inputs"]["n"] == 1000
    )
    # Without the sixteenth for other texts the level is that of the row.
    level = late_log_level(math.log(0.05), undeclared_millibits(10**6, 0), 0.0)
    found = clopper_pearson(1000, row["inputs"]["successes"], level)
    assert tuple(found) == pytest.approx(row["expected"], rel=1e-5)


# --- A search where it is tight ------------------------------------------------------------------


def _any_of_a_space_fails(beta: float, trials: int, counted: int) -> NDArray[np.bool_]:
    """64 configurations whose scores fail on disjoint samples, with exactly their levels."""
    level = math.exp(late_log_level(math.log(beta), undeclared_millibits(counted, 0), 0.0))
    return np.asarray(np.random.default_rng(5).random(trials) < 64 * level)


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
def test_a_search_pays_for_every_configuration(beta: float, trials: int) -> None:
    assert not too_many(_any_of_a_space_fails(beta, trials, counted=64), beta)
    assert too_many(_any_of_a_space_fails(beta, trials, counted=32), beta)


def _best_of_a_null_search_is_missed(beta: float, trials: int, size: int) -> NDArray[np.bool_]:
    """300 candidates that know nothing, scored exactly; the best of all is reported.

    `size` is how many configurations the level counts.
    """
    n, candidates = 400, 300
    level = late_log_level(math.log(beta), declared_millibits(size), 0.0)
    right = np.random.default_rng(6).binomial(n, 0.5, (trials, candidates)).max(axis=1)
    low = {count: clopper_pearson(n, count, level).low for count in np.unique(right).tolist()}
    return np.array([low[count] > 0.5 for count in right.tolist()])


@pytest.mark.statistical
def test_the_best_of_a_null_search_is_where_its_interval_says() -> None:
    beta, trials = 0.05, 4_000
    assert not too_many(_best_of_a_null_search_is_missed(beta, trials, 300), beta)
    # As if one configuration had been declared: more than half of the sessions are fooled.
    fooled = _best_of_a_null_search_is_missed(beta, trials, 1)
    assert too_many(fooled, beta)
    assert fooled.mean() > 0.5


def _question_after_a_score_fails(beta: float, trials: int, nats: float) -> NDArray[np.bool_]:
    """A score names one of 16 equal parts of the samples; a question about that part is asked.

    Its statement fails inside the part only, with exactly its level for a score that is fixed.
    """
    level = math.exp(math.log(beta) - nats)
    return np.asarray(np.random.default_rng(7).random(trials) < 16 * level)


def _worst_after_a_score(n: int, beta_search: float, beta_ask: float, *, charged: bool) -> Fraction:
    """Exactly: 2^n samples, one score (a count), and the worst question for each value of it.

    The question's statement may fail on any set of samples of at most its level; the worst one lies
    where the score was what it was. The score's own statement fails beside.
    """
    level = late_log_level(math.log(beta_search), 0, 0.0)
    alpha = BoundedMean(n).radius(level)
    nats = coexistence_log_charge(count_symbols(n, alpha)) if charged else 0.0
    samples = math.floor(2**n * math.exp(math.log(beta_ask) - nats))
    fails = 0
    for count in range(n + 1):
        cases = math.comb(n, count)
        low, high = clopper_pearson(n, count, level)
        fails += min(cases, samples) if low <= 0.5 <= high else cases
    return Fraction(fails, 2**n)


@pytest.mark.parametrize(("n", "beta"), [(8, 0.2), (10, 0.05), (14, 0.05), (20, 0.01)])
def test_a_question_after_a_score_in_a_world_that_is_counted_out(n: int, beta: float) -> None:
    assert _worst_after_a_score(n, beta / 2, beta / 2, charged=True) <= beta
    assert _worst_after_a_score(n, beta / 2, beta / 2, charged=False) > beta


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
def test_what_comes_after_scores_pays_for_them(beta: float, trials: int) -> None:
    assert not too_many(_question_after_a_score_fails(beta, trials, math.log(16)), beta)
    assert too_many(_question_after_a_score_fails(beta, trials, 0.0), beta)
