"""Typically stable noise: what is charged, what is promised, what the papers' options mean."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st
from scipy.stats import norm

import holdfast
from holdfast.data.sampling import Declared, Independent, declared, m_dependent
from holdfast.errors import BudgetExhausted, InvalidArgument, Refused, ToleranceTooTight
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.mechanisms.leakage import Calibration, Leakage
from holdfast.mechanisms.mechanism import Offer, Wish
from holdfast.mechanisms.noise import LAPLACE, NORMAL, Law
from holdfast.mechanisms.terms import Account, Terms
from holdfast.statistics.mean import KnownVariance
from holdfast.theory.base.concentration import (
    Bernstein,
    BinomialMean,
    BoundedDifferences,
    BoundedMean,
    Concentration,
    SubExponential,
    SubGaussian,
    TwoSampleU,
)
from holdfast.theory.base.dependence import ClusteredRows, GraphMean, MDependentMean
from holdfast.theory.base.gamma import PolynomialTail, SubWeibull, TailTable
from holdfast.theory.leakage.release import RESOLUTION as SCALE
from holdfast.theory.notions.arrows import gdp_to_approx_dp
from holdfast.theory.notions.composing import GDP
from tests.mechanisms.fake import (
    CONDITION,
    NUMBER,
    Session,
    audited,
    dependent,
    independent,
    leaked,
    of_count,
    said,
    settled,
)
from tests.mechanisms.unbounded import every_law
from tests.mechanisms.voting import BETAS, QUESTIONS, ROWS, attack, attacks
from tests.theory.coverage import too_many


def offered(law: Law, terms: Terms, nats: float = 0.0, **options: Any) -> Offer:
    calibration = Calibration.of(**options) if options else None
    (offer,) = typical(law, calibration).offer(
        terms, leaked(nats), [Wish(CONDITION, terms.half_width)]
    )
    return offer


def typical(law: Law, calibration: Calibration | None = None) -> Leakage:
    return Leakage(f"typical {law.name}/1", law, calibration)


def cells_of(offer: Offer) -> int:
    return offer.own_grid.last


def charge_of_steps(law: Law, steps: int) -> float:
    """1 + steps P[Z = 0], by hand: to first order the scale is that of the continuous law."""
    peak = 1 / 2 if law is LAPLACE else 1 / math.sqrt(2 * math.pi)
    return math.log1p(steps * peak / SCALE * (1 - 1e-12))


@every_law
@given(nats=st.floats(0, 20), n=st.integers(2_000, 10**6), theta=st.floats(0, 1))
def test_the_charge_covers_every_cell_within_the_radius(
    law: Law, nats: float, n: int, theta: float
) -> None:
    """Theorem L's condition: the cells that the sample's value can be in, outside bad_j."""
    offer = offered(law, independent(n), nats)
    place, alpha, cells = Fraction(theta), Fraction(said(offer.radius)), cells_of(offer)
    first = math.floor(max(Fraction(0), place - alpha) * cells + Fraction(1, 2))
    last = math.floor(min(Fraction(1), place + alpha) * cells + Fraction(1, 2))
    least = charge_of_steps(law, last - first)
    assert offer.worst_charge >= least
    if alpha <= place <= 1 - alpha:
        assert offer.worst_charge <= least + 1e-5


@every_law
@pytest.mark.parametrize("nats", [0.0, 5.0])
def test_half_of_the_share_is_for_the_sample_and_half_for_the_noise(law: Law, nats: float) -> None:
    terms = independent(20_000)
    offer = offered(law, terms, nats)
    half = math.log(0.05 / 10 / 2)
    assert offer.log_p == pytest.approx(half - nats, abs=1e-9)
    alpha = 1 / 20_000 + norm.isf(math.exp(half - nats) / 2) / (2 * math.sqrt(20_000))
    assert offer.radius == pytest.approx(alpha, rel=1e-9)
    error = law.error(SCALE, half)
    assert offer.tolerance == terms.half_width
    assert alpha + (error + 0.5) / cells_of(offer) <= terms.half_width
    assert alpha + (error + 0.5) / (cells_of(offer) - 1) > terms.half_width - 1e-12


@every_law
def test_noise_is_added_to_the_cell_of_the_sample(law: Law) -> None:
    terms, mechanism = independent(400), typical(law)
    (offer,) = mechanism.offer(terms, Account(), [Wish(CONDITION, 0.3)])
    session = Session(terms)
    symbols = [
        session.respond(mechanism, offer, CONDITION, of_count(400, count)) for count in (100, 300)
    ]
    assert isinstance(symbols[0], int)
    assert isinstance(symbols[1], int)
    assert abs(symbols[1] - symbols[0] - cells_of(offer) / 2) <= 1


@every_law
def test_refusals_and_a_known_variance(law: Law) -> None:
    mechanism = typical(law)
    with pytest.raises(ToleranceTooTight, match=r"half-width 0\.3 .* best possible"):
        mechanism.offer(independent(20), Account(), [Wish(CONDITION, 0.3)])
    with pytest.raises(BudgetExhausted, match=r"after 3 questions the best possible"):
        mechanism.offer(independent(900), leaked(500.0, asked=3), [Wish(CONDITION, 0.3)])
    plain, rare = (
        mechanism.offer(independent(900), Account(), [Wish(NUMBER, 0.3, variance=known)])[0]
        for known in (None, KnownVariance(0.001))
    )
    assert said(rare.radius) < said(plain.radius)
    assert rare.worst_charge < plain.worst_charge
    assert audited(mechanism, independent(900), Account(), [rare], [NUMBER]) is None


# The papers' noise ------------------------------------------------------------------------------


def cells_with(calibration: Calibration, profile: Any) -> int:
    grid = calibration.grid(profile, 0.0)
    assert grid is not None
    return grid.last


PROFILES = [BoundedMean(10_000), SubGaussian(0.002), SubExponential(0.002, 0.001)]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("profile", PROFILES, ids=str)
@pytest.mark.parametrize(("eta", "nu"), [(0.1, 1e-6), (1.0, 1e-12), (5.0, 0.01)])
def test_laplace_noise_is_that_of_the_papers(
    version: int, profile: Any, eta: float, nu: float
) -> None:
    cells = cells_with(Calibration.of(version, eta, 0.0, nu), profile)
    distance = (
        profile.radius(math.log(nu)) if version == 2 else 2 * profile.radius(math.log(nu / 2))
    )
    # Two typical cells are close enough, counted in whole cells, and no noise is wasted.
    assert math.ceil(Fraction(distance) * cells) / SCALE <= eta
    assert SCALE / cells == pytest.approx(distance / eta, rel=1e-4)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(("eta", "tau", "nu"), [(0.1, 1e-6, 1e-6), (1.0, 1e-9, 1e-12)])
def test_gaussian_noise_is_calibrated_exactly(
    version: int, eta: float, tau: float, nu: float
) -> None:
    profile = BoundedMean(10_000)
    cells = cells_with(Calibration.of(version, eta, tau, nu), profile)
    distance = (
        profile.radius(math.log(nu)) if version == 2 else 2 * profile.radius(math.log(nu / 2))
    )
    mu = math.ceil(Fraction(distance) * cells) / SCALE
    assert gdp_to_approx_dp(GDP(mu), eta).delta <= tau
    assert gdp_to_approx_dp(GDP(1.001 * mu), eta).delta > tau  # sabotage: a little less noise


@every_law
def test_declared_noise_stays_while_the_half_width_grows(law: Law) -> None:
    tau = 1e-6 if law is NORMAL else 0.0
    mechanism = typical(law, Calibration.of(2, 2.0, tau, 1e-6))
    session = Session(independent(20_000, tolerance=0.4, questions=10))
    offers = []
    for _ in range(10):
        (offer,) = mechanism.offer(session.terms, session.account, [Wish(CONDITION, 0.4)])
        offers.append(offer)
        found = audited(mechanism, session.terms, session.account, [offer], [CONDITION])
        assert found is None
        session.finish(mechanism, offer, CONDITION, of_count(20_000, 10_000))
    assert len({cells_of(offer) for offer in offers}) == 1
    widths = [said(offer.tolerance) for offer in offers]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1] < 0.4
    with pytest.raises(ToleranceTooTight, match=r"eta=2, the best possible"):
        mechanism.offer(session.terms, Account(), [Wish(CONDITION, widths[0] * 0.99)])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"nu": 0.1}, "nu= goes with eta="),
        ({"version": 1}, "version= goes with eta="),
        ({"eta": 0.0}, "eta is 0.0"),
        ({"eta": 1.0, "version": 3}, "version is 3"),
        ({"eta": 1.0, "nu": 1.0}, "nu is 1.0"),
        ({"eta": 1.0, "tau": 0.1}, "no option 'tau'"),
    ],
)
def test_bad_options(options: dict[str, Any], said: str) -> None:
    wanted = Terms(20_000, 0.2, 0.95, 20, Independent())
    with pytest.raises(InvalidArgument, match=said):
        CATALOGUE["typical laplace"].plan(wanted, options)


# Theorem 6.1 chooses the noise -------------------------------------------------------------------

CONCENTRATIONS: list[Concentration] = [
    SubGaussian(0.002),
    BoundedDifferences(50_000, 1.5e-5),
    BoundedMean(60_000),
    BinomialMean(60_000),
    SubExponential(0.002, 0.001),
    Bernstein(60_000, 0.05),
    TwoSampleU(60_000, 70_000),
    MDependentMean(120_000, 1),
    ClusteredRows(120_000, 280_000),
    GraphMean(180_000, 2),
    SubWeibull(0.002, 1.5),
    PolynomialTail(20, 0.0005),
]
FORMS = ["6.1", "6.1 direct", "6.1 literal"]


def planned_by(form: str, law: Law, profile: Concentration, questions: int = 5) -> Any:
    wanted = Terms(60_000, 1e3, 0.95, questions, Declared(profile))
    return wanted, CATALOGUE[f"typical {law.name}"].plan(wanted, {"theorem": form})


@every_law
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("profile", CONCENTRATIONS, ids=lambda each: type(each).__name__)
def test_theorem_6_1_chooses_the_noise_for_every_concentration(
    law: Law, form: str, profile: Concentration
) -> None:
    """All questions are answered within what it promises, by the account's own theorem."""
    kind, (wanted, planned) = CATALOGUE[f"typical {law.name}"], planned_by(form, law, profile)
    promised, kept = (float(each) for each in re.findall(r"\+-([\d.]+)", planned.told))
    assert kept <= promised
    terms = planned.terms(wanted)
    assert kind.fault is not None
    assert kind.fault(terms, planned.parameters, 5) is None
    mechanism, account, width = kind.build(terms, planned.parameters), Account(), 0.0
    for _ in range(5):
        (offer,) = mechanism.offer(terms, account, [Wish(NUMBER, 1e3)])
        width = said(offer.tolerance)
        assert width <= kept * (1 + 1e-9)
        account = mechanism.advance(account, [offer], [settled(mechanism, offer, 0)])
    assert width > 0.9 * kept


