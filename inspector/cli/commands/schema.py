"""``schema``: the JSON Schema of what ``--json`` prints, made from the shapes below; tests hold all output to them."""

from __future__ import annotations

import argparse
import json
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType, defstruct

from inspector.cli.options import Option
from inspector.cli.output import emit

_SCHEMA = "https://json-schema.org/draft/2020-12/schema"


def _shape(name: str, optional: dict[str, Any] | None = None, /, **keys: Any) -> Any:
    """An object with exactly these keys; those of ``optional`` may be missing."""
    missing = [(key, kind | UnsetType, UNSET) for key, kind in (optional or {}).items()]
    return defstruct(name, [*keys.items(), *missing], forbid_unknown_fields=True, kw_only=True)


def _many(kind: Any) -> Any:
    return list[kind]


def _named(kind: Any) -> Any:
    return dict[str, kind]


Span = tuple[int, int]
Spans = list[Span]
Counts = dict[str, int]
State = Literal["sound", "warning", "torn", "damaged", "unreadable"]
Severity = Literal["error", "warning", "info"]
Change = Literal["changed", "added", "removed", "moved", "renamed"]
RangeFate = Literal["live", "superseded", "repeated", "unfinished", "orphan", "missing", "other size"]
Hex = str


class Field(msgspec.Struct, forbid_unknown_fields=True):
    """The meaning of some bytes; the leaves of all fields own every byte exactly once."""

    name: str
    kind: str
    type: str
    spans: Spans
    value: Any
    note: str
    children: list[Field]


Finding = _shape("Finding", severity=Severity, code=str, message=str, spans=Spans, member=str | None, repair=str | None)
_READER = {
    "reader": str,
    "accepts": bool | None,
    "members": int | None,
    "stopped_at": int | None,
    "message": str,
    "verdict": str,
    "kind": str,
    "cause": str,
    "member": str | None,
}
Reader = _shape("Reader", archive=str | None, **_READER)
_CHECKED = {"format": str | None, "members": int, "bytes": int, "findings": _many(Finding)}
_READERS = {"readers": _many(Reader)}
Check = _shape("Check", _READERS, source=str, state=State | None, **_CHECKED)
Repair = _shape(
    "Repair",
    code=str,
    title=str,
    fixes=list[str],
    loses=list[str],
    claim=str,
    spans=Spans,
    lossless=str,
    consent=str,
)
Kept = _shape("Kept", path=str | None, offset=int | None, length=int, sha256=str)
Beside = _shape("Beside", suffix=str, instead_of=str, old=Hex | Kept | None)
Write = _shape("Write", offset=int, old=Hex | Kept, new=Hex)
Fate = _shape("Fate", {"path_bytes": Hex}, path=str, fate=str, why=str)
Entry = _shape("Entry", index=int, offset=int, length=int, used=bool, pointing=str, target=str)
Side = _shape("Side", path=str | None, spans=Spans, value=Any)
Amount = _shape("Amount", archives=int, bytes=int)
Created = _shape("Created", source=str, members=int, bytes=int)
Written = _shape("Written", source=str, written=str, sha256=str | None)

