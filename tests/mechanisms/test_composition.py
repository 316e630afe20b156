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
from holdfast.mechanisms.noise import Noise, below, words_of
from holdfast.papers.adaptive_composition import (
    AdaptiveComposition,
    Interaction,
    dp_step,
    gaussian_step,
    laplace_step,
    learner_step,
    tv_step,
)
from holdfast.papers.theorems.laws import total_variation
from holdfast.theory.base.concentration import BoundedMean, SubGaussian
from holdfast.theory.notions.composing import GDP, TV, ZCDP, ApproxDP, PureDP
from holdfast.theory.transfer.differential_privacy import optimal_composition_at_delta
from holdfast.theory.typical.calibrated_noise import gaussian_scale
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
    with pytest.raises(InvalidArgument, match="declare less stability"):
        laplace_step(mean, BoundedMean(100), 1e-9, 1e-6)
    with pytest.raises(InvalidArgument, match="step 1 is a PureDP, and TypicalStability was"):
        AdaptiveComposition(2, made.stability).run(Curious(dp_step(mean, 0.5, 0.1)), [0, 1])
    with pytest.raises(InvalidArgument, match="what every step keeps to"):
        AdaptiveComposition(2, 0.1)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="no number"):
        dp_step(lambda _: math.nan, 0.5, 0.1).answer([0, 1], Noise(SECRET, "1"))
    with pytest.raises(InvalidArgument, match="function of"):
        learner_step(7, PureDP(0.1))  # type: ignore[arg-type]


# Steps of every kind, in any unit -----------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e9])
def test_a_statistic_keeps_its_unit(unit: float) -> None:
    """Dollars or cents: the same noise in its own unit, cell by cell."""
    sample = [0, 1] * 5_000

    def scaled(rows: list[int]) -> float:
        return unit * sum(rows) / len(rows)

    made = laplace_step(scaled, SubGaussian(0.005 * unit), 0.1, 1e-9)
    plain = laplace_step(lambda rows: sum(rows) / len(rows), SubGaussian(0.005), 0.1, 1e-9)
    answer = float(made.answer(sample, Noise(SECRET, "1")))
    assert answer == pytest.approx(unit * float(plain.answer(sample, Noise(SECRET, "1"))), rel=1e-6)


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["laplace", "gaussian", "printed", "dp", "tv"])
def test_noise_is_of_the_size_that_the_step_says(kind: str) -> None:
    """Its median, within the binomial threshold, and not within it for noise of half the size."""
    profile, runs, unit = SubGaussian(2.0), 2_000, 2.0 * math.sqrt(2 * math.log(2 / 1e-6))
    median, step = {
        "laplace": (math.log(2) * unit / 0.5, laplace_step(float, profile, 0.5, 1e-6)),
        "gaussian": (
            0.6744897501960817 * gaussian_scale(unit, 0.5, math.log(1e-6)),
            gaussian_step(float, profile, 0.5, 1e-6, 1e-6),
        ),
        "printed": (
            0.6744897501960817 * unit * math.sqrt(2 * math.log(1.5e6)) / 0.5,
            gaussian_step(float, profile, 0.5, 1e-6, 1e-6, printed=True),
        ),
        "dp": (math.log(2) * 3.0 / 0.5, dp_step(float, 3.0, 0.5)),
        "tv": (0.6744897501960817 * 3.0 / 0.2513, tv_step(float, 3.0, 0.1)),
    }[kind]
    answers = [float(step.answer(7.0, Noise(SECRET, str(run)))) - 7.0 for run in range(runs)]
    beyond = sum(abs(answer) > median for answer in answers)
    assert beyond <= most_failures(runs, 0.5)
    assert runs - beyond <= most_failures(runs, 0.5)
    assert sum(abs(answer) > median / 2 for answer in answers) > most_failures(runs, 0.5)


def test_the_printed_noise_says_what_it_is() -> None:
    """Sound up to eta = 4.95: beyond, its tau is more than was declared, and it is not admitted."""
    sound = gaussian_step(float, SubGaussian(1.0), 1.0, 1e-6, 1e-6, printed=True)
    assert sound.stability == TypicalStability(1.0, 1e-6, 1e-6)
    small = gaussian_step(float, SubGaussian(1.0), 8.0, 0.8, 1e-6, printed=True)
    assert isinstance(small.stability, TypicalStability)
    assert small.stability.tau > 0.8
    declared = AdaptiveComposition(1, TypicalStability(8.0, 0.8, 1e-6))
    with pytest.raises(InvalidArgument, match="more than the"):
        declared.run(Curious(small), 0.0)
    assert declared.run(Curious(gaussian_step(float, SubGaussian(1.0), 8.0, 0.8, 1e-6)), 0.0)


def test_steps_of_other_notions_compose_in_their_own() -> None:
    k, level = 5, 1e-6

    def played(step: Any, declared: Any = None) -> Any:
        composition = AdaptiveComposition(9, declared or step.stability)
        return composition.run(Curious(step), [0, 1] * 50).certificate(level)

    pure = played(dp_step(mean, 0.01, 0.1))
    assert pure.printed.epsilon == pytest.approx(k * 0.1)  # shorter than the advanced one here
    assert pure.sharp == optimal_composition_at_delta(PureDP(0.1), k, math.log(level))
    assert pure.sharp.epsilon <= pure.printed.epsilon
    tv = played(tv_step(mean, 0.01, 0.1))
    assert tv.printed.distance == pytest.approx(0.5)
    assert tv.sharp.distance == pytest.approx(1 - 0.9**5)
    approximate = ApproxDP(0.1, math.log(1e-9))
    learned = played(learner_step(lambda rows, rng: float(rng.normal()), approximate))
    assert learned.printed.epsilon == pytest.approx(0.5)
    assert learned.sharp.epsilon <= 0.5
    assert learned.sharp.delta == pytest.approx(level)
    hopeless = ApproxDP(0.1, math.log(1e-3))
    assert played(learner_step(lambda rows, rng: 0, hopeless)).sharp is None
    for notion in (GDP(0.1), ZCDP(0.005)):
        found = played(learner_step(lambda rows, rng: 0, notion))
        assert found.sharp == found.printed == notion.repeated(k)
        assert Interaction((), notion).certificate(level).sharp == type(notion)(0.0)


def test_total_variation_composes_by_coupling() -> None:
    """Two answers of steps that show a bit with probability d: 1 - (1 - d)^2, exactly."""
    d = 0.3
    found = Interaction((0, 0), TV(d)).certificate(0.5).sharp
    p = [d * d, d * (1 - d), (1 - d) * d, (1 - d) ** 2, 0.0, 0.0, 0.0, 0.0]
    q = [0.0, 0.0, 0.0, (1 - d) ** 2, d * d, d * (1 - d), (1 - d) * d, 0.0]
    assert total_variation(p, q) == pytest.approx(found.distance)


def test_a_learner_gets_all_its_coins_from_the_noise() -> None:
    step = learner_step(lambda rows, rng: float(rng.normal(len(rows))), GDP(1.0))
    first, second = (step.answer([1, 2], Noise(SECRET, name)) for name in ("1", "2"))
    assert first == step.answer([1, 2], Noise(SECRET, "1")) != second
    fresh = [AdaptiveComposition(1, GDP(1.0)).run(Curious(step), [1, 2]).answers for _ in "ab"]
    assert fresh[0] != fresh[1]


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
