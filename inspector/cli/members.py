"""``list``: the members of an archive, as a table for people or as JSON Lines for programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from inspector.cli.archives import LocationPart, open_parts, status_of
from inspector.cli.options import add_connection, add_json, add_location, connection_of
from inspector.cli.output import Lines, complain, quoted
from inspector.core.member import Member
from inspector.core.names import decoded, visible
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.open.listing import members_of
from inspector.operations.open.opening import UNKNOWN_FORMAT

_TABLE = "{:>14}  {:>14}  {:<8}  {:<22}  {:>16}  {}\n"


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the sub-command's options."""
    add_location(command)
    add_json(command)
    add_connection(command)


def run(options: argparse.Namespace) -> int:
    """Print the members of ``options.location`` and return the exit status; raises SourceError if it is no archive."""
    opened = open_parts(options.location, connection_of(options), sparing=True)
    if all(part.archive.decoder is None for part in opened):
        raise SourceError(f"{options.location}: {UNKNOWN_FORMAT}")
    with Lines() as out:
        if not options.json:
            out.write(_TABLE.format("size", "stored", "codec", "digest", "offset", "name"))
        for part in opened:
            _write(part, out, _object_writer(part) if options.json else _row_writer(part))
    for part in opened:
        part.report_findings()
    return status_of(opened)


def _write(part: LocationPart, out: Lines, line: Callable[[Member], str]) -> None:
    unreadable = 0
    for member in members_of(part.archive, Progress()):
        unreadable += not member.readable
        out.write(line(member))
    if unreadable:
        complain(f"{part.label}: members without an offset ({unreadable:,}): it is not known where their bytes are.")


def _row_writer(part: LocationPart) -> Callable[[Member], str]:
    folder = f"{visible(part.key)}/" if part.key else ""

    def row(member: Member) -> str:
        offset = f"0x{member.spans[0].start:X}" if member.readable and member.spans else "-"
        name = folder + visible(member.path)
        digest = member.digest or "-"
        return _TABLE.format(f"{member.size:,}", f"{member.stored:,}", member.codec, digest, offset, name)

    return row


def _object_writer(part: LocationPart) -> Callable[[Member], str]:
    # Formatted by hand: json.dumps takes three times as long for a million objects.
    end = f', "archive": {quoted(part.key)}}}\n' if part.key else "}\n"

    def line(member: Member) -> str:
        path, whole = decoded(member.path)
        spans = ", ".join([f"[{start}, {stop}]" for start, stop in member.spans]) if member.readable else ""
        digest = f'"{member.digest}"' if member.digest else "null"
        lost = "" if whole else f', "path_bytes": "{member.path.hex()}"'
        return (
            f'{{"path": {quoted(path)}, "size": {member.size}, "stored": {member.stored}, "spans": [{spans}], '
            f'"codec": "{member.codec}", "digest": {digest}{lost}{end}'
        )

    return line
