"""The verbs of a holdout: ask, check, gate and what they cost; lists, tables, boards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, TypeAlias, Unpack, overload

from holdfast import require
from holdfast.data.attached import ColumnValues, Fields, column_values
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion, Refused
from holdfast.holdout.answer import Answer
from holdfast.holdout.ask import (
    Said,
    Saying,
    answers_to,
    better_of,
    require_telling,
    several,
    told_before,
)
from holdfast.holdout.batch import Body
from holdfast.holdout.desk import Desk
from holdfast.holdout.groups import Distribution, Groups, cost_of_discovering, groups_for, knowing
from holdfast.holdout.guess import Guess, guess_of, guessed_number, require_one_claim
from holdfast.holdout.price import Cost, cost_of, require_groups_covered
from holdfast.holdout.request import NamedWidth, bound_to, one_answer_of, require_enough_differing
from holdfast.ledger.chain import now
from holdfast.ledger.leaderboards import BoardRecord, BoardTerms, TurnedAway
from holdfast.statistics.bind import Question, bounded
from holdfast.statistics.entry import Bounds, TableCall
from holdfast.statistics.labelled import GroupsOf, Labelled
from holdfast.wording import plural

__all__ = ["Ask", "Boarding", "Check", "Gate", "Item", "Verbs", "answers_of", "table_of_answers"]


# Asks, checks and gates given in one list: each is answered, or fails alone.
#
# Those that are alike share a batch: one scan, one leakage. If something in a batch is wrong or
# refused, its questions are put one by one. The order of the answers is that of the list.


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to ask, with the half-width that is wanted, if one is."""

    question: Question
    tolerance: float | None = None
    half_width: float | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A number that is guessed of a question, to be checked."""

    question: Question
    guess: float
    tolerance: float | None = None
    half_width: float | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """One side of a bound, to be shown."""

    question: Question
    at_least: float | None = None
    at_most: float | None = None
    differing: float | None = None


Item: TypeAlias = Ask | Check | Gate
# What is wrong with one question; trouble with the ledger or the data concerns all of them.
_ITS_OWN = (InvalidArgument, InvalidQuestion, Refused)


def answers_of(
    verbs: Verbs, items: Iterable[Item], why: str | None, by: str | None
) -> list[Answer | HoldfastError]:
    """The answer to each, or the error by which it failed, in their order."""
    wanted = require.items("items", items, "a list of Ask, Check and Gate")
    for each in wanted:
        if not isinstance(each, Ask | Check | Gate):
            raise InvalidArgument(
                f"an item is {each!r}; give Ask, Check or Gate of holdfast.stats."
            )
    found: list[Answer | HoldfastError] = []
    for _, alike in groupby(wanted, key=_batch):
        batch = list(alike)
        found += _together(verbs, batch, why, by) or [
            _alone(verbs, each, why, by) for each in batch
        ]
    return found


def _batch(item: Item) -> object:
    """What is put together: neighbours with the same of this; gates are put one by one."""
    if isinstance(item, Gate):
        return id(item)
    return type(item), item.tolerance, item.half_width


def _together(
    verbs: Verbs, batch: Sequence[Item], why: str | None, by: str | None
) -> Sequence[Answer | HoldfastError]:
    """The answers to items that are alike; none if something is wrong with one of them."""
    first = batch[0]
    if len(batch) == 1 or isinstance(first, Gate):
        return ()
    questions = [each.question for each in batch]
    said = Saying(why=why, by=by, tolerance=first.tolerance, half_width=first.half_width)
    try:
        if isinstance(first, Ask):
            return verbs.ask_many(questions, **said)
        guesses = [each.guess for each in batch if isinstance(each, Check)]
        return verbs.check_many(questions, guesses, **said)
    except _ITS_OWN:
        return ()


def _alone(verbs: Verbs, item: Item, why: str | None, by: str | None) -> Answer | HoldfastError:
    try:
        match item:
            case Ask(question, tolerance, half_width):
                return verbs.ask(
                    question, why=why, by=by, tolerance=tolerance, half_width=half_width
                )
            case Check(question, guess, tolerance, half_width):
                return verbs.check(
                    question, guess, why=why, by=by, tolerance=tolerance, half_width=half_width
                )
            case Gate(question, at_least, at_most, share):
                return verbs.gate(
                    question, at_least=at_least, at_most=at_most, differing=share, why=why, by=by
                )
    except _ITS_OWN as error:
        return error


# Statistics that are asked together, answered in a table.


def table_of_answers(
    desk: Desk, found: Labelled, guess: Guess, said: Said, frame_kind: str
) -> Groups | Distribution:
    """The answer to each statistic beside its label; refused if the budget covers not all."""
    questions = [question for _, question in found.members]
    requests = said.requests(desk, questions, [None] * len(questions), guess, found.text)
    answers = told_before(desk, questions, requests)
    if answers is None:
        desk.refresh()
        require_groups_covered(desk, questions, ", ".join(found.by), guess, requests[0].tolerance)
        answers = answers_to(desk, questions, requests, guess, in_table=True)
    labelled = tuple(
        (label, answer) for (label, _), answer in zip(found.members, answers, strict=True)
    )
    if found.kind != "distribution":
        return Groups(found.by, labelled, frame_kind, found.text)
    thresholds = tuple((float(str(label)), answer) for label, answer in labelled)
    return Distribution(found.by[0], thresholds, frame_kind, found.text)


class Verbs:
    """Questions put to a desk; frames of answers are of the kind that the rows came in."""

    def __init__(self, desk: Desk, frame_kind: str) -> None:
        self._own_desk = desk
        self._frame_kind = frame_kind

    @property
    def _desk(self) -> Desk:
        """The desk, unless it is closed or another process's: looked at before anything is done."""
        self._own_desk.store.require_usable()
        return self._own_desk

    def cost(
        self,
        question: Question | TableCall,
        guess: Any = None,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        gate: bool = False,
        bounds: Bounds = None,
        tolerance: float | None = None,
        half_width: float | None = None,
        discover: bool = False,
    ) -> Cost:
        """What a question would cost now, or with `gate` to gate it. Free; touches no data."""
        if gate:
            require_one_claim("gate", None, at_most, at_least)
        elif at_most is not None or at_least is not None:
            require_one_claim("check", guess, at_most, at_least)
        rows = partial(self._desk.other_rows, compared=False)
        read = replace(guess_of(rows, guess, at_most, at_least), gated=gate)
        question = bounded(question, bounds)
        with self._desk.store.guard:
            self._desk.refresh()
            if discover:
                return cost_of_discovering(self._desk, question)
            return self._cost(question, read, NamedWidth(tolerance, half_width))

    def _cost(self, question: Question | TableCall, read: Guess, width: NamedWidth) -> Cost:
        describe, rows = read.verb == "ask" and not width.is_named, self._desk.transcript.terms.rows
        found = bound_to(self._desk, question, knowing(self._desk, read.rows), describe=describe)
        if isinstance(found, Labelled) and read.side is None:
            part = width.part_of([member for _, member in found.members], rows)
            return cost_of(self._desk, found, read.each(len(found.members)), part)
        one = one_answer_of(found)
        part = width.part_of([one], rows)
        if read.side is None:
            require_telling(self._desk, [one], read, part)
        return cost_of(self._desk, one, read, part)

    @overload
    def ask(
        self,
        question: Question,
        *,
        bounds: Bounds = None,
        discover: bool = False,
        top: int | None = None,
        **said: Unpack[Saying],
    ) -> Answer: ...
    @overload
    def ask(
        self,
        question: TableCall,
        *,
        bounds: Bounds = None,
        discover: bool = False,
        top: int | None = None,
        **said: Unpack[Saying],
    ) -> Groups: ...
    def ask(
        self,
        question: Question | TableCall,
        *,
        bounds: Bounds = None,
        why: str | None = None,
        tolerance: float | None = None,
        half_width: float | None = None,
        by: str | None = None,
        key: str | None = None,
        discover: bool = False,
        top: int | None = None,
    ) -> Answer | Groups | Distribution:
        """The value of a question.

        One that is described by its text is answered exactly, at the level of its length. Any other
        one, and one for which a half-width is named, is answered on the ledger; with a guesser, or
        training rows, its guess is checked first. A half-width is named by `tolerance`, as a part
        of the range, or by `half_width`, in the unit of the answer. `bounds` are the range of what
        is averaged, (low, high), where none is declared: it is cut to them.

        `why` it is asked and `by` whom is kept in the ledger, with every verb. A call made again
        with the same `key` is told the same, whatever was asked since, and looks at nothing.

        To `discover` the groups of a question, or its `top` largest ones, the protected rows are
        looked at: that ends asks and checks for good, and described questions stay.
        """
        said = Said(why, by, key, NamedWidth(tolerance, half_width))
        question = bounded(question, bounds)
        groups = groups_for(self._desk, question, said.width, discover=discover, top=top)
        return self._put(question, Guess(), said, groups, describe=True)

    def ask_many(
        self,
        questions: Iterable[Question],
        *,
        why: str | None = None,
        tolerance: float | None = None,
        half_width: float | None = None,
        by: str | None = None,
        key: str | None = None,
    ) -> list[Answer]:
        """Questions chosen together: one scan, one shared leakage, cheaper than one by one."""
        said = Said(why, by, key, NamedWidth(tolerance, half_width))
        return self._put_many(several(questions), Guess(), said, describe=True)

    @overload
    def check(
        self,
        question: Question,
        guess: Any = None,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        differing: float | None = None,
        bounds: Bounds = None,
        **said: Unpack[Saying],
    ) -> Answer: ...
    @overload
    def check(
        self, question: TableCall, guess: Any, *, bounds: Bounds = None, **said: Unpack[Saying]
    ) -> Groups: ...
    def check(
        self,
        question: Question | TableCall,
        guess: Any = None,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        differing: float | None = None,
        bounds: Bounds = None,
        why: str | None = None,
        tolerance: float | None = None,
        half_width: float | None = None,
        by: str | None = None,
        key: str | None = None,
    ) -> Answer | Groups | Distribution:
        """Is it about `guess`? Almost free when confirmed, at any half-width that the rows show.

        `guess` is a number, or a table to compute it from (such as a training split). `at_most` or
        `at_least` instead of a guess checks one side: "is it at most 0.3?". `differing` is the
        share of rows in which what is compared is thought to differ: the better it is guessed, the
        more is shown, and nothing is promised wrongly if it is not.

        What is not confirmed is answered: by its description, if it has one, or as an ask, if that
        is still covered.
        """
        require_one_claim("check", guess, at_most, at_least)
        claim = self._guess(guess, at_most, at_least, differing)
        groups = knowing(self._desk, claim.rows)
        return self._put(
            bounded(question, bounds),
            claim,
            Said(why, by, key, NamedWidth(tolerance, half_width)),
            groups,
        )

    def check_many(
        self,
        questions: Iterable[Question],
        guesses: Any,
        *,
        why: str | None = None,
        tolerance: float | None = None,
        half_width: float | None = None,
        by: str | None = None,
        key: str | None = None,
    ) -> list[Answer]:
        """Checks chosen together; `guesses` are as many numbers, or a table to guess from."""
        asked = several(questions)
        if isinstance(guesses, Sequence) and not isinstance(guesses, str):
            if len(guesses) != len(asked):
                raise InvalidArgument(
                    f"there are {plural(len(asked), 'question')} and "
                    f"{plural(len(guesses), 'guess', 'guesses')}; give one for each question."
                )
            guess = Guess(tuple(guessed_number(each) for each in guesses))
        elif guesses is None:
            raise InvalidArgument("a check needs a guess for every question; `ask` needs none.")
        else:
            guess = self._guess(guesses).each(len(asked))
        return self._put_many(asked, guess, Said(why, by, key, NamedWidth(tolerance, half_width)))

    def gate(
        self,
        question: Question,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        differing: float | None = None,
        bounds: Bounds = None,
        why: str | None = None,
        by: str | None = None,
        key: str | None = None,
    ) -> Answer:
        """Is it shown to be more than `at_least`, or less than `at_most`?

        *Shown* claims that side; *not shown* says nothing, and is nearly free. `differing` is as
        for `check`; of two columns that were attached with their values it is known.
        """
        require_one_claim("gate", None, at_most, at_least)
        guess = replace(self._guess(None, at_most, at_least, differing), gated=True)
        one = one_answer_of(
            bound_to(self._desk, bounded(question, bounds), knowing(self._desk, None))
        )
        requests = Said(why, by, key, NamedWidth()).requests(self._desk, [one], [None], guess)
        before = told_before(self._desk, [one], requests)
        if before is None:
            self._desk.refresh()
            require_enough_differing(self._desk, one, guess)
            before = answers_to(self._desk, [one], requests, guess)
        (answer,) = before
        return answer

    def answer_many(
        self, items: Iterable[Item], *, why: str | None = None, by: str | None = None
    ) -> list[Answer | HoldfastError]:
        """Asks, checks and gates (`holdfast.stats.Ask`, `Check`, `Gate`) in one list.

        Neighbours that are alike share a batch. What is wrong or refused fails alone: its error
        stands in its place.
        """
        return answers_of(self, items, why, by)

    def _put_many(
        self, asked: list[Question], guess: Guess, said: Said, *, describe: bool = False
    ) -> list[Answer]:
        if not asked:
            return []
        describe, groups = describe and not said.width.is_named, knowing(self._desk, None)
        bound = [
            one_answer_of(bound_to(self._desk, question, groups, describe=describe))
            for question in asked
        ]
        requests = said.requests(
            self._desk, bound, [better_of(question) for question in asked], guess
        )
        before = told_before(self._desk, bound, requests)
        return answers_to(self._desk, bound, requests, guess) if before is None else before

    def _put(
        self,
        question: Question | TableCall,
        guess: Guess,
        said: Said,
        groups: GroupsOf,
        *,
        describe: bool = False,
    ) -> Answer | Groups | Distribution:
        describe = describe and not said.width.is_named
        found = bound_to(self._desk, question, groups, describe=describe)
        if isinstance(found, Labelled) and guess.side is None:
            guess = guess.each(len(found.members))
            return table_of_answers(self._desk, found, guess, said, self._frame_kind)
        one = one_answer_of(found)
        requests = said.requests(self._desk, [one], [better_of(question)], guess)
        before = told_before(self._desk, [one], requests)
        (answer,) = answers_to(self._desk, [one], requests, guess) if before is None else before
        return answer

    def _guess(
        self,
        guess: Any,
        at_most: float | None = None,
        at_least: float | None = None,
        differing: float | None = None,
    ) -> Guess:
        found = guess_of(self._desk.other_rows, guess, at_most, at_least)
        if differing is None:
            return found
        share = require.between("differing", differing, 0.0, 1.0, open_low=True)
        return replace(found, differing=share)


