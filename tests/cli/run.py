"""The command line, run as a user runs it."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from holdfast.cli import main


def holdfast(*words: str, cwd: Path | None = None) -> CompletedProcess[str]:
    """`holdfast WORDS`, without the second that a process of its own takes to start."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        patch.object(sys, "argv", ["holdfast", *words]),
    ):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return CompletedProcess(words, code, out.getvalue(), err.getvalue())


def process(*words: str, cwd: Path | None = None) -> CompletedProcess[str]:
    """`python -m holdfast WORDS` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )
