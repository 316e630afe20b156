"""The words of a Spark table's rows, summed where the rows are.

A fingerprint is made of sums, so that each worker adds up the words of its own rows, and only the
sums travel. It takes a Python with Holdfast to compute them; where workers have none, or one that
makes other words, the rows come to this machine instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.data.fingerprint import WordSums, added_words, words_of_frame
from holdfast.data.plain import column_type
from holdfast.data.spark_table import Watch, asking_spark
from holdfast.question.expression import ColumnType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["summed_words"]

_FAR = 2_932_897  # days from 1970 to a date that questions do not know
_SUMS = "rows bigint, words array<bigint>, parts array<bigint>"


def summed_words(
    rows: DataFrame, types: Mapping[str, ColumnType], names: Mapping[str, str], watch: Watch
) -> WordSums | None:
    """The sums over all rows, whose columns go by these names; None if workers cannot tell."""
    if not _make_the_same(rows.sparkSession):
        return None
    total, parts = _summed(rows, types, names, watch.hashes)
    watch.require(total.rows, parts)
    return total


def _make_the_same(session: SparkSession) -> bool:
    """Whether the workers' Holdfast makes the same words of a row as that of this process."""
    import polars as pl

    far = pl.Series([_FAR], dtype=pl.Int32).cast(pl.Date)
    frame = pl.DataFrame({"date": far, "number": [math.nan], "text": ["é"], "whole": [-1]})
    types = {name: column_type(dtype) for name, dtype in frame.schema.items()}
    names = {name: name for name in types}
    values = f"DATE_FROM_UNIX_DATE({_FAR})", "DOUBLE('NaN')", "'é'", "-1L"
    row = session.range(1, numPartitions=1).selectExpr(
        *(f"{value} AS {name}" for value, name in zip(values, names, strict=True))
    )
    try:
        found, _ = _summed(row, types, names, [])
    except Exception:  # whatever a worker ends with that has no Holdfast, no Arrow or no Python
        return False
    return found == words_of_frame(frame, types)


def _summed(
    rows: DataFrame, types: Mapping[str, ColumnType], names: Mapping[str, str], hashes: list[str]
) -> tuple[WordSums, list[int]]:
    """The sums of words, and of the parts of hashes."""
    kinds = {name: str(kind) for name, kind in types.items()}
    with asking_spark():
        found = rows.mapInArrow(_summing(kinds, dict(names), hashes), _SUMS).collect()
    total, parts = WordSums(), [0] * (2 * len(hashes))
    for count, words, of_partition in found:
        total = added_words(total, WordSums(count, *(word % 2**64 for word in words)))
        parts = [a + b for a, b in zip(parts, of_partition, strict=True)]
    return total, parts


def _summing(
    kinds: Mapping[str, str], names: Mapping[str, str], hashes: list[str]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a worker does with the rows of a partition; it is sent there as it is."""

    def summed(batches: Iterator[Any]) -> Iterator[Any]:
        import polars as pl
        import pyarrow as pa

        from holdfast.data.fingerprint import WordSums, added_words, words_of_frame
        from holdfast.data.spark_table import parts_of_hashes
        from holdfast.question.expression import ColumnType

        types = {name: ColumnType(kind) for name, kind in kinds.items()}
        total, parts = WordSums(), [0] * (2 * len(hashes))
        for batch in batches:
            frame = pl.DataFrame(batch)
            own = frame.select(pl.col(names[name]).alias(name) for name in types)
            total = added_words(total, words_of_frame(own, types))
            of_batch = parts_of_hashes([frame[each] for each in hashes])
            parts = [a + b for a, b in zip(parts, of_batch, strict=True)]
        words = [(word ^ 1 << 63) - (1 << 63) for word in (total.first, total.second)]
        yield pa.RecordBatch.from_pydict(
            {
                "rows": [total.rows],
                "words": [words],
                "parts": pa.array([parts], pa.list_(pa.int64())),
            }
        )

    return summed
