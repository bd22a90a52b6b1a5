from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.caf.scan import Malformed, Scanner, unquoted

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5), max_leaves=20
)


def strict(data: bytes) -> bool:
    """Whether the standard library takes it for JSON as RFC 8259 has it."""

    def refuse(_: str) -> None:
        raise ValueError

    try:
        json.loads(data.decode("utf-8", "surrogateescape"), parse_constant=refuse)
    except ValueError:
        return False
    return True


def scanned(data: bytes) -> bool:
    """Whether the scanner takes it for one strict JSON value."""
    scanner = Scanner(data)
    try:
        scanner.value()
        scanner.space()
    except Malformed:
        return False
    return scanner.at == len(data) and not scanner.deviations


@given(documents, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_any_document_is_passed_in_silence(document: object, ascii_only: bool, indent: int | str | None) -> None:
    data = json.dumps(document, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    assert scanned(data)


@given(documents, st.data())
def test_the_scanner_and_the_standard_library_agree_on_damage(document: object, draw: st.DataObject) -> None:
    data = bytearray(json.dumps(document).encode())
    at = draw.draw(st.integers(0, len(data) - 1))
    data[at] = draw.draw(st.sampled_from(b'{}[],:"\\ 01x-.'))
    assert scanned(bytes(data)) == strict(bytes(data))


@given(st.text(alphabet='{}[]",:\\0 1-eE.tn'))
def test_the_scanner_and_the_standard_library_agree_on_soup(text: str) -> None:
    assert scanned(text.encode()) == strict(text.encode())


@given(st.binary())
def test_any_bytes_are_passed_or_refused_inside_the_data(data: bytes) -> None:
    scanner = Scanner(data)
    try:
        stop = scanner.value().stop
    except Malformed as problem:
        stop = problem.at
    assert 0 <= stop <= len(data)


@given(st.text())
def test_a_string_means_what_was_written(text: str) -> None:
    for ascii_only in (True, False):
        written = json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        assert unquoted(written) == text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_depth_is_bounded(opening: bytes) -> None:
    with pytest.raises(Malformed, match="nested deeper than 64"):
        Scanner(opening * 300_000).value()


def test_sixty_four_levels_are_passed() -> None:
    data = b"[" * 64 + b"]" * 64
    assert Scanner(data).value() == (0, 128)


@pytest.mark.parametrize("data", [b"[1,]", b'{"a":1,}', b'{"a":[{},],}'])
def test_a_trailing_comma_is_noted_and_passed(data: bytes) -> None:
    scanner = Scanner(data)
    assert scanner.value() == (0, len(data))
    places = [place.start for place in scanner.deviations["a comma after the last element"]]
    assert places == [at for at in range(len(data)) if data[at : at + 2] in (b",]", b",}")]


@pytest.mark.parametrize(
    "data", [b"[,]", b"{,}", b"[1,,]", b"[1 2]", b'{"a" 1}', b'{"a":}', b"{1:2}", b'"a', b"", b"]"]
)
def test_what_cannot_be_followed_is_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        Scanner(data).value()
