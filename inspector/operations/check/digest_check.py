"""Comparing an archive with the digest manifests beside it: its members' content, or the archive as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from inspector.core.archive import Emitter
from inspector.core.capped_findings import CappedFindings
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.member import FOLDER, SPECIAL, Codec
from inspector.core.names import encoded, visible
from inspector.core.numbers import count, grouped
from inspector.core.progress import Progress
from inspector.core.source import blocks
from inspector.core.verdict import Verdict
from inspector.operations.check.digest_ledger import WHOLE, Ledger, Wanted, joined
from inspector.operations.open.digest_manifest import Entry, Manifest, manifests, new_hash
from inspector.operations.open.listing import content
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.check_views import Algorithm

_NAMED = 3
"""The most names told in one sentence."""


def check_manifests(archive: Opened, emitter: Emitter, progress: Progress) -> str:
    """Compare with every manifest beside the archive and sum up; empty where there is none.

    Judges members on top of what the format's own check said, where a mismatch stays one, and adds to
    ``Archive.checksums``. Raises SourceError and Cancelled.
    """
    return " ".join(_Comparison(archive, emitter, progress, manifest).run() for manifest in manifests(archive.source))


class _Comparison:
    def __init__(self, archive: Opened, emitter: Emitter, progress: Progress, manifest: Manifest) -> None:
        self.archive = archive
        self.emitter = emitter
        self.progress = progress
        self.manifest = manifest
        self.name = manifest.name
        self.wrong = CappedFindings(
            emitter, Severity.ERROR, "digest-manifest-mismatch", f"members that {self.name} contradicts"
        )
        self.ledger = Ledger(archive, self.name, self.wanted())

    def run(self) -> str:
        self.archive.checksums = joined(self.archive.checksums, self.ledger)
        sizes = (self.size(wanted) for wanted in self.ledger.wanted)
        self.progress.begin(f"Comparing with {self.name}", sum(sizes))
        whole: list[bool] = []
        counted = dict.fromkeys(Verdict, 0)
        for at, wanted in enumerate(self.ledger.wanted):
            if wanted.member == WHOLE:
                whole.append(self.compare_whole(at, wanted))
            else:
                counted[self.compare_member(at, wanted)] += 1
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

    def wanted(self) -> list[Wanted]:
        """What is to be compared, in the order of the archive; reports what the manifest says beside that."""
        members = self.archive.members
        # Of several members with one name the last is meant: it is the one that extracting leaves.
        known = {members.path(member): member for member in range(len(members))}
        unknown = CappedFindings(
            self.emitter, Severity.WARNING, "digest-manifest-unknown-name", f"names in {self.name} that are no members"
        )
        found: list[Wanted] = []
        bad: list[int] = []
        for entry in self.manifest.entries():
            if isinstance(entry, int):
                bad.append(entry)
                continue
            member = self.meant(entry, known)
            if member is not None:
                found.append(Wanted(member, entry.line, entry.algorithm, entry.digest))
            elif not unknown.full():
                assert entry.name is not None
                unknown.add(
                    f"{self.name} names {visible(entry.name)!r} in line {grouped(entry.line)}, which is no member.", ()
                )
        unknown.close()
        self.report_lines(bad)
        self.report_unnamed(found, known)
        return sorted(found, key=lambda wanted: (wanted.member, wanted.line))

    def meant(self, entry: Entry, known: dict[bytes, int]) -> int | None:
        """The member that an entry is about, or WHOLE; None where there is none."""
        if entry.name is None:
            return WHOLE
        for name in (entry.name, entry.name.removeprefix(b"./")):
            if name in known:
                return known[name]
        own = encoded(PurePath(self.archive.source.name).name)
        return WHOLE if entry.name.rpartition(b"/")[2].removeprefix(b"*") == own else None

    def report_lines(self, bad: list[int]) -> None:
        if bad:
            lines = f"{count(len(bad), 'line')} that {'is no digest' if len(bad) == 1 else 'are no digests'}"
            self.emitter.warning(
                "digest-manifest-line", f"{self.name} has {lines}; the first is line {grouped(bad[0])}."
            )

    def report_unnamed(self, found: list[Wanted], known: dict[bytes, int]) -> None:
        named = {wanted.member for wanted in found}
        if not named or WHOLE in named:
            return
        marks = self.archive.members.marks
        left = [
            path for path, member in known.items() if member not in named and not (marks and marks[member] & FOLDER)
        ]
        if left:
            shown = ", ".join(repr(visible(path)) for path in left[:_NAMED])
            more = f" and {grouped(len(left) - _NAMED)} more" * (len(left) > _NAMED)
            self.emitter.info(
                "digest-manifest-incomplete", f"{self.name} does not name {count(len(left), 'member')}: {shown}{more}."
            )

    # ---- comparing ---------------------------------------------------------------------------------------------

    def size(self, wanted: Wanted) -> int:
        return self.archive.source.size if wanted.member == WHOLE else self.archive.members.size(wanted.member)

    def digest(self, algorithm: Algorithm, size: int, pieces: Iterable[bytes]) -> str:
        hashed, done = new_hash(algorithm, size), self.progress.done
        for piece in pieces:
            hashed.update(piece)
            done += len(piece)
            self.progress.done = done
            self.progress.advance(0)
        return hashed.hexdigest()

    def compare_whole(self, at: int, wanted: Wanted) -> bool:
        """Whether the archive as a whole is what the manifest says: then no member's bytes have changed."""
        size = self.archive.source.size
        computed = self.digest(wanted.algorithm, len(wanted.stored) // 2, blocks(self.archive.source, 0, size))
        if computed != wanted.stored:
            self.ledger.say(at, Verdict.MISMATCH, computed)
            self.mismatch("The archive as a whole", computed, wanted, ((0, size),), None)
            return False
        self.ledger.say(at, Verdict.VERIFIED, computed)
        faulty = {finding.member for finding in self.archive.findings if finding.severity is Severity.ERROR}
        for member in range(len(self.archive.members)):
            if member not in faulty and self.archive.verdict(member) is not Verdict.MISMATCH:
                self.emitter.judge(member, Verdict.VERIFIED)
        return True

    def compare_member(self, at: int, wanted: Wanted) -> Verdict:
        member = self.archive.members[wanted.member]
        if member.marks & (FOLDER | SPECIAL) or member.codec is Codec.UNKNOWN:
            self.ledger.say(at, Verdict.NOT_CHECKABLE, "")
            return Verdict.NOT_CHECKABLE
        name = visible(member.path)
        try:
            pieces = content(self.archive, member.index, self.progress)
            computed = self.digest(wanted.algorithm, len(wanted.stored) // 2, pieces)
        except MemberError as error:
            computed = ""
            if not self.wrong.full():
                message = f"{self.name} has a digest of {name!r} that nothing can be compared with. {error}"
                self.wrong.add(message, member.spans, member.index)
        verdict = Verdict.VERIFIED if computed == wanted.stored else Verdict.MISMATCH
        if computed and verdict is Verdict.MISMATCH:
            self.mismatch(repr(name), computed, wanted, member.spans, member.index)
        self.ledger.say(at, verdict, computed)
        if self.archive.verdict(member.index) is not Verdict.MISMATCH:
            self.emitter.judge(member.index, verdict)
        return verdict

    def mismatch(
        self, what: str, computed: str, wanted: Wanted, spans: Iterable[tuple[int, int]], member: int | None
    ) -> None:
        if not self.wrong.full():
            self.wrong.add(
                f"{what} does not match {self.name}: its {wanted.algorithm.name} is {computed}, line "
                f"{grouped(wanted.line)} says {wanted.stored}. Either its bytes or the manifest have changed since.",
                spans,
                member,
            )
