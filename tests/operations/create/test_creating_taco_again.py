"""A TACO dataset that was extracted, packed again, is the same archive."""

from __future__ import annotations

from pathlib import Path

import tacozip

from inspector.core.program.progress import Progress
from inspector.operations.create.creating import create_taco
from inspector.operations.open.listing import load
from tests.conftest import ROOT
from tests.operations.extract.extracting import extract

OLD = ROOT / "tests" / "samples" / "tacotoolbox.tacozip"


def places(path: Path) -> list[tuple[bytes, tuple[tuple[int, int], ...]]]:
    (archive,) = load(str(path), Progress())
    assert [each.code for each in archive.findings if each.code != "taco-entry-elsewhere"] == []
    return [(member.path, member.spans) for member in archive.members]


def test_it_is_the_same_archive_again(tmp_path: Path) -> None:
    extract(OLD, tmp_path / "dataset")
    new = tmp_path / "new.tacozip"
    made = create_taco(Progress(), str(new), [str(tmp_path / "dataset")])

    assert places(new) == places(OLD)
    assert tacozip.read_header(str(new)) == tacozip.read_header(str(OLD))
    differing = [at for at, (a, b) in enumerate(zip(new.read_bytes(), OLD.read_bytes(), strict=True)) if a != b]
    assert len(differing) == 2 * len(places(OLD))  # "version needed" of each local and each central header
    (said,) = made.warnings
    assert said.endswith("Whether the offsets inside METADATA/level0.parquet fit is not read.")
