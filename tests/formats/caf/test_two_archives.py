"""Two Chunk Archives one after the other, as ``cat a.caf b.caf`` makes them."""

from __future__ import annotations

import pytest

from tests.formats.archives import codes
from tests.formats.caf.building import build_archive
from tests.formats.caf.repairing import checked, contents, edits, repaired, salvaged
from tests.samples.writers import index_json, ranges_of


def archive_of(files: dict[str, bytes]) -> bytes:
    return build_archive(index_json(ranges_of(files)), b"".join(files.values()))


FIRST = archive_of({"a": b"first", "b": b"archive"})
FILES = {"c": b"the second", "d": b"", "e": b"one"}
MEMBERS = [(name.encode(), content) for name, content in FILES.items()]


@pytest.mark.parametrize("first", [FIRST, archive_of({}), FIRST + archive_of({"x": b"1"})])
def test_members_of_the_second_archive_are_found_where_they_are(first: bytes) -> None:
    before = checked(first + archive_of(FILES))
    assert codes(before) == ["caf-two-archives"]
    assert before.findings[0].spans == ((0, len(first)),)
    (repair,) = edits(before)
    assert repair.claim
    after = repaired(before, claims=True)
    assert codes(after) == ["caf-gap"]
    assert contents(after) == MEMBERS


def test_no_archive_is_made_of_bytes_that_are_not_those_of_the_members() -> None:
    assert salvaged(checked(FIRST + archive_of(FILES))) is None


@pytest.mark.parametrize("after", [b"", b"x", FIRST[1:], FIRST[:-4] + b"\0\0\0\0"])
def test_an_archive_among_the_members_is_no_first_archive(after: bytes) -> None:
    """Nor does it matter that bytes were inserted, even as many."""
    data = FIRST + b"more"
    before = checked(build_archive(index_json([("in.caf", 0, len(FIRST)), ("b", len(FIRST), len(data))]), data + after))
    assert codes(before) == (["caf-shifted"] if after else [])