@every_law
@pytest.mark.parametrize("form", FORMS)
def test_an_audit_finds_parameters_that_theorem_6_1_does_not_allow(law: Law, form: str) -> None:
    kind = CATALOGUE[f"typical {law.name}"]
    wanted, planned = planned_by(form, law, SubGaussian(0.002))
    terms = planned.terms(wanted)
    assert kind.fault is not None
    numbers = planned.parameters["accuracy"]
    for name, more in (("eta", 1.2 * numbers["eta"]), ("log_nu", numbers["log_nu"] + 0.5)):
        bold = {**planned.parameters, "accuracy": {**numbers, name: more}}
        assert "not those of Theorem 6.1" in str(kind.fault(terms, bold, 5))
    assert "not about its questions" in str(
        kind.fault(replace(terms, questions=6), planned.parameters, 5)
    )


def test_theorem_6_1_is_that_of_the_papers() -> None:
    """Half-widths at beta = .05 in units of sigma, as section 6.7 has them."""
    for form, widths in (("6.1 direct", (33.1, 105.5)), ("6.1 literal", (874, 5405))):
        for questions, most in zip((1, 10), widths, strict=True):
            _, planned = planned_by(form, LAPLACE, SubGaussian(0.002), questions)
            promised = float(re.findall(r"\+-([\d.]+)", planned.told)[0]) / 0.002
            assert 0.9 * most < promised < 1.01 * most


