"""``grep``: where a pattern occurs in the contents, the stored bytes or the names of archives."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from inspector.cli.archives import LocationPart, open_parts, status_of
from inspector.cli.bootstrap import FINE, NOT_SOUND, UNREADABLE
from inspector.cli.options import A_LOCATION, CONNECTION, JSON, Option, connection_of
from inspector.cli.output import complain, show
from inspector.core.archive import member_at
from inspector.core.format import MemberError
from inspector.core.member import SPECIAL, Member
from inspector.core.names import decoded, visible
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError, SplicedSource, blocks
from inspector.operations.open.grepping import matches, pattern_of
from inspector.operations.open.listing import content, learn_all
from inspector.operations.open.nested import is_stored
from inspector.operations.open.opening import UNKNOWN_FORMAT

_MAX_SHOWN_BYTES = 60


OPTIONS = (
    Option(
        "pattern",
        metavar="PATTERN",
        help="a regular expression; bytes such as '50 4B ?? ??' or 0x504B; a number such as 'u32le = 1000'",
    ),
    Option("locations", metavar="LOCATION", nargs="+", help=A_LOCATION),
    Option("-i", "--ignore-case", action="store_true", help="letters of ASCII in either case"),
    Option("-F", "--fixed", action="store_true", help="PATTERN is text, whatever it looks like"),
    Option("-c", "--count", one_of="what", action="store_true", help="print only how many places each archive has"),
    Option("-l", "--list", one_of="what", action="store_true", help="print only the archives that have it"),
    Option(
        "--in",
        dest="among",
        choices=("content", "bytes", "names"),
        default="content",
        help="search what members hold, decoded (the default); the bytes of the file; or members' names",
    ),
    JSON,
    *CONNECTION,
)
_Place = tuple[str | None, int | None, tuple[int, int] | None, bytes]
"""The member, the offset in what was searched of it, the stored bytes, and what was found."""


def run(options: argparse.Namespace) -> int:
    """Print where it occurs; FINE if it does, NOT_SOUND if not, UNREADABLE if not all was read. Raises AskError."""
    pattern, found, status = pattern_of(options.pattern, fixed=options.fixed, ignore_case=options.ignore_case), 0, FINE
    for location in options.locations:
        try:
            parts = open_parts(location, connection_of(options), sparing=True)
            if options.among != "bytes":
                learn_all((part.archive for part in parts), Progress())
        except SourceError as error:
            complain(str(error))
            status = UNREADABLE
            continue
        for part in parts:
            search = _Search(part, options)
            places = search.places(pattern)
            here = 0
            for place in places:
                here += 1
                if options.list:
                    break
                if not options.count:
                    _show(part, place)
            found += here
            if options.count or (options.list and here):
                line = f"{visible(part.label)}: {here:,}" if options.count else visible(part.label)
                show({"source": part.source, "count": here} if options.count else {"source": part.source}, line)
            status = max(status, search.status)
        status = max(status, status_of(parts))
    return status or (FINE if found else NOT_SOUND)


class _Search:
    """Searching one archive; ``status`` is UNREADABLE where not all of it could be read."""

    def __init__(self, part: LocationPart, options: argparse.Namespace) -> None:
        self._part, self._archive, self._among = part, part.archive, options.among
        self.status = FINE

    def places(self, pattern: re.Pattern[bytes]) -> Iterator[_Place]:
        """Where the pattern occurs, in the order of the archive."""
        archive, source = self._archive, self._archive.source
        if self._among == "bytes":
            try:
                for at, what in matches(pattern, blocks(source, 0, source.size)):
                    number = member_at(archive, at)
                    name = None if number is None else decoded(archive.members.path(number))[0]
                    yield name, None, (at, at + len(what)), what
            except SourceError as error:
                self._failed(str(error))
            return
        if archive.decoder is None:
            self._failed(f"{self._part.label}: {UNKNOWN_FORMAT}")
        for index in range(len(archive.members)):
            member = archive.members.seen(index)
            try:
                yield from self._in_member(pattern, member)
            except (SourceError, MemberError) as error:
                self._failed(f"{self._part.label}: {visible(member.path)} was not searched to its end. {error}")

    def _failed(self, sentence: str) -> None:
        complain(sentence)
        self.status = UNREADABLE

    def _in_member(self, pattern: re.Pattern[bytes], member: Member) -> Iterator[_Place]:
        name, whole, stored = decoded(member.path)[0], None, None
        if member.readable and member.spans:
            whole = member.spans[0].start, member.spans[-1].stop
        if self._among == "names":
            pieces: Iterator[bytes] = iter((member.path,))
        elif member.marks & SPECIAL:
            return
        else:
            pieces = content(self._archive, member.index, Progress())
            if member.readable and is_stored(self._archive.source, member):
                stored = SplicedSource(self._archive.source, member.spans, name)
        for at, what in matches(pattern, pieces):
            exact = stored.outer(at, at + len(what)) if stored is not None and what else ()
            yield name, at, (exact[0].start, exact[-1].stop) if exact else whole, what


def _show(part: LocationPart, place: _Place) -> None:
    name, at, span, what = place
    text = visible(what[:_MAX_SHOWN_BYTES]) + ("…" if len(what) > _MAX_SHOWN_BYTES else "")
    inside = "" if name is None else f" {visible(name)}" + ("" if at is None else f" +{at:,}")
    stored = "" if span is None else f" 0x{span[0]:x}..0x{span[1]:x}"
    found = {"source": part.source, "member": name, "at": at, "span": span, "match": what[:1024].hex()}
    show(found, f"{visible(part.label)}:{inside}{stored}: {text}")
