"""Entries that read strangely, and files with a TACO name that have no TACO header."""

from __future__ import annotations

import struct

import pytest

from inspector.core.finding import Finding, Severity
from inspector.core.source import BytesSource
from inspector.core.verdict import State
from inspector.operations.check.checking import state_of
from inspector.operations.open.opening import Opened
from tests.formats import archives
from tests.formats.taco.taco_building import written
from tests.formats.zip.zip_building import PLAIN, content

SIZE = 1000


def checked(data: bytes, name: str) -> Opened:
    return archives.checked(BytesSource(data, name))


def of(archive: Opened, code: str) -> list[Finding]:
    return [finding for finding in archive.findings if finding.code == code]


def with_entries(entries: list[tuple[int, int]]) -> bytes:
    return written({"a": bytes(SIZE)}, entries)


def test_an_entry_in_the_header_is_reported_on_its_bytes() -> None:
    data = with_entries([(200, 10), (156, 1), (157, 1), (0, 5000)])
    archive = checked(data, "x.tacozip")
    found = of(archive, "taco-entry-in-header")
    assert [finding.message.split(" (")[0] for finding in found] == ["Entry 1", "Entry 3"]
    assert [data[span.start : span.stop] for finding in found for span in finding.spans] == [
        struct.pack("<QQ", 156, 1),
        struct.pack("<QQ", 0, 5000),
    ]
    # The specification leaves to programs what their entries mean.
    assert state_of([archive]) is State.SOUND


def test_entries_that_overlap_are_reported_together() -> None:
    data = with_entries([(500, 100), (200, 300), (599, 1), (600, 100)])
    archive = checked(data, "x.tacozip")
    (finding,) = of(archive, "taco-entries-overlap")
    assert "Entries 0 and 2" in finding.message
    assert finding.severity is Severity.INFO
    assert b"".join(data[span.start : span.stop] for span in finding.spans) == struct.pack("<4Q", 500, 100, 599, 1)


def test_entries_elsewhere_are_not_compared_but_reported_to_be_outside() -> None:
    outside = [(10_000, 500), (10_100, 500), (2**64 - 1, 2**64 - 1)]
    archive = checked(with_entries([*outside, (300, 0), (300, 10)]), "x.tacozip")
    assert [(finding.code, finding.severity) for finding in archive.findings] == [
        ("taco-entry-outside", Severity.INFO)
    ] * 3
    assert [span.start for finding in archive.findings for span in finding.spans] == [45, 61, 77]


@pytest.mark.parametrize("name", ["x.tacozip", "X.TACO", "x.taco.zip"])
def test_a_taco_name_on_a_plain_zip_is_a_warning(name: str) -> None:
    archive = checked(PLAIN, name)
    (finding,) = archive.findings
    assert (archive.format, finding.code, finding.severity) == ("zip", "taco-no-header", Severity.WARNING)
    assert "no TACO_HEADER: it begins with the member a.txt" in finding.message
    assert [PLAIN[span.start : span.stop] for span in finding.spans] == [b"a.txt", b"a.txt"]
    assert content(archive, 0) == b"content of a"
    assert state_of([archive]) is State.WARNING


def test_a_header_after_other_bytes_is_none() -> None:
    data = b"#!/bin/sh\n" + with_entries([(1, 1)])
    archive = checked(data, "x.tacozip")
    assert archive.format == "zip"
    (finding,) = of(archive, "taco-no-header")
    assert finding.spans == ((0, 4),)


def test_other_names_promise_no_header() -> None:
    assert checked(PLAIN, "x.zip").findings == []
    assert of(checked(with_entries([(1, 1)]), "x.tacozip"), "taco-no-header") == []
