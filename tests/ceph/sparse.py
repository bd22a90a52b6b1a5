"""Objects larger than any test could send: only their beginning and their end are there."""

from __future__ import annotations

import subprocess
from pathlib import Path
from struct import pack

from tests.ceph.cluster import Cluster
from tests.patience import PATIENCE
from tests.s3.bucket import BUCKET, Bucket

FIRST = (5 << 20) + 7
"""Bytes of the beginning: as many as S3 wants of a part, and a number that stands nowhere else."""
_POOL = "default.rgw.buckets.non-ec"


def put_sparse(cluster: Cluster, bucket: Bucket, key: str, file: Path, end: int) -> str:
    """Keep of a file the first ``FIRST`` bytes and those from ``end`` on, as an object that is as large as the file.

    It is sent in two parts. Before they become an object, the size of the first, where radosgw notes it, is made to
    reach to ``end``. So every range that lies in these parts is read as of any object; others are not there.
    """
    place = {"Bucket": BUCKET, "Key": key}
    upload = bucket.client.create_multipart_upload(**place)["UploadId"]
    with file.open("rb") as content:
        bodies = [content.read(FIRST)]
        content.seek(end)
        bodies.append(content.read())
    parts = []
    for number, body in enumerate(bodies, 1):
        sent = bucket.client.upload_part(**place, UploadId=upload, PartNumber=number, Body=body)
        parts.append({"PartNumber": number, "ETag": sent["ETag"]})
    _lengthen(cluster, upload, end)
    bucket.client.complete_multipart_upload(**place, UploadId=upload, MultipartUpload={"Parts": parts})
    return f"s3://{BUCKET}/{key}"


def _lengthen(cluster: Cluster, upload: str, size: int) -> None:
    (notes,) = [name for name in _rados(cluster, "ls").decode().split() if upload in name]
    value = cluster.configuration.with_name("part")
    _rados(cluster, "getomapval", notes, "part.00000001", str(value))
    noted = value.read_bytes()
    assert pack("<Q", FIRST) in noted
    value.write_bytes(noted.replace(pack("<Q", FIRST), pack("<Q", size)))
    _rados(cluster, "setomapval", notes, "part.00000001", "--input-file", str(value))


def _rados(cluster: Cluster, *command: str) -> bytes:
    program = ["rados", "-c", str(cluster.configuration), "-p", _POOL, *command]
    return subprocess.run(program, capture_output=True, timeout=PATIENCE, check=True).stdout
