"""What is answered to a request that cannot be granted."""

from __future__ import annotations


class Refused(Exception):  # noqa: N818 - an answer rather than an error
    """What was asked for cannot be given; the message is a sentence for a person."""
