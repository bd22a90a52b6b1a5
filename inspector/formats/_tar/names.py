"""Names of members that are dangerous to write to disk or doubtful to look at."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.core.archive import Emitter
from inspector.core.names import hazards, visible

TOLD = 100
"""The most members whose names are reported one by one; the rest are counted."""

_PLAIN = bytes(code for code in range(0x20, 0x7F) if code not in b"\\:") + b"\n"
_DOUBTFUL = (b"//", b"/.", b"./", b"\n/", b"\n.", b".\n")


class NameCheck:
    """Looks at names as members are listed. A leading ``./``, which tar programs write, is plain."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._found = 0

    def one(self, index: int, name: bytes, span: tuple[int, int]) -> None:
        """Look at the name of one member; ``span`` are the bytes that hold it."""
        rest = name.removeprefix(b"./")
        found = hazards(rest) if rest or not name else ()
        if name == b"." or not found:
            return
        self._found += 1
        if self._found <= TOLD:
            shown = visible(name)
            for words in found:
                self._emitter.warning("tar-name-hazard", f"The name {shown!r} {words}.", span, member=index)

    def many(self, first: int, names: Sequence[bytes], heads: Sequence[int]) -> None:
        """Look at the names of members from ``first`` on, whose headers stand at ``heads``.

        Each is at most 100 bytes long. What all plain names have in common is asked of all of them at once.
        """
        joined = b"\n" + b"\n".join(names) + b"\n"
        plain = not joined.translate(None, _PLAIN) and joined.count(b"\n") == len(names) + 1
        if plain and not any(doubtful in joined for doubtful in _DOUBTFUL):
            return
        for index, (name, head) in enumerate(zip(names, heads, strict=True), first):
            self.one(index, name, (head, head + 100))

    def close(self) -> None:
        """Say how many there were, where not all were reported."""
        if self._found > TOLD:
            self._emitter.warning("tar-name-hazard", f"{self._found:,} members in all have doubtful names.")
