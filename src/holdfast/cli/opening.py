"""A new ledger from what the command line says of it: for init and publish."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.app import read_number, sampling_of_text
from holdfast.cli.forms import form_of_text
from holdfast.cli.mechanisms import options_of_text
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    from holdfast.data.form import TableForm
    from holdfast.holdout.holdout import Holdout
    from holdfast.question.columns import Schema

__all__ = ["protected"]

_NUMBERS = (
    "questions",
    "surprises",
    "candidates",
    "tolerance",
    "confidence_level",
    "described_share",
)


def protected(
    ledger: str | Path,
    data: str,
    *,
    sampling: str,
    schema: str | None,
    train: str | None,
    learn_bounds: bool,
    option: list[str] | None,
    separator: str | None,
    null: list[str] | None,
    flag: list[str] | None,
    **said: Any,
) -> Holdout:
    """The holdout of a table whose ledger is made now; `said` is as `open` takes it, in texts."""
    from holdfast.holdout.open import open as open_holdout

    numbers = {name: read_number(name, said.pop(name)) for name in _NUMBERS}
    form = form_of_text(separator, null, flag)
    return open_holdout(
        data,
        ledger=ledger,
        sampling=sampling_of_text(sampling),
        schema=_with_learnt_bounds(schema, train, form) if learn_bounds else schema,
        train=train,
        options=options_of_text(option or []),
        **asdict(form),
        **numbers,  # type: ignore[arg-type]
        **said,
    )


def _with_learnt_bounds(schema: str | None, train: str | None, form: TableForm) -> Schema:
    """What the file declares, and the ranges that training rows have in other columns."""
    from holdfast.data.learning import learnt_schema
    from holdfast.data.source import KnownTable, open_sample
    from holdfast.question.columns import Schema

    if train is None:
        raise InvalidArgument("--learn-bounds needs --train FILE: rows to learn them from.")
    sample = open_sample(train, known=KnownTable(form))
    declared = Schema(sample.types).declare(schema)
    learnt = {
        name: entry
        for name, entry in learnt_schema(sample).items()
        if isinstance(entry, tuple) and name not in declared.bounds
    }
    return declared.declare(learnt)
