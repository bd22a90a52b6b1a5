"""Repairing a range: its metadata written anew from the tar, and the tar's own end and headers.

S3 Storage Layout, Metadata Files. A hash that is recorded stays, even one that the datapoint does not fit: it is what
shows that bytes have changed. It is replaced only where the user says that the bytes are right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.finding import Severity
from inspector.core.member import FOLDER, SPECIAL, UNREADABLE
from inspector.core.numbers import count, grouped
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import BLOCK as PIECE
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats import _tar
from inspector.formats._tar.header import BLOCK, aligned
from inspector.formats._tar.repair import repair_end, repair_headers
from inspector.formats.datas3t.archive import METADATA
from inspector.formats.datas3t.check import MISMATCH
from inspector.formats.datas3t.datapoints import FIELD_TWICE, NONE, ROW_BROKEN, ROW_MISSING, Beside
from inspector.formats.datas3t.derived import repair_index, repair_names
from inspector.formats.datas3t.keys import DIGITS, datapoint_key, range_name
from inspector.formats.datas3t.write import Row, metadata

DAMAGED, EXTRA = "datas3t-metadata-damaged", "datas3t-metadata-row-extra"
TWICE = "datas3t-key-twice"

REBUILT = frozenset(
    (
        "datas3t-metadata-missing",
        DAMAGED,
        EXTRA,
        FIELD_TWICE,
        ROW_BROKEN,
        ROW_MISSING,
        "datas3t-metadata-offset",
        "datas3t-metadata-order",
        "datas3t-metadata-readings",
        "datas3t-metadata-spelling",
    )
)
"""The findings that new metadata answers."""

_NAMED = 5
"""The most keys in one sentence; the rest are counted."""


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """See Format.repairs."""
    beside = archive.detail
    codes = {each.code for each in archive.findings if each.severity is not Severity.INFO}
    if not isinstance(beside, Beside) or not codes:
        return ()
    progress.begin("Planning repairs", len(archive.members), "members")
    found = [
        *repair_headers(archive, lambda member: _expected(beside, member)),
        *repair_end(archive, _is_whole(archive)),
    ]
    if not _is_damaged(archive):
        found += repair_index(archive, beside, codes)
        if TWICE not in codes:
            found += repair_names(archive)
    if _rows_can_be_told(archive, beside, codes):
        if codes & REBUILT:
            found.append(_rebuild(archive, beside, codes))
        if MISMATCH in codes:
            found.append(_trust(archive, beside, codes))
    return found


def _expected(beside: Beside, member: int) -> bytes:
    """The digits that the name of a member should begin with, by the key of the one before it; else none."""
    before = beside.keys[member - 1] if member else None
    return b"" if before is None else b"%0*d" % (DIGITS, before + 1)


def _is_whole(archive: Archive) -> bool:
    """Whether the range holds the last datapoint that its name promises, and every one that has a row."""
    named = range_name(archive.source.name)
    count = len(archive.members)
    last = datapoint_key(archive.members.path(count - 1)) if count else None
    extra = any(each.code == EXTRA for each in archive.findings)
    return named is not None and last is not None and last[0] == named.last and not extra


def _is_damaged(archive: Archive) -> bool:
    return any(each.code.startswith("tar-") and each.severity is Severity.ERROR for each in archive.findings)


def _rows_can_be_told(archive: Archive, beside: Beside, codes: Iterable[str]) -> bool:
    """Whether the tar says of every key where its one datapoint lies.

    Metadata of a damaged tar is left alone: it is what tells of the datapoints that are no longer found.
    """
    members = archive.members
    keyed = [member for member, key in enumerate(beside.keys) if key is not None]
    odd = members.marks is not None and any(members.marks[member] & (SPECIAL | FOLDER | UNREADABLE) for member in keyed)
    return bool(keyed) and not _is_damaged(archive) and not odd and TWICE not in codes


def _rebuild(archive: Archive, beside: Beside, codes: set[str]) -> Repair:
    """New metadata that keeps the recorded hashes."""
    new = sum(key is not None and not _has_row(beside, member) for member, key in enumerate(beside.keys))
    hashes = f", with new hashes of the bytes of {count(new, 'datapoint')} as they are now" if new else ""
    title = f"Write the metadata anew from the tar{hashes}"
    return Repair(
        "datas3t-rebuild-metadata",
        title,
        frozenset(codes & REBUILT),
        _loses(beside, codes),
        " ".join(filter(None, (_claim_of_tar(beside, new), _claim_of_extra(beside)))),
        content=_content(archive, beside, lambda member: _has_row(beside, member)),
        beside=METADATA,
        old=beside.found.get(METADATA),
    )


def _trust(archive: Archive, beside: Beside, codes: set[str]) -> Repair:
    """New metadata with new hashes where the recorded ones do not fit."""
    wrong = archive.verdicts.count(VERDICTS.index(Verdict.MISMATCH))
    what = count(wrong, "datapoint")
    claim = (
        f"That the bytes of {what} are right and the recorded hashes are wrong: nothing in the range proves it, and if "
        "the bytes have changed, nothing will show it any more."
    )
    return Repair(
        "datas3t-replace-hashes",
        f"Write the metadata anew from the tar, with new hashes of {what} whose bytes do not fit the recorded ones",
        frozenset(codes & (REBUILT | {MISMATCH})),
        (f"The recorded {'hash' if wrong == 1 else 'hashes'} of {what}.", *_loses(beside, codes)),
        " ".join(filter(None, (claim, _claim_of_extra(beside)))),
        content=_content(
            archive,
            beside,
            lambda member: _has_row(beside, member) and archive.verdict(member) is not Verdict.MISMATCH,
        ),
        beside=METADATA,
        old=beside.found.get(METADATA),
    )


def _has_row(beside: Beside, member: int) -> bool:
    return beside.rows is not None and beside.row_of[member] != NONE


def _extra_keys(beside: Beside) -> list[int]:
    """The keys of rows that have no datapoint in the tar."""
    if beside.rows is None:
        return []
    there = set(beside.keys)
    return [key for row, key in enumerate(beside.rows.ids) if row not in beside.rows.unreadable and key not in there]


def _other_hashes(beside: Beside) -> list[int]:
    """The keys of which a further row has another hash than the one that is kept."""
    rows = beside.rows
    if rows is None:
        return []
    kept = {key: rows.hashes[row] for key, row in zip(beside.keys, beside.row_of, strict=True) if row != NONE}
    pairs = zip(rows.ids, rows.hashes, strict=True)
    return [
        key for row, (key, digest) in enumerate(pairs) if row not in rows.unreadable and kept.get(key, digest) != digest
    ]


def _claim_of_tar(beside: Beside, new: int) -> str:
    """What is assumed where the metadata that is there is replaced; ``new`` datapoints get a hash of their bytes."""
    if METADATA not in beside.found:
        return ""
    bytes_too = f", and that the bytes of {count(new, 'datapoint')} are those that were written" if new else ""
    return f"That the tar is right and the metadata wrong where they differ{bytes_too}: nothing in the range proves it."


def _claim_of_extra(beside: Beside) -> str:
    extra = _extra_keys(beside)
    if not extra:
        return ""
    return f"That the tar lacks nothing, though the metadata has rows of {_listed(extra)}, which it does not hold."


def _loses(beside: Beside, codes: set[str]) -> tuple[str, ...]:
    extra = _extra_keys(beside)
    other = _other_hashes(beside)
    broken = 0 if beside.rows is None else len(beside.rows.unreadable)
    sentences = (
        extra and f"The rows of {_listed(extra)}, with their hashes.",
        other and f"Further rows of {_listed(other)} with other hashes; the first row of each stays.",
        broken and f"What is left of {count(broken, 'row')} that cannot be read, recorded hashes among it.",
        DAMAGED in codes and "The hashes in the metadata that cannot be read: new ones say what the bytes are now.",
    )
    return tuple(sentence for sentence in sentences if sentence)


def _listed(keys: Sequence[int]) -> str:
    shown = ", ".join(map(grouped, keys[:_NAMED])) + (", ..." if len(keys) > _NAMED else "")
    return f"{'key' if len(keys) == 1 else 'the keys'} {shown}"


def _content(archive: Archive, beside: Beside, kept: Callable[[int], bool]) -> Callable[[Progress], Iterator[bytes]]:
    """The metadata; the hashes of members that are not ``kept`` are of their bytes as they are."""

    def content(progress: Progress) -> Iterator[bytes]:
        progress.begin("Hashing datapoints", sum(map(archive.members.stored, range(len(archive.members)))))
        made = metadata(_rows(archive, beside, kept, progress))
        for start in range(0, len(made), PIECE):
            yield made[start : start + PIECE]

    return content


def _rows(archive: Archive, beside: Beside, kept: Callable[[int], bool], progress: Progress) -> Iterator[Row]:
    members = archive.members
    padded = _ends_are_padded(beside)
    assert members.heads is not None
    keyed = [(key, member) for member, key in enumerate(beside.keys) if key is not None]
    for key, member in sorted(keyed):
        start, stop = members.starts[member], members.stops[member]
        if beside.rows is not None and kept(member):
            digest = beside.rows.hashes[beside.row_of[member]]
            progress.advance(stop - start)
        else:
            digest = _hashed(archive, member, progress)
        yield Row(key, members.heads[member], start + aligned(stop - start) if padded else stop, digest)


def _ends_are_padded(beside: Beside) -> bool:
    """Whether end offsets include the padding, as specified, unless the rows that are there all mean it otherwise."""
    rows, members = beside.rows, beside.members
    if rows is None:
        return True
    telling = [
        rows.ends[row] == members.stops[member]
        for member, row in enumerate(beside.row_of)
        if row != NONE and members.stops[member] % BLOCK
    ]
    return not telling or not all(telling)


def _hashed(archive: Archive, member: int, progress: Progress) -> int:
    # Imported here because start-up must not wait for it.
    import xxhash

    digest = xxhash.xxh64()
    for piece in _tar.read(archive, member, progress):
        digest.update(piece)
    return digest.intdigest()
