"""Columns that arrive later: values for the rows of a holdout, by its key.

*Submitted* values were made without protected columns, so that their content is public and is who
they are. The file is on the disk before the entry that names it; whoever attaches the same again
gets the column that is there.

*Computed* values were made with protected columns: by a function behind the door, or elsewhere.
Who they are is declared, and durable before anything is computed; then the values are kept, and a
second entry says so. In between the column has a name and no values: whoever attaches it again
computes them, and until then no question about it is asked. Their content is never compared with
anything, nor with what is brought again under the same digest. *Scores* are the one exception: who
brings them again under the same name has both, and is told whether they are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from holdfast import require
from holdfast.data.attached import (
    ColumnValues,
    Computed,
    Fields,
    ScoreBounds,
    column_values,
    computed_values,
    declared_bounds,
    declared_digest,
    scores_in,
    share_differing,
    type_within,
)
from holdfast.data.sample import check_names
from holdfast.errors import InvalidArgument
from holdfast.holdout.batch import Body
from holdfast.holdout.desk import Desk
from holdfast.ledger.attachments import AttachedColumn, Promotion
from holdfast.ledger.chain import now
from holdfast.ledger.secret import keyed_print
from holdfast.ledger.transcript import is_keyless
from holdfast.question.bounds import Range
from holdfast.question.columns import no_column
from holdfast.question.declaring import bounds_pair
from holdfast.question.expression import ValueKind, identifier
from holdfast.question.functions import bind_function

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Bringing:
    """How values are brought: where they are in a table or file, and what is declared of them."""

    fields: Fields
    bounds: ScoreBounds | None = None
    missing: str = "refuse"
    digest: str | None = None
    scoring: Mapping[str, str] | None = None

    @property
    def is_bare(self) -> bool:
        """Whether nothing is said beside the name."""
        return self == Bringing(Fields(self.fields.name))


def attach_column(desk: Desk, values: Any, how: Bringing, asked_by: str | None) -> AttachedColumn:
    """The column of these values under a name; written unless it is there already."""
    name = checked_name(how.fields.name)
    if asked_by is not None:
        require.text("asked_by", asked_by)
    if isinstance(values, Computed):
        if not how.is_bare:
            raise InvalidArgument(
                "attach is told key, value, bounds, missing or digest of what holdfast.computed "
                "computes; say bounds and digest there, and leave the others out."
            )
        return _attach_function(desk, name, values, asked_by)
    if callable(values):
        raise InvalidArgument(
            "values is a function; say which columns it reads and its bounds: "
            "holdfast.computed(function, columns=[...], bounds=(low, high), digest=...)."
        )
    if how.digest is not None:
        declared_digest(how.digest)
    column = column_values(values, desk.protected.order, how.fields, missing=how.missing)
    if how.digest is None and how.scoring is None:
        return _attach_submitted(desk, name, column, how.bounds, asked_by)
    if how.bounds is None:
        raise InvalidArgument(
            "values come with a digest and without bounds; what was made with protected columns "
            "must have declared ones: bounds=(0, 1), bounds=bool (--bounds 0 1)."
        )
    bounds = declared_bounds(how.bounds)
    scores = scores_in(bounds, column)
    # Whoever declares what made them says that it was one program, for all rows alike.
    new = _new_computed(name, how.digest or f"name {name}", bounds, asked_by, keyless=True)
    if how.scoring is not None:
        new = replace(new, scoring=_with_keyed_items(desk, how.scoring))
        again = _brought_again(desk, new, scores, is_named_only=how.digest is None)
        if again is not None:
            return again
    return _attach_computed(desk, new, lambda: scores)


def _with_keyed_items(desk: Desk, scoring: Mapping[str, str]) -> dict[str, str]:
    """A scoring whose digest of the items tells nothing without the ledger's secret."""
    items = scoring.get("items")
    keyed = {} if items is None else {"items": keyed_print(desk.store.secret, items)}
    return {**scoring, **keyed}


