"""One look: questions chosen together, answered exactly with ordinary intervals; then it closes.

Before the look nothing has leaked, so each question of the batch is a question fixed in advance:
its ordinary interval at level beta/m, m the size of the batch, is true, and all are true together.
On independent rows it is Clopper and Pearson's for a condition (rows alike) and Chernoff's (KL) for
any other average; otherwise the sample's value -+ the radius. None is wider than the radius.

The exact value shows more than any charge could pay for: the ledger answers nothing new after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from holdfast.errors import BudgetExhausted, Shortfall
from holdfast.mechanisms.catalogue import MechanismKind, Planned, no_options
from holdfast.mechanisms.exact import ExactValues, alphabet_log_charge, exact_grid
from holdfast.mechanisms.leakage import declared_or_least, too_tight
from holdfast.mechanisms.mechanism import (
    Offer,
    Release,
    Symbol,
    Wish,
    cell_of,
    charged,
    each_settled,
    value_of,
)
from holdfast.mechanisms.terms import (
    WHOLE_RANGE,
    Account,
    PartStages,
    Terms,
    number_of_parts,
    recorded_profile,
)
from holdfast.question.row import GRID_ERROR
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.intervals import Interval, clopper_pearson, kl_interval
from holdfast.theory.base.safeside import largest_integer, round_up
from holdfast.theory.leakage.nats import fixed_share
from holdfast.theory.planning import on_account
from holdfast.wording import plural

# How an interval is made of a value: exactly, by Chernoff's inequality, or by the radius alone.
_BINOMIAL, _CHERNOFF, _RADIUS = "binomial", "chernoff", "radius"


@dataclass(frozen=True, slots=True)
class OneLook(ExactValues):
    """One batch; the offers' `extra` says how the interval is made, and of how many rows.

    If the half-width was `declared`, what is wider is refused; else each question has its own, so
    that a group of fewer rows is answered too.
    """

    name: ClassVar[str] = "one look/1"

    declared: bool = True

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        size = len(wishes)
        _require_first(terms, account, size)
        log_share = fixed_share(terms.log_beta, size)
        return [
            self._offer(terms, wish, number, size, log_share)
            for number, wish in enumerate(wishes, start=1)
        ]

    def _offer(self, terms: Terms, wish: Wish, number: int, size: int, log_share: float) -> Offer:
        question = wish.question
        profile = question.concentration(terms.rows, terms.sampling)
        radius = round_up(profile.radius(log_share) + question.error)
        wanted = wish.tolerance
        if not self.declared and wanted == terms.half_width * question.unit(terms.rows):
            wanted = WHOLE_RANGE
        if radius > wanted:
            raise too_tight(wanted, radius, question)
        grid = exact_grid(question, terms.rows)
        return Offer(
            number=number,
            question=question.text,
            tolerance=radius,
            grid=grid,
            worst_charge=alphabet_log_charge(grid.last + 1),
            log_share=log_share,
            log_p=log_share,
            radius=radius,
            profile=recorded_profile(profile, terms, question),
            extra={"size": size, "rows": question.rows(terms.rows), "by": _way(terms, wish)},
        )

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._release, offers, symbols)

    def _release(self, offer: Offer, symbol: Symbol) -> Release:
        value, interval = ordinary_interval(offer, symbol)
        return Release(offer.number, "answered", value, interval, offer.worst_charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return charged(account, offers, [release.charge for release in releases])

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        """Number of questions that can be asked together, each with all its parts."""
        parts = number_of_parts(stages)
        most = 0 if account.asked else (terms.questions or 1) // parts
        if not self.declared or not stages:
            return most

        def fits(count: int) -> bool:
            log_share = fixed_share(terms.log_beta, count * parts)
            return all(
                part.radius(log_share) <= terms.half_width * part.unit
                for stage in stages
                for part in stage
            )

        return largest_integer(fits, most=most) if most else 0


def _way(terms: Terms, wish: Wish) -> str:
    """Way in which the interval of a value is made."""
    row = wish.question.row
    if row is None or not terms.independent:
        return _RADIUS
    return _BINOMIAL if row.is_condition and wish.of_alike_rows(terms) else _CHERNOFF


def ordinary_interval(offer: Offer, symbol: Symbol) -> tuple[float, Interval]:
    """The exact value and its interval at the offer's level, inside value -+ radius."""
    value, (log_p, radius) = value_of(offer, symbol), offer.statement
    around = Interval(max(0.0, value - radius), min(1.0, value + radius))
    extra = offer.extra or {}
    rows = extra["rows"]
    match extra["by"]:
        case "binomial":
            interval = clopper_pearson(rows, cell_of(offer, symbol), log_p)
        case "chernoff":
            # The mean of the values themselves is in [below, above], for they were rounded.
            error = 0.0 if offer.own_grid.cells == rows else GRID_ERROR
            below, above = max(0.0, value - error), min(1.0, value + error)
            interval = Interval(
                kl_interval(rows, below, log_p).low,
                kl_interval(rows, above, log_p).high,
            )
        case _:
            interval = around
    return value, Interval(max(around.low, interval.low), min(around.high, interval.high))


def _require_first(terms: Terms, account: Account, size: int) -> None:
    declared = terms.questions or 1
    if account.asked:
        raise BudgetExhausted(
            f"requested {plural(size, 'more question')}; remaining 0 after the one look; "
            f"missing {size:,}. Repeating an earlier question is free; new ones need fresh rows in "
            "a new ledger.",
            Shortfall("questions", size, 0),
        )
    if size > declared:
        raise BudgetExhausted(
            f"requested {size:,} questions together; remaining one look at {declared:,}; missing "
            f"{size - declared:,}. Declare questions={size} when the ledger is opened.",
            Shortfall("questions", size, declared),
        )


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    no_options("one look", options)
    log_share = fixed_share(wanted.log_beta, wanted.questions or 1)
    radius = round_up(wanted.sampling.profile(wanted.rows).radius(log_share) + GRID_ERROR)
    declared = wanted.tolerance is not None
    return Planned(declared_or_least(wanted, radius), {"declared": declared})


def _fixed_width(profile: Concentration, questions: int, log_beta: float) -> float:
    return profile.radius(fixed_share(log_beta, questions))


ONE_LOOK = MechanismKind(
    name="one look",
    summary="Questions chosen together, answered exactly, once; then the ledger is closed.",
    needs="All questions at once, in one ask_many; any rows, any statistic of one stage.",
    promises="ordinary intervals for questions fixed in advance, with a union bound",
    theorem="bonferroni_half_width",
    method=on_account(
        "one look",
        "bonferroni_half_width",
        _fixed_width,
        lambda profile, k, t, log_beta: _fixed_width(profile, k, log_beta) <= t,
        kind="not valid",
    ),
    colour="#d62728",
    plan=_plan,
    build=lambda _terms, parameters: OneLook(parameters["declared"]),
    refuses_checks="its one look shows exact values, and nothing can be asked after it.",
    once=True,
)
