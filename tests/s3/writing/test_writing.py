"""Changes of objects on S3: only what has to be sent is sent, and nobody sees half a change."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from random import Random

import pytest
import tacozip

from inspector.__main__ import main
from inspector.core.edit import Edit, EditError, Patch
from inspector.core.program.progress import Progress
from inspector.operations.edit.apply_repairs import write_edit_to_s3
from inspector.operations.edit.past_writes import edits_before, forget_past_writes, past_writes, take_back
from inspector.operations.jobs.operation_error import OperationError
from inspector.sources.local.changes.old_bytes import store_folder
from inspector.sources.s3.uploads.writing import write_object
from tests.s3.conftest import BUCKET, Store
from tests.s3.proxy import ignoring
from tests.s3.writing.writing import MEBI, content, header_of, taco, unfinished
from tests.sweeping import in_the_sweep

DATA = Random(11).randbytes(18 * MEBI)


def patched(data: bytes, *at: int) -> tuple[Edit, bytes]:
    """An edit of four bytes at each of these places, and what it leaves."""
    after = bytearray(data)
    patches = []
    for each in at:
        patches.append(Patch(each, data[each : each + 4], b"new!"))
        after[each : each + 4] = b"new!"
    return Edit("Change bytes", tuple(patches), len(data), len(data)), bytes(after)


@pytest.mark.parametrize(
    ("at", "sent"),
    [
        ([14, 41, 18 * MEBI - 100], 5 * MEBI + 100),
        in_the_sweep([9 * MEBI], 5 * MEBI),
        ([18 * MEBI - 4], 4),
        in_the_sweep([0], 5 * MEBI),
        ([6 * MEBI, 12 * MEBI], 6 * MEBI + 4),
        in_the_sweep([3 * MEBI], 5 * MEBI),
    ],
)
def test_what_changes_is_sent_and_the_rest_is_copied_by_the_server(store: Store, at: list[int], sent: int) -> None:
    source = store.open(store.put("writing/large.bin", DATA))
    edit, after = patched(DATA, *at)

    write_object(source, edit, Progress())

    assert content(store, "writing/large.bin") == after
    assert source.log.totals.sent == sent
    assert unfinished(store) == []


def test_a_small_object_is_sent_whole_in_one_request(store: Store) -> None:
    source = store.open(store.put("writing/small.bin", DATA[:1000]))
    edit, after = patched(DATA[:1000], 14, 900)
    store.proxy.reset()

    write_object(source, edit, Progress())

    assert content(store, "writing/small.bin") == after
    puts = [seen for seen in store.proxy.log if seen.method in ("PUT", "POST")]
    assert [(seen.method, seen.if_match) for seen in puts] == [("PUT", source.etag)]


def test_growing_and_shrinking(store: Store) -> None:
    data = DATA[: 7 * MEBI]
    source = store.open(store.put("writing/grows.bin", data))
    write_object(
        source, Edit("Grow", (Patch(len(data) - 1, data[-1:], b"12345"),), len(data), len(data) + 4), Progress()
    )
    assert content(store, "writing/grows.bin") == data[:-1] + b"12345"

    source = store.open(f"s3://{BUCKET}/writing/grows.bin")
    write_object(source, Edit("Cut", (), source.size, 6 * MEBI), Progress())
    assert content(store, "writing/grows.bin") == data[: 6 * MEBI]
    assert source.log.totals.sent == 0

    source = store.open(f"s3://{BUCKET}/writing/grows.bin")
    write_object(source, Edit("Empty", (), source.size, 0), Progress())
    assert content(store, "writing/grows.bin") == b""


@pytest.mark.parametrize("size", [1000, 12 * MEBI])
def test_what_an_object_has_beside_its_bytes_is_kept(store: Store, size: int) -> None:
    store.client.put_object(
        Bucket=BUCKET,
        Key="writing/kept.bin",
        Body=DATA[:size],
        ContentType="application/x-taco",
        CacheControl="max-age=5",
        ContentDisposition="attachment",
        Metadata={"made-by": "someone"},
        StorageClass="STANDARD_IA",
        Tagging="a=1&b=two%20words",
    )
    source = store.open(f"s3://{BUCKET}/writing/kept.bin")

    write_object(source, patched(DATA[:size], 5)[0], Progress())

    head = store.client.head_object(Bucket=BUCKET, Key="writing/kept.bin")
    assert head["ETag"] != source.etag
    assert head["ContentType"] == "application/x-taco"
    assert head["CacheControl"] == "max-age=5"
    assert head["ContentDisposition"] == "attachment"
    assert head["Metadata"] == {"made-by": "someone"}
    assert head["StorageClass"] == "STANDARD_IA"
    tags = store.client.get_object_tagging(Bucket=BUCKET, Key="writing/kept.bin")["TagSet"]
    assert {each["Key"]: each["Value"] for each in tags} == {"a": "1", "b": "two words"}


@pytest.mark.parametrize("size", [1000, 12 * MEBI])
def test_a_checksum_that_the_server_keeps_is_kept_up(store: Store, size: int) -> None:
    store.client.put_object(Bucket=BUCKET, Key="writing/crc.bin", Body=DATA[:size], ChecksumAlgorithm="CRC32")
    source = store.open(f"s3://{BUCKET}/writing/crc.bin")
    assert source.kept_crc32() == zlib.crc32(DATA[:size])
    edit, after = patched(DATA[:size], 5)

    write_object(source, edit, Progress())

    assert store.open(source.name).kept_crc32() == zlib.crc32(after)


def test_tags_that_a_server_forgets_are_given_again(store: Store) -> None:
    store.client.put_object(Bucket=BUCKET, Key="writing/tags.bin", Body=DATA[: 12 * MEBI], Tagging="a=1&b=")
    source = store.open(f"s3://{BUCKET}/writing/tags.bin")

    with store.proxy.failing(ignoring("x-amz-tagging")):
        write_object(source, patched(DATA[: 12 * MEBI], 5)[0], Progress())

    tags = store.client.get_object_tagging(Bucket=BUCKET, Key="writing/tags.bin")["TagSet"]
    assert {each["Key"]: each["Value"] for each in tags} == {"a": "1", "b": ""}


def test_other_bytes_than_those_the_change_is_for_are_left_alone(store: Store) -> None:
    source = store.open(store.put("writing/other.bin", DATA[:100]))

    with pytest.raises(EditError, match=r"was not changed: \[3, 4\) has other bytes"):
        write_object(source, Edit("Change", (Patch(3, bytes([DATA[3] ^ 1]), b"x"),), 100, 100), Progress())
    assert content(store, "writing/other.bin") == DATA[:100]


# ---- the header of a TACO archive, from the command line ---------------------------------------------------------


@pytest.mark.parametrize("sizes", [[1000, 0, 17], [6 * MEBI, 8 * MEBI]], ids=["small", "large"])
def test_a_header_is_edited_in_place(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], sizes: list[int]
) -> None:
    location = store.put("writing/header.taco", taco(tmp_path, sizes))

    assert main(["header", location, "--set", "0=200,300", *store.options]) == 0

    assert header_of(store, location, capsys) == [(200, 300)]
    (tmp_path / "back.taco").write_bytes(content(store, "writing/header.taco"))
    assert next(iter(tacozip.read_header(str(tmp_path / "back.taco")))) == (200, 300)
    assert main(["check", location, *store.options]) == 0
    assert unfinished(store) == []


@pytest.mark.sweep
def test_a_header_of_210_mb_moves_less_than_12(store: Store, tmp_path: Path) -> None:
    large = tmp_path / "tree" / "large.bin"
    large.parent.mkdir()
    with large.open("wb") as file:
        file.truncate(210_000_000)
    target = tmp_path / "large.taco"
    assert main(["create", "taco", str(target), str(large.parent)]) == 0
    with target.open("rb") as body:
        store.client.put_object(Bucket=BUCKET, Key="writing/210.taco", Body=body)
    location = f"s3://{BUCKET}/writing/210.taco"
    store.proxy.reset()

    assert main(["header", location, "--set", "0=157,1000", *store.options]) == 0

    assert store.proxy.moved < 12_000_000
    assert len(store.proxy.log) <= 18  # four of them prove the bytes that are sent again
    store.client.download_file(BUCKET, "writing/210.taco", str(target))
    store.client.delete_object(Bucket=BUCKET, Key="writing/210.taco")
    assert next(iter(tacozip.read_header(str(target)))) == (157, 1000)
    assert target.stat().st_size > 210_000_000


def test_what_would_be_sent_is_shown_first(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = taco(tmp_path, [12 * MEBI])
    location = store.put("writing/dry.taco", data)
    capsys.readouterr()

    assert main(["header", location, "--set", "0=200,300", "--dry-run", *store.options]) == 0

    shown = capsys.readouterr().out
    assert "bytes 0 to 5,242,880: 5.0 MiB, read and sent again" in shown
    assert "copied by the server" in shown
    assert main(["header", location, "--set", "0=200,300", "--dry-run", "--json", *store.options]) == 0
    behind = len(data) - data.index(b"PK\x01\x02") - 16
    assert json.loads(capsys.readouterr().out)["sent"] == 5 * MEBI + behind
    assert content(store, "writing/dry.taco") == data
    assert all(seen.method in ("GET", "HEAD") for seen in store.proxy.log)
    capsys.readouterr()
    assert main(["header", location, "--set", "0=200,300", *store.options]) == 0
    told = capsys.readouterr().err
    assert f"In all {5 * MEBI + behind:,} of {len(data):,} bytes are read and sent again." in told
    assert "would be" not in told


def test_an_archive_is_repaired_in_place_and_to_a_copy(store: Store, tmp_path: Path) -> None:
    data = taco(tmp_path, [6 * MEBI, 6 * MEBI])
    location = store.put("writing/broken.taco", data + b"garbage")

    to_copy = ["repair", location, "--to", str(tmp_path / "copy.taco")]
    assert main([*to_copy, *store.options]) == 1, "what the copy leaves out was not asked for"
    assert content(store, "writing/broken.taco") == data + b"garbage"
    assert (tmp_path / "copy.taco").read_bytes() == data

    assert main(["repair", location, *store.options]) == 0, "garbage is a warning"
    assert content(store, "writing/broken.taco") == data + b"garbage", "what is cut off needs consent"
    assert main(["repair", location, "--accept", "zip-rebuild-end", *store.options]) == 0
    assert content(store, "writing/broken.taco") == data


def test_an_archive_is_repaired_to_another_object(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = taco(tmp_path, [6 * MEBI, 6 * MEBI])
    location, copy = store.put("writing/here.taco", data + b"garbage"), f"s3://{BUCKET}/writing/there.taco"

    assert main(["repair", location, "--to", location, *store.options]) == 2
    assert "is the archive itself" in capsys.readouterr().err
    accepted = ["--accept", "zip-rebuild-end"]
    assert main(["repair", location, "--to", copy, *accepted, *store.options]) == 0

    assert content(store, "writing/there.taco") == data
    assert content(store, "writing/here.taco") == data + b"garbage"
    assert unfinished(store) == []
    assert main(["repair", location, "--to", copy, *store.options]) == 2, "what is there is not replaced"


def test_what_is_whole_is_saved_in_another_object(store: Store, tmp_path: Path) -> None:
    data = bytearray(taco(tmp_path, [1000, 2000]))
    at = data.index(b"\1" * 1000)
    data[at] ^= 0xFF
    location = store.put("writing/damaged.taco", bytes(data))

    main(["repair", location, "--to", f"s3://{BUCKET}/writing/saved.taco", *store.options])

    assert main(["check", f"s3://{BUCKET}/writing/saved.taco", *store.options]) == 0
    assert content(store, "writing/damaged.taco") == data


def test_what_was_written_is_listed_and_taken_back_while_it_still_stands_there(store: Store) -> None:
    data, key = DATA[:1000], "writing/history.bin"
    location = store.put(key, data)
    states = [data]
    for at in (14, 900):
        edit, after = patched(states[-1], at)
        write_edit_to_s3(store.open(location), edit, Progress())
        states.append(after)

    opened = store.open(location)
    assert [each.can_take_back for each in past_writes(location, opened)] == [True, False]
    assert len(edits_before(location, 1, opened)) == 2
    kept = b"".join(each.read_bytes() for each in store_folder().iterdir())
    assert location.encode() in kept
    assert not any(secret in kept for secret in (store.connection.endpoint.encode(), b"aws_", b"Signature"))
    assert "would be undone: Change bytes" in take_back(location, store.connection, dry_run=True)
    assert content(store, key) == states[2]
    take_back(location, store.connection)
    assert content(store, key) == states[1]
    assert [each.can_take_back for each in past_writes(location, store.open(location))] == [True]

    other = states[1][:14] + b"else" + states[1][18:]
    store.put(key, other)
    with pytest.raises(OperationError, match="not those that this program wrote"):
        take_back(location, store.connection)
    assert content(store, key) == other
    assert "1 change" in forget_past_writes(location)
    assert past_writes(location, store.open(location)) == ()


def test_it_is_taken_back_only_from_the_object_that_was_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "writing/raced.bin"
    location = store.put(key, DATA[:1000])
    edit, after = patched(DATA[:1000], 14)
    write_edit_to_s3(store.open(location), edit, Progress())
    meanwhile = after[:-1] + b"?"

    def read(*arguments: object) -> tuple[Edit, ...]:
        found = edits_before(*arguments)  # type: ignore[arg-type]
        store.put(key, meanwhile)  # another program is quicker
        return found

    monkeypatch.setattr("inspector.operations.edit.past_writes.edits_before", read)
    with pytest.raises(EditError, match="was not changed"):
        take_back(location, store.connection)
    assert content(store, key) == meanwhile
