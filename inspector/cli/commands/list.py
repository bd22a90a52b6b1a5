"""``list``: the members of an archive, as a table for people or as JSON Lines for programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import repeat
from typing import NamedTuple

from inspector.cli.archives import LocationPart, open_parts, status_of
from inspector.cli.bootstrap import FINE, NOT_SOUND, UNREADABLE
from inspector.cli.options import A_LOCATION_TO_READ, ASK, CONNECTION, JSON, Option, connection_of
from inspector.cli.output import ProgressBar, complain, emit, quoted
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.member import SPECIAL, STRETCH, Member
from inspector.core.names import decoded, visible
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.open.listing import learn_all, members_of
from inspector.operations.open.opening import UNKNOWN_FORMAT

_HEADING = f"{'size':>14}  {'stored':>14}  {'codec':<8}  {'digest':<22}  {'offset':>16}  name\n"


OPTIONS = (
    Option("locations", metavar="LOCATION", nargs="+", help=A_LOCATION_TO_READ),
    Option(
        "--names", action="store_true", help="print the names alone, one a line; of several archives as ARCHIVE!/NAME"
    ),
    Option(
        "--quick",
        action="store_true",
        help="of datas3t ranges, names and sizes as the metadata has them: keys without extensions, no header is read",
    ),
    JSON,
    *ASK,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Print the members of all locations, and return the exit status: that of the worst one."""
    if options.csv or any((options.where, options.sort, options.columns, options.count_by, options.sum)):
        return _ask(options)
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
    if heading:
        emit(f"{visible(location)}:\n")
    if not (options.json or options.names):
        emit(_HEADING)
    if not options.quick:
        with suppress(SourceError):  # whichever cannot be read says so in its turn
            learn_all((part.archive for part in opened), Progress())
    for part in opened:
        _write(part, _lines_of(part, options), quick=options.quick)
    for part in opened:
        part.report_findings()
    return _status(opened)


def _status(opened: Sequence[LocationPart]) -> int:
    damaged = any(finding.severity is Severity.ERROR for part in opened for finding in part.archive.findings)
    return status_of(opened) or (NOT_SOUND if damaged else FINE)


def _ask(options: argparse.Namespace) -> int:
    """Print what is asked about the members of all locations together, and return the exit status.

    Raises AskError.
    """
    from inspector.cli.asking import Asked  # which needs numpy
    from inspector.operations.check.checking import check_archive
    from inspector.operations.open.asked import MEMBER_NAMES, members_table

    asked, parts, statuses = Asked(options, MEMBER_NAMES), list[LocationPart](), [FINE]
    for location in options.locations:
        try:
            opened = open_parts(location, connection_of(options), sparing=True, quick=options.quick)
            if all(part.archive.decoder is None for part in opened):
                raise SourceError(f"{location}: {UNKNOWN_FORMAT}")
            with ProgressBar(Progress()) as progress:
                if not options.quick:
                    learn_all((part.archive for part in opened), progress)
                for part in opened if "verdict" in asked.names else ():
                    check_archive(part.archive, progress)
        except SourceError as error:
            complain(str(error))
            statuses.append(UNREADABLE)
            continue
        parts += opened
        statuses.append(_status(opened))
    if asked.prints_rows and not (options.json or options.names):
        emit(_HEADING)
    tables = [
        (part.source, members_table(part.archive, f"{part.key}/".encode() if part.key else b"")) for part in parts
    ]

    def write(at: int, row: int) -> None:
        _write_members(parts[at], [parts[at].archive.members.seen(row)], _lines_of(parts[at], options))

    asked.print(tables, write)
    for part in parts:
        part.report_findings()
    return max(statuses)


class _Columns(NamedTuple):
    """Members, one in each place of all columns; ``spans`` are empty where it is not known where their bytes are."""

    paths: Sequence[bytes]
    sizes: Iterable[int]
    stored: Iterable[int]
    spans: Iterable[Sequence[tuple[int, int]]]
    codecs: Iterable[str]
    digests: Iterable[str | None]
    targets: Iterable[bytes | None]
    """Where links lead; None for what is no link."""


_Lines = Callable[[_Columns], Iterable[str]]


