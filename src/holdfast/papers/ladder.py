"""The Ladder (Blum and Hardt 2015), with a fixed step and parameter-free, as published.

A submission's answer is the least loss so far, R. With a fixed step eta it is replaced only by a
loss below R - eta, rounded to a multiple of eta (their Figure 1). Parameter-free (their Figure 2),
a new loss must be below R - s/sqrt(n), s the standard deviation of the rows' differences to the
losses of the best so far, and is rounded to a multiple of 1/n.

Nothing is promised about a single submission: the published theorem bounds, for the fixed step, how
far the best score shown is from the best loss of the population. What is true is counted: *the best
stands*, and then every level, has a law that sees no sample, weighing 1/2 each, so that an answer
is charged ln 2, or ln 2 plus ln of the number of levels.

The state is the best level and, parameter-free, the question that reached it: a fold of public
answers. That question's losses are found again by its text, inside the door: a `Recall` says how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.data.values import evaluate
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.mechanisms.catalogue import MechanismKind, Planned, chosen_options
from holdfast.mechanisms.exact import alphabet_log_charge, planned_without
from holdfast.mechanisms.leakage import declared_left, require_room
from holdfast.mechanisms.mechanism import (
    CONFIRMED,
    Offer,
    Release,
    Symbol,
    Wish,
    cell_of,
    charged,
    each_settled,
)
from holdfast.mechanisms.noise import Grid, Noise
from holdfast.mechanisms.terms import Account, PartStages, Terms, number_of_parts
from holdfast.papers.exact_answers import unpromised_offer, unpromised_release
from holdfast.question.columns import Schema
from holdfast.question.declaring import bounds_pair
from holdfast.question.expression import Expression
from holdfast.question.row import GRID, RowValue
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import Mean
from holdfast.statistics.statistic import Measured, Statistic, averaged, measure

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

_MEMORY = "ladder"
_DEFAULTS = {"better": "lower", "bounds": (0.0, 1.0)}


@dataclass(frozen=True, slots=True)
class _Best:
    """The best so far: its level, and the question that reached it."""

    level: int
    question: str

    def to_dict(self) -> dict[str, Any]:
        return {"best": self.level, "reached_by": self.question}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> _Best:
        return cls(body["best"], body["reached_by"])


class Recall(Protocol):
    """How the row values of an earlier question are found again by its text."""

    def knows(self, question: Statistic) -> bool:
        """Whether its text will be enough."""
        ...

    def row(self, text: str, sample: Sample) -> RowValue:
        """The row values that its average was of."""
        ...


@dataclass(frozen=True, slots=True)
class FromText:
    """Questions of a ledger: their texts are read again."""

    def knows(self, question: Statistic) -> bool:
        from holdfast.statistics.scores import LogLoss  # rules that a plan does not need

        return (
            isinstance(question, Mean)
            and question.variance is None
            and isinstance(question.row.source, Expression | LogLoss)
        )

    def row(self, text: str, sample: Sample) -> RowValue:
        from holdfast.statistics.bind import read_again  # texts, of which a plan has none

        return averaged(read_again(text, Table(Schema(sample.types))))


@dataclass(frozen=True, slots=True)
class Ladder:
    """`step` is None for the parameter-free Ladder; with `higher`, scores take the place of losses.

    All questions have the range `bounds`, so that their losses can be compared.
    """

    step: float | None
    higher: bool
    bounds: tuple[float, float]
    recall: Recall = FromText()

    @property
    def name(self) -> str:
        return "parameter-free ladder/1" if self.step is None else "ladder/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        best, grid = _best(account), self._grid(terms.rows)
        for wish in wishes:
            self._require_loss(wish.question)
        return [
            unpromised_offer(
                account,
                wish,
                position,
                grid=grid,
                charge=_charge(grid.last + 1),
                extra=None if best is None else best.to_dict(),
            )
            for position, wish in enumerate(wishes, start=1)
        ]

    def _grid(self, rows: int) -> Grid:
        """Grid of the levels: 100 for steps of 0.01; parameter-free n."""
        cells = rows if self.step is None else 1 / Fraction(str(self.step))
        return Grid(int(cells) if cells == int(cells) else float(cells), 0, 0)

    def _require_loss(self, question: Statistic) -> None:
        if (question.low, question.high) != self.bounds:
            raise InvalidQuestion(
                f"The ladder compares questions of the range {list(self.bounds)}, and "
                f"{question.text} has [{question.low:g}, {question.high:g}]; open a ledger with "
                "options={'bounds': ...} for it."
            )
        if self.step is None and not self.recall.knows(question):
            raise InvalidQuestion(
                "The parameter-free ladder compares the rows of a new best with those of the old "
                "one, so it must be able to read its question again from the ledger: an average "
                "over all rows of an expression or a log_loss, not of a Python function."
            )

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],  # noqa: ARG002
    ) -> list[Symbol]:
        symbols: list[Symbol] = []
        for offer, question, measured in zip(
            offers, questions, measure(sample, questions), strict=True
        ):
            loss = self._loss(measured)
            if self._improves(offer, question, loss, sample):
                symbols.append(offer.own_grid.cell(*loss.as_integer_ratio()))
            else:
                symbols.append(CONFIRMED)
        return symbols

    def _loss(self, measured: Measured) -> Fraction:
        value = Fraction(measured.numerator, measured.denominator)
        return 1 - value if self.higher else value

    def _improves(self, offer: Offer, question: Statistic, loss: Fraction, sample: Sample) -> bool:
        if offer.extra is None:
            return True
        gain = offer.own_grid.place(offer.extra["best"]) - loss
        if self.step is not None:
            return gain > offer.own_grid.place(1)
        best = self.recall.row(offer.extra["reached_by"], sample)
        variance = _paired_variance(averaged(question), best, sample)
        return gain > 0 and gain * gain * sample.n > variance

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._release, offers, symbols)

    def _release(self, offer: Offer, symbol: Symbol) -> Release:
        if symbol == CONFIRMED:
            if offer.extra is None:
                raise TypeError("there is no best so far that could stand")
            release = self._at(offer, offer.extra["best"])
            return replace(release, charge=_charge(1))
        return self._at(offer, cell_of(offer, symbol))

    def _at(self, offer: Offer, level: int) -> Release:
        loss = min(Fraction(1), offer.own_grid.place(level))
        return unpromised_release(offer, float(1 - loss if self.higher else loss))

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        best = _best(account)
        for offer, release in zip(offers, releases, strict=True):
            if release.charge == offer.worst_charge:  # a new level, not the old one
                level = self._level(offer, release)
                if best is None or level <= best.level:
                    best = _Best(level, offer.question)
        after = charged(account, offers, [release.charge for release in releases])
        return after.remembering(_MEMORY, None if best is None else best.to_dict())

    def _level(self, offer: Offer, release: Release) -> int:
        """The level that a value stands for: the inverse of `_at`."""
        loss = Fraction(release.told)
        loss = 1 - loss if self.higher else loss
        return offer.own_grid.cell(*loss.as_integer_ratio())

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        return max(0, declared_left(terms, account)) // number_of_parts(stages)


def _charge(symbols: int) -> float:
    return alphabet_log_charge(2 * symbols)


def _best(account: Account) -> _Best | None:
    stored: dict[str, Any] | None = account.memory.get(_MEMORY)
    return None if stored is None else _Best.from_dict(stored)


@dataclass(frozen=True, slots=True)
class _Difference:
    """A row's value less its value by another question."""

    first: RowValue
    second: RowValue

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(sorted({*self.first.columns, *self.second.columns}))

    @property
    def text(self) -> str:
        return f"{self.first.text} - {self.second.text}"

    def values(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        return _values(self.first, frame) - _values(self.second, frame)


def _values(row: RowValue, frame: pl.DataFrame) -> NDArray[np.float64]:
    if not isinstance(row.source, Expression):
        return row.source.values(frame)
    (values,) = evaluate(frame, [row.source])
    return values.cast(float).fill_null(row.missing).to_numpy()


def _paired_variance(row: RowValue, best: RowValue, sample: Sample) -> Fraction:
    """The variance over the rows of the difference to the losses of another question."""
    width, n = row.high - row.low, sample.n
    source = _Difference(row, best)
    paired = RowValue(source, -width, width, source.text, is_condition=False)
    ((total, squares),) = sample.moments([paired])
    spread = Fraction(squares, n) - Fraction(total, n) ** 2
    return 4 * max(Fraction(0), spread) / GRID**2  # the difference has twice the questions' range


def _plan(name: str, defaults: Mapping[str, Any]) -> Callable[..., Planned]:
    def plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
        chosen = chosen_options(name, options, defaults)
        if chosen["better"] not in ("lower", "higher"):
            raise InvalidArgument(
                f"better is {chosen['better']!r}; it must be 'lower' (losses) or 'higher' (scores)."
            )
        step = chosen.get("step")
        parameters = {
            "step": None
            if step is None
            else require.between("step", step, 0.0, 0.5, open_low=True),
            "better": chosen["better"],
            "bounds": list(bounds_pair(chosen["bounds"])),
        }
        return planned_without(name, wanted, parameters)

    return plan


def _built(_terms: Terms, parameters: Mapping[str, Any]) -> Ladder:
    low, high = parameters["bounds"]
    return Ladder(parameters["step"], parameters["better"] == "higher", (low, high))


_OPTIONS = {
    "better": "lower for losses, higher for scores (lower).",
    "bounds": "the range that all questions have, [low, high] ([0, 1]).",
}
_REFUSES = "its answers are the best so far, not values that a check could rely on."

LADDER = MechanismKind(
    name="ladder",
    summary="A leaderboard: the best loss so far, lowered only by more than a fixed step.",
    needs="Losses (or scores) of one range.",
    promises="the published theorem is about the best score only; intervals are the whole range.",
    theorem=None,
    method=None,
    plan=_plan("ladder", {"step": 0.01, **_DEFAULTS}),
    build=_built,
    refuses_checks=_REFUSES,
    options={"step": "eta, a fraction of the range (0.01).", **_OPTIONS},
)

PARAMETER_FREE_LADDER = MechanismKind(
    name="parameter-free ladder",
    summary="A leaderboard: the best loss so far, lowered only by more than one standard error.",
    needs="Losses (or scores) of one range that can be read again from their text.",
    promises="no theorem is published for it; every interval is the whole range.",
    theorem=None,
    method=None,
    plan=_plan("parameter-free ladder", _DEFAULTS),
    build=_built,
    refuses_checks=_REFUSES,
    options=_OPTIONS,
)
