"""A TACO archive of 30 GB takes as few requests as a small one: its bytes come from a file with a hole in it."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.open.listing import content, load
from tests.s3.archives import members, taco
from tests.s3.conftest import BUCKET, Store
from tests.s3.proxy import Fault, Forward, Reply, Seen

VAST = 30 << 30


def grown(path: Path, start: int) -> None:
    """A TACO archive whose members, but for the first, stand from ``start`` on, or right behind those for 0."""
    path.write_bytes(taco(10, path.parent))
    with ZipFile(path, "a", ZIP_STORED) as made:
        made.start_dir = max(start, made.start_dir)
        for name, data in members(9_000):
            made.writestr(f"more/{name}", data)


def of_file(path: Path) -> Fault:
    """A server that has this file."""

    def fault(seen: Seen, forward: Forward) -> Reply:  # noqa: ARG001 - faults have one signature
        size = path.stat().st_size
        first, _, last = seen.range.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, size - int(last))
        stop = min(size, int(last) + 1) if first else size
        with path.open("rb") as file:
            file.seek(start)
            body = file.read(stop - start)
        return Reply(206, {"Content-Range": f"bytes {start}-{stop - 1}/{size}", "ETag": '"vast"'}, body)

    return fault


@pytest.mark.parametrize("start", [0, VAST], ids=["small", "vast"])
def test_a_taco_archive_of_any_size_takes_two_requests(store: Store, tmp_path: Path, start: int) -> None:
    path = tmp_path / "made.tacozip"
    grown(path, start)
    assert path.stat().st_size > max(start, 2 << 20)
    with store.proxy.failing(of_file(path)):
        (archive,) = load(f"s3://{BUCKET}/made.tacozip", Progress(), store.connection, sparing=True)
        assert archive.format == "taco"
        assert len(archive.members) == 9_011
        assert [seen.range for seen in store.proxy.log] == ["bytes=-1048576", "bytes=0-65535"]
        name, data = members(9_000)[4_000]
        index = next(member.index for member in archive.members if member.path == f"more/{name}".encode())
        assert b"".join(content(archive, index, Progress())) == data
        assert len(store.proxy.log) == 3
