"""What a file really is, by its first and last bytes: compressed, encoded, an error page, a pointer, another format."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause
from inspector.core.finding import Severity
from inspector.core.format import ProbeResult, Signature
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.source import Source, is_remote
from inspector.core.span import Span
from inspector.formats import FORMATS, damage_of, format_of
from inspector.formats._causes.encodings import ENCODINGS, NOT_CONVERTED
from inspector.formats._damage import is_text
from inspector.formats._zstd import Stream, ZstdError

HEAD_BYTES = 4096
"""Bytes read at the beginning."""
TAIL_BYTES = 512
"""Bytes read at the end."""
MAX_UNPACKED_BYTES = 1 << 20
"""Bytes that are unpacked or decoded to see what is inside."""
MAX_TEXT_BYTES = 4 << 20
"""A server's error page and a pointer are smaller."""
MAX_RATIO = 64
"""How many times that may come out where it is unpacked to its end."""
_BLOCK = 64 << 10
_COMPRESSED = (
    Signature(b"\x1f\x8b\x08", "a gzip file", "gunzip"),
    Signature(b"\xfd7zXZ\0", "an xz file", "unxz"),
    Signature(b"BZh", "a bzip2 file", "bunzip2"),
    Signature(b"\x28\xb5\x2f\xfd", "a zstd file", "unzstd"),
    Signature(b"\x2a\x4d\x18", "a zstd file", "unzstd", at=1),
    Signature(b"\x04\x22\x4d\x18", "an lz4 file", "unlz4"),
    Signature(b"\x1f\x9d", "a file of compress", "uncompress"),
    Signature(b"LZIP", "an lzip file", "lzip -d"),
    Signature(b"\xff\x06\0\0sNaPpY", "a file of framed Snappy", "snzip -d"),
    Signature(b"\x89LZO\0\r\n\x1a\n", "an lzop file", "lzop -d"),
    Signature(b"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x"),
    Signature(b"Rar!\x1a\x07", "a RAR archive", "unrar x"),
)
"""What is unpacked first; bzip2 is compared further in ``_compressed``."""
_OTHER = (
    *(each.signature for each in FORMATS if each.signature is not None and each.signature.begins),
    Signature(b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    Signature(b"\xff\xd8\xff", "a JPEG picture"),
    Signature(b"%PDF-", "a PDF document"),
    Signature(b"SQLite format 3\0", "an SQLite database"),
    Signature(b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    Signature(b"PAR1", "a Parquet file"),
    Signature(b"ARROW1\0\0", "an Arrow file"),
    Signature(b"\x7fELF", "a program (ELF)"),
    Signature(b"070701", "a cpio archive"),
    Signature(b"MSCF\0\0\0\0", "a Windows cabinet"),
    Signature(b"CD001", "a CD image (ISO 9660)", at=32769),
    Signature(b"caff\0\1\0\0", "a Core Audio file"),
)
_ENCRYPTED = (
    Signature(b"Salted__", "a file that OpenSSL encrypted", "openssl enc -d"),
    Signature(b"age-encryption.org/v1", "a file that age encrypted", "age -d"),
    Signature(b"-----BEGIN AGE ENCRYPTED FILE-----", "a file that age encrypted", "age -d"),
    Signature(b"-----BEGIN PGP MESSAGE-----", "a file that PGP encrypted", "gpg -d"),
    Signature(b"$ANSIBLE_VAULT;", "a file that Ansible encrypted", "ansible-vault decrypt"),
    Signature(b"LUKS\xba\xbe", "an encrypted volume", "cryptsetup"),
)
"""What is decrypted first."""
_MIN_UNPACKED_BYTES = 512
_MIN_TEXT_BYTES = 1_024
_TEXT_SAMPLES = 16
_PRINTED = re.compile(rb"[\t\n\r -~]+")
_OPENED_INSIDE = frozenset(("gunzip", "unxz", "bunzip2", "unzstd"))
"""What ``FILE!/`` unpacks."""
_MIN_WIDE_BYTES = 256
_ERROR_TEXT = re.compile(
    rb"[^\r\n]{0,80}\b(?:not found|access denied|forbidden|unauthori[sz]ed|denied|error|no such|expired|bad gateway|"
    rb"unavailable|timed? ?out|too many requests|rate limit|upstream)\b",
    re.IGNORECASE,
)
_MAX_ERROR_BYTES = 1_024
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,400}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_ERROR_XML = re.compile(rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?<(?:\w{1,20}:)?Error\b[^>]{0,200}>", re.DOTALL)
_ERROR_CODE = re.compile(rb"<Code>([\w.-]{1,80})</Code>")
_ERROR_JSON = re.compile(rb"""\s*\{\s*"(?:error|errors|message|code|__type|detail)"\s*:""", re.IGNORECASE)
_LFS = re.compile(rb"version https://git-lfs\.github\.com/spec/v\d\r?\n(?:.*\n)*?size (\d{1,20})")
_ANNEX = re.compile(rb"/annex/objects/|\.\.?/(?:\.\./){0,64}\.git/annex/objects/")
_DVC = re.compile(rb"(?:md5: [0-9a-f]{32}\r?\n)?outs:\r?\n- (?:md5|hash|size|path): ")
RESPONSE = re.compile(rb"HTTP/\d(?:\.\d)? \d{3}[^\r\n]{0,200}\r?\n(?:[\w-]{1,100}:[^\r\n]{0,2000}\r?\n){0,100}\r?\n")
HEADERS = re.compile(
    rb"(?:(?:content-(?:type|length|encoding|disposition)|etag|x-amz-[\w-]{1,60}|date|server|last-modified|"
    rb"accept-ranges|connection|cache-control|status|transfer-encoding|vary|via|expires|pragma):[^\r\n]{0,2000}\r?\n){2,100}\r?\n",
    re.IGNORECASE,
)
FORM = re.compile(
    rb"--[^\r\n]{1,200}\r?\nContent-[\w-]{1,40}:[^\r\n]{0,400}\r?\n(?:[\w-]{1,100}:[^\r\n]{0,400}\r?\n){0,20}\r?\n",
    re.IGNORECASE,
)
AWS_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8});chunk-signature=[0-9a-f]{64}\r\n")
_AWS_PLAIN = re.compile(rb"x-amz-(?:trailer-signature|checksum-\w{1,20}):[\w+/=]{1,100}\r?\n")
CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})(?:;[^\r\n]{0,200})?\r\n")


