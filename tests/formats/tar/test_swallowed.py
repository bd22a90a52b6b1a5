"""Members that another has swallowed, because whole blocks of its data are gone; and tars in tars, which are sound."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from random import Random

import pytest

from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import State, Verdict
from inspector.formats._tar import swallowed
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.open.opening import Opened
from tests.counting import Counted
from tests.damage.measure import contents
from tests.formats.archives import checked, codes, opened, salvaged
from tests.formats.tar.tar_building import build
from tests.sweeping import every

FORMS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
LOSSES = 300
NESTED = 150
Files = dict[str, bytes]


def noise(random: Random, size: int) -> bytes:
    return random.randbytes(size).replace(b"\0", b"\1")


def made(random: Random, least: int = 3, *, folder: str = "work/") -> tuple[bytes, Files]:
    """A tar of small files, with a tar among them, ended by two blocks or filled to a record."""
    files: Files = {}
    for number in range(random.randint(least, 12)):
        size = random.choice((0, 10, 512, 1_500, 4_096, random.randrange(20_000)))
        files[f"{folder}{number:02d}.bin"] = noise(random, size)
    if folder == "work/":
        files[f"{folder}large.bin"] = noise(random, random.randrange(1_024, 9_000))
        files[f"{folder}more.tar"] = made(random, 1, folder="inner/")[0]
    data = build(list(files.items()), random.choice(FORMS))
    return data + bytes(-len(data) % 10_240 if random.random() < 0.5 else 0), files


def damaged(seed: int) -> tuple[bytes, Files, str]:
    """A tar that has lost whole blocks in the data of one member, but not its first; its files; and that member."""
    random = Random(seed)
    data, files = made(random)
    name = random.choice([each for each, content in files.items() if len(content) >= 1_024 and ".tar" not in each])
    start = data.index(files[name])
    blocks = len(files[name]) // 512
    lost = 512 * random.randint(1, min(16, blocks - 1))
    at = start + random.randint(1, 512 * blocks - lost)
    return data[:at] + data[at + lost :], files, name


def held(archive: Opened) -> Files:
    """The members whose content is in no doubt, with it."""
    return {name.decode(): data for name, data in contents(archive, (Verdict.NOT_CHECKABLE, Verdict.VERIFIED))}


@every(3)
def test_whole_blocks_lost_in_a_member_leave_no_wrong_member_that_is_in_no_doubt(step: int) -> None:
    lost = total = 0
    for seed in range(0, LOSSES, step):
        data, files, name = damaged(seed)
        archive = checked(BytesSource(data, "a.tar"))
        found = held(archive)

        assert all(content == files.get(each) for each, content in found.items()), seed
        assert name not in found, seed
        assert state_of((archive,)) is not State.SOUND, seed
        total += len(files) - 1
        lost += len(files.keys() - found.keys()) - 1
    assert lost <= total // 100


def test_what_was_swallowed_is_salvaged_without_the_member_that_swallowed_it() -> None:
    random = Random(1)
    files = {f"work/{number}.bin": noise(random, 2_048) for number in range(5)}
    data = build(list(files.items()))
    start = data.index(files["work/1.bin"])
    archive = checked(BytesSource(data[: start + 700] + data[start + 700 + 1_024 :], "a.tar"))
    assert codes(archive) == ["tar-shift"]

    copy = checked(BytesSource(salvaged(plan(archive, Progress(), ["tar-salvage"], in_place=False)), "copy.tar"))

    del files["work/1.bin"]
    assert state_of((copy,)) is State.SOUND
    assert held(copy) == files


def test_a_check_finds_what_was_swallowed_in_a_file_too_large_to_read_when_it_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also among very many small members, which are listed in another way."""
    random = Random(2)
    files = {f"work/{number:04d}.bin": noise(random, 1_500) for number in range(300)}
    data = build(list(files.items()))
    start = data.index(files["work/0150.bin"])
    monkeypatch.setattr(swallowed, "MAX_BYTES_AT_ONCE", 1_000)
    # Two blocks and those of a whole member: the size then reaches exactly to a header.
    archive = opened(BytesSource(data[: start + 20] + data[start + 20 + 1_024 :], "a.tar"))
    sound = opened(BytesSource(data, "a.tar"))
    members = sound.members

    check_archive(archive, Progress())
    check_archive(sound, Progress())

    assert files.items() > held(archive).items()
    assert len(held(archive)) == 299
    assert state_of((archive,)) is State.DAMAGED
    assert sound.members is members


