"""Where the noise of a question is drawn from: an address that says all that is public about it.

The address is a digest of the table's fingerprint, the mechanism (its law) and the whole offer:
number, question, tolerance, grid, reach, radius, claim, prior and the rest. So in two copies of a
ledger (a backup that was put back, a folder that was copied) another question, or the same one at
another tolerance, has fresh noise, and no difference of two answers is free of it; and the very
same offer has the very same noise, so that asking copies and averaging gains nothing. That is also
why neither time nor `why`, nor the hash of the entry before, which holds those of earlier
questions, nor the rest of the batch is in it. All of it is in the reservation, so an unfinished one
is finished with the same noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from holdfast.ledger.chain import canonical
from holdfast.ledger.entries import Asked
from holdfast.mechanisms.noise import Noise

__all__ = ["noise_of_batch"]

_KIND = "holdfast noise/2"  # 1 was the number of the question alone


def noise_of_batch(
    secret: bytes, fingerprint: str, mechanism: str, batch: Sequence[Asked]
) -> Callable[[int], Noise]:
    """The noise of each question of a batch by its number; of any other number, one shared stream.

    What a mechanism shares among questions (a partition, a threshold) must not depend on who asks.
    """
    all_share = {"table": fingerprint, "law": mechanism}
    own = {asked.offer.number: asked for asked in batch}

    def noise(number: int) -> Noise:
        asked = own.get(number)
        said: dict[str, Any] = {"shared": number}
        if asked is not None:
            said = {"offer": asked.offer.to_dict(), "nonce": asked.nonce}
        facts = canonical({**all_share, **said})
        return Noise(secret, f"{_KIND} {sha256(facts.encode()).hexdigest()}")

    return noise
