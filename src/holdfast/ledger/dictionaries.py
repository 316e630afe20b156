"""Late dictionaries: what the ledger's entries say of searches and last looks, and their questions.

A search has a name, which its questions use for a column that is another one for each of its
members: ``avg(model = label)``. What arrives for member 17 is attached as ``model[17]``, once, and
so it has one score. A last look is about all that there is, and closes the ledger. A search that
tells only its winner has members in the same way, and takes no part of the failure probability.

What is *declared* after answers is a dictionary, too: all texts over the table's own columns, by
their lengths in the schema that has more in it now. One that has no part of the failure
probability answers nothing; its ranges and values are then only short for what could be written
out, and questions have the lengths of that, as they had before.

**Their account** (Theorem O'): what was declared when one is opened fixes the level of all its
answers, for ever; nothing that is asked later changes it. It takes a part of what is left of the
failure probability, and its answers are charged to whatever comes later and is no part of it, as
described ones are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from holdfast import require
from holdfast.errors import BudgetExhausted, InvalidQuestion, LedgerTampered, Refused
from holdfast.ledger.attachments import AttachedColumn, Attachments, schema_beside
from holdfast.ledger.chain import canonical
from holdfast.ledger.opening import Opening
from holdfast.mechanisms.described import Described
from holdfast.mechanisms.mechanism import Mechanism, Offer, alike
from holdfast.mechanisms.terms import Account, Closed, Terms
from holdfast.mechanisms.winner import WINNER, CvScores, Winner, WinnerQuestion
from holdfast.question.bounds import Range
from holdfast.question.columns import Schema
from holdfast.question.declaring import bounds_pair
from holdfast.statistics.bind import Question, bind, parts_of
from holdfast.statistics.description import (
    Bits,
    DescribedQuestion,
    Prior,
    described,
    described_again,
)
from holdfast.statistics.entry import Bound, Part, Table
from holdfast.statistics.mean import Mean
from holdfast.statistics.rule import Ground
from holdfast.theory.leakage.claim_levels import log_left
from holdfast.theory.length.levels import (
    declared_millibits,
    late_log_level,
    late_log_share,
    log_kept,
    undeclared_millibits,
)

if TYPE_CHECKING:
    from holdfast.ledger.transcript import Transcript


class Stake(NamedTuple):
    """Stake of a dictionary: ln of its failure probability, and what had leaked."""

    log_beta: float
    nats: float

    @property
    def log_level(self) -> float:
        """ln of the probability with which anything in it may fail, for a history that is fixed."""
        return late_log_level(self.log_beta, 0, self.nats)


def stake_in(terms: Terms, account: Account, share: float) -> Stake:
    """Stake out of what is left of the ledger's failure probability; refused if nothing is."""
    if terms.log_beta == -math.inf:
        raise BudgetExhausted(
            "described_share is 1, so that nothing of the failure probability is for anything "
            "else; open a ledger with a smaller described_share. Nothing was spent."
        )
    remaining = log_left(terms.log_beta, account.leakage.log_beta_spent)
    if remaining == -math.inf:
        raise BudgetExhausted(
            f"requested {share:g} of what is left of the failure probability "
            f"{math.exp(terms.log_beta):.4g}; remaining 0 after {account.asked:,} questions. Use "
            "fresh rows in a new ledger. Nothing was spent."
        )
    return Stake(late_log_share(remaining, share), account.nats)


def after_opening(account: Account, stake: Stake, share: float) -> Account:
    """The account after a dictionary is opened: later shares keep what it leaves of them.

    One that takes everything closes the ledger; nothing has a share after it.
    """
    log_remaining = log_kept(account.log_kept, share) if share < 1.0 else account.log_kept
    return replace(account, leakage=account.leakage.take(stake.log_beta), log_kept=log_remaining)


