import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import Severity
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource, Source
from inspector.core.span import Span
from inspector.core.verdict import State, Verdict
from inspector.formats import datas3t
from inspector.formats._tar.reading import WINDOW
from inspector.operations.check.checking import check_location
from inspector.sources.local.file import FileSource
from tests.formats.archives import codes
from tests.formats.datas3t.range_building import frame, hashed_rows, points, put, put_range, rows_frame, unpadded
from tests.formats.datas3t.range_repairs import Range
from tests.formats.tar.tar_building import build, decoded

POINTS = points(1, 4)
TAR = build(POINTS.items())
ROWS = hashed_rows(TAR)
JSON = json.dumps(ROWS, separators=(",", ":")).encode()
NAME = f"{1:020d}-{4:020d}.tar"
CHKSUM_SPELLINGS = {(148, 0x10), (154, 0x20), (155, 0x20)}


def beside(data: bytes, metadata: bytes | None) -> Range:
    return Range(data, metadata, 1, 4)


def checked(source: Source) -> tuple[Archive, str]:
    archive = decoded(source, datas3t.FORMAT)
    return archive, datas3t.FORMAT.check(archive, Emitter(archive), Progress())


def verdicts(archive: Archive) -> list[Verdict]:
    return [archive.verdict(index) for index in range(len(archive.members))]


def flipped(data: bytes, at: int, bit: int) -> bytes:
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]


def test_a_sound_range_is_verified(tmp_path: Path) -> None:
    archive, sentence = checked(FileSource(put_range(tmp_path, POINTS)))
    assert archive.findings == []
    assert verdicts(archive) == [Verdict.VERIFIED] * 4
    assert sentence == "All 4 datapoints are verified."


@pytest.mark.parametrize("size", [0, 1, 511, 512, WINDOW - 512, WINDOW, WINDOW + 1, 3 * WINDOW + 77])
def test_datapoints_of_any_size_are_verified_and_their_padding_is_read(size: int) -> None:
    data = build([(f"{1:020d}.bin", b"before"), (f"{2:020d}.bin", b"m" * size), (f"{3:020d}.bin", b"after")])
    rows = hashed_rows(data)
    archive, _ = checked(beside(data, rows_frame(rows)))
    assert verdicts(archive) == [Verdict.VERIFIED] * 3
    if size:
        archive, _ = checked(beside(flipped(data, archive.members[1].spans[0].stop - 1, 2), rows_frame(rows)))
        assert verdicts(archive) == [Verdict.VERIFIED, Verdict.MISMATCH, Verdict.VERIFIED]
    if size % 512:
        archive, _ = checked(beside(flipped(data, archive.members[1].spans[0].stop, 2), rows_frame(rows)))
        assert verdicts(archive) == [Verdict.VERIFIED] * 3
        assert "tar-padding" in codes(archive)


def test_a_datapoint_that_does_not_match_its_hash() -> None:
    start = TAR.index(b"point 2")
    archive, sentence = checked(beside(flipped(TAR, start + 5, 1), rows_frame(ROWS)))
    (finding,) = archive.findings
    assert (finding.code, finding.severity, finding.member) == ("datas3t-hash-mismatch", Severity.ERROR, 1)
    stop = start + len(POINTS[f"{2:020d}.json"])
    assert finding.spans == (Span(start, stop),)
    row = archive.checksums[1]
    stored = f"{int(ROWS[1]['data_hash'], 16):016x}"
    assert (row.stored, row.verdict, row.member) == (stored, Verdict.MISMATCH, 1)
    assert (row.place, row.covers) == ((), (Span(start, stop),))
    for word in ("hash", f"{2:020d}.json", stored, row.computed, f"(row of key 2 in {NAME}.metadata"):
        assert word in finding.message
    assert row.computed != stored
    assert verdicts(archive) == [Verdict.VERIFIED, Verdict.MISMATCH, Verdict.VERIFIED, Verdict.VERIFIED]
    assert sentence == "3 of 4 datapoints are verified; 1 does not match its hash."


def test_a_datapoint_without_a_row() -> None:
    archive, sentence = checked(beside(TAR, rows_frame([ROWS[0], *ROWS[2:]])))
    assert verdicts(archive)[1] is Verdict.NOT_CHECKABLE
    assert sentence == "3 of 4 datapoints are verified; 1 has no metadata row to compare with."


