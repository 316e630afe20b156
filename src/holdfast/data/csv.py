"""CSV files: types that are kept once known, and columns of 0 and 1 that are flags."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import polars as pl

from holdfast.data.plain import column_type
from holdfast.data.source import TableForm
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column
from holdfast.question.declaring import shortened
from holdfast.question.expression import ColumnType, identifier

# To look for types in all rows takes ten times as long as to read them. Where the types are known,
# the first rows say how times are written, and no more; else they say what all are compared with.
_FIRST_ROWS = 1_000
_OTHER_SEPARATORS = (";", "\t", "|")
_TIME, _TIME_OF_UTC = pl.Datetime("us"), pl.Datetime("us", "UTC")
_READ_AS: dict[ColumnType, pl.DataType] = {
    ColumnType.BOOLEAN: pl.Boolean(),
    ColumnType.INTEGER: pl.Int64(),
    ColumnType.FLOAT: pl.Float64(),
    ColumnType.TEXT: pl.String(),
    ColumnType.DATE: pl.Date(),
    ColumnType.DATETIME: _TIME,
}


def scan_csv(
    paths: Sequence[str], form: TableForm, known: Mapping[str, ColumnType]
) -> pl.LazyFrame:
    """The rows of the files; flags are still numbers there.

    A column whose type is `known` is read as that: whatever else it holds ends the reading. Of the
    others all rows are looked at, so that no later row can surprise a question.
    """
    if form.is_of_cells:
        texts = _texts(paths, form)
        wanted = {name: known.get(name) for name in texts.collect_schema()}
        if None in wanted.values():
            wanted |= {
                name: kind for name, kind in _written_types(texts, form).items() if not wanted[name]
            }
        return texts.with_columns(_read(name, kind, form) for name, kind in wanted.items() if kind)
    schema, is_usual = _schema(paths, form, known)
    times = [name for name, dtype in schema.items() if is_usual and dtype == _TIME]
    as_texts = {**schema, **dict.fromkeys(times, pl.String())}
    rows = pl.scan_csv(list(paths), schema=as_texts, **_reader_options(form))
    return rows.with_columns(map(_time_of_parts, times))


def misread(
    paths: Sequence[str], form: TableForm, known: Mapping[str, ColumnType]
) -> tuple[str, ColumnType] | None:
    """A column that cannot be read as what it is said to be, and what all rows look like."""
    if form.is_of_cells:
        kinds = _written_types(_texts(paths, form), form)
        wrong = [each for each, kind in kinds.items() if known.get(each, kind) is not kind]
        return (wrong[0], kinds[wrong[0]]) if wrong else None
    for name, dtype in _types_of_all(paths, form)[0].items():
        kind, wanted = column_type(dtype), _read_as(name, form, known)
        numbers = kind is ColumnType.INTEGER and wanted == pl.Float64()
        if name in known and not (numbers or wanted in (dtype, pl.String(), None)):
            return name, kind
    return None


def _schema(
    paths: Sequence[str], form: TableForm, known: Mapping[str, ColumnType]
) -> tuple[dict[str, pl.DataType], bool]:
    """How each column is read, and whether all its cells were seen to be written as usual."""
    if not known:
        inferred, is_usual = _types_of_all(paths, form)
        _require_separated(paths[0], list(inferred))
        return inferred, is_usual
    first = _inferred_types(paths, form, _FIRST_ROWS)
    schema = {
        name: dtype if column_type(dtype) is known.get(name) else _read_as(name, form, known)
        for name, dtype in first.items()
    }
    inferred = _types_of_all(paths, form)[0] if None in schema.values() else {}
    types = {name: inferred[name] if dtype is None else dtype for name, dtype in schema.items()}
    return types, False


def _require_separated(path: str, names: Sequence[str]) -> None:
    """Refuse a file of one column whose name looks like those of many."""
    separators = [each for each in _OTHER_SEPARATORS if each in names[0]]
    if len(names) == 1 and separators:
        raise InvalidArgument(
            f"the file {path!r} has one column, {shortened(names[0])}; are its cells separated by "
            f"{separators[0]!r}? Say so: separator={separators[0]!r} (--separator)."
        )


def _read_as(name: str, form: TableForm, known: Mapping[str, ColumnType]) -> pl.DataType | None:
    """How a column is read whose type is known; None where only all rows can say it."""
    if name in form.flags and known.get(name) is ColumnType.BOOLEAN:
        return pl.Float64()  # 0 and 1, however they are written
    return _READ_AS.get(known.get(name, ColumnType.OTHER))


def _inferred_types(
    paths: Sequence[str], form: TableForm, rows: int | None
) -> dict[str, pl.DataType]:
    """What the first rows, or all, look like."""
    scan = pl.scan_csv(
        list(paths), infer_schema_length=rows, try_parse_dates=True, **_reader_options(form)
    )
    return dict(scan.collect_schema())


# What is surely taken for this type where all rows are looked at, whatever else is: usual ways to
# write it, and not all of them. Of whole numbers and others together it is the latter.
_USUAL_TIME = r"\d{4}-\d\d-\d\d[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?"
_USUAL: Mapping[pl.DataType, str] = {
    pl.Int64(): r"^-?\d{1,18}$",
    pl.Float64(): r"^-?(?:\d{1,18}|\d*\.\d+(?:[eE]-?\d+)?|\d+[eE]-?\d+|\d+\.|inf)$|^NaN$",
    pl.Boolean(): r"^(?:true|false)$",
    pl.Date(): r"^\d{4}-\d\d-\d\d$",
    _TIME: rf"^{_USUAL_TIME}$",
    _TIME_OF_UTC: rf"^{_USUAL_TIME}Z$",
}
_WIDER: Mapping[pl.DataType, pl.DataType] = {pl.Int64(): pl.Float64()}


def _types_of_all(paths: Sequence[str], form: TableForm) -> tuple[dict[str, pl.DataType], bool]:
    """What all rows look like: what the first ones do, if all others are written as usual for it.

    Where something is not, each cell is tried as each type, as Polars does it; that is told, too.
    """
    first = _inferred_types(paths, form, _FIRST_ROWS)
    texts = pl.scan_csv(list(paths), infer_schema=False, **_reader_options(form))
    # A text stays one; a column without any value in the first rows may be anything.
    likely = {name: dtype for name, dtype in first.items() if dtype != pl.String()}
    unknown = [pl.col(name).is_null().all() for name in first if name not in likely]
    if unknown and any(texts.head(_FIRST_ROWS).select(unknown).collect().row(0)):
        return _inferred_types(paths, form, None), False
    while likely:
        if not _USUAL.keys() >= set(likely.values()):
            return _inferred_types(paths, form, None), False
        first |= likely
        are_usual = texts.select(_are_usual(*each) for each in likely.items())
        (usual,) = are_usual.collect(engine="streaming").rows(named=True)
        unusual = [name for name in likely if not usual[name]]
        likely = {name: _WIDER.get(likely[name], pl.String()) for name in unusual}
    return first, True


def _time_of_parts(name: str) -> pl.Expr:
    """A time that is written as usual; Polars takes four times as long for one with a fraction."""
    cell = pl.col(name)
    hours, minutes, seconds = (cell.str.slice(place, 2).cast(pl.Int64) for place in (11, 14, 17))
    fraction = cell.str.slice(20).str.pad_end(6, "0").cast(pl.Int64)
    clock = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction
    return cell.str.head(10).str.to_date("%Y-%m-%d").cast(_TIME) + clock.cast(pl.Duration("us"))


def _are_usual(name: str, dtype: pl.DataType) -> pl.Expr:
    """Whether all texts are written as usual for this type; of dates, whether there is that day."""
    cell = pl.col(name)
    written = cell.str.contains(_USUAL[dtype])
    if dtype in (pl.Date(), _TIME, _TIME_OF_UTC):
        written &= cell.str.head(10).str.to_date("%Y-%m-%d", strict=False).is_not_null()
    return (cell.is_null() | written).all()


# Numbers and dates that are not written as usual: read as texts, and then as what they are.


def _texts(paths: Sequence[str], form: TableForm) -> pl.LazyFrame:
    texts = pl.scan_csv(list(paths), infer_schema=False, **_reader_options(form))
    _require_separated(paths[0], list(texts.collect_schema()))
    return texts


def _written_types(texts: pl.LazyFrame, form: TableForm) -> dict[str, ColumnType]:
    """What all rows of each column can be read as: the first of these kinds that fits."""
    kinds = (ColumnType.INTEGER, ColumnType.FLOAT, ColumnType.BOOLEAN, ColumnType.DATE)
    names = list(texts.collect_schema())
    fitting = [
        (pl.col(name).is_null() | _fits(name, kind, form)).all().alias(f"{place} {kind}")
        for place, name in enumerate(names)
        for kind in kinds
    ]
    fits = texts.select(fitting).collect().row(0, named=True)
    return {
        name: next((kind for kind in kinds if fits[f"{place} {kind}"]), ColumnType.TEXT)
        for place, name in enumerate(names)
    }


def _fits(name: str, kind: ColumnType, form: TableForm) -> pl.Expr:
    """Whether a text is written as a value of this kind."""
    cell, sign = pl.col(name), re.escape(form.thousands or "")
    grouped = rf"\d{{1,3}}(?:{sign}\d{{3}})+|\d+" if sign else r"\d+"
    match kind:
        case ColumnType.INTEGER:
            return cell.str.contains(rf"^[+-]?(?:{grouped})$")
        case ColumnType.FLOAT:
            decimal = re.escape(form.decimal)
            return cell.str.contains(
                rf"^[+-]?(?:(?:{grouped})(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?$"
            )
        case ColumnType.BOOLEAN:
            return cell.is_in(["true", "false"])
    return _read(name, kind, form, strict=False).is_not_null()


def _read(name: str, kind: ColumnType, form: TableForm, *, strict: bool = True) -> pl.Expr:
    """A text as the value that it is written for; what is not written so ends the reading."""
    cell = pl.col(name)
    if kind in (ColumnType.INTEGER, ColumnType.FLOAT):
        if form.thousands is not None:
            cell = cell.str.replace_all(form.thousands, "", literal=True)
        cell = cell.str.replace(form.decimal, ".", literal=True)
        return cell.cast(_READ_AS[kind], strict=strict)
    if kind is ColumnType.BOOLEAN:
        return cell.replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean)
    if kind is ColumnType.DATE:
        return cell.str.to_date(form.date_format or "%Y-%m-%d", strict=strict)
    return cell


def _reader_options(form: TableForm) -> dict[str, Any]:
    return {"separator": form.separator, "null_values": list(form.null) or None}


# Columns of 0 and 1 that are conditions.


_Frame = TypeVar("_Frame", pl.DataFrame, pl.LazyFrame)
_NUMBERS = (ColumnType.INTEGER, ColumnType.FLOAT)


def flagged(frame: _Frame, flags: Sequence[str]) -> _Frame:
    """The frame with its flags as conditions; what is neither 0 nor 1 is missing there."""
    return frame.with_columns(_condition(name) for name in _numeric(frame, flags))


def require_zero_or_one(frame: pl.LazyFrame, flags: Sequence[str]) -> None:
    """Refuse flags that hold other numbers: to take them for missing would change answers."""
    names = _numeric(frame, flags)
    if not names:
        return
    numbers = {name: pl.col(name).cast(pl.Float64).fill_nan(None) for name in names}
    strange = [
        (numbers[name].is_not_null() & _condition(name).is_null()).any().alias(name)
        for name in names
    ]
    for name, is_strange in frame.select(strange).collect().row(0, named=True).items():
        if is_strange:
            raise InvalidArgument(
                f"flags names {name!r}, a column that holds other numbers than 0 and 1; leave it "
                f"out, and write a condition in questions: {identifier(name)} > 0."
            )


def require_flags(types: Mapping[str, ColumnType], flags: Sequence[str]) -> None:
    """Refuse flags that are no columns, or none that could be read as conditions."""
    for name in flags:
        if name not in types:
            raise InvalidArgument(f"flags names {no_column(name, types)}")
        if types[name] is not ColumnType.BOOLEAN:
            raise InvalidArgument(
                f"flags names {name!r}, a column of type {types[name]}; it must hold 0 and 1, in a "
                "file or a table in memory."
            )


def _numeric(frame: pl.DataFrame | pl.LazyFrame, flags: Sequence[str]) -> list[str]:
    """The flags that the frame has as numbers."""
    schema = frame.collect_schema()
    return [name for name in flags if name in schema and column_type(schema[name]) in _NUMBERS]


def _condition(name: str) -> pl.Expr:
    flag = pl.col(name)
    return pl.when(flag == 1).then(True).when(flag == 0).then(False).alias(name)
