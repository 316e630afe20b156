"""A zip of JSON entries, deflated or in Zstandard, which `zipfile` cannot read before Python 3.14.

Sizes are what comes out, not what the zip says of itself, and every entry's checksum is compared.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.evals.source import LARGEST_DOCUMENT, Source, parsed

__all__ = ["Archive"]

_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")  # its mark, then the lengths of name and extra field
_LOCAL_MARK = b"PK\x03\x04"


class Archive:
    """The entries of a zip file by name; made by `Archive.of`."""

    def __init__(self, source: Source, file: BinaryIO, zipped: zipfile.ZipFile) -> None:
        self._source, self._file, self._zip = source, file, zipped
        self.names = zipped.namelist()

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
                else self._limited(self._zip.open(entry).read(LARGEST_DOCUMENT + 1), entry)
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
                content = self._limited(reader.read(LARGEST_DOCUMENT + 1), entry)
        except zstandard.ZstdError:
            raise zipfile.BadZipFile from None
        if zlib.crc32(content) != entry.CRC:
            raise zipfile.BadZipFile
        return content

    def _limited(self, content: bytes, entry: zipfile.ZipInfo) -> bytes:
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
