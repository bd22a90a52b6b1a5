"""A member's decoded content as a source, and its detected text encoding or image format."""

from __future__ import annotations

import codecs

from inspector.core.format import MemberError
from inspector.core.limits import CONTENT
from inspector.core.names import visible
from inspector.core.numbers import rounded
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SourceError, SplicedSource
from inspector.operations.open.listing import content as pieces_of
from inspector.operations.open.nested import is_stored
from inspector.operations.open.opening import Opened
from inspector.sources.local.file import TemporarySource

SAMPLE_BYTES = 64 * 1024
"""The bytes that encoding detection reads."""
MAX_IMAGE_BYTES = 64 << 20
"""The size of the largest file that is shown as an image."""

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\f\r\x1b")) + b"\x7f"
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"BM", "bmp"),
)


def decoded_content(archive: Opened, index: int, progress: Progress, largest: int = 0) -> tuple[Source, str]:
    """The content of a member, and a sentence on what is missing, empty if it is complete.

    At most ``largest`` bytes are decoded, 0 for the user's limit. A stored member is a view of the file, not a copy.
    Raises SourceError and Cancelled.
    """
    member = archive.members[index]
    name = visible(member.path)
    largest = largest or CONTENT.value
    if not member.readable:
        return TemporarySource(name), "Its entry does not locate its content."
    if is_stored(archive.source, member):
        return SplicedSource(archive.source, member.spans, name), ""
    target = TemporarySource(name)
    progress.begin(f"Decoding {name}", member.size)
    try:
        for piece in pieces_of(archive, index, progress):
            target.append(piece[: largest - target.size])
            if target.size >= largest and target.size < member.size:
                return target, f"Only the first {rounded(largest)} are shown."
            progress.done = target.size
            progress.advance(0)
    except (MemberError, SourceError) as error:
        return target, str(error)
    return target, ""


def encoding_of(sample: bytes, whole: bool) -> str | None:
    """The encoding of a text, None for binary content; ``whole``: the sample is the complete content."""
    for mark, name in _BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return name
    if sample.translate(None, _CONTROLS) != sample:
        return None
    if sample.isascii():
        return "ascii"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=whole)
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes  # slow to import and rarely needed

        best = from_bytes(sample).best()
        return None if best is None else best.encoding
    return "utf-8"


def image_of(start: bytes, size: int) -> str | None:
    """The image format according to the first bytes; None for other content and for images too large to show."""
    if size > MAX_IMAGE_BYTES:
        return None
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "webp"
    return next((name for magic, name in _IMAGES if start.startswith(magic)), None)
