"""Effects of randomised arms: the average effect in these rows, whatever the rows are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.data.randomised import Drawing, randomised_of
from holdfast.data.sample import Sample
from holdfast.data.sampling import Independent
from holdfast.errors import InvalidArgument
from holdfast.ledger.audit import audit
from holdfast.mechanisms.described import DESCRIBED
from holdfast.mechanisms.mechanism import Release, Wish
from holdfast.mechanisms.terms import Account
from holdfast.question.columns import Schema
from holdfast.statistics.description import DescribedQuestion, Prior, described
from holdfast.statistics.grid_rules import Gridded
from holdfast.statistics.rule import Ground
from tests.data.engines import duckdb_connection, samples_of
from tests.mechanisms.fake import independent, noise_of
from tests.theory.coverage import too_many

EFFECT = "effect(well, arm)"
LEVEL = 0.01
COLUMNS: dict[str, Any] = {
    "arm": {"values": ["placebo", "drug"]},
    "score": (0.0, 1.0),
    "site": {"bounds": (0, 23)},
}
Flags = NDArray[np.bool_]


def frame_of(drug: Flags, both: tuple[Any, Any], site: NDArray[np.int64]) -> pl.DataFrame:
    """What rows show that would show the first of both with the drug, and the second without."""
    shown = np.where(drug, *both)
    arm = np.where(drug, "drug", "placebo")
    named = "well" if shown.dtype == bool else "score"
    return pl.DataFrame({"arm": arm, named: shown, "site": site})


def ruled(
    question: str, frame: pl.DataFrame, by: Drawing, within: list[str], log_p: float
) -> DescribedQuestion | None:
    """A question with its rule at a level of one's choice."""
    sample = PolarsSample(frame)
    kept = {name: each for name, each in COLUMNS.items() if name in frame.columns}
    prior = Prior(Schema(sample.types).declare(kept).with_family(planned=(question,)))
    log_beta = log_p + prior.bits(question).best * math.log(2)
    drawn = randomised_of(sample, by, "arm", within or None)
    ground = Ground(frame.height, Independent(), prior, log_beta, arms=drawn)
    return described(prior.read(question), ground)


def through_the_door(question: DescribedQuestion, sample: Sample) -> Release:
    terms = independent(sample.n)
    (offer,) = DESCRIBED.offer(terms, Account(), [Wish(question, 0.5)])
    (symbol,) = DESCRIBED.respond(terms, [offer], [question], sample, noise_of(b"shared"))
    (release,) = DESCRIBED.settle([offer], [symbol])
    return release


def refuted(
    draws: list[Flags],
    both: tuple[Any, Any],
    site: NDArray[np.int64],
    by: Drawing,
    within: list[str],
) -> bool:
    """Whether too many intervals miss the average effect in these rows for their level."""
    effect = float(np.mean(both[0].astype(float) - both[1].astype(float)))
    text = EFFECT if both[0].dtype == bool else "effect(score, arm)"
    frames = {drug.tobytes(): frame_of(drug, both, site) for drug in draws}
    asked = ruled(text, frame_of(draws[0], both, site), by, within, math.log(LEVEL))
    assert asked is not None
    intervals = {
        drug: through_the_door(asked, PolarsSample(frame)).interval
        for drug, frame in frames.items()
    }
    found = [intervals[drug.tobytes()] for drug in draws]
    truth = (1.0 + effect) / 2.0
    return too_many([not each.low <= truth <= each.high for each in found], LEVEL)


SITES = np.repeat(np.arange(12), 20)
TRIALS = 400


def outcomes(numbers: bool) -> tuple[Any, Any]:
    """Rows of a site are alike, and the drug helps in some sites alone."""
    rng = np.random.default_rng(20)
    base = (np.arange(12) / 11.0)[SITES]
    noise = rng.uniform(-0.1, 0.1, SITES.size)
    high = np.clip(base + 0.3 * (SITES % 3 == 0) + noise, 0.0, 1.0)
    low = np.clip(base + noise, 0.0, 1.0)
    return (high, low) if numbers else (high > 0.5, low > 0.5)


def by_coins(trials: int) -> list[Flags]:
    rng = np.random.default_rng(21)
    return [rng.random(SITES.size) < 0.5 for _ in range(trials)]


def shuffled(trials: int, sizes: list[int]) -> list[Flags]:
    """Of each site so many have the drug."""
    rng = np.random.default_rng(22)
    return [
        np.concatenate([rng.permutation(np.arange(20) < size) for size in sizes])
        for _ in range(trials)
    ]


@pytest.mark.statistical
@pytest.mark.parametrize("numbers", [False, pytest.param(True, marks=pytest.mark.campaign)])
def test_coverage_of_arms_by_coins(numbers: bool) -> None:
    assert not refuted(by_coins(TRIALS), outcomes(numbers), SITES, "coins", [])


