"""Privacy of a transcript: what k private answers are together, in every notion.

Neighbours differ in one row; the number of rows is public. `epsilon` and `delta` are those of the
exact composition at the declared delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from holdfast.mechanisms.noise import LAPLACE, Law
from holdfast.theory.notions.arrows import (
    gdp_to_tv,
    gdp_to_zcdp,
    pure_dp_to_tv,
    pure_dp_to_zcdp,
    zcdp_to_approx_dp_sharp,
)
from holdfast.theory.notions.composing import GDP, TV, ZCDP, ApproxDP, PureDP
from holdfast.theory.notions.distances import advanced_composition, laplace_tv
from holdfast.theory.transfer.differential_privacy import (
    gdp_at_delta,
    optimal_composition_at_delta,
    pure_dp_to_gdp,
)
from holdfast.wording import plural

_PROTECTED = (
    "each row, whatever it is, against whoever sees all answers and knows all other rows; the "
    "number of rows, the columns and the schema are public"
)
_NOTHING = ApproxDP(0.0, -math.inf)


@dataclass(frozen=True, slots=True)
class Privacy:
    """Privacy loss: what the answers so far reveal of any one row, at most."""

    answers: int
    basic: ApproxDP
    advanced: ApproxDP
    exact: ApproxDP
    zcdp: ZCDP
    gdp: GDP
    tv: TV

    @property
    def epsilon(self) -> float:
        return self.exact.epsilon

    @property
    def delta(self) -> float:
        return self.exact.delta

    @property
    def pure_epsilon(self) -> float | None:
        """epsilon with delta = 0; None for Gaussian noise, which has none."""
        return self.basic.epsilon if self.basic.delta == 0.0 else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "answers": self.answers,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.zcdp.rho,
            "mu": self.gdp.mu,
            "tv": self.tv.distance,
            "pure_epsilon": self.pure_epsilon,
            "compositions": {
                name: {"epsilon": value.epsilon, "delta": value.delta}
                for name, value in (
                    ("basic", self.basic),
                    ("advanced", self.advanced),
                    ("exact", self.exact),
                )
            },
            "protects": _PROTECTED,
        }

    def __str__(self) -> str:
        pure = "" if self.pure_epsilon is None else f"{self.pure_epsilon:.4g}-DP, "
        return (
            f"{pure}({self.epsilon:.4g}, {self.delta:.3g})-DP, {self.zcdp.rho:.4g}-zCDP, "
            f"{self.gdp.mu:.4g}-GDP, total variation {self.tv.distance:.4g} after "
            f"{plural(self.answers, 'answer')} (replace one row)"
        )


def _untouched() -> Privacy:
    return Privacy(0, _NOTHING, _NOTHING, _NOTHING, ZCDP(0.0), GDP(0.0), TV(0.0))


def privacy_of(law: Law, loss: float, answers: int, log_delta: float) -> Privacy:
    """Privacy of answers to which one row makes a difference of `loss` scales of the noise."""
    if law is LAPLACE:
        return laplace_privacy(PureDP(loss), answers, log_delta)
    return gaussian_privacy(GDP(loss), answers, log_delta)


def laplace_privacy(step: PureDP, answers: int, log_delta: float) -> Privacy:
    """Privacy of answers with discrete Laplace noise, each epsilon-DP."""
    if answers == 0:
        return _untouched()
    basic = step.repeated(answers)
    gdp = min(pure_dp_to_gdp(step).repeated(answers), pure_dp_to_gdp(basic))
    return Privacy(
        answers,
        basic=ApproxDP(basic.epsilon, -math.inf),
        advanced=advanced_composition(step, answers, log_delta),
        exact=optimal_composition_at_delta(step, answers, log_delta),
        zcdp=pure_dp_to_zcdp(step).repeated(answers),
        gdp=gdp,
        # Two discrete Laplace laws cross half-way too, so one answer has the continuous distance.
        tv=min(
            TV(laplace_tv(step.epsilon)).repeated(answers), pure_dp_to_tv(basic), gdp_to_tv(gdp)
        ),
    )


def gaussian_privacy(step: GDP, answers: int, log_delta: float) -> Privacy:
    """Privacy of answers with rounded Gaussian noise, each mu-GDP."""
    if answers == 0:
        return _untouched()
    gdp = step.repeated(answers)
    return Privacy(
        answers,
        basic=gdp_at_delta(step, log_delta - math.log(answers)).repeated(answers),
        advanced=zcdp_to_approx_dp_sharp(gdp_to_zcdp(gdp), log_delta),
        exact=gdp_at_delta(gdp, log_delta),
        zcdp=gdp_to_zcdp(gdp),
        gdp=gdp,
        tv=gdp_to_tv(gdp),
    )
