"""Questions about whole columns of members; from a few thousand members on they are answered with numpy."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from inspector.core.member import Members
from inspector.formats._extents import sorted_extents
from inspector.formats.caf.index import Index

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = 4_096
"""Up to so many members numpy is not worth its import."""

_BLOCK = 16_384
_NAMES = 2_048
"""Names moved at a time: each of their bytes takes 24 meanwhile."""
_LONG = 255
"""Names longer than this are always looked at: only they can be too long or too deep."""


def archive_order(index: Index) -> Sequence[int]:
    """The entries in the order in which their data stands: by start, stop, and position in the index."""
    starts, stops = index.starts, index.stops
    if len(index) <= FEW:
        return sorted(range(len(index)), key=lambda entry: (starts[entry], stops[entry]))
    import numpy as np

    lows, highs = np.frombuffer(starts, np.uint64), np.frombuffer(stops, np.uint64)
    rising = (lows[1:] > lows[:-1]) | ((lows[1:] == lows[:-1]) & (highs[1:] >= highs[:-1]))
    if rising.all():
        return range(len(index))
    order = array("I", (0,)) * len(index)
    np.frombuffer(order, np.uint32)[:] = sorted_extents(lows, highs)
    return order


def members_in(order: Sequence[int], index: Index) -> Members:
    """The entries as members in the order given; columns that are in order already are handed over as they are.

    Of the index only the positions and the marks are left for sure: the rest is given up as soon as it is copied.
    """
    members = Members(heads=True, marks=any(index.marks))
    if isinstance(order, range):
        members.paths, members.starts, members.stops = index.names, index.starts, index.stops
        members.marks = index.marks if members.marks is not None else None
        members.heads, members.path_stops = index.positions, index.name_stops
    elif len(order) <= FEW:
        for entry in order:
            marks = index.marks[entry] if members.marks is not None else 0
            start, stop, position = index.starts[entry], index.stops[entry], index.positions[entry]
            members.append(index.name(entry), start, stop, head=position, marks=marks)
    else:
        _take(order, index, members)
    return members


def _take(order: Sequence[int], index: Index, members: Members) -> None:
    """Copy the columns in another order.

    The starts come first, into the memory that sorting left, then the largest: so the least is held at the same time.
    """
    import numpy as np

    entries = np.asarray(order)
    members.starts, index.starts = _taken(index.starts, entries), array("Q")
    _take_names(entries, index, members)
    members.stops, index.stops = _taken(index.stops, entries), array("Q")
    members.heads = _taken(index.positions, entries)
    if members.marks is not None:
        members.marks = _taken(index.marks, entries)
    members.path_stops, index.name_stops = index.name_stops, array("Q")


def _taken(column: array[int], entries: NDArray[Any]) -> array[int]:
    import numpy as np

    taken = array(column.typecode, (0,)) * len(entries)
    old, new = (np.frombuffer(each, f"u{column.itemsize}") for each in (column, taken))
    # All entries are there; a mode that would raise makes a copy of what is written.
    np.take(old, entries, out=new, mode="clip")
    return taken


def _take_names(entries: NDArray[Any], index: Index, members: Members) -> None:
    """Copy the names; their stops are written over the old ones, which are not needed afterwards."""
    import numpy as np

    stops = np.frombuffer(index.name_stops, np.int64)
    members.paths = _taken_names(entries, index.names, stops)
    index.names = bytearray()
    sizes = np.diff(stops, prepend=0)
    np.cumsum(sizes[entries], out=stops)


def _taken_names(entries: NDArray[Any], old: bytearray, stops: NDArray[Any]) -> bytearray:
    """The names in another order. Nothing in decoding needs as much at a time, so nothing else is held here."""
    import numpy as np

    names = np.frombuffer(old, np.uint8)
    taken = bytearray(len(old))
    at = 0
    for first in range(0, len(entries), _NAMES):
        block = entries[first : first + _NAMES]
        lengths = stops[block] - np.where(block, stops[np.maximum(block, 1) - 1], 0)
        # Each byte's place in the old blob: counting on from where its name begins there.
        shifts = stops[block] - np.cumsum(lengths)
        data = names[np.arange(int(lengths.sum())) + np.repeat(shifts, lengths)].tobytes()
        taken[at : at + len(data)] = data
        at += len(data)
    return taken


def inverse(order: Sequence[int]) -> Sequence[int]:
    """Where in ``order`` each number stands."""
    if isinstance(order, range):
        return order
    found = array("I", (0,)) * len(order)
    if len(order) <= FEW:
        for place, entry in enumerate(order):
            found[entry] = place
    else:
        import numpy as np

        np.frombuffer(found, np.uint32)[np.asarray(order)] = np.arange(len(order), dtype=np.uint32)
    return found


def beyond(members: Members, stop: int) -> Iterable[int]:
    """The members whose range is reversed or ends after ``stop``."""
    if len(members) <= FEW:
        pairs = zip(members.starts, members.stops, strict=True)
        return [member for member, (first, last) in enumerate(pairs) if first > last or last > stop]
    import numpy as np

    starts, stops = np.frombuffer(members.starts, np.uint64), np.frombuffer(members.stops, np.uint64)
    return map(int, np.flatnonzero((starts > stops) | (stops > np.uint64(stop))))


def doubtful_names(members: Members) -> Iterator[int]:
    """Members whose names may be hazardous; all others have no hazard."""
    if len(members) <= FEW:
        yield from range(len(members))
        return
    for first in range(0, len(members), _BLOCK):
        last = min(first + _BLOCK, len(members))
        yield from _doubtful(members, first, last)


def _doubtful(members: Members, first: int, last: int) -> Iterable[int]:
    import numpy as np

    base = members.path_stops[first - 1] if first else 0
    names = bytes(members.paths[base : members.path_stops[last - 1]])
    try:
        names.decode("utf-8")
    except UnicodeDecodeError:
        return range(first, last)
    stops = np.array(members.path_stops[first:last], np.int64) - base
    starts = np.concatenate((np.zeros(1, np.int64), stops[:-1]))
    # Three more bytes, so that the first two of an empty name at the end can be looked at too.
    data = np.frombuffer(names + b"aaa", np.uint8)
    table = _pairs()
    pairs = data[:-1].astype(np.uint16)
    pairs <<= 8
    pairs |= data[1:]
    doubtful = table[1][data[starts]] | (data[starts + 1] == ord(":")) | (stops == starts) | (stops - starts > _LONG)
    places = np.searchsorted(stops, np.flatnonzero(table[0][pairs]), "right")
    doubtful[places[places < len(stops)]] = True
    return [first + int(place) for place in np.flatnonzero(doubtful)]


@cache
def _pairs() -> tuple[NDArray[Any], NDArray[Any]]:
    """Which two neighbouring bytes of a UTF-8 name make it doubtful, and which first bytes do."""
    import numpy as np

    pairs = np.zeros((256, 256), bool)
    pairs[:0x20] = pairs[0x7F] = pairs[ord("\\")] = True
    pairs[ord("/"), [ord("/"), ord(".")]] = True
    pairs[0xC2, [*range(0x80, 0xA0), 0xAD]] = True
    pairs[0xD8, 0x9C] = True
    pairs[0xE2, [0x80, 0x81]] = True
    pairs[0xEF, 0xBB] = True
    firsts = np.zeros(256, bool)
    firsts[[ord("/"), ord(".")]] = True
    firsts[0x80:0xC0] = True
    return pairs.reshape(-1), firsts
