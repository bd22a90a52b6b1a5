"""Which blobs are decoded one behind the other: those of one segment."""

from __future__ import annotations

from dataclasses import replace

from inspector.core.archive import Archive
from inspector.formats.rca.layout import Layout


def lane(archive: Archive, index: int) -> int:
    """See Format.lane."""
    blocks = archive.detail.blocks
    number: int = blocks.segment_of(blocks.at_payload(archive.members.starts[index]))
    return number


def apart(archive: Archive) -> Archive:
    """See Format.apart: a reader remembers in the layout where it stopped, so each thread has a layout of its own."""
    layout = archive.detail
    return replace(archive, detail=replace(layout, cursor=None)) if isinstance(layout, Layout) else archive
