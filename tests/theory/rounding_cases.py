"""The calls in which each rounding is made large, which way each of their numbers is safe, and the
places where either way is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from holdfast.papers.theorems.accuracy import NOISES, Accuracy, accuracy_half_width
from holdfast.papers.theorems.baselines import multiplicative_weights_surprises
from holdfast.papers.theorems.median_parameters import (
    log_public_tree,
    median_samples,
    sequence_mistakes,
    volume_mistakes,
)
from holdfast.papers.theorems.tv_generalisation import subsample_size, subsample_size_printed
from holdfast.papers.theorems.two_directions import least_two_directions
from holdfast.papers.theorems.variance_line import VarianceLine, variance_line
from holdfast.theory.base.concentration import (
    Bernstein,
    BinomialMean,
    BoundedMean,
    SubExponential,
    SubGaussian,
)
from holdfast.theory.base.dependence import PooledUnits
from holdfast.theory.base.gamma import CatoniMean, MedianOfMeans, PolynomialTail, SubWeibull
from holdfast.theory.base.intervals import (
    Interval,
    cdf_band_lower,
    clopper_pearson_upper,
    kl_upper,
    log_binomial_cdf,
    quantile_ranks,
    threshold_interval,
    two_sided_unlike_level,
)
from holdfast.theory.base.safeside import largest_true, smallest_true
from holdfast.theory.base.theorem import registry
from holdfast.theory.base.unbounded import (
    GroupOfRows,
    InUnits,
    SpreadOfRows,
    UnboundedMean,
    UnboundedUnits,
    Windowed,
)
from holdfast.theory.direct.bounded_mean import bet_excess, bet_lower, half_each_interval
from holdfast.theory.direct.losses import enclosed_moment_interval, root_interval
from holdfast.theory.direct.paired import exact_paired_lower
from holdfast.theory.direct.spread import covariance_by_bets, enclosed_std_by_bets
from holdfast.theory.direct.symbols import GridSymbol, StepSymbol, grid_answer, step_interval
from holdfast.theory.leakage.claim_levels import (
    mean_claim_holds,
    paired_claim_holds,
    radius_claim_holds,
    unit_claim_holds,
)
from holdfast.theory.leakage.gates import gate_shows
from holdfast.theory.leakage.nats import LeakageAccount
from holdfast.theory.leakage.release import DiscreteUniform, vector_laplace_log_charge
from holdfast.theory.notions.composing import PureDP
from holdfast.theory.planning import KnownRows, Method, by_transfer, listed_method, rounds_method
from holdfast.theory.transfer.differential_privacy import (
    optimal_composition_at_delta,
    private_laplace_rows,
)
from holdfast.theory.transfer.gaussian_noise import (
    gaussian_half_width,
    gaussian_questions,
    gaussian_rows,
)
from holdfast.theory.transfer.likelihood_cover import composed_shift
from holdfast.theory.typical.sharp_composition import (
    log_geometric_sum,
    optimal_composition_log_delta,
)
from tests.theory.roundings import LARGE, ROOT, Case, Site
from tests.theory.rows import Golden, numbers
from tests.theory.tables import GOLDEN

REGISTRY = registry()
LARGER = 2.0**47  # units in the last place, for steps and whole numbers

# What is rounded down: lower ends, levels, shares and budgets.
LOWER = {
    "bet_lower",
    "bounded_mean_lower",
    "cell_log_weight",
    "claim_log_level",
    "described_log_level",
    "design_difference_lower",
    "enumerative_log_weight",
    "epoch_log_beta",
    "epsilon_for_expected_error",
    "exact_paired_lower",
    "fixed_log_weight",
    "fixed_share",
    "gaussian_questions",
    "gaussian_scale_printed_eta_max",
    "grade_log_levels",
    "group_difference_lower",
    "half_each_lower",
    "interleaved_log_beta",
    "kt_log_weight",
    "late_log_level",
    "late_log_share",
    "log_capacity",
    "log_kept",
    "log_left",
    "lookup_log_weight",
    "loss_ratio_lower",
    "mixture_log_weight",
    "open_ended_share",
    "ordered_log_levels",
    "paired_difference_lower",
    "paired_score_lower",
    "parallel_log_levels",
    "positive_mean_lower",
    "post_selected_gaussian_log_level",
    "post_selected_log_level",
    "share_difference_lower",
    "shuffled_effect_lower",
    "run_length_log_weight",
    "surprise_log_level",
    "symbol_log_level",
    "tv_for_expected_error",
    "two_sided_log_level",
    "unit_difference_lower",
    "within_units_lower",
}
MIXED = {
    "cuts_implied": (1, 1, -1, 1, 1, 1, -1, 1),  # of two cuts a share's ends
    "median_parameters": (1, -1, 1, -1, 1, 1),  # alpha and theta are room, the rest is cost
}
LEFT_OUT = {
    # Searches, which end elsewhere; what they return is the value of functions that are here.
    "direct_accuracy",
    "leakage_accuracy",
    "literal_accuracy",
    "median_noise_questions",
    "median_noise_rows",
    # A choice, not a bound: every noise is sound, with its own half-width.
    "first_epoch_noise",
}

# Places where either direction is sound, or makes no difference that could be seen: file, the line
# (or how it begins), and why.
_STAKES = "decides which stakes are tried, behind a guard of 2^-10"
_SEARCHED = "where a search begins or ends; every number that it may return is sound"
EITHER = {
    ("theory/direct/correlation.py", "max(0.0, round_down(1.0 - self.means[1].high)),"): _STAKES,
    ("theory/direct/correlation.py", "min(1.0, round_up(1.0 - self.means[1].low)),"): _STAKES,
    ("theory/direct/correlation.py", "worst = round_up("): _STAKES,
    ("theory/direct/correlation.py", "furthest = round_up("): _STAKES,
    ("theory/direct/spread.py", "worst = max(0.0, round_up("): _STAKES,
    ("theory/direct/spread.py", "return log_least_capital("): _STAKES,
    ("theory/direct/paired.py", "log_binomial_cdf(n, n - most - 1, math.nextafter("): (
        "a mass of e^-25 of the level, counted in full"
    ),
    ("theory/base/intervals.py", "above = _band_lower("): _SEARCHED,
    ("theory/transfer/median_width.py", "return MedianNoiseDesign(D, a, C, math.inf, 0.0,"): (
        "beyond the range: nothing is said"
    ),
    ("papers/theorems/interaction.py", "most = round_up(k * eta)"): _SEARCHED,
    ("papers/theorems/two_directions.py", "eta = round_up("): _SEARCHED,
    ("theory/typical/generalisation.py", "log_bad, most = bad_event_log_bound("): _SEARCHED,
}


def of_row(row: Golden) -> Case:
    function = REGISTRY[row.theorem].function

    def value() -> Any:
        found = function(**row.inputs)
        return row.measure(found) if row.measure else found

    found = value()
    count = len(numbers(found))
    safe = MIXED.get(row.theorem, (-1 if row.theorem in LOWER else 1,) * count)
    safe = (-1, 1) if isinstance(found, Interval) else safe
    return Case(row.theorem, lambda: numbers(value()), safe)


UP, DOWN, OUT = (1,), (-1,), (-1, 1)
VALUES = [0.1, 0.2, 0.4, 0.9] * 30


def edge_of(holds: Callable[[float], bool], low: float, high: float, *, up: bool) -> float:
    """An argument at which it just does not hold, so that a rounding the wrong way lets it."""
    if up:
        return largest_true(holds, low, high, relative=1e-12) + 1e-9
    return smallest_true(holds, low, high, relative=1e-12) - 1e-9


def more_cases() -> Iterator[Case]:
    """What the theorems' golden inputs do not reach."""

    def case(
        label: str, run: Callable[[], Any], safe: tuple[int, ...], times: float = LARGE
    ) -> Case:
        return Case(label, lambda: numbers(run()), safe, times)

    tails = (
        SubGaussian(1.3),
        BinomialMean(1000),
        SubExponential(1.0, 0.5),
        Bernstein(1000, 0.01),
        SubWeibull(0.7, 1.4),
        PolynomialTail(4.0, 0.2),
        MedianOfMeans(1100, 11, 4.0),
        CatoniMean(1000, 1.0, 0.05),
        Windowed(SubGaussian(0.1), 1000, -20.0),
        PooledUnits(9, 5, 2, 0.5, 0.2),
        GroupOfRows(1000, 0.4, 0.8, 3.0, 2, -1.5),
        SpreadOfRows(UnboundedMean(1000, 2.11, 16.0), UnboundedMean(1000, 1.0)),
    )
    for tail in tails:
        for radius in (0.1, 0.6, 1.2, 5.0, 8.0):
            yield case("log_tail", partial(tail.log_tail, radius), UP)
    yield case("radius", lambda: SubExponential(2.0, 0.01).radius(-1.0), UP)
    yield case("radius", lambda: GroupOfRows(1000, 0.4, 0.8, 30.0).radius(-4.0), UP)
    yield case("radius", lambda: InUnits(SubGaussian(0.1), 3.0).radius(-4.0), UP)
    yield case("tail", lambda: UnboundedUnits(100, 300.0, 5.0, 1.0, 2.0).tail.radius(-60.0), UP)
    yield case("radius", lambda: PooledUnits(9, 5, 2, 0.5, 0.2).radius(-40.0), UP)
    alike_rows = KnownRows(BoundedMean, independent=True)
    one_of_many = listed_method(1000).half_width
    yield case("listed_method", lambda: one_of_many(alike_rows, 1000, 1, -3.0), UP)
    yield case("log_beyond", lambda: Windowed(SubGaussian(0.1), 1000, -20.0).log_beyond, UP)
    yield case("clopper_pearson_upper", lambda: clopper_pearson_upper(100, 0, -3.0), UP)
    yield case("kl_upper", lambda: kl_upper(100, 0.0, 3.0), UP)
    yield case("log_binomial_cdf", lambda: log_binomial_cdf(100, 0, 0.02), UP)
    yield case("bet_lower", lambda: bet_lower(VALUES, 0.5, -3.0), DOWN)
    yield case("bet_excess", lambda: bet_excess(VALUES, 0.5, -3.0, 0.2), DOWN)
    yield case("two_sided_unlike_level", lambda: two_sided_unlike_level(-3.0), DOWN)
    for q in (0.2, 0.3, 0.7):
        yield case("quantile_ranks", partial(quantile_ranks, 500, q, -3.0), OUT, LARGER)
    yield case("cdf_band_lower", lambda: cdf_band_lower(1000, 400, -3.0), DOWN, LARGER)
    for count in (3, 500, 997):
        yield case("threshold_interval", partial(threshold_interval, 1000, count, -3.0), OUT)
    yield case("enclosed_std_by_bets", lambda: enclosed_std_by_bets(VALUES, VALUES, -3.0), OUT)
    few = VALUES[:24]
    other = [1.0 - value for value in few[1:]] + [0.3]
    yield case("covariance_by_bets", lambda: covariance_by_bets(few, other, -3.0), OUT, LARGER)
    third, in_order = [0.1, 0.4, 0.9], ([24, 48, 24], [(29 * rank) % 96 for rank in range(96)])
    yield case("half_each_interval", lambda: half_each_interval(third, third, *in_order, -3.0), OUT)
    yield case("root_interval", lambda: root_interval(Interval(0.3, 0.6)), OUT)
    yield case(
        "enclosed_moment_interval", lambda: enclosed_moment_interval(VALUES, VALUES, 6.0, -3.0), OUT
    )
    yield case("step_interval", lambda: step_interval(0.3, StepSymbol(3, 4), 0.1), OUT)
    declared = Interval(0.1, 0.7)
    yield case("grid_answer", lambda: grid_answer(GridSymbol(30, 20, 40), declared)[1], OUT)
    yield case("sequence_mistakes", lambda: sequence_mistakes(10, 4), UP)
    yield case("volume_mistakes", lambda: volume_mistakes(8, 0.5), UP)
    log_delta = math.log(10) - 2 * 0.25**2 * 50.000001
    yield case("median_samples", lambda: median_samples(5, log_delta, 0.25), UP)
    gap = math.sqrt(math.log(1000) / 14)
    yield case("surprises", lambda: multiplicative_weights_surprises(1000, gap), UP)
    alpha = math.sqrt(math.log(20) / 18)
    yield case("subsample_size", lambda: subsample_size(10, alpha), UP)
    printed = math.sqrt(math.log(40) / 18.000001)
    yield case("subsample_size_printed", lambda: subsample_size_printed(10, printed), UP)
    for k, m in ((10, 6), (1000, 6)):
        yield case("log_public_tree", partial(log_public_tree, k, m, 4, summed=2), UP)
    shifts = [(0.0, math.log(0.1)), (0.4, math.log(0.01)), (1.0, math.log(1e-4)), (2.5, -60.0)]
    yield case(
        "least_two_directions",
        lambda: least_two_directions(8, shifts, 40.0, math.log(1e-6), pure=True),
        UP,
    )
    yield from claims(case)
    account = LeakageAccount(3, 2.0, -4.0)
    yield case("account.radius", lambda: account.radius(SubGaussian(1.0), -5.0), UP)
    yield case("account.take", lambda: account.take(-3.0).log_beta_spent, UP)
    yield case("account.charge", lambda: account.charge(0.3).nats, UP)
    yield case("log_charge", lambda: DiscreteUniform(100, 20).log_charge(0.03), UP)
    yield case("narrowed", lambda: DiscreteUniform(100, 20).narrowed(0.03, 0.02), UP)
    line = VarianceLine(0.01, 0.001, 0.002, 0.03)
    yield case("half_width", lambda: line.half_width(0.1), UP)
    yield case("noise_part", lambda: variance_line(10**5, 1000, 0.01, 5, 0.01, -3.0).noise_part, UP)
    yield case(
        "theta_over_beta",
        lambda: variance_line(10**5, 1000, 0.01, 5, 0.01, -3.0).theta_over_beta,
        UP,
    )
    yield case("gaussian_questions", lambda: gaussian_questions(10**5, 0.03, -3.0), DOWN, LARGER)
    for eta_prime, log_tau in ((0.9, -3.0), (1.6, -60.0)):
        yield case(
            "optimal_composition",
            partial(optimal_composition_log_delta, 5, 0.3, eta_prime, log_tau),
            UP,
        )
    yield case("gaussian_rows", lambda: gaussian_rows(100, 0.05, -3.0), UP, LARGER)
    tiny = -700.0  # a delta at which nothing is less than all steps together
    yield case(
        "optimal_composition_at_delta",
        lambda: optimal_composition_at_delta(PureDP(0.1), 3, tiny).epsilon,
        UP,
    )
    for log_q in (-0.5, -1.5):
        yield case("exact_paired_lower", partial(exact_paired_lower, 400, 60, 20, log_q), DOWN)
    yield case("accuracy", lambda: accuracy_half_width(10, 0.1, 0.5, -3.0), UP)
    found, noise = Accuracy(1.0, 0.5, -9.0, -9.0, -3.0, -9.0), NOISES["gaussian"]
    for literal in (True, False):
        yield case("accuracy", partial(noise.half_width, 10, 0.1, found, literal), UP)
    yield case("accuracy", lambda: noise.charged_half_width(10, 0.1, found), UP)
    yield case("log_geometric_sum", lambda: log_geometric_sum(0.0, 7), UP)
    yield case("vector_laplace_log_charge", lambda: vector_laplace_log_charge(300, 2.0), UP)
    yield case("private_laplace_rows", lambda: private_laplace_rows(5, 0.2, -3.0), UP, LARGER)
    yield case("InUnits", lambda: InUnits(SubGaussian(0.1), 3.0).log_tail(0.6), UP)
    blocks = partial(composed_shift, 2, 2e-4, 1000, -3.0)  # so many steps are composed in blocks
    yield case("blocks", lambda: blocks().hockey_stick(1.0), UP)
    yield case("blocks", lambda: blocks().at_zero, UP)
    transferred = (
        lambda n, k, log_beta: gaussian_half_width(n, k, log_beta).half_width,
        gaussian_questions,
        gaussian_rows,
    )
    methods: tuple[tuple[str, Callable[[], Method]], ...] = (
        ("rounded list", lambda: listed_method(50, rounded=True)),
        ("rounds_method", lambda: rounds_method(3)),
        ("by_transfer", lambda: by_transfer("gaussian", "gaussian_half_width", *transferred)),
    )
    for name, method in methods:
        width = partial(_planned_width, method, alike_rows)
        yield case(name, width, UP)
    yield case("rounds_fit", lambda: rounds_method(1).questions(alike_rows, 1000, 0.06, -3.0), DOWN)