@pytest.mark.statistical
@pytest.mark.parametrize("numbers", [False, pytest.param(True, marks=pytest.mark.campaign)])
def test_coverage_of_arms_shuffled_within_sites(numbers: bool) -> None:
    draws = shuffled(TRIALS, [10] * 12)
    assert not refuted(draws, outcomes(numbers), SITES, "shuffled", ["site"])


@pytest.mark.statistical
def test_pairs_that_were_shuffled_are_no_coins() -> None:
    """The twin: in pairs of one that is well whatever happens and one that is not.

    All pairs are alike, so it is drawn in how many of them the first has the drug.
    """
    rng = np.random.default_rng(23)
    pair = np.repeat(np.arange(120), 2)
    first = [np.arange(120) < many for many in rng.binomial(120, 0.5, 5 * TRIALS)]
    draws = [np.ravel(np.column_stack([each, ~each])) for each in first]
    well = np.tile([True, False], 120)
    assert refuted(draws, (well, well), pair, "coins", [])
    assert not refuted(draws[:TRIALS], (well, well), pair, "shuffled", ["site"])


@pytest.mark.statistical
def test_strata_that_are_left_out_are_missed() -> None:
    """The twin: the drug is given more often where people are well anyway."""
    draws = shuffled(100, [5] * 6 + [15] * 6)
    well = (np.arange(12) / 11.0)[SITES] > 0.5
    assert refuted(draws, (well, well), SITES, "shuffled", [])
    assert not refuted(draws, (well, well), SITES, "shuffled", ["site"])


def clinical(seed: int = 3) -> pl.DataFrame:
    """24 sites of 100 with arms shuffled inside: the drug helps 11 of 100."""
    rng = np.random.default_rng(seed)
    site = np.repeat(np.arange(24), 100)
    base = np.clip(0.35 + rng.normal(0.0, 0.1, 24), 0.05, 0.85)[site]
    drug = np.concatenate([rng.permutation(np.arange(100) < 50) for _ in range(24)])
    luck = rng.random(2400)
    return frame_of(drug, (luck < base + 0.11, luck < base), site)


@pytest.mark.parametrize("how", [None, "clustered"])
def test_a_trial_from_end_to_end(tmp_path: Path, how: str | None) -> None:
    """The primary endpoint is within .085, whatever is said of the sites; .385 before."""
    frame, path = clinical(), tmp_path / "trial.ledger"
    sampling = None if how is None else holdfast.sampling.clustered("site", largest=100)
    declared: dict[str, Any] = {
        "schema": {"arm": COLUMNS["arm"], "site": COLUMNS["site"]},
        "planned": [EFFECT],
        "randomised": "shuffled",
        "arm": "arm",
        "within": ["site"],
        "sampling": sampling,
    }
    with holdfast.open(frame, ledger=path, **declared) as holdout:
        answer = holdout.ask(EFFECT)
        assert answer.half_width <= 0.085
        assert 0.11 in answer.interval
        assert "average effect in these rows, arms shuffled within strata" in str(answer)
        assert "arms shuffled within site, no row is affected by the arm" in answer.assumes
        verdict = holdout.gate(EFFECT, at_least=-0.9)
        assert verdict.status == "shown"
        assert "average effect in these rows" in str(verdict)
        assert "average effect in these rows" in verdict.assumes
        assert "average effect in these rows" in holdout.explain()
        turned = holdout.ask(
            "difference(avg(well) where arm = 'placebo', avg(well) where arm = 'drug')"
        )
        assert turned.cost == 0.0
        assert turned.interval.low == pytest.approx(-answer.interval.high, abs=1e-12)
        inside = holdout.ask(f"{EFFECT} where site < 12")
        assert inside.n == 1200
        assert "in these rows" in str(inside)
    assert all(finding.fine for finding in audit(path, lambda: PolarsSample(frame)))
    with (
        pytest.raises(holdfast.errors.InvalidArgument, match="was opened with 'shuffled'"),
        holdfast.open(frame, ledger=path, randomised="coins"),
    ):
        pass


@pytest.mark.parametrize(
    ("arms", "first"),
    [
        (("control", "treated"), "arm = 'treated'"),
        (("placebo", "drug"), "arm = 'drug'"),
        (("A1", "A2"), "arm = 'A2'"),
        ((0, 1), "arm = 1"),
        ((False, True), "where arm,"),
    ],
)
def test_the_two_arms_of_a_declared_trial_need_no_schema(
    tmp_path: Path, arms: tuple[Any, Any], first: str
) -> None:
    drug = np.arange(400) % 2 == 1
    arm = [arms[int(each)] for each in drug]
    frame = pl.DataFrame({"arm": arm, "well": np.arange(400) < 200, "dose": np.arange(400) % 3})
    said: dict[str, Any] = {"randomised": "coins", "arm": "arm", "planned": ["effect(well, arm)"]}
    more: list[dict[str, Any]] = [{}, {}, {"schema": {"dose": (0, 2)}}]
    with holdfast.open(frame, ledger=tmp_path / "t.ledger", schema={"dose": (0, 2)}, **said) as t:
        answer = t.ask("effect(well, arm)")
        assert first in answer.name.split(", avg")[0] + ","
        assert "average effect in these rows" in str(answer)
        assert answer.recorded.planned
        assert t.ask("avg(well)", by="arm").table.height == 2
    for again in more:  # who leaves the arms out says the same
        with holdfast.open(frame, ledger=tmp_path / "t.ledger", **said, **again) as opened:
            assert opened.ask("effect(well, arm)").repeated
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_declared_values_that_leave_out_an_arm_are_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"arm": ["drug", "placebo"] * 50, "well": [True, False] * 50})
    with pytest.raises(InvalidArgument, match="the arms of the trial are 'drug' or 'placebo'"):
        holdfast.open(
            frame,
            ledger=tmp_path / "t.ledger",
            randomised="coins",
            arm="arm",
            schema={"arm": {"values": ["drug", "control"]}},
        )


