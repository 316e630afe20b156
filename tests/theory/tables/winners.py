"""Rows for `holdfast.theory.leakage.winners`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.theory.leakage.winners import Cv
from tests.theory.rows import Domain, Golden

_TABLE = "golden.json, section 13.2"
_CELL = {"n": 600, "low": 588, "high": 591}

GOLDEN = [
    Golden("rank_weight", {"rank": 2, "members": 16}, 0.17708333333333334, 1e-15, _TABLE, float),
    Golden("rank_weight", {"rank": 1, "members": 1}, 1.0, 0, "by hand", float),
    Golden(
        "order_log_charge",
        {"prior": (0.5, 0.2, 0.2, 0.1), "order": (1, 0)},
        2.0794415416798357,
        1e-12,
        _TABLE,
    ),
    Golden("order_log_charge", {"prior": (0.5, 0.5), "order": ()}, 0.0, 0, "by hand"),
    Golden(
        "cell_log_weight",
        {**_CELL, "cells": 151, "cv": Cv(0.976, 1200)},
        math.log(0.18349805790851625),
        1e-10,
        _TABLE,
    ),
    Golden("cell_log_weight", {**_CELL, "cells": 151}, -math.log(151), 1e-14, "by hand"),
    Golden(
        "winner_interval",
        {**_CELL, "log_p": -6.422418316113946},
        (0.9568790554640755, 0.9955893131171989),
        1e-9,
        _TABLE,
    ),
    Golden(
        "winner_interval",
        {"n": 2, "low": 0, "high": 0, "log_p": math.log(0.25)},
        (0.0, 0.5),
        1e-14,
        "by hand: (1 - p)^2 = 1/4",
    ),
]

DOMAINS = {
    "rank_weight": Domain({"rank": st.integers(1, 50), "members": st.just(50)}, measure=float),
}
