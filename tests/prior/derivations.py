"""The prior as a program that draws questions: the grammar run forwards, apart from the coder.

Every choice goes through a `Chooser`. Drawn at random, questions come with the prior's own
probabilities; walked through exhaustively, each tree has the sum of the probabilities of its
derivations. Trees are made by the builder, as everybody's are; what it refuses is lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np

from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.bounds import range_of
from holdfast.question.columns import Schema
from holdfast.question.expression import (
    Column,
    ColumnType,
    Constant,
    Expression,
    Op,
    Operation,
    ValueKind,
)
from holdfast.theory.length.words import (
    CLASS_WEIGHTS,
    DECIMAL_DIGITS,
    GRID_STEPS,
    PRODUCTIONS,
    ROUND_NUMBERS,
)

T = TypeVar("T")
_OTHER = [chr(i) for i in range(32, 127) if not chr(i).isalnum() and chr(i) not in "_- ."]
_RANGES = {"hour": (0, 23), "weekday": (1, 7), "month": (1, 12), "year": (2000, 2039)}
_RANGES |= {"day": (1, 31), "minute": (0, 59)}
_OPPOSITES = {"equal": Op.EQUAL, "unequal": Op.UNEQUAL}


def _value(constant: Expression) -> Any:
    return constant.value if isinstance(constant, Constant) else None


class Chooser(Protocol):
    """Where the choices come from."""

    def weighted(self, weights: Sequence[float]) -> int:
        """The number of an option; the weights may sum to less than 1."""
        ...

    def uniform(self, n: int) -> int:
        """A number from 0 to n - 1."""
        ...


class Lost(Exception):
    """A derivation that ends in no question."""


@dataclass
class Drawn:
    """Choices at random."""

    generator: np.random.Generator

    def weighted(self, weights: Sequence[float]) -> int:
        at = self.generator.random()
        for place, weight in enumerate(weights):
            at -= weight
            if at < 0:
                return place
        raise Lost

    def uniform(self, n: int) -> int:
        return int(self.generator.integers(n))


@dataclass
class _Walk:
    """The choices of one path: a prefix that is given, then always the first that is likely."""

    given: list[int]
    least: float
    probability: float = 1.0
    made: list[int] = field(default_factory=list)
    open: list[list[int]] = field(default_factory=list)

    def weighted(self, weights: Sequence[float]) -> int:
        likely = [i for i, weight in enumerate(weights) if weight * self.probability >= self.least]
        return self._take(likely, weights.__getitem__)

    def uniform(self, n: int) -> int:
        likely = range(n) if self.probability >= self.least * n else range(0)
        return self._take(likely, lambda _: 1 / n)

    def _take(self, likely: Sequence[int], weight: Callable[[int], float]) -> int:
        if len(self.made) < len(self.given):
            choice = self.given[len(self.made)]
        elif likely:
            choice = likely[0]
            self.open.extend([*self.made, other] for other in likely[1:])
        else:
            raise Lost
        self.probability *= weight(choice)
        self.made.append(choice)
        return choice


def walked(derive: Callable[[Chooser], T], least: float) -> Iterator[tuple[T, float]]:
    """Everything that a derivation of at least this probability ends in, one by one."""
    pending: list[list[int]] = [[]]
    while pending:
        walk = _Walk(pending.pop(), least)
        try:
            found = derive(walk)
        except (Lost, InvalidQuestion):
            found = None
        pending.extend(walk.open)
        if found is not None:
            yield found, walk.probability


def masses(derive: Callable[[Chooser], T], least: float) -> Mapping[T, float]:
    """The probability of each outcome, from below: unlikely derivations are left out."""
    total: defaultdict[T, float] = defaultdict(float)
    for found, probability in walked(derive, least):
        total[found] += probability
    return total


@dataclass(frozen=True)
class Forward:
    """The grammar, forwards, over the columns of a table."""

    schema: Schema
    choose: Chooser

    # --- Choices -------------------------------------------------------------------------------

    def row(self, name: str) -> str:
        row = PRODUCTIONS[name]
        return list(row)[self.choose.weighted([p / 1000 for p in row.values()])]

    def count(self) -> int:
        k = 1
        while self.choose.weighted([0.5, 0.5]):
            k += 1
            if k > 6:
                raise Lost
        return k

    def column(self, context: str, kind: ValueKind | None = None, but: str = "") -> Column:
        weights = {
            name: CLASS_WEIGHTS[context].get(self.class_of(name), 0)
            * float(self.schema.weights.get(name, 1))
            for name, type_ in self.schema.types.items()
            if name != but and kind in (None, type_.kind)
        }
        total = sum(weights.values())
        if not total:
            raise Lost
        place = self.choose.weighted([weight / total for weight in weights.values()])
        return self.schema.column(list(weights)[place])

    def class_of(self, name: str) -> str:
        type_, bounds = self.schema.types[name], self.schema.bounds.get(name)
        if type_ is ColumnType.INTEGER and bounds and bounds.high - bounds.low <= 39:
            return "level"
        if bounds:
            return "range"
        if type_ is ColumnType.TEXT:
            return "code" if name in self.schema.values else "text"
        plain = {ValueKind.BOOLEAN: "flag", ValueKind.NUMBER: "number", ValueKind.MOMENT: "moment"}
        return plain[self.schema.column(name).kind]

    def different(self, k: int, one: Callable[[], T]) -> list[T]:
        found: list[T] = []
        for _ in range(k):
            found.append(one())
            if found[-1] in found[:-1]:
                raise Lost
        return found

    # --- Conditions ----------------------------------------------------------------------------

    def condition(self, context: str, weights: str | None = None) -> Expression:
        top = "v" if context == "i" else context
        match self.row(f"condition {context}"):
            case "atom":
                return self.atom(weights or top)
            case "pair":
                return self.pair(top)
            case "agree":
                first, second = self.condition("i"), self.condition("i")
                if isinstance(first, Column) and isinstance(second, Column):
                    raise Lost
                return build.comparison(Op(self.row("same")), first, second)
            case "both":
                return build.conjunction(self.units(self.count() + 1, top))
            case "either":
                return build.disjunction(self.units(self.count() + 1, top))
            case "no":
                operation = build.negation if self.row("no") == "not" else build.is_null
                return operation(self.condition("i"))
            case "case":
                return self.case(lambda: self.condition("i"))
            case "coalesce":
                return build.coalesce([self.condition("i") for _ in range(self.count() + 1)])
        return build.constant(self.row("constant") == "true")

    def units(self, k: int, weights: str) -> list[Expression]:
        return self.different(k, lambda: self.condition("i", weights))

    def pair(self, weights: str) -> Expression:
        if self.row("pair") == "columns":
            first = self.column(weights)
            second = self.column(weights, first.kind, but=first.name)
            alike = "same" if first.kind in (ValueKind.BOOLEAN, ValueKind.TEXT) else "compared"
            return build.comparison(Op(self.row(alike)), first, second)
        kind = list(ValueKind)[self.choose.uniform(4)]
        op = Op(self.row("compared"))
        return build.comparison(op, self.expression(kind), self.expression(kind))

    def case(self, result: Callable[[], Expression]) -> Expression:
        def given() -> Expression | None:
            return None if self.row("result") == "null" else result()

        return build.case([(self.condition("i"), given()) for _ in range(self.count())], given())

    def atom(self, weights: str) -> Expression:
        subject, of = self.subject(weights)
        form = self.row(f"form {of}")

        def one() -> Expression:
            return self.constant(subject, of)

        match form:
            case "holds" | "fails":
                return subject if form == "holds" else build.negation(subject)
            case "null" | "known":
                missing = build.is_null(subject)
                return missing if form == "null" else build.negation(missing)
            case "like":
                return self.like(subject)
            case "equal" | "unequal":
                return build.comparison(_OPPOSITES[form], subject, one())
            case "order":
                return build.comparison(Op(self.row("order")), subject, one())
            case "among" | "none":
                op = Op.EQUAL if form == "among" else Op.UNEQUAL
                several = self.different(self.count() + 1, one)
                join = build.disjunction if form == "among" else build.conjunction
                return join([build.comparison(op, subject, each) for each in several])
        signs = [Op(sign) for sign in self.row(form).split()]
        ends = sorted((one(), one()), key=_value)
        join = build.conjunction if form == "between" else build.disjunction
        return join(
            [build.comparison(op, subject, end) for op, end in zip(signs, ends, strict=True)]
        )

    def subject(self, weights: str) -> tuple[Expression, str]:
        match self.row("subject"):
            case "column":
                column = self.column(weights)
                return column, self.class_of(column.name)
            case "part":
                return self.part(), "level"
            case "arithmetic":
                return self.arithmetic(bounded=False), "number"
            case "absolute":
                return build.function(Op.ABS, self.number(bounded=False)), "number"
        kind = [ValueKind.NUMBER, ValueKind.TEXT, ValueKind.MOMENT][self.choose.uniform(3)]
        return self.expression(kind), {ValueKind.NUMBER: "number", ValueKind.TEXT: "text"}.get(
            kind, "moment"
        )

    # --- Values --------------------------------------------------------------------------------

    def value(self) -> Expression:
        if self.row("value") == "condition":
            return self.condition("v")
        return self.number(bounded=True)

    def expression(self, kind: ValueKind) -> Expression:
        makers: dict[ValueKind, Callable[[], Expression]] = {
            ValueKind.BOOLEAN: lambda: self.condition("i"),
            ValueKind.NUMBER: lambda: self.number(bounded=False),
            ValueKind.TEXT: self.text,
            ValueKind.MOMENT: self.moment,
        }
        return makers[kind]()

    def number(self, *, bounded: bool) -> Expression:
        return self.number_of(self.row("number"), bounded=bounded)

    def number_of(self, form: str, *, bounded: bool) -> Expression:
        def again() -> Expression:
            return self.number(bounded=bounded)

        match form:
            case "column":
                column = self.column("n")
                declared = self.schema.bounds.get(column.name) if bounded else None
                return build.clip(column, *declared) if declared else column
            case "constant":
                return self.plain_number()
            case "arithmetic":
                return self.arithmetic(bounded=bounded)
            case "part":
                return self.part()
            case "absolute":
                return build.function(Op.ABS, again())
            case "negate":
                return build.negate(again())
            case "clip":
                form = self.row("number")
                if form == "constant":  # a clip of it would be one: in its place stand these
                    return build.function(Op(self.row("function")), self.number(bounded=True))
                inner = self.number_of(form, bounded=False)
                ends = [self.constant(inner, self.beside(inner)) for _ in range(2)]
                return build.clip(inner, *(range_of(end).low for end in ends))
            case "case":
                return self.case(again)
            case "indicator":
                return build.as_number(self.condition("i"), "it")
            case "coalesce":
                return build.coalesce([again() for _ in range(self.count() + 1)])
            case "length":
                return build.function(Op.LENGTH, self.text())
        return build.extreme(Op(form), self.different(self.count() + 1, again))

    def arithmetic(self, *, bounded: bool) -> Expression:
        op = Op(self.row("arithmetic"))
        return build.arithmetic(op, self.number(bounded=bounded), self.number(bounded=bounded))

    def part(self) -> Expression:
        return build.function(Op(self.row("part of a moment")), self.moment())

    def text(self) -> Expression:
        match form := self.row("text"):
            case "column":
                return self.column("v", ValueKind.TEXT)
            case "constant":
                return build.constant(self.spelled())
            case "case":
                return self.case(self.text)
            case "coalesce":
                return build.coalesce([self.text() for _ in range(self.count() + 1)])
        return build.function(Op(form), self.text())

    def moment(self) -> Expression:
        match self.row("moment"):
            case "column":
                return self.column("v", ValueKind.MOMENT)
            case "constant":
                return self.date()
            case "case":
                return self.case(self.moment)
        return build.coalesce([self.moment() for _ in range(self.count() + 1)])

    # --- Constants -----------------------------------------------------------------------------

    def beside(self, number: Expression) -> str:
        if isinstance(number, Column):
            return self.class_of(number.name)
        return "level" if isinstance(number, Operation) and number.op in _RANGES else "number"

    def constant(self, subject: Expression, of: str) -> Expression:
        name = subject.name if isinstance(subject, Column) else ""
        if of in ("level", "range"):
            declared = self.schema.bounds.get(name)
            low, high = declared or _RANGES[str(subject.op)]  # type: ignore[union-attr]
            return self.in_range(of, Fraction(repr(low)), Fraction(repr(high)))
        if of == "number":
            return self.plain_number()
        if of == "moment":
            return self.date()
        if of == "code" and self.row("constant of a code") == "declared":
            values = self.schema.values[name]
            return build.constant(values[self.choose.uniform(len(values))])
        return build.constant(self.spelled())

    def in_range(self, of: str, low: Fraction, high: Fraction) -> Expression:
        match self.row(f"constant of a {of}"):
            case "range":
                return build.constant(float(low + self.choose.uniform(int(high - low) + 1)))
            case "grid":
                return build.constant(float(self.on_grid(low, high)))
            case "round":
                return self.round()
        return self.decimal()

    def on_grid(self, low: Fraction, high: Fraction) -> Fraction:
        steps = [
            mantissa * Fraction(10) ** exponent
            for exponent in range(12, -20, -1)
            for mantissa in (5, 2, 1)
            if mantissa * Fraction(10) ** exponent <= high - low
        ]
        step = steps[self.choose.weighted([p / 1000 for p in GRID_STEPS])]
        first, last = -(-low // step), high // step
        return (first + self.choose.uniform(int(last - first) + 1)) * step

    def plain_number(self) -> Expression:
        round_one = self.row("constant of a number") == "round"
        return self.round() if round_one else self.decimal()

    def round(self) -> Expression:
        place = self.choose.weighted([p / 1000 for p in ROUND_NUMBERS.values()])
        return build.constant(float(list(ROUND_NUMBERS)[place]))

    def decimal(self) -> Expression:
        if self.row("decimal") == "zero":
            return build.constant(0.0)
        sign = self.row("sign")
        count = 1 + self.choose.weighted([p / 1000 for p in DECIMAL_DIGITS])
        first = str(1 + self.choose.uniform(9))
        if count > 1:
            middle = self.choose.uniform(10 ** (count - 2)) if count > 2 else 0
            between = str(middle).zfill(count - 2) if count > 2 else ""
            first += between + str(1 + self.choose.uniform(9))
        exponent = self.row("exponent")
        if exponent == "far":
            exponent = str([*range(-350, -6), *range(7, 363)][self.choose.uniform(700)])
        return build.constant(float(f"{sign}{first}e{exponent}"))

    def like(self, subject: Expression) -> Expression:
        form = self.row("like")
        core = self.spelled()
        if form != "other" and "%" in core:
            raise Lost
        shapes = {"contains": f"%{core}%", "starts": f"{core}%", "ends": f"%{core}"}
        return build.like(subject, shapes.get(form, core))

    def spelled(self) -> str:
        found, kind = "", self.row("after start")
        if kind == "bytes":
            raw = bytes(self.choose.uniform(256) for _ in range(self.count()))
            try:
                return raw.decode()
            except UnicodeDecodeError:
                raise Lost from None
        while kind != "end":
            found += self.character(kind)
            kind = self.row(f"after {kind}")
            if len(found) > 30:
                raise Lost
        return found

    def character(self, kind: str) -> str:
        match kind:
            case "lower":
                return self.row("lower letter")
            case "upper":
                return chr(ord("A") + self.choose.uniform(26))
            case "digit":
                return str(self.choose.uniform(10))
        other = self.row("other character")
        return _OTHER[self.choose.uniform(len(_OTHER))] if other == "rare" else other

    def date(self) -> Expression:
        recent = self.row("year") == "2000 to 2039"
        year = 2000 + self.choose.uniform(40) if recent else 1 + self.choose.uniform(9999)
        day = self.row("day")
        found = datetime(year, 1, 1)
        if day == "first of a month":
            found = datetime(year, 1 + self.choose.uniform(12), 1)
        elif day == "any":
            found = datetime(year, 1, 1) + timedelta(days=self.choose.uniform(366))
        seconds = {"hour": 3600, "minute": 60, "second": 1}
        time = self.row("time")
        if time in seconds:
            found += timedelta(seconds=seconds[time] * self.choose.uniform(86400 // seconds[time]))
        elif time == "exact":
            found += timedelta(microseconds=self.choose.uniform(86_400_000_000))
        return build.constant(found)
