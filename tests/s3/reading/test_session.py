"""A session on S3: what a window asks, from an object that is decoded sparingly until it is checked."""

from __future__ import annotations

from pathlib import Path

from inspector.core.program.progress import Progress
from inspector.core.verdict import State
from inspector.operations.protocol.views import Stage
from inspector.operations.session.archive_session import ArchiveSession
from tests.s3.conftest import Store
from tests.s3.proxy import refuse
from tests.s3.reading.test_locations import dataset, taco


def ready(session: ArchiveSession) -> ArchiveSession:
    session.decode(Progress())
    assert session.status().stage is Stage.READY
    return session


def names(session: ArchiveSession) -> list[str]:
    return [row.name for row in session.member_rows(0, 20).rows]


def test_an_archive_is_listed_checked_and_listed_again(store: Store, tmp_path: Path) -> None:
    data = taco(5_000, tmp_path)
    (tmp_path / "here.tacozip").write_bytes(data)
    here = ready(ArchiveSession(str(tmp_path / "here.tacozip")))
    there = ready(ArchiveSession(store.put("session.tacozip", data), store.connection))
    assert len(store.proxy.log) == 2
    for _ in range(2):
        assert names(there) == names(here)
        assert there.status().members == here.status().members == 5_001
        assert [row.name for row in there.field_rows(0, (), 0, 20).rows] == [
            row.name for row in here.field_rows(0, (), 0, 20).rows
        ]
        assert there.check(Progress()).state is here.check(Progress()).state is State.SOUND
    assert there.status().size == len(data)


def test_a_dataset_opens(store: Store) -> None:
    session = ready(ArchiveSession(f"{dataset(store, 'session', 3)}/", store.connection))
    assert session.status().members == 30
    assert session.read(0, 0, 20) == b"%020d" % 1


def test_what_cannot_be_opened_says_so(store: Store) -> None:
    with store.proxy.failing(refuse(403, "AccessDenied")):
        session = ArchiveSession("s3://archives/x.caf", store.connection)
    assert session.status().stage is Stage.FAILED
    assert "not allowed (403)" in session.status().sentence


def test_what_is_replaced_while_it_is_looked_at_is_a_sentence(store: Store, tmp_path: Path) -> None:
    location = store.put("gone.tacozip", taco(5_000, tmp_path))
    session = ready(ArchiveSession(location, store.connection))
    store.put("gone.tacozip", b"another")
    result = session.check(Progress())
    assert result.state is State.UNREADABLE
    assert any("was replaced while it was open" in row.message for row in session.findings(0, 100).rows)
