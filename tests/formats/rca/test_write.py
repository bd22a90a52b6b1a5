"""Writing RCA archives: new ones, and behind what is there, by the bytes that other programs write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.edit import EditError
from inspector.core.source import SourceError, blocks
from inspector.formats.rca import write
from inspector.formats.rca.blocks import Convention
from inspector.formats.rca.chunks import ChunkLayer
from inspector.formats.rca.write import BlobLayer, Chain, MakeStorage, Piece, Writer
from inspector.resources import samples
from inspector.sources.local.file import FileSource, TemporarySource
from tests.formats import archives
from tests.formats.rca import build
from tests.formats.rca.checking import FULL, ONE, THREE, TWO, bad, checked, full_chunk, noisy, opened, verdicts
from tests.formats.rca.decoding import content

BY_NAME = {build.SPEC: Convention.SPECIFICATION, build.RCARCH: Convention.RCARCH}
each_convention = pytest.mark.parametrize("convention", BY_NAME)
names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20).map(str.encode)
blobs = st.lists(st.tuples(names, st.binary(max_size=400)), max_size=6)


class File:
    """Bytes in memory that pieces are written to; ``states`` are what stood there before each write."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)
        self.states: list[bytes] = []

    def put(self, *pieces: Piece) -> None:
        for piece in pieces:
            assert piece.offset <= len(self.data)
            self.states.append(bytes(self.data))
            self.data[piece.offset : piece.offset + len(piece.data)] = piece.data

    def append(self, blobs: Iterable[build.Blob], convention: str, slices: int = 7_000) -> None:
        writer = Writer(layer(bytes(self.data)), BY_NAME[convention], TemporarySource)
        if slices:
            self.write(writer, blobs, slices)
        else:
            self.put(*writer.small(blobs, 10_000))
        self.finish(writer)

    def write(self, writer: Writer, blobs: Iterable[build.Blob], slices: int = 7_000) -> None:
        for name, stored in blobs:
            self.put(*writer.blob(name, sliced(stored, slices)))

    def finish(self, writer: Writer | Chain, *metadata: bytes) -> None:
        commit = writer.commit(*metadata)
        self.put(*commit.headers)
        self.states.append(bytes(self.data))
        del self.data[commit.size :]
        if commit.last:
            self.put(commit.last)


def fresh(blobs: Iterable[tuple[bytes, Iterable[bytes]]], convention: Convention, room: MakeStorage) -> Iterator[bytes]:
    """A new archive from its first byte to its last, as a salvage writes one; empty without blobs."""
    layer, held = BlobLayer(convention), room("a blob layer")
    for name, pieces in blobs:
        for data in layer.blob(name, pieces, room):
            held.append(data)
    yield from Chain().whole(blocks(held, 0, held.size), held.size, layer.digest)


def layer(data: bytes) -> ChunkLayer:
    return opened(data).detail.chunks  # type: ignore[no-any-return]


def sliced(data: bytes, size: int) -> Iterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


def told(data: bytes) -> bytes:
    """The archive without the metadata that does not count: that of all chunks but the last."""
    changed = bytearray(data)
    for chunk in layer(data).chunks[:-1]:
        changed[chunk.header.stop - 8 : chunk.header.stop] = bytes(8)
    return bytes(changed)


def held(data: bytes) -> list[build.Blob]:
    """The blobs of an archive that is sound."""
    archive, _ = checked(data)
    assert {finding.code for finding in bad(archive)} <= {"rca-name-hazard"}
    assert set(verdicts(archive)) <= {"verified"}
    return [(member.path, content(archive, member.index)) for member in archive.members]


@each_convention
@pytest.mark.parametrize("segments", [[ONE], [ONE, TWO, THREE], [noisy(9_000, 5), TWO], [noisy(FULL + 5_000, 2)]])
def test_what_is_appended_is_byte_for_byte_what_others_write(segments: list[list[build.Blob]], convention: str) -> None:
    file, at_once = File(), File()
    for each in segments:
        file.append(each, convention)
        at_once.append(each, convention, slices=0)

    assert told(bytes(file.data)) == told(build.archive(*segments, convention=convention))
    assert at_once.data == file.data


