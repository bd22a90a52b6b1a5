"""The requests that workers answer: one class for each kind of worker, one method for each request.

The window passes the method itself: ``client.ask(ArchiveRequests.header, draft).then(show)``. The session in the worker
has a method with that name and signature; the errors it raises reach the window as sentences.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from msgspec import Struct

from inspector.operations.protocol.extraction_views import OnConflict
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # the window names requests before its first paint, which needs none of these
    from array import array
    from collections.abc import Collection, Sequence

    from inspector.core.drawing.diagram import Diagram
    from inspector.core.drawing.sizes import Scope, SizePlot
    from inspector.core.edit import Edit
    from inspector.core.field import Census, Run
    from inspector.core.finding import Severity
    from inspector.core.kinds import Kind
    from inspector.core.program.progress import Progress
    from inspector.core.reader import Step
    from inspector.core.span import Span, Spans
    from inspector.core.verdict import State, Verdict
    from inspector.operations.protocol.audit_views import AuditRequest, AuditStatus, ExportKind, Query, Result
    from inspector.operations.protocol.browse_views import Downloaded, RemotePage, RemoteState
    from inspector.operations.protocol.bytes_views import Bands, DecodedInfo, Encoding, Repeat, StringRow, StringsFound
    from inspector.operations.protocol.check_views import ReportKind
    from inspector.operations.protocol.compare_views import (
        CombinePlan,
        Compared,
        Difference,
        DifferenceQuery,
        SideByte,
        Version,
    )
    from inspector.operations.protocol.coverage_views import DatasetRow, RangePlace, RangeRow
    from inspector.operations.protocol.create_views import Contents, CreateResult, Draft, FoundPlaces
    from inspector.operations.protocol.edit_views import (
        Interrupted,
        OnlyWhole,
        PastWrite,
        Repaired,
        RepairPlan,
        WayOut,
        WriteResult,
    )
    from inspector.operations.protocol.experiment_views import Content, ExperimentView, Steps
    from inspector.operations.protocol.experiment_views import Step as ExperimentStep
    from inspector.operations.protocol.extraction_views import ExportedFiles, ExtractionPlan, ExtractionResult
    from inspector.operations.protocol.header_draft import HeaderDraft, HeaderView, TacoEntry
    from inspector.operations.protocol.replay_views import Matrix, Point, ReplayState, Writes
    from inspector.operations.protocol.trace_views import ReaderInfo, ReaderRow, TraceResult
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
        FoundFields,
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
    from inspector.sources.s3.connection import Attempt, Profile
    from inspector.sources.s3.request_log import Request


Asked = TypeVar("Asked", bound=Callable[..., Any])


class Traits(Struct, frozen=True):
    """Properties of a request.

    A job takes a Progress first, may take long, and can be paused and cancelled; other requests answer at once.

    Attributes:
        is_job: it is a job.
        waits_for_network: it answers at once unless the archive is on S3 and bytes have to be fetched.
        writes_files: it needs time to remove unfinished files when it is cancelled.
        changes_archive: it writes into the open archive.
        only_shows: it only provides what is shown, so killing it loses nothing.

    """

    is_job: bool = False
    waits_for_network: bool = False
    writes_files: bool = False
    changes_archive: bool = False
    only_shows: bool = False


_TRAITS: dict[Callable[..., Any], Traits] = {}


@overload
def request(method: Asked, /) -> Asked: ...
@overload
def request(*, network: bool) -> Callable[[Asked], Asked]: ...
def request(method: Any = None, /, *, network: bool = False) -> Any:
    """Declare a request that answers at once; ``network`` is Traits.waits_for_network."""
    return _declared(method, Traits(waits_for_network=network))


@overload
def job(method: Asked, /) -> Asked: ...
@overload
def job(
    *, writes_files: bool = False, changes_archive: bool = False, only_shows: bool = False
) -> Callable[[Asked], Asked]: ...
def job(
    method: Any = None, /, *, writes_files: bool = False, changes_archive: bool = False, only_shows: bool = False
) -> Any:
    """Declare a job; see Traits."""
    return _declared(method, Traits(True, False, writes_files or changes_archive, changes_archive, only_shows))


def _declared(method: Any, traits: Traits) -> Any:
    def declare(function: Asked) -> Asked:
        _TRAITS[function] = traits
        return function

    return declare if method is None else declare(method)


def traits_of(method: Callable[..., Any]) -> Traits:
    """The traits of a request. Raises KeyError for other methods."""
    return _TRAITS[method]


def requests_of(protocol: type[object]) -> dict[str, Traits]:
    """All requests of a class and its bases by name."""
    functions = inspect.getmembers(protocol, inspect.isfunction)
    return {name: _TRAITS[function] for name, function in functions if function in _TRAITS}


class ProfileRequests(Protocol):
    """Requests to every worker that may use S3."""

    @job
    def profiles(self, progress: Progress) -> tuple[Profile, ...]:
        """The profiles of this machine; no request is made."""

    @job(only_shows=True)
    def attempt(self, progress: Progress, connection: Connection, location: str) -> Attempt:
        """Whether a connection reaches the bucket of a location, and how."""


class ArchiveRequests(ProfileRequests, Protocol):
    """Requests to the worker of one open location; ArchiveSession answers them."""

    # ---- state -------------------------------------------------------------------------------------------------

    @request
    def status(self) -> Status:
        """The current status."""

    @request
    def layers(self) -> tuple[LayerInfo, ...]:
        """All layers; 0 is the file."""

    @request
    def disk_change(self) -> DiskChange | None:
        """How the file on disk has changed since it was read; None if it has not, and for a folder."""

    @request
    def remote(self) -> RemoteState | None:
        """The cost of reading so far; None for local files."""

    @request
    def requests(self) -> tuple[Request, ...]:
        """The latest S3 requests, oldest first, those in flight last."""

    @request
    def cached(self, layer: int) -> Spans:
        """The cached bytes of a layer, which can be read without a request."""

    @job(only_shows=True)
    def decode(self, progress: Progress) -> Status:
        """Decode everything, and return the status then. Cancelling keeps what was decoded and raises nothing."""

    @job
    def reload(self, progress: Progress, edit: Edit | None = None) -> None:
        """Read the archive again, without checking it, and show it with ``edit`` if given."""

    # ---- bytes and fields --------------------------------------------------------------------------------------

    @request(network=True)
    def read(self, layer: int, offset: int, length: int) -> bytes:
        """Bytes of a layer, at most 1 MiB; short at its end."""

    @request(network=True)
    def runs(self, layer: int, start: int, stop: int) -> list[Run]:
        """The runs of leaves in ``[start, stop)``, at most 1 MiB of it."""

    @request(network=True)
    def explain(self, layer: int, offset: int, wanted: tuple[int, ...] | None = None) -> Explanation:
        """The fields that own a byte, and the findings on it; inside data, only those on the ``wanted`` path."""

    @request(network=True)
    def field_rows(self, layer: int, path: tuple[int, ...], first: int, count: int) -> Page[FieldRow]:
        """The children of the field at ``path``; the outermost fields for ``()``."""

    @job(only_shows=True)
    def find_fields(self, progress: Progress, layer: int, text: str) -> FoundFields:
        """The fields whose name, value or meaning contains a text, whatever its case."""

    @request(network=True)
    def field(self, layer: int, path: tuple[int, ...]) -> FieldRow | None:
        """The field at ``path``, None without one."""

    @job(only_shows=True)
    def overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """The set of roles and families in each of ``rows`` equal stretches of a layer."""

    @job(only_shows=True)
    def census(self, progress: Progress, layer: int) -> Census:
        """How many structures of each kind a layer has."""

    @job(only_shows=True)
    def verdict_counts(self, progress: Progress, layer: int) -> dict[Verdict, int]:
        """How many members of a layer's archive have each verdict."""

    @job(only_shows=True)
    def verdict_overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """The set of verdicts (see ``Judged``) in each stretch of ``overview``."""

    # ---- what bytes look like ----------------------------------------------------------------------------------

    @job(only_shows=True)
    def bands(self, progress: Progress, layer: int, start: int, stop: int, rows: int) -> Bands:
        """What each of ``rows`` equal stretches of a layer's bytes looks like; of a remote one, those cached."""

    @job(only_shows=True)
    def next_zeros(self, progress: Progress, layer: int, offset: int, backwards: bool) -> Span | None:
        """The nearest run of zeros that begins after ``offset``, or before it."""

    @job(only_shows=True)
    def next_repeat(self, progress: Progress, layer: int, offset: int, backwards: bool) -> Repeat | None:
        """The nearest bytes after ``offset``, or before it, that stand earlier too."""

    @job(only_shows=True)
    def decode_member(self, progress: Progress, index: int) -> DecodedInfo:
        """Decode a member piece by piece; its bytes are kept until another one is decoded."""

    @request
    def decoded_bytes(self, index: int, offset: int, length: int) -> bytes:
        """Decoded bytes of the member that was decoded last, at most 1 MiB; none of another one."""

    @job(only_shows=True)
    def diagram(self, progress: Progress, archive: int, offset: int) -> Diagram | None:
        """The shape of what is opened; of what is too much to show, also what is around a byte of an archive."""

    @job(only_shows=True)
    def sizes(self, progress: Progress, scope: Scope) -> SizePlot | None:
        """What is stored against its content, in all that is opened or in a part; None where nothing is to compare."""

    @job(only_shows=True)
    def find_strings(
        self, progress: Progress, layer: int, encodings: Collection[Encoding], minimum: int, wanted: str
    ) -> StringsFound:
        """Search a layer for strings of at least ``minimum`` characters that hold a text; they are kept."""

    @request(network=True)
    def string_rows(self, first: int, count: int) -> Page[StringRow]:
        """Strings of the last search, as far as it is."""

    # ---- members -----------------------------------------------------------------------------------------------

    @request(network=True)
    def member(self, index: int) -> MemberRow:
        """One member."""

    @request(network=True)
    def member_rows(self, first: int, count: int) -> Page[MemberRow]:
        """Members in the current order."""

    @request(network=True)
    def tree_rows(self, node: int, first: int, count: int) -> Page[TreeRow]:
        """The rows of a folder in the tree of paths; 0 is the root. Empty before ``build_tree``."""

    @request(network=True)
    def chosen(self, chosen: Chosen) -> array[int]:
        """The numbers of the selected members."""

    @request(network=True)
    def place(self, index: int) -> MemberPlace:
        """The location of a member."""

    @job(only_shows=True)
    def name_members(self, progress: Progress, numbers: Collection[int]) -> tuple[MemberRow, ...]:
        """These members, after reading their headers."""

    @job(only_shows=True)
    def arrange(self, progress: Progress, filter_text: str, sort_key: SortKey, descending: bool) -> int:
        """Show the members whose visible path contains a text, sorted; returns their number."""

    @job(only_shows=True)
    def build_tree(self, progress: Progress) -> None:
        """Build the tree of paths of the members shown."""

    @job(only_shows=True)
    def content(self, progress: Progress, index: int) -> ContentInfo:
        """Decode a member and make its content a layer."""

    # ---- findings ----------------------------------------------------------------------------------------------

    @request(network=True)
    def findings(self, first: int, count: int, severities: Collection[Severity]) -> Page[FindingRow]:
        """Findings of these severities, oldest first."""

    @request(network=True)
    def damage(self, layer: int, most: int) -> Spans:
        """The damaged bytes of a layer: those of the first ``most`` errors and warnings."""

    @request(network=True)
    def checksums(self, first: int, count: int, text: str = "") -> Page[ChecksumRow]:
        """The recorded checksums and their verdicts; with ``text`` those that contain it, of the first ones."""

    @job(only_shows=True)
    def name_causes(self, progress: Progress) -> bool:
        """Look for the cause of what decoding found wrong, before any check; whether there is one to show."""

    @job
    def check(self, progress: Progress) -> CheckResult:
        """Decode the rest, and check everything, even if it was checked before."""

    @job(writes_files=True)
    def export(
        self, progress: Progress, path: str, kind: ReportKind, redact: bool = False, notes: Sequence[str] = ()
    ) -> None:
        """Write a report with the user's notes to a file; ``redact``: without names, content and notes."""

    @job(writes_files=True)
    def write_manifest(self, progress: Progress, algorithm: str, replace: bool) -> ManifestResult:
        """Write the digests of all members to a manifest beside the archive."""

    # ---- readers -----------------------------------------------------------------------------------------------

    @request
    def readers(self, layer: int) -> tuple[ReaderInfo, ...]:
        """The known readers of a layer's archive."""

    @job(only_shows=True)
    def compare_readers(self, progress: Progress, layer: int) -> tuple[ReaderRow, ...]:
        """What each known reader makes of a layer's archive."""

    @job(only_shows=True)
    def follow_reader(self, progress: Progress, layer: int, name: str, member: str | None = None) -> TraceResult:
        """Follow a reader through a layer's archive, to one member if given; its steps are kept."""

    @request
    def reader_steps(self, first: int, count: int) -> Page[Step]:
        """Steps of the reader that was followed last."""

    # ---- navigation --------------------------------------------------------------------------------------------

    @request(network=True)
    def goto(self, expression: str, layer: int, caret: int) -> Target:
        """The target of an expression, relative to a caret in a layer."""

    @job(only_shows=True)
    def find_datapoint(self, progress: Progress, expression: str) -> Target:
        """The location of a datapoint (see ``datapoint_key``); its range is read first if necessary."""

    @job(only_shows=True)
    def search(
        self, progress: Progress, layer: int, pattern: bytes, start: int, backwards: bool, ignore_case: bool
    ) -> int | None:
        """The first match at or after ``start``, backwards the last before it."""

    @request(network=True)
    def references(self, layer: int, offset: int, path: tuple[int, ...] | None = None) -> tuple[Reference, ...]:
        """What the byte at ``offset`` of a layer, or the field at ``path``, refers to; the most specific first."""

    @request(network=True)
    def arrows(self, layer: int, start: int, stop: int) -> tuple[Arrow, ...]:
        """The references from or to bytes ``[start, stop)`` of a layer, in the order of these bytes."""

    @job(only_shows=True)
    def next_unexplained(self, progress: Progress, layer: int, offset: int, backwards: bool) -> Target | None:
        """The nearest unexplained bytes after ``offset``, or before it; None without any."""

    @job(only_shows=True)
    def next_structure(
        self, progress: Progress, layer: int, offset: int, kind: Kind, unused: bool, backwards: bool
    ) -> Target | None:
        """The nearest structure of a kind beyond ``offset``, in use or not, or else the first from the other end."""

    @job(only_shows=True)
    def next_similar(
        self, progress: Progress, layer: int, offset: int, kind: Kind, name: str, backwards: bool
    ) -> Target | None:
        """The nearest field of a kind after ``offset``, or before it; for plain values also of the name."""

    # ---- the ranges of a collection ----------------------------------------------------------------------------

    @request(network=True)
    def datasets(self) -> tuple[DatasetRow, ...]:
        """All datasets in the order of their ranges; those with orphans only come last."""

    @request(network=True)
    def ranges(self, first: int, count: int) -> Page[RangeRow]:
        """Ranges ``[first, first + count)``, sorted by dataset and key."""

    @request(network=True)
    def range_states(self, first: int, count: int) -> bytes:
        """The states of ranges ``[first, first + count)`` as positions in RANGE_STATES."""

    @request(network=True)
    def range_place(self, at: int) -> RangePlace:
        """The location of range ``at``."""

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
        """Extract members, all for None, into a folder (see ``ExtractionOptions``)."""

    @job(writes_files=True)
    def export_members(self, progress: Progress, chosen: Chosen, folder: str, most: int | None = None) -> ExportedFiles:
        """Extract the selection into a private folder; nothing if it has more than ``most`` bytes."""

    @job(writes_files=True)
    def export_member(self, progress: Progress, member: int, folder: str) -> ExportedFiles:
        """Extract a member for another program to open."""

    # ---- changes -----------------------------------------------------------------------------------------------

    @job(only_shows=True)
    def preview(self, progress: Progress, edit: Edit | None) -> tuple[str, ...] | None:
        """Show the archive with ``edit`` applied, or as it is on disk for None."""

    @job
    def repair_checksums(self, progress: Progress, edit: Edit) -> Repaired:
        """The edit extended by all checksums that it makes wrong."""

    @request(network=True)
    def header(self, draft: HeaderDraft | None) -> HeaderView:
        """The TACO header that is shown, or a draft of it."""

    @request(network=True)
    def header_edit(self, draft: HeaderDraft) -> Edit:
        """The edit that writes the draft into the header."""

    @request(network=True)
    def header_target(self, member: int) -> TacoEntry:
        """Offset and length of a member's data."""

    @request
    def upload_preview(self, edit: Edit, whole: bool = False) -> tuple[str, ...]:
        """What writing an edit would send to S3, in lines; none if the archive is local."""

    @job(changes_archive=True)
    def write(self, progress: Progress, edit: Edit, whole: bool = False) -> WriteResult | OnlyWhole:
        """Write an edit into the file and read it again; ``whole`` sends the whole object."""

    @job(changes_archive=True)
    def append(self, progress: Progress, locations: Sequence[str], level: int, convention: str) -> WriteResult:
        """Append files to an RCA archive and read it again; see ``Draft`` for the options."""

    @job(writes_files=True)
    def save_copy(self, progress: Progress, edit: Edit, path: str, over: bool, s3: Connection = DEFAULT) -> str:
        """Write the archive with ``edit`` applied to another file or object; ``s3`` says how to reach that."""

    @job(writes_files=True)
    def copy_shown(self, progress: Progress, path: str) -> None:
        """Write the bytes of the file as it was opened to a new file, for what replaced it to be compared with."""

    @job(writes_files=True)
    def export_patch(self, progress: Progress, edit: Edit, path: str) -> str:
        """Write an edit to a patch file."""

    @job
    def import_patch(self, progress: Progress, path: str) -> Edit:
        """The edit in a patch file that matches this archive."""

    # ---- repairs -----------------------------------------------------------------------------------------------

    @request
    def interrupted(self) -> Interrupted | None:
        """The interrupted change of this archive, None without one."""

    @job(changes_archive=True)
    def recover(self, progress: Progress, way: WayOut) -> WriteResult:
        """Finish, roll back or forget an interrupted change, and read the file again."""

    @job(changes_archive=True)
    def take_back(self, progress: Progress, whole: bool = False) -> WriteResult | OnlyWhole:
        """Undo the last change of the file from the store of old bytes, and read it again."""

    @job(only_shows=True)
    def past_writes(self, progress: Progress) -> tuple[PastWrite, ...]:
        """What this program wrote to the file, as far as its old bytes are stored, newest first."""

    @job(only_shows=True)
    def edits_before(self, progress: Progress, number: int) -> tuple[Edit, ...]:
        """The edits that lead, one after another, to the state before write ``number`` of ``past_writes``."""

    @job
    def forget_past_writes(self, progress: Progress) -> str:
        """Remove the stored old bytes of the file; returns a sentence."""

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
        """Repair in place, or to the file or object ``copy``; ``over`` replaces an existing one."""

    @job(writes_files=True)
    def salvage(
        self,
        progress: Progress,
        accepted: Collection[str],
        copy: str,
        over: bool = True,
        s3: Connection = DEFAULT,
    ) -> WriteResult:
        """Write the undamaged members to a new archive ``copy``; see ``make_repairs``."""

    # ---- experiments -------------------------------------------------------------------------------------------

    @job(only_shows=True)
    def show_experiment(self, progress: Progress, steps: Steps | None) -> ExperimentView | None:
        """Show what steps leave of the archive, or the archive as it is on disk for None."""

    @job(only_shows=True)
    def damage_step(self, progress: Progress, steps: Steps, name: str, seed: int) -> ExperimentStep:
        """The step after these that makes a damage by name."""

    @job(only_shows=True)
    def content_of_file(self, progress: Progress, path: str) -> Content:
        """All bytes of a file, for a step."""

    @request
    def step_text(self, step: ExperimentStep) -> str:
        """A step as it stands in a recipe."""

    @request
    def parse_step(self, text: str, folder: str) -> ExperimentStep:
        """The step that a recipe with this text has; files lie in ``folder``."""

    @job(writes_files=True)
    def save_experiment(self, progress: Progress, steps: Steps, path: str, over: bool) -> str:
        """Write what the steps leave to a new file, never to the archive."""

    @job(writes_files=True)
    def save_recipe(self, progress: Progress, steps: Steps, path: str) -> str:
        """Write the steps as a recipe."""

    @job(writes_files=True)
    def save_experiment_patch(self, progress: Progress, steps: Steps, path: str) -> str:
        """Write what differs between the archive and what the steps leave as a patch."""

    @job(only_shows=True)
    def open_recipe(self, progress: Progress, path: str) -> Steps:
        """The steps of a recipe, which is for this archive."""

    # ---- replays -----------------------------------------------------------------------------------------------

    @job(only_shows=True)
    def show_replay(self, progress: Progress, writes: Writes | None, point: Point | None) -> ReplayState | None:
        """Show the archive at a point of a replay, the beginning for None, or as it is on disk without ``writes``."""

    @job(only_shows=True)
    def crash_matrix(self, progress: Progress, writes: Writes) -> Matrix:
        """What each reader makes of a crash at each write of the replay shown."""

    @job(writes_files=True)
    def save_replay(self, progress: Progress, writes: Writes, point: Point, path: str, over: bool) -> str:
        """Write the archive at a point of the replay shown to a new file, never to the archive."""


