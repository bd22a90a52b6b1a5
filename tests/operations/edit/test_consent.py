"""Consent is for exactly what was shown: nothing else is written or cut, and what was cut comes back."""

from __future__ import annotations

import io
import random
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.core.edit import Edit, OverlaySource, Patch
from inspector.core.format import MemberError
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import BytesSource, SourceError
from inspector.core.verdict import State, Verdict
from inspector.operations.check.checking import offered
from inspector.operations.create.creating_rca import RcaOptions, create_rca
from inspector.operations.create.rca_writing import append_rca
from inspector.operations.edit.apply_repairs import apply_plan, describe
from inspector.operations.edit.plan_repairs import Plan, plan
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
from inspector.operations.session.archive_session import ArchiveSession
from inspector.sources.local.changes.recovery import undo_last_change
from inspector.sources.local.file import FileSource
from tests.conftest import SAMPLES
from tests.formats import archives
from tests.sweeping import each_nth, each_third, in_the_sweep

SUFFIXES = {".caf", ".rca", ".tacozip", ".taco", ".zip", ".tar"}
ALL = sorted(path for folder in SAMPLES for path in folder.iterdir() if path.suffix in SUFFIXES)


def damaged(data: bytes, seed: str) -> Iterator[bytes]:
    """The archive as it is, with a bit flipped, cut off, with garbage behind it, and with a hole."""
    chance = random.Random(seed)
    yield data
    if len(data) < 20:
        return
    flipped = bytearray(data)
    flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    yield bytes(flipped)
    yield data[: chance.randrange(1, len(data))]
    yield data + chance.randbytes(chance.randrange(1, 200))
    hole = chance.randrange(len(data) - 10)
    yield data[:hole] + bytes(10) + data[hole + 10 :]


def contents(archive: Opened) -> dict[bytes, list[bytes]]:
    """What every member that can be read and is not known to be wrong holds, by name."""
    assert archive.decoder is not None
    found: dict[bytes, list[bytes]] = {}
    for member in archive.members:
        if member.readable and archive.verdict(member.index) is not Verdict.MISMATCH:
            try:
                data = b"".join(archive.decoder.read(archive, member.index, Progress()))
            except (MemberError, SourceError):
                continue
            found.setdefault(member.path, []).append(data)
    return found


def lost(before: Opened, after: Opened) -> dict[bytes, list[bytes]]:
    """What could be read before, and cannot be read afterwards under any name; nothing where all is verified now."""
    if len(after.members) and all(after.verdict(at) is Verdict.VERIFIED for at in range(len(after.members))):
        return {}
    there = {data for each in contents(after).values() for data in each}
    return {
        name: gone for name, each in contents(before).items() if (gone := [data for data in each if data not in there])
    }


def planned(data: bytes, name: str, *accepted: str) -> Plan:
    return plan(archives.checked(BytesSource(data, name)), Progress(), accepted)


@pytest.mark.parametrize("path", each_nth(6, ALL, lambda path: str(path.name)))
def test_what_is_shown_is_what_is_written_and_what_can_be_taken_back(path: Path, tmp_path: Path) -> None:
    for data in damaged(path.read_bytes(), path.name):
        copy = tmp_path / path.name
        copy.write_bytes(data)
        source = FileSource(copy)
        found = plan(archives.checked(source), Progress())
        consent = tuple(each.code for each in found.waiting)
        for accepted in ((), *((code,) for code in consent)):
            made = plan(archives.checked(source), Progress(), accepted)
            assert not {each.code for each in made.repairs} & set(consent) - set(accepted)
            if not accepted:
                assert made.state.fine or not made.repairs
                assert not made.repairs or not lost(made.before, made.after)
            shown = describe(made)
            if shown.edit is None:
                continue
            wanted = OverlaySource(BytesSource(data, path.name), shown.edit).read(0, shown.edit.new_size)
            apply_plan(made, source, "", Progress())
            assert copy.read_bytes() == wanted
            undo_last_change(copy)
            assert copy.read_bytes() == data
            source = FileSource(copy)


@pytest.mark.parametrize("path", each_third(ALL, lambda path: str(path.name)))
def test_where_nothing_is_said_to_be_lost_nothing_is(path: Path) -> None:
    for data in damaged(path.read_bytes(), f"{path.name} once more"):
        before = archives.checked(BytesSource(data, path.name))
        for repair in offered(before, Progress()):
            if repair.lossless and repair.edit is not None:
                after = archives.checked(OverlaySource(before.source, repair.edit))
                assert not lost(before, after), repair.code


