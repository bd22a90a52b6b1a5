"""A session on small archives: what a face is told."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.finding import Severity, first_sentence
from inspector.core.kinds import Kind, Role, role_bit
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.span import Span
from inspector.formats.rca import CHUNK_HEADER
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.views import Chosen, LayerKind, SortKey, Stage
from inspector.operations.session.archive_session import ArchiveSession
from tests.operations.archives import CONTENTS, caf, opened

Sample = Callable[[str], Path]


@pytest.fixture
def session(tmp_path: Path) -> ArchiveSession:
    return opened(caf(tmp_path / "small.caf"))


def names(session: ArchiveSession) -> list[str]:
    return [row.name for row in session.member_rows(0, 100).rows]


def test_bytes_are_shown_before_anything_is_decoded(tmp_path: Path) -> None:
    path = caf(tmp_path / "small.caf")
    session = ArchiveSession(str(path))
    before = session.status()
    assert (before.stage, before.format, before.size) == (Stage.OPENING, "caf", path.stat().st_size)
    assert session.read(0, 0, 5) == b"zwei\n"
    assert session.explain(0, 3).fields[0].note == "Not decoded yet."
    session.decode(Progress())
    after = session.status()
    assert (after.stage, after.members, after.counts) == (Stage.READY, 4, ())
    assert after.generation > before.generation
    assert session.status().generation == after.generation
    assert "4 members" in after.sentence


def test_plain_bytes_say_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"nothing in particular")
    session = opened(path)
    status = session.status()
    assert (status.stage, status.format) == (Stage.READY, "bytes")
    assert "plain bytes" in status.sentence
    assert [row.code for row in session.findings(0, 10).rows] == ["unknown-format"]
    assert session.runs(0, 0, 21)[0].kind is Kind.BYTES


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    for location, words in (
        (str(tmp_path / "no"), "does not exist"),
        ("ftp://host/a", "nothing is read from ftp:// addresses"),
    ):
        session = opened(Path(location)) if "://" not in location else ArchiveSession(location)
        status = session.status()
        assert status.stage is Stage.FAILED
        assert words in status.sentence
        assert session.status().layers == ()
        for key in SortKey:
            assert session.arrange(Progress(), "x", key, True) == session.arrange(Progress(), "", key, True) == 0
        session.build_tree(Progress())
        assert session.tree_rows(0, 0, 10).total == session.findings(0, 10).total == 0
        with pytest.raises(OperationError):
            session.read(0, 0, 1)


def test_a_file_url_opens(tmp_path: Path) -> None:
    path = caf(tmp_path / "with space.caf")
    assert ArchiveSession(path.as_uri()).status().format == "caf"


def test_decoding_can_be_cancelled(tmp_path: Path) -> None:
    session = ArchiveSession(str(caf(tmp_path / "small.caf")))
    progress = Progress()
    progress.cancel()
    session.decode(progress)
    assert session.status().stage is Stage.CANCELLED
    assert session.read(0, 0, 4) == b"zwei"


def test_fields_runs_and_explanations_speak_of_the_same(session: ArchiveSession) -> None:
    rows = session.field_rows(0, (), 0, 10).rows
    assert [row.name for row in rows] == ["data section", "index", "footer"]
    first = session.field_rows(0, (0,), 0, 1)
    assert (first.total, first.rows[0].spans) == (4, (Span(0, 5),))
    assert session.field(0, first.rows[0].path) == first.rows[0]
    assert session.field(0, (9, 9)) is None
    assert session.field_rows(0, (9,), 0, 5).total == 0
    for run in session.runs(0, 0, session.status().layers[0].size):
        explanation = session.explain(0, run.start)
        assert explanation.fields[-1].path == run.path
        assert (explanation.fields[-1].kind, explanation.fields[-1].role) == (run.kind, run.role)
    assert session.explain(0, 5).member == 1
    assert session.explain(0, -1).fields == ()
    assert session.explain(0, 1 << 60).fields == ()


def test_members_are_filtered_and_sorted(session: ArchiveSession) -> None:
    assert names(session) == list(CONTENTS)
    arrange = session.arrange
    assert arrange(Progress(), "", SortKey.NAME, False) == 4
    assert names(session) == ["B.TXT", "a.txt", "b/one.bin", "b/two.txt"]
    arrange(Progress(), "", SortKey.SIZE, True)
    assert names(session) == ["b/one.bin", "B.TXT", "b/two.txt", "a.txt"]
    assert arrange(Progress(), "B", SortKey.OFFSET, False) == 3
    assert names(session) == ["b/two.txt", "b/one.bin", "B.TXT"]
    assert len(session.chosen(Chosen(rows=((0, 9),)))) == 3
    assert session.place(1).flat is None
    assert session.place(3).flat == 2
    assert arrange(Progress(), "TXT", SortKey.ARCHIVE, True) == 3
    assert names(session) == ["B.TXT", "a.txt", "b/two.txt"]
    for key in SortKey:
        assert arrange(Progress(), "", key, False) == 4
    assert arrange(Progress(), "nothing", SortKey.NAME, False) == 0
    assert arrange(Progress(), "é", SortKey.NAME, False) == 0
    assert session.member_rows(0, 5).total == 0


def test_the_tree_shows_what_the_table_shows(session: ArchiveSession) -> None:
    assert session.tree_rows(0, 0, 10).total == 0
    session.build_tree(Progress())
    root = session.tree_rows(0, 0, 10).rows
    assert [(row.name, row.members) for row in root] == [("b", 2), ("B.TXT", 1), ("a.txt", 1)]
    assert [row.name for row in session.tree_rows(root[0].node, 0, 10).rows] == ["one.bin", "two.txt"]
    assert session.place(0).tree == (0, 1)
    assert sorted(session.chosen(Chosen(nodes=(root[0].node,)))) == [0, 2]
    assert sorted(session.chosen(Chosen(stretches=((0, 0, 2),)))) == [0, 2, 3]
    assert list(session.chosen(Chosen(rows=((1, 2), (3, 9)), nodes=(99,)))) == [1, 2, 3]
    session.arrange(Progress(), ".txt", SortKey.SIZE, False)
    session.build_tree(Progress())
    assert session.place(2).tree == ()
    assert session.place(0).tree == (0, 0)
    assert session.tree_rows(99, 0, 10).total == 0


def test_content_is_a_layer(session: ArchiveSession) -> None:
    content = session.content(Progress(), 3)
    assert (content.encoding, content.image, content.sentence) == ("utf-8", None, "")
    layer = content.layer
    assert (layer.kind, layer.size, layer.member) == (LayerKind.CONTENT, 8, 3)
    assert session.read(layer.layer, 0, 100) == CONTENTS["B.TXT"]
    assert layer in session.status().layers
    assert session.explain(layer.layer, 2).member == 3
    assert session.content(Progress(), 3).layer == layer
    assert session.content(Progress(), 2).encoding is None


def test_only_so_many_contents_are_kept(tmp_path: Path) -> None:
    session = opened(caf(tmp_path / "many.caf", {f"{number}": b"x" * number for number in range(40)}))
    layers = [session.content(Progress(), number).layer for number in range(40)]
    assert session.read(layers[-1].layer, 0, 100) == b"x" * 39
    with pytest.raises(OperationError, match=r"^Layer 1 does not exist\.$"):
        session.read(layers[0].layer, 0, 1)
    assert len(session.status().layers) < 20
    again = session.content(Progress(), 0).layer
    assert session.read(again.layer, 0, 1) == b""


def test_findings_mark_what_they_are_about(tmp_path: Path) -> None:
    session = opened(caf(tmp_path / "gap.caf", gap=b"??"))
    page = session.findings(0, 10)
    assert page.total == len(page.rows) > 0
    (gap,) = [row for row in page.rows if row.spans and row.spans[0].size == 2]
    assert gap.severity in (Severity.WARNING, Severity.ERROR)
    explanation = session.explain(0, gap.spans[0].start)
    assert explanation.fields[-1].wrong is gap.severity
    assert any(severity is gap.severity and gap.message.startswith(said) for severity, said in explanation.findings)
    assert session.explain(0, 0).fields[-1].wrong is None
    assert dict(session.status().counts)[gap.severity] >= 1
    roles = session.overview(Progress(), 0, 10_000)
    assert role_bit(Role.GAP) in roles
    assert session.findings(page.total, 10).rows == ()


def test_the_inner_stream_is_a_layer_without_chunk_headers(sample: Sample) -> None:
    path = sample("two-chunks.rca")
    session = opened(path)
    _, inner = session.status().layers
    assert (inner.kind, inner.layer) == (LayerKind.INNER, 1)
    data = path.read_bytes()
    headers = [session.field(0, (0, number)) for number in range(2)]
    kept = bytearray(data)
    for row in reversed(headers):
        assert row is not None
        assert row.kind is CHUNK_HEADER
        del kept[row.spans[0].start : row.spans[0].stop]
    whole = b"".join(session.read(1, at, 1 << 20) for at in range(0, inner.size, 1 << 20))
    assert whole == kept[: inner.size]
    runs = session.runs(1, 0, inner.size)
    assert [run.start for run in runs] == [0, *(run.stop for run in runs[:-1])]
    assert runs[-1].stop == inner.size
    # A block across the boundary has two extents in the file and one here.
    crossing = session.explain(1, session.runs(0, 0, 0x8000)[-1].stop - 10).fields[-1]
    assert len(crossing.spans) == 1
    in_file = session.explain(0, 0x8000 - 1).fields[-1]
    assert len(in_file.spans) == 2
    assert (crossing.name, crossing.value, crossing.spans[0].size) == (
        in_file.name,
        in_file.value,
        sum(span.size for span in in_file.spans),
    )


@pytest.mark.parametrize("name", ["two-chunks.rca", "pretty.caf", "tacotoolbox.tacozip", "pax.tar"])
def test_every_member_has_its_content(sample: Sample, name: str) -> None:
    session = opened(sample(name))
    total = session.status().members
    assert total
    for row in session.member_rows(0, total).rows:
        content = session.content(Progress(), row.index)
        assert (content.layer.size, content.sentence) == (row.size, "")


def test_jobs_stop_when_asked(session: ArchiveSession) -> None:
    progress = Progress()
    progress.cancel()
    for job in (
        lambda: session.arrange(progress, "a", SortKey.NAME, False),
        lambda: session.build_tree(progress),
        lambda: session.search(progress, 0, b"a", 0, False, False),
        lambda: session.overview(progress, 0, 10),
    ):
        with pytest.raises(Cancelled):
            job()


def test_a_folder_of_ranges_is_many_files(sample: Sample) -> None:
    session = opened(sample("weather-gap"))
    status = session.status()
    assert status.collection
    session.build_tree(Progress())
    dataset = session.tree_rows(0, 0, 10).rows
    assert len(dataset) == 1
    ranges = session.tree_rows(dataset[0].node, 0, 10).rows
    assert len(ranges) == len(session.status().layers) > 1
    assert sum(row.members for row in ranges) == status.members
    last = session.place(status.members - 1)
    assert last.layer == len(ranges) - 1
    row = session.member(status.members - 1)
    assert session.explain(last.layer, last.spans[0].start).member == row.index
    found = session.goto(f"member:{row.name}", 0, 0)
    assert (found.layer, found.start) == (last.layer, last.spans[0].start)
    assert session.read(session.content(Progress(), row.index).layer.layer, 0, row.size) == session.read(
        last.layer, last.spans[0].start, row.size
    )


def test_the_first_line_of_a_folder_names_the_range_that_is_missing(sample: Sample) -> None:
    gap = opened(sample("weather-gap")).status()
    assert gap.main is not None
    assert first_sentence(gap.main.message) == "No range of the dataset weather has the keys 3 to 6."
    assert gap.main.message.endswith("which is allowed.")
    assert gap.state is None  # it is no error

    assert opened(sample("weather")).status().main is None


def test_a_range_that_goes_does_not_hide_the_others(sample: Sample, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    shutil.copytree(sample("weather-gap"), folder)
    session = ArchiveSession(str(folder))
    last = max(folder.rglob("*.tar"))
    last.unlink()
    session.decode(Progress())
    assert session.status().stage is Stage.READY
    found = [row for row in session.findings(0, 100).rows if row.code == "unreadable"]
    assert [row.layer for row in found] == [len(session.status().layers) - 1]
    assert last.name in found[0].message
    assert session.status().members > 0
