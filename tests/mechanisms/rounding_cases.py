"""Offers, answers, accounts and plans whose roundings are made large, and which way they are safe.

Radii, half-widths, charges and what leaked may only rise, levels only fall, intervals only grow
(tests/theory/roundings.py): every number here is one that may only rise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from holdfast.data.sampling import clustered
from holdfast.mechanisms.bounded_noise import BOUNDED, ROUNDED
from holdfast.mechanisms.catalogue import CATALOGUE, MechanismKind
from holdfast.mechanisms.claims import CHECKS, GATES, more_than
from holdfast.mechanisms.forecast_gates import FORECAST_GATES
from holdfast.mechanisms.graded_gates import GRADED_GATES
from holdfast.mechanisms.leakage import Calibration, half_width_on
from holdfast.mechanisms.mechanism import (
    ForecastGrounds,
    Mechanism,
    Offer,
    Symbol,
    Wish,
    about,
    in_unit_outwards,
)
from holdfast.mechanisms.noise import LAPLACE, NORMAL, Grid, Law
from holdfast.mechanisms.reveal import Reveal, levels_of, to_be_revealed
from holdfast.mechanisms.stable_steps import shifts_of, steps_of
from holdfast.mechanisms.terms import Account, Pots, QuestionPart, Terms
from holdfast.mechanisms.transfer import Transfer, leaked_by_claims
from holdfast.mechanisms.vector_release import scaled_shape_of
from holdfast.papers.guess_and_check import CountedTree
from holdfast.question.row import GRID
from holdfast.statistics.mean import KnownVariance
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import Interval
from holdfast.theory.leakage.forecasts import DevResult
from holdfast.theory.leakage.nats import LeakageAccount
from tests.mechanisms import playing
from tests.mechanisms.fake import CONDITION, NUMBER, PAIRED, claimed, independent, leaked, wish_for
from tests.mechanisms.transferring import NAMES, mixed
from tests.mechanisms.vectors import BY_LAPLACE, GAUSSIAN, TERMS, bins, l1_vector, vector
from tests.theory.roundings import Case

TIMES = 2.0**40  # so that a grid notices it
ACCOUNT = leaked(0.7, asked=2)
LEAKED = Account(LeakageAccount(20, 3.0, math.log(0.03)))
STEPS = Calibration.of(2, 0.1, 0.0, 1e-8), Calibration.of(2, 0.5, 1e-6, 1e-8)
INDEPENDENT, MANY = independent(5_000), independent(10_000, questions=30)
KEPT = replace(MANY, reveal_share=0.25)
FORESEEN = replace(
    Wish(PAIRED, 0.5, (more_than(0.5), 1.0), gated=True),
    forecast=ForecastGrounds(DevResult(40, 10, 1_000), None),
)
Asked = tuple[str, Mechanism, Terms, Account, list[Wish], list[Symbol]]


def cases() -> Iterator[Case]:
    """All calls."""
    for label, mechanism, terms, account, wishes, symbols in asked():
        yield case(f"offer of {label}", partial(offered, mechanism, terms, account, wishes))
        offers = mechanism.offer(terms, account, wishes)
        after = partial(answered, mechanism, terms, account, offers, symbols)
        yield case(f"answer of {label}", after)
    yield from parts()
    for name, kind in CATALOGUE.items():
        if name == "median noise":  # takes a transform
            continue
        yield case(f"plan of {name}", partial(planned, kind))
        terms, made = playing.made(name)
        if isinstance(made, Transfer):
            yield case(f"theorem of {name}", partial(proved, made, terms.rows))


def case(label: str, run: Callable[[], Sequence[float]]) -> Case:
    """A call whose numbers may only rise."""
    return Case(label, lambda: tuple(run()), (1,) * len(run()), TIMES, 0.0)


def planned(kind: MechanismKind) -> list[float]:
    return [kind.plan(playing.WANTED, {}).tolerance or 0.0]


def proved(mechanism: Transfer, rows: int) -> list[float]:
    return [mechanism.theorem.half_width(rows, mechanism.epochs)]


def offered(
    mechanism: Mechanism, terms: Terms, account: Account, wishes: Sequence[Wish]
) -> list[float]:
    """What offers say of the sample and reserve. A forecast's weight is either way."""
    numbers = []
    for offer in mechanism.offer(terms, account, wishes):
        charge = 0.0 if offer.forecast else offer.worst_charge
        numbers += [-(offer.log_p or 0.0), -(offer.log_share or 0.0), offer.radius or 0.0, charge]
    return numbers


def answered(
    mechanism: Mechanism,
    terms: Terms,
    account: Account,
    offers: Sequence[Offer],
    symbols: Sequence[Symbol],
) -> list[float]:
    """Intervals and charges of answers, and what the account has of them."""
    releases = mechanism.settle(offers, symbols)
    after = mechanism.advance(account, offers, releases)
    numbers = [after.nats, leaked_by_claims(after), steps_of(after).ratio(terms, -12.0)]
    numbers += shifts_of(after).scales(terms.rows)
    for each in releases:
        numbers += [-each.interval.low, each.interval.high, each.charge, each.adjusted or 0.0]
    return numbers


