"""Losses of regression without a range: their mean where a bound on their spread is declared.

With E l^2 <= kappa (E l)^2 the mean of losses l >= 0 has an upper end, whatever they reach. No row
can check a kappa, so it is never assumed, and every answer says it. Such a mean is described, and
nothing else: without a range no noise hides it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holdfast import require
from holdfast.data.sampling import Independent, Sampling
from holdfast.data.values import distinct_unit_values
from holdfast.errors import InvalidQuestion
from holdfast.prior.grammar import Grammar
from holdfast.prior.literals import free_number_millibits
from holdfast.question import build
from holdfast.question.expression import Expression, column_names, numeral, text_of
from holdfast.question.row import GRID_ERROR, RowValue, condition_row
from holdfast.statistics.entry import Call, Description, EventPrice, Part, Table, Use, number_of
from holdfast.statistics.grid_rules import (
    GRID_METHODS,
    Gridded,
    GridMethod,
    LogGridded,
    log_gridded_rule,
)
from holdfast.statistics.log_scale import (
    FARTHEST,
    on_log_scale,
    part_of_log_scale,
    sizes_from_log_scale,
)
from holdfast.statistics.rule import (
    UNKNOWN,
    Evidence,
    Ground,
    Look,
    Symbols,
    Told,
    counts,
    group_of_rows,
    register_rule,
)
from holdfast.statistics.spelling import distance_of, sorted_of_loss
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.direct.losses import enclosed_moment_interval
from holdfast.theory.length.levels import any_order_millibits
from holdfast.theory.length.words import option

if TYPE_CHECKING:
    from holdfast.data.sample import Sample
    from holdfast.statistics.statistic import Measured

KAPPA_LOSSES = ("mae", "mse", "rmse")


def supposed_of_loss(kappa: float) -> str:
    """What is supposed of a loss l whose kappa is declared, in words."""
    return f"E l^2 <= {numeral(kappa)} (E l)^2"


@dataclass(frozen=True, slots=True)
class LossByKappa:
    """The mean of a loss without a range, or its root, where E l^2 <= kappa (E l)^2 is declared.

    `size` is the absolute difference on the logarithmic scale; rows that miss one of the `values`
    are left out. Only its text describes it: no noise hides a mean without a range.
    """

    name: str
    values: tuple[Expression, Expression]
    kappa: float
    size: RowValue
    condition: Expression | None

    @property
    def text(self) -> str:
        among = "" if self.condition is None else f" where {text_of(self.condition)}"
        values = ", ".join(map(text_of, self.values))
        return f"{self.name}({values}, kappa = {numeral(self.kappa)}){among}"

    @property
    def low(self) -> float:
        return -FARTHEST  # of the scale: the interval of a loss begins at 0 or above

    @property
    def high(self) -> float:
        return FARTHEST

    @property
    def unbounded(self) -> bool:
        return True

    @property
    def error(self) -> float:
        return 0.0

    @property
    def row(self) -> RowValue | None:
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        trees = self.values if self.condition is None else (*self.values, self.condition)
        return tuple(sorted({name for tree in trees for name in column_names(tree)}))

    def rows(self, n: int) -> int:
        return n

    def unit(self, n: int) -> float:  # noqa: ARG002 - all of the scale
        return 1.0

    def concentration(self, n: int, sampling: Sampling) -> Concentration:  # noqa: ARG002
        raise self.undescribed

    def read(self, sample: Sample) -> Measured:  # noqa: ARG002
        raise self.undescribed

    @property
    def undescribed(self) -> InvalidQuestion:
        """Refusal of whoever would ask it without its description."""
        capped = f"{self.name}({', '.join(map(text_of, self.values))}, 3)"
        return InvalidQuestion(
            f"{self.text} has no range, and is answered only where its text describes it and rows "
            "are independent, alike if it is about a group; ask it without tolerance= or guess=, "
            f"or cap each difference, as in {capped}."
        )


def bind_by_kappa(call: Call, table: Table) -> LossByKappa:
    """The loss of a call that declares kappa."""
    first, second = sorted_of_loss(*map(table.expression, call.arguments))
    kappa = require.at_least("kappa", number_of("kappa", call.kappa), 1.0)
    size = on_log_scale(distance_of(first, second))
    where = table.where(call.where)
    return LossByKappa(
        call.name, (first, second), kappa, size, None if where == build.TRUE else where
    )


# As they are described: by bets below, and above by the declared kappa.


_BY_KAPPA = "loss by kappa"
GRID_METHODS[_BY_KAPPA] = GridMethod(
    "bets for the lower end, and for the upper one the declared kappa,",
    ("positive_mean_lower", "moment_upper"),
)


@register_rule
@dataclass(frozen=True, slots=True)
class KappaGridded(LogGridded):
    """Places of a loss on the logarithmic scale, or of its root where it is `squared`."""

    name: ClassVar[str] = "loss grid/1"
    kappa: float = 1.0

    @property
    def supposition(self) -> str:
        """What the upper end supposes of the losses beside how the rows came about."""
        return supposed_of_loss(self.kappa)

    def decode(self, symbols: Symbols) -> Told:
        return Gridded.decode(replace(self, squared=False), symbols)

    def in_unit(self, part: float) -> float:
        size = max(0.0, LogGridded.in_unit(self, part))
        return size * size if self.squared else size

    def in_unit_outwards(self, interval: Interval) -> Interval:
        low, high = (max(0.0, end) for end in LogGridded.in_unit_outwards(self, interval))
        if not self.squared:
            return Interval(low, high)
        return Interval(max(0.0, round_down(low * low)), round_up(high * high))


def _kappa_uses(question: LossByKappa) -> list[Use]:
    """A mean squared error and its root are one event."""
    form = "mae" if question.name == "mae" else "mse"
    return [Use(Part(f"{form} by kappa", question.values, question.condition, (question.kappa,)))]


def _kappa_look(question: LossByKappa, part: Part, ground: Ground) -> Look | None:
    """By bets on independent rows, and the declared kappa."""
    group = group_of_rows(part.where, ground, question.size)
    if not isinstance(ground.sampling, Independent) or not (ground.alike or group is None):
        return None
    power, squared = (1, False) if question.name == "mae" else (2, question.name == "mse")
    scale = log_gridded_rule(_BY_KAPPA, part, group, ground, squared=squared)
    rule = KappaGridded(**asdict(scale), kappa=question.kappa)
    inside, sums = (None, ()) if group is None else (group.inside, group.around)

    def symbols_of(evidence: Evidence) -> Symbols:
        (parts,), times = distinct_unit_values(evidence.sample, (question.size,), inside)
        rows, around = int(times.sum()), tuple(counts(evidence))
        if not rows:
            return rule.encode(0, None, UNKNOWN, around)
        least, most = (each**power for each in sizes_from_log_scale(parts, GRID_ERROR))
        interval = enclosed_moment_interval(least, most, rule.kappa, rule.log_p, times)
        mean = float(np.average(least, weights=times))
        # Roots and logarithms of the ends lose far less than what `encode` adds to either side.
        value, low, high = (part_of_log_scale(end ** (1 / power)) for end in (mean, *interval))
        return rule.encode(rows, value, Interval(low, high), around)

    where = () if inside is None else (condition_row(inside),)
    return Look(rule, symbols_of, sums, others=(question.size, *where))


def _kappa_price(form: str) -> Callable[[Grammar, Part], int]:
    """Two values and a number that no cap is: a negative one stands for kappa."""

    def price(words: Grammar, part: Part) -> int:
        values = sum(words.number(each, bounded=False) for each in part.trees)
        (kappa,) = part.numbers
        cost = option("ratio", form) + values + free_number_millibits(-kappa)
        return cost + any_order_millibits(len(set(part.trees)))

    return price


KAPPA_DESCRIBED = (Description(LossByKappa, _kappa_uses, _kappa_look),)
KAPPA_PRICES = {
    f"{form} by kappa": EventPrice(_kappa_price(form), instead_of="ratio")
    for form in ("mse", "mae")
}
