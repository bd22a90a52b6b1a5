"""The ledger of RCA's hashes: every stored hash as a Checksum, made when it is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from inspector.core.span import Span, Spans
from inspector.core.verdict import Checksum, Verdict
from inspector.formats.rca.hashes import Convention, Hashes

_CONVENTIONS = {
    Convention.SPECIFICATION: "Right as the specification says: the hash that opens the segment is left out.",
    Convention.RCARCH: "Right as rcarch writes: the hash that opens the segment is covered too.",
}


class Ledger(Sequence[Checksum]):
    """All stored hashes in file order."""

    def __init__(self, hashes: Hashes) -> None:
        self._hashes = hashes

    def __len__(self) -> int:
        return len(self._hashes)

    @overload
    def __getitem__(self, index: int) -> Checksum: ...
    @overload
    def __getitem__(self, index: slice) -> list[Checksum]: ...
    def __getitem__(self, index: int | slice) -> Checksum | list[Checksum]:
        if isinstance(index, slice):
            return [self._checksum(row) for row in range(*index.indices(len(self)))]
        return self._checksum(range(len(self))[index])

    def _checksum(self, row: int) -> Checksum:
        hashes = self._hashes
        convention = hashes.convention_of(row)
        segment = hashes.segment(row)
        return Checksum(
            name=f"hash of segment {segment + 1}" if segment >= 0 else "hash of nothing, before segment 1",
            algorithm="blake2s, 64 bits",
            stored=hashes.stored(row).hex(),
            computed=hashes.digest(row, convention),
            place=hashes.place(row),
            covers=self._covers(row, convention),
            omits=hashes.omits(row, convention),
            verdict=hashes.verdict(row),
            note=self._note(row),
        )

    def _covers(self, row: int, convention: Convention) -> Spans:
        inner = self._hashes.layout.inner
        found: list[Span] = []
        for start, stop in self._hashes.ranges(row, convention):
            if start < stop:
                found += inner.outer(start, stop)
        return tuple(found)

    def _note(self, row: int) -> str:
        hashes = self._hashes
        held, verdict = hashes.held(row), hashes.verdict(row)
        if held:
            return _CONVENTIONS[held] if hashes.tells(row) else "Right; both conventions agree on it."
        if row in hashes.mended:
            return "Only the stored hash is wrong: the next hash covers it and fits the computed one."
        if hashes.near(row):
            return "Only the stored hash is wrong: it differs from the computed one in one byte."
        if row - 1 in hashes.mended:
            return "Right once the hash in the reset block that opens the segment is mended."
        if verdict is Verdict.NOT_CHECKABLE:
            if hashes.comparable(row):
                return "Where the archive ends cannot be told, so this may not be the hash of the segment."
            return "It covers bytes that are missing." if hashes.final(row) else "The stored hash is cut off."
        if verdict is Verdict.MISMATCH:
            other = {hashes.digest(row, each) for each in Convention} - {hashes.digest(row, hashes.convention_of(row))}
            return (
                "Wrong by both conventions" + "".join(f"; by the other it would be {digest}" for digest in other) + "."
            )
        return "Not compared yet."
