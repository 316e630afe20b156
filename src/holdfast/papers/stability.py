"""Certificate of stability: how much an interaction as a whole depends on its sample.

Several accounts of the same answers, each at the same level for tau and nu: the papers' adaptive
composition (repaired), the sharp one, answers of one batch taken together before the batches are
composed (Lemma 3.2), the composition in two directions, and the leakage theorem, which is about
sample and answers jointly and bounds one direction only (they are at most K times as likely as had
the answers not seen the sample); that is the direction from which generalisation follows. Beside
them what replacing one row does (`neighbours`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.leakage import Leakage
from holdfast.mechanisms.mechanism import Mechanism
from holdfast.mechanisms.median_noise import Median
from holdfast.mechanisms.noise import LAPLACE, Laplace, Law, Normal, Uniform
from holdfast.mechanisms.privacy import laplace_privacy
from holdfast.mechanisms.stable_steps import ShiftedScales, StableSteps, shifts_of, steps_of
from holdfast.mechanisms.terms import Account, Terms
from holdfast.mechanisms.transfer import Transfer
from holdfast.papers.theorems.composition import Composed, equal_marginal_conditioning
from holdfast.papers.theorems.interaction import (
    Candidate,
    gaussian_candidates,
    least_gaussian_composition,
    least_printed_composition,
    least_sharp_composition,
)
from holdfast.papers.theorems.notions import (
    gaussian_scale_for_tv,
    laplace_scale_for_tv,
    peak_tv,
    uniform_scale_for_tv,
)
from holdfast.papers.theorems.tv_generalisation import tv_expected_error, tv_for_expected_error
from holdfast.papers.theorems.two_directions import least_two_directions
from holdfast.papers.thresholdout import Thresholdout
from holdfast.theory.base.safeside import log_add, round_up
from holdfast.theory.notions.arrows import gdp_to_tv
from holdfast.theory.notions.composing import GDP, TV, ApproxDP, PureDP
from holdfast.theory.transfer.differential_privacy import gdp_at_delta
from holdfast.theory.transfer.likelihood_cover import peak_density
from holdfast.theory.typical.generalisation import generalisation
from holdfast.theory.typical.notion import TypicalStability
from holdfast.theory.typical.sharp_composition import log_geometric_sum

if TYPE_CHECKING:
    import altair

# What replacing one row does to all answers so far: total variation, differential privacy, L15.
#
# Typical stability compares two samples; these notions compare two that differ in one row, and
# are the lectures' (L12, L4, L15). They follow from the noise that was added and from nothing
# else: from the scales by which a row can move each answer. Where something was told without
# noise there is no such statement but the one that everybody has, a distance of 1.


_LOG_DELTA = math.log(1e-6)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Neighbours: all answers together, on two samples that differ in one row: `tv` and `privacy`.

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
    """Influence of one row on all that was answered, from the ledger; `level` is L15's delta."""
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
    """Influence of a row on so many answers that it moves by these scales of their noise."""
    match law:
        case Uniform():
            return _by_peak(scales.total, 0.5)
        case Median(order=order, parts=parts):  # its scale is in units of so many cells
            return _by_peak(scales.total / parts, peak_density(order))
        case Laplace():
            privacy = laplace_privacy(PureDP(scales.largest), answers, _LOG_DELTA)
            return min(privacy.tv, TV(min(1.0, scales.total / 2))), privacy.exact
        case Normal():
            gdp = GDP(scales.root)
            return gdp_to_tv(gdp), gdp_at_delta(gdp, _LOG_DELTA)
    return TV(1.0), None


def _by_peak(shift: float, peak: float) -> tuple[TV, ApproxDP | None]:
    """Bounded noise: no epsilon is finite, but the distance is a delta for epsilon = 0."""
    distance = peak_tv(shift, peak)
    return TV(distance), ApproxDP(0.0, math.log(distance)) if 0.0 < distance < 1.0 else None


# -ln nu of the shares of untypical samples that are tried.
_DEPTHS = tuple(2.0 * 1.15**step for step in range(75))
# The same, close to each other, where a mean over shifts is taken.
_CLOSE_DEPTHS = tuple(step / 5 for step in range(1, 201))
_EMPTY = "with noise this small nothing follows at this level"


class Joint(NamedTuple):
    """Sample X and answers A together: P[(X, A) in O] <= e^eta P[(X, W) in O] + delta for every O.

    W does not see the sample. An event of both may be given up, not a share of samples: less is
    said than by (eta, 0, delta) in oracle form.
    """

    eta: float
    log_delta: float

    @property
    def delta(self) -> float:
        return min(1.0, round_up(math.exp(min(0.0, self.log_delta))))

    @property
    def vacuous(self) -> bool:
        """Whether every mechanism at all has this."""
        return self.delta >= 1.0

    def to_dict(self) -> dict[str, Any]:
        return {"eta": self.eta, "delta": self.delta, "vacuous": self.vacuous}

    def __str__(self) -> str:
        numbers = f"({self.eta:.4g}, {self.delta:.4g})"
        return f"{numbers}, which is vacuous" if self.vacuous else numbers


