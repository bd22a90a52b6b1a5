"""Two locations compared: members, fields and bytes, and which side is right."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.core.span import Span
from inspector.operations.compare.comparing import Comparison, compare
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.compare_views import A, B, Change, Difference, Level
from tests.operations.archives import CONTENTS, caf
from tests.sweeping import each_third

Sample = Callable[[str], Path]
ARCHIVES = ("journey.caf", "two-chunks.rca", "two-resets-spec.rca", "two-entries.tacozip", "plain.zip", "plain.tar")
BYTES, FIELDS, MEMBERS = (frozenset({level}) for level in (Level.BYTES, Level.FIELD, Level.MEMBER))


def found(a: Path, b: Path, **options: object) -> Comparison:
    return compare(str(a), str(b), Progress(), **options)  # type: ignore[arg-type]


def of(comparison: Comparison, level: Level) -> list[Difference]:
    return [each for each in comparison.differences if each.level is level]


def spans_of(comparison: Comparison) -> list[tuple[Span, Span]]:
    return [(each.a.spans[0], each.b.spans[0]) for each in of(comparison, Level.BYTES) if each.a and each.b]


def members_of(comparison: Comparison) -> list[tuple[Change, str | None, str | None]]:
    return [(x.change, x.a and x.a.path, x.b and x.b.path) for x in of(comparison, Level.MEMBER)]


def folder(path: Path, contents: dict[str, bytes]) -> Path:
    for name, data in contents.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def zipped(path: Path, contents: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in contents.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return path


def tarred(path: Path, contents: dict[str, bytes], source: Path) -> Path:
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name in contents:
            archive.add(source / name, name)
    return path


# ---- damaged copies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_equals_its_copy(sample: Sample, tmp_path: Path, name: str) -> None:
    shutil.copyfile(sample(name), tmp_path / name)

    comparison = found(sample(name), tmp_path / name)

    assert comparison.summary.equal is True
    assert comparison.differences == []
    assert comparison.summary.better is None
    size = sample(name).stat().st_size
    assert comparison.summary.byte_counts == {"equal": size, "changed": 0, "added": 0, "removed": 0}
    assert comparison.summary.members["same"] == sum(comparison.summary.members.values()) > 0


@pytest.mark.parametrize("name", each_third(ARCHIVES))
def test_flipped_bytes_are_the_difference(sample: Sample, tmp_path: Path, name: str) -> None:
    data = sample(name).read_bytes()

    @given(st.lists(st.integers(0, len(data) - 1), min_size=1, max_size=4, unique=True))
    def check(flips: list[int]) -> None:
        damaged = bytearray(data)
        for at in flips:
            damaged[at] ^= 1 << at % 8
        (tmp_path / name).write_bytes(damaged)
        comparison = found(sample(name), tmp_path / name, levels=BYTES)
        assert comparison.summary.equal is False
        differing = [at for a, b in spans_of(comparison) if a == b for at in range(*a)]
        assert differing == sorted(flips)
        assert all(each.right != B for each in comparison.differences)

    check()


@pytest.mark.parametrize(
    ("name", "flip", "digest"),
    [
        ("two-entries.tacozip", 3_000, "CRC-32 of DATA/tile_0002.png"),
        ("plain.zip", 1_000, "CRC-32 of DATA/tile_0001.png"),
        ("two-resets-spec.rca", 300, "hash of segment 1"),
        ("two-chunks.rca", 36_950, "hash of segment 2"),
        ("plain.tar", 520, "checksum of the header of journey/readme.txt"),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_the_side_is_right_whose_digest_fits(
    sample: Sample, tmp_path: Path, name: str, flip: int, digest: str, swapped: bool
) -> None:
    data = bytearray(sample(name).read_bytes())
    data[flip] ^= 4
    (tmp_path / name).write_bytes(data)
    pair = (tmp_path / name, sample(name)) if swapped else (sample(name), tmp_path / name)
    right, wrong = (B, A) if swapped else (A, B)

    comparison = found(*pair)

    only = of(comparison, Level.BYTES)[0]
    assert only.right == comparison.summary.better == right
    assert f"{right.upper()} is right: {digest} fits {right.upper()}, not {wrong.upper()}." in only.message
    assert only.message.startswith(f"One bit differs at byte {flip:,}: ")


@pytest.mark.parametrize(
    ("sound", "damaged", "places", "right"),
    [
        ("journey.caf", "damaged-footer.caf", [(10_525, 10_528)], "a"),
        ("two-resets-spec.rca", "flipped-blob-byte.rca", [(400, 401)], "a"),
        ("two-entries.tacozip", "flipped-member-byte.tacozip", [(223, 224)], "a"),
        ("two-entries.tacozip", "padding-not-zero.tacozip", [(43, 44)], "a"),
        ("two-entries.tacozip", "wrong-name.tacozip", [(40, 41)], "a"),
        ("one-blob.rca", "size-reserved.rca", [(0, 2)], "a"),
        ("one-blob.rca", "size-too-small.rca", [(1, 2)], "a"),
        ("one-blob.rca", "wrong-metadata.rca", [(5, 6)], "a"),
    ],
)
def test_a_damaged_sample_differs_from_its_sound_sibling_by_its_damage(
    sample: Sample, sound: str, damaged: str, places: list[tuple[int, int]], right: str
) -> None:
    comparison = found(sample(sound), sample(damaged))

    assert spans_of(comparison) == [(Span(*place), Span(*place)) for place in places]
    assert comparison.summary.better == right
    # The truth, from a loop of its own.
    a, b = sample(sound).read_bytes(), sample(damaged).read_bytes()
    flipped = {at for at, (x, y) in enumerate(zip(a, b, strict=True)) if x != y}
    assert {at for start, stop in places for at in range(start, stop)} == flipped


@pytest.mark.parametrize(
    ("sound", "damaged", "lost", "garbage"),
    [
        ("two-entries.tacozip", "truncated.tacozip", 60, (0, 0)),
        ("one-blob.rca", "truncated.rca", 9, (0, 0)),
        ("one-blob.rca", "torn-in-chunk.rca", 0, (42, 82)),
    ],
)
def test_what_was_cut_off_or_follows_as_garbage_is_one_difference(
    sample: Sample, sound: str, damaged: str, lost: int, garbage: tuple[int, int]
) -> None:
    comparison = found(sample(sound), sample(damaged))

    size, end = sample(sound).stat().st_size, sample(damaged).stat().st_size
    if lost:
        assert spans_of(comparison) == [(Span(size - lost, size), Span(end, end))]
        assert of(comparison, Level.BYTES)[0].message.startswith(
            f"A goes on for {lost} bytes where the other side ends"
        )
    else:
        assert spans_of(comparison) == [(Span(size, size), Span(*garbage))]
    assert comparison.summary.better == "a"


def test_a_wrong_digest_over_whole_bytes_is_the_wrong_side(sample: Sample, tmp_path: Path) -> None:
    data = bytearray(sample("two-resets-spec.rca").read_bytes())
    data[505] ^= 1  # in the hash of segment 1
    (tmp_path / "a.rca").write_bytes(data)

    comparison = found(tmp_path / "a.rca", sample("two-resets-spec.rca"))

    assert [each.right for each in of(comparison, Level.BYTES)] == [B]
    assert [(each.change, each.right) for each in of(comparison, Level.FIELD)] == [(Change.CHANGED, B)]


def test_where_nothing_proves_nothing_is_said(sample: Sample, tmp_path: Path) -> None:
    data = bytearray(sample("journey.caf").read_bytes())
    data[100] ^= 1
    (tmp_path / "b.caf").write_bytes(data)

    comparison = found(sample("journey.caf"), tmp_path / "b.caf")

    assert comparison.summary.better is None
    assert [each.right for each in comparison.differences] == [None] * len(comparison.differences)
    assert "No digest covers these bytes." in comparison.differences[-1].message


def test_neither_is_right_where_both_are_damaged(sample: Sample, tmp_path: Path) -> None:
    data = sample("plain.zip").read_bytes()
    for name, at in (("a.zip", 1_000), ("b.zip", 4_000)):
        (tmp_path / name).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])

    comparison = found(tmp_path / "a.zip", tmp_path / "b.zip")

    assert [each.right for each in of(comparison, Level.BYTES)] == [B, A]
    assert [each.right for each in of(comparison, Level.MEMBER)] == [B, A]
    assert comparison.summary.better == "neither"


def test_archives_that_have_nothing_to_do_with_each_other_are_not_judged(sample: Sample) -> None:
    comparison = found(sample("two-chunks.rca"), sample("flipped-blob-byte.rca"))
    others = found(sample("plain.tar"), sample("flipped-blob-byte.rca"))

    assert others.summary.better is None
    assert {each.right for each in of(comparison, Level.BYTES)} <= {None, A}


def test_a_lost_block_is_one_difference_and_all_behind_it_is_aligned(sample: Sample, tmp_path: Path) -> None:
    data = sample("two-entries.tacozip").read_bytes()
    (tmp_path / "b.tacozip").write_bytes(data[:1_024] + data[1_536:])

    comparison = found(sample("two-entries.tacozip"), tmp_path / "b.tacozip")

    lost, only = of(comparison, Level.BYTES)[0], of(comparison, Level.BYTES)
    assert [each.change for each in only] == [Change.REMOVED]
    assert lost.right == A
    assert lost.message.startswith("512 bytes at byte 1,024 are only in A, as many as whole blocks of a disk")
    assert comparison.summary.byte_counts == {"equal": len(data) - 512, "changed": 0, "added": 0, "removed": 512}


def test_an_append_is_told_as_one(sample: Sample, tmp_path: Path) -> None:
    data = sample("journey.caf").read_bytes()
    (tmp_path / "b.caf").write_bytes(data + bytes(5))

    comparison = found(sample("journey.caf"), tmp_path / "b.caf", levels=BYTES)

    message = f"B goes on for 5 bytes where the other side ends, at byte {len(data):,}"
    assert comparison.differences[0].message.startswith(message)


# ---- members -------------------------------------------------------------------------------------------------------


def test_members_are_changed_added_removed_renamed_and_moved(tmp_path: Path) -> None:
    a = zipped(
        tmp_path / "a.zip", {"one": b"1" * 50, "two": b"2" * 60, "three": b"3" * 70, "old": b"o" * 9, "gone": b"g"}
    )
    b = zipped(
        tmp_path / "b.zip", {"two": b"2" * 60, "three": b"x" * 70, "one": b"1" * 50, "dir/new": b"o" * 9, "more": b""}
    )

    comparison = found(a, b, levels=MEMBERS)

    assert members_of(comparison) == [
        (Change.CHANGED, "three", "three"),
        (Change.MOVED, "one", "one"),
        (Change.RENAMED, "old", "dir/new"),
        (Change.REMOVED, "gone", None),
        (Change.ADDED, None, "more"),
    ]
    counts = {"same": 1, "changed": 1, "added": 1, "removed": 1, "moved": 1, "renamed": 1}
    assert comparison.summary.members == counts
    assert comparison.summary.byte_counts == {}


@given(st.data())
def test_edits_of_the_list_of_members_are_found_exactly(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder_ = tmp_path_factory.mktemp("members")
    names = [f"{number}.bin" for number in range(data.draw(st.integers(1, 12)))]
    edits = {name: data.draw(st.sampled_from(["keep", "keep", "change", "remove", "rename"])) for name in names}
    added = data.draw(st.integers(0, 2))
    before = {name: f"content of {name}".encode() for name in names}
    after: dict[str, bytes] = {}
    for name, content in before.items():
        match edits[name]:
            case "change":
                after[name] = content.upper()
            case "rename":
                after[f"new/{name}"] = content
            case "keep":
                after[name] = content
    after |= {f"added {number}": b"more" for number in range(added)}

    counts = found(zipped(folder_ / "a.zip", before), zipped(folder_ / "b.zip", after), levels=MEMBERS).summary.members

    kinds = list(edits.values())
    assert counts == {
        "same": kinds.count("keep"),
        "changed": kinds.count("change"),
        "removed": kinds.count("remove"),
        "renamed": kinds.count("rename"),
        "added": added,
        "moved": 0,
    }


@given(st.permutations(range(9)), st.sets(st.integers(0, 8), max_size=3))
def test_members_that_changed_their_order_are_found_exactly(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], changed: set[int]
) -> None:
    folder_ = tmp_path_factory.mktemp("order")
    before = {f"{number}.bin": f"content of {number}".encode() for number in range(9)}
    after = {f"{at}.bin": before[f"{at}.bin"].upper() if at in changed else before[f"{at}.bin"] for at in order}

    comparison = found(zipped(folder_ / "a.zip", before), zipped(folder_ / "b.zip", after), levels=MEMBERS)

    same = [at for at in order if at not in changed]
    moved = [
        int(each.b.path[0]) for each in comparison.differences if each.change is Change.MOVED and each.b and each.b.path
    ]
    stay = [at for at in same if at not in moved]
    # The truth, from a loop of its own: the fewest members that can move so that the others are in their order.
    longest = max(
        (len(some) for size in range(len(same) + 1) for some in combinations(same, size) if list(some) == sorted(some)),
    )
    assert stay == sorted(stay)
    assert len(stay) == longest
    assert comparison.summary.members["changed"] == len(changed)
    assert comparison.summary.members["same"] == len(stay)


def test_a_damaged_copy_records_the_same_digest_but_is_changed(sample: Sample, tmp_path: Path) -> None:
    data = bytearray(sample("plain.zip").read_bytes())
    data[1_000] ^= 1
    (tmp_path / "b.zip").write_bytes(data)

    assert members_of(found(sample("plain.zip"), tmp_path / "b.zip", levels=MEMBERS)) == [
        (Change.CHANGED, "DATA/tile_0001.png", "DATA/tile_0001.png")
    ]
    quick = found(sample("plain.zip"), tmp_path / "b.zip", quick=True)
    assert quick.differences == []
    assert quick.summary.equal is None
    assert quick.summary.notes == ("Recorded digests equal; contents not read.",)


def test_a_quick_look_tells_what_the_records_tell(tmp_path: Path) -> None:
    a = zipped(tmp_path / "a.zip", {"one": b"1", "old": b"o" * 9})
    b = zipped(tmp_path / "b.zip", {"one": b"2", "new": b"o" * 9})

    quick = found(a, b, quick=True)

    assert members_of(quick) == [(Change.CHANGED, "one", "one"), (Change.RENAMED, "old", "new")]
    assert quick.summary.equal is False
    assert "the contents were not read" in quick.differences[0].message
    without = found(caf(tmp_path / "a.caf"), caf(tmp_path / "b.caf"), quick=True)
    assert without.summary.equal is None
    assert without.summary.members["not compared"] == len(CONTENTS)


def test_members_are_compared_across_formats_and_with_a_folder(tmp_path: Path) -> None:
    files = folder(tmp_path / "files", CONTENTS)
    one, two = caf(tmp_path / "a.caf"), zipped(tmp_path / "a.zip", CONTENTS)
    three = tarred(tmp_path / "a.tar", CONTENTS, files)

    for a, b in ((one, files), (files, one), (two, three), (one, two), (files, files), (three, files)):
        comparison = found(a, b)
        assert (comparison.summary.equal, comparison.differences) == (True, [])
        assert comparison.summary.members["same"] == len(CONTENTS)
        assert comparison.alignment is None

    (files / "a.txt").write_bytes(b"ONE\n")
    (files / "more.txt").write_bytes(b"more")
    assert members_of(found(one, files)) == [(Change.CHANGED, "a.txt", "a.txt"), (Change.ADDED, None, "more.txt")]
    changed = found(one, files).differences[0]
    assert changed.message == "a.txt changed: its content differs from byte 0 of 4 on."


def test_a_member_that_cannot_be_read_is_changed_and_says_why(sample: Sample, tmp_path: Path) -> None:
    data = bytearray(sample("plain.zip").read_bytes())
    data[4_952] |= 6  # no such type of a deflate block
    (tmp_path / "b.zip").write_bytes(data)

    changed = of(found(sample("plain.zip"), tmp_path / "b.zip", levels=MEMBERS), Level.MEMBER)[0]

    assert (changed.change, changed.right) == (Change.CHANGED, A)
    assert "cannot be read in B" in changed.message


def test_a_member_that_lost_its_name_is_only_on_one_side(sample: Sample) -> None:
    comparison = found(sample("two-resets-spec.rca"), sample("flipped-blob-byte.rca"))

    assert members_of(comparison) == [(Change.REMOVED, "station-2/2024-05.log", None)]
    assert comparison.summary.better == A


def test_datasets_are_compared_range_by_range(sample: Sample, tmp_path: Path) -> None:
    shutil.copytree(sample("weather"), tmp_path / "weather")
    assert found(sample("weather"), tmp_path / "weather").summary.equal is True
    tar = next((tmp_path / "weather").rglob("*.tar"))
    data = bytearray(tar.read_bytes())
    data[515] ^= 1
    tar.write_bytes(data)

    comparison = found(sample("weather"), tmp_path / "weather")

    changed = [(each.level, each.change) for each in comparison.differences]
    assert changed == [(Level.RANGE, Change.CHANGED), (Level.MEMBER, Change.CHANGED)]
    assert comparison.summary.equal is False
    assert comparison.differences[0].right == A
    assert comparison.summary.ranges["same"] == comparison.summary.ranges["changed"] == 1


def test_metadata_that_differs_beside_equal_ranges_is_a_difference(sample: Sample, tmp_path: Path) -> None:
    shutil.copytree(sample("weather"), tmp_path / "weather")
    metadata = sorted((tmp_path / "weather").rglob("*.tar.metadata"))
    metadata[0].write_bytes(metadata[1].read_bytes())

    comparison = found(sample("weather"), tmp_path / "weather")

    assert comparison.summary.equal is False
    assert [(each.level, each.right) for each in comparison.differences] == [(Level.RANGE, A)]
    assert "of its metadata, there are" in comparison.differences[0].message
    assert comparison.summary.members["same"] == 6
    metadata[0].unlink()
    only = found(tmp_path / "weather", sample("weather")).differences[0]
    assert "only B has metadata beside it" in only.message


def test_ranges_that_only_one_side_has_are_named(sample: Sample, tmp_path: Path) -> None:
    shutil.copytree(sample("weather"), tmp_path / "bucket")
    holder = tmp_path / "bucket" / "dataset" / "weather"
    holder.rename(holder.with_name("renamed"))  # a single dataset may have any name
    gone = sorted((tmp_path / "bucket").rglob("*.tar"))[1]
    gone.unlink()

    comparison = found(sample("weather"), tmp_path / "bucket")

    ranges = [each for each in comparison.differences if each.level is Level.RANGE]
    assert [(each.change, each.a is None) for each in ranges] == [(Change.REMOVED, False), (Change.ADDED, True)]
    assert ranges[0].message == f"The range weather/{gone.name} is only in A."
    assert "metadata without its range, is only in B" in ranges[1].message
    assert comparison.summary.members["removed"] == 2
    assert comparison.summary.members["same"] == 4


def test_datapoints_are_the_same_in_whatever_range_they_stand(sample: Sample) -> None:
    comparison = found(sample("weather"), sample("weather-overlap"))

    moved = [each for each in comparison.differences if each.change is Change.MOVED]
    assert [each.a.path.rpartition("/")[2] for each in moved if each.a and each.a.path] == [
        f"{key:020}.{suffix}" for key, suffix in ((1, "json"), (2, "txt"), (3, "json"), (4, "txt"))
    ]
    unchanged = {"same": 0, "changed": 0, "renamed": 0}
    assert comparison.summary.members == {**unchanged, "added": 1, "removed": 2, "moved": 4}
    assert comparison.summary.ranges == {**unchanged, "added": 2, "removed": 2, "moved": 0}
    assert "the range 00000000000000000001-00000000000000000004.tar of A" in moved[0].message


# ---- fields --------------------------------------------------------------------------------------------------------


def test_fields_that_differ_are_paired_by_name_with_both_values(tmp_path: Path) -> None:
    first = caf(tmp_path / "a.caf", CONTENTS)
    total = sum(map(len, CONTENTS.values()))
    longer = caf(tmp_path / "c.caf", {**CONTENTS, "B.TXT": b"x" * 77})
    changed = [each for each in of(found(first, longer), Level.FIELD) if each.a and each.b]
    assert [(each.a.value, each.b.value) for each in changed if each.a and each.b] == [(total, total + 69)]
    assert "entry B.TXT › end_byte is" in changed[0].message


def test_a_record_that_only_one_side_has_is_one_field(tmp_path: Path) -> None:
    a = zipped(tmp_path / "a.zip", {"one": b"1" * 50, "three": b"3" * 70})
    b = zipped(tmp_path / "b.zip", {"one": b"1" * 50, "two": b"2" * 60, "three": b"3" * 70})

    comparison = found(a, b)

    added = [each for each in of(comparison, Level.FIELD) if each.change is Change.ADDED]
    assert [each.b and each.b.value for each in added] == ["two", "two"]
    offset = [each for each in of(comparison, Level.FIELD) if "three › relative offset" in each.message]
    assert [(each.a and each.a.value, each.b and each.b.value) for each in offset] == [(83, 176)]
    inserted = next(each for each in of(comparison, Level.BYTES) if each.change is Change.ADDED)
    assert inserted.b is not None
    assert inserted.b.spans == (Span(83, 176),)  # the local header and the data, not a part of each neighbour


# ---- what is no archive, and what cannot be read ------------------------------------------------------------------


def test_files_of_no_known_format_are_compared_as_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"some bytes")
    (tmp_path / "b").write_bytes(b"some Bytes")

    comparison = found(tmp_path / "a", tmp_path / "b")

    assert spans_of(comparison) == [(Span(5, 6), Span(5, 6))]
    assert comparison.summary.members == {}


def test_bytes_of_different_formats_are_compared_on_request(sample: Sample) -> None:
    comparison = found(sample("plain.zip"), sample("plain.tar"), levels=BYTES)

    assert comparison.summary.byte_counts["changed"] > 0


def test_what_has_nothing_to_compare_is_not_called_equal(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"bytes")
    files = folder(tmp_path / "files", CONTENTS)

    for a, b, options in (
        (tmp_path / "plain", files, {}),
        (tmp_path / "plain", sample("plain.zip"), {"levels": MEMBERS}),
        (tmp_path / "plain", tmp_path / "plain", {"quick": True}),
        (sample("plain.zip"), files, {"levels": BYTES}),
        (sample("plain.zip"), sample("plain.tar"), {"levels": FIELDS}),
    ):
        with pytest.raises(OperationError, match="compared"):
            found(a, b, **options)


def test_empty_files_are_equal(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(b"")

    assert found(tmp_path / "a", tmp_path / "b").summary.equal is True


def test_the_same_file_is_not_read(sample: Sample) -> None:
    comparison = found(sample("plain.zip"), sample("plain.zip"))

    assert comparison.summary.equal is True
    assert comparison.summary.notes == ("Both are the same file.",)


def test_what_cannot_be_read_is_not_compared(sample: Sample, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        found(sample("plain.zip"), tmp_path / "nothing")
    cancelled = Progress()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        compare(str(sample("plain.zip")), str(sample("plain.tar")), cancelled)
