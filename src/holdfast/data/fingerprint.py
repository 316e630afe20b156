"""The fingerprint of a table: the same for the same rows, in whatever order, file or engine.

Every row is mixed, column by column in the order of their names, into two 64-bit words, and these
are summed over the rows modulo 2^64; the sums, the number of rows and the columns' names and types
are then hashed. So the order of rows and of columns and the way they are stored do not matter,
while a changed cell, a row added, removed or doubled, a renamed column or a changed type does.

Two values are the same here when no question can tell them apart: NULL and NaN, 0 and -0, an
integer in 4 or in 8 bytes, text as such or in categories, a time in seconds or in microseconds, a
date in the year 10000 and none. Of types that questions cannot use, decimals and times of day are
the same on every engine; others are as their engine writes them.

An accident goes unnoticed with a chance of about 2^-128. It is not a seal against whoever chooses
the rows: sums of mixed words can be solved for two different tables with one fingerprint.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from holdfast.data.sample import Sample, plain_frames
from holdfast.question.expression import ColumnType, ValueKind

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

# A fast, fixed mixing of 64-bit words: the same numbers on every machine and in every version.


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each word through a bijection in which every input bit affects every output bit.

    The finaliser of SplitMix64 (Steele, Lea and Flood 2014); arithmetic is modulo 2^64.
    """
    import numpy as np

    words = words ^ (words >> np.uint64(30))
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


# The words of each column's cells, one or two for each row.
ColumnWords: TypeAlias = "Mapping[str, list[NDArray[np.uint64]]]"

_LANES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)  # odd, so that multiplication loses nothing
_NULL = 0xD6E8FEB86659FD93


@dataclass(frozen=True, slots=True)
class WordSums:
    """How many rows there are, and the sums of their words modulo 2^64."""

    rows: int = 0
    first: int = 0
    second: int = 0


@runtime_checkable
class SummingWords(Protocol):
    """An engine that sums words by itself, where its rows are."""

    def word_sums(self) -> WordSums | None:
        """The sums over all rows and columns; None where it cannot, so that batches are needed."""
        ...


def fingerprint(
    sample: Sample,
    also: Callable[[pl.DataFrame, ColumnWords, NDArray[np.uint64]], object] | None = None,
) -> str:
    """The fingerprint of a table, as 32 hexadecimal digits.

    What `also` is to be made of its batches, their cells and their rows' first words is made in the
    same scan, where there are any.
    """
    types = dict(sorted(sample.types.items()))
    total = sample.word_sums() if isinstance(sample, SummingWords) else None
    if total is None:
        total = WordSums()
        for frame in sample.frames(list(types)):
            cells = {name: cell_words(frame[name], type_) for name, type_ in types.items()}
            lanes = [_lane(cells, types, frame.height, lane) for lane in range(2)]
            total = added_words(total, WordSums(frame.height, *(int(each.sum()) for each in lanes)))
            if also is not None:
                also(frame, cells, lanes[0])
    sums = [total.first, total.second]
    content = {"columns": list(types.items()), "rows": total.rows, "sums": sums, "version": 1}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16).hexdigest()


def added_words(left: WordSums, right: WordSums) -> WordSums:
    """The sums over the rows of both."""
    return WordSums(
        left.rows + right.rows,
        (left.first + right.first) % 2**64,
        (left.second + right.second) % 2**64,
    )


def words_of_frame(frame: pl.DataFrame, types: Mapping[str, ColumnType]) -> WordSums:
    """The sums over the rows of a batch."""
    return WordSums(frame.height, *(int(words.sum()) for words in row_words(frame, types)))


