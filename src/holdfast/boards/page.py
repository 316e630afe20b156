"""Standings as a page that needs nothing else, or as a table; written to a file."""

from __future__ import annotations

import html
from pathlib import Path

from holdfast import require
from holdfast.boards.standings import Standing, Standings
from holdfast.certificate.style import STYLE
from holdfast.errors import InvalidArgument

__all__ = ["board_page", "write_board"]

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
