"""A zip of JSON entries, deflated or in Zstandard, which `zipfile` cannot read before Python 3.14.

Sizes are what comes out, not what the zip says of itself, and every entry's checksum is compared.
All that comes out of a zip together is limited by its own size: a small file fills no memory.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.evals.source import LARGEST_DOCUMENT, Source, parsed

__all__ = ["Archive"]

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
