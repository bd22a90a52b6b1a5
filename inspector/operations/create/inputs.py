"""Inputs of a new archive: files, the files in folders, and objects on S3, with their names as members."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from inspector.core.names import collision_keys, encoded, hazards, listed, visible
from inspector.core.numbers import count, in_bytes
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import Source, SourceError
from inspector.operations.jobs.local_paths import local_path
from inspector.operations.jobs.operation_error import OperationError
from inspector.sources.local.atomic import temporary_prefix, unfinished
from inspector.sources.local.disk_calls import SAFELY, reason
from inspector.sources.local.file import Identity
from inspector.sources.s3.address import Address, is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.web.address import is_web

MAX_PIECE_BYTES = 1 << 20
"""Bytes read at once."""
MAX_WHOLE_BYTES = 64 << 10
"""Files of so many bytes or fewer are read in one call, and written together with others."""
_NOTHING_WRITTEN = "Nothing was written."
_MAX_NAMES = 10
"""Invalid names that one message lists; the rest are counted."""


class FileInput(Struct, frozen=True):
    """A regular file that becomes a member.

    ``name`` is the member's, with forward slashes, relative to the folder ``root``; ``identity`` is from when it was
    found.
    """

    name: bytes
    root: str
    identity: Identity

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.identity.size

    @property
    def modified(self) -> int:
        """Its modification time in nanoseconds since 1970."""
        return self.identity.mtime_ns

    @property
    def where(self) -> str:
        """Where its bytes come from, for messages."""
        return os.path.join(self.root, os.fsdecode(self.name))  # noqa: PTH118 - there may be a million of them

    def pieces(self) -> Iterator[bytes]:
        """Its bytes in order, at most 1 MiB at a time, exactly ``size`` of them; a small file is one piece.

        Raises SourceError if they cannot be read, or have changed since the input was found.
        """
        left = self.size
        try:
            descriptor = os.open(os.fsencode(self.where), os.O_RDONLY | SAFELY)
            try:
                self._check_unchanged(descriptor)
                while left and (piece := os.read(descriptor, min(left, MAX_PIECE_BYTES))):
                    left -= len(piece)
                    yield piece
                self._check_unchanged(descriptor)
                if left:
                    raise SourceError(
                        f"{visible(self.where)} ends {in_bytes(left)} short of its {in_bytes(self.size)}."
                    )
                if not self.size and os.read(descriptor, 1):  # files of /proc and the like
                    raise SourceError(
                        f"{visible(self.where)} is not empty, though the system gives its size as 0 bytes."
                    )
            finally:
                os.close(descriptor)
        except OSError as error:
            raise SourceError(f"{visible(self.where)} cannot be read: {reason(error)}.") from error

    def _check_unchanged(self, descriptor: int) -> None:
        """Raise SourceError if the file is no longer the one that was found."""
        now = os.fstat(descriptor)  # compared here, because it is done so often
        if (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns) != self.identity:
            change = self.identity.difference(Identity.of(now), since="the work began")
            raise SourceError(f"{visible(self.where)} {change}. Begin again when nothing writes to it.")


class ObjectInput(Struct, frozen=True):
    """An object on S3 that becomes a member; ``modified`` is None if unknown.

    ``opening`` opens it as it was when found, ``progress`` can cancel its requests. Its bytes are not cached.
    """

    name: bytes
    size: int
    modified: int | None
    where: str
    opening: Callable[[], Source]
    progress: Progress

    def pieces(self) -> Iterator[bytes]:
        """See FileInput."""
        source, at = self.opening(), 0
        while at < self.size:
            with cancelling(self.progress):
                piece = source.read(at, MAX_PIECE_BYTES)
            if not piece:
                raise SourceError(f"{visible(self.where)} ends at byte {at:,}, but should have {in_bytes(self.size)}.")
            at += len(piece)
            yield piece


Input = FileInput | ObjectInput
"""A source of bytes that becomes a member."""


def is_small(each: Input) -> bool:
    """Whether it is a file that is one small piece, to be written together with others."""
    return isinstance(each, FileInput) and each.size <= MAX_WHOLE_BYTES


def gather(
    locations: Iterable[str],
    progress: Progress,
    outputs: Collection[Path | Address] = (),
    connection: Connection = DEFAULT,
    max_inputs: int = 0,
) -> list[Input]:
    """The inputs at the locations, in their order; the files of a folder sorted by the components of their names.

    A location is a file, a folder, an object on S3 or a prefix there; ``connection`` is for S3. ``outputs`` are the
    files and folders that will be written: inside a folder they and their unfinished files are skipped (see
    ``skipped_outputs``), and as a location they are refused. Empty folders give no input. Raises OperationError for a
    link, a device or a pipe, and for more than ``max_inputs`` inputs unless that is 0, SourceError for something that
    cannot be examined, and Cancelled. Names are checked separately, by ``check_names``.
    """
    progress.begin("Collecting the inputs", 0, "files")
    own = set[Identity]()
    for path in _output_files(outputs):
        with suppress(OSError):  # it is not there yet
            own.add(Identity.of(path.lstat()))
    inputs: list[Input] = []
    for location in locations:
        there: Iterable[Input]
        if is_web(location):
            raise SourceError(f"{visible(location)} is an address on the web, which is no input. Download it first.")
        there = objects_at(location, connection, progress) if is_s3(location) else _inputs(location, own, progress)
        inputs += islice(there, max_inputs + 1 - len(inputs)) if max_inputs else there
        if max_inputs and len(inputs) > max_inputs:
            raise OperationError(
                f"Such an archive has {count(max_inputs, 'member')} at most; these are more. {_NOTHING_WRITTEN}"
            )
    written = {str(place) for place in outputs if isinstance(place, Address)}
    return [each for each in inputs if each.where not in written] if written else inputs


def skipped_outputs(outputs: Collection[Path | Address], locations: Iterable[str]) -> tuple[str, ...]:
    """The warning about outputs inside a folder of inputs, which are skipped; empty if there are none."""
    folders = [os.path.realpath(local_path(location)) for location in locations if not is_s3(location)]
    places = {Path(os.path.realpath(path)) for path in outputs if isinstance(path, Path)}
    inside = sorted(place.name for place in places if any(place.is_relative_to(folder) for folder in folders))
    if not inside:
        return ()
    verb = "lies in a folder of inputs and was" if len(inside) == 1 else "lie in folders of inputs and were"
    return (f"{listed((os.fsencode(name) for name in inside), len(inside))} {verb} left out.",)


def _output_files(outputs: Collection[Path | Address]) -> Iterator[Path]:
    """The outputs, and unfinished files of them that killed runs have left."""
    for path in outputs:
        if isinstance(path, Path):
            yield path
            prefix = temporary_prefix(path.name)
            yield from (path.parent / each.name for each in unfinished(path.parent) if each.name.startswith(prefix))


def check_names(inputs: Sequence[Input], taken: Collection[bytes] = ()) -> tuple[str, ...]:
    """Refuse invalid names of members; returns the warning about names that are the same on some systems.

    ``taken`` are the names that the archive has already. Raises OperationError for names with hazards, names that occur
    twice, and names of files that others use as a folder.
    """
    names = [each.name for each in inputs]
    _raise_if_any(
        f"The name '{visible(each.name)}' of {visible(each.where)} {reasons[0]}: rename it first."
        for each in inputs
        if (reasons := hazards(each.name) or (("ends with a slash",) if each.name.endswith(b"/") else ()))
    )
    known = set(taken)
    _raise_if_any(
        f"The name '{visible(name)}' occurs twice: most readers would lose one of the two."
        for name in _twice(names, known)
    )
    _raise_if_any(
        f"'{visible(folder)}' is a file, but '{visible(name)}' needs it to be a folder."
        for some, others in ((names, known), (taken, set(names)))
        if not others.isdisjoint(_all_folders(some))
        for name in some
        for folder in _folders(name)
        if folder in others
    )
    return _collisions(names, taken)


def _raise_if_any(sentences: Iterator[str]) -> None:
    listed_sentences = list(islice(sentences, _MAX_NAMES))
    if listed_sentences:
        more = sum(1 for _ in sentences)
        rest = [f"There are {more:,} more like these."] if more else []
        raise OperationError(" ".join((*listed_sentences, *rest, _NOTHING_WRITTEN)))


def _twice(names: Iterable[bytes], known: set[bytes]) -> Iterator[bytes]:
    """The names that are in ``known`` already; adds all of them to it."""
    for name in names:
        if name in known:
            yield name
        known.add(name)


def _folders(name: bytes) -> Iterator[bytes]:
    while name := name.rpartition(b"/")[0]:
        yield name


def _all_folders(names: Iterable[bytes]) -> set[bytes]:
    """The folders that all these names need."""
    parents = {name.rpartition(b"/")[0] for name in names}
    return {each for parent in parents for each in (parent, *_folders(parent))} - {b""}


def _collisions(names: Sequence[bytes], taken: Collection[bytes]) -> tuple[str, ...]:
    every = [*taken, *names]
    keys = collision_keys(every)
    if len(set(keys)) == len(every):
        return ()
    first: dict[bytes, bytes] = {}
    alike = [
        (other, name) for key, name in zip(keys, every, strict=True) if (other := first.setdefault(key, name)) != name
    ]
    if not alike:
        return ()
    one, other = alike[0]
    sentence = f"The names '{visible(one)}' and '{visible(other)}' are the same on some systems."
    return (
        sentence
        if len(alike) == 1
        else f"{sentence} There {'is' if len(alike) == 2 else 'are'} {count(len(alike) - 1, 'more such pair')}.",
    )


# ---- finding -----------------------------------------------------------------------------------------------------


def objects_at(location: str, connection: Connection, progress: Progress) -> list[ObjectInput]:
    """The object at a location, named by the last part of its key, or all below it, sorted by the parts of their keys.

    Raises SourceError and Cancelled.
    """
    from inspector.sources.s3.opening import open_s3  # loads boto3
    from inspector.sources.s3.responses import Head
    from inspector.sources.s3.source import S3Source

    with cancelling(progress):
        found = open_s3(location, connection, sparing=False, tail=False)
        inputs: list[ObjectInput] = []
        if isinstance(found, S3Source):
            progress.advance(1)
            name = found.address.key.rpartition("/")[2]
            return [_object(name, found.size, found.modified, found.name, found.afresh().afresh, progress)]
        start = len(parse(found.location).key)
        for each in found.beneath():
            head = found.known(each) or Head(0)
            progress.advance(1)
            opening = partial(found.open, each)
            inputs.append(_object(parse(each).key[start:], head.size, head.modified, each, opening, progress))
    return sorted(inputs, key=lambda each: each.name.split(b"/"))


def _object(
    name: str, size: int, seconds: float, where: str, opening: Callable[[], Source], progress: Progress
) -> ObjectInput:
    return ObjectInput(encoded(name), size, int(seconds * 1_000_000_000) or None, where, opening, progress)


def _inputs(location: str, own: set[Identity], progress: Progress) -> Iterator[Input]:
    path = local_path(location)
    try:
        status = path.lstat()
    except OSError as error:
        raise SourceError(f"{visible(str(path))} cannot be examined: {reason(error)}.") from error
    if Identity.of(status) in own:
        raise OperationError(f"{visible(location)} is an output, so it cannot be an input too.")
    if stat.S_ISDIR(status.st_mode):
        yield from _beneath(str(path), own, progress)
        return
    _refuse_special(str(path), status)
    progress.advance(1)
    yield FileInput(os.fsencode(path.name), str(path.parent), Identity.of(status))


def _beneath(root: str, own: set[Identity], progress: Progress) -> Iterator[Input]:
    """The files below a folder; without recursion, because folders may be deep."""
    pending = _listed(os.fsencode(root))
    before = len(os.fsencode(os.path.join(root, "")))  # noqa: PTH118 - what stands before every name
    while pending:
        found = pending.pop()
        try:
            status = found.stat(follow_symlinks=False)
        except OSError as error:
            raise SourceError(f"{visible(os.fsdecode(found.path))} cannot be examined: {reason(error)}.") from error
        identity = Identity.of(status)
        if own and identity in own:
            continue
        if stat.S_ISDIR(status.st_mode):
            pending += _listed(found.path)
            continue
        if not stat.S_ISREG(status.st_mode):
            _refuse_special(os.fsdecode(found.path), status)
        progress.advance(1)
        yield FileInput(
            found.path[before:] if os.sep == "/" else found.path[before:].replace(b"\\", b"/"), root, identity
        )


def _listed(folder: bytes) -> list[os.DirEntry[bytes]]:
    """The entries of a folder, in reverse order."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=attrgetter("name"), reverse=True)
    except OSError as error:
        raise SourceError(f"The folder {visible(os.fsdecode(folder))} cannot be read: {reason(error)}.") from error


def _refuse_special(path: str, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISLNK(status.st_mode):
        raise OperationError(f"{visible(path)} is a link. Links are not followed: name its target, or remove the link.")
    raise OperationError(f"{visible(path)} is a device, a pipe or a socket, so it cannot be archived.")
