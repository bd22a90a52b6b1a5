"""Names of members: as text, for people, what is dangerous about them, and what is one name on some system."""

from __future__ import annotations

from pathlib import PureWindowsPath

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector.core import names
from inspector.core.names import MAX_NAME, brief, collision_keys, decoded, encoded, hazards, listed, unportable, visible


@given(st.binary())
def test_a_visible_name_is_one_line_of_printable_text(name: bytes) -> None:
    text = visible(name)
    assert all(character.isprintable() for character in text)
    text.encode("utf-8")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain name.txt", "plain name.txt"),
        ("größe/文件", "größe/文件"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("nul\0", "nul␀"),
        ("exe\u202egpj", "exe‹U+202E›gpj"),
        ("zero\u200bwidth", "zero‹U+200B›width"),
        ("<img src=x>", "<img src=x>"),
        (b"\xff", "\\xff"),
        ("\ud800", "‹U+D800›"),
        ("photo\u3164.exe", "photo‹U+3164›.exe"),
        ("❤\ufe0f", "❤‹U+FE0F›"),
        ("e\u0301", "e\u0301"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(name: str | bytes, shown: str) -> None:
    assert visible(name) == shown


IGNORABLE = (
    *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
    *(*range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)),
    *(*range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B)),
    *range(0xE0000, 0xE1000),
)
"""Default_Ignorable_Code_Point of Unicode 16, DerivedCoreProperties.txt: what a renderer shows nothing for."""


def test_a_name_of_more_characters_than_are_remembered_is_escaped_like_each_of_them() -> None:
    text = "".join(map(chr, range(0x3000)))
    assert visible(text * 2) == "".join(map(visible, text)) * 2


def test_everything_a_renderer_may_leave_out_is_made_visible() -> None:
    assert [f"{code:04X}" for code in IGNORABLE if visible(chr(code)) != f"‹U+{code:04X}›"] == []


@given(st.text(st.characters(codec="utf-8")))
def test_text_names_survive(name: str) -> None:
    assert decoded(encoded(name)) == (name, True)


def test_undecodable_names_say_that_something_was_lost() -> None:
    assert decoded(b"a\xffb") == ("a�b", False)
    assert decoded(encoded("\ud800"))[1] is False


@pytest.mark.parametrize(
    ("paths", "number", "said"),
    [
        ([], 0, ""),
        ([], 3, ""),
        ([b"a"], 1, "'a'"),
        ([b"a" * 90], 1, f"'{'a' * 80}'"),
        ([b"a", b"b"], 2, "'a', 'b'"),
        ([b"a", b"b", b"c"], 3, "'a', 'b' and 1 more"),
        ([b"\x1b", b"b"], 5_000, "'\N{SYMBOL FOR ESCAPE}', 'b' and 4,998 more"),
    ],
)
def test_of_many_names_the_first_are_listed(paths: list[bytes], number: int, said: str) -> None:
    assert listed(paths, number, most=2) == said


@given(st.binary(max_size=2_000))
def test_a_name_in_a_sentence_is_short_and_one_that_is_short_is_whole(name: bytes) -> None:
    shown = brief(name)

    assert len(shown) <= MAX_NAME + 1
    assert shown == visible(name) or (len(visible(name)) > MAX_NAME and "…" in shown)


