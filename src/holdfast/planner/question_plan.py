"""Plan of one question: the bits of its text, its level, its half-width and its cost.

Nothing is looked at but the text and what is declared of the table, so it is known before there are
rows. Half-widths are those of the rule that answers: for rates, sizes of groups and shares of
differing rows that it names, or at most where they depend on all values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from holdfast.data.design import ANY_GROUP
from holdfast.errors import InvalidArgument, InvalidQuestion, NotBounded
from holdfast.mechanisms.described import ground_of
from holdfast.mechanisms.terms import Terms
from holdfast.question.columns import Schema
from holdfast.question.declaring import declared_types
from holdfast.question.expression import ColumnType
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.bind import bind
from holdfast.statistics.description import Bits, DescribedQuestion, described
from holdfast.statistics.entry import Table
from holdfast.statistics.mean_events import GroupShare, Overlap, Share
from holdfast.statistics.mean_rules import Contrast, GroupMeanRule, MeanRule, PairedRule
from holdfast.statistics.rounded_rules import RoundedGroupMean, RoundedMean
from holdfast.statistics.rule import Rule, Symbols
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.direct.bounded_mean import outlier_floor_mass
from holdfast.theory.length.levels import coexistence_log_charge, rounded_half_width
from holdfast.wording import percent, sure

# The table that a text is about, where only some of it is declared, or nothing.
#
# Bits depend on how many columns there are, and of which types. What nobody says is assumed, and
# said: each column of the question has the first type with which it can be read, and the table
# has twenty columns, the others numbers.


_COLUMNS = 20
_TYPES = (
    ColumnType.FLOAT,
    ColumnType.TEXT,
    ColumnType.BOOLEAN,
    ColumnType.DATE,
    ColumnType.DATETIME,
)
_MOST_UNDECLARED = 4


@dataclass(frozen=True, slots=True)
class Assumed:
    """How many columns the table was assumed to have, and of which types those of the question."""

    columns: int
    types: tuple[tuple[str, ColumnType], ...]

    def __str__(self) -> str:
        named = ", ".join(f"{name} ({kind})" for name, kind in self.types)
        return f"a table of {self.columns} columns" + (f", {named}" if named else "")


class _Used(dict[str, ColumnType]):
    """Every name is a column, and is remembered when it is asked for."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __missing__(self, name: str) -> ColumnType:
        self[name] = _TYPES[0]
        return self[name]


def schema_of(text: str, schema: Any) -> tuple[Schema, Assumed | None]:
    """The schema of a question's table, and what was assumed of it.

    `schema` is a `Schema`, a mapping with the `types` of all columns, or what `open` takes: a
    mapping or a file with what is declared of some; or None.
    """
    if isinstance(schema, Schema):
        return schema, None
    if isinstance(schema, Mapping) and "types" in schema:
        return Schema.from_dict(schema), None
    declared = declared_types(schema)
    typed = {name: kind for name, kind in declared.items() if kind is not None}
    used = _readable(text, schema, typed)
    types = dict.fromkeys(declared, _TYPES[0]) | used
    assumed = tuple((name, kind) for name, kind in used.items() if name not in typed)
    types |= {f"column {i + 1}": ColumnType.FLOAT for i in range(_COLUMNS - len(types))}
    return Schema(types).declare(schema), Assumed(len(types), assumed)


def _readable(text: str, schema: Any, typed: Mapping[str, ColumnType]) -> dict[str, ColumnType]:
    """The question's columns, each with the first type with which all of it can be read."""
    tried: list[Mapping[str, ColumnType]] = [typed]
    first: InvalidQuestion | None = None
    names: set[str] = set()
    while tried:
        types = _Used(tried.pop(0))
        try:
            bind(text, Table(Schema(types).declare(schema), ANY_GROUP))
        except NotBounded:
            raise
        except InvalidQuestion as error:
            first = first or error
            new = set(types) - set(typed)
            if not new <= names and len(new) <= _MOST_UNDECLARED:
                names |= new
                tried = list(_typings(typed, sorted(names)))
        else:
            return dict(types)
    raise first or InvalidQuestion(f"{text!r} cannot be read without the types of its columns.")


def _typings(
    typed: Mapping[str, ColumnType], names: list[str]
) -> Iterator[Mapping[str, ColumnType]]:
    for kinds in product(_TYPES, repeat=len(names)):
        yield {**typed, **dict(zip(names, kinds, strict=True))}


_RATES = (0.5, 0.1, 0.02)
_GROUPS = {"half of the rows": 0.5, "a tenth of the rows": 0.1}
_DIFFERING = (0.2, 0.05)


