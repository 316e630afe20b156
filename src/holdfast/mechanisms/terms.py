"""Terms: the one record of what was declared; and declarations, which may leave things open.

What is declared is said once, when a ledger is opened or planned: `Declarations`. With the rows,
defaults and the mechanism's half-width it becomes `Terms`, which never change. A new declaration is
a field of both, and a line of `_CHECKS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

from holdfast import require
from holdfast.data.design import NO_DESIGN, Design
from holdfast.data.sampling import Independent, Sampling, sampling_from_dict, sampling_to_dict
from holdfast.errors import InvalidArgument
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import round_down
from holdfast.theory.leakage.nats import fixed_share, open_ended_share
from holdfast.wording import percent

__all__ = ["WHOLE_RANGE", "Declarations", "Describing", "Pots", "Terms"]

# How described questions are answered: exactly, rounded to a few symbols, or like all the others.
Describing = Literal["exact", "rounded", "off"]

WHOLE_RANGE = 0.5  # the half-width of an interval that says nothing
_CONFIDENCE_LEVEL = 0.95
_DESCRIBED_SHARE = 0.4


class Pots(NamedTuple):
    """The failure probability of all intervals, parted: described questions, what is kept for a
    statistic that is revealed at the end, and all others."""

    confidence_level: float
    described_share: float
    reveal_share: float = 0.0

    @property
    def log_beta(self) -> float:
        """ln of the ledger's part; minus infinity where it has none."""
        given = self.described_share + self.reveal_share
        whole, rest = math.log1p(-self.confidence_level), 1.0 - given
        if given == 0.0:
            return whole
        return round_down(whole + math.log(rest)) if rest else -math.inf

    @property
    def log_beta_described(self) -> float:
        """ln of the part of described questions, which is above 0."""
        return self._log_part(self.described_share)

    @property
    def log_beta_reveal(self) -> float:
        """ln of what is kept for a statistic that is revealed; minus infinity if nothing is."""
        return self._log_part(self.reveal_share) if self.reveal_share else -math.inf

    def _log_part(self, share: float) -> float:
        return round_down(math.log1p(-self.confidence_level) + math.log(share))


def _require_share(described: Describing, share: float) -> None:
    """Described questions have a share, and only they."""
    if (described != "off") != (share > 0.0):
        raise InvalidArgument(
            f"described is {described!r} and described_share {share:g}; described questions need a "
            "part of the failure probability, and nothing else does."
        )


