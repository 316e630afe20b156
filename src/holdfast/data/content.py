"""A digest of values in their order, the same on every machine and for every engine.

Values that no question can tell apart are made the same before they come here: NaN is NULL, -0.0 is
0.0, an integer has 8 bytes whatever it had. The type is part of the content: the whole numbers 1, 2
and the doubles 1.0, 2.0 have different digests.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import numpy as np
import polars as pl

from holdfast.data.plain import column_type

__all__ = ["content_digest"]


def content_digest(purpose: str, values: pl.Series) -> str:
    """The digest of Booleans, 64-bit integers, doubles or text, some of them missing."""
    hashed = sha256(f"{purpose}\n{column_type(values.dtype)} {len(values)}\n".encode())
    for part in _parts(values):
        hashed.update(part)
    return hashed.hexdigest()


def _parts(values: pl.Series) -> Iterator[bytes]:
    """What says all the values: little-endian, and text by its lengths and then its characters."""
    yield _bits(values.is_not_null())
    match values.dtype:
        case pl.Boolean():
            yield _bits(values.fill_null(value=False))
        case pl.String():
            texts = values.fill_null("")
            yield texts.str.len_bytes().to_numpy().astype("<u8").tobytes()
            yield str(texts.str.join().item()).encode()
        case _:
            numbers = values.fill_null(0).to_numpy()
            yield numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()


def _bits(flags: pl.Series) -> bytes:
    return np.packbits(flags.to_numpy()).tobytes()
