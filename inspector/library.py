"""The library: archives as values, for programs and notebooks. ``import inspector`` gives its names.

It opens, checks and repairs with the functions that the terminal and the window use. Nothing here loads Qt. What is in
``inspector.__all__`` follows semantic versioning; everything else in the package may change at any time.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from html import escape
from operator import index
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Self, overload

from inspector.core.edit import EditError
from inspector.core.field import Field, locate
from inspector.core.finding import Finding
from inspector.core.format import MemberError
from inspector.core.member import FOLDER, SPECIAL
from inspector.core.member import Member as Record
from inspector.core.member import Members as Columns
from inspector.core.names import decoded, visible
from inspector.core.numbers import count, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import MissingError, SourceError
from inspector.core.span import Spans
from inspector.core.verdict import State, Verdict
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import MemberNotFoundError, find_member, learn_all
from inspector.operations.open.location import Location, open_location
from inspector.operations.open.nested import content_of
from inspector.operations.open.opening import Opened, learn
from inspector.operations.open.reading import Reading, doubt_about
from inspector.sources.local.file import FileSource
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # each is loaded by the function that needs it
    import numpy as np

    from inspector.operations.check.checking import CheckReport
    from inspector.operations.check.scanning import Hit
    from inspector.operations.compare.comparing import Comparison
    from inspector.operations.protocol.edit_views import RepairPlan, WriteResult

Tell = Callable[[str, int, int], object]
"""Is told of progress: what is being done, units done, units in all (0 if unknown). What it raises ends the work."""

_TELL_S = 0.1
"""Seconds between two calls of a ``Tell``."""
_MISSING = (404, 410)
"""Statuses of servers that have no such file."""
_MAX_SHOWN = 10
"""Findings and members that a notebook shows; the rest are counted."""


class ArchiveError(Exception):
    """What was asked for cannot be given. The message is a sentence for people, with nothing secret in it."""


class NotFound(ArchiveError, KeyError):  # noqa: N818 - reads as what happened
    """There is no such file or member, or several members have the name."""

    __str__ = Exception.__str__  # a KeyError shows its message in quotation marks


class Unreadable(ArchiveError):  # noqa: N818
    """Bytes could not be read. That says nothing about the bytes: they may be as they should be."""


class Refused(ArchiveError):  # noqa: N818
    """It is not done, because it would lose or bless bytes, or needs consent that was not given."""


@contextmanager
def _sentences() -> Iterator[None]:
    """Raise what the operations raise as an ArchiveError."""
    try:
        yield
    except MemberNotFoundError as error:
        raise NotFound(str(error)) from error
    except (SourceError, MemberError) as error:
        missing = isinstance(error, MissingError) or getattr(error, "status", 0) in _MISSING
        raise (NotFound if missing else Unreadable)(str(error)) from error
    except (OperationError, EditError) as error:
        raise Refused(str(error)) from error


class _Told(Progress):
    """A progress that tells a function."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self._tell = tell
        self._next = 0.0

    def begin(self, label: str, total: int, unit: str = "bytes") -> None:
        self._next = 0.0
        super().begin(label, total, unit)

    def advance(self, count: int) -> None:
        super().advance(count)
        if (now := time.monotonic()) >= self._next:
            self._next = now + _TELL_S
            self._tell(self.label, self.done, self.total)


def _progress(tell: Tell | None) -> Progress:
    return Progress() if tell is None else _Told(tell)


def open(  # noqa: A001 - inspector.open, as gzip.open
    location: str | PathLike[str], *, connection: Connection | None = None, progress: Tell | None = None
) -> Archive:
    """Open and decode the archive at a location.

    ``location`` is a path, a folder of datas3t ranges, ``s3://bucket/key``, an ``https://`` address, or an archive
    inside another (``outer.tar!/inner.zip``). ``connection`` is for S3; without it the usual environment and files
    decide. A damaged archive opens, and its ``findings`` say what is wrong. Raises NotFound and Unreadable.
    """
    with _sentences():
        reached = connection or DEFAULT
        opened = open_location(fspath(location), reached, sparing=True)
        for _ in opened.read_all(_progress(progress)):
            pass
    return Archive(fspath(location), opened, reached)


