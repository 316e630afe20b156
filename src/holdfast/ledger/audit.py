"""Audit: the chain, every interval derived again from the ledger alone, and the data.

It needs no data; with data, its fingerprint and what the opening says of it are compared too. What
it re-derives: each offer from the account before it (level, radius, grid, prior, worst charge),
each answer from its symbol, the account from the answers, and what was told from the looks that it
follows from. What an offer promises wrongly is named;
whatever else differs from the offer that the mechanism makes is found by making it again.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Protocol

from holdfast.data.design import design_of
from holdfast.data.fingerprint import fingerprint
from holdfast.data.randomised import randomised_of
from holdfast.data.sample import Sample
from holdfast.data.sampling import Clustered, measured, sampling_to_dict
from holdfast.data.values import columns_with_missing
from holdfast.errors import HoldfastError, InvalidQuestion, LedgerTampered, Refused
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.chain import Row, canonical, verify
from holdfast.ledger.checkpoint import FiledPlace, StoredCheckpoint, place_of
from holdfast.ledger.column_files import kept_values
from holdfast.ledger.composites import Followed, rebuilt, whole
from holdfast.ledger.dictionaries import offered_again
from holdfast.ledger.entries import Asked, Pending, Recorded, Request, reading_entry
from holdfast.ledger.implied import Implications, NamedLooks, intersected
from holdfast.ledger.opening import REOPEN, Opening, has_shape
from holdfast.ledger.rule_claims import claimed_again, claimed_as_whole, whole_of_looks
from holdfast.ledger.secret import keyed_print
from holdfast.ledger.store import Reader, look
from holdfast.ledger.subjects import subjects_of
from holdfast.ledger.transcript import Transcript, checkpoint_of, informed
from holdfast.ledger.witness import NoteDamaged
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.claims import is_by_rule
from holdfast.mechanisms.described import DESCRIBED, ground_of
from holdfast.mechanisms.exact import REVEAL
from holdfast.mechanisms.mechanism import CLOSE, ForecastGrounds, Offer, Wish, alike, stated_range
from holdfast.mechanisms.terms import WHOLE_RANGE, Terms
from holdfast.statistics.bind import asked_again, recorded_statistic
from holdfast.statistics.description import described_answer, reads_as_written
from holdfast.statistics.entry import Bound, Table
from holdfast.statistics.mean import known_variance
from holdfast.statistics.rule import Ground
from holdfast.statistics.statistic import Statistic, is_single
from holdfast.wording import plural

# What an audit follows and what it finds: the entries, wherever they are kept, and its points.


@dataclass(frozen=True, slots=True)
class Finding:
    """One point of the audit: what was looked at, whether it is in order, and what was found."""

    what: str
    fine: bool
    detail: str

    def to_dict(self) -> dict[str, Any]:
        return {"what": self.what, "fine": self.fine, "detail": self.detail}


class Audited(Protocol):
    """Source of the entries to audit: a ledger, or a certificate."""

    @property
    def unchecked(self) -> str | None:
        """Reason why the seal of the newest entry could not be compared, if it could not."""
        ...

    def checkpoint(self) -> StoredCheckpoint | None:
        """The newest checkpoint, if there is one to be believed."""
        ...

    def news(self) -> list[Row]:
        """Entries, in order; refused where the chain is broken."""
        ...


@dataclass(frozen=True, slots=True)
class Retraced:
    """Entries that were followed from the first one on, and what was found.

    The `transcript` is None where the chain is broken. `places` are where its answers are to be
    filed, None where the entries could not be followed to their end.
    """

    findings: list[Finding]
    transcript: Transcript | None = None
    places: list[FiledPlace] | None = None


@dataclass(frozen=True, slots=True)
class Copied:
    """Entries that were copied out of a ledger: no secret is with them, and no checkpoint."""

    rows: Sequence[Row]

    @property
    def unchecked(self) -> str:
        """Reason why the seal could not be compared."""
        return (
            "it stays with the ledger, so that later entries that were left out would not be "
            "noticed; compare the newest hash, or a receipt, with the ledger's."
        )

    def checkpoint(self) -> None:
        """Nothing: everything is folded."""

    def news(self) -> list[Row]:
        """Entries, in order; refused where the chain is broken."""
        verify(self.rows)
        return list(self.rows)


_TOLD_EVERY = 100  # entries
_CAUSES = ("profile", "prior")  # named first: a radius or a charge follows from them
_FIELDS = {
    "log_p": "level",
    "log_share": "share of the failure probability",
    "prior": "prior of a surprise",
    "worst_charge": "charge",
    "profile": "concentration",
    "extra": "way of answering",
}


def audit(
    ledger: str | Path | LedgerHome,
    sample: Callable[[], Sample] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Finding]:
    """Every point of the audit; with `sample`, the protected rows, those about the data too.

    Without the ledger's secret neither the seal nor the data can be compared. `progress` is told
    how many entries of all were followed.
    """
    with look(ledger) as reader:
        again = retrace(reader, progress)
        findings, transcript = again.findings, again.transcript
        if transcript is not None and again.places is not None:
            findings.append(_filing(again.places, transcript.count, reader))
            if any(transcript.attached):
                findings.append(_columns(transcript, reader))
    if transcript is not None and sample is not None and reader.secret is not None:
        findings.append(_same_data(transcript.opening, reader.secret, sample))
    return findings


def retrace(source: Audited, progress: Callable[[int, int], None] | None = None) -> Retraced:
    """Findings from the entries alone: the chain, and everything derived again from them."""
    transcript = Transcript()
    try:
        checkpoint, entries = (
            source.checkpoint(),
            source.news(),
        )  # in this order: others may be asking
        sealed = " and sealed" if source.unchecked is None else "; its seal was not compared"
        chain = Finding("chain", True, f"{len(entries):,} entries, unbroken{sealed}")
        promises, places = _follow(transcript, _with_progress(entries, progress), checkpoint)
        if not promises.fine:
            return Retraced([chain, promises], transcript)
        whole = [_failure_probability(transcript), _unfinished(transcript), *_closed(transcript)]
    except LedgerTampered as error:
        what = "witness" if isinstance(error, NoteDamaged) else "chain"
        return Retraced([Finding(what, False, str(error))])
    return Retraced([chain, promises, *whole], transcript, places)


def _with_progress(
    entries: Sequence[Row], progress: Callable[[int, int], None] | None
) -> Iterator[Row]:
    """The entries, with word of how many are done; the end is told even if it is not reached."""
    many = len(entries)
    try:
        for count, entry in enumerate(entries):
            if progress is not None and count % _TOLD_EVERY == 0:
                progress(count, many)
            yield entry
    finally:
        if progress is not None:
            progress(many, many)


def _follow(
    transcript: Transcript, entries: Iterable[Row], checkpoint: StoredCheckpoint | None
) -> tuple[Finding, list[FiledPlace]]:
    """Fold the entries one by one; each is derived from what was before it.

    A checkpoint must be what the fold had come to. What is to be filed is told, too.
    """
    unseen = None if checkpoint is None else checkpoint_of(checkpoint)
    places: list[FiledPlace] = []
    opening: Opening | None = None
    for entry in entries:
        seq, text, _ = entry
        with reading_entry(f"entry {seq}"):
            places += [place_of(filed, seq) for filed in transcript.filing(json.loads(text))]
        transcript.apply([entry])
        if unseen is not None and unseen["count"] == transcript.count:
            if not alike(unseen, transcript.summary()):
                break
            unseen = None
        if opening is not transcript.opening:
            opening = transcript.opening
            ground = ground_of(transcript.terms, opening.table)
            implications = Implications.within(transcript, ground)
        try:
            fault = _fault(transcript, implications, seq, text)
        except (HoldfastError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            fault = f": it cannot be read ({error})"
        if fault:
            return Finding("intervals", False, f"entry {seq}{fault}"), places
    checked = len(transcript.answers) + sum(line.look is None for line in transcript.lines)
    if unseen is not None:
        detail = "the checkpoint is not what the entries come to"
        return Finding("checkpoint", False, detail), places
    return Finding("intervals", True, f"{checked:,} derived again from the ledger alone"), places


def _fault(transcript: Transcript, implications: Implications, seq: int, text: str) -> str | None:
    """Fault of an entry that was folded: in what it promises, or in what it tells."""
    pending = transcript.pending
    if pending is not None and pending.seq == seq:
        return _batch_fault(transcript, implications, pending)
    body = json.loads(text)
    if seq == 1 or body["kind"] == REOPEN:
        return _opening_fault(transcript.opening)
    if body["kind"] != "told/1":
        return None
    return _telling_fault(transcript, implications, body["lines"])


def _opening_fault(opening: Opening) -> str | None:
    """Whether an opening says of its promise what its mechanism rests on, and nothing else."""
    mechanism = opening.mechanism
    if opening.terms.assumes == kind_of(mechanism["name"]).assumes(mechanism["parameters"]):
        return None
    return ": what it assumes is not what its mechanism rests on"


def _telling_fault(
    transcript: Transcript, implications: Implications, lines: Sequence[dict[str, Any]]
) -> str | None:
    """Whether what is told follows from its looks, and what was told before is what is named."""
    terms, ground = transcript.terms, implications.ground
    for line in lines:
        request, number = Request.read(line["request"]), line["line"]
        if "parts" not in line:
            if transcript.lines[number - 1].question != request.question:
                return f", line {number}: it is not the one that was asked for"
            continue
        looks = [_look(transcript, part) for part in line["parts"]]
        try:
            question, followed = _followed_again(request, looks, transcript, ground)
        except HoldfastError:
            return f", line {number}: its question cannot be read"
        if not _is_in_range(request, question):
            return f", line {number}: its range is not that of its question"
        if "known" in line:
            named = NamedLooks([_look(transcript, each) for each in line["known"]])
            followed = intersected(followed, implications.of(question, named), question)
        stored = transcript.told_of(request.question)
        earlier = [each for each in stored if each.number is not None and each.number < number]
        again = whole(request, question, followed, earlier, terms)
        about = [*looks, *(_look(transcript, each) for each in line.get("known", ()))]
        if "rows" in line and not any(list(each.rows or ()) == line["rows"] for each in about):
            return f", line {number}: its rows are those of none of its looks"
        for name in (*again, "implied", "known", "contradict"):
            if not alike(line.get(name, 0), again.get(name, 0)):
                return f", line {number}: its {name} does not follow from its looks"
    return None


def _followed_again(
    request: Request, looks: Sequence[Recorded], transcript: Transcript, ground: Ground | None
) -> tuple[Bound, Followed]:
    """The question of a line, and its play with these looks.

    What is asked may follow from its description, or from parts of which some were described.
    """
    table, once = transcript.table, kind_of(transcript.opening.mechanism["name"]).once
    described = _described(request.question, looks, ground)

    def followed(question: Bound) -> Followed:
        return rebuilt(request, question, looks, transcript.terms, once=once, described=described)

    by_rules = described if request.verb == "ask" else None
    question = by_rules or whole_of_looks(transcript, request, looks)
    found = followed(question) if looks else Followed(None, (), ())  # of what is implied
    if looks and found.joined is None and by_rules is not None:
        with suppress(HoldfastError):  # it can only be described
            by_parts = asked_again(request.question, table)
            again = followed(by_parts)
            return (by_parts, again) if again.joined is not None else (question, found)
    return question, found


def _described(text: str, looks: Sequence[Recorded], ground: Ground | None) -> Bound | None:
    """A question with the rules that answer it, if some of its looks are at its description.

    Of a column attached later it has none, though the share of its group may be described.
    """
    if ground is None or all(each.bits is None for each in looks):
        return None
    if not reads_as_written(text, ground):
        return None
    return described_answer(ground.prior.read(text), ground)


def _is_in_range(request: Request, question: Bound) -> bool:
    """Whether a request says the range of its question."""
    return (request.low, request.high, request.unbounded) == stated_range(question)


def _look(transcript: Transcript, number: int) -> Recorded:
    """The look of this number; some were given up."""
    answers = transcript.answers
    answer = answers[bisect_left(answers, number, key=lambda each: each.look or 0)]
    if answer.look != number:
        raise LookupError(f"look {number} was never answered")
    return answer


def _line_fault(reserved: Asked) -> str | None:
    """Fault of a look that is said to be told in the line of a claim."""
    settles = reserved.request.side is not None and reserved.offer.claim is None
    return "there is no claim that it settles" if reserved.folded and not settles else None


def _batch_fault(
    transcript: Transcript, implications: Implications, pending: Pending
) -> str | None:
    """Fault of a batch, and of which of its questions."""
    opening, table = transcript.opening, transcript.table
    unsound = kind_of(opening.mechanism["name"]).fault
    if unsound is not None:
        last = transcript.account.asked + len(pending.asked)
        fault = unsound(transcript.terms, opening.mechanism["parameters"], last)
        if fault:
            return f": {fault}"
    statistics: list[Statistic] = []
    ground = implications.ground
    for place, reserved in enumerate(pending.asked, start=1):
        try:
            late = transcript.dictionaries.of(pending.mechanism.name)
            statistic: Statistic
            if reserved.offer.bits is None and late is None:
                by_rule = claimed_again(transcript, reserved.offer)
                statistic = by_rule or recorded_statistic(reserved.offer.question, table)
            else:
                statistic = offered_again(transcript, ground, pending.mechanism, reserved.offer)
            fault = _question_fault(transcript, reserved, statistic) or _order_fault(
                transcript, reserved
            )
            fault = fault or _width_fault(transcript, reserved)
            fault = fault or _line_fault(reserved)
            if reserved.intersected and implications.of(statistic, transcript) is None:
                fault = fault or "nothing was known that it could be intersected with"
        except HoldfastError:
            fault = "its question cannot be read, or has no interval here"
        if fault:
            return f", question {place}: {fault}"
        statistics.append(statistic)
    fault = _offer_fault(transcript, pending, statistics)
    if fault:
        return fault
    for reserved in pending.asked:
        if not reserved.is_part:
            continue
        question = _whole_of(reserved, ground, table)
        has_parts = reserved.follows is not None or not is_single(question)
        if not has_parts or not _is_in_range(reserved.request, question):
            return ": what it is asked for has no parts, or another range"
    return None


def _whole_of(reserved: Asked, ground: Ground | None, table: Table) -> Bound:
    """What a look is asked for; a described one may be of a group of which only the text tells."""
    text = reserved.request.question
    if ground is None or reserved.offer.bits is None or reserved.follows is not None:
        return asked_again(text, table)
    return ground.prior.read(text)


def _order_fault(transcript: Transcript, reserved: Asked) -> str | None:
    """Whether a look that follows a claim follows one of its own question that was refuted."""
    if reserved.follows is None:
        return None
    before = _look(transcript, reserved.follows.look)
    repeated = reserved.offer.question in (before.question, before.request.question)
    if repeated and before.refuted == reserved.follows:
        return None
    return "it does not follow a claim that was not confirmed"


def _width_fault(transcript: Transcript, reserved: Asked) -> str | None:
    """Whether the half-width of a check is what the public numbers come to that it names."""
    terms, request, offer = transcript.terms, reserved.request, reserved.offer
    if request.likely is None or offer.claim is None or offer.guess is None:
        return None
    wider = request.likely.tolerance > terms.half_width
    by_rule = is_by_rule(offer.profile) or (wider and _is_instead_of_whole(transcript, reserved))
    most = WHOLE_RANGE if by_rule else terms.half_width
    t = request.likely.again(most).tolerance
    # A guess from other rows is a way to ask: its claim alone has the half-width.
    by_rows = alike(list(offer.claim), [offer.guess - t, offer.guess + t])
    fits = alike(request.tolerance, t) if request.guess is not None else by_rows
    is_check = (request.verb, request.side) == ("check", None)
    if fits and alike(request.likely.tolerance, t) and is_check and request.likely.n <= terms.rows:
        return None
    return "its half-width is not the one that its guess makes likely"


def _is_instead_of_whole(transcript: Transcript, reserved: Asked) -> bool:
    """Whether a look is at a part of what was claimed as a whole, and not confirmed."""
    if not reserved.is_part:
        return False
    question = asked_again(reserved.request.question, transcript.table)
    return claimed_as_whole(transcript, question, gated=False) is not None


def _question_fault(transcript: Transcript, reserved: Asked, statistic: Statistic) -> str | None:
    """Whether range and known variance are those of the question's own text."""
    offer = reserved.offer
    if not all(each.ready for each in transcript.attached_among(statistic.columns)):
        return "it is about a column that had no values"
    own = reserved.is_part or _is_in_range(reserved.request, statistic)
    if not own or (reserved.low, reserved.high, reserved.unbounded) != stated_range(statistic):
        return "its range is not that of its question"
    if reserved.subjects and reserved.subjects != subjects_of(statistic):
        return "its subjects are not those of its question"
    if offer.variance is not None:
        variance = known_variance(statistic, transcript.by_question)
        if variance is None or not alike(offer.variance.variance, variance.variance):
            return "its variance was not declared and does not follow from earlier answers"
    return None


