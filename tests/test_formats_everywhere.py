"""What every format gets for nothing: each sample is dumped, walked, cut off and damaged bit by bit.

Cut at the boundaries of its fields and in some other places; the sweep cuts at very many and flips more bits.

The golden transcripts in tests/golden are what ``dump`` and ``check`` say of each sample. After a
change that is meant, write them anew with ``pytest tests/test_formats_everywhere.py --golden`` and review the
difference as code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from inspector.__main__ import main
from inspector.core.field import Field, at_path, locate, runs
from inspector.core.format import MemberError
from inspector.core.kinds import Kind, declared_kinds
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, Source, SourceError
from inspector.core.span import Span
from inspector.formats import FORMATS
from inspector.operations.open.listing import content
from inspector.operations.open.opening import Opened, decode, start
from inspector.resources import samples
from inspector.sources.local.file import FileSource
from tests.sweeping import each_third

HERE = Path(__file__).parent
SAMPLES = [
    *samples(),
    *sorted(path for path in (HERE / "samples").iterdir() if path.suffix != ".py" and path.name != "__pycache__"),
]
ARCHIVES = [
    archive
    for sample in SAMPLES
    for archive in (sorted(path for path in sample.rglob("*") if path.is_file()) if sample.is_dir() else [sample])
]
CUTS = 14
"""Random places at which each archive is cut off, beside the boundaries of its fields."""
MAX_BOUNDARIES, SWEPT_BOUNDARIES = 20, 60
"""Boundaries of fields at which a sample is cut off, at each, one byte before and one after."""
SWEPT_CUTS = 1_500
"""Places at which the sweep cuts besides, spread over the archive."""
FLIPS, SWEPT_FLIPS = 12, 300
"""Bits flipped one at a time in each archive; half of them outside members' data, where it hurts."""
in_the_sweep = pytest.param(True, marks=pytest.mark.sweep, id="sweep")
quick_and_swept = pytest.mark.parametrize("swept", [pytest.param(False, id="quick"), in_the_sweep])


def label(path: Path) -> str:
    parts = path.relative_to(HERE.parent).parts
    return "/".join(parts[2:3] + (parts[-1:] if len(parts) > 3 else ()))


each_sample = pytest.mark.parametrize("path", SAMPLES, ids=label)
some_archives = pytest.mark.parametrize("path", each_third(ARCHIVES, label, set(samples()).__contains__))


class Watched:
    """Bytes under another file's name that end a decoder which reads without end."""

    def __init__(self, data: bytes, path: Path) -> None:
        self._bytes = BytesSource(data, path.name)
        self._file = FileSource(path)
        self.name = str(path)
        self.size = len(data)
        self.left = 2_000 + 40 * len(data)

    def read(self, offset: int, length: int) -> bytes:
        self.left -= 1
        assert self.left > 0, "The decoder reads again and again."
        assert length <= 64 * 2**20, "The decoder asks for as much as the file claims."
        return self._bytes.read(offset, length)

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        return self._file.sibling(suffix, instead_of)


def opened(source: Source) -> Opened:
    archive = start(source)
    decode(archive, Progress())
    return archive


def leaves(fields: Sequence[Field], limit: int, *, inside: bool) -> Iterator[Field]:
    """The leaves in tree order; fails where the tree has more than ``limit`` fields, which ends endless ones."""
    waiting = [iter(fields)]
    seen = 0
    while waiting:
        field = next(waiting[-1], None)
        if field is None:
            waiting.pop()
            continue
        seen += 1
        assert seen <= limit, "There are more fields than bytes can be told apart."
        below = field.below if inside else field.children
        if below:
            waiting.append(iter(below))
        else:
            yield field


def owned(archive: Opened, *, inside: bool = False) -> list[tuple[Span, Field]]:
    """Every leaf's bytes in file order, those inside data too; fails unless each byte is there exactly once."""
    size = archive.source.size
    found = [
        (span, leaf)
        for leaf in leaves(archive.fields, 10_000 + 20 * size, inside=inside)
        for span in leaf.spans
        if span.start != span.stop
    ]
    found.sort(key=lambda pair: pair[0])
    at = 0
    for span, leaf in found:
        assert span.start == at, f"{leaf.name} begins at {span.start}, the leaf before it ends at {at}."
        assert span.stop > span.start
        at = span.stop
    assert at == size
    return found


def endure(data: bytes, path: Path) -> None:
    """Decode damaged bytes, walk all fields and read some members: nothing is raised, every byte is owned."""
    archive = opened(Watched(data, path))
    owned(archive)
    owned(archive, inside=True)
    assert archive.complete
    for finding in archive.findings:
        assert finding.message.endswith("."), finding.message
        assert all(0 <= start <= stop <= len(data) for start, stop in finding.spans)
    for member in islice(archive.members, 3):
        assert read(archive, member.index) <= member.size


