"""Addressed noise: a function of (secret, address), so that a crashed entry repeats itself.

The stream of an address is HMAC-SHA256(secret, "holdfast noise/2", SHA-256 of the address, block),
block = 0, 1, ...; whole numbers are taken from it by rejection, so that every value is exactly
equally likely as far as the generator is. The secret never enters the ledger. What the address of
a question says is up to who asks: the ledger's is in `ledger.addresses`.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

__all__ = ["Noise"]

_PURPOSE = b"holdfast noise/2"


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise at one address."""

    secret: bytes
    address: str

    def _blocks(self) -> Iterator[bytes]:
        block, where = 0, sha256(self.address.encode()).hexdigest().encode()
        while True:
            yield hmac.digest(
                self.secret, b"|".join((_PURPOSE, where, str(block).encode())), sha256
            )
            block += 1

    def uniform(self, least: int, most: int) -> int:
        """The first whole number of the stream, each from `least` to `most` equally likely."""
        return next(self.uniforms(least, most))

    def uniforms(self, least: int, most: int) -> Iterator[int]:
        """Independent whole numbers, as many as are taken: the stream from its beginning."""
        span = most - least + 1
        size = (span.bit_length() + 7) // 8 + 8
        limit = (1 << (8 * size)) // span * span
        pool = b""
        for block in self._blocks():
            pool += block
            while len(pool) >= size:
                drawn, pool = int.from_bytes(pool[:size], "big"), pool[size:]
                if drawn < limit:
                    yield least + drawn % span
