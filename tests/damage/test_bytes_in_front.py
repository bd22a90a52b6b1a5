"""Bytes in front of an archive of any format: named, cut off in a copy, and no member is out of reach."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from inspector.cli.run import run_command
from inspector.core.cause import UNWRAP_CODE, Cause
from inspector.core.program.progress import Progress
from inspector.core.verdict import State, Verdict
from inspector.operations.check.checking import offered, state_of
from inspector.operations.edit.apply_repairs import salvage_report
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.extract.extraction import Extraction
from inspector.operations.extract.selection import all_members
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.extraction_views import ExtractionOptions
from inspector.resources import resource
from tests.damage.generator import Memory, make
from tests.formats.archives import assert_covered, checked
from tests.samples import writers
from tests.sweeping import each_third

NOISE = {
    "a zero": bytes(1),
    "a sector of zeros": bytes(4096),
    "a byte": b"\x9d",
    "300 bytes": Random(1).randbytes(300),
    "a text": b"tput: No value for $TERM and no -T specified\n",
    "a page and a byte": b"\x01" + Random(2).randbytes(4096),
    "2 MiB": Random(3).randbytes(2 << 20),
}
FORMATS = ("rca", "taco", "zip", "tar", "caf")


def contents(archive: Opened, folder: Path) -> dict[str, bytes]:
    """What an extraction of everything writes."""
    Extraction(all_members(archive.source.name, (archive,)), folder, ExtractionOptions()).run(Progress())
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def unwrapped(archive: Opened) -> bytes:
    found = plan(archive, Progress(), (UNWRAP_CODE,), in_place=False).salvage
    assert found is not None
    assert found.code == UNWRAP_CODE
    assert found.content is not None
    return b"".join(found.content(Progress()))


@pytest.mark.parametrize(
    "case",
    # Text before a CAF that begins with text may have been inserted further on as well.
    each_third(
        ((each, noise) for each in FORMATS for noise in NOISE if (each, noise) != ("caf", "a text")),
        "-".join,
    ),
)
def test_all_members_are_listed_extracted_and_saved(case: tuple[str, str], tmp_path: Path) -> None:
    made_format, noise = case
    data = make(made_format, Random(f"{made_format}/{noise}")).data
    whole, archive = (checked(Memory.of(made_format, each)) for each in (data, NOISE[noise] + data))
    names = [archive.members.path(each) for each in range(len(archive.members))]

    assert archive.findings[0].code == Cause.INSERTED_BYTES
    assert archive.findings[0].repair == UNWRAP_CODE
    assert names == [whole.members.path(each) for each in range(len(whole.members))]
    assert contents(archive, tmp_path / "out") == contents(whole, tmp_path / "whole")
    assert unwrapped(archive) == data
    assert_covered(archive)
    if made_format in ("rca", "taco", "zip"):  # the others have no digests
        assert plan(archive, Progress(), in_place=False).salvage is not None


@pytest.mark.parametrize("seed", range(12))
def test_an_rca_behind_noise_is_read_whatever_its_segments(seed: int) -> None:
    random = Random(seed)
    layer = writers.BlobLayer(random.choice(("rcarch", "spec")))
    for number in range(random.randint(1, 5)):
        if number:
            layer.reset()
        for blob in range(random.randint(1, 3)):
            layer.blob(f"{number}/{blob}", random.randbytes(random.choice((0, 9, 900, 20_000, 70_000))))
    data = writers.chunks(bytes(layer.data), layer.digest)
    whole = checked(Memory.of("rca", data))
    for size in (1, 2, 3, 10, 11, 300, 32_768):
        archive = checked(Memory.of("rca", random.randbytes(size) + data))
        assert len(archive.members) == len(whole.members)
        assert archive.verdicts == whole.verdicts
        assert unwrapped(archive) == data


def test_an_archive_of_one_blob_kept_as_it_is_does_not_take_the_place_of_the_one_that_holds_it() -> None:
    """The inner one ends with the file too; a hash proves the segment that it is in."""
    inner = writers.BlobLayer("rcarch")
    inner.blob("inner", Random(8).randbytes(700))
    layer = writers.BlobLayer("rcarch")
    layer.blob("first", b"text")
    layer.reset()
    layer.blob("held", writers.chunks(bytes(inner.data), inner.digest))
    data = bytearray(writers.chunks(bytes(layer.data), layer.digest))
    data[10] ^= 0xFF  # no archive seems to begin at byte 0; a hash shows that one does

    archive = checked(Memory.of("rca", bytes(data)))
    assert [archive.members.path(each) for each in range(len(archive.members))] == [b"first", b"held"]


def test_of_several_that_end_with_the_file_each_is_named() -> None:
    inner = writers.BlobLayer("rcarch")
    inner.blob("inner", Random(8).randbytes(700))
    layer = writers.BlobLayer("rcarch")
    layer.blob("held", writers.chunks(bytes(inner.data), inner.digest))
    data = bytes(300) + writers.chunks(bytes(layer.data), layer.digest)

    archive = checked(Memory.of("rca", data))
    cause = archive.findings[0]
    assert cause.code == Cause.INSERTED_BYTES
    assert f"a.rca!/@300-{len(data)}" in cause.message
    assert cause.message.startswith("2 archives end where the file does")
    assert UNWRAP_CODE not in {each.code for each in offered(archive, Progress())}


@pytest.mark.parametrize("other", ["zip", "rca"])
@pytest.mark.parametrize("made_format", ["rca", "zip", "taco"])
def test_an_archive_among_what_precedes_is_named_and_not_called_nothing(made_format: str, other: str) -> None:
    data, before = make(made_format, Random(5)).data, make(other, Random(6)).data
    archive = checked(Memory.of(made_format, b"\x01\x02\x03" + before + bytes(70) + data))
    cause = archive.findings[0]
    (repair,) = (each for each in offered(archive, Progress()) if each.code == UNWRAP_CODE)
    report = salvage_report(repair)

    assert cause.code == Cause.INSERTED_BYTES
    assert f"!/@3-{3 + len(before)}" in cause.message
    assert report is not None
    assert "none is lost" not in report.sentence
    assert not repair.lossless
    assert repair.loses


@pytest.mark.parametrize("other", ["rca", "zip", "tar", "caf"])
def test_an_archive_behind_one_is_not_cut_off(other: str) -> None:
    """Nor are segments of it that a hash proves, where its beginning is gone."""
    data, behind = make("rca", Random(5)).data, make(other, Random(6)).data
    tails = [b"\x05" * 9 + behind, *([bytes(70) + behind[50_000:]] if other == "rca" else [])]
    for tail in tails:
        archive = checked(Memory.of("rca", data + tail))
        assert "rca-drop-garbage" not in {each.code for each in offered(archive, Progress())}


def test_what_merely_decodes_is_cut_off_with_a_word_that_names_it() -> None:
    layer = writers.BlobLayer("rcarch")
    layer.blob("first", b"text" * 40)
    data = writers.chunks(bytes(layer.data), layer.digest)
    layer.reset()
    layer.blob("torn", Random(1).randbytes(300))
    torn = data + writers.chunks(bytes(layer.data), layer.digest)[len(data) :]
    (repair,) = (
        each for each in offered(checked(Memory.of("rca", torn)), Progress()) if each.code == "rca-drop-garbage"
    )

    assert repair.claim
    assert "'torn'" in repair.loses[0]


def test_none_is_lost_is_not_said_of_bytes_that_were_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(make("rca", Random(5)).data)
    data[60_000] ^= 1
    archive = checked(Memory.of("rca", bytes(data)))
    salvage = plan(archive, Progress(), in_place=False).salvage
    report = salvage_report(salvage)
    assert report is not None
    assert report.lost
    monkeypatch.setattr("inspector.formats.rca.search.MAX_SEARCHED_BYTES", 100)
    report = salvage_report(plan(archive, Progress(), in_place=False).salvage)
    assert report is not None
    assert "the search ended before the file" in report.sentence
    assert "none is lost" not in report.sentence


def test_a_reader_says_what_it_does(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Zeros in front are the header of a first append that was interrupted, for the specification and for rcarch."""
    path = tmp_path / "y.rca"
    path.write_bytes(bytes(4096) + (resource("samples") / "two-chunks.rca").read_bytes())
    for reader in ("spec", "rcarch"):
        run_command(["trace", "--reader", reader, str(path)])
        assert "an interrupted write; the archive ends here" in capsys.readouterr().out