@dataclass(frozen=True, slots=True)
class Terms:
    """What was declared when the ledger was opened; it never changes.

    `tolerance` is None where no half-width is promised, or none is planned yet. `surprises` is how
    many of the `questions` may be refuted guesses: it sets their prior, and no promise rests on it.
    With a `design` (public columns) rows are still independent, but no longer alike; nor are they
    given other `public` columns. By their `key`, which is public and says nothing of them, values
    are attached later: rows are not alike for questions about values that were made for their keys.
    `candidates` is how many are gated at most.
    `assumes` is what the mechanism's promise rests on beside that, in words. `described_share` is
    the part of the failure probability for described questions, `reveal_share` what the mechanism
    keeps for a statistic that is revealed at the end; the ledger has the rest.
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

    def __post_init__(self) -> None:
        require.positive_integer("rows", self.rows)
        if self.tolerance is not None:
            require.tolerance(self.tolerance)
        require.probability("confidence_level", self.confidence_level)
        if self.questions is not None:
            require.positive_integer("questions", self.questions)
        require.surprises(self.surprises, self.questions)
        if self.candidates is not None:
            require.positive_integer("candidates", self.candidates)
        require.between("described_share", self.described_share, 0.0, 1.0)
        _require_share(self.described, self.described_share)
        require.between("reveal_share", self.reveal_share, 0.0, 1.0 - self.described_share)

    @property
    def promises(self) -> bool:
        """Whether any interval is promised."""
        return self.tolerance is not None

    @property
    def simultaneous(self) -> bool:
        """Whether intervals are true together: the ledger's, or those of described questions."""
        return self.promises or self.describes

    @property
    def half_width(self) -> float:
        """Of answers for which no other is asked; where none is promised, that of all values."""
        return WHOLE_RANGE if self.tolerance is None else self.tolerance

    @property
    def width(self) -> str:
        """The promised half-width, in words."""
        if self.tolerance is None:
            return "no half-width is promised"
        return f"half-width {self.tolerance:g} of the range"

    @property
    def parted(self) -> str:
        """What the failure probability is for, where it is not all for the ledger's questions."""
        whole = 1.0 - self.confidence_level
        parts = {
            "described questions": self.described_share,
            "a statistic revealed at the end": self.reveal_share,
            "all others": 1.0 - self.described_share - self.reveal_share,
        }
        said = [f"{percent(whole * share)} for {what}" for what, share in parts.items() if share]
        return f"{percent(whole)}, of it {', '.join(said[:-1])} and {said[-1]}"

    @property
    def concentration(self) -> Concentration:
        """Of a mean of all rows."""
        return self.sampling.profile(self.rows)

    @property
    def assumption(self) -> str:
        """What every promise rests on, in words."""
        parts = [str(self.sampling)]
        if self.design:
            parts.append("given the design columns as they are in these rows")
        if self.public:
            parts.append(f"for these items: given {', '.join(self.public)} as they are")
        if self.key is not None:
            parts.append(_assumed_of_key(self.key, alone=not self.public and not self.design))
        if self.assumes is not None:
            parts.append(self.assumes)
        return ", ".join(parts)

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
        one_population = self.independent and not self.design and not self.public
        return one_population and (keyless or self.key is None)

    @property
    def describes(self) -> bool:
        """Whether described questions are answered at the level of their length."""
        return self.described != "off"

    @property
    def pots(self) -> Pots:
        """The failure probability, parted."""
        return Pots(self.confidence_level, self.described_share, self.reveal_share)

    @property
    def log_beta(self) -> float:
        """ln of the failure probability of all intervals of the ledger together."""
        return self.pots.log_beta

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
        plain = {name: getattr(self, name) for name in self.__slots__}
        design = self.design.to_dict() if self.design else None
        sampling = sampling_to_dict(self.sampling)
        return {**plain, "sampling": sampling, "design": design, "public": list(self.public)}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Terms:
        """The terms that `to_dict` wrote; other facts beside them are not read."""
        plain = {name: body[name] for name in cls.__slots__}
        design = NO_DESIGN if body["design"] is None else Design.from_dict(body["design"])
        sampling = sampling_from_dict(body["sampling"])
        public = tuple(body["public"])
        return cls(**{**plain, "sampling": sampling, "design": design, "public": public})


def _assumed_of_key(key: str, *, alone: bool) -> str:
    """What a key and the columns attached by it assume; `alone`, rows may be alike given it."""
    submitted = f"about values submitted by key: for these items, given {key}"
    if not alone:
        return submitted
    return (
        f"{key} says nothing of a row, {submitted}, about computed columns and scores: one program "
        "made them for all rows alike"
    )


_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "tolerance": require.tolerance,
    "questions": partial(require.positive_integer, "questions"),
    "surprises": lambda value: require.integer_at_least("surprises", value, 0),
    "confidence_level": require.confidence_level,
    "described": partial(require.one_of, "described", get_args(Describing)),
    "described_share": lambda value: require.between("described_share", value, 0.0, 1.0),
    "key": partial(require.text, "key"),
    "candidates": partial(require.positive_integer, "candidates"),
    "public": lambda value: tuple(sorted(set(require.texts("public", value)))),
}


@dataclass(frozen=True, slots=True)
class Declarations:
    """What somebody says before the rows are known; None: it is left open. `design` has names."""

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
        """How described questions are answered, `otherwise` if that was left open; their share."""
        how = self.described or ("off" if self.described_share == 0.0 else otherwise)
        share = self.described_share
        if share is None:
            share = 0.0 if how == "off" else _DESCRIBED_SHARE
        _require_share(how, share)
        return how, share

    def terms(
        self, rows: int, sampling: Sampling, design: Design, described: Describing = "exact"
    ) -> Terms:
        """The terms on a table with this sampling and design; a half-width that was left open is
        still to be planned. `described` is how, if that was left open."""
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
        )