def _planned_width(method: Callable[[], Method], rows: KnownRows) -> float:
    width = method().half_width(rows, 10**5, 20, -3.0)
    assert width is not None
    return width


def pooled_claim_holds(units: int, low: float, high: float) -> bool:
    """Whether so many units of two rows and of one show that the mean is between these."""
    sums, sizes = [0.9, 0.6] * (units // 2), [2, 1] * (units // 2)
    pooled = PooledUnits(sum(sizes), units, 2)
    return unit_claim_holds(sums, sizes, Interval(low, high), -4.0, pooled, error=0.001)


def claims(case: Callable[..., Case]) -> Iterator[Case]:
    """Verdicts at the edge of what is shown: 'not shown' may not become 'shown'."""
    profile = BoundedMean(1000)
    reach = profile.radius(-4.0) * (1 - 1e-9)
    for claim in (Interval(0.5 - reach, 1.0), Interval(0.0, 0.5 + reach)):
        yield case(
            "radius_claim_holds", partial(radius_claim_holds, 0.5, profile, claim, -4.0), DOWN
        )

    for many in (30, 1000):  # units: of few the radius shows more, of many the bets
        pooled = partial(pooled_claim_holds, many)
        most = edge_of(partial(pooled, 0.0), 0.5, 1.0, up=False)
        least = edge_of(partial(pooled, high=1.0), 0.0, 0.5, up=True)
        yield case("unit_claim_holds", partial(pooled, 0.0, most), DOWN)
        yield case("unit_claim_holds", partial(pooled, least, 1.0), DOWN)

    def mean_below(high: float) -> bool:
        return mean_claim_holds(VALUES, VALUES, Interval(0.0, high), -4.0, second_moment=0.5)

    high = edge_of(mean_below, 0.4, 1.0, up=False)
    yield case("mean_claim_holds", lambda: mean_below(high), DOWN)

    def paired_above(low: float) -> bool:
        claim = Interval(low, math.inf)
        return paired_claim_holds(1000, 80, 40, claim, -4.0, second_moment=0.1)

    def paired_below(high: float) -> bool:
        claim = Interval(-math.inf, high)
        return paired_claim_holds(1000, 80, 40, claim, -4.0, second_moment=0.1)

    least = edge_of(paired_above, -0.9, 0.04, up=True)
    yield case("paired_claim_holds", lambda: paired_above(least), DOWN)

    def better(margin: float) -> bool:
        return gate_shows(1000, 80, 40, -4.0, margin=margin, second_moment=0.1)

    margin = edge_of(better, -0.9, 0.04, up=True)
    yield case("gate", lambda: better(margin), DOWN)
    most = edge_of(paired_below, 0.04, 0.9, up=False)
    yield case("paired_claim_holds", lambda: paired_below(most), DOWN)

    few = [0.0, 1.0] * 15  # of which Chernoff's bound shows more than bets

    def few_within(low: float, high: float) -> bool:
        return mean_claim_holds(few, few, Interval(low, high), -4.0)

    highest = edge_of(partial(few_within, 0.0), 0.5, 1.0, up=False)
    lowest = edge_of(partial(few_within, high=1.0), 0.0, 0.5, up=True)
    yield case("mean_claim_holds", partial(few_within, 0.0, highest), DOWN)
    yield case("mean_claim_holds", partial(few_within, lowest, 1.0), DOWN)


def cases(rows: int) -> list[Case]:
    """All calls, with so many golden inputs of each theorem at most."""
    taken = Counter[str]()
    found = list(more_cases())
    for row in GOLDEN:
        taken[row.theorem] += 1
        if taken[row.theorem] <= rows and row.theorem not in LEFT_OUT:
            found.append(of_row(row))
    return found


def is_either(site: Site) -> bool:
    line = (ROOT / site.path).read_text("utf-8").splitlines()[site.line - 1].strip()
    return any(site.path == path and line.startswith(text) for path, text in EITHER)
