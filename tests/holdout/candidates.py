"""Scores of candidates on one table, and what the ledger of their gates has of a kind."""

from __future__ import annotations

import json
from pathlib import Path

from tests.ledger.forging import Body
from tests.ledger.reading import rows_of

ROWS = 1_000
GAINS, EVEN = "difference(gains, old)", "difference(even, old)"


def scores() -> dict[str, list[bool]]:
    """`gains` is better than `old` on 45 items and worse on 5, `even` on 25 and 25."""
    old = [place >= 45 for place in range(ROWS)]
    gains = [not 45 <= place < 50 for place in range(ROWS)]
    even = [place < 25 or 45 <= place < 975 for place in range(ROWS)]
    return {"old": old, "gains": gains, "even": even}


def entries(path: Path, kind: str) -> list[Body]:
    bodies = [json.loads(text) for _, text, _ in rows_of(path)]
    return [body for body in bodies if body["kind"] == kind]
