"""The base class of tabs that do a job in a worker of their own."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, Generic

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QLabel

from inspector.core.program.progress import Eta
from inspector.gui.ipc.client import Client, Job, Requests
from inspector.gui.kit.building import dressed, progress_bar
from inspector.gui.kit.widgets import MessageBar, SelectableLabel, push_button
from inspector.gui.panels.status_line import show_progress
from inspector.gui.tabs.side_tab import SideTab
from inspector.operations.protocol.views import JobState


class JobTab(SideTab, Generic[Requests]):
    """A tab that does one job at a time in a worker of its own, which is started again where it has ended."""

    def __init__(self, title: str, make: Callable[[QObject], Client[Requests]], stop_tip: str) -> None:
        super().__init__(title)
        self._make = make
        self.job: Job[Any] | None = None
        self._eta = Eta(0.0)
        self.sentence: QLabel = dressed(SelectableLabel(), "Progress")
        self.bar = progress_bar("Progress")
        self.stop = push_button("&Cancel", f"{stop_tip} (Esc)", self.cancel)
        self.message = MessageBar()
        self.client = self._new_client()

    def _new_client(self) -> Client[Requests]:
        client = self._make(self)
        client.lost.connect(self._lost)
        return client

    def open_client(self) -> Client[Requests]:
        """The worker, or a new one if the process of the last has ended."""
        if not self.client.is_open:
            self.client = self._new_client()
        return self.client

    def _lost(self, sentence: str) -> None:
        """The worker has ended."""
        self.message.say(sentence)

    @property
    def running(self) -> bool:
        """Whether the job is running or paused."""
        return self.job is not None and self.job.running and self.client.is_open

    @property
    def settled(self) -> bool:
        return not (self.running or self.client.outstanding)

    def cancel(self) -> None:
        if self.job is not None and self.running:
            self.job.cancel()
            self.sentence.setText("Stopping…")

    def end(self) -> None:
        self.client.close()

    def _follow(self, job: Job[Any], words: str, over: Callable[..., object]) -> None:
        """Show the progress of a job, ``words`` until it has made any, and call ``over`` when it has ended."""
        self.job, self._eta = job, Eta(monotonic())
        job.progressed.connect(self._progressed)
        job.finished.connect(over)
        job.finished.connect(self._refresh)
        self.message.hide()
        self.bar.setRange(0, 0)
        self.sentence.setText(words)
        self._refresh()

    def _refresh(self, *_: object) -> None:
        """Show what can be done now."""
        for widget in (self.bar, self.stop):
            widget.setVisible(self.running)

    def _progressed(self, state: JobState) -> None:
        if self.job is not None and not self.job.cancelled:
            show_progress(self.bar, state)
            self.sentence.setText(self._eta.text(state, monotonic(), self._counted(state)))

    def _counted(self, state: JobState) -> str:  # noqa: ARG002 - for tabs that know more than it says
        """What is done besides, in words; empty for nothing."""
        return ""
