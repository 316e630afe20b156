"""Counts by group, computed by Spark: every row is in one group, so the hashes add up by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.data.spark_stream import arrow_batches
from holdfast.data.spark_table import Watch

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

__all__ = ["CountedGroups", "binned", "bins_of"]


@dataclass(frozen=True, slots=True)
class CountedGroups:
    """The rows of a table by keys, and the sums of some whole numbers; both have names."""

    table: DataFrame
    watch: Watch
    keys: Mapping[str, str]
    summed: Mapping[str, str] = field(default_factory=dict)

    def collected(self, rows: str) -> pl.DataFrame:
        """Each group once, and how many rows it has in the column `rows`."""
        import polars as pl

        found = pl.DataFrame(self._counted(rows).toArrow())
        self.watch.require(int(found[rows].sum()), [int(found[t].sum()) for t in self._parts])
        return self._plain(found, rows)

    def ascending(self, rows: str) -> Iterator[pl.DataFrame]:
        """The same in the order of the keys, in batches."""
        count, parts = 0, [0] * len(self._parts)
        for batch in arrow_batches(self._counted(rows).orderBy(*self.keys)):
            count += int(batch[rows].sum())
            sums = (int(batch[name].sum()) for name in self._parts)
            parts = [a + b for a, b in zip(parts, sums, strict=True)]
            yield self._plain(batch, rows)
        self.watch.require(count, parts)

    @property
    def _parts(self) -> list[str]:
        return [f"t{place}" for place in range(len(self.watch.parts))]

    def _counted(self, rows: str) -> DataFrame:
        exact = self.watch.table.exact
        sums = {rows: exact("1L"), **{name: exact(code) for name, code in self.summed.items()}}
        sums |= dict(zip(self._parts, self.watch.parts, strict=True))
        wanted = (f"{code} AS {name}" for name, code in {**self.keys, **sums}.items())
        grouped = self.table.selectExpr(*wanted).groupBy(*self.keys)
        return grouped.sum(*sums).toDF(*self.keys, *sums)

    def _plain(self, found: pl.DataFrame, rows: str) -> pl.DataFrame:
        import polars as pl

        return found.drop(self._parts).with_columns(pl.col(rows, *self.summed).cast(pl.Int64))


def binned(steps: DataFrame, watch: Watch, bins: Sequence[tuple[int, str, str]]) -> pl.DataFrame:
    """How many rows are in each bin of several values, and the sums of their steps; one scan.

    A value is (bits that a bin leaves out, steps, condition). Each row becomes one for each value;
    the first of them has the hashes, the others 0.
    """
    import polars as pl

    parts, none = watch.parts, watch.table.exact("0L")
    copies = [
        {
            "value": f"{place}",
            "bin": f"CASE WHEN {inside} THEN shiftright({code}, {shift}) ELSE -1L END",
            "total": watch.table.exact(f"(CASE WHEN {inside} THEN {code} ELSE 0L END)"),
            "times": watch.table.exact("1L"),
            **{f"t{n}": part if place == 0 else none for n, part in enumerate(parts)},
        }
        for place, (shift, code, inside) in enumerate(bins)
    ]
    exploded = _in_turn(steps, copies)
    sums = ["total", "times", *(f"t{n}" for n in range(len(parts)))]
    counted = exploded.groupBy("value", "bin").sum(*sums).toDF("value", "bin", *sums)
    found = pl.DataFrame(counted.toArrow())
    rows = int(found.filter(pl.col("value") == 0)["times"].sum())
    watch.require(rows, [int(found[name].sum()) for name in sums[2:]])
    return found


def _in_turn(table: DataFrame, copies: Sequence[Mapping[str, str]]) -> DataFrame:
    """For each row one row of each of these selections; a single one needs no array of them."""
    if len(copies) == 1:
        return table.selectExpr(*(f"{code} AS {name}" for name, code in copies[0].items()))
    structs = (
        f"named_struct({', '.join(f'{name!r}, {code}' for name, code in each.items())})"
        for each in copies
    )
    return table.selectExpr(f"inline(array({', '.join(structs)}))")


def bins_of(found: pl.DataFrame, value: int, bins: int) -> tuple[NDArray[np.int64], int]:
    """The counts of one value, and the sum of its steps."""
    import numpy as np
    import polars as pl

    own = found.filter((pl.col("value") == value) & (pl.col("bin") >= 0))
    counts = np.zeros(bins, dtype=np.int64)
    counts[own["bin"].to_numpy()] = own["times"].cast(pl.Int64).to_numpy()
    return counts, int(own["total"].sum())
