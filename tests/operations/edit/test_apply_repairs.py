"""Plans of repairs in words: what would be saved, lost and assumed, and what is not made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.edit.apply_repairs import describe, save_salvage
from inspector.operations.edit.plan_repairs import Plan
from inspector.sources.local.file import FileSource
from tests.formats import archives

Sample = Callable[[str], Path]


def planned(path: Path, *accepted: str) -> Plan:
    return archives.planned(FileSource(path), *accepted)


@pytest.mark.parametrize(
    ("name", "accepted", "words"),
    [
        ("flipped-blob-byte.rca", (), "what is provably whole"),
        ("flipped-blob-byte.rca", ("rca-salvage-readable",), "hat can be read (not all of it is proved whole)"),
        ("overlap.caf", (), "what can be read (no checksum proves it whole)"),
    ],
)
def test_a_plan_promises_no_more_than_is_proved(
    name: str, accepted: tuple[str, ...], words: str, sample: Sample, tmp_path: Path
) -> None:
    found = planned(sample(name), *accepted)
    assert words in describe(found).sentence
    saved = save_salvage(found, FileSource(sample(name)), str(tmp_path / name), Progress()).sentence
    assert words[1:] in saved
    assert "is saved in" in saved


def test_what_a_salvage_loses_and_assumes_is_said_when_it_is_written(sample: Sample, tmp_path: Path) -> None:
    path = sample("flipped-blob-byte.rca")
    result = save_salvage(planned(path), FileSource(path), str(tmp_path / "proved"), Progress())
    assert [warning.partition(" blob")[0] for warning in result.warnings] == ["Lost: 2 of 6"]
    assert "'station-1/2024-05.log'" in result.warnings[0]
    found = planned(path, "rca-salvage-readable")
    result = save_salvage(found, FileSource(path), str(tmp_path / "readable"), Progress())
    assert [warning.partition(" ")[0] for warning in result.warnings] == ["Lost:", "Assumed:"]


def test_an_accepted_salvage_says_that_it_needs_another_file(sample: Sample) -> None:
    shown = describe(planned(sample("flipped-blob-byte.rca"), "rca-salvage-readable"))
    assert "rca-salvage-readable writes to another file and changes nothing in place" in shown.sentence
    assert shown.salvage is not None
    assert shown.salvage.claim


def test_of_two_accepted_repairs_that_exclude_each_other_one_still_waits(sample: Sample) -> None:
    both = ("caf-end-earlier", "caf-begin-later")
    shown = describe(planned(sample("overlap.caf"), *both))
    assert [row.code for row in shown.repairs] == ["caf-end-earlier"]
    assert [row.code for row in shown.waiting] == ["caf-begin-later"]
    assert "caf-begin-later was accepted but is not applied" in shown.sentence


def test_what_is_left_is_said_in_a_sentence_each(sample: Sample) -> None:
    left = describe(planned(sample("flipped-blob-byte.rca"))).left[-1]
    assert left.startswith("Hash mismatch at the reset block of segment ")
    assert left.endswith("[rca-reset-hash-mismatch].")
    assert len(left) < 200


def test_a_repair_that_leaves_other_damage_says_so(sample: Sample, tmp_path: Path) -> None:
    data = sample("name-not-utf8.rca").read_bytes()
    (tmp_path / "x.rca").write_bytes(b"\0\0" + data[2:])
    sentence = describe(planned(tmp_path / "x.rca")).sentence
    assert sentence.startswith("1 repair would fix part of this damaged archive, which stays damaged.")
