"""The window speaks the user's language, where there is a catalogue for it, and so do Qt's own buttons and menus."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from inspector.core import translation
from inspector.resources import resource


def follow_system(app: QApplication, folder: Path | None = None) -> str:
    """Speak the first of the system's languages that has a catalogue in ``folder``; gives it, or "" for English."""
    language = translation.use_first(QLocale.system().uiLanguages(), folder or resource("locale"))
    if language:
        own = QTranslator(app)
        if own.load(QLocale(language), "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            app.installTranslator(own)
    return language
