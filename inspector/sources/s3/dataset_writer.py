"""The objects that a dataset's ranges become, put into a bucket: see Objects for their like in a folder."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Self

from inspector.core.progress import Progress
from inspector.sources.s3.address import Address
from inspector.sources.s3.cancelling import cancelling
from inspector.sources.s3.client import client_for
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.new_objects import NewObjects, type_of
from inspector.sources.s3.prefix import S3Prefix


class BucketObjects:
    """Objects beneath the prefix ``root``. They take their places in the order in which they are put."""

    def __init__(self, root: Address, connection: Connection, progress: Progress) -> None:
        self._root = root
        self._connection = connection
        self._progress = progress
        self._objects = NewObjects(connection)

    def put(self, key: str, content: Iterable[bytes]) -> None:
        """See Objects."""
        with cancelling(self._progress):
            out = self._objects.add(Address(self._root.bucket, f"{self._root.prefix}{key}"), type_of(key))
            for piece in content:
                out.write(piece)

    def beneath(self, key: str) -> S3Prefix:
        """What is beneath a key already; nothing is asked for yet."""
        address = Address(self._root.bucket, f"{self._root.prefix}{key}/")
        return S3Prefix(client_for(self._connection), address, self._objects.ledger)

    def __enter__(self) -> Self:
        self._objects.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with cancelling(self._progress):
            self._objects.__exit__(kind, error, trace)
