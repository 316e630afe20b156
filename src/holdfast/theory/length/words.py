"""The table of the prior "words/2": at each choice, the options in thousandths.

Every row sums to at most 1000 (a test adds them up), each derivation ends in one part of a
question, and a part is given the weight of some of its derivations: so the weights of all parts sum
to at most 1. A better table gets a new name: ledgers are read with the one they were opened with.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from types import MappingProxyType

from holdfast.theory.length.levels import option_millibits

NAME = "words/2"

PRODUCTIONS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        # --- the part
        "part": {
            "mean": 520,
            "cut": 210,
            "contrast": 60,
            "quantile": 40,
            "distribution": 40,
            "paired": 30,
            "spread": 25,
            "relation": 25,
            "auc": 15,
            "brier": 15,
            "log_loss": 10,
            "declared": 5,
            "ratio": 5,
        },
        "route": {"grammar": 750, "favourites": 250},
        "where mean": {"no": 520, "yes": 480},
        "where cut": {"no": 680, "yes": 320},
        "where contrast": {"no": 900, "yes": 100},
        "where quantile": {"no": 770, "yes": 230},
        "where other": {"no": 860, "yes": 140},
        "relation": {"covariance": 300, "correlation": 700},
        "ratio": {
            "f1": 640,  # and Jaccard's index, which is a function of it: one event
            "balanced_accuracy": 60,
            "mse": 100,
            "mae": 60,
            "rmse": 20,
            "r2": 60,
            "closer": 60,
        },
        "declared": {"variance": 600, "sigma": 250, "sigma and b": 150},
        "value": {"condition": 830, "number": 170},
        "groups": {"values": 870, "other": 130},
        "cut": {"atom": 800, "both": 165, "either": 35},
        "direction": {"up": 680, "down": 320},
        # --- conditions: at the top of a value, at the top of a where, inside
        "condition v": {
            "atom": 775,
            "pair": 50,
            "agree": 25,
            "both": 100,
            "either": 25,
            "no": 3,
            "case": 15,
            "coalesce": 5,
            "constant": 2,
        },
        "condition w": {
            "atom": 730,
            "pair": 8,
            "agree": 3,
            "both": 220,
            "either": 30,
            "no": 2,
            "case": 3,
            "coalesce": 3,
            "constant": 1,
        },
        "condition i": {
            "atom": 915,
            "pair": 25,
            "agree": 5,
            "both": 20,
            "either": 18,
            "no": 4,
            "case": 4,
            "coalesce": 4,
            "constant": 4,
        },
        "pair": {"columns": 800, "other": 200},
        "no": {"not": 500, "is null": 250},
        "constant": {"true": 500, "false": 500},
        "result": {"null": 100, "expression": 900},
        "subject": {"column": 930, "part": 28, "arithmetic": 28, "absolute": 8, "other": 6},
        # --- what is said of a subject, by its class
        "form flag": {"holds": 860, "fails": 125, "null": 8, "known": 7},
        "form code": {
            "equal": 820,
            "unequal": 40,
            "among": 115,
            "none": 5,
            "like": 5,
            "null": 9,
            "known": 6,
        },
        "form text": {
            "equal": 570,
            "unequal": 35,
            "among": 55,
            "none": 10,
            "like": 200,
            "null": 75,
            "known": 55,
        },
        "form level": {
            "equal": 410,
            "unequal": 15,
            "among": 130,
            "none": 5,
            "order": 290,
            "between": 115,
            "outside": 20,
            "null": 8,
            "known": 7,
        },
        "form range": {
            "order": 855,
            "between": 60,
            "outside": 15,
            "equal": 35,
            "unequal": 6,
            "among": 6,
            "none": 2,
            "null": 14,
            "known": 7,
        },
        "form number": {
            "order": 735,
            "between": 70,
            "outside": 18,
            "equal": 85,
            "unequal": 18,
            "among": 10,
            "none": 2,
            "null": 44,
            "known": 18,
        },
        "form moment": {
            "order": 700,
            "between": 200,
            "outside": 20,
            "equal": 50,
            "unequal": 5,
            "among": 5,
            "null": 10,
            "known": 10,
        },
        "order": {">": 470, ">=": 260, "<": 200, "<=": 70},
        "same": {"=": 820, "!=": 180},
        "compared": {"=": 140, "!=": 50, "<": 360, "<=": 50, ">": 340, ">=": 60},
        "between": {">= <=": 680, ">= <": 230, "> <=": 45, "> <": 45},
        "outside": {"< >": 400, "< >=": 360, "<= >": 100, "<= >=": 140},
        # --- expressions
        "number": {
            "column": 800,
            "constant": 50,
            "arithmetic": 85,
            "part": 12,
            "absolute": 8,
            "negate": 3,
            "clip": 20,
            "case": 6,
            "indicator": 5,
            "coalesce": 4,
            "least": 3,
            "greatest": 3,
            "length": 1,
        },
        "arithmetic": {"-": 370, "/": 245, "+": 185, "*": 200},
        # In place of a clip of a constant, which is a constant and never written as a clip: the
        # row of numbers is full, and what was priced before keeps its price.
        "function": {"ln": 500, "exp": 250, "sqrt": 250},
        "part of a moment": {
            "hour": 330,
            "weekday": 300,
            "month": 140,
            "year": 140,
            "day": 45,
            "minute": 45,
        },
        "text": {
            "column": 850,
            "constant": 50,
            "lower": 40,
            "upper": 20,
            "case": 20,
            "coalesce": 20,
        },
        "moment": {"column": 900, "constant": 50, "case": 20, "coalesce": 30},
        # --- constants
        "constant of a level": {"range": 960, "decimal": 40},
        "constant of a range": {"grid": 610, "round": 320, "decimal": 70},
        "constant of a number": {"round": 630, "decimal": 370},
        "decimal": {"zero": 40, "other": 960},
        "sign": {"+": 850, "-": 150},
        "exponent": {
            "0": 350,
            "1": 130,
            "2": 90,
            "3": 60,
            "4": 35,
            "5": 20,
            "6": 15,
            "-1": 120,
            "-2": 90,
            "-3": 40,
            "-4": 20,
            "-5": 10,
            "-6": 5,
            "far": 15,
        },
        "level of a quantile": {
            "0.5": 370,
            "0.9": 150,
            "0.95": 125,
            "0.99": 80,
            "0.25": 65,
            "0.75": 65,
            "0.1": 35,
            "0.05": 25,
            "0.01": 15,
            "0.8": 15,
            "0.2": 10,
            "other": 45,
        },
        "constant of a code": {"declared": 950, "spelled": 50},
        "like": {"contains": 450, "starts": 350, "ends": 100, "other": 100},
        "after start": {
            "lower": 520,
            "upper": 380,
            "digit": 70,
            "other": 15,
            "end": 5,
            "bytes": 10,
        },
        "after lower": {"lower": 830, "upper": 8, "digit": 15, "other": 37, "end": 110},
        "after upper": {"upper": 400, "lower": 290, "digit": 30, "other": 30, "end": 250},
        "after digit": {"digit": 500, "upper": 50, "lower": 50, "other": 100, "end": 300},
        "after other": {"lower": 480, "upper": 250, "digit": 200, "other": 30, "end": 40},
        "other character": {"_": 280, "-": 260, " ": 250, ".": 60, "rare": 150},
        "lower letter": {
            **{"e": 115, "a": 82, "t": 80, "i": 72, "o": 72, "n": 72, "s": 67, "r": 64, "l": 43},
            **{"d": 39, "c": 36, "h": 36, "u": 29, "m": 29, "p": 27, "g": 21, "f": 19, "y": 19},
            **{"b": 16, "w": 15, "v": 11, "k": 10, "x": 5, "j": 3, "q": 3, "z": 3},
        },
        "year": {"2000 to 2039": 850, "any": 150},
        "day": {"first of January": 280, "first of a month": 350, "any": 370},
        "time": {"midnight": 900, "hour": 60, "minute": 25, "second": 10, "exact": 5},
    }
)

# Steps of a grid: 5, 2 and 1 times powers of ten, downwards from the largest that fits the range.
GRID_STEPS = (60, 80, 120, 140, 140, 130, 110, 80, 50, 40, 30, 20)
# A decimal's number of digits, 1 to 17: no double needs more.
DECIMAL_DIGITS = (480, 300, 120, 50, 20, 10, 5, 3, 2, 1, 1, 1, 1, 1, 1, 2, 2)
ROUND_NUMBERS: Mapping[Fraction, int] = MappingProxyType(
    {
        Fraction(number): thousandths
        for number, thousandths in {
            **{"0": 120, "1": 60, "2": 40, "3": 35, "4": 20, "5": 45, "6": 12, "7": 15, "8": 15},
            **{"9": 6, "10": 60, "12": 15, "14": 4, "15": 25, "18": 10, "20": 40, "24": 8},
            **{"25": 20, "30": 40, "35": 8, "40": 20, "45": 10, "50": 40, "60": 25, "65": 10},
            **{"70": 10, "75": 10, "80": 15, "90": 20, "100": 50, "120": 8, "150": 8, "180": 6},
            **{"200": 15, "250": 6, "300": 8, "365": 5, "500": 12, "1000": 15, ".5": 25},
            **{".1": 12, ".9": 12, ".2": 8, ".8": 8, ".05": 8, ".25": 4, ".75": 4, ".01": 4},
        }.items()
    }
)
# How likely a column of each class is chosen, beside the others of its table: at the top of a
# value, at the top of a where, as a number, and as what two groups differ in.
CLASS_WEIGHTS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "v": {"flag": 10, "code": 4, "level": 2, "range": 6, "number": 2, "text": 1, "moment": 1},
        "w": {"flag": 5, "code": 10, "level": 7, "range": 5, "number": 2, "text": 2, "moment": 2},
        "n": {"level": 2, "range": 8, "number": 2},
        "contrast": {"flag": 2, "code": 8, "level": 2},
    }
)


@cache
def option(row: str, name: str) -> int:
    """Cost of an option of a row, in thousandths of a bit."""
    return option_millibits(PRODUCTIONS[row][name], 1000)


def share(row: str, name: str) -> Fraction:
    """The probability of an option of a row, for mixtures."""
    return Fraction(PRODUCTIONS[row][name], 1000)
