"""Theorem L on worlds small enough to try every analyst: exact fractions, no randomness.

A world is a law over all data sets of {0,1}^n. The analyst asks a few questions, each chosen from
the answers so far, and wants some concentration statement to fail. The best analyst is found by
backward induction over public histories: what matters of a history is which data sets it leaves
possible (all answers have equal likelihoods on them), the leakage charged, and the rounds left.
Whatever the analyst does, the failure probability must be at most the sum of the shares.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from holdfast.theory.leakage.nats import (
    confirmed_log_charge,
    leakage_log_failure,
    surprise_log_charge,
)
from holdfast.theory.leakage.release import DiscreteUniform

LAWS = ("leakage_log_failure",)

Row = tuple[int, ...]
Values = tuple[Fraction, ...]
ONE = Fraction(1)
EPS = Fraction(1, 4)


# --- Worlds ------------------------------------------------------------------------------------


def _bernoulli(p: Fraction) -> Callable[[Row], Fraction]:
    return lambda x: math.prod((p if bit else 1 - p for bit in x), start=ONE)


def _markov(stay: Fraction) -> Callable[[Row], Fraction]:
    return lambda x: (
        Fraction(1, 2)
        * math.prod((stay if a == b else 1 - stay for a, b in itertools.pairwise(x)), start=ONE)
    )


def _equal_or_fair(x: Row) -> Fraction:
    """Half of the time all rows are equal, else they are fair coins."""
    return Fraction(1, 2 * 2 ** len(x)) + (Fraction(1, 4) if len(set(x)) == 1 else 0)


@dataclass(frozen=True)
class World:
    """All data sets of n bits; sets of them are the bits of a mask. `spots`: see `questions`."""

    n: int
    law: Callable[[Row], Fraction]
    spots: int

    @functools.cached_property
    def rows(self) -> list[Row]:
        return list(itertools.product((0, 1), repeat=self.n))

    @functools.cached_property
    def weights(self) -> list[int]:
        """The probabilities, in whole multiples of 1/total."""
        probabilities = [self.law(x) for x in self.rows]
        total = math.lcm(*(p.denominator for p in probabilities))
        return [int(p * total) for p in probabilities]

    @functools.cached_property
    def total(self) -> int:
        return sum(self.weights)

    def mean(self, q: Values) -> Fraction:
        weighted = (v * w for v, w in zip(q, self.weights, strict=True))
        return sum(weighted, Fraction(0)) / self.total

    def measure(self, mask: int) -> int:
        """total times the probability of a set."""
        return sum(w for i, w in enumerate(self.weights) if mask >> i & 1)

    @functools.cached_property
    def questions(self) -> list[Values]:
        """[0,1]-valued statistics: means of rows and of flipped rows, parity, and spots.

        A spot is 1 on one data set, 0 on another and 1/2 elsewhere: an analyst who has learnt which
        data sets are left can aim with it. It is had for every pair among `spots` data sets.
        """
        n, rows = self.n, self.rows
        flips: list[Row] = [(0,) * n, (0, 1) * (n // 2) + (0,) * (n % 2), (0,) * (n - 1) + (1,)]
        means = [
            tuple(Fraction(sum(a ^ b for a, b in zip(x, c, strict=True)), n) for x in rows)
            for c in flips
        ]
        heads = [tuple(Fraction(sum(x[:size]), size) for x in rows) for size in range(1, n)]
        parity = tuple(Fraction(sum(x) % 2) for x in rows)
        aims = rows[:: (len(rows) - 1) // (self.spots - 1)]
        spots = [
            tuple(Fraction(1 + (x == up) - (x == down), 2) for x in rows)
            for up, down in itertools.combinations(aims, 2)
        ]
        return list(dict.fromkeys([*means, *heads, parity, *spots]))


def _mask(holds: Iterable[bool]) -> int:
    return sum(1 << i for i, true in enumerate(holds) if true)


# --- What may be ordered, what comes out, what is charged ---------------------------------------


@dataclass(frozen=True)
class Outcome:
    """A symbol: the data sets that can give it, and how likely it is on each of them."""

    seen: int
    likelihood: Fraction
    release: DiscreteUniform
    kind: str


@dataclass(frozen=True)
class Menu:
    """The releases that may be ordered, and whether guesses are checked first.

    Two sabotages: noise of half the reach, and an account that forgets some of its charges.
    """

    releases: tuple[DiscreteUniform, ...]
    checks: bool = False
    half_noise: bool = False
    forgets: str = ""

    def answers(self, release: DiscreteUniform, q: Values, among: int, kind: str) -> list[Outcome]:
        m = release.m // 2 if self.half_noise else release.m
        cells = [release.cell(v.numerator, v.denominator) for v in q]
        return [
            Outcome(seen, Fraction(1, 2 * m + 1), release, kind)
            for answer in range(-m, release.G + m + 1)
            if (seen := among & _mask(abs(answer - cell) <= m for cell in cells))
        ]

    def orders(self, q: Values, theta: Fraction) -> Iterable[list[Outcome]]:
        """For each way to ask q (guess or no guess): everything that can come out."""
        every = (1 << len(q)) - 1
        for release in self.releases:
            yield self.answers(release, q, every, "ask")
            for guess in {theta, Fraction(1, 4), Fraction(3, 4)} if self.checks else ():
                close = _mask(abs(v - guess) <= release.reach for v in q)
                confirmed = Outcome(close, ONE, release, "confirmed")
                yield [confirmed, *self.answers(release, q, every & ~close, "surprise")]

    def kappa(self, outcome: Outcome, alpha: Fraction) -> Fraction:
        if self.forgets == "everything":
            return ONE
        symbols = self.forgets != "symbols"
        if outcome.kind == "confirmed":
            return 1 / (1 - EPS) if symbols else ONE
        kappa = _release_kappa(outcome.release, alpha)
        return kappa / EPS if outcome.kind == "surprise" and symbols else kappa


@functools.cache
def _release_kappa(release: DiscreteUniform, alpha: Fraction) -> Fraction:
    """1 + ceil(2 alpha G)/(2m + 1), cut at the range [0, 1]."""
    return 1 + Fraction(min(math.ceil(2 * alpha * release.G), release.G), 2 * release.m + 1)


# --- The best analyst --------------------------------------------------------------------------


class Analyst:
    """Backward induction over the public histories of a world and a menu."""

    def __init__(self, world: World, menu: Menu) -> None:
        self.world, self.menu = world, menu
        self.truths = [world.mean(q) for q in world.questions]
        self.orders = [
            (index, outcomes)
            for index, q in enumerate(world.questions)
            for outcomes in menu.orders(q, self.truths[index])
        ]
        self.measure = functools.cache(world.measure)
        self.ladders = [
            self._ladder(q, theta) for q, theta in zip(world.questions, self.truths, strict=True)
        ]
        self.statement = functools.cache(self._statement)
        self.bad_sets = functools.cache(self._bad_sets)
        self.worst = functools.cache(self._worst)

    def _ladder(self, q: Values, theta: Fraction) -> list[tuple[Fraction, int, int]]:
        """(alpha, bad set, its measure) for every radius that matters, narrowest first."""
        deviations = [abs(v - theta) for v in q]
        radii = sorted({Fraction(0), *deviations})
        bad_sets = [_mask(d > alpha for d in deviations) for alpha in radii]
        return [(alpha, bad, self.measure(bad)) for alpha, bad in zip(radii, bad_sets, strict=True)]

    def _statement(self, index: int, p: Fraction) -> tuple[Fraction, int]:
        """(alpha, bad set) for the smallest radius with P[|q - theta| > alpha] <= p."""
        most = math.floor(p * self.world.total)
        return next((alpha, bad) for alpha, bad, size in self.ladders[index] if size <= most)

    def _bad_sets(self, p: Fraction) -> list[int]:
        """The bad sets that can be had at p, those inside another one left out."""
        every = {self.statement(index, p)[1] for index in range(len(self.truths))}
        return [a for a in every if not any(a != b and a & b == a for b in every)]

    def _worst(self, left: int, K: Fraction, shares: tuple[Fraction, ...]) -> Fraction:
        """total times the most that can fail from here on, on the data sets that are left."""
        p, later = shares[0] / K, shares[1:]
        if not later:
            return Fraction(max(self.measure(left & bad) for bad in self.bad_sets(p)))
        best, most = Fraction(0), self.measure(left)
        for index, outcomes in self.orders:
            alpha, bad = self.statement(index, p)
            failing, good = Fraction(self.measure(left & bad)), left & ~bad
            for outcome in outcomes:
                if part := good & outcome.seen:
                    K_later = K * self.menu.kappa(outcome, alpha)
                    failing += outcome.likelihood * self.worst(part, K_later, later)
            best = max(best, failing)
            if best == most:
                break
        return best

    def failure(self, shares: tuple[Fraction, ...]) -> Fraction:
        """P[some concentration statement fails], at its largest."""
        return self.worst((1 << len(self.world.rows)) - 1, ONE, shares) / self.world.total


# --- The proof of the pudding ------------------------------------------------------------------


def _shares(*denominators: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(1, d) for d in denominators)


ASK = Menu((DiscreteUniform(4, 1), DiscreteUniform(2, 1)))
FINE = Menu((DiscreteUniform(4, 2),))
ROUND = Menu((DiscreteUniform(2, 0),))
CHECK = Menu((DiscreteUniform(3, 1),), checks=True)
MENUS = {"ask": ASK, "fine": FINE, "round": ROUND, "check": CHECK}

# Many spots for two rounds, few for three.
WORLDS = {
    "three fair coins": World(3, _bernoulli(Fraction(1, 2)), 8),
    "four fair coins": World(4, _bernoulli(Fraction(1, 2)), 16),
    "four coins of 1/3": World(4, _bernoulli(Fraction(1, 3)), 16),
    "five coins of 1/5": World(5, _bernoulli(Fraction(1, 5)), 11),
    "six coins of 1/10": World(6, _bernoulli(Fraction(1, 10)), 10),
    "six fair coins": World(6, _bernoulli(Fraction(1, 2)), 10),
    "four sticky coins": World(4, _markov(Fraction(3, 4)), 16),
    "five sticky coins": World(5, _markov(Fraction(9, 10)), 11),
    "four equal or fair": World(4, _equal_or_fair, 16),
}
SMALL_WORLDS = {
    "three fair coins": World(3, _bernoulli(Fraction(1, 2)), 8),
    "four coins of 1/3": World(4, _bernoulli(Fraction(1, 3)), 6),
    "four sticky coins": World(4, _markov(Fraction(3, 4)), 6),
    "five sticky coins": World(5, _markov(Fraction(9, 10)), 5),
    "four equal or fair": World(4, _equal_or_fair, 6),
}
SPLITS = [_shares(4, 4), _shares(16, 5), _shares(32, 8)]
LONGER_SPLITS = [_shares(4, 4, 4), _shares(64, 32, 8)]


def _log_bound(menu: Menu, shares: tuple[Fraction, ...], kind: str) -> float:
    """The library's bound on a path of equal outcomes, its charges and its p_j = beta_j/K_j."""
    alpha, release = Fraction(1, 4), menu.releases[0]
    charge = release.log_charge(float(alpha))
    if kind != "ask":
        eps = float(EPS)
        confirmed = kind == "confirmed"
        charge = confirmed_log_charge(eps) if confirmed else surprise_log_charge(eps, charge)
    kappa = menu.kappa(Outcome(0, ONE, release, kind), alpha)
    assert charge >= math.log(kappa)
    log_ps = [math.log(share / kappa**j) for j, share in enumerate(shares)]
    return leakage_log_failure([charge] * len(shares), log_ps)


