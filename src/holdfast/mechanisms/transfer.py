"""Answers whose promise is a transfer theorem (T, M or D), and claims beside them.

Every answer is a sum of the sample in grid units plus noise of one law, both whole numbers. How far
the answers of an *epoch* can be from the truth was computed when the ledger was opened, for so many
questions, and is in the ledger; nothing of it is computed again when a question is asked. With a
declared number of questions there is one epoch; open-ended there are several, each with a part of
the failure probability, each counting all answers before it.

What the theorems need: rows that are independent of each other, alike or not (row i is compared
with its own law), values whose sum one row moves by at most 2^30 units, and averages of all rows.
The sum is rounded down once; that moves with one row by no more than the row itself does.

**Beside the leakage account.** With `Beside`, checks of guesses may come between: their charges, on
any path, stay within `nats`, and the epochs run at a level lower by as much. An answer with noise
is then also a question of the leakage account, with its own radius, share and charge, so that later
checks carry it. The failure probability is divided between the two accounts in advance.

**Private.** With `delta`, the delta at which privacy is stated, all answers are differentially
private, each as much as every other. A statistic with a declared `change` is then answered too: it
is put on a grid, and the cells that a row can move it, rounded up, get noise in the same proportion
as the 2^30 units of an average; its interval has the same proportion to that of an average.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import accumulate
from math import fsum
from typing import Any, NamedTuple, Protocol

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.errors import (
    BudgetExhausted,
    InvalidArgument,
    InvalidQuestion,
    Refused,
    Shortfall,
    ToleranceTooTight,
)
from holdfast.lazy import load
from holdfast.mechanisms.catalogue import Planned, chosen_options
from holdfast.mechanisms.claims import Claims
from holdfast.mechanisms.leakage import NoisyAnswers, require_room
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Grid, Law, Noise
from holdfast.mechanisms.privacy import Privacy, privacy_of
from holdfast.mechanisms.terms import (
    WHOLE_RANGE,
    Account,
    PartStages,
    Terms,
    number_of_parts,
    recorded_profile,
)
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import log_add, log_up, round_down, round_up
from holdfast.theory.transfer.epochs import interleaved_log_beta
from holdfast.wording import plural, upwards

LIMITED_CLAIMS = "limited claims"  # what the mechanisms that check and gate beside it have leaked
FINE = 2**20  # cells that one row can move a statistic with a declared change
_NUMERICS = 1e-6  # of a half-width: transforms on other machines agree far better than this
_ROUNDED = 1e-9  # of a half-width: what a proportion may be rounded up by


@dataclass(frozen=True, slots=True)
class Epoch:
    """So many questions, the scale of their noise (in grid units of a sum), level and half-width.

    `log_beta` is the level at which the theorem is used; beside a leakage account it is lower than
    the epoch's part of the failure probability by the account's nats.
    """

    questions: int
    scale: int
    log_beta: float
    half_width: float

    def noise(self, rows: int) -> Fraction:
        """The scale as a fraction of an average's range."""
        return Fraction(self.scale, rows * GRID)


@dataclass(frozen=True, slots=True)
class Beside:
    """The leakage account beside it: the most nats its charges may sum to, and its level."""

    nats: float
    confidence_level: float

    def terms(self, terms: Terms) -> Terms:
        """The terms as far as the leakage account goes: its part of the failure probability."""
        return replace(terms, confidence_level=self.confidence_level)


