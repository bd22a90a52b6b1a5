"""The cause of damage is named, on archives of all formats damaged in all the ways that the generator knows."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from inspector.core.archive import Archive
from inspector.core.cause import CONVERT_CODE, LIKELY_CODE, MEANINGS, PREFIX, PROVED_CODE, Cause
from inspector.core.field import Field
from inspector.core.finding import Finding, Severity, error
from inspector.core.kinds import Kind
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource, Source
from inspector.core.span import Span
from inspector.core.verdict import State
from inspector.formats._causes.blocks import survey, suspects, zeros
from inspector.formats._causes.diagnosis import NO_DIAGNOSIS, Diagnosis, diagnose, folded
from inspector.formats._causes.flips import MAX_WORK_BYTES, flipped_in
from inspector.operations.check.checking import (
    CheckReport,
    check_archive,
    check_location,
    forget_check,
    mark_repairs,
    state_of,
)
from inspector.operations.check.report import as_json, as_text
from inspector.operations.edit.plan_repairs import Plan, plan
from inspector.operations.open.opening import Opened
from inspector.operations.session.archive_session import ArchiveSession
from inspector.resources import samples
from inspector.sources.local.file import FileSource
from tests.damage.generator import FORMATS, KINDS, Case, Memory, cases, damaged, make, sound
from tests.formats.archives import after, checked
from tests.samples import writers
from tests.sweeping import in_the_sweep

MANUAL = Path(__file__).parent.parent.parent / "resources" / "manual" / "causes.md"
SAMPLES = [
    path
    for folder in (*samples(), *(Path(__file__).parent.parent / "samples").iterdir())
    for path in (sorted(folder.rglob("*")) if folder.is_dir() else [folder])
    if path.is_file() and path.suffix not in (".py", ".pyc")
]
MIN_NAMED = 0.9
MAX_WORDS = 20


def causes(archive: Opened) -> list[Finding]:
    return [each for each in archive.findings if each.code.startswith(PREFIX)]


def named(case: Case) -> bool:
    """Whether the first finding names the cause."""
    first = checked(case.source).findings[:1]
    return bool(first) and first[0].code in case.truth


def one(kind: str, made_format: str, number: int = 0) -> Case:
    """A damaged archive of this kind."""
    return damaged(next(each for each in KINDS if each.name == kind), made_format, 11, number)


def report(archive: Opened) -> CheckReport:
    name, state = archive.source.name, state_of((archive,))
    return CheckReport(name, archive.format, state, 0, archive.source.size, (archive,), (), {}, "Damaged.")


def planned(case: Case, *accepted: str) -> Plan:
    return plan(checked(case.source), Progress(), accepted)


@pytest.mark.parametrize(
    ("rest", "cut"),
    [(bytes(22), True), (b"PK\x05\x07" + bytes(range(18)), False), (b"member data, which is text\n" * 3, False)],
)
@pytest.mark.parametrize("made_format", ["zip", "taco"])
def test_only_zeros_are_to_be_cut_off_unseen(made_format: str, rest: bytes, cut: bool) -> None:
    whole = make(made_format, Random(3)).data
    archive = checked(Memory.of(made_format, whole + rest))
    (cause,) = [each for each in archive.findings if each.code == "cause-trailing-bytes"]

    assert cause.message.endswith("off in a copy.")
    assert ("look at the rest before you cut it off" not in cause.message) is cut


# ---- causes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [pytest.param(False, id="each other kind"), in_the_sweep(True, name="all")])
def test_nine_of_ten_causes_are_named_and_each_in_one_sentence(every: bool) -> None:
    missed, total = [], 0
    for number, kind in enumerate(KINDS):
        if not every and number % 2 == 0:  # those are in test_figures
            continue
        case = damaged(kind, kind.formats[number % len(kind.formats)], 7)
        archive = checked(case.source)
        total += 1
        if not archive.findings or archive.findings[0].code not in case.truth:
            missed.append(f"{case.kind} of {case.format}")
        for each in causes(archive):
            assert len(each.message.split(". ", 1)[0].split()) <= MAX_WORDS, each.message
            assert each.message.endswith("."), each.message

    print("missed:", *missed, sep="\n")
    assert len(missed) <= (1 - MIN_NAMED) * total


def test_there_are_eighty_kinds_over_all_formats() -> None:
    assert len(KINDS) >= 80
    assert {made_format for kind in KINDS for made_format in kind.formats} == set(FORMATS)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(1))
def test_nine_of_ten_causes_are_named_with_other_seeds(seed: int) -> None:
    every = list(cases(seed, 3))
    missed = Counter(f"{case.kind} of {case.format}" for case in every if not named(case))

    print("missed:", *(f"{number} x {miss}" for miss, number in missed.items()), sep="\n")
    assert missed.total() <= (1 - MIN_NAMED) * len(every)


def test_sound_archives_have_no_cause() -> None:
    found = [(case.format, causes(checked(case.source))) for case in sound(3)]

    assert [each for each in found if each[1]] == []


def test_zeros_in_front_of_an_archive_are_no_damage() -> None:
    whole = next(case for case in sound(3) if case.format == "zip").data
    archive = checked(BytesSource(b"MZ program" + bytes(1_000) + b"more of it" + bytes(2_000) + whole, "a.zip"))

    assert "zip-prepended" in {each.code for each in archive.findings}
    assert Cause.ZERO_BLOCK not in {each.code for each in causes(archive)}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_sound_samples_have_no_cause(path: Path) -> None:
    archive = checked(FileSource(path))

    assert state_of((archive,)) not in (State.SOUND, State.WARNING) or causes(archive) == []


@pytest.mark.parametrize("made_format", ["rca", "taco", "datas3t"])
def test_zeros_of_a_sound_file_are_no_damage(made_format: str) -> None:
    """A bit flipped in one member says nothing of the zeros in another."""
    made = make(made_format, Random(5), zeros=True)
    flipped = bytearray(made.data)
    flipped[made.content[0] + 3_000] ^= 4

    for data in (made.data, bytes(flipped)):
        found = [each.code for each in causes(checked(Memory.of(made_format, data, made.metadata)))]
        assert Cause.ZERO_BLOCK not in found
        assert Cause.REPEATED_BLOCK not in found


@pytest.mark.parametrize(("kind", "number"), [(Kind.PADDING, 0), (Kind.BYTES, 1)])
def test_zeros_that_a_format_fills_up_with_are_no_damage(kind: Kind, number: int) -> None:
    """Padding that a format shows as such, beside a finding."""
    source = Memory("a.a", b"x" * 600 + bytes(424))
    fields = (Field("data", Kind.DATA, (Span(0, 600),)), Field("rest", kind, (Span(600, 1_024),)))
    wrong = Finding(Severity.ERROR, "ar-size", "Something is wrong.", (Span(590, 600),))
    archive = Archive(source, "ar", "Unix ar archive", fields, findings=[wrong])

    assert len(list(zeros(archive, survey(source, Progress()), suspects(archive), ()))) == number


@pytest.mark.parametrize(
    ("text", "called"),
    [
        (lambda data: b'{"status": 200, "body": "' + base64.b64encode(data) + b'"}', "JSON with base64 inside"),
        (lambda data: ", ".join(map(str, data)).encode(), "a list of the bytes as numbers"),
        (lambda data: b"u8 data[] = {" + b",".join(b"0x%x" % each for each in data) + b"};", "a list of the bytes"),
    ],
    ids=["json", "decimal", "hexadecimal"],
)
def test_an_archive_inside_of_text_is_named_and_taken_out(text: Callable[[bytes], bytes], called: str) -> None:
    data = make("rca", Random(7)).data
    archive = checked(Memory.of("rca", text(data)))
    assert archive.findings[0].code == Cause.ENCODED_TEXT
    assert archive.findings[0].message.startswith(f"This is {called}")

    salvage = plan(archive, Progress(), [CONVERT_CODE], in_place=False).salvage
    assert salvage is not None
    assert salvage.content is not None
    assert b"".join(salvage.content(Progress())) == data


def test_a_cause_does_not_change_the_state() -> None:
    for kind in ("bit-of-a-recorded-crc", "hole-in-the-structure", "bit-of-the-header", "byte-of-the-header"):
        archive = checked(one(kind, "taco").source)
        state = state_of((archive,))
        assert causes(archive)
        archive.findings = [each for each in archive.findings if not each.code.startswith(PREFIX)]
        assert state_of((archive,)) is state


def test_checking_again_names_the_cause_once() -> None:
    archive = checked(one("bit-of-a-stored-member", "taco").source)
    first = list(archive.findings)
    check_archive(archive, Progress())

    assert archive.findings == first
    forget_check(archive)
    assert causes(archive) == []


def test_a_damaged_archive_that_cannot_be_read_further_has_no_cause() -> None:
    case = one("hole-of-4096", "taco")

    class Failing(Memory):
        def read(self, offset: int, length: int) -> bytes:
            from inspector.core.source import SourceError

            if offset <= 60_000 < offset + length:
                raise SourceError("The disk does not answer.")
            return super().read(offset, length)

    source: Source = Failing(case.source.name, case.data)
    archive = checked(source)

    assert causes(archive) == []
    assert state_of((archive,)) is State.UNREADABLE


# ---- flipped bits --------------------------------------------------------------------------------------------------


def test_the_bit_follows_from_the_crc() -> None:
    import zlib

    random = Random(4)
    for size in (1, 2, 100, 4_097, 300_000):
        data = bytearray(random.randbytes(size))
        before = zlib.crc32(data)
        at, bit = random.randrange(size), 1 << random.randrange(8)
        data[at] ^= bit

        assert flipped_in(before ^ zlib.crc32(data), size) == [(at, bit)]


@pytest.mark.parametrize(
    ("kind", "made_format"), [("bit-of-a-small-segment", "rca"), ("bit-of-a-datapoint", "datas3t")]
)
def test_a_bit_that_a_hash_proves_is_repaired(kind: str, made_format: str) -> None:
    case = one(kind, made_format)
    found = planned(case)

    assert [each.code for each in found.repairs] == [PROVED_CODE]
    assert found.repairs[0].lossless
    assert found.state is State.SOUND
    assert after(found) == case.original


@pytest.mark.parametrize(
    ("kind", "made_format"),
    [("bit-of-a-stored-member", "taco"), ("bit-of-a-stored-member", "zip"), ("bit-of-a-deflated-member", "zip")],
)
def test_a_bit_that_a_crc_makes_likely_needs_consent(kind: str, made_format: str) -> None:
    case = one(kind, made_format)

    assert LIKELY_CODE not in [each.code for each in planned(case).repairs]
    found = planned(case, LIKELY_CODE)
    assert [each.code for each in found.repairs] == [LIKELY_CODE]
    assert found.repairs[0].claim
    assert after(found) == case.original


def test_a_bit_of_a_large_member_is_named_and_not_offered() -> None:
    made = make("taco", Random(3), 2 << 20)
    at = made.data.find(b"large/001.bin") + 13 + 5
    data = bytearray(made.data)
    data[at] ^= 16
    archive = checked(Memory.of("taco", bytes(data)))

    (cause,) = causes(archive)
    assert cause.spans[0].start == at
    assert cause.repair is None
    assert [each.code for each in archive.diagnosis.repairs] == []


def test_two_changed_bytes_of_a_member_are_no_flipped_bit() -> None:
    for number in range(20):
        made = make("taco", Random(number))
        data = bytearray(made.data)
        for at in Random(number).sample(range(*made.content), 2):
            data[at] ^= 0x5A
        assert [each.code for each in causes(checked(Memory.of("taco", bytes(data))))] == [Cause.CHANGED_BYTES]


def test_the_byte_of_a_taco_header_is_named_and_repaired() -> None:
    case = one("byte-of-the-header", "taco")
    cause = causes(checked(case.source))[0]
    at = cause.spans[0].start

    assert case.data[at] != case.original[at]
    assert f"was 0x{case.original[at]:02X}" in cause.message
    assert (planned(case).repairs, "repair offers both" in cause.message) == ((), True)
    assert after(planned(case, "taco-restore-payload")) == case.original


class Counting(Progress):
    """Cancels after so many steps."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.left = steps

    def advance(self, count: int) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cancelled
        super().advance(count)


