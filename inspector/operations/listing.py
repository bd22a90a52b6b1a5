"""Members of a location for a face that has time to wait: everything decoded first, then listed, found and read."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.core.format import MemberError
from inspector.core.names import decoded, encoded, visible
from inspector.core.numbers import count
from inspector.core.progress import Progress
from inspector.operations.collection import start_all
from inspector.operations.opening import Opened, decode
from inspector.operations.refused import Refused


class NoSuchMember(Refused):
    """No member, or more than one, has the name that was asked for."""


def load(location: str, progress: Progress) -> list[Opened]:
    """The archives at ``location``, wholly decoded: one for a file, one a range for a folder of ranges.

    Raises SourceError where there is nothing to open, and Cancelled.
    """
    archives, _ = start_all(location)
    for archive in archives:
        decode(archive, progress)
    return archives


def find_member(archives: list[Opened], name: str) -> tuple[Opened, int]:
    """The archive and the index of the member called ``name``, exactly.

    A name that is not UTF-8 is found by the text that stands for it. Raises NoSuchMember with a sentence where there
    is none or where several have the name.
    """
    found = [(archive, index) for archive in archives for index in _named(archive, name)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NoSuchMember(f"There is no member called {visible(name)}.")
    raise NoSuchMember(
        f"There are {count(len(found), 'member')} called {visible(name)}, so it is not clear which is meant."
    )


def _named(archive: Opened, name: str) -> Iterator[int]:
    wanted = encoded(name)
    replaced = "\N{REPLACEMENT CHARACTER}" in name
    members = archive.members
    for index in range(len(members)):
        path = members.path(index)
        if path == wanted or (replaced and decoded(path)[0] == name):
            yield index


def content(archive: Opened, index: int, progress: Progress) -> Iterator[bytes]:
    """The decoded content of a member in pieces; raises MemberError, SourceError or Cancelled."""
    if archive.decoder is None:
        raise MemberError("Plain bytes have no members.")
    return archive.decoder.read(archive, index, progress)
