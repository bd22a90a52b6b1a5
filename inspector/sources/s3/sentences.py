"""Failures in words: what happened, to what, what it means, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from inspector.core import limits
from inspector.core.edit import EditError
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.program.hints import Hint, hint
from inspector.core.program.redaction import is_about_a_header, redacted
from inspector.core.source import SourceError
from inspector.sources.s3.address import Address, Place
from inspector.sources.s3.connection import Consent
from inspector.sources.s3.request_log import RequestLog


def hint_texts() -> dict[str, str]:
    """How the face calls what sentences point to, by the names that they have in templates."""
    return {f"by_{each.name.lower()}": hint(each) for each in Hint}


def replaced(what: str) -> str:
    """What is said of an object in whose place another one is."""
    return _REPLACED.format(what=visible(what), **hint_texts())


_TOO_MANY, _SERVER, _NOT_IMPLEMENTED = 429, 500, 501
_NEVER_SENT = (
    "NoCredentialsError",
    "PartialCredentialsError",
    "CredentialRetrievalError",
    "EndpointConnectionError",
    "ConnectTimeoutError",
    "ProxyConnectionError",
    "ParamValidationError",
)
"""What ends a request before it is sent."""


class Failure(Struct, frozen=True):
    """What was being done when it failed; without an address it was connecting."""

    address: Place | None
    at: int = 0
    method: str = ""
    where: str = "the server"


class S3Error(SourceError):
    """A SourceError with the server's ``status`` (0: there was no answer) and its ``code`` or the failure's name."""

    def __init__(self, message: str, status: int = 0, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.log: RequestLog | None = None
        """What was asked for until then, where nothing could be opened."""

    @property
    def is_put_off(self) -> bool:
        """Whether the server did nothing, and may do it when it is asked again."""
        return self.status == _TOO_MANY or self.code in ("SlowDown", "ServiceUnavailable")

    @property
    def is_lost(self) -> bool:
        """Whether nobody knows what the server has done: it failed, or the answer did not come."""
        if not self.status:
            return self.code not in _NEVER_SENT
        return self.status >= _SERVER and self.status != _NOT_IMPLEMENTED and not self.is_put_off

    @property
    def is_refusal(self) -> bool:
        """Whether the server will not do it however often it is asked: it may not be allowed, or not be known there."""
        return (400 <= self.status < 500 and self.status != _TOO_MANY) or self.status == _NOT_IMPLEMENTED


class WebPageError(Exception):
    """A web page came in the place of an answer."""


class ForeignAnswerError(Exception):
    """An answer is none that S3 gives."""


_REPLACED = (
    "{what} was replaced while it was open: the object that is there now is another one, so nothing more is read, lest "
    "the two be mixed. Open it again{by_again} to see what it is now."
)

_BY_CODE: Mapping[str, str] = {
    "NoSuchBucket": "There is no bucket {bucket} at {where}. Is its name right, and the endpoint{by_endpoint}?",
    "NoSuchKey": "{what} does not exist.",
    "NoSuchVersion": "This version of {what} does not exist any more. Open it again{by_again} to see what it is now.",
    "InvalidBucketName": "{bucket} is no name that a bucket can have.",
    "InvalidAccessKeyId": "The server does not know the access key that was used. Is it the right profile{by_profile}?",
    "SignatureDoesNotMatch": (
        "The server does not accept the signature of the request: the secret key of the profile is wrong, or a proxy "
        "changes requests on their way."
    ),
    "ExpiredToken": "The credentials have expired. Sign in again (aws sso login, for example), then try again.",
    "InvalidToken": "The server does not accept the session token. Sign in again, then try again.",
    "RequestTimeTooSkewed": (
        "The clock of this machine differs too much from that of the server, so it accepts no signature. Set the clock "
        "right, then try again."
    ),
    "RequestExpired": "The server says that the request is too old. Is the clock of this machine right?",
    "PreconditionFailed": _REPLACED,
    "InvalidObjectState": "{what} is in an archive class and has to be restored before it can be read.",
    "SlowDown": "The server asks to slow down, and did so again after {tries}. Try again later.",
    "AuthorizationHeaderMalformed": "The bucket {bucket} is in another region{region}. Name that region{by_region}.",
    "PermanentRedirect": (
        "The bucket {bucket} is in another region{region}. Name that region{by_region}, or its endpoint."
    ),
    "IllegalLocationConstraintException": "The bucket {bucket} is in another region. Name that region{by_region}.",
    "AccessDenied": "{denied}",
}

_BY_STATUS: Mapping[int, str] = {
    301: _BY_CODE["PermanentRedirect"],
    403: _BY_CODE["AccessDenied"],
    404: _BY_CODE["NoSuchKey"],
    412: _REPLACED,
    307: "The server at {where} sends the request elsewhere{region} (307). Name the region of the bucket{by_region}.",
    429: "The server at {where} asks to slow down (429). Try again later.",
    416: "{what} has no byte {at:,}: it is smaller than it was said to be. Open it again{by_again} to see.",
    503: "The server at {where} is not available now, and was not after {tries} either. Try again later.",
}

_TRIES = "3 tries"

_DENIED = (
    "Reading {what} is not allowed (403). The credentials have no right to it, or, where they may not list the bucket, "
    "there is no such object. Try another profile{by_profile} or, where it is public, open it without "
    "signing{by_unsigned}."
)

_BY_NAME: Mapping[str, str] = {
    "NoCredentialsError": (
        "No credentials were found to sign the request with. Name a profile{by_profile} or, where it is public, open "
        "it without signing{by_unsigned}."
    ),
    "PartialCredentialsError": "The credentials that were found are not complete. Look at the profile{by_profile}.",
    "ProfileNotFound": "There is no such profile: {error}. Name another one{by_profile}.",
    "EndpointConnectionError": (
        "There is no connection to {where}. Is there a network, and is the endpoint right{by_endpoint}?"
    ),
    "ConnectTimeoutError": (
        "{where} did not answer within {connecting}. Is there a network, and is the endpoint right{by_endpoint}?"
    ),
    "ReadTimeoutError": "{where} sent nothing for {answering} while {what} was read at byte {at:,}. Try again.",
    "TooSlow": (
        "{where} sends less than {slowest} a second of {what}, so it was given up at byte {at:,}. Try again later."
    ),
    "Overdue": "{where} took more than {writing} over {what}, so it was not waited for any longer.",
    "ConnectionClosedError": "{where} closed the connection without an answer. Try again.",
    "IncompleteReadError": "The connection to {where} broke off while {what} was read at byte {at:,}. Try again.",
    "ResponseStreamingError": "The connection to {where} broke off while {what} was read at byte {at:,}. Try again.",
    "ProxyConnectionError": "The proxy for {where} cannot be reached.",
    "SSLError": "The connection to {where} is not trustworthy: {error}.",
    "ParamValidationError": "{what} is no address that S3 can have: {error}.",
    "ResponseParserError": "What {where} answered is not what S3 answers. Is the endpoint right{by_endpoint}?",
    "ForeignAnswerError": "What {where} answered is not what S3 answers. Is the endpoint right{by_endpoint}?",
    "WebPageError": (
        "{where} answered with a web page instead of {what}. Does this network want a sign-in first, or is the "
        "endpoint another one{by_endpoint}?"
    ),
    "SSOTokenLoadError": "There is no valid sign-in for this profile. Sign in (aws sso login), then try again.",
    "UnauthorizedSSOTokenError": "The sign-in of this profile has expired. Sign in (aws sso login), then try again.",
    "TokenRetrievalError": "The sign-in of this profile has expired. Sign in (aws sso login), then try again.",
    "CredentialRetrievalError": (
        "The credentials of this profile could not be had: {error}. Run what its configuration names "
        "(credential_process, perhaps) by itself, or name another profile{by_profile}."
    ),
    "RecursionError": (
        "{where} sends the request in a circle: the bucket {bucket} may be in another region, or the endpoint wrong."
    ),
    "ConfigParseError": (
        "The configuration of AWS on this machine has a mistake in its syntax: {error}. Correct it there; no request "
        "can be made before."
    ),
    "EndpointError": (
        "The endpoint {endpoint} lacks the https:// or http:// that an address begins with. Put the right one before "
        "it{by_endpoint}."
    ),
}
"""By the names of exceptions, or of those they are made from."""
_NO_SCHEME = "Invalid endpoint: "
"""How botocore begins to say that an endpoint has no scheme."""
_HEADER = (
    "No request could be made: a key or a token has a character in it that none can have, a line break perhaps. Look "
    "at the environment, or at the profile{by_profile}."
)


def sentence(
    failure: Failure,
    error: BaseException,
    by_name: Mapping[str, str] = MappingProxyType({}),
    by_status: Mapping[int, str] = MappingProxyType({}),
) -> S3Error:
    """The sentence about what ended a request; ``by_name`` and ``by_status`` have other templates than those of S3."""
    response: Any = getattr(error, "response", None)
    if not isinstance(response, dict):
        names = [each.__name__ for each in type(error).__mro__]
        if str(error).startswith(_NO_SCHEME):
            names = ["EndpointError"]
        elif _is_circle(error):
            names = ["RecursionError"]
        known = _HEADER if is_about_a_header(str(error)) else _known(names, by_name)
        return S3Error(_fill(known or _unknown(failure), failure, error), 0, names[0])
    status = int((response.get("ResponseMetadata") or {}).get("HTTPStatusCode") or 0)
    code = str((response.get("Error") or {}).get("Code") or "")
    template = by_status.get(status) or _BY_CODE.get(code) or _BY_STATUS.get(status) or _refused(status)
    return S3Error(_fill(template, failure, error), status, code)


def _is_circle(error: BaseException | None) -> bool:
    """Whether botocore, which follows a redirect by calling itself, ran out of stack anywhere in a request."""
    while error is not None and not isinstance(error, RecursionError):
        error = error.__cause__ or error.__context__
    return error is not None


def _known(names: Sequence[str], by_name: Mapping[str, str]) -> str | None:
    every = {**_BY_NAME, **by_name}
    return next((every[name] for name in names if name in every), None)


def _refused(status: int) -> str:
    if status >= 500:
        return "The server at {where} failed ({error}), and again after {tries}. Try again later."
    return "The server at {where} refused to give {what}: {error}."


def _unknown(failure: Failure) -> str:
    return "No connection to S3 can be made: {error}." if failure.address is None else "{what} cannot be read: {error}."


def _fill(template: str, failure: Failure, error: BaseException) -> str:
    words = _template_values(failure, error)
    words["denied"] = _DENIED.format(**words)
    return template.format(**words)


def _template_values(failure: Failure, error: BaseException) -> dict[str, Any]:
    address: Place = failure.address or Address("", "")
    response: Any = getattr(error, "response", None) or {}
    details: Any = response.get("Error") or {}
    headers: Any = (response.get("ResponseMetadata") or {}).get("HTTPHeaders") or {}
    region = str(details.get("Region") or headers.get("x-amz-bucket-region") or "")
    words: Any = getattr(error, "kwargs", None) or {}
    return {
        "what": visible(address.location) if address.bucket else "S3",
        "bucket": visible(address.bucket),
        "where": visible(redacted(_server(str(words.get("endpoint_url") or details.get("Endpoint") or failure.where)))),
        "endpoint": visible(redacted(str(error).removeprefix(_NO_SCHEME))),
        "region": f", {visible(region)}" if region else "",
        "status": (response.get("ResponseMetadata") or {}).get("HTTPStatusCode"),
        "at": max(0, failure.at),
        "tries": _TRIES,
        "connecting": count(limits.CONNECTING.value, "second"),
        "answering": count(limits.ANSWERING.value, "second"),
        "writing": count(limits.WRITING.value, "second"),
        "slowest": in_bytes(limits.SLOWEST.value),
        "error": visible(redacted(_short(details, error))),
    } | hint_texts()


def _server(url: str) -> str:
    """The server in an address, without what is asked of it."""
    scheme, there, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}" if there else url


def _short(details: Any, error: BaseException) -> str:
    """What the server or the library says, as the end of a sentence."""
    code, message = str(details.get("Code") or ""), str(details.get("Message") or "")
    text = ": ".join(filter(None, (code, message))) or str(error) or type(error).__name__
    return " ".join(text.split())[:300].rstrip(".: ")


# ---- failures of writing: the target is unchanged unless a sentence says otherwise

_WRITING_BY_CODE = {
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
_WRITING_BY_STATUS = {
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
_SAME_AS_READING = (
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "ExpiredToken",
    "InvalidToken",
    "RequestTimeTooSkewed",
    "RequestExpired",
    "NoSuchBucket",
)
"""What is the same whether it is read or written."""


class ConsentNeededError(EditError):
    """Nothing was written, because the server can do it only in a way that needs ``consent``."""

    def __init__(self, message: str, consent: Consent) -> None:
        super().__init__(message)
        self.consent = consent


def writing_error(error: S3Error, address: Address, where: str) -> S3Error:
    """The error in words that fit writing; those that would be the same stay."""
    template = _WRITING_BY_CODE.get(error.code)
    if template is None and error.code not in _SAME_AS_READING:
        template = _BROKEN_OFF if error.code in _BROKEN else _WRITING_BY_STATUS.get(error.status)
    if template is None:
        return error
    words = template.format(what=visible(address.location), where=visible(where), **hint_texts())
    return S3Error(words, error.status, error.code)
