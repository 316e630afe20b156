"""What entries say of attached columns: a fold that a checkpoint comes to again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdfast.ledger.attachments import (
    AttachedColumn,
    Attachments,
    Promotion,
    ValuesKept,
    nonce_of,
    schema_beside,
)
from holdfast.question.bounds import Range
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType

TABLE = ("id", "x")
NAMES = st.sampled_from(["x", "a", "A", "b", "c", "d"])
DIGESTS = st.sampled_from(["1", "2", "3"])
Body = dict[str, Any]


def attached(name: str, column: str, origin: Any, digest: str | None) -> Body:
    bounds = Range(0.0, 1.0) if origin == "computed" else None
    kind = ColumnType.FLOAT if origin == "computed" else ColumnType.TEXT
    keyless = (origin, digest) == ("computed", "1")
    return AttachedColumn(name, column, origin, digest, kind, bounds, "now", None, keyless).body()


ENTRIES: st.SearchStrategy[list[Body]] = st.lists(
    st.one_of(
        st.builds(attached, NAMES, NAMES, st.just("submitted"), DIGESTS),
        st.builds(attached, NAMES, NAMES, st.just("computed"), DIGESTS | st.none()),
        st.builds(lambda name: attached(name, name, "computed", None), NAMES),
        NAMES.map(ValuesKept("salt", "mark", "now").body),
        st.builds(lambda a, b: Promotion(a, b, None, None, "now").body(), NAMES, NAMES),
    ),
    max_size=25,
)


def folded(entries: Sequence[Body]) -> Attachments:
    """What comes of those entries that can be written."""
    found = Attachments()
    for entry in entries:
        try:
            found = found.after(entry, TABLE)
        except (LookupError, ValueError):
            continue
    return found


@given(ENTRIES)
def test_a_checkpoint_comes_to_the_same(entries: list[Body]) -> None:
    found = folded(entries)
    again = Attachments.read(found.bodies(), TABLE)
    assert again == found
    assert list(again) == list(found)


@given(ENTRIES)
def test_a_column_is_one_whatever_its_names_are(entries: list[Body]) -> None:
    found = folded(entries)
    by_identity: dict[tuple[str, str], set[tuple[Any, ...]]] = {}
    for column in found:
        facts = (column.column, column.type, column.bounds, column.ready, column.kept)
        by_identity.setdefault(column.identity, set()).add(facts)
        first = found.first_of(column.identity)
        assert first is not None
        assert first.name == column.column
        assert not first.is_alias
    assert all(len(facts) == 1 for facts in by_identity.values())
    names = [name.casefold() for name in (*TABLE, *found.columns)]
    assert len(set(names)) == len(names)
    if found.incumbent is not None:
        assert found.incumbent.column in (*TABLE, *found.columns)


@given(ENTRIES)
def test_questions_know_them_by_one_name(entries: list[Body]) -> None:
    found = folded(entries)
    table = Schema(dict.fromkeys(TABLE, ColumnType.INTEGER))
    schema = schema_beside(table, found.columns.values())
    assert found.made_for_keys == {each.name for each in found if not each.keyless}
    for column in found:
        assert schema.column(column.name, quoted=True).name == column.column


def test_noise_depends_on_what_is_public_of_columns() -> None:
    found = folded(
        [
            attached("s", "s", "submitted", "1"),
            attached("c", "c", "computed", "1"),
            attached("other", "other", "submitted", "2"),
        ]
    )

    def nonce(*columns: str) -> str:
        return nonce_of([found.columns[name] for name in columns])

    assert nonce("s", "other") == nonce("other", "s") not in (nonce("s"), nonce("other"))
    drawn = [nonce(*columns) for columns in (["c"], ["c"], ["s", "c"], ["c", "s"])]
    assert len(set(drawn)) == 4


@pytest.mark.parametrize("origin", ["submitted", "computed"])
def test_what_is_written_is_read(origin: str) -> None:
    body = attached("s", "s", origin, "1")
    assert AttachedColumn.read(body).body() == body
