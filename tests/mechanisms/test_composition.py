"""k-fold adaptive composition: every adversary of a tiny world, exactly; and runs as they are run.

A world has a few samples, most of them typical. A step answers 0 or 1: on typical samples each bit
has a probability within a factor e^eta of the oracle's 1/2, on its own untypical samples it says
what it likes. For every adversary (a step for every history) the law of the answers on each sample
is compared with the oracle's, and the share of samples on which they are further apart than the
certificate says must not exceed its nu.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from holdfast.errors import InvalidArgument
from holdfast.mechanisms.composition import (
    AdaptiveComposition,
    Interaction,
    gaussian_step,
    laplace_step,
)
from holdfast.mechanisms.laws.words import below, words_of
from holdfast.mechanisms.noise import Noise
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.typical.notion import TypicalStability
from tests.theory.coverage import most_failures

SECRET = bytes(range(32))
HALF = Fraction(1, 2)
ETA = math.log(1.5)
# Three typical samples and three untypical ones, the latter rare.
SAMPLES = range(6)
RARE = Fraction(1, 10**7)
WEIGHTS = [Fraction(1, 3) - RARE] * 3 + [RARE] * 3
STEP = TypicalStability(ETA, 0.0, 3.1e-7)
History = tuple[int, ...]


@dataclass(frozen=True)
class Bit:
    """Answers 1 with a probability that depends on the sample; the oracle's is 1/2."""

    ones: tuple[Fraction, ...]
    stability: TypicalStability = STEP

    def answer(self, sample: int, noise: Noise) -> int:
        p = self.ones[sample]
        return int(below(words_of(noise), p.denominator) < p.numerator)


def _thirds(*bits: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(1 + bit, 3) for bit in bits)


# On typical samples 1/3 or 2/3 (a factor 1.5 from 1/2); untypical samples 3, 4, 5 are told surely.
STEPS = [
    Bit((*_thirds(0, 0, 1), Fraction(1), Fraction(0), Fraction(0))),
    Bit((*_thirds(0, 1, 0), Fraction(0), Fraction(1), Fraction(0))),
    Bit((*_thirds(1, 0, 0), Fraction(0), Fraction(1), Fraction(1))),
]


@dataclass(frozen=True)
class Table:
    """The adversary that looks its next step up."""

    steps: Mapping[History, Any]

    def next_step(self, answers: tuple[Any, ...]) -> Any:
        return self.steps.get(answers)


def adversaries(k: int) -> list[Table]:
    histories = [h for length in range(k) for h in itertools.product((0, 1), repeat=length)]
    choices = itertools.product(range(len(STEPS)), repeat=len(histories))
    return [
        Table({h: STEPS[i] for h, i in zip(histories, chosen, strict=True)}) for chosen in choices
    ]


def law(adversary: Table, k: int, one: Callable[[Bit], Fraction]) -> dict[History, Fraction]:
    found = {}
    for answers in itertools.product((0, 1), repeat=k):
        p = Fraction(1)
        for place, answer in enumerate(answers):
            chance = one(adversary.next_step(answers[:place]))
            p *= chance if answer else 1 - chance
        found[answers] = p
    return found


def gap(first: dict[History, Fraction], second: dict[History, Fraction], eta: float) -> float:
    """The largest P(O) - e^eta Q(O), in both directions."""
    grow = Fraction(math.exp(eta))
    pairs = [(first, second), (second, first)]
    return max(
        float(sum((max(Fraction(0), p[h] - grow * q[h]) for h in p), Fraction(0))) for p, q in pairs
    )


def share_too_far(adversary: Table, k: int, eta: float, tau: float) -> Fraction:
    """P_X[the answers on X are not (eta, tau)-indistinguishable from the oracle's]."""
    oracle = law(adversary, k, lambda _: HALF)
    return sum(
        (
            WEIGHTS[x]
            for x in SAMPLES
            if gap(law(adversary, k, lambda step, x=x: step.ones[x]), oracle, eta) > tau + 1e-12  # type: ignore[misc]
        ),
        Fraction(0),
    )


def test_the_steps_are_what_they_say() -> None:
    for step in STEPS:
        one = Table({(): step})
        assert share_too_far(one, 1, ETA, 0.0) <= STEP.nu
        assert share_too_far(one, 1, 0.99 * ETA, 0.0) == 1  # and no smaller eta would do


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("level", [0.2, 0.01])
def test_no_adversary_breaks_the_certificate(k: int, level: float) -> None:
    sharp = Interaction((0,) * k, STEP).certificate(level).sharp
    assert sharp is not None
    for adversary in adversaries(k):
        assert share_too_far(adversary, k, sharp.eta, sharp.tau) <= sharp.nu
        # Sabotage: half of eta and a tenth of tau is broken by every adversary.
        assert share_too_far(adversary, k, sharp.eta / 2, sharp.tau / 10) > sharp.nu


def test_three_steps_of_some_adversaries() -> None:
    rng = np.random.default_rng(3)
    sharp = Interaction((0,) * 3, STEP).certificate(0.05).sharp
    assert sharp is not None
    histories = [h for length in range(3) for h in itertools.product((0, 1), repeat=length)]
    for _ in range(200):
        adversary = Table({h: STEPS[int(rng.integers(3))] for h in histories})
        assert share_too_far(adversary, 3, sharp.eta, sharp.tau) <= sharp.nu


