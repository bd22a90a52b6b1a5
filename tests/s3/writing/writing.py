"""What tests of writing to S3 have in common."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.__main__ import main
from tests.s3.bucket import BUCKET, Bucket

MEBI = 1 << 20


def unfinished(bucket: Bucket) -> list[str]:
    """The keys of uploads that were begun and neither completed nor aborted."""
    found = bucket.client.list_multipart_uploads(Bucket=BUCKET)
    return [each["Key"] for each in found.get("Uploads", ())]


def content(bucket: Bucket, key: str) -> bytes:
    return bytes(bucket.client.get_object(Bucket=BUCKET, Key=key)["Body"].read())


def taco(folder: Path, sizes: list[int], entry: str = "1,2") -> bytes:
    """A TACO archive with members of so many bytes."""
    tree = folder / "tree"
    tree.mkdir()
    for number, size in enumerate(sizes):
        (tree / f"{number}.bin").write_bytes(bytes([number + 1]) * size)
    target = folder / "made.taco"
    assert main(["create", "taco", str(target), str(tree), "--entry", entry]) == 0
    return target.read_bytes()


def header_of(bucket: Bucket, location: str, capsys: pytest.CaptureFixture[str]) -> list[tuple[int, int]]:
    """The entries in use, as the command line says them."""
    capsys.readouterr()
    assert main(["header", location, "--json", *bucket.options]) == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    return [(each["offset"], each["length"]) for each in entries if each["used"]]
