"""The ledger as people read it: a table of questions and answers, and the session explained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.ledger.entries import Recorded
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.kind import MechanismKind
from holdfast.mechanisms.terms import Terms
from holdfast.wording import percent

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LedgerView", "explanation", "facts"]

_COLUMNS = {
    "number": "Int64",
    "at": "String",
    "question": "String",
    "status": "String",
    "value": "Float64",
    "low": "Float64",
    "high": "Float64",
    "guess": "Float64",
    "cost": "Float64",
    "why": "String",
    "part_of": "String",
    "receipt": "String",
}


def facts(recorded: Recorded) -> dict[str, Any]:
    """One answered question as plain values."""
    return {
        "number": recorded.number,
        "at": recorded.at,
        "question": recorded.question,
        "status": recorded.status,
        "value": recorded.value,
        "low": recorded.interval.low,
        "high": recorded.interval.high,
        "guess": recorded.guess,
        "cost": recorded.charge,
        "why": recorded.why,
        "part_of": recorded.part_of,
        "receipt": recorded.receipt,
    }


@dataclass(frozen=True, slots=True)
class LedgerView:
    """Every answered question, in order; `together` says how sure all intervals are."""

    answers: tuple[Recorded, ...]
    together: str

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Recorded]:
        return iter(self.answers)

    def __getitem__(self, index: int) -> Recorded:
        return self.answers[index]

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each question."""
        return [facts(recorded) for recorded in self.answers]

    def to_polars(self) -> pl.DataFrame:
        """A Polars frame, one row for each question."""
        import polars

        schema = {name: getattr(polars, kind) for name, kind in _COLUMNS.items()}
        return polars.DataFrame(self.to_dicts(), schema=schema)

    def to_pandas(self) -> Any:
        """A pandas frame, one row for each question."""
        with require.installed("pandas frames", "data"):
            return self.to_polars().to_pandas()

    def __str__(self) -> str:
        if not self.answers:
            return "Ledger: no question has been asked yet."
        lines = [f"{'':>4}  {'status':<10}{'value':>11}  {'interval':<26} question"]
        for recorded in self.answers:
            reason = recorded.why or (recorded.part_of and f"for {recorded.part_of}")
            why = f"  ({reason})" if reason else ""
            lines.append(
                f"{recorded.number:>4}  {recorded.status:<10}{recorded.shown:>11}  "
                f"{recorded.interval!s:<26} {recorded.question}{why}"
            )
        return "\n".join([*lines, f"all intervals together: {self.together}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"{self.to_polars()._repr_html_()}<small>all together: {self.together}</small>"


_REASONS = {
    "confirmed": "guess and check: an interval valid for this question lies inside the claim",
    "surprise": "guess and check: the claim was not implied, so it was answered with bounded noise",
}


def _promise(kind: MechanismKind, terms: Terms) -> str:
    if kind.theorem is None:
        return f"No promise: {kind.promises}"
    return (
        f"Promise: with probability {percent(terms.confidence_level)} every interval below "
        "contains the truth, all together, however the questions were chosen "
        f"({kind.promises}; {kind.theorem})."
    )


def explanation(transcript: Transcript) -> str:
    """The whole session from its entries: what was promised, and how each interval came about."""
    opening, terms = transcript.opening, transcript.terms
    kind = kind_of(opening.mechanism["name"])
    declared = "an open number of" if terms.questions is None else f"{terms.questions:,}"
    lines = [
        f"{opening.name}: {terms.rows:,} rows, {declared} questions, "
        f"{terms.width}, opened {opening.at}.",
        _promise(kind, terms),
        f"Assumed: {terms.assumption}.",
        f"Answered by {kind.name}: {kind.summary}",
        *([f"Chosen: {opening.mechanism['why']}."] if "why" in opening.mechanism else []),
        "",
    ]
    for recorded in transcript.answers:
        found = f"= {recorded.estimate.value:.6g} {recorded.interval}"
        said = recorded.shown if recorded.side else found
        lines.append(f"{recorded.number:>4}. {recorded.question} {said}")
        lines.append(
            f"      {recorded.status}; {_REASONS.get(recorded.status, kind.name)}; "
            f"{recorded.leaked:.5g} nats had leaked, this answer adds {recorded.charge:.5g}"
        )
        if recorded.variance is not None:
            lines.append(f"      narrower, since {recorded.variance}")
    for asked in transcript.abandoned:
        lines.append(
            f"{asked.offer.number:>4}. {asked.offer.question} was never answered (it could not be "
            f"read again, or not be evaluated) and keeps its charge of "
            f"{asked.offer.worst_charge:.5g}"
        )
    if transcript.pending is not None:
        lines.append(
            f"      {len(transcript.pending.asked):,} more reserved and not yet answered; the next "
            "new question finishes them"
        )
    lines.append("")
    lines.append(f"Leakage in all: {transcript.committed.nats:.6g} nats.")
    return "\n".join(lines)
