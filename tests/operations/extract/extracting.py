"""What the tests of extracting stand on: archives of any names in every format, and what a folder holds."""

from __future__ import annotations

import io
import os
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from inspector.core.program.progress import Progress
from inspector.operations.extract.extraction import Extraction
from inspector.operations.extract.selection import all_members, members_named
from inspector.operations.open.listing import load
from inspector.operations.protocol.extraction_views import ExtractionOptions, ExtractionResult
from inspector.sources.local.member_writer import FolderCalls
from tests.samples.writers import BlobLayer, chunks, index_json

Entries = Sequence[tuple[str, bytes]]


def caf(entries: Entries) -> bytes:
    """A CAF of files, of which several may have one name."""
    ranges, at = [], 0
    for name, content in entries:
        ranges.append((name, at, at + len(content)))
        at += len(content)
    index = index_json(ranges)
    return b"".join(content for _, content in entries) + index + struct.pack("<I", len(index))


def rca(entries: Entries, segment: int = 3) -> bytes:
    """An RCA of files, so many in a segment."""
    layer = BlobLayer()
    for number, (name, content) in enumerate(entries):
        if number and number % segment == 0:
            layer.reset()
        layer.blob(name, content)
    return chunks(bytes(layer.data), layer.digest)


def zipped(entries: Entries) -> bytes:
    """A ZIP of files under the names given, whatever they are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that stand twice
        for name, content in entries:
            info = zipfile.ZipInfo("x", (2001, 2, 3, 4, 5, 6))
            info.filename = name
            archive.writestr(info, content)
    return buffer.getvalue()


def tar(entries: Entries) -> bytes:
    """A tar of files; names of any length and any characters stand in PAX headers."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in entries:
            info = tarfile.TarInfo("x")
            info.size, info.mtime, info.pax_headers = len(content), 1_700_000_000, {"path": name}
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


BUILD: dict[str, Callable[[Entries], bytes]] = {"caf": caf, "rca": rca, "zip": zipped, "tar": tar}


def archive(folder: Path, kind: str, entries: Entries) -> Path:
    """An archive of these files in ``folder``."""
    path = folder / f"archive.{kind}"
    path.write_bytes(BUILD[kind](entries))
    return path


def linked_tar(folder: Path, members: Sequence[tuple[str, bytes, str]]) -> Path:
    """A tar of members: name, tarfile's type, and content or the target of a link."""
    path = folder / "links.tar"
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as out:
        for name, kind, data in members:
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, 0o6777
            if kind == tarfile.REGTYPE:
                info.size = len(data)
                out.addfile(info, io.BytesIO(data.encode()))
            else:
                info.linkname = data
                out.addfile(info)
    return path


def extract(
    location: Path,
    folder: Path,
    options: ExtractionOptions | None = None,
    names: Sequence[str] = (),
    calls: FolderCalls | None = None,
    progress: Progress | None = None,
) -> ExtractionResult:
    """Extract members of an archive."""
    wanted = all_members(str(location), load(str(location), Progress()))
    if names:
        wanted = members_named(wanted, names)
    return Extraction(wanted, folder, options or ExtractionOptions(), calls).run(progress or Progress())


def tree(folder: Path) -> dict[bytes, object]:
    """Everything in a folder and beneath: contents of files, targets of links, None for folders."""
    found: dict[bytes, object] = {}
    for path in folder.rglob("*"):
        key = os.fsencode(path.relative_to(folder))
        if path.is_symlink():
            found[key] = path.readlink()
        else:
            found[key] = None if path.is_dir() else path.read_bytes()
    return found


def files(folder: Path) -> dict[str, bytes]:
    """The files beneath a folder."""
    return {os.fsdecode(path): data for path, data in tree(folder).items() if isinstance(data, bytes)}
