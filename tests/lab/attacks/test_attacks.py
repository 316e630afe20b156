"""Every attack: what naive re-use shows is false, and what Holdfast shows holds.

Thresholds are exact. Each attack runs against a holder that it must break (the sabotage twin) and
against Holdfast with the right terms, which it must not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from holdfast.data.sampling import Declared
from holdfast.errors import BudgetExhausted, InvalidArgument
from holdfast.lab.arena.trial import Analyst, Scenario, TrialsVerdict, run_trials, verdict
from holdfast.lab.attacks.analysts import (
    FeatureSelection,
    GreedySearch,
    HillClimber,
    HonestExplorer,
)
from holdfast.lab.attacks.attacks import (
    AlternateAccounts,
    Fingerprinting,
    GuessBisection,
    LeaderboardBoosting,
    LinearSignAttack,
    LogOddsVote,
    SignAttack,
    Snowball,
    WidthReading,
)
from holdfast.lab.world.holders import (
    CapPerAccount,
    Holder,
    LeakyTime,
    LeakyWidth,
    Plain,
    Session,
    Shown,
    Splitting,
    as_if_fixed,
    as_if_independent,
)
from holdfast.lab.world.linear_questions import Arrays, LabQuestion, average
from holdfast.lab.world.populations import (
    AutoRegressive,
    Blocks,
    HeavyTails,
    OnePoint,
    Population,
    Signs,
    terms_on,
    universe,
)
from holdfast.lab.world.session import Protected
from holdfast.mechanisms.terms import Terms
from holdfast.theory.base.concentration import Concentration, SubGaussian
from holdfast.theory.leakage.equal_width import bounded_noise_half_width

TRIALS = 10
BETAS = [0.05, 0.001]


def planned(profile: Concentration, questions: int, beta: float) -> float:
    return 1.001 * bounded_noise_half_width(profile, questions, math.log(beta))


@dataclass(frozen=True)
class Attack:
    """An attack, how many questions it needs, and a holder that it must break."""

    analyst: Analyst
    population: Population
    rows: int
    questions: int
    breaks: Holder
    believes_independent: bool = False
    twin_trials: int = TRIALS

    def terms(self, beta: float) -> Terms:
        t = planned(self.population.concentration(self.rows), self.questions, beta)
        return terms_on(self.population, self.rows, t, self.questions, 1 - beta)

    def verdict(
        self, holder: Holder, terms: Terms, beta: float, trials: int = TRIALS
    ) -> TrialsVerdict:
        train = self.rows if isinstance(self.analyst, FeatureSelection) else 0
        scenario = Scenario(self.population, holder, self.analyst, terms, train)
        return verdict(run_trials(scenario, trials, seed=7), beta)


ATTACKS = [
    Attack(HonestExplorer(150), Signs(150), 600, 153, Plain()),
    Attack(GreedySearch(100, 25, 8), Signs(100), 1_000, 201, Plain()),
    Attack(HillClimber(60, 500, 60), Signs(60), 1_200, 501, Plain(), twin_trials=24),
    Attack(SignAttack(160), Signs(160), 1_000, 161, Plain()),
    Attack(SignAttack(160), Signs(160), 1_000, 161, Plain(digits=2)),
    Attack(LogOddsVote(140), Signs(140), 1_000, 151, Plain()),
    Attack(LogOddsVote(80, "every feature"), Signs(80), 1_000, 160, Plain()),
    Attack(LeaderboardBoosting(200), Signs(200), 1_000, 201, Plain(digits=5)),
    Attack(AlternateAccounts(160, 10), Signs(160), 1_000, 161, CapPerAccount(10)),
    Attack(WidthReading(400), Signs(400), 2_000, 401, LeakyWidth(0.01)),
    Attack(WidthReading(400), Signs(400), 2_000, 401, LeakyTime(0.01)),
    Attack(Fingerprinting(2_000, 160), universe(2_000), 500, 161, Plain()),
    Attack(LinearSignAttack(80), HeavyTails(80), 1_000, 81, Plain()),
    Attack(SignAttack(40), Blocks(Signs(40), 20), 4_000, 41, Plain(), True),
    Attack(SignAttack(40), Blocks(Signs(40), 20), 4_000, 41, Splitting(), True),
    Attack(SignAttack(40), AutoRegressive(40, 0.95), 8_000, 41, Plain(), True),
    Attack(SignAttack(40), AutoRegressive(40, 0.95), 8_000, 41, Protected(), True),
]


def named(attack: Attack) -> str:
    return f"{attack.analyst.name}, {type(attack.population).__name__}, {attack.breaks.name}"


# Against Holdfast each attack runs once at each level, whatever else it breaks; ten trials tell
# more at the stricter level, so the longest attacks run at that one only, and here all do.
DIFFERENT = list({(a.analyst, type(a.population)): a for a in ATTACKS}.values())
LEVELS = [
    pytest.param(
        attack,
        beta,
        id=f"{named(attack)}, {beta}",
        marks=() if beta == min(BETAS) else pytest.mark.campaign,
    )
    for attack in DIFFERENT
    for beta in BETAS
    if beta == min(BETAS) or attack.questions < 170
]


@pytest.mark.statistical
@pytest.mark.parametrize(("attack", "beta"), LEVELS)
def test_holdfast_holds(attack: Attack, beta: float) -> None:
    found = attack.verdict(Protected(), attack.terms(beta), beta)
    assert found.holds, str(found)
    assert found.fewest_answers == attack.questions  # all that the plan says, and the last word
    assert found.shown is not None


@pytest.mark.statistical
@pytest.mark.parametrize("attack", ATTACKS, ids=named)
def test_naive_reuse_fails(attack: Attack) -> None:
    beta = max(BETAS)
    terms = attack.terms(beta)
    if attack.believes_independent:
        terms = as_if_independent(terms)
        if isinstance(attack.breaks, Protected):
            terms = replace(terms, tolerance=planned(terms.concentration, attack.questions, beta))
    found = attack.verdict(attack.breaks, terms, beta, attack.twin_trials)
    assert not found.holds, str(found)
    assert found.slack > 1


class Suppressing:
    """Sabotage: noise on the value, and no answer at all where too few rows are counted."""

    name, promises = "noisy value, small counts suppressed", False

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:
        return Suppressed(terms, sample)


@dataclass
class Suppressed:
    terms: Terms
    sample: Arrays

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:
        value = average(question, self.sample)
        if value < 0.25:
            raise BudgetExhausted("Fewer rows than a quarter: not shown.")
        reach = as_if_fixed(self.terms)
        return Shown(0.5, 0.0, 1.0) if value < 0.4 else Shown(value, value - reach, value + reach)


@pytest.mark.statistical
def test_refusals_are_read() -> None:
    """All that is shown of a feature is whether it is shown; that is enough to be false."""
    attack = Attack(WidthReading(400), Signs(400), 2_000, 401, Suppressing())
    found = attack.verdict(attack.breaks, attack.terms(0.05), 0.05)
    assert not found.holds, str(found)


# Checks: a guess moved to and fro ---------------------------------------------------------------


def bisected(holder: Protected, tolerance: float) -> TrialsVerdict:
    population = Signs(140)
    # Hoeffding's radius, as for declared rows: the boundary of "confirmed" is easiest to aim at.
    plain = terms_on(population, 2_000, tolerance, 561)
    terms = replace(plain, sampling=Declared(plain.concentration))
    scenario = Scenario(population, holder, GuessBisection(140, 4), terms)
    return verdict(run_trials(scenario, 10, seed=7), 0.05)


@pytest.mark.statistical
def test_bisection_learns_what_is_free_and_is_stopped_where_it_is_charged() -> None:
    free = bisected(Protected("analyst", charging=False), 0.06)
    assert not free.holds
    assert free.most_answers == 561
    held = bisected(Protected("analyst"), 0.06)
    assert held.holds
    assert held.most_answers < 100


# The snowball: bounded noise has next to nothing to spare ---------------------------------------


def snowballed(questions: int, scale: float, beta: float) -> TrialsVerdict:
    unit = SubGaussian(1.0)
    sigma = 0.3 / planned(unit, questions, beta)
    population = OnePoint(sigma)
    profile = population.concentration(1)
    t = bounded_noise_half_width(profile, questions, math.log(beta)) * (1 + 1e-6)
    terms = terms_on(population, 1, t, questions, 1 - beta)
    scenario = Scenario(population, Protected(scale=scale), Snowball(questions), terms)
    return verdict(run_trials(scenario, 12, seed=7), beta)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("questions", "beta", "sabotage"), [(100, 0.05, 0.8), (100, 0.001, 0.8), (300, 0.05, 0.85)]
)
def test_the_snowball_breaks_scaled_noise_and_not_what_is_planned(
    questions: int, beta: float, sabotage: float
) -> None:
    held = snowballed(questions, 1.0, beta)
    assert held.failures == 0
    assert held.slack > 0.8  # the attack comes close: there is little to spare
    assert held.fewest_answers == questions
    assert not snowballed(questions, sabotage, beta).holds


# Shapes -----------------------------------------------------------------------------------------

NEEDS: list[Callable[[], Scenario]] = [
    lambda: Scenario(Signs(3), Plain(), Snowball(3), ATTACKS[3].terms(0.05)),
    lambda: Scenario(Signs(3), Plain(), FeatureSelection(3, 1), ATTACKS[3].terms(0.05)),
    lambda: Scenario(OnePoint(0.01), Plain(), Snowball(3), terms_on(OnePoint(0.01), 1, 0.1, 3)),
]


@pytest.mark.parametrize("scenario", NEEDS)
def test_an_attack_says_what_it_needs(scenario: Callable[[], Scenario]) -> None:
    with pytest.raises(InvalidArgument, match=r"[Ss]nowball|training"):
        run_trials(scenario(), 1)


def test_every_attack_has_a_name_and_one_line() -> None:
    analysts = [attack.analyst for attack in ATTACKS]
    analysts += [GuessBisection(3), Snowball(3), FeatureSelection(3, 1)]
    for analyst in analysts:
        assert analyst.name
        assert analyst.description.endswith(".")
        assert "\n" not in analyst.description