def test_theorem_6_1_says_why_not() -> None:
    kind = CATALOGUE["typical laplace"]
    wanted = Terms(20_000, None, 0.95, 10, Independent())
    with pytest.raises(InvalidArgument, match=r"literal form\) promises \+-[\d.]+ .* the range is"):
        kind.plan(wanted, {"theorem": "6.1 literal"})
    with pytest.raises(InvalidArgument, match="chooses eta itself"):
        kind.plan(wanted, {"theorem": "6.1", "eta": 1.0})
    with pytest.raises(InvalidArgument, match=r"theorem is '6\.2'"):
        kind.plan(wanted, {"theorem": "6.2"})
    with pytest.raises(InvalidArgument, match="give questions="):
        kind.plan(replace(wanted, questions=None), {"theorem": "6.1"})
    table = Declared(TailTable(((0.1, -3.0), (0.2, -9.0))))
    with pytest.raises(InvalidArgument, match="ends before"):
        kind.plan(replace(wanted, sampling=table), {"theorem": "6.1 direct"})


# What is planned is what is released ------------------------------------------------------------


@every_law
@pytest.mark.parametrize("options", [{}, {"eta": 2.0}], ids=["fitted", "declared"])
@pytest.mark.parametrize(
    "sampling", [Independent(), m_dependent(1), declared(sigma=0.003)], ids=str
)
def test_all_planned_questions_are_answered_at_the_planned_width(
    law: Law, options: dict[str, Any], sampling: Any
) -> None:
    kind = CATALOGUE[f"typical {law.name}"]
    wanted = Terms(30_000, None, 0.95, 40, sampling)
    planned = kind.plan(wanted, options)
    terms = planned.terms(wanted)
    tolerance = terms.half_width
    mechanism, account = kind.build(terms, planned.parameters), Account()
    for left in range(40, 0, -1):
        assert mechanism.questions_left(terms, account) == left
        (offer,) = mechanism.offer(terms, account, [Wish(NUMBER, tolerance)])
        assert said(offer.tolerance) <= tolerance
        assert audited(mechanism, terms, account, [offer], [NUMBER]) is None
        account = mechanism.advance(account, [offer], [settled(mechanism, offer, 0)])
    # And a width a hundredth smaller would not have been enough.
    tight = replace(terms, tolerance=tolerance - 0.001 - 0.01 * tolerance)
    assert mechanism.questions_left(tight, Account()) < 40


