"""Blocks that stand between or behind the members and are legal: signatures, and what encryption of the directory adds.

The APK Signing Block (source.android.com, APK Signature Scheme v2) ends where the central directory begins. A digital
signature of PKZIP (APPNOTE 4.3.13) ends the directory. An encrypted directory (APPNOTE 7.3) is told by the version 2 of
the ZIP64 end record.
"""

from __future__ import annotations

from inspector.core.field import Field, parent
from inspector.core.kinds import Kind
from inspector.core.numbers import in_bytes
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._kinds import SIGNATURE_BLOCK
from inspector.formats._zip.eocd import Eocd
from inspector.formats._zip.records import CENTRAL, SIGNATURE, ZIP64_END_SIZE

_APK_MAGIC = b"APK Sig Block 42"
_APK_FOOTER = 8 + len(_APK_MAGIC)
_APK_IDS = {
    0x7109871A: "APK Signature Scheme v2",
    0xF05368C0: "APK Signature Scheme v3",
    0x1B93AD61: "APK Signature Scheme v3.1",
    0x42726577: "padding",
    0x504B4453: "dependencies of the app",
    0x2146444E: "frosting of Google Play",
    0x6DFF800D: "source stamp",
}
_APK_ALIGNMENT = 4_096
_MAX_PAIRS = 1_000
_CIPHERS = frozenset((0x6601, 0x6602, 0x6603, 0x6609, 0x660E, 0x660F, 0x6610, 0x6702, 0x6720, 0x6721, 0x6801, 0xFFFF))
"""APPNOTE 7.2.3.2."""
_CIPHER_AT = ZIP64_END_SIZE + 2 + 8 + 8
"""Where the version 2 of the ZIP64 end record has the algorithm (APPNOTE 7.3.4)."""


def apk_signing_block(source: Source, stop: int) -> Span | None:
    """The APK Signing Block that ends at ``stop``, where the central directory begins."""
    footer = source.read(stop - _APK_FOOTER, _APK_FOOTER) if stop >= 8 + _APK_FOOTER else b""
    size = footer[:8]
    start = stop - 8 - int.from_bytes(size, "little")
    if footer[8:] != _APK_MAGIC or not 0 <= start <= stop - 8 - _APK_FOOTER or source.read(start, 8) != size:
        return None
    return Span(start, stop)


def apk_padding(source: Source, start: int, block: Span) -> bool:
    """Whether ``start`` to the block are the zeros with which apksigner puts it at a multiple of 4,096."""
    size = block.start - start
    return not block.start % _APK_ALIGNMENT and 0 < size < _APK_ALIGNMENT and not any(source.read(start, size))


def apk_signing_field(source: Source, span: Span) -> Field:
    """The block: its size, pairs of a number and a value, its size again, and the magic."""
    end = span.stop - _APK_FOOTER
    fields = [_number(source, "size of block", span.start), *_pairs(source, span.start + 8, end)]
    fields.append(_number(source, "size of block", end))
    magic = Span(end + 8, span.stop)
    fields.append(Field("magic", Kind.SIGNATURE, (magic,), _APK_MAGIC.decode()))
    note = f"Signatures over the rest of the file, which are not verified here: {in_bytes(span.size)}."
    return parent("APK Signing Block", SIGNATURE_BLOCK, (span,), fields, note=note)


def _number(source: Source, name: str, at: int) -> Field:
    return Field(name, Kind.LENGTH, (Span(at, at + 8),), int.from_bytes(source.read(at, 8), "little"))


def _pairs(source: Source, at: int, stop: int) -> list[Field]:
    found: list[Field] = []
    while at + 12 <= stop and len(found) < _MAX_PAIRS:
        head = source.read(at, 12)
        after = at + 8 + int.from_bytes(head[:8], "little")
        if not at + 12 <= after <= stop:
            break
        number = int.from_bytes(head[8:], "little")
        name = _APK_IDS.get(number, "pair")
        found.append(
            Field(name, Kind.BYTES, (Span(at, after),), number, in_bytes(after - at - 12), text=f"0x{number:08x}")
        )
        at = after
    return found


def digital_signature(source: Source, start: int, stop: int) -> Field | None:
    """The digital signature that fills ``[start, stop)``, the end of a central directory."""
    head = source.read(start, 6)
    if head[:4] != SIGNATURE or len(head) < 6 or start + 6 + int.from_bytes(head[4:], "little") != stop:
        return None
    fields = [
        Field("header signature", Kind.SIGNATURE, (Span(start, start + 4),), "0x05054B50"),
        Field("size of data", Kind.LENGTH, (Span(start + 4, start + 6),), int.from_bytes(head[4:], "little")),
        Field("signature data", Kind.BYTES, (Span(start + 6, stop),)),
    ]
    note = "A signature over the central directory, which is not verified here."
    span = Span(start, stop)
    return parent("digital signature", SIGNATURE_BLOCK, (span,), fields, note=note, specification="APPNOTE 4.3.13")


def is_encrypted(source: Source, eocd: Eocd) -> bool:
    """Whether the central directory is encrypted, so that it cannot be read."""
    if eocd.zip64 is None or eocd.directory is None or eocd.zip64.size < _CIPHER_AT + 2:
        return False
    cipher = int.from_bytes(source.read(eocd.zip64.start + _CIPHER_AT, 2), "little")
    return cipher in _CIPHERS and source.read(eocd.directory.start, 4) != CENTRAL
