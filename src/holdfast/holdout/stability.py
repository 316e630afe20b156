"""The certificate of stability: how much an interaction as a whole depends on its sample.

Three accounts of the same answers, each at the same level for tau and nu: the papers' adaptive
composition (repaired), the sharp one, and the leakage theorem, which bounds one direction only (the
answers are at most K times as likely as had they not seen the sample); that is the direction from
which generalisation follows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.laws.laplace import LAPLACE
from holdfast.mechanisms.leakage import Leakage
from holdfast.mechanisms.mechanism import Mechanism
from holdfast.mechanisms.stable_steps import steps_of
from holdfast.mechanisms.terms import Terms
from holdfast.mechanisms.transfer import Transfer
from holdfast.theory.base.safeside import round_up
from holdfast.theory.typical.certificate import (
    gaussian_candidates,
    least_gaussian_composition,
    least_printed_composition,
    least_sharp_composition,
)
from holdfast.theory.typical.composition import Composed, log_geometric_sum
from holdfast.theory.typical.generalisation import generalisation
from holdfast.theory.typical.notion import TypicalStability

__all__ = ["Certificate", "Stability", "least_leakage", "stability_of"]

# -ln nu of the shares of untypical samples that are tried.
_DEPTHS = tuple(2.0 * 1.15**step for step in range(75))
_EMPTY = "with noise this small nothing follows at this level"


@dataclass(frozen=True, slots=True)
class Certificate:
    """One account: the parameters in oracle form and for pairs; or why there are none.

    `half_width`: any statistic chosen after all answers is within it of the truth, for means of all
    rows and as a part of the range, except with probability `failure`.
    """

    by: str
    oracle: TypicalStability | None = None
    one_sided: bool = False
    half_width: float | None = None
    failure: float | None = None
    why: str | None = None

    @property
    def pair(self) -> TypicalStability | None:
        """The same for two independent samples; a one-sided bound says nothing about pairs."""
        return None if self.oracle is None or self.one_sided else self.oracle.to_pair()

    def to_dict(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "oracle": _plain(self.oracle),
            "pair": _plain(self.pair),
            "one_sided": self.one_sided,
            "half_width": self.half_width,
            "failure": self.failure,
            "why": self.why,
        }

    def __str__(self) -> str:
        if self.oracle is None:
            return f"{self.by}: none ({self.why})"
        pair = "one direction only" if self.pair is None else f"pairs {_triple(self.pair)}"
        follows = (
            "no half-width follows"
            if self.half_width is None or self.failure is None
            else f"a statistic chosen after all answers is within {self.half_width:.4g} of the "
            f"truth with probability {1 - self.failure:.4g}"
        )
        return f"{self.by}: oracle {_triple(self.oracle)}, {pair}; {follows}"


@dataclass(frozen=True, slots=True)
class Stability:
    """(eta, tau, nu) of the whole interaction so far, by each account."""

    mechanism: str
    answers: int
    checks: int
    level: float
    step: TypicalStability | None
    certificates: tuple[Certificate, ...]

    def __getitem__(self, by: str) -> Certificate:
        return {each.by: each for each in self.certificates}[by]

    def to_dict(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism,
            "answers": self.answers,
            "checks": self.checks,
            "level": self.level,
            "step": _plain(self.step),
            "certificates": [each.to_dict() for each in self.certificates],
        }

    def __str__(self) -> str:
        head = (
            f"Stability of {self.answers:,} answers by {self.mechanism}, (eta, tau, nu) at level "
            f"{self.level:g}"
        )
        step = (
            ()
            if self.step is None
            else (f"  one answer: {_triple(self.step)} in {self.step.form} form, as declared",)
        )
        return "\n".join((head, *step, *(f"  {each}" for each in self.certificates)))

    __repr__ = __str__


def _plain(stability: TypicalStability | None) -> dict[str, Any] | None:
    if stability is None:
        return None
    return {
        "eta": stability.eta,
        "tau": stability.tau,
        "nu": stability.nu,
        "vacuous": _is_vacuous(stability),
    }


def _triple(stability: TypicalStability) -> str:
    numbers = f"({stability.eta:.4g}, {stability.tau:.4g}, {stability.nu:.4g})"
    return f"{numbers}, which is vacuous" if _is_vacuous(stability) else numbers


def _is_vacuous(stability: TypicalStability) -> bool:
    """Whether any mechanism at all has these: up to mass 1, or on no sample."""
    return stability.tau >= 1.0 or stability.nu >= 1.0


def stability_of(transcript: Transcript, level: float | None = None) -> Stability:
    """The certificate of what a transcript says has been answered.

    `level` is what tau and nu may be, and the probability that is left to a statement about a
    statistic chosen afterwards (default: a quarter of the failure probability).
    """
    terms, account, mechanism = transcript.terms, transcript.account, transcript.mechanism
    if account.closed is not None:
        raise InvalidArgument(
            f"at {account.closed.at} {account.closed.why}: what that told has no bound, and "
            "stability is a property of answers alone. Use the ledger as it was before."
        )
    if level is None:
        level = (1 - terms.confidence_level) / 4
    level = require.probability("level", level)
    name = mechanism.name.partition("/")[0]
    charged = all(answer.charge > 0.0 for answer in transcript.answers)
    if not _has_unbounded_noise(mechanism):
        why = (
            f"an answer by {name} can be impossible on one typical sample and likely on another, "
            "so that no eta is finite"
        )
        found = _of_account(why, account, charged)
    else:
        found = _of_noise(terms, account, mechanism, level)
    declared = mechanism.calibration if isinstance(mechanism, Leakage) else None
    return Stability(
        name,
        account.asked,
        account.checks,
        level,
        None if declared is None else declared.stability,
        tuple(_with_consequence(terms, each, level) for each in found),
    )


def _has_unbounded_noise(mechanism: Mechanism) -> TypeGuard[Leakage | Transfer]:
    """Whether no answer is impossible on any sample: Laplace or Gaussian noise."""
    noisy = mechanism if isinstance(mechanism, Leakage | Transfer) else None
    return noisy is not None and noisy.law.reach(1) is None


def _of_noise(
    terms: Terms, account: Account, mechanism: Leakage | Transfer, level: float
) -> list[Certificate]:
    """Of answers with unbounded noise, which are typically stable steps."""
    steps, log_level = steps_of(account), math.log(level)
    if account.checks:
        why = "checks were made: whether a guess is confirmed is told without noise"
        return _of_account(why, account)
    if steps.count == 0:
        return _of_account("nothing has been answered", account)
    k, curve = steps.count, [(steps.ratio(terms, -depth), -depth) for depth in _DEPTHS]
    if mechanism.law is LAPLACE:
        candidates = [(ratio, -math.inf, log_nu) for ratio, log_nu in curve]
        sharp = least_sharp_composition(k, candidates, log_level)
        peak = 1.0
    else:
        candidates = gaussian_candidates(curve)
        sharp = least_gaussian_composition(k, curve, log_level)
        peak = math.sqrt(2 / math.pi)
    printed = least_printed_composition(k, candidates, log_level)
    leaked = least_leakage(k, [(ratio * peak, log_nu) for ratio, log_nu in curve], log_level)
    return [
        _certificate("printed composition", printed),
        _certificate("sharp composition", sharp),
        _certificate("leakage", leaked, one_sided=True),
    ]


def least_leakage(k: int, curve: list[tuple[float, float]], log_level: float) -> Composed | None:
    """Theorem L with one level nu for every answer: kappa = 1 + x, P[Bad] <= nu sum_j kappa^j."""
    best: Composed | None = None
    for x, log_nu in curve:
        nats = round_up(math.log1p(x))
        log_bad = log_geometric_sum(nats, k) + log_nu
        if log_bad <= log_level and (best is None or k * nats < best.eta):
            best = Composed(round_up(k * nats), -math.inf, log_bad)
    return best


def _certificate(by: str, found: Composed | None, *, one_sided: bool = False) -> Certificate:
    if found is None:
        return Certificate(by, why=_EMPTY)
    return Certificate(by, found.stability(), one_sided)


def _of_account(why: str, account: Account, charged: bool = True) -> list[Certificate]:
    """Of answers that are not typically stable: the leakage account, if all are charged there."""
    kinds = [Certificate(by, why=why) for by in ("printed composition", "sharp composition")]
    if not charged:
        reason = "not every answer is charged on the leakage account"
        return [*kinds, Certificate("leakage", why=reason)]
    spent = min(0.0, account.leakage.log_beta_spent)
    found = TypicalStability.from_logs(account.nats, -math.inf, spent)
    return [*kinds, Certificate("leakage", found, one_sided=True)]


def _with_consequence(terms: Terms, found: Certificate, level: float) -> Certificate:
    """What near independence says of a mean of all rows that is chosen after all answers."""
    if found.oracle is None:
        return found
    stability, profile = found.oracle, terms.concentration
    half_width = round_up(profile.radius(math.log(level) - stability.eta))
    log_failure = generalisation(
        min(0.0, profile.log_tail(half_width)), stability.eta, stability.log_tau, stability.log_nu
    )
    if half_width >= 0.5 or log_failure >= 0.0:
        return found
    return replace(found, half_width=half_width, failure=math.exp(log_failure))
