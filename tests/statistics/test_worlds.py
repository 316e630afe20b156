"""Rules in small worlds where everything is enumerated, and rows on which bolder rules fail.

Misses and symbols are counted exactly, at levels where a rule is tight and at small ones; each has
a twin that pays less and is found out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats

from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Clustered, MDependent
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.description import described
from holdfast.statistics.grid_rules import Gridded
from holdfast.statistics.mean_events import GroupShare, Overlap, Share
from holdfast.statistics.mean_rules import PairedRule
from holdfast.statistics.rule import Rule, Told
from holdfast.theory.base.intervals import share_interval
from tests.statistics.asking import ground_on, question_on, told

LEVELS = [math.log(0.1), math.log(1e-3), math.log(1e-6)]
THETAS = np.linspace(0.01, 0.99, 197)
ROWS = 24


def misses(found: Callable[[int], Told], rows: int, theta: float) -> float:
    """The probability that a share of `theta` is not in what is told of its count."""
    outside = [k for k in range(rows + 1) if not _holds(found(k), theta)]
    return float(stats.binom.pmf(outside, rows, theta).sum()) if outside else 0.0


def _holds(told: Told, theta: float) -> bool:
    return told.interval.low <= theta <= told.interval.high


@pytest.mark.parametrize("log_p", LEVELS)
def test_a_share_misses_no_more_than_its_events_allow(log_p: float) -> None:
    free = (log_p - 1.0, log_p - 0.5)
    allowed = math.exp(log_p) + sum(map(math.exp, free))
    for log_free, most in (((), math.exp(log_p)), (free, allowed)):
        rule = Share(ROWS, log_p, log_free, alike=True)
        found = [rule.decode((k,)) for k in range(ROWS + 1)]
        assert max(misses(found.__getitem__, ROWS, theta) for theta in THETAS) <= most
    bold = Share(ROWS, log_p + math.log(4), (), alike=True)
    found = [bold.decode((k,)) for k in range(ROWS + 1)]
    assert max(misses(found.__getitem__, ROWS, theta) for theta in THETAS) > math.exp(log_p)


@pytest.mark.parametrize("log_p", LEVELS)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_group_misses_no_more_than_its_level_whatever_its_size(
    log_p: float, share: float
) -> None:
    """Given its size, so all the more over all sizes; an empty one misses nothing."""

    def most(rule: GroupShare) -> float:
        found = {
            (size, k): rule.decode((size, k)) for size in range(ROWS + 1) for k in range(size + 1)
        }

        def at(size: int, k: int) -> Told:
            return found[size, k]

        sizes: list[float] = stats.binom.pmf(range(ROWS + 1), ROWS, share).tolist()
        return max(
            sum(
                weight * misses(partial(at, size), size, theta) for size, weight in enumerate(sizes)
            )
            for theta in THETAS[::4]
        )

    assert most(GroupShare(ROWS, log_p, (), (log_p,))) <= math.exp(log_p)
    if share == 0.95:
        assert most(GroupShare(ROWS, log_p + math.log(4), (), (log_p,))) > math.exp(log_p)


def poisson_binomial(rates: np.ndarray) -> np.ndarray:
    law = np.ones(1)
    for rate in rates:
        law = np.convolve(law, [1 - rate, rate])
    return law


@pytest.mark.parametrize("log_p", LEVELS)
def test_unlike_rows_miss_no_more_than_alike_ones(log_p: float) -> None:
    rng = np.random.default_rng(7)
    rule = Share(ROWS, log_p, (), alike=False)
    found = [rule.decode((k,)) for k in range(ROWS + 1)]
    corner = np.append(np.ones(ROWS - 1), 1 - math.exp(log_p) / 2)
    worlds = [rng.beta(a, b, ROWS) for a, b in product((0.1, 1.0, 5.0), repeat=2)]
    for rates in (*worlds, corner, 1 - corner):
        law, theta = poisson_binomial(rates), float(rates.mean())
        missed = sum(law[k] for k in range(ROWS + 1) if not _holds(found[k], theta))
        assert missed <= math.exp(log_p) * (1 + 1e-9)


# How many symbols the described events leave ---------------------------------------------------


@pytest.mark.parametrize("log_p", [*LEVELS, -0.5])
@pytest.mark.parametrize("rows", [1, 2, 7, ROWS])
def test_no_truth_is_left_with_more_symbols_than_are_paid_for(rows: int, log_p: float) -> None:
    """Those whose intervals hold it; for groups, of those sizes that their share's interval holds,
    whatever the truth of both is. The number is not much larger either."""
    for alike in (True, False):
        share = Share(rows, log_p, (), alike)
        counts = [share.decode((k,)) for k in range(rows + 1)]
        left = [sum(_holds(each, theta) for each in counts) for theta in THETAS]
        assert max(left) <= share.symbols
    log_share = log_p + 1.0 if log_p < -1.0 else log_p
    sizes = [Share(rows, log_share, (), True).decode((k,)) for k in range(rows + 1)]
    for rule in (GroupShare(rows, log_p, (), (log_share,)), Overlap(rows, log_p, log_share)):
        inside = [
            [rule.decode((size, k)).interval for k in range(size + 1)] for size in range(rows + 1)
        ]
        of_size = np.array(
            [[sum(low <= t <= high for low, high in each) for each in inside] for t in THETAS[::4]]
        )
        held = np.array([[_holds(each, t) for each in sizes] for t in THETAS[::4]])
        assert int((held @ of_size.T).max()) <= rule.symbols


@pytest.mark.parametrize("rows", [2, 5, 12])
@pytest.mark.parametrize("log_p", LEVELS)
def test_paired_counts_are_no_more_than_are_paid_for(rows: int, log_p: float) -> None:
    rule = PairedRule(rows, log_p, True)
    pairs = [(b, c) for b in range(rows + 1) for c in range(rows + 1 - b)]
    found = {rule.encode(b, c): rule.decode(rule.encode(b, c)) for b, c in pairs}
    for theta in THETAS[::8]:
        assert sum(_holds(each, theta) for each in found.values()) <= rule.symbols


RULES: list[Rule] = [
    Share(3, -900.0, (-700.0,), True),
    GroupShare(3, -900.0, (), (-800.0,)),
    Overlap(3, -900.0, -800.0),
    PairedRule(3, -900.0, True),
    Gridded("quantile", 3, -900.0, log_sizes=(-800.0,)),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_a_thousand_bits_are_no_trouble(rule: Rule) -> None:
    """Less than the smallest double: levels stay logarithms."""
    assert rule.symbols >= 4
    symbols = {"PairedRule": (1, 64, 64), "Gridded": (2, 9, 0, 4095), "Share": (1,)}
    found = rule.decode(symbols.get(type(rule).__name__, (2, 1)))
    assert 0.0 <= found.interval.low < found.interval.high <= 1.0


# Rows on which the size of a group, or of its units, must not be used --------------------------


COPIES, UNITS = 40, 60
GROUP_TRUTH = 0.1 / 0.6
TRIALS = 30


def informative(rng: np.random.Generator) -> pl.DataFrame:
    """Units of rows that are all the same; those with a value of 1 are rarely in the group."""
    value = rng.random(UNITS) < 0.5
    inside = rng.random(UNITS) < np.where(value, 0.1, 0.5)
    columns = {"unit": np.arange(UNITS), "value": value, "inside": inside}
    return pl.DataFrame({name: np.repeat(each, COPIES) for name, each in columns.items()})


def test_a_group_of_units_is_told_by_its_units_and_never_by_its_rows() -> None:
    """An interval that takes copies for rows of their own is too narrow."""
    rng, text = np.random.default_rng(11), "avg(value) where inside"
    missed = bold = 0
    for _ in range(TRIALS):
        frame = informative(rng)
        sampling = Clustered("unit", largest=COPIES)
        ground = ground_on(PolarsSample(frame), sampling=sampling, beta=1.0)
        question = question_on(ground, text)
        assert isinstance(question.rule, Gridded)
        found = told(frame, text, ground)
        inside = int(frame["inside"].sum())
        assert found.rows == (inside, inside)
        missed += not _holds(found, GROUP_TRUTH)
        of_rows = share_interval(*_hits(frame.filter("inside")), question.rule.log_p)
        bold += not of_rows.low <= GROUP_TRUTH <= of_rows.high
    allowed = stats.binom.isf(1e-9, TRIALS, math.exp(question.rule.log_p))
    assert missed <= allowed < bold


def _hits(frame: pl.DataFrame) -> tuple[int, int]:
    hits = int(frame["value"].sum())
    return hits, frame.height - hits


@pytest.mark.parametrize(
    "text",
    [
        "median(x)",
        "std(x)",
        "correlation(x, y)",
        "auc(x, flag)",
        "f1(flag, x > 0)",
        "median(x) where flag",
        "difference(avg(x) where flag, avg(x) where y > 0)",
    ],
)
def test_what_needs_rows_that_are_alike_has_no_rule_for_others(text: str) -> None:
    frame = pl.DataFrame(
        {"x": [0.0, 1.0] * 6, "y": [1.0, 0.5] * 6, "flag": [True, False] * 6, "k": [1, 2, 3] * 4}
    )
    bounds = {"x": (0, 1), "y": (0, 1)}
    sample = PolarsSample(frame)
    for how in ({"sampling": MDependent(2)}, {"sampling": Clustered("k", sizes="fixed", size=4.0)}):
        ground = ground_on(sample, bounds, **how)
        assert described(ground.prior.read(text), ground) is None
    unlike = ground_on(sample, bounds, design=("k",))
    found = described(unlike.prior.read(text), unlike)
    # Order statistics need independence only, and two groups are bet on one by one.
    assert (found is None) == (text != "median(x)" and not text.startswith("difference"))


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize(
    "text", ["avg(x)", "avg(x > 1)", "median(x)", "std(x)", "avg(x) where x > 1"]
)
def test_hardly_any_rows(rows: int, text: str) -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 0.0][:rows]})
    found = told(frame, text, ground_on(PolarsSample(frame), {"x": (0, 2)}))
    assert 0.0 <= found.interval.low <= found.interval.high <= 1.0
    assert found.interval.high - found.interval.low > 0.5 - GRID_ERROR
