"""A later start hands its locations to the window that is open; whatever else comes in is not taken."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from pytestqt.qtbot import QtBot

from inspector.cli.parser import window_parser
from inspector.gui.ipc import instance
from inspector.gui.ipc.instance import ACKNOWLEDGED, CONFIRMED, Instance
from tests.gui.conftest import WAIT

NAME = "test"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name: sockets have no room for a long one."""
    with TemporaryDirectory() as made:
        yield Path(made)


@pytest.fixture
def first(folder: Path) -> Iterator[Instance]:
    made = Instance(folder, NAME)
    assert made.is_first()
    made.listen()
    yield made
    made.close()


LATER = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from inspector.gui.ipc.instance import Instance
folder, name, patience, *locations = sys.argv[1:]
application = QCoreApplication([])
sys.exit(not Instance(Path(folder), name).hand_over(locations, int(patience)))
"""


@pytest.fixture
def hand_over(qtbot: QtBot, folder: Path, root: Path) -> Callable[[list[str], Path], bool]:
    """Hand over from another process while the event loop runs here."""

    def start(locations: list[str], working: Path = root) -> bool:
        command = [sys.executable, "-c", LATER, str(folder), NAME, str(WAIT), *locations]
        environment = {**os.environ, "PYTHONPATH": str(root)}
        with subprocess.Popen(command, cwd=working, env=environment) as later:
            qtbot.waitUntil(lambda: later.poll() is not None, timeout=WAIT)
            return later.returncode == 0

    return start


def test_locations_arrive_as_absolute_paths_with_the_token(
    first: Instance, hand_over: Callable[..., bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "token-1")
    taken: list[tuple[list[str], str]] = []
    first.requested.connect(lambda locations, token: taken.append((locations, token)))
    assert hand_over(["a.caf", "/b/żółw.rca", "s3://bucket/key", os.fsdecode(b"/c/\xff.caf")], tmp_path)
    (sent,) = taken
    assert sent == ([str(tmp_path / "a.caf"), "/b/żółw.rca", "s3://bucket/key", "/c/\udcff.caf"], "token-1")
    assert hand_over([])
    assert taken[1][0] == []


def test_an_address_arrives_with_its_query_because_the_window_reads_it(
    first: Instance, hand_over: Callable[..., bool]
) -> None:
    taken: list[list[str]] = []
    first.requested.connect(lambda locations, _: taken.append(locations))

    assert hand_over(["https://host.example/a.zip?sig=canary"])

    assert taken == [["https://host.example/a.zip?sig=canary"]]


def test_there_is_one_first_and_the_next_is_it_when_it_has_gone(first: Instance, folder: Path) -> None:
    other = Instance(folder, NAME)
    assert first.is_first()
    assert not other.is_first()
    first.close()
    assert other.is_first()
    other.close()


def test_where_nobody_listens_nothing_is_handed_over(folder: Path) -> None:
    assert not Instance(folder, NAME).hand_over(["/a"], timeout_ms=60)


def test_who_does_not_answer_is_not_waited_for(folder: Path) -> None:
    server = QLocalServer()
    assert server.listen(str(folder / NAME))
    assert not Instance(folder, NAME).hand_over(["/a"], timeout_ms=60)
    server.close()


def test_what_a_crash_has_left_is_in_nobodys_way(folder: Path, qtbot: QtBot, hand_over: Callable[..., bool]) -> None:
    crash = (
        "import os, sys\nfrom pathlib import Path\nfrom PySide6.QtCore import QCoreApplication\n"
        "from inspector.gui.ipc.instance import Instance\napp = QCoreApplication([])\n"
        f"one = Instance(Path({str(folder)!r}), {NAME!r})\nassert one.is_first()\none.listen()\nos._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", crash], check=False).returncode == 9
    assert (folder / NAME).exists()
    again = Instance(folder, NAME)
    assert again.is_first()
    again.listen()
    with qtbot.waitSignal(again.requested):
        assert hand_over(["/a"])
    again.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"not JSON\n",
        b"[" * 100_000 + b"\n",
        b'{"locations": "/a", "token": ""}\n',
        b'{"locations": [1], "token": ""}\n',
        b'{"locations": ["/a"]}\n',
        b" " * (instance.MAX_MESSAGE_BYTES + 1),
    ],
)
def test_what_is_no_message_is_not_taken(first: Instance, folder: Path, qtbot: QtBot, sent: bytes) -> None:
    taken: list[object] = []
    first.requested.connect(lambda *message: taken.append(message))
    socket = QLocalSocket()
    socket.connectToServer(str(folder / NAME))
    assert socket.waitForConnected(WAIT)
    with qtbot.waitSignal(socket.disconnected, timeout=WAIT):
        socket.write(sent)
        socket.flush()
    assert not taken


WHOLE = b'{"locations": ["/a"], "token": ""}\n'


def test_a_message_in_pieces_is_one(first: Instance, folder: Path, qtbot: QtBot) -> None:
    socket = QLocalSocket()
    socket.connectToServer(str(folder / NAME))
    for at in range(len(WHOLE)):
        socket.write(WHOLE[at : at + 1])
        socket.flush()
        socket.waitForBytesWritten(WAIT)
    qtbot.waitUntil(lambda: socket.bytesAvailable() > 0)
    assert bytes(socket.readAll().data()) == ACKNOWLEDGED
    with qtbot.waitSignal(first.requested) as asked:
        socket.write(CONFIRMED)
    assert asked.args == [["/a"], ""]


def test_what_a_later_start_has_given_up_is_not_opened_twice(first: Instance, folder: Path, qtbot: QtBot) -> None:
    taken: list[object] = []
    first.requested.connect(lambda *message: taken.append(message))
    assert not Instance(folder, NAME).hand_over(["/a"], timeout_ms=60), "nothing runs here that could answer meanwhile"
    late = QLocalSocket()
    late.connectToServer(str(folder / NAME))
    with qtbot.waitSignal(late.readyRead):  # what came before has been heard by now
        late.write(WHOLE)
    assert not taken


def test_only_the_user_may_use_the_socket(first: Instance, folder: Path) -> None:
    assert first.is_first()
    assert (folder / NAME).stat().st_mode & 0o077 == 0


def test_windows_that_nobody_sees_take_nothing_over() -> None:
    assert instance.current_instance() is None


def test_a_window_of_its_own_can_be_wanted() -> None:
    assert window_parser().parse_args(["--new-window", "a"]).new_window
    assert not window_parser().parse_args(["a"]).new_window
