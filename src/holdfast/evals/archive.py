"""Source file that somebody brings, read within limits: zips of JSON entries too.

Sizes are what comes out, not what a zip says of itself, and every entry's checksum is compared. All
that comes out of a zip together is limited by its own size: a small file fills no memory.
"""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any, BinaryIO

from holdfast import require
from holdfast.errors import InvalidArgument

_LONGEST_LINE = 64 * 2**20
LARGEST_DOCUMENT = 2**30

_MOST_VALUES = 10_000_000  # of one document: some take a hundred times the bytes of their text
_MARK = b"\xef\xbb\xbf"  # some editors begin UTF-8 with it


class Source:
    """A file: its beginning, its lines, or all of it as one JSON document.

    `key` is what somebody says the column of items is called, of a table, and `by` the column or
    field that puts every item into a category.
    """

    def __init__(self, path: Path, key: str | None = None, by: str | None = None) -> None:
        self.path, self.key, self.by = path, key, by

    def __str__(self) -> str:
        return repr(str(self.path))

    @property
    def what(self) -> str:
        """What to call it in a sentence."""
        return f"the file {self}"

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
        """Content as one JSON document."""
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
        _, line, place = next(self._lines())
        try:
            return as_mapping(parsed(line, place), place)
        except InvalidArgument:
            return None

    def lines(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The number of each line, and its JSON object; empty lines say nothing."""
        for number, line, place in self._lines():
            yield number, as_mapping(parsed(line, place), place)

    def _lines(self) -> Iterator[tuple[int, bytes, str]]:
        """Each line that is not empty, and what to call it; read one by one."""
        with self.opened() as file:
            number = 0
            while line := file.readline(_LONGEST_LINE + 1):
                number += 1
                place = f"line {number:,} of {self}"
                if len(line) > _LONGEST_LINE:
                    raise InvalidArgument(
                        f"{place} has more than {_LONGEST_LINE:,} bytes; leave out what is no "
                        "score, such as transcripts."
                    )
                line = line.removeprefix(_MARK) if number == 1 else line
                if line.strip():
                    yield number, line, place


def parsed(content: bytes, place: str) -> Any:
    """The JSON value of some bytes."""
    if sum(map(content.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise InvalidArgument(
            f"{place} has more than {_MOST_VALUES:,} values; leave out what is no score, such as "
            "transcripts, or write fewer items."
        )
    try:
        return json.loads(content)
    except (ValueError, RecursionError):  # also wrong UTF-8
        raise InvalidArgument(
            f"{place} is no JSON, or is cut off; see that it was written to its end."
        ) from None


def as_mapping(value: Any, place: str) -> Mapping[str, Any]:
    """A JSON object, as one."""
    if not isinstance(value, Mapping):
        raise InvalidArgument(
            f"{place} is no JSON object but {type(value).__name__}; see that it is the file of "
            "single items, and whole."
        )
    return value


@contextmanager
def lacking(place: str, tool: str) -> Iterator[None]:
    """Refusal of a log that lacks what its tool always writes, or has something else there."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError):
        raise InvalidArgument(
            f"{place} is not as {tool} writes it; write it again, or name the format that it is "
            "(format=, --format)."
        ) from None


# A zip of JSON entries, deflated or in Zstandard, which `zipfile` cannot read before Python 3.14.
#
# Sizes are what comes out, not what the zip says of itself, and every entry's checksum is
# compared.


_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")  # its mark, then the lengths of name and extra field
_LOCAL_MARK = b"PK\x03\x04"
# Logs are packed to a tenth, and where they repeat themselves to a fiftieth.
_LARGEST_RATIO = 100
_ALWAYS_UNPACKED = 4 * 2**20  # bytes, however small the zip is


class Archive:
    """The entries of a zip file by name; made by `Archive.of`."""

    def __init__(self, source: Source, file: BinaryIO, zipped: zipfile.ZipFile) -> None:
        self._source, self._file, self._zip = source, file, zipped
        self.names = zipped.namelist()
        self._size = os.fstat(file.fileno()).st_size
        self._room = max(_ALWAYS_UNPACKED, _LARGEST_RATIO * self._size)  # bytes yet to be unpacked

    @staticmethod
    @contextmanager
    def of(source: Source) -> Iterator[Archive]:
        """The zip of a file, while it is open."""
        with source.opened() as file:
            with _whole(source):
                zipped = zipfile.ZipFile(file)
            with zipped:
                yield Archive(source, file, zipped)

    def json(self, name: str) -> Any:
        """The JSON document of an entry."""
        entry = self._zip.getinfo(name)
        with _whole(self._source):
            content = (
                self._unpacked(entry)
                if entry.compress_type == _ZSTANDARD
                else self._limited(self._zip.open(entry), entry)
            )
        return parsed(content, f"{name} in {self._source}")

    def _unpacked(self, entry: zipfile.ZipInfo) -> bytes:
        with require.installed("logs packed with Zstandard", "evals"):
            import zstandard
        self._file.seek(entry.header_offset)
        mark, name, extra = _LOCAL_HEADER.unpack(self._file.read(_LOCAL_HEADER.size))
        if mark != _LOCAL_MARK:
            raise zipfile.BadZipFile
        self._file.seek(name + extra, 1)
        packed = self._file.read(entry.compress_size)
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
                content = self._limited(reader, entry)
        except zstandard.ZstdError:
            raise zipfile.BadZipFile from None
        if zlib.crc32(content) != entry.CRC:
            raise zipfile.BadZipFile
        return content

    def _limited(self, unpacking: IO[bytes], entry: zipfile.ZipInfo) -> bytes:
        content = unpacking.read(min(LARGEST_DOCUMENT, self._room) + 1)
        self._room -= len(content)
        if self._room < 0:
            raise InvalidArgument(
                f"the zip {self._source} has {self._size:,} bytes and unpacks to more than "
                f"{_LARGEST_RATIO} times as much, as no log does; write the log again, with the "
                "tool that made it."
            )
        if len(content) > LARGEST_DOCUMENT:
            raise InvalidArgument(
                f"{entry.filename} in {self._source} has more than {LARGEST_DOCUMENT:,} bytes; "
                "write the log with fewer items."
            )
        return content


@contextmanager
def _whole(source: Source) -> Iterator[None]:
    """Whatever a broken zip makes the libraries raise is one sentence."""
    broken = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError)
    try:
        yield
    except (*broken, RuntimeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(
            f"the file {source} is no zip, or is broken or cut off; copy it again from where it "
            "was written."
        ) from None
