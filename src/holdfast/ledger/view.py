"""Views of a ledger for people: a table of questions and answers, and the session explained."""

from __future__ import annotations

import html
import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.ledger.entries import Recorded
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.catalogue import MechanismKind, kind_of
from holdfast.mechanisms.described import DESCRIBED
from holdfast.mechanisms.exact import REVEAL
from holdfast.mechanisms.mechanism import plain_interval
from holdfast.mechanisms.terms import Terms
from holdfast.question.columns import Schema
from holdfast.statistics.bind import short_name
from holdfast.statistics.description import method_of
from holdfast.theory.base.intervals import Interval
from holdfast.wording import adjusted_text, folded, missing_rows, percent, plural, status_text

if TYPE_CHECKING:
    import polars as pl

# What is told of a line, and how frames keep it.
LINE_COLUMNS = {
    "number": "Int64",
    "look": "Int64",
    "at": "String",
    "question": "String",
    "verb": "String",
    "status": "String",
    "value": "Float64",
    "low": "Float64",
    "high": "Float64",
    "bits": "Float64",
    "planned": "Boolean",
    "n": "Int64",
    "n_most": "Int64",
    "missing": "Int64",
    "missing_most": "Int64",
    "verdict": "String",
    "adjusted": "Float64",
    "guess": "Float64",
    "cost": "Float64",
    "why": "String",
    "asked_by": "String",
    "request_key": "String",
    "table": "String",
    "part_of": "String",
    "receipt": "String",
}
_UNFINISHED = "unfinished"
_WHOLE = "to_polars(), to_text(); at the shell --all, --json or --output FILE"


def _place(line: Recorded) -> float:
    """Where a line is: by its number, those that have none at the end."""
    return math.inf if line.number is None else line.number


def _facts(recorded: Recorded, number: int | None, rows: int) -> dict[str, Any]:
    """A line, or a part of line `number`, as plain values; `rows` are those of the holdout."""
    request, (least, most) = recorded.request, recorded.rows or (rows, rows)
    return {
        "number": number,
        "look": recorded.look,
        "at": recorded.at,
        "question": recorded.question,
        "verb": request.verb,
        "status": recorded.status,
        "value": recorded.value,
        **plain_interval(recorded.interval),
        "bits": recorded.bits,
        "planned": recorded.planned,
        "n": least,
        "n_most": most,
        "missing": recorded.missing[0],
        "missing_most": recorded.missing[1],
        "verdict": None if recorded.part_of else recorded.verdict,
        "adjusted": recorded.adjusted,
        "guess": recorded.guess,
        "cost": recorded.charge,
        "why": request.why,
        "asked_by": request.by,
        "request_key": request.key,
        "table": request.table,
        "part_of": recorded.part_of,
        "receipt": recorded.receipt,
    }


