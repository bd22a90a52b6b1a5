"""Everything that a window asks of its workers: a class of requests for each kind of worker.

The window names a request by its method here, ``client.ask(ArchiveRequests.header, draft).then(show)``; the session
that serves the class in the worker has a method of that name and signature. A failure is answered with a sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from inspector.operations.protocol.extraction_views import OnConflict
from inspector.operations.protocol.request import job, request
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # the window names requests before its first paint, which needs none of these
    from array import array
    from collections.abc import Collection, Sequence

    from inspector.core.edit import Edit
    from inspector.core.field import Run
    from inspector.core.finding import Severity
    from inspector.core.kinds import Kind
    from inspector.core.progress import Progress
    from inspector.core.span import Spans
    from inspector.operations.protocol.audit_views import ExportKind, Query, Result, Standing
    from inspector.operations.protocol.audit_views import Wanted as WantedAudit
    from inspector.operations.protocol.browse_views import Downloaded, RemotePage, RemoteState
    from inspector.operations.protocol.check_views import Outcome, Wanted
    from inspector.operations.protocol.coverage_views import DatasetRow, RangePlace, RangeRow
    from inspector.operations.protocol.edit_views import (
        Interrupted,
        Mended,
        OnlyWhole,
        RepairPlan,
        WayOut,
        WriteResult,
    )
    from inspector.operations.protocol.extraction_views import ExtractionPlan, ExtractionResult, Lent
    from inspector.operations.protocol.header_draft import Entry, HeaderDraft, HeaderView
    from inspector.operations.protocol.report_kind import ReportKind
    from inspector.operations.protocol.views import (
        Arrow,
        CheckResult,
        ChecksumRow,
        Chosen,
        ContentInfo,
        DiskChange,
        Explanation,
        FieldRow,
        FindingRow,
        LayerInfo,
        ManifestResult,
        MemberPlace,
        MemberRow,
        Page,
        Reference,
        SortKey,
        Status,
        Target,
        TreeRow,
    )
    from inspector.operations.protocol.workshop_views import Contents, Draft, FoundPlaces, Made
    from inspector.sources.s3.ledger import Request
    from inspector.sources.s3.profiles import Profile


class ProfileRequests(Protocol):
    """What every worker answers that may reach S3."""

    @job
    def profiles(self, progress: Progress) -> tuple[Profile, ...]: ...


class ArchiveRequests(ProfileRequests, Protocol):
    """What the worker of one open location answers: Desk."""

    # ---- state -------------------------------------------------------------------------------------------------

    @request
    def status(self) -> Status: ...

    @request
    def layers(self) -> tuple[LayerInfo, ...]: ...

    @request
    def disk_change(self) -> DiskChange | None: ...

    @request
    def remote(self) -> RemoteState | None: ...

    @request
    def requests(self) -> tuple[Request, ...]: ...

    @request
    def cached(self, layer: int) -> Spans: ...

    @job(only_shows=True)
    def decode(self, progress: Progress) -> None: ...

    @job
    def read_again(self, progress: Progress, edit: Edit | None = None) -> None: ...

    # ---- bytes and fields --------------------------------------------------------------------------------------

    @request(network=True)
    def read(self, layer: int, offset: int, length: int) -> bytes: ...

    @request(network=True)
    def runs(self, layer: int, start: int, stop: int) -> list[Run]: ...

    @request(network=True)
    def explain(self, layer: int, offset: int) -> Explanation: ...

    @request(network=True)
    def field_rows(self, layer: int, path: tuple[int, ...], first: int, count: int) -> Page[FieldRow]: ...

    @request(network=True)
    def field(self, layer: int, path: tuple[int, ...]) -> FieldRow | None: ...

    @job(only_shows=True)
    def overview(self, progress: Progress, layer: int, rows: int) -> list[int]: ...

    @job(only_shows=True)
    def verdict_overview(self, progress: Progress, layer: int, rows: int) -> list[int]: ...

    # ---- members -----------------------------------------------------------------------------------------------

    @request(network=True)
    def member(self, index: int) -> MemberRow: ...

    @request(network=True)
    def member_rows(self, first: int, count: int) -> Page[MemberRow]: ...

    @request(network=True)
    def tree_rows(self, node: int, first: int, count: int) -> Page[TreeRow]: ...

    @request(network=True)
    def chosen(self, chosen: Chosen) -> array[int]: ...

    @request(network=True)
    def place(self, index: int) -> MemberPlace: ...

    @job(only_shows=True)
    def name_members(self, progress: Progress, numbers: Collection[int]) -> tuple[MemberRow, ...]: ...

    @job(only_shows=True)
    def arrange(self, progress: Progress, filter_text: str, sort_key: SortKey, descending: bool) -> int: ...

    @job(only_shows=True)
    def plant(self, progress: Progress) -> None: ...

    @job(only_shows=True)
    def content(self, progress: Progress, index: int) -> ContentInfo: ...

    # ---- findings ----------------------------------------------------------------------------------------------

    @request(network=True)
    def findings(self, first: int, count: int, severities: Collection[Severity]) -> Page[FindingRow]: ...

    @request(network=True)
    def damage(self, layer: int, most: int) -> Spans: ...

    @request(network=True)
    def checksums(self, first: int, count: int) -> Page[ChecksumRow]: ...

    @job
    def check(self, progress: Progress) -> CheckResult: ...

    @job(writes_files=True)
    def export(self, progress: Progress, path: str, kind: ReportKind) -> None: ...

    @job(writes_files=True)
    def write_manifest(self, progress: Progress, algorithm: str, replace: bool) -> ManifestResult: ...

    # ---- from one place to another -----------------------------------------------------------------------------

    @request(network=True)
    def goto(self, expression: str, layer: int, caret: int) -> Target: ...

    @job(only_shows=True)
    def find_datapoint(self, progress: Progress, expression: str) -> Target: ...

    @job(only_shows=True)
    def search(
        self, progress: Progress, layer: int, pattern: bytes, start: int, backwards: bool, ignore_case: bool
    ) -> int | None: ...

    @request(network=True)
    def references(self, layer: int, offset: int, path: tuple[int, ...] | None = None) -> tuple[Reference, ...]: ...

    @request(network=True)
    def arrows(self, layer: int, start: int, stop: int) -> tuple[Arrow, ...]: ...

    @job(only_shows=True)
    def unexplained(self, progress: Progress, layer: int, offset: int, backwards: bool) -> Target | None: ...

    @job(only_shows=True)
    def alike(
        self, progress: Progress, layer: int, offset: int, kind: Kind, name: str, backwards: bool
    ) -> Target | None: ...

    # ---- the ranges of a collection ----------------------------------------------------------------------------

    @request(network=True)
    def datasets(self) -> tuple[DatasetRow, ...]: ...

    @request(network=True)
    def ranges(self, first: int, count: int) -> Page[RangeRow]: ...

    @request(network=True)
    def range_states(self, first: int, count: int) -> bytes: ...

    @request(network=True)
    def range_place(self, at: int) -> RangePlace: ...

    # ---- extraction --------------------------------------------------------------------------------------------

    @job(only_shows=True)
    def plan_extraction(
        self,
        progress: Progress,
        members: Collection[int] | None,
        folder: str,
        on_conflict: OnConflict = OnConflict.REFUSE,
        doubtful: bool = False,
    ) -> ExtractionPlan: ...

    @job(writes_files=True)
    def extract(
        self,
        progress: Progress,
        members: Collection[int] | None,
        folder: str,
        on_conflict: OnConflict = OnConflict.REFUSE,
        doubtful: bool = False,
        keep_damaged: bool = False,
        remove_unfinished: bool = False,
    ) -> ExtractionResult: ...

    @job(writes_files=True)
    def lend(self, progress: Progress, chosen: Chosen, folder: str, most: int | None = None) -> Lent: ...

    @job(writes_files=True)
    def lend_one(self, progress: Progress, member: int, folder: str) -> Lent: ...

    # ---- changes -----------------------------------------------------------------------------------------------

    @job(only_shows=True)
    def preview(self, progress: Progress, edit: Edit | None) -> tuple[str, ...] | None: ...

    @job
    def mend_checksums(self, progress: Progress, edit: Edit) -> Mended: ...

    @request(network=True)
    def header(self, draft: HeaderDraft | None) -> HeaderView: ...

    @request(network=True)
    def header_edit(self, draft: HeaderDraft) -> Edit: ...

    @request(network=True)
    def header_target(self, member: int) -> Entry: ...

    @request
    def sending(self, edit: Edit, whole: bool = False) -> tuple[str, ...]: ...

    @job(changes_archive=True)
    def write(self, progress: Progress, edit: Edit, whole: bool = False) -> WriteResult | OnlyWhole: ...

    @job(changes_archive=True)
    def append(self, progress: Progress, locations: Sequence[str], level: int, convention: str) -> WriteResult: ...

    @job(writes_files=True)
    def save_copy(self, progress: Progress, edit: Edit, path: str, over: bool, s3: Connection = DEFAULT) -> str: ...

    @job(writes_files=True)
    def export_patch(self, progress: Progress, edit: Edit, path: str) -> str: ...

    @job
    def import_patch(self, progress: Progress, path: str) -> Edit: ...

    # ---- repairs -----------------------------------------------------------------------------------------------

    @request
    def interrupted(self) -> Interrupted | None: ...

    @job(changes_archive=True)
    def recover(self, progress: Progress, way: WayOut) -> WriteResult: ...

    @job
    def plan_repairs(self, progress: Progress, accepted: Collection[str]) -> RepairPlan: ...

    @job(changes_archive=True)
    def make_repairs(
        self,
        progress: Progress,
        accepted: Collection[str],
        copy: str,
        whole: bool = False,
        over: bool = True,
        s3: Connection = DEFAULT,
    ) -> WriteResult | OnlyWhole: ...

    @job(writes_files=True)
    def salvage(
        self,
        progress: Progress,
        accepted: Collection[str],
        copy: str,
        over: bool = True,
        s3: Connection = DEFAULT,
    ) -> WriteResult: ...


class CreateRequests(ProfileRequests, Protocol):
    """What the worker answers that makes archives: Workshop."""

    @job(only_shows=True)
    def look(self, progress: Progress, draft: Draft) -> Contents: ...

    @job(only_shows=True)
    def unfinished(self, progress: Progress, draft: Draft) -> str: ...

    @job(writes_files=True)
    def create(self, progress: Progress, draft: Draft) -> Made: ...

    @job(only_shows=True)
    def find(self, progress: Progress, path: str, name: str) -> FoundPlaces: ...


class BrowseRequests(ProfileRequests, Protocol):
    """What the worker of a bucket browser answers: Browser."""

    @job(only_shows=True)
    def buckets(self, progress: Progress, connection: Connection) -> RemotePage: ...

    @job(only_shows=True)
    def page(self, progress: Progress, connection: Connection, location: str, after: str) -> RemotePage: ...

    @job(writes_files=True)
    def download(
        self, progress: Progress, connection: Connection, locations: tuple[str, ...], folder: str
    ) -> Downloaded: ...


class AuditRequests(Protocol):
    """What the worker of an audit answers: Auditor."""

    @request
    def page(self, query: Query, first: int, count: int) -> Page[Result]: ...

    @request
    def standing(self) -> Standing: ...

    @job(writes_files=True)
    def audit(self, progress: Progress, wanted: WantedAudit) -> Standing: ...

    @job(writes_files=True)
    def export(self, progress: Progress, path: str, kind: ExportKind) -> str: ...


class CheckRequests(Protocol):
    """What a worker answers that checks one location after another: Checker."""

    @job(only_shows=True)
    def expand(self, progress: Progress, locations: list[str], connection: Connection) -> list[Wanted]: ...

    @job(only_shows=True)
    def check(self, progress: Progress, wanted: Wanted) -> Outcome: ...
