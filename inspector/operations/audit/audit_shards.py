"""Results by shards: a file for each, as an audit of that shard alone would have written it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from inspector.operations.audit.audit_results import Results
from inspector.operations.protocol.audit_views import Result


class ShardFiles:
    """The files of ``count`` shards beside ``path``, which is not written itself; a context manager.

    Those of ``all.sqlite`` are ``all.1-of-4.sqlite`` and so on. Every method raises OperationError where SQLite cannot
    go on.
    """

    def __init__(self, path: Path, count: int) -> None:
        self.count = count
        self.paths = tuple(path.with_name(f"{path.stem}.{at}-of-{count}{path.suffix}") for at in range(1, count + 1))
        self._path = path
        self._open = ExitStack()
        self._files: dict[int, Results] = {}

    def known(self) -> list[Path]:
        """The files there are, also those of an audit with another number of shards."""
        pattern = f"{_plain(self._path.stem)}.*-of-*{_plain(self._path.suffix)}"
        found = self._path.parent.glob(pattern)
        return sorted(each for each in found if _is_shard(each.name, self._path))

    def keep(self, shard: int, results: Iterable[Result]) -> None:
        """Keep results in the file of the shard with this number, from 1."""
        kept = self._files.get(shard)
        if kept is None:
            kept = self._files[shard] = self._open.enter_context(Results(self.paths[shard - 1]))
        for each in results:
            kept.keep(each)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._open.close()


def _plain(text: str) -> str:
    """Text in which nothing stands for something else."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)


def _is_shard(name: str, path: Path) -> bool:
    number, of, count = name.removeprefix(f"{path.stem}.").removesuffix(path.suffix).partition("-of-")
    return bool(of) and number.isdecimal() and count.isdecimal()
