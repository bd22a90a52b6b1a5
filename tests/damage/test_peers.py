"""Salvages held against other programs that read damaged archives: never fewer members with the right bytes."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from inspector.formats._causes.diagnosis import ALONE
from tests.damage.generator import KINDS, NAMES, Case, Kind, damaged
from tests.damage.measure import contents, copies
from tests.formats.archives import checked

ZIP_PEERS = (("7z", "x", "-y", "-p-", "-bd", "-o."), ("unzip", "-o", "-q"), ("bsdtar", "-xf"))
TAR_PEERS = (("tar", "-i", "-xf"), ("bsdtar", "-xf"), ("7z", "x", "-y", "-bd", "-o."))
PEERS = {"zip": ZIP_PEERS, "taco": ZIP_PEERS, "tar": TAR_PEERS, "datas3t": TAR_PEERS}
"""Commands that extract the archive named last into the current folder; `.ci/checks` installs them."""
CASES = [(kind, each) for kind in KINDS for each in kind.formats if each in PEERS and not kind.size]
MAX_SECONDS = 120


def extracted(command: Sequence[str], archive: Path, folder: Path) -> set[tuple[str, bytes]]:
    """The files that another program writes, whatever it says of the archive."""
    folder.mkdir()
    subprocess.run(
        [*command, str(archive)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=MAX_SECONDS,
        check=False,
    )
    files = (each for each in folder.rglob("*") if each.is_file() and not each.is_symlink())
    return {(str(each.relative_to(folder)), each.read_bytes()) for each in files}


def right(case: Case, files: set[tuple[str, bytes]]) -> set[str]:
    """The names of the members that are as they were archived."""
    return {name for each in case.proofs if (name := each.name.decode(), each.content) in files}


@pytest.mark.sweep
@pytest.mark.parametrize(("kind", "made_format"), CASES, ids=[f"{kind.name}-{each}" for kind, each in CASES])
def test_no_peer_saves_more_members(kind: Kind, made_format: str, tmp_path: Path) -> None:
    case = damaged(kind, made_format, 41)
    archive = checked(case.source)
    if any(each.code in ALONE for each in archive.findings):
        return  # every byte is of something else, so that nothing is proved and nothing saved
    written = copies(case, archive)
    ours = {(path.decode(errors="replace"), data) for each in written for path, data in contents(checked(each))}
    ours |= {(path.decode(errors="replace"), data) for path, data in contents(archive)}
    place = tmp_path / NAMES[made_format]
    place.write_bytes(case.data)
    theirs = {each[0]: right(case, extracted(each, place, tmp_path / each[0])) for each in PEERS[made_format]}

    assert {peer: saved - right(case, ours) for peer, saved in theirs.items()} == {peer: set() for peer in theirs}
