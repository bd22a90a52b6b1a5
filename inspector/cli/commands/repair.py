"""``repair``: the plan of repairing an archive, then the repairing, in place or to a copy."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import asdict

from inspector.cli.archives import LocationPart, open_parts
from inspector.cli.bootstrap import FINE, NOT_SOUND, UNREADABLE
from inspector.cli.options import (
    CONNECTION,
    CONSENTS,
    DRY_RUN,
    JSON,
    PROGRESS,
    Option,
    connection_of,
    consents_of,
    location,
    non_empty_name,
)
from inspector.cli.output import ProgressBar, complain, flush, old_bytes, say, show, write_lines, write_objects
from inspector.cli.write_options import OVERWRITE, REMOVE_UNFINISHED, handle_unfinished_around, handle_unfinished_beside
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.repair import Fate, Outcome, Repair
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.edit.apply_repairs import (
    DOUBTFUL_SALVAGES,
    apply_plan,
    describe,
    file_of,
    save_salvage,
    sending_lines,
)
from inspector.operations.edit.interrupted import DROP_JOURNAL, interrupted, recover, settle, ways_out
from inspector.operations.edit.past_writes import forget_past_writes, past_writes, take_back
from inspector.operations.edit.plan_repairs import Plan, plan
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import UNKNOWN_FORMAT, open_place
from inspector.operations.protocol.edit_views import (
    Interrupted,
    RepairPlan,
    RepairRow,
    SalvageReport,
    WayOut,
    WriteResult,
)
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.source import S3Source

MAX_NAMED = 20
"""Members of a salvage that are named in text."""


OPTIONS = (
    location("the archive"),
    DRY_RUN,
    *CONSENTS,
    PROGRESS,
    REMOVE_UNFINISHED,
    Option("--to", type=non_empty_name, metavar="COPY", help="write a repaired copy, or save there what is whole"),
    OVERWRITE,
    Option("--ask", action="store_true", help="ask on standard error for each step of the plan; a yes accepts no code"),
    Option(
        "--accept",
        action="append",
        default=[],
        metavar="CODE",
        help="consent to exactly this repair, as the plan shows it; may be repeated",
    ),
    Option(
        "--doubtful",
        action="store_true",
        help="with --to: also save members of a CAF whose place is in doubt, as NAME.doubtful",
    ),
    Option("--finish", one_of="instead", action="store_true", help="finish an interrupted change, and do nothing else"),
    Option(
        "--roll-back",
        one_of="instead",
        action="store_true",
        help="roll an interrupted change back, and do nothing else",
    ),
    Option(
        "--take-back",
        one_of="instead",
        action="store_true",
        help="put back what the last change of the file overwrote or cut off, and do nothing else",
    ),
    Option(
        "--history",
        one_of="instead",
        action="store_true",
        help="list what this program wrote to the file, and do nothing else",
    ),
    Option(
        "--clear-history",
        one_of="instead",
        action="store_true",
        help="remove the old bytes that are kept of the file, so that nothing can be taken back, and do nothing else",
    ),
    JSON,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Repair what is at ``options.location`` and give the exit status.

    Raises SourceError where there is no archive, EditError and OperationError where it cannot be written.
    """
    if options.finish or options.roll_back or options.take_back or options.history or options.clear_history:
        return _settle(options)
    if options.doubtful and not options.to:
        raise OperationError("--doubtful goes with --to: members in doubt are written to another file only.")
    if options.ask and options.dry_run:
        raise OperationError("--dry-run does nothing that --ask could ask for: give one of them.")
    status = FINE
    if (found := interrupted(options.location)) is not None:
        if options.dry_run:
            return _say_interrupted(found, options)
        _recover(found, options)
        status = NOT_SOUND if found.keeps else FINE
    opened = open_parts(options.location, connection_of(options))
    if all(part.archive.decoder is None for part in opened):
        raise SourceError(f"{options.location}: {UNKNOWN_FORMAT}")
    if options.to and opened[0].key:
        raise OperationError("A copy can be made of one archive, and this is a folder of several: name the file.")
    if options.to:
        handle_unfinished_beside(options.to, options)
    elif not options.dry_run:
        handle_unfinished_around(options.location, options)
    for part in opened:
        try:
            status = max(status, _repair(part, options))
        except SourceError as error:
            complain(str(error))
            status = UNREADABLE
    return status


def _say_interrupted(found: Interrupted, options: argparse.Namespace) -> int:
    """What is to be decided first; the rest can be planned when that is done."""
    ways = {"finish": found.finish, "roll_back": found.roll_back, "forget": found.forget}
    lines = (visible(found.story), *(f"  {visible(words)}" for words in ways.values() if words))
    show({"source": options.location, "interrupted": {"story": found.story, **ways}}, *lines)
    return NOT_SOUND


