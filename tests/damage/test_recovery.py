"""What is done about a cause: archives split, unwrapped and put in order, members found elsewhere, and what is told."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from inspector.cli.run import run_command as run
from inspector.core.cause import CONVERT_CODE, SPLIT_CODE, UNWRAP_CODE, Cause
from inspector.core.program.progress import Progress
from inspector.core.repair import Fate
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.formats._causes.flips import LIKELY_CODE
from inspector.formats._causes.joined import joined_parts
from inspector.operations.check.checking import check_location, state_of
from inspector.operations.edit.apply_repairs import salvage_report
from inspector.operations.edit.plan_repairs import Plan, plan
from tests.damage.generator import KINDS, Case, Memory, damaged, make
from tests.damage.measure import copies, measured
from tests.formats.archives import after, assert_covered, checked


def case(kind: str, made_format: str, number: int = 0) -> Case:
    return damaged(next(each for each in KINDS if each.name == kind), made_format, 11, number)


def planned(one: Case, *accepted: str, in_place: bool = False) -> Plan:
    return plan(checked(one.source), Progress(), accepted, in_place=in_place)


def salvaged(found: Plan) -> bytes:
    assert found.salvage is not None
    assert found.salvage.content is not None
    return b"".join(found.salvage.content(Progress()))


# ---- whole members, one finding an event ------------------------------------------------------------------------


def test_a_hole_in_the_index_of_a_caf_explains_the_keys_that_are_read_from_its_rest() -> None:
    hole = next(each for each in KINDS if each.name == "hole-in-the-structure")
    assert measured(damaged(hole, "caf", 0)).events == 1


def test_a_header_of_nonsense_hides_no_members_behind_it() -> None:
    """Where CRs are gone, a local header may claim all the rest of the file for a member without a name."""
    result = measured(damaged(next(each for each in KINDS if each.name == "cr-removed"), "zip", 1))
    assert result.recovered == result.provable > 100


# ---- joined archives -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made_format", ["caf", "rca", "taco", "zip", "tar", "datas3t"])
def test_joined_archives_are_split_into_files_that_are_sound(made_format: str) -> None:
    one = case("joined-with-its-kind", made_format)
    written = copies(one, checked(one.source))

    assert written[0].data == one.original
    assert b"".join(each.data for each in written) == one.data
    for each in written[1:]:
        assert state_of((checked(each),)).fine


def test_what_would_cut_off_the_other_archive_is_not_offered() -> None:
    one = case("joined-with-a-zip", "rca")
    found = planned(one, in_place=True)

    assert (found.repairs, found.waiting) == ((), ())
    assert found.salvage is not None
    assert found.salvage.code == SPLIT_CODE
    assert state_of((found.before,)) is State.DAMAGED


def test_an_archive_of_several_is_a_location_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = case("joined-with-a-zip", "tar")
    path = tmp_path / "a.tar"
    path.write_bytes(one.data)
    size = len(one.original)
    first = check_location(f"{path}!/@0-{size}", Progress())
    second = check_location(f"{path}!/@{size:#x}", Progress())

    assert (first.format, second.format) == ("tar", "zip")
    assert (first.state, second.state) == (State.SOUND, State.SOUND)
    assert f"!/@{size}-{len(one.data)}" in checked(one.source).findings[0].message
    assert run(["list", "--names", f"{path}!/@{size}"]) == 0
    assert "readme.txt" in capsys.readouterr().out
    assert "no such part" in check_location(f"{path}!/@{len(one.data)}", Progress()).sentence


def test_a_zip_of_zips_is_one_archive() -> None:
    inner = make("zip", Random(1)).data
    outer = bytearray(make("zip", Random(2)).data)
    outer[100] ^= 1
    at = outer.find(b"PK\1\2")

    assert joined_parts(checked(Memory.of("zip", bytes(outer[:at]) + inner + bytes(outer[at:]))), Progress()) == ()
    assert joined_parts(checked(Memory.of("zip", bytes(outer))), Progress()) == ()


# ---- put right in a copy -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "made_format"),
    [
        ("http-chunked", "taco"),
        ("aws-chunked", "rca"),
        ("response", "datas3t"),
        ("form", "zip"),
        ("text-in-front", "rca"),
        ("small-parts-swapped", "taco"),
        ("small-part-doubled", "tar"),
    ],
)
def test_a_copy_is_the_archive_as_it_was(kind: str, made_format: str) -> None:
    one = case(kind, made_format)
    found = planned(one)

    assert found.salvage is not None
    assert found.salvage.code == UNWRAP_CODE
    assert salvaged(found) == one.original
    assert not planned(one, in_place=True).repairs


def test_the_bit_of_an_index_is_restored_with_consent() -> None:
    one = case("bit-of-an-offset", "caf")

    assert checked(one.source).findings[0].code == Cause.FLIPPED_BIT
    assert not planned(one, in_place=True).repairs
    assert after(planned(one, LIKELY_CODE)) == one.original


def test_nothing_is_repaired_where_all_content_changed_and_no_digest_tells() -> None:
    for number in range(4):
        found = planned(case("latin-to-utf8", "caf", number))

        assert found.repairs == ()
        assert found.salvage is None or found.salvage.claim


# ---- members elsewhere ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made_format", ["zip", "taco", "rca"])
def test_members_are_saved_from_where_no_record_leads(made_format: str) -> None:
    made = make(made_format, Random(9))
    directory = made.data.find(b"PK\1\2") if made_format != "rca" else len(made.data)
    moved = made.data[10:directory]  # without a directory that says where they were
    one = Case("moved", made_format, moved, frozenset(), None, made.data, made.proofs)
    result = measured(one)

    assert result.provable
    assert result.recovered == result.provable
    assert result.wrong == 0


# ---- what is told --------------------------------------------------------------------------------------------------


def test_a_cut_says_where_it_is_and_how_much_is_missing_at_least() -> None:
    for made_format in ("rca", "taco", "zip", "tar"):
        one = case("cut-anywhere", made_format)
        message = checked(one.source).findings[0].message

        assert message.startswith(f"The file is cut off after {len(one.data):,} bytes; at least ")
        least = int(message.split("at least ")[1].split(" ")[0].replace(",", ""))
        assert 0 < least <= len(one.original) - len(one.data)


@pytest.mark.parametrize(
    ("made_format", "kind"), [("zip", "hole-of-4096"), ("datas3t", "cut-anywhere"), ("rca", "sector-again")]
)
def test_the_report_of_a_salvage_says_of_each_member_what_becomes_of_it(made_format: str, kind: str) -> None:
    found = planned(case(kind, made_format))
    assert found.salvage is not None
    assert found.salvage.outcomes is not None
    fates = list(found.salvage.outcomes())
    report = salvage_report(found.salvage)
    written = checked(Memory.of(made_format, salvaged(found)))

    assert report is not None
    assert {each.fate for each in fates} <= {Fate.PROVED, Fate.LOST}
    assert report.lost == sum(each.fate is Fate.LOST for each in fates) >= 1
    assert {each.path for each in fates if each.fate is Fate.PROVED} == {
        bytes(written.members.path(member)) for member in range(len(written.members))
    }
    assert all(each.why for each in fates)
    assert report.rows[0][1] == "lost"


def test_programs_and_people_get_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(case("hole-of-4096", "zip").data)
    run(["repair", "--dry-run", "--json", str(path)])
    members = json.loads(capsys.readouterr().out)["members"]
    run(["repair", "--dry-run", str(path)])
    text = capsys.readouterr().out

    assert {"proved", "lost"} == {each["fate"] for each in members}
    assert all(each.keys() >= {"path", "fate", "why"} for each in members)
    assert "Of its members, 125 are proved, 0 are readable but unproved, and 1 is lost." in text
    assert "       lost: noise/" in text


def test_a_part_of_a_folder_cannot_be_opened(tmp_path: Path) -> None:
    from inspector.operations.open.opening import open_place

    with pytest.raises(SourceError, match="that is a folder"):
        open_place(f"{tmp_path}!/@0-5")


def test_datapoints_without_a_zero_byte_are_saved_from_a_copy_that_dropped_all_zeros() -> None:
    one = case("zeros-removed", "datas3t")
    result = measured(one)
    assert result.recovered == result.provable > 0
    assert_covered(checked(one.source))


# ---- converted archives --------------------------------------------------------------------------------------------

CONVERTED = (
    "base64-lines",
    "base64-of-the-web",
    "base32-or-85",
    "crlf-twice",
    "hexadecimal",
    "hex-lines",
    "latin-to-utf8",
    "lf-to-crlf",
    "pairs-swapped",
    "printed-by-python",
    "sixteen-bits",
    "words-swapped",
)


@pytest.mark.parametrize(
    ("kind", "made_format"),
    [
        (each.name, made_format)
        for each in KINDS
        if each.name in CONVERTED
        for made_format in ("caf", "rca", "taco", "tar")
        # Of a CAF in text mode the data alone is converted back, and only when that is accepted.
        if made_format in each.formats and (each.name, made_format) != ("lf-to-crlf", "caf")
    ],
)
def test_what_a_conversion_did_is_taken_back_whole(kind: str, made_format: str) -> None:
    one = case(kind, made_format)
    found = planned(one, CONVERT_CODE)

    assert found.salvage is not None
    assert salvaged(found) == one.original
    # Text may have been converted in another way that fits as well, unless a digest says that it was not.
    unproved = made_format in ("caf", "tar") and found.before.findings[0].code == Cause.TEXT_MODE
    assert bool(found.salvage.claim) is unproved


@pytest.mark.parametrize("kind", ["cr-removed", "lf-to-cr", "seven-bits", "utf8-with-losses", "zeros-removed"])
def test_a_conversion_that_loses_bytes_is_not_taken_back(kind: str) -> None:
    codes = {each.code for each in planned(case(kind, "taco")).before.diagnosis.repairs}
    assert CONVERT_CODE not in codes
