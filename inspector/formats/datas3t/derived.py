"""Repairs of a range that its tar alone proves: the digits of its names, and the index of the later layout.

S3 Storage Layout, Datapoint Structure. An index row is 16 bytes, big-endian: 8 header offset in bytes, 2 header size in
blocks of 512 bytes, 6 data size in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.formats._tar.header import BLOCK, CHKSUM, checksums, parse
from inspector.formats.datas3t.datapoints import Beside
from inspector.formats.datas3t.keys import DIGITS, datapoint_key
from inspector.formats.datas3t.names import NAME

DATAPOINT_NAME = "datas3t-datapoint-name"
INDEX_CODES = frozenset(
    ("datas3t-index-count", "datas3t-index-cut", "datas3t-index-damaged", "datas3t-index-offset"),
)

_ROWS = 4_096
"""Index rows in one piece."""


def repair_names(archive: Archive) -> Iterator[Repair]:
    """Names whose key is not written with 20 digits, where all such names can be written into their headers."""
    wrong = [each.member for each in archive.findings if each.code == DATAPOINT_NAME and each.member is not None]
    patches = [_renamed(archive, member) for member in wrong]
    whole = tuple(patch for patch in patches if patch is not None)
    if not wrong or len(whole) != len(wrong):
        return
    first = visible(archive.members.path(wrong[0]))
    more = f" and of {count(len(wrong) - 1, 'more datapoint')}" if len(wrong) > 1 else ""
    title = f"Write the key in the name of {first}{more} with {DIGITS} digits"
    claim = "That nobody looks for these datapoints by the names they have now: their bytes stay, their names change."
    edit = Edit(title, whole, archive.source.size, archive.source.size)
    yield Repair("datas3t-name-digits", title, frozenset((DATAPOINT_NAME,)), (), claim, edit)


def _renamed(archive: Archive, member: int) -> Patch | None:
    """The header with the name as it should be; None where the name is no key, or stands in more than one header."""
    members, name = archive.members, archive.members.path(member)
    found = datapoint_key(name)
    at = members.starts[member] - BLOCK
    assert members.heads is not None
    block = archive.source.read(at, BLOCK)
    if found is None or members.heads[member] != at or not parse(block).fits:
        return None
    new = b"%0*d%s" % (DIGITS, found[0], name[len(name.split(b".")[0]) :])
    if len(new) > NAME:
        return None
    renamed = new.ljust(NAME, b"\0") + block[NAME:]
    renamed = renamed[: CHKSUM.start] + b"%06o\0 " % checksums(renamed)[0] + renamed[CHKSUM.stop :]
    return Patch(at, block[: CHKSUM.stop], renamed[: CHKSUM.stop])


def repair_index(archive: Archive, beside: Beside, codes: set[str]) -> Iterator[Repair]:
    """The index written anew; everything in it is in the tar too."""
    if not codes & INDEX_CODES:
        return

    def content(progress: Progress) -> Iterator[bytes]:
        total = len(archive.members)
        progress.begin("Writing the index", total, "members")
        for first in range(0, total, _ROWS):
            last = min(first + _ROWS, total)
            yield b"".join(_index_row(beside, member) for member in range(first, last))
            progress.advance(last - first)

    title = f"Write the index anew from the tar, with {count(len(archive.members), 'row')}"
    fixes = frozenset(codes & INDEX_CODES)
    claim = "That the tar is right and the index wrong where they differ: nothing in the range proves it."
    old = beside.found.get(".index")
    yield Repair(
        "datas3t-rebuild-index", title, fixes, (), claim, content=content, beside=".index", instead_of=".tar", old=old
    )


def _index_row(beside: Beside, member: int) -> bytes:
    members = beside.members
    head, _ = beside.header_offsets(member)
    blocks = (members.starts[member] - head) // BLOCK
    return head.to_bytes(8, "big") + blocks.to_bytes(2, "big") + members.stored(member).to_bytes(6, "big")