def test_the_search_for_a_bit_can_be_cancelled() -> None:
    archive = checked(one("bit-of-a-datapoint", "datas3t").source)
    archive.findings = [each for each in archive.findings if not each.code.startswith(PREFIX)]

    with pytest.raises(Cancelled):
        diagnose(archive, Counting(20))


def test_trials_keep_to_their_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_WORK_BYTES <= 1 << 30
    monkeypatch.setattr("inspector.formats._causes.flips.Budget.take", lambda *_: False)

    (cause,) = causes(checked(one("bit-of-a-datapoint", "datas3t").source))
    assert cause.code == Cause.CHANGED_BYTES


# ---- what is shown -------------------------------------------------------------------------------------------------


def test_a_report_lists_what_a_cause_explains_beneath_it() -> None:
    archive = checked(one("http-chunked", "taco").source)
    lines = as_text(report(archive)).splitlines()
    first = next(at for at, line in enumerate(lines) if PREFIX in line)

    assert lines[first].startswith("  error: The chunked framing")
    assert "explains the 9 findings below" in lines[first]
    assert lines[first + 1].startswith("    error: ")
    alike = next(at for at, line in enumerate(lines) if "findings of one kind" in line)
    assert lines[alike].startswith("    error: 7 findings of one kind. [")
    assert lines[alike + 4] == "      ... and 4 more; --json lists them"
    assert len(lines) < 18
    assert all(f'"{each.code}"' in as_json(report(archive)) for each in archive.findings)


