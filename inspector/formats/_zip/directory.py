"""Read the central directory into columns and compare it with the local headers (APPNOTE.TXT 4.3.7, 4.3.12)."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from inspector.core.archive import CappedFindings, Emitter
from inspector.core.finding import FindingType, Severity
from inspector.core.limits import BOUNDS
from inspector.core.member import FOLDER, UNREADABLE, Codec, Members
from inspector.core.names import brief
from inspector.core.numbers import count, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._zip import codes
from inspector.formats._zip.eocd import Eocd
from inspector.formats._zip.extra import (
    ZIP64,
    ExtraPlace,
    extra_records,
    report_extra,
)
from inspector.formats._zip.members import (
    AttributeCheck,
    impossible_time,
    path_of,
    report_name,
)
from inspector.formats._zip.records import (
    CENTRAL_SIZE,
    ENCRYPTED,
    FULL_16,
    FULL_32,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_SIZE,
    LOCAL_STRUCT,
    MASKED,
    MAX_MEMBERS,
    OFFSET_FIELD,
    UNSUPPORTED,
    ZIP64_VERSION,
    Central,
    Local,
    LocalFile,
    central_headers,
    codec_of,
    method_text,
    version_text,
    zip64,
)

MAX_NAME_BYTES = 1 << 28
"""Bytes of names held in memory; members beyond are not listed."""
EXTRA_GUESS_BYTES = 64
"""Bytes of an extra field that are read with the header before it."""
_MAX_SHOWN_BYTES = 1024
"""Bytes of a name that a message shows: names of 64 KiB that differ may be many."""


class Strays(Struct, frozen=True):
    """Members that verify at other places.

    ``broken`` are local headers, by name and offset, of members that no record lists and that do not verify.
    ``unsearched``: the search ended before the file, so there may be more of both.
    """

    members: tuple[LocalFile, ...] = ()
    broken: tuple[tuple[bytes, int], ...] = ()
    unsearched: bool = False


class Directory(Struct):
    """Columns besides ``members``, with one row for each member.

    ``central`` is where its central directory header begins (empty without a directory), ``descriptors`` the size of
    its data descriptor, ``computed`` the CRC-32 of its content (filled by a check; -1 if not computed). ``span`` is the
    whole directory and ``stop`` the end of its last readable header. ``with_descriptor`` are the members whose flags
    announce a data descriptor. ``capped``: there are more members than are listed. ``deferred``: local headers were
    not read, and the places of members are inferred (``decode.place_members``). ``strays`` are members that verify at
    other places; a check finds them. ``header`` is that of a format based on ZIP, as it was read.
    """

    members: Members
    eocd: Eocd | None = None
    span: Span | None = None
    stop: int = 0
    capped: bool = False
    deferred: bool = False
    central: array[int] = field(default_factory=lambda: array("Q"))
    descriptors: array[int] = field(default_factory=lambda: array("B"))
    with_descriptor: array[int] = field(default_factory=lambda: array("Q"))
    computed: array[int] = field(default_factory=lambda: array("q"))
    strays: Strays = Strays()
    header: Any = None
    encrypted: bool = False

    @property
    def listed(self) -> bool:
        """Whether the members come from the central directory; otherwise they come from local headers."""
        return self.eocd is not None and len(self.central) == len(self.members)

    @property
    def first(self) -> int:
        """The index of the member at the start of the file; -1 if there is none."""
        return self.heads.index(0) if 0 in self.heads else -1

    @property
    def heads(self) -> array[int]:
        """Where the local header of each member begins."""
        assert self.members.heads is not None
        return self.members.heads

    @property
    def marks(self) -> array[int]:
        """The marks of each member."""
        assert self.members.marks is not None
        return self.members.marks


def is_split(eocd: Eocd | None) -> bool:
    """Whether the archive is one disk of several."""
    return eocd is not None and any(what is codes.SEVERAL_DISKS for what, *_ in eocd.problems)


def add_member(
    emitter: Emitter,
    directory: Directory,
    path: bytes,
    place: tuple[int, int],
    sizes: tuple[int, int],
    codec: Codec,
    crc: int,
) -> None:
    """Add a member whose header and data begin at ``place``, data at -1 if its header was not found.

    ``sizes`` are its stored and decoded ones. Reports a folder with content, and data that is cut off.
    """
    (head, start), (stored, size), end = place, sizes, emitter.archive.source.size
    index, stop, marks = len(directory.members), start + stored, FOLDER if path.endswith(b"/") else 0
    if marks and size:
        emitter.report(
            codes.FOLDER_WITH_CONTENT,
            f"The folder {brief(path)} has {in_bytes(size)} of content, which programs lose when they extract it.",
            (head, stop),
            member=index,
        )
    if start < 0:
        head = start = stop = max(0, min(head, end))
        marks |= UNREADABLE
    elif (missing := min(stop - end, stored)) > 0:
        emitter.report(
            codes.MEMBER_CUT_OFF,
            f"The data of {brief(path) or '(no name)'} is cut off: {in_bytes(missing)} of {in_bytes(stored)} "
            f"{verb(missing, 'is', 'are')} missing. It begins at {start:,}, and the file ends before it does.",
            (start, end),
            member=index,
        )
        stop = end
    members = directory.members
    members.append(path, min(start, stop), stop, size=size, codec=codec, digest=crc, head=head, marks=marks)
    directory.descriptors.append(0)


def new_members() -> Members:
    """Empty columns for the members of a ZIP archive."""
    return Members(digest="crc32", digest_digits=8, sizes=True, codecs=True, heads=True, marks=True)


class DirectoryWalk:
    """One walk over a central directory.

    ``crc_checked_at`` holds offsets of local headers whose CRC-32 the caller compares. If the directory is displaced,
    ``last_at_offset`` is the last local header found at its recorded offset and ``first_displaced`` the first one found
    displaced like the directory; -1 if there is none.
    """

    def __init__(
        self, source: Source, emitter: Emitter, directory: Directory, eocd: Eocd, crc_checked_at: Container[int] = ()
    ) -> None:
        self.source = source
        self.emitter = emitter
        self.directory = directory
        self.members = directory.members
        self.shift = eocd.shift
        self.displacement = eocd.displacement
        self.last_at_offset = self.first_displaced = -1
        self.crc_checked_at = crc_checked_at
        self.attributes = AttributeCheck(source, emitter)
        self.times = CappedFindings(emitter, codes.TIME, "members with an impossible time")
        self.rest_left = BOUNDS.budget_of_headers(source.size)
        self.first_bytes = lru_cache(maxsize=1)(source.read)  # many entries may claim one header
        self.rest_of: tuple[int, int, bytes] = (-1, 0, b"")
        self.not_compared = 0
        self.split = is_split(eocd)
        self.disk = int.from_bytes(source.read(eocd.record.start + 4, 2), "little") if self.split else 0

    @property
    def capped(self) -> tuple[bool, bool]:
        """Whether more errors are only counted, and whether the budget for headers in each other is used up."""
        return self.emitter.full(Severity.ERROR), self.not_compared > 0

    def run(self, start: int, limit: int, progress: Progress, bulk: Iterable[int] = ()) -> None:
        """Add a member for each header in ``[start, limit)``, up to the first that is not readable.

        ``bulk`` adds the first of them as it is iterated, and yields where the next header is.
        """
        progress.begin("Reading the central directory", limit - start)
        self.directory.stop = start
        for stop in bulk:
            progress.advance(stop - start - progress.done)
        for at, central, common, name, extra, stop in central_headers(self.source, self.directory.stop, limit):
            if len(self.members) >= MAX_MEMBERS or len(self.members.paths) > MAX_NAME_BYTES:
                message = f"Only the first {len(self.members):,} members are listed. The central directory has more."
                self.directory.capped = True
                self.emitter.report(codes.TOO_MANY_MEMBERS, message, (at, limit))
                break
            if self.split and central.disk not in (self.disk, FULL_16):
                # It begins in another file.
                codec, path = codec_of(central.method, central.flags), path_of(name, central.flags)
                place, sizes = (self.source.size, -1), (central.stored, central.size)
                add_member(self.emitter, self.directory, path, place, sizes, codec, central.crc)
                self.directory.central.append(at)
                self.directory.stop = stop
            else:
                self.entry(at, central, common, name, extra, stop)
            progress.advance(stop - start - progress.done)
        self.attributes.close()
        self.times.close()
        if self.not_compared:
            number = count(self.not_compared, "local header")
            self.emitter.report(
                codes.OVERLAP_NOT_COMPARED,
                f"{number} {verb(self.not_compared, 'was', 'were')} not compared with the central directory. They lie "
                "in each other, and reading all of them would take too long.",
                (start, limit),
            )
        progress.advance(self.directory.stop - start - progress.done)

    def report_displacement(self) -> None:
        """Report why the directory is not where the end record says.

        Local headers show the cause (APPNOTE.TXT 4.4.24): bytes before the archive displace all of them, bytes
        inserted or lost further on displace some, and a wrong offset in the end record displaces none.
        """
        emitter, eocd = self.emitter, self.directory.eocd
        if eocd is None or eocd.directory is None or not eocd.displacement:
            return
        start = eocd.directory.start
        evidence = f"The central directory should be at {start - eocd.displacement:,} and is at {start:,}."
        amount = in_bytes(abs(eocd.displacement))
        added = eocd.displacement > 0
        if self.last_at_offset >= 0 and self.first_displaced >= 0:
            gap = min(self.last_at_offset, self.first_displaced), max(self.last_at_offset, self.first_displaced)
            emitter.report(
                codes.BYTES_INSERTED if added else codes.BYTES_MISSING,
                f"The archive has {'grown' if added else 'shrunk'} by {amount} between {gap[0]:,} and {gap[1]:,}. "
                f"{evidence} Some local headers are at their recorded offset, the others {amount} "
                f"{'after' if added else 'before'} it.",
                gap,
            )
        elif self.last_at_offset >= 0 or not eocd.shift:
            emitter.report(
                codes.DIRECTORY_OFFSET,
                f"The end record has a wrong offset of the central directory. {evidence} No local header is displaced "
                "by that distance.",
                eocd.offset_field,
                eocd.directory,
            )
        elif added:
            precede = verb(eocd.displacement, "precedes", "precede")
            emitter.report(
                codes.PREPENDED,
                f"{amount} {precede} the archive. {evidence} All offsets are read with this distance added.",
                (0, eocd.displacement),
            )
        else:
            missing = verb(-eocd.displacement, "is missing", "are missing")
            emitter.report(
                codes.BYTES_MISSING,
                f"{amount} before the central directory {missing}. {evidence} Offsets are read with this subtracted.",
                eocd.directory,
                eocd.offset_field,
            )

    def entry(self, at: int, central: Central, common: bytes, name: bytes, extra: bytes, stop: int) -> None:
        """Add the member of one header and report what is wrong with it, as ``central_headers`` yields it."""
        index, place, span = len(self.directory.central), at + CENTRAL_SIZE, (at, stop)
        narrow = FULL_32 not in (central.stored, central.size, central.offset)
        full = central
        if extra or not narrow:
            full = self._with_zip64(central, ExtraPlace(place + len(name), name, index, local=False), extra, span)
        head, data = self._local_header(full.offset, name)
        data_start = LOCAL_SIZE + len(name) + head
        if data is not None:
            data_start = self._compare(full, common if narrow else b"", name, head, data, span, index)
        report_name(self.emitter, name, central.flags, (place, place + len(name)), index)
        problem = impossible_time(central.date, central.time)
        if problem and not self.times.full():
            message = f"The modification time of {brief(name)} {problem}, so programs show different ones."
            self.times.add(message, ((at + 12, at + 16),), index)
        if central.disk not in (0, FULL_16) and not self.split:
            message = f"Member {index} should begin on disk {central.disk}, but the archive has a single disk."
            self.emitter.report(codes.OTHER_DISK, message, span, member=index)
        self._report_unreadable(full, span, index)
        codec = codec_of(central.method, central.flags)
        path, place_of, sizes = path_of(name, central.flags), (head, data_start), (full.stored, full.size)
        add_member(self.emitter, self.directory, path, place_of, sizes, codec, central.crc)
        self.directory.central.append(at)
        self.directory.stop = stop
        self.attributes.check(central.made_by, central.external, at, index)
        if central.flags & HAS_DESCRIPTOR and data_start >= 0:
            self.directory.with_descriptor.append(index)

    def _read_rest(self, start: int, size: int, data: bytes) -> bytes | None:
        """Name and extra field of a local header, ``data`` its first bytes; None if the budget for that is used up.

        A directory can lead to headers that lie in each other, each with a name and an extra field of 64 KiB.
        """
        if LOCAL_SIZE + size <= len(data):
            return data[LOCAL_SIZE : LOCAL_SIZE + size]
        if self.rest_of[:2] != (start, size):
            if size > self.rest_left:
                return None
            self.rest_left -= size
            self.rest_of = start, size, self.source.read(start, size)
        return self.rest_of[2]

    def _local_header(self, offset: int, name: bytes) -> tuple[int, bytes | None]:
        """The offset of the local header, displaced or not, and its first bytes; None if it is not read.

        It is the expected offset if it is at neither.
        """
        head, last = offset + self.shift, self.source.size - LOCAL_SIZE
        if self.directory.deferred and 0 <= head <= last:
            return head, None
        size = LOCAL_SIZE + len(name) + EXTRA_GUESS_BYTES
        for at in (offset + self.displacement, offset) if self.displacement else ():
            data = self.first_bytes(at, size) if 0 <= at <= last else b""
            if data[:4] == LOCAL and data[LOCAL_SIZE : LOCAL_SIZE + len(name)] == name:
                if at == offset:
                    self.last_at_offset = max(self.last_at_offset, at)
                else:
                    self.first_displaced = at if self.first_displaced < 0 else min(self.first_displaced, at)
                return at, data
        return head, self.first_bytes(head, size) if 0 <= head <= last else b""

    def _compare(
        self, central: Central, common: bytes, name: bytes, head: int, data: bytes, place: tuple[int, int], index: int
    ) -> int:
        """Where the member's data begins, -1 without a local header. Reports how the two headers differ.

        ``common`` is what an equal local header repeats; empty if it has to be compared number by number.
        """
        local = Local._make(LOCAL_STRUCT.unpack(data[:LOCAL_SIZE])) if len(data) >= LOCAL_SIZE else None
        named = local is not None and data[LOCAL_SIZE : LOCAL_SIZE + len(name)] == name != b""
        if local is None or (local.signature != LOCAL and not (named and local.name_length == len(name))):
            where = f"at {head:,}" if head >= 0 else f"{in_bytes(-head)} before the start of the file"
            self.emitter.report(
                codes.NO_LOCAL_HEADER,
                f"There is no local header of {brief(name)} {where}. The central directory puts it there.",
                place,
                (head, head + LOCAL_SIZE),
                member=index,
            )
            return -1
        data_start = head + LOCAL_SIZE + local.name_length + local.extra_length
        if local.name_length != len(name) and self.emitter.full(Severity.ERROR):
            # Headers that differ are errors; what is only counted need not be put in words.
            self.emitter.archive.findings_dropped += 1
            return data_start
        rest = self._read_rest(head + LOCAL_SIZE, local.name_length + local.extra_length, data)
        if rest is None:
            self.not_compared += 1
            return data_start
        if rest[: local.name_length] != name and self.emitter.full(Severity.ERROR):
            self.emitter.archive.findings_dropped += 1
            return data_start
        extra = rest[local.name_length :]
        if not extra and data[:28] == LOCAL + common and rest == name:
            return data_start
        local_place = ExtraPlace(head + LOCAL_SIZE + local.name_length, name, index, local=True)
        # A second name that is in both headers is reported once.
        names = bool(extra) and extra != self.source.read(place[0] + CENTRAL_SIZE + len(name), central.extra_length)
        report_extra(self.emitter, extra, local_place, names=names)
        zip64_sizes = local.needed != central.needed and has_wide_sizes(self.source, place[0])
        different = differences(central, local, name, rest[: local.name_length], extra, zip64_sizes=zip64_sizes)
        for what, text, local_span, central_span in different:
            if what is codes.LOCAL_CRC and head in self.crc_checked_at:
                continue
            message = f"The local header and the central directory disagree on {brief(name)}. {text}."
            spans = [
                (base + start, base + stop) for base, (start, stop) in ((place[0], central_span), (head, local_span))
            ]
            self.emitter.report(what, message, *spans, member=index)
        return data_start

    def _with_zip64(self, central: Central, place: ExtraPlace, extra: bytes, header: tuple[int, int]) -> Central:
        """The header with its ZIP64 numbers. Reports faults of the extra field of that header."""
        stored, size, offset, index = central.stored, central.size, central.offset, place.member
        report_extra(self.emitter, extra, place)
        wide = zip64(extra, size, stored, offset)
        if wide.present and FULL_32 not in (size, stored, offset):
            message = f"Member {index} has ZIP64 information that none of its numbers needs."
            self.emitter.report(codes.ZIP64_NOT_NEEDED, message, header, member=index)
        if wide.missing and (wide.present or not self._are_real(stored, size, offset)):
            message = f"The ZIP64 information of member {index} lacks its {' and '.join(wide.missing)}."
            self.emitter.report(codes.ZIP64_SHORT, message, header, member=index)
        return central._replace(stored=wide.stored, size=wide.size, offset=wide.offset)

    def _are_real(self, stored: int, size: int, offset: int) -> bool:
        """Whether numbers of 2^32 - 1 may be just that: a header without ZIP64 information has no placeholders (4.4.8).

        There is a local header at such an offset, and there is room for the data.
        """
        head = offset + self.shift
        there = offset != FULL_32 or self.source.read(head, 4) == LOCAL
        return there and head + LOCAL_SIZE + stored <= self.source.size and size <= _MAX_RATIO * stored

    def _report_unreadable(self, central: Central, span: tuple[int, int], index: int) -> None:
        """Report a member that this program cannot read, or sizes that its method cannot have."""
        codec, method = codec_of(central.method, central.flags), central.method
        if central.flags & UNSUPPORTED:
            what, text = codes.ENCRYPTED, "is encrypted or patched, which this program does not read."
        elif codec is Codec.UNKNOWN:
            what, text = (
                codes.METHOD_NOT_READ,
                (
                    f"uses compression method {method} ({method_text(method)}), which this program does not read. Its "
                    "content cannot be checked."
                ),
            )
        elif codec is Codec.STORED and central.stored != central.size:
            held = f"{in_bytes(central.stored)} of data for {in_bytes(central.size)} of content"
            what, text = codes.STORED_SIZE, f"is stored, but has {held}."
        else:
            return
        self.emitter.report(what, f"Member {index} {text}", span, member=index)


Difference = tuple[FindingType, str, tuple[int, int], tuple[int, int]]
"""A difference between the two headers: an error if programs would read different content or names.

