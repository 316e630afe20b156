"""A ledger in PostgreSQL: what is refused, where its secret is, and everything that can break."""

from __future__ import annotations

import json
import pickle
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

import holdfast
from holdfast.data import open_sample
from holdfast.data.database import DatabaseUrl
from holdfast.data.sample import Moments
from holdfast.errors import InvalidArgument, LedgerTampered, LedgerUnavailable, SecondLedger
from holdfast.ledger.audit import audit
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.postgres import PostgresKeeper
from holdfast.ledger.postgres_session import LedgerSession, require_durable
from holdfast.ledger.store import Store, home_of
from holdfast.question.row import RowValue
from tests.cli.run import holdfast as command
from tests.holdout.tables import BOUNDS, table
from tests.ledger import workers
from tests.ledger.children import ROWS, ask_batch, create, play, resumed, total
from tests.ledger.proxy import Proxy, proxy_to
from tests.ledger.reading import folded
from tests.mechanisms.fake import Sums
from tests.postgres import server
from tests.seam import (
    PIPELINE_RESULTS,
    keeper_of,
    put_sample,
    real,
    store_of,
    transcript_of,
)

pytestmark = pytest.mark.long

SAID: dict[str, Any] = {"tolerance": 0.3, "questions": 20, "schema": BOUNDS, "described": "off"}


@pytest.fixture
def home(tmp_path: Path) -> LedgerHome:
    """A new ledger of the table that is a function."""
    found = home_of(server().ledger(), tmp_path / "secret")
    create(found)
    return found


# Addresses ---------------------------------------------------------------------------------------


def test_no_password_is_shown(tmp_path: Path) -> None:
    address = "postgresql://ann:sw%40rd@127.0.0.1:1/d?password=f%C3%AFsh&ledger=l&sslpassword=x%20y"
    home = home_of(address, tmp_path / "secret")
    with pytest.raises(LedgerUnavailable) as raised:
        home.is_there()
    texts = [str(home), repr(home), str(raised.value), repr(raised.value)]
    for secret in ("sw%40rd", "sw@rd", "f%C3%AFsh", "fïsh", "x%20y", "x y"):
        assert all(secret not in text for text in texts)
    assert str(home) == "postgresql://ann@127.0.0.1:1/d?ledger=l"
    assert "check that its server runs, can be reached and lets this user in" in texts[2]
    assert raised.value.__cause__ is None
    assert home_of(home.address) == replace(home, secret=None)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://ann@host/d", r"names a database and no ledger in it; add its name"),
        ("postgresql://ann@host/d?ledger=", r"add its name: \?ledger=NAME"),
        ("postgresql://ann:fi/zq@host/d?ledger=l", r"no address of a database.* as %2F"),
        ("postgresql://ann:fi#zq@host/d?ledger=l", r"no address of a database"),
        ("postgresql://[ann:zq@host/d?ledger=l", r"no address of a database"),
    ],
)
def test_what_is_no_address_is_refused_without_being_quoted(address: str, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words) as raised:
        home_of(address)
    assert "zq" not in str(raised.value)


def test_names_are_only_names(tmp_path: Path) -> None:
    name = f"""it's "é"; DROP SCHEMA holdfast CASCADE; -- %s %(id)s \\ {uuid.uuid4().hex}"""
    for place, each in enumerate((name, name + "2")):
        home = home_of(f"{server().url()}&ledger={quote(each)}", tmp_path / str(place))
        with holdfast.open(table(), ledger=home.address, secret=tmp_path / str(place), **SAID) as h:
            assert h.ask("avg(late)").number == 1
            assert h.opening.name == each
            assert all(finding.fine for finding in audit(home))


def test_a_database_without_ledgers_has_none(tmp_path: Path) -> None:
    with server().database() as database:
        home = home_of(server().ledger(database), tmp_path / "secret")
        assert not home.is_there()
        with pytest.raises(InvalidArgument, match="there is no ledger"):
            holdfast.open(ledger=home.address)
        create(home)
        assert len(folded(home).answers) == 0
        with closing(server().connected(database)) as connection:
            connection.execute("DROP TABLE holdfast.entry")
        with pytest.raises(LedgerTampered, match="is damaged"):
            Store.open(home)


