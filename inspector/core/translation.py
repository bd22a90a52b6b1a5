"""The language in which the program speaks: English, unless there is a gettext catalogue for what the user reads."""

from __future__ import annotations

import gettext
from collections.abc import Sequence
from pathlib import Path

DOMAIN = "inspector"
"""What catalogues are called: ``<language>/LC_MESSAGES/inspector.mo``."""

_spoken: gettext.NullTranslations = gettext.NullTranslations()
_file = ""


def use_first(languages: Sequence[str], folder: Path) -> str:
    """Use the first of these languages (``de-CH``, ``pt_BR``) that ``folder`` has a catalogue for; says which, or "".

    What has been translated already stays as it is, so this comes before anything is shown.
    """
    for language in languages:
        path = gettext.find(DOMAIN, folder, [language.replace("-", "_")])
        if path is not None:
            use_file(path)
            return language
    use_file("")
    return ""


def use_file(path: str) -> None:
    """Use the catalogue in a file, English for none."""
    global _file  # noqa: PLW0603 - a process speaks one language
    catalogue = gettext.NullTranslations()
    if path:
        with Path(path).open("rb") as file:
            catalogue = gettext.GNUTranslations(file)
    use(catalogue)
    _file = path


def file_in_use() -> str:
    """The file of the catalogue that is in use, empty for English: what another process needs to speak the same."""
    return _file


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


def trn(one: str, several: str, number: int, /, **values: object) -> str:
    """What ``tr`` gives of the form that the user's language has for so many; ``{number}`` in it is the number.

    Both are literals: what English says of one, and of any other number.
    """
    return _spoken.ngettext(one, several, number).format(number=f"{number:,}", **values)


def marked(text: str) -> str:
    """``text`` itself: a literal that goes into the catalogues here, and through ``tr`` where it is shown."""
    return text
