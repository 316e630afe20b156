"""Laws of typical stability: forms, conversions, composition of steps fixed in advance."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.printed import (
    non_adaptive_composition,
    non_adaptive_composition_printed,
    oracle_to_pair_printed,
    post_processing,
)
from holdfast.theory.notions.arrows import gdp_to_approx_dp
from holdfast.theory.notions.composing import GDP
from holdfast.theory.typical.notion import Form, TypicalStability, oracle_to_pair

LAWS = ("post_processing", "non_adaptive_composition")

FORMS: tuple[Form, ...] = ("oracle", "pair", "set")


def stabilities(form: Form) -> st.SearchStrategy[TypicalStability]:
    probability = st.floats(0, 1)
    return st.builds(
        TypicalStability, st.floats(0, 20), probability, probability, form=st.just(form)
    )


def excess(p: np.ndarray, q: np.ndarray, eta: float) -> float:
    """The largest P(O) - e^eta Q(O), in the worse of the two directions."""
    ratio = math.exp(eta)
    return float(max(np.clip(p - ratio * q, 0, None).sum(), np.clip(q - ratio * p, 0, None).sum()))


@pytest.mark.parametrize(
    "arguments",
    [
        (-0.1, 0.0, 0.0),
        (math.inf, 0.0, 0.0),
        (0.1, -1e-9, 0.0),
        (0.1, 1.1, 0.0),
        (0.1, 0.0, math.nan),
        (0.1, 0.0, 2.0),
        (0.1, 0.0, 0.0, "neighbour"),
    ],
)
def test_parameters_outside_their_range_are_refused(arguments: tuple[float, float, float]) -> None:
    with pytest.raises(InvalidArgument):
        TypicalStability(*arguments)


def test_from_logs_never_rounds_a_failure_away() -> None:
    tiny = TypicalStability.from_logs(0.5, -1000.0, 3.0)
    assert tiny.tau == math.ulp(0.0)
    assert tiny.nu == 1.0
    pure = TypicalStability.from_logs(0.5, -math.inf, -1.0)
    assert pure.tau == 0.0
    assert pure.log_tau == -math.inf
    assert math.exp(-1.0) <= pure.nu <= math.exp(-1.0) * (1 + 1e-14)
    with pytest.raises(InvalidArgument):
        TypicalStability.from_logs(0.5, math.nan, -1.0)


def test_a_chain_of_three_laws_attains_the_conversion() -> None:
    eta, tau = 1.0, 1e-3
    last = 0.01
    middle = math.exp(eta) * last + tau
    first = math.exp(eta) * middle + tau
    laws = [np.array([x, 1 - x]) for x in (first, middle, last)]
    assert excess(laws[0], laws[1], eta) == pytest.approx(tau)
    assert excess(laws[1], laws[2], eta) == pytest.approx(tau)
    pair = oracle_to_pair(eta, tau, 0.0)
    assert excess(laws[0], laws[2], pair.eta) == pytest.approx(pair.tau, rel=1e-9)
    assert excess(laws[0], laws[2], 2 * eta) > oracle_to_pair_printed(eta, tau, 0.0).tau


@given(eta=st.floats(0, 5), tau=st.floats(1e-6, 0.2), nu=st.floats(0, 1))
def test_the_printed_conversion_holds_exactly_up_to_ln_2(eta: float, tau: float, nu: float) -> None:
    right, printed = oracle_to_pair(eta, tau, nu), oracle_to_pair_printed(eta, tau, nu)
    assert right.nu <= printed.nu * (1 + 1e-14) + 5e-322  # some steps of the least numbers
    if eta < math.log(2) - 1e-9:
        assert right.tau <= printed.tau
    elif eta > math.log(2) + 1e-9 and printed.tau < 1:
        assert right.tau > printed.tau


def test_the_pair_form_does_not_imply_the_set_form() -> None:
    # Answers +-v_j + N(0, I), the v_j orthogonal with length r: opposite samples are 2r apart, all
    # others sqrt(2) r. Choose tau between the two.
    couples, r, eta = 4, 1.0, 0.5
    near, far = (gdp_to_approx_dp(GDP(d), eta).delta for d in (math.sqrt(2) * r, 2 * r))
    tau = (near + far) / 2
    samples = [sign * j for j in range(1, couples + 1) for sign in (1, -1)]
    close = {
        (x, y): (far if x == -y else near) <= tau for x, y in itertools.product(samples, samples)
    }
    nu = 1 - sum(close.values()) / len(samples) ** 2
    assert nu == pytest.approx(1 / len(samples))
    all_close = [
        subset
        for size in range(len(samples) + 1)
        for subset in itertools.combinations(samples, size)
        if all(close[pair] for pair in itertools.combinations(subset, 2))
    ]
    largest = max(map(len, all_close)) / len(samples)
    assert largest**2 == 0.25 < 1 - nu


@given(stability=st.one_of(*(stabilities(form) for form in FORMS)))
def test_conversions_reach_the_form_they_name(stability: TypicalStability) -> None:
    assert stability.to_pair().form == "pair"
    assert stability.to_oracle().form == "oracle"
    assert stability.to_oracle().to_oracle() == stability.to_oracle()
    assert stability.to_pair().to_pair() == stability.to_pair()
    # The set form is the strongest: it reaches the oracle with half the nu of the pair form.
    if stability.form == "set":
        assert stability.to_oracle().nu <= stability.to_pair().to_oracle().nu * (1 + 1e-14)


@given(stability=stabilities("pair"))
def test_post_processing_changes_nothing(stability: TypicalStability) -> None:
    assert post_processing(stability) is stability


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
def test_composition_does_not_depend_on_the_order(form: Form, data: st.DataObject) -> None:
    steps = data.draw(st.lists(stabilities(form), min_size=1, max_size=8))
    shuffled = data.draw(st.permutations(steps))
    together = non_adaptive_composition(steps)
    assert together == non_adaptive_composition(shuffled)
    assert together.form == form


@given(step=stabilities("oracle"), k=st.integers(1, 30))
def test_k_copies_are_a_list_of_k_and_never_looser_than_printed(
    step: TypicalStability, k: int
) -> None:
    listed = non_adaptive_composition([step] * k)
    printed = non_adaptive_composition_printed(k, step.eta, step.tau, step.nu)
    assert listed.eta == pytest.approx(printed.eta, rel=1e-13)
    assert listed.nu == pytest.approx(printed.nu, rel=1e-13)
    assert listed.tau == pytest.approx(1 - (1 - step.tau) ** k, rel=1e-9, abs=1e-14)
    assert listed.tau <= printed.tau * (1 + 1e-12)


@given(step=stabilities("set"))
def test_nothing_is_the_neutral_element(step: TypicalStability) -> None:
    nothing = TypicalStability(0.0, 0.0, 0.0, "set")
    both = non_adaptive_composition([step, nothing])
    assert (both.eta, both.tau, both.nu) == pytest.approx((step.eta, step.tau, step.nu), rel=1e-13)


def test_the_composed_tau_is_attained() -> None:
    # Each step shows its sample with probability tau_i, else answers by randomised response.
    steps = [(0.3, 0.02), (0.7, 0.05), (0.1, 0.0)]
    laws = []
    for eta, tau in steps:
        truth = (1 - tau) * math.exp(eta) / (1 + math.exp(eta))
        lie = (1 - tau) / (1 + math.exp(eta))
        laws.append((np.array([tau, truth, lie, 0.0]), np.array([0.0, lie, truth, tau])))
    p = np.einsum("i,j,k->ijk", *(law[0] for law in laws)).ravel()
    q = np.einsum("i,j,k->ijk", *(law[1] for law in laws)).ravel()
    composed = non_adaptive_composition([TypicalStability(eta, tau, 0.0) for eta, tau in steps])
    assert excess(p, q, composed.eta) == pytest.approx(composed.tau, rel=1e-12)
    assert excess(p, q, 0.99 * composed.eta) > composed.tau


@pytest.mark.parametrize(
    "steps",
    [[], [TypicalStability(0.1, 0.0, 0.0, "set"), TypicalStability(0.1, 0.0, 0.0, "pair")]],
)
def test_forms_are_not_mixed(steps: list[TypicalStability]) -> None:
    with pytest.raises(InvalidArgument, match="one form"):
        non_adaptive_composition(steps)