def read(archive: Opened, index: int) -> int:
    """How many bytes of a member can be had; fails where it ends in anything but a sentence."""
    got = 0
    try:
        for piece in islice(content(archive, index, Progress()), 100):
            got += len(piece)
    except (MemberError, SourceError) as error:
        sentence = str(error)
    else:
        sentence = "."
    assert sentence.endswith(".")
    return got


def test_every_format_has_a_sample() -> None:
    recognised = {
        opened(FileSource(path)).format for path in ARCHIVES if path.is_relative_to(HERE.parent / "resources")
    }

    assert {known.name for known in FORMATS} <= recognised


@each_sample
def test_dump_says_what_the_golden_transcript_says(
    path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    monkeypatch.chdir(path.parent)

    status = main(["dump", path.name])

    out, err = capfd.readouterr()
    assert status == 0
    golden(f"{path.name}.txt", out + err)


@each_sample
def test_check_says_what_the_golden_transcript_says(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
    in_this_process: None,  # noqa: ARG001
) -> None:
    monkeypatch.chdir(path.parent)

    status = main(["check", path.name])

    out, err = capfd.readouterr()
    golden(f"check/{path.name}.txt", f"{out}{err}exit status {status}\n")


@each_sample
def test_dump_as_json_has_the_promised_keys_and_owns_every_byte(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def walk(fields: list[dict[str, object]]) -> Iterator[list[int]]:
        for field in fields:
            assert list(field) == ["name", "kind", "type", "spans", "value", "note", "children"]
            assert field["kind"] in declared_kinds()
            children = field["children"]
            assert isinstance(children, list)
            assert isinstance(field["spans"], list)
            yield from walk(children) if children else field["spans"]

    assert main(["dump", "--json", str(path)]) == 0

    for line in capfd.readouterr().out.splitlines():
        archive = json.loads(line, parse_constant=pytest.fail)
        assert list(archive) == ["source", "format", "size", "fields"]
        at = 0
        for span in sorted(span for span in walk(archive["fields"]) if span[0] < span[1]):
            assert span[0] == at
            at = span[1]
        assert at == archive["size"]


@some_archives
def test_runs_and_locate_agree_with_the_leaves(path: Path) -> None:
    archive = opened(FileSource(path))
    found = owned(archive)
    size = archive.source.size

    whole = runs(archive.fields, 0, size)

    assert [(run.start, run.stop, run.kind) for run in whole] == [(*span, leaf.kind) for span, leaf in found]
    for run in whole:
        here, there = at_path(archive.fields, run.path), locate(archive.fields, run.start)[-1][1]
        assert here._replace(inside=()) == there._replace(inside=())  # what is inside is read anew each time
        chain = locate(archive.fields, run.stop - 1)
        assert tuple(position for position, _ in chain) == run.path
    for run in whole[:: max(1, len(whole) // 50)]:
        low, high = run.start, min(size, run.stop + 16)
        part = runs(archive.fields, low, high)
        assert (part[0].start, part[-1].stop, part[0].path) == (low, high, run.path)


@some_archives
@quick_and_swept
def test_a_file_cut_off_anywhere_is_shown_as_far_as_it_goes(path: Path, swept: bool) -> None:
    data = path.read_bytes()

    for size in sorted(cuts(data, path, swept)):
        endure(data[:size], path)


def cuts(data: bytes, path: Path, swept: bool) -> set[int]:
    """Sizes below that of the file: all or nearly all of them, or boundaries of fields and some more."""
    spread = set(range(0, len(data), max(1, len(data) // SWEPT_CUTS)))
    if swept and len(spread) == len(data):
        return spread
    random = Random(f"cuts of {path.name}")
    boundaries = [span.start for span, _ in owned(opened(FileSource(path)))]
    most = SWEPT_BOUNDARIES if swept else MAX_BOUNDARIES
    chosen = boundaries if len(boundaries) <= most else random.sample(boundaries, most)
    near = {at + step for at in chosen for step in (-1, 0, 1)} | {random.randrange(len(data) + 1) for _ in range(CUTS)}
    return {size for size in near | (spread if swept else set()) if 0 <= size < len(data)}


@some_archives
@quick_and_swept
def test_a_flipped_bit_anywhere_raises_nothing(path: Path, swept: bool) -> None:
    data = path.read_bytes()
    random = Random(f"flips of {path.name}, {swept}")
    structure = [
        span
        for span, leaf in owned(opened(FileSource(path)))
        if leaf.kind not in (Kind.DATA, Kind.PADDING, Kind.GARBAGE)
    ]

    for number in range((SWEPT_FLIPS if swept else FLIPS) if data else 0):
        span = random.choice(structure) if number % 2 and structure else Span(0, len(data))
        at = random.randrange(span.start, span.stop)
        endure(data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :], path)
