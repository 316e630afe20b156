"""Questions put to a table of which only the columns are known."""

from __future__ import annotations

from holdfast.question import Schema
from holdfast.statistics.bind import Question, bind
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import Mean


def asked(question: Question, schema: Schema) -> Mean:
    """The mean that a question means."""
    found = bind(question, Table(schema))
    assert isinstance(found, Mean)
    return found
