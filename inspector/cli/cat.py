"""``cat``: one member's content on standard output."""

from __future__ import annotations

import argparse

from inspector.cli.archives import parts
from inspector.cli.connecting import connection_of
from inspector.cli.exit_codes import FINE, NOT_SOUND
from inspector.cli.output import complain, flush, put
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.operations.open.listing import AmbiguousMemberError, MemberNotFoundError, find_member
from inspector.operations.open.opening import Opened
from inspector.operations.open.reading import Reading

_SAID = 5
"""Doubts that are said."""


def run(options: argparse.Namespace) -> int:
    """Write the content of one member as it comes, in pieces of bounded size, and give the exit status.

    It is NOT_SOUND, with a sentence on standard error, where something speaks against what was written. Raises
    MemberNotFoundError, MemberError (some of the content may have been written by then) and SourceError.
    """
    archive, index = _found(options)
    reading = Reading(archive, index)
    for piece in reading.pieces(Progress()):
        put(piece)
    flush()
    doubts = list(reading.doubts())
    for doubt in doubts[:_SAID]:
        complain(doubt)
    if doubts:
        complain(f"So what was written of {visible(options.member)} may not be what was archived.")
    return NOT_SOUND if doubts else FINE


def _found(options: argparse.Namespace) -> tuple[Opened, int]:
    """The archive and the index of the member; raises MemberNotFoundError.

    Of a dataset only the range is opened that the name belongs to, and all of them only where it is not there.
    """
    for names in ((options.member,), ()):
        opened = parts(options.location, connection_of(options), sparing=True, names=names)
        name = options.member
        before = [(part, f"{key}/") for part in opened if part.key for key in (part.key, visible(part.key))]
        named = [(part, folder) for part, folder in before if name.startswith(folder)]
        if named:
            # In a folder the range may be said before the member, as list does in text.
            opened, name = [named[0][0]], name.removeprefix(named[0][1])
        try:
            return find_member([part.archive for part in opened], name)
        except MemberNotFoundError as error:
            missing = MemberNotFoundError(f"{error} What there is, list {options.location} shows.")
            if isinstance(error, AmbiguousMemberError) or not any(part.key for part in opened):
                break
    raise missing
