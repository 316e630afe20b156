"""The corpus of questions that the table was tuned on (half of it), and its schemas."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from holdfast.statistics.description import Prior

_HERE = Path(__file__).resolve().parent
GOLDEN: list[dict[str, Any]] = json.loads((_HERE / "golden.json").read_text(encoding="utf-8"))
_CORPUS: dict[str, Any] = json.loads((_HERE / "corpus.json").read_text(encoding="utf-8"))
SCHEMAS: dict[str, Any] = _CORPUS["schemas"]
QUESTIONS: list[dict[str, str]] = _CORPUS["questions"]


@cache
def prior(schema: str) -> Prior:
    """The prior of one of the schemas."""
    return Prior.from_dict(SCHEMAS[schema])
