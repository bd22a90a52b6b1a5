"""Readers: what runs is compared with the same programs run over a path; what is described, with the notes on it."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
import tacozip

from inspector.core.names import visible
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.reader import Reader, ReaderKind, ReaderOutcome, Recorder, Step
from inspector.core.source import BytesSource, Source
from inspector.formats import recognise
from inspector.formats.rca import FORMAT as RCA
from inspector.operations.check.tracing import StepLog, Trace, compare_readers, reader_named, trace
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import decode, start
from inspector.operations.protocol.check_views import ReaderVerdict
from inspector.sources.local.file import FileSource
from tests.formats.rca import build
from tests.formats.rca.checking import ONE, THREE, TWO, resumed
from tests.sweeping import in_the_sweep

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT / "resources" / "samples", ROOT / "tests" / "samples")
ZIPS = [path for folder in FOLDERS for path in sorted(folder.iterdir()) if path.suffix in (".zip", ".tacozip", ".taco")]
TARS = [path for folder in FOLDERS for path in sorted(folder.rglob("*.tar"))]
CHUNK = 512 * 1024


def followed(source: Source, name: str, member: str | None = None) -> tuple[Trace, list[Step]]:
    steps: list[Step] = []
    decoder = recognise(source)
    return trace(source, reader_named(decoder, name), steps.append, Progress(), member), steps


def described(data: bytes, name: str, member: str | None = None) -> tuple[ReaderOutcome, list[Step]]:
    steps: list[Step] = []
    source = BytesSource(data, "a.rca")
    found = trace(source, reader_named(RCA, name), steps.append, Progress(), member)
    return found.outcome, steps


def damaged(path: Path, seed: int) -> bytes:
    """The file with a few bytes changed, or cut off."""
    random, data = Random(seed), bytearray(path.read_bytes())
    if seed % 4 == 3:
        return bytes(data[: random.randrange(len(data))])
    for _ in range(random.randrange(1, 4)):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(data)


# ---- the programs that run ------------------------------------------------------------------------------------------


def zipfile_says(path: Path) -> tuple[bool, list[str], str | None]:
    """What zipfile itself makes of a file: whether it accepts, the names it lists, the first member that fails."""
    try:
        archive = zipfile.ZipFile(path)
    except Exception:  # noqa: BLE001 - whatever it raises
        return False, [], None
    with archive:
        names: list[str] = []
        for info in archive.infolist():
            try:
                with archive.open(info) as content:
                    while content.read(CHUNK if info.compress_type in (0, 8) else 4096):
                        pass
            except Exception:  # noqa: BLE001 - whatever it raises
                return False, names, info.filename
            names.append(info.filename)
    return True, names, None


def tarfile_says(path: Path) -> tuple[bool, list[str], str | None]:
    names: list[str] = []
    current: str | None = None
    try:
        with tarfile.open(path, "r:") as archive:
            for info in archive:
                current = info.name
                content = archive.extractfile(info) if info.isreg() else None
                while content is not None and content.read(CHUNK):
                    pass
                names.append(info.name)
                current = None
    except Exception:  # noqa: BLE001 - whatever it raises
        return False, names, current
    return True, names, None


SAYS = {"zipfile": zipfile_says, "tarfile": tarfile_says}


def assert_same(path: Path, name: str) -> None:
    """The trace ends as the program does."""
    source = FileSource(path)
    decoder = recognise(source)
    if decoder is None or name not in [each.name for each in decoder.readers()]:
        return
    outcome = followed(source, name)[0].outcome
    accepts, names, member = SAYS[name](path)
    assert (outcome.accepts, outcome.names, outcome.member) == (
        accepts,
        tuple(map(visible, names)),
        None if member is None else visible(member),
    )


@pytest.mark.parametrize("path", ZIPS, ids=lambda path: path.name)
def test_zipfile_is_zipfile(path: Path) -> None:
    assert_same(path, "zipfile")


@pytest.mark.parametrize("path", TARS, ids=lambda path: path.name)
def test_tarfile_is_tarfile(path: Path) -> None:
    assert_same(path, "tarfile")


@pytest.mark.parametrize("copies", [40, in_the_sweep(2_000)])
@pytest.mark.parametrize(
    ("sample_name", "reader"),
    [("plain.zip", "zipfile"), ("two-entries.tacozip", "zipfile"), ("plain.tar", "tarfile"), ("pax.tar", "tarfile")],
)
def test_random_damage_ends_a_trace_as_it_ends_the_program(
    sample: Callable[[str], Path], tmp_path: Path, sample_name: str, reader: str, copies: int
) -> None:
    for seed in range(copies):
        path = tmp_path / f"{seed}{Path(sample_name).suffix}"
        path.write_bytes(damaged(sample(sample_name), seed))
        assert_same(path, reader)


def tacozip_says(path: Path) -> tuple[bool, object]:
    try:
        return True, tuple(f"{start},{size}" for start, size in tacozip.read_header(str(path)))
    except tacozip.TacozipError as error:
        return False, f"TacozipError: {error}"


@pytest.mark.parametrize("copies", [40, in_the_sweep(2_000)])
def test_tacozip_is_tacozip(sample: Callable[[str], Path], tmp_path: Path, copies: int) -> None:
    for seed in range(copies):
        path = tmp_path / f"{seed}.tacozip"
        data = sample("two-entries.tacozip").read_bytes()
        path.write_bytes(damaged(sample("two-entries.tacozip"), seed)[: len(data)])
        source = FileSource(path)
        decoder = recognise(source)
        if decoder is None or decoder.name != "taco":
            continue
        outcome = followed(source, "tacozip")[0].outcome
        specified = followed(source, "spec")[0].outcome
        accepts, said = tacozip_says(path)
        assert (outcome.accepts, outcome.names if outcome.accepts else outcome.message) == (accepts, said)
        assert specified.accepts is outcome.accepts


TACOREADER = """
import json, sys, duckdb, tacoreader
from tacoreader.storage.base import TacoBackend
# It would install an extension from the network, and go on without.
TacoBackend._setup_duckdb_connection = lambda self: duckdb.connect(":memory:")
for path in sys.argv[1:]:
    try:
        tacoreader.load(path)
        print(json.dumps([path, True]))
    except Exception:
        print(json.dumps([path, False]))
