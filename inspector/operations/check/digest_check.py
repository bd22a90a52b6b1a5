"""Digest manifests beside an archive: comparing its members or the whole archive with them, and writing one.

The manifest's digests appear as checksums of the archive, as rows built when they are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath

from inspector.core import codes
from inspector.core.archive import CappedFindings, Emitter
from inspector.core.field import Computed
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.member import FOLDER, SPECIAL, Codec
from inspector.core.names import encoded, visible
from inspector.core.numbers import count, grouped
from inspector.core.program.progress import Progress
from inspector.core.source import blocks
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Checksum, Verdict
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.digest_manifest import DigestManifest, ManifestEntry, manifest_line, manifests, new_hash
from inspector.operations.open.listing import content
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.check_views import Algorithm
from inspector.sources.local.atomic import AtomicFile

WHOLE = -1
"""In the place of a member's index: the archive as a whole."""
_MAX_NAMES = 3
"""Names in one message; the rest are counted."""


def check_manifests(archive: Opened, emitter: Emitter, progress: Progress) -> str:
    """Compare with every manifest beside the archive and return the summary, empty if there is none.

    Adds verdicts to those of the format's own check, whose mismatches stay, and checksums to ``Archive.checksums``.
    Raises SourceError and Cancelled.
    """
    return " ".join(
        _ManifestComparison(archive, emitter, progress, manifest).run() for manifest in manifests(archive.source)
    )


def manifest_path(archive: Opened, algorithm: Algorithm) -> Path:
    """The path at which a manifest of an archive is found again."""
    return Path(archive.source.name + algorithm.suffixes[0])


def write_manifest(
    archive: Opened, algorithm: Algorithm, path: Path, progress: Progress, *, replace: bool = False
) -> int:
    """Write the digests of all files in a decoded archive, whole or not at all; returns how many there are.

    Raises OperationError if the file exists and ``replace`` is false, or if a member cannot be read whole: a manifest
    must not confirm damage. Raises SourceError and Cancelled.
    """
    if path.exists() and not replace:
        raise OperationError(f"{path.name} is there already.")
    members = archive.members
    members.learn(range(len(members)))
    # Of several members with the same name, extracting leaves the last, so its digest counts.
    last = {members.path(member): member for member in range(len(members))}
    chosen = [member for member in sorted(last.values()) if not members[member].marks & (FOLDER | SPECIAL)]
    progress.begin(f"Writing {visible(path.name)}", sum(map(members.size, chosen)))
    with AtomicFile(path, replace=replace) as target:
        for member in chosen:
            digest, done = new_hash(algorithm), progress.done
            try:
                for piece in content(archive, member, progress):
                    digest.update(piece)
                    done += len(piece)
                    progress.done = done
            except MemberError as error:
                raise OperationError(f"No manifest was written: {error}") from error
            target.write(manifest_line(digest.hexdigest(), members.path(member)))
            progress.advance(0)
    return len(chosen)


# ---- comparing ---------------------------------------------------------------------------------------------------


