"""Question builder: a text taken apart into what can be clicked, changed, and put together again.

The text is the only state. What is offered to click is read from it, and every click makes another
text; so whoever types and whoever clicks see the same. All of it is public: columns with what was
declared of them, and the registry of statistics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

from holdfast.errors import InvalidQuestion
from holdfast.question.expression import identifier, numeral, string
from holdfast.question.parse import read_call, reads_alike
from holdfast.question.safe_text import TextToken, read_words
from holdfast.statistics.averages import MEANS
from holdfast.statistics.bind import TABLES
from holdfast.statistics.registry import STATISTICS

_SlotKind: TypeAlias = Literal[
    "number",
    "value",
    "condition",
    "group",
    "share",
    "above 0",
    "size",
    "level",
    "cap",
    "place",
    "arm",
]
_NUMBERS, _MOST_GROUPS = ("integer", "float"), 40
_ICONS = {"boolean": "y/n", "integer": "123", "float": "1.2", "text": "abc"}
_OPERATORS = {
    ">": "more than",
    ">=": "at least",
    "<": "less than",
    "<=": "at most",
    "=": "equal to",
    "!=": "other than",
}
_OPERATOR_KINDS = {"GT": ">", "GTE": ">=", "LT": "<", "LTE": "<=", "EQ": "=", "NEQ": "!="}
_COMPARED = ("value", "condition", "group")
_MEAN = ""  # what stands in the place of an operator where a number is not compared


@dataclass(frozen=True, slots=True)
class PublicColumn:
    """A column as everybody may know it."""

    name: str
    type: str
    bounds: tuple[float, float] | None = None
    values: tuple[str, ...] = ()
    key: bool = False

    @classmethod
    def all_of(cls, facts: Mapping[str, Any]) -> tuple[PublicColumn, ...]:
        """The columns that the public facts of a data set name."""
        return tuple(
            cls(
                each["name"],
                each["type"],
                None if each["bounds"] is None else tuple(each["bounds"]),
                tuple(v if isinstance(v, str) else numeral(v) for v in each["values"] or ()),
                each["name"] == facts["key"],
            )
            for each in facts["columns"]
        )

    @property
    def icon(self) -> str:
        """Its type, as short as a sign."""
        return _ICONS.get(self.type, "day")

    @property
    def about(self) -> str:
        """What was declared of it, in a line."""
        if self.bounds is not None:
            return f"{self.type}, {self.bounds[0]:g} to {self.bounds[1]:g}"
        some = ", ".join(self.values[:5]) + (", …" if len(self.values) > 5 else "")
        return f"{self.type}: {some}" if self.values else self.type

    @property
    def is_measured(self) -> bool:
        """Whether it has a mean: a number with a declared range."""
        return self.type in _NUMBERS and self.bounds is not None

    @property
    def has_groups(self) -> bool:
        """Whether a table can have a row for each of its values."""
        if self.type == "integer" and self.bounds is not None and not self.values:
            return self.bounds[1] - self.bounds[0] < _MOST_GROUPS
        return self.type == "boolean" or bool(self.values)

    @property
    def condition(self) -> Predicate:
        """A first condition on it, to be changed."""
        match self.type:
            case "boolean":
                return Predicate(self.name, "=", "true")
            case "integer" | "float":
                low, high = self.bounds or (0.0, 0.0)
                return Predicate(self.name, ">", numeral(float(f"{(low + high) / 2:.3g}")))
            case "text":
                return Predicate(self.name, "=", self.values[0] if self.values else "")
        return Predicate(self.name, ">=", "2020-01-01")

    def rank(self, kind: _SlotKind) -> int:
        """How far behind others it is offered at first: a mean is of a number."""
        first = {"group": ("text", "boolean"), "value": ("number",)}.get(
            kind, ("boolean", "number")
        )
        own = "number" if self.is_measured else self.type
        offered = own != "text" or self.values
        return first.index(own) if offered and own in first else len(first)

    def has(self, kind: _SlotKind) -> bool:
        """Whether it can stand in a slot."""
        match kind:
            case "number" | "above 0":
                return self.is_measured and not self.key
            case "arm":
                return len(self.values) == 2 or self.type == "boolean"
            case "value" | "condition" | "group":
                return self.type != "other" and not self.key
        return False


@dataclass(frozen=True, slots=True)
class Predicate:
    """A comparison of one column with one value, as people type it: without quotes."""

    column: str
    operator: str
    value: str

    def text(self, columns: Mapping[str, PublicColumn]) -> str:
        """The condition as a question has it."""
        name, column = identifier(self.column), columns[self.column]
        if column.type == "boolean":
            return name if (self.value == "true") == (self.operator == "=") else f"not {name}"
        quoted = column.type not in _NUMBERS
        return f"{name} {self.operator} {string(self.value) if quoted else self.value or '0'}"


class Completion(NamedTuple):
    """A word that may stand where somebody types."""

    word: str
    about: str
    text: str  # the question with it


class _Slot(NamedTuple):
    """A place of a statistic that is filled by clicks: what it is called, and what goes there."""

    title: str
    kind: _SlotKind


# What a statistic's arguments are called in its form, and what goes there. The registry's form is
# the only list of them; who adds a statistic with new names adds these here (a test says so).
_KINDS: Mapping[str, _SlotKind] = {
    "delay > 15": "value",
    "value": "number",
    "first": "number",
    "second": "number",
    "prediction": "condition",
    "label": "condition",
    "score": "number",
    "probability": "share",
    "baseline": "place",
    "condition": "condition",
    "size of the population": "size",
    "level": "level",
    "cap": "cap",
    "baseline_cap": "cap",
    "place": "place",
    "bound": "size",
    "x": "number",
    "y": "number",
    "arm": "arm",
}
_TITLES = {"value": "of", "delay > 15": "of", "first": "of", "second": "and"}
_ERRORS_OF_NUMBERS = ("mae", "mse", "neg_rmse", "r2", "rmse", "closer")
# They rest on something that the question declares of the rows, which is for the custodian.
_DECLARING = ("catoni",)
_COMMON = {
    "share": "Share of rows",
    "average": "Average",
    "median": "Median",
    "quantile": "Quantile",
    "std": "Spread",
    "groups": "Difference of two groups",
    "correlation": "Correlation",
}
_COMMON_SLOTS: Mapping[str, tuple[_Slot, ...]] = {
    "share": (_Slot("of rows where", "condition"),),
    "average": (_Slot("of", "number"),),
    "groups": (
        _Slot("of", "value"),
        _Slot("where", "group"),
        _Slot("minus that where", "group"),
    ),
}
_NAMES = {"share": "avg", "average": "avg", "groups": "difference"}


def _slots(choice: str) -> tuple[_Slot, ...]:
    """The slots of what can be chosen: a statistic by its name, or a common form of one."""
    if choice in _COMMON_SLOTS:
        return _COMMON_SLOTS[choice]
    entry = STATISTICS[choice]
    names = entry.form.partition("(")[2].removesuffix(")").split(", ")
    return tuple(_Slot(name, _kind_of(choice, name)) for name in names)


def _kind_of(statistic: str, name: str) -> _SlotKind:
    if statistic in _ERRORS_OF_NUMBERS and name in ("prediction", "label"):
        return "number"
    if statistic == "geometric_mean":
        return "above 0"
    return _KINDS[name]


@dataclass(frozen=True, slots=True)
class Draft:
    """A question in its parts: what was chosen, a text for each slot, conditions and groups."""

    choice: str
    slots: tuple[str, ...]
    where: tuple[str, ...] = ()
    by: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The question."""
        if self.choice == "groups":
            value, first, second = self.slots
            call = f"difference(avg({value}) where {first}, avg({value}) where {second})"
        else:
            call = f"{_NAMES.get(self.choice, self.choice)}({', '.join(self.slots)})"
        where = f" where {' and '.join(self.where)}" if self.where else ""
        return f"{call}{where}{' by ' if self.by else ''}{', '.join(map(identifier, self.by))}"


