"""Everything that a window asks of its workers: a class of requests for each kind of worker.

The window names a request by its method here, ``client.ask(ArchiveRequests.header, draft).then(show)``; the session
that serves the class in the worker has a method of that name and signature, which says what it raises: the window gets
the sentence of that.
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
        OnlyWhole,
        Repaired,
        RepairPlan,
        WayOut,
        WriteResult,
    )
    from inspector.operations.protocol.extraction_views import ExportedFiles, ExtractionPlan, ExtractionResult
    from inspector.operations.protocol.header_draft import HeaderDraft, HeaderView, TacoEntry
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
    from inspector.operations.protocol.workshop_views import Contents, CreateResult, Draft, FoundPlaces
    from inspector.sources.s3.ledger import Request
    from inspector.sources.s3.profiles import Profile


class ProfileRequests(Protocol):
    """What every worker answers that may reach S3."""

    @job
    def profiles(self, progress: Progress) -> tuple[Profile, ...]:
        """The profiles of this machine; no request is made."""


class ArchiveRequests(ProfileRequests, Protocol):
    """What the worker of one open location answers: ArchiveSession."""

    # ---- state -------------------------------------------------------------------------------------------------

    @request
    def status(self) -> Status:
        """How far it has come."""

    @request
    def layers(self) -> tuple[LayerInfo, ...]:
        """All layers; 0 is the file."""

    @request
    def disk_change(self) -> DiskChange | None:
        """What has happened to the file on disk since it was read; None for nothing, and for a folder."""

    @request
    def remote(self) -> RemoteState | None:
        """What reading has cost until now; None for what is on this machine."""

    @request
    def requests(self) -> tuple[Request, ...]:
        """The last requests that were made, the oldest first."""

    @request
    def cached(self, layer: int) -> Spans:
        """The bytes of a layer that are kept here, so that no request is needed to read them."""

    @job(only_shows=True)
    def decode(self, progress: Progress) -> None:
        """Decode everything. Cancelling leaves what is there and is no exception."""

    @job
    def read_again(self, progress: Progress, edit: Edit | None = None) -> None:
        """Show the archive as it is now, not checked, with ``edit`` over it where there is one."""

    # ---- bytes and fields --------------------------------------------------------------------------------------

    @request(network=True)
    def read(self, layer: int, offset: int, length: int) -> bytes:
        """Bytes of a layer, at most 1 MiB; short at its end."""

    @request(network=True)
    def runs(self, layer: int, start: int, stop: int) -> list[Run]:
        """The runs of leaves in ``[start, stop)``, at most 1 MiB of it."""

    @request(network=True)
    def explain(self, layer: int, offset: int) -> Explanation:
        """What a byte is."""

    @request(network=True)
    def field_rows(self, layer: int, path: tuple[int, ...], first: int, count: int) -> Page[FieldRow]:
        """The children of the field at ``path``, the outermost fields for ``()``."""

    @request(network=True)
    def field(self, layer: int, path: tuple[int, ...]) -> FieldRow | None:
        """The field at ``path``; None where there is none."""

    @job(only_shows=True)
    def overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """The set of roles in each of ``rows`` equal stretches of a layer."""

    @job(only_shows=True)
    def verdict_overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """What checking has said of members (a set, see ``Judged``) in each stretch of ``overview``."""

    # ---- members -----------------------------------------------------------------------------------------------

    @request(network=True)
    def member(self, index: int) -> MemberRow:
        """One member."""

    @request(network=True)
    def member_rows(self, first: int, count: int) -> Page[MemberRow]:
        """Members in the present arrangement."""

    @request(network=True)
    def tree_rows(self, node: int, first: int, count: int) -> Page[TreeRow]:
        """What lies in a folder of the tree of paths; 0 is its root. Empty until planted."""

    @request(network=True)
    def chosen(self, chosen: Chosen) -> array[int]:
        """The numbers of the members that are chosen."""

    @request(network=True)
    def place(self, index: int) -> MemberPlace:
        """Where a member is."""

    @job(only_shows=True)
    def name_members(self, progress: Progress, numbers: Collection[int]) -> tuple[MemberRow, ...]:
        """These members, with what their headers say."""

    @job(only_shows=True)
    def arrange(self, progress: Progress, filter_text: str, sort_key: SortKey, descending: bool) -> int:
        """Show the members whose visible path holds a text, sorted; the count of what is shown."""

    @job(only_shows=True)
    def plant(self, progress: Progress) -> None:
        """Build the tree of paths of what is shown."""

    @job(only_shows=True)
    def content(self, progress: Progress, index: int) -> ContentInfo:
        """Decode a member and make its content a layer."""

    # ---- findings ----------------------------------------------------------------------------------------------

    @request(network=True)
    def findings(self, first: int, count: int, severities: Collection[Severity]) -> Page[FindingRow]:
        """Findings of these severities in the order in which they were made."""

    @request(network=True)
    def damage(self, layer: int, most: int) -> Spans:
        """The bytes of a layer that are wrong: those of its archive's first ``most`` errors and warnings."""

    @request(network=True)
    def checksums(self, first: int, count: int) -> Page[ChecksumRow]:
        """The checksums that are recorded, and what comparing has found."""

    @job
    def check(self, progress: Progress) -> CheckResult:
        """Decode what is not decoded yet, and check everything, again if need be."""

    @job(writes_files=True)
    def export(self, progress: Progress, path: str, kind: ReportKind) -> None:
        """Write a report of what is known to a file."""

    @job(writes_files=True)
    def write_manifest(self, progress: Progress, algorithm: str, replace: bool) -> ManifestResult:
        """Write digests of all members beside the archive."""

    # ---- from one place to another -----------------------------------------------------------------------------

    @request(network=True)
    def goto(self, expression: str, layer: int, caret: int) -> Target:
        """Where an expression leads, from a caret in a layer."""

    @job(only_shows=True)
    def find_datapoint(self, progress: Progress, expression: str) -> Target:
        """Where a datapoint is (see ``datapoint_key``); its range is read now if that has not been."""

    @job(only_shows=True)
    def search(
        self, progress: Progress, layer: int, pattern: bytes, start: int, backwards: bool, ignore_case: bool
    ) -> int | None:
        """The first match at or after ``start``, backwards the last before it."""

    @request(network=True)
    def references(self, layer: int, offset: int, path: tuple[int, ...] | None = None) -> tuple[Reference, ...]:
        """Where the byte at ``offset`` of a layer leads, or the field at ``path``; the nearest meaning first."""

    @request(network=True)
    def arrows(self, layer: int, start: int, stop: int) -> tuple[Arrow, ...]:
        """The references from or to a byte in ``[start, stop)`` of a layer, in the order of these bytes."""

    @job(only_shows=True)
    def unexplained(self, progress: Progress, layer: int, offset: int, backwards: bool) -> Target | None:
        """The nearest bytes beyond ``offset`` that nothing explains, None where there are none."""

    @job(only_shows=True)
    def alike(
        self, progress: Progress, layer: int, offset: int, kind: Kind, name: str, backwards: bool
    ) -> Target | None:
        """The nearest field beyond ``offset`` of a kind, of plain values also of the name."""

    # ---- the ranges of a collection ----------------------------------------------------------------------------

    @request(network=True)
    def datasets(self) -> tuple[DatasetRow, ...]:
        """All datasets, in the order of their ranges; those that have only orphans last."""

    @request(network=True)
    def ranges(self, first: int, count: int) -> Page[RangeRow]:
        """Up to ``count`` ranges from number ``first`` on, sorted by dataset and key."""

    @request(network=True)
    def range_states(self, first: int, count: int) -> bytes:
        """The states of ``count`` ranges from number ``first`` on, as positions in RANGE_STATES."""

    @request(network=True)
    def range_place(self, at: int) -> RangePlace:
        """Where range ``at`` is."""

    # ---- extraction --------------------------------------------------------------------------------------------

    @job(only_shows=True)
    def plan_extraction(
        self,
        progress: Progress,
        members: Collection[int] | None,
        folder: str,
        on_conflict: OnConflict = OnConflict.REFUSE,
        doubtful: bool = False,
    ) -> ExtractionPlan:
        """What ``extract`` would do."""

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
    ) -> ExtractionResult:
        """Write members of what is shown, all for None, into a folder (see ``ExtractionOptions``)."""

    @job(writes_files=True)
    def lend(self, progress: Progress, chosen: Chosen, folder: str, most: int | None = None) -> ExportedFiles:
        """Extract what is chosen into a private folder; nothing if that is more than ``most`` bytes."""

    @job(writes_files=True)
    def lend_one(self, progress: Progress, member: int, folder: str) -> ExportedFiles:
        """Extract a member for another program to open."""

    # ---- changes -----------------------------------------------------------------------------------------------

    @job(only_shows=True)
    def preview(self, progress: Progress, edit: Edit | None) -> tuple[str, ...] | None:
        """Show the archive as ``edit`` would leave it; as it is on disk for None."""

    @job
    def repair_checksums(self, progress: Progress, edit: Edit) -> Repaired:
        """The edit with all checksums that depend on what it changes."""

    @request(network=True)
    def header(self, draft: HeaderDraft | None) -> HeaderView:
        """The TACO header as it is shown, or as a draft would make it."""

    @request(network=True)
    def header_edit(self, draft: HeaderDraft) -> Edit:
        """The edit of what is shown that makes the header what the draft says."""

    @request(network=True)
    def header_target(self, member: int) -> TacoEntry:
        """Offset and length of a member's data."""

    @request
    def sending(self, edit: Edit, whole: bool = False) -> tuple[str, ...]:
        """What writing an edit would send to S3; nothing where the archive is on disk."""

    @job(changes_archive=True)
    def write(self, progress: Progress, edit: Edit, whole: bool = False) -> WriteResult | OnlyWhole:
        """Write an edit into the file, and read it again; all of an object for ``whole``."""

    @job(changes_archive=True)
    def append(self, progress: Progress, locations: Sequence[str], level: int, convention: str) -> WriteResult:
        """Add files to an RCA archive in place, and read it again; see ``Draft`` for the options."""

    @job(writes_files=True)
    def save_copy(self, progress: Progress, edit: Edit, path: str, over: bool, s3: Connection = DEFAULT) -> str:
        """Write the archive as ``edit`` would leave it to another file, or object, which ``s3`` says how to reach."""

    @job(writes_files=True)
    def export_patch(self, progress: Progress, edit: Edit, path: str) -> str:
        """Write an edit to a file of its own."""

    @job
    def import_patch(self, progress: Progress, path: str) -> Edit:
        """The edit that a patch file holds, if it is one of this file."""

    # ---- repairs -----------------------------------------------------------------------------------------------

    @request
    def interrupted(self) -> Interrupted | None:
        """What an interrupted change has left of the archive, None where there was none."""

    @job(changes_archive=True)
    def recover(self, progress: Progress, way: WayOut) -> WriteResult:
        """Finish an interrupted change, roll it back or forget it, and read the file again."""

    @job(changes_archive=True)
    def take_back(self, progress: Progress, whole: bool = False) -> WriteResult | OnlyWhole:
        """Put back what the last change of the file has taken away, from the store of old bytes, and read it again."""

    @job
    def plan_repairs(self, progress: Progress, accepted: Collection[str]) -> RepairPlan:
        """How the archive on disk can be repaired."""

    @job(changes_archive=True)
    def make_repairs(
        self,
        progress: Progress,
        accepted: Collection[str],
        copy: str,
        whole: bool = False,
        over: bool = True,
        s3: Connection = DEFAULT,
    ) -> WriteResult | OnlyWhole:
        """Repair it, in place or, where ``copy`` is one, to that file or object, ``over`` what is there."""

    @job(writes_files=True)
    def salvage(
        self,
        progress: Progress,
        accepted: Collection[str],
        copy: str,
        over: bool = True,
        s3: Connection = DEFAULT,
    ) -> WriteResult:
        """Write what is whole into a new archive at ``copy``, ``over`` what is there; see ``make_repairs``."""


