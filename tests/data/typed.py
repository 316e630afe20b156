"""A table with a column of every type, and missing values."""

from __future__ import annotations

import math
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


# Rows that a fingerprint must see alike wherever they are.
_TEXTS = ["", "\\N", 'q"uote', "a\nb\r\tc", "\u2028é", None, ",", "it's", " x "]
ODD = pl.DataFrame(
    {
        "id": list(range(len(_TEXTS))),
        "Odd": _TEXTS,
        "x": [math.nan, -0.0, 0.0, 1e-320, math.inf, -math.inf, None, 0.1, 1 / 3],
        "flag": [True, False, None] * 3,
        "day": pl.Series([0, -719_162, 2_932_896] * 3, dtype=pl.Int32).cast(pl.Date),
        "at": pl.Series([None, -1, 10**15] * 3, dtype=pl.Int64).cast(pl.Datetime("us")),
        "zoned": pl.Series([7, None, -(10**15)] * 3, dtype=pl.Int64).cast(
            pl.Datetime("us", "Asia/Tokyo")
        ),
        "money": pl.Series(["0.10", None, "12345.67"] * 3).cast(pl.Decimal(9, 2)),
    }
)


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
