"""Training tables with protected rows are found, and honest splits with duplicates are not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, entropy

from holdfast.data.fingerprint import RowContents, log_chance_of_balance, unexplained_overlap
from holdfast.data.source import open_sample

ROWS = 1_000


def overlap(protected: pl.DataFrame, others: pl.DataFrame) -> int:
    return unexplained_overlap(RowContents(open_sample(protected)), open_sample(others))


def ids(rows: int, random: np.random.Generator) -> pl.DataFrame:
    """Identifiers of 64 bits, as text."""
    names = [f"{each:016x}" for each in random.integers(0, 2**63, rows)]
    return pl.DataFrame({"id": names, "late": random.random(rows) < 0.3})


def integers(rows: int, random: np.random.Generator) -> pl.DataFrame:
    return pl.DataFrame({"id": random.integers(0, 2**62, rows), "late": random.random(rows) < 0.3})


def measures(rows: int, random: np.random.Generator) -> pl.DataFrame:
    return pl.DataFrame({"x": random.normal(size=rows), "late": random.random(rows) < 0.3})


def coarse(rows: int, random: np.random.Generator) -> pl.DataFrame:
    """Measures like those of the iris: some rows are alike by chance."""
    return pl.DataFrame({f"x{k}": random.normal(5, 1, rows).round(1) for k in range(3)})


def categories(rows: int, random: np.random.Generator) -> pl.DataFrame:
    return pl.DataFrame({"a": random.choice(list("abc"), rows), "b": random.integers(0, 3, rows)})


def doubled(rows: int, random: np.random.Generator) -> pl.DataFrame:
    """Every row twice."""
    half = measures((rows + 1) // 2, random)
    return pl.concat([half, half]).head(rows)


def few_doubled(rows: int, random: np.random.Generator) -> pl.DataFrame:
    frame = ids(rows - rows // 50, random)
    return pl.concat([frame, frame.head(rows // 50)])


def numbered(rows: int, random: np.random.Generator) -> pl.DataFrame:
    """A number for each row, which begins anew in each table, and hardly anything else."""
    return pl.DataFrame({"row": np.arange(rows), "late": random.random(rows) < 0.02})


def single(rows: int, random: np.random.Generator) -> pl.DataFrame:
    """One column of whole numbers, mostly different from each other."""
    return pl.DataFrame({"x": random.integers(0, 50 * rows, rows)})


def scaled(rows: int, random: np.random.Generator) -> pl.DataFrame:
    """Whole numbers that were standardised: steps that are no decimal fractions."""
    return pl.DataFrame({"x": (random.integers(0, 50 * rows, rows) - 17.3) / 3.7})


def same_items(rows: int, random: np.random.Generator) -> pl.DataFrame:
    """The same items in both tables, with results that differ here and there."""
    names = [f"{each:016x}" for each in np.random.default_rng(1).integers(0, 2**63, rows)]
    return pl.DataFrame({"item": names, "right": random.random(rows) < 0.6})


HONEST = [
    ids,
    integers,
    measures,
    coarse,
    categories,
    doubled,
    few_doubled,
    numbered,
    single,
    scaled,
]
Maker = Callable[[int, np.random.Generator], pl.DataFrame]


@pytest.mark.parametrize("make", HONEST, ids=lambda make: make.__name__)
def test_a_hundred_honest_tables_are_no_alarm(make: Maker) -> None:
    random = np.random.default_rng(5)
    for trial in range(100):
        # Of 12 rows, each twice, one split in 14 has no row twice in either part.
        rows = int(random.choice([20 if make is doubled else 6, 20, 150, 600]))
        if make is numbered:  # two tables that were made apart
            parts = [make(rows, random), make(max(2, rows // 2), random)]
        else:
            pool = make(2 * rows, random).sample(fraction=1.0, shuffle=True, seed=trial)
            cut = rows if trial % 2 else rows // 3
            parts = [pool.head(cut), pool.tail(-cut)]
        assert overlap(*parts) == 0


COPIED: dict[str, Callable[[pl.DataFrame, pl.DataFrame], tuple[pl.DataFrame, int]]] = {
    "one row less": lambda hold, _: (hold.head(-1), hold.height - 1),
    "one row more": lambda hold, other: (pl.concat([hold, other.head(1)]), hold.height),
    "the whole table": lambda hold, other: (pl.concat([other, hold]), hold.height),
    "a tenth of it": lambda hold, other: (
        pl.concat([other, hold.head(hold.height // 10)]),
        hold.height // 10,
    ),
}


@pytest.mark.parametrize("how", COPIED)
@pytest.mark.parametrize(
    "make", [ids, integers, measures, coarse, doubled], ids=lambda m: m.__name__
)
def test_copied_rows_are_found_and_counted(make: Maker, how: str) -> None:
    random = np.random.default_rng(6)
    hold, other = make(ROWS, random), make(ROWS, random)
    train, copied = COPIED[how](hold, other)
    shared = overlap(hold, train.sample(fraction=1.0, shuffle=True, seed=1))
    assert copied <= shared <= copied + 30  # by chance, a few more of coarse measures
    assert overlap(hold, other) == 0


@pytest.mark.parametrize("make", [ids, integers], ids=lambda make: make.__name__)
def test_a_single_row_that_is_named_is_found(make: Maker) -> None:
    random = np.random.default_rng(7)
    for rows in (5, 100, 1_000):
        hold, other = make(rows, random), make(rows, random)
        assert overlap(hold, pl.concat([other, hold.head(1)])) == 1


def test_where_a_key_was_declared_no_other_column_names_rows() -> None:
    """A digest of a row's features names the features, and a table may have two rows with them."""
    random = np.random.default_rng(7)
    hold, other = (ids(100, random).with_row_index("row") for _ in range(2))
    both = pl.concat([other, hold.head(1)])
    assert unexplained_overlap(RowContents(open_sample(hold), "row"), open_sample(both)) == 0
    assert unexplained_overlap(RowContents(open_sample(hold), "id"), open_sample(both)) == 1


