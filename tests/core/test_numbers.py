import pytest

from inspector.core.numbers import count, grouped, hexadecimal, in_bytes, rounded


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
    assert in_bytes(32768) == "32,768 bytes"
    assert count(2, "entry", "entries") == "2 entries"
    assert hexadecimal(0x8000) == "0x8000"
    assert hexadecimal(10, 4) == "0x000A"
