"""A report as a page for a browser: one file without scripts, links or anything to load. A PDF is made of it too.

Redacted, it holds neither names nor content: members are numbers, findings are their codes with the declared advice,
and of the bytes only those that are structure are shown. Nothing that a file says is trusted to be harmless.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from html import escape
from itertools import accumulate, groupby, islice, pairwise
from typing import TypeVar

from inspector import __version__
from inspector.core import codes
from inspector.core.cause import MEANINGS, Cause, is_cause
from inspector.core.field import Run, census, runs
from inspector.core.finding import Finding, FindingType, Severity
from inspector.core.kinds import Kind, Role
from inspector.core.names import abridged, visible
from inspector.core.numbers import count, grouped, hexadecimal, in_bytes, rounded
from inspector.core.program.progress import Progress
from inspector.core.program.redaction import redacted
from inspector.core.source import Source, SourceError, is_sparing
from inspector.core.span import Span, Spans
from inspector.core.verdict import State, Verdict
from inspector.drawing.colouring import PAINTS, ColourBy, Paint, families_in, landmarks, shown_in
from inspector.drawing.palette import COLOURS, MARKS, Mark, Scheme
from inspector.formats._causes.diagnosis import cause_sentence
from inspector.operations.check.checking import CheckReport
from inspector.operations.check.digest_check import digest_of
from inspector.operations.check.report import FindingRow, archive_readers, finding_rows, kinds_of, range_state
from inspector.operations.check.tracing import sentence
from inspector.operations.diagram.drawing import (
    DAMAGE,
    QUIET,
    RULE,
    WIDTH,
    Shades,
    diagram_svg,
    line_shade,
    rect,
    shade_in,
    shade_of,
    svg,
    text,
)
from inspector.operations.diagram.shape import diagram_of_all
from inspector.operations.edit.apply_repairs import describe
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.location import inside
from inspector.operations.open.opening import Opened
from inspector.operations.open.overview import in_kind_order, overview
from inspector.operations.protocol.edit_views import RepairRow
from inspector.sources.local.file import FileSource

MAX_DAMAGED = 1_000
"""Findings whose bytes are marked in the map."""
MAP_COLUMNS = 480
"""Stretches of the map."""
COLUMNS = 16
"""Bytes in a row of an excerpt."""
_GROUP = 8
_HEX_WIDTH = 3 * COLUMNS + COLUMNS // _GROUP - 2
"""Characters of the digits of a whole row."""
_MAX_ROWS = 5
_MAX_PLACES = 2
"""Places of one finding whose bytes are shown, and the rows of each."""
_PLAIN_ROLES = frozenset((Role.EXTENT, Role.DIGEST))
_PLAIN_KINDS = frozenset((Kind.SIGNATURE, Kind.NUMBER, Kind.FLAGS, Kind.TIME))
"""The bytes that a redacted report shows: neither names nor content."""
_LANDMARKS_HEIGHT, _MAP_HEIGHT, _DAMAGE_HEIGHT, _AXIS = 8, 40, 8, 18
MAX_FINDINGS = 1_000
"""Findings that a report lists; more are counted."""
MAX_EXCERPTS = 40
"""Findings of an archive whose bytes are shown."""
MAX_ROWS = 1_000
"""Members, digests, ranges and readers that a report lists; more are counted."""
MAX_DIAGRAM_ROWS = 40
WITHHELD = "name withheld"
_GOOD = frozenset((State.SOUND, Verdict.VERIFIED))
_BAD = frozenset((State.DAMAGED, State.UNREADABLE, Verdict.MISMATCH))
_WARNING = frozenset((State.WARNING, State.TORN, Verdict.DOUBTFUL))
Shown = TypeVar("Shown")
_NUMBERS = frozenset(("Bytes", "Stored", "Members"))
_MONO = frozenset(("Recorded", "Computed"))


def _named(scheme: Scheme) -> dict[str, str]:
    colours, marks = COLOURS[scheme], MARKS[scheme]
    own = {"base": colours.base, "text": colours.text, "quiet": colours.quiet, "rule": colours.rule}
    return own | {
        "bad": colours.damage,
        "good": marks[Mark.GOOD],
        "warn": marks[Mark.WARNING],
        "info": marks[Mark.INFO],
    }


_RULES = """
body {{ background-color: {base}; color: {text} }}
h2, th, .key, .quiet, .at {{ color: {quiet} }}
h2, td, th {{ border-color: {rule} }}
.bad {{ color: {bad} }} .warning {{ color: {warn} }} .good {{ color: {good} }} .info {{ color: {info} }}
.w {{ border-color: {bad} }} .plain, pre {{ color: {text} }}
"""
_SCREEN = """
:root { color-scheme: light dark }
body { font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; margin: 1.6rem auto 3rem; max-width: 64rem;
  padding: 0 1.2rem }
