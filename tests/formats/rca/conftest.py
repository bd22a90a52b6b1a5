"""What tests of RCA share."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["while decoding", "only by the check"])
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the hashes have been compared on opening must make no difference after a check."""
    if request.param == "only by the check":
        monkeypatch.setattr("inspector.formats.rca.reading.MAX_HASHED_BYTES", -1)
