"""A sub-command loads what it uses and no more: most of its time on a small archive is spent on imports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LISTS = """
import sys
from inspector.__main__ import main
main(sys.argv[1:])
sys.stderr.write(" ".join(sys.modules))
"""


COMMAND = """
from inspector.__main__ import main
main(["list", sys.argv[1]])
"""
WORKER = """
from multiprocessing import Pipe
from inspector.gui.ipc import worker
ours, theirs = Pipe()
ours.close()
worker.run(dict(os.environ), {}, theirs, "CreateRequests")
"""
FORK_SERVER = """
from inspector.operations.worker import preloaded
assert "numpy" in sys.modules
"""
THREADS = """
import numpy
sys.stderr.write(str(len(os.listdir("/proc/self/task"))))
"""


def loaded(*arguments: str) -> set[str]:
    """The modules that a sub-command has loaded when it ends."""
    done = subprocess.run([sys.executable, "-c", LISTS, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


DECODERS = ("decode", "reading")


@pytest.mark.parametrize(
    ("name", "needed"), [("journey.caf", {"caf"}), ("two-chunks.rca", {"rca"}), ("plain.zip", {"_zip"})]
)
def test_list_loads_the_format_and_nothing_that_writes(
    sample: Callable[[str], Path], name: str, needed: set[str]
) -> None:
    modules = loaded("list", str(sample(name)))
    formats = {module.split(".")[2] for module in modules if module.startswith("inspector.formats.")}
    reading = {each for each in formats if modules & {f"inspector.formats.{each}.{part}" for part in DECODERS}}
    assert reading == needed
    others = ("inspector.operations.create", "inspector.operations.audit", "inspector.operations.extract", "boto")
    assert [each for each in modules if each.endswith((".repair", ".salvage")) and ".formats." in each] == []
    assert not modules & {"inspector.sources.s3.prefix", "inspector.formats._tar.walk"}
    assert ("inspector.formats._zstd_fields" in modules) == (name == "two-chunks.rca")
    assert [each for each in modules if each.startswith((*others, "PySide6", "numpy"))] == []
    slow = {"bz2", "difflib", "lzma", "platformdirs", "random", "shutil", "tempfile"}
    rare = {
        "core.crash_report",
        "core.diagram",
        "core.edit",
        "core.reader",
        "core.repair",
        "operations.open.collection",
    }
    if name == "two-chunks.rca":  # blobs that are compressed anew
        rare -= {"core.edit"}
    assert modules & (slow | {f"inspector.{each}" for each in rare}) == set()


@pytest.mark.parametrize("kind", ["caf", "rca", "taco"])
def test_create_loads_what_writes_one_kind(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a").write_bytes(b"a")
    modules = loaded("create", kind, str(tmp_path / "new"), str(tmp_path / "a"))
    rare = ("open.opening", "create.catalogue", "create.datas3t_packing", "create.rca_writing")
    assert modules & {f"inspector.operations.{each}" for each in rare} == set()
    others = {"caf", "rca", "taco"} - {kind}
    assert modules & {f"inspector.formats.{each}.write" for each in others} == set()
    assert modules & {"sqlite3", "numpy", "boto3", "inspector.sources.s3.uploads.sender"} == set()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads as Linux lists them")
@pytest.mark.parametrize("story", [COMMAND, WORKER, FORK_SERVER], ids=["command", "worker", "fork server"])
def test_numpy_starts_no_threads_that_only_wait(
    sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, story: str
) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    code = ("import os, sys", story, THREADS)
    command = [sys.executable, "-c", "".join(code), str(sample("plain.zip"))]

    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stderr == "1"
