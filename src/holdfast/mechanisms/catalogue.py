"""Catalogue of mechanisms that a holdout can be opened with, by name. One adds its entry here.

`mechanism="auto"` is bounded noise or median noise, whichever the planner says is narrower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from holdfast.did_you_mean import did_you_mean
from holdfast.errors import InvalidArgument
from holdfast.lazy import load
from holdfast.mechanisms.claims import Claims
from holdfast.mechanisms.mechanism import Checker, Mechanism
from holdfast.mechanisms.terms import Terms
from holdfast.theory.planning import KnownRows, Method

# A kind of mechanism: what the catalogue says of it, and how a value of it is made.


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


# Which module has which entry: a ledger needs one of them.
_HOMES = {
    "bounded noise": "mechanisms.bounded_noise.BOUNDED_NOISE",
    "median noise": "mechanisms.median_noise.MEDIAN_NOISE",
    "gaussian": "mechanisms.gaussian.GAUSSIAN",
    "rounding": "mechanisms.bounded_noise.ROUNDING",
    "sample splitting": "papers.sample_splitting.SAMPLE_SPLITTING",
    "halting guess and check": "papers.guess_and_check.GUESS_AND_CHECK",
    "one look": "mechanisms.one_look.ONE_LOOK",
    "thresholdout": "papers.thresholdout.THRESHOLDOUT",
    "ladder": "papers.ladder.LADDER",
    "parameter-free ladder": "papers.ladder.PARAMETER_FREE_LADDER",
    "exact": "papers.exact_answers.EXACT",
    "typical laplace": "papers.typical.TYPICAL_LAPLACE",
    "typical gaussian": "papers.typical.TYPICAL_GAUSSIAN",
    "private laplace": "mechanisms.private.PRIVATE_LAPLACE",
    "private gaussian": "mechanisms.private.PRIVATE_GAUSSIAN",
}

_DESCRIBED_ONLY = "mechanisms.described.DESCRIBED_ONLY"
_PUBLISHED = "papers.theorems.published.published_methods"


class _Catalogue(Mapping[str, MechanismKind]):
    """The entries by their names, in the order of the pages; each loaded when it is looked up."""

    def __init__(self) -> None:
        self._loaded: dict[str, MechanismKind] = {}

    def __getitem__(self, name: str) -> MechanismKind:
        if name not in self._loaded:
            self._loaded[name] = load(_HOMES[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)

    def __contains__(self, name: object) -> bool:
        return name in _HOMES


CATALOGUE: Mapping[str, MechanismKind] = _Catalogue()


def kind_of(name: object) -> MechanismKind:
    """The catalogue's entry of a name."""
    if name == "described only":  # what is there where nothing is to be chosen
        only: MechanismKind = load(_DESCRIBED_ONLY)
        return only
    if isinstance(name, str) and name in CATALOGUE:
        return CATALOGUE[name]
    hint = did_you_mean(name, CATALOGUE, "see: holdfast mechanisms")
    raise InvalidArgument(f"mechanism is {name!r}, which is not in the catalogue; {hint}")


def methods(*, describing: bool = False) -> tuple[Method, ...]:
    """Methods of planning, and what papers promise; of checks see `check_method`.

    With `describing`, what promises is only what can stand beside described answers.
    """
    own = (
        kind.method
        for kind in CATALOGUE.values()
        if kind.method is not None
        and (not describing or kind.beside_described or kind.method.kind != "promise")
    )
    published: tuple[Method, ...] = load(_PUBLISHED)()
    return (*own, *published)


def built(recorded: Mapping[str, Any], terms: Terms) -> Mechanism:
    """The mechanism that a ledger was opened with, from what its opening says."""
    return kind_of(recorded["name"]).build(terms, recorded["parameters"])


def claiming(recorded: Mapping[str, Any], terms: Terms, claims: Claims) -> Checker | None:
    """Checker, or gate, beside the mechanism that a ledger was opened with; None: nothing."""
    kind = kind_of(recorded["name"])
    if kind.claiming is not None:
        return kind.claiming(terms, recorded["parameters"], claims)
    return claims if kind.refuses_checks is None else None


# The choice where none was named.


AUTO = "auto"
CONTENDERS = ("bounded noise", "median noise")


class Choice(NamedTuple):
    """A mechanism, and why it was chosen, in words; None where it was named."""

    kind: MechanismKind
    why: str | None


def choose(wanted: Terms, options: Mapping[str, Any]) -> Choice:
    """The mechanism for what was declared; a function of declarations alone."""
    no_options(AUTO, options)
    bounded_noise = kind_of(CONTENDERS[0])
    if wanted.describes:
        return Choice(
            bounded_noise,
            "bounded noise: described answers leak what is not known beforehand, and median noise "
            "has to know; with described='off' it is looked at",
        )
    if wanted.questions is None:
        return Choice(
            bounded_noise,
            "bounded noise: the number of questions is open, and median noise is at its best for "
            "a declared number (questions=)",
        )
    if not wanted.independent:
        return Choice(
            bounded_noise,
            f"bounded noise: median noise needs independent rows, not {wanted.sampling}",
        )
    median_noise = kind_of(CONTENDERS[1])
    bounded, median = (_half_width(wanted, kind) for kind in (bounded_noise, median_noise))
    here = f"for {wanted.questions:,} questions on {wanted.rows:,} independent rows"
    if median >= bounded:
        return Choice(
            bounded_noise,
            f"bounded noise: half-width {_text(bounded)} {here}, where median noise would have "
            f"{_text(median)}",
        )
    if wanted.tolerance is not None and median > wanted.tolerance:
        return Choice(
            bounded_noise,
            f"bounded noise: neither it ({_text(bounded)}) nor median noise ({_text(median)}) "
            f"has half-width {wanted.tolerance:g} {here}, and bounded noise can answer some of "
            "them, and check guesses",
        )
    return Choice(
        median_noise,
        f"median noise: half-width {_text(median)} {here}, where bounded noise would have "
        f"{_text(bounded)}; it answers averages of all rows and checks no guesses, for which "
        "mechanism='bounded noise' is there",
    )


def _half_width(wanted: Terms, kind: MechanismKind) -> float:
    """The planner's half-width; infinite where it cannot."""
    if kind.method is None:
        return math.inf
    rows = KnownRows(wanted.sampling.profile)
    width = kind.method.half_width(rows, wanted.rows, wanted.questions or 1, wanted.log_beta)
    return math.inf if width is None else width


def _text(width: float) -> str:
    return "0.5 or more" if width == math.inf else f"{width:.4g}"
