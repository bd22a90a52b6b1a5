"""Paths of which the system cannot say what is there: a sentence, not the error of a library."""

from __future__ import annotations

import errno

import pytest

from inspector.sources.local.disk_calls import unusable


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/a/b"), "no permission to enter one of its folders"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "/a/b"), "/a/b is not a usable path: file name too long."),
        (ValueError("embedded null byte"), "NUL"),
    ],
)
def test_why_a_path_cannot_be_used_is_a_sentence(error: OSError | ValueError, sentence: str) -> None:
    said = unusable("/a/b", error)
    assert sentence in said
    assert "Errno" not in said
    assert said.endswith(".")
