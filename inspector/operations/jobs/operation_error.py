"""What is answered to a request that cannot be granted."""

from __future__ import annotations

from inspector.core.program.redaction import strip_credentials


class OperationError(Exception):
    """What was asked for cannot be given; the message is a sentence for a person, with nothing secret in it."""

    def __init__(self, message: str) -> None:
        super().__init__(strip_credentials(message))
