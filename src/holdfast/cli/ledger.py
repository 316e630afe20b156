"""The commands that look at ledgers and ask nothing: list, budget, ledger, audit, key, ..."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast import require
from holdfast.cli.commands import Json, Verbose, Whole, app, progress, read_number, show_json
from holdfast.cli.elsewhere import again, anywhere, require_here, served
from holdfast.cli.ledgers import (
    Data,
    Name,
    TableName,
    home_named,
    is_certificate,
    known_table,
    ledger_path,
    looked_at,
    where_the_data_is,
    without_password,
)
from holdfast.errors import HoldfastError, InvalidArgument, LedgerTampered

if TYPE_CHECKING:
    from holdfast.certificate.signing import SigningKey
    from holdfast.data.sample import Sample
    from holdfast.ledger.audit import Finding
    from holdfast.ledger.backend import LedgerHome
    from holdfast.service.client import ServedHoldout

AUDIT_FAILED = 4
_COPYING = ("backup", "move", "restore", "upgrade")
_HOW_TO_COPY = (
    "ledger takes the name of one ledger; to move one: holdfast ledger move SOURCE TARGET. To copy "
    "it: holdfast ledger backup NAME FILE, and back: restore FILE [TARGET]. To upgrade it: upgrade "
    "NAME."
)
_SignWith = Annotated[
    str | None,
    typer.Option(
        "--sign-with",
        metavar="FILE",
        help="The key to sign with: served/service.key; left out: your own.",
    ),
]


@app.command(epilog="Example: holdfast budget flights")
@anywhere
def budget(name: Name, verbose: Verbose = False, as_json: Json = False) -> None:
    """What is left, and what is promised."""
    from holdfast.holdout.budget import budget_of

    there = served(name)
    if there is None:
        with looked_at(name) as transcript:
            remaining = budget_of(transcript)
    else:
        remaining = there.budget
    if as_json:
        show_json(remaining.to_dict())
    else:
        details = f"\n  {remaining.details}" if verbose else ""
        typer.echo(f"{remaining}{details}\n\nNext: holdfast ledger {again(name)}")


@app.command(epilog="Example: holdfast ledger flights --output answers.csv")
@anywhere
def ledger(
    name: Name,
    onward: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE TARGET]",
            help="After the word move: the ledger to move, and where to (a file or an address); "
            "after backup: ledger and file; after restore: file and, perhaps, where to; after "
            "upgrade: the ledger.",
        ),
    ] = None,
    nothing_since: Annotated[
        bool,
        typer.Option(
            "--nothing-since",
            help="Of restore: nothing was answered since the backup, so that it is asked on.",
        ),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="How every interval came about.")
    ] = False,
    parts: Annotated[
        bool,
        typer.Option("--parts", help="With the looks that a median, a difference, ... is made of."),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the table to a .csv, .json or .parquet file."),
    ] = None,
    whole: Whole = False,
    as_json: Json = False,
) -> None:
    """Everything that was asked and answered so far.

    `holdfast ledger move SOURCE TARGET` takes a ledger elsewhere: it is copied with its columns and
    its secret, the copy is verified, and nothing more is asked of the source. `holdfast ledger
    backup NAME FILE` copies it into one file while it is in use, and `holdfast ledger restore FILE`
    makes it again, retired unless nothing was answered since. `holdfast ledger upgrade NAME` brings
    its tables to this version.
    """
    from holdfast.holdout.budget import budget_of
    from holdfast.ledger.view import explanation, view_of

    if nothing_since and (name != "restore" or not onward):
        raise InvalidArgument("--nothing-since is of holdfast ledger restore FILE; leave it out.")
    if onward:
        match name, len(onward):
            case "backup", 2:
                _backup(onward[0], onward[1], as_json)
            case "restore", 1 | 2:
                _restore(onward[0], onward[1] if onward[1:] else None, nothing_since, as_json)
            case "upgrade", 1:
                _upgrade(onward[0], as_json)
            case _:
                _move(name, onward, as_json)
        return
    require_here({"--explain": explain})
    there = served(name)
    if there is None:
        if name in _COPYING and not any(map(Path.is_file, (Path(name), Path(f"{name}.ledger")))):
            raise InvalidArgument(_HOW_TO_COPY)
        with looked_at(name) as transcript:
            view = view_of(transcript, budget_of(transcript).together)
            text = explanation(transcript) if explain else view.to_text(parts=parts, whole=whole)
    else:
        view = there.ledger
        text = view.to_text(parts=parts, whole=whole)
    if output is not None:
        _write(view.to_polars(parts=parts), require.file("output", output))
    if as_json:
        show_json(view.to_dicts(parts=parts))
        return
    typer.echo(text)
    typer.echo(f"\nWritten to {output}." if output else f"\nNext: holdfast audit {again(name)}")


def _move(word: str, places: Sequence[str], as_json: bool) -> None:
    from holdfast.data.database import is_database_url
    from holdfast.ledger.backup import move

    if word != "move" or len(places) != 2:
        raise InvalidArgument(_HOW_TO_COPY)
    source, target = ledger_path(places[0]), places[1]
    if is_database_url(target):
        without_password("target", target)
    entries = move(home_named(places[0]), target)
    if as_json:
        show_json({"ledger": target, "entries": entries})
        return
    typer.echo(f"Moved {entries:,} entries to {target}; nothing more is asked of {source}.")
    typer.echo(f"\nNext: holdfast audit {quote(target)}")


def _backup(name: str, file: str, as_json: bool) -> None:
    from holdfast.ledger.backup import backup

    ledger_path(name)
    entries = backup(home_named(name), require.file("file", file))
    if as_json:
        show_json({"file": file, "entries": entries})
        return
    typer.echo(f"Wrote {entries:,} entries, the columns and the secret to {file}; keep it close.")
    typer.echo(f"\nNext: holdfast ledger restore {quote(file)}, if the ledger is lost.")


def _restore(file: str, target: str | None, nothing_since: bool, as_json: bool) -> None:
    from holdfast.data.database import is_database_url
    from holdfast.ledger.backup import restore

    if target is not None and is_database_url(target):
        without_password("target", target)
    result = restore(require.file("file", file), target, nothing_since=nothing_since)
    if as_json:
        show_json({"ledger": result.ledger, "entries": result.entries, "retired": result.retired})
        return
    last = "" if result.retired is None else ", the last of which retires it"
    typer.echo(f"Restored {result.entries:,} entries to {result.ledger}{last}.")
    if result.retired is not None:
        typer.echo(
            f"It is retired: {result.retired}. Answers given since the backup are forgotten by the "
            "ledger and not by people, and cannot be counted. What it answered stays true, and is "
            "repeated for free; ask new questions of fresh rows."
        )
    typer.echo(f"\nNext: holdfast audit {quote(result.ledger)}")


def _upgrade(name: str, as_json: bool) -> None:
    from contextlib import closing

    from holdfast.ledger.side_files import FORMAT

    ledger_path(name)
    with closing(home_named(name).keeper()):  # whoever opens a ledger upgrades its tables
        pass
    if as_json:
        show_json({"ledger": name, "format": FORMAT})
        return
    typer.echo(f"The ledger {name} is of format {FORMAT}, in tables of this version.")
    typer.echo(f"\nNext: holdfast audit {quote(name)}")


def _write(frame: Any, path: Path) -> None:
    if not path.parent.is_dir():
        raise InvalidArgument(
            f"output is {str(path)!r}, and there is no folder {str(path.parent)!r}; create it "
            "first."
        )
    match path.suffix.lower():
        case ".csv":
            frame.write_csv(path)
        case ".json":
            frame.write_json(path)
        case ".parquet":
            frame.write_parquet(path)
        case _:
            raise InvalidArgument(
                f"output is {str(path)!r}; its name must end in .csv, .json or .parquet."
            )


@app.command(epilog="Example: holdfast stability flights --expected-error 0.1")
def stability(
    name: Name,
    level: Annotated[
        str | None,
        typer.Option(
            metavar="X",
            help="What tau, nu and delta may be (default: a quarter of the failure probability).",
        ),
    ] = None,
    expected_error: Annotated[
        str | None,
        typer.Option(metavar="X", help="Also say how much noise would promise this much: 0.1."),
    ] = None,
    chart: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw eta against questions: PNG, SVG, PDF, HTML."),
    ] = None,
    as_json: Json = False,
) -> None:
    """How much all answers so far depend on the sample.

    As (eta, tau, nu), differential privacy and total variation: every account says what follows
    from it, and where it is vacuous. Asks nothing, costs nothing.
    """
    from holdfast.papers.stability import stability_of

    numbers = (read_number("level", level), read_number("expected_error", expected_error))
    with looked_at(name) as transcript:
        estimate = stability_of(transcript, *numbers)
    if chart is not None:
        estimate.chart(chart)
    if as_json:
        show_json(estimate.to_dict() | ({"chart": chart} if chart else {}))
        return
    typer.echo(str(estimate))
    ending = f"Chart written to {chart}." if chart else f"Next: holdfast ledger {quote(name)}"
    typer.echo(f"\n{ending}")


@app.command(epilog="Example: holdfast chart flights answers.png")
def chart(
    name: Name,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to: a .png, .svg, .pdf or .html file.")
    ] = "answers.svg",
    as_json: Json = False,
) -> None:
    """Draw everything that was answered, with its interval."""
    from holdfast.holdout.charts import ledger_chart

    with looked_at(name) as transcript:
        ledger_chart(transcript, file)
    show_json({"chart": file}) if as_json else typer.echo(f"Chart written to {file}.")


@app.command(epilog="Example: holdfast audit flights")
@anywhere
def audit(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The holdout's name, its ledger file, or a certificate: reuse.json.",
        ),
    ],
    data: Data = None,
    table: TableName = None,
    signed_by: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Of a certificate: the public key that it must be signed with."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check the chain, every interval and the data.

    Every interval is derived again from the ledger alone; the data is read for its fingerprint,
    and for what the ledger says of it. A certificate carries all the ledger's entries, and needs
    neither ledger nor data; who wrote it is told by --signed-by alone.
    """
    require_here({"--data": data, "--table": table})
    there = served(name)
    path = ledger_path(name) if there is None else None
    copied = isinstance(path, Path) and is_certificate(path)
    if signed_by is not None and not copied:
        raise InvalidArgument(
            "--signed-by is for certificates, which are signed; leave it out here."
        )
    if there is not None:
        findings, passed_over = _of_service(there)
    elif isinstance(path, Path) and copied:
        findings, passed_over = _of_certificate(path, data, signed_by)
    else:
        findings, passed_over = _of_ledger(name, data, table)
    fine = all(finding.fine for finding in findings)
    skipped = [check for check, why in passed_over.items() if why is not None]
    if as_json:
        facts = [finding.to_dict() for finding in findings]
        compared = {f"{check}_compared": check not in skipped for check in sorted(passed_over)}
        show_json({"fine": fine, **compared, "findings": facts})
    else:
        for finding in findings:
            typer.echo(f"{'ok' if finding.fine else 'FAILED':<8}{finding.what}: {finding.detail}")
        for check in skipped:
            typer.echo(f"skip    {check}: {passed_over[check]}")
        typer.echo(f"\n{_verdict(findings, skipped, 'certificate' if copied else 'ledger')}")
        if fine and not copied:
            typer.echo(f"\nNext: holdfast certificate {again(name)} --output reuse.html")
    if not fine:
        sys.exit(AUDIT_FAILED)


