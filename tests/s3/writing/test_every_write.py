"""Every sub-command that writes to S3, with a fault at each of its requests: all of it, or nothing and a sentence."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import pytest

from inspector.__main__ import main
from inspector.resources import resource
from inspector.sources.s3.client import Client
from inspector.sources.s3.transport import WaitLimits
from inspector.sources.s3.uploads.sender import Sender
from tests.formats.tar.tar_building import build
from tests.s3.bucket import BUCKET
from tests.s3.conftest import Store, forget_conditions
from tests.s3.proxy import Fault, Forward, Reply, Seen, after
from tests.s3.terminal.test_every_command import FAULTS, IMPATIENT, SILENCE_SECONDS, SLOW
from tests.s3.writing.writing import taco, unfinished
from tests.sweeping import in_the_sweep

ROOT = "every-write/"
PLACE = f"s3://{BUCKET}/{ROOT}"
RANGE = f"dataset/new/datapoints/{1:020d}-{6:020d}.tar"
TAR = build([(f"{key:020d}.txt", b"%d" % key * 700) for key in range(1, 7)])
CLAIMS_NOTHING_CHANGED = re.compile(r"was not (changed|created|written|sent)|[Nn]othing was|is as it was")

COMMANDS: dict[str, Callable[[str], list[str]]] = {
    "create caf": lambda inputs: ["create", "caf", f"{PLACE}new.caf", inputs],
    "create rca": lambda inputs: ["create", "rca", f"{PLACE}new.rca", inputs],
    "create taco": lambda inputs: ["create", "taco", f"{PLACE}new.taco", inputs],
    "create --overwrite": lambda inputs: ["create", "caf", f"{PLACE}old.taco", inputs, "--overwrite"],
    "create datas3t": lambda inputs: [
        *("create", "datas3t", PLACE.rstrip("/"), inputs),
        *("--dataset", "other", "--first-key", "1"),
    ],
    "header --set": lambda _: ["header", f"{PLACE}old.taco", "--set", "0=300,40"],
    "header --to": lambda _: ["header", f"{PLACE}old.taco", "--set", "0=300,40", "--to", f"{PLACE}copy.taco"],
    "repair": lambda _: ["repair", f"{PLACE}{RANGE}"],
    "repair --to": lambda _: ["repair", f"{PLACE}{RANGE}", "--to", f"{PLACE}copy.tar"],
}
NUMBERED = list(enumerate(COMMANDS))


class Ending(NamedTuple):
    """How a command ended, what is in the bucket then, and what was said."""

    status: int
    objects: dict[str, bytes]
    said: str
    requests: int


class Desk:
    """A bucket that is put as it was before each command."""

    def __init__(self, store: Store, inputs: Path, old: bytes, capture: pytest.CaptureFixture[str]) -> None:
        self.before = {f"{ROOT}old.taco": old, f"{ROOT}{RANGE}": TAR}
        self._store = store
        self._inputs = inputs
        self._capture = capture

    def keys(self) -> list[str]:
        listed = self._store.client.list_objects_v2(Bucket=BUCKET, Prefix=ROOT).get("Contents", ())
        return [each["Key"] for each in listed]

    def objects(self) -> dict[str, bytes]:
        client = self._store.client
        return {key: client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in self.keys()}

    def clear(self) -> None:
        """Take away what the old objects do not take the place of."""
        for key in set(self.keys()) - self.before.keys():
            self._store.client.delete_object(Bucket=BUCKET, Key=key)

    def run(self, command: str, fault: Fault | None = None, options: tuple[str, ...] = ()) -> Ending:
        forget_conditions()
        self.clear()
        for key, data in self.before.items():
            self._store.put(key, data)
        self._store.proxy.reset()
        if fault is not None:
            with self._store.proxy.failing(fault):
                status = main([*COMMANDS[command](str(self._inputs)), *self._store.options, *options])
        else:
            status = main([*COMMANDS[command](str(self._inputs)), *self._store.options])
        said = self._capture.readouterr()
        return Ending(status, self.objects(), said.out + said.err, len(self._store.proxy.log))


@pytest.fixture
def desk(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    for number in range(1, 4):
        (inputs / f"{number}.txt").write_bytes(b"%d" % number * 900)
    made = Desk(store, inputs, taco(tmp_path, [300, 400]), capsys)
    yield made
    made.before.clear()
    made.clear()
    for upload in store.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", ()):
        store.client.abort_multipart_upload(Bucket=BUCKET, Key=upload["Key"], UploadId=upload["UploadId"])


def briefly(sender: Sender) -> WaitLimits:
    return WaitLimits(sender._check_cancelled, max_seconds=SILENCE_SECONDS)


def once(stage: int, fault: Fault) -> Fault:
    """The fault at one request, the first after ``stage`` others."""
    left = stage

    def some(seen: Seen, forward: Forward) -> Reply:
        nonlocal left
        left -= 1
        return fault(seen, forward) if left == -1 else forward()

    return some


@pytest.mark.parametrize(
    ("number", "command", "every"),
    [
        *(pytest.param(*each, False, id=each[1]) for each in NUMBERED),
        *(in_the_sweep(*each, True, name=f"{each[1]}, all") for each in NUMBERED),
    ],
)
def test_what_is_written_is_whole_or_not_there_and_said_so(
    desk: Desk, store: Store, monkeypatch: pytest.MonkeyPatch, number: int, command: str, every: bool
) -> None:
    right = desk.run(command)
    assert right.status == 0
    faults = [*FAULTS.items(), *SLOW.items()]
    cases = [
        (name, fault, stage, when)
        for at, (name, fault) in enumerate(faults)
        for stage in range(right.requests)
        for when in (once, after)
        if (when is once) == bool((at + stage) % 2) and (every or ((at + stage + number) % 9 == 0 and name not in SLOW))
    ]
    for name, fault, stage, when in cases:
        with monkeypatch.context() as patch:
            if name in SLOW:
                patch.setattr(Client, "read_timeout", SILENCE_SECONDS)
                patch.setattr(Sender, "_wait_limits", property(briefly))
            found = desk.run(command, when(stage, fault), tuple(IMPATIENT) if name in SLOW else ())
        what = (name, stage, when.__name__, found.status, found.said)
        assert "because of a bug" not in found.said, what
        assert "Traceback" not in found.said, what
        if found.status == 0:
            assert found.objects == right.objects, what
            continue
        assert found.status == 2, what
        assert found.said.strip(), what
        for key in [key for key in found.objects if ".archive-inspector-" in key]:
            assert key in found.said, what
            del found.objects[key]
        for key, data in found.objects.items():
            assert data in (desk.before.get(key), right.objects.get(key)), (*what, key)
        assert found.objects.keys() >= desk.before.keys(), what
        if " is written, but not what belongs beside it: " in found.said:
            assert found.objects.keys() - desk.before.keys() < right.objects.keys(), what
        elif CLAIMS_NOTHING_CHANGED.search(found.said):
            assert found.objects == desk.before, what
    if not every:
        assert unfinished(store) == []


# ---- what is written here from what is there -----------------------------------------------------------------------


def damaged(member: bytes) -> bytes:
    """A ZIP of two stored members, of which this one is damaged."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in (b"one", b"two"):
            archive.writestr(zipfile.ZipInfo(name.decode()), name * 300)
    return made.getvalue().replace(member * 200, member * 100 + b"!!!" + member * 99)


