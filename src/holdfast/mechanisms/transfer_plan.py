"""What an opening decides for a transfer mechanism: levels, epochs and half-widths, once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument, ToleranceTooTight
from holdfast.mechanisms.kind import Planned, chosen_options
from holdfast.mechanisms.terms import WHOLE_RANGE, Terms
from holdfast.mechanisms.transfer import Beside, Epoch
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.transfer.epochs import interleaved_log_beta

__all__ = [
    "DECLARED_EPOCHS",
    "LEAKAGE_OPTIONS",
    "LEAST_FIRST_EPOCH",
    "OPEN_TOLERANCE",
    "REFUSES_CHECKS",
    "Level",
    "checked_options",
    "level_of",
    "plain_parameters",
    "planned",
    "scale_of",
    "too_few_rows",
    "whole_numbers",
]

# Open-ended: so many epochs, each twice as long as the one before, have the declared tolerance;
# some more come after them, wider and wider. The fewer questions there can be, the fewer epochs.
DECLARED_EPOCHS = (7, 4, 2, 1)
LEAST_FIRST_EPOCH = 8
OPEN_TOLERANCE = 0.05
LEAKAGE_OPTIONS: Mapping[str, str] = {
    "leakage_nats": "checks of guesses may come between, and leak so many nats in all",
    "leakage_share": "the part of the failure probability that is for those checks; 0.5",
}
REFUSES_CHECKS = (
    "its theorem does not count what checks give away. To check guesses beside it, open a ledger "
    "with options={'leakage_nats': ...}, which sets that much aside."
)
_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Level:
    """ln of the failure probability at which the epochs run, and the leakage account beside."""

    log_beta: float
    beside: Beside | None


def checked_options(
    name: str, wanted: Terms, options: Mapping[str, Any], known: Mapping[str, str]
) -> dict[str, Any]:
    """The options, None where not given; refused for rows that the theorem does not cover."""
    chosen = chosen_options(name, options, dict.fromkeys(known))
    if not wanted.independent:
        raise InvalidArgument(
            f"{name} needs independent rows, and sampling is {wanted.sampling}; use "
            "mechanism='bounded noise', which needs only a concentration."
        )
    return chosen


def level_of(wanted: Terms, options: Mapping[str, Any]) -> Level:
    """All of the failure probability; or, with leakage_nats, the part that checks leave of it."""
    nats, share = options["leakage_nats"], options["leakage_share"]
    if nats is None:
        if share is not None:
            raise InvalidArgument(
                "leakage_share divides the failure probability with checks, and without "
                "leakage_nats there are none; give both, or neither."
            )
        return Level(wanted.log_beta, None)
    nats = require.positive("leakage_nats", nats)
    share = _SHARE if share is None else require.probability("leakage_share", share)
    whole = 1.0 - wanted.confidence_level
    level = math.nextafter(1.0 - share * whole, 1.0)  # its failure probability is no more than that
    left = round_down(whole - (1.0 - level))
    if level == 1.0 or left <= 0.0:
        raise InvalidArgument(
            f"confidence_level is {wanted.confidence_level!r}: too little is left to divide; "
            "leave leakage_nats out."
        )
    return Level(interleaved_log_beta(round_down(math.log(left)), nats), Beside(nats, level))


def planned(
    wanted: Terms, level: Level, epochs: Sequence[Epoch], parameters: dict[str, Any]
) -> Planned:
    """The opening's decision: a declared tolerance stays, and answers may be narrower than it."""
    width = epochs[0].half_width
    if width >= WHOLE_RANGE or (wanted.tolerance is not None and width > wanted.tolerance):
        raise too_few_rows(wanted, width)
    kept = {**plain_parameters(epochs, level.beside), **parameters}
    if wanted.questions is None:
        return Planned(wanted.tolerance or OPEN_TOLERANCE, kept)
    return Planned(wanted.tolerance or width, kept)


def plain_parameters(epochs: Sequence[Epoch], beside: Beside | None = None) -> dict[str, Any]:
    """What a ledger keeps of every transfer mechanism, as plain values."""
    return {
        "epochs": [asdict(epoch) for epoch in epochs],
        "beside": None if beside is None else asdict(beside),
    }


def scale_of(noise: float, rows: int) -> int:
    """A noise that is a fraction of the range in grid units of a sum, no less of it."""
    return math.ceil(Fraction(noise) * rows * GRID)


def whole_numbers(rows: int, largest: float) -> float:
    """What whole numbers add to a half-width, for the largest noise in scales.

    The scale is up to a unit larger, noise or sum is off by half a unit, and values are rounded.
    """
    return round_up((largest + 0.5) / (rows * GRID) + GRID_ERROR)


def too_few_rows(wanted: Terms, width: float | None = None) -> ToleranceTooTight:
    """Why nothing is opened: the half-width that these rows would have, and what to do."""
    many = "an open number of" if wanted.questions is None else f"{wanted.questions:,}"
    asked = wanted.half_width
    if wanted.questions is None:
        asked = wanted.tolerance or OPEN_TOLERANCE
    possible = "are too few" if width is None else f"have {width:.6g}"
    missing = "" if width is None else f", so {width - asked:.3g} are missing"
    return ToleranceTooTight(
        f"requested half-width {asked:.6g} of the range for {many} questions; {wanted.rows:,} rows "
        f"{possible}{missing}. Declare fewer questions or a larger tolerance, or use more rows; "
        "holdfast plan says what fits."
    )
