"""What could not be fetched is said to be unreadable: never damaged, never missing, and never a reason to write."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple
from zlib import crc32

import pytest

from inspector.__main__ import main
from inspector.core.program.progress import Progress
from inspector.operations.audit.audit import Plan, prepare, run
from inspector.operations.audit.results import Results
from inspector.operations.edit import apply_repairs
from inspector.sources.local.changes import old_bytes as store_of_old_bytes
from inspector.sources.local.disk_calls import Disk
from tests.formats.datas3t.range_building import hashed_rows, rows_frame
from tests.formats.tar.tar_building import build
from tests.s3.bad_days import BRIEFLY, wide
from tests.s3.bucket import BUCKET
from tests.s3.conftest import Store
from tests.s3.proxy import (
    Fault,
    Forward,
    Reply,
    Seen,
    after,
    answering,
    cut,
    fewer,
    ignoring,
    rangeless,
    refuse,
    silence,
    silent,
    web_page,
)
from tests.s3.terminal.test_bad_days import impatient
from tests.s3.writing.writing import content
from tests.sweeping import at_every_change

Sample = Callable[[str], Path]

TAR = build([(f"{key:020d}.txt", b"%d" % key * 700) for key in range(1, 7)])
ROWS = rows_frame(hashed_rows(TAR))
FLIPPED = TAR[:600] + b"!" + TAR[601:]
NAME = f"{1:020d}-{6:020d}.tar"
LATER = f"{1:020d}-{6:020d}-{7:012d}.tar"
INDEX = b"".join(
    (1_024 * (number - 1) + 512 * (number - 1)).to_bytes(8, "big") + b"\0\1" + (700).to_bytes(6, "big")
    for number in range(1, 7)
)

NEVER = Event()
"""Opens when the tests are over."""


class Day(NamedTuple):
    """``words`` stand in what is said of the metadata that does not come."""

    name: str
    fault: Fault
    words: str
    patience: int = 0


DAYS = (
    Day("503", refuse(503, "SlowDown"), "asks to slow down"),
    Day("429", refuse(429, "TooManyRequests"), "asks to slow down"),
    Day("403", refuse(403, "AccessDenied"), "(403)"),
    Day("500", refuse(500, "InternalError"), "and again after 3 tries"),
    Day("reset", silent, "closed the connection"),
    Day("cut", cut(10), "broke off"),
    Day("short", fewer, "broke off"),
    Day("hanging", silence(Event(), NEVER), f"sent nothing for {BRIEFLY} seconds", BRIEFLY),
    Day("other range", answering(Content_Range="bytes 7-9/9000000"), ""),
    Day("no range", rangeless, "does not say which bytes"),
    Day("web page", web_page, "a web page"),
)
USUAL = [day for day in DAYS if day.name in ("503", "cut", "web page")]
"""Tried at every change: the server refuses, a connection breaks, and what stands between answers instead."""


def beside(fault: Fault, ending: str = ".metadata") -> Fault:
    """What stands beside the tar meets the fault, and nothing else."""

    def only(seen: Seen, forward: Forward) -> Reply:
        return fault(seen, forward) if ending in seen.path and not seen.listing else forward()

    return only


def unlisted(fault: Fault) -> Fault:
    """The same where nothing may be listed."""

    def only(seen: Seen, forward: Forward) -> Reply:
        return refuse(403, "AccessDenied")(seen, forward) if seen.listing else fault(seen, forward)

    return only


@pytest.fixture(scope="module", autouse=True)
def nothing_hangs_on() -> Iterator[None]:
    yield
    NEVER.set()


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> str:
    return f"{crc32(request.node.name.encode()):08x}/datapoints/"


@pytest.fixture
def flipped(store: Store, folder: str) -> str:
    """A range in which a byte has changed; only its metadata shows it."""
    store.put(f"{folder}{NAME}.metadata", ROWS)
    return store.put(folder + NAME, FLIPPED)


def state_of(store: Store, folder: str) -> dict[str, bytes]:
    """All that is in the folder, and what was begun there."""
    listed = store.client.list_objects_v2(Bucket=BUCKET, Prefix=folder)
    begun = store.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", ())
    assert not begun
    keys = [each["Key"] for each in listed["Contents"]]
    return {key: store.client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}


def writes(store: Store) -> list[str]:
    return [str(seen) for seen in store.proxy.log if seen.method not in ("GET", "HEAD")]


def by_day(day: Day) -> str:
    return day.name


def usual(day: Day) -> bool:
    return day in USUAL


@pytest.mark.parametrize("day", at_every_change(DAYS, usual, by_day))
def test_metadata_that_does_not_come_is_no_reason_to_write(
    store: Store,
    folder: str,
    flipped: str,
    day: Day,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = state_of(store, folder)
    options = store.options
    if day.patience:
        monkeypatch.setattr("inspector.sources.s3.client.ATTEMPTS", 1)
        options = [*impatient(store, day.patience, monkeypatch)[:-1], "im-patient-2"]
    with store.proxy.failing(beside(day.fault)):
        assert main(["check", *options, flipped]) == 2
        said = capsys.readouterr().out
        assert "Unreadable" in said
        assert "The metadata beside the tar could not be fetched, so it was not compared." in said
        assert day.words in said
        assert "No hash is recorded" not in said
        for accepted in ([], ["--accept", "datas3t-rebuild-metadata"]):
            assert main(["repair", *accepted, *options, flipped]) == 2
            assert "is not repaired, for not all of it could be read" in capsys.readouterr().err
    assert (state_of(store, folder), writes(store)) == (before, [])
    assert main(["check", *store.options, flipped]) == 1, "the byte that has changed is still told"


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
def test_403_is_not_missing_where_nothing_may_be_listed(
    store: Store, folder: str, capsys: pytest.CaptureFixture[str], listed: bool
) -> None:
    location = store.put(folder + NAME, TAR)
    fault = beside(refuse(403, "AccessDenied"), NAME + ".")
    with store.proxy.failing(fault if listed else unlisted(fault)):
        status = main(["check", *store.options, location])
    said = capsys.readouterr().out
    assert status == (1 if listed else 2), "a listing that does not show it tells that it is missing"
    assert ("The metadata is missing" in said) == listed
    assert ("is unknown (403)" in said) != listed


def test_404_is_missing_where_nothing_may_be_listed(store: Store, folder: str) -> None:
    location = store.put(folder + NAME, TAR)
    with store.proxy.failing(unlisted(ignoring())):
        assert main(["check", *store.options, location]) == 1


def test_a_later_range_needs_its_index_only(store: Store, folder: str) -> None:
    """Its layout has no metadata, so that 403 for a name that it does not have tells nothing."""
    tar = build([(f"{key:020d}.txt", b"x" * 700) for key in range(1, 7)])
    store.put(f"{folder}{LATER.removesuffix('.tar')}.index", INDEX)
    location = store.put(folder + LATER, tar)
    with store.proxy.failing(unlisted(beside(refuse(403, "AccessDenied"), LATER + "."))):
        assert main(["check", *store.options, location]) == 0
    with store.proxy.failing(unlisted(beside(refuse(403, "AccessDenied"), ".index"))):
        assert main(["check", *store.options, location]) == 2


def test_a_tar_of_no_range_needs_nothing_beside_it(store: Store, folder: str) -> None:
    location = store.put(f"{folder.partition('/')[0]}/plain.tar", TAR)
    with store.proxy.failing(unlisted(beside(refuse(403, "AccessDenied"), "plain.tar."))):
        assert main(["check", *store.options, location]) == 0


def test_a_digest_manifest_that_does_not_come_is_not_passed_over(
    store: Store, folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    location = store.put(f"{folder.partition('/')[0]}/plain.tar", TAR)
    store.put(f"{folder.partition('/')[0]}/plain.tar.sha256", b"0" * 64)
    assert main(["check", *store.options, location]) == 1
    with store.proxy.failing(beside(refuse(503, "SlowDown"), ".sha256")):
        assert main(["check", *store.options, location]) == 2
    assert "asks to slow down" in capsys.readouterr().out


def test_a_listing_that_fails_tells_of_nothing_that_is_missing(store: Store, folder: str, flipped: str) -> None:
    for fault in (refuse(503, "SlowDown"), refuse(500, "InternalError"), silent, web_page):

        def unreachable(seen: Seen, forward: Forward, fault: Fault = fault) -> Reply:
            return fault(seen, forward) if seen.listing else forward()

        with store.proxy.failing(unreachable):
            assert main(["check", *store.options, flipped]) == 2
            assert main(["repair", *store.options, flipped]) == 2
            assert main(["check", *store.options, f"s3://{BUCKET}/{folder}"]) == 2
    assert writes(store) == []


# ---- every command ------------------------------------------------------------------------------------------------

COMMANDS = (
    ["list", "--json"],
    ["check", "--json"],
    ["repair", "--dry-run", "--json"],
    ["extract"],
    ["header", "--json"],
)
STAGES = range(4)
"""Requests that are answered well before the fault begins: on opening, between, and while content is read."""


class Answer(NamedTuple):
    """What a command ended with, what it wrote to standard output, and the files it made."""

    status: int
    said: str
    files: dict[str, bytes]


def ask(
    command: list[str], place: str, name: str, options: list[str], to: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[Answer, str]:
    """The answer, in which the place is called so wherever it is, and what was said on standard error."""
    made = to / "made"
    more = ["--to", str(made)] if command == ["extract"] else []
    status = main([*command, *options, place + name, *more])
    said = capsys.readouterr()
    files = {str(path.relative_to(made)): path.read_bytes() for path in made.rglob("*") if path.is_file()}
    shutil.rmtree(made, ignore_errors=True)
    return Answer(status, said.out.replace(place, "PLACE/"), files), said.err


@pytest.mark.parametrize(
    "case",
    at_every_change(
        [(name, day) for name in (NAME, "wide.zip", "header.taco") for day in DAYS if not day.patience],
        lambda case: case in ((NAME, USUAL[0]), ("wide.zip", USUAL[1]), ("header.taco", USUAL[2])),
        lambda case: f"{case[0]}-{case[1].name}",
    ),
)
def test_every_command_answers_as_here_or_says_why_not(
    store: Store,
    folder: str,
    tmp_path: Path,
    case: tuple[str, Day],
    capsys: pytest.CaptureFixture[str],
    sample: Sample,
) -> None:
    name, day = case
    here = tmp_path / "datapoints"
    here.mkdir()
    contents = {NAME: {NAME: FLIPPED, f"{NAME}.metadata": ROWS}, "wide.zip": {"wide.zip": wide(5)}}
    for each, data in contents.get(name, {name: sample("two-entries.tacozip").read_bytes()}).items():
        (here / each).write_bytes(data)
        store.put(folder + each, data)
    before = state_of(store, folder)
    for command in COMMANDS:
        there, _ = ask(command, f"{here}/", name, [], tmp_path, capsys)
        for stage in STAGES:
            with store.proxy.failing(after(stage, day.fault)):
                answer, error = ask(command, f"s3://{BUCKET}/{folder}", name, store.options, tmp_path, capsys)
            assert answer == there or answer.status == 2, (command, stage)
            assert answer == there or error or "unreadable" in answer.said, (command, stage)
            assert "Traceback" not in error
    assert (state_of(store, folder), writes(store)) == (before, [])


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    "day", at_every_change([each for each in DAYS if not each.patience], lambda day: day is USUAL[0], by_day)
)
def test_what_an_audit_says_of_ranges_that_were_not_read_does_not_stay(
    store: Store, folder: str, day: Day, tmp_path: Path
) -> None:
    """A results file knows for ever what is finished, so nothing may be that rests on what was not read."""
    for number in range(3):
        key = f"{folder}{10 * number + 1:020d}-{10 * number + 6:020d}.tar"
        tar = build([(f"{each:020d}.txt", b"%d" % each) for each in range(10 * number + 1, 10 * number + 7)])
        store.put(key, tar)
        store.put(f"{key}.metadata", rows_frame(hashed_rows(tar)))
    plan = Plan((f"s3://{BUCKET}/{folder}",), connection=store.connection)
    with Results(tmp_path / "results.sqlite") as results:
        prepare(plan, results, Progress())
        with store.proxy.failing(beside(day.fault)):
            assert {(each.state, each.again) for each in run(plan, results, Progress(), 1)} == {("unreadable", True)}
        assert prepare(plan, results, Progress()).left.files == 3
        assert {(each.state, each.again) for each in run(plan, results, Progress(), 1)} == {("sound", False)}
        assert prepare(plan, results, Progress()).left.files == 0


# ---- what is written beside a range ---------------------------------------------------------------------------------


def kept() -> list[bytes]:
    """The old bytes of files that were replaced."""
    folder = store_of_old_bytes.store_folder()
    return [_old(path) for path in sorted(folder.iterdir())] if folder.is_dir() else []


def _old(path: Path) -> bytes:
    entry = store_of_old_bytes._load(path, Disk())
    old = b"".join(patch.old for patch in entry.edit.patches)
    if entry.cut is not None:
        old += path.read_bytes()[entry.cut.offset :][: entry.cut.length]
    return old


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    yield
    shutil.rmtree(store_of_old_bytes.store_folder(), ignore_errors=True)


REPLACING = ["--accept", "datas3t-rebuild-metadata"]


@pytest.mark.parametrize("far", [True, False], ids=["s3", "here"])
def test_metadata_that_is_there_is_replaced_with_consent_only_and_kept(
    store: Store, folder: str, tmp_path: Path, far: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may be the only witness of what the tar held."""
    location, read = places(store, folder, tmp_path, {NAME: TAR, f"{NAME}.metadata": b"junk"}, far=far)
    options = store.options if far else []
    assert main(["repair", *options, location]) == 1
    assert "with --accept datas3t-rebuild-metadata" in capsys.readouterr().out
    assert (read(f"{NAME}.metadata"), kept()) == (b"junk", [])
    store.proxy.reset()
    assert main(["repair", *REPLACING, *options, location]) == 0
    assert f"The old {NAME}.metadata is stored in " in capsys.readouterr().out
    assert (main(["check", *options, location]), kept()) == (0, [b"junk"])
    puts = [seen for seen in store.proxy.log if seen.method == "PUT"]
    assert all(seen.if_match for seen in puts)
    assert len(puts) == far


