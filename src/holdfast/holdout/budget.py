"""What is left: questions of a kind, and surprises, at the declared tolerance.

The kind of a question is the parts that another one like it asks for. It is told by records, as a
ledger writes the concentration of a look (`recorded_profile`): so it is the same for who asks, for
a client of the service and for a call that is made again.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from holdfast.errors import InvalidQuestion
from holdfast.holdout.batch import has_description
from holdfast.ledger.dictionaries import Dictionary
from holdfast.ledger.entries import Recorded
from holdfast.ledger.opening import Opening
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.claims import CHECKS, GATES
from holdfast.mechanisms.forecast_checks import FORECAST_CHECKS
from holdfast.mechanisms.mechanism import Checker, Mechanism
from holdfast.mechanisms.terms import Account, PartStages, Terms, part_of_record, recorded_profile
from holdfast.question.columns import Schema
from holdfast.question.expression import Column
from holdfast.statistics.claimed import ClaimedQuestion
from holdfast.statistics.derived import Stages, batches, is_derived
from holdfast.statistics.entry import Bound
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import ConcentratedMean, Statistic, is_single, is_unbounded
from holdfast.statistics.vectors import WholeVector
from holdfast.theory.base.safeside import round_up
from holdfast.theory.direct.paired import detectable_gain
from holdfast.theory.leakage.gates import gate_gain
from holdfast.wording import percent, plural, points

if TYPE_CHECKING:
    from holdfast.mechanisms.privacy import Privacy

# The records of the parts, stage by stage; None is a mean of all rows. That of a vector has the
# number and the norm of its coordinates, and the record of each.
QuestionKind: TypeAlias = Sequence[Sequence[Mapping[str, Any] | None]]
MEAN: QuestionKind = [[None]]


def stages_to_ask(question: Bound, *, once: bool) -> Stages:
    """The parts of a question in the order in which they are asked; of a search none is known."""
    question = _as_asked(question)
    if is_single(question):
        return ((question,),)
    return batches(question, numbers=False, once=once) if is_derived(question) else ()


def question_kind(
    question: Bound,
    terms: Terms,
    answered: Container[str] = (),
    *,
    once: bool = False,
    vector: str | None = None,
) -> QuestionKind:
    """The kind of a question; `answered` parts, as the size of a group, are not asked again.

    A search is taken to be as long as it can be. A question may be a coordinate of a `vector`.
    """
    question = _as_asked(question)
    if isinstance(question, Quantile):
        threshold = question.threshold(question.low)  # of rows with a value, where some have none
        return [*question_kind(threshold, terms, answered, once=once)] * question.longest
    stages = stages_to_ask(question, once=once)
    new = [[part for part in stage if part.text not in answered] for stage in stages]
    pending = [stage for stage in new if stage] or stages
    kind = [[_record(part, terms) for part in stage] for stage in pending]
    if vector is None:
        return kind
    whole = WholeVector.of_text(vector)
    # Of a scale beside a range nothing is known of the ball.
    norm = "linf" if whole.sigma is not None and not is_unbounded(question) else whole.norm
    size = {"coordinates": whole.coordinates, "norm": norm}
    return [[{**size, "each": record} for record in stage] for stage in kind]


def _as_asked(question: Bound) -> Bound:
    """What is asked where a claim of a whole question is not confirmed."""
    return question.question if isinstance(question, ClaimedQuestion) else question


def kind_after(
    question: Bound,
    looks: Iterable[Recorded],
    terms: Terms,
    *,
    once: bool,
    vector: str | None = None,
) -> QuestionKind:
    """The kind of a question that was answered by these looks: others were there before it."""
    answered = {each.question for each in looks if each.part_of != question.text}
    return question_kind(question, terms, answered, once=once, vector=vector)


def _record(part: Statistic, terms: Terms) -> Mapping[str, Any] | None:
    return recorded_profile(part.concentration(terms.rows, terms.sampling), terms, part)


def part_stages(kind: QuestionKind, terms: Terms) -> PartStages:
    """The parts of a kind as mechanisms count them."""
    return [[part_of_record(record, terms) for record in stage] for stage in kind]


def declared_kinds(opening: Opening) -> list[QuestionKind]:
    """What is counted before anything is asked: means of columns in the units declared."""
    scaled = scaled_kinds(opening.schema, opening.terms)
    return scaled if is_scaled(opening.schema) else [MEAN, *scaled]


def is_scaled(schema: Schema) -> bool:
    """Whether every column that was declared has a scale, and none a range."""
    return bool(schema.scales) and not schema.bounds


def scaled_kinds(schema: Schema, terms: Terms) -> list[QuestionKind]:
    """Means of the columns of which a scale was declared, and no range."""
    kinds = []
    for name in sorted(schema.scales.keys() - schema.bounds.keys()):
        mean = ConcentratedMean(Column(name, schema.types[name]), schema.scales[name])
        with suppress(InvalidQuestion):  # no theorem covers it: it will be refused for that
            kinds.append(question_kind(mean, terms))
    return kinds


# What is left.


_DIFFERING = 0.05
_POWER = 0.8  # 4 times in 5
# Beyond so many rows the gain falls as their root, to a thousandth.
_MOST_COUNTED = 1_000_000
_LEAST_DETECTED = 1e-9


@runtime_checkable
class _TellingPrivacy(Protocol):
    """A mechanism that may be private: it says what its answers reveal of any one row."""

    def privacy(self, account: Account) -> Privacy | None: ...


class NextGate(NamedTuple):
    """What the next gate can show without a forecast: the least true `gain` that is shown with
    probability `power` where `differing` of the rows, which are alike, differ; None: no gain."""

    gain: float | None
    differing: float
    power: float
    level: float

    def __str__(self) -> str:
        rows = f"{100 * self.differing:.3g} % differing rows"
        if self.gain is None:
            return f"the next gate can show nothing on {rows}"
        return f"the next gate can show a gain of {points(self.gain)} on {rows}, 4 times in 5"


@dataclass(frozen=True, slots=True)
class Budget:
    """A view of the account. `questions_left` and `surprises_left` are rounded down.

    `checker` is what checks guesses, None where they are refused; `why` says why the mechanism was
    chosen, where it was not named; `searches` are those that were opened. Questions that are left
    are of these `kinds`, whichever of them is asked.
    """

    terms: Terms
    account: Account
    mechanism: Mechanism
    checker: Checker | None
    why: str | None = None
    searches: tuple[Dictionary, ...] = ()
    kinds: Sequence[QuestionKind] = (MEAN,)
    _counted: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def for_more_of(self, kinds: Sequence[QuestionKind]) -> Budget:
        """What is left for questions of these kinds; of none, for those that were declared."""
        distinct: list[QuestionKind] = []
        for kind in kinds:
            if kind not in distinct:  # the groups of a table are alike
                distinct.append(kind)
        if not distinct or distinct == list(self.kinds):
            return self
        return replace(self, kinds=distinct, _counted={})

    def on(self, account: Account) -> Budget:
        """What would be left on another account."""
        return self if account == self.account else replace(self, account=account, _counted={})

    @property
    def asked(self) -> int:
        """Questions asked without a description so far; repeats and claims are not counted."""
        return self.account.asked

    @property
    def nats(self) -> float:
        """ln K: the leakage so far."""
        return self.account.nats

    @property
    def questions_left(self) -> int:
        """How many more questions can surely be asked at the declared tolerance."""
        if self.account.closed is not None:
            return 0
        return int(self._once("questions", self._count_questions))

    def _count_questions(self) -> int:
        count = partial(self.mechanism.questions_left, self.terms, self.account)
        return min(count(part_stages(kind, self.terms)) for kind in self.kinds)

    def _once(self, name: str, count: Callable[[], Any]) -> Any:
        """A number that takes as long to count as an answer does: not twice."""
        if name not in self._counted:
            self._counted[name] = count()
        return self._counted[name]

    @property
    def surprises_left(self) -> int:
        """How many guesses in a row may be refuted before the tolerance is out of reach.

        Counted up to a thousand: of guesses without a forecast, and once one came with a forecast,
        of any, at worst.
        """
        checker = self.checker
        if checker is None or self.account.closed is not None:
            return 0
        like = partial(checker.surprises_left, self.terms, self._behind)
        stages = [stage for kind in self.kinds for stage in part_stages(kind, self.terms)]
        profiles = dict.fromkeys(part.per_unit for stage in stages for part in stage)
        return int(self._once("surprises", lambda: min(map(like, profiles))))

    @property
    def _behind(self) -> Account:
        """The account, as much leaked as forecasts to come may cost more than none would."""
        account = self.account
        if FORECAST_CHECKS.name not in account.memory:
            return account
        nats = max(0.0, FORECAST_CHECKS.most_behind(account))
        return replace(account, leakage=account.leakage.charge(round_up(nats, 8)))

    @property
    def candidates_left(self) -> int | None:
        """How many more may be gated; None where no number was declared."""
        if self.terms.candidates is None:
            return None
        return 0 if self.account.closed is not None else self.terms.candidates - self.account.gates

    @property
    def more_candidates(self) -> str:
        """The same in words."""
        remaining = self.candidates_left
        return (
            "no limit on candidates"
            if remaining is None
            else f"{plural(remaining, 'candidate')} left"
        )

    def next_gate(self, differing: float = _DIFFERING) -> NextGate | None:
        """What the next gate can show; None where it would be refused, or rows depend on others."""
        if self.checker is not CHECKS or self.account.closed or not self.terms.independent:
            return None
        level = next(GATES.levels(self.terms, self.account))
        if level <= 0.0:
            return None
        rows = self.terms.rows
        gain = self._once(f"gain on {differing}", lambda: gain_shown(rows, differing, level))
        return NextGate(gain, differing, _POWER, level)

    @property
    def privacy(self) -> Privacy | None:
        """What all answers together reveal of any one row; None if they are not private."""
        if not isinstance(self.mechanism, _TellingPrivacy):
            return None
        return self.mechanism.privacy(self.account)

    @property
    def together(self) -> str:
        """How sure all intervals are, in few words."""
        return self.terms.together

    @property
    def facts(self) -> list[str]:
        """How much was answered, what is left and how sure all is, in few words each."""
        answered = f"{plural(self.account.looks, 'question')} answered"
        is_useful = not self.terms.describes or self.account.closed or self.questions_left
        return [answered, *([self.remaining] if is_useful else []), self.together]

    @property
    def remaining(self) -> str:
        """What is left, in few words; confirmed guesses leave more."""
        if self.account.closed is not None:
            return "retired" if self.account.closed.retired else "closed but for text questions"
        return f"{self._questions} left"

    @property
    def _questions(self) -> str:
        """Questions that are left; where text questions have no end, those that are no text."""
        later = " about later columns or functions" if self.terms.describes else ""
        return plural(self.questions_left, f"question{later}", f"questions{later}")

    @property
    def _left(self) -> str:
        """What is left, in a sentence."""
        closed = self.account.closed
        if closed is not None and closed.retired:
            return f"nothing, since {closed.at}, when it was retired: {closed.why}"
        if closed is not None:
            return f"text questions only, since {closed.at}, when {closed.why}"
        text = "text questions (no limit)" if self.terms.describes else ""
        width = f", {self.terms.width}" if self.terms.promises else ""
        others = f"{self._questions}{width}" if self.questions_left or not text else ""
        return ", and ".join(each for each in (text, others) if each)

    @property
    def promise(self) -> str:
        """What holds, and what it rests on."""
        if not self.terms.simultaneous:
            return "nothing: every interval given from this ledger is the whole range"
        return (
            f"with probability {percent(self.terms.confidence_level)} every interval given from "
            f"this ledger contains the truth, all together, however the questions were chosen; "
            f"assumed: {self.terms.assumption}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        privacy, gate = self.privacy, self.next_gate()
        return {
            "described": self.account.described,
            "asked": self.asked,
            "questions": self.terms.questions,
            "questions_left": self.questions_left,
            "checks": self.account.checks,
            "surprises": self.account.refuted,
            "surprises_left": self.surprises_left,
            "gates": self.account.gates,
            "shown": self.account.shown,
            "candidates": self.terms.candidates,
            "candidates_left": self.candidates_left,
            "next_gate": None if gate is None else gate._asdict(),
            "tolerance": self.terms.tolerance,
            "confidence_level": self.terms.confidence_level,
            "described_share": self.terms.described_share,
            "simultaneous": self.terms.simultaneous,
            "rows": self.terms.rows,
            "nats": self.nats,
            "closed": None if self.account.closed is None else self.account.closed._asdict(),
            "promise": self.promise,
            "assumes": self.terms.assumption,
            "why": self.why,
            "searches": [each.body() for each in self.searches],
            "privacy": None if privacy is None else privacy.to_dict(),
        }

    def __str__(self) -> str:
        privacy = self.privacy
        spent = () if privacy is None else (f"  privacy spent: {privacy}",)
        return "\n".join(
            (
                f"Budget: {self._answered}",
                *self._guessed,
                *self._gated,
                f"  left: {self._left}",
                f"  promised: {self.promise}",
                *(f"  search: {each}" for each in self.searches),
                *spent,
            )
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        answered, *facts = (html.escape(line.strip()) for line in str(self).splitlines())
        title, _, rest = answered.partition(": ")
        return f"<div><b>{title}:</b> {rest}<br><small>{'<br>'.join(facts)}</small></div>"

    @property
    def _gated(self) -> list[str]:
        """What became of candidates, where there are any."""
        if self.account.gates == 0 and self.terms.candidates is None:
            return []
        tried = f"{self.account.shown:,} of {plural(self.account.gates, 'candidate')} shown"
        gate = self.next_gate()
        reach = "" if gate is None else f"; {gate}"
        return [f"  gates: {tried}; {self.more_candidates}{reach}"]

    @property
    def _answered(self) -> str:
        """How many questions were answered: text, of which there is no end, and others."""
        terms = self.terms
        declared = "" if terms.questions is None else f" of {terms.questions:,} declared"
        if not terms.describes:
            return f"{plural(self.asked, 'question')} answered{declared}"
        text = plural(self.account.described, "text question")
        others = f", {plural(self.asked, 'other')}{declared}" if self.asked or declared else ""
        return f"{text} answered{others}"

    @property
    def _guessed(self) -> list[str]:
        """What became of guesses, and how many more may be wrong; where there are any."""
        if self.checker is None or (self.terms.describes and not self.account.checks):
            return []
        checked = f"{self.account.checks:,} checked, {self.account.refuted:,} not confirmed"
        able = self.questions_left and self.surprises_left
        more = " (confirmed ones cost almost nothing)" if able else ""
        return [f"  guesses: {checked}; wrong guesses left: {self.surprises_left:,}{more}"]

    @property
    def details(self) -> str:
        """Bookkeeping in words: pots, leakage, why the mechanism was chosen."""
        facts = [
            f"failure probability {self.terms.parted}" if self.terms.is_parted else None,
            f"{self.nats:.6g} nats leaked",
            f"{self.terms.rows:,} rows",
            None if self.why is None else f"chosen: {self.why}",
        ]
        return " · ".join(fact for fact in facts if fact is not None)


def gain_shown(rows: int, differing: float, level: float) -> float | None:
    """The least gain that is shown 4 times in 5; None if it is none on so few differing rows."""
    n, log_p = min(rows, _MOST_COUNTED), math.log(min(1.0, level))
    if level < _LEAST_DETECTED:
        least = gate_gain(n, differing, log_p, _POWER)
    else:  # the same to 1 %, without special functions
        least = detectable_gain(n, differing, log_p, _POWER)
    scaled = math.inf if least is None else least * math.sqrt(n / rows)
    return scaled if scaled <= differing else None


@dataclass(slots=True)
class LastBudget:
    """What is left, as it was last told: it is the same until the account is another."""

    _last: Budget | None = None

    def of(self, transcript: Transcript) -> Budget:
        """What is left after all that the ledger says."""
        account = transcript.committed
        if self._last is None or self._last.account != account:
            self._last = budget_of(transcript, account)
        return self._last


def budget_of(transcript: Transcript, account: Account | None = None) -> Budget:
    """What is left after all that a ledger says, with an unfinished batch at its worst."""
    return Budget(
        transcript.terms,
        transcript.committed if account is None else account,
        transcript.mechanism,
        transcript.checker,
        transcript.opening.mechanism.get("why"),
        transcript.dictionaries.searches,
        declared_kinds(transcript.opening),
    )


def left_for_more(
    question: Bound,
    looks: Iterable[Recorded],
    budget: Budget,
    vector: str | None = None,
    *,
    once: bool,
) -> Budget:
    """What is left for more questions, or vectors, like one that was answered by these looks."""
    if has_description(question):
        return budget
    try:
        kind = kind_after(question, looks, budget.terms, once=once, vector=vector)
    except InvalidQuestion:  # it was answered by its description, and otherwise is none
        return budget
    return budget.for_more_of([kind])