def _of_ledger(
    name: str, data: str | None, table: str | None
) -> tuple[list[Finding], dict[str, str | None]]:
    """What the audit of a ledger finds, and why it does not look at its seal or its data."""
    from holdfast.ledger.audit import audit as run_audit
    from holdfast.ledger.opening import protected_rows

    home = home_named(name)
    source, skipped, unsealed = _known_of(home, data)

    def rows() -> Sample:
        with looked_at(name) as transcript:
            opening = transcript.opening
        return protected_rows(opening, source, table or known_table(home, source))

    findings = run_audit(
        home,
        None if source is None else rows,
        progress("entries audited"),
    )
    return findings, {"seal": unsealed, "data": skipped}


def _of_service(there: ServedHoldout) -> tuple[list[Finding], dict[str, str | None]]:
    """What the service finds, and why it does not look at the data."""
    from holdfast.ledger.audit import Finding

    reply = there.audit()
    unread = None if reply["data_compared"] else "the service does not know where it is."
    return [Finding(**each) for each in reply["findings"]], {"seal": None, "data": unread}


def _of_certificate(
    path: Path, data: str | None, key: str | None
) -> tuple[list[Finding], dict[str, str | None]]:
    """What the audit of a certificate finds, and why it looks at neither seal nor data."""
    from holdfast.certificate.checking import audit_certificate, unproven
    from holdfast.certificate.signing import public_key_of
    from holdfast.ledger.audit import Copied

    if data is not None:
        raise InvalidArgument("a certificate is audited alone; leave out --data.")
    named = None if key is None else public_key_of(key)
    findings = audit_certificate(path, progress("entries audited"), named)
    return findings, {
        "signature": unproven(path) if named is None else None,
        "seal": Copied(()).unchecked,
        "data": "whether a table is the protected one can be told with the ledger's secret only.",
    }


