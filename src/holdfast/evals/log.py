"""What every reader makes of a file: lines of one item, and how the run ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["EvalLog", "Scored"]


class Scored(NamedTuple):
    """One item in one epoch: what each scorer said of it, as it stands in the file."""

    item: Any
    scores: Mapping[str, Any]
    epoch: Any = 1
    filter: str | None = None  # which of several passes over the items this one belongs to
    digest: str | None = None  # of the item's own content


@dataclass(frozen=True, slots=True)
class EvalLog:
    """A run: its lines, and what the file says of the run as a whole.

    `epochs` is how often each item was to be tried and `planned` which items were, where the file
    says so. `ended` says how, of a run that did not end well. `main` is the scorer to take where
    nobody names one and there are several. `run` is the tool's own name of the run: never made of
    what was scored, and another one for every run. `task` is what the items are called together.
    """

    lines: Sequence[Scored]
    epochs: int | None = None
    planned: Sequence[Any] = ()
    ended: str | None = None
    main: str | None = None
    run: str | None = None
    task: str | None = None