@dataclass(frozen=True, slots=True)
class Certificate:
    """One account: the parameters in oracle form and for pairs, or jointly; or why there are none.

    `one_sided`: answers are at most e^eta times as likely, and nothing is said of how much less.

    `half_width`: any statistic chosen after all answers is within it of the truth, for means of all
    rows and as a part of the range, except with probability `failure`.
    """

    by: str
    oracle: TypicalStability | None = None
    joint: Joint | None = None
    one_sided: bool = False
    half_width: float | None = None
    failure: float | None = None
    why: str | None = None

    @property
    def pair(self) -> TypicalStability | None:
        """The oracle form's for two independent samples."""
        return None if self.oracle is None else self.oracle.to_pair()

    @property
    def eta(self) -> float | None:
        """Of the joint statement where there is one, else in oracle form."""
        statement = self.joint or self.oracle
        return None if statement is None else statement.eta

    def to_dict(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "oracle": _plain(self.oracle),
            "pair": _plain(self.pair),
            "joint": None if self.joint is None else self.joint.to_dict(),
            "one_sided": self.one_sided,
            "half_width": self.half_width,
            "failure": self.failure,
            "why": self.why,
        }

    def __str__(self) -> str:
        if self.eta is None:
            return f"{self.by}: none ({self.why})"
        follows = (
            "no half-width follows"
            if self.half_width is None or self.failure is None
            else f"a statistic chosen after all answers is within {self.half_width:.4g} of the "
            f"truth with probability {1 - self.failure:.4g}"
        )
        return f"{self.by}: {', '.join(self._statements)}; {follows}"

    @property
    def _statements(self) -> Iterator[str]:
        if self.joint is not None:
            yield f"joint {self.joint}"
        if self.one_sided:
            yield "one direction only"
        if self.oracle is not None:
            yield f"oracle {_triple(self.oracle)}, pairs {_triple(self.oracle.to_pair())}"


class Growth(NamedTuple):
    """Growth of the certificate with the number of questions, by one account."""

    by: str
    questions: int
    eta: float


@dataclass(frozen=True, slots=True)
class Stability:
    """(eta, tau, nu), or (eta, delta) jointly, of all answers so far, by each account."""

    mechanism: str
    answers: int
    checks: int
    level: float
    step: TypicalStability | None
    certificates: tuple[Certificate, ...]
    neighbours: Neighbours
    noise: NoiseNeeded | None
    growing: Callable[[], Iterator[Growth]] = field(repr=False, compare=False)

    def __getitem__(self, by: str) -> Certificate:
        by_theorem = {each.by: each for each in self.certificates}
        if by not in by_theorem:
            raise KeyError(f"no account {by!r}; there are {', '.join(map(repr, by_theorem))}")
        return by_theorem[by]

    def chart(self, path: str | None = None) -> altair.Chart:
        """eta against questions, a line for each account; saved if a path is given."""
        from holdfast.holdout.charts import require_file, save, stability_chart

        if path is not None:
            require_file(path)
        picture = stability_chart(self)
        if path is not None:
            save(picture, path)
        return picture

    def to_dict(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism,
            "answers": self.answers,
            "checks": self.checks,
            "level": self.level,
            "step": _plain(self.step),
            "certificates": [each.to_dict() for each in self.certificates],
            "neighbours": self.neighbours.to_dict(),
            "noise": None if self.noise is None else self.noise.to_dict(),
        }

    def __str__(self) -> str:
        head = (
            f"Stability of {self.answers:,} answers by {self.mechanism}, (eta, tau, nu) or joint "
            f"(eta, delta) at level {self.level:g}"
        )
        step = (
            ()
            if self.step is None
            else (f"  one answer: {_triple(self.step)} in {self.step.form} form, as declared",)
        )
        needed = () if self.noise is None else (f"  {self.noise}",)
        accounts = (f"  {each}" for each in (*self.certificates, self.neighbours))
        return "\n".join((head, *step, *accounts, *needed))

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


