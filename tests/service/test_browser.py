"""The pages in a real browser: an analyst's first ten questions, on a phone and on a desk."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.boarding import BETTER, csv_of_answers, with_board
from tests.service.serving import (
    LATE,
    entries,
    listening,
    made_service,
    require_clean,
    table,
)

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield made
        made.close()


@pytest.mark.parametrize(
    ("width", "scheme", "questions"),
    [
        pytest.param(1200, "light", 10, id="desk"),
        pytest.param(390, "dark", 2, id="phone", marks=pytest.mark.campaign),
    ],
)
def test_questions_an_error_a_refusal_and_a_token(
    browser: Any, tmp_path: Path, width: int, scheme: str, questions: int
) -> None:
    service = made_service(tmp_path)
    custodian = service.tokens.create("cy", "custodian").text
    with listening(service) as url:
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=True
        )
        page = context.new_page()
        strange: list[str] = []
        page.on("request", lambda request: strange.append(request.url))
        trouble: list[str] = []
        page.on("console", lambda message: trouble.append(message.text))

        def put(question: str, button: str = "Ask", **said: str) -> str:
            page.goto(f"{url}/data/flights/ask")
            page.fill("#question", question)
            if said:
                page.click("#options summary")
            for name, value in said.items():
                page.fill(f"#{name}", value)
            page.click(f"button:text-is('{button}')")
            page.wait_for_selector("#reply > section" if button == "Ask" else ".ready")
            text = str(page.inner_text("main"))
            require_clean(text)
            return text

        def fits() -> bool:
            page.wait_for_load_state()  # with its style
            found: bool = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            return found

        page.goto(url)
        page.fill("#token", custodian)
        page.keyboard.press("Enter")
        page.wait_for_url("**/data/flights")
        assert "The promise is intact" in page.inner_text("main")
        assert "bits" in put(LATE, "What would it cost?")
        for n in range(questions):
            assert "95 % sure" in put(f"avg(x > {10 * n})", why="exploring")
        assert "did you mean" in put("avg(lat)")
        assert "Refused" in put("avg(x > 5)", half_width="0.0001")
        assert fits()
        for place in ("", "/ledger", "/promise", "/audit?run=true"):
            page.goto(f"{url}/data/flights{place}")
            assert fits(), place
        page.goto(f"{url}/plan")
        slider = page.locator("input[type=range]").first
        slider.focus()
        with page.expect_navigation():
            slider.press("End")  # 10 million rows, and the page plans again
        assert page.input_value("#rows") == "10000000"
        assert "10,000,000" in page.inner_text("main")
        assert fits(), "plan"
        page.goto(f"{url}/tokens")
        page.fill("#name", "bob")
        page.click("text=Make a token")
        token = page.inner_text(".found")
        assert fits()
        regions = "[...document.querySelectorAll('.scroll')]"
        assert page.evaluate(f"{regions}.every(each => each.scrollWidth <= each.clientWidth)")
        page.click("[aria-label='Revoke the token of bob']")
        assert "revoked" in page.inner_text("tr.gone")
        page.click("text=Sign out")
        page.fill("#token", token)
        page.click("main button")
        assert "unknown, expired or revoked" in page.inner_text("main")
        page.goto(f"{url}/login")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground[4:-1].split(","))) < 300) is (scheme == "dark")
        context.close()
    assert all(address.startswith((url, "data:")) for address in strange)
    refused = [text for text in trouble if "Content Security Policy" in text]
    assert refused == []


@pytest.mark.parametrize(
    ("width", "scheme"), [pytest.param(1200, "light", marks=pytest.mark.campaign), (390, "dark")]
)
def test_a_submission_by_a_team_whose_name_is_a_script(
    browser: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    service = with_board(made_service(tmp_path))
    hostile = "<img src=x onerror=alert(1)>"
    analyst = service.tokens.create(hostile, "analyst", dataset="digits").text
    said = {"name": "mine.csv", "mimeType": "text/csv", "buffer": csv_of_answers(BETTER)}
    broken = {"name": "mine.csv", "mimeType": "text/csv", "buffer": csv_of_answers(BETTER[1:])}
    with listening(service) as url:
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=True
        )
        page = context.new_page()
        run: list[str] = []
        page.on("dialog", lambda dialog: run.append(dialog.message))
        page.goto(url)
        page.fill("#token", analyst)
        page.keyboard.press("Enter")
        page.click("text=The leaderboard")
        for file, called, told in ((broken, "<script>", "no prediction"), (said, "net", "leads")):
            page.set_input_files("#file", [file])
            page.fill("#name", called)
            page.click("main button")
            assert told in page.inner_text("main")
        page.wait_for_load_state()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        rows = page.locator("tbody tr")
        cells = [[row.locator(f"td >> nth={n}").inner_text() for n in (0, 1)] for row in rows.all()]
        assert [cell[0] for cell in cells] == ["1", "2"]
        assert cells[0][1] == f"{hostile}/net"
        assert page.locator("main img").count() == 0
        context.close()
    assert run == []


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_newcomer_clicks_to_a_right_answer(browser: Any, tmp_path: Path, scripts: bool) -> None:
    """Nothing is known but what the page shows: which of them are late, and at which airport?"""
    expect = pytest.importorskip("playwright.sync_api").expect
    service = made_service(tmp_path)
    analyst = service.tokens.create("ada", "analyst").text
    rows = table()
    there = rows.filter(rows["origin"] == "LGA")
    truth, truth_there = (each["late"].sum() / each.height for each in (rows, there))
    steps = 0
    with listening(service) as url:
        page = browser.new_context(java_script_enabled=scripts).new_page()
        page.set_default_timeout(10_000)
        started = time.monotonic()

        def click(text: str, inside: str = "main") -> None:
            nonlocal steps
            steps += 1
            buttons = page.locator(inside).locator("button:visible, a:visible, summary:visible")
            buttons.filter(has_text=re.compile(rf"^\W*(?:[\w./]+ )?{text}\W*$")).first.click()

        def interval() -> tuple[float, float]:
            low, high = re.findall(r"\[([-.\d]+), ([-.\d]+)\]", page.inner_text("#reply .value"))[0]
            return float(low), float(high)

        page.goto(url)
        page.fill("#token", analyst)
        page.keyboard.press("Enter")
        click("Ask a question")
        click("Share of rows")
        page.wait_for_selector("[aria-pressed=true]:text('late')")
        click("Ask")
        page.wait_for_selector("#reply .value")
        low, high = interval()
        assert low <= truth <= high
        assert steps == 3  # after signing in
        assert time.monotonic() - started < 120
        click("Add a filter")
        click("origin", ".step.filter")
        page.wait_for_selector(".step.filter select")
        page.select_option(".step.filter select >> nth=1", "LGA")
        steps += 1
        if not scripts:
            page.click("text=What would it cost?")
        expect(page.locator("#question")).to_have_value("avg(late) where origin = 'LGA'")
        click("Ask")
        page.wait_for_selector("#reply code:text(\"'LGA'\")")
        low, high = interval()
        assert low <= truth_there <= high
        assert steps == 7
        assert time.monotonic() - started < 120
        page.context.close()


CUT_OFF = """[...document.querySelectorAll("main *")].filter((each) => {
  const place = each.getBoundingClientRect();
  const inside = each.closest(".unseen, .scroll:not(:has(> table.lines))");
  return place.width && !inside && (place.right > innerWidth + 1 || place.left < -1);
}).map((each) => each.outerHTML.slice(0, 100))"""


def test_typing_is_completed_and_priced_and_news_arrives(browser: Any, tmp_path: Path) -> None:
    """On a phone in the dark: nothing is cut off, and no row was touched before it was asked."""
    expect = pytest.importorskip("playwright.sync_api").expect
    service = made_service(tmp_path)
    analyst = service.tokens.create("ada", "analyst").text
    with listening(service) as url:
        viewport = {"width": 390, "height": 800}
        context = browser.new_context(viewport=viewport, color_scheme="dark")
        page, trouble = context.new_page(), []
        page.set_default_timeout(10_000)
        page.on("console", lambda message: trouble.append(message.text))
        page.goto(url)
        page.fill("#token", analyst)
        page.keyboard.press("Enter")
        page.wait_for_url("**/data/flights")
        page.goto(f"{url}/data/flights/ask")
        page.locator("#question").press_sequentially("avg(la")
        expect(page.locator(".completions button")).to_have_text(["late"])
        expect(page.locator(".hint")).to_contain_text("not closed")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#question")).to_have_value("avg(late")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.type(")")
        expect(page.locator(".ready")).to_contain_text("Ready.")
        page.click("summary:has-text('bits')")
        expect(page.locator("#checked")).to_contain_text("one bit longer has half the share")
        assert len(entries(service)) == 1
        page.keyboard.press("Tab")
        page.focus("#question")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#reply .decides")
        assert page.evaluate(CUT_OFF) == []
        page.goto(f"{url}/data/flights/ledger")
        expect(page.locator("td.pick input")).to_have_count(1)
        other = context.new_page()  # somebody else asks meanwhile
        other.goto(f"{url}/data/flights/ask?question=avg(x > 20) by origin")
        other.check("[name=accept_cost]")
        other.click("button:text-is('Ask')")
        other.wait_for_selector("#reply .groups")
        assert other.evaluate(CUT_OFF) == []
        page.evaluate("htmx.ajax('GET', '/data/flights/news?seen=1', '#news')")  # as every 5 s
        expect(page.locator("summary:has-text('3 answers')")).to_be_visible()
        page.fill("#words", "late")
        expect(page.locator("summary:has-text('3 answers')")).to_have_count(0)
        for place in ("", "/ledger", "/answers/2", "/compare?line=2&line=3", "/promise"):
            page.goto(f"{url}/data/flights{place}")
            assert page.evaluate(CUT_OFF) == [], place
        context.close()
    assert [text for text in trouble if "Content Security Policy" in text] == []
