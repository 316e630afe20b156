"""What mechanisms plan, offer and tell of public numbers alone: no table, no ledger.

Of few rows and of many, of every sampling, with each option and with what may be declared, on
accounts from which little is left; and each refusal with its numbers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from itertools import islice
from typing import Any

from holdfast.data.sampling import (
    Independent,
    clustered,
    declared,
    dependency_graph,
    m_dependent,
    markov_chain,
    sub_weibull,
)
from holdfast.errors import HoldfastError
from holdfast.mechanisms.catalogue import CATALOGUE, choose
from holdfast.mechanisms.claims import CHECKS, GATES, Claims, more_than, reach_of_test
from holdfast.mechanisms.forecast_checks import FORECAST_CHECKS
from holdfast.mechanisms.forecast_gates import FORECAST_GATES
from holdfast.mechanisms.graded_gates import GRADED_GATES
from holdfast.mechanisms.leakage import Calibration, Leakage
from holdfast.mechanisms.mechanism import (
    ForecastGrounds,
    Mechanism,
    Offer,
    Refuted,
    Symbol,
    TrainedMean,
    Wish,
    revealed,
)
from holdfast.mechanisms.noise import LAPLACE, NORMAL, UNIFORM, Law
from holdfast.mechanisms.reveal import levels_of, revealing, to_be_revealed
from holdfast.mechanisms.stable_steps import shifts_of, steps_of
from holdfast.mechanisms.terms import Account, QuestionPart, Terms
from holdfast.mechanisms.vector_release import scaled_shape_of, shape_within
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.mean import KnownVariance
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.leakage.forecasts import DevResult
from holdfast.theory.leakage.nats import LeakageAccount
from tests.mechanisms.fake import CONDITION, CONSTANT, NUMBER, PAIRED
from tests.mechanisms.vectors import l1_vector, vector

Facts = Iterator[tuple[str, Any]]
LEVEL = math.log(0.05)


def of_call(label: str, call: Callable[[], Any]) -> Facts:
    """What comes out, or the kind of a refusal with all its numbers."""
    try:
        yield label, as_plain(call())
    except HoldfastError as error:
        yield label, [type(error).__name__, *re.findall(r"\d[\d.,]*(?:e-?\d+)?", str(error))]
    except (TypeError, ValueError, LookupError, ArithmeticError) as error:
        yield label, type(error).__name__


def as_plain(value: Any) -> Any:
    """Values of which JSON is made."""
    if hasattr(value, "to_dict"):
        return as_plain(value.to_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return as_plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(name): as_plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(each) for each in value]
    return value


# Plans --------------------------------------------------------------------------------------------

SAMPLINGS = (
    m_dependent(2),
    clustered("unit", largest=3, units=2_000),
    clustered("unit", sizes="fixed", size=2.5),
    dependency_graph(3),
    markov_chain(0.4),
    declared(sigma=0.02),
    declared(sigma=0.02, b=0.01),
    declared(gamma=sub_weibull(0.03, 0.7)),
)
WANTED: Mapping[str, Terms] = {
    "one": Terms(5_000, None, 0.95, 1, Independent()),
    "few": Terms(5_000, None, 0.95, 20, Independent()),
    "few, with a width": Terms(5_000, 0.12, 0.99, 20, Independent()),
    "too narrow": Terms(5_000, 0.01, 0.95, 20, Independent()),
    "few rows": Terms(300, None, 0.95, 3, Independent()),
    "too few rows": Terms(20, None, 0.95, 5, Independent()),
    "many": Terms(200_000, 0.05, 0.95, 1_000, Independent()),
    "open": Terms(40_000, None, 0.95, None, Independent()),
    "open, few rows": Terms(2_500, 0.2, 0.95, None, Independent()),
    "open, too few rows": Terms(300, 0.1, 0.95, None, Independent()),
    "described": Terms(
        5_000, None, 0.95, 20, Independent(), described="exact", described_share=0.4
    ),
    "surprises": Terms(5_000, None, 0.95, 20, Independent(), surprises=4, candidates=7),
    "key": Terms(5_000, None, 0.95, 20, Independent(), key="k", looked_up=(9, 2)),
    "public": Terms(5_000, None, 0.95, 20, Independent(), public=("p", "q")),
    **{str(each): Terms(5_000, None, 0.95, 20, each) for each in SAMPLINGS},
}
OPTIONS: Mapping[str, Sequence[Any]] = {
    "order": (2, 7, 1),
    "variance": (0.04, 0.0),
    "leakage_nats": (3.0, 0.0),
    "sigma": (0.02, 1e-9, 1e3, 2e3),
    "scale": (0.02, 1e-9, 2e3),
    "expected_error": (0.1, 0.0),
    "epsilon": (0.8, 1e-6, 0.99e-6, 100.0, 101.0),
    "delta": (1e-5, 1e-300, 1.0),
    "mistakes": (3, 0),
    "accuracy": (0.05, 0.0),
    "threshold": (0.05, -1.0),
    "noise": (0.02, -1.0),
    "budget": (5, 0),
    "step": (0.02, 0.0),
    "better": ("higher", "most"),
    "bounds": ([0.0, 2.0], [2.0, 0.0]),
    "eta": (0.5, 0.0),
    "version": (1, 3),
    "theorem": ("6.1", "6.1 direct", "7"),
    "reveal": (0.2, 1.0),
}
PAIRS: tuple[dict[str, Any], ...] = (
    {"epsilon": 2.0, "delta": 1e-6},
    {"epsilon": 2.0, "sigma": 0.1},
    {"leakage_nats": 2.0, "leakage_share": 0.25},
    {"leakage_share": 0.25},
    {"leakage_nats": 2.0, "leakage_share": 1.0},
    {"sigma": 0.02, "expected_error": 0.1},
    {"variance": 0.04, "order": 3},
    {"eta": 0.5, "nu": 1e-7},
    {"eta": 0.5, "nu": 1e-5, "version": 1},
    {"eta": 0.5, "tau": 1e-5},
    {"eta": 0.5, "reveal": 0.3},
    {"nu": 1e-5},
)


def plans() -> Facts:
    """Every mechanism, planned; and what is wrong with an opening that says something else."""
    for name, wanted in WANTED.items():
        yield from of_call(f"auto; {name}", lambda: (choose(wanted, {}).kind.name,))  # noqa: B023
        for each in CATALOGUE:
            yield from _plan(each, name, wanted, {})
    for each, kind in CATALOGUE.items():
        alone = ({option: value} for option in kind.options for value in OPTIONS.get(option, ()))
        pairs = (pair for pair in PAIRS if pair.keys() <= kind.options.keys())
        for options in (*alone, *pairs, {"unknown": 1}):
            for name in ("few", "few, with a width"):
                yield from _plan(each, name, WANTED[name], options)


def _plan(mechanism: str, name: str, wanted: Terms, options: Mapping[str, Any]) -> Facts:
    kind = CATALOGUE[mechanism]
    label = f"{mechanism}, {name} {json.dumps(options) if options else ''};"
    try:
        planned = kind.plan(wanted, options)
    except HoldfastError:
        yield from of_call(label, lambda: kind.plan(wanted, options))
        return
    terms = planned.terms(wanted)
    yield label, as_plain([*planned[:2], planned.assumes is None, planned.reveal_share])
    if planned.tolerance is not None and name in ("few", "few rows"):
        for width in (planned.tolerance, math.nextafter(planned.tolerance, 0.0)):
            exactly = replace(wanted, tolerance=width)
            yield from of_call(f"{label} exactly", lambda: kind.plan(exactly, options)[:2])  # noqa: B023
    if kind.fault is None or not planned.parameters:
        return
    for place, parameters in _elsewhere(planned.parameters):
        for questions in (0, 1, 21):
            yield from of_call(
                f"{label} fault {place} {questions}",
                lambda: kind.fault and kind.fault(terms, parameters, questions),  # noqa: B023
            )


def _elsewhere(parameters: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parameters as they are, and each number of the first and the last epoch moved."""
    yield "none", dict(parameters)
    epochs = parameters.get("epochs", ())
    for place in sorted({0, len(epochs) - 1}) if epochs else ():
        for field in epochs[place]:
            for factor in (0.999, 1.001):
                moved = [dict(each) for each in epochs]
                number = moved[place][field] * factor
                whole = isinstance(epochs[place][field], int)
                moved[place][field] = math.floor(number) if whole else number
                yield f"{place} {field} {factor}", {**parameters, "epochs": moved}


