"""Diagrams: what they say of an archive is what is in it, nothing stands on anything else, and big ones stay small."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from inspector.core.kinds import Role
from inspector.core.program.progress import Progress
from inspector.core.span import Span
from inspector.drawing.diagram import Box, Diagram, Layout, laid_out
from inspector.operations.diagram.drawing import Shades, diagram_svg
from inspector.operations.diagram.shape import MAX_BOXES, diagram_of, diagram_of_all
from inspector.operations.open.listing import load
from tests.operations.archives import caf

Sample = Callable[[str], Path]
SHIPPED = sorted((Path(__file__).parents[3] / "resources" / "samples").iterdir())
DAMAGED = ("blob-past-end.rca", "out-of-range.caf", "nested.caf", "count-8.tacozip", "truncated.tar", "odd.zip")
WIDTHS = (320.0, 960.0)


def drawn(path: Path, around: int = 0) -> Diagram:
    found = diagram_of_all(load(str(path), Progress()), around=around)
    assert found is not None
    return found


def named(diagram: Diagram, column: str) -> dict[str, Box]:
    """The boxes of a column by label."""
    return {box.label: box for box in diagram.boxes if diagram.titles[box.column] == column}


def links(diagram: Diagram) -> set[tuple[str, str]]:
    """The labels that are linked."""
    return {(diagram.boxes[link.source].label, diagram.boxes[link.target].label) for link in diagram.links}


def overlapping(diagram: Diagram, layout: Layout) -> list[str]:
    """The boxes that stand on another one of their column, or outside the page."""
    found = []
    for column in range(len(diagram.titles)):
        rects = sorted(
            (rect.y, rect.y + rect.height, box.label)
            for box, own in zip(diagram.boxes, layout.boxes, strict=True)
            for rect in own
            if box.column == column
        )
        found += [two[2] for one, two in pairwise(rects) if two[0] < one[1]]
        found += [label for top, foot, label in rects if top < 0 or foot > layout.height]
    return found


def test_of_every_sample_nothing_stands_on_anything_else_and_all_links_have_ends(sample: Sample) -> None:
    paths = [path for path in SHIPPED if path.suffix != ".md"] + [sample(name) for name in DAMAGED]
    for path in paths:
        diagram = drawn(path)
        for width in WIDTHS:
            layout = laid_out(diagram, width)
            assert overlapping(diagram, layout) == [], path
            assert all(rect.x + rect.width <= layout.width for own in layout.boxes for rect in own), path
        assert all(0 <= end < len(diagram.boxes) for link in diagram.links for end in link[:2]), path
        ET.fromstring(diagram_svg(diagram, Shades(), alone=True))


def test_each_entry_of_a_caf_leads_to_the_bytes_that_it_names(sample: Sample) -> None:
    diagram = drawn(sample("journey.caf"))
    for link in diagram.links[1:]:
        entry, data = diagram.boxes[link.source], diagram.boxes[link.target]
        start, stop = data.spans[0]
        assert (entry.label, entry.detail) == (data.label, f"{start:,} to {stop:,}")
    assert len(diagram.links) == 1 + 8
    assert ("footer", "index, 8 entries") in links(diagram)


def test_a_gap_is_shown_as_wrong_where_it_is(sample: Sample) -> None:
    diagram = drawn(sample("gap.caf"))
    gap = named(diagram, "File")["gap"]
    assert (gap.spans, gap.families, "There is a gap" in gap.finding) == ((Span(4696, 4746),), (Role.GAP,), True)
    assert [box.label for box in diagram.boxes if box.finding] == ["gap"]
    assert "✗ gap" in diagram_svg(diagram, Shades())


def test_hashes_of_an_rca_lead_to_the_segments_they_cover(sample: Sample) -> None:
    assert links(drawn(sample("two-resets-spec.rca"))) == {
        ("chunk 1 header, the last", "segment 3"),
        ("reset block, hash of segment 1", "segment 1"),
        ("reset block, hash of segment 2", "segment 2"),
    }


def test_a_blob_over_a_chunk_boundary_has_two_pieces_with_the_header_between(sample: Sample) -> None:
    diagram = drawn(sample("two-chunks.rca"))
    blob, header = (
        named(diagram, "Blocks")["photos/tile_0001.png"],
        named(diagram, "Chunks")["chunk 2 header, the last"],
    )
    boxes, rects = diagram.boxes, laid_out(diagram, 960).boxes
    (one, other), (between,) = rects[boxes.index(blob)], rects[boxes.index(header)]
    assert one.y < between.y < other.y


def test_entries_of_a_taco_header_lead_to_members_unless_unused(sample: Sample) -> None:
    found = links(drawn(sample("two-entries.tacozip")))
    assert ("entry 0, METADATA/level0.parquet", "METADATA/level0.parquet") in found
    assert not [source for source, _ in found if "unused" in source]


def test_a_dataset_shows_the_keys_between_its_ranges(sample: Sample) -> None:
    diagram = drawn(sample("weather-gap"))
    assert diagram.titles == ("Keys", "Ranges", "Tar members", "Metadata rows")
    assert list(named(diagram, "Keys")) == ["1 to 2", "no range: 3 to 6", "7 to 8"]
    assert ("key 7", "0…7.json") in links(diagram)
    assert [box.archive for box in named(diagram, "Ranges").values()] == [0, 1]
    shared = named(drawn(sample("weather-overlap")), "Keys")
    assert [box.finding for label, box in shared.items() if label.startswith("in both")] != []


def test_what_is_missing_leads_nowhere_and_only_what_is_wrong_is_marked(sample: Sample) -> None:
    diagram = drawn(sample("weather-missing-row"))
    assert [source for source, _ in links(diagram)].count("no row") == 0
    assert {box.label for box in diagram.boxes if box.finding} == {"tar header", "0…3.json", "no row"}
    torn = drawn(sample("torn-after-write-2.tacozip"))
    assert {box.label for box in torn.boxes if box.finding} == {"TACO_HEADER", "central directory"}


def test_of_many_members_some_are_shown_the_rest_is_counted_and_any_can_be_asked_for(tmp_path: Path) -> None:
    path = caf(tmp_path / "many.caf", {f"file-{number:05}": b"data" for number in range(10_000)})
    (archive,) = load(str(path), Progress())
    diagram = diagram_of(archive)
    files = [box for box in diagram.boxes if box.column == 0 and box.member is not None]
    assert len(files) == sum(box.column == 1 and not box.more for box in diagram.boxes) > MAX_BOXES // 2
    left_out = [box for box in diagram.boxes if box.more and box.column == 0]
    assert len(files) <= MAX_BOXES
    assert sum(box.more for box in left_out) + len(files) == 10_000
    assert [box.label for box in left_out] == [f"… {left_out[0].more:,} more"]
    offset = left_out[0].spans[0].start + 4 * 5_000
    around = diagram_of(archive, around=offset)
    assert any(not box.more and box.spans[0].start <= offset < box.spans[0].stop for box in around.boxes if box.spans)
    # Links to what is left out end where it would stand.
    assert {link.target for link in diagram.links} <= set(range(len(diagram.boxes)))


def test_a_box_is_found_by_its_bytes_and_by_a_point(sample: Sample) -> None:
    diagram = drawn(sample("journey.caf"))
    layout = laid_out(diagram, 960)
    (at, *_) = diagram.at(0, 5_000)
    assert diagram.boxes[at].label == "photos/tile_0002.png"
    place = layout.boxes[at][0]
    assert layout.at(place.x + 3, place.y + 3) == at
    assert layout.at(2, 2) is None


@pytest.mark.parametrize("name", ["journey.caf", "two-entries.tacozip", "two-chunks.rca", "weather"])
def test_without_names_none_is_in_the_picture(name: str, sample: Sample) -> None:
    archives = load(str(sample(name)), Progress())
    diagram = diagram_of_all(archives, named=False)
    assert diagram is not None
    picture = diagram_svg(diagram, Shades())
    for archive in archives:
        for at in range(len(archive.members)):
            member = archive.members.path(at).decode()
            assert member == "TACO_HEADER" or member not in picture
            assert not [box for box in diagram.boxes if member in box.sentence and member != "TACO_HEADER"]