class _File(Struct):
    """The file as far as it is read: ``head`` and ``tail`` are its first and last bytes."""

    archive: Archive
    head: bytes
    tail: bytes

    @property
    def source(self) -> Source:
        return self.archive.source

    @property
    def may_begin_with_data(self) -> bool:
        """Whether the first bytes may be those of a member, which may be anything."""
        return damage_of(self.archive).data_first

    @property
    def listed(self) -> bool:
        """Whether members were found, and show that the file is of its format after all.

        They are found inside of other files too: the noise of stored members is the same in a compressed file.
        """
        errors = any(each.severity is Severity.ERROR for each in self.archive.findings)
        return len(self.archive.members) > 0 and (self.may_begin_with_data or not errors)

    @property
    def text(self) -> bytes:
        """The first bytes without a mark of their encoding."""
        return self.head.removeprefix(b"\xef\xbb\xbf")

    @property
    def what(self) -> str:
        """What it should be, with an article."""
        known = format_of(self.archive)
        if known is None:
            return "a known archive"
        title = known.title if len(known.title) < 40 else known.name
        return f"{'an' if title[0] in 'AEIORaeio' else 'a'} {title}"

    @property
    def name(self) -> str:
        return visible(self.source.name.replace("\\", "/").rpartition("/")[2]) or "the file"


def identify(archive: Archive) -> FoundCause | None:
    """What the file really is, where it is not what its name or format says. Reads little; raises SourceError."""
    source = archive.source
    if not source.size:
        message = (
            "The file is empty. It has 0 bytes, so a copy or download made it and wrote nothing. "
            "Copy or download it again; nothing can be recovered from it."
        )
        return FoundCause(Cause.EMPTY, message)
    head = source.read(0, min(HEAD_BYTES, source.size))
    tail_at = max(0, source.size - TAIL_BYTES)
    tail = head[tail_at:] if source.size <= HEAD_BYTES else source.read(tail_at, TAIL_BYTES)
    file = _File(archive, head, tail)
    steps: tuple[Callable[[_File], FoundCause | None], ...] = (
        _response,
        _framing,
        _text_file,
        _encrypted,
        _compressed,
        _encoded,
        _wide,
        _swapped,
        _other_format,
        _some_text,
    )
    return next((found for step in steps if (found := step(file)) is not None), None)