def _offer_fault(
    transcript: Transcript, pending: Pending, statistics: list[Statistic]
) -> str | None:
    """Whether the mechanism makes these offers, of these questions, on the account before them."""
    offers = [reserved.offer for reserved in pending.asked]
    try:
        remade = _made_again(transcript, pending, statistics)
    except InvalidQuestion:
        return ": its mechanism does not answer such a question"
    except Refused as error:
        return f": it had to be refused ({error})"
    for place, (offer, again) in enumerate(zip(offers, remade, strict=True), start=1):
        differing = difference_of(offer, again)
        if differing:
            return f", question {place}: its {differing} is not what follows from the ledger"
    return None


def _made_again(
    transcript: Transcript, pending: Pending, statistics: list[Statistic]
) -> list[Offer]:
    terms, account = transcript.terms, transcript.account
    wishes = [
        informed(transcript, _wish_of(reserved, statistic, terms))
        for reserved, statistic in zip(pending.asked, statistics, strict=True)
    ]
    name = pending.mechanism.name
    late = transcript.dictionaries.of(name)
    if name not in (DESCRIBED.name, REVEAL) and (late is None or not late.is_last):
        account.require_open()
    try:
        return pending.mechanism.offer(terms, account, wishes)
    except Refused:  # another machine's logarithms may have made the half-width a little smaller
        wider = [replace(wish, tolerance=wish.tolerance * (1 + CLOSE)) for wish in wishes]
        return pending.mechanism.offer(terms, account, wider)


