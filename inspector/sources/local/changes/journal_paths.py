"""Where the journal of a file may be, and whether there is none: all that most commands need to know of journals."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from pathlib import Path

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


def may_have_journal(path: Path) -> bool:
    """Whether the file at ``path`` may have a journal. False only if there is none; reads no journal."""
    try:
        real = Path(os.path.realpath(path, strict=True))
        status = real.lstat()
        if _exists(_beside(real)) or status.st_nlink > 1 or not stat.S_ISREG(status.st_mode):
            return True
        return _exists(_folder()) and _exists(journal_paths(real)[1])
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


def _exists(path: Path) -> bool:
    """Whether there is something; raises OSError if that cannot be told."""
    try:
        path.lstat()
    except OSError as error:
        if error.errno not in _NOTHING_THERE:
            raise
        return False
    return True
