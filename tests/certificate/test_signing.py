"""Signed certificates: whoever lacks the key cannot write another history that is accepted."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.certificate.certificate import ReuseCertificate, certificate_digest, certificate_text
from holdfast.certificate.checking import audit_certificate
from holdfast.certificate.signing import SigningKey
from holdfast.ledger.chain import GENESIS, link
from tests.certificate.session import Facts, with_everything
from tests.cli.run import holdfast as command

_ROW = ("seq", "text", "hash")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("signed")


@pytest.fixture(scope="module")
def key(place: Path) -> SigningKey:
    return SigningKey.create(place / "ann.key", "Ann Lee", "Acme Research")


@pytest.fixture(scope="module")
def signed(place: Path, key: SigningKey) -> Path:
    with holdfast.open(ledger=with_everything(place)) as holdout:
        holdout.certificate(str(place / "signed.json"), sign_with=key)
    return place / "signed.json"


def faults(path: Path, key: str | None) -> dict[str, str]:
    return {each.what: each.detail for each in audit_certificate(path, key=key) if not each.fine}


def rewritten(facts: Facts, place: int, change: Callable[[str], str]) -> Facts:
    """What a forger writes: an entry changed, the chain made again, all that follows said anew."""
    rows, before = [], GENESIS
    for row in facts["entries"]:
        text = change(row["text"]) if row["seq"] == place else row["text"]
        before = link(before, text)
        rows.append((row["seq"], text, before))
    again = ReuseCertificate(tuple(rows), facts["made"], facts["holdfast"])
    try:
        said = again.to_dict()
    except holdfast.HoldfastError:
        said = {**facts, "entries": [dict(zip(_ROW, row, strict=True)) for row in rows]}
        said["head"] = before
    return {**said, "signatures": facts["signatures"]}


def saved(facts: Facts, path: Path) -> Path:
    facts["digest"] = certificate_digest({name: facts[name] for name in facts if name != "digest"})
    path.write_text(certificate_text(facts), encoding="utf-8", newline="\n")
    return path


def test_it_is_signed_by_the_key_that_is_named(signed: Path, key: SigningKey) -> None:
    found = audit_certificate(signed, key=key.public)
    assert all(each.fine for each in found)
    assert "Ann Lee, Acme Research" in {each.what: each.detail for each in found}["signature"]
    assert b64encode(key.private).decode() not in signed.read_text("utf-8")


def test_a_history_that_was_written_again_is_refused(
    signed: Path, key: SigningKey, tmp_path: Path
) -> None:
    """The chain and all that is said fit; the signature is of another history."""
    facts = json.loads(signed.read_text("utf-8"))
    forged = saved({**rewritten(facts, 0, str)}, tmp_path / "same.json")
    assert faults(forged, key.public) == {}  # nothing was changed yet
    opening = json.loads(facts["entries"][0]["text"])
    changed = json.dumps({**opening, "at": "2020-01-01T00:00:00+00:00"}, ensure_ascii=False)
    forged = saved(rewritten(facts, 1, lambda _: changed), tmp_path / "forged.json")
    assert set(faults(forged, key.public)) >= {"signature"}
    del facts["signatures"][:]
    without = saved(rewritten(facts, 1, lambda _: changed), tmp_path / "without.json")
    assert set(faults(without, key.public)) >= {"signature"}


@pytest.mark.parametrize(
    "forgeries", [pytest.param(1_000, marks=pytest.mark.campaign), 60], ids=["many", "few"]
)
def test_every_forgery_is_refused(
    signed: Path, key: SigningKey, tmp_path: Path, forgeries: int
) -> None:
    rng = random.Random(1)
    mallory = SigningKey.create(tmp_path / "mallory.key", "Ann Lee", "Acme Research")
    original = signed.read_text("utf-8")
    whole = json.loads(original)
    refused = 0
    for _ in range(forgeries):
        facts = json.loads(original)
        place = rng.randrange(len(facts["entries"]))
        text = facts["entries"][place]["text"]
        digits = [at for at, letter in enumerate(text) if letter.isdigit()]
        at, to = rng.choice(digits), str(rng.randrange(10))
        while to == text[at]:
            to = str(rng.randrange(10))
        row, before = f"{text[:at]}{to}{text[at + 1 :]}", GENESIS
        for entry in facts["entries"]:  # a chain that fits
            entry["text"] = row if entry["seq"] == place + 1 else entry["text"]
            entry["hash"] = before = link(before, entry["text"])
        facts["head"] = rng.choice([before, facts["head"]])
        match rng.randrange(4):
            case 0:
                facts["signatures"] = []
            case 1:  # by another key, under the same name
                facts["signatures"] = [mallory.sign(facts).to_dict()]
            case 2:  # the other key's, which says that it is ours
                facts["signatures"] = [{**mallory.sign(facts).to_dict(), "key": key.public}]
            case _:
                facts["signatures"] = whole["signatures"]
        refused += "signature" in faults(saved(facts, tmp_path / "forged.json"), key.public)
    assert refused == forgeries


def test_every_fact_of_a_signature_counts(signed: Path, key: SigningKey, tmp_path: Path) -> None:
    for name, other in {"person": "Bob", "organisation": "", "at": "2020-01-01"}.items():
        facts = json.loads(signed.read_text("utf-8"))
        facts["signatures"][0][name] = other
        assert "signature" in faults(saved(facts, tmp_path / "x.json"), None), name
    for name in ("made", "name", "count"):
        facts = json.loads(signed.read_text("utf-8"))
        facts[name] = {"count": 3}.get(name, "2020-01-01T00:00:00+00:00")
        assert "signature" in faults(saved(facts, tmp_path / "x.json"), None), name


def test_a_second_party_countersigns_what_it_audited(
    signed: Path, key: SigningKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "reuse.json"
    path.write_bytes(signed.read_bytes())
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "bob"))
    refused = command("countersign", str(path))
    assert refused.returncode == 2
    assert "holdfast key" in refused.stderr
    made = command("key", "--person", "Bob", "--organisation", "Audits Ltd")
    public = made.stdout.splitlines()[0]
    again = command("key")
    assert again.stdout.splitlines()[0] == public
    assert command("countersign", str(path)).returncode == 0
    for each in (key.public, public):
        done = command("audit", str(path), "--signed-by", each)
        assert done.returncode == 0, done.stdout
        assert "skip    signature" not in done.stdout
    facts = json.loads(path.read_text("utf-8"))
    assert [each["person"] for each in facts["signatures"]] == ["Ann Lee", "Bob"]
    facts["entries"][0]["text"] += " "
    saved(facts, path)
    assert command("countersign", str(path)).returncode == 4


def test_an_audit_without_a_key_says_what_it_does_not_show(signed: Path, tmp_path: Path) -> None:
    done = command("audit", str(signed))
    assert done.returncode == 0
    assert "skip    signature: signed with ed25519:" in done.stdout
    assert "who wrote them is not shown" in done.stdout
    facts = json.loads(signed.read_text("utf-8"))
    facts["signatures"] = []
    unsigned = saved(facts, tmp_path / "unsigned.json")
    done = command("audit", str(unsigned))
    assert "nobody signed it" in done.stdout
    other = SigningKey.create(tmp_path / "other.key").public
    for path in (signed, unsigned):
        assert command("audit", str(path), "--signed-by", other).returncode == 4
    assert command("audit", str(signed), "--signed-by", "ed25519:AAAA").returncode == 2


def test_the_page_says_who_signed_or_that_nobody_did(place: Path, key: SigningKey) -> None:
    with holdfast.open(ledger=place / "t.ledger") as holdout:
        page = holdout.certificate(sign_with=key).to_html()
        assert "Ann Lee, Acme Research" in page
        assert key.public in page.replace("&#43;", "+")
        plain = holdout.certificate().to_html()
    assert "Not signed." in plain
    assert "holds the ledger" not in plain.split("What is not promised")[1].split("</ul>")[0]


def test_a_key_is_its_owners_and_made_once(tmp_path: Path) -> None:
    first = SigningKey.create(tmp_path / "k" / "my.key", "Ann")
    assert (tmp_path / "k" / "my.key").stat().st_mode & 0o777 == 0o600
    assert SigningKey.create(tmp_path / "k" / "my.key", "Bob") == first
    assert "private" not in repr(first)
    (tmp_path / "other").write_text("{}")
    for path, error in (
        (tmp_path / "other", holdfast.errors.InvalidArgument),
        (tmp_path / "no", OSError),
    ):
        with pytest.raises(error, match="holdfast key"):
            SigningKey.read(path)


def test_signatures_of_other_shapes_are_no_signatures(signed: Path, tmp_path: Path) -> None:
    shapes: list[Any] = [None, {}, [1], [{}], [{"person": 1}]]
    for shape in shapes:
        facts = json.loads(signed.read_text("utf-8"))
        facts["signatures"] = shape
        assert "file" in faults(saved(facts, tmp_path / "x.json"), None)
