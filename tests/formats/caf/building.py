from __future__ import annotations

import json

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Field
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.formats.caf import FORMAT
from tests.formats.archives import assert_covered


def build_archive(
    index: str | bytes | None = None, data: bytes = b"onetwo-two", footer: int | bytes | None = None
) -> bytes:
    """Data, an index (of two members unless it is given) and a footer (the right one unless it is given)."""
    if index is None:
        files = {"one": {"start_byte": 0, "end_byte": 3}, "two": {"start_byte": 3, "end_byte": 10}}
        index = json.dumps({"format_version": "1.0", "files": files})
    raw = index if isinstance(index, bytes) else index.encode("utf-8", "surrogatepass")
    if footer is None:
        footer = len(raw)
    return data + raw + (footer if isinstance(footer, bytes) else footer.to_bytes(4, "little"))


def decode_archive(data: bytes) -> Archive:
    """The archive that ``data`` is, decoded; its leaves are checked to own every byte once."""
    source = BytesSource(data, "test.caf")
    archive = Archive(source, FORMAT.name, FORMAT.title, ())
    FORMAT.decode(source, Emitter(archive), Progress())
    assert_covered(archive)
    return archive


def find_field(fields: object, name: str) -> Field:
    """The first field of that name, depth first."""
    for field in fields:  # type: ignore[attr-defined]
        if field.name == name:
            return field
        try:
            return find_field(field.children, name)
        except LookupError:
            continue
    raise LookupError(name)
