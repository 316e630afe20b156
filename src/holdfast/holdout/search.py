"""Search spaces: exact scores of declared candidates, all true together, and their cost.

The configurations are declared before any of them is scored. A candidate is made from rows that are
not protected, at one of the configurations, and what it predicts for the protected rows is attached
under the configuration's own name, once. So there are as many scores as configurations, whoever
looks at them and whatever chooses the next: each is at 1/N of the search's level (Theorem O').

With `tell="winner"` nothing is scored until all candidates are there; then the best one is told,
with the cell of its score, and nothing of the others (Theorem S). That takes no share, and leaks a
few nats: the fewer, the better cross-validation on other rows foresaw it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack, get_args

from holdfast import require
from holdfast.data.attached import Computed, Fields, ScoreBounds, column_values, type_within
from holdfast.data.fingerprint import fingerprint
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.holdout.answer import Answer
from holdfast.holdout.ask import CallTerms, answers_to
from holdfast.holdout.attach import Bringing, attach_column, checked_name
from holdfast.holdout.batch import Body
from holdfast.holdout.desk import Desk, require_late
from holdfast.holdout.price import Cost, cost_of
from holdfast.holdout.request import Guess
from holdfast.holdout.space import Space, space_of
from holdfast.ledger.attachments import AttachedColumn, Origin
from holdfast.ledger.chain import now
from holdfast.ledger.dictionaries import (
    LAST_LOOK,
    Dictionary,
    after_opening,
    candidates_question,
    late_question,
    share_of,
    stake_in,
)
from holdfast.ledger.entries import Recorded
from holdfast.ledger.transcript import informed, is_keyless
from holdfast.mechanisms.mechanism import Wish
from holdfast.mechanisms.winner import CvScores
from holdfast.question.bounds import Range
from holdfast.question.declaring import bounds_pair
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import Question
from holdfast.statistics.description import DescribedQuestion, sure_half_width
from holdfast.statistics.entry import Call
from holdfast.statistics.mean import Mean
from holdfast.statistics.whole import TableFunction
from holdfast.theory.length.levels import SEARCH_SHARE, coexistence_log_charge
from holdfast.wording import at_most

# What opening a search takes, told before it is opened.


@dataclass(frozen=True, slots=True)
class SearchCost:
    """What opening a search takes, before it is opened. Free to know, and nothing of the data.

    `level` is the failure probability of all its scores together, `left` that of what is left.
    `half_width` is the widest that the score of its first question can be, as a part of the range
    (None where that is not known), `nats` what each score adds for questions asked later.
    `questions_left` is how many those are at the declared half-width, now and after it is opened.
    """

    name: str
    size: int
    level: float
    left: float
    half_width: float | None
    nats: float | None
    questions_left: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {**plain, "questions_left": list(self.questions_left)}

    def __str__(self) -> str:
        before, after = self.questions_left
        wide = "" if self.half_width is None else f", half-width at most {at_most(self.half_width)}"
        nats = "" if self.nats is None else f" and takes {self.nats:.4g} nats of later questions"
        return (
            f"{self.name}: {self.size:,} configurations, any number of scores; takes "
            f"{self.level:.3g} of the {self.left:.3g} that is left of the failure probability; a "
            f"score is exact{wide}{nats}; questions left without a description: {before:,} now, "
            f"{after:,} after it is opened"
        )

    __repr__ = __str__


# What is said of a number is read rightly of a condition, too; "model > 0.5" of a condition is
# "model", which is another thing of numbers.
_NUMBERS = (ColumnType.FLOAT, ColumnType.INTEGER)
_TYPES = (*_NUMBERS, ColumnType.TEXT, ColumnType.BOOLEAN)
_COMPUTED = (ColumnType.FLOAT, ColumnType.BOOLEAN)


Tell = Literal["all", "winner"]  # what is told of the scores of a search


class Declaring(TypedDict, total=False):
    """What is declared of a search beside its name and its configurations."""

    size: int | None
    question: Question | Sequence[Question] | None
    tell: Tell
    share: float
    computed: bool
    bounds: tuple[float, float] | None
    train: Any
    code: str | None
    why: str | None
    asked_by: str | None


@require.takes(Declaring, "search")
def opened_search(
    desk: Callable[[], Desk], name: str, space: Any, **declared: Unpack[Declaring]
) -> Search:
    """The search of this name: opened now, or as it was opened with the same declarations."""
    at = desk()
    at.refresh()
    existing = at.transcript.dictionaries.named.get(name)
    if existing is not None and space is None and not declared:
        return Search(desk, existing, Space(existing.size))
    configurations = space_of(space, declared.get("size"))
    wanted = _proposed(at, name, configurations, declared)

    def entry() -> list[Body]:
        return [] if _is_there(at, wanted) else [_opened_now(at, wanted).body()]

    if not _is_there(at, wanted):
        at.tell(entry)
    return Search(desk, at.transcript.dictionaries.named[name], configurations)


def _proposed(desk: Desk, name: str, space: Space, options: Declaring) -> Dictionary:
    """What somebody declares, checked, before it has a stake; nothing is written."""
    require_late(desk, "search")
    checked_name(name)
    code, why, asked_by = (options.get("code"), options.get("why"), options.get("asked_by"))
    for what, text in (("code", code), ("why", why), ("asked_by", asked_by)):
        if text is not None:
            require.text(what, text)
    tells_winner = require.one_of("tell", get_args(Tell), options.get("tell", "all")) == "winner"
    if tells_winner and "share" in options:
        raise InvalidArgument(
            f"share is {options['share']!r}, and a search that tells only its winner takes none of "
            "the failure probability; leave it out."
        )
    share = require.probability("share", options.get("share", SEARCH_SHARE))
    bounds, train = options.get("bounds"), options.get("train")
    wanted = Dictionary(
        kind="winner/1" if tells_winner else "search/2",
        name=name,
        size=space.size,
        questions=(),
        share=0.0 if tells_winner else share,
        log_beta=0.0,
        nats=0.0,
        columns=len(desk.transcript.attached.columns),
        at="",
        computed=require.flag("computed", options.get("computed", tells_winner)),
        bounds=None if bounds is None else bounds_pair(bounds),
        space=space.digest,
        train=None if train is None else fingerprint(desk.other_rows(train)),
        code=code,
        why=why,
        by=asked_by,
    )
    return replace(wanted, questions=_declared_texts(desk, wanted, options.get("question")))


def _declared_texts(
    desk: Desk, wanted: Dictionary, question: Question | Sequence[Question] | None
) -> tuple[str, ...]:
    """The questions in canonical words, the search's name standing for a configuration's column."""
    _require_free(desk, wanted)
    if wanted.tells_winner:
        return (_compared_by(desk, wanted, question).text,)
    texts = [_of_stand_in(desk, wanted, each).text for each in _several(question)]
    if len(set(texts)) < len(texts):
        raise InvalidArgument("question has the same question twice; declare each once.")
    return tuple(texts)


def _compared_by(
    desk: Desk, wanted: Dictionary, question: Question | Sequence[Question] | None
) -> Mean:
    """The share by which candidates are compared, about a column of the search's own name."""
    questions = _several(question)
    if len(questions) != 1:
        raise InvalidArgument(
            f"question has {len(questions):,} questions, and a search that tells only its winner "
            f'compares by one: question="avg({wanted.name} = label)".'
        )
    refused: InvalidQuestion | None = None
    bounded = wanted.bounds is not None
    for type_ in (each for each in _COMPUTED if each in _NUMBERS or not bounded):
        attached = _with_stand_in(desk, wanted, wanted.name, type_)
        try:
            return share_of(wanted, desk.opening, attached, questions[0], wanted.name)
        except InvalidQuestion as error:
            refused = refused or error
    raise InvalidQuestion(f"{refused} Nothing was spent.")


