"""The stopped-oracle theorem: its limits, its order of charges, and coverage where it is tight."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from holdfast.errors import InvalidArgument
from holdfast.theory.typical.generalisation import (
    stopped_oracle_log_bound,
    stopped_oracle_sequential_log_bound,
)

LAWS = ("stopped_oracle_sequential_log_bound",)

ROUND = st.tuples(st.floats(-1000, -1), st.floats(0, 3), st.floats(0.5, 10))
SCHEDULE = st.lists(ROUND, min_size=1, max_size=12)


def columns(schedule: list[tuple[float, float, float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(zip(*schedule, strict=True))


def sequential(schedule: list[tuple[float, float, float]]) -> float:
    log_ps, alphas, scales = columns(schedule)
    return stopped_oracle_sequential_log_bound(log_ps, alphas, scales)


@given(log_p0=st.floats(-1000, 0))
def test_answers_that_reveal_nothing_are_free(log_p0: float) -> None:
    bound = stopped_oracle_log_bound(log_p0, 0.0)
    assert log_p0 <= bound <= log_p0 + 1e-8


@given(log_p0=st.floats(-30, -1e-3), m=st.floats(0, 6))
def test_the_plain_formula(log_p0: float, m: float) -> None:
    plain = float(ndtr(ndtri(math.exp(log_p0)) + m))
    assert math.exp(stopped_oracle_log_bound(log_p0, m)) == pytest.approx(plain, rel=1e-9)


@given(log_p0=st.floats(-1000, -1), first=st.floats(0, 20), second=st.floats(0, 20))
def test_charges_add_up(log_p0: float, first: float, second: float) -> None:
    # What m adds is exactly a shift of Phi^{-1}, so two shifts are one.
    middle = stopped_oracle_log_bound(log_p0, first)
    at_once = stopped_oracle_log_bound(log_p0, first + second)
    if middle < -1e-9:
        assert stopped_oracle_log_bound(middle, second) == pytest.approx(
            at_once, rel=1e-6, abs=1e-9
        )


@given(round_=ROUND)
def test_one_question_pays_no_noise(round_: tuple[float, float, float]) -> None:
    assert sequential([round_]) == pytest.approx(round_[0], rel=1e-9)


@given(log_p=st.floats(-900, -10), k=st.integers(1, 50), s=st.floats(0.5, 10))
def test_k_rounds_without_radius_are_a_union_bound(log_p: float, k: int, s: float) -> None:
    assert sequential([(log_p, 0.0, s)] * k) == pytest.approx(log_p + math.log(k), rel=1e-9)


@given(schedule=SCHEDULE, at=st.integers(0, 11), more=st.floats(1.01, 2))
def test_every_number_counts_in_its_direction(
    schedule: list[tuple[float, float, float]], at: int, more: float
) -> None:
    at %= len(schedule)
    before = sequential(schedule)
    log_p, alpha, s = schedule[at]
    for changed in ((log_p / more, alpha, s), (log_p, alpha * more, s), (log_p, alpha, s / more)):
        after = sequential([*schedule[:at], changed, *schedule[at + 1 :]])
        assert after >= before - 1e-9 * abs(before)
    assert sequential([*schedule, (-5.0, 0.0, 1.0)]) >= before
    # The last answer is charged to nobody.
    loud = (schedule[-1][0], 100.0, 1.0)
    assert sequential([*schedule[:-1], loud]) == before


@given(schedule=SCHEDULE)
def test_each_term_is_the_block_form_of_what_came_before(
    schedule: list[tuple[float, float, float]],
) -> None:
    total, square = 0.0, 0.0
    for log_p, alpha, s in schedule:
        total += math.exp(stopped_oracle_log_bound(log_p, math.sqrt(square)))
        square += (alpha / s) ** 2
    assert math.exp(sequential(schedule)) == pytest.approx(min(1.0, total), rel=1e-8, abs=1e-300)


def ranks(m: float, questions: int, half: int, trials: int, seed: int) -> np.ndarray:
    """In each trial, how many samples agree with the answers better than the true one does.

    2 `half` samples are +-1 sign vectors, closed under negation; question j asks for sign j, of
    expectation 0 and radius 1; the noise has s = sqrt(questions)/m. After all answers the analyst
    asks a question that fails on the samples that agree best with them, a share p_0 of all.
    """
    rng, batch = np.random.default_rng(seed), 2000
    signs = rng.choice(np.array([-1.0, 1.0], dtype=np.float32), size=(half, questions))
    noise = np.float32(math.sqrt(questions) / m)
    found = []
    for _ in range(trials // batch):
        true = rng.integers(half, size=batch)
        answers = signs[true] + noise * rng.standard_normal((batch, questions), dtype=np.float32)
        scores = answers @ signs.T
        own = scores[np.arange(batch), true]
        # The negated samples have the negated scores; with own < 0 the rank is `half` or more.
        found.append((np.abs(scores) > own[:, None]).sum(1))
    return np.concatenate(found)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("beta", "m", "questions", "half", "trials", "seed"),
    [(0.05, 1.0, 200, 1224, 20_000, 7), (0.001, 0.5, 100, 6056, 20_000, 8)],
)
def test_coverage_where_the_bound_is_tight(
    beta: float, m: float, questions: int, half: int, trials: int, seed: int
) -> None:
    count = math.floor(float(ndtr(ndtri(beta) - m)) * 2 * half)
    claimed = math.exp(stopped_oracle_log_bound(math.log(count / (2 * half)), m))
    assert 0.99 * beta < claimed <= beta
    rank = ranks(m, questions, half, trials, seed)
    failures = np.count_nonzero(rank < count)
    assert failures <= binom.isf(1e-9, trials, beta)
    assert failures >= binom.ppf(1e-6, trials, 0.8 * beta)  # the instance is tight
    # Sabotage: treat the answers as free and let the last question fail on a share of beta.
    uncharged = np.count_nonzero(rank < math.floor(beta * 2 * half))
    assert uncharged > binom.isf(1e-9, trials, beta)


@pytest.mark.parametrize(
    ("log_ps", "alphas", "scales"),
    [
        ((-5.0,), (1.0, 1.0), (1.0,)),
        ((0.5,), (1.0,), (1.0,)),
        ((-5.0, math.nan), (1.0, 1.0), (1.0, 1.0)),
        ((-5.0,), (-1.0,), (1.0,)),
        ((-5.0,), (1.0,), (0.0,)),
        ((-5.0,), (1.0,), (math.inf,)),
    ],
)
def test_the_schedule_is_checked(
    log_ps: tuple[float, ...], alphas: tuple[float, ...], scales: tuple[float, ...]
) -> None:
    with pytest.raises(InvalidArgument):
        stopped_oracle_sequential_log_bound(log_ps, alphas, scales)


def test_extremes() -> None:
    assert stopped_oracle_sequential_log_bound((), (), ()) == -math.inf
    assert stopped_oracle_log_bound(0.0, 3.0) == 0.0
    assert stopped_oracle_sequential_log_bound((-9.0, -9.0), (1e200, 1.0), (1e-200, 1.0)) == 0.0
    long = stopped_oracle_sequential_log_bound([-60.0] * 10**6, [1e-3] * 10**6, [1.0] * 10**6)
    assert -45 < long < -30
