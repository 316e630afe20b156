"""Witnesses: what was noted last is seen. Beside the ledger anything else is no witness; outside it
is refused, in a folder, in a branch and by HTTP."""

from __future__ import annotations

import shutil
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from examples.witness import Notes, server

from holdfast.errors import InvalidArgument, LedgerTampered, LedgerUnavailable
from holdfast.ledger.audit import audit
from holdfast.ledger.backup import backup, restore
from holdfast.ledger.git import Repository
from holdfast.ledger.store import Store, home_of
from holdfast.ledger.witness import TOKEN, WITNESS, OutsideWitness, Witness, outside_witness
from tests.ledger.started import opened, started

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


# Outside: a folder, a branch, a service.

FIRST, OTHER = "1" * 64, "2" * 64


class Place:
    """A place of notes: its address, and what is done to it behind the back of the witness."""

    def __init__(self, address: str, folder: Path, damage: Callable[[str], None]) -> None:
        self.address, self.folder, self.damage = address, folder, damage

    def witness(self, first: str = FIRST) -> OutsideWitness:
        witness = outside_witness(first)
        assert witness is not None
        return witness

    def lost(self) -> None:
        """It cannot be reached any more."""
        self.folder.rename(self.folder.with_suffix(".lost"))

    def there_again(self) -> None:
        """It can be reached again."""
        self.folder.with_suffix(".lost").rename(self.folder)