# Offers -------------------------------------------------------------------------------------------


def spent(nats: float, asked: int = 0, **others: Any) -> Account:
    """An account on which so much was leaked by so many questions."""
    log_beta = -math.inf if asked == 0 else LEVEL + math.log(asked / 40)
    return Account(LeakageAccount(asked, nats, log_beta), **others)


ACCOUNTS: Mapping[str, Account] = {
    "new": Account(),
    "used": spent(0.7, 3),
    "used up": spent(90.0, 19),
    "nothing left": spent(1.0, 20),
    "described": spent(0.4, 2, described=5, log_kept=-0.2),
    "claims": spent(0.4, 2, claims=6, checks=5, surprises=2, gates=1, shown=1),
}
STAGES: Mapping[str, Any] = {
    "a mean": (),
    "two parts": [[QuestionPart(SubGaussian(0.004))] * 2],
    "two stages": [[QuestionPart(SubGaussian(0.004))], [QuestionPart(SubGaussian(0.002), 0.5)]],
    "a vector": [[QuestionPart(SubGaussian(0.007), coordinates=5, norm="l2")]],
    "a vector in l1": [[QuestionPart(SubGaussian(0.007), coordinates=5, norm="l1")]],
    "coordinates": [[QuestionPart(SubGaussian(0.007), coordinates=5, norm="linf")]],
    "without a range": [
        [QuestionPart(SubGaussian(1e-4), 0.01, GRID_ERROR, coordinates=3, norm="l2")]
    ],
    "long": [[QuestionPart(SubGaussian(0.007), coordinates=300, norm="l2")]],
}
PLANNED = ("few", "many", "open", "described", "key")


