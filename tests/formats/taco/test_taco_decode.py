"""TACO archives that tacozip writes, and broken ones."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
import tacozip
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.format import ProbeResult
from inspector.core.kinds import Kind
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.formats import recognise, taco
from inspector.formats._kinds import LOCAL_HEADER
from inspector.formats._zip.directory import Directory
from inspector.formats.taco.codes import TACO_ENTRY, TACO_PAYLOAD
from inspector.formats.taco.decode import GHOST_TITLE, decode
from inspector.formats.taco.header import TacoHeader, target_text
from tests.formats.archives import assert_covered
from tests.formats.taco.taco_building import updated, written
from tests.formats.zip.zip_building import every

FILES = {"DATA/a.bin": b"0123456789" * 9, "METADATA/level0.parquet": b"PAR1 not really PAR1", "empty": b""}


@pytest.fixture(scope="session")
def data() -> bytes:
    """An archive whose first entry leads to the second file; the others: elsewhere, half outside, outside, empty."""
    at = written(FILES, [(1, 1)]).index(FILES["METADATA/level0.parquet"])
    return written(FILES, [(at, 20), (at + 1, 5), (300, 2**40), (2**63, 7), (10, 5)])


def test_the_header_can_be_shown_while_it_is_decoded(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(BytesSource(data), "taco", taco.FORMAT.title, ())
    seen: list[Kind] = []

    def look_meanwhile(directory: Directory, size: int, entry: tuple[int, int]) -> str:
        seen.extend(field.kind for field in every(archive.fields))
        return target_text(directory, size, entry)

    monkeypatch.setitem(decode.__globals__, "target_text", look_meanwhile)
    taco.FORMAT.decode(archive.source, Emitter(archive), Progress())

    assert LOCAL_HEADER in seen
    assert TACO_PAYLOAD not in seen
    assert of_kind(archive, TACO_PAYLOAD)


def opened(data: bytes) -> Archive:
    archive = Archive(BytesSource(data), "taco", taco.FORMAT.title, ())
    taco.FORMAT.decode(archive.source, Emitter(archive), Progress())
    return archive


def header_of(archive: Archive) -> TacoHeader:
    assert isinstance(archive.detail, Directory)
    assert archive.detail.header is not None
    return archive.detail.header


def doubts(archive: Archive) -> dict[str, Severity]:
    return {finding.code: finding.severity for finding in archive.findings if finding.severity is not Severity.INFO}


def of_kind(archive: Archive, kind: Kind) -> list[Field]:
    return [field for field in every(archive.fields) if field.kind is kind]


def test_agrees_with_tacozip(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.tacozip"
    path.write_bytes(data)
    archive = opened(data)
    header = header_of(archive)
    assert list(header.entries[: header.count]) == list(tacozip.read_header(str(path)))[: header.count]
    assert [member.path.decode() for member in archive.members] == ["TACO_HEADER", *FILES]
    for member, content in zip(list(archive.members)[1:], FILES.values(), strict=True):
        assert b"".join(taco.FORMAT.read(archive, member.index, Progress())) == content
    assert b"".join(taco.FORMAT.read(archive, 0, Progress())) == data[41:157]
    assert doubts(archive) == {}
    assert not header.obstacles
    assert header.central_crc_offset == data.index(b"PK\1\2") + 16
    assert_covered(archive)


def test_every_part_of_the_header_has_the_name_of_the_specification(data: bytes) -> None:
    archive = opened(data)
    local = of_kind(archive, LOCAL_HEADER)[0]
    assert local.spans == ((0, 41),)
    assert [field.name for field in local.children] == [
        "LFH Signature", "Version Needed", "General Purpose Flag", "Compression Method", "Last Mod Time",
        "Last Mod Date", "CRC-32", "Compressed Size", "Uncompressed Size", "Filename Length", "Extra Field Length",
        "Filename",
    ]  # fmt: skip
    (payload,) = of_kind(archive, TACO_PAYLOAD)
    assert payload.spans == ((41, 157),)
    assert [field.name for field in payload.children] == [
        "count",
        "padding (reserved)",
        *(f"Entry {number}" for number in range(7)),
    ]
    assert payload.children[0].value == 5
    assert of_kind(archive, LOCAL_HEADER)[1].children[0].name == "local file header signature"


def test_each_entry_says_where_it_points(data: bytes) -> None:
    notes = [field.note for field in of_kind(opened(data), TACO_ENTRY)]
    assert notes[0].endswith("20 bytes: the data of METADATA/level0.parquet")
    assert notes[1].endswith("elsewhere in this file")
    assert notes[2].endswith("begins in this file and ends outside")
    assert notes[3].endswith("7 bytes: outside this file")
    assert notes[4].endswith("in the header itself")
    assert notes[5:] == ["unused", "unused"]


def test_unused_entries_show_what_they_hold(data: bytes) -> None:
    payload = b"\1\0\0\0" + struct.pack("<QQ", 200, 2) * 7
    archive = opened(updated(data, payload))
    assert of_kind(archive, TACO_ENTRY)[3].note == "unused, holds 200, 2 bytes"
    assert [finding.code for finding in archive.findings] == ["taco-unused-entry"]


def test_count_and_padding(data: bytes) -> None:
    eight = opened(updated(data, b"\x08" + data[42:157]))
    assert doubts(eight) == {"taco-count": Severity.ERROR}
    assert of_kind(eight, TACO_PAYLOAD)[0].note == "count is 8, but there is room for 7"
    padded = opened(updated(data, b"\x05\0\7\0" + data[45:157]))
    assert doubts(padded) == {"taco-padding": Severity.WARNING}
    assert of_kind(padded, Kind.PADDING)[0].value == "000700"


@pytest.mark.parametrize(
    ("local", "central", "count", "expected"),
    [
        (True, True, 1, {}),
        (False, False, 1, {"taco-torn-after-write-1": Severity.WARNING}),
        (True, False, 1, {"taco-torn-after-write-2": Severity.WARNING}),
        (False, True, 1, {"taco-crc": Severity.ERROR}),
        (False, False, 9, {"taco-count": Severity.ERROR, "taco-crc": Severity.ERROR}),
    ],
)
def test_the_three_writes_of_an_update(
    data: bytes, local: bool, central: bool, count: int, expected: dict[str, Severity]
) -> None:
    payload = bytes((count, 0, 0, 0)) + struct.pack("<QQ", 5000, 1000) + bytes(96)
    archive = opened(updated(data, payload, local=local, central=central))
    assert doubts(archive) == expected
    assert any("CRC" in finding.message for finding in archive.findings) is bool(expected)
    assert header_of(archive).entries[0] == (5000, 1000)


def rebuilt(data: bytes, header: bytes, *, name: bytes = b"TACO_HEADER", sizes: int = 116, method: int = 0) -> bytes:
    """The archive with another first member; offsets are moved along."""
    at = data.index(b"PK\1\2")
    moved = len(header) - 157
    found = b""
    place = at
    while data[place : place + 4] == b"PK\1\2":
        length = struct.unpack_from("<H", data, place + 28)[0]
        entry = bytearray(data[place : place + 46 + length])
        (offset,) = struct.unpack_from("<I", entry, 42)
        if offset:
            struct.pack_into("<I", entry, 42, offset + moved)
        else:
            struct.pack_into("<H", entry, 10, method)
            struct.pack_into("<II", entry, 20, sizes, entry[24])
            struct.pack_into("<H", entry, 28, len(name))
            entry[46:] = name
        found += entry
        place += 46 + length
    count = data[place + 8 : place + 12]
    end = b"PK\5\6" + bytes(4) + count + struct.pack("<IIH", len(found), at + moved, 0)
    return header + data[157:at] + found + end


def test_an_extra_field_makes_the_header_uneditable(data: bytes) -> None:
    header = data[:28] + b"\x04\0" + data[30:41] + b"\xfe\xca\0\0" + data[41:157]
    archive = opened(rebuilt(data, header))
    assert doubts(archive) == {"taco-layout": Severity.WARNING}
    assert header_of(archive).obstacles == ("it has an extra field of 4 bytes",)
    assert of_kind(archive, TACO_PAYLOAD)[0].spans == ((45, 161),)
    assert_covered(archive)


def test_a_compressed_header_has_no_entries_to_show(data: bytes) -> None:
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(data[41:157]) + packer.flush()
    header = data[:8] + b"\x08\0" + data[10:18] + struct.pack("<I", len(packed)) + data[22:41] + packed
    archive = opened(rebuilt(data, header, sizes=len(packed), method=8))
    assert doubts(archive) == {"taco-layout": Severity.WARNING}
    assert header_of(archive).obstacles
    assert of_kind(archive, TACO_PAYLOAD) == []
    assert b"".join(taco.FORMAT.read(archive, 0, Progress())) == data[41:157]


def test_the_older_layout_is_named(data: bytes) -> None:
    header = data[:26] + b"\x0a\0" + data[28:30] + b"TACO_GHOST" + data[41:157]
    archive = opened(rebuilt(data, header, name=b"TACO_GHOST"))
    assert archive.title == GHOST_TITLE
    assert doubts(archive) == {"taco-ghost": Severity.WARNING}
    assert "TACO_GHOST" in archive.findings[0].message
    assert of_kind(archive, TACO_PAYLOAD)[0].spans == ((40, 156),)
    assert header_of(archive).entries[3] == (2**63, 7)
    assert header_of(archive).obstacles


def test_a_wrong_name_in_the_local_header(data: bytes) -> None:
    wrong = data[:40] + b"X" + data[41:]
    assert recognise(BytesSource(wrong)) is taco.FORMAT
    archive = opened(wrong)
    assert doubts(archive) == {"zip-local-name": Severity.ERROR, "taco-layout": Severity.WARNING}
    assert header_of(archive).obstacles == ("the local header names it TACO_HEADEX",)


def test_the_first_157_bytes_alone(data: bytes) -> None:
    assert taco.FORMAT.probe(BytesSource(data[:157])) is ProbeResult.CERTAIN
    archive = opened(data[:157])
    finding = archive.findings[0]
    assert doubts(archive) == {finding.code: Severity.ERROR}
    assert "central directory" in finding.message
    assert header_of(archive).count == 5
    assert header_of(archive).obstacles
    assert [field.spans for field in of_kind(archive, TACO_PAYLOAD)] == [((41, 157),)]


def test_a_second_header_is_warned_of(data: bytes) -> None:
    second = data.replace(b"DATA/a.bin", b"TACO_HEADE").replace(b"empty", b"TACO_")
    assert doubts(opened(second)) == {}
    longer = made_with_second_header(data)
    assert doubts(opened(longer)) == {"taco-second-header": Severity.WARNING}


def made_with_second_header(data: bytes) -> bytes:
    at = data.index(b"PK\1\2")
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 10, 0, 0, 0, 33, 0, 0, 0, 11, 0) + b"TACO_HEADER"
    central = (
        struct.pack("<4s6H3I5H2I", b"PK\1\2", 10, 10, 0, 0, 0, 33, 0, 0, 0, 11, 0, 0, 0, 0, 0, at) + b"TACO_HEADER"
    )
    end = data.rindex(b"PK\5\6")
    size = end - at + len(central)
    return (
        data[:at]
        + local
        + data[at:end]
        + central
        + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 5, 5, size, at + len(local), 0)
    )


def test_truncation_at_every_byte(data: bytes) -> None:
    for stop in range(len(data)):
        taco.FORMAT.probe(BytesSource(data[:stop]))
        archive = opened(data[:stop])
        assert_covered(archive)
        assert any(finding.severity is Severity.ERROR for finding in archive.findings)


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 7)), min_size=1, max_size=4))
def test_flipped_bits_raise_nothing(data: bytes, flips: list[tuple[int, int]]) -> None:
    broken = bytearray(data)
    for at, bit in flips:
        broken[at % len(broken)] ^= 1 << bit
    source = BytesSource(bytes(broken))
    taco.FORMAT.probe(source)
    archive = opened(bytes(broken))
    assert_covered(archive)
