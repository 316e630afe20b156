"""Declarations of columns that are corrected: any until something was asked, then by additions.

Ranges and values that are added are short for what could be written out, and take nothing. What
makes texts cheaper than they were (outcomes, segments, planned questions, favourites, weights)
needs a part of what is left of the failure probability: a late dictionary (Theorem O'), whose
texts are longer by all that was told before. Until something was asked that is only which columns
miss values, and by default texts get a part as large as they had at the opening. They cannot have
that one itself: whoever corrects something has seen what the opening told, and two dictionaries
that are chosen by it would have twice its weight.

**Declarations that training rows propose** are values, ranges, what is measured and what it is cut
by. A new ledger that has training rows writes them down where nobody declared anything else. They
are from rows that are not protected, so that every promise holds whatever they say.
"""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from holdfast import require
from holdfast.data.learning import (
    RANGE_LEARNT,
    learnt_numbers,
    learnt_ranges,
    learnt_values,
    require_ranges_fit,
    row_numbers,
)
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.holdout.batch import Body
from holdfast.holdout.desk import Desk, require_late
from holdfast.holdout.options import CorrectionOptions
from holdfast.ledger.chain import now
from holdfast.ledger.dictionaries import DECLARED, Dictionary, after_opening, stake_in
from holdfast.prior.grammar import Columns
from holdfast.prior.literals import Class
from holdfast.question.bounds import Range
from holdfast.question.columns import FROM_TRAINING, Schema
from holdfast.question.declaring import FAMILY, shortened
from holdfast.question.expression import ColumnType, ValueKind, identifier
from holdfast.statistics.description import Prior
from holdfast.theory.leakage.claim_levels import log_left
from holdfast.wording import plural

_CHEAPER = (*FAMILY, "favourites", "weights")  # what changes nothing but lengths
ADDED_LATER = ("bounds", "values", *_CHEAPER)
_MOST_BY_DEFAULT = 2 / 3
_WORTH_IT = math.log(4.0)


@dataclass(frozen=True, slots=True)
class DeclareCost:
    """Price of declarations, before they are made. Free to know, and nothing of the data.

    `bits` is by how much texts in the new dictionary are longer than they would have been at the
    opening; None where there is none. `questions_left` is how many questions without a description
    are left at the declared half-width, now and afterwards.
    """

    share: float
    bits: float | None
    questions_left: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {**plain, "questions_left": list(self.questions_left)}

    def __str__(self) -> str:
        if self.bits is None:
            return (
                "free: questions that use it have the length of what it stands for, as if its "
                "ranges and values were written out"
            )
        before, after = self.questions_left
        return (
            f"{self.share:g} of what is left of the failure probability for questions without a "
            f"text ({before:,} left now, {after:,} afterwards); texts about it are as wide as if "
            f"they were {max(0.0, self.bits):.0f} bits longer, because of all that was told "
            "before, or as if it were written out, whichever is narrower"
        )

    __repr__ = __str__


@require.takes(CorrectionOptions, "declare")
def declare_more(desk: Desk, **declared: Unpack[CorrectionOptions]) -> DeclareCost:
    """Declare something anew, or add it; what that took."""
    cost = cost_of_declaring(desk, **declared)

    def entry() -> list[Body]:
        return [_proposed(desk, declared).body()]

    desk.tell(entry)
    return cost


@require.takes(CorrectionOptions, "declare_cost")
def cost_of_declaring(desk: Desk, **declared: Unpack[CorrectionOptions]) -> DeclareCost:
    """What it would take to declare this now; refused as it would be."""
    desk.refresh()
    transcript = desk.transcript
    terms, account, mechanism = transcript.terms, transcript.committed, transcript.mechanism
    before = mechanism.questions_left(terms, account)
    proposed = _proposed(desk, declared)
    if proposed.share == 0.0:
        return DeclareCost(0.0, None, (before, before))
    after = after_opening(account, proposed.stake, proposed.share)
    longer = (terms.log_beta_described - proposed.stake.log_level) / math.log(2.0)
    questions_left = (before, mechanism.questions_left(terms, after))
    return DeclareCost(proposed.share, longer, questions_left)


