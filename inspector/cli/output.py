"""What sub-commands print: lines and JSON on standard output, messages and a progress bar on standard error."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from json.encoder import encode_basestring_ascii
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from inspector.cli.parser import PROGRAM, columns
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes, rounded
from inspector.core.program.progress import Eta, Progress
from inspector.core.program.redaction import strip_credentials
from inspector.core.source import Source, blocks

if TYPE_CHECKING:  # a command that lists creates and repairs nothing
    from inspector.core.edit import Edit
    from inspector.operations.create.creating import Created
    from inspector.operations.edit.plan_repairs import Plan

quoted = encode_basestring_ascii
"""Text as JSON in ASCII."""
_MAX_BUFFERED_LINES = 4096
_BAR_DELAY_S = 0.4
"""Seconds before a progress bar appears."""
_BAR_REFRESH_S = 0.1
_BAR_WIDTH = 24
"""Characters of the bar itself."""
_MAX_BYTES_SHOWN = 128
"""Bytes of one write that are shown in full; of a longer one, half of them from either end."""
_MAX_INLINE_BYTES = 1 << 16
"""Old bytes that JSON contains; of more it has the size, the hash and where they are kept."""
_BAR = r"\[[# ]*\] "
_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)
_AS_JSON: ContextVar[bool] = ContextVar("as_json", default=False)
_COLOUR: ContextVar[str] = ContextVar("colour", default="auto")
_waiting: list[str] = []
"""Text for standard output that is not written yet."""


class OutputError(Exception):
    """Standard output cannot be written; the message is a sentence."""


@contextmanager
def _as_output_error() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # the reader has closed the pipe, which is no error
        raise
    except OSError as error:
        raise OutputError(f"Standard output could not be written: {(error.strerror or str(error)).lower()}.") from error


def close_output() -> None:
    """Discard all further output: Python flushes once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def put(data: bytes) -> None:
    """Write to standard output; raises OutputError, and BrokenPipeError if the reader has closed the pipe."""
    with _as_output_error():
        sys.stdout.buffer.write(data)


def emit(*text: str) -> None:
    """Add text to what is printed next; line ends are the caller's."""
    _waiting.extend(text)
    if len(_waiting) >= _MAX_BUFFERED_LINES:
        _push()


def say(line: str) -> None:
    """Add a line that only people read."""
    if not _AS_JSON.get():
        emit(f"{line}\n")


def show(found: Mapping[str, Any], *lines: str) -> None:
    """Add a value as the user asked for it: one JSON object on one line, or these lines of text."""
    emit(f"{json.dumps(found)}\n" if _AS_JSON.get() else "".join(f"{line}\n" for line in lines))


def flush() -> None:
    """Print what was added and flush standard output; raises as ``put`` does."""
    _push()
    with _as_output_error():
        sys.stdout.flush()


def _push() -> None:
    text = "".join(_waiting)
    _waiting.clear()
    # Names are printable by now, but the terminal's encoding may still lack some of their characters.
    put(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))


def json_text(value: Any) -> str:
    """A value as JSON in ASCII, so that no control character of a hostile name reaches the terminal.

    A number that JSON cannot express (infinity) becomes text.
    """
    if value is None:
        return "null"
    if type(value) is str:
        return quoted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return quoted(str(value))
    if isinstance(value, list):
        return f"[{', '.join(map(json_text, value))}]"
    return json.dumps(value)


def complain(sentence: str) -> None:
    """Print why something was not done on standard error, with credentials removed from it, after what was added."""
    if _waiting:
        flush()
    line = f"{PROGRAM}: {visible(strip_credentials(sentence))}"
    print(re.sub(_IN_MESSAGE, _paint, line, count=1) if wants_colour(sys.stderr) else line, file=sys.stderr)


def remark(sentence: str) -> None:
    """Print what else there is to know, as ``complain`` does; nothing under ``--quiet``."""
    if not _QUIET.get():
        complain(sentence)


