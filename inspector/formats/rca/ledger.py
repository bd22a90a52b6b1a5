"""The ledger of RCA's hashes: every stored hash as a Checksum, made when it is looked at."""

from __future__ import annotations

from inspector.core.rows import LazyRows
from inspector.core.span import Span, Spans
from inspector.core.verdict import Checksum, Verdict
from inspector.formats.rca.hashes import Convention, Hashes

_CONVENTIONS = {
    Convention.SPECIFICATION: "Right as the specification says: the hash that opens the segment is left out.",
    Convention.RCARCH: "Right as rcarch writes: the hash that opens the segment is covered too.",
}


class Ledger(LazyRows[Checksum]):
    """All stored hashes in file order; ``hashes`` are what they are made of."""

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = hashes

    def __len__(self) -> int:
        return len(self.hashes)

    def row(self, at: int) -> Checksum:
        hashes = self.hashes
        convention = hashes.convention_of(at)
        segment = hashes.segment(at)
        return Checksum(
            name=f"hash of segment {segment + 1}" if segment >= 0 else "hash of nothing, before segment 1",
            algorithm="blake2s, 64 bits",
            stored=hashes.stored(at).hex(),
            computed=hashes.digest(at, convention),
            place=hashes.place(at),
            covers=self._covers(at, convention),
            omits=hashes.omits(at, convention),
            verdict=hashes.verdict(at),
            note=self._note(at),
        )

    def _covers(self, at: int, convention: Convention) -> Spans:
        inner = self.hashes.layout.inner
        found: list[Span] = []
        for start, stop in self.hashes.ranges(at, convention):
            if start < stop:
                found += inner.outer(start, stop)
        return tuple(found)

    def _note(self, at: int) -> str:
        hashes = self.hashes
        held, verdict = hashes.held(at), hashes.verdict(at)
        if held:
            return _CONVENTIONS[held] if hashes.tells(at) else "Right; both conventions agree on it."
        if hashes.hash_only(at):
            return self._only_hash(at)
        if at - 1 in hashes.repaired:
            return "Right once the hash in the reset block that opens the segment is repaired."
        if verdict is Verdict.NOT_CHECKABLE:
            if hashes.comparable(at):
                return "Where the archive ends cannot be told, so this may not be the hash of the segment."
            return "It covers bytes that are missing." if hashes.final(at) else "The stored hash is cut off."
        if verdict is Verdict.MISMATCH:
            other = {hashes.digest(at, each) for each in Convention} - {hashes.digest(at, hashes.convention_of(at))}
            return (
                "Wrong by both conventions" + "".join(f"; by the other it would be {digest}" for digest in other) + "."
            )
        return "Not compared yet."

    def _only_hash(self, at: int) -> str:
        if at in self.hashes.repaired:
            return "Only the stored hash is wrong: the next hash covers it and fits the computed one."
        if self.hashes.witnessed(at):
            return "Only the stored hash is wrong: the metadata of the chunk that the segment fills is the right one."
        return "It seems that only the stored hash is wrong: it differs from the computed one in one byte."
