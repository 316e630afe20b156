"""The papers' noise (BF1, BF2): of a size that keeps two typical samples' answers eta-close.

With eta the noise of every answer is declared: alpha at level nu over eta (version 2, oracle form),
or twice alpha at level nu/2 (version 1, set form); Gaussian noise is calibrated exactly where the
papers print a formula. The grid is chosen so that rounding is inside: the distance in *cells*,
rounded up, keeps to eta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from holdfast.mechanisms.laws.law import Grid
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.leakage.release import RESOLUTION

if TYPE_CHECKING:
    from holdfast.theory.typical.notion import Form, TypicalStability

__all__ = ["Calibration"]

_LOG_HALF = math.log(0.5)


@dataclass(frozen=True, slots=True)
class Calibration:
    """(eta, tau, nu) declared for every answer; tau is 0 with Laplace noise."""

    version: int
    eta: float
    tau: float
    nu: float

    @property
    def stability(self) -> TypicalStability:
        """What one answer is: in oracle form (version 2) or in set form (version 1)."""
        from holdfast.theory.typical.notion import TypicalStability

        form: Form = "oracle" if self.version == 2 else "set"
        return TypicalStability(self.eta, self.tau, self.nu, form)

    def grid(self, profile: Concentration, error: float) -> Grid | None:
        """As fine as eta allows, the distance of two typical cells rounded up; None: no cell."""
        log_nu = math.log(self.nu)
        if self.version == 2:
            distance = Fraction(round_up(profile.radius(log_nu) + error))
        else:
            distance = 2 * Fraction(round_up(profile.radius(log_nu + _LOG_HALF) + error))
        most = self.eta
        if self.tau > 0.0:
            from holdfast.theory.typical.noise import gaussian_scale

            most = round_down(1 / gaussian_scale(1.0, self.eta, math.log(self.tau)))
        cells = math.floor(math.floor(Fraction(most) * RESOLUTION) / distance)
        return Grid(cells, RESOLUTION, None) if cells else None
