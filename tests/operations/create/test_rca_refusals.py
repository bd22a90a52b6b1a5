"""What nothing is added to, and what others do to an RCA archive or its inputs while it grows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from inspector.core.edit import Edit, EditError, Patch
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.create.creating_rca import RcaOptions, make
from inspector.operations.create.rca_writing import append_rca, grow
from inspector.operations.jobs.operation_error import OperationError
from inspector.sources.local.changes.journal import Journal, save
from inspector.sources.local.disk_calls import Disk
from inspector.sources.local.file import Identity
from tests.formats.rca import build
from tests.formats.rca.checking import FULL, ONE, THREE, TWO, full_chunk, noisy, opened
from tests.operations.create.rca_appends import Given, append, create, given, held, repaired
from tests.sources.disks import Watched

GARBAGE = "rca-trailing-garbage"
Sample = Callable[[str], Path]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "archives").mkdir()
    return tmp_path / "archives" / "a.rca"


def alone(path: Path) -> bool:
    """Whether nothing else is left in the folder."""
    return [each.name for each in path.parent.iterdir()] in ([], [path.name])


def refused(path: Path, error: type[Exception], said: str, blobs: list[build.Blob] = TWO) -> None:
    before = path.read_bytes()
    with pytest.raises(error, match=said):
        append(path, blobs)
    assert path.read_bytes() == before
    assert alone(path)


@pytest.mark.parametrize("at", [12, 40, 110])
def test_nothing_is_added_to_a_damaged_archive(path: Path, at: int) -> None:
    data = bytearray(build.archive(ONE, TWO))
    data[at] ^= 4
    path.write_bytes(data)

    refused(path, EditError, "is damaged; repair it first")


def test_a_size_that_was_made_smaller_is_not_taken_for_an_interrupted_append(path: Path) -> None:
    data = bytearray(build.archive(ONE, THREE))
    stop = 10 + len(build.segment(ONE[:2]))
    data[:2] = stop.to_bytes(2, "big")
    path.write_bytes(data)

    refused(path, EditError, "repair it first")


def test_a_header_that_was_zeroed_is_not_taken_for_an_interrupted_append(path: Path) -> None:
    """Behind what looks like the garbage of a first append may stand a whole archive."""
    path.write_bytes(bytes(512) + full_chunk()[512:])

    refused(path, EditError, "is damaged; repair it first")


def test_a_second_header_that_was_zeroed_is_not_taken_for_an_interrupted_append(path: Path) -> None:
    create(path, noisy(9_000, 6))
    data = bytearray(path.read_bytes())
    data[FULL : FULL + 12] = bytes(12)
    path.write_bytes(data)

    refused(path, EditError, "repair it first")


def test_what_is_no_rca_archive_is_refused(path: Path, sample: Sample) -> None:
    path.write_bytes(sample("journey.caf").read_bytes())

    refused(path, OperationError, "no RCA archive")


def test_an_archive_is_not_added_to_itself(path: Path) -> None:
    create(path, ONE)

    with pytest.raises(OperationError, match="is an output"):
        append_rca(Progress(), str(path), [str(path)], RcaOptions())
    (path.parent.parent / "link").symlink_to(path)
    for target in (path, path.parent.parent / "link"):
        append_rca(Progress(), str(target), [str(path.parent)], RcaOptions())
        assert held(path.read_bytes()) == ONE


def test_the_file_that_a_link_leads_to_grows(path: Path) -> None:
    create(path, ONE)
    link = path.with_name("link")
    link.symlink_to(path)

    result = append(link, TWO)

    assert held(path.read_bytes()) == [*ONE, *TWO]
    assert link.is_symlink()
    assert "is a symbolic link" in result.warnings[0]


def test_a_name_that_is_there_already_is_refused(path: Path) -> None:
    create(path, ONE)

    refused(path, OperationError, "'two' occurs twice", [(b"two", b"")])


def test_an_archive_that_is_locked_or_has_a_journal_is_left_alone(path: Path) -> None:
    create(path, ONE)
    disk = Disk()
    descriptor = disk.open(path, os.O_RDWR)
    disk.lock(descriptor)
    refused(path, EditError, "another program has locked it")
    disk.close(descriptor)

    size = path.stat().st_size
    edit = Edit("Change", (Patch(20, path.read_bytes()[20:21], b"?"),), size, size)
    place = save(Journal(str(path), Identity.of(path.stat()), edit, b""), path, disk)
    with pytest.raises(EditError, match="an earlier change was interrupted"):
        append(path, TWO)
    assert place.exists()


def test_programs_that_append_at_the_same_time_do_not_disturb_each_other(path: Path) -> None:
    """The archive is locked while it is looked at, so that what another one is writing is not taken for damage."""
    create(path, ONE)
    said: list[str] = []

    def append_too() -> None:
        with pytest.raises(EditError) as caught:
            append(path, TWO)
        said.append(str(caught.value))

    grow(path, [Doing(b"act", b"x", act=append_too)], RcaOptions(), Progress())

    assert said == ["a.rca was not changed: another program has locked it. Try again when that is done."]
    assert held(path.read_bytes()) == [*ONE, (b"act", b"xx")]


@dataclass(frozen=True)
class Doing(Given):
    """An input that does something when half of it has been read."""

    act: Callable[[], object] = lambda: None

    def pieces(self) -> Iterator[bytes]:
        yield self.data
        self.act()
        yield self.data


def interfering(path: Path, act: Callable[[], object], error: type[BaseException], said: str) -> None:
    large = [Given(name, stored) for name, stored in noisy(700_000, 4)]
    with pytest.raises(error, match=said):
        grow(path, [*large, Doing(b"act", b"x" * 1_000, act=act)], RcaOptions(), Progress())


def test_an_input_that_fails_leaves_the_archive_as_it_was(path: Path) -> None:
    def fail() -> None:
        raise SourceError("The input cannot be read.")

    create(path, ONE)
    before = path.read_bytes()
    interfering(path, fail, SourceError, r"The input cannot be read\. Nothing was added\.")
    assert path.read_bytes() == before


def test_cancelling_leaves_the_archive_as_it_was(path: Path) -> None:
    create(path, ONE)
    before = path.read_bytes()
    progress = Progress()
    inputs = [*given(noisy(700_000, 4)), Doing(b"act", b"x" * 1_000, act=progress.cancel), *given(THREE)]
    with pytest.raises(Cancelled):
        grow(path, inputs, RcaOptions(), progress)
    assert path.read_bytes() == before

    other = path.with_name("b.rca")
    with pytest.raises(Cancelled):
        make(other, inputs, RcaOptions(), progress)
    assert alone(path)


def test_cancelling_ends_the_writing_of_a_large_blob_at_once(path: Path) -> None:
    create(path, ONE)
    before = path.read_bytes()
    progress = Progress()
    disk = Watched(lambda _, name, __: progress.cancel() if name == "write" else None)
    with pytest.raises(Cancelled):
        grow(path, given(noisy(12_000_000, 1)), RcaOptions(), progress, disk)

    archive = disk.named("lock")[-1][0]
    assert sum(descriptor == archive for descriptor, *_ in disk.named("write")) < 3
    assert path.read_bytes() == before


def test_what_another_program_appends_meanwhile_is_not_lost(path: Path) -> None:
    """One that knows no locks: its header counts, and ours is not written over it."""
    create(path, ONE)
    theirs = build.archive(ONE, THREE)
    interfering(path, lambda: path.write_bytes(theirs), EditError, "Another program changed or replaced a.rca")
    assert held(path.read_bytes(), [GARBAGE])[: len(ONE)] == ONE
    assert len(opened(path.read_bytes()).members) == len(ONE + THREE)


def test_a_file_that_is_replaced_meanwhile_is_left_alone(path: Path) -> None:
    create(path, ONE)

    def replace() -> None:
        path.with_name("b").write_bytes(b"new")
        path.with_name("b").replace(path)

    interfering(path, replace, EditError, "changed or replaced")
    assert path.read_bytes() == b"new"


def test_memory_stays_flat(path: Path) -> None:
    """A blob of 50 MB that does not compress waits on the disk, and an archive of it is in no one's memory."""
    script = """
import sys, resource
from pathlib import Path
from random import Random
from inspector.core.program.progress import Progress
from inspector.operations.create.creating_rca import RcaOptions, make
from inspector.operations.create.rca_writing import grow
class Input:
    where, size = "memory", 50_000_000
    def __init__(self, name): self.name = name
    def pieces(self):
        noise = Random(1)
        for _ in range(200): yield noise.randbytes(250_000)
path, options = Path(sys.argv[1]), RcaOptions()
make(path, [], options, Progress())
grow(path, [], options, Progress())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
make(path, [Input(b"a")], options, Progress(), overwrite=True)
grow(path, [Input(b"b")], options, Progress())
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 30
    assert path.stat().st_size > 100_000_000


@pytest.mark.parametrize("size", [2, 9])
def test_a_first_header_whose_chunk_a_hash_proves_is_repaired_and_not_overwritten(path: Path, size: int) -> None:
    """Two chunks are there, and the second one's hash covers the first one's bytes too."""
    whole = build.archive(noisy(9_000, 6))
    path.write_bytes(bytes(size) + whole[size:])

    refused(path, EditError, r"repair it first\. The size 0 in the chunk header at byte 0 is wrong")

    assert repaired(path)
    append(path, TWO)
    assert held(path.read_bytes()) == [*noisy(9_000, 6), *TWO]


def test_a_chunk_behind_a_proved_one_is_finished_and_not_overwritten(path: Path) -> None:
    """The hash of the first chunk is right, which shows nothing of what stands behind it."""
    path.write_bytes(full_chunk())
    append(path, TWO)
    whole = path.read_bytes()
    path.write_bytes(full_chunk() + bytes(4) + whole[FULL + 4 :])

    result = append(path, THREE)

    assert "Finish the append that was interrupted: 'four': that was done first" in result.warnings[0]
    assert held(path.read_bytes()) == [*held(full_chunk()), *TWO, *THREE]
    assert path.read_bytes()[: FULL + 4] == whole[:FULL] + path.read_bytes()[FULL : FULL + 4]
