"""Archives of any format opened, checked and planned to be repaired, and what holds of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inspector.core.archive import Archive
from inspector.core.cause import wrong
from inspector.core.field import Field
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.operations.check.checking import check_archive
from inspector.operations.edit.plan_repairs import Plan, plan
from inspector.operations.open import opening


def leaves(fields: Iterable[Field]) -> Iterator[Field]:
    """Every field without children, depth first."""
    for field in fields:
        if field.children:
            yield from leaves(field.children)
        else:
            yield field


def opened(source: Source) -> opening.Opened:
    archive = opening.start(source)
    opening.decode(archive, Progress())
    return archive


def checked(source: Source) -> opening.Opened:
    archive = opened(source)
    check_archive(archive, Progress())
    return archive


def planned(source: Source, *accepted: str) -> Plan:
    """The plan for a copy: it shows what the format can do, and tests of consent make their own."""
    return plan(checked(source), Progress(), accepted, in_place=False)


def after(planned: Plan) -> bytes:
    """The archive as a plan would leave it."""
    return planned.after.source.read(0, planned.after.source.size)


def salvaged(planned: Plan) -> bytes:
    """The new archive that a plan would save what is whole in."""
    assert planned.salvage is not None
    assert planned.salvage.content is not None
    return b"".join(planned.salvage.content(Progress()))


def codes(archive: Archive) -> list[str]:
    """The codes of everything found that is wrong, without the causes that explain it."""
    return [finding.code for finding in wrong(archive)]


def assert_covered(archive: Archive) -> None:
    """The leaves own every byte of the file exactly once."""
    at = 0
    for start, stop in sorted(span for leaf in leaves(archive.fields) for span in leaf.spans if span.size):
        assert start == at, f"byte {min(start, at)} belongs to {'two leaves' if start < at else 'none'}"
        at = stop
    assert at == archive.source.size