@pytest.mark.parametrize("zeroed", [512, 4096])
def test_an_rca_without_its_first_sector_is_damaged_and_not_torn(zeroed: int, tmp_path: Path) -> None:
    """No interrupted append leaves zeros where the first blob would be, so what is left out is not called nothing."""
    layer = writers.BlobLayer("rcarch")
    for number in range(2):
        if number:
            layer.reset()
        layer.blob(str(number), Random(number).randbytes(6_000))
    data = writers.chunks(bytes(layer.data), layer.digest)
    archive = checked(Memory.of("rca", bytes(zeroed) + data[zeroed:]))

    assert state_of((archive,)) is State.DAMAGED
    result = Extraction(all_members("a.rca", (archive,)), tmp_path, ExtractionOptions()).run(Progress())
    assert not result.whole
    assert "something may be missing" in result.warnings[0]
    assert "rca-drop-garbage" not in {each.code for each in offered(archive, Progress())}


def test_where_the_first_byte_may_be_one_of_the_first_member_that_is_in_doubt() -> None:
    """Noise before a CAF that begins with a letter as the first member does: a copy without it is offered."""
    data = make("caf", Random(5)).data
    archive = checked(Memory.of("caf", b"A" + Random(7).randbytes(299) + data))

    assert archive.findings[0].code == Cause.INSERTED_BYTES
    assert unwrapped(archive) == data
    assert archive.verdict(0) is Verdict.DOUBTFUL


