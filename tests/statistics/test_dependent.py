"""Described means of rows that depend on each other: clusters, sequences, declared tails."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.design import design_of
from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Independent, Sampling, clustered, declared, m_dependent
from holdfast.ledger.audit import audit
from holdfast.mechanisms.described import DESCRIBED
from holdfast.mechanisms.mechanism import Release, Wish
from holdfast.mechanisms.terms import RULES, Account
from holdfast.question.columns import Schema
from holdfast.statistics.description import DescribedQuestion, Prior, described
from holdfast.statistics.grid_rules import Gridded
from holdfast.statistics.rule import Ground
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.difference import design_difference_lower
from holdfast.theory.direct.unit_sums import UnitSums, unit_difference_interval, unit_mean_interval
from tests.mechanisms.fake import independent, noise_of
from tests.theory.coverage import too_many

SIZE, UNITS = 9, 60
ROWS = SIZE * UNITS
RATE = 0.3
MEAN, GROUP = "avg(ill)", "avg(ill) where arm"
DEPENDENT: dict[str, Sampling] = {
    "units of at most 9": clustered("child", largest=SIZE),
    "units of 9, public": clustered("child", sizes="fixed", size=SIZE),
    "9 rows in a sequence": m_dependent(SIZE - 1),
    "declared": declared(sigma=0.5 * math.sqrt(SIZE / ROWS)),
}
GROUPS = ["units of at most 9", "9 rows in a sequence"]
CONTRAST = "difference(avg(ill) where drug, avg(ill) where not drug)"


def ruled(
    question: str,
    frame: pl.DataFrame,
    sampling: Sampling,
    log_p: float | None = None,
    generation: int = RULES,
) -> DescribedQuestion:
    """A question with its rule at a level of one's choice, or at the level of its length alone."""
    prior = Prior(Schema(PolarsSample(frame).types))
    length = prior.bits(question).plain * math.log(2)
    log_beta = 0.0 if log_p is None else log_p + length
    ground = Ground(frame.height, sampling, prior, log_beta, generation=generation)
    found = described(prior.read(question), ground)
    assert found is not None
    assert found.rule.log_p == pytest.approx(log_beta - length, abs=1e-6)
    return found


def through_the_door(question: DescribedQuestion, frame: pl.DataFrame) -> Interval:
    """The interval that the mechanism tells."""
    return released(question, frame).interval


def released(question: DescribedQuestion, frame: pl.DataFrame) -> Release:
    """What the mechanism tells: an offer, symbols, and what they stand for."""
    terms = independent(frame.height)
    (offer,) = DESCRIBED.offer(terms, Account(), [Wish(question, 0.5)])
    sample = PolarsSample(frame)
    (symbol,) = DESCRIBED.respond(terms, [offer], [question], sample, noise_of(b"shared"))
    (release,) = DESCRIBED.settle([offer], [symbol])
    return release


def worlds(trials: int) -> list[pl.DataFrame]:
    """Tables of units whose rows are all alike: as dependent as rows of a unit can be."""
    rng = np.random.default_rng(12)
    return [
        pl.DataFrame(
            {
                "child": np.repeat(np.arange(UNITS), SIZE),
                "ill": np.repeat(rng.random(UNITS) < RATE, SIZE),
                "arm": rng.random(ROWS) < 0.6,
                "drug": np.repeat(np.arange(UNITS) % 2 == 0, SIZE),
            }
        )
        for _ in range(trials)
    ]


def refuted(question: str, sampling: Sampling) -> bool:
    """Whether too many of 200 intervals miss for the level that they claim."""
    frames = worlds(200)
    asked = ruled(question, frames[0], sampling)
    found = [through_the_door(asked, frame) for frame in frames]
    truth = 0.5 if question == CONTRAST else RATE  # as a part of the range, which is [-1, 1]
    missed = [not interval.low <= truth <= interval.high for interval in found]
    return too_many(missed, math.exp(asked.rule.log_p))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("question", "how"),
    [
        *((MEAN, how) for how in DEPENDENT),
        *((GROUP, how) for how in GROUPS),
        pytest.param(CONTRAST, "units of at most 9", marks=pytest.mark.campaign),
    ],
)
def test_coverage_of_rows_that_depend_on_each_other(question: str, how: str) -> None:
    assert not refuted(question, DEPENDENT[how])


