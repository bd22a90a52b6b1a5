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
    archive, index = find_member([part.archive for part in opened], options.member)
    for piece in content(archive, index, Progress()):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