def _wish_of(reserved: Asked, statistic: Statistic, terms: Terms) -> Wish:
    """Request of the analyst, from its reservation."""
    offer = reserved.offer
    width = terms.half_width if offer.tolerance is None else offer.tolerance
    moment = None if offer.prior is None else (offer.extra or {}).get("moment")
    return Wish(
        statistic,
        width,
        offer.claim,
        offer.guess,
        follows=reserved.follows,
        moment=moment,
        forecast=ForecastGrounds.of_offer(offer),
        graded="grades" in (offer.extra or {}),
        vector=None if offer.coordinate is None else reserved.request.vector,
    )


def difference_of(offer: Offer, again: Offer) -> str | None:
    """Differences of an offer from the one made again, in words; its question is by its text."""
    recorded, expected = offer.to_dict(), {**again.to_dict(), "question": offer.question}
    if again.extra is not None and "event" not in (offer.extra or {}):  # as ledgers once wrote it
        expected["extra"] = {name: each for name, each in again.extra.items() if name != "event"}
    differing = [name for name in recorded if not alike(recorded[name], expected[name])]
    differing.sort(key=lambda name: name not in _CAUSES)
    return next((_FIELDS.get(name, name) for name in differing), None)


def _failure_probability(transcript: Transcript) -> Finding:
    spent = math.exp(transcript.account.leakage.log_beta_spent)
    allowed = 1 - transcript.terms.confidence_level
    return Finding(
        "failure probability",
        spent <= allowed * (1 + 1e-9),
        f"{spent:.6g} of {allowed:.6g} given out, {transcript.account.nats:.6g} nats leaked",
    )


