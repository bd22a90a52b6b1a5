"""``extract``: members into a folder."""

from __future__ import annotations

import argparse

from inspector.cli.connecting import connection_of
from inspector.cli.exit_codes import FINE, NOT_SOUND, UNREADABLE
from inspector.cli.output import Lines, complain
from inspector.cli.progress_bar import ProgressBar
from inspector.core.numbers import count, grouped
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.extract.extraction import Extraction, folder_at
from inspector.operations.extract.extraction_wanted import Wanted, everything, named
from inspector.operations.open.listing import AmbiguousMemberError, MemberNotFoundError, load
from inspector.operations.open.opening import UNKNOWN, not_read
from inspector.operations.protocol.extraction_views import ExtractionOptions, ExtractionResult, OnConflict, Troubles


def run(options: argparse.Namespace) -> int:
    """Extract what is wanted, say what was not extracted and why, and give the exit status.

    It is NOT_SOUND where something is not there that was asked for, and UNREADABLE where the archive could not be read
    on or the folder not be written to. Raises MemberNotFoundError, OperationError and SourceError.
    """
    folder = folder_at(options.to)
    with ProgressBar(Progress(), logged=options.progress) as progress:
        wanted = _wanted(options, progress)
        how = ExtractionOptions(
            OnConflict(options.on_conflict or OnConflict.REFUSE),
            options.doubtful,
            options.keep_damaged,
            options.remove_unfinished,
        )
        result = Extraction(wanted, folder, how).run(progress)
    _say(result, how)
    if result.stopped or not_read(each.archive for each in wanted):
        return UNREADABLE
    return FINE if result.whole else NOT_SOUND


def _wanted(options: argparse.Namespace, progress: Progress) -> list[Wanted]:
    """What is to be extracted; raises MemberNotFoundError and SourceError.

    Of a dataset only ranges are opened that the names belong to, and all of them only where one is not there.
    """
    for names in (options.members, ()):
        archives = load(options.location, progress, connection_of(options), names=names)
        if all(archive.decoder is None for archive in archives):
            raise SourceError(f"{options.location}: {UNKNOWN}")
        wanted = everything(options.location, archives)
        if not options.members:
            return wanted
        try:
            return named(wanted, options.members)
        except MemberNotFoundError as error:
            missing = MemberNotFoundError(f"{error} What there is, list {options.location} shows.")
            if isinstance(error, AmbiguousMemberError) or not any(each.folder for each in wanted):
                break
    raise missing


def _say(result: ExtractionResult, options: ExtractionOptions) -> None:
    for warning in result.warnings:
        complain(warning)
    _complain(result.refused)
    _complain(result.doubtful, " Give --doubtful for it.")
    _complain(
        result.conflicts, " Say what to do with --on-conflict." if options.on_conflict is OnConflict.REFUSE else ""
    )
    _complain(result.damaged)
    if options.doubtful:
        _complain(result.unproved)
    elif result.unproved.count:
        number = grouped(result.unproved.count)
        complain(
            f"Give --doubtful to extract {number} of them all the same: nothing proves that they are wrong either."
        )
    if result.stopped:
        complain(result.stopped)
    with Lines() as out:
        out.write(f"{result.sentence}\n")


def _complain(troubles: Troubles, more: str = "") -> None:
    for trouble in troubles.told:
        complain(trouble.sentence)
    left = troubles.count - len(troubles.told)
    if left:
        complain(f"{count(left, 'further member')} likewise.")
    if troubles.count and more:
        complain(more.strip())
