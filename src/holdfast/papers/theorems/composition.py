"""Adaptive composition of typically stable steps after Bassily and Freund: repaired and literal.

Step j is (eta, tau, nu)-typically stable in oracle form for every history and may be chosen from
all earlier answers. The repaired theorems here are the printed ones with the exponents that their
proofs give; the literal ones end in `_printed`. `sharp_composition` has the better numbers.

Legend
    k           the number of steps; t the number of steps so far
    eta, tau, nu    of one step, tau = 0 in the pure theorems; as logarithms where they may be tiny
    tau_prime   tau', a free parameter: the probability given to the deviation of the privacy loss
    eta_t       what t pure steps reveal, except with probability tau'
    tau_hat     2 tau/(1 - e^-eta), the mass where an approximate step's log-ratio exceeds 2 eta
    psi         the approximate steps' addition to the mean log-ratio
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.safeside import log1mexp, log_add, log_up, round_up
from holdfast.theory.base.theorem import SourceNote, theorem
from holdfast.theory.typical.notion import TypicalStability, log_probability_or_zero
from holdfast.theory.typical.sharp_composition import (
    bad_event_log_bound,
    log_geometric_sum,
    optimal_composition_log_delta,
)

_LARGEST_ETA = 500.0  # beyond it e^eta times k leaves the floats, and every statement is empty


_BLOCKS = 1 << 14  # of terms of a long sum


_Steps = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Composed:
    """Composition of k steps, in oracle form; a log above 0 is an empty promise."""

    eta: float
    log_tau: float
    log_nu: float

    def stability(self) -> TypicalStability:
        """The same as probabilities, rounded up and at most 1."""
        return TypicalStability.from_logs(self.eta, self.log_tau, self.log_nu)


def _log_sum_of_exponentials(k: int, exponent: Callable[[_Steps], _Steps]) -> float:
    """ln of sum_{t=1}^{k - 1} e^{exponent(t)}, rounded up; -inf for k = 1. The exponent rises.

    A long sum is taken in blocks, each as many times its last term: blocks of twice the length hold
    two of them, so that the bound rises with k.
    """
    if k == 1:
        return -math.inf
    block = 1 << max(0, (k - 2).bit_length() - _BLOCKS.bit_length())
    ends = np.minimum(np.arange(1, (k - 2) // block + 2, dtype=np.float64) * block, k - 1)
    exponents = exponent(ends)
    top = float(exponents[-1])
    sizes = np.diff(ends, prepend=0.0)
    return round_up(top + math.log(float((sizes * np.exp(exponents - top)).sum())), 64)


def _balanced(eta: float, log_mass: float, log_divisor: float) -> Composed:
    """tau* = nu* = 5 sqrt(mass/divisor)."""
    log_tau = math.log(5.0) + (log_mass - log_divisor) / 2
    log_tau = round_up(log_tau + 16 * math.ulp(1.0), 16)
    return Composed(eta, log_tau, log_tau)


def _log_tau_prime(value: float) -> float:
    return require.between("log_tau_prime", value, -math.inf, 0.0, open_high=True)


def _loss(steps: _Steps, eta: float, log_tau_prime: float, drift: float) -> _Steps:
    """Azuma: sqrt(2 t ln(1/tau')) eta + t drift."""
    return np.sqrt(-2.0 * log_tau_prime * steps) * eta + steps * drift


def _scalar_loss(t: int, eta: float, log_tau_prime: float, drift: float) -> float:
    return round_up(float(_loss(np.array([float(t)]), eta, log_tau_prime, drift)[0]), 16)


_AZUMA = SourceNote(
    "copy",
    "BF2",
    "Theorem 4.4 (BF1 Theorem 3.4), Azuma's inequality",
    "P[sum T_i >= j c + u sqrt(j b)] <= e^{-u^2/2}",
    "P[sum T_i >= j c + u b sqrt(j)] <= e^{-u^2/2}",
    "T_i is bounded by b, so its sum scales with b: a fair sign times b = 4 is at least u sqrt(b) "
    "= 4 with probability 1/2, not e^-2. The theorems use the right form, so that the root sign "
    "was probably moved in the transcription.",
)


_EQUALITY = SourceNote(
    "slip",
    "BF2",
    "Lemma 4.3, first display of the proof; equation (32)",
    "P[sum f_i > eta_j and (X, Z^{j-1}) in C_j] = P[sum g_i > eta_j]",
    "<= instead of =, as in BF1 Lemma 3.3",
    "Where an early step lost more than eta_j and a later one was pruned, the right side counts "
    "and the left does not. Only <= is used.",
)


_SUBSCRIPT = SourceNote(
    "copy",
    "BF2",
    "Theorem 4.2, equation (4); Theorem 4.8, equation (17) (BF1 equations (4) and (13))",
    "the sum over t of e^{eta t} nu, read as eta times t",
    "the sum over t of e^{eta_t} nu, eta with subscript t: true for every eta > 0",
    "Lemma 4.7 (A.5) adds e^{eta_j} nu at step j, so that the subscript was probably lost in the "
    "transcription. Read as eta times t the theorem grows like e^{k eta}, not like "
    "e^{sqrt(k) eta}; it is true to eta = 12.5 (pure steps reveal at most t eta), and false beyond "
    "25: let the first step name x among e^eta samples with probability 1 - e^-eta, and the second "
    "show everything if x was named (nu = e^-eta). All is shown almost surely, while the literal "
    "tau* = nu* is 5/sqrt(eta) < 1. With the subscript nothing is promised there.",
)


_UNDER_THE_ROOT = SourceNote(
    "copy",
    "BF1",
    "equation (3)",
    "eta_k = 3 sqrt(2 k log(1/tau') eta) + 3 k eta (e^eta - 1)",
    "eta_k = 3 sqrt(2 k log(1/tau')) eta + 3 k eta (e^eta - 1)",
    "Azuma's deviation is proportional to the bound eta on one step, so eta stands outside, as in "
    "BF2 and in BF1's own equation (12); the root sign was probably moved in the transcription.",
)


_THREE_TWICE = SourceNote(
    "slip",
    "BF1",
    "Lemma 3.5 with equation (3)",
    "M^j is (3 eta_j, ...)-stable, eta_j as in (3), which has the factor 3 already",
    "eta_j without the factor 3, as in BF2 (3); or eta_j in Lemma 3.5",
    "Taken literally the lemma has 9 where Theorem 3.2 has 3, so that the theorem does not follow "
    "from it. BF2 has it right.",
)


_LEMMA_4_5 = SourceNote(
    "slip",
    "BF2",
    "Lemma 4.5 (BF1 Lemma 3.5)",
    "(3 eta_j, 5 sqrt((mu* + tau')/eta), 5 sqrt((mu* + tau')/eta)) for every eta > 0",
    "eta <= 12.5 by the equal-marginal lemma (the printed steps: eta <= 5 - sqrt(5) = 2.76)",
    "False for one step at eta = 60, nu = mu* = 1/2: show a continuous sample if it is in one "
    "half, else nothing. No tau below 1 helps in that half, and 5 sqrt(1/120) = .46 < 1/2. In the "
    "printed steps, for eta > 1, the last term is 5 delta <= eta sqrt(delta/eta), and sqrt(5) + "
    "eta must stay below 5. Theorem 4.2 (k >= 2) is true all the same: pure steps reveal at most "
    "t eta, so that equal marginals give (k eta, d, d), d^2 = nu (sum_{t < k} e^{t eta} + k), "
    "which is below the printed bound for eta > 12.5, since eta_t >= t eta (e^eta - 1).",
)


_FACTOR_5 = SourceNote(
    "slip",
    "BF2",
    "equations (4) and (17), tau_j = nu_j",
    "tau_j = nu_j = (j tau'/eta + nu/eta + ...)^{1/2}",
    "5 (...)^{1/2}, as in Theorems 4.2 and 4.8 and in Lemma 4.5",
    "Without the 5 it is false for one step: eta = 4, nu = 1/2, show the sample if it is in one "
    "half. sqrt(1/8) = .35 < 1/2.",
)


_LEMMA_4_7 = SourceNote(
    "slip",
    "BF2",
    "Lemma 4.7, second line of the proof",
    "... + P[(X, Z^j) in C_{j+1} and (X, Z^{j-1}) in C_j and (X, Z^j) not in G_j] + ...",
    "(X, Z^j) not in C_{j+1}, as in BF1 Lemma 3.7",
    "The line splits the event 'not in C_{j+1}' by G_j, and both parts keep it. The next line "
    "drops the condition, so that nothing else changes.",
)


_LEMMA_A_4 = SourceNote(
    "slip",
    "BF2",
    "Lemma A.4",
    "5 sqrt((mu* + tau' + tau_hat)/eta)",
    "5 sqrt((mu* + tau' + tau_hat)/(2 eta)), as in Theorem 4.8",
    "True, but Theorem 4.8 does not follow from it: it is larger by sqrt(2). With 2 eta it is true "
    "too: equal marginals give sqrt(2 mass), which is below 5 sqrt(mass/(2 eta)) to eta = 6.25.",
)


@theorem(
    source="BF2",
    place="equation (3)",
    statement="The log-ratio of t adaptive steps that are eta-indistinguishable from their oracles "
    "exceeds eta_t = sqrt(2 t ln(1/tau')) eta + t eta (e^eta - 1) with probability at most tau'.",
    domain="t >= 1, 0 <= eta <= 500, ln tau' < 0",
    monotone={"t": "up", "eta": "up", "log_tau_prime": "down"},
    slack="the mean of a step is at most eta tanh(eta/2), half of the printed one for small eta",
    notes=(_AZUMA, _EQUALITY),
)
def composed_eta(t: int, eta: float, log_tau_prime: float) -> float:
    """eta_t of the pure theorem."""
    t = require.positive_integer("t", t)
    eta = require.between("eta", eta, 0.0, _LARGEST_ETA)
    return _scalar_loss(t, eta, _log_tau_prime(log_tau_prime), eta * math.expm1(eta))


def _pure_arguments(
    k: int, eta: float, log_nu: float, log_tau_prime: float
) -> tuple[int, float, float, float]:
    return (
        require.positive_integer("k", k),
        require.between("eta", eta, 0.0, _LARGEST_ETA, open_low=True),
        log_probability_or_zero("log_nu", log_nu),
        _log_tau_prime(log_tau_prime),
    )


@theorem(
    source="BF2",
    place="Theorem 4.2 (BF1 Theorem 3.2), repaired",
    statement="k adaptive (eta, 0, nu)-typically stable steps in oracle form are together "
    "(3 eta_k, tau*, tau*)-stable, tau* = 5 sqrt((k tau' + nu + sum_{t<k} e^{eta_t} nu)/eta); "
    "k = 1: tau* at least nu.",
    domain="k >= 1, 0 < eta <= 500, ln nu <= 0 (-inf for 0), ln tau' < 0",
    monotone={"k": "up", "log_nu": "up"},
    slack="3 eta_k where eta_k is enough, 5/sqrt(eta) where sqrt(2) is; see sharp_composition",
    printed="pure_composition_printed",
    notes=(_SUBSCRIPT, _UNDER_THE_ROOT, _THREE_TWICE, _LEMMA_4_5, _FACTOR_5, _LEMMA_4_7),
)
def pure_composition(k: int, eta: float, log_nu: float, log_tau_prime: float) -> Composed:
    """eta* and ln tau* = ln nu*, with the exponent eta_t of the proof.

    To eta = 12.5 the joint laws have mass delta both ways, and equal marginals give sqrt(2 delta),
    which is below 5 sqrt(delta/eta). Beyond it pure steps reveal at most t eta: P[Bad] is at most
    the sum over t < k of e^{t eta} nu, and equal marginals give (k eta, d, d), d^2 = nu times that
    sum plus k nu: below the formula for k >= 2, since eta_t >= t eta (e^eta - 1). One step is
    (eta, 0, nu) itself.
    """
    k, eta, log_nu, log_tau_prime = _pure_arguments(k, eta, log_nu, log_tau_prime)
    drift = eta * math.expm1(eta)
    log_sum = _log_sum_of_exponentials(k, lambda t: _loss(t, eta, log_tau_prime, drift))
    mass = log_add(math.log(k) + log_tau_prime, log_nu, log_sum + log_nu)
    if k == 1:  # by the formula alone nu* < nu for nu > 25/eta
        mass = max(mass, 2 * log_nu + math.log(eta) - 2 * math.log(5.0))
    return _balanced(round_up(3 * _scalar_loss(k, eta, log_tau_prime, drift)), mass, math.log(eta))


def _literal_pure(
    k: int, eta: float, log_nu: float, log_tau_prime: float, *, root_eta: float
) -> Composed:
    steps = log_geometric_sum(eta, k)  # the single nu of the first step is the term t = 0
    mass = log_add(math.log(k) + log_tau_prime, steps + log_nu)
    eta_star = 3 * math.sqrt(-2 * k * log_tau_prime) * root_eta + 3 * k * eta * math.expm1(eta)
    return _balanced(round_up(eta_star, 16), mass, math.log(eta))


@theorem(
    source="BF2",
    place="Theorem 4.2",
    statement="Printed: as the repaired theorem, with e^{eta t} (eta times t) in the sum.",
    domain="k >= 1, 0 < eta <= 500, ln nu <= 0 (-inf for 0), ln tau' < 0",
    monotone={"k": "up", "log_nu": "up"},
    slack="the sum grows like e^{k eta}; true to eta = 12.5, false for eta > 25",
)
def pure_composition_printed(k: int, eta: float, log_nu: float, log_tau_prime: float) -> Composed:
    """Sound for eta <= 12.5 (t pure steps reveal at most t eta), but empty for many steps."""
    k, eta, log_nu, log_tau_prime = _pure_arguments(k, eta, log_nu, log_tau_prime)
    return _literal_pure(k, eta, log_nu, log_tau_prime, root_eta=eta)


@theorem(
    source="BF1",
    place="Theorem 3.2, equations (3) and (4)",
    statement="Printed: eta_k = 3 sqrt(2 k log(1/tau') eta) + 3 k eta (e^eta - 1), with eta under "
    "the root, and e^{eta t} in the sum.",
    domain="k >= 1, 0 < eta <= 500, ln nu <= 0 (-inf for 0), ln tau' < 0",
    monotone={"k": "up", "log_nu": "up"},
    slack="the root makes eta_k larger than meant for eta < 1",
)
def pure_composition_bf1_printed(
    k: int, eta: float, log_nu: float, log_tau_prime: float
) -> Composed:
    """Kept to show the slip in equation (3)."""
    k, eta, log_nu, log_tau_prime = _pure_arguments(k, eta, log_nu, log_tau_prime)
    return _literal_pure(k, eta, log_nu, log_tau_prime, root_eta=math.sqrt(eta))


def _log_tau_hat(eta: float, log_tau: float) -> float:
    return round_up(math.log(2.0) + log_tau - log1mexp(-eta))


def _approximate_drift(eta: float, log_tau: float) -> float:
    """2 eta (e^{2 eta}/(1 - tau_hat) - 1) + psi."""
    tau, tau_hat = math.exp(log_tau), math.exp(_log_tau_hat(eta, log_tau))
    grow = math.exp(eta)
    square = 1 + 2 * (grow / math.expm1(eta)) ** 2 * (
        4 * grow**2 + 4 * grow - 3 - 2 / grow + grow**-2
    )
    psi = tau * (2 * grow + 1) + tau**2 * square
    return round_up(2 * eta * (math.expm1(2 * eta) + tau_hat) / (1 - tau_hat) + psi, 32)


def _approximate_arguments(
    k: int, eta: float, log_tau: float, log_nu: float, log_tau_prime: float
) -> tuple[int, float, float, float, float]:
    eta = require.between("eta", eta, 0.0, 1.5, open_low=True)
    log_tau = require.log_probability("log_tau", log_tau)
    if log_tau > math.log(eta / 50):
        raise InvalidArgument(f"log_tau is {log_tau!r}; it must be at most ln(eta/50).")
    return (
        require.positive_integer("k", k),
        eta,
        log_tau,
        log_probability_or_zero("log_nu", log_nu),
        _log_tau_prime(log_tau_prime),
    )


@theorem(
    source="BF2",
    place="equation (16)",
    statement="The log-ratio of t adaptive steps that are (eta, tau)-indistinguishable from their "
    "oracles exceeds eta_t = 2 sqrt(2 t ln(1/tau')) eta + t (2 eta (e^{2 eta}/(1 - tau_hat) - 1) + "
    "psi) with probability at most tau' + t tau_hat.",
    domain="t >= 1, 0 < eta <= 3/2, ln tau <= ln(eta/50), ln tau' < 0",
    monotone={"t": "up", "log_tau": "up", "log_tau_prime": "down"},
    slack="a factor 2 against the pure form as tau -> 0",
    notes=(
        SourceNote(
            "slip",
            "BF2",
            "Claim A.2",
            "E|f_i| <= 2 eta (e^{2 eta}/(1 - tau_hat) - 1) + psi(tau)",
            "E f_i, without the absolute value",
            "E|f| is of order eta for randomised response, the right side of order eta^2 + tau; "
            "the proof of Lemma A.1 uses E f only.",
        ),
    ),
)
def approximate_composed_eta(t: int, eta: float, log_tau: float, log_tau_prime: float) -> float:
    """eta_t of the approximate theorem."""
    t, eta, log_tau, _, log_tau_prime = _approximate_arguments(t, eta, log_tau, 0.0, log_tau_prime)
    return _scalar_loss(t, 2 * eta, log_tau_prime, _approximate_drift(eta, log_tau))


@theorem(
    source="BF2",
    place="Theorem 4.8 (BF1 Theorem 3.8), repaired",
    statement="k adaptive (eta, tau, nu)-typically stable steps in oracle form are together "
    "(3 eta_k, tau*, tau*)-stable, tau* = 5 sqrt((k (tau_hat + tau') + nu + sum_{t<k} e^{eta_t} nu)"
    "/(2 eta)), eta_t that of approximate_composed_eta.",
    domain="k >= 1, 0 < eta <= 3/2, ln tau <= ln(eta/50), ln nu <= 0 (-inf for 0), ln tau' < 0",
    monotone={"k": "up", "log_tau": "up", "log_nu": "up"},
    slack="6 eta where eta is enough; see sharp_composition",
    printed="approximate_composition_printed",
    notes=(
        _SUBSCRIPT,
        _LEMMA_A_4,
        SourceNote(
            "slip",
            "BF1",
            "equation (13)",
            "k (tau_hat + tau'/(2 eta))",
            "k (tau_hat + tau')/(2 eta)",
            "tau_hat is part of the mass under the conditioning lemma and is divided like tau': "
            "the printed bound is smaller for eta < 1/2. BF2 has it right. BF1 also states no "
            "range for eta and tau.",
        ),
    ),
)
def approximate_composition(
    k: int, eta: float, log_tau: float, log_nu: float, log_tau_prime: float
) -> Composed:
    """eta* and ln tau* = ln nu*, with the exponent eta_t of the proof."""
    k, eta, log_tau, log_nu, log_tau_prime = _approximate_arguments(
        k, eta, log_tau, log_nu, log_tau_prime
    )
    drift = _approximate_drift(eta, log_tau)
    log_sum = _log_sum_of_exponentials(k, lambda t: _loss(t, 2 * eta, log_tau_prime, drift))
    log_each = log_add(_log_tau_hat(eta, log_tau), log_tau_prime)
    mass = log_add(math.log(k) + log_each, log_nu, log_sum + log_nu)
    eta_star = round_up(3 * _scalar_loss(k, 2 * eta, log_tau_prime, drift))
    return _balanced(eta_star, mass, math.log(2 * eta))


@theorem(
    source="BF2",
    place="Theorem 4.8",
    statement="Printed: as the repaired theorem, with e^{eta t} (eta times t) in the sum.",
    domain="k >= 1, 0 < eta <= 3/2, ln tau <= ln(eta/50), ln nu <= 0 (-inf for 0), ln tau' < 0",
    monotone={"k": "up", "log_tau": "up", "log_nu": "up"},
    slack="the sum grows like e^{k eta}",
)
def approximate_composition_printed(
    k: int, eta: float, log_tau: float, log_nu: float, log_tau_prime: float
) -> Composed:
    """The literal exponent of equation (17)."""
    k, eta, log_tau, log_nu, log_tau_prime = _approximate_arguments(
        k, eta, log_tau, log_nu, log_tau_prime
    )
    log_each = log_add(_log_tau_hat(eta, log_tau), log_tau_prime)
    mass = log_add(math.log(k) + log_each, log_geometric_sum(eta, k) + log_nu)
    drift = _approximate_drift(eta, log_tau)
    eta_star = round_up(3 * _scalar_loss(k, 2 * eta, log_tau_prime, drift))
    return _balanced(eta_star, mass, math.log(2 * eta))


@theorem(
    source="BF1",
    place="Theorem 3.8, equations (12) and (13)",
    statement="Printed: as BF2's, with k (tau_hat + tau'/(2 eta)) in place of "
    "k (tau_hat + tau')/(2 eta).",
    domain="k >= 1, 0 < eta <= 3/2, ln tau <= ln(eta/50), ln nu <= 0 (-inf for 0), ln tau' < 0",
    monotone={"k": "up", "log_tau": "up", "log_nu": "up"},
    slack="too small by 1/(2 eta) in tau_hat for eta < 1/2",
)
def approximate_composition_bf1_printed(
    k: int, eta: float, log_tau: float, log_nu: float, log_tau_prime: float
) -> Composed:
    """Kept to show the slip in equation (13); BF2's range is asked for, BF1 states none."""
    k, eta, log_tau, log_nu, log_tau_prime = _approximate_arguments(
        k, eta, log_tau, log_nu, log_tau_prime
    )
    log_divisor = math.log(2 * eta)
    log_each = log_add(_log_tau_hat(eta, log_tau) + log_divisor, log_tau_prime)
    mass = log_add(math.log(k) + log_each, log_geometric_sum(eta, k) + log_nu)
    drift = _approximate_drift(eta, log_tau)
    eta_star = round_up(3 * _scalar_loss(k, 2 * eta, log_tau_prime, drift))
    return _balanced(eta_star, mass, log_divisor)


@theorem(
    source="Holdfast",
    place="Section 6.5, equal-marginal conditioning",
    statement="If (X, M) and (X, W) have one law of X, P[(X, M) in O] <= e^{eta'} P[(X, W) in O] + "
    "delta_1 and conversely with delta_2, for all O, then M given X = x and W are "
    "(eta', tau_out)-indistinguishable but for x of probability (delta_1 + delta_2)/tau_out.",
    domain="ln delta_1, ln delta_2 <= 0 (-inf for 0), ln tau_out <= 0",
    monotone={"log_delta_1": "up", "log_delta_2": "up", "log_tau_out": "down"},
    slack="Markov's inequality",
    notes=(
        SourceNote(
            "slip",
            "BF2",
            "Lemma 4.6 (BF1 Lemma 3.6), quoted from KS14",
            "P[U|V=t ~_{3 eps, delta'} U'|V'=t] >= 1 - 2 delta/delta' - 2 delta/(1 - e^-eps)",
            "for equal marginals: eps instead of 3 eps, and 1 - 2 delta/delta'",
            "One of the two directions bounds a set of t under the law of V'; moving it to the law "
            "of V costs a factor e^eps, so the printed bound fails for e^eps > 2. Here V = V' = X, "
            "and neither this factor nor the factor 3 arises.",
        ),
    ),
)
def equal_marginal_conditioning(
    log_delta_1: float, log_delta_2: float, log_tau_out: float
) -> float:
    """ln nu_out.

    The largest M_x(O) - e^{eta'} W(O) over O has mean delta_1 over x (choose O for each x), the
    opposite one delta_2; the larger of the two is at most their sum; Markov.
    """
    log_delta_1 = log_probability_or_zero("log_delta_1", log_delta_1)
    log_delta_2 = log_probability_or_zero("log_delta_2", log_delta_2)
    log_tau_out = require.log_probability("log_tau_out", log_tau_out)
    return log_up(log_add(log_delta_1, log_delta_2) - log_tau_out)


def _joint_log_deltas(
    k: int, eta: float, log_nu: float, eta_prime: float, log_tau: float
) -> tuple[float, float]:
    """ln delta_1 <= P_M[Bad] + delta_k(eta') and ln delta_2 <= k nu + delta_k(eta')."""
    log_bad = bad_event_log_bound(k, eta, log_nu, log_tau)
    log_delta = optimal_composition_log_delta(k, eta, eta_prime, log_tau)
    log_oracle_bad = math.log(k) + log_nu
    return log_up(log_add(log_bad, log_delta)), log_up(log_add(log_oracle_bad, log_delta))


@theorem(
    source="Holdfast",
    place="Section 6.5, sharp adaptive composition",
    statement="k adaptive (eta, tau, nu)-typically stable steps in oracle form are together (eta', "
    "tau_out, (P[Bad] + k nu + 2 delta_k(eta'))/tau_out)-stable, for every eta' and tau_out.",
    domain="k >= 1, eta, eta' >= 0, ln nu, ln tau <= 0 (-inf for 0), ln tau_out <= 0",
    monotone={"k": "up", "eta": "up", "log_nu": "up", "log_tau": "up"},
    slack="Markov's inequality; the union over steps",
    printed="pure_composition_printed",
)
def sharp_composition(
    k: int,
    eta: float,
    log_nu: float,
    eta_prime: float,
    log_tau_out: float,
    log_tau: float = -math.inf,
) -> Composed:
    """The composition at a chosen eta' and tau_out."""
    log_delta_1, log_delta_2 = _joint_log_deltas(k, eta, log_nu, eta_prime, log_tau)
    log_nu_out = equal_marginal_conditioning(log_delta_1, log_delta_2, log_tau_out)
    return Composed(eta_prime, log_tau_out, log_nu_out)


@theorem(
    source="Holdfast",
    place="Section 6.5, sharp adaptive composition, tau_out = nu_out",
    statement="k adaptive (eta, tau, nu)-typically stable steps in oracle form are together (eta', "
    "d, d)-stable with d = sqrt(P[Bad] + k nu + 2 delta_k(eta')), for every eta'.",
    domain="k >= 1, eta, eta' >= 0, ln nu, ln tau <= 0 (-inf for 0)",
    monotone={"k": "up", "eta": "up", "log_nu": "up", "log_tau": "up"},
    slack="Markov's inequality; the union over steps",
    printed="pure_composition_printed",
)
def sharp_composition_balanced(
    k: int, eta: float, log_nu: float, eta_prime: float, log_tau: float = -math.inf
) -> Composed:
    """The composition at a chosen eta' with tau_out = nu_out, the printed theorems' choice."""
    log_root = log_up(log_add(*_joint_log_deltas(k, eta, log_nu, eta_prime, log_tau)) / 2)
    return Composed(eta_prime, log_root, log_root)
