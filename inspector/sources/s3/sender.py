"""The requests that write, and no others: they are made on a user's word only."""

from __future__ import annotations

import hashlib
import io
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from isal.isal_zlib import crc32

from inspector.core import limits
from inspector.core.progress import Cancelled
from inspector.sources.s3.abort import Patience, Stopped, look_at_the_clock
from inspector.sources.s3.address import Address
from inspector.sources.s3.cancelling import look
from inspector.sources.s3.client import ATTEMPTS, Client, Entry, made_client
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.ledger import Ledger, Why
from inspector.sources.s3.responses import Asked, Begun, Head, begun_of, crc32_of, head_of, is_web_page
from inspector.sources.s3.sentences import ForeignAnswerError, S3Error, WebPageError, writing_error
from inspector.sources.s3.upload_notes import Note, note

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
"""What an object is given when it is made, and says of itself under the same names."""
CHECKSUM = {"ChecksumAlgorithm": "CRC32", "ChecksumType": "FULL_OBJECT"}
"""What asks a server to keep a CRC-32 of the whole object."""
_NO_TAGS = (400, 404, 405, 501)
"""How servers answer that do not know tags."""
NOT_IMPLEMENTED = 501
_GONE = 404
_NO_CHECKSUMS = ("InvalidRequest", "InvalidArgument", "UnsupportedArgument", "NotImplemented", "MalformedXML", "")
"""How servers answer, with 400 or NOT_IMPLEMENTED, that do not know checksums."""

Kept = Mapping[str, Any]
"""What a new object gets beside its bytes, as requests name it."""


class Part(NamedTuple):
    """A part of an object that is being made: its number from 1 on, and the ETag the server gave it.

    ``crc32`` is that of its bytes, in Base64, where the object is to have one.
    """

    number: int
    etag: str
    crc32: str = ""

    @property
    def listed(self) -> dict[str, Any]:
        """As the request that completes an upload names it."""
        named = {"PartNumber": self.number, "ETag": self.etag}
        return named | ({"ChecksumCRC32": self.crc32} if self.crc32 else {})


@dataclass(frozen=True, slots=True)
class Upload:
    """An object that is being made of parts; nothing of it is there before it is completed.

    ``checksum``: the server is to keep a CRC-32 of all its bytes.
    """

    address: Address
    id: str
    checksum: bool = False
    note: Note | None = None
    """What a later run knows it by, should this one be killed."""

    def ended(self) -> None:
        """It is completed or aborted, or the server does not know it any more."""
        if self.note is not None:
            self.note.forget()


