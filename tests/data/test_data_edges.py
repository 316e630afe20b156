"""Limits of what is taken of tables, each exactly at its edge."""

from __future__ import annotations

import math
from collections.abc import Callable
from tempfile import TemporaryFile

import numpy as np
import polars as pl
import pytest

from holdfast.data.attached import declared_digest, from_python
from holdfast.data.design import MOST_CELLS, design_of
from holdfast.data.fingerprint import log_chance_of_balance
from holdfast.data.keys import named_keys
from holdfast.data.orders import Ordered
from holdfast.data.plain import column_type
from holdfast.data.polars import PolarsSample
from holdfast.data.randomised import cell_counts
from holdfast.data.sampling import Independent, declared, gamma_of, markov_chain, measured
from holdfast.data.split import put_aside, row_keys, split
from holdfast.data.sql.language import sql_column_type
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.question import Schema, parse_row
from holdfast.question.expression import ColumnType
from holdfast.question.row import row_value
from tests import seam


def sample(**columns: object) -> PolarsSample:
    return PolarsSample(pl.DataFrame(columns))


COINS = 0.9 * 0.98 / 100 / math.sqrt(2 * math.log(2 / 0.05))  # a sigma of 10,000 fair coins
FEW = 0.9 * 0.5 / math.sqrt(2 * math.log(2 / 0.05))  # and of two


def rows(count: int) -> PolarsSample:
    return sample(x=np.arange(float(count)))


EDGES: dict[str, tuple[Callable[[float], object], float, float]] = {
    "digest": (lambda n: declared_digest("d" * int(n)), 200, 201),
    "whole numbers among others": (lambda n: from_python("x", [0.5, int(n)]), 2**53, 2**53 + 1),
    "negative whole numbers": (lambda n: from_python("x", [0.5, -int(n)]), 2**53, 2**53 + 1),
    "cells": (
        lambda n: design_of(sample(x=np.arange(int(n))), ["x"], Independent()),
        MOST_CELLS,
        MOST_CELLS + 1,
    ),
    "coins": (lambda sigma: measured(declared(sigma=sigma), rows(10_000)), 1.01, 0.99),
    "two coins": (lambda sigma: measured(declared(sigma=sigma), rows(2)), 1.01, 0.99),
    "rows put aside": (lambda n: put_aside(rows(int(n)), 50 / n), 100, 99),
    "rows left": (lambda n: put_aside(rows(int(n)), 1 - 50 / n), 100, 99),
    "contraction": (markov_chain, math.nextafter(1.0, 0.0), 1.0),
    "no contraction": (markov_chain, 0.0, -1e-300),
}
EDGES["coins"] = (EDGES["coins"][0], 1.01 * COINS, 0.99 * COINS)
EDGES["two coins"] = (EDGES["two coins"][0], 1.01 * FEW, 0.99 * FEW)


@pytest.mark.parametrize("name", EDGES)
def test_what_is_taken_ends_there(name: str) -> None:
    take, taken, refused = EDGES[name]
    take(taken)
    with pytest.raises(HoldfastError):
        take(refused)


def test_a_digest_is_a_line_of_text() -> None:
    for wrong in ("", "a\nb", "\x00"):
        with pytest.raises(InvalidArgument):
            declared_digest(wrong)
    assert declared_digest("sha256:0") == "sha256:0"


def test_a_part_beyond_all_rows_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="puts 20 aside and leaves 0"):
        put_aside(rows(20), 0.99)


def test_every_copy_of_a_row_has_a_key_of_its_own() -> None:
    frame = pl.DataFrame({"x": [1, 2, 1, 1, 2, 3], "t": ["a", "a", "a", "b", "a", "a"]})
    types = PolarsSample(frame).types
    keys = row_keys(frame, types)
    assert len(set(keys.tolist())) == 6
    assert set(row_keys(frame.reverse(), types).tolist()) == set(keys.tolist())
    once = row_keys(frame.unique(), types)
    assert len(set(keys.tolist()) & set(once.tolist())) == 4  # the first of each


def test_every_bit_of_a_seed_counts() -> None:
    frame = pl.DataFrame({"x": range(64)})
    seeds = (0, 1, 2**63, 2**64 - 1, 2**64 + 1, 2**65, 2**128 - 1)
    held = {tuple(split(frame, 0.5, seed)[1]["x"].to_list()) for seed in seeds}
    assert len(held) == len(seeds)
    assert split(frame, 0.5, 2**128)[1].equals(split(frame, 0.5, 0)[1])


@pytest.mark.parametrize(
    ("numbers", "is_numbering"),
    [
        (range(5, 15), True),
        ([14, 5, 13, 6, 12, 7, 11, 8, 10, 9], True),
        (range(-20, -10), True),
        ([0, 1, 2, 2, 4, 5, 7, 7, 8, 9], False),  # the same range and the same sum
        ([0, 1, 2, 3, 4, 5, 6, 7, 9, 9], False),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 10], False),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, None], False),
        ([1], True),
    ],
)
def test_row_numbers_are_consecutive(numbers: list[int | None], is_numbering: bool) -> None:
    assert seam.real(seam.IS_ROW_NUMBER)(sample(x=numbers), "x") is is_numbering


