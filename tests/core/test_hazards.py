import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core import names
from inspector.core.names import hazards


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


@given(st.binary())
def test_any_bytes_are_judged(name: bytes) -> None:
    assert all(hazard for hazard in hazards(name))


@given(st.text("aB0_./- \\:\n", max_size=12).map(str.encode), st.integers(0, 130))
def test_the_short_way_of_ordinary_names_overlooks_no_hazard(name: bytes, deep: int) -> None:
    for each in (name, b"/".join([b"d"] * deep + [name])):
        found = hazards(each)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(names, "_MAX_ORDINARY_BYTES", -1)
            assert found == hazards(each)
