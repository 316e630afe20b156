"""The certificate: made from a ledger, shown without its rows, and audited without either."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from html import escape
from pathlib import Path

import pytest

import holdfast
from holdfast.certificate.certificate import ReuseCertificate
from holdfast.certificate.checking import audit_certificate
from holdfast.errors import InvalidArgument, LedgerUnavailable
from holdfast.ledger.chain import canonical, chained, link
from holdfast.ledger.entries import closing
from tests.certificate.session import HOSTILE, Facts, changed, faults, with_everything
from tests.cli.run import holdfast as command, process
from tests.holdout.tables import made, opened, table
from tests.ledger.reading import rows_of


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with everything, and its certificate beside it; never to be changed."""
    folder = tmp_path_factory.mktemp("session")
    ledger = with_everything(folder)
    with opened(folder) as holdout:
        holdout.certificate(str(folder / "reuse.json"))
        holdout.certificate(str(folder / "reuse.html"))
    return ledger


@pytest.fixture
def reuse(session: Path, tmp_path: Path) -> Path:
    """The certificate's JSON, alone in a folder."""
    return Path(shutil.copy2(session.with_name("reuse.json"), tmp_path / "reuse.json"))


def test_it_verifies_alone_on_another_machine(reuse: Path) -> None:
    done = process("audit", "reuse.json", cwd=reuse.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert "entries, unbroken; its seal was not compared" in done.stdout
    assert "skip    signature: nobody signed it" in done.stdout
    assert "who wrote them is not shown. Not looked at: signature, seal and data." in done.stdout
    assert [path.name for path in reuse.parent.iterdir()] == ["reuse.json"]


def test_it_says_what_the_ledger_says(session: Path, reuse: Path) -> None:
    facts = json.loads(reuse.read_text(encoding="utf-8"))
    rows = rows_of(session)
    assert [tuple(entry.values()) for entry in facts["entries"]] == rows
    assert (facts["count"], facts["head"]) == (len(rows), rows[-1][2])
    with opened(session.parent) as holdout:
        assert facts["answers"] == holdout.ledger.to_dicts(parts=True)
        assert facts["attached"] == [column.to_dict() for column in holdout.columns]
        assert facts["spent"]["nats"] == holdout.budget.nats
    assert {line["verb"] for line in facts["answers"]} == {"ask", "check", "gate"}
    statuses = Counter(line["status"] for line in facts["answers"])
    assert {"answered", "confirmed", "shown", "not shown"} <= statuses.keys()
    assert any(line["part_of"] for line in facts["answers"])
    assert "looked up" in facts["closed"]["why"] or facts["closed"]["why"]
    named = {each["name"] for each in facts["theorems"]}
    assert {
        "described_log_level",
        "leakage_log_failure",
        "clopper_pearson",
        "quantile_interval",
        "claim_log_level",
        "BoundedMean",
    } <= named


def test_it_shows_neither_secret_nor_place_nor_seal(session: Path) -> None:
    secret = session.with_name("t.ledger-secret").read_bytes()
    for name in ("reuse.json", "reuse.html"):
        text = session.with_name(name).read_text(encoding="utf-8")
        for hidden in (secret.hex(), str(session.parent), session.parent.name, "t.ledger"):
            assert hidden not in text


def test_the_page_is_text_whatever_people_wrote(session: Path) -> None:
    page = session.with_name("reuse.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;&amp;" in page
    assert HOSTILE[-1] not in page
    assert "\\u202e" in page
    assert "default-src &#x27;none&#x27;" in page
    for off_site in ("http:", "https:", "src=", "href=", "url(", "@import"):
        assert off_site not in page


def test_the_page_says_every_answer_and_limit(session: Path) -> None:
    page = session.with_name("reuse.html").read_text(encoding="utf-8")
    facts = json.loads(session.with_name("reuse.json").read_text(encoding="utf-8"))
    with opened(session.parent) as holdout:
        for line in holdout.ledger:
            assert f"<b>{escape(line.shown)}</b>" in page
    for said in (facts["promise"], *facts["limits"], facts["head"]):
        assert said.replace("'", "&#x27;") in page
    for each in facts["theorems"]:
        assert each["name"] in page
    assert "team 7" in page
    for status in {line["status"] for line in facts["answers"] if line["part_of"] is None}:
        assert f"<i>{status}</i>: " in page
    assert "only text questions are answered" in page


# What was changed is found, and the place is told ------------------------------------------------


def kinds(path: Path) -> list[tuple[int, str]]:
    entries = json.loads(path.read_text(encoding="utf-8"))["entries"]
    return [(entry["seq"], json.loads(entry["text"])["kind"]) for entry in entries]


def test_an_entry_of_each_kind_is_known_by_its_hash(reuse: Path) -> None:
    first = {kind: seq for seq, kind in reversed(kinds(reuse))}
    assert first.keys() == {"open/3", "reserve/2", "settle/2", "told/1", "attach/1", "close/1"}
    for seq in first.values():

        def change(facts: Facts, seq: int = seq) -> None:
            entry = facts["entries"][seq - 1]
            entry["text"] = canonical({**json.loads(entry["text"]), "at": "2001-01-01T00:00:00"})

        assert (
            f"entry {seq} of the ledger does not follow" in faults(changed(reuse, change))["chain"]
        )


def test_a_chain_that_was_made_again_must_make_sense(reuse: Path) -> None:
    """Who can write a new chain must still tell what follows from offers and symbols."""
    forged = 0
    for seq, kind in kinds(reuse):
        if kind not in ("reserve/2", "settle/2", "told/1"):
            continue

        def change(facts: Facts, seq: int = seq) -> None:
            bodies = [json.loads(entry["text"]) for entry in facts["entries"]]
            match bodies[seq - 1]:
                case {"kind": "reserve/2", "items": [item, *_]}:
                    name = "bits" if item["offer"]["log_p"] is None else "log_p"
                    item["offer"][name] = 0.5 * item["offer"][name]
                case {"kind": "settle/2", "answers": [answer, *_]}:
                    answer["high"] = answer["high"] * 0.99
                case {"kind": "told/1", "lines": [{"interval": [low, _]} as line, *_]}:
                    line["interval"] = [low, low]
                case _:
                    return
            rows = chained(bodies, 0, "0" * 64)
            facts["entries"] = [
                dict(zip(("seq", "text", "hash"), row, strict=True)) for row in rows
            ]
            facts["head"] = rows[-1][2]

        found = faults(changed(reuse, change))
        if found:
            assert f"entry {seq}" in found.get("chain", "") + found.get("intervals", "")
            forged += 1
    assert forged > 15


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("promise",), "All is well.", "promise does not follow"),
        (("assumes",), "Nothing.", "assumes does not follow"),
        (("rows",), 401, "rows does not follow"),
        (("answers", 2, "high"), 0.5, "answers, 3, high does not follow"),
        (("answers", 0, "by"), "bob", "answers, 1, by does not follow"),
        (("spent", "nats"), 0.1, "spent, nats does not follow"),
        (("theorems", 0, "statement"), "x.", "theorems, 1, statement does not follow"),
        (("attached", 0, "name"), "v8", "attached, 1, name does not follow"),
        (("closed",), None, "closed does not follow"),
        (("limits",), [], "limits, 1 does not follow"),
        (("more",), 1, "more does not follow"),
        (("head",), "0" * 64, "head does not follow"),
    ],
)
def test_what_is_said_must_follow_from_the_entries(
    reuse: Path, place: tuple[str | int, ...], value: object, said: str
) -> None:
    def change(facts: Facts) -> None:
        inner = facts
        for key in place[:-1]:
            inner = inner[key]  # type: ignore[index]
        inner[place[-1]] = value  # type: ignore[index]

    assert said in faults(changed(reuse, change))["statement"]
    assert "digest" in faults(changed(reuse, change, again=False))["file"]


