"""The options of a new archive: one page per format."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QGridLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QStackedWidget,
    QWidget,
)

from inspector.core.numbers import size_in
from inspector.gui.kit.dropping import PathField
from inspector.gui.kit.style import on_grid
from inspector.operations.protocol.create_views import ArchiveKind, Draft

ENTRY_COUNT = 7
CONVENTIONS = {"spec": "the specification's", "rcarch": "rcarch's"}
_OFFSET_AND_LENGTH = re.compile(r"\s*(0x[0-9a-fA-F]+|\d[\d_]*)\s*,\s*(0x[0-9a-fA-F]+|\d[\d_]*)\s*")


class OptionError(Exception):
    """A field contains an invalid value; the message is a sentence."""


class RcaOptionsPage(QWidget):
    """Compression level and hash convention; ``own`` also offers the convention of an existing archive.

    Signals:
        changed(): a field was edited.
    """

    changed = Signal()

    def __init__(self, own: bool = False) -> None:
        super().__init__()
        self.level = QSpinBox()
        self.level.setRange(1, 22)
        self.level.setValue(3)
        self.level.setAccessibleName("Compression level")
        self.level.setToolTip("1 is fastest, 22 smallest; levels above 19 need a lot of memory")
        self.convention = QComboBox()
        if own:
            self.convention.addItem("the archive's own", "")
        for value, label in CONVENTIONS.items():
            self.convention.addItem(label, value)
        self.convention.setAccessibleName("Hash convention")
        form = _form(self)
        form.addRow("Compression &level", self.level)
        form.addRow("Ha&sh convention", self.convention)
        self.level.valueChanged.connect(self.changed)
        self.convention.currentIndexChanged.connect(self.changed)

    def apply(self, draft: Draft) -> Draft:
        """The draft with these options."""
        return replace(draft, level=self.level.value(), convention=str(self.convention.currentData()))


class CafOptionsPage(QWidget):
    """Maximum size and catalogue.

    Signals:
        changed(): a field was edited.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.limit = QLineEdit()
        self.limit.setPlaceholderText("30GiB")
        self.limit.setToolTip("A larger archive is split: NAME-0001.caf, NAME-0002.caf. At most 32GiB")
        self.limit.setAccessibleName("Maximum size of one archive")
        self.catalogue = PathField()
        self.catalogue.setPlaceholderText("none, or a file such as catalogue.sqlite")
        self.catalogue.setToolTip("An SQLite file that records which archive holds each member; later runs add to it")
        self.catalogue.setAccessibleName("Catalogue of members")
        form = _form(self)
        form.addRow("Maximum &size", self.limit)
        form.addRow("Cata&logue", self.catalogue)
        self.limit.textChanged.connect(self.changed)
        self.catalogue.textChanged.connect(self.changed)

    def apply(self, draft: Draft) -> Draft:
        """The draft with these options; raises OptionError."""
        text = self.limit.text().strip()
        try:
            size = size_in(text) if text else 0
        except ValueError as error:
            raise OptionError(f"The maximum size is invalid: {error}") from error
        return replace(draft, max_size=size, catalogue=self.catalogue.text().strip())


