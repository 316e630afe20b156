"""A batch of requests: de-duplicated, grouped by mechanism, with their answers collected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from holdfast import require
from holdfast.errors import InvalidArgument, LedgerTampered
from holdfast.ledger.composites import restated
from holdfast.ledger.entries import Recorded
from holdfast.ledger.transcript import Transcript, informed
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.described import DESCRIBED
from holdfast.mechanisms.mechanism import (
    ROUNDED_ENDS,
    Checker,
    Claim,
    LikelyWidth,
    Mechanism,
    Offer,
    Wish,
    lies_in,
)
from holdfast.mechanisms.terms import WHOLE_RANGE, Account, Terms
from holdfast.mechanisms.winner import WinnerQuestion
from holdfast.question.row import RowValue
from holdfast.statistics.bind import is_named
from holdfast.statistics.claimed import ClaimedQuestion
from holdfast.statistics.description import DescribedParts, DescribedQuestion
from holdfast.statistics.statistic import Statistic, summed
from holdfast.theory.base.intervals import Interval

# What makes wishes of one batch the same: the question, and what the analyst claims of it.
Key: TypeAlias = tuple[str, tuple[float, float] | None]
Body: TypeAlias = dict[str, Any]


class LookFound(NamedTuple):
    """The look that fulfils a wish, and whether it was taken in this call."""

    look: Recorded
    fresh: bool


# Given what was found, before that is written: the entries to write in one commit with it.
Conclusion: TypeAlias = Callable[[Sequence[LookFound]], Sequence[Body]]
Concluding: TypeAlias = Callable[[Sequence[Recorded]], Sequence[Body]]


def by_mechanism(wishes: Sequence[Wish]) -> list[list[Wish]]:
    """Those to be checked, to be gated, to be asked, and those that are described.

    Of described ones, those of each dictionary.
    """
    groups: dict[tuple[int, str], list[Wish]] = {}
    for wish in wishes:
        groups.setdefault(order_of(wish), []).append(wish)
    return [groups[order] for order in sorted(groups)]


def order_of(wish: Wish) -> tuple[int, str]:
    """Which of the groups a wish belongs to: each is answered by another mechanism."""
    if is_described(wish.question):
        return 3, wish.question.dictionary or ""
    return 2 if wish.claim is None else int(wish.gated), ""


def looks_found(
    keys: Sequence[Key],
    wishes: Sequence[Wish],
    fresh: Mapping[Key, Recorded],
    stored: Callable[[Wish], Recorded | None],
) -> list[LookFound]:
    """What fulfils each wish: a look of this call, or one that is stored."""
    results = []
    for key, wish in zip(keys, wishes, strict=True):
        look = fresh.get(key) or stored(wish)
        if look is None:
            raise LedgerTampered("the ledger has lost an answer; open it again.")
        results.append(LookFound(look, key in fresh))
    return results


def one_of_each_event(wishes: Mapping[Key, Wish]) -> dict[Key, Wish]:
    """The wishes to be asked: of described ones that share an event, the first."""
    named = {key: event_of(wish.question) or key for key, wish in wishes.items()}
    first = {name: key for key, name in reversed(named.items())}
    return {key: wish for key, wish in wishes.items() if first[named[key]] == key}


def with_their_events(
    wishes: Mapping[Key, Wish], looks: Mapping[Key, Recorded]
) -> dict[Key, Recorded]:
    """The looks that fulfil all wishes, also those that share an event with one that was asked."""
    by_key: dict[Key, Recorded] = {}
    for key, wish in wishes.items():
        look = looks.get(key)
        if look is None and is_described(wish.question):
            look = as_answered(looks.values(), wish.question)
        if look is not None:
            by_key[key] = look
    return by_key


def as_answered(looks: Iterable[Recorded], question: DescribedQuestion) -> Recorded | None:
    """What the symbols of looks at its event say of a question; None if there are none."""
    restatements = (restated(look, question) for look in looks)
    return next((each for each in restatements if each is not None), None)


def event_of(question: object) -> str | None:
    """What a described question shares with others; None where it shares nothing."""
    return question.event if is_described(question) else None


def is_described(question: object) -> TypeGuard[DescribedQuestion]:
    """Whether a rule of its own answers it."""
    return isinstance(question, DescribedQuestion)


def has_description(question: object) -> TypeGuard[DescribedQuestion | DescribedParts]:
    """Whether it is answered by its description: by one rule, or by those of its parts."""
    return isinstance(question, DescribedQuestion | DescribedParts)


def is_by_name(question: Statistic) -> bool:
    """Whether it is known by its name alone, whatever it does."""
    return not is_described(question) and is_named(question)


def wanted_part(terms: Terms, tolerance: float | None, of: Statistic | None) -> float:
    """The half-width wanted, as a part of the range: a tolerance may be one of a smaller unit."""
    unit = 1.0 if of is None else of.unit(terms.rows)
    if tolerance is None:
        if of is not None and not of.unbounded and (terms.tolerance or 0.0) >= WHOLE_RANGE:
            raise InvalidArgument(
                f"{of.text} has a range, and the ledger's half-width {terms.tolerance:g} is of "
                "columns that have a scale; give tolerance=, a part of the range below 0.5."
            )
        return terms.half_width * unit
    if of is None or not of.unbounded:
        return require.tolerance(tolerance) * unit
    return require.between("tolerance", tolerance, 0.0, 0.5 / unit, open_low=True) * unit


def rows_of(question: Statistic) -> tuple[RowValue, ...]:
    """What an engine has to compute for a question."""
    if is_described(question):
        return question.look.rows
    if isinstance(question, ClaimedQuestion):
        return question.reads.rows
    if isinstance(question, WinnerQuestion):
        return question.conditions
    row = summed(question)
    return () if row is None else (row,)


# Which of a ledger's mechanisms wishes are for, and what it offers.


def offered(
    transcript: Transcript,
    wishes: Sequence[Wish],
    account: Account,
    require_written: Callable[[Statistic], None],
) -> tuple[Mechanism, list[Offer]]:
    """The public terms of answering wishes that one mechanism answers; or a refusal."""
    terms, first = transcript.terms, wishes[0].question
    account.require_in_use()
    if not is_described(first) or first.dictionary is not None:
        account.require_open()
    if is_described(first):
        mechanism = transcript.mechanisms[first.dictionary or DESCRIBED.name]
        return mechanism, mechanism.offer(terms, account, wishes)
    for wish in wishes:
        require_written(wish.question)
    mechanism = _mechanism_for(transcript, wishes[0])
    return mechanism, mechanism.offer(terms, account, [informed(transcript, w) for w in wishes])


def _mechanism_for(transcript: Transcript, wish: Wish) -> Mechanism:
    """The one that answers a wish without a description."""
    if wish.claim is None:
        return transcript.mechanism
    if wish.graded and transcript.graded_gate is not None:
        return transcript.graded_gate
    return require_claims(transcript, gated=wish.gated, forecast=wish.forecast is not None)


def require_claims(
    transcript: Transcript, *, gated: bool = False, forecast: bool = False
) -> Checker:
    """What checks, or gates, beside the ledger's mechanism; refused where nothing does."""
    gate = transcript.forecast_gate if forecast else transcript.gate
    checker = transcript.forecast_checker if forecast else transcript.checker
    mechanism = gate if gated else checker
    if mechanism is None:
        kind = kind_of(transcript.opening.mechanism["name"])
        if kind.refuses_checks is None:
            lacks, instead = ("gates", "check") if gated else ("forecasts", "check without expect=")
            raise InvalidArgument(
                f"this ledger answers by {kind.name}, which counts guesses and has no {lacks}. Use "
                f"{instead}, or another ledger."
            )
        raise InvalidArgument(
            f"this ledger answers by {kind.name} and checks no guesses: {kind.refuses_checks} "
            "Use ask, or another ledger."
        )
    return mechanism


