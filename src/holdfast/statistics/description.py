"""A described question: its length in bits by the prior, and the rule that answers it exactly.

Which rule is public: it depends on the question's words and on what was declared. Where no theorem
covers the way the rows came about there is none, and the question goes to the ledger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from holdfast.data.design import ANY_GROUP
from holdfast.data.sample import Sample
from holdfast.data.sampling import Sampling
from holdfast.errors import InvalidArgument, InvalidQuestion, NotDescribed
from holdfast.prior.atoms import spelled_texts
from holdfast.prior.grammar import Columns, Grammar
from holdfast.question.columns import Schema
from holdfast.question.row import RowValue
from holdfast.statistics.bind import Question, bind, parts_of
from holdfast.statistics.concentrated_rules import ConcentratedRule
from holdfast.statistics.derived import (
    Derived,
    Estimate,
    Joined,
    Stages,
    described_parts,
    is_derived,
)
from holdfast.statistics.entry import (
    Bound,
    Part,
    Role,
    Table,
    Use,
)
from holdfast.statistics.grid_rules import Gridded
from holdfast.statistics.mean_events import GroupShare, Share
from holdfast.statistics.mean_rules import (
    ContainedMean,
    GroupMeanRule,
    MeanRule,
    PairedRule,
)
from holdfast.statistics.registry import DESCRIPTIONS, PRICES
from holdfast.statistics.rounded_rules import (
    RoundedMean,
)
from holdfast.statistics.rule import Ground, Look, Rule, Told, hoeffding_radius
from holdfast.statistics.statistic import Measured, is_unbounded, own_unit
from holdfast.statistics.trial_rules import UnitGridded
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.bounded_mean import outlier_floor_mass
from holdfast.theory.length.levels import option_millibits
from holdfast.theory.length.words import NAME, option

if TYPE_CHECKING:
    from holdfast.statistics.families import DeclaredFamily

_USUAL_VALUES = 16  # of a column that is cut by
_MOST_PRICES = 4096  # that are remembered


# The prior "words/2" over the questions of one table, and the length of a question in bits.


@dataclass(frozen=True, slots=True)
class PricedPart:
    """A part of a question, what it is to it, and its length in thousandths of a bit."""

    part: Part
    role: Role
    millibits: int

    @property
    def text(self) -> str:
        """The part, in words that a person can read."""
        return self.part.text

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"text": self.text, "role": self.role, "millibits": self.millibits}


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
        return cls(tuple(PricedPart(part, role, millibits(part)) for part, role in roles.items()))

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
        parts = (part for text in self.schema.favourites for part in self._parts_of(text))
        object.__setattr__(self, "favourites", frozenset(parts))
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

    def read(self, question: Question, text: str | None = None) -> Bound:
        """The statistic that a question means; to describe it, any `where` will do.

        `text` is what it was read from, where that says all of it.
        """
        text = question if isinstance(question, str) else text
        if text is None:
            return bind(question, Table(self.schema, ANY_GROUP))
        if text not in self._texts:
            if len(self._texts) >= _TEXTS:
                self._texts.clear()
            self._texts[text] = bind(question, Table(self.schema, ANY_GROUP))
        return self._texts[text]

    def require_family(self) -> None:
        """Refuse a declared family of which something has no declared values, or no words."""
        _ = self.family

    @property
    def family(self) -> DeclaredFamily | None:
        """The declared family; None if there is none."""
        if not self._families:
            schema, family = self.schema, None
            if schema.outcomes or schema.planned or schema.segments:
                from holdfast.statistics.families import DeclaredFamily

                family = DeclaredFamily.of(self.grammar.columns, Table(schema, ANY_GROUP))
            self._families.append(family)
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
        price = self._prices.get(part)
        if price is None:
            if len(self._prices) >= _MOST_PRICES:
                self._prices.clear()
            price = self._prices[part] = self._price(part)
        return price

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


# The question with its parts, their levels, its one rule, and its method in words.


@dataclass(frozen=True, slots=True)
class DescribedQuestion:
    """A question with its rule; asked like any statistic, and answered exactly.

    `columns` are those that it is about, and `event` the text of the part that its rule is for:
    questions that share it share its symbols; `planned` ones were declared beforehand. One of a
    `dictionary` that was opened late names it, and the `member` of it that it is about.
    """

    question: Bound
    look: Look = field(compare=False)
    bits: float
    turned: bool
    columns: tuple[str, ...]
    event: str | None = None
    dictionary: str | None = None
    member: str | None = None
    planned: bool = False
    # Of the question itself, read once: a call asks for them a dozen times.
    text: str = field(init=False, repr=False, compare=False)
    low: float = field(init=False, repr=False, compare=False)
    high: float = field(init=False, repr=False, compare=False)
    unbounded: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        question = self.question
        object.__setattr__(self, "text", question.text)
        object.__setattr__(self, "low", question.low)
        object.__setattr__(self, "high", question.high)
        object.__setattr__(self, "unbounded", is_unbounded(question))

    @property
    def error(self) -> float:
        raise TypeError(f"{self.text} is answered by its rule")

    def unit(self, n: int) -> float:
        return own_unit(self.question, n)

    @property
    def rule(self) -> Rule:
        return self.look.rule

    @property
    def reach(self) -> float:
        """How far a mean may be from the truth at its level: as declared, or by Hoeffding."""
        radius = self.rule.radius if isinstance(self.rule, ConcentratedRule) else None
        return radius or min(1.0, hoeffding_radius(self.rule.rows, self.rule.log_p))

    @property
    def row(self) -> RowValue | None:
        """It is measured by its rule, whatever it averages."""
        return None

    def rows(self, n: int) -> int:
        return n

    def concentration(self, n: int, sampling: Sampling) -> Concentration:  # noqa: ARG002
        raise TypeError(f"{self.text} is answered by its rule")

    def read(self, sample: Sample) -> Measured:  # noqa: ARG002
        raise TypeError(f"{self.text} is answered by its rule")


@dataclass(frozen=True, slots=True)
class DescribedParts:
    """A statistic without a rule of its own: described questions that it follows from.

    Each part has its own event at its own weight, and all events hold together. So the statistic's
    own theorem turns the parts' intervals into its interval, at no further cost.
    """

    question: Derived
    parts: tuple[DescribedQuestion, ...]

    @property
    def text(self) -> str:
        return self.question.text

    @property
    def low(self) -> float:
        return self.question.low

    @property
    def high(self) -> float:
        return self.question.high

    @property
    def unbounded(self) -> bool:
        return is_unbounded(self.question)

    def unit(self, n: int) -> float:
        return own_unit(self.question, n)

    @property
    def bits(self) -> float:
        """The length of the longest part."""
        return max(part.bits for part in self.parts)

    @property
    def stages(self) -> Stages:
        return (self.parts,)

    def join(self, parts: Sequence[Estimate]) -> Joined:
        return self.question.join(parts)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        return self.question.favourable(estimates)

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        return self.question.last_guess(guess, values)


def described_answer(question: Bound, ground: Ground) -> DescribedQuestion | DescribedParts | None:
    """The question with its rule, or else with the rules of its parts; None if neither covers it.

    It was read by the prior of the ground: there every group is a part by itself.
    """
    return described(question, ground) or _described_parts(question, ground)


def _described_parts(question: Bound, ground: Ground) -> DescribedParts | None:
    if not is_derived(question):
        return None
    parts = []
    for statistic in described_parts(question):
        part = described(statistic, ground)
        if part is None or not reads_as_written(statistic.text, ground):
            return None
        parts.append(part)
    return DescribedParts(question, tuple(parts))


def reads_as_written(text: str, ground: Ground) -> bool:
    """Whether a text says all of a question: of a column attached later it has only the name."""
    try:
        return ground.prior.read(text).text == text
    except InvalidQuestion:
        return False


def described(question: Bound, ground: Ground) -> DescribedQuestion | None:
    """The question with a rule of its own; None if it has none, or is refused a description."""
    if type(question) not in DESCRIPTIONS:
        return None
    try:
        uses = parts_of(question)
        bits = Bits.priced(uses, ground.prior.millibits).best
    except NotDescribed:
        return None
    columns = sorted({column for use in uses for column in use.part.columns})
    look = _look(question, uses, ground.about(columns))
    if look is None:
        return None
    main = uses[0]
    planned = ground.prior.plans(main.part)
    return DescribedQuestion(
        question, look, bits, main.turned, tuple(columns), main.part.text, planned=planned
    )


def described_again(text: str, ground: Ground | None) -> DescribedQuestion:
    """The described question that a ledger knows by this text."""
    answer = None
    if ground is not None:
        question = ground.prior.read(text)
        answer = described(question, ground) if question.text == text else None
    if answer is None:
        raise InvalidQuestion("The text in the ledger is not that of a described question.")
    return answer


def _look(question: Bound, uses: Sequence[Use], ground: Ground) -> Look | None:
    """The rule of the part that answers the question, and what is read for it."""
    main, *others = uses
    free = tuple(ground.log_level(use.part) for use in others if use.role == "free")
    if any(use.role == "plain" for use in others):
        return None  # two means of different values: each has its own rule
    own_ground = replace(ground, log_free=free)
    return DESCRIPTIONS[type(question)].look(question, main.part, own_ground)


# What is said of a rule to people: its method, what is sure beforehand, and what would help.
#
# All of it is public: it follows from the rule, and for advice from the answer that was told.


# Rows of a normal law have intervals of a correlation about as wide as this allows without a floor.
_NORMAL_CORRELATION = 2.0


def method_of(rule: Rule) -> str:
    """How it comes to its interval and at which level, in words."""
    free = [f"the band of all thresholds at level {_level(each)}" for each in _free_levels(rule)]
    words = " and ".join([f"{rule.method} at level {_level(rule.log_p)}", *free])
    truth, supposition = truth_of(rule), supposition_of(rule)
    if supposition is not None:
        return f"{words}, if {supposition}"
    return words if truth is None else f"{words}, for the {truth}"


def supposition_of(rule: Rule | None) -> str | None:
    """What an interval supposes of the rows' values, as its question declares; no row can tell."""
    return getattr(rule, "supposition", None)


