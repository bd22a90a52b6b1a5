"""ZIP archives to be decoded, and what tests ask of the result."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from functools import cache

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import Verdict
from inspector.formats import zip as plain_zip
from inspector.formats._zip.directory import Directory
from inspector.operations.edit.plan_repairs import Plan
from inspector.operations.open.opening import Opened
from tests.formats import archives


def opened(data: bytes) -> Archive:
    archive = Archive(BytesSource(data), "zip", "", ())
    plain_zip.FORMAT.decode(archive.source, Emitter(archive), Progress())
    return archive


@cache
def many_empty(count: int) -> bytes:
    """An archive of so many members of no bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for number in range(count):
            archive.writestr(zipfile.ZipInfo(f"{number:05}"), b"")
    return target.getvalue()


def content(archive: Archive, index: int) -> bytes:
    return b"".join(plain_zip.FORMAT.read(archive, index, Progress()))


def codes(archive: Archive) -> set[str]:
    return {finding.code for finding in archive.findings}


def doubts(archive: Archive) -> set[str]:
    return {finding.code for finding in archive.findings if finding.severity is not Severity.INFO}


def every(fields: object) -> Iterator[Field]:
    for field in fields:  # type: ignore[attr-defined]
        yield field
        yield from every(field.children)


def named(archive: Archive, name: str) -> list[Field]:
    return [field for field in every(archive.fields) if field.name == name]


class Unseekable(io.RawIOBase):
    """A target that zipfile cannot go back in, so that it writes data descriptors."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        self.data += bytes(data)  # type: ignore[call-overload]
        return len(memoryview(data))  # type: ignore[arg-type]


FILES = {
    "a.txt": b"first, " * 40,
    "empty": b"",
    "folder/": b"",
    "folder/b.bin": bytes(range(256)),
    "d/zażółć.txt": "gęślą jaźń".encode(),
}


def written(
    files: dict[str, bytes] | None = None, *, streamed: bool = False, comment: bytes = b"", **how: int
) -> bytes:
    target = Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(target, "w", how.get("method", zipfile.ZIP_DEFLATED)) as archive:  # type: ignore[arg-type]
        archive.comment = comment
        for name, data in (FILES if files is None else files).items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 12, 30, 10)), data, how.get("method", 8))
    return bytes(target.data) if isinstance(target, Unseekable) else target.getvalue()


PLAIN = written({"a.txt": b"content of a", "b.txt": b"content of b"}, method=zipfile.ZIP_STORED)
"""Two stored members of 12 bytes: local headers at 0 and 47, the directory at 94, the end record at 196."""


def patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def zip64_archive(record_at: int = 0, entries: int = 0xFFFF, extra_size: int = 24) -> tuple[bytes, int, int]:
    """One member whose numbers are all in ZIP64 records; the archive, its directory's size and its count."""
    data, full = b"abc", 0xFFFFFFFF
    wide = struct.pack("<HHQQ", 1, 16, 3, 3)
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 45, 0, 0, 0, 33, zlib.crc32(data), full, full, 1, len(wide))
    local += b"x" + wide + data
    wide = struct.pack("<HHQQQ", 1, extra_size, 3, 3, 0)[: 4 + extra_size]
    central = struct.pack(
        "<4s6H3I5H2I", b"PK\1\2", 45, 45, 0, 0, 0, 33, zlib.crc32(data), full, full, 1, len(wide), 0, 0, 0, 0, full
    )
    central += b"x" + wide
    at = len(local) + len(central)
    record = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(central), len(local))
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, at + record_at, 1)
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, entries, entries, full, full, 0)
    return local + central + record + locator + end, len(central), 1


SMALL = written({"a": b"abcabcabc", "b/": b"", "c": b""}, streamed=True, comment=b"hi")


def drained(archive: Archive) -> None:
    """Read every member: content or a MemberError, nothing else."""
    for member in archive.members:
        try:
            assert len(content(archive, member.index)) == member.size
        except MemberError as error:
            assert str(error)  # noqa: PT017 - either outcome is right, but an error has to say something


def handmade(
    name: bytes = b"a.txt",
    data: bytes = b"content",
    *,
    local_extra: bytes = b"",
    extra: bytes = b"",
    made_by: int = 20,
    external: int = 0,
) -> bytes:
    """One stored member, each of whose headers has what it is given."""
    common = struct.pack("<5H3I", 20, 0, 0, 0, 33, zlib.crc32(data), len(data), len(data))
    local = b"PK\3\4" + common + struct.pack("<2H", len(name), len(local_extra)) + name + local_extra + data
    central = b"PK\1\2" + struct.pack("<H", made_by) + common
    central += struct.pack("<5H2I", len(name), len(extra), 0, 0, 0, external, 0) + name + extra
    return local + central + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local), 0)


STREAMED = written(streamed=True)
WHOLE = written()


def checked(data: bytes) -> Opened:
    return archives.checked(BytesSource(data, "x.zip"))


def planned(data: bytes, *accepted: str) -> Plan:
    return archives.planned(BytesSource(data, "x.zip"), *accepted)


def contents(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def made(result: Plan) -> list[str]:
    return [repair.code for repair in result.repairs]


def verified(archive: Opened) -> dict[bytes, int]:
    """The CRC-32 of every member whose content is whole."""
    assert isinstance(archive.detail, Directory)
    crcs = archive.detail.computed
    return {each.path: crcs[each.index] for each in archive.members if archive.verdict(each.index) is Verdict.VERIFIED}


def directory_of(data: bytes) -> int:
    return struct.unpack("<I", data[data.rindex(b"PK\5\6") + 16 :][:4])[0]


def ends_of(data: bytes) -> list[int]:
    """Where each member ends, in file order."""
    archive = checked(data)
    directory = archive.detail
    return [each.spans[0].stop + directory.descriptors[each.index] for each in archive.members]
