"""The workbench by its forms: drafts cost nothing, answers are drawn, linked, kept and compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

import holdfast
from holdfast.ledger.entries import Recorded
from holdfast.service.data_set import Service
from holdfast.service.shown import comparison_shown, decision_of, threshold_shown
from tests.service.serving import LATE, client_of_service, entries, table

DATA = "/data/flights"


@pytest.fixture
def ada(service: Service) -> Iterator[TestClient]:
    with client_of_service(service) as client:
        client.post("/login", data={"token": service.tokens.create("ada", "analyst").text})
        yield client


def sent(client: TestClient, **fields: str) -> str:
    page = client.get(f"{DATA}/ask").text
    hidden = dict(re.findall(r'name="(mark|key)" value="([^"]+)"', page))
    return client.post(f"{DATA}/ask", data={**hidden, **fields}).text


def question_of(page: str) -> str:
    text = re.findall(r"queue last\">([^<]*)</textarea>", page)[0]
    return str(text).replace("&gt;", ">").replace("&lt;", "<").replace("&#39;", "'")


def test_clicks_build_a_priced_question_and_ask_nothing(service: Service, ada: TestClient) -> None:
    written = len(entries(service))
    page = sent(ada, pick="choose share")
    assert question_of(page) == LATE
    page = sent(ada, question=LATE, pick="column slot 0: x")
    assert question_of(page) == "avg(x > 60)"
    assert "<strong>Ready.</strong>" in page
    fields = {"question": "avg(x > 60)", "built": "avg(x > 60)", "slot 0 value": "20"}
    page = sent(ada, **fields)
    assert question_of(page) == "avg(x > 20)"
    page = sent(ada, **{**fields, "question": "avg(x > 3)"})  # what is typed wins
    assert question_of(page) == "avg(x > 3)"
    page = sent(ada, question="avg(x > 20)", pick="by origin")
    assert question_of(page) == "avg(x > 20) by origin"
    assert 'name="accept_cost" value="3"' in page
    page = sent(ada, question="avg(lat")
    assert "<strong>Not yet:</strong>" in page
    assert 'value="complete late"' in page
    assert len(entries(service)) == written  # nothing of all this was asked


def test_fields_that_were_changed_last_are_what_is_asked(ada: TestClient) -> None:
    fields = {"question": "avg(x > 60)", "built": "avg(x > 60)", "slot 0 value": "20"}
    page = sent(ada, **fields, do="ask")
    assert '<p class="asked"><code>avg(x &gt; 20)</code></p>' in page
    assert '<svg class="drawn"' in page
    assert "Decided: it is less than one half." in sent(ada, question=LATE, do="ask")


def test_an_answer_has_an_address_files_and_a_side_of_any_number(
    service: Service, ada: TestClient
) -> None:
    sent(ada, question=LATE, do="ask", why="a baseline")
    written = len(entries(service))
    page = ada.get(f"{DATA}/answers/1").text
    assert "a baseline" in page
    assert "What is that?" in page  # bits, one click away
    assert "Yes: all of the interval is above 0.1." in ada.get(f"{DATA}/answers/1?than=0.1").text
    assert "No: all of the interval is below 0.9." in ada.get(f"{DATA}/answers/1?than=.9").text
    assert "Cannot tell: 0.25 is inside" in ada.get(f"{DATA}/answers/1?than=0.25").text
    facts = ada.get(f"{DATA}/answers/1.json").json()
    assert (facts["question"], facts["asked_by"]) == (LATE, "ada")
    assert facts["low"] < 0.25 < facts["high"]
    assert ada.get(f"{DATA}/answers/1.csv").text.splitlines()[1].count(LATE) == 1
    assert len(entries(service)) == written
    for missing in ("2", "2.json", "0", "x"):
        assert ada.get(f"{DATA}/answers/{missing}").status_code in (404, 422)


def test_two_answers_are_compared_for_nothing(service: Service, ada: TestClient) -> None:
    sent(ada, question="avg(x > 0)", do="ask")
    sent(ada, question="avg(x > 60)", do="ask")
    written = len(entries(service))
    page = ada.get(f"{DATA}/compare?line=1&line=2").text
    assert "The first is larger." in page
    assert "difference%28avg%28x%20%3E%200%29%2C%20avg%28x%20%3E%2060%29%29" in page
    assert "The second is larger." in ada.get(f"{DATA}/compare?line=2&line=1").text
    assert "Cannot tell" in ada.get(f"{DATA}/compare?line=1&line=1").text
    assert ada.get(f"{DATA}/compare").status_code == 200
    assert len(entries(service)) == written


def test_the_ledger_is_searched_filtered_and_folded(ada: TestClient) -> None:
    sent(ada, question=LATE, do="ask", why="a baseline")
    sent(ada, question="avg(x > 20)", verb="check", number="0.5", do="ask")
    sent(ada, question="avg(x > 20) by origin", accept_cost="3", do="ask")
    page = ada.get(f"{DATA}/ledger").text
    assert re.findall(r"<summary><code>(.*?)</code> <span[^>]*>(\d) answers", page) == [
        ("avg(x &gt; 20) by origin", "3")
    ]
    for query, numbers in (
        ("words=base", {"1"}),
        ("words=origin+ewr", {"3"}),
        ("status=confirmed", {"2"}),
        ("by=ada", {"1", "2", "3", "4", "5"}),
        ("words=avg(x+>+20)+by+origin", {"3", "4", "5"}),
        ("by=eve", set()),
    ):
        page = ada.get(f"{DATA}/ledger?{query}").text
        assert set(re.findall(r'answers/(\d+)">\d+</a>', page)) == numbers, query
        file = ada.get(f"{DATA}/ledger.csv?{query}").text.splitlines()[1:]
        assert {line.partition(",")[0] for line in file} == numbers, query


def test_viewers_search_only_what_they_may_know(service: Service, ada: TestClient) -> None:
    sent(ada, question=LATE, do="ask")
    with client_of_service(service) as client:
        client.post("/login", data={"token": service.tokens.create("vic", "viewer").text})
        assert "answers/1" in client.get(f"{DATA}/ledger?words=late").text
        for query in ("words=ada", "by=ada"):
            assert "answers/1" not in client.get(f"{DATA}/ledger?{query}").text
        for place in ("answers/1", "answers/1.json", "answers/1.csv", "compare?line=1", "ask"):
            reply = client.get(f"{DATA}/{place}")
            assert reply.status_code == 200
            assert "ada" not in reply.text
        page = client.get(f"{DATA}/ask").text
        mark = re.findall(r'name="mark" value="([^"]+)"', page)[0]
        reply = client.post(f"{DATA}/ask", data={"mark": mark, "question": LATE, "do": "draft"})
        assert reply.status_code == 403


def test_news_is_told_when_there_is_some(service: Service, ada: TestClient) -> None:
    assert ada.get(f"{DATA}/news?seen=0").status_code == 204
    sent(ada, question=LATE, do="ask")
    reply = ada.get(f"{DATA}/news?seen=0")
    assert reply.headers["hx-trigger"] == "news"
    assert "news?seen=1" in reply.text
    service.tokens.revoke("ada")
    reply = ada.get(f"{DATA}/news?seen=0", headers={"HX-Request": "true"})
    assert (reply.status_code, reply.headers["hx-redirect"]) == (204, "/login")


def test_what_goes_wrong_with_a_part_takes_the_whole_page(ada: TestClient) -> None:
    for headers in ({"HX-Request": "true"}, {"HX-Request": "true", "Origin": "http://elsewhere"}):
        reply = ada.post(f"{DATA}/ask", data={"question": LATE, "mark": "x"}, headers=headers)
        assert reply.status_code == 403
        assert (reply.headers["hx-retarget"], reply.headers["hx-reselect"]) == ("main", "main")
        assert '<main id="main">' in reply.text


@pytest.fixture(scope="module")
def lines() -> dict[str, Recorded]:
    """Answers of every kind, from rows that are known."""
    holdout = holdfast.open(
        table(), name="kinds", questions=50, tolerance=0.1, schema={"x": (-60.0, 180.0)}
    )
    asked: dict[str, Any] = {
        "share": holdout.ask("avg(x > 100)"),
        "near half": holdout.ask("avg(x > 20)"),
        "mean": holdout.ask("avg(x)"),
        "around 0": holdout.ask("avg(clip(x - 20, -90, 90))"),
        "spread": holdout.ask("std(x)"),
        "same": holdout.ask("difference(x > 20, x < 20)"),
        "more": holdout.ask("difference(x > 0, x > 60)"),
        "less": holdout.ask("difference(x > 60, x > 0)"),
        "shown": holdout.gate("avg(x > 100)", at_most=0.5),
        "not shown": holdout.gate("avg(late)", at_least=0.5),
        "gate of groups": holdout.gate("difference(x > 0, x > 60)", at_least=0.1),
    }
    return {name: answer.recorded for name, answer in asked.items()}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("share", "Decided: it is less than one half."),
        ("near half", "Cannot tell yet whether it is more or less than one half."),
        ("mean", "Decided: it is above 0."),
        ("around 0", "Cannot tell yet whether it is above or below 0."),
        ("spread", "Decided: it is between "),
        ("same", "Cannot tell yet"),
        ("more", "Decided: the first is larger."),
        ("less", "Decided: the second is larger."),
        ("shown", "Decided: it is < 0.5."),
        ("not shown", "Decides nothing whether it is > 0.5."),
        ("gate of groups", "Decided: it is > 0.1."),
    ],
)
def test_what_an_answer_decides(lines: dict[str, Recorded], name: str, sentence: str) -> None:
    assert decision_of(lines[name]).startswith(sentence)


def test_no_sentence_says_more_than_intervals_do(lines: dict[str, Recorded]) -> None:
    for first in lines.values():
        for number in (*first.interval, first.value or 0.0):
            assert threshold_shown(first, number).startswith("Cannot tell")
        for second in lines.values():
            comparison = comparison_shown(first, second)
            larger = first.interval.low > second.interval.high
            smaller = first.interval.high < second.interval.low
            says_so = None not in (first.value, second.value)
            assert (comparison["sentence"] == "The first is larger.") is (larger and says_so)
            assert (comparison["sentence"] == "The second is larger.") is (smaller and says_so)
