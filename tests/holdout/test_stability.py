"""`holdout.stability()` and private holdouts, as people meet them."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import beta, binom

import holdfast
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.ledger.audit import audit
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.mechanisms.stable_steps import steps_of
from holdfast.papers.theorems.notions import uniform_tv
from holdfast.question.row import GRID
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.notions.distances import gaussian_tv, laplace_tv
from tests.cli.run import holdfast as cli
from tests.holdout.tables import BOUNDS, table, untouchable, watch
from tests.ledger.forging import sealed_again
from tests.ledger.reading import rows_of
from tests.seam import transcript_of

TABLE = table(20_000)
QUESTIONS = ["avg(late)", "avg(x)", "avg(x > 20)", "avg(x < 3)"]
NOISY = ["typical laplace", "typical gaussian", "private laplace", "private gaussian"]
STEPS = ("printed composition", "sharp composition")


def opened(folder: Path, **declared: Any) -> holdfast.Holdout:
    facts: dict[str, Any] = {"questions": 20, "schema": BOUNDS}
    return holdfast.open(TABLE, ledger=folder / "s.ledger", **(facts | declared), described="off")


# Stability ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*NOISY, "gaussian"])
def test_every_noisy_mechanism_has_a_certificate(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, mechanism=name) as holdout:
        for question in QUESTIONS:
            holdout.ask(question)
        found = holdout.stability()
        assert found.answers == 4
        assert found.level == pytest.approx(0.0125)
        leakage = found["leakage"]
        # Theorem L gives up an event of sample and answers, not a share of samples: no triple.
        assert leakage.oracle is None
        assert leakage.pair is None
        assert leakage.joint is not None
        assert leakage.half_width is not None
        # Theorem L by hand: radius at level/K, and what is given up for the bad events.
        expected = BoundedMean(20_000).radius(math.log(found.level) - leakage.joint.eta)
        assert leakage.half_width == pytest.approx(expected)
        assert leakage.failure == pytest.approx(found.level + leakage.joint.delta, rel=0.02)
        again = json.loads(json.dumps(found.to_dict()))
        assert [each["by"] for each in again["certificates"]] == [
            "printed composition",
            "sharp composition",
            "two directions",
            "leakage",
        ]
        assert again["certificates"][-1]["joint"]["eta"] == leakage.eta
        assert re.search(r"leakage: joint \([^,)]*, [^,)]*\), one direction only; ", str(found))
        with holdfast.open(
            ledger=tmp_path / "s.ledger", described="off"
        ) as blind:  # from the ledger alone
            assert blind.stability() == found


def test_gaussian_noise_is_the_papers_algorithm_3(tmp_path: Path) -> None:
    """One answer with noise s: (eta, tau, nu) for every nu, tau the Gaussian curve's at eta."""
    with opened(tmp_path, mechanism="gaussian", questions=100) as holdout:
        (epoch,) = holdout.opening.mechanism["parameters"]["epochs"]
        s = epoch["scale"] / (20_000 * GRID)
        holdout.ask("avg(late)")
        found = holdout.stability(level=0.01)["sharp composition"]
    stable = found.oracle
    assert stable is not None
    assert (stable.tau, stable.nu) == pytest.approx((0.01, 0.01), rel=1e-3)
    # By hand (6.6, exact calibration): at distance radius(nu) the answer is (eta, tau)-close with
    # no more noise than was added, nu and tau so small that by 6.5 both become the level.
    Phi = NormalDist().cdf
    best = math.inf
    for exponent in range(20, 200):
        nu = math.exp(-exponent / 10)
        mu = BoundedMean(20_000).radius(math.log(nu)) / s
        for step in range(1, 200):
            eta = stable.eta * step / 100
            delta = Phi(mu / 2 - eta / mu) - math.exp(eta) * Phi(-mu / 2 - eta / mu)
            if 2 * (nu + delta) <= 0.01 * 0.01:
                best = min(best, eta)
                break
    assert stable.eta == pytest.approx(best, rel=0.03)