def test_without_metadata_nothing_can_be_checked() -> None:
    archive, sentence = checked(beside(TAR, None))
    assert verdicts(archive) == [Verdict.NOT_CHECKABLE] * 4
    assert sentence == "No hash is recorded for any of the 4 datapoints; 1 other error was found."
    archive, _ = checked(beside(flipped(TAR, 1023, 1), None))
    assert codes(archive) == ["datas3t-metadata-missing", "tar-padding"]
    assert verdicts(archive) == [Verdict.DOUBTFUL, *[Verdict.NOT_CHECKABLE] * 3]


def test_a_cut_off_datapoint_does_not_match() -> None:
    cut = TAR[: TAR.index(b"point 3") + 7]
    archive, sentence = checked(beside(cut, rows_frame(ROWS)))
    assert verdicts(archive) == [Verdict.VERIFIED, Verdict.VERIFIED, Verdict.MISMATCH]
    finding = next(each for each in archive.findings if each.code == "datas3t-hash-mismatch")
    assert "7 bytes (all that remain of" in finding.message
    assert "other error" in sentence


def test_the_checksum_table_has_the_hashes_and_then_the_headers() -> None:
    archive = decoded(beside(TAR, rows_frame([*ROWS, {**ROWS[0], "id": "9"}])), datas3t.FORMAT)
    checksums = archive.checksums
    assert len(checksums) == 5 + 4
    assert (checksums[0].verdict, checksums[0].computed) == (Verdict.NOT_CHECKED, "")
    assert (checksums[5].verdict, checksums[5].member) == (Verdict.VERIFIED, 0)
    datas3t.FORMAT.check(archive, Emitter(archive), Progress())
    assert (checksums[0].verdict, checksums[0].computed) == (Verdict.VERIFIED, checksums[0].stored)
    assert (checksums[4].verdict, checksums[4].member) == (Verdict.NOT_CHECKABLE, None)
    assert "no datapoint" in checksums[4].note
    broken = decoded(beside(TAR, rows_frame([{**ROWS[0], "id": "x"}, *ROWS[1:]])), datas3t.FORMAT)
    assert "id cannot be read" in broken.checksums[0].note


def test_rows_that_are_not_written_as_specified() -> None:
    for change in (
        {"data_hash": ROWS[1]["data_hash"].upper()},
        {"id": 2},
        {"begin_offset": "0" + ROWS[1]["begin_offset"]},
    ):
        archive, _ = checked(beside(TAR, rows_frame([ROWS[0], {**ROWS[1], **change}, *ROWS[2:]])))
        assert codes(archive) == ["datas3t-metadata-spelling"]
        assert next(iter(change)) in archive.findings[0].message
        assert verdicts(archive) == [Verdict.VERIFIED] * 4


@pytest.mark.parametrize(
    ("field", "severity"),
    [
        ('"data_hash":"1"', Severity.ERROR),
        ('"data_hash":1', Severity.ERROR),
        ('"\\u0069d":"1"', Severity.ERROR),
        ('"end_offset":{"id":"1"}', Severity.ERROR),
        (f'"id":"{ROWS[1]["id"]}"', Severity.WARNING),
    ],
)
def test_a_repeated_field_in_a_row(field: str, severity: Severity) -> None:
    """Readers of JSON show one of them only, and not all the same."""
    rows = [json.dumps(row) for row in ROWS]
    rows[1] = f"{{{field}, {rows[1][1:]}"
    archive, _ = checked(beside(TAR, frame(f"[{','.join(rows)}]".encode())))
    assert codes(archive) == ["datas3t-metadata-field-twice"]
    (finding,) = archive.findings
    assert finding.severity is severity
    assert f"1 row of the metadata. In row 1, {json.loads('{' + field + '}').popitem()[0]} is " in finding.message
    assert verdicts(archive) == [Verdict.VERIFIED] * 4


@pytest.mark.parametrize(
    "field",
    [
        '"more":"id"',
        '"more":{"id":"1","data_hash":"x"}',
        '"more":"\\"id\\""',
        '"more":[{"id":1,"id":2}]',
        '"\\u006dore":1',
    ],
)
def test_what_only_looks_like_a_repeated_field(field: str) -> None:
    rows = [f"{{{field}, {json.dumps(row)[1:]}" for row in ROWS]
    archive, _ = checked(beside(TAR, frame(f"[{','.join(rows)}]".encode())))
    assert codes(archive) == []


