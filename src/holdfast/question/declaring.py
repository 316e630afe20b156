"""What someone declares of the columns of a table, read: in Python, or from a TOML file.

Bounds are declared once, for the columns that are averaged::

    [bounds]
    arr_delay = [-60, 180]
    distance = [0, 5000]

A declaration is a promise about how a column is *counted*, not about the data: where the column's
number is averaged, values outside are counted as the nearest bound. Conditions, such as
``arr_delay > 300``, and ``clip(...)``, which names its own bounds, see the column as it is.

A column without bounds may have a scale instead: how far its values deviate from their expectation
(`question.declaring`)::

    [scales]
    weight_gain = { sigma = 0.4 }
    waiting = { sigma = 3, b = 1.5 }

A missing value (NULL, NaN) is left out of statistics. A column that holds none when the ledger is
opened is taken for one that never does; whether it may is also declared, and checked then::

    [never_null]
    arr_delay = true

What else is declared makes descriptions shorter (docs/bits.md), and changes no value: the
categories of a text column, or of a number that has few, the weight of a column beside the others,
questions that are likely::

    favourites = ["avg(arr_delay > 15)"]
    [values]
    origin = ["EWR", "JFK", "LGA"]
    dose = [0.5, 1.0, 2.0]
    [weights]
    arr_delay = 10

What is measured, by what it is cut, and what was planned make their own questions cheap (averages,
a group against the rest, pairs of groups; docs/bits.md)::

    outcomes = ["arr_delay > 15", "arr_delay"]
    segments = ["origin", "carrier", "month", "hour at 6, 12, 18", "distance > 1000"]
    planned = ["effect(arr_delay > 15, arm) by origin"]

A number with declared values and no bounds is averaged from the least to the greatest of them.

In Python an entry is a pair of bounds, a list of texts or of three or more numbers, a scale such as
`holdfast.tails.sub_gaussian(0.4)`, or a mapping with `bounds`, `scale`, `values`, `weight` and
`never_null`; beside them `favourites`, `outcomes`, `segments` and `planned` are lists of texts (of
a table with such a column, only in a file).
Nothing of this may be taken from the protected rows: `holdfast.learn_schema` reads other rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.expression import ColumnType, ValueKind, numeral

# How concentrated a value is, where no range is known: the scale of its deviations, declared.
#
# `sub_gaussian(sigma)`: E exp(t (x - E x)) <= exp(t^2 sigma^2 / 2) for every t. `sub_exponential
# (sigma, b)`: for |t| <= 1/b only. Said of a column, it is about each row's value; said of a
# statistic, about the statistic itself.


_LEAST, _MOST = 2.0**-900, 2.0**900  # a grid of doubles has room around it


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale sigma of sub-Gaussian deviations; with b, of sub-exponential ones."""

    sigma: float
    b: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", _positive("sigma", self.sigma))
        if self.b is not None:
            object.__setattr__(self, "b", _positive("b", self.b))

    @property
    def longest(self) -> float:
        """The scale on which its tail falls far out."""
        return self.sigma if self.b is None else max(self.sigma, self.b)

    @property
    def text(self) -> str:
        """As a question says it."""
        more = "" if self.b is None else f", b = {numeral(self.b)}"
        return f"sigma = {numeral(self.sigma)}{more}"

    def to_dict(self) -> dict[str, float]:
        """Plain values, for the ledger."""
        return {"sigma": self.sigma} if self.b is None else {"sigma": self.sigma, "b": self.b}


def sub_gaussian(sigma: float) -> Scale:
    """Deviations that fall like a Gaussian's of standard deviation `sigma`, or faster."""
    return Scale(sigma)


def sub_exponential(sigma: float, b: float) -> Scale:
    """Deviations like a Gaussian's up to sigma^2/b, and like exp(-a/b) beyond, or faster."""
    return Scale(sigma, _positive("b", b))


def read_scale(scale: Any, label: str) -> Scale:
    """A scale from what may stand for one: itself, or named values."""
    if isinstance(scale, Scale):
        return scale
    if isinstance(scale, Mapping) and "sigma" in scale and scale.keys() <= {"sigma", "b"}:
        try:
            return Scale(**scale)
        except InvalidArgument as error:
            raise InvalidArgument(f"{label}: {error}") from None
    raise InvalidArgument(
        f"{label} must be holdfast.tails.sub_gaussian(sigma) or sub_exponential(sigma, b), or "
        f"named values such as {{'sigma': 0.4}}, not {repr(scale)[:60]}."
    )