def test_the_manual_lists_every_cause(written: Callable[[Path, str], None]) -> None:
    rows = ["| code | what happened | what to do |", "|---|---|---|"]
    rows += [f"| `{cause}` | {happened} | {advice} |" for cause, (happened, advice) in MEANINGS.items()]
    text = MANUAL.read_text(encoding="utf-8")
    before, after_mark = text.split("<!-- causes -->\n")[0], text.split("<!-- /causes -->")[1]
    wanted = "\n".join([f"{before}<!-- causes -->", *rows, f"<!-- /causes -->{after_mark}"])

    assert set(MEANINGS) == set(Cause)
    written(MANUAL, wanted)


def test_a_cause_is_as_severe_as_what_it_explains() -> None:
    assert checked(one("hole-of-4096", "taco").source).findings[0].severity is Severity.ERROR


def test_the_window_is_told_the_cause_and_what_is_beneath_it(tmp_path: Path) -> None:
    path = tmp_path / "a.tacozip"
    path.write_bytes(one("hole-of-4096", "taco").data)
    session = ArchiveSession(str(path))
    session.decode(Progress())
    session.check(Progress())
    rows = session.findings(0, 10).rows

    assert [(row.code, row.beneath) for row in rows] == [("cause-zero-block", False), ("zip-crc-mismatch", True)]
    assert " Cause: 4,096 bytes are zero from byte " in session.status().judgement
    assert dict(session.status().counts) == {Severity.ERROR: 1}


