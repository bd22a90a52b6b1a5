"""A dataset on S3: what going to one of its datapoints costs, and its audit."""

from __future__ import annotations

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.protocol.audit_views import AuditRequest, Query
from inspector.operations.session.archive_session import ArchiveSession
from inspector.operations.worker.audit_server import Auditor
from tests.s3.conftest import Store
from tests.s3.reading.test_locations import dataset


def test_a_datapoint_costs_two_requests_beyond_the_listings(store: Store) -> None:
    session = ArchiveSession(f"{dataset(store, 'keys', 20)}/", store.connection)
    opened = len(store.proxy.asked())
    target = session.find_datapoint(Progress(), "key 155")
    assert session.read(target.layer, target.start, 200) == b"x" * 155 + bytes(45)
    asked = store.proxy.asked()[opened:]
    assert len(asked) == 2
    assert f"{151:020d}-{160:020d}.tar.metadata bytes" in asked[0]
    assert f"{151:020d}-{160:020d}.tar bytes" in asked[1]


def test_before_it_is_decoded_a_dataset_costs_one_listing(store: Store) -> None:
    location = dataset(store, "opening", 20)
    for place in (location, f"{location}/"):
        store.proxy.reset()
        ArchiveSession(place, store.connection)
        assert len(store.proxy.log) == 1
        assert store.proxy.log[0].listing


@pytest.mark.usefixtures("in_this_process")
def test_a_prefix_is_audited_as_a_window_does_it(store: Store) -> None:
    location = f"{dataset(store, 'audited', 2)}/"
    auditor = Auditor()
    standing = auditor.audit(Progress(), AuditRequest((location,), workers=1, connection=store.connection))
    assert standing.left.files == 0
    dataset_row, *found = auditor.page(Query(), 0, 10).rows
    assert f"{dataset_row.location}/" == location
    assert [each.location.removeprefix(location) for each in found] == [
        f"datapoints/{first:020d}-{first + 9:020d}.tar" for first in (1, 11)
    ]
    assert {each.format for each in found} == {"datas3t"}