# What a leaderboard needs of a holdout beside its verbs: its own lines of the ledger.


_LONGEST_LISTED = 200
_MOST_LISTED = 20  # of a team: whoever sends on and on would fill everybody's ledger


class Boarding:
    """The board of a ledger: what was declared of it, and whom it turned away."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def record(self) -> BoardRecord:
        """All that was written so far."""
        with self._desk.store.guard:
            return self._desk.refresh().attached.board

    def declare(self, said: BoardTerms) -> BoardTerms:
        """Make the ledger a board's; refused where it is that of another one."""
        new = replace(said, at=now())

        def entry() -> list[Body]:
            return [] if self._desk.transcript.attached.board.terms is not None else [new.body()]

        if self.record.terms is None:
            self._desk.tell(entry)
        there = self.record.terms
        if there is None or there.said != new.said:
            known = {} if there is None else there.to_dict()
            told = [
                f"{name} is {value!r}, and was declared as {known[name]!r}"
                for name, value in new.to_dict().items()
                if name != "at" and value != known[name]
            ]
            raise InvalidArgument(
                f"{self._desk.opening.name!r} is another board: {'; '.join(told)}. Declare the "
                "same, or use another ledger."
            )
        return there

    def turn_away(self, team: str, called: str | None, why: str) -> None:
        """List a submission that was not taken, unless enough of the team are."""
        short = None if called is None else called[:_LONGEST_LISTED]

        def entry() -> list[Body]:
            listed = self._desk.transcript.attached.board.turned_away
            if sum(each.team == team for each in listed) >= _MOST_LISTED:
                return []
            return [TurnedAway(team, short, why, now()).body()]

        self._desk.tell(entry)

    def read(self, values: Any, fields: Fields) -> ColumnValues:
        """What somebody submits, as a column of the rows, NULL where it lacks one; not kept."""
        return column_values(values, self._desk.protected.order, fields, missing="null")

    def text_of(self, question: str) -> str:
        """A question as the ledger spells it."""
        return one_answer_of(bound_to(self._desk, question, knowing(self._desk, None))).text