@pytest.mark.statistical
@pytest.mark.parametrize("question", [MEAN, GROUP, CONTRAST])
def test_rows_of_a_unit_counted_one_by_one_are_too_sure(question: str) -> None:
    """The twin: the exact interval for independent rows on the same tables."""
    assert refuted(question, Independent())


def test_groups_of_units_are_told_apart_at_half_of_the_level() -> None:
    """In older ledgers it has the ends of both means; golden, by the theorem for one mean."""
    (frame,) = worlds(1)
    asked = ruled(CONTRAST, frame, DEPENDENT["units of at most 9"], -8.0, generation=3)
    told = through_the_door(asked, frame)
    assert released(asked, frame).rows == (frame.height, frame.height)  # those of both groups
    ends = []
    for drug in (True, False):
        by_child = frame.filter(pl.col("drug") == drug).group_by("child").agg(pl.col("ill").sum())
        sums = np.zeros(UNITS)
        sums[: by_child.height] = by_child["ill"].to_numpy()
        sizes = np.where(np.arange(UNITS) < by_child.height, SIZE, 0)
        ends.append(unit_mean_interval(sums, sizes, SIZE, -8.0 - math.log(2)))
    differences = ends[0].low - ends[1].high, ends[0].high - ends[1].low
    low, high = ((1.0 + end) / 2.0 for end in differences)  # as parts of [-1, 1]
    assert told.low <= low
    assert told.high >= high
    assert told == pytest.approx((low, high), abs=2e-3)  # the steps in which ends are told


def test_groups_that_share_no_row_have_one_bet_on_units() -> None:
    """Arms inside children: the theorem's interval on their totals, narrower than both means'."""
    (frame,) = worlds(1)
    text = "difference(avg(ill) where arm, avg(ill) where not arm)"
    older, newer = (
        ruled(text, frame, DEPENDENT["units of at most 9"], -8.0, generation=each)
        for each in (3, 4)
    )
    assert older.rule.method != newer.rule.method
    box, told = (through_the_door(each, frame) for each in (older, newer))
    assert half_width(told) < 0.85 * half_width(box)
    arms = [frame.with_columns(inside=pl.col("arm") == arm) for arm in (True, False)]
    sums = [
        each.group_by("child")
        .agg(pl.col("ill").filter(pl.col("inside")).sum(), pl.col("inside").sum())
        .sort("child")
        for each in arms
    ]
    first, second = (UnitSums.of(each["ill"], each["inside"]) for each in sums)
    low, high = unit_difference_interval(first, second, SIZE, -8.0)
    assert told.low <= (1.0 + low) / 2.0
    assert told.high >= (1.0 + high) / 2.0
    assert told == pytest.approx(((1.0 + low) / 2.0, (1.0 + high) / 2.0), abs=2e-3)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    assert through_the_door(newer, shuffled) == told
    overlapping = "difference(avg(ill) where arm, avg(ill) where drug)"
    assert (
        ruled(overlapping, frame, DEPENDENT["units of at most 9"]).rule.method == older.rule.method
    )


@pytest.mark.statistical
@pytest.mark.parametrize("sabotaged", [False, True])
def test_groups_of_rows_that_are_not_alike_are_told_apart(sabotaged: bool) -> None:
    """Rows of chances that differ, the design's arms; the twin is told that truth is elsewhere."""
    rng = np.random.default_rng(16)
    chances = np.tile([0.1, 0.1, 0.9, 0.5], 50)
    drug = np.tile([True, True, False, False], 50)
    frame = pl.DataFrame({"ill": rng.random(200) < chances, "drug": drug})
    prior = Prior(Schema(PolarsSample(frame).types))
    ground = Ground(200, Independent(), prior, math.log(1.0), for_these_items=True)
    asked = described(prior.read(CONTRAST), ground)
    assert asked is not None
    truth = 0.2 + (0.18 if sabotaged else 0.0)  # 0.1 - 0.7, as a part of [-1, 1]
    missed = []
    for _ in range(200):
        world = frame.with_columns(ill=pl.Series(rng.random(200) < chances))
        low, high = through_the_door(asked, world)
        missed.append(not low <= truth <= high)
    assert too_many(missed, math.exp(asked.rule.log_p)) is sabotaged


