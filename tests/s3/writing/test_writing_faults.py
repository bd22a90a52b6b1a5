"""What goes wrong while an object is changed: a sentence, the object as it was, and no upload left behind."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import product
from random import Random
from threading import Event

import pytest

from inspector.core.edit import Edit, EditError, Patch
from inspector.core.program.progress import Cancelled, Progress
from inspector.sources.s3.connection import Consent
from inspector.sources.s3.sentences import ConsentNeededError
from inspector.sources.s3.source import S3Source
from inspector.sources.s3.transport import WaitLimits
from inspector.sources.s3.uploads.sender import Sender
from inspector.sources.s3.uploads.writing import write_object
from tests.s3.bad_days import BRIEFLY
from tests.s3.conftest import BUCKET, SECRET, TOKEN, Store
from tests.s3.proxy import HELD, Fault, Forward, Reply, Seen, answering, ignoring, refuse, silent, web_page
from tests.s3.writing.writing import MEBI, content, unfinished

Which = Callable[[Seen], bool]

LARGE = Random(12).randbytes(12 * MEBI)
SMALL = LARGE[:1000]
KEY = "writing/fault.bin"


def edit_of(data: bytes) -> Edit:
    at = len(data) - 100
    patches = (Patch(20, data[20:24], b"new!"), Patch(at, data[at : at + 4], b"new!"))
    return Edit("Change bytes", patches, len(data), len(data))


def changed(data: bytes) -> bytes:
    return data[:20] + b"new!" + data[24:-100] + b"new!" + data[-96:]


@pytest.fixture(params=[SMALL, LARGE], ids=["small", "large"])
def data(request: pytest.FixtureRequest) -> bytes:
    return bytes(request.param)


@pytest.fixture
def source(store: Store, data: bytes) -> S3Source:
    return store.open(store.put(KEY, data))


def is_copy(seen: Seen) -> bool:
    return "x-amz-copy-source" in {name.lower() for name in seen.headers}


def is_part(seen: Seen) -> bool:
    return seen.method == "PUT" and not is_copy(seen)


def begins(seen: Seen) -> bool:
    return seen.method == "POST" and "uploads" in seen.path


def completes(seen: Seen) -> bool:
    return seen.method == "POST" and not begins(seen)


def sends(seen: Seen) -> bool:
    """Whether something would be written by it."""
    return seen.method in ("PUT", "POST")


def when(which: Which, fault: Fault) -> Fault:
    """The fault for some requests only."""
    return lambda seen, forward: fault(seen, forward) if which(seen) else forward()


FAULTS = [
    (refuse(403, "AccessDenied"), r"was not changed: Writing .* is not allowed \(403\)"),
    (refuse(404, "NoSuchBucket"), "was not changed: There is no bucket"),
    (refuse(412, "PreconditionFailed"), "was not changed: .* was replaced meanwhile"),
    (refuse(409, "ConditionalRequestConflict"), "is being written by someone else"),
    (refuse(400, "EntityTooSmall"), "larger parts"),
    (refuse(500, "InternalError"), "failed .*, and again after 3 tries"),
    (refuse(503, "SlowDown"), "asks to slow down"),
    (refuse(418, "Teapot"), "refused"),
    (silent, r"was not changed: The connection to http://127\.0\.0\.1.* broke off while .* was written"),
]


STEPS = {
    "whole": (SMALL, is_part),
    "begins": (LARGE, begins),
    "part": (LARGE, is_part),
    "copy": (LARGE, is_copy),
    "completes": (LARGE, completes),
}


@pytest.mark.parametrize(
    ("data", "which", "fault", "words"),
    [
        # Each fault at a step or two, each step with three faults; the sweep tries all.
        pytest.param(
            *STEPS[step], *FAULTS[at], marks=() if (at + number) % 3 == 0 else pytest.mark.sweep, id=f"{step}-{at}"
        )
        for number, step in enumerate(STEPS)
        for at in range(len(FAULTS))
    ],
)
def test_every_step_that_fails_is_a_sentence_and_changes_nothing(
    store: Store, source: S3Source, data: bytes, fault: Fault, words: str, which: Which
) -> None:
    with store.proxy.failing(when(which, fault)), pytest.raises(EditError, match=words):
        write_object(source, edit_of(data), Progress())
    assert content(store, KEY) == data
    assert unfinished(store) == []


def test_an_object_that_was_replaced_before(store: Store, source: S3Source) -> None:
    store.put(KEY, b"theirs")

    with pytest.raises(EditError, match=r"was not changed: .*replaced[^{]*$"):
        write_object(source, edit_of(content_of(source)), Progress())
    assert content(store, KEY) == b"theirs"


def content_of(source: S3Source) -> bytes:
    return SMALL if source.size == len(SMALL) else LARGE


@pytest.mark.parametrize("unknowing", [False, True], ids=["conditional", "ignores conditions"])
def test_an_object_that_is_replaced_meanwhile(store: Store, source: S3Source, data: bytes, unknowing: bool) -> None:
    def theirs(seen: Seen, forward: Forward) -> Reply:
        first = is_part(seen) if len(data) > MEBI else seen.method == "GET" and "tagging" in seen.path
        if first and content(store, KEY) == data:
            store.put(KEY, b"theirs")
        return forward("If-Match") if unknowing and len(data) > MEBI else forward()

    with store.proxy.failing(theirs), pytest.raises(EditError, match=r"was not changed: .*replaced meanwhile"):
        write_object(source, edit_of(data), Progress())
    assert content(store, KEY) == b"theirs"
    assert unfinished(store) == []


def test_a_server_that_refuses_conditions_is_asked_without_on_a_word(
    store: Store, source: S3Source, data: bytes
) -> None:
    def unknowing(seen: Seen, forward: Forward) -> Reply:
        return refuse(501, "NotImplemented")(seen, forward) if sends(seen) and seen.if_match else forward()

    with store.proxy.failing(unknowing):
        with pytest.raises(EditError, match="was not changed"):
            write_object(source, edit_of(data), Progress())
        assert content(store, KEY) == data
        sent = write_object(source, edit_of(data), Progress(), Consent.UNCONDITIONAL)
    assert content(store, KEY) == changed(data)
    assert any("is unknown" in each for each in sent.warnings)


def unquoted(seen: Seen, forward: Forward) -> Reply:
    """A server that knows an ETag without quotes only, as Ceph's radosgw 16 does where it is written."""
    if sends(seen) and seen.if_match.startswith('"'):
        return refuse(412, "PreconditionFailed")(seen, forward)
    return forward("If-Match", **({"If-Match": f'"{seen.if_match}"'} if sends(seen) and seen.if_match else {}))