def test_the_words_of_another_version_are_left_to_it(reuse: Path) -> None:
    def change(facts: Facts) -> None:
        facts["promise"], facts["holdfast"] = "Other words.", "9.9.9"

    assert "(Holdfast 9.9.9 wrote it" in faults(changed(reuse, change))["statement"]


def test_every_flipped_bit_is_found(reuse: Path) -> None:
    rng, content = random.Random(7), reuse.read_bytes()
    for _ in range(60):
        torn = bytearray(content)
        torn[rng.randrange(len(torn))] ^= 1 << rng.randrange(8)
        reuse.write_bytes(torn)
        assert faults(reuse)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no certificate"),
        (b"{}", "does not begin with its kind"),
        (b"[1, 2]", "does not begin with its kind"),
        (b'{"kind": "holdfast certificate/1"}', "has no entries"),
        (b'{"kind": "holdfast certificate/1", "entries": [1]}', "entry 1 lacks"),
        (b"\xff\xfe{", "no certificate"),
        (b"[" * 100_000, "no certificate"),
    ],
)
def test_a_foreign_file_is_no_certificate(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "foreign.json").write_bytes(content)
    done = command("audit", "foreign.json", cwd=tmp_path)
    assert done.returncode == 4
    assert said in done.stdout


def test_a_certificate_without_entries_has_no_opening(reuse: Path) -> None:
    assert "no opening" in faults(changed(reuse, lambda facts: facts["entries"].clear()))["chain"]


