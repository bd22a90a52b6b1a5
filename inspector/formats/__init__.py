"""The formats, and which of them a source is."""

from __future__ import annotations

from inspector.core.format import Format, Likeness
from inspector.core.source import Source
from inspector.formats import caf, datas3t, rca, taco, tar
from inspector.formats import zip as plain_zip

FORMATS: tuple[Format, ...] = (
    caf.FORMAT,
    rca.FORMAT,
    taco.FORMAT,
    plain_zip.FORMAT,
    datas3t.FORMAT,
    datas3t.METADATA,
    datas3t.INDEX,
    tar.FORMAT,
)

_WIDER = {"taco": "zip", "datas3t": "tar"}
"""Formats that are a special case of another one: they are looked for wherever that is."""


def recognise(source: Source) -> Format | None:
    """The format of ``source``: content first, then the suffix where the content does not tell.

    Those that the suffix suggests are looked for first: each look may cost a request.
    """
    name = source.name.lower()
    named = [candidate for candidate in FORMATS if name.endswith(candidate.suffixes)]
    wider = {candidate.name for candidate in named}
    suggested = [candidate for candidate in FORMATS if {candidate.name, _WIDER.get(candidate.name)} & wider]
    possible: list[Format] = []
    for candidate in (*suggested, *(each for each in FORMATS if each not in suggested)):
        likeness = candidate.probe(source)
        if likeness is Likeness.CERTAIN:
            return candidate
        if likeness is Likeness.POSSIBLE:
            possible.append(candidate)
    possible.sort(key=FORMATS.index)
    return next(iter([candidate for candidate in named if candidate in possible] or named or possible), None)
