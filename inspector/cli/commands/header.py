"""``header``: show a TACO header, or edit it in place."""

from __future__ import annotations

import argparse
from typing import Any

from inspector.cli.archives import open_parts
from inspector.cli.options import CONNECTION, CONSENTS, DRY_RUN, JSON, Option, connection_of, consents_of, location
from inspector.cli.output import ProgressBar, complain, show, write_lines, write_objects
from inspector.cli.write_options import REMOVE_UNFINISHED, handle_unfinished_around
from inspector.core.edit import Edit
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.operations.edit.apply_repairs import file_of, save_copy, sending_lines, sent_bytes, writable, write_edit
from inspector.operations.edit.edits import header_draft, header_view, preview
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.edit_views import WriteResult
from inspector.operations.protocol.header_draft import (
    HeaderDraft,
    HeaderView,
    TacoEntry,
    parse_entry,
    parse_number,
    with_changes,
)
from inspector.sources.s3.source import S3Source

HEADER_CHANGES = (
    Option(
        "--set", action="append", default=[], metavar="I=OFFSET,LENGTH", help="set entry I, 0 to 6; may be repeated"
    ),
    Option("--count", metavar="N", help="how many entries are in use, 0 to 7"),
)
"""How a header is changed, for ``requested_changes``."""
OPTIONS = (
    location("the archive"),
    DRY_RUN,
    *CONSENTS,
    *HEADER_CHANGES,
    Option(
        "--to", metavar="COPY", default="", help="leave the archive as it is, such as a read-only one, and write a copy"
    ),
    REMOVE_UNFINISHED,
    JSON,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> None:
    """Print the header of ``options.location``, after changing and writing it as the other options say.

    Raises SourceError if there is no archive, OperationError if there is no such header or number, and EditError if it
    cannot be written.
    """
    opened = open_parts(options.location, connection_of(options), sparing=True)
    if len(opened) != 1:
        raise OperationError("This is a folder of several files; a TACO header is in one file. Name the file.")
    archive = opened[0].archive
    edit, draft = _requested_edit(archive, options)
    if options.remove_unfinished or (edit is not None and not options.dry_run):
        handle_unfinished_around(options.location, options)
    before = header_view(archive, draft)
    for entry in before.entries:
        if entry.doubtful and entry.index in before.changed:
            complain(f"Entry {entry.index} leads {entry.words}: readers of this file cannot follow it.")
    written = _write(archive, edit, options) if edit is not None and not options.dry_run else None
    view = header_view(archive, draft)
    lines, sent = _lines(view, edit, options.dry_run), None
    if edit is not None and isinstance(archive.source, S3Source):
        sent = sent_bytes(edit, consents_of(options))
        if options.dry_run:
            lines += ["This would be sent:", *sending_lines(archive.source, edit, consents_of(options))]
    lines += [written.sentence] if written is not None else []
    show(_object(opened[0].source, view, edit, written, sent), *map(visible, lines))
    for warning in written.warnings if written is not None else ():
        complain(warning)


def _requested_edit(archive: Opened, options: argparse.Namespace) -> tuple[Edit | None, HeaderDraft | None]:
    """The edit that the options ask for and its draft; None for both if the header is only shown."""
    wanted = requested_changes(options)
    if wanted is None:
        if options.to:
            raise OperationError("--to writes a changed copy: say what to change with --set or --count.")
        return None, None
    if not (options.dry_run or options.to):
        writable(file_of(archive))
    draft = with_changes(header_draft(archive), *wanted)
    return preview(archive, draft), draft


def requested_changes(options: argparse.Namespace) -> tuple[dict[int, TacoEntry], int | None] | None:
    """The entries and the count that the options set; None without any. Raises OperationError."""
    assigned = [_assignment(text) for text in options.set]
    entries = dict(assigned)
    if len(entries) != len(assigned):
        raise OperationError("--set names one entry twice; give each once.")
    count = parse_number(options.count) if options.count is not None else None
    return (entries, count) if entries or count is not None else None


def _assignment(text: str) -> tuple[int, TacoEntry]:
    index, equals, entry = text.partition("=")
    if not equals:
        raise OperationError(f"--set takes I=OFFSET,LENGTH, as in --set 0=157,1000; “{visible(text)}” has no =.")
    return parse_number(index), parse_entry(entry)


def _write(archive: Opened, edit: Edit, options: argparse.Namespace) -> WriteResult:
    readable = file_of(archive)
    if options.to:
        with ProgressBar(Progress()) as progress:
            save_copy(readable, edit, options.to, progress, False, connection_of(options))
        return WriteResult(f"{visible(options.to)} is the archive with this header.")
    source = writable(readable)
    if isinstance(source, S3Source):
        for line in sending_lines(source, edit, consents_of(options), planned=False):
            complain(line)
    with ProgressBar(Progress()) as progress:
        return write_edit(source, edit, progress, consents_of(options))


def _lines(view: HeaderView, edit: Edit | None, dry_run: bool) -> list[str]:
    lines = [f"count {view.count}"]
    for entry in view.entries:
        use = "" if entry.used else "  (not in use)"
        mark = " *" if entry.index in view.changed else ""
        numbers = f"{entry.offset:>20,} {entry.length:>20,}"
        lines.append(f"entry {entry.index}{mark:<2} {numbers}  {entry.words}{use}")
    if view.why_not:
        lines.append(view.why_not)
    if edit is not None and dry_run:
        lines += ["Nothing is written. These would be the writes, in this order:", *write_lines(edit)]
    return lines


def _object(
    label: str, view: HeaderView, edit: Edit | None, written: WriteResult | None, sent: int | None
) -> dict[str, Any]:
    return {
        "source": label,
        "count": view.count,
        "entries": [
            {
                "index": entry.index,
                "offset": entry.offset,
                "length": entry.length,
                "used": entry.used,
                "pointing": str(entry.pointing),
                "target": entry.words,
            }
            for entry in view.entries
        ],
        "editable": not view.why_not,
        "why_not": view.why_not,
        "writes": write_objects(edit) if edit is not None else [],
        "written": written is not None,
        **({"sent": sent} if sent is not None else {}),
    }
