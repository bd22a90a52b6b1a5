"""``check --by-checksum``: what archives on S3 record, compared with the checksum that S3 keeps of the whole object."""

from __future__ import annotations

import argparse
import json

from inspector.cli.connecting import connection_of
from inspector.cli.exit_codes import FINE, NOT_SOUND, UNREADABLE
from inspector.cli.output import Lines
from inspector.cli.progress_bar import ProgressBar
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.operations.check.proof import Proof, Proved, prove

_STATUS = {Proof.PROVED: FINE, Proof.CONTRADICTED: NOT_SOUND, Proof.IMPOSSIBLE: UNREADABLE}


def run(options: argparse.Namespace) -> int:
    """Compare at every location and give the exit status: that of the worst of them. Raises SourceError."""
    status = FINE
    with Lines() as out:
        for location in options.locations:
            with ProgressBar(Progress()) as progress:
                proved = prove(location, progress, connection_of(options))
            status = max(status, _STATUS[proved.proof])
            out.write(_json(location, proved) if options.json else f"{visible(proved.sentence)}\n")
            out.flush()
    return status


def _json(location: str, proved: Proved) -> str:
    found = {
        "source": location,
        "proof": str(proved.proof),
        "sentence": proved.sentence,
        "members": proved.members,
        "kept": None if proved.kept is None else f"crc32:{proved.kept:08x}",
        "made": None if proved.made is None else f"crc32:{proved.made:08x}",
        "read": proved.read,
        "requests": proved.requests,
    }
    return f"{json.dumps(found)}\n"
