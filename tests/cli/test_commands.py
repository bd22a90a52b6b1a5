"""The sub-commands as scripts meet them: standard output, standard error and the exit status.

What a real process makes of them is in test_process.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from inspector.__main__ import main
from inspector.cli.parser import mistyped
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.operations.open.listing import load
from tests.cli.running import Run, objects
from tests.operations.extract.extracting import caf, linked_tar

Sample = Callable[[str], Path]
Cat = Callable[[Path, str], tuple[int, bytes, bytes]]


@pytest.fixture
def cat(capfdbinary: pytest.CaptureFixture[bytes]) -> Cat:
    """What ``cat`` of a member ends with and writes, in this process."""

    def call(place: Path, member: str) -> tuple[int, bytes, bytes]:
        capfdbinary.readouterr()
        return (main(["cat", str(place), member]), *capfdbinary.readouterr())

    return call


def members_of(path: Path) -> list[dict[str, Any]]:
    """The rows of its list."""
    (archive,) = load(str(path), Progress())
    return [{"path": visible(member.path), "size": member.size} for member in archive.members]


def test_list_json_says_the_members_in_the_order_of_the_archive(run: Run, sample: Sample) -> None:
    status, out, err = run("list", "--json", sample("journey.caf"))

    members = objects(out)
    assert (status, err) == (0, "")
    assert members[0] == {
        "source": str(sample("journey.caf")),
        "path": "readme.txt",
        "size": 56,
        "stored": 56,
        "spans": [[0, 56]],
        "codec": "stored",
        "digest": None,
    }
    assert list(members[0]) == ["source", "path", "size", "stored", "spans", "codec", "digest"]
    assert [member["path"] for member in members[-4:]] == [
        "notes/zażółć gęślą.txt",
        "notes/報告.txt",
        "empty.dat",
        "a/b/c/deep.json",
    ]
    assert out.isascii()


def test_list_json_says_digests_and_codecs(run: Run, sample: Sample) -> None:
    _, out, _ = run("list", "--json", sample("plain.zip"))

    picture, _, parquet, _ = objects(out)
    assert (picture["codec"], parquet["codec"]) == ("stored", "deflate")
    assert picture["digest"].startswith("crc32:")
    assert len(picture["digest"]) == len("crc32:") + 8
    assert parquet["stored"] == sum(stop - start for start, stop in parquet["spans"])


def test_list_json_names_no_codec_that_it_cannot_read(run: Run, sample: Sample, tmp_path: Path) -> None:
    data = bytearray(sample("odd.zip").read_bytes())
    data[8] = data[data.index(b"PK\1\2") + 10] = 9  # Deflate64
    changed = tmp_path / "x.zip"
    changed.write_bytes(data)
    _, out, _ = run("list", "--json", changed)

    link, times, _ = objects(out)
    assert (link["codec"], link["spans"], times["codec"]) == ("unknown", [[34, 52]], "stored")


def test_a_name_that_decoding_would_change_comes_with_its_bytes(run: Run, sample: Sample) -> None:
    status, out, _ = run("list", "--json", sample("name-not-utf8.rca"))

    (member,) = objects(out)
    assert status == 1
    assert member["path"] == "\ufffd\ufffd"
    assert member["path_bytes"] == "fffe"


def test_list_in_text_shows_hostile_names_visibly(run: Run, sample: Sample) -> None:
    _, out, _ = run("list", sample("hostile-name.caf"))

    header, row, *_ = out.splitlines()
    assert header.split() == ["size", "stored", "codec", "digest", "offset", "name"]
    assert row.split() == ["5", "5", "stored", "-", "0x0", "␛[31m‹U+202E›gpj.exe"]
    assert "\x1b" not in out


def test_list_of_a_damaged_archive_lists_and_says_so(run: Run, sample: Sample) -> None:
    status, out, err = run("list", sample("overlap.caf"))

    assert status == 1
    assert len(out.splitlines()) == 9
    assert err.startswith(f"archive-inspector: {sample('overlap.caf')}: error: ")


def test_a_bucket_lists_its_ranges_and_names_them(run: Run, sample: Sample) -> None:
    status, out, _ = run("list", "--json", sample("weather"))

    members = objects(out)
    folder = f"{sample('weather')}/dataset/weather/datapoints"
    assert status == 0
    assert [member["path"][:20] for member in members] == [f"{key:020d}" for key in range(1, 7)]
    assert [member["source"] for member in members] == [f"{folder}/{1:020d}-{4:020d}.tar"] * 4 + [
        f"{folder}/{5:020d}-{6:020d}.tar"
    ] * 2


def test_several_archives_are_listed_and_the_worst_decides(run: Run, sample: Sample, tmp_path: Path) -> None:
    good, damaged, nothing = sample("journey.caf"), sample("wrong-metadata.rca"), tmp_path / "nothing.caf"
    status, out, err = run("list", good, damaged)
    assert status == 1
    assert [line for line in out.splitlines() if line.endswith(":")] == [f"{good}:", f"{damaged}:"]
    status, out, err = run("list", nothing, good)
    assert status == 2
    assert "nothing.caf does not exist" in err
    assert "readme.txt" in out


def test_names_alone_are_for_other_programs(run: Run, sample: Sample) -> None:
    one, other = sample("journey.caf"), sample("plain.zip")
    status, out, _ = run("list", "--names", one)
    assert status == 0
    assert out.splitlines()[:2] == ["readme.txt", "photos/tile_0001.png"]
    status, several, _ = run("list", "--names", one, other)
    assert status == 0
    assert several.splitlines()[:8] == [f"{one}!/{name}" for name in out.splitlines()]
    assert [line.startswith(f"{other}!/") for line in several.splitlines()[8:]] == [True] * 4


def test_dump_of_a_bucket_is_one_object_a_range(run: Run, sample: Sample) -> None:
    status, out, _ = run("dump", "--json", sample("weather"))

    archives = objects(out)
    assert status == 0
    assert [Path(archive["source"]).name[-8:] for archive in archives] == ["0004.tar", "0006.tar"]
    assert {archive["format"] for archive in archives} == {"datas3t"}


def test_dump_shows_bytes_names_values_and_notes(run: Run, sample: Sample) -> None:
    status, out, err = run("dump", sample("two-chunks.rca"))

    assert (status, err) == (0, "")
    assert any("size 0x8000 = 32,768 bytes" in line for line in out.splitlines())
    assert any(line.count("..") == 2 for line in out.splitlines()), "a block across the boundary has two extents"


def test_dump_at_a_place_shows_what_is_around_it_and_the_member(run: Run, sample: Sample) -> None:
    status, out, err = run("dump", "--at", "0x5000", sample("two-chunks.rca"))
    first, *fields = out.splitlines()
    assert (status, err) == (0, "")
    assert first.endswith("two-chunks.rca: byte 20,480 (0x5000): in photos/noise.bin, byte 19,753 of 31,288")
    assert len(fields) == 4
    assert fields[-1].startswith("0x2d7..0x7d0f ")


@pytest.mark.parametrize(
    ("name", "place", "where"),
    [
        ("two-chunks.rca", "member[3]", "byte 727 (0x2d7): in photos/noise.bin, byte 0 of 31,288"),
        ("two-chunks.rca", "chunk header[2]", "byte 32,768 (0x8000): in no member"),
        ("journey.caf", "entry[0]", "in a record of a/b/c/deep.json"),
    ],
)
def test_dump_at_a_place_takes_what_go_to_takes(name: str, place: str, where: str, run: Run, sample: Sample) -> None:
    assert run("dump", "--at", place, sample(name))[1].splitlines()[0].endswith(where)


def test_dump_at_a_place_as_json_has_the_fields_around_it_from_the_outermost_on(run: Run, sample: Sample) -> None:
    found = json.loads(run("dump", "--json", "--at", "end-4", sample("two-chunks.rca"))[1])
    assert (found["at"], found["member"]) == (37_244, "station-5/2024-05.log")
    assert [each["name"] for each in found["fields"]] == ["blob layer", "segment", "blob block", "payload"]
    assert all(each["children"] == [] for each in found["fields"])


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("end", "Byte 37,248 is not there: it is where the file ends."),
        ("0x99999", "the file has 37,248 bytes."),
        ("footer", "There is no “footer” in the file."),
        ("member[99]", "There is no member 99"),
        ("member:none", "none"),
    ],
)
def test_dump_at_a_place_that_is_none_says_why(place: str, why: str, run: Run, sample: Sample) -> None:
    status, out, err = run("dump", "--at", place, sample("two-chunks.rca"))
    assert (status, out) == (2, "")
    assert why in err
    assert "name one" in run("dump", "--at", place, sample("weather"))[2]


def test_dump_to_a_depth_shows_the_outer_fields_only(run: Run, sample: Sample) -> None:
    _, out, _ = run("dump", "--json", "--depth", 1, sample("journey.caf"))
    _, text, _ = run("dump", "--depth", 1, sample("journey.caf"))

    fields = json.loads(out)["fields"]
    assert [field["name"] for field in fields] == ["data section", "index", "footer"]
    assert all(field["children"] == [] for field in fields)
    assert len(text.splitlines()) == 4


def test_dump_of_anything_else_shows_bytes_when_asked(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"nothing known")

    for more in ((), ("--json",), ("--at", "3"), ("--diagram", tmp_path / "shape.svg")):
        status, out, err = run("dump", other, *more)
        assert (status, out) == (2, "")
        assert err == f"archive-inspector: {other}: This is not a known archive format.\n"
        assert run("list", other)[::2] == (status, err)

    status, out, err = run("dump", "--json", "--raw", other)
    assert (status, err) == (0, "")
    assert json.loads(out)["format"] == "bytes"
    assert json.loads(out)["fields"][0]["spans"] == [[0, 13]]


@pytest.mark.parametrize(
    ("archive", "member", "digest"),
    [
        ("journey.caf", "readme.txt", "268da1ec1a2c9cd777c4be60055223fac5a136fdd6107d489a4303455412c32e"),
        ("plain.zip", "METADATA/level0.parquet", "7033e3cd073afd2395ef48c77d1106ae6564cb5ce7cc89cc346f28126ceefbfc"),
        (
            "two-entries.tacozip",
            "METADATA/level0.parquet",
            "7033e3cd073afd2395ef48c77d1106ae6564cb5ce7cc89cc346f28126ceefbfc",
        ),
        ("two-chunks.rca", "photos/noise.bin", "af07bffee1a8e435b2ae224e973f46988ded950f0842e45628a4df69fab6cc58"),
        ("two-chunks.rca", "station-5/2024-05.log", "171980fc827262fae008dd5897d2d50f0dbb2161586f1022fd51ce9eea2e670f"),
        (
            "weather",
            f"dataset/weather/datapoints/{5:020d}-{6:020d}.tar/{5:020d}.json",
            "1e36accd932e4c72464836babe0548139af7c0a30b12eaad6df38c399fa2d3ed",
        ),
        ("weather", f"{5:020d}.json", "1e36accd932e4c72464836babe0548139af7c0a30b12eaad6df38c399fa2d3ed"),
    ],
)
def test_cat_gives_the_bytes(archive: str, member: str, digest: str, cat: Cat, sample: Sample) -> None:
    status, out, err = cat(sample(archive), member)

    assert (status, err) == (0, b"")
    assert hashlib.sha256(out).hexdigest() == digest


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cat", "journey.caf", "no such"], "no member called no such"),
        (["cat", "two-alike.caf", "one.txt"], "2 members called one.txt"),
        (["list", "three-bytes.bin"], "does not exist"),
    ],
)
def test_what_cannot_be_read_ends_with_a_sentence(
    arguments: Sequence[str], words: str, run: Run, sample: Sample, tmp_path: Path
) -> None:
    command, name, *rest = arguments
    location = tmp_path / name if name == "three-bytes.bin" else sample(name)

    status, out, err = run(command, location, *rest)

    assert (status, out) == (2, "")
    assert words in err
    assert err.endswith(".\n")
    assert "Traceback" not in err


def test_listing_what_is_no_archive_is_refused(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"nothing known")

    status, out, err = run("list", "--json", other)

    assert (status, out) == (2, "")
    assert "not a known archive format" in err


@pytest.mark.parametrize(
    ("word", "meant"), [("lsit", "list"), ("chekc", "check"), ("LIST", "list"), ("format", "formats"), ("dmup", "dump")]
)
def test_a_mistyped_command_is_no_location(word: str, meant: str, run: Run, sample: Sample) -> None:
    status, out, err = run(word, sample("journey.caf"))

    assert (status, out) == (2, "")
    assert err == f"archive-inspector: {word} is neither a file nor a command; did you mean {meant}?\n"


def test_a_location_that_looks_like_a_command_is_a_location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lists").write_bytes(b"")

    assert mistyped("lists") == ""
    assert mistyped("./lsit") == mistyped("holiday") == ""


def test_formats_are_listed_with_their_limitations(run: Run) -> None:
    _, out, _ = run("formats", "--json")
    _, text, _ = run("formats")

    known = objects(out)
    assert {"caf", "rca", "taco", "zip", "datas3t", "tar"} <= {one["name"] for one in known}
    assert all(list(one) == ["name", "title", "suffixes", "limitations"] for one in known)
    assert ".caf" in known[0]["suffixes"]
    assert all(one["title"] in text for one in known)
    starts = {
        line.index(one["title"], len(one["name"]))
        for one in known
        for line in text.splitlines()
        if line.split()[0] == one["name"]
    }
    assert len(starts) == 1, "titles stand in one column"
    assert all(limitation.endswith(".") for one in known for limitation in one["limitations"])


@pytest.mark.parametrize(
    ("archive", "member", "words"),
    [
        ("flipped-member-byte.tacozip", "DATA/tile_0001.png", "does not fit"),
        ("flipped-blob-byte.rca", None, "Hash mismatch"),
        ("wrong-reset-hash.rca", None, "Nothing proves"),
    ],
)
def test_cat_of_what_is_known_to_be_wrong_writes_it_and_says_so(
    archive: str, member: str | None, words: str, cat: Cat, sample: Sample
) -> None:
    rows = members_of(sample(archive))
    chosen = member or rows[0]["path"]

    status, out, err = cat(sample(archive), chosen)

    assert status == 1
    assert len(out) == next(row["size"] for row in rows if row["path"] == chosen)
    assert words in err.decode()
    assert err.endswith(b"may differ from what was archived.\n")


def test_cat_of_a_datapoint_that_does_not_fit_its_hash_says_so(cat: Cat, sample: Sample, tmp_path: Path) -> None:
    folder = tmp_path / "dataset/weather/datapoints"
    shutil.copytree(sample("weather") / "dataset/weather/datapoints", folder)
    tar = min(folder.glob("*.tar"))
    data = bytearray(tar.read_bytes())
    data[512] ^= 1
    tar.write_bytes(data)

    status, _, err = cat(tar, f"{1:020d}.json")

    assert status == 1
    assert b"xxHash64" in err


def test_cat_beside_damage_is_fine(cat: Cat, sample: Sample) -> None:
    for archive, member in (("flipped-member-byte.tacozip", "DATA/tile_0002.png"), ("wrong-reset-hash.rca", None)):
        status, _, err = cat(sample(archive), member or members_of(sample(archive))[-1]["path"])
        assert (status, err) == (0, b""), archive


def test_a_name_that_is_not_there_brings_up_those_like_it(run: Run, sample: Sample) -> None:
    _, _, err = run("cat", sample("journey.caf"), "readme.tx")
    assert "Names like it: readme.txt" in err
    _, _, err = run("cat", sample("journey.caf"), "deep.json")
    assert "a/b/c/deep.json" in err
    assert f"To see the members, use list {sample('journey.caf')}." in err


def test_cat_writes_a_member_whose_place_is_in_doubt_only_after_confirming(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "shifted.caf"
    path.write_bytes(caf([("a", b"first"), ("b", b"second"), ("c", b"third")])[1:])
    status, out, err = run("cat", path, "b")
    assert (status, out) == (1, "")
    assert "--doubtful" in err
    status, out, err = run("cat", path, "b", "--doubtful")
    assert (status, out) == (1, "econdt")
    assert "The place of b is in doubt" in err


def test_repair_saves_members_in_doubt_under_names_that_say_so(run: Run, tmp_path: Path) -> None:
    path, copy = tmp_path / "shifted.caf", tmp_path / "copy.caf"
    path.write_bytes(caf([("a", b"first"), ("b", b"second"), ("c", b"third")])[1:])
    status, _, err = run("repair", path, "--to", copy)
    assert (status, copy.exists()) == (1, False)
    assert "Nothing is written without your consent: --accept caf-salvage-doubtful saves" in err
    assert run("repair", path, "--doubtful")[0] == 2
    run("repair", path, "--to", copy, "--doubtful")
    assert [each["path"] for each in objects(run("list", copy, "--json")[1])] == ["a.doubtful", "b.doubtful"]


def test_links_are_listed_with_their_targets(run: Run, tmp_path: Path) -> None:
    path = linked_tar(
        tmp_path, [("a", tarfile.REGTYPE, "1"), ("b", tarfile.LNKTYPE, "a"), ("c", tarfile.SYMTYPE, "../x")]
    )
    _, out, _ = run("list", path)
    assert [line.split()[5:] for line in out.splitlines()[1:]] == [["a"], ["b", "->", "a"], ["c", "->", "../x"]]
    _, out, _ = run("list", "--json", path)
    assert [json.loads(line).get("target") for line in out.splitlines()] == [None, "a", "../x"]
