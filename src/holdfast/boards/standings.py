"""Standings: ranks as far as they were shown; as a table and as a page.

A submission has rank 1 + the number of others that were shown to be better than it: by a comparison
item by item, by intervals that do not meet, or by both in a row. Those of one rank are tied. All of
it is true together, with the ledger's probability, so that what follows from it is, too.
"""

from __future__ import annotations

import csv
import html
import io
import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from holdfast import require
from holdfast.boards.history import BoardHistory
from holdfast.boards.metrics import Metric
from holdfast.certificate.page import STYLE
from holdfast.errors import InvalidArgument
from holdfast.ledger.attachments import TurnedAway
from holdfast.theory.base.intervals import Interval
from holdfast.wording import plural

if TYPE_CHECKING:
    import polars as pl

if TYPE_CHECKING:
    from holdfast.boards.leaderboard import Leaderboard


@dataclass(frozen=True, slots=True)
class Standing:
    """One submission on the board; `also` are those of other teams with the same content.

    `rank` is None where nothing places it: it was not shown to be better than the leader, and
    nothing is known of its score. `low` and `high` are what is known of that; `value` is what a
    claim that was confirmed said, or the exact score after a last look. `bounds` are those of the
    metric. Whether a claim was `confirmed` is None where none was looked at.
    """

    rank: int | None
    submission: str
    team: str
    status: str
    value: float | None
    low: float | None
    high: float | None
    claim: float | None
    confirmed: bool | None
    at: str
    also: tuple[str, ...] = ()
    bounds: tuple[float, float] = (0.0, 1.0)

    @property
    def leads(self) -> bool:
        """Whether it is the one to beat."""
        return self.status == _LEADS

    @property
    def told(self) -> str:
        """The status, and that a claim was wrong."""
        wrong = "; its claim was not confirmed" if self.confirmed is False else ""
        return self.status + wrong

    @property
    def interval(self) -> str:
        """Both ends in words; a dash where nothing is known."""
        low, high = self.low, self.high
        if low is not None and high is not None:
            return Interval(low, high).text(self.bounds)
        if low is not None:
            return f">= {Interval(low, low).ends(self.bounds)[0]}"
        return "-" if high is None else f"<= {Interval(high, high).ends(self.bounds)[1]}"

    @property
    def score(self) -> str:
        """The value in the digits of its interval; a dash where there is none."""
        if self.value is None:
            return "-"
        if self.low is None or self.high is None:
            return f"{self.value:.4g}"
        return Interval(self.low, self.high).value_text(self.value, self.bounds)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self) | {
            "also": list(self.also),
            "bounds": list(self.bounds),
            "interval": self.interval,
            "told": self.told,
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Standing:
        """The standing of which these are the plain values."""
        low, high = body["bounds"]
        plain = {name: body[name] for name in cls.__slots__}
        return cls(**{**plain, "also": tuple(body["also"]), "bounds": (low, high)})

    def __str__(self) -> str:
        place = "no rank" if self.rank is None else f"rank {self.rank}"
        facts = [f"{self.submission}: {place}", self.told]
        if self.interval != "-":
            facts.append(f"score {self.interval}")
        return " · ".join(facts)

    __repr__ = __str__


_LEADS = "leads"
_HOLDS_FOR = "these items"  # predictions are submitted, each for its key
_HEADS = ("rank", "submission", "score", "interval", "status")


@dataclass(frozen=True, slots=True)
class Standings:
    """Submissions by rank, those without one after them, and the files that were invalid."""

    rows: tuple[Standing, ...]
    invalid: tuple[TurnedAway, ...]
    metric: str
    more_is_better: bool
    items: int
    together: str
    final: bool

    def __iter__(self) -> Iterator[Standing]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, submission: str) -> Standing:
        """The standing of a submission by its name, or by any other that its content has."""
        for row in self.rows:
            if submission in (row.submission, *row.also):
                return row
        raise KeyError(f"no submission is called {submission!r}")

    @property
    def groups(self) -> list[list[Standing]]:
        """Groups of one rank: tied, as far as anything was shown."""
        by_group: dict[int, list[Standing]] = {}
        for row in self.rows:
            if row.rank is not None:
                by_group.setdefault(row.rank, []).append(row)
        return list(by_group.values())

    @property
    def promise(self) -> str:
        """Promise of the table, for people."""
        best = "more is better" if self.more_is_better else "less is better"
        return (
            f"A rank differs only where the labels show it. By {self.metric}, {best}, on "
            f"{plural(self.items, 'item')}; {self.together}, ranks and "
            f"intervals, for {_HOLDS_FOR}, not for others like them."
        )

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each submission."""
        return [row.to_dict() for row in self.rows]

    def to_polars(self) -> pl.DataFrame:
        """A Polars frame, one row for each submission."""
        import polars

        numbers = dict.fromkeys(("value", "low", "high", "claim"), polars.Float64)
        types = {**numbers, "rank": polars.Int64, "confirmed": polars.Boolean}
        return polars.DataFrame(self.to_dicts(), schema_overrides=types, strict=False)

    def to_pandas(self) -> Any:
        """A pandas frame, one row for each submission."""
        with require.installed("pandas frames", "data"):
            return self.to_polars().to_pandas()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "metric": self.metric,
            "more_is_better": self.more_is_better,
            "items": self.items,
            "together": self.together,
            "holds_for": _HOLDS_FOR,
            "final": self.final,
            "standings": self.to_dicts(),
            "invalid": [each.to_dict() for each in self.invalid],
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Standings:
        """The standings of which these are the plain values."""
        return cls(
            tuple(map(Standing.from_dict, body["standings"])),
            tuple(TurnedAway(**each) for each in body["invalid"]),
            body["metric"],
            body["more_is_better"],
            body["items"],
            body["together"],
            body["final"],
        )

    def to_csv(self) -> str:
        """A line for each submission."""
        file = io.StringIO()
        names = [name for name in Standing.__slots__ if name not in ("also", "bounds")]
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([*names, "also"])
        for row in self.rows:
            plain = row.to_dict()
            lines.writerow([*(_inert(plain[name]) for name in names), _inert("; ".join(row.also))])
        return file.getvalue()

    def cells(self, row: Standing) -> tuple[str, str, str, str, str]:
        """A row as people read it."""
        also = f" (also {', '.join(row.also)})" if row.also else ""
        rank = "-" if row.rank is None else str(row.rank)
        return rank, row.submission + also, row.score, row.interval, row.told

    def __str__(self) -> str:
        if not self.rows:
            return f"Nobody has submitted anything yet.\n{self.promise}{self._turned_away}"
        table = [_HEADS, *map(self.cells, self.rows)]
        wide = [max(len(line[place]) for line in table) for place in range(len(_HEADS))]
        lines = [
            "  ".join(cell.ljust(size) for cell, size in zip(line, wide, strict=True)).rstrip()
            for line in table
        ]
        return "\n".join([*lines, self.promise + self._turned_away])

    __repr__ = __str__

    @property
    def _turned_away(self) -> str:
        if not self.invalid:
            return ""
        return f"\n{plural(len(self.invalid), 'file was', 'files were')} invalid, at no cost"

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{head}</th>" for head in _HEADS)
        lines = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in self.cells(row))}</tr>"
            for row in self.rows
        )
        note = html.escape(self.promise + self._turned_away.replace("\n", "; "))
        return (
            f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
            f"<small>{note}</small>"
        )


def standings_of(
    history: BoardHistory,
    metric: Metric,
    invalid: tuple[TurnedAway, ...],
    items: int,
    together: str,
) -> Standings:
    """The standings that follow from what the ledger says."""
    ends = _ends(history, metric)
    ranks = _ranks(history, ends)
    rows = []
    for name, (first, *again) in history.submissions.items():
        low, high = ends[name] if metric.more_is_better else (-ends[name][1], -ends[name][0])
        score = history.scores.get(name)
        also = dict.fromkeys(each.name for each in again if each.by != first.by)
        rows.append(
            Standing(
                rank=ranks.get(name),
                submission=name,
                team=first.by or "",
                status=_status(history, name),
                value=None if score is None else score.value,
                low=low if low > metric.bounds.low else None,
                high=high if high < metric.bounds.high else None,
                claim=history.claimed.get(name),
                confirmed=name not in history.refuted if name in history.claimed else None,
                at=first.at,
                also=tuple(also),
                bounds=(metric.bounds.low, metric.bounds.high),
            )
        )
    came = {name: place for place, name in enumerate(history.submissions)}
    rows.sort(key=lambda row: (_order(row, metric), came[row.submission]))
    return Standings(
        tuple(rows), invalid, metric.name, metric.more_is_better, items, together, history.final
    )


def _order(row: Standing, metric: Metric) -> tuple[float, int, float]:
    """By rank; in a group the leader first, then by score."""
    sign = -1 if metric.more_is_better else 1
    value = math.inf if row.value is None else sign * row.value
    return (math.inf if row.rank is None else row.rank, not row.leads, value)


def _status(history: BoardHistory, name: str) -> str:
    if history.final and name in history.scores and history.scores[name].exact:
        return "final"
    if name == history.leader:
        return _LEADS
    if name in history.leaders:
        return "led before"
    compared = any(submission == name for submission, _ in history.compared)
    return "not shown to be better than the leader" if compared else "not compared yet"


def _ends(history: BoardHistory, metric: Metric) -> dict[str, tuple[float, float]]:
    """Interval of each, more being better: its own, and what comparisons add."""
    low, high = metric.bounds
    if not metric.more_is_better:
        low, high = -high, -low
    ends = dict.fromkeys(history.submissions, (low, high))
    for name, score in history.scores.items():
        lower, upper = score.interval
        ends[name] = (lower, upper) if metric.more_is_better else (-upper, -lower)
    changed = True
    while changed:
        changed = False
        for better, worse in history.better:
            (least, most), (other_least, other_most) = ends[better], ends[worse]
            new = (max(least, other_least), most), (other_least, min(most, other_most))
            changed = changed or new != (ends[better], ends[worse])
            ends[better], ends[worse] = new
    return ends


def _ranks(history: BoardHistory, ends: Mapping[str, tuple[float, float]]) -> dict[str, int]:
    """1 + how many are shown to be better, for each that anything places."""
    placed = {
        *history.leaders,
        *history.scores,
        *(name for pair in history.better for name in pair),
    }
    placed = {name for name in placed if name in history.submissions}
    lows = sorted(ends[name][0] for name in placed)
    above = {name: _all_above(history, name) for name in placed}
    return {
        name: 1
        + len(lows)
        - bisect_right(lows, ends[name][1])
        + sum(ends[better][0] <= ends[name][1] for better in above[name])
        for name in placed
    }


def _all_above(history: BoardHistory, name: str) -> set[str]:
    """Submissions shown to be better than it, or than one that was, and so on."""
    above: set[str] = set()
    stack = [name]
    while stack:
        worse = stack.pop()
        new = {better for better, against in history.better if against == worse} - above
        above |= new
        stack += new
    return above - {name}


def _inert(cell: Any) -> Any:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@")) else cell


# Standings as a page that needs nothing else, or as a table; written to a file.


_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_board(standings: Standings, name: str, path: str | Path) -> Path:
    """Write the standings; the ending of the file's name says how."""
    target = require.file("path", path)
    match target.suffix.lower():
        case ".html":
            text = board_page(standings, name)
        case ".csv":
            text = standings.to_csv()
        case _:
            raise InvalidArgument(
                f"path is {str(path)!r}; its name must end in .html or .csv, which say what to "
                "write."
            )
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidArgument(
            f"path is {str(path)!r}, which cannot be written ({error.strerror}); name another one."
        ) from None
    return target