def by_design(frame: pl.DataFrame, *columns: str, log_beta: float = 0.0) -> DescribedQuestion:
    """The contrast of both arms with these columns of a design."""
    sample = PolarsSample(frame)
    prior = Prior(Schema(sample.types).with_family(planned=(CONTRAST,)))
    design = design_of(sample, columns, Independent())
    ground = Ground(frame.height, Independent(), prior, log_beta, design)
    asked = described(prior.read(CONTRAST), ground)
    assert asked is not None
    return asked


@pytest.mark.campaign  # rows that are not alike have the same, above
@pytest.mark.statistical
@pytest.mark.parametrize("sabotaged", [False, True])
def test_arms_of_a_design_are_told_apart_by_one_bet(sabotaged: bool) -> None:
    """Rows of wards with their own chances; the twin has each row 25 times."""
    rng = np.random.default_rng(17)
    chances, drug = np.tile([0.1, 0.1, 0.9, 0.5], 100), np.tile([True, True, False, False], 100)
    ward = np.tile([0, 1, 2, 3], 100)
    frame = pl.DataFrame({"ill": rng.random(400) < chances, "drug": drug, "ward": ward})
    asked = by_design(frame, "drug", "ward", log_beta=-2.0)
    assert isinstance(asked.rule, Gridded)
    assert asked.rule.by == "design arms"
    if sabotaged:  # intervals are a fifth as wide
        asked = by_design(pl.concat([frame] * 25), "drug", "ward", log_beta=-2.0)
    missed = []
    for _ in range(300):
        world = frame.with_columns(ill=pl.Series(rng.random(400) < chances))
        if sabotaged:
            world = pl.concat([world] * 25)
        low, high = through_the_door(asked, world)
        missed.append(not low <= 0.2 <= high)  # 0.1 - 0.7, as a part of [-1, 1]
    assert too_many(missed, math.exp(asked.rule.log_p)) is sabotaged


def test_arms_of_a_design_by_the_theorem() -> None:
    """Golden: one bet on the rows of both arms, and in a group inside them with the arms' sizes."""
    rng = np.random.default_rng(18)
    drug, ward = np.arange(3000) % 3 == 0, np.arange(3000) % 5
    frame = pl.DataFrame({"ill": rng.random(3000) < 0.3, "drug": drug, "ward": ward})
    asked = by_design(frame, "drug", "ward", log_beta=-6.0)
    told = through_the_door(asked, frame)
    ill = frame["ill"].cast(float).to_numpy()
    x, y = ill[drug], ill[~drug]
    side = asked.rule.log_p - math.log(2)
    ends = (
        design_difference_lower(x, y, (1000, 2000), side),
        -design_difference_lower(1.0 - x, 1.0 - y, (1000, 2000), side),
    )
    assert told == pytest.approx([(1.0 + end) / 2.0 for end in ends], abs=5e-4)
    assert told.low <= (1.0 + ends[0]) / 2.0
    assert told.high >= (1.0 + ends[1]) / 2.0


def test_a_design_of_the_arm_alone_costs_no_width(tmp_path: Path) -> None:
    """It made an effect 2.1 times as wide: given its arm a row is like all others of that arm."""
    rng = np.random.default_rng(19)
    frame = pl.DataFrame({"ill": rng.random(4000) < 0.3, "drug": rng.random(4000) < 0.5})
    widths = []
    for name, design in (("without", None), ("with", ["drug"])):
        with holdfast.open(
            frame, ledger=tmp_path / f"{name}.ledger", task=name, design=design, planned=[CONTRAST]
        ) as holdout:
            widths.append(holdout.ask(CONTRAST).half_width)
            assert all(finding.fine for finding in audit(tmp_path / f"{name}.ledger"))
    assert widths[0] == widths[1] < 0.05


@pytest.mark.parametrize("how", ["units of 9, public", "declared"])
def test_there_is_no_group_without_a_theorem(how: str) -> None:
    (frame,) = worlds(1)
    prior = Prior(Schema(PolarsSample(frame).types))
    ground = Ground(ROWS, DEPENDENT[how], prior, math.log(0.05))
    assert described(prior.read(MEAN), ground) is not None
    assert described(prior.read(GROUP), ground) is None
    assert described(prior.read(CONTRAST), ground) is None


