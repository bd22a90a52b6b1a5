"""Every bad day of a server or a network ends in a sentence, or is got over."""

from __future__ import annotations

import threading
from contextlib import closing
from random import Random
from threading import Event

import pytest
from botocore.exceptions import HTTPClientError

from inspector.core import limits
from inspector.core.program.progress import Cancelled, Progress, cancelling
from inspector.core.source import SourceError
from inspector.operations.open.opening import open_place
from inspector.sources.s3 import client
from inspector.sources.s3.address import parse
from inspector.sources.s3.cache import BLOCK_BYTES
from inspector.sources.s3.client import client_for
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.sentences import Failure, sentence
from inspector.sources.s3.source import MAX_WHOLE_BYTES, TAIL_BYTES, S3Source
from tests.patience import PATIENCE, until
from tests.s3.conftest import Store
from tests.s3.proxy import (
    Fault,
    Forward,
    Reply,
    Seen,
    answering,
    cut,
    dripping,
    fewer,
    ignoring,
    rangeless,
    refuse,
    stalling,
    web_page,
)

DATA = Random(7).randbytes(2 * TAIL_BYTES)


@pytest.fixture(autouse=True)
def _no_tries_used_up() -> None:
    """botocore counts the retries of a client, and makes no more of them after some hundred failures."""
    client_for.cache_clear()


@pytest.fixture
def source(store: Store) -> S3Source:
    return store.open(store.put("faults.caf", DATA))


SENTENCES = [
    (refuse(403, "AccessDenied"), r"Reading s3://archives/faults.caf is not allowed \(403\)"),
    (refuse(403), r"is not allowed \(403\)"),
    (refuse(403, "InvalidAccessKeyId"), "does not know the access key"),
    (refuse(403, "SignatureDoesNotMatch"), "does not accept the signature"),
    (refuse(403, "RequestTimeTooSkewed"), "clock of this machine"),
    (refuse(400, "ExpiredToken"), "credentials have expired"),
    (refuse(404, "NoSuchKey"), "does not exist"),
    (refuse(404, "NoSuchBucket"), "There is no bucket archives at http://127.0.0.1"),
    (refuse(412, "PreconditionFailed"), "was replaced while it was open"),
    (refuse(416, "InvalidRange"), "smaller than it was said to be"),
    (refuse(301, "PermanentRedirect"), "in another region"),
    (refuse(500, "InternalError"), "failed .*, and again after 3 tries"),
    (refuse(503, "SlowDown"), "asks to slow down"),
    (refuse(503), "is not available now"),
    (refuse(418, "Teapot", "short and stout"), "refused to give .*: Teapot: short and stout"),
    (refuse(200, "ExpressionError"), "replaced"),
    (answering(Content_Range=f"bytes 5-{BLOCK_BYTES + 4}/{len(DATA)}"), "sent other bytes of"),
    (answering(Content_Range="bytes nonsense"), "does not say which bytes"),
    (answering(Content_Range=f"bytes 0-{BLOCK_BYTES - 1}/{len(DATA) + 1}"), "was replaced"),
    (answering(ETag='"another"'), "was replaced"),
    (cut(100), "broke off"),
    (cut(0), "broke off"),
    (fewer, "broke off"),
    (rangeless, "does not say which bytes"),
    (web_page, "answered with a web page instead of s3://archives/faults.caf"),
    (refuse(307, "TemporaryRedirect"), "sends the request in a circle"),
    (refuse(429), r"asks to slow down \(429\)"),
]


@pytest.mark.parametrize(("fault", "words"), SENTENCES, ids=[words[:30] for _, words in SENTENCES])
def test_a_read_that_fails_is_a_sentence_and_what_is_there_stays(
    store: Store, source: S3Source, fault: Fault, words: str
) -> None:
    with store.proxy.failing(fault), pytest.raises(SourceError, match=words):
        source.read(0, 10)
    assert source.read(len(DATA) - 10, 10) == DATA[-10:]
    if not source.replaced:
        assert source.read(0, 10) == DATA[:10]


