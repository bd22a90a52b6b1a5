"""What extracting will do, found out before the first byte is written: room, names, links, places that are taken."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from inspector.core.finding import Severity
from inspector.core.limits import LARGE_MEMBER
from inspector.core.member import FOLDER, SHARED, SPECIAL, Codec, Member
from inspector.core.names import collision_keys, visible
from inspector.core.numbers import count, grouped, rounded
from inspector.core.progress import Progress
from inspector.operations.extract.extraction_names import has_invisible, numbered, parts_of, refusal
from inspector.operations.extract.extraction_wanted import Wanted
from inspector.operations.jobs.finding_summary import brief, whole
from inspector.operations.jobs.unfinished import told
from inspector.operations.open.reading import CLAIMED
from inspector.operations.protocol.extraction_views import (
    MAX_PROBLEMS,
    ExtractionOptions,
    ExtractionPlan,
    OnConflict,
    Problem,
    Problems,
)
from inspector.sources.local.member_writer import Destination, Parts, Standing
from inspector.sources.local.unfinished import Unfinished

RATIO = 200
"""A member that grows more than so many times in decoding is worth a warning..."""
RATIO_FROM = 1 << 20
"""...if it has so many bytes."""
DEFLATE = 1032
"""The most bytes that deflate makes of one."""
_BLOCK = 4096
"""Members whose names are compared at a time."""


class Gathered:
    """Troubles of one kind: some of them told, all of them counted."""

    def __init__(self) -> None:
        self._told: list[Problem] = []
        self.count = 0

    def add(self, wanted: Wanted, member: int, sentence: str) -> None:
        """Add one; ``sentence`` goes on behind the name of the member."""
        self.count += 1
        if self.count <= MAX_PROBLEMS:
            path = visible(wanted.path(member)) or "(no name)"
            self._told.append(Problem(wanted.first + member, path, whole(f"{path} {sentence}")))

    def all(self) -> Problems:
        """What was gathered, in the order of the members."""
        return Problems(tuple(sorted(self._told, key=lambda each: each.member)), self.count)


@dataclass(slots=True)
class Batch:
    """The files and folders to be made of one archive: members in its order, each with what is special about it.

    ``paths`` are those of members that do not go where their name says, ``sources`` the members whose content others
    have (hard links), ``replacing`` those that take the place of something, ``superseded`` those whose
    place a later member takes.
    """

    wanted: Wanted
    files: array[int] = field(default_factory=lambda: array("Q"))
    folders: array[int] = field(default_factory=lambda: array("Q"))
    paths: dict[int, bytes] = field(default_factory=dict)
    sources: dict[int, int] = field(default_factory=dict)
    replacing: set[int] = field(default_factory=set)
    superseded: set[int] = field(default_factory=set)

    def parts(self, member: int) -> Parts:
        """Where a member goes."""
        return parts_of(self.paths.get(member) or self.wanted.path(member))

    def source(self, member: int) -> int:
        """The member whose content it has: itself, but for hard links."""
        return self.sources.get(member, member)

    def size(self, member: int) -> int:
        """How many bytes it will have."""
        return self.wanted.archive.members.size(self.source(member))


def _most(member: Member, archive: int) -> int | None:
    """The most bytes that a member can have in an archive of so many; None where decoding has counted them."""
    if member.codec is Codec.STORED:
        return archive
    return DEFLATE * (min(member.stored, archive) + 1) if member.codec is Codec.DEFLATE else None


class Planner:
    """Plans the extraction of members: after ``run``, there are the batches and all that is to be said."""

    def __init__(self, wanted: Sequence[Wanted], destination: Destination, options: ExtractionOptions) -> None:
        self.batches = [Batch(each) for each in wanted]
        self.conflicts, self.refused, self.doubtful = Gathered(), Gathered(), Gathered()
        self.conflicts_left = 0
        self._wanted = wanted
        self._destination = destination
        self._options = options
        self._folders: set[int] = set()
        self._taken: dict[int, tuple[Batch, int]] = {}
        self._numbers: dict[int, int] = {}
        self._inflating = 0
        self.unfinished: list[tuple[Parts, Unfinished]] = []
        self._visited: set[int] = set()

    def run(self, progress: Progress) -> None:
        """Look at every member and at every place. Raises SourceError and Cancelled."""
        progress.begin("Planning the extraction", 2 * sum(len(each.members) for each in self._wanted), "members")
        for batch in self.batches:
            self._sort(batch, progress)
        self._visit(())
        for batch in self.batches:
            files, batch.files = batch.files, array("Q")
            for start in range(0, len(files), _BLOCK):
                block = files[start : start + _BLOCK]
                keys = collision_keys([batch.wanted.path(member) for member in block])
                for member, key in zip(block, keys, strict=True):
                    self._place(batch, member, hash(key))
                progress.advance(len(block))
        for batch in self.batches:
            if batch.superseded:
                batch.files = array("Q", (each for each in batch.files if each not in batch.superseded))

    # ---- by name and kind --------------------------------------------------------------------------------------

    def _sort(self, batch: Batch, progress: Progress) -> None:
        """Put every member of a batch where it belongs: files, folders, or what is not extracted."""
        wanted, members = batch.wanted, batch.wanted.archive.members
        links: dict[bytes, int] = {}
        has_links = members.marks is not None and any(marks & SPECIAL for marks in members.marks)
        holders: set[bytes] = set()
        for index in wanted.members:
            member = members[index]
            path = wanted.folder + member.path
            words = self._refusal(batch, member, path, links)
            if words:
                self.refused.add(wanted, index, f"is not extracted: {words}")
            elif member.marks & FOLDER or path.endswith(b"/"):
                batch.folders.append(index)
                holders.add(path.rstrip(b"/"))
            elif self._is_doubtful(wanted, batch.size(index), member, path):
                continue
            else:
                self._inflating += member.size > max(RATIO_FROM, RATIO * member.stored)
                batch.files.append(index)
                holders.add(path.rpartition(b"/")[0])
                if has_links:
                    links[b"/".join(parts_of(path))] = batch.source(index)
            progress.advance(1)
        self._hold(holders)

    def _hold(self, holders: set[bytes]) -> None:
        """Remember all folders, by their keys: where one is, no file can be."""
        for key in collision_keys(list(holders)):
            folder = key
            while folder and hash(folder) not in self._folders:
                self._folders.add(hash(folder))
                folder = folder.rpartition(b"/")[0]

    def _refusal(self, batch: Batch, member: Member, path: bytes, links: dict[bytes, int]) -> str:
        """Why a member is not extracted, as the end of a sentence; empty where it is."""
        words = refusal(path)
        if words and not (member.marks & FOLDER and not parts_of(path) and not path.startswith(b"/")):
            return f"its name {words}"
        if member.marks & SPECIAL:
            return self._link(batch, member, links)
        if not member.readable:
            return "it is not known where its bytes are"
        if member.codec is Codec.UNKNOWN:
            return "it is encrypted, or compressed in a way that is not read here"
        most = _most(member, batch.wanted.archive.source.size)
        if most is not None and member.size > most:
            return f"it claims {rounded(member.size)}, and what the archive has of it gives {rounded(most)} at most"
        if path.endswith(b"/") and member.size and not member.marks & FOLDER:
            return "its name is that of a folder, but it has content"
        return ""

    def _link(self, batch: Batch, member: Member, links: dict[bytes, int]) -> str:
        """A hard link becomes a copy of the file that it is another name of; other links and devices are not made."""
        wanted = batch.wanted
        decoder = wanted.archive.decoder
        target = decoder.member_metadata(wanted.archive, member.index).link if decoder else None
        if target is None:
            return "it is a link, a device or a sparse file, and those are not made"
        key = b"/".join(parts_of(wanted.folder + target))
        if key not in links:
            return f"it is a hard link to {visible(target)}, which is no file that is extracted before it"
        batch.sources[member.index] = links[key]
        return ""

    def _is_doubtful(self, wanted: Wanted, size: int, member: Member, path: bytes) -> bool:
        """Whether a member needs a word that was not given; says why."""
        if self._options.doubtful:
            return False
        if has_invisible(path):
            why = "its name holds invisible or direction-changing characters, so it may look like another"
        elif member.marks & SHARED:
            why = CLAIMED
        elif size > LARGE_MEMBER.value:
            why = f"it has {rounded(size)}"
        else:
            return False
        self.doubtful.add(wanted, member.index, f"is extracted only on your word: {why}")
        return True

    # ---- by place ----------------------------------------------------------------------------------------------

    def _place(self, batch: Batch, member: int, key: int) -> None:
        """Find a place for a file, unless all that could be is taken."""
        self._visit(batch.parts(member)[:-1])
        words = self._inside(batch, member, key)
        standing = Standing.NOTHING if words else self._destination.look(batch.parts(member))
        if standing is Standing.BLOCKED:
            self.refused.add(batch.wanted, member, "is not extracted: in the folder stands " + standing)
            return
        if words or standing is not Standing.NOTHING:
            words = words or f"{standing} is there already"
            if not self._resolve(batch, member, key, words, standing):
                return
        self._taken.setdefault(key, (batch, member))
        batch.files.append(member)

    def _visit(self, folder: Parts) -> None:
        """Look, once, at what runs that were killed have left in a folder."""
        if hash(folder) not in self._visited:
            self._visited.add(hash(folder))
            self.unfinished += ((folder, each) for each in self._destination.unfinished(folder))

    def _inside(self, batch: Batch, member: int, key: int) -> str:
        """Who among the members has the place of another one already, as a clause; empty where nobody has."""
        if key in self._folders:
            return "a folder of the archive has its name"
        if key not in self._taken:
            return ""
        other, earlier = self._taken[key]
        path = other.wanted.path(earlier)
        if path == batch.wanted.path(member):
            return "another member has the same name"
        return f"its name is one with {visible(path)} on some systems"

    def _resolve(self, batch: Batch, member: int, key: int, words: str, standing: Standing) -> bool:
        """Do with a member whose place is taken what the user wants; says whether it is extracted."""
        chosen = self._options.on_conflict
        if chosen is OnConflict.RENAME:
            path = self._another(batch, member, key)
            batch.paths[member] = path
            self.conflicts.add(batch.wanted, member, f"is extracted as {visible(path)}: {words}")
            return True
        if chosen is OnConflict.OVERWRITE and self._overwrite(batch, member, key, standing):
            self.conflicts.add(batch.wanted, member, f"takes the place of what was there: {words}")
            return True
        self.conflicts_left += chosen is not OnConflict.SKIP
        self.conflicts.add(batch.wanted, member, f"is not extracted: {words}")
        return False

    def _overwrite(self, batch: Batch, member: int, key: int, standing: Standing) -> bool:
        """Whether a member can take the place of what has it: a file or a link, or an earlier member of its name."""
        if standing in (Standing.FILE, Standing.OTHER):
            batch.replacing.add(member)
            return True
        if standing is not Standing.NOTHING or key not in self._taken or key in self._folders:
            return False
        other, earlier = self._taken[key]
        if other.wanted.path(earlier) != batch.wanted.path(member):
            return False
        other.superseded.add(earlier)
        if earlier in other.replacing:
            batch.replacing.add(member)
        self._taken[key] = batch, member
        return True

    def _another(self, batch: Batch, member: int, key: int) -> bytes:
        """A path like that of a member at which nothing is."""
        *above, name = parts_of(batch.wanted.path(member))
        number = self._numbers.get(key, 1)
        while True:
            number += 1
            parts = (*above, numbered(name, number))
            path = b"/".join(parts)
            other = hash(collision_keys([path])[0])
            if other in self._taken or other in self._folders:
                continue
            if self._destination.look(parts) is Standing.NOTHING:
                self._numbers[key] = number
                self._taken[other] = batch, member
                return path

    # ---- all of it ---------------------------------------------------------------------------------------------

    def files(self) -> Iterator[tuple[Batch, int]]:
        """Every file to be written."""
        return ((batch, member) for batch in self.batches for member in batch.files)

    def plan(self) -> ExtractionPlan:
        """What has been found. Raises SourceError."""
        size, free = sum(batch.size(member) for batch, member in self.files()), self._destination.free()
        obstacle = ""
        if size + size // 100 > free:
            obstacle = (
                f"Nothing was extracted: the members come to {rounded(size)}, and {rounded(free)} are free where "
                f"{visible(str(self._destination.folder))} is."
            )
        return ExtractionPlan(
            visible(str(self._destination.folder)),
            sum(len(batch.files) for batch in self.batches),
            sum(len(batch.folders) for batch in self.batches),
            size,
            free,
            self.conflicts.all(),
            self.refused.all(),
            self.doubtful.all(),
            tuple(self._warnings(size)),
            obstacle,
            told([each for _, each in self.unfinished], self._destination.folder),
        )

    @property
    def damage(self) -> list[str]:
        """What is wrong with archives of which all is wanted, so that something that was archived may be missing."""
        found = []
        for archive, members in ((each.archive, each.members) for each in self._wanted):
            wrong = (each for each in archive.findings if each.severity is Severity.ERROR and each.member is None)
            first = next(wrong, None) if len(members) == len(archive.members) else None
            if first is not None:
                known = "Not all of the archive could be read" if archive.cut_short else "The archive is damaged"
                found.append(f"{known}, so something may be missing. {brief(first)}")
        return found

    def _warnings(self, size: int) -> Iterator[str]:
        """What is worth a thought before it is done."""
        if self._inflating:
            members = count(self._inflating, "member")
            yield f"{members} will have more than {grouped(RATIO)} times the bytes that the archive has of them."
        yield from self.damage
        archives = sum(each.archive.source.size for each in self._wanted)
        if size > 10 * archives + (1 << 30):
            yield f"The members come to {rounded(size)}, and the archive has only {rounded(archives)}."
