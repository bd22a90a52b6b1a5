"""Where the files that are shipped with the program are: sample archives, icons, pictures."""

from __future__ import annotations

from pathlib import Path

DESKTOP_ID = "org.archive_inspector.ArchiveInspector"
"""What desktops call the program: the name of its desktop entry, its icon and its windows, in reverse DNS."""
SHIPPED = ("desktop", "icons", "samples")
"""The folders of resources that go wherever the program goes; pictures for the README stay behind."""

_PACKAGE = Path(__file__).resolve().parent


def resource(*parts: str) -> Path:
    """The path of a shipped file or folder, which need not exist: ``resource("samples")``.

    An installed program carries its resources inside the package, a checkout has them beside it.
    """
    installed = _PACKAGE / "_resources"
    return (installed if installed.is_dir() else _PACKAGE.parent / "resources").joinpath(*parts)


def samples() -> list[Path]:
    """The sample archives in the order of their names: files, and folders that are the root of a bucket."""
    folder = resource("samples")
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if not path.name.startswith(".") and path.suffix != ".md")
