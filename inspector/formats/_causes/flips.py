"""One flipped bit, or one changed byte: found by the digest that the bytes had before.

A CRC-32 is linear, so the bit follows from it. With other digests, and for deflated members, each bit is tried, within
a budget of work that is counted in bytes, and where nothing else is found each value of each byte. What then verifies
is a proof where the digest has 64 bits or more; a CRC-32 makes it likely.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import isqrt
from typing import Any

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.cause import LIKELY_CODE, PROVED_CODE, Cause, FoundCause, about, wrong
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Finding
from inspector.core.member import Codec
from inspector.core.names import brief
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import SplicedSource
from inspector.core.span import Span, intersect, subtract, united
from inspector.core.verdict import Checksum, Verdict
from inspector.formats import damage_of, format_of
from inspector.formats._causes.blocks import members_with

# ---- the bit of a CRC-32 ---------------------------------------------------------------------------------------------

_ONES = 0xFFFFFFFF


def flipped_in(change: int, size: int) -> list[tuple[int, int]]:
    """The bits of ``size`` bytes that change a CRC-32 by exclusive or with ``change``: (byte, mask), at most a few.

    The registers of a single bit are run forward over zeros in large steps, that of the change in small ones: where
    they meet, that bit is there. Each step is run by zlib, so time is about linear in ``size``.
    """
    if not change or size <= 0:
        return []
    zeros = bytes(isqrt(size) + 1)
    steps: dict[int, int] = {}
    for step in range(len(zeros)):
        steps[change] = step
        change = _after(change, b"\0")
    found: list[tuple[int, int]] = []
    for mask in (1 << bit for bit in range(8)):
        register = _after(mask, b"\0")
        for distance in range(0, size + len(zeros), len(zeros)):
            if register in steps and 0 <= (at := size - 1 - distance + steps[register]) < size:
                found.append((at, mask))
            register = _after(register, zeros)
    return sorted(found)


def _after(register: int, data: bytes) -> int:
    """The register of a CRC-32 after more bytes, without the inversions at both ends."""
    return zlib.crc32(data, register ^ _ONES) ^ _ONES


# ---- where a bit may have flipped ------------------------------------------------------------------------------------

MAX_ROWS = 4_096
"""Checksums that are looked at."""
MAX_FLIPS = 16
"""Flipped bits that are reported; more are no single events."""
MAX_LIKELY_BYTES = 512 << 10
"""The largest member of which the bit that a CRC-32 tells is offered: of other damage, 1 in 1,000 looks so there."""
MAX_NAMED_BYTES = 16 << 20
"""The largest member of which the bit that a CRC-32 tells is named: of other damage, 1 in 32 looks so there."""
MAX_SUSPECT_BYTES = 16 << 10
"""Bytes of which each bit is tried."""
MAX_COVERED_BYTES = 1 << 20
"""The most bytes that a digest may cover for its bits to be tried."""
MAX_WORK_BYTES = 1 << 30
"""Bytes hashed or inflated in all trials of one archive together: two seconds or so. Each bit of 15 KiB can be tried
with it, or each value of each byte of 2 KiB."""
_BITS = tuple(1 << bit for bit in range(8))
_BYTES = tuple(mask for mask in range(256) if mask.bit_count() > 1)
"""What changes a byte in one bit, and in several."""
_FAST_HASH = 8
"""How many times faster than the others xxHash64 is, at least."""
_TRIAL_BYTES = 512
"""What a trial costs beside the bytes, as bytes."""
_MAX_BYTE_SIZE = 128
"""The largest content of which one changed byte is told by its CRC-32: 1 in 130,000 of other damage looks so."""


class Flip(Struct, frozen=True):
    """A byte that changed: at ``offset``, it is ``old`` and was ``new``; ``proof`` says what shows it."""

    offset: int
    old: int
    new: int
    proof: str
    proved: bool
    offered: bool
    what: str
    explains: tuple[Finding, ...]
    member: int | None

    @property
    def is_bit(self) -> bool:
        return (self.old ^ self.new).bit_count() == 1


class Budget(Struct):
    """Work left, in bytes."""

    left: int = MAX_WORK_BYTES

    def take(self, amount: int) -> bool:
        """Spend that much, if so much is left."""
        enough = amount <= self.left
        self.left -= amount * enough
        return enough


def changed_byte(archive: Archive, budget: Budget, progress: Progress) -> Iterator[FoundCause]:
    """The single bytes whose change in several bits digests prove, with their repair. Raises SourceError, Cancelled."""
    tried = (_by_trial(archive, each, _BYTES, budget, progress) for each in _mismatched(archive))
    yield from _with_repairs(archive, list(islice(filter(None, tried), MAX_FLIPS)))


def flipped_bits(archive: Archive, budget: Budget, progress: Progress) -> list[FoundCause]:
    """The flipped bits that explain wrong checksums and records, with their repairs; ``budget`` bounds the trials.

    Raises SourceError and Cancelled.
    """
    if not wrong(archive):
        return []
    flips: list[Flip] = []
    others: list[FoundCause] = []
    for checksum in _mismatched(archive):
        if len(flips) + len(others) >= MAX_FLIPS:
            break
        found = _in_content(archive, checksum, budget, progress) or _in_digest(archive, checksum)
        if isinstance(found, Flip):
            flips.append(found)
        elif found is not None:
            others.append(found)
    met = {id(each) for flip in flips for each in flip.explains} | {id(each) for one in others for each in one.explains}
    records = (each for each in wrong(archive)[:MAX_ROWS] if id(each) not in met)
    others += islice(filter(None, (damage_of(archive).flipped_field(archive, each) for each in records)), MAX_FLIPS)
    return [*_with_repairs(archive, flips), *others]


def _mismatched(archive: Archive) -> Iterator[Checksum]:
    """The checksums that do not match, the smallest archive's all, of a large one those of members that do not."""
    rows = archive.checksums
    if len(rows) <= MAX_ROWS:
        yield from (row for row in rows if row.verdict is Verdict.MISMATCH)
        return
    for at in islice(members_with(archive, Verdict.MISMATCH), MAX_FLIPS):
        yield from (row for row in rows[at : at + 2] if row.verdict is Verdict.MISMATCH and row.member == at)


