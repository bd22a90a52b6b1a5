"""A flipped bit in a header of a tar: a sum does not tell where, so nothing is set that nothing else confirms."""

from __future__ import annotations

import io
import tarfile

import pytest

from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.formats import tar
from inspector.operations.check.checking import state_of
from tests.counting import Counted, Work, work
from tests.formats.archives import after, checked, planned
from tests.formats.tar.tar_building import LONG, build, special
from tests.sweeping import in_the_sweep

FORMS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def made(form: int, *, tricky: bool) -> tuple[bytes, list[int]]:
    """A tar, and where its headers are. A ``tricky`` one has legitimate members that differ from others by a bit."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=form) as archive:
        sizes = {"notes.txt": 1_959, "empty": 0, "full": 512, "run.sh": 700}
        if form != tarfile.USTAR_FORMAT:
            sizes[LONG] = 30
        infos = []
        for at, (name, size) in enumerate(sizes.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = size, 0o755 if name == "run.sh" else 0o644, 1_700_000_000 + 60 * at
            info.uid = info.gid = 1_000
            info.uname = info.gname = "rob"
            infos.append(info)
        infos += [special("folder/", tarfile.DIRTYPE), special("link", tarfile.SYMTYPE, "full")]
        if tricky:
            infos[0].mode, infos[1].uid, infos[1].uname = 0o640, 1_001, "bob"
            infos[2].name, infos[3].mode = "caf\udce9", 0o600
        for info in infos:
            archive.addfile(info, io.BytesIO(bytes(at % 251 + 1 for at in range(info.size))))
    data = target.getvalue()
    headers = [at for at in range(0, len(data), 512) if data[at + 257 : at + 262] == b"ustar"]
    return data, headers


@pytest.mark.parametrize("step", [pytest.param(797), in_the_sweep(29)])
@pytest.mark.parametrize("tricky", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_a_header_with_a_flipped_bit_is_never_made_sound_with_what_nothing_confirms(
    form: str, tricky: bool, step: int
) -> None:
    data, headers = made(FORMS[form], tricky=tricky)
    for head in headers:
        for bit in range(head // 512 % step, 4096, step):
            changed = bytearray(data)
            changed[head + bit // 8] ^= 1 << bit % 8
            archive = checked(BytesSource(bytes(changed), "a.tar"))
            if state_of((archive,)).fine:  # the number stays, as other programs write it
                assert bit // 8 in range(148, 156), (head, bit)
                continue
            told = " ".join(each.message for each in archive.findings)
            assert "most likely whole" not in told, (head, bit)
            plan = planned(BytesSource(bytes(changed), "a.tar"), "tar-mend-header")
            if "tar-mend-header" in {each.code for each in plan.repairs}:
                assert after(plan) == data, (head, bit)
            else:
                assert not plan.state.fine, (head, bit)


def flipped(data: bytes, at: int, bit: int) -> BytesSource:
    return BytesSource(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :], "a.tar")


@pytest.mark.parametrize(
    ("field", "at", "bit", "is_restored"),
    [
        ("name", 2, 1, False),
        ("mtime", 146, 0, False),
        ("mode", 105, 2, False),
        ("size", 133, 1, False),  # 1,959 becomes 1,895, and the bytes behind it are no zeros
        ("size", 127, 0, True),  # does not lead to the next header
        ("magic and version", 259, 3, True),
        ("typeflag", 156, 3, True),
        ("uid", 111, 3, True),
        ("chksum", 150, 1, True),  # 1,024: no single byte makes such a difference
        ("chksum", 153, 0, False),
    ],
)
def test_candidates_are_listed_and_what_is_confirmed_is_offered(
    field: str, at: int, bit: int, is_restored: bool
) -> None:
    data, _ = made(FORMS["ustar"], tricky=False)
    source = flipped(data, at, bit)
    archive = checked(source)
    cause = next(each for each in archive.findings if each.code == "cause-flipped-bit")
    assert cause.message.startswith("One bit of the tar header at byte 0 changed.")
    assert field in cause.message
    plan = planned(source, "tar-mend-header")
    assert bool(plan.repairs) == is_restored
    assert ("Repair sets it" in cause.message) == is_restored
    if is_restored:
        assert after(plan) == data
    assert not planned(source).repairs  # nothing without consent


def test_of_very_many_changed_headers_some_are_looked_at() -> None:
    """Each costs a look at every bit and at its neighbours."""

    def repairs_of(members: int) -> Work:
        data = bytearray(build([(f"{number:06d}", b"x" * 300) for number in range(members)]))
        for start in range(0, len(data) - 10_240, 2 * 1024):
            data[start + 259] ^= 8
        source = Counted(bytes(data), "a.tar")
        archive = checked(source)
        offered: list[object] = []
        took = work(lambda: offered.extend(tar.FORMAT.repairs(archive, Progress())), source)
        assert len(offered) == 2
        return took

    some, many = repairs_of(250), repairs_of(1_000)
    assert many.is_linear(some, 1), (some, many)