def _brought_again(
    desk: Desk, new: AttachedColumn, scores: ColumnValues, *, is_named_only: bool
) -> AttachedColumn | None:
    """The column that has the name, where the same scores were brought under it before.

    What is known by the same digest is the same without a look; a name alone is not.
    """
    desk.refresh()
    same = desk.transcript.attached.columns.get(new.name)
    if same is None or not same.ready or not same.is_computed:
        return None
    if same.identity == new.identity and not is_named_only:
        return None
    if (same.bounds, same.scoring) == (new.bounds, new.scoring):
        if desk.protected.values(same).digest() == scores.digest():
            return same
        how = "with other scores"
    else:
        how = "and scored in another way"
    if not is_named_only:
        return None
    raise InvalidArgument(
        f"{new.name!r} was submitted before, {how}; choose another name for these. What has a "
        "digest (--digest) is known by that."
    )


def _attach_submitted(
    desk: Desk,
    name: str,
    found: ColumnValues,
    bounds: ScoreBounds | None,
    asked_by: str | None,
) -> AttachedColumn:
    declared, digest = _declared(name, found, bounds), found.digest()
    new = AttachedColumn(name, name, "submitted", digest, found.type, declared, now(), asked_by)
    return _entered(desk, new, lambda: desk.protected.keep(digest, found))


def _attach_function(
    desk: Desk, name: str, asked: Computed, asked_by: str | None
) -> AttachedColumn:
    """A column that a function computes; tried on invented rows before there is an entry."""
    desk.refresh()
    function, order = asked.named(name), desk.protected.order
    bind_function(function, desk.table.schema)
    rows = partial(desk.protected.needed, desk.transcript.attached_among(function.columns))
    rows()  # columns that it reads, and that are not there, are named before there is an entry
    keyless = is_keyless(desk.transcript, function.columns)
    new = _new_computed(name, asked.digest, asked.bounds, asked_by, keyless=keyless)
    return _attach_computed(desk, new, lambda: computed_values(rows(), order, function, asked.type))


def _new_computed(
    name: str, digest: str | None, bounds: Range | None, asked_by: str | None, *, keyless: bool
) -> AttachedColumn:
    type_ = type_within(bounds)
    return AttachedColumn(name, name, "computed", digest, type_, bounds, now(), asked_by, keyless)


def _attach_computed(
    desk: Desk, new: AttachedColumn, values: Callable[[], ColumnValues]
) -> AttachedColumn:
    """First who it is, durably; then its values, unless they are there."""
    column = _entered(desk, new).column

    def entry() -> list[Body]:
        if desk.transcript.attached.columns[column].ready:
            return []  # another process was as quick
        return [desk.protected.keep_computed(column, values()).body(column)]

    if not desk.transcript.attached.columns[column].ready:
        desk.tell(entry)
    return desk.transcript.attached.columns[new.name]


def _entered(
    desk: Desk, new: AttachedColumn, keep: Callable[[], None] = lambda: None
) -> AttachedColumn:
    """The column as the ledger has it; entered, after `keep`, unless it was there."""

    def entry() -> list[Body]:
        wanted = _wanted(desk, new)
        if wanted is None:
            return []  # another process was as quick
        keep()
        return [wanted.body()]

    desk.refresh()
    desk.transcript.account.require_in_use()
    if _wanted(desk, new) is not None:
        desk.tell(entry)
    return desk.transcript.attached.columns[new.name]


def promote_column(
    desk: Desk, name: str, why: str | None, asked_by: str | None, instead_of: str | None = None
) -> Promotion:
    """The column that others are compared with from now on: any of the table, or attached.

    Refused if `instead_of` is no longer the one that they were compared with.
    """
    for what, text in (("why", why), ("asked_by", asked_by)):
        if text is not None:
            require.text(what, text)
    desk.refresh()
    require.text("name", name)
    schema = desk.table.schema
    attached = desk.transcript.attached.columns.get(name)
    if name not in (*schema.types, *schema.aliases):
        raise InvalidArgument(f"promote names {no_column(name, (*schema.types, *schema.aliases))}")
    if attached is not None and not attached.ready:
        raise InvalidArgument(
            f"column {name!r} has no values yet, so that nothing can have been shown of it; attach "
            "it again in the same way first."
        )
    column = name if attached is None else attached.column
    new = Promotion(name, column, why, asked_by, now())

    def entry() -> list[Body]:
        last = desk.transcript.attached.incumbent
        if last is not None and last.name == name:
            return []
        if instead_of is not None and (last is None or last.name != instead_of):
            raise InvalidArgument(
                f"{name!r} was to be promoted instead of {instead_of!r}, and the incumbent is "
                f"{None if last is None else last.name!r} by now; compare it with that one. "
                "Nothing was promoted."
            )
        return [new.body()]

    desk.tell(entry)
    return desk.transcript.attached.promotions[-1]