# ---- later rounds ------------------------------------------------------------------------------------------------


DATA = bytes(range(256))
CLAIM = Repair(
    "claim", "Claim", frozenset(), claim="It is so.", edit=Edit("Claim", (Patch(3, DATA[3:4], b"x"),), 256, 256)
)


def cutting(at: int, size: int = 256, lossless: str = "Nothing stands there.") -> Repair:
    return Repair("cut", "Cut", frozenset(), edit=Edit("Cut", (), size, at), lossless=lossless)


def setting(code: str, at: int) -> Repair:
    return Repair(code, code, frozenset(), edit=Edit(code, (Patch(at, DATA[at : at + 1], b"y"),), 256, 256))


def rounds(monkeypatch: pytest.MonkeyPatch, *offers: Sequence[Repair], fine: bool = True) -> Opened:
    """An archive for which the format offers one after another of these, by how many repairs were made."""
    archive = archives.checked(BytesSource(DATA, "x.tar"))

    def offer(now: Opened, _: Progress) -> tuple[Repair, ...]:
        made, source = 0, now.source
        while isinstance(source, OverlaySource):
            made, source = made + 1, source.base
        return tuple(offers[made]) if made < len(offers) else ()

    monkeypatch.setattr("inspector.operations.edit.plan_repairs.offered", offer)
    state = State.SOUND if fine else State.DAMAGED
    monkeypatch.setattr("inspector.operations.edit.plan_repairs.state_of", lambda _: state)
    return archive


def codes(repairs: Sequence[Repair]) -> list[str]:
    return [each.code for each in repairs]


def test_after_a_claim_nothing_is_made_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    later = setting("later", 9)
    for offers, rest in (((cutting(100),), ["cut"]), ((later,), ["later"]), ((cutting(100), later), ["cut", "later"])):
        found = plan(rounds(monkeypatch, (CLAIM,), offers), Progress(), ["claim"])
        assert codes(found.repairs) == ["claim"]
        assert codes(found.waiting) == rest
        assert all(row.consent for row in describe(found).waiting)
    found = plan(rounds(monkeypatch, (CLAIM,), (later,)), Progress(), ["claim", "later"])
    assert codes(found.repairs) == ["claim", "later"]


def test_what_needs_no_consent_is_made_before_what_was_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    first = setting("first", 9)
    found = plan(rounds(monkeypatch, (CLAIM, first), (CLAIM,)), Progress(), ["claim"])
    assert codes(found.repairs) == ["first", "claim"]


def test_a_later_round_may_go_on_but_cuts_only_what_was_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = setting("first", 9), setting("second", 11)
    assert codes(plan(rounds(monkeypatch, (first,), (second,)), Progress()).repairs) == ["first", "second"]
    found = plan(rounds(monkeypatch, (first,), (cutting(100),)), Progress())
    assert (codes(found.repairs), codes(found.waiting)) == (["first"], ["cut"])
    found = plan(rounds(monkeypatch, (first, cutting(100)), (cutting(100),)), Progress())
    assert codes(found.repairs) == ["first", "cut"]
    found = plan(rounds(monkeypatch, (first, cutting(100)), (cutting(99),)), Progress())
    assert (codes(found.repairs), codes(found.waiting)) == (["first"], ["cut"])


def test_a_cut_that_has_grown_is_not_what_was_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    unshown = cutting(200, lossless=""), cutting(100, lossless="")
    found = plan(rounds(monkeypatch, (CLAIM, unshown[0]), (unshown[1],)), Progress(), ["claim", "cut"])
    assert (codes(found.repairs), codes(found.waiting)) == (["claim"], ["cut"])
    assert "cut was accepted but is not applied" in describe(found).sentence
    found = plan(rounds(monkeypatch, (CLAIM, unshown[0]), (unshown[0],)), Progress(), ["claim", "cut"])
    assert codes(found.repairs) == ["claim", "cut"]