class Builder:
    """What can be done to a question about a table of so many `rows` with these columns."""

    def __init__(self, columns: Sequence[PublicColumn], rows: int) -> None:
        self.columns, self.rows = {each.name: each for each in columns}, rows
        self._by_lower = {each.name.lower(): each.name for each in columns}

    # Reading --------------------------------------------------------------------------------------

    def read(self, text: str) -> Draft | None:
        """A question in its parts; None unless these say all that it says, word by word."""
        try:
            draft = self._parts(text)
            name = _NAMES.get(draft.choice, draft.choice) if draft else ""
            same = draft is not None and reads_alike(_FIRST_NAME.sub(name, text, 1), draft.text)
        except InvalidQuestion:
            return None
        return draft if same else None

    def _parts(self, text: str) -> Draft | None:
        call = read_call(text)
        name = "avg" if call.name in MEANS else call.name
        where = () if call.where is None else tuple(_conjuncts(call.where))
        if name == "avg" and len(call.arguments) == 1:
            choice = "average" if self._is_number(call.arguments[0]) else "share"
            return Draft(choice, call.arguments, where, call.by)
        groups = _of_groups(call.arguments) if name == "difference" else None
        if groups is not None:
            return Draft("groups", groups, where, call.by)
        offered = name in STATISTICS and name not in _DECLARING
        if not offered or len(call.arguments) != len(_slots(name)):
            return None
        return Draft(name, call.arguments, where, call.by)

    def condition(self, text: str) -> Predicate | None:
        """A text as a comparison of one column; None where it is something else."""
        try:
            words = read_words(text)
        except InvalidQuestion:
            return None
        negated = words[0].kind == "NOT" and len(words) == 2
        column = self._column(words[negated])
        if column is None:
            return None
        if column.type == "boolean" and len(words) == 1 + negated:
            return Predicate(column.name, "=", "false" if negated else "true")
        sign = len(words) == 4 and words[2].kind == "DASH"
        if len(words) != 3 + sign or words[1].kind not in _OPERATOR_KINDS:
            return None
        literal = words[-1]
        if literal.kind != ("NUMBER" if column.type in _NUMBERS else "STRING"):
            return None
        return Predicate(column.name, _OPERATOR_KINDS[words[1].kind], "-" * sign + literal.text)

    def _column(self, word: TextToken) -> PublicColumn | None:
        exact = word.text if word.kind == "IDENTIFIER" else self._by_lower.get(word.text.lower())
        return None if word.kind == "STRING" else self.columns.get(exact or "")

    def _named(self, text: str) -> PublicColumn | None:
        """The column that a text is, and nothing else."""
        try:
            words = read_words(text)
        except InvalidQuestion:
            return None
        return self._column(words[0]) if len(words) == 1 else None

    def _is_number(self, text: str) -> bool:
        column = self._named(text)
        return column is not None and column.type in _NUMBERS

    # Changing -------------------------------------------------------------------------------------

    def with_choice(self, choice: str, draft: Draft | None) -> Draft:
        """A statistic with the columns that were there before, as far as they go there."""
        before = [] if draft is None else [self._column_of(each) for each in draft.slots]
        columns = [each for each in before if each is not None]
        filled: list[str] = []
        for slot in _slots(choice):
            fitting = [each for each in columns if each.has(slot.kind)]
            filled.append(self._first(slot.kind, fitting, filled))
            columns = [each for each in columns if each not in fitting[:1]]
        if choice == "groups":
            filled[1:] = self._two_groups(filled[1])
        where, by = ((), ()) if draft is None else (draft.where, draft.by)
        return Draft(choice, tuple(filled), where, by)

    def example(self, statistic: str) -> str:
        """A question with a statistic about columns of this table."""
        return self.with_choice("groups" if statistic == "difference" else statistic, None).text

    def _column_of(self, text: str) -> PublicColumn | None:
        """The column that a slot is about."""
        condition = self.condition(text)
        return self._named(text) if condition is None else self.columns[condition.column]

    def _first(self, kind: _SlotKind, before: Sequence[PublicColumn], others: list[str]) -> str:
        """What goes into a slot at first; not what another slot has, if there is more."""
        match kind:
            case "share":
                return f"case when {self._first('condition', before, others)} then 0.9 else 0.1 end"
            case "size":
                return str(self.rows)
            case "level":
                return "0.9"
            case "place":
                return "1"
            case "cap":
                return self._reach
        fitting = sorted(
            (each for each in self.columns.values() if each.has(kind)),
            key=lambda each: each.rank(kind),
        )
        choices = [self._texts(each, kind) for each in (*before, *fitting)]
        texts = [text for texts in choices for text in texts]
        if kind != "group":  # another column, before the same one again
            texts = [each[0] for each in choices] + texts
        fresh = [each for each in texts if each not in others]
        return (fresh or texts or ["?"])[0]

    @property
    def _reach(self) -> str:
        """How far apart two values of the first number can be, at most."""
        number = next((each for each in self.columns.values() if each.has("number")), None)
        low, high = (0.0, 1.0) if number is None or number.bounds is None else number.bounds
        return numeral(float(high - low))

    def _texts(self, column: PublicColumn, kind: _SlotKind) -> list[str]:
        """What can be written of a column in a slot, the likeliest first."""
        name = identifier(column.name)
        match kind:
            case "above 0":
                low = 0.0 if column.bounds is None else column.bounds[0]
                return [name if low > 0 else f"{name} + {numeral(float(1 - low))}"]
            case "number" | "arm":
                return [name]
            case "value" if column.is_measured:
                return [name]
        first = column.condition
        others = [replace(first, value=value) for value in _values(column)[:3]]
        others += [replace(first, operator="<=")] if column.type in _NUMBERS else []
        return list(dict.fromkeys(each.text(self.columns) for each in (first, *others)))

    def with_text(self, draft: Draft, place: str, make: Callable[[str], str]) -> Draft:
        """A draft with another text in one place: `slot 0`, or `where 1`."""
        part, number = place.split()
        texts = list(draft.where if part == "where" else draft.slots)
        texts[int(number)] = make(texts[int(number)])
        if part == "where":
            return replace(draft, where=tuple(texts))
        return replace(draft, slots=tuple(texts))

    def after_click(self, text: str, pick: str, caret: int | None = None) -> str:
        """The question after a click; what cannot be done to it leaves it as it is."""
        draft = self.read(text)
        verb, _, rest = pick.partition(" ")
        match verb:
            case "choose" if rest in _COMMON or rest in STATISTICS:
                return self.with_choice(rest, draft).text
            case "example" if rest in STATISTICS:
                return self.example(rest)
            case "complete":
                texts = {each.word: each.text for each in self.completions(text, caret)}
                return texts.get(rest, text)
        changed = None if draft is None else self._changed_by_click(draft, verb, rest)
        return text if changed is None else changed.text

    def _changed_by_click(self, draft: Draft, verb: str, rest: str) -> Draft | None:
        """A draft after a click on a column, or on a condition to drop."""
        if verb == "drop":
            others = [each for place, each in enumerate(draft.where) if str(place) != rest]
            return replace(draft, where=tuple(others))
        place, _, name = rest.partition(": ") if verb == "column" else ("", "", rest)
        column = self.columns.get(name)
        if column is None:
            return None
        match verb:
            case "filter":
                condition = column.condition.text(self.columns)
                return replace(draft, where=(*draft.where, condition))
            case "by":
                others = [each for each in draft.by if each != name]
                by = others if name in draft.by else [*others[-1:], name]
                return replace(draft, by=tuple(by))
            case "column":
                slot = dict(self._places(draft)).get(place)
                fits = slot is not None and column.has(slot.kind)
                return self._with_column(draft, place, slot, column) if slot and fits else None
        return None

    def _with_column(self, draft: Draft, place: str, slot: _Slot, column: PublicColumn) -> Draft:
        """A slot about another column; two groups are of one column."""
        text = self._texts(column, slot.kind)[0]
        if slot.kind == "group":
            return replace(draft, slots=(draft.slots[0], *self._two_groups(text)))
        return self.with_text(draft, place, lambda _: text)

    def _two_groups(self, text: str) -> tuple[str, str]:
        """The group of a condition, and another one of the same column."""
        column = self._column_of(text)
        others = [] if column is None else self._texts(column, "group")
        return text, next((each for each in others if each != text), f"not ({text})")

    def _places(self, draft: Draft) -> Iterator[tuple[str, _Slot]]:
        for number, slot in enumerate(_slots(draft.choice)):
            yield f"slot {number}", slot
        for number in range(len(draft.where)):
            yield f"where {number}", _Slot("where", "condition")

    def with_fields(self, text: str, fields: Mapping[str, str]) -> str:
        """The question after fields of its slots were changed, such as `slot 0 value`."""
        draft = self.read(text)
        if draft is None:
            return text
        for place, slot in self._places(draft):
            change = self._change(slot, fields, place)
            if change is not None:
                draft = self.with_text(draft, place, change)
        return draft.text

    def _change(
        self, slot: _Slot, fields: Mapping[str, str], place: str
    ) -> Callable[[str], str] | None:
        operator, value = fields.get(f"{place} operator"), fields.get(f"{place} value")
        if operator is None and value is None:
            return None

        def change(text: str) -> str:
            condition, column = self.condition(text), self._column_of(text)
            if column is None:
                typed = (value or "").strip()
                return typed if _is_number(typed) and _is_number(text) else text
            if slot.kind not in _COMPARED:
                return text
            if operator == _MEAN and _MEAN in self._titles(slot, column):
                return identifier(column.name)
            before, signs = condition or column.condition, self._titles(slot, column)
            after = replace(
                before,
                operator=operator if operator and operator in signs else before.operator,
                value=before.value if value is None or condition is None else value.strip(),
            )
            return after.text(self.columns) if _takes(column, after.value) else text

        return change

    # Offering -------------------------------------------------------------------------------------

    def controls(self, text: str) -> dict[str, Any]:
        """What a page offers to click, as plain values."""
        draft = self.read(text)
        choices = [
            {"key": key, "title": title, "on": draft is not None and draft.choice == key}
            for key, title in _COMMON.items()
        ]
        if draft is not None and draft.choice not in _COMMON:
            choices.append({"key": draft.choice, "title": draft.choice, "on": True})
        filterable = [each for each in self.columns.values() if each.has("condition")]
        return {
            "choices": choices,
            "slots": [] if draft is None else list(self._controls(draft)),
            "filters": [self._chip(each, False) for each in filterable],
            "groups": [
                self._chip(each, draft is not None and each.name in draft.by)
                for each in self.columns.values()
                if each.has_groups
            ],
            "readable": draft is not None,
        }

    def _controls(self, draft: Draft) -> Iterator[dict[str, Any]]:
        """A control for each slot and each condition."""
        slots = (*draft.slots, *draft.where)
        for (place, slot), text in zip(self._places(draft), slots, strict=True):
            condition, column = self.condition(text), self._column_of(text)
            compared = column is not None and slot.kind in _COMPARED
            # A filter was added by its column, and the second group is of the first one's.
            is_same = place.startswith("where") or (place, slot.kind) == ("slot 2", "group")
            yield {
                "place": place,
                "title": _TITLES.get(slot.title, slot.title).replace("_", " "),
                "text": text,
                "columns": [] if is_same else self._chips(slot.kind, column),
                "column": None if column is None else column.name,
                "operators": self._operators(slot, column, condition) if compared else [],
                "value": None if condition is None else condition.value,
                "values": () if column is None or condition is None else _values(column),
                "number": column is None and _is_number(text),
            }

    def _chips(self, kind: _SlotKind, column: PublicColumn | None) -> list[dict[str, Any]]:
        fitting = [each for each in self.columns.values() if each.has(kind)]
        return [self._chip(each, each == column) for each in fitting]

    def _chip(self, column: PublicColumn, on: bool) -> dict[str, Any]:
        return {"name": column.name, "icon": column.icon, "about": column.about, "on": on}

    def _operators(
        self, slot: _Slot, column: PublicColumn | None, condition: Predicate | None
    ) -> list[tuple[str, str, bool]]:
        """How a column can be compared, in words, and how it is."""
        now = _MEAN if condition is None else condition.operator
        titles = {} if column is None else self._titles(slot, column)
        return [(sign, title, sign == now) for sign, title in titles.items()]

    def _titles(self, slot: _Slot, column: PublicColumn) -> Mapping[str, str]:
        if column.type == "boolean":
            return {}  # its value says it
        titles = {"=": "is", "!=": "is not"} if column.type == "text" else _OPERATORS
        has_mean = slot.kind == "value" and column.is_measured
        return {_MEAN: "on average", **titles} if has_mean else titles

    @cached_property
    def examples(self) -> list[dict[str, str]]:
        """Every statistic of the registry that can be asked here, with an example."""
        return [
            {
                "name": name,
                "meaning": entry.meaning,
                "form": entry.form,
                "example": self.example(name),
            }
            for name, entry in STATISTICS.items()
            if name not in _DECLARING
        ]

    # Completing -----------------------------------------------------------------------------------

    def completions(self, text: str, caret: int | None = None) -> list[Completion]:
        """Words that go on from what is typed before the caret: names, values, statistics."""
        before = text if caret is None else text[:caret]
        after = text[len(before) :]
        value = _OPEN_VALUE.search(before)
        write: Callable[[str], str] = self._written
        if value is not None:
            column = self.columns.get(value["column"].strip('"'))
            words = [] if column is None else [(each, "") for each in _values(column)]
            start, write = value.start("start"), _closed
        else:
            match = _OPEN_WORD.search(before)
            if match is None:
                return []
            start = match.start()
            words = list(self._words(before[:start]))
        typed = before[start:]
        return [
            Completion(word, about, before[:start] + write(word) + after)
            for word, about in words
            if word.lower().startswith(typed.lower()) and word != typed
        ][:_MOST_COMPLETIONS]

    def _written(self, word: str) -> str:
        if word in self.columns:
            return identifier(word)
        return f"{word}(" if word in STATISTICS or word in TABLES else f"{word} "

    def _words(self, before: str) -> Iterable[tuple[str, str]]:
        """Columns inside of parentheses and after where, statistics elsewhere."""
        statistics = [(name, entry.meaning) for name, entry in STATISTICS.items()]
        columns = [(each.name, each.about) for each in self.columns.values()]
        outside = before.count("(") == before.count(")")
        if not before.strip():
            return statistics
        if not outside:
            inner = statistics if before.rstrip().endswith(("difference(", ",")) else []
            return [*columns, *inner, ("where", "only some rows")]
        if re.search(r"\bby\s+(\S+,\s*)?$", before, re.IGNORECASE):
            return [(each.name, each.about) for each in self.columns.values() if each.has_groups]
        if re.search(r"\b(where|and|or|not)\s*$", before, re.IGNORECASE):
            return columns
        return [("where", "only some rows"), ("by", "for each value"), *columns]


