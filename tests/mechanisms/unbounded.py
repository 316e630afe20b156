"""The laws of unbounded noise, and private answers with them."""

from __future__ import annotations

import math

import pytest

from holdfast.mechanisms.noise import LAPLACE, NORMAL, Law
from holdfast.mechanisms.private import PrivateTheorem
from holdfast.mechanisms.transfer import Epoch, Transfer

LAWS: list[Law] = [LAPLACE, NORMAL]
every_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)


def private(law: Law, scale: int, answers: int = 20, half_width: float = 0.3) -> Transfer:
    """With noise of so many units, 2^30 of which are what one row can do to a sum."""
    epoch = Epoch(answers, scale, math.log(0.05), half_width)
    return Transfer("private/1", law, PrivateTheorem(law), (epoch,), delta=1e-6)
