"""Roster of attacks by name, made to measure: so many rows, so many questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdfast import require
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.lab.arena.comparison import Cell
from holdfast.lab.arena.trial import Analyst
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
from holdfast.lab.world.holders import CapPerAccount, Holder, LeakyTime, LeakyWidth, Plain
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
from holdfast.lab.world.session import BY_BOUNDED_NOISE, Protected, planned_terms
from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.leakage.equal_width import bounded_noise_half_width

# Rows of so many +-1 features: independent ones, or as a rehearsal needs them.
SignsOf = Callable[[int], Population]
# Half-widths of the snowball's questions: about 0.3 of the range.
_SNOWBALL_WIDTH = 0.3


@dataclass(frozen=True, slots=True)
class Staged:
    """An analyst made for a number of questions, and the population it is let loose on."""

    analyst: Analyst
    population: Population


@dataclass(frozen=True, slots=True)
class AttackKind:
    """An entry of the roster, with the sizes it has unless told otherwise.

    `breaks` is a holder that it breaks at those sizes: an attack that breaks nothing shows nothing.
    """

    name: str
    rows: int
    questions: int
    stage: Callable[[int, int, SignsOf], Staged]
    breaks: Holder
    fewest: int = 9
    guesses: bool = False  # whether it attacks `check`
    trained: bool = False  # whether the analyst needs a training table
    said: str = ""  # in place of what the analyst says of itself

    @property
    def description(self) -> str:
        return self.said or self.staged().analyst.description

    def staged(
        self, rows: int | None = None, questions: int | None = None, signs: SignsOf = Signs
    ) -> Staged:
        """The attack on so many rows with so many questions in all."""
        questions = self.questions if questions is None else questions
        if questions < self.fewest:
            raise InvalidArgument(
                f"questions is {questions:,}; {self.name} needs at least {self.fewest:,}."
            )
        return self.stage(self.rows if rows is None else rows, questions, signs)


def _squares(questions: int) -> int:
    """Features of a log-odds vote: every square-numbered question is a vote."""
    return questions - math.isqrt(questions) + 1


def _snowball(rows: int, questions: int, _: SignsOf) -> Staged:  # noqa: ARG001 - one point
    log_beta = math.log1p(-0.95)
    sigma = _SNOWBALL_WIDTH / bounded_noise_half_width(SubGaussian(1.0), questions, log_beta)
    return Staged(Snowball(questions), OnePoint(sigma))


_KINDS = (
    AttackKind(
        "honest-explorer",
        600,
        153,
        lambda _, k, signs: Staged(HonestExplorer(k - 3), signs(k - 3)),
        Plain(),
    ),
    AttackKind(
        "greedy-search",
        1_000,
        201,
        lambda _, k, signs: Staged(
            GreedySearch(max(8, k // 2), (k - 1) // 8, 8), signs(max(8, k // 2))
        ),
        Plain(),
    ),
    AttackKind(
        "hill-climber",
        1_200,
        501,
        lambda _, k, signs: Staged(HillClimber(60, k - 1, 60), signs(60)),
        Plain(),
    ),
    AttackKind(
        "feature-selection",
        1_000,
        401,
        lambda _, k, signs: Staged(FeatureSelection(k - 1, max(1, (k - 1) // 7)), signs(k - 1)),
        Plain(),
        trained=True,
    ),
    AttackKind(
        "sign-attack",
        1_000,
        161,
        lambda _, k, signs: Staged(SignAttack(k - 1), signs(k - 1)),
        Plain(),
    ),
    AttackKind(
        "log-odds",
        1_000,
        151,
        lambda _, k, signs: Staged(LogOddsVote(_squares(k)), signs(_squares(k))),
        Plain(),
    ),
    AttackKind(
        "boosting",
        1_000,
        201,
        lambda _, k, signs: Staged(LeaderboardBoosting(k - 1), signs(k - 1)),
        Plain(digits=5),
    ),
    AttackKind(
        "alternate-accounts",
        1_000,
        161,
        lambda _, k, signs: Staged(AlternateAccounts(k - 1, 10), signs(k - 1)),
        CapPerAccount(10),
    ),
    AttackKind(
        "width-reading",
        2_000,
        401,
        lambda _, k, signs: Staged(WidthReading(k - 1), signs(k - 1)),
        LeakyWidth(0.01),
    ),
    AttackKind(
        "time-reading",
        2_000,
        401,
        lambda _, k, signs: Staged(WidthReading(k - 1), signs(k - 1)),
        LeakyTime(0.01),
        said="Reads the sample out of the time that answers take.",
    ),
    AttackKind(
        "guess-bisection",
        2_000,
        561,
        lambda _, k, signs: Staged(GuessBisection((k - 1) // 4, 4), signs((k - 1) // 4)),
        Protected("analyst", charging=False),
        guesses=True,
    ),
    AttackKind(
        "fingerprint",
        500,
        161,
        lambda n, k, _: Staged(Fingerprinting(4 * n, k - 1), universe(4 * n)),
        Plain(),
    ),
    AttackKind(
        "sums",
        1_000,
        81,
        lambda _, k, __: Staged(LinearSignAttack(k - 1), HeavyTails(k - 1)),
        Plain(),
    ),
    AttackKind(
        "repeated-rows",
        4_000,
        41,
        lambda _, k, __: Staged(SignAttack(k - 1), Blocks(Signs(k - 1), 20)),
        Plain(),
        said="The sign attack on rows that each come twenty times.",
    ),
    AttackKind(
        "rows-in-time",
        8_000,
        41,
        lambda _, k, __: Staged(SignAttack(k - 1), AutoRegressive(k - 1, 0.95)),
        Plain(),
        said="The sign attack on rows in time, each much like the one before.",
    ),
    AttackKind(
        "one-point",
        1,
        300,
        _snowball,
        Protected(scale=0.8),
    ),
)

ATTACKS: Mapping[str, AttackKind] = {kind.name: kind for kind in _KINDS}


def attack_cell(
    kind: AttackKind,
    holder: Holder,
    *,
    rows: int | None = None,
    questions: int | None = None,
    tolerance: float | None = None,
    confidence_level: float = 0.95,
) -> Cell:
    """A holder attacked in this way, with the half-width that its mechanism decides by itself.

    Without a number of questions it is the roster's, halved until the mechanism can promise any
    half-width at all; what a mechanism refuses for other reasons is refused here.
    """
    counts = [questions] if questions is not None else _halved(kind)
    rows = kind.rows if rows is None else require.positive_integer("rows", rows)
    mechanism = holder.mechanism if isinstance(holder, Protected) else BY_BOUNDED_NOISE
    trains = kind.trained or (isinstance(holder, Protected) and holder.needs_training)
    refusal: HoldfastError | None = None
    for count in counts:
        staged = kind.staged(rows, count)
        population = staged.population
        terms = terms_on(population, rows, tolerance, count, confidence_level)
        try:
            if not terms.promises:
                terms = planned_terms(mechanism, terms)
        except HoldfastError as error:
            refusal = refusal or error
            continue
        return Cell(population, holder, staged.analyst, terms, rows if trains else 0)
    raise refusal or InvalidArgument(f"{kind.name} asks nothing.")


def _halved(kind: AttackKind) -> list[int]:
    counts = [kind.questions]
    while counts[-1] // 2 >= kind.fewest:
        counts.append(counts[-1] // 2)
    return counts
