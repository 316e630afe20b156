"""A described question: its parts, their levels, its one rule, and its method in words.

Which rule is public: it depends on the question's words and on what was declared. Where no theorem
covers the way the rows came about there is none, and the question goes to the ledger.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from holdfast.data.sample import Sample
from holdfast.data.sampling import Sampling
from holdfast.errors import InvalidQuestion, NotDescribed
from holdfast.question.row import RowValue
from holdfast.statistics.concentrated_rules import ConcentratedRule
from holdfast.statistics.derived import (
    Derived,
    Estimate,
    Joined,
    Stages,
    described_parts,
    is_derived,
    is_unbounded,
    own_unit,
)
from holdfast.statistics.entry import Bound, Use
from holdfast.statistics.grid_rules import Gridded
from holdfast.statistics.mean_rules import (
    ContainedMean,
    GroupMeanRule,
    MeanRule,
    PairedRule,
)
from holdfast.statistics.registry import DESCRIPTIONS, parts_of
from holdfast.statistics.rounded_rules import (
    RoundedMean,
)
from holdfast.statistics.rule import Ground, Look, Rule, Told
from holdfast.statistics.share_rules import GroupShare, Share
from holdfast.statistics.statistic import Measured, Statistic, columns_of
from holdfast.statistics.trial_rules import UnitGridded
from holdfast.theory.base.concentration import BoundedMean, Concentration
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.bounded_mean import outlier_floor_mass

__all__ = [
    "DescribedParts",
    "DescribedQuestion",
    "columns_read",
    "described",
    "described_again",
    "described_answer",
    "event_text",
    "floor_of_units",
    "is_at_the_floor",
    "method_of",
    "reads_as_written",
    "share_symbols",
    "supposition_of",
    "sure_half_width",
    "truth_of",
    "units_of",
]


@dataclass(frozen=True, slots=True)
class DescribedQuestion:
    """A question with its rule; asked like any statistic, and answered exactly.

    `columns` are those that it is about, and `event` the text of the part that its rule is for:
    questions that share it share its symbols; `planned` ones were declared beforehand. One of a
    `dictionary` that was opened late names it, and the `member` of it that it is about.
    """

    question: Bound
    look: Look = field(compare=False)
    bits: float
    turned: bool
    columns: tuple[str, ...]
    event: str | None = None
    dictionary: str | None = None
    member: str | None = None
    planned: bool = False
    # Of the question itself, read once: a call asks for them a dozen times.
    text: str = field(init=False, repr=False, compare=False)
    low: float = field(init=False, repr=False, compare=False)
    high: float = field(init=False, repr=False, compare=False)
    unbounded: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        question = self.question
        object.__setattr__(self, "text", question.text)
        object.__setattr__(self, "low", question.low)
        object.__setattr__(self, "high", question.high)
        object.__setattr__(self, "unbounded", is_unbounded(question))

    @property
    def error(self) -> float:
        raise TypeError(f"{self.text} is answered by its rule")

    def unit(self, n: int) -> float:
        return own_unit(self.question, n)

    @property
    def rule(self) -> Rule:
        return self.look.rule

    @property
    def reach(self) -> float:
        """How far a mean may be from the truth at its level: as declared, or by Hoeffding."""
        known = self.rule.radius if isinstance(self.rule, ConcentratedRule) else None
        return known or min(1.0, BoundedMean(self.rule.rows).radius(self.rule.log_p))

    @property
    def row(self) -> RowValue | None:
        """It is measured by its rule, whatever it averages."""
        return None

    def rows(self, n: int) -> int:
        return n

    def concentration(self, n: int, sampling: Sampling) -> Concentration:  # noqa: ARG002
        raise TypeError(f"{self.text} is answered by its rule")

    def read(self, sample: Sample) -> Measured:  # noqa: ARG002
        raise TypeError(f"{self.text} is answered by its rule")


@dataclass(frozen=True, slots=True)
class DescribedParts:
    """A statistic without a rule of its own: described questions that it follows from.

    Each part has its own event at its own weight, and all events hold together. So the statistic's
    own theorem turns the parts' intervals into its interval, at no further cost.
    """

    question: Derived
    parts: tuple[DescribedQuestion, ...]

    @property
    def text(self) -> str:
        return self.question.text

    @property
    def low(self) -> float:
        return self.question.low

    @property
    def high(self) -> float:
        return self.question.high

    @property
    def unbounded(self) -> bool:
        return is_unbounded(self.question)

    def unit(self, n: int) -> float:
        return own_unit(self.question, n)

    @property
    def bits(self) -> float:
        """The length of the longest part."""
        return max(part.bits for part in self.parts)

    @property
    def stages(self) -> Stages:
        return (self.parts,)

    def join(self, parts: Sequence[Estimate]) -> Joined:
        return self.question.join(parts)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        return self.question.favourable(estimates)

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        return self.question.last_guess(guess, values)


def columns_read(question: Statistic) -> tuple[str, ...]:
    """The columns that a question is about, described or not."""
    return question.columns if isinstance(question, DescribedQuestion) else columns_of(question)


def described_answer(question: Bound, ground: Ground) -> DescribedQuestion | DescribedParts | None:
    """The question with its rule, or else with the rules of its parts; None if neither covers it.

    It was read by the prior of the ground: there every group is a part by itself.
    """
    return described(question, ground) or _described_parts(question, ground)


def _described_parts(question: Bound, ground: Ground) -> DescribedParts | None:
    if not is_derived(question):
        return None
    parts = []
    for statistic in described_parts(question):
        part = described(statistic, ground)
        if part is None or not reads_as_written(statistic.text, ground):
            return None
        parts.append(part)
    return DescribedParts(question, tuple(parts))


def reads_as_written(text: str, ground: Ground) -> bool:
    """Whether a text says all of a question: of a column attached later it has only the name."""
    try:
        return ground.prior.read(text).text == text
    except InvalidQuestion:
        return False


def described(question: Bound, ground: Ground) -> DescribedQuestion | None:
    """The question with a rule of its own; None if it has none, or is refused a description."""
    if type(question) not in DESCRIPTIONS:
        return None
    try:
        uses = parts_of(question)
        bits = ground.prior.of(question).best
    except NotDescribed:
        return None
    columns = sorted({column for use in uses for column in use.part.columns})
    look = _look(question, uses, ground.about(columns))
    if look is None:
        return None
    main = uses[0]
    planned = ground.prior.plans(main.part)
    return DescribedQuestion(
        question, look, bits, main.turned, tuple(columns), main.part.text, planned=planned
    )


def event_text(question: Bound) -> str | None:
    """The event that the rule of a question would be about; None if it has no description."""
    if type(question) not in DESCRIPTIONS:
        return None
    try:
        return parts_of(question)[0].part.text
    except NotDescribed:
        return None


def described_again(text: str, ground: Ground | None) -> DescribedQuestion:
    """The described question that a ledger knows by this text."""
    answer = None
    if ground is not None:
        question = ground.prior.read(text)
        answer = described(question, ground) if question.text == text else None
    if answer is None:
        raise InvalidQuestion("The text in the ledger is not that of a described question.")
    return answer


def _look(question: Bound, uses: Sequence[Use], ground: Ground) -> Look | None:
    """The rule of the part that answers the question, and what is read for it."""
    main, *others = uses
    free = tuple(ground.log_level(use.part) for use in others if use.role == "free")
    if any(use.role == "plain" for use in others):
        return None  # two means of different values: each has its own rule
    known = replace(ground, log_free=free)
    return DESCRIPTIONS[type(question)].look(question, main.part, known)


# What is said of a rule to people: its method, what is sure beforehand, and what would help.
#
# All of it is public: it follows from the rule, and for advice from the answer that was told.


# Rows of a normal law have intervals of a correlation about as wide as this allows without a floor.
_NORMAL_CORRELATION = 2.0


def method_of(rule: Rule) -> str:
    """How it comes to its interval and at which level, in words."""
    free = [f"the band of all thresholds at level {_level(each)}" for each in _free_levels(rule)]
    words = " and ".join([f"{rule.method} at level {_level(rule.log_p)}", *free])
    truth, supposition = truth_of(rule), supposition_of(rule)
    if supposition is not None:
        return f"{words}, if {supposition}"
    return words if truth is None else f"{words}, for the {truth}"


def supposition_of(rule: Rule | None) -> str | None:
    """What an interval supposes of the rows' values, as its question declares; no row can tell."""
    return getattr(rule, "supposition", None)


