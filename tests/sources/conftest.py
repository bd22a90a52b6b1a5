"""What the tests of changing files in place stand on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sources.disks import CONTENT


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of CONTENT, alone in its folder."""
    path = tmp_path / "archive.tacozip"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state folder of its own for each test: what others stored would be removed in the midst of it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
