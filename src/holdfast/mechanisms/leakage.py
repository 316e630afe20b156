"""Answers on the leakage account (Theorem L), with noise of any law.

The level of a question is its share of the failure probability lowered by what has leaked before
it, and its own answer is charged when it is out. The sample's value is within the radius of the
truth unless that level is used up, and the answer within the noise of the sample's value: surely,
if the noise is bounded; else half of the level is for the tail of the noise. Everything follows
from the concentration of the question, so rows may depend on each other.

Without a `Calibration` the noise of each question is what its half-width leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted, Refused, Shortfall, ToleranceTooTight
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.calibration import Calibration
from holdfast.mechanisms.jointly import joint_log_charge, shape_of
from holdfast.mechanisms.laws.law import Grid, Law, grid_within
from holdfast.mechanisms.laws.uniform import NO_NOISE, UNIFORM
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.profile import OnGrid, profile_of, radius_of, recorded_profile
from holdfast.mechanisms.release import each_settled, released
from holdfast.mechanisms.room import (
    declared_left,
    log_share_of,
    require_room,
    shown_widths,
    too_tight,
)
from holdfast.mechanisms.row_shifts import remembering_shifts
from holdfast.mechanisms.stable_steps import remembering_steps
from holdfast.mechanisms.terms import Terms
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.measuring import measure
from holdfast.statistics.statistic import Measured, Statistic
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.public_variance import same_cost_tolerance
from holdfast.theory.base.safeside import log_add, round_down, round_up
from holdfast.theory.leakage.how_many import most_asks, most_roundings
from holdfast.theory.leakage.release import discrete_uniform_for
from holdfast.wording import plural

__all__ = [
    "Leakage",
    "after_noise",
    "as_one_vector",
    "asks_left",
    "charged",
    "half_width_on",
    "noisy_cell",
    "noisy_cells",
    "plain_offer",
    "tail_part",
]

_Most = Callable[[Concentration, float, Callable[[int], float], float, int], int]

_MOST_COUNTED = 5_000
# How many questions of equal half-width fit, by laws for which theory counts them.
_MOST: Mapping[Law, _Most] = {UNIFORM: most_asks, NO_NOISE: most_roundings}


@dataclass(frozen=True, slots=True)
class Leakage:
    """Answers without a guess, under one law of noise."""

    name: str
    law: Law
    calibration: Calibration | None = None

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        apart = [
            self._offer(terms, account, wish, position)
            for position, wish in enumerate(wishes, start=1)
        ]
        if self.calibration is not None or not terms.independent:
            return apart
        return _cheaper(apart, as_one_vector(self.law, terms, account, wishes, apart))

    def _offer(self, terms: Terms, account: Account, wish: Wish, position: int) -> Offer:
        plain = plain_offer(terms, account, wish, position, self.law, 1 - tail_part(self.law))
        if self.calibration is None:
            return plain
        profile = wish.question.concentration(terms.rows, terms.sampling)
        grid = self.calibration.grid(profile, wish.question.error)
        if grid is None:
            (t,), of = shown_widths(wish.question, wish.tolerance)
            raise ToleranceTooTight(
                f"requested half-width {t:.6g}{of}; eta="
                f"{self.calibration.eta:g} needs noise beyond the whole range here. Open a ledger "
                "with a larger eta, or none."
            )
        _, radius = plain.statement
        tolerance = half_width_on(self.law, grid, radius, log_share_of(terms, account, position))
        if tolerance > wish.tolerance:
            (t, needed), of = shown_widths(wish.question, wish.tolerance, tolerance)
            raise ToleranceTooTight(
                f"requested half-width {t:.6g}{of}; eta="
                f"{self.calibration.eta:g} and what has leaked need {needed:.6g}, so "
                f"{needed - t:.3g} are missing. Ask with a larger tolerance=, or "
                "open a ledger with a larger eta.",
                Shortfall("half-width", t, needed),
            )
        charge = self.law.log_charge(radius, grid)
        return replace(plain, tolerance=tolerance, grid=grid, worst_charge=charge)

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        return noisy_cells(self.law, offers, questions, sample, noise)

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._told, offers, symbols)

    def _told(self, offer: Offer, symbol: Symbol) -> Release:
        return released(offer, symbol, "answered", offer.worst_charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return after_noise(account, offers, releases)

    def questions_left(self, terms: Terms, account: Account) -> int:
        return self.questions_like(terms.concentration, terms, account)

    def questions_like(self, profile: Concentration, terms: Terms, account: Account) -> int:
        """How many more questions of such a concentration can surely be asked."""
        if self.law in _MOST:
            return asks_left(terms, account, self.law, profile)
        return self._affordable(profile, terms, account)

    def _affordable(self, profile: Concentration, terms: Terms, account: Account) -> int:
        """How many more questions, at least; the grid's cost rounded up."""
        t, nats = terms.half_width, account.nats
        most, scale = min(declared_left(terms, account), _MOST_COUNTED), self.law.resolution
        fixed = None if self.calibration is None else self.calibration.grid(profile, GRID_ERROR)
        if self.calibration is not None and fixed is None:
            return 0
        for count in range(most):
            log_part = log_share_of(terms, account, count + 1) + math.log(0.5)
            radius = round_up(profile.radius(min(0.0, log_part - nats)) + GRID_ERROR)
            error = self.law.error(scale, log_part) + 1
            if radius + (0.0 if fixed is None else error / fixed.cells) >= t:
                return count
            grid = fixed or Grid(math.ceil(error / (t - radius)) + 1, scale, None)
            nats += self.law.log_charge(radius, grid)
        return max(0, most)


