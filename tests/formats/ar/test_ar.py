"""Unix ar: the names, tables and damage of its samples, as its own programs read them too (in the sweep)."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.field import census
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import Verdict
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


@pytest.mark.parametrize(
    ("name", "code", "doubtful"),
    [
        ("wrong-size.a", "ar-size", [0]),
        ("wrong-long-name.a", "ar-long-name", [1]),
        ("truncated.a", "ar-truncated", [1]),
        ("wrong-padding.a", "ar-padding", []),
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


@pytest.mark.parametrize("name", ["truncated.a", "wrong-magic.a", "wrong-size.a", "wrong-end.a", "trailing.a"])
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


def test_a_header_that_does_not_end_as_it_should_is_none(sample: Sample) -> None:
    archive = checked(FileSource(sample("wrong-end.a")))

    assert codes(archive) == ["ar-no-header"]
    assert names(archive) == [MAIN]


@pytest.mark.parametrize("stated", [5, 4_000])
def test_a_name_behind_a_header_is_no_longer_than_what_the_header_describes(stated: int) -> None:
    archive = checked(BytesSource(b"!<arch>\n" + ar_member(b"#1/%d" % stated, b"name") + ar_member(b"two", b"more")))

    assert names(archive) == [b"name", b"two"]
    assert [member.size for member in archive.members] == [0, 4]


def test_many_headers_that_claim_one_long_name_take_no_more_memory_than_the_archive() -> None:
    made = b"!<arch>\n" + ar_member(b"//", b"n" * 4_000 + b"\n") + ar_member(b"/0", b"") * 1_000
    archive = opened(BytesSource(made))

    assert sum(map(len, names(archive))) <= 2 * len(made)
    assert names(archive)[-1] == b"/0"


def test_data_of_an_odd_size_may_lack_their_padding() -> None:
    one, two = ar_member(b"one/", b"odd"), ar_member(b"two/", b"even")
    archive = opened(BytesSource(b"!<arch>\n" + one[:-1] + two))

    assert names(archive) == [b"one", b"two"]
    assert codes(archive) == ["ar-padding"]
    assert data(archive, 0) == b"odd"


@pytest.mark.parametrize("name", ["library.a", "bsd.a", "wide-symbols.a", "wrong-size.a"])
def test_structures_are_counted_without_making_their_fields(name: str, sample: Sample) -> None:
    fields = opened(FileSource(sample(name))).fields
    made = [each._replace(children=tuple(each.children)) for each in fields]

    assert census(fields) == census(made)


def test_go_to_knows_the_words_of_the_format(sample: Sample) -> None:
    session = session_of(sample("library.a"))

    assert session.goto("header[3]", 0, 0).start == 278


# ---- what other programs say (in the sweep) ------------------------------------------------------------------------


def printed(*command: str | Path) -> bytes:
    return subprocess.run(command, check=True, capture_output=True).stdout


@pytest.mark.sweep
@pytest.mark.parametrize("flags", ["rcs", "rcU"])
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

    assert names(archive) == printed(AR, "t", path).splitlines()
    assert [member.size for member in archive.members] == list(map(len, files.values()))
    assert codes(archive) == []
    for index, name in enumerate(files):
        assert data(archive, index) == printed(AR, "p", path, name) == files[name]


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["library.a", "bsd.a", "wide-symbols.a", "wrong-padding.a", "truncated.a"])
def test_binutils_lists_the_members_of_the_samples(name: str, sample: Sample) -> None:
    listed = [each for each in printed(AR, "t", sample(name)).splitlines() if not each.startswith(b"__.SYMDEF")]

    assert names(opened(FileSource(sample(name)))) == listed
