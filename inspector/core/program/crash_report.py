"""Crash reports that are safe to share: they hold none of the user's data.

A report is built from a list of safe parts, not filtered: versions, the system, exception types, and where in the
program they were raised. An exception's message is left out unless Python built it from names in the code, because it
may hold file names, keys or bytes of an archive. Values of variables and paths outside the program are left out too.
"""

from __future__ import annotations

import errno
import linecache
import platform
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from types import TracebackType
from typing import NamedTuple

from inspector import __version__

PACKAGE = "inspector"
LIBRARIES = ("site-packages", "dist-packages")
OTHER_FILE = "<file>"
"""Stands for a file outside the program and its libraries."""
SAFE_ERRORS = (AttributeError, NameError, ImportError, IndexError, RecursionError, TypeError, ZeroDivisionError)
"""Exceptions whose messages hold only names in the code when Python itself raises them."""
MAX_FRAMES = 40
"""Frames shown for one exception; the middle of a longer traceback is left out."""
MAX_CAUSES = 8
_NO_MESSAGE = "message left out: it may hold names, paths or content"


class CrashReport(NamedTuple):
    """The message a worker process sends when an unexpected exception was raised in it."""

    text: str


def report(error: BaseException, where: str, versions: Mapping[str, str] | None = None) -> str:
    """The report on ``error``; ``where`` is a part of the program, such as ``window``."""
    return "\n".join((*environment(where, versions or {}), "", *_chain(error)))


def exit_report(exit_code: int | None, work: tuple[str, ...], versions: Mapping[str, str] | None = None) -> str:
    """The report on a worker process that ended by itself while it ran the methods ``work``.

    ``exit_code`` is negative for a signal, None if unknown.
    """
    ended = "unknown" if exit_code is None else f"{exit_code} ({_signal(-exit_code)})" if exit_code < 0 else exit_code
    doing = ", ".join(work) or "nothing that takes long"
    return "\n".join(
        (*environment("worker", versions or {}), "", f"The process ended. Exit status: {ended}. Doing: {doing}.")
    )


def raised_at(error: BaseException) -> str:
    """The innermost frame of the program that raised ``error``: file, line and function."""
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [pair for pair in frames if _shown(pair[0].f_code.co_filename).startswith(f"{PACKAGE}/")] or frames
    if not own:
        return "an unknown place"
    frame, line = own[-1]
    return f"{_shown(frame.f_code.co_filename)}, line {line}, in {frame.f_code.co_name}"


def environment(where: str, versions: Mapping[str, str]) -> Iterator[str]:
    """The first lines of a report: versions and the system; ``where`` and ``versions`` are as in ``report``."""
    yield f"Archive Inspector {__version__}, {where}"
    known = {"Python": platform.python_version(), **versions}
    yield ", ".join(f"{name} {number}" for name, number in known.items())
    frozen = ", packaged" if getattr(sys, "frozen", False) else ""
    yield f"{platform.system()} {platform.release()}, {platform.machine()}{frozen}"


def _chain(error: BaseException) -> Iterator[str]:
    """The exception, after those that caused it."""
    causes = [error]
    while len(causes) < MAX_CAUSES and (cause := _cause(causes[-1])) is not None and cause not in causes:
        causes.append(cause)
    for at, each in enumerate(reversed(causes)):
        if at:
            yield "which led to"
        yield from _frames(each.__traceback__)
        yield f"{_kind(each)}: {_message(each)}"


def _cause(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _kind(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return f"{errno.errorcode.get(error.errno, error.errno)} ({_NO_MESSAGE})"
    if isinstance(error, SAFE_ERRORS) and not _raised_here(error):
        return str(error)
    return _NO_MESSAGE


def _raised_here(error: BaseException) -> bool:
    """Whether a ``raise`` statement raised it, so that its message may hold anything."""
    if not (frames := list(traceback.walk_tb(error.__traceback__))):
        return True
    frame, line = frames[-1]
    text = linecache.getline(frame.f_code.co_filename, line).strip()
    return not text or text.startswith("raise")


def _frames(trace: TracebackType | None) -> Iterator[str]:
    found = list(traceback.walk_tb(trace))
    half = MAX_FRAMES // 2
    for at, (frame, line) in enumerate(found):
        if half <= at < len(found) - half:
            if at == half:
                yield f"  … {len(found) - MAX_FRAMES} more"
            continue
        file = frame.f_code.co_filename
        shown = _shown(file)
        yield f"  {shown}" if shown == OTHER_FILE else f"  {shown}, line {line}, in {frame.f_code.co_name}"
        text = linecache.getline(file, line).strip() if shown.startswith(f"{PACKAGE}/") else ""
        if text:
            yield f"    {text}"


def _shown(file: str) -> str:
    """The path of a file relative to the program or its library; ``OTHER_FILE`` for any other."""
    parts = PurePath(file.replace("\\", "/")).parts
    for library in LIBRARIES:
        if library in parts:
            return "/".join(parts[parts.index(library) + 1 :])
    own = PurePath(__file__.replace("\\", "/")).parents[2]
    path = PurePath(*parts) if parts else PurePath()
    if path.is_relative_to(own):
        return f"{PACKAGE}/{path.relative_to(own).as_posix()}"
    if file.startswith("<frozen ") or path.is_relative_to(PurePath(traceback.__file__).parent):
        return parts[-1]
    return OTHER_FILE


def _signal(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown signal"