def _failure_within_bound(analyst: Analyst, shares: tuple[Fraction, ...]) -> Fraction:
    failure = analyst.failure(shares)
    assert failure <= sum(shares)
    for kind in ("ask", "confirmed", "surprise"):
        bound = _log_bound(analyst.menu, shares, kind)
        assert bound == pytest.approx(math.log(sum(shares)), abs=1e-9)
        assert failure == 0 or math.log(failure) <= bound
    return failure


@pytest.mark.parametrize("menu", MENUS)
@pytest.mark.parametrize("world", WORLDS)
def test_no_analyst_of_two_questions_breaks_the_promise(world: str, menu: str) -> None:
    analyst = Analyst(WORLDS[world], MENUS[menu])
    failures = [_failure_within_bound(analyst, shares) for shares in SPLITS]
    assert any(failures), "a world in which nothing can fail shows nothing"


@pytest.mark.parametrize("menu", MENUS)
@pytest.mark.parametrize("world", SMALL_WORLDS)
def test_no_analyst_of_three_questions_breaks_the_promise(world: str, menu: str) -> None:
    analyst = Analyst(SMALL_WORLDS[world], MENUS[menu])
    failures = [_failure_within_bound(analyst, shares) for shares in LONGER_SPLITS]
    assert any(failures), "a world in which nothing can fail shows nothing"


