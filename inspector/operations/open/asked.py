"""What is asked about: the members of an archive, its fields and its findings, as tables of columns."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.core.archive import Archive
from inspector.core.field import Field, Scope, scope_of
from inspector.core.kinds import Kind
from inspector.core.member import UNREADABLE, Members
from inspector.core.names import decoded
from inspector.core.program.progress import Progress
from inspector.operations.open.ask import AskError, Cells, Question, Rows, Table, cells, numbers, table_of
from inspector.operations.open.opening import Opened, decode, start
from inspector.resources import samples
from inspector.sources.local.file import FileSource

ARCHIVE_NAMES = {
    "source": "where the archive is",
    "format": "its format; None where none is known",
    "state": "sound, warning, torn, damaged, unreadable",
    "members": "how many members it has",
    "bytes": "its size",
}
DIFFERENCE_NAMES = {
    "kind": "range, member, field, bytes",
    "change": "changed, added, removed, moved, renamed",
    "right": "the side that is right: a, b; None where neither is known to be",
    "message": "the difference in words",
    "path": "the name of the member, in A if it is there; None where it is about none",
    "start": "the offset of the first byte concerned, in A if it is there",
    "stop": "the offset behind the first stretch concerned",
}
MEMBER_NAMES = {
    "name": "the name in its archive",
    "path": "the name, in datasets with the folders of dataset and range before it",
    "size": "bytes of the content",
    "stored": "bytes of it in the archive",
    "codec": "how it is stored: stored, zstd, deflate, bzip2, lzma, xz, unknown",
    "digest": "the recorded digest, as crc32:0c0f2e38; None without one",
    "verdict": "of a check, which is made for it: verified, mismatch, doubtful, not checkable, not checked",
    "start": "the offset of its first byte in the file; None where that is not known",
    "stop": "the offset behind its last byte",
    "ratio": "stored / size; None of what is empty",
}
FINDING_NAMES = {
    "severity": "error, warning, info",
    "code": "the stable code",
    "message": "cause, evidence and what to do",
    "member": "the name of the member; None where it is about none",
    "start": "the offset of the first byte concerned; None where there is none",
    "stop": "the offset behind the first stretch concerned",
    "repair": "the repair for it; None without one",
}
FIELD_NAMES = {
    "name": "the specification's term",
    "kind": "what kind of field, for people",
    "type": "its stable word, without the format: chunk.size",
    "value": "the decoded value; of one that was cut off None",
    "start": "the offset of its first byte; None for what is outside of the file",
    "stop": "the offset behind its first stretch",
}
"""Names of columns, and what they hold."""
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}:[0-9]{2})?")
_BATCH = 4_096
"""Fields that are asked about together."""


def members_table(archive: Archive, folder: bytes = b"") -> Table:
    """The members of an archive; ``folder`` stands before their paths."""
    members, kept = archive.members, dict[str, Cells]()

    def ratio() -> Cells:
        pairs = zip(whole("stored").tolist(), whole("size").tolist(), strict=True)
        return cells([part / size if size else None for part, size in pairs])

    def place(name: str) -> Cells:
        every = range(len(members))
        if members.placed_as_is and not any(
            members.marks_of(each) & UNREADABLE for each in every[: len(members.marks or ())]
        ):
            return numbers(getattr(members, f"{name}s"))
        seen = map(members.seen, every)
        return cells(
            [getattr(one.spans[name != "start" and -1], name) if one.readable and one.spans else None for one in seen]
        )

    columns: dict[str, Callable[[], Cells]] = {
        "size": lambda: numbers(stored_sizes(members) if members.sizes is None else members.sizes),
        "stored": lambda: numbers(stored_sizes(members)),
        "ratio": ratio,
        "start": lambda: place("start"),
        "stop": lambda: place("stop"),
    }
    single: dict[str, Callable[[int], Any]] = {
        "name": lambda at: decoded(members.path(at))[0],
        "path": lambda at: decoded(folder + members.path(at))[0],
        "codec": lambda at: str(members.codec_at(at)),
        "digest": members.digest_at,
        "verdict": lambda at: str(archive.verdict(at)),
    }

    def whole(name: str) -> Cells:
        if name not in kept:
            kept[name] = columns[name]()
        return kept[name]

    def names(rows: Rows) -> Cells:
        blob = bytes(members.paths)
        if not members.as_appended or not blob.isascii():
            return cells([*map(single["name"], rows.tolist())])
        text, stops = blob.decode(), np.array(members.path_stops, dtype=np.int64)
        ends = zip(np.concatenate(([0], stops))[rows].tolist(), stops[rows].tolist(), strict=True)
        return cells([text[start:stop] for start, stop in ends])

    def column(name: str, rows: Rows) -> Cells:
        if name == "name":
            return names(rows)
        return whole(name)[rows] if name in columns else cells([*map(single[name], rows.tolist())])

    return Table(len(members), column)


def stored_sizes(members: Members) -> NDArray[np.uint64]:
    """The stored size of each member, in bytes."""
    starts, stops = (np.array(each, dtype=np.uint64) for each in (members.starts, members.stops))
    return np.where(stops > starts, stops - starts, np.uint64(0))


def placed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with where the first of its ``spans`` begins and ends."""
    start, stop = (row.get("spans") or [(None, None)])[0]
    return {**row, "start": start, "stop": stop}


