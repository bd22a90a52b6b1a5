"""Every sub-command that reads archives on S3, and archives of every kind for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from inspector.__main__ import main
from tests.formats.tar.tar_building import build
from tests.s3.archives import dataset
from tests.s3.bad_days import wide
from tests.s3.objects import Held


class Archive(NamedTuple):
    """``key`` of an object, or of a dataset's folder; ``other`` differs from it a little; ``member`` is in it."""

    key: str
    other: str
    member: str


SOUND = (
    Archive("sound/a.rca", "broken/a.rca", "3.bin"),
    Archive("sound/a.tar", "broken/a.tar", "3.bin"),
    Archive("sound/a.zip", "broken/a.zip", "003.bin"),
    Archive("sound/a.caf", "broken/a.caf", "3.bin"),
    Archive("sound/a.tacozip", "broken/a.tacozip", "3.bin"),
    Archive("root/dataset/weather", "sound/a.tar", f"{13:020d}.txt"),
)
ARCHIVES = (*SOUND, *(Archive(other, key, member) for key, other, member in SOUND[:-1]))
BY_SUFFIX = {Path(each.key).suffix: each for each in SOUND}


class Case(NamedTuple):
    """What a command is given: places of an archive, another like it, and a folder to write into."""

    place: str
    other: str
    member: str
    above: str
    folder: Path


Command = Callable[[Case], list[str]]

COMMANDS: dict[str, Command] = {
    "list": lambda case: ["list", case.place],
    "list --json": lambda case: ["list", "--json", case.place],
    "list --names": lambda case: ["list", "--names", case.place, case.other],
    "check": lambda case: ["check", case.place],
    "check --json": lambda case: ["check", "--json", case.place, case.other],
    "check --readers": lambda case: ["check", "--readers", "--strict", case.place],
    "check --by-checksum": lambda case: ["check", "--by-checksum", case.place],
    "check a prefix": lambda case: ["check", "--json", case.above],
    "dump": lambda case: ["dump", case.place],
    "dump --json": lambda case: ["dump", "--json", case.place],
    "cat": lambda case: ["cat", case.place, case.member],
    "extract": lambda case: ["extract", case.place, "--to", str(case.folder / "out")],
    "extract some": lambda case: ["extract", case.place, case.member, "--to", str(case.folder / "out")],
    "trace": lambda case: ["trace", "--json", case.place],
    "trace --reader": lambda case: ["trace", "--reader", "spec", case.place],
    "entropy": lambda case: ["entropy", case.place],
    "scan": lambda case: ["scan", case.place, "--extract", str(case.folder / "found")],
    "entropy --blocks": lambda case: ["entropy", "--json", "--blocks", "9", case.place],
    "compare": lambda case: ["compare", case.place, case.other],
    "compare --json": lambda case: ["compare", "--json", case.other, case.place],
    "compare --quick": lambda case: ["compare", "--quick", case.place, case.other],
    "compare --bytes": lambda case: ["compare", "--bytes", case.place, case.other],
    "compare --to": lambda case: ["compare", case.place, case.other, "--accept", "--to", str(case.folder / "whole")],
    "experiment": lambda case: ["experiment", "--flip", "10:3", "--zero", "400000-400100", case.place],
    "experiment --to": lambda case: ["experiment", "--delete", "5-9", "--to", str(case.folder / "new"), case.place],
    "header": lambda case: ["header", "--json", case.place],
    "header --to": lambda case: ["header", "--set", "0=200,300", "--to", str(case.folder / "new"), case.place],
    "repair --dry-run": lambda case: ["repair", "--dry-run", case.place],
    "repair --to": lambda case: ["repair", "--json", "--to", str(case.folder / "copy"), case.place],
    "audit": lambda case: ["audit", case.above],
    "audit --quick": lambda case: ["audit", "--quick", "--json", case.above],
    "create caf": lambda case: ["create", "caf", str(case.folder / "new"), case.place],
    "create rca": lambda case: ["create", "rca", str(case.folder / "new"), case.place, case.other],
    "create taco": lambda case: ["create", "taco", str(case.folder / "new"), case.above],
    "create datas3t": lambda case: [
        *("create", "datas3t", str(case.folder / "root"), case.place),
        *("--dataset", "new", "--first-key", "7"),
    ],
}
"""By name; what all of them have in common is that nothing is written but below the folder."""


def fill(held: Held, folder: Path) -> None:
    """Keep archives of every kind, large enough for several requests, sound and damaged."""
    inputs = folder / "inputs"
    inputs.mkdir()
    contents = [(f"{number}.bin", Random(number).randbytes(100_000)) for number in range(12)]
    for name, content in contents:
        (inputs / name).write_bytes(content)
    sound = {"a.tar": build(contents), "a.zip": wide(6)}
    for name, kind, *more in (("a.caf", "caf"), ("a.rca", "rca"), ("a.tacozip", "taco", "--entry-for", "3.bin")):
        assert main(["create", kind, str(folder / name), str(inputs), *more]) == 0
        sound[name] = (folder / name).read_bytes()
    for name, data in sound.items():
        held.put(f"sound/{name}", data)
        broken = bytearray(data)
        broken[len(data) // 2] ^= 8
        held.put(f"broken/{name}", bytes(broken))
    dataset(held, "root", 3)
