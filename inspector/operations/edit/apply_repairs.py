"""Writing changes, to files and to objects on S3, and applying plans of repairs: in place, to a copy, or by salvage."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath

from msgspec.structs import replace

from inspector.core.archive import Archive
from inspector.core.cause import SPLIT_CODE
from inspector.core.edit import Edit, EditError, OverlaySource, Patch
from inspector.core.finding import brief
from inspector.core.names import brief as brief_name
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes, rounded, verb
from inspector.core.program.hints import Hint, already_exists, hint
from inspector.core.program.progress import Cancelled, Progress, cancelling
from inspector.core.repair import Companion, Fate, Repair
from inspector.core.source import Source, SourceError, blocks
from inspector.core.span import Span, Spans
from inspector.core.verdict import State
from inspector.formats.datas3t.datapoints import RangeRecords
from inspector.formats.datas3t.decode import INDEX, TAR
from inspector.operations.check.checking import left, state_of
from inspector.operations.edit.plan_repairs import Plan, SiblingFile, kept_beside
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.targets import check_targets, new_archives, target_of
from inspector.operations.protocol.edit_views import (
    MAX_REPORT_ROWS,
    RepairPlan,
    RepairRow,
    SalvageReport,
    WriteResult,
    done_sentence,
)
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.changes.old_bytes import MAX_INLINE_BYTES, StoredBytes, forget_files, prune, store_detached
from inspector.sources.local.disk_calls import Disk, reason
from inspector.sources.local.file import FileSource
from inspector.sources.s3.address import Address, is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection, Consent
from inspector.sources.s3.source import RemoteSource, S3Source
from inspector.sources.s3.uploads.pieces import bytes_sent, merged, pieces_of
from inspector.sources.web.address import read_only

DOUBTFUL_SALVAGES = ("caf-salvage-doubtful",)
"""The codes of the salvages that write doubtful members too, under names that say so."""


def describe(plan: Plan, copy: str = "") -> RepairPlan:
    """A plan for display; ``copy`` is the target if the archive itself is not changed."""
    saves = bool(copy) and plan.saves
    beside: Sequence[SiblingFile | Companion] = sibling_files(plan)
    if saves and plan.salvage is not None:
        beside = plan.salvage.along
    elif copy and plan.repairs:
        beside = files_of_copy(plan)
    return RepairPlan(
        tuple(_row(plan, each) for each in plan.repairs),
        tuple(_row(plan, each) for each in plan.waiting),
        _row(plan, plan.salvage) if plan.salvage is not None else None,
        plan.edit,
        tuple(_name(copy or plan.before.source.name, each) for each in beside),
        state_of((plan.before,)),
        plan.state,
        tuple(map(brief, left(plan.after))),
        _sentence(plan),
        plan.accepted,
        salvage_report(plan.salvage),
    )


def salvage_report(salvage: Repair | None) -> SalvageReport | None:
    """What becomes of each member in a salvage; None where there is no salvage, or it does not say."""
    if salvage is None or salvage.outcomes is None:
        return None
    numbers: Counter[Fate] = Counter()
    rows: dict[Fate, list[tuple[str, str, str]]] = {fate: [] for fate in (Fate.LOST, Fate.READABLE, Fate.PROVED)}
    for each in salvage.outcomes():
        numbers[each.fate] += 1
        if len(rows[each.fate]) < MAX_REPORT_ROWS:
            rows[each.fate].append((brief_name(each.path), str(each.fate), each.why))
    found = [row for some in rows.values() for row in some][:MAX_REPORT_ROWS]
    counted = (numbers[Fate.PROVED], numbers[Fate.READABLE], numbers[Fate.LOST])
    return SalvageReport(*counted, tuple(found), salvage.unsearched, bool(salvage.loses))


def _name(archive: str, beside: SiblingFile | Companion) -> str:
    """The name of a file beside an archive, without its folder."""
    return Path(sibling_name(archive, beside)).name


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
        repair.lossless and f"{repair.lossless} {repair.remains}".strip(),
        _why_consent(plan, repair),
    )


def _why_consent(plan: Plan, repair: Repair) -> str:
    """Why a repair needs consent, unless its claim says so; empty if it needs none."""
    asked = repair in plan.waiting or repair.code in plan.accepted
    if repair.claim or repair.is_salvage or not asked:
        return ""
    if repair.needs_consent and repair.loses:
        return f"It removes {in_bytes(repair.cut.size)} from the file."
    if repair.needs_consent:
        return f"It cuts off {in_bytes(repair.cut.size)} that may hold data."
    if any(each.claim for each in plan.repairs):
        return "It may depend on bytes that another repair only assumes."
    if repair.cut.size:
        return f"It would cut off {in_bytes(repair.cut.size)}, which only shows after the other repairs."
    return "The archive would still have errors afterwards, so it is only changed after confirming."


def _sentence(plan: Plan) -> str:
    refused = (f"{code} was accepted but is not applied: {why}." for code, why in plan.refused)
    return " ".join(filter(None, (_outcome(plan), *refused)))


def _outcome(plan: Plan) -> str:
    before, after = state_of((plan.before,)), plan.state
    if plan.repairs:
        was = "archive" if before is State.WARNING else f"{before} archive"
        will = "usable, with warnings" if after is State.WARNING else after
        repairs = count(len(plan.repairs), "repair")
        done = f"{repairs} would make this {was} {will}."
        if after.rank > before.rank:
            done = f"{repairs} would let more of this {was} be read, and what shows then is {will}."
        elif after is before and not after.fine:
            done = f"{repairs} would fix part of this {was}, which stays {will}."
        return done if after.fine else f"{done} {_rest(plan)}"
    if not left(plan.before):
        return "There is nothing to repair."
    waits = any(not each.is_salvage for each in plan.waiting)
    unasked = "is written without your consent" if waits else "can be repaired in place"
    return f"Nothing {unasked}. {_rest(plan)}"


def _rest(plan: Plan) -> str:
    """What can be done about the errors that no repair fixes."""
    options = []
    if plan.waiting:
        more = count(len(plan.waiting), "more repair" if plan.repairs else "repair")
        options.append(f"{more} {verb(len(plan.waiting), 'needs', 'need')} your consent")
    if plan.salvage is not None:
        options.append(f"{_saved(plan)} can be saved into a new archive")
        if plan.salvage.claim:
            options.append(f"{plan.salvage.code} writes to another file and changes nothing in place")
    if not options:
        return "No repair is known for the remaining errors."
    text = "; ".join(options)
    return f"{text[0].upper()}{text[1:]}."


def _saved(plan: Plan) -> str:
    """What a salvage writes, as a noun phrase."""
    if plan.salvage is not None and plan.salvage.claim:
        return "what can be read (not all of it is proved whole)"
    outcomes = plan.salvage.outcomes if plan.salvage is not None else None
    proved = outcomes is not None and any(each.fate is Fate.PROVED for each in outcomes())
    if not len(plan.after.checksums) and not proved:
        return "what can be read (no checksum proves it whole)"
    return "what is provably whole"


def _lost(repairs: Iterable[Repair]) -> tuple[str, ...]:
    """What repairs lose and assume, in sentences."""
    return tuple(
        sentence
        for repair in repairs
        for sentence in (
            *(f"Lost: {words}" for words in repair.loses),
            *((f"Assumed: {repair.claim}",) if repair.claim else ()),
            *((repair.remains,) if repair.remains else ()),
        )
    )


Readable = FileSource | RemoteSource
"""What an archive is read from that can be copied; ``writable`` says what can be changed in place too."""


def file_of(archive: Archive) -> Readable:
    """The file or object that an archive is read from. Raises OperationError if it is neither."""
    if not isinstance(archive.source, (FileSource, RemoteSource)):
        raise OperationError(
            f"{visible(archive.source.name)} is neither a file nor an object on S3, so it cannot be changed."
        )
    return archive.source


def writable(source: Readable) -> FileSource | S3Source:
    """The file or object, to be changed in place. Raises SourceError if it is one that is only read."""
    if not isinstance(source, (FileSource, S3Source)):
        raise read_only(source.name)
    return source


def write_edit(
    source: Readable, edit: Edit, progress: Progress | None = None, consents: Consent = Consent.NONE
) -> WriteResult:
    """Write an edit into the file or object of ``source`` unless that has changed since it was opened.

    ``consents`` are for S3. Raises EditError if nothing was written, and Cancelled.
    """
    source = writable(source)
    if isinstance(source, S3Source):
        return write_edit_to_s3(source, edit, progress or Progress(), consents)
    written = write(source.path, edit, source.identity)
    cut, done = edit.dropped, []
    if edit.patches:
        size = in_bytes(sum(len(patch.new) for patch in edit.patches))
        done.append(f"{size} written in {count(len(edit.patches), 'place')}")
    if cut.size:
        kept = f", kept in {visible(written.kept.path)}" if written.kept is not None else ""
        done.append(f"{in_bytes(cut.size)} cut off{kept}")
    return WriteResult(done_sentence(edit.label, ", ".join(done)), written.warnings, written.undo, written.kept)


def apply_plan(
    plan: Plan,
    source: Readable,
    copy: str,
    progress: Progress,
    *,
    over: bool = False,
    consents: Consent = Consent.NONE,
    connection: Connection = DEFAULT,
) -> WriteResult:
    """Apply a plan in place, or write the repaired archive to the file or object ``copy``.

    ``over`` replaces an existing file; ``consents`` are as in write_edit; ``connection`` says how to reach the copy.
    Raises OperationError and EditError if nothing was written, SourceError and Cancelled.
    """
    if not copy:
        source = writable(source)
    if not plan.repairs:
        raise OperationError(_sentence(plan))
    if copy:
        save_copy(source, plan.edit or Edit("", (), source.size, source.size), copy, progress, over, connection, plan)
        return WriteResult(f"The repaired copy is {visible(copy)}.", _lost(plan.repairs))
    result = WriteResult(done_sentence(plan.repairs[0].title))
    if plan.edit is not None:
        result = write_edit(source, plan.edit, progress, consents)
    messages = _write_siblings(plan, source, progress, consents)
    return replace(result, warnings=(*_lost(plan.repairs), *result.warnings, *messages))


def _write_siblings(plan: Plan, source: Readable, progress: Progress, consents: Consent) -> tuple[str, ...]:
    """Write the files beside the archive, which is repaired by then.

    Returns sentences: where old files are stored, and which files could not be written.
    """
    messages: list[str] = []
    for each in sibling_files(plan):
        try:
            messages.append(write_sibling(plan, each, source, progress, consents))
        except (SourceError, EditError, Cancelled) as error:
            if plan.edit is None:
                raise
            why = "that was cancelled" if isinstance(error, Cancelled) else str(error)
            messages.append(f"{_name(source.name, each)} was not written beside it: {why.rstrip('.')}.")
    return tuple(filter(None, messages))


def save_copy(
    source: Readable,
    edit: Edit,
    copy: str,
    progress: Progress,
    over: bool,
    connection: Connection = DEFAULT,
    plan: Plan | None = None,
) -> None:
    """Write the archive with an edit applied to the file or object ``copy``, and what a ``plan`` has beside it.

    See apply_plan. Raises OperationError, SourceError and Cancelled.
    """
    beside = files_of_copy(plan) if plan is not None else ()

    def patched() -> Iterator[bytes]:
        progress.begin("Writing the copy", edit.new_size)
        for piece in blocks(OverlaySource(source, edit), 0, edit.new_size):
            yield piece
            progress.advance(len(piece))
        if progress.done != edit.new_size:
            raise SourceError(
                f"No copy was written: {visible(source.name.rpartition('/')[2])} ends after {progress.done:,} bytes "
                f"now, and had {source.size:,} when it was opened. Open it again."
            )

    _write_copy(source, copy, patched(), beside, progress, connection, over=over)


def _write_copy(
    source: Readable,
    copy: str,
    pieces: Iterable[bytes],
    beside: Sequence[SiblingFile],
    progress: Progress,
    connection: Connection,
    *,
    over: bool,
) -> None:
    """Write another file or object than the archive, and then what belongs beside it. Raises as save_copy does."""
    if is_s3(copy):
        same = isinstance(source, S3Source) and parse(copy) == source.address
    else:
        same = isinstance(source, FileSource) and Path(copy).exists() and source.path.samefile(copy)
    if same:
        raise OperationError(f"{visible(copy)} is the archive itself. Choose another name.")
    places = {sibling_name(copy, each): each for each in beside}
    for place in () if over else places:
        if is_s3(place):
            from inspector.sources.s3.uploads.new_objects import NewObjects  # loads boto3

            NewObjects(connection).see_that_it_is_free(parse(place))
        elif os.path.lexists(place):
            raise SourceError(already_exists(visible(place)))
    _create(copy, pieces, progress, connection, over=over)
    for place, each in places.items():
        try:
            _create(place, _pieces(each, progress), progress, connection, over=over)
        except SourceError as error:
            raise SourceError(f"{visible(copy)} is written, but not what belongs beside it: {error}") from error


def _create(place: str, pieces: Iterable[bytes], progress: Progress, connection: Connection, *, over: bool) -> None:
    """Write a new file or object whole or not at all; ``over`` replaces an existing one.

    Raises OperationError, SourceError and Cancelled: then none is created.
    """
    target = target_of(place)
    with cancelling(progress):
        if isinstance(target, Address):
            check_targets([target], overwrite=over, connection=connection)
        with new_archives(target, progress, overwrite=over, connection=connection) as files:
            out = files.add(target)
            for piece in pieces:
                out.write(piece)


def save_salvage(
    plan: Plan,
    source: Readable,
    copy: str,
    progress: Progress,
    *,
    over: bool = False,
    connection: Connection = DEFAULT,
) -> WriteResult:
    """Write the undamaged members to a new archive ``copy``, never over the archive itself; see apply_plan.

    Raises OperationError if there is nothing to save, MemberError, SourceError and Cancelled: then no file is written.
    """
    if plan.salvage is None or plan.salvage.content is None:
        raise OperationError("There is nothing to save to a new archive.")
    along = [kept_beside(each.suffix, each.instead_of, each.content(progress)) for each in plan.salvage.along]
    _write_copy(source, copy, plan.salvage.content(progress), along, progress, connection, over=over)
    saved = _saved(plan)
    sentence = f"{saved[0].upper()}{saved[1:]} is saved in {visible(copy)}."
    if plan.salvage.code == SPLIT_CODE:
        others = ", ".join(_name(copy, each) for each in along)
        sentence = f"The first archive is saved in {visible(copy)}, and beside it {others}."
    elif (report := salvage_report(plan.salvage)) is not None:
        sentence = f"{sentence} {report.sentence}"
    return WriteResult(sentence, _lost((*plan.repairs, plan.salvage)))


def sibling_files(plan: Plan) -> Sequence[SiblingFile]:
    """The files to write beside the archive; of several repairs of one file, the result of the last."""
    return list({(each.suffix, each.instead_of): each for each in plan.beside}.values())


def files_of_copy(plan: Plan) -> Sequence[SiblingFile]:
    """The files to write beside a copy: the repaired ones, and those as they are that describe the archive."""
    records = plan.before.detail
    found = records.found if isinstance(records, RangeRecords) else {}
    files = {(suffix, TAR if suffix == INDEX else ""): source for suffix, source in found.items()}
    files |= {(each.suffix, each.instead_of): each.content for each in sibling_files(plan)}
    return [SiblingFile(*place, content) for place, content in files.items()]


def sibling_name(path: str, beside: SiblingFile | Companion) -> str:
    """The path or location of a sibling of ``path``."""
    return path.removesuffix(beside.instead_of) + beside.suffix


def write_sibling(
    plan: Plan, beside: SiblingFile, source: Readable, progress: Progress, consents: Consent = Consent.NONE
) -> str:
    """Write a repaired file beside the archive; returns a sentence on where the old one is stored, if there was one.

    A missing file is created, but never over a new one. An existing one is only replaced if it is the one that was
    read; its old bytes are stored on this machine first, since they may be the only evidence of what the archive held.

    Raises SourceError and Cancelled: then the old file stays.
    """
    source, old = writable(source), _old(plan, beside)
    place = source.name if isinstance(source, S3Source) else os.path.realpath(source.path)
    kept = "" if old is None else _keep(old, beside.content, sibling_name(place, beside), progress)
    if isinstance(source, S3Source):
        _put(source, beside, old, progress, consents)
        return kept
    path = Path(sibling_name(str(source.path), beside))
    if isinstance(old, FileSource) and (change := old.identity.difference(FileSource(path).identity)):
        raise SourceError(
            f"{visible(path.name)} {change}, so it was not changed. Open the archive again{hint(Hint.AGAIN)}."
        )
    _create(str(path), _pieces(beside, progress), progress, DEFAULT, over=old is not None)
    return kept


def _keep(old: Source, new: Source, path: str, progress: Progress) -> str:
    """Put a file that will be replaced into the store of old bytes; returns a sentence on where.

    Raises SourceError if it cannot be stored or read, and Cancelled.
    """
    name = visible(PurePath(old.name).name)
    with cancelling(progress):
        had, has = old.read(0, old.size), new.read(0, new.size)
    if len(had) != old.size:
        raise SourceError(f"{name} was not changed: not all of its old bytes could be read.")
    if had == has:
        return ""
    shared = min(len(had), len(has))
    edit = Edit(f"Replace {name}", (Patch(0, had[:shared], has),), len(had), len(has))
    try:
        stored = store_detached(path, edit, had[shared:])
    except (OSError, EditError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error).rstrip(".")
        raise SourceError(f"{name} was not changed: its old bytes cannot be stored ({why}).") from error
    if stored.entry is None:
        raise SourceError(f"{name} was not changed: its old bytes cannot be stored. {stored.warning}")
    return f"The old {name} is stored in {visible(str(stored.entry))}."


def _old(plan: Plan, beside: SiblingFile) -> Source | None:
    """The existing file that the format found, None without one."""
    place = (beside.suffix, beside.instead_of)
    return next(each.old for each in plan.repairs if (each.beside, each.instead_of) == place)


def _put(source: S3Source, beside: SiblingFile, old: Source | None, progress: Progress, consents: Consent) -> None:
    """Write an object beside that of the archive, instead of the ``old`` one that was read."""
    from inspector.sources.s3.uploads.new_objects import NewObjects, type_of  # loads boto3

    address = parse(sibling_name(source.name, beside))
    with cancelling(progress), NewObjects(source.connection, log=source.log, consents=consents) as objects:
        kept, etag = type_of(address.key), ""
        if isinstance(old, S3Source):
            kept, etag = objects.still_there(address, old.etag), old.etag
        out = objects.add(address, kept, instead_of=etag)
        for piece in _pieces(beside, progress):
            out.write(piece)


def _pieces(beside: SiblingFile, progress: Progress) -> Iterator[bytes]:
    for piece in blocks(beside.content, 0, beside.content.size):
        yield piece
        progress.advance(0)


# ---- objects on S3 ---------------------------------------------------------------------------------------------------


def sent_bytes(edit: Edit, consents: Consent = Consent.NONE) -> int:
    """How many bytes of an object writing an edit would send; about as many are read before."""
    return bytes_sent(pieces_of(edit, whole=Consent.WHOLE in consents))


def sending_lines(source: S3Source, edit: Edit, consents: Consent = Consent.NONE, *, planned: bool = True) -> list[str]:
    """What writing an edit sends and what the server copies, in lines; ``planned``: in the conditional."""
    pieces = pieces_of(edit, whole=Consent.WHOLE in consents)
    sent = bytes_sent(pieces)
    actions = {True: "copied by the server", False: "read and sent again"}
    lines = [
        f"bytes {piece.start:,} to {piece.stop:,}: {rounded(piece.size)}, {actions[piece.copied]}"
        for piece in merged(pieces)
    ]
    are, is_ = ("would be", "would be") if planned else ("are", "is")
    total = f"In all {sent:,} of {edit.new_size:,} bytes {are} read and sent again."
    is_one = not any(piece.copied for piece in pieces) and len(pieces) < 2
    how = "one request" if is_one else f"a multipart upload of {count(len(pieces), 'part')}"
    return [
        *lines,
        total if sent else f"No byte of {edit.new_size:,} {is_} sent.",
        f"It takes {how}, and counts only if the object still has the ETag {visible(source.etag)} (If-Match).",
    ]


def write_edit_to_s3(
    source: S3Source,
    edit: Edit,
    progress: Progress,
    consents: Consent = Consent.NONE,
    *,
    keeps_old_bytes: bool = True,
) -> WriteResult:
    """Change an object. Raises EditError and Cancelled."""
    from inspector.sources.s3.uploads.writing import write_object  # loads boto3

    name, cut = visible(source.name), edit.dropped.size
    if cut > MAX_INLINE_BYTES:
        raise EditError(
            f"{name} was not changed: {rounded(cut)} would be cut off, and at most {rounded(MAX_INLINE_BYTES)} of an "
            "object are kept. Write a repaired copy instead."
        )
    with cancelling(progress):
        dropped = source.read(edit.dropped.start, cut)
    try:
        stored = store_detached(source.name, edit, dropped) if keeps_old_bytes else StoredBytes(None, None, ())
    except OSError as error:
        raise EditError(f"{name} was not changed: what would be cut off cannot be kept ({reason(error)}).") from error
    try:
        sent = write_object(source, edit, progress, consents)
    except BaseException:
        forget_files(stored.files, Disk())
        raise
    prune(Disk())
    parts = count(sum(not piece.copied for piece in sent.pieces), "part")
    text = f"{rounded(bytes_sent(sent.pieces))} sent in {parts}"
    if copied := sum(piece.size for piece in sent.pieces if piece.copied):
        text += f", {rounded(copied)} copied by the server"
    if stored.cut is not None:
        text += f", {rounded(cut)} cut off, kept in {visible(stored.cut.path)}"
    if sent.before:
        text += f", in place of the version {visible(sent.before)}, which the bucket keeps"
    warnings = (*sent.warnings, *filter(None, (stored.warning,)))
    return WriteResult(done_sentence(edit.label, text), warnings, edit.reverted(dropped), stored.cut)
