"""The copy for whoever would rather leave the archive alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.edit.apply_repairs import save_copy
from inspector.operations.jobs.operation_error import OperationError
from inspector.sources.local.file import FileSource
from tests.sources.disks import CONTENT, EDITS, after, names

THREE = EDITS["three"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "archive.tacozip"
    path.write_bytes(CONTENT)
    return path


@pytest.mark.parametrize("name", EDITS)
def test_a_patched_copy_is_what_the_edit_would_leave(name: str, path: Path) -> None:
    target, progress = path.with_name("copy"), Progress()
    save_copy(FileSource(path), EDITS[name], str(target), progress, over=False)
    assert target.read_bytes() == after(EDITS[name])
    assert path.read_bytes() == CONTENT
    assert progress.done == progress.total == EDITS[name].new_size


def test_a_copy_never_takes_the_archives_place(path: Path) -> None:
    path.with_name("link").symlink_to(path.name)
    os.link(path, path.with_name("hard"))
    for name in (path.name, "link", "hard"):
        with pytest.raises(OperationError, match="is the archive itself"):
            save_copy(FileSource(path), THREE, str(path.with_name(name)), Progress(), over=True)
    assert path.read_bytes() == CONTENT


def test_a_copy_replaces_a_file_only_where_that_is_said(path: Path) -> None:
    target = path.with_name("copy")
    target.write_bytes(b"other")
    with pytest.raises(SourceError, match="already"):
        save_copy(FileSource(path), THREE, str(target), Progress(), over=False)
    save_copy(FileSource(path), THREE, str(target), Progress(), over=True)
    assert target.read_bytes() == after(THREE)


def test_a_copy_that_is_cancelled_or_whose_source_shrinks_leaves_nothing(path: Path) -> None:
    source, progress = FileSource(path), Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        save_copy(source, THREE, str(path.with_name("copy")), progress, over=False)
    os.truncate(path, 500)
    with pytest.raises(SourceError, match="ends after 500 bytes now"):
        save_copy(source, THREE, str(path.with_name("copy")), Progress(), over=False)
    assert names(path) == [path.name]


LIMITED = """
import resource, signal, sys
from pathlib import Path
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.edit.apply_repairs import save_copy
from inspector.sources.local.file import FileSource
from tests.sources.disks import EDITS

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
path = Path(sys.argv[1])
try:
    save_copy(FileSource(path), EDITS["three"], str(path.with_name("copy")), Progress(), over=False)
except SourceError as error:
    print(error)
"""


def test_a_copy_that_the_disk_does_not_take_is_a_sentence(path: Path, root: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED, path], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "copy cannot be written: file too large.\n"
    assert names(path) == [path.name]
