"""The program in the desktop's menus and its "Open with": put there for one user, and taken away without a trace.

Everything is below the user's data folder. A manifest there lists what was put where, so that exactly that goes again.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import msgspec

from inspector.cli.desktop_entry import entry, own_command
from inspector.cli.desktop_tools import caches, opens, recognize, refresh, refresh_entries
from inspector.cli.exit_codes import FINE, UNREADABLE
from inspector.cli.output import complain
from inspector.cli.parser import PROGRAM
from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.resources import DESKTOP_ID, resource
from inspector.sources.local.atomic import AtomicFile
from inspector.sources.local.disk_calls import reason

MANIFEST = f"{PROGRAM}/desktop.json"
ENTRY = f"applications/{DESKTOP_ID}.desktop"
DRAWING = f"icons/hicolor/scalable/apps/{DESKTOP_ID}.svg"
TYPES = "mime/application/types"
"""Stands for what update-mime-database writes: the folder has to be known as made here, its files come and go."""
SHARED = ("application/zip", "application/x-tar")
"""Types of others, which the program offers to open and does not want to be the first to."""
EXAMPLE = (resource("samples", "two-chunks.rca"), "application/x-rca")
"""An archive of a kind that only the program's own file types tell, by its content as by its name."""
ELSEWHERE = (
    "This is for desktops that follow freedesktop.org, such as those of Linux; elsewhere the packaged program brings "
    "its file types along. Nothing was changed."
)


class Manifest(msgspec.Struct, frozen=True):
    """What an installation has put below the data folder, as paths from there with slashes.

    ``folders`` were made for ``files``; ``caches`` were first written when the desktop's tools took notice of them.
    """

    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    caches: frozenset[str] = frozenset()


def run(*, install_it: bool) -> int:
    """Install, or take away what was installed; tell about it, and give the exit status."""
    if sys.platform in ("win32", "darwin"):
        complain(ELSEWHERE)
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
    """Put the program into the desktop's menus and say what was done. Done again, it renews what is there.

    Raises SourceError where the disk does not take it; ``uninstall`` removes what an interrupted installation left.
    """
    before, wanted, there = _read(home), dict(_wanted()), caches(home)
    folders = before.folders | {
        folder for folder in _folders([*wanted, MANIFEST, TYPES]) if not _is_there(home, folder)
    }
    _write(home, Manifest(before.files | wanted.keys(), folders, before.caches))
    _remove(home, before.files - wanted.keys())
    for name, content in wanted.items():
        _put(home / name, content)
    done = f"Archive Inspector is in the menus and in “Open with” now: {len(wanted)} files in {home}."
    sentences = [done, *refresh(home), *_leave_first_places(home, wanted[ENTRY].decode()), recognize(*EXAMPLE)]
    _write(home, Manifest(frozenset(wanted), folders, before.caches | (caches(home) - there)))
    return [sentence for sentence in sentences if sentence]


def uninstall(home: Path) -> list[str]:
    """Take away what was installed, and say so. Raises SourceError where something cannot be removed."""
    known = _read(home)
    if known == Manifest():
        return [f"Nothing was installed in {home}, so nothing was removed."]
    count, there = sum(_is_there(home, name) for name in known.files), caches(home)
    _remove(home, known.files)
    sentences = refresh(home)
    ours = known.caches | (caches(home) - there)
    _remove(home, {*(ours - caches(home, in_use=True)), MANIFEST})
    for folder in sorted(known.folders, key=len, reverse=True):
        with contextlib.suppress(OSError):  # it holds something else by now
            (home / folder).rmdir()
    return [f"Archive Inspector is out of the menus again: {count} files were removed from {home}.", *sentences]


def _wanted() -> Iterator[tuple[str, bytes]]:
    """The files of an installation: their paths below the data folder, and their content."""
    share = resource("desktop", "share")
    for path in sorted(share.rglob("*")):
        if path.is_file():
            yield path.relative_to(share).as_posix(), path.read_bytes()
    yield DRAWING, resource("icons", f"{PROGRAM}.svg").read_bytes()
    yield ENTRY, entry((share / ENTRY).read_text(encoding="utf-8"), own_command()).encode()


def _leave_first_places(home: Path, full: str) -> list[str]:
    """Declare types of others only as far as that does not displace who opens them now; the sentences say where not.

    A desktop that names no program for a type takes the first it finds, and looks into the user's data folder first.
    """

    def declare(kinds: Iterable[str]) -> dict[str, str]:
        text = full
        for kind in set(SHARED) - set(kinds):
            text = text.replace(f"{kind};", "")
        _put(home / ENTRY, text.encode())
        refresh_entries(home)
        return {kind: opens(kind) for kind in SHARED}

    others = declare(())
    ours = f"{DESKTOP_ID}.desktop"
    displaced = [kind for kind, now in declare(SHARED).items() if now == ours and others[kind] not in ("", ours)]
    if not displaced:
        return []
    declare(set(SHARED) - set(displaced))
    return [f"{kind} is still opened by {others[kind]}, and not declared so that it stays so." for kind in displaced]


def _folders(names: Iterable[str]) -> set[str]:
    """All folders that files lie in, below the data folder."""
    return {parent.as_posix() for name in names for parent in PurePosixPath(name).parents} - {"."}


def _is_there(home: Path, name: str) -> bool:
    return os.path.lexists(home / name)


def _put(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(
            f"The folder {path.parent} cannot be made: {reason(error)}. Nothing was put there."
        ) from error
    with AtomicFile(path, replace=True) as file:
        file.write(content)


def _remove(home: Path, names: Iterable[str]) -> None:
    for name in sorted(names):
        try:
            (home / name).unlink(missing_ok=True)
        except OSError as error:
            raise SourceError(
                f"{home / name} cannot be removed: {reason(error)}. What follows it stays too."
            ) from error


def _write(home: Path, manifest: Manifest) -> None:
    _put(home / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest, order="sorted")))


def _read(home: Path) -> Manifest:
    """What was installed before; raises SourceError for a manifest that nothing should be removed by."""
    path = home / MANIFEST
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        return Manifest()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {reason(error)}. Nothing was changed.") from error
    except msgspec.DecodeError as error:
        raise SourceError(f"{path} is not what an installation has written: {error}. Nothing was changed.") from error
    for name in found.files | found.folders | found.caches:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or not place.parts or "\0" in name:
            raise SourceError(f"{path} names {visible(name)}, which is not below {home}. Nothing was changed.")
    return found
