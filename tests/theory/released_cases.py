"""Calls of the record of released numbers that no theorem's golden row reaches.

Of the rooms `leakage`, `length`, `transfer`, `typical` and of plans; those of `base` and `direct`
are in a file of their own.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import holdfast.theory
from holdfast.papers.theorems import composition, surprise_codes, typical_noise, variance_line
from holdfast.theory import evaluating, planning
from holdfast.theory.base.concentration import (
    Bernstein,
    BinomialMean,
    BoundedDifferences,
    BoundedMean,
    SubExponential,
    TwoSampleU,
)
from holdfast.theory.base.dependence import (
    ClusteredDifferences,
    ClusteredRows,
    ClusteredUnits,
    GraphMean,
    MarkovMean,
    MDependentMean,
    PooledUnits,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import smallest_true
from holdfast.theory.base.theorem import registry
from holdfast.theory.base.unbounded import GroupOfRows, UnboundedMean, UnboundedUnits, Windowed
from holdfast.theory.direct import unit_sums
from holdfast.theory.leakage import (
    claim_levels,
    equal_width,
    forecasts,
    release,
    winners,
)
from holdfast.theory.length import families
from holdfast.theory.length.families import Family, Pattern, Segment
from holdfast.theory.notions import composing
from holdfast.theory.transfer import (
    differential_privacy,
    likelihood_cover,
    median_width,
)
from holdfast.theory.typical import generalisation
from holdfast.theory.typical.notion import TypicalStability
from tests.theory import released_direct
from tests.theory.released_direct import FEW, LEVELS, MIXED, SKEWED, Calls, X, call
from tests.theory.rounding_cases import more_cases


def more_calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """A name for what is called, and the call."""
    for case in more_cases():
        yield case.label, case.run
    for constant, value in _constants().items():
        yield f"constant {constant}", partial(tuple, [value])
    for part in (*released_direct.PARTS, *PARTS):
        for function, arguments in part():
            name = getattr(function, "__qualname__", "").rpartition("<locals>")[2]
            yield f"{part.__name__} {name}", partial(function, *arguments[0], **arguments[1])


# Of kinds that check their fields, those that no call and no golden row has.
KINDS: tuple[Any, ...] = (
    BinomialMean(1000),
    BoundedDifferences(1000, 0.3),
    MarkovMean(1000, 0.5),
    GraphMean(1000, 4),
    ClusteredRows(900, 2700),
    ClusteredUnits(40),
    ClusteredDifferences(90, 0.3),
    TwoSampleU(50, 60),
    UnboundedUnits(900, 2700.0, 5.0, 1.3, 0.2),
    GroupOfRows(900, 0.3, 1.3, 0.2, 2, -3.0),
    Windowed(UnboundedMean(1000, 1.3), 1000, -20.0),
    Family((Pattern((5, 3, 3), 2, 2),), 2, (Segment(3, ordered=True),), Fraction(1, 5)),
)

MIDDLE = Interval(0.2, 0.4)


def _constants() -> dict[str, Any]:
    """Public constants of the theory: priors, shares and limits that answers depend on."""
    return {
        name: value
        for module in pkgutil.walk_packages(holdfast.theory.__path__, "holdfast.theory.")
        for name, value in vars(importlib.import_module(module.name)).items()
        if name.isupper() and not name.startswith("_") and _is_number(value)
    }


def _is_number(value: Any) -> bool:
    several = isinstance(value, tuple) and all(map(_is_number, value))
    return several or type(value) in (int, float, Fraction)


def _claims() -> Calls:
    middle = (
        Interval(0.0, 0.4),
        Interval(0.2, 0.4),
        Interval(0.25, 1.0),
        Interval(0.29, 0.31),
        Interval(-math.inf, 0.6),
        Interval(0.1, math.inf),
    )
    for claim in middle:
        for level in LEVELS:
            for alike in (True, False):
                yield call(claim_levels.share_claim_holds, 1000, 300, claim, level, alike=alike)
            for second in (None, 0.15):
                yield call(
                    claim_levels.mean_claim_holds,
                    FEW,
                    FEW,
                    claim,
                    level,
                    SKEWED,
                    second_moment=second,
                )
                yield call(
                    claim_levels.paired_claim_holds,
                    1000,
                    350,
                    60,
                    claim,
                    level,
                    second_moment=second,
                )
            yield call(claim_levels.paired_claim_holds, 1000, 350, 60, claim, level, alike=True)
    for runs in ((), (3,), (0, 5, 2), (1,) * 20):
        yield call(surprise_codes.run_length_log_weight, runs)
        yield call(surprise_codes.run_length_log_weight, runs, 2.0)
    for G, m in ((0, 20), (-1, 20), (100, -1), (100, 0)):
        yield call(release.DiscreteUniform, G, m)
    discrete = release.DiscreteUniform(100, 20)
    for total, whole in ((0, 7), (3, 7), (7, 7), (50, 100)):
        yield call(discrete.cell, total, whole)
        yield call(lambda total=total, whole=whole: str(discrete.answer(total, whole)))
    for d in (1, 2, 30, 1000):
        for radius in (0.0, 1e-9, 0.3, 5.0):
            yield call(release.vector_gaussian_log_charge, d, radius)
            yield call(release.vector_laplace_log_charge, d, radius)


def _edges() -> Calls:
    """The claim that is just shown, to tell it from one that is rounded otherwise."""
    nothing: list[float] = []
    for second in (None, 0.15):
        for level in LEVELS:

            def shown(high: float, second: float | None = second, level: float = level) -> bool:
                claim = Interval(0.0, high)
                return claim_levels.mean_claim_holds(X, X, claim, level, second_moment=second)

            yield call(smallest_true, shown, 0.4, 1.0, relative=1e-12)
        yield call(
            claim_levels.mean_claim_holds, nothing, nothing, MIDDLE, -3.0, second_moment=second
        )
    for values in (X, MIXED):
        for m in (0, 1, 5):
            yield call(unit_sums.m_dependent_mean_interval, values, m, -3.0)


def _widths() -> Calls:
    profiles = (BoundedMean(3000), SubExponential(0.01, 0.05), MDependentMean(3000, 2))
    for profile in profiles:
        for k in (1, 2, 60):
            for rounds in (1, 2, 5):
                yield call(equal_width.rounds_half_width, profile, k, min(rounds, k), -3.0)
                yield call(
                    equal_width.rounds_half_width,
                    profile,
                    k,
                    min(rounds, k),
                    -3.0,
                    BoundedMean(2000),
                )
            for surprises in (0, 1, 5):
                for t in (0.03, 0.06, 0.2):
                    yield call(equal_width.claims_fit, profile, k, min(surprises, k), t, -3.0)
                    yield call(equal_width.claims_fit, profile, k, min(surprises, k), t, -3.0, 0.01)
        for stages in (
            ((profile,),),
            ((profile, profile),),
            ((profile,), (profile, BoundedMean(900))),
        ):
            for t in (0.03, 0.08, 0.3):
                for nats in (0.0, 2.0):
                    for most in (5, 3000, 10**7):
                        for function in (equal_width.most_asks, equal_width.most_roundings):
                            yield call(
                                function, stages, t, lambda k: -3.0 - math.log(k), nats, most
                            )


def _planning() -> Calls:
    kinds = (
        planning.KnownRows(BoundedMean),
        planning.KnownRows(lambda n: MDependentMean(n, 2), independent=False),
        planning.KnownRows(lambda n: PooledUnits(n, -(-n // 3), 3), independent=False),
    )
    methods = (
        planning.check_method(3),
        planning.described_method(20),
        planning.described_method(20, rounded=True),
        planning.listed_method(50),
        planning.listed_method(50, rounded=True),
        planning.rounds_method(3),
        planning.by_formula(
            "a", "reference", "b", lambda n, k, log_beta: math.sqrt(k / n) - log_beta / n
        ),
    )
    for method in methods:
        for rows in kinds:
            yield call(method.applies, rows)
            for n, k in ((100, 5), (20_000, 40)):
                yield call(method.half_width, rows, n, k, -3.0)
            yield call(method.questions, rows, 20_000, 0.05, -3.0)
            yield call(method.rows, rows, 20, 0.1, -3.0)
    for rows in kinds:
        yield call(
            lambda rows=rows: (
                planning.profile_scale(rows.profile(90)),
                planning.profile_log_weight(rows.profile(90)),
            )
        )
    yield call(planning.profile_scale, PooledUnits(90, 30, 4, 0.5, 0.2))
    yield call(planning.profile_scale, Bernstein(100, 0.1))


def _forecasts() -> Calls:
    Result, Posterior = forecasts.DevResult, forecasts.DevPosterior
    results = [Result(30, 12, 400), Result(5, 9, 400), Result(0, 0, 50), Result(60, 10, 900)]
    posterior = Posterior.of(results)
    for result in results:
        yield call(lambda result=result: (result.differing, result.z))
        for n in (100, 5000):
            for level in (-0.5, -4.0, -30.0):
                for by_bets in (False, True):
                    yield call(posterior.show_probability, result, n, level, by_bets=by_bets)
        for total in (50, 400, 900, 1601, 5000):
            yield call(forecasts.dev_rows_wanted, result, total)
        for candidates, stated, states in (
            (None, None, False),
            (10, None, False),
            (10, 0.3, True),
            (10, None, True),
            (10, 0.3, False),
        ):
            for left in (-0.5, -5.0):
                mixture = forecasts.Mixture.opened(_equal(1 + states + len(forecasts.OPTIMISMS)))

                def entered(
                    result: Any = result,
                    mixture: Any = mixture,
                    left: float = left,
                    candidates: Any = candidates,
                    stated: Any = stated,
                    states: bool = states,
                ) -> Any:
                    forecasters = forecasts.gate_forecasters(
                        0.1,
                        2000,
                        posterior,
                        result,
                        candidates=candidates,
                        stated=stated,
                        states=states,
                    )
                    return forecasts.forecast(mixture, forecasters, left)

                yield call(entered)
    for counts in ((1, 1, 1), (-1, 0, 5), (0, -1, 5), (3, 3, 5), (0, 0, 0)):
        yield call(Result, *counts)
    for m in (1.0, 30.0, 900.0):
        for level in (*LEVELS, -600.0):
            for by_bets in (False, True):
                yield call(forecasts.needed_margin, m, level, by_bets=by_bets)
    yield call(forecasts.dev_rows_wanted, None, 400)
    for better in (0, 3, 30):
        for rows in (80, 99, 100, 101, 199, 200, 201, 400):
            yield call(forecasts.dev_rows_wanted, Result(better, 2, rows), 400)
    for trained in (
        forecasts.TrainedGuess(0.3, 0.05, 0.31, 0.2, 400),
        forecasts.TrainedGuess(0.3, 0.001, 0.31, 0.2, 400),
        forecasts.TrainedGuess(0.3, 0.05, 0.33, 0.0, 400),
        forecasts.TrainedGuess(0.3, 0.05, 0.5, 0.01, 40),
    ):
        for level in (-0.5, -4.0):
            for trust in (0.0, 0.5, 1.0):
                yield call(trained.confirm_probability, 3000, level, trust)
            yield call(
                lambda trained=trained, level=level: forecasts.check_forecasters(
                    0.9, 3000, trained
                )(level)
            )
            yield call(
                lambda trained=trained, level=level: forecasts.check_forecasters(0.9, 3000, None)(
                    level
                )
            )
    for variance_ in (0.0, 0.01, 0.25):
        for by_bets in (False, True):
            for level in LEVELS:
                yield call(
                    claim_levels.likely_half_width, 3000, variance_, 400, level, by_bets=by_bets
                )
    mixture = forecasts.Mixture.opened([0.5, 0.3, 0.2])
    members: list[float | None] = [0.2, None, 0.7]
    for claimed in (True, False):
        yield call(mixture.after, members, claimed=claimed)
    yield call(mixture.weight, members)
    yield call(mixture.weight, [None] * 3)
    yield call(forecasts.Mixture.opened, [0.5, 0.4])


def _equal(count: int) -> list[float]:
    return [1.0 / count] * count


def _winners() -> Calls:
    scores = [0.4, 0.7, 0.7, 0.1, 0.9]
    yield call(winners.cv_ranks, scores)
    for n in (1, 90, 20_000):
        for cv in (None, winners.Cv(0.7, 400), winners.Cv(0.001, 400), winners.Cv(1.0, 5)):
            yield call(winners.cells_of, n, cv)
            yield call(lambda n=n, cv=cv: winners.cells_of(n, cv).many)
            for count in (0, n // 3, n):
                yield call(lambda n=n, cv=cv, count=count: winners.cells_of(n, cv).around(count))
                for prior in (Fraction(1, 7), Fraction(1), Fraction(0)):
                    for nats in (0.0, 2.0):
                        yield call(winners.winner_claim, n, count, prior, cv, -3.5, nats)
    weights = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    for order in ((), (0,), (2, 1), (2, 1, 0), (0, 0), (3,)):
        yield call(winners.order_log_charge, weights, order)
    yield call(winners.order_log_charge, [0.5, 0.6], (0,))
    yield call(winners.order_log_charge, [0.5, 0.0], (0,))


def _families() -> Calls:
    declared = (
        Family((Pattern((5, 3, 3)),)),
        Family(
            (
                Pattern((2, 3), contrasts=2, depth=1, share=Fraction(1, 3)),
                Pattern((), share=Fraction(1, 2)),
            )
        ),
        Family(outcomes=2, segments=(Segment(2), Segment(3, ordered=True), Segment(4))),
        Family((Pattern((2,)),), 1, (Segment(2, ordered=True), Segment(3)), Fraction(1, 5)),
        Family((Pattern((2,)),), 1),
        Family(),
    )
    for family in declared:

        def priced(family: Family = family) -> list[Any]:
            instances = list(family.instances())
            total = sum(map(family.fraction, instances), start=Fraction(0))
            return [
                str(total),
                len(instances),
                [family.millibits([each]) for each in instances][::7],
            ]

        yield call(priced)
        yield call(
            lambda family=family: [
                family.unplanned_millibits,
                str(family.plan_weight),
                family.millibits(()),
            ]
        )
        yield call(lambda family=family: str(list(family.instances())[::5]))
        for instance in (
            families.PlannedInstance(0, ((1, 0), (0, 1))),
            families.PlannedInstance(7),
            families.PlannedInstance(0, ((0, 9),)),
            families.PlannedInstance(0, (), 3),
            families.AverageInstance(0, ((0, 1), (1, 2))),
            families.AverageInstance(5),
            families.RestInstance(0, 9, 0),
            families.RestInstance(0, 0, 2),
            families.HalfLineInstance(0, 0, 1),
            families.HalfLineInstance(0, 1, 1, (0, 0)),
            families.PairInstance(0, 1, 1, 0),
            families.PairInstance(0, 1, 0, 1, (1, 0)),
            families.PairInstance(0, 1, 0, 2, (0, 1)),
        ):
            yield call(lambda family=family, instance=instance: str(family.fraction(instance)))
    for built in (
        lambda: Family((Pattern((2,), share=Fraction(1, 2)), Pattern((3,)))),
        lambda: Family((Pattern((2,), share=Fraction(2)),)),
        lambda: Family(segments=(Segment(3),)),
        lambda: Family((Pattern((2,)),), weight=Fraction(1)),
        lambda: Segment(0),
    ):
        yield call(lambda built=built: str(built()))


def _transfers() -> Calls:
    for kappa1 in (0.001, 0.01, 0.03, 0.1, 0.3):
        for n, k, D in ((10**5, 300, 0.01), (3000, 20, 0.05)):
            yield call(variance_line.least_variance_intercept, n, k, D, 3, kappa1, -3.0)
    yield call(variance_line.variance_line, 50, 10**6, 0.5, 3, 0.01, -3.0)
    yield call(composition.pure_composition, 1, 40.0, -0.1, -3.0)
    yield call(composition.pure_composition, 1, 10.0, -0.001, -3.0)
    for scales in ((math.inf, 0.1), (0.1, 0.0), (0.1, -1.0)):
        yield call(
            generalisation.stopped_oracle_sequential_log_bound, (-3.0, -3.0), (0.1, 0.1), scales
        )
    for log_tau in (-0.001, -0.01):
        yield call(typical_noise.gaussian_scale_printed_eta_max, log_tau, 1.0)
    yield call(likelihood_cover.composed_shift, 2, 0.01, likelihood_cover.MOST_ANSWERS + 1, -3.0)
    for n, k in ((10**5, 300), (3000, 20)):
        yield call(differential_privacy.best_private_laplace, n, k, -3.0)
        yield call(differential_privacy.private_laplace_questions, n, 0.1, -3.0)
        yield call(median_width.median_noise_half_width, n, k, -3.0)
        for public in (1e-4, 0.01, 0.2):
            yield call(median_width.declared_variance_half_width, n, k, public, -3.0)
            yield call(variance_line.variance_line, n, k, 0.01, 5, public, -3.0)
    yield call(median_width.checked_orders, ())
    yield call(median_width.checked_orders, (5, 5))
    noise = median_width.MedianRelease(100, 3, 20, 0.01)
    yield call(lambda: [str(noise.D), str(noise.answer(7, -3))])
    notions = (
        composing.PureDP(0.3),
        composing.ApproxDP(0.3, -9.0),
        composing.ZCDP(0.1),
        composing.GDP(0.5),
    )
    for notion in notions:
        yield call(notion.repeated, 4)
        yield call(notion.compose, notion)
        yield call(notion.compose, composing.TV(0.1))
    for form in ("oracle", "pair", "set"):
        for tau, nu in ((-4.0, -6.0), (-math.inf, -6.0), (2.0, -800.0)):
            promise = partial(TypicalStability.from_logs, 0.3, tau, nu, form)
            yield call(promise)
            yield call(lambda promise=promise: promise().to_pair())
            yield call(lambda promise=promise: promise().to_oracle())
            yield call(lambda promise=promise: (promise().log_tau, promise().log_nu))
    yield call(TypicalStability, 0.3, 0.1, 0.1, "none")


def _evaluating() -> Calls:
    texts = (
        ("clopper_pearson", "n=100", "successes=30", "beta=0.05"),
        ("clopper_pearson", "n=100", "successes=30", "log_p=-3"),
        ("clopper_pearson", "n=100", "successes=30"),
        ("clopper_pearson", "n=1e2", "successes=2**4", "p=0.05"),
        ("equal_half_width", "profile=BoundedMean(1000)", "k=20", "beta=0.05"),
        ("uniform_log_charge", "alpha=0.1", "D=0.2"),
        ("uniform_log_charge", "alpha=0.1", "D"),
        ("bounded_mean_interval", "values=[0.1,0.5,1]", "beta=0.05", "times=[3,4,5]"),
        ("tv_to_kl", "x=1"),
    )
    entries = registry()
    for name, *assignments in texts:
        if name in entries:

            def evaluated(name: str = name, assignments: list[str] = assignments) -> list[Any]:
                found = evaluating.evaluated(entries[name], assignments)
                return [*found.lines(), str(found.to_dict())]

            yield call(evaluated)


PARTS: tuple[Callable[[], Calls], ...] = (
    _claims,
    _edges,
    _widths,
    _planning,
    _forecasts,
    _winners,
    _families,
    _transfers,
    _evaluating,
)
