"""Theorem C on worlds in which every question can be asked: exact counts, no randomness.

The sample is one of N data sets, all equally likely. Nothing else restricts what is asked: a claim
may be false and its test may confirm it on any data sets, as many as its level allows; a true claim
may be confirmed on any; a release may fail on any, as many as its level allows, and says of the
others in which of two parts they are, or in which cell, with noise. A search tells its winner, one
of three, of whom it claims something; last looks take all that is left, and close all else. So what
matters of a public history is how many data sets it leaves possible (all are equally likely again),
the leakage charged, the shares spent and the rounds left, and the best of all adaptive analysts is
found by backward induction.

She wants something that the ledger claims to be false. Whatever she does, she has it on at most
beta N data sets; and an account that forgets any one of its charges does not keep her there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations

import pytest

from holdfast.papers.theorems.other_accounts import discrete_uniform_log_charge
from holdfast.theory.leakage.claim_levels import (
    claim_log_level,
    log_left,
    parallel_log_levels,
    surprise_log_level,
)
from holdfast.theory.leakage.nats import confirmed_log_charge, surprise_log_charge
from holdfast.theory.length.levels import coexistence_log_charge

LAWS = ("claim_log_level", "parallel_log_levels", "surprise_log_level")

Count = int | Fraction
ONE = Fraction(1)


@dataclass(frozen=True)
class Rules:
    """N data sets, the ledger's beta, the public weights, and what may be done in a round.

    A release has noise of `reach` cells each way and can be in 2 `reach` + 2 cells: kappa = 2.
    A described answer is one of two symbols. `forgets` names the charge that is left out.
    """

    N: int
    beta: Fraction
    check: Fraction = Fraction(3, 4)  # the weight of a check's claim
    gate: Fraction = Fraction(1, 4)  # of a gate's
    share: Fraction = Fraction(1, 2)  # of beta, for an ask or an answered surprise
    reach: int = 0
    winners: tuple[Fraction, ...] = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))  # of a search
    moves: tuple[str, ...] = (
        *("check", "gate", "batch", "answered", "ask", "late", "described", "search", "final"),
    )
    every_split: bool = True
    forgets: str = ""

    @property
    def cells(self) -> int:
        return 2 * self.reach + 2

    @property
    def kappa(self) -> Fraction:
        return 1 + Fraction(self.cells - 1, 2 * self.reach + 1)

    def most(self, level: Fraction) -> int:
        """How many data sets an event of this level can have."""
        return math.floor(self.N * level)

    def charged(self, what: str, kappa: Fraction) -> Fraction:
        return ONE if self.forgets == what else kappa


@dataclass(frozen=True)
class Standing:
    """The public account: leakage and shares spent."""

    K: Fraction = ONE
    spent: Fraction = Fraction(0)

    def level(self, rules: Rules, weight: Fraction) -> Fraction:
        """Theorem C's: (beta - s) u/K."""
        left = rules.beta - (0 if rules.forgets == "spent" else self.spent)
        return left * (1 if rules.forgets == "weight" else weight) / self.K

    def after(self, kappa: Fraction, spent: Fraction = Fraction(0)) -> Standing:
        return Standing(self.K * kappa, self.spent + spent)


@dataclass(frozen=True)
class Option:
    """A move: how many data sets fail with its claim and with its release, and what follows.

    Without `claimed` the claim is false (or there is none): its symbol is a failure. `parts`: the
    other symbol says in which of two parts the sample is.
    """

    silent: int
    claimed: int | None = None
    failing: int = 0
    failing_later: int = 0
    parts: bool = False
    noisy: bool = False


