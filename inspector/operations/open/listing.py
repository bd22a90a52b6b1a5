"""Members of a location, for callers that can wait: everything is decoded first, then listed, found and read."""

from __future__ import annotations

import contextlib
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice

from inspector.core.finding import UNREADABLE
from inspector.core.format import MemberError
from inspector.core.member import STRETCH, Member
from inspector.core.names import decoded, encoded, visible
from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.formats.datas3t import base_name, datapoint_key, range_name
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.subprogress import map_with_progress
from inspector.operations.open.location import MAX_REMOTE_READS, open_location
from inspector.operations.open.opening import Opened, learn
from inspector.sources.s3.connection import DEFAULT, Connection

_MADE_VISIBLE = re.compile("[\\\\\u2039\u2400-\u2421]")
"""Occurs in a name that was made printable; without it, searching all members can be skipped."""
_MAX_SUGGESTIONS = 3
_MAX_NAMES_COMPARED = 5_000
"""Names that are compared to find suggestions."""
_MAX_CHARS_COMPARED = 300
"""Longer names are not compared: the time grows with the square of their length."""


class MemberNotFoundError(OperationError):
    """No member, or more than one, has the requested name."""


class AmbiguousMemberError(MemberNotFoundError):
    """More than one member has the requested name."""


class MembersUnreadError(MemberNotFoundError):
    """No member that could be listed has the requested name, and not all could."""


def load(
    location: str,
    progress: Progress,
    connection: Connection = DEFAULT,
    *,
    sparing: bool = False,
    names: Iterable[str] = (),
    place: Source | None = None,
    quick: bool = False,
) -> list[Opened]:
    """The decoded archives at ``location``: one for a file, one per range for a folder of ranges.

    ``connection`` and ``sparing`` are as in ``open_place``, ``place`` as in ``open_location``. ``names``: of a folder
    of ranges, open only those that can contain datapoints with these names, if there are any. ``quick``: take what the
    metadata has for the members of ranges, here too. Raises SourceError if there is nothing to open, and Cancelled.
    """
    opened = open_location(location, connection, sparing=sparing, place=place)
    if quick:
        opened.skip_headers()
    keys = [datapoint_key(encoded(name.rpartition("/")[2])) for name in names]
    if keys and None not in keys:
        opened.narrow([key[0] for key in keys if key is not None])
    deque(opened.read_all(progress), maxlen=0)
    return opened.archives


def members_of(archive: Opened, progress: Progress) -> Iterator[Member]:
    """All members; skipped headers are read on the way, many at a time. Raises SourceError and Cancelled."""
    at = 0
    if archive.members.reader is not None:
        progress.begin("Reading headers", len(archive.members), "members")
    while at < len(archive.members):
        stretch = range(at, min(at + STRETCH, len(archive.members)))
        # If headers differ from what was assumed, members yielded so far are still right: repeat from this stretch on.
        if not learn(archive, stretch, progress):
            yield from map(archive.members.seen, stretch)
            at = stretch.stop
            progress.advance(len(stretch) if archive.members.reader is not None else 0)


def learn_all(archives: Iterable[Opened], progress: Progress) -> None:
    """Read all headers that were skipped, of several archives at a time. Raises SourceError and Cancelled."""
    skipped = [archive for archive in archives if archive.members.reader is not None]
    if not skipped:
        return

    def learn_one(at: int, part: Progress) -> None:
        deque(members_of(skipped[at], part), maxlen=0)

    sizes = [len(archive.members) for archive in skipped]
    deque(map_with_progress(progress, "Reading headers", sizes, learn_one, MAX_REMOTE_READS, "members"), maxlen=0)