@pytest.mark.parametrize(
    "repair",
    [cutting(100, lossless=""), replace(cutting(100, lossless=""), loses=("Bytes.",)), replace(CLAIM, code="cut")],
)
def test_what_takes_away_or_assumes_waits_for_consent(repair: Repair, monkeypatch: pytest.MonkeyPatch) -> None:
    found = plan(rounds(monkeypatch, (repair,)), Progress())
    assert (codes(found.repairs), codes(found.waiting)) == ([], ["cut"])
    found = plan(rounds(monkeypatch, (repair,)), Progress(), in_place=False)
    assert codes(found.repairs) == ([] if repair.claim else ["cut"])


def test_what_does_not_end_well_is_made_only_where_it_was_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    first = setting("first", 9)
    found = plan(rounds(monkeypatch, (first,), fine=False), Progress())
    assert (codes(found.repairs), codes(found.waiting)) == ([], ["first"])
    assert "would still have errors afterwards" in describe(found).waiting[0].consent
    assert codes(plan(rounds(monkeypatch, (first,), fine=False), Progress(), ["first"]).repairs) == ["first"]
    assert codes(plan(rounds(monkeypatch, (first,), fine=False), Progress(), in_place=False).repairs) == ["first"]


def test_a_loss_and_no_loss_cannot_both_be_shown() -> None:
    with pytest.raises(ValueError, match="cannot lose"):
        replace(cutting(100), loses=("Bytes.",))


# ---- what went wrong once ------------------------------------------------------------------------------------------


def test_a_hash_that_was_accepted_is_no_proof_of_a_cut(tmp_path: Path) -> None:
    """Ten segments of two blobs; one bit of what says how long the fifth reset block is."""
    data = segments(tmp_path)
    at = resets(data)[4]
    for bit in range(16):
        flipped = bytearray(data)
        flipped[at + bit // 8] ^= 1 << bit % 8
        found = planned(bytes(flipped), "a.rca")
        assert not found.edit or not found.edit.dropped.size
        shown = {each.code for each in (*found.repairs, *found.waiting) if each.cut.size}
        for code in [each.code for each in found.waiting if each.code not in shown]:
            made = planned(bytes(flipped), "a.rca", code)
            assert made.edit is None or made.edit.new_size == len(data)
            assert not lost(made.before, made.after)


def segments(folder: Path) -> bytes:
    chance, target = random.Random(7), folder / "a.rca"
    for segment in range(10):
        names = []
        for number in range(2):
            path = folder / f"{segment}-{number}.bin"
            path.write_bytes(chance.randbytes(3050))
            names.append(str(path))
        if segment:
            append_rca(Progress(), str(target), names, RcaOptions())
        else:
            create_rca(Progress(), str(target), names, RcaOptions())
    return target.read_bytes()


def resets(data: bytes) -> list[int]:
    archive = archives.checked(BytesSource(data, "a.rca"))
    layer = archive.detail.blocks
    return [archive.inner.outer(layer.edges[first], layer.edges[first] + 1)[0].start for first in layer.segments[1:]]


def text_mode(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


@pytest.mark.parametrize("seed", [0, 2, in_the_sweep(1), in_the_sweep(3)])
def test_a_directory_is_not_replaced_by_a_smaller_one(seed: int) -> None:
    chance, out = random.Random(seed), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(9):
            archive.writestr(f"{number}.txt", chance.randbytes(chance.randrange(10, 900)).hex())
    found = planned(text_mode(out.getvalue()), "a.zip")
    assert found.repairs == ()
    for code in codes(found.waiting):
        accepted = planned(text_mode(out.getvalue()), "a.zip", code)
        assert len(accepted.after.members) >= len(accepted.before.members)


def test_the_window_makes_the_plan_that_it_has_shown_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "wrong-metadata.rca"
    shutil.copyfile(next(each for each in ALL if each.name == path.name), path)
    bench, before = ArchiveSession(str(path)), path.read_bytes()
    bench.decode(Progress())
    shown = bench.plan_repairs(Progress(), ())
    with pytest.raises(OperationError, match="not the repairs of the plan that was shown"):
        bench.make_repairs(Progress(), ("rca-mend-metadata",), "")
    assert path.read_bytes() == before
    shown = bench.plan_repairs(Progress(), ("rca-mend-metadata",))
    bench.make_repairs(Progress(), ("rca-mend-metadata",), "")
    assert shown.edit is not None
    wanted = OverlaySource(BytesSource(before, path.name), shown.edit)
    assert path.read_bytes() == wanted.read(0, wanted.size)
    bench.take_back(Progress())
    assert path.read_bytes() == before
