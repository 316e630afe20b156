"""The stopped-oracle theorem: Gaussian answers, any population, any adaptive analyst.

Answer j is q_j(X) + N(0, s_j^2), and q_j(X) is within alpha_j of its expectation unless bad_j, an
event of X and the history with P_X[bad_j] <= p_j for the question fixed. The oracle answers with
the same noise around the expectation. Stop at the first bad event: until then every answer's law
is a Gaussian shifted by at most alpha_j, so the stopped transcript is no easier to tell from the
oracle's than N(m, 1) from N(0, 1), m^2 = sum alpha_j^2/s_j^2. Under the oracle the history does not
see X, so Bad has probability at most p_0 = sum p_j there; Neyman and Pearson say how much that can
become.

Legend
    log_p0      ln p_0, a bound on the sum of the p_j on every path
    m           the root of a bound on the sum of alpha_j^2/s_j^2 on every path
    log_ps, alphas, scales    ln p_j, alpha_j, s_j of a schedule declared in advance
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base import special
from holdfast.theory.base.safeside import log_up, round_up
from holdfast.theory.base.theorem import theorem

__all__ = ["stopped_oracle_log_bound", "stopped_oracle_sequential_log_bound"]

# The relative and absolute error of ndtri_exp, with room: it is 7e-13 at worst, near ln p = -3e5.
_RELATIVE, _ABSOLUTE = 1e-12, 1e-15
_ULP = math.ulp(1.0)


@theorem(
    source="Holdfast",
    place="Section 6.8, stopped oracle",
    statement="If sum_j alpha_j^2/s_j^2 <= m^2 and sum_j p_j <= p_0 on every path, then with "
    "Gaussian answers P[some bad_j] <= Phi(Phi^{-1}(p_0) + m), for any adaptive analyst and any "
    "population.",
    domain="ln p_0 <= 0, m >= 0",
    monotone={"log_p0": "up", "m": "up"},
    slack="none as the number of questions grows: signs asked one by one attain it",
)
def stopped_oracle_log_bound(log_p0: float, m: float) -> float:
    """ln Phi(Phi^{-1}(p_0) + m)."""
    log_p0, m = require.log_probability("log_p0", log_p0), require.non_negative("m", m)
    z = float(special.ndtri_exp(log_p0))  # infinite for p_0 = 1
    return log_up(float(special.log_ndtr(round_up(z + _ABSOLUTE + _RELATIVE * abs(z) + m))))


@theorem(
    source="Holdfast",
    place="Section 6.8, stopped oracle, sequential form",
    statement="With Gaussian answers and p_j, alpha_j, s_j declared in advance, P[some bad_j] <= "
    "sum_j Phi(Phi^{-1}(p_j) + m_j), m_j^2 = sum_{i<j} alpha_i^2/s_i^2.",
    domain="one length; ln p_j <= 0, alpha_j >= 0, s_j > 0",
    slack="the union over questions",
)
def stopped_oracle_sequential_log_bound(
    log_ps: Sequence[float], alphas: Sequence[float], scales: Sequence[float]
) -> float:
    """ln of the sum; the noise of an answer counts for later questions only."""
    if not len(log_ps) == len(alphas) == len(scales):
        raise InvalidArgument(
            f"log_ps, alphas and scales have {len(log_ps)}, {len(alphas)} and {len(scales)} "
            "entries; they must be of one length."
        )
    if not len(log_ps):
        return -math.inf
    log_p, alpha, s = (np.asarray(column, dtype=np.float64) for column in (log_ps, alphas, scales))
    # The extremes stand for all entries (a NaN is an extreme), so that long schedules stay fast.
    require.log_probability("log_ps", float(log_p.max()))
    require.log_probability("log_ps", float(log_p.min()))
    require.non_negative("alphas", float(alpha.min()))
    require.non_negative("alphas", float(alpha.max()))
    require.positive("scales", float(s.min()))
    require.positive("scales", float(s.max()))
    with np.errstate(over="ignore"):  # noise far below the radius: the shift is infinite
        shifts = np.sqrt(np.concatenate(([0.0], np.cumsum(np.square(alpha / s)[:-1]))))
    z = special.ndtri_exp(log_p)
    # A long sum of squares is known to one unit in the last place per term.
    raised = z + _ABSOLUTE + _RELATIVE * np.abs(z) + shifts * (1 + _RELATIVE + s.size * _ULP)
    logs = special.log_ndtr(raised)
    top = float(logs.max())
    return log_up(top + math.log(float(np.exp(logs - top).sum())))
