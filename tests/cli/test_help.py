"""Every command's help has an example, and what stands there can be typed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from holdfast.cli import whole_app
from tests.cli.run import holdfast


def commands(group: Any, *above: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands of a group and of the groups in it, with the words that name them."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *above, name)
        else:
            yield (*above, name), command


COMMANDS = dict(commands(get_command(whole_app())))


def parse(words: tuple[str, ...], typed: list[str]) -> None:
    """Read every argument and option as the command would, and run nothing."""
    COMMANDS[words].make_context(words[-1], typed)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_an_example_that_parses(words: tuple[str, ...]) -> None:
    command = COMMANDS[words]
    assert command.help, "a command says what it does"
    program, *typed = shlex.split(command.epilog.removeprefix("Example: "))
    assert (program, *typed[: len(words)]) == ("holdfast", *words)
    parse(words, typed[len(words) :])


def test_the_list_of_commands_cuts_no_sentence() -> None:
    listed = holdfast("--help").stdout.partition("Commands:")[2]
    assert len(listed.splitlines()) > 25
    assert "..." not in listed


def test_an_example_with_a_misspelt_option_does_not_parse() -> None:
    with pytest.raises(Exception, match="No such option: --dta"):
        parse(("audit",), ["flights", "--dta", "x"])
