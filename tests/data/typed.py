"""A table with a column of every type, and missing values."""

from __future__ import annotations

from datetime import date, datetime

import pandas as pd
import polars as pl

from holdfast.question import ColumnType

FRAME = pl.DataFrame(
    {
        "x": [1.5, None, -2.0, 4.25],
        "k": [1, 2, 3, 4],
        "name": ["a", "é", None, "it's"],
        "flag": [True, False, True, True],
        "day": [date(2013, 1, 31), date(1969, 7, 20), None, date(2024, 2, 29)],
        "moment": [
            datetime(2013, 1, 31, 17, 45),
            None,
            datetime(1, 1, 1),
            datetime(2024, 2, 29, 1),
        ],
    }
)
TYPES = {
    "x": ColumnType.FLOAT,
    "k": ColumnType.INTEGER,
    "name": ColumnType.TEXT,
    "flag": ColumnType.BOOLEAN,
    "day": ColumnType.DATE,
    "moment": ColumnType.DATETIME,
}


def as_pandas() -> pd.DataFrame:
    """The same rows, as pandas has them."""
    return pd.DataFrame(
        {
            "x": [1.5, None, -2.0, 4.25],
            "k": [1, 2, 3, 4],
            "name": ["a", "é", None, "it's"],
            "flag": [True, False, True, True],
            "day": FRAME["day"].to_list(),
            "moment": pd.Series(FRAME["moment"].to_list(), dtype="datetime64[us]"),
        }
    )