def test_white_space_is_not_as_it_was_written(reuse: Path) -> None:
    reuse.write_text(reuse.read_text(encoding="utf-8").replace('"made": ', '"made":  '), "utf-8")
    assert faults(reuse) == {"file": "line 3 is not as it was written"}


# Small and large ones ----------------------------------------------------------------------------


def test_an_empty_ledger_has_a_certificate(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path) as holdout:
        found = holdout.certificate(str(tmp_path / "reuse.json"))
    assert "0 answers, 1 entry" in str(found)
    assert "No question has been asked yet" in found.to_html()
    assert not faults(tmp_path / "reuse.json")


def test_a_baseline_promises_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, table(), mechanism="exact", schema={"x": (-60, 180)}) as holdout:
        holdout.ask("avg(late)")
        found = holdout.certificate()
    assert found.statement["promise"].startswith("Nothing is promised")
    assert any("no promise" in limit for limit in found.statement["limits"])
    assert 'class="promise none"' in found.to_html()


def test_a_described_ledger_names_its_share(tmp_path: Path) -> None:
    with opened(tmp_path, table(), described="exact", schema={"x": (-60, 180)}) as holdout:
        holdout.ask("avg(x)")
        holdout.ask("difference(avg(late) where origin = 'JFK', avg(late) where origin = 'LGA')")
        holdout.ask("quantile(x, 0.9)")
        holdout.ask("std(x)")
        found = holdout.certificate()
    names = {each["name"] for each in found.statement["theorems"]}
    expected = {"bounded_mean_interval", "share_difference_lower", "quantile_ranks"}
    assert expected | {"variance_by_bets", "described_log_level"} <= names
    assert "2 % for text questions" in found.to_html()
    assert "<dd>0 questions and 0 checks</dd>" in found.to_html()


def test_a_large_ledger_is_certified_and_audited_in_one_pass(tmp_path: Path) -> None:
    """So that neither takes longer than in proportion to what it reads."""
    with opened(tmp_path, table(), described="exact", described_share=0.4) as holdout:
        holdout.ask_many([f"avg(unit > {number})" for number in range(90)])
        for number in range(10):
            holdout.ask_many([f"avg(unit > {number} or late)", f"avg(unit < {number} or late)"])
        holdout.certificate(str(tmp_path / "reuse.json"))
        page = holdout.certificate().to_html()
    # Lines that are narrower by earlier answers have their looks folded under them.
    assert page.count("<tr>") + page.count("<tr class=whole>") == 1 + 110
    assert not faults(tmp_path / "reuse.json")


