"""The names of a range and of its datapoints, and the keys in them.

S3 Storage Layout: keys are continuous inside an archive, the object is named after the least and the greatest.
"""

from __future__ import annotations

from itertools import pairwise

from inspector.core.archive import Emitter
from inspector.core.member import FOLDER, SPECIAL, Members
from inspector.core.names import visible
from inspector.formats._tar.header import BLOCK
from inspector.formats.datas3t.datapoints import Beside, headers
from inspector.formats.datas3t.keys import DIGITS, RangeName, datapoint_key, is_beyond

NAME = 100
"""The size of the name field, with which a tar header begins."""

_BEYOND = "has a key that does not fit into 64 bits."


def check_names(emitter: Emitter, beside: Beside, named: RangeName | None, among: bool) -> None:
    """The names of the object and of the datapoints, and whether the keys are continuous.

    ``among`` is whether the object stands among ranges, where it has to be named as they are.
    """
    members = beside.members
    for index in range(len(members)):
        found = datapoint_key(members.path(index))
        if found is None or not found[1]:
            emitter.error(
                "datas3t-datapoint-name",
                f"The name of the datapoint {visible(members.path(index))} "
                + (_BEYOND if is_beyond(members.path(index)) else f"is not {DIGITS} digits and an extension."),
                headers(members, index),
                member=index,
            )
        elif members.marks is not None and members.marks[index] & (SPECIAL | FOLDER):
            emitter.error(
                "datas3t-datapoint-kind",
                f"The datapoint {visible(members.path(index))} is no plain file, so there is no content to be read.",
                headers(members, index),
                member=index,
            )
    keys = [key for key in beside.keys if key is not None]
    if named is None:
        words = "The file is not named after its range of keys, <from>-<to>.tar"
        if among:
            emitter.warning("datas3t-object-name", f"{words}, so it is none of the ranges among which it stands.")
        else:
            emitter.info("datas3t-object-name", f"{words}.")
    elif not named.regular:
        emitter.error(
            "datas3t-object-name",
            f"The keys in the name of the object are not written with {DIGITS} digits. The name is the file's own and "
            "stands in none of its bytes.",
        )
    if named is not None and keys:
        _check_ends(emitter, beside, named, min(keys), max(keys))
    _check_continuity(emitter, beside)


def _check_ends(emitter: Emitter, beside: Beside, named: RangeName, least: int, greatest: int) -> None:
    """Whether the object is named after its least and its greatest key; the names that say otherwise are shown."""
    wrong = [key for key, said in ((least, named.first), (greatest, named.last)) if key != said]
    if wrong:
        emitter.error(
            "datas3t-object-name",
            f"The name of the object says keys {named.first:,} to {named.last:,}; it holds {least:,} to {greatest:,}.",
            *(_name_field(beside.members, beside.keys.index(key)) for key in dict.fromkeys(wrong)),
        )


def _check_continuity(emitter: Emitter, beside: Beside) -> None:
    order = sorted((key, index) for index, key in enumerate(beside.keys) if key is not None)
    for (before, _), (key, index) in pairwise(order):
        where = headers(beside.members, index)
        if key == before:
            emitter.error("datas3t-key-twice", f"Key {key:,} stands twice in this archive.", where, member=index)
        elif key > before + 1:
            missing = f"key {before + 1:,} is" if key == before + 2 else f"keys {before + 1:,} to {key - 1:,} are"
            emitter.error(
                "datas3t-key-gap",
                f"There is a gap between the keys {before:,} and {key:,}: {missing} missing inside this archive.",
                where,
                member=index,
            )
    if [index for _, index in order] != sorted(index for _, index in order):
        emitter.info("datas3t-key-order", "The datapoints do not stand in the order of their keys.")


def _name_field(members: Members, index: int) -> tuple[int, int]:
    """Where a member's name stands; all of its headers where an extended one may hold it."""
    head, start = headers(members, index)
    return (head, head + NAME) if start - head == BLOCK else (head, start)
