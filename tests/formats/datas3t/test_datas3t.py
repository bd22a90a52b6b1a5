import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive
from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.format import Format, MemberError, ProbeResult
from inspector.core.member import Codec
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, Source
from inspector.formats import datas3t, recognise, tar
from inspector.formats._kinds import FRAME
from inspector.formats.datas3t import METADATA_KIND as METADATA
from inspector.formats.datas3t import METADATA_ROW
from inspector.sources.local.file import FileSource
from tests.formats.archives import assert_covered, codes
from tests.formats.datas3t.range_building import Row, hashed_rows, index_rows, rows_frame, unpadded
from tests.formats.tar.tar_building import build, content, decoded

NAME = f"{1:020d}-{4:020d}.tar"
POINTS = {f"{key:020d}.json": b"point %d " % key * key * 60 for key in range(1, 5)}


@pytest.fixture
def place(tmp_path: Path) -> Callable[..., Source]:
    def put(data: bytes, *, name: str = NAME, metadata: bytes | None = None, index: bytes | None = None) -> Source:
        (tmp_path / name).write_bytes(data)
        if metadata is not None:
            (tmp_path / f"{name}.metadata").write_bytes(metadata)
        if index is not None:
            (tmp_path / name).with_suffix(".index").write_bytes(index)
        return FileSource(tmp_path / name)

    return put


Place = Callable[..., Source]
SOUND = build(POINTS.items())
ROWS = hashed_rows(SOUND)


def facts(archive: Archive, member: int) -> list[Field]:
    return [field for field in archive.fields[0].children[member].children if not field.spans]


def opened(source: Source) -> Archive:
    assert recognise(source) is datas3t.FORMAT
    archive = decoded(source, datas3t.FORMAT)
    assert_covered(archive)
    return archive


@pytest.mark.parametrize("rows", [ROWS, unpadded(SOUND)], ids=["padded", "unpadded"])
def test_a_sound_range(place: Place, rows: list[Row]) -> None:
    archive = opened(place(SOUND, metadata=rows_frame(rows)))
    assert archive.findings == []
    assert [(member.path.decode(), content(archive, member.index)) for member in archive.members] == list(
        POINTS.items()
    )
    assert archive.members[0].digest == f"xxh64:{int(ROWS[0]['data_hash'], 16):016x}"
    (row,) = facts(archive, 2)
    assert (row.kind, row.note) == (METADATA_ROW, "Agrees with the tar.")
    assert [(field.name, field.shown) for field in row.children][:2] == [
        ("id", "3"),
        ("begin_offset", ROWS[2]["begin_offset"]),
    ]
    assert row.children[3].value == ROWS[2]["data_hash"]


def test_offsets_after_extended_headers_may_point_at_either_header(place: Place) -> None:
    points = {f"{key:020d}.{'e' * 100}": b"x" for key in range(1, 5)}
    data = build(points.items(), tarfile.PAX_FORMAT)
    rows = hashed_rows(data)
    assert opened(place(data, metadata=rows_frame(rows))).findings == []
    rows = [{**row, "begin_offset": str(int(row["end_offset"]) - 1024)} for row in rows]
    assert opened(place(data, metadata=rows_frame(rows))).findings == []


def changed(**fields: str) -> list[Row]:
    return [ROWS[0], {**ROWS[1], **fields}, *ROWS[2:]]


WITHOUT_ROW, WRONG_BEGIN = [ROWS[0], *ROWS[2:]], changed(begin_offset="999")


@pytest.mark.parametrize(
    ("rows", "expected", "words"),
    [
        (WITHOUT_ROW, ["datas3t-metadata-row-missing"], "no row for key 2"),
        ([*ROWS, {**ROWS[0], "id": "9"}], ["datas3t-metadata-row-extra"], "key 9"),
        ([ROWS[0], *ROWS], ["datas3t-metadata-row-extra"], "duplicate"),
        (WRONG_BEGIN, ["datas3t-metadata-offset"], "begin offset is 999"),
        (changed(end_offset="999999"), ["datas3t-metadata-offset"], "end offset is 999,999"),
        (
            changed(begin_offset="twelve"),
            *(["datas3t-metadata-row"], f"begin_offset cannot be read. It belongs to {2:020d}.json."),
        ),
        (ROWS[::-1], ["datas3t-metadata-order"], "order"),
    ],
)
def test_metadata_that_disagrees(place: Place, rows: list[Row], expected: list[str], words: str) -> None:
    archive = opened(place(SOUND, metadata=rows_frame(rows)))
    assert codes(archive) == expected
    assert any(words in finding.message for finding in archive.findings)
    rowed = ("datas3t-metadata-row", "datas3t-metadata-off")  # the wrong value stands in another file
    assert all(".tar.metadata" in each.message for each in archive.findings if each.code.startswith(rowed))
    assert len(archive.members) == 4


