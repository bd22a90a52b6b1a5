"""Names of an archive that collide when they are extracted.

The formats report what is wrong with a single name while they decode.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
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


def report_names(archive: Archive, emitter: Emitter, progress: Progress) -> None:
    """Report collisions as warnings; raises Cancelled.

    Takes about twenty bytes per member: names are compared by their hashes, and in full only if those are equal.
    """
    progress.begin("Comparing names", len(archive.members), "members")
    files, folders = array("q"), array("q")
    for own, around in _blocks(archive.members):
        files.extend(hash(key) for _, key in own)
        folders.extend(map(hash, around))
        progress.advance(min(_MEMBERS_PER_BLOCK, progress.total - progress.done))
    twice, both = _shared(files, folders)
    if twice or both:
        _report(archive, emitter, twice, both)


def _blocks(members: Members) -> Iterator[tuple[list[tuple[int, bytes]], dict[bytes, int]]]:
    """Some members at a time: those that are files with their collision keys, and the keys of all folders.

    Folders are those that members are or lie in, each with the first such member.
    """
    marks = members.marks
    for first in range(0, len(members), _MEMBERS_PER_BLOCK):
        block = range(first, min(first + _MEMBERS_PER_BLOCK, len(members)))
        names = [members.path(member) for member in block]
        files: list[tuple[int, bytes]] = []
        folders: dict[bytes, int] = {}
        for member, name, key in zip(block, names, collision_keys(names), strict=True):
            folder = key
            if not (name.endswith(b"/") or (marks is not None and marks[member] & FOLDER)):
                files.append((member, key))
                folder = key.rpartition(b"/")[0]
            for _ in range(MAX_PATH_DEPTH):  # deeper ones have a finding of their own
                if not folder or folder in folders:
                    break
                folders[folder] = member
                folder = folder.rpartition(b"/")[0]
        yield files, folders


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
    wanted = twice | both
    for own, around in _blocks(archive.members):
        for later, key in own:
            if hash(key) not in wanted or (earlier := files.setdefault(key, later)) == later:
                continue
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
        for key, member in around.items():
            if hash(key) in both:
                folders.setdefault(key, member)
    for key in sorted(files.keys() & folders.keys()):
        if not mixed.full():
            name, other = brief(path(files[key])), brief(path(folders[key]))
            message = f"'{name}' is a file, but '{other}' needs it to be a folder: one of them cannot be extracted."
            mixed.add(message, _spans(archive, files[key], folders[key]), files[key])
    for kept in (same, alike, mixed):
        kept.close()


def _spans(archive: Archive, *members: int) -> Spans:
    return tuple(span for member in members for span in _name_spans(archive, member))


def _difference(first: bytes, second: bytes) -> str:
    if first.lower() == second.lower():
        return "only in case"
    if normalize("NFC", decoded(first)[0]) == normalize("NFC", decoded(second)[0]):
        return "only in Unicode normalisation"
    return "only in case or in notation"


def _name_spans(archive: Archive, index: int) -> Spans:
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
