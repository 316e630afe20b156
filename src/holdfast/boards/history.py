"""History of a board from its ledger: who led, whose claim was confirmed, who has not been seen.

Everything here follows from entries of the ledger. A look that a board takes has a key that names
its submissions; a line that shows something counts only if its question is the board's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.boards.metrics import Metric
from holdfast.ledger.attachments import AttachedColumn
from holdfast.ledger.entries import Recorded
from holdfast.theory.base.intervals import Interval

_GATE, _CLAIM = "board gate ", "board claim "


class Score(NamedTuple):
    """Score of a submission by itself, as far as it is known; `exact` is that of a last look."""

    value: float | None
    interval: Interval
    exact: bool = False


@dataclass(frozen=True, slots=True)
class BoardHistory:
    """Submissions in the order they came, by the first name of their content.

    `leaders` led one after another; `compared` are pairs of a submission and the leader it was
    compared with, `better` those of which the first was shown to be better. `claimed` are claims
    that were looked at, of which some were `refuted`.
    """

    submissions: Mapping[str, Sequence[AttachedColumn]]
    leaders: tuple[str, ...]
    compared: frozenset[tuple[str, str]]
    better: frozenset[tuple[str, str]]
    scores: Mapping[str, Score]
    claimed: Mapping[str, float]
    refuted: frozenset[str]
    final: bool

    @property
    def leader(self) -> str | None:
        """The one to beat."""
        return self.leaders[-1] if self.leaders else None

    def opponent(self, submission: str) -> str | None:
        """The leader that it is to be compared with; None if it was, and was not shown better.

        Who was shown to be better than a leader whom somebody else had beaten meanwhile meets that
        one next.
        """
        met = [leader for name, leader in self.compared if name == submission]
        beaten = all((submission, leader) in self.better for leader in met)
        waits = beaten and submission not in self.leaders and self.leader not in met
        return self.leader if waits else None


def is_submission(column: AttachedColumn) -> bool:
    """Whether it was submitted to a board: its name begins with its team's."""
    return column.by is not None and column.name.startswith(f"{column.by}/")


def gate_key(column: str, leader: str) -> str:
    """Request key of the comparison of a submission with a leader."""
    return _GATE + json.dumps([column, leader])


def claim_key(column: str) -> str:
    """Request key of the check of a submission's claim."""
    return _CLAIM + json.dumps([column])


def history_of(
    columns: Iterable[AttachedColumn],
    lines: Iterable[Recorded],
    metric: Metric,
    spelled: Callable[[str], str],
    *,
    public: bool,
) -> BoardHistory:
    """The fold; `spelled` gives a question as the ledger spells it."""
    submissions: dict[str, list[AttachedColumn]] = {}
    for column in filter(is_submission, columns):
        submissions.setdefault(column.column, []).append(column)
    leaders = list(submissions)[: int(public)]
    compared: set[tuple[str, str]] = set()
    better: set[tuple[str, str]] = set()
    scores: dict[str, Score] = {}
    claimed: dict[str, float] = {}
    refuted: set[str] = set()
    last: list[Recorded] = []
    for line in lines:
        if line.bits is not None:
            last.append(line)
            continue
        match _names(line.request.key, submissions):
            case ["gate", name, other]:
                compared.add((name, other))
                if line.status == "shown" and line.question == spelled(metric.gain(name, other)):
                    better.add((name, other))
                    leaders += [name] if leaders[-1:] == [other] else []
            case ["claim", name] if line.question == spelled(metric.average(name)):
                claimed[name] = metric.score_of(line.request.guess or 0.0)
                refuted |= {name} if line.status != "confirmed" else set()
                if line.value is not None:
                    value = metric.score_of(line.value)
                    scores[name] = Score(value, metric.interval_of(line.interval))
    exact = {line.question: line for line in last}
    for name in submissions if exact else ():
        recorded = exact.get(spelled(metric.average(name)))
        if recorded is not None:
            exactly = metric.interval_of(recorded.interval)
            score = None if recorded.value is None else metric.score_of(recorded.value)
            interval = scores.get(name, Score(None, exactly)).interval
            scores[name] = Score(score, _both(exactly, interval), exact=True)
    return BoardHistory(
        submissions,
        tuple(leaders),
        frozenset(compared),
        frozenset(better),
        scores,
        claimed,
        frozenset(refuted),
        final=bool(exact),
    )


def _both(first: Interval, second: Interval) -> Interval:
    """Intersection of both; the first alone, should they not meet."""
    low, high = max(first.low, second.low), min(first.high, second.high)
    return Interval(low, high) if low <= high else first


def _names(key: str | None, columns: Mapping[str, object]) -> list[str]:
    """Names in a key of a board: the kind of look, and the submissions; nothing for others."""
    for kind, start in (("gate", _GATE), ("claim", _CLAIM)):
        if key is not None and key.startswith(start):
            try:
                names = json.loads(key.removeprefix(start))
            except json.JSONDecodeError:
                return []
            if isinstance(names, list) and all(each in columns for each in names):
                return [kind, *names]
    return []
