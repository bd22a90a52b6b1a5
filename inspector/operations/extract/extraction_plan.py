"""The plan of an extraction, made before the first byte is written: free space, names, links, conflicts."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from inspector.core.archive import Archive
from inspector.core.finding import Severity, brief
from inspector.core.format import MemberMetadata
from inspector.core.limits import LARGE_MEMBER
from inspector.core.member import FOLDER, HOLES, MISPLACED, SHARED, SPECIAL, Codec, Member
from inspector.core.names import collision_keys, visible
from inspector.core.numbers import count, grouped, rounded
from inspector.core.program.progress import Progress, Quiet
from inspector.operations.extract.selection import MemberSelection, has_invisible, parts_of, refusal, with_number
from inspector.operations.jobs.unfinished import unfinished_message
from inspector.operations.open.reading import CLAIMED, ELSEWHERE, notes
from inspector.operations.protocol.extraction_views import (
    ExtractionOptions,
    ExtractionPlan,
    OnConflict,
    Problems,
)
from inspector.sources.local.atomic import Unfinished
from inspector.sources.local.member_writer import Destination, Existing, Parts

WARNING_RATIO = 200
"""A member that expands more than so many times is worth a warning..."""
WARNING_MIN_BYTES = 1 << 20
"""...if it has more bytes than this."""
MAX_DEFLATE_RATIO = 1032
"""The most bytes that deflate can make of one."""
_INVISIBLE = "its name holds invisible or direction-changing characters, so it may look like another"
_MEMBERS_PER_BLOCK = 4096
"""Members whose names are compared at a time."""


class Batch(Struct):
    """The files and folders to write from one archive, as member indexes in the archive's order.

    ``paths``: members that are written under another path than their own. ``sources``: for hard links, the member with
    the content. ``replacing``: members that overwrite something. ``superseded``: members that a later member of the
    same path replaces.
    """

    selection: MemberSelection
    files: array[int] = field(default_factory=lambda: array("Q"))
    folders: array[int] = field(default_factory=lambda: array("Q"))
    paths: dict[int, bytes] = field(default_factory=dict)
    sources: dict[int, int] = field(default_factory=dict)
    replacing: set[int] = field(default_factory=set)
    superseded: set[int] = field(default_factory=set)

    def parts(self, member: int) -> Parts:
        """The path that a member is written to."""
        return parts_of(self.paths.get(member) or self.selection.path(member))

    def source(self, member: int) -> int:
        """The member with its content: itself, except for hard links."""
        return self.sources.get(member, member)

    def size(self, member: int) -> int:
        """Its size in bytes after extraction."""
        return self.selection.archive.members.size(self.source(member))


def _max_size(member: Member, archive_size: int) -> int | None:
    """The most bytes a member can have in an archive of ``archive_size`` bytes; None if decoding has counted them."""
    if member.codec is Codec.STORED:
        return None if member.marks & HOLES else archive_size
    return MAX_DEFLATE_RATIO * (min(member.stored, archive_size) + 1) if member.codec is Codec.DEFLATE else None


class Planner:
    """Plans an extraction: ``run`` fills the batches and the lists of problems."""

    def __init__(
        self, selections: Sequence[MemberSelection], destination: Destination, options: ExtractionOptions
    ) -> None:
        self.batches = [Batch(each) for each in selections]
        self.conflicts, self.refused, self.doubtful = Problems(), Problems(), Problems()
        self.conflicts_left = 0
        self._selections = selections
        self._destination = destination
        self._options = options
        self._large = LARGE_MEMBER.value
        self._folders: set[int] = set()
        self._taken: dict[int, tuple[Batch, int]] = {}
        self._numbers: dict[int, int] = {}
        self._inflating = 0
        self.unfinished: list[tuple[Parts, Unfinished]] = []
        self._visited: set[int] = set()
        self._others: list[str] = []

    def run(self, progress: Progress) -> None:
        """Examine every member and its target path. Raises SourceError and Cancelled."""
        progress.begin("Planning the extraction", 2 * sum(len(each.members) for each in self._selections), "members")
        for batch in self.batches:
            self._classify(batch, progress)
        for each in self._selections:
            if each.is_all and each.archive.findings:
                self._others += _beside(each.archive, Quiet(progress.advance))
        self._find_unfinished(())
        for batch in self.batches:
            files, batch.files = batch.files, array("Q")
            for start in range(0, len(files), _MEMBERS_PER_BLOCK):
                block = files[start : start + _MEMBERS_PER_BLOCK]
                keys = collision_keys([batch.selection.path(member) for member in block])
                for member, key in zip(block, keys, strict=True):
                    self._place(batch, member, hash(key))
                progress.advance(len(block))
        for batch in self.batches:
            if batch.superseded:
                batch.files = array("Q", (each for each in batch.files if each not in batch.superseded))

    # ---- by name and kind --------------------------------------------------------------------------------------

    def _classify(self, batch: Batch, progress: Progress) -> None:
        """Sort every member of a batch into files, folders and members that are not extracted."""
        selection, members = batch.selection, batch.selection.archive.members
        links: dict[bytes, int] = {}
        has_links = members.marks is not None and any(marks & SPECIAL for marks in members.marks)
        holders: set[bytes] = set()
        for index in selection.members:
            member = members[index]
            path = selection.folder + member.path
            reason = self._refusal(batch, member, path, links)
            if reason:
                selection.note(self.refused, index, f"is not extracted: {reason}")
            elif member.marks & FOLDER or path.endswith(b"/"):
                batch.folders.append(index)
                holders.add(path.rstrip(b"/"))
            elif self._is_doubtful(selection, batch.size(index), member, path):
                continue
            else:
                self._inflating += member.size > max(WARNING_MIN_BYTES, WARNING_RATIO * member.stored)
                batch.files.append(index)
                holders.add(path.rpartition(b"/")[0])
                if has_links:
                    links[b"/".join(parts_of(path))] = batch.source(index)
            progress.advance(1)
        # No file can have the path of a folder.
        for key in collision_keys(list(holders)):
            folder = key
            while folder and hash(folder) not in self._folders:
                self._folders.add(hash(folder))
                folder = folder.rpartition(b"/")[0]

    def _refusal(self, batch: Batch, member: Member, path: bytes, links: dict[bytes, int]) -> str:
        """Why a member is not extracted, as the end of a sentence; empty if it is."""
        reason = refusal(path)
        if reason and not (member.marks & FOLDER and not parts_of(path) and not path.startswith(b"/")):
            return f"its name {reason}"
        if member.marks & SPECIAL:
            return self._link(batch, member, links)
        if not member.readable:
            return "it is not known where its bytes are"
        if member.codec is Codec.UNKNOWN:
            return "it is encrypted, or compressed by a method that is not supported"
        max_size = _max_size(member, batch.selection.archive.source.size)
        if max_size is not None and member.size > max_size:
            return (
                f"it claims {rounded(member.size)}, but its bytes in the archive can give {rounded(max_size)} at most"
            )
        if path.endswith(b"/") and member.size and not member.marks & FOLDER:
            return "its name is that of a folder, but it has content"
        return ""

    def _link(self, batch: Batch, member: Member, links: dict[bytes, int]) -> str:
        """As ``_refusal``, for links and devices: a hard link becomes a copy, the others are not created."""
        selection = batch.selection
        decoder = selection.archive.decoder
        metadata = decoder.member_metadata(selection.archive, member.index) if decoder else MemberMetadata()
        target = metadata.link
        if target is None:
            return f"it is {metadata.special}"
        key = b"/".join(parts_of(selection.folder + target))
        if key not in links:
            return f"it is a hard link to {visible(target)}, which is not a file extracted before it"
        batch.sources[member.index] = links[key]
        return ""

    def _is_doubtful(self, selection: MemberSelection, size: int, member: Member, path: bytes) -> bool:
        """Whether a member needs --doubtful and it was not given; if so, add why."""
        reasons = (
            (
                has_invisible(path),
                "its name holds invisible or direction-changing characters, so it may look like another",
            ),
            (member.marks & SHARED, CLAIMED),
            (member.marks & MISPLACED, ELSEWHERE),
            (size > self._large, f"it has {rounded(size)}"),
        )
        reason = next((words for applies, words in reasons if applies and not self._options.doubtful), "")
        if reason:
            selection.note(self.doubtful, member.index, f"is not extracted without your consent: {reason}")
        return bool(reason)

    # ---- by place ----------------------------------------------------------------------------------------------

    def _place(self, batch: Batch, member: int, key: int) -> None:
        """Decide on the path of a file, or add why it is not extracted."""
        parts = batch.parts(member)
        self._find_unfinished(parts[:-1])
        conflict = self._conflict_in_archive(batch, member, key)
        existing = Existing.NOTHING if conflict else self._destination.look(parts)
        if existing is Existing.BLOCKED:
            batch.selection.note(self.refused, member, f"is not extracted: the folder contains {existing}")
            return
        if conflict or existing is not Existing.NOTHING:
            conflict = conflict or f"{existing} is there already"
            if not self._resolve(batch, member, key, conflict, existing):
                return
        self._taken.setdefault(key, (batch, member))
        batch.files.append(member)

    def _find_unfinished(self, folder: Parts) -> None:
        """Look, once per folder, for files that killed runs have left unfinished."""
        if hash(folder) not in self._visited:
            self._visited.add(hash(folder))
            self.unfinished += ((folder, each) for each in self._destination.unfinished(folder))

    def _conflict_in_archive(self, batch: Batch, member: int, key: int) -> str:
        """Which member has the same path already, as a clause; empty if none has."""
        if key in self._folders:
            return "a folder of the archive has its name"
        if key not in self._taken:
            return ""
        other, earlier = self._taken[key]
        path = other.selection.path(earlier)
        if path == batch.selection.path(member):
            return "another member has the same name"
        return f"its name is the same as {visible(path)} on some systems"

    def _resolve(self, batch: Batch, member: int, key: int, conflict: str, existing: Existing) -> bool:
        """Resolve a conflict as the user chose; returns whether the member is extracted."""
        chosen = self._options.on_conflict
        if chosen is OnConflict.RENAME:
            path = self._free_path(batch, member, key)
            batch.paths[member] = path
            batch.selection.note(self.conflicts, member, f"is extracted as {visible(path)}: {conflict}")
            return True
        if chosen is OnConflict.OVERWRITE and self._overwrite(batch, member, key, existing):
            batch.selection.note(self.conflicts, member, f"replaces what was there: {conflict}")
            return True
        self.conflicts_left += chosen is not OnConflict.SKIP
        batch.selection.note(self.conflicts, member, f"is not extracted: {conflict}")
        return False

    def _overwrite(self, batch: Batch, member: int, key: int, existing: Existing) -> bool:
        """Whether a member can replace what has its path: a file or a link, or an earlier member of the same name."""
        if existing in (Existing.FILE, Existing.OTHER):
            batch.replacing.add(member)
            return True
        if existing is not Existing.NOTHING or key not in self._taken or key in self._folders:
            return False
        other, earlier = self._taken[key]
        if other.selection.path(earlier) != batch.selection.path(member):
            return False
        other.superseded.add(earlier)
        if earlier in other.replacing:
            batch.replacing.add(member)
        self._taken[key] = batch, member
        return True

    def _free_path(self, batch: Batch, member: int, key: int) -> bytes:
        """An unused path: the member's with a number."""
        *above, name = parts_of(batch.selection.path(member))
        number = self._numbers.get(key, 1)
        while True:
            number += 1
            parts = (*above, with_number(name, number))
            path = b"/".join(parts)
            other = hash(collision_keys([path])[0])
            if other in self._taken or other in self._folders:
                continue
            if self._destination.look(parts) is Existing.NOTHING:
                self._numbers[key] = number
                self._taken[other] = batch, member
                return path

    # ---- result ------------------------------------------------------------------------------------------------

    def plan(self) -> ExtractionPlan:
        """The plan as a value. Raises SourceError."""
        size, free = (
            sum(batch.size(member) for batch in self.batches for member in batch.files),
            self._destination.free(),
        )
        obstacle = ""
        if size + size // 100 > free:
            obstacle = (
                f"Nothing was extracted: the members need {rounded(size)}, and only {rounded(free)} are free on the "
                f"disk of {visible(str(self._destination.folder))}."
            )
        return ExtractionPlan(
            visible(str(self._destination.folder)),
            sum(len(batch.files) for batch in self.batches),
            sum(len(batch.folders) for batch in self.batches),
            size,
            self.conflicts,
            self.refused,
            self.doubtful,
            tuple(self._warnings(size)),
            free,
            obstacle,
            unfinished_message([each for _, each in self.unfinished], self._destination.folder),
        )

    def damage(self) -> list[str]:
        """What is wrong with archives of which all members are selected, so that something may be missing."""
        found = [*self._others]
        for each in self._selections:
            archive = each.archive
            errors = (some for some in archive.findings if some.severity is Severity.ERROR and some.member is None)
            first = next(errors, None) if each.is_all else None
            if first is not None:
                known = "Not all of the archive could be read" if archive.cut_short else "The archive is damaged"
                found.append(f"{known}, so something may be missing. {brief(first)}")
        return found

    def _warnings(self, size: int) -> Iterator[str]:
        """What the user should know before extracting."""
        if self._inflating:
            members = count(self._inflating, "member")
            yield f"{members} will expand to more than {grouped(WARNING_RATIO)} times their size in the archive."
        yield from self.damage()
        yield from (note for each in self._selections for note in notes(each.archive))
        archives = sum(each.archive.source.size for each in self._selections)
        if size > 10 * archives + (1 << 30):
            yield f"The members need {rounded(size)}, although the archive has only {rounded(archives)}."


def _beside(archive: Archive, progress: Progress) -> list[str]:
    """The archives in front of one and behind it, each as a sentence. Raises SourceError and Cancelled."""
    from inspector.formats._causes.joined import address, beside, name_of  # a sound archive needs none of it

    found = beside(archive, progress)
    return [
        f"Another archive is in the file, and its members are not extracted: {each.words}. It can be extracted as "
        f"{visible(name_of(archive))}{address(each)}."
        for each in found
    ]
