"""Dictionaries that are opened late, on the account: what they take, and what they leave."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from holdfast.data.sampling import Independent
from holdfast.errors import BudgetExhausted
from holdfast.ledger.dictionaries import LatePrior, after_opening, stake_in
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.leakage import log_share_of
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import parts_of
from holdfast.statistics.description import Prior
from holdfast.theory.length.levels import declared_millibits, undeclared_millibits


def terms(questions: int | None = None, described_share: float = 0.0) -> Terms:
    plain = Terms(1_000, 0.1, 0.95, questions, Independent())
    if not described_share:
        return plain
    return replace(plain, described="exact", described_share=described_share)


def asked(account: Account, log_share: float) -> Account:
    return replace(account, leakage=account.leakage.ask(log_share))


@given(
    questions=st.one_of(st.none(), st.integers(1, 30)),
    described_share=st.sampled_from([0.0, 0.4]),
    steps=st.lists(st.one_of(st.none(), st.floats(0.01, 0.99)), max_size=30),
    last=st.booleans(),
)
def test_all_shares_together_are_never_more_than_the_ledger_has(
    questions: int | None, described_share: float, steps: list[float | None], last: bool
) -> None:
    declared, account, taken = terms(questions, described_share), Account(), []
    for share in steps:
        try:
            if share is not None:
                stake = stake_in(declared, account, share)
                account = after_opening(account, stake, share)
                taken.append(stake.log_beta)
            elif questions is None or account.asked < questions:
                taken.append(log_share_of(declared, account, 1))
                account = asked(account, taken[-1])
        except BudgetExhausted:
            assert account.asked == questions  # only then nothing is left
    if last:
        try:
            taken.append(stake_in(declared, account, 1.0).log_beta)
        except BudgetExhausted:
            assert account.asked == questions
    assert math.fsum(map(math.exp, taken)) <= math.exp(declared.log_beta) * (1 + 1e-12)


@given(share=st.floats(0.01, 0.99), number=st.integers(1, 50))
def test_later_shares_are_what_a_dictionary_leaves_of_them(share: float, number: int) -> None:
    declared, account = terms(), Account()
    later = after_opening(account, stake_in(declared, account, share), share)
    before = log_share_of(declared, account, number)
    assert log_share_of(declared, later, number) <= before + math.log1p(-share)
    assert log_share_of(declared, later, number) == pytest.approx(before + math.log1p(-share))
    assert log_share_of(declared, account, number) == declared.log_share(number)


def test_what_leaked_before_lowers_the_level() -> None:
    account = replace(Account(), leakage=Account().leakage.charge(3.0))
    stake = stake_in(terms(), account, 0.5)
    assert stake.nats == account.nats
    assert stake.log_level == pytest.approx(math.log(0.025) - 3.0)


def test_fewer_questions_are_left_after_it() -> None:
    declared, account = terms(), Account()
    later = after_opening(account, stake_in(declared, account, 0.99), 0.99)
    now, then = (BOUNDED.questions_left(declared, each) for each in (account, later))
    assert 0 < then < now
    profile = declared.concentration
    now, then = (CHECKS.surprises_left(declared, each, profile) for each in (account, later))
    assert 0 < then < now


def test_an_account_with_dictionaries_is_written_and_read() -> None:
    account = after_opening(Account(), stake_in(terms(), Account(), 0.3), 0.3)
    assert Account.from_dict(json.loads(json.dumps(account.to_dict()))) == account


def test_nothing_is_left_where_nothing_is() -> None:
    with pytest.raises(BudgetExhausted, match="described_share is 1"):
        stake_in(terms(None, 1.0), Account(), 0.5)
    spent = asked(Account(), terms(1).log_share(1))
    with pytest.raises(BudgetExhausted, match=r"requested 0.5 .* remaining 0 after 1 questions"):
        stake_in(terms(1), spent, 0.5)


def test_a_declared_question_has_the_weight_of_its_member_and_others_their_length_too() -> None:
    own = Prior(Schema({"label": ColumnType.BOOLEAN, "model": ColumnType.BOOLEAN}))
    accuracy, other = (own.read(text) for text in ("avg(model = label)", "avg(model and label)"))
    declared = frozenset({parts_of(accuracy)[0].part})
    prior = LatePrior(own, 500, declared)
    assert prior.of(accuracy).plain == declared_millibits(500) / 1000
    longer = undeclared_millibits(500, 1) / 1000
    assert prior.of(other).plain == pytest.approx(longer + own.of(other).plain)
