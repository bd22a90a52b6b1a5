"""Programs that read ZIP and tar and really run here: Python's ``zipfile`` and ``tarfile``, ``unzip`` and GNU tar.

Nothing of them is imitated. ``zipfile`` and ``tarfile`` read through a file object that records their reads; of the
other two only the verdict is seen.
"""

from __future__ import annotations

import io
import platform
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from threading import Event
from typing import IO

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.pieces import PieceSource
from inspector.core.program.progress import Cancelled
from inspector.core.reader import Reader, ReaderKind, ReaderLimit, Recorder, Rejected
from inspector.core.source import BLOCK, SourceError, blocks

_SMALL_PIECE = 4096
"""Bytes asked for at once where a decompressor's output is not bounded: bzip2 and LZMA in ``zipfile``."""
_RECORDS = {
    b"PK\x01\x02": "central directory",
    b"PK\x03\x04": "local header",
    b"PK\x05\x06": "end of central directory",
    b"PK\x06\x06": "ZIP64 end of central directory",
    b"PK\x06\x07": "ZIP64 locator",
    b"PK\x07\x08": "data descriptor",
}
"""What the first four bytes of a read say."""
MAX_COPIED_BYTES = 256 << 20
"""Bytes of a changed archive that are copied for a program that reads files only."""
MAX_SECONDS = 60.0
"""Seconds after which a program of the system is ended."""
_POLL_S = 0.02
_MAX_LISTED_BYTES = 64 << 20
"""The most bytes of a program's output that are looked at."""


class RecordingFile(io.RawIOBase):
    """A source as a file object; every read is a step. Reads of the same size one after another are one step."""

    def __init__(self, trace: Recorder) -> None:
        super().__init__()
        self._trace = trace
        self._at = 0
        self._expected = 0
        self._run: tuple[int, int, int, str] | None = None  # start, stop, size of each read, meaning
        self._jumped = False
        self.last: tuple[int, int] | None = None
        """The bytes of the last step."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (0, self._at, self._trace.source.size)[whence]
        if base + offset < 0:
            raise OSError(22, "Invalid argument")  # as a real file does
        self._at = base + offset
        self._trace.progress.advance(0)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._trace.source.size - self._at)
        wanted = left if size is None or size < 0 else min(size, left)
        again = self._run if wanted and self._run is not None and self._run[1:3] == (self._at, wanted) else None
        if again is None:
            self.flush_step()
            self._jumped = self._at != self._expected
        data = self._trace.read(self._at, wanted)
        stop = self._at + len(data)
        if again is not None:
            self._run = (again[0], stop, wanted, again[3])
        else:
            meaning = _RECORDS.get(data[:4], "") or (_tar_name(data) if wanted == tarfile.BLOCKSIZE else "")
            self._run = (self._at, stop, wanted or size or 0, meaning if data else "the end of the file")
        self._at = stop
        return data

    def flush_step(self) -> None:
        """Record the reads so far as a step."""
        if self._run is None:
            return
        start, stop, size, meaning = self._run
        self._run = None
        self._expected = stop
        self.last = (start, stop)
        many = (stop - start) // size if size > 0 else 0
        words = f"read {in_bytes(size)}" + (f", {many:,} times" if many > 1 else "")
        words = f"seek to {start:,}, {words}" if self._jumped else words
        self._trace.state["offset"] = stop
        self._trace.step(words, (start, stop), meaning or None, read=True)

    @contextmanager
    def part(self) -> Iterator[None]:
        """Within the block, reads are parts of the step before."""
        with self._trace.inside():
            try:
                yield
            finally:
                self.flush_step()


def _tar_name(data: bytes) -> str:
    name = data[:100].partition(b"\0")[0]
    if len(data) == tarfile.BLOCKSIZE and not data.strip(b"\0"):
        return "a block of zeros"
    return f"header of {visible(name)}" if name and data[257:262] == b"ustar" else ""


def _run_library(use: Callable[[Recorder, RecordingFile], None], trace: Recorder) -> None:
    """Let a library read; whatever it raises is its answer."""
    file = RecordingFile(trace)
    try:
        use(trace, file)
    except (ReaderLimit, Cancelled, SourceError, Rejected):
        file.flush_step()
        raise
    except Exception as error:  # zipfile and tarfile raise foreign exceptions on damaged archives
        file.flush_step()
        raise trace.reject("stopped with an exception", file.last, _said(error)) from error


def _said(error: BaseException) -> str:
    """The message of an exception as a traceback would show it."""
    return visible(f"{type(error).__name__}: {error}".rstrip(": "))


# ---- zipfile ---------------------------------------------------------------------------------------------------------


def _open_zip(trace: Recorder, file: RecordingFile) -> None:
    trace.step("zipfile.ZipFile(file)")
    with file.part():
        archive = zipfile.ZipFile(file)
    with archive:
        infos = archive.infolist()
        trace.step("infolist()", None, len(infos), "The names come from the central directory.")
        wanted = [archive.getinfo(trace.wanted)] if trace.wanted is not None else infos
        for info in wanted:
            trace.current = info.filename
            trace.state["member"] = visible(info.filename)
            trace.step("open and read to the end", None, info.filename)
            bounded = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            with file.part(), archive.open(info) as content:
                while piece := content.read(BLOCK if bounded else _SMALL_PIECE):
                    trace.add_given(len(piece))
            trace.give(info.filename, 0)
            trace.state["members"] = trace.members
    trace.current = None


# ---- tarfile ---------------------------------------------------------------------------------------------------------


def _open_tar(trace: Recorder, file: RecordingFile) -> None:
    trace.step('tarfile.open(fileobj=file, mode="r:")')
    with file.part():
        archive = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115 - it is closed below
    with archive:
        while True:
            trace.step("next()")
            with file.part():
                info = archive.next()
            if info is None:
                break
            _read_tar_member(trace, archive, file, info)
            archive.members = []  # type: ignore[attr-defined] # memory stays flat; nothing looks back
    trace.step("next() gives None", None, None, "The archive ends here for it.")


def _read_tar_member(trace: Recorder, archive: tarfile.TarFile, file: RecordingFile, info: tarfile.TarInfo) -> None:
    if trace.wanted is not None and info.name != trace.wanted:
        return
    trace.current = info.name
    trace.state["member"] = visible(info.name)
    if info.isreg():
        trace.step("extractfile() and read to the end", None, info.name)
        with file.part():
            content = archive.extractfile(info)
            while content is not None and (piece := content.read(BLOCK)):
                trace.add_given(len(piece))
    trace.give(info.name, 0)
    trace.state["members"] = trace.members
    trace.current = None


# ---- programs of the system ------------------------------------------------------------------------------------------


@contextmanager
def local_file(trace: Recorder) -> Iterator[str]:
    """The path of a file with the bytes that a trace reads: a copy while they are not those of a file as it is.

    Raises Rejected where they are not of this machine, or too many to be copied; SourceError and Cancelled.
    """
    source = trace.source
    if (path := getattr(source, "path", None)) is not None:
        yield str(Path(path).resolve())
        return
    beneath = source
    while isinstance(beneath, PieceSource):
        beneath = beneath.base
    if beneath is source or getattr(beneath, "path", None) is None:
        raise Rejected("It reads files of this machine only, and this is none as it is shown.", known=False)
    if source.size > MAX_COPIED_BYTES:
        raise Rejected(f"It reads files only, and {in_bytes(source.size)} are not copied for it.", known=False)
    with NamedTemporaryFile(suffix=Path(source.name).suffix) as copy:
        for piece in blocks(source, 0, source.size):
            copy.write(piece)
            trace.progress.advance(0)
        copy.flush()
        trace.step("a copy of the changed bytes is made for it", None, in_bytes(source.size))
        yield copy.name


def _run_program(fine: Sequence[int], commands: Sequence[Sequence[str]], trace: Recorder) -> None:
    """Run a program on the file: the first command prints the names, the status of each decides."""
    with local_file(trace) as path:
        for listing, (program, *options) in enumerate(commands):
            with TemporaryFile() as output, TemporaryFile() as errors:
                status = _status_of((shutil.which(program) or program, *options, path), output, errors, trace)
                for name in _lines(output) if not listing else ():
                    trace.give(name, 0)
                said = _said_by(path, _lines(errors) or _lines(output)) if status not in fine else ""
            words = " ".join((program, *options))
            trace.step(f"ran {words}", None, f"exit status {status}", said, ok=status in fine)
            if status not in fine:
                raise Rejected(said or f"It ended with exit status {status}.")


def _said_by(path: str, lines: Sequence[str]) -> str:
    """The first line that says more than the file's name, without that."""
    said = (" ".join(line.replace(path, "").split()).strip("[]: ") for line in lines)
    return next((visible(line) for line in said if line), "")


