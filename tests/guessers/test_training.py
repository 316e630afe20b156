"""Guesses from training rows: exact ones, and with noise of the stated law."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import stats

from holdfast.data.polars import PolarsSample
from holdfast.errors import InvalidArgument
from holdfast.guessers.guesser import Grounds
from holdfast.guessers.training import NoisyTraining, TrainingMean
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import Mean
from holdfast.theory.transfer.gaussian_noise import gaussian_half_width
from tests.guessers.play import terms_for

ROWS, SCALE, QUESTIONS = 500, 0.03, 800
FRAME = pl.DataFrame({"x": np.random.default_rng(3).random(ROWS)})
SAMPLE = PolarsSample(FRAME)


def grounds(secret: bytes = b"one", questions: int | None = 200) -> Grounds:
    from holdfast.question.columns import Schema

    table = Table(Schema(SAMPLE.types))
    return Grounds(terms_for(1_000, 0.2, questions), table, SAMPLE, secret)


def thresholds(count: int) -> list[Mean]:
    found = [bind(f"avg(x > 0.4 + {j}e-6)", grounds().table) for j in range(count)]
    assert all(isinstance(each, Mean) for each in found)
    return found  # type: ignore[return-value]


def exact(questions: list[Mean]) -> list[float]:
    guesser = TrainingMean()
    return guesser.guess(guesser.start(grounds()), questions)


@cache
def noise_of(scale: float, secret: bytes = b"one") -> NDArray[np.float64]:
    questions, guesser = thresholds(QUESTIONS), NoisyTraining(scale)
    noisy = guesser.guess(guesser.start(grounds(secret)), questions)
    return np.asarray(np.array(noisy) - np.array(exact(questions)))


def test_the_training_mean_is_the_mean_of_the_training_rows() -> None:
    assert exact(thresholds(1)) == [FRAME.select((pl.col("x") > 0.4).mean()).item()]


def p_value(noise: NDArray[np.float64], scale: float) -> float:
    """Chi-square in twenty cells of equal probability under N(0, scale^2)."""
    cells = np.floor(20 * stats.norm.cdf(noise / scale)).astype(int).clip(0, 19)
    return float(stats.chisquare(np.bincount(cells, minlength=20)).pvalue)


@pytest.mark.statistical
def test_the_noise_is_normal_and_of_the_stated_size() -> None:
    noise = noise_of(SCALE)
    assert p_value(noise, SCALE) > 1e-4
    assert p_value(noise, 1.4 * SCALE) < 1e-6, "and the test can tell another size"
    uniform = np.random.default_rng(1).uniform(-1.7 * SCALE, 1.7 * SCALE, QUESTIONS)
    assert p_value(uniform, SCALE) < 1e-6, "and another law"


def test_the_same_question_has_the_same_noise_and_others_have_others() -> None:
    first = noise_of(SCALE)
    assert (noise_of.__wrapped__(SCALE) == first).all()
    assert len(set(first)) > 0.999 * QUESTIONS
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 5 / math.sqrt(QUESTIONS)
    assert (noise_of(SCALE, b"two") != first).mean() > 0.999


@pytest.mark.parametrize(("declared", "counted"), [(200, 200), (None, 1_000)])
def test_the_noise_is_theorem_ts_unless_told_otherwise(declared: int | None, counted: int) -> None:
    guesser = NoisyTraining()
    best = gaussian_half_width(ROWS, counted, math.log(0.05))
    assert guesser.start(grounds(questions=declared)).scale == best.noise_scale


def test_noise_keeps_training_rows_from_being_overfitted() -> None:
    """Features are coins. The vote of those that look right on the training rows has a training
    mean far from the truth; from noisy means the vote is a fair coin again, or nearly."""
    rng, features, rows = np.random.default_rng(8), 400, 400
    signs = rng.integers(0, 2, (rows, features)) * 2 - 1
    agreement = (signs > 0).mean(axis=0)
    scale = gaussian_half_width(rows, features, math.log(0.05)).noise_scale

    def vote(seen: NDArray[np.float64]) -> float:
        return float((signs @ np.where(seen > 0.5, 1, -1) > 0).mean())

    exactly = vote(agreement)
    noisy = vote(agreement + rng.normal(0, scale, features))
    assert exactly > 0.75
    assert abs(noisy - 0.5) < abs(exactly - 0.5) / 2


@pytest.mark.parametrize("noise", [0.0, -1.0, 2.0, math.nan])
def test_noise_is_a_part_of_the_range(noise: float) -> None:
    with pytest.raises(InvalidArgument, match="noise"):
        NoisyTraining(noise)
