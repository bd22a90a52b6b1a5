"""What a report says, gathered from a checked location, before any format of it: plain values, with text made visible.

Redacted, it holds neither names nor content: members are numbers, findings are their codes with the declared advice,
and of the bytes only those that are structure are shown. Nothing that a file says is trusted to be harmless.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice, pairwise

from msgspec import Struct

from inspector import __version__
from inspector.core import codes
from inspector.core.cause import MEANINGS, Cause, is_cause
from inspector.core.field import Census, Field, Run, census, runs
from inspector.core.finding import Finding, FindingType, Severity
from inspector.core.kinds import Family, Kind, Role, Shape, family_of
from inspector.core.names import abridged, visible
from inspector.core.numbers import count, grouped, hexadecimal, in_bytes, rounded
from inspector.core.program.progress import Progress
from inspector.core.program.redaction import redacted
from inspector.core.source import Source, SourceError, blocks, is_sparing
from inspector.core.span import Span, Spans
from inspector.core.verdict import State, Verdict
from inspector.drawing.colouring import PAINTS, ColourBy, Paint
from inspector.drawing.diagram import Diagram
from inspector.formats._causes.diagnosis import Placed, cause_sentence, folded
from inspector.operations.check.checking import STATES, CheckReport, own_state
from inspector.operations.check.report import archive_readers
from inspector.operations.diagram.shape import diagram_of_all
from inspector.operations.edit.apply_repairs import describe
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.open.location import inside
from inspector.operations.open.opening import Opened
from inspector.operations.open.overview import in_kind_order, overview
from inspector.operations.protocol.edit_views import RepairRow
from inspector.operations.trace.tracing import sentence
from inspector.sources.local.file import FileSource

MAX_FINDINGS = 1_000
"""Findings that a report lists; more are counted."""
MAX_EXCERPTS = 40
"""Findings of an archive whose bytes are shown."""
MAX_MEMBERS = 1_000
MAX_DIGESTS = 1_000
MAX_RANGES = 1_000
MAX_READERS = 1_000
MAX_DIAGRAM_ROWS = 40
MAP_COLUMNS = 480
"""Stretches of the map."""
COLUMNS = 16
"""Bytes in a row of an excerpt."""
_MAX_ROWS = 5
_MAX_PLACES = 2
"""Places of one finding whose bytes are shown, and the rows of each."""
_MAX_TOP = 10
"""Structures of the outermost level that are shown; of more, the first and the last ones."""
_LAST_TOP = 3
_FEW_TOP = 3
_MAX_PARTS = 6
WITHHELD = "name withheld"
_PLAIN_ROLES = frozenset((Role.EXTENT, Role.DIGEST))
_PLAIN_KINDS = frozenset((Kind.SIGNATURE, Kind.NUMBER, Kind.FLAGS, Kind.TIME))
"""The bytes that a redacted report shows: neither names nor content."""


class Piece(Struct, frozen=True):
    """Bytes of one row of an excerpt that are painted alike; ``digits`` and ``text`` have one item for each byte.

    ``wrong``: the finding names them. ``paint`` is None for bytes that nothing describes.
    """

    digits: tuple[str, ...]
    text: str
    paint: Paint | None
    wrong: bool


class Row(Struct, frozen=True):
    """A row of an excerpt; it begins at byte ``start``, a multiple of COLUMNS."""

    start: int
    pieces: tuple[Piece, ...]


class Excerpt(Struct, frozen=True):
    """Some rows of bytes; ``more`` bytes of the place follow them. ``legend`` names the paints that occur."""

    rows: tuple[Row, ...]
    more: int
    legend: tuple[tuple[Paint, str], ...]


class FindingFacts(Struct, frozen=True):
    """A finding: ``message`` in words, ``place`` in hexadecimal. ``beneath``: a cause before it explains it."""

    severity: Severity
    code: str
    message: str
    place: str
    member: str
    repair: str
    beneath: bool
    excerpts: tuple[Excerpt, ...] = ()


class Part(Struct, frozen=True):
    """A structure of the outermost level with the families in it; ``more`` stands for so many that are left out."""

    label: str
    start: int
    stop: int
    families: tuple[Family | Role, ...]
    more: int = 0


class Drawing(Struct, frozen=True):
    """The map and the structure of one archive: the sets (see ``overview``) of equal stretches, and what is damaged."""

    size: int
    sets: tuple[int, ...]
    damage: Spans
    parts: tuple[Part, ...]
    kinds: tuple[tuple[Paint, str, int], ...]


class Table(Struct, frozen=True):
    """Rows of text under titles; ``more`` says how many were left out, empty if none."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: str = ""


