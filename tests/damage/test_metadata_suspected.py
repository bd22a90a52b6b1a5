"""Hashes of a range that are written in another way are read, and where none matches the metadata is suspected."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from inspector.__main__ import main
from inspector.core.cause import Cause
from inspector.core.finding import first_sentence
from inspector.core.source import SourceError
from inspector.core.verdict import State, Verdict
from inspector.operations.check.checking import state_of
from tests.damage.generator import KINDS, NAMES, Memory, damaged, make, rehashed, turned_round
from tests.damage.measure import contents
from tests.formats.archives import checked, opened

MADE = make("datas3t", Random(3))
assert MADE.metadata is not None
OTHER = rehashed(MADE.metadata, lambda digest: f"{digest ^ 0x5A5A:x}")


@pytest.mark.parametrize("name", ["hashes-in-decimal", "hashes-as-numbers", "hashes-turned-round"])
def test_hashes_written_in_another_way_prove_every_datapoint(name: str) -> None:
    case = damaged(next(each for each in KINDS if each.name == name), "datas3t", 51)
    archive = checked(case.source)

    assert [each.code for each in archive.findings] == ["datas3t-metadata-spelling"]
    assert state_of((archive,)) is State.WARNING
    assert len(contents(archive, (Verdict.VERIFIED,))) == 12


def test_damaged_datapoints_do_not_hide_how_hashes_are_written() -> None:
    data = bytearray(MADE.data)
    smallest = min((each.content for each in MADE.proofs), key=len)
    data[data.find(smallest)] ^= 255
    archive = checked(Memory.of("datas3t", bytes(data), rehashed(MADE.metadata or b"", turned_round)))

    assert archive.verdicts.count(archive.verdicts[-1]) == 11
    assert {each.code for each in archive.findings} >= {"datas3t-metadata-spelling", "datas3t-hash-mismatch"}


def test_a_datapoint_that_cannot_be_read_is_no_reason_not_to_list_the_range() -> None:
    class Failing(Memory):
        def read(self, offset: int, length: int) -> bytes:
            if offset <= 512 < offset + length and length < 512:
                raise SourceError("The disk does not answer.")
            return super().read(offset, length)

    assert len(opened(Failing.of("datas3t", MADE.data, OTHER)).members) == 12


def test_where_no_hash_matches_the_metadata_is_the_suspect() -> None:
    said = "None of 12 hashes matches, and all headers hold: the metadata is perhaps of another data set."
    archive = checked(Memory.of("datas3t", MADE.data, OTHER))

    assert (archive.findings[0].code, first_sentence(archive.findings[0].message)) == (Cause.CHANGED_BYTES, said)
    assert "a block was overwritten" not in archive.findings[0].message
    assert MADE.metadata is not None
    one_changed = bytearray(MADE.data)
    one_changed[MADE.first + 9 : MADE.first + 90] = bytes(81)
    changed = checked(Memory.of("datas3t", bytes(one_changed), MADE.metadata))
    assert "perhaps" not in changed.findings[0].message
    stripped = bytes(each & 0x7F for each in MADE.data)
    assert checked(Memory.of("datas3t", stripped, MADE.metadata)).findings[0].code == Cause.TEXT_MODE


def test_metadata_of_another_data_set_withholds_no_datapoint_from_who_takes_doubtful_ones(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    changed = bytearray(MADE.data)
    changed[MADE.first + 9] ^= 255
    path = tmp_path / NAMES["datas3t"]

    def extracted(name: str, *options: str) -> tuple[int, int, str]:
        status = main(["extract", str(path), "--to", str(tmp_path / name), *options])
        return status, len(list((tmp_path / name).iterdir())), capfd.readouterr().err

    for data, metadata, sure, taken in ((MADE.data, OTHER, 0, 12), (bytes(changed), MADE.metadata or b"", 11, 11)):
        path.write_bytes(data)
        path.with_name(f"{path.name}.metadata").write_bytes(metadata)
        status, number, said = extracted(f"{sure}-sure")
        assert (status, number, "perhaps of another data set" in said) == (1, sure, sure == 0)
        assert extracted(f"{sure}-taken", "--doubtful")[1] == taken
