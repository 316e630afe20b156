"""Page of a certificate: one file of HTML that needs nothing else.

Whatever people wrote (names, reasons, questions) is text, never markup, and stands isolated, so
that letters that run from right to left turn nothing around them. A policy in the page forbids
scripts and requests, should anything be overlooked.

As a PDF the page is printed by a browser that the machine has.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import MissingExtra
from holdfast.holdout.budget import budget_of
from holdfast.ledger.entries import Recorded
from holdfast.ledger.transcript import Transcript
from holdfast.ledger.view import LedgerView, view_of
from holdfast.statistics.description import method_of
from holdfast.wording import among_rows, percent, plural

if TYPE_CHECKING:
    from holdfast.certificate.certificate import ReuseCertificate

# How the certificate's page looks: on a screen in light and dark, on a phone, and on paper.


STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1a1d21; --soft: #59626d;
  --line: #d8dde3; --tint: #f4f6f8; --mark: #0b6e4f; --bar: #0b6e4f; --warn: #9a3412; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e8eaed; --soft: #a2abb5;
  --line: #363d45; --tint: #1d2226; --mark: #5fd0a5; --bar: #45b98c; --warn: #fdba74; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 66rem; background: var(--paper);
  color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
header { border-bottom: 3px solid var(--mark); padding-bottom: 1.25rem; }
header p { margin: .25rem 0; }
.over { text-transform: uppercase; letter-spacing: .09em; font-size: .8rem; color: var(--soft); }
h1 { margin: .1rem 0 .3rem; font-size: 2.1rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2.6rem 0 .6rem; font-size: 1.3rem; }
p, li { max-width: 46rem; }
.promise { font-size: 1.2rem; line-height: 1.5; border-left: 4px solid var(--mark);
  padding: .2rem 0 .2rem 1rem; margin: 1.6rem 0; }
.none { border-color: var(--warn); }
.unsigned { border: 1px solid var(--warn); border-radius: 6px; padding: .5rem .8rem;
  color: var(--warn); }
.signed { list-style: none; padding: 0; }
dl { display: grid; grid-template-columns: repeat(3, 1fr); margin: 1.4rem 0;
  border-top: 1px solid var(--line); border-left: 1px solid var(--line); }
dl > div { padding: .6rem .8rem; border: solid var(--line); border-width: 0 1px 1px 0; }
dt { font-size: .8rem; color: var(--soft); }
dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.note { color: var(--soft); font-size: .9rem; }
code { font: .88em/1.4 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  overflow-wrap: anywhere; }
td .note { font-size: .95em; }
.hash { color: var(--soft); }
table { width: 100%; border-collapse: collapse; font-size: .9rem; margin: 1rem 0; }
th { text-align: left; font-size: .8rem; color: var(--soft); font-weight: 600;
  border-bottom: 2px solid var(--line); padding: .35rem .6rem; }
td { vertical-align: top; border-bottom: 1px solid var(--line); padding: .55rem .6rem; }
td.number { color: var(--soft); font-variant-numeric: tabular-nums; }
td.found { white-space: nowrap; font-variant-numeric: tabular-nums; }
td.found b { font-size: 1.05rem; }
.parts td { padding-top: 0; }
.whole td { border-bottom: 0; }
details ul { columns: 24rem; list-style: none; padding: 0; font-size: .85rem; }
details li { break-inside: avoid; }
summary { cursor: pointer; color: var(--soft); font-size: .85rem; }
.status { display: inline-block; font-size: .75rem; border: 1px solid var(--line);
  border-radius: 1em; padding: 0 .55em; color: var(--soft); white-space: nowrap; }
.good { color: var(--mark); border-color: var(--mark); }
.bad { color: var(--warn); border-color: var(--warn); }
.range { display: block; position: relative; height: 6px; width: 9rem; max-width: 100%;
  margin: .35rem 0 .1rem; background: var(--line); border-radius: 3px; }
.range i { position: absolute; top: 0; bottom: 0; min-width: 3px; background: var(--bar);
  border-radius: 3px; }
.who { color: var(--soft); }
.why { display: block; }
ol, ul { padding-left: 1.3rem; }
li { margin: .35rem 0; }
.theorem { margin: 0 0 1rem; max-width: 46rem; }
.theorem h3 { font-size: 1rem; margin: 0; }
.theorem p { margin: .1rem 0; }
.columns { columns: 18rem; font-size: .88rem; padding: 0; list-style: none; }
.columns li { break-inside: avoid; margin: .1rem 0; overflow-wrap: anywhere; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
@media screen and (max-width: 46rem) {
  body { padding: 1.4rem 1rem 3rem; }
  h1 { font-size: 1.6rem; }
  table, tbody, tr, td { display: block; width: 100%; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { border: 1px solid var(--line); border-radius: 6px; margin: .7rem 0; padding: .4rem .7rem; }
  td { border: 0; padding: .15rem 0; }
  td.found { white-space: normal; }
  td[data-label]::before { content: attr(data-label) ": "; color: var(--soft); font-size: .8rem; }
  td:empty { display: none; }
  .whole { border-radius: 6px 6px 0 0; border-bottom: 0; margin-bottom: 0; }
  .parts { border-radius: 0 0 6px 6px; border-top: 0; margin-top: 0; }
  dl { grid-template-columns: repeat(2, 1fr); }
  .range { width: 100%; }
}
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #444; --line: #bbb; --tint: #fff; --mark: #0b6e4f;
    --bar: #0b6e4f; --warn: #9a3412; color-scheme: light; }
  @page { size: A4; margin: 16mm 14mm; }
  body { padding: 0; max-width: none; font-size: 10pt; }
  h1 { font-size: 20pt; } h2 { font-size: 13pt; break-after: avoid; }
  table { font-size: 8.5pt; } thead { display: table-header-group; }
  tr, .theorem, dl > div, li { break-inside: avoid; }
  .range { width: 26mm; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .range i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_GOOD, _BAD = {"confirmed", "shown"}, {"no promise", "says nothing", "unfinished"}
_DESCRIBED = (
    "Questions that are text over the table's own columns are <i>described</i>: each is answered "
    "{how}, and the longer its text, counted in bits, the wider its interval; how many there are "
    "makes no difference. "
)
_PLANNED = (
    " Planned questions are of the family that was declared when the ledger was opened: what is "
    "measured, by what it is cut, and what was planned."
)
_HOW = {"exact": "exactly", "rounded": "with its value rounded to a public grid", "off": ""}
_NATS = (
    "Nats count how much the answers may have told of the rows: what leaks more leaves less to ask."
)
_STATUSES = {
    "answered": "its value was asked for",
    "confirmed": "somebody claimed it, and the rows bear the claim out",
    "not confirmed": "somebody guessed it, and the rows did not bear the guess out",
    "shown": "it is shown to be beyond the bound that was named",
    "not shown": "it could not be shown, which leaves it open",
    "says nothing": "no information: the interval is the whole range",
    "no promise": "nothing is promised about this value",
    "unfinished": "it was begun and never told",
}
_VERDICTS = {
    "confirmed": "the rows bear the claim out",
    "not confirmed": "the rows refute the guess",
    "shown": "shown to be beyond the bound",
    "not shown": "not shown, which leaves it open",
}
# They turn the letters around them, so that a name may look like another.
_TURNING = re.compile("[\\x00-\\x1f\\x7f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]")
_HEADINGS = ("", "Answer", "Question", "Who, when and why", "Rows", "Price")


def page_of(certificate: ReuseCertificate) -> str:
    """The whole page."""
    statement, transcript = certificate.statement, certificate.transcript
    title = f"Certificate of re-use: {statement['name']}"
    parts = [
        _head(certificate, statement),
        _signatures(certificate),
        _promised(statement, transcript),
        _answers(transcript),
        *_attached(transcript),
        *_ended(statement),
        _theorems(statement),
        _limits(statement),
        _how_to_check(statement),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_visible(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _head(certificate: ReuseCertificate, statement: Mapping[str, Any]) -> str:
    return (
        '<header><p class="over">Holdfast &middot; certificate of re-use</p>'
        f"<h1>{_free(statement['name'])}</h1>"
        f"<p>Made {_time(certificate.made)} by Holdfast {escape(certificate.version)} from "
        f"{plural(statement['count'], 'ledger entry', 'ledger entries')}, the newest with the hash "
        f'<code class="hash">{escape(statement["head"])}</code></p></header>'
    )


def _signatures(certificate: ReuseCertificate) -> str:
    """Signatures; or that nobody signed."""
    if not certificate.signatures:
        return (
            '<p class="unsigned"><b>Not signed.</b> Whoever has a copy can write another one that '
            "looks as good. Ask its maker for a signed one.</p>"
        )
    items = "".join(
        f"<li>{'Signed' if place == 0 else 'Countersigned'} by <b>{_free(each.signer)}</b>, "
        f'{_time(each.at)}, with the key <code class="hash">{_visible(each.key)}</code></li>'
        for place, each in enumerate(certificate.signatures)
    )
    return f'<ul class="signed">{items}</ul>'


def _promised(statement: Mapping[str, Any], transcript: Transcript) -> str:
    terms, spent = transcript.terms, statement["spent"]
    questions = "no limit set" if terms.questions is None else f"{terms.questions:,}"
    answered = sum(each["part_of"] is None for each in statement["answers"])
    facts = {
        "Protected rows": f"{terms.rows:,}",
        "Opened": _time(statement["opened"]),
        "Answers": f"{answered:,}",
        "All intervals true together": percent(terms.confidence_level)
        if terms.simultaneous
        else "not promised",
        "Questions declared": f"{questions}" + (" (text questions apart)" * terms.describes),
        "Half-width declared": escape(terms.width),
        "Text questions": f"{spent['described']:,} (no limit)",
        "Other questions": (
            f"{plural(spent['asked'], 'question')} and {plural(spent['checks'], 'check')}"
        ),
        "Leaked": f"{spent['nats']:.5g} nats",
    }
    cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items())
    parted = f"<p>The failure probability is {escape(terms.parted)}.</p>" if terms.is_parted else ""
    none = "" if terms.simultaneous else " none"
    return (
        f'<p class="promise{none}">{escape(statement["promise"])}</p>'
        f"<dl>{cells}</dl>"
        f"<h2>What is assumed</h2><p>{_free(_sentence(statement['assumes']))}</p>{parted}"
        f"<p>{_DESCRIBED.format(how=_HOW[terms.described]) if terms.describes else ''}"
        f"{'Other questions' if terms.describes else 'Questions'} "
        f"are answered by <i>{escape(statement['mechanism']['name'])}</i>: "
        f"{escape(statement['mechanism']['summary'])} {_NATS}</p>"
        f'<h2>The table</h2><ul class="columns">{_items(statement["columns"])}</ul>'
    )


def _answers(transcript: Transcript) -> str:
    view = view_of(transcript, budget_of(transcript).together)
    if not len(view):
        return "<h2>Every answer</h2><p>No question has been asked yet.</p>"
    calls = list(_calls(view))
    planned = [call for call in calls if all(line.planned for line in call)]
    others = [call for call in calls if call not in planned]
    named = {"Planned questions": planned, "Other questions": others} if planned else {"": calls}
    tables = "".join(_table_of_answers(name, each, view) for name, each in named.items() if each)
    statuses = dict.fromkeys(line.status for line in view)
    legend = "; ".join(
        f"<i>{each}</i>: {_STATUSES[each]}" for each in statuses if each in _STATUSES
    )
    return (
        '<h2>Every answer</h2><p class="note">In the order in which they were given: the value, '
        "and in brackets the interval that holds the true one. The bar shows the interval within "
        f"all values that were possible.{_PLANNED if planned else ''}</p>\n"
        f'{tables}<p class="note">{legend}.</p>'
    )


def _table_of_answers(name: str, calls: Sequence[list[Recorded]], view: LedgerView) -> str:
    head = "".join(f"<th>{heading}</th>" for heading in _HEADINGS)
    rows = "\n".join(row for lines in calls for row in _rows_of(lines, view))
    return (
        f"{f'<h3>{name}</h3>' if name else ''}<table><thead><tr>{head}</tr></thead>\n<tbody>\n"
        f"{rows}\n</tbody></table>\n"
    )


def _row_count(used: tuple[int, int], rows: int, missing: tuple[int, int]) -> str:
    """How many rows, under a head that says that they are rows."""
    number, row, lost = among_rows(used, rows, missing).partition(" row")
    return number + lost.removeprefix("s") if row else number


def _calls(view: LedgerView) -> Iterator[list[Recorded]]:
    """Lines that were told together: those of a table, and every other one alone."""
    for table, lines in groupby(view, key=_table_of):
        if table is None:
            yield from ([line] for line in lines)
        else:
            yield list(lines)


def _table_of(line: Recorded) -> tuple[object, ...] | None:
    request = line.request
    if request.table is None:
        return None
    return request.table, request.verb, request.by, request.why, request.key, line.at


def _rows_of(lines: Sequence[Recorded], view: LedgerView) -> Iterator[str]:
    if len(lines) == 1:
        yield from _rows(lines[0], view.parts(lines[0]), view.rows)
    else:
        yield from _table(lines)


def _table(lines: Sequence[Recorded]) -> Iterator[str]:
    """A table of many groups as one row, with its answers folded below it."""
    first, last = lines[0], lines[-1]
    numbers = f"{first.number or 0:,} to {last.number or 0:,}"
    by_status = Counter(line.status for line in lines)
    statuses = ", ".join(f"{count:,} {status}" for status, count in by_status.items())
    nats = f"{sum(line.charge for line in lines):.4g} nats"
    bits = {f"{line.bits:.1f}" for line in lines if line.bits is not None}
    each = f"{min(bits, key=float)} bits and more<br>" if bits else ""
    cells = [
        f'<td class="number">{numbers}</td>',
        f'<td class="found"><b>{plural(len(lines), "answer")}</b><br>'
        f'<span class="status">{escape(statuses)}</span></td>',
        f"<td><code>{_free(first.request.table)}</code></td>",
        f'<td class="who">{_asker(first)}</td>',
        '<td data-label="Rows">by group</td>',
        f'<td data-label="Price">{each}{nats}</td>',
    ]
    yield f"<tr class=whole>{''.join(cells)}</tr>"
    items = "".join(
        f"<li>{line.number}. <code>{_free(line.question)}</code> <b>{escape(line.shown)}</b> "
        f"{'' if line.side else escape(line.interval_text)} {escape(line.status)}</li>"
        for line in lines
    )
    yield (
        '<tr class="parts"><td></td><td colspan="5"><details><summary>every answer of the table'
        f"</summary><ul>{items}</ul></details></td></tr>"
    )


def _rows(line: Recorded, parts: Sequence[Recorded], rows: int) -> Iterator[str]:
    """A line, and below it the looks that were asked for it, folded."""
    used = line.rows or (rows, rows)
    cells = [
        f'<td class="number">{"-" if line.number is None else f"{line.number:,}"}</td>',
        f'<td class="found">{_result(line)}</td>',
        f"<td><code>{_free(line.question)}</code>{_question(line)}</td>",
        f'<td class="who">{_asker(line)}</td>',
        f'<td data-label="Rows">{escape(_row_count(used, rows, line.missing))}</td>',
        f'<td data-label="Price">{_price(line)}</td>',
    ]
    yield f"<tr{' class=whole' if parts else ''}>{''.join(cells)}</tr>"
    if parts:
        looks = "".join(
            f"<li>look {part.look}: <code>{_free(part.question)}</code> "
            f"{escape(part.shown)} {escape(part.interval_text)}, {_price(part)}</li>"
            for part in parts
        )
        yield (
            f'<tr class="parts"><td></td><td colspan="5"><details><summary>follows from '
            f"{plural(len(parts), 'look')} asked for it</summary><ul>{looks}</ul></details>"
            "</td></tr>"
        )


def _result(each: Recorded) -> str:
    """Cell of the result: what is known, the bar of the interval, and the status."""
    kind = " good" if each.status in _GOOD else " bad" if each.status in _BAD else ""
    verdict = f"{escape(each.verdict)}: " if each.verdict else ""
    interval = "" if each.side else f" {escape(each.interval_text)}"
    low, high = each.part_of_range
    offset = min(100.0, max(0.0, 100.0 * low))
    width = min(100.0, max(offset, 100.0 * high)) - offset
    return (
        f"{verdict}<b>{escape(each.shown)}</b>{interval}"
        f'<span class="range"><i style="left:{offset:.2f}%;width:{width:.2f}%"></i></span>'
        f'<span class="status{kind}">{escape(each.status)}</span>{_in_words(each)}'
    )


def _in_words(each: Recorded) -> str:
    """Status of a claim, as one would say it."""
    words = _VERDICTS.get(each.status)
    return "" if words is None else f'<span class="note why">{words}</span>'


def _question(each: Recorded) -> str:
    """Cell of the question: what was guessed, and the method of a described answer."""
    request, notes = each.request, []
    if request.guess is not None:
        notes.append(f"{request.side or 'guess'} {request.guess:.13g}")
    if request.table is not None:
        notes.append(f"one of {_free(request.table)}")
    if each.rule is not None:
        notes.append(escape(method_of(each.rule)))
    return "".join(f'<span class="note why">{note}</span>' for note in notes)


def _asker(each: Recorded) -> str:
    by = f"{_free(each.request.by)}, " if each.request.by else ""
    why = f'<span class="why">{_free(each.why)}</span>' if each.why else ""
    return f"{by}{_time(each.at)}{why}"


def _price(each: Recorded) -> str:
    nats = f"{each.charge:.4g} nats"
    return nats if each.bits is None else f"{each.bits:.1f} bits<br>{nats}"


def _attached(transcript: Transcript) -> Iterator[str]:
    if any(transcript.attached):
        yield f"<h2>Columns that were attached</h2><ul>{_items(map(str, transcript.attached))}</ul>"


def _ended(facts: Mapping[str, Any]) -> Iterator[str]:
    """List of what was closed, given up or is still waiting."""
    closed, notes = facts["closed"], []
    if closed is not None:
        after = "nothing new is" if closed["retired"] else "only text questions are"
        notes.append(f"Since {_time(closed['at'])} {after} answered: {_free(closed['why'])}.")
        if closed["successor"] is not None:
            notes.append(f"Ask {_free(closed['successor'])} instead.")
    notes += [
        f"<code>{_free(question)}</code> was never answered, and keeps its charge."
        for question in facts["given_up"]
    ]
    if facts["waiting"]:
        notes.append(
            f"{plural(facts['waiting'], 'look')} reserved and not yet answered; charged at worst."
        )
    if notes:
        items = "".join(f"<li>{each}</li>" for each in notes)
        yield f"<h2>What was ended or never finished</h2><ul>{items}</ul>"


def _theorems(statement: Mapping[str, Any]) -> str:
    if not statement["theorems"]:
        return "<h2>What the intervals rest on</h2><p>There is no interval to rest on anything.</p>"
    cards = "".join(
        f'<div class="theorem"><h3>{escape(each["place"])} <code>{escape(each["name"])}</code></h3>'
        f'<p>{escape(each["statement"])}</p><p class="note">{escape(each["source"])}; behind '
        f"{plural(each['answers'], 'look or line', 'looks and lines')}.</p></div>"
        for each in statement["theorems"]
    )
    return (
        '<h2>What the intervals rest on</h2><p class="note">The theorems, as the software states '
        "them. <code>holdfast theorems NAME</code> shows each with its domain and its source."
        f"</p>{cards}"
    )


def _limits(statement: Mapping[str, Any]) -> str:
    return f"<h2>What is not promised</h2><ul>{_items(statement['limits'])}</ul>"


def _how_to_check(statement: Mapping[str, Any]) -> str:
    return (
        "<footer><h2>How to check it</h2><p>Ask whoever gave you this page for its other form, the "
        "file that <code>holdfast certificate NAME --output reuse.json</code> writes. It carries "
        "every entry of the ledger. On any machine, without the rows and without the ledger, "
        "<code>holdfast audit reuse.json</code> follows the chain of hashes, derives every "
        "interval again, and compares all that is said here. The newest hash must be "
        f'<code class="hash">{escape(statement["head"])}</code>. With <code>--signed-by</code> and '
        "the public key of whoever signed it, taken from where they publish it and not from this "
        "page, it also shows that nobody else wrote it: the name and the key on this page are what "
        'its writer says.</p><p class="note">It shows no row, no '
        "place where the rows are, and no fingerprint of them that means anything without the "
        "ledger's secret.</p></footer>"
    )


def _items(texts: Iterable[str]) -> str:
    return "".join(f"<li>{_free(text)}</li>" for text in texts)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _free(text: object) -> str:
    """Text that people wrote, escaped so that it cannot reach beyond itself."""
    return f"<bdi>{_visible(text)}</bdi>"


def _visible(text: object) -> str:
    """A text without markup; what is invisible in it is shown by its code."""
    return escape(_TURNING.sub(lambda match: f"\\u{ord(match[0]):04x}", str(text)))


def _time(at: object) -> str:
    """A time as people read it; anything else as it stands."""
    try:
        text = f"{datetime.fromisoformat(str(at)):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return _free(at)
    return f'<time datetime="{escape(str(at))}">{escape(text)}</time>'


# On paper.


# The page needs no script and no network, and forbids both: any browser of this engine prints it.
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge", "microsoft-edge")
_SECONDS = 120


def pdf_of(page: str, environment: Mapping[str, str] = os.environ) -> bytes:
    """The PDF of a page; refused where no browser is there to print it."""
    browser = next(filter(None, (shutil.which(each) for each in _named(environment))), None)
    if browser is None:
        raise MissingExtra(
            "a PDF is printed by Chromium, Chrome or Edge, and none was found (the environment "
            "variable HOLDFAST_BROWSER can name one); write an .html file instead and print it "
            "from any browser. Nothing was spent."
        )
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "certificate.html"), Path(folder, "certificate.pdf")
        source.write_text(page, encoding="utf-8", newline="\n")
        command = [browser, "--headless", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # it has none for the superuser, and would not start
        command += ["--no-pdf-header-footer", f"--print-to-pdf={target}", source.as_uri()]
        try:
            subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise MissingExtra(
                f"the browser {browser!r} did not print the page ({type(error).__name__}); write "
                "an .html file instead and print it from any browser. Nothing was spent."
            ) from error


def _named(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The browsers to look for: the one that is named, or all that print."""
    named = environment.get("HOLDFAST_BROWSER")
    return (named,) if named else _BROWSERS