# ---- several archives in a file -------------------------------------------------------------------------------------


def test_parts_that_are_damaged_are_named_and_the_status_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sound, broken = sample("two-resets-spec.rca"), sample("flipped-blob-byte.rca")
    archive = sample("plain.zip")
    flipped = archive[:60] + bytes((archive[60] ^ 255,)) + archive[61:]
    monkeypatch.chdir(tmp_path)
    for name, data, status, place in (
        ("a.rca", sound + broken, 1, f"That at bytes {len(sound):,} to {len(sound + broken) - 1:,} is itself damaged"),
        ("b.rca", broken + sound, 1, f"That at bytes 0 to {len(broken) - 1:,} is itself damaged"),
        ("c.zip", flipped + sample("two-entries.tacozip"), 1, "That at bytes 0 to 5,656 is itself damaged"),
        ("d.rca", sound + sound, 0, ""),
    ):
        Path(name).write_bytes(data)
        assert run_command(["repair", name, "--accept", "split-archives", "--to", f"{name}.new"]) == status, name
        said = capsys.readouterr().out
        assert place in said
        assert ("itself damaged" in said) == bool(status)
        run_command(["check", name])
        assert place in capsys.readouterr().out


def test_an_archive_beside_another_is_not_passed_over_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rca, archive, tar = sample("two-resets-spec.rca"), sample("plain.zip"), sample("plain.tar")
    monkeypatch.chdir(tmp_path)
    for name, data, others in (
        ("a.zip", rca + archive, [(0, len(rca))]),
        ("b.zip", tar + archive, [(0, len(tar))]),
        ("c.tar", tar + archive, [(len(tar), len(tar + archive))]),
        (
            "d.zip",
            NOISE["300 bytes"] + rca + rca + archive,
            [(300, 300 + len(rca)), (300 + len(rca), 300 + 2 * len(rca))],
        ),
        ("e.zip", b"#!/bin/sh\n" + bytes(90) + archive, []),
        ("f.zip", archive, []),
    ):
        Path(name).write_bytes(data)
        status = run_command(["extract", name, "--to", f"{name}.out"])
        said = capsys.readouterr().err
        assert (status, said.count("Another archive is in the file")) == (bool(others), len(others)), name
        assert all(f"{name}!/@{start}-{stop}" in said for start, stop in others)
    assert run_command(["extract", "a.zip", "COLLECTION.json", "--to", "one"]) == 0
    assert capsys.readouterr().err == ""


def test_all_archives_in_front_of_another_are_named() -> None:
    rca, archive, noise = sample("two-resets-spec.rca"), sample("plain.zip"), NOISE["300 bytes"]
    data = noise + rca + noise + archive + noise + sample("journey.caf")
    found = checked(Memory("x.caf", data))
    said = found.findings[0].message
    assert f"x.caf!/@300-{300 + len(rca)}" in said
    assert f"x.caf!/@{600 + len(rca)}-{600 + len(rca + archive)}" in said


def test_a_copy_without_headers_is_not_called_without_error_where_two_archives_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    broken = sample("flipped-blob-byte.rca")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n"
    Path("a.tacozip").write_bytes(head + broken + sample("two-entries.tacozip"))
    assert run_command(["repair", "a.tacozip", "--to", "b.tacozip"]) == 1
    said = capsys.readouterr().out
    assert "has no error" not in said
    assert "2 archives joined in one file" in said
    assert f"That at bytes 0 to {len(broken) - 1:,} is itself damaged" in said
    assert Path("b.tacozip").read_bytes() == Path("a.tacozip").read_bytes()[len(head) :]


def sample(name: str) -> bytes:
    return resource("samples", name).read_bytes()


def test_two_archives_are_named_where_the_name_is_that_of_the_second() -> None:
    archive, tar = sample("plain.zip"), sample("plain.tar")
    found = checked(Memory("x.tar", archive + tar)).findings[0]
    assert found.code == Cause.JOINED
    assert f"x.tar!/@0-{len(archive)} and x.tar!/@{len(archive)}-{len(archive + tar)}" in found.message
