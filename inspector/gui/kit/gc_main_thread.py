"""Objects that hold each other and nobody else does are collected in the thread of the event loop alone.

Python collects them in whatever thread has just made one more. A thread that carries messages would take Qt's objects
apart while the event loop deletes or calls them, which ends the process.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QAbstractEventDispatcher


def keep_to_this_thread() -> None:
    """Collect only where the event loop of this thread, which is running or will be, has nothing to do."""
    gc.disable()
    dispatcher = QAbstractEventDispatcher.instance()
    assert dispatcher is not None, "there is an application"
    dispatcher.aboutToBlock.connect(collect)


def collect() -> None:
    """Collect the oldest generation that is due, and with it all that are younger; mostly none is."""
    due = [most and count > most for count, most in zip(gc.get_count(), gc.get_threshold(), strict=True)]
    if due[0]:
        gc.collect(2 if all(due) else int(bool(due[1])))
