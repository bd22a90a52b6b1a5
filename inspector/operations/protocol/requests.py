"""The requests that workers answer: the window names them, and only a worker loads what answers them.

``client.ask(ArchiveRequests.header, draft).then(show)``: to mypy, ``ArchiveRequests`` is the session that answers, so
each call is checked against its method. At run time it knows names and traits only. The errors that a session raises
reach the window as sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.operations.protocol.views import Traits


class Request:
    """A request by name; where mypy looks, the method that answers it."""

    def __init__(self, name: str, traits: Traits) -> None:
        self.__name__ = name
        self.traits = traits


class Requests:
    """The requests of one kind of worker; each is an attribute."""

    def __init__(self, **names: str) -> None:
        self.all = {name: Request(name, TRAITS[kind]) for kind, some in names.items() for name in some.split()}

    def __getattr__(self, name: str) -> Request:
        if name not in self.all:
            raise AttributeError(name)
        return self.all[name]


TRAITS = {
    "at_once": Traits(),
    "network": Traits(waits_for_network=True),
    "jobs": Traits(is_job=True),
    "shows": Traits(is_job=True, only_shows=True),
    "writes": Traits(is_job=True, writes_files=True),
    "changes": Traits(is_job=True, writes_files=True, changes_archive=True),
}


def traits_of(request: Any) -> Traits:
    """The traits of a request."""
    found: Traits = request.traits
    return found


def requests_of(served: Any) -> dict[str, Traits]:
    """All requests of a kind of worker by name."""
    return {name: each.traits for name, each in served.all.items()}


if TYPE_CHECKING:
    from inspector.operations.session.archive_session import ArchiveSession as ArchiveRequests
    from inspector.operations.session.remote import Browser as BrowseRequests
    from inspector.operations.session.remote import Connecting as ProfileRequests
    from inspector.operations.worker.audit_server import Auditor as AuditRequests
    from inspector.operations.worker.compare_session import Comparer as CompareRequests
    from inspector.operations.worker.create_session import CreateSession as CreateRequests
else:
    ArchiveRequests = Requests(
        at_once="cached disk_change interrupted reader_steps readers remote requests status upload_preview",
        network="arrows checksums chosen damage datasets explain field field_rows findings first_of_range goto header"
        " header_edit header_target member member_rows place range_states ranges read references runs tree_rows",
        jobs="check forget_past_writes import_patch plan_repairs profiles reload repair_checksums",
        shows="arrange attempt bands build_tree census compare_readers content content_of_file crash_matrix damage_step"
        " decode diagram edits_before find_datapoint find_fields follow_reader name_causes"
        " name_members next_field overview"
        " past_writes plan_extraction preview search show_experiment show_replay verdict_counts verdict_overview",
        writes="copy_shown export export_members export_patch extract salvage save_copy save_experiment"
        " save_experiment_patch save_replay",
        changes="append make_repairs recover take_back write",
    )
    ProfileRequests = Requests(jobs="profiles", shows="attempt")
    CreateRequests = Requests(jobs="profiles", shows="attempt look unfinished", writes="create")
    BrowseRequests = Requests(jobs="profiles", shows="attempt buckets page")
    AuditRequests = Requests(at_once="page status", writes="audit")
    CompareRequests = Requests(
        at_once="differences",
        network="side_byte side_bytes side_place side_runs taken",
        shows="compare find plan_combination plan_taking",
        writes="write_combination",
    )

__all__ = [
    "ArchiveRequests",
    "AuditRequests",
    "BrowseRequests",
    "CompareRequests",
    "CreateRequests",
    "ProfileRequests",
]
