"""What was chosen for an archive that cannot show it, such as an RCA of one segment: a small file in the state folder.

Its name is a hash that the archive records of itself, so a copy or a renamed archive is known too. It holds the choice
and nothing of the archive. Without a state folder nothing is remembered.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import platformdirs

MAX_REMEMBERED = 1_000
"""Choices that are kept; beyond them the oldest are forgotten."""


def remember(digest: bytes, choice: str) -> None:
    """Remember a choice, an ASCII word, for the archive with this hash."""
    place = _place(digest)
    with contextlib.suppress(OSError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.write_text(choice, "ascii")
        for old in sorted(place.parent.iterdir(), key=lambda each: each.stat().st_mtime_ns)[:-MAX_REMEMBERED]:
            old.unlink()


def remembered(digest: bytes) -> str:
    """What was chosen for the archive with this hash; empty if that is not known."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return _place(digest).read_text("ascii")
    return ""


def _place(digest: bytes) -> Path:
    return platformdirs.user_state_path("archive-inspector", appauthor=False) / "choices" / digest.hex()
