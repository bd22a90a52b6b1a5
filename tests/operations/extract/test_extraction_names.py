"""Hostile names: whatever an archive calls its members, nothing appears outside the folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.operations.extract.selection import MAX_COMPONENT_BYTES, parts_of, refusal, with_number, with_suffix
from inspector.operations.protocol.extraction_views import ExtractionOptions, OnConflict
from tests.operations.extract.extracting import BUILD, archive, extract, files, tree

HOSTILE = {
    "N1 leaves the folder": "../out.txt",
    "N1 by a detour": "a/../../out.txt",
    "N1 at the end": "a/..",
    "N1 with four dots": "....//....//../out.txt",
    "N1 by backslashes": "..\\out.txt",
    "N1 inside": "a/../b.txt",
    "N2 absolute": "/tmp/archive-inspector-out.txt",
    "N2 a host": "//host/share/out.txt",
    "N2 a drive": "C:\\out.txt",
    "N2 a drive's own folder": "C:out.txt",
    "N2 a device path": "\\\\?\\C:\\out.txt",
    "N5 a NUL": "good.txt\0.exe",
    "N6 a control character": "a\x1b[31m.txt",
    "N6 a line end": "a\nb.txt",
    "N6 C1": "a\x9bb.txt",
    "N6 a line separator": "a\u2028b.txt",
    "N12 empty": "",
    "N12 a dot": ".",
    "N12 two dots": "..",
    "N12 a slash": "/",
    "N13 a long component": "x" * 300,
    "N13 deep": "d/" * 200 + "x",
}


CANNOT_HOLD = {("rca", "good.txt\0.exe"), ("tar", "good.txt\0.exe"), ("tar", "")}
"""Formats in which a name ends with its first NUL, and one in which a name that is empty is not heeded."""


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, name, id=f"{kind}-{what}")
        for kind in BUILD
        for what, name in HOSTILE.items()
        if (kind, name) not in CANNOT_HOLD
    ],
)
def test_a_hostile_name_is_refused_by_name_and_the_others_are_extracted(tmp_path: Path, kind: str, name: str) -> None:
    room = tmp_path / "room"
    room.mkdir()
    path = archive(room, kind, [("before.txt", b"1"), (name, b"EVIL"), ("after/it.txt", b"2")])
    before = tree(tmp_path)

    result = extract(path, room / "to")

    assert files(room / "to") == {"before.txt": b"1", "after/it.txt": b"2"}
    assert {key: value for key, value in tree(tmp_path).items() if not key.startswith(b"room/to")} == before
    assert not Path("/tmp/archive-inspector-out.txt").exists()
    assert (result.refused.count, result.whole, result.files) == (1, False, 2)
    assert "is not extracted: its name" in result.refused.listed[0].sentence


@pytest.mark.parametrize("kind", BUILD)
def test_components_that_lead_nowhere_are_left_out(tmp_path: Path, kind: str) -> None:
    path = archive(tmp_path, kind, [("./a//b.txt", b"1"), ("c/./d.txt", b"2"), ("e\\f.txt", b"3")])
    result = extract(path, tmp_path / "to")
    assert files(tmp_path / "to") == {"a/b.txt": b"1", "c/d.txt": b"2", "e\\f.txt": b"3"}
    assert result.whole


def test_a_name_that_is_not_utf_8_keeps_its_bytes(tmp_path: Path, sample: object) -> None:
    name = sample("name-not-utf8.rca")  # type: ignore[operator]
    result = extract(name, tmp_path / "to")
    assert set(tree(tmp_path / "to")) == {b"\xff\xfe"}
    assert result.files == 1


@pytest.mark.parametrize("kind", BUILD)
@pytest.mark.parametrize("name", ["\u202egpj.exe", "a\u200bb.txt", "soft\u00adhyphen"])
def test_a_name_with_invisible_characters_needs_a_word_and_is_kept_exactly(
    tmp_path: Path, kind: str, name: str
) -> None:
    path = archive(tmp_path, kind, [("plain.txt", b"1"), (name, b"2")])

    result = extract(path, tmp_path / "to")
    assert files(tmp_path / "to") == {"plain.txt": b"1"}
    assert (result.doubtful.count, result.whole) == (1, False)

    result = extract(path, tmp_path / "again", ExtractionOptions(doubtful=True))
    assert files(tmp_path / "again") == {"plain.txt": b"1", name: b"2"}
    assert result.whole


@pytest.mark.parametrize("kind", BUILD)
@pytest.mark.parametrize(
    ("first", "second"),
    [("a.txt", "a.txt"), ("a.txt", "A.TXT"), ("caf\u00e9", "cafe\u0301"), ("a//b", "a/b"), ("STRASSE", "straße")],
)
def test_of_names_that_are_one_somewhere_the_first_is_extracted(
    tmp_path: Path, kind: str, first: str, second: str
) -> None:
    path = archive(tmp_path, kind, [(first, b"1"), (second, b"22")])

    result = extract(path, tmp_path / "to")
    assert list(files(tmp_path / "to").values()) == [b"1"]
    assert (result.conflicts.count, result.whole) == (1, False)

    result = extract(path, tmp_path / "both", ExtractionOptions(OnConflict.RENAME))
    assert sorted(files(tmp_path / "both").values()) == [b"1", b"22"]
    assert len({name.casefold() for name in files(tmp_path / "both")}) == 2
    assert result.whole


@pytest.mark.parametrize("kind", BUILD)
@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "a"), ("A/b/c", "a/B")])
def test_a_name_is_not_a_file_and_a_folder(tmp_path: Path, kind: str, names: tuple[str, str]) -> None:
    path = archive(tmp_path, kind, [(name, name.encode()) for name in names])
    longest, shortest = sorted(names, key=len, reverse=True)

    result = extract(path, tmp_path / "to")
    assert files(tmp_path / "to") == {longest: longest.encode()}
    assert [problem.path for problem in result.conflicts.listed] == [shortest]

    extract(path, tmp_path / "both", ExtractionOptions(OnConflict.RENAME))
    assert files(tmp_path / "both") == {longest: longest.encode(), f"{shortest} (2)": shortest.encode()}


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_a_name_that_is_not_refused_stays_inside(name: str) -> None:
    path = name.encode()
    if refusal(path):
        return
    parts = parts_of(path)
    assert parts
    assert not {b"", b".", b".."} & set(parts)
    assert all(b"/" not in part and b"\0" not in part and len(part) <= MAX_COMPONENT_BYTES for part in parts)
    assert not path.startswith((b"/", b"\\"))


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/"), min_size=1, max_size=300))
def test_a_numbered_name_is_another_component_that_fits(name: str) -> None:
    cut = with_suffix(name.encode(), b".damaged")
    found = [with_number(cut, number) for number in (2, 3, 1000)]
    assert len({*found, cut}) == 4
    assert max(map(len, found)) <= MAX_COMPONENT_BYTES
    for each in (cut, *found):
        each.decode()


def test_numbers_stand_before_the_ending() -> None:
    assert with_number(b"report.tar.gz", 2) == b"report (2).tar.gz"
    assert with_number(b".profile", 3) == b".profile (3)"
    assert with_number(b"README", 2) == b"README (2)"