def _lines_of(part: LocationPart, options: argparse.Namespace) -> _Lines:
    """How the members of a part are printed."""
    if options.json:
        return partial(_objects, f'{{"source": {quoted(part.source)}, "path": ')
    folder = f"{visible(part.key)}/" if part.key else ""
    if options.names:  # of several archives as they can be opened in: OUTER!/MEMBER
        several = len(options.locations) > 1
        return partial(_names, f"{visible(part.source)}!/" if several else folder)
    return partial(_rows, folder)


def _write(part: LocationPart, lines: _Lines, *, quick: bool) -> None:
    members, unreadable = part.archive.members, 0
    if members.reader is not None and not quick:
        unreadable = _write_members(part, members_of(part.archive, Progress()), lines)
    else:
        for start in range(0, len(members), STRETCH):
            stop = min(start + STRETCH, len(members))
            plain = members.plain(start, stop)
            if plain is None:
                unreadable += _write_members(part, map(members.seen, range(start, stop)), lines)
                continue
            spans = ((span,) for span in zip(plain.starts, plain.stops, strict=True))
            sizes = (plain.sizes, plain.stored, spans, plain.codecs, plain.digests)
            emit(*lines(_Columns(plain.paths, *sizes, repeat(None, stop - start))))
    if unreadable:
        complain(f"{part.label}: members without an offset ({unreadable:,}): it is not known where their bytes are.")


def _write_members(part: LocationPart, members: Iterable[Member], lines: _Lines) -> int:
    """Print members of any kind; returns of how many it is not known where their bytes are."""
    unreadable = 0
    for each in members:
        unreadable += not each.readable
        spans = each.spans if each.readable else ()
        target = _link_target(part, each)
        row = ([each.path], [each.size], [each.stored], [spans], [each.codec], [each.digest], [target])
        emit(*lines(_Columns(*row)))
    return unreadable


def _link_target(part: LocationPart, member: Member) -> bytes | None:
    """Where a link leads, None for what is no link."""
    archive, decoder = part.archive, part.archive.decoder
    if decoder is None or not member.marks & SPECIAL:
        return None
    with suppress(SourceError, MemberError):
        return decoder.member_metadata(archive, member.index).target
    return None


def _shown(paths: Sequence[bytes]) -> Iterable[str]:
    """Names as ``visible`` shows them; most need only one look at all of them together."""
    together = b"".join(paths)
    plain = together.isascii() and together.decode().isprintable()
    return [path.decode() for path in paths] if plain else map(visible, paths)


def _names(folder: str, columns: _Columns) -> Iterable[str]:
    return [f"{folder}{name}\n" for name in _shown(columns.paths)]


def _rows(folder: str, columns: _Columns) -> Iterable[str]:
    """The rows of the table."""
    named = zip(_shown(columns.paths), columns.targets, strict=True)
    names = (name if target is None else f"{name} -> {visible(target)}" for name, target in named)
    offsets = (f"0x{spans[0][0]:x}" if spans else "-" for spans in columns.spans)
    rows = zip(columns.sizes, columns.stored, columns.codecs, columns.digests, offsets, names, strict=True)
    return [
        f"{size:>14,}  {stored:>14,}  {codec:<8}  {digest or '-':<22}  {offset:>16}  {folder}{name}\n"
        for size, stored, codec, digest, offset, name in rows
    ]


def _objects(begin: str, columns: _Columns) -> Iterator[str]:
    """Members as JSON objects, by hand: json.dumps takes three times as long for a million of them."""
    for path, size, stored, spans, codec, digest, target in zip(*columns, strict=True):
        name, whole = decoded(path)
        more = "" if whole else f', "path_bytes": "{path.hex()}"'
        more += "" if target is None else f', "target": {quoted(decoded(target)[0])}'
        places = ", ".join([f"[{start}, {stop}]" for start, stop in spans])
        checksum = f'"{digest}"' if digest else "null"
        yield (
            f'{begin}{quoted(name)}, "size": {size}, "stored": {stored}, "spans": [{places}], '
            f'"codec": "{codec}", "digest": {checksum}{more}}}\n'
        )
