"""What is written here in place of a function of scipy, beside it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special as scipy_special

from holdfast.theory.base import special


@pytest.mark.parametrize("spread", [0.1, 3.0, 400.0])
def test_log_of_a_sum_is_scipys_to_the_bit(spread: float) -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 7, 130, 1_000):
        terms = rng.normal(0.0, spread, size)
        for each in (terms, np.round(terms)):
            assert special.logsumexp(each) == float(scipy_special.logsumexp(each))