class Analyst:
    """Backward induction: `worst(left, standing, rounds)` data sets at most will see a failure."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.numbers: dict[Standing, int] = {}  # numbers are quick to look up
        self.worst = functools.cache(self._worst)
        self.options = functools.cache(self._options)

    def failures(self, rounds: int) -> Count:
        return self.worst(self.rules.N, self._number(Standing()), rounds)

    def _number(self, standing: Standing) -> int:
        return self.numbers.setdefault(standing, len(self.numbers))

    def _worst(self, left: int, number: int, rounds: int) -> Count:
        if rounds == 0 or left == 0:
            return 0
        best: Count = 0
        for option in self.options(number):
            best = max(best, self._value(option, left, rounds - 1))
            if best == left:
                break
        return best

    def _value(self, option: Option, left: int, rounds: int) -> Count:
        """So many fail at once; the others are split between the branches as she likes best."""
        failing = min(left, option.failing)
        rest = left - failing
        if rounds == 0:
            return failing + min(rest, option.failing_later)
        return failing + max(
            self._branch(option.claimed, confirmed, rounds)
            + self._release(option, rest - confirmed, rounds)
            for confirmed in ((0,) if option.claimed is None else self._splits(rest))
        )

    def _release(self, option: Option, left: int, rounds: int) -> Count:
        """What the symbol that claims nothing leads to, with a release or without."""
        failing = min(left, option.failing_later)
        rest = left - failing
        if not option.parts:
            return failing + self._branch(option.silent, rest, rounds)
        whole = max(
            self._branch(option.silent, first, rounds)
            + self._branch(option.silent, rest - first, rounds)
            for first in self._splits(rest)
        )
        return failing + max(whole, self._noisy(option, rest, rounds) if option.noisy else 0)

    def _noisy(self, option: Option, left: int, rounds: int) -> Count:
        """Spread evenly over all cells: an answer leaves those within reach of it."""
        reach = self.rules.reach
        cells = [left // self.rules.cells] * self.rules.cells
        cells[0] += left - sum(cells)
        total: Count = 0
        for answer in range(-reach, len(cells) + reach):
            seen = sum(cells[max(0, answer - reach) : answer + reach + 1])
            total += self._branch(option.silent, seen, rounds)
        return Fraction(total) / (2 * reach + 1)

    def _branch(self, number: int | None, left: int, rounds: int) -> Count:
        return 0 if number is None else self.worst(left, number, rounds)

    def _splits(self, left: int) -> Iterable[int]:
        """All; or halves, which are as good where no level is as large as what is left."""
        return range(left + 1) if self.rules.every_split else (0, left // 2, left)

    def _options(self, number: int) -> list[Option]:
        return list(self._moves(list(self.numbers)[number]))

    def _moves(self, standing: Standing) -> Iterator[Option]:
        rules = self.rules
        share = rules.share * rules.beta
        affordable = standing.spent + share <= rules.beta
        for move in rules.moves:
            if move == "check":
                yield from self._claims(standing, rules.check, "silent surprise")
            elif move == "gate":
                yield from self._claims(standing, rules.gate, "not shown")
            elif move == "batch":
                yield self._batch(standing)
            elif move == "answered" and affordable:
                yield from self._answered(standing, share)
            elif move == "ask" and affordable:
                charge = rules.charged("ask", rules.kappa)
                yield self._released(share / standing.K, standing.after(charge, share))
            elif move == "late" and affordable:  # a dictionary is one event, opened in silence
                level = share / rules.charged("leakage before a dictionary", standing.K)
                after = standing.after(ONE, share)
                yield Option(self._number(after), failing_later=rules.most(level))
            elif move == "described":
                # What is outside the described event has failed in the other pot.
                after = standing.after(rules.charged("described", Fraction(2)))
                yield Option(silent=self._number(after), parts=True)
            elif move == "search":
                yield from self._searched(standing)
            elif move == "final":  # shown without noise, and nothing is left
                leaked = rules.charged("leakage before last looks", standing.K)
                level = standing.level(rules, ONE) * standing.K / leaked
                closed = self._number(replace(standing, spent=rules.beta))
                yield Option(closed, failing=rules.most(level))

    def _searched(self, standing: Standing) -> Iterator[Option]:
        """What is said of one winner is false, of the two others true; or of two, and of one."""
        rules = self.rules
        levels = [rules.most(standing.level(rules, weight)) for weight in rules.winners]
        after = [
            self._number(standing.after(rules.charged("winner", 1 / weight)))
            for weight in rules.winners
        ]
        for first, second, third in permutations(range(len(after))):
            yield Option(after[second], claimed=after[third], failing=levels[first])
            yield Option(after[third], failing=levels[first] + levels[second])

    def _claims(self, standing: Standing, weight: Fraction, symbol: str) -> Iterator[Option]:
        """A false claim, which fails where it is made, and a true one."""
        rules = self.rules
        silent = self._number(standing.after(rules.charged(symbol, 1 / (1 - weight))))
        claimed = self._number(standing.after(rules.charged("confirmation", 1 / weight)))
        yield Option(silent, failing=rules.most(standing.level(rules, weight)))
        yield Option(silent, claimed=claimed)

    def _batch(self, standing: Standing) -> Option:
        """Two false claims that are decided at once."""
        rules = self.rules
        level = standing.level(rules, rules.check)
        second = rules.charged("the check before it in the batch", 1 - rules.check)
        silent = self._number(standing.after((1 / (1 - rules.check)) ** 2))
        return Option(silent, failing=rules.most(level) + rules.most(level * second))

    def _answered(self, standing: Standing, share: Fraction) -> Iterator[Option]:
        """A check whose surprise is answered by a release, its claim false or true."""
        rules = self.rules
        eps = 1 - rules.check
        kappa = rules.charged("release", rules.kappa) * rules.charged("surprise", 1 / eps)
        level = share * rules.charged("surprise in the level", eps) / standing.K
        surprise = self._released(level, standing.after(kappa, share))
        yield replace(surprise, failing=rules.most(standing.level(rules, rules.check)))
        yield replace(surprise, claimed=self._number(standing.after(1 / rules.check)))

    def _released(self, level: Fraction, after: Standing) -> Option:
        return Option(
            self._number(after),
            failing_later=self.rules.most(level),
            parts=True,
            noisy=self.rules.reach > 0,
        )


# --- The promise, and each charge ----------------------------------------------------------------

# Every split of all data sets; and a level that is small against what is left.
WORLDS = {
    "large beta": Rules(96, Fraction(1, 3)),
    "noise": Rules(72, Fraction(1, 3), reach=1),
    "even weights": Rules(96, Fraction(1, 3), check=Fraction(1, 2), gate=Fraction(1, 3)),
    "small p": Rules(2**40, Fraction(1, 2**20), every_split=False),
    "small p, noise": Rules(2**40, Fraction(1, 2**20), reach=2, every_split=False),
}

# What is left out, and moves by which it is found out in three rounds.
CHARGES = {
    "confirmation": ("check",),
    "silent surprise": ("check",),
    "not shown": ("check", "gate"),
    "release": ("check", "answered"),
    "surprise": ("check", "answered"),
    "surprise in the level": ("check", "answered"),
    "ask": ("check", "ask"),
    "described": ("check", "described"),
    "leakage before a dictionary": ("check", "late"),
    "spent": ("check", "ask"),
    "weight": ("check",),
    "the check before it in the batch": ("batch",),
    "winner": ("check", "search"),
    "leakage before last looks": ("check", "final"),
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_no_analyst_has_more_false_claims_than_beta(world: str, rounds: int) -> None:
    rules = WORLDS[world]
    failures = Analyst(rules).failures(rounds)
    assert 0 < failures <= rules.beta * rules.N


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("charge", CHARGES)
def test_sabotage_each_charge_is_needed(world: str, charge: str) -> None:
    rules = replace(WORLDS[world], moves=CHARGES[charge])
    assert Analyst(rules).failures(3) <= rules.beta * rules.N
    assert Analyst(replace(rules, forgets=charge)).failures(3) > rules.beta * rules.N


@pytest.mark.parametrize("world", WORLDS)
def test_the_promise_is_used_up(world: str) -> None:
    """With every move open, three rounds are enough to fail on all of beta."""
    rules = WORLDS[world]
    assert Analyst(rules).failures(3) == rules.beta * rules.N


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_false_claims_alone_reach_what_the_prior_draws(rounds: int) -> None:
    """Nothing is left in the theorem: tests of size p reach beta (1 - prod(1 - u))."""
    rules = Rules(192, Fraction(1, 3), moves=("check",))
    reached = rules.beta * rules.N * (1 - (1 - rules.check) ** rounds)
    assert Analyst(rules).failures(rounds) == reached


# --- The library's arithmetic is that of the worlds ----------------------------------------------


def _log(exact: Fraction) -> float:
    return math.log(exact.numerator) - math.log(exact.denominator)


@pytest.mark.parametrize("world", WORLDS)
def test_the_librarys_levels_are_those_of_the_worlds(world: str) -> None:
    rules = WORLDS[world]
    share = rules.share * rules.beta
    for standing in (Standing(), Standing(Fraction(7, 2), share), Standing(Fraction(10**9))):
        nats = math.nextafter(_log(standing.K), math.inf)
        spent = _log(standing.spent) if standing.spent else -math.inf
        left = log_left(_log(rules.beta), spent)
        for weight in (rules.check, rules.gate):
            exact = _log(standing.level(rules, weight))
            level = claim_log_level(left, float(weight), nats)
            assert exact - 1e-12 < level <= exact
        eps = 1 - rules.check
        exact = _log(share * eps / standing.K)
        level = surprise_log_level(_log(share), float(eps), nats)
        assert exact - 1e-12 < level <= exact
        first, second = parallel_log_levels(left, nats, [float(rules.check)] * 2)
        exact = _log(standing.level(rules, rules.check))
        assert exact - 1e-12 < first <= exact
        assert exact + _log(eps) - 1e-12 < second <= exact + _log(eps)


@pytest.mark.parametrize("world", WORLDS)
def test_the_librarys_charges_are_those_of_the_worlds(world: str) -> None:
    rules = WORLDS[world]
    eps = float(1 - rules.check)
    # A radius of so many cells of pitch 1 to each side.
    release = discrete_uniform_log_charge((2 * rules.reach + 1) / 2, 1, rules.reach)
    assert release == pytest.approx(_log(rules.kappa))
    assert confirmed_log_charge(eps) == pytest.approx(-_log(rules.check))
    assert surprise_log_charge(eps, 0.0) == pytest.approx(-_log(1 - rules.check))
    assert surprise_log_charge(eps, release) == pytest.approx(_log(rules.kappa / (1 - rules.check)))
    assert confirmed_log_charge(float(rules.gate)) == pytest.approx(-_log(1 - rules.gate))
    assert coexistence_log_charge(2) == pytest.approx(math.log(2))
