"""The words for what the program judges. Programs read the values themselves; the window shows them in its language."""

from __future__ import annotations

from enum import StrEnum

from inspector.core.translation import marked, tr

WORDS = (
    *(marked("error"), marked("warning"), marked("info")),
    *(marked("not checked"), marked("verified"), marked("mismatch"), marked("not checkable")),
    *(marked("sound"), marked("torn"), marked("damaged"), marked("unreadable")),
    *(marked("not read yet"), marked("being checked"), marked("with warnings")),
    marked("sound, but without hashes for all of it"),
    *(marked("file"), marked("inner stream"), marked("content")),
    *(marked("header"), marked("index or directory"), marked("digest or checksum"), marked("length or offset")),
    *(marked("name"), marked("member data"), marked("reset or control"), marked("padding"), marked("gap")),
    marked("garbage"),
    *(marked("archives"), marked("buckets"), marked("entries"), marked("files"), marked("folders"), marked("members")),
    *(marked("objects"), marked("profiles")),
    *(marked("with metadata"), marked("with an index, the later layout"), marked("without metadata")),
)
"""The values of Severity, Verdict, State, RangeState, LayerKind, Role and Beside, and what work counts."""


def word(value: StrEnum) -> str:
    """What the window calls one of these values."""
    return tr(value.value)
