"""Laws of the node counts and of the codes that share a failure probability over the nodes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.baselines import bonferroni_half_width
from holdfast.papers.theorems.other_accounts import check_half_width
from holdfast.papers.theorems.surprise_codes import (
    enumerative_log_weight,
    fixed_log_weight,
    global_rounding_width,
    guess_and_check_width,
    kt_log_weight,
    kt_surprise_prior,
    kt_total_cost,
    log_nodes,
    log_rounding_nodes,
    mixture_log_weight,
    run_length_log_weight,
)
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.leakage.claim_levels import surprise_prior
from holdfast.theory.leakage.equal_width import rounding_half_width
from holdfast.theory.leakage.nats import confirmed_log_charge, surprise_log_charge

LAWS = (
    "enumerative_log_weight",
    "fixed_log_weight",
    "global_rounding_width",
    "guess_and_check_width",
    "kt_log_weight",
    "kt_surprise_prior",
    "kt_total_cost",
    "log_nodes",
    "log_rounding_nodes",
    "mixture_log_weight",
    "run_length_log_weight",
    "surprise_prior",
)

LOG_05 = math.log(0.05)
Path = tuple[bool, ...]
HORIZON = 12


# --- Counting ----------------------------------------------------------------------------------


def _count(k: int, m: int, G: int) -> int:
    """The questions of the public tree, one by one: confirmed, or surprised in one of G cells."""
    if k == 0:
        return 0
    surprised = G * _count(k - 1, m - 1, G) if m > 0 else 0
    return 1 + _count(k - 1, m, G) + surprised


@pytest.mark.parametrize(("k", "G"), [(1, 3), (4, 1), (5, 2), (7, 3)])
def test_nodes_are_counted_as_in_the_tree(k: int, G: int) -> None:
    for m in range(k + 1):
        assert log_nodes(k, m, G) == pytest.approx(math.log(_count(k, m, G)), rel=1e-12)
    assert log_nodes(k, 0, G) == pytest.approx(math.log(k), abs=1e-12), "Bonferroni"


@pytest.mark.parametrize(
    ("k", "m", "G"), [(1000, 1, 20), (10**5, 0, 1), (10**5, 100, 20), (300, 299, 4)]
)
def test_the_count_is_rounded_up(k: int, m: int, G: int) -> None:
    exact = mpmath.log(sum(math.comb(k, f + 1) * G**f for f in range(m + 1)))
    assert exact <= log_nodes(k, m, G) <= exact + 1e-8
    assert fixed_log_weight(k, m, G) <= -exact


@given(k=st.integers(1, 400), G=st.integers(1, 50))
def test_rounding_counts_the_whole_tree(k: int, G: int) -> None:
    exact = sum(G**j for j in range(k))
    assert log_rounding_nodes(k, G) == pytest.approx(float(mpmath.log(exact)), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 1000])
@pytest.mark.parametrize("above", [0.0, 2.0**-52, 2.0**-42, 2.0**-39, 2.0**-30])
def test_hardly_more_than_one_cell_is_not_counted_as_one(k: int, above: float) -> None:
    """By hand: k terms between 1 and G^(k - 1)."""
    with mpmath.workdps(50):
        exact = mpmath.log(sum((1 + mpmath.mpf(above)) ** j for j in range(k)))
        most = mpmath.log(k) + (k - 1) * mpmath.log1p(above)
    assert exact - 1e-13 <= log_rounding_nodes(k, 1.0 + above) <= most + 1e-13


@settings(max_examples=15)
@given(n=st.integers(10, 10**6), k=st.integers(1, 200), m=st.integers(0, 20))
def test_the_lectures_width_is_the_best_over_all_grids(n: int, k: int, m: int) -> None:
    m = min(m, k)
    found = guess_and_check_width(n, k, m, LOG_05)
    every = min(
        0.5 / G + math.sqrt((math.log(2) + log_nodes(k, m, G) - LOG_05) / (2 * n))
        for G in range(1, 120)
    )
    assert found <= every * (1 + 1e-3)
    assert found >= bonferroni_half_width(n, k, LOG_05)
    if m == 0:
        assert found == pytest.approx(bonferroni_half_width(n, k, LOG_05), rel=1e-5)


@pytest.mark.parametrize("n", [10_000, 1_000_000])
@pytest.mark.parametrize(("k", "m"), [(10, 2), (100, 10), (1000, 3)])
def test_the_account_is_narrower_than_the_global_count(n: int, k: int, m: int) -> None:
    profile = BoundedMean(n)
    assert check_half_width(profile, k, m, LOG_05) < guess_and_check_width(n, k, m, LOG_05)
    assert rounding_half_width(profile, k, LOG_05) < global_rounding_width(n, k, LOG_05)


# --- Krichevsky-Trofimov -----------------------------------------------------------------------


def _kt_cost(run: list[bool]) -> float:
    """Charged symbol by symbol, each at its own public prior."""
    total, f = 0.0, 0
    for c, surprised in enumerate(run):
        eps = kt_surprise_prior(c, f)
        total += surprise_log_charge(eps, 0.0) if surprised else confirmed_log_charge(eps)
        f += surprised
    return total


@given(run=st.lists(st.booleans(), max_size=60), data=st.data())
def test_kt_charges_a_run_by_its_count_in_any_order(run: list[bool], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(run))
    total = kt_total_cost(len(run), sum(run))
    assert _kt_cost(run) == pytest.approx(total, rel=1e-12, abs=1e-12)
    assert _kt_cost(shuffled) == pytest.approx(total, rel=1e-12, abs=1e-12)


@given(c=st.integers(0, 10**6))
def test_kt_priors_are_fair_and_mirrored(c: int) -> None:
    f = c // 3
    assert kt_surprise_prior(0, 0) == 0.5
    assert kt_surprise_prior(c, f) + kt_surprise_prior(c, c - f) == pytest.approx(1.0)
    assert kt_total_cost(c, f) == pytest.approx(kt_total_cost(c, c - f), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("c", [20, 1000, 10**6])
def test_kt_costs_a_few_nats_more_than_naming_the_places(c: int) -> None:
    """About ln C(c, f) + ln pi + (1/2) ln(f (c - f)) for 0 < f < c."""
    for f in (5, c // 4, c // 2):
        places = math.lgamma(c + 1) - math.lgamma(f + 1) - math.lgamma(c - f + 1)
        about = places + math.log(math.pi) + 0.5 * math.log(f * (c - f))
        assert kt_total_cost(c, f) == pytest.approx(about, abs=0.1)


# --- The default prior of a surprise -----------------------------------------------------------


def _mixture_log_mass(c: int, f: int) -> float:
    """ln of half "never a surprise" and half Beta(1/2, 19/2), of one order of f surprises in c."""

    def log_beta(a: float, b: float) -> float:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    log_half = math.log(0.5) + log_beta(0.5 + f, 9.5 + c - f) - log_beta(0.5, 9.5)
    return log_half if f else float(np.logaddexp(math.log(0.5), log_half))


def _default_cost(run: Sequence[bool]) -> float:
    total, f = 0.0, 0
    for c, surprised in enumerate(run):
        eps = surprise_prior(c, f)
        total -= math.log(eps) if surprised else math.log1p(-eps)
        f += surprised
    return total


@given(run=st.lists(st.booleans(), max_size=200))
def test_the_default_prior_predicts_as_the_mixture_does(run: list[bool]) -> None:
    """Along any path the predictive probabilities multiply to the mixture's mass of the path."""
    mass = _mixture_log_mass(len(run), sum(run))
    assert _default_cost(run) == pytest.approx(-mass, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("c", [1, 100, 10**4, 10**6])
def test_confirmations_alone_cost_less_than_one_bit_for_ever(c: int) -> None:
    together = -c * math.log1p(-surprise_prior(0, 0, c))
    assert together == pytest.approx(-_mixture_log_mass(c, 0), rel=1e-8)
    assert together < math.log(2)
    assert c != 100 or together == pytest.approx(0.43770632225934525, rel=1e-9)  # golden.json


@given(c=st.integers(0, 500), m=st.integers(1, 60), part=st.floats(0, 1))
def test_a_batch_that_is_confirmed_costs_what_it_would_one_by_one(
    c: int, m: int, part: float
) -> None:
    f = int(part * c)
    eps = surprise_prior(c, f, m)
    one_by_one = -math.fsum(math.log1p(-surprise_prior(c + i, f)) for i in range(m))
    assert -m * math.log1p(-eps) == pytest.approx(one_by_one, rel=1e-9)
    # One prior for all, between those of the first and of the last: fair for every pattern.
    assert surprise_prior(c + m - 1, f) * (1 - 1e-12) <= eps <= surprise_prior(c, f) * (1 + 1e-12)


def test_the_default_prior_refuses_what_cannot_have_happened() -> None:
    for c, f, m in ((3, 4, 1), (-1, 0, 1), (3, -1, 1), (3, 1.5, 1), (3, 1, 0)):
        with pytest.raises(InvalidArgument):
            surprise_prior(c, f, m)  # type: ignore[arg-type]


# --- Kraft -------------------------------------------------------------------------------------


def _paths(horizon: int) -> Iterator[Path]:
    """What came before each question t = 1..horizon: confirmed or surprised, t - 1 times."""
    for t in range(1, horizon + 1):
        yield from itertools.product((False, True), repeat=t - 1)


def _runs(path: Path) -> list[int]:
    lengths, current = [], 1
    for surprised in path:
        if surprised:
            lengths.append(current)
            current = 0
        current += 1
    return [*lengths, current]


Code = Callable[[Path, float], float]


def _enumerative(path: Path, cells: float) -> float:
    return enumerative_log_weight(len(path) + 1, sum(path), cells)


def _kt(path: Path, cells: float) -> float:
    return kt_log_weight(len(path) + 1, sum(path), cells)


def _run_length(path: Path, cells: float) -> float:
    return run_length_log_weight(_runs(path), cells)


def _mixture(path: Path, cells: float) -> float:
    return mixture_log_weight(_kt(path, cells), _run_length(path, cells))


CODES: dict[str, Code] = {
    "enumerative": _enumerative,
    "kt": _kt,
    "run-length": _run_length,
    "mixture": _mixture,
}


def _kraft(code: Code, cells_at: Callable[[int], int]) -> mpmath.mpf:
    """The weight of all nodes up to the horizon; a surprise at question j names a cell."""
    total = mpmath.mpf(0)
    for path in _paths(HORIZON):
        nodes = math.prod(cells_at(j) for j, surprised in enumerate(path) if surprised)
        total += nodes * mpmath.exp(code(path, math.log(nodes)))
    return total


@pytest.mark.parametrize("cells_at", [lambda j: 1, lambda j: 2, lambda j: 1 + j % 2])
@pytest.mark.parametrize("name", CODES)
def test_the_weights_of_all_nodes_sum_to_at_most_one(
    name: str, cells_at: Callable[[int], int]
) -> None:
    total = _kraft(CODES[name], cells_at)
    assert total <= 1
    # Up to t = 12 the horizon's share is 12/13, and of it the enumerative code wastes f >= t.
    enumerative = math.fsum(1 / (t + 1) ** 2 for t in range(1, HORIZON + 1))
    least = {"enumerative": enumerative, "kt": HORIZON / (HORIZON + 1)}.get(name, 0.6)
    assert total >= least * (1 - 1e-11), "nor do they promise less than they could"


def test_kt_and_run_length_waste_nothing() -> None:
    """Their sums up to t are known: 1 - 1/(t + 1); and all runs of one length or less."""
    assert float(_kraft(_kt, lambda j: 1)) == pytest.approx(HORIZON / (HORIZON + 1), rel=1e-12)
    for f in range(4):
        total = math.fsum(
            math.exp(run_length_log_weight(runs))
            for runs in itertools.product(range(1, 9), repeat=f + 1)
        )
        expected = (8 / 9) ** (f + 1) / ((f + 1) * (f + 2))
        assert total == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("k", "m", "G"), [(6, 0, 2), (6, 3, 2), (5, 5, 3)])
