"""Forms of the papers as printed, beside the exact ones, and lemmas that no promise rests on.

Letters are those of the module that has the exact form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.safeside import log_add, log_up, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.typical.notion import (
    Form,
    TypicalStability,
    log_probability_or_zero,
    probability_up,
)


@theorem(
    source="BF2",
    place="after Definition 2.3 (BF1 after Definition 2.3)",
    statement="Printed: oracle form (eta, tau, nu) implies pair form (2 eta, 3 tau, 2 nu). False "
    "for eta > ln 2.",
    domain="eta >= 0, 0 <= tau, nu <= 1",
    monotone={"eta": "up", "tau": "up", "nu": "up"},
    slack="unsound for eta > ln 2, loose below",
)
def oracle_to_pair_printed(eta: float, tau: float, nu: float) -> TypicalStability:
    """Kept to show the difference: 3 stands where 1 + e^eta belongs."""
    start = TypicalStability(eta, tau, nu, "oracle")
    return TypicalStability(2 * start.eta, min(1.0, 3 * start.tau), min(1.0, 2 * start.nu), "pair")


@theorem(
    source="BF2",
    place="Lemma 3.1 (BF1 Lemma 2.4)",
    statement="Whatever is computed from the answer alone keeps the parameters.",
    domain="any typical stability",
    slack="none in general",
)
def post_processing(stability: TypicalStability) -> TypicalStability:
    """Unchanged: an event of B(A(x)) is a mixture of events of A(x)."""
    return stability


@theorem(
    source="BF2",
    place="Lemma 3.2 (BF1 Lemma 2.5), made exact",
    statement="Mechanisms fixed in advance with independent coins, (eta_i, tau_i, nu_i)-stable in "
    "one form, are together (sum eta_i, 1 - prod(1 - tau_i), sum nu_i)-stable in that form.",
    domain="one or more values of one form, chosen before the sample was seen",
    slack="none in (eta, tau) at eta = sum eta_i; nu is a union bound",
    printed="non_adaptive_composition_printed",
)
def non_adaptive_composition(steps: Sequence[TypicalStability]) -> TypicalStability:
    """The steps together, in any order."""
    if not steps or len({step.form for step in steps}) != 1:
        raise InvalidArgument(
            f"steps is {steps!r}; it must be one or more typical stabilities of one form: "
            "convert with to_pair or to_oracle first."
        )
    tau = 1.0
    if all(step.tau < 1 for step in steps):
        tau = -math.expm1(math.fsum(math.log1p(-step.tau) for step in steps))
    eta = math.fsum(step.eta for step in steps)
    return TypicalStability(
        round_up(eta) if len(steps) > 1 and eta > 0 else eta,
        probability_up(tau),
        probability_up(math.fsum(step.nu for step in steps)),
        steps[0].form,
    )


@theorem(
    source="BF2",
    place="Lemma 3.2 (BF1 Lemma 2.5)",
    statement="k mechanisms fixed in advance, each (eta, tau, nu)-stable, are together "
    "(k eta, k tau, k nu)-stable.",
    domain="k >= 1, eta >= 0, 0 <= tau, nu <= 1",
    monotone={"k": "up", "eta": "up", "tau": "up", "nu": "up"},
    slack="k tau against 1 - (1 - tau)^k",
)
def non_adaptive_composition_printed(
    k: int, eta: float, tau: float, nu: float, form: Form = "oracle"
) -> TypicalStability:
    """Sound; kept beside the exact form."""
    k, step = require.positive_integer("k", k), TypicalStability(eta, tau, nu, form)
    return TypicalStability(
        k * step.eta, probability_up(k * step.tau), probability_up(k * step.nu), form
    )


def _printed_near_independence(
    log_p: float, eta: float, log_tau: float, log_nu: float, factor: float
) -> float:
    log_p = log_probability_or_zero("log_p", log_p)
    eta = require.between("eta", eta, 0.0, 1.0, open_high=True)
    log_tau = log_probability_or_zero("log_tau", log_tau)
    log_nu = log_probability_or_zero("log_nu", log_nu)
    if log_nu >= math.log(0.1):
        raise InvalidArgument(f"log_nu is {log_nu!r}; it must be below ln(1/10).")
    return log_up(log_add(eta + log_p, log_tau, math.log(factor) + log_nu))


@theorem(
    source="BF1",
    place="Lemma 2.6, equation (2)",
    statement="For eta < 1, nu < 1/10: P[(X, A(X)) in O] <= e^eta P[(X, A(Y)) in O] + tau + 4 nu.",
    domain="0 <= eta < 1, log_nu < ln(1/10)",
    monotone={"log_p": "up", "eta": "up", "log_tau": "up", "log_nu": "up"},
    slack="3 nu",
)
def near_independence_bf1_printed(log_p: float, eta: float, log_tau: float, log_nu: float) -> float:
    """Sound, by the exact form; kept beside it."""
    return _printed_near_independence(log_p, eta, log_tau, log_nu, 4.0)


@theorem(
    source="BF2",
    place="Lemma 3.3, equation (2)",
    statement="For eta < 1, nu < 1/10: P[(X, A(X)) in O] <= e^eta P[(X, A(Y)) in O] + tau + 5 nu.",
    domain="0 <= eta < 1, log_nu < ln(1/10)",
    monotone={"log_p": "up", "eta": "up", "log_tau": "up", "log_nu": "up"},
    slack="4 nu",
)
def near_independence_printed(log_p: float, eta: float, log_tau: float, log_nu: float) -> float:
    """Sound, by the exact form; kept beside it."""
    return _printed_near_independence(log_p, eta, log_tau, log_nu, 5.0)


@theorem(
    source="BF1",
    place="Theorem 2.7",
    statement="If A is (eta, tau, e^{-gamma})-stable with gamma = gamma_n(alpha), then "
    "P[|q_X(X) - E q_X| > alpha] <= e^{eta - gamma} + 4 e^{-gamma} + tau.",
    domain="eta >= 0, log_tail <= 0, log_tau <= 0 (-inf for 0)",
    monotone={"log_tail": "up", "eta": "up", "log_tau": "up"},
    slack="3 e^{-gamma}",
)
def generalisation_bf1_printed(log_tail: float, eta: float, log_tau: float) -> float:
    """Sound, by the exact form; nu is tied to the tail."""
    log_tail = log_probability_or_zero("log_tail", log_tail)
    eta = require.non_negative("eta", eta)
    log_tau = log_probability_or_zero("log_tau", log_tau)
    return log_up(log_add(eta + log_tail, log_tau, math.log(4) + log_tail))


@theorem(
    source="BF2",
    place="Theorem 3.4",
    statement="If A is (eta, tau, nu)-stable and alpha the least radius with e^{-gamma_n(alpha)} "
    "<= nu, then P[|q_X(X) - E q_X| > alpha] <= (e^eta + 5) nu + tau.",
    domain="eta >= 0, log_tau, log_nu <= 0 (-inf for 0)",
    monotone={"eta": "up", "log_tau": "up", "log_nu": "up"},
    slack="4 nu",
)
def generalisation_printed(eta: float, log_tau: float, log_nu: float) -> float:
    """Sound, by the exact form; the tail is tied to nu."""
    log_nu = log_probability_or_zero("log_nu", log_nu)
    eta = require.non_negative("eta", eta)
    log_tau = log_probability_or_zero("log_tau", log_tau)
    return log_up(log_add(eta + log_nu, log_tau, math.log(5) + log_nu))


@theorem(
    source="BF2",
    place="Section 2.2, printed",
    statement="Printed: a sigma-sub-Gaussian question deviates by more than a with probability "
    "below exp(-a^2/(2 sigma^2)). False: the factor 2 is missing.",
    domain="sigma > 0, radius >= 0",
    monotone={"sigma": "up", "radius": "down"},
    slack="unsound by ln 2",
)
def sub_gaussian_log_tail_printed(sigma: float, radius: float) -> float:
    """The printed log-tail without ln 2: kept to show the difference, used for no interval."""
    sigma = require.positive("sigma", sigma)
    return -0.5 * (require.non_negative("radius", radius) / sigma) ** 2


@theorem(
    source="BF2",
    place="Section 2.2, sub-exponential queries, printed",
    statement="Printed: ln P[|q - theta| > a] < -min(a^2/(2 sigma^2), sigma^2/(2 b^2)). The "
    "factor 2 is missing and the tail stops falling at a = sigma^2/b.",
    domain="sigma > 0, b > 0, radius >= 0",
    monotone={"radius": "down", "b": "up"},
    slack="unsound by ln 2; useless for small probabilities",
)
def sub_exponential_log_tail_printed(sigma: float, b: float, radius: float) -> float:
    """The printed, saturating log-tail: kept to show the difference."""
    ratio = require.positive("sigma", sigma) / require.positive("b", b)
    a = require.non_negative("radius", radius)
    return -min(0.5 * (a / sigma) ** 2, 0.5 * ratio**2)