class TransferTheorem(Protocol):
    """Transfer theorem of a noise, as a frozen value."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str:
        """As people call it."""
        ...

    def half_width(self, rows: int, epochs: Sequence[Epoch]) -> float:
        """Half-width for the last of these epochs, the roundings of the release included."""
        ...


@dataclass(frozen=True, slots=True)
class Transfer(NoisyAnswers):
    """Answers without a guess, under one law of noise."""

    name: str
    law: Law
    theorem: TransferTheorem
    epochs: tuple[Epoch, ...]
    beside: Beside | None = None
    delta: float | None = None

    def privacy(self, account: Account) -> Privacy | None:
        """Privacy loss of the answers so far, at most; None if they are not private."""
        if self.delta is None:
            return None
        loss = round_up(GRID / min(epoch.scale for epoch in self.epochs))
        return privacy_of(self.law, loss, account.asked, math.log(self.delta))

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        return [
            self._offer(terms, account, wish, position)
            for position, wish in enumerate(wishes, start=1)
        ]

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        """Questions of the epochs that reach the declared tolerance."""
        ends = accumulate(epoch.questions for epoch in self.epochs)
        within = [
            end
            for end, epoch in zip(ends, self.epochs, strict=True)
            if epoch.half_width <= terms.half_width
        ]
        return max(0, max(within, default=0) - account.asked) // number_of_parts(stages)

    def fault(self, terms: Terms, questions: int) -> str | None:
        """Whether the theorem gives what the opening says, for the epochs up to this question's."""
        last, _ = self._epoch_of(questions) or (len(self.epochs), None)
        beta, nats = 1 - terms.confidence_level, 0.0
        if self.beside is not None:
            beta -= 1 - self.beside.confidence_level
            nats = self.beside.nats
        spent = math.fsum(math.exp(epoch.log_beta + nats) for epoch in self.epochs)
        faults = {
            "its theorem needs independent rows": not terms.independent,
            "columns of a design, public ones and a key are not private": (
                self.delta is not None and terms.independent and not terms.alike
            ),
            "the opening gives out more than the failure probability": spent > beta * (1 + 1e-9),
            "the opening provides for fewer questions than were declared": (
                terms.questions is not None and self._provided < terms.questions
            ),
        }
        for fault, is_fault in faults.items():
            if is_fault:
                return fault
        least = _proved(self.theorem, terms.rows, self.epochs[:last])
        if self.epochs[last - 1].half_width < least * (1 - _NUMERICS):
            return f"the opening's half-width is below what {self.theorem.name} gives"
        return None

    def _offer(self, terms: Terms, account: Account, wish: Wish, position: int) -> Offer:
        question, number = wish.question, account.asked + position
        change = self._change(question, terms.rows)
        epoch_parameters = self._epoch_of(number)
        if epoch_parameters is None:
            raise BudgetExhausted(
                f"requested question {number:,}; remaining 0 of the {self._provided:,} that were "
                "provided for; missing 1. Repeating an earlier question is free; new questions "
                "need fresh rows in a new ledger.",
                Shortfall("questions", 1, 0),
            )
        last, epoch = epoch_parameters
        width = _width(terms.rows, epoch, change)
        if width > wish.tolerance * (1 + _ROUNDED):
            raise self._too_tight(account, wish.tolerance, width, last)
        grid = self._grid_for(terms.rows, epoch, change)
        profile = question.concentration(terms.rows, terms.sampling)
        alone = Offer(
            number=account.looks + position,
            question=question.text,
            tolerance=width,
            grid=grid,
            worst_charge=0.0,
            log_share=round_down(min(0.0, epoch.log_beta) - math.log(epoch.questions)),
            profile=None if change is None else recorded_profile(profile, terms, question),
        )
        if self.beside is None:
            return alone
        log_share = self.beside.terms(terms).log_share(number)
        own = round_down(min(0.0, epoch.log_beta + self.beside.nats) - math.log(epoch.questions))
        alone = replace(alone, log_share=log_add(own, log_share))
        return self._on_account(terms, account, wish, alone, log_share)

    @property
    def _provided(self) -> int:
        return sum(epoch.questions for epoch in self.epochs)

    def _epoch_of(self, number: int) -> tuple[int, Epoch] | None:
        """Number of epochs up to that of a question, and that one."""
        ends = accumulate(epoch.questions for epoch in self.epochs)
        return next(
            (
                (place, epoch)
                for place, (end, epoch) in enumerate(zip(ends, self.epochs, strict=True), start=1)
                if number <= end
            ),
            None,
        )

    def _change(self, question: Statistic, rows: int) -> float | None:
        """The part of its range that one row can move a declared statistic; None for averages."""
        if question.row is not None and question.rows(rows) == rows:
            return None
        if self.delta is None:
            raise InvalidQuestion(
                f"{self.theorem.name} is about averages of all rows, of values in a range, and "
                f"{question.text} is not one; ask it in a ledger opened with mechanism='bounded "
                "noise'."
            )
        from holdfast.statistics.whole import TableFunction  # rules that a plan does not need

        if isinstance(question, TableFunction) and question.change is not None:
            return min(1.0, round_up(question.change / (question.high - question.low)))
        raise InvalidQuestion(
            "Private answers are given to averages of all rows, of values in a range, and to "
            "statistics with a declared change=, the most that one row can do; this question is "
            "neither."
        )

    def _grid_for(self, rows: int, epoch: Epoch, change: float | None) -> Grid:
        if change is None:
            cells = self.law.parts * rows * GRID
            return Grid(cells, epoch.scale, self.law.reach(epoch.scale))
        cells = math.ceil(FINE / Fraction(change))
        # An even number of cells: for an odd one total variation is above the continuous law's.
        moved = 2 * math.ceil(Fraction(change) * cells / 2)
        scale = math.ceil(moved * Fraction(epoch.scale, GRID))
        return Grid(cells, scale, self.law.reach(scale))

    def _too_tight(
        self, account: Account, tolerance: float, half_width: float, epochs: int
    ) -> Refused:
        shortfall = Shortfall("half-width", tolerance, half_width)
        request = f"requested half-width {tolerance:.6g} of the range; "
        best = f"the best possible here is +-{upwards(half_width)}. "
        if epochs > 1:
            return BudgetExhausted(
                f"{request}after {account.asked:,} questions {best}Ask with a "
                "larger tolerance=, repeat earlier questions for free, or use fresh rows in a new "
                "ledger.",
                shortfall,
            )
        return ToleranceTooTight(
            f"{request}{best}Ask for a larger tolerance, declare "
            "fewer questions, or use more rows.",
            shortfall,
        )

    def _on_account(
        self, terms: Terms, account: Account, wish: Wish, offer: Offer, log_share: float
    ) -> Offer:
        """The offer as a question of the leakage account too, of which it takes this share."""
        log_p = round_down(log_share - account.nats)
        error = wish.question.error
        radius = round_up(terms.concentration.radius(log_p) + error)
        charge = self.law.log_charge(radius, offer.own_grid)
        return replace(offer, worst_charge=charge, log_p=log_p, radius=radius)


