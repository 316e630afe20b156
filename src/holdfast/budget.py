"""What is left: questions and surprises at the declared tolerance; and what a question costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.bounded_noise import declared_left
from holdfast.mechanisms.guess_and_check import LEAST_LEVEL
from holdfast.mechanisms.mechanism import Mechanism
from holdfast.plan_table import percent
from holdfast.question.row import GRID_ERROR
from holdfast.theory.guess_and_check import kt_surprise_prior
from holdfast.theory.leakage import ask_log_cost, surprise_log_charge
from holdfast.theory.release import discrete_uniform_overhead
from holdfast.theory.safeside import round_up

__all__ = ["Budget", "Cost"]

_MOST_SURPRISES = 10_000


@dataclass(frozen=True, slots=True)
class Budget:
    """A view of the account. `questions_left` and `surprises_left` are rounded down."""

    terms: Terms
    account: Account
    mechanism: Mechanism

    @property
    def asked(self) -> int:
        """Questions answered so far; repeats are not counted."""
        return self.account.asked

    @property
    def nats(self) -> float:
        """ln K: the leakage so far."""
        return self.account.nats

    @property
    def questions_left(self) -> int:
        """How many more questions can surely be asked at the declared tolerance."""
        return self.mechanism.questions_left(self.terms, self.account)

    @property
    def surprises_left(self) -> int:
        """How many guesses in a row may be refuted before the tolerance is out of reach."""
        terms, nats = self.terms, self.account.nats
        log_level = math.log(LEAST_LEVEL) if terms.independent else 0.0
        count = 0
        while count < min(declared_left(terms, self.account), _MOST_SURPRISES):
            log_p = terms.log_share(self.account.asked + count + 1) + log_level - nats
            radius = round_up(terms.concentration.radius(min(0.0, log_p)) + GRID_ERROR)
            if radius >= terms.tolerance:
                break
            prior = kt_surprise_prior(self.account.checks + count, self.account.surprises + count)
            release = ask_log_cost(radius, terms.tolerance) + discrete_uniform_overhead()
            nats += surprise_log_charge(prior, release)
            count += 1
        return count

    @property
    def promise(self) -> str:
        """What holds, and what it rests on."""
        return (
            f"with probability {percent(self.terms.confidence_level)} every interval given from "
            f"this ledger contains the truth, all together, however the questions were chosen; "
            f"assumed: {self.terms.assumption}"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "asked": self.asked,
            "questions": self.terms.questions,
            "questions_left": self.questions_left,
            "checks": self.account.checks,
            "surprises": self.account.surprises,
            "surprises_left": self.surprises_left,
            "tolerance": self.terms.tolerance,
            "confidence_level": self.terms.confidence_level,
            "simultaneous": True,
            "rows": self.terms.rows,
            "nats": self.nats,
            "promise": self.promise,
            "assumes": self.terms.assumption,
        }

    def __str__(self) -> str:
        declared = "" if self.terms.questions is None else f" of {self.terms.questions:,} declared"
        return "\n".join(
            (
                f"Budget: {self.asked:,} questions answered{declared}, "
                f"{self.account.surprises:,} surprises in {self.account.checks:,} checks",
                f"  left at half-width {self.terms.tolerance:g} of the range: "
                f"{self.questions_left:,} questions without a guess, or {self.surprises_left:,} "
                "surprises in a row",
                f"  promised: {self.promise}",
                f"  details: {self.nats:.6g} nats leaked, {self.terms.rows:,} rows",
            )
        )

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Cost:
    """What a question would cost, before it is asked. Free to know, and nothing of the data.

    `questions` counts the new ledger questions it takes, 0 for a repeat; `half_width` is None where
    it follows from answers that are not known yet.
    """

    question: str
    half_width: float | None
    least: float
    most: float
    questions: int

    @property
    def repeated(self) -> bool:
        """Whether it has been answered before."""
        return self.questions == 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "half_width": self.half_width,
            "least": self.least,
            "most": self.most,
            "questions": self.questions,
            "repeated": self.repeated,
        }

    def __str__(self) -> str:
        if self.repeated:
            return f"{self.question}: asked before, so repeating it is free"
        price = (
            f"{self.most:.4g}"
            if self.least == self.most
            else f"{self.least:.4g} if confirmed, {self.most:.4g} if a surprise"
        )
        if self.half_width is None:
            many = f"takes up to {self.questions:,} question{'s' * (self.questions > 1)}"
        else:
            many = f"half-width {self.half_width:.5g}"
        return f"{self.question}: {many}; costs {price} nats"

    __repr__ = __str__