def test_the_row_of_a_datapoint_says_how_it_disagrees(place: Place) -> None:
    archive = opened(place(SOUND, metadata=rows_frame(WRONG_BEGIN)))
    assert "begin offset is 999" in facts(archive, 1)[0].note
    assert facts(archive, 0)[0].note == "Agrees with the tar."
    archive = opened(place(SOUND, metadata=rows_frame(WITHOUT_ROW)))
    assert "no row" in facts(archive, 1)[0].note
    assert archive.members[1].digest is None
    assert archive.members[2].digest is not None


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"not zstd",
        rows_frame(ROWS)[:-5],
        rows_frame({"rows": []}),
        rows_frame([1, 2]),
        zstandard.compress(b"[" * 100_000),
    ],
)
def test_unreadable_metadata_is_a_finding(place: Place, metadata: bytes) -> None:
    archive = opened(place(SOUND, metadata=metadata))
    assert codes(archive) == ["datas3t-metadata-damaged"]
    assert len(archive.members) == 4
    assert archive.members[0].digest is None


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        (f"{NAME}.metadata", zstandard.compress(b"[]"), ProbeResult.CERTAIN),
        (f"{NAME}.metadata", b"[]" + zstandard.compress(b"[]"), ProbeResult.NO),
        ("archive.metadata", zstandard.compress(b"[]"), ProbeResult.NO),
    ],
    ids=["both", "no frame", "another name"],
)
def test_metadata_is_a_frame_with_the_suffix_of_metadata(name: str, data: bytes, expected: ProbeResult) -> None:
    assert datas3t.METADATA.probe(BytesSource(data, name)) is expected


@pytest.mark.parametrize(
    ("names", "name", "expected"),
    [
        ([1, 2, 4], NAME, ["datas3t-key-gap"]),
        ([1, 2, 2, 3, 4], NAME, ["datas3t-key-twice"]),
        ([1, 2, 3], NAME, ["datas3t-object-name"]),
        ([1, 2, 3, 4], "1-4.tar", ["datas3t-object-name"]),
        ([4, 3, 2, 1], NAME, []),
        ([1, 2, 3, 4], "renamed.tar", []),
    ],
)
def test_names_and_keys(place: Place, names: list[int], name: str, expected: list[str]) -> None:
    data = build([(f"{key:020d}.bin", b"x") for key in names])
    rows = sorted({row["id"]: row for row in hashed_rows(data)}.values(), key=lambda row: int(row["id"]))
    archive = opened(place(data, name=name, metadata=rows_frame(rows)))
    assert [code for code in codes(archive) if code != "datas3t-metadata-offset"] == expected


@pytest.mark.parametrize(("first", "last", "wrong"), [(1, 3, [4]), (2, 4, [1]), (7, 9, [1, 4])])
def test_a_wrong_object_name_shows_the_names_inside(place: Place, first: int, last: int, wrong: list[int]) -> None:
    source = place(SOUND, name=f"{first:020d}-{last:020d}.tar", metadata=rows_frame(ROWS))
    (finding,) = opened(source).findings
    assert finding.code == "datas3t-object-name"
    names = [source.read(start, stop - start).rstrip(b"\0") for start, stop in finding.spans]
    assert [int(name.split(b".")[0]) for name in names] == wrong


def test_a_name_in_an_extended_header_is_shown_with_it(place: Place) -> None:
    data = build([(f"{5:020d}.{'e' * 100}", b"x")], tarfile.PAX_FORMAT)
    (finding,) = opened(place(data, metadata=rows_frame(hashed_rows(data)))).findings
    assert finding.spans == ((0, 3 * 512),)


@pytest.mark.parametrize(("name", "words"), [("1-4.tar", "not stored in the file"), (NAME, "no bytes to show")])
def test_findings_without_bytes_say_so(place: Place, name: str, words: str) -> None:
    (finding,) = opened(place(SOUND, name=name, metadata=rows_frame(ROWS) if name != NAME else None)).findings
    assert finding.spans == ()
    assert words in finding.message


@pytest.mark.parametrize("name", ["3.json", "readme.txt", f"folder/{3:020d}.json", f"{3:021d}.json"])
def test_a_datapoint_with_another_name(place: Place, name: str) -> None:
    data = build([(name if key == 3 else f"{key:020d}.json", b"x") for key in range(1, 5)])
    archive = opened(place(data))
    assert "datas3t-datapoint-name" in codes(archive)
    assert next(finding for finding in archive.findings if finding.code == "datas3t-datapoint-name").member == 2