def leaked_by_claims(account: Account) -> float:
    """The charges of all claims beside a transfer mechanism, in nats: their own memory.

    One that was given up after a crash is not among them, for nobody saw its symbol.
    """
    return float(account.memory.get(LIMITED_CLAIMS, 0.0))


def _width(rows: int, epoch: Epoch, change: float | None) -> float:
    """The half-width, for what a row can do in units of what it does to an average."""
    return epoch.half_width if change is None else round_up(rows * change * epoch.half_width)


@cache
def _proved(theorem: TransferTheorem, rows: int, epochs: tuple[Epoch, ...]) -> float:
    """Cache of what the theorem gives, computed once in a process: it takes a transform."""
    return theorem.half_width(rows, epochs)


def transfer_from_dict(
    name: str, law: Law, theorem: TransferTheorem, parameters: Mapping[str, Any]
) -> Transfer:
    """The mechanism that an opening's parameters describe."""
    beside = parameters["beside"]
    return Transfer(
        f"{name}/1",
        law,
        theorem,
        tuple(Epoch(**epoch) for epoch in parameters["epochs"]),
        None if beside is None else Beside(**beside),
        parameters.get("delta"),
    )


# What an opening decides for a transfer mechanism: levels, epochs and half-widths, once.


# Open-ended: so many epochs, each twice as long as the one before, have the declared tolerance;
# some more come after them, wider and wider. The fewer questions there can be, the fewer epochs.
DECLARED_EPOCHS = (7, 4, 2, 1)
LEAST_FIRST_EPOCH = 8
OPEN_TOLERANCE = 0.05
LEAKAGE_OPTIONS: Mapping[str, str] = {
    "leakage_nats": "checks of guesses may come between, and leak so many nats in all",
    "leakage_share": "the part of the failure probability that is for those checks; 0.5",
}
_SIZES = {"gaussian": "sigma", "laplace": "scale"}
_DELTA_PART = 0.25  # of the failure probability: the delta of certificates that name none
_MORE_NOISE = 1 + 2.0**-20  # than is declared: whole numbers do not take of it
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
    name: str, wanted: Terms, options: Mapping[str, Any], meanings: Mapping[str, str]
) -> dict[str, Any]:
    """The options, None where not given; refused for rows that the theorem does not cover."""
    chosen = chosen_options(name, options, dict.fromkeys(meanings))
    if not wanted.independent:
        raise InvalidArgument(
            f"{name} needs independent rows, and sampling is {wanted.sampling}; use "
            "mechanism='bounded noise', which needs only a concentration."
        )
    return chosen


