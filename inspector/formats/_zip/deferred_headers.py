"""Where members lie when their local headers are not read, because that would cost a request for each of them.

What a local header says that the central directory does not is how long its extra field is (APPNOTE.TXT 4.3.7). It
follows from where the next header begins: writers leave no gap. What was assumed is compared when a member is read.
"""

from __future__ import annotations

from itertools import pairwise

from inspector.core.archive import Emitter
from inspector.core.numbers import count
from inspector.formats._zip.descriptors import FORMS
from inspector.formats._zip.directory import Directory

_LONGEST_EXTRA = 0xFFFF


def place_members(emitter: Emitter, directory: Directory, limit: int) -> None:
    """Put every member where it lies if there are no gaps before ``limit``, and say that it was not looked."""
    members = directory.members
    heads = members.heads
    assert heads is not None
    later = set(directory.later)
    order = sorted(range(len(members)), key=heads.__getitem__)
    for index, stop in pairwise([*order, -1]):
        behind = (heads[stop] if stop >= 0 else limit) - members.stops[index]
        form = max((form for form in FORMS if form <= behind), default=0) if index in later else 0
        if 0 <= behind - form <= _LONGEST_EXTRA:
            directory.descriptors[index] = form
            _move(directory, index, behind - form)
    emitter.info(
        "zip-local-headers-not-read",
        f"The local headers of {count(len(members), 'member')} were not read, which takes a request for each: where "
        "they end is told by where the next begins. A check reads and compares them.",
    )


def _move(directory: Directory, index: int, by: int) -> None:
    directory.members.starts[index] += by
    directory.members.stops[index] += by