SHAPES: dict[str, tuple[type, ...]] = {
    "list": (
        _shape(
            "Member",
            {"path_bytes": Hex, "target": str},
            source=str,
            path=str,
            size=int,
            stored=int,
            spans=Spans,
            codec=str,
            digest=str | None,
        ),
        _shape("Row", source=str, row=_named(Any)),
        _shape("Group", {"sum": float}, key=Any, count=int),
    ),
    "dump": (
        _shape("Dump", source=str, format=str, size=int, fields=list[Field]),
        _shape("Place", source=str, at=int, member=str | None, fields=list[Field]),
        _shape(
            "FieldLine",
            source=str,
            id=int,
            parent=int | None,
            depth=int,
            name=str,
            kind=str,
            type=str,
            spans=Spans,
            value=Any,
            note=str,
        ),
    ),
    "check": (
        Check,
        _shape(
            "Proof",
            source=str,
            proof=Literal["proved", "contradicted", "impossible"],
            sentence=str,
            members=int,
            kept=str | None,
            made=str | None,
            read=int,
            requests=int,
        ),
    ),
    "compare": (
        _shape(
            "Comparison",
            {"ranges": Counts},
            a=str,
            b=str,
            equal=bool | None,
            members=Counts,
            bytes=Counts,
            better=Literal["a", "b", "neither"] | None,
        ),
        _shape(
            "Difference",
            kind=Literal["range", "member", "field", "bytes"],
            change=Change,
            a=Side | None,
            b=Side | None,
            right=Literal["a", "b"] | None,
            message=str,
        ),
    ),
    "trace": (
        _shape("Step", source=str, n=int, depth=int, action=str, span=Span | None, value=Any, decision=str, ok=bool),
        _shape("Traced", source=str, **_READER),
    ),
    "experiment": (
        _shape(
            "ExperimentStep",
            dict.fromkeys(("offset", "bit", "start", "stop", "size", "random"), int)
            | dict.fromkeys(("first", "second"), Span)
            | dict.fromkeys(("bytes", "fill", "file", "sha256", "damage"), str),
            source=str,
            step=int,
            sentence=str,
            do=str,
        ),
        _shape("Experiment", _READERS, source=str, state=State | None, base_size=int, size=int, **_CHECKED),
        Written,
    ),
    "replay": (
        _shape(
            "ReplayWrite",
            source=str,
            write=int,
            kind=str,
            offset=int,
            size=int,
            grows_by=int,
            what=str,
            synced=bool,
            old=Hex | None,
            new=Hex | None,
        ),
        _shape("ReplayPoint", _READERS, source=str, state=State | None, at=str, base_size=int, size=int, **_CHECKED),
        _shape(
            "Crash",
            source=str,
            crash=str,
            state=str,
            repair=str,
            accept=str | None,
            readers=_named(_shape("CrashReader", verdict=str, message=str)),
        ),
        Written,
    ),
    "create": (Created,),
    "append": (Created,),
    "header": (
        _shape(
            "Header",
            {"sent": int},
            source=str,
            count=int,
            entries=_many(Entry),
            editable=bool,
            why_not=str,
            writes=_many(Write),
            written=bool,
        ),
    ),
    "repair": (
        _shape(
            "RepairPlan",
            source=str,
            before=State,
            after=State,
            repairs=_many(Repair),
            waiting=_many(Repair),
            salvage=Repair | None,
            writes=_many(Write),
            size=int | None,
            kept=Kept | None,
            beside=list[str],
            beside_old=_many(Beside),
            left=list[str],
            members=_many(Fate) | None,
            written=bool,
            warnings=list[str],
        ),
        _shape(
            "PastWrite",
            source=str,
            number=int,
            written=str,
            label=str,
            spans=Spans,
            cut=int,
            can_take_back=bool,
        ),
        _shape("Settled", source=str, done=str),
        _shape(
            "Interrupted",
            source=str,
            interrupted=_shape("Ways", story=str, finish=str, roll_back=str, forget=str),
        ),
    ),
    "audit": (
        _shape(
            "Audited",
            source=str,
            state=str,
            counts=Counts,
            quick=bool,
            seconds=float,
            finished=float,
            **_CHECKED,
        ),
        _shape(
            "AuditSummary",
            summary=_shape(
                "Totals",
                archives=int,
                bytes=int,
                states=_named(Amount),
                formats=_many(_shape("FormatAmount", format=str, archives=int, bytes=int)),
                left_out=int,
                kinds=_many(_shape("FindingAmount", severity=Severity, code=str, archives=int)),
                worst=list[str],
                earlier=Amount,
                done=_shape("Done", archives=int, bytes=int, seconds=float),
            ),
        ),
    ),
    "find": (_shape("Found", source=str, path=str, offset=int, length=int),),
    "grep": (
        _shape("Match", source=str, member=str | None, at=int | None, span=Span | None, match=Hex),
        _shape("Matches", source=str, count=int),
        _shape("Matching", source=str),
    ),
    "scan": (
        _shape(
            "Hit",
            source=str,
            path=str,
            format=str,
            span=Span,
            state=State,
            members=int,
            fine=int,
            proved_by=str,
            inside=str | None,
        ),
    ),
    "entropy": (_shape("Stretch", source=str, span=Span, entropy=float, classes=dict[str, float], exact=bool),),
    "coverage": (
        _shape(
            "Range",
            source=str,
            dataset=str,
            name=str,
            keys=Span,
            bytes=int,
            state=RangeFate,
            by=int | None,
            modified=float | None,
        ),
        _shape(
            "Dataset", source=str, dataset=str, ranges=int, bytes=int, keys=Span, gaps=Spans, overlaps=Spans, wasted=int
        ),
    ),
    "formats": (
        _shape("Format", name=str, title=str, suffixes=list[str], limitations=list[str]),
        _shape("FieldName", format=str, name=str, unit=str, meaning=str),
    ),
}
"""What each command prints on a line with ``--json``: one of these objects."""

OPTIONS = (
    Option(
        "of",
        metavar="COMMAND",
        nargs="?",
        choices=tuple(SHAPES),
        help=f"what its --json prints; without it, all: {', '.join(SHAPES)}",
    ),
)


def run(options: argparse.Namespace) -> None:
    """Print the schema of one line, or an object of all schemas by command."""
    found = schema(options.of) if options.of else {name: schema(name) for name in SHAPES}
    emit(f"{json.dumps(found, indent=2)}\n")


def schema(command: str) -> dict[str, Any]:
    """The JSON Schema of one line that a command prints with ``--json``."""
    shapes, parts = msgspec.json.schema_components(SHAPES[command], ref_template="#/$defs/{name}")
    return {"$schema": _SCHEMA, "title": f"archive-inspector {command} --json", "anyOf": list(shapes), "$defs": parts}
