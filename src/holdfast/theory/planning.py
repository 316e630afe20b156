"""Methods of planning: half-widths, numbers of questions and rows needed by each way to answer.

A `Method` answers three questions about itself: the half-width for (rows, questions), the questions
for (rows, half-width), the rows for (questions, half-width). All are on the safe side, and none
takes a time that grows with the number of questions. Mechanisms make theirs with the functions
here, and hold them in their entries of the catalogue. A half-width of 1/2 or more says nothing
about a value in [0, 1], so it counts as impossible (None).

Symbols: n rows, k questions, t the half-width, z the half-width in units of the scale sigma.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from holdfast.theory.base.concentration import BoundedMean, Concentration, SubGaussian
from holdfast.theory.base.dependence import GraphMean, MarkovMean, MDependentMean, PooledUnits
from holdfast.theory.base.safeside import largest_integer, round_up, smallest_integer
from holdfast.theory.direct.symbols import POINTS
from holdfast.theory.leakage import equal_width
from holdfast.theory.leakage.equal_width import rounds_fit, rounds_half_width
from holdfast.theory.length.levels import (
    declared_millibits,
    described_log_level,
    rounded_half_width,
)
from holdfast.wording import plural

MOST_QUESTIONS = 10**12
MOST_ROWS = 10**15
_VACUOUS = 0.5
# Whole numbers of 2^-30 of a row, in values and in noise, widen an interval by less than this.
GRID_ALLOWANCE = 2.0**-28
# By this part of it a private half-width below 1/2 may be wider: its noise is coarser by 2^-19, and
# noise and cells by a 2^20th of what a row can do, which is at most 2.2 times the noise's scale.
_PRIVATE_ALLOWANCE = 2.0**-17
_UNIT = SubGaussian(1.0)
_PITCH = 1.0 / (POINTS - 1)  # described answers about dependent rows are told on this grid

# A *promise* is kept by a mechanism; *described* questions need none; what is chosen *together* is
# declared in a search, or a last look; some is promised for questions over a small *domain* alone.
Kind = Literal["described", "promise", "together", "reference", "domain", "not valid"]
_Width = Callable[[Concentration, int, float], float]
_Fits = Callable[[Concentration, int, float, float], bool]


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Known rows: their concentration as a function of their number."""

    profile: Callable[[int], Concentration]
    independent: bool = True


@dataclass(frozen=True, slots=True)
class Method:
    """A way to answer, with its three inverse functions; None where it cannot.

    `width` is the half-width wherever it is, beyond the range too. `millibits` is the length that
    sets its level, where that is not how many questions there are.
    """

    name: str
    kind: Kind
    theorem: str
    independent_only: bool
    width: Callable[[KnownRows, int, int, float], float]
    questions: Callable[[KnownRows, int, float, float], int | None]
    rows: Callable[[KnownRows, int, float, float], int | None]
    millibits: int | None = None

    def applies(self, rows: KnownRows) -> bool:
        """Whether its theorem covers rows of this kind."""
        return rows.independent or not self.independent_only

    def half_width(self, rows: KnownRows, n: int, k: int, log_beta: float) -> float | None:
        """Half-width of k questions on n rows; None where it says nothing."""
        width = self.width(rows, n, k, log_beta)
        return width if width < _VACUOUS else None


def check_method(surprises: int) -> Method:
    """Guess and check with at most `surprises` refuted guesses, declared as a ledger declares them.

    The half-width leaves room for guesses: one within a scale sigma (at most one standard error of
    the worst question) of the sample's value is confirmed to the end.
    """

    def width(profile: Concentration, k: int, log_beta: float) -> float:
        room = profile_scale(profile) or 0.0
        return equal_width.claims_half_width(profile, k, min(surprises, k), log_beta, room)

    def fits(profile: Concentration, k: int, t: float, log_beta: float) -> bool:
        room = profile_scale(profile) or 0.0
        return equal_width.claims_fit(profile, k, min(surprises, k), t, log_beta, room)

    name = f"guess and check, {plural(surprises, 'wrong guess', 'wrong guesses')}"
    return on_account(name, "claims_half_width", width, fits)


def described_method(bits: int, *, rounded: bool = False) -> Method:
    """Described conditions of so many bits, any number of them, at the worst rate of 1/2."""
    return _by_length(f"described, {bits} bits", "described", 1_000 * bits, rounded)


def listed_method(size: int, *, rounded: bool = False) -> Method:
    """Any number of scores of so many configurations that a search declares."""
    return _by_length(f"one of {size:,} declared", "together", declared_millibits(size), rounded)


def _by_length(name: str, kind: Kind, millibits: int, rounded: bool) -> Method:
    """A method whose level is that of a length: how many questions there are does not matter."""

    def width(rows: KnownRows, n: int, log_beta: float) -> float:
        log_p = described_log_level(log_beta, millibits)
        if kind == "together" and not rounded and rows.independent:
            return _contained(rows.profile(n), log_p)
        alpha = rows.profile(n).radius(log_p)
        if rounded:
            return rounded_half_width(alpha + GRID_ALLOWANCE)
        return alpha if rows.independent else alpha + _PITCH

    def questions(rows: KnownRows, n: int, t: float, log_beta: float) -> int | None:
        return MOST_QUESTIONS if width(rows, n, log_beta) <= t else None

    def rows_needed(rows: KnownRows, _: int, t: float, log_beta: float) -> int | None:
        return smallest_integer(lambda n: width(rows, n, log_beta) <= t, most=MOST_ROWS)

    return Method(
        name,
        kind,
        "described_log_level",
        rounded,
        lambda rows, n, _, log_beta: width(rows, n, log_beta),
        questions,
        rows_needed,
        millibits,
    )


