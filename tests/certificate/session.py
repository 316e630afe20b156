"""A session with every kind of line and entry, and what people may do to its certificate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.certificate.certificate import certificate_digest, certificate_text
from holdfast.certificate.checking import audit_certificate
from tests.holdout.tables import opened, table

HOSTILE = "<script>alert(1)</script>\"'&\u202e"
Facts = dict[str, Any]


def with_everything(folder: Path) -> Path:
    """A ledger with described, checked and asked lines, parts, a column, and a closed end."""
    data = table(4000).with_row_index("id")
    declared: dict[str, Any] = {"schema": {"x": (-60.0, 180.0)}, "key": "id"}
    how = {"tolerance": 0.2, "questions": 60, "described": "exact", "described_share": 0.4}
    with opened(folder, data, name="t", **declared, **how) as holdout:
        holdout.ask("avg(x > 20)", why="baseline", asked_by="ann")
        holdout.ask("avg(late) where origin = 'JFK'", asked_by=HOSTILE, why=HOSTILE)
        holdout.check("avg(late)", guess=0.25, asked_by="ann")
        holdout.check("avg(x > 100)", guess=0.9)
        holdout.check("avg(x > 150)", at_most=0.3)
        holdout.gate("avg(x > -20)", at_least=0.5, asked_by="ci")
        holdout.gate("avg(x > 60)", at_least=0.9)
        holdout.ask("median(x)", tolerance=0.3, why="the middle")
        holdout.attach("v7", [row % 2 == 0 for row in range(data.height)], asked_by="team 7")
        holdout.ask("avg(v7)", why="model v7")
        holdout.ask("avg(late) by origin", discover=True)
    return folder / "t.ledger"


def changed(path: Path, change: Callable[[Facts], None], *, again: bool = True) -> Path:
    """The certificate after a change, with a digest that fits it `again`: who can write, can."""
    facts = json.loads(path.read_text(encoding="utf-8"))
    change(facts)
    if again:
        facts["digest"] = certificate_digest(
            {name: facts[name] for name in facts if name != "digest"}
        )
    target = path.with_name("changed.json")
    target.write_text(certificate_text(facts), encoding="utf-8", newline="\n")
    return target


def faults(path: Path) -> dict[str, str]:
    """What an audit of the certificate finds wrong."""
    return {each.what: each.detail for each in audit_certificate(path) if not each.fine}
