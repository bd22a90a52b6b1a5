"""Members of an archive whose listing broke off: nobody says that those are not there which could not be read."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from inspector.__main__ import main
from tests.formats.tar.tar_building import build
from tests.operations.create.creations import plant
from tests.s3.conftest import Store
from tests.s3.proxy import Fault, Forward, Reply, Seen, cut, refuse
from tests.s3.reading.test_unread import NAME, ROWS, TAR

LARGE = {f"{number}.bin": Random(number).randbytes(300 << 10) for number in range(12)}


def breaking(fault: Fault, come: int) -> Fault:
    """So many bytes of the object come, and of every answer for what stands behind them no body."""

    def some(seen: Seen, forward: Forward) -> Reply:
        if seen.method != "GET" or seen.listing or not seen.range:
            return forward()
        at = seen.range.removeprefix("bytes=").partition("-")[0]
        return fault(seen, forward) if not at.isdecimal() or int(at) >= come else cut(come - int(at))(seen, forward)

    return some


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("broken")
    tree = plant(folder / "tree", LARGE)
    assert main(["create", "rca", str(folder / "made.rca"), str(tree)]) == 0
    return {"a.rca": (folder / "made.rca").read_bytes(), "a.tar": build(list(LARGE.items())), f"datapoints/{NAME}": TAR}


@pytest.mark.parametrize("fault", [cut(0), refuse(503, "SlowDown")], ids=["reset", "503"])
@pytest.mark.parametrize("key", ["a.rca", "a.tar", f"datapoints/{NAME}"])
def test_a_member_that_exists_is_never_said_not_to(
    store: Store,
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    archives: dict[str, bytes],
    key: str,
    fault: Fault,
) -> None:
    data = archives[key]
    location = store.put(f"broken/{key}", data)
    store.put(f"broken/datapoints/{NAME}.metadata", ROWS)
    capsysbinary.readouterr()
    assert main(["list", location, *store.options]) == 0
    name = capsysbinary.readouterr().out.decode().split()[-1]
    for come in (0, len(data) // 3):
        for command in (["cat", location, name], ["extract", location, name, "--to", str(tmp_path / f"{come}")]):
            with store.proxy.failing(breaking(fault, come)):
                assert main([*command, *store.options]) == 2
            said = capsysbinary.readouterr().err.decode()
            assert "There is no member" not in said
            assert "Names like it" not in said
            assert "broke off" in said or "slow down" in said
            assert main([*command, *store.options]) == 0
            capsysbinary.readouterr()


def test_what_is_not_there_is_said_once_all_was_read(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    location = store.put("broken/whole.tar", TAR)

    assert main(["cat", location, "nothing", *store.options]) == 2

    assert "There is no member called nothing." in capsys.readouterr().err
