"""Mechanism: offer, respond, settle, advance. All but `respond` see only what is public.

All numbers here are fractions of the question's range: 0 is its lower bound, 1 its upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Protocol

from holdfast.data.sample import Sample
from holdfast.mechanisms.noise import Grid, Noise
from holdfast.mechanisms.terms import WHOLE_RANGE, Account, PartStages, Terms
from holdfast.statistics.entry import Bound
from holdfast.statistics.grid_rules import LogGridded
from holdfast.statistics.mean import KnownVariance
from holdfast.statistics.rule import Rule
from holdfast.statistics.statistic import Statistic, is_unbounded
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below
from holdfast.theory.leakage.claim_levels import likely_half_width, rows_of_reach
from holdfast.theory.leakage.forecasts import DevResult, Forecast

# "no promise" is the status of what baselines show; its interval is the whole range.
Status = Literal[
    "answered",
    "confirmed",
    "not confirmed",
    "shown",
    "not shown",
    "no promise",
    "says nothing",
]
# What may cross the door: which of two things became of a claim, the number of a cell on the public
# grid, or the few numbers of a described answer.
Symbol = int | Status | tuple[int, ...]
CONFIRMED: Literal["confirmed"] = "confirmed"
Claim = tuple[float, float]


class Refuted(NamedTuple):
    """A claim that was not confirmed: its look, and how far from the sample its test may reach.

    So the sample's value is within the `radius` of an end of the claim, or outside it; None: who
    knows.
    """

    look: int
    claim: Claim
    radius: float | None

    @classmethod
    def read(cls, look: int, claim: Sequence[float], radius: float | None) -> Refuted:
        """Refuted claim read from a ledger."""
        low, high = claim
        return cls(look, (low, high), radius)


class TrainedMean(NamedTuple):
    """What training rows say of the mean that a check is about, as fractions of its range."""

    mean: float
    variance: float
    rows: int


@dataclass(frozen=True, slots=True)
class ForecastGrounds:
    """Grounds of a claim's forecast: development or training rows, a stated number, or none yet.

    Counts are those of a gate, on the side of the claim: `better` rows speak for it, beyond its
    margin. `entered` is the forecast that was made of them, once there is one: all of it is public
    before data are touched.
    """

    dev: DevResult | None = None
    stated: float | None = None
    entered: Forecast | None = None
    trained: TrainedMean | None = None

    def entering(self, forecast: Forecast) -> ForecastGrounds:
        """The grounds with what was made of them."""
        return replace(self, entered=forecast)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for an offer."""
        dev, entered = self.dev, self.entered
        return {
            "dev": None if dev is None else [dev.better, dev.worse, dev.rows],
            "stated": self.stated,
            "members": None if entered is None else list(entered.members),
            "weight": None if entered is None else entered.weight,
            **({} if self.trained is None else {"trained": list(self.trained)}),
        }

    @classmethod
    def of_offer(cls, offer: Offer) -> ForecastGrounds | None:
        """The grounds that an offer has; None for one without a forecast."""
        body = (offer.extra or {}).get("forecast")
        if body is None:
            return None
        dev = None if body["dev"] is None else DevResult(*body["dev"])
        trained = TrainedMean(*body["trained"]) if "trained" in body else None
        entered = Forecast(body["weight"], tuple(body["members"]))
        return cls(dev, body["stated"], entered, trained)


class LikelyWidth(NamedTuple):
    """Public numbers by which the half-width of a check was chosen, where none was named.

    The guess is taken to be as good as the mean of so many other `rows`, of this `variance`, and
    the check to be decided on `n` rows at level e^`log_p`, by bets or not. The `tolerance` is the
    narrowest that is likely to be confirmed, at most that of the ledger.
    """

    tolerance: float
    n: int
    rows: int
    variance: float
    log_p: float
    by_bets: bool

    @classmethod
    def chosen(
        cls, most: float, n: int, rows: int, variance: float, log_p: float, by_bets: bool
    ) -> LikelyWidth:
        """The choice, by these numbers."""
        likely = likely_half_width(n, variance, rows, log_p, by_bets=by_bets)
        return cls(min(most, likely), n, rows, variance, log_p, by_bets)

    @classmethod
    def by_reach(cls, n: int, m: int, reach: float, log_p: float) -> LikelyWidth:
        """The choice for n rows, where an interval at this level reaches so far on m others."""
        rows, variance, others = rows_of_reach(n, m, reach, log_p)
        return cls.chosen(WHOLE_RANGE, rows, others, variance, log_p, by_bets=False)

    def again(self, most: float) -> LikelyWidth:
        """The choice, made again."""
        return self.chosen(most, self.n, self.rows, self.variance, self.log_p, self.by_bets)


