"""A folder beside a ledger: files for their owner only, durable when they are kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from holdfast.ledger.durable import replace_whole, sync_folder
from holdfast.ledger.trouble import unavailable

__all__ = ["OwnFolder"]


@dataclass(frozen=True, slots=True)
class OwnFolder:
    """A folder of files for their owner only; there is none before the first file."""

    path: Path

    def file(self, name: str) -> bytes | None:
        """What a file holds; None if there is no such file."""
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unavailable(self.path / name, error) from error

    def file_name(self, name: str) -> str:
        """Where a file is."""
        return str(self.path / name)

    def file_names(self) -> list[str]:
        """The files there are, sorted; those that begin with a dot were never finished."""
        try:
            found = list(self.path.iterdir()) if self.path.exists() else []
        except OSError as error:
            raise unavailable(self.path, error) from error
        return sorted(each.name for each in found if not each.name.startswith("."))

    def keep_file(self, name: str, content: bytes) -> None:
        """A file with this content, durable when this returns; the same may be kept again."""
        try:
            if not self.path.exists():
                self.path.mkdir(mode=0o700, exist_ok=True)  # another process may be as quick
                sync_folder(self.path.parent)
            replace_whole(self.path / name, content)
        except OSError as error:
            raise unavailable(self.path / name, error) from error
