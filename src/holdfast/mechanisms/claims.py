"""Claims: *is it about 0.24?* (a check) and *is it shown to be better?* (a gate). Theorem C.

A claim is a public interval J. Inside the door a test, valid for a fixed question at the claim's
level, says whether the rows show J. One of two symbols leaves: the one that claims J, or one that
claims nothing. The level is what is left of the failure probability times the prior probability of
the transcript up to and including the claim, so that claims pay no multiplicity, and no claim is
too narrow to try. A check expects to be confirmed, a gate expects not to be shown; the unexpected
symbol is the dear one.

A batch is decided in its order, each claim at the level that the symbols before it leave: the
offers say what is known before, and `_decided` is what follows from the symbols. So respond, settle
and the audit come to the same levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from holdfast.data.sample import Sample
from holdfast.data.sampling import Clustered
from holdfast.data.values import unit_sums
from holdfast.errors import BudgetExhausted, InvalidArgument
from holdfast.mechanisms.leakage import asks_left, declared_left, left_on, log_share_of
from holdfast.mechanisms.mechanism import Claim, Offer, Release, Status, Symbol, Wish, charged
from holdfast.mechanisms.noise import Noise, shared_key
from holdfast.mechanisms.terms import Account, PartStages, Terms, profile_of, recorded_profile
from holdfast.question.bounds import few_values
from holdfast.question.build import where_equal
from holdfast.question.expression import Expression
from holdfast.question.row import GRID, GRID_ERROR, RowValue, condition_row
from holdfast.statistics.claimed import ClaimedQuestion, OneLevel, claimed_question
from holdfast.statistics.entry import Bound, Table
from holdfast.statistics.mean import GroupMean, Mean
from holdfast.statistics.rule import Evidence, Ground, evidence_of
from holdfast.statistics.statistic import Measured, Statistic, measure
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.dependence import PooledUnits
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.direct.paired import sign_test_log_p
from holdfast.theory.leakage.claim_levels import (
    claim_log_level,
    declared_surprise_prior,
    log_left,
    mean_claim_holds,
    paired_claim_holds,
    radius_claim_holds,
    share_claim_holds,
    surprise_prior,
    unit_claim_holds,
)
from holdfast.theory.leakage.gates import declared_gate_prior, open_gate_prior
from holdfast.theory.leakage.nats import ask_log_cost, confirmed_log_charge, surprise_log_charge
from holdfast.theory.leakage.release import discrete_uniform_overhead

if TYPE_CHECKING:
    from holdfast.data.histogram import Histogram

# Whether rows show a claim: what is read of them, and the test that a claim's level is for.
#
# Which test it is follows from the question, the sampling and the claim, all public. Nothing but
# its yes or no leaves the door. The theorems are in `theory.leakage.confirmation`.


_BY_RULES = 5  # since these rules of a ledger
_DIFFERENCES = frozenset({-1.0, 0.0, 1.0})
_EVEN = 0.5  # no difference, as a fraction of [-1, 1]

# Whether the rows show a claim at a level (ln), given a public guess of the second moment.
Showing = Callable[[Claim, float, float | None], bool]


def showings(
    terms: Terms,
    questions: Sequence[Statistic],
    alike: Sequence[bool],
    sample: Sample,
    noise: Callable[[int], Noise],
) -> list[Showing]:
    """For each question what its rows, alike for it or not, show; one scan for counts, one for
    histograms, and as many for what is tested by rules."""
    kinds = [_read_by(terms, *each) for each in zip(questions, alike, strict=True)]
    counts = [row for kind in kinds if isinstance(kind, _Counts) for row in kind.rows]
    totals = iter(sample.sums(counts) if counts else ())
    binned = [kind.asked for kind in kinds if isinstance(kind, _Bins)]
    histograms = iter(sample.histograms(binned) if binned else ())
    averages = [
        question
        for question, kind in zip(questions, kinds, strict=True)
        if isinstance(kind, _Whole)
    ]
    measured = iter(measure(sample, averages))
    looks = [kind.question.reads for kind in kinds if isinstance(kind, _ByRule)]
    evidence = iter(evidence_of(looks, sample, shared_key(noise)) if looks else ())
    results: list[Showing] = []
    for kind in kinds:
        match kind:
            case _Counts():
                results.append(kind.showing([next(totals) // GRID for _ in kind.rows]))
            case _Bins():
                results.append(kind.showing(next(histograms)))
            case _Units():
                results.append(kind.showing(sample))
            case _Whole():
                results.append(kind.showing(next(measured)))
            case _ByRule():
                results.append(kind.showing(next(evidence)))
            case None:  # it has one value, and needs no rows
                results.append(lambda claim, _log_p, _moment: claim[0] <= 0.0)
    return results


def is_paired(question: Statistic) -> bool:
    """Whether it is a mean of differences of two conditions, each -1, 0 or 1."""
    if not isinstance(question, Mean) or (question.low, question.high) != (-1.0, 1.0):
        return False
    source = question.row.source
    values = few_values(source) if isinstance(source, Expression) else frozenset()
    return bool(values) and values <= _DIFFERENCES


def by_sign_test(question: Statistic, claim: Claim | None, *, alike: bool) -> bool:
    """Whether a claim is that of two conditions one holds more often, of rows that are alike."""
    return alike and claim in _EITHER_WAY and is_paired(question)


def claimable(claim: Claim | None) -> bool:
    """Whether it is an interval that has a part in the range."""
    return claim is not None and claim[0] <= claim[1] and claim[0] <= 1.0 and claim[1] >= 0.0


def claimed_by_rule(
    question: Bound, terms: Terms, table: Table, made_for_keys: frozenset[str]
) -> ClaimedQuestion | None:
    """The question as one claim that its own rule tests; None where it is claimed as before.

    `made_for_keys` are the columns whose values were made for single keys.
    """
    if terms.rules < _BY_RULES:
        return None
    keyed = made_for_keys if terms.key is None else made_for_keys | {terms.key}
    ground = Ground(
        terms.rows,
        terms.sampling,
        OneLevel(),
        0.0,  # until there is a claim
        table.design,
        for_these_items=bool(terms.public),
        made_for_keys=keyed,
        arms=terms.randomised,
        generation=terms.rules,
    )
    return claimed_question(question, ground)


def more_than(bound: float) -> float:
    """The least fraction above a bound: a gate claims the open side of it."""
    return math.nextafter(bound, math.inf)


def reach_of_test(terms: Terms, wish: Wish, log_p: float) -> float | None:
    """Reach of a test's interval from the sample's value; None where none is known.

    Clopper and Pearson's ends lie inside Chernoff's, and those inside Hoeffding's; those of bets,
    and for conditions of rows that are not alike, need not.
    """
    question, row = wish.question, wish.question.row
    if isinstance(question, ClaimedQuestion):
        return None
    if row is not None and terms.independent:
        by_bets = wish.moment is not None or is_paired(question)
        if by_bets or (row.is_condition and not wish.of_alike_rows(terms)):
            return None
    profile = question.concentration(terms.rows, terms.sampling)
    return round_up(profile.radius(min(0.0, log_p)) + question.error)


@dataclass(frozen=True, slots=True)
class _Counts:
    """Counts of how often conditions hold: one, or the two of a paired difference."""

    n: int
    rows: tuple[RowValue, ...]
    alike: bool

    def showing(self, counts: Sequence[int]) -> Showing:
        def share(claim: Claim, log_p: float, _moment: float | None) -> bool:
            return share_claim_holds(self.n, counts[0], _ends(claim), log_p, alike=self.alike)

        def paired(claim: Claim, log_p: float, moment: float | None) -> bool:
            b, c = counts
            if self.alike and claim in _EITHER_WAY:
                return sign_test_log_p(*((b, c) if claim == _MORE else (c, b))) <= log_p
            low, high = _ends(claim)
            # Fractions of [-1, 1] as differences; doubling is exact, and the claim only shrinks.
            wanted = Interval(
                round_up(2 * low - 1) if low > 0.0 else low,
                round_down(2 * high - 1) if high < 1.0 else high,
            )
            return paired_claim_holds(
                self.n, b, c, wanted, log_p, alike=self.alike, second_moment=moment
            )

        return share if len(self.rows) == 1 else paired


@dataclass(frozen=True, slots=True)
class _Bins:
    """The histogram of a bounded value, of all rows or of a public group."""

    asked: tuple[RowValue, Expression | None]

    def showing(self, histogram: Histogram) -> Showing:
        def mean(claim: Claim, log_p: float, moment: float | None) -> bool:
            low, high, times = histogram.low, histogram.high, histogram.counts
            return mean_claim_holds(low, high, _ends(claim), log_p, times, second_moment=moment)

        return mean


@dataclass(frozen=True, slots=True)
class _Units:
    """The sums and sizes of the units of `column`, whose sizes were not decided."""

    row: RowValue
    column: str
    units: PooledUnits
    error: float

    def showing(self, sample: Sample) -> Showing:
        sums, sizes = unit_sums(sample, self.row, None, self.column)

        def mean(claim: Claim, log_p: float, _moment: float | None) -> bool:
            return unit_claim_holds(sums, sizes, _ends(claim), log_p, self.units, self.error)

        return mean


@dataclass(frozen=True, slots=True)
class _Whole:
    """A statistic of which a concentration is known, and no more."""

    terms: Terms
    question: Statistic

    def showing(self, measured: Measured) -> Showing:
        def near(claim: Claim, log_p: float, _moment: float | None) -> bool:
            profile = self.question.concentration(self.terms.rows, self.terms.sampling)
            error = self.question.error
            return radius_claim_holds(measured.value, profile, _ends(claim), log_p, error)

        return near


@dataclass(frozen=True, slots=True)
class _ByRule:
    """What the rule of a question reads, at any level."""

    question: ClaimedQuestion

    def showing(self, evidence: Evidence) -> Showing:
        def inside(claim: Claim, log_p: float, _moment: float | None) -> bool:
            (low, high), answer = _ends(claim), self.question.told(log_p, evidence)
            own = answer.interval
            return answer.value is not None and low <= own.low and own.high <= high

        return inside


_Kind = _Counts | _Bins | _Units | _Whole | _ByRule


def _read_by(terms: Terms, question: Statistic, alike: bool) -> _Kind | None:
    row = question.row
    if question.low == question.high:
        return None
    if row is None or not terms.independent:
        return _of_whole(terms, question)
    if row.is_condition:
        return _Counts(question.rows(terms.rows), (row,), alike)
    if is_paired(question) and isinstance(row.source, Expression):
        alone = tuple(condition_row(where_equal(row.source, sign)) for sign in (1.0, -1.0))
        return _Counts(terms.rows, alone, alike)
    match question:
        case GroupMean(value=value, condition=condition):
            return _Bins((value, condition))
    return _Bins((row, None))


def _of_whole(terms: Terms, question: Statistic) -> _Kind:
    """Of rows that depend on each other, and of what no row says by itself."""
    if isinstance(question, ClaimedQuestion):
        return _ByRule(question)
    return _of_units(terms, question) or _Whole(terms, question)


def _of_units(terms: Terms, question: Statistic) -> _Units | None:
    """An average of rows in units whose sizes were not decided."""
    sampling, units = terms.sampling, terms.concentration
    if question.row is None or not isinstance(sampling, Clustered):
        return None
    if not isinstance(units, PooledUnits):
        return None
    return _Units(question.row, sampling.column, units, question.error)


_MORE: Claim = (more_than(_EVEN), 1.0)
_LESS: Claim = (0.0, math.nextafter(_EVEN, 0.0))
_EITHER_WAY = (_MORE, _LESS)


def _ends(claim: Claim) -> Interval:
    """The claim's two ends; those at the ends of the range bind nothing."""
    low, high = claim
    return Interval(low if low > 0.0 else -math.inf, high if high < 1.0 else math.inf)


