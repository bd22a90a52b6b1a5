"""How many there are of something, in the user's language; ``numbers`` counts in English, as findings do."""

from __future__ import annotations

from inspector.core.translation import trn


def in_bytes(number: int) -> str:
    """``1 byte``, ``32,768 bytes``."""
    return trn("{number} byte", "{number} bytes", number)


def members(number: int) -> str:
    """``1 member``, ``3,204 members``."""
    return trn("{number} member", "{number} members", number)


def files(number: int) -> str:
    """``1 file``, ``2 files``."""
    return trn("{number} file", "{number} files", number)


def archives(number: int) -> str:
    """``1 archive``, ``2 archives``."""
    return trn("{number} archive", "{number} archives", number)


def requests(number: int) -> str:
    """``1 request``, ``2 requests``."""
    return trn("{number} request", "{number} requests", number)


def ranges(number: int) -> str:
    """``1 range``, ``2 ranges``."""
    return trn("{number} range", "{number} ranges", number)


def places(number: int) -> str:
    """``1 place``, ``2 places``."""
    return trn("{number} place", "{number} places", number)


def checksums(number: int) -> str:
    """``1 checksum``, ``2 checksums``."""
    return trn("{number} checksum", "{number} checksums", number)