@pytest.mark.parametrize("name", ["two-chunks.rca", "two-resets-spec.rca", "two-resets-rcarch.rca"])
def test_samples_are_written_again_as_they_are(name: str) -> None:
    data = next(path for path in samples() if path.name == name).read_bytes()
    archive = opened(data)
    blocks, starts = archive.detail.blocks, archive.members.starts
    convention = build.RCARCH if "rcarch" in name else build.SPEC
    file = File()
    for segment in range(len(blocks.segments)):
        first, last = blocks.segment(segment)
        within = [
            (member.path, content(archive, member.index))
            for member in archive.members
            if blocks.edges[first] <= starts[member.index] < blocks.edges[last]
        ]
        file.append(within, convention)

    assert told(bytes(file.data)) == told(data)


@given(blobs, st.integers(1, 50))
def test_a_new_archive_holds_what_was_put_in(given: list[build.Blob], slices: int) -> None:
    data = b"".join(
        fresh(((name, sliced(stored, slices)) for name, stored in given), Convention.SPECIFICATION, TemporarySource)
    )

    assert held(data) == given


@given(st.lists(blobs.filter(bool), min_size=1, max_size=3), st.sampled_from(list(BY_NAME)), st.integers(0, 40))
def test_an_archive_holds_what_every_append_added(appends: list[list[build.Blob]], convention: str, left: int) -> None:
    file = File()
    for each in appends:
        file.append(each, convention)
        file.data += bytes(range(left))  # garbage

    assert held(bytes(file.data[: len(file.data) - left])) == [blob for each in appends for blob in each]


@pytest.mark.parametrize("size", [0, 1, 2, 9, 10, 11, FULL - 11, FULL - 10, FULL - 9, FULL + 1, 3 * FULL])
def test_chunks_of_every_size_are_the_same_from_front_to_back(size: int) -> None:
    inner = Random(size).randbytes(size)
    metadata = build.digest(inner)
    forward = b"".join(Chain().whole(sliced(inner, 999), size, metadata))
    file, chain = File(), Chain()
    file.put(*chain.add(inner))
    file.finish(chain, metadata)

    assert forward == bytes(file.data)
    assert told(forward) == (told(build.chunked(inner, metadata)) if size else b"")


