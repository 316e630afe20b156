"""Generalisation by total-variation stability, and small samples that answer alike.

**These are statements about an expectation over the mechanism's coins, or about the existence of a
data set: none of them is an interval for a released answer.**

Legend
    n, k        rows; questions
    distance    total variation of the whole interaction between neighbours (L15's epsilon)
    log_delta   ln delta; delta is the probability, over the sample, that the statement fails
    L           ln(2/delta)
    tau         target for the expected error
    s           standard deviation of the Gaussian noise of each answer
    alpha       how well a subsample must answer k questions; n' its size
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.errors import ToleranceTooTight
from holdfast.papers.theorems.notions import gaussian_scale_for_tv
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.base.theorem import SourceNote, theorem
from holdfast.theory.typical.notion import log_probability_or_zero


def _fluctuation(n: int, log_delta: float) -> float:
    """sqrt(L/(2n)): what is left of the error when the mechanism is perfectly stable."""
    n = require.positive_integer("n", n)
    L = math.log(2) - require.log_probability("log_delta", log_delta)
    return math.sqrt(L / (2 * n))


@theorem(
    source="L15",
    place="Putting it all together, the displayed bound",
    statement="If the interaction is TV-stable with `distance` and the n rows are independent, "
    "then except with probability delta over the sample, |E_coins[q(X) - q(P)]| <= distance + "
    "(2 distance n + 1) sqrt(ln(2/delta)/(2n)) for the question q that it outputs.",
    domain="0 <= distance <= 1, n >= 1, ln delta <= 0; an expectation over coins, not an interval",
    monotone={"distance": "up", "log_delta": "down"},
    slack="McDiarmid with differences 2 distance + 1/n; vacuous unless distance is below 1/sqrt(n)",
    printed="tv_expected_error_printed",
    notes=(
        SourceNote(
            kind="loose",
            source="L15",
            place="Putting it all together, the displayed bound",
            printed="distance + (2 distance m + 1) sqrt(ln(2/delta)/m)",
            right="distance + (2 distance m + 1) sqrt(ln(2/delta)/(2m))",
            why="by sqrt 2: McDiarmid with m differences c has radius c sqrt(m ln(2/delta)/2)",
        ),
        SourceNote(
            kind="copy",
            source="L15",
            place="the last display, first and third line",
            printed="tau + (2 alpha m + 1) ...; 3 epsilon sqrt(k m) sqrt(ln(2/beta)/m)",
            right="alpha + (2 alpha m + 1) ...; 3 epsilon sqrt(k) m sqrt(ln(2/beta)/m)",
            why="tau, the target, stands where the stability alpha belongs (as it stands for r "
            "under the expectation); with m outside the root the fourth line follows from the "
            "third, with m under it a factor sqrt(m) is lost there and back afterwards",
        ),
        SourceNote(
            kind="slip",
            source="L15",
            place="the last display, from the second line to the third",
            printed="2 epsilon sqrt(k) m + 1 <= 3 epsilon sqrt(k) m",
            right="if epsilon sqrt(k) m >= 1",
            why="the + 1 is absorbed unconditionally: at epsilon = 1/(2 sqrt(k) m) it is 2 against "
            "1.5",
        ),
    ),
)
def tv_expected_error(distance: float, n: int, log_delta: float) -> float:
    """E_X of the error is at most `distance`; replacing one row moves it by 2 distance + 1/n."""
    distance = require.between("distance", distance, 0.0, 1.0)
    root = _fluctuation(n, log_delta)
    return round_up(distance + (2 * distance * n + 1) * root, 8)


@theorem(
    source="L15",
    place="Putting it all together, the displayed bound",
    statement="As tv_expected_error, with sqrt(ln(2/delta)/n).",
    domain="0 <= distance <= 1, n >= 1, ln delta <= 0",
    monotone={"distance": "up", "log_delta": "down"},
    slack="loose by up to sqrt 2",
)
def tv_expected_error_printed(distance: float, n: int, log_delta: float) -> float:
    """The printed form, kept to show the difference."""
    distance = require.between("distance", distance, 0.0, 1.0)
    root = math.sqrt(2) * _fluctuation(n, log_delta)
    return round_up(distance + (2 * distance * n + 1) * root, 8)


@theorem(
    source="Holdfast",
    place="theory section 7, possibility condition",
    statement="tv_expected_error can promise tau, with enough noise, iff "
    "tau > sqrt(ln(2/delta)/(2n)).",
    domain="n >= 1, ln delta <= 0",
    monotone={"n": "down", "log_delta": "down"},
    slack="exact for this bound",
)
def tv_least_expected_error(n: int, log_delta: float) -> float:
    """The value of `tv_expected_error` at distance 0: no noise can bring the bound down to it."""
    return round_up(_fluctuation(n, log_delta))


@theorem(
    source="Holdfast",
    place="theory section 7, the bound of L15 inverted",
    statement="An interaction with a total-variation distance of (tau - r)/(1 + 2 n r), r = "
    "sqrt(ln(2/delta)/(2n)), has tv_expected_error tau.",
    domain="n >= 1, ln delta <= 0, r < tau <= 1; ToleranceTooTight for tau <= r",
    monotone={"tau": "up", "log_delta": "up"},
    slack="exact for this bound",
)
def tv_for_expected_error(n: int, tau: float, log_delta: float) -> float:
    """The largest distance with which L15's bound promises an expected error of tau."""
    tau = require.between("tau", tau, 0.0, 1.0, open_low=True)
    r = tv_least_expected_error(n, log_delta)
    distance = round_down((tau - r) / (1 + 2 * n * r), 8)
    if distance <= 0:
        raise ToleranceTooTight(
            f"An expected error of {tau:g} is not above {r:.6g}, the least that total-variation "
            f"stability can promise for {n:,} rows at delta = {math.exp(log_delta):.3g}; "
            "ask for more than that, take more rows or a larger delta."
        )
    return distance


