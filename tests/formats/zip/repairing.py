"""ZIP archives checked and repaired, and what tests ask of the result."""

from __future__ import annotations

import io
import struct
import zipfile

from inspector.core.source import BytesSource
from inspector.core.verdict import Verdict
from inspector.formats._zip.directory import Directory
from inspector.operations.edit.plan_repairs import Plan
from inspector.operations.open.opening import Opened
from tests.formats import archives
from tests.formats.zip.zip_building import written

STREAMED = written(streamed=True)
WHOLE = written()


def checked(data: bytes) -> Opened:
    return archives.checked(BytesSource(data, "x.zip"))


def planned(data: bytes, *accepted: str) -> Plan:
    return archives.planned(BytesSource(data, "x.zip"), *accepted)


def contents(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def made(result: Plan) -> list[str]:
    return [repair.code for repair in result.repairs]


def verified(archive: Opened) -> dict[bytes, int]:
    """The CRC-32 of every member whose content is whole."""
    assert isinstance(archive.detail, Directory)
    crcs = archive.detail.computed
    return {each.path: crcs[each.index] for each in archive.members if archive.verdict(each.index) is Verdict.VERIFIED}


def directory_of(data: bytes) -> int:
    return struct.unpack("<I", data[data.rindex(b"PK\5\6") + 16 :][:4])[0]


def ends_of(data: bytes) -> list[int]:
    """Where each member ends, in file order."""
    archive = checked(data)
    directory = archive.detail
    return [each.spans[0].stop + directory.descriptors[each.index] for each in archive.members]