def truth_of(rule: Rule | None) -> str | None:
    """What an answer is about, in words, where the rule says more of it than the question.

    Such an answer says nothing of the population, and nothing that is said of that follows from it.
    """
    return rule.truth if isinstance(rule, Gridded) else None


def _free_levels(rule: Rule) -> Sequence[float]:
    """Those of the events that hold for every threshold at once."""
    match rule:
        case Share(log_free=levels) | GroupShare(log_free=levels):
            return levels
        case Gridded(log_free=float(level)):
            return (level,)
    return ()


def _level(log_p: float) -> str:
    return f"{math.exp(log_p):.2g}"


def share_symbols(rule: Rule | None, other: Rule) -> bool:
    """Whether the same symbols come of both: a spread is told as a deviation, or as its square."""
    if isinstance(rule, Gridded) and isinstance(other, Gridded):
        return replace(rule, squared=other.squared) == other
    return rule == other


def sure_half_width(rule: Rule) -> float | None:
    """The half-width that no answer exceeds, as a part of the range; None if that is not known."""
    match rule:
        case Share():
            return min(0.5, BoundedMean(rule.rows).radius(rule.log_p))
        case MeanRule() | ContainedMean() | PairedRule(log_size=None):
            return min(0.5, rule.window.alpha)
        case RoundedMean() | ConcentratedRule():
            return min(0.5, rule.half_width)
    return None