_SIGMA_BELOW_ONE = SourceNote(
    kind="slip",
    source="L15",
    place="Putting it all together, the second inequality of the display",
    printed="assuming sigma < 1, 2k/(sqrt(2 pi) sigma) + 1 <= 3k/(sqrt(2 pi) sigma)",
    right="the step needs sigma <= k/sqrt(2 pi)",
    why="for k = 1 and sigma in (.4, 1) the 1 is larger than k/(sqrt(2 pi) sigma)",
)
_OMEGA = SourceNote(
    kind="slip",
    source="L15",
    place="Putting it all together, 'it suffices to take'",
    printed="sigma in O(k sqrt(log(1/delta))/(sqrt(m) tau))",
    right="sigma in Omega(k sqrt(log(1/delta))/(sqrt(m) tau))",
    why="more noise is more stable: what suffices is a lower bound on sigma, and sigma = 0 is in "
    "O(...) (the sentence that opens the section has the same O)",
)
_ROWS_NEEDED = SourceNote(
    kind="slip",
    source="L15",
    place="Putting it all together, the last line before DP",
    printed="m in omega(k^2 sqrt(log(1/delta))/tau^2)",
    right="m in omega(k^2 log(1/delta)/tau^2)",
    why="sigma in o(1) needs sqrt(m) above k sqrt(log(1/delta))/tau; its square has no root",
)


@theorem(
    source="L15",
    place="Putting it all together, with the exact distance",
    statement="Gaussian noise s = sqrt(k)/(2 sqrt(2) n erfinv(e)), e = (tau - r)/(1 + 2 n r), r = "
    "sqrt(ln(2/delta)/(2n)), in each of k adaptive answers makes tv_expected_error at most tau.",
    domain="n >= 1, k >= 1, ln delta <= 0, r < tau <= 1; ToleranceTooTight for tau <= r",
    monotone={"n": "down", "k": "up", "tau": "down", "log_delta": "down"},
    slack="exact for this bound: no smaller s makes it tau",
    printed="gaussian_scale_for_expected_error_printed",
    notes=(_SIGMA_BELOW_ONE, _OMEGA, _ROWS_NEEDED),
)
def gaussian_scale_for_expected_error(n: int, k: int, tau: float, log_delta: float) -> float:
    """The least noise with which this bound promises an expected error of at most tau."""
    return gaussian_scale_for_tv(n, k, tv_for_expected_error(n, tau, log_delta))


