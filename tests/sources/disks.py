"""Disks for tests: one that watches the calls and lets any of them fail, and one in memory whose power can be cut."""

from __future__ import annotations

import errno
import os
import random
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.core.edit import Edit, EditError, Patch
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.changes.old_bytes import store_folder
from inspector.sources.local.disk_calls import DISK, Disk
from inspector.sources.local.file import FileSource

CALLS = [name for name in vars(Disk) if not name.startswith("_")]

Act = Callable[[int, str, tuple[Any, ...]], None]
"""What happens before a call: its number, its name and its arguments; it may raise."""


class Stopped(BaseException):
    """The program ends here, or the power goes."""


class Watched(Disk):
    """Another disk whose calls are written down in ``log``, and before each of which ``act`` is called."""

    def __init__(self, act: Act | None = None, beneath: Disk | None = None) -> None:
        self.log: list[tuple[str, tuple[Any, ...]]] = []
        self.act = act
        self.beneath = beneath or Disk()

    def call(self, name: str, *arguments: Any) -> Any:
        self.log.append((name, tuple(bytes(each) if isinstance(each, memoryview) else each for each in arguments)))
        if self.act:
            self.act(len(self.log) - 1, name, arguments)
        return getattr(self.beneath, name)(*arguments)

    def named(self, *names: str) -> list[tuple[Any, ...]]:
        """The arguments of the calls with these names."""
        return [arguments for name, arguments in self.log if name in names]


def _watched(name: str) -> Callable[..., Any]:
    return lambda self, *arguments: self.call(name, *arguments)


for _name in CALLS:
    setattr(Watched, _name, _watched(_name))


def failing(at: int, code: int, *, from_then_on: bool = False) -> Act:
    """Fail the call with that number with an error of the system, or all from there."""

    def act(number: int, *_: Any) -> None:
        if number == at or (from_then_on and number > at):
            raise OSError(code, os.strerror(code))

    return act


def stopping(at: int) -> Act:
    """Nothing is done any more from that call on."""

    def act(number: int, *_: Any) -> None:
        if number >= at:
            raise Stopped

    return act


def killing(when: Callable[[int, str, tuple[Any, ...]], bool]) -> Act:
    """Kill the program before the first such call: nothing is tidied, and the system closes its files."""
    dead: list[bool] = []

    def act(number: int, name: str, arguments: tuple[Any, ...]) -> None:
        if name != "close" and (dead or when(number, name, arguments)):
            dead.append(True)
            raise Stopped

    return act


def refusing(name: str, code: int, *, where: Callable[[tuple[Any, ...]], bool] = lambda _: True) -> Act:
    """Let every call of that name, with such arguments, fail."""

    def act(_: int, called: str, arguments: tuple[Any, ...]) -> None:
        if called == name and where(arguments):
            raise OSError(code, os.strerror(code))

    return act


