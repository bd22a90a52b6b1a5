"""The index cache of objects: a second listing asks for next to nothing, and another object is another one."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from inspector.core.limits import INDEX_CACHE
from inspector.core.program.progress import Progress
from inspector.core.source import fingerprint_of
from inspector.operations.jobs import index_store
from inspector.operations.open import index_cache
from inspector.operations.open.listing import keep_listed, load
from inspector.operations.open.opening import Opened
from inspector.sources.s3.source import RemoteSource
from tests.s3.conftest import Store
from tests.s3.site import Site


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(INDEX_CACHE.variable, "1")
    monkeypatch.setattr(index_cache, "MIN_MEMBERS", 0)
    return index_store.folder()


def tarred(size: int, name: str = "member") -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for number in range(8):
            member = tarfile.TarInfo(f"{name}-{number}")
            member.size = size
            archive.addfile(member, io.BytesIO(bytes(size)))
    return whole.getvalue()


def listed(location: str, store: Store) -> tuple[list[bytes], int]:
    """The names of all members, and the number of requests for them."""
    found: list[Opened] = load(location, Progress(), store.connection, sparing=True, listing=True)
    keep_listed(found)
    source = found[0].source
    assert isinstance(source, RemoteSource)
    return [each.path for each in found[0].members], source.log.totals.requests


def test_a_second_listing_asks_for_the_beginning_alone(store: Store) -> None:
    location = store.put("index/large.tar", tarred(1 << 20))
    first, many = listed(location, store)
    again, few = listed(location, store)
    assert first == again
    assert few < many
    assert few <= 2


def test_another_object_of_the_same_size_is_listed_anew(store: Store) -> None:
    location = store.put("index/other.tar", tarred(1 << 16))
    listed(location, store)
    store.put("index/other.tar", tarred(1 << 16, "MEMBER"))
    assert listed(location, store)[0][0] == b"MEMBER-0"


def test_a_signed_address_is_not_kept(site: Site, folder: Path) -> None:
    address = site.put("signed.tar", tarred(1 << 16))
    found = load(address, Progress(), listing=True)
    keep_listed(found)
    assert len(found[0].members) == 8
    assert fingerprint_of(found[0].source) == ()
    assert not folder.exists()
