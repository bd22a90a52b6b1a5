"""What is put into a new archive: files, the files of folders, objects on S3, under the names they get as members."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

from inspector.core.names import collision_keys, hazards, listed, visible
from inspector.core.numbers import count, in_bytes
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import local_path
from inspector.sources.local.disk_calls import reason
from inspector.sources.local.file import Identity
from inspector.sources.local.unfinished import temporary_prefix, unfinished
from inspector.sources.s3.address import Address, is_s3
from inspector.sources.s3.connection import DEFAULT, Connection

PIECE = 1 << 20
"""The most bytes read at once."""
_NOTHING = "Nothing was written."
_TOLD = 10
"""Names with faults that are told one by one; the rest is counted."""


class Input(Protocol):
    """One thing that becomes a member."""

    @property
    def name(self) -> bytes:
        """The name it gets, with forward slashes."""

    @property
    def size(self) -> int | None:
        """How many bytes it has; None where only reading it tells."""

    @property
    def modified(self) -> int | None:
        """When it was last written to, in nanoseconds since 1970; None where that is not known."""

    @property
    def where(self) -> str:
        """Where its bytes come from, for sentences."""

    def pieces(self) -> Iterator[bytes]:
        """Its bytes in order, at most 1 MiB at a time, exactly ``size`` of them where that is known.

        Raises SourceError where they cannot be read, or are not those that were there when it was found.
        """


@dataclass(frozen=True, slots=True)
class FileInput:
    """A regular file: ``root`` is the folder that ``name`` begins in, ``identity`` what the file was when found."""

    name: bytes
    root: str
    identity: Identity

    @property
    def size(self) -> int:
        return self.identity.size

    @property
    def modified(self) -> int:
        return self.identity.mtime_ns

    @property
    def where(self) -> str:
        return os.path.join(self.root, os.fsdecode(self.name))  # noqa: PTH118 - there may be a million of them

    def pieces(self) -> Iterator[bytes]:
        with self.opened() as descriptor:
            yield from self.rest(descriptor, 0)

    def rest(self, descriptor: int, start: int) -> Iterator[bytes]:
        """The bytes from ``start`` on, of the file that ``opened`` gave. Raises SourceError."""
        left = self.size - start
        os.lseek(descriptor, start, os.SEEK_SET)  # looking for holes has moved it, even where nothing was copied
        while left and (piece := self._read(descriptor, min(left, PIECE))):
            left -= len(piece)
            yield piece
        if left:
            self._see_that_it_is_the_same(descriptor)
            raise SourceError(f"{visible(self.where)} ends {in_bytes(left)} before the {in_bytes(self.size)} it has.")
        if not self.size and self._read(descriptor, 1):  # the system's own files, which have content and no size
            raise SourceError(f"{visible(self.where)} is not empty, though the system gives its size as 0 bytes.")

    @contextmanager
    def opened(self) -> Iterator[int]:
        """A descriptor at the first byte of the file, for a block that reads ``size`` bytes.

        That the file is the one that was found is seen to before, and after the block. Raises SourceError.
        """
        flags = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
        try:
            descriptor = os.open(self.where, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags))
        except OSError as error:
            raise self._failure(error) from error
        try:
            self._see_that_it_is_the_same(descriptor)
            yield descriptor
            self._see_that_it_is_the_same(descriptor)
        finally:
            os.close(descriptor)

    def _see_that_it_is_the_same(self, descriptor: int) -> None:
        difference = self.identity.difference(Identity.of(os.fstat(descriptor)))
        if difference:
            words = difference.replace("it was opened", "the work began")
            raise SourceError(f"{visible(self.where)} {words}. Begin again when nothing writes to it.")

    def _read(self, descriptor: int, length: int) -> bytes:
        try:
            return os.read(descriptor, length)
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> SourceError:
        return SourceError(f"{visible(self.where)} cannot be read: {reason(error)}.")


def gather(
    locations: Iterable[str],
    progress: Progress,
    never: Collection[Path | Address] = (),
    connection: Connection = DEFAULT,
    most: int = 0,
) -> list[Input]:
    """The inputs at the locations, in their order; the files of a folder sorted by the components of their names.

    A location is a file, a folder, an object on S3 or a prefix there, which ``connection`` says how to reach.
    ``never`` are the files and folders that will be written: in a folder they and what is unfinished of them are passed
    over (``not_of_itself`` says so), and as a location refused. Empty folders are nothing. Raises OperationError for a
    link, a device or a pipe, and for more than ``most`` inputs where that is not 0, SourceError where something cannot
    be looked at, and Cancelled. The names are still to be checked (``check_names``).
    """
    progress.begin("Looking at what is to be put in", 0, "files")
    own = {found for path in _written(never) if (found := _identity(path)) is not None}
    inputs: list[Input] = []
    for location in locations:
        there: Iterable[Input]
        there = _objects(location, connection, progress) if is_s3(location) else _inputs(location, own, progress)
        inputs += islice(there, most + 1 - len(inputs)) if most else there
        if most and len(inputs) > most:
            raise OperationError(
                f"Such an archive has room for {count(most, 'member')}, and these are more. {_NOTHING}"
            )
    written = {str(place) for place in never if isinstance(place, Address)}
    return [each for each in inputs if each.where not in written] if written else inputs


def not_of_itself(never: Collection[Path | Address], locations: Iterable[str]) -> tuple[str, ...]:
    """A sentence on what will be written inside a folder that is put in: that is not put into itself."""
    folders = [os.path.realpath(local_path(location)) for location in locations if not is_s3(location)]
    places = {Path(os.path.realpath(path)) for path in never if isinstance(path, Path)}
    inside = sorted(place.name for place in places if any(place.is_relative_to(folder) for folder in folders))
    if not inside:
        return ()
    verb = "lies in a folder that is put in, and is" if len(inside) == 1 else "lie in folders that are put in, and are"
    return (f"{listed((os.fsencode(name) for name in inside), len(inside))} {verb} not put in with it.",)


def _written(never: Collection[Path | Address]) -> Iterator[Path]:
    """What will be written, and what earlier runs that were killed have left of it."""
    for path in never:
        if isinstance(path, Path):
            yield path
            begin = temporary_prefix(path.name)
            yield from (path.parent / each.name for each in unfinished(path.parent) if each.name.startswith(begin))


def check_names(inputs: Sequence[Input], taken: Collection[bytes] = ()) -> tuple[str, ...]:
    """Refuse what must not become a member's name; the result are sentences on names that are one on some systems.

    ``taken`` are the names that the archive has already. Raises OperationError for names with hazards, names that stand
    twice and names of files that others take for a folder.
    """
    names = [each.name for each in inputs]
    _refuse(
        f"The name {visible(each.name)!r} of {visible(each.where)} {words[0]}: rename it first."
        for each in inputs
        if (words := hazards(each.name) or (("ends with a slash",) if each.name.endswith(b"/") else ()))
    )
    known = set(taken)
    _refuse(
        f"The name {visible(name)!r} stands twice: most readers would lose one of both."
        for name in _twice(names, known)
    )
    new = set(names)
    _refuse(
        f"The name {visible(folder)!r} is that of a file, but {visible(name)!r} takes it for a folder."
        for some, others in ((names, known), (taken, new))
        for name in some
        for folder in _folders(name)
        if folder in others
    )
    return _collisions(names, taken)


def _refuse(sentences: Iterator[str]) -> None:
    told = list(islice(sentences, _TOLD))
    if told:
        more = sum(1 for _ in sentences)
        rest = [f"There are {more:,} more like these."] if more else []
        raise OperationError(" ".join((*told, *rest, _NOTHING)))


def _twice(names: Iterable[bytes], known: set[bytes]) -> Iterator[bytes]:
    """Those of the names that are known already; all of them are, after that."""
    for name in names:
        if name in known:
            yield name
        known.add(name)


def _folders(name: bytes) -> Iterator[bytes]:
    while name := name.rpartition(b"/")[0]:
        yield name


def _collisions(names: Sequence[bytes], taken: Collection[bytes]) -> tuple[str, ...]:
    every = [*taken, *names]
    first: dict[bytes, bytes] = {}
    alike = [
        (other, name)
        for key, name in zip(collision_keys(every), every, strict=True)
        if (other := first.setdefault(key, name)) != name
    ]
    if not alike:
        return ()
    one, other = alike[0]
    said = f"The names {visible(one)!r} and {visible(other)!r} are one on some systems."
    return (said if len(alike) == 1 else f"{said} {count(len(alike) - 1, 'other name')} too.",)


# ---- finding -----------------------------------------------------------------------------------------------------


def _objects(location: str, connection: Connection, progress: Progress) -> Sequence[Input]:
    from inspector.operations.create.s3_inputs import objects_at  # loads boto3

    return objects_at(location, connection, progress)


def _inputs(location: str, own: set[Identity], progress: Progress) -> Iterator[Input]:
    path = local_path(location)
    status = _status(path)
    if Identity.of(status) in own:
        raise OperationError(f"{visible(location)} is to be written, so it cannot be put in too.")
    if stat.S_ISDIR(status.st_mode):
        yield from _beneath(str(path), own, progress)
        return
    _refuse_special(str(path), status)
    progress.advance(1)
    yield FileInput(os.fsencode(path.name), str(path.parent), Identity.of(status))


def _status(path: Path) -> os.stat_result:
    try:
        return path.lstat()
    except OSError as error:
        raise SourceError(f"{visible(str(path))} cannot be looked at: {reason(error)}.") from error


def _identity(path: Path) -> Identity | None:
    try:
        return Identity.of(path.lstat())
    except OSError:
        return None


def _beneath(root: str, own: set[Identity], progress: Progress) -> Iterator[Input]:
    """The files beneath a folder; without recursion, because folders may be deep."""
    waiting = _listed(root)
    before = len(os.path.join(root, ""))  # noqa: PTH118 - what stands before every name
    while waiting:
        found = waiting.pop()
        try:
            status = found.stat(follow_symlinks=False)
        except OSError as error:
            raise SourceError(f"{visible(found.path)} cannot be looked at: {reason(error)}.") from error
        identity = Identity.of(status)
        if identity in own:
            continue
        if stat.S_ISDIR(status.st_mode):
            waiting += _listed(found.path)
            continue
        _refuse_special(found.path, status)
        progress.advance(1)
        yield FileInput(os.fsencode(found.path[before:].replace(os.sep, "/")), root, identity)


def _listed(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder, the last first."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: os.fsencode(entry.name), reverse=True)
    except OSError as error:
        raise SourceError(f"The folder {visible(folder)} cannot be read: {reason(error)}.") from error


def _refuse_special(path: str, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISLNK(status.st_mode):
        raise OperationError(
            f"{visible(path)} is a link. Links are not followed: name what it points to, or take it away."
        )
    raise OperationError(
        f"{visible(path)} is no regular file but a device, a pipe or a socket, so it cannot be put in."
    )