def _status_of(command: Sequence[str], output: IO[bytes], errors: IO[bytes], trace: Recorder) -> int:
    """The exit status. Raises ReaderLimit, Cancelled, and Rejected where it cannot be started."""
    pause, waited = Event(), 0.0
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell; the path is absolute, so it is no option
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={"LC_ALL": "C.UTF-8"},
            start_new_session=True,  # without a terminal to ask for a password on
        )
    except OSError as error:
        raise Rejected(f"It could not be started: {(error.strerror or str(error)).lower()}.", known=False) from error
    try:
        while process.poll() is None:
            trace.progress.advance(0)
            pause.wait(_POLL_S)
            waited += _POLL_S
            if waited > MAX_SECONDS:
                raise ReaderLimit(f"It was stopped after {MAX_SECONDS:.0f} seconds.")
    finally:
        process.kill()
        process.wait()
    return process.returncode


def _lines(output: IO[bytes]) -> list[str]:
    output.seek(0)
    text = output.read(_MAX_LISTED_BYTES).decode("utf-8", "surrogateescape")
    return [line for line in text.split("\n") if line]


# ---- the readers -----------------------------------------------------------------------------------------------------

ZIPFILE = Reader(
    "zipfile",
    "Python's zipfile",
    ReaderKind.RUN,
    f"zipfile of Python {platform.python_version()} runs: it opens the archive and reads every member to its end.",
    partial(_run_library, _open_zip),
)
TARFILE = Reader(
    "tarfile",
    "Python's tarfile",
    ReaderKind.RUN,
    f"tarfile of Python {platform.python_version()} runs: it goes from header to header and reads every file.",
    partial(_run_library, _open_tar),
)
UNZIP = Reader(
    "unzip",
    "Info-ZIP unzip",
    ReaderKind.RUN,
    "unzip runs once, to list and to test the archive; its steps cannot be seen.",
    # Status 1 is a warning: everything was processed.
    partial(_run_program, (0, 1), (("unzip", "-Z1"), ("unzip", "-tqq"))),
    lambda: "" if shutil.which("unzip") else "not installed",
)
GNUTAR = Reader(
    "gnutar",
    "GNU tar",
    ReaderKind.RUN,
    "tar runs once, to list the archive; its steps cannot be seen.",
    partial(_run_program, (0,), (("tar", "--force-local", "-tf"),)),
    lambda: "" if shutil.which("tar") else "not installed",
)
ZIP_READERS = (ZIPFILE, UNZIP)
TAR_READERS = (TARFILE, GNUTAR)
