"""What is publicly known of a table: its columns, their types, and what was declared of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from holdfast.did_you_mean import near_names
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question.bounds import Range
from holdfast.question.declaring import (
    FAMILY,
    LISTS,
    SECTIONS,
    Categories,
    Scale,
    bounds_pair,
    listed,
    read_declarations,
    read_list,
    read_sections,
    require_values_fit,
    shortened,
    value_text,
)
from holdfast.question.expression import Column, ColumnType, ValueKind, string
from holdfast.wording import plural

FROM_TRAINING = " (learnt from training rows)"
_SHOWN = 5  # values of a column in a listing
_DECLARED = {
    "bounds": "Bounds are",
    "scales": "Scales are",
    "values": "Values are",
    "weights": "A weight is",
    "never_null": "never_null is",
}


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns a question may use, in the table's order, and what was declared of some.

    `never_null` says of columns whether every row has a value, which is so where nothing is said.
    `learnt` names the columns whose values, or ranges of numbers, nobody declared: they are those
    of training rows.
    `aliases` are other names of columns: a question by such a name is about the column itself.
    `outcomes` are what is measured, `segments` what it is cut by, `planned` questions.
    """

    types: Mapping[str, ColumnType]
    bounds: Mapping[str, Range] = field(default_factory=dict)
    values: Mapping[str, Categories] = field(default_factory=dict)
    weights: Mapping[str, Decimal] = field(default_factory=dict)
    scales: Mapping[str, Scale] = field(default_factory=dict)
    favourites: tuple[str, ...] = ()
    learnt: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    never_null: Mapping[str, bool] = field(default_factory=dict)
    outcomes: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for section, what in _DECLARED.items():
            for name in getattr(self, section):
                if name not in self.types:
                    raise InvalidArgument(f"{what} declared for {no_column(name, self.types)}")
        for noun, names in (("Bounds", self.bounds), ("Scales", self.scales)):
            for name in names:
                if self.types[name].kind is not ValueKind.NUMBER:
                    raise InvalidArgument(
                        f"{noun} are declared for column {name!r}, which is {self.types[name]}; "
                        f"only numbers have {noun.lower()}: leave them out."
                    )
        for name, bounds in self.bounds.items():
            bounds_pair(bounds, f"The bounds of column {name!r}")
        for name, values in self.values.items():
            require_values_fit(name, self.types[name], values)
        for name in self.learnt:
            if name not in self.values and name not in self.bounds:
                raise InvalidArgument(
                    f"Column {name!r} has learnt values, and has neither values nor bounds."
                )

    def declare(self, source: Schema | Mapping[str, object] | str | Path | None) -> Schema:
        """This schema with more declarations: another one's, a mapping's or a TOML file's."""
        more = source if isinstance(source, Schema) else read_declarations(source, self.types)
        # A number of which all values are known is averaged from the least to the greatest.
        ends = {
            name: Range(min(numbers), max(numbers))
            for name, values in more.values.items()
            if name not in more.scales
            and name not in self.scales
            and self.types.get(name) in (ColumnType.INTEGER, ColumnType.FLOAT)
            for numbers in [[each for each in values if isinstance(each, float)]]
            if len(numbers) > 1
        }
        both: dict[str, Any] = {
            name: {**getattr(self, name), **getattr(more, name)} for name in SECTIONS
        }
        both["bounds"] = {**ends, **both["bounds"]}
        both["favourites"] = (*self.favourites, *more.favourites)
        both["learnt"] = tuple(
            each for each in self.learnt if each not in {*more.values, *more.bounds}
        )
        return replace(self, **both).with_family(more.outcomes, more.segments, more.planned)

    def with_family(
        self,
        outcomes: Iterable[str] = (),
        segments: Iterable[str] = (),
        planned: Iterable[str] = (),
    ) -> Schema:
        """This schema with more that is measured, cut by or planned."""
        return replace(
            self,
            outcomes=tuple(dict.fromkeys((*self.outcomes, *outcomes))),
            segments=tuple(dict.fromkeys((*self.segments, *segments))),
            planned=tuple(dict.fromkeys((*self.planned, *planned))),
        )

    def learn(
        self,
        values: Mapping[str, Iterable[str] | Iterable[float]],
        ranges: Mapping[str, Range] | None = None,
    ) -> Schema:
        """This schema with what training rows have in columns of which it was not declared."""
        new: dict[str, Categories] = {
            name: cast("Categories", tuple(sorted(categories)))
            for name, categories in values.items()
            if name not in self.values
        }
        ends = {name: each for name, each in (ranges or {}).items() if name not in self.bounds}
        learnt = tuple(sorted({*self.learnt, *new, *ends}))
        return replace(
            self, values={**self.values, **new}, bounds={**self.bounds, **ends}, learnt=learnt
        )

    @property
    def without_learnt(self) -> Schema:
        """What was declared in words: without what was learnt."""
        values = {name: each for name, each in self.values.items() if name not in self.learnt}
        bounds = {name: each for name, each in self.bounds.items() if name not in self.learnt}
        return replace(self, values=values, bounds=bounds, learnt=())

    def facts(self, name: str) -> list[str]:
        """What is known of a column beside its type, in words."""
        facts, whence = [], FROM_TRAINING if name in self.learnt else ""
        if name in self.bounds:
            facts.append("{:g} to {:g}".format(*self.bounds[name]) + whence)
        if name in self.scales:
            facts.append(self.scales[name].text)
        if name in self.values:
            values = self.values[name]
            examples = ", ".join(map(value_text, values[:_SHOWN]))
            more = ", ..." if len(values) > _SHOWN else ""
            facts.append(f"{plural(len(values), 'value')}: {examples}{more}{whence}")
        if name in self.weights:
            facts.append(f"weight {self.weights[name]}")
        if name in self.never_null:
            facts.append("never missing" if self.never_null[name] else "may be missing")
        return facts

    def __str__(self) -> str:
        """The columns, one on a line, and what is declared of all of them."""
        width = max(map(len, self.types), default=0)
        lines = [
            f"{name:<{width}}  {'; '.join([str(kind), *self.facts(name)])}"
            for name, kind in self.types.items()
        ]
        lists = ((name.removesuffix("s"), getattr(self, name)) for name in LISTS)
        return "\n".join([*lines, *(f"{name}: {each}" for name, of in lists for each in of)])

    def with_columns(
        self, types: dict[str, ColumnType], bounds: dict[str, Range], aliases: dict[str, str]
    ) -> Schema:
        """This schema with more columns, and with other names of columns: checked once for all."""
        return replace(
            self,
            types={**self.types, **types},
            bounds={**self.bounds, **bounds},
            aliases={**self.aliases, **aliases},
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for the ledger: the same for all ways to declare the same."""
        return {
            "types": {name: str(self.types[name]) for name in sorted(self.types)},
            "bounds": {name: list(self.bounds[name]) for name in sorted(self.bounds)},
            "values": {name: list(self.values[name]) for name in sorted(self.values)},
            "weights": {name: str(self.weights[name]) for name in sorted(self.weights)},
            "scales": {name: self.scales[name].to_dict() for name in sorted(self.scales)},
            "never_null": {name: self.never_null[name] for name in sorted(self.never_null)},
            "favourites": sorted(set(self.favourites)),
            "learnt": sorted(self.learnt),
            **{name: list(texts) for name in FAMILY if (texts := getattr(self, name))},
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Schema:
        """The schema that `to_dict` wrote; only the types are needed."""
        types = {name: _type(name, kind) for name, kind in _section(body, "types").items()}
        sections = read_sections({name: _section(body, name) for name in SECTIONS})
        lists: dict[str, Any] = {name: read_list(name, body.get(name, ())) for name in LISTS}
        learnt = tuple(map(str, body.get("learnt", ())))
        return cls(types, learnt=learnt, **sections._replace(**lists)._asdict())

    def column(self, name: str, *, quoted: bool = False) -> Column:
        """The column of that name; without quotes, capitals do not matter unless they must."""
        names = (*self.types, *self.aliases)
        matches = [name] if name in self.types or name in self.aliases else []
        if not matches and not quoted:
            matches = [each for each in names if each.casefold() == name.casefold()]
        if not matches and any(name in values for values in self.values.values()):
            raise InvalidQuestion(
                f"The question uses {shortened(name)} as a column, and it is a text in one; write "
                f"texts in single quotes: {string(name)}."
            )
        if not matches:
            raise InvalidQuestion(f"The question uses {no_column(name, names)}")
        if len(matches) > 1:
            raise InvalidQuestion(
                f"{shortened(name)} could be {listed(matches)}; "
                "write the one meant in double quotes."
            )
        own_name = self.aliases.get(matches[0], matches[0])
        if self.types[own_name].kind is None:
            raise InvalidQuestion(
                f"Column {shortened(own_name)} has a type that questions cannot use; they can use "
                "numbers, text, booleans, dates and times."
            )
        return Column(
            own_name, self.types[own_name], nullable=not self.never_null.get(own_name, True)
        )


def no_column(name: str, columns: Iterable[str]) -> str:
    """The end of a sentence about a name that no column has, with those that are near."""
    names = list(columns)
    by_folded = {each.casefold(): each for each in names}
    near = near_names(name[:100].casefold(), by_folded, most=3)
    if near:
        return (
            f"{shortened(name)}, which is not a column of the table; did you mean "
            f"{listed(by_folded[each] for each in near)}?"
        )
    examples = ", ".join(shortened(each) for each in names[:8])
    if len(names) > 8:
        examples += f" and {len(names) - 8} more"
    return f"{shortened(name)}, which is not a column of the table; its columns are {examples}."


def _section(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = body.get(name, {})
    if isinstance(section, Mapping) and all(isinstance(column, str) for column in section):
        return section
    raise InvalidArgument(f"The schema's {name!r} must be a mapping from the names of columns.")


def _type(name: str, kind: object) -> ColumnType:
    names = [str(each) for each in ColumnType]
    if kind in names:
        return ColumnType(str(kind))
    raise InvalidArgument(
        f"The type of column {name!r} is {str(kind)[:40]!r}; it must be one of {', '.join(names)}."
    )
