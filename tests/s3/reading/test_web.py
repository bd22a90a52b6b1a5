"""Files at web addresses: read like local ones, never written, and their queries are in nothing that is kept."""

# ruff: noqa: ARG001 - faults have one signature

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from inspector.__main__ import main
from inspector.cli.run import REPORT_VARIABLE
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.check import checking
from inspector.operations.check.checking import check_location
from inspector.operations.jobs.process_pool import ProcessPool
from inspector.sources.web.address import enter, parse
from inspector.sources.web.client import WebClient, WebSource, client, next_address
from tests.formats.datas3t.range_building import hashed_rows, rows_frame
from tests.formats.tar.tar_building import build
from tests.s3.archives import SAMPLES
from tests.s3.bad_days import hanging, wide
from tests.s3.proxy import (
    Fault,
    Forward,
    Reply,
    Seen,
    answering,
    cut,
    dripping,
    fewer,
    rangeless,
    refuse,
    silent,
    web_page,
)
from tests.s3.site import SECRET, Site, part, redirecting


def run(arguments: list[str], capsys: pytest.CaptureFixture[str], *names: str) -> tuple[int, str]:
    """The exit status and the output, whatever the file is called and however long it took."""
    status = main(arguments)
    out = capsys.readouterr().out
    for name in names:
        out = out.replace(name, "@")
    return status, re.sub(r"\d+\.\d+ s\b", "s", out)


def dated(site: Site, time: str) -> Fault:
    """Files that were changed last at some time."""
    return lambda seen, forward: answering(Last_Modified=time)(seen, lambda: site.answer(seen, forward))


READING = (
    ["list", "--json"],
    ["list"],
    ["dump", "--json"],
    ["check", "--json"],
    ["check", "--strict"],
    ["repair", "--dry-run"],
)
QUICK = ("journey.caf", "two-chunks.rca", "wrong-checksum.tar", "torn-after-write-2.tacozip", "library.a")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.name, marks=() if path.name in QUICK else pytest.mark.sweep)
        for path in SAMPLES
        if path.is_file() and path.suffix not in (".metadata", ".index") and not Path(f"{path}.metadata").exists()
    ],
)
def test_every_command_answers_as_it_does_for_the_same_file_here(
    site: Site, path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "report_contents", lambda *_: None)  # which reads more, and so nothing from far away
    address = site.put(path.name, path.read_bytes())
    shown = f"{site.proxy.url}/{path.name}"

    for command in READING:
        right = run([*command, str(path)], capsys, str(path))
        assert run([*command, address], capsys, f"{shown}?***", shown) == right, command