def truth_of(rule: Rule | None) -> str | None:
    """What an answer is about, in words, where the rule says more of it than the question.

    Such an answer says nothing of the population, and nothing that is said of that follows from it.
    """
    return rule.truth if isinstance(rule, Gridded) else None


def _free_levels(rule: Rule) -> Sequence[float]:
    """Those of the events that hold for every threshold at once."""
    match rule:
        case Share(log_free=levels) | GroupShare(log_free=levels):
            return levels
        case Gridded(log_free=float(level)):
            return (level,)
    return ()


def _level(log_p: float) -> str:
    return f"{math.exp(log_p):.2g}"


def share_symbols(rule: Rule | None, other: Rule) -> bool:
    """Whether the same symbols come of both: a spread is told as a deviation, or as its square."""
    if isinstance(rule, Gridded) and isinstance(other, Gridded):
        return replace(rule, squared=other.squared) == other
    return rule == other


def sure_half_width(rule: Rule) -> float | None:
    """The half-width that no answer exceeds, as a part of the range; None if that is not known."""
    match rule:
        case Share():
            return min(0.5, hoeffding_radius(rule.rows, rule.log_p))
        case MeanRule() | ContainedMean() | PairedRule(log_size=None):
            return min(0.5, rule.window.alpha)
        case RoundedMean() | ConcentratedRule():
            return min(0.5, rule.half_width)
    return None