# The secret --------------------------------------------------------------------------------------


def test_the_secret_is_a_file_of_the_user_and_in_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with server().database() as database:
        address = server().ledger(database)
        with holdfast.open(table(), ledger=address, **SAID) as holdout:
            holdout.ask("avg(late)")
        (secret,) = (tmp_path / "config" / "holdfast").glob("*-secret")
        assert secret.stat().st_mode & 0o777 == 0o600
        content = secret.read_bytes()
        with closing(server().connected(database)) as connection:
            tables = connection.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'holdfast'"
            ).fetchall()
            rows = "".join(
                str(connection.execute(f"SELECT t::text FROM holdfast.{name} t").fetchall())
                for (name,) in tables
            )
        assert len(tables) >= 5
        assert content.hex() not in rows
        with holdfast.open(ledger=address) as holdout:
            assert holdout.ask("avg(late)").status == "repeated"
        secret.unlink()
        with pytest.raises(LedgerUnavailable, match="is missing"):
            holdfast.open(ledger=address)


def test_no_other_file_is_taken_for_the_secret(tmp_path: Path) -> None:
    with server().database() as database:
        address = server().ledger(database)
        create(home_of(address, tmp_path / "secret"))
        with closing(server().connected(database)) as connection:
            connection.execute("UPDATE holdfast.ledger SET id = '../../etc/x'")
        with pytest.raises(LedgerTampered, match=r"the id of the ledger .* was changed"):
            holdfast.open(ledger=address)


def test_a_secret_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"of another ledger")
    address = server().ledger()
    with pytest.raises(InvalidArgument, match="there is a secret"):
        holdfast.open(table(), ledger=address, secret=tmp_path / "secret", **SAID)
    assert (tmp_path / "secret").read_bytes() == b"of another ledger"
    assert not home_of(address).is_there()


# Other ledgers -----------------------------------------------------------------------------------


def test_a_second_ledger_in_the_same_database_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    with server().database() as database:
        first, second = (server().ledger(database) for _ in range(2))
        address = first.replace("postgres@", "postgres:swordfish@")
        holdfast.open(table(), ledger=address, **SAID).close()
        with pytest.warns(SecondLedger, match=re.escape(first)):
            holdfast.open(table(), ledger=second, **SAID).close()
        holdfast.open(table(seed=2), ledger=server().ledger(database), **SAID).close()
        lines = (tmp_path / "state" / "ledgers").read_text().splitlines()
        known = [line.partition("\t")[2] for line in lines]
        assert known[:2] == [first, second]
        listed = command("list", "--json", cwd=tmp_path).stdout
        assert {each["ledger"] for each in json.loads(listed)} == set(known)
        assert "swordfish" not in listed + "".join(known)


def test_a_wrong_password_is_told_and_not_shown(tmp_path: Path) -> None:
    """A role that needs a password, on a server that asks nobody else for one."""
    role = f"guarded_{uuid.uuid4().hex}"
    with closing(server().connected()) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'right'")
        ((rules,),) = connection.execute("SHOW hba_file").fetchall()
        before = Path(rules).read_text()
        Path(rules).write_text(f"local all {role} scram-sha-256\n{before}")
        connection.execute("SELECT pg_reload_conf()")
        address = server().ledger().replace("postgres@", f"{role}:swordfish@")
        home = home_of(address, tmp_path / "secret")
        for _ in range(200):  # the server reads its rules when it comes to it
            with suppress(LedgerUnavailable):
                home.is_there()
                continue
            break
        with pytest.raises(LedgerUnavailable, match="password authentication failed") as refused:
            home.is_there()
        assert "swordfish" not in str(refused.value)
        with pytest.raises(InvalidArgument, match="password authentication failed") as raised:
            open_sample(address.partition("&ledger")[0], table="t")
        assert "swordfish" not in str(raised.value)