def as_one_vector(
    law: Law, terms: Terms, account: Account, wishes: Sequence[Wish], apart: Sequence[Offer]
) -> list[Offer]:
    """The batch as one release of a vector, at the same half-widths; none where it is none.

    Half of all their levels together is, in equal parts, for the coordinates as if by themselves,
    half for the ball that the sample's vector is in, by which the whole is charged.
    """
    shape, tolerance = shape_of([wish.question for wish in wishes]), apart[0].tolerance
    uneven = any(offer.variance or offer.tolerance != tolerance for offer in apart)
    if shape is None or tolerance is None or uneven:
        return []
    d, log_half = shape.dimension, math.log((1 - tail_part(law)) / 2)
    log_all = log_add(*(log_share_of(terms, account, place) for place in range(1, d + 1)))
    log_ball = round_down(log_all + log_half - account.nats)
    log_p, log_tail = round_down(log_ball - math.log(d)), round_down(log_all - math.log(2 * d))
    radius = max(_radius(terms, wish, log_p) for wish in wishes)
    if radius >= tolerance:
        return []
    grid = grid_within(law, Fraction(tolerance) - Fraction(radius), log_tail)
    ball = shape.radius(terms.rows, log_ball)
    charge = joint_log_charge(law, d, ball, grid)
    if charge is None:
        return []
    each, extra = round_up(charge / d), {"vector": d, "log_p": log_ball, "radius": ball}
    return [
        replace(offer, grid=grid, worst_charge=each, log_p=log_p, radius=radius, extra=extra)
        for offer in apart
    ]


def _radius(terms: Terms, wish: Wish, log_p: float) -> float:
    """How far from the truth the sample may be at this level."""
    profile = profile_of(wish.question, terms, alike=wish.of_alike_rows(terms))
    return round_up(profile.radius(min(0.0, log_p)) + wish.question.error)


def _cheaper(apart: list[Offer], together: list[Offer]) -> list[Offer]:
    """Whichever offers of the same batch leak less, at most."""
    costs = [sum(offer.worst_charge for offer in offers) for offers in (apart, together)]
    return together if together and costs[1] < costs[0] else apart


def tail_part(law: Law) -> float:
    """The part of a question's level that is for the tail of the noise."""
    return 0.5 if law.reach(law.resolution) is None else 0.0


def half_width_on(law: Law, grid: Grid, radius: float, log_share: float) -> float:
    """How far from the truth an answer on this grid may be: radius, rounding and noise."""
    error = Fraction(law.error(grid.scale, log_share + math.log(0.5))) + Fraction(1, 2)
    return round_up(float(Fraction(radius) + error / Fraction(grid.cells)))


def noisy_cell(law: Law, offer: Offer, measured: Measured, noise: Noise) -> int:
    """The symbol of a release: the sample's cell plus noise, both whole numbers."""
    cell = offer.own_grid.cell(measured.numerator, measured.denominator)
    return cell + law.draw(noise, offer.own_grid.scale)


def noisy_cells(
    law: Law,
    offers: Sequence[Offer],
    questions: Sequence[Statistic],
    sample: Sample,
    noise: Callable[[int], Noise],
) -> list[Symbol]:
    """The symbols of a batch without a guess: one scan, and noise of its own for each question."""
    return [
        noisy_cell(law, offer, measured, noise(offer.number))
        for offer, measured in zip(offers, measure(sample, questions), strict=True)
    ]


