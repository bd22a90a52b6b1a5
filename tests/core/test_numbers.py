import pytest

from inspector.core.numbers import count, grouped, hexadecimal, in_bytes, rounded, size_in, verb


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1023 * 1024, "1.0 MiB"),
     (1288490188, "1.2 GiB"), (150 * 2**20, "150 MiB"), (2**70, "1024 EiB")],
)  # fmt: skip
def test_sizes_are_rounded_to_a_unit(size: int, text: str) -> None:
    assert rounded(size) == text


def test_numbers_are_grouped_counted_and_written_in_hex() -> None:
    assert grouped(32768) == "32,768"
    assert in_bytes(1) == "1 byte"
    assert [verb(number, "is", "are") for number in (0, 1, 2)] == ["are", "is", "are"]
    assert in_bytes(32768) == "32,768 bytes"
    assert count(2, "entry", "entries") == "2 entries"
    assert hexadecimal(0x8000) == "0x8000"
    assert hexadecimal(10, 4) == "0x000a"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("32000000000", 32_000_000_000),
        ("7B", 7),
        ("30GB", 30_000_000_000),
        ("30 GiB", 30 << 30),
        ("30g", 30 << 30),
        ("1.5KiB", 1536),
        ("0.0005KB", 0),
        (" 2MB ", 2_000_000),
        ("1EiB", 1 << 60),
    ],
)
def test_a_size_is_read_as_people_write_it(text: str, size: int) -> None:
    assert size_in(text) == size


@pytest.mark.parametrize(
    "text", ["", "GB", "-1", "+1", "1.", ".5", "1e3", "1XB", "1GBB", "1 0", "0x10", "\u0661", "9" * 21]
)
def test_what_is_no_size_is_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        size_in(text)
