"""Names of an archive that collide when they are extracted.

The formats report what is wrong with a single name while they decode.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from unicodedata import normalize

from inspector.core import codes
from inspector.core.archive import Archive, CappedFindings, Emitter
from inspector.core.field import Field, FieldTable, locate
from inspector.core.kinds import Kind
from inspector.core.member import FOLDER, Members
from inspector.core.names import MAX_PATH_DEPTH, brief, collision_keys, decoded
from inspector.core.program.progress import Progress
from inspector.core.span import Spans

_MAX_WITHOUT_NUMPY = 4_096
"""Up to so many names, importing numpy takes longer than it saves."""
_MEMBERS_PER_BLOCK = 16_384

# A name in lower case that matches is its own collision key.
_PLAIN = re.compile(rb"[^\x80-\xff\\/.][^\x80-\xff\\/]*+(?:/[^\x80-\xff\\/.][^\x80-\xff\\/]*+)*")


def report_names(archive: Archive, emitter: Emitter, progress: Progress) -> None:
    """Report collisions as warnings; raises Cancelled.

    Takes about twenty bytes per member: names are compared by their hashes, and in full only if those are equal.
    """
    members = archive.members
    progress.begin("Comparing names", len(members), "members")
    files, folders = array("q"), array("q")
    for block in _blocks(members):
        files.extend(hash(key) for _, key in block.files())
        folders.extend(map(hash, block.folders()))
        progress.advance(len(block.names))
    twice, both = _shared(files, folders)
    if twice or both:
        _report(archive, emitter, twice, both)


class _Block:
    """The names of members from ``first`` on, in lower case, and their collision keys."""

    def __init__(self, members: Members, first: int, last: int) -> None:
        self.first = first
        base = members.path_stops[first - 1] if first else 0
        stops = [stop - base for stop in members.path_stops[first:last]]
        blob = bytes(members.paths[base : base + stops[-1]]).lower()
        self.names = [blob[start:stop] for start, stop in zip((0, *stops), stops, strict=False)]
        self.keys = self.names.copy()
        odd = [at for at, name in enumerate(self.names) if not _PLAIN.fullmatch(name)]
        distinct = list(dict.fromkeys(self.names[at] for at in odd))
        keys = dict(zip(distinct, collision_keys(distinct), strict=True))
        for at in odd:
            self.keys[at] = keys[self.names[at]]
        self._folders = {at for at in odd if self.names[at].endswith(b"/")}
        if members.marks is not None:
            self._folders.update(at for at, marks in enumerate(members.marks[first:last]) if marks & FOLDER)

    def files(self) -> Iterable[tuple[int, bytes]]:
        """The members that are not folders, and their keys."""
        numbered = enumerate(self.keys, self.first)
        if not self._folders:
            return numbered
        return ((member, key) for member, key in numbered if member - self.first not in self._folders)

    def folders(self) -> dict[bytes, int]:
        """The keys of all folders that members are or lie in, each with the first such member."""
        found: dict[bytes, int] = {}
        for at, key in enumerate(self.keys):
            folder = key if at in self._folders else key.rpartition(b"/")[0]
            for _ in range(MAX_PATH_DEPTH):  # deeper ones have a finding of their own
                if not folder or folder in found:
                    break
                found[folder] = self.first + at
                folder = folder.rpartition(b"/")[0]
        return found


def _blocks(members: Members) -> Iterator[_Block]:
    for first in range(0, len(members), _MEMBERS_PER_BLOCK):
        yield _Block(members, first, min(first + _MEMBERS_PER_BLOCK, len(members)))


def _shared(files: array[int], folders: array[int]) -> tuple[set[int], set[int]]:
    """The hashes that occur twice among files, and those that files and folders share."""
    if len(files) + len(folders) <= _MAX_WITHOUT_NUMPY:
        seen: set[int] = set()
        twice = {number for number in files if number in seen or seen.add(number)}  # type: ignore[func-returns-value]
        return twice, seen.intersection(folders)
    import numpy as np

    ours, theirs = np.frombuffer(files, np.int64), np.frombuffer(folders, np.int64)
    ours.sort()
    twice = ours[1:][ours[1:] == ours[:-1]]
    places = np.searchsorted(ours, theirs)
    both = theirs[ours[np.minimum(places, len(ours) - 1)] == theirs] if len(ours) else theirs[:0]
    return set(np.unique(twice).tolist()), set(np.unique(both).tolist())


def _report(archive: Archive, emitter: Emitter, twice: set[int], both: set[int]) -> None:
    """Compare the names whose hashes occur more than once, and report them."""
    same = CappedFindings(emitter, codes.NAME_DUPLICATE, "names that occur more than once")
    alike = CappedFindings(emitter, codes.NAME_COLLISION, "names that are the same on some systems")
    mixed = CappedFindings(emitter, codes.NAME_FILE_AND_FOLDER, "names of files that are folders too")
    known = {each.member for each in archive.findings if each.member is not None and "duplicate" in each.code}
    path, files, folders = archive.members.path, dict[bytes, int](), dict[bytes, int]()
    for earlier, later in _pairs(archive.members, twice | both, files):
        first, second = path(earlier), path(later)
        if first != second and not alike.full():
            message = (
                f"The names '{brief(first)}' and '{brief(second)}' differ {_difference(first, second)}: on "
                "systems that ignore this, both become one file."
            )
            alike.add(message, _spans(archive, earlier, later), later)
        if first == second and later not in known and not same.full():
            message = f"The name '{brief(first)}' occurs more than once: extracted, one file replaces the other."
            same.add(message, _spans(archive, earlier, later), later)
    for block in _blocks(archive.members) if both else ():
        for key, member in block.folders().items():
            if hash(key) in both:
                folders.setdefault(key, member)
    for key in sorted(files.keys() & folders.keys()):
        if not mixed.full():
            name, other = brief(path(files[key])), brief(path(folders[key]))
            message = f"'{name}' is a file, but '{other}' needs it to be a folder: one of them cannot be extracted."
            mixed.add(message, _spans(archive, files[key], folders[key]), files[key])
    for kept in (same, alike, mixed):
        kept.close()


def _pairs(members: Members, wanted: set[int], files: dict[bytes, int]) -> Iterator[tuple[int, int]]:
    """The first and each further file of one key, of those with a hash that is ``wanted``; ``files`` gets the first."""
    for block in _blocks(members):
        for member, key in block.files():
            if hash(key) in wanted and (earlier := files.setdefault(key, member)) != member:
                yield earlier, member


def _spans(archive: Archive, *members: int) -> Spans:
    return tuple(span for member in members for span in name_spans(archive, member))


def _difference(first: bytes, second: bytes) -> str:
    if first.lower() == second.lower():
        return "only in case"
    if normalize("NFC", decoded(first)[0]) == normalize("NFC", decoded(second)[0]):
        return "only in Unicode normalisation"
    return "only in case or in notation"


def name_spans(archive: Archive, index: int) -> Spans:
    """The bytes of a member's name in the file, or of its data if the name has no bytes of its own."""
    member = archive.members[index]
    chain = locate(archive.fields, member.head) if member.head >= 0 else []
    for _, field in reversed(chain):
        if field.member == index:
            for name in _names(field):
                return name.spans
    return member.spans


def _names(field: Field) -> Iterator[Field]:
    if field.kind is Kind.NAME:
        yield field
    elif not isinstance(field.children, FieldTable):
        for child in field.children:
            yield from _names(child)
