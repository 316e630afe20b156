"""The loops of `benchmarks.acceptors`, few of them: gains kept, false promotions, and what breaks.

Thresholds are exact: a rule that is false with probability beta passes them but once in 10,000.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.acceptors import (
    BETA,
    Round,
    Setting,
    broken_votes,
    draw_counts,
    models_shown,
    outcomes,
    rows_run,
    with_dev,
)

from benchmarks import acceptors

LOOPS, SEED = 24, 27


def most_false(loops: int, beta: float) -> int:
    """The least number that a binomial of these exceeds with at most 1e-4."""
    tail, number = 1.0, -1
    while tail > 1e-4:
        number += 1
        tail -= math.comb(loops, number) * beta**number * (1 - beta) ** (loops - number)
    return number


def test_development_rows_keep_most_of_the_gain() -> None:
    rules = ["p < .05", "Bonferroni (McNemar)", "gate", "gate, dev", "gate, dev first"]
    found = outcomes("benign", rules, LOOPS, SEED)
    assert found["gate, dev"].gain >= 0.24  # of .30
    assert found["gate, dev"].gain >= 0.95 * found["Bonferroni (McNemar)"].gain
    assert found["gate, dev first"].gain >= 0.24
    assert found["gate"].gain <= 0.1
    for rule in ("gate", "gate, dev", "gate, dev first"):
        assert found[rule].false_loops <= most_false(LOOPS, BETA)
    # The same threshold finds out a rule that counts nothing.
    assert found["p < .05"].false_loops > most_false(LOOPS, BETA)


@pytest.mark.parametrize("loop", ["null", "overfitted dev", "reversed dev"])
def test_no_development_set_makes_promotions_false(loop: str) -> None:
    found = outcomes(loop, ["gate, dev", "best score"], LOOPS // 2, SEED)
    assert found["gate, dev"].false_loops <= most_false(LOOPS // 2, BETA)
    assert found["best score"].false_loops > most_false(LOOPS // 2, BETA)


def test_stops_on_development_rows_save_most_of_the_protected_ones() -> None:
    dev_rows, rows = rows_run("benign", LOOPS // 2, SEED, Setting())
    assert dev_rows + rows <= 700  # of 1,000 + 1,000; section 13.7 has 607


def test_a_vote_of_verdicts_breaks_bonferroni_and_no_ledger() -> None:
    found = broken_votes(99, 100, SEED)
    assert found["a gate"].false_loops == 0
    assert found["Bonferroni (McNemar)"].false_loops > most_false(100, 0.5)
    for verdicts in (1, 3, 10):
        assert broken_votes(verdicts, 100, SEED)["a gate"].false_loops <= most_false(100, 0.5)


def test_the_page_has_the_tables_of_the_command() -> None:
    """All rules and loops, Bonferroni's and what breaks it; only what is between the marks."""
    page = acceptors.PAGE.read_text(encoding="utf-8")
    made = page.partition(acceptors.START)[2].partition(acceptors.END)[0]
    assert made.startswith("| loop | " + " | ".join(acceptors.RULES) + " |")
    assert all(f"\n| {loop} |" in made for loop in acceptors.LOOPS)
    assert acceptors.vote_table(100, SEED) in made
    assert acceptors.written(page, made) == page
    assert acceptors.written(page, "new\n") == page.replace(made, "new\n")


def test_of_200_models_on_50_000_rows_forecasts_show_20_of_27() -> None:
    shown = models_shown(3, SEED)
    assert 24 <= shown["Bonferroni (McNemar)"] <= 30
    assert shown["gate"] < shown["gate, dev"]
    assert shown["gate, dev"] >= 20


def climbed(number: int, *, shared: bool) -> Round:
    """Twenty candidates that gain nothing, each the best of 200 on development rows."""
    rng, setting = np.random.default_rng([SEED, number]), Setting(candidates=20)
    tried = draw_counts(rng, setting.dev_rows, np.zeros(20 * 200)).reshape(20, 200, 2)
    best = (tried[:, :, 0] - tried[:, :, 1]).argmax(axis=1)
    dev = tried[np.arange(20), best]
    fresh = draw_counts(rng, setting.rows, np.zeros(20))
    return Round(setting, np.zeros(20), dev if shared else fresh, dev)


def test_development_rows_may_be_climbed_and_may_not_be_shared() -> None:
    apart = sum(bool(with_dev(climbed(number, shared=False)).any()) for number in range(LOOPS))
    shared = sum(bool(with_dev(climbed(number, shared=True)).any()) for number in range(LOOPS))
    assert apart <= most_false(LOOPS, BETA)
    assert shared > most_false(LOOPS, BETA)
