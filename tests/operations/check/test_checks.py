"""Checking in a session: what is said before, while and after, and what remains when it is cancelled."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from inspector.core.archive import MAX_FINDINGS_PER_SEVERITY, Emitter
from inspector.core.cause import Cause
from inspector.core.finding import FindingType, Severity
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.span import Span
from inspector.core.verdict import State, Verdict
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open import location
from inspector.operations.open.opening import Opened, decode, start
from inspector.operations.protocol.views import Stage
from inspector.operations.session.archive_session import ArchiveSession
from inspector.sources.local.file import FileSource
from tests.damage.generator import make
from tests.operations.archives import caf, opened
from tests.patience import PATIENCE

Sample = Callable[[str], Path]
ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


class Stopping(Progress):
    """Cancels itself when a stage of this name begins for the time ``after``."""

    def __init__(self, label: str, after: int) -> None:
        self.stage = label
        self.left = after
        super().__init__()

    @property
    def label(self) -> str:
        """See Progress."""
        return self._label

    @label.setter
    def label(self, label: str) -> None:
        self._label = label
        self.left -= label == self.stage
        if not self.left:
            self.cancel()


def verdicts(session: ArchiveSession) -> list[Verdict]:
    return [row.verdict for row in session.member_rows(0, 100).rows]


def test_nothing_is_called_sound_before_its_contents_were_read(sample: Sample) -> None:
    session = opened(sample("two-chunks.rca"))
    before = session.status()
    assert (before.state, before.checked) == (None, False)
    assert before.judgement == "The structure has no errors; contents are not verified."
    assert set(verdicts(session)) == {Verdict.NOT_CHECKED}

    result = session.check(Progress())
    after = session.status()
    assert (after.state, after.checked, after.judgement) == (State.SOUND, True, result.judgement)
    assert after.generation > before.generation
    assert result.judgement.startswith("Sound")
    assert Counter(verdicts(session)) == {Verdict.VERIFIED: 7}
    assert result.judged == 7
    assert set(verdicts(session)) == {Verdict.VERIFIED}


def test_the_structure_alone_tells_damage(sample: Sample) -> None:
    status = opened(sample("overlap.caf")).status()
    assert (status.state, status.checked) == (State.DAMAGED, False)
    assert status.judgement.startswith("Damaged: 1 error")
    assert status.judgement.endswith("in the structure; contents are not verified.")


def test_what_is_open_and_not_decoded_yet_has_no_state(sample: Sample) -> None:
    status = ArchiveSession(str(sample("overlap.caf"))).status()
    assert (status.state, status.judgement) == (None, "")


def test_checking_decodes_first(sample: Sample) -> None:
    session = ArchiveSession(str(sample("flipped-member-byte.tacozip")))
    result = session.check(Progress())
    assert session.status().stage is Stage.READY
    assert result.state is State.DAMAGED
    assert Counter(verdicts(session)) == {Verdict.VERIFIED: 4, Verdict.MISMATCH: 1}
    wrong = verdicts(session).index(Verdict.MISMATCH)
    assert session.member(wrong).wrong is ERROR
    assert session.place(wrong).spans[0] in [row.spans[0] for row in session.findings(0, 10, (ERROR,)).rows]


def test_checking_again_says_the_same(sample: Sample) -> None:
    session = opened(sample("flipped-member-byte.tacozip"))
    first = session.check(Progress())
    found = session.findings(0, 100)
    checksums = session.checksums(0, 100)
    assert replace(session.check(Progress()), generation=0) == replace(first, generation=0)
    assert session.findings(0, 100) == found
    assert session.checksums(0, 100) == checksums


def test_a_file_that_was_repaired_is_sound_when_it_is_checked_again(tmp_path: Path, sample: Sample) -> None:
    path = tmp_path / "repaired.tacozip"
    shutil.copy(sample("flipped-member-byte.tacozip"), path)
    session = opened(path)
    assert session.check(Progress()).state is State.DAMAGED
    wrong = verdicts(session).index(Verdict.MISMATCH)
    assert session.member(wrong).wrong is ERROR
    shutil.copyfile(sample("two-entries.tacozip"), path)

    assert session.check(Progress()).state is State.SOUND
    assert session.member(wrong).wrong is None


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges are checked one after another, so that it is known which are over."""
    monkeypatch.setattr(location, "_MAX_LOCAL_READS", 1)


@pytest.mark.usefixtures("one_by_one")
def test_cancelling_leaves_what_was_judged(sample: Sample) -> None:
    session = opened(sample("weather"))
    result = session.check(Stopping("Comparing hashes", 2))
    assert not result.checked
    assert (result.state, Counter(verdicts(session))) == (
        None,
        {Verdict.NOT_CHECKED: 2, Verdict.VERIFIED: 4},
    )
    assert result.judged == 4
    assert "cancelled" in result.judgement
    assert "in 4 of 6 members; the rest is not checked" in result.judgement
    status = session.status()
    assert (status.state, status.checked, status.judgement) == (None, False, result.judgement)
    assert verdicts(session) == [Verdict.VERIFIED] * 4 + [Verdict.NOT_CHECKED] * 2

    assert session.check(Progress()).state is State.SOUND
    assert set(verdicts(session)) == {Verdict.VERIFIED}