class RepairFacts(Struct, frozen=True):
    """The plan of repairs: a summary, and each repair as what it does, what that means, its code and what it needs."""

    sentence: str
    rows: tuple[tuple[str, tuple[str, ...], str, str], ...]


class ReportFacts(Struct, frozen=True):
    """All that a report says of one location. ``state`` is None if nothing wrong was seen and not all was read."""

    title: str
    state: State | None
    sentence: str
    cause: str
    about: tuple[tuple[str, str], ...]
    drawing: Drawing | None
    diagram: Diagram | None
    findings: tuple[FindingFacts, ...]
    more_findings: str
    repair: RepairFacts | None
    digests: Table
    members: Table
    ranges: Table
    readers: Table


def gather(
    report: CheckReport,
    progress: Progress,
    *,
    redact: bool = False,
    note: str = "",
    notes: Sequence[str] = (),
    now: datetime | None = None,
) -> ReportFacts:
    """What a report on a checked location says; ``note`` is added to what the file is, and ``notes`` are the user's.

    ``now`` is when it is made.

    Reads the archive again for its digest and the excerpts, and plans its repairs. Raises Cancelled.
    """
    return _Gathering(report, progress, redact).all(note, () if redact else notes, now or datetime.now(UTC))


class _Gathering:
    def __init__(self, report: CheckReport, progress: Progress, redact: bool) -> None:
        self._report = report
        self._progress = progress
        self._redact = redact
        self._single = report.archives[0] if len(report.archives) == 1 else None

    def all(self, note: str, notes: Sequence[str], now: datetime) -> ReportFacts:
        """Everything."""
        report = self._report
        self._progress.begin("Writing the report", 0)
        findings, more = self._findings()
        cause = next(filter(None, (cause_sentence(each.findings) for each in report.archives)), "")
        return ReportFacts(
            self._title(),
            report.state,
            self._sentence(),
            "" if self._redact else _said(cause),
            (*self._about(note, now), *(("User's note", _said(each)) for each in notes)),
            self._drawing(),
            self._diagram(),
            findings,
            more,
            self._repair(),
            self._digests(),
            self._members(),
            self._ranges(),
            self._readers(),
        )

    # ---- what it is ----------------------------------------------------------------------------------------------

    def _title(self) -> str:
        if self._redact:
            kind = (self._report.format or "").upper()
            return f"{kind} archive ({WITHHELD})" if kind else f"File ({WITHHELD})"
        location = _said(self._report.location)
        return location.split("?", 1)[0].rstrip("/").rsplit("/", 1)[-1] or location

    def _sentence(self) -> str:
        state = self._report.state
        if not self._redact:
            return _said(self._report.sentence)
        return "Nothing wrong was seen; not everything was read." if state is None else f"{STATES[state]}."

    def _about(self, note: str, now: datetime) -> Iterator[tuple[str, str]]:
        report, archive = self._report, self._single
        if "://" in report.location and not self._redact:
            yield "Location", _said(report.location)
        title = archive.title if archive is not None and archive.decoder is not None else (report.format or "unknown")
        yield "Format", _said(title)
        yield "Size", in_bytes(report.size) + (f" ({rounded(report.size)})" if report.size >= 1024 else "")
        verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in report.verdicts.items())
        yield "Members", f"{report.members:,}" + (f": {verdicts}" if verdicts else "")
        if archive is not None:
            yield "SHA-256", self._sha256(archive.source)
            if isinstance(archive.source, FileSource):
                changed = datetime.fromtimestamp(archive.source.identity.mtime_ns / 1e9, UTC)
                yield "Modified", f"{changed:%Y-%m-%d %H:%M:%S} UTC"
        if note:
            yield "Note", note
        yield "Report", f"Archive Inspector {__version__}, {now:%Y-%m-%d %H:%M:%S} UTC"

    def _sha256(self, source: Source) -> str:
        if is_sparing(source) or "://" in source.name:
            return "not computed: the object would have to be read again"
        digest = hashlib.sha256()
        self._progress.begin("Computing the SHA-256", source.size)
        try:
            for piece in blocks(source, 0, source.size):
                digest.update(piece)
                self._progress.advance(len(piece))
        except SourceError as error:
            return f"unknown: {_said(str(error))}"
        return digest.hexdigest()

    # ---- pictures ------------------------------------------------------------------------------------------------

    def _drawing(self) -> Drawing | None:
        archive = self._single
        if archive is None or not archive.source.size:
            return None
        size, sparing = archive.source.size, is_sparing(archive.source)
        try:
            sets = overview(archive.fields, size, MAP_COLUMNS, self._progress, sparing=sparing)
            kinds = in_kind_order(census(archive.fields, self._progress.advance), archive)
            parts = tuple(_parts(archive.fields, named=not self._redact))
        except SourceError:
            return None
        wrong = (each for each in archive.findings if each.severity is not Severity.INFO)
        damage = tuple(span for each in islice(wrong, MAX_FINDINGS) for span in each.spans)
        return Drawing(size, tuple(sets), damage, parts, tuple(_kinds(kinds)))

    def _diagram(self) -> Diagram | None:
        try:
            return diagram_of_all(self._report.archives, named=not self._redact, rows=MAX_DIAGRAM_ROWS)
        except SourceError:
            return None

    # ---- findings ------------------------------------------------------------------------------------------------

    def _findings(self) -> tuple[tuple[FindingFacts, ...], str]:
        report = self._report
        found = [self._finding(Placed(each), None) for each in report.findings[:MAX_FINDINGS]]
        total = len(report.findings) + sum(each.findings_dropped for each in report.archives)
        for archive in report.archives:
            placed = folded(archive.findings, archive.diagnosis)
            total += len(placed)
            for at, each in enumerate(placed[: MAX_FINDINGS - len(found)]):
                self._progress.advance(0)
                found.append(self._finding(each, archive, excerpts=at < MAX_EXCERPTS))
        left = total - len(found)
        return tuple(found), f"{count(left, 'more finding')} not listed here." if left else ""

    def _finding(self, placed: Placed, archive: Opened | None, *, excerpts: bool = False) -> FindingFacts:
        finding = placed.finding
        label = inside(self._report.location, archive.source.name) if archive is not None else ""
        message = placed.message if not label else f"{label}: {placed.message}"
        return FindingFacts(
            finding.severity,
            finding.code,
            _declared(archive, finding) if self._redact else _said(message),
            ", ".join(f"{hexadecimal(start)}..{hexadecimal(stop)}" for start, stop in finding.spans[:8])
            + (" …" if len(finding.spans) > 8 else ""),
            self._member_name(archive, finding.member),
            placed.repair or "",
            placed.beneath,
            tuple(self._excerpts(archive, finding.spans)) if archive is not None and excerpts else (),
        )

    def _member_name(self, archive: Opened | None, member: int | None) -> str:
        member = archive.known_member(member) if archive is not None else None
        if archive is None or member is None:
            return ""
        return f"member {member:,}" if self._redact else _name(archive.members.path(member))

    def _excerpts(self, archive: Opened, spans: Spans) -> Iterator[Excerpt]:
        reached = -1
        for span in spans[:_MAX_PLACES]:
            first = max(0, min(span.start, archive.source.size - 1) // COLUMNS * COLUMNS)
            if first <= reached:
                continue
            rows = max(1, min(-(-(span.stop - first) // COLUMNS), _MAX_ROWS))
            stop = min(archive.source.size, first + rows * COLUMNS)
            reached = stop - 1
            try:
                excerpt = self._excerpt(archive, first, stop, spans)
            except SourceError:
                continue
            if excerpt.rows:
                yield Excerpt(excerpt.rows, max(0, span.stop - stop), excerpt.legend)

    def _excerpt(self, archive: Opened, start: int, stop: int, wrong: Spans) -> Excerpt:
        data = archive.source.read(start, stop - start)
        found = runs(archive.fields, start, stop, archive.verdict)
        legend: dict[Paint, str] = {}
        rows = []
        for first in range(start, start + len(data), COLUMNS):
            pieces = []
            for run, part in _runs_in(found, first, min(first + COLUMNS, start + len(data))):
                paint = PAINTS[ColourBy.STRUCTURE](run) if run is not None else None
                if run is not None and paint is not None:
                    legend.setdefault(paint._replace(shade=0), _paint_label(paint, run))
                hide = self._redact and not (run is not None and _is_plain(run))
                for span, bad in _split(part, wrong):
                    pieces.append(_piece(data[span.start - start : span.stop - start], paint, wrong=bad, hide=hide))
            rows.append(Row(first, tuple(pieces)))
        return Excerpt(tuple(rows), 0, tuple(legend.items()))

    # ---- repairs -------------------------------------------------------------------------------------------------

    def _repair(self) -> RepairFacts | None:
        """The plan of repairs of one checked file; of several, and of objects far away, the findings name repairs."""
        archive = self._single
        wanted = archive is not None and archive.checked and archive.decoder is not None
        if archive is None or not wanted or not isinstance(archive.source, FileSource):
            return None
        if not any(each.repair for each in archive.findings):
            return None
        try:
            shown = describe(plan(archive, self._progress))
        except SourceError as error:
            return RepairFacts(_said(str(error)), ())
        rows = [self._repair_row(each, "") for each in shown.repairs]
        rows += [self._repair_row(each, f"--accept {each.code}") for each in shown.waiting]
        if shown.salvage is not None:
            rows.append(self._repair_row(shown.salvage, "--to COPY"))
        sentence = f"The repaired archive would be {shown.after}." if self._redact else _said(shown.sentence)
        return RepairFacts(sentence, tuple(rows))

    def _repair_row(self, repair: RepairRow, needs: str) -> tuple[str, tuple[str, ...], str, str]:
        if self._redact:
            return "A repair", (), repair.code, needs
        said = (repair.claim and f"Assumed: {repair.claim}", *repair.loses, repair.lossless, repair.consent)
        return _said(repair.title), tuple(_said(each) for each in said if each), repair.code, needs

    # ---- tables --------------------------------------------------------------------------------------------------

    def _digests(self) -> Table:
        rows: list[tuple[str, ...]] = []
        total = before = 0
        for archive in self._report.archives:
            try:
                total += len(archive.checksums)
                for each in islice(archive.checksums, MAX_DIGESTS - len(rows)):
                    self._progress.advance(0)
                    name = each.name
                    if self._redact:
                        name = "" if each.member is None else f"member {before + each.member:,}"
                    rows.append(
                        (_name(name), _name(each.algorithm), _name(each.stored), _name(each.computed), each.verdict)
                    )
            except SourceError:
                pass
            before += len(archive.members)
        return Table(("Covers", "Algorithm", "Recorded", "Computed", "Verdict"), tuple(rows), _left(total - len(rows)))

    def _members(self) -> Table:
        rows: list[tuple[str, ...]] = []
        number = 0
        for archive in self._report.archives:
            label = inside(self._report.location, archive.source.name)
            for at in range(min(len(archive.members), MAX_MEMBERS - len(rows))):
                self._progress.advance(0)
                member = archive.members.seen(at)
                path = _name(member.path)
                name = f"member {number + at:,}" if self._redact else (f"{visible(label)}/{path}" if label else path)
                rows.append((name, grouped(member.size), grouped(member.stored), member.codec, archive.verdict(at)))
            number += len(archive.members)
        return Table(("Name", "Bytes", "Stored", "Codec", "Verdict"), tuple(rows), _left(number - len(rows)))

    def _ranges(self) -> Table:
        if self._single is not None:
            return Table((), ())
        archives = self._report.archives
        rows = []
        for at, archive in enumerate(archives[:MAX_RANGES]):
            state = own_state(archive)
            shown = str(state) if archive.checked or state is not State.SOUND else Verdict.NOT_CHECKED
            label = inside(self._report.location, archive.source.name) or archive.source.name
            name = f"range {at:,}" if self._redact else _name(label)
            rows.append((name, shown, grouped(len(archive.members)), grouped(archive.source.size)))
        return Table(("Range", "State", "Members", "Bytes"), tuple(rows), _left(len(archives) - len(rows)))

    def _readers(self) -> Table:
        """What each known reader makes of it, if the check asked for that."""
        rows: list[tuple[str, ...]] = []
        for at, (label, found) in enumerate(archive_readers(self._report)):
            name = f"range {at:,}" if self._redact else _name(label)
            for each in found:
                title = f"{each.title} ({name})" if self._single is None else each.title
                made = str(each.verdict) if self._redact else _said(sentence(each))
                rows.append((title, str(each.kind), made, "" if self._redact else _said(each.cause)))
        left = len(rows) - MAX_READERS
        titles = ("Reader", "How", "What it makes of it", "What would have to be different")
        return Table(titles, tuple(rows[:MAX_READERS]), _left(left))


def _left(number: int) -> str:
    return f"… and {number:,} more" if number > 0 else ""


def _said(text: str) -> str:
    """A sentence as it may be shown: without credentials, and with what cannot be seen escaped."""
    return visible(redacted(abridged(text)))


def _name(name: bytes | str) -> str:
    return abridged(visible(name))


def _declared(archive: Opened | None, finding: Finding) -> str:
    """What is declared of a finding, which holds nothing of the file: its meaning and what to do."""
    if is_cause(finding):
        return " ".join(MEANINGS[Cause(finding.code)])
    own: Sequence[FindingType] = archive.decoder.findings if archive is not None and archive.decoder else ()
    key = finding.code, finding.severity
    found = next((each for each in (*own, *codes.FINDINGS) if (each.code, each.severity) == key), None)
    return found.explanation if found is not None else f"{finding.code.replace('-', ' ').capitalize()}."


# ---- structure -----------------------------------------------------------------------------------------------------


def _parts(fields: Sequence[Field], *, named: bool) -> Iterator[Part]:
    """The structures of the outermost level in the order of the file; of a few groups, those that they hold."""
    owning = len(fields) if len(fields) > _MAX_TOP else sum(bool(each.spans) for each in fields)
    first, last = (owning, 0) if owning <= _MAX_TOP else (_MAX_TOP - _LAST_TOP - 1, _LAST_TOP)
    for at in range(first):
        field = fields[at]
        if owning <= _FEW_TOP and family_of(field.kind) is None and field.children:
            yield from _parts(field.children, named=named)
        else:
            yield _part(field, named=named)
    if last:
        yield Part("", 0, 0, (), owning - first - last)
    for at in range(owning - last, owning):
        yield _part(fields[at], named=named)


def _part(field: Field, *, named: bool) -> Part:
    label = field.label or field.name if named else field.kind.label
    stop = field.spans[-1].stop if field.spans else field.start
    return Part(_name(label), field.start, stop, tuple(_families(field)) or (field.kind.role or Role.DATA,))


def _families(field: Field) -> list[Family | Role]:
    """The families in a structure in order, each run of one once; unclaimed bytes as their role."""
    if field.kind.shape is Shape.UNCLAIMED:
        return [field.kind.role or Role.GAP]
    family = family_of(field.kind)
    if family is not None:
        return [family]
    found: list[Family | Role] = []
    for child in islice(field.children, _MAX_PARTS * 2):
        found += [each for each in _families(child) if found[-1:] != [each]]
    return found[:_MAX_PARTS]


def _kinds(found: Census) -> Iterator[tuple[Paint, str, int]]:
    for (kind, unused), number in found.items():
        label = f"{kind.label}, unused" if unused else kind.label
        yield Paint(ColourBy.STRUCTURE, (kind, unused), 0 if unused else 2), label, number


# ---- excerpts ------------------------------------------------------------------------------------------------------


def _runs_in(found: Sequence[Run], start: int, stop: int) -> Iterator[tuple[Run | None, Span]]:
    """The parts of runs in ``[start, stop)``, and what is between them without one."""
    at = start
    for run in found:
        low, high = max(run.start, at), min(run.stop, stop)
        if low >= high:
            continue
        if at < low:
            yield None, Span(at, low)
        yield run, Span(low, high)
        at = high
    if at < stop:
        yield None, Span(at, stop)


def _split(part: Span, wrong: Spans) -> Iterator[tuple[Span, bool]]:
    """A part in pieces: those that a finding names, and the others."""
    edges = sorted({part.start, part.stop, *(edge for span in wrong for edge in span if part.start < edge < part.stop)})
    for start, stop in pairwise(edges):
        yield Span(start, stop), any(span.start <= start and stop <= span.stop for span in wrong)


def _piece(data: bytes, paint: Paint | None, *, wrong: bool, hide: bool) -> Piece:
    if hide:
        return Piece(("··",) * len(data), "·" * len(data), paint, wrong)
    text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)
    return Piece(tuple(f"{byte:02X}" for byte in data), text, paint, wrong)


def _is_plain(run: Run) -> bool:
    return run.kind.role in _PLAIN_ROLES or run.kind in _PLAIN_KINDS


def _paint_label(paint: Paint, run: Run) -> str:
    structure = run.structure
    if paint.by is ColourBy.STRUCTURE and structure is not None:
        return f"{structure.kind.label}, unused" if structure.unused else structure.kind.label
    return str(run.role)