_MOST_COMPLETIONS = 8
_FIRST_NAME = re.compile(r"^\s*\w+")
_OPEN_WORD = re.compile(r"[^\W\d]\w*$")
_OPEN_VALUE = re.compile(r"""(?P<column>"[^"]+"|\w+)\s*(?:=|!=|<>)\s*'(?P<start>(?=[^']*$))""")


def _closed(value: str) -> str:
    """A value as it goes on after its first quote."""
    return string(value)[1:]


def _values(column: PublicColumn) -> tuple[str, ...]:
    """The values to choose from; none where any may be typed."""
    by_kind = {"boolean": ("true", "false"), "text": column.values}
    return by_kind.get(column.type, ())


def _takes(column: PublicColumn, value: str) -> bool:
    """Whether a column can be compared with a value."""
    if column.type == "boolean":
        return value in ("true", "false")
    return column.type not in _NUMBERS or _is_number(value)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?(\d+\.?\d*|\.\d+)(e-?\d+)?", text, re.IGNORECASE) is not None


def _conjuncts(text: str) -> Iterator[str]:
    """The conditions that ``and`` joins outside of parentheses, unless an ``or`` stands there."""
    words = read_words(text)
    depth, first = 0, 0
    places: list[int] = []
    for place, word in enumerate(words):
        depth += (word.kind == "L_PAREN") - (word.kind == "R_PAREN")
        if depth == 0 and word.kind in ("OR", "BETWEEN", "CASE"):
            yield text
            return
        if depth == 0 and word.kind == "AND":
            places.append(place)
    for place in (*places, len(words)):
        yield text[words[first].start : words[place - 1].end + 1]
        first = place + 1


def _of_groups(arguments: Sequence[str]) -> tuple[str, str, str] | None:
    """The value and both conditions of a difference of the same mean in two groups."""
    try:
        calls = [read_call(each) for each in arguments]
    except InvalidQuestion:
        return None
    values = {call.arguments for call in calls}
    if len(calls) != 2 or len(values) != 1 or not all(call.name in MEANS for call in calls):
        return None
    first, second = (call.where for call in calls)
    return None if first is None or second is None else (calls[0].arguments[0], first, second)
