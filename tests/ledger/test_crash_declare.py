"""Crashes at every step of a late declaration, and what it may spend beside the opening's.

As far as the ledger can tell, the process dies there: its share is taken with what it declares, or
neither is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from holdfast.errors import InvalidArgument
from holdfast.ledger.witness import Witness
from holdfast.question import build
from holdfast.question.columns import Schema
from holdfast.question.expression import Expression
from holdfast.statistics.description import Prior
from holdfast.statistics.entry import Part
from tests.holdout.tables import Crash, copied, opened, untouchable, watch
from tests.ledger.children import dying
from tests.ledger.forging import faults
from tests.ledger.reading import folded
from tests.seam import transcript_of

FRAME = pl.DataFrame({"a": [True, False] * 200, "b": [True, True, False, False] * 100})
PLANNED: dict[str, Any] = {"planned": ["avg(b)"], "share": 0.5}
POINTS = ("before declared", "inside declared", "before witness", "after declared")


def killed(path: Path, point: str) -> None:
    """Declare, and die at this point; no row is read for it."""
    with pytest.MonkeyPatch.context() as patch, opened(path.parent, FRAME) as dead:
        watch(dead, untouchable)
        if point == "before witness":

            def die(*_: object) -> None:
                raise Crash

            patch.setattr(Witness, "note", die)
        else:
            dying(point, dead, patch)
        with pytest.raises(Crash):
            dead.declare(**PLANNED)


@pytest.mark.parametrize("was_asked", [False, True])
def test_a_crash_at_any_step_takes_the_share_with_what_is_declared_or_neither(
    tmp_path: Path, was_asked: bool
) -> None:
    (tmp_path / "start").mkdir()
    with opened(tmp_path / "start", FRAME, described="rounded", tolerance=0.3) as holdout:
        if was_asked:
            holdout.ask("avg(a)")
    start = tmp_path / "start" / "t.ledger"
    whole = copied(start, tmp_path / "whole")
    with opened(whole.parent, FRAME) as holdout:
        holdout.declare(**PLANNED)
        answer = holdout.ask("avg(b)")
    truth, before = folded(whole), folded(start).account
    for point in POINTS:
        path = copied(start, tmp_path / point)
        killed(path, point)
        left = folded(path)
        written = point in ("before witness", "after declared")
        assert len(left.dictionaries.declarations) == written
        # What is declared has its share taken: nobody else is given it, before or afterwards.
        assert (left.committed.log_kept < before.log_kept) is written
        with opened(path.parent, FRAME) as resumed:
            if written:
                with pytest.raises(InvalidArgument, match="nothing of this is new"):
                    resumed.declare(**PLANNED)
            else:
                resumed.declare(**PLANNED)
            again = resumed.ask("avg(b)")
        assert (again.value, again.interval, again.bits) == (
            answer.value,
            answer.interval,
            answer.bits,
        )
        assert folded(path).account == truth.account
        assert faults(path) == []


# Weights of two dictionaries together ------------------------------------------------------------


def weights(schema: Schema) -> Fraction:
    """All means of conditions of up to two flags, among all rows or those of another, added up."""
    a, b = schema.column("a"), schema.column("b")
    signed = [a, b, build.negation(a), build.negation(b)]
    both = {build.conjunction([one, other]) for one, other in product(signed, repeat=2)}
    either = {build.disjunction([one, other]) for one, other in product(signed, repeat=2)}
    trees: set[Expression] = {
        tree for tree in (*signed, *both, *either) if {a, b} & {tree, *getattr(tree, "args", ())}
    }
    prior = Prior(schema)
    total = Fraction(0)
    for value, where in product(trees, (None, *trees)):
        millibits = prior.millibits(Part("mean", (value,), where))
        total += Fraction(2.0 ** (-millibits / 1000)) * (1 + Fraction(1, 10**12))
    return total


def test_a_late_dictionary_and_the_openings_have_no_more_than_was_promised(tmp_path: Path) -> None:
    """By enumeration: levels of all texts in either, with what is left for other questions.

    The twin gives the late one its level and takes it from nobody: that is too much.
    """
    with opened(tmp_path, FRAME, described="exact", planned=["avg(a)"]) as holdout:
        terms = holdout.opening.terms
        holdout.declare(planned=["avg(b)"])
        transcript = transcript_of(holdout)
        (late,) = transcript.dictionaries.declarations
        early, later = weights(holdout.opening.schema), weights(holdout.schema)
        kept = transcript.account.log_kept
    assert Fraction(1, 2) < early <= 1
    assert Fraction(1, 2) < later <= 1
    texts = Fraction(math.exp(terms.log_beta_described)) * early
    texts += Fraction(math.exp(late.stake.log_level)) * later
    promised = Fraction(0.05) * (1 + Fraction(1, 10**9))
    asks = Fraction(math.exp(terms.log_beta))
    assert texts + asks * Fraction(math.exp(kept)) <= promised
    assert texts + asks > promised
