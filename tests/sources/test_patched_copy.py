"""The copy for whoever would rather leave the archive alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.sources.local.changes.in_place import patched_copy
from inspector.sources.local.file import FileSource
from tests.sources.disks import CONTENT, EDITS, after, names

THREE = EDITS["three"]


@pytest.mark.parametrize("name", EDITS)
def test_a_patched_copy_is_what_the_edit_would_leave(name: str, path: Path) -> None:
    target, progress = path.with_name("copy"), Progress()
    patched_copy(FileSource(path), EDITS[name], target, progress)
    assert target.read_bytes() == after(EDITS[name])
    assert path.read_bytes() == CONTENT
    assert progress.done == progress.total == EDITS[name].new_size


def test_a_copy_never_takes_the_archives_place(path: Path) -> None:
    path.with_name("link").symlink_to(path.name)
    os.link(path, path.with_name("hard"))
    for name in (path.name, "link", "hard"):
        with pytest.raises(SourceError, match="is the archive itself"):
            patched_copy(FileSource(path), THREE, path.with_name(name), Progress(), replace=True)
    assert path.read_bytes() == CONTENT


def test_a_copy_replaces_a_file_only_where_that_is_said(path: Path) -> None:
    target = path.with_name("copy")
    target.write_bytes(b"other")
    with pytest.raises(SourceError, match="already"):
        patched_copy(FileSource(path), THREE, target, Progress())
    patched_copy(FileSource(path), THREE, target, Progress(), replace=True)
    assert target.read_bytes() == after(THREE)


def test_a_copy_that_is_cancelled_or_whose_source_shrinks_leaves_nothing(path: Path) -> None:
    source, progress = FileSource(path), Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        patched_copy(source, THREE, path.with_name("copy"), progress)
    os.truncate(path, 500)
    with pytest.raises(SourceError, match="ends after 500 bytes now"):
        patched_copy(source, THREE, path.with_name("copy"), Progress())
    assert names(path) == [path.name]


LIMITED = """
import resource, signal, sys
from pathlib import Path
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.sources.local.file import FileSource
from inspector.sources.local.changes.in_place import patched_copy
from tests.sources.disks import EDITS

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
path = Path(sys.argv[1])
try:
    patched_copy(FileSource(path), EDITS["three"], path.with_name("copy"), Progress())
except SourceError as error:
    print(error)
"""


def test_a_copy_that_the_disk_does_not_take_is_a_sentence(path: Path, root: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED, path], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "copy cannot be written: file too large.\n"
    assert names(path) == [path.name]
