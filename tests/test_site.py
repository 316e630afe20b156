"""The documentation as a site: every page on one shelf, no dead link, nothing from elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
CHROMIUM = shutil.which("chromium")

FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
ELSEWHERE = re.compile(r"(?:https?:)?//")
STYLE_ADDRESS = re.compile(r"(?:url\(|@import)\s*[\"']?([^\"')\s;]+)")
SCRIPT_ADDRESS = re.compile(
    r"(?:\b(?:src|href)\s*[=:]|\b(?:fetch|import|importScripts)\()\s*[\"'`]((?:https?:)?//[^\"'`]+)"
)


def _shelved(entry: Any) -> Iterator[str]:
    match entry:
        case str():
            yield entry
        case dict() | list():
            for inner in entry.values() if isinstance(entry, dict) else entry:
                yield from _shelved(inner)


def test_every_page_is_on_exactly_one_shelf() -> None:
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    shelves = [name for entry in project["nav"] for name in entry]
    assert shelves == ["Start", "Tutorials", "How-to", "Concepts", "Theory", "Reference"]
    shelved = Counter(_shelved(project["nav"]))
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES}
    assert set(shelved.values()) == {1}
    assert shelved.keys() <= pages
    # A mechanism's page is found from the table of all of them, too.
    assert all(page.startswith("mechanisms/") for page in pages - shelved.keys())


def _anchors(markdown: str) -> set[str]:
    """The anchors of a page's headings; a heading that occurs again is numbered."""
    found: Counter[str] = Counter()
    anchors = set()
    for heading in HEADING.findall(FENCED.sub("", markdown)):
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        anchors.add(f"{slug}-{found[slug]}" if found[slug] else slug)
        found[slug] += 1
    return anchors


def _dead_links(page: Path) -> Iterator[str]:
    markdown = page.read_text(encoding="utf-8")
    for link in LINK.findall(CODE.sub("", FENCED.sub("", markdown))):
        path, _, anchor = link.partition("#")
        if re.match(r"\w+:", path):
            continue
        target = page.parent / path if path else page
        exists = target.is_file()
        if not exists or (anchor and anchor not in _anchors(target.read_text(encoding="utf-8"))):
            yield link


def test_no_link_is_dead() -> None:
    pages = [*PAGES, *ROOT.glob("*.md")]
    dead = {page.relative_to(ROOT).as_posix(): list(_dead_links(page)) for page in pages}
    assert not {page: links for page, links in dead.items() if links}


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(
        "# Other: `x=`\n\n```\n# no heading\n```\n\n## Twice\n## Twice\n"
    )
    page = tmp_path / "page.md"
    page.write_text(
        "[a](other.md#other-x) [b](other.md#twice-1) [c](https://example.org/x) `[d](code.md)`\n"
        "[e](gone.md) [f](other.md#no-heading) [g](#gone) ![h](gone.svg)\n"
    )
    assert list(_dead_links(page)) == ["gone.md", "other.md#no-heading", "#gone", "gone.svg"]


def _build(folder: Path, more: str = "") -> subprocess.CompletedProcess[str]:
    """Builds a copy of the documentation, with more at the end of its first page."""
    if find_spec("zensical") is None:
        pytest.skip("zensical is not installed: pip install 'holdfast[docs]'")
    shutil.copytree(DOCS, folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    with (folder / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.write(more)
    command = [sys.executable, "-m", "zensical", "build"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    done = _build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.campaign  # it builds the site again
def test_a_dead_link_fails_the_build(tmp_path: Path) -> None:
    assert _build(tmp_path, "\n[nowhere](bits.md#no-such-heading)\n").returncode != 0


class _Loaded(HTMLParser):
    """The addresses that a browser loads by itself: of anything but links that people click."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("src", "srcset", "data", "poster") or (name == "href" and tag != "a"):
                self.addresses.append(value or "")
            if name == "style":
                self.addresses += STYLE_ADDRESS.findall(value or "")


def _loaded(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".html":
            return _Loaded(text).addresses + STYLE_ADDRESS.findall(text)
        case ".css":
            return STYLE_ADDRESS.findall(text)
        case ".js":
            return SCRIPT_ADDRESS.findall(text)
        case _:
            return []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".js")]
    assert len(files) > len(PAGES)
    strange = {
        path.name: found
        for path in files
        if (found := [address for address in _loaded(path) if ELSEWHERE.match(address)])
    }
    assert not strange


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.html", '<a href="https://a.org/">a</a><script src="https://b.org/c.js"></script>'),
        ("page.html", '<link rel="stylesheet" href="//b.org/c.css">'),
        ("page.css", "@import 'https://b.org/c.css'; p { background: url(data:x) }"),
        ("page.css", "@font-face { src: url(https://b.org/c.woff2) }"),
        ("page.js", 'const a = "https://a.org/"; script.src="https://b.org/c.js"'),
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    strange = [address for address in _loaded(tmp_path / name) if ELSEWHERE.match(address)]
    assert len(strange) == 1
    assert "//b.org/" in strange[0]


class _Read(HTMLParser):
    """The words of a page with the marks that change their meaning, as one line."""

    MARKS = frozenset({"em", "strong", "code", "li", "ul", "ol", "table", "sup", "sub", "img"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self._parts: list[str] = []
        self._in_permalink = False
        self.feed(page)

    @property
    def words(self) -> list[str]:
        return "".join(self._parts).split()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._in_permalink = ("class", "headerlink") in attributes
        self._parts.append(f" <{tag}> " if tag in self.MARKS else "")

    def handle_endtag(self, tag: str) -> None:
        self._in_permalink = False
        self._parts.append(f" </{tag}> " if tag in self.MARKS else "")

    def handle_data(self, data: str) -> None:
        self._parts.append("" if self._in_permalink else data)


def test_the_site_reads_each_page_as_plain_markdown(site: Path) -> None:
    """No formula loses an asterisk and no list its points, here or where the pages are hosted."""
    reader = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")
    plain = reader.MarkdownIt("commonmark").enable("table")
    for page in PAGES:
        built = (site / page.relative_to(DOCS)).with_suffix(".html").read_text(encoding="utf-8")
        article = re.search(r"<article.*?</article>", built, re.DOTALL)
        assert article is not None
        said = _Read(plain.render(page.read_text(encoding="utf-8"))).words
        assert _Read(article[0]).words == said, page.name


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_pages_and_search_work_from_the_disk(site: Path) -> None:
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    requested: list[str] = []
    with driver.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.on("request", lambda request: requested.append(request.url))
        for name in ("index", "theorems", "mechanisms/ladder"):
            page.goto((site / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        page.wait_for_selector("iframe", state="attached")  # the search has started
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Search").fill("leaderboards")
        page.locator(f"a[href='{(site / 'leaderboards.html').as_uri()}']").wait_for()
        browser.close()
    assert any(address.endswith("/search.js") for address in requested)
    assert not [address for address in requested if ELSEWHERE.match(address)]