@pytest.mark.parametrize(
    ("numbers", "steps"),
    [([], 1), ([math.inf], 1), ([3.0, 3.0], 1), ([0.0, 0.5], 2), ([0.0, 0.25, 1.0], 5)],
)
def test_steps_between_numbers_are_counted(numbers: list[float], steps: int) -> None:
    assert seam.real(seam.STEPS_BETWEEN)(numbers) == steps


def test_contents_that_occur_once_tell_nothing() -> None:
    ones, none = np.array([1, 0, 1]), np.array([0, 1, 0])
    assert log_chance_of_balance(ones, none, 2, 1) == 0.0


def test_a_part_of_an_order_is_read_as_of_an_array() -> None:
    numbers = np.arange(10, 20)
    with TemporaryFile() as file:
        file.write(numbers.tobytes())
        ordered = Ordered(file, 10)
        for start, end in ((0, 10), (3, 7), (7, 3), (9, 99), (10, 10), (0, 1)):
            assert ordered[start:end].tolist() == numbers[start:end].tolist()


def test_decimals_are_numbers_up_to_fifteen_digits() -> None:
    for digits, kind in ((15, ColumnType.FLOAT), (16, ColumnType.OTHER)):
        assert column_type(pl.Decimal(digits, 2)) is kind
        assert sql_column_type(f"decimal({digits},2)", {}) is kind


def test_long_keys_are_cut() -> None:
    longest = next(n for n in range(1, 300) if "..." in named_keys(pl.Series(["k" * n]), "is", ""))
    kept = named_keys(pl.Series(["k" * (longest - 1)]), "is", "are")
    assert kept == f"1 key ({'k' * (longest - 1)!r}) is"
    keys = pl.Series(range(4))
    assert named_keys(keys.head(3), "is", "are") == "3 keys (0, 1, 2) are"
    assert named_keys(keys, "is", "are") == "4 keys (0, 1, 2, ...) are"


def test_a_concentration_needs_both_of_its_functions() -> None:
    class Tail:
        def log_tail(self, _: float) -> float:
            return 0.0

    class Radius:
        def radius(self, _: float) -> float:
            return 0.0

    class Both(Tail, Radius):
        pass

    for wrong in (Tail(), Radius(), 3.0):
        with pytest.raises(InvalidArgument, match="it must be a family such as"):
            gamma_of(wrong)
    with pytest.raises(InvalidArgument):
        gamma_of(Both())  # no ledger could keep it


def test_arms_are_counted_where_their_values_surely_are() -> None:
    """Values of [0, 1] on five places, a quarter apart: each between two of them, or at one."""
    numbers = [0.0, 0.1, 0.25, 0.6, 1.0, 1.0, 0.9]
    arms = ["a", "b", "a", "b", "a", "b", "c"]
    table = PolarsSample(pl.DataFrame({"x": numbers, "arm": arms, "s": [1, 1, 0, 0, 1, 1, 0]}))
    schema = Schema(table.types).declare({"x": (0.0, 1.0)})
    first, second = (parse_row(f"arm = '{each}'", schema) for each in "ab")
    value = row_value(parse_row("x", schema))
    found = cell_counts(table, value, (first, second), ["s"], 5)
    # A value on a place may be off by a rounding of the grid, to either side.
    assert sorted(zip(*(each.tolist() for each in found), strict=True)) == [
        (0, 0, 2, 1, 0),
        (0, 2, 3, 0, 1),
        (1, 0, 1, 1, 1),
        (1, 3, 4, 1, 1),
    ]


def test_a_split_without_a_seed_is_that_of_seed_0() -> None:
    frame = pl.DataFrame({"x": range(30)})
    assert split(frame)[1].equals(split(frame, 0.5, 0)[1])
    assert not split(frame)[1].equals(split(frame, 0.5, 1)[1])


@pytest.mark.parametrize("top", [2**30, 3 * 2**20 + 7])
def test_bins_end_two_steps_from_their_own(top: int) -> None:
    """By so many a row's value may be off; a bin has 2^16 steps."""
    count = -(-(top + 1) // 2**16)
    low, high = seam.real(seam.ENDS_OF_BINS)(count, top)
    first = np.arange(count) * 2.0**16
    assert low * top == pytest.approx(np.maximum(first - 2.0, 0.0), abs=1e-6)
    assert high * top == pytest.approx(np.minimum(first + 2.0**16 - 1.0 + 2.0, top), abs=1e-6)
    for most in (0, 1):
        ends = seam.real(seam.ENDS_OF_BINS)(most + 1, most)
        assert [each.tolist() for each in ends] == [[0.0, 1.0][: most + 1]] * 2
