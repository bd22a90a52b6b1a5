"""Inputs in memory and archives on the disk, for the tests of making and growing RCA archives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inspector.core.program.progress import Progress
from inspector.operations.create.creating import Created
from inspector.operations.create.creating_rca import RcaOptions, make
from inspector.operations.create.inputs import Input
from inspector.operations.create.rca_writing import grow
from inspector.operations.edit.plan_repairs import plan
from inspector.sources.local.disk_calls import DISK, Disk
from tests.formats.rca import build
from tests.formats.rca.checking import bad, checked
from tests.formats.rca.decoding import content


@dataclass(frozen=True)
class Given:
    """An input in memory, in pieces of 700 bytes."""

    name: bytes
    data: bytes
    where: str = "memory"
    modified: int | None = None

    @property
    def size(self) -> int:
        return len(self.data)

    def pieces(self) -> Iterator[bytes]:
        for at in range(0, len(self.data), 700):
            yield self.data[at : at + 700]


def given(blobs: Iterable[build.Blob]) -> list[Input]:
    return [Given(*blob) for blob in blobs]


def create(
    path: Path, blobs: Sequence[build.Blob], options: RcaOptions | None = None, *, overwrite: bool = False
) -> Created:
    return make(path, given(blobs), options or RcaOptions(), Progress(), overwrite=overwrite)


def append(path: Path, blobs: Sequence[build.Blob], disk: Disk = DISK, options: RcaOptions | None = None) -> Created:
    return grow(path, given(blobs), options or RcaOptions(), Progress(), disk)


def repaired(path: Path) -> bool:
    """Repair an archive all of whose new bytes had been written but for the header that makes them count."""
    archive, _ = checked(path.read_bytes())
    result = plan(archive, Progress())
    lost = [repair.code for repair in result.repairs][:1] in (["rca-mend-chunk-size"], ["rca-finish-append"])
    if lost:
        path.write_bytes(result.after.source.read(0, result.after.source.size))
    return lost


def held(data: bytes, allowed: Iterable[str] = ()) -> list[build.Blob]:
    """The blobs of an archive of which only the allowed findings say something."""
    archive, _ = checked(data)
    assert {finding.code for finding in bad(archive)} <= set(allowed)
    return [(member.path, content(archive, member.index)) for member in archive.members]