# ---- before or between the bytes of an archive --------------------------------------------------------------------


def _response(file: _File) -> FoundCause | None:
    found = RESPONSE.match(file.head) or FORM.match(file.head) or HEADERS.match(file.head)
    if found is None:
        return None
    size, kind = found.end(), "an HTTP response"
    if file.may_begin_with_data and file.listed:
        index = next((each.spans[0].start for each in file.archive.fields if each.name == "index" and each.spans), 0)
        if index - max(file.archive.members.stops) != size:
            return None
    if FORM.match(file.head):
        kind = "a form" if b"Content-Disposition" in found[0] else "a part of an HTTP response"
    message = (
        f"The headers of {kind} precede the archive: {in_bytes(size)} of text. They begin "
        f'"{_shown(file.head)}". The archive itself begins at byte {size:,}. Save only the body of the response, or '
        f"cut the headers off: tail -c +{size + 1} {file.name} > FIXED."
    )
    return FoundCause(Cause.RESPONSE_HEADERS, message, (Span(0, size),))


def _framing(file: _File) -> FoundCause | None:
    aws = AWS_CHUNK.match(file.head)
    found = aws or CHUNK.match(file.head)
    if found is None:
        return None
    size = int(found[1], 16)
    after = found.end() + size
    if not size or after + 2 > file.source.size or file.source.read(after, 2) != b"\r\n":
        return None
    following = file.source.read(after + 2, 120)
    again = AWS_CHUNK.match(following) if aws else CHUNK.match(following) or _AWS_PLAIN.match(following)
    if again is None:
        return None
    kind = "aws-chunked framing of an S3 upload" if aws else "chunked framing of an HTTP transfer"
    message = (
        f'The {kind} was stored with the data. The first line, "{_shown(file.head)}", is the size of the first chunk '
        f"({in_bytes(size)}), and the next such line is at byte {after + 2:,}. A client or server that does not "
        "know this encoding wrote them. Download or upload it again with one that does; the content between the lines "
        "is whole."
    )
    return FoundCause(Cause.TRANSFER_FRAMING, message, (Span(0, found.end()), Span(after, after + 2 + again.end())))


# ---- text under the name of an archive -----------------------------------------------------------------------------


def _shown(data: bytes, most: int = 40) -> str:
    line = data.lstrip()[: 4 * most].splitlines()
    text = visible(line[0]) if line else ""
    return text if len(text) <= most else f"{text[:most]}…"


class _Text(NamedTuple):
    """What a text file may be: ``rest`` follows the sentence that it is ``thing``, of the file and its match."""

    cause: Cause
    thing: str
    begins: re.Pattern[bytes]
    rest: Callable[[_File, re.Match[bytes]], str]
    fits: Callable[[_File], bool] = lambda _: True


def _ends(file: _File, *ends: bytes) -> bool:
    return file.tail.rstrip().lower().endswith(ends)


def _title(file: _File) -> str:
    title = re.search(rb"<title[^>]{0,200}>\s*([^<]{1,200}?)\s*</title>", file.head, re.IGNORECASE)
    return f' titled "{_shown(title[1], 60)}"' if title else ""


def _code(file: _File) -> str:
    found = _ERROR_CODE.search(file.head) if _ERROR_XML.match(file.text) else None
    return f": {found[1].decode('ascii', 'replace')}" if found else ""


