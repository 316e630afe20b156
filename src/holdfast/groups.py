"""Means inside groups: `where=` and `by=`, answered by two questions about all rows each."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.answer import Answer
from holdfast.data.sample import Sample
from holdfast.errors import InvalidQuestion
from holdfast.guesses import other_rows
from holdfast.question.columns import Schema
from holdfast.question.conditional import Conditional, conditional, group
from holdfast.question.statistic import MeanOf, MeansBy, bind
from holdfast.theory.conditional import conditional_mean_interval
from holdfast.theory.intervals import Interval

if TYPE_CHECKING:
    import polars as pl

    from holdfast.holdout import Holdout

__all__ = ["Groups", "answer_groups", "answer_where"]

Member = bool | int | str


@dataclass(frozen=True, slots=True)
class Groups:
    """The answers for each group of a column, as a table; groups["JFK"] is one of them."""

    by: str
    answers: tuple[tuple[Member, Answer], ...]

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[tuple[Member, Answer]]:
        return iter(self.answers)

    def __getitem__(self, member: Member) -> Answer:
        return dict(self.answers)[member]

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each group."""
        return [{self.by: member, **answer.to_dict()} for member, answer in self.answers]

    def to_polars(self) -> pl.DataFrame:
        """A Polars frame, one row for each group."""
        import polars

        columns = (self.by, "value", "low", "high", "status", "cost", "question")
        return polars.DataFrame([{c: row[c] for c in columns} for row in self.to_dicts()])

    def __str__(self) -> str:
        width = max(len(self.by), *(len(str(member)) for member, _ in self.answers))
        lines = [f"{self.by:<{width}}  {'value':>9}  interval"]
        for member, answer in self.answers:
            lines.append(
                f"{member!s:<{width}}  {answer.value:>9.5g}  {answer.interval!s:<24} "
                f"{answer.status}"
            )
        return "\n".join(
            [
                *lines,
                f"simultaneous with every other answer; {self.answers[0][1].left.asked:,} "
                "questions answered so far",
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{html.escape(str(member))}</td><td>{answer.value:.5g}</td>"
            f"<td>{answer.interval}</td><td>{answer.status}</td></tr>"
            for member, answer in self.answers
        )
        head = f"<tr><th>{html.escape(self.by)}</th><th>value</th><th>interval</th><th></th></tr>"
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def answer_where(
    holdout: Holdout, question: MeanOf, guess: Any, why: str | None, tolerance: float | None
) -> Answer:
    """The mean among the rows where a condition holds."""
    value = bind(replace(question, where=None), holdout.schema)
    statistic = conditional(value, question.where or "", holdout.schema)
    return _answers(holdout, [statistic], guess, why, tolerance)[0]


def answer_groups(
    holdout: Holdout, question: MeansBy, guess: Any, why: str | None, tolerance: float | None
) -> Groups:
    """The mean for each value of a column."""
    schema, by = holdout.schema, question.by
    if question.mean.where is not None:
        raise InvalidQuestion("give where= or by=, not both; put the condition into the value.")
    value = bind(question.mean, schema)
    table = guess is not None and not isinstance(guess, Real)
    others = other_rows(guess, holdout.opening) if table else holdout.train
    members = _members(others, by, schema)
    statistics = [group(value, by, member, schema) for member in members]
    answers = _answers(holdout, statistics, guess, why, tolerance)
    return Groups(by, tuple(zip(members, answers, strict=True)))


def _members(others: Sample | None, by: str, schema: Schema) -> list[Member]:
    """The groups, from other rows: which values occur among the protected ones is not public."""
    name = schema.column(by).name
    if others is None or name not in others.types:
        raise InvalidQuestion(
            f"by={by!r} needs to know the groups without looking at the protected rows: give a "
            f"table "
            "to guess from, attach train=, or ask each group with where=."
        )
    found: set[Member] = set()
    for frame in others.frames([name]):
        found.update(frame[name].drop_nulls().unique().to_list())
    return sorted(found, key=lambda member: (str(type(member)), member))


def _answers(
    holdout: Holdout,
    statistics: Sequence[Conditional],
    guess: Any,
    why: str | None,
    tolerance: float | None,
) -> list[Answer]:
    shares = [statistic.share() for statistic in statistics]
    residuals = [statistic.residual() for statistic in statistics]
    if isinstance(guess, Real):
        for statistic in statistics:
            require.between("guess", guess, statistic.value.low, statistic.value.high)
        # A guess of the group's mean says nothing of its share, so that one is asked first.
        sizes = holdout.ask_many(shares, why=why, tolerance=tolerance)
        middles = [
            (float(guess) - statistic.pivot) * size
            for statistic, size in zip(statistics, sizes, strict=True)
        ]
        rests = holdout.check_many(residuals, middles, why=why, tolerance=tolerance)
    else:
        parts = [*shares, *residuals]
        if guess is None:
            both = holdout.ask_many(parts, why=why, tolerance=tolerance)
        else:
            both = holdout.check_many(parts, guess, why=why, tolerance=tolerance)
        sizes, rests = both[: len(shares)], both[len(shares) :]
    return [_joined(*triple) for triple in zip(statistics, sizes, rests, strict=True)]


def _joined(statistic: Conditional, size: Answer, rest: Answer) -> Answer:
    """The group's mean from the answers about its share and its residual."""
    low, high = statistic.value.low, statistic.value.high
    found = conditional_mean_interval(statistic.pivot, *rest.interval, *size.interval)
    interval = Interval(max(low, found.low), min(high, found.high))
    value = statistic.pivot + rest / size if size > 0 else statistic.pivot
    statuses = {size.status, rest.status}
    fresh = [each for each in ("surprise", "answered", "confirmed") if each in statuses]
    recorded = replace(
        rest.recorded,
        question=statistic.text,
        status=fresh[0] if fresh else rest.recorded.status,
        value=min(interval.high, max(interval.low, value)),
        interval=interval,
        range=Interval(low, high),
        guess=None,
        charge=size.cost + rest.cost,
    )
    return Answer(recorded, rest.left, repeated=not fresh)
