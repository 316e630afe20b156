"""Evaluation logs, item by item: what other tools wrote, read as scores of one scorer."""

from __future__ import annotations

from holdfast.evals.reading import read as read
from holdfast.evals.scores import ItemScores as ItemScores

__all__ = ["ItemScores", "read"]
