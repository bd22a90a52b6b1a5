"""Members as files for other programs, in a private folder: dragged out of the window, or opened elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from inspector.core.names import decoded, visible
from inspector.core.numbers import count
from inspector.core.progress import Progress
from inspector.operations.extract.extraction import Extraction
from inspector.operations.extract.extraction_names import parts_of, refusal
from inspector.operations.extract.extraction_wanted import Wanted
from inspector.operations.jobs.operation_error import Refused
from inspector.operations.protocol.extraction_views import (
    ExportedFiles,
    ExtractionOptions,
    ExtractionResult,
    OnConflict,
)

RUNNABLE = frozenset(
    (
        *("desktop", "lnk", "exe", "bat", "cmd", "ps1", "scr", "jar", "app", "url", "sh", "com", "pif", "msi", "hta"),
        *(
            "vbs",
            "vbe",
            "js",
            "jse",
            "wsf",
            "wsh",
            "cpl",
            "reg",
            "command",
            "run",
            "appimage",
            "deb",
            "rpm",
            "flatpakref",
        ),
        *("py", "pyw", "pl", "rb", "bash", "zsh", "fish", "csh", "ksh", "dmg", "pkg", "inf", "gadget", "webloc"),
    )
)
"""What the names of files end with that a system may run, or that lead elsewhere, when they are opened."""
_RUNNABLE_STARTS = {
    b"#!": "begins as a script does",
    b"\x7fELF": "is a program",
    b"MZ": "begins as a program for Windows does",
    b"\xca\xfe\xba\xbe": "is a program",
    b"\xcf\xfa\xed\xfe": "is a program for macOS",
    b"\xce\xfa\xed\xfe": "is a program for macOS",
    b"[Desktop Entry]": "starts a program when it is opened",
    b"[InternetShortcut]": "leads to another place when it is opened",
}
TOO_LARGE = "These members are too large to copy before they are requested."
_HEAD_BYTES = 64
_MAX_NAME = 80
"""The most characters of the name that a member is opened under."""


def size_of(wanted: Sequence[Wanted]) -> int:
    """How many bytes members have, all together."""
    return sum(each.archive.members.size(member) for each in wanted for member in each.members)


def lend(wanted: Sequence[Wanted], heads: Sequence[bytes], folder: Path, progress: Progress) -> ExportedFiles:
    """Extract members into a private folder; ``heads`` are the paths, of members or of folders, to be given away.

    Raises Refused where nothing could be extracted, SourceError and Cancelled.
    """
    result = Extraction(wanted, folder, ExtractionOptions(OnConflict.SKIP)).run(progress)
    safe = outermost([head for head in heads if not refusal(head)])
    paths = [os.path.join(os.fsencode(folder), *parts_of(head)) for head in safe]  # noqa: PTH118 - bytes
    given = tuple(os.fsdecode(path) for path in paths if os.path.lexists(path))
    missing = _missing(result)
    if not given:
        raise Refused(missing or "None of the selected members has content.")
    return ExportedFiles(given, missing)


def outermost(paths: Sequence[bytes]) -> list[bytes]:
    """Those of the paths that lie beneath no other one of them, each once."""
    found: list[bytes] = []
    for path in sorted({b"/".join(parts_of(path)) for path in paths} - {b""}, key=lambda path: path.split(b"/")):
        if not found or not path.startswith(found[-1] + b"/"):
            found.append(path)
    return found


def _missing(result: ExtractionResult) -> str:
    groups = (result.refused, result.doubtful, result.damaged, result.unproved, result.conflicts)
    left = sum(group.count for group in groups)
    if result.stopped or not left:
        return result.stopped
    first = next(group.told[0].sentence for group in groups if group.told)
    return first if left == 1 else f"{count(left, 'member')} are left out. {first}"


def lend_one(wanted: Sequence[Wanted], path: bytes, folder: Path, progress: Progress) -> ExportedFiles:
    """Extract one member to be opened with another program, under a harmless name.

    Raises Refused for what may be run, SourceError and Cancelled.
    """
    _refuse_runnable(path, runnable_name(path))
    taken = Path(lend(wanted, [path], folder, progress).paths[0])
    with taken.open("rb") as file:
        words = runnable_content(file.read(_HEAD_BYTES))
    if words:
        taken.unlink()
        _refuse_runnable(path, words)
    return ExportedFiles((str(taken.rename(folder / harmless(path))),))


def _refuse_runnable(path: bytes, words: str) -> None:
    if words:
        raise Refused(
            f"{visible(path)} is not opened in another program, because it {words}. Extract it and look at it first."
        )


def runnable_name(path: bytes) -> str:
    """Why a file of this name may be run when it is opened, as the end of a sentence; empty where it may not."""
    name = decoded(path)[0].rpartition("/")[2].rpartition("\\")[2].rstrip(". \u200b")
    ends = [end.strip().casefold() for end in name.split(".")[1:]]
    return f"is called .{ends[-1]}, which a system may run" if ends and ends[-1] in RUNNABLE else ""


def runnable_content(head: bytes) -> str:
    """Why a file that begins so may be run when it is opened, as the end of a sentence; empty where it may not."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return next(
        (words for mark, words in _RUNNABLE_STARTS.items() if head.startswith(mark) or start.startswith(mark)), ""
    )


def harmless(path: bytes) -> str:
    """A name for a file to be opened under: nothing in it means anything to a shell or a program."""
    name = decoded(path.rstrip(b"/"))[0].rpartition("/")[2]
    stem, dot, suffix = re.sub(r"[^0-9A-Za-z._-]+", "_", name).lstrip(".-").rpartition(".")
    suffix = suffix[:12]
    return f"{stem[: _MAX_NAME - len(suffix)]}{dot}{suffix}".lstrip(".-") or "member"
