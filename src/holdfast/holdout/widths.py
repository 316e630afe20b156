"""The half-width that is asked for: as a part of the range, or in the unit of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.ledger.entries import Opening
from holdfast.statistics.derived import Difference, Paired, Total, is_single
from holdfast.statistics.entry import Bound
from holdfast.statistics.scores import BalancedAccuracy
from holdfast.theory.base.safeside import float_below

__all__ = ["NamedWidth", "width_in_units"]

_SHOWN = 3  # columns


@dataclass(frozen=True, slots=True)
class NamedWidth:
    """A `tolerance` (part of the range), a `half_width` (in the statistic's own unit), or none."""

    tolerance: float | None = None
    half_width: float | None = None

    def __post_init__(self) -> None:
        if self.tolerance is not None and self.half_width is not None:
            raise InvalidArgument(
                f"tolerance is {self.tolerance!r} and half_width {self.half_width!r}; both name "
                "the half-width, one as a part of the range: give one of them."
            )
        if self.half_width is not None:
            require.positive("half_width", self.half_width)

    @property
    def is_named(self) -> bool:
        return self.tolerance is not None or self.half_width is not None

    def part_of(self, questions: Sequence[Bound], rows: int) -> float | None:
        """As a part of the range of these questions, or of the unit of those that have none.

        None if none is named. The questions are asked of a table of so many `rows`.
        """
        if self.half_width is None:
            return self.tolerance
        for question in questions:
            if not _is_scaled(question):
                raise InvalidArgument(
                    f"half_width is {self.half_width:g}, and how wide {question.text} is depends "
                    "on what its parts come to; give tolerance=, the half-width of each as a part "
                    "of its range."
                )
        ranges = {(question.high - question.low, _unit(question, rows)) for question in questions}
        if len(ranges) > 1:
            raise InvalidArgument(
                f"half_width is {self.half_width:g}, and the questions have "
                f"{len(ranges)} different ranges; ask them one by one, or give tolerance=."
            )
        ((whole, unit),) = ranges
        if self.half_width >= whole / 2:
            raise InvalidArgument(
                f"half_width is {self.half_width:g}, and {questions[0].text} ranges over "
                f"{whole:g}; a half-width must be below {whole / 2:g} to say something."
            )
        return float_below(Fraction(self.half_width) / Fraction(whole) / Fraction(unit))


def _unit(question: Bound, rows: int) -> float:
    return question.unit(rows) if is_single(question) else 1.0


def _is_scaled(question: Bound) -> bool:
    """Whether parts that are each known to a part of their ranges make it known to that of its own.

    So it is where the parts are added up; not where they are divided, multiplied or searched for.
    """
    match question:
        case Total() | Paired():
            return True
        case Difference(first, second):
            return is_single(first) and is_single(second)
        case BalancedAccuracy():
            return _is_scaled(question.rates)
    return is_single(question)


def width_in_units(opening: Opening) -> str:
    """The promised half-width, and what it is of a mean of the columns with a range or a scale."""
    terms, schema = opening.terms, opening.schema
    if terms.tolerance is None:
        return terms.width
    wholes = {name: 2 * scale.sigma for name, scale in schema.scales.items()}
    wholes |= {name: high - low for name, (low, high) in schema.bounds.items()}
    units = [f"{terms.tolerance * whole:.4g} of {name}" for name, whole in wholes.items()]
    if not units:
        return terms.width
    more = [f"{len(units) - _SHOWN:,} more"] if len(units) > _SHOWN else []
    return f"{terms.width} = {', '.join([*units[:_SHOWN], *more])}"
