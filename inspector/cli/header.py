"""``header``: a TACO header, shown or edited in place."""

from __future__ import annotations

import argparse
import json
from typing import Any

from inspector.cli.archives import parts
from inspector.cli.connecting import connection_of
from inspector.cli.output import Lines, complain
from inspector.cli.progress_bar import ProgressBar
from inspector.cli.unfinished import tidy_around
from inspector.cli.writes import write_lines, write_objects
from inspector.core.edit import Edit
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.operations.edit.apply_repairs import writable, write_edit
from inspector.operations.edit.s3_writing import sending_lines, sent_bytes
from inspector.operations.edit.taco_header import header_draft, header_view, preview
from inspector.operations.jobs.operation_error import Refused
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


def run(options: argparse.Namespace) -> None:
    """Show the header of ``options.location``, changed and written as the other options say.

    Raises SourceError where there is no archive, Refused where there is no such header or number, and EditError where
    it cannot be written.
    """
    opened = parts(options.location, connection_of(options), sparing=True)
    if len(opened) != 1:
        raise Refused("This is a folder of several files, and a TACO header stands in one.")
    archive = opened[0].archive
    edit, draft = _wanted(archive, options)
    _tidy(edit, options)
    for entry in header_view(archive, draft).entries if draft is not None else ():
        if entry.doubtful and entry.index in header_view(archive, draft).changed:
            complain(f"Entry {entry.index} leads {entry.words}: readers of this file cannot follow it.")
    written = _write(archive, edit, whole=options.whole) if edit is not None and not options.dry_run else None
    view = header_view(archive, draft)
    source = archive.source if isinstance(archive.source, S3Source) else None
    sent = sent_bytes(edit, whole=options.whole) if edit is not None and source is not None else None
    with Lines() as out:
        if options.json:
            out.write(_json(opened[0].label, view, edit, written, sent))
        else:
            lines = _lines(view, edit, options.dry_run)
            if edit is not None and options.dry_run and source is not None:
                lines += ["This would be sent:", *sending_lines(source, edit, whole=options.whole)]
            out.write("".join(f"{visible(line)}\n" for line in lines))
            if written is not None:
                out.write(f"{visible(written.sentence)}\n")
    for warning in written.warnings if written is not None else ():
        complain(warning)


def _tidy(edit: Edit | None, options: argparse.Namespace) -> None:
    """Say, or remove, what is unfinished where something is about to be written."""
    if options.remove_unfinished or (edit is not None and not options.dry_run):
        tidy_around(options.location, options)


def _wanted(archive: Opened, options: argparse.Namespace) -> tuple[Edit | None, HeaderDraft | None]:
    """What the options want of the header; nothing where they only show it."""
    assigned = [_assignment(text) for text in options.set]
    entries = dict(assigned)
    if len(entries) != len(assigned):
        raise Refused("--set names one entry twice; give each once.")
    count = parse_number(options.count) if options.count is not None else None
    if not entries and count is None:
        return None, None
    draft = with_changes(header_draft(archive), entries, count)
    return preview(archive, draft), draft


def _assignment(text: str) -> tuple[int, TacoEntry]:
    index, equals, entry = text.partition("=")
    if not equals:
        raise Refused(f"--set takes I=OFFSET,LENGTH, as in --set 0=157,1000; {text!r} has no =.")
    return parse_number(index), parse_entry(entry)


def _write(archive: Opened, edit: Edit, *, whole: bool) -> WriteResult:
    source = writable(archive)
    if isinstance(source, S3Source):
        for line in sending_lines(source, edit, whole=whole, planned=False):
            complain(line)
    with ProgressBar(Progress()) as progress:
        return write_edit(source, edit, progress, whole=whole)


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


def _json(label: str, view: HeaderView, edit: Edit | None, written: WriteResult | None, sent: int | None) -> str:
    found: dict[str, Any] = {
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
    }
    if sent is not None:
        found["sent"] = sent
    return f"{json.dumps(found)}\n"
