"""Terms: the one record of what was declared; the account of what was spent; profiles.

What is declared is said once, when a ledger is opened or planned: `Declarations`. With the rows,
defaults and the mechanism's half-width it becomes `Terms`, which never change. A new declaration is
a field of both, and a line of `_CHECKS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from holdfast import require
from holdfast.data.design import NO_DESIGN, Design
from holdfast.data.randomised import Drawing, Randomised
from holdfast.data.sampling import (
    GIVEN_SIZES,
    Clustered,
    Independent,
    Sampling,
    profile_of_rows,
    sampling_from_dict,
    sampling_to_dict,
)
from holdfast.errors import BudgetExhausted, InvalidArgument, Retired
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.mean import KnownVariance
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.concentration import (
    Bernstein,
    BinomialMean,
    Concentration,
    SubExponential,
    SubGaussian,
)
from holdfast.theory.base.dependence import PooledUnits
from holdfast.theory.base.gamma import gamma_from_text, gamma_text
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.leakage.claim_levels import lookup_log_weight
from holdfast.theory.leakage.nats import LeakageAccount, fixed_share, open_ended_share
from holdfast.wording import at_most, percent, sure

# How described questions are answered: exactly, rounded to a few symbols, or like all the others.
Describing = Literal["exact", "rounded", "off"]

WHOLE_RANGE = 0.5  # the half-width of an interval that says nothing
_CONFIDENCE_LEVEL = 0.95
_DESCRIBED_SHARE = 0.4
_NONE_MISSING = lookup_log_weight(0, 0)
_looked_up_weight = lru_cache(lookup_log_weight)  # every level of a ledger has it


class Pots(NamedTuple):
    """The failure probability of all intervals, parted: described questions, what is kept for a
    statistic that is revealed at the end, and all others.

    Of the last two `log_weight` is taken off: what was looked up at opening, be it that no value is
    missing. To described questions it says nothing, for their levels are those of texts.
    """

    confidence_level: float
    described_share: float
    reveal_share: float = 0.0
    log_weight: float = _NONE_MISSING

    @property
    def log_beta(self) -> float:
        """ln of the ledger's part; minus infinity where it has none."""
        lent = self.described_share + self.reveal_share
        whole, rest = math.log1p(-self.confidence_level), 1.0 - lent
        if lent == self.log_weight == 0.0:
            return whole
        return round_down(whole + math.log(rest) + self.log_weight) if rest else -math.inf

    @property
    def log_beta_described(self) -> float:
        """ln of the part of described questions, which is above 0."""
        return self._log_part(self.described_share)

    @property
    def log_beta_reveal(self) -> float:
        """ln of what is kept for a statistic that is revealed; minus infinity if nothing is."""
        part = self._log_part(self.reveal_share) if self.reveal_share else -math.inf
        return round_down(part + self.log_weight) if self.log_weight else part

    def _log_part(self, share: float) -> float:
        return round_down(math.log1p(-self.confidence_level) + math.log(share))


def _require_share(described: Describing, share: float) -> None:
    """Described questions have a share, and only they."""
    if (described != "off") != (share > 0.0):
        raise InvalidArgument(
            f"described is {described!r} and described_share {share:g}; described questions need a "
            "part of the failure probability, and nothing else does."
        )


