"""Digests of single columns, by which the same rows are known under other names and types.

A digest is a sum over the rows, as the fingerprint is, of a column's cells alone, whatever the
column is called; whole numbers, conditions and numbers of the same value have the same. A column
that could well be the same in an unrelated table has none: a few values, whose counts may agree by
chance, or many that occur equally often, as row numbers, names of items, units and days do, which
are so by design. Beside such a column of names each other one also has a digest, row by row: it
tells a column of ones and zeros from another with as many ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING

from holdfast.data.fingerprint import ColumnWords, cell_words, mixed
from holdfast.question.expression import ColumnType

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["ColumnDigests"]

# By their value, whatever their type.
_NUMBERS = (ColumnType.BOOLEAN, ColumnType.INTEGER, ColumnType.FLOAT)
_LEAST_BITS = 40.0  # of what must agree by chance, for two columns to be the same in vain
_MOST_NAMES = 3  # columns


class ColumnDigests:
    """Digests of the columns of a table, from its batches; the first says which columns have one.

    By itself a column has one if its counts are many and differ, or if it has fractions; beside a
    column of names, if it differs from name to name.
    """

    def __init__(self, types: Mapping[str, ColumnType]) -> None:
        self._types = types
        self._rows = 0
        self._sums: Counter[tuple[str, str]] = Counter()
        self._wanted: list[tuple[str, str]] | None = None  # a column and the names beside it

    def add(self, frame: pl.DataFrame, cells: ColumnWords) -> None:
        """A batch of rows, and the words of their cells."""
        import numpy as np

        words = {
            name: _words(
                cell_words(frame[name], ColumnType.FLOAT) if type_ in _NUMBERS else cells[name]
            )
            for name, type_ in self._types.items()
        }
        words[""] = np.zeros(frame.height, dtype=np.uint64)
        if self._wanted is None:
            self._wanted = self._informative(frame, words)
        self._rows += frame.height
        for column, beside in self._wanted:
            mixture = mixed(words[column] + mixed(words[beside]))
            self._sums[column, beside] += int(mixture.sum())

    def found(self) -> frozenset[str]:
        """The digests, as 32 hexadecimal digits each; which is whose is not told."""
        return frozenset(
            blake2b(
                f"{self._rows} {bool(beside)} {total % 2**64}".encode(), digest_size=16
            ).hexdigest()
            for (_, beside), total in self._sums.items()
        )

    def _informative(
        self, frame: pl.DataFrame, words: Mapping[str, NDArray[np.uint64]]
    ) -> list[tuple[str, str]]:
        import numpy as np

        counts = {name: np.unique(words[name], return_counts=True)[1] for name in self._types}
        many = [
            name
            for name, count in counts.items()
            if (len(count) - 1) / 2 * math.log2(max(2, frame.height)) >= _LEAST_BITS
        ]
        names = [
            name
            for name in many
            if _is_even(counts[name]) and not _has_fractions(frame[name], self._types[name])
        ]
        names.sort(key=lambda name: -len(counts[name]))
        wanted = [(name, "") for name in many if name not in names]
        for beside in names[:_MOST_NAMES]:
            least = _LEAST_BITS * frame.height / len(counts[beside])
            wanted += [
                (name, beside)
                for name in self._types
                if name not in names and _bits(counts[name]) >= least
            ]
        return wanted


def _words(cells: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """A word for each row, of one or two."""
    return mixed(cells[0]) if len(cells) == 1 else mixed(mixed(cells[0]) + cells[1])


def _is_even(counts: NDArray[np.int64]) -> bool:
    """Whether all values occur equally often, but for one that may be cut short."""
    return bool((counts < counts.max()).sum() <= 1)


def _has_fractions(values: pl.Series, type_: ColumnType) -> bool:
    return type_ is ColumnType.FLOAT and bool((values.drop_nulls() % 1 != 0).any())


def _bits(counts: NDArray[np.int64]) -> float:
    """The information in all rows of a column."""
    import numpy as np

    return float(-(counts * np.log2(counts / counts.sum())).sum())
