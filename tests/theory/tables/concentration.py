"""Rows for `theory.base.concentration` and `dependence`: a profile's number is its radius."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)
scale = st.floats(1e-3, 1e3)
count = st.integers(1, 10**9)


def radius_at(log_p: float) -> Any:
    return lambda profile: profile.radius(log_p)


def _radius(
    theorem: str, inputs: dict[str, Any], p: float, expected: float, rel: float = 1e-12
) -> Golden:
    return Golden(theorem, inputs, expected, rel, "mpmath", radius_at(math.log(p)))


GOLDEN = [
    _radius("SubGaussian", {"sigma": 1.0}, 0.05, 2.716203031481239),
    _radius("SubGaussian", {"sigma": 0.25}, 1e-6, 1.3466930672263548),
    _radius("SubExponential", {"sigma": 1.0, "b": 0.5}, 0.05, 2.844439727056968),
    _radius("SubExponential", {"sigma": 1.0, "b": 0.5}, 1e-6, 8.25432886926211),
    _radius("BoundedDifferences", {"n": 400, "delta": 0.01}, 1e-4, 0.44505027923901201),
    _radius("BoundedMean", {"n": 1000, "low": -2.0, "high": 3.0}, 0.01, 0.25734989232919927),
    _radius("BinomialMean", {"n": 1000}, 0.05, 0.0319897516152280816),
    _radius("BinomialMean", {"n": 10_000}, 1e-6, 0.0245581923784929519),
    _radius("TwoSampleU", {"n_pos": 30, "n_neg": 400}, 0.05, 0.24795427851769824),
    _radius("MDependentMean", {"n": 1000, "m": 7}, 0.05, 0.12147229238166103),
    _radius("GraphMean", {"n": 1000, "degree": 7}, 0.05, 0.12147229238166103),
    _radius("MarkovMean", {"n": 400, "contraction": 0.5}, 0.05, 0.13581015157406195),
    _radius("ClusteredUnits", {"units": 50}, 0.05, 0.19206455826398415),
    _radius("ClusteredRows", {"rows": 12, "sum_of_squares": 50}, 0.05, 0.80026899276660063),
    _radius(
        "ClusteredDifferences", {"sum_of_squares": 25, "delta": 0.1}, 0.05, 0.67905075787030975
    ),
    _radius("Bernstein", {"n": 1000, "variance": 0.01}, 0.05, 0.0099065827698409161),
    _radius(
        "DeclaredTail", {"function": lambda a: -2 * a, "largest": 9.0}, 1e-6, 6.907755278982137
    ),
    Golden(
        "sub_gaussian_log_tail_printed", {"sigma": 2.0, "radius": 3.0}, -1.125, 1e-15, "by hand"
    ),
    Golden(
        "sub_exponential_log_tail_printed",
        {"sigma": 1.0, "b": 0.5, "radius": 5.0},
        -2.0,
        1e-15,
        "by hand",
    ),
]

_small = radius_at(math.log(1e-3))
DOMAINS = {
    "SubGaussian": Domain({"sigma": scale}, measure=_small),
    "SubExponential": Domain({"sigma": scale, "b": scale}, measure=_small),
    "BoundedDifferences": Domain({"n": count, "delta": scale}, measure=_small),
    "BoundedMean": Domain(
        {"n": count, "low": st.floats(-9, 9), "high": st.floats(-9, 9)},
        where=lambda n, low, high: low < high,
        measure=_small,
    ),
    "BinomialMean": Domain({"n": count}, measure=_small),
    "TwoSampleU": Domain({"n_pos": count, "n_neg": count}, measure=_small),
    "MDependentMean": Domain({"n": count, "m": st.integers(0, 1000)}, measure=_small),
    "ClusteredUnits": Domain({"units": count}, measure=_small),
    "GraphMean": Domain({"n": count, "degree": st.integers(0, 1000)}, measure=_small),
    "MarkovMean": Domain({"n": count, "contraction": st.floats(0, 0.99)}, measure=_small),
    "ClusteredRows": Domain(
        {"rows": st.just(1000), "sum_of_squares": st.integers(1000, 10**6)}, measure=_small
    ),
    "ClusteredDifferences": Domain({"sum_of_squares": count, "delta": scale}, measure=_small),
    "Bernstein": Domain(
        {"n": count, "variance": st.floats(0, 1), "width": st.floats(0.1, 10)}, measure=_small
    ),
    "sub_gaussian_log_tail_printed": Domain({"sigma": scale, "radius": st.floats(0, 100)}),
    "sub_exponential_log_tail_printed": Domain(
        {"sigma": scale, "b": scale, "radius": st.floats(0, 100)}
    ),
}
