"""The program as a process of its own, and what scripts read of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
Run = Callable[..., tuple[int, str, str]]
"""The fixture ``run``: exit status, standard output, standard error."""


def _command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "inspector", *map(str, arguments)]


def process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run it to its end; both outputs are kept unless the options say where they go."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(_command(*arguments), check=False, **{"cwd": ROOT, **pipes, **options})


class Started(subprocess.Popen[bytes]):
    """A process that is killed where the test of it fails: its end, which is waited for, might never come."""

    def __exit__(self, failure: type[BaseException] | None, *rest: Any) -> None:
        if failure is not None:
            self.kill()
        super().__exit__(failure, *rest)


def started(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    return Started(_command(*arguments), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def objects(out: str) -> list[dict[str, Any]]:
    """One JSON object a line."""
    return [json.loads(line) for line in out.splitlines()]
