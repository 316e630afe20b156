"""`make docs`: writes the pages that are views of the software (registries, names, schemas), the
tutorials, which are runs of notebooks, and other pages with what their examples print.

`python docs/generate.py` writes all of them, or those views that are named (`theorems.md`). With
`--check` it writes nothing, and fails if a view is out of date. What is run takes longer:
tests/test_tutorials.py and tests/test_docs.py compare it page by page.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))  # a script is started with its own folder alone

from docs import held, tutorials  # noqa: E402

# What writes each view: some need half of the software, so each is loaded when it is wanted.
PAGES = {
    "theorems.md": "theorems.theorem_page",
    "source-notes.md": "theorems.source_notes_page",
    "mechanisms.md": "catalogues.mechanism_page",
    "statistics.md": "catalogues.statistics_page",
    "cli.md": "commands.cli_page",
    "reference/api.md": "python_api.api_page",
    "reference/objects.md": "python_api.objects_page",
    "reference/modules.md": "python_api.modules_page",
    "reference/http.md": "http_api.http_page",
    "reference/mcp.md": "mcp_tools.mcp_page",
    "reference/errors.md": "error_tree.errors_page",
    "reference/ledger-kinds.md": "ledger_kinds.ledger_page",
}


def view(name: str) -> str:
    """A view as it should be."""
    module, _, writer = PAGES[name].partition(".")
    text: str = getattr(importlib.import_module(f"docs.writers.{module}"), writer)()
    return text


def main() -> None:
    named = [word for word in sys.argv[1:] if word != "--check"]
    stale = []
    for name in named or PAGES:
        path, text = HERE / name, view(name)
        if "--check" in sys.argv:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            path.write_text(text, encoding="utf-8")
            print(f"docs/{name}: {len(text.splitlines())} lines")
    if not named and "--check" not in sys.argv:
        _run_examples()
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run `make docs`")


def _run_examples() -> None:
    for notebook in tutorials.NOTEBOOKS:
        made = tutorials.run(notebook)
        made.write()
        print(f"docs/tutorials/{made.name}.md: {len(made.text.splitlines())} lines")
    for name in held.names():
        (HERE / name).write_text(held.held(name), encoding="utf-8")
        print(f"docs/{name}: its examples ran")


if __name__ == "__main__":
    main()
