"""How a table is written, as commands take it: what separates cells, what is missing, flags."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    import polars as pl

    from holdfast.data.form import TableForm
    from holdfast.question.expression import ColumnType

__all__ = ["Flag", "Null", "Separator", "form_of_text", "read_table"]

Separator = Annotated[
    str | None,
    typer.Option(metavar="C", help="Of CSV: what stands between cells, such as ; or tab."),
]
Null = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="Of CSV: a text that stands for a missing value, such as NA. Repeat for several.",
    ),
]
Flag = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="A column of 0 and 1 that is a condition: no and yes. Repeat for several.",
    ),
]

_TABS = ("tab", "\\t")  # which nobody can type as it is


def form_of_text(
    separator: str | None, null: list[str] | None, flag: list[str] | None
) -> TableForm:
    """The form that the command line says."""
    from holdfast.data.form import table_form

    return table_form("\t" if separator in _TABS else separator, null, flag)


def read_table(
    data: str, form: TableForm, types: dict[str, ColumnType] | None = None
) -> pl.DataFrame:
    """A table in a CSV or Parquet file, whole; it is nobody's protected one."""
    from holdfast.data.flags import require_flags
    from holdfast.data.plain import column_type
    from holdfast.data.sample import reading
    from holdfast.data.source import KnownTable, files_of, frame_in_files, require_form

    path = Path(data)
    if not path.is_file() or path.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidArgument(
            f"data is {data!r}; it must be a .csv or .parquet file that is there."
        )
    require_form(data, form)
    with reading():
        frame = frame_in_files(files_of(data), KnownTable(form, types or {})).collect()
    require_flags({name: column_type(each) for name, each in frame.schema.items()}, form.flags)
    return frame
