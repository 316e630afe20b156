"""Answers on the leakage account (Theorem L), with noise of any law; and how many are left.

The level of a question is its share of the failure probability lowered by what has leaked before
it, and its own answer is charged when it is out. The sample's value is within the radius of the
truth unless that level is used up, and the answer within the noise of the sample's value: surely,
if the noise is bounded; else half of the level is for the tail of the noise. Everything follows
from the concentration of the question, so rows may depend on each other.

Without a `Calibration` the noise of each question is what its half-width leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted, Refused, Shortfall, ToleranceTooTight
from holdfast.mechanisms.mechanism import (
    Offer,
    Release,
    Symbol,
    Wish,
    charged,
    each_settled,
    released,
)
from holdfast.mechanisms.noise import NO_NOISE, UNIFORM, Grid, Law, Noise, grid_within, tail_part
from holdfast.mechanisms.stable_steps import remembering_shifts, remembering_steps
from holdfast.mechanisms.terms import (
    WHOLE_RANGE,
    Account,
    OnGrid,
    PartStages,
    QuestionPart,
    Terms,
    number_of_parts,
    profile_of,
    radius_of,
    recorded_profile,
)
from holdfast.mechanisms.vector_release import (
    MOST_COORDINATES,
    ScaledShape,
    VectorShape,
    released_together,
    scaled_shape,
    scaled_shape_of,
    shape_of,
    shape_within,
)
from holdfast.statistics.statistic import Measured, Statistic, measure
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.propagation import same_cost_tolerance
from holdfast.theory.base.safeside import log_add, round_down, round_up
from holdfast.theory.leakage.equal_width import most_asks, most_roundings
from holdfast.theory.leakage.release import (
    RESOLUTION,
    discrete_uniform_for,
)
from holdfast.theory.planning import MOST_QUESTIONS
from holdfast.wording import plural, upwards

if TYPE_CHECKING:
    from holdfast.theory.typical.notion import Form, TypicalStability

# Room for a question: how many are left, and the refusals where there is none.


def declared_left(terms: Terms, account: Account) -> int:
    """Number of the declared questions that are left; very many when none were declared."""
    return MOST_QUESTIONS if terms.questions is None else terms.questions - account.asked


def log_share_of(terms: Terms, account: Account, position: int) -> float:
    """ln beta_j of the question `position` places after the account: what dictionaries left it."""
    share = terms.log_share(account.asked + position)
    return share if account.log_kept == 0.0 else round_down(share + account.log_kept)


def require_room(terms: Terms, account: Account, wanted: int) -> None:
    """Refuse a batch that goes beyond the declared number of questions."""
    if terms.questions is None or account.asked + wanted <= terms.questions:
        return
    remaining = terms.questions - account.asked
    raise BudgetExhausted(
        f"requested {plural(wanted, 'more question')}; remaining {remaining:,} of the "
        f"{terms.questions:,} declared; missing {wanted - remaining:,}. Repeating an earlier "
        "question is free; new questions need fresh rows in a new ledger.",
        Shortfall("questions", wanted, remaining),
    )


def _vectors_of(wishes: Sequence[Wish]) -> dict[str, list[int]]:
    """Vectors that are asked for, each with the places of its coordinates among the wishes."""
    vectors: dict[str, list[int]] = {}
    for place, wish in enumerate(wishes):
        if wish.vector is not None:
            vectors.setdefault(wish.vector, []).append(place)
    return vectors


def _shares_of(
    terms: Terms,
    account: Account,
    wishes: Sequence[Wish],
    vectors: Mapping[str, Sequence[int]],
) -> list[float]:
    """ln of the share of each wish: of a question, divided where it is a coordinate of a vector;
    refused where the batch goes beyond the declared number of questions."""
    require_room(terms, account, len(wishes) - sum(len(each) - 1 for each in vectors.values()))
    whole = {place: vector for vector in vectors.values() for place in vector}
    shares: list[float] = []
    questions = 0
    for place in range(len(wishes)):
        vector = whole.get(place, [place])
        if place > vector[0]:
            shares.append(shares[vector[0]])
            continue
        questions += 1
        share = log_share_of(terms, account, questions)
        shares.append(round_down(share - math.log(len(vector))) if len(vector) > 1 else share)
    return shares


def shown_widths(question: Statistic | None, *parts: float) -> tuple[list[float], str]:
    """Half-widths as they are told of a question: parts of its range, or in its own unit if it has
    none; and what they are, in words."""
    if question is None or not question.unbounded:
        return list(parts), " of the range"
    return [part * (question.high - question.low) for part in parts], ""


def too_tight(
    tolerance: float, radius: float, question: Statistic | None = None
) -> ToleranceTooTight:
    """The refusal of a half-width that the rows cannot give."""
    (t, r), of = shown_widths(question, tolerance, radius)
    return ToleranceTooTight(
        f"requested half-width {t:.6g}{of}; the best possible here is +-{upwards(r)}. Ask for a "
        "larger tolerance, declare fewer questions, or use more rows.",
        Shortfall("half-width", t, r),
    )


def declared_or_least(wanted: Terms, least: float) -> float:
    """The declared half-width, or the least one; refused where the rows cannot give it."""
    if least > wanted.half_width or least >= WHOLE_RANGE:
        raise too_tight(wanted.half_width, least)
    return wanted.tolerance or least


# The papers' noise (BF1, BF2): of a size that keeps two typical samples' answers eta-close.
#
# With eta the noise of every answer is declared: alpha at level nu over eta (version 2, oracle
# form), or twice alpha at level nu/2 (version 1, set form); Gaussian noise is calibrated exactly
# where the papers print a formula. The grid is chosen so that rounding is inside: the distance in
# *cells*, rounded up, keeps to eta.


_LOG_HALF = math.log(0.5)


@dataclass(frozen=True, slots=True)
class Calibration:
    """(eta, tau, nu) declared for every answer; tau is 0 with Laplace noise.

    `tail` is the part of a question's level that is for the tail of its noise.
    """

    version: int
    eta: float
    log_tau: float
    log_nu: float
    tail: float = 0.5

    @classmethod
    def of(cls, version: int, eta: float, tau: float, nu: float) -> Calibration:
        """Calibration of probabilities."""
        return cls(version, eta, math.log(tau) if tau > 0.0 else -math.inf, math.log(nu))

    @property
    def stability(self) -> TypicalStability:
        """Stability of one answer: in oracle form (version 2) or in set form (version 1)."""
        from holdfast.theory.typical.notion import TypicalStability

        form: Form = "oracle" if self.version == 2 else "set"
        return TypicalStability.from_logs(self.eta, self.log_tau, self.log_nu, form)

    def grid(self, profile: Concentration, error: float) -> Grid | None:
        """As fine as eta allows, the distance of two typical cells rounded up; None: no cell."""
        if self.version == 2:
            distance = Fraction(round_up(profile.radius(self.log_nu) + error))
        else:
            distance = 2 * Fraction(round_up(profile.radius(self.log_nu + _LOG_HALF) + error))
        most = self.eta if self.log_tau == -math.inf else _most_scales(self.eta, self.log_tau)
        cells = math.floor(math.floor(Fraction(most) * RESOLUTION) / distance)
        return Grid(cells, RESOLUTION, None) if cells else None


@lru_cache  # every answer of a ledger has it
def _most_scales(eta: float, log_tau: float) -> float:
    """The distance, in scales, at which Gaussian answers are (eta, tau)-indistinguishable."""
    from holdfast.theory.typical.calibrated_noise import gaussian_scale

    return round_down(1 / gaussian_scale(1.0, eta, log_tau))


_Most = Callable[
    [Sequence[Sequence[Concentration]], float, Callable[[int], float], float, int], int
]

_MOST_COUNTED = 5_000
# How many questions of equal half-width fit, by laws for which theory counts them.
_MOST: Mapping[Law, _Most] = {UNIFORM: most_asks, NO_NOISE: most_roundings}


class NoisyAnswers:
    """Mechanism whose symbols are cells with noise: one scan, and noise of its own for each."""

    __slots__ = ()

    law: Law

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        return [
            noisy_cell(self.law, offer, measured, noise(offer.number))
            for offer, measured in zip(offers, measure(sample, questions), strict=True)
        ]

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._release, offers, symbols)

    def _release(self, offer: Offer, symbol: Symbol) -> Release:
        return released(offer, symbol, "answered", offer.worst_charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        paid = charged(account, offers, [release.charge for release in releases])
        return remembering_shifts(remembering_steps(paid, offers), offers)


@dataclass(frozen=True, slots=True)
class Leakage(NoisyAnswers):
    """Answers without a guess, under one law of noise."""

    name: str
    law: Law
    calibration: Calibration | None = None
    jointly: bool = True  # whether a batch that is one vector may be charged as one

    @property
    def tail(self) -> float:
        """Part of a question's level that is for the tail of the noise."""
        return tail_part(self.law) if self.calibration is None else self.calibration.tail

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        vectors = _vectors_of(wishes) if self.calibration is None else {}
        shares = _shares_of(terms, account, wishes, vectors)
        offers = [
            self._offer(terms, account, wish, position, share)
            for position, (wish, share) in enumerate(zip(wishes, shares, strict=True), start=1)
        ]
        if vectors:
            return self._of_vectors(terms, account, wishes, offers, vectors)
        return self._together(terms, account, wishes, offers)

    def _together(
        self, terms: Terms, account: Account, wishes: Sequence[Wish], apart: list[Offer]
    ) -> list[Offer]:
        """The offers of a batch, as one release of a vector if they are that and it is cheaper."""
        if self._apart(terms):
            return apart
        return _cheaper(apart, as_one_vector(self.law, terms, account, wishes, apart))

    def _apart(self, terms: Terms) -> bool:
        """Whether every coordinate is released by itself."""
        return self.calibration is not None or not terms.independent or not self.jointly

    def _of_vectors(
        self,
        terms: Terms,
        account: Account,
        wishes: Sequence[Wish],
        apart: Sequence[Offer],
        vectors: Mapping[str, Sequence[int]],
    ) -> list[Offer]:
        """The offers of a batch with vectors, each of which is released for itself."""
        offers = list(apart)
        for places in vectors.values():
            own = [wishes[place] for place in places]
            together = self._together(terms, account, own, [apart[place] for place in places])
            for coordinate, (place, offer) in enumerate(zip(places, together, strict=True), 1):
                extra = {**(offer.extra or {}), "coordinate": coordinate}
                offers[place] = replace(offer, extra=extra)
        return offers

    def _offer(
        self, terms: Terms, account: Account, wish: Wish, position: int, log_share: float
    ) -> Offer:
        plain = plain_offer(
            terms, account, wish, position, self.law, 1 - self.tail, log_share=log_share
        )
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
        log_tail = log_share + math.log(self.tail)
        tolerance = half_width_on(self.law, grid, radius, log_tail)
        if tolerance > wish.tolerance:
            (t, needed), of = shown_widths(wish.question, wish.tolerance, tolerance)
            raise ToleranceTooTight(
                f"requested half-width {t:.6g}{of}; eta="
                f"{self.calibration.eta:g}, the best possible here is +-{upwards(needed)}. Ask "
                "with a larger tolerance=, or open a ledger with a larger eta.",
                Shortfall("half-width", t, needed),
            )
        charge = self.law.log_charge(radius, grid)
        return replace(plain, tolerance=tolerance, grid=grid, worst_charge=charge)

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        vectors = any(part.norm is not None for stage in stages for part in stage)
        if self.law in _MOST and not vectors:
            return asks_left(terms, account, stages, self.law)
        return self._affordable(terms, account, stages or [[QuestionPart(terms.concentration)]])

    def _affordable(self, terms: Terms, account: Account, stages: PartStages) -> int:
        """Number of questions that can still be asked, at least; the grid's cost rounded up."""
        nats, parts = account.nats, 0
        if self.calibration is not None:  # each coordinate is a question
            stages = [[_alone(p) for p in stage for _ in range(p.coordinates)] for stage in stages]
        most = min(declared_left(terms, account), _MOST_COUNTED) // sum(map(len, stages))
        gridded = [[(part, self._declared_grid(part)) for part in stage] for stage in stages]
        for count in range(most):
            for stage in gridded:
                charges = []
                for part, grid in stage:
                    parts += 1
                    log_share = log_share_of(terms, account, parts)
                    charges.append(self._charge(terms, part, grid, log_share, nats))
                if None in charges:
                    return count
                nats += sum(charge for charge in charges if charge is not None)
        return max(0, most)

    def _declared_grid(self, part: QuestionPart) -> Grid | None:
        """The grid that eta sets; None where the half-width does, or eta leaves no cell."""
        if self.calibration is None:
            return None
        return self.calibration.grid(part.profile, part.error)

    def _charge(
        self,
        terms: Terms,
        part: QuestionPart,
        grid: Grid | None,
        log_share: float,
        nats: float,
    ) -> float | None:
        """Charge of an answer to a part, at most; None if it would be refused."""
        t, scale = terms.half_width * part.unit, self.law.resolution
        d = part.coordinates
        log_each = log_share - math.log(d)
        radius = part.radius(log_each + math.log(1 - self.tail) - nats)
        log_tail = log_each + math.log(self.tail) if self.tail else 0.0  # bounded noise has none
        error = self.law.error(scale, log_tail) + 1
        if radius >= t or (self.calibration is not None and grid is None):
            return None
        if grid is None:
            grid = Grid(math.ceil(error / (t - radius)) + 1, scale, None)
        elif radius + error / grid.cells >= t:
            return None
        apart = d * self.law.log_charge(radius, grid)
        if part.norm in (None, "linf") or not 2 <= d <= MOST_COORDINATES or self._apart(terms):
            return apart

        scaled = part.unit != 1.0
        shape = scaled_shape_of(d, part.norm, part.unit) if scaled else shape_within(d, part.norm)
        together = released_together(self.law, terms, shape, part.radius, t, log_share, nats)
        return apart if together is None else min(apart, together.charge)