# Of new ledgers. 2: differences of two groups' shares by the law of both counts, and arms of a
# design by one bet. 3: means of alike rows by bets in an order too. 4: differences of groups whose
# rows are in units by one bet on units. 5: claims of what has parts by the rule of the whole. A
# better rule of an event that has one gets the next number.
RULES = 5


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms: what was declared when the ledger was opened; they never change.

    `tolerance` is None where no half-width is promised, or none is planned yet. `surprises` is how
    many of the `questions` may be refuted guesses: it sets their prior, and no promise rests on it.
    With a `design` (public columns) rows are still independent, but no longer alike; nor are they
    given other `public` columns. By their `key`, which is public and says nothing of them, values
    are attached later: rows are not alike for questions about values that were made for their keys.
    `candidates` is how many are gated at most.
    `assumes` is what the mechanism's promise rests on beside that, in words. `described_share` is
    the part of the failure probability for described questions, `reveal_share` what the mechanism
    keeps for a statistic that is revealed at the end; the ledger has the rest. Described effects of
    `randomised` arms rest on how those were drawn, and on nothing else of the rows. `rules` says
    which rules describe: an event has one rule for as long as its ledger lives. `looked_up` counts
    the columns that were searched for missing values at opening, and those that had some: what that
    tells is taken off the level of the ledger (None: nobody looked, or nobody counted it).
    """

    rows: int
    tolerance: float | None
    confidence_level: float
    questions: int | None
    sampling: Sampling
    design: Design = NO_DESIGN
    surprises: int | None = None
    assumes: str | None = None
    described: Describing = "off"
    described_share: float = 0.0
    key: str | None = None
    public: tuple[str, ...] = ()
    candidates: int | None = None
    reveal_share: float = 0.0
    randomised: Randomised | None = None
    rules: int = RULES
    looked_up: tuple[int, int] | None = (0, 0)
    # ln of the failure probability of all intervals of the ledger together.
    log_beta: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.positive_integer("rows", self.rows)
        if self.tolerance is not None:
            require.positive("tolerance", self.tolerance)
        require.probability("confidence_level", self.confidence_level)
        if self.questions is not None:
            require.positive_integer("questions", self.questions)
        require.surprises(self.surprises, self.questions)
        if self.candidates is not None:
            require.positive_integer("candidates", self.candidates)
        require.between("described_share", self.described_share, 0.0, 1.0)
        _require_share(self.described, self.described_share)
        require.between("reveal_share", self.reveal_share, 0.0, 1.0 - self.described_share)
        if self.randomised is not None and not self.describes:
            raise InvalidArgument(
                f"arms are randomised by {self.randomised.by}, and described is 'off'; the effect "
                "in these rows is told by described answers only. Leave one out."
            )
        if self.design.columns and isinstance(self.sampling, Clustered) and not self.given_sizes:
            raise InvalidArgument(
                f"sampling has largest={self.sampling.largest:,}, by which the sizes of units were "
                "not decided, and a design makes public how many rows its groups have, as if they "
                "were; say sizes='fixed' in place of largest=, and every promise is given the "
                "sizes of the units, or leave design out: text questions about groups need "
                "none."
            )
        object.__setattr__(self, "log_beta", self.pots.log_beta)

    @property
    def promises(self) -> bool:
        """Whether any interval is promised."""
        return self.tolerance is not None

    @property
    def simultaneous(self) -> bool:
        """Whether intervals are true together: the ledger's, or those of described questions."""
        return self.promises or self.describes

    @property
    def together(self) -> str:
        """Confidence of all intervals together, in few words."""
        if not self.simultaneous:
            return "no promise"
        condition = f", {GIVEN_SIZES}" if self.given_sizes else ""
        return f"{sure(self.confidence_level)}{condition}"

    @property
    def half_width(self) -> float:
        """Default half-width of answers; where none is promised, that of all values."""
        return WHOLE_RANGE if self.tolerance is None else self.tolerance

    @property
    def width(self) -> str:
        """The promised half-width, in words."""
        if self.tolerance is None:
            return "no half-width is promised"
        return f"+-{at_most(100 * self.tolerance)} % of each column's range"

    @property
    def parted(self) -> str:
        """Parts of the failure probability, where it is not all for the ledger's questions."""
        whole = 1.0 - self.confidence_level
        parts = {
            "text questions": self.described_share,
            "a statistic revealed at the end": self.reveal_share,
            "all others": 1.0 - self.described_share - self.reveal_share,
        }
        shares = [f"{percent(whole * share)} for {pot}" for pot, share in parts.items() if share]
        return f"{percent(whole)}, of it {', '.join(shares[:-1])} and {shares[-1]}"

    @property
    def concentration(self) -> Concentration:
        """Concentration of a mean of all rows."""
        return profile_of_rows(self.sampling, self.rows)

    def level_for_later(self, log_level: float) -> float:
        """ln of a level for what is chosen after opening, where the number of rows was drawn.

        It may be chosen by that number, which has a part of the level. The concentration of a mean
        knows that by itself.
        """
        concentration = self.concentration
        if not isinstance(concentration, PooledUnits):
            return log_level
        return round_down(log_level + concentration.log_weight)

    @property
    def assumption(self) -> str:
        """Assumption that every promise rests on, in words."""
        parts = [str(self.sampling)]
        if self.design.columns:
            parts.append("given the design columns as they are in these rows")
        if self.public:
            parts.append(f"for these items: given {', '.join(self.public)} as they are")
        if self.key is not None:
            alone = not (self.public or self.design.columns)
            parts.append(_assumed_of_key(self.key, alone=alone))
        if self.randomised is not None:
            parts.append(str(self.randomised))
        if self.assumes is not None:
            parts.append(self.assumes)
        return ", ".join(parts)

    @property
    def given_sizes(self) -> bool:
        """Whether all that is said is given the sizes of the units that rows come in."""
        return isinstance(self.sampling, Clustered) and self.sampling.given_sizes

    @property
    def independent(self) -> bool:
        return isinstance(self.sampling, Independent)

    @property
    def alike(self) -> bool:
        """Whether rows are independent draws from one population, whatever is asked of them."""
        return self.alike_for(keyless=False)

    def alike_for(self, *, keyless: bool) -> bool:
        """Whether they are, for a question that reads nothing made for single keys, or one that
        may: given its key, a row with a value that was chosen for it is like no other."""
        one_population = self.independent and not (self.public or self.design.columns)
        return one_population and (keyless or self.key is None)

    @property
    def describes(self) -> bool:
        """Whether described questions are answered at the level of their length."""
        return self.described != "off"

    @property
    def pots(self) -> Pots:
        """The failure probability, parted."""
        shares = self.described_share, self.reveal_share
        weight = 0.0 if self.looked_up is None else _looked_up_weight(*self.looked_up)
        return Pots(self.confidence_level, *shares, weight)

    @property
    def log_beta_described(self) -> float:
        """ln of the failure probability of all described intervals together."""
        return self.pots.log_beta_described

    @property
    def is_parted(self) -> bool:
        """Whether something else than the ledger's questions has a part of it."""
        return self.describes or self.reveal_share > 0.0

    def log_share(self, number: int) -> float:
        """ln beta_j of question `number`: an equal part, or a falling one when open-ended."""
        if self.questions is None:
            return open_ended_share(self.log_beta, number)
        return fixed_share(self.log_beta, self.questions)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for the ledger."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        design = self.design.to_dict() if self.design.columns else None
        sampling = sampling_to_dict(self.sampling)
        randomised = None if self.randomised is None else self.randomised.to_dict()
        facts = {"sampling": sampling, "design": design, "randomised": randomised}
        looked_up = None if self.looked_up is None else list(self.looked_up)
        return {**plain, **facts, "public": list(self.public), "looked_up": looked_up}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Terms:
        """The terms that `to_dict` wrote; other facts beside them are not read."""
        later = ("randomised", "rules", "looked_up")
        declared = [each.name for each in fields(cls) if each.init]
        plain = {name: body[name] for name in declared if name not in later}
        # Older ledgers do not speak of them.
        randomised, looked_up = body.get("randomised"), body.get("looked_up")
        facts = {
            "sampling": sampling_from_dict(body["sampling"]),
            "design": NO_DESIGN if body["design"] is None else Design.from_dict(body["design"]),
            "randomised": None if randomised is None else Randomised.from_dict(randomised),
            "public": tuple(body["public"]),
            "rules": body.get("rules", 1),
            "looked_up": None if looked_up is None else tuple(looked_up),
        }
        return cls(**{**plain, **facts})


