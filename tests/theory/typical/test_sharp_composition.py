"""Sharp composition: exact against enumeration, attained where it should be, never looser."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.stats import binom

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.composition import (
    approximate_composition,
    composed_eta,
    equal_marginal_conditioning,
    pure_composition,
    pure_composition_printed,
    sharp_composition,
    sharp_composition_balanced,
)
from holdfast.theory.typical.sharp_composition import (
    bad_event_log_bound,
    optimal_composition_log_delta,
)

LOG = st.floats(-1000, 0)


def excess(p: np.ndarray, q: np.ndarray, eta: float) -> float:
    """The largest P(O) - e^eta Q(O)."""
    return float(np.clip(p - math.exp(eta) * q, 0, None).sum())


@given(k=st.integers(1, 7), eta=st.floats(0, 2), share=st.floats(0, 1.1), tau=st.floats(0, 0.5))
def test_delta_is_that_of_all_outcomes_listed(k: int, eta: float, share: float, tau: float) -> None:
    # One step: show the sample with probability tau, else randomised response.
    truth, lie = (1 - tau) * math.exp(eta) / (1 + math.exp(eta)), (1 - tau) / (1 + math.exp(eta))
    p, q = np.array([tau, truth, lie, 0.0]), np.array([0.0, lie, truth, tau])
    all_p, all_q = p, q
    for _ in range(k - 1):
        all_p, all_q = np.outer(all_p, p).ravel(), np.outer(all_q, q).ravel()
    listed = excess(all_p, all_q, share * k * eta)
    log_tau = math.log(tau) if tau > 0 else -math.inf
    found = math.exp(optimal_composition_log_delta(k, eta, share * k * eta, log_tau))
    assert found == pytest.approx(listed, rel=1e-9, abs=1e-13)


@given(k=st.integers(1, 500), eta=st.floats(1e-3, 5), log_tau=LOG)
def test_basic_composition_is_the_end_of_the_curve(k: int, eta: float, log_tau: float) -> None:
    assert optimal_composition_log_delta(k, eta, k * eta * (1 + 1e-12)) == -math.inf
    assert optimal_composition_log_delta(k, eta, k * eta * (1 - 1e-12)) > -math.inf
    end = optimal_composition_log_delta(k, eta, k * eta * (1 + 1e-12), log_tau)
    tau = math.exp(log_tau)
    exact = -math.expm1(k * math.log1p(-tau)) if 1e-12 < tau < 1 else min(1.0, k * tau)
    assert math.exp(end) == pytest.approx(exact, rel=1e-9)


@given(k=st.integers(1, 1000))
def test_steps_that_reveal_nothing_compose_to_nothing(k: int) -> None:
    assert optimal_composition_log_delta(k, 0.0, 0.0) == -math.inf
    assert bad_event_log_bound(k, 0.0, -50.0) == pytest.approx(math.log(k) - 50, rel=1e-12)


def test_a_million_steps_agree_with_the_normal_limit() -> None:
    # k steps of eta = mu/sqrt(k) tend to the Gaussian curve with mu = 1.
    k, mu, eta_prime = 10**6, 1.0, 1.5
    limit = _gaussian_delta(mu, eta_prime)
    found = math.exp(optimal_composition_log_delta(k, mu / math.sqrt(k), eta_prime))
    assert found == pytest.approx(limit, rel=1e-3)


def _gaussian_delta(mu: float, eta: float) -> float:
    def phi(z: float) -> float:
        return math.erfc(-z / math.sqrt(2)) / 2

    return phi(mu / 2 - eta / mu) - math.exp(eta) * phi(-mu / 2 - eta / mu)


@given(log_nu=LOG, eta=st.floats(0, 12), log_tau=LOG)
def test_the_first_step_meets_untypical_samples_only(
    log_nu: float, eta: float, log_tau: float
) -> None:
    assert bad_event_log_bound(1, eta, log_nu, log_tau) == pytest.approx(
        log_nu, rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize("eta", [1.0, 4.0, 9.0])
def test_naming_the_sample_attains_the_bad_event(eta: float) -> None:
    # Step 1 names x among N samples, as often as eta allows; the second is bad if x was named.
    samples = math.ceil(3 * math.exp(eta))
    named = math.exp(eta) / samples
    bound = math.exp(bad_event_log_bound(2, eta, -math.log(samples)))
    assert named <= bound <= named * (1 + 1.001 * math.exp(-eta))


def test_asking_bit_by_bit_stays_below_the_bad_event() -> None:
    # 20 bits of x are released by randomised response; the last step is bad if 18 of them agree.
    k, truth = 21, math.e / (1 + math.e)
    step = -math.log(2 * (1 - truth))  # against a fair coin
    nu, attained = binom.sf(17, 20, 0.5), binom.sf(17, 20, truth)
    assert attained <= math.exp(bad_event_log_bound(k, step, math.log(nu)))
    # Sabotage: charge 30 % of what each bit reveals, and the bound is broken.
    assert attained > math.exp(bad_event_log_bound(k, 0.3 * step, math.log(nu)))


@given(
    k=st.integers(1, 2000),
    eta=st.floats(math.log(1e-3), math.log(12.4)).map(math.exp),
    log_nu=LOG,
    log_tau_prime=st.floats(-1000, -1),
)
def test_never_looser_than_the_pure_theorem(
    k: int, eta: float, log_nu: float, log_tau_prime: float
) -> None:
    repaired = pure_composition(k, eta, log_nu, log_tau_prime)
    assume(repaired.log_tau < 0)  # else it promises nothing
    sharp = sharp_composition_balanced(k, eta, log_nu, composed_eta(k, eta, log_tau_prime))
    assert sharp.eta <= repaired.eta
    assert sharp.log_tau <= repaired.log_tau
    assert sharp.log_tau <= max(
        0.0, pure_composition_printed(k, eta, log_nu, log_tau_prime).log_tau
    )


@given(
    k=st.integers(1, 500),
    eta=st.floats(math.log(0.011), math.log(1.49)).map(math.exp),
    log_tau=st.floats(-500, math.log(0.01 / 50)),
    log_nu=LOG,
    log_tau_prime=st.floats(-500, -1),
)
def test_never_looser_than_the_approximate_theorem(
    k: int, eta: float, log_tau: float, log_nu: float, log_tau_prime: float
) -> None:
    printed = approximate_composition(k, eta, log_tau, log_nu, log_tau_prime)
    assume(printed.log_tau < 0)
    sharp = sharp_composition_balanced(k, eta, log_nu, printed.eta / 3, log_tau)
    assert sharp.log_tau <= printed.log_tau


@given(
    k=st.integers(1, 100),
    eta=st.floats(0, 2),
    log_nu=st.floats(-1000, -20),
    share=st.floats(0.5, 1.1),
    log_tau_out=LOG,
)
def test_tau_and_nu_are_traded_one_for_one(
    k: int, eta: float, log_nu: float, share: float, log_tau_out: float
) -> None:
    eta_prime = share * k * eta
    even = sharp_composition_balanced(k, eta, log_nu, eta_prime)
    chosen = sharp_composition(k, eta, log_nu, eta_prime, log_tau_out)
    assert chosen.log_nu == pytest.approx(
        min(0.0, 2 * even.log_tau - log_tau_out), rel=1e-9, abs=1e-9
    )


def test_nothing_untypical_and_basic_composition_is_pure() -> None:
    composed = sharp_composition_balanced(7, 0.3, -math.inf, 2.2)
    assert composed.stability().tau == composed.stability().nu == 0.0


def test_conditioning_holds_for_any_world() -> None:
    rng = np.random.default_rng(5)
    eta = 0.4
    for _ in range(200):
        oracle = rng.dirichlet(np.ones(6))
        world = np.array([rng.dirichlet(40 * oracle + 0.1) for _ in range(30)])
        one = np.array([excess(law, oracle, eta) for law in world])
        two = np.array([excess(oracle, law, eta) for law in world])
        tau_out = float(np.quantile(np.maximum(one, two), 0.8)) + 1e-12
        nu_out = math.exp(
            equal_marginal_conditioning(
                math.log(one.mean() + 1e-300), math.log(two.mean() + 1e-300), math.log(tau_out)
            )
        )
        assert np.mean(np.maximum(one, two) > tau_out) <= nu_out


def test_conditioning_is_attained() -> None:
    # One sample of ten says "it is me" with probability h, just above tau_out; the others never.
    h, eta, oracle = 0.05, 0.4, np.array([1.0, 0.0])
    world = np.array([[1 - h, h]] + 9 * [[1.0, 0.0]])
    tau_out = h * (1 - 1e-9)
    one = np.array([excess(law, oracle, eta) for law in world])
    two = np.array([excess(oracle, law, eta) for law in world])
    assert two.sum() == 0
    nu_out = math.exp(
        equal_marginal_conditioning(math.log(one.mean()), -math.inf, math.log(tau_out))
    )
    assert np.mean(one > tau_out) == pytest.approx(0.1)
    assert 0.1 <= nu_out <= 0.1 * (1 + 1e-8)


@pytest.mark.parametrize(("eps", "d"), [(1.0, 0.01), (0.71, 0.001)])
def test_the_quoted_conditioning_lemma_fails_once_e_to_the_eps_exceeds_2(
    eps: float, d: float
) -> None:
    # V in {t, o}, U in {a, b}; columns (a, t), (b, t), (o).
    rare = 1e-3
    second = np.array([rare * d, rare * (1 - d), 1 - rare])
    in_t = math.exp(eps) * rare * (1 - d)
    first = np.array([0.0, in_t, 1 - in_t])
    delta = max(excess(first, second, eps), excess(second, first, eps))
    assert delta == pytest.approx(rare * d)
    asked = d * (1 - 1e-6)
    # Given V = t, U' is a with probability d and U never: not (3 eps, asked)-close.
    failing = in_t
    promised = 2 * delta / asked + 2 * delta / (1 - math.exp(-eps))
    assert failing > promised


@pytest.mark.parametrize("k", [10**5, 10**6])
def test_many_steps_and_tiny_probabilities(k: int) -> None:
    composed = sharp_composition_balanced(k, 1e-3, -1000.0, 100.0, -990.0)
    assert -500 < composed.log_tau < -400
    for (_, before), (_, after) in itertools.pairwise(
        (n, bad_event_log_bound(n, 1e-3, -1000.0)) for n in (k // 100, k // 10, k)
    ):
        assert before < after < -800


@pytest.mark.parametrize(
    "arguments", [(0, 0.1, 0.1), (3, -0.1, 0.1), (3, 0.1, math.nan), (3, 0.1, -1.0)]
)
def test_the_domain_is_checked(arguments: tuple[int, float, float]) -> None:
    with pytest.raises(InvalidArgument):
        optimal_composition_log_delta(*arguments)
