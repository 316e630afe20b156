"""A rehearsal: one question of every kind, of invented rows, before the service listens.

Whatever is loaded when it is first needed (the SQL reader, solvers, the engine) is loaded here, by
one thread. When the first requests come together, their threads import nothing: modules that load
one another would be loaded from two sides, which Python ends by failing one of them, for good.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import polars as pl

from holdfast.certificate.certificate import ReuseCertificate
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.open import open as open_holdout
from holdfast.ledger.index import STATE
from holdfast.service.data_set import Asking
from holdfast.service.wire import told

__all__ = ["ask_one_of_each", "ready_question"]

_ROWS = 4_096
_DECLARED = {"x": (0.0, 1.0), "y": (0.0, 1.0), "group": {"values": ["a", "b"]}}
_ASKED = (
    Asking("avg(y)", tolerance=0.4),
    Asking("avg(x > 0.5)"),
    Asking("median(x)"),
    Asking("std(x)"),
    Asking("avg(x)", by=("group",)),
    Asking("avg(y > 0.5)", guess=0.5, verb="check"),
    Asking("avg(x > 0.9)", at_most=0.9, verb="gate"),
)


def ask_one_of_each() -> None:
    """Price, ask and certify invented rows, in a folder that is removed.

    It is for a process that has one thread yet: no list of ledgers is kept meanwhile.
    """
    listed = os.environ.get(STATE)
    os.environ[STATE] = ""
    try:
        _asked()
    finally:
        os.environ.pop(STATE)
        if listed is not None:
            os.environ[STATE] = listed


def _asked() -> None:
    numbers = [place / _ROWS for place in range(_ROWS)]
    frame = pl.DataFrame({"x": numbers, "y": numbers[::-1], "group": ["a", "b"] * (_ROWS // 2)})
    with (
        tempfile.TemporaryDirectory() as folder,
        open_holdout(
            frame,
            ledger=Path(folder) / "rehearsal.ledger",
            questions=20,
            tolerance=0.4,
            schema=_DECLARED,
        ) as holdout,
    ):
        for asking in _ASKED:
            asking.cost_of(holdout)
            told(asking.put_to(holdout), details=True)
        certificate: ReuseCertificate = holdout.certificate()
        certificate.to_html()


def ready_question(holdout: Holdout, number: float) -> Asking:
    """A question that can be priced of every table; another `number` has to be read anew."""
    name = next(iter(holdout.schema.types)).replace('"', '""')
    return Asking(f'avg(case when "{name}" is null then {number!r} else 0 end)')
