"""Rows of Spark as batches of Arrow: so many at a time as fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from holdfast.data.sample import BATCH_ROWS
from holdfast.data.spark_table import asking_spark
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["arrow_batches"]


def arrow_batches(rows: DataFrame) -> Iterator[pl.DataFrame]:
    """The rows, in their order; one partition after the other is fetched."""
    import polars as pl

    with asking_spark():
        packed = rows.mapInArrow(_packing(BATCH_ROWS), "rows binary")
        batches = iter(packed.toLocalIterator())
    while True:
        try:
            with asking_spark():
                row = next(batches, None)
        except Exception:
            _require_workers(rows)
            raise
        if row is None:
            return
        yield pl.read_ipc_stream(bytes(row[0]))


def _require_workers(rows: DataFrame) -> None:
    """Say so, if Spark's workers cannot give rows of any table."""
    try:
        with asking_spark():
            rows.sparkSession.range(1).mapInArrow(_packing(1), "rows binary").collect()
    except Exception:
        raise InvalidArgument(
            "Spark's workers cannot run Python with pyarrow, by which rows come out of Spark; "
            "install pyarrow for them, and set PYSPARK_PYTHON to that Python before the session "
            "starts."
        ) from None


def _packing(most_rows: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a worker does with the rows of a partition: many of them become one value of bytes.

    The function that is made here is sent to the workers as it is, and knows nothing of Holdfast.
    """

    def packed(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        def content(held: list[Any]) -> Any:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, held[0].schema) as stream:
                stream.write_table(pa.Table.from_batches(held).combine_chunks())
            return pa.RecordBatch.from_pydict({"rows": [sink.getvalue().to_pybytes()]})

        held: list[Any] = []
        for batch in batches:
            held.append(batch)
            if sum(each.num_rows for each in held) >= most_rows:
                yield content(held)
                held = []
        if held:
            yield content(held)

    return packed