def shapes(random: Random) -> Iterator[Files]:
    """Tars in members: whole, cut, joined, in pieces, behind other bytes, without an end."""
    whole, _ = made(random, 1, folder="inner/")
    used = whole[: -(-len(whole.rstrip(b"\0")) // 512) * 512]
    other, _ = made(random, 1, folder="inner/")
    yield {"whole.tar": whole}
    yield {"image.bin": noise(random, 512 * random.randint(1, 9)) + whole}
    yield {"image.bin": noise(random, random.randint(1, 5_000)) + whole + noise(random, 700)}
    yield {"no-end.tar": used}
    yield {"one-block.tar": used + bytes(512)}
    yield {"joined.tar": whole + other}
    yield {"joined.tar": used + other}
    yield {"cut.tar": whole[: random.randint(1, len(whole))]}
    yield {"cut.tar": whole[: 512 * random.randint(1, len(whole) // 512)]}
    for size in (512 * random.randint(1, 8), random.randint(300, 3_000)):
        yield {f"x.tar.part{at // size:03d}": whole[at : at + size] for at in range(0, len(whole), size)}
        yield {f"chunk_{at // size:03d}": whole[at : at + size] for at in range(0, len(whole), size)}


@every(5)
def test_a_tar_in_a_tar_is_sound_whatever_its_shape(step: int) -> None:
    for seed in range(0, NESTED, step):
        random = Random(seed)
        files: Files = {}
        for at, each in enumerate(random.sample(list(shapes(random)), random.randint(1, 4))):
            files |= {f"{at}/{name}": data for name, data in each.items()}
            files |= {f"{at}/file.bin": noise(random, random.choice((0, 100, 512, 5_000)))}
        items = list(files.items())[: len(files) - random.randint(0, 1)]
        data = build(items, random.choice(FORMS))
        archive = checked(BytesSource(data + bytes(-len(data) % 10_240 if seed % 2 else 0), "a.tar"))

        assert codes(archive) == [], seed
        assert held(archive) == dict(items), seed


@pytest.mark.parametrize("form", FORMS[1:])
def test_pieces_of_a_tar_with_long_names_are_sound(form: int) -> None:
    whole, _ = made(Random(5), 4, folder="inner/")
    size = 2_048
    files = {f"{'folder/' * 20}x.tar.part{at // size:03d}": whole[at : at + size] for at in range(0, len(whole), size)}
    archive = checked(BytesSource(build(list(files.items()), form), "a.tar"))

    assert codes(archive) == []
    assert held(archive) == files


def test_members_that_all_reach_to_the_end_are_searched_in_linear_time() -> None:
    random = Random(3)
    blocks = []
    for left in range(2_000, 0, -1):
        info = tarfile.TarInfo(f"{left}.bin")
        info.size = (3 * left - 1) * 512
        blocks.append(info.tobuf(tarfile.USTAR_FORMAT) + noise(random, 1_024))

    source = Counted(b"".join(blocks) + bytes(1_024), "a.tar")
    checked(source)

    assert source.bytes <= 40 * source.size


def test_zeros_that_many_members_point_at_are_looked_at_once() -> None:
    zeros = 8_000 * 512
    blocks = []
    for left in range(500, 0, -1):
        inner = tarfile.TarInfo("inner")
        inner.size = (4 * left - 3) * 512
        outer = tarfile.TarInfo(f"{left}.bin")
        outer.size = 1_536
        headers = [each.tobuf(tarfile.USTAR_FORMAT) for each in (outer, inner)]
        blocks += [headers[0], b"\1" * 512, headers[1], b"\1" * 512]
    source = Counted(b"".join(blocks) + bytes(zeros) + b"\1" * 512, "a.tar")
    checked(source)

    assert source.bytes <= 40 * source.size
