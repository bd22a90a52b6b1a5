"""Failures of writing in words. What was at the address is as it was, unless a sentence says otherwise."""

from __future__ import annotations

from inspector.core.edit import EditError
from inspector.core.names import visible
from inspector.sources.s3.address import Address
from inspector.sources.s3.sentences import S3Error, ways

_BY_CODE = {
    "NoSuchKey": "{what} does not exist any more: it was removed meanwhile.",
    "NoSuchUpload": "The server does not know the upload of {what} any more: it was aborted by someone else.",
    "EntityTooSmall": "The server wants larger parts of {what} than 5 MiB, so it cannot be changed this way.",
    "EntityTooLarge": "{what} would be larger than the server allows.",
    "ConditionalRequestConflict": (
        "{what} is being written by someone else at this moment. Open it again{by_again}, and look."
    ),
    "InvalidStorageClass": "The server does not know the storage class of {what}.",
    "QuotaExceeded": "There is no room left for {what}: the quota is used up.",
}
_BY_STATUS = {
    403: (
        "Writing {what} is not allowed (403): the credentials may read it, perhaps, but not change it. Try another "
        "profile{by_profile}."
    ),
    412: "{what} was replaced meanwhile: what is there now is another object. Open it again{by_again} to see what it "
    "is now.",
}
_BROKEN = (
    "IncompleteReadError",
    "ResponseStreamingError",
    "ConnectionClosedError",
    "ReadTimeoutError",
    "ConnectionError",
    "HTTPClientError",
)
_BROKEN_OFF = "The connection to {where} broke off while {what} was written."
_SAID_ELSEWHERE = (
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "ExpiredToken",
    "InvalidToken",
    "RequestTimeTooSkewed",
    "RequestExpired",
    "NoSuchBucket",
)
"""What is the same whether it is read or written."""


class CannotCopyError(EditError):
    """The server cannot copy parts: the change could only be made by sending the whole object."""


def writing_error(error: S3Error, address: Address, where: str) -> S3Error:
    """The error in words that fit writing; those that would be the same stay."""
    template = _BY_CODE.get(error.code)
    if template is None and error.code not in _SAID_ELSEWHERE:
        template = _BROKEN_OFF if error.code in _BROKEN else _BY_STATUS.get(error.status)
    if template is None:
        return error
    words = template.format(what=visible(address.location), where=visible(where), **ways())
    return S3Error(words, error.status, error.code)
