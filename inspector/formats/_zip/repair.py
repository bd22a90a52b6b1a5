"""Repairs for every ZIP archive: its end, its CRC-32 values, and headers that disagree.

The two headers of a member record the same things (APPNOTE.TXT 4.3.7 and 4.3.12). If the content, read as one of them
says, matches a recorded CRC-32, that header is right, because a false match has a chance of one in 2**32; what the
other header says is damage. Nothing proves a name, so changing one needs confirming.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Finding
from inspector.core.format import MemberError
from inspector.core.member import Codec
from inspector.core.names import brief, hazards
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source, blocks_of
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._zip.check import recorded_crcs
from inspector.formats._zip.directory import Directory, is_split
from inspector.formats._zip.members import content
from inspector.formats._zip.rebuild import Rebuilt, rebuild
from inspector.formats._zip.records import (
    CENTRAL_PARTS,
    CENTRAL_SIZE,
    CENTRAL_STRUCT,
    CODECS,
    DESCRIPTOR_BYTES,
    FORMS,
    FULL_16,
    FULL_32,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_PARTS,
    LOCAL_SIZE,
    LOCAL_STRUCT,
    UNSUPPORTED,
    Central,
    Local,
    as_bytes,
    codec_of,
    form_of,
)
from inspector.formats._zip.strays import Scanner, Verified, VerifiedNumbers, crc_of

END_CODES = frozenset(
    {
        "zip-no-central-directory",
        "zip-directory-missing",
        "zip-directory-damaged",
        "zip-disk-number",
        "zip-directory-size",
        "zip-directory-offset",
        "zip-bytes-missing",
        "zip-bytes-inserted",
        "zip-end-not-at-end",
        "zip-entry-count",
        "zip-entry-count-modulo",
        "zip-zip64-disagrees",
        "zip-zip64-locator",
        "zip-zip64-missing",
        "zip-zip64-size",
    }
)
"""Findings about the central directory as a whole, or the end records."""
_NO_LOCAL_HEADER = "zip-no-local-header"
"""The finding on a member with a wrong offset, whose local header may be elsewhere."""
_WRONG_OFFSET_CODES = frozenset({"zip-overlap", "zip-local-name", "zip-local-size"})
"""Findings on an entry with the offset of another member."""
_WITHOUT_DIRECTORY = frozenset({"zip-member-cut-off", "zip-size-unknown"})
_RECORD_CODES = frozenset({"zip-local-crc", "zip-descriptor-differs", "zip-crc-field-wrong"})
MAX_ASSUMPTIONS = 16
"""Members offered a repair that needs confirming at once; the others follow when these are repaired."""
ExtraLosses = Callable[[Rebuilt], Sequence[str]]
"""Sentences on what else is lost when the end is rewritten."""


def repair_end(
    archive: Archive, directory: Directory, progress: Progress, extra_losses: ExtraLosses = lambda _: ()
) -> list[Repair]:
    """Rewrite the central directory and the end records, if a finding concerns them."""
    codes = {finding.code for finding in archive.findings}
    unlisted = "zip-orphan" in codes and bool(shared_heads(directory))
    wanted = codes & (END_CODES | {_NO_LOCAL_HEADER})
    if not wanted and not unlisted:
        return []
    follow = _NO_LOCAL_HEADER in codes or unlisted
    rebuilt = rebuild(archive.source, directory, _verified(archive, directory), progress, follow=follow)
    if rebuilt is None or (not wanted and not rebuilt.made):
        return []
    place, heads = rebuilt.place, {each.head for each in rebuilt.made}
    entries = directory.eocd.entries if directory.eocd is not None else 0
    if place.gaps and entries > rebuilt.kept + len(rebuilt.made) + rebuilt.gone:
        return []  # the existing directory has more members than the new one would
    if rebuilt.gone and {each.head for each in directory.strays.members} - heads:
        return []  # an entry that it drops has its member elsewhere, which a salvage saves
    fixed = END_CODES | {_NO_LOCAL_HEADER, "zip-orphan"} | (_WRONG_OFFSET_CODES if unlisted else frozenset())
    fixed |= _WITHOUT_DIRECTORY if "zip-no-central-directory" in codes else frozenset()
    loses = (*_losses(rebuilt), *extra_losses(rebuilt))
    edit = replace(rebuilt.edit, label=_title(rebuilt))
    lossless = "" if loses else "Every entry of the directory stays, and no byte of a member changes."
    buried = place.remnant.size if place.cut_off is None else max(0, edit.old_size - place.cut_off.begin)
    claim = _assumption(rebuilt, unsearched=directory.strays.unsearched)
    return [
        Repair(
            "zip-rebuild-end",
            edit.label,
            frozenset(codes & fixed),
            loses,
            claim,
            edit,
            lossless=lossless,
            buried=buried,
        )
    ]


def shared_heads(directory: Directory) -> frozenset[int]:
    """Offsets of local headers that several entries of the directory point to."""
    claimed = Counter(directory.heads if directory.listed else ())
    return frozenset(head for head, claims in claimed.items() if claims > 1)


def _verified(archive: Archive, directory: Directory) -> Verified:
    """The numbers of the members whose content matched a CRC-32."""
    members = directory.members
    verified = VERDICTS.index(Verdict.VERIFIED)
    found: dict[int, VerifiedNumbers] = {}
    numbers = zip(directory.heads, directory.computed, archive.verdicts, strict=False)
    for index, (head, crc, verdict) in enumerate(numbers):
        stored, codec = members.stored(index), members.codec_at(index)
        if verdict == verified and (stored or head not in found):  # of two entries with one header, not the empty one
            found[head] = VerifiedNumbers(crc, stored, stored if codec is Codec.STORED else members.size(index), codec)
    return found


def _title(rebuilt: Rebuilt) -> str:
    if rebuilt.made or rebuilt.gone:
        members = count(len(rebuilt.made) + rebuilt.kept, "member")
        origin = f", {grouped(len(rebuilt.made))} of them from local headers" if rebuilt.made else ""
        return f"Rewrite the central directory at byte {grouped(rebuilt.place.start)}: {members}{origin}"
    at = rebuilt.edit.patches[0].offset if rebuilt.edit.patches else rebuilt.edit.new_size
    return f"Rewrite the end records from byte {grouped(at)} on: {count(rebuilt.kept, 'member')}"


def _losses(rebuilt: Rebuilt) -> Iterator[str]:
    cut_off, remnant, gaps = rebuilt.place.cut_off, rebuilt.place.remnant, rebuilt.place.gaps
    if cut_off is not None:
        have = max(0, rebuilt.edit.old_size - cut_off.begin)
        left = f"its remaining {in_bytes(have)} {verb(have, 'is', 'are')} cut off"
        yield f"{brief(cut_off.name)}, which is incomplete: {left}."
    if remnant.size:
        yield f"The {in_bytes(remnant.size)} of a cut-off local header, whose member has no data in the file."
    if rebuilt.gone:
        yield f"{count(rebuilt.gone, 'entry', 'entries')} of the directory whose members are not in the file."
    if rebuilt.made:
        members = count(len(rebuilt.made), "member")
        yield f"What only the central directory recorded of {members}: permissions and comments, if any."
    if rebuilt.uncommented:
        yield "The comment of the archive, if it had one."
    if rebuilt.trailing.size:
        yield f"The {in_bytes(rebuilt.trailing.size)} after the archive, from {grouped(rebuilt.trailing.start)} on."
    if gaps:
        size = sum(each.size for each in gaps)
        places = f" in {len(gaps):,} places, the first" if len(gaps) > 1 else ""
        place = f"{in_bytes(size)}{places} from {grouped(gaps[0].start)} on"
        stay = verb(size, "It stays in the file and belongs", "They stay in the file and belong")
        yield f"The meaning of the {place}, which is unknown. {stay} to no member."


def _assumption(rebuilt: Rebuilt, *, unsearched: bool) -> str:
    if rebuilt.left_out or (rebuilt.place.gaps and unsearched):
        size = in_bytes(sum(each.size for each in rebuilt.place.gaps))
        number = count(rebuilt.left_out, "local header") if rebuilt.left_out else "local headers"
        stand = verb(rebuilt.left_out, "stands", "stand") if rebuilt.left_out else "may stand"
        return (
            f"No member is wanted of the {size} that the new directory leaves out, although "
            f"{'at least ' if unsearched else ''}{number} {stand} there. Afterwards programs no longer look for them."
        )
    if not rebuilt.doubtful or rebuilt.place.cut_off is None:
        return ""
    return (
        f"The size of {brief(rebuilt.place.cut_off.name)} is right. Its data runs to the end of the file and contains "
        "what look like headers of more members: either it is an archive itself, or its size is damaged and those "
        "members would be cut off with it."
    )


def members_with(findings: Iterable[Finding], code: str) -> list[int]:
    """The members with findings of this code, each once."""
    return list(dict.fromkeys(each.member for each in findings if each.code == code and each.member is not None))


def repair_records(archive: Archive, directory: Directory) -> Iterator[Repair]:
    """Set CRC-32 values to that of the content: proved if a record has the same, else an assumption."""
    if not directory.computed:
        return
    members = members_with(archive.findings, "zip-crc-field-wrong")
    patches = [patch for member in members for patch in _crc_patches(archive, directory, member)]
    if patches:
        title = f"Set {count(len(patches), 'CRC-32 record')} to the value of the content, which other records confirm"
        codes = {each.code for each in archive.findings if each.code in _RECORD_CODES and each.member in members}
        edit, why = in_place(archive, title, patches), "The content and the other records give the same CRC-32."
        yield Repair("zip-set-records", title, frozenset(codes), edit=edit, lossless=why)

    for member in members_with(archive.findings, "zip-crc-mismatch")[:MAX_ASSUMPTIONS]:
        patches = _crc_patches(archive, directory, member)
        if not patches:
            continue
        name = brief(directory.members.path(member))
        title = f"Set the CRC-32 of {name} (member {member}) to that of its content"
        claim = (
            f"The content of {name} is right and its CRC-32 wrong. Nothing in the archive proves that, and "
            "afterwards nothing shows that the content may be damaged."
        )
        fixes = frozenset({"zip-crc-mismatch"})
        yield Repair(f"zip-accept-content-{member}", title, fixes, (), claim, in_place(archive, title, patches))


def _crc_patches(archive: Archive, directory: Directory, member: int) -> list[Patch]:
    """Patches that set every CRC-32 record of a member that differs from its content.

    None if a record lies inside the content itself, which the patch would change.
    """
    crc = directory.computed[member]
    wrong = [each for each in recorded_crcs(archive.source, directory, member) if each.crc != crc]
    start, stop = directory.members.starts[member], directory.members.stops[member]
    if crc < 0 or any(each.span.start < stop and start < each.span.stop for each in wrong):
        return []
    new = crc.to_bytes(4, "little")
    return [Patch(each.span.start, each.crc.to_bytes(4, "little"), new) for each in wrong]


def in_place(archive: Archive, label: str, patches: Iterable[Patch]) -> Edit:
    """The Edit of these patches, which keeps the file's size. Overlapping patches are applied once."""
    kept: list[Patch] = []
    for patch in sorted(patches, key=lambda each: each.offset):
        if not kept or patch.offset >= kept[-1].span.stop:
            kept.append(patch)
    size = archive.source.size
    return Edit(label, tuple(kept), size, size)


