"""The files shipped with the program: sample archives, icons, the manual."""

from __future__ import annotations

import re
from pathlib import Path

DESKTOP_ID = "org.archive_inspector.ArchiveInspector"
"""The program's name for desktops, in reverse DNS: of its desktop entry, its icon and its windows."""

_NO_TEXT = re.compile(r"^(?:!\[.*\]\(.+\)|<!-- bytes: .* -->)\n\n?", re.MULTILINE)
_PACKAGE = Path(__file__).resolve().parent


def resource(*parts: str) -> Path:
    """The path of a shipped file or folder, which need not exist: ``resource("samples")``.

    An installed program has its resources inside the package, a checkout beside it.
    """
    installed = _PACKAGE / "_resources"
    return (installed if installed.is_dir() else _PACKAGE.parent / "resources").joinpath(*parts)


def samples() -> list[Path]:
    """The sample archives, sorted by name: files, and folders that are the root of a bucket."""
    folder = resource("samples")
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if not path.name.startswith(".") and path.suffix != ".md")


def manual_pages() -> list[Path]:
    """The pages of the manual, in the order of reading."""
    names = "window terminal words readers experiments replays findings causes s3 library ask own-format"
    every = f"{names} formats rca caf taco datas3t".split()
    return [path for name in every if (path := resource("manual", f"{name}.md")).is_file()]


def page_text(path: Path) -> str:
    """A page of the manual to be read in a terminal: without its pictures, and what only tests read."""
    return _NO_TEXT.sub("", path.read_text(encoding="utf-8"))
