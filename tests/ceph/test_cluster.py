"""The server of these tests says why it is not there, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ceph.cluster import CephError, running
from tests.patience import until

WAITING = """
from tests.ceph.cluster import running
with running() as cluster:
    print(cluster.log.parent, flush=True)
    input()
"""


def daemons(folder: Path) -> list[str]:
    """The programs that run for a cluster with its files in this folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has ended meanwhile
        if f"{folder}/ceph.conf" in words:
            found.append(words[0])
    return sorted(found)


def test_without_ceph_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CephError, match=r"need Ceph, and ceph is not installed: apt-get install ceph-mon "), running():
        pass


def failing(folders: list[Path]) -> None:
    """Start a cluster, note its folder, and fail."""
    with running() as cluster:
        folders.append(cluster.log.parent)
        assert daemons(folders[0]) == ["ceph-mon", "ceph-osd", "radosgw"]
        raise ZeroDivisionError


def test_what_fails_leaves_nothing_behind() -> None:
    folders: list[Path] = []
    with pytest.raises(ZeroDivisionError):
        failing(folders)
    assert daemons(folders[0]) == []
    assert not folders[0].exists()


def test_who_is_killed_leaves_no_process_behind(tmp_path: Path, root: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(root)}
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert len(daemons(folder)) == 3
        process.send_signal(signal.SIGKILL)
    until(lambda: not daemons(folder), lambda: f"an end of {daemons(folder)}")
