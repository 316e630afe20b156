"""Variances and standard deviations without a range: a declared sigma bounds squared deviations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from holdfast.errors import InvalidQuestion, NotDescribed
from holdfast.question.declaring import Scale
from holdfast.question.expression import Expression, text_of
from holdfast.statistics.averages import open_mean
from holdfast.statistics.concentrated_rules import concentrated_look, concentrated_spread_look
from holdfast.statistics.derived import Estimate, Joined, OpenConditional, Stages
from holdfast.statistics.entry import Call, Description, Part, Table, Use
from holdfast.statistics.rule import Ground, Look
from holdfast.statistics.statistic import (
    ConcentratedGroupMean,
    ConcentratedMean,
    ConcentratedVariance,
    Statistic,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import std_interval


@dataclass(frozen=True, slots=True)
class OpenVariance:
    """The variance of a number without a range, or the root of it; its sigma is declared.

    Of a group, first its share is asked, then the variance of its rows by the least share.
    """

    theorems: ClassVar[tuple[str, ...]] = ("SpreadOfRows", "square_scale", "std_interval")
    mean: ConcentratedMean | ConcentratedGroupMean | OpenConditional
    root: bool

    @property
    def text(self) -> str:
        return self.mean.text.replace("avg", "std" if self.root else "variance", 1)

    @property
    def low(self) -> float:
        return -self.high if self.unbounded else 0.0

    @property
    def high(self) -> float:
        high = self._variance.high
        return std_interval(0.0, high).high if self.root else high

    @property
    def unbounded(self) -> bool:
        return self._variance.unbounded

    @property
    def whole(self) -> ConcentratedMean:
        """The mean of all rows."""
        return self._variance.whole

    @property
    def inside(self) -> Expression | None:
        """The condition of its group."""
        return self._variance.inside

    @property
    def _variance(self) -> ConcentratedVariance:
        """That of its rows, of whose share nothing is known."""
        mean = self.mean
        if isinstance(mean, OpenConditional):
            mean = ConcentratedGroupMean(mean.whole, mean.inside)
        return ConcentratedVariance(mean)

    @property
    def described_by(self) -> tuple[ConcentratedVariance]:
        return (self._variance,)

    @property
    def stages(self) -> Stages:
        return tuple((part,) for part in self._parts)

    @property
    def _parts(self) -> tuple[Statistic, ...]:
        if not isinstance(self.mean, OpenConditional):
            return (self._variance,)
        (share,), (mean,) = self.mean.stages
        if not isinstance(mean, ConcentratedGroupMean):
            raise TypeError(f"{mean.text} is no mean of a group")
        return share, ConcentratedVariance(mean)

    def unit(self, n: int) -> float:
        """That of the variance; of the root, what it comes to at sigma, as a part of its range."""
        unit = self._variance.unit(n)
        if not self.root:
            return unit
        of_variance = self._variance.high - self._variance.low
        return unit * of_variance / (2 * self.whole.scale.sigma) / (self.high - self.low)

    def join(self, parts: Sequence[Estimate]) -> Joined:
        *shares, variance = parts
        if isinstance(self.mean, OpenConditional) and shares and not self.mean.is_told(shares[0]):
            return Joined(None, Interval(0.0, self.high))
        estimate = variance.within(0.0, self._variance.high)
        if not self.root:
            return Joined(estimate.value, estimate.interval)
        return Joined.within(estimate.value**0.5, std_interval(*estimate.interval), 0.0, self.high)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:  # noqa: ARG002
        return [(*(1.0 for _ in self._parts[:-1]), 0.0)]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:  # noqa: ARG002
        return guess * guess if self.root else guess


def open_variance(
    call: Call, scale: Scale | None, table: Table
) -> ConcentratedVariance | OpenVariance:
    (argument,) = call.arguments
    if scale is None:
        raise TypeError("a variance without a range has a scale")
    if scale.b is not None:
        raise InvalidQuestion(
            f"Squares of values whose tails fall like exp(-a/b) have no bound that a {call.name} "
            "could rest on; ask for quantiles, as in quantile(x, 0.9), or give bounds=(low, high) "
            f"(--bounds LOW HIGH), or a sigma alone where that is true, as in {call.name}(x, sigma "
            "= 2)."
        )
    mean, root = open_mean(call, scale, table), call.name == "std"
    match mean:
        case ConcentratedMean(bounded=None) | ConcentratedGroupMean() if not root:
            return ConcentratedVariance(mean)
        case ConcentratedMean(bounded=None) | ConcentratedGroupMean() | OpenConditional():
            return OpenVariance(mean, root)
    raise InvalidQuestion(
        f"{text_of(table.expression(argument))} has a range, by which its {call.name} is narrower; "
        "leave the sigma out."
    )


# As they are described.


def _uses(variance: ConcentratedVariance | OpenVariance) -> list[Use]:
    """That of a column, by the sigma it was declared with at opening: nothing else is said."""
    if not variance.whole.usual or getattr(variance.mean, "share", None) is not None:
        raise NotDescribed(
            f"{variance.text} says more of its rows than was declared when the ledger was opened, "
            "and has no length in bits."
        )
    where = getattr(variance.mean, "condition", None)
    return [Use(Part("spread", (variance.whole.expression,), where))]


def _look(variance: ConcentratedVariance | OpenVariance, part: Part, ground: Ground) -> Look | None:
    """By the declared sigma; a root follows from its square."""
    log_p, inside = ground.log_level(part), variance.inside
    if getattr(variance, "root", False):
        return None
    if inside is not None:
        return concentrated_spread_look(variance.whole, inside, ground, log_p)
    return concentrated_look(ConcentratedVariance(variance.whole), ground, log_p)


DESCRIBED_VARIANCES = (
    Description(ConcentratedVariance, _uses, _look),
    Description(OpenVariance, _uses, _look),
)
