"""Formats of one's own: from installed packages, and from files that the user names. Nothing else is ever loaded.

A package has an entry point of the group ``archive_inspector.formats``; a file is given by ``--format-file``, which
puts it into the environment, so that workers load the same. Each is a module, or an object, with a ``FORMAT``.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from inspector.core import codes
from inspector.core.archive import Archive, Emitter
from inspector.core.format import Format, MemberError, ProbeResult
from inspector.core.limits import FORMAT_FILES
from inspector.core.names import visible
from inspector.core.program.log import Log
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError

GROUP = "archive_inspector.formats"
_PASSED = (SourceError, MemberError, Cancelled)

_LOG = Log(__name__)


class OwnFormatError(Exception):
    """A file of a format cannot be used; the message is a sentence."""


@cache
def own_formats() -> tuple[Format, ...]:
    """The formats of packages and of the files named in the environment. One that cannot be loaded is left out."""
    found = []
    for name, load in _loaders():
        try:
            found.append(_guarded(load(), Path(name)))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code
            _LOG.info("The format %s cannot be used: %s", name, _reason(error))
    return tuple(found)


def _loaders() -> Iterator[tuple[str, Callable[[], Format]]]:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        yield point.name, partial(_format_in, point.load, point.name)
    for path in filter(None, os.environ.get(FORMAT_FILES, "").split(os.pathsep)):
        yield path, partial(load_file, Path(path))


def _format_in(load: Callable[[], Any], name: str) -> Format:
    loaded = load()
    found = getattr(loaded, "FORMAT", loaded)
    if not isinstance(found, Format):
        raise OwnFormatError(f"{visible(name)} has no FORMAT: say FORMAT = Format(...) in it.")
    return found


def use(files: Sequence[str]) -> None:
    """Know the formats of these files too, from now on. Raises OwnFormatError."""
    for each in files:
        load_file(Path(each))
    named = os.environ.get(FORMAT_FILES, ""), *(str(Path(each).resolve()) for each in files)
    os.environ[FORMAT_FILES] = os.pathsep.join(filter(None, named))
    own_formats.cache_clear()


@contextmanager
def using(files: Sequence[str]) -> Iterator[None]:
    """Know the formats of these files too, in this process and in those that it starts.

    Raises OwnFormatError, with what is wrong in one of them.
    """
    before = os.environ.get(FORMAT_FILES, "")
    use(files)
    try:
        yield
    finally:
        os.environ[FORMAT_FILES] = before
        own_formats.cache_clear()


def load_file(path: Path) -> Format:
    """The format of a Python file. Raises OwnFormatError with what is wrong in it, and in which line."""

    def load() -> Any:
        spec = importlib.util.spec_from_file_location(f"archive_inspector_format_{path.stem}", path)
        if spec is None or spec.loader is None:
            raise OwnFormatError(f"{visible(str(path))} is no Python file: its name has to end with .py.")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    try:
        return _format_in(load, str(path))
    except OwnFormatError:
        raise
    except (Exception, SystemExit) as error:
        raise OwnFormatError(f"{visible(str(path))} cannot be used: {_reason(error, path)}") from error


def _reason(error: BaseException, path: Path | None = None) -> str:
    """What an exception says, and where in a file of the user it was raised."""
    if isinstance(error, (OSError, OwnFormatError)):
        return f"{getattr(error, 'strerror', None) or error}.".replace("..", ".")
    trace, line = error.__traceback__, getattr(error, "lineno", None)
    while trace is not None:
        if path is not None and Path(trace.tb_frame.f_code.co_filename).name == path.name:
            line = trace.tb_lineno
        trace = trace.tb_next
    place = f" in line {line}" if line else ""
    return visible(f"{type(error).__name__}{place}: {error}.")


def _guarded(known: Format, path: Path) -> Format:
    """The same format, whose failures are sentences: nothing that somebody wrote in ten minutes ends the program."""

    def told(name: str, *args: Any) -> Any:
        """What decodes and checks says in a finding that it failed."""
        try:
            return getattr(known, name)(*args)
        except _PASSED:
            raise
        except Exception as error:  # noqa: BLE001 - it is somebody else's code, here and below
            emitter = next(each for each in args if isinstance(each, Emitter))
            emitter.report(codes.OWN_FORMAT_FAILED, f"The format {known.name} failed. {_reason(error, path)}")
            return ""

    def or_else(name: str, otherwise: Callable[..., Any], *args: Any) -> Any:
        """Any other function does then what a format without it does."""
        try:
            return getattr(known, name)(*args)
        except _PASSED:
            raise
        except Exception as error:  # noqa: BLE001
            _LOG.info("The format %s failed in %s: %s", known.name, name, _reason(error, path))
            return otherwise(*args)

    def read(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
        try:
            yield from known.read(archive, index, progress)
        except _PASSED:
            raise
        except Exception as error:
            raise MemberError(f"The format {known.name} failed. {_reason(error, path)}") from error

    others: dict[str, Any] = {name: partial(or_else, name, Format._field_defaults[name]) for name in _OTHERS}
    probe = partial(or_else, "probe", lambda _: ProbeResult.NO)
    return known._replace(
        probe=probe, decode=partial(told, "decode"), check=partial(told, "check"), read=read, **others
    )


_OTHERS = ("repairs", "member_metadata", "decode_group", "prove", "doubt", "hides_members", "damage", "readers")