@dataclass(frozen=True, slots=True)
class LedgerView:
    """Table of what was asked of `rows` rows; `together` says how sure all intervals are.

    `looks` are all looks at the data. Those that were asked for something else are its parts, and
    fold under it; what was never finished has parts, and no number.
    """

    lines: tuple[Recorded, ...]
    looks: tuple[Recorded, ...]
    together: str
    rows: int
    schema: Schema

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Recorded]:
        return iter(self.lines)

    def __getitem__(self, index: int) -> Recorded:
        return self.lines[index]

    def page(self, after: int, limit: int) -> LedgerView:
        """The lines after number `after`, at most `limit`; those without a number are on none."""
        first = bisect_right(self.lines, float(after), key=_place)
        lines = self.lines[first : first + limit]
        return replace(self, lines=tuple(line for line in lines if line.number is not None))

    def parts(self, line: Recorded) -> list[Recorded]:
        """The looks that were asked for a line, where it is no look itself."""
        if not line.parts:
            return []
        mine = set(line.parts)
        return [each for each in self.looks if each.look in mine and each.part_of == line.question]

    def to_dicts(self, *, parts: bool = False) -> list[dict[str, Any]]:
        """One dict for each line; with `parts`, those of its parts after it."""
        return [
            _facts(each, line.number, self.rows)
            for line in self.lines
            for each in (line, *(self.parts(line) if parts else ()))
        ]

    def to_polars(self, *, parts: bool = False) -> pl.DataFrame:
        """A Polars frame, one row for each line; with `parts`, those of its parts after it."""
        import polars

        schema = {name: getattr(polars, kind) for name, kind in LINE_COLUMNS.items()}
        return polars.DataFrame(self.to_dicts(parts=parts), schema=schema)

    def to_pandas(self, *, parts: bool = False) -> Any:
        """A pandas frame, one row for each line; with `parts`, those of its parts after it."""
        with require.installed("pandas frames", "data"):
            return self.to_polars(parts=parts).to_pandas()

    def to_text(self, *, parts: bool = False, whole: bool = True) -> str:
        """The table as text; with `parts`, each line's parts below it.

        If it is long, and not wanted `whole`, its first and last lines.
        """
        if not self.lines:
            return "Ledger: no question has been asked yet."
        head = f"{'status':<15}{'value':>11}  {'interval':<26} {'bits':>5} {'rows':>9}"
        rows: list[str] = []
        for line in self.lines:
            number = "-" if line.number is None else line.number
            rows.append(self._row(number, line, f"  ({line.why})" if line.why else ""))
            if parts:
                looks = self.parts(line)
                rows.extend(self._row("", part, f"  (look {part.look})") for part in looks)
        lines = rows if whole else folded(rows, _WHOLE)
        return "\n".join([f"{'':>4}  {head}  question", *lines, self.together])

    def __str__(self) -> str:
        return self.to_text(whole=False)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"{self.to_polars()._repr_html_()}<small>{self.together}</small>"

    def _row(self, number: int | str, recorded: Recorded, note: str) -> str:
        verdict = f"{recorded.verdict}: " if recorded.part_of is None and recorded.verdict else ""
        indent = "" if recorded.part_of is None else "  "
        least, most = recorded.rows or (self.rows, self.rows)
        rows = f"{least:,}" if least == most else f"{least:,} ..."
        lost = missing_rows(recorded.missing)
        note = f"  ({lost}){note}" if lost else note
        note = f"  (planned){note}" if recorded.planned else note
        if recorded.adjusted is not None:
            note += f"  ({adjusted_text(recorded.adjusted)})"
        bits = "" if recorded.bits is None else f"{recorded.bits:.1f}"
        interval = "" if recorded.side else recorded.interval_text  # the claim says it
        name = short_name(recorded.question, self.schema)
        return (
            f"{number:>4}  {status_text(recorded.status):<15}{recorded.shown:>11}  {interval:<26} "
            f"{bits:>5} {rows:>9}  {indent}{verdict}{name}{note}"
        )


def view_of(transcript: Transcript, together: str) -> LedgerView:
    """The ledger for people to read."""
    planned = {line.question for line in transcript.lines if line.planned}
    told = [
        line if line.planned or line.question not in planned else replace(line, planned=True)
        for line in transcript.lines
    ]
    lines = (*told, *_unfinished(transcript))
    rows, schema = transcript.terms.rows, transcript.table.schema
    return LedgerView(lines, tuple(transcript.answers), together, rows, schema)


def _unfinished(transcript: Transcript) -> list[Recorded]:
    """Unfinished lines: looks were taken, then a refusal or a crash came between.

    Asked again, it goes on from them, and pays for none of them twice.
    """
    recorded = {(line.question, look) for line in transcript.lines for look in line.parts}
    unfinished: dict[str, list[Recorded]] = {}
    for each in transcript.answers:
        if each.part_of is not None and (each.part_of, each.look) not in recorded:
            unfinished.setdefault(each.part_of, []).append(each)
    return [
        replace(
            looks[-1],
            number=None,
            look=None,
            parts=tuple(each.look for each in looks if each.look is not None),
            question=question,
            status=_UNFINISHED,
            value=None,
            interval=Interval(looks[-1].request.low, looks[-1].request.high),
            range=Interval(looks[-1].request.low, looks[-1].request.high),
            guess=looks[-1].request.guess,
            claim=None,
            charge=sum(each.charge for each in looks),
            variance=None,
        )
        for question, looks in unfinished.items()
    ]


_REVEALED = "its exact value, after which nothing without a description is answered"
_REASONS = {
    "confirmed": "guess and check: an interval valid for this question lies inside the claim",
    "not confirmed": "guess and check: no interval valid for this question lies inside the claim",
    "shown": "gate: a test valid for this question rejects everything else",
    "not shown": "gate: the test leaves it open, and nothing is claimed",
}


def _promise(kind: MechanismKind, terms: Terms) -> str:
    if not terms.simultaneous:
        return f"No promise: {kind.promises}"
    return (
        f"Promise: with probability {percent(terms.confidence_level)} every interval below "
        "contains the truth, all together, however the questions were chosen."
    )


def _theory(kind: MechanismKind, terms: Terms) -> list[str]:
    """What the promise rests on, and how its failure probability is parted."""
    by = [f"{kind.promises} ({kind.theorem})"] if kind.theorem else []
    if terms.describes:
        by.append("for text questions Theorem O (described_log_level)")
    return [
        *([f"By {'; '.join(by)}."] if by and terms.simultaneous else []),
        *([f"Failure probability: {terms.parted}."] if terms.is_parted else []),
    ]