def _git(*words: str, given: bytes = b"") -> str:
    done = subprocess.run(["git", *words], input=given, capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.fixture(params=["folder", "git", "http"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    folder = tmp_path / "witness.git"

    def damaged_file(first: str) -> None:
        (folder / first).write_bytes(b"12 damaged")

    def damaged_commit(first: str) -> None:
        directory = f"--git-dir={folder}"
        blob = _git(directory, "hash-object", "-w", "--stdin", given=b"12 damaged")
        tree = _git(directory, "mktree", given=f"100644 blob {blob}\t{first}\n".encode())
        author = ("-c", "user.name=a", "-c", "user.email=a@localhost")
        commit = _git(directory, *author, "commit-tree", tree, "-m", "damaged")
        _git(directory, "update-ref", "refs/heads/notes", commit)

    monkeypatch.delenv(TOKEN, raising=False)
    if request.param == "git":
        _git("init", "--quiet", "--bare", str(folder))
        made, address = damaged_commit, f"git:{folder}/notes"
        monkeypatch.setenv(WITNESS, address)
        yield Place(address, folder, made)
        return
    folder.mkdir()
    if request.param == "folder":
        monkeypatch.setenv(WITNESS, str(folder))
        yield Place(str(folder), folder, damaged_file)
        return
    notes = server(folder, 0)
    thread = threading.Thread(target=notes.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv(WITNESS, f"http://127.0.0.1:{notes.server_port}/")
    yield WebPlace(notes, folder, damaged_file)
    notes.shutdown()
    notes.server_close()
    thread.join()


class WebPlace(Place):
    """Notes of a server, which can stop to answer."""

    def __init__(self, notes: object, folder: Path, damage: Callable[[str], None]) -> None:
        super().__init__("http://127.0.0.1", folder, damage)
        self.handler: type[Notes] = notes.RequestHandlerClass  # type: ignore[attr-defined]

    def lost(self) -> None:
        self.handler.token = "another"

    def there_again(self) -> None:
        self.handler.token = ""


def test_notes_outside_are_seen_and_go_back_only_where_a_ledger_is_restored(place: Place) -> None:
    witness = place.witness()
    assert witness.seen() is None
    for seq in (1, 9, 10):
        witness.note(seq, HASH)
        assert witness.seen() == (seq, HASH)
    witness.note(4, HASH)  # of one that was slower
    assert witness.seen() == (10, HASH)
    witness.note(4, HASH, restored=True)
    assert witness.seen() == (4, HASH)
    assert place.witness(OTHER).seen() is None
    place.witness(OTHER).note(7, HASH)
    assert (place.witness().seen(), place.witness(OTHER).seen()) == ((4, HASH), (7, HASH))


def test_another_entry_of_the_same_number_is_refused(place: Place) -> None:
    """Two copies of a ledger that both go on: the second is not shown what the first has not."""
    witness = place.witness()
    witness.note(7, HASH)
    with pytest.raises(LedgerTampered, match="saw another entry 7: a copy of this ledger is in"):
        witness.note(7, OTHER)
    assert witness.seen() == (7, HASH)
    witness.note(7, OTHER, restored=True)
    assert witness.seen() == (7, OTHER)


def test_a_damaged_note_outside_is_said_and_not_written_over(place: Place) -> None:
    place.witness().note(12, HASH)
    place.damage(FIRST)
    for use in (place.witness().seen, lambda: place.witness().note(13, HASH)):
        with pytest.raises(LedgerTampered, match=r"note .* is damaged, so that nobody knows"):
            use()


def test_a_rollback_is_found_and_nothing_shown_that_is_not_witnessed(
    place: Place, tmp_path: Path
) -> None:
    ledger = tmp_path / "here" / "t.ledger"
    ledger.parent.mkdir()
    started(home_of(ledger))
    backup(ledger, tmp_path / "b")
    with opened(home_of(ledger)) as holdout:
        place.lost()
        for _ in range(2):
            with pytest.raises(LedgerUnavailable, match=r"the witness .* cannot be used"):
                holdout.ask("avg(late)")
        place.there_again()
        holdout.ask("avg(late)")
    shutil.rmtree(ledger.parent)
    ledger.parent.mkdir()
    with pytest.raises(LedgerTampered, match="rolled back: the witness saw 6 entries, here are 4"):
        restore(tmp_path / "b", ledger, nothing_since=True)
    assert "a witness saw 6" in str(restore(tmp_path / "b", ledger).retired)
    assert all(finding.fine for finding in audit(ledger))


@pytest.mark.parametrize("place", ["git", "http"], indirect=True)
@pytest.mark.parametrize("newer", [9, 5])
def test_a_lost_race_is_run_again(
    place: Place, monkeypatch: pytest.MonkeyPatch, newer: int
) -> None:
    """Another ledger's note, and a note of the same ledger, come between reading and writing.

    A folder has a file for each ledger, and is written under the ledger's lock.
    """
    place.witness().note(4, HASH)
    owner: type = Repository if place.address.startswith("git:") else Notes
    name = "push" if owner is Repository else "do_PUT"
    plain, races = getattr(owner, name), []

    def overtaken(self: object, *words: object) -> None:
        monkeypatch.setattr(owner, name, plain)
        races.append(newer)
        others = threading.Thread(target=overtake)
        others.start()
        others.join()
        plain(self, *words)

    def overtake() -> None:
        place.witness(OTHER).note(3, HASH)
        place.witness().note(newer, HASH)

    monkeypatch.setattr(owner, name, overtaken)
    place.witness().note(7, HASH)
    assert races == [newer]
    assert place.witness().seen() == (max(newer, 7), HASH)
    assert place.witness(OTHER).seen() == (3, HASH)


def test_only_who_holds_the_lock_notes_what_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of others' entries: whoever reads beside it might note what is no longer the newest."""
    notes = tmp_path / "notes"
    notes.mkdir()
    monkeypatch.setenv(WITNESS, str(notes))
    ledger = tmp_path / "t.ledger"
    started(home_of(ledger))
    (note,) = notes.iterdir()
    with closing(Store.open(ledger)) as store, store.exclusive(1.0):
        note.unlink()
        reader = threading.Thread(target=store.news)
        reader.start()
        reader.join()
        assert not note.exists()
        entries = store.news()
        assert note.read_bytes().split()[0] == b"%d" % len(entries)


def test_a_folder_is_named_from_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for place in ("notes", "../notes", "~/notes"):
        monkeypatch.setenv(WITNESS, place)
        with pytest.raises(InvalidArgument, match=f"name it from the root, as in '{tmp_path}/"):
            outside_witness(FIRST)


def test_a_service_is_named_so_that_nobody_reads_along(monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("http://example.org/w", "https://ada:secret@example.org/w", "ftp://localhost/"):
        monkeypatch.setenv(WITNESS, address)
        with pytest.raises(InvalidArgument, match="names a service by https://"):
            outside_witness(FIRST)


def test_a_service_is_told_the_token_and_followed_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Elsewhere(Notes):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", f"/{OTHER}")
            self.end_headers()

    monkeypatch.setattr(Notes, "token", "secret")
    for handler, said, refusal in (
        (Notes, "secret", None),
        (Notes, "guessed", "GET is answered by 401"),
        (Elsewhere, "secret", "GET is answered by 302"),
    ):
        notes = server(tmp_path, 0)
        notes.RequestHandlerClass = type("Own", (handler,), {"folder": tmp_path})
        thread = threading.Thread(target=notes.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv(WITNESS, f"http://localhost:{notes.server_port}")
        monkeypatch.setenv(TOKEN, said)
        try:
            witness = outside_witness(FIRST)
            assert witness is not None
            if refusal is None:
                witness.note(3, HASH)
                assert witness.seen() == (3, HASH)
            else:
                with pytest.raises(LedgerUnavailable, match=refusal):
                    witness.seen()
        finally:
            notes.shutdown()
            notes.server_close()
            thread.join()