def _assumed_of_key(key: str, *, alone: bool) -> str:
    """Assumptions of a key and the columns attached by it; `alone`, rows may be alike given it."""
    submitted = "results for uploaded columns hold for these items only"
    if not alone:
        return submitted
    return (
        f"keys ({key}) carry no information, {submitted}, for computed columns and scores the same "
        "program scored every row"
    )


_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "tolerance": partial(require.positive, "tolerance"),
    "questions": partial(require.positive_integer, "questions"),
    "surprises": lambda value: require.integer_at_least("surprises", value, 0),
    "confidence_level": require.confidence_level,
    "described": partial(require.one_of, "described", get_args(Describing)),
    "described_share": lambda value: require.between("described_share", value, 0.0, 1.0),
    "key": partial(require.text, "key"),
    "candidates": partial(require.positive_integer, "candidates"),
    "public": lambda value: tuple(sorted(set(require.texts("public", value)))),
    "randomised": partial(require.one_of, "randomised", get_args(Drawing)),
    "arm": partial(require.text, "arm"),
    "within": lambda value: tuple(sorted(set(require.texts("within", value)))),
}


@dataclass(frozen=True, slots=True)
class Declarations:
    """Declarations before the rows are known; None: it is left open. `design` has names."""

    tolerance: float | None = None
    questions: int | None = None
    surprises: int | None = None
    confidence_level: float | None = None
    sampling: Sampling | None = None
    design: tuple[str, ...] | None = None
    described: Describing | None = None
    described_share: float | None = None
    key: str | None = None
    public: tuple[str, ...] | None = None
    candidates: int | None = None
    randomised: Drawing | None = None
    arm: str | None = None
    within: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, checked in _CHECKS.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, checked(value))

    @property
    def level(self) -> float:
        """The confidence level, or the usual one."""
        return _CONFIDENCE_LEVEL if self.confidence_level is None else self.confidence_level

    def describing(self, otherwise: Describing = "exact") -> tuple[Describing, float]:
        """Mode of described questions, `otherwise` if that was left open; their share."""
        how = self.described or ("off" if self.described_share == 0.0 else otherwise)
        share = self.described_share
        if share is None:
            share = 0.0 if how == "off" else _DESCRIBED_SHARE
        _require_share(how, share)
        return how, share

    def terms(
        self,
        rows: int,
        sampling: Sampling,
        design: Design,
        described: Describing = "exact",
        randomised: Randomised | None = None,
        looked_up: tuple[int, int] | None = (0, 0),
    ) -> Terms:
        """The terms on a table with this sampling, design, drawing of arms and missing values; a
        half-width that was left open is still to be planned. `described` is how, if that was left
        open."""
        how, share = self.describing(described)
        return Terms(
            rows,
            self.tolerance,
            self.level,
            self.questions,
            sampling,
            design,
            self.surprises,
            described=how,
            described_share=share,
            key=self.key,
            public=self.public or (),
            candidates=self.candidates,
            randomised=randomised,
            looked_up=looked_up,
        )


