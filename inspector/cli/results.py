"""What is said of archives that were made or have grown."""

from __future__ import annotations

import json

from inspector.cli.output import Lines, complain
from inspector.core.names import visible
from inspector.operations.create.creating import Created


def say(made: Created, *, json_wanted: bool) -> None:
    """The sentence, or JSON with an object for each archive; warnings on standard error."""
    for warning in made.warnings:
        complain(warning)
    with Lines() as out:
        out.write(_json(made) if json_wanted else f"{visible(made.sentence)}\n")


def _json(made: Created) -> str:
    found = ({"archive": each.path, "members": each.members, "bytes": each.size} for each in made.archives)
    return "".join(f"{json.dumps(each)}\n" for each in found)
