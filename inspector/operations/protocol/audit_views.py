"""Values about audits: what to audit, how far it is, and its results page by page."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from msgspec import Struct

from inspector.core.verdict import State
from inspector.sources.s3.connection import DEFAULT, Connection

MAX_STORED_FINDINGS = 20
"""Findings stored for one archive, the worst first; all are counted."""
UNCHECKED = "unchecked"
"""The state of an archive without known errors that was not read completely."""
NO_ARCHIVE = "no archive"
"""The state of a file that was found in a folder and has no known format."""
WAITING = "waiting"
"""The state of a file in a page of results that has none yet."""
STATES = (State.SOUND.value, UNCHECKED, *(state.value for state in State if state is not State.SOUND))
"""The states of archives, best first."""


class Result(Struct, frozen=True):
    """The result of auditing one file.

    ``size`` is in bytes; ``stamp`` is that of its target. ``quick``: only the structure was read. ``state`` is one of
    STATES, NO_ARCHIVE or, in a page of results, WAITING. ``errors``, ``warnings`` and ``infos`` count findings;
    ``findings`` is a JSON list of the worst, as ``check --json`` writes them, and ``code`` is that of the first.
    ``seconds`` is the duration, ``finished`` the time (seconds since 1970). ``again``: the cause may lie outside the
    file, so the next audit tries again. ``attempts`` counts the audits of the file.
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
        """The bytes that were read: none for an unreadable file."""
        return 0 if self.state == State.UNREADABLE else self.size

    def as_object(self) -> dict[str, Any]:
        """The JSON object: that of ``check --json`` and the keys of audits."""
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


class Query(Struct, frozen=True):
    """Which results to show, and in which order.

    ``sort`` is one of COLUMNS; states sort from best to worst, and equal values by location. Empty ``states`` and
    ``formats`` select all. ``text`` is searched in the location, the sentence and the findings, ignoring ASCII case.
    Files that are no archives are left out unless ``states`` names them.
    """

    sort: str = "location"
    descending: bool = False
    states: Collection[str] = ()
    formats: Collection[str] = ()
    text: str = ""


class Amount(Struct, frozen=True):
    """A number of files and their total size in bytes."""

    files: int = 0
    size: int = 0


class AuditRequest(Struct, frozen=True):
    """What to audit, and how. ``places`` are files, folders and prefixes; of each only once.

    ``results`` is the path of the results file; empty if results are only kept until the worker ends. ``workers`` is
    a number of processes, 0 for one per processor.
    """

    places: tuple[str, ...]
    quick: bool = False
    workers: int = 0
    results: str = ""
    connection: Connection = DEFAULT


class AuditStatus(Struct, frozen=True):
    """How far an audit is: all files done, those of them finished by an ``earlier`` audit, and files left.

    ``states`` counts archives, ``formats`` are those found, ``others`` counts files that are no archives. ``text``
    is the summary for people, empty while the audit runs.
    """

    done: Amount = Amount()
    left: Amount = Amount()
    earlier: Amount = Amount()
    states: tuple[tuple[str, int], ...] = ()
    formats: tuple[str, ...] = ()
    others: int = 0
    text: str = ""
