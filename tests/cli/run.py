"""The command line, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def holdfast(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`python -m holdfast WORDS` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )
