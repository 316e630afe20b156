"""The witness: what was noted last is seen, and anything else in its place is no witness."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from holdfast.ledger.store import Witness

HASH = "0123456789abcdef" * 4
SAID = f"{7:>15} {HASH}".encode()
LINE = SAID + b" %08x\n" % zlib.crc32(SAID)


def test_the_newest_note_is_seen(tmp_path: Path) -> None:
    witness = Witness(tmp_path / "newest")
    assert witness.seen() is None
    for seq in (1, 9, 10, 10**14, 3):  # always of one length: nothing of an older note remains
        witness.note(seq, HASH)
        assert witness.seen() == (seq, HASH)


def test_a_witness_that_cannot_be_written_or_read_is_none(tmp_path: Path) -> None:
    witness = Witness(tmp_path)  # a folder
    witness.note(1, HASH)
    assert witness.seen() is None


@pytest.mark.parametrize(
    "content", [b"", LINE[:-1], LINE + b"\n", LINE * 2, LINE.upper(), SAID + b"\n"]
)
def test_another_text_is_no_witness(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "newest").write_bytes(LINE)
    assert Witness(tmp_path / "newest").seen() == (7, HASH)
    (tmp_path / "newest").write_bytes(content)
    assert Witness(tmp_path / "newest").seen() is None


def test_half_a_witness_is_none(tmp_path: Path) -> None:
    """As it is read while another process writes it."""
    witness = Witness(tmp_path / "newest")
    witness.note(9, "a" * 64)
    old = witness.path.read_bytes()
    witness.note(10, "b" * 64)
    new = witness.path.read_bytes()
    assert len(old) == len(new)
    assert witness.seen() == (10, "b" * 64)
    for place in range(14, len(new) - 9):  # before and behind there is nothing to be mixed
        witness.path.write_bytes(new[:place] + old[place:])
        assert witness.seen() is None