def stability_of(
    transcript: Transcript, level: float | None = None, expected_error: float | None = None
) -> Stability:
    """The certificate of what a transcript says has been answered.

    `level` is what tau and nu may be, and the probability that is left to a statement about a
    statistic chosen afterwards (default: a quarter of the failure probability). With
    `expected_error` it says how much noise that would take in each answer, by L15.
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
    noisy = _noisy_of(terms, account, mechanism)
    if isinstance(noisy, str):
        charged = all(answer.charge > 0.0 for answer in transcript.answers)
        certificates = _of_account(noisy, terms, account, charged)
        growing = partial(iter, _leaked(transcript))
    else:
        certificates = noisy.certificates(noisy.steps.count, math.log(level), batches=True)
        most = max(terms.questions or 0, 2 * noisy.steps.count)
        growing = partial(noisy.growth, most, math.log(level))
    declared = mechanism.calibration if isinstance(mechanism, Leakage) else None
    return Stability(
        name,
        account.asked,
        account.checks,
        level,
        None if declared is None else declared.stability,
        tuple(_with_consequence(terms, each, level) for each in certificates),
        neighbours_of(transcript, level),
        None if expected_error is None else _noise_for(terms, account, expected_error, level),
        growing,
    )


def _leaked(transcript: Transcript) -> list[Growth]:
    """The leakage account after each answer that it is charged for."""
    charged = [answer for answer in transcript.answers if answer.charge > 0.0]
    return [
        Growth("leakage", number, answer.leaked + answer.charge)
        for number, answer in enumerate(charged, start=1)
    ]


def _noise_for(terms: Terms, account: Account, expected_error: float, level: float) -> NoiseNeeded:
    if not terms.independent:
        raise InvalidArgument(
            f"expected_error is about independent rows (L15), not {terms.sampling}; leave it out."
        )
    return noise_needed(terms.rows, terms.questions or max(1, account.asked), expected_error, level)


def _noisy_of(terms: Terms, account: Account, mechanism: Mechanism) -> _Noisy | str:
    """The answers as typically stable steps, or why they are none."""
    name = mechanism.name.partition("/")[0]
    law = mechanism.law if isinstance(mechanism, Leakage | Transfer) else None
    if isinstance(mechanism, Thresholdout):
        return "nothing is proved here of answers that are given where a noisy threshold is passed"
    if law is None or law.reach(1) is not None:
        return (
            f"an answer by {name} can be impossible on one typical sample and likely on another, "
            "so that no eta is finite"
        )
    counts = {"checks": account.checks, "gates": account.gates, "scores": account.described}
    if any(counts.values()) or account.claims:
        kinds = " and ".join(each for each, many in counts.items() if many) or "claims"
        return f"{kinds} were made: what becomes of a claim or a score is told without noise"
    steps = steps_of(account)
    if steps.count == 0:
        return "nothing has been answered"
    curve = [(steps.ratio(terms, -depth), -depth) for depth in _DEPTHS]
    shifts = [(steps.ratio(terms, -depth), -depth) for depth in _CLOSE_DEPTHS]
    return _Noisy(steps, law is LAPLACE, curve, shifts)


@dataclass(frozen=True, slots=True)
class _Noisy:
    """Answers with unbounded noise: (ratio or distance, ln nu) that hold for each of them."""

    steps: StableSteps
    laplace: bool
    curve: list[tuple[float, float]]
    shifts: list[tuple[float, float]]

    def certificates(self, k: int, log_level: float, *, batches: bool = False) -> list[Certificate]:
        certificates = [
            _certificate(
                "printed composition", least_printed_composition(k, self._candidates, log_level)
            ),
            _certificate("sharp composition", self._sharp(k, self.curve, log_level)),
        ]
        if batches and self.steps.batches < k:
            certificates.append(_certificate("batches", self._batched(log_level)))
        two = self._two_directions(k, log_level)
        return [*certificates, two, _leakage(self._leaked(k, log_level))]

    def growth(self, most: int, log_level: float) -> Iterator[Growth]:
        """Growth with one to `most` answers like these; some depths are enough for a picture."""
        coarse = replace(self, curve=self.curve[::5])
        for k in sorted({max(1, round(most ** (step / 7))) for step in range(8)}):
            for certificate in coarse.certificates(k, log_level):
                if certificate.eta is not None:
                    yield Growth(certificate.by, k, certificate.eta)

    @property
    def _candidates(self) -> list[Candidate]:
        if self.laplace:
            return [(ratio, -math.inf, log_nu) for ratio, log_nu in self.curve]
        return gaussian_candidates(self.curve)

    def _sharp(self, k: int, curve: list[tuple[float, float]], log_level: float) -> Composed | None:
        if not self.laplace:
            return least_gaussian_composition(k, curve, log_level)
        return least_sharp_composition(
            k, [(ratio, -math.inf, log_nu) for ratio, log_nu in curve], log_level
        )

    def _leaked(self, k: int, log_level: float) -> Joint | None:
        peak = 1.0 if self.laplace else math.sqrt(2 / math.pi)
        return least_leakage(k, [(x * peak, log_nu) for x, log_nu in self.curve], log_level)

    def _two_directions(self, k: int, log_level: float) -> Certificate:
        """Joint at the level; and in oracle form, by equal marginals from half its square each."""
        joint = self._least_joint(k, log_level)
        if joint is None:
            return Certificate("two directions", why=_EMPTY)
        smaller = self._least_joint(k, 2 * log_level - math.log(2.0))
        if smaller is None:
            return Certificate("two directions", joint=joint)
        log_nu = equal_marginal_conditioning(smaller.log_delta, smaller.log_delta, log_level)
        oracle = TypicalStability.from_logs(smaller.eta, log_level, log_nu)
        return Certificate("two directions", oracle, joint)

    def _least_joint(self, k: int, log_delta: float) -> Joint | None:
        leaked = self._leaked(k, log_delta)
        if leaked is None:
            return None
        eta = least_two_directions(k, self.shifts, leaked.eta, log_delta, pure=self.laplace)
        return None if eta is None else Joint(eta, log_delta)

    def _batched(self, log_level: float) -> Composed | None:
        """Each batch as one step by Lemma 3.2, of the largest; then the sharp composition."""
        many = self.steps.largest
        # What m answers reveal together: m times the ratio, or the root of m times the distance.
        grown = many if self.laplace else math.sqrt(many)
        curve = [
            (round_up(x * grown), log_nu + math.log(many))
            for x, log_nu in self.curve
            if log_nu + math.log(many) <= 0.0
        ]
        if self.steps.batches == 1:
            return one_batch(curve, self.laplace, log_level)
        return self._sharp(self.steps.batches, curve, log_level)


def one_batch(curve: list[tuple[float, float]], laplace: bool, log_level: float) -> Composed | None:
    """Certificate of answers chosen together: nothing is lost to adaptive composition."""
    fitting = [(x, log_nu) for x, log_nu in curve if log_nu <= log_level]
    if laplace:
        composed = [Composed(x, -math.inf, log_nu) for x, log_nu in fitting]
    else:
        composed = [
            Composed(gdp_at_delta(GDP(mu), log_level).epsilon, log_level, log_nu)
            for mu, log_nu in fitting
        ]
    return min(composed, key=lambda each: each.eta, default=None)


def least_leakage(k: int, curve: list[tuple[float, float]], log_level: float) -> Joint | None:
    """Theorem L with one level nu for every answer: kappa = 1 + x, P[Bad] <= nu sum_j kappa^j.

    Bad is an event of sample and answers, so the statement is a joint one.
    """
    best: Joint | None = None
    for x, log_nu in curve:
        nats = round_up(math.log1p(x))
        log_bad = log_geometric_sum(nats, k) + log_nu
        if log_bad <= log_level and (best is None or k * nats < best.eta):
            best = Joint(round_up(k * nats), log_bad)
    return best


def _certificate(by: str, composed: Composed | None) -> Certificate:
    if composed is None:
        return Certificate(by, why=_EMPTY)
    return Certificate(by, composed.stability())


def _leakage(leaked: Joint | None) -> Certificate:
    if leaked is None:
        return Certificate("leakage", why=_EMPTY)
    return Certificate("leakage", joint=leaked, one_sided=True)


def _of_account(
    why: str, terms: Terms, account: Account, charged: bool = True
) -> list[Certificate]:
    """Certificate of answers that are not typically stable: the leakage account, if it has all.

    Described answers are charged on the event that all described intervals are true: what those
    have of the failure probability is given up too.
    """
    names = ("printed composition", "sharp composition", "two directions")
    kinds = [Certificate(by, why=why) for by in names]
    if not charged:
        reason = "not every answer is charged on the leakage account"
        return [*kinds, Certificate("leakage", why=reason)]
    spent = account.leakage.log_beta_spent
    if account.described and terms.describes:
        spent = log_add(spent, terms.log_beta_described)
    return [*kinds, _leakage(Joint(account.nats, spent))]


def _with_consequence(terms: Terms, certificate: Certificate, level: float) -> Certificate:
    """Consequence of near independence for a mean of all rows that is chosen after all answers."""
    joint, oracle, profile = certificate.joint, certificate.oracle, terms.concentration
    if joint is not None:
        eta, log_tau, log_nu = joint.eta, -math.inf, min(0.0, joint.log_delta)
    elif oracle is not None:
        eta, log_tau, log_nu = oracle.eta, oracle.log_tau, oracle.log_nu
    else:
        return certificate
    half_width = round_up(profile.radius(math.log(level) - eta))
    log_failure = generalisation(min(0.0, profile.log_tail(half_width)), eta, log_tau, log_nu)
    if half_width >= 0.5 or log_failure >= 0.0:
        return certificate
    return replace(certificate, half_width=half_width, failure=math.exp(log_failure))
