"""Quick ways of working against slow and plain ones."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.field import Field, FieldTable, parent, runs, tile
from inspector.core.kinds import Family, Kind, Role, family_bit, family_of, role_bit, role_of
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, SplicedSource
from inspector.core.span import Span
from inspector.formats._kinds import INDEX
from inspector.formats.rca import BLOB_BLOCK
from inspector.operations.open.location import Location
from inspector.operations.open.opening import Opened
from inspector.operations.open.overview import overview
from inspector.operations.protocol.views import SortKey
from inspector.operations.session import navigation as searching
from inspector.operations.session.layers import StreamMapping
from inspector.operations.session.members import arrangement
from inspector.operations.session.members.members_view import MembersView

NAMES = st.lists(
    st.text(st.sampled_from("aAbß/.\0é\n"), max_size=12).map(str.encode) | st.binary(max_size=20), max_size=30
)


def view_of(names: Sequence[bytes]) -> MembersView:
    archive = Opened(BytesSource(b""), "bytes", "bytes", ())
    for number, name in enumerate(names):
        archive.members.append(name, number, 2 * number)
    return MembersView(Location([archive]), lambda _: pytest.fail("no marks are needed"))


# ---- names -----------------------------------------------------------------------------------------------------


def shown(view: MembersView) -> list[int]:
    assert view._arrangement is not None
    return [int(member) for member in view._arrangement.order]


@given(NAMES, st.booleans())
def test_names_are_sorted_by_their_bytes(names: list[bytes], descending: bool) -> None:
    view = view_of(names)
    assert view.arrange("", SortKey.NAME, descending, Progress()) == len(names)
    order = sorted(range(len(names)), key=lambda index: (names[index], index))
    assert shown(view) == (order[::-1] if descending else order)


@given(NAMES, st.text(st.sampled_from("aAbß/.é‹\n"), min_size=1, max_size=3))
def test_filtering_looks_at_what_is_shown(names: list[bytes], text: str) -> None:
    view = view_of(names)
    expected = [index for index, name in enumerate(names) if text.lower() in visible(name).lower()]
    assert view.arrange(text, SortKey.ARCHIVE, False, Progress()) == len(expected)
    assert shown(view) == expected
    assert [view.flat_place(index) for index in expected] == list(range(len(expected)))


@given(st.lists(st.text("abB", max_size=5).map(str.encode), max_size=40), st.text("abB", min_size=1, max_size=4))
def test_filtering_plain_names_keeps_to_their_borders(names: list[bytes], text: str) -> None:
    view = view_of(names)
    expected = [index for index, name in enumerate(names) if text.lower().encode() in name.lower()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrangement, "NAMES_PER_STEP", 7)
        view.arrange(text, SortKey.ARCHIVE, False, Progress())
    assert shown(view) == expected


def naive(paths: list[tuple[bytes, int]]) -> list[object]:
    """Rows of a folder: ``(name, rows, own member)`` for folders, then ``(name, member)``."""
    folders: dict[bytes, list[tuple[bytes, int]]] = {}
    files: list[tuple[bytes, int]] = []
    for path, member in sorted(paths):
        head, slash, rest = path.partition(b"/")
        if slash:
            folders.setdefault(head, []).append((rest, member))
        else:
            files.append((path, member))
    found: list[object] = []
    # Folders stand in the order of their names with the slash.
    for head in sorted(folders, key=lambda name: name + b"/"):
        inside = folders[head]
        own = next((member for rest, member in inside if not rest), None)
        found.append((visible(head) or "/", naive([each for each in inside if each[1] != own]), own))
    return found + [(visible(name) or "‹no name›", member) for name, member in files]


def planted(view: MembersView, node: int = 0) -> list[object]:
    tree = view._tree
    assert tree is not None
    found: list[object] = []
    for row in range(tree.count(node)):
        name, inner, _, member = tree.row(node, row)
        if inner < 0:
            found.append((name, member))
        else:
            found.append((name, planted(view, inner), member))
    return found


@given(NAMES, st.sampled_from(["", "a", "/"]))
def test_the_tree_is_the_naive_tree(names: list[bytes], text: str) -> None:
    view = view_of(names)
    view.arrange(text, SortKey.ARCHIVE, False, Progress())
    view.build_tree(Progress())
    kept = [(name, index) for index, name in enumerate(names) if text in visible(name).lower()]
    assert planted(view) == naive(kept)
    for index in range(len(names)):
        rows = view.tree_place(index)
        assert bool(rows) == (index in {member for _, member in kept})
        if rows:
            assert _member_at(view, rows) == index


def _member_at(view: MembersView, rows: tuple[int, ...]) -> int | None:
    assert view._tree is not None
    node, member = 0, None
    for row in rows:
        _, node, _, member = view._tree.row(node, row)
    return member


# ---- fields ----------------------------------------------------------------------------------------------------

KINDS = [Kind.DATA, Kind.GAP, Kind.DIGEST, INDEX, Kind.NUMBER, Kind.PADDING]


@st.composite
def trees(
    draw: st.DrawFn, start: int = 0, most: int = 60, depth: int = 3, around: Family | None = None
) -> tuple[list[Field], int]:
    """Fields one after another from ``start`` on, some of them tables; where they stop."""
    found: list[Field] = []
    at = start
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(KINDS))
        # What a table says of its rows' roles would depend on what a parent without a role of its own inherits.
        if depth and kind is not Kind.NUMBER and draw(st.booleans()):
            inside, stop = draw(trees(at, most // 2, depth - 1, family_of(kind, around)))
            children: Sequence[Field] = inside
            if draw(st.booleans()):
                role = role_of(kind)
                children = FieldTable(
                    array("Q", [each.start for each in inside]),
                    inside.__getitem__,
                    [_bits(each, role, family_of(kind, around)) for each in inside],
                )
            found.append(Field("parent", kind, (Span(at, stop),), children=children))
        else:
            stop = at + draw(st.integers(0, most))
            found.append(Field("leaf", kind, (Span(at, stop),)))
        at = stop
    return found, at


def _bits(each: Field, role: Role, around: Family | None) -> int:
    family = family_of(each.kind, around)
    if not each.children:
        own = role_bit(role_of(each.kind, role)) | (0 if family is None else family_bit(family))
        return own if each.spans[0].size else 0
    bits = 0
    for child in each.children:
        bits |= _bits(child, role_of(each.kind, role), family)
    return bits


@given(trees(), st.integers(1, 50))
def test_the_overview_is_exact(made: tuple[list[Field], int], rows: int) -> None:
    fields, size = made
    expected = [0] * rows
    if size:
        of_byte = [0] * size
        for run in runs(fields, 0, size):
            family = run.structure.family if run.structure is not None else None
            bits = role_bit(run.role) | (0 if family is None else family_bit(family))
            of_byte[run.start : run.stop] = [bits] * (run.stop - run.start)
        for row in range(rows):
            start = row * size // rows
            for bits in of_byte[start : max(start + 1, (row + 1) * size // rows)]:
                expected[row] |= bits
    assert overview(fields, size, rows, Progress()) == expected


def test_a_gap_of_one_byte_in_64_gib_is_seen() -> None:
    size, at = 64 << 30, (64 << 30) // 3
    fields = tile(
        [Field("a", Kind.DATA, (Span(0, at),)), Field("b", Kind.DATA, (Span(at + 1, size),))], [Span(0, size)]
    )
    seen = overview(fields, size, 1000, Progress())
    assert [row for row, bits in enumerate(seen) if bits & role_bit(Role.GAP)] == [at * 1000 // size]


@given(trees(), st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(1, 9))
def test_inner_fields_own_the_same_bytes(made: tuple[list[Field], int], cuts: list[int], header: int) -> None:
    laid, stop = made
    size = max(stop, 1)
    spans, at = [], 0
    for cut in cuts:  # chunks: a header, which is no part of the stream, then payload
        spans.append(Span(min(at + header, size), min(at + header + cut, size)))
        at += header + cut
    stream = SplicedSource(BytesSource(bytes(size)), spans, "stream")
    fields = tile(laid, [Span(0, size)])
    inner = runs(StreamMapping(stream).fields(fields), 0, stream.size)
    assert [run.start for run in inner] == [0, *(run.stop for run in inner[:-1])] or not stream.size
    of_byte = {at: run for run in runs(fields, 0, size) for at in range(run.start, run.stop)}
    for run in inner:
        for position in range(run.start, run.stop):
            (outer,) = stream.outer(position, position + 1)
            assert (run.kind, run.role) == (of_byte[outer.start].kind, of_byte[outer.start].role)


def test_inner_fields_join_what_a_header_cut_in_two() -> None:
    block = parent("block", BLOB_BLOCK, (Span(2, 10), Span(14, 20)), [])
    stream = SplicedSource(BytesSource(bytes(20)), [Span(2, 10), Span(14, 20)], "stream")
    (moved,) = StreamMapping(stream).fields(tile([block], [Span(2, 10), Span(14, 20)]))
    assert moved.spans == (Span(0, 14),)


# ---- searching -------------------------------------------------------------------------------------------------


@given(st.binary(max_size=40).map(lambda data: data.replace(b"\0", b"aA")), st.binary(max_size=3), st.integers(-1, 50))
def test_searching_finds_what_find_finds(data: bytes, pattern: bytes, start: int) -> None:
    pattern = pattern or b"aA"[: start % 3]
    source = BytesSource(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "WINDOW_BYTES", 4)
        for ignore_case in (False, True):
            hay, needle = (data.lower(), pattern.lower()) if ignore_case else (data, pattern)
            forwards = searching.search(source, pattern, start, False, ignore_case, Progress())
            backwards = searching.search(source, pattern, start, True, ignore_case, Progress())
            if not pattern:
                assert forwards is backwards is None
                continue
            first = hay.find(needle, max(0, start))
            assert forwards == (None if first < 0 else first)
            last = hay.rfind(needle, 0, max(0, start) + len(needle) - 1)
            assert backwards == (None if last < 0 else last)


def test_searching_crosses_windows_of_a_file() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "large"
        needle, at = b"needle", searching.WINDOW_BYTES - 3
        with path.open("wb") as file:
            file.seek(at)
            file.write(needle)
            file.truncate(2 * searching.WINDOW_BYTES + 1)
        data = BytesSource(path.read_bytes())
    assert searching.search(data, needle, 0, False, False, Progress()) == at
    assert searching.search(data, needle.upper(), data.size, True, True, Progress()) == at
    assert searching.search(data, needle, at + 1, False, False, Progress()) is None
    assert searching.search(data, needle, at, True, False, Progress()) is None
