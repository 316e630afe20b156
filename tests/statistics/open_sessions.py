"""Sessions about columns without a range: true as they are answered, false as their twins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

import holdfast

HOW: dict[str, dict[str, Any]] = {
    "described": {},
    "ledger": {"described": "off", "mechanism": "bounded noise", "tolerance": 0.2},
    "graph": {"sampling": holdfast.dependency_graph(24), "tolerance": 0.2},
    "units": {"sampling": holdfast.clustered("unit", largest=25), "tolerance": 0.2},
}
SAMPLINGS = [pytest.param(how, marks=pytest.mark.campaign if how == "graph" else ()) for how in HOW]


def require_true_sessions(
    session: Callable[..., tuple[bool, float]], folder: Path, how: str
) -> None:
    """Twins: intervals of a fifth; of dependent rows, called independent.

    A `session` says whether an interval is false, and how far the worst value is off, in
    half-widths; it is called with the ledger's path, a seed, the copies of each row and what is
    declared.
    """
    sessions, beta, false, twins = 12, 0.05, 0, 0
    facts = HOW[how]
    copies = 25 if "sampling" in facts else 1
    for seed in range(sessions):
        is_false, off = session(folder / f"{seed}.ledger", seed, copies, **facts)
        false += is_false
        if copies == 1:
            twins += off > 0.2
        else:
            twin, _ = session(folder / f"{seed}.twin", seed, copies)
            twins += twin
    assert false == 0
    assert twins > binom.isf(1e-9, sessions, beta)
