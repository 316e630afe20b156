"""The price of questions before they are asked: their plays rehearsed without data."""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.errors import BudgetExhausted, InvalidQuestion, Refused, Shortfall
from holdfast.holdout.batch import by_mechanism, event_of, has_description, is_described
from holdfast.holdout.budget import Budget, question_kind, stages_to_ask
from holdfast.holdout.desk import Desk
from holdfast.holdout.plays import implied_claim, line_of_claim, plays_to_run, wish_of
from holdfast.holdout.request import ClaimGrounds, Guess, claim_grounds
from holdfast.mechanisms.mechanism import Mechanism, Offer, Release, Status, Wish, charged, in_unit
from holdfast.mechanisms.terms import Account
from holdfast.statistics.bind import short_name
from holdfast.statistics.derived import Estimate, Subquestion
from holdfast.statistics.description import sure_half_width
from holdfast.statistics.entry import Bound
from holdfast.statistics.labelled import Labelled
from holdfast.statistics.player import Due, played
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic, is_single, is_unbounded
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import largest_integer
from holdfast.wording import at_most, plural

# What a question costs, before it is asked.


_PLAIN_COSTS = (
    "question",
    "half_width",
    "least",
    "questions",
    "tolerance",
    "bits",
    "closes",
    "candidates",
    "unbounded",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a question would cost, before it is asked. Free to know, and nothing of the data.

    `least` is what it costs when every guess is confirmed, `most` what it costs at worst: infinite
    where surprises may use up all that is left. `questions` counts the new ledger questions it
    takes at most, 0 for a repeat; `half_width` is None where it follows from answers that are not
    known yet, and `tolerance` is the same as a part of the range, or of the unit of what has none.

    A described question has `bits` and takes no budget; its half-width is the one that is sure.
    What it costs are nats to those that come later without a description. `left` is how many such
    questions can be asked now, like the one it is about, `left_after` how many if all guesses are
    confirmed, and at worst. With
    `closes`, asks and checks end with it, for good. A gate costs `least` if nothing is shown, and
    one of the `candidates` that are left, in words. A claim that earlier answers settle is free; it
    `follows` from these lines of the ledger. Its text is for people, `details` says the nats.
    """

    question: str
    half_width: float | None
    least: float
    most: float
    questions: int
    tolerance: float | None = None
    bits: float | None = None
    left: int = 0
    left_after: tuple[int, int] = (0, 0)
    closes: bool = False
    candidates: str | None = None
    unbounded: bool = False
    follows: tuple[int, ...] = ()
    name: str = field(default="", compare=False)  # what people call the question

    @property
    def repeated(self) -> bool:
        """Whether it has been answered before."""
        return self.questions == 0 and not self.closes and not self.follows

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "question": self.question,
            "half_width": self.half_width,
            "tolerance": self.tolerance,
            "bits": self.bits,
            "least": self.least,
            "most": self.most if math.isfinite(self.most) else None,
            "questions": self.questions,
            "questions_left": self.left,
            "questions_left_if_confirmed": self.left_after[0],
            "questions_left_after": self.left_after[1],
            "repeated": self.repeated,
            "closes": self.closes,
            "candidates": self.candidates,
            "unbounded": self.unbounded,
            "follows": list(self.follows),
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Cost:
        """The cost that `to_dict` told."""
        return cls(
            **{name: body[name] for name in _PLAIN_COSTS},
            most=math.inf if body["most"] is None else body["most"],
            left=body["questions_left"],
            left_after=(body["questions_left_if_confirmed"], body["questions_left_after"]),
            follows=tuple(body["follows"]),
        )

    def __str__(self) -> str:
        name = self.name or self.question
        if self.closes:
            return (
                f"{name}: looks up the groups in the protected rows, which closes asks "
                "and checks for good; each group is then a text question, and costs nothing"
            )
        if self.follows:
            named = "line" if len(self.follows) == 1 else "lines"
            numbers = ", ".join(f"{each:,}" for each in self.follows)
            return f"{name}: free: it follows from {named} {numbers}"
        if self.repeated:
            return f"{name}: asked before, so repeating it is free"
        if self.candidates is not None:
            likely = self.most == self.least  # where it is forecast to be shown
            none = "" if likely else "almost nothing else if it is not shown; "
            return (
                f"{name}: takes one candidate, with {self.candidates} now; {none}if it is shown, "
                "later gains are harder to show"
            )
        if self.bits is None:
            return f"{name}: {self._width}; {self._price}"
        later = f"; of questions about later columns or functions it {self._price}"
        return f"{name}: text question, no limit; {self._width}{later if self.left else ''}"

    __repr__ = __str__

    @property
    def details(self) -> str:
        """Bookkeeping in words: its length, and the nats that it leaks."""
        length = [] if self.bits is None else [f"length {self.bits:.1f} bits"]
        worst = f"{self.most:.4g} nats" if math.isfinite(self.most) else "all that is left"
        best = "if it is not shown" if self.candidates is not None else "if confirmed"
        nats = worst if self.least == self.most else f"{self.least:.4g} {best}, {worst} at worst"
        return " · ".join([*length, f"cost {nats}"])

    def _repr_html_(self) -> str:
        question, _, facts = str(self).partition(": ")
        return f"<div><b>{html.escape(question)}</b><br><small>{html.escape(facts)}</small></div>"

    @property
    def _width(self) -> str:
        if self.half_width is None:
            if self.bits is not None:
                return "the half-width is told with the answer"
            return f"takes up to {plural(self.questions, 'question')}"
        sure = "half-width" if self.bits is None else "half-width at most"
        if self.tolerance in (None, self.half_width):
            return f"{sure} {at_most(self.half_width)}"
        whole = "its unit" if self.unbounded else "the range"
        return f"{sure} {at_most(self.tolerance)} of {whole} = {at_most(self.half_width)}"

    @property
    def _price(self) -> str:
        confirmed, worst = self.left_after
        if self.left == 0 and math.isinf(self.most):
            return "almost free if confirmed, all that is left at worst"
        if self.left == 0:
            later = "later answers without a description are wider"
            return later if self.least == self.most else f"almost free if confirmed; else {later}"
        if self.least == self.most:
            return f"takes {self._spent(worst)}"
        at_worst = self._spent(worst) if math.isfinite(self.most) else "all that is left"
        return f"takes {self._spent(confirmed)} if confirmed, {at_worst} at worst"

    def _spent(self, after: int) -> str:
        """How many of the questions that are left it takes."""
        return f"about {self.left - after:,} of {self.left:,} left"


# What is expected of a check and of a gate, and what is not.
_OUTCOMES: Mapping[bool, tuple[Status, Status]] = {
    False: ("confirmed", "not confirmed"),
    True: ("not shown", "shown"),
}


@dataclass(slots=True)
class _Rehearsal:
    """A run of plays in public: what the ledger knows answers, and for the rest a stand-in does.

    A claim of the analyst's is confirmed, or with `surprised` refuted; of anything else that is
    asked anew nothing is known, which makes every search as long as it can be. The questions
    may be the coordinates of one `vector`. `batches` are the new ones, as they would be put
    together.
    """

    desk: Desk
    questions: Sequence[Bound]
    guess: Guess
    tolerance: float | None
    surprised: bool
    vector: str | None = None
    batches: list[list[Wish]] = field(default_factory=list)
    looks: set[int] = field(default_factory=set)  # of the ledger, that answer parts
    _claims: list[ClaimGrounds] = field(default_factory=list)
    _seen: set[object] = field(default_factory=set)
    _unsure: set[int] = field(default_factory=set)  # plays in which something was a stand-in

    def run(self) -> list[list[Wish]]:
        """The new questions, batch by batch."""
        self._claims = [claim_grounds(self.desk, each, self.guess) for each in self.questions]
        plays = plays_to_run(self.desk, self.questions, self.guess, self.tolerance, self._claims)
        played(plays, self._put, self._shortened)
        return self.batches

    def _shortened(self, place: int, due: Sequence[Subquestion]) -> Sequence[Subquestion] | None:
        """Nothing more of a claim that was told before; None if it goes on."""
        if place in self._unsure:
            return None
        width = self.guess.tolerance_at(place, self.tolerance)
        question, claim = self.questions[place], self._claims[place]
        told = line_of_claim(self.desk, question, claim, self.guess, place, due, width)
        return None if told is None else []

    def _put(self, batch: Due) -> list[Estimate]:
        fresh: list[Wish] = []
        estimates = [self._estimate(place, part, fresh) for place, part in batch]
        self.batches.extend(by_mechanism(fresh))
        return estimates

    def _estimate(self, place: int, part: Subquestion, fresh: list[Wish]) -> Estimate:
        statistic, claims = part.statistic, part.guess is not None
        wanted = self.guess.tolerance_at(place, self.tolerance)
        t = self.desk.half_width(wanted, statistic)
        if claims:
            wish = self._claims[place].claim(part, t, wanted)
        elif part.refuted:
            most = max(t, self.desk.half_width(None, statistic))
            wish = Wish(statistic, most, narrow=True)
        else:
            # A half-width that was chosen is that of the claim alone.
            named = None if self.guess.likely else self.tolerance
            wish = wish_of(self.desk, statistic, self.guess, named)
        # In a search, and of what is claimed, which part it is follows from the answers before.
        question = self.questions[place]
        depends = claims or isinstance(question, Quantile) or is_unbounded(question)
        unsure = depends and place in self._unsure
        look = None if unsure else self.desk.stored(wish)
        if look is not None:
            self.looks.add(look.look or 0)
            return look.estimate
        self._unsure.add(place)
        claim = wish.claim if claims else wish.claim is None  # a guess is one, whatever it is
        key = (place if unsure else None, event_of(statistic) or statistic.text, claim)
        if key not in self._seen:
            self._seen.add(key)
            fresh.append(replace(wish, vector=self.vector))
        if wish.claim is None:
            return _stand_in(statistic, None)
        # What is claimed to ask for it is as if it were refuted: then nothing is known of it.
        confirmed = claims and not self.surprised
        estimate = _stand_in(statistic, wish.claim if confirmed else None)
        return replace(estimate, refuted=self.surprised and not wish.gated)


def _stand_in(statistic: Statistic, claim: tuple[float, float] | None) -> Estimate:
    """An answer that is what was claimed, or says nothing."""
    low, high = (0.0, 1.0) if claim is None else (max(0.0, claim[0]), min(1.0, claim[1]))
    first, last = (in_unit(end, statistic.low, statistic.high) for end in (low, high))
    return Estimate(first + (last - first) / 2, Interval(first, last))


@dataclass(frozen=True, slots=True)
class _Price:
    """Nats if all guesses are confirmed, nats at worst, and how many questions are new.

    `left` is how many more like them can be asked now, `left_after` how many then, in both cases.
    `tolerance` is the half-width of the last new one, as a part of its range; `looks` are those of
    the ledger that answer parts.
    """

    least: float
    most: float
    questions: int
    left: int
    left_after: tuple[int, int]
    tolerance: float
    looks: frozenset[int]


@dataclass(frozen=True, slots=True)
class Worst:
    """The account after the dearest way so far: with no surprise counted, and with all of them.

    More leaked makes every later charge higher. How many of the guesses were refuted sets the prior
    of a surprise, and a charge is highest at one of its ends.
    """

    least_surprised: Account
    most_surprised: Account

    @property
    def accounts(self) -> tuple[Account, Account]:
        """Both."""
        return self.least_surprised, self.most_surprised

    def after(self, desk: Desk, wishes: Sequence[Wish]) -> tuple[Worst, float]:
        """One batch later, and what it costs at worst; refused where nothing may be left for it."""
        mechanism, fewer = desk.offers(wishes, self.least_surprised)
        _, more = desk.offers(wishes, self.most_surprised)
        charges = [
            max(less.worst_charge, greater.worst_charge)
            for less, greater in zip(fewer, more, strict=True)
        ]
        if wishes[0].claim is None:
            later = Worst(
                charged(self.least_surprised, fewer, charges),
                charged(self.most_surprised, more, charges),
            )
        else:
            expected, unexpected = _OUTCOMES[wishes[0].gated]
            later = Worst(
                _checked(mechanism, self.least_surprised, fewer, charges, expected),
                _checked(mechanism, self.most_surprised, more, charges, unexpected),
            )
        return later, sum(charges)


def _checked(
    mechanism: Mechanism,
    account: Account,
    offers: Sequence[Offer],
    charges: Sequence[float],
    status: Status,
) -> Account:
    """The account after checks that all came out alike, at these charges."""
    releases = [
        Release(offer.number, status, 0.0, Interval(0.0, 1.0), charge)
        for offer, charge in zip(offers, charges, strict=True)
    ]
    return mechanism.advance(account, offers, releases)


def cost_of(desk: Desk, question: Bound | Labelled, guess: Guess, tolerance: float | None) -> Cost:
    """The cost of a question; refused if the budget does not cover it.

    For that, guesses are taken to be confirmed: what surprises would leave is not known before.
    """
    several = isinstance(question, Labelled)
    members = [one for _, one in question.members] if isinstance(question, Labelled) else [question]
    vector = question.vector if isinstance(question, Labelled) else None
    price = _price_of(desk, members, guess, tolerance, vector)
    bits = [member.bits for member in members if has_description(member)]
    described = len(bits) == len(members)
    together = len({(each.low, each.high) for each in members}) == 1 and vector is not None
    part = None if several and not together else _sure_part(desk, members[0], price, tolerance)
    first = members[0] if is_single(members[0]) else None
    unit = 1.0 if first is None else first.unit(desk.transcript.terms.rows)
    name = short_name(members[0].text, desk.table.schema)
    return Cost(
        vector
        or (f"{members[0].text} and {len(members) - 1} more" if several else members[0].text),
        None if part is None else part * (members[0].high - members[0].low),
        price.least,
        price.most,
        min(price.questions, len(members)) if described else price.questions,
        None if part is None else part / unit,
        max(bits) if described else None,
        price.left,
        price.left_after,
        candidates=desk.budget().more_candidates if guess.gated and not described else None,
        unbounded=first is not None and first.unbounded,
        follows=_lines_behind(desk, members, guess, tolerance)
        or _lines_of_parts(desk, members, guess, price),
        name=f"{name} and {len(members) - 1} more" if several else name,
    )


def _lines_behind(
    desk: Desk, questions: Sequence[Bound], guess: Guess, tolerance: float | None
) -> tuple[int, ...]:
    """The lines that all claims of these questions follow from; none if one is put, or repeated."""
    looks: set[int] = set()
    for place, question in enumerate(questions):
        claim = (guess.verb, guess.of(place), guess.side, tolerance)
        requests = [each.request for each in desk.transcript.told_of(question.text)]
        repeated = claim in [
            (each.verb, each.guess, each.side, each.tolerance) for each in requests
        ]
        implied = implied_claim(desk, question, guess, place, tolerance)
        if repeated or implied is None:
            return ()
        looks.update(implied.looks)
    return _lines_of(desk, looks)


def _lines_of_parts(
    desk: Desk, questions: Sequence[Bound], guess: Guess, price: _Price
) -> tuple[int, ...]:
    """The lines that an ask follows from, where all of it was answered as something else."""
    transcript = desk.transcript
    if guess.verb != "ask" or price.questions or guess.rows is not None:
        return ()
    for question in questions:
        numbers = [look.number for look in transcript.looks_at(question.text)]
        if transcript.told_of(question.text) or any(number is not None for number in numbers):
            return ()
    return _lines_of(desk, price.looks)


def _lines_of(desk: Desk, looks: Collection[int]) -> tuple[int, ...]:
    """The first lines that tell these looks."""
    lines = desk.transcript.lines if looks else ()
    first = {
        look: line.number or 0
        for line in reversed(lines)
        for look in (line.look, *line.parts)
        if look in looks
    }
    return tuple(sorted(set(first.values())))


def _sure_part(desk: Desk, question: Bound, price: _Price, tolerance: float | None) -> float | None:
    """The half-width as a part of the range, as far as it is known before."""
    if is_described(question):
        return sure_half_width(question.rule)
    if not is_single(question):
        return None
    return price.tolerance or desk.half_width(tolerance, question)


def _left_for(
    desk: Desk, questions: Sequence[Bound], tolerance: float | None, vector: str | None
) -> Budget:
    """What is left for more like these questions."""
    terms, once = desk.transcript.terms, desk.once
    undescribed = [each for each in questions if not has_description(each)]
    stages = [stage for each in undescribed for stage in stages_to_ask(each, once=once)]
    parts = [part for stage in stages for part in stage]
    answered = {part.text for part in parts if desk.stored(_ask_wish(desk, part, tolerance))}
    kinds = []
    for each in undescribed:
        with suppress(InvalidQuestion):  # only its text answers it
            kinds.append(question_kind(each, terms, answered, once=once, vector=vector))
    return desk.budget().for_more_of(kinds)


def _ask_wish(desk: Desk, part: Statistic, tolerance: float | None) -> Wish:
    return Wish(part, desk.half_width(tolerance, part))


def _price_of(
    desk: Desk,
    questions: Sequence[Bound],
    guess: Guess,
    tolerance: float | None,
    vector: str | None = None,
) -> _Price:
    """The price of questions chosen together: with what they claim confirmed, and at worst.

    What is asked only if a guess is refuted costs nothing if it is confirmed.
    """

    def rehearsal(*, surprised: bool) -> _Rehearsal:
        return _Rehearsal(desk, questions, guess, tolerance, surprised, vector)

    expected = rehearsal(surprised=False)
    confirmed = expected.run()
    before = desk.transcript.committed
    least, after, part, count = _least(desk, confirmed)
    surprised, most, worst = confirmed, least, Worst(after, after)
    if any(wish.claim is not None for batch in confirmed for wish in batch):  # may be refuted
        surprised = rehearsal(surprised=True).run()
        most, worst = _at_worst(desk, surprised, Worst(before, before))
    accounts = {id(each): each for each in (before, after, *worst.accounts)}
    budget = _left_for(desk, questions, tolerance, vector)
    remaining = {each: budget.on(account).questions_left for each, account in accounts.items()}
    in_all = min(remaining[id(each)] for each in worst.accounts) if math.isfinite(most) else 0
    new = count + sum(map(len, surprised)) - sum(map(len, confirmed))
    left_after = (remaining[id(after)], in_all)
    looks = frozenset(expected.looks)
    return _Price(least, most, new, remaining[id(before)], left_after, part, looks)


def _least(desk: Desk, batches: Sequence[Sequence[Wish]]) -> tuple[float, Account, float, int]:
    """The batches one after another on the account, with guesses as if confirmed.

    The nats, the account after them, the half-width of the last as a part of its range, and how
    many questions they are.
    """
    account, nats, part = desk.transcript.committed, 0.0, 0.0
    covered = count = 0
    for wishes in batches:
        try:
            mechanism, offers = desk.offers(wishes, account)
        except Refused as error:
            raise _refusal(error, sum(map(len, batches)), covered) from None
        if wishes[0].claim is None:
            charges = [offer.worst_charge for offer in offers]
            account = charged(account, offers, charges)
        else:
            expected, _ = _OUTCOMES[wishes[0].gated]
            releases = mechanism.settle(offers, [expected] * len(offers))
            charges = [release.charge for release in releases]
            account = mechanism.advance(account, offers, releases)
        nats, part = nats + sum(charges), offers[-1].tolerance or 0.0
        covered += len(offers)
        count += sum(offer.counts for offer in offers)
    return nats, account, part, count


def require_covered(
    desk: Desk,
    questions: Sequence[Bound],
    guess: Guess,
    tolerance: float | None,
    vector: str | None = None,
) -> None:
    """Refuse, before anything is asked, what takes more batches than the budget covers."""
    rehearsal = _Rehearsal(desk, questions, guess, tolerance, surprised=False, vector=vector)
    batches = rehearsal.run()
    if len(batches) > 1:
        _least(desk, batches)


def require_groups_covered(
    desk: Desk, questions: Sequence[Bound], by: str, guess: Guess, tolerance: float | None
) -> None:
    """Refuse a table of answers that the budget does not cover, with the number that fits."""

    def covered(count: int) -> bool:
        some = _Rehearsal(desk, questions[:count], guess, tolerance, surprised=False)
        try:
            _least(desk, some.run())
        except Refused:
            return False
        return True

    if covered(len(questions)):
        return
    desk.transcript.account.require_open()  # if that is why, no number of groups fits
    most = largest_integer(covered, most=len(questions))
    raise BudgetExhausted(
        f"requested {len(questions):,} groups by {by}; remaining budget for {most:,}; "
        f"missing {len(questions) - most:,}. Ask for fewer groups, one by one with "
        "where=, or with a larger tolerance=.",
        Shortfall("questions", len(questions), most),
    )


def _at_worst(desk: Desk, plans: Sequence[Sequence[Wish]], worst: Worst) -> tuple[float, Worst]:
    """The charges of all batches at most; infinite where surprises may use up what is left."""
    most = 0.0
    for wishes in plans:
        try:
            worst, charge = worst.after(desk, wishes)
        except Refused:
            return math.inf, worst
        most += charge
    return most, worst


def _refusal(error: Refused, wanted: int, covered: int) -> Refused:
    """The refusal of a part, said of the whole."""
    if covered == 0:
        return error
    return BudgetExhausted(
        f"requested up to {wanted:,} new questions, one after another; remaining budget for "
        f"{covered:,}; missing {wanted - covered:,}. Nothing was spent. After those: {error}",
        Shortfall("questions", wanted, covered),
    )