@dataclass(frozen=True, slots=True)
class Wish:
    """Wish of the analyst: a statistic, the half-width, and for a check what is claimed of it.

    A known `variance` may narrow the radius; with `narrow` the half-width shrinks with it, at the
    same cost. `stated` tells that the claim is the analyst's own, and not a way to ask, which has
    to be answered; `gated`, that it is to be shown. A wish that `follows` a claim that was not
    confirmed asks what is true instead. `moment` is a public guess of the second moment of what a
    claim is about, in units where its range is [-1, 1]; `forecast` what its forecast rests on, and
    `graded` that a gate is told with its grade. `keyless` tells that the question reads nothing
    that was made for single keys, so that the ledger's key does not make rows unlike. `vector` is
    the text of the vector that it is a coordinate of: its coordinates are one question.
    """

    question: Statistic
    tolerance: float
    claim: Claim | None = None
    guess: float | None = None
    variance: KnownVariance | None = None
    narrow: bool = False
    stated: bool = False
    gated: bool = False
    follows: Refuted | None = None
    moment: float | None = None
    keyless: bool = False
    forecast: ForecastGrounds | None = None
    graded: bool = False
    vector: str | None = None

    def of_alike_rows(self, terms: Terms) -> bool:
        """Whether the rows are alike for its question."""
        return terms.alike_for(keyless=self.keyless)

    def at_tolerance(self, tolerance: float) -> Wish:
        """The same wish with another half-width."""
        return replace(self, tolerance=tolerance)


def about(question: Statistic, tolerance: float, guess: float) -> Wish:
    """The wish to check that a statistic is within the tolerance of a guess."""
    return Wish(question, tolerance, (guess - tolerance, guess + tolerance), guess)


@dataclass(frozen=True, slots=True)
class Offer:
    """Offer: everything public about a question before its answer; it reserves the worst charge.

    `tolerance` is the half-width, None where nothing is promised, and `log_share` ln of the part of
    the failure probability that it takes. `log_p` is the level of a concentration statement about
    the sample and `radius` what follows; None where none is made. `claim` is the interval of a
    check or a gate, None for an ask; `prior` the public weight of the symbol that is not expected
    of it. `profile` is the concentration of the statistic where it is not that of a mean of all
    rows, `variance` the bound that narrowed the radius. `bits` is the length of a described
    question, which takes no share. `extra` holds plain values that only the mechanism itself reads.
    """

    number: int
    question: str
    tolerance: float | None
    grid: Grid | None
    worst_charge: float
    log_share: float | None = None
    log_p: float | None = None
    radius: float | None = None
    claim: Claim | None = None
    guess: float | None = None
    prior: float | None = None
    profile: dict[str, Any] | None = None
    variance: KnownVariance | None = None
    bits: float | None = None
    extra: dict[str, Any] | None = None

    @property
    def own_grid(self) -> Grid:
        """The grid that its symbol is a cell of."""
        if self.grid is None:
            raise TypeError(f"the answer to question {self.number} is no cell of a grid")
        return self.grid

    @property
    def statement(self) -> tuple[float, float]:
        """Level and radius of what it says about the sample."""
        if self.log_p is None or self.radius is None:
            raise TypeError(f"the offer of question {self.number} says nothing about the sample")
        return self.log_p, self.radius

    @property
    def coordinate(self) -> int | None:
        """Its place among the coordinates of one vector that are asked together, from 1."""
        return (self.extra or {}).get("coordinate")

    @property
    def counts(self) -> bool:
        """Whether it is a question of its own: of the coordinates of one vector the first is."""
        return self.coordinate in (None, 1)

    @property
    def forecast(self) -> tuple[float, float] | None:
        """How likely the claim was said to be, and its level; None for one without a forecast."""
        entered = (self.extra or {}).get("forecast")
        if entered is None or self.log_p is None:
            return None
        return entered["weight"], math.exp(self.log_p)

    def to_dict(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__slots__}
        for name in ("grid", "variance"):
            if plain[name] is not None:
                plain[name] = asdict(plain[name])
        return plain

    @classmethod
    def from_dict(cls, body: dict[str, Any]) -> Offer:
        grid, claim, variance = body["grid"], body["claim"], body["variance"]
        for name in ("profile", "extra"):
            if not isinstance(body[name], dict | None):
                raise TypeError(f"{name} of an offer is {body[name]!r}, not named values")
        return cls(
            **{
                **body,
                "grid": None if grid is None else Grid(**grid),
                "claim": None if claim is None else (claim[0], claim[1]),
                "variance": None if variance is None else KnownVariance(**variance),
            }
        )


