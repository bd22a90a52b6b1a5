"""Digest manifests beside an archive: comparing its members or the whole archive with them, and writing one.

The manifest's digests appear as checksums of the archive, as rows built when they are looked at.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path, PurePath

from msgspec import Struct

from inspector.core import codes
from inspector.core.archive import Archive, CappedFindings, Emitter
from inspector.core.field import LazyRows
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
            target.write(manifest_line(digest.hexdigest(), members.path(member), algorithm))
            progress.advance(0)
    return len(chosen)


# ---- comparing ---------------------------------------------------------------------------------------------------


class _ManifestComparison:
    def __init__(self, archive: Opened, emitter: Emitter, progress: Progress, manifest: DigestManifest) -> None:
        self.archive = archive
        self.emitter = emitter
        self.progress = progress
        self.manifest = manifest
        self.name = manifest.name
        self.wrong = CappedFindings(
            emitter,
            codes.MANIFEST_MISMATCH,
            f"members that {self.name} contradicts",
        )
        self.checksums = _ManifestChecksums(archive, self.name, self.expected_digests())

    def run(self) -> str:
        self.archive.checksums = _joined(self.archive.checksums, self.checksums)
        sizes = (self.size(expected) for expected in self.checksums.expected)
        self.progress.begin(f"Comparing with {self.name}", sum(sizes))
        whole: list[bool] = []
        counted = dict.fromkeys(Verdict, 0)
        for at, expected in enumerate(self.checksums.expected):
            if expected.member == WHOLE:
                whole.append(self.compare_whole(at, expected))
            else:
                counted[self.compare_member(at, expected)] += 1
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

    def expected_digests(self) -> list[ExpectedDigest]:
        """The digests to compare, in the order of the archive; reports problems with the manifest's lines."""
        members = self.archive.members
        # Of several members with the same name, the last counts: it is the one left after extracting.
        known = {members.path(member): member for member in range(len(members))}
        unknown = CappedFindings(
            self.emitter,
            codes.MANIFEST_UNKNOWN_NAME,
            f"names in {self.name} that are not members",
        )
        found: list[ExpectedDigest] = []
        bad: list[int] = []
        for entry in self.manifest.entries():
            if isinstance(entry, int):
                bad.append(entry)
                continue
            member = self.member_of(entry, known)
            if member is not None:
                found.append(ExpectedDigest(member, entry.line, entry.algorithm, entry.digest))
            elif not unknown.full():
                assert entry.name is not None
                unknown.add(
                    f"{self.name} names '{visible(entry.name)}' in line {grouped(entry.line)}, which is not a member.",
                    (),
                )
        unknown.close()
        self.report_lines(bad)
        self.report_unnamed(found, known)
        return sorted(found, key=lambda expected: (expected.member, expected.line))

    def member_of(self, entry: ManifestEntry, known: dict[bytes, int]) -> int | None:
        """The member that an entry is about, or WHOLE; None if there is none."""
        if entry.name is None:
            return WHOLE
        for name in (entry.name, entry.name.removeprefix(b"./")):
            if name in known:
                return known[name]
        own = encoded(PurePath(self.archive.source.name).name)
        return WHOLE if entry.name.rpartition(b"/")[2].removeprefix(b"*") == own else None

    def report_lines(self, bad: list[int]) -> None:
        if bad:
            lines = f"{count(len(bad), 'line')} that {'is not a digest' if len(bad) == 1 else 'are not digests'}"
            self.emitter.report(codes.MANIFEST_LINE, f"{self.name} has {lines}; the first is line {grouped(bad[0])}.")

    def report_unnamed(self, found: list[ExpectedDigest], known: dict[bytes, int]) -> None:
        named = {expected.member for expected in found}
        if not named or WHOLE in named:
            return
        marks = self.archive.members.marks
        unnamed = [
            path for path, member in known.items() if member not in named and not (marks and marks[member] & FOLDER)
        ]
        if unnamed:
            shown = ", ".join(repr(visible(path)) for path in unnamed[:_MAX_NAMES])
            more = f" and {grouped(len(unnamed) - _MAX_NAMES)} more" * (len(unnamed) > _MAX_NAMES)
            self.emitter.report(
                codes.MANIFEST_INCOMPLETE,
                f"{self.name} does not name {count(len(unnamed), 'member')}: {shown}{more}.",
            )

    # ---- comparing ---------------------------------------------------------------------------------------------

    def size(self, expected: ExpectedDigest) -> int:
        return self.archive.source.size if expected.member == WHOLE else self.archive.members.size(expected.member)

    def digest(self, algorithm: Algorithm, size: int, pieces: Iterable[bytes]) -> str:
        hashed, done = new_hash(algorithm, size), self.progress.done
        for piece in pieces:
            hashed.update(piece)
            done += len(piece)
            self.progress.done = done
            self.progress.advance(0)
        return hashed.hexdigest()

    def compare_whole(self, at: int, expected: ExpectedDigest) -> bool:
        """Compare the whole archive; if it matches, no member's bytes have changed."""
        size = self.archive.source.size
        computed = self.digest(expected.algorithm, len(expected.stored) // 2, blocks(self.archive.source, 0, size))
        if computed != expected.stored:
            self.checksums.set_result(at, Verdict.MISMATCH, computed)
            self.mismatch("The archive as a whole", computed, expected, ((0, size),), None)
            return False
        self.checksums.set_result(at, Verdict.VERIFIED, computed)
        faulty = {finding.member for finding in self.archive.findings if finding.severity is Severity.ERROR}
        for member in range(len(self.archive.members)):
            if member not in faulty and self.archive.verdict(member) is not Verdict.MISMATCH:
                self.emitter.judge(member, Verdict.VERIFIED)
        return True

    def compare_member(self, at: int, expected: ExpectedDigest) -> Verdict:
        member = self.archive.members[expected.member]
        if member.marks & (FOLDER | SPECIAL) or member.codec is Codec.UNKNOWN:
            self.checksums.set_result(at, Verdict.NOT_CHECKABLE, "")
            return Verdict.NOT_CHECKABLE
        name = visible(member.path)
        try:
            pieces = content(self.archive, member.index, self.progress)
            computed = self.digest(expected.algorithm, len(expected.stored) // 2, pieces)
        except MemberError as error:
            computed = ""
            if not self.wrong.full():
                message = f"{self.name} has a digest of '{name}', but the member cannot be read. {error}"
                self.wrong.add(message, member.spans, member.index)
        verdict = Verdict.VERIFIED if computed == expected.stored else Verdict.MISMATCH
        if computed and verdict is Verdict.MISMATCH:
            self.mismatch(repr(name), computed, expected, member.spans, member.index)
        self.checksums.set_result(at, verdict, computed)
        if self.archive.verdict(member.index) is not Verdict.MISMATCH:
            self.emitter.judge(member.index, verdict)
        return verdict

    def mismatch(
        self, what: str, computed: str, expected: ExpectedDigest, spans: Iterable[tuple[int, int]], member: int | None
    ) -> None:
        if not self.wrong.full():
            self.wrong.add(
                f"{what} does not match {self.name}: its {expected.algorithm.name} is {computed}, line "
                f"{grouped(expected.line)} says {expected.stored}. Either its bytes or the manifest have changed.",
                spans,
                member,
            )


# ---- checksums of an archive ---------------------------------------------------------------------------------------


class ExpectedDigest(Struct, frozen=True):
    """A digest in line ``line`` of a manifest, of a member or of WHOLE; ``stored`` is hex."""

    member: int
    line: int
    algorithm: Algorithm
    stored: str


class _ManifestChecksums(LazyRows[Checksum]):
    """The digests in one manifest, and what was computed so far."""

    def __init__(self, archive: Archive, manifest: str, expected: list[ExpectedDigest]) -> None:
        self.expected = expected
        self._archive = archive
        self._manifest = manifest
        self._verdicts = bytearray(len(expected))
        self._different: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.expected)

    def set_result(self, at: int, verdict: Verdict, computed: str) -> None:
        """Record the result of row ``at``; ``computed`` is empty if the member could not be read."""
        if computed != self.expected[at].stored:
            self._different[at] = computed
        self._verdicts[at] = VERDICTS.index(verdict)

    def row(self, at: int) -> Checksum:
        """See LazyRows."""
        expected, verdict = self.expected[at], VERDICTS[self._verdicts[at]]
        whole = expected.member == WHOLE
        members = self._archive.members
        return Checksum(
            f"{expected.algorithm.name} of {'the archive' if whole else visible(members.path(expected.member))}",
            expected.algorithm.name,
            expected.stored,
            self._different.get(at, "" if verdict is Verdict.NOT_CHECKED else expected.stored),
            (),
            (Span(0, self._archive.source.size),) if whole else members[expected.member].spans,
            (),
            verdict,
            f"Line {grouped(expected.line)} of {self._manifest}.",
            None if whole else expected.member,
        )


class _JoinedRows(LazyRows[Checksum]):
    def __init__(self, parts: Sequence[Sequence[Checksum]]) -> None:
        self._parts = parts
        self._stops = list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        return self._stops[-1]

    def row(self, at: int) -> Checksum:
        """See LazyRows."""
        part = bisect_right(self._stops, at)
        return self._parts[part][at - (self._stops[part] - len(self._parts[part]))]


def _joined(some: Sequence[Checksum], others: Sequence[Checksum]) -> Sequence[Checksum]:
    """Two sequences of checksums, one after the other; neither may grow any more."""
    return _JoinedRows((some, others)) if len(some) else others
