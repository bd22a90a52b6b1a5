"""The index cache: what is listed from it, what is not, and that nothing in its folder can do harm."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.__main__ import main
from inspector.core.edit import Edit, OverlaySource, Patch
from inspector.core.limits import INDEX_CACHE
from inspector.core.program.progress import Progress
from inspector.core.source import fingerprint_of
from inspector.operations.check.checking import check_location
from inspector.operations.jobs import index_store
from inspector.operations.open import index_cache, opening
from inspector.operations.open.listing import keep_listed, load
from inspector.operations.open.opening import Opened, start
from inspector.operations.session.archive_session import ArchiveSession
from inspector.sources.local import file as local_file
from inspector.sources.local.file import FileSource
from tests.conftest import SAMPLES

Row = tuple[object, ...]
NAMES = [f"folder/name-{number}.txt" for number in range(200)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own, in which any archive is kept, even one that was written just now."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(INDEX_CACHE.variable, "1")
    monkeypatch.setattr(index_cache, "MIN_BYTES", 0)
    monkeypatch.setattr(index_cache, "MIN_MEMBERS", 0)
    monkeypatch.setattr(index_cache, "MIN_SHOWN_SECONDS", 0.0)
    monkeypatch.setattr(local_file, "_FINE_GRAIN_NS", -(10**18))
    monkeypatch.setattr(local_file, "_COARSE_GRAIN_NS", -(10**18))
    return index_store.folder()


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is decoded from now on."""
    names: list[str] = []
    plain = opening.decode

    def counting(archive: Opened, progress: Progress) -> None:
        names.append(Path(archive.source.name).name)
        plain(archive, progress)

    for module in ("opening", "location"):
        monkeypatch.setattr(f"inspector.operations.open.{module}.decode", counting)
    return names


def zipped(path: Path, names: list[str] = NAMES) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), name)
    return path


def tarred(path: Path) -> Path:
    with tarfile.open(path, "w") as archive:
        for name in NAMES:
            member = tarfile.TarInfo(name)
            member.size = 3
            archive.addfile(member, io.BytesIO(b"abc"))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, NAMES[0]
        archive.addfile(link)
    return path


def listed(path: Path) -> list[Row]:
    """What ``list`` shows: all members, and what decoding found."""
    archives = load(str(path), Progress(), listing=True)
    keep_listed(archives)
    rows: list[Row] = []
    for archive in archives:
        rows += [
            (each.path, each.size, each.stored, each.spans, each.codec, each.digest, each.marks)
            for each in archive.members
        ]
        rows.append(tuple(archive.findings))
    return rows


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*")) if folder.exists() else []


# ---- what it is for --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [zipped, tarred])
def test_the_second_listing_decodes_nothing(make: Callable[[Path], Path], tmp_path: Path, decoded: list[str]) -> None:
    path = make(tmp_path / "a.bin")
    first = listed(path)
    assert (len(first) > len(NAMES), decoded) == (True, ["a.bin"])
    assert listed(path) == first
    assert decoded == ["a.bin"]


def test_it_reads_little_of_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tarred(tmp_path / "a.tar")
    listed(path)
    read: list[int] = []
    plain = FileSource.read
    monkeypatch.setattr(FileSource, "read", lambda *given: read.append(given[2]) or plain(*given))
    listed(path)
    assert sum(read) < path.stat().st_size / 2


def test_each_sample_is_listed_the_same_again(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    for path in sorted(each for samples in SAMPLES for each in samples.iterdir() if each.is_file()):
        for options in ([], ["--json"], ["--names"]):
            first, again = ((main(["list", *options, str(path)]), *capsys.readouterr()) for _ in range(2))
            assert first == again, path
    assert len(files(folder)) > 20


def test_links_are_listed_with_what_they_lead_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tarred(tmp_path / "a.tar")
    for _ in range(2):
        main(["list", str(path)])
        assert capsys.readouterr().out.endswith(f"link -> {NAMES[0]}\n")


def test_the_window_shows_members_before_they_are_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "a.zip")
    ArchiveSession(str(path)).decode(Progress())
    session = ArchiveSession(str(path))
    seen: list[tuple[int, str, object]] = []
    plain = opening.decode

    def looking(archive: Opened, progress: Progress) -> None:
        row = session.member(len(NAMES) - 1)
        seen.append((session.status().members, row.name, session.place(len(NAMES) - 1).spans))
        plain(archive, progress)

    monkeypatch.setattr("inspector.operations.open.location.decode", looking)
    session.decode(Progress())
    last = session.place(len(NAMES) - 1)
    assert seen == [(len(NAMES), NAMES[-1], last.spans)]
    assert session.now.archives[0].listed is None


def test_an_index_that_decoding_contradicts_is_gone_from_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = zipped(tmp_path / "a.zip"), zipped(tmp_path / "b.zip", NAMES[:50])
    ArchiveSession(str(path)).decode(Progress())
    wrong = index_cache.find(start(FileSource(path)))
    monkeypatch.setattr(index_cache, "find", lambda *_: wrong)
    session = ArchiveSession(str(other))
    session.decode(Progress())
    assert (session.status().members, session.member(49).name) == (50, NAMES[49])
    monkeypatch.undo()


