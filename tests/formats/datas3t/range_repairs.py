"""Ranges checked, repaired in memory, and read back."""

from __future__ import annotations

import json

import zstandard

from inspector.core.archive import Archive, Emitter
from inspector.core.edit import OverlaySource
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import BytesSource, Source
from inspector.formats import datas3t
from tests.formats.datas3t.range_building import Row
from tests.formats.tar.tar_building import decoded


class Range(BytesSource):
    """A tar in memory with its metadata or its index beside it."""

    def __init__(
        self, data: bytes, metadata: bytes | None, first: int, last: int, *, index: bytes | None = None
    ) -> None:
        super().__init__(data, f"{first:020d}-{last:020d}.tar")
        self.range = first, last
        self.metadata = metadata
        self.index = index

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        data = {(".metadata", ""): self.metadata, (".index", ".tar"): self.index}.get((suffix, instead_of))
        return None if data is None else BytesSource(data, self.name.removesuffix(instead_of) + suffix)


def checked(source: Source) -> Archive:
    archive = decoded(source, datas3t.FORMAT)
    datas3t.FORMAT.check(archive, Emitter(archive), Progress())
    return archive


def plans(source: Source) -> list[Repair]:
    """The repairs of the range itself, without a salvage."""
    return [each for each in datas3t.FORMAT.repairs(checked(source), Progress()) if not each.is_salvage]


def made(source: Range, repair: Repair) -> Range:
    """The range after one repair."""
    if repair.edit is not None:
        after = OverlaySource(source, repair.edit)
        return Range(after.read(0, after.size), source.metadata, *source.range, index=source.index)
    assert repair.content is not None
    whole, made = source.read(0, source.size), b"".join(repair.content(Progress()))
    if repair.beside == ".index":
        return Range(whole, source.metadata, *source.range, index=made)
    assert (repair.beside, repair.instead_of) == (".metadata", "")
    return Range(whole, made, *source.range, index=source.index)


def rows_of(source: Range) -> list[Row]:
    assert source.metadata is not None
    rows = json.loads(zstandard.ZstdDecompressor().decompressobj().decompress(source.metadata))
    assert isinstance(rows, list)
    return rows