def asked() -> Iterator[Asked]:
    """What is asked of each mechanism, and what it answers."""

    def of(
        mechanism: Mechanism, wishes: list[Wish], symbol: Symbol, account: Account = ACCOUNT,
        terms: Terms = INDEPENDENT, label: str = "",
    ) -> Asked:  # fmt: skip
        label = f"{mechanism.name} {label}"
        return label, mechanism, terms, account, wishes, [symbol] * len(wishes)

    yield of(BOUNDED, [Wish(NUMBER, 0.3)], 400)
    yield of(BOUNDED, [Wish(NUMBER, 0.3)], 400, replace(ACCOUNT, log_kept=-0.1), label="late")
    narrowed = Wish(NUMBER, 0.3, variance=KnownVariance(1e-3), narrow=True)
    yield of(BOUNDED, [narrowed], 400, label="narrowed")
    yield of(ROUNDED, [Wish(NUMBER, 0.3)], 1)
    vectors: dict[str, list[Statistic]] = {
        "vector": vector(60), "vector in l1": l1_vector(9), "bins": bins(30)
    }  # fmt: skip
    for by in (BOUNDED, GAUSSIAN, BY_LAPLACE):
        yield of(by, [Wish(NUMBER, 0.1)], 1, terms=TERMS)
        for name, coordinates in vectors.items():
            wishes = [Wish(each, 0.1, vector=name) for each in coordinates]
            yield of(by, wishes, 1, terms=TERMS, label=name)
    for claims in (CHECKS, GATES):
        wishes = [wish_for(claims, NUMBER), wish_for(claims, CONDITION)]
        for symbol in (claims.shown, claims.silent):
            yield of(claims, wishes, symbol, claimed(claims, 3, 1), label=symbol)
    gates, candidates = claimed(GATES, 3, 1), replace(independent(1_000), candidates=100)
    for symbol in ("shown", "not shown"):
        yield of(FORECAST_GATES, [FORESEEN], symbol, gates, candidates, symbol)
    for grade in (0, "not shown"):
        graded = replace(FORESEEN, graded=True)
        yield of(GRADED_GATES, [graded], grade, gates, candidates, f"{grade}")
    for terms, transfer, checker in map(mixed, NAMES):
        yield of(transfer, [Wish(NUMBER, terms.half_width)], 100, terms=terms, label="beside")
        check = about(NUMBER, terms.half_width, 0.5)
        yield of(checker, [check], "confirmed", terms=terms)
    for question, half in ((CONDITION, 5_000), (NUMBER, 5_000 * GRID)):
        account = to_be_revealed(LEAKED, question.text)
        for step in (None, *STEPS):
            for terms in (MANY, KEPT):
                yield of(Reveal(step), [Wish(question, terms.half_width)], half, account, terms)
    for name in CATALOGUE:
        terms, mechanism = playing.made(name)
        batch = playing.played(name).batches[0]
        wishes = playing.wishes_for(name, batch.questions, terms.half_width)
        yield name, mechanism, terms, batch.account, wishes, batch.symbols


def parts() -> Iterator[Case]:
    """Levels, parts and widths that offers are made of."""
    units = replace(INDEPENDENT, sampling=clustered("unit", largest=4))
    yield case("level for later", lambda: [-units.level_for_later(-3.0)])
    pots = Pots(0.95, 0.25, 0.25, -0.01)
    yield case("pots", lambda: [-pots.log_beta, -pots.log_beta_described, -pots.log_beta_reveal])
    for step in STEPS:
        for form in (1, 2):
            yield case("grid", partial(cells_by, replace(step, version=form)))
        yield case("levels", partial(revealed_at, step))
    yield case("width", lambda: [half_width_on(LAPLACE, Grid(10**6, 10**3, None), 0.01, -3.0)])
    laws: list[Law] = [LAPLACE, NORMAL]
    for norm, law in product(("l1", "l2"), laws):
        yield case("vector of a scale", partial(radius_of_scale, norm, law))
    tree = CountedTree(10, 2, 20)
    yield case("width by a tree", lambda: [tree.half_width(0.01)])
    part = QuestionPart(BoundedMean(1_000), 0.5)
    yield case("part", lambda: [part.radius(-3.0), part.per_unit.radius(-3.0)])
    yield case("tail of a part", lambda: [part.per_unit.log_tail(0.1)])

    def in_unit() -> list[float]:
        ends = in_unit_outwards(Interval(0.3, 0.4), -1.0, 2.1)
        return [-ends.low, ends.high]

    yield case("in its unit", in_unit)


def cells_by(step: Calibration) -> list[float]:
    grid = step.grid(BoundedMean(10**5), 1e-9)
    assert grid is not None
    return [-grid.cells]


def revealed_at(step: Calibration) -> list[float]:
    return [-level for level in levels_of(step, KEPT, LEAKED)]


def radius_of_scale(norm: str, law: Law) -> list[float]:
    return [scaled_shape_of(9, norm, 0.01).radius(5_000, -3.0, law)]
