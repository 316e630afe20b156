"""Units of rows whose sizes go with their values: no verb may take the sizes for decided.

Of 60 units each has, with probability 1/61, 60 rows that are all ill, and otherwise one row that is
not: half of the rows of the population are ill. A sample without a large unit, of which there are
37 %, looks like 60 healthy rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.cli.parameters import sampling_of_text
from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Sampling, sampling_from_dict, sampling_to_dict
from holdfast.errors import BudgetExhausted, ToleranceTooTight
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.service.shown import overview_shown
from holdfast.statistics.rule import Ground
from tests.holdout.tables import Crash, crash, watch
from tests.theory.coverage import too_many

UNITS, LARGE = 60, 60
TRUTH, BETA, TRIALS = 0.5, 0.001, 400
ILL = "avg(ill)"
DRAWN = holdfast.clustered("unit", largest=LARGE)
DECIDED = holdfast.clustered("unit", sizes="fixed")
GIVEN = "given the sizes of the units"


def world(large: int, units: int = UNITS, rows: int = LARGE) -> pl.DataFrame:
    ill = np.arange(units) < large
    sizes = np.where(ill, rows, 1)
    return pl.DataFrame({"unit": np.repeat(np.arange(units), sizes), "ill": np.repeat(ill, sizes)})


def holds(answer: Any) -> bool:
    return bool(answer.interval.low <= TRUTH <= answer.interval.high)


def asked(holdout: Holdout) -> bool:
    return holds(holdout.ask(ILL))


def checked(holdout: Holdout) -> bool:
    """Nothing that the sample may look like is confirmed, but what holds the truth."""
    return all(holds(holdout.check(ILL, guess, tolerance=0.3)) for guess in (0.0, 0.8))


def gated(holdout: Holdout) -> bool:
    """Neither side of the truth is shown."""
    gates = holdout.gate(ILL, at_most=TRUTH), holdout.gate(ILL, at_least=TRUTH)
    return all(gate.status == "not shown" for gate in gates)


def last(holdout: Holdout) -> bool:
    (answer,) = holdout.final([ILL])
    return holds(answer)


def revealed(holdout: Holdout) -> bool:
    return holds(holdout.end.reveal(ILL))


def scored(holdout: Holdout) -> bool:
    """A member of a search space: the score of a model that says that nobody is ill."""
    search = holdout.search("model", size=2, question="avg(model = ill)")
    return holds(search.score(0, pl.Series(np.zeros(holdout.rows, dtype=bool))))


VERBS: dict[str, tuple[str, Callable[[Holdout], bool]]] = {
    "ask": ("off", asked),
    "check": ("off", checked),
    "gate": ("off", gated),
    "final": ("off", last),
    "reveal": ("off", revealed),
    "described": ("exact", asked),
    "described, rounded": ("rounded", asked),
    "a search": ("off", scored),
}


@pytest.mark.filterwarnings("ignore::holdfast.errors.NothingLeft")  # it may say nothing
@pytest.mark.statistical
@pytest.mark.parametrize("sampling", [DRAWN, DECIDED], ids=["drawn", "decided"])
@pytest.mark.parametrize("verb", VERBS)
def test_large_units_that_are_all_ill_are_not_forgotten(
    tmp_path: Path, verb: str, sampling: Sampling
) -> None:
    """The twin takes the sizes of the units for decided: it misses in four of ten samples."""
    described, put = VERBS[verb]

    @cache  # a sample is known by how many of its units are large
    def missed(large: int) -> bool:
        frame = world(large).with_row_index("id")
        ledger = tmp_path / f"{large}.ledger"
        with holdfast.open(
            frame,
            ledger=ledger,
            sampling=sampling,
            described=described,  # type: ignore[arg-type]
            confidence_level=1 - BETA,
            tolerance=0.49,
            questions=4,
            key="id" if verb == "a search" else None,
        ) as holdout:
            try:
                return not put(holdout)
            except (BudgetExhausted, ToleranceTooTight):  # it says nothing
                return False

    rng = np.random.default_rng(25)
    failed = [missed(int(large)) for large in rng.binomial(UNITS, 1 / 61, TRIALS)]
    assert too_many(failed, BETA) is (sampling is DECIDED)


# Ill units have four rows, others one: a fifth of 4,000 units is half of the rows ---------------

LARGER = holdfast.clustered("unit", largest=4)


def test_where_units_are_many_every_verb_says_something_true(tmp_path: Path) -> None:
    frame = world(800, 4_000, 4)
    with holdfast.open(
        frame, ledger=tmp_path / "off.ledger", sampling=LARGER, described="off", questions=9
    ) as holdout:
        answer = holdout.ask(ILL)
        assert (answer.status, holds(answer)) == ("answered", True)
        assert answer.half_width < 0.2
        check = holdout.check(ILL, 0.5, tolerance=0.1)
        assert check.status == "confirmed"
        assert holdout.gate(ILL, at_least=0.35).status == "shown"
        (final,) = holdout.final([ILL])
        assert holds(final)
        assert final.half_width < 0.1
    with holdfast.open(frame, ledger=tmp_path / "on.ledger", sampling=LARGER) as holdout:
        described = holdout.ask(ILL)
        assert holds(described)
        assert described.half_width < 0.05
        assert "4,000 independent units of at most 4 rows" in described.assumes
        assert "given" not in str(described)
    for name in ("off", "on"):
        path = tmp_path / f"{name}.ledger"
        assert all(finding.fine for finding in audit(path, lambda: PolarsSample(frame)))


@pytest.mark.parametrize("described", ["exact", "rounded", "off"])
def test_that_sizes_were_decided_is_said_wherever_something_is(
    tmp_path: Path, described: Any
) -> None:
    panel = pl.DataFrame({"unit": np.arange(900) // 3, "ill": np.arange(900) % 4 == 0})
    path = tmp_path / "t.ledger"
    with holdfast.open(
        panel, ledger=path, sampling=DECIDED, described=described, questions=9
    ) as holdout:
        answer = holdout.ask(ILL)
        said = {
            "answer": str(answer),
            "assumes": answer.assumes,
            "JSON": json.dumps(answer.to_dict()),
            "page": answer._repr_html_(),
            "check": str(holdout.check(ILL, 0.25, tolerance=0.2)),
            "gate": str(holdout.gate(ILL, at_most=0.6)),
            "groups": str(holdout.ask(f"{ILL} by ill")) if described == "off" else GIVEN,
            "budget": str(holdout.budget),
            "budget's JSON": json.dumps(holdout.budget.to_dict()),
            "ledger": str(holdout.ledger),
            "explained": holdout.explain(),
            "holdout": repr(holdout),
            "chart": json.dumps(holdout.chart().to_dict()["title"]),
            "service": overview_shown(holdout)["promise"],
            "certificate": json.dumps(holdout.certificate().to_dict()),
            "certificate's promise": holdout.certificate().to_dict()["promise"],
            "plan": str(holdfast.plan(rows=900, questions=9, sampling=_with_size(3))),
        }
        assert [what for what, text in said.items() if GIVEN not in text.replace("\n ", "")] == []


def _with_size(size: float) -> Sampling:
    return holdfast.clustered("unit", sizes="fixed", size=size)


def test_equal_sizes_cost_at_most_a_tenth_more_than_decided_ones(tmp_path: Path) -> None:
    """The worst rows for it: all rows of a unit are equal, and half of the units are ill."""
    frame = pl.DataFrame({"unit": np.arange(4_000) // 4, "ill": np.arange(4_000) < 2_000})
    widths: dict[str, list[float]] = {}
    for place, sampling in enumerate((LARGER, DECIDED)):
        for described in ("off", "exact"):
            path = tmp_path / f"{described}{place}.ledger"
            with holdfast.open(
                frame, ledger=path, sampling=sampling, described=described, questions=20
            ) as holdout:
                widths.setdefault(f"ask, {described}", []).append(holdout.ask(ILL).half_width)
                (last_look,) = holdout.final([ILL])
                widths.setdefault(f"final, {described}", []).append(last_look.half_width)
    for verb, (drawn, decided) in widths.items():
        assert drawn <= 1.1 * decided, verb


# Groups ----------------------------------------------------------------------------------------

GROUP, OTHER = f"{ILL} where arm = 'a'", f"{ILL} where arm = 'b'"


@pytest.mark.parametrize(
    "sampling", [LARGER, holdfast.m_dependent(3)], ids=["units", "rows in a sequence"]
)
def test_a_group_has_its_own_number_of_rows(tmp_path: Path, sampling: Sampling) -> None:
    arm = np.array(["a", "b", "c", "c"])[np.arange(4_000) // 4 % 4]
    frame = pl.DataFrame({"unit": np.arange(4_000) // 4, "ill": np.arange(4_000) % 3 == 0})
    frame = frame.with_columns(arm=pl.Series(arm))
    for described in ("exact", "rounded"):
        path = tmp_path / f"{described}.ledger"
        with holdfast.open(
            frame,
            ledger=path,
            sampling=sampling,
            described=described,
            schema={"arm": {"values": ["a", "b", "c"]}},
        ) as holdout:
            answer = holdout.ask(GROUP)
            least, most = (answer.to_dict()[end] for end in ("n", "n_most"))
            assert (
                (least, most) == (1_000, 1_000) if described == "exact" else least <= 1_000 <= most
            )
            assert most - least < 4_000 / 60
            assert "1,0" in str(answer).split("·")[1] or described == "rounded"
            assert holdout.ask(ILL).n == 4_000
            if isinstance(sampling, type(LARGER)):
                apart = holdout.ask(f"difference({GROUP}, {OTHER})")
                least, most = (apart.to_dict()[end] for end in ("n", "n_most"))
                assert least <= 2_000 <= most < 2_000 + 4_000 / 60
        assert all(finding.fine for finding in audit(path, lambda: PolarsSample(frame)))


@pytest.mark.parametrize("units", [1_000, 2_500], ids=["full", "not full"])
def test_what_is_planned_for_so_many_units_is_what_a_table_of_them_gets(
    tmp_path: Path, units: int
) -> None:
    sizes = np.full(units, 4_000 // units) + (np.arange(units) < 4_000 % units)
    frame = pl.DataFrame(
        {"unit": np.repeat(np.arange(units), sizes), "ill": np.arange(4_000) % 2 == 0}
    )
    planned = holdfast.plan(
        rows=4_000,
        questions=20,
        surprises=2,
        described="off",
        sampling=holdfast.clustered("unit", largest=4, units=units),
    )
    with holdfast.open(
        frame, ledger=tmp_path / "t.ledger", sampling=LARGER, described="off", questions=20
    ) as holdout:
        promised = holdout.opening.terms.half_width
        assert promised == pytest.approx(planned["bounded noise"].half_width, abs=1e-3)
        for number in range(20):
            assert holdout.ask(f"avg(ill and unit > {number})").status == "answered"
    with holdfast.open(
        frame,
        ledger=tmp_path / "checks.ledger",
        sampling=LARGER,
        described="off",
        questions=20,
        surprises=2,
    ) as holdout:
        width = planned["guess and check, 2 wrong guesses"].half_width
        checks = [
            holdout.check(f"avg(ill or unit < -{number})", 0.5, tolerance=width)
            for number in range(18)
        ]
        assert {check.status for check in checks} == {"confirmed"}


# Differences within units.


def trial(units: int, rows: int, seed: int = 1) -> pl.DataFrame:
    """Sites with levels of their own, arms in each, and an effect of .11."""
    rng = np.random.default_rng(seed)
    site = np.repeat(np.arange(units), rows)
    treated = np.tile(np.arange(rows) % 2 == 1, units)
    rate = rng.beta(5, 15, units)[site]
    well = rng.random(site.size) < np.minimum(1.0, rate + 0.11 * treated)
    arm = np.where(treated, "treated", "control")
    return pl.DataFrame({"site": site.astype(str), "arm": arm, "well": well})


EFFECT = "effect(well, arm)"
WITHIN = "average difference within units, each weighed by its smaller group"


def sites(folder: Path, frame: pl.DataFrame, largest: int, **how: Any) -> Holdout:
    return holdfast.open(
        frame,
        ledger=folder / f"{len(list(folder.iterdir()))}.ledger",
        sampling=holdfast.clustered("site", largest=largest, **how),
        schema={"arm": {"values": ["control", "treated"]}},
        planned=[EFFECT],
    )


@pytest.mark.parametrize(("units", "rows", "ratio"), [(24, 100, 0.6), (200, 20, 0.55)])
def test_a_difference_within_units_is_narrower_and_says_what_it_is(
    tmp_path: Path, units: int, rows: int, ratio: float
) -> None:
    frame = trial(units, rows)
    with sites(tmp_path, frame, rows) as between:
        wide = between.ask(EFFECT)
    with sites(tmp_path, frame, rows, differences="within") as within:
        found = within.ask(EFFECT)
        for name in ("control", "treated"):
            within.ask(f"avg(well) where arm = '{name}'")
        assert within.ask(EFFECT).interval == found.interval  # the groups' means say nothing of it
        within.certificate(str(tmp_path / "reuse.html"))
        page = (tmp_path / "reuse.html").read_text("utf-8")
        explained = within.explain()
    assert found.half_width < ratio * wide.half_width
    assert 0.11 in found.interval
    means = frame.pivot(on="arm", index="site", values="well", aggregate_function="mean")
    value = float(np.mean((means["treated"] - means["control"]).to_numpy()))
    assert found.value == pytest.approx(value, abs=1e-3)
    for text in (str(found), found.assumes, found.details, explained, page):
        assert WITHIN in text
    assert WITHIN not in str(wide) + wide.assumes + wide.details
    assert all(finding.fine for path in tmp_path.glob("*.ledger") for finding in audit(path))


def test_few_units_say_what_limits_them(tmp_path: Path) -> None:
    with sites(tmp_path, trial(24, 100), 100, differences="within") as few:
        found = few.ask(EFFECT)
        floor = found.recorded.floor
        gate = few.gate(EFFECT, at_least=-0.9)
    assert floor is not None
    units, (low, high) = floor
    # By hand: e = 1 - p^(1/U) at the side's level p, around what was found.
    assert found.recorded.rule is not None
    e = 1.0 - np.exp(found.recorded.rule.log_p / 24)
    d = found.value or 0.0
    assert units == 24
    assert (low, high) == pytest.approx((d - e * (1 + d), d + e * (1 - d)), abs=1e-6)
    assert "with 24 units nothing in [" in str(found)
    assert "more units would tell more, more rows in each would not" in str(found)
    assert " units or so would" in str(found)
    assert "nothing in [" not in str(gate)
    with sites(tmp_path, trial(2_000, 4), 4, differences="within") as many:
        assert "nothing in [" not in str(many.ask(EFFECT))


def test_means_of_groups_say_nothing_of_what_is_within(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large shares of an arm go with low levels: inside every site it is better, over all worse."""
    units = 400
    low = np.arange(units) % 2 == 0
    treated = np.where(low[:, None], np.arange(10) < 8, np.arange(10) < 2)
    well = np.where(treated, np.where(low, 0.2, 1.0)[:, None], np.where(low, 0.0, 0.8)[:, None])
    drawn = np.random.default_rng(2).random(well.shape) < well
    frame = pl.DataFrame(
        {
            "site": np.repeat(np.arange(units), 10).astype(str),
            "arm": np.where(treated, "treated", "control").ravel(),
            "well": drawn.ravel(),
        }
    )

    def effect_after_means() -> Any:
        with sites(tmp_path, frame, 10, differences="within") as holdout:
            for name in ("control", "treated"):
                holdout.ask(f"avg(well) where arm = '{name}'")
            return holdout.ask(EFFECT)

    assert 0.2 in effect_after_means().interval
    # The twin takes what is known between groups for what is within units.
    monkeypatch.setattr(Ground, "has_other_truths", False)
    twin = effect_after_means()
    assert twin.recorded.contradict or 0.2 not in twin.interval