def made(name: str, wanted: Terms) -> tuple[Terms, Mechanism] | None:
    """A mechanism as its plan has it; None where it has none."""
    try:
        planned = CATALOGUE[name].plan(wanted, {})
    except HoldfastError:
        return None
    terms = planned.terms(wanted)
    return terms, CATALOGUE[name].build(terms, json.loads(json.dumps(planned.parameters)))


def offers() -> Facts:
    """What every mechanism offers, how many questions are left, and what symbols stand for."""
    for name in CATALOGUE:
        for place in PLANNED:
            found = made(name, WANTED[place])
            if found is None:
                continue
            terms, mechanism = found
            for of, account in ACCOUNTS.items():
                label = f"{name}, {place}, {of};"
                yield from _of_account(label, terms, mechanism, account)
    for law in (UNIFORM, NORMAL, LAPLACE):
        yield from _of_law(law)


def _of_account(label: str, terms: Terms, mechanism: Mechanism, account: Account) -> Facts:
    for parts, stages in STAGES.items():
        yield from of_call(
            f"{label} left {parts}",
            lambda: mechanism.questions_left(terms, account, stages),  # noqa: B023
        )
    variance = KnownVariance(0.01, None)
    half = terms.half_width
    batches = {
        "one": [Wish(CONDITION, half, guess=0.5)],
        "wide": [Wish(NUMBER, 0.4, guess=0.5)],
        "narrow": [Wish(NUMBER, 0.9 * half, guess=0.5)],
        "known": [Wish(NUMBER, half, guess=0.5, variance=variance, narrow=True)],
        "three": [Wish(each, half, guess=0.5) for each in (CONDITION, NUMBER, CONSTANT)],
        "keyless": [Wish(CONDITION, half, guess=0.5, keyless=True)],
    }
    for kind, wishes in batches.items():
        try:
            found = mechanism.offer(terms, account, wishes)
        except HoldfastError as error:
            yield from of_call(
                f"{label} {kind}",
                lambda: mechanism.offer(terms, account, wishes),  # noqa: B023
            )
            least = getattr(error, "shortfall", None)
            if least is not None and least.of == "half-width":
                for width in (least.remaining, math.nextafter(least.remaining, 1.0)):
                    edge = [each.at_tolerance(width) for each in wishes]
                    yield from of_call(
                        f"{label} {kind} at the edge",
                        lambda: mechanism.offer(terms, account, edge),  # noqa: B023
                    )
            continue
        yield f"{label} {kind}", as_plain(found)
        if len(found) == 1:
            yield from _of_symbols(f"{label} {kind}", mechanism, account, found[0])


