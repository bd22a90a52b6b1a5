"""Content that is checked without being read, by the checksum that the server keeps."""

from __future__ import annotations

import json
import zipfile
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.__main__ import main
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.operations.check.proof import Proof, combined_crc32, prove
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import decode, start
from tests.s3.conftest import BUCKET, Store
from tests.s3.proxy import answering
from tests.s3.writing.writing import MEBI, taco


def zipped(members: list[bytes], method: int = zipfile.ZIP_STORED, lead: bytes = b"") -> bytes:
    out = BytesIO()
    out.write(lead)
    with zipfile.ZipFile(out, "a", method) as made:
        for number, data in enumerate(members):
            made.writestr(f"{number}.bin", data)
    return out.getvalue()


def made(data: bytes) -> int:
    archive = start(BytesSource(data))
    decode(archive, Progress())
    return combined_crc32(archive.source, archive.members, Progress())


def keep(store: Store, key: str, data: bytes, algorithm: str = "CRC32") -> str:
    """Keep an object together with a checksum of it."""
    store.client.put_object(Bucket=BUCKET, Key=key, Body=data, ChecksumAlgorithm=algorithm)
    return f"s3://{BUCKET}/{key}"


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5), st.binary(max_size=9))
def test_recorded_checksums_make_that_of_the_file(members: list[bytes], lead: bytes) -> None:
    data = zipped(members, lead=lead)

    assert made(data) == zlib.crc32(data)


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=5), st.data())
def test_any_other_byte_of_a_member_makes_another(members: list[bytes], draw: st.DataObject) -> None:
    data = bytearray(zipped(members))
    archive = start(BytesSource(bytes(data)))
    decode(archive, Progress())
    member = archive.members[draw.draw(st.integers(0, len(members) - 1))]
    at = draw.draw(st.integers(member.spans[0].start, member.spans[0].stop - 1))
    data[at] ^= draw.draw(st.integers(1, 255))

    assert made(bytes(data)) != zlib.crc32(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (zipped([b"x" * 99], zipfile.ZIP_DEFLATED), "is compressed"),
        (zipped([]), "no CRC-32 of members"),
        (b"\0\0" + b'{"format_version":"1.0","files":{}}' + (35).to_bytes(4, "little"), "no CRC-32 of members"),
    ],
)
def test_what_cannot_be_compared_is_said(data: bytes, words: str) -> None:
    with pytest.raises(OperationError, match=words):
        made(data)


def test_it_costs_little_and_says_what_it_proves(store: Store, tmp_path: Path) -> None:
    data = taco(tmp_path, [3 * MEBI, 10, 20, 5 * MEBI])
    location = keep(store, "proof/good.taco", data)
    store.proxy.reset()

    proved = prove(location, Progress(), store.connection)

    assert (proved.proof, proved.members) == (Proof.PROVED, 5)
    assert proved.server_crc32 == proved.archive_crc32 == zlib.crc32(data)
    assert "so it is not proved that the server still has them" in proved.sentence
    assert len(store.proxy.log) == proved.requests <= 5
    assert proved.bytes_read < 2 * MEBI


def test_a_member_that_was_damaged_before_it_was_sent_is_found(store: Store, tmp_path: Path) -> None:
    data = bytearray(taco(tmp_path, [3 * MEBI]))
    data[MEBI] ^= 1
    location = keep(store, "proof/bad.taco", bytes(data))

    proved = prove(location, Progress(), store.connection)

    assert proved.proof is Proof.CONTRADICTED
    assert "at least one member" in proved.sentence


def test_without_a_checksum_of_the_whole_nothing_is_claimed(store: Store, tmp_path: Path) -> None:
    location = keep(store, "proof/none.taco", taco(tmp_path, [MEBI]), "SHA256")
    assert prove(location, Progress(), store.connection).proof is Proof.IMPOSSIBLE

    location = keep(store, "proof/parts.taco", (tmp_path / "made.taco").read_bytes())
    with store.proxy.failing(answering(x_amz_checksum_type="COMPOSITE")):
        assert prove(location, Progress(), store.connection).proof is Proof.IMPOSSIBLE


def test_from_the_command_line(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = taco(tmp_path, [100])
    location = keep(store, "proof/cli.taco", data)
    none = keep(store, "proof/cli-none.taco", data, "SHA256")
    capsys.readouterr()

    assert main(["check", "--by-checksum", "--json", location, *store.options]) == 0
    assert json.loads(capsys.readouterr().out)["made"] == f"crc32:{zlib.crc32(data):08x}"
    assert main(["check", "--by-checksum", location, none, str(tmp_path / "made.taco"), *store.options]) == 2
    shown = capsys.readouterr().out.splitlines()
    assert ["keeps no CRC-32" in line for line in shown] == [False, True, False]
    assert "not an object on S3" in shown[2]
