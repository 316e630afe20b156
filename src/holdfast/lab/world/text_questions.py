"""Described and scaled questions in the laboratory, by the rules of a holdout.

A question that has a text of so many bits is answered exactly; any other goes to a mechanism of the
catalogue, on the same account. The rules, the levels and the charges are the ones of a holdout.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, cast

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted, InvalidQuestion
from holdfast.lab.world.holders import Session, Shown
from holdfast.lab.world.linear_questions import HALF_RANGE, Arrays, HasLength, LabQuestion, Linear
from holdfast.lab.world.session import LabSample, asking, lab_secret
from holdfast.mechanisms.catalogue import built, kind_of
from holdfast.mechanisms.described import DESCRIBED
from holdfast.mechanisms.mechanism import Mechanism, Wish, in_unit, walk
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question.columns import Schema
from holdfast.question.declaring import Scale
from holdfast.question.expression import numeral
from holdfast.statistics.bind import bind
from holdfast.statistics.description import DescribedQuestion
from holdfast.statistics.entry import Table
from holdfast.statistics.mean_events import Share, share_look
from holdfast.statistics.rounded_rules import RoundedMean
from holdfast.statistics.rule import Look
from holdfast.statistics.statistic import Statistic
from holdfast.theory.length.levels import described_log_level

if TYPE_CHECKING:
    from holdfast.data.polars import PolarsSample


@dataclass(frozen=True, slots=True)
class ByDescription:
    """Holdfast with described questions, exact or rounded as the terms say, and asks beside them.

    Two sabotages, for trials that must fail: `paid` is the part of its bits that a question pays,
    and without `charging` described answers cost what is asked later nothing.
    """

    paid: float = 1.0
    charging: bool = True

    def __post_init__(self) -> None:
        require.between("paid", self.paid, 0.0, 1.0, open_low=True)

    @property
    def name(self) -> str:
        less = f", {self.paid:g} of the bits paid" * (self.paid < 1)
        return f"Holdfast by description{less}{', free' * (not self.charging)}"

    @property
    def promises(self) -> bool:
        return self.paid == 1.0 and self.charging

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:  # noqa: ARG002
        asks = terms.promises and terms.described_share < 1.0
        mechanism = asking(terms) if asks else None
        return _DescribedSession(self, terms, mechanism, LabSample(sample), lab_secret(seed))


@dataclass(slots=True)
class _DescribedSession:
    settings: ByDescription
    terms: Terms
    mechanism: Mechanism | None  # of what is not described; None where all is
    sample: LabSample
    secret: bytes
    account: Account = field(default_factory=Account)

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        if isinstance(question, HasLength):
            return self._put(DESCRIBED, self._described(question), self.settings.charging)
        if self.mechanism is None:
            raise BudgetExhausted("The terms leave nothing for what is not described.")
        return self._put(self.mechanism, Wish(self.sample.mean(question), self.terms.half_width))

    def _put(self, mechanism: Mechanism, wish: Wish, charging: bool = True) -> Shown:
        before, rows = self.account, cast(Sample, self.sample)
        _, (release,), after = walk(mechanism, self.terms, before, [wish], rows, self._noise)
        self.account = after if charging else replace(after, leakage=before.leakage)
        value = 0.5 if release.value is None else release.value
        return Shown(value, *release.interval, status=release.status)

    def _described(self, question: HasLength) -> Wish:
        mean, rows = self.sample.mean(question), self.sample.n
        paid = round(self.settings.paid * question.millibits)
        log_p = described_log_level(self.terms.log_beta_described, paid)
        if self.terms.described == "rounded":
            rounded = RoundedMean(rows, log_p)
            look = Look(rounded, rounded.encode, (mean.row,))
        else:
            look = share_look(mean.row, Share(rows, log_p, (), alike=True))
        bits, columns = question.millibits / 1000, mean.row.columns
        described = DescribedQuestion(mean, look, bits, turned=False, columns=columns)
        return Wish(described, self.terms.half_width)

    def _noise(self, number: int) -> Noise:
        return Noise(self.secret, str(number))


# Means without a range in the laboratory: questions as a holdout has them, by their scale.
#
# The papers' own setting: rows that depend on each other, values that nothing bounds, questions
# of which only the concentration is declared, typically stable answers. What is shown is turned
# into fractions of the range that other holders cut the same values to.


@dataclass(frozen=True, slots=True)
class ByScale:
    """Holdfast, asked for means of unbounded values with a declared `scale` of each row."""

    promises: ClassVar[bool] = True

    scale: Scale
    mechanism: str
    theorem: str | None = None

    @property
    def name(self) -> str:
        return f"Holdfast by {self.mechanism}, {self.scale.text}"

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:  # noqa: ARG002
        import polars as pl

        from holdfast.data.polars import PolarsSample

        named = {f"x{place}": values for place, values in enumerate(sample["value"])}
        rows = PolarsSample(pl.DataFrame(named))
        options = {} if self.theorem is None else {"theorem": self.theorem}
        planned = kind_of(self.mechanism).plan(terms, options)
        recorded = {"name": self.mechanism, "parameters": planned.parameters}
        declared = planned.terms(terms)
        return _ScaledSession(
            self, declared, built(recorded, declared), rows, Table(Schema(rows.types)), seed
        )


@dataclass(slots=True)
class _ScaledSession:
    settings: ByScale
    terms: Terms
    mechanism: Mechanism
    sample: PolarsSample
    table: Table
    seed: int
    account: Account = field(default_factory=Account)

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        statistic = self._statistic(question)
        wish = Wish(statistic, self.terms.half_width * statistic.unit(self.terms.rows))
        (_,), (release,), self.account = walk(
            self.mechanism, self.terms, self.account, [wish], cast(Sample, self.sample), self._noise
        )
        ends = (release.told, *release.interval)
        value, low, high = (_fraction(in_unit(end, statistic.low, statistic.high)) for end in ends)
        return Shown(value, low, high, release.status)

    def _statistic(self, question: LabQuestion) -> Statistic:
        """The question in words: a weighted sum of columns."""
        if not isinstance(question, Linear):
            raise InvalidQuestion("Means without a range are of weighted sums here.")
        sums = [
            f"({numeral(weight)}) * x{place}"
            for place, weight in zip(question.features, question.weights, strict=True)
        ]
        text = f"avg({' + '.join(sums)}, {self.settings.scale.text})"
        return cast(Statistic, bind(text, self.table))

    def _noise(self, number: int) -> Noise:
        return Noise(lab_secret(self.seed), str(number))


def _fraction(value: float) -> float:
    return value / (2 * HALF_RANGE) + 0.5