def test_a_server_that_wants_no_quotes_gets_none(store: Store, source: S3Source, data: bytes) -> None:
    with store.proxy.failing(unquoted):
        write_object(source, edit_of(data), Progress())
    assert content(store, KEY) == changed(data)
    assert source.etag.strip('"') in [seen.if_match for seen in store.proxy.log]


@pytest.mark.parametrize("answer", [refuse(501, "NotImplemented"), refuse(405, "MethodNotAllowed"), None])
def test_a_server_that_cannot_copy_is_sent_all_of_it_on_a_word_only(store: Store, answer: Fault | None) -> None:
    source = store.open(store.put(KEY, LARGE))
    fault = answer or ignoring("x-amz-copy-source", "x-amz-copy-source-range", "x-amz-copy-source-if-match")
    with store.proxy.failing(when(is_copy, fault)):
        with pytest.raises(ConsentNeededError, match=r"all 12.0 MiB would have to be read and sent"):
            write_object(source, edit_of(LARGE), Progress())
        assert content(store, KEY) == LARGE
        assert unfinished(store) == []

        write_object(source, edit_of(LARGE), Progress(), Consent.WHOLE)
    assert content(store, KEY) == changed(LARGE)


def test_what_nobody_can_know_is_said(store: Store) -> None:
    gone = False

    def losing(seen: Seen, forward: Forward) -> Reply:
        nonlocal gone
        gone = gone or completes(seen)
        return refuse(500, "InternalError")(seen, forward) if gone else forward()

    source = store.open(store.put(KEY, LARGE))
    with store.proxy.failing(losing), pytest.raises(EditError, match=r"It is unknown whether .* was changed"):
        write_object(source, edit_of(LARGE), Progress())
    for each in store.client.list_multipart_uploads(Bucket=BUCKET)["Uploads"]:
        store.client.abort_multipart_upload(Bucket=BUCKET, Key=each["Key"], UploadId=each["UploadId"])


def test_an_upload_that_cannot_be_aborted_is_named(store: Store) -> None:
    source = store.open(store.put(KEY, LARGE))

    def stuck(seen: Seen) -> bool:
        return is_part(seen) or seen.method == "DELETE"

    with (
        store.proxy.failing(when(stuck, refuse(403, "AccessDenied"))),
        pytest.raises(EditError, match=r"they cost money until the upload .* is aborted"),
    ):
        write_object(source, edit_of(LARGE), Progress())
    for each in store.client.list_multipart_uploads(Bucket=BUCKET)["Uploads"]:
        store.client.abort_multipart_upload(Bucket=BUCKET, Key=each["Key"], UploadId=each["UploadId"])


