"""The app whose commands are `holdfast`, and how all of them read numbers, print and wait."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Thread
from typing import Annotated, Any

import typer

from holdfast.did_you_mean import number_meant
from holdfast.errors import InvalidArgument

app = typer.Typer(
    name="holdfast",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Ask one data set question after question: every released interval stays true, all "
    "together.\n\nSee it: holdfast demo\n\nPlan: holdfast plan --rows 20000 --questions 500\n\n"
    "Protect a table: holdfast init hold.parquet --name flights --questions 500",
)

_VARIABLE = "HOLDFAST_SECRET"
_SECRET: ContextVar[str | None] = ContextVar("secret", default=None)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Whole = Annotated[bool, typer.Option("--all", help="Every line of a long table.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="With bits, number, cost, level and receipt.")
]


def _version(wanted: bool) -> None:
    if wanted:
        from holdfast import __version__

        typer.echo(f"holdfast {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    secret: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            envvar=_VARIABLE,
            help="The ledger's secret, if it is not beside the ledger.",
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if secret is not None and os.environ.get(_VARIABLE) != secret:
        _require_file(secret)
    _SECRET.set(secret)


def _require_file(secret: str) -> None:
    """Refuse a secret that is typed."""
    from holdfast.ledger.secret import secret_itself

    if secret_itself(secret) is not None:
        raise InvalidArgument(
            "--secret is a secret itself, and others can read what is typed here; give its file, "
            f"or put it into the environment as {_VARIABLE}."
        )


def secret_file() -> str | None:
    """The file that `holdfast --secret FILE` names; None if the secret is beside the ledger."""
    return _SECRET.get()


_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")  # 0,2 is no such number


def read_number(name: str, text: str | None) -> float | int | None:
    """A number as people write it: 163673, 163,673, 163_673 or 1.6e5."""
    if text is None:
        return None
    cleaned = (text.replace(",", "") if _THOUSANDS.fullmatch(text) else text).replace("_", "")
    try:
        return int(cleaned)
    except ValueError:
        pass
    try:
        return float(cleaned)
    except ValueError:
        number = number_meant(text)
        advice = ", such as 500 or 0.05." if number is None else f"; did you mean {number:.10g}?"
        raise InvalidArgument(f"{name} is {text!r}; it must be a number{advice}") from None


def read_bounds(bounds: tuple[str, str] | None) -> tuple[float, float] | None:
    """Two numbers in order, as people write them."""
    from holdfast.question.declaring import bounds_pair

    if bounds is None:
        return None
    low, high = bounds_pair(tuple(read_number("bounds", end) for end in bounds))
    return low, high


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


_WIDTH = 96


def indented(text: str) -> str:
    """A paragraph."""
    return textwrap.fill(
        text, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )


def field(name: str, text: str) -> str:
    """A paragraph with its name in the margin; words that can be typed are not broken."""
    return textwrap.fill(
        text or "-",
        width=_WIDTH,
        initial_indent=f"{name:>12}  ",
        subsequent_indent=" " * 14,
        break_long_words=False,
        break_on_hyphens=False,
    )


# Progress of work that takes more than two seconds: one line of a terminal, or lines of a log.


_PATIENCE = 2.0
_SELDOM = 30.0  # seconds between two lines of a file


def _is_watched() -> bool:
    """Whether somebody waits at a terminal, and no program for JSON."""
    return sys.stderr.isatty() and "--json" not in sys.argv


def progress(label: str, *, lines: bool = False) -> Callable[[int, int], None] | None:
    """A function of (done, all) that keeps one line of the terminal.

    Where there is none it is None, or with `lines` writes one now and then, and one at the end: for
    work so long that people look into its log.
    """
    if _is_watched():
        return _kept_line(label)
    return _lines(label) if lines else None


@contextmanager
def waiting(label: str) -> Iterator[None]:
    """A line of the terminal, where there is one, that counts the seconds of what it is about."""
    if not _is_watched():
        yield
        return
    started, over = time.monotonic(), Event()

    def count() -> None:
        patience = _PATIENCE
        while not over.wait(patience):
            patience = 1.0
            seconds = time.monotonic() - started
            print(f"\r\033[K{label}: {seconds:.0f} s", end="", file=sys.stderr, flush=True)

    line = Thread(target=count)
    line.start()
    try:
        yield
    finally:
        over.set()
        line.join()
        if time.monotonic() - started >= _PATIENCE:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _kept_line(label: str) -> Callable[[int, int], None]:
    started = time.monotonic()

    def tell(done: int, many: int) -> None:
        if time.monotonic() - started < _PATIENCE:
            return
        end = "\r\033[K" if done >= many else ""
        print(f"\r\033[K{label}: {done:,} of {many:,}{end}", end="", file=sys.stderr, flush=True)

    return tell


def _lines(label: str) -> Callable[[int, int], None]:
    last = time.monotonic()

    def tell(done: int, many: int) -> None:
        nonlocal last
        if done >= many or time.monotonic() - last >= _SELDOM:
            last = time.monotonic()
            print(f"{label}: {done:,} of {many:,}", file=sys.stderr, flush=True)

    return tell
