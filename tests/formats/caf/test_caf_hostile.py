from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive
from inspector.core.format import MemberError
from inspector.core.program.progress import Progress
from inspector.formats.caf import FORMAT
from tests.formats.archives import leaves
from tests.formats.caf.building import decode_archive

SAMPLES = (
    "pretty.caf",
    "trailing-commas.caf",
    "index-size-short.caf",
    "escaped-names.caf",
    "two-alike.caf",
    "nested.caf",
)


def looked_at(archive: Archive) -> None:
    """Read every member and every finding, as a user might."""
    for index, member in enumerate(archive.members):
        problem = ""
        size = 0
        try:
            for piece in FORMAT.read(archive, index, Progress()):
                size += len(piece)
        except MemberError as error:
            problem = str(error)
        assert problem.endswith(".") if problem else size == member.size
    for finding in archive.findings:
        assert finding.message.endswith((".", "!"))
        assert all(0 <= span.start <= span.stop <= archive.source.size for span in finding.spans)
        assert finding.member is None or finding.member < len(archive.members)


@pytest.mark.parametrize("name", SAMPLES[:-1])
def test_truncation_at_every_byte(name: str, sample: Callable[[str], Path]) -> None:
    data = sample(name).read_bytes()
    for size in range(len(data)):
        looked_at(decode_archive(data[:size]))


@given(name=st.sampled_from(SAMPLES), draw=st.data())
def test_flipped_bits_raise_nothing(name: str, draw: st.DataObject, sample: Callable[[str], Path]) -> None:
    data = bytearray(sample(name).read_bytes())
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    looked_at(decode_archive(bytes(data)))


@given(name=st.sampled_from(SAMPLES[:-1]), draw=st.data())
def test_moved_pieces_raise_nothing(name: str, draw: st.DataObject, sample: Callable[[str], Path]) -> None:
    data = sample(name).read_bytes()
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), min_size=3, max_size=3)))
    first, second, third, last = data[: cuts[0]], data[cuts[0] : cuts[1]], data[cuts[1] : cuts[2]], data[cuts[2] :]
    footer = draw.draw(st.sampled_from([b"", b"\0\0\0\0", b"\xff\xff\xff\xff"]))
    looked_at(decode_archive(first + third + second + last + footer))


@given(soup=st.text(alphabet='{}[],:"\\ 0a', max_size=60), data=st.binary(max_size=8))
def test_json_soup_raises_nothing(soup: str, data: bytes) -> None:
    index = ('{"files":{' + soup).encode()
    archive = decode_archive(data + index + len(index).to_bytes(4, "little"))
    looked_at(archive)
    assert sum(span.size for leaf in leaves(archive.fields) for span in leaf.spans) == archive.source.size


def test_a_thousand_broken_entries_are_read_in_one_pass() -> None:
    index = b'{"format_version":"1.0","files":{' + b'"a":{"start_byte":},' * 20_000 + b"}}"
    archive = decode_archive(index + len(index).to_bytes(4, "little"))
    assert len(archive.members) == 20_000
    assert len(archive.findings) == 10_000
