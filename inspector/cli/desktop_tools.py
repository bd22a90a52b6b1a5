"""The desktop's own tools, which take notice of what was installed: used where they are, and missed in a sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 120
"""Seconds that a tool may take."""


def refresh(home: Path) -> list[str]:
    """Let the desktop take notice of what has changed below the data folder; sentences say what could not be done."""
    said = []
    if (home / "mime" / "packages").is_dir():
        lacking = "so the desktop does not know the file types yet; it is part of the package shared-mime-info"
        said.append(_run("update-mime-database", home / "mime", lacking=lacking))
    said.append(refresh_entries(home))
    icons = home / "icons" / "hicolor"
    if (icons / "icon-theme.cache").is_file():
        said.append(_run("gtk-update-icon-cache", "-q", "-t", "-f", icons, lacking="so the icon may not be seen yet"))
    elif icons.is_dir():
        # A cache that is not kept up hides what others install; without one, desktops look again at a later time.
        os.utime(icons)
    return [sentence for sentence in said if sentence]


def refresh_entries(home: Path) -> str:
    """Let the desktop read again what opens what; a sentence where that could not be done."""
    if not (home / "applications").is_dir():
        return ""
    lacking = "so “Open with” may lag behind; it is part of the package desktop-file-utils"
    return _run("update-desktop-database", "-q", home / "applications", lacking=lacking)


def opens(kind: str) -> str:
    """The desktop entry that opens a type of files now, empty where there is none or where it cannot be told."""
    return _asked("default", kind) or ""


def recognize(path: Path, kind: str) -> str:
    """A sentence where xdg-open does not see that a file is of a type; empty where it does, or is not there itself."""
    found = _asked("filetype", path)
    if found is None or found.split(";")[0] == kind:
        return ""
    taken = found or "nothing that it knows"
    return (
        f"xdg-open takes {path.name} for {taken}, not for {kind}. Where no desktop environment runs it needs the "
        "package libfile-mimeinfo-perl; give this command again when that is installed."
    )


def _asked(question: str, about: str | Path) -> str | None:
    """What xdg-mime answers, None where it cannot be asked."""
    if shutil.which("xdg-mime") is None:
        return None
    try:
        return _call("xdg-mime", "query", question, about).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def caches(home: Path, *, in_use: bool = False) -> frozenset[str]:
    """What the tools have written, as paths below the data folder; ``in_use``: only what tells of anything."""
    return frozenset(path.relative_to(home).as_posix() for path in _caches(home, in_use))


def _caches(home: Path, in_use: bool) -> Iterator[Path]:
    entries, types = home / "applications", home / "mime"
    if not in_use or any(entries.glob("*.desktop")):
        yield from entries.glob("mimeinfo.cache")
    if not in_use or any((types / "packages").glob("*.xml")):
        yield from (path for path in types.glob("*") if path.is_file())


def _run(tool: str, *arguments: str | Path, lacking: str) -> str:
    if shutil.which(tool) is None:
        return f"{tool} was not found, {lacking}."
    try:
        done = _call(tool, *arguments)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{tool} could not be run ({error}), {lacking}."
    words = " ".join(done.stderr.split())
    return f"{tool} failed ({words or done.returncode}), {lacking}." if done.returncode else ""


def _call(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  # fixed names of tools, found as the user's shell finds them
        command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False
    )