class Stingy(Watched):
    """The call with that number, where it writes, takes only half of the bytes."""

    def __init__(self, at: int, beneath: Disk | None = None) -> None:
        super().__init__(None, beneath)
        self.at = at

    def call(self, name: str, *arguments: Any) -> Any:
        if name == "write" and len(self.log) == self.at:
            descriptor, data, offset = arguments
            arguments = descriptor, data[: len(data) // 2 or 1], offset
        return super().call(name, *arguments)


class _File:
    def __init__(self, inode: int, data: bytes = b"") -> None:
        self.inode = inode
        self.now = bytearray(data)
        self.safe = data
        self.ticks = 0


class Memory(Disk):
    """Files in memory that know which of their bytes are safe on the disk, and names that know it of themselves."""

    def __init__(self, files: dict[Path, bytes]) -> None:
        self._names = {path: _File(number, data) for number, (path, data) in enumerate(files.items(), 10)}
        self._safe_names = dict(self._names)
        self._open: dict[int, _File] = {}
        self._next = 100

    def files(self) -> dict[Path, bytes]:
        """All files but those of the store of old bytes."""
        return {path: bytes(file.now) for path, file in self._names.items() if path.parent != store_folder()}

    def cut(self, chance: random.Random) -> Memory:
        """The disk after the power was cut: of what was not yet safe, any part may be there."""
        names = {}
        for path in sorted({*self._names, *self._safe_names}):
            file = chance.choice([self._names, self._safe_names]).get(path)
            if file is not None:
                names[path] = _torn(file, chance)
        return Memory(names)

    def resolve(self, path: Path) -> Path:
        return path

    def lstat(self, path: Path) -> os.stat_result:
        if path not in self._names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return self._status(self._names[path])

    def open(self, path: Path, flags: int) -> int:
        if flags & os.O_CREAT:
            if path in self._names:
                raise FileExistsError(errno.EEXIST, "File exists")
            self._names[path] = _File(self._next)
        elif path not in self._names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        self._next += 1
        self._open[self._next] = self._names[path]
        return self._next

    def close(self, descriptor: int) -> None:
        del self._open[descriptor]

    def fstat(self, descriptor: int) -> os.stat_result:
        return self._status(self._open[descriptor])

    def read(self, descriptor: int, length: int, offset: int) -> bytes:
        return bytes(self._open[descriptor].now[offset : offset + length])

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        file = self._open[descriptor]
        file.now.extend(bytes(max(0, offset - len(file.now))))
        file.now[offset : offset + len(data)] = data
        file.ticks += 1
        return len(data)

    def truncate(self, descriptor: int, size: int) -> None:
        file = self._open[descriptor]
        del file.now[size:]
        file.now.extend(bytes(size - len(file.now)))

    def sync(self, descriptor: int) -> None:
        file = self._open[descriptor]
        file.safe = bytes(file.now)

    def sync_folder(self, _: Path) -> None:
        self._safe_names = dict(self._names)

    def unlink(self, path: Path) -> None:
        del self._names[path]

    def rename(self, path: Path, target: Path) -> None:
        self._names[target] = self._names.pop(path)

    def make_folder(self, _: Path) -> None:
        pass

    def names(self, folder: Path) -> list[str]:
        return [path.name for path in self._names if path.parent == folder]

    def lock(self, _: int) -> None:
        pass

    def free(self, _: Path) -> int:
        return 1 << 40

    def _status(self, file: _File) -> os.stat_result:
        plain = (stat.S_IFREG | 0o600, file.inode, 1, 1, 0, 0, len(file.now), 0, 0, 0)
        return os.stat_result(plain, {"st_mtime_ns": file.ticks})


def _torn(file: _File, chance: random.Random) -> bytes:
    """Any bytes of those written may be there, with zeros where the file grew; an end is cut off all or not at all."""
    before, after = len(file.safe), len(file.now)
    size = chance.choice([before, after, chance.randint(before, max(before, after))])
    now = bytes(file.now) + file.safe[after:]
    safe = file.safe.ljust(len(now), b"\0")
    share = chance.random()
    return bytes(new if chance.random() < share else old for old, new in zip(safe, now, strict=True))[:size]


def _edits() -> dict[str, Edit]:
    content = CONTENT
    size = len(content)

    def patch(offset: int, count: int, *, more: int = 0) -> Patch:
        old = content[offset : offset + count]
        return Patch(offset, old, bytes(byte ^ 0x55 for byte in old) + b"+" * more)

    header = patch(41, 116), patch(14, 4), patch(size - 60, 4)
    return {
        "three": Edit("Set the TACO header", header, size, size),
        "growing": Edit("Add a chunk", (patch(size - 7, 7, more=90), patch(20, 5)), size, size + 90),
        "shrinking": Edit("Cut off garbage", (patch(300, 10),), size, size - 80),
        "cutting": Edit("Cut off garbage", (), size, size - 80),
    }


CONTENT = random.Random(4).randbytes(700)
EDITS = _edits()
"""One of each kind, of CONTENT."""


def after(edit: Edit, content: bytes = CONTENT) -> bytes:
    """What an edit makes of the content, said in the simplest way."""
    data = bytearray(content)
    for patch in edit.patches:
        data[patch.offset : patch.offset + len(patch.old)] = patch.new
    return bytes(data[: edit.new_size])


def names(path: Path) -> list[str]:
    """What stands in the folder of a file."""
    return sorted(each.name for each in path.parent.iterdir())


def refused(path: Path, edit: Edit, disk: Disk = DISK, source: FileSource | None = None) -> str:
    """What is said where nothing is written; the folder holds what it held."""
    before = {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}
    with pytest.raises(EditError) as caught:
        write(path, edit, source.identity if source else None, disk)
    assert {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()} == before
    assert str(caught.value).endswith(".")
    return str(caught.value)
