"""``--install-desktop`` and ``--uninstall-desktop``: the program in one user's menus and "Open with".

Everything is written below the user's data folder, under names of the program's own, by which it is removed again.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from inspector.cli.bootstrap import FINE, UNREADABLE
from inspector.cli.output import complain
from inspector.cli.parser import PROGRAM
from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.formats import FORMATS
from inspector.resources import DESKTOP_ID, resource
from inspector.sources.local.atomic import atomic_file
from inspector.sources.local.disk_calls import reason

ENTRY = f"applications/{DESKTOP_ID}.desktop"
DRAWING = f"icons/hicolor/scalable/apps/{DESKTOP_ID}.svg"
TYPES = "mime/application/types"
"""Stands for what update-mime-database writes there, and takes away again."""
SHARED = tuple(kind.name for each in FORMATS for kind in each.mime if not kind.globs)
"""Types of other programs, which this one can open without becoming their default."""
EXAMPLE = (resource("samples", "two-chunks.rca"), "application/x-rca")
"""An archive that only the program's own file types recognise, by its content and by its name."""
UNSUPPORTED = (
    "This works only on desktops that follow freedesktop.org, such as those of Linux; on other systems the packaged "
    "program registers its file types itself. Nothing was changed."
)
TOOL_TIMEOUT_S = 120


def run(*, install_it: bool) -> int:
    """Install or uninstall, print what was done, and return the exit status."""
    if sys.platform in ("win32", "darwin"):
        complain(UNSUPPORTED)
        return UNREADABLE
    try:
        sentences = install(data_home()) if install_it else uninstall(data_home())
    except SourceError as error:
        complain(str(error))
        return UNREADABLE
    print(*map(visible, sentences), sep="\n")
    return FINE


def data_home() -> Path:
    """The user's data folder; a path that is not absolute does not count (XDG Base Directory Specification)."""
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    return named if named.is_absolute() else Path.home() / ".local" / "share"


def install(home: Path) -> list[str]:
    """Add the program to the desktop's menus and return what was done as sentences; a second call updates the first.

    Raises SourceError if it cannot be written; ``uninstall`` removes what an interrupted installation left.
    """
    files = dict(_files())
    for name, content in files.items():
        _put(home / name, content)
    done = f"Archive Inspector is now in the menus and in “Open with”: {len(files)} files in {home}."
    sentences = [done, *refresh(home), *_keep_other_defaults(home, files[ENTRY].decode()), check_recognized(*EXAMPLE)]
    return [sentence for sentence in sentences if sentence]


def uninstall(home: Path) -> list[str]:
    """Remove what was installed and return what was done as sentences.

    Raises SourceError if a file cannot be removed.
    """
    names = dict(_files())
    count = sum(os.path.lexists(home / name) for name in names)
    if not count:
        return [f"Nothing was installed in {home}, so nothing was removed."]
    _remove(home / name for name in names)
    sentences = refresh(home)
    _remove(_stale_caches(home))
    folders = {parent for name in (*names, TYPES) for parent in PurePosixPath(name).parents[:-1]}
    for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
        with contextlib.suppress(OSError):  # something else is in it
            (home / folder).rmdir()
    return [f"Archive Inspector is removed from the menus: {count} files were deleted from {home}.", *sentences]


def _files() -> Iterator[tuple[str, bytes]]:
    """The files of an installation: their paths below the data folder, and their content."""
    share = resource("desktop", "share")
    for path in sorted(share.rglob("*")):
        if path.is_file():
            yield path.relative_to(share).as_posix(), path.read_bytes()
    yield DRAWING, resource("icons", f"{PROGRAM}.svg").read_bytes()
    yield ENTRY, entry((share / ENTRY).read_text(encoding="utf-8"), launch_command()).encode()


def _keep_other_defaults(home: Path, full: str) -> list[str]:
    """Declare SHARED types only where that does not change which program opens them; one sentence per type left out.

    A desktop without a default for a type takes the first program it finds, and searches the user's data folder first.
    """

    def declare(kinds: Iterable[str]) -> dict[str, str]:
        text = full
        for kind in set(SHARED) - set(kinds):
            text = text.replace(f"{kind};", "")
        _put(home / ENTRY, text.encode())
        refresh_entries(home)
        return {kind: _query("default", kind) or "" for kind in SHARED}

    others = declare(())
    ours = f"{DESKTOP_ID}.desktop"
    displaced = [kind for kind, now in declare(SHARED).items() if now == ours and others[kind] not in ("", ours)]
    if not displaced:
        return []
    declare(set(SHARED) - set(displaced))
    return [
        f"{kind} stays with {others[kind]}: declaring it would have changed the default program." for kind in displaced
    ]