_DISPUTE_CODES = (
    "zip-other-disk",
    "zip-local-method",
    "zip-local-flags",
    "zip-local-size",
    "zip-local-signature",
    "zip-local-name",
    "zip-stored-size",
)
_SYMPTOM_CODES = ("zip-extra-malformed", "zip-descriptor-differs", "zip-descriptor-missing")
"""Other findings that a wrong header causes if the content does not match."""
_FIXED_CODES = frozenset(
    {
        *_DISPUTE_CODES,
        *_SYMPTOM_CODES,
        "zip-encrypted",
        "zip-method-not-read",
        "zip-member-cut-off",
        "zip-crc-mismatch",
        "zip-content-damaged",
        "zip-overlap",
    }
)
_MAX_MEMBERS = 1_000
"""Members whose headers are repaired at once; the others follow when these are repaired."""
_READING_FLAGS = UNSUPPORTED | HAS_DESCRIPTOR
"""Flags that determine how content is read."""


class _HeaderPair(NamedTuple):
    """Both headers of a member and their offsets; ``name`` is from the central directory."""

    central: Central
    local: Local
    name: bytes
    at: int
    head: int


def repair_headers(archive: Archive, directory: Directory, progress: Progress) -> Iterator[Repair]:
    """Set headers to what the content proves; offer both names of a member if its headers differ in it.

    Raises SourceError and Cancelled.
    """
    if not directory.listed or not directory.computed:
        return
    search = _HeaderProof(archive, directory, progress)
    patches: list[Patch] = []
    fixed: set[int] = set()
    for member in _disputed_members(archive):
        found = search.patches(member)
        patches += found
        fixed |= {member} if found else set()
    if patches:
        fields = count(len(patches), "field")
        title = f"Set {fields} in headers of {count(len(fixed), 'member')} to the values that the content proves"
        codes = {each.code for each in archive.findings if each.member in fixed}
        edit, why = in_place(archive, title, patches), "Only fields that the content contradicts are written."
        yield Repair("zip-set-headers", title, frozenset(codes & _FIXED_CODES), edit=edit, lossless=why)
    for member in members_with(archive.findings, "zip-local-name")[:MAX_ASSUMPTIONS]:
        if archive.verdict(member) is Verdict.VERIFIED:
            yield from _name_repairs(archive, directory, member)