def _of_symbols(label: str, mechanism: Mechanism, account: Account, offer: Offer) -> Facts:
    if offer.grid is None:
        return
    reach = offer.grid.reach or 0
    ends = (-reach, 0, offer.grid.last // 3, offer.grid.last, offer.grid.last + reach)
    outside = (-reach - 1, offer.grid.last + reach + 1)
    for place, symbol in enumerate((*outside, *ends)):
        try:
            (release,) = mechanism.settle([offer], [symbol])
        except (HoldfastError, TypeError, ValueError):
            yield from of_call(
                f"{label} {place}",
                lambda: mechanism.settle([offer], [symbol]),  # noqa: B023
            )
            continue
        shows = [revealed(offer, release)]
        shows += [
            revealed(offer, release, Refuted(1, claim, radius))
            for claim in ((0.2, 0.4), (0.0, 0.3), (0.7, 1.0))
            for radius in (None, 0.05)
        ]
        yield f"{label} {place}", as_plain([release, shows])
    after = mechanism.advance(account, [offer], [release])
    yield f"{label} after", as_plain([after, steps_of(after), shifts_of(after).scales(5_000)])


CALIBRATIONS = (
    None,
    Calibration.of(2, 0.5, 0.0, 1e-6),
    Calibration.of(1, 0.5, 0.0, 1e-6),
    Calibration.of(2, 0.5, 1e-6, 1e-6),
    Calibration.of(2, 1e-6, 0.0, 1e-6),
)


def _of_law(law: Law) -> Facts:
    terms = Terms(5_000, 0.1, 0.95, 20, Independent(), reveal_share=0.2)
    batches: Mapping[str, Sequence[Statistic]] = {
        "l2": vector(9),
        "l1": l1_vector(9),
        "apart": [CONDITION, NUMBER],
    }
    for number, calibration in enumerate(CALIBRATIONS):
        mechanism = Leakage("a law/1", law, calibration)
        for of in ("new", "used", "claims"):
            account = ACCOUNTS[of]
            label = f"{law.name}, {number}, {of};"
            yield from of_call(
                f"{label} level",
                lambda: levels_of(calibration, terms, account),  # noqa: B023
            )
            for kind, questions in batches.items():
                for width in (0.1, 0.45):
                    for whole in (None, "v"):
                        wishes = [Wish(each, width, vector=whole) for each in questions]
                        yield from of_call(
                            f"{label} {kind} {width} {whole}",
                            lambda: mechanism.offer(terms, account, wishes),  # noqa: B023
                        )
            for parts, stages in STAGES.items():
                yield from of_call(
                    f"{label} left {parts}",
                    lambda: mechanism.questions_left(terms, account, stages),  # noqa: B023
                )
            reveal = revealing(mechanism)
            if reveal is None:
                continue
            for question in (CONDITION, NUMBER):
                known = to_be_revealed(account, question.text)
                for variance in (None, KnownVariance(0.001, None)):
                    wish = Wish(question, 0.5, variance=variance)
                    named = f"{label} reveal {question.text} {variance is None}"
                    yield from of_call(named, lambda: reveal.offer(terms, known, [wish]))  # noqa: B023
    for norm in ("l2", "l1"):
        for rows in (50, 5_000):
            for log_p in (-1.0, -9.0):
                radii = (
                    scaled_shape_of(9, norm, 0.01).radius(rows, log_p, law),
                    shape_within(9, norm).radius(rows, log_p, law),
                )
                yield f"{law.name}, ball; {norm} {rows} {log_p}", as_plain(radii)


# Claims -------------------------------------------------------------------------------------------

INTERVALS = ((0.4, 0.6), (0.0, 0.3), (more_than(0.5), 1.0), (0.9, 0.8), (1.1, 1.2))
GROUNDS: tuple[ForecastGrounds | None, ...] = (
    None,
    ForecastGrounds(),
    ForecastGrounds(stated=0.9),
    ForecastGrounds(DevResult(40, 10, 1_000)),
    ForecastGrounds(DevResult(40, 10, 1_000), stated=0.3),
    ForecastGrounds(trained=TrainedMean(0.52, 0.2, 900)),
)
VERBS: tuple[Claims, ...] = (CHECKS, GATES, GRADED_GATES, FORECAST_CHECKS, FORECAST_GATES)


def claims() -> Facts:
    """What claims cost and at which level they are tested, after others of each kind."""
    kinds = ("few, with a width", "surprises", str(SAMPLINGS[0]))
    accounts = {
        **ACCOUNTS,
        "all candidates": spent(0.4, 2, claims=7, gates=7, shown=1),
        "graded": spent(
            0.4,
            2,
            claims=4,
            gates=4,
            shown=2,
            memory={"graded gate/1": {"shown": 2, "adjusted": 0.03}},
        ),
    }
    for place in kinds:
        terms = WANTED[place] if WANTED[place].tolerance else replace(WANTED[place], tolerance=0.1)
        for of, account in accounts.items():
            for verb in VERBS:
                label = f"{verb.name}, {place}, {of};"
                yield from of_call(
                    f"{label} levels",
                    lambda: tuple(islice(verb.levels(terms, account), 2)),  # noqa: B023
                )
                for most in (math.inf, 0.05):
                    yield from of_call(
                        f"{label} surprises {most}",
                        lambda: verb.surprises_left(terms, account, SubGaussian(0.005), most),  # noqa: B023
                    )
                for wishes in _wishes(verb):
                    yield from _of_claim(label, verb, terms, account, wishes)


def _wishes(verb: Claims) -> Iterator[list[Wish]]:
    forecast = verb in (FORECAST_CHECKS, FORECAST_GATES)
    for claim in INTERVALS:
        for question in (CONDITION, NUMBER, PAIRED):
            for grounds in GROUNDS[1:] if forecast else GROUNDS[:1]:
                yield [Wish(question, 0.1, claim, 0.5, forecast=grounds)]
    for moment in (None, 0.1):
        yield [Wish(CONSTANT, 0.1, INTERVALS[0], 0.5, moment=moment, forecast=GROUNDS[1])]
    yield [Wish(CONDITION, 0.1, claim, 0.5, forecast=GROUNDS[1]) for claim in INTERVALS[:3]]


def _of_claim(
    label: str, verb: Claims, terms: Terms, account: Account, wishes: list[Wish]
) -> Facts:
    first = wishes[0]
    named = f"{label} {len(wishes)} {first.claim} {first.question.text} {first.forecast}"
    try:
        found = verb.offer(terms, account, wishes)
    except (HoldfastError, TypeError, ValueError):
        yield from of_call(named, lambda: verb.offer(terms, account, wishes))
        return
    reach = reach_of_test(terms, first, -5.0)
    yield named, as_plain([found, reach])
    symbols: list[list[Symbol]] = [[verb.shown] * len(found), [verb.silent] * len(found)]
    if len(found) > 1:
        symbols.append([verb.silent, verb.shown, verb.shown])
    elif verb is GRADED_GATES:
        symbols = [[verb.silent], [-1], [0], [1], [2], [9]]
    for each in symbols:
        yield from of_call(f"{named} {each}", lambda: _after(verb, account, found, each))  # noqa: B023


def _after(verb: Claims, account: Account, found: list[Offer], symbols: list[Symbol]) -> Any:
    releases = verb.settle(found, symbols)
    return [releases, verb.advance(account, found, releases)]
