"""The chain: one text for the same facts, and every change of a text or its place is found."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument, LedgerTampered
from holdfast.ledger.chain import GENESIS, Row, canonical, link, seal, verify

facts = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inside, max_size=4)
    ),
    max_leaves=10,
)
bodies = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), facts, max_size=5)


def chained(*bodies: dict[str, Any]) -> list[Row]:
    rows: list[Row] = []
    head = GENESIS
    for seq, body in enumerate(bodies, start=1):
        text = canonical(body)
        head = link(head, text)
        rows.append((seq, text, head))
    return rows


ROWS = chained(*({"kind": "note/1", "number": number, "half": 0.5} for number in range(6)))


def test_the_text_and_its_hash_never_change() -> None:
    text = canonical({"b": 1, "a": [0.1, 1e-300, True, None], "ü": "line\nbreak"})
    assert text == '{"a":[0.1,1e-300,true,null],"b":1,"ü":"line\\nbreak"}'
    # printf '%064d\n{"b":1}' 0 | sha256sum
    assert link(GENESIS, '{"b":1}') == (
        "2f2f31d4d451f34e9a11e1f9ac19b2cc415c96f9751dbba5fad5b697b23d304f"
    )
    # printf 'holdfast head/1|3|abc' | openssl dgst -sha256 -hmac secret
    assert seal(b"secret", 3, "abc") == (
        "748626e94d38d62f7b45edc3abc3f93086ab193c750b49fa4bf27a263336266d"
    )


@given(bodies)
def test_written_and_read_it_is_the_same_text(body: dict[str, Any]) -> None:
    text = canonical(body)
    assert json.loads(text) == body
    assert canonical(json.loads(text)) == text
    assert canonical(dict(reversed(list(body.items())))) == text


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_what_json_cannot_say_is_not_written(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical({"number": number})


def test_half_a_character_is_not_written() -> None:
    with pytest.raises(InvalidArgument, match="lone surrogate"):
        canonical({"why": "\ud800"})


def test_an_unbroken_chain_ends_in_its_last_hash() -> None:
    assert verify(ROWS) == ROWS[-1][2]
    assert verify(ROWS[3:], ROWS[2][2], 3) == ROWS[-1][2]
    assert verify([]) == GENESIS


@given(place=st.integers(0, len(ROWS) - 1), data=st.data())
def test_a_changed_character_is_found(place: int, data: st.DataObject) -> None:
    seq, text, hashed = ROWS[place]
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(exclude_categories=["Cs"]).filter(lambda c: c != text[at]))
    changed = [*ROWS]
    changed[place] = (seq, text[:at] + other + text[at + 1 :], hashed)
    with pytest.raises(LedgerTampered, match=f"entry {seq} of the ledger does not follow"):
        verify(changed)


@given(place=st.integers(0, len(ROWS) - 1), at=st.integers(0, 63))
def test_a_changed_hash_is_found(place: int, at: int) -> None:
    seq, text, hashed = ROWS[place]
    changed = [*ROWS]
    other = "0" if hashed[at] != "0" else "1"
    changed[place] = (seq, text, hashed[:at] + other + hashed[at + 1 :])
    with pytest.raises(LedgerTampered, match=f"entry {seq} "):
        verify(changed)


@given(place=st.integers(0, len(ROWS) - 2))
def test_a_missing_entry_is_named(place: int) -> None:
    with pytest.raises(LedgerTampered, match=f"entry {place + 1} of the ledger is missing"):
        verify([row for row in ROWS if row[0] != place + 1])


@given(place=st.integers(0, len(ROWS) - 2))
def test_a_missing_entry_whose_place_is_filled_is_named(place: int) -> None:
    closed_up = [
        (seq - (seq > place + 1), text, hashed) for seq, text, hashed in ROWS if seq != place + 1
    ]
    with pytest.raises(LedgerTampered, match=f"entry {place + 1} of the ledger does not follow"):
        verify(closed_up)


@given(st.permutations(ROWS).filter(lambda rows: rows != ROWS))
def test_another_order_is_found(rows: list[Row]) -> None:
    first = next(place for place, row in enumerate(rows) if row != ROWS[place]) + 1
    with pytest.raises(LedgerTampered, match=f"entry {first} of the ledger is missing"):
        verify(rows)
    renumbered = [(seq, text, hashed) for seq, (_, text, hashed) in enumerate(rows, start=1)]
    with pytest.raises(LedgerTampered, match=f"entry {first} of the ledger does not follow"):
        verify(renumbered)


def test_an_added_entry_without_the_chain_is_found() -> None:
    with pytest.raises(LedgerTampered, match="entry 7 "):
        verify([*ROWS, (7, "{}", link(GENESIS, "{}"))])


@given(count=st.integers(0, 10**6), head=st.text("0123456789abcdef", min_size=64, max_size=64))
def test_a_seal_is_of_one_secret_one_count_and_one_head(count: int, head: str) -> None:
    made = seal(b"a" * 32, count, head)
    assert made != seal(b"b" * 32, count, head)
    assert made != seal(b"a" * 32, count + 1, head)
    assert made != seal(b"a" * 32, count, link(head, "{}"))
