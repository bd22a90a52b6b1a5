"""Which members are extracted, and which paths their names become below the folder.

This is the one place that decides which names are refused.
"""

from __future__ import annotations

import contextlib
import fnmatch
import re
import sys
from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import accumulate

from msgspec import Struct

from inspector.core.finding import with_full_stop
from inspector.core.names import (
    BACKSLASH,
    DOT,
    INVISIBLE,
    NO_COMPONENT,
    NOT_UTF_8,
    brief,
    decoded,
    encoded,
    hazards,
    unportable,
    visible,
)
from inspector.core.numbers import in_bytes
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import find_member
from inspector.operations.open.location import inside
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.extraction_views import MAX_PROBLEMS_LISTED, Problem, Problems

MAX_COMPONENT_BYTES = 255
"""The longest component of a path that file systems take."""
_REPLACED = "\N{REPLACEMENT CHARACTER}"

_TOLERATED = {NOT_UTF_8, INVISIBLE, BACKSLASH, DOT, NO_COMPONENT}
"""Hazards that do not prevent extraction: invisible characters need --doubtful, the others are harmless here."""

# Matches most names without a hazard, quickly.
_PLAIN = re.compile(rb"(?:[0-9A-Za-z_][0-9A-Za-z_. -]{0,250}/){0,9}[0-9A-Za-z_][0-9A-Za-z_. -]{0,250}")

_WILDCARD = re.compile(r"[*?[]")
_EXTENSION = re.compile(rb"(?s)(.+?)((?:\.[^./]{1,12}){0,2})")


# ---- members -----------------------------------------------------------------------------------------------------


class MemberSelection(Struct, frozen=True):
    """Members of one archive of a location, by index, in the order of the archive.

    ``first`` is the number of the archive's first member among those of all archives. ``folder`` is the prefix of
    their paths, as ``list`` shows them: the archive's path in a folder of several, or empty.
    """

    archive: Opened
    first: int
    folder: bytes
    members: Sequence[int]

    @property
    def is_all(self) -> bool:
        """Whether all members of the archive are selected."""
        return len(self.members) == len(self.archive.members)

    def path(self, member: int) -> bytes:
        """A member's path, with ``folder``."""
        return self.folder + self.archive.members.path(member)

    def note(self, problems: Problems, member: int, sentence: str) -> None:
        """Add a problem of a member; ``sentence`` is the predicate, it follows the name."""
        problems.count += 1
        if problems.count <= MAX_PROBLEMS_LISTED:
            path = brief(self.path(member)) or "(no name)"
            insort(problems.listed, Problem(self.first + member, path, with_full_stop(f"{path} {sentence}")))


def all_members(location: str, archives: Sequence[Opened]) -> list[MemberSelection]:
    """All members of an open location, one MemberSelection per archive."""
    firsts = accumulate((len(archive.members) for archive in archives), initial=0)
    return [
        MemberSelection(archive, first, _folder(location, archive), range(len(archive.members)))
        for archive, first in zip(archives, firsts, strict=False)
    ]


def _folder(location: str, archive: Opened) -> bytes:
    key = inside(location, archive.source.name)
    return f"{key}/".encode("utf-8", "surrogateescape") if key else b""


def members_numbered(every: Sequence[MemberSelection], numbers: Iterable[int]) -> list[MemberSelection]:
    """The members of ``every`` with these numbers. Raises OperationError if one does not exist."""
    firsts = [each.first for each in every]
    chosen: dict[int, list[int]] = {}
    for number in sorted(set(numbers)):
        at = bisect_right(firsts, number) - 1
        if number < 0 or not every or number - firsts[at] >= len(every[at].members):
            raise OperationError(f"There is no member {number}.")
        chosen.setdefault(at, []).append(number - firsts[at])
    return [_only(every[at], members) for at, members in chosen.items()]


