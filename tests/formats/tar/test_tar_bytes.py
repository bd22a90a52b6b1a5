"""The quick way over plain members against the slow one, and both over any bytes."""

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive, Emitter
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource
from inspector.formats import tar
from tests.formats.archives import assert_covered, codes
from tests.formats.tar.tar_building import LONG, build, content, decoded, listing, reference, special

TINY = build([("a", b"alpha"), (LONG, b"b")], tarfile.PAX_FORMAT)


def many(count: int, size: int) -> bytes:
    return build([(f"folder/{number:020d}.json", b"%08d" % number * (size // 8)) for number in range(count)])


@pytest.mark.parametrize(("count", "size"), [(400, 8), (60, 40_000)])
def test_the_quick_way_sees_what_the_slow_way_sees(count: int, size: int) -> None:
    data = many(count, size)
    archive = decoded(data)
    assert listing(archive) == reference(data)
    assert archive.findings == []
    assert_covered(archive)
    assert [member.head for member in archive.members] == [field.start for field in archive.fields[0].children]


def test_the_quick_way_gives_way_to_anything_that_is_not_plain() -> None:
    members: list[tuple[tarfile.TarInfo | str, bytes]] = [(f"{number}.json", b"x" * number) for number in range(300)]
    members[40] = (special("link", tarfile.SYMTYPE, "0.json"), b"")
    members[150] = (LONG, b"long")
    members[151] = (special("folder", tarfile.DIRTYPE), b"")
    members[200] = ("../up", b"up")
    data = bytearray(build(members, tarfile.GNU_FORMAT))
    with tarfile.open(fileobj=io.BytesIO(bytes(data))) as other:
        expected = [(info.name, info.size) for info in other]
        at = other.getmember("250.json").offset
    data[at + 140] ^= 1
    archive = decoded(bytes(data))
    assert [(member.path.decode().rstrip("/"), member.size) for member in archive.members] == expected
    assert codes(archive) == ["tar-checksum", "tar-name-hazard"] or codes(archive) == [
        "tar-name-hazard",
        "tar-checksum",
    ]
    assert_covered(archive)


QUICK = many(200, 8)


@given(st.lists(st.tuples(st.integers(0, 200 * 1024), st.binary(min_size=1, max_size=3)), max_size=4))
def test_the_quick_and_the_slow_way_agree_on_damage(changes: list[tuple[int, bytes]]) -> None:
    data = bytearray(QUICK)
    for at, piece in changes:
        data[at : at + len(piece)] = piece
    quick = decoded(bytes(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("inspector.formats._tar.walk.HEADER_WINDOW_BYTES", 1 << 40)
        slow = decoded(bytes(data))
    assert list(quick.members) == list(slow.members)
    assert {(each.code, each.spans) for each in quick.findings} == {(each.code, each.spans) for each in slow.findings}
    assert_covered(quick)


def test_cancelling_leaves_what_was_decoded() -> None:
    source = BytesSource(many(400, 8))
    archive = Archive(source, "tar", "tar", ())
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        tar.FORMAT.decode(source, Emitter(archive), progress)
    assert_covered(archive)


@given(st.lists(st.tuples(st.integers(0, len(TINY) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_whatever_the_bytes_are_they_are_covered_and_nothing_raises(changes: list[tuple[int, int]]) -> None:
    data = bytearray(TINY)
    for at, value in changes:
        data[at] = value
    archive = decoded(bytes(data))
    assert_covered(archive)
    for member in archive.members:
        if member.readable and member.spans[0].stop <= len(data):
            assert len(content(archive, member.index)) == member.stored


@given(st.binary(max_size=3000))
def test_random_bytes_are_covered(data: bytes) -> None:
    archive = decoded(data)
    assert_covered(archive)
    assert codes(archive)
