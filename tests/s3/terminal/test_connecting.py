"""How S3 is reached: what is sent, and that nothing secret is said anywhere."""

from __future__ import annotations

import logging
import pickle
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.core.program.log_handlers import LOGGERS
from inspector.core.program.progress import Progress
from inspector.core.program.redaction import redacted, strip_credentials
from inspector.core.source import SourceError
from inspector.operations.open.opening import open_place
from inspector.sources.s3.client import boto_client, client_for
from inspector.sources.s3.connection import Attempt, Connection
from inspector.sources.s3.opening import attempt
from tests.s3.bad_days import wide
from tests.s3.conftest import BUCKET, KEY, SECRET, TOKEN, Store
from tests.s3.proxy import Fault, Forward, Reply, Seen, refuse, silent, web_page

CANARIES = (KEY, SECRET, TOKEN, "Signature=")
SECRET_IN_ADDRESS = "user:hush@bucket"


@contextmanager
def closing_clients(*connections: Connection) -> Iterator[None]:
    try:
        yield
    finally:
        for each in connections:
            client_for(each).close()


def test_requests_are_signed_unless_they_are_anonymous(store: Store) -> None:
    location = store.put("signed.caf", b"x")
    store.client.put_object_acl(Bucket=BUCKET, Key="signed.caf", ACL="public-read")
    anonymous = Connection(endpoint=store.proxy.url, anonymous=True)
    with closing_clients(anonymous):
        open_place(location, store.connection)
        open_place(location, anonymous)
    signed, unsigned = store.proxy.log
    assert KEY in signed.headers["Authorization"]
    assert "Authorization" not in unsigned.headers


def test_requester_pays(store: Store) -> None:
    paying = Connection(endpoint=store.proxy.url, requester_pays=True)
    with closing_clients(paying):
        open_place(store.put("paid.caf", b"x"), paying)
    assert store.proxy.log[0].headers["x-amz-request-payer"] == "requester"


def test_the_bucket_stands_in_the_path_of_other_servers(store: Store) -> None:
    open_place(store.put("path.caf", b"x"), store.connection)
    assert store.proxy.log[0].path.startswith(f"/{BUCKET}/path.caf")


def test_amazons_own_servers_have_a_host_for_each_bucket() -> None:
    plain = Connection(region="eu-central-1")
    with closing_clients(plain):
        assert client_for(plain).endpoint == "https://s3.eu-central-1.amazonaws.com"


def test_a_profile_is_used(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
    config.write_text(
        f"[profile field]\nregion = eu-west-3\nendpoint_url = {store.proxy.url}\n"
        "aws_access_key_id = AKIAPROFILE\naws_secret_access_key = z\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    profile = Connection(profile="field")
    with closing_clients(profile):
        open_place(store.put("profile.caf", b"x"), profile)
    assert "AKIAPROFILE/" in store.proxy.log[0].headers["Authorization"]
    assert "/eu-west-3/s3/" in store.proxy.log[0].headers["Authorization"]


def test_an_unknown_profile_is_a_sentence() -> None:
    with pytest.raises(SourceError, match="There is no such profile"):
        open_place("s3://archives/x", Connection(profile="nobody"))


def test_no_credentials_are_a_sentence(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    bare = Connection(endpoint=store.proxy.url, region="us-west-1")
    with closing_clients(bare), pytest.raises(SourceError, match=r"No credentials were found .*without signing"):
        open_place(f"s3://{BUCKET}/x.caf", bare)
    assert store.proxy.log == []


def test_an_endpoint_without_a_scheme_is_a_sentence() -> None:
    with pytest.raises(SourceError, match=r"The endpoint localhost:9000 lacks the https:// or http://"):
        open_place("s3://archives/x", Connection(endpoint="localhost:9000"))


def test_a_configuration_with_a_mistake_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
    config.write_text("[profile field\nregion = eu-west-3\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    with pytest.raises(SourceError, match=rf"a mistake in its syntax: .*{config.name}\. Correct it there"):
        open_place("s3://archives/x", Connection(region="eu-west-4"))


def test_a_program_for_credentials_that_fails_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
    config.write_text(f'[profile field]\ncredential_process = "{sys.executable}" -c "raise SystemExit(3)"\n')
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    failing = Connection(profile="field", endpoint="http://127.0.0.1:9", region="eu-west-5")
    with pytest.raises(SourceError, match=r"could not be had: .*custom-process\. Run what its configuration names"):
        open_place("s3://archives/x", failing)


# ---- where the bucket stands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("connection", "configured", "address"),
    [
        (Connection(endpoint="https://s3.example.org"), "", "https://s3.example.org/archives/x"),
        (Connection(endpoint="https://s3.example.org"), "virtual", "https://archives.s3.example.org/x"),
        (
            Connection(endpoint="https://s3.example.org", addressing="path"),
            "virtual",
            "https://s3.example.org/archives/x",
        ),
        (Connection(endpoint="https://s3.example.org", addressing="virtual"), "", "https://archives.s3.example.org/x"),
        (Connection(region="eu-west-1", addressing="path"), "", "https://s3.eu-west-1.amazonaws.com/archives/x"),
    ],
)
def test_the_bucket_stands_where_the_user_or_the_profile_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connection: Connection, configured: str, address: str
) -> None:
    (tmp_path / "config").write_text(f"[default]\ns3 =\n  addressing_style = {configured}\n" if configured else "")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    with closing(boto_client(connection, 1)) as made:
        signed = made.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "x"})
    assert signed.partition("?")[0] == address


def test_the_option_says_where_the_bucket_stands(store: Store) -> None:
    location = store.put("style.zip", wide(1))
    assert main(["list", *store.options, "--addressing-style", "path", location]) == 0
    assert store.proxy.log[0].path.startswith(f"/{BUCKET}/style.zip")


