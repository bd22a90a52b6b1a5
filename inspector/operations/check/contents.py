"""Whether members without a digest are whole by what they hold: checksums and directories inside, and how they end."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from json import JSONDecodeError, loads
from typing import NamedTuple

from msgspec import Struct

from inspector.core import codes
from inspector.core.archive import CappedFindings, Emitter
from inspector.core.finding import Severity, first_sentence
from inspector.core.member import HAS_DIGEST, MISPLACED, SHARED, SPECIAL, UNREAD, UNREADABLE, Codec
from inspector.core.names import brief
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, is_remote
from inspector.core.verdict import VERDICTS, Verdict
from inspector.operations.open.opening import Opened, decoded

MAX_READ = 1 << 16
"""Bytes of one member that are read; of a longer one HEAD from its beginning, the rest from its end."""
HEAD = 4_096
TAIL = MAX_READ - HEAD
MAX_WORK = 1 << 30
"""Bytes that are read and unpacked of all members together."""
MAX_UNPACKED = 1 << 24
"""Bytes that one member is unpacked to; what holds more is not looked at."""
_LEAST_WORK = 4_096
_WORK_OF_A_ZIP = 1 << 20
_SKIPPED = HAS_DIGEST | MISPLACED | SHARED | SPECIAL | UNREAD | UNREADABLE


class Part(Struct):
    """What was read of a member of ``size`` bytes: all of it as ``head`` if it is ``whole``, or both ends.

    ``work`` is how many bytes were unpacked, or what else took as long.
    """

    size: int
    head: bytes
    tail: bytes
    work: int = 0

    @property
    def whole(self) -> bool:
        return len(self.head) == self.size


Wrong = tuple[int, int, str]
"""From where to where in the member, and what is wrong there as a clause whose subject is the member."""


def _png(part: Part) -> Wrong | None:
    at, data = 8, part.head
    while at + 12 <= len(data):
        stop = at + 12 + int.from_bytes(data[at : at + 4])
        if stop > len(data):
            break
        if zlib.crc32(data[at + 4 : stop - 4]) != int.from_bytes(data[stop - 4 : stop]):
            return at, stop, f"is a PNG, and the CRC-32 of its chunk at {at:,} does not match"
        if data[at + 4 : at + 8] == b"IEND":
            return None
        at = stop
    return (at, part.size, "is a PNG without its last chunk, IEND") if part.whole else None


def _gzip(part: Part) -> Wrong | None:
    data, left = part.head, MAX_UNPACKED
    while part.whole and data.startswith(b"\x1f\x8b\x08"):
        stream = zlib.decompressobj(31)
        try:
            while not stream.eof and left > 0:
                left -= len(piece := stream.decompress(data, 1 << 20))
                part.work += len(piece)
                data = stream.unconsumed_tail
                if not piece and not data and not stream.eof:
                    return part.size, part.size, "is gzip data that is cut off"
        except zlib.error:
            return 0, part.size, "is gzip data that does not unpack to what its CRC-32 says"
        data = stream.unused_data if stream.eof else b""
    return None


def _zip(part: Part) -> Wrong | None:
    if not part.whole:
        return None if b"PK\5\6" in part.tail else (part.size, part.size, "is a ZIP without its directory at the end")
    part.work += _WORK_OF_A_ZIP
    inside = decoded(BytesSource(part.head, "inside.zip"), Progress())
    unpacked = sum(map(inside.members.size, range(len(inside.members))))
    if inside.decoder is None or unpacked > MAX_UNPACKED:
        return None
    part.work += unpacked
    inside.decoder.check(inside, Emitter(inside), Progress())
    worst = next((each for each in inside.findings if each.severity is Severity.ERROR), None)
    said = first_sentence(worst.message).rstrip(".") if worst else ""
    return (0, part.size, f"is a damaged ZIP: {said}") if worst else None


def _parquet(part: Part) -> Wrong | None:
    footer = int.from_bytes(part.tail[-8:-4], "little")
    if part.tail.endswith((b"PAR1", b"PARE")) and footer + 12 <= part.size:
        return None
    return max(0, part.size - 8), part.size, "is Parquet, and its footer is not where it ends"


def _jpeg(part: Part) -> Wrong | None:
    ended = part.tail.rstrip(b"\0").endswith(b"\xff\xd9")
    return None if ended else (max(0, part.size - 2), part.size, "is a JPEG that does not end as one, FF D9")


def _json(part: Part) -> Wrong | None:
    if (binary := _text(part)) or not part.whole:
        return binary
    try:
        loads(part.head.decode("utf-8-sig"), parse_int=str, parse_float=str)
    except JSONDecodeError as error:
        if error.msg == "Extra data":  # one value a line
            return None
        at = len(error.doc[: error.pos].encode())
        return at, at + 1, f"is no JSON from byte {at:,}: {error.msg}"
    except UnicodeDecodeError as error:
        return error.start, error.end, f"is no JSON from byte {error.start:,}: it is not UTF-8"
    except RecursionError:
        return None
    return None


# Two control bytes near each other that no text has; one may be an end-of-file mark, escapes colour a log.
_BINARY = re.compile(rb"[\0-\x07\x10-\x19\x1c-\x1f](?=.{0,64}?[\0-\x07\x10-\x19\x1c-\x1f])", re.DOTALL)
_MIN_TEXT = 32


def _text(part: Part) -> Wrong | None:
    for data, first in ((part.head, 0), (part.tail, part.size - len(part.tail))):
        if found := _BINARY.search(data):
            at = first + found.start()
            return None if at < _MIN_TEXT else (at, part.size, f"is text that turns binary at byte {at:,}")
    return None


class Kind(NamedTuple):
    """One kind of file: how it ``begins``, what looks at it, and whether that proves something of the whole file."""

    begins: re.Pattern[bytes]
    look: Callable[[Part], Wrong | None]
    proof: bool = False


_TEXT_BEGINS = re.compile(rb"[\t\n\r\x20-\xff]{32}")
TABLE = {
    "png": Kind(re.compile(rb"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"), _png, proof=True),
    "gz tgz svgz": Kind(re.compile(rb"\x1f\x8b\x08[\0-\x1f]"), _gzip, proof=True),
    "zip jar docx xlsx odt ods npz kmz": Kind(re.compile(rb"PK\x03\x04"), _zip, proof=True),
    "parquet geoparquet pq": Kind(re.compile(rb"PAR1"), _parquet, proof=True),
    "jpg jpeg": Kind(re.compile(rb"\xff\xd8\xff"), _jpeg),
    "json geojson": Kind(re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]"), _json),
    "txt csv tsv md log xml yaml yml html htm css py toml ini": Kind(_TEXT_BEGINS, _text),
}
"""Kinds by the suffixes of their names; a member that is named so and begins otherwise never was one."""
_BY_SUFFIX = {suffix.encode(): kind for suffixes, kind in TABLE.items() for suffix in suffixes.split()}


def report_contents(archive: Opened, emitter: Emitter, progress: Progress) -> None:
    """Report members that contradict themselves, if no digest is recorded of them and nothing else doubts them.

    Nothing is read of what is far away. Raises SourceError and Cancelled.
    """
    members, left = archive.members, MAX_WORK
    if is_remote(archive.source) or VERDICTS.index(Verdict.NOT_CHECKABLE) not in archive.verdicts:
        return
    broken = CappedFindings(emitter, codes.CONTENT_BROKEN, "members whose content contradicts itself")
    odd = CappedFindings(emitter, codes.CONTENT_ODD, "members that do not go on as their kind of file does")
    doubted = {each.member for each in archive.findings if each.severity is Severity.ERROR}
    progress.begin("Looking at contents", len(members), "members")
    for index in range(len(members)):
        progress.advance(1)
        kind = _BY_SUFFIX.get(members.path(index).rpartition(b".")[2].lower())
        if kind is None or left < 0 or index in doubted or archive.verdict(index) is not Verdict.NOT_CHECKABLE:
            continue
        spans = members[index].spans
        plain = members.codec_at(index) is Codec.STORED and not members.marks_of(index) & _SKIPPED
        if not plain or len(spans) != 1 or spans[0].size != members.size(index):
            continue
        part = _part(archive, *spans[0], kind)
        wrong = kind.look(part) if kind.begins.match(part.head) else None
        left -= len(part.head) + len(part.tail) + part.work + _LEAST_WORK
        kept = broken if kind.proof else odd
        if wrong is not None and not kept.full():
            first, last, said = wrong
            kept.add(
                f"'{brief(members.path(index))}' {said}.", [(spans[0].start + first, spans[0].start + last)], index
            )
    broken.close()
    odd.close()


def _part(archive: Opened, start: int, stop: int, kind: Kind) -> Part:
    """What is looked at of a member; its end only where it begins as its kind does."""
    if stop - start <= MAX_READ:
        data = archive.source.read(start, stop - start)
        return Part(stop - start, data, data)
    head = archive.source.read(start, HEAD)
    return Part(stop - start, head, archive.source.read(stop - TAIL, TAIL) if kind.begins.match(head) else b"")