def _alone(part: QuestionPart) -> QuestionPart:
    """One coordinate of a vector, as a question of its own."""
    return replace(part, coordinates=1, norm=None)


def as_one_vector(
    law: Law, terms: Terms, account: Account, wishes: Sequence[Wish], apart: Sequence[Offer]
) -> list[Offer]:
    """The batch as one release of a vector, at the same half-widths; none where it is none.

    Half of all their levels together is, in equal parts, for the coordinates as if by themselves,
    half for the ball that the sample's vector is in, by which the whole is charged.
    """
    shape: VectorShape | ScaledShape | None = shape_of([wish.question for wish in wishes])
    shape, tolerance = shape or scaled_shape(wishes), apart[0].tolerance
    uneven = any(offer.variance or offer.tolerance != tolerance for offer in apart)
    if shape is None or tolerance is None or uneven:
        return []
    log_all = log_add(*(each.log_share for each in apart if each.log_share is not None))

    def radius(log_p: float) -> float:
        return max(_radius(terms, wish, log_p) for wish in wishes)

    release = released_together(law, terms, shape, radius, tolerance, log_all, account.nats)
    if release is None:
        return []
    grid, log_p, log_ball, ball, charge = release
    each = round_up(charge / shape.dimension)
    extra = {"vector": shape.dimension, "log_p": log_ball, "radius": ball}
    at_level = radius(log_p)
    return [
        replace(offer, grid=grid, worst_charge=each, log_p=log_p, radius=at_level, extra=extra)
        for offer in apart
    ]


