"""A comparison of two runs, item by item: the record that `holdfast.compare` returns."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from holdfast.theory.base.intervals import Interval
from holdfast.wording import percent, plural

_SHOWN = 3
_LONGEST_SHOWN = 40
_SMALLEST_P = 1e-4
_ONE_LOOK = (
    "This is true of one look. A second look at these items? `--ledger bench` (in Python "
    "`holdfast.EvalGate`) counts it."
)


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """B against A on some items: the mean of B's scores less A's, for items drawn like these.

    `p` is two-sided: the exact sign test (McNemar) where scores are right or wrong, else by the
    bets of the interval. A win is an item on which B has more. `largest` is the
    largest difference that scores allow; where it is 1, differences are written in points.
    """

    items: int
    mean_a: float
    mean_b: float
    difference: float
    interval: Interval
    p: float
    wins: int
    losses: int
    ties: int
    verdict: str
    largest: float
    category: str | None = None

    @property
    def in_points(self) -> bool:
        """Whether a difference is written in hundredths."""
        return self.largest == 1.0

    @property
    def sentence(self) -> str:
        """The verdict in words, with its numbers."""
        text = (
            "cannot tell which is better"
            if self.verdict == "cannot tell"
            else f"B is {self.verdict}"
        )
        return (
            f"{text}: {self.gain} {self.range_text}, {p_text(self.p)}, {plural(self.wins, 'win')}, "
            f"{plural(self.losses, 'loss', 'losses')} of {plural(self.items, 'item')}"
        )

    @property
    def gain(self) -> str:
        """B less A, with a sign: +3.1 points."""
        number = self._written(self.interval.value_text(self.difference, self._marks))
        signed = number if number.startswith("-") else f"+{number}"
        return f"{signed} points" if self.in_points else signed

    @property
    def range_text(self) -> str:
        """The interval, its ends rounded outwards."""
        return f"[{', '.join(map(self._written, self.interval.ends(self._marks)))}]"

    def _written(self, text: str) -> str:
        """A number in points, where they are; digits are those of the number itself."""
        if not self.in_points:
            return text
        return f"{Decimal(text).scaleb(2) + 0:{'e' if 'e' in text else 'f'}}"

    @property
    def _marks(self) -> Sequence[float]:
        return (-self.largest, self.largest)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        row: dict[str, Any] = {} if self.category is None else {"category": self.category}
        return row | {
            "verdict": self.verdict,
            "difference": self.difference,
            "low": self.interval.low,
            "high": self.interval.high,
            "p": self.p,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "items": self.items,
            "mean_a": self.mean_a,
            "mean_b": self.mean_b,
        }


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One run of a comparison: what it is called, and which of its items were not paired.

    `missing` items have no score, or fewer than tries, and count as wrong. `unpaired` ones are not
    in the other run, and are left out. Scores are averages of up to `epochs` tries.
    """

    name: str
    scorer: str | None = None
    epochs: int = 1
    missing: tuple[Any, ...] = ()
    unpaired: tuple[Any, ...] = ()

    @property
    def note(self) -> str:
        """Its name in brackets, where it has one beside A or B."""
        return "" if self.name in ("A", "B") else f" ({self.name})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "name": self.name,
            "scorer": self.scorer,
            "epochs": self.epochs,
            "missing": list(self.missing),
            "unpaired": list(self.unpaired),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether B is better than A, item by item; `print` it, or read its fields.

    `difference` is the mean score of B less that of A, `interval` where it is for items drawn like
    these, and `verdict` "better", "worse" or "cannot tell". A gain of `detectable` would be shown
    four times in five. `categories` are compared each, all their intervals together as sure as
    `confidence_level`. A `warning` says what speaks against comparing them at all. All of it is for
    one look at these items: who changes B and compares again needs a ledger.
    """

    a: ComparedRun
    b: ComparedRun
    overall: PairedDifference
    confidence_level: float
    graded: bool
    bounds: tuple[float, float]
    detectable: float
    by: str | None = None
    categories: tuple[PairedDifference, ...] = ()
    uncategorised: int = 0
    warning: str | None = None

    @property
    def verdict(self) -> str:
        """better, worse or cannot tell: of B."""
        return self.overall.verdict

    @property
    def difference(self) -> float:
        """The mean score of B less that of A."""
        return self.overall.difference

    @property
    def interval(self) -> Interval:
        """Where the difference is, for items drawn like these."""
        return self.overall.interval

    @property
    def p(self) -> float:
        """Two-sided p of no difference."""
        return self.overall.p

    @property
    def wins(self) -> int:
        """Items on which B has more."""
        return self.overall.wins

    @property
    def losses(self) -> int:
        """Items on which A has more."""
        return self.overall.losses

    @property
    def ties(self) -> int:
        """Items on which both have the same score."""
        return self.overall.ties

    @property
    def items(self) -> int:
        """How many items were compared."""
        return self.overall.items

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return self.overall.to_dict() | {
            "confidence_level": self.confidence_level,
            "graded": self.graded,
            "bounds": list(self.bounds),
            "detectable": self.detectable,
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "by": self.by,
            "categories": [each.to_dict() for each in self.categories],
            "uncategorised": self.uncategorised,
            "warning": self.warning,
        }

    @property
    def facts(self) -> list[str]:
        """What is said beside the verdict, one after the other."""
        sure = percent(self.confidence_level)
        means = self._score(self.overall.mean_a), self._score(self.overall.mean_b)
        lines = [
            f"A: {means[0]}{self.a.note}; B: {means[1]}{self.b.note}. The difference is B less A, "
            f"{sure} sure, for items drawn like these.",
            *([] if self.warning is None else [self.warning]),
            self._power,
        ]
        for letter, run in (("A", self.a), ("B", self.b)):
            if run.unpaired:
                lines.append(f"In {letter} only, and left out: {item_list(run.unpaired)}.")
            if run.missing:
                lines.append(
                    f"Without a score in {letter}, and counted as wrong: {item_list(run.missing)}."
                )
        if max(self.a.epochs, self.b.epochs) > 1:
            lines.append(
                f"Several runs of an item were averaged first: up to {self.a.epochs:,} in A, "
                f"{self.b.epochs:,} in B."
            )
        if self.graded:
            low, high = self.bounds
            lines.append(f"Scores are graded, from {low:g} to {high:g}: the interval is by bets.")
        if self.uncategorised:
            lines.append(
                f"{plural(self.uncategorised, 'item')} without {self.by!r} in no category."
            )
        return lines

    @property
    def _power(self) -> str:
        if self.detectable >= self.bounds[1] - self.bounds[0]:
            return "So few items would not show even the largest gain 4 times in 5."
        gain = self._gain(self.detectable)
        return f"With this many items a gain of {gain} would be seen 4 times in 5."

    @property
    def table(self) -> list[list[str]]:
        """The categories, with a head."""
        numbers = ["items", "A", "B", "B less A", "interval", "wins", "losses", "p", "B is"]
        head = [self.by or "", *numbers]
        return [
            head,
            *(
                [
                    each.category or "",
                    f"{each.items:,}",
                    self._score(each.mean_a),
                    self._score(each.mean_b),
                    each.gain.removesuffix(" points"),
                    each.range_text,
                    f"{each.wins:,}",
                    f"{each.losses:,}",
                    p_text(each.p).removeprefix("p = ").removeprefix("p "),
                    each.verdict,
                ]
                for each in self.categories
            ),
        ]

    @property
    def together(self) -> str:
        """How the table of categories is to be read."""
        many = plural(len(self.categories), "category", "categories")
        return (
            f"All intervals of the {many} together are {percent(self.confidence_level)} sure; each "
            f"p is multiplied by {len(self.categories):,}."
        )

    def __str__(self) -> str:
        lines = [self.overall.sentence, *self.facts]
        if self.categories:
            table = self.table
            wide = [max(map(len, column)) for column in zip(*table, strict=True)]
            lines += ["", *("  ".join(map(str.ljust, row, wide)).rstrip() for row in table)]
            lines += [self.together]
        return "\n".join([*lines, "", _ONE_LOOK])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        sentence, *facts = (html.escape(each) for each in (self.overall.sentence, *self.facts))
        rows = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>"
            for row in (self.table if self.categories else [])
        )
        table = f"<table>{rows}</table><small>{html.escape(self.together)}</small>" if rows else ""
        return f"<div><b>{sentence}</b><br><small>{'<br>'.join(facts)}</small>{table}</div>"

    def to_markdown(self) -> str:
        """A section for the summary of a job."""
        mark = {"better": "**better**", "worse": "**worse**"}.get(self.verdict, "**cannot tell**")
        rows = [
            ["compare", ""],
            ["---", "---"],
            ["B is", mark],
            ["B less A", f"{self.overall.gain} {self.overall.range_text}"],
            ["p", p_text(self.p).removeprefix("p = ").removeprefix("p ")],
            ["wins, losses, ties", f"{self.wins:,}, {self.losses:,}, {self.ties:,}"],
            ["A", f"{self._score(self.overall.mean_a)}{self.a.note}"],
            ["B", f"{self._score(self.overall.mean_b)}{self.b.note}"],
        ]
        lines = [_row(row) for row in rows] + ["", *(f"- {fact}" for fact in self.facts[1:])]
        if self.categories:
            head, *body = self.table
            lines += [
                "",
                _row(head),
                _row(["---"] * len(head)),
                *map(_row, body),
                "",
                self.together,
            ]
        return "\n".join([*lines, "", _ONE_LOOK, ""])

    def _score(self, mean: float) -> str:
        return f"{100 * mean:.1f} %" if self.overall.in_points else f"{mean:.4g}"

    def _gain(self, gain: float) -> str:
        if not self.overall.in_points:
            return f"{gain:.2g}"
        return f"{math.ceil(1000 * gain) / 10:g} points"


def p_text(p: float) -> str:
    """p = 0.02, rounded up to two digits; p < 0.0001 below that."""
    if p < _SMALLEST_P:
        return f"p < {_SMALLEST_P:.4f}"
    place = 1 - math.floor(math.log10(p))
    return f"p = {min(1.0, math.ceil(round(p * 10**place, 6)) / 10**place):g}"


def item_list(items: Sequence[Any]) -> str:
    """How many items, and the first few."""
    written = [repr(item) for item in items[:_SHOWN]]
    cut = [
        each if len(each) <= _LONGEST_SHOWN else f"{each[:_LONGEST_SHOWN]}..." for each in written
    ]
    more = ", ..." if len(items) > _SHOWN else ""
    return f"{plural(len(items), 'item')} ({', '.join(cut)}{more})"


def _row(cells: Sequence[str]) -> str:
    written = (cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(written)} |"
