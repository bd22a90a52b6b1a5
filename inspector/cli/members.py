"""``list``: the members of an archive, as a table for people or as JSON Lines for programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress

from inspector.cli.archives import LocationPart, open_parts, status_of
from inspector.cli.bootstrap import FINE, NOT_SOUND, UNREADABLE
from inspector.cli.options import A_LOCATION_TO_READ, add_connection, add_json, connection_of
from inspector.cli.output import Lines, complain, quoted
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.member import SPECIAL, Member
from inspector.core.names import decoded, visible
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.open.listing import learn_all, members_of
from inspector.operations.open.opening import UNKNOWN_FORMAT

_TABLE = "{:>14}  {:>14}  {:<8}  {:<22}  {:>16}  {}\n"


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the sub-command's options."""
    command.add_argument("locations", metavar="LOCATION", nargs="+", help=A_LOCATION_TO_READ)
    command.add_argument("--names", action="store_true", help="print the names alone, one a line")
    add_json(command)
    add_connection(command)


def run(options: argparse.Namespace) -> int:
    """Print the members of all locations, and return the exit status: that of the worst one."""
    statuses = []
    for location in options.locations:
        try:
            statuses.append(_list(location, options))
        except SourceError as error:
            complain(str(error))
            statuses.append(UNREADABLE)
    return max(statuses)


def _list(location: str, options: argparse.Namespace) -> int:
    """Print the members of one location; raises SourceError if it is no archive.

    The status is NOT_SOUND if the structure has errors, and UNREADABLE if not all of it could be read.
    """
    opened = open_parts(location, connection_of(options), sparing=True)
    if all(part.archive.decoder is None for part in opened):
        raise SourceError(f"{location}: {UNKNOWN_FORMAT}")
    heading = len(options.locations) > 1 and not (options.json or options.names)
    with Lines() as out:
        if heading:
            out.write(f"{visible(location)}:\n")
        if not (options.json or options.names):
            out.write(_TABLE.format("size", "stored", "codec", "digest", "offset", "name"))
        with suppress(SourceError):  # whichever cannot be read says so in its turn
            learn_all((part.archive for part in opened), Progress())
        for part in opened:
            writer = (
                _object_writer(part) if options.json else _name_writer(part) if options.names else _row_writer(part)
            )
            _write(part, out, writer)
    for part in opened:
        part.report_findings()
    damaged = any(finding.severity is Severity.ERROR for part in opened for finding in part.archive.findings)
    return status_of(opened) or (NOT_SOUND if damaged else FINE)


def _write(part: LocationPart, out: Lines, line: Callable[[Member], str]) -> None:
    unreadable = 0
    for member in members_of(part.archive, Progress()):
        unreadable += not member.readable
        out.write(line(member))
    if unreadable:
        complain(f"{part.label}: members without an offset ({unreadable:,}): it is not known where their bytes are.")


def _name_writer(part: LocationPart) -> Callable[[Member], str]:
    name = _naming(part)
    return lambda member: f"{name(member)}\n"


def _naming(part: LocationPart) -> Callable[[Member], str]:
    folder = f"{visible(part.key)}/" if part.key else ""
    return lambda member: folder + visible(member.path)


def _row_writer(part: LocationPart) -> Callable[[Member], str]:
    name, target = _naming(part), _link_target(part)

    def row(member: Member) -> str:
        offset = f"0x{member.spans[0].start:X}" if member.readable and member.spans else "-"
        digest = member.digest or "-"
        where = "" if (found := target(member)) is None else f" -> {visible(found)}"
        return _TABLE.format(
            f"{member.size:,}", f"{member.stored:,}", member.codec, digest, offset, name(member) + where
        )

    return row


def _link_target(part: LocationPart) -> Callable[[Member], bytes | None]:
    """Gives where a link leads, None for what is no link."""
    archive, decoder = part.archive, part.archive.decoder

    def target(member: Member) -> bytes | None:
        if decoder is None or not member.marks & SPECIAL:
            return None
        with suppress(SourceError, MemberError):
            return decoder.member_metadata(archive, member.index).target
        return None

    return target


def _object_writer(part: LocationPart) -> Callable[[Member], str]:
    target = _link_target(part)
    # Formatted by hand: json.dumps takes three times as long for a million objects.
    end = f', "archive": {quoted(part.key)}}}\n' if part.key else "}\n"

    def line(member: Member) -> str:
        path, whole = decoded(member.path)
        spans = ", ".join([f"[{start}, {stop}]" for start, stop in member.spans]) if member.readable else ""
        digest = f'"{member.digest}"' if member.digest else "null"
        lost = "" if whole else f', "path_bytes": "{member.path.hex()}"'
        if (found := target(member)) is not None:
            lost += f', "target": {quoted(decoded(found)[0])}'
        return (
            f'{{"path": {quoted(path)}, "size": {member.size}, "stored": {member.stored}, "spans": [{spans}], '
            f'"codec": "{member.codec}", "digest": {digest}{lost}{end}'
        )

    return line