class CreateRequests(ProfileRequests, Protocol):
    """What the worker answers that makes archives: Workshop."""

    @job(only_shows=True)
    def look(self, progress: Progress, draft: Draft) -> Contents:
        """What an archive would hold, and whatever is wrong with that."""

    @job(only_shows=True)
    def unfinished(self, progress: Progress, draft: Draft) -> str:
        """What runs that were killed have left where the archive is to be; empty where that is nothing."""

    @job(writes_files=True)
    def create(self, progress: Progress, draft: Draft) -> CreateResult:
        """Make the archive. Where it fails, nothing is made."""

    @job(only_shows=True)
    def find(self, progress: Progress, path: str, name: str) -> FoundPlaces:
        """The places that a catalogue knows of a name, or of those that begin so."""


class BrowseRequests(ProfileRequests, Protocol):
    """What the worker of a bucket browser answers: Browser."""

    @job(only_shows=True)
    def buckets(self, progress: Progress, connection: Connection) -> RemotePage:
        """All buckets."""

    @job(only_shows=True)
    def page(self, progress: Progress, connection: Connection, location: str, after: str) -> RemotePage:
        """The page of a prefix that ``after`` leads to, the first one where that is empty."""

    @job(writes_files=True)
    def download(
        self, progress: Progress, connection: Connection, locations: tuple[str, ...], folder: str
    ) -> Downloaded:
        """Write objects, and all beneath prefixes, into a folder; each is there when all of it has come."""


class AuditRequests(Protocol):
    """What the worker of an audit answers: Auditor."""

    @request
    def page(self, query: Query, first: int, count: int) -> Page[Result]:
        """Up to ``count`` results from number ``first`` on; none before an audit has begun."""

    @request
    def standing(self) -> Standing:
        """How far it is."""

    @job(writes_files=True)
    def audit(self, progress: Progress, wanted: WantedAudit) -> Standing:
        """Do what is not done yet. What was finished until then is kept."""

    @job(writes_files=True)
    def export(self, progress: Progress, path: str, kind: ExportKind) -> str:
        """Write the results to a file, in the place of what is there, and say so."""


class CheckRequests(Protocol):
    """What a worker answers that checks one location after another: Checker."""

    @job(only_shows=True)
    def expand(self, progress: Progress, locations: list[str], connection: Connection) -> list[Wanted]:
        """What is to be checked."""

    @job(only_shows=True)
    def check(self, progress: Progress, wanted: Wanted) -> Outcome:
        """Check one location."""
