"""Where the journal of a file may be, and what else is recorded of a change, and whether there is none of it.

That is all that most commands need to know of journals.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # loads more than a command that only looks for a journal needs
    from inspector.sources.local.file import Identity

SUFFIX = ".aij"
_NAME_MAX = 60
_NOTHING_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EACCES}


def path_key(path: Path) -> str:
    """The key of the file at ``path`` in the user's state folder."""
    from hashlib import blake2b  # most files have no journal, and most people no folder of them

    return blake2b(os.fsencode(path), digest_size=16).hexdigest()


def journal_paths(path: Path) -> tuple[Path, Path]:
    """The two possible paths of a journal: beside the file, or in the user's state folder.

    The latter depends on the path alone: device and inode numbers change when a disk is mounted again.
    """
    key = path_key(path)
    name = os.fsencode(path.name)[:_NAME_MAX].decode("ascii", "replace").replace("\ufffd", "_")
    return _beside(path), _folder() / f"{name}.{key}{SUFFIX}"


def intent_path(path: Path) -> Path:
    """Where an append to the file at ``path`` records what it is about to write."""
    return journal_paths(path)[1].with_suffix(".append")


def link_path(identity: Identity) -> Path:
    """What leads to the journal of a file with several names from any of them: a file that holds the changed name."""
    return _folder() / f"{identity.device:x}-{identity.inode:x}.link"


def may_have_journal(path: Path) -> bool:
    """Whether the file at ``path`` may have a journal. False only if there is none; reads no journal."""
    try:
        real = Path(os.path.realpath(path, strict=True))
        status = real.lstat()
        if exists(_beside(real)) or status.st_nlink > 1 or not stat.S_ISREG(status.st_mode):
            return True
        if not exists(_folder()):
            return False
        return any(map(exists, (journal_paths(real)[1], intent_path(real)))) or any(
            _folder().glob(f"*-{status.st_ino:x}.link")
        )
    except (OSError, ValueError):
        return True


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}{SUFFIX}")


def _folder() -> Path:
    return _state_home() / "archive-inspector" / "journals"


def _state_home() -> Path:
    """What ``platformdirs.user_state_path`` says, whose import takes longer than listing a small archive does."""
    home = os.environ.get("HOME", "")
    found = os.environ.get("XDG_STATE_HOME", "") or f"{home}/.local/state"
    if sys.platform == "linux" and home.startswith("/") and re.fullmatch(r"/[\w./-]*[\w/]", found, re.ASCII):
        return Path(found)
    import platformdirs

    return platformdirs.user_state_path()


def exists(path: Path, lstat: Callable[[Path], object] = Path.lstat) -> bool:
    """Whether there is something; raises OSError if that cannot be told."""
    try:
        lstat(path)
    except OSError as error:
        if error.errno not in _NOTHING_THERE:
            raise
        return False
    return True
