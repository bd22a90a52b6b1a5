"""``list``: the members of an archive, as a table for people or as JSON Lines for programs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from inspector.cli.archives import LocationPart, open_parts, status_of
from inspector.cli.bootstrap import FINE, NOT_SOUND, UNREADABLE
from inspector.cli.options import A_LOCATION_TO_READ, add_connection, add_json, connection_of
from inspector.cli.output import Lines, complain, quoted
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.member import SPECIAL, STRETCH, Member
from inspector.core.names import decoded, visible
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.core.span import Spans
from inspector.operations.open.listing import learn_all, members_of
from inspector.operations.open.opening import UNKNOWN_FORMAT

_HEADING = f"{'size':>14}  {'stored':>14}  {'codec':<8}  {'digest':<22}  {'offset':>16}  name\n"


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the sub-command's options."""
    command.add_argument("locations", metavar="LOCATION", nargs="+", help=A_LOCATION_TO_READ)
    command.add_argument("--names", action="store_true", help="print the names alone, one a line")
    command.add_argument(
        "--quick",
        action="store_true",
        help="of datas3t ranges, names and sizes as the metadata has them: keys without extensions, no header is read",
    )
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
    opened = open_parts(location, connection_of(options), sparing=True, quick=options.quick)
    if all(part.archive.decoder is None for part in opened):
        raise SourceError(f"{location}: {UNKNOWN_FORMAT}")
    heading = len(options.locations) > 1 and not (options.json or options.names)
    with Lines() as out:
        if heading:
            out.write(f"{visible(location)}:\n")
        if not (options.json or options.names):
            out.write(_HEADING)
        if not options.quick:
            with suppress(SourceError):  # whichever cannot be read says so in its turn
                learn_all((part.archive for part in opened), Progress())
        for part in opened:
            line = _object_line(part) if options.json else _name_line(part) if options.names else _row(part)
            _write(part, out, line, quick=options.quick)
    for part in opened:
        part.report_findings()
    damaged = any(finding.severity is Severity.ERROR for part in opened for finding in part.archive.findings)
    return status_of(opened) or (NOT_SOUND if damaged else FINE)


class _Line(Protocol):
    """Makes the line of a member: ``digest`` is empty without one, ``target`` None for what is no link."""

    def __call__(
        self, path: bytes, size: int, stored: int, spans: Spans, codec: str, digest: str, target: bytes | None = None, /
    ) -> str: ...


def _write(part: LocationPart, out: Lines, line: _Line, *, quick: bool) -> None:
    members, unreadable = part.archive.members, 0
    if members.reader is not None and not quick:
        unreadable = _write_members(part, members_of(part.archive, Progress()), out, line)
    else:
        for start in range(0, len(members), STRETCH):
            stop = min(start + STRETCH, len(members))
            plain = members.plain(start, stop)
            if plain is None:
                unreadable += _write_members(part, map(members.seen, range(start, stop)), out, line)
            else:
                out.write_all(map(line, *plain))
    if unreadable:
        complain(f"{part.label}: members without an offset ({unreadable:,}): it is not known where their bytes are.")


def _write_members(part: LocationPart, members: Iterable[Member], out: Lines, line: _Line) -> int:
    """Print members of any kind; returns of how many it is not known where their bytes are."""
    unreadable = 0
    for member in members:
        unreadable += not member.readable
        spans = member.spans if member.readable else ()
        target = _link_target(part, member)
        out.write(line(member.path, member.size, member.stored, spans, member.codec, member.digest or "", target))
    return unreadable


def _link_target(part: LocationPart, member: Member) -> bytes | None:
    """Where a link leads, None for what is no link."""
    archive, decoder = part.archive, part.archive.decoder
    if decoder is None or not member.marks & SPECIAL:
        return None
    with suppress(SourceError, MemberError):
        return decoder.member_metadata(archive, member.index).target
    return None


def _name_line(part: LocationPart) -> _Line:
    folder = f"{visible(part.key)}/" if part.key else ""
    return lambda path, *_: f"{folder}{visible(path)}\n"


def _row(part: LocationPart) -> _Line:
    folder = f"{visible(part.key)}/" if part.key else ""

    def row(
        path: bytes, size: int, stored: int, spans: Spans, codec: str, digest: str, target: bytes | None = None
    ) -> str:
        offset = f"0x{spans[0][0]:X}" if spans else "-"
        name = folder + visible(path) + ("" if target is None else f" -> {visible(target)}")
        return f"{size:>14,}  {stored:>14,}  {codec:<8}  {digest or '-':<22}  {offset:>16}  {name}\n"

    return row


def _object_line(part: LocationPart) -> _Line:
    # Formatted by hand: json.dumps takes three times as long for a million objects.
    end = f', "archive": {quoted(part.key)}}}\n' if part.key else "}\n"

    def line(
        path: bytes, size: int, stored: int, spans: Spans, codec: str, digest: str, target: bytes | None = None
    ) -> str:
        name, whole = decoded(path)
        places = ", ".join([f"[{start}, {stop}]" for start, stop in spans])
        more = "" if whole else f', "path_bytes": "{path.hex()}"'
        if target is not None:
            more += f', "target": {quoted(decoded(target)[0])}'
        checksum = f'"{digest}"' if digest else "null"
        return (
            f'{{"path": {quoted(name)}, "size": {size}, "stored": {stored}, "spans": [{places}], '
            f'"codec": "{codec}", "digest": {checksum}{more}{end}'
        )

    return line