def units_of(rule: Rule | None) -> int | None:
    """How many units an answer rests on, where it is about units."""
    return rule.units if isinstance(rule, UnitGridded) else None


def floor_of_units(
    rule: Rule | None, value: float, interval: Interval
) -> tuple[int, Interval] | None:
    """How many units an answer rests on, and what no interval can exclude with so few, as parts
    of the range; None where that makes less than half of its width.

    More units make it narrower, and more rows in each do not.
    """
    if not isinstance(rule, UnitGridded):
        return None
    floor = rule.floor(value)
    above = 2.0 * (floor.high - value) > interval.high - value
    below = 2.0 * (value - floor.low) > value - interval.low
    return (rule.units, floor) if above or below else None


def is_at_the_floor(rule: Rule, told: Told) -> bool:
    """Whether rows at the end of the declared range, too few to be excluded, make half its width.

    The share of rows that no method can exclude is `outlier_floor_mass`. So with a tighter range
    the answer would be narrower; more rows help less.
    """
    rows, value = told.rows[0], told.value
    if value is None or rows == 0:
        return False
    share = outlier_floor_mass(rows, rule.log_p)
    low, high = told.interval
    match rule:
        case MeanRule() | ContainedMean() | GroupMeanRule():
            above, below = share * (1.0 - value), share * value
            return 2.0 * above > high - value or 2.0 * below > value - low
        case Gridded(by="spread", squared=squared):
            deviation, top = (math.sqrt(value), math.sqrt(high)) if squared else (value, high)
            # In halves of the range. The mean is not told: its far end is one to two halves away.
            moved = math.sqrt((1.0 - share) * (deviation**2 + 2.0 * share))
            return 2.0 * (moved - deviation) > top - deviation
        case Gridded(by="correlation"):
            # The floor needs the deviations, which are not told: compared with a normal law.
            normal = (1.0 - (2.0 * value - 1.0) ** 2) * math.sqrt(-2.0 * rule.log_p / rows)
            return high - low > _NORMAL_CORRELATION * normal
    return False
