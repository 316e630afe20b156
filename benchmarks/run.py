"""`make bench`: every benchmark, as a table of ratios measured side by side in this run."""

from __future__ import annotations

import warnings
from pathlib import Path

import holdfast
from benchmarks import (
    asking,
    attaching,
    claiming,
    databases,
    evidence,
    guessers,
    logs,
    planner,
    searching,
    serving,
    starting,
)

RESULTS = Path("benchmarks/results")
HEAD = "| what | against | seconds | ratio | at most | |\n|---|---|---|---|---|---|"


def main() -> None:
    warnings.simplefilter("ignore", holdfast.SecondLedger)  # one table stands for many here
    lines = [HEAD]
    print(HEAD, flush=True)
    for group in (
        planner,
        guessers,
        attaching,
        claiming,
        searching,
        logs,
        asking,
        databases,
        serving,
        evidence,
        starting,
    ):
        for row in group.rows():
            lines.append(str(row))
            print(row, flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"\nWritten to {RESULTS / 'table.md'}")


if __name__ == "__main__":
    main()