def _unfinished(transcript: Transcript) -> Finding:
    if transcript.pending is None:
        return Finding("unfinished", True, "no question is waiting for its answer")
    waiting = f"{len(transcript.pending.asked)} reserved, to be finished with the next question"
    return Finding("unfinished", True, f"{waiting} (charged)")


def _closed(transcript: Transcript) -> list[Finding]:
    """Since when nothing but described questions was answered: more would be a fault above."""
    closed = transcript.account.closed
    if closed is None:
        return []
    how = "retired" if closed.retired else "closed"
    return [Finding(how, True, f"at {closed.at}: {closed.why}")]


def _filing(places: Sequence[FiledPlace], entries: int, reader: Reader) -> Finding:
    """Whether every answer is filed under its question, so that a repeat finds it."""
    try:
        filed = sorted(place for place in reader.filed() if place[1] <= entries)
    except LedgerTampered as error:
        return Finding("index", False, str(error))
    for mine, theirs in zip_longest(sorted(places), filed):
        if mine is None or theirs is None or not alike(list(mine), list(theirs)):
            seq = next(place for place in (mine, theirs) if place is not None)[1]
            return Finding("index", False, f"what entry {seq} says is not filed as it says it")
    answers = {place[1:4] for place in places}  # a look is filed under its event, too
    return Finding("index", True, f"ok, {plural(len(answers), 'answer')}")


