"""What every test stands on: a window system without a screen, settings of its own, and the sample archives.

The environment is set before anything of Qt is imported, for this process and for those it starts.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Generator
from difflib import unified_diff
from pathlib import Path

import pytest
from hypothesis import settings

if len(tempfile.gettempdir()) > 60:  # the path of a socket has room for 107 bytes
    tempfile.tempdir = os.environ["TMPDIR"] = "/tmp"

_HOME = tempfile.TemporaryDirectory(prefix="inspector-tests-", ignore_cleanup_errors=True)

os.environ.update(
    {
        # "xcb" is how tests/screen runs tests of the window on a screen.
        "QT_QPA_PLATFORM": os.environ.get("TESTS_PLATFORM", "offscreen"),
        "QT_STYLE_OVERRIDE": "fusion",
        "QT_SCALE_FACTOR": "1",
        "QT_FONT_DPI": "96",
        "FONTCONFIG_FILE": str(Path(__file__).with_name("fonts.conf")),
        "LC_ALL": "C.UTF-8",
        # QSettings and everything else that is remembered goes here and is gone after the tests.
        "XDG_CONFIG_HOME": _HOME.name,
        "XDG_CACHE_HOME": f"{_HOME.name}/cache",
        "XDG_DATA_HOME": f"{_HOME.name}/data",
        "XDG_STATE_HOME": f"{_HOME.name}/state",
        # Each test decodes what it opens, however long that takes on a busy machine.
        # Nothing here multiplies matrices, but each process that imports numpy starts threads that wait for that.
        "OPENBLAS_NUM_THREADS": "1",
    }
)

# A shell that runs the tests in the background has them, and all that they start, ignore interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.pop("PYTHONUNBUFFERED", None)  # it would hide output that is held back from whoever reads it
# Else each of the hundreds of processes that tests start compiles the program anew, and so does each run the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# How long an example takes is for the machine and its load to say. ``--hypothesis-profile=sweep`` looks further.
settings.register_profile("quick", deadline=None, max_examples=10, derandomize=True)
settings.register_profile("sweep", deadline=None, max_examples=300)
settings.load_profile("quick")

ROOT = Path(__file__).parent.parent
SAMPLES = (ROOT / "resources" / "samples", ROOT / "tests" / "samples")

collect_ignore = ["benchmarks"]

MAX_DIFF_LINES, MAX_DIFF_WIDTH = 60, 300
"""How much is shown of what differs from a file that is kept."""


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def qapp_cls() -> type:
    """The application that pytest-qt makes: the program's own."""
    from inspector.gui.app.app import Application

    return Application


@pytest.fixture(scope="session")
def sample() -> Callable[[str], Path]:
    """The path of a sample archive by its name: one that is shipped, or one that only tests need."""

    def find(name: str) -> Path:
        found = [folder / name for folder in SAMPLES if (folder / name).exists()]
        if len(found) != 1:
            raise LookupError(f"{len(found)} samples are called {name}; there has to be one.")
        return found[0]

    return find


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many archives are checked without other processes."""
    from tests.pools import InThisProcess

    monkeypatch.setattr("inspector.operations.audit.audit.ProcessPool", InThisProcess)


def pytest_report_header() -> str:
    """Say on what windows are drawn."""
    return f"Qt platform: {os.environ['QT_QPA_PLATFORM']}"


def pytest_configure(config: pytest.Config) -> None:
    """Give each process neighbouring tests, until one has none left and takes some of another's.

    Servers, screens and processes to fork from are then started where they are needed, not four times each.
    """
    if getattr(config.option, "dist", "no") == "load":
        config.option.dist = "worksteal"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--golden`` and ``--pictures``."""
    parser.addoption("--golden", action="store_true", help="write what tests compare with anew: transcripts, pages")
    parser.addoption("--pictures", action="store_true", help="keep what the window looks like now")


@pytest.fixture
def written(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a file with the text that the program says now, or write that file when ``--golden`` is given."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--golden"):
            path.write_text(text, encoding="utf-8")
        kept = path.read_text(encoding="utf-8") if path.exists() else None
        if kept == text:
            return
        name, test = path.relative_to(ROOT), request.node.path.relative_to(ROOT)
        is_not = "is not there" if kept is None else "does not say what the program says now"
        found = [f"{name} {is_not}.", f"Where that is meant, pytest --golden {test} writes it; review it like code."]
        if kept is not None:
            lines = list(unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", n=1, lineterm=""))
            found += ["", *(line[:MAX_DIFF_WIDTH] for line in lines[:MAX_DIFF_LINES])]
            found += [f"… and {len(lines) - MAX_DIFF_LINES:,} more lines"] if len(lines) > MAX_DIFF_LINES else []
        pytest.fail("\n".join(found), pytrace=False)

    return compare


@pytest.fixture
def golden(written: Callable[[Path, str], None]) -> Callable[[str, str], None]:
    """Compare a text with a file of tests/golden, or write that file when ``--golden`` is given."""
    return lambda name, text: written(ROOT / "tests" / "golden" / name, text)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among tests while they are collected, nor ever: among 9,000 of them that takes 0.2 s."""
    gc.disable()
    outcome = yield
    gc.enable()
    gc.freeze()
    return outcome


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the window collect what is left of a test of it, and Python where no event loop would."""
    if "qapp" in getattr(item, "fixturenames", ()):
        gc.disable()
    elif not gc.isenabled():
        gc.collect()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Say who keeps the interpreter from ending, and end it: a thread left behind must not hang the run."""
    if "PYTEST_XDIST_WORKER" not in os.environ:  # such a process waits for the others, and is ended with them
        faulthandler.dump_traceback_later(60, exit=True, file=sys.__stderr__)