def _default_share(desk: Desk) -> float:
    """Before anything is asked, the share with which texts are as wide as at the opening.

    None where too little is left for that, or something was asked.
    """
    transcript = desk.transcript
    if desk.ground is None or not transcript.is_unasked:
        return 0.0
    terms, account = transcript.terms, transcript.committed
    remaining = log_left(terms.log_beta, account.leakage.log_beta_spent)
    lacking = terms.log_beta_described - remaining
    return min(_MOST_BY_DEFAULT, math.exp(lacking)) if lacking < _WORTH_IT else 0.0


def _wanted(desk: Desk, declared: CorrectionOptions) -> Schema:
    """The schema as it is, with what is declared now, in the words that a ledger keeps."""
    schema = desk.transcript.dictionaries.declared(desk.opening.schema)
    families = {
        option: require.texts(option, texts) for option in FAMILY if (texts := declared.get(option))
    }
    wanted = schema.declare(declared.get("schema")).with_family(**families)
    wanted = Schema.from_dict({**Prior(wanted).to_dict(), "learnt": list(wanted.learnt)})
    Prior(wanted).require_family()
    if wanted.to_dict() == schema.to_dict():
        raise InvalidArgument(
            "nothing of this is new to the ledger; declare more: schema= (--schema FILE), "
            "outcomes= (--outcome), segments= (--segment) or planned= (--planned)."
        )
    return wanted


def _proposed(desk: Desk, declared: CorrectionOptions) -> Dictionary:
    """What is added, with its stake; refused where it changes what was said."""
    transcript, wanted = desk.transcript, _wanted(desk, declared)
    before = transcript.dictionaries.declared(desk.opening.schema)
    _require_opened_with(before, wanted)
    if not transcript.is_unasked:
        _require_added(before, wanted)
    named = declared.get("share")
    share = _default_share(desk) if named is None else named
    share = require.between("share", share, 0.0, 1.0, open_high=True)
    opened, later = desk.opening.schema.to_dict(), wanted.to_dict()
    cheaper = [name for name in _CHEAPER if later.get(name, []) != before.to_dict().get(name, [])]
    if cheaper and share == 0.0:
        raise InvalidArgument(
            f"{cheaper[0]} would make questions shorter, and something was told before "
            f"({plural(transcript.account.looks, 'answer')}); give it a part of what is left of "
            "the failure probability, such as share=0.1, and see the price first: declare_cost "
            "(--dry-run)."
        )
    for name in ("why", "asked_by"):
        if declared.get(name) is not None:
            require.text(name, declared.get(name))
    number = len(transcript.dictionaries.declarations) + 1
    log_beta = nats = 0.0
    if share > 0.0:
        require_late(desk, "declarations with a share")
        if desk.ground is None:
            raise InvalidArgument(
                f"share is {share:g}, and this ledger describes no questions; leave it out."
            )
        transcript.committed.require_open()
        log_beta, nats = stake_in(transcript.terms, transcript.committed, share)
    return Dictionary(
        kind=DECLARED,
        name=f"declared {number}",
        size=1,
        questions=(),
        share=share,
        log_beta=log_beta,
        nats=nats,
        columns=len(transcript.attached.columns),
        at=now(),
        why=declared.get("why"),
        by=declared.get("asked_by"),
        added=_added(opened, later),
    )


def _require_opened_with(before: Schema, wanted: Schema) -> None:
    """Refuse what only an opening says: tails, and which columns may miss values."""
    nullable, again = (
        {name for name, never in each.never_null.items() if not never} for each in (before, wanted)
    )
    for option, changed in (
        ("scales", wanted.scales != before.scales),
        ("never_null", again != nullable),
    ):
        if changed:
            raise InvalidArgument(
                f"{option} can only be declared when a ledger is opened; use another ledger."
            )


def _require_added(before: Schema, wanted: Schema) -> None:
    """Refuse what would change a range, or take a value away."""
    for name, bounds in before.bounds.items():
        if wanted.bounds[name] != bounds:
            low, high = bounds
            raise InvalidArgument(
                f"column {shortened(name)} counts from {low:g} to {high:g}, and questions were "
                "answered; a range can be added and not changed. Write the other one in the "
                f"question: clip({name}, {wanted.bounds[name].low:g}, {wanted.bounds[name].high:g})"
                "."
            )
    for name, values in before.values.items():
        lost = [each for each in values if each not in wanted.values[name]]
        if lost:
            raise InvalidArgument(
                f"column {shortened(name)} has the value {lost[0]!r}, and questions were answered; "
                "values can be added and not taken away. Name all of them."
            )