def _positive(name: str, value: object) -> float:
    return require.between(name, require.positive(name, value), _LEAST, _MOST)


_LONGEST_WEIGHT = 30  # digits; a weight is a judgement


Categories: TypeAlias = tuple[str, ...] | tuple[float, ...]  # of one column, sorted


class ColumnFacts(NamedTuple):
    """What someone said of a table, by column; lists are about all of it."""

    bounds: Mapping[str, Range]
    values: Mapping[str, Categories]
    weights: Mapping[str, Decimal]
    scales: Mapping[str, Scale]
    never_null: Mapping[str, bool]
    favourites: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()


def read_declarations(
    source: Mapping[str, object] | str | Path | None, columns: Iterable[str]
) -> ColumnFacts:
    """What a mapping or a TOML file declares; `columns` are those of the table."""
    match source:
        case None:
            return read_sections({})
        case str() | Path():
            return _from_toml(Path(source))
        case Mapping():
            return _from_mapping(dict(source), columns)
    raise InvalidArgument(
        "schema must be a mapping from column names to (low, high), such as {'delay': (-60, 180)}, "
        f"or the path of a TOML file, not {type(source).__name__}."
    )


def _from_mapping(source: dict[str, Any], columns: Iterable[str]) -> ColumnFacts:
    names = set(columns)
    lists: dict[str, Any] = {
        name: read_list(name, source.pop(name, ())) for name in LISTS if name not in names
    }
    entries = {
        str(name): {_kind_of(entry): entry}
        if _ends_of(entry) or not isinstance(entry, Mapping)
        else entry
        for name, entry in source.items()
    }
    for name, entry in entries.items():
        if not entry or not entry.keys() <= {of_column for of_column, _ in _READERS.values()}:
            raise InvalidArgument(
                f"The entry of column {name!r} has {listed(map(str, entry))}; it may have "
                "'bounds', 'scale', 'values', 'weight' and 'never_null', as in {'bounds': (0, "
                "100)} or {'values': ['EWR', 'JFK']}."
            )
    sections = {
        section: {name: entry[key] for name, entry in entries.items() if key in entry}
        for section, (key, _) in _READERS.items()
    }
    return read_sections(sections)._replace(**lists)


def _kind_of(entry: object) -> str:
    """What an entry says without a name for it: a scale, values, or bounds, which are a pair."""
    if isinstance(entry, Scale):
        return "scale"
    if not isinstance(entry, list | tuple | set | frozenset) or not entry:
        return "bounds"
    several = len(entry) > 2 or isinstance(entry, set | frozenset)
    texts = all(isinstance(each, str) for each in entry)
    return "values" if texts or (several and all(map(_is_number, entry))) else "bounds"


def _ends_of(bounds: object) -> tuple[object, object] | None:
    """The two ends of a range that are named: {"min": 0, "max": 9}, {"low": 0, "high": 9}."""
    for low, high in (("min", "max"), ("low", "high")):
        if isinstance(bounds, Mapping) and bounds.keys() == {low, high}:
            return bounds[low], bounds[high]
    return None


def declared_types(
    source: Mapping[str, object] | str | Path | None,
) -> dict[str, ColumnType | None]:
    """The columns that a declaration names: bounds and scales are of numbers, values of text or of
    numbers; a weight, of whatever the column is."""
    declarations = read_declarations(source, ())
    return {
        **dict.fromkeys((*declarations.weights, *declarations.never_null)),
        **dict.fromkeys((*declarations.bounds, *declarations.scales), ColumnType.FLOAT),
        **{
            name: ColumnType.TEXT if isinstance(values[0], str) else ColumnType.FLOAT
            for name, values in declarations.values.items()
        },
    }


def read_sections(sections: Mapping[str, Mapping[str, object]]) -> ColumnFacts:
    """The declarations of each section, by column, checked."""
    facts: dict[str, Any] = {
        section: {name: read(each, name) for name, each in sections.get(section, {}).items()}
        for section, (_, read) in _READERS.items()
    }
    return ColumnFacts(**facts)


