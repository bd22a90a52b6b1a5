from __future__ import annotations

from collections.abc import Callable

from inspector.core.field import Run
from inspector.core.kinds import Kind, Role
from inspector.core.span import Span
from inspector.drawing.colouring import ColourBy, Paint
from inspector.gui.hex.pages import MAX_CACHED_PAGES, PAGE, Deliver, HexModel, Tint


class Owner:
    """Remembers what is asked for and delivers when it is told to."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.asked: list[tuple[int, int, Deliver]] = []
        self.fill = 1
        self.model = HexModel(size, lambda start, stop, deliver: self.asked.append((start, stop, deliver)))
        self.changes: list[Span] = []
        self.model.changed.connect(lambda start, stop: self.changes.append(Span(start, stop)))

    @property
    def spans(self) -> list[Span]:
        return [Span(start, stop) for start, stop, _ in self.asked]

    def deliver(self) -> None:
        start, stop, deliver = self.asked.pop(0)
        run = Run(start, stop, Kind.NAME, Role.NAME, 0, (0,))
        deliver(bytes([self.fill]) * (min(stop, self.size) - start), [run])

    def deliver_all(self) -> None:
        while self.asked:
            self.deliver()


def test_nothing_is_here_until_it_arrives() -> None:
    owner = Owner(3 * PAGE)

    owner.model.request(0, 100)
    assert owner.model.bytes_at(0, 100) == []
    assert owner.model.tints_at(0, 100) == []

    owner.deliver()
    assert owner.model.bytes_at(90, 100) == [(90, b"\1" * 10)]
    assert owner.model.tints_at(90, 100) == [Tint(90, 100, Paint(ColourBy.KIND, Role.NAME, 0))]
    assert owner.changes == [Span(0, PAGE)]


def test_the_next_page_is_fetched_ahead_in_the_direction_of_scrolling() -> None:
    owner = Owner(100 * PAGE)

    owner.model.request(10 * PAGE, 11 * PAGE)
    owner.deliver_all()
    assert owner.changes == [Span(10 * PAGE, 11 * PAGE), Span(11 * PAGE, 12 * PAGE)]

    owner.model.request(9 * PAGE, 10 * PAGE)
    owner.deliver_all()
    assert owner.changes[2:] == [Span(9 * PAGE, 10 * PAGE), Span(8 * PAGE, 9 * PAGE)]


def test_while_the_thumb_is_dragged_only_what_is_wanted_last_is_fetched() -> None:
    owner = Owner(1000 * PAGE)
    owner.model.request(0, PAGE)

    for page in range(100, 900, 100):
        owner.model.request(page * PAGE, (page + 1) * PAGE)

    assert owner.spans == [Span(0, PAGE)]
    owner.deliver()
    assert owner.spans == [Span(800 * PAGE, 801 * PAGE)]


def test_what_is_here_is_not_fetched_again() -> None:
    owner = Owner(3 * PAGE)
    owner.model.request(0, 3 * PAGE)
    owner.deliver_all()

    owner.model.request(PAGE, 2 * PAGE)

    assert owner.asked == []


def test_pieces_of_neighbouring_pages_are_one() -> None:
    owner = Owner(3 * PAGE)
    owner.model.request(0, 3 * PAGE)
    owner.deliver_all()

    assert owner.model.bytes_at(PAGE - 3, PAGE + 5) == [(PAGE - 3, b"\1" * 8)]
    assert [tint.start for tint in owner.model.tints_at(PAGE - 3, PAGE + 5)] == [PAGE - 3, PAGE]


def test_the_last_page_ends_with_the_bytes() -> None:
    owner = Owner(PAGE + 10)

    owner.model.request(PAGE, PAGE + 500)

    assert owner.spans == [Span(PAGE, PAGE + 10)]
    owner.deliver_all()
    assert owner.model.bytes_at(PAGE, PAGE + 500) == [(PAGE, b"\1" * 10)]


def test_a_read_that_fails_leaves_a_hole_and_is_not_repeated_for_ever() -> None:
    owner = Owner(PAGE)
    owner.model.request(0, PAGE)
    owner.asked.pop(0)[2](b"", [])

    owner.model.request(0, PAGE)

    assert owner.asked == []
    assert owner.model.bytes_at(0, 16) == []


def test_what_is_out_of_date_is_shown_until_the_new_is_there() -> None:
    owner = Owner(PAGE)
    owner.model.request(0, PAGE)
    owner.deliver()

    owner.fill = 2
    owner.model.invalidate()
    assert owner.model.bytes_at(0, 1) == [(0, b"\1")]
    assert owner.spans == [Span(0, PAGE)]

    owner.deliver()
    assert owner.model.bytes_at(0, 1) == [(0, b"\2")]


def test_what_was_asked_before_invalidating_is_dropped() -> None:
    owner = Owner(PAGE)
    owner.model.request(0, PAGE)
    owner.model.invalidate()
    assert owner.spans == [Span(0, PAGE)] * 2

    owner.deliver()
    assert owner.changes == []

    owner.deliver()
    assert owner.changes == [Span(0, PAGE)]


def test_another_size_is_told_and_what_is_beyond_it_forgotten() -> None:
    owner = Owner(3 * PAGE)
    owner.model.request(0, 3 * PAGE)
    owner.deliver_all()
    resized: list[int] = []
    owner.model.resized.connect(lambda: resized.append(owner.model.size))

    owner.size = PAGE
    owner.model.invalidate(PAGE)
    owner.deliver_all()

    assert resized == [PAGE]
    assert owner.model.bytes_at(0, 3 * PAGE) == [(0, b"\1" * PAGE)]


def test_a_page_that_grew_is_fetched_again() -> None:
    owner = Owner(10)
    owner.model.request(0, 10)
    owner.deliver_all()

    owner.size = 20
    owner.model.invalidate(20)
    owner.deliver_all()

    assert owner.model.bytes_at(0, 20) == [(0, b"\1" * 20)]


def test_pages_looked_at_long_ago_are_let_go() -> None:
    owner = Owner(2 * MAX_CACHED_PAGES * PAGE)
    for page in range(0, MAX_CACHED_PAGES + 50, 2):
        owner.model.request(page * PAGE, (page + 2) * PAGE)
        owner.deliver_all()

    assert owner.model.bytes_at(0, 1) == []
    assert owner.model.bytes_at((MAX_CACHED_PAGES + 40) * PAGE, (MAX_CACHED_PAGES + 40) * PAGE + 1) != []
    assert len(owner.model._pages) == MAX_CACHED_PAGES


def gathered(model: HexModel, start: int, stop: int) -> list[bytes]:
    found: list[bytes] = []
    keep: Callable[[bytes], None] = found.append
    model.read(start, stop, keep)
    return found


def test_what_is_shown_until_it_is_fetched_again_is_not_gathered() -> None:
    owner = Owner(100 * PAGE)
    owner.model.request(0, PAGE)
    owner.model.request(50 * PAGE, 51 * PAGE)
    owner.deliver_all()

    owner.fill = 2  # somebody has written it
    owner.model.invalidate()
    owner.deliver_all()
    assert owner.model.bytes_at(0, 4) == [(0, b"\1" * 4)]
    found = gathered(owner.model, 0, 4)
    assert found == []
    owner.deliver_all()
    assert found == [b"\2" * 4]


def test_gathering_fetches_what_is_not_here_in_pieces() -> None:
    owner = Owner(1 << 20)
    found = gathered(owner.model, 5, 200_005)

    owner.deliver_all()

    assert found == [b"\1" * 200_000]


def test_gathering_gives_what_there_is_when_a_read_fails() -> None:
    owner = Owner(1 << 20)
    found = gathered(owner.model, 0, 200_000)
    owner.deliver()

    owner.asked.pop(0)[2](b"", [])

    assert [len(data) for data in found] == [65_536]
