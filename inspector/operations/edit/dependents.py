"""Repairing the checksums that an edit makes wrong, as part of the same edit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from inspector.core.edit import Edit, Patch, merged, overlaid
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span, Spans
from inspector.core.verdict import Checksum, Verdict
from inspector.operations.check.checking import check_archive
from inspector.operations.open.opening import Opened, decode, start

_MAX_ROUNDS = 16
"""One checksum may cover another: rounds until no checksum changes any more."""


def repair_checksums(source: Source, edit: Edit, progress: Progress) -> tuple[Edit, tuple[str, ...]]:
    """Extend ``edit`` by the correct values of all checksums over bytes that it changes.

    Other wrong checksums stay wrong. Raises SourceError and Cancelled.
    """
    edits = [edit]
    touched: list[Span] = list(edit.spans)
    names: list[str] = []
    for _ in range(_MAX_ROUNDS):
        archive = start(overlaid(source, edits))
        decode(archive, progress)
        check_archive(archive, progress)
        found = _wrong(archive, touched)
        if not found:
            break
        patches = tuple(patch for _, each in found for patch in each)
        names += [checksum.name for checksum, _ in found]
        touched += [patch.span for patch in patches]
        edits.append(Edit(edit.label, patches, archive.source.size, archive.source.size))
    return merged(source, edits, edit.label), tuple(dict.fromkeys(names))


def broken(archive: Opened, edit: Edit) -> tuple[str, ...]:
    """The names of the checksums that ``edit`` makes wrong and a repair can fix.

    ``archive`` is decoded and checked with the edit applied.
    """
    return tuple(dict.fromkeys(checksum.name for checksum, _ in _wrong(archive, edit.spans)))


def _wrong(archive: Opened, touched: Sequence[Span]) -> list[tuple[Checksum, tuple[Patch, ...]]]:
    wrong = [each for each in archive.checksums if _depends(each, touched)]
    return [(each, patches) for each in wrong if (patches := tuple(_patches(archive.source, each)))]


def _depends(checksum: Checksum, touched: Iterable[Span]) -> bool:
    if checksum.verdict is not Verdict.MISMATCH or not checksum.place:
        return False
    concerned: Spans = (*checksum.covers, *checksum.place)
    return any(ours.start < theirs.stop and theirs.start < ours.stop for ours in concerned for theirs in touched)


def _patches(source: Source, checksum: Checksum) -> Iterator[Patch]:
    """Patches that store the computed value, in the stored form, also in its copies; none if that form is unknown."""
    pieces = [source.read(span.start, span.size) for span in checksum.place]
    old = b"".join(pieces)
    new = in_stored_form(old, checksum.stored, checksum.computed)
    if new is None or new == old:
        return
    yield from (Patch(span.start, old, new) for span in checksum.copies)
    for span, piece in zip(checksum.place, pieces, strict=True):
        yield Patch(span.start, piece, new[: len(piece)])
        new = new[len(piece) :]


def in_stored_form(field: bytes, stored: str, computed: str) -> bytes | None:
    """``computed`` (hex) in the form in which ``field`` holds ``stored`` (hex): bytes in either order, or octal text.

    None if the field holds ``stored`` in none of these forms.
    """
    if len(stored) == len(computed) == 2 * len(field):
        was, will = bytes.fromhex(stored), bytes.fromhex(computed)
        if was == field:
            return will
        if was[::-1] == field:
            return will[::-1]
    digits = field.strip(b" \0")
    if computed and digits and all(digit in b"01234567" for digit in digits) and int(digits, 8) == int(stored, 16):
        octal = f"{int(computed, 16):0{len(digits)}o}".encode()
        return field.replace(digits, octal) if len(octal) == len(digits) else None
    return None