def _several(question: Question | Sequence[Question] | None) -> Sequence[Question]:
    if question is None:
        return ()
    return [question] if isinstance(question, str | Call | Mean | TableFunction) else question


def _of_stand_in(desk: Desk, dictionary: Dictionary, question: Question) -> DescribedQuestion:
    """The question about a column that has the search's own name, of the first type that fits."""
    refused: InvalidQuestion | None = None
    possible = _COMPUTED if dictionary.computed else _TYPES
    bounded = dictionary.bounds is not None
    for type_ in (each for each in possible if each in _NUMBERS or not bounded):
        try:
            return _of_column(desk, dictionary, dictionary.name, type_, question)
        except InvalidQuestion as error:
            refused = refused or error
    raise InvalidQuestion(f"{refused} Nothing was spent.")


def _of_column(
    desk: Desk,
    dictionary: Dictionary,
    name: str,
    type_: ColumnType,
    question: Question,
    bounds: Range | None = None,
) -> DescribedQuestion:
    """The question about a column that is not attached yet."""
    attached = _with_stand_in(desk, dictionary, name, type_, bounds)
    return late_question(dictionary, desk.opening, attached, question, name)


def _with_stand_in(
    desk: Desk, dictionary: Dictionary, name: str, type_: ColumnType, bounds: Range | None = None
) -> dict[str, AttachedColumn]:
    """The columns there are, and one that is not attached yet."""
    declared = bounds or dictionary.bounds
    origin: Origin = "computed" if dictionary.computed else "submitted"
    keyless = dictionary.computed
    column = AttachedColumn(name, name, origin, "", type_, declared, "", None, keyless)
    return {**desk.transcript.attached.columns, name: column}