def test_an_unfinished_ledger_says_so(tmp_path: Path, session: Path) -> None:
    rows = rows_of(session)
    seq = next(seq for seq, text, _ in rows if '"reserve/2"' in text)
    found = ReuseCertificate(tuple(rows[:seq]))
    assert found.statement["waiting"] == 1
    assert "1 look reserved and not yet answered" in found.to_html()
    found.save(tmp_path / "reuse.json")
    assert not faults(tmp_path / "reuse.json")


def test_a_closed_ledger_that_says_anything_is_text(session: Path) -> None:
    rows = rows_of(session)[:1]
    text = canonical(closing("<i>now</i>", "<i>why</i>"))
    found = ReuseCertificate((*rows, (2, text, link(rows[0][2], text))))
    assert "<i>now" not in found.to_html()
    assert "<i>why" not in found.to_html()


def test_a_retired_ledger_names_its_successor(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path) as holdout:
        holdout.end.retire(why="<b>spent</b>", successor="<b>next</b>")
        found = holdout.certificate(str(tmp_path / "reuse.json"))
    assert "nothing new is answered: <bdi>&lt;b&gt;spent" in found.to_html()
    assert "Ask <bdi>&lt;b&gt;next" in found.to_html()
    assert not faults(tmp_path / "reuse.json")


# The command -------------------------------------------------------------------------------------


def test_the_command_writes_both_forms(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    folder = Path(shutil.copytree(session.parent, tmp_path / "copy"))
    for name in ("mine.html", "mine.json"):
        done = command("certificate", "t", "--output", name, cwd=folder)
        assert (done.returncode, done.stderr) == (
            0,
            "Not signed: you have no key; make one: holdfast key.\n",
        )
        assert f"Written to {name}." in done.stdout
    assert "Next: holdfast audit mine.json" in done.stdout
    done = command("certificate", "t", "--output", "mine.json", "--json", cwd=folder)
    facts = json.loads((folder / "mine.json").read_text(encoding="utf-8"))
    assert json.loads(done.stdout) == {
        "output": "mine.json",
        **{name: facts[name] for name in ("made", "count", "head", "signatures")},
    }
    done = command("audit", "mine.json", "--json", cwd=folder)
    audited = json.loads(done.stdout)
    assert (audited["fine"], audited["seal_compared"], audited["data_compared"]) == (
        True,
        False,
        False,
    )


def test_without_the_secret_it_is_told(session: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(session.parent, tmp_path / "copy"))
    (folder / "t.ledger-secret").unlink()
    done = command("certificate", "t", "--output", "mine.json", cwd=folder)
    assert done.returncode == 0
    assert "Not checked: the seal" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("certificate", "t", "--output", "reuse.doc"), 2, "must end in .html"),
        (("certificate", "t", "--output", "nowhere/reuse.html"), 2, "there is no folder"),
        (("certificate", "u", "--output", "reuse.html"), 2, "there is no ledger"),
        (("audit", "reuse.html"), 2, "a page for people"),
        (("audit", "reuse.json", "--data", "t.csv"), 2, "audited alone"),
    ],
)
def test_misuse_is_told(session: Path, words: tuple[str, ...], code: int, said: str) -> None:
    done = command(*words, cwd=session.parent)
    assert done.returncode == code
    assert said in done.stderr


def test_a_place_that_cannot_be_written_is_told(session: Path, tmp_path: Path) -> None:
    (tmp_path / "reuse.html").mkdir()
    with opened(session.parent) as holdout:
        with pytest.raises(LedgerUnavailable, match="cannot be written"):
            holdout.certificate(str(tmp_path / "reuse.html"))
        with pytest.raises(InvalidArgument, match="must end in"):
            holdout.certificate("reuse.txt")
    with pytest.raises(LedgerUnavailable, match="cannot be read"):
        audit_certificate(tmp_path / "gone.json")


def test_it_is_a_public_method() -> None:
    assert "certificate" in vars(holdfast.Holdout)
