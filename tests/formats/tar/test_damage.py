"""Tars damaged in many ways: what is whole is listed, what may be wrong is doubtful, and the state is right."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from inspector.core.format import MemberError
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import State, Verdict
from inspector.operations.check.checking import state_of
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.open.opening import Opened
from tests.formats.archives import assert_covered, checked
from tests.formats.tar.tar_building import build, content
from tests.formats.tar.tar_damage import KINDS, Case, case

QUICK = 12 * len(KINDS)
MORE = 200 * len(KINDS)


def names(archive: Opened) -> Counter[str]:
    return Counter(archive.members.path(at).decode("utf-8", "surrogateescape") for at in range(len(archive.members)))


def contents(archive: Opened) -> list[tuple[str, bytes | None]]:
    """The members with their content, None for what cannot be read to its end."""
    found: list[tuple[str, bytes | None]] = []
    for member in archive.members:
        try:
            data: bytes | None = content(archive, member.index)
        except MemberError:
            data = None
        found.append((member.path.decode("utf-8", "surrogateescape"), data))
    return found


def faults(made: Case) -> list[str]:
    """What is wrong with what is found in a case."""
    archive = checked(BytesSource(made.data, "made.tar"))
    assert_covered(archive)
    found = contents(archive)
    wrong = [f"{name} is whole and not found" for name, data in made.whole if (name, data) not in found]
    state = state_of((archive,))
    if state not in made.states:
        wrong.append(f"the state is {state}")
    for at, (name, data) in enumerate(found):
        right = data is None or (name, data) in made.written or any(each.startswith(name) for each in made.unseen)
        if not right and archive.verdict(at) is not Verdict.DOUBTFUL:
            wrong.append(f"{name} is wrong and {archive.verdict(at)}")
    return wrong


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=[kind.__name__.strip("_") for kind in KINDS])
def test_what_is_whole_is_found_and_what_is_wrong_is_doubtful(kind: int) -> None:
    bad = {seed: found for seed in range(kind, QUICK // 2, len(KINDS)) if (found := faults(case(seed)))}
    assert bad == {}


@pytest.mark.sweep
def test_the_same_of_thousands() -> None:
    bad = {seed: found for seed in range(MORE) if (found := faults(case(seed)))}
    assert bad == {}


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=[kind.__name__.strip("_") for kind in KINDS])
def test_nothing_is_missed_that_tarfile_finds(kind: int) -> None:
    for seed in range(kind, QUICK, len(KINDS)):
        data = case(seed).data
        try:
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:", ignore_zeros=True) as other:
                expected = Counter(info.name for info in other)
        except tarfile.TarError:
            continue
        found = names(checked(BytesSource(data, "made.tar")))
        assert not expected - found, seed


@pytest.mark.sweep
def test_nothing_is_missed_that_gnu_tar_finds(tmp_path: Path) -> None:
    path = tmp_path / "made.tar"
    for seed in range(MORE):
        path.write_bytes(case(seed).data)
        run = subprocess.run(["tar", "-itf", path], capture_output=True, check=False)
        expected = run.stdout.count(b"\n")
        # It may list a moved header by a name without its first letters, so only their number is compared.
        assert expected <= names(checked(BytesSource(path.read_bytes(), "made.tar"))).total(), seed


def test_a_sound_state_is_never_said_of_fewer_members() -> None:
    for seed in range(QUICK):
        made = case(seed)
        if made.states == frozenset((State.SOUND,)):
            archive = checked(BytesSource(made.data, "made.tar"))
            assert (archive.findings, len(archive.members)) == ([], len(made.whole))


def test_a_header_that_is_cut_off_is_only_written_over_with_consent() -> None:
    data = BytesSource(build([("a", b"1" * 600), ("b", b"2" * 600)])[: 3 * 512 + 200], "x.tar")
    asked = plan(checked(data), Progress())
    assert ([each.code for each in asked.repairs], [each.code for each in asked.waiting]) == ([], ["tar-write-end"])
    assert asked.waiting[0].loses
    allowed = plan(checked(data), Progress(), ("tar-write-end",))
    assert [each.code for each in allowed.repairs] == ["tar-write-end"]
    copied = plan(checked(data), Progress(), in_place=False)
    assert [each.code for each in copied.repairs] == ["tar-write-end"]