Where they read the same, it is a warning, or information if sound archives of a known writer have it. The bytes of the
field follow, half-open, relative to the local and to the central header.
"""


_MAX_RATIO = 1032
"""Deflate makes at most so much of one byte."""
_VERSIONS_BY_MAVEN = (10, 20)
"""The versions needed that the archiver of Maven writes into the local and the central header."""


def has_wide_sizes(source: Source, at: int) -> bool:
    """Whether the central header at ``at`` leaves a size to its ZIP64 information (4.5.3)."""
    sizes = source.read(at + 20, 8)
    return FULL_32.to_bytes(4, "little") in (sizes[:4], sizes[4:])


def differences(
    central: Central, local: Local, name: bytes, local_name: bytes, local_extra: bytes, *, zip64_sizes: bool
) -> Iterator[Difference]:
    """The differences; ``central`` has its ZIP64 numbers filled in, and ``zip64_sizes`` says whether sizes are some."""
    if local.signature != LOCAL:
        text = f"The local signature is {local.signature.hex()}"
        yield codes.LOCAL_SIGNATURE, text, (0, 4), OFFSET_FIELD
    if local_name != name:
        shown = brief(local_name[:_MAX_SHOWN_BYTES]), brief(name[:_MAX_SHOWN_BYTES])
        text = f"The name is {shown[0]} locally and {shown[1]} in the central directory"
        here, there = (LOCAL_SIZE, LOCAL_SIZE + len(local_name)), (CENTRAL_SIZE, CENTRAL_SIZE + len(name))
        yield codes.LOCAL_NAME, text, here, there
    serious = (local.flags ^ central.flags) & (ENCRYPTED | HAS_DESCRIPTOR)
    habit = _is_habit(central, local, local_extra, zip64_sizes=zip64_sizes)
    methods = (f"{each.method} ({method_text(each.method)})" for each in (local, central))
    numbered, deferred = not central.flags & MASKED, bool(local.flags & HAS_DESCRIPTOR)
    _, size, stored, _, _ = zip64(local_extra, local.size, local.stored)
    fields = (
        (
            (8, 10),
            local.method != central.method,
            codes.LOCAL_METHOD,
            "The compression method is {} locally and {} centrally".format(*methods),
        ),
        (
            (6, 8),
            local.flags != central.flags,
            codes.LOCAL_FLAGS_SERIOUS if serious else codes.LOCAL_FLAGS,
            f"The flags are 0x{local.flags:04x} locally and 0x{central.flags:04x} in the central directory",
        ),
        (
            (4, 6),
            local.needed != central.needed,
            codes.LOCAL_NEEDED_HABIT if habit else codes.LOCAL_NEEDED,
            (
                f"The version needed is {version_text(local.needed)} (0x{local.needed:04x}) locally and "
                f"{version_text(central.needed)} (0x{central.needed:04x}) centrally"
            ),
        ),
        ((10, 14), (local.time, local.date) != (central.time, central.date), codes.LOCAL_TIME, "The times differ"),
        (
            (14, 18),
            numbered and local.crc != central.crc and not (deferred and not local.crc),
            codes.LOCAL_CRC,
            f"The CRC is 0x{local.crc:08x} locally and 0x{central.crc:08x} in the central directory",
        ),
        *(
            (
                (at, at + 4),
                numbered and here != there and not (deferred and here in (0, FULL_32)),
                codes.LOCAL_SIZE_DIFFERS,
                f"The {word} size is {here:,} locally and {there:,} in the central directory",
            )
            for at, word, here, there in (
                (18, "compressed", stored, central.stored),
                (22, "uncompressed", size, central.size),
            )
        ),
    )
    for (start, stop), differs, what, text in fields:
        if differs:  # in the central header it is two bytes further on, after the version made by
            yield what, text, (start, stop), (start + 2, stop + 2)


def _is_habit(central: Central, local: Local, local_extra: bytes, *, zip64_sizes: bool) -> bool:
    """Whether a known writer leaves two versions needed so, or each header needs the one that it states (4.4.3.2).

    Go's ``archive/zip`` writes the local header before it knows that a member needs ZIP64, as does everyone whose
    member begins past 4 GiB; Info-ZIP's ``zip -fz`` uses ZIP64 in the local header only. The archiver of Maven writes
    1.0 locally and 2.0 centrally.
    """
    large = max(central.size, central.stored, central.offset) >= FULL_32
    if (large or zip64_sizes) and central.needed == ZIP64_VERSION > local.needed:
        return True
    if local.needed == ZIP64_VERSION > central.needed:
        return any(identifier == ZIP64 for identifier, *_ in extra_records(local_extra))
    return (local.needed, central.needed) == _VERSIONS_BY_MAVEN
