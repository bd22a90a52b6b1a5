"""Going where one was in an archive that is opened again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from inspector.gui.document.layer_reader import when_read
from inspector.gui.document.session import OpenTab

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.document.document import Document
    from inspector.operations.protocol.views import ContentInfo

CHANGED = "This archive has changed since the last session; the caret may be at different bytes."


def go_back(document: Document, kept: OpenTab) -> None:
    """Go where one was, at once as far as that is possible, and else when the archive has been read."""
    if kept.layer == 0:
        document.first_caret = kept.start
    when_read(document, partial(_go_on, document, kept))


def _go_on(document: Document, kept: OpenTab) -> None:
    stamp = document.status.stamp
    if kept.stamp and stamp and stamp != kept.stamp:
        document.said.emit(CHANGED)
    elif document.selection.caret not in (0, document.first_caret):
        return  # the user has gone elsewhere meanwhile
    elif kept.member >= 0:
        _show_content(document, kept)
    elif kept.layer or kept.stop > kept.start:
        document.go_to(kept.layer, kept.start, kept.stop, "session")


def _show_content(document: Document, kept: OpenTab) -> None:
    if kept.member < document.status.members:

        def there(content: ContentInfo) -> None:
            document.go_to(content.layer.layer, kept.start, kept.stop, "session")

        document.contentReady.connect(there, Qt.ConnectionType.SingleShotConnection)
        document.open_content(kept.member)
