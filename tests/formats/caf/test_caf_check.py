"""Checking a Chunk Archive: what it says of members, and that damage to its structure is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import Severity
from inspector.core.kinds import Kind
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.span import Span
from inspector.core.verdict import State, Verdict
from inspector.formats.caf import FORMAT
from inspector.operations.check.checking import check_location
from tests.formats.caf.building import build_archive, decode_archive, find_field
from tests.sweeping import every


def checked(archive: Archive) -> str:
    return FORMAT.check(archive, Emitter(archive), Progress())


def said(archive: Archive) -> tuple[object, ...]:
    """What an archive says of its members, and whether anything about it is wrong."""
    wrong = any(finding.severity is not Severity.INFO for finding in archive.findings)
    return wrong, [(member.path, member.spans) for member in archive.members]


def test_nothing_is_called_verified() -> None:
    archive = decode_archive(build_archive())
    assert archive.verdict(0) is Verdict.NOT_CHECKED
    assert checked(archive) == "2 members; the format records no checksums, so only the structure was checked."
    assert [archive.verdict(member) for member in range(2)] == [Verdict.NOT_CHECKABLE] * 2
    assert not archive.checksums


def test_the_sentence_counts_what_has_errors() -> None:
    sentence = checked(decode_archive(build_archive().replace(b'"end_byte": 3', b'"end_byte":99')))
    assert sentence.startswith("2 members, 2 of them with errors; ")
    assert checked(decode_archive(build_archive(footer=5))).startswith(
        "2 members, 1 error in the index or the footer; "
    )
    assert checked(decode_archive(b"abc")) == "No members can be listed."


def test_checking_can_be_cancelled() -> None:
    progress = Progress()
    progress.cancel()
    archive = decode_archive(build_archive())
    with pytest.raises(Cancelled):
        FORMAT.check(archive, Emitter(archive), progress)


@pytest.mark.parametrize(
    ("old", "new", "code", "where"),
    [
        (b'"start_byte": 3', b'"start_byte":11', "caf-entry-reversed", [b"11", b"10"]),
        (b'"end_byte": 3', b'"end_byte":12', "caf-entry-out-of-range", [b"12", b"onetwo-two"]),
        (b'"end_byte": 10', b'"end_byte": 12', "caf-shifted", [b"onetwo-two", b"12"]),
        (b'"end_byte": 3', b'"end_byte": 4', "caf-overlap", [b"t", b"4", b"3"]),
        (b'"end_byte": 3', b'"end_byte": 2', "caf-gap", [b"e"]),
        (b'"two"', b'"../"', "caf-name-hazard", [b'"../"']),
        (b'"start_byte": 3', b'"start_byte":-3', "caf-number-negative", [b"-3"]),
        (b'"start_byte": 3', b'"start_byte":.3', "caf-number-not-integer", [b".3"]),
        (b'"start_byte": 3', b'"start_bite": 3', "caf-entry-missing-key", [b'{"start_bite": 3, "end_byte": 10}']),
        (b'"start_byte": 3', b'"start_bite": 3', "caf-entry-extra-key", [b'"start_bite"']),
        (b'"two"', b'"one"', "caf-duplicate-name", [b'"one"', b'"one"']),
        (b'"1.0"', b'"1.1"', "caf-version-unknown", [b'"1.1"']),
        (b'": 10}', b'":10,}', "caf-index-not-strict-json", [b","]),
    ],
)
def test_findings_lie_on_what_is_wrong(old: bytes, new: bytes, code: str, where: list[bytes]) -> None:
    data = build_archive()
    assert data.count(old) == 1
    data = data.replace(old, new)
    archive = decode_archive(data)
    found = next(finding for finding in archive.findings if finding.code == code)
    assert [data[start:stop] for start, stop in found.spans] == where


def test_a_range_wholly_outside_leads_to_both_numbers() -> None:
    data = build_archive().replace(b'"start_byte": 3', b'"start_byte":20').replace(b'"end_byte": 10', b'"end_byte": 30')
    data = data.replace(b"end_byte", b"end_bite", 1)
    (found,) = (finding for finding in decode_archive(data).findings if finding.code == "caf-entry-out-of-range")
    assert [data[start:stop] for start, stop in found.spans] == [b"20", b"30"]


def test_the_name_of_a_long_entry_is_found() -> None:
    name = "long/" * 14_000
    data = build_archive(json.dumps({"format_version": "1.0", "files": {name: {"start_byte": 10, "end_byte": 9}}}))
    archive = decode_archive(data)
    assert {finding.code for finding in archive.findings} >= {"caf-name-hazard", "caf-entry-reversed"}
    for finding in archive.findings:
        texts = [data[start:stop] for start, stop in finding.spans]
        if finding.code == "caf-name-hazard":
            assert texts == [f'"{name}"'.encode()]
        elif finding.code == "caf-entry-reversed":
            assert texts == [b"10", b"9"]


@pytest.mark.parametrize("order", [0, -1])
def test_numbers_are_found_whatever_the_order_of_the_index(order: int) -> None:
    names = [f"{number:05}" for number in range(5_000)]
    files = {name: {"start_byte": at * 2, "end_byte": at * 2 + 2} for at, name in enumerate(names)}
    files["04000"]["end_byte"] += 1
    index = dict(sorted(files.items(), key=lambda item: item[0][::-1])) if order else files
    data = build_archive(json.dumps({"format_version": "1.0", "files": index}), data=bytes(10_000))
    (found,) = decode_archive(data).findings
    assert [data[start:stop] for start, stop in found.spans[1:]] == [b"8003", b"8002"]


@pytest.mark.parametrize("name", ["pretty.caf", "escaped-names.caf", "two-alike.caf"])
@every(3)
def test_every_truncation_is_damaged(name: str, sample: Callable[[str], Path], tmp_path: Path, step: int) -> None:
    data = sample(name).read_bytes()
    path = tmp_path / "cut.caf"
    apart = max(1, len(data) // 300)
    for size in sorted({*range(0, len(data), apart), *range(max(0, len(data) - 200), len(data))})[::step]:
        path.write_bytes(data[:size])
        assert check_location(str(path), Progress()).state in (State.DAMAGED, State.UNREADABLE), size


def test_every_flipped_bit_of_index_and_footer_is_found_or_changes_nothing_but_a_name() -> None:
    """The format has no checksums: only a changed name goes unnoticed."""
    data = build_archive()
    whole = decode_archive(data)
    index = find_field(whole.fields, "index").spans[0]
    names = [field for member in range(2) for field in [_name(whole, member)]]
    for bit in range(index.start * 8, len(data) * 8):
        at = bit // 8
        flipped = bytearray(data)
        flipped[at] ^= 1 << bit % 8
        archive = decode_archive(bytes(flipped))
        if said(archive) == said(whole):
            assert data[at : at + 1].isspace(), f"bit {bit} changes nothing"
        elif not said(archive)[0]:
            assert any(start < at < stop - 1 for start, stop in names), f"bit {bit} is not found"
            ours, theirs = ([member.spans for member in side.members] for side in (archive, whole))
            assert ours == theirs


def _name(archive: Archive, member: int) -> Span:
    assert archive.members.heads is not None
    files = find_field(archive.fields, "files").children
    entry = next(field for field in files if field.member == member)
    return next(child.spans[0] for child in entry.children if child.kind is Kind.NAME)
