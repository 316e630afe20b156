"""Tables of results, in words; and the demonstration of one attack."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from holdfast.lab.arena.campaign import Met, Spare
from holdfast.lab.arena.comparison import Cell, Compared, Experiment, Run, run_cells
from holdfast.lab.arena.trial import TrialsVerdict
from holdfast.lab.attacks.attacks import SignAttack
from holdfast.lab.world.holders import Plain, Splitting
from holdfast.lab.world.populations import Signs, terms_on
from holdfast.lab.world.session import Protected, planned_terms

__all__ = [
    "FEATURES",
    "ROWS",
    "Sheet",
    "campaign_sheet",
    "experiment_sheet",
    "showcase",
    "tightness_sheet",
]


# A number, perhaps "of" another, or with a remark in brackets.
_NUMBER = re.compile(r"[-+.,\d]+( of [\d,]+)?( \([\d,]+ to [\d,]+\))?|none")
_WIDE = 10  # columns for which a page needs smaller letters


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of words: a heading for each column, and rows; numbers stand on the right."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """For a terminal."""
        widths = [max(map(len, column)) for column in zip(self.headings, *self.rows, strict=True)]
        lines = [
            "  ".join(
                word.rjust(width) if right else word.ljust(width)
                for word, width, right in zip(row, widths, self._right(), strict=True)
            ).rstrip()
            for row in (self.headings, *self.rows)
        ]
        return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])

    def markdown(self) -> str:
        rule = "".join("---:|" if right else "---|" for right in self._right())
        rows = [_bar(self.headings), f"|{rule}", *map(_bar, self.rows)]
        return "\n".join(rows)

    def html(self) -> str:
        def line(row: Sequence[str], tag: str) -> str:
            cells = "".join(
                f"<{tag}{_style(word, right)}>{escape(word)}</{tag}>"
                for word, right in zip(row, self._right(), strict=True)
            )
            return f"<tr>{cells}</tr>"

        body = "\n".join(line(row, "td") for row in self.rows)
        wide = ' class="wide"' if len(self.headings) >= _WIDE else ""
        return f"<table{wide}>\n{line(self.headings, 'th')}\n{body}\n</table>"

    def _right(self) -> list[bool]:
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.headings)
        return [all(_NUMBER.fullmatch(word) for word in column if word) for column in columns]


def _bar(row: Sequence[str]) -> str:
    return f"| {' | '.join(word.replace('|', '/') for word in row)} |"


def _style(word: str, right: bool) -> str:
    classes = ["number"] * right + ["whole"] * word.startswith("[")
    classes += ["broken"] * ("BROKEN" in word) + ["holds"] * (word == "holds")
    return f' class="{" ".join(classes)}"' if classes else ""


def experiment_sheet(experiment: Experiment) -> Sheet:
    """A row for each holder, with the published numbers beside."""
    published = any(row.published is not None for row in experiment.rows)
    headings = ("who answers", "answered", "shown", "truth", "interval", "false", "verdict")
    rows = tuple(
        (
            row.holder,
            _answered(row.verdict),
            _number(row.shown),
            _number(row.truth),
            _interval(row),
            _false(row.verdict),
            row.verdict.word,
            *((_published(row),) * published),
        )
        for row in experiment.rows
    )
    return Sheet((*headings, *(("published",) * published)), rows)


def _answered(judged: TrialsVerdict) -> str:
    if judged.fewest_answers == judged.most_answers:
        return f"{judged.median_answers:,.0f}"
    return f"{judged.median_answers:,.0f} ({judged.fewest_answers:,} to {judged.most_answers:,})"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _interval(row: Compared) -> str:
    return "" if row.low is None or row.high is None else f"[{row.low:.3f}, {row.high:.3f}]"


def _false(judged: TrialsVerdict) -> str:
    return f"{judged.failures} of {judged.trials}" if judged.intervals else ""


def _published(row: Compared) -> str:
    if row.published is None:
        return ""
    match row.reported:
        case "shown":
            text = f"{row.published:.3f}"
        case "answered":
            text = f"{row.published:,.0f} answered"
        case "broken":
            text = f"{100 * row.published:.0f} % false"
    return f"{text} ({row.note})" if row.note else text


def campaign_sheet(met: Sequence[Met]) -> Sheet:
    """A row for each attack, a column for each mechanism: the worst error, and what was false."""
    mechanisms = list(dict.fromkeys(each.mechanism for each in met))
    attacks = list(dict.fromkeys(each.attack for each in met))
    by_cell = {(each.attack, each.mechanism): each for each in met}
    rows = tuple(
        (attack, *(_met(by_cell.get((attack, mechanism))) for mechanism in mechanisms))
        for attack in attacks
    )
    return Sheet(("attack", *mechanisms), rows)


def _met(each: Met | None) -> str:
    if each is None or each.verdict is None:
        return "-"
    judged = each.verdict
    if not judged.intervals:
        return judged.word
    word = f"{judged.word}, " if judged.word in ("doubtful", "BROKEN") else ""
    false = f"{judged.failures} false, " if judged.failures else ""
    return f"{word}{false}{judged.slack:.2f}"


def tightness_sheet(spares: Sequence[Spare]) -> Sheet:
    """A row for each mechanism: the largest scale broken, and by what."""
    headings = ("mechanism", "largest scale broken", "by", "questions", "half-width")
    rows = tuple(
        (
            spare.mechanism,
            "none" if spare.broken_at is None else f"{spare.broken_at:.2f}",
            spare.attack,
            f"{spare.questions:,}",
            f"{spare.half_width:.3f}",
        )
        for spare in spares
    )
    return Sheet(headings, rows)


# The demonstration: one attack, four ways to answer it. Needs no data, and about ten seconds.


ROWS, FEATURES = 4_000, 500


def showcase(
    rows: int = ROWS, features: int = FEATURES, tolerance: float = 0.11, run: Run | None = None
) -> Experiment:
    """Which of `features` useless features agree with the label? Then all of them vote.

    Labels are fair coins and no feature knows anything of them: every true score is 1/2.
    """
    population, analyst = Signs(features), SignAttack(features)
    terms = terms_on(population, rows, tolerance, features + 1)
    cells = [
        Cell(population, holder, analyst, declared, train, label=label)
        for holder, declared, train, label in (
            (Plain(), terms, 0, "plain holdout"),
            (Plain(2), terms, 0, "scores rounded to 2 digits"),
            (Splitting(), terms, 0, "sample splitting"),
            (Protected("train"), terms, rows, "Holdfast: check guesses"),
            (
                Protected(mechanism="median noise"),
                planned_terms("median noise", terms),
                0,
                "Holdfast: ask",
            ),
        )
    ]
    return run_cells(
        "re-using one holdout",
        f"{features:,} coin-flip features are scored on {rows:,} rows, turned to their better "
        "side, and vote. They know nothing: every true score is 0.5.",
        cells,
        run or Run(trials=9),
    )