def row_words(
    frame: pl.DataFrame, types: Mapping[str, ColumnType]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Two words for each row, mixed of all its cells in the order of the columns' names."""
    cells = {name: cell_words(frame[name], types[name]) for name in sorted(types)}
    return _lane(cells, types, frame.height, 0), _lane(cells, types, frame.height, 1)


def _lane(
    words: ColumnWords, types: Mapping[str, ColumnType], rows: int, lane: int
) -> NDArray[np.uint64]:
    """One of the two words for each row, of the words of its cells in the order they come in."""
    import numpy as np

    odd = _LANES[lane]
    state = np.full(rows, odd, dtype=np.uint64)
    for name, cells in words.items():
        key = _words_of(f"{name}\0{types[name]}".encode())[lane]
        for cell in cells:
            state = mixed(state + cell * np.uint64(odd) + key)
    return state


def _words_of(content: bytes) -> NDArray[np.uint64]:
    import numpy as np

    return np.frombuffer(blake2b(content, digest_size=16).digest(), dtype="<u8")


def cell_words(series: pl.Series, type_: ColumnType) -> list[NDArray[np.uint64]]:
    """The column as one or two words for each row."""
    import numpy as np
    import polars as pl

    from holdfast.data.plain import told_apart

    if type_ in (ColumnType.TEXT, ColumnType.OTHER):
        return _text_words(_as_text(series))
    if type_ is ColumnType.FLOAT:
        values = series.cast(pl.Float64).to_numpy()  # a missing number is NaN there
        missing, words = np.isnan(values), (values + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    else:
        if type_ in (ColumnType.DATE, ColumnType.DATETIME):
            wanted = told_apart("moment", series.dtype)
            series = series.to_frame("moment").select(wanted).to_series()
        numbers = series if series.dtype == pl.UInt64 else series.to_physical().cast(pl.Int64)
        missing = numbers.is_null().to_numpy()
        if numbers.has_nulls():
            numbers = numbers.fill_null(0)
        words = numbers.to_numpy().view(np.uint64)
    return [np.where(missing, np.uint64(_NULL), words) if missing.any() else words]


def _as_text(series: pl.Series) -> pl.Series:
    """Text or bytes as they are, numbers and times as databases write them, others as JSON."""
    import polars as pl

    if series.dtype in (pl.String, pl.Binary):
        return series
    if series.dtype in (pl.Categorical, pl.Enum, pl.Decimal):
        return series.cast(pl.String)
    if series.dtype == pl.Time:
        return series.dt.to_string("%H:%M:%S%.9f").str.strip_chars_end("0").str.strip_chars_end(".")
    texts = series.to_frame("value").to_struct("row").struct.json_encode()
    return pl.select(pl.when(series.is_not_null()).then(texts)).to_series()


def _text_words(series: pl.Series) -> list[NDArray[np.uint64]]:
    """Two words of a cryptographic hash for each row; equal texts are hashed once."""
    import numpy as np
    import polars as pl

    distinct = series.unique().drop_nulls()
    contents = (each.encode() if isinstance(each, str) else each for each in distinct)
    digests = [b"\0" * 16, *(blake2b(each, digest_size=16).digest() for each in contents)]
    words = np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2)
    numbers = pl.Series(range(1, len(distinct) + 1), dtype=pl.UInt32)
    places = series.replace_strict(distinct, numbers, default=0, return_dtype=pl.UInt32)
    return list(words[places.fill_null(0).to_numpy()].T)


# Digests of single columns, by which the same rows are known under other names and types.
#
# A digest is a sum over the rows, as the fingerprint is, of a column's cells alone, whatever the
# column is called; whole numbers, conditions and numbers of the same value have the same. A column
# that could well be the same in an unrelated table has none: a few values, whose counts may agree
# by chance, or many that occur equally often, as row numbers, names of items, units and days do,
# which are so by design. Beside such a column of names each other one also has a digest, row by
# row: it tells a column of ones and zeros from another with as many ones.


_WHOLE = (ColumnType.BOOLEAN, ColumnType.INTEGER)  # by their value, as other numbers
_LEAST_BITS = 40.0  # of what must agree by chance, for two columns to be the same in vain
_MOST_NAMES = 3  # columns
_MOST_KEPT = 2048  # rows of a table, by which it is known in a larger one
_MOST_EQUAL = 0.999  # the part of these that must differ: else equal rows may be others' rows


class ColumnDigests:
    """Digests of the columns of a table, from its batches, and which of them miss values.

    The first batch says which columns have a digest: by itself one whose counts are many and
    differ, or that has fractions; beside a column of names, one that differs from name to name.
    """

    def __init__(self, types: Mapping[str, ColumnType]) -> None:
        self._types = types
        self._rows = 0
        self._sums: Counter[tuple[str, str]] = Counter()
        self._wanted: list[tuple[str, str]] | None = None  # a column and the names beside it
        self._names: list[str] = []
        self._least: NDArray[np.uint64] | None = None  # words of whole rows, the least of them
        self._incomplete: set[str] = set()

    def add(self, frame: pl.DataFrame, cells: ColumnWords, rows: NDArray[np.uint64]) -> None:
        """A batch of rows, the words of their cells, and the first word of each row."""
        import numpy as np

        from holdfast.data.plain import told_apart

        # The first batch says which are wanted; of the others no word is needed afterwards.
        wanted = self._types if self._wanted is None else {*chain.from_iterable(self._wanted)}
        words = {
            name: _words(
                cell_words(frame[name], ColumnType.FLOAT) if type_ in _WHOLE else cells[name]
            )
            for name, type_ in self._types.items()
            if name in wanted
        }
        words[""] = np.zeros(frame.height, dtype=np.uint64)
        if self._wanted is None:
            self._wanted = self._informative(frame, words)
        self._rows += frame.height
        if self._names:
            own = {name: each for name, each in cells.items() if name not in self._names}
            rows = _lane(own, self._types, frame.height, 0)
        before = [] if self._least is None else [self._least]
        kept = mixed(rows ^ np.uint64(_LANES[1]))
        self._least = np.sort(np.concatenate([*before, kept]))[:_MOST_KEPT]
        names = {beside: mixed(words[beside]) for _, beside in self._wanted}
        for column, beside in self._wanted:
            self._sums[column, beside] += int(mixed(words[column] + names[beside]).sum())
        for name in {name for name, each in self._types.items() if each.kind} - self._incomplete:
            is_missing = told_apart(name, frame.schema[name]).is_null().any()
            if frame.select(is_missing).item():
                self._incomplete.add(name)

    @property
    def incomplete(self) -> list[str] | None:
        """Columns that hold NULL or NaN, of types that questions can use; None without batches."""
        return [name for name in self._types if name in self._incomplete] if self._rows else None

    def found(self) -> frozenset[str]:
        """The digests, as 32 hexadecimal digits each; which is whose is not told."""
        return frozenset(
            blake2b(
                f"{self._rows} {bool(beside)} {total % 2**64}".encode(), digest_size=16
            ).hexdigest()
            for (_, beside), total in self._sums.items()
        )

    def rows(self) -> list[str]:
        """Digests of single rows: of those with the least words, which are the same in any table
        with these rows, however many others it has. None where rows are not nearly all different.

        Columns of names, such as row numbers, are left out: they may be new in a table that grew.
        """
        import numpy as np

        if self._least is None or len(self._names) == len(self._types):
            return []
        different = np.unique(self._least)
        if len(different) < _MOST_EQUAL * len(self._least):
            return []
        return [f"{each:016x}" for each in different.tolist()]

    def _informative(
        self, frame: pl.DataFrame, words: Mapping[str, NDArray[np.uint64]]
    ) -> list[tuple[str, str]]:
        import numpy as np

        counts = {name: np.unique(words[name], return_counts=True)[1] for name in self._types}
        many = [
            name
            for name, count in counts.items()
            if (len(count) - 1) / 2 * math.log2(max(2, frame.height)) >= _LEAST_BITS
        ]
        names = [
            name
            for name in many
            if _is_even(counts[name]) and not _has_fractions(frame[name], self._types[name])
        ]
        names.sort(key=lambda name: -len(counts[name]))
        self._names = names
        wanted = [(name, "") for name in many if name not in names]
        for beside in names[:_MOST_NAMES]:
            least = _LEAST_BITS * frame.height / len(counts[beside])
            wanted += [
                (name, beside)
                for name in self._types
                if name not in names and _bits(counts[name]) >= least
            ]
        return wanted


def _words(cells: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """A word for each row, of one or two."""
    return mixed(cells[0]) if len(cells) == 1 else mixed(mixed(cells[0]) + cells[1])


def _is_even(counts: NDArray[np.int64]) -> bool:
    """Whether all values occur equally often, but for one that may be cut short."""
    return bool((counts < counts.max()).sum() <= 1)


def _has_fractions(values: pl.Series, type_: ColumnType) -> bool:
    return type_ is ColumnType.FLOAT and bool((values.drop_nulls() % 1 != 0).any())


def _bits(counts: NDArray[np.int64]) -> float:
    """The information in all rows of a column."""
    import numpy as np

    return float(-(counts * np.log2(counts / counts.sum())).sum())


# Rows that are in two tables: whether a training table holds rows of the protected one.
#
# Rows of the same content are in both parts of an honest split, too, wherever a table has
# duplicates. So an overlap is an alarm only if duplicates do not explain it, by one of two
# criteria; an honest pair of tables is refused by each with a probability of at most 1 in 10,000.
#
# *Balance.* Honest tables are a random split of a pool: of a content that the pool has t times,
# each row falls to the training table with the probability of its share q of all rows, and the
# tables have as many of it, or one has one more, with the probability C(t, k) (pq)^k, where k =
# floor(t / 2) and p = 1 - q. A copied row makes it so every time. For each t the contents that
# occur t times are counted (D), and those among them of which the tables have as many (S). By
# Hoeffding's bound (1963, Theorem 1) S is so large by chance with a probability of at most exp(-D
# KL(S/D || C(t, k) (pq)^k)), times the ratio by which events of a split of fixed sizes may be
# likelier than those of independent rows; each t >= 2 has the part 1 / (t (t - 1)) of the level.
# Few distinct contents, or few rows, never alarm: equal halves need 15 shared rows that are in each
# once.
#
# *Identity.* A column that is different in every row of either table, and so fine that two rows
# hardly share a value by chance (ids of 64 bits, continuous numbers, long texts), names its rows: a
# single shared row is enough, if all that share the value are the same rows. By chance there would
# be Poisson many, of mean rows times rows by the values that are possible, and a hundred times that
# for values that are not spread evenly. What is not by chance is a record that the pool has twice;
# so where a key was declared, no other column names rows: a digest of a row's features names the
# features, and many a table has two rows with the same.
#
# Columns of consecutive whole numbers in both tables are row numbers, and no content.


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
        return 1 / round(1 / max(step, _FINEST))  # a part of the range: roundings do not add up

    return round(1 / reduce(common, ((each - low) / width for each in finite), 1.0)) + 1
