"""Members of a location for a face that has time to wait: everything decoded first, then listed, found and read."""

from __future__ import annotations

import contextlib
import re
from collections import deque
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice

from inspector.core.format import MemberError
from inspector.core.member import STRETCH, Member
from inspector.core.names import decoded, encoded, visible
from inspector.core.numbers import count
from inspector.core.progress import Progress
from inspector.formats.datas3t.datapoints import member_with
from inspector.formats.datas3t.keys import datapoint_key
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.location import open_location
from inspector.operations.open.opening import Opened, learn
from inspector.sources.s3.connection import DEFAULT, Connection

_MADE_VISIBLE = re.compile("[\\\\\u2039\u2400-\u2421]")
"""What is in a name that was made visible: looking at all members takes time."""
_CLOSE = 3
"""Names that are suggested."""
_LOOKED_AT = 5_000
"""Names that are looked at for a suggestion."""
_LONGEST = 300
"""Characters of names that are compared: it takes the square of their number."""


class MemberNotFoundError(OperationError):
    """No member, or more than one, has the name that was asked for."""


class AmbiguousMemberError(MemberNotFoundError):
    """More than one has it."""


def load(
    location: str,
    progress: Progress,
    connection: Connection = DEFAULT,
    *,
    sparing: bool = False,
    names: Iterable[str] = (),
) -> list[Opened]:
    """The archives at ``location``, wholly decoded: one for a file, one a range for a folder of ranges.

    ``connection`` and ``sparing`` are as in open_place. ``names``: of a folder of ranges only those are wanted whose
    own names tell that they may hold datapoints of these names, where it has any. Raises SourceError where there is
    nothing to open, and Cancelled.
    """
    opened = open_location(location, connection, sparing=sparing)
    keys = [datapoint_key(encoded(name.rpartition("/")[2])) for name in names]
    if keys and None not in keys:
        opened.narrow([key[0] for key in keys if key is not None])
    deque(opened.read_all(progress), maxlen=0)
    return opened.archives


def members_of(archive: Opened, progress: Progress) -> Iterator[Member]:
    """All members, with headers that were left out read on the way, many together. Raises SourceError and Cancelled."""
    at = 0
    if archive.members.reader is not None:
        progress.begin("Reading headers", len(archive.members), "members")
    while at < len(archive.members):
        stretch = range(at, min(at + STRETCH, len(archive.members)))
        # What was given until now was as it is: headers were the first to be other than thought from here on.
        if not learn(archive, stretch, progress):
            yield from map(archive.members.seen, stretch)
            at = stretch.stop
            progress.advance(len(stretch) if archive.members.reader is not None else 0)


def learn_all(archives: Iterable[Opened], progress: Progress) -> None:
    """Read all headers that were left out. Raises SourceError and Cancelled."""
    for archive in archives:
        if archive.members.reader is not None:
            deque(members_of(archive, progress), maxlen=0)


def find_member(archives: list[Opened], name: str) -> tuple[Opened, int]:
    """The archive and the index of the member called ``name``, exactly.

    ``name`` may come from a command line or from a listing: bytes that are not UTF-8 may be escaped in it or
    replaced, and where no member is called so, it may be what a person sees of a name. Raises MemberNotFoundError with
    a sentence where there is none or where several have the name.
    """
    found = [(archive, index) for archive in archives for index in _named(archive, name)]
    if len(found) == 1:
        return found[0]
    if not found and (seen := [(archive, index) for archive in archives for index in _seen_as(archive, name)]):
        if len(seen) == 1:
            return seen[0]
        raise AmbiguousMemberError(
            f"There are {count(len(seen), 'member')} that are shown as {visible(name)}. Give the name itself, which "
            "list --json has as path."
        )
    if not found:
        close = _close(archives, name)
        more = f" Names like it: {', '.join(map(visible, close))}." if close else ""
        raise MemberNotFoundError(f"There is no member called {visible(name)}.{more}")
    raise AmbiguousMemberError(
        f"There are {count(len(found), 'member')} called {visible(name)}, so it is not clear which is meant."
    )


def _named(archive: Opened, name: str) -> Iterator[int]:
    _learn(archive, name)
    wanted = {encoded(name)}
    with contextlib.suppress(UnicodeEncodeError):
        wanted.add(name.encode("utf-8", "surrogateescape"))
    replaced = "\N{REPLACEMENT CHARACTER}" in name
    members = archive.members
    for index in range(len(members)):
        path = members.path(index)
        if path in wanted or (replaced and decoded(path)[0] == name):
            yield index


def _seen_as(archive: Opened, name: str) -> Iterator[int]:
    """The members whose names are shown as ``name``, although that is not what they are."""
    if _MADE_VISIBLE.search(name):
        members = archive.members
        yield from (index for index in range(len(members)) if visible(members.path(index)) == name)


def _learn(archive: Opened, name: str) -> None:
    """Read the headers that were left out of the datapoint with the key of this name: the others have other names."""
    found = None if archive.members.reader is None else datapoint_key(encoded(name))
    if found is not None:
        member = member_with(archive, found[0])
        learn(archive, () if member is None else (member,), Progress())


def _close(archives: list[Opened], name: str) -> list[str]:
    """The names most like one that is not there: those that end with it, then those spelt alike."""
    if not 0 < len(name) <= _LONGEST:
        return []
    every = (
        decoded(members.path(at))[0] for members in (each.members for each in archives) for at in range(len(members))
    )
    names = [each for each in dict.fromkeys(islice(every, _LOOKED_AT)) if len(each) <= _LONGEST]
    ending = [each for each in names if each.lower().endswith("/" + name.lower())]
    alike = [*ending[:_CLOSE], *get_close_matches(name, names, _CLOSE)]
    return list(dict.fromkeys(alike))[:_CLOSE]


def content(archive: Opened, index: int, progress: Progress) -> Iterator[bytes]:
    """The decoded content of a member in pieces; raises MemberError, SourceError or Cancelled."""
    if archive.decoder is None:
        raise MemberError("Plain bytes have no members.")
    return archive.decoder.read(archive, index, progress)
