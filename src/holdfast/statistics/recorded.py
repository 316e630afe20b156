"""What the canonical texts of a ledger say, without the Python functions that some of them name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import InvalidQuestion
from holdfast.question.columns import bounds_pair
from holdfast.question.row import RowValue
from holdfast.statistics.bind import read_again
from holdfast.statistics.mean import Mean
from holdfast.statistics.statistic import Statistic
from holdfast.statistics.table import Table
from holdfast.statistics.whole import TableFunction

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["recorded", "tells_conditions"]

_RANGE = r"in \[(\S+), (\S+)\]"
_OF_ROWS = re.compile(
    rf"avg\(((?:function|polars) .* {_RANGE})(?:, variance <= (\S+))?\)", re.DOTALL
)
_OF_TABLE = re.compile(
    rf"statistic .* {_RANGE}, (?:change (\S+)|sigma ([^\s,]+)(?:, b (\S+))?)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Gone:
    """A Python function of which only the text is left."""

    text: str
    columns: tuple[str, ...] = ()

    def values(self, frame: pl.DataFrame) -> NDArray[np.float64]:  # noqa: ARG002
        raise InvalidQuestion(f"Only the text of {self.text} is left.")


def recorded(source: str, table: Table) -> Statistic:
    """The statistic that a ledger's text names; one made by Python cannot be measured again."""
    found = _OF_TABLE.fullmatch(source)
    if found is not None:
        scales = (None if scale is None else float(scale) for scale in found.groups()[2:])
        bounds = bounds_pair((float(found[1]), float(found[2])))
        return TableFunction(_gone, (), bounds, source, "", *scales)
    found = _OF_ROWS.fullmatch(source)
    if found is not None:
        text, low, high, variance = found.groups()
        row = RowValue(Gone(text), float(low), float(high), text, is_condition=False)
        return Mean(row, None if variance is None else float(variance))
    return read_again(source, table)


def tells_conditions(statistic: Statistic) -> bool:
    """Whether the text says if only 0 and 1 occur: that of a Polars expression does not."""
    row = statistic.row
    return row is None or not (
        isinstance(row.source, Gone) and row.source.text.startswith("polars ")
    )


def _gone(_: pl.DataFrame) -> float:
    raise InvalidQuestion("Only the text of the function is left.")