# ---- in the content ------------------------------------------------------------------------------------------------


def _covered(archive: Archive, checksum: Checksum) -> SplicedSource:
    """The bytes that a checksum covers, as one."""
    spans = subtract(sorted(checksum.covers), sorted(checksum.omits))
    return SplicedSource(archive.source, spans, archive.source.name)


def _in_content(archive: Archive, checksum: Checksum, budget: Budget, progress: Progress) -> Flip | FoundCause | None:
    covered = _covered(archive, checksum)
    if not covered.size or not checksum.stored:
        return None
    if checksum.algorithm != "CRC-32":
        return _by_trial(archive, checksum, _BITS, budget, progress)
    member = archive.members[checksum.member] if checksum.member is not None else None
    if member is not None and member.codec is Codec.DEFLATE:
        return _deflated(archive, checksum, covered, member.size, budget, progress)
    return _by_crc(archive, checksum, covered) if member is None or member.codec is Codec.STORED else None


def _flip(
    archive: Archive, checksum: Checksum, covered: SplicedSource, bit: tuple[int, int], proof: str, *, offered: bool
) -> Flip:
    """The flip of a bit, (byte, mask) of what is covered; a digest other than a CRC-32 proves it."""
    (at, mask), offset = bit, _position(covered, bit[0])
    old = covered.read(at, 1)[0]
    proved = checksum.algorithm != "CRC-32"
    subject, explains = _subject(archive, checksum), about(archive, covered.spans, checksum.member)
    return Flip(offset, old, old ^ mask, proof, proved, offered, subject, explains, checksum.member)


def _by_crc(archive: Archive, checksum: Checksum, covered: SplicedSource) -> Flip | FoundCause | None:
    size, member = covered.size, checksum.member
    if not checksum.computed or size > MAX_NAMED_BYTES or (member is not None and archive.members.size(member) != size):
        return None
    change = int(checksum.stored, 16) ^ int(checksum.computed, 16)
    bits = flipped_in(change, size)
    header = _is_header(archive, member) and size < _MAX_BYTE_SIZE
    if not bits and header:
        return _one_byte(archive, checksum, covered, change)
    if len(bits) != 1 or change.bit_count() == 1:
        return None
    chance = (1 << 32) // (8 * size)
    proof = (
        f"Of the {8 * size:,} bits of its content it is the only one whose change gives the recorded CRC-32 "
        f"({checksum.stored}). A CRC-32 does not prove it: 1 in {chance:,} of other damage looks so."
    )
    offered = size <= MAX_LIKELY_BYTES and not header
    return _flip(archive, checksum, covered, bits[0], proof, offered=offered)