# The account: what the transcript says has been spent. A fold, never a counter of its own.


_IMPLIED = "implied checks"
_COORDINATES = "further coordinates"


class Closed(NamedTuple):
    """Closing: when asks and checks were ended for good, and why.

    Once `retired`, described questions are ended, too; the `successor` is to be asked instead.
    """

    at: str
    why: str
    retired: bool = False
    successor: str | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """Questions asked, nats leaked, described answers, claims made and how they came out so far.

    `claims` counts every look at one, `checks` those that were decided, with their `surprises` (by
    their tests, which is what the prior counts), and `gates` likewise with those `shown`.

    Once it is `closed`, nothing but described questions is answered. `log_kept` is ln of the part
    of their shares that questions still have after dictionaries that were opened late.

    `memory` is what mechanisms remember beside that, each under its own name: folded from offers
    and releases in `advance`, never written to. Its values are plain, as JSON has them, so that an
    account can be written down and read again.
    """

    leakage: LeakageAccount = field(default_factory=LeakageAccount)
    checks: int = 0
    surprises: int = 0
    memory: Mapping[str, Any] = field(default_factory=dict)
    described: int = 0
    claims: int = 0
    gates: int = 0
    shown: int = 0
    closed: Closed | None = None
    log_kept: float = 0.0

    def require_in_use(self) -> None:
        """Refuse everything, once the ledger is retired."""
        if self.closed is not None and self.closed.retired:
            successor = self.closed.successor
            instead = "fresh rows in a new ledger" if successor is None else repr(successor)
            raise Retired(
                f"the ledger was retired at {self.closed.at}: {self.closed.why}. Repeating an "
                f"earlier question is free; ask new ones of {instead}."
            )

    def require_open(self) -> None:
        """Refuse what is not described, once something else of the rows was shown."""
        if self.closed is not None:
            raise BudgetExhausted(
                f"the ledger was closed for asks and checks at {self.closed.at}, when "
                f"{self.closed.why}. Ask a text question: one over the table's own columns, "
                "without a tolerance."
            )

    def remembering(self, name: str, value: Any) -> Account:
        """The account with one mechanism's memory replaced."""
        return replace(self, memory={**self.memory, name: value})

    def after_implied(self, checks: int) -> Account:
        """The account after checks that were confirmed by what was answered after their test."""
        return self if checks == 0 else self.remembering(_IMPLIED, self._implied + checks)

    def after_coordinates(self, further: int) -> Account:
        """The account after coordinates of vectors beyond the first of each, which are looks."""
        if further == 0:
            return self
        return self.remembering(_COORDINATES, self._coordinates + further)

    @property
    def _coordinates(self) -> int:
        return int(self.memory.get(_COORDINATES, 0))

    @property
    def _implied(self) -> int:
        return int(self.memory.get(_IMPLIED, 0))

    @property
    def refuted(self) -> int:
        """Checks that were not confirmed, neither by their test nor by what was answered then."""
        return self.surprises - self._implied

    def to_dict(self) -> dict[str, Any]:
        spent = self.leakage.log_beta_spent
        return {
            "asked": self.leakage.asked,
            "nats": self.leakage.nats,
            "log_beta_spent": None if spent == -math.inf else spent,
            "described": self.described,
            "checks": self.checks,
            "surprises": self.surprises,
            "claims": self.claims,
            "gates": self.gates,
            "shown": self.shown,
            "memory": dict(self.memory),
            "closed": None if self.closed is None else list(self.closed),
            "log_kept": self.log_kept,
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Account:
        spent = body["log_beta_spent"]
        leakage = LeakageAccount(body["asked"], body["nats"], -math.inf if spent is None else spent)
        closed = None if body["closed"] is None else Closed(*body["closed"])
        names = ("checks", "surprises", "described", "claims", "gates", "shown", "log_kept")
        plain = {name: body[name] for name in names}
        return cls(leakage, memory=dict(body["memory"]), closed=closed, **plain)

    @property
    def asked(self) -> int:
        """Questions that took a share of the ledger's failure probability, or had none to take."""
        return self.leakage.asked

    @property
    def looks(self) -> int:
        """Number of looks: asks, described questions and claims; each coordinate of a vector."""
        return self.asked + self._coordinates + self.described + self.claims

    @property
    def nats(self) -> float:
        return self.leakage.nats


# Concentrations as plain values, so that a ledger explains every radius by itself.


def profile_of(question: Statistic, terms: Terms, *, alike: bool) -> Concentration:
    """The concentration of a statistic; of a condition on rows that are alike, the binomial law."""
    row = question.row
    if row is not None and row.is_condition and alike:
        return BinomialMean(question.rows(terms.rows))
    return question.concentration(terms.rows, terms.sampling)


def recorded_profile(
    profile: Concentration, terms: Terms, question: Statistic
) -> dict[str, Any] | None:
    """The profile of a statistic as plain values; None where it is that of a mean of all rows.

    One that is no scale is written as `gamma`, with the `unit` that tolerances are a part of and
    the `error` of computing it.
    """
    if profile == terms.concentration:
        return None
    if isinstance(profile, BinomialMean):
        return {"binomial": profile.n}
    if isinstance(profile, SubExponential):
        return {"sigma": profile.sigma, "b": profile.b}
    sigma = getattr(profile, "sigma", None)
    if sigma is not None:
        return {"sigma": sigma, "b": None}
    unit = question.unit(terms.rows)
    return {"gamma": gamma_text(profile), "unit": unit, "error": question.error}


def profile_of_record(record: Mapping[str, Any] | None, terms: Terms) -> Concentration:
    """The profile that `recorded_profile` wrote."""
    if record is None:
        return terms.concentration
    if "binomial" in record:
        return BinomialMean(record["binomial"])
    if "gamma" in record:
        return OnGrid(gamma_from_text(record["gamma"]), record["error"])
    if record["b"] is None:
        return SubGaussian(record["sigma"])
    return SubExponential(record["sigma"], record["b"])


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """Part of a question: what it asks of the account, how far the sample may be from its truth.

    The `profile` and the `error` of computing it are parts of its range, of which a tolerance is of
    the `unit`. Of a vector it is each of so many `coordinates`, with a bound in this `norm`.
    """

    profile: Concentration
    unit: float = 1.0
    error: float = GRID_ERROR
    coordinates: int = 1
    norm: str | None = None

    def radius(self, log_p: float) -> float:
        """As offers have it: a part of its range."""
        return round_up(self.profile.radius(log_p) + self.error)

    @property
    def per_unit(self) -> Concentration:
        """The same as a part of what tolerances are a part of."""
        on_grid = OnGrid(self.profile, self.error)
        return on_grid if self.unit == 1.0 else _Rescaled(on_grid, self.unit)


# The parts of a question, stage by stage; none: a mean of all rows.
PartStages: TypeAlias = Sequence[Sequence[QuestionPart]]


def number_of_parts(stages: PartStages) -> int:
    """Number of shares of the failure probability that a question takes, each coordinate one."""
    return sum(part.coordinates for stage in stages for part in stage) or 1


def part_of_record(record: Mapping[str, Any] | None, terms: Terms) -> QuestionPart:
    """The part of which `recorded_profile` wrote, or a vector of such parts."""
    if record is not None and "norm" in record:
        own = part_of_record(record["each"], terms)
        return replace(own, coordinates=record["coordinates"], norm=record["norm"])
    if record is None or "gamma" not in record:
        return QuestionPart(profile_of_record(record, terms))
    return QuestionPart(gamma_from_text(record["gamma"]), record["unit"], record["error"])


@dataclass(frozen=True, slots=True)
class _Rescaled:
    """The same deviations, however large, counted in another unit."""

    profile: Concentration
    unit: float

    def log_tail(self, radius: float) -> float:
        return self.profile.log_tail(round_down(radius * self.unit))

    def radius(self, log_p: float) -> float:
        return round_up(self.profile.radius(log_p) / self.unit)


@dataclass(frozen=True, slots=True)
class OnGrid:
    """A concentration with the rounding of row values to the grid added, as offers add it."""

    profile: Concentration
    error: float = GRID_ERROR

    def log_tail(self, radius: float) -> float:
        return self.profile.log_tail(max(0.0, radius - self.error))

    def radius(self, log_p: float) -> float:
        return round_up(self.profile.radius(log_p) + self.error)


def radius_of(profile: Concentration, variance: KnownVariance, rows: int, log_p: float) -> float:
    """The radius of a mean of independent rows whose variance is known to be small."""
    log_p = min(0.0, log_p)
    return min(profile.radius(log_p), Bernstein(rows, variance.variance).radius(log_p))
