"""The lines of the desktop entry that depend on where the program is (Desktop Entry Specification, "Exec")."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path


def own_command() -> list[str]:
    """How this program is started from anywhere: absolute paths, since a desktop may have another PATH than a terminal.

    A link to the program stays a link: pipx and packagers exchange what it leads to.
    """
    if getattr(sys, "frozen", False):
        return [sys.executable]
    typed = Path(sys.argv[0])
    found = shutil.which(typed)
    if typed.name == "__main__.py" or not (found or typed.exists()):  # run as a module, or by another program
        return [sys.executable, "-m", "inspector"]
    return [str(Path(found or typed).absolute())]


def entry(text: str, command: list[str]) -> str:
    """The text of a desktop entry with this command in place of the program's bare name."""
    line = " ".join([*map(_quoted, command), "%U"])
    text = re.sub(r"(?m)^Exec=.*$", lambda _: f"Exec={_string(line)}", text)
    return re.sub(r"(?m)^TryExec=.*$", lambda _: f"TryExec={_string(command[0])}", text)


def _quoted(argument: str) -> str:
    """An argument of Exec; percent signs are field codes there."""
    escaped = re.sub(r'(["`$\\])', r"\\\1", argument.replace("%", "%%"))
    return escaped if re.fullmatch(r"[\w./%@:+,-]+", escaped, re.ASCII) else f'"{escaped}"'


def _string(value: str) -> str:
    """A value of type string, in which a backslash begins an escape sequence."""
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
