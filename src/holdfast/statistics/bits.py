"""The prior "words/2" over the questions of one table, and the length of a question in bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.data.design import ANY_GROUP
from holdfast.errors import InvalidArgument, InvalidQuestion, NotDescribed
from holdfast.prior.atoms import spelled_texts
from holdfast.prior.grammar import Columns, Grammar
from holdfast.question.columns import Schema
from holdfast.statistics.bind import Question, bind
from holdfast.statistics.entry import Bound, Part, Role, Table, Use
from holdfast.statistics.families import DeclaredFamily
from holdfast.statistics.registry import PRICES, parts_of
from holdfast.theory.length.levels import option_millibits
from holdfast.theory.length.words import NAME, option

__all__ = ["Bits", "PricedPart", "Prior", "bits"]

_USUAL_VALUES = 16  # of a column that is cut by
_MOST_PRICES = 4096  # that are remembered


@dataclass(frozen=True, slots=True)
class PricedPart:
    """A part of a question, what it is to it, and its length in thousandths of a bit."""

    text: str
    role: Role
    millibits: int


@dataclass(frozen=True, slots=True)
class Bits:
    """How long a question is, in bits.

    `plain` is the length of its dearest part with every constant as written; `free` that of its
    cheapest part that answers it for all constants, or all levels, at once (None if it has none);
    `best` the smaller.
    """

    parts: tuple[PricedPart, ...]

    @classmethod
    def priced(cls, uses: Iterable[Use], millibits: Callable[[Part], int]) -> Bits:
        """Those of parts, each at its price."""
        roles = {use.part: use.role for use in uses}
        return cls(tuple(PricedPart(p.text, role, millibits(p)) for p, role in roles.items()))

    @property
    def plain(self) -> float:
        """Of its dearest part, with every constant as written."""
        return max(self._lengths("plain"))

    @property
    def free(self) -> float | None:
        """Of its cheapest part that answers it for all constants, or levels, at once."""
        return min(self._lengths("free"), default=None)

    @property
    def best(self) -> float:
        """The smaller of both."""
        return min([self.plain, *self._lengths("free")])

    def _lengths(self, role: Role) -> list[float]:
        return [part.millibits / 1000 for part in self.parts if part.role == role]


_TEXTS = 4096  # are cached


@dataclass(frozen=True, slots=True)
class Prior:
    """Prices of all questions over what was declared of a table before its rows were looked at."""

    schema: Schema
    grammar: Grammar = field(init=False, compare=False, repr=False)
    favourites: frozenset[Part] = field(init=False, compare=False, repr=False)
    # Recognised when the first price is wanted: values of segments may be learnt after declaring.
    _families: list[DeclaredFamily | None] = field(init=False, compare=False, repr=False)
    # A question's price is wanted for its length, and again for the level of each of its parts.
    _prices: dict[Part, int] = field(init=False, compare=False, repr=False)
    # Cache of texts: one is read to be described, to be looked up and to be answered.
    _texts: dict[str, Bound] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_texts", {})
        object.__setattr__(self, "grammar", Grammar(Columns(self.schema)))
        found = (part for text in self.schema.favourites for part in self._parts_of(text))
        object.__setattr__(self, "favourites", frozenset(found))
        object.__setattr__(self, "_families", [])
        object.__setattr__(self, "_prices", {})

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Prior:
        """The prior of a table as a ledger describes it; only the types are needed."""
        if body.get("prior", NAME) != NAME:
            raise InvalidArgument(f"The prior {body['prior']!r} is not known; there is {NAME!r}.")
        return cls(Schema.from_dict(body))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for the ledger: the same for all ways to declare the same."""
        favourites = sorted({self.read(text).text for text in self.schema.favourites})
        return {"prior": NAME, **self.schema.to_dict(), "favourites": favourites}

    def read(self, question: Question) -> Bound:
        """The statistic that a question means; to describe it, any `where` will do."""
        if not isinstance(question, str):
            return bind(question, Table(self.schema, ANY_GROUP))
        if question not in self._texts:
            if len(self._texts) >= _TEXTS:
                self._texts.clear()
            self._texts[question] = bind(question, Table(self.schema, ANY_GROUP))
        return self._texts[question]

    def require_family(self) -> None:
        """Refuse a declared family of which something has no declared values, or no words."""
        _ = self.family

    @property
    def family(self) -> DeclaredFamily | None:
        """The declared family; None if there is none."""
        if not self._families:
            table = Table(self.schema, ANY_GROUP)
            self._families.append(DeclaredFamily.of(self.grammar.columns, table))
        return self._families[0]

    def _parts_of(self, favourite: str) -> list[Part]:
        try:
            return [use.part for use in parts_of(self.read(favourite))]
        except InvalidQuestion as error:
            raise InvalidQuestion(
                f"The favourite {favourite[:60]!r} has no description: {error}"
            ) from None

    def bits(self, question: Question) -> Bits:
        """The length of a question; refused if it has no description."""
        return self.of(self.read(question))

    def of(self, question: Bound) -> Bits:
        """The length of a question that has met its table."""
        return Bits.priced(parts_of(question), self.millibits)

    def with_values_declared(self, question: Bound) -> tuple[list[str], float] | None:
        """The text columns whose values a question spells, and its length were they declared.

        A column is taken to have as many values as people usually cut by; None if none is spelled.
        """
        spelled: dict[str, set[str]] = {}
        for use in parts_of(question):
            for name, text in spelled_texts((*use.part.trees, use.part.where)):
                if name not in self.schema.values:
                    spelled.setdefault(name, set()).add(text)
        if not spelled:
            return None
        others = [f"value {place}" for place in range(_USUAL_VALUES)]
        values = {name: [*texts, *others[len(texts) :]] for name, texts in spelled.items()}
        cheaper = Prior(self.schema.learn(values))
        return sorted(spelled), cheaper.of(cheaper.read(question.text)).best

    def plans(self, part: Part) -> bool:
        """Whether a part is one of the declared family."""
        return self.family is not None and self.family.millibits(part) is not None

    def millibits(self, part: Part) -> int:
        """The price of a part: by the grammar, as one of the favourites, or as it was declared."""
        found = self._prices.get(part)
        if found is None:
            if len(self._prices) >= _MOST_PRICES:
                self._prices.clear()
            found = self._prices[part] = self._price(part)
        return found

    def _price(self, part: Part) -> int:
        family = self.family
        if family is None:
            return self._unplanned(part)
        planned = family.millibits(part)
        try:
            unplanned = family.unplanned_millibits + self._unplanned(part)
        except NotDescribed:
            if planned is None:
                raise
            return planned
        return unplanned if planned is None else min(planned, unplanned)

    def _unplanned(self, part: Part) -> int:
        if not self.favourites:
            return self._described(part)
        if part in self.favourites:
            listed = option_millibits(1, len(self.favourites))
            return min(
                option("route", "favourites") + listed,
                option("route", "grammar") + self._described(part),
            )
        return option("route", "grammar") + self._described(part)

    def _described(self, part: Part) -> int:
        words, price = self.grammar, PRICES[part.kind]
        form = option(part.kind, part.form) if part.form else 0
        cost = option("part", price.instead_of or part.kind) + form + price.body(words, part)
        if price.where is None:
            if part.where is not None:
                raise NotDescribed(f"{part.kind} is asked of all rows: it has no where.")
            return cost
        if part.where is None:
            return cost + option(price.where, "no")
        return cost + option(price.where, "yes") + words.condition(part.where, "w")


def bits(question: Question, schema: Prior | Schema | Mapping[str, Any]) -> Bits:
    """The length of a question's description by the prior "words/2"; no data is needed.

    `schema` says what is declared of the table: `types` of its columns, and perhaps `bounds`,
    `values`, `weights` and `favourites`, as in `Prior.to_dict`. A `Prior` made once is faster.
    """
    match schema:
        case Prior():
            return schema.bits(question)
        case Schema():
            return Prior(schema).bits(question)
        case Mapping():
            return Prior.from_dict(schema).bits(question)
    raise InvalidArgument(
        "schema must be a mapping with the 'types' of the columns, not "
        f"{type(schema).__name__}; write it like {{'types': {{'x': 'float'}}}}."
    )