@theorem(
    source="Holdfast",
    place="theory section 7, the DP half of L15 inverted",
    statement="An (epsilon, delta')-DP interaction with e^epsilon = (1 + d - 2 delta')/(1 - d) has "
    "an expected error of at most tau, d the distance that L15's bound allows.",
    domain="n >= 1, 0 < tau <= 1, ln delta < 0, ln delta' < ln d (-inf for pure DP)",
    monotone={"tau": "up"},
    slack="that of L15's bound; the arrow from DP to total variation is exact",
)
def epsilon_for_expected_error(
    n: int, tau: float, log_delta: float, log_dp_delta: float = -math.inf
) -> float:
    """The most privacy loss of a whole interaction with which L15 promises this error."""
    distance = tv_for_expected_error(n, tau, log_delta)
    beyond = math.exp(log_probability_or_zero("log_dp_delta", log_dp_delta))
    if distance <= beyond:
        raise ToleranceTooTight(
            f"delta' is {beyond:.3g}, and an expected error of {tau:g} allows a distance of "
            f"{distance:.3g} in all; give a smaller delta'."
        )
    return max(0.0, round_down(math.log1p(2 * (distance - beyond) / (1 - distance)), 8))


@theorem(
    source="L15",
    place="Putting it all together, the display solved for sigma (corrected to sqrt(2 pi) m sigma)",
    statement="s = (k/(sqrt(2 pi) tau)) (1/n + 3 sqrt(ln(2/delta)/n)), if s <= k/sqrt(2 pi).",
    domain="n >= 1, k >= 1, 0 < tau <= 1, ln delta <= 0, result at most k/sqrt(2 pi)",
    monotone={"n": "down", "k": "up", "tau": "down", "log_delta": "down"},
    slack="grows as k, where the exact form grows as sqrt(k)",
)
def gaussian_scale_for_expected_error_printed(
    n: int, k: int, tau: float, log_delta: float
) -> float:
    """The printed chain with its hidden constant; infinite where its condition on s fails."""
    tau = require.between("tau", tau, 0.0, 1.0, open_low=True)
    k = require.positive_integer("k", k)
    peak = k / math.sqrt(2 * math.pi)
    s = peak / tau * (3 * math.sqrt(2) * _fluctuation(n, log_delta) + 1 / n)
    return round_up(s, 8) if s <= peak else math.inf


@theorem(
    source="L4",
    place="Claim 1",
    statement="For any k questions into [0, 1] and any data set there is a data set of n' rows, "
    "repetitions allowed, that answers all of them within alpha, if n' > ln(2k)/(2 alpha^2).",
    domain="k >= 1, 1e-100 <= alpha <= 1",
    monotone={"k": "up", "alpha": "down"},
    slack="Hoeffding and a union bound; only the existence is claimed",
    printed="subsample_size_printed",
    notes=(
        SourceNote(
            kind="loose",
            source="L4",
            place="Claim 1",
            printed="n' = ln(4k)/(2 alpha^2)",
            right="any whole n' > ln(2k)/(2 alpha^2)",
            why="existence needs a success probability above 0, not 1/2; and n' is a whole number",
        ),
    ),
)
def subsample_size(k: int, alpha: float) -> int:
    """The least n' for which n' draws with replacement succeed with probability above 0."""
    k = require.positive_integer("k", k)
    alpha = require.between("alpha", alpha, 1e-100, 1.0)
    return math.floor(round_up(math.log(2 * k) / (2 * alpha * alpha))) + 1


@theorem(
    source="L4",
    place="Claim 1",
    statement="As subsample_size, with n' = ln(4k)/(2 alpha^2), rounded up to a whole number.",
    domain="k >= 1, 1e-100 <= alpha <= 1",
    monotone={"k": "up", "alpha": "down"},
    slack="(ln 2)/(2 alpha^2) more rows than needed",
)
def subsample_size_printed(k: int, alpha: float) -> int:
    """The printed size, at which a random subsample succeeds with probability 1/2."""
    k = require.positive_integer("k", k)
    alpha = require.between("alpha", alpha, 1e-100, 1.0)
    return math.ceil(round_up(math.log(4 * k) / (2 * alpha * alpha)))
