"""The invariants for every mechanism of the catalogue, on real rows, at the mechanism itself.

`test_conformance` counts charges exactly for bounded noise and guess and check; here is what all
others must do too. A session is played once for each: two questions one after another, then two
chosen together (all at once where only one batch is answered).
"""

from __future__ import annotations

import inspect
import json
import math
from dataclasses import replace
from typing import Any

import pytest

from holdfast.errors import Refused
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.mechanisms.mechanism import Offer
from holdfast.mechanisms.terms import Account
from tests.mechanisms.fake import SECRET, audited
from tests.mechanisms.playing import QUESTIONS, Batch, made, played, respond, wishes_for

every_name = pytest.mark.parametrize("name", list(CATALOGUE))


@every_name
def test_only_respond_receives_the_sample(name: str) -> None:
    _, mechanism = made(name)
    for method in ("offer", "respond", "settle", "advance", "questions_left"):
        parameters = inspect.signature(getattr(mechanism, method)).parameters.values()
        given = {each.name for each in parameters if "Sample" in str(each.annotation)}
        assert given == ({"sample"} if method == "respond" else set())


@every_name
def test_only_whole_numbers_and_one_word_leave(name: str) -> None:
    for batch in played(name).batches:
        for symbol in batch.symbols:
            assert type(symbol) is int or symbol == "confirmed"


@every_name
def test_the_ledger_alone_gives_the_same_offers_answers_and_account(name: str) -> None:
    found = played(name)
    terms, mechanism = made(name)
    account = Account()
    for batch in found.batches:
        written = json.loads(json.dumps([offer.to_dict() for offer in batch.offers]))
        offers = [Offer.from_dict(body) for body in written]
        assert offers == batch.offers
        wishes = wishes_for(name, batch.questions, terms.half_width)
        assert mechanism.offer(terms, account, wishes) == offers
        releases = mechanism.settle(offers, batch.symbols)
        assert releases == batch.releases
        account = mechanism.advance(account, offers, releases)
    assert account == found.account
    assert account.asked == sum(len(batch.offers) for batch in found.batches)


@every_name
def test_the_worst_charge_is_enough_and_what_is_charged_is_counted(name: str) -> None:
    found = played(name)
    accounts = [batch.account for batch in found.batches[1:]] + [found.account]
    for batch, after in zip(found.batches, accounts, strict=True):
        for offer, release in zip(batch.offers, batch.releases, strict=True):
            assert 0.0 <= release.charge <= offer.worst_charge
        spent = math.fsum(release.charge for release in batch.releases)
        assert after.nats >= batch.account.nats + spent * (1 - 1e-12)
        shares = math.fsum(
            math.exp(offer.log_share) for offer in batch.offers if offer.log_share is not None
        )
        given = math.exp(after.leakage.log_beta_spent)
        assert given >= (math.exp(batch.account.leakage.log_beta_spent) + shares) * (1 - 1e-9)
        assert given <= 0.05 * (1 + 1e-9)


@every_name
def test_an_unfinished_batch_repeats_itself_in_any_process(name: str) -> None:
    found = played(name)
    terms, mechanism = made(name)  # another process builds its own
    for batch in found.batches:
        assert respond(terms, mechanism, batch, SECRET) == batch.symbols


@every_name
def test_questions_are_numbered_and_run_out(name: str) -> None:
    found = played(name)
    numbers = [offer.number for batch in found.batches for offer in batch.offers]
    assert numbers == list(range(1, len(numbers) + 1))
    account, mechanism, terms = found.account, found.mechanism, found.terms
    left = mechanism.questions_left(terms, account)
    assert 0 <= left <= QUESTIONS - account.asked
    question = found.batches[0].questions[0]
    with pytest.raises(Refused, match="requested"):
        mechanism.offer(
            terms, account, wishes_for(name, [question] * (QUESTIONS + 1), terms.half_width)
        )


@every_name
def test_an_honest_offer_has_no_fault_and_a_tampered_one_has(name: str) -> None:
    found = played(name)
    for batch in found.batches:
        for place, offer in enumerate(batch.offers):

            def fault(batch: Batch = batch, place: int = place, **change: Any) -> str | None:
                offers = [*batch.offers]
                offers[place] = replace(offers[place], **change)
                return audited(found.mechanism, found.terms, batch.account, offers, batch.questions)

            assert fault() is None
            assert fault(number=offer.number + 1)
            assert fault(log_share=-0.1)
            if offer.worst_charge > 0:
                assert fault(worst_charge=offer.worst_charge * 0.99)
