"""The session that creates archives: previews of their contents, and creating them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from inspector.core.edit import EditError
from inspector.core.names import collision_keys, hazards, visible
from inspector.core.numbers import count, rounded
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.formats.taco.write import WriteError, slots
from inspector.operations.create import creating, datas3t_packing
from inspector.operations.create.creating import DEFAULT_MAX_BYTES, Created, create_caf, create_taco
from inspector.operations.create.creating_rca import create_rca, rca_options
from inspector.operations.create.datas3t_packing import PackingOptions, create_datas3t
from inspector.operations.create.inputs import Input, check_names, gather
from inspector.operations.create.rca_writing import names_in
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.targets import check_object_name, target_of
from inspector.operations.jobs.unfinished import remove_unfinished, remove_uploads, report_unfinished, report_uploads
from inspector.operations.protocol.create_views import (
    ArchiveKind,
    Contents,
    CreateResult,
    Draft,
    InputRow,
)
from inspector.operations.session.remote import Connecting
from inspector.sources.local.file import FileSource
from inspector.sources.s3.address import is_s3, parse

MAX_INPUT_ROWS = 5_000
"""Inputs listed in a preview."""


class CreateSession(Connecting):
    """Answers CreateRequests, in any order; has no open archive."""

    def look(self, progress: Progress, draft: Draft) -> Contents:
        """What an archive would hold. Raises Cancelled; problems are in the result."""
        inputs, refused = _gathered(progress, draft)
        obstacle, parts = "", ""
        notes: tuple[str, ...] = ()
        taken: frozenset[bytes] = frozenset()
        try:
            if is_s3(draft.target):
                address = parse(draft.target)
                if draft.kind is not ArchiveKind.DATAS3T:
                    check_object_name(address)
            taken = names_in(FileSource(Path(draft.target)), progress) if draft.grows else frozenset()
            notes = check_names(inputs, taken) if draft.kind is not ArchiveKind.DATAS3T else ()
            parts = _parts(inputs, draft)
        except (OperationError, WriteError, EditError, SourceError) as error:
            obstacle = str(error)
        size = sum(each.size for each in inputs)
        sentence = f"{count(len(inputs), 'file')}, {rounded(size)}{parts}."
        first = refused[0].trouble if refused else obstacle
        return Contents(
            (*refused, *_rows(inputs[:MAX_INPUT_ROWS], taken)), len(inputs) + len(refused), size, sentence, first, notes
        )

    def unfinished(self, progress: Progress, draft: Draft) -> str:
        """Leftovers of killed runs at the target, in sentences; empty without any."""
        progress.begin("Looking for unfinished files", 0, "folders")
        if not is_s3(draft.target):
            return " ".join(report_unfinished(_folders(draft)))
        try:
            return " ".join(report_uploads(parse(draft.target), draft.connection))
        except SourceError:
            return ""  # the preview reports what is wrong with the target

    def create(self, progress: Progress, draft: Draft) -> CreateResult:
        """Create the archive. Raises OperationError, SourceError, EditError and Cancelled: then nothing is created."""
        if not draft.locations:
            raise OperationError("The archive would be empty. Add files or folders.")
        if not draft.target:
            raise OperationError("Choose where to write the archive.")
        notes: tuple[str, ...] = ()
        if draft.remove_unfinished and is_s3(draft.target):
            notes = tuple(remove_uploads(parse(draft.target), draft.connection))
        elif draft.remove_unfinished:
            notes = tuple(remove_unfinished(_folders(draft)))
        created = _create(progress, draft)
        path = draft.target if draft.kind is ArchiveKind.DATAS3T else created.archives[0].path
        return CreateResult(path, created.sentence, (*notes, *created.warnings))


def _folders(draft: Draft) -> list[Path]:
    """The folders that will be written to, as far as they are known."""
    if not draft.target:
        return []
    target = Path(draft.target)
    return datas3t_packing.holders(target, draft.dataset) if draft.kind is ArchiveKind.DATAS3T else [target.parent]


def _gathered(progress: Progress, draft: Draft) -> tuple[list[Input], list[InputRow]]:
    """The inputs at all locations, and rows for locations without usable inputs."""
    is_file = draft.target and draft.kind is not ArchiveKind.DATAS3T and not is_s3(draft.target)
    never = [Path(draft.target)] if is_file else []
    inputs: list[Input] = []
    refused: list[InputRow] = []
    for location in draft.locations:
        try:
            inputs += gather([location], progress, never, draft.connection)
        except (OperationError, SourceError) as error:
            refused.append(InputRow(visible(Path(location).name), 0, visible(location), str(error)))
    return inputs, refused


def _rows(inputs: Sequence[Input], taken: Collection[bytes]) -> list[InputRow]:
    names = [each.name for each in inputs]
    keys = collision_keys(names)
    often, alike = Counter(names), Counter(keys)
    return [
        InputRow(
            visible(each.name),
            each.size,
            visible(each.where),
            _problem_of(each.name, often, taken),
            "On some systems this name equals another one." if alike[key] > often[each.name] else "",
        )
        for each, key in zip(inputs, keys, strict=True)
    ]


def _problem_of(name: bytes, often: Counter[bytes], taken: Collection[bytes]) -> str:
    words = hazards(name)
    if words:
        return f"The name {words[0]}. Rename it first."
    if name in taken:
        return "The archive already has a member with this name. Remove it or rename it first."
    return "The name occurs more than once." if often[name] > 1 else ""


# ---- the kinds ---------------------------------------------------------------------------------------------------


def _parts(inputs: Sequence[Input], draft: Draft) -> str:
    """The parts of the archive, if there are several. Raises OperationError, and WriteError for what is too large."""
    match draft.kind:
        case ArchiveKind.CAF:
            target = target_of(draft.target or "archive.caf")
            volumes = creating.plan(inputs, target, draft.max_size or DEFAULT_MAX_BYTES)
            return f", in {count(len(volumes), 'archive')}" if len(volumes) > 1 else ""
        case ArchiveKind.TACO:
            slots((each.name, each.size, each.modified) for each in inputs)
        case ArchiveKind.DATAS3T if inputs and draft.dataset:
            ranges = datas3t_packing.plan(inputs, _packing(draft))
            return f", in {count(len(ranges), 'range')}, keys {ranges[0][0].key:,} to {ranges[-1][-1].key:,}"
    return ""


def _packing(draft: Draft) -> PackingOptions:
    return PackingOptions(draft.dataset, draft.first_key, draft.per_range)


def _create(progress: Progress, draft: Draft) -> Created:
    what, overwrite, connection = (progress, draft.target, draft.locations), draft.overwrite, draft.connection
    match draft.kind:
        case ArchiveKind.CAF:
            size = draft.max_size or DEFAULT_MAX_BYTES
            return create_caf(*what, max_size=size, catalog=draft.catalogue, overwrite=overwrite, connection=connection)
        case ArchiveKind.RCA:
            options = rca_options(draft.level or None, draft.convention)
            return create_rca(*what, options, overwrite=overwrite, connection=connection)
        case ArchiveKind.TACO:
            return create_taco(*what, overwrite=overwrite, connection=connection)
    return create_datas3t(*what, _packing(draft), connection=connection)