# ---- what it is not for ----------------------------------------------------------------------------------------------


def test_nothing_but_listing_asks_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "a.zip")
    listed(path)
    monkeypatch.setattr(index_store, "read", lambda *_: pytest.fail("the index cache was read"))
    monkeypatch.setattr(index_store, "write", lambda *_: pytest.fail("the index cache was written"))
    assert check_location(str(path), Progress()).state == "sound"
    commands = [["check"], ["dump"], ["repair", "--dry-run"], ["extract", "--to", str(tmp_path / "out")]]
    for command, *options in [*commands, ["trace"], ["audit"]]:
        assert main([command, str(path), *options]) in (0, 1)
    assert main(["cat", str(path), NAMES[0]]) == 0
    assert main(["compare", str(path), str(path)]) == 0


def test_an_archive_with_errors_is_decoded_each_time(
    sample: Callable[[str], Path], decoded: list[str], folder: Path
) -> None:
    path = sample("flipped-blob-byte.rca")
    assert listed(path) == listed(path)
    assert (len(decoded), files(folder)) == (2, [])


def test_what_is_edited_or_small_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    path = zipped(tmp_path / "a.zip")
    source = FileSource(path)
    assert fingerprint_of(OverlaySource(source, Edit("", (Patch(0, b"P", b"Q"),), source.size, source.size))) == ()
    monkeypatch.setattr(index_cache, "MIN_MEMBERS", len(NAMES))
    monkeypatch.setattr(index_cache, "MIN_SECONDS", 1e9)
    listed(path)
    assert files(folder) == []


def test_a_file_that_was_written_just_now_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "a.zip")
    monkeypatch.setattr(local_file, "_FINE_GRAIN_NS", 10**18)
    monkeypatch.setattr(local_file, "_COARSE_GRAIN_NS", 10**18)
    assert fingerprint_of(FileSource(path)) == ()


def test_a_file_that_changed_since_it_was_opened_is_not_kept(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip")
    source = FileSource(path)
    assert fingerprint_of(source)
    with path.open("ab") as file:
        file.write(b"more")
    assert fingerprint_of(source) == ()


# ---- what is stale ---------------------------------------------------------------------------------------------------


def test_a_file_that_was_replaced_or_renamed_is_decoded_again(tmp_path: Path, decoded: list[str]) -> None:
    path = zipped(tmp_path / "a.zip")
    listed(path)
    data, times = path.read_bytes(), path.stat()
    path.unlink()
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    listed(path)
    listed(path.rename(tmp_path / "b.zip"))
    assert decoded == ["a.zip", "a.zip", "b.zip"]


@pytest.mark.parametrize("part", range(7))
def test_each_part_of_what_a_file_says_of_itself_counts(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoded: list[str]
) -> None:
    path = zipped(tmp_path / "a.zip")
    listed(path)
    plain = FileSource.fingerprint

    def other(source: FileSource) -> tuple[str, ...]:
        told = list(plain(source))
        told[part] += "1"
        return tuple(told)

    monkeypatch.setattr(FileSource, "fingerprint", other)
    listed(path)
    assert len(decoded) == 2


def test_another_version_decodes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoded: list[str]) -> None:
    path = zipped(tmp_path / "a.zip")
    listed(path)
    monkeypatch.setattr(index_cache, "__version__", "0.0.0")
    listed(path)
    monkeypatch.setattr(index_cache, "MAGIC", b"AIINDEX0")
    listed(path)
    assert len(decoded) == 3


@pytest.mark.parametrize("make", [zipped, tarred])
def test_a_changed_structure_is_seen_though_nothing_else_tells(
    make: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoded: list[str]
) -> None:
    path = make(tmp_path / "a.bin")
    monkeypatch.setattr(FileSource, "fingerprint", lambda source: (source.name,))
    before = listed(path)
    path.write_bytes(path.read_bytes().replace(b"name-6.txt", b"NAME-6.txt"))
    after = listed(path)
    assert after != before
    assert len(decoded) == 2


# ---- what may be in the folder ---------------------------------------------------------------------------------------


@pytest.fixture(params=[1, 500_000], ids=["numpy", "plain"])
def kept(
    request: pytest.FixtureRequest, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Path, Path, bytes, list[Row]]]:
    """An archive, its file in the cache with what is in that, and what is listed."""
    monkeypatch.setattr(index_cache, "_MANY", request.param)
    path = tarred(tmp_path / "a.tar")
    rows = listed(path)
    (place,) = files(folder)
    yield path, place, place.read_bytes(), rows
    assert listed(path) == rows


