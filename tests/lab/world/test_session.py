"""The laboratory attacks what is shipped: its sessions answer as a ledger with the same secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.lab.world.linear_questions import Arrays, Vote
from holdfast.lab.world.populations import Signs
from holdfast.lab.world.session import Protected
from holdfast.mechanisms.catalogue import CATALOGUE
from tests.holdout.tables import noise_by_number
from tests.seam import store_of, transcript_of

ROWS, FEATURES = 1_500, 7
POPULATION = Signs(FEATURES)
# One asked, one confirmed, one refuted, and again.
GUESSES = [None, 0.5, 0.2, None, 0.5, 0.2, None]
# Splitting deals a ledger's rows out by its secret.
NOT_COMPARED = {"sample splitting"}
TERMS: list[dict[str, Any]] = [
    *({"mechanism": name} for name in CATALOGUE if name not in NOT_COMPARED),
    {"mechanism": "bounded noise", "sampling": holdfast.m_dependent(2)},
    {"mechanism": "rounding", "sampling": holdfast.declared(sigma=0.03)},
    {"mechanism": "median noise", "options": {"leakage_nats": 12.0}},
]


def frame(table: Arrays) -> pl.DataFrame:
    return pl.DataFrame({f"x{f}": table["agree"][f] > 0 for f in range(FEATURES)})


def told(answer: Any, low: float | None, high: float | None) -> tuple[Any, ...]:
    promised = answer.status != "no promise"
    return answer.status, answer.value, *((low, high) if promised else ())


@pytest.mark.parametrize("terms", TERMS, ids=lambda terms: terms["mechanism"])
def test_a_session_answers_as_a_ledger_does(
    tmp_path: Path, terms: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    noise_by_number(monkeypatch)  # as the laboratory addresses it
    sample, train = (POPULATION.draw(ROWS, np.random.default_rng(seed)) for seed in (1, 2))
    other = frame(train) if CATALOGUE[terms["mechanism"]].trained else None
    with holdfast.open(
        frame(sample),
        ledger=tmp_path / "mine.ledger",
        questions=20,
        train=other,
        **{"described": "off", **terms},
    ) as holdout:
        opening, transcript = holdout.opening, transcript_of(holdout)
        width: Any = {"tolerance": opening.terms.tolerance}  # that of the laboratory's checks
        checks = transcript.checker is not None
        session: Any = Protected(
            "analyst" if checks else "nobody",
            mechanism=terms["mechanism"],
            parameters=json.dumps(opening.mechanism["parameters"]),
        ).open(opening.terms, sample, train, 1)
        session.secret = store_of(holdout).secret
        count = 1 if terms["mechanism"] == "one look" else FEATURES
        for feature, guess in list(enumerate(GUESSES if checks else [None] * FEATURES))[:count]:
            asked = f"avg(x{feature})"
            own = holdout.ask(asked) if guess is None else holdout.check(asked, guess, **width)
            lab = session.ask(Vote.of({feature: 1}), guess)
            assert told(lab, lab.low, lab.high) == told(own, *own.interval)
        assert session.account.leakage == transcript.account.leakage
