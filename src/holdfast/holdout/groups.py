"""Answers in a table: a statistic for each value of a column, or the bins of a histogram."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.data.design import DesignValue
from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Groups"]

_COLUMNS = ("value", "low", "high", "status", "cost", "question")


@dataclass(frozen=True, slots=True)
class Groups:
    """The answers for each group, as a table; groups["JFK"] is one of them.

    `frame_kind` is the library whose frames the caller works with.
    """

    by: str
    answers: tuple[tuple[DesignValue, Answer], ...]
    frame_kind: str = "polars"

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[tuple[DesignValue, Answer]]:
        return iter(self.answers)

    def __getitem__(self, member: DesignValue) -> Answer:
        found = dict(self.answers)
        try:
            return found[member]
        except (KeyError, TypeError):
            known = ", ".join(repr(each) for each in found)
            raise InvalidArgument(
                f"there is no group {member!r}; the groups are {known}."
            ) from None

    @property
    def label(self) -> str:
        """What the column of groups is called: as it is in the table, or "group" where that clashes
        with what is told of an answer."""
        return "group" if self.by in self.answers[0][1].to_dict() else self.by

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each group."""
        return [{self.label: member, **answer.to_dict()} for member, answer in self.answers]

    def to_polars(self) -> pl.DataFrame:
        """A Polars frame, one row for each group."""
        import polars

        rows = self.to_dicts()
        return polars.DataFrame(
            [{column: row[column] for column in (self.label, *_COLUMNS)} for row in rows],
            schema_overrides={"value": polars.Float64},  # what says nothing has none
        )

    @property
    def table(self) -> Any:
        """A frame of the kind that the holdout was opened with: pandas or pyarrow, else Polars."""
        frame = self.to_polars()
        with require.installed("frames of this kind", "data"):
            match self.frame_kind:
                case "pandas":
                    return frame.to_pandas()
                case "pyarrow":
                    return frame.to_arrow()
        return frame

    def __str__(self) -> str:
        width = max(len(self.by), *(len(str(member)) for member, _ in self.answers))
        lines = [f"{self.by:<{width}}  {'value':>9}  interval"]
        for member, answer in self.answers:
            lines.append(
                f"{member!s:<{width}}  {answer.recorded.shown:>9}  {answer.interval!s:<24} "
                f"{answer.status}"
            )
        return "\n".join([*lines, self._together])

    __repr__ = __str__

    @property
    def _together(self) -> str:
        """What holds for all of them, and what is left."""
        left = self.answers[0][1].left
        others = " with every other answer" if left.terms.promises else ""
        return f"{left.together}{others} · {left.terms.rows:,} rows · {left.remaining}"

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{html.escape(str(member))}</td><td>{html.escape(answer.recorded.shown)}</td>"
            f"<td>{answer.interval}</td><td>{answer.status}</td></tr>"
            for member, answer in self.answers
        )
        head = f"<tr><th>{html.escape(self.by)}</th><th>value</th><th>interval</th><th></th></tr>"
        table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
        return f"{table}<small>{html.escape(self._together)}</small>"