def test_the_window_says_what_a_file_is_before_a_check(tmp_path: Path) -> None:
    path = tmp_path / "a.rca"
    path.write_bytes(one("s3-error", "rca").data)
    session = ArchiveSession(str(path))
    session.decode(Progress())

    assert session.findings(0, 10).rows[0].code == Cause.ERROR_PAGE
    assert "This is the error message of a server" in session.status().judgement


def test_a_flipped_bit_of_a_hash_is_answered_by_the_repair_of_the_format() -> None:
    archive = checked(one("bit-of-the-last-hash", "rca").source)
    mark_repairs(archive, Progress())
    cause = archive.findings[0]

    assert (cause.code, cause.repair) == (Cause.FLIPPED_BIT, "rca-mend-metadata")


def segment_with_a_flip(size: int, at: int, mask: int = 4) -> tuple[bytes, Memory]:
    """An RCA of one segment of noise of this size, and the same with a byte changed, in one bit."""
    layer = writers.BlobLayer("rcarch")
    layer.blob("noise", Random(size).randbytes(size))
    data = bytearray(writers.chunks(bytes(layer.data), layer.digest))
    original = bytes(data)
    data[at] ^= mask
    return original, Memory.of("rca", bytes(data))


def test_a_bit_of_a_larger_segment_is_found_where_nothing_else_explains_it() -> None:
    original, source = segment_with_a_flip(14_000, 300)
    found = planned(Case("bit", "rca", source.data, frozenset()))

    assert found.state is State.SOUND
    assert after(found) == original


@pytest.mark.parametrize("size", [300, 1_950])
def test_a_byte_that_changed_in_several_bits_is_proved_and_restored(size: int) -> None:
    original, source = segment_with_a_flip(size, 200, 0xFF)
    case = Case("byte", "rca", source.data, frozenset())
    (cause,) = causes(checked(source))
    found = planned(case)

    assert (cause.code, cause.spans) == (Cause.WRONG_BYTE, ((200, 201),))
    assert cause.message.startswith("One byte of segment 1 changed: byte 200 is 0x")
    assert [each.code for each in found.repairs] == [PROVED_CODE]
    assert (found.state, after(found)) == (State.SOUND, original)


