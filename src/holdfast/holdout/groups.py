"""Answers in a table: a statistic for each value of one or two columns, or bins of a histogram."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.statistics.labelled import Label

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Groups", "frame_of_kind", "together"]

_COLUMNS = ("n", "value", "low", "high", "status", "cost", "question")


@dataclass(frozen=True, slots=True)
class Groups:
    """The answers for each group, as a table; groups["JFK"] is one of them, groups["JFK", 7] too.

    `by` names the columns of the groups, `question` is what was asked for all of them, and
    `frame_kind` is the library whose frames the caller works with.
    """

    by: tuple[str, ...]
    answers: tuple[tuple[Label, Answer], ...]
    frame_kind: str = "polars"
    question: str = ""

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[tuple[Label, Answer]]:
        return iter(self.answers)

    def __getitem__(self, member: Label) -> Answer:
        found = dict(self.answers)
        try:
            return found[member]
        except (KeyError, TypeError):
            known = ", ".join(repr(each) for each in found)
            raise InvalidArgument(
                f"there is no group {member!r}; the groups are {known}."
            ) from None

    @property
    def labels(self) -> tuple[str, ...]:
        """What the columns of groups are called: as they are in the table, or "group" where that
        clashes with what is told of an answer."""
        taken = {"n", *self.answers[0][1].to_dict()}
        clashes = [name in taken for name in self.by]
        numbered = [f"group {place}" for place in range(1, len(self.by) + 1)]
        instead = ["group"] if len(self.by) == 1 else numbered
        return tuple(
            other if clash else name
            for name, other, clash in zip(self.by, instead, clashes, strict=True)
        )

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each group; `n` is how many rows it has, None where that is not told."""
        return [
            {
                **dict(zip(self.labels, _parts(member), strict=True)),
                "n": _size(answer),
                **answer.to_dict(),
            }
            for member, answer in self.answers
        ]

    def to_polars(self) -> pl.DataFrame:
        """A Polars frame, one row for each group."""
        import polars

        rows = self.to_dicts()
        return polars.DataFrame(
            [{column: row[column] for column in (*self.labels, *_COLUMNS)} for row in rows],
            # What says nothing has no value, and what was asked on the ledger has no size.
            schema_overrides={"value": polars.Float64, "n": polars.Int64},
        )

    def to_pandas(self) -> Any:
        """A pandas frame, one row for each group."""
        return frame_of_kind(self.to_polars(), "pandas")

    @property
    def table(self) -> Any:
        """A frame of the kind that the holdout was opened with: pandas or pyarrow, else Polars."""
        return frame_of_kind(self.to_polars(), self.frame_kind)

    def __str__(self) -> str:
        head = (*self.by, "n", "value", "interval", "")
        rows = [head, *(self._cells(member, answer) for member, answer in self.answers)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        first = len(self.by)
        lines = [
            "  ".join(
                cell.rjust(width) if first <= place < first + 2 else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, together(self.answers[0][1])])

    __repr__ = __str__

    def _cells(self, member: Label, answer: Answer) -> tuple[str, ...]:
        """A line of the table, as text."""
        names = (str(part) for part in _parts(member))
        interval = answer.recorded.interval_text
        return (*names, _shown_size(answer), answer.recorded.shown, interval, answer.status)

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{html.escape(name)}</th>" for name in (*self.by, "n", "value", "interval", "")
        )
        body = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in self._cells(member, answer))
            + "</tr>"
            for member, answer in self.answers
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"{table}<small>{html.escape(together(self.answers[0][1]))}</small>"


def _parts(member: Label) -> tuple[Any, ...]:
    return member if isinstance(member, tuple) else (member,)


def _size(answer: Answer) -> int | None:
    """How many rows it is about, where that is known exactly."""
    least, most = answer.recorded.rows or (None, None)
    return least if least == most else None


def _shown_size(answer: Answer) -> str:
    if answer.recorded.rows is None:
        return "-"
    least, most = answer.recorded.rows
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def together(answer: Answer) -> str:
    """What holds for all answers of a table, and what is left after them."""
    left = answer.left
    others = " with every other answer" if left.terms.promises else ""
    return f"{left.together}{others} · {left.terms.rows:,} rows · {left.remaining}"


def frame_of_kind(frame: pl.DataFrame, kind: str) -> Any:
    """A Polars frame as one of another library."""
    with require.installed("frames of this kind", "data"):
        match kind:
            case "pandas":
                return frame.to_pandas()
            case "pyarrow":
                return frame.to_arrow()
    return frame
