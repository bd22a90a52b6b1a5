"""``completion``: scripts that make bash, zsh and fish complete sub-commands, their options and files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from inspector.cli.options import Option
from inspector.cli.output import emit
from inspector.cli.parser import COMMANDS, PROGRAM, options_of

OPTIONS = (Option("shell", choices=("bash", "zsh", "fish"), help="the shell; its script goes to standard output"),)


def run(options: argparse.Namespace) -> None:
    """Print the script for one shell."""
    emit(_SCRIPTS[options.shell]())


def _options() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each sub-command with its options, and those of its kinds, and what each does."""
    from inspector.cli.run import command_parser  # which imports this module when it is asked for

    for name in COMMANDS:
        yield name, sorted(options_of(command_parser(name)).items())


def _words(options: list[tuple[str, str]]) -> str:
    return " ".join(option for option, _ in options)


def _bash() -> str:
    cases = "".join(f"    {name}) words='{_words(options)}' ;;\n" for name, options in _options())
    return f"""_archive_inspector() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=''
  if [ "$COMP_CWORD" = 1 ] && [[ $current != -* ]]; then
    words='{" ".join(COMMANDS)}'
  else
    case ${{COMP_WORDS[1]}} in
{cases}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -o filenames -F _archive_inspector {PROGRAM}
"""


def _zsh() -> str:
    return f"#compdef {PROGRAM}\nautoload -U +X bashcompinit && bashcompinit\n{_bash()}"


def _fish() -> str:
    lines = []
    for name, command in COMMANDS.items():
        lines.append(f"complete -c {PROGRAM} -n __fish_use_subcommand -a {name} -d {_quoted(command.what)}")
    for name, options in _options():
        for option, what in options:
            condition = f"-n '__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c {PROGRAM} {condition} -l {option.removeprefix('--')} -d {_quoted(what)}")
    return "".join(f"{line}\n" for line in lines)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
