"""Why an archive is damaged: all causes, with what each means, and an explanation, which is one that was found.

The manual's list is made from this table.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from inspector.core.archive import Archive
from inspector.core.finding import Finding, Severity
from inspector.core.span import Span, Spans

if TYPE_CHECKING:  # annotations only
    from inspector.core.repair import Repair

PREFIX = "cause-"
"""What the code of every cause begins with. Such a finding explains others and never decides the state."""


class Cause(StrEnum):
    """The codes of all causes."""

    EMPTY = "cause-empty"
    ALL_ZEROS = "cause-all-zeros"
    COMPRESSED = "cause-compressed"
    ENCODED_TEXT = "cause-encoded-text"
    ERROR_PAGE = "cause-error-page"
    POINTER = "cause-pointer"
    RESPONSE_HEADERS = "cause-response-headers"
    TRANSFER_FRAMING = "cause-transfer-framing"
    OTHER_FORMAT = "cause-other-format"
    ENCRYPTED = "cause-encrypted"
    BYTE_ORDER = "cause-byte-order"
    TEXT_MODE = "cause-text-mode"
    JOINED = "cause-joined-archives"
    TRUNCATED = "cause-truncated"
    ZERO_PART = "cause-zero-part"
    ZERO_BLOCK = "cause-zero-block"
    DOUBLED_PART = "cause-doubled-part"
    LOST_PART = "cause-lost-part"
    SWAPPED_PARTS = "cause-swapped-parts"
    REPEATED_BLOCK = "cause-repeated-block"
    FILLED_BLOCK = "cause-filled-block"
    LOST_BYTES = "cause-lost-bytes"
    INSERTED_BYTES = "cause-inserted-bytes"
    FLIPPED_BIT = "cause-flipped-bit"
    WRONG_BYTE = "cause-wrong-byte"
    TRAILING_BYTES = "cause-trailing-bytes"
    CHANGED_BYTES = "cause-changed-bytes"
    OTHER_WRITER = "cause-other-writer"
    APPENDED = "cause-appended"


SPLIT_CODE, UNWRAP_CODE, CONVERT_CODE = "split-archives", "unwrap-archive", "undo-conversion"
"""The codes of the repairs that write each archive, or the only one, to a file of its own."""
PROVED_CODE, LIKELY_CODE = "restore-proved-bits", "restore-likely-bits"
"""The codes of the repairs of flipped bits."""
TAKEN_OUT = frozenset({SPLIT_CODE, UNWRAP_CODE, CONVERT_CODE})
"""With one of these repairs none is made of the file itself: what it would repair is not one archive."""

NOT_INTERRUPTED = frozenset({Cause.ALL_ZEROS, Cause.TEXT_MODE, Cause.JOINED})
"""Causes that explain what looks like an interrupted write."""

MEANINGS: dict[Cause, tuple[str, str]] = {
    Cause.EMPTY: ("The file has no bytes.", "Copy or download it again."),
    Cause.ALL_ZEROS: (
        "Every byte is zero: room was reserved and never filled.",
        "Copy or download it again.",
    ),
    Cause.COMPRESSED: (
        "A compressor was applied to the whole file.",
        "Unpack it, with `gunzip` for example; what gzip, bzip2, xz or zstd made opens as `FILE!/` too.",
    ),
    Cause.ENCODED_TEXT: (
        "The file was encoded as base64, hexadecimal or another text.",
        "Decode it, with `repair --to`, `base64 -d` or `xxd`.",
    ),
    Cause.ERROR_PAGE: (
        "A web page, or the error message of a server, was saved under this name.",
        "Download it again; check address and permissions.",
    ),
    Cause.POINTER: (
        "A pointer of Git LFS, git-annex or DVC is there instead of the archive.",
        "Fetch the content it points to.",
    ),
    Cause.RESPONSE_HEADERS: (
        "Headers of an HTTP response or of a form precede the archive.",
        "Cut them off, or save the body only.",
    ),
    Cause.TRANSFER_FRAMING: (
        "The chunk sizes of an HTTP or S3 transfer were stored with the data.",
        "Send it again with a client that removes them.",
    ),
    Cause.OTHER_FORMAT: (
        "The file is of another format than its name says.",
        "Rename it, or open it with its program.",
    ),
    Cause.ENCRYPTED: ("The whole file was encrypted.", "Decrypt it with the program and the key it was made with."),
    Cause.BYTE_ORDER: (
        "The bytes of every word of 16, 32 or 64 bits, or its halves, changed places, as `dd conv=swab` does.",
        "Swap them back in a copy, as `repair --to` does, or read the medium again.",
    ),
    Cause.TEXT_MODE: (
        "A copy in text mode changed line ends, cut the eighth bit or changed the encoding.",
        "Copy it again in binary mode; `repair --to` converts a copy back where nothing was lost.",
    ),
    Cause.JOINED: (
        "One file holds several archives, one after the other.",
        "Open each as `FILE!/@START-STOP`, or split them with `repair --to`.",
    ),
    Cause.TRUNCATED: (
        "The file ends too early: a transfer or a write stopped, or the end was cut off.",
        "Copy or download it again; what precedes the cut can be saved.",
    ),
    Cause.ZERO_PART: (
        "A part of a download or an upload (5, 8 or 16 MiB) is zeros.",
        "Fetch those bytes again; the finding names the range.",
    ),
    Cause.ZERO_BLOCK: (
        "A block of the disk or the file system was lost and is zeros now.",
        "Restore those bytes from another copy; check the disk.",
    ),
    Cause.DOUBLED_PART: ("A part of 5, 8 or 16 MiB is there twice.", "Transfer it again."),
    Cause.LOST_PART: ("A part of 5, 8 or 16 MiB is missing.", "Transfer it again."),
    Cause.SWAPPED_PARTS: ("Two parts of 5, 8 or 16 MiB changed places.", "Transfer it again."),
    Cause.REPEATED_BLOCK: (
        "A block is a copy of the block beside it.",
        "Restore it from another copy; check disk and memory.",
    ),
    Cause.FILLED_BLOCK: (
        "A block is one byte repeated, as erased memory and bad-sector markers are.",
        "Restore it from another copy; check the disk or the card.",
    ),
    Cause.LOST_BYTES: ("Bytes are missing in the middle, so all that follows moved.", "Copy it again."),
    Cause.INSERTED_BYTES: (
        "Bytes were inserted, or precede the archive, so all that follows moved.",
        "Copy it again; `repair --to` writes a copy without what precedes it.",
    ),
    Cause.FLIPPED_BIT: (
        "A single bit changed, in memory or on the way.",
        "`repair` restores it where a digest shows which; check the memory.",
    ),
    Cause.WRONG_BYTE: ("A single byte changed in several bits.", "`repair` restores it where a digest shows which."),
    Cause.TRAILING_BYTES: (
        "Bytes that do not belong to the archive follow its end.",
        "Cut them off in a copy, after a look at them.",
    ),
    Cause.CHANGED_BYTES: (
        "The bytes are not those that were archived, and no simpler cause was found.",
        "Restore them from another copy.",
    ),
    Cause.OTHER_WRITER: (
        "The index of a CAF is in another encoding or counts otherwise than specified, and nothing is missing.",
        "Let `repair --to` write it as specified; correct the program that wrote it.",
    ),
    Cause.APPENDED: (
        "Members were appended behind the index of a CAF, and a new index of all follows them. Nothing is missing.",
        "Read it as it is, or let `repair --to` write it without the earlier index.",
    ),
}
"""What each cause means and what to do, a sentence each."""


class FoundCause(NamedTuple):
    """One cause that was found.

    ``spans`` are file bytes; where they are the whole file a finding has none, for they would mark all of it.
    ``explains`` are the findings it explains, ``repairs`` what would take the damage back.
    ``adopts``: a repair of the format that answers what it explains answers the cause too.
    """

    cause: Cause
    message: str
    spans: Spans = ()
    explains: tuple[Finding, ...] = ()
    repairs: tuple[Repair, ...] = ()
    member: int | None = None
    adopts: bool = False

    def finding(self, archive: Archive) -> Finding:
        """The cause as a finding, as severe as the worst that it explains."""
        severities = [each.severity for each in self.explains] or [each.severity for each in wrong(archive)]
        severity = min(severities, key=lambda each: each.rank, default=Severity.INFO)
        repair = self.repairs[0].code if self.repairs else None
        size = archive.source.size
        spans = tuple(span.clipped(0, size) for span in self.spans if span.size < size)
        return Finding(severity, self.cause, self.message, spans, self.member, repair)


def is_cause(finding: Finding) -> bool:
    """Whether a finding names the cause of others."""
    return finding.code.startswith(PREFIX)


def wrong(archive: Archive) -> list[Finding]:
    """The findings above info that are to be explained."""
    return [each for each in archive.findings if each.severity is not Severity.INFO and not is_cause(each)]


def wrong_codes(archive: Archive) -> frozenset[str]:
    """The codes of what is to be explained."""
    return frozenset(each.code for each in wrong(archive))


def about(archive: Archive, spans: Sequence[Span], member: int | None = None) -> tuple[Finding, ...]:
    """The findings to be explained that are about a member, or about some of these bytes."""
    return tuple(
        each
        for each in wrong(archive)
        if (member is not None and each.member == member)
        or any(span.start < other.stop and other.start < span.stop for span in spans for other in each.spans)
    )
