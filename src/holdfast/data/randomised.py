"""Randomised arms: how they were drawn, and the rows of a table by stratum and arm.

Declared when a ledger is opened. Chance is then the drawing of the arms alone, whatever the rows
are, and the effect of the arms is the average effect *in these rows*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from holdfast.data.design import Design, design_of
from holdfast.data.histogram import summed_by
from holdfast.data.sample import Sample
from holdfast.data.sampling import Independent
from holdfast.data.values import columns_with_missing, steps_of_frame
from holdfast.errors import InvalidArgument
from holdfast.question import build
from holdfast.question.columns import Schema, no_column
from holdfast.question.declaring import listed
from holdfast.question.expression import ColumnType, Expression, column_names
from holdfast.question.row import GRID_ERROR, RowValue, condition_row

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

Drawing = Literal["coins", "shuffled"]


@dataclass(frozen=True, slots=True)
class Randomised:
    """How the two arms of a column were drawn.

    By `coins`: an independent fair coin for each row. Or `shuffled`: inside each combination of
    values of `within`, all assignments with these sizes of the arms were equally likely. `arms` has
    the column's two values, each once.
    """

    by: Drawing
    within: tuple[str, ...]
    arms: Design

    @property
    def arm(self) -> str:
        """The column that says which arm a row is in."""
        return self.arms.columns[0]

    def compares(self, first: Expression, second: Expression, where: Expression | None) -> bool:
        """Whether two groups are the two arms, in rows that were not chosen by their arm."""
        subgroup = () if where is None else column_names(where)
        if self.arm in subgroup or not all(map(self.arms.covers, (first, second))):
            return False
        together = build.disjunction([first, second])
        sizes = [self.arms.group(each).size for each in (first, second, together)]
        return sizes == [1, 1, 2]

    def named_in(self, schema: Schema) -> Schema:
        """A schema with the names of both arms, which their declaration makes public."""
        if schema.types[self.arm] is ColumnType.BOOLEAN:
            return schema
        arms, named = self.arms.members(self.arm), schema.values.get(self.arm)
        if named is None:
            return schema.declare({self.arm: {"values": arms}})
        if not set(arms) <= set(named):
            declared, those = (listed(map(str, each)) for each in (named, arms))
            raise InvalidArgument(
                f"the values of {self.arm!r} are declared to be {declared}, and the arms of the "
                f"trial are {those}; declare these, or leave them out."
            )
        return schema

    def __str__(self) -> str:
        strata = f" within {', '.join(self.within)}" if self.within else ""
        how = "by coins" if self.by == "coins" else f"shuffled{strata}"
        return (
            f"about effects of {self.arm}: arms {how}, no row is affected by the arm of another, "
            "subgroups by columns measured before arms were drawn"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for the ledger."""
        return {"by": self.by, "within": list(self.within), "arms": self.arms.to_dict()}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Randomised:
        return cls(body["by"], tuple(body["within"]), Design.from_dict(body["arms"]))


def randomised_of(
    sample: Sample, by: Drawing | None, arm: str | None, within: Sequence[str] | None
) -> Randomised | None:
    """The declaration as it is for a table; None without one."""
    if by is None:
        for name, given in (("arm", arm), ("within", within)):
            if given:
                raise InvalidArgument(
                    f"{name} is {given!r}, and nothing says how arms were drawn; add "
                    "randomised='coins' or randomised='shuffled', or leave it out."
                )
        return None
    if arm is None:
        raise InvalidArgument(
            f"randomised is {by!r}, and nothing says which column has the arm; name it with "
            "arm= (--arm COLUMN)."
        )
    strata = tuple(sorted(set(within or ())))
    if strata and by == "coins":
        raise InvalidArgument(
            f"randomised is 'coins' and within {', '.join(strata)}; a coin for each row knows no "
            "strata: leave within out, or say randomised='shuffled'."
        )
    for name in strata:
        if name not in sample.types:
            raise InvalidArgument(f"within names {no_column(name, sample.types)}")
    if arm not in sample.types:
        raise InvalidArgument(f"arm names {no_column(arm, sample.types)}")
    missing = columns_with_missing(sample, (arm, *strata))
    if missing:
        raise InvalidArgument(
            f"arms were randomised, and {', '.join(missing)} is missing in some rows; protect the "
            "rows that were randomised, with the arm and stratum of each."
        )
    arms = design_of(sample, [arm], Independent())
    if len(arms.cells) != 2 or arm in strata:
        raise InvalidArgument(
            f"arm names {arm!r}, a column with {len(arms.cells)} values"
            f"{', which is also in within' if arm in strata else ''}; a randomised comparison has "
            "two arms, in a column of their own."
        )
    return Randomised(by, strata, replace(arms, counts=(1, 1), squares=(1, 1)))


class CellCounts(NamedTuple):
    """How many rows of each arm have a value in each cell: one line for each stratum and cell.

    The values of a line surely lie between its `low` and its `high` point of the grid.
    """

    stratum: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]


def cell_counts(
    sample: Sample,
    value: RowValue,
    arms: tuple[Expression, Expression],
    within: Sequence[str],
    points: int,
) -> CellCounts:
    """The rows of both arms by stratum and by where their value is on a grid of its range."""
    import numpy as np
    import polars as pl

    from holdfast.data.plain import told_apart

    conditions = [condition_row(arm) for arm in arms]
    rows = [value, *conditions]
    columns = sorted({*within, *(name for row in rows for name in row.columns)})
    strata = [f"v{place}" for place in range(len(within))]
    keys = [*strata, "low", "high"]

    def count_batch(frame: pl.DataFrame) -> pl.DataFrame:
        steps, first, second = steps_of_frame(frame, rows)
        if value.is_condition:
            low = high = steps
        else:
            shares, last = steps / max(1, value.grid.top), points - 1
            low = np.maximum(0, np.floor((shares - GRID_ERROR) * last)).astype(np.int64)
            high = np.minimum(last, np.ceil((shares + GRID_ERROR) * last)).astype(np.int64)
        own = frame.select(
            told_apart(name, frame.schema[name]).alias(key)
            for key, name in zip(strata, within, strict=True)
        )
        counts = {"low": low, "high": high, "first": first, "second": second}
        batch = pl.DataFrame({**own.to_dict(), **counts})
        return batch.filter(pl.col("first") + pl.col("second") > 0)

    # Sorted, so that sums of doubles are the same on every engine.
    table = summed_by(keys, map(count_batch, sample.frames(columns))).sort(keys)
    number = pl.struct(strata).rle_id() if strata else pl.lit(0)
    numbered = table.with_columns(stratum=number.cast(pl.Int64))
    return CellCounts(*(numbered[name].to_numpy() for name in CellCounts._fields))
