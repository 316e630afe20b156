"""Entries of the ledger. A kind's name carries a version, and its meaning never changes.

* ``open/3``: the first entry: what was declared, the table's keyed fingerprint and its columns.
* ``reserve/2``: a batch of offers, durable before data is touched; each counts its worst charge. It
  names what was asked, by whom and why, and each offer says what of it it is a look for.
* ``settle/2``: the symbols that came out of the batch, and the answers they stand for.
* ``told/1``: what follows from looks: a median, a difference, a refuted check. It charges
  nothing. For a call with a key, everything that was told.
* ``close/1``: asks and checks are ended for good, durable before anything else of the rows is read:
  from here on only described questions are answered.
* ``retire/1``: nothing new is answered any more; it may name what is to be asked instead.
* Columns that arrived later, and a leaderboard over them: `ledger.attachments`, `ledger.boards`.
* ``search/2``: a search space: its name, how many configurations it has, the questions declared of
  each, and with what part of the failure probability it was opened, after how many nats.
* ``final/2``: a last look: the same for its questions, with all that was left. Asks and checks are
  ended by it, and it is written in one commit with the reservation of its batch.
* ``winner/1``: a search space of which only the best configuration is told: its name, how many it
  has and the question that they are compared by. It takes no part of the failure probability.
* ``declared/1``: ranges, values, outcomes and the like that were declared after answers: all since
  the opening, with the part of the failure probability that texts about them have, or none.
* ``reopen/1``: the opening with another plan for the ledger's own questions, before any was asked.
* ``search/1``: a search space, opened before means of numbers kept to a planned half-width.
* ``final/1``: a last look, taken before means of numbers kept to a planned half-width.
* ``reveal/1``: the exact value of one statistic is shown, by an offer of its own. Asks and checks
  are ended by it, and it is written in one commit with the reservation.
* ``abandon/1``: the batch can never be finished (a Python function is gone, an engine cannot
  evaluate it); it keeps its charges.

Numbers in offers and answers are fractions of the question's range, which each item names; what
people asked, and were told, is in its own unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from holdfast.errors import LedgerTampered
from holdfast.ledger.chain import canonical
from holdfast.mechanisms.described import rule_from
from holdfast.mechanisms.mechanism import (
    LikelyWidth,
    Mechanism,
    Offer,
    Refuted,
    Release,
    Symbol,
    charged,
    in_own_unit,
    in_unit,
)
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Account, Closed
from holdfast.statistics.concentrated_rules import ConcentratedGroupRule, ConcentratedRule
from holdfast.statistics.derived import Estimate
from holdfast.statistics.description import floor_of_units, is_at_the_floor, units_of
from holdfast.statistics.entry import Better
from holdfast.statistics.mean import KnownVariance
from holdfast.statistics.player import Side, Verb
from holdfast.statistics.rule import Rule, Symbols, Told
from holdfast.statistics.vectors import VECTOR
from holdfast.theory.base.intervals import Interval

# What differences say, where one sign of them is better.
Judgement: TypeAlias = Literal["better", "worse", "cannot tell"]


def verdict_of(interval: Interval, better: Better | None) -> Judgement | None:
    """Verdict of the interval of a difference, where one sign of it is better."""
    if better is None:
        return None
    if interval.low <= 0 <= interval.high:
        return "cannot tell"
    return "better" if (interval.low > 0) == (better == "higher") else "worse"


_SIDES: Mapping[Verb, Mapping[Side, str]] = {
    "ask": {"at most": "<=", "at least": ">="},
    "check": {"at most": "<=", "at least": ">="},
    "gate": {"at most": "<", "at least": ">"},
}
_UNTOLD, _WOULD = "cannot tell yet", "or so would, if it is as large as it looks"
_TOO_SMALL = 0.05  # of the reach: no number of rows is worth naming for so small a difference
_DIFFERENCE = "difference("  # how the text of one begins
_ROUNDING = 1e-9  # intervals are rounded outwards by less than this part of themselves


@dataclass(frozen=True, slots=True)
class Request:
    """Request: the statistic by its canonical text, with the range of its values, and who asked.

    A `guess` is a number in its own unit, and with a `side` the bound that was claimed; `tolerance`
    the half-width that was named, or the one chosen by a `likely` width. `by` is who asked, `key`
    the call's own name: the same call made again with it is told the same. `table` is what was
    asked for where this is one of its groups or places: `avg(x) by origin`. If it is `unbounded`,
    low and high are those of a grid, and the truth may be beyond them.
    """

    question: str
    low: float
    high: float
    verb: Verb = "ask"
    guess: float | None = None
    side: Side | None = None
    tolerance: float | None = None
    better: Better | None = None
    why: str | None = None
    by: str | None = None
    key: str | None = None
    table: str | None = None
    unbounded: bool = False
    likely: LikelyWidth | None = None

    def body(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "likely"}
        return plain if self.likely is None else {**plain, "likely": self.likely._asdict()}

    @classmethod
    def read(cls, body: dict[str, Any]) -> Request:
        likely = LikelyWidth(**body["likely"]) if "likely" in body else None
        return cls(**{n: body[n] for n in cls.__slots__ if n != "likely"}, likely=likely)

    @property
    def vector(self) -> str | None:
        """The vector that was asked for, by its text, where this is one of its coordinates."""
        return self.table if (self.table or "").startswith(f"{VECTOR}(") else None

    def is_same(self, request: Request) -> bool:
        """Whether the same is asked, by whomever; a half-width that was chosen is none."""
        named = [None if each.likely else each.tolerance for each in (self, request)]
        alike = ("question", "verb", "guess", "side", "better")
        return named[0] == named[1] and all(getattr(self, n) == getattr(request, n) for n in alike)


@dataclass(frozen=True, slots=True)
class Asked:
    """One look of a batch: the offer, the range of its values, and what it is asked for.

    A `nonce` is drawn for a function, or a computed column, which is known by its name alone:
    another one may have the same name in another copy of the ledger, and must not have the same
    noise. A look `follows` a claim that was not confirmed, and says what is true instead. One that
    is `intersected` is told with what earlier answers imply of its question; one that is `folded`
    is an answer that settles a claim, whose line has the verdict. By its `subjects` an answer of a
    text question is found for others, of which it may imply something.
    """

    offer: Offer
    low: float
    high: float
    request: Request
    nonce: str | None = None
    follows: Refuted | None = None
    unbounded: bool = False
    intersected: bool = False
    folded: bool = False
    subjects: tuple[str, ...] = ()

    @property
    def is_part(self) -> bool:
        """Whether it is a part of what was asked: of something else, or of a refuted check."""
        return self.request.question != self.offer.question or self.follows is not None

    def is_line(self, symbol: Symbol) -> bool:
        """Whether it is all that is told of what was asked; a refuted check is told with more."""
        is_alone = not (self.is_part or self.intersected or self.folded)
        return is_alone and symbol != "not confirmed"

    def body(self, request: int) -> dict[str, Any]:
        return {
            "offer": self.offer.to_dict(),
            "low": self.low,
            "high": self.high,
            "for": request,
            "nonce": self.nonce,
            "follows": None if self.follows is None else list(self.follows),
            "unbounded": self.unbounded,
            **({"intersected": True} if self.intersected else {}),
            **({"folded": True} if self.folded else {}),
            **({"subjects": list(self.subjects)} if self.subjects else {}),
        }

    @classmethod
    def read_all(cls, body: dict[str, Any]) -> tuple[Asked, ...]:
        """Looks that an entry reserves."""
        requests = dict(enumerate(Request.read(each) for each in body["asked"]))
        return tuple(
            cls(
                Offer.from_dict(item["offer"]),
                item["low"],
                item["high"],
                requests[item["for"]],
                item["nonce"],
                None if item["follows"] is None else Refuted.read(*item["follows"]),
                item["unbounded"],
                _is_flagged(item, "intersected"),
                _is_flagged(item, "folded"),
                tuple(map(str, item.get("subjects", ()))),
            )
            for item in body["items"]
        )


def _is_flagged(item: Mapping[str, Any], name: str) -> bool:
    """Whether an item has a flag, which is written only where it is true."""
    if item.get(name, True) is not True:
        raise ValueError(f"{name} is {item[name]!r}")
    return name in item


@dataclass(frozen=True, slots=True)
class Recorded:
    """A look, or what follows from several; `value` and `interval` are in its own unit.

    What was asked has a `number`: the line of the ledger. A `look` at the data is counted, too,
    whether it was asked for itself or is a part of something, which alone has the number then;
    `parts` are the looks that something follows from, and `known` those of earlier answers that it
    was intersected with; where these `contradict` it, or each other, it was not.

    `value` is None where nothing is said. `claim` is what a check claimed, as parts of the range.
    `leaked` is what had leaked (nats) before its batch, `charge` what its own answer added, or the
    looks that were asked for it; `variance` is the bound that made its interval narrower;
    `revealed` is where the answer says that the sample's value is, as a part of the range. A
    described answer has `bits`, its `rule`, and the least and the greatest number of `rows` it may
    be about, and of those that are `missing` from them; a score names the column of the `member` of
    its search; `symbols` are what crossed the door for its `event`. `reach` is how far from the
    sample's value the test of a claim may reach, `profile` its concentration, where that is not a
    mean's, `alike` whether a claim's test is one for rows that are alike, `forecast` how likely it
    was said to be made good, if it was, and its level, `adjusted` the adjusted p of a gate that was
    shown with a grade. `subjects` are those of its question.
    """

    number: int | None
    look: int | None
    parts: tuple[int, ...]
    question: str
    status: str
    value: float | None
    interval: Interval
    range: Interval
    guess: float | None
    claim: tuple[float, float] | None
    tolerance: float | None
    charge: float
    leaked: float
    at: str
    request: Request
    mechanism: str | None
    receipt: str
    variance: KnownVariance | None
    revealed: Interval
    bits: float | None = None
    planned: bool = False
    rows: tuple[int, int] | None = None
    rule: Rule | None = None
    member: str | None = None
    reach: float | None = None
    profile: Mapping[str, Any] | None = None
    alike: bool | None = None
    missing: tuple[int, int] = (0, 0)
    event: str | None = None
    symbols: Symbols | None = None
    forecast: tuple[float, float] | None = None
    adjusted: float | None = None
    known: tuple[int, ...] = ()
    contradict: bool = False
    subjects: tuple[str, ...] = ()

    @property
    def known_text(self) -> str | None:
        """What earlier answers have to do with it, in words; None where that is nothing."""
        looks = f"look{'s' * (len(self.known) > 1)} {', '.join(map(str, self.known))}"
        if self.contradict:
            return f"{looks} contradict each other or this answer, so that nothing is implied"
        if not self.known:
            return None
        return f"{'narrower by' if self.parts else 'follows from'} {looks}"

    @property
    def refuted(self) -> Refuted | None:
        """Refuted claim that an answer follows; None if there is none."""
        if self.status != "not confirmed" or self.look is None or self.claim is None:
            return None
        return Refuted(self.look, self.claim, self.reach)

    @property
    def is_declared(self) -> bool:
        """Whether its interval rests on a concentration that the question itself declares."""
        declared = self.profile is not None and "gamma" in self.profile
        return declared or isinstance(self.rule, ConcentratedRule | ConcentratedGroupRule)

    @property
    def is_gate(self) -> bool:
        """Whether it says that something is shown, or is not."""
        return self.status in ("shown", "not shown")

    @property
    def why(self) -> str | None:
        """Reason why it was asked, as they said."""
        return self.request.why

    @property
    def part_of(self) -> str | None:
        """Question that it was asked for, if it is no line by itself."""
        return self.request.question if self.number is None else None

    @property
    def verdict(self) -> Judgement | None:
        """Verdict of a difference that was asked with `better`."""
        return verdict_of(self.interval, self.request.better)

    @property
    def half_width(self) -> float:
        """Half of the length of its interval."""
        return (self.interval.high - self.interval.low) / 2

    @property
    def part_of_range(self) -> Interval:
        """The interval as a part of the range; where that is one value, it is there."""
        low, high = self.range
        if low == high:
            return Interval(0.0, 0.0)
        ends = (min(high, max(low, end)) for end in self.interval)  # infinite, if it has no range
        first, last = ((end - low) / (high - low) for end in ends)
        return Interval(first, last)

    @property
    def length(self) -> str:
        """Length of a described question, in words; nothing for others."""
        return "" if self.bits is None else f"{self.bits:.1f} bits"

    def claims_as(self, request: Request) -> bool:
        """Whether it is about the same side of the same bound."""
        own = self.request
        return (own.verb, own.side, own.guess) == (request.verb, request.side, request.guess)

    @property
    def wants_tighter_range(self) -> bool:
        """Whether a tighter declared range would make it narrower, and more rows less so."""
        low, high = self.range
        if self.rule is None or self.rows is None or self.value is None or low == high:
            return False
        value = (self.value - low) / (high - low)
        return is_at_the_floor(self.rule, Told(value, self.part_of_range, self.rows))

    @property
    def floor(self) -> tuple[int, Interval] | None:
        """The number of units, and what no interval can exclude with so few, if that limits it."""
        low, high = self.range
        is_ask = self.request.verb == "ask" and self.rows is not None
        if not is_ask or self.value is None or low == high:
            return None
        value = (self.value - low) / (high - low)
        limit = floor_of_units(self.rule, value, self.part_of_range)
        if limit is None:
            return None
        units, parts = limit
        return units, Interval(*(in_unit(part, low, high) for part in parts))

    @property
    def estimate(self) -> Estimate:
        """Estimate for a statistic that it is a part of; what says nothing is anywhere."""
        low, high = self.interval if all(map(math.isfinite, self.interval)) else self.range
        value = low + (high - low) / 2 if self.value is None else self.value
        return Estimate(value, self.interval, refuted=self.status == "not confirmed")

    @property
    def shown(self) -> str:
        """The value in the digits that its interval has; a one-sided claim as it was made."""
        if self.value is None:
            return "-"
        if self.side is not None:
            return f"{self.side} {self.guess:.13g}"
        return self.interval.value_text(self.value, self.range)

    @property
    def interval_text(self) -> str:
        """The interval beside its declared range; of a difference, which side of 0 it is on."""
        text = self.interval.text(self.range)
        if not self.question.startswith(_DIFFERENCE) or 0.0 in self.interval:
            return text
        return f"{text} {'above' if self.interval.low > 0 else 'below'} 0"

    @property
    def outlook(self) -> str | None:
        """Rows, or units, that a difference on neither side of 0 would take, as far as is told.

        Its width falls by the root of their number.
        """
        undecided = self.question.startswith(_DIFFERENCE) and 0.0 in self.interval
        if not undecided or self.value is None or self.rows is None or self.request.verb != "ask":
            return None
        reach = max(-self.interval.low, self.interval.high) - abs(self.value)
        if reach <= 0.0 or abs(self.value) < reach * _TOO_SMALL:
            return _UNTOLD
        units = units_of(self.rule)
        many = (units or self.rows[1]) * (reach / abs(self.value)) ** 2
        digits = 10 ** max(0, math.floor(math.log10(many)) - 1)
        noun = "rows" if units is None else "units"
        return f"{_UNTOLD}: {math.ceil(many / digits) * digits:,} {noun} {_WOULD}"

    @property
    def side(self) -> str | None:
        """Side of its value that a confirmed or shown one-sided claim is about."""
        if self.status not in ("confirmed", "shown") or self.claim is None or self.guess is None:
            return None
        low, high = self.claim
        if low == 0.0 and self.interval.high - self.guess <= _ROUNDING * self.half_width:
            return _SIDES[self.request.verb]["at most"]
        if high == 1.0 and self.guess - self.interval.low <= _ROUNDING * self.half_width:
            return _SIDES[self.request.verb]["at least"]
        return None

    @property
    def claimed(self) -> str | None:
        """Claim that was made in vain, in words; None where nothing was."""
        request = self.request
        if self.value is not None or request.verb == "ask" or request.guess is None:
            return None
        if request.side is not None:
            return f"{_SIDES[request.verb][request.side]} {request.guess:.13g}"
        return f"about {request.guess:.13g}, and not answered"


def reservation(at: str, mechanism: str, batch: Sequence[Asked]) -> dict[str, Any]:
    """The entry that makes a batch's worst charges durable."""
    distinct = dict.fromkeys(each.request for each in batch)
    requests = {request: place for place, request in enumerate(distinct)}
    return {
        "kind": "reserve/2",
        "at": at,
        "mechanism": mechanism,
        "asked": [request.body() for request in requests],
        "items": [each.body(requests[each.request]) for each in batch],
    }


