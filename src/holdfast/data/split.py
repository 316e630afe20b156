"""Two disjoint parts of one table: to explore, and to hold out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from holdfast import require
from holdfast.data.fingerprint import mixed
from holdfast.did_you_mean import checks_arguments
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["split"]

_Frame = TypeVar("_Frame")


@checks_arguments("split")
def split(
    data: _Frame, test_size: float = 0.5, random_state: int = 0, *, by: str | None = None
) -> tuple[_Frame, _Frame]:
    """(train, hold): a random part of the rows to explore, and the rest to hold out.

    `data` is a pandas, Polars or pyarrow table, and both parts are of the same kind, their rows in
    their old order. `test_size` is the part held out, of the rows or, with `by`, of the distinct
    values of that column: then rows with the same value stay together (a missing value is one more
    value). The same arguments give the same parts on every machine.
    """
    share = require.between("test_size", test_size, 0.0, 1.0, open_low=True, open_high=True)
    seed = require.integer_at_least("random_state", random_state, 0)
    units = _units(data, by)
    count = int(units.max(initial=-1)) + 1
    held_out = round(share * count)
    if not 0 < held_out < count:
        noun = "rows" if by is None else f"values of {by!r}"
        raise InvalidArgument(
            f"{count} {noun} cannot be divided with test_size {share:g}; both parts need one."
        )
    chosen = _random_order(count, seed) < held_out
    mask = chosen[units]
    return _filtered(data, ~mask), _filtered(data, mask)


def _random_order(count: int, seed: int) -> NDArray[np.int64]:
    """A permutation of 0, ..., count - 1 that depends on nothing but its arguments."""
    import numpy as np

    start = mixed(np.array([seed % 2**64, seed >> 64 & (2**64 - 1)], dtype=np.uint64)).sum()
    words = mixed(mixed(np.arange(count, dtype=np.uint64) + start) ^ start)
    order = np.argsort(words, kind="stable")
    ranks = np.empty(count, dtype=np.int64)
    ranks[order] = np.arange(count)
    return ranks


def _units(data: Any, by: str | None) -> NDArray[np.int64]:
    """The number of each row's unit: the row, or its value of `by` in order of appearance."""
    import numpy as np
    import polars as pl

    from holdfast.data.source import frame_of

    frame = frame_of(data)
    if frame is None:
        raise InvalidArgument(
            f"split takes a pandas, Polars or pyarrow table, not {type(data).__name__}."
        )
    if by is None:
        return np.arange(frame.height)
    if by not in frame.columns:
        raise InvalidArgument(f"by names {no_column(by, frame.columns)}")
    column = frame.select(pl.col(by).alias("value"))
    values = column.unique(maintain_order=True).with_row_index("unit")
    joined = column.join(values, on="value", how="left", nulls_equal=True, maintain_order="left")
    return joined["unit"].to_numpy().astype(np.int64)


def _filtered(data: Any, mask: NDArray[np.bool_]) -> Any:
    kind = type(data).__module__.partition(".")[0]
    if kind == "pandas":
        return data[mask]
    if kind == "polars":
        import polars as pl

        return data.filter(pl.Series(mask))
    return data.filter(mask)