@dataclass(frozen=True, slots=True)
class Release:
    """Release that the analyst gets: a function of the offer and the symbol alone.

    `value` is None where nothing is said. `rows` are, for a described answer, the least and the
    greatest number of rows that it may be about, and `missing` of those left out of them. `member`
    is the candidate of a search that the symbol names. `adjusted` is the adjusted p of a gate that
    was shown with a grade: the largest so far.
    """

    number: int
    status: Status
    value: float | None
    interval: Interval
    charge: float
    rows: tuple[int, int] | None = None
    missing: tuple[int, int] = (0, 0)
    member: str | None = None
    adjusted: float | None = None

    @property
    def told(self) -> float:
        """The value of an answer that has one."""
        if self.value is None:
            raise TypeError(f"the answer to question {self.number} says nothing")
        return self.value


class Mechanism(Protocol):
    """A way to answer, as a frozen value. A batch shares one account and one scan."""

    @property
    def name(self) -> str:
        """Name in the ledger; its meaning never changes."""
        ...

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        """The public terms of answering, or a refusal."""
        ...

    def respond(
        self,
        terms: Terms,
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        """The one door: one symbol of the offer's public alphabet for each question."""
        ...

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        """The answers that the symbols of a batch stand for."""
        ...

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        """The account after a batch."""
        ...

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        """How many more questions with these parts can surely be answered at the declared
        tolerance; without any, means of all rows."""
        ...


class Checker(Mechanism, Protocol):
    """A mechanism that checks guesses."""

    def surprises_left(self, terms: Terms, account: Account, profile: Concentration) -> int:
        """How many guesses in a row, about questions of this concentration, may be refuted before
        the tolerance is out of reach."""
        ...


# The answer that a symbol stands for: a value on the offer's grid, with the interval around it.


def charged(account: Account, offers: Sequence[Offer], charges: Sequence[float]) -> Account:
    """Account after a batch: all its questions are asked on one account, then all are charged.

    A described question or a claim takes no share and is none of the number declared. Coordinates
    of one vector divide the share of one question.
    """
    leakage, described, claims = account.leakage, account.described, account.claims
    for offer in offers:
        if offer.bits is not None:
            described += 1
        elif offer.prior is not None:
            claims += 1
        elif offer.counts:
            leakage = leakage.ask(offer.log_share)
        elif offer.log_share is not None:
            leakage = leakage.take(offer.log_share)
    for charge in charges:
        if charge > 0.0:  # nothing is added exactly
            leakage = leakage.charge(charge)
    after = replace(account, leakage=leakage, described=described, claims=claims)
    return after.after_coordinates(sum(not offer.counts for offer in offers))


class Uncounted:
    """Mechanism whose answers are none of the number that was declared; each is charged."""

    __slots__ = ()

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return charged(account, offers, [release.charge for release in releases])

    def questions_left(
        self,
        terms: Terms,  # noqa: ARG002
        account: Account,  # noqa: ARG002
        stages: PartStages = (),  # noqa: ARG002
    ) -> int:
        """Any number; what is counted elsewhere are the others."""
        return 0


def each_settled(
    release: Callable[[Offer, Symbol], Release], offers: Sequence[Offer], symbols: Sequence[Symbol]
) -> list[Release]:
    """The answers of a batch, where each symbol stands for itself."""
    return [release(offer, symbol) for offer, symbol in zip(offers, symbols, strict=True)]


def cell_of(offer: Offer, symbol: Symbol) -> int:
    """A symbol that is the number of a cell, in the noise's reach of those of the range."""
    if not isinstance(symbol, int):
        raise TypeError(f"a release needs a cell, not {symbol!r}")
    reach = offer.own_grid.reach
    if reach is not None and not -reach <= symbol <= offer.own_grid.last + reach:
        raise ValueError(
            f"cell {symbol} is outside the alphabet from {-reach} to {offer.own_grid.last + reach}"
        )
    return symbol


def value_of(offer: Offer, symbol: Symbol) -> float:
    """The double nearest to what a cell stands for, inside the range."""
    return min(1.0, max(0.0, float(offer.own_grid.place(cell_of(offer, symbol)))))


def released(offer: Offer, symbol: Symbol, status: Status, charge: float) -> Release:
    """The answer +- tolerance, inside the range, rounded outwards."""
    if offer.tolerance is None:
        raise TypeError(f"the offer of question {offer.number} promises no half-width")
    answer, tolerance = offer.own_grid.place(cell_of(offer, symbol)), Fraction(offer.tolerance)
    low = max(0.0, math.nextafter(float(answer - tolerance), -math.inf))
    high = min(1.0, math.nextafter(float(answer + tolerance), math.inf))
    interval = Interval(min(low, 1.0), max(high, 0.0))
    return Release(offer.number, status, value_of(offer, symbol), interval, charge)


# What an answer reveals of the sample, in public: an interval that surely holds its value.
#
# A release is within the noise's reach D of the sample's value q. A claim [low, high] that is
# made puts q inside it, for the test's interval holds q and lies inside the claim. Of one that is
# not made the interval, which reaches no further than alpha from q, was not inside it: q < low +
# alpha or q > high - alpha. That tells something together with the answer that follows.


def revealed(offer: Offer, release: Release, refuted: Refuted | None = None) -> Interval:
    """Interval of the sample's value, as a fraction of the range; all of it if nothing is said."""
    if offer.claim is not None and release.value is not None:
        low, high = offer.claim
        return Interval(max(0.0, low), min(1.0, high))
    if offer.grid is None or offer.grid.reach is None or release.status != "answered":
        return Interval(0.0, 1.0)
    reach = float(Fraction(2 * offer.grid.reach + 1, 2) / Fraction(offer.grid.cells))
    near = Interval(max(0.0, release.told - reach), min(1.0, release.told + reach))
    if refuted is None or refuted.radius is None:
        return near
    return _outside(near, refuted.claim, refuted.radius)


def _outside(near: Interval, claim: Claim, radius: float) -> Interval:
    """The part of `near` from where the claim can have been refuted; its ends at 0 and 1 cannot."""
    sides = []
    if claim[0] > 0.0:
        sides.append(Interval(near.low, min(near.high, claim[0] + radius)))
    if claim[1] < 1.0:
        sides.append(Interval(max(near.low, claim[1] - radius), near.high))
    possible = [side for side in sides if side.low <= side.high]
    if not possible:
        return near
    return Interval(min(side.low for side in possible), max(side.high for side in possible))


# The walk of a batch, written once: offer, respond, settle, advance.
#
# A ledger writes between the steps: the offers before data is touched, the answers after; its
# account is folded from what it wrote. Without a ledger, as in the laboratory, `walk` takes all
# of them.


class Answered(NamedTuple):
    """Symbols that came through the door, and the answers they stand for."""

    symbols: list[Symbol]
    releases: list[Release]


class Walked(NamedTuple):
    """A batch that was answered, and the account after it."""

    offers: list[Offer]
    releases: list[Release]
    account: Account


def answer(
    mechanism: Mechanism,
    terms: Terms,
    offers: Sequence[Offer],
    questions: Sequence[Statistic],
    sample: Sample,
    noise: Callable[[int], Noise],
) -> Answered:
    """The answers to offers that were made: the one place where a mechanism meets the sample."""
    symbols = mechanism.respond(terms, offers, questions, sample, noise)
    return Answered(symbols, mechanism.settle(offers, symbols))


def walk(
    mechanism: Mechanism,
    terms: Terms,
    account: Account,
    wishes: Sequence[Wish],
    sample: Sample,
    noise: Callable[[int], Noise],
) -> Walked:
    """Wishes answered on an account, or refused with nothing computed."""
    offers = mechanism.offer(terms, account, wishes)
    questions = [wish.question for wish in wishes]
    _, releases = answer(mechanism, terms, offers, questions, sample, noise)
    return Walked(offers, releases, mechanism.advance(account, offers, releases))


# Limits of intervals: ranges, claims, ends of grids; and equality up to rounding.


ROUNDED_ENDS = 2.0**-48  # of a range: what a few roundings come to


def lies_in(interval: Interval, claim: tuple[float, float], limits: Interval) -> bool:
    """Whether a part of a range is within a claim; the ends of the range bind nothing.

    The interval was rounded outwards in its own unit, where `limits` is its range, and no more is
    forgiven: without a range it is a tiny part of that of its grid.
    """
    low, high = claim
    width, largest = limits.high - limits.low, max(map(abs, limits))
    rounded = ROUNDED_ENDS + (4 * math.ulp(largest) / width if width else 0.0)
    above = low <= 0.0 or interval.low >= low - rounded
    return above and (high >= 1.0 or interval.high <= high + rounded)


def stated_range(question: Bound) -> tuple[float, float, bool]:
    """Its least and greatest value, and whether these are only the ends of a grid."""
    return question.low, question.high, is_unbounded(question)


def open_ended(interval: Interval, low: float, high: float) -> Interval:
    """The interval of a question without a range: at an end of its grid nothing bounds it."""
    return Interval(
        -math.inf if interval.low <= low else interval.low,
        math.inf if interval.high >= high else interval.high,
    )


def interval_between(low: float | None, high: float | None) -> Interval:
    """The interval with these ends, as `plain_interval` says them."""
    return Interval(-math.inf if low is None else low, math.inf if high is None else high)


def plain_interval(interval: Interval) -> dict[str, float | None]:
    """Both ends as JSON can have them: None where nothing bounds it."""
    return {
        name: end if math.isfinite(end) else None
        for name, end in zip(("low", "high"), interval, strict=True)
    }


# Fractions of a range, as offers and symbols have them, in the question's own unit.


_FRACTIONS = (0.0, 1.0)  # the range of a question whose unit is the fraction itself


def in_unit(fraction: float, low: float, high: float) -> float:
    """A fraction of the range [low, high] in the question's own unit, correctly rounded."""
    part = _in_range(fraction)
    return part if (low, high) == _FRACTIONS else float(_exactly(part, low, high))


def _in_range(fraction: float) -> float:
    return min(1.0, max(0.0, fraction))


def _exactly(part: float, low: float, high: float) -> Fraction:
    return Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(part)


def in_unit_outwards(interval: Interval, low: float, high: float) -> Interval:
    """The interval in the question's own unit, rounded outwards but not beyond the range."""
    first, last = map(_in_range, interval)
    if (low, high) == _FRACTIONS:
        return Interval(first, last)
    return Interval(float_below(_exactly(first, low, high)), float_above(_exactly(last, low, high)))


def value_told(part: float | None, limits: Interval, rule: Rule | None) -> float | None:
    """What a rule tells, if it tells anything, in the question's own unit."""
    if part is None:
        return None
    return rule.in_unit(part) if isinstance(rule, LogGridded) else in_unit(part, *limits)


def interval_told(
    parts: Interval, limits: Interval, rule: Rule | None, *, unbounded: bool
) -> Interval:
    """The interval of a question in its own unit; without a range, open where its grid ends."""
    if isinstance(rule, LogGridded):
        inside = rule.in_unit_outwards(parts)
    else:
        inside = in_unit_outwards(parts, *limits)
    return open_ended(inside, *limits) if unbounded else inside


class OwnUnit(NamedTuple):
    """An answer as the ledger tells it: a fraction of the range is only what it `revealed`."""

    value: float | None
    interval: Interval
    guess: float | None
    revealed: Interval
    forecast: tuple[float, float] | None


def in_own_unit(
    offer: Offer,
    release: Release,
    limits: Interval,
    rule: Rule | None,
    *,
    unbounded: bool,
    refuted: Refuted | None,
) -> OwnUnit:
    """The answer to an offer in the question's own unit, whose range is `limits`."""
    return OwnUnit(
        value_told(release.value, limits, rule),
        interval_told(release.interval, limits, rule, unbounded=unbounded),
        None if offer.guess is None else in_unit(offer.guess, *limits),
        revealed(offer, release, refuted),
        offer.forecast,
    )


# What was computed here and what was computed elsewhere: equal, but for the last digits.


# Numbers that were computed on another machine agree far better than this.
CLOSE = 1e-9


def alike(first: Any, second: Any) -> bool:
    """Equal; numbers, as nearly as machines compute them."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(
            alike(first[name], second[name]) for name in first
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=CLOSE, abs_tol=CLOSE**2)
    return bool(first == second)