def test_what_arrives_otherwise_is_told(store: Store, source: S3Source, data: bytes) -> None:
    def other(seen: Seen, forward: Forward) -> Reply:
        reply = forward()
        if seen.method == "GET" and seen.if_match not in ("", source.etag):
            reply.body = bytes(len(reply.body))
        return reply

    with store.proxy.failing(other), pytest.raises(EditError, match=r"\[20, 24\) of it is not what was sent"):
        write_object(source, edit_of(data), Progress())


@pytest.mark.parametrize("which", [begins, is_copy, is_part])
def test_cancelling_leaves_the_object_as_it_was(store: Store, which: Which) -> None:
    progress = Progress()

    def cancelling(seen: Seen, forward: Forward) -> Reply:
        if which(seen):
            progress.cancel()
        return forward()

    source = store.open(store.put(KEY, LARGE))
    with store.proxy.failing(cancelling), pytest.raises(Cancelled):
        write_object(source, edit_of(LARGE), progress)
    assert content(store, KEY) == LARGE
    assert unfinished(store) == []


def test_nothing_secret_is_logged(
    store: Store, source: S3Source, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        write_object(source, edit_of(data), Progress())
        with store.proxy.failing(when(sends, refuse(403, "AccessDenied"))), pytest.raises(EditError) as error:
            write_object(store.open(source.name), edit_of(changed(data)), Progress())
    for secret in (SECRET, TOKEN, "AKIACANARY"):
        assert secret not in caplog.text
        assert secret not in str(error.value)


# ---- the answer to the request that counts --------------------------------------------------------------------------


def lands(data: bytes) -> Which:
    """The request that lets the changed object be there."""
    return completes if len(data) > MEBI else is_part


def landing(store: Store, data: bytes) -> int:
    return sum(lands(data)(seen) for seen in store.proxy.log)


@pytest.mark.parametrize(
    ("data", "lost"),
    [
        *product((SMALL, LARGE), (silent, refuse(500, "InternalError"), web_page)),
        (LARGE, refuse(404, "NoSuchUpload")),
    ],
)
def test_a_change_whose_answer_is_lost_is_not_made_again(
    store: Store, source: S3Source, data: bytes, lost: Fault
) -> None:
    def losing(seen: Seen, forward: Forward) -> Reply:
        forward()
        return lost(seen, forward)

    with store.proxy.failing(when(lands(data), losing)):
        write_object(source, edit_of(data), Progress())
    assert content(store, KEY) == changed(data)
    assert landing(store, data) == 1, "what is there was looked at, and nothing was sent again"


@pytest.mark.parametrize("lost", [silent, refuse(500, "InternalError")], ids=["reset", "500"])
def test_a_change_that_did_not_come_is_made_again_when_that_is_known(
    store: Store, source: S3Source, data: bytes, lost: Fault
) -> None:
    failed: list[Seen] = []

    def once(seen: Seen, forward: Forward) -> Reply:
        if failed or not lands(data)(seen):
            return forward()
        failed.append(seen)
        return lost(seen, forward)

    with store.proxy.failing(once):
        write_object(source, edit_of(data), Progress())
    assert content(store, KEY) == changed(data)
    first = store.proxy.log.index(failed[0])
    assert store.proxy.log[first + 1].method == "HEAD"
    assert landing(store, data) == 2


def test_an_etag_that_does_not_tell_is_said(store: Store, source: S3Source, data: bytes) -> None:
    """Servers that encrypt give ETags that no one can foretell."""
    landed: list[Seen] = []

    def encrypting(seen: Seen, forward: Forward) -> Reply:
        reply = forward()
        if lands(data)(seen):
            landed.append(seen)
            return Reply(0)
        return answering(ETag='"0123456789abcdef"')(seen, forward) if landed and seen.method == "HEAD" else reply

    with (
        store.proxy.failing(encrypting),
        pytest.raises(EditError, match=r"It is unknown whether .* another ETag than before"),
    ):
        write_object(source, edit_of(data), Progress())
    assert content(store, KEY) == changed(data)
    assert landing(store, data) == 1


def test_a_server_that_takes_too_long_is_not_waited_for(
    store: Store, source: S3Source, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    max_seconds = property(lambda self: WaitLimits(self._check_cancelled, max_seconds=BRIEFLY))
    monkeypatch.setattr(Sender, "_wait_limits", max_seconds)
    gate = Event()

    def hanging(_: Seen, _forward: Forward) -> Reply:
        gate.wait(HELD)
        return Reply(0)

    try:
        with (
            store.proxy.failing(when(lands(data), hanging)),
            pytest.raises(EditError, match=r"was not changed: .* took more than 300 seconds over"),
        ):
            write_object(source, edit_of(data), Progress())
    finally:
        gate.set()
    assert landing(store, data) == 1