SOURCES = {"a.zip": damaged(b"one"), "b.zip": damaged(b"two"), "in/1.txt": b"1" * 900, "in/2.txt": b"2" * 900}
OLD = resource("samples", "two-resets-rcarch.rca").read_bytes()
HERE: dict[str, Callable[[str], list[str]]] = {
    "append": lambda target: ["append", target, f"{PLACE}in"],
    "compare --to": lambda target: ["compare", f"{PLACE}a.zip", f"{PLACE}b.zip", "--to", target],
}


@pytest.mark.parametrize(
    ("command", "every"),
    [
        *(pytest.param(each, False, id=each) for each in HERE),
        *(in_the_sweep(each, True, name=f"{each}, all") for each in HERE),
    ],
)
def test_what_is_written_here_from_there_is_whole_or_as_it_was(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, every: bool
) -> None:
    for key, data in SOURCES.items():
        store.put(f"{ROOT}{key}", data)
    before = {"new.rca": OLD} if command == "append" else {}

    def run(fault: Fault | None) -> tuple[int, dict[str, bytes], str, int]:
        folder = Path(mkdtemp(dir=tmp_path))
        for name, data in before.items():
            (folder / name).write_bytes(data)
        store.proxy.reset()
        target = str(folder / ("new.rca" if command == "append" else "new.zip"))
        with store.proxy.failing(fault) if fault else nullcontext():
            status = main([*HERE[command](target), *store.options])
        said = capsys.readouterr()
        return status, {each.name: each.read_bytes() for each in folder.iterdir()}, said.err, len(store.proxy.log)

    right, made, said, requests = run(None)
    assert right == (0 if command == "append" else 1), said
    assert [len(data) > len(before.get(name, b"")) for name, data in made.items()] == [True]
    for at, (name, fault) in enumerate(FAULTS.items()):
        for stage in range(requests):
            for when in (once, after) if every else (once, after)[stage % 2 : stage % 2 + 1] * ((at + stage) % 3 == 0):
                status, found, said, _ = run(when(stage, fault))
                what = (name, stage, when.__name__, status, said)
                assert "because of a bug" not in said, what
                assert status in (right, 2), what
                assert found == (made if status == right else before), what
                assert status == right or said.strip(), what


def test_what_is_changed_by_appending_or_combined_is_written_here_only(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    for key, data in SOURCES.items() | {("old.rca", OLD)}:
        store.put(f"{ROOT}{key}", data)
    for name, target in (("append", f"{PLACE}old.rca"), ("compare --to", f"{PLACE}new.zip")):
        store.proxy.reset()
        assert main([*HERE[name](target), *store.options]) == 2
        assert capsys.readouterr().err.strip()
        assert {seen.method for seen in store.proxy.log} <= {"GET", "HEAD"}