def _disputed_members(archive: Archive) -> list[int]:
    disputed = (member for code in _DISPUTE_CODES for member in members_with(archive.findings, code))
    signs = (member for code in _SYMPTOM_CODES for member in members_with(archive.findings, code))
    doubtful = (member for member in signs if archive.verdict(member) is not Verdict.VERIFIED)
    return list(dict.fromkeys((*disputed, *doubtful)))[:_MAX_MEMBERS]


class _HeaderProof:
    """Finds out which header of a member is right; the bytes read for that are bounded."""

    def __init__(self, archive: Archive, directory: Directory, progress: Progress) -> None:
        self.archive = archive
        self.source = archive.source
        self.directory = directory
        self.progress = progress
        self.left = 16 * (archive.source.size + (1 << 20))
        self.heads = sorted(directory.heads)
        self.shared = shared_heads(directory)
        self.split = is_split(directory.eocd)
        progress.begin("Comparing headers with content", 0, "members")

    def patches(self, member: int) -> list[Patch]:
        """Patches that correct the headers of a member; none if its content proves neither."""
        self.progress.advance(1)
        pair = _pair(self.source, self.directory, member)
        if pair is None:
            return []
        local_name = self.source.read(pair.head + LOCAL_SIZE, pair.local.name_length)
        if pair.head in self.shared and local_name != pair.name:  # several entries point to it: it is one of them
            return []
        if self.archive.verdict(member) is Verdict.VERIFIED:
            each = self.directory.members[member]
            size = each.stored if each.codec is Codec.STORED else each.size
            right = pair.central._replace(stored=each.stored, size=size)
            return [*self._field_patches(pair, right, each.spans[0].start, self.directory.computed[member])]
        for begin, right in self._possible_forms(pair):
            crc, local_crc = self._crc(right, begin, member), pair.local.crc
            crcs = {right.crc, local_crc if local_crc or not pair.local.flags & HAS_DESCRIPTOR else right.crc}
            if crc in crcs and (right.stored or crcs == {0}):  # an empty content matches everywhere
                return [*self._field_patches(pair, right, begin, crc)]
        return []

    def _possible_forms(self, pair: _HeaderPair) -> Iterator[tuple[int, Central]]:
        """Where the data may begin, and the central header as it may have been."""
        central, local = pair.central, pair.local
        # Stored data has no end to be searched for: one may be far.
        scanner = Scanner(self.source, self.progress, left=0)
        described = scanner.member(pair.head) if local.flags & HAS_DESCRIPTOR else None
        models = (central, local, *((described.local,) if described is not None else ()))
        starts, methods = dict.fromkeys(self._possible_starts(pair)), dict.fromkeys((central.method, local.method))
        stored, sizes = dict.fromkeys(each.stored for each in models), dict.fromkeys(each.size for each in models)
        for begin, *form in product(starts, methods, stored, sizes):
            yield begin, central._replace(**dict(zip(("method", "stored", "size"), form, strict=True)))

    def _possible_starts(self, pair: _HeaderPair) -> Iterator[int]:
        """Yield where the data may begin: by the local header, by the directory's name, or by the next header."""
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

    def _crc(self, right: Central, begin: int, member: int) -> int:
        """The CRC-32 of the content that such a header describes; -1 if it cannot be read so."""
        codec, stop = CODECS.get(right.method), begin + right.stored
        fits = codec is not Codec.STORED or right.size == right.stored
        if codec is None or stop > self.source.size or right.size > self.left or not fits:
            return -1
        self.left -= right.size
        candidate = self.directory.members[member]._replace(
            spans=(Span(begin, stop),), codec=codec, size=right.size, stored=right.stored
        )
        try:
            return crc_of(content(candidate, blocks_of(self.source, candidate.spans)), self.progress)
        except MemberError:
            return -1

    def _field_patches(self, pair: _HeaderPair, right: Central, begin: int, crc: int) -> Iterator[Patch]:
        """A patch for each wrong field of the two headers; the content begins at ``begin`` and has this CRC-32."""
        source, (central, local, name, at, head) = self.source, pair
        described = form_of(source.read(begin + right.stored, DESCRIPTOR_BYTES), crc, right.stored, right.size)
        if not self.split and central.disk != FULL_16:
            right = right._replace(disk=0)
        here = local._replace(signature=LOCAL, method=right.method)
        if (central.flags ^ local.flags) & _READING_FLAGS or codec_of(right.method, central.flags) is Codec.UNKNOWN:
            flags = HAS_DESCRIPTOR if described else 0
            right = right._replace(flags=central.flags & ~_READING_FLAGS | flags)
            here = here._replace(flags=local.flags & ~_READING_FLAGS | flags)
        if not (described and not local.stored and not local.size):
            here = here._replace(stored=right.stored, size=right.size)
        if begin != head + LOCAL_SIZE + local.name_length + local.extra_length:
            named = source.read(head + LOCAL_SIZE, len(name)) == name
            length = len(name) if named else local.name_length
            extra = begin - head - LOCAL_SIZE - length
            if 0 <= extra < 1 << 16:
                here = here._replace(name_length=length, extra_length=extra)
        for place, parts, old, new in ((at, CENTRAL_PARTS, central, right), (head, LOCAL_PARTS, local, here)):
            for part, before, after in zip(parts, old, new, strict=True):
                if before != after:
                    yield Patch(place, *(as_bytes(each, part.size) for each in (before, after)))
                place += part.size  # noqa: PLW2901 - from field to field


