"""PDF: a certificate's page on paper, printed by a browser that the machine has."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from holdfast.errors import MissingExtra

__all__ = ["pdf_of"]

# The page needs no script and no network, and forbids both: any browser of this engine prints it.
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge", "microsoft-edge")
_SECONDS = 120


def pdf_of(page: str, environment: Mapping[str, str] = os.environ) -> bytes:
    """The PDF of a page; refused where no browser is there to print it."""
    browser = next(filter(None, (shutil.which(each) for each in _named(environment))), None)
    if browser is None:
        raise MissingExtra(
            "a PDF is printed by Chromium, Chrome or Edge, and none was found (the environment "
            "variable HOLDFAST_BROWSER can name one); write an .html file instead and print it "
            "from any browser. Nothing was spent."
        )
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "certificate.html"), Path(folder, "certificate.pdf")
        source.write_text(page, encoding="utf-8", newline="\n")
        command = [browser, "--headless", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # it has none for the superuser, and would not start
        command += ["--no-pdf-header-footer", f"--print-to-pdf={target}", source.as_uri()]
        try:
            subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise MissingExtra(
                f"the browser {browser!r} did not print the page ({type(error).__name__}); write "
                "an .html file instead and print it from any browser. Nothing was spent."
            ) from error


def _named(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The browsers to look for: the one that is named, or all that print."""
    named = environment.get("HOLDFAST_BROWSER")
    return (named,) if named else _BROWSERS
