"""What a new ledger says of its table, and a first question to ask it: for init and publish.

All of it is declared, or learnt from training rows. Of the protected rows only the types of columns
are known, and where these come from is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.holdout.holdout import Holdout
    from holdfast.question.columns import Schema

__all__ = ["first_question", "introduction"]


def introduction(holdout: Holdout, data: str, train: str | None, schema: str | None) -> str:
    """The columns, what is known of them, and where that is from."""
    from holdfast.data.source import csv_paths
    from holdfast.question.expression import ValueKind

    known = holdout.schema
    told = ["Columns:", *(f"  {line}" for line in str(known).splitlines())]
    if csv_paths(data):
        whence = f"{data} itself" if train is None else f"{train}, or of {data} where it has none"
        told.append(
            f"Types are those of {whence}, and public from now on: confirm them, or remove the "
            "ledger and say --flag COLUMN (0 and 1 mean no and yes) or --null TEXT (it stands for "
            "a missing value)."
        )
    if train is not None:
        told += _learnt(known, train, schema)
    if not known.bounds and any(kind.kind is ValueKind.NUMBER for kind in known.types.values()):
        told.append(
            "No bounds are declared: an average of numbers needs them (--schema FILE, or --bounds "
            "with the question); a condition, such as x > 0, does not."
        )
    fixed = holdout.opening.terms.design
    if fixed:
        told.append(
            f"Public by design: {', '.join(fixed.columns)}, with the number of rows of each "
            f"of {len(fixed.cells):,} combinations."
        )
    return "\n".join(told)


def _learnt(known: Schema, train: str, schema: str | None) -> list[str]:
    """What was taken from training rows, and what that means."""
    from holdfast.question.columns import Schema

    ranges = known.bounds.keys() - Schema(known.types).declare(schema).bounds.keys()
    names = [name for name in known.types if name in ranges or name in known.learnt]
    said = [f"Learnt from {train}: {', '.join(names)}."] if names else []
    if ranges:
        said.append(
            "Where a column is averaged, values outside its range count as the nearest end."
        )
    return said


def first_question(holdout: Holdout) -> str:
    """Something that can be asked, as it is typed; of columns that nobody knows already."""
    schema, terms = holdout.schema, holdout.opening.terms
    public = {terms.key, *(terms.public or ()), *terms.design.columns}
    names = [name for name in schema.types if name not in public] or list(schema.types)
    question = next(_questions(schema, names))
    return quote(question) if '"' in question else f'"{question}"'


def _questions(schema: Schema, names: Sequence[str]) -> Iterator[str]:
    """What can be asked of columns, by what is declared: the most telling first."""
    from holdfast.question.expression import ColumnType
    from holdfast.question.text import identifier, string

    typed = {name: (identifier(name), schema.types[name]) for name in names}
    yield from schema.favourites
    for column, kind in typed.values():
        if kind is ColumnType.BOOLEAN:
            yield f"avg({column})"
    for name in names:
        if name in schema.bounds:
            yield f"avg({identifier(name)})"
    for name in names:
        if name in schema.values:
            yield f"avg({identifier(name)} = {string(schema.values[name][0])})"
    for wanted in (ColumnType.FLOAT, ColumnType.INTEGER):  # whole numbers often only name things
        for column, kind in typed.values():
            if kind is wanted:
                yield f"avg({column} > 0)"
    for column, kind in typed.values():
        if kind is not ColumnType.OTHER:
            yield f"avg({column} is not null)"
    yield "avg(column is not null)"  # of these columns nothing can be asked
