"""The program's entry point: the window, or a sub-command in the terminal (``python -m inspector`` works too)."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspector.cli.bootstrap import command_first, exit_on_interrupt, open_missing_streams, report_interrupt
from inspector.operations.report import RENDER_PDF

if TYPE_CHECKING:  # a worker imports this module too
    import argparse

NO_SCREEN = (
    "There is no screen to open a window on. --screenshot OUT.png LOCATION draws the window into a "
    "picture; list, dump, check and cat work in the terminal."
)

NO_WINDOW = "The window needs PySide6, which is not installed: pip install PySide6-Essentials. Commands work without."

WRITING_COMMANDS = ("create", "append", "extract", "repair")
"""Sub-commands that only report on standard output; of all others, the output is the result."""

_ALLOCATED_BETWEEN_COLLECTIONS = 100_000
"""Objects that may be allocated, and not be freed yet, before a command collects garbage."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status: 0 fine, 1 not sound, 2 usage or unreadable, 130 interrupted.

    The first word decides: a sub-command works in the terminal and never loads the window's libraries; anything
    else is for the window. A location that is named like a sub-command opens as ``./list``.
    """
    if getattr(sys, "frozen", False):
        # A packaged program starts itself again as its worker process, which never returns from here.
        from multiprocessing import freeze_support

        freeze_support()
        _restore_library_path()
    arguments = command_first(sys.argv[1:] if argv is None else argv)
    open_missing_streams(output_needed=not arguments or arguments[0] not in WRITING_COMMANDS or "--json" in arguments)
    try:
        return _run(arguments, is_process=argv is None)
    except KeyboardInterrupt:
        return report_interrupt()


def _collect_seldom() -> None:
    """Collect garbage seldom, and none at the end: that takes a fifth of a short command.

    Nearly all that a command makes lives as long as it does.
    """
    gc.set_threshold(_ALLOCATED_BETWEEN_COLLECTIONS)
    atexit.register(gc.freeze)


def _run(arguments: list[str], *, is_process: bool) -> int:
    # Imported late: the worker process imports this module again and needs neither front end.
    with exit_on_interrupt():
        from inspector.cli.options import with_debug_target
        from inspector.cli.parser import COMMANDS, PROGRAM, mistyped, window_parser
        from inspector.core.program.log import VARIABLE, LogError, logging_to

    if arguments == [RENDER_PDF]:
        from inspector.gui.kit import pdf

        return pdf.main()
    if arguments and arguments[0] in COMMANDS:
        with exit_on_interrupt():
            from inspector.cli.run import run_command

        if is_process:
            _collect_seldom()
        return run_command(arguments)
    if arguments and (sentence := mistyped(arguments[0])):
        print(f"{PROGRAM}: {sentence}", file=sys.stderr)
        return 2
    parser = window_parser()
    options = parser.parse_args(with_debug_target(arguments))
    try:
        with logging_to(options.debug or os.environ.get(VARIABLE, ""), "window"):
            return _run_window(parser, options)
    except LogError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2


def _run_window(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.install_desktop or options.uninstall_desktop:
        if options.locations:
            parser.error("--install-desktop and --uninstall-desktop take no location")
        from inspector.cli.commands import desktop

        return desktop.run(install_it=options.install_desktop)
    if not _has_screen() and options.screenshot is not None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    elif not _has_screen():
        from pathlib import Path

        mistaken = [word for word in options.locations[:1] if word.isalpha() and not Path(word).exists()]
        unknown = f"{mistaken[0]} is neither a file nor a command. " if mistaken else ""
        print(f"{parser.prog}: {unknown}{NO_SCREEN}", file=sys.stderr)
        return 2
    if options.format_file:
        # The window's process decodes nothing, so it does not run them either: its workers do.
        import subprocess

        from inspector.core.limits import FORMAT_FILES, own_command

        named = [f"--format-file={each}" for each in options.format_file]
        tried = subprocess.run([*own_command(), "formats", *named], stdout=subprocess.DEVNULL, check=False)  # noqa: S603
        if tried.returncode:
            return tried.returncode
        os.environ[FORMAT_FILES] = os.pathsep.join(map(os.path.abspath, options.format_file))
    gc.disable()  # what is imported stays; the application collects when it is idle
    try:
        with exit_on_interrupt():
            from inspector.gui.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "PySide6":
            raise
        print(f"{parser.prog}: {NO_WINDOW}", file=sys.stderr)
        return 2

    if options.screenshot is not None:
        return app.screenshot(options.screenshot, options.locations, compare=options.compare)
    return app.run(
        options.locations, new_window=options.new_window or bool(options.format_file), compare=options.compare
    )


def _restore_library_path() -> None:
    """Make programs started from here load the system's libraries, not those of the packaged program."""
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before
    else:
        os.environ.pop("LD_LIBRARY_PATH", None)


def _has_screen() -> bool:
    """Whether there is somewhere to show a window; elsewhere Qt would abort the process with a core dump."""
    return not sys.platform.startswith("linux") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    )


if __name__ == "__main__":
    sys.exit(main())
