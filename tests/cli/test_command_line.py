"""What every command takes: ``--`` before names, common options before it, and the options that its help lists."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.cli.bootstrap import command_first
from inspector.cli.parser import COMMANDS, options_of
from inspector.cli.run import CommandParser, command_parser
from tests.cli.running import Run

CHOSEN = {"schema": "check", "help": "list", "completion": "bash"}
"""The one word of commands that take none but theirs."""


def _cases() -> Iterator[tuple[list[str], argparse.ArgumentParser]]:
    """Each command, and each kind of one that has kinds, with the parser of what follows."""
    for name in COMMANDS:
        parser = command_parser(name)
        kinds = [each.choices for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
        yield from [([name, kind], each) for kind, each in kinds[0].items()] if kinds else [([name], parser)]


def _required(parser: argparse.ArgumentParser) -> list[str]:
    return [word for each in parser._actions if each.required and each.option_strings for word in _given(each)]


def _given(action: argparse.Action) -> list[str]:
    """An option with a value that it takes."""
    if action.nargs == 0:
        return [action.option_strings[-1]]
    for value in ("1", "1-2", "1/2", "1:2", "1-2:00", "1-2,3", "1-2,3-4", "1:00", "damage", *(action.choices or ())):
        try:
            CommandParser(add_help=False, exit_on_error=False)._get_values(action, [str(value)])
        except argparse.ArgumentError:
            continue
        return [action.option_strings[-1], *[str(value)] * (action.nargs if isinstance(action.nargs, int) else 1)]
    raise LookupError(action.option_strings)


def _names(words: list[str], parser: argparse.ArgumentParser, name: str) -> list[str]:
    places = [each for each in parser._actions if not each.option_strings]
    return [CHOSEN.get(words[0], name) for _ in places]


def test_what_stands_behind_two_dashes_is_no_option() -> None:
    for words, parser in _cases():
        names = _names(words, parser, "-x.caf")
        before = _required(parser)
        found = command_parser(words[0]).parse_args([*words[1:], *before, "--", *names])
        values = [getattr(found, each.dest) for each in parser._actions if not each.option_strings]
        given = [value for each in values for value in (each if isinstance(each, list) else [each])]
        assert (given, {type(each) for each in given}) == (names, {str} if names else set()), words


def test_each_option_of_the_help_is_taken_after_the_names() -> None:
    for words, parser in _cases():
        for action in parser._actions:
            if action.option_strings and not isinstance(action, argparse._HelpAction):
                line = [*words[1:], *_required(parser), *_names(words, parser, "x"), *_given(action)]
                command_parser(words[0]).parse_args(line)


@pytest.mark.parametrize("option", ["-q", "--quiet", "-v", "--debug", "--debug=log.txt", "--json"])
def test_common_options_may_stand_before_every_command(option: str) -> None:
    for words, parser in _cases():
        name = option.partition("=")[0]
        if name not in {each for action in parser._actions for each in action.option_strings}:
            continue
        line = command_first([option, *words, *_required(parser), "--", *_names(words, parser, "x")])
        assert line[0] == words[0]
        found = command_parser(line[0]).parse_args([f"{each}=-" if each == "--debug" else each for each in line[1:]])
        dest = {"-q": "quiet", "-v": "verbose"}.get(name, name.removeprefix("--"))
        assert getattr(found, dest) not in (False, ""), words


def test_what_stands_before_a_kind_holds() -> None:
    assert command_parser("create").parse_args(["-q", "caf", "target", "input"]).quiet


@pytest.mark.parametrize(
    ("line", "first"),
    [
        (["--json", "-q", "list", "a", "--", "-q"], ["list", "a", "--json", "-q", "--", "-q"]),
        (["--debug", "--", "list"], ["--debug", "--", "list"]),
        (["list", "-q", "a"], ["list", "-q", "a"]),
        (["-q"], ["-q"]),
    ],
)
def test_the_command_comes_first(line: list[str], first: list[str]) -> None:
    assert command_first(line) == first


def test_they_work(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-in.txt").write_bytes(b"Read me.")
    assert run("-q", "create", "caf", "--", "-x.caf", "-in.txt")[::2] == (0, "")
    assert run("list", "--names", "--", "-x.caf") == (0, "-in.txt\n", "")
    assert run("cat", "--", "-x.caf", "-in.txt") == (0, "Read me.", "")
    assert run("--json", "list", "--", "-x.caf")[1].startswith('{"source": "-x.caf"')


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("list", "--jsn", "A"), "There is no option --jsn; did you mean --json?"),
        (("create", "caf", "T", "I", "--max-siez=3"), "There is no option --max-siez=3; did you mean --max-size?"),
        (("cat", "--where", "A", "B"), "There is no option --where; leave it out."),
    ],
)
def test_an_option_that_there_is_not_is_answered_with_the_one_that_was_meant(
    run: Run, capfd: pytest.CaptureFixture[str], line: tuple[str, ...], said: str
) -> None:
    with pytest.raises(SystemExit):
        run(*line)
    assert said in capfd.readouterr().err
    assert "--max-size" in options_of(command_parser("create"))
