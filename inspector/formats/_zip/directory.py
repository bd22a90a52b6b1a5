"""Walking the central directory (APPNOTE.TXT 4.3.12) and the local header of each of its entries into columns."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from inspector.core.archive import Emitter
from inspector.core.finding import Severity
from inspector.core.member import FOLDER, LARGEST, UNREADABLE, Codec, Members
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._zip.attributes import Attributes, is_ordinary
from inspector.formats._zip.compare import differences
from inspector.formats._zip.eocd import Ending
from inspector.formats._zip.extra import zip64
from inspector.formats._zip.extra_check import Place, is_harmless, report_extra, report_second_name
from inspector.formats._zip.names import is_plain, path_of, report_name
from inspector.formats._zip.records import (
    CENTRAL,
    CENTRAL_SIZE,
    CENTRAL_STRUCT,
    DEFLATED,
    ENCRYPTED,
    FULL_16,
    FULL_32,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_SIZE,
    LOCAL_STRUCT,
    MASKED,
    PATCHED,
    STORED,
    STRONG,
    UTF_8,
    Central,
    Local,
    method_words,
)

MOST_MEMBERS = 2_000_000
"""The most members that are listed; a finding says when there are more."""
MOST_NAMES = 1 << 28
"""The most bytes of names that are held."""
_WINDOW = 1 << 20
_STEP = 4096
_EXTRA_GUESS = 64
_LARGEST_HEADER = CENTRAL_SIZE + 3 * 0xFFFF
_ORDINARY = 6 | UTF_8
"""The flags that raise no questions: how hard deflate tried, and the encoding of the name."""
UNSUPPORTED = ENCRYPTED | PATCHED | STRONG | MASKED
"""The flags of a member that cannot be read here."""


Header = tuple[bytes, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int]
"""The numbers of a central directory header, in the order of records.Central."""


def codec_of(method: int, flags: int) -> Codec:
    """The codec of a member, UNKNOWN for everything that cannot be read here."""
    if flags & UNSUPPORTED:
        return Codec.UNKNOWN
    return {STORED: Codec.STORED, DEFLATED: Codec.DEFLATE}.get(method, Codec.UNKNOWN)


@dataclass(slots=True)
class Directory:
    """The columns beside ``members``: one row a member.

    ``central`` where its central directory header begins (empty when there is no directory), ``descriptors`` the size
    of its data descriptor. ``entries`` is where every header of the directory begins, also past the last member
    listed, ``stop`` where the last ends; ``span`` the whole directory; ``later`` the members whose flags announce a
    data descriptor. ``capped`` when there are more members than are listed. ``assumed`` when no local header was read,
    see the module of that name. ``computed`` is filled by a check: the CRC-32 of each member's content, -1 where it
    has not been or cannot be computed.
    """

    members: Members
    ending: Ending | None = None
    span: Span | None = None
    stop: int = 0
    capped: bool = False
    assumed: bool = False
    central: array[int] = field(default_factory=lambda: array("Q"))
    descriptors: array[int] = field(default_factory=lambda: array("B"))
    later: array[int] = field(default_factory=lambda: array("Q"))
    computed: array[int] = field(default_factory=lambda: array("q"))

    @property
    def listed(self) -> bool:
        """Whether every member has its header in the central directory; else members are what local headers tell."""
        return self.ending is not None and len(self.central) == len(self.members)


def new_members() -> Members:
    """Columns for members of a ZIP archive."""
    return Members(digest="crc32", digest_digits=8, sizes=True, codecs=True, heads=True, marks=True)


class DirectoryWalk:
    """One walk over a central directory.

    ``quiet`` are the local header offsets whose CRC is judged by someone else. Where the directory is not where the
    end record says, ``last_stayed`` is the last local header that was found where its entry says, ``first_moved`` the
    first that was found as far from there as the directory; -1 where there is none.
    """

    def __init__(
        self, source: Source, emitter: Emitter, directory: Directory, ending: Ending, quiet: Container[int] = ()
    ) -> None:
        self.source = source
        self.emitter = emitter
        self.directory = directory
        self.members = directory.members
        self.shift = ending.shift
        self.distance = ending.distance
        self.last_stayed = self.first_moved = -1
        self.quiet = quiet
        self.attributes = Attributes(source, emitter)
        self.split = any(problem.code == "zip-several-disks" for problem in ending.problems)

    def run(self, start: int, limit: int, progress: Progress) -> None:
        """Add a member for each header from ``start``; ends where no header follows, at ``limit`` at the latest."""
        progress.begin("Reading the central directory", limit - start)
        self.directory.stop = start
        for at, header, common, name, extra, stop in headers(self.source, start, limit):
            if len(self.members) >= MOST_MEMBERS or len(self.members.paths) > MOST_NAMES:
                message = f"Only the first {len(self.members):,} members are listed; the central directory has more."
                self.directory.capped = True
                self.emitter.warning("zip-too-many-members", message, (at, limit))
                break
            self._entry(at, header, common, name, extra, stop)
            if len(self.members) % _STEP == 0:
                progress.advance(stop - start - progress.done)
        self.attributes.close()
        progress.advance(self.directory.stop - start - progress.done)

    def _entry(self, at: int, header: Header, common: bytes, name: bytes, extra: bytes, stop: int) -> None:
        flags, method, crc, stored, size, offset = header[3], header[4], header[7], header[8], header[9], header[16]
        index = len(self.directory.central)
        narrow = stored != FULL_32 and size != FULL_32 and offset != FULL_32
        if not narrow or (extra and not is_harmless(extra, local=False)):
            place = Place(at + CENTRAL_SIZE + len(name), name, index, local=False)
            stored, size, offset = self._extra(place, extra, (stored, size, offset), (at, stop))
        head, data = self._head(offset, name)
        begin = LOCAL_SIZE + len(name) if data is None else _plain_begin(data, common, name) if narrow else 0
        if begin:
            begin += head
        else:
            full = Central._make(header)._replace(stored=stored, size=size, offset=offset)
            begin = self._compare(full, name, head, data or b"", (at, stop), index)
        if not is_plain(name):
            report_name(self.emitter, name, flags, (at + CENTRAL_SIZE, at + CENTRAL_SIZE + len(name)), index)
        if header[13]:
            self._disk(header[13], (at, stop), index)
        if method or flags & ~_ORDINARY or stored != size:
            self._doubts(method, flags, stored, size, (at, stop), index)
        self._append(path_of(name, flags), head, begin, stored, size, codec_of(method, flags), crc)
        self.directory.central.append(at)
        self.directory.stop = stop
        if not is_ordinary(header[15]):
            self.attributes.look(header[1], header[15], at, index)
        if flags & HAS_DESCRIPTOR and begin >= 0:
            self.directory.later.append(index)

    def _append(self, path: bytes, head: int, begin: int, stored: int, size: int, codec: Codec, crc: int) -> None:
        folder = FOLDER if path.endswith(b"/") else 0
        index = len(self.members)
        if folder and size:
            message = f"The folder {visible(path)} has {in_bytes(size)} of content; programs that unpack it lose that."
            self.emitter.warning("zip-folder-with-content", message, (head, begin + stored), member=index)
        if begin < 0:
            place = max(0, min(head, self.source.size))
            self.members.append(
                path, place, place, size=size, codec=codec, digest=crc, head=place, marks=folder | UNREADABLE
            )
        else:
            stop = min(begin + stored, self.source.size)
            if begin + stored > self.source.size:
                self._beyond(path, begin, stored, index)
            self.members.append(
                path, min(begin, stop), stop, size=min(size, LARGEST), codec=codec, digest=crc, head=head, marks=folder
            )
        self.directory.descriptors.append(0)

    def _beyond(self, path: bytes, begin: int, stored: int, index: int) -> None:
        message = (
            f"The data of {visible(path)} should be {in_bytes(stored)} from {begin:,}; the file ends "
            f"{in_bytes(begin + stored - self.source.size)} before their end."
        )
        self.emitter.error("zip-member-cut-off", message, (begin, self.source.size), member=index)

    def _local(self, head: int, name_size: int) -> bytes:
        if not 0 <= head <= self.source.size - LOCAL_SIZE:
            return b""
        return self.source.read(head, LOCAL_SIZE + name_size + _EXTRA_GUESS)

    def _head(self, offset: int, name: bytes) -> tuple[int, bytes | None]:
        """Where the local header is, and its first bytes; None when it is not read."""
        head = offset + self.shift
        if self.directory.assumed and 0 <= head <= self.source.size - LOCAL_SIZE:
            return head, None
        if self.distance:
            head = self._whereabouts(offset, name)
        return head, self._local(head, len(name))

    def _whereabouts(self, offset: int, name: bytes) -> int:
        """Where a local header is that moved with the directory or stayed; where it should be, if it is in neither."""
        for head in (offset + self.distance, offset):
            data = self._local(head, len(name))
            if data[:4] == LOCAL and data[LOCAL_SIZE : LOCAL_SIZE + len(name)] == name:
                if head == offset:
                    self.last_stayed = max(self.last_stayed, head)
                else:
                    self.first_moved = head if self.first_moved < 0 else min(self.first_moved, head)
                return head
        return offset + self.shift

    def _compare(
        self, central: Central, name: bytes, head: int, data: bytes, place: tuple[int, int], index: int
    ) -> int:
        """Where the member's data begins, -1 when there is no local header to say; reports how the two differ."""
        local = Local._make(LOCAL_STRUCT.unpack(data[:LOCAL_SIZE])) if len(data) >= LOCAL_SIZE else None
        named = local is not None and data[LOCAL_SIZE : LOCAL_SIZE + len(name)] == name != b""
        if local is None or (local.signature != LOCAL and not (named and local.name_length == len(name))):
            where = f"at {head:,}" if head >= 0 else f"{in_bytes(-head)} before the start of the file"
            message = f"There is no local file header of {visible(name)} {where}, where the central directory says."
            self.emitter.error("zip-no-local-header", message, place, (head, head + LOCAL_SIZE), member=index)
            return -1
        begin = head + LOCAL_SIZE + local.name_length + local.extra_length
        rest = self.source.read(head + LOCAL_SIZE, local.name_length + local.extra_length)
        extra = rest[local.name_length :]
        local_place = Place(head + LOCAL_SIZE + local.name_length, name, index, local=True)
        report_extra(self.emitter, extra, local_place)
        # What is said twice is reported once.
        if extra != self.source.read(place[0] + CENTRAL_SIZE + len(name), central.extra_length):
            report_second_name(self.emitter, extra, local_place)
        different = differences(central, local, name, rest[: local.name_length], extra)
        for code, grave, words, here, there in different:
            if code == "crc" and head in self.quiet:
                continue
            severity = Severity.ERROR if grave else Severity.INFO
            message = f"The local header and the central directory disagree on {visible(name)}: {words}."
            spans = [(base + start, base + stop) for base, (start, stop) in ((place[0], there), (head, here))]
            self.emitter.find(severity, f"zip-local-{code}", message, spans, index)
        return begin

    def _extra(
        self, place: Place, extra: bytes, numbers: tuple[int, int, int], header: tuple[int, int]
    ) -> tuple[int, int, int]:
        """The numbers with their ZIP64 values, after a look at the extra field of the header ``header``."""
        stored, size, offset = numbers
        index = place.member
        report_extra(self.emitter, extra, place)
        report_second_name(self.emitter, extra, place)
        wanted = (size == FULL_32, stored == FULL_32, offset == FULL_32)
        wide = zip64(extra, *wanted)
        if wide.present and not any(wanted):
            message = f"Member {index} has ZIP64 information though no number of it needs that."
            self.emitter.info("zip-zip64-not-needed", message, header, member=index)
        values = (wide.size, wide.stored, wide.offset)
        missing = [
            word
            for word, asked, value in zip(
                ("uncompressed size", "compressed size", "offset"), wanted, values, strict=True
            )
            if asked and value is None
        ]
        if missing:
            message = f"Member {index} has its {' and '.join(missing)} in ZIP64 information that is not there."
            self.emitter.error("zip-zip64-short", message, header, member=index)
        return (
            stored if wide.stored is None else wide.stored,
            size if wide.size is None else wide.size,
            offset if wide.offset is None else wide.offset,
        )

    def _disk(self, disk: int, span: tuple[int, int], index: int) -> None:
        """Report a member of another disk in an archive that is one file; FULL_16 stands for a number elsewhere."""
        if not self.split and disk != FULL_16:
            message = f"Member {index} is said to begin on disk {disk}, but the archive is a single one."
            self.emitter.error("zip-other-disk", message, span, member=index)

    def _doubts(self, method: int, flags: int, stored: int, size: int, span: tuple[int, int], index: int) -> None:
        """Report what cannot be read here, and sizes that a method cannot have."""
        codec = codec_of(method, flags)
        if flags & UNSUPPORTED:
            message = f"Member {index} is encrypted or patched, which this program does not read."
            self.emitter.warning("zip-encrypted", message, span, member=index)
        elif codec is Codec.UNKNOWN:
            message = (
                f"Member {index} uses compression method {method} ({method_words(method)}), which is not read here: "
                "nothing says whether its content is whole."
            )
            self.emitter.warning("zip-method-not-read", message, span, member=index)
        elif codec is Codec.STORED and stored != size:
            message = f"Member {index} is stored, yet has {in_bytes(stored)} for {in_bytes(size)} of content."
            self.emitter.error("zip-stored-size", message, span, member=index)