def find_member(archives: list[Opened], name: str) -> tuple[Opened, int]:
    """The archive and the index of the member with exactly this name.

    ``name`` may come from a command line or from a listing: bytes that are not UTF-8 may be escaped in it or
    replaced, and where no member is called so, it may be what a person sees of a name. Raises MemberNotFoundError with
    a sentence where there is none or where several have the name.
    """
    found = [(archive, index) for archive in archives for index in _named(archive, name)]
    if len(found) == 1 or (found and _is_one_datapoint(found)):
        return max(found, key=lambda each: _upload(each[0]))
    if not found and (seen := [(archive, index) for archive in archives for index in _seen_as(archive, name)]):
        if len(seen) == 1:
            return seen[0]
        raise AmbiguousMemberError(
            f"There are {count(len(seen), 'member')} that are shown as {visible(name)}. Give the exact name, which "
            "list --json prints as path."
        )
    unread = next((each.message for archive in archives for each in archive.findings if each.code == UNREADABLE), "")
    if not found and unread:
        raise MembersUnreadError(f"{unread} So whether there is a member called {visible(name)} is unknown.")
    if not found:
        close = _suggestions(archives, name)
        more = f" Names like it: {', '.join(map(visible, close))}." if close else ""
        raise MemberNotFoundError(f"There is no member called {visible(name)}.{more}")
    raise AmbiguousMemberError(
        f"There are {count(len(found), 'member')} called {visible(name)}, so it is unclear which one is meant."
    )


def _upload(archive: Opened) -> int:
    """The counter of an upload to a dataset of the later layout, -1 for other archives."""
    named = range_name(archive.source.name)
    return -1 if named is None or named.upload is None else named.upload


def _is_one_datapoint(found: Sequence[tuple[Opened, int]]) -> bool:
    """Whether these are equal contents that different uploads to one dataset left. Raises SourceError."""
    uploads = {_upload(archive) for archive, _ in found}
    datasets = {archive.source.name.removesuffix(base_name(archive.source.name)) for archive, _ in found}
    if -1 in uploads or len(uploads) < len(found) or len(datasets) > 1:
        return False
    with contextlib.suppress(MemberError):
        return all(same_content(found[0], other) for other in found[1:])
    return False


def same_content(one: tuple[Opened, int], other: tuple[Opened, int], progress: Progress | None = None) -> bool:
    """Whether two members have equal contents. Raises MemberError, SourceError and Cancelled."""
    if one[0].members[one[1]].size != other[0].members[other[1]].size:
        return False
    found = []
    for archive, index in (one, other):
        digest = blake2b()
        for piece in content(archive, index, progress or Progress()):
            digest.update(piece)
        found.append(digest.digest())
    return found[0] == found[1]


def _named(archive: Opened, name: str) -> Iterator[int]:
    members = archive.members
    # Of a datapoint the skipped header is read: the others have other names.
    key = None if members.reader is None else datapoint_key(encoded(name))
    if key is not None:
        from inspector.formats.datas3t.datapoints import member_with  # ranges alone have keys

        member = member_with(archive, key[0])
        learn(archive, () if member is None else (member,), Progress())
        members = archive.members
    wanted = {encoded(name)}
    with contextlib.suppress(UnicodeEncodeError):
        wanted.add(name.encode("utf-8", "surrogateescape"))
    replaced = "\N{REPLACEMENT CHARACTER}" in name
    for index in range(len(members)):
        path = members.path(index)
        if path in wanted or (replaced and decoded(path)[0] == name):
            yield index


def _seen_as(archive: Opened, name: str) -> Iterator[int]:
    """The members whose names differ from ``name`` but are shown as ``name``."""
    if _MADE_VISIBLE.search(name):
        members = archive.members
        yield from (index for index in range(len(members)) if visible(members.path(index)) == name)


def _suggestions(archives: list[Opened], name: str) -> list[str]:
    """The names most similar to a missing one: those that end with it, then those spelt alike."""
    if not 0 < len(name) <= _MAX_CHARS_COMPARED:
        return []
    every = (
        decoded(members.path(at))[0] for members in (each.members for each in archives) for at in range(len(members))
    )
    names = [each for each in dict.fromkeys(islice(every, _MAX_NAMES_COMPARED)) if len(each) <= _MAX_CHARS_COMPARED]
    ending = [each for each in names if each.lower().endswith("/" + name.lower())]
    from difflib import get_close_matches

    alike = [*ending[:_MAX_SUGGESTIONS], *get_close_matches(name, names, _MAX_SUGGESTIONS)]
    return list(dict.fromkeys(alike))[:_MAX_SUGGESTIONS]


def content(archive: Opened, index: int, progress: Progress) -> Iterator[bytes]:
    """The decoded content of a member in pieces; raises MemberError, SourceError and Cancelled."""
    if archive.decoder is None:
        raise MemberError("Plain bytes have no members.")
    return archive.decoder.read(archive, index, progress)
