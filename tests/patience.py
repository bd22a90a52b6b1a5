"""How long tests wait for what other processes and threads do; where it is done, waiting long costs nothing.

Where nothing tells a test that another process is done, it has to look again and again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 30.0
"""Seconds after which something that has not come to pass on a busy machine has failed."""
AGAIN = 0.02
"""Seconds between two looks."""

Found = TypeVar("Found")


def until(look: Callable[[], Found], what: object, patience: float = PATIENCE) -> Found:
    """Look until something is found that counts as true, and give it.

    Raises:
        AssertionError: it was not found; ``what`` is said, or what it gives when it is called.
    """
    end = time.monotonic() + patience
    while not (found := look()):
        if time.monotonic() > end:
            raise AssertionError(f"After {patience:.0f} s there is not: {what() if callable(what) else what}")
        time.sleep(AGAIN)
    return found
