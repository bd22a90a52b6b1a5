"""A session that also changes its archive: previews of edits, writing them, repairs. Nothing is written unasked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from inspector.core.edit import Edit, OverlaySource, Patch
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.operations.changing import patch_file
from inspector.operations.changing.dependents import broken, mend_checksums
from inspector.operations.changing.edit_views import Interrupted, Mended, RepairPlan, WayOut, WriteResult
from inspector.operations.changing.header_draft import Entry, HeaderDraft, HeaderView
from inspector.operations.changing.interrupted import interrupted, recover
from inspector.operations.changing.mending import carry_out, described, save_salvage, write_edit
from inspector.operations.changing.repairing import plan
from inspector.operations.changing.taco_header import header_draft, header_view, member_target
from inspector.operations.changing.taco_header import preview as preview_header
from inspector.operations.extracting.extraction import Extraction
from inspector.operations.extracting.extraction_views import (
    ExtractionOptions,
    ExtractionPlan,
    ExtractionResult,
    Lent,
    OnConflict,
)
from inspector.operations.extracting.extraction_wanted import Wanted, everything, numbered
from inspector.operations.extracting.lending import TOO_MUCH, lend, lend_one, size_of
from inspector.operations.opening.location import Location
from inspector.operations.opening.opening import Opened, decode, start
from inspector.operations.refused import Refused
from inspector.operations.showing.scene import Scene
from inspector.operations.showing.session import JOBS as SESSION_JOBS
from inspector.operations.showing.session import QUICK as SESSION_QUICK
from inspector.operations.showing.session import Session
from inspector.operations.showing.views import Chosen, Stage
from inspector.sources.file import FileSource
from inspector.sources.in_place import patched_copy
from inspector.sources.replacing import Replacing
from inspector.sources.s3.connection import DEFAULT, Connection

CHECKED_ALONG = 64 << 20
"""Bytes of an archive that is checked with every preview; a larger one is only where it has been checked before."""


class Workbench(Session):
    """One open location that can be changed."""

    def __init__(self, location: str, s3: Connection = DEFAULT) -> None:
        super().__init__(location, s3)
        self._disk = self._now

    # ---- previews ----------------------------------------------------------------------------------------------

    def preview(self, progress: Progress, edit: Edit | None) -> tuple[str, ...] | None:
        """Show the archive as ``edit`` would leave it; as it is on disk for None. Raises Refused and Cancelled.

        Gives the names of the checksums that the edit makes wrong, None where it was not checked.
        """
        with self._turns.one(progress):
            scene = self._disk if edit is None else self._scene(edit, progress)
            self._show(scene)
            return broken(scene.archives[0], edit) if edit is not None and scene.checks.checked else None

    def _scene(self, edit: Edit, progress: Progress) -> Scene:
        scene = Scene(self._name, Location([start(OverlaySource(self._file(), edit))]))
        decode(scene.archives[0], progress)
        if self._disk.checks.checked or scene.location.size <= CHECKED_ALONG:
            scene.checks.run(progress)
            progress.advance(0)
        return scene

    def _file(self) -> FileSource:
        """The archive on disk; raises Refused where it cannot be changed."""
        if self._stage in (Stage.OPENING, Stage.DECODING):
            raise Refused("The archive is still being read: change it when that is over.")
        archives = self._disk.archives
        if self._disk.location.collection is not None:
            raise Refused("This is a folder of several files: open the one that is to be changed.")
        source = archives[0].source if archives else None
        if not isinstance(source, FileSource):
            raise Refused("There is no file here that could be changed.")
        return source

    def mend_checksums(self, progress: Progress, edit: Edit) -> Mended:
        """The edit with all checksums that depend on what it changes. Raises Refused and Cancelled."""
        return mend_checksums(self._file(), edit, progress)

    # ---- the TACO header ---------------------------------------------------------------------------------------

    def header(self, draft: HeaderDraft | None) -> HeaderView:
        """The TACO header as it is shown, or as a draft would make it; raises Refused where there is none.

        ``changed`` are the entries in which it differs from the file on disk.
        """
        shown = header_view(self._archive(), draft)
        stands = header_draft(self._disk.archives[0]).entries
        changed = frozenset(each.index for each in shown.entries if (each.offset, each.length) != stands[each.index])
        return replace(shown, changed=changed)

    def header_edit(self, draft: HeaderDraft) -> Edit:
        """The edit of what is shown that makes the header what the draft says. Raises Refused and SourceError.

        Its old bytes are those on disk, where that has as many: what is pending may be other than what is shown.
        """
        edit, disk = preview_header(self._archive(), draft), self._file()
        return replace(edit, patches=tuple(_of_disk(patch, disk) for patch in edit.patches))

    def header_target(self, member: int) -> Entry:
        """Offset and length of a member's data; raises Refused where it is not known where that is."""
        return member_target(self._archive(), member)

    def _archive(self) -> Opened:
        if self._stage is not Stage.READY or self._now.location.collection is not None:
            raise Refused("There is no TACO header to show.")
        return self._now.archives[0]

    # ---- writing -----------------------------------------------------------------------------------------------

    def write(self, progress: Progress, edit: Edit) -> WriteResult:
        """Write an edit into the file, and read it again. Raises Refused and EditError where nothing was written."""
        with self._turns.one(progress):
            progress.begin("Writing", 0)
            result = write_edit(self._file(), edit)
            self._read_again(progress)
            return result

    def read_again(self, progress: Progress) -> None:
        """Show the archive as it is on disk now, not checked. Raises Refused where it is not there any more."""
        with self._turns.one(progress):
            self._read_again(progress, check=False)

    def _read_again(self, progress: Progress, *, check: bool = True) -> None:
        checked = check and self._disk.checks.checked
        fresh = Session(self._name, self._s3)
        fresh.decode(progress)
        if (failed := fresh.status()).stage is Stage.FAILED:
            raise Refused(failed.sentence)
        self._disk = fresh._now  # noqa: SLF001 - one of its own kind
        if checked:
            self._disk.checks.run(progress)
        self._show(self._disk)

    def save_copy(self, progress: Progress, edit: Edit, path: str, over: bool) -> str:
        """Write the archive as ``edit`` would leave it to another file. Raises Refused, SourceError, Cancelled."""
        target = Path(path)
        patched_copy(self._file(), edit, target, progress, replace=over)
        return f"The changed copy is {visible(str(target))}."

    def export_patch(self, progress: Progress, edit: Edit, path: str) -> str:
        """Write an edit to a file of its own (see ``patch_file``). Raises SourceError."""
        progress.begin("Writing the patch", 0)
        with Replacing(Path(path), replace=True) as out:
            out.write(patch_file.encoded(edit))
        return f"The patch was written to {visible(path)}."

    def import_patch(self, progress: Progress, path: str) -> Edit:
        """The edit that a patch file holds, if it is one of this file. Raises Refused and SourceError."""
        progress.begin("Reading the patch", 0)
        return patch_file.decoded(FileSource(Path(path)), self._file())

    # ---- interrupted changes -----------------------------------------------------------------------------------

    def interrupted(self) -> Interrupted | None:
        """What an interrupted change has left of the archive, None where there was none. Raises EditError."""
        return interrupted(self._name) if self._stage is not Stage.FAILED else None

    def recover(self, progress: Progress, way: WayOut) -> WriteResult:
        """Finish an interrupted change, roll it back or forget it, and read the file again. Raises EditError."""
        with self._turns.one(progress):
            result = WriteResult(recover(self._name, way))
            self._read_again(progress)
            return result

    # ---- repairs -----------------------------------------------------------------------------------------------

    def plan_repairs(self, progress: Progress, accepted: Collection[str]) -> RepairPlan:
        """How the archive on disk can be mended. Raises Refused, SourceError and Cancelled."""
        with self._turns.one(progress):
            self._file()
            checks = self._disk.checks
            if not checks.checked:
                checks.run(progress)
                self._changes += 1
                progress.advance(0)
            return described(plan(self._disk.archives[0], progress, accepted))

    def make_repairs(self, progress: Progress, accepted: Collection[str], copy: str) -> WriteResult:
        """Mend it, in place or, where ``copy`` is a path, to that file, over what is there.

        Raises Refused and EditError where nothing was written, SourceError and Cancelled.
        """
        with self._turns.one(progress):
            source = self._file()
            result = carry_out(plan(self._disk.archives[0], progress, accepted), source, copy, progress, over=True)
            if not copy:
                self._read_again(progress)
            return result

    def salvage(self, progress: Progress, accepted: Collection[str], copy: str) -> WriteResult:
        """Write what is whole into a new archive at ``copy``, over what is there. Raises as ``make_repairs`` does."""
        with self._turns.one(progress):
            source = self._file()
            return save_salvage(plan(self._disk.archives[0], progress, accepted), source, copy, progress, over=True)

    # ---- growing -----------------------------------------------------------------------------------------------

    def append(self, progress: Progress, locations: Sequence[str], level: int, convention: str) -> WriteResult:
        """Add files to an RCA archive in place, and read it again; see ``Draft`` for the options.

        Raises Refused, EditError, SourceError and Cancelled: the archive then holds what it held.
        """
        # They come with all that makes archives, which opening one need not wait for.
        from inspector.operations.making.rca_writing import append_rca
        from inspector.operations.making.workshop import rca_options

        with self._turns.one(progress):
            self._file()
            grown = append_rca(progress, self._name, locations, rca_options(level, convention))
            self._read_again(progress)
            return WriteResult(grown.sentence, grown.warnings)

    # ---- extracting --------------------------------------------------------------------------------------------

    def plan_extraction(
        self,
        progress: Progress,
        members: Collection[int] | None,
        folder: str,
        on_conflict: OnConflict = OnConflict.REFUSE,
        doubtful: bool = False,
    ) -> ExtractionPlan:
        """What ``extract`` would do. Raises as it does."""
        with self._turns.one(progress):
            return self._extraction(members, folder, ExtractionOptions(on_conflict, doubtful)).plan(progress)

    def extract(
        self,
        progress: Progress,
        members: Collection[int] | None,
        folder: str,
        on_conflict: OnConflict = OnConflict.REFUSE,
        doubtful: bool = False,
        keep_damaged: bool = False,
    ) -> ExtractionResult:
        """Write members of what is shown, all for None, into a folder (see ``ExtractionOptions``).

        Raises Refused where nothing can be extracted, SourceError and Cancelled, which leaves the files that are whole.
        """
        with self._turns.one(progress):
            options = ExtractionOptions(on_conflict, doubtful, keep_damaged)
            return self._extraction(members, folder, options).run(progress)

    def lend(self, progress: Progress, chosen: Chosen, folder: str, most: int | None = None) -> Lent:
        """Extract what is chosen into a private folder (see ``lending``); nothing if that is more than ``most`` bytes.

        Raises Refused, SourceError and Cancelled.
        """
        with self._turns.one(progress):
            now = self._now
            wanted = self._wanted(now.members.numbers(chosen))
            if most is not None and size_of(wanted) > most:
                return Lent((), TOO_MUCH)
            return lend(wanted, now.members.heads(chosen), Path(folder), progress)

    def lend_one(self, progress: Progress, member: int, folder: str) -> Lent:
        """Extract a member for another program to open; raises Refused for what may be run (see ``lending``)."""
        with self._turns.one(progress):
            return lend_one(self._wanted([member]), self._now.shelf.path(member), Path(folder), progress)

    def _extraction(self, members: Collection[int] | None, folder: str, options: ExtractionOptions) -> Extraction:
        return Extraction(self._wanted(members), Path(folder), options)

    def _wanted(self, members: Collection[int] | None) -> list[Wanted]:
        if self._stage is not Stage.READY:
            raise Refused("Nothing was extracted: not all of the archive has been read.")
        every = everything(self._name, self._now.archives)
        return every if members is None else numbered(every, members)


def _of_disk(patch: Patch, disk: Source) -> Patch:
    stands = disk.read(patch.offset, len(patch.old))
    return replace(patch, old=stands + patch.old[len(stands) :])


QUICK = SESSION_QUICK | {"interrupted", "header", "header_edit", "header_target"}
"""Methods that answer at once; safe while jobs run."""
JOBS = SESSION_JOBS | {
    *("preview", "mend_checksums", "write", "save_copy", "export_patch", "import_patch"),
    "read_again",
    *("recover", "plan_repairs", "make_repairs", "salvage", "plan_extraction", "extract", "lend", "lend_one", "append"),
}
"""Methods that take a Progress first and may take long; each may run in a thread of its own."""