"""


@pytest.mark.sweep
def test_what_is_said_of_tacoreader_is_what_it_does(sample: Callable[[str], Path], tmp_path: Path) -> None:
    paths = []
    for seed in range(12):
        for name in ("tacotoolbox.tacozip", "two-entries.tacozip"):
            path = tmp_path / f"{seed}-{name}"
            data = sample(name).read_bytes()
            path.write_bytes(damaged(sample(name), seed) if seed else data)
            paths.append(path)
    done = subprocess.run(
        [sys.executable, "-c", TACOREADER, *map(str, paths)], capture_output=True, text=True, check=True
    )
    real = dict(json.loads(line) for line in done.stdout.splitlines())
    known = 0
    for path in paths:
        decoder = recognise(source := FileSource(path))
        if decoder is not None and decoder.name == "taco":
            accepts = followed(source, "tacoreader")[0].outcome.accepts
            known += accepts is not None
            assert accepts in (None, real[str(path)])
    assert known > 5
    assert real[str(paths[0])] is True


# ---- what the notes on real programs say ----------------------------------------------------------------------------


def test_each_hash_convention_is_rejected_by_the_other_reader() -> None:
    spec, rcarch = (build.archive(ONE, TWO, THREE, convention=each) for each in (build.SPEC, build.RCARCH))

    assert described(spec, "spec")[0].accepts is True
    assert described(rcarch, "rcarch")[0].accepts is True
    outcome, steps = described(spec, "rcarch")
    failed = steps[-1]
    assert (outcome.accepts, outcome.message, outcome.members) == (False, "final checksum mismatch", 4)
    assert (failed.n, failed.action, failed.ok) == (outcome.stopped_at, "compare the hash of segment 2", False)
    assert "with the reset block's own bytes" in outcome.cause
    assert spec[slice(*failed.span or ())].hex() in failed.value
    outcome, steps = described(rcarch, "spec")
    assert (outcome.accepts, steps[-1].action) == (False, "compare the hash of segment 2")
    assert "as rcarch computes it" in outcome.cause


def test_both_conventions_agree_without_a_reset_block() -> None:
    data = build.archive(ONE)

    assert [described(data, each)[0].names for each in ("spec", "rcarch")] == [("one", "two", "three")] * 2


@pytest.mark.parametrize("reader", ["spec", "rcarch"])
def test_a_wrong_resume_is_rejected_though_every_blob_is_whole(reader: str) -> None:
    data, _ = resumed(b"deadhash", build.RCARCH)

    outcome, steps = described(data, reader)
    assert (outcome.accepts, steps[-1].action) == (False, "compare the hash of segment 1")
    assert steps[-1].value.startswith(f"stored {b'deadhash'.hex()}")
    if reader == "rcarch":
        assert outcome.message == "checksum mismatch"
        assert "interrupted at the chunk boundary" in outcome.cause


@pytest.mark.parametrize(
    ("name", "unzip"), [("torn-after-write-1.tacozip", False), ("torn-after-write-2.tacozip", True)]
)
def test_a_torn_taco_is_read_by_its_header_and_not_as_a_zip(
    sample: Callable[[str], Path], name: str, unzip: bool
) -> None:
    source = FileSource(sample(name))

    assert followed(source, "spec")[0].outcome.accepts is True
    assert followed(source, "tacozip")[0].outcome.accepts is True
    rejected = followed(source, "zipfile")[0].outcome
    assert (rejected.accepts, rejected.member) == (False, "TACO_HEADER")
    assert "Bad CRC-32" in rejected.message
    fits = [step.ok for step in followed(source, "spec")[1] if step.action == "CRC-32 of the payload"]
    assert fits == [unzip]


def test_version_needed_10_is_fine(sample: Callable[[str], Path]) -> None:
    data = bytearray(sample("two-entries.tacozip").read_bytes())
    data[4:6] = (10).to_bytes(2, "little")

    found, steps = followed(BytesSource(bytes(data), "a.tacozip"), "spec")
    (version,) = [step for step in steps if step.action == "version needed"]
    assert (found.outcome.accepts, version.value, version.ok) == (True, 10, True)
    assert "either is fine" in version.decision


def test_trailing_commas_and_a_name_that_stands_twice_are_not_known_of_the_published_readers(
    sample: Callable[[str], Path],
) -> None:
    for name in ("trailing-commas.caf", "no-version.caf"):
        found = [followed(FileSource(sample(name)), each)[0].outcome.accepts for each in ("spec", "caf-go", "caf-ts")]
        assert found == [True, None, None]


# ---- steps and reads ------------------------------------------------------------------------------------------------


def test_the_steps_of_the_fast_lookup(sample: Callable[[str], Path]) -> None:
    source = FileSource(sample("journey.caf"))
    index = int.from_bytes(source.read(source.size - 4, 4), "little")

    found, steps = followed(source, "spec", "readme.txt")
    footer, read, parse, content = steps
    assert (footer.span, footer.value) == ((source.size - 4, source.size), f"index size {index:,}")
    assert footer.decision == f"seek to {source.size - 4 - index:,}"
    assert (read.span, read.read) == ((source.size - 4 - index, source.size - 4), True)
    assert parse.value == "8 files, format_version 1.0"
    assert content.action == "read readme.txt"
    assert found.outcome.names == ("readme.txt",)
    assert dict(content.state)["index size"] == f"{index:,}"


@pytest.mark.parametrize(
    ("data", "action", "message"),
    [
        (b"{}\x03\0\0\0", "read the footer", "The index would be 3 bytes, larger than the file."),
        (b"{}\0", "seek to the end minus 4", "The file has 3 bytes, no room for a footer."),
    ],
)
def test_the_fast_lookup_ends_at_a_footer_that_cannot_be(data: bytes, action: str, message: str) -> None:
    found, steps = followed(BytesSource(data, "short.caf"), "spec")

    assert (found.outcome.accepts, found.outcome.message) == (False, message)
    assert [(step.action, step.ok) for step in steps] == [(action, False)]


def test_reads_are_kept_in_order_and_counted(sample: Callable[[str], Path]) -> None:
    source = FileSource(sample("journey.caf"))
    found, steps = followed(source, "spec")
    by_step = {step: span for span, step in found.reads}

    assert [step.n for step in steps if step.read] == list(by_step)
    assert all(by_step[step.n] == step.span for step in steps if step.read)
    assert found.reads.never(source.size) == []
    assert found.reads.twice() == []
    assert sum(span.size for span in found.reads.once()) == found.reads.total == source.size


def test_bytes_read_twice_and_never() -> None:
    def run(recorder: Recorder) -> None:
        for begin in (10, 15, 12):
            recorder.read(begin, 10)

    found = trace(BytesSource(bytes(40)), _reader(run), lambda _step: None, Progress())
    assert found.reads.twice() == [(12, 22)]
    assert found.reads.never(40) == [(0, 10), (25, 40)]


def _reader(run: Callable[[Recorder], None]) -> Reader:
    return Reader("made", "made", ReaderKind.DESCRIBED, "", run)


def test_one_member_is_read_and_no_other(sample: Callable[[str], Path]) -> None:
    for name, reader in (("plain.zip", "zipfile"), ("plain.tar", "tarfile"), ("two-resets-rcarch.rca", "rcarch")):
        source = FileSource(sample(name))
        wanted = followed(source, reader)[0].outcome.names[1]
        found, _ = followed(source, reader, wanted)
        assert (found.outcome.accepts, found.outcome.names) == (True, (wanted,))
        assert followed(source, reader, "no such member")[0].outcome.accepts is (reader == "tarfile" or False)


def test_memory_stays_flat_however_many_steps() -> None:
    def run(recorder: Recorder) -> None:
        for number in range(8_000):
            recorder.state["number"] = number
            recorder.step("look", (0, 1), "value")
        raise recorder.reject("stop", (1, 2), "It stops here.")

    log = StepLog(head=500, tail=100)
    tracemalloc.start()
    try:
        found = trace(BytesSource(bytes(10)), _reader(run), log.add, Progress())
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    steps = log.steps()
    assert (len(steps), log.folded, found.outcome.stopped_at) == (601, 8_001 - 600, 8_001)
    assert (steps[500].folded, steps[500].action) == (log.folded, "7,401 steps not kept, 501 to 7,901")
    assert steps[-1].n == 8_001


def test_what_goes_round_in_circles_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(recorder: Recorder) -> None:
        while True:
            recorder.read(0, 1)

    monkeypatch.setattr("inspector.core.reader.MAX_READS", 1_000)
    outcome = trace(BytesSource(bytes(10)), _reader(run), lambda _step: None, Progress()).outcome
    assert (outcome.accepts, outcome.message) == (None, "It was stopped after 1,000 reads.")


def test_a_bomb_is_not_decompressed_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.core.reader.MAX_GIVEN_BYTES", 1 << 20)
    data = build.archive([(b"zeros", bytes(4 << 20))])

    outcome, _ = described(data, "spec")
    assert (outcome.accepts, outcome.message) == (None, "It was stopped after 1,048,576 bytes of content.")


def test_a_trace_can_be_cancelled(sample: Callable[[str], Path]) -> None:
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        trace(
            FileSource(sample("plain.zip")),
            reader_named(recognise(FileSource(sample("plain.zip"))), "zipfile"),
            _drop,
            progress,
        )


def _drop(_step: Step) -> None:
    """Take a step and do nothing."""


# ---- the table -------------------------------------------------------------------------------------------------------


def rows_of(source: Source) -> dict[str, ReaderVerdict]:
    archive = start(source)
    decode(archive, Progress())
    return {row.reader.name: row.verdict for row in compare_readers(archive, archive.decoder, Progress())}


def test_the_table_says_who_reads_wrongly(sample: Callable[[str], Path], tmp_path: Path) -> None:
    """Behind a header whose checksum is wrong, tarfile ends without an error."""
    data = bytearray(sample("plain.tar").read_bytes())
    with tarfile.open(sample("plain.tar")) as archive:
        second = archive.getmembers()[1].offset
    data[second + 148] ^= 1
    path = tmp_path / "damaged.tar"
    path.write_bytes(data)

    assert rows_of(FileSource(sample("plain.tar")))["tarfile"] is ReaderVerdict.ACCEPTS
    assert rows_of(FileSource(path))["tarfile"] is ReaderVerdict.WRONG


def samples() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (each for each in sorted(folder.iterdir()) if each.suffix in (".caf", ".rca", ".tacozip", ".zip"))


@pytest.mark.parametrize("path", list(samples()), ids=lambda path: path.name)
def test_every_sample_gets_a_table_and_every_step_lies_in_the_file(path: Path) -> None:
    source = FileSource(path)
    decoder = recognise(source)
    if decoder is None:
        return
    archive = start(source)
    decode(archive, Progress())
    rows = compare_readers(archive, decoder, Progress())
    assert [row.reader.name for row in rows] == [each.name for each in decoder.readers()]
    for reader in decoder.readers():
        if not reader.present():
            found, steps = followed(source, reader.name)
            assert [step.n for step in steps] == list(range(1, len(steps) + 1))
            assert all(0 <= step.span.start <= step.span.stop <= source.size for step in steps if step.span)
            if steps and found.outcome.accepts is False:
                assert found.outcome.message
                assert found.outcome.stopped_at in [step.n for step in steps if not step.ok]


def test_a_reader_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OperationError, match=r"does not read this file \(RCA archive\)\. Known readers: spec, rcarch"):
        reader_named(RCA, "zipfile")


def test_a_reader_that_is_not_installed_is_said_to_be_so(
    sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.formats.taco.readers.find_spec", lambda _name: None)
    monkeypatch.setattr("shutil.which", lambda _name: None)

    found = rows_of(FileSource(sample("two-entries.tacozip")))
    assert (found["tacozip"], found["unzip"], found["zipfile"]) == (
        ReaderVerdict.ABSENT,
        ReaderVerdict.ABSENT,
        ReaderVerdict.ACCEPTS,
    )
    with pytest.raises(OperationError, match="tacozip cannot run: not installed"):
        reader_named(recognise(FileSource(sample("two-entries.tacozip"))), "tacozip")


def test_what_is_not_a_file_is_not_known_of_a_program_that_needs_one(sample: Callable[[str], Path]) -> None:
    source = BytesSource(sample("two-entries.tacozip").read_bytes(), "a.tacozip")

    assert rows_of(source)["tacozip"] is ReaderVerdict.UNKNOWN