def test_a_handful_of_rows_with_continuous_numbers_is_found() -> None:
    random = np.random.default_rng(8)
    hold, other = measures(ROWS, random), measures(ROWS, random)
    assert overlap(hold, pl.concat([other, hold.head(5)])) == 5


def test_the_same_items_are_no_other_rows() -> None:
    """Though not all results are the same: items that were learnt are those that are protected."""
    random = np.random.default_rng(11)
    assert overlap(same_items(ROWS, random), same_items(ROWS, random)) > ROWS / 3


def test_other_columns_and_types_do_not_hide_a_copy() -> None:
    random = np.random.default_rng(9)
    hold = integers(ROWS, random).with_columns(count=pl.Series(random.integers(0, 9, ROWS)))
    more = hold.with_columns(pl.col("count").cast(pl.Float64), score=pl.lit(0.5))
    assert overlap(hold, more.head(-1)) == ROWS - 1
    assert overlap(hold, hold.drop("count").head(-1)) == ROWS - 1
    renumbered = [
        frame.with_row_index("row") for frame in (hold, hold.sample(fraction=0.5, seed=1))
    ]
    assert overlap(*renumbered) == ROWS // 2
    assert overlap(hold, hold.select(other=pl.col("id"))) == 0


def test_a_part_of_the_contents_is_enough_of_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("holdfast.data.fingerprint")  # the package has a function so called
    monkeypatch.setattr(module, "MOST_HASHES", 400)
    random = np.random.default_rng(10)
    hold, other = measures(ROWS, random), measures(ROWS, random)
    assert 0 < overlap(hold, hold.head(-1)) < ROWS
    assert overlap(hold, other) == 0


def test_the_chance_of_balance_is_above_the_exact_one() -> None:
    """All splits of small pools are counted."""
    pools = [(2, 2, 2, 1, 1, 1, 1), (2, 2, 2, 2), (4, 2, 1, 1), (3, 3, 2, 2), (2,) * 5 + (1,) * 4]
    least = []
    for pool, m in itertools.product(pools, (2, 3, 4, 7)):
        rows = [place for place, times in enumerate(pool) for _ in range(times)]
        n = len(rows) - m
        bounds = []
        for chosen in itertools.combinations(range(len(rows)), m):
            theirs = np.bincount([rows[each] for each in chosen], minlength=len(pool))
            bounds.append(log_chance_of_balance(np.array(pool) - theirs, theirs, n, m))
        chances = np.exp(bounds)
        for level in set(chances.tolist()):
            assert (chances <= level).mean() <= level + 1e-12
        least.append(chances.min())
    assert min(least) < 0.5  # not because it says nothing