def _opened_now(desk: Desk, wanted: Dictionary) -> Dictionary:
    """The search with what it is opened with, if it is opened now; refused if nothing is left."""
    transcript = desk.transcript
    account = transcript.committed
    account.require_open()
    opened = replace(wanted, columns=len(transcript.attached.columns), at=now())
    if wanted.tells_winner:
        return opened
    log_beta, nats = stake_in(transcript.terms, account, wanted.share)
    return replace(opened, log_beta=log_beta, nats=nats)


def _is_there(desk: Desk, wanted: Dictionary) -> bool:
    """Whether it was opened already; refused if the name is another's."""
    before = desk.transcript.dictionaries.named.get(wanted.name)
    if before is not None and before.declared == wanted.declared:
        return True
    if before is not None:
        raise InvalidArgument(
            f"the search {before.name!r} was opened with other declarations ({before}), and a name "
            "never means others; choose another one. Nothing was spent."
        )
    _require_free(desk, wanted)
    return False


def _require_free(desk: Desk, wanted: Dictionary) -> None:
    """Refuse a name that a column has, or another search but for capital letters."""
    transcript, name = desk.transcript, wanted.name
    others = [each for each in transcript.dictionaries.named if each != name]
    clash = transcript.attached.clash(name, (*desk.opening.schema.types, *others, LAST_LOOK))
    if clash is not None:
        raise InvalidArgument(
            f"the name {name!r} is taken by {clash!r}, and a search's name stands for a column in "
            "its questions; choose another one. Nothing was spent."
        )


@require.takes(Declaring, "search_cost")
def cost_of_search(desk: Desk, name: str, space: Any, **declared: Unpack[Declaring]) -> SearchCost:
    """What it would take to open a search; refused as it would be."""
    desk.refresh()
    configurations = space_of(space, declared.get("size"))
    opened = _opened_now(desk, _proposed(desk, name, configurations, declared))
    terms, account = desk.transcript.terms, desk.transcript.committed
    mechanism, tells_winner = desk.transcript.mechanism, opened.tells_winner
    scored = opened.questions and not tells_winner
    rule = _of_stand_in(desk, opened, opened.questions[0]).rule if scored else None
    after = account if tells_winner else after_opening(account, opened.stake, opened.share)
    return SearchCost(
        name,
        opened.size,
        0.0 if tells_winner else math.exp(opened.log_beta),
        math.exp(stake_in(terms, account, 1.0).log_beta),
        None if rule is None else sure_half_width(rule),
        None if rule is None else coexistence_log_charge(rule.symbols),
        (mechanism.questions_left(terms, account), mechanism.questions_left(terms, after)),
    )


