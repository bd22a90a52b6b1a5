"""Which fields of the tree a wrong hash marks."""

from __future__ import annotations

from pathlib import Path

from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.formats.rca import BLOB_LAYER, RESET_BLOCK
from inspector.operations.protocol.views import FieldRow
from inspector.operations.session.archive_session import ArchiveSession
from tests.formats.rca import build
from tests.formats.rca.checking import ONE, THREE, TWO


def shown(path: Path, data: bytes) -> ArchiveSession:
    path.write_bytes(data)
    session = ArchiveSession(str(path))
    session.decode(Progress())
    return session


def rows(session: ArchiveSession, path: tuple[int, ...]) -> tuple[FieldRow, ...]:
    return session.field_rows(0, path, 0, 100).rows


def blob_layer(session: ArchiveSession) -> tuple[int, ...]:
    return next(row.path for row in rows(session, ()) if row.kind is BLOB_LAYER)


def test_a_wrong_hash_marks_the_segment_it_covers_and_itself_but_not_the_segment_it_opens(tmp_path: Path) -> None:
    data = bytearray(build.archive(ONE, TWO, THREE))
    data[10 + 40] ^= 0xFF  # within the first segment
    session = shown(tmp_path / "marks.rca", bytes(data))
    segments = rows(session, blob_layer(session))
    assert [row.wrong for row in segments] == [Severity.ERROR, None, None]
    reset = rows(session, segments[1].path)[0]
    assert reset.kind is RESET_BLOCK
    assert reset.wrong is Severity.ERROR
    assert [row.wrong for row in rows(session, reset.path)] == [None, Severity.ERROR]


def test_a_wrong_last_hash_marks_the_last_segment_with_its_reset_block(tmp_path: Path) -> None:
    data = bytearray(build.archive(ONE, TWO))
    data[-2] ^= 0xFF
    session = shown(tmp_path / "marks.rca", bytes(data))
    first, second = rows(session, blob_layer(session))
    assert first.wrong is None
    assert second.wrong is Severity.ERROR
