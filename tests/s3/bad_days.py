"""What servers and networks do on bad days, and how the sentence about it begins that the user reads.

The terminal and the window are held to the same list.
"""

from __future__ import annotations

from io import BytesIO
from typing import NamedTuple
from zipfile import ZIP_STORED, ZipFile

from tests.s3.proxy import Fault, Forward, Reply, Seen, answering, cut, ignoring, refuse, silent

MEMBERS = 30
MEMBER = 300_000

BRIEFLY = 3
"""Seconds that are waited for an answer on a day on which none comes; a busy machine needs some for any other."""


def wide(count: int = MEMBERS) -> bytes:
    """A ZIP archive whose members lie far from each other."""
    made = BytesIO()
    with ZipFile(made, "w", ZIP_STORED) as archive:
        for number in range(count):
            archive.writestr(f"{number:03}.bin", bytes([number]) * MEMBER)
    return made.getvalue()


class BadDay(NamedTuple):
    """``opening`` stands in what is said when the fault is there from the first request on, ``reading`` when later.

    ``patience``: seconds that are waited for an answer, 0 for as long as users wait.
    """

    name: str
    fault: Fault
    opening: str
    reading: str
    patience: int = 0


def hanging(_: Seen, forward: Forward) -> Reply:
    """A body is announced, and never comes."""
    reply = forward()
    reply.pause, reply.body = 3_600, reply.body or b"x"
    return reply


_HANGS = f"sent nothing for {BRIEFLY} seconds"

BAD_DAYS = (
    BadDay("403", refuse(403, "AccessDenied"), "is not allowed (403)", "is not allowed (403)"),
    BadDay("404", refuse(404, "NoSuchKey"), "does not exist", "does not exist"),
    BadDay("no bucket", refuse(404, "NoSuchBucket"), "There is no bucket archives", "There is no bucket archives"),
    BadDay("412", refuse(412, "PreconditionFailed"), "was replaced while", "was replaced while it was open"),
    BadDay("416", refuse(416, "InvalidRange"), "smaller than it was said", "smaller than it was said to be"),
    BadDay("503", refuse(503, "SlowDown"), "asks to slow down", "asks to slow down"),
    BadDay("500", refuse(500, "InternalError"), "and again after 3 tries", "and again after 3 tries"),
    BadDay("clock", refuse(403, "RequestTimeTooSkewed"), "The clock of this machine", "The clock of this machine"),
    BadDay("cut", cut(100), "broke off", "broke off"),
    BadDay("no answer", silent, "closed the connection without an answer", "closed the connection without an answer"),
    BadDay("hanging", hanging, _HANGS, _HANGS, BRIEFLY),
    BadDay(
        "other range",
        answering(Content_Range="bytes 7-9/9000000"),
        "sent other bytes of",
        "was replaced while it was open",
    ),
    BadDay(
        "no range", answering(Content_Range="bytes nonsense"), "does not report the size", "does not say which bytes"
    ),
    BadDay("other ETag", answering(ETag='"another"'), "was replaced", "was replaced while it was open"),
    BadDay("ignored Range", ignoring("Range"), "The server ignores ranges", "The server ignores ranges"),
)
