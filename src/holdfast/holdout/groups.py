"""Groups: which there are, a table of their answers, bins of a histogram, and a distribution."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.data.design import DesignValue, group_sizes, in_order
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.holdout.answer import Answer
from holdfast.holdout.desk import Desk, close
from holdfast.holdout.price import Cost
from holdfast.holdout.request import NamedWidth, as_named, is_describable
from holdfast.question.expression import Column, ColumnType, numeral
from holdfast.statistics.bind import Question
from holdfast.statistics.entry import TableCall
from holdfast.statistics.labelled import GroupsOf, Label, grouping_column, of_group, whole_text
from holdfast.wording import folded, missing_rows, plural, status_text

if TYPE_CHECKING:
    import altair
    import polars as pl

_WHOLE = "to_polars(), to_text(), to_dicts(); at the shell --all or --json"
_SHOWN_IN_PAGES = 60  # groups, in a notebook
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
        by_label = dict(self.answers)
        try:
            return by_label[member]
        except (KeyError, TypeError):
            labels = ", ".join(repr(each) for each in by_label)
            raise InvalidArgument(
                f"there is no group {member!r}; the groups are {labels}."
            ) from None

    @property
    def labels(self) -> tuple[str, ...]:
        """What the columns of groups are called: as they are in the table, or "group" where that
        clashes with what is told of an answer."""
        reserved = {"n", *self.answers[0][1].to_dict()}
        clashes = [name in reserved for name in self.by]
        numbered = [f"group {place}" for place in range(1, len(self.by) + 1)]
        instead = ["group"] if len(self.by) == 1 else numbered
        return tuple(
            alias if clash else name
            for name, alias, clash in zip(self.by, instead, clashes, strict=True)
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
        return self.to_text(whole=False)

    __repr__ = __str__

    def to_text(self, *, whole: bool = True) -> str:
        """The table as text; if it is long, and not wanted `whole`, its first and last groups."""
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
        shown = lines if whole else [lines[0], *folded(lines[1:], _WHOLE)]
        return "\n".join([*shown, together(self.answers[0][1])])

    @property
    def details(self) -> str:
        """Bookkeeping of each group's answer, in words."""
        return _details((", ".join(map(str, _parts(member))), each) for member, each in self)

    def _cells(self, member: Label, answer: Answer) -> tuple[str, ...]:
        """A line of the table, as text."""
        names = (str(part) for part in _parts(member))
        interval = answer.recorded.interval_text
        return (
            *names,
            _shown_size(answer),
            answer.recorded.shown,
            interval,
            status_text(answer.status),
        )

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{html.escape(name)}</th>" for name in (*self.by, "n", "value", "interval", "")
        )
        body = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in self._cells(member, answer))
            + "</tr>"
            for member, answer in self.answers[:_SHOWN_IN_PAGES]
        )
        hidden = max(0, len(self.answers) - _SHOWN_IN_PAGES)
        body += f"<tr><td>... {hidden:,} more: to_polars()</td></tr>" if hidden else ""
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"{table}<small>{html.escape(together(self.answers[0][1]))}</small>"


def _parts(member: Label) -> tuple[Any, ...]:
    return member if isinstance(member, tuple) else (member,)


def _size(answer: Answer) -> int | None:
    """How many rows it is about, where that is known exactly."""
    least, most = answer.recorded.rows or (None, None)
    return least if least == most else None


def _details(answers: Iterable[tuple[str, Answer]]) -> str:
    return "\n".join(f"{name}: {answer.details}" for name, answer in answers)


def _shown_size(answer: Answer) -> str:
    if answer.recorded.rows is None:
        return "-"
    least, most = answer.recorded.rows
    size = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    lost = missing_rows(answer.recorded.missing)
    return f"{size} ({lost})" if lost else size


def together(answer: Answer, of_rows: str = "") -> str:
    """What holds for all answers of a table, of how many rows, and what is left after them."""
    budget = answer.left
    facts = [of_rows or f"{budget.terms.rows:,} rows", budget.together]
    return " · ".join(facts if answer.more is None else [*facts, answer.more])


def frame_of_kind(frame: pl.DataFrame, kind: str) -> Any:
    """A Polars frame as one of another library."""
    with require.installed("frames of this kind", "data"):
        match kind:
            case "pandas":
                return frame.to_pandas()
            case "pyarrow":
                return frame.to_arrow()
    return frame