def settlement(
    at: str, reserved: int, symbols: Sequence[Symbol], releases: Sequence[Release]
) -> dict[str, Any]:
    """The entry that says what came out of a reserved batch."""
    answers = [
        {
            "number": release.number,
            "status": release.status,
            "value": release.value,
            "low": release.interval.low,
            "high": release.interval.high,
            "charge": release.charge,
            "rows": None if release.rows is None else list(release.rows),
        }
        for release in releases
    ]
    return {
        "kind": "settle/2",
        "at": at,
        "reserve": reserved,
        "symbols": [list(each) if isinstance(each, tuple) else each for each in symbols],
        "answers": answers,
    }


def abandonment(at: str, reserved: int, reason: str) -> dict[str, Any]:
    """The entry that gives up a reserved batch; its worst charges stay."""
    return {"kind": "abandon/1", "at": at, "reserve": reserved, "reason": reason}


def telling(at: str, key: str | None, lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The entry that says what was told beside the looks themselves."""
    return {"kind": "told/1", "at": at, "key": key, "lines": list(lines)}


# The entries that end a ledger: for asks and checks, or for everything.


ENDING = ("close/1", "reveal/1", "retire/1")


def closing(at: str, why: str) -> dict[str, str]:
    """The entry that ends asks and checks."""
    return {"kind": "close/1", "at": at, "why": why}


def revelation(at: str, question: str) -> dict[str, str]:
    """The entry that ends them with one exact value, whose reservation is in the same commit."""
    why = "the exact value of a statistic was revealed"
    return {"kind": "reveal/1", "at": at, "why": why, "question": question}


def retirement(at: str, why: str, successor: str | None) -> dict[str, Any]:
    """The entry after which nothing new is answered."""
    return {"kind": "retire/1", "at": at, "why": why, "successor": successor}


def ended(account: Account, body: Mapping[str, Any]) -> Account:
    """The account after such an entry; once closed it can only be retired, and that once."""
    before, retired = account.closed, body["kind"] == "retire/1"
    if before and (before.retired or not retired):
        raise LedgerTampered("the ledger is closed again, after it was closed for good.")
    closed = Closed(body["at"], body["why"], retired, body["successor"] if retired else None)
    after = replace(account, closed=closed)
    if body["kind"] != "reveal/1":
        return after
    from holdfast.mechanisms.reveal import to_be_revealed

    return to_be_revealed(after, body["question"])


def last_to_answer(account: Account, mechanism: Mechanism) -> Mechanism | None:
    """Mechanism that shows an exact value after such an entry, if any; few ledgers load it."""
    if account.closed is None:
        return None
    from holdfast.mechanisms.reveal import revealing

    return revealing(mechanism)


# Where the noise of a question is drawn from: an address that says all that is public about it.
#
# The address is a digest of the table's fingerprint, the mechanism (its law) and the whole offer:
# number, question, tolerance, grid, reach, radius, claim, prior and the rest. So in two copies of
# a ledger (a backup that was put back, a folder that was copied) another question, or the same
# one at another tolerance, has fresh noise, and no difference of two answers is free of it; and
# the very same offer has the very same noise, so that asking copies and averaging gains nothing.
# That is also why neither time nor `why`, nor the hash of the entry before, which holds those of
# earlier questions, nor the rest of the batch is in it. All of it is in the reservation, so an
# unfinished one is finished with the same noise.


_KIND = "holdfast noise/2"  # 1 was the number of the question alone


def noise_of_batch(
    secret: bytes, fingerprint: str, mechanism: str, batch: Sequence[Asked]
) -> Callable[[int], Noise]:
    """The noise of each question of a batch by its number; of any other number, one shared stream.

    What a mechanism shares among questions (a partition, a threshold) must not depend on who asks.
    """
    all_share = {"table": fingerprint, "law": mechanism}
    own = {each.offer.number: each for each in batch}

    def noise(number: int) -> Noise:
        each = own.get(number)
        address: dict[str, Any] = {"shared": number}
        if each is not None:
            address = {"offer": each.offer.to_dict(), "nonce": each.nonce}
        facts = canonical({**all_share, **address})
        return Noise(secret, f"{_KIND} {sha256(facts.encode()).hexdigest()}")

    return noise


# A reserved batch, and its answers as the ledger tells them, in the question's own unit.


@dataclass(frozen=True, slots=True)
class Pending:
    """A batch that was reserved and not settled."""

    seq: int
    mechanism: Mechanism
    asked: tuple[Asked, ...]


def require_numbered(pending: Pending, first: int) -> None:
    """Refuse a batch whose looks are not the next ones."""
    numbers = [each.offer.number for each in pending.asked]
    if not numbers or numbers != list(range(first, first + len(numbers))):
        raise LedgerTampered(
            f"entry {pending.seq} of the ledger reserves questions {numbers}; the next is {first}."
        )


def require_settled(pending: Pending | None, seq: int, doing: str) -> None:
    """Refuse an entry that comes in the middle of a batch."""
    if pending is not None:
        raise LedgerTampered(
            f"entry {seq} of the ledger {doing} while entry {pending.seq} is not finished."
        )


def recorded(
    reserved: Asked,
    release: Release,
    symbol: Symbol,
    at: str,
    receipt: str,
    leaked: float,
    mechanism: Mechanism,
    number: int | None,
) -> Recorded:
    """One answer of a batch, as the ledger tells it; `number` is that of its line."""
    offer, limits = reserved.offer, Interval(reserved.low, reserved.high)
    extra = offer.extra or {}
    rule = None if offer.bits is None else rule_from(extra["rule"])
    own = in_own_unit(
        offer, release, limits, rule, unbounded=reserved.unbounded, refuted=reserved.follows
    )
    return Recorded(
        number=number,
        look=release.number,
        parts=(),
        question=offer.question,
        status=release.status,
        value=own.value,
        interval=own.interval,
        range=limits,
        guess=own.guess,
        claim=offer.claim,
        tolerance=offer.tolerance,
        charge=release.charge,
        leaked=leaked,
        at=at,
        request=reserved.request,
        mechanism=mechanism.name,
        receipt=receipt,
        variance=offer.variance,
        revealed=own.revealed,
        reach=None if offer.claim is None else offer.radius,
        bits=offer.bits,
        planned=bool(extra.get("planned")),
        rows=release.rows,
        missing=release.missing,
        rule=rule,
        member=release.member if offer.bits is None else extra.get("member"),
        profile=offer.profile,
        alike=extra.get("alike"),
        event=None if offer.bits is None else extra.get("event"),
        symbols=tuple(symbol) if isinstance(symbol, list | tuple) else None,
        forecast=own.forecast,
        adjusted=release.adjusted,
        subjects=reserved.subjects,
    )


def releases_of(seq: int, body: dict[str, Any], pending: Pending) -> list[Release]:
    """The answers that follow from a batch's symbols; they must be the ones that are stated."""
    offers = [each.offer for each in pending.asked]
    releases = pending.mechanism.settle(offers, body["symbols"])
    if settlement(body["at"], pending.seq, body["symbols"], releases) != body:
        raise LedgerTampered(
            f"entry {seq} of the ledger states answers that do not follow from its symbols."
        )
    return releases


def at_worst(account: Account, pending: Pending) -> Account:
    """The account after a batch that keeps its worst charges."""
    offers = [each.offer for each in pending.asked]
    return charged(account, offers, [offer.worst_charge for offer in offers])


@contextmanager
def reading_entry(place: str) -> Iterator[None]:
    """Guard: an entry that makes no sense was not written by this software."""
    try:
        yield
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise LedgerTampered(
            f"{place} of the ledger cannot be read ({error!r}); it was not written by "
            "this software, or by a newer version of it."
        ) from error
