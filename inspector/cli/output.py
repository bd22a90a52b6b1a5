"""Standard output in large pieces, JSON that is safe in every terminal, and the sentences for standard error."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from json.encoder import encode_basestring_ascii as quoted
from types import TracebackType
from typing import Any

from inspector.cli.parser import PROGRAM
from inspector.core.names import visible
from inspector.core.redaction import strip_credentials

__all__ = ["Lines", "OutputError", "close_output", "complain", "flush", "json_text", "put", "quoted"]

_PIECE = 4096
"""Lines written at a time."""


class OutputError(Exception):
    """Standard output does not take what is written: the message is a sentence."""


@contextmanager
def _sentences() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # nobody reads on, which is no mistake
        raise
    except OSError as error:
        raise OutputError(f"Standard output could not be written: {(error.strerror or str(error)).lower()}.") from error


def close_output() -> None:
    """Let what is written from here on go nowhere: Python flushes once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def put(data: bytes) -> None:
    """Write to standard output; raises BrokenPipeError where nobody reads on, and OutputError."""
    with _sentences():
        sys.stdout.buffer.write(data)


def flush() -> None:
    """Let the reader have all of it; raises as ``put`` does."""
    with _sentences():
        sys.stdout.flush()


class Lines:
    """Text for standard output that is written many pieces at a time; a context manager, so that all of it is."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        # Names are printable by now, but a terminal may still know fewer characters than they hold.
        self._encoding = sys.stdout.encoding or "utf-8"

    def write(self, text: str) -> None:
        """Add text; line ends are the caller's."""
        self._pieces.append(text)
        if len(self._pieces) >= _PIECE:
            self._push()

    def flush(self) -> None:
        """Let the reader have all of it now."""
        self._push()
        flush()

    def _push(self) -> None:
        text, self._pieces = "".join(self._pieces), []
        put(text.encode(self._encoding, "backslashreplace"))

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.flush()


def json_text(value: Any) -> str:
    """A value as JSON in ASCII: no control character of a hostile name reaches the terminal.

    A number that JSON has no word for (infinity) becomes text.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return quoted(str(value))
    if isinstance(value, list):
        return f"[{', '.join(map(json_text, value))}]"
    return json.dumps(value)


def complain(sentence: str) -> None:
    """Say something on standard error."""
    print(f"{PROGRAM}: {visible(strip_credentials(sentence))}", file=sys.stderr)
