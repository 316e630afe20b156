"""Rows for `holdfast.papers.theorems.surprise_codes`, `median_mechanism` and the weights."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)

GOLDEN = [
    Golden("log_nodes", {"k": 1000, "m": 10, "G": 20}, 88.38568512532312, 1e-9, "golden.json"),
    Golden("log_rounding_nodes", {"k": 3, "G": 4}, math.log(21), 1e-12, "1 + 4 + 16 by hand"),
    Golden(
        "guess_and_check_width",
        {"n": 10_000, "k": 100, "m": 2, "log_beta": LOG_05},
        0.038438721376861577,
        1e-6,
        "mpmath, every G up to 400 tried",
    ),
    Golden(
        "global_rounding_width",
        {"n": 10_000, "k": 100, "log_beta": LOG_05},
        0.1469569719910866,
        1e-6,
        "golden.json",
    ),
    Golden("surprise_prior", {"c": 40, "f": 0}, 0.0030238484576347187, 1e-12, "golden.json"),
    Golden("surprise_prior", {"c": 40, "f": 2}, 0.05, 1e-12, "golden.json"),
    Golden("surprise_prior", {"c": 0, "f": 0}, 1 / 40, 1e-12, "by hand: half of 1/20"),
    Golden(
        "surprise_prior",
        {"c": 1, "f": 1, "m": 2},
        1 - math.sqrt((1 - 1.5 / 11) * (1 - 1.5 / 12)),
        1e-12,
        "by hand",
    ),
    Golden("declared_surprise_prior", {"surprises": 10, "k": 1000}, 11 / 1002, 1e-12, "by hand"),
    Golden("kt_surprise_prior", {"c": 3, "f": 1}, 0.375, 1e-15, "by hand"),
    Golden("kt_total_cost", {"c": 1000, "f": 10}, 59.685493011594641, 1e-12, "mpmath"),
    Golden("fixed_log_weight", {"k": 100, "m": 0, "G": 20}, -math.log(100), 1e-12, "Bonferroni"),
    Golden(
        "enumerative_log_weight",
        {"t": 5, "f": 2, "sum_log_cells": math.log(3)},
        -8.7764757893463204,
        1e-12,
        "-ln(30 * 12 * 6 * 3) by hand",
    ),
    Golden("kt_log_weight", {"t": 1000, "f": 10}, -73.49144755595272, 1e-9, "golden.json"),
    Golden(
        "run_length_log_weight",
        {"runs": (2, 1, 3)},
        -7.4547199493640009,
        1e-12,
        "-ln(12 * 6 * 2 * 12) by hand",
    ),
    Golden(
        "mixture_log_weight", {"first": -1.0, "second": -3.0}, -1.5662191695169728, 1e-12, "mpmath"
    ),
    Golden(
        "median_parameters",
        {"k": 100, "N": 64, "eta": 0.1},
        (0.1, 0.1, 0.0, 0.1, 265, 227),
        1e-12,
        "mpmath: ln 200/.02 = 264.9 and log2 C(328, 63) = 227.3",
    ),
    Golden(
        "median_parameters_printed",
        {"n": 10_000, "k": 100, "N": 64},
        (0.13156057093986349, *2 * (0.03289014273496587,), 0.065780285469931744, 2770, 16620),
        1e-12,
        "mpmath: (ln 400/20000)^(1/4), ceil(8 ln 400/eta^2), 6 bits a point",
    ),
    Golden("sequence_mistakes", {"points": 10, "N": 4}, 20, 1e-15, "10 log2 4"),
    Golden("histogram_mistakes", {"points": 10, "N": 4}, 8, 1e-15, "log2 C(13, 3) = 8.16"),
    Golden("multiplicative_weights_drop", {"gap": 0.1}, 0.02, 1e-12, "by hand"),
    Golden("multiplicative_weights_step", {"gap": 0.1}, 0.4, 1e-12, "by hand"),
    Golden(
        "multiplicative_weights_surprises",
        {"domain_size": 1024, "gap": 0.1},
        346,
        1e-15,
        "ln 1024/.02 = 346.57",
    ),
]

few = st.integers(1, 300)
cells = st.integers(1, 1000)
log_beta = st.floats(-1000, -0.01)
node = {"t": st.just(400), "f": st.integers(0, 399), "sum_log_cells": st.floats(0, 1000)}
gap = st.floats(1e-3, 1)
weight = st.floats(-1000, 0)
DOMAINS = {
    "log_nodes": Domain(
        {"k": few, "m": st.integers(0, 300), "G": cells}, where=lambda k, m, G: m <= k
    ),
    "log_rounding_nodes": Domain({"k": few, "G": cells}),
    "guess_and_check_width": Domain(
        {"n": st.integers(10, 10**7), "k": few, "m": st.integers(0, 300), "log_beta": log_beta},
        where=lambda n, k, m, log_beta: m <= k,
        rel=1e-3,  # the search over whole numbers of cells stops near the best one
    ),
    "global_rounding_width": Domain(
        {"n": st.integers(10, 10**7), "k": few, "log_beta": log_beta}, rel=1e-3
    ),
    "surprise_prior": Domain(
        {"c": st.just(300), "f": st.integers(0, 300), "m": st.integers(1, 1_000)}
    ),
    "declared_surprise_prior": Domain(
        {"surprises": st.integers(0, 200), "k": st.integers(1, 200)},
        where=lambda surprises, k: surprises <= k,
    ),
    "kt_surprise_prior": Domain({"c": st.just(300), "f": st.integers(0, 300)}),
    "kt_total_cost": Domain(
        {"c": st.integers(0, 10**6), "f": st.integers(0, 300)}, where=lambda c, f: f <= c
    ),
    "fixed_log_weight": Domain(
        {"k": few, "m": st.integers(0, 300), "G": cells}, where=lambda k, m, G: m <= k
    ),
    "enumerative_log_weight": Domain(node),
    "kt_log_weight": Domain(node),
    "run_length_log_weight": Domain(
        {"runs": st.lists(few, min_size=1), "sum_log_cells": st.floats(0, 1000)}
    ),
    "mixture_log_weight": Domain({"first": weight, "second": weight}),
    "median_parameters": Domain(
        {"k": few, "N": st.integers(2, 500), "eta": st.floats(0.02, 1), "rho": st.floats(0, 0.2)},
        where=lambda k, N, eta, rho: 2 * rho < 0.99 * eta,
        measure=lambda p: (p.points, p.mistakes),
    ),
    "median_parameters_printed": Domain(
        {"n": st.integers(1, 10**6), "k": few, "N": st.integers(2, 500)},
        measure=lambda p: (p.points, p.mistakes),
    ),
    "sequence_mistakes": Domain({"points": few, "N": cells}),
    "histogram_mistakes": Domain({"points": few, "N": cells}),
    "multiplicative_weights_drop": Domain({"gap": gap}),
    "multiplicative_weights_step": Domain({"gap": gap}),
    "multiplicative_weights_surprises": Domain({"domain_size": st.integers(2, 2**20), "gap": gap}),
}
