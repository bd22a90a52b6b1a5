"""Small archives made where a test needs them."""

from __future__ import annotations

import json
from pathlib import Path

from inspector.core.program.progress import Progress
from inspector.operations.session.archive_session import ArchiveSession

CONTENTS = {"b/two.txt": b"zwei\n", "a.txt": b"one\n", "b/one.bin": bytes(range(256)), "B.TXT": "Grüße\n".encode()}


def caf(path: Path, contents: dict[str, bytes] = CONTENTS, gap: bytes = b"") -> Path:
    """A Chunk Archive of these files, with ``gap`` before the last."""
    files, at, written = {}, 0, b""
    for number, (name, data) in enumerate(contents.items(), 1):
        between = gap if number == len(contents) else b""
        at += len(between)
        written += between + data
        files[name] = {"start_byte": at, "end_byte": at + len(data)}
        at += len(data)
    index = json.dumps({"format_version": "1.0", "files": files}, ensure_ascii=False).encode()
    path.write_bytes(written + index + len(index).to_bytes(4, "little"))
    return path


def opened(path: Path) -> ArchiveSession:
    """A session that has decoded everything."""
    session = ArchiveSession(str(path))
    session.decode(Progress())
    return session
