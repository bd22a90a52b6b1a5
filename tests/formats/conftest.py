"""These tests are about what a format finds and repairs by itself; tests/damage has what the causes add."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inspector.formats._causes.diagnosis import NO_DIAGNOSIS


@pytest.fixture(autouse=True, scope="module")
def no_causes() -> Iterator[None]:
    """Check without looking for causes: many of these tests flip one bit, which would be found and restored."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("inspector.operations.check.checking.diagnose", lambda _archive, _progress: NO_DIAGNOSIS)
        yield