@pytest.mark.parametrize(("size", "segments"), [(30_000, 1), (60_000, 1), (12_000, 3)])
def test_trials_of_one_archive_have_one_budget_and_what_is_left_out_is_said(size: int, segments: int) -> None:
    layer = writers.BlobLayer("rcarch")
    for number in range(segments):
        layer.blob("noise", Random(number).randbytes(size))
        layer.reset()
    data = bytearray(writers.chunks(bytes(layer.data), layer.digest))
    for number in range(segments):
        at = number * size + size // 2
        data[at : at + 2] = bytes(each ^ 255 for each in data[at : at + 2])
    (cause,) = causes(checked(Memory.of("rca", bytes(data))))

    assert "Whether it is a single flipped bit was not tried: there are " in cause.message


def test_what_was_not_tried_is_said() -> None:
    _, source = segment_with_a_flip(200_000, 5_000)
    (cause,) = causes(checked(source))

    assert cause.code == Cause.CHANGED_BYTES
    assert "Whether it is a single flipped bit was not tried: there are 1,600," in cause.message
    assert "There is no run of zeros" in cause.message


@pytest.mark.parametrize("change", [-100, -1, 1, 4_096])
@pytest.mark.parametrize("made_format", ["caf", "rca"])
def test_moved_bytes_are_no_flipped_bit_and_counted_as_they_are(made_format: str, change: int) -> None:
    data = make(made_format, Random(change)).data
    at = 20_000
    moved = data[: at + min(0, change)] + bytes([0x5A]) * max(0, change) + data[at:]
    cause = causes(checked(Memory.of(made_format, moved)))[0]

    assert cause.code == (Cause.INSERTED_BYTES if change > 0 else Cause.LOST_BYTES)
    assert cause.message.startswith(f"{abs(change):,} byte")


def test_zeros_behind_the_end_are_in_the_place_of_nothing() -> None:
    for made_format in ("caf", "zip", "taco"):
        data = make(made_format, Random(2)).data
        found = causes(checked(Memory.of(made_format, data + bytes(4_096))))

        assert [each.code for each in found] == [Cause.TRAILING_BYTES]


@pytest.mark.parametrize("kind", ["gzip", "xz", "bzip2", "zstd"])
def test_what_a_compressed_file_holds_opens_as_its_cause_says(kind: str, tmp_path: Path) -> None:
    one = damaged(next(each for each in KINDS if each.name == kind), "taco", 3)
    path = tmp_path / "packed.tacozip"
    path.write_bytes(one.data)
    (cause,) = (each for each in checked(FileSource(path)).findings if each.code == Cause.COMPRESSED)

    assert "or open what is inside as packed.tacozip!/ without that" in cause.message
    assert check_location(f"{path}!/", Progress()).state is State.SOUND


@pytest.mark.parametrize("kind", ["rar", "stream-without-a-signature"])
def test_no_way_inside_is_told_where_there_is_none(kind: str) -> None:
    one = damaged(next(each for each in KINDS if each.name == kind), "tar", 3)
    (cause,) = (each for each in checked(one.source).findings if each.code == Cause.COMPRESSED)
    assert "!/" not in cause.message


def test_advice_is_given_where_neither_a_repair_nor_a_cause_has_a_better_answer() -> None:
    told = error("x-told", "Meaning.", "Do this.").finding("Cause. Evidence.", [(0, 1)])
    repaired = told._replace(repair="x-mend")
    cause = Finding(Severity.ERROR, "cause-truncated", "Cut off. Get it again.", (Span(0, 1),))

    assert [each.message for each in folded([told, repaired], NO_DIAGNOSIS)] == [
        "Cause. Evidence. Do this.",
        "Cause. Evidence.",
    ]
    diagnosis = Diagnosis((cause,), ((told,),))
    assert [each.message for each in folded([cause, told], diagnosis)] == ["Cut off. Get it again.", "Cause. Evidence."]


def test_of_a_cut_that_takes_the_index_away_no_file_is_promised() -> None:
    original = make("caf", Random(1)).data
    for size, promised in ((original.index(b'"format'), False), (len(original) - 6, True)):
        (cause,) = causes(checked(Memory.of("caf", original[:size])))
        assert cause.code == Cause.TRUNCATED
        assert cause.message.endswith("which file they belong to.") is not promised