_SERVER = "the error message of a server"
_ANSWER = (
    "was saved in the place of the archive. Download it again, with an address and credentials that are allowed to "
    "read it."
)
_NOT_FETCHED = "The content it stands for was not fetched. Run"
_TEXTS = (
    _Text(
        Cause.ERROR_PAGE,
        _SERVER,
        _ERROR_XML,
        lambda file, _: (
            f'Its {in_bytes(file.source.size)} are XML that begins "{_shown(file.text)}". The download failed, and the '
            f"answer {_ANSWER}"
        ),
    ),
    _Text(
        Cause.ERROR_PAGE,
        "a web page",
        _HTML,
        lambda file, _: (
            f"Its {in_bytes(file.source.size)} are HTML{_title(file)}: the answer of a server, such as an error or a "
            "page to sign in, was saved in the place of the archive. Download it again from an address that gives the "
            "file itself."
        ),
        lambda file: not file.may_begin_with_data or _ends(file, b"</html>", b"</body>"),
    ),
    _Text(
        Cause.ERROR_PAGE,
        _SERVER,
        _ERROR_TEXT,
        lambda file, _: f'All of it is "{_shown(file.text, 80)}". The download failed, and the answer {_ANSWER}',
        lambda file: file.source.size <= _MAX_ERROR_BYTES and is_text(file.text),
    ),
    _Text(
        Cause.ERROR_PAGE,
        _SERVER,
        _ERROR_JSON,
        lambda file, _: (
            f'Its {in_bytes(file.source.size)} are JSON that begins "{_shown(file.text)}". The answer {_ANSWER}'
        ),
        lambda file: _ends(file, b"}") and b'"files"' not in file.text,
    ),
    _Text(
        Cause.POINTER,
        "a Git LFS pointer",
        _LFS,
        lambda _, found: (
            f"It stands for a file of {in_bytes(int(found[1]))} that was not fetched. Run git lfs pull in the "
            "repository, or download the file itself rather than the pointer."
        ),
    ),
    _Text(
        Cause.POINTER,
        "a git-annex pointer",
        _ANNEX,
        lambda *_: f"{_NOT_FETCHED} git annex get in the repository.",
    ),
    _Text(Cause.POINTER, "a DVC pointer", _DVC, lambda *_: f"{_NOT_FETCHED} dvc pull in the repository."),
)


def _text_file(file: _File) -> FoundCause | None:
    """A page, a message or a pointer: text to its end, so that it is no archive that begins with text."""
    if file.listed or file.source.size > MAX_TEXT_BYTES:
        return None
    if file.may_begin_with_data and any(byte < 9 for byte in file.head + file.tail):
        return None
    for each in _TEXTS:
        found = each.begins.match(file.text)
        small = each.cause is not Cause.POINTER or file.source.size <= HEAD_BYTES
        if found is not None and small and each.fits(file):
            message = f"This is {each.thing}, not {file.what}{_code(file)}. {each.rest(file, found)}"
            return FoundCause(each.cause, message, (Span(0, file.source.size),))
    return None


# ---- compressed and encoded ----------------------------------------------------------------------------------------


def _matching(data: bytes, signatures: tuple[Signature, ...]) -> Signature | None:
    return next((each for each in signatures if data[each.at :].startswith(each.begins)), None)


def _compressed(file: _File) -> FoundCause | None:
    if file.listed or file.archive.format.startswith("datas3t-"):  # its metadata is zstd
        return None
    found = _matching(file.head, _COMPRESSED) or _bare_stream(file)
    if found is None or (file.may_begin_with_data and not _ends_there(file, found)):
        return None
    if found.begins == b"BZh" and not re.match(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", file.head):
        return None
    message = (
        f"This is {found.called}, not {file.what}. It begins with {file.head[: len(found.begins)].hex(' ')}."
        f"{_inside(_unpacked(file, found))} Unpack it first with {found.command} and open the result"
        f"{f', or open what is inside as {file.name}!/ without that' if found.command in _OPENED_INSIDE else ''}."
    )
    return FoundCause(Cause.COMPRESSED, message, (Span(0, len(found.begins)),))


def _bare_stream(file: _File) -> Signature | None:
    """A stream of zlib or of the old lzma, which have no signature: what is inside can be unpacked."""
    head = file.head
    found = None
    if head[:1] == b"x" and int.from_bytes(head[:2], "big") % 31 == 0:
        found = Signature(head[:2], "a zlib stream", "zlib-flate -uncompress")
    elif head[:3] == b"\x5d\0\0" and head[13:14] == b"\0":
        found = Signature(head[:5], "an lzma file", "unlzma")
    if found is None or len(head) < 64:
        return None
    return found if len(_unpacked(file, found)) >= min(len(head), _MIN_UNPACKED_BYTES) else None


_NEW: dict[str, Callable[[], Any]] = {
    "gunzip": lambda: zlib.decompressobj(31),
    "zlib-flate -uncompress": zlib.decompressobj,
    "unlzma": lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=256 << 20),
    "bunzip2": bz2.BZ2Decompressor,
    "unxz": lambda: lzma.LZMADecompressor(memlimit=256 << 20),
}


def _unpacked(file: _File, found: Signature) -> bytes:
    """The first bytes inside; empty where they cannot be unpacked here."""
    with suppress(*_NOT_UNPACKED):
        return bytes(_NEW[found.command]().decompress(file.head, HEAD_BYTES)) if found.command in _NEW else b""
    return b""


