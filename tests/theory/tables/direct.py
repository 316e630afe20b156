"""Rows for `holdfast.theory.direct`."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

MPMATH = "mpmath, the formulas of intervals at tiny levels with full mixtures, 30 digits"
VALUES, COUNTS = [0.0, 0.25, 1.0], [40, 50, 10]
BLOCKS = [[0.5] * 15 + [0.75] * 20 + [1.0] * 15] * 4

GOLDEN = [
    Golden(
        "bounded_mean_lower",
        {"values": VALUES, "log_q": -12.0, "times": COUNTS},
        0.111845970930419857,
        1e-9,
        MPMATH,
    ),
    Golden(
        "bounded_mean_interval",
        {"values": VALUES, "log_p": -12.0, "times": COUNTS},
        (0.109049318219083549, 0.430584666204070246),
        1e-9,
        MPMATH,
    ),
    Golden(
        "bet_lower",
        {"values": VALUES, "second_moment": 0.3, "log_q": -12.0, "times": [400, 500, 100]},
        0.1824691659423825,
        1e-5,
        "golden.json",
    ),
    Golden(
        "outlier_floor_mass", {"n": 3000, "log_p": -20.0}, 0.0064149533722915875, 1e-9, "mpmath"
    ),
    Golden(
        "independent_clopper_pearson_upper",
        {"n": 100, "successes": 30, "log_alpha": -3.0},
        0.385535672326512728,
        1e-9,
        "mpmath root of the binomial sum at alpha(1 - alpha)",
    ),
    Golden(
        "bentkus_upper",
        {"n": 100, "total": 29.4, "log_q": -2.6888794541139363},
        0.3998146761808041,
        1e-6,
        "golden.json: Clopper-Pearson of 30 of 100 at a level e times smaller",
    ),
    Golden(
        "f1_interval",
        {"tp": 300, "fp": 80, "fn": 120, "log_p": -20.0},
        (0.6350828549789485, 0.8406546297958771),
        1e-6,
        "golden.json",
    ),
    Golden(
        "f_beta_interval",
        {"tp": 300, "fp": 80, "fn": 120, "rows": 1000, "beta": 2.0, "log_p": -20.0},
        (0.579032009853245858, 0.842761694941239449),
        1e-9,
        MPMATH,
    ),
    Golden(
        "paired_difference_lower",
        {"n": 1000, "b": 40, "c": 20, "log_q": -12.0},
        -0.0236807445936575178,
        1e-8,
        MPMATH,
    ),
    Golden(
        "exact_paired_lower",
        {"n": 200, "b": 24, "c": 6, "log_q": -6.0},
        -0.0143893391196391006,
        1e-7,
        "mpmath, the double binomial sum and both roots, 30 digits",
    ),
    Golden(
        "paired_score_lower",
        {"n": 24, "b": 4, "c": 6, "log_q": -3.6888794541139363},
        -0.3523,
        0.015,  # cells of theta and d are not divided further
        "every sample listed, 400 values of d in mpmath's box, theta0 in steps of 0.0005",
    ),
    Golden("sign_test_log_p", {"b": 40, "c": 20}, -4.999006145682472, 1e-9, "golden.json"),
    Golden(
        "group_difference_lower",
        {
            "x": [0.0, 0.5, 1.0],
            "y": [0.0, 0.5, 1.0],
            "log_q": -8.0,
            "times_x": [20, 30, 50],
            "times_y": [80, 60, 60],
        },
        -0.0637346216161653705,
        1e-5,
        MPMATH,
    ),
    Golden(
        "quantile_ranks",
        {"n": 10_000, "q": 0.9, "log_p": -20.0},
        (8816, 9176),
        1e-12,
        "golden.json",
    ),
    Golden("dkw_radius", {"n": 1000, "log_p": -12.0}, 0.0796653851448668555, 1e-12, "mpmath"),
    Golden(
        "cdf_band_lower",
        {"n": 1000, "count": 20, "log_p": -20.0},
        0.00258381122862259608,
        1e-12,
        "mpmath, all 139 quantiles by the binomial sum",
    ),
    Golden(
        "variance_by_bets",
        {"values": VALUES, "log_p": -10.0, "times": [300, 600, 100]},
        (0.0500138020005474414, 0.112981683161538410),
        1e-6,
        MPMATH,
    ),
    Golden(
        "covariance_by_bets",
        {
            "x": [0.0, 1.0, 0.5, 1.0],
            "y": [0.0, 1.0, 0.25, 0.0],
            "log_p": -10.0,
            "times": [400, 300, 200, 100],
        },
        (0.112031106420050958, 0.188582228506634529),
        1e-6,
        MPMATH,
    ),
    Golden(
        "correlation_by_bets",
        {
            "x": [0.0, 1.0, 0.5, 1.0],
            "y": [0.0, 1.0, 0.25, 0.0],
            "log_p": -6.0,
            "times": [800, 600, 400, 200],
        },
        (0.692954001998778810, 0.828865717173089546),
        1e-5,
        MPMATH,
    ),
    Golden(
        "unit_mean_interval",
        {
            "sums": [0] * 50 + [1] * 40 + [3] * 60,
            "sizes": [2] * 50 + [1] * 40 + [4] * 60,
            "largest": 4,
            "log_p": -10.0,
        },
        (0.428073362657505678, 0.683425049920704373),
        1e-9,
        MPMATH,
    ),
    # Full units whose rows are equal: Hoeffding's bound for units, at 0.9 of 0.6 of the level.
    Golden(
        "pooled_mean_interval",
        {"sums": [0] * 500 + [4] * 500, "sizes": [4] * 1000, "largest": 4, "log_p": -6.0},
        (0.439546160916018897, 0.560453839083981102),
        1e-12,
        MPMATH,
    ),
    Golden(
        "m_dependent_mean_interval",
        {"values": [0.0] * 400 + [0.25] * 500 + [1.0] * 100, "m": 2, "log_p": -10.0},
        (0.158081823614432853, 0.317947090150318538),
        1e-9,
        MPMATH,
    ),
    Golden(
        "auc_kl_interval",
        {"auc": 0.8, "n1": 500, "n0": 500, "log_p": -20.0},
        (0.6705551618543796, 0.8972128574587884),
        1e-6,
        "golden.json",
    ),
    Golden(
        "auc_block_interval",
        {"areas": BLOCKS, "log_p": -8.0},
        (0.607362184220962713, 0.871769853074957183),
        1e-9,
        MPMATH,
    ),
]

rows = st.integers(1, 10**6)
log_p = st.floats(-500, -0.7)
few = st.integers(0, 300)
DOMAINS = {
    "outlier_floor_mass": Domain({"n": rows, "log_p": log_p}),
    "independent_clopper_pearson_upper": Domain(
        {"n": st.just(1000), "successes": st.integers(0, 1000), "log_alpha": log_p}
    ),
    "bentkus_upper": Domain({"n": st.just(300), "total": st.floats(0, 300), "log_q": log_p}),
    "f1_interval": Domain({"tp": few, "fp": few, "fn": few, "log_p": log_p}),
    "paired_difference_lower": Domain(
        {"n": st.just(600), "b": few, "c": few, "log_q": st.floats(-50, -0.7)}, rel=1e-8
    ),
    "sign_test_log_p": Domain({"b": few, "c": few}),
    "dkw_radius": Domain({"n": rows, "log_p": log_p}),
    "cdf_band_lower": Domain(
        {"n": st.just(1000), "count": st.integers(0, 1000), "log_p": st.just(-20.0)}
    ),
    "auc_kl_interval": Domain({"auc": st.floats(0, 1), "n1": rows, "n0": rows, "log_p": log_p}),
}
