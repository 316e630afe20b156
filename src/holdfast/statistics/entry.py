"""An entry of the registry: a statistic's name, its form, and what it is of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from holdfast import require
from holdfast.data.design import NO_DESIGN, Design
from holdfast.errors import InvalidArgument, InvalidQuestion, NotDescribed
from holdfast.prior.grammar import Grammar
from holdfast.question import build
from holdfast.question.columns import Schema
from holdfast.question.declaring import Scale, bounds_pair
from holdfast.question.expression import (
    Column,
    Expression,
    Op,
    Operation,
    ValueKind,
    column_names,
    numeral,
    text_of,
)
from holdfast.question.functions import RowFunction, bind_function
from holdfast.question.parse import parse_row
from holdfast.question.polars_row import from_polars
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.derived import Conditional
from holdfast.statistics.mean import Average, Mean, expression_of, group_mean, rows_with_value
from holdfast.theory.base.unbounded import difference_scale

# The events that described statistics rest on: each has one weight, by its price in bits.
#
# Questions that rest on the same event share it: a sum, a count and an average; an error and an
# accuracy; a standard deviation and a variance; two differences that are turned over.


if TYPE_CHECKING:
    from holdfast.statistics.rule import Ground, Look


Role = Literal["plain", "free", "besides"]
# An open constant is a NULL beside a sign; in quotes it is something else.
_OPEN = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|(?<=[<>] )null\b""")


@dataclass(frozen=True, slots=True)
class Part:
    """One event: what kind of statement, about which trees and numbers, among which rows.

    Its `kind` is the name of a production, with its own `EventPrice`; `form` is the sub-kind of
    kinds that have some. Two questions share a part when it is equal, which is when its text is.
    """

    kind: str
    trees: tuple[Expression, ...]
    where: Expression | None = None
    numbers: tuple[float, ...] = ()
    form: str = ""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it is about."""
        trees = self.trees if self.where is None else (*self.trees, self.where)
        return frozenset(name for tree in trees for name in column_names(tree))

    @property
    def text(self) -> str:
        """Something a person can read; no two parts have the same."""
        words = [*map(text_of, self.trees), *map(numeral, self.numbers)]
        if self.kind == "cut":
            words = [_OPEN.sub(lambda evidence: evidence[1] or "any", word) for word in words]
        named = f"{self.form or self.kind}({', '.join(words)})"
        return named if self.where is None else f"{named} where {text_of(self.where)}"


@dataclass(frozen=True, slots=True)
class Use:
    """A part as a question uses it.

    The `plain` parts together answer a question; so does each `free` one by itself, for all
    constants or all levels at once; what follows from those `besides` may be intersected with the
    answer. A part has one rule: where it is `turned`, the question is 1 minus a share, or a
    difference with its sign changed.
    """

    part: Part
    role: Role = "plain"
    turned: bool = False


@dataclass(frozen=True, slots=True)
class EventPrice:
    """What a kind of event costs beside its name: its body, and whether it has a where.

    `where` is the row of productions that says so; without one it is of all rows. A kind without a
    production has derivations of another kind, `instead_of` which it stands, that nothing else has.
    """

    body: Callable[[Grammar, Part], int]
    where: str | None = "where other"
    instead_of: str | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """How statistics of one class are described: by which events, and the rule of the first.

    `look` is given the statistic, its first part and what rules rest on; None where no theorem
    covers the way the rows came about.
    """

    of: type
    uses: Callable[[Any], Iterable[Use]]
    look: Callable[[Any, Part, Ground], Look | None]


NO_TEXT = (
    "The question is made by Python, and only text over the table's own columns has a length in "
    "bits; write it as text, or ask it without."
)


def tree_of(value: RowValue) -> Expression:
    """The expression that a value of a row is; refused for a function of Python."""
    if isinstance(value.source, Expression):
        return value.source
    raise NotDescribed(NO_TEXT)


def sorted_trees(*values: RowValue) -> tuple[Expression, ...]:
    """The expressions of values whose order does not matter, in the order of their texts."""
    return tuple(sorted(map(tree_of, values), key=text_of))


if TYPE_CHECKING:
    import polars as pl

    from holdfast.statistics.derived import Derived
    from holdfast.statistics.quantile import Quantile
    from holdfast.statistics.statistic import Statistic


# Statistics by name that have not met their table yet: what people and texts ask for.
#
# Wherever a value of a row is wanted, text (``"arr_delay > 15"``), a Polars expression or a
# `row_function` will do; with `bounds` it is cut to them.


Better: TypeAlias = Literal["higher", "lower"]
Bounds: TypeAlias = tuple[float, float] | None
By: TypeAlias = str | Sequence[str]
What: TypeAlias = "str | Expression | RowFunction | pl.Expr"


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A statistic by name: one number, answered with one interval."""

    name: str
    arguments: tuple[Any, ...]
    where: str | Expression | None = None
    bounds: Bounds = None
    variance: float | None = None
    better: Better | None = None
    scale: Scale | None = None
    share: float | None = None
    kappa: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TableCall:
    """Several numbers at once: a statistic for each value of one or two columns, or a histogram."""

    name: str
    arguments: tuple[Any, ...]
    where: str | Expression | None = None
    bounds: Bounds = None
    by: tuple[str, ...] = ()


