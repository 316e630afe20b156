"""Where the logs of real tools are, and how to make broken ones of them."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import zstandard

FILES = Path(__file__).parent / "files"
CHOICE = next(FILES.glob("samples_sums_choice_*.jsonl"))
TEXT = next(FILES.glob("samples_sums_text_*.jsonl"))


def entries(path: Path) -> dict[str, bytes]:
    """The entries of a log of inspect_ai, unpacked."""
    content, found = path.read_bytes(), {}
    with zipfile.ZipFile(path) as zipped:
        for entry in zipped.infolist():
            name, extra = struct.unpack_from("<HH", content, entry.header_offset + 26)
            start = entry.header_offset + 30 + name + extra
            packed = content[start : start + entry.compress_size]
            found[entry.filename] = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    return found


def zipped(path: Path, contents: Mapping[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip of these entries."""
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def zipped_in_zstandard(path: Path, contents: Mapping[str, bytes]) -> Path:
    """A zip of these entries in Zstandard, which `zipfile` writes as if they were not packed."""
    packed = {name: zstandard.compress(content, 19) for name, content in contents.items()}
    content = bytearray(zipped(path, packed, zipfile.ZIP_STORED).read_bytes())
    with zipfile.ZipFile(path) as archive:
        starts, place = {each.filename: each.header_offset for each in archive.infolist()}, 0
    for name, whole in contents.items():
        place = content.index(b"PK\x01\x02", place + 1)  # its line of the central directory
        for method in (starts[name] + 8, place + 10):
            struct.pack_into("<H", content, method, 93)
            struct.pack_into("<I", content, method + 6, zlib.crc32(whole))
            struct.pack_into("<I", content, method + 14, len(whole))
    path.write_bytes(content)
    return path


def changed(path: Path, folder: Path, change: Callable[[Any], Any]) -> Path:
    """A JSON document with something else in it."""
    made = folder / path.name
    made.write_text(json.dumps(change(json.loads(path.read_text(encoding="utf-8")))))
    return made


def changed_lines(path: Path, folder: Path, change: Callable[[list[Any]], list[Any]]) -> Path:
    """JSON lines with something else in them."""
    made = folder / path.name
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    made.write_text("".join(json.dumps(line) + "\n" for line in change(lines)))
    return made


def written_lines(path: Path, *lines: Any) -> Path:
    """JSON lines of our own."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