def _put(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(
            f"The folder {path.parent} cannot be created: {reason(error)}. Nothing was written there."
        ) from error
    with atomic_file(path, replace=True) as file:
        file.write(content)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise SourceError(f"{path} cannot be removed: {reason(error)}. It and the files after it stay.") from error


# ---- the desktop entry (Desktop Entry Specification, "Exec") -------------------------------------------------------


def launch_command() -> list[str]:
    """The command that starts this program, with absolute paths: a desktop's PATH may differ from a terminal's.

    A link to the program stays a link: pipx and package managers replace its target.
    """
    if getattr(sys, "frozen", False):
        return [sys.executable]
    typed = Path(sys.argv[0])
    found = shutil.which(typed)
    if typed.name == "__main__.py" or not (found or typed.exists()):  # run as a module, or by another program
        return [sys.executable, "-m", "inspector"]
    return [str(Path(found or typed).absolute())]


def entry(text: str, command: list[str]) -> str:
    """``text``, a desktop entry, with ``command`` as its Exec and TryExec."""
    line = " ".join([*map(_quoted, command), "%U"])
    text = re.sub(r"(?m)^Exec=.*$", lambda _: f"Exec={_string(line)}", text)
    return re.sub(r"(?m)^TryExec=.*$", lambda _: f"TryExec={_string(command[0])}", text)


def _quoted(argument: str) -> str:
    """An argument for Exec, quoted; a percent sign would begin a field code there."""
    escaped = re.sub(r'(["`$\\])', r"\\\1", argument.replace("%", "%%"))
    return escaped if re.fullmatch(r"[\w./%@:+,-]+", escaped, re.ASCII) else f'"{escaped}"'


def _string(value: str) -> str:
    """A value of type string, escaped."""
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


# ---- the desktop's own tools ---------------------------------------------------------------------------------------


def refresh(home: Path) -> list[str]:
    """Make the desktop read its changed files again; one sentence per step that failed."""
    messages = []
    if (home / "mime" / "packages").is_dir():
        lacking = "so the desktop does not know the file types yet; it is part of the package shared-mime-info"
        messages.append(_run("update-mime-database", home / "mime", lacking=lacking))
    messages.append(refresh_entries(home))
    icons = home / "icons" / "hicolor"
    if (icons / "icon-theme.cache").is_file():
        messages.append(
            _run("gtk-update-icon-cache", "-q", "-t", "-f", icons, lacking="so the icon may not be seen yet")
        )
    elif icons.is_dir():
        # Creating a cache that is not updated later would hide other icons; a newer folder makes desktops look again.
        os.utime(icons)
    return [sentence for sentence in messages if sentence]


def refresh_entries(home: Path) -> str:
    """Make the desktop read again which program opens which type; a sentence if that failed, else empty."""
    if not (home / "applications").is_dir():
        return ""
    lacking = "so “Open with” may lag behind; it is part of the package desktop-file-utils"
    return _run("update-desktop-database", "-q", home / "applications", lacking=lacking)


def check_recognized(path: Path, kind: str) -> str:
    """A sentence if xdg-open does not recognise a file as being of a type; empty if it does, or is not installed."""
    found = _query("filetype", path)
    if found is None or found.split(";")[0] == kind:
        return ""
    other = found or "no type it knows"
    return (
        f"xdg-open takes {path.name} for {other}, not for {kind}. Without a desktop environment it needs the package "
        "libfile-mimeinfo-perl; run this command again after installing it."
    )


def _query(question: str, about: str | Path) -> str | None:
    """What xdg-mime answers, None if it is missing or fails."""
    if shutil.which("xdg-mime") is None:
        return None
    try:
        return _call("xdg-mime", "query", question, about).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def _stale_caches(home: Path) -> Iterator[Path]:
    """What the tools wrote and describes nothing any more."""
    entries, types = home / "applications", home / "mime"
    if not any(entries.glob("*.desktop")):
        yield from entries.glob("mimeinfo.cache")
    if not any((types / "packages").glob("*.xml")):
        yield from filter(Path.is_file, types.glob("*"))


def _run(tool: str, *arguments: str | Path, lacking: str) -> str:
    if shutil.which(tool) is None:
        return f"{tool} was not found, {lacking}."
    try:
        done = _call(tool, *arguments)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{tool} could not be run ({error}), {lacking}."
    details = " ".join(done.stderr.split())
    return f"{tool} failed ({details or done.returncode}), {lacking}." if done.returncode else ""


def _call(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  # fixed names of tools, found through the user's PATH
        command, capture_output=True, text=True, errors="replace", timeout=TOOL_TIMEOUT_S, check=False
    )
