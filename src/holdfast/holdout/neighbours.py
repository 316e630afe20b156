"""What replacing one row does to all answers so far: total variation, differential privacy, L15.

Typical stability compares two samples; these notions compare two that differ in one row, and are
the lectures' (L12, L4, L15). They follow from the noise that was added and from nothing else: from
the scales by which a row can move each answer. Where something was told without noise there is no
such statement but the one that everybody has, a distance of 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from holdfast import require
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.laws.laplace import Laplace
from holdfast.mechanisms.laws.law import Law
from holdfast.mechanisms.laws.median import Median
from holdfast.mechanisms.laws.normal import Normal
from holdfast.mechanisms.laws.uniform import Uniform
from holdfast.mechanisms.leakage import Leakage
from holdfast.mechanisms.mechanism import Mechanism
from holdfast.mechanisms.privacy import laplace_privacy
from holdfast.mechanisms.row_shifts import ShiftedScales, shifts_of
from holdfast.mechanisms.terms import Terms
from holdfast.mechanisms.thresholdout import Thresholdout
from holdfast.mechanisms.transfer import Transfer
from holdfast.theory.notions.arrows import gdp_to_tv
from holdfast.theory.notions.distances import (
    gaussian_scale_for_tv,
    laplace_scale_for_tv,
    peak_tv,
    uniform_scale_for_tv,
)
from holdfast.theory.notions.stability import GDP, TV, ApproxDP, PureDP
from holdfast.theory.notions.tv_generalisation import tv_expected_error, tv_for_expected_error
from holdfast.theory.transfer.likelihood_cover import peak_density
from holdfast.theory.transfer.private_release import gdp_at_delta

__all__ = ["Neighbours", "NoiseNeeded", "neighbours_of", "noise_needed"]

_LOG_DELTA = math.log(1e-6)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """All answers together, on two samples that differ in one row: `tv` and `privacy`.

    `expected_error`: on independent rows, but for a share `delta` of samples, the mean over the
    noise of q(X) - q(P) is within it of 0 for a question q chosen from the answers (L15). It is a
    mean over noise and no interval. `why` says why there is none, or why it is vacuous.
    """

    tv: float
    privacy: ApproxDP | None
    delta: float
    expected_error: float | None
    why: str | None = None

    @property
    def vacuous(self) -> bool:
        """Whether every mechanism at all has this."""
        return self.tv >= 1.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "tv": self.tv,
            "epsilon": None if self.privacy is None else self.privacy.epsilon,
            "delta": None if self.privacy is None else self.privacy.delta,
            "expected_error": self.expected_error,
            "expected_error_delta": self.delta,
            "vacuous": self.vacuous,
            "why": self.why,
        }

    def __str__(self) -> str:
        if self.vacuous:
            because = f" ({self.why})" if self.why else ""
            return f"one row replaced: total variation 1, which is vacuous{because}"
        private = (
            ""
            if self.privacy is None
            else f", ({self.privacy.epsilon:.4g}, {self.privacy.delta:.4g})-DP"
        )
        return f"one row replaced: total variation {self.tv:.4g}{private}; {self._expected}"

    @property
    def _expected(self) -> str:
        if self.expected_error is None:
            return f"no expected error follows ({self.why})"
        if self.expected_error >= 1.0:
            return "the expected error that follows is vacuous: at most 1"
        return (
            "a question chosen from the answers is off by at most "
            f"{self.expected_error:.4g} on average over the noise, but for {self.delta:g} of "
            "samples"
        )


@dataclass(frozen=True, slots=True)
class NoiseNeeded:
    """How much noise in each of `questions` answers makes the expected error what is wanted (L15).

    Standard deviation of Gaussian noise, scale of Laplace noise, half-width of uniform noise: parts
    of the range. They are what total variation needs, and no half-widths of answers.
    """

    expected_error: float
    delta: float
    rows: int
    questions: int
    tv: float
    gaussian: float
    laplace: float
    uniform: float

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        return (
            f"for an expected error of {self.expected_error:g} over {self.questions:,} answers on "
            f"{self.rows:,} rows (delta {self.delta:g}): total variation {self.tv:.4g}; noise in "
            f"each answer: gaussian {self.gaussian:.4g}, laplace {self.laplace:.4g}, uniform "
            f"{self.uniform:.4g} of the range"
            + (" (more than the range itself)" if self.gaussian >= 1 else "")
        )


def noise_needed(
    rows: int, questions: int, expected_error: float, delta: float = 0.05
) -> NoiseNeeded:
    """The noise with which L15 promises an expected error, for means of independent rows."""
    delta = require.probability("delta", delta)
    distance = tv_for_expected_error(rows, expected_error, math.log(delta))
    return NoiseNeeded(
        expected_error,
        delta,
        rows,
        questions,
        distance,
        gaussian_scale_for_tv(rows, questions, distance),
        laplace_scale_for_tv(distance / questions, 1 / rows),
        uniform_scale_for_tv(rows, questions, distance),
    )


def neighbours_of(transcript: Transcript, level: float) -> Neighbours:
    """What the ledger says of one row's part in all that was answered; `level` is L15's delta."""
    terms, account = transcript.terms, transcript.account
    distance, privacy, why = _distance(terms, account, transcript.mechanism)
    error = None
    if not terms.independent:
        why = why or f"L15 is about independent rows, not {terms.sampling}"
    elif distance < 1.0:
        error = tv_expected_error(distance, terms.rows, math.log(level))
    return Neighbours(distance, privacy, level, error, why)


def _distance(
    terms: Terms, account: Account, mechanism: Mechanism
) -> tuple[float, ApproxDP | None, str | None]:
    """Total variation, privacy, and why the first is 1."""
    if account.looks == 0:
        return 0.0, ApproxDP(0.0, -math.inf), None
    if not isinstance(mechanism, Leakage | Transfer) or account.described or account.claims:
        return 1.0, None, _without_noise(account, mechanism)
    private = mechanism.privacy(account) if isinstance(mechanism, Transfer) else None
    if private is not None:
        return private.tv.distance, private.exact, None
    shifts = shifts_of(account)
    if shifts.others:
        return 1.0, None, "how far one row moves every answer is not known, or nothing was added"
    tv, privacy = _of_noise(mechanism.law, shifts.scales(terms.rows), shifts.answers)
    return tv.distance, privacy, None if tv.distance < 1.0 else "the noise is too small"


def _without_noise(account: Account, mechanism: Mechanism) -> str:
    if account.described or account.claims:
        return "described answers, checks and gates are told without noise"
    name = mechanism.name.partition("/")[0]
    if isinstance(mechanism, Thresholdout):
        return f"nothing is proved here of the noise of {name}"
    return f"answers by {name} have no noise"


def _of_noise(law: Law, scales: ShiftedScales, answers: int) -> tuple[TV, ApproxDP | None]:
    """Of so many answers that one row moves by these scales of their noise."""
    match law:
        case Uniform():
            return _by_peak(scales.total, 0.5)
        case Median(order=order, parts=parts):  # its scale is in units of so many cells
            return _by_peak(scales.total / parts, peak_density(order))
        case Laplace():
            found = laplace_privacy(PureDP(scales.largest), answers, _LOG_DELTA)
            return min(found.tv, TV(min(1.0, scales.total / 2))), found.exact
        case Normal():
            gdp = GDP(scales.root)
            return gdp_to_tv(gdp), gdp_at_delta(gdp, _LOG_DELTA)
    return TV(1.0), None


def _by_peak(shift: float, peak: float) -> tuple[TV, ApproxDP | None]:
    """Bounded noise: no epsilon is finite, but the distance is a delta for epsilon = 0."""
    distance = peak_tv(shift, peak)
    return TV(distance), ApproxDP(0.0, math.log(distance)) if 0.0 < distance < 1.0 else None