def compare(
    a: str | PathLike[str],
    b: str | PathLike[str],
    *,
    connection: Connection | None = None,
    progress: Tell | None = None,
) -> Comparison:
    """Compare two locations: ``.summary`` says whether they are equal, ``.differences`` lists where they differ.

    Raises NotFound and Unreadable, and Refused where they have nothing to compare.
    """
    from inspector.operations.compare.comparing import compare

    with _sentences():
        return compare(fspath(a), fspath(b), _progress(progress), connection or DEFAULT)


def scan(
    location: str | PathLike[str], *, connection: Connection | None = None, progress: Tell | None = None
) -> Iterator[Hit]:
    """Search any bytes for archives and fragments of them; yields each with its span, state and what proves it.

    Raises NotFound and Unreadable.
    """
    from inspector.operations.check.scanning import Scan

    with _sentences():
        found = Scan(fspath(location), connection or DEFAULT)
    return _hits(found.hits(_progress(progress)))


def _hits(found: Iterator[Hit]) -> Iterator[Hit]:
    with _sentences():
        yield from found


def use_format(file: str | PathLike[str]) -> None:
    """Know the format that a Python file describes, from now on: the file is run. Raises Refused where it is none."""
    from inspector.formats._own import OwnFormatError, use

    try:
        use([fspath(file)])
    except OwnFormatError as error:
        raise Refused(str(error)) from error


