"""The certificate's page in a browser, and the documentation's example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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


def test_the_documentations_example_runs_and_its_certificate_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (DOCS / "certificate.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "certificate.md", "exec"), {})
    assert all(finding.fine for finding in audit_certificate(Path("reuse.json")))
    assert Path("reuse.html").read_text(encoding="utf-8").startswith("<!doctype html>")
