"""Every text of the window is one that a catalogue can translate."""

from __future__ import annotations

import ast
import gettext
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QWidget
from pytestqt.qtbot import QtBot

from inspector.core import translation
from inspector.core.finding import Severity
from inspector.core.kinds import Role
from inspector.core.verdict import State, Verdict
from inspector.gui.app.window import TITLE, Window
from inspector.gui.dialogs.extracted import ExtractedDialog
from inspector.gui.dialogs.send import SendDialog
from inspector.gui.document.editing import Dispatch
from inspector.gui.kit import labels
from inspector.gui.panels.models import checksums, findings, members
from inspector.gui.panels.problem_table import WHAT
from inspector.gui.tabs import audit_model, check_list_model
from inspector.gui.tabs.audit_tab import AuditTab
from inspector.gui.tabs.check_list_tab import CheckTab
from inspector.operations.open.digest_manifest import ALGORITHMS
from inspector.operations.protocol.extraction_views import ExtractionResult, Trouble, Troubles
from inspector.operations.protocol.views import LayerKind
from inspector.operations.session.coverage import Beside, RangeState
from inspector.resources import samples
from tests.gui.conftest import WAIT, Copied, Sample, Show, overwrite, press, settle
from tests.gui.extraction import EXTRACTED, PACKAGE, SOURCES, calls, known, problem, too_early
from tests.gui.test_accessible_names import OPENING, ROOT, TABS, dialogs
from tests.gui.texts import texts_of

DAMAGED = "flipped-blob-byte.rca"
NAMES = "|".join(
    map(
        re.escape,
        sorted((TITLE, *(path.name for path in samples()), *(each.name for each in ALGORITHMS)), reverse=True),
    )
)
__all__ = ["dialogs"]
DYNAMIC = {
    "AuditTab.about": "a location, and what was found there",
    "AuditTab.sentence": "its tooltip is the report of an operation",
    "Banner.sentence": "what an operation says",
    "Banner.state": "the name of a format, and what is counted",
    "BrowserTab.location": "what an address looks like",
    "BytePanel.facts": "the value of a field, and what the specification says of it",
    "BytePanel.leads": "where an operation says that a field leads",
    "BytePanel.path": "the names of fields",
    "BytePanel.title": "the name of a field",
    "CafOptionsPage.limit": "what a size looks like",
    "CatalogueDialog.path": "what a file may be called",
    "DigestsPanel.about": "what an operation says of a checksum",
    "Filters.formats": "the names of formats",
    "FindingsPanel._stack": "what an operation says",
    "FindingsPanel.about": "a finding",
    "HexPane.hex": "the names of fields",
    "LayerBar.files": "the names of files",
    "NewArchiveTab.kind": "the names of formats",
    "RepairPanel.about": "a repair",
    "RepairPanel.sentence": "what an operation says",
    "StartPage.sample_entries": "what the table of the samples says of them",
    "StatusLine.path": "the names of fields",
    "_Family.fonts": "the names of fonts",
}
"""What shows no text of the window's own, and why."""


# ---- the source ------------------------------------------------------------------------------------------------


def test_extraction_finds_every_text() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{call.lineno}: {what}"
        for path, tree in SOURCES
        for call in calls(tree, *EXTRACTED)
        if (what := problem(call, tree))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("tr(f'{n} files')", "literal"),
        ("tr('a' if x else 'b')", "literal"),
        ("f'{tr(\"a\")}: {b}'", "f-strings"),
        ("tr('a' + b)", "literal"),
        ("tr('{n} files')", "are not"),
        ("tr('{n} files', m=1)", "are not"),
        ("text = marked('{n} files')\ntr(text, m=1)", "need more"),
        ("marked(x)", "literal"),
        ("marked('a', n=1)", "literal"),
        ("trn('{number} a', b, n)", "literals"),
        ("trn('{number} a', '{number} b')", "a number"),
        ("trn('one a', '{number} b', n)", "are not"),
        ("trn('{number} a', '{number} b', n, m=1)", "are not"),
        ('f\'{trn("{number} a", "{number} b", n)}\'', "f-strings"),
    ],
)
def test_what_extraction_would_miss_is_seen(source: str, what: str) -> None:
    tree = ast.parse(source)
    assert what in " ".join(problem(call, tree) for call in calls(tree, *EXTRACTED))


