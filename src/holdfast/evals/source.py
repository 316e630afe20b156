"""A file that somebody brings, read within limits: no line and no document may fill the memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from holdfast.errors import InvalidArgument

__all__ = ["LARGEST_DOCUMENT", "Source", "as_mapping", "lacking", "parsed"]

_LONGEST_LINE = 64 * 2**20
LARGEST_DOCUMENT = 2**30

_MOST_VALUES = 10_000_000  # of one document: some take a hundred times the bytes of their text
_MARK = b"\xef\xbb\xbf"  # some editors begin UTF-8 with it


class Source:
    """A file: its beginning, its lines, or all of it as one JSON document.

    `key` is what somebody says the column of items is called, of a table.
    """

    def __init__(self, path: Path, key: str | None = None) -> None:
        self.path, self.key = path, key

    def __str__(self) -> str:
        return repr(str(self.path))

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """The file, to be read; whatever the operating system says against it is one sentence."""
        try:
            with self.path.open("rb") as file:
                yield file
        except OSError as error:
            raise InvalidArgument(
                f"the file {self} cannot be read ({error.strerror or 'an input or output error'}); "
                "see that it exists and may be read."
            ) from None

    @cached_property
    def head(self) -> bytes:
        """Its first bytes, without white space before them."""
        with self.opened() as file:
            return file.read(4096).removeprefix(_MARK).lstrip()

    @cached_property
    def document(self) -> Any:
        """All of it, as one JSON document."""
        with self.opened() as file:
            size = os.fstat(file.fileno()).st_size  # as many bytes as are read are reserved
            content = file.read(min(size, LARGEST_DOCUMENT) + 1)
        if len(content) > LARGEST_DOCUMENT:
            raise InvalidArgument(
                f"the file {self} has more than {LARGEST_DOCUMENT:,} bytes in one JSON document; "
                "write it as JSON lines, or fewer items."
            )
        return parsed(content.removeprefix(_MARK), f"the file {self}")

    def first(self) -> Mapping[str, Any] | None:
        """The JSON object of its first line, if that is one."""
        _, line, what = next(self._lines())
        try:
            return as_mapping(parsed(line, what), what)
        except InvalidArgument:
            return None

    def lines(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The number of each line, and its JSON object; empty lines say nothing."""
        for number, line, what in self._lines():
            yield number, as_mapping(parsed(line, what), what)

    def _lines(self) -> Iterator[tuple[int, bytes, str]]:
        """Each line that is not empty, and what to call it; read one by one."""
        with self.opened() as file:
            number = 0
            while line := file.readline(_LONGEST_LINE + 1):
                number += 1
                what = f"line {number:,} of {self}"
                if len(line) > _LONGEST_LINE:
                    raise InvalidArgument(
                        f"{what} has more than {_LONGEST_LINE:,} bytes; leave out what is no "
                        "score, such as transcripts."
                    )
                line = line.removeprefix(_MARK) if number == 1 else line
                if line.strip():
                    yield number, line, what


def parsed(content: bytes, what: str) -> Any:
    """The JSON value of some bytes."""
    if sum(map(content.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise InvalidArgument(
            f"{what} has more than {_MOST_VALUES:,} values; leave out what is no score, such as "
            "transcripts, or write fewer items."
        )
    try:
        return json.loads(content)
    except (ValueError, RecursionError):  # also wrong UTF-8
        raise InvalidArgument(
            f"{what} is no JSON, or is cut off; see that it was written to its end."
        ) from None


def as_mapping(value: Any, what: str) -> Mapping[str, Any]:
    """A JSON object, as one."""
    if not isinstance(value, Mapping):
        raise InvalidArgument(
            f"{what} is no JSON object but {type(value).__name__}; see that it is the file of "
            "single items, and whole."
        )
    return value


@contextmanager
def lacking(what: str, tool: str) -> Iterator[None]:
    """What a tool always writes is missing, or is something else."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError):
        raise InvalidArgument(
            f"{what} is not as {tool} writes it; write it again, or name the format that it is "
            "(format=, --format)."
        ) from None
