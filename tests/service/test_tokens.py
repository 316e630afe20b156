"""Tokens, their caps, and the folder they are kept in."""

from __future__ import annotations

import stat
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument, LedgerUnavailable
from holdfast.service.folder import Folder, Settings, require_name
from holdfast.service.pacing import Attempts, step_after
from holdfast.service.running import first_token
from holdfast.service.tokens import CountedCall, Price, TokenStore, expiry_of
from tests.cli.run import holdfast
from tests.seam import token_writer
from tests.service.serving import table


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    folder = Folder.create(tmp_path / "served")
    return TokenStore(folder.tokens, folder.secret)


def test_what_is_kept_is_a_hash(store: TokenStore, tmp_path: Path) -> None:
    made = store.create("ada", "analyst", dataset="flights", questions=5)
    secret = made.text.split("_", 2)[2]
    kept = b"".join(path.read_bytes() for path in (tmp_path / "served").iterdir())
    assert secret.encode() not in kept
    assert store.verify(made.text) == made.token
    for wrong in (made.text[:-1], made.text + "x", made.text.replace("hf_", "hg_"), "", "hf__"):
        assert store.verify(wrong) is None
    other = store.create("bob", "viewer").text
    assert store.verify(f"hf_{made.token.id}_{other.split('_', 2)[2]}") is None
    store.close()


def test_another_service_knows_none_of_them(store: TokenStore, tmp_path: Path) -> None:
    """The hash is keyed: a copy of the file is of no use elsewhere."""
    made = store.create("ada", "custodian")
    store.close()
    elsewhere = Folder.create(tmp_path / "elsewhere")
    elsewhere.tokens.write_bytes((tmp_path / "served" / "service.tokens").read_bytes())
    copy = TokenStore(elsewhere.tokens, elsewhere.secret)
    assert copy.verify(made.text) is None
    copy.close()


def test_who_shows_a_token_waits_for_nobody_who_writes(store: TokenStore) -> None:
    """Requests are admitted by the loop that serves them all."""
    made = store.create("ada", "analyst", questions=5)
    found: list[object] = []
    with token_writer(store):
        shown = threading.Thread(target=lambda: found.append(store.verify(made.text)), daemon=True)
        shown.start()
        shown.join(10.0)
        assert found == [made.token]
    store.close()


def test_what_is_revoked_elsewhere_is_refused_from_then_on(
    store: TokenStore, tmp_path: Path
) -> None:
    folder = Folder(tmp_path / "served")
    made = store.create("ada", "analyst")
    assert store.verify(made.text) == made.token
    with closing(TokenStore(folder.tokens, folder.secret)) as another_worker:
        another_worker.revoke("ada")
    assert store.verify(made.text) is None
    store.close()


@pytest.mark.parametrize(
    "name", ["", "x" * 101, "two\nlines", "\0", "\ud800", "  ", "ada ", "0123456789abcdef"]
)
def test_names_are_looked_at(store: TokenStore, name: str) -> None:
    with pytest.raises(InvalidArgument):
        store.create(name, "analyst")
    store.close()


def test_a_name_is_one_persons_for_good(store: TokenStore) -> None:
    store.create("ada", "analyst")
    store.revoke("ada")
    with pytest.raises(InvalidArgument, match="choose another name"):
        store.create("ada", "analyst")
    with pytest.raises(InvalidArgument, match="there is no token 'bob'"):
        store.revoke("bob")
    store.close()


def call(key: str, asked: str = "") -> CountedCall:
    return CountedCall.of("flights", asked, key)


def price(questions: int) -> Price:
    return Price(questions, 0.0, 0)


