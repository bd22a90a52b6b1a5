"""Decodes archives for the tests, each time checking what always holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.formats.rca import FORMAT
from tests.formats.archives import assert_covered


def decoded(data: bytes) -> Archive:
    """The archive that ``data`` is; its leaves own every byte once."""
    source = BytesSource(data, "test.rca")
    archive = Archive(source, FORMAT.name, FORMAT.title, ())
    FORMAT.decode(source, Emitter(archive), Progress())
    assert_covered(archive)
    return archive


def fields(parents: Sequence[Field], name: str) -> Iterator[Field]:
    """All fields of a name, in file order."""
    for field in parents:
        if field.name == name:
            yield field
        yield from fields(field.children, name)


def listing(archive: Archive) -> list[tuple[bytes, int]]:
    return [(member.path, member.size) for member in archive.members]


def content(archive: Archive, member: int) -> bytes:
    return b"".join(FORMAT.read(archive, member, Progress()))


def codes(archive: Archive) -> set[str]:
    """The codes of what is worse than info."""
    return {finding.code for finding in archive.findings if finding.severity is not Severity.INFO}


def message(archive: Archive, code: str) -> str:
    return next(finding.message for finding in archive.findings if finding.code == code)
