"""Kind of mechanism: what the catalogue says of it, and how a value of it is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from holdfast.did_you_mean import did_you_mean
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.claims import Claims
from holdfast.mechanisms.mechanism import Checker, Mechanism
from holdfast.mechanisms.terms import Terms
from holdfast.theory.planning import Method

__all__ = [
    "MechanismKind",
    "Planned",
    "chosen_options",
    "no_options",
    "short_half_width",
]


class Planned(NamedTuple):
    """Plan that an opening decides, once: the half-width and whatever else the mechanism fixes.

    `parameters` are plain values; the ledger keeps them, and `build` makes the mechanism of them.
    `assumes` names what the promise rests on beside the sampling, in words; `reveal_share` is the
    part of the failure probability that is kept for a statistic revealed at the end; `told` says,
    in one line, what was chosen by a theorem.
    """

    tolerance: float | None
    parameters: dict[str, Any]
    assumes: str | None = None
    reveal_share: float = 0.0
    told: str | None = None

    def terms(self, wanted: Terms) -> Terms:
        """The terms that were wanted, as they are now."""
        return replace(
            wanted,
            tolerance=self.tolerance,
            assumes=self.assumes,
            reveal_share=self.reveal_share,
        )


def short_half_width(width: float) -> float:
    """A half-width rounded up to thousandths, or to two digits where that is finer."""
    parts = 10.0 ** max(3, 1 - math.floor(math.log10(width)))
    return math.ceil(width * parts) / parts


@dataclass(frozen=True, slots=True)
class MechanismKind:
    """An entry of the catalogue.

    `plan(wanted, options)` is called once, when a ledger is opened, with the options that were
    given for the mechanism; it refuses (`ToleranceTooTight`) a half-width it cannot promise.
    `options` says what each of them is. A kind that is `trained` answers by what training rows say:
    it needs `train=`, and its wishes carry a guess without a claim. Guesses are checked beside it
    and gated by claims, unless it `refuses_checks`; with `claiming`, by what that makes of the
    parameters, and if that is None they are refused too. An audit makes every offer again; what it
    cannot see by that, an opening whose promise does not follow from what it says, a `fault` tells
    from the parameters, as far as so many questions go. What the promise `assumes` beside the
    sampling, in words, follows from the parameters, too.
    """

    name: str
    summary: str
    needs: str
    promises: str  # the theorem as people call it; for a baseline, why nothing is promised
    theorem: str | None  # its name in the registry; None where nothing is promised
    method: Method | None  # how it plans; None where it has no half-width for k questions
    plan: Callable[[Terms, Mapping[str, Any]], Planned]
    build: Callable[[Terms, Mapping[str, Any]], Mechanism]
    refuses_checks: str | None = None  # why guesses cannot be checked beside it, if they cannot
    options: Mapping[str, str] = field(default_factory=dict)
    trained: bool = False
    colour: str | None = None  # of its line in charts of plans; None: it has none of its own
    once: bool = False  # whether it answers one batch, and no more
    beside_described: bool = False  # whether its levels count what described answers leak
    private: bool = False  # whether all that it releases is differentially private
    claiming: Callable[[Terms, Mapping[str, Any], Claims], Checker | None] | None = None
    fault: Callable[[Terms, Mapping[str, Any], int], str | None] | None = None
    assumes: Callable[[Mapping[str, Any]], str | None] = lambda _parameters: None

    @property
    def page(self) -> str:
        """Path of its page, from the documentation's folder."""
        return f"mechanisms/{self.name.replace(' ', '-')}.md"


def no_options(name: str, options: Mapping[str, Any]) -> None:
    """Refuse options for a mechanism that has none."""
    if options:
        names = ", ".join(repr(option) for option in sorted(map(str, options)))
        raise InvalidArgument(f"{name} has no options; leave out {names}.")


def chosen_options(
    name: str, options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """The options given, over their defaults; one that the mechanism does not have is refused."""
    for option in options:
        if option not in defaults:
            hint = did_you_mean(option, defaults, f"it has {', '.join(defaults)}.")
            raise InvalidArgument(f"{name} has no option {option!r}; {hint}")
    return {**defaults, **options}
