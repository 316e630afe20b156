"""Files of a ledger that are on the disk, for their owner only, when a call returns."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["replace_whole", "sync_folder", "write_new"]


def write_new(path: Path, content: bytes) -> None:
    """A file that was not there before, durable but for its name."""
    _write(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), content)


def replace_whole(path: Path, content: bytes) -> None:
    """A file under this name, whole at every moment, whoever else writes it at the same time."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        _write(handle, content)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(handle: int, content: bytes) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
