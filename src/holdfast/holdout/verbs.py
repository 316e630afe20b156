"""The verbs of a holdout: ask, check, gate and what they cost; lists, tables, boards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, TypeAlias, Unpack, overload

from holdfast import require
from holdfast.data.attached import ColumnValues, Fields, column_values
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion, Refused
from holdfast.holdout.answer import Answer
from holdfast.holdout.ask import (
    CallTerms,
    Ready,
    Waiting,
    answered_alone,
    answers_by_key,
    answers_to,
    better_of,
    claimed_as_wholes,
    guess_of_likely_width,
    require_telling,
    several,
    text_of_check,
)
from holdfast.holdout.batch import Body
from holdfast.holdout.desk import Desk
from holdfast.holdout.forecast import (
    FORECASTING,
    by_training_rows,
    forecast_grounds,
    not_tried,
    on_side_of_claim,
    require_one_forecast,
    require_unprotected,
)
from holdfast.holdout.groups import Distribution, Groups, cost_of_discovering, groups_to_discover
from holdfast.holdout.options import (
    AskOptions,
    BatchOptions,
    CheckOptions,
    CostOptions,
    GateOptions,
)
from holdfast.holdout.plays import implied_claim
from holdfast.holdout.price import Cost, cost_of, require_groups_covered
from holdfast.holdout.request import (
    Guess,
    NamedWidth,
    bound_to,
    guess_of,
    guessed_number,
    knowing,
    one_answer_of,
    require_enough_differing,
    require_one_claim,
    ruled,
)
from holdfast.ledger.attachments import BoardRecord, BoardTerms, TurnedAway
from holdfast.ledger.chain import now
from holdfast.statistics.bind import Question, question_of, read_question
from holdfast.statistics.description import DescribedParts, DescribedQuestion
from holdfast.statistics.entry import Bound, By, TableCall
from holdfast.statistics.labelled import GroupsOf, Labelled
from holdfast.statistics.player import Verb, one_sided_statistic
from holdfast.wording import plural

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
_WORDING = ("where", "bounds", "better")  # options that add to the question itself


def answers_of(
    verbs: Verbs, items: Iterable[Item], why: str | None, asked_by: str | None
) -> list[Answer | HoldfastError]:
    """The answer to each, or the error by which it failed, in their order."""
    wanted = require.items("items", items, "a list of Ask, Check and Gate")
    for each in wanted:
        if not isinstance(each, Ask | Check | Gate):
            raise InvalidArgument(
                f"an item is {each!r}; give Ask, Check or Gate of holdfast.stats."
            )
    signed = BatchOptions(why=why, asked_by=asked_by)
    answers: list[Answer | HoldfastError] = []
    for _, alike in groupby(wanted, key=_batch):
        batch = list(alike)
        together = _together(verbs, batch, signed)
        answers += together or [_alone(verbs, each, why, asked_by) for each in batch]
    return answers


def _batch(item: Item) -> object:
    """What is put together: neighbours with the same of this; gates are put one by one."""
    if isinstance(item, Gate):
        return id(item)
    return type(item), item.tolerance, item.half_width


def _together(
    verbs: Verbs, batch: Sequence[Item], signed: BatchOptions
) -> Sequence[Answer | HoldfastError]:
    """The answers to items that are alike; none if something is wrong with one of them."""
    first = batch[0]
    if len(batch) == 1 or isinstance(first, Gate):
        return ()
    questions = [each.question for each in batch]
    options: BatchOptions = {
        **signed,
        "tolerance": first.tolerance,
        "half_width": first.half_width,
    }
    try:
        if isinstance(first, Ask):
            return verbs.ask_many(questions, **options)
        guesses = [each.guess for each in batch if isinstance(each, Check)]
        return verbs.check_many(questions, guesses, **options)
    except _ITS_OWN:
        return ()


def _alone(
    verbs: Verbs, item: Item, why: str | None, asked_by: str | None
) -> Answer | HoldfastError:
    """The answer to an item by itself, or what is wrong with it."""
    question, *rest = (getattr(item, name) for name in item.__slots__)
    options: dict[str, Any] = dict(zip(item.__slots__[1:], rest, strict=True))
    by_kind: Mapping[type, Callable[..., Answer]] = {
        Ask: verbs.ask,
        Check: verbs.check,
        Gate: verbs.gate,
    }
    try:
        return by_kind[type(item)](question, why=why, asked_by=asked_by, **options)
    except _ITS_OWN as error:
        return error


# Statistics that are asked together, answered in a table.


def table_of_answers(
    desk: Desk, table: Labelled, guess: Guess, terms: CallTerms, frame_kind: str
) -> Groups | Distribution:
    """The answer to each statistic beside its label; refused if the budget covers not all."""
    questions = [question for _, question in table.members]
    requests = terms.requests(desk, questions, [None] * len(questions), guess, table.text)
    answers = answers_by_key(desk, questions, requests)
    if answers is None:
        desk.refresh()
        if table.vector is None:  # of a vector nobody wants a part
            by, tolerance = ", ".join(table.by), requests[0].tolerance
            require_groups_covered(desk, questions, by, guess, tolerance)
        answers = answers_to(desk, questions, requests, guess, in_table=True)
    labelled = tuple(
        (label, answer) for (label, _), answer in zip(table.members, answers, strict=True)
    )
    if table.kind != "distribution":
        return Groups(table.by, labelled, frame_kind, table.text)
    thresholds = tuple((float(str(label)), answer) for label, answer in labelled)
    return Distribution(table.by[0], thresholds, frame_kind, table.text)


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

    @require.takes(CostOptions)
    def cost(
        self,
        question: Question | TableCall,
        guess: Any = None,
        *,
        by: By | None = None,
        gate: bool = False,
        discover: bool = False,
        **options: Unpack[CostOptions],
    ) -> Cost:
        """What a question would cost now, or with `gate` to gate it. Free; touches no data.

        The options are those of the verb that would ask it.
        """
        at_most, at_least = options.get("at_most"), options.get("at_least")
        if gate:
            require_one_claim("gate", None, at_most, at_least)
        elif at_most is not None or at_least is not None:
            require_one_claim("check", guess, at_most, at_least)
        desk = self._desk
        rows = partial(desk.other_rows, compared=False)
        claim = replace(guess_of(rows, guess, at_most, at_least), gated=gate)
        claim = replace(
            claim,
            forecast=forecast_grounds(options, claim.verb),
            graded=gate and require.flag("grades", options.get("grades", False)),
        )
        question = self._worded(question, options, by)
        with desk.store.guard:
            if discover:
                desk.refresh()
                return cost_of_discovering(desk, question)
            return _cost(desk, question, claim, CallTerms.of(options).width)

    @overload
    def ask(
        self, question: Question, *, by: None = None, **options: Unpack[AskOptions]
    ) -> Answer: ...
    @overload
    def ask(self, question: Question, *, by: By, **options: Unpack[AskOptions]) -> Groups: ...
    @overload
    def ask(self, question: TableCall, **options: Unpack[AskOptions]) -> Groups: ...
    @require.takes(AskOptions)
    def ask(
        self,
        question: Question | TableCall,
        *,
        by: By | None = None,
        **options: Unpack[AskOptions],
    ) -> Answer | Groups | Distribution:
        """The value of a question; `by` a column, or two, for each of its groups.

        One that is described by its text is answered exactly, at the level of its length. Any other
        one, and one for which a half-width is named, is answered on the ledger; with a guesser, or
        training rows, its guess is checked first. A half-width is named by `tolerance`, as a part
        of the range, or by `half_width`, in the unit of the answer. `bounds` are the range of what
        is averaged, (low, high), where none is declared: it is cut to them. `where` is a condition
        on the rows, and `better` ("higher", "lower") says which sign of a difference is.

        `why` it is asked and whom it is `asked_by` is kept in the ledger, with every verb. A call
        made again with the same `request_key` is told the same, whatever was asked since, and looks
        at nothing.

        To `discover` the groups of a question, or its `top` largest ones, the protected rows are
        looked at: that ends asks and checks for good, and text questions stay.
        """
        terms, question = CallTerms.of(options), self._worded(question, options, by)
        desk, discover, top = self._desk, options.get("discover", False), options.get("top")
        if discover:
            groups = groups_to_discover(desk, question, terms.width, top)
        elif top is not None:
            raise InvalidArgument("top= chooses among discovered groups; it needs discover=True.")
        else:
            groups = knowing(desk, None)
        return self._put(desk, question, Guess(), terms, groups, describe=True)

    @require.takes(BatchOptions)
    def ask_many(
        self, questions: Iterable[Question], **options: Unpack[BatchOptions]
    ) -> list[Answer]:
        """Questions chosen together: one scan, one shared leakage, cheaper than one by one."""
        return self._put_many(several(questions), Guess(), CallTerms.of(options), describe=True)

    @overload
    def check(
        self,
        question: Question,
        guess: Any = None,
        *,
        by: None = None,
        **options: Unpack[CheckOptions],
    ) -> Answer: ...
    @overload
    def check(
        self, question: Question, guess: Any = None, *, by: By, **options: Unpack[CheckOptions]
    ) -> Groups: ...
    @overload
    def check(self, question: TableCall, guess: Any, **options: Unpack[CheckOptions]) -> Groups: ...
    @require.takes(CheckOptions)
    def check(
        self,
        question: Question | TableCall,
        guess: Any = None,
        *,
        by: By | None = None,
        **options: Unpack[CheckOptions],
    ) -> Answer | Groups | Distribution:
        """Is it about `guess`? Almost free when confirmed, at any half-width that the rows show.

        `guess` is a number, or a table to compute it from (such as a training split). `at_most` or
        `at_least` instead of a guess checks one side: "is it at most 0.3?". `differing` is the
        share of rows in which what is compared is thought to differ: the better it is guessed, the
        more is shown, and nothing is promised wrongly if it is not.

        What is not confirmed is answered: by its description, if it has one, or as an ask, if that
        is still covered. The other options are those of `ask`.
        """
        claim = self._claim("check", question, guess, options)
        if not options.keys().isdisjoint(FORECASTING):
            claim = replace(claim, forecast=forecast_grounds(options, "check"))
        question = self._worded(question, options, by)
        desk = self._desk
        return self._put(desk, question, claim, CallTerms.of(options), knowing(desk, claim.rows))

    @require.takes(BatchOptions)
    def check_many(
        self, questions: Iterable[Question], guesses: Any, **options: Unpack[BatchOptions]
    ) -> list[Answer]:
        """Checks chosen together; `guesses` are as many numbers, or a table to guess from."""
        chosen = several(questions)
        if isinstance(guesses, Sequence) and not isinstance(guesses, str):
            if len(guesses) != len(chosen):
                raise InvalidArgument(
                    f"there are {plural(len(chosen), 'question')} and "
                    f"{plural(len(guesses), 'guess', 'guesses')}; give one for each question."
                )
            guess = Guess(tuple(guessed_number(each) for each in guesses))
        elif guesses is None:
            raise InvalidArgument("a check needs a guess for every question; `ask` needs none.")
        else:
            guess = guess_of(self._desk.other_rows, guesses, None, None).each(len(chosen))
        return self._put_many(chosen, guess, CallTerms.of(options))

    @require.takes(GateOptions)
    def gate(self, question: Question, **options: Unpack[GateOptions]) -> Answer:
        """Is it shown to be more than `at_least`, or less than `at_most`?

        *Shown* claims that side; *not shown* leaves it open, and costs almost nothing. `differing`
        is as for `check`; of two columns that were attached with their values it is known.

        A forecast shows more: `dev` is how a difference came out on other rows (how many of them
        better, how many worse, and how many in all; or the scores of both, in order or by item),
        none of which may be protected, and `expect` how likely you think it is to be shown. With
        `skip_below` what is forecast to be less likely is "not tried", and nothing is charged.

        With `grades` *shown* is told with an adjusted p, for up to 1.9 nats more: a fiftieth or a
        fifth of the ledger's failure probability, or all of it; the largest so far. That some false
        claim is told with such a number, or less, has at most that probability. The other options
        are those of `ask`.
        """
        desk = self._desk
        require_unprotected(desk, options.get("dev"))
        forecast = forecast_grounds(options, "gate")
        graded = require.flag("grades", options.get("grades", False))
        claim = self._claim("gate", question, None, options)
        guess = replace(claim, gated=True, forecast=forecast, graded=graded)
        worded = self._worded(question, options)
        terms = CallTerms.of(options)
        bound = one_answer_of(bound_to(desk, worded, knowing(desk, None)))
        (single,), guess = claimed_as_wholes(desk, [bound], guess, terms.width)
        guess = on_side_of_claim(guess, single)
        requests = terms.requests(desk, [single], [None], guess)
        before = answers_by_key(desk, [single], requests)
        if before is None:
            if implied_claim(desk, single, guess, 0, requests[0].tolerance) is None:
                require_enough_differing(desk, single, guess)
                untried = not_tried(desk, single, guess, requests[0], options.get("skip_below"))
                if untried is not None:
                    return untried
            before = answers_to(desk, [single], requests, guess)
        (answer,) = before
        return answer

    @require.takes()
    def answer_many(
        self, items: Iterable[Item], *, why: str | None = None, asked_by: str | None = None
    ) -> list[Answer | HoldfastError]:
        """Asks, checks and gates (`holdfast.stats.Ask`, `Check`, `Gate`) in one list.

        Neighbours that are alike share a batch. What is wrong or refused fails alone: its error
        stands in its place.
        """
        return answers_of(self, items, why, asked_by)

    def _worded(
        self, question: Question | TableCall, options: Mapping[str, object], by: By | None = None
    ) -> Question | TableCall:
        """The question with what the options say of it; as it is, where they say nothing."""
        wording: dict[str, Any] = {name: options.get(name) for name in _WORDING}
        if by is None and all(value is None for value in wording.values()):
            return question
        return question_of(question, by=by, **wording)

    def _put_many(
        self, questions: list[Question], guess: Guess, terms: CallTerms, *, describe: bool = False
    ) -> list[Answer]:
        if not questions:
            return []
        desk = self._desk
        describe, groups = describe and not terms.width.is_named, knowing(desk, None)
        bound = [
            one_answer_of(bound_to(desk, question, groups, describe=describe))
            for question in questions
        ]
        bound, guess = claimed_as_wholes(desk, bound, guess, terms.width)
        if guess.verb == "check":
            guess = guess_of_likely_width(desk, bound, guess, terms.width)
        requests = terms.requests(desk, bound, [better_of(each) for each in questions], guess)
        before = answers_by_key(desk, bound, requests)
        return answers_to(desk, bound, requests, guess) if before is None else before

    def _put(
        self,
        desk: Desk,
        question: Question | TableCall,
        guess: Guess,
        terms: CallTerms,
        groups: GroupsOf,
        *,
        describe: bool = False,
    ) -> Answer | Groups | Distribution:
        describe = describe and not terms.width.is_named
        bound = bound_to(desk, question, groups, describe=describe)
        if guess.forecast is not None:
            require_one_forecast(guess, bound)
        if isinstance(bound, Labelled) and guess.side is None:
            bound, guess = _claimed_members(desk, bound, guess, terms.width)
            return table_of_answers(desk, bound, guess, terms, self._frame_kind)
        (single,), guess = claimed_as_wholes(desk, [one_answer_of(bound)], guess, terms.width)
        if guess.verb == "check":
            guess = guess_of_likely_width(desk, [single], guess, terms.width)
        if guess.verb == "check" and guess.forecast is not None:
            guess = by_training_rows(desk, single, guess)
        (request,) = terms.requests(desk, [single], [better_of(question)], guess)
        call = Waiting(question, guess, terms)
        return answered_alone(desk, Ready(call, guess, single, request))

    def _claim(
        self,
        verb: Verb,
        question: Question | TableCall,
        guess: Any,
        options: CheckOptions | GateOptions,
    ) -> Guess:
        """What is claimed, on both sides or on one."""
        at_most, at_least = options.get("at_most"), options.get("at_least")
        if guess is None and at_most is None and at_least is None and isinstance(question, str):
            read_question(question)  # a text that claims it, "avg(late) > 0.2", is told how
        require_one_claim(verb, guess, at_most, at_least)
        claim = guess_of(self._desk.other_rows, guess, at_most, at_least)
        differing = options.get("differing")
        if differing is None:
            return claim
        share = require.between("differing", differing, 0.0, 1.0, open_low=True)
        return replace(claim, differing=share)


def _claimed_members(
    desk: Desk, table: Labelled, guess: Guess, width: NamedWidth
) -> tuple[Labelled, Guess]:
    """The members of a table as they are claimed, each with its guess."""
    labels, members = zip(*table.members, strict=True)
    claimed, guess = claimed_as_wholes(desk, members, guess.each(len(members)), width)
    guess = guess_of_likely_width(desk, claimed, guess, width) if guess.likely else guess
    return replace(table, members=tuple(zip(labels, claimed, strict=True))), guess


def _text_of_side(
    desk: Desk, question: Bound, claim: Guess, part: float | None
) -> DescribedQuestion | DescribedParts | None:
    """The description that settles a claim of one side that only it can; None if another does."""
    if claim.side is None or one_sided_statistic(question) is not None:
        return None
    settled = implied_claim(desk, question, claim, 0, part) is not None
    return None if settled else ruled(desk, question)


def _cost(desk: Desk, question: Question | TableCall, claim: Guess, width: NamedWidth) -> Cost:
    describe = claim.verb == "ask" and not width.is_named
    rows = desk.transcript.terms.rows
    bound = bound_to(desk, question, knowing(desk, claim.rows), describe=describe)
    require_one_forecast(claim, bound)
    if isinstance(bound, Labelled) and claim.side is None:
        part = width.part_of([member for _, member in bound.members], rows)
        bound, claim = _claimed_members(desk, bound, claim, width)
        return cost_of(desk, bound, claim, part)
    (single,), claim = claimed_as_wholes(desk, [one_answer_of(bound)], claim, width)
    if claim.verb == "check":
        claim = guess_of_likely_width(desk, [single], claim, width)
        claim = by_training_rows(desk, single, claim)
    part = claim.tolerance_at(0, width.part_of([single], rows))
    claim = on_side_of_claim(claim, single)
    by_text = _text_of_side(desk, single, claim, part)
    if by_text is not None:
        return cost_of(desk, by_text, Guess(), None)
    if claim.gated and implied_claim(desk, single, claim, 0, part) is None:
        require_enough_differing(desk, single, claim)
    try:
        if claim.side is None:
            require_telling(desk, [single], claim, part)
        return cost_of(desk, single, claim, part)
    except Refused:
        by_text = text_of_check(desk, single, claim, width)
        if by_text is None:
            raise
        return cost_of(desk, by_text, Guess(), None)


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

    def declare(self, terms: BoardTerms) -> BoardTerms:
        """Make the ledger a board's; refused where it is that of another one."""
        new = replace(terms, at=now())

        def entry() -> list[Body]:
            return [] if self._desk.transcript.attached.board.terms is not None else [new.body()]

        if self.record.terms is None:
            self._desk.tell(entry)
        there = self.record.terms
        if there is None or there.said != new.said:
            known = {} if there is None else there.to_dict()
            differences = [
                f"{name} is {value!r}, and was declared as {known[name]!r}"
                for name, value in new.to_dict().items()
                if name != "at" and value != known[name]
            ]
            raise InvalidArgument(
                f"{self._desk.opening.name!r} is another board: {'; '.join(differences)}. Declare "
                "the same, or use another ledger."
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
