"""Audit of a certificate's file alone: no ledger, no secret and no data is needed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from holdfast.certificate.certificate import (
    KIND,
    ReuseCertificate,
    certificate_digest,
    certificate_text,
)
from holdfast.certificate.signing import Signature
from holdfast.errors import HoldfastError, LedgerUnavailable
from holdfast.ledger.audit import Copied, Finding, retrace
from holdfast.ledger.chain import RESTORE, Row
from holdfast.mechanisms.mechanism import alike

# What does not follow from the entries.
_OWN = ("kind", "made", "holdfast", "signatures", "entries", "digest")


def audit_certificate(
    path: Path, progress: Callable[[int, int], None] | None = None, key: str | None = None
) -> list[Finding]:
    """Every point of the audit: the file, the chain, every interval, all that is said, who signed.

    With a public `key`, it must be signed with that one.
    """
    try:
        text = path.read_bytes().decode()
        facts, rows = _parsed(text)
        signatures = _signatures(facts)
    except OSError as error:
        raise LedgerUnavailable(f"the file {str(path)!r} cannot be read ({error}).") from error
    except (ValueError, RecursionError) as error:
        return [Finding("file", False, f"it is no certificate, or no longer one: {error}")]
    again = retrace(Copied(rows), progress)
    findings = [_file(text, facts), *map(_of_a_copy, again.findings)]
    if again.places is not None:
        findings.append(_statement(facts, rows))
    newest = rows[-1][2] if rows else ""  # whatever the file says that it is
    return [*findings, *_signed({**facts, "head": newest}, signatures, key)]


def read_certificate(path: Path) -> ReuseCertificate:
    """The certificate of a file that its audit found in order."""
    facts, rows = _parsed(path.read_bytes().decode())
    return ReuseCertificate(rows, facts["made"], facts["holdfast"], _signatures(facts))


def unproven(path: Path) -> str | None:
    """Warning that an audit without a key does not tell who wrote a certificate."""
    try:
        signatures = _signatures(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return None  # the audit itself will say what is wrong
    if not signatures:
        return (
            "nobody signed it, so that whoever had a copy may have written another history; ask "
            "its maker for a signed one."
        )
    signers = " and ".join(f"{each.key} ({each.signer})" for each in signatures)
    return f"signed with {signers}; whose key that is, only --signed-by KEY can compare."


def _signatures(facts: Any) -> tuple[Signature, ...]:
    bodies = facts.get("signatures") if isinstance(facts, dict) else None
    if not isinstance(bodies, list):
        raise ValueError("it has no list of signatures")
    return tuple(map(Signature.read, bodies))


def _signed(
    facts: Mapping[str, Any], signatures: tuple[Signature, ...], key: str | None
) -> list[Finding]:
    """Whether each signature is of this history, and one is by the key that was named."""
    wrong = [each for each in signatures if not each.holds_for(facts)]
    if wrong:
        fault = f"that of {wrong[0].signer} with {wrong[0].key} is of something else"
        return [Finding("signature", False, fault)]
    if key is None:
        return []
    by = [each for each in signatures if each.key == key]
    if not by:
        keys = " and ".join(each.key for each in signatures) or "no key"
        return [Finding("signature", False, f"it is signed with {keys}, and not with {key}")]
    return [Finding("signature", True, f"by {by[0].signer} at {by[0].at}, with the key named")]


def _parsed(text: str) -> tuple[dict[str, Any], tuple[Row, ...]]:
    """Facts of the file, and its entries; a ValueError says why it is no certificate."""
    facts = json.loads(text)
    if not isinstance(facts, dict) or facts.get("kind") != KIND:
        raise ValueError(f"it does not begin with its kind, {KIND!r}")
    entries = facts.get("entries")
    if not isinstance(entries, list):
        raise ValueError("it has no entries")
    return facts, tuple(_row(place, entry) for place, entry in enumerate(entries, start=1))


def _row(place: int, entry: Any) -> Row:
    match entry:
        case {"seq": int(seq), "text": str(text), "hash": str(hashed), **rest} if not rest:
            return seq, text, hashed
    raise ValueError(f"entry {place} lacks its number, its text or its hash, or has more")


def _of_a_copy(finding: Finding) -> Finding:
    """Finding on a ledger, without what to do about one: a copy is not restored."""
    return replace(finding, detail=finding.detail.removesuffix(RESTORE).rstrip())


def _file(text: str, facts: Mapping[str, Any]) -> Finding:
    """Whether the file is, letter by letter, as it was written, and has its own digest."""
    try:
        again = certificate_text(facts)
        digest = certificate_digest({name: facts[name] for name in facts if name != "digest"})
    except (HoldfastError, ValueError) as error:
        return Finding("file", False, f"it holds what no certificate does: {error}")
    if text != again:
        lines = zip_longest(text.split("\n"), again.split("\n"))
        number = next(
            place for place, (line, expected) in enumerate(lines, start=1) if line != expected
        )
        return Finding("file", False, f"line {number} is not as it was written")
    if digest != facts.get("digest"):
        return Finding(
            "file", False, "its digest is that of another text: something in it was changed"
        )
    return Finding("file", True, f"as it was written at {facts.get('made')}")


def _statement(facts: Mapping[str, Any], rows: tuple[Row, ...]) -> Finding:
    """Whether all that is said follows from the entries."""
    expected = ReuseCertificate(rows, "", "").statement
    stated = {name: value for name, value in facts.items() if name not in _OWN}
    where = next(iter(_differing(stated, json.loads(json.dumps(expected)))), None)
    if where is None:
        return Finding("statement", True, f"{len(stated)} points derived again from the entries")
    writer, reader = facts.get("holdfast"), ReuseCertificate(()).version
    hint = f" (Holdfast {writer} wrote it; audit it with that version)" * (writer != reader)
    return Finding("statement", False, f"{where} does not follow from the entries{hint}")


def _differing(stated: Any, expected: Any, place: str = "") -> list[str]:
    """Differences of two values, in words; nothing if they are alike."""
    if alike(stated, expected):
        return []
    match stated, expected:
        case dict(), dict():
            names = [*expected, *(name for name in stated if name not in expected)]
            pairs = [(name, stated.get(name), expected.get(name)) for name in names]
        case list(), list():
            pairs = [
                (f"{number}", *both)
                for number, both in enumerate(zip_longest(stated, expected), start=1)
            ]
        case _:
            return [place]
    for name, mine, theirs in pairs:
        differences = _differing(mine, theirs, f"{place}, {name}" if place else str(name))
        if differences:
            return differences
    return [place or "what it says"]