# ---- hazards ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a", "a/b.txt", "docs/報告書.txt", ".hidden", "a/.git/x..y", "folder/", "ab:c", "...", "a b", "❤\ufe0f"]
)
def test_plain_names_are_no_hazard(name: str) -> None:
    assert hazards(name.encode()) == ()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (b"", "empty"),
        (b"../x", "'..'"),
        (b"a/../../x", "'..'"),
        (b"a\\..\\x", "'..'"),
        (b"a/..", "'..'"),
        (b"./a", "'.'"),
        (b".", "'.'"),
        (b"a//b", "empty component"),
        (b"/etc/passwd", "absolute"),
        (b"/", "absolute"),
        (b"\\\\host\\share", "absolute"),
        (b"C:x", "drive letter"),
        (b"a\\b", "backslash"),
        (b"a\0b", "NUL"),
        (b"a\nb", "control"),
        (b"a\x7f", "control"),
        ("a\u2028b".encode(), "control"),
        ("a\u202egpj.exe".encode(), "direction"),
        ("a\u200bb".encode(), "invisible"),
        ("\u3164".encode(), "invisible"),
        ("a\u2800".encode(), "invisible"),
        ("a\U000e0041\U000e007f".encode(), "invisible"),
        ("a\u206ab".encode(), "direction"),
        (b"\xff", "UTF-8"),
        ("\ud800".encode("utf-8", "surrogatepass"), "UTF-8"),
        (b"x" * 70_000, "70,000 bytes"),
        (b"/".join([b"d"] * 200), "200 components"),
    ],
)
def test_each_hazard_is_named(name: bytes, words: str) -> None:
    assert any(words in hazard for hazard in hazards(name))


def test_of_a_limit_what_lies_beyond_is_named_and_nothing_else() -> None:
    assert hazards(b"x" * 65_535) == hazards(b"/".join([b"d"] * 128)) == ()
    assert hazards(b"x" * 65_536) == ("is 65,536 bytes long",)
    assert hazards(b"/".join([b"d"] * 129)) == ("is 129 components deep",)
    assert hazards(b"/etc/passwd") == ("is absolute",)


@given(st.text("aB0_./- \\:\n", max_size=12).map(str.encode), st.integers(0, 130))
def test_the_short_way_of_ordinary_names_overlooks_no_hazard(name: bytes, deep: int) -> None:
    for each in (name, b"/".join([b"d"] * deep + [name])):
        found = hazards(each)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(names, "_MAX_ORDINARY_BYTES", -1)
            assert found == hazards(each)


# ---- what other systems make of a name -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("CON", "'CON', which Windows reserves"),
        ("a/nul.txt", "'nul.txt', which Windows reserves"),
        ("com¹", "reserves"),
        ("conin$", "reserves"),
        ("AUX :stream", "reserves"),
        ("a./b", "ends with a dot or a space"),
        ("a ", "ends with a dot or a space"),
        ("what?", "forbids"),
        ("name:stream", "forbids"),
        ("a|b", "forbids"),
        ("PROGRA~1", "short names"),
        ("docs/LETTER~2.TXT", "short names"),
    ],
)
def test_what_windows_does_not_take_is_named(name: str, words: str) -> None:
    assert any(words in found for found in unportable(name.encode()))


@pytest.mark.parametrize(
    "name", ["", "console", "a/b.txt", "com", "com10", ".git", "../x", "./a", "nulls/x", "größe", "~1"]
)
def test_what_windows_takes_is_portable(name: str) -> None:
    assert unportable(name.encode()) == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Readme", "README"),
        ("straße", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("a/b", "a//b"),
        ("a/b", "./a/./b"),
        ("a\\b", "A/b"),
        ("x/", "x"),
        ("\u1fb3", "\u1fbc"),
        ("a\nb", "A\nb"),
    ],
)
def test_names_that_are_one_on_some_system_have_one_key(first: str, second: str) -> None:
    keys = collision_keys([first.encode(), second.encode()])
    assert keys[0] == keys[1]


def test_other_names_have_other_keys() -> None:
    names = [b"a", b"b", b"a/b", b"ab", b"..", b"../a", b".a", b"", b"\xff", b"\xfe", "é".encode(), b"e"]
    assert len(set(collision_keys(names))) == len(names)


@given(
    st.lists(st.one_of(st.binary(max_size=6), st.text(max_size=6).map(lambda text: text.encode("utf-8", "replace"))))
)
def test_many_at_a_time_are_folded_like_each_alone(names: list[bytes]) -> None:
    assert collision_keys(names) == [collision_keys([name])[0] for name in names]


@given(st.binary())
def test_any_bytes_are_judged(name: bytes) -> None:
    assert all([*hazards(name), *unportable(name)])


# ---- Windows, as Python knows its paths on every system --------------------------------------------------------------

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