@pytest.mark.usefixtures("one_by_one")
def test_a_cancelled_check_still_says_what_it_has_found(tmp_path: Path, sample: Sample) -> None:
    shutil.copytree(sample("weather"), tmp_path / "weather")
    first = min((tmp_path / "weather").rglob("*.tar"))
    data = bytearray(first.read_bytes())
    data[512] ^= 1
    first.write_bytes(data)
    session = opened(tmp_path / "weather")
    result = session.check(Stopping("Comparing hashes", 2))
    assert (result.checked, result.state) == (False, State.DAMAGED)
    assert "the findings so far say damaged" in result.judgement


def test_a_check_that_was_cancelled_while_decoding_says_so(tmp_path: Path) -> None:
    progress = Progress()
    progress.cancel()
    session = ArchiveSession(str(caf(tmp_path / "small.caf")))
    with pytest.raises(Cancelled):
        session.check(progress)
    assert session.status().stage is Stage.CANCELLED
    with pytest.raises(OperationError, match="Decoding was cancelled"):
        session.check(Progress())


def test_what_cannot_be_opened_cannot_be_checked(tmp_path: Path) -> None:
    session = ArchiveSession(str(tmp_path / "nothing.caf"))
    assert session.status().state is State.UNREADABLE
    with pytest.raises(OperationError, match="does not exist"):
        session.check(Progress())


def strange(path: Path, flags: int, method: int) -> Path:
    """A ZIP of two members, the first of which has these flags and this method in both of its headers."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("secret.bin", b"secret")
        archive.writestr("plain.txt", b"plain")
    data = bytearray(path.read_bytes())
    for flags_at in (data.index(b"PK\3\4") + 6, data.index(b"PK\1\2") + 8):
        data[flags_at : flags_at + 4] = flags.to_bytes(2, "little") + method.to_bytes(2, "little")
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(("flags", "method"), [(1, 0), (1, 8), (1 | 1 << 6, 0), (1, 99), (0, 9), (0, 97), (0, 98)])
@pytest.mark.parametrize("manifest", [False, True])
def test_what_cannot_be_decoded_is_not_checkable(flags: int, method: int, manifest: bool, tmp_path: Path) -> None:
    path = strange(tmp_path / "strange.zip", flags, method)
    if manifest:  # of the content, which nobody can read here
        lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in MEANT.items()]
        Path(f"{path}.sha256").write_text("".join(lines))
    session = opened(path)
    result = session.check(Progress())
    assert verdicts(session) == [Verdict.NOT_CHECKABLE, Verdict.VERIFIED]
    assert Counter(verdicts(session)) == {Verdict.VERIFIED: 1, Verdict.NOT_CHECKABLE: 1}
    assert result.state is State.WARNING
    assert not any(row.computed for row in session.checksums(0, 10).rows if row.member == 0)


MEANT = {"secret.bin": b"secret", "plain.txt": b"plain"}


def test_plain_bytes_are_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_bytes(b"no archive")
    session = opened(path)
    assert session.status().judgement == "Unreadable: there is nothing to check."
    assert session.check(Progress()).state is State.UNREADABLE


@pytest.mark.parametrize("name", ["journey.caf", "two-chunks.rca", "two-entries.tacozip", "plain.zip", "plain.tar"])
@pytest.mark.parametrize("left", [0, -1])
def test_a_file_that_others_cut_off_is_not_sound(name: str, left: int, tmp_path: Path, sample: Sample) -> None:
    path = tmp_path / name
    shutil.copy(sample(name), path)
    session = ArchiveSession(str(path))
    session.decode(Progress())
    size = path.stat().st_size
    os.truncate(path, left % size if left else 0)
    result = session.check(Progress())
    assert result.state is State.DAMAGED
    assert "file-became-shorter" in {row.code for row in session.findings(0, 100).rows}


def test_one_check_waits_for_another_and_can_be_cancelled_meanwhile(tmp_path: Path) -> None:
    session = opened(caf(tmp_path / "small.caf"))
    first, second = Watched(), Progress()
    first.pause()
    running = threading.Thread(target=session.check, args=(first,), daemon=True)
    running.start()
    assert first.begun.wait(PATIENCE)
    assert session.status().judgement == "Checking the contents…"
    second.cancel()
    with pytest.raises(Cancelled):
        session.check(second)
    assert running.is_alive()
    first.resume()
    running.join(PATIENCE)
    assert session.status().checked


class Watched(Progress):
    """Says when the first step is made."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()

    def advance(self, count: int) -> None:
        self.begun.set()
        super().advance(count)


# ---- rows --------------------------------------------------------------------------------------------------------


def test_findings_are_filtered_by_severity(sample: Sample) -> None:
    session = opened(sample("float-offset.caf"))
    session.check(Progress())
    everything = session.findings(0, 100)
    assert len({row.severity for row in everything.rows}) > 1
    for chosen in ((ERROR,), (WARNING,), (INFO,), (ERROR, INFO), ()):
        page = session.findings(0, 100, chosen)
        assert page.rows == tuple(row for row in everything.rows if row.severity in chosen)
        assert page.total == len(page.rows)
        assert session.findings(1, 1, chosen).rows == page.rows[1:2]


