"""What is proved before an object is changed: what is sent again was read right, and nobody is overwritten."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from inspector.__main__ import main
from inspector.core.edit import Edit, EditError, Patch
from inspector.core.program.progress import Progress
from inspector.sources.s3.connection import Consent
from inspector.sources.s3.sentences import ConsentNeededError
from inspector.sources.s3.uploads.sender import crc32_text
from inspector.sources.s3.uploads.writing import write_object
from tests.s3.conftest import BUCKET, Store, forget_conditions
from tests.s3.proxy import Fault, Forward, Reply, Seen, answering, flipping, refuse
from tests.s3.writing.test_writing_faults import begins, completes, is_copy, when
from tests.s3.writing.writing import MEBI, content, taco, unfinished

DATA = Random(29).randbytes(12 * MEBI)
KEY = "proved/archive.bin"
SCRATCH = ".archive-inspector-"


def edit_of(data: bytes, at: int = 20) -> Edit:
    return Edit("Change bytes", (Patch(at, data[at : at + 4], b"new!"),), len(data), len(data))


def changed(data: bytes, at: int = 20) -> bytes:
    return data[:at] + b"new!" + data[at + 4 :]


def keys(store: Store) -> list[str]:
    listed = store.client.list_objects_v2(Bucket=BUCKET, Prefix="proved/")
    return [each["Key"] for each in listed.get("Contents", ())]


@pytest.fixture(autouse=True)
def nothing_left(store: Store) -> Iterator[None]:
    yield
    assert unfinished(store) == []
    for key in keys(store):
        store.client.delete_object(Bucket=BUCKET, Key=key)


# ---- what is sent again ----------------------------------------------------------------------------------------------


def test_bits_that_flip_while_reading_are_not_made_permanent(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = taco(tmp_path, [12 * MEBI])
    location = store.put("proved/large.taco", data)
    capsys.readouterr()

    with store.proxy.failing(flipping(3 * MEBI)):
        assert main(["header", location, "--set", "0=200,300", *store.options]) == 2

    said = capsys.readouterr().err
    assert "was not changed: [0, 5,242,880) would be sent again" in said
    assert "Use another connection, or change the archive where the server is" in said
    assert content(store, "proved/large.taco") == data
    assert main(["header", location, "--set", "0=200,300", *store.options]) == 0
    assert content(store, "proved/large.taco")[5 * MEBI : -1000] == data[5 * MEBI : -1000]


@pytest.mark.parametrize(
    ("size", "at", "consents"),
    [(1000, 500, Consent.NONE), (12 * MEBI, 11 * MEBI, Consent.WHOLE), (12 * MEBI, 12 * MEBI - 200, Consent.NONE)],
    ids=["one request", "all of it", "the last part"],
)
def test_every_part_that_is_sent_again_is_proved(store: Store, size: int, at: int, consents: Consent) -> None:
    data = DATA[:size]
    edit = edit_of(data, 300 if at != size - 200 else at - 10)
    location = store.put(KEY, data)

    with store.proxy.failing(flipping(at)), pytest.raises(EditError, match="would be sent again, and what was read"):
        write_object(store.open(location), edit, Progress(), consents)

    assert content(store, KEY) == data
    write_object(store.open(location), edit, Progress(), consents)
    assert content(store, KEY) == changed(data, edit.patches[0].offset)


def test_what_is_cut_off_counts_where_all_of_it_is_sent(store: Store) -> None:
    source = store.open(store.put(KEY, DATA))
    edit = Edit("Cut", (Patch(3, DATA[3:4], b"!"),), len(DATA), len(DATA) - 1000)

    write_object(source, edit, Progress(), Consent.WHOLE)

    assert content(store, KEY) == DATA[:3] + b"!" + DATA[4:-1000]


def test_it_takes_three_requests_and_no_bytes(store: Store) -> None:
    source = store.open(store.put(KEY, DATA))
    store.proxy.reset()

    write_object(source, edit_of(DATA), Progress())

    assert sum(begins(seen) for seen in store.proxy.log) == 2
    assert sum(is_copy(seen) for seen in store.proxy.log) == 2, "the part that is proved, and the rest"
    assert sum(seen.method == "DELETE" for seen in store.proxy.log) == 1
    assert store.proxy.moved < 5.1 * MEBI * 2


def told_otherwise(etag: str, crc32: str = "") -> Fault:
    """Copies have an ETag that is no MD5 of bytes, as where a server encrypts."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        reply = forward()
        if is_copy(seen) and reply.status == 200:
            more = f"<ChecksumCRC32>{crc32}</ChecksumCRC32>" if crc32 else ""
            reply.body = f"<CopyPartResult><ETag>{etag}</ETag>{more}</CopyPartResult>".encode()
        encrypted = answering(x_amz_server_side_encryption="aws:kms")
        return encrypted(seen, lambda: reply) if seen.method == "HEAD" else reply

    return fault


