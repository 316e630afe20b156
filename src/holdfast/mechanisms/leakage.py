"""Questions on the leakage account (Theorem L): their level and radius, what they are charged.

Whatever answers them, the level of a question is its share of the failure probability lowered by
what has leaked before it, and its own answer is charged when it is out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.errors import BudgetExhausted, Refused
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.mechanism import Offer, Wish
from holdfast.mechanisms.profile import profile_of, radius_of, recorded_profile
from holdfast.mechanisms.room import declared_left, too_tight
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.statistic import computing_error
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.public_variance import same_cost_tolerance
from holdfast.theory.base.safeside import largest_integer, round_down, round_up
from holdfast.theory.leakage.equal_width import asks_fit
from holdfast.theory.leakage.release import discrete_uniform_for
from holdfast.wording import plural

__all__ = ["OnGrid", "asks_left", "charged", "plain_offer"]


def plain_offer(
    terms: Terms,
    account: Account,
    wish: Wish,
    position: int,
    level: float = 1.0,
    narrowed_level: float | None = None,
) -> Offer:
    """The offer for the question `position` places after the account, or a refusal.

    `level` is the part of the question's failure probability that the radius may use,
    `narrowed_level` (default: the same) the part that it may use if a known variance narrows it.
    """
    number = account.asked + position
    log_share = terms.log_share(number)
    log_p, log_narrowed = (
        round_down(log_share - account.nats + math.log(part))
        for part in (level, narrowed_level or level)
    )
    profile = profile_of(wish.question, terms)
    error = computing_error(wish.question)
    radius = wide = round_up(profile.radius(min(0.0, log_p)) + error)
    variance = None
    if wish.variance is not None and terms.independent:
        narrow = round_up(radius_of(profile, wish.variance, terms.rows, log_narrowed) + error)
        if narrow < wide:
            radius, log_p, variance = narrow, log_narrowed, wish.variance
        if wish.narrow and radius < wide < wish.tolerance:
            wish = wish.at_tolerance(_no_dearer(wish.tolerance, wide, radius))
    if radius >= wish.tolerance:
        raise _too_wide(account, wish.tolerance, radius)
    release = discrete_uniform_for(wish.tolerance, radius)
    return Offer(
        number=number,
        question=wish.question.text,
        tolerance=wish.tolerance,
        log_p=log_p,
        radius=radius,
        cells=release.G,
        reach=release.m,
        claim=wish.claim,
        guess=wish.guess,
        prior=None,
        log_share=log_share,
        worst_charge=release.log_charge(radius),
        profile=recorded_profile(profile, terms),
        variance=variance,
    )


def _no_dearer(tolerance: float, radius: float, narrow_radius: float) -> float:
    """The half-width of a smaller radius at the same price, the grid's roundings counted."""
    on_grid = discrete_uniform_for(tolerance, radius).narrowed(radius, narrow_radius)
    return max(on_grid, same_cost_tolerance(tolerance, radius, narrow_radius))


def _too_wide(account: Account, tolerance: float, radius: float) -> Refused:
    if account.nats == 0.0:
        return too_tight(tolerance, radius)
    return BudgetExhausted(
        f"requested half-width {tolerance:.6g} of the range; after "
        f"{plural(account.asked, 'question')} "
        f"({account.nats:.4g} nats) the sample may be off by {radius:.6g}, so "
        f"{radius - tolerance:.3g} are missing. Ask with a larger tolerance=, repeat earlier "
        "questions for free, or use fresh rows in a new ledger."
    )


def charged(account: Account, offers: Sequence[Offer], charges: Sequence[float]) -> Account:
    """All questions of a batch are asked on one account, then all are charged."""
    leakage = account.leakage
    for offer in offers:
        leakage = leakage.ask(offer.log_share)
    for charge in charges:
        if charge > 0.0:  # nothing is added exactly
            leakage = leakage.charge(charge)
    return replace(account, leakage=leakage)


@dataclass(frozen=True, slots=True)
class OnGrid:
    """A concentration with the rounding of row values to the grid added, as offers add it."""

    profile: Concentration

    def log_tail(self, radius: float) -> float:
        return self.profile.log_tail(max(0.0, radius - GRID_ERROR))

    def radius(self, log_p: float) -> float:
        return round_up(self.profile.radius(log_p) + GRID_ERROR)


def asks_left(terms: Terms, account: Account) -> int:
    """How many more questions can surely be asked at the declared tolerance, one by one."""
    if declared_left(terms, account) <= 0:
        return 0
    return largest_integer(
        lambda k: asks_fit(
            OnGrid(terms.concentration),
            k,
            terms.tolerance,
            terms.log_share(account.asked + k),
            account.nats,
        ),
        most=declared_left(terms, account),
    )
