"""The leakage theorem: what earlier answers revealed, counted in nats. The ledger's currency.

Theorem L. At round j let h be the public history and K_j = prod_{i<j} kappa_i. Let bad_j be the
event that the concentration statement of question j fails, with P_X[bad_j] <= p_j for the question
fixed. Suppose each round has a kernel W_j(h, .) that does not depend on x with
law(a_j | x, h) <= kappa_j W_j(h, .) for every x outside bad_j. Then
P[some bad_j] <= E_W sum_j K_j p_j.

Proof. P[first bad at j] = E_X int 1{no bad before j} 1{bad_j} prod_{i<j} dA_i(x, h)/dW_i dW
<= E_W[K_j P_X(bad_j)] <= E_W[K_j p_j]; sum over j. Questions, radii, noise, mechanism and stopping
may all be chosen from the public history; the population is arbitrary, rows may be dependent.

Conditions that software can break: the noise is fresh, independent of X and unknown to the analyst;
beta_j, p_j, alpha_j, D_j, eps_j are fixed before a_j is drawn; there is one K per set of rows,
over all analysts and mechanisms; noises inside a batch are independent.

Symbols: kappa a charge (here always as ln kappa, in nats, rounded up), alpha the radius of a
question, D the half-range of the noise, t the tolerance, beta_j a question's share of the failure
probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base import special
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import log_add, log_up, round_down, round_up
from holdfast.theory.base.theorem import theorem


@theorem(
    source="Holdfast",
    place="Theorem L",
    statement="If the answers' laws are at most kappa_j times kernels that do not see the "
    "sample, outside bad events of probability p_j, then P[some bad event] <= sum_j K_j p_j with "
    "K_j = prod_{i<j} kappa_i, for any adaptive analyst and any population.",
    domain="log_charges >= 0, log_ps <= 0, of one length; charge j counts for questions after j "
    "only",
    slack="tight for the snowball analyst up to the union over questions",
)
def leakage_log_failure(log_charges: Sequence[float], log_ps: Sequence[float]) -> float:
    """ln of the bound on the probability that any concentration statement fails."""
    if len(log_charges) != len(log_ps):
        raise InvalidArgument(
            f"log_charges has {len(log_charges)} entries and log_ps has {len(log_ps)}; "
            "they must be of one length."
        )
    log_k, terms = 0.0, []
    for log_charge, log_p in zip(log_charges, log_ps, strict=True):
        terms.append(log_k + require.log_probability("log_p", log_p))
        log_k = round_up(log_k + require.non_negative("log_charge", log_charge))
    return log_up(log_add(*terms)) if terms else -math.inf


@theorem(
    source="Holdfast",
    place="Section 3, fixed horizon",
    statement="beta_j = beta/k for k declared questions sums to beta.",
    domain="log_beta <= 0, k >= 1",
    monotone={"log_beta": "up", "k": "down"},
    slack="weights that grow with j give up to 2 % narrower intervals",
)
def fixed_share(log_beta: float, k: int) -> float:
    """ln beta_j for k declared questions, rounded down."""
    k = require.positive_integer("k", k)
    return round_down(require.log_probability("log_beta", log_beta) - math.log(k))


@theorem(
    source="Holdfast",
    place="Section 3, open-ended",
    statement="beta_j = beta/(j(j + 1)) sums to at most beta however many questions come.",
    domain="log_beta <= 0, j >= 1",
    monotone={"log_beta": "up", "j": "down"},
    slack="the price of no horizon: 2 ln j instead of ln k nats",
)
def open_ended_share(log_beta: float, j: int) -> float:
    """ln beta_j of the j-th question when no number is declared, rounded down."""
    j = require.positive_integer("j", j)
    return round_down(require.log_probability("log_beta", log_beta) - math.log(j) - math.log1p(j))


@dataclass(frozen=True, slots=True)
class LeakageAccount:
    """The state of a ledger: questions so far, ln K in nats, and the failure probability given out.

    It is a fold: `ask` before each question, `charge` after its answer. Nothing else is remembered.
    """

    asked: int = 0
    nats: float = 0.0
    log_beta_spent: float = -math.inf

    def radius(self, profile: Concentration, log_share: float) -> float:
        """alpha_j = radius(ln beta_j - ln K): how far the sample may be from the truth."""
        return profile.radius(min(0.0, round_down(log_share - self.nats)))

    def ask(self, log_share: float | None) -> LeakageAccount:
        """One more question that takes e^{log_share} of the failure probability; None: nothing."""
        account = self if log_share is None else self.take(log_share)
        return LeakageAccount(self.asked + 1, self.nats, account.log_beta_spent)

    def take(self, log_share: float) -> LeakageAccount:
        """e^{log_share} of the failure probability is given out, for whatever it is."""
        share = require.log_probability("log_share", log_share)
        return LeakageAccount(self.asked, self.nats, log_up(log_add(self.log_beta_spent, share)))

    def charge(self, nats: float) -> LeakageAccount:
        """The answer's charge, counted for later questions; a batch is charged after all of it."""
        return LeakageAccount(
            self.asked,
            round_up(self.nats + require.non_negative("nats", nats), 1),
            self.log_beta_spent,
        )


