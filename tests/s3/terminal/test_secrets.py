"""Nothing secret in what the terminal says or writes, also where things go wrong; its processes are asked, too."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.cli.run import REPORT_VARIABLE
from inspector.sources.s3.client import client_for
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.source import S3Source
from tests.operations.create.creations import plant
from tests.processes import arguments
from tests.s3.bad_days import wide
from tests.s3.conftest import BUCKET, KEY, SECRET, TOKEN, Store
from tests.s3.proxy import Forward, Reply, Seen, refuse
from tests.s3.writing.writing import taco

CANARIES = (KEY, SECRET, TOKEN, "Signature=")
TELLING = f"{KEY}, x-amz-security-token: {TOKEN}"
"""What a server may say that knows no manners: it has seen the key and the token, never the secret."""


def told(text: str) -> list[str]:
    return [canary for canary in CANARIES if canary in text]


def written(folder: Path) -> str:
    return "\n".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


COMMANDS = ("list", "dump", "check", "header")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("wrong", [False, True], ids=["well", "refused"])
def test_what_is_printed_for_programs(
    store: Store, tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str, wrong: bool
) -> None:
    location = store.put("secrets/one.taco", taco(tmp_path, [1000]))
    before = f"s3://{KEY}:{SECRET}@{BUCKET}/secrets/one.taco"
    capfd.readouterr()
    if wrong:
        with store.proxy.failing(refuse(403, "Odd", TELLING)):
            assert main([command, "--json", *store.options, location]) == 2
    else:
        assert main([command, "--json", *store.options, location]) == 0
    assert main([command, "--json", *store.options, before]) == 2
    out, err = capfd.readouterr()
    assert out or wrong
    assert "contains credentials" in out + err
    assert told(out + err) == []


def test_an_audit_its_results_and_its_processes(
    store: Store, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []

    def watched(each: Seen, forward: Forward) -> Reply:
        seen.append(arguments())
        wrong = "bad" in each.path and not each.listing
        return refuse(403, "Odd", TELLING)(each, forward) if wrong else forward()

    for name in ("good", "bad"):
        store.put(f"secrets/audit/{name}.zip", wide(2))
    files = ["--results", str(tmp_path / "kept.sqlite")]
    with store.proxy.failing(watched):
        status = main(["audit", "--json", "--workers", "2", *files, *store.options, f"s3://{BUCKET}/secrets/audit/"])
    out, err = capfd.readouterr()
    assert status == 2
    assert {json.loads(line).get("state") for line in out.splitlines()} == {"sound", "unreadable", None}
    assert any("spawn" in line or "forkserver" in line or "multiprocessing" in line for line in seen)
    kept = written(tmp_path)
    assert "bad.zip" in kept
    assert told("\n".join([out, err, kept, *seen])) == []


def test_what_is_made_and_taken(store: Store, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tree = plant(tmp_path / "tree", {"a.bin": b"1" * 100})
    location = f"s3://{BUCKET}/secrets/made.caf"
    assert main(["create", "caf", location, str(tree), *store.options, "--overwrite"]) == 0
    catalogue = ["--catalog", str(tmp_path / "names.sqlite")]
    assert main(["create", "caf", location, str(tree), *store.options, "--overwrite", *catalogue]) == 0
    assert main(["extract", location, "--to", str(tmp_path / "out"), *store.options]) == 0
    with store.proxy.failing(refuse(403, "Odd", TELLING)):
        assert main(["create", "caf", location, str(tree), *store.options, "--overwrite"]) == 2
        assert main(["extract", location, "--to", str(tmp_path / "none"), *store.options]) == 2
    assert told("".join(capfd.readouterr()) + written(tmp_path)) == []


@pytest.mark.parametrize(
    ("variable", "value"), [("AWS_SESSION_TOKEN", f"{TOKEN}\n"), ("AWS_ACCESS_KEY_ID", f"{KEY}\n{SECRET}")]
)
def test_a_key_that_cannot_be_sent_is_not_repeated(
    store: Store, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    connection = Connection(endpoint=store.proxy.url, region=variable.lower().replace("_", "-"))
    with closing(client_for(connection)):
        assert main(["list", *store.options, "--region", connection.region, f"s3://{BUCKET}/secrets/x"]) == 2
    said = capfd.readouterr().err
    assert "a key or a token has a character in it that none can have" in said
    assert told(said) == []
    assert store.proxy.log == []


def test_a_mistake_in_the_program(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def mistaken(*_: object) -> bytes:
        raise LookupError(f"{KEY} {SECRET} {TOKEN}")

    location = store.put("secrets/mistake.zip", wide(2))
    monkeypatch.setenv(REPORT_VARIABLE, str(tmp_path / "report.txt"))
    monkeypatch.setattr(S3Source, "read", mistaken)
    assert main(["list", *store.options, location]) != 0
    said = "".join(capfd.readouterr())
    assert "LookupError" in said
    assert "LookupError" in written(tmp_path)
    assert told(said + written(tmp_path)) == []


SIGNED = "https://bucket.example/key.zip?X-Amz-Signature=canary&sig=canary&token=canary#canary"


@pytest.mark.parametrize(
    "command",
    [
        *([name, SIGNED] for name in ("list", "dump", "check", "header", "repair", "audit")),
        ["check", "--json", SIGNED],
        ["check", SIGNED, SIGNED],
        ["cat", SIGNED, "a"],
        ["extract", SIGNED, "--to", "out"],
        ["extract", "x.zip", "--to", SIGNED],
        ["create", "caf", "new.caf", SIGNED],
        ["repair", "x.zip", "--to", SIGNED],
        ["find", SIGNED, "x"],
    ],
    ids=" ".join,
)
def test_the_query_of_a_signed_address_is_in_no_sentence(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("inspector.sources.web.client._pause", lambda _: 0.0)
    assert main(command) == 2
    out, err = capfd.readouterr()
    assert "canary" not in out + err
