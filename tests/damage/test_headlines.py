"""What a headline says has changed is what has: content, digest, or a record that is neither."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from inspector.core.archive import Archive
from inspector.core.field import Field, locate
from inspector.core.finding import Severity, first_sentence
from inspector.core.kinds import Kind, Role
from inspector.core.source import BytesSource
from inspector.operations.open.opening import Opened
from inspector.resources import resource
from tests.damage.generator import KINDS, Memory, damaged
from tests.formats.archives import checked, leaves, opened
from tests.sweeping import in_the_sweep

CONTENT, DIGEST, RECORD = "content", "digest", "record"
CLAIMS = {
    DIGEST: re.compile(r"recorded checksum of|^(?:Only|One byte of) the stored hash"),
    CONTENT: re.compile(r"^The content .*is not what was archived"),
}
SAMPLES = [
    *(resource("samples") / name for name in ("two-resets-rcarch.rca", "two-resets-spec.rca", "two-chunks.rca")),
    *(resource("samples") / name for name in ("plain.zip", "two-entries.tacozip", "journey.caf", "plain.tar")),
    *(Path(__file__).parent.parent / "samples" / name for name in ("one-blob.rca", "prefixed.zip")),
]


def part(leaf: Field) -> str:
    """What the bytes of a leaf are."""
    return DIGEST if leaf.kind is Kind.DIGEST else CONTENT if leaf.kind.role is Role.DATA else RECORD


def places(archive: Archive) -> Iterator[tuple[int, str]]:
    """The middle of the bytes of each leaf, and what they are."""
    for leaf in leaves(archive.fields):
        yield from ((span.start + span.size // 2, part(leaf)) for span in leaf.spans if span.size)


def false_claim(archive: Opened, what: str) -> str:
    """The headline, if it names another part than the one that was changed."""
    worst = next((each for each in archive.findings if each.severity is not Severity.INFO), None)
    said = first_sentence(worst.message) if worst is not None else ""
    return next((said for claim, words in CLAIMS.items() if claim != what and words.search(said)), "")


@pytest.mark.parametrize("most", [pytest.param(2, id="2 places"), in_the_sweep(7, name="7 places")])
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_headline_of_a_sample_names_what_was_changed(path: Path, most: int) -> None:
    """One bit, one byte and eight bytes, at a spread of places in each kind of field."""
    data, random = path.read_bytes(), Random(path.name)
    every = list(places(opened(BytesSource(data, path.name))))
    wrong = []
    for what in (CONTENT, DIGEST, RECORD):
        some = [at for at, each in every if each == what]
        for at in random.sample(some, min(len(some), most)):
            for change in (bytes((1 << random.randrange(8),)), b"\xff", random.randbytes(8)):
                start = max(0, at - len(change) // 2)
                old = data[start : start + len(change)]
                new = bytes(one ^ other for one, other in zip(old, change, strict=False))
                found = checked(BytesSource(data[:start] + new + data[start + len(new) :], path.name))
                said = false_claim(found, what)
                if said and (what == DIGEST or len(change) < 8):  # eight bytes of a record reach into others
                    wrong.append((at, what, len(change), said))
    assert wrong == []


@pytest.mark.parametrize("step", [pytest.param(7, id="each seventh"), in_the_sweep(1, name="all")])
def test_the_headline_of_each_kind_of_damage_names_what_was_changed(step: int) -> None:
    """Of damage that leaves the size and touches one part only."""
    tried, wrong = 0, []
    pairs = [(kind, each) for kind in KINDS for each in kind.formats if not kind.size]
    for kind, made_format in pairs[::step]:
        case = damaged(kind, made_format, 5)
        if len(case.data) != len(case.original):
            continue
        changed = [at for at, (one, other) in enumerate(zip(case.data, case.original, strict=True)) if one != other]
        whole = opened(Memory.of(made_format, case.original, case.metadata))
        parts = {part(locate(whole.fields, at)[-1][1]) for at in changed[:: max(1, len(changed) // 64)]}
        if len(parts) == 1:
            tried += 1
            said = false_claim(checked(case.source), parts.pop())
            wrong += [(case.kind, made_format, said)] if said else []
    assert wrong == []
    assert tried > 5
