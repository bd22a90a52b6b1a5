"""Random faults under every command: the answer is the one without them, or a sentence, and nothing is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from inspector.__main__ import main
from inspector.core import limits
from tests.formats.tar.tar_building import build
from tests.s3.archives import caf, dataset, taco
from tests.s3.bad_days import hanging, wide
from tests.s3.bucket import BUCKET
from tests.s3.conftest import Store
from tests.s3.objects import Held, serving
from tests.s3.proxy import (
    Fault,
    Forward,
    Reply,
    Seen,
    answering,
    cut,
    dripping,
    fewer,
    rangeless,
    refuse,
    silent,
    web_page,
)

FAULTS: Sequence[Fault] = (
    refuse(503, "SlowDown"),
    refuse(429),
    refuse(403, "AccessDenied"),
    silent,
    cut(100),
    cut(70_000),
    fewer,
    answering(Content_Range="bytes 7-9/9000000"),
    answering(Content_Range="bytes nonsense"),
    rangeless,
    web_page,
    answering(ETag='"another"'),
)
SLOW: Sequence[Fault] = (hanging, dripping)
"""Each takes as long as an answer is waited for."""
SEQUENCES = 12
MANY_SEQUENCES = 1_000
RARELY, OFTEN, ALWAYS = 0.05, 0.3, 1.0
PATIENCE_SECONDS = 1

Command = Callable[[str, Path], list[str]]
COMMANDS: Sequence[Command] = (
    lambda location, _: ["list", location],
    lambda location, _: ["list", "--json", location],
    lambda location, _: ["check", location],
    lambda location, _: ["check", "--json", location],
    lambda location, _: ["dump", location],
    lambda location, _: ["cat", location, "3.bin"],
    lambda location, _: ["repair", "--dry-run", location],
    lambda location, _: ["compare", location, location],
    lambda location, folder: ["extract", location, "--to", str(folder / "out")],
)


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Held:
    """Archives of every kind, large enough for several requests, sound and damaged."""
    folder, held = tmp_path_factory.mktemp("objects"), Held("")
    inputs = folder / "inputs"
    inputs.mkdir()
    for number in range(12):
        (inputs / f"{number}.bin").write_bytes(Random(number).randbytes(120_000))
    assert main(["create", "rca", str(folder / "a.rca"), str(inputs)]) == 0
    tar = build([(f"{number}.bin", Random(number).randbytes(200_000)) for number in range(12)])
    rca = (folder / "a.rca").read_bytes()
    zipped = wide(6)
    sound = {"a.rca": rca, "a.tar": tar, "a.zip": zipped, "a.caf": caf(3_000), "a.tacozip": taco(60, folder)}
    for name, data in sound.items():
        held.put(f"sound/{name}", data)
        broken = bytearray(data)
        broken[len(data) // 2] ^= 8
        held.put(f"broken/{name}", bytes(broken))
    dataset(held, "root", 3)
    return held


def locations(objects: Held) -> list[str]:
    single = [key for key in sorted(objects.objects) if not key.startswith("root/")]
    return [*(f"s3://{BUCKET}/{key}" for key in single), f"s3://{BUCKET}/root/dataset/weather"]


def at_random(random: Random, share: float, faults: Sequence[Fault], healthy: Fault) -> Fault:
    """A server that fails a share of its answers."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        if random.random() >= share:
            return healthy(seen, forward)
        return random.choice(faults)(seen, lambda *_, **__: healthy(seen, forward))

    return fault


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def run(
    store: Store, arguments: list[str], folder: Path, fault: Fault, capsysbinary: pytest.CaptureFixture[bytes]
) -> tuple[int, bytes, bytes, dict[str, bytes]]:
    """The exit status, what was written to the streams, and the files; whatever is asked must only read."""
    folder.mkdir()
    store.proxy.reset()
    with store.proxy.failing(fault):
        status = main([*arguments, *store.options, "--region", "im-patient-2"])
    said = capsysbinary.readouterr()
    assert {seen.method for seen in store.proxy.log} <= {"GET", "HEAD"}
    out = re.sub(rb"\d+\.\d+ s\b", b"s", said.out.replace(str(folder).encode(), b"@"))
    return status, out, said.err, written(folder)


@pytest.mark.parametrize(
    ("first", "count"),
    [
        pytest.param(0, SEQUENCES, id="some"),
        pytest.param(30, MANY_SEQUENCES, id="many", marks=pytest.mark.sweep),
    ],
)
def test_the_answer_is_right_or_a_sentence_says_what_could_not_be_read(
    store: Store,
    objects: Held,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
    first: int,
    count: int,
) -> None:
    monkeypatch.setenv(limits.ANSWERING.variable, str(PATIENCE_SECONDS))
    healthy = serving(objects.objects)
    right: dict[tuple[int, str], tuple[int, bytes, bytes, dict[str, bytes]]] = {}
    wrong = 0
    for seed in range(first, first + count):
        random = Random(seed)
        number, location = random.randrange(len(COMMANDS)), random.choice(locations(objects))
        if (number, location) not in right:
            folder = tmp_path / f"right-{seed}"
            arguments = COMMANDS[number](location, folder)
            right[number, location] = run(store, arguments, folder, healthy, capsysbinary)
        share = random.choice((RARELY, OFTEN, ALWAYS))
        faults = SLOW if random.random() < RARELY else FAULTS
        folder = tmp_path / str(seed)
        arguments = COMMANDS[number](location, folder)
        found = run(store, arguments, folder, at_random(random, share, faults, healthy), capsysbinary)
        if found[:2] == right[number, location][:2] and found[3] == right[number, location][3]:
            continue
        wrong += 1
        status, out, err, files = found
        assert status == 2, (seed, arguments, found, right[number, location], store.proxy.asked())
        assert out.strip() or err.strip(), (seed, arguments)
        assert b"Traceback" not in err, (seed, err)
        expected = right[number, location][3]
        assert all(expected.get(name) == data for name, data in files.items()), (seed, arguments, sorted(files))
    assert 0 < wrong < count
