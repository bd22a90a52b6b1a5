"""Members as files for other programs: what is given away, under which names, and what never is."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.extraction_views import ExportedFiles
from inspector.operations.protocol.views import Chosen
from inspector.operations.session.archive_session import ArchiveSession
from inspector.operations.session.extracting import TOO_LARGE, outermost
from tests.operations.archives import CONTENTS, caf


def workbench(path: Path, contents: dict[str, bytes] | None = None) -> ArchiveSession:
    made = ArchiveSession(str(caf(path) if contents is None else caf(path, contents)))
    made.decode(Progress())
    made.build_tree(Progress())
    return made


def test_members_and_folders_are_given_away_as_what_was_chosen(tmp_path: Path) -> None:
    bench = workbench(tmp_path / "small.caf")
    node = bench.tree_rows(0, 0, 1).rows[0].node
    names = list(CONTENTS)
    chosen = Chosen((names.index("a.txt"), names.index("b/one.bin")), nodes=(node,))
    lent = bench.export_members(Progress(), chosen, str(tmp_path / "out"))
    assert lent.paths == (str(tmp_path / "out/a.txt"), str(tmp_path / "out/b"))
    assert lent.sentence == ""
    assert (tmp_path / "out/a.txt").read_bytes() == CONTENTS["a.txt"]
    assert sorted(path.name for path in (tmp_path / "out/b").iterdir()) == ["one.bin", "two.txt"]
    assert bench.export_members(Progress(), Chosen(rows=((0, 2),)), str(tmp_path / "rows")).paths == tuple(
        str(tmp_path / "rows" / name) for name in sorted(names[:2], key=lambda name: name.split("/"))
    )
    assert not stat.S_IMODE((tmp_path / "out/a.txt").stat().st_mode) & 0o111


def test_much_is_given_away_only_when_it_is_asked_for(tmp_path: Path) -> None:
    bench = workbench(tmp_path / "small.caf")
    assert bench.export_members(Progress(), Chosen((0,)), str(tmp_path / "out"), 1) == ExportedFiles((), TOO_LARGE)
    assert not (tmp_path / "out").exists()
    assert bench.export_members(Progress(), Chosen((0,)), str(tmp_path / "out"), 1 << 20).paths


def test_what_is_refused_is_said_and_the_rest_given(tmp_path: Path) -> None:
    bench = workbench(tmp_path / "bad.caf", {"good.txt": b"1", "../evil.txt": b"2"})
    (tmp_path / "evil.txt").write_bytes(b"mine")
    lent = bench.export_members(Progress(), Chosen((0, 1)), str(tmp_path / "out"))
    assert lent.paths == (str(tmp_path / "out/good.txt"),)
    assert "../evil.txt is not extracted" in lent.sentence
    with pytest.raises(OperationError, match="leads out of its folder"):
        bench.export_members(Progress(), Chosen((1,)), str(tmp_path / "other"))
    assert (tmp_path / "evil.txt").read_bytes() == b"mine"


def test_only_what_lies_beneath_nothing_else_is_given_away() -> None:
    assert outermost([b"a/b", b"a", b"ab", b"a/c/d", b"./a/", b""]) == [b"a", b"ab"]
    assert outermost([b"a/b", b"a-b", b"a"]) == [b"a", b"a-b"]