@dataclass(frozen=True, slots=True)
class LatePrior:
    """Lengths in a dictionary with so many members: of what is declared of one, and other texts.

    `own` is the prior of texts over the columns that were there, and the member's.
    """

    own: Prior
    size: int
    declared: frozenset[Part]

    def read(self, question: Question, text: str | None = None) -> Bound:
        return self.own.read(question, text)

    def of(self, question: Bound) -> Bits:
        return Bits.priced(parts_of(question), self.millibits)

    def plans(self, part: Part) -> bool:
        return self.own.plans(part)

    def millibits(self, part: Part) -> int:
        if part in self.declared:
            return declared_millibits(self.size, len(self.declared))
        return undeclared_millibits(self.size, len(self.declared)) + self.own.millibits(part)


# Dictionaries that entries declare.


DECLARED: Final = "declared/1"
LAST_LOOK = "last look"
_MEMBER = re.compile(r"(.*)\[(0|[1-9][0-9]*)\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A dictionary as it was declared: its members, its questions and what it was opened with.

    `columns` is how many columns had been attached: texts about those have a length in it. Values
    of members are `computed`, by one program for all rows alike, or they are not: which rule
    answers is fixed with the dictionary, and no choice of those who have seen scores. `space`
    is the digest of the configurations, `train` the fingerprint of the rows that models are made
    from, `code` that of what makes them: declared, so that somebody can make a member again. One
    that tells only its winner has no share, and no stake: 0 stands for both. What is `added` to the
    schema is all that was declared since the opening, up to this one.
    """

    kind: Literal["search/1", "final/1", "search/2", "final/2", "winner/1", "declared/1"]
    name: str
    size: int
    questions: tuple[str, ...]
    share: float
    log_beta: float
    nats: float
    columns: int
    at: str
    computed: bool = False
    bounds: Range | None = None
    space: str | None = None
    train: str | None = None
    code: str | None = None
    why: str | None = None
    by: str | None = None
    added: Mapping[str, Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        require.positive_integer("size", self.size)
        free = self.tells_winner or self.is_declared
        require.between("share", self.share, 0.0, 1.0, open_low=not free)
        if (self.share == 1.0) is not self.is_last:
            raise ValueError(f"{self.kind} with the share {self.share}")
        if self.is_declared is (self.added is None) or (self.is_declared and self.size > 1):
            raise ValueError(f"{self.kind} that declares {self.added}")
        if self.share == 0.0 and (self.log_beta or self.nats):
            raise ValueError(f"{self.kind} with a stake, and no share")
        if self.tells_winner and (self.share or self.log_beta or self.nats or not self.computed):
            raise ValueError(f"{self.kind} with a stake, or with values made for keys")

    @property
    def is_last(self) -> bool:
        """Whether it has all that was left, and closes the ledger."""
        return self.kind.startswith("final/")

    @property
    def tells_winner(self) -> bool:
        """Whether only its best member is told, and no share is taken for it."""
        return self.kind == WINNER

    @property
    def is_declared(self) -> bool:
        """Whether it is what was declared after answers."""
        return self.kind == DECLARED

    @property
    def contains_means(self) -> bool:
        """Whether means keep to a half-width that can be planned; the first ones opened do not."""
        return self.kind.endswith("/2") or self.is_declared

    @property
    def stake(self) -> Stake:
        """Stake that it was opened with."""
        return Stake(self.log_beta, self.nats)

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism that answers its questions, under the name that the ledger calls it."""
        named = f"{self.kind} {self.name}"
        return Winner(named) if self.tells_winner else Described(named)

    @property
    def declared(self) -> tuple[object, ...]:
        """Declaration that must be repeated by whoever names it again."""
        fields = (self.size, self.questions, self.share, self.computed, self.bounds)
        return (*fields, self.space, self.train, self.code)

    def column(self, member: int) -> str:
        """The name under which a member's values are attached."""
        return f"{self.name}[{member}]"

    def member_of(self, column: str) -> int | None:
        """Member whose values are attached under this name; None if it is no member's."""
        match = _MEMBER.fullmatch(column)
        if match is None or match[1] != self.name or int(match[2]) >= self.size:
            return None
        return int(match[2])

    def body(self) -> dict[str, Any]:
        """The entry that opens it, as plain values."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        bounds = None if self.bounds is None else list(self.bounds)
        if self.added is None:
            del plain["added"]
        return {**plain, "questions": list(self.questions), "bounds": bounds}

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Dictionary:
        """Dictionary read from an entry."""
        plain = {name: body[name] for name in cls.__slots__ if name != "added"}
        plain["added"] = body.get("added")
        bounds = None if body["bounds"] is None else bounds_pair(body["bounds"])
        return cls(**{**plain, "questions": tuple(body["questions"]), "bounds": bounds})

    def __str__(self) -> str:
        questions = f" of {', '.join(self.questions)}" if self.questions else ""
        by = f" by {self.by}" if self.by else ""
        if self.is_declared:
            return f"{self.name}: {_in_words(self.added or {})}, {self.at}{by}"
        if self.tells_winner:
            return (
                f"{self.name}: {self.size:,} configurations, of which the best is told"
                f"{questions}, opened {self.at}{by}"
            )
        return (
            f"{self.name}: {self.size:,} configurations, scores{questions} with "
            f"{math.exp(self.log_beta):.3g} of the failure probability, opened {self.at}{by} after "
            f"{self.nats:.4g} nats"
        )


@dataclass(frozen=True, slots=True)
class Dictionaries:
    """Dictionaries opened so far, by name and in order.

    `searches` are those that have members, `declarations` what was declared after answers, and
    `mechanisms` what answers their questions.
    """

    named: Mapping[str, Dictionary] = field(default_factory=dict)
    searches: tuple[Dictionary, ...] = field(init=False, compare=False)
    declarations: tuple[Dictionary, ...] = field(init=False, compare=False)
    mechanisms: tuple[Mechanism, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        every = self.named.values()
        searches = tuple(each for each in every if not each.is_last and not each.is_declared)
        object.__setattr__(self, "searches", searches)
        declarations = tuple(each for each in every if each.is_declared)
        object.__setattr__(self, "declarations", declarations)
        object.__setattr__(self, "mechanisms", tuple(each.mechanism for each in every))

    def __iter__(self) -> Iterator[Dictionary]:
        return iter(self.named.values())

    @classmethod
    def read(cls, bodies: Sequence[Mapping[str, Any]]) -> Dictionaries:
        """Dictionaries read from what `bodies` wrote."""
        dictionaries = [Dictionary.read(body) for body in bodies]
        return cls({each.name: each for each in dictionaries})

    def bodies(self) -> list[dict[str, Any]]:
        """Plain values, for a checkpoint."""
        return [each.body() for each in self]

    def declared(self, schema: Schema) -> Schema:
        """The schema of the opening with all that was declared since."""
        last = self.declarations[-1:]
        return schema_with(schema, last[0].added) if last else schema

    def of(self, mechanism: str) -> Dictionary | None:
        """The one whose questions this mechanism answers."""
        return next((each for each in self if each.mechanism.name == mechanism), None)

    def clash(self, name: str) -> str | None:
        """The name of a search that is the same but for capital letters."""
        names = {each.name.casefold(): each.name for each in self}
        return names.get(name.casefold())

    def after(
        self, new: Dictionary, terms: Terms, account: Account, attached: Attachments
    ) -> tuple[Dictionaries, Account]:
        """Dictionaries with one more, and the account after it; its stake must follow from it."""
        is_free = new.is_declared and new.share == 0.0
        closed = account.closed is not None and not is_free
        if closed or self.clash(new.name) or new.columns != len(attached.columns):
            raise LedgerTampered(f"the ledger cannot open {new.name!r} now, as it says it was.")
        every = Dictionaries({**self.named, new.name: new})
        if new.tells_winner or is_free:
            return every, account
        try:
            stake = stake_in(terms, account, new.share)
        except Refused as error:
            raise LedgerTampered(
                f"the ledger opens {new.name!r}, which had to be refused: {error}"
            ) from error
        if not alike([new.log_beta, new.nats], list(stake)):
            raise LedgerTampered(
                f"the ledger opens {new.name!r} with {new.log_beta:.6g} after {new.nats:.6g} nats; "
                f"what follows is {stake.log_beta:.6g} after {stake.nats:.6g}."
            )
        later = after_opening(account, new.stake, new.share)
        if new.is_last:
            later = replace(later, closed=Closed(new.at, "a last look was taken"))
        return every, later


def schema_with(schema: Schema, added: Mapping[str, Any] | None) -> Schema:
    """A schema with what was declared later, as `Dictionary.added` has it."""
    return schema.declare(Schema.from_dict({"types": schema.to_dict()["types"], **(added or {})}))


def _in_words(added: Mapping[str, Any]) -> str:
    """What was added, by the columns and texts that it is of."""
    return "; ".join(f"{what} of {', '.join(sorted(of))}" for what, of in added.items() if of)


def late_question(
    dictionary: Dictionary,
    opening: Opening,
    attached: Mapping[str, AttachedColumn],
    question: Question,
    member: str | None = None,
) -> DescribedQuestion:
    """A question about a member of a dictionary, with the rule that answers it at its level."""
    if member is not None and dictionary.computed and not attached[member].keyless:
        raise InvalidQuestion(
            f"{dictionary.name!r} is a search of computed=True, and the values of {member!r} are "
            "made for the keys of rows; bring what one program makes of all rows, with its digest=."
        )
    try:
        lengths = _lengths(dictionary, _Columns.of(_schema(dictionary, opening, attached, member)))
        bound = lengths.read(question)
        ground = _ground(dictionary, opening, lengths, attached, member)
        question_of_rule = described(bound, ground)
    except InvalidQuestion as error:
        raise InvalidQuestion(f"In {dictionary.name!r}, {error}") from None
    if question_of_rule is None:
        raise InvalidQuestion(f"{bound.text} has no exact interval {_why_none(ground)}")
    if member is not None and attached[member].column not in question_of_rule.columns:
        raise InvalidQuestion(
            f"{bound.text} is about no column of {dictionary.name!r}; name it in the question, as "
            f"in avg({dictionary.name} = label), or ask the holdout."
        )
    return replace(
        question_of_rule, event=None, dictionary=dictionary.mechanism.name, member=member
    )


def _why_none(ground: Ground) -> str:
    """Reason why there is no rule for a question, and what to do instead."""
    if ground.alike and ground.made_for_keys:
        return (
            "for values that are made for single keys, whose rows are not alike; open a search "
            "with computed=True, of what one program makes of all rows, or ask for a mean."
        )
    return f"for rows like these ({ground.sampling}); ask for a mean, or a share of rows."


def candidates_question(
    dictionary: Dictionary,
    opening: Opening,
    attached: Mapping[str, AttachedColumn],
    members: Sequence[str],
    cv: CvScores | None,
    *,
    alone: bool,
) -> WinnerQuestion:
    """The question for the best of some members; `alone`, for the score of one of them."""
    (question,) = dictionary.questions
    shares = [share_of(dictionary, opening, attached, question, each) for each in members]
    return WinnerQuestion(
        shares[0].text if alone else f"winner({question})",
        tuple(members),
        tuple(share.row for share in shares),
        tuple(dict.fromkeys(name for share in shares for name in share.row.columns)),
        cv,
    )


def share_of(
    dictionary: Dictionary,
    opening: Opening,
    attached: Mapping[str, AttachedColumn],
    question: Question,
    member: str,
) -> Mean:
    """The share of rows in which a member is right; refused where it is no share of all rows."""
    own = attached[member]
    schema = _schema(dictionary, opening, attached, member)
    bound = bind(question, Table(schema, opening.terms.design))
    if not isinstance(bound, Mean) or not bound.row.is_condition or bound.variance is not None:
        raise InvalidQuestion(
            f"In {dictionary.name!r}, {bound.text} is no share of all rows, and a search that "
            f"tells only its winner compares by one: avg({dictionary.name} = label). Open one that "
            "tells all scores (tell='all')."
        )
    if own.column not in bound.row.columns or not own.keyless:
        raise InvalidQuestion(
            f"In {dictionary.name!r}, {bound.text} is about no column of it that one program makes "
            f"for all rows alike; name it in the question, as in avg({dictionary.name} = label)."
        )
    return bound


def offered_again(
    transcript: Transcript, ground: Ground | None, mechanism: Mechanism, offer: Offer
) -> DescribedQuestion | WinnerQuestion:
    """The question of an offer that a ledger tells of: a described one, or one of a dictionary."""
    dictionary, attached = transcript.dictionaries.of(mechanism.name), transcript.attached.columns
    if dictionary is None:
        return described_again(offer.question, ground)
    if dictionary.tells_winner:
        return _candidates_again(dictionary, transcript, offer)
    member: str | None = None if offer.extra is None else offer.extra.get("member")
    is_member = member in attached and dictionary.member_of(member or "") is not None
    if is_member is (dictionary.is_last or dictionary.is_declared):
        raise InvalidQuestion("The text in the ledger is about no member of its search.")
    late = late_question(dictionary, transcript.opening, attached, offer.question, member)
    if late.text != offer.question:
        raise InvalidQuestion("The text in the ledger now reads as another question.")
    return late


def _candidates_again(
    dictionary: Dictionary, transcript: Transcript, offer: Offer
) -> WinnerQuestion:
    extra, attached = offer.extra or {}, transcript.attached.columns
    members = extra["members"]
    places = [dictionary.member_of(each) for each in members if each in attached]
    existing = [place for place in places if place is not None]
    if len(existing) < len(members) or existing != sorted(set(existing)):
        raise InvalidQuestion("The text in the ledger is about no members of its search, in order.")
    cv = None if extra["cv"] is None else CvScores(tuple(extra["cv"]), extra["cv_rows"])
    for alone in (False, True) if len(members) == 1 else (False,):
        again = candidates_question(
            dictionary, transcript.opening, attached, members, cv, alone=alone
        )
        if again.text == offer.question:
            return again
    raise InvalidQuestion("The text in the ledger now reads as another question.")


def _schema(
    dictionary: Dictionary,
    opening: Opening,
    attached: Mapping[str, AttachedColumn],
    member: str | None,
) -> Schema:
    """The columns that were there when it was opened, and the member's, by the search's name."""
    own, before = opening.schema, list(islice(attached.values(), dictionary.columns))
    declared = own if dictionary.added is None else schema_with(own, dictionary.added)
    schema = schema_beside(declared, before)
    if member is None:
        return schema
    column = attached[member]
    new = column.column not in schema.types
    return schema.with_columns(
        {column.column: column.type} if new else {},
        {column.column: column.bounds} if new and column.bounds is not None else {},
        {dictionary.name: column.column},
    )


@dataclass(frozen=True, slots=True)
class _Columns:
    """A schema that is the same as another one if it says the same."""

    text: str
    schema: Schema = field(compare=False)

    @classmethod
    def of(cls, schema: Schema) -> _Columns:
        return cls(canonical({**schema.to_dict(), "aliases": dict(schema.aliases)}), schema)


@lru_cache(maxsize=4)
def _lengths(dictionary: Dictionary, columns: _Columns) -> LatePrior:
    """The lengths of texts in a dictionary: a last look asks for those of a thousand questions."""
    own = Prior(columns.schema)
    declared = frozenset(parts_of(own.read(each))[0].part for each in dictionary.questions)
    return LatePrior(own, dictionary.size, declared)


def _ground(
    dictionary: Dictionary,
    opening: Opening,
    lengths: LatePrior,
    attached: Mapping[str, AttachedColumn],
    member: str | None,
) -> Ground:
    """Ground of a dictionary's rules: its own level, and what may be made for single keys."""
    terms, columns = opening.terms, lengths.own.schema.types
    made_for_keys = {name for name, column in attached.items() if not column.keyless}
    keyed = columns.keys() & {terms.key, *made_for_keys}
    if member is not None and not dictionary.computed:
        keyed.add(attached[member].column)
    return Ground(
        terms.rows,
        terms.sampling,
        lengths,
        terms.level_for_later(dictionary.stake.log_level),
        opening.table.design,
        rounded=terms.described == "rounded" and not dictionary.is_last,
        for_these_items=bool(terms.public),
        made_for_keys=frozenset(keyed),
        contains_means=dictionary.contains_means,
    )