_NOT_UNPACKED = (zlib.error, lzma.LZMAError, ZstdError, OSError, ValueError, EOFError, MemoryError)


def _ends_there(file: _File, found: Signature) -> bool:
    """Whether the compressed data ends where the file does, so that it is not the first member of a CAF."""
    if file.source.size > MAX_UNPACKED_BYTES:
        return False
    data, new = file.source.read(0, file.source.size), _NEW.get(found.command)
    if found.command == "7z x":
        return 32 + int.from_bytes(data[12:20], "little") + int.from_bytes(data[20:28], "little") == len(data)
    with suppress(*_NOT_UNPACKED):
        if found.command == "unzstd":
            return _zstd_ends(data)
        while data and new is not None:
            data = _after_stream(new(), data)
        return not data
    return False


def _after_stream(unpacker: Any, data: bytes) -> bytes:
    """What follows one compressed stream; raises EOFError where it does not end, or makes too much."""
    room = MAX_RATIO * MAX_UNPACKED_BYTES
    while not unpacker.eof:
        made = len(unpacker.decompress(data, _BLOCK))
        data = getattr(unpacker, "unconsumed_tail", b"")
        room -= made
        if room <= 0 or (not made and not data and not unpacker.eof):
            raise EOFError
    return bytes(unpacker.unused_data)


def _zstd_ends(data: bytes) -> bool:
    """Whether the frames that zstd data consists of end with it; raises ZstdError and EOFError."""
    stream, made = Stream(skippable=True), 0
    for piece in stream.feed(data):
        made += len(piece)
        if made > MAX_RATIO * MAX_UNPACKED_BYTES:
            raise EOFError
    return stream.ended


def _inside(data: bytes) -> str:
    found = _matching(data, (*_COMPRESSED, *_OTHER)) if data else None
    return f" Inside is {found.called}." if found is not None else ""


