"""Rows that are in two tables: whether a training table holds rows of the protected one.

Rows of the same content are in both parts of an honest split, too, wherever a table has duplicates.
So an overlap is an alarm only if duplicates do not explain it, by one of two criteria; an honest
pair of tables is refused by each with a probability of at most 1 in 10,000.

*Balance.* Honest tables are a random split of a pool: of a content that the pool has t times, each
row falls to the training table with the probability of its share q of all rows, and the tables have
as many of it, or one has one more, with the probability C(t, k) (pq)^k, where k = floor(t / 2) and
p = 1 - q. A copied row makes it so every time. For each t the contents that occur t times are
counted (D), and those among them of which the tables have as many (S). By Hoeffding's bound (1963,
Theorem 1) S is so large by chance with a probability of at most exp(-D KL(S/D || C(t, k) (pq)^k)),
times the ratio by which events of a split of fixed sizes may be likelier than those of independent
rows; each t >= 2 has the part 1 / (t (t - 1)) of the level. Few distinct contents, or few rows,
never alarm: equal halves need 15 shared rows that are in each once.

*Identity.* A column that is different in every row of either table, and so fine that two rows
hardly share a value by chance (ids of 64 bits, continuous numbers, long texts), names its rows: a
single shared row is enough, if all that share the value are the same rows. By chance there would be
Poisson many, of mean rows times rows by the values that are possible, and a hundred times that for
values that are not spread evenly. What is not by chance is a record that the pool has twice; so
where a key was declared, no other column names rows: a digest of a row's features names the
features, and many a table has two rows with the same.

Columns of consecutive whole numbers in both tables are row numbers, and no content.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import TYPE_CHECKING

from holdfast.data.fingerprint import mixed
from holdfast.data.sample import Sample, plain_frames
from holdfast.question.expression import ColumnType, ValueKind

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["MOST_HASHES", "RowContents", "log_chance_of_balance", "unexplained_overlap"]

_LOG_FALSE_ALARM = math.log(1e-4)
_UNEVEN = 100.0  # how much likelier than on an even spread two rows share a value
MOST_HASHES = 1 << 25  # of larger tables a part of the contents is compared, the same in both
_FINEST = 1e-9  # of a range: steps of numbers below it are not told from a continuum
_MOST_CHARACTERS = 32


class RowContents:
    """The contents of a table's rows as hashes, kept for the columns that were compared last.

    Where a `key` was declared, it alone can name rows.
    """

    def __init__(self, sample: Sample, key: str | None = None) -> None:
        self.sample = sample
        self.key = key
        self._kept: tuple[Mapping[str, ColumnType], int, NDArray[np.uint64]] | None = None

    def hashes(self, types: Mapping[str, ColumnType], most: int) -> NDArray[np.uint64]:
        """A hash for each row whose content has one up to `most`; the same in this process only."""
        import numpy as np
        import polars as pl

        if self._kept is None or self._kept[:2] != (types, most):
            chosen = [
                pl.col(name).cast(pl.Float64) if type_ is ColumnType.FLOAT else pl.col(name)
                for name, type_ in types.items()
            ]
            parts = [
                mixed(frame.select(chosen).hash_rows().to_numpy())
                for frame in plain_frames(self.sample.frames(list(types)))
            ]
            words = np.concatenate(parts)
            self._kept = dict(types), most, words[words <= np.uint64(most)]
        return self._kept[2]


def unexplained_overlap(protected: RowContents, others: Sample) -> int:
    """How many rows of the others are in the protected table; 0 where duplicates explain it."""
    import numpy as np
    import polars as pl

    sample = protected.sample
    types = _shared_types(sample, others)
    if not types:
        return 0
    most = min(2**64 - 1, 2**64 * MOST_HASHES // (sample.n + others.n))
    hashes = (protected.hashes(types, most), RowContents(others).hashes(types, most))
    rows = pl.DataFrame(
        {
            "content": np.concatenate(hashes),
            "is_other": np.repeat([False, True], [len(each) for each in hashes]),
        }
    )
    counts = rows.group_by("content").agg(
        ours=pl.col("is_other").not_().sum(), theirs=pl.col("is_other").sum()
    )
    ours, theirs = (counts[name].to_numpy().astype(np.int64) for name in ("ours", "theirs"))
    shared = (ours > 0) & (theirs > 0)
    alarming = shared.any() and (
        log_chance_of_balance(ours, theirs, sample.n, others.n) <= _LOG_FALSE_ALARM
        or (
            max(ours.max(), theirs.max()) == 1
            and _is_identified(sample, others, _naming(types, protected.key), int(shared.sum()))
        )
    )
    return int(theirs[shared].sum()) if alarming else 0


def _naming(types: Mapping[str, ColumnType], key: str | None) -> Mapping[str, ColumnType]:
    """The columns that may name rows."""
    return types if key is None else {name: types[name] for name in types.keys() & {key}}


def _shared_types(protected: Sample, others: Sample) -> dict[str, ColumnType]:
    """The columns that both have, but for row numbers and what no question reads."""
    types = {}
    for name in sorted(protected.types.keys() & others.types.keys()):
        own, training = protected.types[name], others.types[name]
        if own is training and own is not ColumnType.OTHER:
            types[name] = own
        elif own.kind is training.kind is ValueKind.NUMBER:
            types[name] = ColumnType.FLOAT
    whole = [name for name, type_ in types.items() if type_ is ColumnType.INTEGER]
    for sample in (others, protected):
        whole = [name for name in whole if _is_row_number(sample, name)]
    return {name: type_ for name, type_ in types.items() if name not in whole}


def _is_row_number(sample: Sample, column: str) -> bool:
    """Whether the values are consecutive, in any order: told by their range, sum and squares."""
    import numpy as np

    low, high, total, squares = math.inf, -math.inf, 0.0, 0.0
    for frame in sample.frames([column]):
        if frame[column].has_nulls():
            return False
        values = frame[column].to_numpy().astype(np.float64)
        low, high = min(low, float(values.min())), max(high, float(values.max()))
        total, squares = total + float(values.sum()), squares + float((values**2).sum())
    if high - low + 1 != sample.n:
        return False
    middle = (low + high) / 2
    spread = squares / sample.n - middle**2
    return math.isclose(total / sample.n, middle, rel_tol=1e-9) and math.isclose(
        spread, (sample.n**2 - 1) / 12, rel_tol=1e-6, abs_tol=1e-6 * middle**2 + 1e-9
    )


def log_chance_of_balance(
    ours: NDArray[np.int64], theirs: NDArray[np.int64], n: int, m: int
) -> float:
    """The log of a bound on the chance that contents are so evenly in both tables."""
    import numpy as np

    totals, balanced = ours + theirs, np.abs(ours - theirs) <= 1
    several = totals[totals > 1]
    if not len(several):
        return 0.0
    times, frequencies = np.unique(several, return_counts=True)
    even = np.bincount(totals[balanced], minlength=int(times[-1]) + 1)[times]
    return min(
        math.log(t * (t - 1)) + _log_chance_of_splits(t, contents, split, n, m)
        for t, contents, split in zip(
            times.tolist(), frequencies.tolist(), even.tolist(), strict=True
        )
    )


def _log_chance_of_splits(t: int, contents: int, split: int, n: int, m: int) -> float:
    """Of so many contents that occur t times, so many, or more, split evenly."""
    rows, q = n + m, m / (n + m)
    chance = math.exp(_log_choose(t, t // 2) + t // 2 * math.log(q * (1 - q)))
    share = split / contents
    if share <= chance:
        return 0.0
    left = rows - t * contents
    likeliest = min(left, (left + 1) * m // rows)
    ratio = _log_binomial(left, likeliest, q) - _log_binomial(rows, m, q)
    return min(0.0, ratio - contents * _divergence(share, chance))


def _divergence(share: float, mean: float) -> float:
    """KL of two events' probabilities, in nats."""
    rest = (1 - share) * math.log((1 - share) / (1 - mean)) if share < 1 else 0.0
    return share * math.log(share / mean) + rest


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _log_binomial(n: int, k: int, p: float) -> float:
    return _log_choose(n, k) + k * math.log(p) + (n - k) * math.log1p(-p)


