"""Report of all that the laboratory found: one page of HTML, alone enough, and Markdown.

Its tables say results in words; one of them is the demonstration of one attack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from holdfast.holdout.charts import drawing_library, save
from holdfast.lab.arena.campaign import Met, Spare, campaign, require_enough_trials, tightness
from holdfast.lab.arena.comparison import Cell, Compared, Experiment, Run, run_cells
from holdfast.lab.arena.experiments import EXPERIMENTS, Sizes
from holdfast.lab.arena.trial import WORDS, TrialsVerdict, Word
from holdfast.lab.attacks.attacks import SignAttack
from holdfast.lab.pages.pictures import coverage_chart, experiment_chart, svg, tightness_chart
from holdfast.lab.world.holders import Plain, Splitting
from holdfast.lab.world.populations import Signs, terms_on
from holdfast.lab.world.session import Protected, planned_terms

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


# The report.


_TITLE = "Holdfast under attack"
_INTRODUCTION = (
    "Analysts who see only answers try to make released intervals false. The rows are made up, so "
    "the truth of every question is known. A trial is false if any of its intervals misses the "
    "truth; a promise of 95 % is BROKEN if more trials are false than chance allows but once in "
    "10^9.",
)
_NUMBERS = re.compile(r"declared concentration \w+\([^)]*\)")
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
       color: #1d1d1d; }
h1 { margin-bottom: .2rem; } h2 { margin-top: 2.6rem; border-bottom: 1px solid #ddd; }
table { border-collapse: collapse; font-size: 14px; margin: 1rem 0; display: block;
        overflow-x: auto; }
th, td { padding: .28rem .7rem; text-align: left; border-bottom: 1px solid #e4e4e4;
         vertical-align: top; }
th { border-bottom: 2px solid #999; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.whole { white-space: nowrap; }
.wide { font-size: 12px; } .wide th, .wide td { padding: .25rem .45rem; }
.wide th { white-space: normal; } .wide td { white-space: nowrap; }
.broken { color: #c62828; font-weight: 600; } .holds { color: #0b6e4f; font-weight: 600; }
.chart { overflow-x: auto; } svg { max-width: 100%; height: auto; }
details { font-size: 14px; color: #444; }
"""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what is said, a chart and a table."""

    title: str
    words: tuple[str, ...]
    chart: Any
    sheet: Sheet
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Report: where its pages are, the worst that is said of any promise, and how much is done."""

    files: tuple[Path, ...] = ()
    word: Word = WORDS[0]
    done: int = 0
    parts: int = 0

    @property
    def kept(self) -> str:
        """How far it goes, and where it is."""
        if not self.files:
            return "nothing is finished yet"
        return f"{self.done} of {self.parts} parts are in {self.files[0]}"


def reports(folder: Path, run: Callable[[int, str], Run]) -> Iterator[Report]:
    """Run everything; after each part `report.html` and `report.md` hold all that was found so far.

    `run(trials, label)` says how an experiment with this usual number of trials is run.
    """
    drawing_library()  # before an hour of trials, not after
    # What the table of tightness needs at the end is required now, too.
    require_enough_trials(run(9, "re-using one holdout"))
    pages, worst, parts = Pages(folder), WORDS[0], len(EXPERIMENTS) + 3
    for count, (section, words) in enumerate(_parts(run), start=1):
        pages.add(section)
        worst = max((worst, *words), key=WORDS.index)
        notice = f"{count} of {parts} parts: the run has not ended, or was interrupted."
        yield Report(pages.write(None if count == parts else notice), worst, count, parts)


def _parts(run: Callable[[int, str], Run]) -> Iterator[tuple[Section, set[Word]]]:
    """The parts of a report, each with what is said of its promises."""
    yield _of_experiment(showcase(run=run(9, "re-using one holdout")))
    for kind in EXPERIMENTS.values():
        yield _of_experiment(kind.run(Sizes(), run(kind.trials, kind.name)))
    met = campaign(run=run(20, "mechanisms and attacks"))
    yield _of_campaign(met), {each.verdict.word for each in met if each.verdict is not None}
    yield _of_tightness(tightness(run=run(12, "tightness"))), set()


def _of_experiment(experiment: Experiment) -> tuple[Section, set[Word]]:
    section = Section(
        experiment.name[:1].upper() + experiment.name[1:],
        (experiment.description,),
        experiment_chart(experiment),
        experiment_sheet(experiment),
    )
    return section, {row.verdict.word for row in experiment.rows if row.promises}


def _of_tightness(spares: Sequence[Spare]) -> Section:
    return Section(
        "How tight the promises are",
        (
            "Noise and half-width of each mechanism, scaled down together until an attack breaks "
            "it. Close to 1 means that nothing is wasted; a small number is what is to spare, or "
            "what no attack here can use.",
        ),
        tightness_chart(spares),
        tightness_sheet(spares),
    )


def _of_campaign(met: Sequence[Met]) -> Section:
    missing: dict[str, list[str]] = {}
    for each in met:
        if each.reason is not None:
            reason = _NUMBERS.sub("declared concentration", each.reason)
            missing.setdefault(f"{each.mechanism}: {reason}", []).append(each.attack)
    trials = max((each.verdict.trials for each in met if each.verdict is not None), default=0)
    return Section(
        "Every mechanism against every attack",
        (
            f"{trials} trials each, at the half-width that the mechanism decides by itself: the "
            "worst error in half-widths, and how many trials were false, if any.",
        ),
        coverage_chart(met),
        campaign_sheet(met),
        tuple(f"{reason} ({', '.join(attacks)})" for reason, attacks in missing.items()),
    )


class Pages:
    """Both pages, as far as they go: a section is drawn once, however often they are written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: list[str] = []
        self._body: list[str] = []

    def add(self, section: Section) -> None:
        """Draw a section, below those that are there."""
        self._folder.mkdir(parents=True, exist_ok=True)
        picture = f"{section.title.lower().replace(' ', '-')}.svg"
        save(section.chart, self._folder / picture)
        self._lines += [f"## {section.title}", *section.words, f"![{section.title}]({picture})"]
        self._lines += [section.sheet.markdown(), *_list_of(section.notes)]
        self._body += [
            f"<h2>{escape(section.title)}</h2>",
            *(f"<p>{escape(paragraph)}</p>" for paragraph in section.words),
            f'<div class="chart">{svg(section.chart)}</div>',
            section.sheet.html(),
            _folded(section.notes),
        ]

    def write(self, notice: str | None = None) -> tuple[Path, ...]:
        """Write what there is; `notice` says how far it goes, if more is to come."""
        page, words = self._folder / "report.html", self._folder / "report.md"
        paragraphs = [*_INTRODUCTION, *([] if notice is None else [notice])]
        lines = [f"# {_TITLE}", *paragraphs, *self._lines]
        body = [
            f"<h1>{_TITLE}</h1>",
            *(f"<p>{escape(each)}</p>" for each in paragraphs),
            *self._body,
        ]
        words.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
        page.write_text(
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{_TITLE}'
            f"</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
            + "\n".join(body)
            + "\n</body>\n</html>\n",
            encoding="utf-8",
        )
        return page, words


def _list_of(notes: Sequence[str]) -> list[str]:
    return (
        ["\n".join(["Not attacked in this way:", "", *(f"- {n}" for n in notes)])] if notes else []
    )


def _folded(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<details><summary>Not attacked in this way</summary><ul>{items}</ul></details>"
