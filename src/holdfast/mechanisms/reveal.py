"""Reveal: one exact value at the end, of a statistic that somebody chose from all the answers.

Nothing that is not described comes after it, so that it needs no noise. How far the truth may be
from it depends on how much the answers told of the sample, by two accounts that are true together:
the leakage theorem at all that is left of the ledger's failure probability (section 3, a
post-selected statement), and, where every answer was typically stable as declared at opening, near
independence (sections 6.3, 6.5, 6.8) at what was kept for it then. The wider level is taken; both
are functions of what was declared and of how many answers there were.

What was kept is apart from what is left of the rest, because the two accounts are about different
oracles: what one of them has on its best path cannot be added to what the other has on its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from holdfast.errors import BudgetExhausted, Shortfall
from holdfast.mechanisms.exact import REVEAL, ExactValues, alphabet_log_charge, exact_grid
from holdfast.mechanisms.leakage import Calibration, Leakage
from holdfast.mechanisms.mechanism import (
    Mechanism,
    Offer,
    Release,
    Symbol,
    Wish,
    cell_of,
    charged,
    each_settled,
    released,
)
from holdfast.mechanisms.terms import (
    WHOLE_RANGE,
    Account,
    PartStages,
    Terms,
    profile_of,
    radius_of,
    recorded_profile,
)
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval, clopper_pearson, kl_interval
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.leakage.claim_levels import log_left
from holdfast.theory.typical.calibrated_noise import gaussian_scale
from holdfast.theory.typical.generalisation import (
    post_selected_gaussian_log_level,
    post_selected_log_level,
)

_Way = Literal["binomial", "chernoff", "radius"]  # of the interval around an exact value


class Levels(NamedTuple):
    """ln of the level of what is revealed, by either account; minus infinity: it has nothing."""

    leakage: float
    near_independence: float

    @property
    def best(self) -> float:
        return max(self)

    @property
    def by(self) -> str:
        """The account with the wider level."""
        return "near independence" if self.near_independence > self.leakage else "leakage"


@dataclass(frozen=True, slots=True)
class Reveal(ExactValues):
    """The exact value of one statistic, beside answers with a `calibration`, or with none."""

    calibration: Calibration | None = None
    name: str = REVEAL

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        (wish,) = wishes
        if account.memory.get(REVEAL) != {"question": wish.question.text, "shown": False}:
            raise BudgetExhausted(
                f"the ledger does not say that {wish.question.text} is to be revealed, or it was; "
                "one statistic is, and once."
            )
        return [self._offer(terms, account, wish)]

    def _offer(self, terms: Terms, account: Account, wish: Wish) -> Offer:
        question, levels = wish.question, levels_of(self.calibration, terms, account)
        remaining = log_left(terms.log_beta, account.leakage.log_beta_spent)
        alike = wish.of_alike_rows(terms)
        profile, error = profile_of(question, terms, alike=alike), question.error
        way, variance = _way(question, terms, alike=alike), None
        radius = _radius(profile.radius, levels.best, error)
        if wish.variance is not None and terms.independent:
            stated = wish.variance
            narrow = _radius(
                lambda log_p: radius_of(profile, stated, terms.rows, log_p),
                levels.best,
                error,
            )
            if narrow < radius:
                radius, way, variance = narrow, "radius", stated
        if radius >= WHOLE_RANGE:
            raise _says_nothing(account, levels, radius)
        grid = exact_grid(question, terms.rows)
        return Offer(
            number=account.looks + 1,
            question=question.text,
            tolerance=radius,
            grid=grid,
            worst_charge=alphabet_log_charge(grid.last + 1),
            log_share=None if remaining == -math.inf else remaining,
            log_p=levels.best,
            radius=radius,
            profile=recorded_profile(profile, terms, question),
            variance=variance,
            extra={
                "by": levels.by,
                "way": way,
                "rows": question.rows(terms.rows),
                "error": error,
            },
        )

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._release, offers, symbols)

    def _release(self, offer: Offer, symbol: Symbol) -> Release:
        release = released(offer, symbol, "answered", offer.worst_charge)
        cell = cell_of(offer, symbol)
        exact = _interval(offer, cell)
        low = max(release.interval.low, exact.low)
        high = min(release.interval.high, exact.high)
        rows = (offer.extra or {})["rows"]
        return Release(
            offer.number,
            "answered",
            release.told,
            Interval(low, high),
            release.charge,
            (rows, rows),
        )

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        (offer,) = offers
        after = charged(account, offers, [release.charge for release in releases])
        return after.remembering(REVEAL, {"question": offer.question, "shown": True})

    def questions_left(
        self,
        terms: Terms,  # noqa: ARG002
        account: Account,  # noqa: ARG002
        stages: PartStages = (),  # noqa: ARG002
    ) -> int:
        """One, and it is the last."""
        return 0


def revealing(mechanism: Mechanism) -> Reveal | None:
    """Revealing mechanism beside a ledger's own; None where answers are on no leakage account."""
    return Reveal(mechanism.calibration) if isinstance(mechanism, Leakage) else None