def test_within_units_is_declared_of_units_that_can_hold_both(tmp_path: Path) -> None:
    for how in ({"sizes": "fixed"}, {"largest": 1}):
        with pytest.raises(holdfast.HoldfastError, match="differences='within' is about units"):
            holdfast.clustered("site", differences="within", **how)
    told = sampling_to_dict(holdfast.clustered("site", largest=4))
    assert "differences" not in told  # as ledgers of before have it
    assert sampling_from_dict(told) == holdfast.clustered("site", largest=4)
    declared = holdfast.clustered("site", largest=4, differences="within")
    assert sampling_from_dict(sampling_to_dict(declared)) == declared
    assert sampling_of_text("clustered:site:4:within") == declared
    with sites(tmp_path, trial(50, 4), 4, differences="within") as holdout:
        overlapping = holdout.ask("difference(avg(well) where arm = 'treated', avg(well))")
        assert WITHIN not in str(overlapping)


def test_a_crash_in_the_scan_of_units_leaves_the_same_answer(tmp_path: Path) -> None:
    frame = trial(24, 10)
    with sites(tmp_path, frame, 10, differences="within") as whole:
        answer = whole.ask(EFFECT)
    with sites(tmp_path, frame, 10, differences="within") as holdout:
        sample = watch(holdout, crash)
        with pytest.raises(Crash):
            holdout.ask(EFFECT)
    del sample
    ledger = sorted(tmp_path.glob("*.ledger"))[-1]
    with holdfast.open(frame, ledger=ledger) as resumed:
        assert resumed.ask(EFFECT).interval == answer.interval
    assert all(finding.fine for finding in audit(ledger))
