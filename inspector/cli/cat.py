"""``cat``: one member's content on standard output."""

from __future__ import annotations

import argparse
import sys

from inspector.cli.archives import parts
from inspector.core.progress import Progress
from inspector.operations.listing import content, find_member


def run(options: argparse.Namespace) -> None:
    """Write the content of one member as it comes, in pieces of bounded size.

    Raises NoSuchMember, MemberError (some of the content may have been written by then) and SourceError.
    """
    opened = parts(options.location)
    name = options.member
    named = [part for part in opened if part.key and name.startswith(f"{part.key}/")]
    if named:
        # In a folder the range may be said before the member, as list does in text.
        opened, name = named[:1], name.removeprefix(f"{named[0].key}/")
    archive, index = find_member([part.archive for part in opened], name)
    for piece in content(archive, index, Progress()):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