def _is_identified(
    protected: Sample, others: Sample, types: Mapping[str, ColumnType], shared: int
) -> bool:
    """Whether a column names rows, and so many could not share its values by chance."""
    import polars as pl

    for name, type_ in types.items():
        tables = [_values(sample, name, type_) for sample in (protected, others)]
        values = pl.concat(tables).unique()
        if values.has_nulls() or any(each.n_unique() < len(each) for each in tables):
            continue
        if protected.n + others.n - len(values) != shared:
            continue  # rows that differ share it: it names something else than rows
        mean = _UNEVEN * protected.n * others.n / _possible(values, type_)
        log_tail = shared - mean + shared * math.log(mean / shared) if shared > mean else 0.0
        if log_tail <= _LOG_FALSE_ALARM:
            return True
    return False


def _values(sample: Sample, column: str, type_: ColumnType) -> pl.Series:
    import polars as pl

    values = pl.concat([frame[column] for frame in sample.frames([column])])
    if type_ is ColumnType.FLOAT:
        return values.cast(pl.Float64).fill_nan(None)
    return values.cast(pl.String) if type_ is ColumnType.TEXT else values.to_physical()


def _possible(values: pl.Series, type_: ColumnType) -> float:
    """How many values a column could have, by the steps of its numbers or the letters of texts."""
    match type_:
        case ColumnType.TEXT:
            places = range(min(_MOST_CHARACTERS, *values.str.len_chars()))
            return float(math.prod(values.str.slice(place, 1).n_unique() for place in places))
        case ColumnType.FLOAT:
            return _steps(values.to_list())
        case ColumnType.INTEGER | ColumnType.DATE | ColumnType.DATETIME:
            numbers: list[int] = values.to_list()
            low = min(numbers)
            return (max(numbers) - low) / (math.gcd(*(each - low for each in numbers)) or 1) + 1
    return 1.0


def _steps(numbers: Iterable[float]) -> float:
    """How many steps there are between the least and the greatest number."""
    finite = [each for each in numbers if math.isfinite(each)]
    if not finite:
        return 1.0
    low, width = min(finite), max(finite) - min(finite)
    if not 0 < width < math.inf:
        return 1.0

    def common(step: float, number: float) -> float:
        while number > _FINEST:
            step, number = number, step % number
            number = min(number, abs(step - number))  # just below a step is the same as none
        return max(step, _FINEST)

    return 1 / reduce(common, ((each - low) / width for each in finite), 1.0) + 1