def plain_offer(
    terms: Terms,
    account: Account,
    wish: Wish,
    position: int,
    law: Law = UNIFORM,
    level: float = 1.0,
    narrowed_level: float | None = None,
) -> Offer:
    """The offer for the question `position` places after the account, or a refusal.

    `level` is the part of the question's failure probability that the radius may use,
    `narrowed_level` (default: the same) the part that it may use if a known variance narrows it.
    """
    number = account.looks + position
    log_share = log_share_of(terms, account, position)
    log_p, log_narrowed = (
        round_down(log_share - account.nats + math.log(part))
        for part in (level, narrowed_level or level)
    )
    profile = profile_of(wish.question, terms, alike=wish.of_alike_rows(terms))
    error = wish.question.error
    radius = wide = round_up(profile.radius(min(0.0, log_p)) + error)
    variance = None
    if wish.variance is not None and terms.independent:
        narrow = round_up(radius_of(profile, wish.variance, terms.rows, log_narrowed) + error)
        if narrow < wide:
            radius, log_p, variance = narrow, log_narrowed, wish.variance
        if wish.narrow and radius < wide < wish.tolerance:
            wish = wish.at_tolerance(_no_dearer(wish.tolerance, wide, radius))
    if radius >= wish.tolerance:
        raise _too_wide(terms, account, wish, radius)
    room = Fraction(wish.tolerance) - Fraction(radius)
    grid = grid_within(law, room, log_share + math.log(0.5))
    return Offer(
        number=number,
        question=wish.question.text,
        tolerance=wish.tolerance,
        grid=grid,
        worst_charge=law.log_charge(radius, grid),
        log_share=log_share,
        log_p=log_p,
        radius=radius,
        claim=wish.claim,
        guess=wish.guess,
        profile=recorded_profile(profile, terms, wish.question),
        variance=variance,
    )


def _no_dearer(tolerance: float, radius: float, narrow_radius: float) -> float:
    """The half-width of a smaller radius at the same price, the grid's roundings counted."""
    on_grid = discrete_uniform_for(tolerance, radius).narrowed(radius, narrow_radius)
    return max(on_grid, same_cost_tolerance(tolerance, radius, narrow_radius))


def _too_wide(terms: Terms, account: Account, wish: Wish, alpha: float) -> Refused:
    if account.nats == 0.0:
        return too_tight(wish.tolerance, alpha, wish.question)
    (tolerance, radius), of = shown_widths(wish.question, wish.tolerance, alpha)
    described, instead = "", ""
    if account.described:
        described = f" and {plural(account.described, 'described one')}"
        if terms.described == "exact":
            instead = " A ledger opened with described='rounded' keeps more for such questions."
    return BudgetExhausted(
        f"requested half-width {tolerance:.6g}{of}; after "
        f"{plural(account.asked, 'question')}{described} "
        f"({account.nats:.4g} nats) the sample may be off by {radius:.6g}, so "
        f"{radius - tolerance:.3g} are missing. Ask with a larger tolerance=, repeat earlier "
        f"questions for free, or use fresh rows in a new ledger.{instead}",
        Shortfall("half-width", tolerance, radius),
    )


def charged(account: Account, offers: Sequence[Offer], charges: Sequence[float]) -> Account:
    """All questions of a batch are asked on one account, then all are charged.

    A described question or a claim takes no share and is none of the number declared.
    """
    leakage, described, claims = account.leakage, account.described, account.claims
    for offer in offers:
        if offer.bits is not None:
            described += 1
        elif offer.prior is not None:
            claims += 1
        else:
            leakage = leakage.ask(offer.log_share)
    for charge in charges:
        if charge > 0.0:  # nothing is added exactly
            leakage = leakage.charge(charge)
    return replace(account, leakage=leakage, described=described, claims=claims)


def after_noise(account: Account, offers: Sequence[Offer], releases: Sequence[Release]) -> Account:
    """The account after noisy answers: charged, and remembering how stable they were."""
    paid = charged(account, offers, [release.charge for release in releases])
    return remembering_shifts(remembering_steps(paid, offers), offers)


def asks_left(
    terms: Terms, account: Account, law: Law = UNIFORM, profile: Concentration | None = None
) -> int:
    """How many more questions can surely be asked at the declared tolerance, one by one.

    They are means of all rows, or of a concentration that is given.
    """
    left = declared_left(terms, account)
    if left <= 0:
        return 0
    on_grid = OnGrid(terms.concentration if profile is None else profile)
    log_share = partial(log_share_of, terms, account)
    return _MOST[law](on_grid, terms.half_width, log_share, account.nats, left)
