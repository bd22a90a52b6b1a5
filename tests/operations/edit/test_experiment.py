"""Experiments over an overlay, and damages by name."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.cause import Cause
from inspector.core.edit import OverlaySource
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.span import Span
from inspector.core.verdict import State
from inspector.operations.check.checking import check_location, state_of
from inspector.operations.edit import edits
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.experiment_views import (
    DAMAGES,
    Copy,
    Cut,
    Delete,
    Duplicate,
    Fill,
    Flip,
    Inline,
    Insert,
    Noise,
    Operation,
    Replace,
    Step,
    Swap,
)
from inspector.operations.trials.experiment import Experiment, NoiseSource, file_content, noise, place_of
from inspector.sources.local.file import FileSource
from tests.damage.generator import Memory, make
from tests.formats.archives import checked

DIGITS = b"0123456789"
OPERATIONS: list[tuple[Operation, bytes]] = [
    (Flip(1, 0), b"0023456789"),
    (Replace(2, 4, Fill(b"\0", 2)), b"01\0\x00456789"),
    (Replace(2, 4, Inline(b"abc")), b"01abc456789"),
    (Insert(0, Fill(b"ab", 3)), b"aba0123456789"),
    (Delete(0, 9), b"9"),
    (Cut(4), b"0123"),
    (Duplicate(1, 3), b"012123456789"),
    (Copy(0, 3, 5), b"0123401289"),
    (Swap(Span(7, 8), Span(0, 3)), b"73456012" + b"89"),
    (Replace(0, 10, Noise(7, 5)), noise(7, 0)[:5]),
]


def made(base: bytes, *operations: Operation) -> bytes:
    experiment = Experiment(BytesSource(base, "base"))
    experiment.set(tuple(map(Step, operations)), Progress())
    source = experiment.source
    found = source.read(0, source.size + 1)
    assert source.size == len(found)
    return found


@pytest.mark.parametrize(("operation", "wanted"), OPERATIONS, ids=[str(each) for each, _ in OPERATIONS])
def test_what_each_operation_leaves_and_where(operation: Operation, wanted: bytes) -> None:
    assert made(DIGITS, operation) == wanted
    # Outside the places that are shown for a step only bytes stand that stood there before.
    for start, stop in place_of(operation):
        assert 0 <= start <= stop <= len(wanted)


@pytest.mark.parametrize(
    "operation", [Delete(5, 11), Flip(10, 0), Copy(0, 5, 6), Swap(Span(0, 3), Span(8, 11)), Cut(11)]
)
def test_what_does_not_fit_is_refused_and_changes_nothing(operation: Operation) -> None:
    experiment = Experiment(BytesSource(DIGITS))
    experiment.set((Step(Flip(0, 0)),), Progress())
    with pytest.raises(OperationError, match=r"Step 2 \(.*\) does not fit: the archive has 10 bytes there\."):
        experiment.set((Step(Flip(0, 0)), Step(operation)), Progress())
    assert experiment.steps == (Step(Flip(0, 0)),)
    assert experiment.source.read(0, 99) == b"1123456789"
    with pytest.raises(OperationError, match=r"does not fit: the bytes it swaps overlap\."):
        experiment.set((Step(Swap(Span(0, 3), Span(2, 5))),), Progress())


@pytest.mark.parametrize("content", [Fill(b"x", 1 << 60), Noise(1, 1 << 40)])
def test_what_would_make_too_much_of_it_is_refused(content: Fill | Noise) -> None:
    with pytest.raises(OperationError, match="makes more of the archive than is read"):
        made(DIGITS, Insert(0, content))


def test_doubling_again_and_again_is_refused_before_it_is_endless() -> None:
    with pytest.raises(OperationError, match=r"Step \d+ "):
        made(DIGITS, *(Duplicate(0, 10 << number) for number in range(60)))


def test_many_small_pieces_are_refused() -> None:
    pieces = [Insert(number, Noise(number, 1)) for number in range(900)]
    with pytest.raises(OperationError, match=r"makes more than 16,384 pieces of the archive\."):
        made(DIGITS, *pieces, *(Duplicate(0, 900 << number) for number in range(20)))


@given(st.data())
def test_steps_changed_in_the_middle_leave_what_they_would_from_the_start(data: st.DataObject) -> None:
    flips = st.lists(st.builds(Flip, st.integers(0, 9), st.integers(0, 7)).map(Step), max_size=6)
    first, second = data.draw(flips), data.draw(flips)
    one, other = Experiment(BytesSource(DIGITS)), Experiment(BytesSource(DIGITS))
    one.set((*first, *second), Progress())
    one.set((*first, *second[1:]), Progress())
    other.set((*first, *second[1:]), Progress())
    assert one.source.read(0, 99) == other.source.read(0, 99)


@given(st.integers(0, 200_000), st.integers(0, 150_000))
def test_noise_is_read_anywhere_alike(offset: int, length: int) -> None:
    whole = b"".join(noise(5, block) for block in range(4))[:200_000]
    assert NoiseSource(5, 200_000).read(offset, length) == whole[offset : offset + length]


# ---- damages -------------------------------------------------------------------------------------------------------

NAMED = {
    "flipped-bit": {Cause.FLIPPED_BIT},
    "zero-block": {Cause.ZERO_BLOCK},
    "truncated": {Cause.TRUNCATED},
    "trailing-text": {Cause.TRAILING_BYTES},
    "lost-bytes": {Cause.LOST_BYTES},
}


@pytest.mark.parametrize("name", NAMED)
def test_a_damage_is_what_its_name_says(name: str) -> None:
    data = make("zip", Random(3)).data
    experiment = Experiment(Memory.of("zip", data))
    found = set()
    for seed in range(3):
        experiment.set((), Progress())
        experiment.set((experiment.damage(name, seed),), Progress())
        archive = checked(experiment.source)
        assert state_of((archive,)) is not State.SOUND
        found |= {each.code for each in archive.findings}
    assert found & NAMED[name]


@pytest.mark.parametrize("size", [2, 3, 100, 5_000, 40 << 20])
@pytest.mark.parametrize("name", DAMAGES)
def test_every_damage_fits_and_is_the_same_for_the_same_seed(name: str, size: int) -> None:
    one, other = Experiment(NoiseSource(1, size)), Experiment(NoiseSource(1, size))
    for seed in range(5):
        step = one.damage(name, seed)
        assert step == other.damage(name, seed)
        assert step.damage == name
        one.set((step,), Progress())
        one.set((), Progress())


def test_a_damage_of_another_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(OperationError, match=r"no known damage\. Known are flipped-bit, "):
        Experiment(BytesSource(DIGITS)).damage("fire", 1)


# ---- what is written -----------------------------------------------------------------------------------------------


def test_nothing_is_written_over_what_is_read(tmp_path: Path) -> None:
    path, part, link = tmp_path / "a.caf", tmp_path / "part", tmp_path / "link"
    path.write_bytes(DIGITS)
    part.write_bytes(b"part" * 50_000)
    link.hardlink_to(path)
    before = path.stat()
    experiment = Experiment(FileSource(path))
    experiment.set((Step(Insert(3, file_content(str(part), Progress()))),), Progress())
    for target in (path, link, part):
        for write in (experiment.save, experiment.save_patch):
            with pytest.raises(OperationError, match=r"which is never written\. Choose another name"):
                write(target, Progress(), replace=True)
    experiment.save(tmp_path / "new", Progress())

    assert (tmp_path / "new").read_bytes() == b"012" + b"part" * 50_000 + b"3456789"
    assert (path.read_bytes(), part.read_bytes()) == (DIGITS, b"part" * 50_000)
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_size) == (before.st_ino, before.st_mtime_ns, before.st_size)


def test_an_archive_that_changed_meanwhile_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "a.caf"
    path.write_bytes(DIGITS)
    experiment = Experiment(FileSource(path))
    experiment.set((Step(Cut(5)),), Progress())
    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(OperationError, match="has become longer"):
        experiment.save(tmp_path / "new", Progress())
    assert [each.name for each in tmp_path.iterdir()] == ["a.caf"]


@pytest.mark.parametrize(("operation", "wanted"), OPERATIONS, ids=[str(each) for each, _ in OPERATIONS])
def test_a_patch_makes_the_same_in_place(operation: Operation, wanted: bytes, tmp_path: Path) -> None:
    base = BytesSource(DIGITS, "base")
    experiment = Experiment(base)
    experiment.set((Step(operation), Step(Flip(0, 7))), Progress())
    experiment.save_patch(tmp_path / "patch", Progress())
    edit = edits.decoded(FileSource(tmp_path / "patch"), base)

    assert OverlaySource(base, edit).read(0, 99) == bytes((wanted[0] ^ 128,)) + wanted[1:]
    assert all(patch.old != patch.new for patch in edit.patches)


def test_too_much_for_a_patch_is_refused(tmp_path: Path) -> None:
    experiment = Experiment(NoiseSource(1, 20 << 20))
    experiment.set((Step(Delete(0, 1)),), Progress())
    with pytest.raises(OperationError, match="More than 16,777,216 bytes differ"):
        experiment.save_patch(tmp_path / "patch", Progress())
    assert list(tmp_path.iterdir()) == []


def test_a_step_does_not_read_another_file_than_it_was_made_with(tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.write_bytes(b"part" * 50_000)
    content = file_content(str(part), Progress())
    part.write_bytes(b"trap" * 50_000)
    with pytest.raises(OperationError, match="part has other bytes than when the step was made"):
        made(DIGITS, Insert(0, content))


# ---- opened like an archive ----------------------------------------------------------------------------------------


def test_an_experiment_is_checked_like_the_file_it_would_be(tmp_path: Path, sample: Callable[[str], Path]) -> None:
    """Findings, verdicts and state over the overlay are those of a file with the same bytes."""
    path = sample("two-chunks.rca")
    experiment = Experiment(FileSource(path))
    experiment.set((Step(Insert(100, Inline(b"xx"))), Step(Flip(4_000, 2)), Step(Cut(30_000))), Progress())
    seen = check_location(str(path), Progress(), place=experiment.source)
    experiment.save(tmp_path / path.name, Progress())
    written = check_location(str(tmp_path / path.name), Progress())

    assert seen.state is written.state is not State.SOUND
    assert seen.verdicts == written.verdicts
    first, second = seen.archives[0].findings, written.archives[0].findings
    assert [(each.code, each.message, each.spans) for each in first] == [
        (each.code, each.message, each.spans) for each in second
    ]


def test_reading_an_experiment_opens_the_archive_for_reading_only(
    tmp_path: Path, sample: Callable[[str], Path]
) -> None:
    path = tmp_path / "a.rca"
    path.write_bytes(sample("two-chunks.rca").read_bytes())
    opened: list[tuple[str, int]] = []

    def note(event: str, args: tuple[Any, ...]) -> None:
        if watching and event == "open" and str(args[0]) == str(path):
            opened.append((str(args[0]), args[2]))

    watching = True
    sys.addaudithook(note)
    experiment = Experiment(FileSource(path))
    experiment.set((experiment.damage("lost-bytes", 1),), Progress())
    check_location(str(path), Progress(), place=experiment.source)
    experiment.save(tmp_path / "new", Progress())
    watching = False

    assert opened
    assert {flags & os.O_ACCMODE for _, flags in opened} == {os.O_RDONLY}
