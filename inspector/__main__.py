"""The program's one door: the window, or a sub-command in the terminal (``python -m inspector`` works too)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from inspector.cli.bootstrap import ending_at_once, say_interrupted, stand_in

NO_SCREEN = (
    "There is no screen to open a window on. --screenshot OUT.png LOCATION draws the window into a "
    "picture; list, dump, check and cat work in the terminal."
)

CHANGING = ("create", "append", "extract", "repair")
"""Sub-commands that say on standard output only what they have done; the others were asked for what they write."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and give its exit status: 0 fine, 1 not sound, 2 usage or unreadable, 130 interrupted.

    The first argument decides: the name of a sub-command works in the terminal and never loads the window's
    libraries, anything else is for the window. A location that is named like a sub-command opens as ``./list``.
    """
    if getattr(sys, "frozen", False):
        # A packaged program starts itself again as its worker; this is where such a process turns aside.
        from multiprocessing import freeze_support

        freeze_support()
        _give_back_libraries()
    arguments = list(sys.argv[1:] if argv is None else argv)
    stand_in(output_needed=not arguments or arguments[0] not in CHANGING or "--json" in arguments)
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return say_interrupted()


def _run(arguments: list[str]) -> int:
    # Imported late: the worker process imports this module again and needs neither face.
    with ending_at_once():
        from inspector.cli.parser import COMMANDS, PROGRAM, mistyped, window_parser

    if arguments and arguments[0] in COMMANDS:
        with ending_at_once():
            from inspector.cli.run import run_command

        return run_command(arguments)
    if arguments and (sentence := mistyped(arguments[0])):
        print(f"{PROGRAM}: {sentence}", file=sys.stderr)
        return 2
    parser = window_parser()
    options = parser.parse_args(arguments)
    if options.install_desktop or options.uninstall_desktop:
        if options.locations:
            parser.error("no location is opened while the program is installed or taken away")
        from inspector.cli import desktop

        return desktop.run(install_it=options.install_desktop)
    if options.screenshot is None and _screen_is_missing():
        from pathlib import Path

        lost = [word for word in options.locations[:1] if word.isalpha() and not Path(word).exists()]
        unknown = f"{lost[0]} is no file and no command. " if lost else ""
        print(f"{PROGRAM}: {unknown}{NO_SCREEN}", file=sys.stderr)
        return 2
    with ending_at_once():
        from inspector.gui.app import app

    if options.screenshot is not None:
        return app.screenshot(options.screenshot, options.locations)
    return app.run(options.locations, new_window=options.new_window)


def _give_back_libraries() -> None:
    """Let programs that are started from here find the system's libraries, not those of the packaged program."""
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before
    else:
        os.environ.pop("LD_LIBRARY_PATH", None)


def _screen_is_missing() -> bool:
    """Whether a window could be shown nowhere; Qt would end the process with a dump of its memory."""
    if not sys.platform.startswith("linux"):
        return False
    return not any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


if __name__ == "__main__":
    sys.exit(main())
