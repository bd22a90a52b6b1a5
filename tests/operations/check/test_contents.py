"""What members without a digest say of themselves: proofs inside of them, and how they go on and end."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable

import pytest

from inspector.core.finding import Finding, Severity
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import State
from inspector.operations.check import contents
from inspector.operations.check.checking import check_archive, checked, state_of
from inspector.operations.open.opening import decoded
from tests.samples.contents import noise, png


def in_tar(name: str, data: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def found(name: str, data: bytes) -> list[Finding]:
    archive = checked(BytesSource(in_tar(name, data), "a.tar"), Progress())
    assert len(archive.members) == 1
    return [each for each in archive.findings if each.code.startswith("member-content")]


def zipped(size: int = 3_000) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.bin", noise(size))
    return made.getvalue()


def parquet(size: int = 900) -> bytes:
    return b"PAR1" + bytes(size) + (100).to_bytes(4, "little") + b"PAR1"


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


LONG_TEXT = b"a line of a log\n" * 20_000
JPEG = b"\xff\xd8\xff\xe0" + noise(5_000)
SOUND = {
    "a.png": png(64, 48, 1),
    "a.gz": gzip.compress(noise(900)) * 2,
    "long.gz": gzip.compress(noise(90_000)),
    "a.zip": zipped(),
    "long.zip": zipped(90_000),
    "a.parquet": parquet(),
    "long.parquet": parquet(90_000),
    "a.jpg": JPEG + b"\xff\xd9\0\0",
    "a.json": b'{"a": [1, 2.5, NaN, ' + b"9" * 9_000 + b"]}",
    "lines.json": b'{"a": 1}\n{"a": 2}\n',
    "deep.json": b"[" * 40_000,
    "a.txt": LONG_TEXT + b"\x1a",
    "utf-16.txt": "Ein Text in UTF-16, der nicht bin\u00e4r ist".encode("utf-16"),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_is_whole_gives_no_finding(name: str) -> None:
    assert found(name, SOUND[name]) == []


@pytest.mark.parametrize("name", SOUND)
def test_what_only_has_the_name_never_was_one(name: str) -> None:
    assert found(name, b"\x01" + SOUND[name]) == []


BROKEN = {
    "a chunk": ("a.png", flipped(png(64, 48, 1), 60), "CRC-32 of its chunk at 33"),
    "a PNG cut off": ("a.png", png(64, 48, 1)[:-20], "without its last chunk"),
    "a stream": ("a.gz", flipped(gzip.compress(noise(900)), 400), "does not unpack"),
    "a stream cut off": ("a.gz", gzip.compress(noise(900))[:-5], "is cut off"),
    "a ZIP": ("a.zip", flipped(zipped(), 500), "is a damaged ZIP"),
    "a long ZIP cut off": ("a.zip", zipped(90_000)[:-100], "without its directory"),
    "Parquet cut off": ("a.parquet", parquet(90_000)[:-4], "footer"),
    "Parquet's length": ("a.parquet", parquet()[:-5] + b"\x7fPAR1", "footer"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_proof_that_fails_is_a_warning(case: str) -> None:
    name, data, words = BROKEN[case]
    archive = checked(BytesSource(in_tar(name, data), "a.tar"), Progress())
    (finding,) = [each for each in archive.findings if each.code == "member-content-broken"]

    assert (finding.severity, finding.member) == (Severity.WARNING, 0)
    assert words in finding.message
    assert state_of((archive,)) is State.WARNING
    assert all(512 <= span.start <= span.stop <= 512 + len(data) for span in finding.spans)


ODD = {
    "a JPEG cut off": ("a.jpg", JPEG, "FF D9", 5_002),
    "JSON cut off": ("a.json", b'{"a": "\xc3\xa9", "b', "no JSON", 12),
    "a text": ("a.txt", LONG_TEXT[:9_000] + noise(512) + LONG_TEXT[:900], "turns binary", 9_000),
    "the end of a long text": ("a.csv", LONG_TEXT + bytes(512) + LONG_TEXT[:900], "turns binary", len(LONG_TEXT)),
}


@pytest.mark.parametrize("case", ODD)
def test_what_does_not_go_on_as_its_kind_is_information_with_the_place(case: str) -> None:
    name, data, words, at = ODD[case]
    (finding,) = found(name, data)

    assert (finding.code, finding.severity) == ("member-content-odd", Severity.INFO)
    assert words in finding.message
    assert 512 + at <= finding.spans[0].start <= 512 + at + 16


class Counted(BytesSource):
    """Counts what is read of a member that stands behind the first header."""

    read_of_it = 0

    def read(self, offset: int, length: int) -> bytes:
        data = super().read(offset, length)
        self.read_of_it += len(data) if offset >= 512 else 0
        return data


def looked(source: BytesSource) -> list[Finding]:
    archive = decoded(source, Progress())
    before = getattr(source, "read_of_it", 0)
    check_archive(archive, Progress())
    if isinstance(source, Counted):
        source.read_of_it -= before
    return [each for each in archive.findings if each.code.startswith("member-content")]


@pytest.mark.parametrize("name", ["long.zip", "long.parquet", "a.txt"])
def test_no_more_than_64_kib_of_a_member_are_read(name: str) -> None:
    source = Counted(in_tar(name, SOUND[name][:4_000] + bytes(1 << 20)), "a.tar")
    bare = Counted(in_tar("none", SOUND[name][:4_000] + bytes(1 << 20)), "a.tar")

    assert looked(source) != looked(bare)
    assert source.read_of_it - bare.read_of_it <= contents.MAX_READ


def bomb(levels: int = 1) -> bytes:
    data = bytes(40 << 20)
    for _ in range(levels):
        data = gzip.compress(data)
    return data


@pytest.mark.parametrize("make", [bomb, lambda: zipped(200)])
def test_the_work_on_all_members_has_an_end(make: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MAX_WORK", 1)
    looks: list[int] = []
    name, data = ("a.gz", make()[:60_000]) if make is bomb else ("a.zip", make())
    kind = contents._BY_SUFFIX[name[2:].encode()]

    def look(part: contents.Part) -> contents.Wrong | None:
        looks.append(part.size)
        return kind.look(part)

    monkeypatch.setitem(contents._BY_SUFFIX, name[2:].encode(), kind._replace(look=look))
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for number in range(20):
            entry = tarfile.TarInfo(f"{number}{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    looked(BytesSource(made.getvalue(), "a.tar"))

    assert len(looks) == 1


@pytest.mark.parametrize("name", SOUND)
def test_no_bytes_make_it_fail(name: str) -> None:
    data = SOUND[name]
    for at in range(0, len(data), max(1, len(data) // 40)):
        found(name, flipped(data, at))
        found(name, data[:at])
