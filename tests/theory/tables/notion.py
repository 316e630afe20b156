"""Rows for `holdfast.theory.typical.notion`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.theory.typical.notion import TypicalStability
from tests.theory.rows import Domain, Golden

STEP = {"eta": 0.5, "tau": 0.001, "nu": 0.01}


def parameters(stability: TypicalStability) -> tuple[float, float, float]:
    return stability.eta, stability.tau, stability.nu


GOLDEN = [
    Golden(
        "oracle_to_pair",
        STEP,
        (1.0, 0.0026487212707001283, 0.0199),
        1e-9,
        "golden.json 6.1",
        parameters,
    ),
    Golden(
        "oracle_to_pair",
        {"eta": 1.0, "tau": 0.001, "nu": 0.01},
        (2.0, 0.0037182818284590452, 0.0199),
        1e-9,
        "golden.json 6.1",
        parameters,
    ),
    Golden(
        "oracle_to_pair",
        {"eta": 800.0, "tau": 0.0, "nu": 0.5},
        (1600.0, 0.0, 0.75),
        1e-12,
        "by hand: a pure step stays pure where e^eta leaves the floats",
        parameters,
    ),
    Golden(
        "oracle_to_pair_printed", STEP, (1.0, 0.003, 0.02), 1e-12, "BF2, 2.1: by hand", parameters
    ),
    Golden("pair_to_oracle", STEP, (0.5, 0.001, 0.01), 0.0, "theory.md 6.1: by hand", parameters),
    Golden("set_to_pair", STEP, (0.5, 0.001, 0.01), 0.0, "theory.md 6.1: by hand", parameters),
    Golden(
        "set_to_oracle",
        {"eta": 0.5, "tau": 0.001, "nu": 0.19},
        (0.5, 0.001, 0.1),
        1e-12,
        "by hand: 1 - sqrt(.81)",
        parameters,
    ),
    Golden(
        "post_processing",
        {"stability": TypicalStability(0.5, 0.001, 0.01, "pair")},
        (0.5, 0.001, 0.01),
        0.0,
        "BF2 Lemma 3.1: by hand",
        parameters,
    ),
    Golden(
        "non_adaptive_composition",
        {
            "steps": [
                TypicalStability(0.1, 0.01, 0.001, "set"),
                TypicalStability(0.05, 0.02, 0.002, "set"),
                TypicalStability(0.2, 0.0, 0.003, "set"),
            ]
        },
        (0.35, 0.0298, 0.006),
        1e-12,
        "by hand: 1 - .99 .98",
        parameters,
    ),
    Golden(
        "non_adaptive_composition_printed",
        {"k": 3, "eta": 0.1, "tau": 0.01, "nu": 0.4},
        (0.3, 0.03, 1.0),
        1e-12,
        "by hand",
        parameters,
    ),
]

_BOX = {"eta": st.floats(0, 20), "tau": st.floats(0, 1), "nu": st.floats(0, 1)}

DOMAINS = {
    name: Domain(_BOX, measure=parameters)
    for name in (
        "oracle_to_pair",
        "oracle_to_pair_printed",
        "pair_to_oracle",
        "set_to_oracle",
        "set_to_pair",
    )
} | {
    "non_adaptive_composition_printed": Domain(
        {"k": st.integers(1, 10**6), **_BOX, "tau": st.floats(0, math.exp(-5))}, measure=parameters
    ),
}
