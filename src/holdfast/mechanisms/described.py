"""Described questions, answered exactly at the level of their length (Theorem O).

No noise, no share of the ledger's failure probability and no number of questions: the level of a
question follows from its words, and its answer is a function of symbols of a public alphabet. What
is not described and comes later pays for the symbols (coexistence).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar

from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted
from holdfast.mechanisms.catalogue import MechanismKind, Planned, no_options
from holdfast.mechanisms.exact import planned_without
from holdfast.mechanisms.mechanism import (
    Offer,
    Release,
    Symbol,
    Uncounted,
    Wish,
    each_settled,
)
from holdfast.mechanisms.noise import Noise, shared_key
from holdfast.mechanisms.terms import Account, Terms
from holdfast.statistics.description import DescribedQuestion, Prior
from holdfast.statistics.entry import Table
from holdfast.statistics.rule import RECORDED_RULES, Ground, Rule, Symbols, Told, evidence_of
from holdfast.statistics.statistic import Statistic
from holdfast.theory.length.levels import coexistence_log_charge


@dataclass(frozen=True, slots=True)
class Described(Uncounted):
    """Answers to described questions: of the dictionary that every ledger has, or of a late one."""

    name: str = "described/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:  # noqa: ARG002
        return [
            _offer(account.looks + position, _described(wish.question))
            for position, wish in enumerate(wishes, start=1)
        ]

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],  # noqa: ARG002
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        looks = [_described(question).look for question in questions]
        evidence = evidence_of(looks, sample, shared_key(noise))
        return [look.symbols_of(each) for look, each in zip(looks, evidence, strict=True)]

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._release, offers, symbols)

    def _release(self, offer: Offer, symbol: Symbol) -> Release:
        if not isinstance(symbol, list | tuple) or offer.extra is None:
            raise TypeError(f"a described answer needs whole numbers, not {symbol!r}")
        answer = _answer_of(rule_from(offer.extra["rule"]), tuple(symbol))
        if offer.extra["turned"]:
            answer = answer.turned()
        silent = answer.value is None or tuple(answer.interval) == (0.0, 1.0)
        return Release(
            offer.number,
            "says nothing" if silent else "answered",
            None if silent else answer.value,
            answer.interval,
            offer.worst_charge,
            answer.rows,
            answer.missing,
        )


DESCRIBED = Described()


def release_of(question: DescribedQuestion, number: int, symbols: Symbols) -> Release:
    """What symbols say of a question, whichever question of its event they were read for."""
    (release,) = DESCRIBED.settle([_offer(number, question)], [symbols])
    return release


@lru_cache(maxsize=1024)
def _answer_of(rule: Rule, symbols: Symbols) -> Told:
    """What symbols stand for: needed when a batch is answered, and when it is read again."""
    return rule.decode(symbols)


def ground_of(terms: Terms, table: Table) -> Ground | None:
    """What the rules of a ledger rest on; None where nothing is described."""
    if not terms.describes:
        return None
    return Ground(
        terms.rows,
        terms.sampling,
        Prior(table.schema),
        terms.log_beta_described,
        table.design,
        rounded=terms.described == "rounded",
        for_these_items=bool(terms.public),
        made_for_keys=frozenset() if terms.key is None else frozenset({terms.key}),
        arms=terms.randomised,
        generation=terms.rules,
    )


def _described(question: object) -> DescribedQuestion:
    if isinstance(question, DescribedQuestion):
        return question
    raise TypeError(f"{question!r} has no description")


def _offer(number: int, question: DescribedQuestion) -> Offer:
    named = {"member": question.member, "event": question.event}
    named = {name: value for name, value in named.items() if value is not None}
    planned = {"planned": True} if question.planned else {}
    rule = question.look.rule
    return Offer(
        number=number,
        question=question.text,
        tolerance=None,
        grid=None,
        worst_charge=coexistence_log_charge(rule.symbols),
        bits=question.bits,
        extra={"rule": recorded_rule(rule), "turned": question.turned, **named, **planned},
    )


def recorded_rule(rule: Rule) -> dict[str, Any]:
    """The rule as plain values."""
    facts = asdict(rule)  # type: ignore[call-overload]
    return {"name": rule.name, **{name: _listed(fact) for name, fact in facts.items()}}


def _listed(fact: Any) -> Any:
    return list(map(_listed, fact)) if isinstance(fact, tuple) else fact


def rule_from(body: Mapping[str, Any]) -> Rule:
    """The rule that a ledger tells of."""
    rule_class = RECORDED_RULES[body["name"]]
    facts = {each.name: body[each.name] for each in fields(rule_class)}
    rule: Rule = rule_class(**{name: _plain(fact) for name, fact in facts.items()})
    return rule


def _plain(fact: Any) -> Any:
    """A fact of a rule, which has tuples where a ledger has lists."""
    return tuple(map(_plain, fact)) if isinstance(fact, list) else fact


# No mechanism at all: of a ledger that was opened for described questions only.
#
# Nothing else is asked, so nothing that described answers leak has to be counted, and they have
# all of the failure probability.


_REFUSAL = (
    "this ledger was opened for text questions only (described_share=1): text over the "
    "table's own columns, without a half-width. Open one with a smaller described_share to ask "
    "anything else."
)


@dataclass(frozen=True, slots=True)
class DescribedOnly(Uncounted):
    """Refuses every question that comes to it: described ones do not."""

    name: ClassVar[str] = "described only/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:  # noqa: ARG002
        raise BudgetExhausted(_REFUSAL)

    def respond(
        self,
        terms: Terms,  # noqa: ARG002
        offers: Sequence[Offer],  # noqa: ARG002
        questions: Sequence[Statistic],  # noqa: ARG002
        sample: Sample,  # noqa: ARG002
        noise: Callable[[int], Noise],  # noqa: ARG002
    ) -> list[Symbol]:
        raise TypeError("what was refused has no answer")

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:  # noqa: ARG002
        raise TypeError("what was refused has no answer")


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    no_options("described only", options)
    return planned_without("described only", wanted, {})


DESCRIBED_ONLY = MechanismKind(
    name="described only",
    summary="Nothing but text questions, with all of the failure probability for them.",
    needs="Questions that are text over the table's own columns.",
    promises="Theorem O.",
    theorem=None,
    method=None,
    plan=_plan,
    build=lambda _terms, _parameters: DescribedOnly(),
    refuses_checks="it was opened for text questions only.",
    beside_described=True,
)