@pytest.mark.parametrize("etag", ['"encrypted"', f'"{"0" * 32}"'])
def test_what_nothing_proves_is_not_written(store: Store, etag: str) -> None:
    source = store.open(store.put(KEY, DATA))

    with (
        store.proxy.failing(told_otherwise(etag)),
        pytest.raises(EditError, match=r"gives no MD5 or CRC-32 .* Download the object another way"),
    ):
        write_object(source, edit_of(DATA), Progress())

    assert content(store, KEY) == DATA


@pytest.mark.parametrize("right", [True, False])
def test_the_checksum_of_a_part_proves_it_too(store: Store, right: bool) -> None:
    """Servers that encrypt say no MD5, but a CRC-32 of what they copied; this one stops there."""
    source = store.open(store.put(KEY, DATA))
    crc32 = crc32_text(DATA[: 5 * MEBI] if right else DATA[1 : 5 * MEBI])
    words = "no is the word" if right else "what was read of it is not what the server has"
    told = told_otherwise('"encrypted"', crc32)

    def proved(seen: Seen, forward: Forward) -> Reply:
        reached = seen.method == "PUT" and not is_copy(seen)
        return refuse(418, "Teapot", "no is the word")(seen, forward) if reached else told(seen, forward)

    with store.proxy.failing(proved), pytest.raises(EditError, match=words):
        write_object(source, edit_of(DATA), Progress())

    assert content(store, KEY) == DATA


@pytest.mark.parametrize("size", [1000, 12 * MEBI])
def test_what_is_sent_has_a_digest_that_the_server_verifies(store: Store, size: int) -> None:
    source = store.open(store.put(KEY, DATA[:size]))
    store.proxy.reset()

    write_object(source, edit_of(DATA[:size]), Progress())

    (sent,) = [seen for seen in store.proxy.log if seen.method == "PUT" and not is_copy(seen)]
    digest = hashlib.md5(changed(DATA[:size])[: 5 * MEBI], usedforsecurity=False).digest()
    assert sent.headers["Content-MD5"] == b64encode(digest).decode()


# ---- who writes at the same time -------------------------------------------------------------------------------------