@pytest.mark.parametrize("name", CATALOGUE)
def test_only_unbounded_noise_is_typically_stable(tmp_path: Path, name: str) -> None:
    """Section 6: Laplace and Gaussian noise have an eta; exact, rounded or bounded answers none."""
    options = {"better": "higher"} if "better" in CATALOGUE[name].options else {}
    train = table(200, seed=2) if CATALOGUE[name].trained else None
    with opened(tmp_path, mechanism=name, options=options, train=train) as holdout:
        holdout.ask_many(["avg(late)"])
        found = holdout.stability()
    for by in STEPS:
        finite = found[by].oracle is not None
        assert not finite or name in (*NOISY, "gaussian")
    assert (found["sharp composition"].oracle is not None) == (name in (*NOISY, "gaussian"))


def test_a_vacuous_statement_says_so(tmp_path: Path) -> None:
    """For two samples tau grows by 1 + e^eta; at 1 every mechanism has it."""
    with opened(tmp_path, mechanism="typical laplace", options={"eta": 3.0}) as holdout:
        for question in QUESTIONS:
            holdout.ask(question)
        found = holdout.stability()["sharp composition"]
    assert found.pair is not None
    assert found.pair.tau == 1.0
    assert found.oracle is not None
    assert found.oracle.tau < 1.0
    assert re.search(r"oracle \([^)]*\), pairs \([^)]* 1, [^)]*\), which is vacuous;", str(found))
    plain = found.to_dict()
    assert (plain["oracle"]["vacuous"], plain["pair"]["vacuous"]) == (False, True)


def test_the_papers_noise_has_all_three_and_each_is_better_than_the_last(tmp_path: Path) -> None:
    with opened(tmp_path, mechanism="typical laplace", options={"eta": 0.5}) as holdout:
        for question in QUESTIONS:
            holdout.ask(question)
        found = holdout.stability(level=0.01)
    assert found.step is not None
    assert (found.step.eta, found.step.tau, found.step.form) == (0.5, 0.0, "oracle")
    etas, widths = [], []
    for each in (found[by] for by in (*STEPS, "leakage")):
        assert each.eta is not None
        assert each.half_width is not None
        etas.append(each.eta)
        widths.append(each.half_width)
    assert etas[0] > 5 * etas[1] > 5 * etas[2]
    assert widths == sorted(widths, reverse=True)
    sharp = found["sharp composition"]
    assert sharp.oracle is not None
    assert sharp.pair is not None
    assert sharp.pair.eta == pytest.approx(2 * sharp.oracle.eta)
    assert sharp.pair.tau == pytest.approx((1 + math.exp(sharp.oracle.eta)) * sharp.oracle.tau)


def least_possible_eta(shift: float, delta: float, k: int, laplace: bool) -> float:
    """Least eta with which any law W is within e^eta of k answers about a fair coin, but for delta.

    The sample is off by more than u scales, each way, with probability p. W has half its mass where
    the answers speak for the other side; on such samples that is as likely as a test errs.
    """
    best = 0.0
    for step in range(1, 40):
        p = 2 * delta * (1 + step / 10)
        u = -NormalDist().inv_cdf(p) * shift
        log_error = math.log1p(u) - u if laplace else log_ndtr(-u * math.sqrt(k)) / k
        best = max(best, math.log(0.5 - delta / p) - k * log_error)
    return best


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("gaussian", 2.0),
        ("private gaussian", 2.0),
        ("private laplace", 2.0),
        ("typical laplace", 4.5),
        ("typical gaussian", 8.5),
    ],
)
def test_two_directions_of_twenty_answers(tmp_path: Path, name: str, most: float) -> None:
    """Within twice the leakage where the noise is as large as the sample's own error, or larger."""
    with opened(tmp_path, mechanism=name) as holdout:
        for step in range(20):
            holdout.ask(f"avg(x > {step + 1})")
        found = holdout.stability()
        transcript = transcript_of(holdout)
    two, leakage = found["two directions"], found["leakage"]
    assert two.joint is not None
    assert leakage.eta is not None
    assert not two.one_sided
    assert two.joint.delta == pytest.approx(found.level)
    assert leakage.eta < two.joint.eta <= most * leakage.eta
    # A fair coin's mean has the variance that Hoeffding's inequality allows.
    far = steps_of(transcript.account).ratio(transcript.terms, -10.0)
    shift = far / math.sqrt(2 * (math.log(2) + 10.0))
    least = least_possible_eta(shift, found.level, 20, "laplace" in name)
    assert least < two.joint.eta
    # There no law at all is within twice the leakage.
    assert (least > 2 * leakage.eta) == (name == "typical gaussian")
    assert two.half_width == pytest.approx(
        BoundedMean(20_000).radius(math.log(found.level) - two.joint.eta)
    )
    # Equal marginals: (eta, tau, 2 delta/tau) from a delta of half the level's square.
    assert two.oracle is not None
    assert two.oracle.eta > two.joint.eta
    assert (two.oracle.tau, two.oracle.nu) == pytest.approx((found.level, found.level))
    sharp = found["sharp composition"].oracle
    assert sharp is None or sharp.eta > two.oracle.eta