@contextmanager
def printing(*, quiet: bool, as_json: bool, colour: str = "auto") -> Iterator[None]:
    """Within the block, with ``quiet``, print no remarks and no progress; ``as_json``: rows are objects.

    ``colour`` is auto, always or never; see ``wants_colour``.
    """
    before, was_json, was = _QUIET.set(quiet), _AS_JSON.set(as_json), _COLOUR.set(colour)
    try:
        yield
    finally:
        _QUIET.reset(before)
        _AS_JSON.reset(was_json)
        _COLOUR.reset(was)


# ---- results of create and append --------------------------------------------------------------------------------


def print_created(created: Created) -> None:
    """Print the result as a sentence, or as one JSON object per archive; warnings go to standard error."""
    for warning in created.warnings:
        remark(warning)
    for each in created.archives:
        show({"source": each.path, "members": each.members, "bytes": each.size})
    say(visible(created.sentence))


# ---- the writes of an edit ---------------------------------------------------------------------------------------


def write_lines(edit: Edit) -> list[str]:
    """Every write of an edit as text, in the order of writing: offset, old bytes, new bytes."""
    lines = []
    for patch in edit.patches:
        place = f"at {patch.offset:,} (0x{patch.offset:x}), {in_bytes(len(patch.new))}"
        lines += [place, f"  old  {_hex(patch.old)}", f"  new  {_hex(patch.new)}"]
    if edit.dropped.size:
        start = edit.dropped.start
        lines.append(f"at {start:,} (0x{start:x}), {in_bytes(edit.dropped.size)} at the end are cut off")
    return lines


def _hex(data: bytes) -> str:
    if not data:
        return "(after the end of the file)"
    if len(data) <= _MAX_BYTES_SHOWN:
        return data.hex()
    return f"{data[: _MAX_BYTES_SHOWN // 2].hex()}…{data[-_MAX_BYTES_SHOWN // 2 :].hex()}"


def write_objects(edit: Edit) -> list[dict[str, Any]]:
    """Every write of an edit for JSON, in the order of writing; bytes are hex."""
    return [{"offset": patch.offset, "old": patch.old.hex(), "new": patch.new.hex()} for patch in edit.patches]


