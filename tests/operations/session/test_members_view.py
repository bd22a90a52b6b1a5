from __future__ import annotations

from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.protocol.views import SortKey
from inspector.operations.session.members.members_view import MAX_PATH_DEPTH
from tests.operations.archives import caf, opened


@pytest.mark.parametrize(("folders", "led"), [(3, True), (MAX_PATH_DEPTH + 1, False), (20_000, False)])
def test_no_view_is_led_through_more_folders_than_it_can_open(folders: int, led: bool, tmp_path: Path) -> None:
    session = opened(caf(tmp_path / "deep.caf", {"p/" * folders + "x": b"1"}))
    session.arrange(Progress(), "", SortKey.ARCHIVE, False)
    session.build_tree(Progress())
    place = session.place(0)
    assert place.flat == 0
    assert place.tree == ((0,) * (folders + 1) if led else ())
