"""However many bytes follow an archive, it is opened, checked and planned to be repaired as soon as without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.operations.check.checking import check_archive
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.open.opening import decode, start
from inspector.sources.local.file import FileSource
from tests.sweeping import each_nth
from tests.test_formats_everywhere import ARCHIVES, label

HUGE = 1 << 36
AT_ONCE = 8 << 20
"""The most bytes of one read."""
IN_ALL = 1 << 30
"""The most bytes of all reads: an index that is lost is looked for in the last 256 MiB, with and without a repair."""


class Sparse:
    """A file and zeros behind it, as ``truncate`` makes them, that counts what is asked of it."""

    def __init__(self, path: Path, size: int) -> None:
        self._file = FileSource(path)
        self.name = str(path)
        self.size = size
        self.read_in_all = 0

    def read(self, offset: int, length: int) -> bytes:
        length = max(0, min(length, self.size - offset))
        assert length <= AT_ONCE, f"{length:,} bytes are read at once from {offset:,} on."
        self.read_in_all += length
        assert self.read_in_all <= IN_ALL, "What follows the archive is read to its end."
        return self._file.read(offset, length).ljust(length, b"\0")

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        return self._file.sibling(suffix, instead_of)


def sought(path: Path) -> bool:
    """Whether headers are looked for in all that follows: that of a torn tar archive may be anywhere."""
    return path.name == "truncated.tar"


@pytest.mark.parametrize("path", each_nth(13, (path for path in ARCHIVES if not sought(path)), label))
def test_no_read_grows_with_what_follows_an_archive(path: Path) -> None:
    archive = start(Sparse(path, HUGE))

    decode(archive, Progress())
    check_archive(archive, Progress())
    plan(archive, Progress(), ())
