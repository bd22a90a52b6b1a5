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


def recognise(source: Source) -> Format | None:
    """The format of ``source``: content first, then the suffix where the content does not tell."""
    likeness = {candidate.name: candidate.probe(source) for candidate in FORMATS}
    certain = [candidate for candidate in FORMATS if likeness[candidate.name] is Likeness.CERTAIN]
    if certain:
        return certain[0]
    name = source.name.lower()
    named = [candidate for candidate in FORMATS if name.endswith(candidate.suffixes)]
    possible = [candidate for candidate in FORMATS if likeness[candidate.name] is Likeness.POSSIBLE]
    return next(iter([candidate for candidate in named if candidate in possible] or named or possible), None)