def _plain_begin(data: bytes, common: bytes, name: bytes) -> int:
    """Where the content begins after a local header that says all that the central one does; 0 for any other."""
    name_stop = LOCAL_SIZE + len(name)
    if data[:4] != LOCAL or data[4:28] != common or data[LOCAL_SIZE:name_stop] != name:
        return 0
    begin = name_stop + data[28] + (data[29] << 8)
    local_extra = data[name_stop:begin]
    return begin if begin == name_stop or is_harmless(local_extra, begin - name_stop, local=True) else 0


def headers(source: Source, start: int, limit: int) -> Iterator[tuple[int, Header, bytes, bytes, bytes, int]]:
    """Each header of the directory: where it begins, its numbers, what a local header repeats, name, extra, its end."""
    at, base, window = start, start, b""
    unpack = CENTRAL_STRUCT.unpack_from
    while at + CENTRAL_SIZE <= limit:
        here = at - base
        if here + _LARGEST_HEADER > len(window) and base + len(window) < limit:
            base, here, window = at, 0, source.read(at, min(_WINDOW, limit - at))
            limit = limit if len(window) == min(_WINDOW, limit - at) else at + len(window)
        if here + CENTRAL_SIZE > len(window):
            return
        header = unpack(window, here)
        name = here + CENTRAL_SIZE
        extra = name + header[10]
        comment = extra + header[11]
        stop = comment + header[12]
        if header[0] != CENTRAL or stop > len(window):
            return
        yield at, header, window[here + 6 : here + 30], window[name:extra], window[extra:comment], base + stop
        at = base + stop
