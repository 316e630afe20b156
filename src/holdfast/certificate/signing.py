"""Signatures of certificates: Ed25519, by the key of a person or of a service's folder.

A chain of hashes shows that entries follow from one another, not who wrote them: whoever holds a
copy can write another history with hashes that fit. What is signed is the newest hash, which covers
all entries, with the name, the number of entries, the time, and who signs. So nobody who lacks the
key can change a letter, and whoever has the public key can tell.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.errors import InvalidArgument, LedgerUnavailable
from holdfast.ledger.chain import canonical, now
from holdfast.ledger.side_files import sync_folder, write_new

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_KIND = "holdfast signature/1"
_KEY_KIND = "holdfast key/1"
_ALGORITHM = "ed25519:"
_KEY_BYTES, _SIGNATURE_BYTES = 32, 64
_LONGEST = 200  # characters of a name
_FACTS = ("name", "count", "head", "made")  # of a certificate, which all else follows from


@dataclass(frozen=True, slots=True)
class Signature:
    """Somebody's word for one history: who, when, with which public key."""

    person: str
    organisation: str
    at: str
    key: str
    signature: str

    @classmethod
    def read(cls, body: Any) -> Signature:
        """A signature as a certificate carries it; a ValueError says why it is none."""
        names = list(cls.__slots__)
        if not isinstance(body, dict) or sorted(body) != sorted(names):
            raise ValueError(f"a signature has {', '.join(names)}, and nothing else")
        if not all(isinstance(value, str) for value in body.values()):
            raise ValueError("a signature is made of texts")
        return cls(**body)

    def to_dict(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def signer(self) -> str:
        """The person and the organisation, as far as they are named."""
        return ", ".join(filter(None, (self.person, self.organisation))) or "somebody unnamed"

    def holds_for(self, certificate: Mapping[str, Any]) -> bool:
        """Whether it is the signature of this certificate, by the key that it names."""
        with require.installed("signatures", "sign"):
            from cryptography.exceptions import InvalidSignature
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        try:
            public = Ed25519PublicKey.from_public_bytes(_bytes_of(self.key))
            signature = b64decode(self.signature, validate=True)
            if len(signature) != _SIGNATURE_BYTES:
                return False
            public.verify(signature, _signed_text(certificate, self).encode())
        except (InvalidSignature, InvalidArgument, ValueError, KeyError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key with the names of its holder. It is made once, and never shown."""

    person: str
    organisation: str
    private: bytes = field(repr=False)

    @classmethod
    def create(cls, path: Path, person: str = "", organisation: str = "") -> SigningKey:
        """The key of a file, which is made for its owner alone if it is not there."""
        with require.installed("signatures", "sign"):
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        body = {
            "kind": _KEY_KIND,
            "person": _name("person", person),
            "organisation": _name("organisation", organisation),
            "private": b64encode(Ed25519PrivateKey.generate().private_bytes_raw()).decode(),
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with suppress(FileExistsError):
                write_new(path, f"{json.dumps(body, ensure_ascii=False)}\n".encode())
                sync_folder(path.parent)
        except OSError as error:
            raise LedgerUnavailable(
                f"the key {str(path)!r} cannot be written ({error}); choose another place."
            ) from error
        return cls.read(path)

    @classmethod
    def read(cls, path: Path) -> SigningKey:
        """The key of a file."""
        try:
            body = json.loads(path.read_text("utf-8"))
            if body["kind"] != _KEY_KIND:
                raise ValueError("another kind of file")
            private = b64decode(body["private"], validate=True)
            key = cls(str(body["person"]), str(body["organisation"]), private)
            if len(private) != _KEY_BYTES:
                raise ValueError("not as many bytes as a key has")
        except OSError as error:
            raise LedgerUnavailable(
                f"the key {str(path)!r} cannot be read ({error.strerror}); make one: holdfast key."
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidArgument(
                f"{str(path)!r} is no key of Holdfast ({error}); make one: holdfast key."
            ) from None
        return key

    @property
    def public(self) -> str:
        """The public key, as it is printed and published."""
        return _ALGORITHM + b64encode(self._key.public_key().public_bytes_raw()).decode()

    @property
    def _key(self) -> Ed25519PrivateKey:
        with require.installed("signatures", "sign"):
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        return Ed25519PrivateKey.from_private_bytes(self.private)

    def sign(self, certificate: Mapping[str, Any]) -> Signature:
        """The signature of a certificate's facts, made now."""
        unsigned = Signature(self.person, self.organisation, now(), self.public, "")
        signature = self._key.sign(_signed_text(certificate, unsigned).encode())
        return Signature(
            **{**unsigned.to_dict(), "signature": b64encode(signature).decode()},
        )


def public_key_of(text: str) -> str:
    """A public key that was named: as it is printed, or in a file that holds nothing else."""
    key = text.strip()
    path = require.file("key", key)
    if not key.startswith(_ALGORITHM) and path.is_file():
        key = path.read_text("utf-8", errors="replace").strip()
    _bytes_of(key)
    return key


def user_key_path() -> Path:
    """Path of the user's own key."""
    settings = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(settings) / "holdfast" / "signing.key"


def _signed_text(certificate: Mapping[str, Any], by: Signature) -> str:
    """Message that a signature is of."""
    signer = {name: value for name, value in by.to_dict().items() if name != "signature"}
    facts = {name: certificate[name] for name in _FACTS}
    return canonical({"kind": _KIND, **facts, "signer": signer})


def _bytes_of(key: str) -> bytes:
    try:
        raw = b64decode(key.removeprefix(_ALGORITHM), validate=True)
    except ValueError:
        raw = b""
    if not key.startswith(_ALGORITHM) or len(raw) != _KEY_BYTES:
        raise InvalidArgument(
            f"key is {key[:60]!r}; it must be a public key, as `holdfast key` and the service "
            f"print it: {_ALGORITHM}..."
        )
    return raw


def _name(label: str, text: str) -> str:
    if len(text) > _LONGEST or not text.isprintable() or text != text.strip():
        raise InvalidArgument(
            f"{label} has {len(text):,} characters; it must be printable text of at most "
            f"{_LONGEST}, without blanks at its ends."
        )
    return text