def test_the_promise_is_used_up_in_some_world() -> None:
    """Theorem L is not loose: the best analyst attains the sum of the shares exactly."""
    for menu in (ASK, FINE, ROUND, CHECK):
        analyst, shares = Analyst(WORLDS["four fair coins"], menu), _shares(8, 8)
        assert _failure_within_bound(analyst, shares) == sum(shares)


def _breaks(world: World, menu: Menu, splits: list[tuple[Fraction, ...]]) -> bool:
    analyst = Analyst(world, menu)
    return any(analyst.failure(shares) > sum(shares) for shares in splits)


@pytest.mark.parametrize("menu", MENUS)
def test_sabotage_charging_nothing_breaks_the_promise(menu: str) -> None:
    forgetful = replace(MENUS[menu], forgets="everything")
    assert _breaks(WORLDS["four coins of 1/3"], forgetful, SPLITS)
    assert _breaks(SMALL_WORLDS["four sticky coins"], forgetful, LONGER_SPLITS)


def test_sabotage_not_charging_the_symbols_of_checks_breaks_the_promise() -> None:
    assert _breaks(WORLDS["four coins of 1/3"], replace(CHECK, forgets="symbols"), SPLITS)


@pytest.mark.parametrize("menu", ["ask", "check"])
def test_sabotage_half_of_the_noise_breaks_the_promise(menu: str) -> None:
    assert _breaks(WORLDS["four coins of 1/3"], replace(MENUS[menu], half_noise=True), SPLITS)


def test_an_interval_that_misses_belongs_to_a_failed_statement() -> None:
    """So the bound on statements is one on the intervals a +- (reach + alpha)."""
    world = WORLDS["four coins of 1/3"]
    for q, release in itertools.product(world.questions, (*ASK.releases, *FINE.releases)):
        theta = world.mean(q)
        for v, noise in itertools.product(set(q), range(-release.m, release.m + 1)):
            alpha = abs(v - theta)
            answer = release.answer(release.cell(v.numerator, v.denominator), noise)
            assert abs(answer - theta) <= release.reach + alpha
