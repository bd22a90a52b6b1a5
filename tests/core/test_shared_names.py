import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.names import collision_keys, hazards, unportable


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