def test_no_law_is_near_twenty_default_answers_in_both_directions(tmp_path: Path) -> None:
    """What docs/stability.md says of bounded noise: the least delta, whatever eta is, and TV."""
    n = 20_000
    with opened(tmp_path) as holdout:
        for step in range(20):
            holdout.ask(f"avg(x > {step + 1})")
        looks = [look for looks in transcript_of(holdout).looks.values() for look in looks]
        leakage = holdout.stability()["leakage"]
    reaches = [(each.revealed.high - each.revealed.low) / 2 for each in looks if each.revealed]
    assert len(reaches) == 20
    # A fair coin's mean, which is as far off as the mean of any share may be.
    wrong = [float(binom.sf(math.floor(n / 2 + n * reach), n, 0.5)) for reach in reaches]
    least = 1 - math.prod(1 - each for each in wrong)
    assert least == pytest.approx(0.168, abs=5e-4)
    sigma = 0.5 / math.sqrt(n)
    assert [round(reaches[j] / sigma, 1) for j in (0, -1)] == [4.9, 1.5]
    distances = [math.sqrt(2 / math.pi) * sigma / (2 * reach) for reach in reaches]
    assert sum(distances) == pytest.approx(2.7, abs=0.05)
    assert leakage.joint is not None
    assert leakage.one_sided
    assert leakage.joint.eta == pytest.approx(18.55, abs=0.01)


