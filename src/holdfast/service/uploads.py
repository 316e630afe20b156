"""Uploaded files, judged before they are read.

A file of a few hundred kilobytes may unpack to gigabytes. So what it says of itself is looked at
first, without unpacking anything: a Parquet file's footer and the heads of its pages say how many
rows and bytes there are; of text, lines are counted, and nothing that is packed is taken. There
cannot be more rows than the table has keys.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from holdfast.errors import InvalidArgument
from holdfast.wording import plural

_T = TypeVar("_T")
_FORMATS = (".csv", ".parquet", ".jsonl")
_MAGIC, _LONGEST_FOOTER, _DEEPEST = b"PAR1", 1 << 20, 32
# As gzip, zlib and Zstandard begin, which the reader of CSV would unpack.
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_SPARE_LINES = 1_000  # for a heading, and for lines within quotes


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that somebody sent, which is kept for no longer than reading takes."""

    filename: str
    content: bytes = field(repr=False)
    largest: int

    def __post_init__(self) -> None:
        if self.kind not in _FORMATS:
            raise InvalidArgument(f"the file must be one of {', '.join(_FORMATS)}, by its name.")

    @property
    def kind(self) -> str:
        """What it is, by its name."""
        return PurePosixPath(self.filename).suffix.lower()

    @property
    def digest(self) -> str:
        """What its content is known by."""
        return hashlib.sha256(self.content).hexdigest()

    def judge(self, keys: int) -> None:
        """Refuse it if it has more rows than there are keys, or unpacks to too much."""
        if self.kind == ".parquet":
            try:
                rows, columns = _parquet_sizes(self.content)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
                raise InvalidArgument(
                    "the file cannot be read as Parquet; see that it is whole."
                ) from None
            largest = max(columns.values(), default=0)
            if largest > self.largest:
                raise InvalidArgument(
                    f"a column of the file unpacks to {largest:,} bytes, and {self.largest:,} are "
                    "taken; send fewer or shorter values."
                )
        else:
            if self.content.startswith(_PACKED):
                raise InvalidArgument("the file is compressed; send it as plain text.")
            lines = self.content.count(b"\n")
            rows = lines if lines > 2 * keys + _SPARE_LINES else 0
        if rows > keys:
            raise InvalidArgument(
                f"the file has {plural(rows, 'row')}, and the table has {plural(keys, 'key')}; "
                "send one value for each key."
            )

    def read_by(self, read: Callable[[Path], _T]) -> _T:
        """What is read of it, from where it is put for a moment."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"values{self.kind}"
            path.write_bytes(self.content)
            try:
                return read(path)
            except InvalidArgument as error:  # where that was is nobody's business
                raise InvalidArgument(str(error).replace(str(path), path.name)) from None


def _parquet_sizes(content: bytes) -> tuple[int, Mapping[str, int]]:
    """How many rows a Parquet file has, and to how many bytes each column's pages unpack."""
    if content[:4] != _MAGIC or content[-4:] != _MAGIC or len(content) < 12:
        raise ValueError("no Parquet file")
    length = int.from_bytes(content[-8:-4], "little")
    start = len(content) - 8 - length
    if length > _LONGEST_FOOTER or start < 4:
        raise ValueError("a footer of no likely length")
    footer = _Compact(content, start).struct()
    sizes: dict[str, int] = {}
    rows = 0
    for group in footer[4]:
        rows += max(group[3], 0)
        for chunk in group[1]:
            facts = chunk[3]
            name = ".".join(part.decode("utf-8", "replace") for part in facts[3])
            rows = max(rows, facts[5])  # as many values as there are rows, unless it is nested
            sizes[name] = sizes.get(name, 0) + sum(_pages(content, facts, start))
    return max(rows, footer[3]), sizes


def _pages(content: bytes, facts: Mapping[int, Any], end: int) -> Iterator[int]:
    """The bytes to which the pages of a column chunk unpack, by their own heads."""
    at = min(facts[9], facts.get(11) or facts[9])
    until = at + facts[7]
    if not 4 <= at <= until <= end:
        raise ValueError("a chunk outside the file")
    while at < until:
        head = _Compact(content, at)
        page = head.struct()
        unpacked, packed = page[2], page[3]
        if unpacked < 0 or packed < 0:
            raise ValueError("a page of less than nothing")
        yield unpacked
        at = head.at + packed


class _Compact:
    """A reader of Thrift's compact protocol: structs as mappings from the numbers of fields."""

    def __init__(self, content: bytes, at: int) -> None:
        self._content, self.at = content, at

    def struct(self, depth: int = 0) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("too deep")
        value: Any
        match kind:
            case 1 | 2 | 3:
                value = self._byte()
            case 4 | 5 | 6:
                value = self._signed()
            case 7:
                value = self._bytes(8)
            case 8:
                value = self._bytes(self._unsigned())
            case 9 | 10:
                value = self._list(depth)
            case 11:
                value = self._map(depth)
            case 12:
                value = self.struct(depth)
            case _:
                raise ValueError("no type of Thrift")
        return value

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = self._unsigned() if head >> 4 == 15 else head >> 4
        return [self._value(head & 15, depth + 1) for _ in range(size)]

    def _map(self, depth: int) -> list[Any]:
        size = self._unsigned()
        kinds = self._byte() if size else 0
        return [
            (self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1))
            for _ in range(size)
        ]

    def _byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]

    def _bytes(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self._content):
            raise ValueError("the end of the file")
        return self._content[self.at - size : self.at]

    def _unsigned(self) -> int:
        number, shift = 0, 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            if shift > 63:
                raise ValueError("a number without an end")

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
