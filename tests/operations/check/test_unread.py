"""What a disk does not give is said to be unreadable: never damaged, never missing, and never a reason to write."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.__main__ import main
from inspector.sources.local import file
from tests.formats.datas3t.range_building import hashed_rows, rows_frame
from tests.formats.tar.tar_building import build
from tests.s3.bad_days import wide

TAR = build([(f"{key:020d}.txt", b"%d" % key * 700) for key in range(1, 7)])
ROWS = rows_frame(hashed_rows(TAR))
FLIPPED = TAR[:600] + b"!" + TAR[601:]
NAME = f"{1:020d}-{6:020d}.tar"

Break = Callable[[str], None]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A range in which a byte has changed; only its metadata shows it."""
    (tmp_path / f"{NAME}.metadata").write_bytes(ROWS)
    (tmp_path / NAME).write_bytes(FLIPPED)
    return tmp_path / NAME


def failing(error: int) -> OSError:
    return OSError(error, os.strerror(error))


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> Break:
    """Lets the disk fail to read files with this ending."""
    read = file.FileSource.read

    def let(ending: str) -> None:
        def broken(self: file.FileSource, offset: int, length: int) -> bytes:
            with monkeypatch.context() as patch:
                if self.name.endswith(ending):
                    patch.setattr(file, "read_at", raising(errno.EIO))
                return read(self, offset, length)

        monkeypatch.setattr(file.FileSource, "read", broken)

    return let


def raising(error: int) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise failing(error)

    return fail


@pytest.fixture
def unopenable(monkeypatch: pytest.MonkeyPatch) -> Break:
    """Lets the system refuse to open files with this ending, as it does for those of others."""
    opened = os.open

    def let(ending: str) -> None:
        def refusing(path: Any, *arguments: Any, **options: Any) -> int:
            if str(path).endswith(ending):
                raise failing(errno.EACCES)
            return opened(path, *arguments, **options)

        monkeypatch.setattr(os, "open", refusing)

    return let


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> Break:
    """Lets the system not say what files with this ending are."""
    looked = os.stat

    def let(ending: str) -> None:
        def refusing(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
            if str(path).endswith(ending):
                raise failing(errno.EIO)
            return looked(path, *arguments, **options)

        monkeypatch.setattr(os, "stat", refusing)

    return let


@pytest.mark.parametrize("way", ["unreadable", "unopenable", "hidden"])
def test_metadata_that_the_disk_does_not_give_is_no_reason_to_write(
    place: Path, way: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(place)]) == 1
    capsys.readouterr()
    request.getfixturevalue(way)(".metadata")
    assert main(["check", str(place)]) == 2
    said = capsys.readouterr().out
    assert "The metadata beside the tar could not be fetched, so it was not compared." in said
    assert "missing" not in said
    for accepted in ([], ["--accept", "datas3t-rebuild-metadata"]):
        assert main(["repair", *accepted, str(place)]) == 2
    assert main(["list", str(place)]) == 2
    request.getfixturevalue("monkeypatch").undo()
    assert Path(f"{place}.metadata").read_bytes() == ROWS


def test_a_digest_manifest_that_cannot_be_opened_is_not_passed_over(tmp_path: Path, unopenable: Break) -> None:
    (tmp_path / "plain.zip").write_bytes(wide(1))
    (tmp_path / "plain.zip.sha256").write_text("0" * 64)
    assert main(["check", str(tmp_path / "plain.zip")]) == 1
    unopenable(".sha256")
    assert main(["check", str(tmp_path / "plain.zip")]) == 2


def test_a_folder_of_which_not_all_can_be_told_is_not_taken_for_one_with_gaps(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing_entry(_: os.DirEntry[str]) -> None:
        raise failing(errno.EACCES)

    monkeypatch.setattr("inspector.sources.local.file._entry", failing_entry)
    assert main(["check", str(place.parent)]) == 2
    assert "cannot be read: permission denied" in capsys.readouterr().out


def test_a_member_that_the_disk_does_not_give_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are extracted all the same."""
    (tmp_path / "wide.zip").write_bytes(wide(5))
    read_at = file.read_at

    def broken(descriptor: int, length: int, offset: int) -> bytes:
        if 300_000 < offset < 600_000 and length > 1_000:
            raise failing(errno.EIO)
        return read_at(descriptor, length, offset)

    monkeypatch.setattr(file, "read_at", broken)
    assert main(["extract", str(tmp_path / "wide.zip"), "--to", str(tmp_path / "out")]) == 2
    assert "cannot be read at byte" in capsys.readouterr().err
    assert 0 < len(list((tmp_path / "out").iterdir())) < 5