class _ManifestComparison:
    """One manifest beside an archive: the digests in it, and what was computed so far."""

    def __init__(self, archive: Opened, emitter: Emitter, progress: Progress, manifest: DigestManifest) -> None:
        self.archive = archive
        self.emitter = emitter
        self.progress = progress
        self.manifest = manifest
        self.name = manifest.name
        self.wrong = CappedFindings(emitter, codes.MANIFEST_MISMATCH, f"members that {self.name} contradicts")
        self.expected = self.expected_digests()
        self.verdicts = bytearray(len(self.expected))
        self.different: dict[int, str] = {}

    def run(self) -> str:
        earlier, own = self.archive.checksums, Computed(len(self.expected), self.row)
        self.archive.checksums = _joined(earlier, own) if len(earlier) else own
        size, members = self.archive.source.size, self.archive.members
        sizes = (size if member == WHOLE else members.size(member) for member, _ in self.expected)
        self.progress.begin(f"Comparing with {self.name}", sum(sizes))
        whole: list[bool] = []
        counted = dict.fromkeys(Verdict, 0)
        for at, (member, entry) in enumerate(self.expected):
            compare = self.compare_whole if member == WHOLE else self.compare_member
            verdict, computed = compare(member, entry)
            self.verdicts[at] = VERDICTS.index(verdict)
            if computed != entry.digest:
                self.different[at] = computed
            if member == WHOLE:
                whole.append(verdict is Verdict.VERIFIED)
            else:
                counted[verdict] += 1
        self.wrong.close()
        return " ".join(self.sentences(whole, counted))

    def sentences(self, whole: list[bool], counted: dict[Verdict, int]) -> Iterator[str]:
        if whole:
            yield f"The whole archive {'is verified by' if all(whole) else 'does not match'} {self.name}."
        if any(counted.values()):
            members = count(len(self.archive.members), "member")
            mismatches = counted[Verdict.MISMATCH]
            but = f"; {grouped(mismatches)} of them {'do' if mismatches > 1 else 'does'} not match it" * (
                mismatches > 0
            )
            verified = counted[Verdict.VERIFIED]
            yield f"{grouped(verified)} of {members} {'is' if verified == 1 else 'are'} verified by {self.name}{but}."
        elif not whole:
            yield f"{self.name} names nothing in this archive."

    # ---- what the manifest says --------------------------------------------------------------------------------

    def expected_digests(self) -> list[tuple[int, ManifestEntry]]:
        """The digests to compare, of members or of WHOLE, in the order of the archive.

        Reports problems with the manifest's lines.
        """
        members = self.archive.members
        # Of several members with the same name, the last counts: it is the one left after extracting.
        known = {members.path(member): member for member in range(len(members))}
        unknown = CappedFindings(
            self.emitter, codes.MANIFEST_UNKNOWN_NAME, f"names in {self.name} that are not members"
        )
        found: list[tuple[int, ManifestEntry]] = []
        bad: list[int] = []
        for entry in self.manifest.entries():
            if isinstance(entry, int):
                bad.append(entry)
            elif (member := self.member_of(entry.name, known)) is not None:
                found.append((member, entry))
            elif not unknown.full():
                shown = visible(entry.name or b"")
                unknown.add(f"{self.name} names '{shown}' in line {grouped(entry.line)}, which is not a member.", ())
        unknown.close()
        if bad:
            lines = f"{count(len(bad), 'line')} that {'is not a digest' if len(bad) == 1 else 'are not digests'}"
            self.emitter.report(codes.MANIFEST_LINE, f"{self.name} has {lines}; the first is line {grouped(bad[0])}.")
        self.report_unnamed({member for member, _ in found}, known)
        return sorted(found, key=lambda expected: (expected[0], expected[1].line))

    def member_of(self, name: bytes | None, known: dict[bytes, int]) -> int | None:
        """The member that an entry is about, or WHOLE; None if there is none."""
        if name is None:
            return WHOLE
        for each in (name, name.removeprefix(b"./")):
            if each in known:
                return known[each]
        own = encoded(PurePath(self.archive.source.name).name)
        return WHOLE if name.rpartition(b"/")[2].removeprefix(b"*") == own else None

    def report_unnamed(self, named: set[int], known: dict[bytes, int]) -> None:
        marks = self.archive.members.marks
        unnamed = [
            path for path, member in known.items() if member not in named and not (marks and marks[member] & FOLDER)
        ]
        if named and WHOLE not in named and unnamed:
            shown = ", ".join(repr(visible(path)) for path in unnamed[:_MAX_NAMES])
            more = f" and {grouped(len(unnamed) - _MAX_NAMES)} more" * (len(unnamed) > _MAX_NAMES)
            self.emitter.report(
                codes.MANIFEST_INCOMPLETE,
                f"{self.name} does not name {count(len(unnamed), 'member')}: {shown}{more}.",
            )

    # ---- comparing ---------------------------------------------------------------------------------------------

    def digest(self, entry: ManifestEntry, pieces: Iterable[bytes]) -> str:
        hashed, done = new_hash(entry.algorithm), self.progress.done
        for piece in pieces:
            hashed.update(piece)
            done += len(piece)
            self.progress.done = done
            self.progress.advance(0)
        return hashed.hexdigest()

    def compare_whole(self, _: int, entry: ManifestEntry) -> tuple[Verdict, str]:
        """Compare the whole archive; if it matches, no member's bytes have changed."""
        size = self.archive.source.size
        computed = self.digest(entry, blocks(self.archive.source, 0, size))
        if computed != entry.digest:
            self.mismatch("The archive as a whole", computed, entry, ((0, size),), None)
            return Verdict.MISMATCH, computed
        faulty = {finding.member for finding in self.archive.findings if finding.severity is Severity.ERROR}
        for member in range(len(self.archive.members)):
            if member not in faulty and self.archive.verdict(member) is not Verdict.MISMATCH:
                self.emitter.judge(member, Verdict.VERIFIED)
        return Verdict.VERIFIED, computed

    def compare_member(self, index: int, entry: ManifestEntry) -> tuple[Verdict, str]:
        """Compare a member; what was computed is empty if it could not be read."""
        member = self.archive.members[index]
        if member.marks & (FOLDER | SPECIAL) or member.codec is Codec.UNKNOWN:
            return Verdict.NOT_CHECKABLE, ""
        name, computed = visible(member.path), ""
        try:
            computed = self.digest(entry, content(self.archive, index, self.progress))
        except MemberError as error:
            if not self.wrong.full():
                message = f"{self.name} has a digest of '{name}', but the member cannot be read. {error}"
                self.wrong.add(message, member.spans, index)
        verdict = Verdict.VERIFIED if computed == entry.digest else Verdict.MISMATCH
        if computed and verdict is Verdict.MISMATCH:
            self.mismatch(repr(name), computed, entry, member.spans, index)
        if self.archive.verdict(index) is not Verdict.MISMATCH:
            self.emitter.judge(index, verdict)
        return verdict, computed

    def mismatch(
        self, what: str, computed: str, entry: ManifestEntry, spans: Iterable[tuple[int, int]], member: int | None
    ) -> None:
        if not self.wrong.full():
            self.wrong.add(
                f"{what} does not match {self.name}: its {entry.algorithm.name} is {computed}, line "
                f"{grouped(entry.line)} says {entry.digest}. Either its bytes or the manifest have changed.",
                spans,
                member,
            )

    def row(self, at: int) -> Checksum:
        """A digest of the manifest among the checksums of the archive."""
        (index, entry), verdict = self.expected[at], VERDICTS[self.verdicts[at]]
        member = None if index == WHOLE else self.archive.members[index]
        return Checksum(
            f"{entry.algorithm.name} of {'the archive' if member is None else visible(member.path)}",
            entry.algorithm.name,
            entry.digest,
            self.different.get(at, "" if verdict is Verdict.NOT_CHECKED else entry.digest),
            (),
            (Span(0, self.archive.source.size),) if member is None else member.spans,
            (),
            verdict,
            f"Line {grouped(entry.line)} of {self.name}.",
            None if member is None else index,
        )


def _joined(some: Sequence[Checksum], others: Sequence[Checksum]) -> Sequence[Checksum]:
    """Two sequences of checksums, one after the other; neither may grow any more."""
    first = len(some)
    return Computed(first + len(others), lambda at: some[at] if at < first else others[at - first])
