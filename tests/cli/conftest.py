"""The program as scripts meet it, without a process of its own."""

from __future__ import annotations

import pytest

from inspector.__main__ import main
from tests.cli.running import Run


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the program in this process: exit status, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        return (status, *capfd.readouterr())

    return call
