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
