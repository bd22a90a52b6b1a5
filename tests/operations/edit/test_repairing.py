"""Planning repairs over an overlay, in words too, and carrying them out: in place, to a copy, into a new archive."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspector.core.edit import OverlaySource
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.repair import Repair
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.check.checking import check_archive, check_location, mark_repairs, offered, state_of
from inspector.operations.edit.apply_repairs import apply_plan, describe, save_salvage
from inspector.operations.edit.plan_repairs import Plan, plan
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
from inspector.sources.local.file import FileSource
from tests.formats import archives

Sample = Callable[[str], Path]
FINE = (State.SOUND, State.WARNING)


def opened(path: Path) -> Opened:
    return archives.opened(FileSource(path))


def planned(path: Path, *accepted: str) -> Plan:
    return plan(opened(path), Progress(), accepted)


def contents(path: Path) -> dict[bytes, bytes]:
    archive = opened(path)
    assert archive.decoder is not None
    found = {}
    for index in range(len(archive.members)):
        if archive.members[index].readable:
            found[archive.members.path(index)] = b"".join(archive.decoder.read(archive, index, Progress()))
    return found


def copied(path: Path, folder: Path) -> tuple[Path, FileSource]:
    copy = folder / path.name
    shutil.copyfile(path, copy)
    source = FileSource(copy)
    return copy, source


REPAIRED = {
    "torn-at-boundary.rca": ("rca-drop-garbage",),
    "torn-in-chunk.rca": ("rca-drop-garbage",),
    "partial-header.rca": ("rca-drop-garbage",),
    "torn-after-write-2.tacozip": ("taco-finish-update",),
    "truncated.tacozip": ("zip-rebuild-end",),
    "trailing-commas.caf": ("caf-strict-json",),
    "damaged-footer.caf": ("caf-mend-footer",),
    "index-size-zero.caf": ("caf-mend-footer",),
}


@pytest.mark.parametrize(("name", "codes"), REPAIRED.items())
def test_what_one_write_explains_is_repaired_in_place(
    name: str, codes: tuple[str, ...], sample: Sample, tmp_path: Path
) -> None:
    path, source = copied(sample(name), tmp_path)
    before, members = path.read_bytes(), contents(path)
    found = planned(path)
    assert tuple(repair.code for repair in found.repairs) == codes
    assert path.read_bytes() == before

    result = apply_plan(found, source, "", Progress())

    assert found.edit is not None
    assert ("cut off" in result.sentence) is (found.edit.dropped.size > 0)
    lost = [words for repair in found.repairs for words in repair.loses]
    assert [f"Lost: {words}" for words in lost] == [each for each in result.warnings if each.startswith("Lost: ")]
    assert path.read_bytes() == OverlaySource(FileSource(sample(name)), found.edit).read(0, 1 << 30)
    assert check_location(str(path), Progress()).state in FINE
    after = contents(path)
    assert all(after[name] == content for name, content in members.items() if name in after and content)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_plan_says_which_state_it_leads_to(sample: Sample) -> None:
    shown = describe(planned(sample("torn-at-boundary.rca")))
    assert (shown.before, shown.after, shown.left) == (State.TORN, State.SOUND, ())
    assert shown.sentence == "1 repair would make this torn archive sound."
    assert shown.repairs[0].spans


def test_a_sound_archive_has_nothing_to_repair(sample: Sample, tmp_path: Path) -> None:
    path, source = copied(sample("two-chunks.rca"), tmp_path)
    found = planned(path)
    assert (found.repairs, found.waiting, found.salvage) == ((), (), None)
    with pytest.raises(OperationError, match="nothing to repair"):
        apply_plan(found, source, "", Progress())


@pytest.mark.parametrize(
    ("name", "code"),
    [("wrong-metadata.rca", "rca-mend-metadata"), ("torn-after-write-1.tacozip", "taco-finish-update")],
)
def test_a_claim_waits_for_a_word(name: str, code: str, sample: Sample) -> None:
    found = planned(sample(name))
    assert found.waiting[0].code == code
    assert (found.repairs, found.state) == ((), state_of((found.before,)))
    accepted = planned(sample(name), code)
    assert [repair.code for repair in accepted.repairs] == [code]
    assert accepted.state is State.SOUND


def test_what_only_a_check_finds_is_planned_for(sample: Sample) -> None:
    found = planned(sample("flipped-member-byte.tacozip"))
    assert [repair.code.rpartition("-")[0] for repair in found.waiting] == ["restore-likely", "zip-accept-content"]
    assert found.salvage is not None


def offering(archive: Opened, *repairs: Repair) -> Opened:
    """The archive, of a format that would repair it so."""
    assert archive.decoder is not None
    archive.decoder = archive.decoder._replace(repairs=lambda *_: repairs)
    return archive


def test_a_repair_that_cannot_be_made_is_tried_once(sample: Sample) -> None:
    tried: list[object] = []

    def content(progress: Progress) -> Iterator[bytes]:
        tried.append(progress)
        raise MemberError("The content has gone.")

    broken = Repair("a", "A", frozenset(), content=content, beside=".metadata")
    found = plan(offering(opened(sample("trailing-commas.caf")), broken), Progress())
    assert (found.repairs, found.beside, len(tried)) == ((), (), 1)


def test_a_copy_is_repaired_and_the_file_stays(sample: Sample, tmp_path: Path) -> None:
    path, source = copied(sample("trailing-commas.caf"), tmp_path)
    before = path.read_bytes()
    apply_plan(planned(path), source, str(tmp_path / "copy.caf"), Progress())
    assert path.read_bytes() == before
    assert check_location(str(tmp_path / "copy.caf"), Progress()).state is State.SOUND


def test_what_is_whole_is_saved_into_a_new_archive(sample: Sample, tmp_path: Path) -> None:
    path, source = copied(sample("overlap.caf"), tmp_path)
    found = planned(path)
    (tmp_path / "link.caf").hardlink_to(path)
    for same in (path, tmp_path / "link.caf"):
        with pytest.raises(OperationError, match="is the archive itself"):
            save_salvage(found, source, str(same), Progress(), over=True)
    save_salvage(found, source, str(tmp_path / "saved.caf"), Progress())
    saved, all_of_it = contents(tmp_path / "saved.caf"), contents(path)
    assert check_location(str(tmp_path / "saved.caf"), Progress()).state in FINE
    assert saved
    assert all(all_of_it[name] == content for name, content in saved.items())


def test_metadata_is_written_anew_beside_its_tar(sample: Sample, tmp_path: Path) -> None:
    folder = tmp_path / "weather"
    shutil.copytree(sample("weather-missing-row"), folder)
    tar = next(path for path in sorted(folder.rglob("*.tar")) if planned(path).waiting)
    assert not planned(tar).repairs, "metadata that is there is replaced with consent only"
    found = planned(tar, "datas3t-rebuild-metadata")
    source = FileSource(tar)
    before = tar.read_bytes()
    assert (found.edit, [beside.suffix for beside in found.beside]) == (None, [".metadata"])
    metadata = Path(f"{tar}.metadata")
    aside = metadata.rename(tmp_path / "aside")
    metadata.mkdir()
    with pytest.raises(SourceError):
        apply_plan(found, source, "", Progress())
    metadata.rmdir()
    aside.rename(metadata)
    apply_plan(found, source, "", Progress())
    assert tar.read_bytes() == before
    assert check_location(str(folder), Progress()).state is State.SOUND


def test_findings_name_the_repair_that_answers_them(sample: Sample) -> None:
    archive = opened(sample("torn-at-boundary.rca"))
    check_archive(archive, Progress())
    mark_repairs(archive, Progress())
    wrong = [finding for finding in archive.findings if finding.severity is not Severity.INFO]
    assert {finding.repair for finding in wrong} == {"rca-drop-garbage"}

    fixes = frozenset(finding.code for finding in wrong)
    offering(archive, Repair("best", "", fixes), Repair("other", "", fixes))
    archive.findings[:] = [finding._replace(repair=None) for finding in archive.findings]
    mark_repairs(archive, Progress())
    assert {finding.repair for finding in archive.findings} <= {"best", None}
    assert "best" in {finding.repair for finding in archive.findings}


def test_nothing_is_planned_for_a_file_that_others_cut_off(sample: Sample, tmp_path: Path) -> None:
    path, _ = copied(sample("torn-at-boundary.rca"), tmp_path)
    archive = opened(path)
    check_archive(archive, Progress())
    assert offered(archive, Progress())
    os.truncate(path, path.stat().st_size - 1)
    assert offered(archive, Progress()) == ()


def test_planning_can_be_cancelled(sample: Sample) -> None:
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        plan(opened(sample("torn-at-boundary.rca")), progress)


def test_every_plan_ends_and_never_makes_an_archive_worse(root: Path) -> None:
    order = list(State)
    for path in sorted((root / "resources" / "samples").iterdir()):
        if path.suffix in (".caf", ".rca", ".tacozip", ".taco", ".zip", ".tar"):
            found = planned(path)
            assert order.index(found.state) <= order.index(state_of((found.before,))), path.name


def checked_plan(path: Path, *accepted: str) -> Plan:
    return archives.planned(FileSource(path), *accepted)


@pytest.mark.parametrize(
    ("name", "accepted", "words"),
    [
        ("two-changed-bytes.rca", (), "what is provably whole"),
        ("two-changed-bytes.rca", ("rca-salvage-readable",), "hat can be read (not all of it is proved whole)"),
        ("overlap.caf", (), "what can be read (no checksum proves it whole)"),
    ],
)
def test_a_plan_promises_no_more_than_is_proved(
    name: str, accepted: tuple[str, ...], words: str, sample: Sample, tmp_path: Path
) -> None:
    found = checked_plan(sample(name), *accepted)
    assert words in describe(found).sentence
    saved = save_salvage(found, FileSource(sample(name)), str(tmp_path / name), Progress()).sentence
    assert words[1:] in saved
    assert "is saved in" in saved


def test_what_a_salvage_loses_and_assumes_is_said_when_it_is_written(sample: Sample, tmp_path: Path) -> None:
    path = sample("two-changed-bytes.rca")
    result = save_salvage(checked_plan(path), FileSource(path), str(tmp_path / "proved"), Progress())
    assert [warning.partition(" blob")[0] for warning in result.warnings] == ["Lost: 2 of 6"]
    assert "'station-1/2024-05.log'" in result.warnings[0]
    found = checked_plan(path, "rca-salvage-readable")
    result = save_salvage(found, FileSource(path), str(tmp_path / "readable"), Progress())
    assert [warning.partition(" ")[0] for warning in result.warnings] == ["Lost:", "Assumed:"]


def test_an_accepted_salvage_says_that_it_needs_another_file(sample: Sample) -> None:
    shown = describe(checked_plan(sample("two-changed-bytes.rca"), "rca-salvage-readable"))
    assert "rca-salvage-readable writes to another file and changes nothing in place" in shown.sentence
    assert shown.salvage is not None
    assert shown.salvage.claim


def test_of_two_accepted_repairs_that_exclude_each_other_one_still_waits(sample: Sample) -> None:
    both = ("caf-end-earlier", "caf-begin-later")
    shown = describe(checked_plan(sample("overlap.caf"), *both))
    assert [row.code for row in shown.repairs] == ["caf-end-earlier"]
    assert [row.code for row in shown.waiting] == ["caf-begin-later"]
    assert "caf-begin-later was accepted but is not applied" in shown.sentence


def test_what_is_left_is_said_in_a_sentence_each(sample: Sample) -> None:
    left = describe(checked_plan(sample("two-changed-bytes.rca"))).left[-1]
    assert left.startswith("Hash mismatch at the reset block of segment ")
    assert left.endswith("[rca-reset-hash-mismatch].")
    assert len(left) < 200


def test_a_repair_that_leaves_other_damage_says_so(sample: Sample, tmp_path: Path) -> None:
    data = sample("name-not-utf8.rca").read_bytes()
    (tmp_path / "x.rca").write_bytes(b"\0\0" + data[2:])
    sentence = describe(checked_plan(tmp_path / "x.rca")).sentence
    assert sentence.startswith("1 repair would fix part of this damaged archive, which stays damaged.")
