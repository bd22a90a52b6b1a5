"""Sentences point to what there is: options in the terminal, actions and fields in the window."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inspector.cli.hints import WORDS as OPTIONS
from inspector.cli.hints import words_for
from inspector.cli.parser import command_parser
from inspector.core.hints import Way, by, speaking, taken
from inspector.gui.ipc.hints import WORDS as ACTIONS
from inspector.sources.s3 import sentences, writing_sentences

TEMPLATES = [
    *sentences._BY_CODE.values(),
    *sentences._BY_STATUS.values(),
    *sentences._BY_NAME.values(),
    sentences._DENIED,
    *writing_sentences._BY_CODE.values(),
    *writing_sentences._BY_STATUS.values(),
]


def test_each_face_knows_all_of_them() -> None:
    assert set(OPTIONS) == set(ACTIONS) == set(Way)


def test_a_sentence_is_whole_without_a_face() -> None:
    assert by(Way.OVERWRITE) == ""
    with speaking(OPTIONS):
        assert by(Way.OVERWRITE) == " (--overwrite)"
        assert by(Way.AGAIN) == "", "one that a face does not have is not named"
        with speaking(ACTIONS):
            assert by(Way.AGAIN) == " (File > Reload)"
        assert by(Way.OVERWRITE) == " (--overwrite)"
    assert by(Way.OVERWRITE) == ""


@pytest.mark.parametrize("word", [word.split()[0] for word in OPTIONS.values() if word])
def test_every_option_is_one(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    helps = ""
    for command in ("header", "create taco", "create datas3t"):
        with pytest.raises(SystemExit):
            command_parser().parse_args([*command.split(), "--help"])
        helps += capsys.readouterr().out
    assert re.search(rf"{re.escape(word)}\b", helps)


def test_only_the_options_of_the_sub_command_are_named() -> None:
    makes = command_parser().parse_args(["create", "caf", "new.caf", "tree"])
    fixes = command_parser().parse_args(["repair", "old.caf", "--to", "new.caf"])
    with speaking(words_for(makes)):
        assert taken("new.caf") == (
            "new.caf is there already. Choose another name, or ask for it to be overwritten (--overwrite)."
        )
    with speaking(words_for(fixes)):
        assert taken("new.caf", "key") == "new.caf is there already. Choose another key."
        assert by(Way.WHOLE) == " (--whole)"


def test_no_template_names_an_option() -> None:
    assert not [template for template in TEMPLATES if "--" in template]
    source = Path(sentences.__file__).parents[2]
    for layer in ("sources", "formats"):
        assert not [path for path in (source / layer).rglob("*.py") if re.search(r"\(--[a-z]", path.read_text())]
