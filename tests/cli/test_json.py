"""What list and check write with ``--json`` has the keys and types that scripts rely on, whatever the archive."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from inspector.__main__ import main
from inspector.cli.output import json_text
from inspector.core.verdict import State
from tests.conftest import SAMPLES

ARCHIVES = sorted(
    path for folder in SAMPLES for path in folder.iterdir() if path.suffix not in (".md", ".py") and path.name[0] != "_"
)
STATES = {*map(str, State)}
FINE, FOUND = 0, 1


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.name)
def archive(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


def objects(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    """The objects that a sub-command writes; nothing else is on standard output."""
    assert main([*arguments]) in (FINE, FOUND)
    out = capfd.readouterr().out
    assert out.isascii()
    return [json.loads(line, parse_constant=pytest.fail) for line in out.splitlines()]


def test_a_number_that_json_has_no_word_for_is_text() -> None:
    assert json_text([1.5, float("inf"), [float("nan")], None]) == '[1.5, "inf", ["nan"], null]'


def are_spans(found: Any) -> bool:
    return isinstance(found, list) and all(
        len(span) == 2 and all(type(end) is int for end in span) and 0 <= span[0] <= span[1] for span in found
    )


def test_list(archive: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for member in objects(capfd, "list", "--json", str(archive)):
        beside = set(member) - {"source", "path", "size", "stored", "spans", "codec", "digest"}
        assert beside <= {"path_bytes", "target"}
        assert (member["source"] != str(archive)) == archive.is_dir(), "of several archives it is said which"
        assert ("path_bytes" in beside) == ("\ufffd" in member["path"])
        assert isinstance(member["path"], str)
        assert type(member["size"]) is type(member["stored"]) is int
        assert are_spans(member["spans"])
        assert member["codec"] in ("stored", "zstd", "deflate", "unknown")
        assert member["digest"] is None or re.fullmatch(r"[a-z0-9-]+:[0-9a-f]+", member["digest"])


def test_check(archive: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (found,) = objects(capfd, "check", "--json", str(archive))
    assert list(found) == ["source", "format", "state", "members", "bytes", "findings"]
    assert found["source"] == str(archive)
    assert found["format"] is None or isinstance(found["format"], str)
    assert found["state"] in STATES
    assert type(found["members"]) is type(found["bytes"]) is int
    for finding in found["findings"]:
        assert list(finding) == ["severity", "code", "message", "spans", "member", "repair"]
        assert finding["severity"] in ("error", "warning", "info")
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", finding["code"])
        assert finding["message"].endswith((".", "!", "?"))
        assert are_spans(finding["spans"])
        assert finding["member"] is None or isinstance(finding["member"], str)
        assert finding["repair"] is None or re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", finding["repair"])