def _categories(values: object, name: str) -> Categories:
    """The declared values of a column of text or numbers, sorted: their order says nothing."""
    if not isinstance(values, list | tuple | set | frozenset) or not values:
        wrong = repr(values)[:60]
    elif all(map(_is_number, values)):
        numbers = Counter(float(each) + 0.0 for each in values)  # -0.0 is 0.0
        if all(map(math.isfinite, numbers)) and len(numbers) == len(values):
            return tuple(sorted(numbers))
        wrong = f"a number twice, or one that is not finite: {repr(values)[:60]}"
    else:
        not_texts = [each for each in values if not isinstance(each, str)]
        twice = [each for each, times in Counter(map(str, values)).items() if times > 1]
        if not not_texts and not twice:
            return tuple(sorted(values))
        wrong = (
            f"{repr(not_texts[0])[:60]}, which is no text"
            if not_texts
            else f"{shortened(twice[0])} more than once"
        )
    raise InvalidArgument(
        f"The values of column {name!r} must be a list of different texts, and have {wrong}; write "
        "them like ['EWR', 'JFK'], or of a number like [0.5, 1, 2]."
    )


def _is_number(value: object) -> bool:
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def require_values_fit(name: str, kind: ColumnType, values: Categories) -> None:
    """Refuse declared values that a column of this type cannot have."""
    texts = isinstance(values[0], str)
    if kind is ColumnType.TEXT and not texts:
        raise InvalidArgument(
            f"The values of column {name!r} are numbers, and it is text; write them as texts, "
            f"like {[value_text(each) for each in values[:2]]!r}."
        )
    if kind.kind is ValueKind.NUMBER and texts:
        raise InvalidArgument(
            f"Column {name!r} is {kind}, and texts are declared for it: its bounds are two finite "
            "numbers with low below high, such as (0, 100), and its values numbers, such as [0.5, "
            "1, 2]."
        )
    if kind is ColumnType.INTEGER and not all(float(each).is_integer() for each in values):
        raise InvalidArgument(
            f"Column {name!r} has whole numbers, and not all of its values are; write those that "
            "it can have, such as [10, 20, 50]."
        )
    if kind is not ColumnType.TEXT and kind.kind is not ValueKind.NUMBER:
        raise InvalidArgument(
            f"Values are declared for column {name!r}, which is {kind}; only text and numbers have "
            "declared values: leave them out."
        )


def value_text(value: str | float) -> str:
    """A declared value in words: a text in quotes, a number as it is written."""
    return shortened(value) if isinstance(value, str) else numeral(value)


def _is_never_null(flag: object, name: str) -> bool:
    if isinstance(flag, bool):
        return flag
    raise InvalidArgument(
        f"never_null of column {name!r} must be true or false, not {repr(flag)[:60]}."
    )


def _column_bounds(bounds: object, name: str) -> Range:
    return bounds_pair(bounds, f"The bounds of column {name!r}")


def _column_scale(scale: object, name: str) -> Scale:
    return read_scale(scale, f"The scale of column {name!r}")


def _weight(weight: object, name: str) -> Decimal:
    """A positive decimal; of a float, the one that is written for it."""
    try:
        decimal = Decimal(str(weight)) if not isinstance(weight, bool) else Decimal(0)
    except InvalidOperation:
        decimal = Decimal(0)
    digits = format(decimal, "f") if decimal.is_finite() and abs(decimal.adjusted()) < 100 else ""
    if digits and decimal > 0 and len(digits) <= _LONGEST_WEIGHT:
        return Decimal(digits.rstrip("0").rstrip(".") if "." in digits else digits)
    raise InvalidArgument(
        f"The weight of column {name!r} must be a finite number above 0 of at most "
        f"{_LONGEST_WEIGHT} digits, not {str(weight)[:60]}."
    )


# The sections of a file, and of a ledger's schema: what each is called in the entry of one column,
# and how that is read.
_READERS: Mapping[str, tuple[str, Callable[[object, str], object]]] = {
    "bounds": ("bounds", _column_bounds),
    "values": ("values", _categories),
    "weights": ("weight", _weight),
    "scales": ("scale", _column_scale),
    "never_null": ("never_null", _is_never_null),
}
SECTIONS = tuple(_READERS)