# Golden numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "eta", "eta_prime", "level"),
    [(10, 0.1, 1.0, 0.00016228984564557218), (100, 0.05, 2.0, 0.0038781717095712678)],
)
def test_the_sharp_certificate_is_the_golden_one(
    k: int, eta: float, eta_prime: float, level: float
) -> None:
    """golden.json, section 6.5, read for eta at its own level; it is given to 0.2 %."""
    interaction = Interaction((0,) * k, TypicalStability(eta, 0.0, 1e-9))
    found = interaction.certificate(1.002 * level).sharp
    assert found is not None
    assert found.eta == pytest.approx(eta_prime, rel=2e-3)
    assert max(found.tau, found.nu) <= 1.002 * level * (1 + 1e-9)
    less = interaction.certificate(0.99 * level).sharp
    assert less is None or less.eta > eta_prime


@pytest.mark.parametrize(
    ("k", "eta", "nu", "eta_star", "level"),
    [
        (10, 0.01, 1e-12, 0.6468048580120546, 0.001590145548058949),
        (100, 0.005, 1e-14, 1.122595437944053, 0.0007116367992122443),
    ],
)
def test_the_printed_certificate_is_the_golden_one(
    k: int, eta: float, nu: float, eta_star: float, level: float
) -> None:
    """golden.json, section 6.4; the free tau' is found to a percent."""
    found = Interaction((0,) * k, TypicalStability(eta, 0.0, nu)).certificate(level).printed
    assert found is not None
    assert found.eta == pytest.approx(eta_star, rel=0.01)


def test_the_certificate_runs_along() -> None:
    step = TypicalStability(0.05, 0.0, 1e-12)
    certificates = [Interaction((0,) * k, step).certificate(0.01) for k in (0, 1, 5, 20)]
    etas = [each.sharp.eta for each in certificates if each.sharp is not None]
    assert etas == sorted(etas)
    assert etas[0] == 0.0
    assert len(etas) == 4
    pair = certificates[3].sharp
    assert pair is not None
    assert pair.to_pair().eta == pytest.approx(2 * etas[3])
    hopeless = Interaction((0,) * 3, TypicalStability(30.0, 0.0, 0.5)).certificate(0.01)
    assert hopeless == (None, None)


# Runs --------------------------------------------------------------------------------------------


class Curious:
    """Asks for the mean; then for the mean again until it has five answers."""

    def __init__(self, step: Any) -> None:
        self.step = step
        self.seen: list[tuple[Any, ...]] = []

    def next_step(self, answers: tuple[Any, ...]) -> Any:
        self.seen.append(answers)
        return None if len(answers) == 5 else self.step


def mean(sample: list[int]) -> Fraction:
    return Fraction(sum(sample), len(sample))


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_run(noise: str) -> None:
    profile, sample = BoundedMean(10_000), [0, 1] * 5_000
    made = (
        laplace_step(mean, profile, 0.1, 1e-9)
        if noise == "laplace"
        else gaussian_step(mean, profile, 0.1, 1e-9, 1e-9)
    )
    composition = AdaptiveComposition(8, made.stability)
    adversary = Curious(made)
    interactions = list(composition.play(adversary, sample, SECRET))
    assert [len(each.answers) for each in interactions] == [1, 2, 3, 4, 5]
    assert adversary.seen[:5] == [
        each.answers for each in [Interaction((), made.stability), *interactions[:4]]
    ]
    assert composition.run(Curious(made), sample, SECRET) == interactions[-1]
    assert len(set(interactions[-1].answers)) == 5
    alpha = profile.radius(math.log(1e-9))
    assert abs(float(interactions[-1].answers[0]) - 0.5) < 30 * alpha / 0.1
    assert (
        AdaptiveComposition(3, made.stability).run(Curious(made), sample, SECRET) == interactions[2]
    )


def test_what_was_not_declared_is_refused() -> None:
    made = laplace_step(mean, BoundedMean(100), 0.5, 1e-6)
    for most in (
        TypicalStability(0.4, 0.0, 1e-6),
        TypicalStability(0.5, 0.0, 1e-7),
    ):
        with pytest.raises(InvalidArgument, match="more than the"):
            AdaptiveComposition(2, most).run(Curious(made), [0, 1], SECRET)
    with pytest.raises(InvalidArgument, match="oracle form"):
        AdaptiveComposition(2, TypicalStability(0.4, 0.0, 1e-6, "pair"))
    with pytest.raises(InvalidArgument, match="larger eta"):
        laplace_step(mean, BoundedMean(100), 1e-9, 1e-6)


@pytest.mark.statistical
def test_runs_have_the_law_of_the_steps() -> None:
    """The history 1, 1 of an adaptive adversary, against its exact probability."""
    adversary = Table({(): STEPS[0], (0,): STEPS[1], (1,): STEPS[2]})
    composition, runs, sample = AdaptiveComposition(2, STEP), 4_000, 2
    exact = float(law(adversary, 2, lambda step: step.ones[sample])[(1, 1)])
    hits = sum(
        composition.run(adversary, sample, f"{run:032d}".encode()).answers == (1, 1)
        for run in range(runs)
    )
    assert hits <= most_failures(runs, exact)
    assert runs - hits <= most_failures(runs, 1 - exact)
    assert hits > most_failures(runs, exact / 2)  # half of the probability would be refuted
