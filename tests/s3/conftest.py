"""A server as S3 is, a proxy before it, and buckets with the samples."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import platformdirs
import pytest
from botocore.config import Config

from inspector.sources.s3.uploads.sender import remember, sender_for
from tests.patience import PATIENCE
from tests.s3.bucket import BUCKET, Bucket
from tests.s3.proxy import Proxy
from tests.s3.site import Site

KEY, SECRET, TOKEN = "AKIACANARYCANARY1234", "canary/secret+key", "canary-session-token"

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_SESSION_TOKEN": TOKEN,
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/nowhere/config",
    "AWS_SHARED_CREDENTIALS_FILE": "/nowhere/credentials",
}


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this machine knows of S3 has no part in the tests; what they know are canaries."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(autouse=True)
def no_waiting_between_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0)


def notes() -> list[Path]:
    """What is noted of uploads that have not ended."""
    return list((platformdirs.user_state_path("archive-inspector", appauthor=False) / "uploads").glob("*"))


def forget_conditions() -> None:
    """Let nothing be known of how servers treat conditions."""
    folder = platformdirs.user_state_path("archive-inspector", appauthor=False) / "conditions"
    for path in folder.glob("*"):
        path.unlink()


@pytest.fixture(autouse=True)
def no_notes_of_others() -> Iterator[None]:
    yield
    for path in notes():
        path.unlink()


@pytest.fixture(scope="session")
def moto() -> Iterator[int]:
    """The port of a server."""
    driver = Path(__file__).with_name("moto_driver.py")
    with subprocess.Popen([sys.executable, str(driver)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.stdin.close()
        process.wait(PATIENCE)


@pytest.fixture(scope="session")
def straight(moto: int) -> Iterator[Any]:
    """A client for what tests put there, past the proxy."""
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{moto}",
        aws_access_key_id="x",
        aws_secret_access_key="y",
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}),
    )
    client.create_bucket(Bucket=BUCKET)
    yield client
    client.close()


@pytest.fixture(scope="session")
def session_proxy(moto: int) -> Iterator[Proxy]:
    made = Proxy(moto)
    yield made
    made.close()


@pytest.fixture
def proxy(session_proxy: Proxy) -> Proxy:
    session_proxy.reset()
    return session_proxy


class Store(Bucket):
    """A bucket behind the proxy."""

    def __init__(self, client: Any, proxy: Proxy) -> None:
        super().__init__(client, proxy.url)
        self.proxy = proxy


@pytest.fixture
def store(straight: Any, proxy: Proxy) -> Store:
    """A server that is known to hold to conditions; ``forget_conditions`` makes it one that was never asked."""
    made = Store(straight, proxy)
    forget_conditions()
    sender = sender_for(made.connection)
    sender.server = proxy.headers()["Server"]
    for in_parts in (False, True):
        remember(sender, True, in_parts=in_parts)
    return made


@pytest.fixture(scope="session")
def server() -> Iterator[Proxy]:
    made = Proxy(0)
    yield made
    made.close()


@pytest.fixture
def site(server: Proxy, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr("inspector.sources.web.client._pause", lambda _: 0.0)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server.reset()
    made = Site(server)
    with server.failing(made.answer):
        yield made