def test_a_missing_field_does_not_hide_a_repeated_one() -> None:
    rows = [json.dumps(row) for row in ROWS]
    rows[1] = f'{{"id":"77", {rows[1][1:]}'
    rows[2] = json.dumps({name: value for name, value in ROWS[2].items() if name != "id"})
    archive, _ = checked(beside(TAR, frame(f"[{','.join(rows)}]".encode())))
    assert "datas3t-metadata-field-twice" in codes(archive)


def test_padded_and_unpadded_end_offsets_in_one_range() -> None:
    short = unpadded(TAR)
    assert codes(checked(beside(TAR, rows_frame(short)))[0]) == []
    mixed, _ = checked(beside(TAR, rows_frame([short[0], *ROWS[1:]])))
    assert codes(mixed) == ["datas3t-metadata-readings"]


def test_a_check_can_be_cancelled_and_repeated() -> None:
    archive = decoded(beside(TAR, rows_frame(ROWS)), datas3t.FORMAT)
    stopped = Progress()
    stopped.cancel()
    with pytest.raises(Cancelled):
        datas3t.FORMAT.check(archive, Emitter(archive), stopped)
    assert verdicts(archive) == [Verdict.NOT_CHECKED] * 4
    progress = Progress()
    datas3t.FORMAT.check(archive, Emitter(archive), progress)
    assert verdicts(archive) == [Verdict.VERIFIED] * 4
    assert progress.done == progress.total == len(TAR)


def test_a_large_datapoint_is_never_held_in_memory() -> None:
    largest = 0

    class Watched(Range):
        def read(self, offset: int, length: int) -> bytes:
            nonlocal largest
            largest = max(largest, length)
            return super().read(offset, length)

    data = build([(f"{1:020d}.bin", bytes(8 << 20)), *((f"{key:020d}.bin", bytes(5000)) for key in range(2, 200))])
    archive = decoded(Watched(data, rows_frame(hashed_rows(data)), 1, 199), datas3t.FORMAT)
    largest = 0
    datas3t.FORMAT.check(archive, Emitter(archive), Progress())
    assert largest <= WINDOW + 512
    assert set(verdicts(archive)) == {Verdict.VERIFIED}


@given(st.integers(0, len(TAR) - 1), st.integers(0, 7))
def test_any_bit_of_the_tar_is_found(at: int, place: int) -> None:
    """All but those that write a header's checksum, the number unchanged, as other programs do."""
    archive, _ = checked(beside(flipped(TAR, at, 1 << place), rows_frame(ROWS)))
    header = next((at - member.head for member in archive.members if 0 <= at - member.head < 512), 0)
    assert codes(archive) or (header, 1 << place) in CHKSUM_SPELLINGS


@given(st.integers(0, len(JSON) - 1), st.integers(0, 7))
def test_any_bit_of_the_rows_is_found(at: int, place: int) -> None:
    archive, _ = checked(beside(TAR, frame(flipped(JSON, at, 1 << place))))
    assert codes(archive)


@pytest.mark.parametrize("checksum", [False, True])
@given(st.data())
def test_any_bit_of_the_frame_is_found(checksum: bool, data: st.DataObject) -> None:
    """All but those that decoders ignore: the rows are then byte for byte those that were written."""
    whole = frame(JSON, checksum=checksum)
    at, place = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    changed = flipped(whole, at, 1 << place)
    archive, _ = checked(beside(TAR, changed))
    if not codes(archive):
        alone = decoded(BytesSource(changed, NAME + ".metadata"), datas3t.METADATA)
        assert b"".join(datas3t.METADATA.read(alone, 0, Progress())) == JSON
        assert verdicts(archive) == [Verdict.VERIFIED] * 4


@given(st.binary(max_size=2000), st.integers(0, len(TAR)), st.binary(max_size=300))
def test_checking_any_bytes_raises_nothing(tail: bytes, at: int, metadata: bytes) -> None:
    for rows in (rows_frame(ROWS), metadata):
        archive, sentence = checked(beside(TAR[:at] + tail, rows))
        assert sentence
        assert Verdict.NOT_CHECKED not in verdicts(archive)
        assert all(row.name for row in archive.checksums)


