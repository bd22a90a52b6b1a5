"""What the window asks of an archive on S3 that it changes: previews, sending, and what is known after a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.core.edit import EditError, Patch
from inspector.core.program.progress import Cancelled, Progress
from inspector.operations.edit.edits import header_draft
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.browse_views import ErrorAction
from inspector.operations.protocol.edit_views import NeedsConsent, WriteResult
from inspector.operations.protocol.header_draft import set_entry
from inspector.operations.session.archive_session import ArchiveSession
from inspector.sources.s3.connection import Consent
from tests.operations.create.creations import Stopping
from tests.s3.conftest import Store
from tests.s3.proxy import Forward, Reply, Seen, refuse, silent
from tests.s3.writing.writing import MEBI, content, taco, unfinished
from tests.sweeping import in_the_sweep

KEY = "desk/archive.tacozip"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return taco(tmp_path_factory.mktemp("taco"), [6 * MEBI, 7 * MEBI])


@pytest.fixture
def desk(store: Store, data: bytes) -> ArchiveSession:
    made = ArchiveSession(store.put(KEY, data), store.connection)
    made.decode(Progress())
    return made


def edited(desk: ArchiveSession, entry: tuple[int, int] = (200, 300)):  # type: ignore[no-untyped-def] # an Edit
    draft = header_draft(desk.disk.archives[0])
    return desk.header_edit(set_entry(draft, 0, entry))


def first_entry(desk: ArchiveSession) -> tuple[int, int]:
    entry = desk.header(None).entries[0]
    return entry.offset, entry.length


def test_a_preview_takes_as_few_requests_as_opening(desk: ArchiveSession, store: Store) -> None:
    edit = edited(desk)
    before = len(store.proxy.log)

    desk.preview(Progress(), edit)

    assert len(store.proxy.log) - before <= 2
    assert first_entry(desk) == (200, 300)
    state = desk.remote()
    assert state is not None, "what is pending hides no costs"
    assert state.totals.requests == len(store.proxy.log) == len(desk.requests())
    assert desk.cached(0), "nor what is kept"


def test_what_is_sent_is_told_and_then_sent(desk: ArchiveSession, store: Store) -> None:
    edit = edited(desk)
    asked = len(store.proxy.log)
    lines = desk.upload_preview(edit)
    assert len(store.proxy.log) == asked, "telling takes no request"
    assert lines[0] == "bytes 0 to 5,242,880: 5.0 MiB, read and sent again"
    assert lines[-1].startswith("It takes a multipart upload of 3 parts")
    assert desk.remote() is not None
    etag = store.client.head_object(Bucket="archives", Key=KEY)["ETag"]
    assert etag in lines[-1]

    result = desk.write(Progress(), edit)

    assert isinstance(result, WriteResult)
    assert first_entry(desk) == (200, 300)
    state = desk.remote()
    assert state is not None
    assert (state.trouble, state.totals.requests) == (None, len(store.proxy.log)), "one log for before and after"
    fresh = store.client.head_object(Bucket="archives", Key=KEY)["ETag"]
    assert fresh != etag
    assert result.revert is not None
    assert fresh in desk.upload_preview(result.revert)[-1], "what is shown now is the new object"


def test_taking_back_sends_what_stood_there(desk: ArchiveSession, store: Store, data: bytes) -> None:
    result = desk.write(Progress(), edited(desk))
    assert isinstance(result, WriteResult)
    assert result.revert is not None

    desk.write(Progress(), result.revert)

    assert content(store, KEY) == data
    assert first_entry(desk) == (1, 2)


def test_one_that_was_replaced_is_left_alone_and_can_be_read_again(
    desk: ArchiveSession, store: Store, data: bytes
) -> None:
    edit = edited(desk)
    theirs = data.replace(b"\1" * 99, b"\7" * 99)
    store.put(KEY, theirs)

    with pytest.raises(EditError, match=r"was not changed: .* replaced meanwhile"):
        desk.write(Progress(), edit)

    state = desk.remote()
    assert state is not None
    assert state.trouble is not None
    assert state.trouble.actions == (ErrorAction.RELOAD,)
    assert "was not changed" in state.trouble.sentence
    assert content(store, KEY) == theirs
    assert unfinished(store) == []

    desk.reload(Progress(), edit)
    assert desk.remote() is not None
    assert first_entry(desk) == (200, 300), "the change fits, so it is still pending"
    assert isinstance(desk.write(Progress(), edit), WriteResult)
    assert content(store, KEY) != theirs
    state = desk.remote()
    assert state is not None
    assert state.trouble is None


def test_a_change_that_does_not_fit_the_new_one_stays_with_the_old(desk: ArchiveSession, store: Store) -> None:
    edit = edited(desk)
    desk.preview(Progress(), edit)
    store.put(KEY, b"other")

    with pytest.raises(OperationError, match="is for a file of"):
        desk.reload(Progress(), edit)

    assert first_entry(desk) == (200, 300)
    assert desk.upload_preview(edit)


@pytest.mark.parametrize(
    ("method", "fault"),
    [
        *(("PUT", silent), ("POST", refuse(403, "AccessDenied"))),
        *(in_the_sweep("PUT", refuse(403, "AccessDenied")), in_the_sweep("PUT", refuse(500, "InternalError"))),
        *(in_the_sweep("POST", silent), in_the_sweep("POST", refuse(500, "InternalError"))),
    ],
)
def test_every_failure_is_a_sentence_and_leaves_the_change(
    desk: ArchiveSession,
    store: Store,
    data: bytes,
    fault,
    method: str,  # type: ignore[no-untyped-def] # a Fault
) -> None:
    edit = edited(desk)

    def failing(seen: Seen, forward: Forward) -> Reply:
        return fault(seen, forward) if seen.method == method else forward()

    with store.proxy.failing(failing), pytest.raises(EditError, match=r"^s3://.* was not changed: "):
        desk.write(Progress(), edit)

    assert content(store, KEY) == data
    assert unfinished(store) == []
    assert isinstance(desk.write(Progress(), edit), WriteResult), "and the same change can be tried again"


def test_a_server_that_cannot_copy_is_said_to_want_all_of_it(desk: ArchiveSession, store: Store) -> None:
    edit = edited(desk)

    def failing(seen: Seen, forward: Forward) -> Reply:
        copies = any(name.lower() == "x-amz-copy-source" for name in seen.headers)
        return refuse(501, "NotImplemented")(seen, forward) if copies else forward()

    with store.proxy.failing(failing):
        result = desk.write(Progress(), edit)
        assert isinstance(result, NeedsConsent)
        assert "would have to be read and sent" in result.sentence
        assert unfinished(store) == []
        assert desk.upload_preview(edit, Consent.WHOLE)[0].startswith("bytes 0 to 13,")

        assert isinstance(desk.write(Progress(), edit, Consent.WHOLE), WriteResult)
    assert first_entry(desk) == (200, 300)


def test_cancelling_says_that_nothing_was_changed(desk: ArchiveSession, store: Store, data: bytes) -> None:
    with pytest.raises(EditError, match="was not changed: writing it was cancelled"):
        desk.write(Stopping(MEBI), edited(desk))
    assert content(store, KEY) == data
    assert unfinished(store) == []


def test_what_is_written_and_cannot_be_read_again_is_written(desk: ArchiveSession, store: Store, data: bytes) -> None:
    edit = edited(desk)
    completed = False

    def failing(seen: Seen, forward: Forward) -> Reply:
        nonlocal completed
        if completed and seen.range.startswith("bytes=-"):
            return silent(seen, forward)
        completed = completed or (seen.method == "POST" and "uploadId" in seen.path)
        return forward()

    with store.proxy.failing(failing):
        result = desk.write(Progress(), edit)

    assert isinstance(result, WriteResult)
    assert "Reading it again was not possible" in " ".join(result.warnings)
    assert content(store, KEY) != data
    state = desk.remote()
    assert state is not None
    assert state.trouble is not None
    assert state.trouble.actions == (ErrorAction.RELOAD,)


def test_a_small_archive_is_repaired_in_place(store: Store, tmp_path: Path) -> None:
    whole = taco(tmp_path, [1000])
    desk = ArchiveSession(store.put("desk/torn.tacozip", whole + b"garbage"), store.connection)
    desk.decode(Progress())
    consent = ("zip-rebuild-end",)
    shown = desk.plan_repairs(Progress(), consent)
    assert shown.edit is not None

    result = desk.make_repairs(Progress(), consent, "")

    assert isinstance(result, WriteResult)
    assert result.kept is not None
    assert Path(result.kept.path).read_bytes()[result.kept.offset :].startswith(b"garbage")
    assert content(store, "desk/torn.tacozip") == whole
    assert desk.status().checked
    assert str(desk.status().state) == "sound"


def test_a_copy_can_be_cancelled(desk: ArchiveSession, tmp_path: Path) -> None:
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        desk.save_copy(progress, edited(desk), str(tmp_path / "copy"), False)
    assert list(tmp_path.iterdir()) == []


def test_an_edit_of_bytes_is_compared_before_anything_is_sent(desk: ArchiveSession, store: Store, data: bytes) -> None:
    edit = edited(desk)
    wrong = type(edit)(edit.label, (Patch(0, b"??", b"!!"),), edit.old_size, edit.new_size)
    with pytest.raises(EditError, match="has other bytes"):
        desk.write(Progress(), wrong)
    assert all(seen.method in ("GET", "HEAD") for seen in store.proxy.log)
    assert content(store, KEY) == data
