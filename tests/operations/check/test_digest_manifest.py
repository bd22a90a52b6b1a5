"""Digest manifests beside archives: read as the usual tools write them, and compared."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive
from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import State, Verdict
from inspector.operations.check.checking import CheckReport, check_location
from inspector.operations.open.listing import load
from inspector.operations.open.opening import Opened
from inspector.operations.open.reading import (
    MAX_LINE_BYTES,
    DigestManifest,
    ManifestEntry,
    new_hash,
)
from inspector.operations.protocol.check_views import ALGORITHMS, SUFFIXES, Algorithm
from tests.operations.archives import CONTENTS, caf
from tests.sweeping import in_the_sweep

BY_NAME = {algorithm.name: algorithm for algorithm in ALGORITHMS}
SHA256 = BY_NAME["SHA-256"]
HELLO = b"hello"


def check(path: Path) -> CheckReport:
    return check_location(str(path), Progress())


def codes(archive: Archive) -> list[str]:
    return [finding.code for finding in archive.findings if finding.code.startswith("digest-")]


def opened(path: Path) -> Opened:
    return load(str(path), Progress())[0]


def sha256_lines(contents: dict[str, bytes] = CONTENTS) -> bytes:
    return b"".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n".encode() for name, data in contents.items())


def entries(data: bytes, suffix: str = ".sha256") -> list[ManifestEntry | int]:
    return list(DigestManifest(BytesSource(data), SUFFIXES[suffix]).entries())


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return caf(tmp_path / "small.caf")


def manifest(archive: Path, data: bytes, suffix: str = ".sha256") -> None:
    Path(f"{archive}{suffix}").write_bytes(data)


# ---- comparing ---------------------------------------------------------------------------------------------------


def test_members_are_verified(archive: Path) -> None:
    manifest(archive, sha256_lines())
    report = check(archive)
    assert report.state is State.SOUND
    assert report.sentence == "Sound: 4 of 4 members are verified by small.caf.sha256."
    assert report.verdicts == {Verdict.VERIFIED: 4}
    rows = report.archives[0].checksums
    assert [row.member for row in rows] == [0, 1, 2, 3]
    for row, (name, data) in zip(rows, CONTENTS.items(), strict=True):
        assert row.name == f"SHA-256 of {name}"
        assert row.stored == row.computed == hashlib.sha256(data).hexdigest()
        assert (row.place, row.omits, row.verdict) == ((), (), Verdict.VERIFIED)
        assert row.covers == report.archives[0].members[row.member or 0].spans
    assert rows[1:3] == [rows[1], rows[2]]
    assert rows[-1] == rows[3]


@pytest.mark.parametrize("step", [61, in_the_sweep(7)])
def test_every_flipped_bit_of_the_data_is_found(archive: Path, step: int) -> None:
    manifest(archive, sha256_lines())
    whole = archive.read_bytes()
    size = sum(map(len, CONTENTS.values()))
    for bit in range(0, size * 8, step):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        archive.write_bytes(data)
        report = check(archive)
        cause, finding = report.archives[0].findings
        assert (cause.code, cause.spans) == ("cause-flipped-bit", ((bit // 8, bit // 8 + 1),))
        assert (finding.severity, finding.code) == (Severity.ERROR, "digest-manifest-mismatch")
        assert finding.spans[0].start <= bit // 8 < finding.spans[0].stop
        assert report.verdicts == {Verdict.VERIFIED: 3, Verdict.MISMATCH: 1}
        assert report.state is State.DAMAGED
    assert "3 of 4 members are verified by small.caf.sha256; 1 of them does not match it." in report.sentence


def test_a_mismatch_names_all_that_differs(archive: Path) -> None:
    wrong = hashlib.sha256(b"other").hexdigest()
    manifest(archive, f"{wrong}  a.txt\n".encode())
    report = check(archive)
    finding = next(finding for finding in report.archives[0].findings if finding.severity is Severity.ERROR)
    right = hashlib.sha256(CONTENTS["a.txt"]).hexdigest()
    assert all(word in finding.message for word in ("'a.txt'", "small.caf.sha256", wrong, right))
    assert finding.member == 1
    assert (report.archives[0].checksums[0].stored, report.archives[0].checksums[0].computed) == (wrong, right)


def test_names_beside_each_other_are_told(archive: Path) -> None:
    digest = hashlib.sha256(CONTENTS["a.txt"]).hexdigest()
    manifest(archive, f"{digest}  ./a.txt\n{digest}  gone.txt\nnonsense\n# a remark\n\n{digest[:-2]}  a.txt\n".encode())
    archive_ = check(archive).archives[0]
    found = {finding.code: finding for finding in archive_.findings}
    assert sorted(found) == ["digest-manifest-incomplete", "digest-manifest-line", "digest-manifest-unknown-name"]
    assert found["digest-manifest-incomplete"].severity is Severity.INFO
    assert "does not name 3 members: 'b/two.txt'" in found["digest-manifest-incomplete"].message
    assert "2 lines that are not digests; the first is line 3" in found["digest-manifest-line"].message
    assert "'gone.txt' in line 2" in found["digest-manifest-unknown-name"].message
    assert found["digest-manifest-unknown-name"].severity is Severity.WARNING
    assert [archive_.verdict(member) for member in range(2)] == [Verdict.NOT_CHECKABLE, Verdict.VERIFIED]


@pytest.mark.parametrize("line", ["{}  small.caf\n", "{}  some/where/small.caf\n", "{}\n", "SHA256 (small.caf) = {}\n"])
def test_a_digest_of_the_archive_itself_verifies_everything(line: str, archive: Path) -> None:
    manifest(archive, line.format(hashlib.sha256(archive.read_bytes()).hexdigest()).encode())
    report = check(archive)
    assert report.sentence == "Sound: The whole archive is verified by small.caf.sha256."
    assert report.verdicts == {Verdict.VERIFIED: 4}
    assert codes(report.archives[0]) == []
    assert report.archives[0].checksums[0].covers == ((0, archive.stat().st_size),)
    archive.write_bytes(archive.read_bytes().replace(b"zwei", b"drei"))
    report = check(archive)
    assert report.state is State.DAMAGED
    assert report.verdicts == {Verdict.NOT_CHECKABLE: 4}
    assert codes(report.archives[0]) == ["digest-manifest-mismatch"]


def test_a_member_that_is_not_there_is_a_mismatch(archive: Path) -> None:
    manifest(archive, sha256_lines())
    archive.write_bytes(archive.read_bytes().replace(b'"end_byte": 9}', b'"end_byte":9999}').replace(b", ", b",", 1))
    archive_ = check(archive).archives[0]
    assert archive_.verdict(1) is Verdict.MISMATCH
    assert "digest-manifest-mismatch" in codes(archive_)


def test_a_manifest_that_names_nothing_here(archive: Path) -> None:
    manifest(archive, hashlib.sha256().hexdigest().encode() + b"  other\n")
    report = check(archive)
    assert report.sentence == "Warning: small.caf.sha256 names nothing in this archive."
    assert report.verdicts == {Verdict.NOT_CHECKABLE: 4}


def test_several_manifests_are_all_compared(archive: Path) -> None:
    manifest(archive, sha256_lines())
    manifest(archive, hashlib.md5(b"one\n").hexdigest().encode() + b" *a.txt\n", ".md5")
    report = check(archive)
    assert "verified by small.caf.sha256. 1 of 4 members is verified by small.caf.md5." in report.sentence
    assert [row.algorithm for row in report.archives[0].checksums] == ["SHA-256"] * 4 + ["MD5"]
    assert report.archives[0].checksums[4].verdict is Verdict.VERIFIED


def test_a_second_check_says_the_same(archive: Path) -> None:
    manifest(archive, sha256_lines())
    first, second = check(archive), check(archive)
    assert (first.sentence, first.verdicts) == (second.sentence, second.verdicts)


def test_archives_of_other_formats_are_compared_too(tmp_path: Path) -> None:
    zipped, tarred = tmp_path / "a.zip", tmp_path / "a.tar"
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in CONTENTS.items():
            target.writestr(name, data)
    with tarfile.open(tarred, "w") as target:
        for name, data in CONTENTS.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            target.addfile(info, io.BytesIO(data))
    for path in (zipped, tarred):
        manifest(path, sha256_lines())
        report = check(path)
        assert f"4 of 4 members are verified by {path.name}.sha256." in report.sentence
        assert report.verdicts == {Verdict.VERIFIED: 4}


# ---- reading -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "line", "name"),
    [
        (".sha256", hashlib.sha256(HELLO).hexdigest() + "  x", "SHA-256"),
        (".sha256", hashlib.sha256(HELLO).hexdigest().upper() + " *x", "SHA-256"),
        (".sha256", f"SHA256 (x) = {hashlib.sha256(HELLO).hexdigest()}", "SHA-256"),
        (".sha512", hashlib.sha512(HELLO).hexdigest() + "  x", "SHA-512"),
        (".sha1", hashlib.sha1(HELLO).hexdigest() + "  x", "SHA-1"),
        (".md5", f"MD5 (x) = {hashlib.md5(HELLO).hexdigest()}", "MD5"),
        (".b2sum", hashlib.blake2b(HELLO).hexdigest() + "  x", "BLAKE2b"),
        (".xxh64", xxhash.xxh64(HELLO).hexdigest() + "  x", "XXH64"),
        (".xxhsum", f"XXH64 (x) = {xxhash.xxh64(HELLO).hexdigest()}", "XXH64"),
    ],
)
def test_what_the_tools_write_is_read(suffix: str, line: str, name: str) -> None:
    for ending in ("", "\n", "\r\n"):
        (entry,) = entries((line + ending).encode(), suffix)
        assert isinstance(entry, ManifestEntry)
        assert (entry.algorithm.name, entry.name) == (name, b"x")
        hashed = new_hash(entry.algorithm)
        hashed.update(HELLO)
        assert hashed.hexdigest() == entry.digest


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "12345678",
        "  ",
        "zz" * 32 + "  x",
        "ab" * 31 + "  x",
        "ab" * 31 + "a  x",
        f"ROT13 (x) = {'ab' * 32}",
        f"BLAKE2b-256 (x) = {'ab' * 16}",
    ],
)
def test_what_is_no_digest_is_told_by_its_line(line: str) -> None:
    assert entries(f"# first\n{line}\n".encode()) == ([2] if line.strip() else [])


def test_only_a_line_that_says_so_is_escaped() -> None:
    digest = hashlib.sha256(HELLO).hexdigest()
    plain, escaped = entries(f"{digest}  a\\nb\n\\{digest}  a\\nb\n".encode())
    assert [each.name for each in (plain, escaped) if isinstance(each, ManifestEntry)] == [b"a\\nb", b"a\nb"]


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_without_end_is_cut_off(end: bytes) -> None:
    (entry,) = entries(hashlib.sha256(HELLO).hexdigest().encode() + b"  " + b"x" * (MAX_LINE_BYTES * 20) + end)
    assert isinstance(entry, ManifestEntry)
    assert entry.name == b"x" * (MAX_LINE_BYTES - 66)


@given(st.binary(), st.sampled_from(sorted(SUFFIXES)))
def test_any_bytes_are_read(data: bytes, suffix: str) -> None:
    assert len(entries(data, suffix)) <= data.count(b"\n") + 1


# ---- each algorithm ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
def test_digests_of_each_algorithm_verify_an_archive(algorithm: Algorithm, archive: Path) -> None:
    lines = b""
    for name, data in CONTENTS.items():
        digest = new_hash(algorithm)
        digest.update(data)
        lines += b"%s  %s\n" % (digest.hexdigest().encode(), name.encode())
    manifest(archive, lines, algorithm.suffixes[0])
    report = check(archive)
    assert (report.verdicts, report.state) == ({Verdict.VERIFIED: 4}, State.SOUND)


def test_names_as_sha256sum_escapes_them(tmp_path: Path) -> None:
    contents = {"plain": b"1", "with space": b"2", "back\\slash": b"3", "line\nfeed": b"4", "größe": b""}
    shown = ["plain", "with space", "back\\\\slash", "line\\nfeed", "größe"]
    lines = "".join(
        f"{chr(92) * (name != given)}{hashlib.sha256(data).hexdigest()}  {name}\n"
        for name, (given, data) in zip(shown, contents.items(), strict=True)
    )
    manifest(caf(tmp_path / "a.caf", contents), lines.encode())
    assert check(tmp_path / "a.caf").verdicts == {Verdict.VERIFIED: 5}


def test_of_several_members_with_one_name_the_last_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "twice.tar"
    with tarfile.open(path, "w") as target:
        for data in (b"old", b"new"):
            info = tarfile.TarInfo("a")
            info.size = 3
            target.addfile(info, io.BytesIO(data))
    manifest(path, sha256_lines({"a": b"new"}))
    assert check(path).verdicts[Verdict.VERIFIED] == 1
    manifest(path, sha256_lines({"a": b"old"}))
    assert check(path).verdicts[Verdict.MISMATCH] == 1
