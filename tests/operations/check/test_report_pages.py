"""Reports to hand over: what they say, and what is never in them: markup of a file, a secret, what is redacted."""

from __future__ import annotations

import re
import shutil
from binascii import b2a_uu
from collections.abc import Callable
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from inspector.core.program.progress import Cancelled, Progress
from inspector.operations.check.checking import CheckReport, check_location, unreadable, with_readers
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.check_views import ReportKind
from inspector.operations.report.page import Page
from inspector.operations.report.writing import kind_of, rendered, write_report
from tests.operations.archives import caf, opened
from tests.operations.check.test_report import HOSTILE

Sample = Callable[[str], Path]
NOW = datetime(2026, 7, 1, 12, 30, tzinfo=UTC)
FLIPPED = "flipped-member-byte.tacozip"


class Read(HTMLParser):
    """The elements of a page and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(report: CheckReport, *, redact: bool = False) -> Page:
    page = Page(redact=redact)
    page.add(report, Progress(), now=NOW)
    return page


def html(path: Path, *, redact: bool = False) -> str:
    return page_of(check_location(str(path), Progress()), redact=redact).html()


def table(page: str, title: str) -> list[list[str]]:
    """The cells of the table with a title, row by row; none where the page has no such table."""
    found = re.search(rf"<h2>{title}</h2>\n<table>.*?<tbody>\n(.*?)</tbody>", page, re.DOTALL)
    rows = found[1].splitlines() if found else []
    return [[Read(cell).text for cell in re.findall(r"<td[^>]*>.*?</td>", row)] for row in rows]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    names = (
        HOSTILE,
        HOSTILE + "2",
        "</svg><svg onload=x>",
        "</code></pre>![x](http://x)",
        "```\n# a | b",
        "a `b` *c* [d](e)",
    )
    return caf(tmp_path / "<b>&hostile.caf", dict.fromkeys(names, b"data"))


# ---- what it says --------------------------------------------------------------------------------------------------


def test_a_report_says_what_the_file_is_what_is_wrong_and_what_can_be_done(sample: Sample) -> None:
    read = Read(html(sample(FLIPPED)))
    for words in (
        f"{FLIPPED}\n",
        "Size5,876 bytes",
        "SHA-2563869440e6ef12396278e3cc3a8e4c5a5a842530becf8a30eb258fea3d64c0d8a",
        "2026-07-01 12:30:00 UTC",
        "Cause: One bit of DATA/tile_0001.png flipped: byte 223 is 0x01 and was 0x00.",
        "DATA/tile_0002.png",
        "a8d2a739",
        "568f5c7f",
        "--accept restore-likely-bits",
    ):
        assert words in read.text
    assert {"svg", "pre", "table"} <= read.tags


def test_the_bytes_of_a_finding_are_coloured_as_in_the_view_and_marked(sample: Sample) -> None:
    page = html(sample(FLIPPED))
    first, second = re.findall(r"<pre>(.*?)</pre>", page, re.DOTALL)[:2]
    digits = r'<span class="(c\d+)">((?:[0-9A-F]{2} +){14}[0-9A-F]{2})</span> <span class="\1 w">01</span>  <'
    assert re.match(rf'<span class="at">000000d0</span>  {digits}', first)
    for name in set(re.findall(r'class="(c\d+)[ "]', second)):
        light, dark = re.findall(rf"\.{name}\{{background-color:(#[0-9A-F]{{6}})", page)
        assert light != dark


def test_a_finding_stands_beneath_its_cause(sample: Sample) -> None:
    assert re.findall(r'<div class="(finding[^"]*)"', html(sample(FLIPPED))) == ["finding bad", "finding beneath bad"]


def test_many_findings_of_one_kind_are_one_with_its_rows_beneath(sample: Sample, tmp_path: Path) -> None:
    data = sample("two-chunks.rca").read_bytes()
    lines = b"".join(b2a_uu(data[at : at + 45]) for at in range(0, len(data), 45))
    path = tmp_path / "a.rca"
    path.write_bytes(b"begin 644 a.rca\n" + lines + b"`\nend\n")
    found = html(path)

    for code, number in (("rca-zstd", 8), ("rca-reset-hash-short", 7)):
        assert re.search(rf"<summary>{number} findings of one kind <[^>]*>{code}<", found)
    assert found.count("<details") == found.count("</details>") == 2


def test_torn_is_amber(sample: Sample) -> None:
    assert '<p class="state warning">Torn' in html(sample("torn-after-write-2.tacozip"))


def test_a_dataset_has_a_row_for_each_range(sample: Sample) -> None:
    found = html(sample("weather-gap"))
    assert [row[1] for row in table(found, "Ranges")] == ["sound", "sound"]
    assert "<h2>Map</h2>" not in found


def test_readers_are_listed_when_asked_and_nothing_of_them_that_is_redacted(sample: Sample) -> None:
    report = check_location(str(sample("two-resets-spec.rca")), Progress())
    assert not table(page_of(report).html(), "Readers")
    asked = with_readers(report, Progress())
    assert "rejects at step 16: final checksum mismatch" in Read(page_of(asked).html()).text
    hidden = page_of(asked, redact=True).html()
    assert {tuple(row[2:]) for row in table(hidden, "Readers")} == {("accepts", ""), ("rejects", "")}


def test_very_many_members_are_counted(tmp_path: Path) -> None:
    found = html(caf(tmp_path / "many.caf", {f"{number}": b"x" for number in range(1_100)}))
    assert len(table(found, "Members")) == 1_000
    assert "… and 100 more" in found


def test_what_could_not_be_opened_has_a_report_too() -> None:
    found = page_of(unreadable("s3://archives/a.zip", "The server cannot be reached.")).html()
    assert "<h1>a.zip</h1>" in found
    assert '<p class="state bad">The server cannot be reached.</p>' in found


# ---- nothing in it is markup, or a secret --------------------------------------------------------------------------


def test_names_are_text_in_a_page(hostile: Path) -> None:
    made = page_of(check_location(str(hostile), Progress()))
    for page in (made.html(), made.html(for_print=True)):
        read = Read(page)
        assert not read.tags & {"script", "img", "a", "link", "iframe"}
        assert not {name for name in read.attributes if name.startswith("on") or name in ("href", "src")}
        assert "<script>alert('x')</script>&" in read.text
        assert "<b>&hostile.caf" in read.text
        assert page.count("<svg ") == page.count("</svg>") == 2  # map, diagram
        assert not set("\x1b\u202e") & set(page)
        assert "default-src 'none'" in page


def test_no_credentials_are_in_it() -> None:
    location = "https://user:hunter2@example.com/a.zip?X-Amz-Signature=abcdef&X-Amz-Credential=AKIAABCDEFGHIJKLMNOP"
    report = unreadable(location, f"{location} cannot be read with AKIAABCDEFGHIJKLMNOP.")
    text = page_of(report).html()
    assert "example.com" in text
    assert not [secret for secret in ("hunter2", "abcdef", "AKIA") if secret in text]


def test_redacted_neither_names_nor_content_are_in_it(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / "secret-name.tacozip"
    shutil.copy(sample(FLIPPED), path)
    text = html(path, redact=True)
    assert not [
        word for word in ("secret-name", "tile_0", "COLLECTION", "parquet", "IHDR", "49 48 44 52") if word in text
    ]
    assert "A single bit changed, in memory or on the way." in text
    assert "The content of a member does not match its CRC-32." in text
    for word in ("cause-flipped-bit", "0xdf..0xe0", "member 1", "mismatch", "a8d2a739", "restore-likely-bits"):
        assert word in text


# ---- writing -------------------------------------------------------------------------------------------------------


def test_the_suffix_decides() -> None:
    assert [kind_of(Path(f"r{suffix}")) for suffix in (".html", ".HTM", ".pdf")] == [
        *(ReportKind.HTML, ReportKind.HTML, ReportKind.PDF),
    ]
    with pytest.raises(OperationError, match=r"r\.docx does not say what kind"):
        kind_of(Path("r.docx"))


def test_a_pdf_is_made_by_another_process(sample: Sample, tmp_path: Path) -> None:
    session = opened(sample(FLIPPED))
    session.check(Progress())
    session.export(Progress(), str(tmp_path / "r.pdf"), ReportKind.PDF)
    data = (tmp_path / "r.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.rstrip().endswith(b"%%EOF")
    assert b"/Subtype /Image" in data  # the map and the diagram


def test_cancelling_leaves_no_file_and_no_process(sample: Sample, tmp_path: Path) -> None:
    report = check_location(str(sample(FLIPPED)), Progress())
    for kind in (ReportKind.HTML, ReportKind.PDF):
        progress = Progress()
        progress.cancel()
        with pytest.raises(Cancelled):
            write_report(report, tmp_path / "r", kind, progress)
    assert list(tmp_path.iterdir()) == []
    cancelled = Progress()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        rendered(page_of(report), ReportKind.PDF, cancelled)