def _added(opened: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """What one schema says beyond another one, by their plain values."""
    added: dict[str, Any] = {}
    for name in ADDED_LATER:
        before, after = opened.get(name, {}), later.get(name, {})
        if isinstance(after, Mapping):
            new: Any = {key: each for key, each in after.items() if before.get(key) != each}
        else:
            new = [each for each in after if each not in before]
        if new:
            added[name] = new
    return added


# Learnt from training rows.


_MOST_OUTCOMES = 8
_MOST_SEGMENTS = 8


def schema_learnt_from(
    training: Sample, declared: Schema, public: Collection[str], *, family: bool
) -> Schema:
    """The schema with what training rows say of columns of which nothing was declared.

    Of `public` columns, and of numbers of rows, nothing is measured; with `family`, what is and
    what it is cut by are proposed, unless somebody said so. Refused where declared ranges leave
    out most of the rows.
    """
    require_ranges_fit(training, declared.bounds)
    text = [name for name, kind in declared.types.items() if kind is ColumnType.TEXT]
    numbers = [
        name
        for name, kind in declared.types.items()
        if kind.kind is ValueKind.NUMBER
        and not any(
            name in known for known in (public, declared.scales, declared.bounds, declared.values)
        )
    ]
    values = learnt_values(training, [name for name in text if name not in declared.values])
    few = learnt_numbers(training, numbers)
    ranges = learnt_ranges(training, [name for name in numbers if name not in few])
    ends = {name: Range(each[0], each[-1]) for name, each in few.items()}
    schema = declared.learn({**values, **few}, {**ranges, **ends})
    named = (schema.outcomes, schema.segments, schema.planned, schema.favourites)
    if not family or any(named):
        return schema
    keys = row_numbers(training, numbers)
    return schema.with_family(*proposed_family(schema, {*public, *keys}))


def proposed_family(schema: Schema, public: Collection[str] = ()) -> tuple[list[str], list[str]]:
    """What could be measured, and what it could be cut by; nothing, where either is missing."""
    places = {name: each for name, each in Columns(schema).places.items() if name not in public}
    flags = [name for name, place in places.items() if place.of is Class.FLAG]
    numbers = [
        name
        for name, place in places.items()
        if place.of is Class.RANGE or (place.of is Class.LEVEL and place.values)
    ]
    outcomes = [*flags, *numbers][:_MOST_OUTCOMES]
    segments = [
        name
        for name, place in places.items()
        if place.of is Class.LEVEL or (place.of is Class.CODE and len(place.values) > 1)
    ][:_MOST_SEGMENTS]
    if not outcomes or not segments:
        return [], []
    return [identifier(name) for name in outcomes], segments


@dataclass(frozen=True, slots=True)
class Learnt:
    """Table of what training rows said of columns, and of what is measured and cut by."""

    schema: Schema
    rows: int | None = None  # that were put aside, where the ledger knows it

    @property
    def columns(self) -> dict[str, str]:
        """The columns of which something was learnt, and what, in words."""
        own = self.schema.without_learnt
        return {
            name: "; ".join(
                fact.removesuffix(FROM_TRAINING)
                for fact in self.schema.facts(name)
                if fact not in own.facts(name)
            )
            for name in self.schema.types
            if name in self.schema.learnt
        }

    def __str__(self) -> str:
        width = max(map(len, self.columns), default=0)
        lines = [f"{name:<{width}}  {facts}" for name, facts in self.columns.items()]
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(facts)}</td></tr>"
            for name, facts in self.columns.items()
        )
        notes = "<br>".join(map(html.escape, self.notes))
        return f"<table><tbody>{cells}</tbody></table><small>{notes}</small>"

    @property
    def notes(self) -> list[str]:
        """How much was learnt from which rows, and what that means."""
        schema = self.schema
        whence = "training rows" if self.rows is None else f"{plural(self.rows, 'row')} put aside"
        notes = [f"Learnt from {whence}." if self.columns else f"Nothing was learnt from {whence}."]
        if any(name in schema.bounds for name in self.columns):
            notes.append(
                f"Ranges: {RANGE_LEARNT}. Where a column is averaged, values outside count as the "
                "nearest end."
            )
        if schema.outcomes and schema.segments:
            notes.append(
                f"Measured: {', '.join(schema.outcomes)}; cut by: {', '.join(schema.segments)}. "
                "Questions about these have the narrowest intervals."
            )
        return notes
