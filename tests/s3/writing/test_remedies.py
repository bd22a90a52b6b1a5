"""What may help when S3 does not give what is asked, and what a desk tells of its requests."""

from __future__ import annotations

import pytest

from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.protocol.browse_views import ErrorAction
from inspector.operations.session.archive_session import ArchiveSession
from inspector.operations.session.remote import problem_of
from inspector.sources.s3.sentences import S3Error
from tests.gui.s3.s3_store import wide
from tests.s3.conftest import Store
from tests.s3.proxy import Forward, Reply, Seen, refuse

R = ErrorAction


@pytest.mark.parametrize(
    ("status", "code", "remedies"),
    [
        (403, "AccessDenied", (R.UNSIGNED, R.CONNECTION)),
        (403, "ExpiredToken", (R.RETRY, R.CONNECTION)),
        (403, "RequestTimeTooSkewed", (R.RETRY,)),
        (404, "NoSuchBucket", (R.CONNECTION,)),
        (412, "PreconditionFailed", (R.RELOAD,)),
        (416, "InvalidRange", (R.RELOAD,)),
        (503, "SlowDown", (R.RETRY,)),
        (400, "ExpressionError", (R.CONNECTION,)),
        (301, "PermanentRedirect", (R.CONNECTION,)),
        (0, "NoCredentialsError", (R.CONNECTION, R.UNSIGNED)),
        (0, "EndpointConnectionError", (R.RETRY, R.CONNECTION)),
        (0, "ReadTimeoutError", (R.RETRY,)),
    ],
)
def test_every_failure_has_something_that_may_help(status: int, code: str, remedies: tuple[ErrorAction, ...]) -> None:
    error = S3Error("No.", status, code)
    trouble = problem_of(error, "s3://b/k", anonymous=False)
    assert (trouble.sentence, trouble.actions, trouble.region) == ("No.", remedies, "")
    unsigned = problem_of(error, "s3://b/k", anonymous=True).actions
    assert R.UNSIGNED not in unsigned
    assert unsigned


def test_what_is_no_failure_of_s3_is_looked_into() -> None:
    assert problem_of(SourceError("x"), "s3://b/k", anonymous=False).actions == (R.BROWSE,)
    assert problem_of(SourceError("x"), "s3:///k", anonymous=False).actions == (R.CONNECTION,)


def test_the_region_that_the_server_names_is_offered(store: Store) -> None:
    def elsewhere(seen: Seen, forward: Forward) -> Reply:
        reply = refuse(400, "AuthorizationHeaderMalformed")(seen, forward)
        reply.body = reply.body.replace(b"</Error>", b"<Region>eu-south-7</Region></Error>")
        return reply

    with store.proxy.failing(elsewhere):
        state = ArchiveSession("s3://archives/far.zip", store.connection).remote()
    assert state is not None
    assert state.trouble is not None
    assert (state.trouble.actions, state.trouble.region) == ((R.REGION,), "eu-south-7")


def test_a_desk_tells_what_it_cost(store: Store) -> None:
    desk = ArchiveSession(store.put("desk.zip", wide(30)), store.connection)
    desk.decode(Progress())
    desk.overview(Progress(), 0, 500)
    desk.field_rows(0, (0,), 0, 500)
    state = desk.remote()
    assert state is not None
    assert state.trouble is None
    assert state.totals.requests == len(desk.requests()) == len(store.proxy.log) == 2
    assert desk.cached(0)[-1].stop == state.size == desk.status().size
    assert desk.read(0, 0, 4) == b"PK\3\4"
    assert desk.cached(0)[0].start == 0


def test_a_failing_read_is_told_until_one_succeeds(store: Store) -> None:
    desk = ArchiveSession(store.put("fails.zip", wide(30)), store.connection)
    desk.decode(Progress())
    with store.proxy.failing(refuse(403, "AccessDenied")), pytest.raises(SourceError):
        desk.read(0, 1_000_000, 10)
    state = desk.remote()
    assert state is not None
    assert state.trouble is not None
    desk.read(0, 2_000_000, 10)
    state = desk.remote()
    assert state is not None
    assert state.trouble is None


def test_a_desk_on_this_computer_has_nothing_to_tell() -> None:
    assert ArchiveSession("/nowhere/at/all.zip").remote() is None
