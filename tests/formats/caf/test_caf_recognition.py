from __future__ import annotations

from collections.abc import Callable

import pytest

from inspector.core.archive import Archive
from inspector.core.finding import Severity
from inspector.core.format import Likeness
from inspector.core.source import BytesSource
from inspector.formats.caf import FORMAT

Build = Callable[..., bytes]
Decoded = Callable[[bytes], Archive]


@pytest.mark.parametrize("data", [b"", b"\x02\x00\x00", b"\x00" * 100, bytes(range(256)), b"{}\x02\x00\x00\x00"])
def test_what_is_no_archive_gets_an_error(data: bytes, decoded: Decoded) -> None:
    archive = decoded(data)
    assert not archive.members
    assert any(finding.severity is Severity.ERROR for finding in archive.findings)


def test_core_audio_is_named(decoded: Decoded) -> None:
    data = b"caff\0\1\0\0desc" + bytes(100)
    assert FORMAT.probe(BytesSource(data)) is Likeness.NO
    (finding,) = decoded(data).findings
    assert "Core Audio" in finding.message


def test_core_audio_may_be_the_first_member(build: Build, decoded: Decoded) -> None:
    index = '{"format_version":"1.0","files":{"sound.caf":{"start_byte":0,"end_byte":10}}}'
    data = build(index, data=b"caff\0\1\0\0de")
    assert FORMAT.probe(BytesSource(data)) is Likeness.CERTAIN
    assert not decoded(data).findings


@pytest.mark.parametrize(
    ("data", "likeness"),
    [
        (b"", Likeness.NO),
        (b"PK\x05\x06" + bytes(18), Likeness.NO),
        (b'{"files":{}}\x0c\0\0\0', Likeness.CERTAIN),
        (b'\xef\xbb\xbf \n{ "format_version" : 1}\x1c\0\0\0', Likeness.CERTAIN),
        (b'{"files":{}}\xff\0\0\0', Likeness.POSSIBLE),
        (b'{"other":{}}\x0c\0\0\0', Likeness.POSSIBLE),
    ],
)
def test_recognition(data: bytes, likeness: Likeness) -> None:
    assert FORMAT.probe(BytesSource(data)) is likeness