def _radius(terms: Terms, wish: Wish, log_p: float) -> float:
    """Radius: how far from the truth the sample may be at this level."""
    profile = profile_of(wish.question, terms, alike=wish.of_alike_rows(terms))
    return round_up(profile.radius(log_p) + wish.question.error)


def _cheaper(apart: list[Offer], together: list[Offer]) -> list[Offer]:
    """Whichever offers of the same batch leak less, at most."""
    costs = [sum(offer.worst_charge for offer in offers) for offers in (apart, together)]
    return together if together and costs[1] < costs[0] else apart


def half_width_on(law: Law, grid: Grid, radius: float, log_tail: float) -> float:
    """Half-width of an answer on this grid: radius, rounding, and noise but for its tail."""
    error = Fraction(law.error(grid.scale, log_tail)) + Fraction(1, 2)
    return round_up(float(Fraction(radius) + error / Fraction(grid.cells)))


def noisy_cell(law: Law, offer: Offer, measured: Measured, noise: Noise) -> int:
    """The symbol of a release: the sample's cell plus noise, both whole numbers."""
    cell = offer.own_grid.cell(measured.numerator, measured.denominator)
    return cell + law.draw(noise, offer.own_grid.scale)


def plain_offer(
    terms: Terms,
    account: Account,
    wish: Wish,
    position: int,
    law: Law = UNIFORM,
    level: float = 1.0,
    narrowed_level: float | None = None,
    *,
    log_share: float | None = None,
) -> Offer:
    """The offer for the look `position` places after the account, or a refusal.

    `log_share` is ln of its share, where that is not the one of the question so many places after
    the account, `level` is the part of the question's failure probability that the radius may use,
    `narrowed_level` (default: the same) the part that it may use if a known variance narrows it.
    """
    number = account.looks + position
    if log_share is None:
        log_share = log_share_of(terms, account, position)
    log_p, log_narrowed = (
        round_down(log_share - account.nats + math.log(part))
        for part in (level, narrowed_level or level)
    )
    profile = profile_of(wish.question, terms, alike=wish.of_alike_rows(terms))
    error = wish.question.error
    radius = wide = round_up(profile.radius(log_p) + error)
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
    counts = {"question": account.asked, "text question": account.described}
    looks = " and ".join(plural(many, name) for name, many in counts.items() if many)
    keeps_more = account.described and terms.described == "exact"
    instead = " A ledger opened with described='rounded' keeps more for such questions."
    return BudgetExhausted(
        f"requested half-width {tolerance:.6g}{of}; {f'after {looks} ' if looks else ''}the best "
        f"possible here is +-{upwards(radius)}. Ask with a larger tolerance=, repeat earlier "
        f"questions for free, or use fresh rows in a new ledger.{instead if keeps_more else ''}",
        Shortfall("half-width", tolerance, radius),
    )


