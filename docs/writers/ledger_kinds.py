"""The kinds of entries of a ledger: fields as the software writes them, each with its meaning.

The fields are those of entries that are made here by what writes every ledger. One that has no
meaning below fails, and so does a meaning without a field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from docs.writers.markdown import generated, page, table

from holdfast.data.sampling import Independent
from holdfast.ledger import attachments, entries
from holdfast.ledger.attachments import (
    AttachedColumn,
    BoardTerms,
    Promotion,
    TurnedAway,
    ValuesKept,
)
from holdfast.ledger.dictionaries import Dictionary
from holdfast.ledger.entries import Asked, Request, closing, retirement, revelation
from holdfast.ledger.opening import Opening
from holdfast.mechanisms import forecast_gates
from holdfast.mechanisms.forecast_gates import Untried
from holdfast.mechanisms.mechanism import LikelyWidth, Offer, Release
from holdfast.mechanisms.terms import Terms
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.theory.base.intervals import Interval

__all__ = ["ledger_page"]

_POINT = re.compile(r"^\* ``([a-z_]+/\d)``: (.+?)\.?\n(?=\* |\n)", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(r"`([a-z_]+/\d)` (.+?)\.\s", re.DOTALL)

# What means the same wherever it occurs.
_COMMON = {
    "at": "when it was written (UTC)",
    "bounds": "the declared range of the values",
    "by": "who, as they were called",
    "charge": "what it leaked, in nats",
    "column": "which column, by the first name that it had here",
    "guess": "the guess; of a one-sided claim, the bound",
    "high": "the upper end of the range of the values",
    "key": "the call's own name: made again with it, it is told the same",
    "kind": "the kind of the entry, with its version",
    "low": "the lower end of the range of the values",
    "mechanism": "what answers, by name and version",
    "name": "what it is called",
    "number": "which look at the data it is, counted from 1",
    "question": "the canonical text of a statistic",
    "reserve": "the number of the entry that reserved the batch",
    "status": "answered, confirmed, not confirmed, shown, not shown, says nothing or no promise",
    "tolerance": "a half-width, as a part of the range",
    "value": "what was told; null where nothing is said",
    "why": "the reason, in words",
}
_DICTIONARY = {
    "code": "the digest of what makes the models",
    "columns": "how many columns had been attached",
    "computed": "whether one program makes the values of all rows alike",
    "log_beta": "ln of the failure probability that it has",
    "nats": "what had leaked before it was opened",
    "questions": "the questions that were declared",
    "share": "the part of what was left that it has",
    "size": "how many configurations, or questions, it has",
    "space": "the digest of the configurations",
    "train": "the fingerprint of the rows that the models are made from",
}
_OPENING = {
    "assumes": "what else the mechanism's promise rests on, in words",
    "candidates": "how many are gated at most; null: open-ended",
    "confidence_level": "the probability that all intervals are true together",
    "described": "how questions that are text are answered: exact, rounded or off",
    "described_share": "their part of the failure probability",
    "design": "the columns that somebody decided, with the sizes of their groups",
    "fingerprint": "of the table, keyed with the ledger's secret",
    "key": "the public column by which values are attached",
    "looked_up": "how many columns were searched for missing values at opening, and how many "
    "had some; null: nobody looked, or nobody counted it",
    "mechanism": "what answers questions without a description, with its options",
    "public": "the columns that people know",
    "questions": "how many were declared; null: open-ended",
    "reveal_share": "what is kept for a statistic that is revealed at the end",
    "rules": "which rules describe: those of the version by which it was opened, 1 where it "
    "is not said",
    "randomised": "how the two values of the column of arms were drawn, and within which "
    "columns; null: nothing is said of it",
    "rows": "how many rows are protected",
    "sampling": "how the rows came about",
    "schema": "the types of the columns, and what was declared of them",
    "surprises": "how many of the questions may be refuted guesses",
    "tolerance": "the promised half-width, as a part of the range; null: none is promised",
}
_OWN: Mapping[str, Mapping[str, str]] = {
    "untried/1": {
        "dev": "rows of its development run where it alone was right, where the incumbent was, and "
        "all rows; null: there was none",
        "forecast": "how likely it was to be shown; null where it was stopped on development rows",
    },
    "open/3": _OPENING,
    "reserve/2": {
        "asked": "what people asked for: a list of *requests*",
        "items": "what is looked at for them: a list of *looks*",
    },
    "settle/2": {
        "answers": "what the symbols stand for: a list of *releases*",
        "symbols": "what came out, one symbol of a public alphabet for each look",
    },
    "told/1": {"lines": "what was told: a list of *lines*"},
    "retire/1": {"successor": "what is to be asked instead; null: nothing"},
    "attach/1": {
        "digest": "who it is: of its content, or declared; null: its name is",
        "keyless": "whether one program made the values for all rows alike",
        "name": "the name that it gets now",
        "origin": "submitted, or computed from protected rows",
        "type": "the type of the values",
    },
    "values/1": {
        "mark": "of the digest of the values, keyed with the ledger's secret",
        "salt": "a salt of its own",
    },
    "board/1": {
        "cap": "of capped errors: at what they are",
        "label": "the column of labels",
        "metric": "what submissions are scored by",
        "public": "whether submissions are compared as they come",
        "wrong_claims": "after how many refuted claims no more are checked",
        "y_range": "of errors: the range of labels and predictions",
    },
    "turned_away/1": {"called": "what its team calls it", "team": "whose submission it was"},
    "search/2": _DICTIONARY,
    "final/2": _DICTIONARY,
    "winner/1": _DICTIONARY,
    "declared/1": {
        **_DICTIONARY,
        "added": "what was declared since the opening, as a schema has it",
    },
    "reopen/1": _OPENING,
    "search/1": _DICTIONARY,
    "final/1": _DICTIONARY,
    "abandon/1": {"reason": "why the batch can never be finished"},
    "request": {
        "better": "of a difference: whether higher or lower is better",
        "side": "of a one-sided claim: at least or at most",
        "table": "what was asked for, where this is one of its groups or places",
        "unbounded": "whether the values have no range; low and high are then those of a grid",
        "likely": "only where the half-width of a check was chosen: `tolerance`, and what it is "
        "made of: `n` rows, the `rows` that the guess is worth, `variance`, the level `log_p`, and "
        "whether `by_bets`",
        "verb": "ask, check or gate",
    },
    "look": {
        "follows": "the claim that was not confirmed, of which it says what is true instead",
        "for": "which of the requests it is for, counted from 0",
        "nonce": "of a function or a computed column: keeps its noise its own",
        "offer": "what is public of it before its answer: an *offer*",
        "subjects": "only where its answer may imply something of others, or they of it: by what "
        "it is found",
        "unbounded": "whether the values have no range; low and high are then those of a grid",
    },
    "offer": {
        "bits": "the length of a described question",
        "claim": "the interval that a check or gate claims; null for an ask",
        "extra": "plain values that only the mechanism reads",
        "grid": "the public grid whose cells are the symbols",
        "log_p": "ln of the level of its statement about the sample",
        "log_share": "ln of the part of the failure probability that it takes",
        "prior": "the public weight of the symbol that is not expected",
        "profile": "its concentration, where that is not a mean's",
        "radius": "the radius of its statement about the sample",
        "tolerance": "the half-width; null where none is promised",
        "variance": "the bound that made it narrower",
        "worst_charge": "the most that it can leak, in nats: reserved",
    },
    "release": {
        "high": "the upper end of the interval",
        "low": "the lower end of the interval",
        "rows": "the least and the greatest number of rows that it may be about",
    },
    "line": {
        "interval": "low and high, in the unit of the question",
        "line": "which line of the ledger it is, counted from 1",
        "missing": "only where it follows from one look: how many of the rows have no value, at "
        "least and at most",
        "parts": "the looks that it follows from",
        "repeated": "whether it was told before",
        "request": "what was asked for: a *request*",
        "rows": "only where it follows from one look: the least and the greatest number of rows "
        "that it may be about",
    },
}
_INSIDE = {
    "request": "What somebody asked for, in its own unit.",
    "look": "One look at the data. One that is `intersected` with what earlier answers imply of "
    "its question is no line by itself, nor is one that is `folded`: it settles a claim, whose "
    "line has the verdict.",
    "offer": "All that is public before the answer, as parts of the range.",
    "release": "What a symbol stands for, as parts of the range.",
    "line": "What was told. Of a line that is there already, the first three fields are. A check "
    "that its answer confirms, and its tests did not, has `implied`: how many tests those were. "
    "One that earlier answers made narrower, or that follows from them, has `known`: the looks "
    "that say so; with `contradict` they contradict each other or the answer, and nothing was "
    "implied.",
}


def ledger_page() -> str:
    """Every kind of entry with its fields, and the records inside them."""
    made = {body["kind"]: body for body in _entries()}
    said = _meanings()
    if made.keys() != said.keys():
        raise ValueError(f"entries without a meaning, or none to it: {made.keys() ^ said.keys()}")
    lines = [
        generated("what writes the ledger"),
        "# Kinds of ledger entries\n",
        "A ledger is a chain of entries, each a JSON object in canonical form (sorted keys, no "
        "spaces), whose hash covers the one before it. A kind's name carries a version, and its "
        "meaning never changes: a ledger with a kind that is not on this page was written by "
        "another version, and is refused. `holdfast audit` derives every answer again from these "
        "entries alone. More in [Holdouts and the ledger](../holdout.md#the-ledger).\n",
        *table(
            ("kind", "what it says"),
            [(f"[`{kind}`](#{kind.replace('/', '')})", what) for kind, what in said.items()],
        ),
        "Every entry has its `kind`, and when it was written, in UTC (`at`).\n",
    ]
    for kind in said:
        same = next((each for each in said if made[each].keys() == made[kind].keys()), kind)
        lines.append(f"## `{kind}`\n")
        lines += _fields(kind, made[kind]) if same == kind else [f"The fields of `{same}`.\n"]
    lines.append("## Inside entries\n")
    for name, body in _records().items():
        lines += [f"### {name.capitalize()}\n", f"{_INSIDE[name]}\n", *_fields(name, body)]
    return page(*lines)


def _meanings() -> dict[str, str]:
    """What each kind says, in the words of the modules that define the entries."""
    found = _POINT.findall(entries.__doc__ or "")
    for module in (attachments, forecast_gates):
        found += _SENTENCE.findall(module.__doc__ or "")
    return dict(found)


def _fields(name: str, body: Mapping[str, Any]) -> list[str]:
    own = _OWN.get(name, {})
    if not own.keys() <= body.keys():
        raise ValueError(f"{name} has no fields {own.keys() - body.keys()}")
    known = {**_COMMON, **own}
    shown = [each for each in body if each not in ("kind", "at")]
    return table(("field", "meaning"), [(f"`{each}`", known[each]) for each in shown])


_AT, _TEXT = "", ""  # of entries that are made for their fields


def _entries() -> list[dict[str, Any]]:
    """An entry of each kind."""
    terms = Terms(1_000, 0.05, 0.95, None, Independent())
    column = AttachedColumn(_TEXT, _TEXT, "submitted", "0", ColumnType.BOOLEAN, None, _AT, None)
    return [
        Opening(_AT, _TEXT, terms, Schema({}), {"name": "bounded noise"}, _TEXT).body(),
        entries.reservation(_AT, _TEXT, []),
        entries.settlement(_AT, 1, [], []),
        entries.telling(_AT, None, []),
        closing(_AT, _TEXT),
        retirement(_AT, _TEXT, None),
        column.body(),
        ValuesKept(_TEXT, _TEXT, _AT).body(_TEXT),
        Promotion(_TEXT, _TEXT, None, None, _AT).body(),
        BoardTerms(_TEXT, _TEXT, None, public=True, wrong_claims=3, at=_AT).body(),
        TurnedAway(_TEXT, None, _TEXT, _AT).body(),
        Dictionary("search/2", _TEXT, 1, (), 0.5, -4.0, 0.0, 0, _AT).body(),
        Dictionary("final/2", _TEXT, 1, (), 1.0, -4.0, 0.0, 0, _AT).body(),
        Dictionary("winner/1", _TEXT, 1, (), 0.0, 0.0, 0.0, 0, _AT, computed=True).body(),
        Dictionary("declared/1", _TEXT, 1, (), 0.0, 0.0, 0.0, 0, _AT, added={}).body(),
        Opening(_AT, _TEXT, terms, Schema({}), {"name": "bounded noise"}, _TEXT).reopening(),
        Dictionary("search/1", _TEXT, 1, (), 0.5, -4.0, 0.0, 0, _AT).body(),
        Dictionary("final/1", _TEXT, 1, (), 1.0, -4.0, 0.0, 0, _AT).body(),
        revelation(_AT, _TEXT),
        Untried(_AT, _TEXT, None, None).body(),
        entries.abandonment(_AT, 1, _TEXT),
    ]


def _records() -> dict[str, Mapping[str, Any]]:
    """What is inside entries, by the names that they have on the page."""
    offer = Offer(1, _TEXT, 0.05, None, 0.1)
    likely = LikelyWidth(0.1, 1, 1, 0.25, -1.0, False)
    wanted = Request(_TEXT, 0.0, 1.0, likely=likely)
    asked = Asked(offer, 0.0, 1.0, wanted, subjects=(_TEXT,))
    release = Release(1, "answered", 0.5, Interval(0.4, 0.6), 0.1)
    told = ["line", "repeated", "request", "status", "value", "interval", "charge", "parts"]
    told += ["rows", "missing"]
    return {
        "request": asked.request.body(),
        "look": asked.body(0),
        "offer": offer.to_dict(),
        "release": entries.settlement(_AT, 1, [3], [release])["answers"][0],
        "line": dict.fromkeys((*told, "rows", "missing")),
    }