def test_the_ledger_says_where_a_checksum_stands_and_what_it_covers(sample: Sample) -> None:
    path = sample("flipped-member-byte.tacozip")
    session = opened(path)
    session.check(Progress())
    page = session.checksums(0, 100)
    assert page.total == len(page.rows)
    wrong = [row for row in page.rows if row.verdict is Verdict.MISMATCH]
    assert wrong
    for row in page.rows:
        assert (row.stored == row.computed) == (row.verdict is Verdict.VERIFIED)
        assert all(Span(0, path.stat().st_size).size >= span.stop for span in (*row.place, *row.covers, *row.omits))
    assert session.checksums(1, 2).rows == page.rows[1:3]
    assert session.checksums(page.total, 5).rows == ()


def test_the_ledger_of_a_collection_goes_through_its_archives(sample: Sample) -> None:
    session = opened(sample("weather"))
    session.check(Progress())
    page = session.checksums(0, 100)
    assert {row.layer for row in page.rows} == {0, 1}
    assert {row.member for row in page.rows} >= set(range(6))
    for first in range(page.total):
        assert session.checksums(first, 2).rows == page.rows[first : first + 2]


# ---- states ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "state"),
    [
        ((), State.SOUND),
        (((INFO, "zip-remark"),), State.SOUND),
        (((WARNING, "zip-odd"),), State.WARNING),
        (((WARNING, "torn"), (INFO, "x")), State.TORN),
        (((ERROR, "torn"),), State.TORN),
        (((ERROR, "torn"), (WARNING, "zip-odd")), State.TORN),
        (((INFO, "torn"),), State.SOUND),
        (((ERROR, "zip-crc"),), State.DAMAGED),
        (((ERROR, "torn"), (ERROR, "zip-crc")), State.DAMAGED),
    ],
)
def test_the_state_that_findings_spell(found: tuple[tuple[Severity, str], ...], state: State, sample: Sample) -> None:
    assert state_of([judged(sample("journey.caf"), found)]) is state
    assert state_of([judged(sample("journey.caf"), ()), judged(sample("journey.caf"), found)]) is state


def judged(path: Path, found: tuple[tuple[Severity, str], ...]) -> Opened:
    archive = start(FileSource(path))
    assert archive.decoder is not None
    archive.decoder = archive.decoder._replace(torn=frozenset(("torn",)))
    emitter = Emitter(archive)
    for severity, code in found:
        emitter.report(FindingType(code, severity, "Something."), "Something.")
    return archive


def test_many_remarks_do_not_keep_out_the_error(sample: Sample) -> None:
    archive = judged(sample("journey.caf"), ((INFO, "x"),) * (MAX_FINDINGS_PER_SEVERITY + 5) + ((ERROR, "y"),))
    assert state_of([archive]) is State.DAMAGED
    assert archive.findings_dropped == 5


def test_a_check_forgets_what_an_earlier_one_counted(sample: Sample) -> None:
    archive = start(FileSource(sample("journey.caf")))
    decode(archive, Progress())
    archive.findings_dropped = 7
    check_archive(archive, Progress())
    assert archive.findings_dropped == 0


# ---- causes before a check -----------------------------------------------------------------------------------------


def holed(tmp_path: Path) -> Path:
    made = make("taco", Random(5))
    path = tmp_path / "holed.tacozip"
    path.write_bytes(made.data[: made.structure[0]])
    return path


def test_the_cause_of_damage_to_the_structure_is_named_before_a_check(tmp_path: Path) -> None:
    session = opened(holed(tmp_path))
    before = session.status()
    assert before.unexplained

    assert session.name_causes(Progress())

    after = session.status()
    assert after.main is not None
    assert after.main.code == Cause.TRUNCATED
    assert (after.unexplained, after.checked, after.counts) == (False, False, before.counts)
    assert after.generation > before.generation
    rows = session.findings(0, 100).rows
    assert rows[0].code == Cause.TRUNCATED
    assert all(row.beneath for row in rows[1:])
    assert not session.name_causes(Progress())


def test_a_check_looks_again_and_ends_a_look_for_causes(tmp_path: Path) -> None:
    session = opened(holed(tmp_path))
    session.name_causes(Progress())
    session.check(Progress())
    assert [row.code for row in session.findings(0, 100).rows].count(Cause.TRUNCATED) == 1

    other = opened(holed(tmp_path))
    checks = other.now.checks

    class CheckedMeanwhile(Progress):
        def advance(self, count: int) -> None:
            checks.stop_naming()
            super().advance(count)

    assert not other.name_causes(CheckedMeanwhile())
    assert not any(row.code.startswith("cause-") for row in other.findings(0, 100).rows)


def test_no_cause_is_looked_for_where_nothing_is_wrong(sample: Sample) -> None:
    session = opened(sample("two-chunks.rca"))
    assert not session.status().unexplained
    assert not session.name_causes(Progress())