def test_what_is_chosen_by_the_arm_or_may_be_missing_is_no_randomised_comparison() -> None:
    frame = clinical().with_columns(age=pl.Series(np.arange(2400) % 90))
    missing = frame.with_columns(well=pl.when(pl.col("age") > 5).then("well"))

    def rule_of(question: str, of: pl.DataFrame = frame) -> str:
        never_null = {name: of[name].null_count() == 0 for name in of.columns}
        prior = Prior(
            Schema(PolarsSample(of).types, never_null=never_null).declare(
                {name: COLUMNS[name] for name in ("arm", "site")}
            )
        )
        drawn = randomised_of(PolarsSample(of), "coins", "arm", None)
        ground = Ground(2400, Independent(), prior, 0.0, arms=drawn)
        found = described(prior.read(question), ground)
        assert found is not None
        return found.rule.by if isinstance(found.rule, Gridded) else found.rule.name

    assert rule_of(EFFECT) == "coin effect"
    assert rule_of("effect(well, arm = 'drug')") == "coin effect"
    assert rule_of("effect(well, arm) where age > 50") == "coin effect"
    assert rule_of("effect(well, age > 50)") == "share contrast/1"
    assert rule_of("effect(well, arm) where arm = 'drug' or age > 50") == "share contrast/1"
    assert rule_of(EFFECT, missing) == "share contrast/1"
    assert rule_of("effect(coalesce(well, false), arm)", missing) == "coin effect"


@pytest.mark.parametrize("by", ["coins", "shuffled"])
@pytest.mark.parametrize("numbers", [False, True])
def test_engines_agree(by: Drawing, numbers: bool, tmp_path: Path) -> None:
    frame = frame_of(by_coins(1)[0], outcomes(numbers), SITES)
    text = "effect(score, arm) where site > 3" if numbers else f"{EFFECT} where site > 3"
    asked = ruled(text, frame, by, ["site"] if by == "shuffled" else [], -3.0)
    assert asked is not None
    connection = duckdb_connection()
    here, *elsewhere = (
        through_the_door(asked, sample)
        for sample in samples_of(frame, tmp_path / "rows.parquet", connection)
    )
    assert all(there == here for there in elsewhere)
    assert here.interval.high - here.interval.low < 0.5


def test_arms_that_no_coins_drew_say_nothing() -> None:
    """All are well and the arms are 30 and 210: what both forms say does not meet."""
    well = np.ones(SITES.size, dtype=bool)
    frame = frame_of(np.arange(SITES.size) < 30, (well, well), SITES)
    asked = ruled(EFFECT, frame, "coins", [], -3.0)
    assert asked is not None
    assert through_the_door(asked, PolarsSample(frame)).status == "says nothing"


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ({"randomised": "dice", "arm": "arm"}, "'coins' or 'shuffled'"),
        ({"randomised": "coins"}, "name it with arm="),
        ({"arm": "arm"}, "nothing says how arms were drawn"),
        ({"within": ["site"]}, "nothing says how arms were drawn"),
        ({"randomised": "coins", "arm": "arm", "within": ["site"]}, "knows no strata"),
        ({"randomised": "coins", "arm": "site"}, "a column with 24 values"),
        ({"randomised": "shuffled", "arm": "arm", "within": ["ward"]}, "within names"),
        ({"randomised": "coins", "arm": "drug"}, "arm names"),
        ({"randomised": "coins", "arm": "arm", "described": "off"}, "described is 'off'"),
    ],
)
def test_declarations_that_are_refused(
    tmp_path: Path, declared: dict[str, Any], reason: str
) -> None:
    with (
        pytest.raises(holdfast.errors.InvalidArgument, match=reason),
        holdfast.open(clinical(), ledger=tmp_path / "t.ledger", **declared),
    ):
        pass


def test_arms_that_are_missing_are_refused(tmp_path: Path) -> None:
    frame = clinical().with_columns(arm=pl.when(pl.col("site") > 2).then("arm"))
    with (
        pytest.raises(holdfast.errors.InvalidArgument, match="arm is missing in some rows"),
        holdfast.open(frame, ledger=tmp_path / "t.ledger", randomised="coins", arm="arm"),
    ):
        pass
