"""After a crash in the middle of a change: what state the file is in, and the ways out of it.

Nothing is written to a file that holds a byte which is neither the old one nor the new one. Each way out may be cut
short by another crash, and taken again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from inspector.core.edit import EditError
from inspector.core.names import visible
from inspector.core.span import Spans, total
from inspector.sources.local.disk_calls import Disk, reason
from inspector.sources.local.file import Identity
from inspector.sources.local.journal import BrokenJournal, Journal, find, load, put_aside, remove
from inspector.sources.local.journal_state import Kind, holds, redo, survey, undo
from inspector.sources.local.locked_file import LockedFile, held

_BOTH = "It can be finished, which leads to the new bytes, or rolled back, which leads to the old ones."
_ASIDE = "Put the journal aside under another name, where it is kept and not looked for any more."
_PRECIOUS = {Kind.UNREADABLE, Kind.FOREIGN, Kind.OTHER_FILE}
"""The states in which the journal may be all that is left of the old bytes."""
_MENTIONED = 3
"""Spans that a sentence names one by one."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An interrupted change. ``path`` is the file's without symbolic links, ``journal`` that of its journal.

    ``spans`` are the foreign bytes, or those that are not the new ones yet, in the file as it is. ``story`` says what
    happened; ``finish``, ``roll_back`` and ``forget`` say what each of the ways out would do, and are empty where that
    way is closed.
    """

    kind: Kind
    path: Path
    journal: Path
    spans: Spans
    story: str
    finish: str = ""
    roll_back: str = ""
    forget: str = ""

    @property
    def keeps(self) -> bool:
        """Whether forgetting puts the journal aside, because it may be all that is left of the old bytes."""
        return self.kind in _PRECIOUS


def pending(path: Path, disk: Disk | None = None) -> Pending | None:
    """What an interrupted change has left of the file at ``path``; None where there is no journal.

    Writes nothing. Raises EditError where it cannot be told.
    """
    with _looked_at(path, disk or Disk()) as (found, _):
        return found


def finish(path: Path, disk: Disk | None = None) -> str:
    """Make the interrupted change in full, and say so. Raises EditError; the journal stays then."""
    return _recovered(path, disk or Disk(), lambda found: found.finish, redo, "is changed now, as was intended")


def roll_back(path: Path, disk: Disk | None = None) -> str:
    """Put back what stood there before the change, and say so. Raises EditError; the journal stays then."""
    return _recovered(path, disk or Disk(), lambda found: found.roll_back, undo, "is again as it was before the change")


def forget(path: Path, disk: Disk | None = None) -> str:
    """Do without the journal of a file that is not in between two states, leave the file alone, and say so.

    A journal that may be all that is left of the old bytes is not removed but put aside. Raises EditError.
    """
    disk = disk or Disk()
    with _looked_at(path, disk) as (found, file):
        if found is None:
            return _nothing(path)
        if not found.forget:
            raise EditError(f"The journal has to stay. {found.story}")
        if file is not None:
            disk.sync(file.descriptor)  # a crash may have come before that, and the journal is what stands in for it
        if found.keeps:
            return _put_aside(found, disk)
        remove(found.journal, disk)
    return f"The journal of {visible(path.name)} is removed; the file itself was not touched."


def _put_aside(found: Pending, disk: Disk) -> str:
    name = visible(str(put_aside(found.journal, disk)))
    return (
        f"{visible(found.path.name)} was not touched. What stood in the place of its journal is kept as {name}: give "
        "it its name back to have it looked at again, or delete it where it is not needed."
    )


def _recovered(
    path: Path, disk: Disk, way: Callable[[Pending], str], step: Callable[[LockedFile, Journal], None], done: str
) -> str:
    with held(path, disk) as file:
        try:
            place = find(file.path, disk)
            if place is None:
                return _nothing(path)
            found, journal = _judged(file, place, disk)
            if journal is None or not way(found):
                raise EditError(f"{file.name} was not changed. {found.story}")
            step(file, journal)
            remove(place, disk)
        except OSError as error:
            raise EditError(
                f"{file.name} could not be recovered ({reason(error)}). Its journal stays, so this can be tried again."
            ) from error
    return f"{file.name} {done}."


def _nothing(path: Path) -> str:
    return f"No change of {visible(path.name)} is waiting to be finished."


@contextlib.contextmanager
def _looked_at(path: Path, disk: Disk) -> Iterator[tuple[Pending | None, LockedFile | None]]:
    """What is left of a change, and the file, held for reading; None where it is gone. OSErrors become EditErrors."""
    descriptor = -1
    try:
        real = _real(path, disk)
        place = find(real, disk)
        if place is None:
            yield None, None
            return
        try:
            descriptor = disk.open(real, os.O_RDONLY)
        except FileNotFoundError:
            yield _gone(real, place), None
            return
        file = LockedFile(disk, real, descriptor, Identity.of(disk.fstat(descriptor)), ())
        yield _state(file, place, disk), file
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise EditError(
            f"{visible(path.name)} may have been changed in part: what is left of an interrupted change cannot be read "
            f"or removed ({why})."
        ) from error
    finally:
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                disk.close(descriptor)


def _real(path: Path, disk: Disk) -> Path:
    try:
        return disk.resolve(path)
    except FileNotFoundError:
        return disk.resolve(path.parent) / path.name


def _state(file: LockedFile, place: Path, disk: Disk) -> Pending | None:
    try:
        disk.lock(file.descriptor)
    except BlockingIOError:
        return Pending(Kind.BUSY, file.path, place, (), f"Another program is changing {file.name} at this moment.")
    except OSError:
        pass  # no locks here, or none for reading
    try:
        return _judged(file, place, disk)[0]
    except FileNotFoundError:
        return None  # whoever was changing the file is done


def _judged(file: LockedFile, place: Path, disk: Disk) -> tuple[Pending, Journal | None]:
    try:
        journal = load(place, disk)
    except BrokenJournal as error:
        begun = error.beginning
        untouched = begun is not None and (begun.size < 0 or holds(file, begun.size, begun.old))
        return (_broken if untouched else _unreadable)(file, place), None
    kind, spans = survey(file, journal)
    describe = {
        Kind.NOT_BEGUN: _not_begun,
        Kind.MIXED: _mixed,
        Kind.FINISHED: _finished,
        Kind.FOREIGN: _foreign,
        Kind.OTHER_FILE: _other,
    }[kind]
    found = describe(file, journal, place, spans)
    return found, journal


def _gone(path: Path, place: Path) -> Pending:
    story = f"A change of {visible(path.name)} was interrupted, and the file is no longer there."
    return Pending(Kind.OTHER_FILE, path, place, (), story, forget=_ASIDE)


def _unreadable(file: LockedFile, place: Path) -> Pending:
    story = (
        f"What stands where the journal of a change of {file.name} would ({visible(str(place))}) cannot be read: it is "
        f"damaged, or no journal. If {file.name} was changed in part, what tells is in there, so nothing is done with "
        "it unasked."
    )
    return Pending(Kind.UNREADABLE, file.path, place, (), story, forget=_ASIDE)


def _broken(file: LockedFile, place: Path) -> Pending:
    story = f"A change of {file.name} was interrupted before it began, so nothing of it was touched."
    return Pending(Kind.BROKEN, file.path, place, (), story, forget="Remove the unfinished journal.")


def _not_begun(file: LockedFile, journal: Journal, place: Path, spans: Spans) -> Pending:
    story = f"{_change(file, journal)} was interrupted before it began: every byte is still the old one. {_BOTH}"
    back = "Remove the journal; the file stays as it is, which is as it was before the change."
    return Pending(Kind.NOT_BEGUN, file.path, place, spans, story, _forwards(journal), back, "Remove the journal.")


def _finished(file: LockedFile, journal: Journal, place: Path, spans: Spans) -> Pending:
    back = _back(file, journal)
    ways = f" {_BOTH}" if back else ""
    story = f"{_change(file, journal)} was interrupted when it was already done: every byte is the new one.{ways}"
    done = "Remove the journal; the file stays as it is, with the change made."
    return Pending(Kind.FINISHED, file.path, place, spans, story, done, back, "Remove the journal.")


def _mixed(file: LockedFile, journal: Journal, place: Path, spans: Spans) -> Pending:
    back = _back(file, journal)
    ways = _BOTH if back else "It can only be finished, which leads to the new bytes: not all old ones are kept."
    story = f"{_change(file, journal)} was interrupted half-way: some of its bytes are still the old ones. {ways}"
    return Pending(Kind.MIXED, file.path, place, spans, story, _forwards(journal), back)


def _foreign(file: LockedFile, journal: Journal, place: Path, spans: Spans) -> Pending:
    shown = ", ".join(f"[{span.start:,}, {span.stop:,})" for span in spans[:_MENTIONED])
    more = f" and {len(spans) - _MENTIONED:,} more places" if len(spans) > _MENTIONED else ""
    story = (
        f"{_change(file, journal)} was interrupted, and another program has written to the file since: the bytes in "
        f"{shown}{more} are neither the old ones nor the new ones. Neither way is safe, so nothing is written to it."
    )
    return Pending(Kind.FOREIGN, file.path, place, spans, story, forget=_giving_up(file))


def _other(file: LockedFile, journal: Journal, place: Path, spans: Spans) -> Pending:
    edit = journal.edit
    known = f"{edit.old_size:,}" if edit.old_size == edit.new_size else f"{edit.old_size:,} or {edit.new_size:,}"
    why = "holds other bytes" if spans else f"has {file.identity.size:,} bytes, not {known}"
    story = (
        f"{_change(file, journal)} was interrupted, but the file that stands there now is another one, or was changed "
        f"since by another program: it {why}. Nothing is written to it."
    )
    return Pending(Kind.OTHER_FILE, file.path, place, spans, story, forget=_giving_up(file))


def _change(file: LockedFile, journal: Journal) -> str:
    label = f" ({visible(journal.edit.label)})" if journal.edit.label else ""
    moved = ""
    if journal.path != str(file.path):
        moved = f", then {visible(journal.path)},"
    elif journal.identity.inode != file.identity.inode:
        moved = ", or of the file that stood in its place then,"
    return f"A change of {file.name}{moved}{label}"


def _giving_up(file: LockedFile) -> str:
    return f"Leave {file.name} as it is now. {_ASIDE}"


def _forwards(journal: Journal) -> str:
    edit = journal.edit
    cut = f", and cut off the last {edit.dropped.size:,} bytes" if edit.dropped.size else ""
    return f"Write the new bytes, {total(edit.spans):,} in {len(edit.patches):,} places{cut}."


def _back(file: LockedFile, journal: Journal) -> str:
    """What rolling back would do; empty where the journal does not hold what was cut off, and it is off already."""
    edit = journal.edit
    if file.identity.size < edit.old_size and not journal.can_go_back:
        return ""
    cut = (
        f", and cut off the {edit.new_size - edit.old_size:,} that were added" if edit.new_size > edit.old_size else ""
    )
    size = sum(len(patch.old) for patch in edit.patches) + len(journal.dropped or b"")
    return f"Write the old bytes, {size:,} in {len(edit.patches) + bool(journal.dropped):,} places{cut}."
