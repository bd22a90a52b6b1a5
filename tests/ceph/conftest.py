"""A real S3 server: Ceph's radosgw, started once for all tests of this folder, and stopped whatever comes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import boto3
import pytest
from botocore.config import Config

from inspector.__main__ import main
from inspector.sources.s3.client import client_for
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.uploads.sender import sender_for
from tests.ceph.access_log import AccessLog
from tests.ceph.cluster import KEY, SECRET, CephError, Cluster, running
from tests.s3.bucket import BUCKET, Bucket
from tests.s3.conftest import ENVIRONMENT

HERE = Path(__file__).parent

Output = Callable[..., tuple[int, str]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is in this folder needs Ceph, and is left out unless it is asked for."""
    here = f"{HERE}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker("ceph")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        try:
            found = stack.enter_context(running())
        except CephError as error:
            pytest.fail(str(error), pytrace=False)
        yield found


@pytest.fixture(scope="session")
def straight(cluster: Cluster) -> Iterator[Any]:
    """A client for what tests put there."""
    client = boto3.client(
        "s3",
        endpoint_url=cluster.url,
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}, max_pool_connections=20),
    )
    client.create_bucket(Bucket=BUCKET)
    yield client
    client.close()


@pytest.fixture(scope="session")
def session_log(cluster: Cluster) -> AccessLog:
    def ask(mark: str) -> None:
        try:
            urlopen(f"{cluster.url}/{mark}").close()
        except HTTPError as error:
            error.close()

    return AccessLog(cluster.log, ask)


@pytest.fixture
def log(session_log: AccessLog) -> AccessLog:
    session_log.forget()
    return session_log


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this machine knows of S3 has no part in the tests."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ENVIRONMENT.items():
        if "TOKEN" not in name:
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


@pytest.fixture
def bucket(straight: Any, cluster: Cluster) -> Bucket:
    return Bucket(straight, cluster.url)


@pytest.fixture
def output(capsysbinary: pytest.CaptureFixture[bytes]) -> Output:
    """The exit status of the program, and what it writes."""

    def run(*arguments: str) -> tuple[int, str]:
        status = main(arguments)
        written = capsysbinary.readouterr()
        return status, (written.out + written.err).decode("utf-8", "surrogateescape")

    return run


@pytest.fixture
def fresh(cluster: Cluster) -> Iterator[Callable[[], list[str]]]:
    """Options for a connection that nothing was remembered of: another region each time, which radosgw ignores."""
    made: list[Connection] = []

    def options() -> list[str]:
        made.append(Connection(endpoint=cluster.url, region=f"region-{len(made)}"))
        return ["--endpoint-url", cluster.url, "--region", made[-1].region]

    yield options
    client_for.cache_clear()
    sender_for.cache_clear()