def _history(options: argparse.Namespace) -> int:
    """List the changes whose old bytes are kept, newest first."""
    opened = open_place(options.location, connection_of(options)) if is_s3(options.location) else None
    listed = past_writes(options.location, opened if isinstance(opened, S3Source) else None)
    for number, each in enumerate(listed, 1):
        when = datetime.fromtimestamp(each.written, UTC)
        last = "; --take-back puts the old bytes back" if each.can_take_back else ""
        row = {"source": options.location, "number": number} | asdict(each)
        row |= {"written": when.isoformat(timespec="seconds")}
        show(row, f"{number:>3}  {when:%Y-%m-%d %H:%M:%S} UTC  {each.what}{last}")
    return FINE


def _settle(options: argparse.Namespace) -> int:
    """Settle an interrupted change, take back or list those that were finished, and nothing else."""
    if options.to or options.accept:
        raise OperationError(
            "--finish, --roll-back, --take-back, --history and --clear-history go without --to and --accept: they do "
            "nothing else."
        )
    if options.history or (options.clear_history and options.dry_run):
        return _history(options)
    if options.clear_history:
        done = forget_past_writes(options.location)
    elif options.take_back:
        consents = consents_of(options)
        done = take_back(options.location, connection_of(options), consents=consents, dry_run=options.dry_run)
    elif (found := interrupted(options.location)) is None:
        done = f"No change of {options.location} is waiting to be finished."
    elif options.dry_run:
        return _say_interrupted(found, options)
    else:
        done = settle(options.location, found, back=options.roll_back)
    show({"source": options.location, "done": done}, visible(done))
    return FINE


def _recover(found: Interrupted, options: argparse.Namespace) -> None:
    """What an interrupted change left comes first: the archive is neither the old nor the new one."""
    if options.to:
        raise OperationError(f"{found.story} Finish that change or roll it back, without --to, before a copy is made.")
    complain(found.story)
    if not (found.finish or found.roll_back or found.forget) or (found.keeps and DROP_JOURNAL not in options.accept):
        raise OperationError(f"Nothing was done: that change can be neither finished nor rolled back.{ways_out(found)}")
    ways = {WayOut.FINISH: found.finish, WayOut.ROLL_BACK: found.roll_back, WayOut.FORGET: found.forget}
    complain(recover(options.location, next(way for way, effect in ways.items() if effect)))
    options.accept = [code for code in options.accept if code != DROP_JOURNAL]


def _repair(part: LocationPart, options: argparse.Namespace, declined: frozenset[str] = frozenset()) -> int:
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        accepted = (*options.accept, *(DOUBTFUL_SALVAGES if options.doubtful else ()))
        planned = plan(part.archive, progress, accepted, in_place=not options.to, declined=declined)
    shown = describe(planned, options.to or "")
    if unknown := sorted(set(options.accept) - shown.codes):
        raise OperationError(f"Nothing was done: no repair of {part.label} is called {', '.join(unknown)}.")
    source, lines = part.archive.source, _lines(part.label, shown)
    if shown.edit is not None and isinstance(source, S3Source) and not options.to:
        sending = sending_lines(source, shown.edit, consents_of(options), planned=options.dry_run)
        lines += ["  Sent:", *(f"    {each}" for each in sending)]
    for line in lines:
        say(visible(line))
    flush()
    if options.ask and (noes := frozenset(each.code for each in planned.repairs if not _agreed(each))):
        return _repair(part, options, declined | noes)  # without those it is another plan, so it is shown and asked for
    old = old_bytes(source, planned) if options.json else None
    written: WriteResult | None = None
    if not options.dry_run and shown.before is not State.SOUND:
        with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
            written = _write(planned, part, options, progress)
    if old is not None:
        show(_object(part.source, shown, *old, written, planned.salvage))
    for sentence in (written.sentence, *written.warnings) if written is not None else ():
        say(f"  {visible(sentence)}")
    if options.to and written is None and not options.dry_run:
        saving = " or ".join(f"--accept {each.code}{_saves(each)}" for each in planned.waiting)
        why = f"Nothing is written without your consent: {saving}." if saving else "Nothing can be repaired or saved."
        complain(f"{options.to} was not written. {why}")
    return _status(planned, options)