def test_a_cap_holds_whoever_is_faster(store: TokenStore, tmp_path: Path) -> None:
    token = store.create("ada", "analyst", questions=10).token
    folder = Folder.create(tmp_path / "served")
    charged: list[str] = []

    def worker(place: int) -> None:
        mine = TokenStore(folder.tokens, folder.secret)
        charged.extend(mine.charge(token, call(f"{place} {n}"), price(1)) for n in range(10))
        mine.close()

    threads = [threading.Thread(target=worker, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert charged.count("now") == store.spent(token) == 10
    store.close()


def test_a_call_counts_once_and_what_was_not_answered_does_not(store: TokenStore) -> None:
    token = store.create("ada", "analyst", questions=3).token
    assert store.charge(token, call("a"), price(2)) == "now"
    assert store.charge(token, call("a"), price(2)) == "before"  # made again
    assert store.spent(token) == 2
    assert store.charge(token, call("b"), price(2)) == "over"
    store.settle(token, call("a"), price(1))
    assert store.charge(token, call("b"), price(2)) == "now"
    store.settle(token, call("b"), price(0))  # refused: asked again, it is counted again
    assert store.spent(token) == 1
    assert store.charge(token, call("a", asked="c"), price(2)) == "before"  # a key that was told
    assert store.charge(token, call("b"), price(2)) == "now"
    assert store.spent(token) == 3
    store.close()


@pytest.mark.parametrize("text", ["", "30", "d", "0d", "-1d", "30 d", "1y", "999999d"])
def test_ends_are_said_as_they_are_written(text: str) -> None:
    with pytest.raises(InvalidArgument, match="it must be as 30d, 12h or 45m"):
        expiry_of(text)


def test_the_first_start_makes_a_custodian_whoever_has_a_token_before(tmp_path: Path) -> None:
    """Analysts may have been given tokens already, and one of them any name."""
    folder = Folder.create(tmp_path / "served")
    store = TokenStore(folder.tokens, folder.secret)
    store.create("custodian", "analyst")
    store.create("of one", "custodian", dataset="flights")
    made = first_token(folder)
    assert made is not None
    assert (made.token.name, made.token.role) == ("custodian-2", "custodian")
    assert first_token(folder) is None
    store.close()


def test_the_start_says_what_to_do_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is given a token for a service that has no data set."""
    monkeypatch.setattr("holdfast.service.running.run", lambda *_, **__: None)
    words = ("serve", str(tmp_path / "served"), "--port", "0")
    where = f"--folder {tmp_path / 'served'}\n"
    assert f"Next: holdfast publish FILE {where}" in holdfast(*words).stdout
    table().write_parquet(tmp_path / "t.parquet")
    holdfast("publish", str(tmp_path / "t.parquet"), "--folder", str(tmp_path / "served"))
    assert f"Next: holdfast token create NAME --role analyst {where}" in holdfast(*words).stdout


def test_a_folder_is_its_owners(tmp_path: Path) -> None:
    folder = Folder.create(tmp_path / "a" / "served")
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    for file in folder.path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Folder.create(folder.path).secret == folder.secret
    assert folder.settings() == Settings()
    assert folder.names == []
    (tmp_path / "file").write_text("x")
    with pytest.raises(LedgerUnavailable, match="cannot be used"):
        Folder.create(tmp_path / "file")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[service]\nport = 99999", "port is 99999"),
        ("[service]\nhots = 'x'", r"says hots; under \[service\] it may say host"),
        ("[other]\nx = 1", "says other"),
        ("[service", "cannot be read"),
        ("[service]\nrelease_step = -1", "release_step is -1"),
    ],
)
def test_settings_are_looked_at(tmp_path: Path, text: str, match: str) -> None:
    folder = Folder.create(tmp_path)
    (tmp_path / "holdfast.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidArgument, match=match):
        folder.settings()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "-x", "a b", "é", "x" * 101, "a\n"])
def test_names_of_data_sets_are_safe_everywhere(name: str) -> None:
    with pytest.raises(InvalidArgument, match="letters, digits"):
        require_name(name)


@given(st.floats(1e-6, 1e3), st.floats(1e-3, 10.0))
def test_releases_are_on_public_steps(elapsed: float, step: float) -> None:
    """Not before it is done, on the ladder, and on its first rung that is late enough."""
    released = step_after(elapsed, step)
    rungs = [step * 2.0**place for place in range(60)]
    assert released in rungs
    assert released >= elapsed * (1 - 1e-12)
    assert released == step or released / 2 < elapsed * (1 + 1e-12)


def test_attempts_are_counted_for_a_while() -> None:
    now = [0.0]
    attempts = Attempts(2, 60.0, lambda: now[0], remembered=3)
    for _ in range(2):
        assert attempts.wait("eve") is None
        attempts.fail("eve")
    assert attempts.wait("eve") == 60.0
    assert attempts.wait("ada") is None
    now[0] = 61.0
    assert attempts.wait("eve") is None
    attempts.fail("eve")
    assert attempts.wait("eve") is None  # it begins again
    for stranger in range(10):
        attempts.fail(str(stranger))
    assert attempts.wait("eve") is None


def test_the_command_line_publishes_once_and_retires(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "hold.parquet")

    def typed(*words: str) -> Any:
        return holdfast(*words, cwd=tmp_path)

    made = typed("publish", "hold.parquet", "--name", "flights", "--tolerance", "0.1")
    assert made.returncode == 0, made.stderr
    assert "Next: holdfast token create NAME --role analyst --dataset flights" in made.stdout
    budget = typed("budget", "served/flights.ledger", "--json").stdout
    assert '"described_share": 0.4' in budget
    again = typed("publish", "hold.parquet", "--name", "other", "--tolerance", "0.1")
    assert again.returncode == 2
    assert "protects the same table" in again.stderr
    assert not (tmp_path / "served" / "other.ledger").exists()
    assert typed("publish", "hold.parquet", "--name", "flights").returncode == 2
    assert typed("publish", "hold.parquet", "--name", "../x").returncode == 2
    token = typed("token", "create", "ada", "--dataset", "nothing")
    assert (token.returncode, "there is flights" in token.stderr) == (2, True)
    made = typed("token", "create", "ada", "--questions", "5", "--expires", "30d")
    assert made.stdout.startswith("hf_")
    assert "ada: analyst, of all data sets, 5 questions" in typed("token", "list").stdout
    assert typed("token", "revoke", "ada").returncode == 0
    assert typed("token", "revoke", "nobody").returncode == 2
    ended = typed("retire", "served/flights.ledger", "--why", "full", "--successor", "next")
    assert ended.returncode == 0, ended.stderr
    asked = typed("ask", "served/flights.ledger", "avg(late)")
    assert (asked.returncode, "ask new ones of 'next'" in asked.stderr) == (3, True)
