"""Objects that a test holds itself: a server for archives that are too large, or too many, to put anywhere."""

# ruff: noqa: ARG001 - faults have one signature

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape
from zlib import crc32

from tests.s3.bucket import BUCKET, Bucket
from tests.s3.proxy import Fault, Forward, Reply, Seen

_XML = {"Content-Type": "application/xml"}
_ENTRY = (
    "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
    "<ETag>&quot;{etag}&quot;</ETag><Size>{size}</Size></Contents>"
)


class Held(Bucket):
    """A bucket that a test holds itself."""

    def __init__(self, url: str) -> None:
        super().__init__(None, url)
        self.objects: dict[str, bytes | Path] = {}

    def put(self, key: str, data: bytes) -> str:
        self.objects[key] = data
        return f"s3://{BUCKET}/{key}"


def serving(objects: Mapping[str, bytes | Path]) -> Fault:
    """A server with these objects by key; files are read by ranges."""
    sizes = {key: len(each) if isinstance(each, bytes) else each.stat().st_size for key, each in objects.items()}
    etags = {key: f"{crc32(each) if isinstance(each, bytes) else 0:08x}{sizes[key]:x}" for key, each in objects.items()}

    def fault(seen: Seen, forward: Forward) -> Reply:
        url = urlsplit(seen.path)
        if seen.listing:
            prefix = parse_qs(url.query).get("prefix", [""])[0]
            return _listing({key: (size, etags[key]) for key, size in sizes.items() if key.startswith(prefix)})
        key = unquote(url.path).removeprefix(f"/{BUCKET}/")
        if key not in objects:
            return Reply(404, _XML, b"<Error><Code>NoSuchKey</Code></Error>")
        size, etag = sizes[key], f'"{etags[key]}"'
        if not seen.range:
            whole = b"" if seen.method == "HEAD" else _bytes(objects[key], 0, size)
            return Reply(200, {"Content-Length": str(size), "ETag": etag}, whole)
        first, _, last = seen.range.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, size - int(last))
        stop = min(size, int(last) + 1) if first and last else size
        headers = {"Content-Range": f"bytes {start}-{stop - 1}/{size}", "ETag": etag}
        return Reply(206, headers, _bytes(objects[key], start, stop))

    return fault


def _bytes(found: bytes | Path, start: int, stop: int) -> bytes:
    if isinstance(found, bytes):
        return found[start:stop]
    with found.open("rb") as file:
        file.seek(start)
        return file.read(stop - start)


def _listing(found: Mapping[str, tuple[int, str]]) -> Reply:
    entries = "".join(
        _ENTRY.format(key=escape(key), size=size, etag=etag) for key, (size, etag) in sorted(found.items())
    )
    text = f"<ListBucketResult><Name>{BUCKET}</Name><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>"
    return Reply(200, _XML, text.encode())
