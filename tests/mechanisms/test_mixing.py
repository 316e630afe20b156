"""Checks beside median and Gaussian noise: both orders on one set of rows, within limits.

Total failure: the leakage account has one part of it, every question's share and radius counting
all that leaked; the noisy answers have the rest, at a level lowered by the nats set aside.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import holdfast
from holdfast.errors import BudgetExhausted, InvalidArgument
from holdfast.ledger.audit import audit
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.claims import CHECKS, GATES, Claims
from holdfast.mechanisms.mechanism import CONFIRMED, Mechanism, Symbol, Wish, about
from holdfast.mechanisms.terms import Account, Terms
from holdfast.mechanisms.transfer import LIMITED_CLAIMS, LimitedClaims, Transfer, leaked_by_claims
from holdfast.question.row import GRID, GRID_ERROR
from tests.holdout.tables import BOUNDS, untouchable, watch
from tests.mechanisms.fake import (
    CONDITION,
    NUMBER,
    Session,
    audited,
    leaked,
    of_count,
    said,
    settled,
)
from tests.mechanisms.sessions import TABLE
from tests.mechanisms.transferring import NATS, every_law, mixed, opened
from tests.theory.coverage import too_many


def checked(nats: float) -> Account:
    """An account on which checks, and nothing else, leaked so much."""
    return leaked(nats).remembering(LIMITED_CLAIMS, nats)


# The levels -----------------------------------------------------------------------------------


@every_law
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("beta", [0.05, 0.001])
def test_the_failure_probability_is_divided_in_advance(
    name: str, share: float, beta: float
) -> None:
    terms, transfer, checker = mixed(name, beta=beta, leakage_share=share)
    (epoch,) = transfer.epochs
    leakage = 1 - checker.beside.confidence_level
    assert leakage == pytest.approx(share * beta, rel=1e-9)
    assert leakage <= share * beta
    # The epoch runs at beta_T / Kbar.
    assert epoch.log_beta == pytest.approx(math.log((1 - share) * beta) - NATS, rel=1e-9)
    assert math.exp(epoch.log_beta + NATS) + leakage <= beta * (1 + 1e-12)
    # Every ask has its share of the leakage account, and of the epoch; a claim takes none.
    (ask,) = transfer.offer(terms, Account(), [Wish(NUMBER, terms.half_width)])
    (check,) = checker.offer(terms, Account(), [about(NUMBER, terms.half_width, 0.5)])
    assert check.log_share is None
    assert math.exp(said(ask.log_share)) == pytest.approx(beta / 40, rel=1e-9)
    assert math.exp(said(ask.log_p)) == pytest.approx(share * beta / 40, rel=1e-9)
    # A claim has what asks left of the leakage account's own part, and nothing of the epoch's.
    account = Account()
    for asked in range(3):
        (check,) = checker.offer(terms, account, [about(NUMBER, terms.half_width, 0.5)])
        left = share * beta * (1 - asked / 40) * (1 - said(check.prior))
        assert said(check.log_p) == pytest.approx(math.log(left) - account.nats, abs=1e-9)
        assert said(check.log_p) <= math.log(left) - account.nats
        (ask,) = transfer.offer(terms, account, [Wish(NUMBER, terms.half_width)])
        account = transfer.advance(account, [ask], [settled(transfer, ask, 0)])


@every_law
def test_setting_nats_aside_costs_width_and_a_half_width_that_is_proved(name: str) -> None:
    widths = []
    for nats in (0.5, 3.0, 10.0):
        terms, transfer, _ = mixed(name, 20_000, leakage_nats=nats)
        widths.append(terms.half_width)
        proved = transfer.theorem.half_width(20_000, transfer.epochs)
        assert proved <= terms.half_width * (1 + 1e-7)
    assert widths == sorted(widths)


@every_law
def test_an_answer_with_noise_is_charged_by_its_peak(name: str) -> None:
    terms, transfer, _ = mixed(name)
    (offer,) = transfer.offer(terms, leaked(2.0), [Wish(NUMBER, terms.half_width)])
    # Its level on the leakage account: half of the failure probability is for that, and 2 leaked.
    assert offer.log_p == pytest.approx(math.log(0.025 / 40) - 2.0, abs=1e-9)
    assert said(offer.log_p) <= math.log(0.025 / 40) - 2.0
    hoeffding = math.sqrt((math.log(2) - said(offer.log_p)) / (2 * 5_000))
    assert hoeffding + GRID_ERROR <= said(offer.radius) <= hoeffding + 2 * GRID_ERROR
    scale = float(Fraction(offer.own_grid.scale, 5_000 * GRID))
    if name == "gaussian":
        peak = 1 / (scale * math.sqrt(2 * math.pi))
    else:
        a = transfer.law.order  # type: ignore[attr-defined]
        peak = math.gamma(a + 1.5) / (math.gamma(0.5) * math.gamma(a + 1)) / scale
    assert offer.worst_charge == pytest.approx(math.log1p(2 * said(offer.radius) * peak), rel=1e-7)
    assert offer.worst_charge >= math.log1p(2 * said(offer.radius) * peak)


@pytest.mark.parametrize(
    "options",
    [{"leakage_share": 0.5}, {"leakage_nats": 0}, {"leakage_nats": 2, "leakage_share": 1}],
)
@every_law
def test_bad_options_are_refused(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="leakage_"):
        opened(name, **options)


# The fold -------------------------------------------------------------------------------------


@every_law
@given(steps=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40))
def test_checks_never_leak_more_than_was_set_aside(
    name: str, steps: list[tuple[bool, bool]]
) -> None:
    """Any interleaving, any symbols: the ledger refuses before a path could exceed the nats."""
    terms, transfer, checker = MIXED[name]
    account, by_checks, refused = Account(), 0.0, False
    for is_check, surprising in steps:
        mechanism: Mechanism = checker if is_check else transfer
        t = terms.half_width
        wish = about(CONDITION, t, 0.5) if is_check else Wish(CONDITION, t)
        try:
            (offer,) = mechanism.offer(terms, account, [wish])
        except BudgetExhausted:
            assert is_check  # an answer with noise is not refused for what leaked
            refused = True
            continue
        assert audited(mechanism, terms, account, [offer], [CONDITION]) is None
        silent: Symbol = "not confirmed" if surprising else CONFIRMED
        symbol = silent if is_check else offer.own_grid.last // 2
        release = settled(mechanism, offer, symbol)
        by_checks += release.charge if is_check else 0.0
        account = mechanism.advance(account, [offer], [release])
    assert by_checks <= NATS
    assert leaked_by_claims(account) == pytest.approx(by_checks, abs=1e-9)
    assert leaked_by_claims(account) >= by_checks * (1 - 1e-12)
    assert math.exp(account.leakage.log_beta_spent) <= 0.05 * (1 + 1e-9)
    assert refused or account.looks == len(steps)
    assert account.asked == sum(not is_check for is_check, _ in steps)


MIXED = {name: mixed(name) for name in ("median noise", "gaussian")}


@every_law
def test_a_check_says_what_is_missing(name: str) -> None:
    terms, _, checker = MIXED[name]
    wish = about(CONDITION, terms.half_width, 0.5)
    account = checked(NATS - 0.5)
    with pytest.raises(
        BudgetExhausted, match=r"requested up to .* nats .* remaining 0\.5 of the 10 .* missing"
    ):
        checker.offer(terms, account, [wish])
    assert checker.surprises_left(terms, account, terms.concentration) == 0
    assert checker.surprises_left(terms, Account(), terms.concentration) >= 2
    # A batch is refused when all of it together may be too much.
    sizes, own = range(1, 6), checker.beside.terms(terms)
    worst = {m: sum(o.worst_charge for o in CHECKS.offer(own, Account(), [wish] * m))
             for m in sizes}  # fmt: skip
    assert worst[1] <= NATS < worst[5]
    for m in sizes:
        if worst[m] <= NATS:
            assert len(checker.offer(terms, Account(), [wish] * m)) == m
        else:
            with pytest.raises(BudgetExhausted, match="claim less at once"):
                checker.offer(terms, Account(), [wish] * m)


@every_law
def test_an_audit_finds_checks_beyond_what_was_set_aside(name: str) -> None:
    terms, transfer, checker = MIXED[name]
    (check,) = checker.offer(terms, Account(), [about(CONDITION, terms.half_width, 0.5)])
    assert audited(checker, terms, Account(), [check], [CONDITION]) is None
    found = audited(checker, terms, checked(NATS - 0.5), [check], [CONDITION]) or ""
    assert "set aside for claims" in found
    # The same nats are fine if they are the noisy answers' own.
    own = leaked(NATS + 0.1)
    (ask,) = transfer.offer(terms, own, [Wish(CONDITION, terms.half_width)])
    assert audited(transfer, terms, own, [ask], [CONDITION]) is None
    changed: dict[str, dict[str, Any]] = {
        "level": {"log_p": said(ask.log_p) + 1.0},
        "radius": {"radius": 0.99 * said(ask.radius)},
        "charge": {"worst_charge": 0.99 * ask.worst_charge},
    }
    for words, change in changed.items():
        assert audited(transfer, terms, own, [replace(ask, **change)], [CONDITION]) == words


def test_an_audit_finds_a_level_that_counts_the_nats_twice() -> None:
    terms, transfer, _ = MIXED["median noise"]
    (epoch,) = transfer.epochs
    assert transfer.beside is not None
    greedy = replace(transfer, epochs=(replace(epoch, log_beta=epoch.log_beta + NATS),))
    assert "more than the failure probability" in (greedy.fault(terms, 1) or "")
    # Half is for the leakage account: the epoch may not take nearly all of it either.
    greedy = replace(transfer, epochs=(replace(epoch, log_beta=epoch.log_beta + math.log(1.9)),))
    assert "more than the failure probability" in (greedy.fault(terms, 1) or "")


def test_open_ended_epochs_run_below_the_nats_too() -> None:
    _, transfer, _ = mixed("median noise", 10**5, None)
    total = math.fsum(math.exp(epoch.log_beta + NATS) for epoch in transfer.epochs)
    assert total <= 0.025
    assert transfer.epochs[0].log_beta == pytest.approx(math.log(0.025 / 2) - NATS, rel=1e-9)


# On a ledger ----------------------------------------------------------------------------------


@every_law
def test_both_orders_on_one_ledger(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.ledger"
    with holdfast.open(
        TABLE,
        ledger=path,
        mechanism=name,
        questions=60,
        schema=BOUNDS,
        options={"leakage_nats": NATS},
    ) as holdout:
        assert holdout.check("avg(late)", guess=0.27).status == "confirmed"
        first = holdout.ask("avg(x)")
        assert (first.status, first.cost > 0) == ("answered", True)
        second = holdout.check("avg(x > 20)", guess=0.9)
        assert second.status == "not confirmed"
        assert holdout.ask("avg(x < 3)").status == "answered"
        before = [holdout.ledger[place].charge for place in (0, 1)]
        # The noisy answer is carried, and so is the claim that was refuted.
        assert holdout.ledger[3].leaked > sum(before) + math.log(10)
        for bound in range(holdout.budget.surprises_left):
            holdout.check(f"avg(x > {bound}.5)", guess=1.0)
        watch(holdout, untouchable)
        with pytest.raises(BudgetExhausted, match=r"requested .* remaining .* set aside"):
            holdout.check("avg(x > 99)", guess=1.0)
    with holdfast.open(TABLE, ledger=path, described="off") as again:
        assert again.ask("avg(x > 77)").status == "answered"  # asking goes on
    findings = audit(path)
    assert all(finding.fine for finding in findings), findings
    with holdfast.open(ledger=path, described="off") as blind:
        assert blind.budget.surprises_left == 0


@every_law
def test_without_nats_set_aside_there_are_no_checks(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.ledger"
    with holdfast.open(TABLE, ledger=path, mechanism=name, questions=60) as holdout:
        assert holdout.budget.surprises_left == 0
        assert "guesses" not in str(holdout.budget)
        watch(holdout, untouchable)
        with pytest.raises(InvalidArgument, match=r"checks no guesses: .*leakage_nats"):
            holdout.check("avg(late)", guess=0.27)
    transcript = Transcript()
    transcript.apply(Store.open(path).news())
    assert list(transcript.mechanisms) == [f"{name}/1"]  # no other entry can be in its ledger


# Gates ----------------------------------------------------------------------------------------


@every_law
def test_a_gate_has_what_asks_left_and_never_leaks_more_than_was_set_aside(name: str) -> None:
    terms, transfer, gates = mixed(name, claims=GATES, leakage_nats=4.0)
    own = replace(terms, candidates=9)
    gate, account = Wish(CONDITION, 0.3, (0.6, 1.0), gated=True), Account()
    for asked in range(3):
        (offer,) = gates.offer(own, account, [gate])
        assert said(offer.prior) == pytest.approx(0.1)
        left = 0.025 * (1 - asked / 40) * said(offer.prior)
        assert said(offer.log_p) == pytest.approx(math.log(left) - account.nats, abs=1e-9)
        assert said(offer.log_p) <= math.log(left) - account.nats
        (ask,) = transfer.offer(terms, account, [Wish(NUMBER, terms.half_width)])
        account = transfer.advance(account, [ask], [settled(transfer, ask, 0)])
    # Each that is shown costs -ln of its prior; the next that might go beyond 4 nats is refused.
    account = Account()
    for prior in (0.1, 0.2):
        (offer,) = gates.offer(own, account, [gate])
        assert offer.prior == pytest.approx(prior)
        (release,) = gates.settle([offer], ["shown"])
        account = gates.advance(account, [offer], [release])
    assert leaked_by_claims(account) == pytest.approx(math.log(50))
    assert gates.nats_left(account) < math.log(10 / 3)
    with pytest.raises(BudgetExhausted, match="set aside for claims"):
        gates.offer(own, account, [gate])


@every_law
def test_gates_in_a_session_with_noise(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.ledger"
    with holdfast.open(
        TABLE,
        ledger=path,
        mechanism=name,
        questions=60,
        candidates=3,
        schema=BOUNDS,
        options={"leakage_nats": NATS},
    ) as holdout:
        assert holdout.gate("avg(late)", at_least=0.2).status == "shown"
        assert holdout.ask("avg(x)").status == "answered"
        assert holdout.gate("avg(late)", at_least=0.9).status == "not shown"
        assert holdout.gate("avg(late)", at_most=0.5).status == "shown"
        with pytest.raises(BudgetExhausted, match="remaining 0 of the 3 declared"):
            holdout.gate("avg(late)", at_most=0.4)
        assert holdout.ask("avg(x < 3)").status == "answered"  # asking goes on
    findings = audit(path)
    assert all(finding.fine for finding in findings), findings


# Under attack ---------------------------------------------------------------------------------

ROWS, FEATURES, TRIALS = 2_000, 120, 8


def falsely_confirmed(
    terms: Terms, transfer: Transfer, checker: LimitedClaims, trial: int, *, charging: bool
) -> bool | None:
    """Ask what every feature says, then claim something of their vote. None: refused.

    Without charges the claim believes that nothing has leaked.
    """
    rng = np.random.default_rng([20_28, trial])
    agreement = rng.random((ROWS, FEATURES)) < 0.5
    session = Session(terms, blake2b(str(trial).encode(), digest_size=32).digest(), charging)
    weights = []
    for column in agreement.T:
        sample = of_count(ROWS, int(np.count_nonzero(column)))
        release = session.put(transfer, Wish(CONDITION, terms.half_width), sample)
        weights.append(release.told - 0.5)
    vote = (agreement - 0.5) @ np.array(weights) > 0
    claim = (0.5 + 1e-6, 1.0)  # false: the truth is 1/2
    try:
        found = session.put(
            checker,
            Wish(CONDITION, 0.3, claim, claim[0]),
            of_count(ROWS, int(np.count_nonzero(vote))),
        )
    except BudgetExhausted:
        return None
    return found.value is not None


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "claims"), [(0.05, CHECKS), (0.001, CHECKS), (0.05, GATES)])
@every_law
def test_a_claim_after_many_answers_must_carry_them(name: str, beta: float, claims: Claims) -> None:
    terms, transfer, checker = mixed(name, ROWS, FEATURES + 1, beta, claims, leakage_nats=6.0)
    # Little noise, so that few answers tell as much as very many would.
    quiet = tuple(replace(epoch, scale=epoch.scale // 20) for epoch in transfer.epochs)
    transfer = replace(transfer, epochs=quiet)

    def confirmed(charging: bool) -> list[bool]:
        found = (
            falsely_confirmed(terms, transfer, checker, trial, charging=charging)
            for trial in range(TRIALS)
        )
        return [bool(each) for each in found]

    assert not too_many(confirmed(charging=True), beta)
    assert too_many(confirmed(charging=False), beta)
