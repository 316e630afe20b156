"""The key of a table, by which values that arrive later are put beside its rows.

A key is public: a column of whole numbers or text that has another value in every row. Its order
(numbers by size, text by its code points) is the order in which lists without keys are understood.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
import polars as pl

from holdfast.data.plain import column_type, plain
from holdfast.data.sample import Sample, check_names
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column
from holdfast.question.expression import ColumnType
from holdfast.wording import plural

# A digest of values in their order, the same on every machine and for every engine.
#
# Values that no question can tell apart are made the same before they come here: NaN is NULL,
# -0.0 is 0.0, an integer has 8 bytes whatever it had. The type is part of the content: the whole
# numbers 1, 2 and the doubles 1.0, 2.0 have different digests.


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


# What a key may be, and how its values are held.
KEY_TYPES = {ColumnType.INTEGER: pl.Int64(), ColumnType.TEXT: pl.String()}

_SHOWN = 3
_LONGEST_SHOWN = 40


class Places:
    """Where the keys of a list stand in other lists of keys.

    Columns of one table usually arrive in one arrangement, so the last one is remembered.
    """

    def __init__(self, keys: pl.Series) -> None:
        self._keys = keys.rename("key")
        self._last: tuple[pl.Series, pl.Series] | None = None

    def among(self, keys: pl.Series) -> pl.Series:
        """The place of each key in `others`, which has each key once; NULL where it is not."""
        last = self._last
        if last is not None and last[0].equals(keys):
            return last[1]
        require_unique(keys)
        table = keys.to_frame("key").with_row_index("place")
        places = self._keys.to_frame().join(table, on="key", how="left", maintain_order="left")
        self._last = keys, places["place"]
        return places["place"]


@dataclass(frozen=True, slots=True)
class KeyOrder:
    """The keys of a table in their order, each once, and a digest of them; made by `key_order`."""

    name: str
    keys: pl.Series = field(compare=False)  # the digest says all of them
    digest: str
    places: Places = field(repr=False, compare=False)

    @property
    def type(self) -> ColumnType:
        """Whole numbers or text."""
        return next(kind for kind, dtype in KEY_TYPES.items() if dtype == self.keys.dtype)


def key_order(sample: Sample, key: str) -> KeyOrder:
    """The keys of a table, read once; refused unless every row has one of its own."""
    if key not in sample.types:
        raise InvalidArgument(f"key names {no_column(key, sample.types)}")
    if sample.types[key] not in KEY_TYPES:
        raise InvalidArgument(
            f"key is column {key!r}, which is {sample.types[key]}; choose a column of whole "
            "numbers or text with another value in every row."
        )
    columns = [
        frame.select(plain(key, frame.schema[key])).to_series() for frame in sample.frames([key])
    ]
    return ordered(key, pl.concat(columns))


def ordered(name: str, keys: pl.Series) -> KeyOrder:
    """Keys of this type in their order; refused if one is missing or comes twice."""
    if keys.has_nulls():
        raise InvalidArgument(
            f"key is column {name!r}, which is missing (or beyond 64 bits) in "
            f"{plural(keys.null_count(), 'row')}; choose a column with another value in every row."
        )
    keys = keys.sort()
    doubled = _doubled(keys)
    if doubled is not None:
        raise InvalidArgument(
            f"key is column {name!r}, in which {named_keys(doubled, 'comes', 'come')} more than "
            "once; choose a column with another value in every row."
        )
    return KeyOrder(name, keys, content_digest("holdfast keys/1", keys), Places(keys))


def require_unique(keys: pl.Series) -> None:
    """Refuse keys that come with values, if one comes twice."""
    doubled = _doubled(keys)
    if doubled is not None:
        raise InvalidArgument(
            f"{named_keys(doubled, 'comes', 'come')} more than once with values; give one value "
            "for each key."
        )


def _doubled(keys: pl.Series) -> pl.Series | None:
    """The keys that come more than once, if there are any."""
    if keys.n_unique() == len(keys):
        return None
    return keys.filter(keys.is_duplicated()).unique(maintain_order=True)


def named_keys(keys: pl.Series, one: str, many: str) -> str:
    """How many keys, a verb that fits, and the first three of them."""
    examples: Sequence[Any] = keys.head(_SHOWN).to_list()
    listed = ", ".join(_cut(repr(key)) for key in examples)
    more = ", ..." if len(keys) > _SHOWN else ""
    return f"{plural(len(keys), 'key')} ({listed}{more}) {one if len(keys) == 1 else many}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


# What may be put beside the rows of a table, by its key.


def require_joinable(types: Mapping[str, ColumnType], key: str, frame: pl.DataFrame) -> None:
    """Refuse a frame without the table's key, with a key twice, or with columns that are there."""
    for names in (types, frame.columns):
        if key not in names:
            raise InvalidArgument(f"key names {no_column(key, names)}")
    if column_type(frame.schema[key]) is not types[key]:
        raise InvalidArgument(
            f"the key {key!r} is {types[key]}, and {column_type(frame.schema[key])} in what is "
            "joined to the table; give the keys as the table has them."
        )
    present = {name.lower(): name for name in types}  # DuckDB knows no capital letters in names
    for name in frame.columns:
        if name != key and name.lower() in present:
            raise InvalidArgument(
                f"the table has a column {present[name.lower()]!r}; give the new column another "
                f"name than {name!r}."
            )
    check_names(frame.columns)
    require_unique(frame[key])
