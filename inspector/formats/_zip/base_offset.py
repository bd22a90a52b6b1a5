"""Whether an archive was moved in its file (APPNOTE.TXT 4.4.24), or only the number is wrong that says so.

Where the central directory is not where the end record says, local headers tell: all of them moved with it when bytes
were put before the archive, some when bytes were put in or lost further on, none when the number itself is wrong.
"""

from __future__ import annotations

from itertools import islice
from operator import gt

from inspector.core.archive import Emitter
from inspector.core.numbers import in_bytes, verb
from inspector.core.source import Source
from inspector.formats._zip.directory import MOST_MEMBERS, Directory, DirectoryWalk, headers
from inspector.formats._zip.eocd import Ending
from inspector.formats._zip.extra import zip64
from inspector.formats._zip.records import FULL_32
from inspector.formats._zip.scan import local_files, read_local

_SAMPLED = 16
"""Headers of the directory that are looked at to see whether their offsets hold."""


def holder_of(source: Source, ending: Ending) -> bytes | None:
    """The name of the member that the archive with this ending is stored in, where that runs to the end of the file.

    So it is when an archive was cut off right behind an archive that it holds: what seems to be put before that is
    the rest of its own. None where the ending is that of the file.
    """
    if ending.distance <= 0:
        return None
    for found in islice(local_files(source, 0), MOST_MEMBERS):
        if found.begin <= ending.distance and found.stop >= source.size:
            return found.name
        if found.begin > ending.distance:
            break
    return None


def settle_shift(source: Source, ending: Ending) -> None:
    """Decide by the first members whether offsets have to be read with the distance of the directory added."""
    if ending.directory is None or not ending.distance:
        return
    sample = list(islice(_offsets(source, ending.directory.start, ending.anchor), _SAMPLED))
    stay = [stands(source, offset, name) for offset, name in sample]
    move = [stands(source, offset + ending.distance, name) for offset, name in sample]
    # Where no entry can tell, a member does that stands where one of an archive that was not moved would begin; where
    # some are in one place and some only in the other, nothing was put before the archive but into it.
    stayed = sum(stay) > sum(move) or any(map(gt, stay, move)) if sample else read_local(source, 0) is not None
    ending.shift = 0 if stayed else ending.distance


def _offsets(source: Source, start: int, limit: int) -> list[tuple[int, bytes]]:
    found = []
    for _, header, _, name, extra, _ in islice(headers(source, start, limit), _SAMPLED):
        stored, size, offset = header[8], header[9], header[16]
        wide = zip64(extra, size == FULL_32, stored == FULL_32, offset == FULL_32).offset
        found.append((offset if wide is None else wide, name))
    return found


def stands(source: Source, head: int, name: bytes) -> bool:
    """Whether a local header of this name is at ``head``."""
    local = read_local(source, head)
    return local is not None and local[1] == name


def report_distance(emitter: Emitter, directory: Directory, walk: DirectoryWalk) -> None:
    """Say what it means that the directory is not where the end record says, after a walk over its members."""
    ending = directory.ending
    if ending is None or ending.directory is None or not ending.distance:
        return
    start = ending.directory.start
    claim = f"the central directory should be at {start - ending.distance:,} and is at {start:,}"
    amount = in_bytes(abs(ending.distance))
    added = ending.distance > 0
    if walk.last_stayed >= 0 and walk.first_moved >= 0:
        between = min(walk.last_stayed, walk.first_moved), max(walk.last_stayed, walk.first_moved)
        emitter.error(
            "zip-bytes-inserted" if added else "zip-bytes-missing",
            f"The archive is {amount} {'longer' if added else 'shorter'} than it was, between {between[0]:,} and "
            f"{between[1]:,}: {claim}. "
            f"Some local headers stand where it says, the others {amount} {'behind' if added else 'before'} that.",
            between,
        )
    elif walk.last_stayed >= 0 or not ending.shift:
        message = (
            f"The end record has a wrong offset of the central directory: {claim}, and no local header stands as far "
            "as that from where it should."
        )
        emitter.error("zip-directory-offset", message, ending.offset_at, ending.directory)
    elif added:
        put = verb(ending.distance, "was put", "were put")
        message = f"{amount} {put} before the archive: {claim}. All offsets are read with this distance added."
        emitter.warning("zip-prepended", message, (0, ending.distance))
    else:
        missing = verb(-ending.distance, "is missing", "are missing")
        message = f"{amount} before the central directory {missing}: {claim}. Offsets are read with this taken off."
        emitter.error("zip-bytes-missing", message, ending.directory, ending.offset_at)
