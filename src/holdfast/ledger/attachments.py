"""Attached columns: what the ledger's entries say of columns that came after its opening.

`attach/1` names a column. `values/1` says that the values of a computed one are kept, by a mark
that needs the ledger's secret. `promote/1` names the column that others are compared with.

A leaderboard ranks such columns: `board/1` declares what submissions are scored by.
`turned_away/1` lists a submission that could not be read, or did not fit: nothing was attached, and
nothing was asked.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal, TypeAlias, get_args

from holdfast.ledger.chain import canonical
from holdfast.question.bounds import Range
from holdfast.question.columns import Schema
from holdfast.question.declaring import bounds_pair
from holdfast.question.expression import ColumnType

_BOARD, _TURNED_AWAY = "board/1", "turned_away/1"
BOARDING = frozenset({_BOARD, _TURNED_AWAY})


@dataclass(frozen=True, slots=True)
class BoardTerms:
    """Terms of a leaderboard: the metric, the column of labels, their range or the cap of errors.

    With `public` every submission is compared with the leader as it arrives, and its claim checked,
    until `wrong_claims` were refuted; without, nothing is looked at before the end.
    """

    metric: str
    label: str
    y_range: Range | None
    public: bool
    wrong_claims: int
    at: str
    cap: float | None = None

    @property
    def said(self) -> tuple[object, ...]:
        """Declaration that must be repeated by whoever opens it again."""
        return (self.metric, self.label, self.y_range, self.public, self.wrong_claims, self.cap)

    def __str__(self) -> str:
        y_range = "" if self.y_range is None else " in [{:g}, {:g}]".format(*self.y_range)
        cap = "" if self.cap is None else f", errors capped at {self.cap:g}"
        when = "as they come" if self.public else "at the end alone"
        return f"{self.metric} of {self.label}{y_range}{cap}, looked at {when}, declared {self.at}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {**plain, "y_range": None if self.y_range is None else list(self.y_range)}

    def body(self) -> dict[str, Any]:
        """The entry that declares it."""
        return {"kind": _BOARD, **self.to_dict()}

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> BoardTerms:
        """Terms read from an entry."""
        plain = {name: body[name] for name in cls.__slots__ if name != "cap"}
        y_range = None if body["y_range"] is None else bounds_pair(body["y_range"])
        return cls(**{**plain, "y_range": y_range, "cap": body.get("cap")})


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """A submission that was not taken, and why; `called` is what its team calls it."""

    team: str
    called: str | None
    why: str
    at: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: getattr(self, name) for name in self.__slots__}

    def body(self) -> dict[str, Any]:
        """The entry that lists it."""
        return {"kind": _TURNED_AWAY, **self.to_dict()}


@dataclass(frozen=True, slots=True)
class BoardRecord:
    """Record of a ledger's board, if it has one: its terms, and who was turned away."""

    terms: BoardTerms | None = None
    turned_away: tuple[TurnedAway, ...] = ()

    def after(self, body: Mapping[str, Any]) -> BoardRecord:
        """The record after one more entry; a ValueError if it cannot have been written then."""
        if (body["kind"] == _BOARD) is not (self.terms is None):
            raise ValueError("a board is declared once, and first of all")
        if body["kind"] == _BOARD:
            return replace(self, terms=BoardTerms.read(body))
        new = TurnedAway(*(body[name] for name in TurnedAway.__slots__))
        return replace(self, turned_away=(*self.turned_away, new))

    def bodies(self) -> list[dict[str, Any]]:
        """Entries that come to the same, for a checkpoint."""
        declared = [] if self.terms is None else [self.terms.body()]
        return [*declared, *(each.body() for each in self.turned_away)]


# Columns.


_ATTACH, _VALUES, _PROMOTE = "attach/1", "values/1", "promote/1"
ATTACHING = BOARDING | {_ATTACH, _VALUES, _PROMOTE}  # the entries that are folded here

Origin: TypeAlias = Literal["submitted", "computed"]


@dataclass(frozen=True, slots=True)
class ValuesKept:
    """Record that the values of a computed column are on the disk.

    `mark` is of their digest, keyed with the ledger's secret and with a `salt` of its own: without
    the secret it tells nothing, not even whether two columns hold the same.
    """

    salt: str
    mark: str
    at: str

    def body(self, column: str) -> dict[str, Any]:
        """The entry that says it of a column."""
        return {"kind": _VALUES, "column": column, **_plain(self)}


