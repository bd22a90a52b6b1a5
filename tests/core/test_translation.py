"""Catalogues: which is used, and what becomes of texts with values in them."""

from __future__ import annotations

import gettext
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.core import translation
from inspector.core.translation import file_in_use, marked, tr, trn, use_file, use_first


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    before = translation.use(gettext.NullTranslations())
    yield
    use_file("")
    translation.use(before)


def catalogue(folder: Path, language: str, texts: dict[str, str], plurals: str = "") -> None:
    """Write a compiled catalogue: gettext's format, ids in order. The forms of a plural have NUL between them."""
    texts = {"": f"Content-Type: text/plain; charset=UTF-8\n{plurals}", **texts}
    ids = sorted(texts)
    strings = [*(each.encode() for each in ids), *(texts[each].encode() for each in ids)]
    at = 28 + 8 * len(strings)
    table, data = b"", b""
    for string in strings:
        table += struct.pack("<II", len(string), at + len(data))
        data += string + b"\0"
    path = folder / language / "LC_MESSAGES" / f"{translation.DOMAIN}.mo"
    path.parent.mkdir(parents=True)
    path.write_bytes(struct.pack("<7I", 0x950412DE, 0, len(ids), 28, 28 + 8 * len(ids), 0, 0) + table + data)


def test_what_has_no_catalogue_stays_english(tmp_path: Path) -> None:
    assert use_first(["tlh", "de-CH"], tmp_path) == ""
    assert tr("Open") == "Open"
    assert tr("{count} members", count=3) == "3 members"


def test_the_first_language_with_a_catalogue_is_spoken(tmp_path: Path) -> None:
    catalogue(tmp_path, "de", {"Open": "Öffnen", "{count} of {all}": "von {all}: {count}"})
    catalogue(tmp_path, "fr", {"Open": "Ouvrir"})
    assert use_first(["tlh", "de-CH", "fr"], tmp_path) == "de-CH"
    assert tr("Open") == "Öffnen"
    assert tr("{count} of {all}", count=1, all=2) == "von 2: 1"
    assert tr("Close") == "Close"


def test_braces_stay_where_there_is_nothing_to_put_in(tmp_path: Path) -> None:
    catalogue(tmp_path, "de", {"JSON: {}": "Das JSON: {}"})
    use_first(["de"], tmp_path)
    assert tr("JSON: {}") == "Das JSON: {}"


def test_marked_texts_are_translated_where_they_are_shown(tmp_path: Path) -> None:
    catalogue(tmp_path, "de", {"Open": "Öffnen"})
    use_first(["de"], tmp_path)
    assert marked("Open") == "Open"
    assert tr(marked("Open")) == "Öffnen"


def test_english_has_two_forms_of_what_is_counted() -> None:
    told = [trn("{number} file of {all}", "{number} files of {all}", number, all=9) for number in (0, 1, 2, 1_000)]
    assert told == ["0 files of 9", "1 file of 9", "2 files of 9", "1,000 files of 9"]


def test_a_language_has_as_many_forms_as_it_has(tmp_path: Path) -> None:
    rule = "Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);\n"
    forms = {"{number} file\0{number} files": "{number} plik\0{number} pliki\0{number} plików"}
    catalogue(tmp_path, "pl", forms, rule)
    use_first(["pl"], tmp_path)
    told = [trn("{number} file", "{number} files", number) for number in (0, 1, 2, 5, 12, 22)]
    assert told == ["0 plików", "1 plik", "2 pliki", "5 plików", "12 plików", "22 pliki"]
    assert trn("{number} gap", "{number} gaps", 2) == "2 gaps"


def test_the_file_in_use_lets_another_process_speak_the_same(tmp_path: Path) -> None:
    catalogue(tmp_path, "de", {"Open": "Öffnen"})
    assert file_in_use() == ""
    use_first(["de"], tmp_path)
    path = file_in_use()
    use_first(["fr"], tmp_path)
    assert (file_in_use(), tr("Open")) == ("", "Open")
    use_file(path)
    assert tr("Open") == "Öffnen"