class TacoOptionsPage(QWidget):
    """Up to seven header entries.

    Signals:
        changed(): a field was edited.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.entries = [QComboBox() for _ in range(ENTRY_COUNT)]
        grid = on_grid(QGridLayout(self))
        grid.addWidget(QLabel("Header entries: members, or OFFSET,LENGTH; empty for none"), 0, 0, 1, 4)
        for index, entry in enumerate(self.entries):
            entry.setEditable(True)
            entry.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
            entry.setMinimumContentsLength(12)
            entry.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            entry.setAccessibleName(f"Header entry {index}")
            entry.editTextChanged.connect(self.changed)
            row, column = divmod(index, 4)
            grid.addWidget(entry, row + 1, column)

    def offer(self, names: Sequence[str]) -> None:
        """Suggest these members; text that was typed stays."""
        for entry in self.entries:
            text = entry.currentText()
            entry.blockSignals(True)
            entry.clear()
            entry.addItems(["", *names])
            entry.setEditText(text)
            entry.blockSignals(False)

    def apply(self, draft: Draft) -> Draft:
        """The draft with the entries; text that is both a member name and two numbers means the member."""
        return replace(
            draft, entries=tuple(self._entry(entry) for entry in self.entries if entry.currentText().strip())
        )

    def _entry(self, entry: QComboBox) -> str:
        text = entry.currentText()
        is_member = entry.findText(text) >= 0
        return text if _OFFSET_AND_LENGTH.fullmatch(text) and not is_member else f"={text}"


class DatasetOptionsPage(QWidget):
    """The dataset name and how its files are numbered.

    Signals:
        changed(): a field was edited.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.dataset = QLineEdit()
        self.dataset.setAccessibleName("Name of the dataset")
        self.numbering = QCheckBox("&Number the files in order, starting at")
        self.first = QLineEdit("0")
        self.first.setAccessibleName("First key")
        self.first.setEnabled(False)
        self.per_range = QSpinBox()
        self.per_range.setRange(1, 2**31 - 1)
        self.per_range.setValue(1_000)
        self.per_range.setGroupSeparatorShown(True)
        self.per_range.setAccessibleName("Keys in a range")
        form = _form(self)
        form.addRow("&Dataset", self.dataset)
        form.addRow(self.numbering, self.first)
        form.addRow("Ke&ys per range", self.per_range)
        self.numbering.toggled.connect(self.first.setEnabled)
        for signal in (self.dataset.textChanged, self.first.textChanged, self.numbering.toggled):
            signal.connect(self.changed)
        self.per_range.valueChanged.connect(self.changed)

    def apply(self, draft: Draft) -> Draft:
        """The draft with these options; raises OptionError."""
        text = self.first.text().strip().replace(",", "")
        if self.numbering.isChecked() and not (text.isascii() and text.isdigit() and len(text) <= 20):
            raise OptionError("The first key must be a number: 0, 1, 2 and so on.")
        if not self.dataset.text().strip():
            raise OptionError("Name the dataset.")
        first = int(text) if self.numbering.isChecked() else None
        return replace(draft, dataset=self.dataset.text().strip(), first_key=first, per_range=self.per_range.value())


class ArchiveOptions(QStackedWidget):
    """The options of the selected format.

    Signals:
        changed(): an option was edited.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.caf, self.rca, self.taco = CafOptionsPage(), RcaOptionsPage(), TacoOptionsPage()
        self.datas3t = DatasetOptionsPage()
        self._pages: dict[ArchiveKind, CafOptionsPage | RcaOptionsPage | TacoOptionsPage | DatasetOptionsPage] = {
            ArchiveKind.CAF: self.caf,
            ArchiveKind.RCA: self.rca,
            ArchiveKind.TACO: self.taco,
            ArchiveKind.DATAS3T: self.datas3t,
        }
        for page in self._pages.values():
            self.addWidget(page)
            page.changed.connect(self.changed)

    def fields(self) -> dict[str, QWidget]:
        """The fields by the name under which a session stores them."""
        return {
            "max_size": self.caf.limit,
            "catalogue": self.caf.catalogue,
            "level": self.rca.level,
            "convention": self.rca.convention,
            "dataset": self.datas3t.dataset,
            "numbering": self.datas3t.numbering,
            "first_key": self.datas3t.first,
            "per_range": self.datas3t.per_range,
            **{f"entry_{index}": entry for index, entry in enumerate(self.taco.entries)},
        }

    def show_kind(self, kind: ArchiveKind) -> None:
        """Show the options of a format."""
        self.setCurrentWidget(self._pages[kind])

    def apply(self, draft: Draft) -> Draft:
        """The draft with the options of its format; raises OptionError."""
        return self._pages[draft.kind].apply(draft)


def _form(page: QWidget) -> QFormLayout:
    form = on_grid(QFormLayout(page))
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return form
