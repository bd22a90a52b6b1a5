"""Members that only their local headers show: all that are whole are saved, and what is said of the others is true."""

from __future__ import annotations

import random
import struct
import zipfile

import pytest

from inspector.core.program.progress import Progress
from inspector.core.repair import Fate
from inspector.formats import _signatures
from inspector.formats._zip import strays
from inspector.operations.edit.apply_repairs import salvage_report
from inspector.operations.edit.plan_repairs import plan
from tests.formats.archives import after, salvaged
from tests.formats.zip.zip_building import checked, contents, ends_of, made, planned, written

SECTOR = 512


def files_of(number: int, seed: int = 5) -> dict[str, bytes]:
    """Files of different sizes that deflate shrinks to about half."""
    rng = random.Random(seed)
    return {
        f"m/{each:04}.txt": " ".join(str(rng.randrange(10**6)) for _ in range(rng.randrange(20, 400))).encode()
        for each in range(number)
    }


FILES = files_of(120)
STREAMED = written(FILES, streamed=True)


def whole_in(data: bytes) -> dict[str, bytes]:
    """What another reader finds by local headers alone that is whole: it follows every signature."""
    found = {}
    at = data.find(b"PK\3\4")
    while at >= 0:
        size = struct.unpack("<H", data[at + 26 : at + 28])[0]
        name = data[at + 30 : at + 30 + size].decode(errors="replace")
        decoder = zipfile.zlib.decompressobj(-15)  # type: ignore[attr-defined]
        try:
            content = decoder.decompress(data[at + 30 + size :])
        except zipfile.zlib.error:  # type: ignore[attr-defined]
            content = b""
        if decoder.eof and content == FILES.get(name):
            found[name] = content
        at = data.find(b"PK\3\4", at + 1)
    return found


def with_zeros(data: bytes, at: int) -> bytes:
    return data[:at] + bytes(SECTOR) + data[at + SECTOR :]


