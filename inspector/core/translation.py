"""The language in which the program speaks: English, unless there is a gettext catalogue for what the user reads."""

from __future__ import annotations

import gettext
from collections.abc import Sequence
from pathlib import Path

DOMAIN = "inspector"
"""What catalogues are called: ``<language>/LC_MESSAGES/inspector.mo``."""

_spoken: gettext.NullTranslations = gettext.NullTranslations()


def use_first(languages: Sequence[str], folder: Path) -> str:
    """Use the first of these languages (``de-CH``, ``pt_BR``) that ``folder`` has a catalogue for; says which, or "".

    What has been translated already stays as it is, so this comes before anything is shown.
    """
    for language in languages:
        path = gettext.find(DOMAIN, folder, [language.replace("-", "_")])
        if path is not None:
            with Path(path).open("rb") as file:
                use(gettext.GNUTranslations(file))
            return language
    use(gettext.NullTranslations())
    return ""


def use(catalogue: gettext.NullTranslations) -> gettext.NullTranslations:
    """Use this catalogue; gives the one that was in use."""
    global _spoken
    before, _spoken = _spoken, catalogue
    return before


def tr(text: str, /, **values: object) -> str:
    """``text`` as the user reads it, with each ``{name}`` in it replaced where ``values`` are given.

    ``text`` is a literal, for that is what catalogues are made from; what varies goes into ``values``.
    """
    said = _spoken.gettext(text) if text else ""  # of nothing, gettext tells about the catalogue
    return said.format(**values) if values else said


def marked(text: str) -> str:
    """``text`` itself: a literal that goes into the catalogues here, and through ``tr`` where it is shown."""
    return text