def _columns(transcript: Transcript, reader: Reader) -> Finding:
    """Whether what is beside the ledger is what was attached: it has the marks of the entries."""
    key = transcript.terms.key or ""
    named = [column for column in transcript.attached if not column.is_alias]
    waiting = [column for column in named if not column.ready]
    marked = [column for column in named if column.kept is not None and reader.secret is None]
    compared = [column for column in named if column not in (*waiting, *marked)]
    try:
        for column in compared:
            kept_values(reader, reader.secret, column, key)
    except HoldfastError as error:
        return Finding("columns", False, str(error))
    notes = [f"{len(compared):,} attached, as their digests say"]
    notes += [f"{len(marked):,} computed, not compared without the secret"] * bool(marked)
    notes += [f"{len(waiting):,} whose values are not there yet"] * bool(waiting)
    return Finding("columns", True, "; ".join(notes))


def _same_data(opening: Opening, secret: bytes, sample: Callable[[], Sample]) -> Finding:
    try:
        rows = sample()
        mark = keyed_print(secret, fingerprint(rows))
        wrong = _misstated(opening, rows)
    except HoldfastError as error:
        return Finding("data", False, str(error))
    if mark != opening.fingerprint:
        return Finding("data", False, "the table has changed: its fingerprint is not the ledger's")
    if wrong is not None:
        return Finding("data", False, f"{wrong} of the table are not as the opening says")
    return Finding("data", True, "the table is unchanged: its fingerprint is the ledger's")


def _misstated(opening: Opening, rows: Sample) -> str | None:
    """Misstatement of the opening about the table, in words."""
    sampling, stated = opening.terms.sampling, opening.terms.design
    if not has_shape(opening, rows):
        return "rows or columns"
    if isinstance(sampling, Clustered):
        rows_design = measured(sampling, rows)
        if not alike(sampling_to_dict(sampling), sampling_to_dict(rows_design)):
            return "units"
    if canonical(design_of(rows, stated.columns, sampling).to_dict()) != canonical(
        stated.to_dict()
    ):
        return "groups of the design"
    randomised = opening.terms.randomised
    if (
        randomised is not None
        and randomised_of(rows, randomised.by, randomised.arm, randomised.within or None)
        != randomised
    ):
        return "arms of the trial"
    complete = [name for name in rows.types if opening.schema.never_null.get(name, True)]
    if columns_with_missing(rows, complete):
        return "missing values"
    return None
