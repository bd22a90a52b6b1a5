"""Digest manifests beside archives: read as the usual tools write them, compared, and written."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.core.source import SourceError
from inspector.sources.local.atomic import atomic_file


def failing(_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["fsync", "close"])
def test_a_file_that_cannot_be_finished_is_not_there(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    if step == "fsync":
        monkeypatch.setattr("os.fsync", failing)
    else:
        monkeypatch.setattr(Path, "replace", lambda *_: failing(None))
    with pytest.raises(SourceError, match="no space left"), atomic_file(path, replace=True) as target:
        target.write(b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "x"

    def write() -> None:
        with atomic_file(path) as target:
            target.write(b"new")
            path.write_bytes(b"other")

    with pytest.raises(SourceError, match="already"):
        write()
    assert path.read_bytes() == b"other"


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be written"), atomic_file(tmp_path / "none" / "x"):
        pass