# A clinical table: 537 children seen 4 times, 15 % of the visits with the illness ----------------


def clinical() -> pl.DataFrame:
    """Each child has its own rate, whose spread makes a correlation of 0.35 inside a child."""
    children, visits, rate, icc = 537, 4, 0.15, 0.35
    rng = np.random.default_rng(5)
    spread = (1 - icc) / icc
    rates = rng.beta(rate * spread, (1 - rate) * spread, children)
    ill = rng.random((children, visits)) < rates[:, None]
    return pl.DataFrame({"child": np.repeat(np.arange(children), visits), "ill": ill.ravel()})


def robust_half_width(frame: pl.DataFrame) -> float:
    """One look, normal, 95 %: the sandwich of an intercept (independence working correlation)."""
    ill, child = frame["ill"].to_numpy().astype(float), frame["child"].to_numpy()
    scores = np.bincount(child, ill - ill.mean())
    return 1.959964 * math.sqrt(float(scores @ scores)) / ill.size


def half_width(interval: Interval) -> float:
    return (interval.high - interval.low) / 2


def test_the_width_measures_the_correlation_inside_units() -> None:
    frame = clinical()
    normal = robust_half_width(frame)
    known = clustered("child", largest=4)
    bets = through_the_door(ruled(MEAN, frame, known, -20.0), frame)
    # Section 12.0: 3.63 at L = 20, where Hoeffding for units has 6.55, and the ideal is 3.06.
    assert half_width(bets) / normal == pytest.approx(3.63, abs=0.15)
    hoeffding = known.profile(frame.height).radius(-20.0)
    assert hoeffding / normal == pytest.approx(6.55, abs=0.25)
    public = through_the_door(
        ruled(MEAN, frame, clustered("child", sizes="fixed", size=4), -20.0), frame
    )
    decided = clustered("child", sizes="fixed", size=4).profile(frame.height).radius(-20.0)
    assert public.high == pytest.approx(frame["ill"].to_numpy().mean() + decided, abs=1e-3)
    assert decided < hoeffding < 1.01 * decided  # full units: 0.9 of the level
    # Rows that are counted one by one pretend to be 2,148.
    rows = through_the_door(ruled(MEAN, frame, Independent(), -20.0), frame)
    assert half_width(rows) < 0.75 * 3.06 / 2.31 * half_width(bets)


def test_a_clinical_table_from_end_to_end(tmp_path: Path) -> None:
    frame, path = clinical(), tmp_path / "visits.ledger"
    known = holdfast.clustered("child", largest=4)
    with holdfast.open(frame, ledger=path, sampling=known, described="exact") as holdout:
        answer = holdout.ask(MEAN)
        group = holdout.ask("avg(ill) where child < 200")
        halves = "difference(avg(ill) where child < 268, avg(ill) where child >= 268)"
        apart = holdout.ask(halves)
        assert (apart.status, apart.bits) == ("answered", holdout.cost(halves).bits)
        assert apart.interval.low < 0.0 < apart.interval.high
        assert "unit_mean_interval" in str(holdout.certificate().to_dict())
        # Wider than the declared half-width, and a mean that the ledger has no single look for.
        long = holdout.ask("avg(ill) where child < 213 and child > 17 and child != 111")
        assert long.status == "answered"
        assert half_width(long.interval) > holdout.opening.terms.half_width
        assert "units of at most 4 rows" in answer.assumes
    planned = holdfast.plan(rows=frame.height, questions=1, sampling=known)["bounded noise"]
    assert half_width(answer.interval) < 0.85 * (planned.half_width or 1.0)
    assert half_width(answer.interval) / robust_half_width(frame) < 2.6
    assert group.interval.low < 0.15 < group.interval.high
    assert half_width(group.interval) < 0.15
    with holdfast.open(frame, ledger=path, sampling=known) as again:
        assert again.ask(MEAN).interval == answer.interval
    assert all(finding.fine for finding in audit(path, lambda: PolarsSample(frame)))
