"""Trees of files for tests that make archives, and what such an archive holds."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from inspector.core.finding import Severity
from inspector.core.names import collision_keys, hazards
from inspector.core.program.progress import Progress
from inspector.core.verdict import State
from inspector.operations.check.checking import state_of
from inspector.operations.open.listing import content
from inspector.operations.open.opening import Opened
from inspector.sources.local.file import FileSource
from tests.formats import archives

_LONGEST = 60
"""Bytes of a component, so that a path stays within what systems take."""


class Stopping(Progress):
    """A progress that is cancelled when so many bytes are done."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def advance(self, count: int) -> None:
        """Cancel in time."""
        if self.unit == "bytes" and self.done + count >= self.after:
            self.cancel()
        super().advance(count)


def _plain(part: str) -> bool:
    return len(part.encode()) <= _LONGEST and part not in (".", "..") and not hazards(part.encode()) and "/" not in part


COMPONENTS = st.one_of(
    st.sampled_from(["a", "b", "c.txt", "été", "報告", "🙂", "CON", "with space", "-x", "%1", "<b>", 'quote"']),
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20).filter(_plain),
)
NAMES = st.lists(COMPONENTS, min_size=1, max_size=6).map("/".join)
CONTENTS = st.one_of(st.binary(max_size=300), st.integers(0, 3).map(lambda count: b"0123456789abcdef" * count * 70_000))


def _possible(files: dict[str, bytes]) -> bool:
    """Whether a folder can hold them: no file is a folder too, and no two are one on any system."""
    keys = collision_keys([name.encode() for name in files])
    folders = {key.rsplit(b"/", depth)[0] for key in keys for depth in range(1, key.count(b"/") + 1)}
    return len(set(keys)) == len(keys) and not folders & set(keys)


TREES = st.dictionaries(NAMES, CONTENTS, max_size=12).filter(_possible)


def plant(root: Path, files: dict[str, bytes]) -> Path:
    """A folder with these files."""
    root.mkdir(exist_ok=True)
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def opened(path: Path) -> Opened:
    """The archive at a path, decoded and checked."""
    return archives.checked(FileSource(path))


def held(path: Path) -> dict[str, bytes]:
    """What an archive holds, which has to be sound, by name and in its order."""
    archive = opened(path)
    wrong = [finding for finding in archive.findings if finding.severity is not Severity.INFO]
    assert state_of((archive,)) is State.SOUND, wrong
    return {
        archive.members.path(index).decode(): b"".join(content(archive, index, Progress()))
        for index in range(len(archive.members))
    }


def visible_names(folder: Path) -> list[str]:
    """What is in a folder, also what should not be."""
    return sorted(path.name for path in folder.iterdir())