_MOST_SURPRISES = 1_000  # are counted: every answer tells how many are left
_OVERHEAD = discrete_uniform_overhead()


class _Standing(NamedTuple):
    """Standing for the level of a claim: what is left and has leaked, and how others came out.

    `declared` is what was declared of them all beforehand, if anything.
    """

    log_left: float
    nats: float
    made: int
    unexpected: int
    declared: Sequence[int] | None

    def after(self, charge: float, *, expected: bool) -> _Standing:
        """One claim later."""
        nats = round_up(self.nats + charge, 1)
        unexpected = self.unexpected + (not expected)
        return _Standing(self.log_left, nats, self.made + 1, unexpected, self.declared)


class _Decision(NamedTuple):
    """A symbol, and what it costs."""

    claims: bool
    charge: float


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims of one verb: what either symbol is called, which of them is expected, its prior.

    `prior` is the public weight of the unexpected symbol, given what was `declared`, after so many
    claims, of which so many came unexpectedly; `tally` names the account's two counts of them.
    """

    name: str
    shown: Status
    silent: Status
    expects_shown: bool
    declared: Callable[[Terms], Sequence[int] | None]
    prior: Callable[[Sequence[int] | None, int, int], float]
    tally: tuple[str, str]

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        remaining = log_left(terms.log_beta, account.leakage.log_beta_spent)
        if remaining == -math.inf:
            raise BudgetExhausted(
                "requested a claim; remaining nothing of the failure probability, all of which "
                "earlier answers have. Repeat earlier questions for free, ask described ones, or "
                "use fresh rows in a new ledger."
            )
        declared = self.declared(terms)
        start = before = _Standing(remaining, account.nats, *self._counts(account), declared)
        standing = start._asdict()  # one for all: an audit begins where they began
        offers, worst_nats = [], start.nats
        for place, wish in enumerate(wishes):
            prior = self.prior(declared, before.made, before.unexpected)
            # The expected symbol is dearest if all before it in the batch came unexpectedly.
            dearest = self.prior(declared, before.made, start.unexpected + place)
            worst = max(surprise_log_charge(prior, 0.0), _expected_charge(dearest))
            weight = self._weight(dearest if self.expects_shown else prior)
            lowest = claim_level(start.log_left, weight, worst_nats)  # on any way to it
            alike = wish.of_alike_rows(terms)
            offers.append(
                Offer(
                    number=account.looks + place + 1,
                    question=wish.question.text,
                    tolerance=wish.tolerance,
                    grid=None,
                    worst_charge=worst,
                    # Its level if all before it come as expected.
                    log_p=claim_level(before.log_left, self._weight(prior), before.nats),
                    radius=reach_of_test(terms, wish, lowest),
                    claim=_claim_wished(wish),
                    guess=wish.guess,
                    prior=prior,
                    profile=_recorded_test(terms, wish.question, alike=alike),
                    extra={"standing": standing, "moment": wish.moment, "alike": alike},
                )
            )
            before = before.after(_expected_charge(prior), expected=True)
            worst_nats = round_up(worst_nats + worst, 1)
        return offers

    def levels(self, terms: Terms, account: Account) -> Iterator[float]:
        """The levels of the next claims, if each before them comes out unexpectedly; 0 without end
        where nothing is left."""
        remaining = log_left(terms.log_beta, account.leakage.log_beta_spent)
        if remaining == -math.inf:  # asks have spent all of the failure probability
            yield from repeat(0.0)
        declared = self.declared(terms)
        standing = _Standing(remaining, account.nats, *self._counts(account), declared)
        while True:
            try:
                prior = self.prior(declared, standing.made, standing.unexpected)
            except BudgetExhausted:
                yield from repeat(0.0)
            yield math.exp(claim_level(standing.log_left, self._weight(prior), standing.nats))
            standing = standing.after(surprise_log_charge(prior, 0.0), expected=False)

    def _counts(self, account: Account) -> tuple[int, int]:
        claimed, unexpected = self.tally
        return getattr(account, claimed), getattr(account, unexpected)

    def _prior_of(
        self,
        offer: Offer,  # noqa: ARG002 - all that matters is how many claims were before it
        declared: Sequence[int] | None,
        made: int,
        unexpected: int,
    ) -> float:
        """The public weight of the unexpected symbol of an offer, given those before it."""
        return self.prior(declared, made, unexpected)

    def _weight(self, prior: float) -> float:
        """The public weight of the symbol that claims."""
        return 1.0 - prior if self.expects_shown else prior

    def respond(
        self,
        terms: Terms,
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        alike = [_extra(offer)["alike"] for offer in offers]
        results = showings(terms, questions, alike, sample, noise)

        def shows(place: int, log_p: float) -> bool:
            offer = offers[place]
            return results[place](_claim_of(offer), log_p, _extra(offer)["moment"])

        decided = self._decided(offers, shows)
        return [self.shown if each.claims else self.silent for each in decided]

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        for symbol in symbols:
            if symbol not in (self.shown, self.silent):
                raise ValueError(f"the symbol of a claim is {symbol!r}")
        decided = self._decided(offers, lambda place, _: symbols[place] == self.shown)
        return [self._release(*pair) for pair in zip(offers, decided, strict=True)]

    def _release(self, offer: Offer, decision: _Decision) -> Release:
        if not decision.claims:
            return Release(offer.number, self.silent, None, Interval(0.0, 1.0), decision.charge)
        low, high = _claim_of(offer)
        interval = Interval(max(0.0, low), min(1.0, high))
        guess = low if offer.guess is None else offer.guess
        value = min(interval.high, max(interval.low, guess))
        return Release(offer.number, self.shown, value, interval, decision.charge)

    def _decided(
        self, offers: Sequence[Offer], shows: Callable[[int, float], bool]
    ) -> list[_Decision]:
        """The claims of a batch in their order, each at the level that those before it leave."""
        standing = _Standing(**_extra(offers[0])["standing"])
        decided = []
        for place, offer in enumerate(offers):
            prior = self._prior_of(offer, standing.declared, standing.made, standing.unexpected)
            log_p = claim_level(standing.log_left, self._weight(prior), standing.nats)
            claims = shows(place, log_p)
            expected = claims == self.expects_shown
            charge = _expected_charge(prior) if expected else surprise_log_charge(prior, 0.0)
            decided.append(_Decision(claims, charge))
            standing = standing.after(charge, expected=expected)
        return decided

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        expected = self.shown if self.expects_shown else self.silent
        claimed, unexpected = self._counts(account)
        unexpected += sum(release.status != expected for release in releases)
        paid = charged(account, offers, [release.charge for release in releases])
        counts = zip(self.tally, (claimed + len(releases), unexpected), strict=True)
        return replace(paid, **cast("dict[str, Any]", dict(counts)))

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        return asks_left(terms, account, stages)

    def surprises_left(
        self, terms: Terms, account: Account, profile: Concentration, most: float = math.inf
    ) -> int:
        """Number of guesses in a row that may be refuted, and answered at the declared tolerance.

        They are about questions of this concentration. With `most`, the nats that they and their
        answers may leak in all.
        """
        claimed, unexpected = self._counts(account)
        remaining = min(declared_left(terms, account), _MOST_SURPRISES)
        declared, half_width = self.declared(terms), terms.half_width

        def left(leaked: float, claimed: int) -> int:
            nats, count = leaked, 0
            while count < remaining:
                prior = self.prior(declared, claimed + count, unexpected + count)
                refuted = nats + surprise_log_charge(prior, 0.0)
                log_p = log_share_of(terms, account, count + 1) - refuted
                radius = round_up(profile.radius(log_p) + GRID_ERROR)
                if radius >= half_width or refuted - leaked > most:
                    break
                nats = refuted + (ask_log_cost(radius, half_width) + _OVERHEAD)
                count += 1
            return count

        shares = terms.log_beta, terms.questions, account.asked, account.log_kept
        of = (self.name, declared and tuple(declared), unexpected, profile, half_width, most)
        return left_on(left, account.nats, claimed, (*of, *shares))


_RULE = "rule"  # where an offer names the rule that tests its claim


def is_by_rule(profile: Mapping[str, Any] | None) -> bool:
    """Whether a claim with this profile is tested by the rule of its question."""
    return profile is not None and _RULE in profile


def _recorded_test(terms: Terms, question: Statistic, *, alike: bool) -> dict[str, Any] | None:
    """What the test rests on: the rule by its name, or a concentration that is not a mean's."""
    if isinstance(question, ClaimedQuestion):
        return {_RULE: question.reads.rule.name}
    return recorded_profile(profile_of(question, terms, alike=alike), terms, question)


