"""The command line: every command with its options, below what its page says in its own words."""

from __future__ import annotations

from collections.abc import Iterator

import typer
from docs.writers.markdown import filled, table
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from holdfast.cli import whole_app

__all__ = ["cli_page"]


def cli_page() -> str:
    """The page on the command line, with the options of every command made anew."""
    lines: list[str] = []
    for words, command in _commands(typer.main.get_command(whole_app()), "holdfast"):
        said = (command.help or "").partition("\n\n")[0]
        lines += [f"**`{words}{_arguments(command)}`**: {said}\n", *_options(command)]
    return filled("cli.md", "the commands", lines)


def _commands(command: object, words: str) -> Iterator[tuple[str, TyperCommand]]:
    """A command, or those of a group, by the words that name them."""
    match command:
        case TyperGroup():
            for name, inner in command.commands.items():
                yield from _commands(inner, f"{words} {name}")
        case TyperCommand():
            yield words, command


def _arguments(command: TyperCommand) -> str:
    """What stands after the name of a command; in brackets what may be left out."""
    found = [each for each in command.params if isinstance(each, TyperArgument)]
    named = [(each.metavar or str(each.name).upper(), each.required) for each in found]
    said = [name if needed or name[0] == "[" else f"[{name}]" for name, needed in named]
    return "".join(f" {name}" for name in said)


def _options(command: TyperCommand) -> list[str]:
    return table(
        ("option", "takes", "what it does"),
        [
            (
                ", ".join(f"`{each}`" for each in option.opts),
                "" if option.is_flag else f"`{option.metavar or str(option.name).upper()}`",
                option.help or "",
            )
            for option in command.params
            if isinstance(option, TyperOption) and not option.hidden
        ],
    )
