"""Signatures: searching a file for one, window by window, how well-known files begin, and what is inside of zstd."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from inspector.core.field import Field, Unread
from inspector.core.program.progress import Progress
from inspector.core.source import Source, Stored, is_sparing
from inspector.core.span import Span

_WINDOW_BYTES = 1 << 20


def found_outside(
    source: Source, signature: bytes, taken: Sequence[Span], most: int, progress: Progress
) -> Iterator[int]:
    """Where ``signature`` begins outside the spans ``taken``, sorted and apart, in the first ``most`` bytes there.

    Reads each byte once and advances ``progress`` by what it searches. Raises SourceError and Cancelled.
    """
    at = 0
    for span in (*taken, Span(source.size, source.size)):
        while at < span.start and most > 0:
            stop = min(span.start, at + _WINDOW_BYTES)
            if not (data := source.read(at, stop - at + len(signature) - 1)):
                return
            place = data.find(signature)
            while 0 <= place < stop - at:
                yield at + place
                place = data.find(signature, place + 1)
            progress.advance(stop - at)
            most -= stop - at
            at = stop
        at = max(at, span.stop)


# ---- how files begin -------------------------------------------------------------------------------------------------

HEAD_BYTES = 264
"""Bytes at the beginning of a file that decide, so that a member's content is known to begin there."""

# Of at least four bytes: random ones look like one of them less than once in a hundred million places.
_SIGNATURE = (
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff[\xc0\xc4\xdb-\xfe]|GIF8[79]a|RIFF....(?:WEBP|WAVE|AVI )"
    rb"|II\*\0|MM\0\*|II\+\0\x08\0|MM\0\+\0\x08\0|\0\0\0\x0cjP  |....ftyp|\x1a\x45\xdf\xa3|OggS|fLaC"
    rb"|PK\x03\x04|PK\x05\x06|Rar!\x1a\x07|7z\xbc\xaf\x27\x1c|\xfd7zXZ\0|BZh[1-9](?:1AY&SY|\x17rE8)|\x28\xb5\x2f\xfd"
    rb"|\x1f\x8b\x08[\0-\x1f]....[\0\x02\x04][\0-\x0d\xff]|\x04\x22\x4d\x18|.{257}ustar"
    rb"|%PDF-|\{\\rtf|<\?xml |<!DOCTYPE |<html|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1|SQLite format 3\0"
    rb"|PAR1|ARROW1\0\0|Obj\x01|\x89HDF\r\n\x1a\n|CDF[\x01\x02\x05]|\x93NUMPY|GRIB|SIMPLE  =|LASF|glTF"
    rb"|\x7fELF|\xca\xfe\xba\xbe|\xcf\xfa\xed\xfe|\0asm\x01"
)


def has_signature(head: bytes) -> bool:
    """Whether a file that begins with ``head`` (HEAD_BYTES of it, or all of a shorter one) is of a well-known kind."""
    return re.match(_SIGNATURE, head, re.DOTALL) is not None


# ---- what is inside of zstd ------------------------------------------------------------------------------------------


def with_inside(field: Field, source: Source, name: str) -> Field:
    """A field of data that are stored as they are, with its frames and blocks where the ``name`` is that of zstd data.

    So nothing is read before somebody looks inside. It is as it was where reading may be a request.
    """
    whole = name.lower().endswith(".zst") and len(field.spans) == 1 and field.spans[0].size
    return (
        field._replace(inside=zstd_inside(Stored(source, *field.spans[0])))
        if whole and not is_sparing(source)
        else field
    )


def zstd_inside(stored: Stored) -> Sequence[Field]:
    """As ``inside_zstd`` of whole frames, which is loaded when somebody looks."""

    def make() -> Sequence[Field]:
        from inspector.formats._zstd_fields import inside_zstd  # brings zstandard, which few archives need

        return inside_zstd(stored)

    return Unread(make)