# Repeats: which earlier answer fulfils a wish, so that nothing has to be asked.
#
# Asking again is free, unless more is wanted than the ledger has: a smaller half-width that is
# named, or two ends where only one was claimed. A claim of the analyst's own is settled by the
# same claim made before, and by an interval that lies inside it, or beside it. A guess that was
# computed, from other rows or by a guesser, is a way to ask, and is no claim of the analyst's. A
# claim whose call died before it was told anything is gone on with from the claim, so that its
# line has all its looks.


_WIDER = 1 + 1e-9  # an answer may be a little wider than what was wished


def fulfilling(looks: Iterable[Recorded], wish: Wish) -> Recorded | None:
    """The narrowest of the answers to a question that fulfil a wish; None if it is to be asked."""
    fitting = [look for look in looks if _fulfils(look, wish)]
    return min(fitting, key=lambda look: look.half_width, default=None)


def never_told(
    looks: Iterable[Recorded], wish: Wish, told_of: Callable[[str], Iterable[Recorded]]
) -> Recorded | None:
    """The same claim, made in vain by a call that died before it was told; None if there is none.

    `told_of` finds what was told of a question.
    """
    return next((each for each in looks if wish.stated and _is_begun(each, wish, told_of)), None)


def _is_begun(look: Recorded, wish: Wish, told_of: Callable[[str], Iterable[Recorded]]) -> bool:
    if look.part_of is None or look.value is not None or not _is_known_not_to_hold(look, wish):
        return False
    return all(look.look not in line.parts for line in told_of(look.part_of))


def width_begun(looks: Iterable[Recorded], guess: float | None) -> LikelyWidth | None:
    """The half-width that was chosen for the same check of a question; None if it is a new one."""
    requests = [each.request for each in looks if each.claim is not None]
    return next((each.likely for each in requests if each.likely and each.guess == guess), None)


def _fulfils(look: Recorded, wish: Wish) -> bool:
    if look.status == "no promise" or look.range.low == look.range.high:
        return True  # there is nothing more to be told
    if look.value is None and look.claim is not None:
        return _is_known_not_to_hold(look, wish)
    if isinstance(wish.question, DescribedQuestion):
        return look.bits is not None  # it has one answer
    inside = look.part_of_range
    implied = wish.claim is not None and lies_in(inside, wish.claim, look.range)
    if wish.claim is not None and (implied or wish.stated):
        return implied or _beside(inside, wish.claim)
    if wish.narrow and not _one_sided(look):
        return True  # no half-width was named
    return (inside.high - inside.low) / 2 <= wish.tolerance * _WIDER + ROUNDED_ENDS


def _is_known_not_to_hold(look: Recorded, wish: Wish) -> bool:
    """Whether the same claim was made before in vain; of anything else that says nothing."""
    silent = "not shown" if wish.gated else "not confirmed"
    return look.status == silent and same_claim(look.claim, wish)


def _one_sided(look: Recorded) -> bool:
    """Whether it is a claim that binds one end only."""
    if look.claim is None:
        return False
    return look.claim[0] <= 0.0 or look.claim[1] >= 1.0


def same_claim(before: Claim | None, wish: Wish) -> bool:
    """Whether this was claimed before."""
    if before is None or wish.claim is None:
        return False
    return all(abs(a - b) <= ROUNDED_ENDS for a, b in zip(before, wish.claim, strict=True))


def _beside(interval: Interval, claim: tuple[float, float]) -> bool:
    """Whether it excludes a claim."""
    low, high = claim
    return interval.high < low or interval.low > high
