"""Room for a question: how many are left, and the refusals where there is none."""

from __future__ import annotations

from holdfast.errors import BudgetExhausted, Shortfall, ToleranceTooTight
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.terms import WHOLE_RANGE, Terms
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.safeside import round_down
from holdfast.theory.planning import MOST_QUESTIONS
from holdfast.wording import plural

__all__ = [
    "declared_left",
    "declared_or_least",
    "log_share_of",
    "require_room",
    "shown_widths",
    "too_tight",
]


def declared_left(terms: Terms, account: Account) -> int:
    """How many of the declared questions are left; very many when none were declared."""
    return MOST_QUESTIONS if terms.questions is None else terms.questions - account.asked


def log_share_of(terms: Terms, account: Account, position: int) -> float:
    """ln beta_j of the question `position` places after the account: what dictionaries left it."""
    share = terms.log_share(account.asked + position)
    return share if account.log_kept == 0.0 else round_down(share + account.log_kept)


def require_room(terms: Terms, account: Account, wanted: int) -> None:
    """Refuse a batch that goes beyond the declared number of questions."""
    if terms.questions is None or account.asked + wanted <= terms.questions:
        return
    remaining = terms.questions - account.asked
    raise BudgetExhausted(
        f"requested {plural(wanted, 'more question')}; remaining {remaining:,} of the "
        f"{terms.questions:,} declared; missing {wanted - remaining:,}. Repeating an earlier "
        "question is free; new questions need fresh rows in a new ledger.",
        Shortfall("questions", wanted, remaining),
    )


def shown_widths(question: Statistic | None, *parts: float) -> tuple[list[float], str]:
    """Half-widths as they are told of a question: parts of its range, or in its own unit if it has
    none; and what they are, in words."""
    if question is None or not question.unbounded:
        return list(parts), " of the range"
    return [part * (question.high - question.low) for part in parts], ""


def too_tight(
    tolerance: float, radius: float, question: Statistic | None = None
) -> ToleranceTooTight:
    """The refusal of a half-width that the rows cannot give."""
    (t, r), of = shown_widths(question, tolerance, radius)
    return ToleranceTooTight(
        f"requested half-width {t:.6g}{of}; the sample alone may be off by "
        f"{r:.6g}, so {r - t:.3g} are missing. Ask for a larger tolerance, "
        "declare fewer questions, or use more rows.",
        Shortfall("half-width", t, r),
    )


def declared_or_least(wanted: Terms, least: float) -> float:
    """The declared half-width, or the least one; refused where the rows cannot give it."""
    if least > wanted.half_width or least >= WHOLE_RANGE:
        raise too_tight(wanted.half_width, least)
    return wanted.tolerance or least
