"""The options of a new archive: one page per format."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QLineEdit, QStackedWidget, QWidget

from inspector.core.numbers import size_in
from inspector.gui.kit.building import choice_of, dressed, in_form, number_of
from inspector.gui.kit.dropping import PathField
from inspector.gui.kit.style import on_grid
from inspector.operations.protocol.create_views import ArchiveKind, Draft

ENTRY_COUNT = 7
CONVENTIONS = {"spec": "the specification's", "rcarch": "rcarch's"}
_OFFSET_AND_LENGTH = re.compile(r"\s*(0x[0-9a-fA-F]+|\d[\d_]*)\s*,\s*(0x[0-9a-fA-F]+|\d[\d_]*)\s*")


class OptionError(Exception):
    """A field contains an invalid value; the message is a sentence."""


class OptionsPage(QWidget):
    """The options of one format.

    Signals:
        changed(): a field was edited.
    """

    changed = Signal()

    def __init__(self, *fields: QWidget) -> None:
        super().__init__()
        for field in fields:
            if isinstance(field, QComboBox):
                edited = field.editTextChanged if field.isEditable() else field.currentIndexChanged
            else:  # the signal that tells that what the user edits is another
                edited = getattr(field, field.metaObject().userProperty().notifySignal().name().toStdString())
            edited.connect(self.changed)

    def apply(self, draft: Draft) -> Draft:
        """The draft with these options; raises OptionError."""
        return draft


class RcaOptionsPage(OptionsPage):
    """Compression level and hash convention; ``own`` also offers the convention of an existing archive."""

    def __init__(self, own: bool = False) -> None:
        tip = "1 is fastest, 22 smallest; levels above 19 need a lot of memory"
        self.level = number_of("Compression level", 1, 22, 3, toolTip=tip)
        self.convention = choice_of("Hash convention", {"": "the archive's own", **CONVENTIONS} if own else CONVENTIONS)
        super().__init__(self.level, self.convention)
        in_form(("Compression &level", self.level), ("Ha&sh convention", self.convention), on=self)

    def apply(self, draft: Draft) -> Draft:
        """The draft with these options."""
        return replace(draft, level=self.level.value(), convention=str(self.convention.currentData()))


class CafOptionsPage(OptionsPage):
    """Maximum size and catalogue."""

    def __init__(self) -> None:
        tip = "A larger archive is split: NAME-0001.caf, NAME-0002.caf. At most 32GiB"
        self.limit = dressed(QLineEdit(placeholderText="30GiB"), "Maximum size of one archive", toolTip=tip)
        tip = "An SQLite file that records which archive holds each member; later runs add to it"
        hint = "none, or a file such as catalogue.sqlite"
        self.catalogue = dressed(PathField(), "Catalogue of members", toolTip=tip, placeholderText=hint)
        super().__init__(self.limit, self.catalogue)
        in_form(("Maximum &size", self.limit), ("Cata&logue", self.catalogue), on=self)

    def apply(self, draft: Draft) -> Draft:
        """The draft with these options; raises OptionError."""
        text = self.limit.text().strip()
        try:
            size = size_in(text) if text else 0
        except ValueError as error:
            raise OptionError(f"The maximum size is invalid: {error}") from error
        return replace(draft, max_size=size, catalogue=self.catalogue.text().strip())


class TacoOptionsPage(OptionsPage):
    """Up to seven header entries."""

    def __init__(self) -> None:
        self.entries = [self._entry_field(index) for index in range(ENTRY_COUNT)]
        super().__init__(*self.entries)
        grid = on_grid(QGridLayout(self))
        grid.addWidget(QLabel("Header entries: members, or OFFSET,LENGTH; empty for none"), 0, 0, 1, 4)
        for index, entry in enumerate(self.entries):
            grid.addWidget(entry, index // 4 + 1, index % 4)

    def _entry_field(self, index: int) -> QComboBox:
        entry = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert, minimumContentsLength=12)
        entry.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        return dressed(entry, f"Header entry {index}")

    def offer(self, names: Sequence[str]) -> None:
        """Suggest these members; text that was typed stays."""
        for entry in self.entries:
            text = entry.currentText()
            with QSignalBlocker(entry):
                entry.clear()
                entry.addItems(["", *names])
                entry.setEditText(text)

    def apply(self, draft: Draft) -> Draft:
        """The draft with the entries; text that is both a member name and two numbers means the member."""
        return replace(
            draft, entries=tuple(self._entry(entry) for entry in self.entries if entry.currentText().strip())
        )

    def _entry(self, entry: QComboBox) -> str:
        text = entry.currentText()
        is_member = entry.findText(text) >= 0
        return text if _OFFSET_AND_LENGTH.fullmatch(text) and not is_member else f"={text}"


class DatasetOptionsPage(OptionsPage):
    """The dataset name and how its files are numbered."""

    def __init__(self) -> None:
        self.dataset = dressed(QLineEdit(), "Name of the dataset")
        self.numbering = QCheckBox("&Number the files in order, starting at")
        self.first = dressed(QLineEdit("0"), "First key", enabled=False)
        self.per_range = number_of("Keys in a range", 1, 2**31 - 1, 1_000, showGroupSeparator=True)
        self.numbering.toggled.connect(self.first.setEnabled)
        super().__init__(self.dataset, self.numbering, self.first, self.per_range)
        in_form(("&Dataset", self.dataset), (self.numbering, self.first), ("Ke&ys per range", self.per_range), on=self)

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
        self._pages: dict[ArchiveKind, OptionsPage] = {
            ArchiveKind.CAF: self.caf,
            ArchiveKind.RCA: self.rca,
            ArchiveKind.TACO: self.taco,
            ArchiveKind.DATAS3T: self.datas3t,
        }
        for page in self._pages.values():
            self.addWidget(page)
            page.changed.connect(self.changed)

    def show_kind(self, kind: ArchiveKind) -> None:
        """Show the options of a format."""
        self.setCurrentWidget(self._pages[kind])

    def apply(self, draft: Draft) -> Draft:
        """The draft with the options of its format; raises OptionError."""
        return self._pages[draft.kind].apply(draft)
