"""Reading a member's content as a stream, the doubts about it afterwards, and digest manifests beside archives.

Manifests are text files with digests of files, as ``sha256sum``, ``b2sum`` and ``xxhsum`` write and read them. A line
is ``<hex>  <name>`` (``*`` before the name: read as binary), or with ``--tag`` ``SHA256 (<name>) = <hex>``. A backslash
before a line says that backslashes, line feeds and carriage returns in the name are escaped.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import PurePath
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from inspector.core.finding import Finding, Severity, brief
from inspector.core.format import Concern
from inspector.core.member import MISPLACED, SHARED, Member
from inspector.core.names import brief as brief_name
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import HiddenError, Source, SourceError, is_remote
from inspector.core.span import Span
from inspector.formats import CONCERNS
from inspector.operations.open.listing import content
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.check_views import ALGORITHMS, SUFFIXES, Algorithm

MAX_LINE_BYTES = 1 << 17
"""Longer lines are cut off; a name of 65,535 bytes fits even if all of it is escaped."""

_READ_BYTES = 1 << 20
_TEXT = re.compile(rb"([0-9A-Fa-f]+)(?: [ *]?(.+))?", re.DOTALL)
_TAGGED = re.compile(rb"([A-Za-z0-9]+) ?\((.+)\) = ([0-9A-Fa-f]+)", re.DOTALL)
_ESCAPE = re.compile(rb"\\([\\nr])")
_ESCAPED = {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}
_BY_TAG = {known.tag.lower(): known for known in ALGORITHMS}
XXH64 = _BY_TAG["xxh64"]


class Hash(Protocol):
    """The interface of hashlib's objects."""

    def update(self, data: bytes, /) -> None:
        """Add bytes."""

    def hexdigest(self) -> str:
        """The digest in hex."""


def new_hash(algorithm: Algorithm) -> Hash:
    """A new hash object."""
    if algorithm.tag == "XXH64":
        import xxhash  # here because most archives do not need it

        made: Hash = xxhash.xxh64()
        return made
    return hashlib.new(algorithm.tag.lower(), usedforsecurity=False)


class ManifestEntry(Struct, frozen=True):
    """One line: ``digest`` in lower-case hex; ``name`` is None on a line with only a digest."""

    line: int
    algorithm: Algorithm
    digest: str
    name: bytes | None


class DigestManifest(Struct, frozen=True):
    """A manifest beside an archive; ``algorithm`` follows from its suffix."""

    source: Source
    algorithm: Algorithm

    @property
    def name(self) -> str:
        """Its printable file name."""
        return visible(PurePath(self.source.name).name)

    def entries(self) -> Iterator[ManifestEntry | int]:
        """Its entries, and the number of each line that is not one; comments and empty lines are skipped."""
        for number, line in enumerate(_lines(self.source), 1):
            text = line.rstrip(b"\r")
            if not text.strip() or text.startswith(b"#"):
                continue
            yield self._entry(number, text) or number

    def _entry(self, number: int, text: bytes) -> ManifestEntry | None:
        escaped = text.startswith(b"\\")
        text, algorithm, name = text[escaped:], self.algorithm, None
        if found := _TEXT.fullmatch(text):
            digest, name = found.groups()
        elif (found := _TAGGED.fullmatch(text)) and (known := _BY_TAG.get(found[1].decode().lower())):
            algorithm, name, digest = known, found[2], found[3]
        else:
            return None
        if len(digest) != 2 * algorithm.size:
            return None
        if escaped and name is not None:
            name = _ESCAPE.sub(lambda escape: _ESCAPED[escape[1]], name)
        return ManifestEntry(number, algorithm, digest.decode().lower(), name)


def _lines(source: Source) -> Iterator[bytes]:
    """The lines of a file, cut off after MAX_LINE_BYTES."""
    rest, at = b"", 0
    while data := source.read(at, _READ_BYTES):
        at += len(data)
        *lines, rest = (rest + data).split(b"\n")
        yield from (line[:MAX_LINE_BYTES] for line in lines)
        rest = rest[:MAX_LINE_BYTES]
    if rest:
        yield rest


