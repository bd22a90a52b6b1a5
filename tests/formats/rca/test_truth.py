"""Damage of every kind anywhere in an archive of several segments: what is whole is found, and no promise is false.

Provable is a blob whose segment stands as it was written, with the hash that covers it, wherever that is.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from inspector.core.edit import Edit, EditError, OverlaySource
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import State, Verdict
from inspector.formats.rca import FORMAT
from inspector.formats.rca.blocks import MAX_IMPLAUSIBLE_SEGMENTS
from inspector.formats.rca.search import Search
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.create.creating_rca import RcaOptions
from inspector.operations.create.rca_writing import grow
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
from tests.formats.rca import build
from tests.formats.rca.checking import FULL, opened
from tests.formats.rca.decoding import content
from tests.operations.create.rca_appends import given
from tests.sweeping import every, in_the_sweep

SEEDS = range(40)
"""Archives; each is damaged in KINDS ways."""
KINDS = ("flip", "zeros", "noise", "cut", "tail", "header", "torn")
HOLE = 5_000
"""Where a hole begins: in the third segment, before a large blob."""
LENGTHS = (1, 2, 8, 40, 600, 4096)


class Case:
    """A damaged archive and the truth about it."""

    def __init__(self, seed: int, kind: str) -> None:
        chance = Random(f"{seed} {kind}")
        convention = chance.choice((build.SPEC, build.RCARCH))
        size = chance.choice((60, 900, 7_000))
        self.segments = [
            [
                (b"%d-%d" % (number, blob), chance.randbytes(chance.randint(1, size)))
                for blob in range(chance.randint(1, 4))
            ]
            for number in range(chance.randint(2, 7))
        ]
        self.whole = build.archive(*self.segments, convention=convention)
        self.data = self._damaged(chance, kind, convention)

    def _damaged(self, chance: Random, kind: str, convention: str) -> bytes:
        data, at = bytearray(self.whole), chance.randrange(len(self.whole))
        if kind == "header":
            at = chance.choice([0, *([FULL] if len(data) > FULL else [])]) + chance.randrange(10)
            kind = chance.choice(("flip", "zeros", "noise"))
        stop = min(len(data), at + chance.choice(LENGTHS))
        if kind == "flip":
            data[at] ^= 1 << chance.randrange(8)
        elif kind == "zeros":
            data[at:stop] = bytes(stop - at)
        elif kind == "noise":
            data[at:stop] = chance.randbytes(stop - at)
        elif kind == "cut":
            del data[max(at, 1) :]
        elif kind == "tail":
            data += chance.choice((bytes(50), chance.randbytes(70), build.archive([(b"other", b"archive")])))
        else:
            # All of the last segments is there, but for the header that makes them count: written as by an append.
            first = chance.randint(1, len(self.segments) - 1)
            before = build.archive(*self.segments[:first], convention=convention)
            data[: min(10, len(before))] = before[:10]
        return bytes(data)

    def provable(self, data: bytes) -> list[build.Blob]:
        """The blobs whose segments stand in ``data`` as they were written, with their hashes in their places."""
        archive = opened(self.whole)
        layout, hashes = archive.detail, archive.checksums.hashes  # type: ignore[attr-defined]
        found: list[build.Blob] = []
        for number, blobs in enumerate(self.segments):
            row = hashes.row(number)
            spans = (*layout.inner.outer(*hashes.bounds(row)), *hashes.place(row))
            if all(data[start:stop] == self.whole[start:stop] for start, stop in spans):
                found += blobs
        return found


def everything(segments: list[list[build.Blob]]) -> list[build.Blob]:
    return [blob for segment in segments for blob in segment]


def checked(data: bytes) -> Opened:
    archive = opened(data)
    check_archive(archive, Progress())
    return archive


def verified(archive: Opened) -> list[build.Blob]:
    return [
        (member.path, content(archive, member.index))
        for member in archive.members
        if archive.verdict(member.index) is Verdict.VERIFIED
    ]


def made(edit: Edit, data: bytes) -> bytes:
    after = OverlaySource(BytesSource(data), edit)
    return after.read(0, after.size)


def missing(wanted: list[build.Blob], there: list[build.Blob]) -> list[bytes]:
    return [blob[0] for blob in wanted if blob not in there]


each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
@every(3)
def test_every_provable_blob_is_listed_verified_and_read(kind: str, step: int) -> None:
    """Behind the end of an archive whose append was interrupted they are saved, and finished unasked."""
    for seed in SEEDS[::step]:
        case = Case(seed, kind)
        archive = checked(case.data)
        found, provable = verified(archive), case.provable(case.data)
        assert not missing(found, everything(case.segments)), seed  # nothing wrong is ever verified
        if state_of([archive]) is State.TORN:
            salvage = plan(archive, Progress()).salvage or plan(archive, Progress(), ["rca-salvage-readable"]).salvage
            repaired = verified(plan(archive, Progress()).after)
            saved = verified(checked(b"".join(salvage.content(Progress())))) if salvage and salvage.content else []
            found = max(found, saved, repaired, key=len)
        assert not missing(provable, found), seed
        assert not state_of([archive]).fine or not missing(everything(case.segments), found) or kind == "cut", seed


@each_kind
@every(3)
def test_no_repair_that_was_not_accepted_takes_anything_away(kind: str, step: int) -> None:
    for seed in SEEDS[::step]:
        case = Case(seed, kind)
        archive = checked(case.data)
        planned = plan(archive, Progress())
        for edit in [planned.edit, *(each.edit for each in FORMAT.repairs(archive, Progress()) if each.lossless)]:
            if edit is None:
                continue
            after = made(edit, case.data)
            found = verified(checked(after))
            assert not missing(case.provable(case.data), [*case.provable(after), *found]), seed
            assert not missing(verified(archive), found), seed
        for repair in FORMAT.repairs(archive, Progress()):
            if repair.edit is not None and not repair.needs_consent:
                after = made(repair.edit, case.data)
                assert not missing(verified(archive), verified(checked(after))), (seed, repair.code)


@each_kind
@every(3)
def test_an_append_takes_nothing_away(kind: str, tmp_path: Path, step: int) -> None:
    path = tmp_path / "a.rca"
    for seed in SEEDS[::step]:
        case = Case(seed, kind)
        path.write_bytes(case.data)
        added = [(b"added", b"behind it all")]
        try:
            grow(path, given(added), RcaOptions(), Progress())
        except (EditError, OperationError):
            assert path.read_bytes() == case.data, seed
            continue
        found = verified(checked(path.read_bytes()))
        assert not missing([*case.provable(case.data), *added], found), seed


RESET_BLOCK = b"\x81\x04abcdefgh"
SEGMENT = RESET_BLOCK + b"\x20(\xb5/\xfd" + b"x" * 12
PLAIN = (b"\0", b"\xff", b"The quick brown fox.\n", Random(5).randbytes(5_000))
FILLS = (*PLAIN, b"\x02A", b"\x02\x02", b"\x81\x04", RESET_BLOCK, SEGMENT, b"\x0a(\xb5/\xfd\0")


@pytest.mark.parametrize("size", [40_000, in_the_sweep(80_000), in_the_sweep(150_000)])
@pytest.mark.parametrize("fill", FILLS, ids=lambda fill: repr(fill[:16]))
def test_a_hole_is_searched_in_linear_time(fill: bytes, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted are the bytes hashed and decoded, and the blocks and candidates looked at."""
    searches: list[Search] = []
    run = Search.run

    def counted(self: Search) -> Search:
        searches.append(self)
        return run(self)

    monkeypatch.setattr(Search, "run", counted)
    noise = Random(7)
    segments = [[(b"%d" % number, noise.randbytes(2_000))] for number in range(6)]
    whole = build.archive(*segments[:3], [(b"large", noise.randbytes(160_000))], *segments[3:])
    archive = opened(whole[:HOLE] + (fill * size)[:size] + whole[HOLE + size :])

    assert {member.path for member in archive.members} >= {b"0", b"1", b"3", b"4", b"5"}
    assert len(archive.checksums) < 100
    assert 0 < len(searches) < 6
    for search in searches:
        assert search.budget.steps <= search.budget.max_steps + 100
        assert search.tentative.steps <= search.tentative.max_steps + 100
        assert search.budget.bytes + search.tentative.bytes < 6 * len(whole)


@pytest.mark.parametrize("size", [50_000, 200_000])
@pytest.mark.parametrize("fill", [b"\x01", b"\x81\x04", RESET_BLOCK], ids=repr)
def test_hashes_of_segments_that_hold_nothing_are_few(fill: bytes, size: int) -> None:
    archive = opened(build.chunked(build.segment([(b"one", b"1")]) + (fill * size)[:size], b"12345678"))

    assert len(archive.checksums) < MAX_IMPLAUSIBLE_SEGMENTS + 100
    (finding,) = (each for each in archive.findings if each.code == "rca-too-many-segments")
    assert "open no segment here" in finding.message
