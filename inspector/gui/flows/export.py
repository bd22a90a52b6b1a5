"""Writing reports and digest manifests: asking where, starting the work, saying how it ended."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from inspector.core.names import visible
from inspector.gui.document.document import Document
from inspector.gui.kit.file_dialogs import begin_beside
from inspector.gui.panels.banner import Banner
from inspector.operations.protocol.check_views import ALGORITHMS, ReportKind
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import ManifestResult

FILTERS = {
    ReportKind.HTML: "HTML page (*.html)",
    ReportKind.TEXT: "Text (*.txt)",
    ReportKind.JSON: "JSON (*.json)",
}
_SUFFIXES = {".html": ReportKind.HTML, ".htm": ReportKind.HTML, ".txt": ReportKind.TEXT, ".json": ReportKind.JSON}


class ExportFlow(QObject):
    """Writes what is known of a document to files. ``parent`` is what the dialogs belong to."""

    def __init__(self, document: Document, banner: Banner, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self._banner = banner
        self._parent = parent

    # ---- reports -----------------------------------------------------------------------------------------------

    def ask_report(self) -> None:
        """Ask where a report is to be written, and as what."""
        dialog = QFileDialog(self._parent, "Export Report")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(list(FILTERS.values()))
        dialog.filterSelected.connect(lambda name: dialog.setDefaultSuffix(_kind_of_filter(name)[1]))
        dialog.setDefaultSuffix("html")
        begin_beside(dialog, self._document.location)
        dialog.selectFile(f"{self._document.name}.report.html")
        dialog.fileSelected.connect(lambda path: self.write_report(path, _kind_of(path, dialog.selectedNameFilter())))
        dialog.open()

    def write_report(self, path: str, kind: ReportKind) -> None:
        """Write a report in the background, and say so."""

        def done(_: object) -> None:
            self._document.said.emit(f"The report was written to {visible(path)}.")

        self._document.start(ArchiveRequests.export, path, kind).then(done)

    # ---- manifests ---------------------------------------------------------------------------------------------

    def ask_manifest(self) -> None:
        """Ask for the algorithm of a digest manifest."""
        dialog = QInputDialog(self._parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Write Digest Manifest")
        dialog.setLabelText("Write the digests of all members to a file beside the archive. Algorithm:")
        dialog.setComboBoxItems([algorithm.name for algorithm in ALGORITHMS])
        dialog.setOkButtonText("Write")
        dialog.textValueSelected.connect(self.write_manifest)
        dialog.open()

    def write_manifest(self, algorithm: str, replace: bool = False) -> None:
        """Write a manifest in the background; one that is there already is replaced only when that is confirmed."""
        self._document.start(ArchiveRequests.write_manifest, algorithm, replace).then(partial(self._written, algorithm))

    def _written(self, algorithm: str, result: ManifestResult) -> None:
        if result.written:
            self._document.said.emit(result.sentence)
        else:
            self._banner.ask(result.sentence, "Replace It", lambda: self.write_manifest(algorithm, True))


def _kind_of(path: str, name_filter: str) -> ReportKind:
    """What a report is to be written as: the suffix says it, or else the filter."""
    return _SUFFIXES.get(Path(path).suffix.lower(), _kind_of_filter(name_filter)[0])


def _kind_of_filter(name_filter: str) -> tuple[ReportKind, str]:
    kind = next((kind for kind, name in FILTERS.items() if name == name_filter), ReportKind.HTML)
    return kind, next(suffix[1:] for suffix, known in _SUFFIXES.items() if known is kind)
