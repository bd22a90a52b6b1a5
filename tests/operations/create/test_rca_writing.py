"""Making RCA archives of files, and growing them in place."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given as property_of
from hypothesis import strategies as st

from inspector.core.edit import EditError
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.formats.rca.blocks import Convention
from inspector.formats.rca.reading import layers
from inspector.operations.create import rca_writing
from inspector.operations.create.creating import NewArchive
from inspector.operations.create.creating_rca import RcaOptions, create_rca, make
from inspector.operations.create.rca_writing import DISCARD
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import decode, start
from inspector.sources.local import choices
from inspector.sources.local.changes.journal_paths import intent_path
from inspector.sources.local.file import FileSource
from tests.formats.rca import build
from tests.formats.rca.checking import FULL, ONE, SMALL, THREE, TWO, full_chunk, noisy, opened
from tests.formats.rca.decoding import content
from tests.operations.create.rca_appends import Given, append, create, held
from tests.sources.disks import Stopped, Watched, stopping

GARBAGE = "rca-trailing-garbage"
Sample = Callable[[str], Path]

names = (
    st.text(st.characters(categories=["L", "N"], include_characters=" -_.é"), min_size=1, max_size=12)
    .map(str.encode)
    .filter(lambda name: name not in (b".", b".."))
)
trees = st.dictionaries(names, st.binary(max_size=3_000), max_size=6)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "archives").mkdir()
    return tmp_path / "archives" / "a.rca"


def alone(path: Path) -> bool:
    """Whether nothing else is left in the folder."""
    return [each.name for each in path.parent.iterdir()] in ([], [path.name])


# ---- creating ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blobs", [[], SMALL, ONE, noisy(FULL + 5, 3)], ids=["none", "small", "one", "two chunks"])
def test_a_new_archive_is_what_others_write_of_the_same(path: Path, blobs: list[build.Blob]) -> None:
    create(path, blobs)

    assert held(path.read_bytes()) == blobs
    assert alone(path)
    if blobs:
        assert path.read_bytes()[-500:] == build.archive(blobs)[-500:]
        assert path.stat().st_size == len(build.archive(blobs))


def test_folders_are_put_in_under_their_names(path: Path, tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "é.txt").write_bytes(b"x" * 100_000)
    (tmp_path / "in" / "empty").write_bytes(b"")
    progress = Progress()

    result = create_rca(progress, str(path), [str(tmp_path / "in")], RcaOptions())

    assert held(path.read_bytes()) == [("deep/é.txt".encode(), b"x" * 100_000), (b"empty", b"")]
    assert result.archives == (NewArchive(str(path), 2, path.stat().st_size),)
    assert (progress.done, progress.total) == (100_000, 100_000)


def test_nothing_is_written_over_without_a_word(path: Path) -> None:
    path.write_bytes(b"precious")
    with pytest.raises(OperationError, match="is there already"):
        create_rca(Progress(), str(path), [], RcaOptions())
    with pytest.raises(SourceError, match="something is there already"):
        create(path, ONE)
    assert path.read_bytes() == b"precious"

    create(path, ONE, overwrite=True)
    assert held(path.read_bytes()) == ONE


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_a_target_that_cannot_be_a_file_is_refused(path: Path, name: str) -> None:
    with pytest.raises(OperationError, match="not a usable path"):
        create_rca(Progress(), f"{path.parent}/{name}", [], RcaOptions())


def test_what_comes_into_the_place_meanwhile_is_not_written_over(path: Path) -> None:
    @dataclass(frozen=True)
    class Slow(Given):
        def pieces(self) -> Iterator[bytes]:
            path.write_bytes(b"precious")
            yield self.data

    with pytest.raises(SourceError, match="something is there already"):
        make(path, [Slow(b"a", b"b")], RcaOptions(), Progress())

    assert path.read_bytes() == b"precious"
    assert alone(path)


def test_the_level_is_the_one_that_was_chosen(tmp_path: Path) -> None:
    text = [(b"a", b"".join(b"%d and %d, " % (n * n % 971, n % 37) for n in range(9_000)))]
    sizes = []
    for level in (1, 19):
        create(tmp_path / f"{level}.rca", text, RcaOptions(level=level))
        assert held((tmp_path / f"{level}.rca").read_bytes()) == text
        sizes.append((tmp_path / f"{level}.rca").stat().st_size)

    assert sizes[1] < sizes[0]
    with pytest.raises(OperationError, match="level is 1 to 22, not 23"):
        create(tmp_path / "c.rca", text, RcaOptions(level=23))


def test_names_that_are_hazards_or_twice_are_refused(path: Path) -> None:
    for blobs, said in (([(b"../a", b"")], "leads out"), ([(b"a", b""), (b"a", b"")], "twice")):
        with pytest.raises(OperationError, match=said):
            create(path, blobs)
    assert not path.exists()


@property_of(trees, trees, st.sampled_from(Convention))
def test_what_was_put_in_comes_out(
    tmp_path_factory: pytest.TempPathFactory,
    first: dict[bytes, bytes],
    second: dict[bytes, bytes],
    convention: Convention,
) -> None:
    path = tmp_path_factory.mktemp("tree") / "a.rca"
    options = RcaOptions(convention=convention)
    added = [(name + b"+", stored) for name, stored in second.items()]

    create(path, list(first.items()), options)
    append(path, added, options=options)

    assert held(path.read_bytes()) == [*first.items(), *added]


# ---- appending ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("convention", Convention)
def test_appends_make_what_the_published_writer_makes(path: Path, convention: Convention) -> None:
    """An append is a segment, and the archive's own convention is gone on with."""
    create(path, ONE)
    append(path, TWO, options=RcaOptions(convention=convention))
    result = append(path, THREE)

    name = build.SPEC if convention is Convention.SPECIFICATION else build.RCARCH
    assert path.read_bytes() == build.archive(ONE, TWO, THREE, convention=name)
    assert result.sentence == f"{path} has 2 blobs more, and has grown by {_grown(name)} bytes."
    assert result.archives == (NewArchive(str(path), 6, path.stat().st_size),)
    assert result.warnings == ()


