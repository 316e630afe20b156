"""Prices added up by hand: each question with the probabilities of its choices, from the table."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from holdfast.statistics.description import Prior

PRIOR = Prior.from_dict(
    {
        "types": {
            **{"b": "boolean", "c": "text", "k": "integer", "x": "float", "y": "float"},
            **{"t": "text", "d": "datetime"},
        },
        "bounds": {"k": (0, 3), "x": (0, 10)},
        "values": {"c": ["u", "v"]},
    }
)


def digit(exponent: str = ".35") -> Fraction:
    """A decimal of one digit, above 0."""
    chance = Fraction(".96") * Fraction(".85") * Fraction(".48") / 9
    return chance * Fraction(exponent)


def free(round_number: str) -> Fraction:
    """A digit beside nothing, by its place among the round numbers or as a decimal."""
    return Fraction(".63") * Fraction(round_number) + Fraction(".37") * digit()


def level(size: int) -> Fraction:
    """A digit among so many levels."""
    return Fraction(".96") / size + Fraction(".04") * digit()


def on_x(value: int, round_number: str) -> Fraction:
    """A digit in [0, 10]: on the grids that have it, round, or decimal."""
    steps = ["10", "5", "2", "1", ".5", ".2", ".1", ".05", ".02", ".01", ".005", ".002"]
    likely = [60, 80, 120, 140, 140, 130, 110, 80, 50, 40, 30, 20]
    grid = Fraction(0)
    for step, thousandths in zip(map(Fraction, steps), likely, strict=True):
        if (value / step).denominator == 1:
            grid += Fraction(thousandths, 1000) / (10 // step + 1)
    chance = Fraction(".61") * grid + Fraction(".32") * Fraction(round_number)
    return chance + Fraction(".07") * digit()


# The weights of the seven classes: v sums to 26, w to 33, numbers and contrasts to 12.
B = ".93 10/26 .86"  # b as an atom of a value
X, K, Y = ".8 8/12", ".8 2/12", ".8 2/12"  # as numbers
T = ".85 1/5"  # as a text, beside c, which has 4 of the 5
MEAN = ".52 .52"
ATOM = f"{MEAN} .83 .775"
VALUE_B = f".83 .775 {B}"

BY_HAND = {
    # --- Texts
    "avg(lower(t) = 'ab')": f"{ATOM} .006 1/3 .04 {T} .57 .52 .082 .83 .016 .11",
    "avg(t like '%x_')": f"{ATOM} .93 1/26 .2 .1 .52 .005 .037 .28 .04",
    "avg(t like 'A%1')": f"{ATOM} .93 1/26 .2 .1 .38 1/26 .03 .15 1/29 .2 1/10 .3",
    "avg(t like 'a%b%')": (
        f"{ATOM} .93 1/26 .2 .1 .52 .082 .037 .15 1/29 .48 .016 .037 .15 1/29 .04"
    ),
    "avg(t = 'é')": f"{ATOM} .93 1/26 .57 .01 1/4 1/65536",
    "avg(c = 'w')": f"{ATOM} .93 4/26 .82 .05 .52 .015 .11",
    "avg(t < 'a')": f"{MEAN} .83 .05 .2 1/4 .36 {T} .05 .52 .082 .11",
    "avg(length(t) = 3)": f"{ATOM} .006 1/3 .001 {T} .085 {free('.035')}",
    # --- Moments
    "avg(d > '1995-03-05 07:30:00')": (f"{ATOM} .93 1/26 .7 .47 .15 1/9999 .37 1/366 .025 1/1440"),
    "avg(d != '2001-01-01' and d != '2002-01-01')": (
        f"{MEAN} .83 .1 1/2 2" + 2 * " .915 .93 1/26 .005 .85 1/40 .28 .9"
    ),
    "avg(weekday(d) in (6, 7))": f"{ATOM} .028 .3 .9 .13 1/2 {level(7)} {level(7)} 2",
    # --- Numbers in conditions
    "avg(y > 1e50)": f"{ATOM} .93 2/26 .735 .47 {Fraction('.37') * digit('.015') / 700}",
    "avg(abs(y) > 3)": f"{ATOM} .008 {Y} .735 .47 {free('.035')}",
    "avg(coalesce(y, x) < 7)": f"{ATOM} .006 1/3 .004 1/2 {Y} {X} .735 .2 {free('.015')}",
    "avg(k != 1 and k != 2)": f"{ATOM} .93 2/26 .005 1/2 {level(4)} {level(4)} 2",
    "avg(k = 7)": f"{ATOM} .93 2/26 .41 {Fraction('.04') * digit()}",
    "avg(k between 2 and 2)": f"{ATOM} .93 2/26 .115 .68 {level(4)} {level(4)}",
    # The wrong way round it is no range, but two comparisons.
    "avg(x > 9 and x < 3)": (
        f"{MEAN} .83 .1 1/2 2 .915 .93 6/26 .855 .47 {on_x(9, '.006')} "
        f".915 .93 6/26 .855 .2 {on_x(3, '.035')}"
    ),
    # --- Numbers that are averaged
    "avg(case when b then 1 else 2 end)": (
        f"{MEAN} .17 .006 1/2 .915 {B} .9 .05 {free('.06')} .9 .05 {free('.04')}"
    ),
    "avg(case when b then x end)": f"{MEAN} .17 .006 1/2 .915 {B} .9 {X} .1",
    "avg(least(x, k))": f"{MEAN} .17 .003 1/2 {X} {K} 2",
    "avg(x + x)": f"{MEAN} .17 .085 .185 {X} {X}",
    "avg(x * k)": f"{MEAN} .17 .085 .2 {X} {K} 2",
    "avg(clip(y, 1, 2))": f"{MEAN} .17 .02 {Y} {free('.06')} {free('.04')}",
    # In place of a clip of a constant, which is never written.
    "avg(ln(1 + x))": f"{MEAN} .17 .02 .05 .5 .085 .185 {X} .05 {free('.06')} 2",
    "avg(exp(-x))": f"{MEAN} .17 .02 .05 .25 .003 {X}",
    "avg(sqrt(x) > 3)": f"{ATOM} .006 1/3 .02 .05 .25 {X} .735 .47 {free('.035')}",
    # --- Parts
    "difference(avg(b) where k = 0, avg(b) where k = 3)": f".06 .9 {VALUE_B} .87 2/12 1/6",
    "difference(b, b)": f".03 .86 {VALUE_B} {VALUE_B}",
    "auc(y, b)": f".015 {Y} .775 {B}",
    "log_loss(x, b, 0.02)": f".01 {X} .775 {B} {Fraction('.37') * digit('.09')}",
    "avg(x, variance <= 4)": f".005 .6 .17 {X} {free('.02')}",
    "f1(b, c = 'u')": f".005 .64 .86 .775 {B} .775 .93 4/26 .82 .95 1/2",
    "covariance(x, k) where b": f".025 .3 .14 .73 .93 5/33 .86 .17 {X} .17 {K} 2",
    "quantile(x, 0.42)": f".04 .77 .045 {digit('.09') * 300 / 480 * 9 / 81} {X}",
}


def _millibits(chances: str) -> int:
    with mpmath.workdps(50):
        found = map(Fraction, chances.split())
        bits = [mpmath.log(mpmath.mpf(p.denominator) / p.numerator, 2) for p in found]
        # Rounded far beyond the point, so that the logarithm of a power of two is whole.
        return sum(math.ceil(Fraction(int(mpmath.nint(each * 10**33)), 10**30)) for each in bits)


@pytest.mark.parametrize("question", BY_HAND)
def test_by_hand(question: str) -> None:
    assert round(1000 * PRIOR.bits(question).plain) == _millibits(BY_HAND[question])
