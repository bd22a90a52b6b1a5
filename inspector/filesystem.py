"""Members as files of other libraries: ``inspect://MEMBER::s3://bucket/data.taco`` for fsspec, and so for pandas.

fsspec finds it by an entry point; nothing here is loaded without fsspec.
"""

from __future__ import annotations

import io
from typing import Any, ClassVar

from fsspec.archive import AbstractArchiveFileSystem

from inspector import library

_MAX_HELD_BYTES = 64 << 20
"""Members up to this size are read and verified when they are opened; larger ones when they are read in order."""


class InspectFileSystem(AbstractArchiveFileSystem):  # type: ignore[misc]  # it has no types
    """The members of one archive. ``fo`` is its location, ``target_protocol`` that of a location without one."""

    protocol: ClassVar[str] = "inspect"
    root_marker: ClassVar[str] = ""
    cachable: ClassVar[bool] = False

    def __init__(
        self, fo: str, target_protocol: str | None = None, target_options: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        inside = target_protocol in (None, "file", "local") or "://" in fo
        self.fo = fo if inside else f"{target_protocol}://{fo}"
        self._archive = library.open(self.fo, connection=(target_options or {}).get("connection"))
        self.dir_cache: dict[str, dict[str, Any]] | None = None

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        stripped: str = super()._strip_protocol(path)
        return stripped.lstrip("/")

    def _get_dirs(self) -> None:
        if self.dir_cache is not None:
            return
        members = self._archive.members
        named = dict(zip(members.names, members.sizes.tolist(), strict=True))
        folders = {name.rstrip("/") for name in named if name.endswith("/")} | self._all_dirnames(list(named))
        self.dir_cache = {each: {"name": each, "size": 0, "type": "directory"} for each in folders}
        for name, size in named.items():
            self.dir_cache.setdefault(name.rstrip("/"), {"name": name, "size": size, "type": "file"})

    def _open(self, path: str, mode: str = "rb", **_: Any) -> io.BufferedIOBase:
        """Raises FileNotFoundError, and OSError where the content cannot be read or something casts doubt on it."""
        if mode != "rb":
            raise OSError("Members are read only; use archive-inspector create to write an archive.")
        try:
            member = self._archive.members[path]
            if member.size <= _MAX_HELD_BYTES:
                return io.BytesIO(member.read())
            return io.BufferedReader(member.open(), 1 << 20)
        except library.NotFound as error:
            raise FileNotFoundError(str(error)) from error
        except library.ArchiveError as error:
            raise OSError(str(error)) from error
