"""Columns that arrive later: values that somebody brings for the rows of a holdout, by its key.

They were made without protected columns, so that their content is public and is who they are. The
file is on the disk before the entry that names it; whoever attaches the same again gets the column
that is there.
"""

from __future__ import annotations

from typing import Any

from holdfast import require
from holdfast.data.attached import ColumnValues, column_values, share_differing
from holdfast.data.brought import Fields
from holdfast.data.sample import check_names
from holdfast.errors import InvalidArgument
from holdfast.holdout.desk import Desk
from holdfast.holdout.wishes import Body
from holdfast.ledger.attachments import AttachedColumn
from holdfast.ledger.chain import now
from holdfast.question.bounds import Range
from holdfast.question.columns import bounds_pair, no_column
from holdfast.question.expression import ValueKind

__all__ = ["attach_submitted", "differing"]

_LONGEST_NAME = 200


def attach_submitted(
    desk: Desk,
    fields: Fields,
    values: Any,
    bounds: tuple[float, float] | None,
    missing: str,
    by: str | None,
) -> AttachedColumn:
    """The column of these values under a name; written unless it is there already."""
    name = _checked_name(fields.name)
    if by is not None:
        require.text("by", by)
    found = column_values(values, desk.protected.order, fields, missing=missing)
    declared = _declared(name, found, bounds)
    digest = found.digest()
    desk.refresh()
    desk.transcript.account.require_in_use()
    known = _known(desk, name, found, digest, declared)
    if known is not None:
        return known

    def entry() -> list[Body]:
        if _known(desk, name, found, digest, declared) is not None:
            return []  # another process was as quick
        first = desk.transcript.attached.first_of(digest)
        column = name if first is None else first.name
        range_ = declared if first is None else first.bounds
        desk.protected.keep(digest, found)
        new = AttachedColumn(name, column, "submitted", digest, found.type, range_, now(), by)
        return [new.body()]

    desk.tell(entry)
    return desk.transcript.attached.columns[name]


def differing(desk: Desk, one: str, other: str) -> float:
    """The share of rows in which two attached columns differ: public, since both are."""
    desk.refresh()
    attached = desk.transcript.attached.columns
    for name in (one, other):
        if name not in attached:
            what = no_column(name, attached) if attached else f"{name!r}, and nothing is attached."
            raise InvalidArgument(f"differing names {what}")
    return share_differing(*(desk.protected.values(attached[name]) for name in (one, other)))


def _checked_name(name: str) -> str:
    require.text("name", name)
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidArgument(
            f"name has {len(name):,} characters; it must be printable text of at most "
            f"{_LONGEST_NAME}."
        )
    check_names([name])
    return name


def _declared(name: str, values: ColumnValues, bounds: tuple[float, float] | None) -> Range | None:
    if bounds is None:
        return None
    if values.type.kind is not ValueKind.NUMBER:
        raise InvalidArgument(
            f"bounds are declared for column {name!r}, which is {values.type}; only numbers have "
            "bounds. Leave them out."
        )
    return bounds_pair(bounds)


def _known(
    desk: Desk, name: str, values: ColumnValues, digest: str, bounds: Range | None
) -> AttachedColumn | None:
    """The column, if it is attached under this name already; refused if the name is another's."""
    attached = desk.transcript.attached
    taken = attached.taken(name, desk.opening.schema.types)
    same = attached.columns.get(name)
    if taken is not None and (same is None or same.digest != digest):
        what = "attached with other values" if same else "a column of the holdout"
        raise InvalidArgument(
            f"the name {name!r} is taken: {taken!r} is {what}, and a name never means others; "
            f"choose another one for this {values.type} column."
        )
    first = attached.first_of(digest)
    if first is not None and bounds is not None and bounds != first.bounds:
        said = "none" if first.bounds is None else f"{tuple(first.bounds)}"
        raise InvalidArgument(
            f"bounds is {tuple(bounds)}, and the same values were attached as {first.name!r} with "
            f"{said}; leave bounds out, or give them in the question."
        )
    return same