def test_members_are_written_and_extracted_as_from_the_file_here(
    site: Site, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    data = wide(3)
    address = site.put("a.zip", data)
    (tmp_path / "a.zip").write_bytes(data)

    assert main(["cat", address, "001.bin"]) == 0
    assert capsysbinary.readouterr().out == bytes([1]) * 300_000
    assert main(["extract", address, "--to", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "002.bin").read_bytes() == bytes([2]) * 300_000
    assert main(["compare", address, str(tmp_path / "a.zip")]) == 0
    assert main(["compare", address, site.put("b.zip", wide(2))]) == 1
    assert {seen.method for seen in site.proxy.log} == {"GET"}, "a signature is good for GET only"
    assert all(seen.headers.get("Referer") is None for seen in site.proxy.log)


def test_what_is_not_needed_is_not_read(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    address = site.put("a.zip", wide(12))

    assert main(["list", address]) == 0

    assert [seen.range for seen in site.proxy.log] == ["bytes=-1048576", "bytes=0-65535"]
    assert "011.bin" in capsys.readouterr().out


def test_two_addresses_that_differ_in_their_queries_are_two_files(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"file=1": wide(2), "file=2": wide(3)}

    def by_query(seen: Seen, forward: Forward) -> Reply:
        return part(files[urlsplit(seen.path).query], seen.range, "")

    with site.proxy.failing(by_query):
        here = f"{site.proxy.url}/get"
        assert main(["compare", "--json", f"{here}?file=1", f"{here}?file=2"]) == 1
        summary = json.loads(capsys.readouterr().out.splitlines()[0])

    assert (summary["a"], summary["b"], summary["equal"]) == (f"{here}?***", f"{here}?***#2", False)


# ---- servers -------------------------------------------------------------------------------------------------------


def test_a_small_file_is_read_whole_from_a_server_without_ranges(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.ranges = False
    address = site.put("a.zip", wide(2))

    assert main(["check", address]) == 0

    assert len(site.proxy.log) == 1
    assert "Sound" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["a.zip", "a.tar"])
def test_a_large_file_is_not_read_from_a_server_without_ranges(
    site: Site, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    site.ranges = False

    assert main(["list", site.put(name, wide(30))]) == 2

    assert "The server ignores ranges" in capsys.readouterr().err


def test_a_server_may_ignore_only_ranges_that_count_from_the_end(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    def fault(seen: Seen, forward: Forward) -> Reply:
        suffix = seen.range.startswith("bytes=-")
        return site.answer(replace(seen, range="") if suffix else seen, forward)

    address = site.put("a.zip", wide(30))
    with site.proxy.failing(fault):
        assert main(["list", address]) == 0

    assert "029.bin" in capsys.readouterr().out


@pytest.mark.parametrize(("members", "status"), [(2, 0), (30, 2)])
def test_a_body_without_a_length_is_read_whole_where_it_is_small(
    site: Site, members: int, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    site.ranges = False
    address = site.put("a.zip", wide(members))

    def endless(seen: Seen, forward: Forward) -> Reply:
        reply = site.answer(seen, forward)
        reply.chunked = True
        return reply

    with site.proxy.failing(endless):
        assert main(["list", address]) == status

    said = capsys.readouterr()
    assert "001.bin" in said.out if not status else "does not report the size" in said.err


def test_an_empty_file_is_one(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--json", site.put("a.zip", b"")]) in (1, 2)
    assert json.loads(capsys.readouterr().out)["bytes"] == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_once_for_all_ranges(
    site: Site, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    target = site.put("a.zip", wide(12))

    def fault(seen: Seen, forward: Forward) -> Reply:
        return redirecting(target, status)(seen, lambda: site.answer(seen, forward))

    with site.proxy.failing(fault):
        assert main(["check", f"{site.proxy.url}/moved?token={SECRET}{status}"]) == 0

    asked = [urlsplit(seen.path).path for seen in site.proxy.log]
    assert asked.count("/moved") == 1
    assert asked.count("/a.zip") > 1
    assert SECRET not in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("start", "to", "why"),
    [
        ("https://a.example/x", "http://a.example/x", "from https:// to http://"),
        ("http://a.example/x", "file:///etc/passwd", "no address that can be followed"),
        ("http://a.example/x", "", "no address that can be followed"),
        ("http://a.example/x", "https://u:p@b.example/x", "an address with a user"),
    ],
)
def test_some_redirects_are_not_followed(start: str, to: str, why: str) -> None:
    with pytest.raises(SourceError, match=why):
        next_address(start, to, parse(start))


def test_redirects_in_a_circle_end(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    with site.proxy.failing(redirecting("/moved")):
        assert main(["list", f"{site.proxy.url}/moved"]) == 2

    assert "more than 5 times" in capsys.readouterr().err
    assert len(site.proxy.log) == 6


def test_a_server_is_asked_again_when_it_wants_to_be(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    address = site.put("a.zip", wide(2))
    busy = Reply(429, {"Retry-After": "0"})
    site.proxy.fail(lambda *_: busy, lambda *_: Reply(503))

    assert main(["list", address]) == 0

    assert len(site.proxy.log) == 3
    capsys.readouterr()


def test_a_server_that_wants_to_be_asked_much_later_is_not_waited_for(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.proxy.fail(lambda *_: Reply(429, {"Retry-After": "3600"}))

    assert main(["list", site.put("a.zip", wide(2))]) == 2

    assert "asks to be asked again in 3,600 seconds (429)" in capsys.readouterr().err
    assert len(site.proxy.log) == 1


@pytest.mark.parametrize(
    "time", ["1 Jan 2020 0:00 +99999999999999", "1 Jan 99999999999999 0:00 GMT", "1 Jan 0001 00:00 -0000", "x"]
)
def test_times_that_no_clock_shows_are_none(site: Site, capsys: pytest.CaptureFixture[str], time: str) -> None:
    address = site.put("a.zip", wide(2))
    site.proxy.fail(lambda *_: Reply(503, {"Retry-After": time}))
    with site.proxy.failing(dated(site, time)):
        assert main(["list", address]) == 0
    assert "Python" not in capsys.readouterr().err


# ---- bad days ------------------------------------------------------------------------------------------------------


def changed(site: Site) -> Fault:
    """Another file is there after the first request."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        reply = site.answer(seen, forward)
        site.etag = '"2"'
        return reply

    return fault


def on_bad_days(fault: Fault) -> Callable[[Site], Fault]:
    return lambda site: lambda seen, forward: fault(seen, lambda *_, **__: site.answer(seen, forward))


DAYS: dict[str, tuple[Callable[[Site], Fault], str, str]] = {
    "401": (on_bad_days(refuse(401)), "not allowed (401)", "not allowed (401)"),
    "403": (on_bad_days(refuse(403)), "not allowed (403)", "not allowed (403)"),
    "404": (on_bad_days(refuse(404)), "does not exist (404)", "does not exist (404)"),
    "416": (on_bad_days(refuse(416)), "smaller than it was said", "smaller than it was said to be"),
    "429": (on_bad_days(refuse(429)), "asks to slow down (429)", "asks to slow down (429)"),
    "500": (on_bad_days(refuse(500)), "and again after 3 tries", "and again after 3 tries"),
    "503": (on_bad_days(refuse(503)), "not available now", "not available now"),
    "reset": (on_bad_days(silent), "closed the connection without", "closed the connection without"),
    "cut": (on_bad_days(cut(100)), "broke off", "broke off"),
    "short": (on_bad_days(fewer), "broke off", "broke off"),
    "hang": (on_bad_days(hanging), "sent nothing for", "sent nothing for"),
    "drop by drop": (on_bad_days(dripping), "sends less than", "sends less than"),
    "other range": (
        on_bad_days(answering(Content_Range="bytes 7-9/9000000")),
        "sent other bytes",
        "was replaced while it was open",
    ),
    "no range": (on_bad_days(rangeless), "does not say which bytes", "does not say which bytes"),
    "web page": (on_bad_days(web_page), "answered with a web page", "answered with a web page"),
    "changed": (changed, "was replaced while it was open", "was replaced while it was open"),
    "other ETag": (on_bad_days(answering(ETag='"3"')), "was replaced while", "was replaced while it was open"),
}
SLOW_DAYS = ("hang", "drop by drop")
TWELVE = 12
"""Members, of more bytes than the first request has."""


@pytest.mark.parametrize("day", [each for each in DAYS if each not in SLOW_DAYS])
def test_every_bad_day_is_a_sentence_and_the_next_try_succeeds(
    site: Site, day: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, opening, _ = DAYS[day]
    with site.proxy.failing(make(site)):
        status = main(["extract", site.put("a.zip", wide(TWELVE)), "--to", str(tmp_path / "out")])
    err = capsys.readouterr().err

    assert status == 2
    assert opening in err
    assert SECRET not in err
    kept = sorted((tmp_path / "out").rglob("*.bin"))
    assert all(path.read_bytes() == bytes([int(path.stem)]) * 300_000 for path in kept)
    assert main(["check", site.address("a.zip")]) == 0


@pytest.mark.parametrize("day", [each for each in DAYS if each not in ("changed", *SLOW_DAYS)])
def test_what_fails_later_is_never_damage(site: Site, day: str, capsys: pytest.CaptureFixture[str]) -> None:
    make, _, reading = DAYS[day]
    address = site.put("a.zip", wide(TWELVE))
    with site.proxy.failing(after_first(site, make(site))):
        status = main(["check", "--json", address])
    report = json.loads(capsys.readouterr().out)

    assert (status, report["state"]) == (2, "unreadable")
    assert reading in json.dumps(report)
    assert SECRET not in json.dumps(report)


@pytest.mark.parametrize("day", SLOW_DAYS)
def test_a_slow_server_is_given_up(
    site: Site, day: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(WebClient, "read_timeout", 0.4)
    make, opening, _ = DAYS[day]
    client.cache_clear()
    with site.proxy.failing(make(site)):
        status = main(["list", site.put("a.zip", wide(2))])
    client.cache_clear()

    assert status == 2
    assert opening in capsys.readouterr().err


def after_first(site: Site, fault: Fault) -> Fault:
    return after_well(1, site.answer, fault)


def after_well(count: int, well: Fault, fault: Fault) -> Fault:
    """All is well with the first ``count`` requests."""
    left = count

    def later(seen: Seen, forward: Forward) -> Reply:
        nonlocal left
        left -= 1
        return (well if left >= 0 else fault)(seen, forward)

    return later


def test_without_an_etag_the_time_of_the_last_change_tells(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    days = iter(range(1, 29))
    address = site.put("a.zip", wide(TWELVE))

    def fault(seen: Seen, forward: Forward) -> Reply:
        reply = part(site.files["a.zip"], seen.range, "")
        reply.headers["Last-Modified"] = f"Tue, {next(days):02} Jan 2019 10:00:00 GMT"
        return reply

    with site.proxy.failing(fault):
        assert main(["check", address]) == 2

    assert "was replaced while it was open" in "".join(capsys.readouterr())
    assert site.proxy.log[1].headers["If-Unmodified-Since"] == "Tue, 01 Jan 2019 10:00:00 GMT"


def test_a_compressed_answer_is_not_taken_for_the_file(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    address = site.put("a.zip", wide(2))
    with site.proxy.failing(on_bad_days(answering(Content_Encoding="gzip"))(site)):
        assert main(["list", address]) == 2

    assert "compressed, so no byte of it has a position" in capsys.readouterr().err


# ---- what stands beside a file --------------------------------------------------------------------------------------


RANGE = "00000000000000000001-00000000000000000002.tar"


def test_metadata_is_found_beside_an_address_without_a_query(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    tar = build([(f"{key:020d}.txt", b"x" * 400) for key in (1, 2)])
    files = {f"/{RANGE}": tar, f"/{RANGE}.metadata": rows_frame(hashed_rows(tar))}

    def public(seen: Seen, forward: Forward) -> Reply:
        path = urlsplit(seen.path).path
        return part(files[path], seen.range) if path in files else Reply(404)

    with site.proxy.failing(public):
        assert main(["check", "--json", f"{site.proxy.url}/{RANGE}"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "sound"


def test_what_is_not_told_is_not_missing(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    tar = build([(f"{key:020d}.txt", b"x" * 400) for key in (1, 2)])

    assert main(["check", "--json", site.put(RANGE, tar)]) == 2

    report = json.loads(capsys.readouterr().out)
    assert report["state"] == "unreadable"
    assert "datas3t-metadata-missing" not in {finding["code"] for finding in report["findings"]}
    assert len(site.proxy.log) == 1, "a signature is good for one file"


# ---- only read -----------------------------------------------------------------------------------------------------


WRITING: dict[str, Callable[[str], list[str]]] = {
    "header": lambda address: ["header", address, "--set", "0=157,1000"],
    "repair": lambda address: ["repair", address],
    "append": lambda address: ["append", address, "input.txt"],
    "create": lambda address: ["create", "caf", address, "input.txt"],
    "create datas3t": lambda address: ["create", "datas3t", address, "input.txt", "--dataset", "a", "--first-key", "1"],
    "create of it": lambda address: ["create", "caf", "new.caf", address],
    "extract to it": lambda address: ["extract", "here.zip", "--to", address],
    "repair to it": lambda address: ["repair", "here.zip", "--to", address],
    "audit": lambda address: ["audit", address],
    "audit to it": lambda address: ["audit", ".", "--results", address],
    "find": lambda address: ["find", address, "a"],
    "take back": lambda address: ["repair", address, "--take-back"],
}


@pytest.mark.parametrize("name", WRITING)
def test_nothing_is_written_there_and_a_sentence_says_what_to_do(
    site: Site, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "input.txt").write_text("input")
    (tmp_path / "here.zip").write_bytes(wide(1))
    before = sorted(tmp_path.rglob("*"))
    damaged = next(path for path in SAMPLES if path.name == "torn-after-write-2.tacozip")

    assert main(WRITING[name](site.put("a.tacozip", damaged.read_bytes()))) == 2

    out, err = capsys.readouterr()
    assert err.strip().count("\n") <= 2
    assert err.endswith(".\n")
    assert SECRET not in out + err
    assert sorted(tmp_path.rglob("*")) == before
    assert {seen.method for seen in site.proxy.log} <= {"GET"}


def test_a_repaired_copy_is_written_here(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = next(path for path in SAMPLES if path.name == "torn-after-write-2.tacozip")

    assert main(["repair", site.put("a.tacozip", damaged.read_bytes()), "--to", str(tmp_path / "b.tacozip")]) == 0
    assert main(["check", str(tmp_path / "b.tacozip")]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("location", ["ftp://host/a.zip", "sftp://u:canary0signature@host/a.zip", "gs://bucket/a.zip"])
def test_other_schemes_are_a_sentence(location: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", location]) == 2

    said = capsys.readouterr().err
    assert "nothing is read from" in said
    assert SECRET not in said


# ---- secrets -------------------------------------------------------------------------------------------------------


def every_file(*folders: Path) -> str:
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return "\n".join(str(path) + path.read_bytes().decode("latin-1") for path in found)


def test_a_query_is_in_nothing_that_is_shown_or_kept(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    (tmp_path / "here.zip").write_bytes(wide(2))
    address = site.put("a.zip", wide(TWELVE))
    other = f"https://user:{SECRET}@host.example/a.zip?sig={SECRET}"
    commands = [
        *(
            [name, where]
            for name in ("list", "dump", "check", "header", "repair", "audit")
            for where in (address, other)
        ),
        *(["check", "--json", where] for where in (address, other, f"{address}#{SECRET}")),
        *(["compare", where, "here.zip"] for where in (address, other)),
        *(["cat", where, "001.bin"] for where in (address, other)),
        *(["extract", where, "--to", "out"] for where in (address, other)),
        *(["create", "caf", "new.caf", where] for where in (address, other)),
        *(["find", where, "a"] for where in (address, other)),
        *(["append", where, "here.zip"] for where in (address, other)),
        ["repair", "--dry-run", "--json", address],
        ["check", "--by-checksum", address],
        ["list", "--endpoint-url", f"http://u:{SECRET}@127.0.0.1:1", "s3://a/b"],
    ]
    for number, command in enumerate(commands):
        main([command[0], f"--debug={tmp_path / f'log-{number}.txt'}", *command[1:]])
        with pytest.raises(SystemExit):
            main([command[0], "--no-such-option", *command[1:]])
    with pytest.raises(SystemExit):
        main(["list", "--no-such-option", f"https://h.example/'it is'?a={SECRET}'{SECRET}"])
    with pytest.raises(SystemExit):
        main(["--no-such-option", address])
    with site.proxy.failing(refuse(403, "Odd", f"https://h/p?X-Amz-Signature={SECRET}")):
        main(["check", address])

    out, err = capfd.readouterr()
    assert f"{site.proxy.url}/a.zip?***" in out
    for text in (out, err, every_file(tmp_path)):
        assert [line for line in text.splitlines() if SECRET in line] == []


def test_an_error_in_the_program_does_not_tell_the_query(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def mistaken(*_: object) -> bytes:
        raise LookupError(f"{site.proxy.url}/a?sig={SECRET}")

    address = site.put("a.zip", wide(2))
    monkeypatch.setenv(REPORT_VARIABLE, str(tmp_path / "report.txt"))
    monkeypatch.setattr(WebSource, "read", mistaken)

    assert main(["list", f"--debug={tmp_path / 'log.txt'}", address]) != 0

    said = "".join(capfd.readouterr()) + every_file(tmp_path)
    assert "LookupError" in said
    assert SECRET not in said


def test_the_processes_of_a_pool_are_told_over_the_pipe(site: Site, capfd: pytest.CaptureFixture[str]) -> None:
    enter(site.put("a.zip", wide(2)))
    seen: list[str] = []

    def watched(each: Seen, forward: Forward) -> Reply:
        seen.append("\n".join(path.read_bytes().decode("latin-1") for path in Path("/proc").glob("[0-9]*/cmdline")))
        return site.answer(each, forward)

    with site.proxy.failing(watched), ProcessPool(1, states, Progress()) as pool:
        pool.submit(enter(site.address("a.zip")))
        _, answer = pool.next_result()

    assert answer == "sound"
    assert seen
    assert [each for each in seen if SECRET in each] == []


def states(location: str, progress: Progress) -> str:
    return str(check_location(location, progress).state)
