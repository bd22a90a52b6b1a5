"""A private temporary folder for files opened in other programs."""

from __future__ import annotations

import shutil
import tempfile
from itertools import count
from pathlib import Path


class TempDir:
    """A temporary folder, created when first needed and removed at the end."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._numbers = count(1)

    def new_path(self) -> str:
        """An unused path in it. Raises OSError."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="archive-inspector-"))  # accessible to its owner only
        return str(self._folder / str(next(self._numbers)))

    def clear(self) -> None:
        """Remove the folder and its content."""
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