# A distribution: the share of rows up to each of several thresholds, true for all of them.


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
        by_threshold = dict(self.answers)
        try:
            return by_threshold[threshold]
        except (KeyError, TypeError):
            thresholds = ", ".join(map(numeral, by_threshold))
            raise InvalidArgument(
                f"there is no threshold {threshold!r}; the thresholds are {thresholds}."
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
        return self.to_text(whole=False)

    __repr__ = __str__

    def to_text(self, *, whole: bool = True) -> str:
        """The table as text; if it is long, and not wanted `whole`, its first and last shares."""
        rows = [f"{self.value} up to", *(numeral(threshold) for threshold, _ in self.answers)]
        width = max(map(len, rows))
        lines = [
            f"{numeral(threshold):>{width}}  {line.shown:>9}  {line.interval_text}"
            for threshold, answer in self.answers
            for line in [answer.recorded]
        ]
        head = f"{rows[0]:>{width}}  {'share':>9}  interval"
        shown = lines if whole else folded(lines, _WHOLE)
        return "\n".join([head, *shown, self._together])

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{numeral(threshold)}</td><td>{html.escape(answer.recorded.shown)}</td>"
            f"<td>{answer.recorded.interval_text}</td></tr>"
            for threshold, answer in self.answers
        )
        head = f"<tr><th>{html.escape(self.value)} up to</th><th>share</th><th>interval</th></tr>"
        table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
        return f"{table}<small>{html.escape(self._together)}</small>"

    @property
    def details(self) -> str:
        """Bookkeeping of each threshold's answer, in words."""
        return _details((numeral(threshold), answer) for threshold, answer in self)

    @property
    def _together(self) -> str:
        answer = self.answers[0][1]
        return together(answer, answer.of_rows)


# Which groups there are: as it is publicly known, or as it is discovered in the protected rows.
#
# Known are, in this order, the groups of a design, the declared values of a column, both truth
# values, the whole numbers of a short declared range, and what other rows have. To look into the
# protected rows ends asks and checks: whoever names a group by them has seen more than answers.


_MOST_DISCOVERED = 1_000
_LONGEST_RANGE = 40  # whole numbers of a declared range
# A group that stands for all of its column: what can be asked does not depend on its value.
_ANY_MEMBER: dict[ColumnType, DesignValue] = {
    ColumnType.BOOLEAN: True,
    ColumnType.INTEGER: 0,
    ColumnType.TEXT: "",
}


def groups_to_discover(
    desk: Desk, question: Question | TableCall, width: NamedWidth, top: int | None
) -> GroupsOf:
    """The groups of the protected rows, or the `top` largest; to look ends asks and checks."""
    if width.is_named:
        raise InvalidArgument(
            "tolerance= and half_width= ask on the ledger, which discover= closes; give one."
        )
    most = None if top is None else require.positive_integer("top", top)
    return partial(_discovered, desk, _with_groups(question), most)


def cost_of_discovering(desk: Desk, question: Question | TableCall) -> Cost:
    """What it costs to discover groups, whatever they are; refused where it is not possible."""
    call = _with_groups(question)
    columns = [grouping_column(name, desk.table) for name in call.by]
    _require_discoverable(desk, call, columns)
    text = whole_text(call, desk.table, [column.name for column in columns])
    return Cost(text, None, 0.0, 0.0, 0, closes=True)


def _with_groups(question: Question | TableCall) -> TableCall:
    call = as_named(question)
    if isinstance(call, TableCall) and call.by:
        return call
    raise InvalidArgument("discover= finds the groups of by=, and the question has none.")


def _discovered(
    desk: Desk, call: TableCall, top: int | None, columns: Sequence[Column]
) -> Sequence[tuple[DesignValue, ...]]:
    _require_discoverable(desk, call, columns)
    names = [column.name for column in columns]
    rows = close(desk, f"the groups by {', '.join(names)} were looked up in the protected rows")
    sizes = group_sizes(rows, names)
    if top is None:
        wanted = sorted(sizes, key=in_order)
    else:
        wanted = sorted(sizes, key=lambda group: (-sizes[group], in_order(group)))[:top]
    if len(wanted) > _MOST_DISCOVERED:
        raise InvalidArgument(
            f"by {', '.join(names)} there are {plural(len(wanted), 'group')}, and at most "
            f"{_MOST_DISCOVERED:,} are asked together; ask for the largest ones with top=."
        )
    return wanted


def _require_discoverable(desk: Desk, call: TableCall, columns: Sequence[Column]) -> None:
    """Refuse, before anything is closed, groups that could not be asked about afterwards."""
    if desk.ground is None:
        raise InvalidArgument(
            "discover= needs described answers, and this ledger has none; open one with "
            "described='exact', or name the groups with values=, design= or train=. Nothing was "
            "spent."
        )
    number = next((each for each in columns if each.type not in _ANY_MEMBER), None)
    if number is not None:
        raise InvalidQuestion(
            f"by={number.name!r} is {number.type}, and its groups are the declared values; ask "
            "without discover=. Nothing was spent."
        )
    anyone = of_group(call, desk.table, columns, [_ANY_MEMBER[each.type] for each in columns])
    if not is_describable(desk, anyone):
        raise InvalidQuestion(
            f"{call.name} has no described answer in groups like these, and nothing else may be "
            "asked once groups were discovered; name them with values=, design= or train=. "
            "Nothing was spent."
        )