class Archive:
    """An open archive, from ``inspector.open``. A context manager; files stay open until it is closed or forgotten.

    Several threads may read members at a time. Everything else is for one thread at a time.
    """

    def __init__(self, location: str, opened: Location, connection: Connection = DEFAULT) -> None:
        self.location = location
        self._opened: Location | None = opened
        self._connection = connection
        self._report: Report | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process, or copied, it is opened again."""
        return partial(open, connection=self._connection), (self.location,)

    def close(self) -> None:
        """Close its files. Nothing of it can be read afterwards."""
        for archive in self._opened.archives if self._opened is not None else ():
            with suppress(AttributeError):  # an object on a server has nothing to close
                archive.source.close()  # type: ignore[attr-defined]
        self._opened = None

    @property
    def _open(self) -> Location:
        if self._opened is None:
            raise Refused(f"{visible(self.location)} is closed.")
        return self._opened

    @property
    def _single(self) -> Opened:
        archives = self._open.archives
        if len(archives) != 1:
            raise Refused(
                f"{visible(self.location)} is a dataset of {count(len(archives), 'range')}, each a file of its own. "
                "Open one range to see its bytes or to repair it."
            )
        return archives[0]

    @property
    def format(self) -> str | None:
        """The short name of the format (``rca``), None if it is none that is known."""
        return next((each.decoder.name for each in self._open.archives if each.decoder is not None), None)

    @property
    def size(self) -> int:
        """Its size in bytes; of a dataset, that of all ranges together."""
        return self._open.size

    @property
    def state(self) -> State | None:
        """The state after ``check``. Before it, None unless the structure alone shows that something is wrong."""
        if self._report is not None:
            return self._report.state
        from inspector.operations.check.checking import state_of

        state = state_of(self._open.archives)
        return None if state is State.SOUND else state

    @property
    def members(self) -> Members:
        """Its members: a sequence in the order of the archive, and a mapping by name."""
        return Members(self._open)

    @property
    def fields(self) -> Sequence[Field]:
        """The fields at the top of the tree. The leaves below own every byte of the file exactly once.

        The children of a field are made when they are looked at. Raises Refused for a dataset.
        """
        return self._single.fields

    def at(self, place: int | str) -> list[Field]:
        """The fields that a byte is in, the outermost first. Raises IndexError outside the file.

        A place may be what Go To takes, ``footer`` or ``chunk[2]``; raises Refused where that leads nowhere.
        """
        offset = place if isinstance(place, int) else self._place(place)
        if not 0 <= offset < self._single.source.size:
            raise IndexError(f"There is no byte {offset:,}: {visible(self.location)} has {in_bytes(self.size)}.")
        with _sentences():
            return [field for _, field in locate(self._single.fields, offset)]

    def _place(self, place: str) -> int:
        from inspector.operations.open.expressions import place_in

        with _sentences():
            return place_in(self._single, place)

    @property
    def findings(self) -> list[Finding]:
        """What is wrong or worth knowing, as far as decoding and checking have seen."""
        return [finding for each in self._open.archives for finding in each.findings]

    def check(self, progress: Tell | None = None) -> Report:
        """Check everything that can be checked: every digest, record and name. Reads all of the file.

        Raises Refused where another program changed the file since it was opened: open it again.
        """
        from inspector.operations.check.checking import check_opened

        found = check_opened(self.location, self._open, _progress(progress))
        for each in self._open.archives:
            _require_same(each)
        self._report = Report(found)
        return self._report

    def plan(self, accept: Collection[str] = (), progress: Tell | None = None) -> RepairPlan:
        """How it would be repaired, with consent to the repairs of these codes. Writes nothing. Raises Unreadable."""
        from inspector.operations.edit.apply_repairs import describe
        from inspector.operations.edit.plan_repairs import plan

        with _sentences():
            return describe(plan(self._checkable(), _progress(progress), accept))

    def repair(
        self, *, to: str | PathLike[str] = "", accept: Collection[str] = (), progress: Tell | None = None
    ) -> WriteResult:
        """Repair it in place, or write a repaired copy to a new file ``to``.

        A copy is made of every repair that needs no consent and of those in ``accept``. In place only repairs whose
        codes are all in ``accept`` are made. Raises Refused where consent is missing or nothing can be repaired, and
        Unreadable; then nothing was written.
        """
        from inspector.operations.edit.apply_repairs import apply_plan, describe, file_of, save_salvage
        from inspector.operations.edit.plan_repairs import plan

        told, copy = _progress(progress), fspath(to)
        if isinstance(accept, str):
            raise TypeError("accept takes several codes: give a list.")
        with _sentences():
            planned = plan(self._checkable(), told, accept, in_place=not copy)
            if unknown := sorted(set(accept) - describe(planned, copy).codes):
                raise Refused(f"Nothing was written: no repair is called {' or '.join(unknown)}.")
            if missing := [each.code for each in planned.repairs if each.code not in accept and not copy]:
                raise Refused(f"Nothing was written: in place, accept has to name {' and '.join(missing)}.")
            source = file_of(planned.before)
            if copy and planned.saves:
                return save_salvage(planned, source, copy, told, connection=self._connection)
            return apply_plan(planned, source, copy, told, connection=self._connection)

    def _checkable(self) -> Opened:
        if self._single.decoder is None:
            raise Refused(f"{visible(self.location)} is of no known format, so nothing can be repaired.")
        return self._single

    def __repr__(self) -> str:
        if self._opened is None:
            return f"<Archive {self.location!r}, closed>"
        return (
            f"<Archive {self.location!r}: {self.format}, {len(self.members):,} members, {self.state or 'not checked'}>"
        )

    def _repr_html_(self) -> str:
        return _html(self.location, self._open.archives, self.findings, self.state)


def _require_same(archive: Opened) -> None:
    """Raise Refused if another program changed the file since it was opened."""
    source = archive.source
    if isinstance(source, FileSource) and (change := source.change()):
        raise Refused(f"{visible(source.name)} {change}. Open it again.")


class Report:
    """What a check found, from ``Archive.check``."""

    def __init__(self, report: CheckReport) -> None:
        from inspector.operations.check.report import as_json

        self.location = report.location
        self.state = report.state
        """None if nothing wrong was seen but not everything was read."""
        self.sentence = report.sentence
        """The summary."""
        self.findings = [*report.findings, *(each for archive in report.archives for each in archive.findings)]
        """What is wrong or worth knowing, causes first."""
        self.verdicts = report.verdicts
        """How many members have each verdict."""
        self.json = as_json(report)
        """What ``check --json`` prints, one object."""
        self._archives: Sequence[Opened] = report.archives

    def __getstate__(self) -> dict[str, Any]:
        """In another process it has no archive, and so no map."""
        return vars(self) | {"_archives": ()}

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong: the state is sound, or has warnings only."""
        return self.state is not None and self.state.fine

    def __repr__(self) -> str:
        return f"<Report {self.location!r}: {self.state or 'incomplete'}, {count(len(self.findings), 'finding')}>"

    def _repr_html_(self) -> str:
        return _html(self.location, self._archives, self.findings, self.state, self.sentence)


