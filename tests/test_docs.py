"""The generated pages are up to date, and what the README shows is what the code says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from holdfast.theory.theorem import registry

ROOT = Path(__file__).resolve().parent.parent


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_errata_page_names_every_slip() -> None:
    page = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    slips = [slip for entry in registry().values() for slip in entry.errata]
    assert len(slips) >= 25
    for slip in slips:
        assert slip.place in page
        assert slip.right in page
