"""ZIP archives planned to be mended, and what tests ask of the result."""

from __future__ import annotations

import io
import struct
import zipfile

from inspector.core.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import Verdict
from inspector.formats._zip.directory import Directory
from inspector.operations.changing.repairing import Plan, plan
from inspector.operations.checking.checking import check_archive
from inspector.operations.opening import opening
from tests.formats.zip.zip_building import written

STREAMED = written(streamed=True)
WHOLE = written()


def checked(data: bytes) -> opening.Opened:
    archive = opening.start(BytesSource(data, "x.zip"))
    opening.decode(archive, Progress())
    check_archive(archive, Progress())
    return archive


def planned(data: bytes, *accepted: str) -> Plan:
    return plan(checked(data), Progress(), accepted)


def after(made: Plan) -> bytes:
    return made.after.source.read(0, made.after.source.size)


def contents(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def made(result: Plan) -> list[str]:
    return [repair.code for repair in result.repairs]


def salvaged(result: Plan) -> bytes:
    assert result.salvage is not None
    assert result.salvage.content is not None
    return b"".join(result.salvage.content(Progress()))


def verified(archive: opening.Opened) -> dict[bytes, int]:
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