def units_of(rule: Rule | None) -> int | None:
    """How many units an answer rests on, where it is about units."""
    return rule.units if isinstance(rule, UnitGridded) else None


def floor_of_units(
    rule: Rule | None, value: float, interval: Interval
) -> tuple[int, Interval] | None:
    """How many units an answer rests on, and what no interval can exclude with so few, as parts
    of the range; None where that makes less than half of its width.

    More units make it narrower, and more rows in each do not.
    """
    if not isinstance(rule, UnitGridded):
        return None
    floor = rule.floor(value)
    above = 2.0 * (floor.high - value) > interval.high - value
    below = 2.0 * (value - floor.low) > value - interval.low
    return (rule.units, floor) if above or below else None


def is_at_the_floor(rule: Rule, told: Told) -> bool:
    """Whether rows at the end of the declared range, too few to be excluded, make half its width.

    The share of rows that no method can exclude is `outlier_floor_mass`. So with a tighter range
    the answer would be narrower; more rows help less.
    """
    rows, value = told.rows[0], told.value
    if value is None or rows == 0:
        return False
    share = outlier_floor_mass(rows, rule.log_p)
    low, high = told.interval
    match rule:
        case MeanRule() | ContainedMean() | GroupMeanRule():
            above, below = share * (1.0 - value), share * value
            return 2.0 * above > high - value or 2.0 * below > value - low
        case Gridded(by="spread", squared=squared):
            deviation, top = (math.sqrt(value), math.sqrt(high)) if squared else (value, high)
            # In halves of the range. The mean is not told: its far end is one to two halves away.
            moved = math.sqrt((1.0 - share) * (deviation**2 + 2.0 * share))
            return 2.0 * (moved - deviation) > top - deviation
        case Gridded(by="correlation"):
            # The floor needs the deviations, which are not told: compared with a normal law.
            normal = (1.0 - (2.0 * value - 1.0) ** 2) * math.sqrt(-2.0 * rule.log_p / rows)
            return high - low > _NORMAL_CORRELATION * normal
    return False