class CreateRequests(ProfileRequests, Protocol):
    """Requests to the worker that creates archives; CreateSession answers them."""

    @job(only_shows=True)
    def look(self, progress: Progress, draft: Draft) -> Contents:
        """What an archive would hold, and why it cannot be created."""

    @job(only_shows=True)
    def unfinished(self, progress: Progress, draft: Draft) -> str:
        """Leftovers of killed runs at the target, in a sentence; empty without any."""

    @job(writes_files=True)
    def create(self, progress: Progress, draft: Draft) -> CreateResult:
        """Create the archive, or nothing if that fails."""

    @job(only_shows=True)
    def find(self, progress: Progress, path: str, name: str) -> FoundPlaces:
        """The locations in a catalogue of members called ``name``; a final ``*`` matches any rest."""


class BrowseRequests(ProfileRequests, Protocol):
    """Requests to the worker of a bucket browser; Browser answers them."""

    @job(only_shows=True)
    def buckets(self, progress: Progress, connection: Connection) -> RemotePage:
        """All buckets."""

    @job(only_shows=True)
    def page(self, progress: Progress, connection: Connection, location: str, after: str) -> RemotePage:
        """The page of a prefix with the token ``after``; the first one if that is empty."""

    @job(writes_files=True)
    def download(
        self, progress: Progress, connection: Connection, locations: tuple[str, ...], folder: str
    ) -> Downloaded:
        """Download objects and everything under prefixes into a folder; each file appears when it is complete."""


