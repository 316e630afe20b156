"""Claimed questions: of a check or a gate a test is wanted, and no answer.

The rule that answers a question described by its text is valid at any level that is fixed before
the rows are touched, and so at the level of a claim: the rows show the claim where the rule's
interval lies inside it (Theorem C). So the mean of a group, a difference of groups, a median or a
correlation takes one claim, about as narrow as its answer, and not one for each part that the
ledger would ask it by. Columns that were attached later have no description; the rules hold for
them all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from holdfast.data.sample import Sample
from holdfast.data.sampling import Sampling
from holdfast.errors import InvalidQuestion, NotDescribed
from holdfast.question.row import RowValue
from holdfast.statistics.derived import Paired, all_parts, is_derived
from holdfast.statistics.entry import Bound, Part
from holdfast.statistics.rule import Evidence, Ground, Look, Told, evidence_of
from holdfast.statistics.statistic import Measured, is_single, is_unbounded
from holdfast.theory.base.concentration import Concentration

if TYPE_CHECKING:
    from holdfast.statistics.bind import Question
    from holdfast.statistics.description import Bits


@dataclass(frozen=True, slots=True)
class OneLevel:
    """Lengths where every event has the same level: that of the one claim it is needed for."""

    def read(self, question: Question, text: str | None = None) -> Bound:
        raise TypeError(f"{text or question} is read by its table")

    def of(self, question: Bound) -> Bits:
        raise NotDescribed(f"{question.text} has no length as a claim.")

    def millibits(self, part: Part) -> int:  # noqa: ARG002
        return 0

    def plans(self, part: Part) -> bool:  # noqa: ARG002
        return False


@dataclass(frozen=True, slots=True)
class ClaimedQuestion:
    """A question that one symbol claims; its rule, at the level of the claim, is the test."""

    unbounded: ClassVar[bool] = False

    question: Bound
    part: Part = field(compare=False)
    turned: bool = field(compare=False)
    ground: Ground = field(compare=False)
    columns: tuple[str, ...]
    text: str = field(init=False, repr=False, compare=False)
    low: float = field(init=False, repr=False, compare=False)
    high: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.question.text)
        object.__setattr__(self, "low", self.question.low)
        object.__setattr__(self, "high", self.question.high)

    @property
    def row(self) -> RowValue | None:
        """It is measured by its rule, whatever it averages."""
        return None

    @property
    def error(self) -> float:
        raise TypeError(f"{self.text} is tested by its rule")

    def unit(self, n: int) -> float:  # noqa: ARG002 - all of the range
        return 1.0

    def rows(self, n: int) -> int:
        return n

    def concentration(self, n: int, sampling: Sampling) -> Concentration:  # noqa: ARG002
        raise TypeError(f"{self.text} is tested by its rule")

    def read(self, sample: Sample) -> Measured:  # noqa: ARG002
        raise TypeError(f"{self.text} is tested by its rule")

    @property
    def ledger_question(self) -> Bound | None:
        """What a ledger asks in its place; None where no theorem covers its parts in such rows."""
        question, ground = self.question, self.ground
        parts = all_parts(question) if is_derived(question) else [question]
        try:
            for part in parts:
                if is_single(part):
                    part.concentration(ground.rows, ground.sampling)
        except InvalidQuestion:
            return None
        return question

    @property
    def reads(self) -> Look:
        """Its rule at some level: at every one it reads the same of the rows."""
        return self.look(_ANY_LEVEL)

    def look(self, log_p: float) -> Look:
        """Its rule at a level, and what that reads of the rows."""
        return _look(self.question, self.part, replace(self.ground, log_beta=log_p))

    def told(self, log_p: float, evidence: Evidence) -> Told:
        """What the rows say of it at a level, as fractions of its range; inside the door only."""
        look = self.look(log_p)
        answer = look.rule.decode(look.symbols_of(evidence))
        return answer.turned() if self.turned else answer

    def told_by(self, others: Sample, log_p: float) -> Told:
        """What other rows say of it, which are not the protected ones.

        Their value is the same at every level, on whose radius the grid of a rule may depend.
        """
        alone = replace(self, ground=replace(self.ground, rows=others.n))
        (evidence,) = evidence_of([alone.reads], others, _PUBLIC_KEY)
        value = alone.told(_ANY_LEVEL, evidence).value
        return replace(alone.told(log_p, evidence), value=value)


_ANY_LEVEL = -1.0
_PUBLIC_KEY = bytes(32)  # of the order of training rows


def _look(question: Bound, part: Part, ground: Ground) -> Look:
    look = _rule_of(question, part, ground)
    if look is None:
        raise InvalidQuestion(f"{question.text} has no rule at this level.")
    return look


def _rule_of(question: Bound, part: Part, ground: Ground) -> Look | None:
    from holdfast.statistics.registry import DESCRIPTIONS  # a plan needs no rules

    return DESCRIPTIONS[type(question)].look(question, part, ground)


def claimed_question(question: Bound, ground: Ground) -> ClaimedQuestion | None:
    """The question as one claim; None where it is claimed by parts, or has a test of its own.

    A mean of all rows, or of a group of a design, and a paired difference have tests of their own.
    What was drawn at random, and what an answer supposes of the rows, is not for the ledger.
    """
    from holdfast.statistics.bind import parts_of
    from holdfast.statistics.kappa_losses import LossByKappa
    from holdfast.statistics.registry import DESCRIPTIONS

    own_test = (is_single(question) and question.row is not None) or isinstance(question, Paired)
    if own_test or is_unbounded(question) or ground.has_other_truths:
        return None
    if isinstance(question, LossByKappa) or type(question) not in DESCRIPTIONS:
        return None
    try:
        main, *others = parts_of(question)
        columns = sorted({column for use in (main, *others) for column in use.part.columns})
        own_ground = ground.about(columns)
        if any(use.role == "plain" for use in others):
            return None
        if _rule_of(question, main.part, own_ground) is None:
            return None
    except InvalidQuestion:
        return None
    return ClaimedQuestion(question, main.part, main.turned, own_ground, tuple(columns))
