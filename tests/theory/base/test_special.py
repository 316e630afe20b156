"""What is written here in place of a function of scipy, beside it."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from scipy import special as scipy_special

from holdfast.theory.base import special
from tests.seam import COMPILED_FUNCTIONS


@pytest.mark.parametrize("spread", [0.1, 3.0, 400.0])
def test_log_of_a_sum_is_scipys_to_the_bit(spread: float) -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 7, 130, 1_000):
        terms = rng.normal(0.0, spread, size)
        for each in (terms, np.round(terms)):
            assert special.logsumexp(each) == float(scipy_special.logsumexp(each))


def test_a_function_that_is_in_no_compiled_file_is_the_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where another version of scipy keeps it elsewhere."""
    monkeypatch.setattr(COMPILED_FUNCTIONS, lambda: ModuleType("others"))
    monkeypatch.delitem(vars(special), "erfinv", raising=False)
    assert special.erfinv is scipy_special.erfinv
