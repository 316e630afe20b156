"""Pairs of doubles at both ends of what doubles hold, and what IEEE arithmetic makes of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

from holdfast.question import build
from holdfast.question.expression import Column, ColumnType, Op
from holdfast.question.row import RowValue
from tests.data.engines import equals_column, same_value
from tests.question.interpreter import evaluate

ARITHMETIC: dict[Op, Any] = {
    Op.ADD: np.add,
    Op.SUBTRACT: np.subtract,
    Op.MULTIPLY: np.multiply,
    Op.DIVIDE: np.divide,
}
FLOATS = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 2.0**-538, 3 * 2.0**-538]
FLOATS += [1.1e-162, 2.0**-537 * (1 + 2**-30), 2.0**-538 * (1 - 2**-30 + 2**-52), 0.1, 0.999, 1.0]
FLOATS += [1.5, 49.0, 2.0**511 * 1.5, 2.0**512, 1.34e154, 8.98e307, 1e308, math.nextafter(1e308, 2)]
FLOATS += [1.7976931348623157e308, 1.7976931348623155e308, 2.0**970, 2.0**969, 1e292, math.inf]
FLOATS += [-each for each in FLOATS[5:]] + [math.nan]


def at_both_ends(op: Op) -> pl.DataFrame:
    """Operands a and b, and the result r."""
    rng = np.random.default_rng(8)
    mantissas, wide = rng.uniform(1, 2, (2, 3_000)), rng.integers(-1074, 1023, (2, 3_000))
    # Pairs whose result is near the smallest or the greatest double.
    other = {
        Op.MULTIPLY: [rng.choice([-1075, 1023], 3_000) - wide[0], wide[0]],
        Op.DIVIDE: [wide[1] + rng.choice([-1075, 1023], 3_000), wide[1]],
    }.get(op, [rng.integers(1019, 1024, 3_000), rng.integers(965, 1024, 3_000)])
    with np.errstate(all="ignore"):
        near = np.ldexp(mantissas, np.array(other) + rng.integers(-2, 2, (2, 3_000)))
        a = np.concatenate([np.repeat(FLOATS, len(FLOATS)), near[0]])
        b = np.concatenate([np.tile(FLOATS, len(FLOATS)), near[1]])
        expected = ARITHMETIC[op](a, b)
    if op is Op.DIVIDE:
        expected = np.where(b == 0, np.nan, expected)
    return pl.DataFrame({"a": a, "b": b, "r": expected})


def is_right(op: Op) -> RowValue:
    """True where an engine finds r, NULL included."""
    left, right, result = (Column(name, ColumnType.FLOAT) for name in "abr")
    return same_value(build.arithmetic(op, left, right), result)


def elementary() -> tuple[pl.DataFrame, list[RowValue]]:
    """Numbers of all sizes, ln, exp and sqrt of them as r0, r1, ..., and where these are right."""
    rng, x = np.random.default_rng(9), Column("x", ColumnType.FLOAT)
    sizes = np.ldexp(rng.uniform(-2, 2, 6_000), rng.integers(-1074, 1023, 6_000))
    near_one = 1 + np.ldexp(rng.uniform(-1, 1, 3_000), rng.integers(-52, 0, 3_000))
    values = [*sizes, *near_one, *rng.uniform(-700, 700, 6_000), *FLOATS, None]
    wide = 1.7976931348623157e308
    cuts = {Op.LN: [(5e-324, wide), (0.01, 1000.0), (1.0, 2.0)], Op.SQRT: [(0.0, wide)]}
    cuts[Op.EXP] = [(-690.0, 690.0), (-wide, 0.5), (-1e-3, 1e-3)]
    trees = [build.function(op, build.clip(x, *ends)) for op in cuts for ends in cuts[op]]
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)})
    computed = [[evaluate(tree, {"x": value}) for value in values] for tree in trees]
    columns = [pl.Series(f"r{place}", each, pl.Float64) for place, each in enumerate(computed)]
    rows = [equals_column(tree, f"r{place}") for place, tree in enumerate(trees)]
    return frame.with_columns(columns), rows
