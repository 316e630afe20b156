"""Rows for `holdfast.papers.theorems.median_parameters`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

TREE = "mpmath, 30 digits: binomials one by one, over the same accuracies and cells"

GOLDEN = [
    Golden(
        "median_mechanism_width",
        {"n": 10**4, "k": 20, "N": 4, "log_beta": math.log(0.05)},
        0.08577948299474748,
        1e-9,
        TREE,
    ),
    Golden(
        "median_mechanism_width",
        {"n": 10**6, "k": 1000, "N": 8, "log_beta": math.log(0.05)},
        0.021205885020356654,
        1e-9,
        TREE,
    ),
    Golden(
        "median_mechanism_width_printed",
        {"n": 10**4, "k": 20, "N": 4, "log_beta": math.log(0.05)},
        0.1758223758960751,
        1e-9,
        TREE,
    ),
    Golden(
        "median_mechanism_width_printed",
        {"n": 10**6, "k": 100, "N": 8, "log_beta": math.log(0.05)},
        0.05558522544975587,
        1e-9,
        TREE,
    ),
    Golden("volume_mistakes", {"N": 8, "alpha": 0.025}, 37, 0, "floor(7 log2 40) = floor(37.25)"),
    Golden(
        "volume_mistakes",
        {"N": 8, "alpha": 0.025, "excess": 0.1},
        50,
        0,
        "floor(7 ln 40/ln(1/0.6)) = floor(50.55)",
    ),
    Golden(
        "median_samples",
        {"k": 100, "log_delta": math.log(0.01), "excess": 0.1},
        496,
        0,
        "ceil(50 ln 20000) = ceil(495.17)",
    ),
]

_RUN = {
    "n": st.integers(1, 10**7),
    "k": st.integers(1, 50),
    "N": st.integers(2, 60),
    "log_beta": st.floats(-30, 0),
}
DOMAINS = {
    "median_mechanism_width": Domain(_RUN),
    "median_mechanism_width_printed": Domain(_RUN),
    "volume_mistakes": Domain(
        {"N": st.integers(1, 500), "alpha": st.floats(1e-6, 1), "excess": st.floats(0, 0.49)}
    ),
    "median_samples": Domain(
        {
            "k": st.integers(1, 10**5),
            "log_delta": st.floats(-100, 0),
            "excess": st.floats(0.001, 0.49),
        }
    ),
}