class AuditRequests(Protocol):
    """Requests to the worker of an audit; Auditor answers them."""

    @request
    def page(self, query: Query, first: int, count: int) -> Page[Result]:
        """Results ``[first, first + count)``; none before an audit has started."""

    @request
    def status(self) -> AuditStatus:
        """How far the audit is."""

    @job(writes_files=True)
    def audit(self, progress: Progress, request: AuditRequest) -> AuditStatus:
        """Audit what is not done yet. Finished results are kept if it fails."""

    @job(writes_files=True)
    def export(self, progress: Progress, path: str, kind: ExportKind) -> str:
        """Write the results to a file, replacing an existing one."""


class CheckRequests(Protocol):
    """Requests to a worker that looks at single locations; Checker answers them."""

    @job(only_shows=True)
    def look(self, progress: Progress, location: str) -> State | None:
        """The state that the structure of a location shows without a check; None if nothing is wrong with it."""


class CompareRequests(Protocol):
    """Requests to the worker that compares two locations; Comparer answers them."""

    @job(only_shows=True)
    def compare(
        self,
        progress: Progress,
        a: str,
        b: str,
        connection: Connection,
        other: Connection,
        versions: tuple[Version, Version],
    ) -> Compared:
        """Compare two locations, each read as its version says; the connections say how to reach them on S3."""

    @request
    def differences(self, query: DifferenceQuery, first: int, count: int) -> Page[Difference]:
        """Differences ``[first, first + count)`` of a query; none before a comparison has ended."""

    @request(network=True)
    def side_bytes(self, side: str, offset: int, length: int) -> bytes:
        """Bytes of one side, at most 1 MiB; short at its end."""

    @request(network=True)
    def side_place(self, side: str, expression: str) -> Span:
        """The bytes that an offset, ``end`` or the name of a member leads to on one side."""

    @request(network=True)
    def side_runs(self, side: str, start: int, stop: int) -> list[Run]:
        """The runs of leaves in ``[start, stop)`` of one side, at most 1 MiB of it."""

    @request(network=True)
    def side_byte(self, side: str, offset: int, length: int) -> SideByte:
        """What a byte of one side is, with ``length`` bytes from there on."""

    @job(only_shows=True)
    def find(
        self, progress: Progress, side: str, pattern: bytes, start: int, backwards: bool, ignore_case: bool
    ) -> int | None:
        """The next match on one side, or the one before ``start``; None without one."""

    @job(only_shows=True)
    def plan_combination(
        self, progress: Progress, more: Sequence[str], connections: Sequence[Connection]
    ) -> CombinePlan:
        """What the best archive out of both sides and ``more`` copies is made of; nothing is written."""

    @request(network=True)
    def taken(self, side: str, difference: Difference) -> Edit | None:
        """The change of a side that takes a difference from the other one; None where their sizes differ."""

    @job(only_shows=True)
    def plan_taking(self, progress: Progress, side: str, difference: Difference) -> CombinePlan:
        """One side with a difference taken from the other, as a new archive; nothing is written."""

    @job(writes_files=True)
    def write_combination(self, progress: Progress, number: int, target: str, accept: bool) -> str:
        """Write the archive of the plan with this number to a new file; returns a sentence.

        ``accept``: although not everything is proved.
        """
