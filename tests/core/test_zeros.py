"""Where zeros end and begin, against the bytes themselves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, zeros_start, zeros_stop

SIZES = st.sampled_from((0, 1, 7, 4_095, 4_096, 50_000))
PIECES = st.lists(st.tuples(st.sampled_from((b"\0", b"\1")), SIZES), max_size=6)


@given(PIECES, st.integers(0), st.integers(0))
def test_they_end_and_begin_where_the_bytes_say(pieces: list[tuple[bytes, int]], one: int, other: int) -> None:
    data = b"".join(byte * count for byte, count in pieces)
    at, limit = sorted(each % (len(data) + 1) for each in (one, other))
    source = BytesSource(data, "made")

    rest = data[at:limit]
    assert zeros_stop(source, at, limit, Progress()) == limit - len(rest.lstrip(b"\0"))
    assert zeros_start(source, limit, Progress()) == len(data[:limit].rstrip(b"\0"))
