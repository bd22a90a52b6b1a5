"""A member's content: where it comes from, what it is, and what is said when some of it is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SplicedSource
from inspector.operations.open.listing import load
from inspector.operations.session.reading import MAX_IMAGE_BYTES, decoded_content, encoding_of, image_of
from tests.operations.archives import caf

Sample = Callable[[str], Path]


@pytest.mark.parametrize(
    ("sample", "encoding"),
    [
        (b"", "ascii"),
        (b"plain\tEnglish\r\n", "ascii"),
        ("Grüße, 報告書".encode(), "utf-8"),
        ("Grüße".encode("utf-8-sig"), "utf-8-sig"),
        ("Grüße".encode("utf-16"), "utf-16"),
        (b"\0\1\2\3", None),
        (b"text with a NUL\0", None),
        (b"\x80\x05\x95\x1f\x00\x00\x00", None),
        ("Grüße aus Köln".encode("latin-1"), "cp1252"),
        (b"mostly text, \x81 is no letter of Windows", "latin-1"),
        (bytes(range(0x80, 0x100)), None),
    ],
)
def test_the_encoding_of_text(sample: bytes, encoding: str | None) -> None:
    assert encoding_of(sample, whole=True) == encoding


def test_a_character_cut_off_by_the_sample_is_no_mistake() -> None:
    sample = "報告書".encode()[:-1]
    assert encoding_of(sample, whole=False) == "utf-8"
    assert encoding_of(sample, whole=True) != "utf-8"


def test_an_old_encoding_is_guessed() -> None:
    text = "Die Größe der Fläche beträgt über fünfzig Meter, sagte der Bürgermeister höflich. " * 20
    guess = encoding_of(text.encode("cp1252"), whole=True)
    assert guess is not None
    assert text.encode("cp1252").decode(guess) == text


@pytest.mark.parametrize(
    ("start", "image"),
    [
        (b"\x89PNG\r\n\x1a\n....", "png"),
        (b"\xff\xd8\xff\xe0", "jpeg"),
        (b"GIF89a", "gif"),
        (b"BM....", "bmp"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", None),
        (b"", None),
        (b"hello", None),
    ],
)
def test_images_are_told_by_their_first_bytes(start: bytes, image: str | None) -> None:
    assert image_of(start, len(start)) == image
    assert image_of(start, MAX_IMAGE_BYTES + 1) is None


def test_a_stored_member_is_a_view_of_the_file(tmp_path: Path) -> None:
    (archive,) = load(str(caf(tmp_path / "small.caf")), Progress())
    source, sentence = decoded_content(archive, 0, Progress())
    assert isinstance(source, SplicedSource)
    assert (source.read(0, 100), sentence) == (b"zwei\n", "")


def test_a_compressed_member_is_decoded_up_to_a_limit(sample: Sample) -> None:
    (archive,) = load(str(sample("two-chunks.rca")), Progress())
    size = archive.members.size(0)
    whole, sentence = decoded_content(archive, 0, Progress())
    assert (whole.size, sentence) == (size, "")
    part, sentence = decoded_content(archive, 0, Progress(), largest=100)
    assert part.read(0, 1000) == whole.read(0, 100)
    assert "first 100 B" in sentence
    exact, sentence = decoded_content(archive, 0, Progress(), largest=size)
    assert (exact.size, sentence) == (size, "")


def test_decoding_content_can_be_cancelled(sample: Sample) -> None:
    (archive,) = load(str(sample("two-chunks.rca")), Progress())
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        decoded_content(archive, 0, progress)


@pytest.mark.parametrize(
    "name", ["no-end.caf", "out-of-range.caf", "truncated.rca", "not-zstd.rca", "flipped-blob-byte.rca"]
)
def test_what_is_missing_is_said(sample: Sample, name: str) -> None:
    (archive,) = load(str(sample(name)), Progress())
    said = []
    for index in range(len(archive.members)):
        source, sentence = decoded_content(archive, index, Progress())
        assert source.size <= archive.members.size(index)
        said.append(sentence)
        assert sentence or source.size == archive.members.size(index)
    assert any(said) or name not in ("no-end.caf", "out-of-range.caf")
