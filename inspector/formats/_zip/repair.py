"""The repairs that every ZIP archive has: its end, its CRC-32 values, and what is whole in a new archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Finding
from inspector.core.member import Codec
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.ledger import Recorded, recorded
from inspector.formats._zip.local_scan import Proved, Whole
from inspector.formats._zip.rebuild import Rebuilt, rebuild

ENDS = frozenset(
    {
        "zip-no-central-directory",
        "zip-directory-missing",
        "zip-directory-damaged",
        "zip-directory-size",
        "zip-directory-offset",
        "zip-bytes-missing",
        "zip-bytes-inserted",
        "zip-end-not-at-end",
        "zip-entry-count",
        "zip-entry-count-modulo",
        "zip-zip64-disagrees",
        "zip-zip64-locator",
        "zip-zip64-missing",
        "zip-zip64-size",
    }
)
"""Findings about the central directory as a whole and the end records."""
_MISLED = "zip-no-local-header"
"""What a wrong offset of one member makes of it, while local headers tell where that is."""
_CLAIMED = frozenset({"zip-overlap", "zip-local-name", "zip-local-size"})
"""What an entry looks like whose offset was changed to that of another member."""
_WITHOUT_DIRECTORY = frozenset({"zip-member-cut-off", "zip-size-unknown"})
_RECORDS = frozenset({"zip-local-crc", "zip-descriptor-differs", "zip-crc-field-wrong"})
MOST_CLAIMS = 16
"""The most members whose CRC-32 is offered to be set at once; those after them follow when these are repaired."""

Remarks = Callable[[Rebuilt], Sequence[str]]
"""What else is lost where the end is written anew, as sentences."""


def no_remarks(rebuilt: Rebuilt) -> Sequence[str]:  # noqa: ARG001 - a Remarks
    """Nothing else is lost."""
    return ()


def repair_end(
    archive: Archive, directory: Directory, progress: Progress, remarks: Remarks = no_remarks
) -> list[Repair]:
    """Write the central directory and the end records anew, where a finding speaks of them."""
    codes = {finding.code for finding in archive.findings}
    left_out = "zip-orphan" in codes and bool(shared_heads(directory))
    if not codes & (ENDS | {_MISLED}) and not left_out:
        return []
    follow = _MISLED in codes or left_out
    rebuilt = rebuild(archive.source, directory, _whole(archive, directory), progress, follow=follow)
    if rebuilt is None or (left_out and not rebuilt.made and not codes & (ENDS | {_MISLED})):
        return []
    if rebuilt.rest.size and _missing(rebuilt, directory) > 0:
        return []  # the directory that stands there knows more members than the new one would
    fixes = codes & ENDS
    if "zip-no-central-directory" in codes:
        fixes |= codes & _WITHOUT_DIRECTORY
    fixes |= codes & {_MISLED, "zip-orphan"}
    fixes |= codes & _CLAIMED if left_out else set()
    loses = (*_losses(rebuilt), *remarks(rebuilt))
    title = _title(rebuilt)
    edit = Edit(title, rebuilt.edit.patches, rebuilt.edit.old_size, rebuilt.edit.new_size)
    lossless = "" if loses else "Every entry of the directory stays, and no byte of a member changes."
    buried = max(0, edit.old_size - rebuilt.cut.begin) if rebuilt.cut is not None else 0
    doubt = _doubt(rebuilt)
    return [Repair("zip-rebuild-end", title, frozenset(fixes), loses, doubt, edit, lossless=lossless, buried=buried)]


def shared_heads(directory: Directory) -> frozenset[int]:
    """The local headers that more than one entry of the directory claims."""
    heads = directory.members.heads
    if heads is None or not directory.listed:
        return frozenset()
    return frozenset(head for head, claims in Counter(heads).items() if claims > 1)


def _whole(archive: Archive, directory: Directory) -> Proved:
    """The numbers of the members whose content was found to fit a CRC-32."""
    members = directory.members
    if members.heads is None or not directory.computed:
        return {}
    verified = VERDICTS.index(Verdict.VERIFIED)
    found: dict[int, Whole] = {}
    numbers = zip(members.heads, directory.computed, archive.verdicts, strict=False)
    for index, (head, crc, verdict) in enumerate(numbers):
        stored, size = _sizes(directory, index)
        if verdict == verified and (stored or head not in found):  # of two that claim a header, not the empty one
            found[head] = Whole(crc, stored, size, members.codec_at(index))
    return found


def _title(rebuilt: Rebuilt) -> str:
    if rebuilt.made or rebuilt.gone:
        members = count(len(rebuilt.made) + rebuilt.kept, "member")
        how = f", {count(len(rebuilt.made), 'entry', 'entries')} of them from local headers" if rebuilt.made else ""
        return f"Write the central directory anew at byte {grouped(rebuilt.start)}: {members}{how}"
    at = rebuilt.edit.patches[0].offset if rebuilt.edit.patches else rebuilt.edit.new_size
    return f"Set the end records right from byte {grouped(at)} on: {count(rebuilt.kept, 'member')}"


def _losses(rebuilt: Rebuilt) -> Iterator[str]:
    cut = rebuilt.cut
    if cut is not None:
        have = max(0, rebuilt.edit.old_size - cut.begin)
        left = f"the {in_bytes(have)} of it that {verb(have, 'is left is', 'are left are')} cut off"
        yield f"{visible(cut.name)}, which is not whole: {left}."
    if rebuilt.gone:
        yield f"{count(rebuilt.gone, 'entry', 'entries')} of the directory where no member is in the file."
    if rebuilt.made:
        members = count(len(rebuilt.made), "member")
        yield f"What only the central directory knew of {members}: permissions and comments, if there were any."
    if rebuilt.uncommented:
        yield "The comment of the archive, if it had one."
    if rebuilt.behind.size:
        yield f"The {in_bytes(rebuilt.behind.size)} behind the archive, from {grouped(rebuilt.behind.start)} on."
    if rebuilt.rest.size:
        place = f"{in_bytes(rebuilt.rest.size)} from {grouped(rebuilt.rest.start)} on"
        stay = verb(rebuilt.rest.size, "is is not known: it stays", "are is not known: they stay")
        belong = verb(rebuilt.rest.size, "belongs", "belong")
        yield f"What the {place} {stay} in the file, and {belong} to no member."


def _missing(rebuilt: Rebuilt, directory: Directory) -> int:
    """How many entries of the directory that was recorded the new one would not have."""
    if directory.ending is None:
        return 0
    return directory.ending.entries - rebuilt.kept - len(rebuilt.made) - rebuilt.gone


def _doubt(rebuilt: Rebuilt) -> str:
    if not rebuilt.doubtful or rebuilt.cut is None:
        return ""
    return (
        f"The size of {visible(rebuilt.cut.name)} is assumed to be right. Its data runs to the end of the file and "
        "contains what looks like headers of further members: either it is an archive itself, or its size is damaged "
        "and those members would be cut off with it."
    )


def repair_records(archive: Archive, directory: Directory) -> list[Repair]:
    """Set CRC-32 values to what the content gives: proved where a record says the same, else a claim."""
    if not directory.computed:
        return []
    return [*_proved(archive, directory), *_claimed(archive, directory)]


def named_by(findings: Iterable[Finding], code: str) -> list[int]:
    """The members that findings with a code speak of, each once."""
    return list(dict.fromkeys(each.member for each in findings if each.code == code and each.member is not None))


def _proved(archive: Archive, directory: Directory) -> Iterator[Repair]:
    members = named_by(archive.findings, "zip-crc-field-wrong")
    patches = [patch for member in members for patch in _crc_patches(archive, directory, member)]
    if not patches:
        return
    title = f"Set {count(len(patches), 'record')} of CRC-32 to what the content gives and other records say"
    codes = {each.code for each in archive.findings if each.code in _RECORDS and each.member in members}
    edit, why = in_place(archive, title, patches), "The content and the other records give the same CRC-32."
    yield Repair("zip-set-records", title, frozenset(codes), edit=edit, lossless=why)


def _sizes(directory: Directory, member: int) -> tuple[int, int]:
    """Stored and decoded size of a member whose content is whole: what is stored has one size."""
    members = directory.members
    stored = members.stored(member)
    return stored, stored if members.codec_at(member) is Codec.STORED else members.size(member)


def _claimed(archive: Archive, directory: Directory) -> Iterator[Repair]:
    for member in named_by(archive.findings, "zip-crc-mismatch")[:MOST_CLAIMS]:
        patches = _crc_patches(archive, directory, member)
        if not patches:
            continue
        name = visible(directory.members.path(member))
        title = f"Set the CRC-32 of {name} (member {member}) to what its content gives"
        claim = (
            f"The content of {name} is assumed to be right as it is and its CRC-32 to be wrong. Nothing in the archive "
            "shows that; afterwards nothing shows any more that it was damaged."
        )
        fixes = frozenset({"zip-crc-mismatch"})
        yield Repair(f"zip-accept-content-{member}", title, fixes, (), claim, in_place(archive, title, patches))


def _crc_patches(archive: Archive, directory: Directory, member: int) -> list[Patch]:
    """The patches that set every record of a member's CRC-32 that differs from its content.

    None where a record lies inside the content itself, which would then be another one.
    """
    crc = directory.computed[member]
    wrong: list[Recorded] = [each for each in recorded(archive.source, directory, member) if each.crc != crc]
    start, stop = directory.members.starts[member], directory.members.stops[member]
    if crc < 0 or any(each.span.start < stop and start < each.span.stop for each in wrong):
        return []
    new = crc.to_bytes(4, "little")
    return [Patch(each.span.start, each.crc.to_bytes(4, "little"), new) for each in wrong]


def in_place(archive: Archive, label: str, patches: Iterable[Patch]) -> Edit:
    """The Edit of these patches that keeps the file's size; members may share records, which are then set once."""
    kept: list[Patch] = []
    for patch in sorted(patches, key=lambda each: each.offset):
        if not kept or patch.offset >= kept[-1].span.stop:
            kept.append(patch)
    size = archive.source.size
    return Edit(label, tuple(kept), size, size)
