"""What is publicly known of a table: its columns, their types, and the bounds someone declared.

Bounds are declared once, in Python or in a TOML file, for the columns that are averaged::

    [bounds]
    arr_delay = [-60, 180]
    distance = [0, 5000]

A declaration is a promise about how a column is *counted*, not about the data: where the column's
number is averaged, values outside are counted as the nearest bound. Conditions, such as
``arr_delay > 300``, and ``clip(...)``, which names its own bounds, see the column as it is.

What else is declared makes descriptions shorter (docs/bits.md), and changes no value: the
categories of a text column, the weight of a column beside the others, questions that are likely::

    favourites = ["avg(arr_delay > 15)"]
    [values]
    origin = ["EWR", "JFK", "LGA"]
    [weights]
    arr_delay = 10

In Python an entry is a pair of bounds, or a mapping with `bounds`, `values` and `weight`; beside
the columns, `favourites` is a list of questions (of a table with such a column, only in a file).
Nothing of this may be taken from the protected rows: `holdfast.learn_schema` reads other rows.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question.bounds import Range
from holdfast.question.expression import Column, ColumnType, ValueKind
from holdfast.wording import plural

__all__ = ["Schema", "bounds_pair", "declared_types", "no_column"]

_ENTRY = {"bounds", "values", "weight"}
_FAVOURITES = "favourites"
_SHOWN = 5  # values of a column in a listing
_LONGEST_WEIGHT = 30  # digits; a weight is a judgement


class _Declared(NamedTuple):
    """What someone said of a table, by column; favourites are about all of it."""

    bounds: dict[str, Range]
    values: dict[str, tuple[str, ...]]
    weights: dict[str, Decimal]
    favourites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns a question may use, in the table's order, and what was declared of some.

    `learnt` names the columns whose values nobody declared: they are those of training rows.
    `aliases` are other names of columns: a question by such a name is about the column itself.
    """

    types: Mapping[str, ColumnType]
    bounds: Mapping[str, Range] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: Mapping[str, Decimal] = field(default_factory=dict)
    favourites: tuple[str, ...] = ()
    learnt: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_bounds()
        for name in self.values:
            if name not in self.types:
                raise InvalidArgument(f"Values are declared for {no_column(name, self.types)}")
            if self.types[name] is not ColumnType.TEXT:
                raise InvalidArgument(
                    f"Values are declared for column {name!r}, which is {self.types[name]}; "
                    "only text has declared values."
                )
        for name in self.weights:
            if name not in self.types:
                raise InvalidArgument(f"A weight is declared for {no_column(name, self.types)}")
        for name in self.learnt:
            if name not in self.values:
                raise InvalidArgument(f"Column {name!r} has learnt values, and has no values.")

    def _check_bounds(self) -> None:
        for name, bounds in self.bounds.items():
            if name not in self.types:
                raise InvalidArgument(f"Bounds are declared for {no_column(name, self.types)}")
            if self.types[name].kind is not ValueKind.NUMBER:
                raise InvalidArgument(
                    f"Bounds are declared for column {name!r}, which is {self.types[name]}; "
                    "only numbers have bounds."
                )
            bounds_pair(bounds, f"The bounds of column {name!r}")

    def declare(self, source: Schema | Mapping[str, object] | str | Path | None) -> Schema:
        """This schema with more declarations: another one's, a mapping's or a TOML file's."""
        more = _declared(source, self.types)
        return Schema(
            self.types,
            {**self.bounds, **more.bounds},
            {**self.values, **more.values},
            {**self.weights, **more.weights},
            (*self.favourites, *more.favourites),
            tuple(name for name in self.learnt if name not in more.values),
        )

    def learn(self, values: Mapping[str, Iterable[str]]) -> Schema:
        """This schema with the values that training rows have in columns without declared ones."""
        new = {name: tuple(sorted(found)) for name, found in values.items()}
        new = {name: found for name, found in new.items() if name not in self.values}
        learnt = tuple(sorted({*self.learnt, *new}))
        return replace(self, values={**self.values, **new}, learnt=learnt)

    @property
    def said(self) -> Schema:
        """What was declared in words: without what was learnt."""
        values = {name: found for name, found in self.values.items() if name not in self.learnt}
        return replace(self, values=values, learnt=())

    def facts(self, name: str) -> list[str]:
        """What is known of a column beside its type, in words."""
        facts = []
        if name in self.bounds:
            facts.append("{:g} to {:g}".format(*self.bounds[name]))
        if name in self.values:
            values = self.values[name]
            shown = ", ".join(map(_shortened, values[:_SHOWN]))
            more = ", ..." if len(values) > _SHOWN else ""
            whence = " (learnt from training rows)" if name in self.learnt else ""
            facts.append(f"{plural(len(values), 'value')}: {shown}{more}{whence}")
        if name in self.weights:
            facts.append(f"weight {self.weights[name]}")
        return facts

    def __str__(self) -> str:
        """The columns, one on a line, and the favourites."""
        width = max(map(len, self.types), default=0)
        lines = [
            f"{name:<{width}}  {'; '.join([str(kind), *self.facts(name)])}"
            for name, kind in self.types.items()
        ]
        return "\n".join([*lines, *(f"favourite: {each}" for each in self.favourites)])

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
            "favourites": sorted(set(self.favourites)),
            "learnt": sorted(self.learnt),
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Schema:
        """The schema that `to_dict` wrote; only the types are needed."""
        types = {name: _type(name, kind) for name, kind in _section(body, "types").items()}
        more = _sections(*(_section(body, name) for name in ("bounds", "values", "weights")))
        favourites = _questions(body.get("favourites", ()))
        learnt = tuple(map(str, body.get("learnt", ())))
        return cls(types, more.bounds, more.values, more.weights, favourites, learnt)

    def column(self, name: str, *, quoted: bool = False) -> Column:
        """The column of that name; without quotes, capitals do not matter unless they must."""
        known = (*self.types, *self.aliases)
        matches = [name] if name in self.types or name in self.aliases else []
        if not matches and not quoted:
            matches = [each for each in known if each.casefold() == name.casefold()]
        if not matches:
            raise InvalidQuestion(f"The question uses {no_column(name, known)}")
        if len(matches) > 1:
            raise InvalidQuestion(
                f"{_shortened(name)} could be {_listed(matches)}; "
                "write the one meant in double quotes."
            )
        found = self.aliases.get(matches[0], matches[0])
        if self.types[found].kind is None:
            raise InvalidQuestion(
                f"Column {_shortened(found)} has a type that questions cannot use; they can use "
                "numbers, text, booleans, dates and times."
            )
        return Column(found, self.types[found])