@theorem(
    source="Holdfast",
    place="Section 3, charges: deterministic rounding",
    statement="Rounding q to a public grid of pitch 2D is within D of q and is charged "
    "kappa = ceil(alpha/D) + 1, the number of cells an interval of half-width alpha can meet.",
    domain="radius >= 0, half_pitch > 0",
    monotone={"radius": "up", "half_pitch": "down"},
    slack="at least ln 2 per answer even when alpha is tiny",
)
def rounding_log_charge(radius: float, half_pitch: float) -> float:
    """ln(ceil(alpha/D) + 1)."""
    alpha = Fraction(require.non_negative("radius", radius))
    D = Fraction(require.positive("half_pitch", half_pitch))
    return round_up(math.log(math.ceil(alpha / D) + 1))


@theorem(
    source="Literature",
    place="tail of the normal law",
    statement="N(0, s^2) noise exceeds s Phi^{-1}(1 - beta'/2) in absolute value with probability "
    "exactly beta'.",
    domain="s > 0, log_beta <= 0",
    monotone={"s": "up", "log_beta": "down"},
    slack="none",
)
def gaussian_noise_error(s: float, log_beta: float) -> float:
    """s Phi^{-1}(1 - beta'/2), rounded up; log-space."""
    s = require.positive("s", s)
    log_side = require.log_probability("log_beta", log_beta) - math.log(2.0)
    return round_up(-s * float(special.ndtri_exp(log_side)), 64)


@theorem(
    source="Holdfast",
    place="Section 3, charges: a confirmed guess",
    statement="The symbol 'confirmed', to which the public prior gave weight 1 - eps, is charged "
    "kappa = 1/(1 - eps).",
    domain="0 < eps < 1",
    monotone={"eps": "up"},
    slack="none",
)
def confirmed_log_charge(eps: float) -> float:
    """-ln(1 - eps)."""
    return round_up(-math.log1p(-require.probability("eps", eps)))


@theorem(
    source="Holdfast",
    place="Section 3, charges: a refuted guess",
    statement="The symbol 'surprise', to which the public prior gave weight eps, followed by a "
    "release charged kappa', is charged kappa'/eps.",
    domain="0 < eps < 1, release_log_charge >= 0",
    monotone={"eps": "down", "release_log_charge": "up"},
    slack="none",
)
def surprise_log_charge(eps: float, release_log_charge: float) -> float:
    """ln kappa' - ln eps."""
    release = require.non_negative("release_log_charge", release_log_charge)
    return round_up(release - math.log(require.probability("eps", eps)))


@theorem(
    source="Holdfast",
    place="Section 3, ask at tolerance t",
    statement="An answer with uniform noise of half-range D = t - alpha has half-width t and costs "
    "-ln(1 - alpha/t) nats.",
    domain="0 <= radius < tolerance",
    monotone={"radius": "up", "tolerance": "down"},
    slack="none",
)
def ask_log_cost(radius: float, tolerance: float) -> float:
    """-ln(1 - alpha/t), rounded up."""
    t = require.positive("tolerance", tolerance)
    alpha = require.between("radius", radius, 0.0, t, open_high=True)
    return round_up(-math.log1p(-alpha / t))


@theorem(
    source="Holdfast",
    place="Section 3, post-selected statements",
    statement="A statistic chosen after the transcript, among N at once, is one more question "
    "without noise: it is within radius(ln beta' - ln K - ln N) of its truth.",
    domain="log_beta <= 0, nats >= 0, candidates >= 1",
    slack="none; showing q(X) itself closes the ledger",
)
def post_selected_radius(
    profile: Concentration, log_beta: float, nats: float, candidates: int = 1
) -> float:
    """The radius of N statistics named after everything was seen."""
    N = require.positive_integer("candidates", candidates)
    log_beta = require.log_probability("log_beta", log_beta)
    return profile.radius(round_down(log_beta - require.non_negative("nats", nats) - math.log(N)))