def differing(desk: Desk, one: str, other: str) -> float:
    """The share of rows in which two submitted columns differ: public, since both are."""
    desk.refresh()
    attached = desk.transcript.attached.columns
    for name in (one, other):
        if name not in attached:
            what = no_column(name, attached) if attached else f"{name!r}, and nothing is attached."
            raise InvalidArgument(f"differing names {what}")
        if attached[name].is_computed:
            raise InvalidArgument(
                f"differing names {name!r}, which was computed from protected rows: in how many it "
                "differs is an answer about them. Ask for it, as for any other: "
                f"avg({identifier(one)} != {identifier(other)})."
            )
    return share_differing(*(desk.protected.values(attached[name]) for name in (one, other)))


def checked_name(name: str) -> str:
    """A name that a column can have."""
    require.text("name", name)
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidArgument(
            f"name has {len(name):,} characters; it must be printable text of at most "
            f"{_LONGEST_NAME}."
        )
    check_names([name])
    return name


def _declared(name: str, values: ColumnValues, bounds: ScoreBounds | None) -> Range | None:
    if bounds is None:
        return None
    if values.type.kind is not ValueKind.NUMBER:
        raise InvalidArgument(
            f"bounds are declared for column {name!r}, which is {values.type}; only numbers have "
            "bounds. Leave them out."
        )
    return bounds_pair(bounds)


def _wanted(desk: Desk, new: AttachedColumn) -> AttachedColumn | None:
    """What is to be entered; None if it is there, refused if the name or the bounds are others'."""
    attached = desk.transcript.attached
    searches = desk.transcript.dictionaries.named  # questions call their columns by these
    clash = attached.clash(new.name, (*desk.opening.schema.types, *searches))
    same, first = attached.columns.get(new.name), attached.first_of(new.identity)
    if clash is not None and not _is_again(same, new):
        what = "a column of the holdout, or a search" if same is None else _otherwise(same, new)
        raise InvalidArgument(
            f"the name {new.name!r} is taken: {clash!r} is {what}, and a name never means others; "
            f"choose another one for this {new.type} column."
        )
    is_declared = new.bounds is not None or new.is_computed
    if first is not None and is_declared and new.bounds != first.bounds:
        raise InvalidArgument(
            f"bounds is {_bounds_of(new)}, and the same column was attached as {first.name!r} with "
            f"{_bounds_of(first)}; declare those, or give others in the question."
        )
    if first is not None and new.keyless is not first.keyless:
        raise InvalidArgument(
            f"{new.name!r} is the column {first.name!r} by its {first.known_by}, and one of the "
            "two is made for the keys of rows; give what makes it another digest."
        )
    if same is not None:
        return None
    return new if first is None else replace(new, column=first.name, bounds=first.bounds)


def _bounds_of(column: AttachedColumn) -> str:
    """The declared bounds of a column, as they are written."""
    if column.bounds is None:
        return "bool" if column.is_computed else "none"
    return f"{tuple(column.bounds)}"


def _is_again(same: AttachedColumn | None, new: AttachedColumn) -> bool:
    """Whether it is the column that has the name.

    A function that is known by its name alone cannot be told from another one: once it has values,
    the name is taken.
    """
    if same is None or same.identity != new.identity:
        return False
    return same.digest is not None or not same.ready


def _otherwise(same: AttachedColumn, new: AttachedColumn) -> str:
    """How a column that has the name differs from one that is to be attached."""
    if same.identity == new.identity:
        return "attached without a digest, so that nobody can tell it from this one"
    if same.is_computed or new.is_computed:
        return f"attached as another one ({same.origin}, {same.known_by})"
    return "attached with other values"