def asks_left(terms: Terms, account: Account, stages: PartStages = (), law: Law = UNIFORM) -> int:
    """Number of questions that can surely still be asked at the declared tolerance, one by one.

    They have these parts, or are means of all rows.
    """
    parts = number_of_parts(stages)
    remaining = declared_left(terms, account) // parts
    if remaining <= 0:
        return 0
    own = [tuple(p.per_unit for p in stage for _ in range(p.coordinates)) for stage in stages]
    profiles = tuple(own) or ((OnGrid(terms.concentration),),)

    def log_share(count: int) -> float:
        return log_share_of(terms, account, count * parts)

    def left(nats: float, _claims: int) -> int:
        return _MOST[law](profiles, terms.half_width, log_share, nats, remaining)

    shares = terms.log_beta, terms.questions, account.asked, account.log_kept
    return left_on(left, account.nats, 0, (law, profiles, terms.half_width, *shares))


class _Stretch(NamedTuple):
    """A stretch of leakage and claims that leaves as many of something, by its two ends."""

    nats: tuple[float, float]
    claims: tuple[int, int]
    number: int

    def has(self, nats: float, claims: int) -> bool:
        """Whether a ledger is on it."""
        least, most = self.claims
        return self.nats[0] <= nats <= self.nats[1] and least <= claims <= most


_STRETCHES: dict[Hashable, _Stretch] = {}  # by what else their numbers depend on
_MOST_STRETCHES = 64


def left_on(count: Callable[[float, int], int], nats: float, claims: int, of: Hashable) -> int:
    """`count(nats, claims)`, which never rises with either: one number at both ends of a stretch
    holds in between.

    A confirmed check leaks so little that hundreds leave as many questions. How far that goes is
    looked for twice as far ahead as the last stretch went.
    """
    before = _STRETCHES.get(of)
    if before is not None and before.has(nats, claims):
        return before.number
    number, last = count(nats, claims), (nats, claims)
    if before is not None:
        ahead = (
            nats + 2.0 * max(0.0, nats - before.nats[0]),
            claims + 2 * max(0, claims - before.claims[0]),
        )
        last = ahead if count(*ahead) == number else last
    if len(_STRETCHES) >= _MOST_STRETCHES:
        _STRETCHES.clear()
    _STRETCHES[of] = _Stretch((nats, last[0]), (claims, last[1]), number)
    return number