def test_the_planner_says_what_laplace_noise_does() -> None:
    for rows, questions in ((20_000, 20), (100_000, 300)):
        planned = holdfast.plan(rows=rows, questions=questions, described="off")[
            "typical laplace"
        ].half_width
        wanted = Terms(rows, None, 0.95, questions, Independent())
        tolerance = CATALOGUE["typical laplace"].plan(wanted, {}).terms(wanted).half_width
        assert planned is not None
        assert tolerance - 0.001 < planned * 1.00002
        assert planned <= tolerance


@every_law
@pytest.mark.parametrize(("rows", "questions"), [(5_000, 100), (2_000, 60), (20_000, 20)])
def test_the_planners_half_width_lasts_for_all_questions(
    law: Law, rows: int, questions: int
) -> None:
    """To the last one, with the cost of whole cells; and hardly less would not."""
    kind = CATALOGUE[f"typical {law.name}"]
    planned = holdfast.plan(rows=rows, questions=questions, described="off")[kind.name].half_width
    assert planned is not None

    def answered(tolerance: float) -> int:
        terms = Terms(rows, tolerance, 0.95, questions, Independent())
        mechanism, account = typical(law), Account()
        for count in range(questions):
            try:
                (offer,) = mechanism.offer(terms, account, [Wish(NUMBER, tolerance)])
            except Refused:
                return count
            account = mechanism.advance(account, [offer], [settled(mechanism, offer, 0)])
        return questions

    assert answered(planned) == questions
    assert answered(planned * (1 - 1e-5)) < questions