# ---- trying a connection -------------------------------------------------------------------------------------------


def test_an_attempt_says_in_a_sentence_what_was_reached_and_how(store: Store) -> None:
    location = store.put("tried/a.caf", b"x")
    how = f"at {store.proxy.url}, in the region us-east-1, with the credentials from the environment"
    how += ", the bucket in the path"
    tried = attempt(Progress(), store.connection, location)
    assert tried == Attempt(True, f"The bucket archives can be listed. It was reached {how}.")
    assert len(store.proxy.log) == 1
    with store.proxy.failing(unlisted):
        tried = attempt(Progress(), store.connection, location)
        assert tried == Attempt(True, f"{location} can be read, and its bucket not listed. It was reached {how}.")
        assert not attempt(Progress(), store.connection, f"s3://{BUCKET}/").ok
    store.proxy.reset()
    assert attempt(Progress(), store.connection, "s3://").sentence.endswith(f"It was reached {how}.")
    assert len(store.proxy.log) == 1


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (refuse(403, "InvalidAccessKeyId", KEY), "does not know the access key"),
        (refuse(404, "NoSuchBucket"), "There is no bucket archives at http://127.0.0.1"),
        (refuse(301, "PermanentRedirect"), "in another region"),
        (refuse(503, "SlowDown"), "asks to slow down"),
        (web_page, "answered with a web page"),
        (silent, "closed the connection without an answer"),
    ],
)
def test_an_attempt_that_fails_says_why(store: Store, fault: Fault, words: str) -> None:
    with store.proxy.failing(fault):
        ok, sentence = attempt(Progress(), store.connection, f"s3://{BUCKET}/key")
    assert not ok
    assert words in sentence
    assert not any(canary in sentence for canary in CANARIES)


@pytest.mark.parametrize("location", ["s3:///key", f"s3://{SECRET_IN_ADDRESS}/key", "a/path"])
def test_an_attempt_with_no_address_makes_no_request(store: Store, location: str) -> None:
    tried = attempt(Progress(), store.connection, location)
    assert (tried.ok, store.proxy.log) == (False, [])
    assert "hush" not in tried.sentence


def unlisted(seen: Seen, forward: Forward) -> Reply:
    return refuse(403, "AccessDenied")(seen, forward) if seen.listing else forward()


def test_buckets_are_never_listed(store: Store) -> None:
    store.put("alone/x.caf", b"x")
    store.prefix(f"s3://{BUCKET}/alone/").entries()
    store.prefix(f"s3://{BUCKET}")
    assert all(seen.path.startswith(f"/{BUCKET}") for seen in store.proxy.log)


def test_a_connection_holds_no_secret() -> None:
    assert not any(name in str(Connection.__slots__) for name in ("key", "secret", "token"))
    assert pickle.loads(pickle.dumps(Connection(profile="a"))) == Connection(profile="a")


def test_nothing_secret_is_said_even_when_all_is_logged(
    store: Store, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    location = store.put("canary.caf", b"x" * 5000)
    levels = {name: logging.getLogger(name).level for name in ("", *LOGGERS)}
    try:
        for name in levels:
            logging.getLogger(name).setLevel(logging.DEBUG)
        handler = logging.StreamHandler()
        logging.getLogger().addHandler(handler)
        fresh = Connection(endpoint=store.proxy.url, region="ca-central-1")
        with closing_clients(fresh):
            open_place(location, fresh)
            for fault in (refuse(403, "AccessDenied", f"{KEY} {SECRET}"), refuse(500)):
                with store.proxy.failing(fault):
                    main(["list", "--endpoint-url", store.proxy.url, location])
            main(["check", "--endpoint-url", store.proxy.url, location])
            main(["list", "--endpoint-url", store.proxy.url, f"s3://{KEY}:{SECRET}@{BUCKET}/x"])
            logging.getLogger("botocore.auth").warning("signed with %s, x-amz-security-token: %s", KEY, TOKEN)
            logging.getLogger("botocore").warning("Authorization: %s", f"Signature={KEY}")
    finally:
        logging.getLogger().removeHandler(handler)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
    out, err = capfd.readouterr()
    everything = out + err + caplog.text
    assert "canary.caf" in everything
    assert "signed with ***" in everything
    assert [canary for canary in CANARIES if canary in everything] == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("https://user:pass@host/x", "https://host/x"),
        ("s3://bucket/key", "s3://bucket/key"),
        ("s3://bucket/a:b@c", "s3://bucket/a:b@c"),
        ("s3://AKIA1:se/cr+et@bucket/key", "s3://bucket/key"),
        ("http://host:80/a@b", "http://host:80/a@b"),
        ("s3://h/k?X-Amz-Signature=abc&x=1", "s3://h/k?X-Amz-Signature=***&x=1"),
        (
            "/k?AWSAccessKeyId=abc&Signature=d%2F&Expires=1",
            "/k?AWSAccessKeyId=***&Signature=***&Expires=***",
        ),
        ("/k?a=1&X-Amz-Security-Token=t+t%3D=", "/k?a=1&X-Amz-Security-Token=***"),
        ("at https://h/k?sig=abc&x=1#c and", "at https://h/k?*** and"),
        ("'https:/h/k?sig=abc'", "'https:/h/k?***'"),
    ],
)
def test_credentials_are_taken_out_of_addresses(text: str, left: str) -> None:
    assert strip_credentials(text) == left


def test_keys_and_tokens_are_taken_out_of_texts() -> None:
    said = redacted(f"{KEY} aws_secret_access_key = {SECRET}, 'x-amz-security-token': '{TOKEN}'")
    assert not any(canary in said for canary in CANARIES)
