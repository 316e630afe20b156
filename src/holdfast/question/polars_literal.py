"""Literals of Polars expressions, as Polars writes them down."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.expression import Expression

__all__ = ["Node", "Value", "Width", "literal", "members"]

Node: TypeAlias = Any  # a piece of Polars' JSON


class Width(IntEnum):
    """What Polars computes a value with; of two, the wider."""

    ANY = 0  # a whole literal, or no number
    NARROW = 1  # integers of fewer than 64 bits
    WHOLE = 2
    REAL = 3


class Value(NamedTuple):
    """An expression, None for NULL, and its width in Polars."""

    expression: Expression | None
    width: Width


def literal(inside: Node) -> Value:
    constant: tuple[Expression | None, Width]
    match inside:
        case {"Dyn": {"Int": int(whole)}}:
            constant = build.constant(whole), Width.ANY
        case {"Scalar": {"Int64": int(whole)}}:
            constant = build.constant(whole), Width.WHOLE
        case {"Dyn": {"Float": float(real)}} | {"Scalar": {"Float64": float(real)}}:
            constant = build.constant(real), Width.REAL
        case {"Scalar": {"Boolean": bool(value)} | {"String": str(value)}}:
            constant = build.constant(value), Width.NARROW
        case {"Scalar": {"Date": int(days)}}:
            constant = _moment(timedelta(days=1), days), Width.NARROW
        case {"Scalar": {"Datetime": [int(count), "Microseconds", None]}}:
            constant = _moment(timedelta(microseconds=1), count), Width.NARROW
        case {"Scalar": {"Null": "Null"}}:
            constant = None, Width.ANY
        case _:
            raise InvalidQuestion(
                "A literal of the Polars expression is not a finite number, text, a Boolean, a "
                "date or a time without zone; write the question as text."
            )
    return Value(*constant)


def _moment(unit: timedelta, count: int) -> Expression:
    try:
        return build.constant(datetime(1970, 1, 1) + unit * count)
    except OverflowError:
        raise InvalidQuestion("A date of the question is not in the calendar.") from None


def members(node: Node) -> list[Expression]:
    """The values of a list that was written into the expression."""
    import polars as pl

    match node:
        case {"Literal": {"Scalar": {"List": list(packed)}} | {"Series": list(packed)}}:
            values = pl.read_ipc_stream(bytes(packed)).to_series().to_list()
        case _:
            raise InvalidQuestion(
                "is_in looks a value up in a list that is written out; a column as the list would "
                "mix rows."
            )
    return [_member(value) for value in values]


def _member(value: object) -> Expression:
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    naive = isinstance(value, datetime) and value.tzinfo is None
    finite = isinstance(value, int | float) and math.isfinite(value)
    if naive or finite or isinstance(value, str):
        return build.constant(value)  # type: ignore[arg-type]
    raise InvalidQuestion(
        "is_in of a Polars expression looks for numbers, text, dates and times without zone, not "
        "for null; write the question as text."
    )
