"""Writing a Chunk Archive: what it emits is read back, and is what the published writer emits."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.caf import write
from inspector.formats.caf.write import WriteError, Writer, index_pieces, quoted
from tests.formats.archives import codes
from tests.formats.caf.repairing import checked, contents

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).map(str.encode)
FILES = st.dictionaries(NAMES, st.binary(max_size=200), max_size=12)


def written(files: dict[bytes, bytes]) -> bytes:
    """The archive, with its announced size compared at every step."""
    writer, out = Writer(), bytearray()
    for name, content in files.items():
        announced = writer.size_with(name, len(content))
        assert not writer.member(name, len(content), announced - 1)
        assert writer.member(name, len(content), announced)
        assert writer.size == announced
        out += content
    out += b"".join(writer.finish())
    assert len(out) == writer.size
    return bytes(out)


def test_the_index_is_compact_json_with_the_names_sorted() -> None:
    data = written({b"b": b"12345", b"a<&>": b"67"})
    assert data[7:-4] == (
        b'{"format_version":"1.0","files":{"a\\u003c\\u0026\\u003e":{"start_byte":5,"end_byte":7},'
        b'"b":{"start_byte":0,"end_byte":5}}}'
    )
    assert int.from_bytes(data[-4:], "little") == len(data) - 11


def test_an_archive_without_members_is_sound() -> None:
    assert written({}) == b'{"format_version":"1.0","files":{}}' + (35).to_bytes(4, "little")


@given(FILES)
def test_what_is_written_is_read_back(files: dict[bytes, bytes]) -> None:
    archive = checked(written(files))
    assert set(codes(archive)) <= {"caf-name-hazard"}
    assert sorted(contents(archive)) == sorted(files.items())


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_any_name_of_characters_is_json_that_means_it(name: str) -> None:
    text = quoted(name.encode("utf-8", "surrogatepass"))
    # Two halves of a pair side by side are one character to every reader of JSON.
    assert json.loads(text).encode("utf-16", "surrogatepass") == name.encode("utf-16", "surrogatepass")
    assert not any(byte < 0x20 for byte in text)


def test_a_large_index_comes_in_small_pieces() -> None:
    entries = [(b"%06d" % number, number, number + 1) for number in range(20_000)]
    pieces = list(index_pieces(entries))
    assert max(map(len, pieces)) < 70_000
    text = b"".join(pieces)
    assert len(json.loads(text[:-4])["files"]) == 20_000
    assert int.from_bytes(text[-4:], "little") == len(text) - 4


def test_a_name_is_taken_once() -> None:
    writer = Writer()
    writer.member(b"x", 0, 1_000)
    with pytest.raises(WriteError, match=r"'x' is in the archive already"):
        writer.member(b"x", 0, 1_000)


def test_an_index_that_the_footer_cannot_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "MAX_INDEX_SIZE", 100)
    writer = Writer()
    writer.member(b"a", 0, 1_000)
    with pytest.raises(WriteError, match="Put fewer members into one archive"):
        writer.member(b"b", 0, 1_000)