@pytest.mark.parametrize("name", ["two-chunks.rca", "two-resets-spec.rca", "two-resets-rcarch.rca"])
def test_an_archive_is_made_again_as_it_is_from_what_it_holds(path: Path, sample: Sample, name: str) -> None:
    """Outside the metadata of chunks that are not the last, which does not count."""
    data = sample(name).read_bytes()
    archive = opened(data)
    edges, starts = archive.detail.blocks.edges, archive.members.starts
    options = RcaOptions(convention=Convention.RCARCH if "rcarch" in name else Convention.SPECIFICATION)
    path.write_bytes(b"")
    for segment in range(len(archive.detail.blocks.segments)):
        first, last = (edges[block] for block in archive.detail.blocks.segment(segment))
        within = [member for member in archive.members if first <= starts[member.index] < last]
        append(path, [(member.path, content(archive, member.index)) for member in within], options=options)

    assert counting(path.read_bytes()) == counting(data)


def counting(data: bytes) -> bytes:
    """The archive with zeros for what does not count."""
    changed = bytearray(data)
    for chunk in opened(data).detail.chunks.chunks[:-1]:
        changed[chunk.header.stop - 8 : chunk.header.stop] = bytes(8)
    return bytes(changed)


def _grown(name: str) -> int:
    before, after = (build.archive(*blobs, convention=name) for blobs in ((ONE, TWO), (ONE, TWO, THREE)))
    return len(after) - len(before)


@pytest.mark.parametrize("name", ["two-resets-spec.rca", "two-resets-rcarch.rca"])
def test_the_convention_of_an_archive_is_its_own_unless_another_is_chosen(
    path: Path, sample: Sample, name: str
) -> None:
    data = sample(name).read_bytes()
    path.write_bytes(data)
    append(path, TWO)
    assert held(path.read_bytes())[-1:] == TWO

    path.write_bytes(data)
    other = Convention.RCARCH if "spec" in name else Convention.SPECIFICATION
    result = append(path, TWO, options=RcaOptions(convention=other))
    assert "another convention" in result.warnings[0]
    assert held(path.read_bytes(), ["rca-hash-conventions"])[-1:] == TWO


@pytest.mark.parametrize("convention", Convention)
def test_the_convention_that_was_chosen_for_one_segment_is_remembered(path: Path, convention: Convention) -> None:
    name = {Convention.SPECIFICATION: build.SPEC, Convention.RCARCH: build.RCARCH}[convention]
    create(path, ONE, RcaOptions(convention=convention))
    result = append(path, TWO)
    assert (path.read_bytes(), result.warnings) == (build.archive(ONE, TWO, convention=name), ())

    path.write_bytes(b"")
    append(path, THREE, options=RcaOptions(convention=convention))
    append(path, TWO)
    assert path.read_bytes() == build.archive(THREE, TWO, convention=name)


def test_a_convention_that_nothing_tells_is_said(path: Path) -> None:
    path.write_bytes(build.archive([(b"from elsewhere", b"1")]))
    result = append(path, TWO)
    assert "rcarch rejects it" in result.warnings[0]


def test_the_oldest_remembered_choices_are_forgotten(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "MAX_REMEMBERED", 2)
    monkeypatch.setenv("XDG_STATE_HOME", str(path.parent))
    for number in range(4):
        choices.remember(bytes([number]), "spec")
        os.utime(path.parent / "archive-inspector" / "choices" / f"{number:02x}", (number, number))
    assert [choices.remembered(bytes([number])) for number in range(4)] == ["", "", "spec", "spec"]


def test_an_append_to_an_empty_file_makes_the_archive(path: Path) -> None:
    path.write_bytes(b"")
    append(path, ONE)

    assert path.read_bytes() == build.archive(ONE)


