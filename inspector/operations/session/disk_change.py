"""What has happened to an open file on disk since it was opened, told without reading it."""

from __future__ import annotations

from inspector.core.names import visible
from inspector.core.source import Source
from inspector.operations.protocol.views import DiskChange
from inspector.sources.local.file import FileSource, Identity

GOES_ON = "What is shown may mix the old file and the new one."
STAYS = "The old file is shown."


def disk_change(source: Source) -> DiskChange | None:
    """What has happened to the file behind a source; None for nothing, and for what is no file of this machine."""
    if not isinstance(source, FileSource):
        return None
    name, then = visible(source.path.name), source.identity
    try:
        now = Identity.of(source.path.stat())
    except OSError:
        return DiskChange(f"{name} no longer exists. {STAYS}", then.size, None, 0, grown=False)
    what = then.difference(now)
    if not what:
        return None
    same = then.same_file(now)
    sentence = f"{name} {what}. {GOES_ON if same else STAYS}"
    return DiskChange(sentence, then.size, now.size, now.mtime_ns, grown=same and now.size > then.size)


def stamp(source: Source) -> str:
    """What tells this state of a file or an object from another; empty where that cannot be known, as of an overlay."""
    if isinstance(source, FileSource):
        return f"{source.identity.size}-{source.identity.mtime_ns}"
    return str(getattr(source, "etag", ""))
