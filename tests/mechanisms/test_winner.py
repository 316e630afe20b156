"""A search that tells only its winner: goldens, its reservation, and an exact small world."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, strategies as st

from holdfast.data.sample import Sample
from holdfast.data.sampling import Independent
from holdfast.errors import BudgetExhausted, InvalidArgument
from holdfast.mechanisms.mechanism import Offer, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Account, Terms
from holdfast.mechanisms.winner import CvScores, Winner, WinnerQuestion
from holdfast.question.row import GRID
from holdfast.theory.leakage.claim_levels import symbol_log_level
from holdfast.theory.leakage.winners import cells_of
from tests.mechanisms.fake import said

WINNER = Winner("winner/1 model")
GOLDEN = json.loads((Path(__file__).parents[1] / "theory" / "golden.json").read_text())


class Counted:
    """Rows of which only the counts are wanted: in how many each candidate is right."""

    def __init__(self, counts: Sequence[int]) -> None:
        self.counts = counts

    def sums(self, _rows: Sequence[object]) -> list[int]:
        return [count * GRID for count in self.counts]


def terms(rows: int, beta: float = 0.05) -> Terms:
    return Terms(rows, 0.1, 1.0 - beta, None, Independent())


def question(many: int, cv: CvScores | None = None) -> WinnerQuestion:
    members = tuple(f"model[{place}]" for place in range(many))
    return WinnerQuestion("winner(avg(model = label))", members, (), (), cv)


def offered(declared: Terms, asked: WinnerQuestion, account: Account) -> Offer:
    (offer,) = WINNER.offer(declared, account, [Wish(asked, 0.1, keyless=True)])
    return offer


def silence(_number: int) -> Noise:
    raise AssertionError("nothing here is random")


def symbol_of(declared: Terms, asked: WinnerQuestion, offer: Offer, counts: Sequence[int]) -> Any:
    sample = cast("Sample", Counted(counts))
    (symbol,) = WINNER.respond(declared, [offer], [asked], sample, silence)
    return symbol


def symbols(offer: Offer) -> Iterator[Symbol]:
    """Every symbol of an offer."""
    extra = offer.extra or {}
    cv = None if extra["cv"] is None else CvScores(tuple(extra["cv"]), extra["cv_rows"])
    for place in range(len(extra["members"])):
        cells = cells_of(extra["rows"], None if cv is None else cv.of(place))
        yield from ((place, low) for low in range(0, extra["rows"] + 1, cells.pitch))


def test_who_has_no_score_ranks_last() -> None:
    assert CvScores((None, 0.5, 0.9), 100).ranks == [3, 2, 1]


def test_what_is_reserved_is_the_weight_of_the_least_expected() -> None:
    offer = offered(terms(1_000), question(16), Account())
    assert 0.0 < said(offer.prior) == pytest.approx(math.exp(-offer.worst_charge), rel=1e-12)


def golden(what: str) -> Any:
    (found,) = (each for each in GOLDEN if each["section"] == "13.2" and what in each["what"])
    return found["expected"]


def test_the_interval_and_the_charge_of_the_second_of_sixteen() -> None:
    scores = [0.98, 0.976, *(0.9 - place / 100 for place in range(14))]
    asked, declared = question(16, CvScores(tuple(scores), 1_200)), terms(600)
    offer = offered(declared, asked, Account())
    symbol = symbol_of(declared, asked, offer, [580, 589, *[500] * 14])
    assert symbol == (1, 588)
    (release,) = WINNER.settle([offer], [symbol])
    assert tuple(release.interval) == pytest.approx(golden("interval of the told winner"), rel=1e-6)
    weight = golden("CV rank r among N") * golden("prior of the cell 588..591")
    assert release.charge == pytest.approx(-math.log(weight), rel=1e-8)
    assert (release.member, release.status) == ("model[1]", "answered")
    assert release.value == pytest.approx(589.5 / 600)


def test_ties_are_the_first_declared() -> None:
    asked, declared = question(3), terms(100)
    offer = offered(declared, asked, Account())
    assert symbol_of(declared, asked, offer, [70, 80, 80]) == (1, 80)


@given(
    rows=st.integers(1, 40),
    scores=st.one_of(
        st.none(), st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=4)
    ),
    cv_rows=st.integers(1, 1_000),
)
def test_all_symbols_share_one_weight_and_the_dearest_is_reserved(
    rows: int, scores: list[float | None] | None, cv_rows: int
) -> None:
    cv = None if scores is None else CvScores(tuple(scores), cv_rows)
    asked = question(3 if cv is None else len(cv.scores), cv)
    offer = offered(terms(rows), asked, Account())
    charges = [WINNER.settle([offer], [symbol])[0].charge for symbol in symbols(offer)]
    assert math.fsum(math.exp(-charge) for charge in charges) <= 1.0
    assert max(charges) <= offer.worst_charge
    assert offer.worst_charge == pytest.approx(max(charges))


@pytest.mark.parametrize("symbol", [(3, 0), (-1, 0), (0, 1), (0, 101), (0,), "shown", 4])
def test_what_is_no_symbol_of_the_offer_is_found_out(symbol: Any) -> None:
    offer = offered(terms(100), question(3), Account())
    with pytest.raises((TypeError, ValueError, InvalidArgument)):
        WINNER.settle([offer], [symbol])


def test_refusals() -> None:
    asked = question(2)
    with pytest.raises(InvalidArgument, match="rows are not alike here"):
        WINNER.offer(
            Terms(10, 0.1, 0.95, None, Independent(), key="id"), Account(), [Wish(asked, 0.1)]
        )
    spent = Account(leakage=Account().leakage.ask(terms(10).log_beta))
    with pytest.raises(BudgetExhausted, match="the best of 2 candidates; remaining nothing"):
        offered(terms(10), asked, spent)
    with pytest.raises(InvalidArgument, match="cv has 1 scores for 2 candidates"):
        question(2, CvScores((0.5,), 10))
    with pytest.raises(InvalidArgument, match=r"cv is 1\.5"):
        CvScores((1.5,), 10)


# An exact world: every sample of a few rows, and the best gate that may depend on the symbol.

ROWS = 4
Joint = tuple[Fraction, Fraction, Fraction, Fraction]  # neither, first, second, both are right


def worlds() -> Iterator[Joint]:
    parts = 6
    for counts in product(range(parts + 1), repeat=3):
        if sum(counts) <= parts:
            first, second, third = (Fraction(count, parts) for count in counts)
            yield (first, second, third, 1 - first - second - third)


def failure(beta: float, world: Joint, cv: CvScores | None, *, charged: bool) -> float:
    """The probability that something false is told: by the winner's interval, or by a gate.

    The gate comes after the winner, and may be any test whose level is what the account leaves;
    at its best it is a set of samples with this symbol, as likely as its level allows.
    """
    declared, asked = terms(ROWS, beta), question(2, cv)
    offer = offered(declared, asked, Account())
    truths = (world[1] + world[3], world[2] + world[3])
    chances: dict[tuple[int, int], list[float]] = defaultdict(list)
    for sample in product(range(4), repeat=ROWS):
        chance = float(math.prod(world[row] for row in sample))
        if chance > 0:
            counts = [sum(row in (1, 3) for row in sample), sum(row in (2, 3) for row in sample)]
            chances[symbol_of(declared, asked, offer, counts)].append(chance)
    failed = 0.0
    for symbol, likely in chances.items():
        (release,) = WINNER.settle([offer], [symbol])
        if float(truths[symbol[0]]) not in release.interval:
            failed += math.fsum(likely)
            continue
        account = WINNER.advance(Account(), [offer], [release]) if charged else Account()
        level = math.exp(symbol_log_level(math.log(beta), 0.0, account.nats))
        failed += largest_within(likely, level)
    return failed


def largest_within(chances: Sequence[float], level: float) -> float:
    """The largest sum of some of these that is at most the level: greedy, which is a lower bound,
    or all of them."""
    total = 0.0
    for chance in sorted(chances, reverse=True):
        if total + chance <= level:
            total += chance
    return total


PRIORS = (None, CvScores((0.8, 0.5), 20))


@pytest.mark.parametrize("beta", [0.25, 0.5])
@pytest.mark.parametrize("cv", PRIORS)
def test_in_every_small_world_all_is_true_together(beta: float, cv: CvScores | None) -> None:
    worst = max(failure(beta, world, cv, charged=True) for world in worlds())
    assert 0 < worst <= beta


@pytest.mark.parametrize("beta", [0.25, 0.5])
@pytest.mark.parametrize("cv", PRIORS)
def test_a_winner_that_is_not_charged_breaks_the_promise(beta: float, cv: CvScores | None) -> None:
    assert max(failure(beta, world, cv, charged=False) for world in worlds()) > 1.2 * beta
