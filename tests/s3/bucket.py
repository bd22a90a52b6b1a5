"""A bucket on some server, and what tests do with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.operations.open.opening import open_place
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.source import S3Source

BUCKET = "archives"


class Bucket:
    """``client`` puts things there, ``url`` is where the program asks for them."""

    def __init__(self, client: Any, url: str) -> None:
        self.client = client
        self.url = url

    @property
    def connection(self) -> Connection:
        return Connection(endpoint=self.url)

    @property
    def options(self) -> list[str]:
        """The same for the command line."""
        return ["--endpoint-url", self.url]

    def put(self, key: str, data: bytes) -> str:
        """Keep an object and give its location."""
        self.client.put_object(Bucket=BUCKET, Key=key, Body=data)
        return f"s3://{BUCKET}/{key}"

    def put_all(self, folder: Path, prefix: str) -> str:
        """Keep what is in a folder, or the one file, and give the location."""
        for path in folder.rglob("*") if folder.is_dir() else [folder]:
            if path.is_file():
                name = path.relative_to(folder).as_posix() if folder.is_dir() else ""
                self.put(f"{prefix}/{name}" if name else prefix, path.read_bytes())
        return f"s3://{BUCKET}/{prefix}"

    def open(self, location: str, *, sparing: bool = False) -> S3Source:
        found = open_place(location, self.connection, sparing=sparing)
        assert isinstance(found, S3Source)
        return found

    def prefix(self, location: str) -> S3Prefix:
        found = open_place(location, self.connection)
        assert isinstance(found, S3Prefix)
        return found