class Search:
    """A search space of a holdout, and the scores of its configurations. Made by `search`."""

    def __init__(self, desk: Callable[[], Desk], dictionary: Dictionary, space: Space) -> None:
        self._desk = desk
        self._dictionary = dictionary
        self._space = space

    @property
    def name(self) -> str:
        """What it is called, and what its questions call the column of a configuration."""
        return self._dictionary.name

    @property
    def size(self) -> int:
        """How many configurations it has."""
        return self._dictionary.size

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions that were declared, which have the narrowest intervals."""
        return self._dictionary.questions

    @property
    def scores(self) -> list[Recorded]:
        """What was told of configurations, in order; `member` names the column of each."""
        desk = self._desk()
        desk.refresh()
        mechanism = self._dictionary.mechanism.name
        return [look for look in desk.transcript.answers if look.mechanism == mechanism]

    def column(self, configuration: Any) -> str:
        """The name under which the values of a configuration are attached."""
        return self._dictionary.column(self._space.place_of(configuration))

    def cost(self, question: Question | None = None) -> Cost:
        """What a score would cost, and how wide it is at most. Free; touches no data."""
        desk = self._desk()
        if self._dictionary.tells_winner:
            raise InvalidArgument(
                f"{self.name!r} tells only its winner, and what that costs depends on which it is: "
                "-ln of its prior and of that of its cell. Call winner."
            )
        desk.refresh()
        stand_in = _of_stand_in(desk, self._dictionary, self._question_of(question))
        return cost_of(desk, stand_in, Guess(), None)

    @require.takes()
    def score(
        self,
        configuration: Any,
        values: Any = None,
        *,
        question: Question | None = None,
        key: str | None = None,
        value: str | None = None,
        missing: str = "refuse",
        digest: str | None = None,
        why: str | None = None,
        asked_by: str | None = None,
    ) -> Answer:
        """The exact score of a configuration, by the values it gives to the protected rows.

        `values`, `key`, `value`, `missing` and `digest` are as for `attach`: what was made with
        protected columns has the digest of what made it. A configuration has its values once; for
        another question about it they are left out. `question` is one that was declared (the
        first, by default), or any other, whose interval is wider by its length. In a search that
        tells only its winner this is one more claim, about this configuration alone.
        """
        desk, name, asked = self._desk(), self.column(configuration), self._question_of(question)
        desk.refresh()
        if values is not None:
            bringing = Bringing(
                Fields(name, key, value), self._bounds(values, digest), missing, digest
            )
            self._bring(desk, values, bringing, asked, asked_by)
        if name not in desk.transcript.attached.columns:
            raise InvalidArgument(
                f"{name!r} has no values yet; give what the candidate says of the protected rows. "
                "Nothing was spent."
            )
        if self._dictionary.tells_winner:
            winner = self._winner_known(desk)
            if winner is not None and winner.member == name:
                return Answer(winner, desk.budget(), repeated=True)
            return self._answer_about(desk, [name], None, CallTerms(why, asked_by), alone=True)
        score = late_question(
            self._dictionary, desk.opening, desk.transcript.attached.columns, asked, name
        )
        requests = CallTerms(why, asked_by).requests(desk, [score], [None], Guess())
        (answer,) = answers_to(desk, [score], requests, Guess())
        return answer

    @require.takes()
    def bring(
        self,
        configuration: Any,
        values: Any,
        *,
        digest: str | None = None,
        asked_by: str | None = None,
    ) -> None:
        """The values that a configuration gives to the protected rows, and no score: for `winner`.

        `values` and `digest` are as for `attach`.
        """
        desk, name = self._desk(), self.column(configuration)
        desk.refresh()
        bringing = Bringing(
            Fields(name, None, None), self._bounds(values, digest), "refuse", digest
        )
        self._bring(desk, values, bringing, self._question_of(None), asked_by)

    @require.takes()
    def winner(
        self,
        *,
        cv: Iterable[tuple[Any, float | None]] | None = None,
        cv_rows: int | None = None,
        why: str | None = None,
        asked_by: str | None = None,
    ) -> Answer:
        """The best of all configurations that were brought, with the cell of its score; once.

        `cv` has pairs of a configuration and its cross-validated score on `cv_rows` rows that are
        not protected: the prior. Without it all configurations weigh alike. Of ties the one that
        was declared first is told. `recorded.member` names its column.
        """
        desk = self._desk()
        desk.refresh()
        if not self._dictionary.tells_winner:
            raise InvalidArgument(
                f"{self.name!r} was opened to tell all scores; open one with tell='winner'. "
                "Nothing was spent."
            )
        winner = self._winner_known(desk)
        if winner is not None:
            return Answer(winner, desk.budget(), repeated=True)
        attached = desk.transcript.attached.columns
        columns = {
            place: name
            for name, column in attached.items()
            if column.ready and (place := self._dictionary.member_of(name)) is not None
        }
        if not columns:
            raise InvalidArgument(
                f"{self.name!r} has no candidates yet; bring what each says of the protected rows. "
                "Nothing was spent."
            )
        places = sorted(columns)
        scores = self._cv_scores(places, cv, cv_rows)
        members = [columns[place] for place in places]
        return self._answer_about(desk, members, scores, CallTerms(why, asked_by), alone=False)

    def place_of(self, answer: Answer) -> int:
        """The number of the configuration that an answer is about."""
        place = self._dictionary.member_of(answer.recorded.member or "")
        if place is None:
            raise InvalidArgument(f"{answer.question} is about no configuration of {self.name!r}.")
        return place

    def _cv_scores(
        self,
        places: Sequence[int],
        cv: Iterable[tuple[Any, float | None]] | None,
        cv_rows: int | None,
    ) -> CvScores | None:
        if (cv is None) is not (cv_rows is None):
            raise InvalidArgument(
                f"cv is {'not ' if cv is None else ''}given and cv_rows is {cv_rows!r}; give both, "
                "or neither."
            )
        if cv is None or cv_rows is None:
            return None
        scores = {self._space.place_of(configuration): score for configuration, score in cv}
        return CvScores(tuple(scores.get(place) for place in places), cv_rows)

    def _winner_known(self, desk: Desk) -> Recorded | None:
        """The winner that was told; None if none was."""
        (question,) = self._dictionary.questions
        return next(iter(desk.transcript.looks_at(f"winner({question})")), None)

    def _answer_about(
        self,
        desk: Desk,
        members: Sequence[str],
        cv: CvScores | None,
        terms: CallTerms,
        *,
        alone: bool,
    ) -> Answer:
        """The best of some members, or the score of one; what is known is told again, free."""
        mechanism = self._dictionary.mechanism
        attached = desk.transcript.attached.columns
        question = candidates_question(
            self._dictionary, desk.opening, attached, members, cv, alone=alone
        )
        wish = Wish(question, desk.half_width(None, question))

        def tell() -> Answer:
            looks = desk.transcript.looks_at(question.text)
            own_look = next((look for look in looks if look.mechanism == mechanism.name), None)
            if own_look is not None:
                return Answer(own_look, desk.budget(), repeated=True)
            transcript = desk.transcript
            transcript.account.require_open()
            informed_wish = informed(transcript, wish)
            offers = mechanism.offer(transcript.terms, transcript.account, [informed_wish])
            (request,) = terms.requests(desk, [question], [None], Guess())
            (look,) = desk.take(mechanism, offers, [wish], {question.text: request})
            return Answer(look, desk.budget())

        return desk.alone(tell)

    def _bring(
        self, desk: Desk, values: Any, how: Bringing, question: Question, asked_by: str | None
    ) -> None:
        """Attach values under a configuration's name, once they are seen to be readable."""
        name = how.fields.name
        is_new = name not in desk.transcript.attached.columns
        is_told = self._dictionary.tells_winner and self._winner_known(desk) is not None
        if is_new and is_told:
            raise InvalidArgument(
                f"the winner of {self.name!r} was told, and {name!r} was not among its candidates; "
                "open another search for it. Nothing was spent."
            )
        self._require_readable(desk, question, values, how)
        attach_column(desk, values, how, asked_by)

    def _question_of(self, question: Question | None) -> Question:
        if question is not None:
            return question
        if not self.questions:
            raise InvalidArgument(
                f"{self.name!r} was opened without a question; name one with question=."
            )
        return self.questions[0]

    def _bounds(self, values: Any, digest: str | None) -> ScoreBounds | None:
        """Those of values that are brought; without any, what comes with a digest is a condition.

        What is computed from protected rows has bounds of its own.
        """
        if isinstance(values, Computed):
            return None
        return self._dictionary.bounds or (bool if digest is not None else None)

    def _require_readable(self, desk: Desk, question: Question, values: Any, how: Bringing) -> None:
        """Refuse values that cannot be asked about, before they have the name."""
        fields = how.fields
        if fields.name in desk.transcript.attached.columns:
            return
        desk.transcript.account.require_open()
        type_, bounds, keyless = type_within(self._dictionary.bounds), None, True
        if isinstance(values, Computed):
            type_, bounds = values.type, values.bounds
            keyless = is_keyless(desk.transcript, values.columns)
        elif how.digest is None:
            column = column_values(values, desk.protected.order, fields, missing=how.missing)
            type_, keyless = column.type, False
        if self._dictionary.computed and not keyless:
            raise InvalidArgument(
                f"{self.name!r} is a search of computed=True, and values are made for the keys of "
                "rows; bring what one program makes of all rows alike: a function of other "
                "columns, or values with its digest=. Nothing was spent."
            )
        if self._dictionary.tells_winner:
            columns = _with_stand_in(desk, self._dictionary, fields.name, type_, bounds)
            share_of(self._dictionary, desk.opening, columns, question, fields.name)
            return
        _of_column(desk, self._dictionary, fields.name, type_, question, bounds)

    def __repr__(self) -> str:
        """How many configurations, and what they have of the failure probability."""
        scored = len({look.member for look in self.scores})
        if self._dictionary.tells_winner:
            return f"Search {self.name!r}: {self.size:,} configurations, {scored:,} told"
        return (
            f"Search {self.name!r}: {self.size:,} configurations, {scored:,} scored; of the "
            f"failure probability {math.exp(self._dictionary.log_beta):.3g} is for all of them"
        )