def settled(request: Callable[[], str], found: Callable[[S3Error], str]) -> str:
    """The ETag of the object that a request lets be there.

    Where its answer is lost, ``found`` looks for the object: it gives its ETag, empty where what was there before still
    is, and raises where nobody can know. Only then, or where the server has put it off, is the request made again.
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


def knows_no_checksums(error: S3Error) -> bool:
    """Whether a server that answers so may do the same without a checksum."""
    return error.status in (400, NOT_IMPLEMENTED) and error.code in _NO_CHECKSUMS


class _Body(io.BytesIO):
    """Bytes on their way; at every piece the user may have had enough."""

    def read(self, size: int | None = -1, /) -> bytes:
        """See io.BytesIO."""
        look_at_the_clock()
        try:
            look()
        except Cancelled as error:
            raise Stopped from error
        return super().read(size)


class Sender(Client):
    """One way of writing to S3. Every method raises S3Error, and those that send bytes Cancelled."""

    @property
    def _silence(self) -> float:
        return limits.WRITING.value

    @property
    def _patience(self) -> Patience:
        return Patience(self._look, within=limits.WRITING.value)

    @cached_property
    def _once(self) -> Any:
        """For requests that let an object be there: what came of one is looked at before it is made again."""
        return made_client(self.connection, self._silence, 1)

    def close(self) -> None:
        """See Client."""
        super().close()
        if "_once" in self.__dict__:
            self._once.close()

    @property
    def keeps_conditions(self) -> bool:
        """Whether the server is known to hold to the conditions of requests that write."""
        host = self.endpoint.partition("://")[2].partition("/")[0]
        return host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu"))

    def state(self, address: Address, ledger: Ledger) -> tuple[Head, Kept]:
        """What an object is now, and what a new one in its place is to be given so that only bytes change."""
        with self._writing("HEAD", address, Asked(0), ledger) as entry:
            answer = self._s3.head_object(Bucket=address.bucket, Key=address.key, ChecksumMode="ENABLED", **self._extra)
            self._note(entry, answer)
            if is_web_page(answer):
                raise WebPageError
        kept = {name: answer[name] for name in _KEPT if answer.get(name)}
        return head_of(answer), kept if crc32_of(answer) is None else kept | CHECKSUM

    def tags(self, address: Address, ledger: Ledger) -> str:
        """The tags of an object, as requests name them; none where the server does not know tags."""
        try:
            with self._writing("GET", address, Asked(0), ledger) as entry:
                answer = self._s3.get_object_tagging(Bucket=address.bucket, Key=address.key, **self._extra)
                self._note(entry, answer)
                if "TagSet" not in answer and is_web_page(answer):  # Ceph's radosgw leaves out an empty one
                    raise WebPageError
        except S3Error as error:
            if error.status in _NO_TAGS:
                return ""
            raise
        return urlencode([(str(each["Key"]), str(each["Value"])) for each in answer.get("TagSet") or ()])

    def tag(self, address: Address, tags: str, ledger: Ledger) -> None:
        """Give an object tags, as ``tags`` gives them."""
        pairs = [{"Key": key, "Value": value} for key, value in parse_qsl(tags, keep_blank_values=True)]
        with self._writing("PUT", address, Asked(0), ledger) as entry:
            answer = self._s3.put_object_tagging(
                Bucket=address.bucket, Key=address.key, Tagging={"TagSet": pairs}, **self._extra
            )
            self._note(entry, answer)

    def put(self, address: Address, data: bytes, kept: Kept, condition: Kept, ledger: Ledger) -> str:
        """Make an object of bytes, where ``condition`` (IfMatch, IfNoneMatch) holds; its ETag."""
        given = {name: value for name, value in kept.items() if name not in CHECKSUM}
        if len(given) < len(kept):
            given |= {"ChecksumAlgorithm": "CRC32", "ChecksumCRC32": _crc32(data)}
        with self._sending("PUT", address, Asked(0, len(data)), ledger, data) as (entry, body):
            answer = self._once.put_object(
                Bucket=address.bucket, Key=address.key, Body=body, **given, **condition, **self._extra
            )
            self._note(entry, answer)
            _see_that_it_took(answer, data)
        return str(answer["ETag"])

    def begin(self, address: Address, kept: Kept, ledger: Ledger) -> Upload:
        """Begin to make an object of parts."""
        with self._writing("POST", address, Asked(0), ledger) as entry:
            answer = self._s3.create_multipart_upload(Bucket=address.bucket, Key=address.key, **kept, **self._extra)
            self._note(entry, answer)
            _see_that_it_has(answer, "UploadId")
        upload = str(answer["UploadId"])
        return Upload(address, upload, "ChecksumType" in kept, note(self.endpoint, address, upload))

    def send(self, upload: Upload, number: int, data: bytes, ledger: Ledger) -> Part:
        """Send a part."""
        address = upload.address
        crc = _crc32(data) if upload.checksum else ""
        with self._sending("PUT", address, Asked(0, len(data)), ledger, data) as (entry, body):
            answer = self._s3.upload_part(
                Bucket=address.bucket,
                Key=address.key,
                UploadId=upload.id,
                PartNumber=number,
                Body=body,
                **({"ChecksumCRC32": crc} if crc else {}),
                **self._extra,
            )
            self._note(entry, answer)
            _see_that_it_took(answer, data)
        return Part(number, str(answer["ETag"]), crc)

    def copy(self, upload: Upload, number: int, source: Address, head: Head, asked: Asked, ledger: Ledger) -> Part:
        """Let the server make a part of bytes of an object, if that is still the one ``head`` tells of."""
        address = upload.address
        origin = {"Bucket": source.bucket, "Key": source.key}
        if head.version:
            origin["VersionId"] = head.version
        with self._writing("COPY", address, asked, ledger) as entry:
            answer = self._s3.upload_part_copy(
                Bucket=address.bucket,
                Key=address.key,
                UploadId=upload.id,
                PartNumber=number,
                CopySource=origin,
                CopySourceRange=asked.header,
                **({"CopySourceIfMatch": head.etag} if head.etag else {}),
                **self._extra,
            )
            self._note(entry, answer)
        result = answer.get("CopyPartResult")
        if not result:  # it took the request for one that sends nothing
            raise S3Error("The server does not copy.", NOT_IMPLEMENTED, "NotImplemented")
        return Part(number, str(result["ETag"]), str(result.get("ChecksumCRC32") or "") if upload.checksum else "")

    def complete(self, upload: Upload, parts: Sequence[Part], condition: Kept, ledger: Ledger) -> str:
        """Let the object be there, where ``condition`` (IfMatch, IfNoneMatch) holds; its ETag.

        Ceph's radosgw 16 takes no notice of the condition, and leaves out the ETag.
        """
        address = upload.address
        whole = {"ChecksumType": "FULL_OBJECT"} if upload.checksum else {}
        with self._writing("POST", address, Asked(0), ledger) as entry:
            answer = self._once.complete_multipart_upload(
                Bucket=address.bucket,
                Key=address.key,
                UploadId=upload.id,
                MultipartUpload={"Parts": [part.listed for part in sorted(parts)]},
                **whole,
                **condition,
                **self._extra,
            )
            self._note(entry, answer)
            _see_that_it_has(answer, "ETag", "Key", "Location")
        upload.ended()
        return str(answer.get("ETag") or "") or etag_of(parts)

    def abort(self, upload: Upload, ledger: Ledger) -> None:
        """Let nothing be left of an upload."""
        address = upload.address
        try:
            with self._writing("DELETE", address, Asked(0), ledger) as entry:
                answer = self._s3.abort_multipart_upload(
                    Bucket=address.bucket, Key=address.key, UploadId=upload.id, **self._extra
                )
                self._note(entry, answer)
        except S3Error as error:
            if error.status == _GONE:
                upload.ended()
            elif upload.note is not None:
                upload.note.leave()
            raise
        upload.ended()

    def uploads(self, folder: Address, ledger: Ledger) -> tuple[Begun, ...]:
        """The uploads that were begun in a prefix, whoever did it, and not ended; the first thousand of them."""
        with self._asking("LIST", folder, Asked(0), ledger, Why.LISTING) as entry:
            answer = self._s3.list_multipart_uploads(Bucket=folder.bucket, Prefix=folder.key, **self._extra)
            self._note(entry, answer)
            _see_that_it_has(answer, "Bucket", "IsTruncated", "Uploads")
            return begun_of(answer)

    def remove(self, address: Address, ledger: Ledger) -> None:
        """Take an object away that was made a moment ago."""
        with self._writing("DELETE", address, Asked(0), ledger) as entry:
            answer = self._s3.delete_object(Bucket=address.bucket, Key=address.key, **self._extra)
            self._note(entry, answer)

    def _note(self, entry: Entry, answer: Any) -> None:
        """See Client; servers call what they answer to requests that write a web page, too, so it is looked into."""
        self._note_status(entry, answer)

    def _look(self) -> None:
        """Whether it was done is only known when the answer has come, so that is waited for."""

    @contextmanager
    def _writing(self, method: str, address: Address, asked: Asked, ledger: Ledger) -> Iterator[Any]:
        try:
            with self._asking(method, address, asked, ledger, Why.WRITING) as entry:
                yield entry
        except S3Error as error:
            raise writing_error(error, address, self.endpoint) from error.__cause__

    @contextmanager
    def _sending(
        self, method: str, address: Address, asked: Asked, ledger: Ledger, data: bytes
    ) -> Iterator[tuple[Any, _Body]]:
        with self._writing(method, address, asked, ledger) as entry, _Body(data) as body:
            yield entry, body
            entry.sent = len(data)


def _see_that_it_has(answer: Any, *names: str) -> None:
    """Raise ForeignAnswerError where an answer has nothing of what S3 answers: then nobody knows what was done."""
    if not any(name in answer for name in names):
        raise ForeignAnswerError


def _see_that_it_took(answer: Any, data: bytes) -> None:
    """The same of an answer to bytes that were sent; a web page may have an ETag of its own."""
    _see_that_it_has(answer, "ETag")
    if is_web_page(answer) and str(answer["ETag"]).strip('"') != hashlib.md5(data, usedforsecurity=False).hexdigest():
        raise WebPageError


def _crc32(data: bytes) -> str:
    return b64encode(crc32(data).to_bytes(4, "big")).decode()


@cache
def sender_for(connection: Connection) -> Sender:
    """The sender for a connection, made once. Raises SourceError."""
    return Sender(connection)


def etag_of(parts: Sequence[Part]) -> str:
    """The ETag that most servers give to an object made of these parts; empty where theirs are no MD5."""
    try:
        digests = b"".join(bytes.fromhex(part.etag.strip('"')) for part in sorted(parts))
    except ValueError:
        return ""
    return f'"{hashlib.md5(digests, usedforsecurity=False).hexdigest()}-{len(parts)}"'
