"""Write requests, which are made only when a user asks for them, notes on the uploads that they begin, and conditions.

Notes are kept until an upload ends: listings do not tell whose they are. A process holds a lock on the notes of its
uploads, which the system releases when the process ends in any way. So a note that can be locked belongs to an
abandoned upload; without support for locks, none counts as abandoned.

Some servers accept If-Match and overwrite nevertheless, Ceph's radosgw 16 and others at the completion of a multipart
upload. That is found out with a scratch object beside the one to write, never with that itself, and remembered for some
days.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import secrets
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode

import msgspec
import platformdirs
from isal.isal_zlib import crc32
from msgspec import Struct

from inspector.core import limits
from inspector.core.names import visible
from inspector.core.program.hints import Hint, hint
from inspector.core.program.progress import Cancelled, check_cancelled
from inspector.core.program.redaction import strip_credentials
from inspector.core.source import SourceError
from inspector.sources.local.atomic import atomic_file
from inspector.sources.local.disk_calls import Disk, read_all, write_all
from inspector.sources.s3.address import Address
from inspector.sources.s3.client import ATTEMPTS, Client, boto_client, is_amazon, named
from inspector.sources.s3.connection import Connection, Consent
from inspector.sources.s3.request_log import Request, RequestLog, Why
from inspector.sources.s3.responses import NO_BYTES, ByteRange, Head, crc32_of, head_of
from inspector.sources.s3.sentences import ConsentNeededError, ForeignAnswerError, S3Error, writing_error
from inspector.sources.s3.transport import RequestCancelled, WaitLimits, check_deadline

_KEPT = (
    "CacheControl",
    "ContentDisposition",
    "ContentEncoding",
    "ContentLanguage",
    "ContentType",
    "Expires",
    "Metadata",
    "StorageClass",
    "ServerSideEncryption",
    "SSEKMSKeyId",
    "BucketKeyEnabled",
    "WebsiteRedirectLocation",
)
"""Settings of an object, named alike in requests and responses."""
CHECKSUM = {"ChecksumAlgorithm": "CRC32", "ChecksumType": "FULL_OBJECT"}
"""Asks the server to store a CRC-32 of the whole object."""
_NO_TAGS = (400, 404, 405, 501)
"""Status codes of servers without tags."""
NOT_IMPLEMENTED = 501
_GONE = 404
_NO_CONTENT = 204
_NO_CHECKSUMS = ("InvalidRequest", "InvalidArgument", "UnsupportedArgument", "NotImplemented", "MalformedXML", "")
"""Error codes, with 400 or NOT_IMPLEMENTED, of servers without checksums."""

ObjectSettings = Mapping[str, Any]
"""The settings of a new object, as in requests."""


class Part(NamedTuple):
    """An uploaded part: its number from 1, its ETag, and the Base64 CRC-32 of its bytes if the object gets one."""

    number: int
    etag: str
    crc32: str = ""

    @property
    def listed(self) -> dict[str, Any]:
        """As in the request that completes the upload."""
        named = {"PartNumber": self.number, "ETag": self.etag}
        return named | ({"ChecksumCRC32": self.crc32} if self.crc32 else {})


class Upload(Struct, frozen=True):
    """A multipart upload; the object does not exist before it is completed.

    ``checksum``: the server is asked to store a CRC-32 of all its bytes.
    """

    address: Address
    id: str
    checksum: bool = False
    note: UploadRecord | None = None
    """Lets a later run find it if this one is killed."""

    def ended(self) -> None:
        """Note that it is completed, aborted or unknown to the server."""
        if self.note is not None:
            self.note.forget()


def confirmed(request: Callable[[], str], found: Callable[[S3Error], str]) -> str:
    """Make a request that creates an object; returns the ETag.

    If the response is lost, ``found`` looks for the object: it returns the ETag, empty if nothing has changed, and
    raises if that is unknown. The request is repeated only if nothing has changed or the server asked to retry.
    """
    for left in reversed(range(ATTEMPTS)):
        try:
            return request()
        except S3Error as error:
            if not error.is_put_off and (etag := found(error)):
                return etag
            if not left or error.code == "Overdue" or not (error.is_put_off or error.is_lost):
                raise
    raise AssertionError("the last try returns or raises")


def rejects_checksums(error: S3Error) -> bool:
    """Whether the server may accept the request without a checksum."""
    return error.status in (400, NOT_IMPLEMENTED) and error.code in _NO_CHECKSUMS


class _Body(io.BytesIO):
    """A request body that checks for cancellation and the deadline at every read."""

    def read(self, size: int | None = -1, /) -> bytes:
        check_deadline()
        try:
            check_cancelled()
        except Cancelled as error:
            raise RequestCancelled from error
        return super().read(size)


class Sender(Client):
    """A Client that also writes. Every method raises S3Error; those that send bytes also raise Cancelled."""

    server = ""
    """What the server calls itself, its version perhaps (the header Server); known from ``state``."""

    @property
    def _silence(self) -> float:
        return limits.WRITING.value

    @property
    def _wait_limits(self) -> WaitLimits:
        return WaitLimits(self._check_cancelled, max_seconds=limits.WRITING.value)

    @cached_property
    def _once(self) -> Any:
        """A client without retries, for requests that create objects: see ``confirmed``."""
        return boto_client(self.connection, self._silence, 1)

    def close(self) -> None:
        super().close()
        if "_once" in self.__dict__:
            self._once.close()

    @property
    def keeps_conditions(self) -> bool:
        """Whether the server is known to honour conditional writes."""
        return is_amazon(self.endpoint)

    def state(self, address: Address, log: RequestLog) -> tuple[Head, ObjectSettings]:
        """The head of an object, and the settings that preserve everything but its bytes."""
        call = self._s3.head_object
        answer = self._write("HEAD", address, log, call, proof=lambda _: False, ChecksumMode="ENABLED")
        self.server = str(answer["ResponseMetadata"]["HTTPHeaders"].get("server", ""))
        kept = {name: answer[name] for name in _KEPT if answer.get(name)}
        return head_of(answer), kept if crc32_of(answer) is None else kept | CHECKSUM

    def tags(self, address: Address, log: RequestLog) -> str:
        """The URL-encoded tags of an object; empty for servers without tags."""
        try:  # Ceph's radosgw leaves out an empty TagSet
            call = self._s3.get_object_tagging
            answer = self._write("GET", address, log, call, proof=lambda answer: "TagSet" in answer)
        except S3Error as error:
            if error.status in _NO_TAGS:
                return ""
            raise
        return urlencode([(str(each["Key"]), str(each["Value"])) for each in answer.get("TagSet") or ()])

    def tag(self, address: Address, tags: str, log: RequestLog) -> None:
        """Set the tags of an object."""
        pairs = [{"Key": key, "Value": value} for key, value in parse_qsl(tags, keep_blank_values=True)]
        self._write("PUT", address, log, self._s3.put_object_tagging, Tagging={"TagSet": pairs})

    def put(
        self, address: Address, data: bytes, kept: ObjectSettings, condition: ObjectSettings, log: RequestLog
    ) -> str:
        """Create an object if ``condition`` (IfMatch, IfNoneMatch) holds; returns its ETag."""
        given = {name: value for name, value in kept.items() if name not in CHECKSUM}
        if len(given) < len(kept):
            given |= {"ChecksumAlgorithm": "CRC32", "ChecksumCRC32": crc32_text(data)}
        call = self._once.put_object
        return str(self._write("PUT", address, log, call, ("ETag",), data=data, **given, **condition)["ETag"])

    def begin(self, address: Address, kept: ObjectSettings, log: RequestLog) -> Upload:
        """Start a multipart upload."""
        answer = self._write("POST", address, log, self._s3.create_multipart_upload, ("UploadId",), **kept)
        upload = str(answer["UploadId"])
        return Upload(address, upload, "ChecksumType" in kept, note(self.endpoint, address, upload))

    def send(self, upload: Upload, number: int, data: bytes, log: RequestLog) -> Part:
        crc = crc32_text(data) if upload.checksum else ""
        words: dict[str, Any] = {"UploadId": upload.id, "PartNumber": number} | ({"ChecksumCRC32": crc} if crc else {})
        answer = self._write("PUT", upload.address, log, self._s3.upload_part, ("ETag",), data=data, **words)
        return Part(number, str(answer["ETag"]), crc)

    def copy(self, upload: Upload, number: int, source: Address, head: Head, asked: ByteRange, log: RequestLog) -> Part:
        """Let the server copy a part from an object, if that still has this ``head``."""
        words: dict[str, Any] = {"UploadId": upload.id, "PartNumber": number}
        words["CopySource"] = named(source) | ({"VersionId": head.version} if head.version else {})
        words |= {} if asked == (0, head.size) else {"CopySourceRange": asked.header}
        words |= {"CopySourceIfMatch": head.etag} if head.etag else {}
        answer = self._write("COPY", upload.address, log, self._s3.upload_part_copy, asked=asked, **words)
        result = answer.get("CopyPartResult")
        if not result:  # it treated the request as an upload of no bytes
            raise S3Error("The server does not copy.", NOT_IMPLEMENTED, "NotImplemented")
        return Part(number, str(result["ETag"]), str(result.get("ChecksumCRC32") or "") if upload.checksum else "")

    def complete(self, upload: Upload, parts: Sequence[Part], condition: ObjectSettings, log: RequestLog) -> str:
        """Create the object if ``condition`` (IfMatch, IfNoneMatch) holds; returns its ETag.

        Ceph's radosgw 16 ignores the condition, and omits the ETag.
        """
        words: dict[str, Any] = {"ChecksumType": "FULL_OBJECT"} if upload.checksum else {}
        words |= {"UploadId": upload.id, "MultipartUpload": {"Parts": [part.listed for part in sorted(parts)]}}
        call, one_of = self._once.complete_multipart_upload, ("ETag", "Key", "Location")
        answer = self._write("POST", upload.address, log, call, one_of, **words, **condition)
        upload.ended()
        return str(answer.get("ETag") or "") or etag_of(parts)

    def abort(self, upload: Upload, log: RequestLog) -> None:
        """Abort an upload and remove its parts."""
        try:
            self._write("DELETE", upload.address, log, self._s3.abort_multipart_upload, UploadId=upload.id)
        except S3Error as error:
            if error.status == _GONE:
                upload.ended()
            elif upload.note is not None:
                upload.note.leave()
            raise
        upload.ended()

    def abandon(self, upload: Upload, log: RequestLog) -> str:
        """Abort an upload, whatever comes; returns a sentence if its parts are left."""
        try:
            self.abort(upload, log)
        except S3Error as error:
            if error.status != _GONE:
                return (
                    f"The uploaded parts of {visible(upload.address.location)} could not be removed "
                    f"({str(error).rstrip('.')}); they cost money until the upload {visible(upload.id)} is "
                    f"aborted{hint(Hint.REMOVE_UNFINISHED)}."
                )
        return ""

    def uploads(self, folder: Address, log: RequestLog) -> list[tuple[str, str]]:
        """The keys and ids of unfinished uploads in a prefix, of any program; at most the first thousand."""
        call, one_of = self._s3.list_multipart_uploads, ("Bucket", "IsTruncated", "Uploads")
        answer = self._ask("LIST", folder, log, Why.LISTING, call, one_of, Bucket=folder.bucket, Prefix=folder.key)
        return [(str(each["Key"]), str(each["UploadId"])) for each in answer.get("Uploads") or ()]

    def remove_all(self, address: Address, log: RequestLog) -> None:
        """Delete an object of this program, and all its versions where the bucket keeps them."""
        if not self.remove(address, log).get("DeleteMarker"):
            return
        call = self._s3.list_object_versions
        listed = self._ask("LIST", address, log, Why.WRITING, call, Bucket=address.bucket, Prefix=address.key)
        for each in (*listed.get("Versions", ()), *listed.get("DeleteMarkers", ())):
            self.remove(address, log, VersionId=each["VersionId"])

    def remove(self, address: Address, log: RequestLog, **version: Any) -> Any:
        """Delete an object that was just created; returns the response."""
        return self._write("DELETE", address, log, self._s3.delete_object, **version)

    def _write(
        self,
        method: str,
        address: Address,
        log: RequestLog,
        call: Callable[..., Any],
        one_of: tuple[str, ...] = (),
        asked: ByteRange = NO_BYTES,
        data: bytes | None = None,
        proof: Callable[[Any], bool] | None = None,
        **words: Any,
    ) -> Any:
        """The answer to a request about an object, with ``data`` as its body; errors are those of writing."""
        digest = hashlib.md5(data or b"", usedforsecurity=False)
        if data is not None:
            words |= {"Body": _Body(data), "ContentMD5": b64encode(digest.digest()).decode()}
            asked = ByteRange(0, len(data))
        try:
            said = proof or (lambda answer: data is None or str(answer["ETag"]).strip('"') == digest.hexdigest())
            return self._ask(method, address, log, Why.WRITING, call, one_of, asked, said, **named(address), **words)
        except S3Error as error:
            raise writing_error(error, address, self.endpoint) from error.__cause__

    def _note(self, entry: Request, answer: Any) -> None:
        """Responses to writes may have the content type of a web page, so their content is checked instead."""
        self._note_status(entry, answer)
        if entry.method == "DELETE" and entry.status != _NO_CONTENT:
            raise ForeignAnswerError  # a page, not the answer of S3, which has no content

    def _check_cancelled(self) -> None:
        """Do not cancel: only the response tells whether the write was done."""


def crc32_text(data: bytes) -> str:
    """The CRC-32 as servers write it."""
    return b64encode(crc32(data).to_bytes(4, "big")).decode()


@cache
def sender_for(connection: Connection) -> Sender:
    """The cached sender for a connection. Raises SourceError."""
    return Sender(connection)


def etag_of(parts: Sequence[Part]) -> str:
    """The ETag that most servers assign to an object of these parts; empty if theirs are not MD5."""
    try:
        digests = b"".join(bytes.fromhex(part.etag.strip('"')) for part in sorted(parts))
    except ValueError:
        return ""
    return f'"{hashlib.md5(digests, usedforsecurity=False).hexdigest()}-{len(parts)}"'


# ---- notes -----------------------------------------------------------------------------------------------------------

_MAX_NOTE_BYTES = 1 << 14
"""A key has at most 1,024 bytes."""
_SUFFIX = ".upload"


class _Note(Struct):
    """What is written of an upload: server, address, and the id assigned by the server; no secrets."""

    endpoint: str
    bucket: str
    key: str
    upload: str


class UploadRecord(Struct, frozen=True):
    """The note of an upload in the file at ``path``; ``descriptor`` is that of the file, which is locked while open."""

    path: Path
    descriptor: int

    def forget(self) -> None:
        """Remove the note: the upload has ended."""
        self.leave()
        with contextlib.suppress(OSError):
            self.path.unlink()

    def leave(self) -> None:
        """Unlock the note: the upload is abandoned but exists. Call once, or ``forget``."""
        with contextlib.suppress(OSError):
            os.close(self.descriptor)


def note(endpoint: str, address: Address, upload: str) -> UploadRecord | None:
    """Note a started upload; None if that fails, which does not stop the upload."""
    disk, folder, descriptor = Disk(), _folder(), -1
    path = folder / f"{secrets.token_hex(8)}{_SUFFIX}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = disk.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        disk.lock(descriptor)  # before it has content, so that no other process takes it over
        said = _Note(strip_credentials(endpoint), address.bucket, address.key, upload)
        write_all(disk, descriptor, msgspec.json.encode(said), 0)
    except OSError:
        if descriptor >= 0:
            UploadRecord(path, descriptor).forget()
        return None
    return UploadRecord(path, descriptor)


def noted(endpoint: str, bucket: str) -> Iterator[Upload]:
    """The noted uploads of a bucket, with locked notes; without one if the upload is in progress.

    The caller has to ``forget`` or ``leave`` each note.
    """
    disk, wanted = Disk(), (strip_credentials(endpoint), bucket)
    for path in _paths():
        with contextlib.suppress(OSError):
            found: UploadRecord | None = UploadRecord(path, disk.open(path, os.O_RDWR))
            assert found is not None
            try:
                said = msgspec.json.decode(read_all(disk, found.descriptor, _MAX_NOTE_BYTES, 0), type=_Note)
            except (msgspec.DecodeError, RecursionError):
                said = _Note("", "", "", "")
            if (said.endpoint, said.bucket) != wanted:
                found.leave()
                continue
            try:
                disk.lock(found.descriptor)
            except OSError:
                found.leave()
                found = None
            yield Upload(Address(said.bucket, said.key), said.upload, note=found)


def _paths() -> list[Path]:
    with contextlib.suppress(OSError):
        return sorted(each for each in _folder().iterdir() if each.suffix == _SUFFIX)
    return []


def _folder() -> Path:
    return platformdirs.user_state_path("archive-inspector", appauthor=False) / "uploads"


# ---- conditions ------------------------------------------------------------------------------------------------------

Result = TypeVar("Result")

_REMEMBERED_SECONDS = 7 * 86_400
"""A server may be another one afterwards, and not say so."""
_NOT_AS_BEFORE = 412
_UNKNOWN_THERE = (400, 405, NOT_IMPLEMENTED)
_FALSE_ETAGS = (f'"{"0" * 32}"', "0" * 32)
"""That of no object, in both forms that a condition may have."""


def require_condition(sender: Sender, address: Address, log: RequestLog, *, in_parts: bool) -> None:
    """Raise ConsentNeededError if writing could overwrite what someone else writes at that moment; also S3Error."""
    why = "this server does not refuse to overwrite an object that someone else replaced meanwhile"
    try:
        if is_enforced(sender, address, log, in_parts=in_parts):
            return
    except S3Error as error:
        if not error.is_refusal:
            raise
        why = f"whether this server would overwrite what someone else wrote meanwhile is unknown ({error})"
    raise ConsentNeededError(
        f"{visible(address.location)} was not changed: {why}. A look just before writing leaves a moment in which that "
        f"would be lost. If nobody else writes it now, say so{hint(Hint.UNCONDITIONAL)}.",
        Consent.UNCONDITIONAL,
    )


def replace_same(
    request: Callable[[ObjectSettings], Result], etag: str, still_there: Callable[[], object], consents: Consent
) -> Result:
    """Make the request that replaces the object with this ETag; where a form of it is not known, with another.

    Ceph's radosgw 16 compares it with an ETag that has no quotes. Without any condition only with that consent.
    ``still_there`` raises an exception if another object is there. Raises S3Error, and what the two raise.
    """
    conditions: list[ObjectSettings] = [{"IfMatch": etag}, {"IfMatch": etag.strip('"')}]
    if Consent.UNCONDITIONAL in consents:
        conditions.append({})
    for condition in conditions[:-1]:
        try:
            return request(condition)
        except S3Error as error:
            if error.status not in (_NOT_AS_BEFORE, NOT_IMPLEMENTED):
                raise
        still_there()
    return request(conditions[-1])


def is_enforced(sender: Sender, beside: Address, log: RequestLog, *, in_parts: bool) -> bool:
    """Whether If-Match holds for a PUT or, ``in_parts``, for the completion of an upload. Raises S3Error."""
    if sender.keeps_conditions:
        return True
    with contextlib.suppress(OSError):
        path = _path(sender, in_parts=in_parts)
        if 0 <= time.time() - path.stat().st_mtime < _REMEMBERED_SECONDS:
            return path.read_bytes() == b"1"
    found = _tried(sender, beside, log, in_parts=in_parts)
    remember(sender, found, in_parts=in_parts)
    return found


def remember(sender: Sender, enforced: bool, *, in_parts: bool) -> None:
    """Keep an answer for the server, by its address and what it calls itself."""
    path = _path(sender, in_parts=in_parts)
    with contextlib.suppress(OSError, SourceError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with atomic_file(path, replace=True) as file:
            file.write(b"1" if enforced else b"0")


def _path(sender: Sender, *, in_parts: bool) -> Path:
    key = f"{strip_credentials(sender.endpoint)} {sender.server} {in_parts}"
    name = hashlib.blake2b(key.encode(), digest_size=12).hexdigest()
    return platformdirs.user_state_path("archive-inspector", appauthor=False) / "conditions" / name


def _is_refused(request: Callable[[ObjectSettings], object]) -> bool:
    for etag in _FALSE_ETAGS:
        try:
            request({"IfMatch": etag})
        except S3Error as error:
            if error.status in _UNKNOWN_THERE:
                return False
            if error.status != _NOT_AS_BEFORE:
                raise
        else:
            return False
    return True


def _tried(sender: Sender, beside: Address, log: RequestLog, *, in_parts: bool) -> bool:
    """Whether no false condition is accepted for a scratch object, which is removed whatever comes."""
    folder = beside.key.rpartition("/")[0]
    scratch = Address(beside.bucket, f"{folder}/.archive-inspector-{secrets.token_hex(8)}".lstrip("/"))
    may_be_there = True
    try:
        try:
            sender.put(scratch, b"1", {}, {}, log)
        except S3Error as error:
            may_be_there = not error.is_refusal
            raise
        if not in_parts:
            return _is_refused(lambda condition: sender.put(scratch, b"2", {}, condition, log))
        upload, found = sender.begin(scratch, {}, log), True
        try:
            parts = [sender.send(upload, 1, b"2", log)]
            found = _is_refused(lambda condition: sender.complete(upload, parts, condition, log))
        finally:
            if found:
                sender.abandon(upload, log)  # what is left is noted, to be aborted later
        return found
    finally:
        try:
            sender.remove_all(scratch, log)
        except S3Error as error:
            if may_be_there:
                raise S3Error(
                    f"A small object that was put beside it, to find out how the server treats conditions, could not "
                    f"be removed ({str(error).rstrip('.')}). Remove {visible(scratch.location)}.",
                    error.status,
                    error.code,
                ) from error