class Explanation(str):
    """The text of a session, explained; consoles and notebooks show its lines, not its quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f'<pre style="white-space: pre-wrap">{html.escape(self)}</pre>'


def explanation(transcript: Transcript) -> Explanation:
    """The whole session from its entries: what was promised, and how each interval came about."""
    opening, terms = transcript.opening, transcript.terms
    kind = kind_of(opening.mechanism["name"])
    declared = "no limit set on" if terms.questions is None else f"{terms.questions:,}"
    board = transcript.attached.board.terms
    lines = [
        f"{opening.name}: {terms.rows:,} rows, {declared} questions, "
        f"{terms.width}, opened {opening.at}.",
        _promise(kind, terms),
        f"Assumed: {terms.assumption}.",
        f"Answered by {kind.name}: {kind.summary}",
        *([f"Chosen: {opening.mechanism['why']}."] if "why" in opening.mechanism else []),
        *([f"{opening.mechanism['told']}."] if "told" in opening.mechanism else []),
        "Columns:",
        *(f"  {line}" for line in str(opening.schema).splitlines()),
        *(f"Attached: {column}." for column in transcript.attached),
        *(f"Incumbent: {promotion}." for promotion in transcript.attached.promotions),
        *([f"Leaderboard: {board}."] if board is not None else []),
        *(f"Added, {each}." for each in transcript.dictionaries.declarations),
        *(f"Search {search}." for search in transcript.dictionaries.searches),
        "",
    ]
    view = view_of(transcript, "")
    for line in view:
        lines += _explained(line, view.parts(line), kind, view.schema)
    for each in transcript.abandoned:
        lines.append(
            f"      {each.offer.question} was never answered (it could not be read again, or not "
            f"be evaluated) and keeps its charge of {each.offer.worst_charge:.5g}"
        )
    if transcript.pending is not None:
        lines.append(
            f"      {len(transcript.pending.asked):,} more reserved and not yet answered; the next "
            "new question finishes them"
        )
    closed = transcript.account.closed
    if closed is not None:
        for_what = "everything" if closed.retired else "everything but text questions"
        lines.append(f"      Closed at {closed.at} for {for_what}: {closed.why}")
    lines += ["", *_theory(kind, terms)]
    lines.append(f"Leakage in all: {transcript.committed.nats:.6g} nats.")
    return Explanation("\n".join(lines))


def _explained(
    line: Recorded, parts: Sequence[Recorded], kind: MechanismKind, schema: Schema
) -> list[str]:
    """Explanation of a line's interval: by a look at the data, or from those that are its parts."""
    number = "   -" if line.number is None else f"{line.number:>4}"
    verdict = f"{line.verdict}: " if line.verdict else ""
    lines = [f"{number}. {verdict}{short_name(line.question, schema)} {_result(line)}"]
    if line.look is not None:
        return [*lines, *_looked(line, line.status, kind, "      ")]
    if line.known or line.contradict:
        lines.append(f"      {line.known_text}")
    if not line.parts:
        return [
            *lines,
            f"      {status_text(line.status)}; no look was asked for it, and it adds 0 nats",
        ]
    earlier = len(set(line.parts)) - len(parts)
    beside = f", and {plural(earlier, 'look')} known before" if earlier else ""
    lines.append(
        f"      {status_text(line.status)}; follows from {plural(len(parts), 'look')} asked for it"
        f"{beside}; they add {line.charge:.5g} nats"
    )
    for part in parts:
        name = short_name(part.question, schema)
        lines.append(f"      look {part.look}: {name} {_result(part)}")
        lines += _looked(part, part.status, kind, "        ")
    return lines


def _result(recorded: Recorded) -> str:
    if recorded.value is None:
        return f"in {recorded.interval_text}"
    return recorded.shown if recorded.side else f"= {recorded.shown} {recorded.interval_text}"


def _looked(look: Recorded, status: str, kind: MechanismKind, indent: str) -> list[str]:
    leaked = f"{look.leaked:.5g} nats had leaked, this answer adds {look.charge:.5g}"
    if look.rule is not None:
        theorem = "Theorem O" if look.mechanism == DESCRIBED.name else "Theorem O'"
        return [
            f"{indent}{status}; by {look.rule.method}",
            f"{indent}details: {theorem}: {look.length}, so {method_of(look.rule)}; for questions "
            f"without a description {leaked}",
        ]
    reason = _REVEALED if look.mechanism == REVEAL else _REASONS.get(status, kind.name)
    if look.member is not None:
        reason = f"Theorem S: {look.member} is told, with the cell of its score, and no other"
    if look.alike is not None:
        reason += ", of rows that are alike" if look.alike else ", whether rows are alike or not"
    lines = [f"{indent}{status}; {reason}", f"{indent}details: {leaked}"]
    if look.variance is not None:
        lines.append(f"{indent}narrower, since {look.variance}")
    return lines
