"""The commands that sign: key, countersign."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast import require
from holdfast.cli.commands import Json, app, show_json
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    from holdfast.certificate.signing import SigningKey

__all__ = ["SignWith", "countersign", "key", "known_key"]

_AUDIT_FAILED = 4
SignWith = Annotated[
    str | None,
    typer.Option(
        "--sign-with",
        metavar="FILE",
        help="The key to sign with: served/service.key; left out: your own.",
    ),
]


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
    mine = SigningKey.made(path, person, organisation)
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
    sign_with: SignWith = None,
    as_json: Json = False,
) -> None:
    """Sign a certificate that somebody else made.

    It is audited first. Whoever signed the newest hash at some time contradicts every history that
    lacks it.
    """
    from holdfast.certificate.checking import audit_certificate, read_certificate

    path = require.file("file", file)
    mine = known_key(sign_with)
    if mine is None:
        raise InvalidArgument("you have no key to sign with; make one: holdfast key.")
    wrong = [finding for finding in audit_certificate(path) if not finding.fine]
    if wrong:
        typer.echo(f"FAILED  {wrong[0].what}: {wrong[0].detail}\n\nIt is not signed.", err=True)
        sys.exit(_AUDIT_FAILED)
    countersigned = read_certificate(path).signed(mine)
    countersigned.save(path)
    if as_json:
        show_json(
            {"output": file, "signatures": [each.to_dict() for each in countersigned.signatures]}
        )
        return
    typer.echo(f"{countersigned}\n\nNext: holdfast audit {quote(file)} --signed-by {mine.public}")


def known_key(file: str | None) -> SigningKey | None:
    """The key of a file that is named, or the user's own, if there is one."""
    from holdfast.certificate.signing import SigningKey, user_key_path

    if file is not None:
        return SigningKey.read(require.file("sign-with", file))
    own: Path = user_key_path()
    return SigningKey.read(own) if own.exists() else None