def members_named(every: Sequence[MemberSelection], names: Sequence[str]) -> list[MemberSelection]:
    """The members of ``every`` with these names, or below folders with these names.

    A name that no member has may be a pattern: ``*`` stands for any characters, slashes too, ``?`` for one, ``[a-c]``
    for one of several. Raises MemberNotFoundError for a name without a member.
    """
    requested = {form.strip(b"/"): name for name in names for form in _forms(name)}
    replaced = {name.strip("/"): name for name in names if _REPLACED in name}
    matched: set[str] = set()
    chosen = []
    for each in every:
        found = []
        for member in each.members:
            names_matched = {
                requested[above]
                for path in {each.path(member), each.archive.members.path(member)}
                for above in _above(path)
                if above in requested
            }
            if replaced and (known := replaced.get(decoded(each.archive.members.path(member))[0])):
                names_matched.add(known)
            if names_matched:
                found.append(member)
                matched |= names_matched
        chosen.append(_only(each, found))
    for name in names:
        if name not in matched:
            chosen += _by_pattern(every, name) or _by_shown_name(every, name)
    # A pattern may match what is named too; each member is extracted once.
    members: dict[int, set[int]] = {}  # of an archive
    for each in chosen:
        members.setdefault(id(each.archive), set()).update(each.members)
    return [_only(each, sorted(members[id(each.archive)])) for each in every if members.get(id(each.archive))]


def _by_pattern(every: Sequence[MemberSelection], name: str) -> list[MemberSelection]:
    """The members whose path, as ``list`` shows it, matches a pattern; none if ``name`` is no pattern."""
    if not _WILDCARD.search(name):
        return []
    matches = re.compile(fnmatch.translate(name)).match
    chosen = (_only(each, [member for member in each.members if matches(visible(each.path(member)))]) for each in every)
    return [each for each in chosen if each.members]


def _by_shown_name(every: Sequence[MemberSelection], name: str) -> Iterable[MemberSelection]:
    """The member of a name that has no components, or that is shown so.

    Raises MemberNotFoundError where it is neither.
    """
    shown = [each for each in every if each.folder and name.startswith(visible(each.folder))]
    if shown:
        every, name = shown[:1], name.removeprefix(visible(shown[0].folder))
    archive, member = find_member([each.archive for each in every], name)
    return [_only(each, [member]) for each in every if each.archive is archive]


def _only(selection: MemberSelection, members: list[int]) -> MemberSelection:
    return MemberSelection(selection.archive, selection.first, selection.folder, members)


def _forms(name: str) -> set[bytes]:
    """The bytes that a name from a command line or a listing may stand for."""
    forms = {encoded(name)}
    with contextlib.suppress(UnicodeEncodeError):
        forms.add(name.encode("utf-8", "surrogateescape"))
    return forms


def _above(path: bytes) -> Iterable[bytes]:
    """A path and all folders above it."""
    path = path.strip(b"/")
    while path:
        yield path
        path = path.rpartition(b"/")[0]


# ---- names -------------------------------------------------------------------------------------------------------


def refusal(path: bytes) -> str:
    """Why a name is refused, as the end of a sentence that begins with "its name"; empty if it is accepted.

    Names are never repaired silently: one that leaves the folder is refused, not changed.
    """
    if _PLAIN.fullmatch(path) and sys.platform != "win32":
        return ""
    for words in hazards(path):
        if words not in _TOLERATED:
            return words
    parts = parts_of(path)
    if not parts:
        return "names no file"
    if max(map(len, parts)) > MAX_COMPONENT_BYTES:
        return f"has a component of more than {in_bytes(MAX_COMPONENT_BYTES)}"
    if sys.platform == "win32":
        return next(iter((*unportable(path), *(BACKSLASH,) * (b"\\" in path))), "")
    return ""


def has_invisible(path: bytes) -> bool:
    """Whether a name contains invisible characters, so that it may look like another one."""
    return not _PLAIN.fullmatch(path) and INVISIBLE in hazards(path)


def parts_of(path: bytes) -> tuple[bytes, ...]:
    """The components of a path, without ``.`` and empty ones."""
    parts = path.split(b"/")
    if b"" in parts or b"." in parts:
        return tuple(part for part in parts if part not in (b"", b"."))
    return tuple(parts)


def with_number(name: bytes, number: int) -> bytes:
    """``report (2).txt``: the name with a number, at most MAX_COMPONENT_BYTES long."""
    found = _EXTENSION.fullmatch(name)
    stem, extension = found.groups() if found else (name, b"")
    return with_suffix(stem, f" ({number})".encode() + extension)


def with_suffix(stem: bytes, suffix: bytes) -> bytes:
    """``stem`` and ``suffix``, with ``stem`` cut to fit MAX_COMPONENT_BYTES; no UTF-8 character is split."""
    room = MAX_COMPONENT_BYTES - len(suffix)
    if len(stem) > room:
        while room > 0 and stem[room] & 0xC0 == 0x80:
            room -= 1
        stem = stem[:room]
    return stem + suffix