def to_be_revealed(account: Account, question: str) -> Account:
    """The account that knows what is shown next."""
    return account.remembering(REVEAL, {"question": question, "shown": False})


def levels_of(calibration: Calibration | None, terms: Terms, account: Account) -> Levels:
    """ln of the level of a statistic that is chosen after all that an account tells of."""
    remaining = log_left(terms.log_beta, account.leakage.log_beta_spent)
    leakage = -math.inf if remaining == -math.inf else round_down(remaining - account.nats)
    return Levels(leakage, _near_independence(calibration, terms, account))


def _near_independence(calibration: Calibration | None, terms: Terms, account: Account) -> float:
    """By what every answer keeps to; minus infinity where something else was told, too."""
    log_beta, k = terms.pots.log_beta_reveal, terms.questions
    if calibration is None or log_beta == -math.inf or k is None:
        return -math.inf
    if account.claims or account.described:
        return -math.inf
    step = calibration.stability.to_oracle()
    if calibration.log_tau == -math.inf:
        return post_selected_log_level(log_beta, k, step.eta, step.log_tau, step.log_nu)
    mu = round_up(1 / gaussian_scale(1.0, calibration.eta, calibration.log_tau))
    return post_selected_gaussian_log_level(log_beta, k, mu, calibration.log_nu)


def _radius(radius: Callable[[float], float], log_p: float, error: float) -> float:
    if log_p == -math.inf:
        return math.inf
    return round_up(radius(min(0.0, log_p)) + error)


def _way(question: Statistic, terms: Terms, *, alike: bool) -> _Way:
    """The interval around a mean of so many rows, by what is assumed of them: never wider."""
    if question.row is None or not terms.independent:
        return "radius"
    return "binomial" if question.row.is_condition and alike else "chernoff"


def _interval(offer: Offer, cell: int) -> Interval:
    """The classical interval around the value that a cell stands for; all of it if none applies."""
    log_p, _ = offer.statement
    extra: dict[str, Any] = offer.extra or {}
    match extra["way"]:
        case "binomial":
            return clopper_pearson(extra["rows"], cell, min(0.0, log_p))
        case "chernoff":
            # Its ends rise with the mean, which is known but for the rounding of row values.
            value, error = float(offer.own_grid.place(cell)), extra["error"]
            least, most = (
                kl_interval(extra["rows"], min(1.0, max(0.0, mean)), min(0.0, log_p))
                for mean in (round_down(value - error), round_up(value + error))
            )
            return Interval(least.low, most.high)
    return Interval(0.0, 1.0)


def _says_nothing(account: Account, levels: Levels, radius: float) -> BudgetExhausted:
    near = "" if levels.near_independence == -math.inf else ", and near independence no more"
    return BudgetExhausted(
        f"requested an exact value after {account.asked:,} questions and {account.nats:.4g} nats; "
        f"the truth may be {radius:.3g} of the range from it, so that it would say nothing{near}. "
        "Use fresh rows in a new ledger. Nothing was spent.",
        Shortfall("half-width", WHOLE_RANGE, radius),
    )