# An audit finds what was changed ----------------------------------------------------------------


@every_law
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda o: replace(o, number=2), "number"),
        (lambda o: replace(o, log_share=o.log_share + 0.1), "share of the failure probability"),
        (lambda o: replace(o, log_p=o.log_p + 0.1), "level"),
        (lambda o: replace(o, radius=0.99 * o.radius), "radius"),
        (lambda o: replace(o, tolerance=0.99 * o.tolerance), "grid"),
        (lambda o: replace(o, grid=replace(o.grid, cells=cells_of(o) // 2)), "grid"),
        (lambda o: replace(o, grid=replace(o.grid, cells=2 * cells_of(o))), "grid"),
        (lambda o: replace(o, worst_charge=0.9 * o.worst_charge), "charge"),
    ],
)
def test_an_audit_finds_what_was_changed(
    law: Law, change: Callable[[Offer], Offer], said: str
) -> None:
    terms, account, mechanism = independent(900), leaked(1.0), typical(law)
    (offer,) = mechanism.offer(terms, account, [Wish(CONDITION, 0.3)])
    assert audited(mechanism, terms, account, [offer], [CONDITION]) is None
    assert audited(mechanism, terms, account, [change(offer)], [CONDITION]) == said


def test_an_audit_finds_less_noise_than_declared() -> None:
    mechanism = typical(LAPLACE, Calibration.of(2, 1.0, 0.0, 1e-6))
    terms = independent(20_000, tolerance=0.4)
    (offer,) = mechanism.offer(terms, Account(), [Wish(CONDITION, 0.4)])
    finer = replace(offer, grid=replace(offer.own_grid, cells=2 * cells_of(offer)))
    assert audited(mechanism, terms, Account(), [finer], [CONDITION]) == "grid"


# Coverage under an adaptive attack ---------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
@every_law
def test_intervals_stay_true_together(law: Law, beta: float) -> None:
    wanted = Terms(ROWS, None, 1 - beta, QUESTIONS, Independent())
    terms = CATALOGUE[f"typical {law.name}"].plan(wanted, {}).terms(wanted)
    found = attacks(typical(law), terms, charging=True)
    assert not too_many(found, beta)


@pytest.mark.statistical
@every_law
def test_intervals_by_theorem_6_1_stay_true_together(law: Law) -> None:
    """And with a tenth of its noise, and no charges, they do not."""
    kind = CATALOGUE[f"typical {law.name}"]
    wanted = Terms(ROWS, 1.0, 0.95, QUESTIONS, Independent())
    planned = kind.plan(wanted, {"theorem": "6.1"})
    terms, numbers = planned.terms(wanted), planned.parameters["accuracy"]
    mechanism = kind.build(terms, planned.parameters)
    assert not too_many(attacks(mechanism, terms, charging=True), 0.05)
    bold = {**planned.parameters, "accuracy": {**numbers, "eta": 10 * numbers["eta"]}}
    careless = kind.build(terms, bold)
    assert too_many([attack(careless, Session(terms, charging=False), t) for t in range(8)], 0.05)


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
@every_law
def test_without_charges_they_do_not(law: Law, beta: float) -> None:
    careless = 1.1 * BoundedMean(ROWS).radius(math.log(beta / QUESTIONS / 2))
    terms = Terms(ROWS, careless, 1 - beta, QUESTIONS, Independent())
    assert too_many(attacks(typical(law), terms, charging=False), beta)
    with pytest.raises(Refused):
        attack(typical(law), Session(terms), 0)


@every_law
def test_it_shares_one_account_with_other_answers(law: Law) -> None:
    """A bounded-noise answer after a noisy one has the radius of what has leaked in all."""
    session = Session(dependent(900, sigma=0.01))
    session.put(typical(law), Wish(CONDITION, 0.3), of_count(900, 300))
    assert session.account.nats > 0
    (offer,) = BOUNDED.offer(session.terms, session.account, [Wish(CONDITION, 0.3)])
    assert offer.log_p == pytest.approx(math.log(0.05 / 10) - session.account.nats, abs=1e-9)