def old_bytes(source: Source, plan: Plan) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What a plan cuts off an archive, as a write, and what it replaces beside it, for JSON, before it is written.

    Bytes are hex; of more than _MAX_INLINE_BYTES there are the size and the hash, and no place where they are kept.
    """
    edit, cut = plan.edit, []
    if edit is not None and edit.dropped.size:
        cut = [{"offset": edit.dropped.start, "old": _content(source, *edit.dropped), "new": ""}]
    beside = []
    for each in plan.beside:
        old = source.sibling(each.suffix, each.instead_of)
        held = _content(old, 0, old.size) if old is not None else None
        beside.append({"suffix": each.suffix, "instead_of": each.instead_of, "old": held})
    return cut, beside


def _content(source: Source, start: int, stop: int) -> str | dict[str, Any]:
    if stop - start <= _MAX_INLINE_BYTES:
        return source.read(start, stop - start).hex()
    from hashlib import sha256  # few plans cut off so much

    digest = sha256()
    for piece in blocks(source, start, stop):
        digest.update(piece)
    return {"path": None, "offset": None, "length": stop - start, "sha256": digest.hexdigest()}


# ---- progress ----------------------------------------------------------------------------------------------------


def progress_line(progress: Progress, *more: str) -> str:
    """One state of progress as a line, without its line end; ``more`` is what else is known, as rate and time left."""
    show = rounded if progress.unit == "bytes" else grouped
    done, total = progress.done, progress.total
    if total <= 0:
        return " · ".join((f"{visible(progress.label)}  {show(done)}", *more))
    filled = min(_BAR_WIDTH, done * _BAR_WIDTH // total)
    bar = f"{visible(progress.label)}  [{'#' * filled:<{_BAR_WIDTH}}] {show(done)} of {show(total)}"
    return " · ".join((bar, *more))


def paced_line() -> Callable[[Progress], str]:
    """A function that gives the line of one job with its rate and time left, from stage to stage."""
    eta = Eta(time.monotonic())
    return lambda progress: progress_line(progress, *eta.pace(progress, time.monotonic()))


def fitted(line: str, width: int) -> str:
    """The line without its bar if it does not fit beside the cursor, and cut off if it is too long even then."""
    if len(line) >= width:
        line = re.sub(_BAR, "", line, count=1)
    return line[: max(0, width - 1)]


class ProgressBar:
    """A context manager that shows a Progress on standard error while its block runs, and clears the line after it.

    ``line`` formats the progress, by default with rate and time left. Without a terminal nothing is shown, or with
    ``log_interval_s`` above 0 one line every so many seconds. Nothing is shown under ``--quiet``.
    """

    def __init__(
        self, progress: Progress, line: Callable[[Progress], str] | None = None, log_interval_s: float = 0.0
    ) -> None:
        self._progress = progress
        self._line = line or paced_line()
        self._log_interval_s = log_interval_s
        self._ended = threading.Event()
        self._is_terminal = sys.stderr.isatty()
        is_shown = not _QUIET.get() and (self._is_terminal or log_interval_s)
        self._thread = threading.Thread(target=self._show, daemon=True) if is_shown else None

    def _show(self) -> None:
        # The line is made more often than printed: the rate of a stage counts from when the stage was first seen.
        each = _BAR_REFRESH_S if self._is_terminal else min(self._log_interval_s, _BAR_DELAY_S)
        printed, is_bar = time.monotonic(), False
        while not self._ended.wait(each):
            line = self._line(self._progress)
            if self._is_terminal and (is_bar or time.monotonic() - printed >= _BAR_DELAY_S):
                is_bar = True
                print(f"\r\x1b[K{fitted(line, columns(sys.stderr))}", end="", file=sys.stderr, flush=True)
            elif not self._is_terminal and time.monotonic() - printed >= self._log_interval_s:
                printed = time.monotonic()
                print(line, file=sys.stderr, flush=True)
        if is_bar:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        if self._thread:
            self._thread.start()
        return self._progress

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread:
            self._thread.join()


# ---- colour ----------------------------------------------------------------------------------------------------------

_RED, _YELLOW, _GREEN, _BLUE = "31", "33", "32", "34"
_COLOURS = {
    "error": _RED,
    "mismatch": _RED,
    "damaged": _RED,
    "torn": _RED,
    "unreadable": _RED,
    "warning": _YELLOW,
    "doubtful": _YELLOW,
    "info": _BLUE,
    "sound": _GREEN,
}
"""The colour of each severity, state and verdict that stands out, as an ANSI attribute."""
_WORDS = "|".join(_COLOURS)
_AT_START = rf"(?m)^( {{2,}})({_WORDS})(?=: )"
"""A line of a report beneath the first: indented, the word, a colon."""
_JUDGEMENT = rf"(?i)^(\S.*?: )({_WORDS})(?=[:;.])"
"""The first line of a report: the location and the state."""
_IN_MESSAGE = r"(: )(error|warning|info)(?=: )"
"""The severity in a message on standard error."""


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour what is written to ``stream``: as ``--color`` says, which is auto by default.

    NO_COLOR (https://no-color.org) forbids it, CLICOLOR_FORCE (https://bixense.com/clicolors) asks for it in a pipe
    too; otherwise a terminal that is not ``dumb`` gets it.
    """
    if (wanted := _COLOUR.get()) != "auto":
        return wanted == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def painted(word: str) -> str:
    """The word in its colour; one that has none stays as it is."""
    colour = _COLOURS.get(word.lower())
    return f"\x1b[{colour}m{word}\x1b[0m" if colour else word


def painted_report(text: str) -> str:
    """A report of ``check`` with its state, severities and verdicts in colour."""
    return re.sub(_JUDGEMENT, _paint, re.sub(_AT_START, _paint, text), count=1)


def _paint(found: re.Match[str]) -> str:
    return found[1] + painted(found[2])
