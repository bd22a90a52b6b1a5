"""Messages name options in the terminal, and actions and fields in the window."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inspector.cli.options import HINT_TEXTS as OPTIONS
from inspector.cli.options import hint_texts_for
from inspector.cli.parser import COMMANDS
from inspector.cli.run import command_parser
from inspector.core.program.hints import Hint, already_exists, hint, using_hints
from inspector.gui.ipc.worker import HINT_TEXTS as ACTIONS
from inspector.sources.s3 import sentences

TEMPLATES = [
    *sentences._BY_CODE.values(),
    *sentences._BY_STATUS.values(),
    *sentences._BY_NAME.values(),
    sentences._DENIED,
    *sentences._WRITING_BY_CODE.values(),
    *sentences._WRITING_BY_STATUS.values(),
]


def test_each_front_end_has_a_text_for_every_hint() -> None:
    assert set(OPTIONS) == set(ACTIONS) == set(Hint)


def test_a_message_is_complete_without_a_front_end() -> None:
    assert hint(Hint.OVERWRITE) == ""
    with using_hints(OPTIONS):
        assert hint(Hint.OVERWRITE) == " (--overwrite)"
        assert hint(Hint.AGAIN) == "", "a hint that the front end does not have is left out"
        with using_hints(ACTIONS):
            assert hint(Hint.AGAIN) == " (File > Reload)"
        assert hint(Hint.OVERWRITE) == " (--overwrite)"
    assert hint(Hint.OVERWRITE) == ""


@pytest.mark.parametrize("word", [word.split()[0] for word in OPTIONS.values() if word])
def test_every_option_exists(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    helps = " ".join(COMMANDS)
    for command in ("header", "create taco", "create datas3t"):
        with pytest.raises(SystemExit):
            command_parser(command.split()[0]).parse_args([*command.split()[1:], "--help"])
        helps += capsys.readouterr().out
    assert re.search(rf"{re.escape(word)}\b", helps)


def test_only_the_options_of_the_sub_command_are_named() -> None:
    create = command_parser("create").parse_args(["caf", "new.caf", "tree"])
    header = command_parser("header").parse_args(["old.taco", "--to", "new.taco"])
    with using_hints(hint_texts_for(create)):
        assert already_exists("new.caf") == (
            "new.caf is there already. Choose another name, or ask for it to be overwritten (--overwrite)."
        )
    with using_hints(hint_texts_for(header)):
        assert already_exists("new.caf", "key") == "new.caf is there already. Choose another key."
        assert hint(Hint.WHOLE) == " (--whole)"


def test_no_template_names_an_option() -> None:
    assert not [template for template in TEMPLATES if "--" in template]
    source = Path(sentences.__file__).parents[2]
    for layer in ("sources", "formats"):
        assert not [path for path in (source / layer).rglob("*.py") if re.search(r"\(--[a-z]", path.read_text())]
