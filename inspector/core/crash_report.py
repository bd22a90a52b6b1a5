"""A report of a mistake in the program that can be given away: it holds nothing of the user's.

It is made of what is safe rather than cleaned of what is not: versions, the system, kinds of exceptions, and where in
the program they came up. Their words are left out unless Python itself makes them of names in the code, for any others
may hold names, paths, keys or bytes of an archive; so are the values of variables, and files of others.
"""

from __future__ import annotations

import errno
import linecache
import platform
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import TracebackType

from inspector import __version__

PACKAGE = "inspector"
LIBRARIES = ("site-packages", "dist-packages")
FOREIGN = "<file>"
"""What stands for a file of which nothing is said."""
OF_THE_CODE = (AttributeError, NameError, ImportError, IndexError, RecursionError, TypeError, ZeroDivisionError)
"""Exceptions whose words Python makes of names in the code alone, when it raises them itself."""
MOST_FRAMES = 40
"""Calls of one exception that are told; of more the middle is left out."""
MOST_CAUSES = 8
_LEFT_OUT = "its words are left out, for they may hold names, paths or content"


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker process sends beside its answers when a mistake came up in it."""

    text: str


def report(error: BaseException, where: str, versions: Mapping[str, str] | None = None) -> str:
    """What went wrong, for those who can repair it; ``where`` is a part of the program, such as ``window``."""
    return "\n".join((*_head(where, versions or {}), "", *_told(error)))


def report_of_death(exit_code: int | None, work: tuple[str, ...], versions: Mapping[str, str] | None = None) -> str:
    """That a worker process ended by itself: how, as far as that is known, and which methods it was running."""
    ended = "unknown" if exit_code is None else f"{exit_code} ({_signal(-exit_code)})" if exit_code < 0 else exit_code
    doing = ", ".join(work) or "nothing that takes long"
    return "\n".join(
        (*_head("worker", versions or {}), "", f"The process ended. Exit status: {ended}. Doing: {doing}.")
    )


def place_of(error: BaseException) -> str:
    """Where in the program an exception was raised, as a file, a line and a function."""
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [pair for pair in frames if _shown(pair[0].f_code.co_filename).startswith(f"{PACKAGE}/")] or frames
    if not own:
        return "an unknown place"
    frame, line = own[-1]
    return f"{_shown(frame.f_code.co_filename)}, line {line}, in {frame.f_code.co_name}"


def _head(where: str, versions: Mapping[str, str]) -> Iterator[str]:
    yield f"Archive Inspector {__version__}, {where}"
    known = {"Python": platform.python_version(), **versions}
    yield ", ".join(f"{name} {number}" for name, number in known.items())
    frozen = ", packaged" if getattr(sys, "frozen", False) else ""
    yield f"{platform.system()} {platform.release()}, {platform.machine()}{frozen}"


def _told(error: BaseException) -> Iterator[str]:
    """An exception after those that it came from."""
    chain = [error]
    while len(chain) < MOST_CAUSES and (before := _before(chain[-1])) is not None and before not in chain:
        chain.append(before)
    for at, each in enumerate(reversed(chain)):
        if at:
            yield "which led to"
        yield from _frames(each.__traceback__)
        yield f"{_kind(each)}: {_words(each)}"


def _before(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _kind(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return f"{errno.errorcode.get(error.errno, error.errno)} ({_LEFT_OUT})"
    if isinstance(error, OF_THE_CODE) and not _raised_here(error):
        return str(error)
    return _LEFT_OUT


def _raised_here(error: BaseException) -> bool:
    """Whether a ``raise`` made it, so that its words are anybody's."""
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames:
        return True
    frame, line = frames[-1]
    text = linecache.getline(frame.f_code.co_filename, line).strip()
    return not text or text.startswith("raise")


def _frames(trace: TracebackType | None) -> Iterator[str]:
    found = list(traceback.walk_tb(trace))
    half = MOST_FRAMES // 2
    for at, (frame, line) in enumerate(found):
        if half <= at < len(found) - half:
            if at == half:
                yield f"  … {len(found) - MOST_FRAMES} more"
            continue
        file = frame.f_code.co_filename
        shown = _shown(file)
        yield f"  {shown}" if shown == FOREIGN else f"  {shown}, line {line}, in {frame.f_code.co_name}"
        text = linecache.getline(file, line).strip() if shown.startswith(f"{PACKAGE}/") else ""
        if text:
            yield f"    {text}"


def _shown(file: str) -> str:
    """A file of the program or of a library by its place in that; of others nothing."""
    parts = PurePath(file.replace("\\", "/")).parts
    for library in LIBRARIES:
        if library in parts:
            return "/".join(parts[parts.index(library) + 1 :])
    own = PurePath(__file__.replace("\\", "/")).parent.parent
    path = PurePath(*parts) if parts else PurePath()
    if path.is_relative_to(own):
        return f"{PACKAGE}/{path.relative_to(own).as_posix()}"
    if file.startswith("<frozen ") or path.is_relative_to(PurePath(traceback.__file__).parent):
        return parts[-1]
    return FOREIGN


def _signal(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown signal"