@pytest.mark.parametrize(("checksum", "verdict"), [(True, Verdict.VERIFIED), (False, Verdict.NOT_CHECKABLE)])
def test_metadata_by_itself_is_checked_by_its_frame(tmp_path: Path, checksum: bool, verdict: Verdict) -> None:
    path = put(tmp_path, TAR, frame(JSON, checksum=checksum), 1, 4)
    report = check_location(f"{path}.metadata", Progress())
    assert (report.state, report.verdicts) == (State.SOUND, {verdict: 1})
    path.with_name(path.name + ".metadata").write_bytes(b"no frame")
    archive = decoded(FileSource(path.with_name(path.name + ".metadata")), datas3t.METADATA)
    assert "cannot be read" in datas3t.METADATA.check(archive, Emitter(archive), Progress())


def test_a_folder_has_one_summary(tmp_path: Path) -> None:
    folder = tmp_path / "dataset" / "weather" / "datapoints"
    put_range(folder, points(1, 100))
    data = build(points(101, 151).items())
    rows = hashed_rows(data)
    put(folder, flipped(data, data.index(b"point 120"), 1), rows_frame([*rows[:10], *rows[11:]]), 101, 151)
    report = check_location(str(tmp_path), Progress())
    assert report.state is State.DAMAGED
    assert report.verdicts == {Verdict.VERIFIED: 149, Verdict.MISMATCH: 1, Verdict.NOT_CHECKABLE: 1}
    assert report.sentence == (
        "Damaged: 149 of 151 datapoints are verified; 1 does not match its hash; 1 has no metadata row to compare with."
    )


@pytest.mark.parametrize(
    ("ranges", "state", "code", "severity"),
    [
        ([(1, 3), (4, 6)], State.SOUND, None, None),
        ([(1, 3), (7, 8)], State.SOUND, "datas3t-range-gap", Severity.INFO),
        ([(1, 5), (4, 6)], State.DAMAGED, "datas3t-range-overlap", Severity.ERROR),
    ],
)
def test_ranges_against_each_other(
    tmp_path: Path, ranges: list[tuple[int, int]], state: State, code: str | None, severity: Severity | None
) -> None:
    paths = [put_range(tmp_path / "dataset" / "wind" / "datapoints", points(*each)) for each in ranges]
    report = check_location(str(tmp_path), Progress())
    found = [(each.code, each.severity) for archive in report.archives for each in archive.findings]
    assert (report.state, found) == (state, [(code, severity)] if code else [])
    assert set(report.verdicts) == {Verdict.VERIFIED}
    assert [check_location(str(path), Progress()).state for path in paths] == [State.SOUND, State.SOUND]


def test_orphan_metadata_is_an_error_of_the_folder(tmp_path: Path) -> None:
    put_range(tmp_path / "datapoints", points(1, 3))
    put_range(tmp_path / "datapoints", points(4, 6)).unlink()
    report = check_location(str(tmp_path), Progress())
    assert report.state is State.DAMAGED
    assert [each.code for each in report.archives[0].findings] == ["datas3t-metadata-orphan"]
    assert report.sentence == "Damaged: All 3 datapoints are verified; 1 other error was found."


@pytest.mark.parametrize(
    ("name", "state", "word"),
    [
        ("weather", State.SOUND, ""),
        ("weather-later", State.SOUND, ""),
        ("weather-gap", State.SOUND, "gap between ranges"),
        ("weather-overlap", State.DAMAGED, "overlap"),
        ("weather-no-metadata", State.DAMAGED, "metadata"),
        ("weather-missing-row", State.DAMAGED, "metadata"),
    ],
)
def test_the_samples(sample: Callable[[str], Path], name: str, state: State, word: str) -> None:
    report = check_location(str(sample(name)), Progress())
    assert report.state is state
    words = [f"{each.code} {each.message}" for archive in report.archives for each in archive.findings]
    assert not word or any(word in each for each in words)


@pytest.mark.parametrize("frame", [b"not zstd", bytes.fromhex("28b52ffd 00 a0 010000")])
def test_where_the_metadata_is_not_read_the_rest_is_checked_all_the_same(frame: bytes) -> None:
    archive, sentence = checked(beside(flipped(TAR, 1023, 1), frame))
    assert "tar-padding" in codes(archive)
    assert verdicts(archive) == [Verdict.DOUBTFUL, *[Verdict.NOT_CHECKABLE] * 3]
    archive, sentence = checked(beside(TAR, frame))
    assert sentence.startswith("No hash was compared, because the metadata was not read")
