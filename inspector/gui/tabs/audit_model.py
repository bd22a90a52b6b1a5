"""The results of an audit as a sortable table."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, rounded
from inspector.core.verdict import State
from inspector.drawing.palette import Mark
from inspector.gui.kit.icons import badged, icon, state_icon, state_mark
from inspector.gui.kit.style import STRIPE_ROLE
from inspector.gui.kit.table_models import Column
from inspector.operations.protocol.audit_views import MAX_STORED_FINDINGS, NO_ARCHIVE, UNCHECKED, WAITING, Result

_STATE_LABELS = {
    UNCHECKED: "content not read",
    State.WARNING.value: "with warnings",
    NO_ARCHIVE: "no archive",
    WAITING: "not checked yet",
}


def state_label(state: str) -> str:
    """The label of a state."""
    return _STATE_LABELS.get(state, state)


def _worst_message(row: Result) -> str:
    """The message of the worst finding, "" if there are no errors or warnings."""
    return visible(json.loads(row.findings)[0]["message"]) if row.errors or row.warnings else ""


def line_text(row: Result) -> str:
    """A result as one line for the clipboard."""
    return f"{visible(row.location)}: {row.sentence or state_label(row.state)}"


def details_text(row: Result) -> str:
    """A result in full: the location, the sentence and the worst findings."""
    if row.state == WAITING:
        return f"{visible(row.location)}\n{in_bytes(row.size)}; not checked yet."
    findings = json.loads(row.findings)
    lines = [visible(row.location), row.sentence]
    lines += [visible(f"{each['severity']}: {each['message']} [{each['code']}]") for each in findings]
    more = row.errors + row.warnings + row.infos - len(findings)
    if more > 0:
        kept = f"only the worst {MAX_STORED_FINDINGS} are stored. Open the archive to see all."
        lines.append(f"{count(more, 'more finding')}; {kept}")
    read = "only the structure" if row.quick else "everything"
    was = f"{read} was read, in {row.seconds:,.2f} s."
    lines.append(f"{in_bytes(row.size)}, {count(row.members, 'member')}; {was}")
    return "\n".join(filter(None, lines))


def _icon(state: str) -> Any:
    if state in (UNCHECKED, WAITING):
        return badged("not-checked", Mark.QUIET)
    return icon("open") if state == NO_ARCHIVE else state_icon(State(state))


def _unless_waiting(text: Callable[[Result], str]) -> Callable[[Result], str]:
    return lambda row: "" if row.state == WAITING else text(row)


def _stripe(row: Result) -> Mark | None:
    return state_mark(State(row.state)) if row.state in list(State) else None


def columns(start: Callable[[], str]) -> tuple[Column, ...]:
    """The columns; locations are shown relative to what ``start`` gives."""
    return (
        Column(
            "Location",
            lambda row: visible(row.location.removeprefix(start())),
            250,
            lambda row: visible(row.location),
            sort="location",
            roles={STRIPE_ROLE: _stripe},
        ),
        Column("State", lambda row: state_label(row.state), 120, icon=lambda row: _icon(row.state), sort="state"),
        Column("Format", _unless_waiting(lambda row: row.format or ""), 65, sort="format"),
        Column("Size", lambda row: rounded(row.size), 75, lambda row: in_bytes(row.size), is_number=True, sort="size"),
        Column("Members", _unless_waiting(lambda row: grouped(row.members)), 75, is_number=True, sort="members"),
        Column("Errors", _unless_waiting(lambda row: grouped(row.errors)), 60, is_number=True, sort="errors"),
        Column("Warnings", _unless_waiting(lambda row: grouped(row.warnings)), 75, is_number=True, sort="warnings"),
        Column("What was found", _unless_waiting(lambda row: _worst_message(row) or row.sentence), sort="code"),
    )


LOCATION, STATE, FORMAT, SIZE, MEMBERS, ERRORS, WARNINGS, SENTENCE = range(8)
