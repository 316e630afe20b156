"""Every mechanism that promises something against the attacks, and how tight each is.

The whole campaign is `make attacks`; here are the attacks that tell most, at two levels.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.lab.arena.campaign import Met, campaign, largest_broken, promising, tightness
from holdfast.lab.arena.comparison import Run
from holdfast.lab.arena.trial import Scenario, TrialsVerdict, run_trials, verdict
from holdfast.lab.attacks.attacks import Fingerprinting, Snowball
from holdfast.lab.attacks.roster import ATTACKS, Staged, attack_cell
from holdfast.lab.pages.report import campaign_sheet, tightness_sheet
from holdfast.lab.world.populations import Signs
from holdfast.lab.world.session import Protected
from holdfast.mechanisms.catalogue import CATALOGUE

PAGE = Path(__file__).parents[3] / "docs" / "laboratory.md"
# In small. The vote is for all; dependent rows and one point are for those that take them.
LOG_ODDS = replace(ATTACKS["log-odds"], rows=500, questions=81)
REPEATED = replace(ATTACKS["repeated-rows"], rows=2_000, questions=21)
ONE_POINT = replace(ATTACKS["one-point"], questions=100)
CHOSEN = [LOG_ODDS, REPEATED, ONE_POINT]
TRIALS = 10


@pytest.mark.statistical
@pytest.mark.parametrize("beta", [pytest.param(0.05, marks=pytest.mark.campaign), 0.001])
@pytest.mark.parametrize("mechanism", promising())
def test_promises_are_kept(mechanism: str, beta: float) -> None:
    met = campaign([mechanism], CHOSEN, run=Run(TRIALS, 7), confidence_level=1 - beta)
    assert [each.attack for each in met] == [kind.name for kind in CHOSEN]
    assert all(each.kept for each in met), [str(each.verdict) for each in met]
    assert any(each.verdict is not None for each in met), met
    for each in met:
        if each.verdict is not None:
            assert each.verdict.intervals > 0
            assert (each.half_width or 0.0) < 0.5
        else:
            assert each.reason
            assert "\n" not in each.reason


def scaled(mechanism: str, scale: float) -> TrialsVerdict:
    cell = attack_cell(LOG_ODDS, Protected(scale=scale, mechanism=mechanism))
    scenario = Scenario(cell.population, cell.holder, cell.analyst, cell.terms, cell.train_rows)
    return verdict(run_trials(scenario, TRIALS, seed=7), 0.05)


@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", promising())
def test_the_same_mechanisms_scaled_to_a_tenth_are_broken(mechanism: str) -> None:
    assert not scaled(mechanism, 0.1).holds


def test_a_mechanism_without_a_promise_is_no_part_of_the_campaign() -> None:
    assert "exact" in CATALOGUE
    assert "exact" not in promising()


@pytest.mark.statistical
def test_tightness_finds_the_largest_scale_that_is_broken() -> None:
    (spare,) = tightness(["bounded noise"], [ONE_POINT], run=Run(TRIALS, 7))
    assert spare.attack == "one-point"
    assert spare.broken_at is not None
    assert 0.75 <= spare.broken_at < 1
    assert tightness_sheet([spare]).rows[0][:3] == (
        "bounded noise",
        f"{spare.broken_at:.2f}",
        "one-point",
    )


@pytest.mark.parametrize("edge", [0.1, 0.12, 0.5, 0.98])
def test_the_search_ends_at_the_edge(edge: float) -> None:
    assert largest_broken(lambda scale: scale <= edge + 1e-9, 0.1, 0.02) == pytest.approx(edge)


def test_the_search_ends_where_nothing_is_broken() -> None:
    assert largest_broken(lambda scale: False, 0.1, 0.02) is None
    assert largest_broken(lambda scale: True, 1.0, 0.02) is None


def test_the_documented_table_has_every_mechanism() -> None:
    page = PAGE.read_text(encoding="utf-8")
    table = page.partition("| mechanism | largest scale broken |")[2].partition("\n\n")[0]
    missing = [name for name in promising() if f"| {name} |" not in table]
    assert not missing, f"run: holdfast attack --tightness, and put its table into {PAGE.name}"


def test_the_grid_says_what_was_not_attacked() -> None:
    met = [
        *campaign(["bounded noise"], [ONE_POINT], run=Run(1)),
        *campaign(["sample splitting"], [ONE_POINT], run=Run(1)),
    ]
    assert met[1].reason is not None
    assert "independent" in met[1].reason
    assert campaign_sheet(met).headings == ("attack", "bounded noise", "sample splitting")
    assert met[0].verdict is not None
    assert campaign_sheet(met).rows[0][1:] == (f"{met[0].verdict.slack:.2f}", "-")


def test_too_few_trials_break_nothing_and_show_nothing() -> None:
    for trials in (0, -1, 2.5):
        with pytest.raises(InvalidArgument, match="trials"):
            Run(trials)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"trials is 6.*at least 7"):
        tightness(["bounded noise"], [ONE_POINT], run=Run(6))


def test_every_attack_meets_samples_of_its_own() -> None:
    """The same analyst under two names: what one sample says is not said twice."""
    again = replace(LOG_ODDS, name="the same again")
    one, other = campaign(["bounded noise"], [LOG_ODDS, again], run=Run(2))
    assert one.verdict is not None
    assert other.verdict is not None
    assert one.verdict.slack != other.verdict.slack
    (repeated,) = campaign(["bounded noise"], [LOG_ODDS], run=Run(2))
    assert repeated == one


def test_a_fault_of_the_laboratory_is_no_reason_not_to_meet() -> None:
    """Sabotage: a population that does not know the truth of what is asked about it."""
    lost = replace(LOG_ODDS, stage=lambda _, k, signs: Staged(Snowball(k), signs(k)))
    assert "snowball" in (campaign(["bounded noise"], [lost], run=Run(1))[0].reason or "")
    lost = replace(LOG_ODDS, stage=lambda _, k, signs: Staged(Fingerprinting(9, 9), signs(k)))
    with pytest.raises(InvalidQuestion):
        campaign(["bounded noise"], [lost], run=Run(1))


def test_the_grid_says_what_is_not_good() -> None:
    (met,) = campaign(["bounded noise"], [ONE_POINT], run=Run(7))
    assert met.verdict is not None
    said = {
        "doubtful, 3 false, 0.50": replace(met.verdict, failures=3, slack=0.5),
        "BROKEN, 7 false, 2.00": replace(met.verdict, failures=7, slack=2.0),
        "no interval": replace(met.verdict, intervals=0),
    }
    for words, found in said.items():
        assert campaign_sheet([replace(met, verdict=found)]).rows[0][1] == words


def test_no_verdict_is_no_broken_promise() -> None:
    assert Met("bounded noise", "sums", None, None, None, "why").kept


def test_fewer_questions_are_asked_where_the_mechanism_needs_it() -> None:
    cell = attack_cell(ATTACKS["sign-attack"], Protected(mechanism="sample splitting"))
    assert cell.terms.questions == 40
    assert cell.population == Signs(39)
