"""A leaderboard in the folder of a service, and files to submit to it."""

from __future__ import annotations

import io

import numpy as np
import polars as pl

import holdfast
from holdfast.service.data_set import Service

ITEMS = 1_000
RNG = np.random.default_rng(4)
LABEL = RNG.random(ITEMS) < 0.5


def answers(right: float) -> list[bool]:
    """Predictions of which this share is right; others with every call."""
    return [bool(each) for each in np.where(RNG.random(ITEMS) < right, LABEL, ~LABEL)]


BASE, BETTER = answers(0.6), answers(0.85)


def with_board(service: Service, name: str = "digits") -> Service:
    """The service, with a board that the host has submitted a baseline to."""
    file = service.folder.path.parent / "canaryfolder" / f"{name}.parquet"
    pl.DataFrame({"item": range(ITEMS), "label": LABEL, "of": name}).write_parquet(file)
    ledger = service.folder.ledger(name)
    with holdfast.Leaderboard(file, key="item", label="label", ledger=ledger) as board:
        board.submit(BASE, team="host", claim=0.6)
    return service


def csv_of_answers(values: list[bool]) -> bytes:
    """A file to submit."""
    text = io.BytesIO()
    pl.DataFrame({"item": range(len(values)), "says": values}).write_csv(text)
    return text.getvalue()
