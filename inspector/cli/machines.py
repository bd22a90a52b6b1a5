"""What a check found, for machines that watch over builds: SARIF 2.1.0, JUnit's XML, and the lines of GitHub Actions.

Each is made from the objects of ``check --json``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from inspector import __version__
from inspector.core.finding import FindingType, first_sentence
from inspector.core.names import visible
from inspector.core.verdict import State
from inspector.formats import declared

Objects = Sequence[dict[str, Any]]

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
"""Severities as SARIF names them."""
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(found: Objects, *, strict: bool) -> str:  # noqa: ARG001 - whoever reads it decides by the level
    """A log of one run; each place of a finding is a region of bytes."""
    known = declared()
    used = sorted({finding["code"] for each in found for finding in each["findings"]})
    rules = [_rule(code, known.get(code)) for code in used]
    results = [_result(each, finding, used) for each in found for finding in each["findings"]]
    driver = {"name": "Archive Inspector", "version": __version__, "rules": rules}
    artifacts = [{"location": {"uri": _uri(each["source"])}, "length": each["bytes"]} for each in found]
    run = {"tool": {"driver": driver}, "artifacts": artifacts, "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str, known: FindingType | None) -> dict[str, Any]:
    if known is None:
        return {"id": code}
    help_text = {"help": {"text": known.advice}} if known.advice else {}
    level = {"level": _LEVELS[known.severity]}
    return {"id": code, "shortDescription": {"text": known.meaning}, "defaultConfiguration": level, **help_text}


def _severity(each: dict[str, Any], finding: dict[str, Any]) -> str:
    """That of a finding; an error for the first one of what fails although none is an error, such as a torn archive."""
    fails = each["state"] in (State.TORN, State.DAMAGED, State.UNREADABLE)
    none = all(other["severity"] != "error" for other in each["findings"])
    return "error" if fails and none and finding is each["findings"][0] else str(finding["severity"])


def _result(each: dict[str, Any], finding: dict[str, Any], used: Sequence[str]) -> dict[str, Any]:
    file = {"artifactLocation": {"uri": _uri(each["source"])}}
    regions = [{"byteOffset": start, "byteLength": stop - start} for start, stop in finding["spans"]]
    places = [{"physicalLocation": {**file, "region": region}} for region in regions] or [{"physicalLocation": file}]
    return {
        "ruleId": finding["code"],
        "ruleIndex": used.index(finding["code"]),
        "level": _LEVELS[_severity(each, finding)],
        "message": {"text": finding["message"]},
        "locations": places,
        "properties": {"member": finding["member"], "repair": finding["repair"]},
    }


def _uri(location: str) -> str:
    if "://" in location:
        return quote(location, safe=":/?&=%!@#")
    path = Path(location)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def junit(found: Objects, *, strict: bool) -> str:
    """A suite with a test case for each location: one that is not sound fails, one that cannot be read is in error."""
    suites = ET.Element("testsuites", name="archive-inspector check")
    suite = ET.SubElement(suites, "testsuite", name="archives")
    counts = {"tests": len(found), "failures": 0, "errors": 0}
    for each in found:
        case = ET.SubElement(suite, "testcase", classname=each["format"] or "unknown", name=_text(each["source"]))
        said = "\n".join(f"{_place(finding)}: {finding['message']}" for finding in each["findings"])
        if (kind := _kind(each, strict)) != "fine":
            counts[f"{kind}s"] += 1
            first = each["findings"][0] if each["findings"] else {"message": each["state"] or "", "code": ""}
            message = first_sentence(first["message"])
            ET.SubElement(case, kind, message=_text(message), type=first["code"]).text = _text(said)
        elif said:
            ET.SubElement(case, "system-out").text = _text(said)
    for key, number in counts.items():
        suites.set(key, str(number))
        suite.set(key, str(number))
    ET.indent(suites)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ET.tostring(suites, 'unicode')}\n"


def _kind(each: dict[str, Any], strict: bool) -> str:
    if each["state"] == State.UNREADABLE:
        return "error"
    return (
        "fine" if each["state"] in (State.SOUND, None) or (each["state"] == State.WARNING and not strict) else "failure"
    )


def _place(finding: dict[str, Any]) -> str:
    start = f", byte {finding['spans'][0][0]}" if finding["spans"] else ""
    return f"{finding['severity']} [{finding['code']}{start}]"


def _text(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return visible(text) if not text.isprintable() and "\n" not in text else "\n".join(map(visible, text.split("\n")))


def github(found: Objects, *, strict: bool) -> str:  # noqa: ARG001 - an annotation has its own level
    """A workflow command for each finding, which GitHub shows as an annotation."""
    levels = _LEVELS | {"info": "notice"}
    return "".join(
        f"::{levels[_severity(each, finding)]} file={_escaped(each['source'], ',:')},title={finding['code']}::"
        f"{_escaped(finding['message'])}\n"
        for each in found
        for finding in each["findings"]
    )


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(each):02X}" if each in "%\r\n" + more else each for each in text)


MACHINES: dict[str, Callable[..., str]] = {"sarif": sarif, "junit": junit, "github": github}
"""By the word of ``check --format``; each takes the objects, and whether warnings count."""