h1 { font-size: 1.45rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere }
h2 { font-size: .8rem; font-weight: 600; letter-spacing: .06em; text-transform: uppercase; margin: 1.5rem 0 .5rem;
  padding-bottom: .2rem; border-bottom: 1px solid }
h1, td, p, pre { unicode-bidi: isolate }
p { margin: .2rem 0; overflow-wrap: anywhere }
.state { font-size: 1.05rem; font-weight: 600 }
.cause { font-size: 1.05rem }
svg { display: block; height: auto; width: 100%; margin: .4rem 0 }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid; padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top;
  overflow-wrap: anywhere }
th { font-weight: 600; font-size: .85rem }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.about td { border: 0; padding-top: 0 } .key { white-space: nowrap; width: 7rem }
code, pre, .mono { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .85em }
.finding { border-left: 3px solid; padding-left: .8rem; margin: .8rem 0 }
.beneath { margin-left: 1.6rem }
pre { line-height: 1.5; margin: .3rem 0; overflow-x: auto }
pre span { padding: .1em 0 }
.w { border-bottom: 2px solid; font-weight: 700 }
.swatch { display: inline-block; width: 1em; height: 1em; border-radius: 2px; vertical-align: -.15em;
  margin-right: .35em; overflow: hidden }
.legend span.item { margin-right: 1.1em; white-space: nowrap }
article + article { margin-top: 3rem }
@media print { body { margin: 0; max-width: none; font-size: 10pt } .finding, svg { break-inside: avoid } }
"""
_PRINT = """
body { font-family: "DejaVu Sans", sans-serif; font-size: 9pt }
h1 { font-size: 15pt; margin-top: 0; margin-bottom: 4px }
h2 { font-size: 10pt; margin-top: 14px; margin-bottom: 4px }
p { margin-top: 2px; margin-bottom: 2px }
.state, .cause { font-size: 10.5pt }
.state { font-weight: bold }
td, th { padding: 2px 10px 2px 0 }
th { font-weight: bold }
code, pre, .mono { font-family: "DejaVu Sans Mono", monospace; font-size: 8pt }
.beneath { margin-left: 16px }
.w { text-decoration: underline; font-weight: bold }
"""
"""What QTextDocument understands, which has neither variables nor media queries."""


class Page:
    """One page about some reports; ``redact``: without what their files hold."""

    def __init__(self, *, redact: bool = False) -> None:
        self._redact = redact
        self._shades = Shades()
        self._titles: list[str] = []
        self._articles: list[str] = []

    def add(
        self,
        report: CheckReport,
        progress: Progress,
        *,
        note: str = "",
        notes: Sequence[str] = (),
        now: datetime | None = None,
    ) -> None:
        """Add a checked location; ``note`` is added to what the file is, and ``notes`` are the user's.

        Reads the archive again for its digest and the excerpts, and plans its repairs; ``now`` is when it is made.
        Raises Cancelled.
        """
        progress.begin("Writing the report", 0)
        article = _Article(report, progress, self._shades, self._redact)
        self._titles.append(article.title)
        made = article.parts(note, () if self._redact else notes, now or datetime.now(UTC))
        self._articles.append(f"<article>\n{''.join(made)}</article>\n")

    def __len__(self) -> int:
        return len(self._articles)

    def html(self, *, for_print: bool = False) -> str:
        """The page; ``for_print``: for the PDF, which is light and knows less of style."""
        title = self._titles[0] if len(self._titles) == 1 else f"{len(self._titles):,} archives"
        light, rules = _RULES.format(**_named(Scheme.LIGHT)), self._shades.rules()
        if for_print:
            style = f"{_PRINT}{light}{rules.split('@media', 1)[0]}"
        else:
            dark = _RULES.format(**_named(Scheme.DARK))
            style = f"{_SCREEN}{light}@media screen and (prefers-color-scheme: dark) {{{dark}}}\n{rules}"
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            '<meta name="viewport" content="width=device-width">\n'
            f"<title>{escape(title)}</title>\n<style>{style}</style></head><body>\n"
            f"{''.join(self._articles)}</body></html>\n"
        )


class _Article:
    """What a page says of one report."""

    def __init__(self, report: CheckReport, progress: Progress, shades: Shades, redact: bool) -> None:
        self._report = report
        self._progress = progress
        self._shades = shades
        self._redact = redact
        self._single = report.archives[0] if len(report.archives) == 1 else None

    def parts(self, note: str, notes: Sequence[str], now: datetime) -> Iterator[str]:
        report, single = self._report, self._single
        cause = next(filter(None, (cause_sentence(each.findings) for each in report.archives)), "")
        said = _said(report.sentence)
        if self._redact:
            said = (
                f"{report.state.capitalize()}." if report.state else "Nothing wrong was seen; not everything was read."
            )
        yield f"<h1>{escape(self.title)}</h1>\n"
        yield f'<p class="state {_class(report.state)}">{escape(said)}</p>\n'
        yield f'<p class="cause">Cause: {escape(_said(cause))}</p>\n' if cause and not self._redact else ""
        about = (
            f'<tr><td class="key">{escape(name)}</td><td>{_mono(value) if name == "SHA-256" else escape(value)}</td>'
            "</tr>\n"
            for name, value in (*self._about(note, now), *(("User's note", _said(each)) for each in notes))
        )
        yield f'<table class="about">{"".join(about)}</table>\n'
        if single is not None and single.source.size:
            yield the_map(single, self._shades, self._progress)
        yield self._diagram()
        yield self._ranges()
        yield "\n<h2>Findings</h2>\n"
        yield from self._findings()
        yield self._repair()
        yield self._readers()
        yield self._members()
        yield self._digests()

    # ---- what it is ----------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The last part of its location."""
        if self._redact:
            kind = (self._report.format or "").upper()
            return f"{kind} archive ({WITHHELD})" if kind else f"File ({WITHHELD})"
        location = _said(self._report.location)
        return location.split("?", 1)[0].rstrip("/").rsplit("/", 1)[-1] or location

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
        try:
            return digest_of(source, self._progress)
        except (SourceError, OperationError) as error:
            return f"unknown: {_said(str(error))}"

    def _diagram(self) -> str:
        try:
            shape = diagram_of_all(self._report.archives, named=not self._redact, rows=MAX_DIAGRAM_ROWS)
        except SourceError:
            return ""
        return f"<h2>Diagram</h2>\n{diagram_svg(shape, self._shades)}" if shape is not None else ""

    # ---- findings ------------------------------------------------------------------------------------------------

    def _findings(self) -> Iterator[str]:
        rows, left = finding_rows(self._report), sum(each.findings_dropped for each in self._report.archives)
        excerpted = Counter[int]()
        for alike in kinds_of(islice(rows, MAX_FINDINGS)):
            first = alike[0]
            if len(alike) > 1:
                beneath = ' class="beneath"' if first.placed.beneath else ""
                heading = f"{len(alike):,} findings of one kind {_mono(first.finding.code)}"
                yield f"<details{beneath}><summary>{heading}</summary>\n"
            for row in alike:
                self._progress.advance(0)
                excerpted[id(row.archive)] += 1
                yield self._finding(row, excerpted=excerpted[id(row.archive)] <= MAX_EXCERPTS)
            yield "</details>\n" * (len(alike) > 1)
        if not excerpted:
            yield "<p>None.</p>\n"
        if left := left + sum(1 for _ in rows):
            yield f'<p class="quiet">{count(left, "more finding")} not listed here.</p>\n'

    def _finding(self, row: FindingRow, *, excerpted: bool) -> str:
        placed, finding, archive, shown = row.placed, row.finding, row.archive, ""
        if archive is not None and excerpted:
            shown = "".join(excerpts(archive, finding.spans, self._shades, redact=self._redact))
        kind = {"error": "bad"}.get(finding.severity, finding.severity)
        details = [_mono(finding.code)]
        if finding.spans:
            places = ", ".join(f"{hexadecimal(start)}..{hexadecimal(stop)}" for start, stop in finding.spans[:8])
            details.append(f"bytes {_mono(f'{places} …' if len(finding.spans) > 8 else places)}")
        if row.member is not None:
            name = f"member {row.member[0]:,}" if self._redact else _name(row.member[1])
            details += [f"in {_mono(name)}"] if name else []
        if placed.repair:
            details.append(f"repair: {_mono(placed.repair)}")
        beneath = " beneath" if placed.beneath else ""
        message = _declared(archive, finding) if self._redact else _said(row.message)
        return (
            f'<div class="finding{beneath} {kind}">\n<p><b class="{kind}">{escape(finding.severity.capitalize())}</b> '
            f'<span class="plain">{escape(message)}</span></p>\n'
            f'<p class="quiet">{" · ".join(details)}</p>\n{shown}</div>\n'
        )

    # ---- repairs -------------------------------------------------------------------------------------------------

    def _repair(self) -> str:
        """The plan of repairs of one checked file; of several, and of objects far away, the findings name repairs."""
        archive = self._single
        wanted = archive is not None and archive.checked and archive.decoder is not None
        if archive is None or not wanted or not isinstance(archive.source, FileSource):
            return ""
        if not any(each.repair for each in archive.findings):
            return ""
        rows: list[str] = []
        try:
            shown = describe(plan(archive, self._progress))
        except SourceError as error:
            said = _said(str(error))
        else:
            rows = [self._repair_row(each, "") for each in shown.repairs]
            rows += [self._repair_row(each, f"--accept {each.code}") for each in shown.waiting]
            rows += [self._repair_row(shown.salvage, "--to COPY")] if shown.salvage is not None else []
            said = f"The repaired archive would be {shown.after}." if self._redact else _said(shown.sentence)
        return f"<h2>Repair</h2>\n<p>{escape(said)}</p>\n<table>{''.join(rows)}</table>\n"

    def _repair_row(self, repair: RepairRow, needs: str) -> str:
        claim = repair.claim and f"Assumed: {repair.claim}"
        title, means = _said(repair.title), (claim, *repair.loses, repair.lossless, repair.consent)
        if self._redact:
            title, means = "A repair", ()
        quiet = "".join(f"<br><span class=quiet>{escape(_said(each))}</span>" for each in means if each)
        asked = f"<br><span class=quiet>{_mono(needs)}</span>" if needs else ""
        return f"<tr><td>{escape(title)}{quiet}</td><td>{_mono(repair.code)}{asked}</td></tr>\n"

    # ---- tables --------------------------------------------------------------------------------------------------

    def _digests(self) -> str:
        rows: list[tuple[str, ...]] = []
        total = 0
        for before, archive in self._numbered():
            with suppress(SourceError):
                total += len(archive.checksums)
                for each in islice(archive.checksums, MAX_ROWS - len(rows)):
                    self._progress.advance(0)
                    name = each.name
                    if self._redact:
                        name = "" if each.member is None else f"member {before + each.member:,}"
                    rows.append((*map(_name, (name, each.algorithm, each.stored, each.computed)), each.verdict))
        return _table("Digests", ("Covers", "Algorithm", "Recorded", "Computed", "Verdict"), rows, total)

    def _members(self) -> str:
        rows: list[tuple[str, ...]] = []
        for before, archive in self._numbered():
            label = inside(self._report.location, archive.source.name)
            for at in range(min(len(archive.members), MAX_ROWS - len(rows))):
                self._progress.advance(0)
                member = archive.members.seen(at)
                path = _name(member.path)
                name = f"member {before + at:,}" if self._redact else (f"{visible(label)}/{path}" if label else path)
                rows.append((name, grouped(member.size), grouped(member.stored), member.codec, archive.verdict(at)))
        return _table("Members", ("Name", "Bytes", "Stored", "Codec", "Verdict"), rows, self._report.members)

    def _numbered(self) -> Iterator[tuple[int, Opened]]:
        """The archives, each with the number of its first member among those of all."""
        archives = self._report.archives
        return zip(accumulate((len(each.members) for each in archives), initial=0), archives, strict=False)

    def _ranges(self) -> str:
        archives = self._report.archives if self._single is None else ()
        rows = []
        for at, archive in enumerate(archives[:MAX_ROWS]):
            label = inside(self._report.location, archive.source.name) or archive.source.name
            name = f"range {at:,}" if self._redact else _name(label)
            rows.append((name, range_state(archive), grouped(len(archive.members)), grouped(archive.source.size)))
        return _table("Ranges", ("Range", "State", "Members", "Bytes"), rows, len(archives))

    def _readers(self) -> str:
        """What each known reader makes of it, if the check asked for that."""
        rows: list[tuple[str, ...]] = []
        for at, (label, found) in enumerate(archive_readers(self._report)):
            name = f"range {at:,}" if self._redact else _name(label)
            for each in found:
                title = f"{each.reader.title} ({name})" if self._single is None else each.reader.title
                made = str(each.verdict) if self._redact else _said(sentence(each))
                rows.append((title, str(each.reader.kind), made, "" if self._redact else _said(each.outcome.cause)))
        titles = ("Reader", "How", "What it makes of it", "What would have to be different")
        return _table("Readers", titles, rows[:MAX_ROWS], len(rows))


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], total: int) -> str:
    """A table of these rows; ``total`` says how many there are in all. Empty if there are none."""
    made = [f"<tr>{''.join(map(_cell, columns, row))}</tr>\n" for row in rows]
    if not made:
        return ""
    heads = "".join(f"<th{_align(name)}>{escape(name)}</th>" for name in columns)
    more = f'<p class="quiet">… and {total - len(made):,} more</p>\n' if total > len(made) else ""
    return f"<h2>{title}</h2>\n<table><thead><tr>{heads}</tr></thead><tbody>\n{''.join(made)}</tbody></table>\n{more}"


