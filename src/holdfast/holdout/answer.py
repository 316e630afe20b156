"""An answer: a float with an interval that stays true together with all the others."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

from holdfast.errors import SaysNothing
from holdfast.ledger.entries import verdict_of
from holdfast.mechanisms.described import DESCRIBED
from holdfast.mechanisms.mechanism import plain_interval
from holdfast.statistics.bind import declared_kappa
from holdfast.statistics.description import method_of, truth_of
from holdfast.statistics.kappa_losses import supposed_of_loss
from holdfast.wording import adjusted_text, among_rows, at_most, nth_candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.holdout.budget import Budget
    from holdfast.ledger.entries import Judgement, Recorded
    from holdfast.statistics.entry import Better
    from holdfast.theory.base.intervals import Interval

_TIGHTER = "declare a narrower range to get a narrower interval"
_HEADS = {"answered": "", "not confirmed": "guess not confirmed: "}  # of other statuses: the word


class Answer(float):
    """The released value. Behaves as a float; everything else is an attribute.

    `status` is answered, confirmed, not confirmed, shown, not shown, not tried, no promise, says
    nothing or repeated; `bound` is what a one-sided claim is about, `forecast` how likely a claim
    was said to be made good, and `adjusted` a gate's adjusted p, if it was shown with a grade;
    `cost` is in nats (0 for a repeat), and `bits` is the length of a described question, None for
    others; `n` is how many rows it is about, or of a group whose size is rounded the least and the
    most, and `missing` how many were left out of them for want of a value; `left` is the budget
    after this answer, for more questions like it; `name` is what people call the question, `number`
    its line of the ledger, `receipt` the hash of the entry that tells it; `parts` are the looks
    that it follows from, if it is no look itself; `details` are its bookkeeping in words. One that
    says nothing has no `value`: it calculates as NaN, and `float()` of it is refused.
    """

    __slots__ = ("advice", "better", "left", "name", "parts", "recorded", "repeated")
    recorded: Recorded
    left: Budget
    repeated: bool
    parts: tuple[Recorded, ...]
    better: Better | None
    advice: str | None
    name: str

    def __new__(
        cls,
        recorded: Recorded,
        left: Budget,
        *,
        repeated: bool = False,
        parts: Sequence[Recorded] = (),
    ) -> Answer:
        answer = super().__new__(cls, math.nan if recorded.value is None else recorded.value)
        answer.recorded = recorded
        answer.left = left
        answer.repeated = repeated
        answer.parts = tuple(parts) if recorded.parts else ()
        answer.better = None
        answer.advice = None
        answer.name = recorded.question
        return answer

    def advised(self, advice: str | None) -> Answer:
        """The same answer, with what would make it narrower."""
        self.advice = advice
        return self

    def called(self, name: str) -> Answer:
        """The same answer, to a question that people call so."""
        self.name = name
        return self

    def judged(self, better: Better | None) -> Answer:
        """The same answer about a difference, of which `better` says which sign is good."""
        self.better = better
        return self

    def __float__(self) -> float:
        if self.value is None:
            status = self.recorded.status
            outcome = "has no information" if status == "says nothing" else f"is {status}"
            raise SaysNothing(
                f"the answer to {self.question} {outcome}: its interval "
                f"{self.recorded.interval_text} is the whole range, and there is no value. Ask "
                "with a smaller tolerance=, or use its .interval."
            )
        return self.value

    @property
    def status(self) -> str:
        """What became of the question; a repeat that says nothing still says nothing."""
        silent = self.value is None
        return "repeated" if self.repeated and not silent else self.recorded.status

    @property
    def verdict(self) -> Judgement | None:
        """For a difference with `better=`: better, worse, or cannot tell."""
        return verdict_of(self.interval, self.better)

    @property
    def value(self) -> float | None:
        """What was released; None where nothing is said."""
        return self.recorded.value

    @property
    def interval(self) -> Interval:
        """(low, high), true together with all others; in the statistic's own unit."""
        return self.recorded.interval

    @property
    def half_width(self) -> float:
        """Half of the length of the interval."""
        return self.recorded.half_width

    @property
    def bound(self) -> float | None:
        """What was claimed to be beyond, or not to be: of a gate and of a one-sided check."""
        return None if self.recorded.request.side is None else self.recorded.guess

    @property
    def bits(self) -> float | None:
        """The length of a described question; None for others."""
        return self.recorded.bits

    @property
    def n(self) -> int | tuple[int, int]:
        """How many rows it is about; the least and the most, where that is not told exactly."""
        least, most = self._rows
        return least if least == most else (least, most)

    @property
    def missing(self) -> int | tuple[int, int]:
        """How many rows were left out for want of a value; the least and the most, if rounded."""
        least, most = self.recorded.missing
        return least if least == most else (least, most)

    @property
    def of_rows(self) -> str:
        """Of how many rows it is, in words."""
        return among_rows(self._rows, self.left.terms.rows, self.recorded.missing)

    @property
    def _rows(self) -> tuple[int, int]:
        rows = self.left.terms.rows
        return (rows, rows) if self.recorded.rows is None else self.recorded.rows

    @property
    def number(self) -> int:
        """Its line of the ledger."""
        if self.recorded.number is None:
            raise TypeError(f"{self.question} is a part, and no line of the ledger")
        return self.recorded.number

    @property
    def question(self) -> str:
        """The canonical text of what was asked."""
        return self.recorded.question

    @property
    def guess(self) -> float | None:
        """What was guessed, or claimed as a bound; by training rows for its own look, too."""
        status = self.recorded.status  # a guess that was not confirmed is that look's alone
        own = [look.guess for look in self._own_looks if look.status == status]
        guesses = [self.recorded.guess, *own]
        return next((guess for guess in guesses if guess is not None), None)

    @property
    def why(self) -> str | None:
        """Why it was asked, as was said."""
        return self.recorded.why

    @property
    def receipt(self) -> str:
        """The hash of the entry that tells it: keep it to prove the answer."""
        return self.recorded.receipt

    @property
    def cost(self) -> float:
        """What it cost, in nats; 0 for a repeat."""
        return 0.0 if self.repeated else self.recorded.charge

    @property
    def forecast(self) -> float | None:
        """How likely the claim was said to be made good; None where nobody did."""
        return None if self._foreseen is None else self._foreseen[0]

    @property
    def adjusted(self) -> float | None:
        """The adjusted p that a gate with grades was shown with: the largest so far."""
        adjusted = (each.adjusted for each in (self.recorded, *self.parts))
        return next((each for each in adjusted if each is not None), None)

    @property
    def level(self) -> float | None:
        """The level that a claim with a forecast was decided at."""
        return None if self._foreseen is None else self._foreseen[1]

    @property
    def _foreseen(self) -> tuple[float, float] | None:
        forecasts = (each.forecast for each in (self.recorded, *self.parts))
        return next((each for each in forecasts if each is not None), None)

    @property
    def _forecast_text(self) -> str:
        decided = self.recorded.status != "not tried"
        then = "" if decided else ", so nothing was asked or charged"
        return f"forecast {100 * (self.forecast or 0.0):.3g} %{then}"

    @property
    def _truth(self) -> str | None:
        """What it is true of, where that is not the population; a verdict's is its look's."""
        truths = (truth_of(each.rule) for each in (self.recorded, *self.parts))
        return next((truth for truth in truths if truth is not None), None)

    @property
    def _supposition(self) -> str | None:
        """What the upper end supposes of the rows' values, as the question declares it."""
        declared = declared_kappa(self.question)
        return None if declared is None else f"if {supposed_of_loss(declared)}"

    @property
    def _floor(self) -> str | None:
        """That there are too few units for more, where it is so."""
        floor = next((each.floor for each in (self.recorded, *self.parts) if each.floor), None)
        if floor is None or self.recorded.request.verb != "ask":
            return None
        units, (low, high) = floor
        return (
            f"with {units:,} units nothing in [{low:.2g}, {high:.2g}] can be excluded: more units "
            "would tell more, more rows in each would not"
        )

    @property
    def assumes(self) -> str:
        """What the interval rests on, in words."""
        terms, recorded = self.left.terms, self.recorded
        if self._truth is not None:
            return f"{terms.assumption}; it is the {self._truth}"
        upper = self._supposition
        if upper is not None:
            return f"{terms.assumption}; the upper end {upper}, as the question declares"
        declared = [each for each in (recorded, *self.parts) if each.is_declared]
        if not declared:
            return terms.assumption
        share = " and the share of rows" if ", share >= " in recorded.question else ""
        assumption = f"{terms.assumption}, the concentration{share} that the question declares"
        if terms.alike:
            return assumption
        if recorded.question.startswith(("std(", "variance(")):
            return f"{assumption} of a row drawn from all rows"
        tails = [(each.profile or {}).get("gamma", "") for each in declared]
        windows = [
            1.5 * each.range.high
            for each, tail in zip(declared, tails, strict=True)
            if recorded.request.unbounded and (each.rule is not None or '"windowed"' in tail)
        ]
        if windows and any('"group of rows"' in tail for tail in tails):
            assumption += " of a row drawn from all rows"
        # Rows with one expectation may have any; others could be cut at the grid's end unnoticed.
        beyond = f", no row's expectation beyond +-{min(windows):.6g}" if windows else ""
        return f"{assumption}{beyond}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "number": self.recorded.number,
            "question": self.question,
            "status": self.status,
            "value": self.value,
            **plain_interval(self.interval),
            "half_width": self.half_width if math.isfinite(self.half_width) else None,
            "bits": self.bits,
            "n": self._rows[0],
            "n_most": self._rows[1],
            "missing": self.recorded.missing[0],
            "missing_most": self.recorded.missing[1],
            "confidence_level": self.left.terms.confidence_level,
            "simultaneous": self.left.terms.simultaneous,
            "guess": self.guess,
            "bound": self.bound,
            "why": self.why,
            "cost": self.cost,
            "forecast": self.forecast,
            "level": self.level,
            "adjusted": self.adjusted,
            "receipt": self.receipt,
            "assumes": self.assumes,
            "rows": self.left.terms.rows,
            "verdict": self.verdict,
            "questions_left": self.left.questions_left,
            "surprises_left": self.left.surprises_left,
        }

    def __str__(self) -> str:
        return " · ".join([f"{self._verdict_word}{self._status_word}{self._result}", *self._facts])

    __repr__ = __str__

    @property
    def _facts(self) -> list[str]:
        """Facts beside the interval: of how many rows, how sure, what is left, what would help."""
        recorded = self.recorded
        facts = [
            self._truth,
            self._supposition,
            self.of_rows,
            self.left.together,
            self.more,
            self._known,
            None if self.forecast is None else self._forecast_text,
            None if self.adjusted is None else adjusted_text(self.adjusted),
            _TIGHTER if recorded.wants_tighter_range else None,
            self._floor,
            recorded.outlook,
            self.advice,
        ]
        return [fact for fact in facts if fact is not None]

    @property
    def details(self) -> str:
        """Bookkeeping in words: line of the ledger, length, cost, pots, looks, rule, receipt."""
        recorded, terms = self.recorded, self.left.terms
        facts = [
            None if recorded.number is None else f"question {self.number:,}",
            recorded.length and f"length {recorded.length}",
            f"cost {self.cost:.5g} nats",
            f"failure probability {terms.parted}" if terms.is_parted else None,
            None if self.level is None else f"decided at level {self.level:.2g}",
            recorded.rule and method_of(recorded.rule),
            recorded.known_text,
            self.left.remaining,
            f"assumed: {self.assumes}",
            f"receipt {self.receipt}",
        ]
        return " · ".join(fact for fact in facts if fact)

    @property
    def _known(self) -> str | None:
        """What earlier answers have to do with it; their numbers are details."""
        recorded = self.recorded
        if recorded.is_gate and recorded.parts and self.is_free and not self.repeated:
            return "follows from earlier answers"
        if recorded.contradict or not recorded.known:
            return recorded.known_text
        return f"{'narrower by' if recorded.parts else 'follows from'} earlier answers"

    @property
    def more(self) -> str | None:
        """What is left of what it was taken from; of text questions there is no end."""
        recorded = self.recorded
        if recorded.request.verb == "gate":
            budget = self.left
            is_tried = any(look.is_gate for look in self._own_looks) and not self.repeated
            return nth_candidate(budget.account.gates, budget.candidates_left) if is_tried else None
        if recorded.member is not None:
            return recorded.member if self.bits is None else None
        is_text = self.bits is not None and recorded.mechanism in (DESCRIBED.name, None)
        is_check = recorded.request.verb == "check" and self.left.terms.describes
        return None if is_text or is_check else self.left.remaining

    @property
    def _own_looks(self) -> list[Recorded]:
        """Looks that were made for it: itself, or those of its parts that nobody asked before."""
        own = [look for look in self.parts if look.part_of == self.question]
        return own if self.recorded.look is None else [self.recorded, *own]

    @property
    def is_free(self) -> bool:
        """Whether no row was looked at for it: it was given before, or follows from answers."""
        return self.repeated or not self._own_looks

    @property
    def _verdict_word(self) -> str:
        """The verdict of a difference, to stand before its number."""
        return f"{self.verdict}: " if self.verdict else ""

    @property
    def _status_word(self) -> str:
        """What became of it, to stand before its number."""
        if self._is_silent:
            return "no information: "
        return _HEADS.get(self.status, f"{self.status} ")

    @property
    def _is_silent(self) -> bool:
        return self.value is None and self.recorded.claimed is None

    @property
    def _result(self) -> str:
        """What is known: value and interval, one side, or that it is nothing."""
        if self._is_silent:
            return f"the interval is the whole range {self.recorded.interval_text}"
        if self.value is None:
            return self.recorded.claimed or ""
        if self.recorded.side is not None:
            return self.recorded.shown
        width = f" (half-width {at_most(self.half_width, 2)})" if self.repeated else ""
        return f"{self.recorded.shown} {self.recorded.interval_text}{width}"

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.recorded, self.left, self.repeated, self.parts, self.better, self.advice)
        return _again, (*arguments, self.name)

    def _repr_html_(self) -> str:
        facts = " &middot; ".join(map(html.escape, [self.name, *self._facts, self.assumes]))
        return (
            f"<div>{self._verdict_word}{self._status_word}<b>{html.escape(self._result)}</b><br>"
            f"<small>{facts}</small></div>"
        )


def _again(
    recorded: Recorded,
    left: Budget,
    repeated: bool,
    parts: tuple[Recorded, ...],
    better: Better | None,
    advice: str | None,
    name: str,
) -> Answer:
    answer = Answer(recorded, left, repeated=repeated, parts=parts).judged(better)
    return answer.advised(advice).called(name)