@pytest.mark.parametrize("far", [True, False], ids=["s3", "here"])
@pytest.mark.parametrize("before", [{}, {f"{NAME}.metadata": b"junk"}], ids=["missing", "damaged"])
def test_metadata_that_others_have_written_meanwhile_is_left_alone(
    store: Store, folder: str, tmp_path: Path, far: bool, before: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    location, read = places(store, folder, tmp_path, {NAME: TAR, **before}, far=far)
    options = [*(REPLACING if before else ()), *(store.options if far else ())]
    carried_out = apply_repairs.write_sibling

    def meanwhile(*arguments: Any) -> str:
        places(store, folder, tmp_path, {f"{NAME}.metadata": b"theirs"}, far=far)
        return carried_out(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(apply_repairs, "write_sibling", meanwhile)
        assert main(["repair", *options, location]) == 2
    assert read(f"{NAME}.metadata") == b"theirs"


def test_metadata_whose_old_bytes_cannot_be_kept_is_left_alone(
    store: Store, folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    location, read = places(store, folder, tmp_path, {NAME: TAR, f"{NAME}.metadata": b"junk"}, far=True)
    store_of_old_bytes.store_folder().parent.mkdir(parents=True, exist_ok=True)
    store_of_old_bytes.store_folder().touch()
    try:
        assert main(["repair", *REPLACING, *store.options, location]) == 2
    finally:
        store_of_old_bytes.store_folder().unlink()
    assert "was not changed: its old bytes cannot be stored" in capsys.readouterr().err
    assert read(f"{NAME}.metadata") == b"junk"


def test_the_place_beside_a_copy_has_to_be_empty_too(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(TAR)
    copy = tmp_path / "copy.tar"
    beside = tmp_path / "copy.tar.metadata"
    beside.write_bytes(b"theirs")
    assert main(["repair", "--to", str(copy), str(tmp_path / NAME)]) == 2
    assert (beside.read_bytes(), copy.exists()) == (b"theirs", False)


def places(
    store: Store, folder: str, tmp_path: Path, contents: dict[str, bytes], *, far: bool
) -> tuple[str, Callable[[str], bytes]]:
    """Put files into a bucket or a folder; the location of the first, and what reads one of them."""
    for name, data in contents.items():
        if far:
            store.put(folder + name, data)
        else:
            (tmp_path / name).write_bytes(data)
    first = next(iter(contents))
    if far:
        return f"s3://{BUCKET}/{folder}{first}", lambda name: content(store, folder + name)
    return str(tmp_path / first), lambda name: (tmp_path / name).read_bytes()


def test_a_listing_that_failed_once_does_not_make_a_tar_a_range_without_metadata(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is there beside it was not found out, so nothing is missing, even if the next listing would succeed."""
    location = store.put("unlisted/plain.tar", build([("a.txt", b"a")]))
    failed: list[Seen] = []

    def fault(seen: Seen, forward: Forward) -> Reply:
        if seen.listing and not failed:
            failed.append(seen)
            return web_page(seen, forward)
        return forward()

    with store.proxy.failing(fault):
        assert main(["check", *store.options, location]) == 2
    said = capsys.readouterr().out
    assert failed
    assert "answered with a web page" in said
    assert "is missing" not in said
    assert main(["check", *store.options, location]) == 0
