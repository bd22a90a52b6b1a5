"""Writing the files beside an archive that a plan of repairs makes: its metadata, its index.

One that was missing takes an empty place or none. One that is there is replaced only while it is what was read, and its
old bytes are kept on this machine first: they may be the only witness of what the archive held.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from inspector.core.edit import Edit, EditError, Patch
from inspector.core.hints import Hint, already_exists, hint
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.source import Source, SourceError, blocks
from inspector.operations.edit.plan_repairs import Beside, Plan
from inspector.sources.local.atomic import AtomicFile
from inspector.sources.local.disk_calls import reason
from inspector.sources.local.file import FileSource
from inspector.sources.local.old_bytes import store_detached
from inspector.sources.s3.address import Address, is_s3, parse
from inspector.sources.s3.cancelling import cancelling
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.ledger import Ledger
from inspector.sources.s3.source import S3Source


def files_of(plan: Plan) -> Sequence[Beside]:
    """What is to be written beside the archive: of several repairs of the same file what the last one makes."""
    return list({(each.suffix, each.instead_of): each for each in plan.beside}.values())


def name_of(path: str, beside: Beside) -> str:
    """The path or the location of a file beside the one at ``path``."""
    return path.removesuffix(beside.instead_of) + beside.suffix


def write_beside(plan: Plan, beside: Beside, source: FileSource | S3Source, progress: Progress) -> str:
    """Write a repaired file beside the archive itself; a sentence on where the old one is kept, empty where none was.

    Raises SourceError and Cancelled: then what was there stays.
    """
    old = _old(plan, beside)
    place = source.name if isinstance(source, S3Source) else os.path.realpath(source.path)
    kept = "" if old is None else _keep(old, beside.content, name_of(place, beside), progress)
    if isinstance(source, S3Source):
        _put(parse(name_of(source.name, beside)), beside, source.connection, source.ledger, progress, old=old)
        return kept
    path = Path(name_of(str(source.path), beside))
    if old is not None:
        _see_that_it_is(path, old)
    _write(path, beside, progress, replace=old is not None)
    return kept


def _keep(old: Source, new: Source, path: str, progress: Progress) -> str:
    """Put what is about to be replaced into the store of old bytes, and say where it is.

    Raises SourceError where it cannot be kept or read, and Cancelled.
    """
    name = visible(PurePath(old.name).name)
    with cancelling(progress):
        had, has = old.read(0, old.size), new.read(0, new.size)
    if len(had) != old.size:
        raise SourceError(f"{name} is left as it is: not all of its old bytes could be read.")
    if had == has:
        return ""
    shared = min(len(had), len(has))
    edit = Edit(f"Write {name} anew", (Patch(0, had[:shared], has),), len(had), len(has))
    try:
        stored = store_detached(path, edit, had[shared:])
    except (OSError, EditError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error).rstrip(".")
        raise SourceError(f"{name} is left as it is: its old bytes cannot be kept ({why}).") from error
    if stored.entry is None:
        raise SourceError(f"{name} is left as it is: its old bytes cannot be kept. {stored.warning}")
    return f"The {name} that was replaced is kept in {visible(str(stored.entry))}."


def write_beside_copy(
    copy: str, files: Sequence[Beside], connection: Connection, progress: Progress, *, over: bool
) -> None:
    """Write repaired files beside a copy of the archive, ``over`` what is there. Raises as write_beside does."""
    for each in files:
        if is_s3(copy):
            _put(parse(name_of(copy, each)), each, connection, Ledger(), progress, over=over)
        else:
            _write(Path(name_of(copy, each)), each, progress, replace=over)


def see_that_it_is_free(copy: str, files: Sequence[Beside], connection: Connection) -> None:
    """Raise SourceError where something is already that one of these files would stand in the place of."""
    for each in files:
        place = name_of(copy, each)
        if is_s3(copy):
            from inspector.sources.s3.new_objects import NewObjects  # loads boto3

            NewObjects(connection).see_that_it_is_free(parse(place))
        elif os.path.lexists(place):
            raise SourceError(already_exists(visible(place)))


def _old(plan: Plan, beside: Beside) -> Source | None:
    """What the format found in a file's place, before anything was planned to be written there."""
    place = (beside.suffix, beside.instead_of)
    return next(each.old for each in plan.repairs if (each.beside, each.instead_of) == place)


def _see_that_it_is(path: Path, old: Source) -> None:
    """Raise SourceError where another file is there by now than the one that was read."""
    assert isinstance(old, FileSource)
    change = old.identity.difference(FileSource(path).identity)
    if change:
        raise SourceError(
            f"{visible(path.name)} {change}, so it is left as it is. Open the archive again{hint(Hint.AGAIN)} to see "
            "what it is now."
        )


def _write(path: Path, beside: Beside, progress: Progress, *, replace: bool) -> None:
    with AtomicFile(path, replace=replace) as out:
        for piece in _pieces(beside, progress):
            out.write(piece)


def _put(
    address: Address,
    beside: Beside,
    connection: Connection,
    ledger: Ledger,
    progress: Progress,
    *,
    old: Source | None = None,
    over: bool = False,
) -> None:
    from inspector.sources.s3.new_objects import NewObjects, type_of  # loads boto3

    with cancelling(progress), NewObjects(connection, replace=over, ledger=ledger) as objects:
        kept, etag = type_of(address.key), ""
        if isinstance(old, S3Source):
            kept, etag = objects.still_there(address, old.etag), old.etag
        out = objects.add(address, kept, instead_of=etag)
        for piece in _pieces(beside, progress):
            out.write(piece)


def _pieces(beside: Beside, progress: Progress) -> Iterator[bytes]:
    for piece in blocks(beside.content, 0, beside.content.size):
        yield piece
        progress.advance(0)