CUT = STREAMED[: len(STREAMED) * 7 // 10]
DAMAGED = with_zeros(CUT, len(CUT) // 2 // SECTOR * SECTOR)


def test_all_whole_members_of_a_streamed_archive_are_saved() -> None:
    whole = whole_in(DAMAGED)
    assert len(whole) > 70
    result = planned(DAMAGED)
    assert contents(salvaged(result)) == whole
    assert result.salvage is not None
    assert result.salvage.outcomes is not None
    fates = {each.path.decode(): each.fate for each in result.salvage.outcomes()}
    assert {name for name, fate in fates.items() if fate is Fate.PROVED} == set(whole)
    lost = {name for name, fate in fates.items() if fate is Fate.LOST}
    assert lost == {name for name in FILES if name.encode() in DAMAGED} - set(whole)
    report = salvage_report(result.salvage)
    assert report is not None
    assert "none is lost" not in report.sentence
    assert "2 are lost" in report.sentence


def test_a_directory_without_members_whose_headers_are_there_needs_consent() -> None:
    result = planned(DAMAGED)
    assert result.repairs == ()
    assert [each.code for each in result.waiting] == ["zip-rebuild-end"]
    assert "2 local headers stand there" in result.waiting[0].claim
    accepted = planned(DAMAGED, "zip-rebuild-end")
    assert contents(after(accepted)) == whole_in(DAMAGED)
    assert after(accepted).startswith(DAMAGED)


@pytest.mark.parametrize("at", range(0, len(CUT) - 2 * SECTOR, len(CUT) // 7))
def test_a_directory_that_leaves_no_header_out_needs_none(at: int) -> None:
    """A zero sector anywhere: either a local header stands in what the new directory leaves out, or none does."""
    damaged = with_zeros(CUT, at)
    plan = planned(damaged)
    rebuilt = next(each for each in (*plan.repairs, *plan.waiting) if each.code == "zip-rebuild-end")
    accepted = planned(damaged, "zip-rebuild-end")
    assert contents(after(accepted)) == whole_in(damaged)
    listed = {each.decode() for each in map(bytes, (each.path for each in accepted.after.members))}
    left = {name for name in FILES if b"PK\3\4" in damaged and _has_header(damaged, name)} - listed
    if rebuilt.needs_consent:
        assert left
    else:
        assert len(left) <= 1, "only the member that the file ends in is cut off unasked"
        assert all(damaged.rindex(b"PK\3\4") == _header(damaged, name) for name in left)


def _header(data: bytes, name: str) -> int:
    return data.find(name.encode()) - 30


def _has_header(data: bytes, name: str) -> bool:
    at = _header(data, name)
    return at >= 0 and data[at : at + 4] == b"PK\3\4"


STORED = written(FILES, streamed=True, method=zipfile.ZIP_STORED)


@pytest.mark.parametrize("cut", [1, 22, 44, 2_000, 8_000])
def test_stored_members_whose_sizes_only_descriptors_have_are_found(cut: int) -> None:
    data = STORED[:-cut]
    result = planned(data)
    ends = ends_of(STORED)
    whole = dict(list(FILES.items())[: sum(end <= len(data) for end in ends)])
    assert contents(after(result) if result.repairs else salvaged(result)) == whole
    assert len(whole) > 100


def test_stored_members_that_moved_are_found_by_what_the_directory_records() -> None:
    data = STORED[:3_000] + b"\n" + STORED[3_000:7_000] + STORED[7_002:]
    saved = contents(salvaged(planned(data)))
    assert len(saved) == len(FILES) - 2
    assert saved.items() <= FILES.items()


def test_no_entry_is_dropped_whose_member_stands_elsewhere() -> None:
    """Bytes are lost in the middle, and others precede the archive: no distance is right for all."""
    data = written(FILES, method=zipfile.ZIP_STORED)
    at = len(data) // 3
    saved = contents(salvaged(planned(b"log line\n" + data[:at] + data[at + 512 :])))
    hit = [name for name, each in FILES.items() if at - 60 - len(each) < data.index(each) < at + 572]
    assert saved == {name: each for name, each in FILES.items() if name not in hit}


def test_a_stored_member_is_not_found_where_its_content_changed() -> None:
    at = STORED.index(FILES["m/0007.txt"])
    data = (STORED[:at] + b"?" + STORED[at + 1 :])[:-100]
    assert contents(salvaged(planned(data))) == {name: each for name, each in FILES.items() if name != "m/0007.txt"}


@pytest.mark.parametrize("left", [3, 4, 5, 29])
def test_a_cut_off_local_header_is_not_overwritten_unasked(left: int) -> None:
    data = STREAMED[: ends_of(STREAMED)[-2] + left]
    result = plan(checked(data), Progress(), (), in_place=True)
    assert made(result) == []
    loses = next(each.loses for each in result.waiting if each.code == "zip-rebuild-end")
    assert any("a cut-off local header" in each for each in loses)
    assert not any("after a member" in each.message for each in checked(data).findings)


def test_without_a_directory_nobody_says_that_none_is_lost() -> None:
    data = STREAMED[ends_of(STREAMED)[0] : STREAMED.index(b"PK\1\2")]
    report = salvage_report(planned(data).salvage)
    assert report is None or "none is lost" not in report.sentence


def test_a_name_that_only_one_header_has_is_not_called_proved() -> None:
    """And a second damage, so that a copy is saved."""
    data = bytearray(written(FILES))
    data[data.rindex(b"m/0119.txt") + 2] ^= 0x40
    data[22] ^= 0x40
    salvage = planned(bytes(data)).salvage
    assert salvage is not None
    assert salvage.outcomes is not None
    fates = {each.path: each.fate for each in salvage.outcomes()}
    assert [path for path, fate in fates.items() if fate is Fate.READABLE] == [b"m/p119.txt"]
    assert any("either may be right" in each for each in salvage.loses)


def test_what_is_found_takes_nothing_from_the_budget() -> None:
    """A thousand times as much is unpacked as the file has, and small members stand in what is read ahead."""
    files = {f"{each}": bytes(400_000) for each in range(60)} | files_of(60)
    data = written(files, streamed=True)
    damaged = with_zeros(data, data.index(b"PK\1\2"))
    assert [each.path.decode() for each in checked(damaged).members] == list(files)
    assert contents(after(planned(damaged))) == files
    damaged = with_zeros(damaged, 0)
    del files["0"], files["1"]
    found = checked(damaged).detail.strays
    assert ({each.name.decode() for each in found.members}, found.unsearched) == (set(files), False)


@pytest.mark.parametrize(
    ("limit", "value"), [("MAX_READS_OF_FILE", 0), ("MAX_STRAYS", 10), ("MAX_SEARCHED_BYTES", 4_096)]
)
def test_where_a_budget_ended_the_search_every_sentence_says_so(
    limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strays, limit, value)
    monkeypatch.setattr(_signatures, "_WINDOW_BYTES", 4096)
    damaged = with_zeros(DAMAGED[:40_960] + bytes(8_192) + DAMAGED[49_152:], 0)
    found = checked(damaged)
    assert not any("none is lost" in each.message for each in found.findings)
    elsewhere = [each.message for each in found.findings if each.code == "zip-elsewhere"]
    assert all("at least" in each for each in elsewhere)
    result = planned(damaged)
    assert made(result) == []
    assert all("local headers" in each.claim for each in result.waiting)
    if result.salvage is None:
        assert limit == "MAX_READS_OF_FILE"
        return
    assert "at least" in result.salvage.title
    report = salvage_report(result.salvage)
    assert report is not None
    assert "at least" in report.sentence
    assert "the search ended before the file" in report.sentence
    assert "none is lost" not in report.sentence
    assert any("not searched" in each for each in result.salvage.loses)


def test_headers_that_lead_to_no_member_are_given_up_after_a_few_times_the_file() -> None:
    """Each leads into the same long deflate stream, whose descriptor is another's."""
    stream = bytearray()
    decoder_sized = zipfile.zlib.compressobj(9, 8, -15)  # type: ignore[attr-defined]
    stream += decoder_sized.compress(bytes(64 << 20)) + decoder_sized.flush()
    head = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 8, 8, 0, 33, 0, 0, 0, 1, 0)
    data = b"".join(head + bytes((65 + each % 26,)) + bytes(stream) for each in range(200))
    archive = checked(data)
    assert archive.detail.strays.unsearched
    assert archive.detail.strays.members == ()
