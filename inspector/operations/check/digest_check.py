"""Digest manifests beside an archive: comparing its members or the whole archive with them.

The manifest's digests appear as checksums of the archive, as rows built when they are looked at.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from inspector.core import codes
from inspector.core.archive import CappedFindings, Emitter
from inspector.core.field import Computed
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.member import FOLDER, SPECIAL, Codec
from inspector.core.names import encoded, visible
from inspector.core.numbers import count, grouped
from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks
from inspector.core.span import Span, Spans
from inspector.core.verdict import VERDICTS, Checksum, Verdict
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import content
from inspector.operations.open.opening import Opened
from inspector.operations.open.reading import DigestManifest, ManifestEntry, manifests, new_hash

WHOLE = -1
"""In the place of a member's index: the archive as a whole."""
_MAX_NAMES = 3
"""Names in one message; the rest are counted."""


def check_manifests(archive: Opened, emitter: Emitter, progress: Progress) -> str:
    """Compare with every manifest beside the archive and return the summary, empty if there is none.

    Adds verdicts to those of the format's own check, whose mismatches stay, and checksums to ``Archive.checksums``.
    Raises SourceError and Cancelled.
    """
    return " ".join(_Comparison(archive, emitter, progress, manifest).run() for manifest in manifests(archive.source))


# ---- comparing ---------------------------------------------------------------------------------------------------