def _is_header(archive: Archive, member: int | None) -> bool:
    """Whether a member is a header of the format, which its own repair restores."""
    return member is not None and member == damage_of(archive).header_member


def _one_byte(archive: Archive, checksum: Checksum, covered: SplicedSource, change: int) -> FoundCause | None:
    """One changed byte of the little that a CRC-32 covers, such as of a header."""
    found = [
        (at, bits)
        for at in range(covered.size)
        for bits in range(1, 256)
        if _after(bits, bytes(covered.size - at)) == change
    ]
    if len(found) != 1:
        return None
    at, bits = found[0]
    offset, old = _position(covered, at), covered.read(at, 1)[0]
    message = (
        f"One byte of {_subject(archive, checksum)} changed: byte {grouped(offset)} is {hexadecimal(old, 2)} and was "
        f"{hexadecimal(old ^ bits, 2)}. Of all changes of one byte only this one matches its recorded CRC-32. "
        f"{_restored(archive)}"
    )
    explains = about(archive, covered.spans, checksum.member)
    return FoundCause(
        Cause.WRONG_BYTE, message, (Span(offset, offset + 1),), explains, member=checksum.member, adopts=True
    )


_EITHER = "An interrupted update may have written it so: repair offers both, and says what speaks for each."


def _restored(archive: Archive) -> str:
    """What is done about damage of a header: an update that was interrupted may have left the same bytes."""
    known = format_of(archive)
    if known is not None and any(each.code in known.torn for each in archive.findings):
        return _EITHER
    return "Repair restores it."


def _subject(archive: Archive, checksum: Checksum) -> str:
    if checksum.member is not None:
        return brief(archive.members.path(checksum.member))
    return checksum.name.removeprefix("hash of ").removeprefix("checksum of ")


def _position(covered: SplicedSource, at: int) -> int:
    """The file's byte that is byte ``at`` of what is covered."""
    return covered.outer(at, at + 1)[0].start


def _new_hash(algorithm: str, size: int) -> Callable[[], Any] | None:
    """What makes an empty hash of 64 bits or more, by the name that a check gives it; None if there is none."""
    name = algorithm.lower().replace("-", "")
    if name.startswith("blake2s"):
        return lambda: hashlib.blake2s(digest_size=size)
    if name in ("xxhash64", "xxh64"):
        import xxhash

        return xxhash.xxh64
    return getattr(hashlib, name, None) if name in ("sha1", "sha224", "sha256", "sha384", "sha512", "md5") else None


