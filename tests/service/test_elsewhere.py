"""Data sets whose ledgers are in a database: two services, and one budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import InvalidArgument
from holdfast.service.data_set import Service
from holdfast.service.folder import Folder, Settings
from tests.cli.run import holdfast as command
from tests.postgres import server
from tests.service.serving import DECLARED, LATE, TABLE, bearer, client_of_service, table

ADDRESS = "postgresql://ann@db.example.com/lab?ledger=flights"


def named(folder: Path, **ledgers: object) -> Folder:
    """A folder whose settings name ledgers in databases."""
    folder.mkdir(exist_ok=True)
    lines = [f"{name} = {address!r}" for name, address in ledgers.items()]
    settings = "\n".join(["[ledgers]", *lines])
    (folder / "holdfast.toml").write_text(settings, encoding="utf-8")
    return Folder.create(folder)


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Service]:
    """Two folders, with tokens of their own, of one ledger."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    place, address = tmp_path / "canaryfolder", server().ledger()
    place.mkdir()
    table().write_parquet(place / "flights.parquet")
    with holdfast.open(place / "flights.parquet", ledger=address, **DECLARED):
        pass
    settings = Settings(release_step=0.0)
    folders = [named(tmp_path / name, flights=address) for name in ("one", "two")]
    return [Service.of(folder.path, settings) for folder in folders]


def test_two_services_have_one_budget(services: list[Service]) -> None:
    told: list[Any] = []
    for service in services:
        with client_of_service(service) as client:
            who = bearer(service, "cy", "custodian")
            told.append(client.post(f"{TABLE}/ask", json={"question": LATE}, headers=who).json())
            assert len(client.get(f"{TABLE}/ledger", headers=who).json()["lines"]) == 1
            audit = client.get(f"{TABLE}/audit", headers=who).json()
            assert (audit["fine"], audit["data_compared"]) == (True, True)
            assert "postgresql:" not in str(audit)
            assert client.get("/ready").json() == {"status": "ready"}
    assert [each["status"] for each in told] == ["answered", "repeated"]
    assert told[0]["receipt"] == told[1]["receipt"]


def test_a_name_that_is_taken_is_not_published(tmp_path: Path) -> None:
    named(tmp_path / "served", flights=ADDRESS)
    table().write_parquet(tmp_path / "flights.parquet")
    done = command("publish", "flights.parquet", cwd=tmp_path)
    assert done.returncode != 0
    assert "'flights' is published already" in done.stderr


@pytest.mark.parametrize("address", [ADDRESS.replace("ann", "ann:swordfish"), "flights.ledger", 7])
def test_only_addresses_without_passwords_are_named(tmp_path: Path, address: object) -> None:
    with pytest.raises(InvalidArgument, match="must be as postgresql://USER@HOST") as raised:
        named(tmp_path, flights=address)
    assert "swordfish" not in str(raised.value)


def test_a_name_has_one_ledger(tmp_path: Path) -> None:
    assert named(tmp_path, b=ADDRESS, a=ADDRESS).names == ["a", "b"]
    with pytest.raises(InvalidArgument, match="letters, digits"):
        named(tmp_path, **{'"a b"': ADDRESS})
    with pytest.raises(InvalidArgument, match="add its name"):
        named(tmp_path, a=ADDRESS.partition("?")[0])
    (tmp_path / "a.ledger").touch()
    with pytest.raises(
        InvalidArgument, match=r"names a ledger 'a', and a\.ledger is in the folder"
    ):
        named(tmp_path, a=ADDRESS)