def _contained(profile: Concentration, log_p: float) -> float:
    """The half-width of an exact answer at this level: a mean of numbers has half of it for bets,
    and is told in steps of the other half's radius, one in 512 wider."""
    return round_up(profile.radius(log_p + math.log(0.5)) * (1 + 2.0**-9) + GRID_ALLOWANCE)


@dataclass(frozen=True, slots=True)
class _LastLook:
    """How far the truth may be from the exact answers of a last look, at the level of each."""

    profile: Concentration

    def log_tail(self, radius: float) -> float:
        within = max(0.0, radius - GRID_ALLOWANCE) / (1 + 2.0**-9)
        return min(0.0, self.profile.log_tail(within) - _LOG_OF_LAST_LOOK - math.log(0.5))

    def radius(self, log_p: float) -> float:
        return _contained(self.profile, log_p + _LOG_OF_LAST_LOOK)


# Its questions have 15/16 of its level, in thousandths of a bit that are rounded up.
_LOG_OF_LAST_LOOK = math.log(15 / 16) - math.log(2.0) / 1_000


def rounds_method(rounds: int) -> Method:
    """Questions in rounds, each chosen together, the last shown without noise."""

    def width(profile: Concentration, k: int, log_beta: float) -> float:
        return rounds_half_width(profile, k, min(rounds, k), log_beta, _LastLook(profile))

    def fits(profile: Concentration, k: int, t: float, log_beta: float) -> bool:
        return rounds_fit(profile, k, min(rounds, k), t, log_beta, _LastLook(profile))

    name = f"{rounds} rounds, the last exact"
    return on_account(name, "rounds_half_width", width, fits, kind="together")


def on_account(
    name: str,
    theorem: str,
    width: _Width,
    fits: _Fits,
    level_if_alike: float = 1.0,
    kind: Kind = "promise",
) -> Method:
    """A method on the leakage account: it needs a concentration, not independence.

    `level_if_alike` is the part of a question's level that its radius gets on independent rows.
    """

    def level(rows: KnownRows, log_beta: float) -> float:
        return log_beta + math.log(level_if_alike) if rows.independent else log_beta

    def half_width(rows: KnownRows, n: int, k: int, log_beta: float) -> float:
        return width(rows.profile(n), k, level(rows, log_beta)) + GRID_ALLOWANCE

    def questions(rows: KnownRows, n: int, t: float, log_beta: float) -> int | None:
        profile, log_level = rows.profile(n), level(rows, log_beta)
        return _some(
            largest_integer(
                lambda k: fits(profile, k, t - GRID_ALLOWANCE, log_level), most=MOST_QUESTIONS
            )
        )

    def rows_needed(rows: KnownRows, k: int, t: float, log_beta: float) -> int | None:
        @cache
        def in_scales(log_weight: float) -> float:
            return width(_UNIT, k, level(rows, log_beta) + log_weight)

        def enough(n: int) -> bool:
            profile = rows.profile(n)
            scale = profile_scale(profile)
            if scale is None:
                return False
            return in_scales(profile_log_weight(profile)) * scale <= t - GRID_ALLOWANCE

        return smallest_integer(enough, most=MOST_ROWS)

    return Method(name, kind, theorem, False, half_width, questions, rows_needed)


def by_transfer(
    name: str,
    theorem: str,
    width: Callable[[int, int, float], float],
    questions: Callable[[int, float, float], int],
    rows: Callable[[int, float, float], int | None],
) -> Method:
    """A method whose theorem is about averages of independent rows, and has its own inverses."""
    return Method(
        name,
        "promise",
        theorem,
        True,
        lambda _, n, k, log_beta: width(n, k, log_beta) + GRID_ALLOWANCE,
        lambda _, n, t, log_beta: _some(questions(n, t - GRID_ALLOWANCE, log_beta)),
        lambda _, k, t, log_beta: rows(k, t - GRID_ALLOWANCE, log_beta),
    )


def by_private_transfer(
    name: str,
    theorem: str,
    width: Callable[[int, int, float], float],
    questions: Callable[[int, float, float], int],
    rows: Callable[[int, float, float], int | None],
) -> Method:
    """A transfer whose noise is on a grid of a 2^20th of what one row can do."""
    wider = 1 + _PRIVATE_ALLOWANCE
    return by_transfer(
        name,
        theorem,
        lambda n, k, log_beta: width(n, k, log_beta) * wider,
        lambda n, t, log_beta: questions(n, t / wider, log_beta),
        lambda k, t, log_beta: rows(k, t / wider, log_beta),
    )


def by_formula(
    name: str,
    kind: Kind,
    theorem: str,
    width: Callable[[int, int, float], float],
) -> Method:
    """A method given by a half-width for independent rows, inverted by search."""
    return Method(
        name,
        kind,
        theorem,
        True,
        lambda _, n, k, log_beta: width(n, k, log_beta),
        lambda _, n, t, log_beta: _some(
            largest_integer(lambda k: width(n, k, log_beta) <= t, most=MOST_QUESTIONS)
        ),
        lambda _, k, t, log_beta: smallest_integer(
            lambda n: width(n, k, log_beta) <= t, most=MOST_ROWS
        ),
    )


def profile_scale(profile: Concentration) -> float | None:
    """The sub-Gaussian scale, for the profiles that are nothing but one, at a part of the level."""
    match profile:
        case PooledUnits(row_b=None):
            return profile_scale(profile.tail)
        case SubGaussian() | BoundedMean() | MDependentMean() | GraphMean() | MarkovMean():
            return profile.sigma
        case _:
            return None


def profile_log_weight(profile: Concentration) -> float:
    """ln of the part of a level that the scale has."""
    return profile.log_weight if isinstance(profile, PooledUnits) else 0.0


def _some(count: int) -> int | None:
    return count or None