def _by_trial(
    archive: Archive, checksum: Checksum, masks: Sequence[int], budget: Budget, progress: Progress
) -> Flip | None:
    """The change of one byte by one of the masks with which a digest verifies."""
    covered, new = _covered(archive, checksum), _new_hash(checksum.algorithm, len(checksum.stored) // 2)
    suspects = _suspects(archive, checksum, covered) if checksum.stored and new is not None else ()
    if new is None or not suspects or not budget.take(_work(checksum, covered, suspects, len(masks))):
        return None
    data = covered.read(0, covered.size)
    if len(data) < covered.size:
        return None
    wanted = bytes.fromhex(checksum.stored.zfill(len(checksum.stored) + 1 & ~1))
    places = [at for run in suspects for at in range(*run)]
    progress.begin("Looking for a changed byte", len(places))
    trials = _trials(data, places, masks, new, wanted, progress)
    found = next(trials, None)  # 64 bits of a digest leave no room for another
    if found is None:
        return None
    proof = (
        f"Of {len(masks) * len(places):,} candidates it is the one with which the recorded {checksum.algorithm} "
        f"({checksum.stored}) verifies, which proves it."
    )
    return _flip(archive, checksum, covered, found, proof, offered=True)


def _suspects(archive: Archive, checksum: Checksum, covered: SplicedSource) -> Sequence[Span]:
    """What of the covered bytes is tried bit by bit, as stretches of them; none of too many.

    Of many these are only those in which something was found.
    """
    member, whole = checksum.member, covered.spans
    if covered.size > MAX_COVERED_BYTES or (
        member is not None and archive.members.codec_at(member) is not Codec.STORED
    ):
        return ()
    chosen: Sequence[Span] = whole
    if covered.size > MAX_SUSPECT_BYTES:
        digest = {span for each in wrong(archive) if "mismatch" in each.code for span in each.spans}
        named = {span for each in about(archive, whole, member) for span in each.spans} - digest
        chosen = intersect(whole, united(named)) or whole
    starts = (covered.inner(each.start) or 0 for each in chosen)
    return [Span(start, start + each.size) for start, each in zip(starts, chosen, strict=True)]


def _work(checksum: Checksum, covered: SplicedSource, suspects: Sequence[Span], masks: int = len(_BITS)) -> int:
    """What trying so many changes of each suspect costs, in bytes of a slow hash: each hashes what follows its byte."""
    work = sum(masks * each.size * (covered.size - each.start - each.size // 2 + _TRIAL_BYTES) for each in suspects)
    return work // (_FAST_HASH if checksum.algorithm.lower().startswith("xx") else 1)


def untried(archive: Archive) -> str:
    """A sentence on the bits that were not tried because there are too many; empty where all were."""
    budget = Budget()
    for checksum in _mismatched(archive):
        covered = _covered(archive, checksum)
        if not covered.size or not checksum.stored or _new_hash(checksum.algorithm, 8) is None:
            continue
        suspects = _suspects(archive, checksum, covered)
        if not suspects or not budget.take(_work(checksum, covered, suspects)):
            tried = suspects or (Span(0, covered.size),)
            first, last = _position(covered, tried[0].start), _position(covered, tried[-1].stop - 1)
            return (
                f"Whether it is a single flipped bit was not tried: there are {8 * sum(each.size for each in tried):,} "
                f"candidates, in the bytes {first:,} to {last:,}. "
            )
    return ""


def _trials(
    data: bytes, places: Sequence[int], masks: Sequence[int], new: Callable[[], Any], wanted: bytes, progress: Progress
) -> Iterator[tuple[int, int]]:
    """The changes, as (byte, mask), with which the data hashes to ``wanted``."""
    whole, before, hashed = memoryview(data), new(), 0
    for at in places:
        progress.advance(1)
        before.update(whole[hashed:at])
        hashed = at
        rest = whole[at + 1 :]
        for mask in masks:
            trial = before.copy()
            trial.update(bytes((whole[at] ^ mask,)))
            trial.update(rest)
            if trial.digest() == wanted:
                yield at, mask


def _deflated(
    archive: Archive, checksum: Checksum, covered: SplicedSource, size: int, budget: Budget, progress: Progress
) -> Flip | None:
    """Try each bit of a deflated member: of a right one the stream ends, the size fits and so does the CRC-32."""
    stored = covered.size
    if stored > MAX_SUSPECT_BYTES or not budget.take(8 * stored * ((stored + size) // 2 + _TRIAL_BYTES)):
        return None
    progress.begin("Looking for a flipped bit", stored)
    found = list(_inflating(covered.read(0, stored), size, int(checksum.stored, 16), progress))
    if len(found) != 1:
        return None
    proof = (
        f"Of its {8 * stored:,} bits it is the only one with which the data inflates to {in_bytes(size)} that have "
        f"the recorded CRC-32 ({checksum.stored}). A CRC-32 does not prove it."
    )
    return _flip(archive, checksum, covered, found[0], proof, offered=True)


def _inflating(data: bytes, size: int, wanted: int, progress: Progress) -> Iterator[tuple[int, int]]:
    """The bits, as (byte, mask), with which the data inflates to ``size`` bytes of this CRC-32."""
    before, crc, made = zlib.decompressobj(-15), 0, 0
    for at, byte in enumerate(data):
        for bit in range(8):
            trial = before.copy()
            try:
                out = trial.decompress(bytes((byte ^ 1 << bit,)) + data[at + 1 :], max(1, size - made + 1))
            except zlib.error:
                continue
            if made + len(out) == size and trial.eof and zlib.crc32(out, crc) == wanted:
                yield at, 1 << bit
        try:
            out = before.decompress(data[at : at + 1], max(1, size - made + 1))
        except zlib.error:
            return  # what comes after was never reached
        crc, made = zlib.crc32(out, crc), made + len(out)
        if before.eof or made > size:
            return
        progress.advance(1)


# ---- in what is recorded ---------------------------------------------------------------------------------------------


def _in_digest(archive: Archive, checksum: Checksum) -> FoundCause | None:
    """The stored digest itself differs from the computed one in a single bit."""
    if not (checksum.stored and checksum.computed) or len(checksum.stored) != len(checksum.computed):
        return None
    if checksum.algorithm != "CRC-32" and _new_hash(checksum.algorithm, len(checksum.stored) // 2) is None:
        return None  # one bit of the bytes changes one bit of a sum
    change = int(checksum.stored, 16) ^ int(checksum.computed, 16)
    if change.bit_count() != 1:
        return None
    explains = about(archive, checksum.place, checksum.member)
    where = f" at byte {checksum.place[0].start:,}" if checksum.place else ""
    message = (
        f"One bit of the recorded checksum of {_subject(archive, checksum)} changed. The {checksum.algorithm} "
        f"stored{where} is {checksum.stored}, and the bytes give {checksum.computed}: a change of the bytes would "
        "change about half of its bits. The content is most likely whole. Repair writes the computed one; "
        "a copy from elsewhere shows whether that is right."
    )
    return FoundCause(Cause.FLIPPED_BIT, message, checksum.place, explains, member=checksum.member, adopts=True)


# ---- repairs ---------------------------------------------------------------------------------------------------------


def _with_repairs(archive: Archive, flips: Sequence[Flip]) -> Iterator[FoundCause]:
    """Each flipped bit as a cause; one repair restores all that are proved, another all that are likely."""
    proved = [each for each in flips if each.proved and each.offered]
    likely = [each for each in flips if not each.proved and each.offered]
    repairs = {True: _repair(archive, proved, PROVED_CODE), False: _repair(archive, likely, LIKELY_CODE)}
    for flip in {(each.offset, each.new): each for each in reversed(flips)}.values():  # of two copies of a checksum
        repair = repairs[flip.proved] if flip.offered else None
        in_header = _is_header(archive, flip.member)
        if flip.proved:
            advice = "Repair restores it."
        elif repair is not None:
            advice = "Repair restores it with your consent; check the result if you can."
        elif in_header:
            advice = _restored(archive)
        else:
            advice = "It is not offered as a repair. Compare the byte with another copy."
        unit, happened = ("bit", "flipped") if flip.is_bit else ("byte", "changed")
        whence = "A single bit changes in memory or on the way; check the memory of the machines that handled the file."
        message = (
            f"One {unit} of {flip.what} {'differs' if advice is _EITHER else happened}: byte {flip.offset:,} is "
            f"{hexadecimal(flip.old, 2)} and was {hexadecimal(flip.new, 2)}. {flip.proof} {advice} "
            f"{whence if flip.is_bit else 'Several of its bits differ, so a program or a disk wrote another byte.'}"
        )
        if len(message.split(". ", 1)[0].split()) > _MAX_WORDS:
            message = f"One {unit} of a member {happened}" + message.partition(f" {happened}")[2]
        place = (Span(flip.offset, flip.offset + 1),)
        repairs_of = (repair,) if repair else ()
        yield FoundCause(
            Cause.FLIPPED_BIT if flip.is_bit else Cause.WRONG_BYTE,
            message,
            place,
            flip.explains,
            repairs_of,
            flip.member,
            in_header,
        )


_MAX_WORDS = 20


def _repair(archive: Archive, flips: Sequence[Flip], code: str) -> Repair | None:
    chosen = {flip.offset: flip for flip in flips}
    if not chosen:
        return None
    size = archive.source.size
    patches = tuple(Patch(each.offset, bytes((each.old,)), bytes((each.new,))) for each in chosen.values())
    changes = "; ".join(
        f"byte {grouped(each.offset)} from {hexadecimal(each.old, 2)} to {hexadecimal(each.new, 2)}"
        for each in chosen.values()
    )
    what = "flipped bit" if all(each.is_bit for each in flips) else "changed byte"
    title = f"Restore {f'{len(patches)} {what}s' if len(patches) > 1 else f'the {what}'}: {changes}"
    fixes = frozenset(finding.code for each in flips for finding in each.explains)
    edit = Edit(title, patches, size, size)
    if code == PROVED_CODE:
        why = "With it the recorded hash verifies, of all changes tried with this one only."
        return Repair(code, title, fixes, edit=edit, lossless=why)
    claim = (
        "The damage is one flipped bit: the CRC-32 fits that, but other damage may look so, as seldom as the finding "
        "says."
    )
    return Repair(code, title, fixes, claim=claim, edit=edit)
