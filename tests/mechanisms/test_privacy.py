"""What private answers reveal of a row: by hand, and never understated."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from holdfast.mechanisms.noise import LAPLACE, Law
from holdfast.mechanisms.privacy import gaussian_privacy, laplace_privacy
from holdfast.question.row import GRID
from holdfast.theory.notions.composing import GDP, PureDP
from tests.mechanisms.fake import leaked
from tests.mechanisms.unbounded import every_law, private


@every_law
@pytest.mark.parametrize("scale", [3 * GRID + 1, 7 * GRID - 1, 1234567891011])
def test_the_privacy_of_answers_is_never_understated(law: Law, scale: int) -> None:
    """One row moves a sum by 2^30 units; nine answers lose 9 times or, Gaussian, 3 times that."""
    spent = private(law, scale).privacy(leaked(0.0, asked=9))
    assert spent is not None
    if law is LAPLACE:
        loss, exactly = spent.pure_epsilon, 9 * Fraction(GRID, scale)
    else:
        loss, exactly = spent.gdp.mu, 3 * Fraction(GRID, scale)
    assert loss is not None
    assert exactly <= Fraction(loss) <= exactly * Fraction(1 + 1e-12)


def test_privacy_by_hand() -> None:
    laplace = laplace_privacy(PureDP(0.1), 100, math.log(1e-6))
    assert laplace.pure_epsilon == pytest.approx(10.0)
    assert laplace.advanced.epsilon == pytest.approx(
        0.1 * math.sqrt(200 * math.log(1e6)) + 10 * math.tanh(0.05)
    )
    assert laplace.epsilon == pytest.approx(4.774567588107986, rel=1e-9)  # mpmath: sum over lies
    assert laplace.zcdp.rho == pytest.approx(0.5)
    assert laplace.gdp.mu == pytest.approx(1.2530901221160758)  # mpmath
    assert laplace.tv.distance < 0.5
    gaussian = gaussian_privacy(GDP(0.1), 100, math.log(1e-5))
    assert gaussian.epsilon == pytest.approx(4.377178095681225, rel=1e-9)  # mpmath
    assert gaussian.zcdp.rho == pytest.approx(0.5)
    assert gaussian.gdp.mu == pytest.approx(1.0)
    assert gaussian.tv.distance == pytest.approx(0.38292492254802624)
    assert gaussian.pure_epsilon is None
    assert gaussian.epsilon < gaussian.advanced.epsilon < gaussian.basic.epsilon
    for found in (gaussian.basic, gaussian.advanced, gaussian.exact):
        assert found.delta == pytest.approx(1e-5)  # of all answers together
    # Four answers, each of a small distance, are about twice as far apart as one.
    one, four = (laplace_privacy(PureDP(0.1), k, math.log(1e-6)).tv.distance for k in (1, 4))
    assert 1.8 * one < four < 4 * one
    for untouched in (
        laplace_privacy(PureDP(0.1), 0, -10.0),
        gaussian_privacy(GDP(0.1), 0, -10.0),
    ):
        assert untouched.epsilon == untouched.zcdp.rho == untouched.tv.distance == 0.0
