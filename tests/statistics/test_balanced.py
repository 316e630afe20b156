"""Balanced accuracy by its description: the exact law of both classes' counts, which are told."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Independent
from holdfast.mechanisms.terms import RULES, Terms
from holdfast.statistics.mean_events import AlikeGroupMean, AlikeMean
from holdfast.statistics.mean_rules import Contrast, GroupMeanRule, MeanRule, ShareContrast
from holdfast.statistics.rounded_rules import RoundedContrast
from holdfast.statistics.rule import Evidence, Told, counts
from tests.statistics.asking import ground_on, question_on, symbols_of, told

TEXT = "balanced_accuracy(called, positive)"
HITS, ALARMS = 0.8, 0.3
TRUTH = (HITS + 1 - ALARMS) / 2
TRIALS, LEVEL, TWIN = 150, 0.1, 0.2


def drawn(rng: np.random.Generator, rows: int) -> pl.DataFrame:
    positive = rng.random(rows) < 0.3
    called = rng.random(rows) < np.where(positive, HITS, ALARMS)
    return pl.DataFrame({"called": called, "positive": positive})


def test_it_is_the_mean_of_both_rates() -> None:
    frame = drawn(np.random.default_rng(1), 5000)
    found = told(frame, TEXT, ground_on(PolarsSample(frame)))
    rates = [frame.filter(pl.col("positive") == label)["called"].mean() for label in (True, False)]
    assert found.value == pytest.approx((rates[0] + 1 - rates[1]) / 2, abs=1e-3)  # type: ignore[operator]
    assert found.rows == (5000, 5000)
    assert found.interval.low < TRUTH < found.interval.high
    swapped = told(frame, "balanced_accuracy(positive, called)", ground_on(PolarsSample(frame)))
    assert swapped.value != found.value


def test_a_missing_label_is_negative_and_a_missing_call_is_wrong() -> None:
    frame = pl.DataFrame(
        {
            "called": [True, None, True, False, None, False] * 50,
            "positive": [True, True, None, None, False, False] * 50,
        }
    )
    found = told(frame, TEXT, ground_on(PolarsSample(frame)))
    assert found.value == pytest.approx((1 / 2 + 2 / 4) / 2, abs=2e-3)


def holds(found: Told, part: float) -> bool:
    assert found.value is not None
    low, high = (found.value + part * (end - found.value) for end in found.interval)
    return low <= TRUTH <= high


@pytest.mark.parametrize("rounded", [False, True])
def test_it_misses_no_more_than_its_level(rounded: bool) -> None:
    rng, rows = np.random.default_rng(20), 300
    ground = ground_on(PolarsSample(drawn(rng, rows)), rounded=rounded)
    question = question_on(ground, TEXT)
    level = math.log(LEVEL)
    sizes = ((level,), (level,))
    rule = (
        RoundedContrast(rows, level, sizes, True) if rounded else ShareContrast(rows, level, sizes)
    )
    assert type(question.rule) is type(rule)
    missed = {1.0: 0, TWIN: 0}
    for _ in range(TRIALS):
        sample = PolarsSample(drawn(rng, rows))
        evidence = Evidence(sample.sums(question.look.sums), [], sample, b"")
        seen = (
            rule.encode(evidence) if isinstance(rule, RoundedContrast) else tuple(counts(evidence))
        )
        found = rule.decode(seen)
        for part in missed:
            missed[part] += not holds(found, part)
    assert missed[1.0] <= stats.binom.isf(1e-9, TRIALS, LEVEL) < missed[TWIN]


def test_classes_that_are_all_of_one_kind_say_nothing() -> None:
    frame = pl.DataFrame({"called": [True, False] * 20, "positive": [True] * 40})
    ground = ground_on(PolarsSample(frame))
    found = told(frame, TEXT, ground)
    assert found.value is None
    assert symbols_of(PolarsSample(frame), question_on(ground, TEXT))[:2] == (40, 0)


def test_a_ledger_keeps_the_rule_that_its_events_have_had() -> None:
    """Another rule for an event that was answered would use its level twice."""
    frame = drawn(np.random.default_rng(1), 500).with_columns(score=pl.lit(0.5))
    ground = ground_on(PolarsSample(frame), {"score": (0, 1)})
    contrast = "difference(avg(called) where positive, avg(called) where not positive)"
    for text in (TEXT, contrast):
        assert isinstance(question_on(ground, text).rule, ShareContrast)
        assert isinstance(question_on(replace(ground, generation=1), text).rule, Contrast)
    for text, newer, older in (
        ("avg(score)", AlikeMean, MeanRule),
        ("avg(score) where positive", AlikeGroupMean, GroupMeanRule),
    ):
        assert isinstance(question_on(ground, text).rule, newer)
        assert type(question_on(replace(ground, generation=2), text).rule) is older
    body = Terms(500, 0.1, 0.95, None, Independent()).to_dict()
    assert Terms.from_dict(body).rules == RULES
    del body["rules"]  # as ledgers were opened before there were others
    assert Terms.from_dict(body).rules == 1
