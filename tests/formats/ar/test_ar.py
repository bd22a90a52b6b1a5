"""Unix ar: the names, tables and damage of its samples, as its own programs read them too (in the sweep)."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.field import census, locate
from inspector.core.format import MemberError
from inspector.core.kinds import Kind
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import Verdict
from inspector.formats.ar.layout import AR_HEADER, SYMBOL_TABLE
from inspector.operations.open.listing import content
from inspector.operations.open.opening import Opened
from inspector.sources.local.file import FileSource
from tests.formats.archives import checked, opened
from tests.operations.archives import opened as session_of
from tests.samples.writers import ar_member, gnu_ar

Sample = Callable[[str], Path]
MAIN, LONG = b"main.o", b"an-object-with-a-long-name.o"
AR = "ar"


def names(archive: Opened) -> list[bytes]:
    return [member.path for member in archive.members]


def codes(archive: Opened) -> list[str]:
    return [each.code for each in archive.findings]


def data(archive: Opened, index: int) -> bytes:
    return b"".join(content(archive, index, Progress()))


@pytest.mark.parametrize("name", ["library.a", "bsd.a", "wide-symbols.a"])
def test_names_and_content_are_those_of_the_dialect(name: str, sample: Sample) -> None:
    archive = opened(FileSource(sample(name)))

    assert names(archive) == [MAIN, LONG]
    assert data(archive, 0) == b"int main(void) { return answer(); }\n"
    assert data(archive, 1) == b"int answer(void) { return 42; }"
    assert codes(archive) == []


@pytest.mark.parametrize("name", ["library.a", "bsd.a", "wide-symbols.a"])
def test_a_symbol_leads_to_the_member_that_defines_it(name: str, sample: Sample) -> None:
    archive = opened(FileSource(sample(name)))
    table = next(each for each in archive.fields[1].children if each.kind is SYMBOL_TABLE)
    pairs = next(each for each in table.children if each.name == "offsets").children
    offsets = [next((child for child in each.children if child.kind is Kind.OFFSET), each) for each in pairs]

    assert [each.member for each in offsets] == [0, 1]
    for each in offsets:
        assert isinstance(each.value, int)
        assert [field.kind for _, field in locate(archive.fields, each.value)][-2] is AR_HEADER


def test_a_thin_archive_is_called_so_and_its_members_are_elsewhere(sample: Sample) -> None:
    archive = opened(FileSource(sample("thin.a")))

    assert archive.title == "Unix ar archive (thin)"
    assert names(archive) == [b"src/main.o", b"src/answer.o"]
    assert [member.size for member in archive.members] == [36, 31]
    assert codes(archive) == ["ar-thin"]
    with pytest.raises(MemberError, match="a file beside this thin archive, which only names it"):
        data(archive, 0)


@pytest.mark.parametrize(
    ("name", "code", "doubtful"),
    [
        ("wrong-size.a", "ar-size", [0]),
        ("wrong-end.a", "ar-header-end", [1]),
        ("wrong-long-name.a", "ar-long-name", [1]),
        ("truncated.a", "ar-truncated", [1]),
        ("wrong-padding.a", "ar-padding", []),
        ("wrong-symbol.a", "ar-symbol-table", []),
        ("wrong-magic.a", "ar-magic", []),
        ("trailing.a", "ar-no-header", []),
    ],
)
def test_damage_is_named_and_the_members_behind_it_are_listed(
    name: str, code: str, doubtful: list[int], sample: Sample
) -> None:
    archive = checked(FileSource(sample(name)))

    assert code in codes(archive)
    assert names(archive)[0] == MAIN
    assert len(archive.members) == 2
    assert [index for index in range(2) if archive.verdict(index) is Verdict.DOUBTFUL] == doubtful


@pytest.mark.parametrize("name", ["truncated.a", "wrong-magic.a", "wrong-size.a", "wrong-symbol.a", "trailing.a"])
def test_no_cause_is_named_that_nothing_shows(name: str, sample: Sample) -> None:
    archive = checked(FileSource(sample(name)))

    assert [each.code for each in archive.findings if each.code.startswith("cause-")] == []


def test_a_compressed_archive_is_called_so(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / "library.a"
    path.write_bytes(gzip.compress(sample("library.a").read_bytes()))

    assert "cause-compressed" in codes(opened(FileSource(path)))


def test_an_archive_in_an_archive_is_a_member() -> None:
    inner = gnu_ar({"deep.o": b"deep"})
    outer = gnu_ar({"inner.a": inner, "next.o": b"next"})

    assert names(opened(BytesSource(outer))) == [b"inner.a", b"next.o"]
    cut = outer[: 8 + 60 + len(inner)] + b"what is left of a header"
    assert names(opened(BytesSource(cut))) == [b"inner.a"]


@pytest.mark.parametrize(
    ("at", "written", "expected"),
    [
        (16, b"", []),
        (16, b"-1", []),
        (16, b"9e99", ["ar-number"]),
        (28, b"-1", ["ar-number"]),
        (28, b"0x1", ["ar-number"]),
        (34, b"1.2", ["ar-number"]),
        (40, b"100684", ["ar-number"]),
        (40, b"", []),
    ],
)
def test_a_number_in_a_header_is_one_or_left_out(at: int, written: bytes, expected: list[str]) -> None:
    size = {16: 12, 28: 6, 34: 6, 40: 8}[at]
    made = bytearray(gnu_ar({"one.o": b"data", "two.o": b"more"}))
    made[8 + at : 8 + at + size] = written.ljust(size)
    archive = checked(BytesSource(bytes(made)))

    assert (codes(archive), names(archive), data(archive, 1)) == (expected, [b"one.o", b"two.o"], b"more")
    assert not expected or archive.findings[0].spans == ((8 + at, 8 + at + size),)


@pytest.mark.parametrize("stated", [5, 123_456_789_012])
def test_a_name_behind_a_header_is_no_longer_than_what_the_header_describes(stated: int) -> None:
    made = b"!<arch>\n" + ar_member(b"#1/%d" % stated, b"name") + ar_member(b"two", b"more")
    archive = checked(BytesSource(made))

    assert codes(archive) == ["ar-name-size"]
    assert names(archive) == [b"name", b"two"]
    assert [member.size for member in archive.members] == [0, 4]
    assert [archive.verdict(index) is Verdict.DOUBTFUL for index in range(2)] == [True, False]


def test_data_of_an_odd_size_may_lack_their_padding() -> None:
    one, two = ar_member(b"one/", b"odd"), ar_member(b"two/", b"even")
    archive = opened(BytesSource(b"!<arch>\n" + one[:-1] + two))

    assert names(archive) == [b"one", b"two"]
    assert codes(archive) == ["ar-padding"]
    assert data(archive, 0) == b"odd"


@pytest.mark.parametrize("name", ["library.a", "bsd.a", "wide-symbols.a", "wrong-size.a", "thin.a"])
def test_structures_are_counted_without_making_their_fields(name: str, sample: Sample) -> None:
    fields = opened(FileSource(sample(name))).fields
    made = [each._replace(children=tuple(each.children)) for each in fields]

    assert census(fields) == census(made)


def test_go_to_knows_the_words_of_the_format(sample: Sample) -> None:
    session = session_of(sample("library.a"))

    assert session.goto("symbols", 0, 0).start == 8
    assert session.goto("header[3]", 0, 0).start == 278
    assert session.goto("names", 0, 0).start == 0x5C


# ---- what other programs say (in the sweep) ------------------------------------------------------------------------


def printed(*command: str | Path) -> bytes:
    return subprocess.run(command, check=True, capture_output=True).stdout


@pytest.mark.sweep
@pytest.mark.parametrize("flags", ["rcs", "rcST", "rcU"])
def test_binutils_lists_and_extracts_the_same(flags: str, tmp_path: Path) -> None:
    assert shutil.which(AR), "This needs ar, of the package binutils."
    files = {
        "a.txt": b"alpha\n",
        "b": b"",
        "a-name-of-more-than-fifteen-bytes.txt": b"odd",
        "c d.txt": bytes(range(256)),
    }
    for name, inside in files.items():
        (tmp_path / name).write_bytes(inside)
    path = tmp_path / "made.a"
    subprocess.run([AR, flags, path.name, *files], cwd=tmp_path, check=True)
    archive = opened(FileSource(path))

    assert names(archive) == printed(AR, "t", path).splitlines() if "T" not in flags else list(map(str.encode, files))
    assert [member.size for member in archive.members] == list(map(len, files.values()))
    assert set(codes(archive)) <= {"ar-thin"}
    for index, name in enumerate(files):
        if "T" not in flags:
            assert data(archive, index) == printed(AR, "p", path, name) == files[name]


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["library.a", "bsd.a", "wide-symbols.a", "wrong-padding.a", "truncated.a"])
def test_binutils_lists_the_members_of_the_samples(name: str, sample: Sample) -> None:
    listed = [each for each in printed(AR, "t", sample(name)).splitlines() if not each.startswith(b"__.SYMDEF")]

    assert names(opened(FileSource(sample(name)))) == listed
