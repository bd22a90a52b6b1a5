"""The progress of a check, and that one that is paused reads nothing more, in none of its threads."""

from __future__ import annotations

import os
import threading

from inspector.core.archive import Archive, Emitter
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK, BytesSource
from inspector.core.verdict import Verdict
from inspector.formats import rca
from tests.formats.rca import build
from tests.formats.rca.build import archive
from tests.formats.rca.checking import ONE, THREE, TWO, opened
from tests.patience import PATIENCE

PIECES = 12


class Gated(BytesSource):
    """Lets the first large reads through, the others only once the work has been paused."""

    def __init__(self, data: bytes, progress: Progress) -> None:
        super().__init__(data)
        self.progress = progress
        self.reads = 0
        self.checking = False
        self.paused = threading.Event()

    def read(self, offset: int, length: int) -> bytes:
        if self.checking:
            self.reads += 1
            if self.reads > 2:
                assert self.paused.wait(PATIENCE)
        return super().read(offset, length)


class Pausing(Progress):
    """Pauses itself when the first piece is done."""

    source: Gated

    def advance(self, count: int) -> None:
        if self.source.checking and count and not self.source.paused.is_set():
            self.pause()
            self.source.paused.set()
        super().advance(count)


def test_a_paused_check_reads_nothing_more() -> None:
    progress = Pausing()
    source = progress.source = Gated(archive([(b"large", os.urandom(PIECES * BLOCK))]), progress)
    opened = Archive(source, "rca", "RCA", ())
    emitter = Emitter(opened)
    rca.FORMAT.decode(source, emitter, progress)
    source.checking = True
    checking = threading.Thread(target=rca.FORMAT.check, args=(opened, emitter, progress), daemon=True)
    checking.start()
    assert source.paused.wait(PATIENCE)
    checking.join(0.1)
    assert checking.is_alive()
    assert source.reads < PIECES
    progress.resume()
    checking.join(PATIENCE)
    assert not checking.is_alive()
    assert opened.verdict(0) is Verdict.VERIFIED


def test_progress_ends_where_it_should() -> None:
    for convention in (build.SPEC, build.RCARCH):
        whole, progress = opened(build.archive(ONE, TWO, THREE, convention=convention)), Progress()
        rca.FORMAT.check(whole, Emitter(whole), progress)
        assert progress.label == "Comparing hashes"
        assert 0 <= progress.total - progress.done <= 16  # the hashes that segments leave out
