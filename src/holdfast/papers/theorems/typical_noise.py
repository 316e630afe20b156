"""Noise of the typical stability papers: Laplace, and Gaussian as printed.

No mechanism adds it: answers have the Gaussian noise of `theory.typical.calibrated_noise`.

Legend
    alpha       the radius of the question at level nu (in BF1's set form: at level nu/2)
    eta, tau    the closeness asked for, as ln tau; nu the share of untypical samples
    s           the standard deviation of the noise
    beta        the probability that the noise exceeds the error, as ln beta
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.papers.theorems.other_accounts import laplace_noise_error
from holdfast.theory.base.safeside import largest_true, round_down, round_up
from holdfast.theory.base.theorem import SourceNote, theorem
from holdfast.theory.leakage.nats import gaussian_noise_error
from holdfast.theory.notions.arrows import log_gaussian_delta
from holdfast.theory.typical.calibrated_noise import below_one, gaussian_scale


@theorem(
    source="BF2",
    place="Algorithm 2, Theorem 5.1",
    statement="If P[|q(X) - E q| > alpha] <= nu, then q + Laplace(alpha/eta) is (eta, 0, nu)-"
    "typically stable in oracle form, for any population.",
    domain="alpha > 0, eta > 0",
    monotone={"alpha": "up", "eta": "down"},
    slack="none: a sample at distance alpha has the ratio e^eta exactly",
)
def laplace_scale(alpha: float, eta: float) -> float:
    """b = alpha/eta, rounded up."""
    return round_up(require.positive("alpha", alpha) / require.positive("eta", eta))


@theorem(
    source="BF1",
    place="Figure 2, Theorem 4.1",
    statement="If P[|q(X) - E q| > alpha] <= nu/2, then q + Laplace(2 alpha/eta) is (eta, 0, nu)-"
    "typically stable in set form (and (eta/2, 0, nu/2) in oracle form), for any population.",
    domain="alpha = radius(ln(nu/2)) > 0, eta > 0",
    monotone={"alpha": "up", "eta": "down"},
    slack="none in eta; nu/2 could be 1 - sqrt(1 - nu)",
    notes=(
        SourceNote(
            "slip",
            "BF1",
            "Theorem 4.1, proof",
            "P[q(u) + Lap(eta/(2 alpha)) in O] = (alpha/eta) times the integral over O of "
            "e^{-eta |w - q(u)|/(2 alpha)}",
            "Lap(2 alpha/eta), and the prefactor eta/(4 alpha)",
            "The argument of Lap is the scale in Figure 2 and the rate in the proof, and the "
            "prefactor is that of a density with scale eta/(2 alpha): with it the density has mass "
            "(2 alpha/eta)^2, not 1. The ratio of the two sides is not touched.",
        ),
    ),
)
def laplace_scale_set_form(alpha: float, eta: float) -> float:
    """b = 2 alpha/eta: two typical samples may be 2 alpha apart."""
    return laplace_scale(2 * require.positive("alpha", alpha), eta)


@theorem(
    source="BF2",
    place="Theorem 5.2 (BF1 Theorem 4.2 with 2 alpha)",
    statement="The answer of Algorithm 2 is further than (alpha/eta) ln(1/beta) from q(x) with "
    "probability exactly beta.",
    domain="alpha > 0, eta > 0, ln beta <= 0",
    monotone={"alpha": "up", "eta": "down", "log_beta": "down"},
    slack="none",
)
def laplace_mechanism_error(alpha: float, eta: float, log_beta: float) -> float:
    """(alpha/eta) ln(1/beta), rounded up."""
    return laplace_noise_error(laplace_scale(alpha, eta), log_beta)


@theorem(
    source="BF2",
    place="Algorithm 3",
    statement="Printed: q + N(0, s^2) with s = alpha sqrt(2 ln(1.5/tau))/eta is (eta, tau, nu)-"
    "typically stable. True for eta <= gaussian_scale_printed_eta_max(ln tau).",
    domain="alpha > 0, eta > 0, ln tau < 0",
    monotone={"alpha": "up", "eta": "down", "log_tau": "down"},
    slack="26 % more noise than needed at eta = 1, tau = 10^-6; unsound for large eta",
)
def gaussian_scale_printed(alpha: float, eta: float, log_tau: float) -> float:
    """Kept to show the difference: use `gaussian_scale`."""
    alpha, eta = require.positive("alpha", alpha), require.positive("eta", eta)
    return alpha * math.sqrt(2 * (math.log(1.5) - below_one("log_tau", log_tau))) / eta


@theorem(
    source="Holdfast",
    place="Section 6.6, range of the printed Gaussian noise",
    statement="s = alpha sqrt(2 ln(c/tau))/eta is (eta, tau)-close at distance alpha exactly for "
    "eta up to this number; c = 1.5 in BF2 (never below 4.95), c = 1 in BF1's inferred form.",
    domain="ln tau < 0, constant >= 1",
    monotone={"constant": "up"},
    slack="none",
)
def gaussian_scale_printed_eta_max(log_tau: float, constant: float = 1.5) -> float:
    """The largest eta at which the printed noise is enough, rounded down.

    With mu = eta/L, L = sqrt(2 ln(c/tau)), the hockey stick grows with eta: its derivative is
    phi(eta/(2L) - L) (1/L - mills(eta/(2L) + L)) > 0.
    """
    log_tau = below_one("log_tau", log_tau)
    L = math.sqrt(2 * (math.log(require.at_least("constant", constant, 1.0)) - log_tau))

    def close(eta: float) -> bool:
        return log_gaussian_delta(eta / L, eta) <= log_tau

    low = 1.0
    while not close(low):
        low /= 2
    high = 2 * low
    while close(high):
        low, high = high, 2 * high
    return round_down(largest_true(close, low, high))


@theorem(
    source="BF1",
    place="Algorithm 3 (Figure 3), inferred",
    statement="Inferred: q + N(0, s^2) with s = 2 alpha sqrt(2 ln(1/tau))/eta is (eta, tau, nu)-"
    "typically stable in set form. True for eta <= gaussian_scale_printed_eta_max(ln tau, 1).",
    domain="alpha = radius(ln(nu/2)) > 0, eta > 0, ln tau < 0",
    monotone={"alpha": "up", "eta": "down", "log_tau": "down"},
    slack="unsound for large eta, and for tau near 1",
    notes=(
        SourceNote(
            "copy",
            "BF1",
            "Figure 3",
            "(the figure with Algorithm 3 is missing)",
            "s = 2 alpha sqrt(2 ln(1/tau))/eta",
            "Our copy has the caption only. Inferred from the error of Theorem 4.4, which is "
            "s sqrt(2 ln(1/beta)) for this s.",
        ),
    ),
)
def gaussian_scale_bf1_printed(alpha: float, eta: float, log_tau: float) -> float:
    """Kept for completeness: use `gaussian_scale` at distance 2 alpha."""
    alpha, eta = require.positive("alpha", alpha), require.positive("eta", eta)
    return 2 * alpha * math.sqrt(-2 * below_one("log_tau", log_tau)) / eta


@theorem(
    source="BF2",
    place="Theorem 5.4, made exact",
    statement="The answer with exactly calibrated Gaussian noise is further than s sqrt(2) "
    "erfcinv(beta) from q(x) with probability exactly beta.",
    domain="alpha > 0, eta > 0, ln tau < 0, ln beta <= 0",
    monotone={"alpha": "up", "eta": "down", "log_tau": "down", "log_beta": "down"},
    slack="none",
    printed="gaussian_mechanism_error_printed",
)
def gaussian_mechanism_error(alpha: float, eta: float, log_tau: float, log_beta: float) -> float:
    """s sqrt(2) erfcinv(beta) for the least s, rounded up."""
    return gaussian_noise_error(gaussian_scale(alpha, eta, log_tau), log_beta)


@theorem(
    source="BF2",
    place="Theorem 5.4",
    statement="The answer of Algorithm 3 is further than 2 alpha sqrt(ln(1.5/tau) ln(1/beta))/eta "
    "from q(x) with probability at most beta.",
    domain="alpha > 0, eta > 0, ln tau < 0, ln beta <= 0",
    monotone={"alpha": "up", "eta": "down", "log_tau": "down", "log_beta": "down"},
    slack="sqrt(2 ln(1/beta)) where the exact quantile is smaller: 25 % at beta = .05",
)
def gaussian_mechanism_error_printed(
    alpha: float, eta: float, log_tau: float, log_beta: float
) -> float:
    """Sound for the printed s; kept beside the exact form."""
    s = gaussian_scale_printed(alpha, eta, log_tau)
    return round_up(s * math.sqrt(-2 * require.log_probability("log_beta", log_beta)))