class _Comparison:
    """One manifest beside an archive: the digests in it, and what was computed so far."""

    def __init__(self, archive: Opened, emitter: Emitter, progress: Progress, manifest: DigestManifest) -> None:
        self.archive = archive
        self.emitter = emitter
        self.progress = progress
        self.name = manifest.name
        self.wrong = CappedFindings(emitter, codes.MANIFEST_MISMATCH, f"members that {self.name} contradicts")
        self.expected = self.expected_digests(manifest)
        self.verdicts = bytearray(len(self.expected))
        self.different: dict[int, str] = {}

    def run(self) -> str:
        earlier, own = self.archive.checksums, Computed(len(self.expected), self.row)
        self.archive.checksums = _joined(earlier, own) if len(earlier) else own
        size, members = self.archive.source.size, self.archive.members
        sizes = (size if member == WHOLE else members.size(member) for member, _ in self.expected)
        self.progress.begin(f"Comparing with {self.name}", sum(sizes))
        for at, (member, entry) in enumerate(self.expected):
            verdict, computed = self.compare(member, entry)
            self.verdicts[at] = VERDICTS.index(verdict)
            if computed != entry.digest:
                self.different[at] = computed
        self.wrong.close()
        return " ".join(self.sentences())

    def sentences(self) -> Iterator[str]:
        found = [(member, VERDICTS[verdict]) for (member, _), verdict in zip(self.expected, self.verdicts, strict=True)]
        whole = {verdict for member, verdict in found if member == WHOLE}
        counted = Counter(verdict for member, verdict in found if member != WHOLE)
        if whole:
            judged = "is verified by" if whole == {Verdict.VERIFIED} else "does not match"
            yield f"The whole archive {judged} {self.name}."
        if counted:
            members = count(len(self.archive.members), "member")
            verified, mismatches = counted[Verdict.VERIFIED], counted[Verdict.MISMATCH]
            but = f"; {grouped(mismatches)} of them {'do' if mismatches > 1 else 'does'} not match it" * (
                mismatches > 0
            )
            yield f"{grouped(verified)} of {members} {'is' if verified == 1 else 'are'} verified by {self.name}{but}."
        elif not whole:
            yield f"{self.name} names nothing in this archive."

    def expected_digests(self, manifest: DigestManifest) -> list[tuple[int, ManifestEntry]]:
        """The digests to compare, of members or of WHOLE, in the order of the archive.

        Reports problems with the manifest's lines.
        """
        members, marks = self.archive.members, self.archive.members.marks
        # Of several members with the same name, the last counts: it is the one left after extracting.
        known = {members.path(member): member for member in range(len(members))}
        unknown = CappedFindings(
            self.emitter, codes.MANIFEST_UNKNOWN_NAME, f"names in {self.name} that are not members"
        )
        found: list[tuple[int, ManifestEntry]] = []
        bad: list[int] = []
        for entry in manifest.entries():
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
        named = {member for member, _ in found}
        unnamed = [path for path, at in known.items() if at not in named and not (marks and marks[at] & FOLDER)]
        if named and WHOLE not in named and unnamed:
            shown = ", ".join(repr(visible(path)) for path in unnamed[:_MAX_NAMES])
            more = f" and {grouped(len(unnamed) - _MAX_NAMES)} more" * (len(unnamed) > _MAX_NAMES)
            missing = f"{self.name} does not name {count(len(unnamed), 'member')}: {shown}{more}."
            self.emitter.report(codes.MANIFEST_INCOMPLETE, missing)
        return sorted(found, key=lambda expected: (expected[0], expected[1].line))

    def member_of(self, name: bytes | None, known: dict[bytes, int]) -> int | None:
        """The member that an entry is about, or WHOLE; None if there is none."""
        if name is None:
            return WHOLE
        own = encoded(PurePath(self.archive.source.name).name)
        whole = WHOLE if name.rpartition(b"/")[2].removeprefix(b"*") == own else None
        return known.get(name, known.get(name.removeprefix(b"./"), whole))

    def compare(self, index: int, entry: ManifestEntry) -> tuple[Verdict, str]:
        """Compare a member or the whole archive; what was computed is empty if it could not be read."""
        archive, source = self.archive, self.archive.source
        member = None if index == WHOLE else archive.members[index]
        name, pieces = "The archive as a whole", blocks(source, 0, source.size)
        spans: Spans = (Span(0, source.size),)
        if member is not None:
            if member.marks & (FOLDER | SPECIAL) or member.codec is Codec.UNKNOWN:
                return Verdict.NOT_CHECKABLE, ""
            name, spans, pieces = repr(visible(member.path)), member.spans, content(archive, index, self.progress)
        computed = wrong = ""
        try:
            computed = self.digest(entry, pieces)
        except MemberError as error:
            wrong = f"{self.name} has a digest of {name}, but the member cannot be read. {error}"
        if computed and computed != entry.digest:
            wrong = (
                f"{name} does not match {self.name}: its {entry.algorithm.name} is {computed}, line "
                f"{grouped(entry.line)} says {entry.digest}. Either its bytes or the manifest have changed."
            )
        if wrong and not self.wrong.full():
            self.wrong.add(wrong, spans, None if member is None else index)
        verdict = Verdict.MISMATCH if wrong else Verdict.VERIFIED
        judged: Iterable[int] = (index,)
        if member is None:  # if it matches, no member's bytes have changed
            faulty = {finding.member for finding in archive.findings if finding.severity is Severity.ERROR}
            judged = () if wrong else (each for each in range(len(archive.members)) if each not in faulty)
        for each in judged:
            if archive.verdict(each) is not Verdict.MISMATCH:
                self.emitter.judge(each, verdict)
        return verdict, computed

    def digest(self, entry: ManifestEntry, pieces: Iterable[bytes]) -> str:
        hashed, done = new_hash(entry.algorithm), self.progress.done
        for piece in pieces:
            hashed.update(piece)
            done += len(piece)
            self.progress.done = done
            self.progress.advance(0)
        return hashed.hexdigest()

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


# ---- of a whole source -----------------------------------------------------------------------------------------------


def digest_of(source: Source, progress: Progress) -> str:
    """The SHA-256 of a source in hex. Raises OperationError where it has become shorter, SourceError and Cancelled."""
    progress.begin("Computing the SHA-256", source.size)
    digest, done = hashlib.sha256(), 0
    for piece in blocks(source, 0, source.size):
        digest.update(piece)
        done += len(piece)
        progress.advance(len(piece))
    if done != source.size:
        raise OperationError(f"{visible(source.name)} became shorter while it was read. Open it again.")
    return digest.hexdigest()