@pytest.mark.parametrize("reach", [1, 2])
def test_the_least_delta_of_bounded_noise_is_attained_by_every_law(reach: int) -> None:
    """By enumeration: six fair coins, answers on whole numbers, and laws that are drawn by lot."""
    n, rng = 6, np.random.default_rng(1)
    heads = np.arange(n + 1)
    weights = binom.pmf(heads, n, 0.5)
    answers = np.arange(-reach, n + reach + 1)
    possible = np.abs(answers[None, :] - heads[:, None]) <= reach
    least = float(binom.sf(n // 2 + reach, n, 0.5))
    for _ in range(50):
        law = rng.dirichlet(np.full(len(answers), 0.2))
        impossible = float(np.sum(weights[:, None] * law[None, :] * ~possible))
        assert impossible >= least - 1e-12


def test_version_one_is_in_set_form(tmp_path: Path) -> None:
    options = {"eta": 1.0, "version": 1, "nu": 1e-9}
    with opened(tmp_path, mechanism="typical laplace", options=options) as holdout:
        holdout.ask("avg(late)")
        step = holdout.stability().step
    assert step is not None
    assert step.form == "set"
    assert 1e-9 <= step.nu <= 1e-9 * (1 + 1e-14)  # kept as its logarithm, and rounded up
    assert step.to_oracle().nu == pytest.approx(5e-10)


def test_what_has_no_finite_certificate_says_why(tmp_path: Path) -> None:
    with opened(tmp_path) as holdout:
        holdout.ask("avg(late)")
        found = holdout.stability()
        spent = holdout.budget.nats
    for by in (*STEPS, "two directions"):
        assert found[by].eta is None
        assert "no eta is finite" in (found[by].why or "")
    assert found["leakage"].joint is not None
    assert found["leakage"].joint.eta == spent


@pytest.mark.parametrize("options", [{}, {"leakage_nats": 3.0}], ids=["alone", "charged"])
def test_only_answers_that_are_charged_have_a_leakage_certificate(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    with opened(tmp_path, mechanism="median noise", options=options) as holdout:
        holdout.ask("avg(late)")
        found = holdout.stability()["leakage"]
        if options:
            assert found.joint is not None
            assert found.joint.eta == holdout.budget.nats > 0
        else:
            assert found.joint is None
            assert found.why == "not every answer is charged on the leakage account"


def test_after_a_check_only_the_leakage_is_left(tmp_path: Path) -> None:
    with opened(tmp_path, mechanism="typical laplace") as holdout:
        assert holdout.stability()["leakage"].joint is not None
        holdout.ask("avg(late)")
        assert holdout.stability()["sharp composition"].oracle is not None
        holdout.check("avg(x > 20)", guess=0.5)
        found = holdout.stability()
    assert "checks were made" in (found["sharp composition"].why or "")
    assert found["leakage"].joint is not None
    assert found.checks == 1


def test_a_gate_is_told_without_noise(tmp_path: Path) -> None:
    """As a check is: it would be no part of what Laplace answers are together."""
    with opened(tmp_path, mechanism="typical laplace") as holdout:
        holdout.ask("avg(late)")
        assert holdout.stability().neighbours.tv < 0.1
        holdout.gate("avg(x > 20)", at_least=0.3)
        found = holdout.stability()
    assert found["sharp composition"].oracle is None
    assert "gates were made" in (found["sharp composition"].why or "")
    assert found["leakage"].joint is not None
    assert found.neighbours.vacuous


def test_described_answers_give_up_their_part_of_the_failure_probability(tmp_path: Path) -> None:
    """Their charge counts symbols where all described intervals are true."""
    with holdfast.open(TABLE, ledger=tmp_path / "d.ledger", questions=20, schema=BOUNDS) as holdout:
        holdout.ask("avg(late)")
        found = holdout.stability()["leakage"].joint
    assert found is not None
    assert found.delta == pytest.approx(0.05 * 0.4)


def test_levels_are_probabilities(tmp_path: Path) -> None:
    with opened(tmp_path) as holdout:
        with pytest.raises(InvalidArgument, match="level is 0"):
            holdout.stability(level=0)
        with pytest.raises(InvalidArgument, match="tau is 2"):
            holdout.stability(expected_error=2)
        with pytest.raises(KeyError, match="no account 'printed'"):
            holdout.stability()["printed"]


def test_one_batch_is_composed_without_adaptivity(tmp_path: Path) -> None:
    """Lemma 3.2: k eta and k nu, by hand, with nothing lost to adaptive composition."""
    with opened(tmp_path, mechanism="typical laplace", options={"eta": 0.5}) as holdout:
        holdout.ask_many(QUESTIONS)
        found = holdout.stability(level=0.01)
        batches = found["batches"].oracle
        assert batches is not None
        assert batches.tau == 0.0
        assert batches.nu <= 0.01
        # The noise has a scale of radius(1e-6)/.5; at nu = level/4 the radius is smaller.
        profile = BoundedMean(20_000)
        smaller = profile.radius(math.log(0.01 / 4)) / profile.radius(math.log(1e-6))
        assert batches.eta == pytest.approx(4 * 0.5 * smaller, rel=0.1)
        sharp = found["sharp composition"].oracle
        assert sharp is not None
        assert batches.eta < sharp.eta
        holdout.ask("avg(x > 3)")
        holdout.ask_many(["avg(x > 4)", "avg(x > 5)"])
        later = holdout.stability(level=0.01)["batches"].oracle
        assert later is not None
        assert later.tau == pytest.approx(0.01)
        assert later.eta > batches.eta


def test_a_batch_of_gaussian_answers_is_one_gaussian_answer(tmp_path: Path) -> None:
    with opened(tmp_path, mechanism="typical gaussian") as holdout:
        holdout.ask_many(QUESTIONS)
        found = holdout.stability(level=0.01)
    batches, sharp = found["batches"].oracle, found["sharp composition"].oracle
    assert batches is not None
    assert sharp is not None
    assert batches.eta < sharp.eta
    assert batches.tau == pytest.approx(0.01)
    assert batches.nu <= 0.01


# One row replaced --------------------------------------------------------------------------------


def grids(path: Path) -> list[tuple[float, int]]:
    """Cells of the range and scale of the noise of every answer, from the ledger's entries."""
    bodies = [json.loads(text) for _, text, _ in rows_of(path)]
    offers = [item["offer"] for body in bodies for item in body.get("items", [])]
    return [(offer["grid"]["cells"], offer["grid"]["scale"]) for offer in offers]


def test_bounded_noise_has_a_finite_total_variation(tmp_path: Path) -> None:
    """About 1/(2 n D) an answer: the cells that a row moves it, of the cells that it may be in."""
    with opened(tmp_path) as holdout:
        for question in QUESTIONS:
            holdout.ask(question)
        found = holdout.stability().neighbours
    exactly = sum(
        math.ceil(cells / 20_000) / (2 * m + 1) for cells, m in grids(tmp_path / "s.ledger")
    )
    about = sum(1 / (2 * 20_000 * (m / cells)) for cells, m in grids(tmp_path / "s.ledger"))
    assert exactly <= found.tv <= 1.01 * exactly
    assert found.tv == pytest.approx(about, rel=0.01)
    assert found.privacy is not None
    assert found.privacy.epsilon == 0.0
    assert found.privacy.delta == pytest.approx(found.tv)


@pytest.mark.parametrize("name", ["typical laplace", "typical gaussian", "gaussian"])
def test_unbounded_noise_is_private_whoever_chose_it(tmp_path: Path, name: str) -> None:
    """By hand, from the grids in the ledger: sums of epsilons, roots of squares."""
    with opened(tmp_path, mechanism=name) as holdout:
        for question in QUESTIONS:
            holdout.ask(question)
        found = holdout.stability().neighbours
    losses = [math.ceil(cells / 20_000) / scale for cells, scale in grids(tmp_path / "s.ledger")]
    assert len(losses) == 4
    assert found.privacy is not None
    if name == "typical laplace":
        most = -math.expm1(-max(losses) / 2) * 4
        assert -math.expm1(-max(losses) / 2) <= found.tv <= most * 1.01
        assert found.privacy.epsilon <= 4 * max(losses) * 1.001
        assert found.privacy.delta == pytest.approx(1e-6)
    else:
        mu = math.hypot(*losses)
        assert found.tv == pytest.approx(2 * NormalDist().cdf(mu / 2) - 1, rel=0.01)


def test_median_noise_has_the_distance_of_its_peak(tmp_path: Path) -> None:
    """f_a(0) = 15/16 or 35/32 an answer, for a shift of 1/(n D); no less than the exact one."""
    with opened(tmp_path, mechanism="median noise") as holdout:
        order = holdout.opening.mechanism["parameters"]["order"]
        holdout.ask("avg(late)")
        found = holdout.stability().neighbours
    ((cells, scale),) = grids(tmp_path / "s.ledger")
    shift = cells / 2 / 20_000 / scale  # in units of D
    exactly = 1 - 2 * beta(order + 1, order + 1).cdf(0.5 - shift / 4)
    assert exactly <= found.tv <= 1.001 * exactly
    assert found.tv == pytest.approx({2: 15 / 16, 3: 35 / 32}[order] * shift, rel=1e-3)


def test_a_private_ledger_says_what_it_spends(tmp_path: Path) -> None:
    with opened(tmp_path, private=True) as holdout:
        holdout.ask_many(QUESTIONS)
        found, spent = holdout.stability().neighbours, holdout.budget.to_dict()["privacy"]
    assert found.tv == spent["tv"]
    assert found.privacy is not None
    assert found.privacy.epsilon == spent["epsilon"]


@pytest.mark.parametrize("name", ["rounding", "exact", "sample splitting", "one look", "ladder"])
def test_what_is_exact_is_vacuous_and_says_so(tmp_path: Path, name: str) -> None:
    options = {"better": "higher"} if name == "ladder" else {}
    with opened(tmp_path, mechanism=name, options=options) as holdout:
        assert holdout.stability().neighbours.tv == 0.0
        holdout.ask_many(["avg(late)"])
        found = holdout.stability()
    assert found.neighbours.vacuous
    assert "total variation 1, which is vacuous" in str(found)
    assert found.neighbours.expected_error is None
    assert found.to_dict()["neighbours"]["vacuous"] is True


def test_a_statistic_of_which_nobody_says_what_a_row_does(tmp_path: Path) -> None:
    unknown = holdfast.statistic(
        lambda frame: float(frame["x"].median()),  # type: ignore[arg-type]
        columns=["x"],
        bounds=(0, 100),
        name="median",
        sigma=1.0,
    )
    with opened(tmp_path, mechanism="typical laplace") as holdout:
        holdout.ask(unknown)
        found = holdout.stability()
    assert found["sharp composition"].oracle is not None
    assert found.neighbours.vacuous
    assert "not known" in (found.neighbours.why or "")


def test_the_expected_error_is_l15_and_the_noise_for_one_is_its_inverse(tmp_path: Path) -> None:
    table_of = table(400)
    with holdfast.open(
        table_of, ledger=tmp_path / "e.ledger", questions=2, tolerance=0.49, schema=BOUNDS,
        described="off",
    ) as holdout:  # fmt: skip
        holdout.ask("avg(late)")
        found = holdout.stability(level=0.05, expected_error=0.4)
    near, needed = found.neighbours, found.noise
    root = math.sqrt(math.log(40) / 800)
    assert near.expected_error == pytest.approx(near.tv + (800 * near.tv + 1) * root)
    assert needed is not None
    assert needed.questions == 2
    assert needed.tv + (800 * needed.tv + 1) * root == pytest.approx(0.4)
    assert gaussian_tv(400, 2, needed.gaussian) == pytest.approx(needed.tv)
    assert 2 * laplace_tv(1 / (400 * needed.laplace)) == pytest.approx(needed.tv)
    assert uniform_tv(400, 2, needed.uniform) == pytest.approx(needed.tv)
    assert found.to_dict()["noise"]["gaussian"] == needed.gaussian
    assert "expected error of 0.4" in str(found)


def test_dependent_rows_have_no_expected_error(tmp_path: Path) -> None:
    with opened(tmp_path, sampling=holdfast.m_dependent(2)) as holdout:
        holdout.ask("avg(late)")
        found = holdout.stability().neighbours
        assert 0.0 < found.tv < 1.0
        assert found.expected_error is None
        assert "independent rows" in str(found)
        with pytest.raises(InvalidArgument, match="independent rows"):
            holdout.stability(expected_error=0.1)


# As a command, and drawn --------------------------------------------------------------------------


def test_stability_is_a_command(tmp_path: Path) -> None:
    with opened(tmp_path, mechanism="typical laplace", options={"eta": 0.5}) as holdout:
        holdout.ask_many(QUESTIONS)
        found = holdout.stability(level=0.01, expected_error=0.5)
    points = list(found.growing())
    assert {point.by for point in points} == {*STEPS, "two directions", "leakage"}
    for by in (*STEPS, "two directions", "leakage"):
        etas = [point.eta for point in points if point.by == by]
        assert etas == sorted(etas)
    assert max(point.questions for point in points if point.by == "leakage") == 20
    words = ("stability", "s.ledger", "--level", "0.01", "--expected-error", "0.5")
    said = cli(*words, cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert str(found) in said.stdout
    drawn = cli(*words, "--json", "--chart", "eta.svg", cwd=tmp_path)
    assert json.loads(drawn.stdout) == json.loads(json.dumps(found.to_dict())) | {
        "chart": "eta.svg"
    }
    assert (tmp_path / "eta.svg").stat().st_size > 1_000
    refused = cli("stability", "s.ledger", "--level", "7", cwd=tmp_path)
    assert refused.returncode == 2
    assert "level is 7" in refused.stderr


def test_leakage_is_drawn_as_it_grew(tmp_path: Path) -> None:
    with opened(tmp_path) as holdout:
        for question in QUESTIONS:
            holdout.ask(question)
        points = list(holdout.stability().growing())
        assert [point.questions for point in points] == [1, 2, 3, 4]
        assert points[-1].eta == pytest.approx(holdout.budget.nats)
    (tmp_path / "other").mkdir()
    with opened(tmp_path / "other", mechanism="sample splitting", questions=2) as nothing:
        nothing.ask("avg(late)")
        with pytest.raises(InvalidArgument, match="nothing to draw"):
            nothing.stability().chart()


# The audit ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NOISY)
def test_a_forged_offer_is_found_by_the_audit(tmp_path: Path, name: str) -> None:
    """Whoever holds the secret can forge a chain, but not less noise than was promised with."""
    with opened(tmp_path, mechanism=name) as holdout:
        holdout.ask("avg(late)")
        holdout.ask("avg(x)")
    path = tmp_path / "s.ledger"
    assert all(finding.fine for finding in audit(path))

    def finer(text: str) -> str:
        body = json.loads(text)
        offer = body["items"][0]["offer"]
        offer["grid"]["cells"] *= 3
        return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    sealed_again(path, 4, finer)
    faults = [finding.detail for finding in audit(path) if not finding.fine]
    assert faults
    assert all("entry 4" in fault or "entry 5" in fault for fault in faults)


# Private holdouts --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [None, "private laplace", "private gaussian"])
def test_a_private_holdout_shows_what_it_spends(tmp_path: Path, name: str | None) -> None:
    with opened(tmp_path, private=True, mechanism=name) as holdout:
        assert holdout.opening.mechanism["name"] == (name or "private gaussian")
        assert holdout.budget.to_dict()["privacy"]["epsilon"] == 0.0
        holdout.ask("avg(late)")
        one = holdout.budget.to_dict()["privacy"]
        holdout.ask("avg(late)")  # repeated: nothing new is released
        assert holdout.budget.to_dict()["privacy"] == one
        holdout.ask_many(QUESTIONS)
        four = holdout.budget.to_dict()["privacy"]
        assert four["answers"] == 4
        for notion in ("epsilon", "rho", "mu", "tv"):
            assert one[notion] < four[notion]
        assert four["rho"] == pytest.approx(4 * one["rho"])
        assert four["mu"] == pytest.approx(2 * one["mu"])
        assert "replace one row" in str(holdout.budget)
        assert "rows" in four["protects"]
        watch(holdout, untouchable)
        with pytest.raises(InvalidArgument, match="without noise, which is not private"):
            holdout.check("avg(x < 50)", guess=0.3)
    with holdfast.open(TABLE, ledger=tmp_path / "s.ledger", private=True) as again:
        assert again.budget.to_dict()["privacy"] == four
    assert all(finding.fine for finding in audit(tmp_path / "s.ledger"))


def test_only_private_mechanisms_are_private(tmp_path: Path) -> None:
    for name in [each for each, kind in CATALOGUE.items() if not kind.private] + ["auto"]:
        with pytest.raises(InvalidArgument, match="private=True"):
            opened(tmp_path, private=True, mechanism=name)
    assert not (tmp_path / "s.ledger").exists()
    with opened(tmp_path) as holdout:
        assert holdout.budget.privacy is None
        assert holdout.budget.to_dict()["privacy"] is None
    with pytest.raises(InvalidArgument, match="private=True"):
        holdfast.open(TABLE, ledger=tmp_path / "s.ledger", private=True)
    with pytest.raises(InvalidArgument, match="leave them out"):
        holdfast.open(
            TABLE, ledger=tmp_path / "d.ledger", private=True, questions=5, design=["origin"]
        )


def test_a_crash_spends_privacy_too(tmp_path: Path) -> None:
    class Crash(BaseException):
        pass

    def crash() -> None:
        raise Crash

    with opened(tmp_path, private=True) as holdout:
        watch(holdout, crash)
        with pytest.raises(Crash):
            holdout.ask("avg(late)")
        assert holdout.budget.to_dict()["privacy"]["answers"] == 1


def test_a_statistic_with_a_declared_change(tmp_path: Path) -> None:
    trimmed = holdfast.statistic(
        lambda frame: float((frame["x"] > 20).mean()),  # type: ignore[arg-type]
        columns=["x"],
        bounds=(0, 1),
        name="share",
        change=1 / 20_000,
    )
    with opened(tmp_path, private=True) as holdout:
        answer = holdout.ask(trimmed)
        assert answer.interval.low <= float((TABLE["x"] > 20).mean()) <= answer.interval.high  # type: ignore[arg-type]
        assert answer.half_width == pytest.approx(holdout.budget.terms.tolerance)
        unknown = holdfast.statistic(
            lambda frame: float(frame["x"].median()),  # type: ignore[arg-type]
            columns=["x"],
            bounds=(0, 100),
            name="median",
            sigma=1.0,
        )
        with pytest.raises(InvalidQuestion, match="declared change="):
            holdout.ask(unknown)


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "stability.md").read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 4
    monkeypatch.chdir(tmp_path)
    for example in examples:
        exec(compile(example, "stability.md", "exec"), {})
