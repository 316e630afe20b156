"""Typical stability: an answer that is about as likely on every typical sample.

Two laws are (eta, tau)-indistinguishable, written ~, if P(O) <= e^eta Q(O) + tau and
Q(O) <= e^eta P(O) + tau for every event O. A mechanism A is (eta, tau, nu)-typically stable for a
population P of samples X (rows may be dependent)

    in oracle form  if some law W that does not see X has P[A(X) ~ W] >= 1 - nu (BF2 2.2, BF1 2.3)
    in pair form    if P[A(X) ~ A(Y)] >= 1 - nu for independent X and Y (BF2 2.3)
    in set form     if P[X, Y in S] >= 1 - nu for a set S all of whose pairs are ~ (BF1 2.2)

Legend
    eta         closeness: the log-ratio allowed between two laws
    tau         the mass outside that ratio; 0 is *pure* typical stability
    nu          the probability that the sample is not typical
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Self

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.safeside import log_add, round_up
from holdfast.theory.base.theorem import SourceNote, theorem

Form = Literal["oracle", "pair", "set"]
_FORMS: tuple[Form, ...] = ("oracle", "pair", "set")
_LEAST_FLOAT = math.ulp(0.0)


def log_probability_or_zero(name: str, value: float) -> float:
    """The logarithm of a probability in [0, 1]; -inf stands for 0 (pure stability: tau = 0)."""
    return value if value == -math.inf else require.log_probability(name, value)


def _log(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf


def probability_up(value: float) -> float:
    """Rounded up and at most 1; 0 is exact and stays."""
    return min(1.0, round_up(value)) if value > 0 else 0.0


@dataclass(frozen=True, slots=True)
class TypicalStability:
    """(eta, tau, nu)-typical stability in one of its three forms."""

    eta: float
    tau: float
    nu: float
    form: Form = "oracle"

    def __post_init__(self) -> None:
        require.non_negative("eta", self.eta)
        require.between("tau", self.tau, 0.0, 1.0)
        require.between("nu", self.nu, 0.0, 1.0)
        if self.form not in _FORMS:
            raise InvalidArgument(f"form is {self.form!r}; it must be one of {', '.join(_FORMS)}.")

    @classmethod
    def from_logs(cls, eta: float, log_tau: float, log_nu: float, form: Form = "oracle") -> Self:
        """From ln tau and ln nu, rounded up: above 1 becomes 1, too small the least float."""

        def probability(name: str, log: float) -> float:
            if log == -math.inf:
                return 0.0
            return max(_LEAST_FLOAT, probability_up(math.exp(min(0.0, require.finite(name, log)))))

        return cls(eta, probability("log_tau", log_tau), probability("log_nu", log_nu), form)

    @property
    def log_tau(self) -> float:
        """ln tau; -inf for pure stability."""
        return _log(self.tau)

    @property
    def log_nu(self) -> float:
        """ln nu; -inf if every sample is typical."""
        return _log(self.nu)

    def to_pair(self) -> TypicalStability:
        """Promise in pair form that this one implies."""
        match self.form:
            case "oracle":
                return oracle_to_pair(self.eta, self.tau, self.nu)
            case "set":
                return set_to_pair(self.eta, self.tau, self.nu)
            case _:
                return self

    def to_oracle(self) -> TypicalStability:
        """Promise in oracle form that this one implies: the form that composes adaptively."""
        match self.form:
            case "pair":
                return pair_to_oracle(self.eta, self.tau, self.nu)
            case "set":
                return set_to_oracle(self.eta, self.tau, self.nu)
            case _:
                return self


@theorem(
    source="BF2",
    place="after Definition 2.3 (BF1 after Definition 2.3), repaired",
    statement="(eta, tau, nu) in oracle form implies (2 eta, (1 + e^eta) tau, 2 nu - nu^2) in pair "
    "form.",
    domain="eta >= 0, 0 <= tau, nu <= 1",
    monotone={"eta": "up", "tau": "up", "nu": "up"},
    slack="none: a chain of three laws attains it",
    printed="oracle_to_pair_printed",
    notes=(
        SourceNote(
            "slip",
            "BF2",
            "after Definition 2.3 (BF1 after Definition 2.3)",
            "(eta, tau, nu) with an oracle implies (2 eta, 3 tau, 2 nu) for pairs",
            "(2 eta, (1 + e^eta) tau, 2 nu - nu^2)",
            "A(X) -> W -> A(Y) gives P <= e^eta (e^eta Q + tau) + tau. The printed 3 tau is false "
            "for eta > ln 2; below that it is loose.",
        ),
    ),
)
def oracle_to_pair(eta: float, tau: float, nu: float) -> TypicalStability:
    """P <= e^eta W + tau and W <= e^eta Q + tau; both samples are typical with prob. (1 - nu)^2."""
    start = TypicalStability(eta, tau, nu, "oracle")
    # e^eta tau in logs: eta may be too large for e^eta while the product is not.
    log_both = log_add(start.log_tau, start.eta + start.log_tau)
    two_tau = probability_up(math.exp(min(0.0, log_both)))
    return TypicalStability(2 * start.eta, two_tau, probability_up(nu * (2 - nu)), "pair")


@theorem(
    source="Holdfast",
    place="Section 6.1, pair to oracle",
    statement="Pair form (eta, tau, nu) implies oracle form with the same parameters.",
    domain="eta >= 0, 0 <= tau, nu <= 1",
    monotone={"eta": "up", "tau": "up", "nu": "up"},
    slack="none",
)
def pair_to_oracle(eta: float, tau: float, nu: float) -> TypicalStability:
    """Some fixed y has P[A(X) ~ A(y)] >= 1 - nu, the average over Y: take W = A(y)."""
    return TypicalStability(eta, tau, nu, "oracle")


@theorem(
    source="BF1",
    place="Definition 2.2 and the sentence after it, in the direction that holds",
    statement="Set form (eta, tau, nu) implies pair form with the same parameters.",
    domain="eta >= 0, 0 <= tau, nu <= 1",
    monotone={"eta": "up", "tau": "up", "nu": "up"},
    slack="none",
    notes=(
        SourceNote(
            "slip",
            "BF1",
            "after Definition 2.2",
            "the pair form is an equivalent way to state the definition with a set S",
            "the set form implies the pair form, not conversely",
            "If x is far from its antipode only, among N samples, a random pair is close with "
            "probability 1 - 1/N, yet a set without a far pair has half of the samples at most.",
        ),
    ),
)
def set_to_pair(eta: float, tau: float, nu: float) -> TypicalStability:
    """If X and Y are in S they are close; that is all the pair form asks."""
    return TypicalStability(eta, tau, nu, "pair")


@theorem(
    source="Holdfast",
    place="Section 6.1, set to oracle",
    statement="Set form (eta, tau, nu) implies oracle form (eta, tau, 1 - sqrt(1 - nu)).",
    domain="eta >= 0, 0 <= tau, nu <= 1",
    monotone={"eta": "up", "tau": "up", "nu": "up"},
    slack="none: half of nu, for small nu, against the way through pairs",
)
def set_to_oracle(eta: float, tau: float, nu: float) -> TypicalStability:
    """P[X, Y in S] = P[X in S]^2, so P[X in S] >= sqrt(1 - nu); take W = A(y) for a y in S."""
    start = TypicalStability(eta, tau, nu, "set")
    one_sided = start.nu / (1 + math.sqrt(1 - start.nu))
    return TypicalStability(start.eta, start.tau, probability_up(one_sided), "oracle")
