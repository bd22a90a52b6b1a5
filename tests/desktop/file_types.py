"""What desktops are told of the formats' files, written from the formats' declarations (``Format.mime``).

``pytest tests/desktop/test_validity.py --golden`` writes the files anew.
"""

from __future__ import annotations

import plistlib
import re
from collections.abc import Iterator
from pathlib import Path

from inspector.core.format import Format, Magic, MimeType
from inspector.formats import FORMATS
from inspector.resources import DESKTOP_ID, resource

SHARE = resource("desktop", "share")
PACKAGING = resource("packaging")
TYPES = [(each, kind) for each in FORMATS for kind in each.mime]
OWN = [kind for _, kind in TYPES if kind.globs]
OTHERS = [kind for _, kind in TYPES if not kind.globs]
NAMES = [kind.name for kind in (*OWN, *OTHERS)]
"""The types that the program opens, its own first."""
USUAL_WEIGHT = 50


def generated() -> Iterator[tuple[Path, str]]:
    """Every file that depends on the formats, and what it should hold."""
    yield SHARE / "mime" / "packages" / f"{DESKTOP_ID}.xml", _mime_xml()
    entry = SHARE / "applications" / f"{DESKTOP_ID}.desktop"
    yield entry, re.sub(r"(?m)^MimeType=.*$", f"MimeType={';'.join(NAMES)};", _now(entry))
    metadata = SHARE / "metainfo" / f"{DESKTOP_ID}.metainfo.xml"
    types = "".join(f"    <mediatype>{name}</mediatype>\n" for name in NAMES)
    yield metadata, re.sub(r"(?: *<mediatype>.*\n)+", types, _now(metadata))
    yield PACKAGING / "macos-file-types.plist", _plist()
    setup = PACKAGING / "windows-setup.iss"
    lines = "".join(f"Root: HKA; {line}\n" for line in _registry())
    yield setup, re.sub(r"(?s)(?<=\[Registry\]\n).*", lambda _: lines, _now(setup))


def _now(path: Path) -> str:
    return path.read_text(encoding="utf-8")


# ---- freedesktop.org (shared-mime-info) ----------------------------------------------------------------------------


def _mime_xml() -> str:
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">'
    return "\n".join((head, *(f"  {line}" for kind in OWN for line in _mime_type(kind)), "</mime-info>", ""))


def _mime_type(kind: MimeType) -> Iterator[str]:
    if kind.reason:
        yield f"<!-- {kind.reason} -->"
    yield f'<mime-type type="{kind.name}">'
    yield f"  <comment>{kind.title}</comment>"
    if kind.parent:
        yield f'  <sub-class-of type="{kind.parent}"/>'
    yield '  <generic-icon name="package-x-generic"/>'
    if kind.magic:
        yield '  <magic priority="70">'
        yield from (f"    {line}" for line in _match(kind.magic))
        yield "  </magic>"
    for pattern, weight in kind.globs:
        yield f'  <glob pattern="{pattern}"' + ("/>" if weight == USUAL_WEIGHT else f' weight="{weight}"/>')
    yield "</mime-type>"


def _match(magic: Magic) -> Iterator[str]:
    match = f'<match type="string" value="{magic.value}" offset="{magic.offset}"'
    if not magic.inside:
        yield f"{match}/>"
        return
    yield f"{match}>"
    yield from (f"  {line}" for each in magic.inside for line in _match(each))
    yield "</match>"


# ---- macOS (uniform type identifiers) ------------------------------------------------------------------------------


def _plist() -> str:
    others = [kind.uti for kind in OTHERS if kind.uti]
    opened = [
        *(_document(kind.title, [kind.uti, *kind.uti_of_others], ours=not kind.uti_of_others) for kind in OWN),
        _document("Archive", others, ours=False),
    ]
    exported = [
        {
            "UTTypeIdentifier": kind.uti,
            "UTTypeDescription": kind.title,
            "UTTypeConformsTo": [kind.conforms_to],
            "UTTypeTagSpecification": {
                "public.filename-extension": [pattern.removeprefix("*.") for pattern, _ in kind.globs],
                "public.mime-type": [kind.name],
            },
        }
        for kind in OWN
    ]
    content = {
        "NSHighResolutionCapable": True,
        "CFBundleDocumentTypes": opened,
        "UTExportedTypeDeclarations": exported,
    }
    why = "<!-- Where a suffix or a type is others' first, the program is an alternative. -->\n"
    text = plistlib.dumps(content, sort_keys=False).decode().expandtabs(2)
    return re.sub(r'(?<=<plist version="1.0">\n)', why, text)


def _document(title: str, types: list[str], *, ours: bool) -> dict[str, object]:
    return {
        "CFBundleTypeName": title,
        "CFBundleTypeRole": "Editor",
        "LSHandlerRank": "Owner" if ours else "Alternate",
        "LSItemContentTypes": types,
    }


# ---- Windows (Inno Setup) ------------------------------------------------------------------------------------------


def _registry() -> Iterator[str]:
    """The suffixes with one dot: each of the program's own types by its name, and all others' as archives."""
    for each, kind in TYPES:
        if kind.globs and (suffixes := _simple(each)):
            yield from _class(each.name, kind.title, suffixes)
    others = [suffix for each, kind in TYPES if not kind.globs for suffix in _simple(each)]
    yield from _class("archive", "Archive", others)


def _simple(known: Format) -> list[str]:
    return [suffix for suffix in known.suffixes if suffix.count(".") == 1]


def _class(name: str, title: str, suffixes: list[str]) -> Iterator[str]:
    name = f"ArchiveInspector.{name}"
    key = rf'Subkey: "Software\Classes\{name}'
    yield f'{key}"; ValueType: string; ValueData: "{title}"; Flags: uninsdeletekey'
    yield rf'{key}\DefaultIcon"; ValueType: string; ValueData: "{{#Program}},0"'
    yield rf'{key}\shell\open\command"; ValueType: string; ValueData: """{{#Program}}"" ""%1"""'
    for suffix in dict.fromkeys(suffixes):
        yield (
            rf'Subkey: "Software\Classes\{suffix}\OpenWithProgids"; ValueType: string; ValueName: "{name}"; '
            'ValueData: ""; Flags: uninsdeletevalue'
        )
