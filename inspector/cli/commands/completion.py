"""``completion``: scripts that make bash, zsh and fish complete sub-commands, their options, values and files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from inspector.cli.options import Option
from inspector.cli.output import emit
from inspector.cli.parser import COMMANDS, PROGRAM, options_of, with_kinds

OPTIONS = (Option("shell", choices=("bash", "zsh", "fish"), help="the shell; its script goes to standard output"),)


def run(options: argparse.Namespace) -> None:
    """Print the script for one shell."""
    emit(_SCRIPTS[options.shell]())


def _parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    from inspector.cli.run import command_parser  # which imports this module when it is asked for

    return ((name, command_parser(name)) for name in COMMANDS)


def _values(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    """The values of each option that has some, and under "" those of what stands without an option."""
    from inspector.formats import FORMATS
    from inspector.operations.protocol.experiment_views import DAMAGES

    readers = {reader.name for known in FORMATS for reader in known.readers()}
    known = {"--reader": sorted(readers), "--damage": sorted(DAMAGES)}
    found: dict[str, list[str]] = {}
    for action in (action for each in with_kinds(parser) for action in each._actions):  # noqa: SLF001 - as in parser
        for name in action.option_strings or [""]:
            if values := known.get(name) or list(action.choices or ()):
                found[name] = values
    return found


def _bash() -> str:
    values, options = "", ""
    for name, parser in _parsers():
        found = _values(parser)
        plain = " ".join(found.pop("", ()))
        options += f"    {name}) words='{plain}'; options='{' '.join(sorted(options_of(parser)))}' ;;\n"
        values += "".join(f"    {name}:{option}) words='{' '.join(each)}' ;;\n" for option, each in found.items())
    return f"""_archive_inspector() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command='' words='' options='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    [[ ${{COMP_WORDS[at]}} == -* ]] || {{ command=${{COMP_WORDS[at]}}; break; }}
  done
  [ "$current" = = ] && current=''
  [ "$previous" = = ] && previous=${{COMP_WORDS[COMP_CWORD-2]}}
  case $command in
    '') words='{" ".join(COMMANDS)}' ;;
{options}  esac
  [[ $current == -* ]] && words=$options
  case $command:$previous in
{values}  esac
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
    for name, parser in _parsers():
        begin = f"complete -c {PROGRAM} -n '__fish_seen_subcommand_from {name}'"
        found = _values(parser)
        if "" in found:
            lines.append(f"{begin} -a {_quoted(' '.join(found['']))}")
        for option, what in sorted(options_of(parser).items()):
            values = f" -x -a {_quoted(' '.join(found[option]))}" if option in found else ""
            lines.append(f"{begin} -l {option.removeprefix('--')}{values} -d {_quoted(what)}")
    return "".join(f"{line}\n" for line in lines)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
