"""A private folder for files that are lent to other programs."""

from __future__ import annotations

import shutil
import tempfile
from itertools import count
from pathlib import Path


class TempDir:
    """A private folder that is made when it is needed and taken away at the end."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._numbers = count(1)

    def room(self) -> str:
        """A place in it that was not given before. Raises OSError."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="archive-inspector-"))  # for its owner alone
        return str(self._folder / str(next(self._numbers)))

    def clear(self) -> None:
        """Take away all that was put there."""
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