def _agreed(repair: Repair) -> bool:
    """Whether the answer on standard input is yes; its end is no."""
    print(f"{visible(repair.title)}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _saves(repair: Repair) -> str:
    """How many members a salvage saves; empty for a repair."""
    fates = [each.fate for each in repair.outcomes()] if repair.outcomes is not None else []
    return f" saves {sum(each is not Fate.LOST for each in fates):,} of {len(fates):,}" if fates else ""


def _status(planned: Plan, options: argparse.Namespace) -> int:
    """Whether all is right afterwards; what a repair or a salvage leaves behind unasked is not all."""
    remains = planned.saves and planned.salvage is not None and planned.salvage.remains
    if planned.state.fine and not remains:
        unasked = (each for each in planned.repairs if each.code not in options.accept)
        return NOT_SOUND if any(each.loses for each in unasked) else FINE
    whole = planned.salvage is not None and not (planned.salvage.loses or planned.salvage.remains)
    return FINE if options.to and whole else NOT_SOUND


def _write(planned: Plan, part: LocationPart, options: argparse.Namespace, progress: Progress) -> WriteResult | None:
    source, copy, reached = file_of(part.archive), options.to, connection_of(options)
    if copy and planned.saves:
        return save_salvage(planned, source, copy, progress, over=options.overwrite, connection=reached)
    if not planned.repairs:
        return None
    return apply_plan(
        planned, source, copy, progress, over=options.overwrite, consents=consents_of(options), connection=reached
    )


# ---- words -----------------------------------------------------------------------------------------------------


def _lines(label: str, shown: RepairPlan) -> list[str]:
    lines = [f"{label}: {shown.sentence}"]
    for number, row in enumerate(shown.repairs, 1):
        lines += _row(f"{number}. ", row)
    for row in shown.waiting:
        lines += _row(f"with --accept {row.code}: ", row)
    if shown.salvage is not None:
        lines += _row("with --to COPY, if that is not enough: ", shown.salvage)
        lines += _report(shown.report)
    lines += [f"  Written beside it: {visible(name)}" for name in shown.beside]
    if shown.edit is not None:
        lines += ["  Writes:", *(f"    {line}" for line in write_lines(shown.edit))]
    lines += [f"  Left: {sentence}" for sentence in shown.left]
    return lines


def _row(lead: str, row: RepairRow) -> list[str]:
    said = [f"Lost: {sentence}" for sentence in row.loses]
    said += [f"Nothing is lost: {row.lossless}"] if row.lossless else []
    said += [f"Assumed: {row.claim}"] if row.claim else []
    said += [f"Needs your consent: {row.consent}"] if row.consent else []
    places = "".join(f", bytes 0x{span.start:x}..0x{span.stop:x}" for span in row.spans)
    return [f"  {lead}{row.title}. [{row.code}{places}]", *(f"     {each}" for each in said)]


def _report(report: SalvageReport | None) -> list[str]:
    """What becomes of each member, those that are lost first."""
    if report is None:
        return []
    shown = [f"       {fate}: {name} ({why})" for name, fate, why in report.rows[:MAX_NAMED]]
    more = report.proved + report.readable + report.lost - len(shown)
    rest = [f"       ... and {more:,} more; --json lists all of them"] if more else []
    return [f"     {report.sentence}", *shown, *rest]


def member_object(each: Outcome) -> dict[str, str]:
    """A member by its name; its bytes in hexadecimal where the name does not show them."""
    name = each.path.decode("utf-8", "replace")
    lossy = {} if name.encode() == each.path else {"path_bytes": each.path.hex()}
    return {"path": name, **lossy, "fate": str(each.fate), "why": each.why}


def _object(
    label: str,
    shown: RepairPlan,
    cut: list[dict[str, Any]],
    beside: list[dict[str, Any]],
    written: WriteResult | None,
    salvage: Repair | None,
) -> dict[str, Any]:
    kept = written.kept if written is not None else None
    if kept is not None:
        cut = [each if isinstance(each["old"], str) else each | {"old": kept._asdict()} for each in cut]
    return {
        "source": label,
        "before": str(shown.before),
        "after": str(shown.after),
        "repairs": [asdict(row) for row in shown.repairs],
        "waiting": [asdict(row) for row in shown.waiting],
        "salvage": asdict(shown.salvage) if shown.salvage is not None else None,
        "writes": [*write_objects(shown.edit), *cut] if shown.edit is not None else [],
        "size": shown.edit.new_size if shown.edit is not None else None,
        "kept": kept._asdict() if kept is not None else None,
        "beside": list(shown.beside),
        "beside_old": beside,
        "left": list(shown.left),
        "members": [*map(member_object, salvage.outcomes())] if salvage and salvage.outcomes else None,
        "written": written is not None,
        "warnings": list(written.warnings) if written is not None else [],
    }
