"""What a window and an audit say to each other: what is to be audited, how far it is, and results page by page."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from inspector.core.verdict import State
from inspector.sources.s3.connection import DEFAULT, Connection

MAX_STORED_FINDINGS = 20
"""The most findings that are kept of one archive, the worst; all are counted."""
UNCHECKED = "unchecked"
"""The state of an archive in which nothing wrong was seen, and of which not all was read."""
NO_ARCHIVE = "no archive"
"""The state of a file that was found and is of no format that is known."""
STATES = (State.SOUND.value, UNCHECKED, *(state.value for state in State if state is not State.SOUND))
"""The states of archives, best first."""


@dataclass(frozen=True, slots=True)
class Result:
    """What an audit knows of one file; plain values.

    ``size`` is the file's in bytes, ``stamp`` see Found; ``quick``: only the structure was read. ``state`` is one of
    STATES, or NO_ARCHIVE. ``errors``, ``warnings`` and ``infos`` count findings; ``findings`` is JSON, a list of the
    worst as ``check --json`` writes them, ``code`` that of the first. ``seconds`` is how long it took, ``finished``
    when that was (seconds since 1970). ``again``: the reason may lie outside of the file, so it is tried again.
    ``attempts`` is how often the file was audited.
    """

    location: str
    size: int
    stamp: str
    quick: bool
    state: str
    format: str | None = None
    members: int = 0
    errors: int = 0
    warnings: int = 0
    infos: int = 0
    code: str = ""
    sentence: str = ""
    findings: str = "[]"
    seconds: float = 0.0
    finished: float = 0.0
    again: bool = False
    attempts: int = 1

    @property
    def read(self) -> int:
        """How many bytes of it were read: of one that could not be read, none."""
        return 0 if self.state == State.UNREADABLE else self.size

    def as_object(self) -> dict[str, Any]:
        """The object that scripts read: that of ``check --json``, with what only an audit knows."""
        return {
            "source": self.location,
            "format": self.format,
            "state": self.state,
            "members": self.members,
            "bytes": self.size,
            "findings": json.loads(self.findings),
            "counts": {"error": self.errors, "warning": self.warnings, "info": self.infos},
            "quick": self.quick,
            "seconds": round(self.seconds, 3),
            "finished": round(self.finished, 3),
        }


@dataclass(frozen=True, slots=True)
class Query:
    """Which results, and in which order.

    ``sort`` is one of COLUMNS, states from the best to the worst, the locations deciding between equals; ``states``
    and ``formats`` are those wanted, all where there are none given; ``text`` stands in the location, the sentence or
    a code, whatever its case (of ASCII letters). Files that are no archives are left out unless their state is wanted.
    """

    sort: str = "location"
    descending: bool = False
    states: Collection[str] = ()
    formats: Collection[str] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Amount:
    """So many files, of so many bytes together."""

    files: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """An audit as it is asked for.

    ``results`` is the path of the file that keeps the results, empty where they are kept until the end only;
    ``sample`` is in per cent; ``workers`` are processes, 0 for as many as there are processors.
    """

    place: str
    quick: bool = False
    sample: float = 100.0
    workers: int = 0
    results: str = ""
    connection: Connection = DEFAULT


@dataclass(frozen=True, slots=True)
class Standing:
    """How far an audit is: files done in all, of them those that were finished ``earlier``, and files left.

    ``states`` counts archives, ``formats`` are those that were found, ``others`` are files that are no archives.
    ``text`` sums up for a person what there is once the audit is over.
    """

    done: Amount = Amount()
    left: Amount = Amount()
    earlier: Amount = Amount()
    states: tuple[tuple[str, int], ...] = ()
    formats: tuple[str, ...] = ()
    others: int = 0
    text: str = ""


class ExportKind(StrEnum):
    """What results are written as; JSON is one object a line, those of the archives and then the summary."""

    CSV = "csv"
    JSON = "json"
