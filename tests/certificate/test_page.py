"""The certificate's page in a browser, and the documentation's example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import holdfast
from holdfast.certificate.checking import audit_certificate
from tests.certificate.session import with_everything
from tests.holdout.tables import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = Path("/usr/bin/chromium")
DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    with_everything(folder)
    with opened(folder) as holdout:
        holdout.certificate(str(folder / "reuse.html"))
    return folder / "reuse.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no browser at {CHROMIUM}")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


GROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.mark.parametrize("width", [1200, 390])
def test_it_is_read_in_light_and_dark_and_on_paper_without_a_request(
    page: Path, browser: Browser, width: int
) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme="light")
    requests: list[str] = []
    said: list[str] = []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("dialog", lambda dialog: said.append(dialog.message))
    tab.on("console", lambda message: said.append(message.text))
    tab.goto(page.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.evaluate(GROUND) == "rgb(255, 255, 255)"
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate(GROUND) != "rgb(255, 255, 255)"
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(GROUND) == "rgb(255, 255, 255)"
    assert tab.pdf().startswith(b"%PDF")
    tab.close()
    assert (requests, said) == ([page.as_uri()], [])


@pytest.fixture(scope="module")
def of_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four calls, with a table of 480 groups."""
    folder = tmp_path_factory.mktemp("tables")
    groups, rows = [f"g{n:03}" for n in range(240)], 9_600
    data = pl.DataFrame(
        {
            "late": [n % 3 == 0 for n in range(rows)],
            "x": [float(n % 50) for n in range(rows)],
            "group": [groups[n % 240] for n in range(rows)],
            "side": ["left" if n % 2 else "right" for n in range(rows)],
        }
    )
    schema = {"group": {"values": groups}, "side": {"values": ["left", "right"]}, "x": (0, 50)}
    with holdfast.open(data, ledger=folder / "t.ledger", schema=schema, tolerance=0.3) as holdout:
        holdout.ask(holdfast.mean("late", by=("group", "side")), asked_by="ann")
        holdout.ask("avg(x)")
        holdout.check("avg(late)", guess=0.33)
        holdout.ask(holdfast.mean("x", by="side"), asked_by="ann")
        holdout.certificate(str(folder / "reuse.html"))
    return folder / "reuse.html"


def test_tables_are_folded_and_every_answer_is_there(of_tables: Path) -> None:
    text = of_tables.read_text(encoding="utf-8")
    assert text.count("<tr") < 12
    assert text.count("<li>") > 480
    assert "<b>480 answers</b>" in text
    assert "the rows bear the claim out" in text


def test_four_calls_are_five_pages_at_most(of_tables: Path, browser: Browser) -> None:
    tab = browser.new_page()
    tab.goto(of_tables.as_uri())
    pages = len(re.findall(rb"/Type\s*/Page\b", tab.pdf(prefer_css_page_size=True)))
    tab.close()
    assert 1 <= pages <= 5


def test_the_documentations_example_runs_and_its_certificate_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (DOCS / "certificate.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "certificate.md", "exec"), {})
    assert all(finding.fine for finding in audit_certificate(Path("reuse.json")))
    assert Path("reuse.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def pages_of(pdf: bytes) -> int:
    """Pages of a PDF."""
    return len(re.findall(rb"/Type\s*/Page[^s]", pdf))


@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no browser at {CHROMIUM}")
def test_a_certificate_on_paper(tmp_path: Path) -> None:
    with_everything(tmp_path)
    with opened(tmp_path) as holdout:
        holdout.certificate(str(tmp_path / "reuse.pdf"))
    printed = (tmp_path / "reuse.pdf").read_bytes()
    assert printed.startswith(b"%PDF")
    assert 1 <= pages_of(printed) <= 5


@pytest.mark.parametrize("named", ["no-such-browser", "false"])
def test_without_a_browser_the_page_is_advised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("HOLDFAST_BROWSER", named)
    with_everything(tmp_path)
    with (
        opened(tmp_path) as holdout,
        pytest.raises(holdfast.HoldfastError, match=r"an \.html file"),
    ):
        holdout.certificate(str(tmp_path / "reuse.pdf"))
    assert not (tmp_path / "reuse.pdf").exists()