def test_nothing_is_translated_before_the_language_is_known() -> None:
    assert {path.name: lines for path, tree in SOURCES if (lines := too_early(tree))} == {}


def test_what_is_translated_too_early_is_seen() -> None:
    source = "A = tr('a')\nclass B:\n    c = tr('c')\n    def d(self, e=tr('e')):\n        tr('f')\ng = lambda: tr('g')"
    assert too_early(ast.parse(source)) == [1, 3, 4]


@pytest.mark.parametrize("kind", [Severity, Verdict, State, RangeState, Beside, LayerKind, Role])
def test_words_of_what_is_judged_are_in_the_catalogue(kind: type[Severity]) -> None:
    assert {value.value for value in kind} <= set(labels.WORDS)


# ---- the window ------------------------------------------------------------------------------------------------


class Bracketed(gettext.NullTranslations):
    """Puts brackets around what it translates: around what extraction finds, that is."""

    def __init__(self) -> None:
        super().__init__()
        self._known = known()
        self.unknown: set[str] = set()

    def gettext(self, message: str) -> str:
        if message not in self._known:
            self.unknown.add(message)
            return message
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


@pytest.fixture(autouse=True)
def catalogue() -> Iterator[Bracketed]:
    spoken = Bracketed()
    before = translation.use(spoken)
    yield spoken
    translation.use(before)


def left_over(words: str) -> str:
    """The words of a text that are in no brackets and should be.

    Units, keys, paths, samples, algorithms and the program are in no catalogue.
    """
    words = re.sub(rf"(^|(?<=\s))([A-Z]:)?[/\\]\S+|{NAMES}", "", words)
    words = re.sub(r"<[^>]*>|\b([KMGT]iB|pt)\b|(?<=⟧ )\(((Ctrl|Alt|Shift)\+|F\d|Esc)[^()]*\)", "", words)
    while words != (words := re.sub(r"⟦[^⟦⟧]*⟧", "", words)):
        pass
    return " ".join(re.findall(r"[^\W\d_]{2,}", re.sub(r"⟦.*", "", words, flags=re.DOTALL)))


def english(root: QWidget) -> set[tuple[str, str]]:
    """What is said in English although it is the window's own: where, and the words."""
    return {
        (text.place, text.words)
        for text in texts_of(root)
        if text.module.startswith("inspector.gui.") and text.place not in DYNAMIC and left_over(text.words)
    }


def assert_translated(root: QWidget, catalogue: Bracketed) -> None:
    assert sorted(english(root)) == []
    assert catalogue.unknown == set()


def test_brackets_are_seen() -> None:
    assert left_over("⟦Errors⟧ (3)") == ""
    assert left_over("⟦1,234 bytes⟧ of it") == "of it"
    assert left_over("⟦Larger letters⟧ (Ctrl++)") == ""
    assert left_over("⟦Larger letters⟧ (much)") == "much"
    assert left_over("/tmp/of/mine\n/and and/or") == "and or"
    assert left_over("⟦Content of ⟦a⟧ b⟧ and more") == "and more"
    assert left_over("<b>⟦Cut off…") == ""


@pytest.mark.parametrize("name", ["two-entries.tacozip", "two-resets-spec.rca", "gap.caf", "weather"])
def test_an_archive_with_all_its_panels(show: Show, window: Window, catalogue: Bracketed, name: str) -> None:
    tab = show(ROOT / name)
    for dock in tab.docks.values():
        dock.show()
        dock.raise_()
        QApplication.processEvents()
    assert_translated(window, catalogue)


def test_what_panels_show_when_there_is_work_in_them(
    show: Show, window: Window, catalogue: Bracketed, qtbot: QtBot
) -> None:
    show("torn-after-write-2.tacozip")
    for name in ("check", "mend", "edit_bytes", "show_header"):
        press(window, name)
        settle(qtbot, window)
    assert_translated(window, catalogue)


