"""What is publicly known of a table: its columns, their types, and the bounds someone declared.

Bounds are declared once, in Python or in a TOML file, for the columns that are averaged::

    [bounds]
    arr_delay = [-60, 180]
    distance = [0, 5000]

A declaration is a promise about how a column is *counted*, not about the data: where the column's
number is averaged, values outside are counted as the nearest bound. Conditions, such as
``arr_delay > 300``, and ``clip(...)``, which names its own bounds, see the column as it is.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path

from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question.bounds import Range
from holdfast.question.expression import Column, ColumnType, Kind

__all__ = ["Schema", "bounds_pair", "declared_bounds", "no_column"]


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns a question may use, in the table's order, and the bounds declared for some."""

    types: Mapping[str, ColumnType]
    bounds: Mapping[str, Range] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, bounds in self.bounds.items():
            if name not in self.types:
                raise InvalidArgument(f"Bounds are declared for {no_column(name, self.types)}")
            if self.types[name].kind is not Kind.NUMBER:
                raise InvalidArgument(
                    f"Bounds are declared for column {name!r}, which is {self.types[name]}; "
                    "only numbers have bounds."
                )
            bounds_pair(bounds, f"The bounds of column {name!r}")

    def declare(self, bounds: Mapping[str, object] | str | Path | None) -> Schema:
        """This schema with more bounds, from a mapping or a TOML file."""
        return Schema(self.types, {**self.bounds, **declared_bounds(bounds)})

    def column(self, name: str, *, quoted: bool = False) -> Column:
        """The column of that name; without quotes, capitals do not matter unless they must."""
        matches = [name] if name in self.types else []
        if not matches and not quoted:
            matches = [known for known in self.types if known.casefold() == name.casefold()]
        if not matches:
            raise InvalidQuestion(f"The question uses {no_column(name, self.types)}")
        if len(matches) > 1:
            raise InvalidQuestion(
                f"{_shortened(name)} could be {_listed(matches)}; "
                "write the one meant in double quotes."
            )
        found = matches[0]
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


def declared_bounds(source: Mapping[str, object] | str | Path | None) -> dict[str, Range]:
    """Bounds by column name, from a mapping or from the ``[bounds]`` table of a TOML file."""
    if source is None:
        return {}
    if isinstance(source, str | Path):
        return _from_toml(Path(source))
    if not isinstance(source, Mapping):
        raise InvalidArgument(
            "schema must be a mapping from column names to (low, high), or the path of a TOML file."
        )
    return {
        str(name): bounds_pair(bounds, f"The bounds of column {str(name)!r}")
        for name, bounds in source.items()
    }


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


def _from_toml(path: Path) -> dict[str, Range]:
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise InvalidArgument(
            f"The schema file {str(path)!r} cannot be read: {error.strerror}."
        ) from None
    except (RecursionError, ValueError) as error:
        raise InvalidArgument(f"The schema file {str(path)!r} is not TOML: {error}.") from None
    table = content.get("bounds")
    if not isinstance(table, dict):
        raise InvalidArgument(
            f"The schema file {str(path)!r} has no table [bounds] with lines like x = [0, 1]."
        )
    return declared_bounds(table)


def _shortened(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:57] + "...")


def _listed(names: Iterable[str]) -> str:
    *most, last = [_shortened(name) for name in names] or ["none"]
    return f"{', '.join(most)} or {last}" if most else last