def test_who_may_only_read_looks_and_nobody_needs_to_delete(tmp_path: Path) -> None:
    looker, worker = (f"{name}_{uuid.uuid4().hex}" for name in ("looker", "worker"))
    with server().database() as database, closing(server().connected(database)) as connection:
        address = server().ledger(database)
        create(home_of(address, tmp_path / "secret"))
        for role, rights in ((looker, "SELECT"), (worker, "SELECT, INSERT, UPDATE")):
            connection.execute(f"CREATE ROLE {role} LOGIN")
            connection.execute(f"GRANT USAGE ON SCHEMA holdfast TO {role}")
            connection.execute(f"GRANT {rights} ON ALL TABLES IN SCHEMA holdfast TO {role}")
        home = home_of(address.replace("postgres@", f"{worker}@"), tmp_path / "secret")
        with resumed(home) as holdout:
            play(holdout, 3)
            store_of(holdout).keep_file("x", b"content")
        home = home_of(address.replace("postgres@", f"{looker}@"), tmp_path / "secret")
        assert all(finding.fine for finding in audit(home))
        refused = pytest.raises(LedgerUnavailable, match="permission denied")
        with resumed(home) as holdout, refused:
            ask_batch(holdout, 3)
        assert folded(home).account.looks == 4
        for role in (looker, worker):
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")


# Servers that may forget -------------------------------------------------------------------------


def settings(**other: Any) -> Any:
    """A connection to a server with these settings."""
    usual = {"fsync": "on", "commit": "on", "pages": "on", "standby": False, "encoding": "UTF8"}
    row = [*(usual | other).values(), 7]
    return SimpleNamespace(
        info=SimpleNamespace(backend_pid=other.get("backend", 7)),
        execute=lambda _: SimpleNamespace(fetchall=lambda: [[*row[:5], 7]]),
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"fsync": "off"}, r"fsync=off, which may forget what it confirmed; set it to on"),
        ({"commit": "off", "pages": "off"}, r"synchronous_commit=off and full_page_writes=off"),
        ({"standby": True}, r"is on a standby"),
        ({"encoding": "LATIN1"}, r"whose encoding is LATIN1; use one in UTF8"),
        ({"backend": 8}, r"behind a connection pooler.*; connect to the server itself"),
    ],
)
def test_a_server_that_may_forget_is_refused(said: dict[str, Any], words: str) -> None:
    url = DatabaseUrl.read("ledger", "postgresql://host/d?ledger=l")
    require_durable(url, settings(commit="remote_apply"))
    with pytest.raises(LedgerUnavailable, match=words + r".*Nothing was written\."):
        require_durable(url, settings(**said))


def test_settings_of_a_real_database_are_found(tmp_path: Path) -> None:
    with server().database() as database:
        with closing(server().connected()) as connection:
            connection.execute(f"ALTER DATABASE {database} SET synchronous_commit = off")
        home = home_of(server().ledger(database), tmp_path / "secret")
        with pytest.raises(LedgerUnavailable, match="synchronous_commit=off"):
            create(home)
        assert not (tmp_path / "secret").exists()
    latin = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    with server().database(latin) as database:
        home = home_of(server().ledger(database), tmp_path / "secret")
        with pytest.raises(LedgerUnavailable, match="encoding is LATIN1"):
            create(home)


def test_tables_of_a_newer_version_are_left_alone(tmp_path: Path) -> None:
    with server().database() as database:
        home = home_of(server().ledger(database), tmp_path / "secret")
        create(home)
        with closing(server().connected(database)) as connection:
            connection.execute("UPDATE holdfast.version SET version = 99")
        with pytest.raises(LedgerUnavailable, match=r"of version 99, .* knows them up to \d+; upd"):
            Store.open(home)


# Workers that die --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("secrets")