def test_the_fixed_code_uses_everything(k: int, m: int, G: int) -> None:
    total = _count(k, m, G) * mpmath.exp(fixed_log_weight(k, m, G))
    assert total <= 1
    assert float(total) == pytest.approx(1.0, rel=1e-11)


@pytest.mark.parametrize("t", [1, 50, 10**5, 10**8])
def test_weights_are_rounded_down_also_far_out(t: int) -> None:
    with mpmath.workdps(40):
        lg, log = mpmath.loggamma, mpmath.log
        half = mpmath.mpf(1) / 2
        for f in {0, (t - 1) // 100, (t - 1) // 3, t - 1}:
            horizon = -log(t) - log(t + 1)
            choose = lg(t) - lg(f + 1) - lg(t - f)
            enumerative = horizon - log(f + 1) - log(f + 2) - choose
            kt = horizon + lg(f + half) + lg(t - f - half) - lg(t) - log(mpmath.pi)
            cost = log(mpmath.pi) + lg(t + 1) - lg(f + half) - lg(t - f + half)
            assert enumerative - 1e-4 <= enumerative_log_weight(t, f) <= enumerative
            assert kt - 1e-4 <= kt_log_weight(t, f) <= kt
            assert cost <= kt_total_cost(t, f) <= cost + 1e-4


@given(path=st.lists(st.booleans(), max_size=60), cells=st.floats(0, 500))
def test_a_mixture_is_within_a_bit_of_the_better_code(path: list[bool], cells: float) -> None:
    node = tuple(path)
    both = _kt(node, cells), _run_length(node, cells)
    mixed = _mixture(node, cells)
    assert max(both) - math.log(2) - 1e-9 <= mixed <= max(both)
    assert mixture_log_weight(*both) == mixture_log_weight(*reversed(both))


def test_impossible_nodes_are_refused() -> None:
    for weight in (enumerative_log_weight, kt_log_weight):
        for t, f in ((0, 0), (3, 3), (3, -1), (3, 1.5)):
            with pytest.raises(InvalidArgument):
                weight(t, f)  # type: ignore[arg-type]
    for runs in ([], [0], [2, 0]):
        with pytest.raises(InvalidArgument):
            run_length_log_weight(runs)
    for m in (-1, 11, 2.5):
        with pytest.raises(InvalidArgument, match="m is"):
            log_nodes(10, m, 2)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="f is"):
        kt_total_cost(10, 2.5)  # type: ignore[arg-type]