@each_convention
@pytest.mark.parametrize("filled", [False, True], ids=["inside a chunk", "behind a full chunk"])
def test_until_the_last_write_an_archive_is_what_it_was(convention: str, filled: bool) -> None:
    whole = full_chunk(convention) if filled else build.archive(ONE, convention=convention)
    first = held(whole)
    file = File(whole)
    added = noisy(4_000, 10)
    file.append(added, convention, 512)

    for state in file.states[:: max(1, len(file.states) // 60)] + file.states[-3:]:
        archive, _ = checked(state)
        assert {finding.code for finding in bad(archive)} <= {"rca-trailing-garbage"}
        assert [content(archive, member.index) for member in archive.members] == [stored for _, stored in first]
    assert held(bytes(file.data)) == [*first, *added]


@pytest.mark.parametrize("filled", [False, True], ids=["inside a chunk", "behind a full chunk"])
@given(st.randoms(use_true_random=False), st.integers(0, 60))
def test_whatever_of_an_append_reaches_the_disk_before_its_last_write_changes_nothing(
    filled: bool, chance: Random, left: int
) -> None:
    """Between two flushes a system writes in the order it likes, and a file that grows reads as zeros in between."""
    whole = full_chunk() if filled else build.archive([(b"filler", Random(3).randbytes(FULL - 40))])
    file = File(whole + bytes(left))
    writer = Writer(layer(bytes(file.data)), Convention.SPECIFICATION, TemporarySource)
    pieces = [piece for name, stored in noisy(4_000, 10) for piece in writer.blob(name, [stored])]
    pieces += writer.commit().headers
    for offset, data in chance.sample(pieces, chance.randint(0, len(pieces))):
        file.data += bytes(max(0, offset - len(file.data)))
        file.data[offset : offset + len(data)] = data
    archive, _ = checked(bytes(file.data))

    assert {finding.code for finding in bad(archive)} <= {"rca-trailing-garbage"}
    assert verdicts(archive) == ["verified"]


def test_an_append_after_an_interrupted_one_takes_the_hash_that_counts() -> None:
    whole = full_chunk()
    file = File(whole + bytes(4) + b"deadhash" + bytes(5_000))
    file.append(TWO, build.RCARCH)

    assert held(bytes(file.data)) == [*held(whole), *TWO]


def test_commits_may_come_in_between() -> None:
    file = File()
    writer = Writer(layer(b""), Convention.SPECIFICATION, TemporarySource)
    added = noisy(7_000, 12)
    for number, blob in enumerate(added, 1):
        file.write(writer, [blob])
        file.finish(writer)
        assert len(opened(bytes(file.data)).members) == number

    assert held(bytes(file.data)) == added
    assert len(layer(bytes(file.data)).chunks) == 2


def test_nothing_appended_changes_nothing() -> None:
    file = File(build.archive(ONE))
    file.append([], build.SPEC)

    assert bytes(file.data) == build.archive(ONE)
    assert b"".join(fresh([], Convention.SPECIFICATION, TemporarySource)) == b""


class _LostError(Exception):
    pass


def test_a_blob_whose_content_is_lost_halfway_leaves_the_others_whole() -> None:
    def lost() -> Iterator[bytes]:
        yield b"half " * 1_000
        raise _LostError

    for before, after in (([], TWO), (ONE, TWO), (ONE, [])):
        file = File()
        writer = Writer(layer(b""), Convention.SPECIFICATION, TemporarySource)
        file.write(writer, before)
        with pytest.raises(_LostError):
            list(writer.blob(b"lost", lost()))
        file.write(writer, after)
        file.finish(writer)

        assert held(bytes(file.data)) == [*before, *after]


@pytest.mark.parametrize(("name", "said"), [(b"a\0b", "0 byte"), (b"a\xff", "UTF-8")])
def test_a_name_that_no_reader_could_take_is_refused(name: bytes, said: str) -> None:
    with pytest.raises(EditError, match=said):
        list(fresh([(name, [b""])], Convention.SPECIFICATION, TemporarySource))


@pytest.mark.parametrize("data", [build.archive(ONE)[:-5], b"\0\5" + build.archive(ONE)[2:8]])
def test_nothing_is_appended_where_the_end_cannot_be_told(data: bytes) -> None:
    with pytest.raises(EditError, match="repair"):
        Writer(layer(data), Convention.SPECIFICATION, TemporarySource)


def test_a_large_blob_waits_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "MAX_BUFFERED_BYTES", 10_000)
    stored = noisy(60_000, 3)

    assert (
        held(b"".join(fresh(((name, [data]) for name, data in stored), Convention.SPECIFICATION, TemporarySource)))
        == stored
    )


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise SourceError("The temporary file cannot be written: the disk is full.")

    monkeypatch.setattr(TemporarySource, "append", full)

    with pytest.raises(SourceError, match="disk is full"):
        list(fresh([(b"a", [b"b"])], Convention.SPECIFICATION, TemporarySource))


def test_the_third_chunk_begins_beyond_two_gibibytes() -> None:
    """The bytes between are not made: a piece's place depends on sizes alone."""
    second = 1 << 31
    chain = Chain()
    zeros = bytes(1 << 24)
    offsets = [piece.offset for _ in range(130) for piece in chain.add(zeros)]
    commit = chain.commit(b"metadata")

    assert [piece.offset for piece in commit.headers] == [FULL, FULL + second]
    assert commit.headers[0].data.hex().startswith("80000000")
    size = int.from_bytes(commit.headers[1].data[:8], "big")
    assert size == 130 * len(zeros) + 10 + 12 + 16 - FULL - second
    assert commit.size == FULL + second + size
    assert commit.last == Piece(0, b"\x80\0metadata")
    assert offsets == sorted(offsets)


@pytest.mark.sweep
def test_an_append_grows_into_the_third_chunk(tmp_path: Path) -> None:
    """Of the first 2 GiB nearly all is one control block of zeros, which readers skip."""
    limit = FULL + (1 << 31)
    end = limit - 100
    before = build.segment(ONE)
    skipped = end - 10 - 12 - len(before) - 6
    control = build.varint(skipped << 6 | 5 << 1 | 1)
    assert len(control) == 6
    path = tmp_path / "large.rca"
    with path.open("wb") as file:
        file.write(b"\x80\0" + bytes(8) + before + control)
        file.seek(FULL)
        file.write((end - FULL).to_bytes(4, "big") + b"metadata")
        file.truncate(end)
    added = noisy(3_000, 4)

    with path.open("r+b") as file:
        writer = Writer(archives.opened(FileSource(path)).detail.chunks, Convention.SPECIFICATION, TemporarySource)
        pieces = [piece for name, stored in added for piece in writer.blob(name, [stored])]
        commit = writer.commit()
        for offset, data in [*pieces, *commit.headers, commit.last or Piece(0, b"")]:
            file.seek(offset)
            file.write(data)

    archive = archives.opened(FileSource(path))
    assert [chunk.start for chunk in archive.detail.chunks.chunks] == [0, FULL, limit]
    assert [(member.path, content(archive, member.index)) for member in archive.members] == [*ONE, *added]
    assert not bad(archive)
