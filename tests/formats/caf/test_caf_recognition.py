from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import Severity
from inspector.core.format import ProbeResult
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.span import Span
from inspector.core.verdict import State
from inspector.formats import recognise
from inspector.formats.caf import FORMAT, locate
from inspector.operations.check.checking import check_location
from tests.formats.caf.building import build_archive, decode_archive


@pytest.mark.parametrize("data", [b"", b"\x02\x00\x00", b"\x00" * 100, bytes(range(256)), b"{}\x02\x00\x00\x00"])
def test_what_is_no_archive_gets_an_error(data: bytes) -> None:
    archive = decode_archive(data)
    assert not archive.members
    assert any(finding.severity is Severity.ERROR for finding in archive.findings)


def test_core_audio_is_named() -> None:
    data = b"caff\0\1\0\0desc" + bytes(100)
    assert FORMAT.probe(BytesSource(data)) is ProbeResult.NO
    (finding,) = decode_archive(data).findings
    assert "Core Audio" in finding.message


def test_core_audio_may_be_the_first_member() -> None:
    index = '{"format_version":"1.0","files":{"sound.caf":{"start_byte":0,"end_byte":10}}}'
    data = build_archive(index, data=b"caff\0\1\0\0de")
    assert FORMAT.probe(BytesSource(data)) is ProbeResult.CERTAIN
    assert not decode_archive(data).findings


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ProbeResult.NO),
        (b"PK\x05\x06" + bytes(18), ProbeResult.NO),
        (b'{"files":{}}\x0c\0\0\0', ProbeResult.CERTAIN),
        (b'\xef\xbb\xbf \n{ "format_version" : 1}\x1c\0\0\0', ProbeResult.CERTAIN),
        (b'{"files":{}}\xff\0\0\0', ProbeResult.POSSIBLE),
        (b'{"other":{}}\x0c\0\0\0', ProbeResult.POSSIBLE),
    ],
)
def test_recognition(data: bytes, expected: ProbeResult) -> None:
    assert FORMAT.probe(BytesSource(data)) is expected


def many(count: int = 2_000, size: int = 1) -> bytes:
    """An index larger than the stretch at the end of a file that is looked at; members of ``size`` bytes."""
    files = {f"member {at:06}": {"start_byte": at * size, "end_byte": (at + 1) * size} for at in range(count)}
    return json.dumps({"format_version": "1.0", "files": files}).encode()


EXAMPLE = b'{"format_version": "1.0", "files": {"a.txt": {"start_byte": 0, "end_byte": 3}}}'
QUOTES = {
    "the index alone": EXAMPLE,
    "the index alone in a line": EXAMPLE + b"\n",
    "at the end of a text": b"# Layout\n\nabcdef\n```\n" + EXAMPLE + b"\n```\n",
    "in the middle of a text": b"Such as " + EXAMPLE + b", which lists one member." * 9,
    "in a program": b'INDEX = b\'{"format_version":"1.0","files":{\' + b\'"start_byte"\'',
    "in a program that was compiled": b"\xcb\r\r\n\0\0\0\0" + EXAMPLE + b"\xfa\x05files\xe9\0\0\0start_byte\0\0",
    "cut off": EXAMPLE[:-2] + b",",
    "another document with files": b'{"files": {"main.js": "/static/main.js"}, "entrypoints": []}\n',
    "a large index alone": many(),
    "a large index alone, cut off": many(size=1_000)[:-500] + b"\n",
    "a large document of ranges": b'{"spans": {' + many()[35:-2] + b"}}\n",
}


@pytest.mark.parametrize("text", QUOTES.values(), ids=QUOTES)
def test_what_quotes_an_index_is_no_archive(text: bytes) -> None:
    assert recognise(BytesSource(text, "notes")) is None
    assert recognise(BytesSource(text, "notes.caf")) is FORMAT


SMALL, LARGE = build_archive(data=b"onetwo-two"), build_archive(many(), data=bytes(2_000))
REMAINS = {
    "wrong footer": SMALL[:-4] + b"\x07\0\0\0",
    "footer beyond the file": SMALL[:-4] + b"\x07\0\0\xff",
    "no footer": SMALL[:-4],
    "cut off in the index": SMALL[:-10],
    "bytes after the footer": SMALL + b"more bytes",
    "index closed wrongly": SMALL.replace(b"}}}", b"}}]"),
    "large, wrong footer": LARGE[:-4] + b"\x07\0\0\0",
    "large, cut off in the index": LARGE[:-500],
    "large, no first brace": LARGE.replace(b'{"format', b' "format'),
}
"""Archives of texts, damaged where an archive is distinguished from other files."""


@pytest.mark.parametrize("kind", REMAINS)
def test_a_damaged_archive_is_known_without_its_suffix(kind: str) -> None:
    data = REMAINS[kind]
    assert FORMAT.probe(BytesSource(data)) is ProbeResult.POSSIBLE
    assert recognise(BytesSource(data, "backup")) is FORMAT


def test_random_bytes_with_the_suffix_are_a_damaged_archive(tmp_path: Path) -> None:
    path = tmp_path / "random.caf"
    path.write_bytes(bytes(at * at * 7 % 251 for at in range(5_000)))
    assert check_location(str(path), Progress()).state is State.DAMAGED


class Zeros(BytesSource):
    """Zeros, of which never more than ``most`` were read at once."""

    def __init__(self, size: int, tail: bytes = b"") -> None:
        super().__init__(tail)
        self.size = size
        self.tail = tail
        self.most = 0

    def read(self, offset: int, length: int) -> bytes:
        self.most = max(self.most, length)
        length = max(0, min(length, self.size - offset))
        start = offset - (self.size - len(self.tail))
        return bytes(min(length, max(0, -start))) + self.tail[max(0, start) : max(0, start + length)]


def test_the_search_for_an_index_holds_little_at_once() -> None:
    source = Zeros(64 << 30)
    archive = Archive(source, FORMAT.name, FORMAT.title, ())
    FORMAT.decode(source, Emitter(archive), Progress())
    assert "caf-footer" in {finding.code for finding in archive.findings}
    assert source.most <= 16 << 20


@pytest.mark.parametrize("left", [*range(70), 10_000])
def test_an_index_is_found_wherever_the_stretches_of_the_search_meet(
    left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locate, "_WINDOW_BYTES", 64)
    tail = build_archive(many(20), data=b"") + bytes(left + 1)
    place = locate.find_index(Zeros(1_000 + len(tail), tail))
    assert place.index == Span(1_000, 1_000 + len(many(20)))
