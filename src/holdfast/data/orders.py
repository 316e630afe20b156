"""Random orders of rows that depend on a key and on what the rows hold, not on where they stand.

Equal rows are numbered 1, 2, ... among themselves. Content, this number and a secret key are hashed
to a ticket, and rows are sorted by their tickets. No two rows have the same content and number: as
far as the hash is a random function, the order is a uniformly random permutation, independent of
the rows. Two tickets are equal with a chance below n^2 2^-65; then the content decides.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MOST_ORDERS", "random_orders", "row_tickets"]

MOST_ORDERS = 8  # a hash is at most 64 bytes long


def random_orders(
    first: NDArray[np.uint64], second: NDArray[np.uint64], key: bytes, count: int = 1
) -> NDArray[np.int64]:
    """`count` independent orders of the rows with these contents, of two words each: one a line.

    Each row's hash is cut into so many tickets.
    """
    by_content = np.lexsort((second, first))
    content = np.stack((first[by_content], second[by_content]), axis=1)
    places = np.arange(len(content))
    starts = np.r_[True, (content[1:] != content[:-1]).any(axis=1)][: len(content)]
    among_equals = places - np.maximum.accumulate(np.where(starts, places, 0))
    tickets = row_tickets(content, among_equals, key, count)
    orders: NDArray[np.int64] = by_content[np.argsort(tickets.T, axis=1, kind="stable")]
    return orders


def row_tickets(
    content: NDArray[np.uint64], among_equals: NDArray[np.int64], key: bytes, count: int
) -> NDArray[np.uint64]:
    """`count` tickets for each row, from its content, of two words, and its number among equals."""
    rows = np.column_stack((content, among_equals.astype(np.uint64))).astype("<u8").tobytes()
    hashed = (
        blake2b(rows[place : place + 24], digest_size=8 * count, key=key).digest()
        for place in range(0, len(rows), 24)
    )
    return np.frombuffer(b"".join(hashed), dtype="<u8").reshape(-1, count)