def cells(window: Window, qtbot: QtBot, table: QAbstractItemView, column: int) -> set[str]:
    """What the cells of a column say."""
    settle(qtbot, window)
    table.viewport().grab()
    settle(qtbot, window)
    model = table.model()
    return {str(model.index(row, column).data()) for row in range(model.rowCount())}


def test_what_was_judged_is_told_in_words_of_the_catalogue(
    show: Show, window: Window, catalogue: Bracketed, qtbot: QtBot
) -> None:
    tab = show(DAMAGED)
    press(window, "check")
    settle(qtbot, window)
    tab.members.as_table.click()
    for dock in tab.docks.values():
        dock.show()
    assert cells(window, qtbot, tab.members.table, members.VERDICT) == {"⟦verified⟧", "⟦not checkable⟧"}
    assert "⟦error⟧" in cells(window, qtbot, tab.findings.table, findings.SEVERITY)
    assert "⟦mismatch⟧" in cells(window, qtbot, tab.digests.table, checksums.STATE)
    for table in (tab.findings.table, tab.digests.table):
        table.setCurrentIndex(table.model().index(0, 0))
    assert_translated(window, catalogue)


def test_many_archives_are_told_of_in_words_of_the_catalogue(
    window: Window, catalogue: Bracketed, qtbot: QtBot, sample: Sample, tmp_path: Path
) -> None:
    for name in ("journey.caf", DAMAGED):
        shutil.copyfile(sample(name), tmp_path / name)
    (tmp_path / "notes.txt").write_text("no archive")
    window.checks.check([str(tmp_path)])
    checks = window.tabs.currentWidget()
    assert isinstance(checks, CheckTab)
    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
    assert {"⟦sound⟧", "⟦damaged⟧", "⟦no archive⟧"} <= cells(window, qtbot, checks.table, check_list_model.STATE)
    press(window, "audit_folder")
    audit = window.tabs.currentWidget()
    assert isinstance(audit, AuditTab)
    audit.options.place.setText(str(tmp_path))
    audit.begin.click()
    qtbot.waitUntil(lambda: audit.settled, timeout=WAIT)
    assert cells(window, qtbot, audit.table, audit_model.STATE) == {"⟦sound⟧", "⟦damaged⟧"}
    assert left_over(audit.sentence.text()) == ""
    audit.table.setCurrentIndex(audit.table.model().index(0, 0))
    assert_translated(window, catalogue)


@pytest.mark.usefixtures("dialogs")
def test_dialogs_and_tabs(show: Show, window: Window, catalogue: Bracketed, qtbot: QtBot) -> None:
    show("two-entries.tacozip")
    for name in (*OPENING, *TABS):
        before = len(window.findChildren(QWidget))
        press(window, name)
        qtbot.waitUntil(lambda before=before: len(window.findChildren(QWidget)) > before)
    assert_translated(window, catalogue)


NO_TROUBLE = Troubles()
SAID = "What an operation says."


@pytest.mark.usefixtures("dialogs")
def test_dialogs_that_work_brings(copied: Copied, window: Window, catalogue: Bracketed, qtbot: QtBot) -> None:
    tab, _ = copied("two-chunks.rca")
    overwrite(window, tab, 3, "ff")
    settle(qtbot, window)
    for name in ("ask_copy", "ask_export", "write_manifest", "append"):
        press(window, name)
        settle(qtbot, window)
    SendDialog(window, "s3://bucket/key", Dispatch(tab.editing.pending, (), print, whole=True), ()).show()
    refused = Troubles((Trouble(0, "a.bin", SAID),), 1)
    result = ExtractionResult("", 0, 0, 0, NO_TROUBLE, refused, *[NO_TROUBLE] * 2, (), NO_TROUBLE, "", False, SAID)
    extracted = ExtractedDialog(window, result, "")
    extracted.show()
    assert cells(window, qtbot, extracted.troubles.table, WHAT) == {"⟦refused⟧"}
    assert_translated(window, catalogue)