def noise_options(law: Law) -> dict[str, str]:
    """Options by which the noise itself is declared, as the lectures do."""
    return {
        _SIZES[
            law.name
        ]: "the noise, a part of the range (default: what makes the half-width least)",
        "expected_error": "the expected generalisation error of a question chosen from all "
        "answers, by L15; it sets the noise",
    }


class DeclaredNoise(NamedTuple):
    """Noise that was declared, as a part of the range, and what for."""

    size: float
    told: str

    def planned_words(self, width: float, theorem: str, questions: int) -> str:
        """What it promises, in one line."""
        return (
            f"{self.told}; by {theorem} {plural(questions, 'answer')} keep to "
            f"+-{upwards(width)} of the range"
        )


def declared_noise(wanted: Terms, law: Law, options: Mapping[str, Any]) -> DeclaredNoise | None:
    """The noise that the options declare; None where they leave it to the half-width."""
    size, error = _SIZES[law.name], options["expected_error"]
    noise = options[size]
    if noise is None and error is None:
        return None
    if noise is not None and error is not None:
        raise InvalidArgument(f"expected_error sets {size}, and both are given; leave one out.")
    if wanted.questions is None:
        raise InvalidArgument("the noise is declared for a number of answers: give questions=.")
    if noise is not None:
        noise = require.between(size, noise, 1e-9, 1e3)
        return DeclaredNoise(noise, f"noise of {size} {noise:g}")
    delta = (1 - wanted.confidence_level) * _DELTA_PART
    needed = load("papers.stability.noise_needed")(wanted.rows, wanted.questions, error, delta)
    noise = getattr(needed, law.name) * _MORE_NOISE
    words = (
        f"noise of {size} {noise:.4g} for an expected generalisation error of {error:g} "
        f"(L15, delta {delta:g})"
    )
    return DeclaredNoise(noise, words)


def level_of(wanted: Terms, options: Mapping[str, Any]) -> Level:
    """Level: the failure probability; or, with leakage_nats, the part that checks leave of it."""
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
    if wanted.pots.log_weight:
        whole = round_down(whole * math.exp(wanted.pots.log_weight))
    level = math.nextafter(1.0 - share * whole, 1.0)  # its failure probability is no more than that
    remaining = round_down(whole - (1.0 - level))
    if level == 1.0 or remaining <= 0.0:
        raise InvalidArgument(
            f"confidence_level is {wanted.confidence_level!r}: too little is left to divide; "
            "leave leakage_nats out."
        )
    return Level(interleaved_log_beta(round_down(math.log(remaining)), nats), Beside(nats, level))


def planned(
    wanted: Terms,
    level: Level,
    epochs: Sequence[Epoch],
    parameters: dict[str, Any],
    told: str | None = None,
) -> Planned:
    """The opening's decision: a declared tolerance stays, and answers may be narrower than it."""
    width = epochs[0].half_width
    if told is not None and width > (wanted.tolerance or math.nextafter(WHOLE_RANGE, 0.0)):
        raise wide_noise(told)
    if width >= WHOLE_RANGE or (wanted.tolerance is not None and width > wanted.tolerance):
        raise too_few_rows(wanted, width)
    stored = {**plain_parameters(epochs, level.beside), **parameters}
    if wanted.questions is None:
        return Planned(wanted.tolerance or OPEN_TOLERANCE, stored)
    return Planned(wanted.tolerance or width, stored, told=told)


def wide_noise(told: str) -> ToleranceTooTight:
    """Refusal of a declared noise whose answers would say nothing, or not enough."""
    return ToleranceTooTight(
        f"{told}, which is wider than what was declared, or than the range. Use more rows, or "
        "declare less noise, a larger expected error or fewer questions."
    )