def _align(title: str) -> str:
    return ' class="n" align="right"' if title in _NUMBERS else ""


def _cell(title: str, text: str) -> str:
    if title in ("Verdict", "State"):
        return f'<td class="{_class(text)}">{escape(text)}</td>'
    return f"<td{_align(title)}>{_mono(text) if title in _MONO else escape(text)}</td>"


def _class(value: str | None) -> str:
    return "good" if value in _GOOD else "bad" if value in _BAD else "warning" if value in _WARNING else ""


def _mono(text: str) -> str:
    return f"<code>{escape(text)}</code>"


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


# ---- the map -------------------------------------------------------------------------------------------------------


def the_map(archive: Opened, shades: Shades, progress: Progress) -> str:
    """The map of an archive; empty where it cannot be read."""
    size, sparing = archive.source.size, is_sparing(archive.source)
    try:
        sets = overview(archive.fields, size, MAP_COLUMNS, progress, sparing=sparing)
        kinds = in_kind_order(census(archive.fields, progress.advance), archive)
    except SourceError:
        return ""
    wrong = (each for each in archive.findings if each.severity is not Severity.INFO)
    damage = [span for each in islice(wrong, MAX_DAMAGED) for span in each.spans]
    named_kinds = (
        (
            Paint(ColourBy.STRUCTURE, (kind, unused), 0 if unused else 2),
            f"{kind.label}{', unused' if unused else ''} · {number:,}",
        )
        for (kind, unused), number in kinds.items()
    )
    drawn = _map(sets, damage, size, shades)
    return f"<h2>Map</h2>\n{drawn}{_legend(named_kinds, shades)}"


