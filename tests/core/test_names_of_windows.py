"""Names that pass the rules for Windows, judged by the paths of Windows as Python knows them on every system."""

from __future__ import annotations

from pathlib import PureWindowsPath

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector.core.names import hazards, unportable

ROOT = PureWindowsPath("C:\\to")
PIECES = ["a", "b.txt", "CON", "nul", "aux.c", "com1", "LPT9.x", "COM\N{SUPERSCRIPT ONE}", "conin$", ".", "..", "x:s"]
PIECES += ["C:", "a.", "a ", "a~1", "*", "?", '"', "<", "|", "\\", "/", "", " ", "\0", "é"]


def fine(name: str) -> bool:
    return not hazards(name.encode()) and not unportable(name.encode())


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join) | st.text(max_size=20))
def test_a_name_without_a_finding_is_the_same_file_below_the_folder(name: str) -> None:
    assume(name < "\ud800" or name.isprintable())
    assume(fine(name))
    path = ROOT / PureWindowsPath(name)
    assert path.is_relative_to(ROOT)
    assert path.relative_to(ROOT).parts == tuple(part for part in name.split("/") if part)
    assert not path.is_reserved()
    assert all(part == part.rstrip(". ") and ":" not in part for part in path.relative_to(ROOT).parts)


OTHERS = ["CON", "con.txt", "a/NUL", "Aux.tar.gz", "COM1", "lpt9.x", "COM\N{SUPERSCRIPT TWO}", "CONIN$", "conout$.log"]
OTHERS += ["a.", "a/b. ", "a /b", "file:stream", "a:$DATA", "C:a", "C:/a", "a\\b", "\\\\?\\C:\\a", "//host/share/a"]
OTHERS += ["PROGRA~1", "a<b", "a|b", "a?", "a*", 'a"', "../a", "/a"]


@pytest.mark.parametrize("name", OTHERS)
def test_a_name_that_is_another_file_there_is_said(name: str) -> None:
    assert not fine(name)