def replacing(store: Store) -> Fault:
    """Someone else puts an object there just before the upload is completed."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        if completes(seen) and SCRATCH not in seen.path:
            store.put(KEY, b"theirs")
        return forward()

    return fault


def test_nobody_is_overwritten_where_the_server_would(store: Store) -> None:
    forget_conditions()
    location = store.put(KEY, DATA)
    store.proxy.reset()
    store.proxy.enforces = False

    with store.proxy.failing(replacing(store)), pytest.raises(ConsentNeededError) as error:
        write_object(store.open(location), edit_of(DATA), Progress())

    assert error.value.consent is Consent.UNCONDITIONAL
    assert "does not refuse to overwrite" in str(error.value)
    assert content(store, KEY) == DATA
    assert keys(store) == [KEY], "the scratch object is gone"
    assert all(SCRATCH in seen.path for seen in store.proxy.log if seen.method not in ("GET", "HEAD"))

    store.proxy.log.clear()
    with pytest.raises(ConsentNeededError):
        write_object(store.open(location), edit_of(DATA), Progress())
    assert all(seen.method in ("GET", "HEAD") for seen in store.proxy.log), "what it does is remembered"

    written = write_object(store.open(location), edit_of(DATA), Progress(), Consent.UNCONDITIONAL)
    assert content(store, KEY) == changed(DATA)
    assert any("is unknown" in each for each in written.warnings)


def test_a_word_on_the_command_line_lets_it_write(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forget_conditions()
    store.proxy.enforces = False
    data = taco(tmp_path, [12 * MEBI])
    location = store.put("proved/word.taco", data)
    command = ["header", location, "--set", "0=200,300", *store.options]

    assert main(command) == 2
    assert "say so (--unconditional)" in capsys.readouterr().err
    assert content(store, "proved/word.taco") == data
    assert main([*command, "--unconditional"]) == 0
    assert content(store, "proved/word.taco") != data
    assert main(["repair", location, "--take-back", *store.options]) == 2
    assert main(["repair", location, "--take-back", "--unconditional", *store.options]) == 0
    assert content(store, "proved/word.taco") == data


def test_a_server_that_holds_to_conditions_is_found_out_once(store: Store) -> None:
    forget_conditions()
    location = store.put(KEY, DATA)

    assert write_object(store.open(location), edit_of(DATA), Progress()).warnings == ()
    assert content(store, KEY) == changed(DATA)
    assert keys(store) == [KEY]

    store.proxy.reset()
    source = store.open(location)
    with store.proxy.failing(replacing(store)), pytest.raises(EditError, match="was replaced meanwhile"):
        write_object(source, edit_of(changed(DATA), 40), Progress())
    assert content(store, KEY) == b"theirs"
    assert not any(SCRATCH in seen.path for seen in store.proxy.log)


@pytest.mark.parametrize("size", [1000, 12 * MEBI])
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_where_no_scratch_object_may_be_put_or_removed_nothing_is_written(store: Store, size: int, method: str) -> None:
    forget_conditions()
    location, data = store.put(KEY, DATA[:size]), DATA[:size]

    def denied(seen: Seen) -> bool:
        return SCRATCH in seen.path and seen.method == method and "uploadId" not in seen.path

    with store.proxy.failing(when(denied, refuse(403, "AccessDenied"))):
        for _ in range(2):
            with pytest.raises(ConsentNeededError, match=r"is unknown \(.*archive-inspector-"):
                write_object(store.open(location), edit_of(data), Progress())
            assert content(store, KEY) == data
        write_object(store.open(location), edit_of(data), Progress(), Consent.UNCONDITIONAL)
    assert content(store, KEY) == changed(data)


@pytest.mark.parametrize("size", [1000, 12 * MEBI])
def test_the_version_that_was_replaced_is_named(
    store: Store, straight: Any, size: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    forget_conditions()
    bucket, key = "versioned", "dir/a.taco"
    straight.create_bucket(Bucket=bucket)
    straight.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    data = taco(tmp_path, [size])
    before = straight.put_object(Bucket=bucket, Key=key, Body=data)["VersionId"]
    capsys.readouterr()

    assert main(["header", f"s3://{bucket}/{key}", "--set", "0=200,300", *store.options]) == 0

    assert f"in place of the version {before}, which the bucket keeps" in capsys.readouterr().out
    assert straight.get_object(Bucket=bucket, Key=key, VersionId=before)["Body"].read() == data
    listed = straight.list_object_versions(Bucket=bucket)
    assert [each["Key"] for each in listed["Versions"]] == [key, key], "no version of the scratch object is left"
    assert "DeleteMarkers" not in listed
    for each in listed["Versions"]:
        straight.delete_object(Bucket=bucket, Key=key, VersionId=each["VersionId"])
    straight.delete_bucket(Bucket=bucket)