def _pair(source: Source, directory: Directory, member: int) -> _HeaderPair | None:
    """Both headers of a member; None if one is missing or has its sizes in ZIP64 information."""
    at, head = directory.central[member], directory.heads[member]
    there, here = source.read(at, CENTRAL_SIZE), source.read(head, LOCAL_SIZE)
    if len(there) < CENTRAL_SIZE or len(here) < LOCAL_SIZE:
        return None
    central, local = Central._make(CENTRAL_STRUCT.unpack(there)), Local._make(LOCAL_STRUCT.unpack(here))
    if FULL_32 in (central.stored, central.size, local.stored, local.size):
        return None
    return _HeaderPair(central, local, source.read(at + CENTRAL_SIZE, central.name_length), at, head)


def _name_repairs(archive: Archive, directory: Directory, member: int) -> Iterable[Repair]:
    """Two repairs that give both headers the same name, if the names are of the same length."""
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
        title = f"Set the name of member {member} in its {place} to {brief(right)}"
        claim = (
            f"'{brief(right)}' is its name, and '{brief(wrong)}' is damage. Its content is whole but does not "
            "show its name."
        )
        edit = in_place(archive, title, [Patch(at, wrong, right)])
        yield Repair(f"zip-name-{code}-{member}", title, frozenset({"zip-local-name"}), (), claim, edit)
