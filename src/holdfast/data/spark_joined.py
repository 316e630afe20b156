"""What is put beside the rows of a Spark table, by its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.data.plain import column_type
from holdfast.data.spark_table import EPOCH
from holdfast.question.expression import ColumnType

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["JoinedFrame"]


@dataclass(frozen=True, slots=True)
class JoinedFrame:
    """A key and the columns that belong to it, as a DataFrame of their own."""

    key: str
    types: Mapping[str, ColumnType]
    rows: DataFrame
    key_name: str

    @classmethod
    def made(
        cls, session: SparkSession, key: str, frame: pl.DataFrame, names: Mapping[str, str]
    ) -> JoinedFrame:
        """A key and columns of plain types, which go by these names."""
        import polars as pl

        types = {name: column_type(dtype) for name, dtype in frame.schema.items() if name != key}
        key_name = f"key_{'_'.join(names.values())}"
        # Whole numbers of microseconds: what Spark takes moments for depends on its settings.
        moments = [names[name] for name, kind in types.items() if kind is ColumnType.DATETIME]
        held = frame.rename({key: key_name, **names}).with_columns(
            pl.col(moments).dt.cast_time_unit("us").to_physical()
        )
        rows = session.createDataFrame(held.to_arrow()).selectExpr(
            *(
                f"timestampadd(MICROSECOND, {name}, {EPOCH}) AS {name}" if name in moments else name
                for name in held.columns
            )
        )
        return cls(key, types, rows, key_name)

    @property
    def columns(self) -> frozenset[str]:
        """The names of what is joined."""
        return frozenset(self.types)

    def joined_to(self, table: DataFrame, key: str) -> DataFrame:
        """Every row of the table once, with the columns of its key or with NULL."""
        keyed = table.selectExpr("*", f"{key} AS {self.key_name}")
        return keyed.join(self.rows, on=self.key_name, how="left").drop(self.key_name)
