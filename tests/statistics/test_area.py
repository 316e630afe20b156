"""An AUC given its labels: where those are all that is public of rows, its rule covers them too."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import MDependent
from holdfast.statistics.description import described
from holdfast.statistics.grid_rules import Gridded, auc_look
from holdfast.statistics.rule import Evidence
from holdfast.statistics.whole import Auc
from tests.statistics.asking import ground_on, question_on

TEXT = "auc(score, late)"
SHIFT, POSITIVES, NEGATIVES = 1.2, 60, 140
TRUTH = stats.norm.cdf(SHIFT / 2**0.5)
TRIALS, LEVEL, TWIN = 150, 0.1, 0.2


def drawn(rng: np.random.Generator) -> pl.DataFrame:
    """As many of each class as were decided."""
    late = np.arange(POSITIVES + NEGATIVES) < POSITIVES
    return pl.DataFrame({"score": rng.normal(size=late.size) + SHIFT * late, "late": late})


def test_it_misses_no_more_than_its_level_given_the_labels() -> None:
    rng, missed = np.random.default_rng(12), {1.0: 0, TWIN: 0}
    ground = ground_on(PolarsSample(drawn(rng)), design=("late",))
    asked, rule = ground.prior.read(TEXT), question_on(ground, TEXT).rule
    assert isinstance(asked, Auc)
    assert isinstance(rule, Gridded)
    loose = replace(rule, log_p=math.log(LEVEL))
    look = auc_look(asked.score, asked.positive, loose)
    for _ in range(TRIALS):
        evidence = Evidence((), (), PolarsSample(drawn(rng)), b"key")
        found = loose.decode(look.symbols_of(evidence))
        assert found.value is not None
        for part in missed:
            low, high = (found.value + part * (end - found.value) for end in found.interval)
            missed[part] += not low <= TRUTH <= high
    assert missed[1.0] <= stats.binom.isf(1e-9, TRIALS, LEVEL) < missed[TWIN]


@pytest.mark.parametrize("design", [("arm",), ("arm", "late"), ("three",)])
def test_it_has_no_rule_where_classes_are_not_all_that_is_public(design: tuple[str, ...]) -> None:
    frame = drawn(np.random.default_rng(1)).with_columns(
        arm=pl.Series([True, False] * 100), three=pl.Series([0, 1, 2, 3] * 50)
    )
    text = "auc(score, three = 1)" if design == ("three",) else TEXT
    ground = ground_on(PolarsSample(frame), design=design)
    assert described(ground.prior.read(text), ground) is None
    dependent = ground_on(PolarsSample(frame), sampling=MDependent(2))
    assert described(dependent.prior.read(TEXT), dependent) is None


def test_it_reads_the_score_as_well_as_the_label() -> None:
    ground = ground_on(PolarsSample(drawn(np.random.default_rng(2))))
    assert set(question_on(ground, TEXT).columns) == {"late", "score"}
