"""Names in ZIP: APPNOTE.TXT appendix D (code page 437, or UTF-8 by a flag) and what programs really write."""

from __future__ import annotations

import re

from inspector.core.archive import Emitter
from inspector.core.names import decoded, hazards, visible
from inspector.formats._zip.records import UTF_8

_PLAIN = re.compile(rb"[0-9A-Za-z_][0-9A-Za-z_. -]*(?:/[0-9A-Za-z_][0-9A-Za-z_. -]*)*/?")
_PLAIN_LONGEST = 200


def is_plain(name: bytes) -> bool:
    """Whether nothing can be said against the name, found fast; False means that one has to look closer."""
    return len(name) <= _PLAIN_LONGEST and _PLAIN.fullmatch(name) is not None


def path_of(name: bytes, flags: int) -> bytes:
    """The name as a member's path: UTF-8 where the bytes or the flag say so, else code page 437 turned into UTF-8."""
    if flags & UTF_8 or name.isascii() or decoded(name)[1]:
        return name
    return name.decode("cp437").encode()


def name_note(name: bytes, flags: int) -> str:
    """How the bytes of a name were read, empty where it is plain ASCII."""
    if name.isascii():
        return ""
    if not decoded(name)[1]:
        if flags & UTF_8:
            return "The flag says UTF-8, the bytes are not."
        return f"Not UTF-8, read as code page 437: {visible(path_of(name, flags))}"
    return "UTF-8" if flags & UTF_8 else "UTF-8, though the flag for it is not set."


def report_name(emitter: Emitter, name: bytes, flags: int, span: tuple[int, int], member: int) -> None:
    """Report what is doubtful about a name that is not plain."""
    path = path_of(name, flags)
    if not decoded(name)[1]:
        if flags & UTF_8:
            words = "is marked as UTF-8 and is not; it is shown with escapes"
            emitter.warning("zip-name-not-utf-8", f"The name of member {member} {words}.", span, member=member)
        else:
            words = f"is not UTF-8 and not marked so; it is read as code page 437: {visible(path)}"
            emitter.info("zip-name-cp437", f"The name of member {member} {words}.", span, member=member)
    elif not name.isascii() and not flags & UTF_8:
        words = "is UTF-8 without the flag that says so; strict readers show other characters"
        emitter.info("zip-name-unmarked-utf-8", f"The name {visible(name)} {words}.", span, member=member)
    for words in hazards(path):
        if words != "is not UTF-8":
            emitter.warning(
                "zip-name-hazard", f"The name of member {member}, {visible(path)}, {words}.", span, member=member
            )
