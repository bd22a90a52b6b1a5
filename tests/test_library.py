"""The library: ``import inspector``, and the manual's page about it."""

from __future__ import annotations

import copy
import doctest
import io
import json
import pickle
import subprocess
import sys
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import inspector
from inspector.__main__ import main
from inspector.core.limits import FORMAT_FILES
from inspector.formats._own import own_formats

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "resources" / "samples"
TACO = SAMPLES / "two-entries.tacozip"
RCA = SAMPLES / "flipped-blob-byte.rca"
ALL = sorted(each for each in SAMPLES.iterdir() if each.suffix != ".md")


@pytest.fixture
def zipped(tmp_path: Path) -> Path:
    """A ZIP of a deflated, a stored and an empty member."""
    path = tmp_path / "some.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("deflated.txt", b"0123456789" * 50_000, zipfile.ZIP_DEFLATED)
        made.writestr("stored.bin", bytes(range(256)) * 16)
        made.writestr("empty", b"")
    return path


def test_the_manual_shows_what_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(ROOT / "resources/manual/library.md"), module_relative=False)
    assert (failed, tried > 15) == (0, True)


def test_the_names_are_there_and_load_nothing_before_they_are_used() -> None:
    script = "import sys, inspector; print(len(sys.modules)); inspector.open; print('PySide6' in sys.modules)"
    plain = subprocess.run(
        [sys.executable, "-c", "import sys; print(len(sys.modules))"], capture_output=True, check=True
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout.split()
    assert int(loaded[0]) <= int(plain.stdout) + 4  # itself, typing and what that imports
    assert loaded[1] == b"False"
    assert all(getattr(inspector, name) is not None for name in inspector.__all__)
    assert set(inspector.__all__) <= set(dir(inspector))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = inspector.nothing  # type: ignore[attr-defined]
    assert (ROOT / "inspector" / "py.typed").exists()


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_it_says_what_the_terminal_says(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with inspector.open(path) as archive:
        report = archive.check()
        main(["check", "--json", str(path)])
        assert json.loads(report.json) == json.loads(capfd.readouterr().out)
        assert archive.state is report.state
        main(["list", "--json", str(path)])
        listed = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        assert [each["size"] for each in listed] == archive.members.sizes.tolist()
        assert [each["stored"] for each in listed] == archive.members.stored.tolist()
        assert [(each["codec"], each["digest"]) for each in listed] == [(m.codec, m.digest) for m in archive.members]
        assert [str(each.verdict) for each in archive.members] == [str(each) for each in archive.members.verdicts]
        assert "<svg" in archive._repr_html_() or path.is_dir()


@pytest.mark.parametrize("path", [each for each in ALL if each.is_file()], ids=lambda path: path.name)
def test_each_byte_is_in_one_leaf(path: Path) -> None:
    with inspector.open(path) as archive:
        for offset in range(0, archive.size, 97):
            leaf = archive.at(offset)[-1]
            assert not leaf.children
            assert any(span.start <= offset < span.stop for span in leaf.spans)
            assert leaf.meaning
        with pytest.raises(IndexError):
            archive.at(archive.size)


def test_members_are_a_sequence_and_a_mapping(zipped: Path) -> None:
    with inspector.open(zipped) as archive, zipfile.ZipFile(zipped) as other:
        members = archive.members
        assert [each.name for each in members] == members.names == other.namelist()
        assert [each.name for each in members[1:]] == ["stored.bin", "empty"]
        assert members[-1].name == "empty"
        assert members["stored.bin"].read() == other.read("stored.bin")
        assert "stored.bin" in members
        assert "other" not in members
        assert 3 not in members
        with pytest.raises(KeyError, match=r"^There is no member called other\."):
            members["other"]
        with pytest.raises(IndexError):
            members[3]


@pytest.mark.parametrize("name", ["deflated.txt", "stored.bin", "empty"])
def test_a_member_is_a_file(zipped: Path, name: str) -> None:
    with zipfile.ZipFile(zipped) as other:
        content = other.read(name)
    with inspector.open(zipped) as archive:
        with archive.members[name].open() as file:
            assert (file.verified, file.read(), file.verified, file.read(10)) == (None, content, True, b"")
        with archive.members[name].open() as file:
            found = b"".join(iter(lambda: file.read(977), b""))
            assert (found, file.verified) == (content, True)
        with archive.members[name].open() as file, io.BytesIO(content) as expected:
            for offset, whence, length in ((100, 0, 50), (-20, 1, 30), (-7, 2, 30), (5, 2, 3), (0, 0, -1)):
                if offset + len(content) < 0:
                    continue
                assert file.seek(offset, whence) == expected.seek(offset, whence)
                assert file.read(length) == expected.read(length)
                assert file.tell() == expected.tell()
                assert file.verified is None
            with pytest.raises(ValueError, match="no position -1"):
                file.seek(-1)


def test_changed_content_is_refused_and_can_be_looked_at(zipped: Path) -> None:
    data = bytearray(zipped.read_bytes())
    with zipfile.ZipFile(zipped) as other:
        at = other.getinfo("stored.bin").header_offset + 30 + len("stored.bin")
    data[at + 5] ^= 1
    zipped.write_bytes(data)
    with inspector.open(zipped) as archive:
        with pytest.raises(inspector.Refused, match=r"The CRC-32 of stored\.bin does not fit"):
            archive.members["stored.bin"].read()
        with archive.members["stored.bin"].open() as file:
            assert file.read()[5] == 5 ^ 1
            assert file.verified is False
            assert "does not fit" in file.doubts[0]
        assert archive.members["deflated.txt"].read() == b"0123456789" * 50_000


def test_a_member_whose_content_ends_too_early_is_unreadable(zipped: Path) -> None:
    data = bytearray(zipped.read_bytes())
    data[30 + len("deflated.txt") + 40] ^= 0xFF
    zipped.write_bytes(data)
    with inspector.open(zipped) as archive, pytest.raises(inspector.ArchiveError):
        archive.members["deflated.txt"].read()


def test_several_threads_read_members(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    contents = {f"{number}": bytes([number]) * 10_000 for number in range(64)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in contents.items():
            made.writestr(name, content)
    with inspector.open(path) as archive, ThreadPoolExecutor(8) as pool:
        found = dict(zip(contents, pool.map(lambda name: archive.members[name].read(), contents), strict=True))
    assert found == contents


def test_what_is_missing_and_what_is_closed(tmp_path: Path, zipped: Path) -> None:
    with pytest.raises(inspector.NotFound, match="does not exist"):
        inspector.open(tmp_path / "nothing.zip")
    with pytest.raises(inspector.ArchiveError):
        inspector.open(tmp_path)
    archive = inspector.open(zipped)
    archive.close()
    archive.close()
    with pytest.raises(inspector.Refused, match="is closed"):
        _ = archive.format
    assert "closed" in repr(archive)


def test_bytes_of_no_known_format(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Nothing to see.")
    with inspector.open(path) as archive:
        assert (archive.format, len(archive.members), archive.check().state) == (None, 0, inspector.State.UNREADABLE)
        with pytest.raises(inspector.Refused, match="no known format"):
            archive.plan()


def test_a_copy_is_repaired_and_the_archive_only_with_consent(tmp_path: Path) -> None:
    torn = (SAMPLES / "torn-at-boundary.rca").read_bytes()
    path, copy = tmp_path / "torn.rca", tmp_path / "copy.rca"
    path.write_bytes(torn)
    with inspector.open(path) as archive:
        assert [each.code for each in archive.plan().repairs] == ["rca-drop-garbage"]
        archive.repair(to=copy)
        assert path.read_bytes() == torn
        with pytest.raises(inspector.Refused, match="accept has to name rca-drop-garbage"):
            archive.repair()
        assert path.read_bytes() == torn
        archive.repair(accept=["rca-drop-garbage"])
    with inspector.open(path) as archive, inspector.open(copy) as other:
        assert archive.check().sound
        assert other.check().sound
    assert path.read_bytes() == copy.read_bytes()


def test_a_dataset_has_members_of_all_ranges_and_no_bytes_of_its_own() -> None:
    with inspector.open(SAMPLES / "weather") as archive:
        assert len(archive.members) == 6
        name = archive.members.names[4]
        assert archive.members[4].name == name
        assert archive.members[4].read() == archive.members[name.rpartition("/")[2]].read()
        with pytest.raises(inspector.Refused, match="a dataset of 2 ranges"):
            _ = archive.fields


def test_progress_is_told_and_what_it_raises_ends_the_work(zipped: Path) -> None:
    told: list[tuple[str, int, int]] = []
    with inspector.open(zipped, progress=lambda *each: told.append(each)) as archive:
        archive.check(lambda *each: told.append(each))
        assert told
        assert all(label and done >= 0 for label, done, _ in told)

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            archive.check(stop)


def test_archives_in_other_bytes_are_found(tmp_path: Path, zipped: Path) -> None:
    path = tmp_path / "disk.img"
    inner = TACO.read_bytes()
    path.write_bytes(b"\xa5" * 5_000 + inner + b"\xa5" * 3_000)
    (hit,) = inspector.scan(path)
    assert (hit.format, tuple(hit.span), hit.state) == ("taco", (5_000, 5_000 + len(inner)), inspector.State.SOUND)
    assert inspector.compare(zipped, zipped).summary.equal


def test_an_archive_inside_another_opens(tmp_path: Path) -> None:
    path = tmp_path / "outer.tar"
    with tarfile.open(path, "w") as outer:
        outer.add(TACO, "inner.tacozip")
    with inspector.open(f"{path}!/inner.tacozip") as archive:
        assert archive.check().state is inspector.State.SOUND


def test_members_are_files_of_fsspec(zipped: Path) -> None:
    fsspec = pytest.importorskip("fsspec", exc_type=ImportError)
    fsspec.register_implementation("inspect", "inspector.filesystem.InspectFileSystem", clobber=True)
    with fsspec.open(f"inspect://stored.bin::file://{zipped}") as file:
        assert file.read() == bytes(range(256)) * 16
    files, _ = fsspec.core.url_to_fs(f"inspect://::file://{TACO}")
    assert files.find("") == sorted(inspector.open(TACO).members.names)
    assert files.ls("DATA", detail=False) == ["DATA/tile_0001.png", "DATA/tile_0002.png"]
    assert files.info("DATA")["type"] == "directory"
    with pytest.raises(FileNotFoundError, match="no member called nothing"):
        files.open("nothing")
    with pytest.raises(OSError, match="read only"):
        files.open("new", "wb")
    damaged, _ = fsspec.core.url_to_fs(f"inspect://::file://{RCA}")
    with pytest.raises(OSError, match="Nothing proves"):
        damaged.open(inspector.open(RCA).members.names[0])


def test_consent_is_for_codes_that_are_named(tmp_path: Path) -> None:
    path = tmp_path / "torn.rca"
    path.write_bytes((SAMPLES / "torn-at-boundary.rca").read_bytes())
    with inspector.open(path) as archive:
        with pytest.raises(TypeError, match="give a list"):
            archive.repair(accept="not rca-drop-garbage")
        with pytest.raises(inspector.Refused, match="no repair is called bogus"):
            archive.repair(to=tmp_path / "copy", accept=["bogus"])
    assert path.read_bytes() == (SAMPLES / "torn-at-boundary.rca").read_bytes()
    assert not (tmp_path / "copy").exists()


def test_a_file_that_changed_while_open_is_never_sound(tmp_path: Path) -> None:
    path = tmp_path / "some.caf"
    path.write_bytes((SAMPLES / "journey.caf").read_bytes())
    with inspector.open(path) as archive:
        path.write_bytes(b"\xee" * path.stat().st_size)
        with pytest.raises(inspector.Refused, match=r"Open it again\.$"):
            archive.check()
        with pytest.raises(inspector.ArchiveError):
            archive.members[0].read()


def test_what_crosses_to_other_processes_is_opened_again_or_plain() -> None:
    with inspector.open(TACO) as archive:
        report = archive.check()
        again = pickle.loads(pickle.dumps(archive))
        assert [each.name for each in again.members] == archive.members.names
        told = pickle.loads(pickle.dumps(report))
        assert (told.state, told.json, told.verdicts) == (report.state, report.json, report.verdicts)
        assert "sound" in told._repr_html_()
        with pytest.raises(TypeError, match="open the archive again"):
            copy.deepcopy(archive.members[0])
        assert archive.members[0] == archive.members["TACO_HEADER"]
        assert archive.members[1] in archive.members
        assert archive.members[b"COLLECTION.json"].is_file
        assert archive.at("header[1]")[-1].start == archive.members[1].spans[0].start - 30 - len("DATA/tile_0001.png")
        with pytest.raises(inspector.Refused):
            archive.at("nowhere")


def test_a_closed_file_and_what_it_cannot_do() -> None:
    with inspector.open(TACO) as archive:
        file = archive.members[0].open()
        with pytest.raises(io.UnsupportedOperation):
            file.write(b"x")
        with pytest.raises(ValueError, match="no position"):
            file.seek(0, 7)
        file.close()
        for use in (file.read, lambda: file.seek(0)):
            with pytest.raises(ValueError, match="closed"):
                use()


def test_a_format_of_ones_own_in_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORMAT_FILES, "")
    page = (ROOT / "resources/manual/own-format.md").read_text(encoding="utf-8")
    (tmp_path / "pak.py").write_text(page.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    (tmp_path / "id1.pak").write_bytes(b"PACK" + bytes((12, 0, 0, 0, 0, 0, 0, 0)))
    assert inspector.open(tmp_path / "id1.pak").format is None
    with pytest.raises(inspector.Refused, match="cannot be used"):
        inspector.use_format(tmp_path / "nothing.py")
    inspector.use_format(tmp_path / "pak.py")
    assert inspector.open(tmp_path / "id1.pak").format == "pak"
    monkeypatch.setenv(FORMAT_FILES, "")
    own_formats.cache_clear()
