"""Expressions and where they lead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.expressions import MAX_SIBLINGS
from inspector.operations.session.archive_session import ArchiveSession
from tests.operations.archives import CONTENTS, caf, opened

Sample = Callable[[str], Path]


@pytest.fixture
def session(tmp_path: Path) -> ArchiveSession:
    return opened(caf(tmp_path / "small.caf"))


def lead(session: ArchiveSession, expression: str, layer: int = 0, caret: int = 100) -> tuple[int, int, int]:
    target = session.goto(expression, layer, caret)
    return target.layer, target.start, target.stop


def test_numbers_and_the_caret(session: ArchiveSession) -> None:
    size = session.status().layers[0].size
    for expression, offset in (
        ("16", 16),
        (" 0x10 ", 16),
        ("0X1f", 31),
        ("+8", 108),
        ("-0x10", 84),
        ("+ 1 - 2", 99),
        ("1,0", 10),
        ("10 + 0x10 - 1", 25),
        ("start", 0),
        ("END", size),
        ("end-4", size - 4),
    ):
        assert lead(session, expression) == (0, offset, offset), expression


def test_names_of_fields(session: ArchiveSession) -> None:
    size = session.status().layers[0].size
    assert lead(session, "footer") == (0, size - 4, size)
    assert lead(session, "Data_Section") == (0, 0, sum(map(len, CONTENTS.values())))
    index = session.field_rows(0, (), 1, 1).rows[0].spans[0]
    assert lead(session, "index") == (0, *index)
    assert lead(session, "index + 1") == (0, index.start + 1, index.start + 1)
    entries = [session.goto(f"entry[{number}]", 0, 0).start for number in range(4)]
    assert entries == sorted(set(entries))
    assert session.read(0, entries[2], 11) == b'"b/one.bin"'


def test_a_row_of_a_long_table_is_found_by_its_number(tmp_path: Path) -> None:
    session = opened(caf(tmp_path / "many.caf", {f"{number:04}": b"x" for number in range(MAX_SIBLINGS + 200)}))
    for number in (MAX_SIBLINGS - 1, MAX_SIBLINGS, MAX_SIBLINGS + 199):
        start = session.goto(f"entry[{number}]", 0, 0).start
        assert session.read(0, start, 6) == f'"{number:04}"'.encode()
    with pytest.raises(OperationError):
        session.goto(f"entry[{MAX_SIBLINGS + 200}]", 0, 0)


def test_members(session: ArchiveSession) -> None:
    assert lead(session, "member[1]") == (0, 5, 9)
    assert lead(session, "member[2]+16") == (0, 25, 25)
    assert lead(session, "member:b/two.txt") == (0, 0, 5)


NONSENSE = (
    *("", "  ", "-", "end-", "5 5", "0xZZ", "[3]", "1 ++ 1", "(", "\0"),
    *("nowhere", "footer[1]", "entry[4]", "entry[-1]", "entry[" + "9" * 18 + "]", "member[9]", "member:no"),
    *("end+1", "-101", "9" * 50),
)


@pytest.mark.parametrize("expression", NONSENSE)
def test_nonsense_is_refused_in_a_sentence(session: ArchiveSession, expression: str) -> None:
    with pytest.raises(OperationError) as refusal:
        session.goto(expression, 0, 100)
    assert str(refusal.value)


def test_a_members_name_by_itself(session: ArchiveSession, sample: Sample) -> None:
    assert lead(session, "b/two.txt") == lead(session, "member:b/two.txt")
    tar = opened(sample("plain.tar"))
    assert lead(tar, "journey/readme.txt") == (0, 512, 1536), "a field of that name comes first, its header with it"
    taco = opened(sample("flipped-member-byte.tacozip"))
    assert lead(taco, "DATA/tile_0001.png") == (0, 0xCD, 0x9F6)
    weather = opened(sample("weather"))
    name = weather.member(1).name.rpartition("/")[2]
    assert name[:2] == "00"
    assert lead(weather, name) == lead(weather, "member[1]")
    twice = opened(sample("two-alike.caf"))
    with pytest.raises(OperationError, match="unclear"):
        twice.goto("one.txt", 0, 0)


def test_a_name_that_is_not_there_brings_up_those_that_are(session: ArchiveSession, sample: Sample) -> None:
    with pytest.raises(OperationError, match=r"no “trailer” in the file\. There is: .*index.*footer"):
        session.goto("trailer", 0, 0)
    rca = opened(sample("two-chunks.rca"))
    with pytest.raises(OperationError, match=r"no “footer” in the file\. There is: .*chunk header") as refusal:
        rca.goto("footer", 0, 0)
    for word in str(refusal.value).partition("There is: ")[2].rstrip(".").split(", "):
        assert lead(rca, word)
    content = rca.content(Progress(), 0).layer
    with pytest.raises(OperationError, match=f"this content has {content.size:,} bytes"):
        rca.goto("end+1", content.layer, 0)


def test_two_members_of_one_name_are_not_chosen_between(sample: Sample) -> None:
    session = opened(sample("two-alike.caf"))
    name = session.member(0).name
    with pytest.raises(OperationError, match="unclear"):
        session.goto(f"member:{name}", 0, 0)


def test_the_words_of_an_rca_archive(sample: Sample) -> None:
    session = opened(sample("two-chunks.rca"))
    assert lead(session, "chunk[1]") == (0, 0, 10)
    assert lead(session, "chunk[2]") == (0, 0x8000, 0x800C)
    assert lead(session, "block[0]")[1] == 10
    assert lead(session, "segment[1]")[1] == 10
    # In the inner stream its own fields count; what is not in it is in the file.
    assert lead(session, "block[0]", layer=1)[:2] == (1, 0)
    assert lead(session, "chunk[2]", layer=1) == (0, 0x8000, 0x800C)
    for expression in ("chunk[0]", "chunk[3]", "segment[0]"):
        with pytest.raises(OperationError):
            session.goto(expression, 0, 0)
    content = session.content(Progress(), 0).layer
    assert lead(session, "end", layer=content.layer) == (content.layer, content.size, content.size)
    with pytest.raises(OperationError):
        session.goto("end + 1", content.layer, 0)


def test_the_words_of_a_zip(sample: Sample) -> None:
    session = opened(sample("two-entries.tacozip"))
    data = sample("two-entries.tacozip").read_bytes()
    assert lead(session, "eocd")[1] == data.rindex(b"PK\5\6")
    assert lead(session, "central directory")[1] == lead(session, "cd")[1] == data.index(b"PK\1\2")
    assert lead(session, "header[1]")[1] == data.index(b"PK\3\4", 4)
    assert lead(session, "entry[1]") == (0, 61, 77)
    # A name with a sign in it is not a sum.
    assert session.explain(0, lead(session, "crc-32")[1]).fields[-1].name == "crc-32"


def test_a_number_of_thousands_of_digits_is_a_sentence(session: ArchiveSession) -> None:
    for expression in ("9" * 5000, "0x" + "f" * 5000, "footer + " + "1" * 5000):
        with pytest.raises(OperationError):
            session.goto(expression, 0, 0)
