"""A request: a question read against the table, its half-width, its way, and its claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from numbers import Real
from typing import Any

from holdfast import require
from holdfast.data.design import DesignValue, group_sizes, in_order
from holdfast.data.sample import Sample
from holdfast.did_you_mean import number_meant
from holdfast.errors import InvalidArgument, InvalidQuestion, Refused, ToleranceTooTight
from holdfast.holdout.attach import differing
from holdfast.holdout.batch import is_described
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import averages
from holdfast.ledger.dictionaries import Dictionary, late_question
from holdfast.ledger.opening import Opening
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.mechanism import ForecastGrounds, LikelyWidth, Wish, about
from holdfast.mechanisms.terms import WHOLE_RANGE
from holdfast.question.columns import Schema
from holdfast.question.expression import Column, ColumnType
from holdfast.question.parse import reads_alike
from holdfast.statistics.bind import Question, bind, read_question, require_likely_values
from holdfast.statistics.derived import Difference, Paired, Play, Subquestion, Total
from holdfast.statistics.description import (
    DescribedParts,
    DescribedQuestion,
    described_answer,
    reads_as_written,
)
from holdfast.statistics.entry import Bound, Call, TableCall
from holdfast.statistics.labelled import (
    GroupsOf,
    Labelled,
    labelled,
)
from holdfast.statistics.player import Side, Verb, play_of
from holdfast.statistics.scores import BalancedAccuracy
from holdfast.statistics.statistic import Statistic, is_single, own_unit
from holdfast.theory.base.safeside import float_below
from holdfast.theory.leakage.gates import gate_shows

# Which questions are answered at the level of their description, and which go to the ledger.
#
# The choice is public: it depends on the question's words, on what was declared, and on what the
# ledger can still answer.


def described_question(
    desk: Desk, question: Question, text: str | None = None, *, together: bool = False
) -> DescribedQuestion | DescribedParts | None:
    """The question with the rules that answer it exactly; None if it goes to the ledger.

    `text` is what it was read from, if it was. One that is asked `together` with others on one
    event does not go to the ledger, which would take each.
    """
    if desk.ground is None:
        return None
    dictionaries = desk.transcript.dictionaries
    try:
        if dictionaries.named and dictionaries.declarations:
            return _by_declarations(desk, bind(question, desk.table), together)
        bound = desk.ground.prior.read(question, text)
        was_read = text is not None and reads_alike(text, bound.text)
        return ruled(desk, bound, was_read=was_read, together=together)
    except InvalidQuestion:
        return None  # what is wrong with it is said where it is bound to the table


def _by_declarations(
    desk: Desk, question: Bound, together: bool
) -> DescribedQuestion | DescribedParts | None:
    """A question in the words of now, by the dictionary in which it has the highest level.

    What was declared later is written out for those that do not know it. All of them are true
    together, and the choice is public.
    """
    own = ruled(desk, question, together=together)
    declarations = desk.transcript.dictionaries.declarations
    late = [_declared(desk, each, question.text) for each in declarations]
    fitting = [each for each in late if each is not None]
    if not fitting:
        return own
    best = max(fitting, key=lambda each: each.rule.log_p)
    if own is not None and (not is_described(own) or own.rule.log_p >= best.rule.log_p):
        return own
    return None if own is None and not together and _is_too_long(desk, best) else best


def _declared(desk: Desk, late: Dictionary, text: str) -> DescribedQuestion | None:
    """A question in a dictionary that was declared later; None where that does not answer it.

    Effects of arms that were drawn are about these rows, and stay with the opening's dictionary.
    """
    transcript = desk.transcript
    if late.share == 0.0 or transcript.account.closed or transcript.terms.randomised is not None:
        return None
    try:
        question = late_question(late, transcript.opening, transcript.attached.columns, text)
    except InvalidQuestion:
        return None
    return question if question.text == text else None


def is_describable(desk: Desk, question: Question) -> bool:
    """Whether there is a rule for it, whether or not the ledger has a narrower answer."""
    if desk.ground is None:
        return False
    return described_answer(desk.ground.prior.read(question), desk.ground) is not None


def ruled(
    desk: Desk, question: Bound, *, was_read: bool = False, together: bool = False
) -> DescribedQuestion | DescribedParts | None:
    """The statistic with the rules that answer it exactly; None if it goes to the ledger.

    `was_read` tells that it was read from its canonical text, or from one of the same words.
    """
    ground = desk.ground
    if ground is None or not (was_read or reads_as_written(question.text, ground)):
        return None
    described = described_answer(question if was_read else ground.prior.read(question.text), ground)
    return (
        None if described is None or (not together and _is_too_long(desk, described)) else described
    )


def _is_too_long(desk: Desk, described: DescribedQuestion | DescribedParts) -> bool:
    """Whether a text is so long that its answer may tell nothing, and the ledger still can.

    A narrower answer of the ledger is had by naming its half-width: it takes one of the questions
    that were declared, and every later answer is wider for it.
    """
    if isinstance(described, DescribedParts):
        return any(_is_too_long(desk, part) for part in described.parts)
    if not desk.transcript.terms.promises:
        return False
    if described.reach <= WHOLE_RANGE or described.reach <= (t := desk.half_width(None, described)):
        return False
    try:
        question = bind(described.text, desk.table)  # its group has the size that the ledger knows
        if not is_single(question):
            return False
        desk.offers([Wish(question, t)], desk.transcript.committed)
    except (InvalidQuestion, Refused):
        return False
    return True


def as_named(question: Question | TableCall) -> Question | TableCall:
    """The statistic that is named, in Python or by a text; it has not met its table yet."""
    return read_question(question) if isinstance(question, str) else question


def bound_to(
    desk: Desk,
    question: Question | TableCall,
    groups: GroupsOf,
    *,
    describe: bool = False,
    text: str | None = None,
) -> Bound | Labelled:
    """The question as statistics of this table; `groups` tells those of its columns.

    To `describe`, what has a description comes with the rule that answers it. `text` is what the
    question was read from, if it was, and says all of it.
    """
    table, text = desk.table, question if isinstance(question, str) else text
    try:
        return _bound(desk, question, groups, describe, text)
    except InvalidQuestion:
        desk.refresh()
        if desk.table is table:
            raise
    return _bound(desk, question, groups, describe, text)  # someone attached a column meanwhile


def _bound(
    desk: Desk,
    question: Question | TableCall,
    groups: GroupsOf,
    describe: bool,
    text: str | None,
) -> Bound | Labelled:
    call = as_named(question)
    if isinstance(call, Call | TableCall):
        require_likely_values(call, desk.table)
    if isinstance(call, TableCall):
        together = call.name == "distribution"
        bound = partial(_one_bound, desk, describe=describe, together=together)
        return labelled(call, desk.table, groups, bound)
    found = _one_bound(desk, call, text, describe=describe)
    if text is not None and reads_alike(text, found.text):
        desk.was_read(found.text)
    return found


def _one_bound(
    desk: Desk, call: Question, text: str | None = None, *, describe: bool, together: bool = False
) -> Bound:
    described = described_question(desk, call, text, together=together) if describe else None
    return bind(call, desk.table) if described is None else described


def one_answer_of(bound: Bound | Labelled) -> Bound:
    """A question with one answer; refused where it has many."""
    if isinstance(bound, Labelled):
        raise InvalidQuestion(
            "A histogram, a distribution and by= groups are many answers; ask for them by "
            "themselves, or for one group with where=."
        )
    return bound


# The half-width that is asked for: as a part of the range, or in the unit of the answer.


_SHOWN = 3  # columns


@dataclass(frozen=True, slots=True)
class NamedWidth:
    """A `tolerance` (part of the range), a `half_width` (in the statistic's own unit), or none."""

    tolerance: float | None = None
    half_width: float | None = None

    def __post_init__(self) -> None:
        if self.tolerance is not None and self.half_width is not None:
            raise InvalidArgument(
                f"tolerance is {self.tolerance!r} and half_width {self.half_width!r}; both name "
                "the half-width, one as a part of the range: give one of them."
            )
        if self.half_width is not None:
            require.positive("half_width", self.half_width)

    @property
    def is_named(self) -> bool:
        return self.tolerance is not None or self.half_width is not None

    def part_of(self, questions: Sequence[Bound], rows: int) -> float | None:
        """As a part of the range of these questions, or of the unit of those that have none.

        None if none is named. The questions are asked of a table of so many `rows`.
        """
        if self.half_width is None:
            return self.tolerance
        for question in questions:
            if not _is_scaled(question):
                raise InvalidArgument(
                    f"half_width is {self.half_width:g}, and how wide {question.text} is depends "
                    "on what its parts come to; give tolerance=, the half-width of each as a part "
                    "of its range."
                )
        ranges = {(question.high - question.low, _unit(question, rows)) for question in questions}
        if len(ranges) > 1:
            raise InvalidArgument(
                f"half_width is {self.half_width:g}, and the questions have "
                f"{len(ranges)} different ranges; ask them one by one, or give tolerance=."
            )
        ((whole, unit),) = ranges
        if self.half_width >= whole / 2:
            raise InvalidArgument(
                f"half_width is {self.half_width:g}, and {questions[0].text} ranges over "
                f"{whole:g}; a half-width must be below {whole / 2:g} to say something."
            )
        return float_below(Fraction(self.half_width) / Fraction(whole) / Fraction(unit))


def _unit(question: Bound, rows: int) -> float:
    return own_unit(question, rows)


def _is_scaled(question: Bound) -> bool:
    """Whether parts that are each known to a part of their ranges make it known to that of its own.

    So it is where the parts are added up; not where they are divided, multiplied or searched for.
    """
    match question:
        case Total() | Paired():
            return True
        case Difference(first, second):
            return is_single(first) and is_single(second)
        case BalancedAccuracy():
            return _is_scaled(question.rates)
    return is_single(question)


def width_in_units(opening: Opening) -> str:
    """The promised half-width, and what it is of a mean of the columns with a range or a scale."""
    terms, schema = opening.terms, opening.schema
    if terms.tolerance is None:
        return terms.width
    wholes = {name: 2 * scale.sigma for name, scale in schema.scales.items()}
    wholes |= {name: high - low for name, (low, high) in schema.bounds.items()}
    units = [f"{terms.tolerance * whole:.4g} of {name}" for name, whole in wholes.items()]
    if not units:
        return terms.width
    more = [f"{len(units) - _SHOWN:,} more"] if len(units) > _SHOWN else []
    return f"{terms.width} = {', '.join([*units[:_SHOWN], *more])}"


# What is wished of statistics: to ask for them, or to check what is guessed of them.


def wishes_for(
    desk: Desk,
    statistics: Sequence[Statistic],
    others: Sample | None,
    tolerance: float | None,
    likely: LikelyWidth | None = None,
) -> list[Wish]:
    """To ask for these, or to check what other rows or a guesser say of them.

    What is described has an answer of its own, whatever is guessed. What other rows say may be
    claimed more narrowly than it is answered, if it is not confirmed.
    """
    plain = [one for one in statistics if not is_described(one)]
    guessed = iter(_guessed(desk, plain, others, tolerance, likely) if plain else ())
    return [
        Wish(one, desk.half_width(tolerance, one), narrow=True)
        if is_described(one)
        else replace(next(guessed), narrow=tolerance is None)
        for one in statistics
    ]


def _guessed(
    desk: Desk,
    statistics: Sequence[Statistic],
    others: Sample | None,
    tolerance: float | None,
    likely: LikelyWidth | None,
) -> list[Wish]:
    wishes = [Wish(one, desk.half_width(tolerance, one)) for one in statistics]
    if others is not None:
        guesses = averages(others, statistics, desk.table)
        claims = [
            about(wish.question, wish.tolerance if likely is None else likely.tolerance, number)
            for wish, number in zip(wishes, guesses, strict=True)
        ]
        return [
            claim.at_tolerance(wish.tolerance) for claim, wish in zip(claims, wishes, strict=True)
        ]
    trained = kind_of(desk.opening.mechanism["name"]).trained
    if not trained and desk.taught() is None:
        return wishes
    desk.refresh()  # what others were answered meanwhile teaches guessers, too
    if trained:
        return _by_training(desk, wishes)
    guessing = desk.taught()
    return wishes if guessing is None else guessing.wishes(wishes)


def _by_training(desk: Desk, wishes: Sequence[Wish]) -> list[Wish]:
    """To ask for these with the training rows' values; what was asked before needs none."""
    if all(wish.question.text in desk.transcript.by_question for wish in wishes):
        return list(wishes)
    if desk.train is None:
        raise InvalidArgument(
            f"this ledger answers by {desk.opening.mechanism['name']}, which needs other rows "
            "to guess from; open it with train=. Nothing was spent."
        )
    guesses = averages(desk.train, [wish.question for wish in wishes], desk.table)
    return [replace(wish, guess=guess) for wish, guess in zip(wishes, guesses, strict=True)]


# What is claimed of questions: on which public grounds, and how they are played.


@dataclass(frozen=True, slots=True)
class ClaimGrounds:
    """What is public about claims of a question: how it is answered instead, and its spread.

    `described` finds the question by its description, once it is needed; `moment` is a guess of
    the second moment, `forecast` what its forecast rests on, and a gate is perhaps `graded`.
    """

    gated: bool = False
    described: Callable[[], DescribedQuestion | DescribedParts | None] = lambda: None
    moment: float | None = None
    forecast: ForecastGrounds | None = None
    graded: bool = False

    def claim(self, part: Subquestion, t: float, tolerance: float | None) -> Wish:
        """What is claimed of a part: that it is about a guess, or on one side of it."""
        guess = part.guess or 0.0
        return Wish(
            part.statistic,
            t,
            (guess - t, guess + t) if part.claim is None else part.claim,
            guess,
            narrow=tolerance is None,
            stated=True,
            gated=self.gated,
            moment=self.moment,
            forecast=self.forecast,
            graded=self.graded,
        )


def claim_grounds(desk: Desk, question: Bound, guess: Guess) -> ClaimGrounds:
    """The grounds of what is claimed of a question; none where it is asked."""
    if guess.verb == "ask":
        return ClaimGrounds()
    moment = known_moment(desk, question, guess)
    described = partial(ruled, desk, question)
    return ClaimGrounds(guess.gated, described, moment, guess.forecast, guess.graded)


def known_moment(desk: Desk, question: Bound, guess: Guess) -> float | None:
    """The share of rows that differ, where it is public: declared, or of two submitted columns."""
    if not isinstance(question, Paired):
        return None
    if guess.differing is not None:
        return guess.differing
    (statistic,) = question.stages[-1]
    attached = desk.attached_of([statistic])
    columns = sorted({column.column for column in attached})
    public = all(column.origin == "submitted" for column in attached)
    if len(columns) != 2 or not public or not desk.transcript.terms.independent:
        return None
    return max(differing(desk, *columns), 1 / desk.transcript.terms.rows)


def claimed_mean(desk: Desk, question: Bound) -> Statistic | None:
    """The mean of bounded independent rows that a guess of a question is about, if there is one."""
    if isinstance(question, Paired):
        ((_,), (statistic,)) = question.stages
    elif is_single(question):
        statistic = question
    else:
        return None
    terms = desk.transcript.terms
    bounded = statistic.row is not None and not statistic.unbounded
    return statistic if bounded and terms.independent and statistic.unit(terms.rows) == 1 else None


def plays_of(
    desk: Desk,
    questions: Sequence[Bound],
    guess: Guess,
    tolerance: float | None,
    claims: Sequence[ClaimGrounds],
) -> list[Play]:
    """The plays of questions that are put together."""
    return [
        play_of(
            question,
            guess.of(place),
            desk.half_width(tolerance, question if is_single(question) else None),
            once=desk.once,
            side=guess.side,
            verb=guess.verb,
            described=claims[place].described,
        )
        for place, question in enumerate(questions)
    ]


def gate_wish(desk: Desk, question: Bound, guess: Guess) -> Wish | None:
    """The wish that a gate puts first; None if the ledger has it already, answered or begun."""
    side, bound = guess.side, guess.of(0)
    (part,) = next(play_of(question, bound, 0.5, once=desk.once, side=side, verb="gate"))
    wish = claim_grounds(desk, question, guess).claim(part, 0.5, None)
    return None if desk.stored(wish) is not None or desk.is_reserved(wish) else wish


def require_enough_differing(desk: Desk, question: Bound, guess: Guess) -> None:
    """Refuse a gate that so few differing rows, a public number, cannot show whatever they say."""
    bound, share = guess.of(0), known_moment(desk, question, guess)
    if share is None or bound is None or guess.side is None:
        return
    wish = gate_wish(desk, question, guess)
    if wish is None:
        return
    _, (offer,) = desk.offers([wish], desk.transcript.committed)
    terms, margin = desk.transcript.terms, bound if guess.side == "at least" else -bound
    differ = min(terms.rows, math.ceil(share * terms.rows))
    if not abs(margin) < 1.0 or gate_shows(
        terms.rows,
        differ,
        0,
        offer.log_p or 0.0,
        margin=margin,
        alike=(offer.extra or {})["alike"],
        second_moment=share,
    ):
        return
    raise ToleranceTooTight(
        f"requested to show a difference beyond {bound:g} of {terms.rows:,} rows, of which "
        f"{differ:,} differ; even if all of those were on one side it could not be shown now. "
        "Nothing was spent. Gate a candidate that differs more, or use more rows."
    )


# What the analyst guesses: numbers, or other rows to compute them from.


@dataclass(frozen=True, slots=True)
class Guess:
    """What the analyst guesses: a number for each question, every part from other rows, or nothing.

    With a `side` the number is a bound that is claimed, and what is `gated` is to be shown beyond
    it, perhaps `graded`; `differing` is the share of rows that are said to differ, and `forecast`
    what is said of how likely it is to be shown, or confirmed. Where no half-width is named,
    `likely` are those of each place, if one is chosen there. Read once: a table to guess from is
    opened once, whatever it is used for.
    """

    numbers: tuple[float, ...] | None = None
    rows: Sample | None = None
    side: Side | None = None
    gated: bool = False
    differing: float | None = None
    forecast: ForecastGrounds | None = None
    graded: bool = False
    likely: tuple[LikelyWidth | None, ...] = ()

    @property
    def verb(self) -> Verb:
        """What is done with it."""
        if self.gated:
            return "gate"
        return "ask" if self.numbers is None and self.rows is None else "check"

    def likely_at(self, place: int) -> LikelyWidth | None:
        """The half-width that was chosen for the question at a place."""
        return self.likely[place] if self.likely else None

    def tolerance_at(self, place: int, tolerance: float | None) -> float | None:
        """The half-width of the claim at a place; where other rows are a way to ask, the call's."""
        likely = self.likely_at(place)
        return tolerance if likely is None or self.rows is not None else likely.tolerance

    def each(self, count: int) -> Guess:
        """One number as the guess of each of so many questions."""
        return self if self.numbers is None else Guess(self.numbers * count)

    def of(self, place: int) -> float | None:
        """The number guessed of the question at a place."""
        return None if self.numbers is None else self.numbers[place]


def guess_of(
    other_rows: Callable[[Any], Sample],
    guess: Any,
    at_most: float | None,
    at_least: float | None,
) -> Guess:
    """A number, a side, or other rows to guess from; only here a table is opened."""
    if at_most is not None:
        return Guess((require.finite("at_most", at_most),), side="at most")
    if at_least is not None:
        return Guess((require.finite("at_least", at_least),), side="at least")
    if guess is None:
        return Guess()
    if isinstance(guess, Real) or number_meant(guess) is not None:
        return Guess((guessed_number(guess),))
    return Guess(rows=other_rows(guess))


def require_one_claim(
    verb: Verb, guess: Any, at_most: float | None, at_least: float | None
) -> None:
    """Refuse a claim of nothing, or several claims at once."""
    if [guess is None, at_most is None, at_least is None].count(False) != 1:
        options = "guess=, at_most= and at_least=" if verb == "check" else "at_most= and at_least="
        example = "guess=0.24" if verb == "check" else "at_least=0.2"
        raise InvalidArgument(f"{verb} takes one of {options}, such as {example}.")


def guessed_number(guess: object) -> float:
    """A guess that must be a number."""
    return require.finite("guess", guess, "a finite number, such as 0.24")


# Which groups there are, as far as that is public.


_Group = tuple[DesignValue, ...]
_LONGEST_RANGE = 40  # whole numbers of a declared range


def knowing(desk: Desk, training: Sample | None) -> GroupsOf:
    """The groups that are known without the protected rows, or from those of `training`.

    As of now: somebody else may have declared ranges or values meanwhile.
    """
    desk.refresh()
    return partial(_known, desk, training)


def _known(desk: Desk, training: Sample | None, columns: Sequence[Column]) -> Sequence[_Group]:
    names = [column.name for column in columns]
    if set(names) <= set(desk.table.design.columns):
        return desk.table.design.combinations(names)
    declared = [_declared_values(desk, column) for column in columns]
    unknown = [name for name, values in zip(names, declared, strict=True) if values is None]
    if not unknown:
        return list(product(*(values or () for values in declared)))
    observed = sorted(group_sizes(_other_rows(desk, training, unknown), unknown), key=in_order)
    if len(unknown) == len(names):
        return observed
    values_seen = [value for (value,) in observed]
    return list(product(*(values_seen if values is None else values for values in declared)))


def _declared_values(desk: Desk, column: Column) -> Sequence[DesignValue] | None:
    """The values of a column as they were declared; None if they were not."""
    schema: Schema = desk.table.schema
    if column.name in desk.table.design.columns:
        return desk.table.design.members(column.name)
    if column.name in schema.values:
        values = schema.values[column.name]
        return [int(each) for each in values] if column.type is ColumnType.INTEGER else values
    if column.type is ColumnType.BOOLEAN:
        return (False, True)
    if column.type is ColumnType.INTEGER and column.name in schema.bounds:
        low, high = schema.bounds[column.name]
        if high - low < _LONGEST_RANGE:
            return range(math.ceil(low), math.floor(high) + 1)
    return None


def _other_rows(desk: Desk, training: Sample | None, names: Sequence[str]) -> Sample:
    """Rows to take groups from, which are not the protected ones."""
    rows = desk.train if training is None else training
    missing = [name for name in names if rows is None or name not in rows.types]
    if rows is None or missing:
        raise InvalidQuestion(
            f"by={missing[0]!r} needs to know the groups without looking at the protected rows: "
            "declare its values= (or a range of whole numbers) in the schema, attach other rows "
            "with train= (--train FILE), declare design= (--design at init), or ask each group "
            "with where=."
        )
    return rows
