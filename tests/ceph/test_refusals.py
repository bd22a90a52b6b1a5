"""What a real server refuses, and the sentence that this becomes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from inspector.core.source import SourceError
from tests.ceph.access_log import AccessLog
from tests.ceph.conftest import Output
from tests.s3.bucket import BUCKET, Bucket

Patches = pytest.MonkeyPatch
MANY = bytes(range(256)) * (12 << 10)


def secret(patches: Patches) -> None:
    patches.setenv("AWS_SECRET_ACCESS_KEY", "another")


def key(patches: Patches) -> None:
    patches.setenv("AWS_ACCESS_KEY_ID", "AKIANOBODYNOBODY1234")


def clock(patches: Patches) -> None:
    late = datetime.now(UTC).replace(tzinfo=None) + timedelta(hours=3)
    patches.setattr("botocore.auth.get_current_datetime", lambda: late)


def nothing(_: Patches) -> None:
    pass


@pytest.mark.parametrize(
    ("wrong", "location", "options", "words"),
    [
        (secret, "there.caf", [], "does not accept the signature of the request: the secret key"),
        (key, "there.caf", [], "does not know the access key"),
        (clock, "there.caf", [], "The clock of this machine differs too much"),
        (nothing, "there.caf", ["--no-sign-request"], f"Reading s3://{BUCKET}/there.caf is not allowed (403)"),
        (nothing, "none.caf", [], f"s3://{BUCKET}/none.caf does not exist, neither as an object nor as a prefix"),
        (nothing, "", ["--no-sign-request"], "is not allowed (403)"),
        (nothing, "../no-such-bucket/x", [], "There is no bucket no-such-bucket"),
    ],
)
def test_what_is_refused_is_a_sentence(
    bucket: Bucket,
    output: Output,
    fresh: Callable[[], list[str]],
    monkeypatch: Patches,
    wrong: Callable[[Patches], None],
    location: str,
    options: list[str],
    words: str,
) -> None:
    bucket.put("there.caf", MANY)
    place = f"s3://{BUCKET}/{location}".replace(f"{BUCKET}/../", "")
    with monkeypatch.context() as patches:
        wrong(patches)
        status, said = output("list", *fresh(), *options, place)
    assert (status, said.count("\n")) == (2, 1)
    assert words in said
    assert output("list", *fresh(), f"s3://{BUCKET}/there.caf")[0] != 2, "and then it opens"


def test_an_object_that_is_replaced_meanwhile_is_refused_by_the_server(bucket: Bucket, log: AccessLog) -> None:
    source = bucket.open(bucket.put("replaced.caf", MANY))
    bucket.put("replaced.caf", MANY[::-1])
    log.forget()
    with pytest.raises(SourceError, match="was replaced while it was open"):
        source.read(0, 10)
    assert [each.status for each in log.requests()] == [412]
    with pytest.raises(SourceError, match="was replaced while it was open"):
        source.read(100_000, 10)
    assert len(log.requests()) == 1, "it is not asked again"
    assert source.read(len(MANY) - 10, 10) == MANY[-10:]
    assert bucket.open(source.name).read(0, 10) == MANY[::-1][:10]


def test_an_object_that_has_become_smaller_is_refused_by_the_server(bucket: Bucket, log: AccessLog) -> None:
    source = bucket.open(bucket.put("smaller.caf", MANY))
    bucket.put("smaller.caf", b"x")
    log.forget()
    with pytest.raises(SourceError, match=r"was replaced|smaller than it was"):
        source.read(1_000_000, 10)
    assert {each.status for each in log.requests()} <= {412, 416}


def test_an_empty_object_opens(bucket: Bucket, log: AccessLog) -> None:
    assert bucket.open(bucket.put("empty.caf", b"")).size == 0
    assert [each.status for each in log.requests() if "empty" in each.path and each.method != "PUT"] == [416, 200]
