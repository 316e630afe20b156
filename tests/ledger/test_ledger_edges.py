"""What entries may say, and what is told of them, each exactly at its edge."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from holdfast.data.sampling import Independent
from holdfast.errors import InvalidArgument, LedgerTampered
from holdfast.ledger.attachments import AttachedColumn, BoardRecord, BoardTerms, TurnedAway
from holdfast.ledger.composites import claim_verdict, read_whole
from holdfast.ledger.dictionaries import Dictionary
from holdfast.ledger.entries import Recorded, Request, closing, ended, retirement, revelation
from holdfast.ledger.implied import Implied
from holdfast.ledger.secret import SECRET_BYTES, decrypted, encrypted, secret_itself
from holdfast.ledger.subjects import further_condition
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question import Schema, parse_row
from holdfast.question.bounds import Range
from holdfast.question.expression import ColumnType, Expression, Op
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Table
from holdfast.theory.base.intervals import Interval
from tests import seam

apart, joined, linear, meet = map(
    seam.real,
    (seam.IMPLIED_APART, seam.IMPLIED_JOINED, seam.IMPLIED_LINEAR, seam.IMPLIED_MEET),
)
SECRET = bytes(range(SECRET_BYTES))
SCHEMA = Schema(dict.fromkeys("abc", ColumnType.BOOLEAN))
TERMS = Terms(1_000, 0.1, 0.95, 20, Independent())


def recorded(interval: tuple[float, float], value: float | None = None, **others: Any) -> Recorded:
    """A line with this answer."""
    request = Request("avg(a)", 0.0, 1.0, **others)
    body = {
        "request": request.body(),
        "interval": interval,
        "line": 1,
        "parts": [],
        "status": "answered",
        "value": value,
        "charge": 0.0,
        "rows": [900, 1_000],
    }
    return read_whole(body, "now", "receipt")


# Verdicts and words -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "side", "guess", "verdict"),
    [
        ("check", "at least", 0.2, True),
        ("check", "at least", 0.21, None),
        ("check", "at least", 0.6, None),
        ("check", "at least", 0.61, False),
        ("gate", "at least", 0.2, None),
        ("gate", "at least", 0.19, True),
        ("gate", "at least", 0.6, False),
        ("gate", "at least", 0.59, None),
        ("check", "at most", 0.6, True),
        ("check", "at most", 0.59, None),
        ("check", "at most", 0.2, None),
        ("check", "at most", 0.19, False),
        ("gate", "at most", 0.6, None),
        ("gate", "at most", 0.61, True),
        ("gate", "at most", 0.2, False),
        ("check", None, 0.4, None),
        ("ask", None, None, None),
    ],
)
def test_a_claim_is_settled_by_an_interval_beyond_it(
    verb: Any, side: Any, guess: float | None, verdict: bool | None
) -> None:
    """The interval is [0.2, 0.6]; what is gated must be beyond its bound strictly."""
    request = Request("avg(a)", 0.0, 1.0, verb=verb, side=side, guess=guess)
    question = bind("avg(a)", Table(SCHEMA))
    assert claim_verdict(request, question, Interval(0.2, 0.6), TERMS) is verdict


def test_a_difference_tells_how_many_rows_it_would_take() -> None:
    def outlook(value: float, low: float, high: float) -> str | None:
        line = recorded((low, high), value)
        return replace(line, question="difference(a, b)").outlook

    # Of 1,000 rows the further end is 0.2 from 0.1: four times as many make it half.
    assert outlook(0.1, -0.1, 0.3) == (
        "cannot tell yet: 4,000 rows or so would, if it is as large as it looks"
    )
    assert outlook(-0.1, -0.3, 0.1) == outlook(0.1, -0.1, 0.3)
    assert outlook(0.1, 0.01, 0.3) is None
    assert outlook(0.1, -0.1, 0.1) == "cannot tell yet"
    assert outlook(0.01, -0.2, 0.21) == "cannot tell yet: 400,000 rows or so would, " + (
        "if it is as large as it looks"
    )
    assert outlook(0.0099, -0.2, 0.2099) == "cannot tell yet"  # below a twentieth of its reach
    assert recorded((-0.1, 0.3), 0.1).outlook is None
    below = replace(recorded((-0.3, -0.1), -0.2), question="difference(a, b)")
    above = replace(recorded((0.1, 0.3), 0.2), question="difference(a, b)")
    assert (below.interval_text[-7:], above.interval_text[-7:]) == ("below 0", "above 0")


def test_what_says_nothing_is_in_the_middle_of_where_it_can_be() -> None:
    line = replace(recorded((0.2, 0.6)), range=Interval(-2.0, 4.0))
    assert line.estimate.value == pytest.approx(0.4)
    assert replace(line, interval=Interval(-math.inf, 0.6)).estimate.value == 1.0
    assert replace(line, value=0.3).estimate.value == 0.3


def test_a_part_of_a_range_is_inside_it() -> None:
    line = replace(recorded((-math.inf, 3.0), 1.0), range=Interval(-1.0, 3.0))
    assert line.part_of_range == Interval(0.0, 1.0)
    assert replace(line, interval=Interval(0.0, 2.0)).part_of_range == Interval(0.25, 0.75)
    assert replace(line, range=Interval(2.0, 2.0)).part_of_range == Interval(0.0, 0.0)
    assert replace(line, interval=Interval(1.0, 2.0)).half_width == 0.5


@pytest.mark.parametrize(
    ("claim", "interval", "side"),
    [
        ((0.0, 0.5), (0.0, 0.5), "<="),
        ((0.0, 0.5), (0.0, 0.5 + 1e-11), "<="),
        ((0.0, 0.5), (0.0, 0.6), None),
        ((0.5, 1.0), (0.5, 1.0), ">="),
        ((0.5, 1.0), (0.5 - 1e-11, 1.0), ">="),
        ((0.5, 1.0), (0.4, 1.0), None),
        ((0.4, 0.6), (0.4, 0.5), None),
    ],
)
def test_a_claim_is_shown_by_its_side(
    claim: tuple[float, float], interval: tuple[float, float], side: str | None
) -> None:
    line = recorded(interval, 0.5, verb="check", guess=0.5)
    assert replace(line, status="confirmed", claim=claim).side == side
    gated = replace(line, request=replace(line.request, verb="gate"), claim=claim)
    expected = side and side.replace("=", "")
    assert replace(gated, status="shown").side == expected
    assert replace(line, claim=claim).side is None


@pytest.mark.parametrize(
    ("side", "guess", "claim"),
    [
        ("at most", 1.0, (0.0, 0.5)),
        ("at least", 2.0, (0.75, 1.0)),
        (None, 1.0, None),
        ("at most", None, None),
    ],
)
def test_a_claim_of_one_side_is_a_part_of_the_range(
    side: Any, guess: float | None, claim: tuple[float, float] | None
) -> None:
    request = Request("avg(x)", -1.0, 3.0, verb="check", side=side, guess=guess)
    line = read_whole(
        {
            "request": request.body(),
            "interval": (-1.0, 3.0),
            "line": 1,
            "parts": [],
            "status": "confirmed",
            "value": 1.0,
            "charge": 0.0,
        },
        "now",
        "receipt",
    )
    assert line.claim == claim


# What entries may say -----------------------------------------------------------------------------


def dictionary(**others: Any) -> Dictionary:
    usual: dict[str, Any] = {
        "kind": "search/2",
        "name": "m",
        "size": 10,
        "questions": ("avg(m = a)",),
        "share": 0.5,
        "log_beta": -3.0,
        "nats": 0.1,
        "columns": 0,
        "at": "now",
    }
    return Dictionary(**usual | others)


FREE: dict[str, Any] = {"share": 0.0, "log_beta": 0.0, "nats": 0.0}
WINNER: dict[str, Any] = {"kind": "winner/1", "computed": True, **FREE}
DECLARED: dict[str, Any] = {"kind": "declared/1", "size": 1, "added": {}, "share": 0.3}


@pytest.mark.parametrize(
    "others",
    [{}, {"kind": "final/2", "share": 1.0}, WINNER, DECLARED, {**DECLARED, **FREE}, {"size": 1}],
)
def test_a_dictionary_is_read_as_it_was_declared(others: dict[str, Any]) -> None:
    made = dictionary(**others)
    assert Dictionary.read(made.body()) == made
    assert made.is_last is (made.kind == "final/2")
    assert made.contains_means is (made.kind != "winner/1")


@pytest.mark.parametrize(
    "others",
    [
        {"size": 0},
        {"share": 0.0, "log_beta": 0.0, "nats": 0.0},
        {"share": 1.0},
        {"kind": "final/2"},
        {"added": {}},
        {**DECLARED, "added": None},
        {**DECLARED, "size": 2},
        {**DECLARED, **FREE, "nats": 0.1},
        {**DECLARED, **FREE, "log_beta": -1.0},
        {**WINNER, "computed": False},
        {**WINNER, "share": 0.5},
        {**WINNER, "log_beta": -1.0},
        {**WINNER, "nats": 0.1},
    ],
)
def test_a_dictionary_that_cannot_have_been_declared_is_refused(others: dict[str, Any]) -> None:
    with pytest.raises((ValueError, InvalidArgument)):
        dictionary(**others)


def test_members_are_numbered_below_the_size() -> None:
    made = dictionary()
    assert [made.member_of(made.column(each)) for each in (0, 9, 10)] == [0, 9, None]
    assert [made.member_of(each) for each in ("m", "n[1]", "m[01]", "m[-1]", "m[1] ")] == [None] * 5


def test_a_ledger_is_closed_once_and_retired_once() -> None:
    closed = ended(Account(), closing("now", "it is enough"))
    shown = ended(Account(), revelation("now", "avg(a)"))
    retired = ended(Account(), retirement("now", "old", "new"))
    assert (closed.closed, retired.closed) == (
        ("now", "it is enough", False, None),
        ("now", "old", True, "new"),
    )
    assert closed.memory == {}
    assert list(shown.memory.values()) == [{"question": "avg(a)", "shown": False}]
    for before in (closed, shown):
        assert ended(before, retirement("later", "old", None)).closed is not None
        with pytest.raises(LedgerTampered):
            ended(before, closing("later", "again"))
        with pytest.raises(LedgerTampered):
            ended(before, revelation("later", "avg(b)"))
    for body in (closing("later", "x"), retirement("later", "x", None)):
        with pytest.raises(LedgerTampered):
            ended(retired, body)


BOARD = BoardTerms("rmse", "y", Range(0.0, 2.0), public=True, wrong_claims=3, at="now", cap=1.5)


def test_a_board_is_declared_once_and_first() -> None:
    away = TurnedAway("team", None, "too late", "now").body()
    record = BoardRecord().after(BOARD.body())
    assert record.terms == BOARD == BoardTerms.read(BOARD.body())
    old = {name: each for name, each in BOARD.body().items() if name != "cap"}
    assert BoardTerms.read(old) == replace(BOARD, cap=None)
    after = record.after(away)
    assert after.turned_away == (TurnedAway("team", None, "too late", "now"),)
    again = BoardRecord()
    for body in after.bodies():
        again = again.after(body)
    assert again == after
    with pytest.raises(ValueError, match="once, and first"):
        BoardRecord().after(away)
    with pytest.raises(ValueError, match="once, and first"):
        record.after(BOARD.body())


COLUMN = AttachedColumn(
    "s", "s", "submitted", "d" * 64, ColumnType.FLOAT, Range(0.0, 1.0), "now", None
)


@pytest.mark.parametrize(
    "other",
    [
        {"origin": "found"},
        {"digest": None},
        {"digest": ""},
        {"origin": "computed", "digest": ""},
        {"keyless": True},
        {"scoring": {"task": 3}},
        {"scoring": {"task": "t", "format": None}},
    ],
)
def test_a_column_that_cannot_have_been_attached_is_refused(other: dict[str, Any]) -> None:
    body = COLUMN.body()
    assert AttachedColumn.read(body) == COLUMN
    scored = replace(COLUMN, scoring={"task": "t"})
    assert AttachedColumn.read(scored.body()).scoring == {"task": "t"}
    computed = replace(COLUMN, origin="computed", digest=None, keyless=True)
    assert AttachedColumn.read(computed.body()) == computed
    with pytest.raises(ValueError, match=r"."):
        AttachedColumn.read({**body, **other})


# Files that others can read -----------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"a", b"\x00\x00", bytes(range(256)) * 3])
def test_a_file_is_read_by_who_has_the_secret_under_its_name(content: bytes) -> None:
    file = encrypted(SECRET, "entry", content)
    assert decrypted(SECRET, "entry", file, "there") == content
    assert file == encrypted(SECRET, "entry", content)
    assert len(file) == 32 + len(content)
    assert len(content) < 8 or content not in file
    flipped = bytes([file[0] ^ 1]) + file[1:]
    longer = file + b"\x00"
    for secret, name, each in (
        (SECRET[::-1], "entry", file),
        (SECRET, "entries", file),
        (SECRET, "entry", flipped),
        (SECRET, "entry", longer),
        (SECRET, "entry", file[:-1]),
    ):
        with pytest.raises(LedgerTampered, match="'there' is not what was kept"):
            decrypted(secret, name, each, "there")


def test_a_secret_is_so_many_digits_and_no_others() -> None:
    assert secret_itself(SECRET.hex()) == SECRET == secret_itself(SECRET.hex().upper())
    for other in (SECRET.hex()[:-1], SECRET.hex() + "0", SECRET.hex()[:-1] + "g", None, 3):
        assert secret_itself(other) is None


# What follows from answers ------------------------------------------------------------------------


def condition(text: str) -> Expression:
    return parse_row(text, SCHEMA)


def test_a_group_has_one_condition_more() -> None:
    a, b = condition("a"), condition("b")
    both, three = condition("a and b"), condition("a and b and c")
    assert further_condition(both, a) == b
    assert further_condition(both, b) == a
    assert further_condition(a, None) == a
    assert further_condition(three, both) == condition("c")
    for group, inside in ((three, a), (both, both), (a, b), (None, None), (None, a), (b, both)):
        assert further_condition(group, inside) is None


def test_an_interval_is_narrower_by_more_than_a_rounding() -> None:
    implied = Implied(Interval(0.2, 0.6), (3,), (1, 2))
    assert implied.looks == (1, 2, 3)
    assert implied.narrowing(Interval(0.1, 0.7)) == (1, 2, 3)
    assert implied.narrowing(Interval(0.1, 0.6)) == (3,)
    assert implied.narrowing(Interval(0.2, 0.7)) == (1, 2)
    assert implied.narrowing(Interval(0.2, 0.6)) == ()
    assert implied.narrowing(Interval(0.2 - 1e-10, 0.6 + 1e-10)) == ()
    assert implied.narrowing(Interval(0.2 - 1e-9, 0.6)) == (3,)
    assert implied.narrowing(Interval(-math.inf, 0.6 + 1e-8)) == (1, 2, 3)
    assert replace(implied, interval=None).narrowing(Interval(0.0, 1.0)) == ()


def test_what_follows_names_the_looks_of_both_of_its_ends() -> None:
    first, second = Implied(Interval(0.2, 0.6), (1,), (2,)), Implied(Interval(0.3, 0.9), (3,), (4,))
    nothing = Implied(None, (5,), (6,))
    met = meet([first, None, second])
    assert met is not None
    assert (met.interval, met.low_from, met.high_from) == (Interval(0.3, 0.6), (3,), (2,))
    assert meet([None]) is None
    assert meet([first, nothing, None]) == nothing
    turned, same = linear(first, -1, 1), linear(first, 1)
    assert turned is not None
    assert same is not None
    assert (turned.low_from, turned.high_from) == ((2,), (1,))
    assert turned.interval is not None
    assert turned.interval == pytest.approx((0.4, 0.8))
    assert (same.low_from, same.high_from) == ((1,), (2,))
    assert (linear(None, 1), linear(nothing, -1)) == (None, nothing)
    between = apart(second, first)
    assert between is not None
    assert (between.low_from, between.high_from) == ((3, 2), (4, 1))
    assert between.interval is not None
    assert between.interval.low == pytest.approx(-0.3)
    assert between.interval.high == pytest.approx(0.7)
    assert (apart(None, first), apart(first, nothing), apart(nothing, None)) == (
        None,
        nothing,
        nothing,
    )
    assert apart(first, Implied(Interval(-math.inf, 0.5), (7,), (8,))) is None


def test_shares_of_conditions_bound_that_of_both_and_of_either() -> None:
    high, low = Implied(Interval(0.8, 0.9), (1,), (2,)), Implied(Interval(0.3, 0.4), (3,), (4,))
    both, either = joined(Op.AND, [high, low]), joined(Op.OR, [high, low])
    assert both is not None
    assert either is not None
    assert both.interval == pytest.approx((0.1, 0.4))
    assert (both.low_from, both.high_from) == ((1, 3), (4,))
    assert either.interval == pytest.approx((0.8, 1.0))
    assert (either.low_from, either.high_from) == ((1,), (2, 4))
    one = joined(Op.AND, [low, None])
    assert one is not None
    assert one.interval == pytest.approx((0.0, 0.4))
    other = joined(Op.OR, [None, low])
    assert other is not None
    assert other.interval == pytest.approx((0.3, 1.0))
    assert joined(Op.AND, [None, None]) is None
    nothing = Implied(None, (5,), (6,))
    assert joined(Op.AND, [high, nothing, None]) == nothing


def test_at_the_ends_of_a_range_a_quantile_implies_no_share() -> None:
    level = seam.real(seam.LEVEL_OF_QUANTILE)("x", Fraction(1, 2), Interval(0.0, 10.0))
    assert len(level.shares(Interval(2.0, 8.0))) == 2
    assert len(level.shares(Interval(0.0, 8.0))) == len(level.shares(Interval(2.0, 10.0))) == 1
    assert len(level.shares(Interval(0.0, 10.0))) == 0
