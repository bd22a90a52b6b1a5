"""Every sub-command that reads S3, under every fault: the answer of this computer, or exit status 2 and a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from inspector.__main__ import main
from inspector.sources.s3.client import Client
from tests.s3.bad_days import hanging
from tests.s3.bucket import BUCKET
from tests.s3.conftest import Store
from tests.s3.objects import Held, serving
from tests.s3.proxy import (
    Fault,
    Forward,
    Reply,
    Seen,
    after,
    answering,
    cut,
    dripping,
    fewer,
    rangeless,
    refuse,
    silent,
    web_page,
)
from tests.s3.terminal.commands import ARCHIVES, COMMANDS, SOUND, Archive, Case, fill
from tests.sweeping import in_the_sweep

FAULTS = {
    "503": refuse(503, "SlowDown"),
    "429": refuse(429),
    "403": refuse(403, "AccessDenied"),
    "reset": silent,
    "cut at once": cut(100),
    "cut later": cut(70_000),
    "short body": fewer,
    "other range": answering(Content_Range="bytes 7-9/9000000"),
    "nonsense for a range": answering(Content_Range="bytes nonsense"),
    "no range": rangeless,
    "web page": web_page,
    "other ETag": answering(ETag='"another"'),
}
SLOW = {"hanging": hanging, "dripping": dripping}
"""Each takes as long as an answer is waited for."""
STAGES = (0, 1, 2, 5)
"""Requests that are answered well before the fault begins."""
SILENCE_SECONDS = 0.2
IMPATIENT = ["--region", "im-patient-3"]
"""A connection of its own: one that is there already waits as long as it was told then."""
SEQUENCES, MANY_SEQUENCES = 6, 500
RARELY, OFTEN, ALWAYS = 0.05, 0.3, 1.0
BUCKET_ROOT = f"s3://{BUCKET}"
HERE_ONLY = (b"gnutar", b"unzip", b"tacozip")
"""Readers that are programs, which read files of this computer only."""


class Answer(NamedTuple):
    """What a command ended with, what it wrote to standard output and into files, and what it said of failures."""

    status: int
    out: bytes
    files: dict[str, bytes]
    said: str

    def agrees(self, other: Answer) -> bool:
        return self[:3] == other[:3]


class Bench:
    """Runs commands about archives at two places: in the bucket, and the same in a folder."""

    def __init__(self, store: Store, held: Held, here: Path, folder: Path, capture: pytest.CaptureFixture[bytes]):
        self.store = store
        self.healthy = serving(held.objects)
        self._held = held
        self._here = here
        self._folder = folder
        self._capture = capture
        self._runs = 0

    def here(self, command: str, archive: Archive) -> Answer:
        """The answer about the archive in a folder."""
        return self._run(command, archive, str(self._here), [])

    def there(self, command: str, archive: Archive, fault: Fault | None = None, options: Sequence[str] = ()) -> Answer:
        """The answer about the archive in the bucket; all requests have to be such that only read."""
        self.store.proxy.reset()
        with self.store.proxy.failing(fault or self.healthy):
            answer = self._run(command, archive, BUCKET_ROOT, [*self.store.options, *options])
        assert {seen.method for seen in self.store.proxy.log} <= {"GET", "HEAD"}
        return answer

    def _run(self, command: str, archive: Archive, root: str, options: Sequence[str]) -> Answer:
        self._runs += 1
        folder = self._folder / str(self._runs)
        folder.mkdir()
        above = archive.key.rpartition("/")[0]
        case = Case(f"{root}/{archive.key}", f"{root}/{archive.other}", archive.member, f"{root}/{above}", folder)
        self._capture.readouterr()
        status = main([*COMMANDS[command](case), *options])
        said = self._capture.readouterr()
        out = said.out.replace(str(folder).encode(), b"FOLDER").replace(root.encode(), b"ROOT")
        out = re.sub(rb'\d+\.\d+ s\b.*|"(seconds|finished)": [\d.]+', b"TIME", out)
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        return Answer(status, out, files, said.err.decode())


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Held:
    made = Held("")
    fill(made, tmp_path_factory.mktemp("inputs"))
    return made


@pytest.fixture(scope="module")
def here(held: Held, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("here")
    for key, data in held.objects.items():
        assert isinstance(data, bytes)
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(data)
    return folder


@pytest.fixture
def bench(
    store: Store,
    held: Held,
    here: Path,
    tmp_path: Path,
    in_this_process: None,  # noqa: ARG001 - other processes would not know of the faults' shorter waits
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Bench:
    return Bench(store, held, here, tmp_path, capsysbinary)


@contextmanager
def impatient(monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(Client, "read_timeout", SILENCE_SECONDS)
        yield


def under(bench: Bench, fault: Fault) -> Fault:
    """The fault before the bucket that holds the archives."""
    return lambda seen, _: fault(seen, lambda *_, **__: bench.healthy(seen, _))


def hold_to_the_rule(found: Answer, right: Answer, *what: object) -> bool:
    """The right answer, or 2, a sentence, and no file that the right answer has not; whether it was the right one."""
    if found.agrees(right):
        return True
    assert found.status == 2, (*what, found, right)
    assert found.out.strip() or found.said.strip(), what
    assert "Traceback" not in found.said, (*what, found.said)
    assert "because of a bug" not in found.said, (*what, found.said)
    assert all(right.files.get(name) == data for name, data in found.files.items()), (*what, sorted(found.files))
    return False


def comparable(answer: Answer, command: str, archive: Archive) -> tuple[Any, ...]:
    """What of an answer has to be the same in a bucket and on this computer."""
    lines = answer.out.splitlines()
    if "trace" in command or "readers" in command:
        lines = [line for line in lines if not any(name in line for name in HERE_ONLY)]
    if archive is SOUND[-1]:
        lines = []  # in a bucket, ranges are named after their metadata until their tars are looked into
    return answer.status, lines, answer.files.keys()


NUMBERED = list(enumerate(COMMANDS))
SPREAD = [pytest.param(*each, False, id=each[1]) for each in NUMBERED]
ALL = [in_the_sweep(*each, True, name=f"{each[1]}, all") for each in NUMBERED]


@pytest.mark.parametrize(("number", "command", "every"), [*SPREAD, *ALL])
def test_a_command_answers_as_here_or_says_why_not(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, number: int, command: str, every: bool
) -> None:
    """Of all faults and archives a spread at every change: each fault meets several commands, at each stage."""
    faults = [*FAULTS.items(), *SLOW.items()]
    archives = ARCHIVES if every else [ARCHIVES[(number + 3) % len(ARCHIVES)]]
    wrong = 0
    for at, archive in enumerate(archives):
        right = bench.there(command, archive)
        assert "because of a bug" not in right.said
        if command != "check --by-checksum":  # that asks the server
            assert comparable(bench.here(command, archive), command, archive) == comparable(right, command, archive)
        chosen = faults[at % 3 :: 3] if every else [faults[number % len(faults)]]
        for step, (name, fault) in enumerate(chosen):
            stages = {STAGES[(number + at + step) % len(STAGES)], 0} if every else {STAGES[(number + step) % 3]}
            for stage in stages:
                is_slow = name in SLOW
                with impatient(monkeypatch) if is_slow else nullcontext():
                    failing = under(bench, after(stage, fault))
                    found = bench.there(command, archive, failing, IMPATIENT if is_slow else ())
                wrong += not hold_to_the_rule(found, right, archive.key, name, stage)
    assert wrong or not every, "no fault has been met"


def at_random(random: Random, share: float, faults: Sequence[Fault]) -> Fault:
    """A server that fails a share of its answers."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        return forward() if random.random() >= share else random.choice(faults)(seen, forward)

    return fault


@pytest.mark.parametrize(
    ("first", "count"),
    [pytest.param(0, SEQUENCES, id="some"), in_the_sweep(SEQUENCES, MANY_SEQUENCES, name="many")],
)
def test_no_sequence_of_faults_makes_a_wrong_answer(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, first: int, count: int
) -> None:
    right: dict[tuple[str, Archive], Answer] = {}
    wrong = 0
    for seed in range(first, first + count):
        random = Random(seed)
        command, archive = random.choice(list(COMMANDS)), random.choice(ARCHIVES)
        if (command, archive) not in right:
            right[command, archive] = bench.there(command, archive)
        share = random.choice((RARELY, OFTEN, ALWAYS))
        faults = SLOW if random.random() < RARELY else FAULTS
        fault = under(bench, at_random(random, share, list(faults.values())))
        # Only where one has to end: on a busy machine a right answer takes as long too.
        with impatient(monkeypatch) if faults is SLOW else nullcontext():
            found = bench.there(command, archive, fault, IMPATIENT if faults is SLOW else ())
        wrong += not hold_to_the_rule(found, right[command, archive], seed, command, archive.key)
    assert 0 < wrong < count
