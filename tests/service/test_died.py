"""A call whose worker died after it was reserved, and what is sent again."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

import holdfast
from holdfast.data.sample import Moments
from holdfast.errors import LedgerUnavailable
from holdfast.ledger.chain import Row
from holdfast.ledger.store import Store
from holdfast.question.row import RowValue
from holdfast.service.data_set import Asking, Service
from holdfast.service.tokens import CountedCall, Price
from tests.mechanisms.fake import Sums
from tests.seam import put_sample
from tests.service.serving import ROWS, TABLE


class Killed(BaseException):
    """As if the process had ended."""


def died(row: RowValue) -> Moments:
    raise Killed


@pytest.mark.parametrize("finisher", ["itself", "another"])
def test_who_is_told_what_somebody_else_finished_has_spent_it(
    service: Service, client: TestClient, finisher: str
) -> None:
    made = service.tokens.create("bob", "analyst", questions=2)
    token, question = made.token, "avg(x > 1)"
    data = str(service.folder.path.parent / "canaryfolder" / "flights.parquet")
    asking = Asking(question, tolerance=0.2, asked_by="bob", request_key=f"{token.id} k")
    call = CountedCall.of("flights", asking, asking.request_key)
    assert service.tokens.charge(token, call, Price(1, 1.0, 1)) == "now"  # before it is asked
    with holdfast.open(data, ledger=service.folder.ledger("flights")) as worker:
        put_sample(worker, Sums(ROWS, died))
        with pytest.raises(Killed):
            worker.ask(question, asked_by="bob", request_key=f"{token.id} k", tolerance=0.2)

    def told(asked: str, key: str, who: str = made.text) -> str:
        headers = {"Authorization": f"Bearer {who}", "Idempotency-Key": key}
        body = {"question": asked, "tolerance": 0.2}
        return str(client.post(f"{TABLE}/ask", json=body, headers=headers).json()["status"])

    if finisher == "another":
        other = service.tokens.create("eve", "analyst", questions=2)
        assert told("avg(x > 2)", "k", other.text) == "answered"
        assert told(question, "again", other.text) == "repeated"
        assert service.tokens.spent(other.token) == 1
    assert told(question, "k") in ("answered", "repeated")
    assert service.tokens.spent(token) == 1
    assert told(question, "another-key") == "repeated"
    assert service.tokens.spent(token) == 1


def test_what_may_be_reserved_stays_counted(
    service: Service, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full when the answer is written down: whoever comes next finishes it."""
    made = service.tokens.create("bob", "analyst", questions=1)
    append = Store.append
    written: list[Any] = []

    def once(self: Store, *said: Any) -> list[Row]:
        if written:
            raise LedgerUnavailable("the ledger cannot be used (disk is full)")
        written.append(said)
        return append(self, *said)

    def asked(key: str) -> int:
        headers = {"Authorization": f"Bearer {made.text}", "Idempotency-Key": key}
        body = {"question": "avg(x > 1)", "tolerance": 0.2}
        return client.post(f"{TABLE}/ask", json=body, headers=headers).status_code

    with monkeypatch.context() as patch:
        patch.setattr(Store, "append", once)
        assert asked("k") == 503
    assert service.tokens.spent(made.token) == 1
    assert asked("k") == 200
    assert service.tokens.spent(made.token) == 1
