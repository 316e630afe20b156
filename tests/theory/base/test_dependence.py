"""Arguments that no dependence has."""

from __future__ import annotations

import pytest

from holdfast.errors import InvalidArgument
from holdfast.theory.base.dependence import GraphMean


@pytest.mark.parametrize(("n", "degree"), [(0, 1), (10, -1)])
def test_a_graph_without_rows_or_of_negative_degree_is_refused(n: int, degree: int) -> None:
    with pytest.raises(InvalidArgument):
        GraphMean(n, degree)
    assert GraphMean(100, 0).sigma == pytest.approx(0.05)