def test_a_destroyed_tar_with_metadata_is_still_datas3t(place: Place) -> None:
    archive = opened(place(b"\xff" * 3000, metadata=rows_frame(ROWS)))
    assert {"tar-checksum", "datas3t-metadata-row-extra"} <= set(codes(archive))


def test_a_plain_tar_is_not_a_range() -> None:
    assert recognise(BytesSource(SOUND, "backup.tar")) is tar.FORMAT


def alone(source: Source, decoder: Format) -> Archive:
    assert recognise(source) is decoder
    archive = decoded(source, decoder)
    assert_covered(archive)
    return archive


def test_metadata_by_itself(place: Place, tmp_path: Path) -> None:
    place(SOUND, metadata=rows_frame(ROWS))
    archive = alone(FileSource(tmp_path / f"{NAME}.metadata"), datas3t.METADATA)
    assert archive.findings == []
    member = archive.members[0]
    assert (member.path, member.codec, member.spans) == (b"metadata.json", Codec.ZSTD, ((0, archive.source.size),))
    text = content(archive, 0, datas3t.METADATA)
    assert json.loads(text) == ROWS
    assert member.size == len(text)
    assert archive.fields[0].kind is FRAME
    rows = archive.fields[-1]
    assert (rows.kind, rows.spans, len(rows.children)) == (METADATA, (), 4)
    assert rows.children[3].children[0].value == 4


def test_rows_that_are_wrong_by_themselves() -> None:
    rows = [{**ROWS[0], "begin_offset": "5000"}, {**ROWS[1], "data_hash": "xyz"}]
    archive = alone(BytesSource(rows_frame(rows), f"{NAME}.metadata"), datas3t.METADATA)
    assert codes(archive) == ["datas3t-metadata-orphan", "datas3t-metadata-row", "datas3t-metadata-offset"]
    assert "data_hash cannot be read" in archive.fields[-1].children[1].note


@given(st.data())
def test_damaged_metadata_is_covered_and_raises_nothing(data: st.DataObject) -> None:
    whole = rows_frame(ROWS)
    changed = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for at in data.draw(st.lists(st.integers(0, max(0, len(changed) - 1)), max_size=3)):
        if changed:
            changed[at] ^= 1 << data.draw(st.integers(0, 7))
    archive = decoded(BytesSource(bytes(changed), f"{NAME}.metadata"), datas3t.METADATA)
    assert_covered(archive)
    if len(archive.members):
        assert len(content(archive, 0, datas3t.METADATA)) == archive.members[0].size
    elif len(changed):
        assert "datas3t-metadata-damaged" in codes(archive)


@pytest.mark.parametrize("window", [28, 31])
def test_metadata_that_needs_too_much_memory_is_not_called_damaged(place: Place, window: int) -> None:
    frame = bytearray(rows_frame(ROWS))
    writer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    frame[:] = writer.compress(zstandard.decompress(bytes(frame))) + writer.flush()
    frame[5] = (window - 10) << 3  # what the frame header says of its window
    archive = opened(place(SOUND, metadata=bytes(frame)))
    assert codes(archive) == ["datas3t-records-not-read"]
    assert len(archive.members) == 4
    by_itself = alone(BytesSource(bytes(frame), f"{NAME}.metadata"), datas3t.METADATA)
    assert codes(by_itself)[1:] == ["datas3t-records-not-read"]


def test_damaged_metadata_gives_no_content() -> None:
    archive = decoded(BytesSource(rows_frame(ROWS), f"{NAME}.metadata"), datas3t.METADATA)
    archive.source = BytesSource(b"shrunk")
    with pytest.raises(MemberError):
        content(archive, 0, datas3t.METADATA)


def test_an_index_by_itself(place: Place, tmp_path: Path) -> None:
    name = f"{1:020d}-{4:020d}-{7:012d}"
    place(SOUND, name=f"{name}.tar", index=b"".join(index_rows(SOUND)))
    source = FileSource(tmp_path / f"{name}.index")
    archive = alone(source, datas3t.INDEX)
    assert archive.findings == []
    row = archive.fields[0].children[1]
    assert [(field.name, field.spans[0], field.value) for field in row.children] == [
        ("header offset", (16, 24), 1024),
        ("header size", (24, 26), 1),
        ("data size", (26, 32), 960),
    ]
    with pytest.raises(MemberError):
        list(datas3t.INDEX.read(archive, 0, Progress()))


def test_a_cut_off_index_without_its_tar() -> None:
    archive = decoded(BytesSource(b"".join(index_rows(SOUND))[:-3], "x.index"), datas3t.INDEX)
    assert codes(archive) == ["datas3t-index-orphan", "datas3t-index-cut"]
    assert_covered(archive)
    assert archive.findings[1].severity is Severity.ERROR
