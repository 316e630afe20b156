"""Means without a range in the laboratory: questions as a holdout has them, by their scale.

The papers' own setting: rows that depend on each other, values that nothing bounds, questions of
which only the concentration is declared, typically stable answers. What is shown is turned into
fractions of the range that other holders cut the same values to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from holdfast.data.sample import Sample
from holdfast.errors import InvalidQuestion
from holdfast.lab.world.holders import Session, Shown
from holdfast.lab.world.questions import HALF_RANGE, Arrays, LabQuestion, Linear
from holdfast.lab.world.session import lab_secret
from holdfast.ledger.recording import in_unit
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.catalogue import built, kind_of
from holdfast.mechanisms.mechanism import Mechanism, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Terms
from holdfast.mechanisms.walk import walk
from holdfast.question.columns import Schema
from holdfast.question.scale import Scale
from holdfast.question.text import numeral
from holdfast.statistics.bind import bind
from holdfast.statistics.statistic import Statistic
from holdfast.statistics.table import Table

if TYPE_CHECKING:
    from holdfast.data.polars import PolarsSample

__all__ = ["ByScale"]


@dataclass(frozen=True, slots=True)
class ByScale:
    """Holdfast, asked for means of unbounded values with a declared `scale` of each row."""

    scale: Scale
    mechanism: str

    @property
    def name(self) -> str:
        return f"Holdfast by {self.mechanism}, {self.scale.text}"

    @property
    def promises(self) -> bool:
        return True

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:  # noqa: ARG002
        import polars as pl

        from holdfast.data.polars import PolarsSample

        named = {f"x{place}": values for place, values in enumerate(sample["value"])}
        rows = PolarsSample(pl.DataFrame(named))
        planned = kind_of(self.mechanism).plan(terms, {})
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
        asked = self._read(question)
        wish = Wish(asked, self.terms.half_width * asked.unit(self.terms.rows))
        (_,), (release,), self.account = walk(
            self.mechanism, self.terms, self.account, [wish], cast(Sample, self.sample), self._noise
        )
        ends = (release.told, *release.interval)
        value, low, high = (_fraction(in_unit(end, asked.low, asked.high)) for end in ends)
        return Shown(value, low, high, release.status)

    def _read(self, question: LabQuestion) -> Statistic:
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