def test_an_append_fills_a_chunk_and_begins_the_next(path: Path) -> None:
    create(path, ONE)
    added = noisy(9_000, 5)
    append(path, added)
    append(path, TWO)

    assert held(path.read_bytes()) == [*ONE, *added, *TWO]
    assert [chunk.bits for chunk in opened(path.read_bytes()).detail.chunks.chunks] == [16, 32]


@pytest.mark.parametrize("left", [b"\0", bytes(4) + b"deadhash" + b"x" * 900, bytes(90_000)], ids=len)
def test_what_an_interrupted_append_left_is_said_and_overwritten(path: Path, left: bytes) -> None:
    """Behind a full chunk stands the next header, with the size 0 and a hash that does not count."""
    whole = full_chunk()
    path.write_bytes(whole + left)

    result = append(path, TWO)

    assert f"the {len(left):,} byte" in result.warnings[0]
    assert held(path.read_bytes()) == [*held(whole), *TWO]


def test_a_first_append_that_was_interrupted_is_begun_again(path: Path) -> None:
    path.write_bytes(b"")
    disk = Watched(lambda number, name, _: stopping(0)(number) if name == "truncate" else None)
    with pytest.raises(Stopped):
        append(path, ONE, disk)
    assert path.stat().st_size
    intent_path(path).unlink()  # else what it recorded proves that it can be finished

    with pytest.raises(
        OperationError, match=r"'one', 'two', 'three'\) can be read after the end.*--accept rca-discard-tail"
    ):
        append(path, TWO)
    append(path, TWO, options=RcaOptions(accept=frozenset({DISCARD})))
    assert held(path.read_bytes()) == TWO


def test_a_large_archive_is_looked_at_as_far_as_its_end_needs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rca_writing, "MAX_HASHED_BYTES", 0)
    monkeypatch.setattr(sys.modules[layers.__module__], "MAX_HASHED_BYTES", 0)
    monkeypatch.setattr("inspector.formats.rca.reading.MAX_HASHED_BYTES", 0)
    path.write_bytes(build.archive(ONE, TWO, THREE, convention=build.RCARCH))
    append(path, SMALL)
    assert held(path.read_bytes()) == [*ONE, *TWO, *THREE, *SMALL]

    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(EditError, match="repair it first"):
        append(path, [(b"new", b"")])


def test_nothing_to_add_changes_nothing(path: Path) -> None:
    create(path, ONE)
    before = path.stat()

    assert "nothing to add" in append(path, []).sentence
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_the_header_is_written_last_and_alone(path: Path) -> None:
    create(path, ONE)
    disk = Watched()
    append(path, noisy(20_000, 3), disk)

    changes = [
        f"{name} {arguments[2]}" if name == "write" else name
        for name, arguments in disk.log
        if name in ("write", "sync", "truncate") and arguments[0] == disk.named("lock")[-1][0]
    ]
    first = f"write {len(build.archive(ONE))}"
    assert changes == [first, "write 32768", "truncate", "sync", "write 0", "sync"]


def test_the_disk_is_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(path, ONE)
    waits: list[int] = []
    monkeypatch.setattr(os, "fsync", waits.append)
    append(path, THREE)
    assert len(waits) == 3  # the intent, what is appended, the header
    create(path, ONE, overwrite=True)
    assert len(waits) == 5


def large(path: Path, size: int) -> None:
    """A file with holes, ``size`` bytes long, of which nearly all is one control block of zeros; readers skip it."""
    before, reset, after = build.segment(ONE), build.control_block(0, b"unlooked"), build.segment(TWO)
    skipped = size - 10 - 12 - len(before) - 6 - len(reset) - len(after)
    control = build.varint(skipped << 6 | 5 << 1 | 1)
    assert len(control) == 6
    with path.open("wb") as file:
        file.write(b"\x80\0" + bytes(8) + before + control)
        file.seek(FULL)
        file.write((size - FULL).to_bytes(4, "big") + build.digest(reset[:2] + after))
        file.seek(size - len(reset + after))
        file.write(reset + after)


@pytest.mark.sweep
@pytest.mark.parametrize("missing", [0, 100], ids=["full", "nearly full"])
def test_an_append_grows_beyond_two_gibibytes(path: Path, missing: int) -> None:
    limit = FULL + (1 << 31)
    large(path, limit - missing)
    added = noisy(3_000, 4)
    append(path, added)
    append(path, THREE)

    archive = start(FileSource(path))
    decode(archive, Progress())
    assert [chunk.start for chunk in archive.detail.chunks.chunks] == [0, FULL, limit]
    assert [(member.path, content(archive, member.index)) for member in archive.members] == [
        *ONE,
        *TWO,
        *added,
        *THREE,
    ]
    assert [finding.code for finding in archive.findings] == []
    assert path.stat().st_blocks * 512 < 1 << 20
