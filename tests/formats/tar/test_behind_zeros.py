"""Members behind zeros, at any byte, and in the data of a member that lost bytes; what ends an archive; zeros alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.core.archive import Archive
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import State, Verdict
from inspector.formats._tar import header as heads
from inspector.formats._tar.header import BLOCK, MAX_ZERO_SEARCH_BYTES, Header, parse
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.edit.apply_repairs import save_salvage
from inspector.operations.open.opening import Opened, decode, start
from inspector.operations.protocol.extraction_views import ExtractionOptions
from inspector.sources.local.file import FileSource
from tests.counting import Counted
from tests.formats.archives import assert_covered, checked, codes, planned
from tests.formats.tar.tar_building import build, content
from tests.operations.extract.extracting import extract, files

MEMBERS = [(f"{number}.txt", b"%d " % number * 700) for number in range(9)]
SOUND = build(MEMBERS)
STEP = (len(SOUND) - 1024) // 9
ALL = [name for name, _ in MEMBERS]


def opened(data: bytes) -> Opened:
    archive = checked(BytesSource(data, "made.tar"))
    assert_covered(archive)
    return archive


def names(archive: Archive) -> list[str]:
    return [archive.members.path(at).decode() for at in range(len(archive.members))]


def state(archive: Opened) -> State:
    return state_of((archive,))


def zeroed(low: int, high: int) -> bytes:
    return SOUND[:low] + bytes(high - low) + SOUND[high:]


def test_the_first_4_kib_are_zeros() -> None:
    data = build([(name, text * 3) for name, text in MEMBERS])
    archive = opened(bytes(4096) + data[4096:])
    assert names(archive) == ALL[1:]
    assert state(archive) is State.DAMAGED
    assert codes(archive) == ["tar-zeros-inside"]


def test_a_hole_of_5_mib_leaves_what_is_behind_it() -> None:
    big = [(f"{number}.bin", bytes([number + 1]) * (1 << 20)) for number in range(13)]
    data = bytearray(build(big))
    data[4 << 20 : 9 << 20] = bytes(5 << 20)
    archive = opened(bytes(data))
    assert names(archive) == [name for name, _ in big if name not in ("4.bin", "5.bin", "6.bin", "7.bin", "8.bin")]
    assert [archive.verdict(at) for at in (2, 3, 4)] == [
        Verdict.NOT_CHECKABLE,
        Verdict.DOUBTFUL,
        Verdict.NOT_CHECKABLE,
    ]
    assert state(archive) is State.DAMAGED


@pytest.mark.parametrize("size", [1024, 10240])
def test_zeros_alone_are_an_empty_archive(size: int) -> None:
    archive = opened(bytes(size))
    assert (codes(archive), state(archive)) == ([], State.SOUND)


def test_zeros_past_the_padding_of_the_record_are_a_warning() -> None:
    assert codes(opened(SOUND + bytes(-len(SOUND) % 10240))) == []
    archive = opened(SOUND + bytes(30720))
    assert (codes(archive), state(archive)) == (["tar-zeros-after-end"], State.WARNING)


def test_a_zeroed_tail_that_reaches_into_a_member_is_damage() -> None:
    data = build([*MEMBERS, ("last", b"x" * 40000)])
    cut = len(data) - 30720
    archive = opened(data[:cut] + bytes(30720))
    assert codes(archive) == []  # as far as a record: nothing in a tar tells it from the end
    archive = opened(data[:cut] + bytes(61440))
    assert codes(archive) == ["tar-zeros-inside"]
    assert archive.verdict(9) is Verdict.DOUBTFUL


@pytest.mark.parametrize("zeros", [b"", bytes(-len(SOUND) % 10240)])
def test_joined_archives_are_listed_with_a_warning(zeros: bytes) -> None:
    archive = opened(SOUND + zeros + SOUND + zeros + SOUND)
    assert names(archive) == ALL * 3
    assert state(archive) is State.WARNING
    (finding,) = (each for each in archive.findings if each.code == "tar-data-after-end")
    assert "another archive" in finding.message
    assert finding.spans[0].start == len(SOUND + zeros)


@pytest.mark.parametrize("blocks", [1, 3, 7])
def test_a_header_behind_other_zeros_is_damage(blocks: int) -> None:
    archive = opened(SOUND[: 2 * STEP] + bytes(BLOCK * blocks) + SOUND[2 * STEP :])
    assert names(archive) == ALL
    assert state(archive) is State.DAMAGED


def test_a_zeroed_header_costs_its_member_only() -> None:
    archive = opened(zeroed(3 * STEP, 3 * STEP + BLOCK))
    assert names(archive) == ALL[:3] + ALL[4:]
    (finding,) = archive.findings
    assert (finding.code, finding.severity) == ("tar-zeros-inside", Severity.ERROR)
    assert finding.spans == ((3 * STEP, 3 * STEP + BLOCK),)


def test_a_lost_last_header_is_damage_if_the_end_follows() -> None:
    archive = opened(zeroed(8 * STEP, 8 * STEP + BLOCK))
    assert names(archive) == ALL[:8]
    assert codes(archive) == ["tar-zeros-inside"]


def test_missing_end_blocks_alone_are_a_warning() -> None:
    archive = opened(SOUND[:-1024])
    assert (codes(archive), state(archive)) == (["tar-end-missing"], State.WARNING)
    assert "may be cut off" in archive.findings[0].message


@pytest.mark.parametrize("lost", [1, 100, 512, 513, STEP + 3])
def test_headers_that_come_too_early_are_found(lost: int) -> None:
    at = 2 * STEP + BLOCK + 40
    archive = opened(SOUND[:at] + SOUND[at + lost :])
    gone = {2, 3} if lost > STEP else {2}
    assert set(ALL) - set(names(archive)) <= {f"{number}.txt" for number in gone - {2}}
    assert [archive.verdict(each) is Verdict.DOUBTFUL for each in range(4)] == [False, False, True, False]
    if lost % STEP > 136:  # more than its padding
        with pytest.raises(MemberError, match="cut off"):
            content(archive, 2)
    assert codes(archive) == ["tar-shift"]


@pytest.mark.parametrize("more", [1, 100, 513, 3000])
def test_headers_that_come_too_late_are_found(more: int) -> None:
    at = 2 * STEP + BLOCK + 40
    archive = opened(SOUND[:at] + b"+" * more + SOUND[at:])
    assert names(archive) == ALL
    assert archive.verdict(2) is Verdict.DOUBTFUL
    assert "tar-shift" in codes(archive)


@pytest.mark.parametrize("text", [b"=== part 1 ===\n", b"HTTP/1.1 200 OK\r\n\r\n" * 40])
def test_text_in_front_is_named(text: bytes) -> None:
    archive = opened(text + SOUND)
    assert names(archive) == ALL
    (finding,) = (each for each in archive.findings if each.code == "tar-shift")
    assert finding.spans == ((0, len(text)),)
    assert {archive.verdict(at) for at in range(9)} == {Verdict.NOT_CHECKABLE}


def test_bytes_inserted_into_the_last_member() -> None:
    at = 8 * STEP + BLOCK + 3
    archive = opened(SOUND[:at] + b"+" + SOUND[at:])
    assert "tar-shift" in codes(archive)
    assert archive.verdict(8) is Verdict.DOUBTFUL
    archive = opened(SOUND[:at] + SOUND[at + 700 :])
    assert codes(archive) == ["tar-truncated-header"]
    assert archive.verdict(8) is Verdict.DOUBTFUL
    archive = opened(SOUND[:at] + SOUND[at + 300 :])
    assert codes(archive) == ["tar-end-short", "tar-shift"]
    assert archive.verdict(8) is Verdict.DOUBTFUL


def test_the_members_of_a_tar_inside_are_not_those_of_the_archive() -> None:
    data = bytearray(build([("inner.tar", SOUND), ("next", b"n" * 600), ("last", b"l")]))
    for low, new in (
        (BLOCK + len(SOUND), bytes(BLOCK)),
        (BLOCK + len(SOUND), b"\xff" * BLOCK),
        (BLOCK + len(SOUND) + 100, b""),
    ):
        harmed = data[:low] + new + data[low + BLOCK :]
        assert names(opened(bytes(harmed)))[:1] == ["inner.tar"]
        assert not set(names(opened(bytes(harmed)))) & set(ALL)
    assert names(opened(bytes(data[: 3 * STEP]))) == ["inner.tar"]


def test_damage_of_one_kind_is_one_finding() -> None:
    data = bytearray(SOUND)
    for number in (1, 3, 5):
        data[number * STEP : number * STEP + BLOCK] = bytes(BLOCK)
    archive = opened(bytes(data))
    (finding,) = archive.findings
    assert len(finding.spans) == 3
    assert "2 more places" in finding.message


def test_extraction_leaves_out_what_is_doubtful_and_gives_it_on_a_word(tmp_path: Path) -> None:
    low, high = 2 * STEP + 900, 4 * STEP
    path = tmp_path / "made.tar"
    path.write_bytes(zeroed(low, high))
    result = extract(path, tmp_path / "to")
    assert set(files(tmp_path / "to")) == set(ALL) - {"2.txt", "3.txt"}
    assert not result.whole
    assert result.damaged.count == 1
    extract(path, tmp_path / "all", ExtractionOptions(doubtful=True))
    assert set(files(tmp_path / "all")) == set(ALL) - {"3.txt"}


def test_a_member_that_lost_bytes_is_not_extracted(tmp_path: Path) -> None:
    path = tmp_path / "made.tar"
    path.write_bytes(SOUND[:1000] + SOUND[1200:])
    extract(path, tmp_path / "to", ExtractionOptions(doubtful=True))
    assert set(files(tmp_path / "to")) == set(ALL) - {"0.txt"}


def test_a_member_with_a_damaged_header_needs_a_word(tmp_path: Path) -> None:
    path = tmp_path / "made.tar"
    path.write_bytes(b"x" + SOUND[1:])
    extract(path, tmp_path / "to")
    assert set(files(tmp_path / "to")) == set(ALL[1:])
    extract(path, tmp_path / "all", ExtractionOptions(doubtful=True))
    assert set(files(tmp_path / "all")) == {"x.txt", *ALL[1:]}


@pytest.mark.parametrize(
    "filling",
    [
        b"ustar",
        b"ustar\x0000000000",
        b"\0" * 256 + b"\1",
        SOUND[:300],
        SOUND[:BLOCK],
        b"0" * 512,
        bytes(512) + b"\1" * 512,
    ],
)
def test_bytes_that_look_like_headers_are_searched_in_linear_time(
    filling: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = 0

    def counted(block: bytes) -> Header:
        nonlocal parsed
        parsed += 1
        return parse(block)

    monkeypatch.setattr(heads, "parse", counted)
    data = SOUND[:-1024] + b"torn".ljust(BLOCK, b"\xff") + (filling * (1 << 18))[: 1 << 20]
    source = Counted(data, "made.tar")
    archive = checked(source)
    assert names(archive)[:9] == ALL
    assert source.bytes < 8 * len(data)
    assert parsed < 10_000


def test_members_in_no_doubt_are_saved_in_a_new_tar_on_a_word(tmp_path: Path) -> None:
    path = tmp_path / "made.tar"
    path.write_bytes(zeroed(2 * STEP + 900, 4 * STEP)[: 8 * STEP + 700])
    assert planned(FileSource(path)).salvage is None
    found = planned(FileSource(path), "tar-salvage")
    assert found.salvage is not None
    assert "'2.txt', '8.txt'" in found.salvage.loses[0]
    save_salvage(found, FileSource(path), str(tmp_path / "saved.tar"), Progress())
    archive = checked(FileSource(tmp_path / "saved.tar"))
    assert archive.findings == []
    kept = [(name, text) for name, text in MEMBERS if name not in ("2.txt", "3.txt", "8.txt")]
    assert [(name, content(archive, at)) for at, name in enumerate(names(archive))] == kept


HUGE = 1 << 40


def test_zeros_without_a_tars_name_are_plain_bytes(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    with path.open("wb") as file:
        file.truncate(HUGE)

    assert start(FileSource(path)).decoder is None


def test_zeros_after_the_end_are_looked_at_only_so_far(tmp_path: Path) -> None:
    path = tmp_path / "disk.tar"
    with path.open("wb") as file:
        file.truncate(HUGE)
    archive = start(FileSource(path))
    decode(archive, Progress())

    end, padding, rest = archive.fields
    assert (archive.format, end.spans[0], padding.spans[0].size) == ("tar", (0, 1024), MAX_ZERO_SEARCH_BYTES - 1024)
    assert rest.spans == ((MAX_ZERO_SEARCH_BYTES, HUGE),)
    assert [(finding.code, finding.spans) for finding in archive.findings] == [("tar-data-after-end", rest.spans)]


def of_aix(mode: bytes = b"100666 \0") -> bytearray:
    """A tar of one record as AIX writes it: numbers end with a space and a NUL, and its end was never cleared."""
    made = bytearray(build([("text-file.txt", b"")]).ljust(10_240, b"\0"))
    made[100:108] = mode
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made[:512])
    made[4_120:4_128] = bytes.fromhex("3000f11000000c60")
    return made


@pytest.mark.parametrize(
    ("tar", "state"),
    [(of_aix(), "tar-data-after-end"), (of_aix(b"0000666\0"), "tar-zeros-inside")],
    ids=["aix", "another"],
)
def test_a_record_of_aix_has_other_bytes_than_zeros_after_the_end(tar: bytearray, state: str) -> None:
    archive = start(BytesSource(bytes(tar), "a.tar"))
    decode(archive, Progress())
    assert [finding.code for finding in archive.findings] == [state]
    if state == "tar-data-after-end":
        assert archive.findings[0].spans == ((4_120, 4_128),)
        check_archive(archive, Progress())
        assert [finding.code for finding in archive.findings] == [state]


def test_a_header_behind_zeros_is_found_in_a_tar_of_aix_too() -> None:
    tar = of_aix()
    tar[6_144:6_656] = tar[:512]
    archive = start(BytesSource(bytes(tar), "a.tar"))
    decode(archive, Progress())
    assert len(archive.members) == 2
    assert "tar-zeros-inside" in {finding.code for finding in archive.findings}
