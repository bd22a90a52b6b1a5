"""Where bytes lead: from the foot of an archive to its index, its entries and their data, and from hashes to bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.kinds import Kind
from inspector.core.program.progress import Progress
from inspector.core.span import Span
from inspector.formats._kinds import CENTRAL_HEADER, END_OF_DIRECTORY, INDEX_ENTRY, LOCAL_HEADER, TAR_HEADER
from inspector.formats.caf import FOOTER
from inspector.formats.datas3t import METADATA_ROW
from inspector.formats.rca import CHUNK_HEADER, RESET_BLOCK
from inspector.formats.taco.codes import TACO_ENTRY
from inspector.operations.protocol.views import FieldRow, LayerKind, Reference
from inspector.operations.session.archive_session import ArchiveSession
from tests.operations.archives import opened

Sample = Callable[[str], Path]
ROOT = Path(__file__).parents[3] / "resources" / "samples"


def every_field(session: ArchiveSession, layer: int = 0, path: tuple[int, ...] = ()) -> list[FieldRow]:
    rows = session.field_rows(layer, path, 0, 1_000).rows
    return [found for row in rows for found in (row, *every_field(session, layer, row.path))]


def of_kind(session: ArchiveSession, kind: Kind, layer: int = 0) -> list[FieldRow]:
    return [row for row in every_field(session, layer) if row.kind is kind]


def lead(session: ArchiveSession, row: FieldRow, layer: int = 0) -> tuple[Reference, ...]:
    return session.references(layer, row.spans[0].start if row.spans else 0, row.path)


def words(references: Sequence[Reference]) -> list[str]:
    return [each.words for each in references]


def data_of(session: ArchiveSession, member: int) -> tuple[Span, ...]:
    return session.place(member).spans


def test_a_footer_leads_to_the_index_to_an_entry_to_its_data_and_back(sample: Sample) -> None:
    session = opened(sample("journey.caf"))
    (index,) = lead(session, of_kind(session, FOOTER)[0])
    (first,) = session.references(0, index.covers[0].start)
    entry = of_kind(session, INDEX_ENTRY)[0]
    assert (index.words, first.covers) == ("The index", entry.spans)
    assert entry.member is not None
    (data,) = session.references(0, entry.spans[0].start)
    assert (data.covers, data.member) == (data_of(session, entry.member), entry.member)
    (back,) = session.references(0, data.covers[0].start)
    assert back.covers == entry.spans


def test_the_end_of_an_entry_leads_to_the_byte_that_it_names_too(sample: Sample) -> None:
    session = opened(sample("journey.caf"))
    end = next(row for row in of_kind(session, Kind.OFFSET) if row.name == "end_byte")
    found = lead(session, end)
    assert [each.covers[0].start for each in found][1:] == [int(end.value)]
    assert found[1].words.startswith(f"Byte {int(end.value):,}: the ")


def test_an_entry_of_a_taco_header_leads_to_the_member(sample: Sample) -> None:
    session = opened(sample("two-entries.tacozip"))
    entries = of_kind(session, TACO_ENTRY)
    (reference,) = lead(session, entries[0])
    assert reference.words == "The data of METADATA/level0.parquet"
    assert reference.covers == data_of(session, 3)
    offset = next(row for row in every_field(session) if row.path[:-1] == entries[1].path)
    assert words(lead(session, offset)) == ["The data of COLLECTION.json"]


def test_an_entry_that_leads_outside_of_the_file_leads_nowhere_into_it(sample: Sample) -> None:
    session = opened(sample("torn-after-write-2.tacozip"))
    far = of_kind(session, TACO_ENTRY)[2]
    assert "500000" in far.value
    assert not any(span.stop > session.status().layers[0].size for each in lead(session, far) for span in each.covers)


def test_the_central_directory_leads_to_local_headers_and_data_and_they_lead_back(sample: Sample) -> None:
    session = opened(sample("plain.zip"))
    (directory,) = lead(session, of_kind(session, END_OF_DIRECTORY)[0])
    central, local = of_kind(session, CENTRAL_HEADER), of_kind(session, LOCAL_HEADER)
    assert directory.covers[0].start == central[0].spans[0].start
    found = lead(session, central[1])
    assert [each.covers for each in found] == [local[1].spans, data_of(session, 1)]
    assert central[1].spans in [each.covers for each in lead(session, local[1])]


@pytest.mark.parametrize(("number", "segment"), [(0, 1), (1, 2)])
def test_a_reset_block_leads_to_the_bytes_that_its_hash_covers(sample: Sample, number: int, segment: int) -> None:
    session = opened(sample("two-resets-spec.rca"))
    checksum = session.checksums(0, 10).rows[number]
    reset = of_kind(session, RESET_BLOCK)[number]
    for row in (reset, *(each for each in every_field(session) if each.path[:-1] == reset.path)):
        (reference,) = lead(session, row)
        assert reference.words == f"The bytes that the hash of segment {segment} covers"
        assert (reference.covers, reference.place, reference.omits) == (
            checksum.covers,
            checksum.place,
            checksum.omits,
        )


def test_in_the_inner_stream_a_reset_block_leads_to_bytes_of_the_inner_stream(sample: Sample) -> None:
    session = opened(sample("two-resets-spec.rca"))
    inner = next(info.layer for info in session.status().layers if info.kind is LayerKind.INNER)
    outer, shown = of_kind(session, RESET_BLOCK)[0], of_kind(session, RESET_BLOCK, inner)[0]
    (far,), (near,) = lead(session, outer), lead(session, shown, inner)
    assert near.layer == inner
    assert [s.size for s in near.covers] == [s.size for s in far.covers]
    assert near.covers[0].start == 0


def test_a_chunk_header_leads_to_its_chunk(sample: Sample) -> None:
    session = opened(sample("two-chunks.rca"))
    headers = of_kind(session, CHUNK_HEADER)
    chunks = [lead(session, header)[-1].covers for header in headers]
    assert chunks == [((10, 32768),), ((32780, 37248),)]


def test_a_metadata_row_leads_to_the_tar_header_and_that_to_the_data() -> None:
    session = opened(ROOT / "weather")
    row = of_kind(session, METADATA_ROW)[1]
    header = of_kind(session, TAR_HEADER)[1]
    found = lead(session, row)
    assert found[0].covers == header.spans
    assert found[1].covers == data_of(session, 1)
    assert words(lead(session, header)) == [found[1].words]


def test_the_checksum_of_a_tar_header_leads_to_all_of_it_but_itself(sample: Sample) -> None:
    session = opened(sample("plain.tar"))
    digest = of_kind(session, Kind.DIGEST)[0]
    (reference,) = lead(session, digest)
    assert reference.covers == ((0, 148), (156, 512))
    assert reference.omits == digest.spans


def test_content_leads_nowhere(sample: Sample) -> None:
    session = opened(sample("journey.caf"))
    content = session.content(Progress(), 0)
    assert session.references(content.layer.layer, 0) == ()


@given(name=st.sampled_from(sorted(path.name for path in ROOT.iterdir() if path.is_file())), at=st.integers(-2, 40_000))
def test_what_any_byte_leads_to_lies_in_the_layer_and_is_not_itself(name: str, at: int) -> None:
    session = opened(ROOT / name)
    for info in session.status().layers:
        shown = session.explain(info.layer, at).fields
        for reference in session.references(info.layer, at):
            assert reference.words
            assert reference.covers not in [row.spans for row in shown]
            assert all(0 <= span.start <= span.stop <= info.size for span in reference.covers)


def test_bytes_in_a_segment_lead_to_the_hash_that_covers_them(sample: Sample) -> None:
    session = opened(sample("two-resets-spec.rca"))
    (near,) = session.references(0, 600)
    (last,) = session.references(0, 1_400)
    assert (near.words, near.covers) == ("The hash of segment 2", (Span(999, 1007),))
    assert last.covers == (Span(2, 10),)


def test_the_data_of_a_member_lead_back_to_the_entry_of_the_taco_header(sample: Sample) -> None:
    session = opened(sample("two-entries.tacozip"))
    found = session.references(0, 5_200)
    assert ("Entry 0 of the TACO header", (Span(45, 61),)) in [(each.words, each.covers) for each in found]


@pytest.mark.parametrize("name", ["float-offset.caf", "huge-offset.caf", "string-offset.caf", "negative-offset.caf"])
def test_an_entry_whose_offsets_are_nonsense_leads_to_no_data(sample: Sample, name: str) -> None:
    session = opened(sample(name))
    size = session.status().layers[0].size
    for entry in of_kind(session, INDEX_ENTRY):
        found = lead(session, entry)
        assert all(span.stop <= size for each in found for span in each.covers)
        assert entry.member is not None
        known = session.now.archives[0].members[entry.member].readable
        assert any(each.words.startswith("The data of") for each in found) is known


def test_an_entry_that_leads_out_of_the_file_is_not_about_its_own_header(sample: Sample) -> None:
    session = opened(sample("header-only.bin"))
    used = [entry for entry in of_kind(session, TACO_ENTRY) if not entry.value.startswith("[0, 0]")]
    assert used
    assert [lead(session, entry) for entry in used] == [()] * len(used)