def _verdict(findings: Sequence[Finding], passed_over: Sequence[str], subject: str) -> str:
    wrong = {finding.what for finding in findings if not finding.fine}
    if wrong == {"data"}:
        return (
            "The promise cannot be relied upon with this table: the ledger is intact and belongs "
            "to another; find that one."
        )
    if wrong == {"witness"}:
        return "The promise cannot be relied upon until the witness's note is in order."
    if wrong:
        advice = {
            "ledger": "restore the newest copy of the ledger",
            "certificate": "ask its maker for another copy, or audit the ledger itself",
        }
        return f"The promise cannot be relied upon: {advice[subject]}."
    if not passed_over:
        return "The promise is intact."
    if "signature" in passed_over:
        return (
            "The certificate follows from its own entries; who wrote them is not shown. Not looked "
            f"at: {_together(passed_over)}."
        )
    return f"The {subject} is intact; not looked at: {_together(passed_over)}."


def _together(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _known_of(home: LedgerHome, data: str | None) -> tuple[str | None, str | None, str | None]:
    """Where the data is, or why it cannot be read; and why the seal cannot be compared."""
    from holdfast.ledger.store import look

    try:
        with look(home) as reader:
            place, missing = where_the_data_is(reader)
    except LedgerTampered:
        return data, None, None  # the audit itself will say what is wrong
    if data is not None and reader.secret is not None:
        place, missing = data, None
    return place, missing, reader.unchecked


@app.command(epilog="Example: holdfast certificate flights --output reuse.html")
@anywhere
def certificate(
    name: Name,
    output: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Where to: .html to read, .pdf on paper, .json to be audited alone.",
        ),
    ] = "reuse.html",
    sign_with: _SignWith = None,
    as_json: Json = False,
) -> None:
    """Write down what was promised and answered, to show to others.

    The page needs no other file and prints well; a .pdf is printed by the machine's Chromium,
    Chrome or Edge. The JSON carries the ledger's entries: whoever has it audits it alone, without
    ledger, secret or data. None shows a row or a path. It is signed with your key, if you have one
    (holdfast key); a service signs with its own.
    """
    from holdfast.certificate.certificate import certified
    from holdfast.ledger.store import look

    there = served(name)
    if there is not None:
        require_here({"--sign-with": sign_with})
        there.certificate(output)
        show_json({"output": output}) if as_json else typer.echo(f"Written to {output}.")
        return
    with look(ledger_path(name)) as reader:
        signed = certified(reader.news, output, _known_key(sign_with))
    if reader.unchecked is not None:
        typer.echo(f"Not checked: the seal; {reader.unchecked}", err=True)
    if not signed.signatures:
        typer.echo("Not signed: you have no key; make one: holdfast key.", err=True)
    if as_json:
        statement = signed.statement
        facts = {"made": signed.made, "count": statement["count"], "head": statement["head"]}
        facts |= {"signatures": [each.to_dict() for each in signed.signatures]}
        show_json({"output": output, **facts})
        return
    typer.echo(f"{signed}\nWritten to {output}.")
    is_data = output.lower().endswith(".json")
    again = f"certificate {quote(name)} --output reuse.json"
    typer.echo(f"\nNext: holdfast {f'audit {quote(output)}' if is_data else again}")