def _encoded(file: _File) -> FoundCause | None:
    if file.listed or file.source.size < 64:
        return None
    head = file.head[: HEAD_BYTES // 4 * 4]
    # Bytes in the middle of an object on a server bring along all that lie before them.
    middle = b"" if is_remote(file.source) else file.source.read(file.source.size // 2, TAIL_BYTES)
    found = next((each for each in ENCODINGS if each.matches(head, middle, file.tail)), None)
    if found is None:
        return None
    inside = b""
    with suppress(*NOT_CONVERTED):
        inside = found.decode[0](head)
    message = (
        f'This is {found.kind}, not {file.what}. It begins "{_shown(file.head)}".{_inside(inside)} A channel for '
        f"text only needed that. Decode it first with {found.command.format(name=file.name)} and open the result."
    )
    return FoundCause(Cause.ENCODED_TEXT, message, (Span(0, file.source.size),))


# ---- encrypted, other text, and bytes in another order --------------------------------------------------------------


def _encrypted(file: _File) -> FoundCause | None:
    found = _matching(file.head, _ENCRYPTED)
    if found is None or file.listed:
        return None
    message = (
        f"This is {found.called}, not {file.what}. It begins with {found.begins[:24].decode('ascii', 'replace')!r}. "
        f"Decrypt it first with {found.command} and the key it was made with, and open the result."
    )
    return FoundCause(Cause.ENCRYPTED, message, (Span(0, len(found.begins)),))


def _some_text(file: _File) -> FoundCause | None:
    """Text of a kind that is not known: all that is read of it can be printed."""
    size = file.source.size
    if file.listed or file.may_begin_with_data or size < _MIN_TEXT_BYTES or is_remote(file.source):
        return None
    places = range(0, size, max(HEAD_BYTES, size // _TEXT_SAMPLES))
    if not all(_PRINTED.fullmatch(file.source.read(at, HEAD_BYTES)) for at in (*places, size - _MIN_TEXT_BYTES)):
        return None
    message = (
        f'This is text, not {file.what}. It begins "{_shown(file.head)}", and all bytes of the samples read can be '
        "printed. It has the wrong name, or was put in the place of the archive."
    )
    return FoundCause(Cause.OTHER_FORMAT, message, (Span(0, size),))


def _wide(file: _File) -> FoundCause | None:
    """Text of 16 bits a character: every second byte is zero."""
    marked = file.head.startswith((b"\xff\xfe", b"\xfe\xff"))
    body = file.head[2:] if marked else file.head
    ends = file.tail[len(file.tail) % 2 :]
    if file.listed or file.source.size % 2 or len(body) < _MIN_WIDE_BYTES:
        return None
    fewest, most = sorted(len(half) - half.count(0) for half in (body[::2], body[1::2]))
    at_the_end = min(len(half) - half.count(0) for half in (ends[::2], ends[1::2]))
    if fewest > len(body) // 50 or at_the_end > len(ends) // 50 or most < len(body) // (64 if marked else 8):
        return None
    message = (
        "The file was encoded as UTF-16 text, so each byte became two. Every second byte is zero, and the rest is "
        "what was there. A program that treats files as text wrote it, such as a shell that redirects output. Copy it "
        "again in binary mode, or take the encoding back: iconv -f UTF-16LE -t ISO-8859-1."
    )
    return FoundCause(Cause.TEXT_MODE, message, (Span(0, file.source.size),))


BYTE_ORDERS: tuple[tuple[tuple[int, ...], str, str], ...] = (
    ((1, 0), "The two bytes of every pair changed places", "dd conv=swab"),
    (
        (3, 2, 1, 0),
        "The four bytes of every word of 32 bits are in reverse order",
        "objcopy -I binary -O binary --reverse-bytes=4",
    ),
    (
        (7, 6, 5, 4, 3, 2, 1, 0),
        "The eight bytes of every word of 64 bits are in reverse order",
        "objcopy -I binary -O binary --reverse-bytes=8",
    ),
    ((2, 3, 0, 1), "The two halves of every word of 32 bits changed places", ""),
    ((4, 5, 6, 7, 0, 1, 2, 3), "The two halves of every word of 64 bits changed places", ""),
)
"""Wrong orders of bytes: those of each word, in their order by these places, were written one after the other.

Then what that is, and a command. Each order undoes itself.
"""


def _swapped(file: _File) -> FoundCause | None:
    """The bytes of every word stand in the order of another machine."""
    if file.listed or len(file.head) < 512:
        return None
    for places, how, command in BYTE_ORDERS:
        at = len(file.tail) - file.source.size
        head, tail = reordered(file.head[:1_024], places), reordered(file.tail[at % len(places) :], places)
        if head.startswith(b"PK\3\4") or head[257:262] == b"ustar":
            what = f'begins with "{"PK" if head.startswith(b"PK") else "ustar"}" if they are swapped back'
        elif b'"start_byte"' in tail:
            what = "ends in an index if they are swapped back"
        else:
            what = damage_of(file.archive).turned(file.head, head)
        if what:
            undo = f"Swap them back in a copy ({command}), or copy it again" if command else "Copy it again"
            message = (
                f"{how} in this file. It {what}. Copies between machines of another byte order do that, and "
                f"devices read with a driver for one. {undo}."
            )
            return FoundCause(Cause.BYTE_ORDER, message, (Span(0, file.source.size),))
    return None


def reordered(data: bytes, places: Sequence[int]) -> bytes:
    """The bytes of whole words in their own order; a rest stays."""
    size = len(places)
    whole = len(data) // size * size
    found = bytearray(data)
    for at, place in enumerate(places):
        found[at:whole:size] = data[place:whole:size]
    return bytes(found)


# ---- another format --------------------------------------------------------------------------------------------------


def _other_format(file: _File) -> FoundCause | None:
    known = format_of(file.archive)
    if file.listed or file.may_begin_with_data:
        return None
    named = damage_of(file.archive).named and not len(file.archive.members)
    if known and not named and known.probe(file.source) is ProbeResult.CERTAIN:
        return None
    head = file.head
    if (iso := file.source.read(32769, 5)) == b"CD001":
        head = head.ljust(32769, b"\0") + iso
    found = _matching(head, _OTHER)
    own = [each.signature for each in FORMATS if known and each.name in (known.name, known.general)]
    if found is None or found in own:
        return None
    shown = head[found.at : found.at + len(found.begins)].hex(" ")
    message = (
        f"This is {found.called}, not {file.what}. The bytes {shown} are at {found.at:,}. It has the wrong name, or "
        "was put in the place of the archive. Rename it and open it with a program for its format; for the archive, "
        "look for another copy."
    )
    return FoundCause(Cause.OTHER_FORMAT, message, (Span(found.at, found.at + len(found.begins)),))