def _html(
    location: str,
    archives: Sequence[Opened],
    findings: Sequence[Finding],
    state: State | None,
    sentence: str = "",
) -> str:
    """State, map and first findings, for a notebook."""
    from inspector.operations.diagram.drawing import Shades
    from inspector.operations.report.page import the_map

    shades = Shades()
    drawn = the_map(archives[0], shades, Progress()) if len(archives) == 1 and archives[0].source.size else ""
    worst = sorted(findings, key=lambda each: each.severity.rank)
    rows = "".join(f"<li><b>{each.severity}</b> {escape(each.message)}</li>" for each in worst[:_MAX_SHOWN])
    more = f"<li>and {count(len(worst) - _MAX_SHOWN, 'more finding')}</li>" if len(worst) > _MAX_SHOWN else ""
    said = f" {escape(sentence)}" if sentence else ""
    return (
        f"<style>{shades.rules()}</style><p><b>{escape(visible(location))}</b>: {state or 'not checked'}.{said}</p>"
        f"{drawn}<ul>{rows}{more}</ul>"
    )


class Members:
    """The members of an archive: ``members[0]``, ``members[2:5]``, ``members["a/b.txt"]``, ``"a/b.txt" in members``.

    Columns are arrays with one element a member: a million members take no million objects.
    """

    def __init__(self, opened: Location) -> None:
        self._opened = opened

    def __len__(self) -> int:
        return self._opened.members

    @overload
    def __getitem__(self, at: int | str | bytes) -> Member: ...
    @overload
    def __getitem__(self, at: slice) -> list[Member]: ...
    def __getitem__(self, at: int | str | bytes | slice) -> Member | list[Member]:
        """A member by number or name. Raises IndexError, NotFound and Unreadable."""
        if isinstance(at, slice):
            return [self._member(each) for each in range(*at.indices(len(self)))]
        if isinstance(at, (str, bytes)):
            with _sentences():
                found, number = find_member(self._opened.archives, os.fsdecode(at))
            return Member(found, number, found.members.path(number))
        return self._member(range(len(self))[at])

    def __iter__(self) -> Iterator[Member]:
        return map(self._member, range(len(self)))

    def __contains__(self, name: object) -> bool:
        if isinstance(name, Member):
            return name in list(self)
        with suppress(NotFound):
            return isinstance(name, (str, bytes)) and self[name] is not None
        return False

    def _member(self, number: int) -> Member:
        with _sentences():
            at, index = self._opened.find(number)
            archive = self._opened.archives[at]
            if archive.members.unread(index):
                learn(archive, (index,), Progress())
            return Member(archive, index, self._opened.folder(at) + archive.members.path(index))

    def _columns(self) -> Iterator[Columns]:
        with _sentences():
            learn_all(self._opened.archives, Progress())
        return (archive.members for archive in self._opened.archives)

    @property
    def names(self) -> list[str]:
        """All names, decoded as ``list --json`` does; in a dataset with the range in front."""
        every = ((at, columns) for at, columns in enumerate(self._columns()))
        return [
            decoded(self._opened.folder(at) + columns.path(index))[0]
            for at, columns in every
            for index in range(len(columns))
        ]

    @property
    def sizes(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Decoded sizes in bytes."""
        import numpy as np  # most programs ask for no columns

        from inspector.operations.open.asked import stored_sizes

        columns = self._columns()
        return np.concatenate(
            [stored_sizes(each) if each.sizes is None else np.array(each.sizes, np.uint64) for each in columns]
        )

    @property
    def stored(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Sizes in the archive, in bytes."""
        import numpy as np  # see sizes

        from inspector.operations.open.asked import stored_sizes

        return np.concatenate([*map(stored_sizes, self._columns())])

    @property
    def verdicts(self) -> list[Verdict]:
        """What the check made of each; ``not checked`` before it."""
        archives = self._opened.archives
        return [archive.verdict(index) for archive in archives for index in range(len(archive.members))]


class Member:
    """One member: a file, folder or link in an archive."""

    def __init__(self, archive: Opened, index: int, path: bytes) -> None:
        self._archive = archive
        self._index = index
        self.path = path
        """The name as the archive has it; in a dataset with the range in front."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Member) and (self._archive, self._index) == (other._archive, other._index)

    def __hash__(self) -> int:
        return hash((id(self._archive), self._index))

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("A member belongs to its archive, open in this process: open the archive again there.")

    @cached_property
    def _record(self) -> Record:
        with _sentences():
            return self._archive.members[self._index]

    @property
    def is_file(self) -> bool:
        """Whether it is a file, and no folder, link or device."""
        return not self._record.marks & (FOLDER | SPECIAL)

    @property
    def name(self) -> str:
        """The name as text; what is not UTF-8 is replaced."""
        return decoded(self.path)[0]

    @property
    def size(self) -> int:
        """The decoded size in bytes."""
        return self._record.size

    @property
    def stored(self) -> int:
        """The size in the archive, in bytes."""
        return self._record.stored

    @property
    def spans(self) -> Spans:
        """Its stored bytes in the file, half-open."""
        return self._record.spans

    @property
    def codec(self) -> str:
        """How it is stored: ``stored``, ``zstd``, ``deflate``, ..."""
        return str(self._record.codec)

    @property
    def digest(self) -> str | None:
        """The digest that the archive records of it (``crc32:0c0f2e38``), None if there is none."""
        return self._record.digest

    @property
    def verdict(self) -> Verdict:
        """What the check made of it."""
        return self._archive.verdict(self._index)

    def open(self) -> MemberFile:
        """Its decoded content as a binary file that can seek. Raises Unreadable."""
        return MemberFile(self._archive, self._record)

    def read(self) -> bytes:
        """All of its decoded content. Raises Unreadable, and Refused where anything casts doubt on it."""
        with self.open() as file:
            data = file.read()
            _require_same(self._archive)
            if file.doubts:
                raise Refused(f"{' '.join(file.doubts)} To read it nevertheless, use open().")
        return data

    def __repr__(self) -> str:
        return f"<Member {self.name!r}: {self.size:,} bytes, {self.verdict}>"


class MemberFile(io.RawIOBase):
    """The content of a member. Read in order to its end, it is compared with what the archive records of it.

    ``verified`` is None before the end, True where a digest proves the content, and False where something casts doubt
    on it: ``doubts`` says what, one sentence each. It stays None where no digest is recorded, and after a seek.
    """

    def __init__(self, archive: Opened, member: Record) -> None:
        self.verified: bool | None = None
        self.doubts: tuple[str, ...] = ()
        self._archive = archive
        self._member = member
        self._reading = Reading(archive, member.index)
        self._pieces: Iterator[bytes] | None = self._reading.pieces(Progress())
        self._held = b""
        self._at = 0
        self._ended = False
        if why := self._doubt_before():
            self.doubts = (f"The content of {visible(member.path)} is in doubt: {why}.",)

    def _doubt_before(self) -> str:
        with _sentences():
            return doubt_about(self._archive, self._member.index, Progress())

    def readable(self) -> bool:
        return True

    def write(self, _: object) -> int:
        raise io.UnsupportedOperation("A member is read only.")

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._require_open()
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._member.size}.get(whence)
        if base is None or (target := base + index(offset)) < 0:
            raise ValueError(f"There is no position {offset} from {whence}.")
        if target != self._at:
            self._pieces, self._held, self.verified = None, b"", None
        self._at = target
        return target

    @cached_property
    def _content(self) -> Any:
        with _sentences():
            return content_of(self._archive, self._member, visible(self._member.path), Progress())

    def readinto(self, buffer: Any) -> int:
        """As every raw file. Raises Unreadable where the content cannot be read, or not to its end."""
        self._require_open()
        data = self._next(len(buffer)) if self._pieces is not None else self._anywhere(len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _require_open(self) -> None:
        if self.closed:
            raise ValueError("The file is closed.")

    def _anywhere(self, length: int) -> bytes:
        with _sentences():
            found: bytes = self._content.read(self._at, length)
            return found

    def _next(self, length: int) -> bytes:
        assert self._pieces is not None
        with _sentences():
            while not self._held:
                if (piece := next(self._pieces, None)) is None:
                    return self._judged()
                self._held = piece
        data, self._held = self._held[:length], self._held[length:]
        return data

    def _judged(self) -> bytes:
        """Nothing: it was read to its end. What that proves is known now."""
        if not self._ended:
            self._ended = True
            self.doubts = tuple(self._reading.doubts())
            proved = self._member.digest or self._archive.verdict(self._member.index) is Verdict.VERIFIED
            self.verified = False if self.doubts else (True if proved else None)
        return b""


Sequence.register(Members)  # not its base, so that type checkers take names as well as members behind ``in``

for _public in (Archive, ArchiveError, Member, Members, NotFound, Refused, Report, Unreadable):
    _public.__module__ = "inspector"  # where users import it from, in tracebacks too