def board_page(standings: Standings, name: str) -> str:
    """The whole page; whatever teams call themselves is text on it, and nothing else."""
    title = html.escape(name)
    return "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}: standings</title><style>{STYLE}</style></head><body>",
            f'<header><p class="over">Leaderboard</p><h1>{title}</h1></header>',
            f'<p class="promise">{html.escape(standings.promise)}</p>',
            _table(standings) if standings.rows else "<p>Nobody has submitted anything yet.</p>",
            _invalid(standings),
            '<footer class="note">Those of one rank are tied: none of them was shown to be better '
            "than another one. Without a rank: nothing is known of the score, but that it was not "
            "shown to be better than the leader's.</footer></body></html>",
        ]
    )


def _table(standings: Standings) -> str:
    heads = ("Rank", "Submission", "Score", "Interval", "Status")
    ends = [end for row in standings for end in (row.low, row.high) if end is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    rows = []
    for row in standings:
        rank, submission, value, interval, status = map(html.escape, standings.cells(row))
        bar = _bar(row, low, high)
        rows.append(
            f'<tr><td class="number" data-label="rank">{rank}</td><td>{submission}</td>'
            f'<td class="found" data-label="score"><b>{value}</b></td>'
            f'<td class="found" data-label="interval">{interval}{bar}</td><td>{status}</td></tr>'
        )
    head = "".join(f"<th>{each}</th>" for each in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _bar(row: Standing, low: float, high: float) -> str:
    """The interval drawn on the range of all that is known; open ends reach its end."""
    if (row.low is None and row.high is None) or low >= high:
        return ""
    first = 0.0 if row.low is None else (row.low - low) / (high - low)
    last = 1.0 if row.high is None else (row.high - low) / (high - low)
    return f'<span class="range"><i style="left:{first:.1%};width:{last - first:.1%}"></i></span>'


def _invalid(standings: Standings) -> str:
    if not standings.invalid:
        return ""
    items = "".join(
        f"<li>{html.escape(each.team)}"
        f"{'' if each.called is None else '/' + html.escape(each.called)}, "
        f"{html.escape(each.at)}: {html.escape(each.why)}</li>"
        for each in standings.invalid
    )
    return f"<h2>Invalid files, at no cost</h2><ul>{items}</ul>"


_WIDE, _LEAST_HIGH, _OF_A_ROW = 7.0, 1.2, 0.35  # inches
_FIRST_COLOUR, _OTHER_COLOUR = "#0b6e4f", "#5c6570"


class StandingsDisplay:
    """The interval of each submission, best first; `ax_` and `figure_` are there once it is drawn.

    Without an interval there is a name and no line: nothing is known. An open end has an arrow.
    """

    def __init__(self, standings: Standings) -> None:
        self.standings = standings

    @classmethod
    def from_board(cls, board: Leaderboard, ax: Any = None) -> Self:
        """Draw the standings of a board as they are now."""
        return cls(board.standings()).plot(ax)

    def plot(self, ax: Any = None, *, most: int = 30) -> Self:
        """Draw the first `most` of them, on axes of one's own or on new ones."""
        rows = self.standings.rows[: require.positive_integer("most", most)]
        if ax is None:
            from holdfast.holdout.charts import new_axes

            ax = new_axes(_WIDE, _LEAST_HIGH + _OF_A_ROW * len(rows))
        self.ax_, self.figure_ = ax, ax.figure
        ends = [end for row in rows for end in (row.low, row.high, row.value) if end is not None]
        edges = (min(ends), max(ends)) if ends else (0.0, 1.0)
        for place, row in enumerate(rows):
            _draw(ax, place, row, edges)
        ax.set_yticks(range(len(rows)), [_name(row) for row in rows])
        ax.invert_yaxis()
        ax.set_xlabel(f"{self.standings.metric}, {self.standings.together}")
        return self


def _name(row: Standing) -> str:
    return f"{'–' if row.rank is None else row.rank}  {row.submission}"


def _draw(ax: Any, place: int, row: Standing, edges: tuple[float, float]) -> None:
    colour = _FIRST_COLOUR if row.rank == 1 else _OTHER_COLOUR
    if row.low is not None or row.high is not None:
        low = edges[0] if row.low is None else row.low
        high = edges[1] if row.high is None else row.high
        ax.hlines(place, low, high, color=colour, linewidth=3, alpha=0.5)
        for end, value, mark in ((low, row.low, "<"), (high, row.high, ">")):
            if value is None:
                ax.plot([end], [place], mark, color=colour, markersize=6)
    if row.value is not None:
        ax.plot([row.value], [place], "o", color=colour, markersize=5)
