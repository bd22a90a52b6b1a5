"""Names of an archive that collide when they are extracted.

The formats report what is wrong with a single name while they decode.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
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
    progress.begin("Comparing names", len(archive.members), "members")
    files, folders = array("q"), array("q")
    for own, above in _blocks(archive.members):
        files.extend(hash(key) for _, key in own)
        folders.extend(map(hash, above))
        progress.advance(min(_MEMBERS_PER_BLOCK, progress.total - progress.done))
    twice, both = _shared(files, folders)
    if twice or both:
        _report(archive, emitter, twice, both)


def _blocks(members: Members) -> Iterator[tuple[Sequence[tuple[int, bytes]], dict[bytes, int]]]:
    """The files among some members with their collision keys, and the keys of the folders that members are or lie in.

    Each folder has the first such member of its block.
    """
    for first in range(0, len(members), _MEMBERS_PER_BLOCK):
        last = min(first + _MEMBERS_PER_BLOCK, len(members))
        base = members.path_stops[first - 1] if first else 0
        stops = [stop - base for stop in members.path_stops[first:last]]
        blob = bytes(members.paths[base : base + stops[-1]]).lower()
        names = [blob[start:stop] for start, stop in zip((0, *stops), stops, strict=False)]
        odd = dict.fromkeys(name for name in names if not _PLAIN.fullmatch(name))
        known = dict(zip(odd, collision_keys(list(odd)), strict=True))
        keys = [known.get(name, name) for name in names] if known else names
        folders = {at for at, name in enumerate(names) if name.endswith(b"/")} if known else set()
        if members.marks is not None:
            folders.update(at for at, marks in enumerate(members.marks[first:last]) if marks & FOLDER)
        found: dict[bytes, int] = {}
        for at, key in enumerate(keys):
            folder = key if at in folders else key.rpartition(b"/")[0]
            for _ in range(MAX_PATH_DEPTH):  # deeper ones have a finding of their own
                if not folder or folder in found:
                    break
                found[folder] = first + at
                folder = folder.rpartition(b"/")[0]
        yield [(first + at, key) for at, key in enumerate(keys) if at not in folders], found


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
    path, wanted, files, folders = archive.members.path, twice | both, dict[bytes, int](), dict[bytes, int]()

    def add(kept: CappedFindings, earlier: int, later: int, member: int, words: str) -> None:
        if not kept.full():
            one, other = brief(path(earlier)), brief(path(later))
            spans = (*name_spans(archive, earlier), *name_spans(archive, later))
            kept.add(words.format(one=one, other=other), spans, member)

    for own, above in _blocks(archive.members):
        for member, key in own:
            if hash(key) not in wanted or (earlier := files.setdefault(key, member)) == member:
                continue
            if (first := path(earlier)) != (second := path(member)):
                add(alike, earlier, member, member, _ALIKE.replace("{how}", _difference(first, second)))
            elif member not in known:
                add(same, earlier, member, member, _TWICE)
        for key, member in above.items():
            if hash(key) in both:
                folders.setdefault(key, member)
    for key in sorted(files.keys() & folders.keys()):
        add(mixed, files[key], folders[key], files[key], _MIXED)
    for kept in (same, alike, mixed):
        kept.close()


_ALIKE = "The names '{one}' and '{other}' differ {how}: on systems that ignore this, both become one file."
_TWICE = "The name '{one}' occurs more than once: extracted, one file replaces the other."
_MIXED = "'{one}' is a file, but '{other}' needs it to be a folder: one of them cannot be extracted."


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
