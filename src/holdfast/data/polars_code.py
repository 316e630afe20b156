"""Polars expressions as a language for the writer."""

from __future__ import annotations

import functools
import operator
import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from holdfast.question.expression import Constant, Op, ValueKind

__all__ = ["PolarsLanguage"]

_DTYPE = {
    ValueKind.BOOLEAN: pl.Boolean(),
    ValueKind.NUMBER: pl.Float64(),
    ValueKind.TEXT: pl.String(),
    ValueKind.MOMENT: pl.Datetime("us"),
}
_LOWER, _UPPER = list(string.ascii_lowercase), list(string.ascii_uppercase)


@dataclass(frozen=True, slots=True)
class PolarsLanguage:
    """Polars expressions over cleaned columns, which go by the names in `names`."""

    names: Mapping[str, str]

    def column(self, name: str) -> pl.Expr:
        """A cleaned column."""
        return pl.col(self.names[name])

    @property
    def named_operands(self) -> frozenset[Op]:
        """None: Polars mentions no operand twice, and computes both sides of a condition."""
        return frozenset()

    def named(self, name: str) -> pl.Expr:
        """A value of an earlier stage."""
        return pl.col(name)

    def constant(self, constant: Constant) -> pl.Expr:
        """A literal; cleaned columns are of the types that these have by themselves."""
        if isinstance(constant.value, bool | float | str):
            return pl.lit(constant.value)
        return pl.lit(constant.value, dtype=_DTYPE[constant.kind])

    def operation(self, op: Op, args: list[pl.Expr]) -> pl.Expr:
        """One operation."""
        return _SPELLING[op](*args)

    def like(self, value: pl.Expr, pattern: str) -> pl.Expr:
        """Whether text fits a pattern."""
        signs = {"%": ".*", "_": "."}
        body = "".join(signs.get(character) or re.escape(character) for character in pattern)
        return value.str.contains(rf"(?s)\A{body}\z")

    def without_nan(self, value: pl.Expr) -> pl.Expr:
        """NULL in place of NaN."""
        return value.fill_nan(None)


def _balanced(combine: Callable[[pl.Expr, pl.Expr], pl.Expr], *args: pl.Expr) -> pl.Expr:
    """The operands combined in pairs: Polars takes a chain of thousands ill."""
    if len(args) == 1:
        return args[0]
    middle = len(args) // 2
    return combine(_balanced(combine, *args[:middle]), _balanced(combine, *args[middle:]))


def _quotient(dividend: pl.Expr, divisor: pl.Expr) -> pl.Expr:
    # Polars multiplies by the reciprocal where a divisor is the same in all rows (49 / 49 < 1):
    # NumPy divides. NULL goes in as NaN and comes out as NULL.
    return pl.map_batches(
        [dividend, divisor], _divided, return_dtype=pl.Float64, is_elementwise=True
    )


def _divided(operands: Sequence[pl.Series]) -> pl.Series:
    dividend, divisor = (operand.to_numpy() for operand in operands)
    with np.errstate(all="ignore"):
        return pl.Series(np.divide(dividend, divisor), nan_to_null=True)


def _case(*args: pl.Expr) -> pl.Expr:
    *branches, result = args
    for when, then in zip(branches[-2::-2], branches[-1::-2], strict=True):
        result = pl.when(when).then(then).otherwise(result)
    return result


def _as_number(value: pl.Expr) -> pl.Expr:
    return value.cast(pl.Float64)


_SPELLING: dict[Op, Callable[..., pl.Expr]] = {
    Op.ADD: operator.add,
    Op.SUBTRACT: operator.sub,
    Op.MULTIPLY: operator.mul,
    Op.DIVIDE: _quotient,
    Op.NEGATE: operator.neg,
    Op.EQUAL: operator.eq,
    Op.UNEQUAL: operator.ne,
    Op.BELOW: operator.lt,
    Op.AT_MOST: operator.le,
    Op.ABOVE: operator.gt,
    Op.AT_LEAST: operator.ge,
    Op.AND: functools.partial(_balanced, operator.and_),
    Op.OR: functools.partial(_balanced, operator.or_),
    Op.NOT: operator.invert,
    Op.IS_NULL: pl.Expr.is_null,
    Op.LOWER: lambda value: value.str.replace_many(_UPPER, _LOWER),
    Op.UPPER: lambda value: value.str.replace_many(_LOWER, _UPPER),
    Op.ABS: pl.Expr.abs,
    Op.CLIP: pl.Expr.clip,
    Op.INDICATOR: _as_number,
    Op.COALESCE: pl.coalesce,
    Op.CASE: _case,
    Op.LENGTH: lambda value: _as_number(value.str.len_chars()),
    Op.YEAR: lambda value: _as_number(value.dt.year()),
    Op.MONTH: lambda value: _as_number(value.dt.month()),
    Op.DAY: lambda value: _as_number(value.dt.day()),
    Op.HOUR: lambda value: _as_number(value.dt.hour()),
    Op.MINUTE: lambda value: _as_number(value.dt.minute()),
    Op.WEEKDAY: lambda value: _as_number(value.dt.weekday()),
}
