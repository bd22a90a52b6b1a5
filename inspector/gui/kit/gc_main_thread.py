"""Run the cyclic garbage collector only on the GUI thread.

Python runs it on whichever thread allocates. On the thread of a worker link it would destroy Qt objects while the event
loop uses or deletes them, which crashes the process.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QAbstractEventDispatcher


def collect_when_idle() -> None:
    """Disable automatic collection and collect when the event loop of this thread becomes idle."""
    gc.disable()
    dispatcher = QAbstractEventDispatcher.instance()
    assert dispatcher is not None, "there is an application"
    dispatcher.aboutToBlock.connect(collect)


def collect() -> None:
    """Collect the oldest generation that is due, and all younger ones; usually none is due."""
    due = [threshold and count > threshold for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True)]
    if due[0]:
        gc.collect(2 if all(due) else int(bool(due[1])))