def manifests(source: Source) -> Iterator[DigestManifest]:
    """The manifests beside a source, as far as it is told which there are. Raises SourceError."""
    for suffix, algorithm in SUFFIXES.items():
        try:
            beside = source.sibling(suffix)
        except HiddenError:
            continue  # nothing makes one likely
        if beside is not None:
            yield DigestManifest(beside, algorithm)


# ---- reading a member, and the doubts about it afterwards ------------------------------------------------------------


_DIGEST_NAMES = {"crc32": "CRC-32", "xxh64": "xxHash64"}
"""Display names of the digests that archives record of decoded content."""

CLAIMED = "something else in the archive also claims some of its bytes"
"""Why a member with the mark SHARED is extracted only after confirming."""

ELSEWHERE = "bytes were lost or inserted before or in it, so these may be other bytes than its own"
"""Why a member with the mark MISPLACED is extracted only after confirming."""


def notes(archive: Opened) -> list[str]:
    """What is said once where members of an archive are read: how they are."""
    return [each.message for each in archive.findings if CONCERNS.get(each.code) is Concern.READING]


def doubt_about(archive: Opened, index: int, progress: Progress) -> str:
    """Why a check doubts the content of a member, as a clause; empty where it does not. Raises SourceError."""
    if archive.members.marks_of(index) & MISPLACED:
        return ELSEWHERE
    return archive.decoder.doubt(archive, index, progress) if archive.decoder else ""


Noted = Mapping[int, Sequence[tuple[str, ManifestEntry]]]
"""Digests that files beside an archive have of its members: the name of the file, and the entry."""


def noted(archive: Opened) -> Noted:
    """Those of an archive on this machine. Of several members with one name the last counts, as in a check."""
    found: dict[int, list[tuple[str, ManifestEntry]]] = {}
    known: dict[bytes, int] = {}
    with suppress(SourceError):  # a check says so
        for manifest in () if is_remote(archive.source) else manifests(archive.source):
            known = known or {archive.members.path(member): member for member in range(len(archive.members))}
            for entry in manifest.entries():
                if isinstance(entry, ManifestEntry) and entry.name is not None:
                    member = known.get(entry.name, known.get(entry.name.removeprefix(b"./"), -1))
                    found.setdefault(member, []).append((manifest.name, entry))
    return found


class Errors:
    """The errors of an archive, indexed by what they concern; created once for many members."""

    def __init__(self, findings: Iterable[Finding], noted: Noted = MappingProxyType({})) -> None:
        self.noted = noted
        self._of_members: dict[int, list[str]] = {}
        self._unproved: dict[int, list[str]] = {}
        placed: list[tuple[Span, str]] = []
        for finding in findings:
            concern = CONCERNS.get(finding.code)
            if finding.severity is not Severity.ERROR or concern is Concern.NAME:
                continue
            if finding.member is not None:
                by_member = self._unproved if concern is Concern.RECORD else self._of_members
                by_member.setdefault(finding.member, []).append(brief(finding))
            else:
                placed += [(span, brief(finding)) for span in finding.spans if span.size]
        placed.sort()
        self._spans = [span for span, _ in placed]
        self._messages = [message for _, message in placed]
        self._reach = list(accumulate((span.stop for span in self._spans), max))

    def about(self, index: int) -> list[str]:
        """The errors that name a member."""
        return list(self._of_members.get(index, ()))

    def on(self, member: Member) -> list[str]:
        """The errors that leave the content of a member unproved, mostly because they lie on its bytes."""
        lying = {self._messages[at]: None for span in member.spans for at in self._lying_on(span)}
        return [*self._unproved.get(member.index, ()), *lying]

    def _lying_on(self, span: Span) -> Iterator[int]:
        """The indexes of the errors that share bytes with a span, in order."""
        first = bisect_right(self._reach, span.start)
        for at in range(first, bisect_left(self._spans, span.stop, key=lambda each: each.start)):
            if self._spans[at].stop > span.start and span.size:
                yield at


