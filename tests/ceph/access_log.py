"""What radosgw says that it was asked, from its own log."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from tests.patience import until

_BEGUN = "====== starting new request "
_ENDED = " beast: "
_LINE = re.compile(
    r' beast: \S+ \S+ - \S+ \[[^]]*\] "(?P<method>\w+) (?P<path>\S+) HTTP/1\.1" (?P<status>\d+) (?P<moved>\d+) '
    r'\S+ (?:"[^"]*"|-) (?P<range>\S+) latency='
)
_MARK = "mark-of-the-tests-"


class Logged(NamedTuple):
    """One request; ``moved`` are the bytes of the bodies of both directions, ``range`` is empty where there is none."""

    method: str
    path: str
    status: int
    moved: int
    range: str

    @property
    def listing(self) -> bool:
        return "list-type" in parse_qs(urlsplit(self.path).query)

    def __str__(self) -> str:
        return f"{'LIST' if self.listing else self.method} {unquote(urlsplit(self.path).path)} {self.range}".strip()


class AccessLog:
    """``ask`` asks the server for a path that is not there: when that stands in the log, so does all before it."""

    def __init__(self, path: Path, ask: Callable[[str], None]) -> None:
        self._path = path
        self._ask = ask
        self._from = 0

    def forget(self) -> None:
        """Let what was asked until now be out of the account."""
        self.requests()
        self._from = self._path.stat().st_size

    def requests(self) -> list[Logged]:
        """What was asked since ``forget``, in order."""
        mark = _MARK + uuid.uuid4().hex
        self._ask(mark)
        text = until(lambda: self._up_to(mark), "what was asked in the log of radosgw")
        found = [
            Logged(each["method"], each["path"], int(each["status"]), int(each["moved"]), each["range"].strip("-"))
            for each in _LINE.finditer(text)
        ]
        assert len(found) == text.count(_ENDED), f"the log has lines that are not understood: {text}"
        return [each for each in found if _MARK not in each.path]

    def asked(self) -> list[str]:
        """The same in words: ``GET /bucket/key bytes=0-9``."""
        return [str(each) for each in self.requests()]

    @property
    def moved(self) -> int:
        """The bytes of all bodies."""
        return sum(each.moved for each in self.requests())

    def _text(self) -> str:
        with self._path.open("rb") as file:
            file.seek(self._from)
            return file.read().decode(errors="replace")

    def _up_to(self, mark: str) -> str:
        """The log, empty until it is complete: requests are logged when they end, so others may be outstanding."""
        text = self._text()
        return text if mark in text and text.endswith("\n") and text.count(_BEGUN) == text.count(_ENDED) else ""
