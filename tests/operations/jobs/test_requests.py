"""The requests that windows make of workers: declared once, served with the same signatures, checked by mypy."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.operations.protocol.requests import (
    ArchiveRequests,
    AuditRequests,
    BrowseRequests,
    CompareRequests,
    CreateRequests,
    ProfileRequests,
    requests_of,
    traits_of,
)
from inspector.operations.session.archive_session import ArchiveSession
from inspector.operations.session.remote import Browser, Connecting
from inspector.operations.worker.audit_server import Auditor
from inspector.operations.worker.compare_session import Comparer
from inspector.operations.worker.create_session import CreateSession

ROOT = Path(__file__).parents[3]
SERVED: dict[str, tuple[Any, type]] = {
    "ArchiveRequests": (ArchiveRequests, ArchiveSession),
    "ProfileRequests": (ProfileRequests, Connecting),
    "CreateRequests": (CreateRequests, CreateSession),
    "BrowseRequests": (BrowseRequests, Browser),
    "AuditRequests": (AuditRequests, Auditor),
    "CompareRequests": (CompareRequests, Comparer),
}
EVERY = [(f"{kind}.{name}", traits) for kind, (told, _) in SERVED.items() for name, traits in requests_of(told).items()]

WRITES_FILES = {
    *(
        "ArchiveRequests.export",
        "ArchiveRequests.extract",
        "ArchiveRequests.export_members",
    ),
    *("ArchiveRequests.write", "ArchiveRequests.append", "ArchiveRequests.save_copy"),
    *(
        "ArchiveRequests.copy_shown",
        "CompareRequests.write_combination",
        "ArchiveRequests.save_experiment",
        "ArchiveRequests.save_experiment_patch",
        "ArchiveRequests.save_replay",
        "ArchiveRequests.export_patch",
        "ArchiveRequests.recover",
        "ArchiveRequests.make_repairs",
    ),
    *("ArchiveRequests.take_back", "ArchiveRequests.salvage", "CreateRequests.create"),
    "AuditRequests.audit",
}
INNER = {"show", "alone", "decoded_place", "require_no_experiment", "update_generation", "file_to_change"}
"""What requests do for each other."""
CHANGES_ARCHIVE = {"write", "take_back", "append", "recover", "make_repairs"}


def test_a_session_has_a_method_for_each_request_and_no_other() -> None:
    for kind, (told, session) in SERVED.items():
        methods = {name for name, _ in inspect.getmembers(session, inspect.isfunction) if not name.startswith("_")}
        assert methods - INNER == set(requests_of(told)), kind


def test_jobs_take_a_progress_first() -> None:
    for kind, (told, session) in SERVED.items():
        for name, traits in requests_of(told).items():
            parameters = inspect.signature(getattr(session, name)).parameters
            assert ([*parameters][1:2] == ["progress"]) is traits.is_job, f"{kind}.{name}"


def test_jobs_that_write_files_say_so() -> None:
    assert {name for name, traits in EVERY if traits.writes_files} == WRITES_FILES
    assert {name.partition(".")[2] for name, traits in EVERY if traits.changes_archive} == CHANGES_ARCHIVE
    assert traits_of(ArchiveRequests.write).changes_archive
    assert not [name for name, traits in EVERY if traits.only_shows and traits.writes_files]


def test_a_request_that_waits_for_no_network_is_one_that_reads_no_bytes() -> None:
    told = requests_of(ArchiveRequests)
    assert {name for name, traits in told.items() if not traits.is_job and not traits.waits_for_network} == {
        *("status", "interrupted", "remote", "requests", "cached", "disk_change", "upload_preview"),
        *("readers", "reader_steps"),
    }


def test_nothing_is_asked_for_by_a_string() -> None:
    names = {name.partition(".")[2] for name, _ in EVERY}
    called = re.compile(
        rf"""\(\s*["'](?:{"|".join(names)})["']"""
    )  # few files have such an argument: only those are parsed
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in [*(ROOT / "inspector").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    }
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, text in texts.items()
        if called.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr in {"ask", "start", "call", "job", "send", "carry_out"} or node.func.attr.startswith("_"))
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value in names
    ]
    assert found == []


MISTAKES = {
    "client.ask(ArchiveRequests.statis)": "attr-defined",
    "client.ask(ArchiveRequests.read, 0, 0)": "call-arg",
    'client.ask(ArchiveRequests.read, 0, 0, "16")': "arg-type",
    "client.ask(ArchiveRequests.read, 0, 0, length=16, by=2)": "call-arg",
    "client.ask(ArchiveRequests.status).then(take_bytes)": "arg-type",
    "client.ask(ArchiveRequests.check)": "call-arg",
    "client.start(ArchiveRequests.status)": "arg-type",
    "client.start(ArchiveRequests.check).then(take_bytes)": "arg-type",
    "client.start(CreateRequests.create, draft)": "arg-type",
    "document.start(ArchiveRequests.build_tree, 1)": "call-arg",
}
"""What is written wrongly, and the kind of error that mypy finds in it."""
RIGHT = """
from inspector.gui.document.document import Document
from inspector.gui.ipc.client import Client
from inspector.operations.protocol.requests import ArchiveRequests, CreateRequests, ProfileRequests
from inspector.operations.protocol.create_views import Draft


def take_bytes(read: bytes) -> None: ...
def any_client(client: Client[ProfileRequests]) -> None: ...
def asks(client: Client[ArchiveRequests], document: Document, draft: Draft) -> None:
    any_client(client)
    client.ask(ArchiveRequests.read, 0, 0, 16).then(take_bytes)
    client.start(ArchiveRequests.build_tree)
"""


@pytest.mark.sweep  # .ci/lint holds what is written rightly
def test_mypy_finds_a_wrong_name_argument_or_callback(tmp_path: Path) -> None:
    path = tmp_path / "mistakes.py"
    path.write_text(RIGHT + "".join(f"    {line}\n" for line in MISTAKES))
    first = RIGHT.count("\n") + 1

    command = [sys.executable, "-m", "mypy", "--strict", "--no-pretty", f"--cache-dir={tmp_path / 'cache'}", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    errors = re.findall(r":(\d+): error: .*\[([a-z-]+)\]$", done.stdout, re.MULTILINE)
    assert errors == [(str(line), kind) for line, kind in enumerate(MISTAKES.values(), first)], done.stdout