def _claim_wished(wish: Wish) -> Claim:
    """The claim of a wish; refused where it has no part in the range."""
    claim = wish.claim
    if claim is None or not claimable(claim):
        raise InvalidArgument(
            f"the claim is {claim}, which is no interval of the range from 0 to 1; claim one."
        )
    return claim


def _claim_of(offer: Offer) -> Claim:
    if offer.claim is None:
        raise TypeError(f"the offer of question {offer.number} claims nothing")
    return offer.claim


def _extra(offer: Offer) -> Mapping[str, Any]:
    if offer.extra is None:
        raise TypeError(f"the offer of claim {offer.number} has no standing")
    return offer.extra


# Of every claim they are wanted where it is offered, decided, settled and read again.
_default_prior = lru_cache(maxsize=4096)(surprise_prior)
claim_level = lru_cache(maxsize=4096)(claim_log_level)
_expected_charge = lru_cache(maxsize=4096)(confirmed_log_charge)


def _surprise_prior(declared: Sequence[int] | None, claimed: int, refuted: int) -> float:
    return (
        _default_prior(claimed, refuted) if declared is None else declared_surprise_prior(*declared)
    )


def _gate_prior(declared: Sequence[int] | None, claimed: int, passed: int) -> float:
    if declared is None:
        return open_gate_prior(passed, claimed)
    (candidates,) = declared
    if claimed >= candidates:
        raise BudgetExhausted(
            f"requested candidate {claimed + 1:,}; remaining 0 of the {candidates:,} declared; "
            "missing 1. Repeating an earlier gate is free; new candidates need fresh rows in a new "
            "ledger."
        )
    return declared_gate_prior(passed, candidates)


def _declared_surprises(terms: Terms) -> Sequence[int] | None:
    if terms.surprises is None or terms.questions is None:
        return None
    return [terms.surprises, terms.questions]


CHECKS = Claims(
    "guess and check/2",
    shown="confirmed",
    silent="not confirmed",
    expects_shown=True,
    declared=_declared_surprises,
    prior=_surprise_prior,
    tally=("checks", "surprises"),
)
GATES = Claims(
    "gate/1",
    shown="shown",
    silent="not shown",
    expects_shown=False,
    declared=lambda terms: None if terms.candidates is None else [terms.candidates],
    prior=_gate_prior,
    tally=("gates", "shown"),
)
