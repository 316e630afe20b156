"""Kinds of questions: the parts that another one like it asks for, by which the rest is counted.

A kind is told by records, as a ledger writes the concentration of a look (`recorded_profile`): so
it is the same for who asks, for a client of the service and for a call that is made again.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from holdfast.errors import InvalidQuestion
from holdfast.ledger.entries import Recorded
from holdfast.ledger.opening import Opening
from holdfast.mechanisms.terms import PartStages, Terms, part_of_record, recorded_profile
from holdfast.question.columns import Schema
from holdfast.question.expression import Column
from holdfast.statistics.derived import batches, is_unbounded
from holdfast.statistics.entry import Bound
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import ConcentratedMean, Statistic
from holdfast.statistics.vectors import WholeVector

__all__ = [
    "MEAN",
    "QuestionKind",
    "declared_kinds",
    "is_scaled",
    "kind_after",
    "part_stages",
    "question_kind",
    "scaled_kinds",
]

# The records of the parts, stage by stage; None is a mean of all rows. That of a vector has the
# number and the norm of its coordinates, and the record of each.
QuestionKind: TypeAlias = Sequence[Sequence[Mapping[str, Any] | None]]
MEAN: QuestionKind = [[None]]


def question_kind(
    question: Bound,
    terms: Terms,
    answered: Container[str] = (),
    *,
    once: bool = False,
    vector: str | None = None,
) -> QuestionKind:
    """The kind of a question; `answered` parts, as the size of a group, are not asked again.

    A search is taken to be as long as it can be. A question may be a coordinate of a `vector`.
    """
    if isinstance(question, Quantile):
        threshold = question.threshold(question.low)  # of rows with a value, where some have none
        return [*question_kind(threshold, terms, answered, once=once)] * question.longest
    stages = batches(question, numbers=False, once=once)
    new = [[part for part in stage if part.text not in answered] for stage in stages]
    pending = [stage for stage in new if stage] or stages
    kind = [[_record(part, terms) for part in stage] for stage in pending]
    if vector is None:
        return kind
    whole = WholeVector.of_text(vector)
    # Of a scale beside a range nothing is known of the ball.
    norm = "linf" if whole.sigma is not None and not is_unbounded(question) else whole.norm
    size = {"coordinates": whole.coordinates, "norm": norm}
    return [[{**size, "each": record} for record in stage] for stage in kind]


def kind_after(
    question: Bound,
    looks: Iterable[Recorded],
    terms: Terms,
    *,
    once: bool,
    vector: str | None = None,
) -> QuestionKind:
    """The kind of a question that was answered by these looks: others were there before it."""
    answered = {each.question for each in looks if each.part_of != question.text}
    return question_kind(question, terms, answered, once=once, vector=vector)


def _record(part: Statistic, terms: Terms) -> Mapping[str, Any] | None:
    return recorded_profile(part.concentration(terms.rows, terms.sampling), terms, part)


def part_stages(kind: QuestionKind, terms: Terms) -> PartStages:
    """The parts of a kind as mechanisms count them."""
    return [[part_of_record(record, terms) for record in stage] for stage in kind]


def declared_kinds(opening: Opening) -> list[QuestionKind]:
    """What is counted before anything is asked: means of columns in the units declared."""
    scaled = scaled_kinds(opening.schema, opening.terms)
    return scaled if is_scaled(opening.schema) else [MEAN, *scaled]


def is_scaled(schema: Schema) -> bool:
    """Whether every column that was declared has a scale, and none a range."""
    return bool(schema.scales) and not schema.bounds


def scaled_kinds(schema: Schema, terms: Terms) -> list[QuestionKind]:
    """Means of the columns of which a scale was declared, and no range."""
    kinds = []
    for name in sorted(schema.scales.keys() - schema.bounds.keys()):
        mean = ConcentratedMean(Column(name, schema.types[name]), schema.scales[name])
        with suppress(InvalidQuestion):  # no theorem covers it: it will be refused for that
            kinds.append(question_kind(mean, terms))
    return kinds
