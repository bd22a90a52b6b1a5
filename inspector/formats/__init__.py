"""All formats, and ``recognise``, which finds the format of a source."""

from __future__ import annotations

from inspector.core import codes
from inspector.core.archive import Archive
from inspector.core.cause import MEANINGS
from inspector.core.damage import Damage
from inspector.core.finding import FindingType, error
from inspector.core.format import Format, ProbeResult
from inspector.core.source import Source
from inspector.formats import ar, caf, datas3t, rca, taco, tar
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
    ar.FORMAT,
)

SEQUENTIAL_SUFFIXES = tuple(suffix for each in FORMATS for suffix in each.sequential)
"""Suffixes of files that are read from their beginning; others have an index at their end."""
CONCERNS = {code: concern for each in FORMATS for code, concern in each.concerns.items()}
"""What errors concern that name a member and do not show that its content is wrong, by their code."""


def formats() -> tuple[Format, ...]:
    """All formats: those of the program, then those of packages and files that the user named."""
    from inspector.formats._own import own_formats  # few files need them

    return (*FORMATS, *own_formats())


def declared() -> dict[str, FindingType]:
    """What every finding means, by its code: those of the formats, of any file, and the causes."""
    own = (each for known in formats() for each in known.findings)
    causes = (error(code, *words) for code, words in MEANINGS.items())
    return {str(each.code): each for each in (*own, *codes.FINDINGS, *causes)}


def format_of(archive: Archive) -> Format | None:
    """The format of an archive; None for plain bytes."""
    known = next((each for each in FORMATS if each.name == archive.format), None)
    return known or next((each for each in formats() if each.name == archive.format), None)


def damage_of(archive: Archive) -> Damage:
    """What the format of an archive knows of damaged files; nothing for plain bytes."""
    known = format_of(archive)
    return Damage() if known is None else known.damage()


def recognise(source: Source) -> Format | None:
    """The format of ``source``: by content, or by suffix if the content does not tell; None if neither does.

    Formats that the suffix suggests are probed first, because each probe may cost a request.
    """
    name = source.name.lower()
    named = [candidate for candidate in FORMATS if name.endswith(candidate.suffixes)]
    names = {candidate.name for candidate in named}
    # A special case is probed whenever the general format is.
    suggested = [candidate for candidate in FORMATS if {candidate.name, candidate.general} & names]
    possible: list[Format] = []
    for candidate in (*suggested, *(each for each in FORMATS if each not in suggested)):
        result = candidate.probe(source)
        if result is ProbeResult.CERTAIN:
            return candidate
        if result is ProbeResult.POSSIBLE:
            possible.append(candidate)
    own = formats()[len(FORMATS) :]
    named += [each for each in own if name.endswith(each.suffixes)]
    for candidate in own:
        if candidate.probe(source) is ProbeResult.CERTAIN:
            return candidate
    possible.sort(key=FORMATS.index)
    return next(iter([candidate for candidate in named if candidate in possible] or named or possible), None)
