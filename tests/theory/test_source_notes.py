"""Every note on a source document, with the derivation or the counterexample that it rests on.

A note is about our copy of a document, read word for word. What is said to be false is shown to be
false here, in exact arithmetic where that is possible; what is said to be true but loose is shown
to be both.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from holdfast.papers.theorems.composition import (
    approximate_composed_eta,
    approximate_composition_bf1_printed,
    approximate_composition_printed,
    composed_eta,
    equal_marginal_conditioning,
    pure_composition,
    pure_composition_bf1_printed,
    pure_composition_printed,
)
from holdfast.papers.theorems.median_parameters import median_parameters, median_parameters_printed
from holdfast.papers.theorems.notions import pure_dp_to_tv_printed
from holdfast.papers.theorems.printed import (
    near_independence_printed,
    oracle_to_pair_printed,
    sub_exponential_log_tail_printed,
    sub_gaussian_log_tail_printed,
)
from holdfast.papers.theorems.tv_generalisation import (
    gaussian_scale_for_expected_error,
    subsample_size,
    subsample_size_printed,
    tv_expected_error,
    tv_expected_error_printed,
)
from holdfast.papers.theorems.typical_noise import (
    gaussian_scale_bf1_printed,
    gaussian_scale_printed,
    laplace_scale_set_form,
)
from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.base.theorem import registry
from holdfast.theory.notions.arrows import pure_dp_to_tv
from holdfast.theory.notions.composing import PureDP
from holdfast.theory.notions.distances import gaussian_tv
from holdfast.theory.typical.generalisation import near_independence

NOTES = {(note.source, note.place): note for each in registry().values() for note in each.notes}
SHOWN: dict[tuple[str, str], Callable[[], None]] = {}


def shows(source: str, place: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def enter(function: Callable[[], None]) -> Callable[[], None]:
        assert (source, place) not in SHOWN
        SHOWN[source, place] = function
        return function

    return enter


def test_every_note_is_shown_and_nothing_else() -> None:
    assert len(NOTES) == len({note for each in registry().values() for note in each.notes})
    assert SHOWN.keys() == NOTES.keys()


def excess(p: np.ndarray, q: np.ndarray, eta: float) -> float:
    """The largest P(O) - e^eta Q(O)."""
    return float(np.clip(p - math.exp(eta) * q, 0, None).sum())


def far(p: np.ndarray, q: np.ndarray, eta: float, tau: float = 0.0) -> bool:
    return max(excess(p, q, eta), excess(q, p, eta)) > tau + 1e-15


@shows("BF1", "Figure 3")
def test_the_noise_of_the_missing_figure_gives_the_printed_error() -> None:
    alpha, eta, tau, beta = 0.3, 0.7, 1e-5, 0.01
    printed = 4 * alpha * math.sqrt(math.log(1 / tau) * math.log(1 / beta)) / eta  # Theorem 4.4
    s = gaussian_scale_bf1_printed(alpha, eta, math.log(tau))
    assert printed == pytest.approx(s * math.sqrt(2 * math.log(1 / beta)), rel=1e-12)


@shows("BF1", "Lemma 3.5 with equation (3)")
def test_the_factor_3_is_in_the_equation_and_in_the_lemma() -> None:
    k, eta, log_tau_prime = 7, 0.3, -20.0
    of_equation_3 = 3 * composed_eta(k, eta, log_tau_prime)
    of_theorem = pure_composition_printed(k, eta, -40.0, log_tau_prime).eta
    assert of_theorem == pytest.approx(of_equation_3, rel=1e-12)
    assert 3 * of_equation_3 > 2.9 * of_theorem  # what Lemma 3.5 gives


@shows("BF1", "Theorem 4.1, proof")
def test_the_printed_laplace_density_has_not_mass_1() -> None:
    alpha, eta = 0.4, 0.5

    def mass(prefactor: float) -> float:
        half, _ = integrate.quad(lambda w: math.exp(-eta * w / (2 * alpha)), 0, math.inf)
        return float(2 * prefactor * half)

    assert mass(eta / (4 * alpha)) == pytest.approx(1.0, rel=1e-9)
    assert mass(alpha / eta) == pytest.approx((2 * alpha / eta) ** 2, rel=1e-9)
    scale = laplace_scale_set_form(alpha, eta)
    assert 1 / (2 * scale) == pytest.approx(eta / (4 * alpha), rel=1e-12)


def antipodes(pairs: int = 4, truth: float = 0.6) -> np.ndarray:
    """A law for each of 2 `pairs` samples: a random pair is named, with a sign; the sign of one's
    own pair is told truly with probability `truth`, that of another is a fair coin."""
    laws = np.full((2 * pairs, 2 * pairs), 1 / (2 * pairs))
    for x in range(2 * pairs):
        laws[x, x], laws[x, x ^ 1] = truth / pairs, (1 - truth) / pairs
    return laws


def far_from_antipode_only() -> list[set[int]]:
    laws, eta = antipodes(), math.log(1.3)
    return [{y for y in range(8) if far(laws[x], laws[y], eta)} for x in range(8)]


@shows("BF1", "after Definition 2.2")
def test_pairs_are_close_and_no_set_holds_more_than_half() -> None:
    far_sets = far_from_antipode_only()
    assert far_sets == [{x ^ 1} for x in range(8)]  # a random pair is close but for 1/8
    largest = max(
        len(chosen)
        for size in range(9)
        for chosen in itertools.combinations(range(8), size)
        if not any(far_sets[x] & set(chosen) for x in chosen)
    )
    assert largest == 4
    assert (largest / 8) ** 2 < 1 - 1 / 8  # P[X, Y in S]


@shows("BF2", "Lemma 3.3 and Theorem 3.4")
def test_the_pair_definition_gives_no_set() -> None:
    test_pairs_are_close_and_no_set_holds_more_than_half()


@shows("BF1", "equation (13)")
def test_tau_hat_must_be_divided_too() -> None:
    k, eta, tau = 5, 0.1, 1e-5
    tau_hat = 2 * tau / -math.expm1(-eta)
    arguments = (k, eta, math.log(tau), -900.0, -900.0)
    of_mass = 5 * math.sqrt(k * tau_hat / (2 * eta))
    second = math.exp(approximate_composition_printed(*arguments).log_tau)
    assert second == pytest.approx(of_mass, rel=1e-9)
    assert math.exp(approximate_composition_bf1_printed(*arguments).log_tau) < 0.5 * of_mass


@shows("BF1", "equation (3)")
def test_eta_under_the_root_is_not_azumas_deviation() -> None:
    eta, log_tau_prime = 4.0, -2.0
    right = 3 * composed_eta(1, eta, log_tau_prime)
    assert right == pytest.approx(3 * (2 * eta + eta * math.expm1(eta)), rel=1e-12)
    read = pure_composition_bf1_printed(1, eta, -9.0, log_tau_prime).eta
    assert read == pytest.approx(3 * (2 * math.sqrt(eta) + eta * math.expm1(eta)), rel=1e-12)


@shows("BF2", "Theorem 4.4 (BF1 Theorem 3.4), Azuma's inequality")
def test_azuma_with_b_under_the_root_is_false() -> None:
    b, u = 4.0, 2.0  # j = 1, c = 0: a fair sign times b
    assert u * math.sqrt(b) == 4  # is reached with probability 1/2
    assert math.exp(-(u**2) / 2) < 0.5
    for j in range(1, 30):  # u b sqrt(j) holds: sums of fair signs
        for u in (0.5, 1.0, 2.0):
            heads = math.ceil((j + u * math.sqrt(j)) / 2)
            assert stats.binom.sf(heads - 1, j, 0.5) <= math.exp(-(u**2) / 2)


@shows("BF2", "Lemma 4.3, first display of the proof; equation (32)")
def test_the_two_probabilities_are_not_equal() -> None:
    # Step 1 is randomised response, so f_1 = eta with probability `truth`; step 2 is silent, and
    # pruned for a share nu of samples. There g_1 + g_2 = f_1 still.
    eta, log_tau_prime, nu = 0.1, math.log(0.99), 0.25
    assert eta > composed_eta(2, eta, log_tau_prime)  # eta_2
    truth = math.exp(eta) / (1 + math.exp(eta))
    left, right = (1 - nu) * truth, truth
    assert left < right <= 0.99


@shows("BF2", "Theorem 4.2, equation (4); Theorem 4.8, equation (17) (BF1 equations (4) and (13))")
def test_the_literal_exponent_is_false_beyond_25_and_the_subscript_is_not() -> None:
    # The first step names x among e^eta samples, the second shows all if x was named. The oracle
    # names uniformly: naming the truth with probability 1 - e^-eta keeps every ratio below e^eta.
    eta = 30.0
    samples = math.exp(eta)
    named = min(math.exp(eta) / samples, 1 - math.exp(-eta))
    nu = 1 / samples
    literal = pure_composition_printed(2, eta, math.log(nu), -200.0).stability()
    assert literal.tau == literal.nu < 0.92 < named
    assert pure_composition(2, eta, math.log(nu), -200.0).stability().nu == 1.0


@pytest.mark.parametrize("k", [2, 3, 10, 1000])
@pytest.mark.parametrize("eta", [12.6, 20.0, 26.0, 60.0, 499.0])
@pytest.mark.parametrize("log_nu", [-1e300, -1e9, -40.0, -1.0, 0.0])
def test_with_the_subscript_theorem_4_2_is_above_what_steps_can_reveal(
    k: int, eta: float, log_nu: float
) -> None:
    """(k eta, d, d), d^2 = nu (sum_{t<k} e^{t eta} + k), at every eta where the lemma ends."""
    log_terms = (k - 1) * eta - math.log1p(-math.exp(-eta))  # of the sum, from above
    log_d = (log_nu + np.logaddexp(log_terms, math.log(k))) / 2
    found = pure_composition(k, eta, log_nu, -50.0)
    assert k * eta <= found.eta
    assert log_d <= found.log_tau == found.log_nu


@pytest.mark.parametrize("eta", [4.0, 24.0, 26.0, 60.0, 400.0])
@pytest.mark.parametrize("log_nu", [-60.0, -1.0, 0.0])
def test_one_step_is_never_promised_to_be_better_than_it_is(eta: float, log_nu: float) -> None:
    assert pure_composition(1, eta, log_nu, -900.0).log_nu >= log_nu


@shows("BF2", "Lemma 4.5 (BF1 Lemma 3.5)")
def test_lemma_4_5_is_false_for_one_step() -> None:
    # Show a continuous sample if it is in one half: (60, 0, 1/2)-stable, and no tau < 1 helps.
    eta, mass = 60.0, 0.5
    assert 5 * math.sqrt(mass / eta) < 0.5
    # The printed steps: delta = 2 sqrt(m eta/5), then 2m/delta + 2m/(1 - e^-eta).
    for eta, holds in ((1.0, True), (5 - math.sqrt(5), True), (2.9, False)):
        m = eta / 25 * 0.999999  # the largest that is no empty promise
        steps = math.sqrt(5 * m / eta) + 2 * m / (0.4 * min(eta, 1))
        assert (steps <= 5 * math.sqrt(m / eta)) is holds
    # Equal marginals: delta_1 = delta_2 = m give tau = nu = sqrt(2 m).
    for eta, holds in ((12.49, True), (12.51, False)):
        m = 0.01
        tau = 5 * math.sqrt(m / eta)
        nu = math.exp(equal_marginal_conditioning(math.log(m), math.log(m), math.log(tau)))
        assert (nu <= tau) is holds


@shows("BF2", "equations (4) and (17), tau_j = nu_j")
def test_without_the_5_one_step_refutes_it() -> None:
    eta, nu = 4.0, 0.5  # shows the sample in one half, as above; tau' -> 0
    assert math.sqrt(nu / eta) < nu < 5 * math.sqrt(nu / eta)


@shows("BF2", "Lemma 4.7, second line of the proof")
def test_the_second_line_is_not_the_first() -> None:
    # Masses of (not in C_{j+1}?, not in G_j?) inside C_j: any four will do.
    mass = {(True, True): 0.02, (True, False): 0.03, (False, True): 0.07, (False, False): 0.88}
    first = mass[True, True] + mass[True, False]
    assert first == pytest.approx(mass[True, False] + mass[True, True])
    printed = mass[True, False] + mass[False, True]  # the second term with 'in C_{j+1}'
    assert printed != pytest.approx(first)
    third = mass[True, False] + (mass[True, True] + mass[False, True])  # what is used
    assert third >= max(first, printed)


@shows("BF2", "Lemma A.4")
def test_theorem_4_8_does_not_follow_from_lemma_a_4_as_it_reads() -> None:
    k, eta, log_tau, log_nu, log_tau_prime = 3, 0.5, -30.0, -60.0, -35.0
    theorem = approximate_composition_printed(k, eta, log_tau, log_nu, log_tau_prime)
    tau_hat = 2 * math.exp(log_tau) / -math.expm1(-eta)
    mass = k * (tau_hat + math.exp(log_tau_prime)) + math.exp(log_nu) * sum(
        math.exp(eta * t) for t in range(k)
    )
    lemma = 5 * math.sqrt(mass / eta)
    assert lemma == pytest.approx(math.sqrt(2) * math.exp(theorem.log_tau), rel=1e-9)
    for eta, holds in ((1.5, True), (6.2, True), (6.3, False)):
        assert (math.sqrt(2) <= 5 / math.sqrt(2 * eta)) is holds


@shows("BF2", "Algorithm 3, Theorem 5.3")
def test_the_printed_gaussian_noise_fails_at_large_eta() -> None:
    eta, tau = 5.0, 0.8
    mu = 1 / gaussian_scale_printed(1.0, eta, math.log(tau))
    curve = stats.norm.cdf(mu / 2 - eta / mu) - math.exp(eta) * stats.norm.cdf(-mu / 2 - eta / mu)
    assert curve > tau


@shows("BF2", "Claim A.2")
def test_the_mean_of_the_absolute_log_ratio_is_not_of_second_order() -> None:
    eta, tau = 0.05, 1e-6  # tau <= eta/50
    tau_hat, grow = 2 * tau / -math.expm1(-eta), math.exp(eta)
    psi = tau * (2 * grow + 1) + tau**2 * (
        1 + 2 * grow**2 / math.expm1(eta) ** 2 * (4 * grow**2 + 4 * grow - 3 - 2 / grow + grow**-2)
    )
    bound = 2 * eta * (grow**2 / (1 - tau_hat) - 1) + psi
    truth = grow / (1 + grow)
    p, q = np.array([truth, 1 - truth]), np.array([1 - truth, truth])
    assert not far(p, q, eta)
    f = np.log(p / q)
    assert p @ f <= bound < p @ abs(f)
    # The bound is the slope of eta_t in t, which is what the theorem uses of it.
    slope = approximate_composed_eta(10**6, eta, math.log(tau), -1e-12) / 10**6
    assert slope == pytest.approx(bound, rel=1e-4)


@shows("BF2", "Definition 2.4 (and BF1, Section 2.2)")
def test_a_fair_coin_is_in_no_class_with_a_strict_sign() -> None:
    deviates = Fraction(1)  # P[|q - 1/2| > a] for every a < 1/2
    for gamma in (0.0, 1e-9, 1.0):
        assert not deviates < math.exp(-gamma)
    assert deviates <= math.exp(-0.0)


@shows("BF2", "Section 2.2 (and BF1, Section 2.2): inclusions of query classes")
def test_a_fair_coin_refutes_the_inclusions() -> None:
    a = 0.499
    for t in np.linspace(-40, 40, 801):  # it is 1/2-sub-Gaussian
        assert math.cosh(t / 2) <= math.exp(t * t / 8) * (1 + 1e-12)
    assert math.exp(sub_gaussian_log_tail_printed(0.5, a)) < 0.61
    assert math.exp(-2 * a**2) < 0.61  # one row, Delta = 1: McDiarmid as printed
    assert SubGaussian(0.5).log_tail(a) == 0.0


@shows("BF2", "Section 2.2, sub-exponential queries (and BF1, Section 2.2)")
def test_the_printed_sub_exponential_tail_lacks_a_factor_and_saturates() -> None:
    assert math.exp(sub_exponential_log_tail_printed(0.5, 0.1, 0.499)) < 0.61  # the coin again
    sigma, b = 1.0, 1.0
    flat = sub_exponential_log_tail_printed(sigma, b, 1e6)
    assert flat == pytest.approx(-(sigma**2) / (2 * b**2), rel=1e-12)  # a million sigmas away


@shows("BF2", "Lemma 3.3 (BF1 Lemma 2.6)")
def test_near_independence_needs_neither_5_nu_nor_a_hypothesis() -> None:
    log_p, eta, log_tau, log_nu = -9.0, 0.9, -12.0, math.log(0.05)
    exact = near_independence(log_p, eta, log_tau, log_nu)
    assert exact < near_independence_printed(log_p, eta, log_tau, log_nu)
    tau, nu = math.exp(log_tau), math.exp(log_nu)
    expected = math.exp(eta + log_p) + tau + nu - tau * nu
    assert math.exp(exact) == pytest.approx(expected, rel=1e-12)
    assert near_independence(log_p, 3.0, log_tau, math.log(0.5)) <= 0.0
    assert math.e * 0.0999 / (1 - 0.0999) > 3 * 0.0999  # BF1's last step


@shows("BF2", "Theorem 3.4")
def test_the_infimum_as_it_reads_is_0_or_nothing() -> None:
    grid, nu = [i / 10 for i in range(100)], 0.01  # gamma_n(r) = r^2
    for alpha in (0.1, 5.0):
        chosen = [r for r in grid if math.exp(-alpha * alpha) <= nu]
        assert chosen in ([], grid)
    meant = min(r for r in grid if math.exp(-r * r) <= nu)
    assert math.exp(-(meant**2)) <= nu < math.exp(-((meant - 0.1) ** 2))


@shows("BF2", "after Definition 2.3 (BF1 after Definition 2.3)")
def test_3_tau_is_false_beyond_ln_2() -> None:
    # P = (1 + e) tau more than e^{2 eta} Q on one outcome, over a law W between them.
    eta, tau = 1.0, 0.1
    q = np.array([0.01, 0.99])
    w = np.array([math.exp(eta) * q[0] + tau, 0.0])
    p = np.array([math.exp(eta) * w[0] + tau, 0.0])
    w[1], p[1] = 1 - w[0], 1 - p[0]
    assert not far(p, w, eta, tau + 1e-12)
    assert not far(w, q, eta, tau + 1e-12)
    printed = oracle_to_pair_printed(eta, tau, 0.0).tau
    assert excess(p, q, 2 * eta) == pytest.approx((1 + math.e) * tau, rel=1e-9)
    assert excess(p, q, 2 * eta) > printed


@shows("BF2", "Lemma 4.6 (BF1 Lemma 3.6), quoted from KS14")
def test_the_conditioning_lemma_fails_for_e_to_the_eps_above_2() -> None:
    # On a set T of t, U' is in O with probability delta' (and a little), U never.
    eps, delta, allowed = 1.0, 1e-3, 0.1
    in_o = allowed * (1 + 1e-9)
    other = delta / in_o  # V' in T
    ours = other * (math.exp(eps) * (1 - in_o) + in_o)  # V in T, as often as the joints allow
    joint = np.array([0.0, ours, 1 - ours])  # (T, O), (T, not O), (not T)
    primed = np.array([other * in_o, other * (1 - in_o), 1 - other])
    assert not far(joint, primed, eps, delta + 1e-12)
    given_t, primed_given_t = np.array([0.0, 1.0]), np.array([in_o, 1 - in_o])
    assert far(given_t, primed_given_t, 3 * eps, allowed)
    assert 1 - ours < 1 - 2 * delta / allowed - 2 * delta / -math.expm1(-eps)


@shows("L4", "MedianMechanism, step 1, size of the subsample")
def test_2n_belongs_under_the_root() -> None:
    n, k = 5000, 30
    eta = (math.log(4 * k) / (2 * n)) ** 0.25
    first = 8 * math.log(4 * k) / eta**2
    assert first == pytest.approx(8 * math.sqrt(math.log(4 * k) * 2 * n), rel=1e-12)
    assert first < 0.02 * 8 * math.sqrt(math.log(4 * k)) * 2 * n


@shows("L4", "MedianMechanism, step 1, number of guesses")
def test_the_version_space_is_halved_base_2_times() -> None:
    points, size = 5, 1000
    space, mistakes = size**points, 0
    while space > 1:
        space, mistakes = space // 2, mistakes + 1
    assert mistakes == math.floor(points * math.log2(size)) > points * math.log(size)


@shows("L4", "MedianMechanism, proof of Theorem 2")
def test_the_quarters_waste_up_to_9_times_the_points() -> None:
    eta = 0.2
    assert (eta / 4) + (eta / 4) <= eta / 2 <= eta - eta / 4  # they are sound
    rho = eta / 8
    assert 3 * eta / 4 + rho <= eta - rho  # so is this
    k, size = 50, 100
    found = median_parameters(k, size, eta, rho)
    quarter = math.log(2 * k) / (2 * (eta / 4) ** 2)
    assert 8.5 < quarter / found.points < 9.1
    assert median_parameters_printed(1000, k, size).points > found.points


@shows("L4", "Claim 1")
def test_a_smaller_subsample_exists() -> None:
    for k, alpha in itertools.product((1, 10, 1000), (0.3, 0.05)):
        size = subsample_size(k, alpha)
        assert 2 * k * math.exp(-2 * size * alpha**2) < 1  # succeeds with positive probability
        assert size <= subsample_size_printed(k, alpha)
    assert subsample_size(10, 0.1) < math.log(40) / (2 * 0.1**2)


@shows("L12", "Claim 0.6")
def test_randomised_response_attains_tanh_and_the_printed_bound_exceeds_1() -> None:
    epsilon = 1.3
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    attained = 2 * truth - 1
    assert attained == pytest.approx(pure_dp_to_tv(PureDP(epsilon)).distance, rel=1e-12)
    assert attained < 1 < pure_dp_to_tv_printed(PureDP(epsilon))


@shows("L15", "Putting it all together, first item and all displays after it")
def test_m_and_sigma_stand_outside_the_root() -> None:
    m, sigma = 100, 0.02
    exact = gaussian_tv(m, 1, sigma)
    right, read = 1 / (math.sqrt(2 * math.pi) * m * sigma), 1 / math.sqrt(2 * math.pi * m * sigma)
    assert exact <= right < 1.1 * exact
    assert read > 1.4 * exact
    assert 1 / math.sqrt(2 * math.pi * 10 * 0.05) < gaussian_tv(10, 1, 0.05)


@shows("L15", "Theorem 0.1, last line of the proof")
def test_two_gaussian_answers_are_closer_than_twice_one() -> None:
    assert gaussian_tv(50, 2, 0.05) < 2 * gaussian_tv(50, 1, 0.05)


@shows("L15", "Putting it all together, the display after the third item")
def test_half_of_y_is_below_the_printed_and_above_the_exact_distance() -> None:
    for y in (1e-3, 0.1, 0.9):
        assert math.expm1(y) / 2 > y / 2 > math.tanh(y / 2)


@shows("L15", "Putting it all together, the displayed bound")
def test_the_displayed_bound_is_mcdiarmids_times_root_2() -> None:
    distance, n, log_delta = 0.001, 1000, math.log(0.05)
    difference = 2 * distance + 1 / n  # of one row
    radius = difference * math.sqrt(n * (math.log(2) - log_delta) / 2)
    assert tv_expected_error(distance, n, log_delta) == pytest.approx(distance + radius, rel=1e-12)
    printed = tv_expected_error_printed(distance, n, log_delta)
    assert printed == pytest.approx(distance + math.sqrt(2) * radius, rel=1e-12)


@shows("L15", "the last display, first and third line")
def test_the_fourth_line_follows_from_m_outside_the_root() -> None:
    epsilon, k, m, log_term = 0.001, 9, 400, math.log(2 / 0.05)
    fourth = 3 * epsilon * math.sqrt(k * m * log_term)
    outside = 3 * epsilon * math.sqrt(k) * m * math.sqrt(log_term / m)
    under = 3 * epsilon * math.sqrt(k * m) * math.sqrt(log_term / m)
    assert outside == pytest.approx(fourth, rel=1e-12)
    assert under == pytest.approx(fourth / math.sqrt(m), rel=1e-12)


@shows("L15", "the last display, from the second line to the third")
def test_the_1_is_absorbed_only_by_enough_noise() -> None:
    k, m = 9, 400
    for size, holds in ((Fraction(1), True), (Fraction(1, 2), False)):  # epsilon sqrt(k) m
        epsilon = size / (3 * m)
        assert (2 * epsilon * 3 * m + 1 <= 3 * epsilon * 3 * m) is holds
    assert math.isqrt(k) == 3


@shows("L15", "Putting it all together, the second inequality of the display")
def test_sigma_below_1_is_not_enough() -> None:
    for k, sigma, holds in ((1, 0.39, True), (1, 0.9, False), (3, 0.9, True)):
        unit = k / (math.sqrt(2 * math.pi) * sigma)
        assert (2 * unit + 1 <= 3 * unit) is holds


@shows("L15", "Putting it all together, 'it suffices to take'")
def test_less_noise_does_not_suffice() -> None:
    n, k, tau, log_delta = 10**6, 4, 0.3, math.log(0.05)
    s = gaussian_scale_for_expected_error(n, k, tau, log_delta)
    assert tv_expected_error(gaussian_tv(n, k, s), n, log_delta) <= tau * (1 + 1e-9)
    assert tv_expected_error(gaussian_tv(n, k, s / 2), n, log_delta) > tau


@shows("L15", "Putting it all together, the last line before DP")
def test_the_rows_needed_grow_with_the_logarithm_not_its_root() -> None:
    # sigma = k sqrt(log(1/delta))/(sqrt(m) tau) at m = c k^2 L^p/tau^2 is L^{(1 - p)/2}/sqrt(c).
    def sigma(power: float, log_term: float) -> float:
        k, tau, c = 5, 0.1, 100.0
        m = c * k**2 * log_term**power / tau**2
        return k * math.sqrt(log_term) / (math.sqrt(m) * tau)

    assert sigma(1, 1e12) == pytest.approx(sigma(1, 1.0), rel=1e-9)
    assert sigma(0.5, 1e12) > 100 * sigma(0.5, 1.0)