def plain_parameters(epochs: Sequence[Epoch], beside: Beside | None = None) -> dict[str, Any]:
    """Parameters that a ledger stores of every transfer mechanism, as plain values."""
    return {
        "epochs": [asdict(epoch) for epoch in epochs],
        "beside": None if beside is None else asdict(beside),
    }


def scale_of(noise: float, rows: int) -> int:
    """A noise that is a fraction of the range in grid units of a sum, no less of it."""
    return math.ceil(Fraction(noise) * rows * GRID)


def whole_numbers(rows: int, largest: float) -> float:
    """Rounding to whole numbers: what it adds to a half-width, for the largest noise in scales.

    The scale is up to a unit larger, noise or sum is off by half a unit, and values are rounded.
    """
    return round_up((largest + 0.5) / (rows * GRID) + GRID_ERROR)


def too_few_rows(wanted: Terms, width: float | None = None) -> ToleranceTooTight:
    """Refusal to open: the half-width that these rows would have, and what to do."""
    many = "any number of" if wanted.questions is None else f"{wanted.questions:,}"
    aim = wanted.half_width
    if wanted.questions is None:
        aim = wanted.tolerance or OPEN_TOLERANCE
    possible = "are too few" if width is None else f"allow +-{upwards(width)} at best"
    return ToleranceTooTight(
        f"requested half-width {aim:.6g} of the range for {many} questions; {wanted.rows:,} rows "
        f"{possible}. Declare fewer questions or a larger tolerance, or use more rows; "
        "holdfast plan says what fits."
    )


# Claims beside a transfer mechanism: on the leakage account, within the nats set aside for them.
#
# The transfer theorem runs at a level lowered by those nats, which their charges must never
# exceed; so a claim is refused when its worst charge would. Levels count everything that leaked,
# the noisy answers too, and what is left is of the leakage account's own part of the failure
# probability.


@dataclass(frozen=True, slots=True)
class LimitedClaims:
    """Checks or gates, with a limit to what they may leak in all."""

    beside: Beside
    claims: Claims

    @property
    def name(self) -> str:
        return f"limited {self.claims.name}"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        own = self.beside.terms(terms)
        offers = self.claims.offer(own, _spending_only(own, account), wishes)
        worst, remaining = fsum(offer.worst_charge for offer in offers), self.nats_left(account)
        if worst > remaining:
            raise BudgetExhausted(
                f"requested up to {worst:.4g} nats for a claim; remaining {remaining:.4g} of the "
                f"{self.beside.nats:g} set aside for claims (leakage_nats); missing "
                f"{worst - remaining:.3g}. Use ask, claim less at once, or set more aside in a "
                "new ledger with fresh rows."
            )
        return offers

    def nats_left(self, account: Account) -> float:
        """Nats that claims may still leak, rounded down."""
        return max(0.0, round_down(self.beside.nats - leaked_by_claims(account)))

    def respond(
        self,
        terms: Terms,
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        return self.claims.respond(self.beside.terms(terms), offers, questions, sample, noise)

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return self.claims.settle(offers, symbols)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        leaked = leaked_by_claims(account)
        for release in releases:
            leaked = round_up(leaked + release.charge, 1)
        return self.claims.advance(account, offers, releases).remembering(LIMITED_CLAIMS, leaked)

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        return self.claims.questions_left(self.beside.terms(terms), account, stages)

    def surprises_left(self, terms: Terms, account: Account, profile: Concentration) -> int:
        """Number of guesses in a row that may be refuted within the nats set aside."""
        return self.claims.surprises_left(
            self.beside.terms(terms), account, profile, self.nats_left(account)
        )


def _spending_only(own: Terms, account: Account) -> Account:
    """The account with what asks took of the leakage account's part alone, not of the epochs'."""
    shares = [math.exp(own.log_share(number)) for number in range(1, account.asked + 1)]
    spent = log_up(math.log(fsum(shares))) if shares else -math.inf
    return replace(account, leakage=replace(account.leakage, log_beta_spent=spent))


def limited(transfer: Transfer, claims: Claims) -> LimitedClaims | None:
    """Claims beside a transfer mechanism; None where nothing was set aside for them."""
    return None if transfer.beside is None else LimitedClaims(transfer.beside, claims)
