"""A distribution: the share of rows up to each of several thresholds, true for all of them."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.groups import frame_of_kind, together
from holdfast.question.text import numeral

if TYPE_CHECKING:
    import altair
    import polars as pl

__all__ = ["Distribution"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """The answers at each threshold, in order; distribution[15] is one of them.

    `value` is the text of what is distributed, `question` what was asked.
    """

    value: str
    answers: tuple[tuple[float, Answer], ...]
    frame_kind: str = "polars"
    question: str = ""

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[tuple[float, Answer]]:
        return iter(self.answers)

    def __getitem__(self, threshold: float) -> Answer:
        found = dict(self.answers)
        try:
            return found[threshold]
        except (KeyError, TypeError):
            known = ", ".join(map(numeral, found))
            raise InvalidArgument(
                f"there is no threshold {threshold!r}; the thresholds are {known}."
            ) from None

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each threshold."""
        return [
            {"threshold": threshold, "share": answer.value, "low": low, "high": high}
            for threshold, answer in self.answers
            for low, high in [answer.interval]
        ]

    def to_polars(self) -> pl.DataFrame:
        """A Polars frame, one row for each threshold."""
        import polars

        return polars.DataFrame(self.to_dicts(), schema_overrides={"share": polars.Float64})

    def to_pandas(self) -> Any:
        """A pandas frame, one row for each threshold."""
        return frame_of_kind(self.to_polars(), "pandas")

    @property
    def table(self) -> Any:
        """A frame of the kind that the holdout was opened with: pandas or pyarrow, else Polars."""
        return frame_of_kind(self.to_polars(), self.frame_kind)

    def chart(self, path: str | None = None) -> altair.LayerChart:
        """The shares as steps, with the band that holds for all; saved if a path is given."""
        from holdfast.holdout.charts import distribution_chart, require_file, save

        if path is not None:
            require_file(path)
        holding = self.answers[0][1].left.together
        picture = distribution_chart(self.value, self.to_dicts(), holding)
        if path is not None:
            save(picture, path)
        return picture

    def __str__(self) -> str:
        rows = [f"{self.value} up to", *(numeral(threshold) for threshold, _ in self.answers)]
        width = max(map(len, rows))
        lines = [
            f"{numeral(threshold):>{width}}  {line.shown:>9}  {line.interval_text}"
            for threshold, answer in self.answers
            for line in [answer.recorded]
        ]
        head = f"{rows[0]:>{width}}  {'share':>9}  interval"
        return "\n".join([head, *lines, together(self.answers[0][1])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{numeral(threshold)}</td><td>{html.escape(answer.recorded.shown)}</td>"
            f"<td>{answer.recorded.interval_text}</td></tr>"
            for threshold, answer in self.answers
        )
        head = f"<tr><th>{html.escape(self.value)} up to</th><th>share</th><th>interval</th></tr>"
        table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
        return f"{table}<small>{html.escape(together(self.answers[0][1]))}</small>"