@dataclass(frozen=True, slots=True)
class AttachedColumn:
    """A name for values that arrived later; made once, it never means others.

    `column` is what the ledger's questions call it: the first name that the same column had here.
    *Submitted* values were made without protected columns, and their `digest`, of keys, values and
    type, is who they are. *Computed* ones were made with them: who they are is the digest that was
    declared, or else the name, and never the values; those are there once they are `kept`.
    `keyless` tells that one program made them for all rows alike, each from its row and whatever
    its key; submitted ones were chosen for their keys. `scoring` is how scores were made, by task,
    format, filter and scorer, as far as their log says.
    """

    name: str
    column: str
    origin: Origin
    digest: str | None
    type: ColumnType
    bounds: Range | None
    at: str
    by: str | None
    keyless: bool = False
    kept: ValuesKept | None = None
    scoring: Mapping[str, str] | None = None

    @property
    def identity(self) -> tuple[str, str]:
        """Identity of the column: columns are the same if this is."""
        return ("name", self.name) if self.digest is None else (self.origin, self.digest)

    @property
    def known_by(self) -> str:
        """Identity in words; a declared digest is shown whole, one of content is only hex."""
        if self.digest is None:
            return "known by its name"
        return f"digest {self.digest if self.is_computed else self.digest[:12]}"

    @property
    def is_alias(self) -> bool:
        """Whether the same column had another name before."""
        return self.name != self.column

    @property
    def is_computed(self) -> bool:
        """Whether it was made with protected columns."""
        return self.origin == "computed"

    @property
    def ready(self) -> bool:
        """Whether its values are there; of a computed one they come after its name."""
        return self.kept is not None or not self.is_computed

    def is_same(self, column: AttachedColumn) -> bool:
        """Whether it is the same column, whoever attached it and under whatever name."""
        facts = (self.identity, self.type, self.bounds, self.keyless)
        return facts == (column.identity, column.type, column.bounds, column.keyless)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; how it was scored, if that is said."""
        left_out = ("kept",) if self.scoring is not None else ("kept", "scoring")
        plain = {name: value for name, value in _plain(self).items() if name not in left_out}
        bounds = None if self.bounds is None else list(self.bounds)
        return {**plain, "type": str(self.type), "bounds": bounds, "ready": self.ready}

    def body(self) -> dict[str, Any]:
        """The entry that attaches it."""
        facts = self.to_dict()
        del facts["ready"]
        return {"kind": _ATTACH, **facts}

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> AttachedColumn:
        plain = {name: body[name] for name in cls.__slots__ if name not in ("kept", "scoring")}
        if plain["origin"] not in get_args(Origin):
            raise ValueError(f"columns that are {plain['origin']!r}")
        if not plain["digest"] and (plain["origin"], plain["digest"]) != ("computed", None):
            raise ValueError("a column without a digest")
        if plain["keyless"] and plain["origin"] == "submitted":
            raise ValueError("values that were chosen for their keys, and are not")
        bounds = None if body["bounds"] is None else bounds_pair(body["bounds"])
        scoring = body.get("scoring")
        if scoring is not None and not all(isinstance(each, str) for each in scoring.values()):
            raise ValueError("a scoring that is no text")
        facts = {"type": ColumnType(body["type"]), "bounds": bounds, "scoring": scoring}
        return cls(**{**plain, **facts})

    def __str__(self) -> str:
        alias = f", the same as {self.column}" if self.is_alias else ""
        bounds = "" if self.bounds is None else f" in [{self.bounds.low:g}, {self.bounds.high:g}]"
        by = f" by {self.by}" if self.by else ""
        waiting = "" if self.ready else ", its values are not there yet"
        return (
            f"{self.name}: {self.origin}, {self.type}{bounds}{alias}, {self.known_by}, "
            f"attached {self.at}{by}{waiting}"
        )


@dataclass(frozen=True, slots=True)
class Promotion:
    """The column that others are compared with from then on."""

    name: str
    column: str
    why: str | None
    by: str | None
    at: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return _plain(self)

    def body(self) -> dict[str, Any]:
        """The entry that promotes it."""
        return {"kind": _PROMOTE, **self.to_dict()}

    def __str__(self) -> str:
        why = f": {self.why}" if self.why else ""
        by = f" by {self.by}" if self.by else ""
        return f"{self.name}, promoted {self.at}{by}{why}"


@dataclass(frozen=True, slots=True)
class Attachments:
    """Attached columns so far, by name and in order, and which were promoted.

    `made_for_keys` are those whose values were chosen for single keys: rows that are alike do not
    stay so given one of them. `board` is what is said of them as submissions to a leaderboard.
    """

    columns: Mapping[str, AttachedColumn] = field(default_factory=dict)
    made_for_keys: frozenset[str] = frozenset()
    promotions: tuple[Promotion, ...] = ()
    board: BoardRecord = field(default_factory=BoardRecord)
    # There may be thousands: by their names without capitals, and the first ones by who they are.
    _names: Mapping[str, str] = field(default_factory=dict)
    _firsts: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[AttachedColumn]:
        return iter(self.columns.values())

    @property
    def incumbent(self) -> Promotion | None:
        """Name of the column that was promoted last."""
        return self.promotions[-1] if self.promotions else None

    @classmethod
    def read(cls, bodies: Sequence[Mapping[str, Any]], table: Iterable[str]) -> Attachments:
        """Attachments of a table with these columns, read from entries that `bodies` wrote."""
        attachments, named = cls(), tuple(table)
        for body in bodies:
            attachments = attachments.after(body, named)
        return attachments

    def bodies(self) -> list[dict[str, Any]]:
        """Entries that come to the same, for a checkpoint."""
        named = [column for column in self if not column.is_alias]
        return [
            *(column.body() for column in self),
            *(each.kept.body(each.name) for each in named if each.kept is not None),
            *(promotion.body() for promotion in self.promotions),
            *self.board.bodies(),
        ]

    def after(self, body: Mapping[str, Any], table: Iterable[str]) -> Attachments:
        """Those, after one more entry; a ValueError if it cannot have been written then."""
        if body["kind"] == _ATTACH:
            return self._attached(AttachedColumn.read(body), table)
        if body["kind"] == _VALUES:
            values = ValuesKept(body["salt"], body["mark"], body["at"])
            return self._valued(body["column"], values)
        if body["kind"] in BOARDING:
            return replace(self, board=self.board.after(body))
        return self._promoted(Promotion(*(body[name] for name in Promotion.__slots__)), table)

    def _attached(self, column: AttachedColumn, table: Iterable[str]) -> Attachments:
        first = self.first_of(column.identity)
        if first is None:
            consistent = column.column == column.name
        else:
            consistent = column.column == first.name and column.is_same(first)
            column = replace(column, kept=first.kept)
        if not consistent or self.clash(column.name, table) is not None:
            raise ValueError(f"it cannot attach {column.name!r} now")
        return replace(
            self,
            columns={**self.columns, column.name: column},
            made_for_keys=self.made_for_keys.union(() if column.keyless else (column.name,)),
            _names={**self._names, column.name.casefold(): column.name},
            _firsts={column.identity: column.name, **self._firsts},
        )

    def _valued(self, name: str, values: ValuesKept) -> Attachments:
        column = self.columns[name]
        if column.ready or column.is_alias:
            raise ValueError(f"it cannot give {name!r} values now")
        aliases = (each for each in self if each.column == name)
        now_kept = {each.name: replace(each, kept=values) for each in aliases}
        return replace(self, columns={**self.columns, **now_kept})

    def _promoted(self, promotion: Promotion, table: Iterable[str]) -> Attachments:
        attached = self.columns.get(promotion.name)
        own = promotion.name if promotion.name in table else None
        if promotion.column != (own if attached is None else attached.column):
            raise ValueError(f"it cannot promote {promotion.name!r}")
        return replace(self, promotions=(*self.promotions, promotion))

    def clash(self, name: str, columns: Iterable[str]) -> str | None:
        """The name, of these and `columns`, that is the same but for capital letters."""
        wanted = name.casefold()
        attached = self._names.get(wanted)
        return attached or next((each for each in columns if each.casefold() == wanted), None)

    def first_of(self, identity: tuple[str, str]) -> AttachedColumn | None:
        """The first name of the column that this is."""
        first = self._firsts.get(identity)
        return None if first is None else self.columns[first]


def schema_beside(schema: Schema, attached: Collection[AttachedColumn]) -> Schema:
    """The schema of a table with these columns."""
    own = [each for each in attached if not each.is_alias]
    return schema.with_columns(
        {each.name: each.type for each in own},
        {each.name: each.bounds for each in own if each.bounds is not None},
        {each.name: each.column for each in attached if each.is_alias},
    )


def nonce_of(attached: Sequence[AttachedColumn]) -> str:
    """Nonce of a question's noise: what it must depend on of these columns, beside its text.

    The name of a column says nothing of its values: in another copy of the ledger it may be that of
    others, and a question about them must not have the same noise. What was submitted is told by
    its digest. What was computed is told by nothing that may be public: every entry has a nonce of
    its own, so that noise never tells whether two columns hold the same.
    """
    if any(each.is_computed for each in attached):
        return secrets.token_hex(16)
    prints = {each.name: each.digest for each in attached}
    return sha256(canonical(prints).encode()).hexdigest()


def _plain(facts: Any) -> dict[str, Any]:
    return {name: getattr(facts, name) for name in facts.__slots__}