def no_column(name: str, columns: Iterable[str]) -> str:
    """The end of a sentence about a name that no column has, with those that are near."""
    known = list(columns)
    by_folded = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name[:100].casefold(), by_folded, n=3, cutoff=0.6)
    if near:
        return (
            f"{_shortened(name)}, which is not a column of the table; did you mean "
            f"{_listed(by_folded[each] for each in near)}?"
        )
    shown = ", ".join(_shortened(each) for each in known[:8])
    if len(known) > 8:
        shown += f" and {len(known) - 8} more"
    return f"{_shortened(name)}, which is not a column of the table; its columns are {shown}."


def _declared(
    source: Schema | Mapping[str, object] | str | Path | None, columns: Iterable[str]
) -> _Declared:
    match source:
        case None:
            return _Declared({}, {}, {})
        case Schema():
            values, weights = dict(source.values), dict(source.weights)
            return _Declared(dict(source.bounds), values, weights, source.favourites)
        case str() | Path():
            return _from_toml(Path(source))
        case Mapping():
            return _from_mapping(dict(source), columns)
    raise InvalidArgument(
        "schema must be a mapping from column names to (low, high), or the path of a TOML file."
    )


def _from_mapping(source: dict[str, Any], columns: Iterable[str]) -> _Declared:
    favourites = () if _FAVOURITES in columns else _questions(source.pop(_FAVOURITES, ()))
    entries = {
        str(name): entry if isinstance(entry, Mapping) else {"bounds": entry}
        for name, entry in source.items()
    }
    for name, entry in entries.items():
        if not entry or not entry.keys() <= _ENTRY:
            raise InvalidArgument(
                f"The entry of column {name!r} has {_listed(map(str, entry))}; it may have "
                "'bounds', 'values' and 'weight'."
            )
    return _sections(
        *(
            {name: entry[key] for name, entry in entries.items() if key in entry}
            for key in ("bounds", "values", "weight")
        )
    )._replace(favourites=favourites)


def declared_types(
    source: Mapping[str, object] | str | Path | None,
) -> dict[str, ColumnType | None]:
    """The columns that a declaration names: bounds are of numbers, values of text; a weight, of
    whatever the column is."""
    said = _declared(source, ())
    return {
        **dict.fromkeys(said.weights),
        **dict.fromkeys(said.bounds, ColumnType.FLOAT),
        **dict.fromkeys(said.values, ColumnType.TEXT),
    }


def _sections(
    bounds: Mapping[str, object], values: Mapping[str, object], weights: Mapping[str, object]
) -> _Declared:
    return _Declared(
        {
            name: bounds_pair(each, f"The bounds of column {name!r}")
            for name, each in bounds.items()
        },
        {name: _categories(each, name) for name, each in values.items()},
        {name: _weight(each, name) for name, each in weights.items()},
    )