def _legend(items: Iterable[tuple[Paint, str]], shades: Shades) -> str:
    """What each colour means: a swatch and words."""
    swatch = '<span class="item"><span class="swatch {}">&nbsp;&nbsp;&nbsp;</span> {}</span>&ensp; '
    found = "".join(swatch.format(shades.of(shade_of(paint)), escape(label)) for paint, label in items)
    return f'\n<p class="legend quiet">{found}</p>\n'


def _map(sets: Sequence[int], damage: Sequence[Span], size: int, shades: Shades) -> str:
    cell = WIDTH / max(1, len(sets))
    top = _LANDMARKS_HEIGHT + 2
    under = top + _MAP_HEIGHT + 2
    parts = [rect(0, top, WIDTH, _MAP_HEIGHT, RULE, shades)]
    for at, number, bits in _stretches(sets):
        shown = shown_in(bits, ColourBy.STRUCTURE)
        for low, size_of_each, each in _shares(top, _MAP_HEIGHT, shown):
            parts.append(rect(at * cell, low, number * cell, size_of_each, shade_in(each), shades))
    for at, number, bits in _stretches(landmarks(sets)):
        for low, width, family in _shares(at * cell, number * cell, families_in(bits)):
            parts.append(rect(low, 0, width, _LANDMARKS_HEIGHT, line_shade(family), shades))
    for start, stop in damage:
        low = min(start, size - 1) * WIDTH / size
        width = max(3.0, (stop - start) * WIDTH / size)
        parts.append(rect(min(low, WIDTH - width), under, width, _DAMAGE_HEIGHT, DAMAGE, shades))
    foot = under + _DAMAGE_HEIGHT + _AXIS - 4
    parts.append(text(0, foot, "0x0", QUIET, shades))
    parts.append(text(WIDTH // 2, foot, hexadecimal(size // 2), QUIET, shades, "middle"))
    parts.append(text(WIDTH, foot, hexadecimal(size), QUIET, shades, "end"))
    return svg(under + _DAMAGE_HEIGHT + _AXIS, parts, "Map of the file: which structures are where, damage below")


def _stretches(values: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """Runs of one value: where each begins, how many there are, and the value."""
    for value, same in groupby(enumerate(values), lambda each: each[1]):
        (first, _), *others = same
        yield first, 1 + len(others), value


def _shares(start: float, size: float, among: Sequence[Shown]) -> Iterator[tuple[float, float, Shown]]:
    """Equal parts of ``size`` from ``start`` on, one for each of some: where it begins, and its size."""
    return ((start + size * at / len(among), size / len(among), each) for at, each in enumerate(among))


# ---- excerpts ------------------------------------------------------------------------------------------------------


def excerpts(archive: Opened, wrong: Spans, shades: Shades, *, redact: bool) -> Iterator[str]:
    """Some rows of the bytes that a finding names, coloured as in the view, with what the colours mean."""
    reached = -1
    for span in wrong[:_MAX_PLACES]:
        first = max(0, min(span.start, archive.source.size - 1) // COLUMNS * COLUMNS)
        if first <= reached:
            continue
        rows = max(1, min(-(-(span.stop - first) // COLUMNS), _MAX_ROWS))
        stop = min(archive.source.size, first + rows * COLUMNS)
        reached = stop - 1
        try:
            data = archive.source.read(first, stop - first)
            found = runs(archive.fields, first, stop, archive.verdict)
        except SourceError:
            continue
        if data:
            more = max(0, span.stop - stop)
            yield _excerpt(data, first, found, wrong, shades, more, redact=redact)


def _excerpt(
    data: bytes, start: int, found: Sequence[Run], wrong: Spans, shades: Shades, more: int, *, redact: bool
) -> str:
    """Rows of bytes from ``start`` on, which ``more`` follow."""
    legend: dict[Paint, str] = {}
    rows = []
    for first in range(start, start + len(data), COLUMNS):
        digits, texts, width = "", "", 0
        row = Span(first, min(first + COLUMNS, start + len(data)))
        for run, (low, high), bad in _parts(found, wrong, row):
            classes = ["w"] if bad else []
            if run is not None and (paint := PAINTS[ColourBy.STRUCTURE](run)) is not None:
                legend.setdefault(paint._replace(shade=0), _paint_label(paint, run))
                classes.insert(0, shades.of(shade_of(paint)))
            shown = [f"{byte:02X}" for byte in data[low - start : high - start]]
            words = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data[low - start : high - start])
            if redact and not (run is not None and (run.kind.role in _PLAIN_ROLES or run.kind in _PLAIN_KINDS)):
                shown, words = ["··"] * (high - low), "·" * (high - low)
            gaps = [" " * (1 + (at % _GROUP == _GROUP - 1)) for at in range(low - first, high - first)]
            gaps[-1] = "" if high == row.stop else gaps[-1]  # a gap after the last byte belongs to none
            body = "".join(digit + gap for digit, gap in zip(shown, gaps, strict=True))
            width += len(body)
            digits += f"{_span(body.rstrip(' '), classes)}{gaps[-1]}"
            texts += _span(words, classes)
        rows.append(f'<span class="at">{first:08x}</span>  {digits}{" " * (_HEX_WIDTH - width + 2)}{texts}')
    rest = f'\n<span class="at">… {more:,} more bytes</span>' if more else ""
    return f"<pre>{chr(10).join(rows)}{rest}</pre>{_legend(legend.items(), shades)}"


def _span(text: str, classes: Sequence[str]) -> str:
    return f'<span class="{" ".join(classes)}">{escape(text)}</span>' if classes else escape(text)


def _parts(found: Sequence[Run], wrong: Spans, row: Span) -> Iterator[tuple[Run | None, Span, bool]]:
    """A row in pieces, each with its run, if it has one, and whether a finding names it."""
    spans = (*wrong, *(Span(run.start, run.stop) for run in found))
    edges = sorted({*row, *(edge for span in spans for edge in span if row.start < edge < row.stop)})
    for start, stop in pairwise(edges):
        run = next((each for each in found if each.start <= start < each.stop), None)
        yield run, Span(start, stop), any(span.start <= start and stop <= span.stop for span in wrong)


def _paint_label(paint: Paint, run: Run) -> str:
    structure = run.structure
    if paint.by is ColourBy.STRUCTURE and structure is not None:
        return f"{structure.kind.label}, unused" if structure.unused else structure.kind.label
    return str(run.role)
