"""Certificate: a ledger's entries with all that follows from them, as JSON and as a page."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from holdfast import require
from holdfast.certificate.signing import Signature, SigningKey
from holdfast.certificate.statement import statement_of
from holdfast.errors import InvalidArgument, LedgerUnavailable
from holdfast.ledger.chain import Row, canonical, now
from holdfast.ledger.transcript import Transcript
from holdfast.wording import plural

KIND = "holdfast certificate/1"
_ENDINGS = (".html", ".json", ".pdf")


def _version() -> str:
    from holdfast import __version__

    return __version__


@dataclass(frozen=True)
class ReuseCertificate:
    """Certificate of what was promised, assumed and answered, for people without data and ledger.

    It carries the ledger's `entries`, and everything else it says follows from them; so whoever has
    its JSON can audit it alone. It shows no row, no path, no secret and no seal: with a seal, an
    older copy of the ledger could be passed off as the newest. Without `signatures`, whoever has it
    can write another one.
    """

    entries: tuple[Row, ...]
    made: str = field(default_factory=now)
    version: str = field(default_factory=_version)
    signatures: tuple[Signature, ...] = ()

    @cached_property
    def transcript(self) -> Transcript:
        """The ledger as the entries say it; refused where they do not follow from each other."""
        transcript = Transcript()
        transcript.apply(self.entries)
        return transcript

    @cached_property
    def statement(self) -> Mapping[str, Any]:
        """Statement that follows from the entries, as plain values."""
        return statement_of(self.transcript)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values; the digest covers all the others."""
        facts = {
            "kind": KIND,
            "made": self.made,
            "holdfast": self.version,
            "signatures": [each.to_dict() for each in self.signatures],
            **self.statement,
            "entries": [
                {"seq": seq, "text": text, "hash": hashed} for seq, text, hashed in self.entries
            ],
        }
        return {**facts, "digest": certificate_digest(facts)}

    def signed(self, key: SigningKey) -> ReuseCertificate:
        """The same with one more signature."""
        facts = {**self.statement, "made": self.made}
        return replace(self, signatures=(*self.signatures, key.sign(facts)))

    def to_json(self) -> str:
        """The text of the JSON file: `holdfast audit` verifies it alone."""
        return certificate_text(self.to_dict())

    def to_html(self) -> str:
        """The text of the page for people: it needs no other file, no script and no network."""
        from holdfast.certificate.page import page_of

        return page_of(self)

    def to_pdf(self) -> bytes:
        """The page on paper; it needs Chromium, Chrome or Edge on this machine."""
        from holdfast.certificate.page import pdf_of

        return pdf_of(self.to_html())

    def _text(self, form: str) -> str:
        return self.to_json() if form == ".json" else self.to_html()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it; the ending of the name says the form: .html, .json or .pdf."""
        target = _require_target(path)
        form = target.suffix.lower()
        content = self.to_pdf() if form == ".pdf" else self._text(form).encode()
        try:
            target.write_bytes(content)
        except OSError as error:
            raise LedgerUnavailable(
                f"the certificate {str(target)!r} cannot be written ({error}); choose another "
                "place. Nothing was spent."
            ) from error
        return target

    def __str__(self) -> str:
        facts = self.statement
        lines = sum(each["part_of"] is None for each in facts["answers"])
        return (
            f"Certificate of {facts['name']!r}, made {self.made}: {plural(lines, 'answer')}, "
            f"{plural(facts['count'], 'entry', 'entries')}, newest hash {facts['head'][:12]}, "
            f"{self.signed_by}"
        )

    __repr__ = __str__

    @property
    def signed_by(self) -> str:
        """Signers, in words."""
        names = " and ".join(each.signer for each in self.signatures)
        return f"signed by {names}" if names else "not signed"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(str(self))}</p>"


def certified(
    entries: Callable[[], Iterable[Row]],
    path: str | os.PathLike[str] | None = None,
    key: SigningKey | None = None,
) -> ReuseCertificate:
    """The certificate of the entries that are read now, signed with a key; saved if named."""
    if path is not None:
        _require_target(path)  # before anything is read
    certificate = ReuseCertificate(tuple(entries()))
    if key is not None:
        certificate = certificate.signed(key)
    if path is not None:
        certificate.save(path)
    return certificate


def _require_target(path: object) -> Path:
    """Check of a target: a folder that is there, a name that says the form."""
    target = require.file("the certificate's file", path)
    if target.suffix.lower() not in _ENDINGS:
        raise InvalidArgument(
            f"the certificate's file is {str(target)!r}; its name must end in .html (to read), "
            ".pdf (on paper) or .json (to audit)."
        )
    if not target.parent.is_dir():
        raise InvalidArgument(
            f"the certificate's file is {str(target)!r}, and there is no folder "
            f"{str(target.parent)!r}; create it first."
        )
    return target


def certificate_digest(facts: Mapping[str, Any]) -> str:
    """Digest that tells these facts from all others."""
    return sha256(canonical(dict(facts)).encode()).hexdigest()


def certificate_text(facts: Mapping[str, Any]) -> str:
    """The one text of a certificate's file: a fact on a line, and of a list each thing on one."""
    lines = [f"{_json(name)}: {_value(value)}" for name, value in facts.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _value(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return _json(value)
    return "[\n  " + ",\n  ".join(map(_json, value)) + "\n]"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
