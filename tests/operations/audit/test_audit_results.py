"""Results of audits: a file that is this program's or is left alone, read by pages and summed up."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspector.operations.audit.results import COLUMNS, Results, Run, as_object, as_text, page, summary
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.audit_views import NO_ARCHIVE, UNCHECKED, Amount, Query, Result
from inspector.operations.protocol.check_views import CheckTarget


def result(name: str, state: str = "sound", **more: object) -> Result:
    plain = Result(f"/place/{name}", 100, "1", False, state, format="caf", members=2, finished=1_700_000_000.0)
    return replace(plain, **more)


def finding(code: str, severity: str = "error") -> dict[str, object]:
    return {"severity": severity, "code": code, "message": "Something.", "spans": [], "member": None, "repair": None}


RESULTS = (
    result("a.caf", sentence="Sound."),
    result("b.caf", "warning", warnings=1, code="caf-gap", findings=json.dumps([finding("caf-gap", "warning")])),
    result(
        *("c.rca", "damaged"),
        format="rca",
        errors=2,
        code="rca-zstd",
        size=5000,
        sentence="Damaged: 100% of it.",
        findings=json.dumps([finding("rca-zstd"), finding("rca-zstd"), finding("note", "info")]),
    ),
    result("d.caf", "torn", errors=1, code="caf-footer", findings=json.dumps([finding("caf-footer")])),
    result("e.caf", UNCHECKED, quick=True),
    result("f", "unreadable", format=None, code="unreadable", sentence="f cannot be read."),
    result("notes.txt", NO_ARCHIVE, format=None),
)


@pytest.fixture
def results() -> Results:
    kept = Results()
    for each in RESULTS:
        kept.keep(each)
    return kept


def names(results: Results, query: Query, first: int = 0, count: int = 100) -> list[str]:
    return [Path(each.location).name for each in page(results, query, first, count).rows]


def test_a_result_comes_back_as_it_was(results: Results) -> None:
    with results:
        assert tuple(results.results("ORDER BY location")) == RESULTS


def test_pages_are_sorted_and_filtered(results: Results) -> None:
    with results:
        assert names(results, Query()) == ["a.caf", "b.caf", "c.rca", "d.caf", "e.caf", "f"]
        by_state = Query("state", descending=True)
        assert names(results, by_state) == ["f", "c.rca", "d.caf", "b.caf", "e.caf", "a.caf"]
        second = page(results, by_state, 2, 2)
        assert (second.total, second.first) == (6, 2)
        assert [Path(each.location).name for each in second.rows] == ["d.caf", "b.caf"]
        assert names(results, Query("size", descending=True))[0] == "c.rca"
        assert names(results, Query(states=("torn", "damaged"))) == ["c.rca", "d.caf"]
        assert names(results, Query(states=(NO_ARCHIVE,))) == ["notes.txt"]
        assert names(results, Query(formats=("rca",))) == ["c.rca"]
        assert names(results, Query(text="RCA")) == ["c.rca"]
        assert names(results, Query(text="cannot")) == ["f"]
        assert names(results, Query(text="100%")) == ["c.rca"]
        assert names(results, Query(text="%")) == ["c.rca"]
        assert names(results, Query(text="d_caf")) == []


def test_the_summary_counts_and_names_the_worst(results: Results) -> None:
    with results:
        summed = summary(results, Run(Amount(7, 5600), 2.0, Amount(3, 30)))
    assert summed.states == {
        "sound": Amount(1, 100),
        UNCHECKED: Amount(1, 100),
        "warning": Amount(1, 100),
        "torn": Amount(1, 100),
        "damaged": Amount(1, 5000),
        "unreadable": Amount(1, 100),
    }
    assert summed.formats == {"caf": Amount(4, 400), "rca": Amount(1, 5000), None: Amount(1, 100)}
    assert (summed.all, summed.others, summed.wrong) == (Amount(6, 5500), Amount(1, 100), 4)
    assert [Path(each.location).name for each in summed.worst] == ["f", "c.rca", "d.caf", "b.caf"]
    assert set(summed.kinds) == {("error", "rca-zstd", 1), ("error", "caf-footer", 1), ("warning", "caf-gap", 1)}
    text = as_text(summed).splitlines()
    assert text[0] == ("6 archives, 5.4 KiB: 1 sound, 1 unchecked, 1 warning, 1 torn, 1 damaged, 1 unreadable")
    assert "  1 file of no known format left out" in text
    assert "  3 files finished earlier, and unchanged since" in text
    assert "  7 files, 5.5 KiB read in 2.0 s: 3.5 files and 2.7 KiB a second" in text
    assert "/place/c.rca: Damaged: 100% of it. [rca-zstd]" in text
    told = as_object(summed)["summary"]
    assert (told["archives"], told["bytes"], told["left_out"]) == (6, 5500, 1)
    assert told["worst"][0] == "/place/f"
    assert json.dumps(told)


def test_an_audit_of_nothing_has_a_summary() -> None:
    with Results() as results:
        assert as_text(summary(results, Run(Amount(), 0.0))).startswith("0 archives, 0 B: nothing was audited")


def test_only_the_worst_are_named(monkeypatch: pytest.MonkeyPatch, results: Results) -> None:
    monkeypatch.setattr("inspector.operations.audit.results.MAX_WORST", 1)
    with results:
        assert as_text(summary(results, Run(Amount(), 0.0))).endswith("... and 3 more archives with something wrong\n")


def test_a_file_of_others_is_left_as_it_is(tmp_path: Path) -> None:
    archive = tmp_path / "archive.caf"
    archive.write_bytes(b"not a database, but somebody's archive" * 100)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE results (location)")
    connection.close()
    for path in (archive, other):
        before = path.read_bytes()
        with pytest.raises(OperationError, match=path.name):
            Results(path)
        assert path.read_bytes() == before
    with pytest.raises(OperationError, match="folder does not exist"):
        Results(tmp_path / "nowhere" / "results.sqlite")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive.caf", "other.sqlite"]


def test_results_of_another_version_are_refused(tmp_path: Path) -> None:
    Results(tmp_path / "results.sqlite").connection.close()
    with sqlite3.connect(tmp_path / "results.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(OperationError, match="not an audit results file of this version"):
        Results(tmp_path / "results.sqlite")


def test_what_is_wanted_may_be_kept_while_it_is_read() -> None:
    with Results() as results:
        wanted = [
            CheckTarget(f"/place/{number}", found=True, name=str(number), size=1, stamp="1") for number in range(2500)
        ]
        results.request(iter(wanted), quick=False)
        seen = []
        for found in results.pending():
            seen.append(found)
            results.keep(Result(found.location, found.size, found.stamp, False, "sound"))
        assert seen == wanted
        assert (results.amount(done=True), results.amount(done=False)) == (Amount(2500, 2500), Amount())


def test_the_results_can_be_read_while_others_are_kept(tmp_path: Path) -> None:
    with Results(tmp_path / "results.sqlite") as one, Results(tmp_path / "results.sqlite") as other:
        one.keep(result("a.caf"))
        assert names(other, Query()) == ["a.caf"]
        other.keep(result("b.caf"))
        assert names(one, Query()) == ["a.caf", "b.caf"]


ENDLESS = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
SELECT n AS location, {rest} FROM numbers
"""


@pytest.mark.parametrize("how", ["a view without an end", "a trigger", "another table"])
def test_a_file_that_would_run_its_own_queries_is_no_results_file(tmp_path: Path, how: str) -> None:
    foreign = tmp_path / "foreign.sqlite"
    with Results(foreign) as made:
        made.keep(RESULTS[0])
        if how == "a view without an end":
            made.connection.execute("DROP VIEW chosen")
            made.connection.execute("DROP TABLE results")
            rest = ", ".join(f"0 AS {name}" for name in COLUMNS[1:])
            made.connection.execute("CREATE VIEW results AS " + ENDLESS.format(rest=rest))
        elif how == "a trigger":
            made.connection.execute("CREATE TRIGGER more AFTER INSERT ON results BEGIN SELECT 1; END")
        else:
            made.connection.execute("CREATE TABLE more (n)")
    before = foreign.read_bytes()

    with pytest.raises(OperationError, match="not an audit results file"):
        Results(foreign)
    assert foreign.read_bytes() == before