def fewest_values(rows: int) -> int:
    """Of so many possible values on, a column that is the same in all rows of both names them."""

    def log_tail(values: int) -> float:
        mean = 100.0 * rows**2 / values
        return rows - mean + rows * math.log(mean / rows)

    return next(v for v in itertools.count(100 * rows + 1) if log_tail(v) <= math.log(1e-4))


def of_steps(rows: int, values: int) -> NDArray[np.int64]:
    """Whole numbers of so many values, some of them a step apart."""
    return np.array([0, *(values - 1 - 7 * np.arange(rows - 2)[::-1]), 1])


DAY = np.datetime64("2020-03-01")
OF_VALUES: dict[str, Callable[[NDArray[np.int64]], object]] = {
    "integers": lambda steps: 3_000 + 5 * steps,
    "negative": lambda steps: steps - 4_000,
    "dates": lambda steps: DAY + steps,
    "numbers": lambda steps: 0.25 * steps - 10.0,
    "decimal": lambda steps: 0.01 * steps + 5.0,
}


@pytest.mark.parametrize("kind", OF_VALUES)
@pytest.mark.parametrize("rows", [3, 6, 9, 14])
def test_a_column_names_rows_from_so_many_possible_values_on(kind: str, rows: int) -> None:
    """Too few rows for their balance: all rests on what the values could have been."""
    fewest = fewest_values(rows)
    found = []
    for values in (fewest - 1, fewest):
        table = pl.DataFrame({"id": OF_VALUES[kind](of_steps(rows, values))})
        found.append(overlap(table, table.reverse()))
    assert found == [0, rows]


def test_letters_of_texts_are_counted_place_by_place() -> None:
    """14 rows: 14 letters at each of the first places that all have; the rest is no evidence."""
    letters = [chr(97 + k) for k in range(14)]
    assert 14**3 < fewest_values(14) < 14**4
    for places, named in ((3, 0), (4, 14)):
        table = pl.DataFrame({"id": [each * places for each in letters]})
        assert overlap(table, table) == named
        longer = pl.DataFrame({"id": [letters[0] * places, *(each * 40 for each in letters[1:])]})
        assert overlap(longer, longer) == named


def test_numbers_without_steps_are_a_continuum() -> None:
    """A single row of ten is enough, also beside what is not finite."""
    x, y = np.sqrt(np.arange(2.0, 12.0)), np.sqrt(np.arange(22.0, 32.0))
    y[3] = x[5]
    assert overlap(pl.DataFrame({"x": x}), pl.DataFrame({"x": y})) == 1
    x[0] = math.inf
    assert overlap(pl.DataFrame({"x": x}), pl.DataFrame({"x": y})) == 1


@pytest.mark.parametrize(
    ("n", "m", "times", "contents", "split"),
    [
        (40, 40, 2, 20, 18),
        (30, 50, 3, 10, 10),
        (30, 34, 5, 12, 9),
        (500, 100, 4, 60, 40),
        (20, 20, 2, 10, 5),
        (200, 300, 7, 30, 20),
    ],
)
def test_the_chance_of_balance_is_hoeffdings_bound(
    n: int, m: int, times: int, contents: int, split: int
) -> None:
    """Of independent rows, and the largest ratio of a split of fixed sizes to it."""
    q, half = m / (n + m), times // 2
    even = math.comb(times, half) * (q * (1 - q)) ** half
    share = split / contents
    divergence = float(entropy([share, 1 - share], [even, 1 - even]))
    left = n + m - times * contents
    ratio = binom.logpmf(np.arange(left + 1), left, q).max() - binom.logpmf(m, n + m, q)
    expected = min(0.0, ratio - contents * divergence) if share > even else 0.0
    ours = np.array([half] * split + [0] * (contents - split) + [1] * 3)
    theirs = np.array([times - half] * split + [times] * (contents - split) + [0] * 3)
    bound = log_chance_of_balance(ours, theirs, n, m)
    assert bound == pytest.approx(expected + math.log(times * (times - 1)))
