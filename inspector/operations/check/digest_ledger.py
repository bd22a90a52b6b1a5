"""The digests of manifests as rows of an archive's ledger of checksums, made when they are looked at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.names import visible
from inspector.core.numbers import grouped
from inspector.core.rows import LazyRows
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Checksum, Verdict
from inspector.operations.protocol.check_views import Algorithm

WHOLE = -1
"""Stands for the archive as a whole where otherwise a member stands."""


class Wanted(NamedTuple):
    """A digest that a manifest says, in its line ``line``, of a member or of the WHOLE; ``stored`` is hex."""

    member: int
    line: int
    algorithm: Algorithm
    stored: str


class Ledger(LazyRows[Checksum]):
    """What one manifest says of an archive, and what was computed so far."""

    def __init__(self, archive: Archive, manifest: str, wanted: list[Wanted]) -> None:
        self.wanted = wanted
        self._archive = archive
        self._manifest = manifest
        self._verdicts = bytearray(len(wanted))
        self._others: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.wanted)

    def say(self, at: int, verdict: Verdict, computed: str) -> None:
        """Say what was found of a row; a digest that is not the stored one is kept."""
        if computed != self.wanted[at].stored:
            self._others[at] = computed
        self._verdicts[at] = VERDICTS.index(verdict)

    def row(self, at: int) -> Checksum:
        wanted, verdict = self.wanted[at], VERDICTS[self._verdicts[at]]
        whole = wanted.member == WHOLE
        members = self._archive.members
        return Checksum(
            f"{wanted.algorithm.name} of {'the archive' if whole else visible(members.path(wanted.member))}",
            wanted.algorithm.name,
            wanted.stored,
            self._others.get(at, "" if verdict is Verdict.NOT_CHECKED else wanted.stored),
            (),
            (Span(0, self._archive.source.size),) if whole else members[wanted.member].spans,
            (),
            verdict,
            f"Line {grouped(wanted.line)} of {self._manifest}.",
            None if whole else wanted.member,
        )


class _Joined(LazyRows[Checksum]):
    def __init__(self, parts: Sequence[Sequence[Checksum]]) -> None:
        self._parts = parts
        self._stops = list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        return self._stops[-1]

    def row(self, at: int) -> Checksum:
        part = bisect_right(self._stops, at)
        return self._parts[part][at - (self._stops[part] - len(self._parts[part]))]


def joined(some: Sequence[Checksum], others: Sequence[Checksum]) -> Sequence[Checksum]:
    """Two ledgers, one after the other, neither of which grows any more."""
    return _Joined((some, others)) if len(some) else others