def read_list(name: str, texts: object) -> tuple[str, ...]:
    """What is declared of all of the table, as a list of texts."""
    if isinstance(texts, Iterable) and not isinstance(texts, str):
        listing = tuple(texts)
        if all(isinstance(each, str) for each in listing):
            return listing
    raise InvalidArgument(
        f"{name} must be a list of {_LISTED[name]}, each a text, not {repr(texts)[:60]}."
    )


_LISTED = {
    "favourites": "questions",
    "outcomes": "values of a row",
    "segments": "columns, conditions or numbers with cuts",
    "planned": "questions",
}
LISTS = tuple(_LISTED)
FAMILY = LISTS[1:]  # from which questions are made


def bounds_pair(bounds: object, label: str = "bounds") -> Range:
    """Two finite numbers, the first below the second."""
    bounds = _ends_of(bounds) or bounds
    if isinstance(bounds, tuple | list) and len(bounds) == 2:
        low, high = bounds
        if all(isinstance(end, Real) and not isinstance(end, bool) for end in (low, high)):
            with suppress(OverflowError):
                pair = Range(float(low), float(high))
                if pair.finite and pair.low < pair.high and math.isfinite(pair.high - pair.low):
                    return pair
    raise InvalidArgument(
        f"{label} must be two finite numbers (low, high) with low below high, such as (0, 100), "
        f"not {repr(bounds)[:60]}{_instead_of_bounds(bounds)}."
    )


def _instead_of_bounds(entry: object) -> str:
    """What was meant by an entry that is no range."""
    if isinstance(entry, str) and not any(map(str.isdigit, entry)):
        return "; the values of a text are {'values': ['EWR', 'JFK']}, and types are the table's"
    return ""


def _from_toml(path: Path) -> ColumnFacts:
    import tomllib

    try:
        with path.open("rb") as file:
            content = tomllib.load(file, parse_float=Decimal)  # weights are exactly as written
    except OSError as error:
        raise InvalidArgument(
            f"The schema file {str(path)!r} cannot be read: {error.strerror}; name a TOML file "
            "with lines such as [bounds] and delay = [-60, 180]."
        ) from None
    except (RecursionError, ValueError) as error:
        raise InvalidArgument(
            f"The schema file {str(path)!r} is not TOML: {error}; a line [bounds] and below it "
            "lines such as delay = [-60, 180] are."
        ) from None
    sections = {*SECTIONS, *LISTS} & content.keys()
    tables = {name: content.get(name, {}) for name in SECTIONS}
    if not sections or not all(isinstance(table, dict) for table in tables.values()):
        raise InvalidArgument(
            f"The schema file {str(path)!r} begins with {_first(content)} and has no table "
            "[bounds] with lines like x = [0, 1], nor [values] with lines like arm = ['a', 'b']; "
            "there may also be tables [scales], [weights] and [never_null], and lists of "
            "favourites, outcomes, segments and planned questions."
        )
    lists: dict[str, Any] = {name: read_list(name, content.get(name, [])) for name in LISTS}
    numbers = {
        section: {name: _doubles(each) for name, each in table.items()}
        for section, table in tables.items()
    }
    return read_sections(numbers)._replace(**lists)


def _doubles(numbers: object) -> object:
    """Numbers of a list or a table in a file: they are doubles everywhere else."""
    match numbers:
        case list():
            return [float(each) if isinstance(each, Decimal) else each for each in numbers]
        case dict():
            return {
                name: float(each) if isinstance(each, Decimal) else each
                for name, each in numbers.items()
            }
    return numbers


def shortened(name: str) -> str:
    """A name in quotes, cut where it is long."""
    return repr(name if len(name) <= 60 else name[:57] + "...")


def _first(content: Iterable[str]) -> str:
    return next((shortened(name) for name in content), "nothing")


def listed(names: Iterable[str]) -> str:
    """Names in quotes, in words."""
    *most, last = [shortened(name) for name in names] or ["none"]
    return f"{', '.join(most)} or {last}" if most else last
