"""A ledger's secret in another folder: never another ledger's, and durable before the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import InvalidArgument
from holdfast.holdout.holdout import Holdout
from tests.holdout.tables import BOUNDS, table
from tests.seam import SYNC_FOLDER


def opened(folder: Path, name: str, **said: Any) -> Holdout:
    facts: dict[str, Any] = {"tolerance": 0.2, "schema": BOUNDS, "secret": folder / "kept" / "s"}
    return holdfast.open(table(), ledger=folder / f"{name}.ledger", **(facts | said))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kept").mkdir()
    return tmp_path


@pytest.mark.filterwarnings("ignore::holdfast.errors.SecondLedger")
def test_that_of_another_ledger_is_neither_taken_nor_removed(folder: Path) -> None:
    with opened(folder, "one"):
        pass
    content = (folder / "kept" / "s").read_bytes()
    (folder / "two.ledger-draft").write_bytes(b"of a process that died")
    with pytest.raises(InvalidArgument, match="there is a secret"):
        opened(folder, "two")
    assert (folder / "kept" / "s").read_bytes() == content
    with opened(folder, "one") as holdout:
        assert holdout.ask("avg(late)").number == 1


def test_its_name_is_durable_before_the_ledger_has_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Path, bool]] = []
    ledger = folder / "one.ledger"
    monkeypatch.setattr(SYNC_FOLDER, lambda synced: seen.append((synced, ledger.exists())))
    opened(folder, "one").close()
    assert seen == [(folder / "kept", False), (folder, True)]