class Case(NamedTuple):
    """A half-width as a fraction of the range, and when it is that."""

    when: str
    half_width: float


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """Plan of one question. Text and dict.

    `log_level`, `cases` and `nats` are those of the one rule that answers it; a question of several
    parts has none: each part is answered by itself, at its own level.
    """

    text: str
    terms: Terms
    bits: Bits
    low: float
    high: float
    log_level: float | None
    cases: tuple[Case, ...]
    floor: float | None
    nats: float | None
    assumed: Assumed | None

    def __getitem__(self, when: str) -> float:
        """The half-width of a case in the question's own unit, e.g. plan["rate 0.1"]."""
        for case in self.cases:
            if case.when == when:
                return case.half_width * (self.high - self.low)
        raise KeyError(f"no case {when!r}; there are {', '.join(c.when for c in self.cases)}")

    def __str__(self) -> str:
        facts = [(name, text) for name, text in self._facts() if text]
        names = max(len(name) for name, _ in facts)
        return "\n".join(
            [
                f"Question: {self.text}",
                f"          {self.terms.rows:,} rows, described: {self.terms.described}, "
                f"{sure(self.terms.confidence_level)}; {self.terms.sampling}",
                "",
                *(f"  {name:<{names}}  {text}" for name, text in facts),
            ]
        )

    __repr__ = __str__

    def _facts(self) -> Iterator[tuple[str, str]]:
        free = "" if self.bits.free is None else f"; {self.bits.free:.1f} with a free constant"
        yield "bits", f"{self.bits.plain:.1f} as written{free}"
        if len(self.bits.parts) > 1:
            yield from (
                ("", f"{part.millibits / 1000:.1f}  {part.text} ({part.role})")
                for part in self.bits.parts
            )
        if self.log_level is None:
            yield "answered", "part by part, each at its own level"
        else:
            yield "level", f"wrong with probability at most {math.exp(self.log_level):.3g}"
            unknown = "as wide as the values say" if not self.cases else ""
            yield "half-width", unknown or self._case_text(self.cases[0])
            yield from (("", self._case_text(case)) for case in self.cases[1:])
        if self.floor is not None:
            least = self.floor * (self.high - self.low)
            yield "", f"{least:.4g} (about the least of any method: the range allows outliers)"
        if self.nats is not None:
            yield (
                "cost",
                f"nothing to text questions; {self.nats:.1f} nats to whatever else is asked later",
            )
        if self.assumed is not None:
            yield "assumed", f"{self.assumed}; declare yours with a schema"

    def _case_text(self, case: Case) -> str:
        return f"{case.half_width * (self.high - self.low):.4g} ({case.when})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; half-widths in the question's own unit."""
        return {
            "question": self.text,
            "rows": self.terms.rows,
            "confidence_level": self.terms.confidence_level,
            "sampling": str(self.terms.sampling),
            "described": self.terms.described,
            "described_share": self.terms.described_share,
            "bits": self.bits.plain,
            "free_bits": self.bits.free,
            "parts": [part.to_dict() for part in self.bits.parts],
            "range": [self.low, self.high],
            "level": None if self.log_level is None else math.exp(self.log_level),
            "half_widths": {case.when: self[case.when] for case in self.cases},
            "floor": None if self.floor is None else self.floor * (self.high - self.low),
            "nats": self.nats,
            "assumed": None if self.assumed is None else str(self.assumed),
        }


def question_plan(text: str, schema: Any, terms: Terms) -> QuestionPlan:
    """Plan of a text under these terms; refused if it has no description."""
    types, assumed = schema_of(text, schema)
    ground = ground_of(terms, Table(types))
    if ground is None:
        raise InvalidArgument(
            "described is 'off': no question is answered by its text. Leave described out, or plan "
            "with questions and rows alone."
        )
    question = ground.prior.read(text)
    bits = ground.prior.of(question)
    rule = described(question, ground)
    return QuestionPlan(
        question.text,
        terms,
        bits,
        question.low,
        question.high,
        None if rule is None else rule.rule.log_p,
        () if rule is None else tuple(_cases(rule)),
        None if rule is None else _floor(rule.rule),
        None if rule is None else coexistence_log_charge(rule.rule.symbols),
        assumed,
    )


def _cases(question: DescribedQuestion) -> list[Case]:
    """Half-widths of the rule, each by what it would tell of symbols that are named."""
    rule, n = question.rule, question.rule.rows
    match rule:
        case Share():
            return [Case(f"rate {r:g}", _value_of(rule, (round(n * r),))) for r in _RATES]
        case PairedRule():
            return [_paired(rule, share) for share in _DIFFERING]
        case MeanRule():
            return [Case("at most", rule.window.alpha)]
        case RoundedMean():
            return [Case("at most", rounded_half_width(question.reach + GRID_ERROR))]
        case Contrast() if n > 1:
            return [Case("two halves of the rows, at most", rule.window(n // 2, n // 2).alpha)]
    sizes = {name: round(n * part) for name, part in _GROUPS.items()}
    return [case for name, size in sizes.items() if size for case in _in_group(rule, name, size)]


def _paired(rule: PairedRule, share: float) -> Case:
    each = round(rule.rows * share / 2)
    when = f"differing in {percent(share)} of the rows"
    return Case(when, _value_of(rule, rule.encode(each, each)))


def _in_group(rule: Rule, name: str, size: int) -> list[Case]:
    """Half-widths in a group of this size."""
    match rule:
        case GroupShare():
            return [
                Case(f"group of {name}, rate {r:g}", _value_of(rule, (size, round(size * r))))
                for r in _RATES
            ]
        case Overlap():
            when = f"either holds in {name}, both in half of those"
            return [Case(when, _value_of(rule, (size, size // 2)))]
        case GroupMeanRule():
            return [Case(f"group of {name}, at most", MeanRule(size, rule.log_p).window.alpha)]
        case RoundedGroupMean():
            alpha = BoundedMean(size).radius(rule.log_p)
            return [Case(f"group of {name}, about", rounded_half_width(alpha))]
    return []


def _value_of(rule: Rule, symbols: Symbols) -> float:
    low, high = rule.decode(symbols).interval
    return (high - low) / 2


def _floor(rule: Rule) -> float | None:
    """Floor of every method: rows at an end of the range that the sample did not show."""
    return outlier_floor_mass(rule.rows, rule.log_p) / 2 if isinstance(rule, MeanRule) else None
