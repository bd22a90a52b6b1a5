"""``extract``: members into a folder, and nothing outside it."""

from __future__ import annotations

import argparse

from inspector.cli.archives import standard_input
from inspector.cli.bootstrap import FINE, NOT_SOUND, UNREADABLE
from inspector.cli.options import A_LOCATION_TO_READ, CONNECTION, PROGRESS, Option, connection_of, location
from inspector.cli.output import ProgressBar, complain, emit
from inspector.cli.write_options import REMOVE_UNFINISHED
from inspector.core.numbers import count, grouped
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.extract.extraction import Extraction, folder_at
from inspector.operations.extract.selection import MemberSelection, all_members, members_named
from inspector.operations.open.listing import AmbiguousMemberError, MemberNotFoundError, MembersUnreadError, load
from inspector.operations.open.opening import UNKNOWN_FORMAT, not_read
from inspector.operations.protocol.extraction_views import ExtractionOptions, ExtractionResult, OnConflict, Problems

OPTIONS = (
    location(A_LOCATION_TO_READ),
    PROGRESS,
    Option("members", metavar="MEMBER", nargs="*", help="members and folders to extract; default all"),
    Option("--to", metavar="FOLDER", required=True, help="the target folder, created if it is missing"),
    Option(
        "--on-conflict",
        choices=("skip", "rename", "overwrite"),
        help="what to do if something exists already; by default it is left alone, and the exit status is 1",
    ),
    Option(
        "--doubtful",
        action="store_true",
        help="also extract names with invisible characters, members beyond 64 GiB, members of a ZIP that claim the "
        "same bytes, members that a check doubts, such as those whose place is uncertain, and content that "
        "nothing proves although the archive records what should",
    ),
    Option("--keep-damaged", action="store_true", help="keep damaged members too, as NAME.damaged beside their place"),
    Option(
        "--fsync",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="wait until the disk holds each file and its name; by default for a single file only",
    ),
    REMOVE_UNFINISHED,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Extract members, report which were not extracted and why, and return the exit status.

    It is NOT_SOUND if a requested member was not extracted, and UNREADABLE if the archive could not be read to its end
    or the folder not be written to. Raises MemberNotFoundError, OperationError and SourceError.
    """
    folder = folder_at(options.to)
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        selections = _selections(options, progress)
        extraction_options = ExtractionOptions(
            OnConflict(options.on_conflict or OnConflict.REFUSE),
            options.doubtful,
            options.keep_damaged,
            options.remove_unfinished,
            options.fsync,
        )
        result = Extraction(selections, folder, extraction_options).run(progress)
    _report(result, extraction_options)
    if result.stopped or not_read(each.archive for each in selections):
        return UNREADABLE
    return FINE if result.whole else NOT_SOUND


def _selections(options: argparse.Namespace, progress: Progress) -> list[MemberSelection]:
    """The members to extract; raises MemberNotFoundError and SourceError.

    Of a dataset, only the ranges that the names belong to are opened at first, and all ranges if one is not there.
    """
    place = standard_input(options.location, progress)
    for names in (options.members, ()):
        archives = load(options.location, progress, connection_of(options), names=names, place=place)
        if all(archive.decoder is None for archive in archives):
            raise SourceError(f"{options.location}: {UNKNOWN_FORMAT}")
        selections = all_members(options.location, archives)
        if not options.members:
            return selections
        try:
            return members_named(selections, options.members)
        except MembersUnreadError:
            raise
        except MemberNotFoundError as error:
            missing = MemberNotFoundError(f"{error} To see the members, use list {options.location}.")
            if isinstance(error, AmbiguousMemberError) or not any(each.folder for each in selections):
                break
    raise missing


def _report(result: ExtractionResult, options: ExtractionOptions) -> None:
    for warning in result.warnings:
        complain(warning)
    _complain(result.refused)
    _complain(result.doubtful, f"Give --doubtful to extract {'it' if result.doubtful.count == 1 else 'them'}.")
    _complain(
        result.conflicts, "Choose what to do with --on-conflict." if options.on_conflict is OnConflict.REFUSE else ""
    )
    _complain(result.damaged)
    if options.doubtful:
        _complain(result.unproved)
    elif result.unproved.count:
        number = grouped(result.unproved.count)
        complain(f"--doubtful extracts {number} of them anyway: nothing proves their content wrong.")
    if result.stopped:
        complain(result.stopped)
    emit(f"{result.sentence}\n")


def _complain(problems: Problems, more: str = "") -> None:
    for problem in problems.listed:
        complain(problem.sentence)
    left = problems.count - len(problems.listed)
    if left:
        complain(f"{count(left, 'further member')} likewise.")
    if problems.count and more:
        complain(more)
