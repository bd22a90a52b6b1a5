"""Carrying out a plan of repairs: in place with a journal, to a copy, or by salvage into a new archive."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from inspector.core.archive import Archive
from inspector.core.edit import Edit
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes, verb
from inspector.core.progress import Cancelled, Progress
from inspector.core.repair import Repair
from inspector.core.source import SourceError
from inspector.core.span import Span, Spans
from inspector.core.verdict import State
from inspector.operations.check.checking import state_of
from inspector.operations.check.repairable import left
from inspector.operations.edit.beside import files_of, name_of, see_that_it_is_free, write_beside, write_beside_copy
from inspector.operations.edit.plan_repairs import Beside, Plan, Refusal
from inspector.operations.edit.s3_writing import put_copy, put_pieces, write_edit_to_s3
from inspector.operations.jobs.finding_summary import brief
from inspector.operations.jobs.operation_error import Refused
from inspector.operations.protocol.edit_views import RepairPlan, RepairRow, WriteResult, done_sentence
from inspector.sources.local.atomic import AtomicFile
from inspector.sources.local.file import FileSource
from inspector.sources.local.in_place import patched_copy, write
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.cancelling import cancelling
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.source import S3Source

_ORDER = tuple(State)
"""The states, from the best to the worst."""


def described(plan: Plan, copy: str = "") -> RepairPlan:
    """A plan in words; ``copy`` is what is to be written instead of the archive, if that is to stay as it is."""
    saves = bool(copy) and plan.salvage is not None and not plan.state.fine
    return RepairPlan(
        tuple(_row(plan, each) for each in plan.repairs),
        tuple(_row(plan, each) for each in plan.waiting),
        _row(plan, plan.salvage) if plan.salvage is not None else None,
        plan.edit,
        () if saves else tuple(_name(copy or plan.before.source.name, each) for each in files_of(plan)),
        state_of((plan.before,)),
        plan.state,
        tuple(map(brief, left(plan.after))),
        _sentence(plan),
        plan.accepted,
    )


def _name(archive: str, beside: Beside) -> str:
    """What a file beside an archive is called, without its folder."""
    return Path(name_of(archive, beside)).name


def _row(plan: Plan, repair: Repair) -> RepairRow:
    spans: Spans = ()
    if repair.edit is not None:
        cut = repair.edit.dropped
        spans = (*repair.edit.spans, *([Span(cut.start, cut.stop)] if cut.size else []))
    return RepairRow(
        repair.code,
        repair.title,
        tuple(sorted(repair.fixes)),
        repair.loses,
        repair.claim,
        spans,
        repair.lossless,
        _why_consent(plan, repair),
    )


def _why_consent(plan: Plan, repair: Repair) -> str:
    """Why a repair is not made unasked, where no claim says so; empty for one that is."""
    asked = repair in plan.waiting or repair.code in plan.accepted
    if repair.claim or repair.is_salvage or not asked:
        return ""
    if repair.needs_consent and repair.loses:
        return f"It takes away {in_bytes(repair.cut.size)} of the file."
    if repair.needs_consent:
        return f"It cuts off {in_bytes(repair.cut.size)}, and nothing shows that they hold nothing."
    if any(each.claim for each in plan.repairs):
        return "It may rest on what a repair writes that is only assumed."
    if repair.cut.size:
        return f"That it would cut off {in_bytes(repair.cut.size)} shows only after the other repairs."
    return "The archive would not be whole afterwards, so nothing is changed in it unasked."


def _sentence(plan: Plan) -> str:
    return " ".join(filter(None, (_outcome(plan), *map(_not_made, plan.refused))))


def _not_made(refusal: Refusal) -> str:
    return f"{refusal.code} was accepted and is not made: {refusal.why}."


def _outcome(plan: Plan) -> str:
    before, after = state_of((plan.before,)), plan.state
    if plan.has_repairs:
        was = "archive" if before is State.WARNING else f"{before} archive"
        will = "usable, with warnings" if after is State.WARNING else after
        repairs = count(len(plan.repairs), "repair")
        done = f"{repairs} would make this {was} {will}."
        if _ORDER.index(after) > _ORDER.index(before):
            done = f"{repairs} would let more of this {was} be read, and what shows then is {will}."
        elif after is before and not after.fine:
            done = f"{repairs} would fix part of this {was}, which stays {will}."
        return done if after.fine else f"{done} {_rest(plan)}"
    if not left(plan.before):
        return "There is nothing to repair."
    waits = any(not each.is_salvage for each in plan.waiting)
    unasked = "is repaired in place unasked" if waits else "can be repaired in place"
    return f"Nothing {unasked}. {_rest(plan)}"


def _rest(plan: Plan) -> str:
    """What could be done about what no repair fixes."""
    ways = []
    if plan.waiting:
        more = count(len(plan.waiting), "more repair", "more repairs")
        ways.append(f"{more} {verb(len(plan.waiting), 'needs', 'need')} your consent")
    if plan.salvage is not None:
        ways.append(f"{_saved(plan)} can be saved into a new archive")
        if plan.salvage.claim:
            ways.append(f"{plan.salvage.code} changes nothing in place, it needs another file to write to")
    if not ways:
        return "No repair is known for what is left."
    said = "; ".join(ways)
    return f"{said[0].upper()}{said[1:]}."


def _saved(plan: Plan) -> str:
    """What a salvage writes."""
    if plan.salvage is not None and plan.salvage.claim:
        return "what can be read (not all of it is proved whole)"
    if not len(plan.after.checksums):
        return "what can be read (no checksum proves it whole)"
    return "what is provably whole"


def _lost(repairs: Iterable[Repair]) -> tuple[str, ...]:
    """What repairs lose and assume, for whoever reads nothing else."""
    return tuple(
        sentence
        for repair in repairs
        for sentence in (
            *(f"Lost: {words}" for words in repair.loses),
            *((f"Assumed: {repair.claim}",) if repair.claim else ()),
        )
    )


def writable(archive: Archive) -> FileSource | S3Source:
    """The file or object that an archive is read from. Raises Refused where it is neither."""
    if not isinstance(archive.source, (FileSource, S3Source)):
        raise Refused(f"{visible(archive.source.name)} is neither a file nor an object on S3, so it cannot be changed.")
    return archive.source


def write_edit(
    source: FileSource | S3Source, edit: Edit, progress: Progress | None = None, *, whole: bool = False
) -> WriteResult:
    """Write an edit into what ``source`` reads, if that still is as it was when it was opened.

    ``whole`` sends all of an object where the server cannot copy what stays. Raises EditError where nothing was
    written, and Cancelled.
    """
    if isinstance(source, S3Source):
        return write_edit_to_s3(source, edit, progress or Progress(), whole=whole)
    written = write(source.path, edit, source.identity)
    cut, done = edit.dropped, []
    if edit.patches:
        size = in_bytes(sum(len(patch.new) for patch in edit.patches))
        done.append(f"{size} written in {count(len(edit.patches), 'place')}")
    if cut.size:
        kept = f", kept in {visible(written.kept.path)}" if written.kept is not None else ""
        done.append(f"{in_bytes(cut.size)} cut off{kept}")
    return WriteResult(done_sentence(edit.label, ", ".join(done)), written.warnings, written.undo, written.kept)


def carry_out(
    plan: Plan,
    source: FileSource | S3Source,
    copy: str,
    progress: Progress,
    *,
    over: bool = False,
    whole: bool = False,
    connection: Connection = DEFAULT,
) -> WriteResult:
    """Make the repairs of a plan: in place, or to the file or object ``copy``, ``over`` what is there.

    ``whole`` is as in write_edit, ``connection`` says how the copy's bucket is reached. Raises Refused and EditError
    where nothing was written, SourceError and Cancelled.
    """
    if not plan.has_repairs:
        raise Refused(_sentence(plan))
    if copy:
        return _repair_copy(plan, source, copy, progress, over=over, connection=connection)
    result = WriteResult(done_sentence(plan.repairs[0].title))
    if plan.edit is not None:
        result = write_edit(source, plan.edit, progress, whole=whole)
    said = _put_beside(plan, source, progress)
    return replace(result, warnings=(*_lost(plan.repairs), *result.warnings, *said))


def _put_beside(plan: Plan, source: FileSource | S3Source, progress: Progress) -> tuple[str, ...]:
    """Write the files beside the archive; sentences on old ones that are kept, and on those that could not be written.

    The archive is repaired by then.
    """
    said: list[str] = []
    for each in files_of(plan):
        try:
            said.append(write_beside(plan, each, source, progress))
        except (SourceError, Cancelled) as error:
            if plan.edit is None:
                raise
            why = "that was cancelled" if isinstance(error, Cancelled) else str(error)
            said.append(f"{_name(source.name, each)} was not written beside it: {why.rstrip('.')}.")
    return tuple(filter(None, said))


def _repair_copy(
    plan: Plan, source: FileSource | S3Source, copy: str, progress: Progress, *, over: bool, connection: Connection
) -> WriteResult:
    if not over:
        see_that_it_is_free(copy, files_of(plan), connection)
    save_copy(source, plan.edit or Edit("", (), source.size, source.size), copy, progress, over, connection)
    write_beside_copy(copy, files_of(plan), connection, progress, over=over)
    return WriteResult(f"The repaired copy is {visible(copy)}.", _lost(plan.repairs))


def save_copy(
    source: FileSource | S3Source,
    edit: Edit,
    copy: str,
    progress: Progress,
    over: bool,
    connection: Connection = DEFAULT,
) -> None:
    """Write the archive as an edit would leave it to the file or object ``copy``; see carry_out.

    Raises Refused, SourceError and Cancelled.
    """
    if is_s3(copy):
        _see_that_it_is_another(source, copy)
        progress.begin("Writing the copy", edit.new_size)
        put_copy(source, edit, parse(copy), connection, progress, over)
        return
    with cancelling(progress):
        patched_copy(source, edit, Path(copy), progress, replace=over)


def _see_that_it_is_another(source: FileSource | S3Source, copy: str) -> None:
    """Raise Refused where a copy would take the place of the archive itself."""
    if is_s3(copy):
        same = isinstance(source, S3Source) and parse(copy) == source.address
    else:
        target = Path(copy)
        same = isinstance(source, FileSource) and target.exists() and target.samefile(source.path)
    if same:
        raise Refused(f"{visible(copy)} is the archive itself: choose another name.")


def save_salvage(
    plan: Plan,
    source: FileSource | S3Source,
    copy: str,
    progress: Progress,
    *,
    over: bool = False,
    connection: Connection = DEFAULT,
) -> WriteResult:
    """Write what a plan's salvage saves into a new archive at ``copy``, ``over`` what is there, but never the archive.

    ``connection`` is as in carry_out.

    Raises Refused where there is nothing to save, MemberError, SourceError and Cancelled: then there is no new file.
    """
    if plan.salvage is None or plan.salvage.content is None:
        raise Refused("There is nothing to save to a new archive.")
    _see_that_it_is_another(source, copy)
    pieces = plan.salvage.content(progress)
    if is_s3(copy):
        put_pieces(pieces, parse(copy), connection, progress, over)
    else:
        with cancelling(progress), AtomicFile(Path(copy), replace=over) as out:
            for piece in pieces:
                out.write(piece)
    saved = _saved(plan)
    sentence = f"{saved[0].upper()}{saved[1:]} is saved in {visible(copy)}."
    return WriteResult(sentence, _lost((*plan.repairs, plan.salvage)))