# The command that finds ledgers: list.


@app.command("list", epilog="Example: holdfast list")
def list_ledgers(as_json: Json = False) -> None:
    """The ledgers of this folder, and others that were opened."""
    from holdfast.ledger.index import in_reach

    ledgers = [_facts(ledger) for ledger in in_reach(Path())]
    if as_json:
        show_json(ledgers)
    elif ledgers:
        for facts in ledgers:
            typer.echo(f"{facts['ledger']}\n  {_ledger_line(facts)}")
        typer.echo(f"\nNext: holdfast budget {quote(ledgers[0]['ledger'])}")
    else:
        typer.echo("There is no ledger here, nor was one opened elsewhere.")
        typer.echo("\nNext: holdfast init DATA --name NAME")
    if any(facts.get("tampered") for facts in ledgers):
        sys.exit(AUDIT_FAILED)


def _facts(ledger: LedgerHome) -> dict[str, Any]:
    """What a ledger is about; or why that cannot be said. It is looked at, and needs no secret."""
    from holdfast.holdout.budget import budget_of
    from holdfast.ledger.store import look
    from holdfast.ledger.transcript import Transcript

    try:
        with look(ledger) as reader:
            transcript = Transcript.resumed(reader)
            name, answered = transcript.opening.name, transcript.next_line - 1
            budget = budget_of(transcript)
    except LedgerTampered as error:
        return {"ledger": str(ledger), "error": str(error), "tampered": True}
    except HoldfastError as error:
        return {"ledger": str(ledger), "error": str(error)}
    return {
        "ledger": str(ledger),
        "name": name,
        "rows": budget.terms.rows,
        "answered": answered,
        "questions_left": budget.questions_left,
        "left": budget.remaining,
    }


