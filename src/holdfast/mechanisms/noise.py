"""Addressed noise: a function of (secret, address), so that a crashed entry repeats itself.

The stream of an address is HMAC-SHA256(secret, "holdfast noise/1", address, block), block = 0, 1,
...; whole numbers are taken from it by rejection, so that every value is exactly equally likely as
far as the generator is. The secret never enters the ledger. What addresses a question is up to who
asks: in the laboratory its number, in a ledger all that is public about it (`ledger.addresses`).
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

__all__ = ["Noise"]

_PURPOSE = b"holdfast noise/1"


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise at one address."""

    secret: bytes
    address: str

    def _blocks(self) -> Iterator[bytes]:
        block = 0
        while True:
            address = b"|".join((_PURPOSE, self.address.encode(), str(block).encode()))
            yield hmac.digest(self.secret, address, sha256)
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
                number, pool = int.from_bytes(pool[:size], "big"), pool[size:]
                if number < limit:
                    yield least + number % span
