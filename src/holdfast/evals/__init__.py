"""Evaluation logs, item by item: what other tools wrote, read as scores of one scorer."""

from __future__ import annotations

from holdfast.evals.item_scores import ItemScores as ItemScores
from holdfast.evals.submission import read as read

__all__ = ["ItemScores", "read"]
