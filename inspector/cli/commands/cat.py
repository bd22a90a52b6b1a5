"""``cat``: one member's content on standard output."""

from __future__ import annotations

import argparse

from inspector.cli.archives import open_parts
from inspector.cli.bootstrap import FINE, NOT_SOUND
from inspector.cli.options import A_LOCATION_TO_READ, CONNECTION, Option, connection_of, location
from inspector.cli.output import complain, flush, put
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.operations.open.listing import AmbiguousMemberError, MemberNotFoundError, MembersUnreadError, find_member
from inspector.operations.open.opening import Opened
from inspector.operations.open.reading import Reading, doubt_about, notes

_MAX_DOUBTS = 5
"""Doubts about the content that are printed."""


OPTIONS = (
    location(A_LOCATION_TO_READ),
    Option("member", metavar="MEMBER", help="the member's path, as list shows it"),
    Option(
        "--doubtful",
        action="store_true",
        help="also a member that a check doubts, such as one of a CAF in which bytes were lost or inserted",
    ),
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Stream the content of one member to standard output and return the exit status.

    The status is NOT_SOUND, with messages on standard error, if anything casts doubt on the content. Raises
    MemberNotFoundError, MemberError (after part of the content may have been written) and SourceError.
    """
    archive, index = _find(options)
    for note in notes(archive):
        complain(note)
    archive.members.learn((index,))
    if not options.doubtful and (why := doubt_about(archive, index, Progress())):
        complain(f"Nothing of {visible(options.member)} was written: {why}. Give --doubtful to write what is there.")
        return NOT_SOUND
    reading = Reading(archive, index)
    for piece in reading.pieces(Progress()):
        put(piece)
    flush()
    doubts = list(reading.doubts())
    for doubt in doubts[:_MAX_DOUBTS]:
        complain(doubt)
    if doubts:
        complain(f"So what was written of {visible(options.member)} may differ from what was archived.")
    return NOT_SOUND if doubts else FINE


def _find(options: argparse.Namespace) -> tuple[Opened, int]:
    """The archive and the index of the member; raises MemberNotFoundError.

    Of a dataset, only the range that the name belongs to is opened at first, and all ranges if it is not there.
    """
    for names in ((options.member,), ()):
        opened = open_parts(options.location, connection_of(options), sparing=True, names=names)
        name = options.member
        prefixes = [(part, f"{key}/") for part in opened if part.key for key in (part.key, visible(part.key))]
        matching = [(part, prefix) for part, prefix in prefixes if name.startswith(prefix)]
        if matching:
            # In a folder, the range may stand before the member's name, as list prints it.
            opened, name = [matching[0][0]], name.removeprefix(matching[0][1])
        try:
            return find_member([part.archive for part in opened], name)
        except MembersUnreadError:
            raise
        except MemberNotFoundError as error:
            missing = MemberNotFoundError(f"{error} To see the members, use list {options.location}.")
            if isinstance(error, AmbiguousMemberError) or not any(part.key for part in opened):
                break
    raise missing