ANYTHING = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@ANYTHING
@given(st.data())
def test_a_damaged_file_is_not_used(kept: tuple[Path, Path, bytes, list[Row]], data: st.DataObject) -> None:
    path, place, whole, rows = kept
    damaged = bytearray(whole)
    kind = data.draw(st.sampled_from(("flip", "cut", "add", "other")))
    at = data.draw(st.integers(0, len(whole) - 1))
    if kind == "flip":
        damaged[at] ^= data.draw(st.integers(1, 255))
    elif kind == "cut":
        del damaged[at:]
    elif kind == "add":
        damaged[at:at] = data.draw(st.binary(min_size=1, max_size=64))
    else:
        damaged = bytearray(data.draw(st.binary(max_size=4096)))
    place.write_bytes(damaged)
    place.chmod(0o600)
    assert index_cache.find(start(FileSource(path))) is None
    assert listed(path) == rows


@ANYTHING
@given(st.data())
def test_a_forged_file_raises_nothing(kept: tuple[Path, Path, bytes, list[Row]], data: st.DataObject) -> None:
    import xxhash

    path, place, whole, _ = kept
    forged = bytearray(whole[24:])
    size = int.from_bytes(forged[:8], "little")
    for _ in range(data.draw(st.integers(1, 4))):
        in_header = data.draw(st.booleans())
        at = data.draw(st.integers(0, 8 + size if in_header else len(forged) - 1))
        forged[at] = data.draw(st.integers(0, 255))
    place.write_bytes(whole[:8] + xxhash.xxh3_128(forged).digest() + forged)
    place.chmod(0o600)
    found = index_cache.find(start(FileSource(path)))
    for index in range(0 if found is None else len(found.members)):
        assert found is not None
        span = found.members.seen(index).spans[0]
        assert 0 <= span.start <= span.stop <= path.stat().st_size
    place.write_bytes(whole)


def test_a_file_that_others_may_write_is_not_used(kept: tuple[Path, Path, bytes, list[Row]]) -> None:
    path, place, whole, _ = kept
    place.chmod(0o644)
    assert index_cache.find(start(FileSource(path))) is None
    place.unlink()
    (place.parent / "elsewhere").write_bytes(whole)
    place.symlink_to(place.parent / "elsewhere")
    assert index_cache.find(start(FileSource(path))) is None
    place.unlink()
    os.mkfifo(place)
    assert index_cache.find(start(FileSource(path))) is None
    place.unlink()


def test_a_folder_that_others_may_write_is_not_used(
    kept: tuple[Path, Path, bytes, list[Row]], decoded: list[str]
) -> None:
    path, place, whole, rows = kept
    place.parent.chmod(0o755)
    assert listed(path) == rows
    assert (decoded, place.read_bytes()) == (["a.tar"], whole)
    assert index_store.size() == 0
    place.parent.chmod(0o700)


def test_files_and_folder_are_for_their_user_alone(kept: tuple[Path, Path, bytes, list[Row]]) -> None:
    _, place, whole, _ = kept
    assert (place.stat().st_mode & 0o777, place.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert b"a.tar" not in place.name.encode() + whole


def test_without_a_folder_it_is_as_if_there_was_no_cache(tmp_path: Path, decoded: list[str]) -> None:
    (tmp_path / "cache").write_bytes(b"a file where the folder should be")
    path = zipped(tmp_path / "a.zip")
    assert listed(path) == listed(path)
    assert len(decoded) == 2
    index_store.clear()


# ---- how much of it --------------------------------------------------------------------------------------------------


def test_what_was_longest_unused_goes_first(folder: Path) -> None:
    third = b"x" * (INDEX_CACHE.value // 3)
    for number, name in enumerate("abc"):
        assert index_store.write(name, [third])
        os.utime(folder / f"{name}.index", (number, number))
    assert index_store.read("a") == third  # used, so b is the oldest now
    assert index_store.write("d", [third])
    assert [each.stem for each in files(folder)] == ["a", "c", "d"]
    assert index_store.size() <= INDEX_CACHE.value
    assert not index_store.write("e", [third, third, third, third])
    index_store.clear()
    assert (files(folder), index_store.size()) == ([], 0)


def test_what_a_crash_left_behind_is_removed(folder: Path) -> None:
    index_store.write("a", [b"x"])
    left = folder / "left.partial"
    left.write_bytes(b"half of an index")
    os.utime(left, (1, 1))
    index_store.write("b", [b"y"])
    assert [each.name for each in files(folder)] == ["a.index", "b.index"]


def test_a_limit_of_nothing_removes_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path, decoded: list[str]
) -> None:
    path = zipped(tmp_path / "a.zip")
    listed(path)
    assert len(files(folder)) == 1
    monkeypatch.setenv(INDEX_CACHE.variable, "0")
    listed(path)
    assert (len(decoded), files(folder)) == (2, [])


def test_nothing_is_put_together_that_would_not_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = start(FileSource(zipped(tmp_path / "many.zip")))
    opening.decode(archive, Progress())
    assert index_cache.keep(archive)
    monkeypatch.setenv(INDEX_CACHE.variable, "0")
    monkeypatch.setattr(index_cache, "_structure", lambda *_: pytest.fail("the structure was read"))
    assert not index_cache.keep(archive)
    assert index_store.size() == 0
