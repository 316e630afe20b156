"""The README as package indexes show it: they have no files beside it.

Without an address where the repository can be read, pictures are left out and links to its pages
become their words: a link that leads nowhere is worse than none. With HOLDFAST_PAGES, the address
under which files of this version are found, pictures and links get it as their beginning.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = ["LongDescription", "long_description"]

_PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)\s]+)\)\n*")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.DOTALL | re.MULTILINE)
_WHERE = "\nThe pages that are named here are in the folder `docs` of the source distribution.\n"


def long_description(readme: str, pages: str | None) -> str:
    """The README with absolute links to `pages`, or without any; code stays as it is."""
    parts = _CODE.split(readme)  # what is code is at every second place
    parts[::2] = [_elsewhere(part, pages) for part in parts[::2]]
    return "".join(parts) + (_WHERE if pages is None else "")


def _elsewhere(text: str, pages: str | None) -> str:
    if pages is None:
        return _LINK.sub(r"\1", _PICTURE.sub("", text))
    base = pages.rstrip("/")
    shown = re.sub(r"(!\[[^\]]*\]\()(?!https?:)([^)\s]+\))", rf"\g<1>{base}/\2", text)
    return _LINK.sub(rf"[\1]({base}/\2)", shown)


class LongDescription(MetadataHookInterface):
    """What hatchling calls when it builds the package."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Give the package its long description."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = long_description(readme, os.environ.get("HOLDFAST_PAGES"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
