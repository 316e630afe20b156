"""What is no number, no count and no probability is refused by every theorem, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from holdfast.errors import InvalidArgument
from holdfast.theory.base.theorem import registry
from holdfast.theory.direct.correlation import correlation_by_bets
from tests.theory.tables import GOLDEN

ROWS = {row.theorem: row for row in reversed(GOLDEN)}
# Of any sign: a factor and an offset, and logarithms of sums and of counts.
SIGNED = {
    ("linear_implied", "factor"),
    ("linear_implied", "offset"),
    ("interleaved_log_beta", "log_kbar"),
    ("rogers_2020_check_log_level", "log_outcomes"),
}
# An order of tables, and the capital of bets that other theorems make: they check what they are
# given, and what these say of it is no promise.
INNER = {"share_order", "log_least_capital"}


def nonsense(name: str, value: Any, theorem: str) -> Iterator[Any]:
    """Other values of an argument, none of which can be meant."""
    match value:
        case bool():
            return
        case int() | float():
            yield math.nan
            if (theorem, name) not in SIGNED:
                yield -1 if isinstance(value, int) else 0.5 if name.startswith("log_") else math.nan
        case np.ndarray() if value.size and value.dtype.kind == "f":
            yield np.concatenate([[math.nan], value[1:]])
        case [float(), *others] if type(value) in (list, tuple):
            yield type(value)([math.nan, *others])


@pytest.mark.parametrize("theorem", sorted(ROWS.keys() - INNER))
def test_nonsense_is_refused(theorem: str) -> None:
    inputs, function = ROWS[theorem].inputs, registry()[theorem].function
    for name, value in inputs.items():
        for other in nonsense(name, value, theorem):
            with pytest.raises(InvalidArgument, match=r"\S"):
                function(**{**inputs, name: other})


def test_a_level_is_one_where_there_are_no_rows_too() -> None:
    with pytest.raises(InvalidArgument, match="log_p"):
        correlation_by_bets([], [], 0.5)
