"""The events that described statistics rest on: each has one weight, by its price in bits.

Questions that rest on the same event share it: a sum, a count and an average; an error and an
accuracy; a standard deviation and a variance; two differences that are turned over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from holdfast.errors import NotDescribed
from holdfast.prior.grammar import Grammar
from holdfast.question.expression import Expression, column_names
from holdfast.question.row import RowValue
from holdfast.question.text import numeral, text_of

if TYPE_CHECKING:
    from holdfast.statistics.rule import Ground, Look

__all__ = ["NO_TEXT", "Description", "EventPrice", "Part", "Role", "Use", "sorted_trees", "tree_of"]

Role = Literal["plain", "free", "besides"]
# An open constant is a NULL beside a sign; in quotes it is something else.
_OPEN = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|(?<=[<>] )null\b""")


@dataclass(frozen=True, slots=True)
class Part:
    """One event: what kind of statement, about which trees and numbers, among which rows.

    Its `kind` is the name of a production, with its own `EventPrice`; `form` is the sub-kind of
    kinds that have some. Two questions share a part when it is equal, which is when its text is.
    """

    kind: str
    trees: tuple[Expression, ...]
    where: Expression | None = None
    numbers: tuple[float, ...] = ()
    form: str = ""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it is about."""
        trees = self.trees if self.where is None else (*self.trees, self.where)
        return frozenset(name for tree in trees for name in column_names(tree))

    @property
    def text(self) -> str:
        """Something a person can read; no two parts have the same."""
        words = [*map(text_of, self.trees), *map(numeral, self.numbers)]
        if self.kind == "cut":
            words = [_OPEN.sub(lambda evidence: evidence[1] or "any", word) for word in words]
        named = f"{self.form or self.kind}({', '.join(words)})"
        return named if self.where is None else f"{named} where {text_of(self.where)}"


@dataclass(frozen=True, slots=True)
class Use:
    """A part as a question uses it.

    The `plain` parts together answer a question; so does each `free` one by itself, for all
    constants or all levels at once; what follows from those `besides` may be intersected with the
    answer. A part has one rule: where it is `turned`, the question is 1 minus a share, or a
    difference with its sign changed.
    """

    part: Part
    role: Role = "plain"
    turned: bool = False


@dataclass(frozen=True, slots=True)
class EventPrice:
    """What a kind of event costs beside its name: its body, and whether it has a where.

    `where` is the row of productions that says so; without one it is of all rows. A kind without a
    production has derivations of another kind, `instead_of` which it stands, that nothing else has.
    """

    body: Callable[[Grammar, Part], int]
    where: str | None = "where other"
    instead_of: str | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """How statistics of one class are described: by which events, and the rule of the first.

    `look` is given the statistic, its first part and what rules rest on; None where no theorem
    covers the way the rows came about.
    """

    of: type
    uses: Callable[[Any], Iterable[Use]]
    look: Callable[[Any, Part, Ground], Look | None]


NO_TEXT = (
    "The question is made by Python, and only text over the table's own columns has a length in "
    "bits; write it as text, or ask it without."
)


def tree_of(value: RowValue) -> Expression:
    """The expression that a value of a row is; refused for a function of Python."""
    if isinstance(value.source, Expression):
        return value.source
    raise NotDescribed(NO_TEXT)


def sorted_trees(*values: RowValue) -> tuple[Expression, ...]:
    """The expressions of values whose order does not matter, in the order of their texts."""
    return tuple(sorted(map(tree_of, values), key=text_of))