# ---- fields ----------------------------------------------------------------------------------------------------------


class FoundField(NamedTuple):
    """A field, its type with the format, the scope of what is in it, and where it stands in the tree.

    ``number`` counts fields, parents first; ``parent`` is that of the field around it.
    """

    field: Field
    type: str
    inside: Scope
    path: tuple[int, ...]
    number: int
    parent: int | None


def every_field(archive: Archive, depth: int) -> Iterator[FoundField]:
    """All fields, parents first, to a depth; each is released once the next one is made."""
    counter = count()

    def walk(fields: Sequence[Field], scope: Scope, path: tuple[int, ...], parent: int | None) -> Iterator[FoundField]:
        for position, field in enumerate(fields):
            kind, inside = scope.typed(field)
            own, number = (*path, position), next(counter)
            yield FoundField(field, kind, inside, own, number, parent)
            if len(own) < depth:
                yield from walk(field.below, inside, own, number)

    return walk(archive.fields, scope_of(archive.format), (), None)


def fields_where(archive: Archive, question: Question, depth: int) -> Iterator[FoundField]:
    """The fields that it is true of.

    Where it has names of a structure's fields (``chunk.size``), it is asked about these structures, each with what its
    fields are; else about every field.
    """
    structures = {name.rpartition(".")[0] for name in question.names if "." in name}
    if len(structures) > 1:
        raise AskError(
            f"Fields of one structure can be asked about together, and these are of {' and '.join(sorted(structures))}."
        )
    wanted = f"{archive.format}.{min(structures)}" if structures else ""
    batch: list[FoundField] = []
    for found in every_field(archive, depth):
        if not wanted or found.type == wanted:
            batch.append(found)
        if len(batch) == _BATCH:
            yield from _among(batch, question)
            batch.clear()
    yield from _among(batch, question)


def _among(batch: list[FoundField], question: Question) -> Iterator[FoundField]:
    table = table_of([field_row(each, question.names) for each in batch])
    yield from (batch[at] for at in question.rows(table).tolist())


def field_row(found: FoundField, names: set[str]) -> dict[str, Any]:
    """A field by the names of FIELD_NAMES, and what is in it by the names that are wanted."""
    field = found.field
    start, stop = field.spans[0] if field.spans else (None, None)
    row = {"name": field.name, "kind": str(field.kind), "type": found.type.partition(".")[2], "value": field.value}
    row |= {"start": start, "stop": stop}
    if any("." in name for name in names):
        for each in field.below:
            row.setdefault(found.inside.typed(each)[0].partition(".")[2], _instant(each))
    return row


def _instant(field: Field) -> Any:
    """The value of a field; of a date or a time, where its note tells it, the seconds since 1970."""
    if field.kind is Kind.TIME and (told := _ISO.match(field.note)):
        return datetime.fromisoformat(told[0]).replace(tzinfo=UTC).timestamp()
    return field.value


def names_of(archive: Archive) -> dict[str, tuple[Kind, str]]:
    """The names of an archive's fields with structures, in their order, with kind and what the field is."""
    found: dict[str, tuple[Kind, str]] = {}
    for each in every_field(archive, sys.maxsize):
        name = each.type.partition(".")[2]
        if "." in name:
            found.setdefault(name, (each.field.kind, each.field.name))
    return found


@cache
def names_of_format(name: str) -> dict[str, tuple[Kind, str]]:
    """The names of fields with structures in the sample archives of a format."""
    found: dict[str, tuple[Kind, str]] = {}
    for path in samples():
        for each in [path] if path.is_file() else sorted(path.rglob("*.tar")):
            archive = start(FileSource(each))
            if archive.format == name:
                decode(archive, Progress())
                found = names_of(archive) | found
    return found


def known_names(archive: Opened, wanted: set[str]) -> set[str]:
    """The names of the fields of an archive's format; where they are not all that is wanted, also of the archive."""
    found = set(names_of_format(archive.format))
    return found if wanted <= found else found | set(names_of(archive))