def _ledger_line(facts: dict[str, Any]) -> str:
    if "error" in facts:
        return f"cannot be read: {facts['error']}"
    return (
        f"{facts['name']}: {facts['rows']:,} rows, {facts['answered']:,} answered, {facts['left']}"
    )


@app.command(epilog='Example: holdfast key --person "Ann Lee" --organisation "Acme Research"')
def key(
    person: Annotated[str, typer.Option(metavar="NAME", help="Whose key it is.")] = "",
    organisation: Annotated[
        str, typer.Option(metavar="NAME", help="For whom that person signs.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Print the public key of your signatures.

    Whoever audits a certificate that you signed needs it. The first time it is made, with your
    name: the private part stays in a file of yours.
    """
    from holdfast.certificate.signing import SigningKey, user_key_path

    path = user_key_path()
    if path.exists() and (person or organisation):
        raise InvalidArgument(
            f"you have a key in {str(path)!r}, with its names; move that file away to make another."
        )
    mine = SigningKey.create(path, person, organisation)
    facts = {"key": mine.public, "person": mine.person, "organisation": mine.organisation}
    if as_json:
        show_json({**facts, "file": str(path)})
        return
    owner = ", ".join(filter(None, (mine.person, mine.organisation))) or "nobody named"
    typer.echo(f"{mine.public}\n\nThe key of {owner}, in {path}. Publish the line above.")
    typer.echo("\nNext: holdfast certificate NAME --output reuse.json")


@app.command(epilog="Example: holdfast countersign reuse.json")
def countersign(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A certificate: reuse.json.")],
    sign_with: _SignWith = None,
    as_json: Json = False,
) -> None:
    """Sign a certificate that somebody else made.

    It is audited first. Whoever signed the newest hash at some time contradicts every history that
    lacks it.
    """
    from holdfast.certificate.checking import audit_certificate, read_certificate

    path = require.file("file", file)
    mine = _known_key(sign_with)
    if mine is None:
        raise InvalidArgument("you have no key to sign with; make one: holdfast key.")
    wrong = [finding for finding in audit_certificate(path) if not finding.fine]
    if wrong:
        typer.echo(f"FAILED  {wrong[0].what}: {wrong[0].detail}\n\nIt is not signed.", err=True)
        sys.exit(AUDIT_FAILED)
    countersigned = read_certificate(path).signed(mine)
    countersigned.save(path)
    if as_json:
        show_json(
            {"output": file, "signatures": [each.to_dict() for each in countersigned.signatures]}
        )
        return
    typer.echo(f"{countersigned}\n\nNext: holdfast audit {quote(file)} --signed-by {mine.public}")


def _known_key(file: str | None) -> SigningKey | None:
    """The key of a file that is named, or the user's own, if there is one."""
    from holdfast.certificate.signing import SigningKey, user_key_path

    if file is not None:
        return SigningKey.read(require.file("sign-with", file))
    own = user_key_path()
    return SigningKey.read(own) if own.exists() else None
