"""Plots of sizes: their numbers are those of the archive, each bar has the bytes it counts, and big ones stay small."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.drawing.sizes import ALL, Bar, Scale, Scope, SizePlot, how_to_read, laid_out, numbers_of
from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.core.span import Span
from inspector.operations.diagram.sizes import MAX_BARS, sizes_of
from inspector.operations.diagram.sizes_drawing import sizes_svg
from inspector.operations.diagram.svg import Shades
from inspector.operations.open.listing import load
from tests.operations.archives import caf

Sample = Callable[[str], Path]
SIZES = [number % 7 for number in range(10_050)]


def plotted(path: Path, scope: Scope = ALL) -> SizePlot:
    found = sizes_of(load(str(path), Progress()), scope=scope)
    assert found is not None
    return found


def numbers(plot: SizePlot) -> list[tuple[str, int | None, int | None]]:
    return [(bar.label, bar.stored, bar.content) for bar in plot.bars]


def test_an_rca_has_a_bar_for_each_segment_and_in_it_one_for_each_member(sample: Sample) -> None:
    plot = plotted(sample("two-chunks.rca"))
    assert numbers(plot) == [("segment 1", 36_710, 40_716), ("segment 2", 491, 3_171)]
    assert [bar.ratio for bar in plot.bars] == ["90 %", "15 %"]
    assert plot.bars[0].spans == (Span(10, 32_768), Span(32_780, 36_743))  # without the chunk header between
    assert plot.bars[1].inside == Scope(0, 5, 7)
    inside = plotted(sample("two-chunks.rca"), Scope(0, 5, 7))
    assert numbers(inside) == [("station-4/2024-05.log", 266, 1_585), ("station-5/2024-05.log", 225, 1_586)]
    assert sum(bar.stored or 0 for bar in inside.bars) == plot.bars[1].stored
    assert [plot.at(0, offset) for offset in (0, 700, 32_770, 36_743, 37_247)] == [None, 0, None, 1, 1]


def test_one_segment_is_shown_by_its_members(sample: Sample) -> None:
    assert [bar.label for bar in plotted(sample("torn-at-boundary.rca")).bars][-1] == "noise.bin"


def test_of_a_damaged_segment_only_what_was_decoded_counts_and_is_said_to(sample: Sample) -> None:
    plot = plotted(sample("flipped-blob-byte.rca"))
    assert (plot.bars[0].stored, plot.bars[0].content) == (268, 1_583)
    assert "only what could be decoded is counted" in plot.bars[0].sentence
    assert "only what" not in plot.bars[2].sentence


def test_members_of_one_size_with_their_content_need_one_column(sample: Sample) -> None:
    plot = plotted(sample("journey.caf"))
    assert numbers(plot)[3] == ("track/points.csv", 459, 459)
    assert [numbers_of(plot, bar) for bar in plot.bars][3] == ("459 B",)
    assert "the same as the content" in plot.sentence
    mixed = plotted(sample("plain.zip"))
    assert [bar.ratio for bar in mixed.bars] == ["100 %", "100 %", "102 %", "87 %"]
    assert "the same" not in mixed.sentence
    assert [bar.label for bar in plotted(sample("plain.tar")).bars] == ["journey/readme.txt", "journey/empty.dat"]


def test_a_dataset_has_a_bar_for_each_range_with_headers_and_padding(sample: Sample) -> None:
    plot = plotted(sample("weather"))
    assert numbers(plot) == [("0…1-0…4.tar", 5_120, 998), ("0…5-0…6.tar", 3_072, 501)]
    assert plot.at(1, 600) == 1
    assert [bar.label for bar in plotted(sample("weather"), Scope(1, 0, 2)).bars] == ["0…5.json", "0…6.txt"]


def test_many_members_share_bars_that_can_be_asked_for(tmp_path: Path) -> None:
    path = caf(tmp_path / "many.caf", {f"file-{number:05}": b"x" * size for number, size in enumerate(SIZES)})
    plot = plotted(path)
    assert len(plot.bars) <= MAX_BARS
    assert sum(bar.content or 0 for bar in plot.bars) == sum(SIZES)
    assert plot.sentence.startswith(f"10,050 members in {len(plot.bars)} bars: ")
    assert (plot.bars[1].label, plot.bars[1].inside) == ("members 102 to 202", Scope(0, 101, 202))
    assert plot.bars[1].spans == (Span(sum(SIZES[:101]), sum(SIZES[:202])),)
    again = plotted(path, Scope(0, 101, 202))
    assert sum(bar.content or 0 for bar in again.bars) == plot.bars[1].content


def test_what_an_index_says_counts_though_something_is_wrong(tmp_path: Path) -> None:
    path = caf(tmp_path / "far.caf", {f"file-{number:03}": b"data" for number in range(300)})
    path.write_bytes(path.read_bytes().replace(b'"end_byte": 1200', b'"end_byte": 9200'))
    plot = plotted(path)
    assert any(each.severity is Severity.ERROR for each in load(str(path), Progress())[0].findings)
    assert sum(bar.content or 0 for bar in plot.bars) == 299 * 4 + 8_004
    assert not [bar for bar in plot.bars if "decoded" in bar.sentence]


def test_sizes_far_apart_have_a_logarithmic_scale_that_keeps_their_order() -> None:
    sizes = [1, 3, 1_000, 70_000_000]
    scale = Scale(sizes)
    assert [scale.is_logarithmic, Scale([1, 999]).is_logarithmic] == [True, False]
    assert [scale.share(each) for each in sizes] == sorted(scale.share(each) for each in sizes)
    assert all(0 <= scale.share(each) <= 1 for each in (0, *sizes, *scale.lines))
    bars = tuple(Bar(str(each), each, each) for each in (0, *sizes))
    plot = SizePlot(bars, 5, "member", "stored")
    assert how_to_read(plot) == "Logarithmic scale: each line is 1,024 times the one before"
    widths = [stored.width for _, stored in laid_out(plot, 700).bars if stored is not None]
    assert widths[0] == 0 < widths[1] < widths[2] < widths[3] < widths[4]


def test_what_is_not_known_is_said_and_never_a_share() -> None:
    bar = Bar("a", None, 7)
    plot = SizePlot((bar, Bar("b", 3, 6)), 2, "member", "stored")
    assert bar.ratio == "–"
    assert numbers_of(plot, bar) == ("not known", "7 B", "–")
    assert plot.sentence == "2 members: 3 B stored for 6 B of content (50 %), as far as sizes are known"
    assert laid_out(plot, 700).bars[0][1] is None


def test_columns_of_numbers_end_at_the_right_edge_at_even_distances() -> None:
    layout = laid_out(SizePlot((Bar("a", 3, 6),), 1, "member", "stored"), 700)
    places = [right for _, right in layout.numbers]
    left = layout.label.x
    assert places[-1] == 700 - left
    assert places[1] - places[0] == places[2] - places[1] > 0
    assert layout.track.x + layout.track.width == places[0] - (places[1] - places[0])


@pytest.mark.parametrize("name", ["journey.caf", "two-entries.tacozip", "two-chunks.rca", "weather"])
def test_the_picture_is_xml_and_without_names_none_is_in_it(name: str, sample: Sample) -> None:
    archives = load(str(sample(name)), Progress())
    plot = sizes_of(archives, named=False)
    assert plot is not None
    picture = sizes_svg(plot, Shades(), alone=True)
    ET.fromstring(picture)
    said = picture + "".join(bar.sentence for bar in plot.bars)
    assert not [
        path
        for each in archives
        for row in range(len(each.members))
        if (path := each.members.path(row).decode()) in said
    ]


def test_one_member_is_no_plot(tmp_path: Path) -> None:
    assert sizes_of(load(str(caf(tmp_path / "one.caf", {"a": b"data"})), Progress())) is None
