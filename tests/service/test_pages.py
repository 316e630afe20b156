"""The pages: who is signed in, forms of one's own, and nothing that is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient

import holdfast
from holdfast.service.app import app_of
from holdfast.service.dashboard import SCRIPT_POLICY
from holdfast.service.data_set import Service
from holdfast.service.edge import CONTENT_POLICY
from holdfast.service.problems import known_problems
from holdfast.service.tokens import TokenRole
from tests.service.serving import LATE, ROWS, client_of_service, entries, publish

DATA = "/data/flights"
SCRIPT = "<script>alert(1)</script>"
SCRIPTS, VERSION = ("htmx.min.js", "workbench.js"), holdfast.__version__


def signed(service: Service, name: str, role: TokenRole = "analyst") -> Iterator[TestClient]:
    with client_of_service(service) as client:
        reply = client.post("/login", data={"token": service.tokens.create(name, role).text})
        assert reply.status_code == 200
        yield client


@pytest.fixture
def ada(service: Service) -> Iterator[TestClient]:
    yield from signed(service, "ada")


def mark_of(page: str) -> str:
    return str(re.findall(r'name="mark" value="([^"]+)"', page)[0])


def form_of(client: TestClient, path: str = f"{DATA}/ask", **said: str) -> dict[str, str]:
    page = client.get(path).text
    keys = re.findall(r'name="key" value="([^"]+)"', page)
    return {"mark": mark_of(page), "key": keys[0] if keys else "", **said}


def asked(client: TestClient, question: str, **said: str) -> str:
    form = form_of(client, question=question, **{"do": "ask", **said})
    return client.post(f"{DATA}/ask", data=form).text


def test_nobody_sees_a_page_without_a_token(client: TestClient) -> None:
    for page in ("/", DATA, f"{DATA}/ask", f"{DATA}/ledger", "/plan", "/tokens"):
        reply = client.get(page, follow_redirects=False)
        assert (reply.status_code, reply.headers["location"]) == (303, "/login")
    wrong = client.post("/login", data={"token": "hf_0_x"})
    assert wrong.status_code == 401
    assert "set-cookie" not in wrong.headers
    assert "unknown, expired or revoked" in wrong.text


def test_a_session_is_a_cookie_that_scripts_do_not_see(
    service: Service, client: TestClient
) -> None:
    token = service.tokens.create("ada", "analyst").text
    reply = client.post("/login", data={"token": token}, follow_redirects=False)
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert token.rpartition("_")[2].lower() not in cookie
    assert client.get(DATA).status_code == 200
    service.tokens.revoke("ada")
    assert client.get(DATA, follow_redirects=False).status_code == 303


@pytest.mark.parametrize("cookie", ["", "x", "a.b.c.d", "....", "é"])
def test_a_cookie_of_ones_own_making_is_nobodys(client: TestClient, cookie: str) -> None:
    header = {"Cookie": f"holdfast_session={cookie}".encode()}
    reply = client.get(DATA, headers=header, follow_redirects=False)  # type: ignore[arg-type]
    assert reply.status_code == 303


def test_the_workbench_says_what_it_costs_and_then_answers(
    service: Service, ada: TestClient
) -> None:
    written = len(entries(service))
    preview = asked(ada, LATE, do="preview")
    assert "text question, no limit" in preview
    assert len(entries(service)) == written
    form = form_of(ada, question=LATE, do="ask", why="a baseline")
    first, again = (ada.post(f"{DATA}/ask", data=form).text for _ in range(2))
    found = re.findall(r'<p class="found">(.*?)</p>', first)
    assert "all answers together 95 % sure" in found[0]
    assert re.findall(r'<p class="found">(.*?)</p>', again) == found  # sent twice, asked once
    with holdfast.open(ledger=service.folder.ledger("flights")) as local:
        assert [(line.request.by, line.why) for line in local.ledger] == [("ada", "a baseline")]
    checked = asked(ada, "avg(x > 20)", verb="check", number="0.5")
    assert "confirmed" in checked
    groups = asked(ada, f"{LATE} by origin", accept_cost="3")
    assert all(name in groups for name in ("EWR", "JFK", "LGA"))
    ledger = ada.get(f"{DATA}/ledger").text
    assert "avg(x &gt; 20)" in ledger
    assert 'class="found"' not in asked(ada, "avg(x > 20)", verb="at most", number="")
    for page in ("", "/promise", "/ledger", "/ledger.csv"):
        assert ada.get(DATA + page).status_code == 200


def test_a_refusal_and_an_error_are_told_in_words(ada: TestClient) -> None:
    refused = asked(ada, "avg(x > 20)", half_width="0.0001")
    assert "Refused: the promise could not be kept" in refused
    assert "<dt>missing</dt>" in refused
    assert "did you mean &#39;late&#39;?" in asked(ada, "avg(lat)")
    assert "must be a number" in asked(ada, LATE, half_width="wide")
    assert ada.get("/data/nothing", headers={"Accept": "text/html"}).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://elsewhere"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://x@y"}],
)
def test_forms_of_other_sites_are_refused(
    service: Service, ada: TestClient, headers: dict[str, str]
) -> None:
    form = form_of(ada, question=LATE, do="ask")
    assert ada.post(f"{DATA}/ask", data=form, headers=headers).status_code == 403
    assert ada.post("/login", data={"token": "x"}, headers=headers).status_code == 403
    for mark in ("", "x", "0" * 64):
        assert ada.post(f"{DATA}/ask", data={**form, "mark": mark}).status_code == 403
        assert ada.post("/logout", data={"mark": mark}).status_code == 403
    assert len(entries(service)) == 1
    other = TestClient(app_of(service))
    other.post("/login", data={"token": service.tokens.create("eve", "analyst").text})
    stolen = {**form, "mark": mark_of(other.get(DATA).text)}  # of somebody else
    assert ada.post(f"{DATA}/ask", data=stolen).status_code == 403


def test_what_people_write_is_shown_and_not_run(service: Service, ada: TestClient) -> None:
    asked(ada, LATE, why=SCRIPT)
    asked(ada, f"avg(late) {SCRIPT}")
    for page in (DATA, f"{DATA}/ledger", f"{DATA}/ask?question={SCRIPT}"):
        reply = ada.get(page)
        scripts = re.findall(r"<script[^>]*>[^<]*", reply.text)
        assert scripts == [f'<script src="/static/{name}?v={VERSION}" defer>' for name in SCRIPTS]
        assert reply.text.count("<script") == len(SCRIPTS)
        assert "&lt;script&gt;" in reply.text
        assert reply.headers["content-security-policy"] == SCRIPT_POLICY
    service.tokens.create(SCRIPT, "viewer")
    cy = TestClient(app_of(service))
    cy.post("/login", data={"token": service.tokens.create("cy", "custodian").text})
    tokens = cy.get("/tokens")
    assert "&lt;script&gt;" in tokens.text
    assert "<script" not in tokens.text
    assert tokens.headers["content-security-policy"] == CONTENT_POLICY
    assert "script-src" not in CONTENT_POLICY  # none: default-src is 'none'
    # Pages of a data set: scripts that are files of this site, and nothing written into a page.
    assert f"{CONTENT_POLICY}; script-src 'self'; connect-src 'self'" == SCRIPT_POLICY


def test_pages_ask_nothing_of_other_sites(service: Service) -> None:
    for client in signed(service, "cy", "custodian"):
        pages = (DATA, f"{DATA}/ask", f"{DATA}/ledger", "/plan", "/tokens", "/docs", "/login")
        for page in (*pages, f"{DATA}/audit?run=true", f"{DATA}/promise"):
            reply = client.get(page)
            assert reply.status_code == 200, page
            assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', reply.text), page
            assert " style=" not in reply.text
            assert " on" not in "".join(re.findall(r"<[a-z][^>]*>", reply.text)).replace(
                ' one"', ""
            ), page


def test_custodians_make_and_revoke_tokens(service: Service) -> None:
    for client in signed(service, "cy", "custodian"):
        form = form_of(client, "/tokens", name="bob", role="viewer", dataset="flights")
        made = client.post("/tokens", data={**form, "expires": "30d"}).text
        text = re.findall(r"hf_[0-9a-f]{16}_[\w-]{43}", made)[0]
        assert text not in client.get("/tokens").text
        bob = TestClient(app_of(service))
        assert bob.post("/login", data={"token": text}).status_code == 200
        assert f'href="{DATA}/ask"' not in bob.get(DATA).text
        form_bob = {"mark": mark_of(bob.get(DATA).text), "question": LATE, "do": "ask"}
        assert bob.post(f"{DATA}/ask", data=form_bob).status_code == 403
        for page in ("/tokens", f"{DATA}/audit"):
            assert bob.get(page, headers={"Accept": "text/html"}).status_code == 403
        client.post(f"/tokens/{text[3:19]}/revoke", data={"mark": form["mark"]})
        assert bob.get(DATA, follow_redirects=False).status_code == 303
        twice = client.post("/tokens", data={**form, "name": "bob"})
        assert twice.status_code == 422
        assert "choose another name" in twice.text
        assert "intact" in client.get(f"{DATA}/audit?run=true").text
        for kind in ("html", "json"):
            assert client.get(f"{DATA}/certificate.{kind}").status_code == 200


def test_several_data_sets_are_listed(service: Service, ada: TestClient) -> None:
    assert ada.get("/").url.path == DATA  # there is one
    publish(service.folder, "other", seed=2)
    listed = ada.get("/").text
    assert 'href="/data/flights"' in listed
    assert 'href="/data/other"' in listed
    assert "no interval has been given yet" in listed


def test_a_data_set_that_is_not_in_order_hides_no_other(service: Service, ada: TestClient) -> None:
    publish(service.folder, "other", seed=2)
    service.folder.ledger("other").write_bytes(b"no ledger")
    listed = ada.get("/").text
    assert 'href="/data/flights"' in listed
    assert "The ledger is not in order" in listed
    made = service.tokens.create("bob", "analyst")
    reply = ada.get("/api/v1/datasets", headers={"Authorization": f"Bearer {made.text}"})
    found = {each["name"]: each["rows"] for each in reply.json()["datasets"]}
    assert found == {"flights": ROWS, "other": None}


def test_a_gate_has_a_page_that_compares(service: Service, ada: TestClient) -> None:
    items = service.folder.path.parent / "canaryfolder" / "items.parquet"
    pl.DataFrame({"item": range(400)}).write_parquet(items)
    gate = holdfast.EvalGate(
        items, key="item", ledger=service.folder.ledger("versions"), candidates=9
    )
    with gate.holdout:
        for version, right in (("v1", 2), ("v2", 20), ("v3", 21)):
            gate.submit(version, {item: float(item % right > 0) for item in range(400)})
        gate.promote("v1")
    page = ada.get("/data/versions").text
    assert "9 candidates left" in page
    assert 'href="/data/versions/gate">Gate</a>' in page
    page = ada.get("/data/versions/gate").text
    assert "<strong>v1</strong> is the one to beat" in page
    assert "Nothing has been compared yet" in page
    offered = re.findall(r'<option value="([^"]+)">v2 against v1', page)
    form = {"mark": mark_of(page), "verb": "gate at least", "number": "0", "do": "ask"}
    told = ada.post("/data/versions/ask", data={**form, "question": offered[0]}).text
    assert "shown &gt; 0" in told
    ada.post("/data/versions/ask", data={**form, "question": "difference(v3, v2)"})
    for path in ("/gate", "/ledger", ""):  # one-sided as it was claimed; nothing where it says none
        page = re.sub(r"\s+", " ", ada.get(f"/data/versions{path}").text)
        assert '<td class="number">&gt; 0</td> <td class="nowrap"></td>' in page
        assert 'not shown</span> <small class="dim">&gt; 0</small></td>' in page
        assert "[-1, 1]" not in page
    assert "Gate</a>" not in ada.get(DATA).text


def test_pictures_are_drawn_here(ada: TestClient) -> None:
    pytest.importorskip("altair", reason="the extra charts is not installed")
    assert 'src="/plan.svg?rows=20%2C000&amp;questions=100&amp;tolerance="' in (
        page := ada.get("/plan?rows=20,000&questions=100").text
    )
    assert '<script src="/static/planner.js" defer></script>' in page
    assert ada.get("/plan").headers["content-security-policy"].endswith("; script-src 'self'")
    assert "dataset.least" in ada.get("/static/planner.js").text
    plan = ada.get("/plan.svg?rows=20,000&questions=100")
    assert plan.headers["content-type"].startswith("image/svg+xml")
    assert "What 20,000 rows can answer" in plan.text
    assert ada.get("/plan.svg?rows=many").status_code == 422

    assert ada.get(f"{DATA}/answers.svg").status_code == 422  # nothing was answered
    assert "answers.svg" not in ada.get(DATA).text
    asked(ada, LATE)
    assert "answers.svg" in ada.get(DATA).text
    light, dark = (ada.get(f"{DATA}/answers.svg?dark={each}").text for each in ("false", "true"))
    for picture, ground, ink in ((light, "white", "#1f77b4"), (dark, "#1c2024", "#6fb1e6")):
        assert LATE in picture
        assert f'fill="{ground}"' in picture
        assert ink in picture
    assert "#1f77b4" not in dark


def test_the_planner_plans(ada: TestClient) -> None:
    assert "recommended" in ada.get("/plan?rows=20,000&questions=100").text
    assert "must be a number" in ada.get("/plan?rows=many").text
    assert "Refused" in ada.get("/plan?rows=10&questions=9&tolerance=0.001").text


def test_the_reference_names_every_operation(service: Service, client: TestClient) -> None:
    page = client.get("/docs").text
    for path in client.get("/openapi.json").json()["paths"]:
        assert f"<code>{path}</code>" in page
    for problem in known_problems():
        assert f"<code>{problem.type}</code>" in page
    assert (Path(holdfast.__file__).parent / "service" / "static" / "holdfast.css").is_file()
