"""How ranges cover keys, and what is known of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open import location
from inspector.operations.protocol.views import RANGE_STATES, RangeMetadata, RangeState
from inspector.operations.session.archive_session import ArchiveSession
from tests.samples import writers

Sample = Callable[[str], Path]


def put(root: Path, dataset: str, first: int, last: int, *, metadata: bool = True) -> Path:
    """A range of datapoints, with its metadata."""
    contents = [("txt", f"datapoint {key}".encode()) for key in range(first, last + 1)]
    tar, rows = writers.datarange(first, contents)
    path = root / "dataset" / dataset / "datapoints" / f"{first:020d}-{last:020d}.tar"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(tar)
    if metadata:
        Path(f"{path}.metadata").write_bytes(writers.metadata(rows))
    return path


def states(session: ArchiveSession) -> list[RangeState]:
    return [RANGE_STATES[code] for code in session.range_states(0, 1_000)]


def test_datasets_say_what_they_have(tmp_path: Path) -> None:
    put(tmp_path, "wind", 5, 6)
    put(tmp_path, "rain", 1, 3)
    put(tmp_path, "rain", 3, 4, metadata=False)
    put(tmp_path, "rain", 9, 9).unlink()
    rain, wind = ArchiveSession(str(tmp_path)).datasets()
    assert (rain.name, rain.start, rain.ranges, rain.first, rain.last) == ("rain", 0, 2, 1, 9)
    assert rain.overlaps == ((3, 3),)
    assert [(each.first, each.last) for each in rain.orphans] == [(9, 9)]
    assert rain.beside == ((RangeMetadata.METADATA, 1), (RangeMetadata.NOTHING, 1))
    assert rain.size == sum(path.stat().st_size for path in tmp_path.glob("dataset/rain/*/*.tar"))
    assert (wind.name, wind.start, wind.ranges, wind.overlaps, wind.orphans) == ("wind", 2, 1, (), ())


def test_ranges_come_page_by_page(tmp_path: Path) -> None:
    for first in range(1, 8):
        put(tmp_path, "rain", first, first)
    session = ArchiveSession(str(tmp_path))
    page = session.ranges(2, 3)
    assert (page.total, page.first, [row.first for row in page.rows]) == (7, 2, [3, 4, 5])
    assert session.ranges(6, 100).rows[0].last == 7
    assert session.ranges(100, 5).rows == ()


def test_the_later_layout_is_named(sample: Sample) -> None:
    session = ArchiveSession(str(sample("weather-later")))
    assert session.datasets()[0].beside == ((RangeMetadata.INDEX, 1),)
    assert RangeMetadata.of(session.ranges(0, 1).rows[0].beside) is RangeMetadata.INDEX


def test_what_is_no_collection_has_no_ranges(sample: Sample) -> None:
    session = ArchiveSession(str(sample("journey.caf")))
    assert session.datasets() == ()
    assert session.ranges(0, 10).total == 0


def test_states_follow_reading_and_checking(tmp_path: Path) -> None:
    put(tmp_path, "rain", 1, 3)
    wrong = put(tmp_path, "rain", 4, 6)
    data = bytearray(wrong.read_bytes())
    data[512] ^= 1
    wrong.write_bytes(data)
    put(tmp_path, "rain", 11, 12).unlink()
    session = ArchiveSession(str(tmp_path))
    assert states(session) == [RangeState.NOT_READ] * 2
    session.decode(Progress())
    assert states(session) == [RangeState.NOT_CHECKED] * 2  # the orphan is no damage of the first range
    session.check(Progress())
    assert states(session) == [RangeState.VERIFIED, RangeState.DAMAGED]
    assert session.range_states(1, 1) == bytes([RANGE_STATES.index(RangeState.DAMAGED)])


def test_sound_is_not_verified_where_there_is_nothing_to_compare_with(sample: Sample) -> None:
    session = ArchiveSession(str(sample("weather-later")))
    session.check(Progress())
    assert states(session) == [RangeState.SOUND]


def test_overlapping_ranges_are_not_called_damaged(sample: Sample) -> None:
    session = ArchiveSession(str(sample("weather-overlap")))
    session.check(Progress())
    assert states(session) == [RangeState.VERIFIED] * 2


class Stopping(Progress):
    """Looks at the session whenever the work goes on."""

    def __init__(self, look: Callable[[], object]) -> None:
        super().__init__()
        self._look = look

    def advance(self, count: int) -> None:
        """See Progress."""
        super().advance(count)
        self._look()


def test_a_check_is_followed_range_by_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(location, "_MAX_LOCAL_READS", 1)
    for first in (1, 4, 7):
        put(tmp_path, "rain", first, first + 2)
    torn = put(tmp_path, "rain", 10, 12)
    torn.write_bytes(torn.read_bytes()[:700])
    session = ArchiveSession(str(tmp_path))
    session.decode(Progress())
    seen: dict[tuple[RangeState, ...], None] = {}
    session.check(Stopping(lambda: seen.setdefault(tuple(states(session)))))
    waiting, checking, verified = RangeState.NOT_CHECKED, RangeState.CHECKING, RangeState.VERIFIED
    steps = [(checking, waiting, waiting), (verified, checking, waiting), (verified, verified, checking)]
    assert [each[:3] for each in seen if each[:3] in steps] == steps
    assert {each[3] for each in seen} == {RangeState.DAMAGED}  # which is no less known while it is checked
    assert states(session) == [*[verified] * 3, RangeState.DAMAGED]


def test_a_range_leads_to_its_first_member(tmp_path: Path) -> None:
    put(tmp_path, "rain", 1, 3)
    put(tmp_path, "rain", 4, 6)
    put(tmp_path, "rain", 7, 9).write_bytes(bytes(1024))
    session = ArchiveSession(str(tmp_path))
    with pytest.raises(OperationError, match="not been read yet"):
        session.first_of_range(1)
    session.decode(Progress())
    assert session.first_of_range(1) == 3
    assert session.first_of_range(2) is None
    assert session.member(3).name.endswith(f"/{4:020d}.txt")


# ---- datapoints ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", ["key 5", "KEY 5", "key rain/5", "datapoint[5]", "key[5]", "key 0,005"])
@pytest.mark.parametrize("read", [False, True])
def test_a_datapoint_is_found_by_its_key(tmp_path: Path, expression: str, read: bool) -> None:
    put(tmp_path, "rain", 1, 3)
    put(tmp_path, "rain", 4, 6)
    session = ArchiveSession(str(tmp_path))
    if read:
        session.decode(Progress())
    target = session.find_datapoint(Progress(), expression)
    assert session.read(target.layer, target.start, target.stop - target.start) == b"datapoint 5"
    assert [row.name for row in session.explain(target.layer, target.start).fields]
    session.decode(Progress())
    assert [info.layer for info in session.status().layers] == [0, 1]
    assert session.explain(target.layer, target.start).member == 4
    assert session.status().members == 6


def test_only_the_range_of_the_datapoint_is_read(tmp_path: Path) -> None:
    for first in (1, 4, 7):
        put(tmp_path, "rain", first, first + 2)
    session = ArchiveSession(str(tmp_path))
    session.find_datapoint(Progress(), "key 8")
    assert states(session) == [RangeState.NOT_READ] * 3  # in their order none has been
    assert [info.layer for info in session.status().layers] == [0, 2]
    session.check(Progress())
    assert states(session) == [RangeState.VERIFIED] * 3


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("key 50", "No range holds key 50: the one before ends with 3."),
        ("key 0", "the next one begins with 1"),
        ("key nowhere/1", "There is no dataset called nowhere. There is: rain, wind."),
        ("key 2", "type key rain/2 or key wind/2"),
        ("key wind/9", "the name of .* tells"),
    ],
)
def test_a_key_that_leads_nowhere_says_why(tmp_path: Path, expression: str, words: str) -> None:
    put(tmp_path, "rain", 1, 3)
    put(tmp_path, "wind", 1, 3).rename(tmp_path / "dataset/wind/datapoints" / f"{1:020d}-{9:020d}.tar")
    if expression in ("key 50", "key 0"):
        expression = expression.replace(" ", " rain/")
    with pytest.raises(OperationError, match=words):
        ArchiveSession(str(tmp_path)).find_datapoint(Progress(), expression)


def test_a_range_that_is_open_by_itself_has_keys_too(tmp_path: Path, sample: Sample) -> None:
    session = ArchiveSession(str(put(tmp_path, "rain", 4, 6)))
    target = session.find_datapoint(Progress(), "key 6")
    assert session.read(0, target.start, 11) == b"datapoint 6"
    with pytest.raises(OperationError, match="no datapoint with key 7"):
        session.find_datapoint(Progress(), "key 7")
    with pytest.raises(OperationError, match="not a datas3t range"):
        ArchiveSession(str(sample("journey.caf"))).find_datapoint(Progress(), "key 7")