def pair_of(bounds: Bounds) -> Bounds:
    """The bounds that were given, if any, as two numbers in order."""
    if bounds is None:
        return None
    low, high = bounds_pair(bounds)
    return low, high


_MOST_COLUMNS = 2  # the groups of three columns are asked with where
_NO_GROUPS = ("count", "sum")


def grouped(call: Call, by: By | None) -> Call | TableCall:
    """The statistic itself, or for each value of the columns that are named."""
    if by is None:
        return call
    names = (by,) if isinstance(by, str) else require.items("by", by, "one or two columns")
    columns = tuple(require.text("by", name) for name in names)
    if not 1 <= len(set(columns)) == len(columns) <= _MOST_COLUMNS:
        raise InvalidArgument(
            f"by is {by!r}; it must be one column, or two different ones; choose the others with "
            "where=."
        )
    if call.variance is not None:
        raise InvalidArgument("variance= is declared for a mean of all rows, without by=.")
    if call.scale is not None:
        raise InvalidArgument(
            "sigma= is said of one mean, without by=; declare the scale of the column at opening, "
            "and leave sigma out."
        )
    if call.kappa is not None:
        raise InvalidArgument(
            "kappa= is said of one mean loss, without by=; ask with where= for each group."
        )
    if call.name in _NO_GROUPS:
        raise InvalidArgument(
            f"{call.name} needs the size of its population, which is another one in each group; "
            "ask with where= for each group."
        )
    return TableCall(call.name, call.arguments, call.where, call.bounds, columns)


# What is public of the protected table, and the means that can be asked of it.


@dataclass(frozen=True, slots=True)
class Table:
    """The columns with their declared bounds, and the design."""

    schema: Schema
    design: Design = NO_DESIGN

    def value(self, source: Any, bounds: tuple[float, float] | None = None) -> RowValue:
        """A value of a row, from whatever may name one."""
        if isinstance(source, RowFunction):
            if bounds is not None:
                raise InvalidQuestion(
                    "The bounds of a row_function are given to row_function itself."
                )
            return bind_function(source, self.schema)
        expression = self.expression(source, bounded=bounds is None)
        return row_value(expression if bounds is None else build.clip(expression, *bounds))

    def scale(self, source: Any) -> Scale | None:
        """The scale that is declared for a column, where a value is just that column; or for two,
        where it is one minus the other."""
        if not self.schema.scales or isinstance(source, RowFunction):
            return None
        match self.expression(source):
            case Column(name=name):
                return self.schema.scales.get(name)
            case Operation(op=Op.SUBTRACT, args=(Column(name=one), Column(name=other))):
                first, second = map(self.schema.scales.get, (one, other))
                return None if first is None or second is None else scale_between(first, second)
        return None

    def expression(self, source: Any, *, bounded: bool = False) -> Expression:
        """A row expression; with `bounded`, declared bounds are applied to its columns."""
        if isinstance(source, Expression):
            return source
        if isinstance(source, str):
            return parse_row(source, self.schema, bounded=bounded)
        if isinstance(source, RowFunction):
            raise InvalidQuestion("This needs a row expression, not a row_function.")
        return from_polars(source, self.schema, bounded=bounded)

    def condition(self, source: Any) -> Expression:
        """A row expression that is true or false."""
        expression = self.expression(source)
        if expression.kind is not ValueKind.BOOLEAN:
            raise InvalidQuestion(
                f"A condition is needed, and {text_of(expression)} is {expression.kind}."
            )
        return expression

    def where(self, source: str | Expression | None) -> Expression | None:
        """The condition of a `where`."""
        return None if source is None else self.condition(source)

    def mean(
        self, value: RowValue, where: Expression | None, *others: RowValue
    ) -> Average | Conditional:
        """The mean of a value, of all rows or among those where a condition holds.

        Rows without the value, or without one of the `others`, are left out.
        """
        where = None if where == build.TRUE else where
        inside = rows_with_value(where, value, *others)
        if inside is None:
            return Mean(value)
        if inside == build.FALSE:
            raise InvalidQuestion(
                "The condition of where= holds for no row, whatever the data; columns stand "
                "without quotes, and texts in single ones, as in origin = 'JFK'."
            )
        if self.design.covers(inside):
            return group_mean(value, where, inside, self.design.group(inside))
        expression_of(value)  # a Python function has no residual
        return Conditional(value, where, inside)

    def average(
        self, value: RowValue, where: Expression | None, *others: RowValue
    ) -> Average | Conditional:
        """The mean of all rows or of a group of public size, but for rows that are left out."""
        if where is not None and where != build.TRUE and not self.design.covers(where):
            raise InvalidQuestion(
                f"A where must be about design columns here, and {text_of(where)} is "
                "not: the size of its group is not public. Declare design=[...] when the ledger is "
                "opened, or ask for a mean."
            )
        return self.mean(value, where, *others)