@pytest.fixture(scope="module")
def killed(secrets: Path) -> tuple[dict[str, LedgerHome], dict[str, Any]]:
    """A ledger for each point, all with one secret; and how its worker ended."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.ledger.store.secrets.token_bytes", lambda size: b"s" * size)
        homes = {
            point: home_of(server().ledger(), secrets / str(place))
            for place, point in enumerate(workers.POINTS)
        }
        for home in homes.values():
            create(home)
        create(home_of(secrets / "whole.ledger"))
    addresses = [home.address for home in homes.values()]
    return homes, workers.run("points", secrets, addresses)


@pytest.mark.parametrize("point", workers.POINTS)
def test_a_worker_that_is_killed_leaves_what_the_next_one_finishes(
    killed: tuple[dict[str, LedgerHome], dict[str, Any]], secrets: Path, point: str
) -> None:
    homes, ends = killed
    home, reached = homes[point], workers.POINTS.index(point)
    assert ends[point] == "killed"
    with closing(Store.open(home)) as store, store.exclusive(30.0):
        left = folded(home)  # the server has noticed that its client is gone
    reserved, settled = reached >= 1, reached >= workers.POINTS.index("settle sent")
    assert left.count == 1 + 2 * workers.BATCH + reserved + settled
    assert (left.pending is not None) == (reserved and not settled)
    with resumed(home_of(secrets / "whole.ledger")) as holdout:
        play(holdout, workers.BATCH + 3)
        whole = transcript_of(holdout).answers
    with resumed(home) as holdout:
        play(holdout, workers.BATCH + 2)
    found = folded(home).answers
    assert [(each.question, each.value, each.leaked) for each in found] == [
        (each.question, each.value, each.leaked) for each in whole[: len(found)]
    ]


def test_two_processes_race_for_the_last_question(tmp_path: Path) -> None:
    homes = [server().ledger() for _ in range(workers.ROUNDS)]
    found = workers.run("race", tmp_path, homes)
    assert found.pop("ends") == ["exit 0", "exit 0"]
    assert list(found.values()) == [1] * workers.ROUNDS
    for place, address in enumerate(homes):
        assert folded(home_of(address, tmp_path / str(place))).account.asked == 1


# Connections that break --------------------------------------------------------------------------


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with proxy_to(server().socket) as found:
        yield found


def by_proxy(proxy: Proxy, home: LedgerHome) -> LedgerHome:
    return home_of(proxy.url(home.stem), home.beside("secret"))


def cut_when_sent(proxy: Proxy, what: str, arrives: bool) -> None:
    proxy.word, proxy.arrives = what.encode(), arrives


BREAKS = {
    "lock": ("pg_try_advisory_lock", 5),
    "reserve": ("reserve/2", 5),
    "settle": ("settle/2", 6),
    "unlock": ("pg_advisory_unlock", 7),
}


@pytest.mark.parametrize("arrives", [False, True], ids=["lost", "arrives"])
@pytest.mark.parametrize("what", BREAKS)
def test_a_connection_cut_at(proxy: Proxy, home: LedgerHome, what: str, arrives: bool) -> None:
    word, count = BREAKS[what]
    with resumed(by_proxy(proxy, home)) as holdout:
        play(holdout, 2)
        cut_when_sent(proxy, word, arrives)
        if what in ("lock", "unlock"):  # nothing hangs on it yet, or any more: it is made again
            ask_batch(holdout, 2)
        else:
            with pytest.raises(LedgerUnavailable, match="cannot be used") as raised:
                ask_batch(holdout, 2)
            assert "swordfish" not in str(raised.value)
            with closing(Store.open(home)) as store, store.exclusive(30.0):
                assert folded(home).count == count + arrives
        play(holdout, 4)  # the same holdout goes on by another connection
    answers = folded(home).answers
    assert [each.look for each in answers] == list(range(1, len(answers) + 1))
    assert folded(home).abandoned == []
    assert all(finding.fine for finding in audit(home))


@pytest.mark.parametrize("what", ["reserve", "settle"])
def test_a_server_that_is_stopped_at(proxy: Proxy, home: LedgerHome, what: str) -> None:
    """Whatever was on its way is lost, and nobody is let in until it runs again."""
    word, count = BREAKS[what]
    with resumed(by_proxy(proxy, home)) as holdout:
        play(holdout, 2)
        cut_when_sent(proxy, word, arrives=False)
        proxy.stopped = True
        for _ in range(2):
            with pytest.raises(LedgerUnavailable, match="check that its server runs"):
                ask_batch(holdout, 2)
        with pytest.raises(LedgerUnavailable, match="Nothing that was recorded is lost"):
            _ = holdout.budget
        assert folded(home).count == count
        proxy.stopped = False
        play(holdout, 4)
    assert all(finding.fine for finding in audit(home))


def while_scanning(holdout: Any, act: Callable[[], None]) -> None:
    """Let something happen during the next scan."""

    def scanned(row: RowValue) -> Moments:
        put_sample(holdout, Sums(ROWS, total))
        act()
        return total(row)

    put_sample(holdout, Sums(ROWS, scanned))


@pytest.mark.parametrize("stopped", [False, True])
def test_a_connection_cut_while_scanning(proxy: Proxy, home: LedgerHome, stopped: bool) -> None:
    def act() -> None:
        proxy.stopped = stopped
        proxy.cut()

    with resumed(by_proxy(proxy, home)) as holdout:
        while_scanning(holdout, act)
        for _ in range(1 + stopped):
            with pytest.raises(LedgerUnavailable):
                holdout.ask("avg(x > 1)")
        proxy.stopped = False
        assert folded(home).pending is not None
        assert holdout.ask("avg(x > 1)").status == "repeated"
        assert folded(home).account.asked == 1


def test_a_worker_whose_lock_was_taken_while_it_scanned_writes_nothing(home: LedgerHome) -> None:
    with resumed(home) as holdout, resumed(home) as successor:
        keeper = keeper_of(store_of(holdout))
        assert isinstance(keeper, PostgresKeeper)
        backend = keeper.session.backend

        def taken() -> None:
            with closing(server().connected()) as connection:
                connection.execute("SELECT pg_terminate_backend(%s, 10000)", [backend])
            assert successor.ask("avg(x > 2)").number == 2  # and finishes the first

        while_scanning(holdout, taken)
        with pytest.raises(LedgerUnavailable):
            holdout.ask("avg(x > 1)")
        assert holdout.ask("avg(x > 1)").status == "repeated"
    assert [each.question for each in folded(home).answers] == ["avg(x > 1)", "avg(x > 2)"]


def test_a_worker_that_only_lost_its_lock_is_stopped_by_the_fence(home: LedgerHome) -> None:
    """Its connection lives, as it may behind something that hands connections out."""
    with resumed(home) as holdout, resumed(home) as successor:
        keeper = keeper_of(store_of(holdout))
        assert isinstance(keeper, PostgresKeeper)

        def lost() -> None:
            keeper.session.write("SELECT pg_advisory_unlock_all()", [])
            assert successor.ask("avg(x > 2)").number == 2

        while_scanning(holdout, lost)
        with pytest.raises(LedgerUnavailable, match="no longer ends with entry 2"):
            holdout.ask("avg(x > 1)")
        assert holdout.ask("avg(x > 1)").status == "repeated"
    assert folded(home).account.asked == 2


def test_a_statement_in_another_backend_writes_nothing(home: LedgerHome) -> None:
    with resumed(home) as holdout, resumed(home) as other:
        keeper, another = keeper_of(store_of(holdout)), keeper_of(store_of(other))
        assert isinstance(keeper, PostgresKeeper)
        assert isinstance(another, PostgresKeeper)
        session = keeper.session

        def swapped() -> None:  # as a pooler would, between two statements
            patch.setattr(type(session), "backend", session.backend)
            keeper.session = another.session

        with pytest.MonkeyPatch.context() as patch, closing(session):
            while_scanning(holdout, swapped)
            with pytest.raises(LedgerUnavailable, match="no longer ends with entry 2"):
                holdout.ask("avg(x > 1)")


def test_nothing_is_settled_once_the_server_may_forget(home: LedgerHome) -> None:
    """A server that reads its settings anew has them for the connections that are there, too."""
    with resumed(home) as holdout, resumed(home) as successor:
        keeper = keeper_of(store_of(holdout))
        assert isinstance(keeper, PostgresKeeper)
        session = keeper.session

        def told_to_forget() -> None:
            session.write("SET synchronous_commit = off", [])

        while_scanning(holdout, told_to_forget)
        with pytest.raises(LedgerUnavailable, match=r"synchronous_commit=off.*Nothing was written"):
            holdout.ask("avg(x > 1)")
        assert folded(home).account.asked == 0
        assert successor.ask("avg(x > 2)").number == 2  # and finishes the first
    assert [each.question for each in folded(home).answers] == ["avg(x > 1)", "avg(x > 2)"]


def test_readers_and_pickles_come_back_after_a_cut(proxy: Proxy, tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "t.parquet")
    address, secret = server().ledger(), tmp_path / "secret"
    name = address.rpartition("=")[2]
    with holdfast.open(
        str(tmp_path / "t.parquet"), ledger=proxy.url(name), secret=secret, **SAID
    ) as holdout:
        first = holdout.ask("avg(late)")
        proxy.cut()
        assert holdout.budget.asked == 1
        assert len(holdout.ledger) == 1
        with pickle.loads(pickle.dumps(holdout)) as again:
            assert again.ask("avg(late)").receipt == first.receipt
        assert "swordfish" not in json.dumps(holdout.ledger.to_dicts()) + holdout.explain()
    for path in tmp_path.iterdir():
        assert b"swordfish" not in path.read_bytes()


# Interrupted in the driver ------------------------------------------------------------------------


def test_an_interrupt_while_the_lock_goes_back_leaves_no_half_of_a_pipeline(
    home: LedgerHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver raises an error of its own there, and what came next was waited for for ever."""
    with resumed(home) as holdout:
        holdout.ask("avg(x > 1)")  # its lock goes back by itself
        fetch = real(PIPELINE_RESULTS)

        def struck(_: object, *, flush: bool) -> Iterator[Any]:
            monkeypatch.setattr(PIPELINE_RESULTS, fetch)
            yield from ()
            raise KeyboardInterrupt  # the end is on its way, and what it says is not read

        monkeypatch.setattr(PIPELINE_RESULTS, struck)
        with pytest.raises(KeyboardInterrupt):
            holdout.ask("avg(x > 2)")
        assert holdout.ask("avg(x > 2)").number == 2


