"""An audit as a window works with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspector.core.numbers import rounded
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.audit.audit import Job, Plan, examine, lost
from inspector.operations.audit.results import Results
from inspector.operations.protocol.audit_views import AuditRequest, Query, Result
from inspector.operations.worker import audit_server
from inspector.operations.worker.audit_server import Auditor

Sample = Callable[[str], Path]


@pytest.fixture
def folder(tmp_path: Path, sample: Sample) -> Path:
    """Two archives, one of them damaged, and a file that is none."""
    place = tmp_path / "archives"
    place.mkdir()
    for name in ("journey.caf", "flipped-blob-byte.rca"):
        (place / name).write_bytes(sample(name).read_bytes())
    (place / "notes.txt").write_text("no archive")
    return place


def test_nothing_is_known_before_an_audit() -> None:
    auditor = Auditor()
    assert auditor.page(Query(), 0, 10).total == 0
    assert auditor.status().done.files == 0


@pytest.mark.usefixtures("in_this_process")
def test_results_can_be_asked_for(folder: Path) -> None:
    auditor = Auditor()
    standing = auditor.audit(Progress(), AuditRequest((str(folder),), workers=1))
    assert (standing.done.files, standing.left.files, standing.others) == (3, 0, 1)
    assert standing.states == (("sound", 1), ("damaged", 1))
    assert standing.formats == ("caf", "rca")
    assert standing.text.startswith("2 archives, ")
    worst = auditor.page(Query(sort="state", descending=True), 0, 1).rows[0]
    assert (Path(worst.location).name, worst.state) == ("flipped-blob-byte.rca", "damaged")


def test_what_could_not_be_read_is_not_counted_as_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half_gone(plan: Plan, results: Results, *_: object) -> Iterator[Result]:
        for found in list(results.pending()):
            job = Job(found, plan.quick)
            result = examine(job, Progress()) if found.name == "journey.caf" else lost(job, "It cannot be reached.")
            results.keep(result.result)
            yield result.result

    monkeypatch.setattr(audit_server, "run", half_gone)
    text = Auditor().audit(Progress(), AuditRequest((str(folder),), workers=1)).text
    assert f"3 files, {rounded((folder / 'journey.caf').stat().st_size)} read in " in text


@pytest.mark.usefixtures("in_this_process")
def test_what_is_in_the_results_file_is_not_done_again(folder: Path, tmp_path: Path) -> None:
    wanted = AuditRequest((str(folder),), workers=1, results=str(tmp_path / "kept.audit"))
    Auditor().audit(Progress(), wanted)
    again = Auditor()
    assert again.audit(Progress(), wanted).earlier.files == 3


@pytest.mark.usefixtures("in_this_process")
def test_only_the_structure(folder: Path) -> None:
    auditor = Auditor()
    assert ("unchecked", 1) in auditor.audit(Progress(), AuditRequest((str(folder),), quick=True, workers=1)).states


def test_a_cancelled_audit_keeps_what_was_finished(folder: Path) -> None:
    auditor = Auditor()
    auditor.audit(Progress(), AuditRequest((str(folder),), workers=1))
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        auditor.audit(progress, AuditRequest((str(folder),), workers=1))
    assert auditor.status().done.files == 0
    assert auditor.audit(Progress(), AuditRequest((str(folder),), workers=1)).done.files == 3


def test_a_place_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        Auditor().audit(Progress(), AuditRequest((str(tmp_path / "nowhere"),)))
