"""Edits as files: what is written is read again, and what does not fit is refused in a sentence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.edit import Edit, Patch
from inspector.core.source import BytesSource
from inspector.operations.edit.edits import MAX_PATCH_BYTES, decoded, encoded
from inspector.operations.jobs.operation_error import OperationError

DATA = bytes(range(50))
EDIT = Edit("Change", (Patch(40, DATA[40:44], b"wxyz"), Patch(3, DATA[3:5], b"ab")), 50, 45)


def test_a_patch_comes_back_as_it_was() -> None:
    assert decoded(BytesSource(encoded(EDIT)), BytesSource(DATA)) == EDIT


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "other"}, "unknown kind"),
        ({"version": 2}, "later version"),
        ({"old_size": 51}, "51 bytes"),
        ({"patches": [{"offset": 3, "old": "ffff", "new": "0000"}]}, "the file has other bytes"),
        ({"patches": [{"offset": 3, "old": "0", "new": "00"}]}, "no valid patch"),
        ({"patches": [{"offset": -3, "old": "00", "new": "00"}]}, "no valid patch"),
        ({"patches": [{"offset": 3, "old": "0304", "new": "00"}]}, "no valid patch"),
        ({"extra": 1}, "no valid patch"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], words: str) -> None:
    file = json.loads(encoded(EDIT)) | change
    with pytest.raises(OperationError, match=words):
        decoded(BytesSource(json.dumps(file).encode()), BytesSource(DATA))


def test_a_label_of_a_stranger_is_cut_off() -> None:
    file = json.loads(encoded(EDIT)) | {"label": "x" * 5_000}
    assert decoded(BytesSource(json.dumps(file).encode()), BytesSource(DATA)).label == "x" * 200


def test_a_file_that_is_too_large_is_not_read() -> None:
    class Large(BytesSource):
        def read(self, offset: int, length: int) -> bytes:  # noqa: ARG002 - a Source's
            raise AssertionError("It is read.")

    large = Large(b"", "large.json")
    large.size = MAX_PATCH_BYTES + 1
    with pytest.raises(OperationError, match=r"large\.json is too large"):
        decoded(large, BytesSource(DATA))


@given(st.binary(max_size=200))
def test_any_other_file_is_refused(data: bytes) -> None:
    with pytest.raises(OperationError):
        decoded(BytesSource(data), BytesSource(DATA))