Bound: TypeAlias = "Statistic | Derived | Quantile"

MOST_WHOLE = 2**53  # up to here, and not beyond, all whole numbers are doubles


@dataclass(frozen=True, slots=True)
class Entry:
    """A statistic: `form` is how it is written, `arguments` the least and most number of them.

    `described` are the events and the rules of the classes that it is bound to, and `prices` what
    the kinds of its events cost; without them it is answered by the rules of its parts.
    """

    name: str
    form: str
    meaning: str
    arguments: tuple[int, int]
    binder: Callable[[Call, Table], Bound]
    described: tuple[Description, ...] = ()
    prices: Mapping[str, EventPrice] = field(default_factory=dict)

    def bind(self, call: Call, table: Table) -> Bound:
        """What it is of a table, which has a play."""
        count, (least, most) = len(call.arguments) + (call.kappa is not None), self.arguments
        if not least <= count <= most:
            wanted = f"{least}" if least == most else f"{least} or {most}"
            share = "; the share of rows is avg(late)" if self.name in _NO_GROUPS else ""
            raise InvalidQuestion(
                f"{self.name} takes {wanted} argument{'s' * (most > 1)}, and {count} "
                f"{'was' if count == 1 else 'were'} given; write it like "
                f"{self.form}{share}."
            )
        return self.binder(call, table)


def number_of(name: str, value: Any) -> float:
    """An argument that is a number, or the text of one."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise InvalidQuestion(f"{name} is {value[:40]!r}; it must be a number.") from None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidQuestion(f"{name} is {value!r}; it must be a number.")
    return require.finite(name, value)


def scale_between(first: Scale, second: Scale) -> Scale:
    """That of a value of one scale minus a value of another, whatever their dependence."""
    return Scale(*difference_scale(first.sigma, second.sigma, first.b, second.b))


def positive_label(label: Any, table: Table) -> Expression:
    """A condition that says which rows are positive; a column of numbers means 1."""
    value = table.expression(label)
    if value.kind is ValueKind.NUMBER:
        return build.comparison(Op.EQUAL, value, build.constant(1.0))
    return table.condition(value)


def require_all_rows(call: Call) -> None:
    """Refuse a `where` for a statistic that has no theorem for groups."""
    if call.where is not None:
        raise InvalidQuestion(f"{call.name} is asked of all rows: it has no where.")


def require_every_row(what: str, known: Expression) -> None:
    """Refuse a value that some rows may not have, for a statistic that leaves none out."""
    if known != build.TRUE:
        raise InvalidQuestion(
            f"{what} is of all rows, and some may have no value ({text_of(known)} says which "
            "have); write coalesce(..., 0) for what those count as, or declare the column's "
            "never_null when the ledger is opened."
        )
