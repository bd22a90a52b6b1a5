"""Which of a member's two headers is right: APPNOTE.TXT 4.3.7 and 4.3.12 say the same things twice.

Content which, taken as one of the two says, fits a CRC-32 that is recorded is what was written: chance would have to
hit one of 2**32. What the other header says instead is then damage. Nothing bears out a name, so it takes a word.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from isal.isal_zlib import crc32

from inspector.core.archive import Archive
from inspector.core.edit import Patch
from inspector.core.format import MemberError
from inspector.core.member import Codec
from inspector.core.names import hazards, visible
from inspector.core.numbers import count
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.formats._zip.descriptors import FORMS, form_of
from inspector.formats._zip.directory import UNSUPPORTED, Directory, codec_of
from inspector.formats._zip.local_scan import survivor
from inspector.formats._zip.reading import content, stored_pieces
from inspector.formats._zip.records import (
    CENTRAL_SIZE,
    CENTRAL_STRUCT,
    DEFLATED,
    FULL_32,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_SIZE,
    LOCAL_STRUCT,
    STORED,
    Central,
    Local,
)
from inspector.formats._zip.repair import MOST_CLAIMS, in_place, named_by, shared_heads

_DISPUTES = (
    "zip-local-method",
    "zip-local-flags",
    "zip-local-size",
    "zip-local-signature",
    "zip-local-name",
    "zip-stored-size",
)
_SIGNS = ("zip-extra-malformed", "zip-descriptor-differs", "zip-descriptor-missing")
"""What else a wrong header looks like, where the content is not whole: of lengths, and of sizes behind the data."""
_ANSWERED = frozenset(
    {
        *_DISPUTES,
        *_SIGNS,
        "zip-encrypted",
        "zip-method-not-read",
        "zip-member-cut-off",
        "zip-crc-mismatch",
        "zip-content-damaged",
        "zip-overlap",
    }
)
_MOST = 1_000
"""The most members whose headers are set right at once; those after them follow when these are repaired."""
_METHODS = {STORED: Codec.STORED, DEFLATED: Codec.DEFLATE}
_DESCRIPTOR = 28
"""Bytes to look at for a data descriptor: the longest, and the signature of what follows."""
_FLAGS = UNSUPPORTED | HAS_DESCRIPTOR
"""The flags that say how content is to be read."""


class _Pair(NamedTuple):
    """Both headers of a member, and where they begin; ``name`` is that of the central directory."""

    central: Central
    local: Local
    name: bytes
    at: int
    head: int


class _Form(NamedTuple):
    """How the content of a member is stored: its data begins at ``begin``, sizes in bytes."""

    method: int
    stored: int
    size: int
    begin: int
    crc: int = -1


def repair_headers(archive: Archive, directory: Directory, progress: Progress) -> Iterator[Repair]:
    """Set what headers say of members to what their content proves; names, one way or the other, on the user's word.

    Raises SourceError and Cancelled.
    """
    if not directory.listed or not directory.computed:
        return
    search = _Search(archive, directory, progress)
    patches: list[Patch] = []
    repaired: set[int] = set()
    for member in _disputed(archive):
        found = search.patches(member)
        patches += found
        repaired |= {member} if found else set()
    if patches:
        fields = count(len(patches), "field")
        title = f"Set {fields} in headers of {count(len(repaired), 'member')} to what the content proves"
        codes = {each.code for each in archive.findings if each.member in repaired}
        edit, why = in_place(archive, title, patches), "Only fields are written that the content contradicts."
        yield Repair("zip-set-headers", title, frozenset(codes & _ANSWERED), edit=edit, lossless=why)
    for member in named_by(archive.findings, "zip-local-name")[:MOST_CLAIMS]:
        if archive.verdict(member) is Verdict.VERIFIED:
            yield from _names(archive, directory, member)


def _disputed(archive: Archive) -> list[int]:
    disputed = (member for code in _DISPUTES for member in named_by(archive.findings, code))
    signs = (member for code in _SIGNS for member in named_by(archive.findings, code))
    doubtful = (member for member in signs if archive.verdict(member) is not Verdict.VERIFIED)
    return list(dict.fromkeys((*disputed, *doubtful)))[:_MOST]


class _Search:
    """Looks for what is true of members whose headers say different things; what is read for that is bounded."""

    def __init__(self, archive: Archive, directory: Directory, progress: Progress) -> None:
        self.archive = archive
        self.source = archive.source
        self.directory = directory
        self.progress = progress
        self.left = 16 * (archive.source.size + (1 << 20))
        self.heads = sorted(directory.members.heads or ())
        self.shared = shared_heads(directory)
        progress.begin("Comparing headers with content", 0, "members")

    def patches(self, member: int) -> list[Patch]:
        """What sets the headers of a member right; nothing where its content bears out neither."""
        self.progress.advance(1)
        pair = _pair(self.source, self.directory, member)
        if pair is None or (pair.head in self.shared and not self._is_named(pair)):
            return []
        form = self._known(pair, member) or self._proved(pair, member)
        return [each for each in _patches(self.source, pair, form) if each.old != each.new] if form is not None else []

    def _is_named(self, pair: _Pair) -> bool:
        """Whether the local header is that of the member, and not of another that claims it too."""
        return self.source.read(pair.head + LOCAL_SIZE, pair.local.name_length) == pair.name

    def _known(self, pair: _Pair, member: int) -> _Form | None:
        """The form of a member that the check has found to be whole."""
        if self.archive.verdict(member) is not Verdict.VERIFIED:
            return None
        each = self.directory.members[member]
        size = each.stored if each.codec is Codec.STORED else each.size
        return _Form(pair.central.method, each.stored, size, each.spans[0].start, self.directory.computed[member])

    def _proved(self, pair: _Pair, member: int) -> _Form | None:
        central, local = pair.central, pair.local
        crcs = {central.crc, local.crc if local.crc or not local.flags & HAS_DESCRIPTOR else central.crc}
        sizes = [(each.stored, each.size) for each in (central, local)]
        behind = survivor(self.source, pair.head, {}, self.progress) if local.flags & HAS_DESCRIPTOR else None
        if behind is not None:
            sizes.append((behind.local.stored, behind.local.size))
        stored_sizes, decoded_sizes = zip(*sizes, strict=True)
        for begin, method, stored, size in product(
            *map(dict.fromkeys, (self._begins(pair), (central.method, local.method), stored_sizes, decoded_sizes))
        ):
            form = _Form(method, stored, size, begin)
            crc = self._crc(form, member)
            if crc in crcs and (stored or crcs == {0}):  # no content fits the CRC-32 of none wherever it is
                return form._replace(crc=crc)
        return None

    def _begins(self, pair: _Pair) -> Iterator[int]:
        """Where the data may begin: as the local header says, with the name that the directory has, before the next."""
        lengths = pair.local.name_length + pair.local.extra_length
        yield pair.head + LOCAL_SIZE + lengths
        named = pair.head + LOCAL_SIZE + len(pair.name)
        yield named + pair.local.extra_length
        at = bisect_right(self.heads, pair.head)
        span = self.directory.span
        following = self.heads[at] if at < len(self.heads) else span.start if span is not None else -1
        for size in FORMS if pair.local.flags & HAS_DESCRIPTOR else (0,):
            if following - size - pair.central.stored >= named:
                yield following - size - pair.central.stored

    def _crc(self, form: _Form, member: int) -> int:
        """The CRC-32 of the content in that form; -1 where there is none."""
        codec, stop = _METHODS.get(form.method), form.begin + form.stored
        stored = codec is Codec.STORED
        if codec is None or stop > self.source.size or form.size > self.left or (stored and form.size != form.stored):
            return -1
        self.left -= form.size
        like = replace(
            self.directory.members[member],
            spans=(Span(form.begin, stop),),
            codec=codec,
            size=form.size,
            stored=form.stored,
        )
        crc = 0
        try:
            for piece in content(like, stored_pieces(self.source, like)):
                crc = crc32(piece, crc)
                self.progress.advance(0)
        except MemberError:
            return -1
        return crc


def _pair(source: Source, directory: Directory, member: int) -> _Pair | None:
    """Both headers of a member; None where one is not there, or keeps its sizes elsewhere (ZIP64)."""
    heads = directory.members.heads
    assert heads is not None
    at, head = directory.central[member], heads[member]
    there, here = source.read(at, CENTRAL_SIZE), source.read(head, LOCAL_SIZE)
    if len(there) < CENTRAL_SIZE or len(here) < LOCAL_SIZE:
        return None
    central, local = Central._make(CENTRAL_STRUCT.unpack(there)), Local._make(LOCAL_STRUCT.unpack(here))
    if FULL_32 in (central.stored, central.size, local.stored, local.size):
        return None
    return _Pair(central, local, source.read(at + CENTRAL_SIZE, central.name_length), at, head)


def _patches(source: Source, pair: _Pair, form: _Form) -> Iterator[Patch]:
    """Every field of the two headers as it is to be, those that are right already among them."""
    central, local, at, head = pair.central, pair.local, pair.at, pair.head
    described = bool(form_of(source.read(form.begin + form.stored, _DESCRIPTOR), form.crc, form.stored, form.size))
    flags = HAS_DESCRIPTOR if described else 0
    disputed = (central.flags ^ local.flags) & _FLAGS or codec_of(form.method, central.flags) is Codec.UNKNOWN
    if disputed:
        yield _number(at + 8, central.flags, central.flags & ~_FLAGS | flags, 2)
        yield _number(head + 6, local.flags, local.flags & ~_FLAGS | flags, 2)
    yield _number(at + 10, central.method, form.method, 2)
    yield _number(at + 20, central.stored, form.stored, 4)
    yield _number(at + 24, central.size, form.size, 4)
    yield Patch(head, local.signature, LOCAL)
    yield _number(head + 8, local.method, form.method, 2)
    if not (described and not local.stored and not local.size):
        yield _number(head + 18, local.stored, form.stored, 4)
        yield _number(head + 22, local.size, form.size, 4)
    if form.begin == head + LOCAL_SIZE + local.name_length + local.extra_length:
        return
    named = source.read(head + LOCAL_SIZE, len(pair.name)) == pair.name
    name = len(pair.name) if named else local.name_length
    extra = form.begin - head - LOCAL_SIZE - name
    if 0 <= extra < 1 << 16:
        yield _number(head + 26, local.name_length, name, 2)
        yield _number(head + 28, local.extra_length, extra, 2)


def _number(at: int, old: int, new: int, width: int) -> Patch:
    return Patch(at, old.to_bytes(width, "little"), new.to_bytes(width, "little"))


def _names(archive: Archive, directory: Directory, member: int) -> Iterable[Repair]:
    """The two ways to let both headers of a member have one name, where they are of one length."""
    pair = _pair(archive.source, directory, member)
    if pair is None or pair.local.name_length != len(pair.name):
        return
    there, here = pair.at + CENTRAL_SIZE, pair.head + LOCAL_SIZE
    local = archive.source.read(here, len(pair.name))
    for code, right, at, wrong, place in (
        ("central", pair.name, here, local, "local header"),
        ("local", local, there, pair.name, "central directory"),
    ):
        if len(local) < len(pair.name) or hazards(right):
            continue
        title = f"Let member {member} be called {visible(right)} in its {place} too"
        claim = (
            f"{visible(right)!r} is assumed to be its name, and {visible(wrong)!r} to be damage. Its content is whole, "
            "and shows nothing of its name."
        )
        edit = in_place(archive, title, [Patch(at, wrong, right)])
        yield Repair(f"zip-name-{code}-{member}", title, frozenset({"zip-local-name"}), (), claim, edit)