def test_a_server_that_is_lost_while_a_file_is_missing_is_no_missing_file(
    home: LedgerHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody handles, and goes on without, is no interrupt."""
    with resumed(home) as holdout:
        keeper, leave = keeper_of(store_of(holdout)), psycopg.Pipeline.__exit__
        assert isinstance(keeper, PostgresKeeper)
        session = keeper.session

        def lost(*_: object) -> None:
            monkeypatch.setattr(psycopg.Pipeline, "__exit__", leave)
            raise psycopg.OperationalError("the server is gone")

        monkeypatch.setattr(psycopg.Pipeline, "__exit__", lost)
        session.send("SELECT 1", [])
        try:
            raise FileNotFoundError("what a caller goes on without")
        except FileNotFoundError:
            assert session.read("SELECT 2", []) == [(2,)]


# How often the server is waited for ---------------------------------------------------------------


def test_a_question_waits_four_times_for_the_server(
    home: LedgerHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others declared, lock and news together, what is reserved, what is settled.

    The lock goes back by itself.
    """
    waits: list[str] = []
    for verb in ("read_all", "write", "send"):
        own = getattr(LedgerSession, verb)

        def counted(self: LedgerSession, *asked: Any, verb: str = verb, own: Any = own) -> Any:
            waits.append(verb)
            return own(self, *asked)

        monkeypatch.setattr(LedgerSession, verb, counted)
    with resumed(home) as holdout, resumed(home) as other:
        holdout.ask("avg(x > 1)")
        waits.clear()
        assert holdout.ask("avg(x > 2)").number == 2
        assert waits == ["read_all", "read_all", "write", "write", "send"]
        assert other.ask("avg(x > 3)").number == 3  # while the first one says nothing more
        assert holdout.ask("avg(x > 3)").status == "repeated"
