"""The program where there is no POSIX: every module loads, archives are read, and the window opens one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.patience import PATIENCE

Sample = Callable[[str], Path]
PREPARE = """
import importlib, logging.handlers, multiprocessing.shared_memory, os, pkgutil, platform, signal, sys, uuid
import boto3, botocore.httpsession, isal.igzip, msgspec, numpy, platformdirs, xxhash, zstandard
import distributed
from PySide6 import QtCore, QtGui, QtNetwork, QtWidgets

POSIX = ("fcntl", "grp", "posix", "pwd", "resource", "syslog", "termios", "tty")
GONE = {
    os: ["chown", "copy_file_range", "fchmod", "fork", "forkpty", "getpgid", "getuid", "geteuid", "getxattr", "killpg",
        "mkfifo", "nice", "posix_fadvise", "posix_fallocate", "pread", "preadv", "pwrite", "pwritev", "sendfile",
        "setsid", "setxattr", "statvfs", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "SEEK_DATA"],
    signal: ["SIGALRM", "SIGHUP", "SIGPIPE", "SIGUSR1", "pthread_sigmask", "setitimer"],
}

def without_posix():
    sys.platform = "win32"
    multiprocessing.get_all_start_methods = lambda: ["spawn"]
    os.supports_dir_fd = set()
    for module, names in GONE.items():
        for name in names:
            delattr(module, name)
    for name in POSIX:
        sys.modules[name] = None  # importing it raises ImportError

def every_module():
    import inspector
    return [found.name for found in pkgutil.walk_packages(inspector.__path__, "inspector.")]
"""
LOAD_AND_READ = """
without_posix()
names = every_module()
for name in names:
    importlib.import_module(name)
print(len(names), flush=True)
from inspector.__main__ import main
print([main([command, location]) for location in sys.argv[1:] for command in ("list", "check", "dump")])
"""
SHOW = """
from multiprocessing import resource_tracker
resource_tracker.ensure_running()  # Python's own way of starting processes here needs POSIX once
without_posix()
from inspector.gui.app import app
from inspector.gui.app.window import Window
from inspector.gui.kit.preferences import Settings
application = app.application()
window = Window(Settings(QtCore.QSettings(sys.argv[2], QtCore.QSettings.Format.IniFormat)))
window.show()
window.open_location(sys.argv[1])
assert app.wait_until_settled(window)
print(window.tab().banner.state.text())
window.end()
window.close()
"""


def said(root: Path, code: str, *arguments: object) -> str:
    """What a process prints that begins like on this system, and then has no POSIX."""
    guarded = f"{PREPARE}\nif __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in code.splitlines())
    command = [sys.executable, "-c", guarded, *map(str, arguments)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_loads_and_archives_are_read(root: Path, sample: Sample) -> None:
    sources = [path for path in (root / "inspector").rglob("*.py") if path != root / "inspector" / "__init__.py"]
    names = ["two-chunks.rca", "two-entries.tacozip", "journey.caf", "plain.tar", "plain.zip"]

    lines = said(root, LOAD_AND_READ, *map(sample, names)).splitlines()

    assert int(lines[0]) == len(sources)
    assert lines[-1] == f"{[0] * 3 * len(names)}"


@pytest.mark.sweep
def test_the_window_opens_an_archive(root: Path, sample: Sample, tmp_path: Path) -> None:
    assert "RCA archive" in said(root, SHOW, sample("two-chunks.rca"), tmp_path / "settings.ini")
