"""Noisy answers without a last question: epochs that double, and the ledger beside them.

Legend
------
e           epoch, counted from 0
k0, k_e     questions of the first epoch; k_e = k0 2^e
s0, s_e     noise of the first epoch; s_e = s0 2^{e/4}
beta_e      beta/((e+1)(e+2)): the shares of all epochs sum to beta
m_e         the signal of all epochs up to and including e: m_e^2 = sum_{f <= e} k_f/(4 n^2 s_f^2)
Kbar        a bound, fixed before an epoch's first answer, on all leakage charges made on these rows
            before its last one; the ledger refuses beyond it
D, a, C, H, theta, v    as in `median_noise` and `variance_transfer`

Epochs. The failures of epoch e are a matter of the transcript up to its end: A is the largest noise
of epoch e, B belongs to a Gaussian transcript of signal m_e. k_e and s_e are declared in advance.
Median noise keeps its D in all epochs, so that B is that of all answers so far: of the schedules
with one tolerance for all epochs this one answers most questions.

Interleaving. Under the leakage oracle W the leakage answers do not depend on the rows, and while no
leakage claim has failed the transcript's law is at most Kbar times that under W. An epoch run at
beta/Kbar therefore fails with probability at most beta, besides what the ledger allows itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from holdfast import require
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.transfer.gaussian_noise import (
    best_signal,
    gaussian_max_noise,
    gaussian_shift,
    transfer_half_width,
)
from holdfast.theory.transfer.likelihood_cover import order
from holdfast.theory.transfer.median_width import exact_shift, median_max_noise

_MOST_EPOCH = 100
_LEAST_VARIANCE = 1e-12


def _epoch(epoch: int) -> int:
    epoch = require.integer_at_least("epoch", epoch, 0)
    require.between("epoch", epoch, 0, _MOST_EPOCH)
    return epoch


@theorem(
    source="Holdfast",
    place="section 5, Open-ended",
    statement="ln beta_e, beta_e = beta/((e+1)(e+2)): the shares of all epochs sum to beta.",
    domain="log_beta <= 0, 0 <= epoch <= 100",
    monotone={"log_beta": "up", "epoch": "down"},
    slack="none: the sum telescopes",
)
def epoch_log_beta(log_beta: float, epoch: int) -> float:
    """The share of one epoch, rounded down."""
    log_beta, epoch = require.log_probability("log_beta", log_beta), _epoch(epoch)
    return round_down(log_beta - math.log((epoch + 1) * (epoch + 2)))


@theorem(
    source="Holdfast",
    place="section 5, Mixing with the leakage ledger",
    statement=(
        "Gaussian answers interleaved with leakage answers on the same rows: run at beta/Kbar they "
        "fail with probability at most beta, besides the ledger's own beta."
    ),
    domain="log_beta <= 0, log_kbar >= 0 bounds ln K on every path up to the last Gaussian answer",
    monotone={"log_beta": "up", "log_kbar": "down"},
    slack="none in general; leakage questions after Gaussian answers must carry them in their K",
)
def interleaved_log_beta(log_beta: float, log_kbar: float) -> float:
    """ln(beta/Kbar), rounded down: the level at which to run the epoch."""
    log_beta = require.log_probability("log_beta", log_beta)
    return round_down(log_beta - require.non_negative("log_kbar", log_kbar))


@dataclass(frozen=True, slots=True)
class GaussianEpoch:
    """One epoch: its questions, its noise, its level, the signal so far and its half-width."""

    questions: int
    noise_scale: float
    log_beta: float
    m: float
    half_width: float


def _growth(epoch: int) -> float:
    """sqrt of sum_{f <= e} 2^{f/2}: m_e over m_0."""
    return math.sqrt(math.fsum(2.0 ** (0.5 * f) for f in range(epoch + 1)))


@theorem(
    source="Holdfast",
    place="section 5, Open-ended epochs",
    statement=(
        "Epochs of k0 2^e adaptive means of [0, 1] values on n independent rows with noise "
        "s0 2^{e/4}, declared in advance: with probability 1 - beta every answer of every epoch "
        "is within its epoch's half-width s_e CVaR(max) + CVaR(B) at beta_e and m_e."
    ),
    domain="n, k0 >= 1, s0 > 0, log_beta <= 0, 0 <= epoch <= 100",
    monotone={"n": "down", "k0": "up", "epoch": "up", "log_beta": "down"},
    slack="against a known end: the shares of beta, and m_e about 1.6 times an epoch's own",
)
def gaussian_epoch(n: int, k0: int, s0: float, log_beta: float, epoch: int) -> GaussianEpoch:
    """Epoch e of an open-ended run; `first_epoch_noise` proposes s0."""
    n, k0 = require.positive_integer("n", n), require.positive_integer("k0", k0)
    s0, epoch = require.positive("s0", s0), _epoch(epoch)
    share = epoch_log_beta(log_beta, epoch)
    questions, noise_scale = k0 << epoch, s0 * 2.0 ** (0.25 * epoch)
    m = round_up(math.sqrt(k0) / (2.0 * n * s0) * _growth(epoch), 16)
    noise = round_up(noise_scale * gaussian_max_noise(questions, share))
    half_width = transfer_half_width(noise, gaussian_shift(m, share))
    return GaussianEpoch(questions, noise_scale, share, m, half_width)


@theorem(
    source="Holdfast",
    place="section 5, Open-ended epochs: the first noise",
    statement="The s0 that makes the half-width of epoch `aim` least; any s0 is valid.",
    domain="n, k0 >= 1, log_beta <= 0, 0 <= aim <= 100",
    monotone={"n": "down"},
    slack="found to about 1e-4",
)
def first_epoch_noise(n: int, k0: int, log_beta: float, aim: int = 0) -> float:
    """With m_aim = reach/s0 the half-width is cost/m + shift(m), as for one epoch."""
    n, k0 = require.positive_integer("n", n), require.positive_integer("k0", k0)
    aim = _epoch(aim)
    share = epoch_log_beta(log_beta, aim)
    reach = math.sqrt(k0) / (2.0 * n) * _growth(aim)
    cost = reach * 2.0 ** (0.25 * aim) * gaussian_max_noise(k0 << aim, share)
    return reach / best_signal(cost, share).m


@theorem(
    source="Holdfast",
    place="section 5b, Open-ended epochs with median noise",
    statement=(
        "Of `answers` adaptive means of [0, 1] values of variance at most v in every row, each "
        "answered with D times the median of 2a + 1 uniforms on [-1, 1] on n independent rows, "
        "the last `questions` are all within D C + 2 sqrt(v) H + theta/beta with probability "
        "1 - beta: C for the last `questions`, H and theta for all `answers`."
    ),
    domain="n >= 1, 1 <= questions <= answers, D > 0, 2 <= a <= 7, 1e-12 <= variance <= 1/4",
    monotone={"n": "down", "answers": "up", "questions": "up", "variance": "up"},
    slack="as median_shift; questions = answers is Theorem M, or V1",
)
def median_epoch_half_width(
    n: int, answers: int, questions: int, D: float, a: int, log_beta: float, variance: float = 0.25
) -> float:
    """An epoch's half-width at its share of beta; the noise is the same in all epochs."""
    n, answers = require.positive_integer("n", n), require.positive_integer("answers", answers)
    questions = require.integer_between("questions", questions, 1, answers)
    D, a = require.positive("D", D), order(a)
    log_beta = require.log_probability("log_beta", log_beta)
    weight = 2.0 * math.sqrt(require.between("variance", variance, _LEAST_VARIANCE, 0.25))
    noise = round_up(D * median_max_noise(questions, a, log_beta))
    shift = exact_shift(n, answers, D, a, log_beta).bound(weight)
    return transfer_half_width(noise, min(1.0, shift))