class Doubts(Struct, frozen=True):
    """Why the content read may differ from what was archived, one sentence each.

    ``wrong``: evidence against this member. ``unproved``: nothing proves its content although the archive records what
    should, because something is wrong among bytes that include its own.
    """

    wrong: tuple[str, ...] = ()
    unproved: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[str]:
        return iter((*self.wrong, *self.unproved))

    def __bool__(self) -> bool:
        return bool(self.wrong or self.unproved)


class Reading:
    """One reading of a member; exhaust ``pieces`` before calling ``doubts``.

    ``errors`` are the archive's errors, computed here unless given.
    """

    def __init__(self, archive: Opened, index: int, errors: Errors | None = None) -> None:
        self._archive = archive
        self._errors = errors
        self._index = index
        archive.members.learn((index,))
        self._algorithm, _, self._recorded = (archive.members.digest_at(index) or "").partition(":")
        self._digest = _digest(self._algorithm)
        beside = (errors.noted if errors is not None else noted(archive)).get(index, ())
        self._noted = [(name, each, new_hash(each.algorithm)) for name, each in beside]

    def pieces(self, progress: Progress) -> Iterator[bytes]:
        """The content in pieces; raises MemberError, SourceError and Cancelled."""
        for piece in content(self._archive, self._index, progress):
            if self._digest is not None:
                self._digest.update(piece)
            for _, _, digest in self._noted:
                digest.update(piece)
            yield piece

    def doubts(self, progress: Progress | None = None) -> Doubts:
        """Why the content read may differ from what was archived. Raises SourceError.

        Counts findings that name the member and, unless a digest proves its bytes, those that lie on them,
        and what else a check would doubt.
        """
        archive, index = self._archive, self._index
        errors = self._errors
        if errors is None:
            decoder = archive.decoder
            errors = Errors(decoder.prove(archive, [index], Progress()) if decoder else archive.findings)
        wrong = errors.about(index)
        wrong += (
            f"Its {entry.algorithm.name} is {digest.hexdigest()}, and line {entry.line:,} of {name} has {entry.digest}."
            for name, entry, digest in self._noted
            if digest.hexdigest() != entry.digest
        )
        marks, member = archive.members.marks_of(index), archive.members[index]
        computed = self._digest.hexdigest() if self._digest is not None else ""
        fits = self._digest is not None and computed == self._recorded
        name = brief_name(member.path)
        if marks & MISPLACED:
            unproved = [f"The place of {name} is in doubt: {ELSEWHERE}."]
        else:
            unproved = [f"{name} may be wrong: {CLAIMED}."] if marks & SHARED else []
            why = "" if fits else doubt_about(archive, index, progress or Progress())
            if self._digest is not None and not fits:
                (unproved if why else wrong).append(
                    f"The {_DIGEST_NAMES[self._algorithm]} of {name} does not fit: what was read gives {computed}, "
                    f"{self._recorded} is recorded{f': {why}' if why else ''}."
                )
            if not fits:
                unproved += errors.on(member)
            if self._digest is None and why:
                unproved.append(f"The content of {name} is in doubt: {why}.")
        return Doubts(tuple(wrong), tuple(unproved))


class _Crc32:
    """CRC-32 with the interface of hashlib."""

    def __init__(self) -> None:
        self._crc = 0

    def update(self, data: bytes, /) -> None:
        """See Hash."""
        self._crc = zlib.crc32(data, self._crc)

    def hexdigest(self) -> str:
        """See Hash."""
        return f"{self._crc:08x}"


def _digest(algorithm: str) -> Hash | None:
    if algorithm == "crc32":
        return _Crc32()
    return new_hash(XXH64) if algorithm == "xxh64" else None
