"""Whether a server refuses to overwrite an object that someone else has replaced meanwhile.

Some accept If-Match and overwrite nevertheless, Ceph's radosgw 16 and others at the completion of a multipart upload.
That is found out with a scratch object beside the one to write, never with that itself, and remembered for some days.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import platformdirs

from inspector.core.names import visible
from inspector.core.program.hints import Hint, hint
from inspector.core.program.redaction import strip_credentials
from inspector.core.source import SourceError
from inspector.sources.local.atomic import atomic_file
from inspector.sources.s3.address import Address
from inspector.sources.s3.connection import Consent
from inspector.sources.s3.request_log import RequestLog
from inspector.sources.s3.sentences import ConsentNeededError, S3Error
from inspector.sources.s3.uploads.sender import NOT_IMPLEMENTED, ObjectSettings, Sender

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