def _section(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = body.get(name, {})
    if isinstance(found, Mapping) and all(isinstance(column, str) for column in found):
        return found
    raise InvalidArgument(f"The schema's {name!r} must be a mapping from the names of columns.")


def _type(name: str, kind: object) -> ColumnType:
    known = [str(each) for each in ColumnType]
    if kind in known:
        return ColumnType(str(kind))
    raise InvalidArgument(
        f"The type of column {name!r} is {str(kind)[:40]!r}; it must be one of {', '.join(known)}."
    )


def _categories(values: object, name: str) -> tuple[str, ...]:
    """The declared values of a text column, sorted: their order says nothing."""
    if not isinstance(values, list | tuple) or not values:
        wrong = repr(values)[:60]
    else:
        others = [each for each in values if not isinstance(each, str)]
        twice = [each for each, times in Counter(map(str, values)).items() if times > 1]
        if not others and not twice:
            return tuple(sorted(values))
        wrong = (
            f"{repr(others[0])[:60]}, which is no text"
            if others
            else f"{_shortened(twice[0])} more than once"
        )
    raise InvalidArgument(
        f"The values of column {name!r} must be a list of different texts, and have {wrong}."
    )


def _weight(weight: object, name: str) -> Decimal:
    """A positive decimal; of a float, the one that is written for it."""
    try:
        found = Decimal(str(weight)) if not isinstance(weight, bool) else Decimal(0)
    except InvalidOperation:
        found = Decimal(0)
    digits = format(found, "f") if found.is_finite() and abs(found.adjusted()) < 100 else ""
    if digits and found > 0 and len(digits) <= _LONGEST_WEIGHT:
        return Decimal(digits.rstrip("0").rstrip(".") if "." in digits else digits)
    raise InvalidArgument(
        f"The weight of column {name!r} must be a finite number above 0 of at most "
        f"{_LONGEST_WEIGHT} digits, not {str(weight)[:60]}."
    )


def _questions(favourites: object) -> tuple[str, ...]:
    if isinstance(favourites, Iterable) and not isinstance(favourites, str):
        found = tuple(favourites)
        if all(isinstance(each, str) for each in found):
            return found
    raise InvalidArgument(
        f"favourites must be a list of questions, each a text, not {repr(favourites)[:60]}."
    )


def bounds_pair(bounds: object, what: str = "bounds") -> Range:
    """Two finite numbers, the first below the second."""
    if isinstance(bounds, tuple | list) and len(bounds) == 2:
        low, high = bounds
        if all(isinstance(end, Real) and not isinstance(end, bool) for end in (low, high)):
            with suppress(OverflowError):
                pair = Range(float(low), float(high))
                if pair.finite and pair.low < pair.high and math.isfinite(pair.high - pair.low):
                    return pair
    raise InvalidArgument(
        f"{what} must be two finite numbers (low, high) with low below high, not "
        f"{repr(bounds)[:60]}."
    )


def _from_toml(path: Path) -> _Declared:
    try:
        with path.open("rb") as file:
            content = tomllib.load(file, parse_float=Decimal)  # weights are exactly as written
    except OSError as error:
        raise InvalidArgument(
            f"The schema file {str(path)!r} cannot be read: {error.strerror}."
        ) from None
    except (RecursionError, ValueError) as error:
        raise InvalidArgument(f"The schema file {str(path)!r} is not TOML: {error}.") from None
    known = {"bounds", "values", "weights", _FAVOURITES} & content.keys()
    bounds, values, weights = (content.get(name, {}) for name in ("bounds", "values", "weights"))
    if not known or not all(isinstance(table, dict) for table in (bounds, values, weights)):
        raise InvalidArgument(
            f"The schema file {str(path)!r} has no table [bounds] with lines like x = [0, 1]; "
            "there may also be tables [values] and [weights], and a list of favourites."
        )
    favourites = _questions(content.get(_FAVOURITES, []))
    bounds = {name: _doubles(each) for name, each in bounds.items()}
    return _sections(bounds, values, weights)._replace(favourites=favourites)


def _doubles(ends: object) -> object:
    """Ends of a range in a file, which are doubles everywhere else."""
    if not isinstance(ends, list):
        return ends
    return [float(end) if isinstance(end, Decimal) else end for end in ends]


def _shortened(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:57] + "...")


def _listed(names: Iterable[str]) -> str:
    *most, last = [_shortened(name) for name in names] or ["none"]
    return f"{', '.join(most)} or {last}" if most else last