@pytest.mark.parametrize(("fault", "words"), SENTENCES[:8] + SENTENCES[11:14], ids=lambda value: str(value)[:30])
def test_an_opening_that_fails_is_a_sentence(store: Store, fault: Fault, words: str) -> None:
    location = store.put("faults.caf", DATA)
    with store.proxy.failing(fault), pytest.raises(SourceError, match=words):
        store.open(location)


@pytest.mark.parametrize("fault", [cut(100), fewer, cut(BLOCK_BYTES // 4), refuse(503, "SlowDown"), refuse(500)])
def test_what_fails_once_or_twice_is_tried_again(store: Store, source: S3Source, fault: Fault) -> None:
    store.proxy.fail(fault, fault)
    assert source.read(0, 10) == DATA[:10]
    assert source.log.totals.requests == 4


def test_a_server_that_ignores_preconditions_gives_no_bytes_of_another_object(store: Store, source: S3Source) -> None:
    store.put("faults.caf", DATA[::-1])
    with store.proxy.failing(ignoring("If-Match")), pytest.raises(SourceError, match="was replaced"):
        source.read(0, 10)


def test_a_server_that_ignores_ranges_serves_small_objects_only(store: Store) -> None:
    small = store.put("small.caf", DATA)
    large = store.put("large.caf", bytes(MAX_WHOLE_BYTES + 1))
    with store.proxy.failing(ignoring("Range")):
        assert store.open(small).read(5, 10) == DATA[5:15]
        with pytest.raises(SourceError, match="ignores ranges"):
            store.open(large)
    source = store.open(large)
    with store.proxy.failing(ignoring("Range")), pytest.raises(SourceError, match="ignores ranges"):
        source.read(0, 10)
    assert source.log.requests()[-1].received == 0


def test_a_range_of_an_object_whose_size_is_not_said_is_asked_for(store: Store) -> None:
    """``bytes 0-9/*`` says which bytes they are, and not of how many: a request more does."""

    def sizeless(_: Seen, forward: Forward) -> Reply:
        reply = forward()
        said = next((name for name in reply.headers if name.lower() == "content-range"), "")
        if said:
            reply.headers[said] = f"{reply.headers[said].partition('/')[0]}/*"
        return reply

    with store.proxy.failing(sizeless):
        source = store.open(store.put("faults.caf", DATA))
        store.proxy.reset()
        assert (source.size, source.read(len(DATA) - 10, 10)) == (len(DATA), DATA[-10:])
        assert store.proxy.log == []
        assert source.read(0, 10) == DATA[:10]


def test_a_web_page_that_is_an_object_is_read(store: Store) -> None:
    location = store.put("page.html", b"<html></html>")
    with store.proxy.failing(answering(Content_Type="text/html", x_amz_request_id="1")):
        assert store.open(location).read(0, 6) == b"<html>"


def test_a_server_that_gives_a_wrong_end_is_asked_again(store: Store) -> None:
    def head_for_tail(seen: Seen, forward: Forward) -> Reply:
        return forward("Range", Range=f"bytes=0-{TAIL_BYTES - 1}") if seen.range.startswith("bytes=-") else forward()

    location = store.put("faults.caf", DATA)
    with store.proxy.failing(head_for_tail):
        source = store.open(location)
        assert source.size == len(DATA)
        assert source.read(len(DATA) - 10, 10) == DATA[-10:]


def test_nothing_answers() -> None:
    nowhere = Connection(endpoint="http://127.0.0.1:9")
    with closing(client_for(nowhere)), pytest.raises(SourceError, match=r"no connection to http://127\.0\.0\.1:9\. Is"):
        open_place("s3://archives/x.caf", nowhere)


def test_a_server_that_falls_silent(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client.Client, "read_timeout", 0.2)
    location, gate = store.put("faults.caf", DATA), Event()
    impatient = Connection(endpoint=store.proxy.url, region="eu-north-1")
    with closing(client_for(impatient)), store.proxy.failing(stalling(gate)):
        with pytest.raises(SourceError, match="sent nothing for 30 seconds"):
            open_place(location, impatient)
        gate.set()


def endless(seen: Seen, forward: Forward) -> Reply:
    """What is asked for comes, and then zeros without end; nothing says how many bytes there are."""
    reply = forward()
    reply.endless = seen.method == "GET" and not seen.listing
    return reply


def test_a_body_without_end_is_read_to_the_promised_one(store: Store) -> None:
    for tail in ("faults.caf", "faults.rca"):
        location = store.put(tail, DATA)
        with store.proxy.failing(endless):
            source = store.open(location)
            assert source.read(0, len(DATA)) == DATA
        assert source.log.totals.received <= len(DATA) + BLOCK_BYTES


def test_all_of_an_object_without_end_is_not_held_in_memory(store: Store) -> None:
    """It ignores ranges, too, and promises nothing."""
    location = store.put("faults.caf", DATA)
    with (
        store.proxy.failing(lambda seen, forward: endless(seen, lambda: forward("Range"))),
        pytest.raises(SourceError, match="ignores ranges"),
    ):
        store.open(location)


@pytest.mark.parametrize(
    "time", ["+99999999999999", "Mon, 01 Jan 0001 00:00:00 -0000", "1 Jan 2020 0:00 +99999999999999", "soon"]
)
def test_a_time_that_no_clock_shows_is_none(store: Store, time: str) -> None:
    location = store.put("faults.caf", DATA)
    with store.proxy.failing(answering(Last_Modified=time)):
        source = store.open(location)
        assert source.read(0, 10) == DATA[:10]


def test_a_server_that_drips_is_given_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client.Client, "read_timeout", 0.4)
    location = store.put("faults.caf", DATA)
    impatient = Connection(endpoint=store.proxy.url, region="eu-north-2")
    with closing(client_for(impatient)), store.proxy.failing(dripping):
        with pytest.raises(SourceError, match=r"sends less than 1,024 bytes a second of s3://archives/faults.caf"):
            open_place(location, impatient)
        monkeypatch.setenv(limits.SLOWEST.variable, "0")
        assert client_for(impatient)._wait_limits.min_bytes_per_second == 0


def test_cancelling_closes_the_body_in_the_middle(store: Store, source: S3Source) -> None:
    progress, began, gate = Progress(), Event(), Event()
    ended: list[BaseException] = []

    def slow(seen: Seen, forward: Forward) -> Reply:
        began.set()
        return stalling(gate)(seen, forward)

    def work() -> None:
        with cancelling(progress):
            try:
                source.read(0, TAIL_BYTES)
            except Cancelled as error:
                ended.append(error)

    with store.proxy.failing(slow):
        thread = threading.Thread(target=work)
        thread.start()
        began.wait(PATIENCE)
        progress.cancel()
        thread.join(PATIENCE)
        until(lambda: not source.log.in_flight(), "the end of the request")
        gate.set()
    assert len(ended) == 1
    assert source.log.requests()[-1].received < TAIL_BYTES


def test_a_version_that_may_not_be_read_is_read_as_the_object_with_that_etag(store: Store) -> None:
    def versioned(seen: Seen, forward: Forward) -> Reply:
        if "versionId" in seen.path:
            return refuse(403, "AccessDenied")(seen, forward)
        return answering(x_amz_version_id="v1")(seen, forward)

    location = store.put("faults.caf", DATA)
    with store.proxy.failing(versioned):
        source = store.open(location)
        assert source.version == "v1"
        assert source.read(0, 10) == DATA[:10]
    assert "versionId=v1" in store.proxy.log[1].path


def test_a_circle_is_told_wherever_in_a_request_the_stack_ends() -> None:
    """botocore's HTTP client makes an error of its own of whatever is raised in it."""
    try:
        raise RecursionError
    except RecursionError as cause:
        error = HTTPClientError(error=cause)
        error.__context__ = cause

    told = sentence(Failure(parse("s3://archives/faults.caf"), 0, "GET"), error)
    assert "sends the request in a circle" in str(told)
